"""What joins the cards of a scenario: links inside servers, collectives over them, and other fabrics in comparison.

For views beside the figures: computed when asked for, from a plan and its results, never inside `evaluate`.
"""

from collections.abc import Iterator
from typing import Literal, NamedTuple

import numpy as np

from gpuplanner.catalog.load import Catalog
from gpuplanner.model import inference, link_waits, network, training
from gpuplanner.model.bands import spread, total
from gpuplanner.model.edit import replace
from gpuplanner.model.evaluate import evaluate, view_of
from gpuplanner.model.hardware import Hardware, resolved
from gpuplanner.model.plan import Plan
from gpuplanner.model.results import NOT_KNOWN, Basis, Figure, Results, ScenarioResult, ServeResult, TrainResult

FABRICS: tuple[Literal["infiniband", "roce", "ethernet"], ...] = ("infiniband", "roce", "ethernet")
# Links that no kernel timings describe take those of the A100's; by so much their times may be off.
_OTHER_LINK, _OTHER_FACTOR = "nvlink_ampere", 1.5
_LINK_OF_GENERATION = {
    "A100": "nvlink_ampere",
    "Hopper": "nvlink_hopper",
    "Blackwell data centre": "nvlink_blackwell",
}


class ServerLink(NamedTuple):
    """What the cards of one server of a group talk over. Bandwidth of one card, one direction. [B/s]

    ``domain``: cards that reach each other by it; ``bytes_s`` None = the generation of PCIe is not known.
    """

    group: int
    kind: str
    domain: int
    bytes_s: float | None


class Collective(NamedTuple):
    """One exchange of a run: all-reduce of gradients or of the hidden state of a layer, launched on its own.

    ``calls``: how often a step (or a chunk of prompts) does it; ``nodes``: servers that take part; bandwidths as
    nccl-tests prints them: message ÷ time, and that times the ring's factor. [bytes, s, B/s]
    """

    group: int
    workload: str
    phase: Literal["decode", "prefill", "gradients"]
    operation: Literal["all_reduce", "reduce_scatter"]
    link: str
    message_bytes: float
    ranks: int
    nodes: int
    calls: float
    time_s: Figure
    algorithm_bytes_s: float
    bus_bytes_s: float


class FabricOption(NamedTuple):
    """The scenario with another fabric and all else as it is, of automatic choices the best for that fabric.

    ``speed``: output or training rate of the first run whose servers the fastest network joins, and ``wait`` the share
    of its time in which it waits for that network; ``price``: of the parts of all networks in the plan's base
    currency, not known where servers bring their own.
    """

    fabric: Literal["infiniband", "roce", "ethernet"]
    in_use: bool
    speed: Figure
    wait: float
    switches: int
    switch: str
    power_w: Figure
    price: Figure


def hardwares_of(plan: Plan, letter: str, catalog: Catalog) -> tuple[Hardware, ...]:
    """The groups of a scenario, resolved. Raises `StopIteration` for an unknown letter."""
    scenario = next(one for one in plan.scenarios if one.letter == letter)
    view = view_of(plan, catalog)
    return tuple(resolved(group, scenario.network, view) for group in scenario.groups)


def server_links(plan: Plan, letter: str, catalog: Catalog) -> tuple[ServerLink, ...]:
    """The links inside the servers of each group with more than one card."""
    found = []
    for i, hard in enumerate(hardwares_of(plan, letter, catalog)):
        if hard.gpu is None or hard.devices_per_server < 2:
            continue
        kind = link_waits.link_inside(hard, min(hard.devices_per_server, max(hard.link_domain, 1)))
        if kind.startswith("pcie"):
            pcie = hard.gpu.pcie_one_way_bytes_s
            found.append(ServerLink(i, kind, hard.devices_per_server, None if pcie is None else pcie.value))
        else:
            found.append(ServerLink(i, kind, hard.link_domain, hard.link_one_way))
    return tuple(found)


def collectives(plan: Plan, results: Results, letter: str, catalog: Catalog) -> tuple[Collective, ...]:
    """The exchanges of every run of a scenario at its own message sizes, in the order of the runs.

    See `network.collective_time` for how sure they are; links other than NVLink of the A100, H100 and B200 are assumed
    to behave like the A100's.
    """
    at = next(i for i, one in enumerate(plan.scenarios) if one.letter == letter)
    entry = results.scenario(letter)
    if entry is None:
        return ()
    view = view_of(plan, catalog)
    return (*_of_serving(plan, view, at, entry), *_of_training(plan, view, at, entry))


def _of_serving(plan: Plan, view: Catalog, at: int, entry: ScenarioResult) -> Iterator[Collective]:
    # The window starts without them.
    from gpuplanner.model import explain_serving

    for result in entry.serve:
        o = explain_serving.operating(plan, view, at, result)
        if o is None or result.choice is None or result.choice.tp < 2:
            continue
        hard, run, llm = o.prepared.hardware, o.case.run, o.case.llm
        tp = result.choice.tp
        per_server = min(tp, max(hard.devices_per_server, hard.link_domain))
        fresh = o.workload.prompt_tokens * (1.0 - float(run.prefix[0])) * float(o.state.chunk.prompts[0])
        for phase, size in (
            ("decode", float(inference.token_bytes(o.case, np.array([o.batch]))[0])),
            ("prefill", 2.0 * fresh * float(llm.hidden[0]) / float(run.attention_dp[0])),
        ):
            yield _collective(
                result.group, result.workload, phase, "all_reduce", hard, view, size, tp, per_server,
                hard.network_per_device * per_server, 2.0 * float(llm.layers[0]),
            )  # fmt: skip


def _of_training(plan: Plan, view: Catalog, at: int, entry: ScenarioResult) -> Iterator[Collective]:
    from gpuplanner.model import explain_training

    for result in entry.train:
        r = explain_training.running(plan, view, at, result)
        if r is None or r.result.choice is None:
            continue
        run, hard = r.case.run, r.hardware
        ranks = int(run.dp[0] * run.cp[0])
        if ranks < 2:
            continue
        held = training.params_per_gpu(r.case)
        trained = np.where(run.full > 0, held, run.adapter_params / (run.tp * run.pp))
        # The ranks of a server that hold the same part of the model; their ring has their share of its network cards.
        together = max(hard.devices_per_server, hard.link_domain)
        per_server = int(np.clip(together // int(run.tp[0]), 1, ranks))
        operation: Literal["all_reduce", "reduce_scatter"] = "reduce_scatter" if run.zero[0] >= 2 else "all_reduce"
        yield _collective(
            result.group, result.workload, "gradients", operation, hard, view,
            float((trained * run.gradient_bytes)[0]), ranks, per_server, hard.network_per_device * per_server, 1.0,
        )  # fmt: skip


def _collective(
    group: int, workload: str, phase: str, operation: Literal["all_reduce", "reduce_scatter"], hard: Hardware,
    view: Catalog, size: float, ranks: int, per_server: int, node_bytes_s: float, calls: float,
) -> Collective:  # fmt: skip
    nodes = -(-ranks // per_server)
    inside = min(per_server, ranks)
    kind = link_waits.link_inside(hard, inside)
    factor, basis = view.calibration.band("collective").factor_80, "predicted"
    if kind.startswith("pcie") or hard.gpu is None:
        pcie = hard.gpu.pcie_one_way_bytes_s if hard.gpu is not None else None
        speed = pcie.value if pcie is not None else np.nan
        link = network.COLLECTIVE_LINKS["pcie"]
        link = link._replace(ring_efficiency=float(network.pcie_efficiency(inside, hard.peer_to_peer)))
        if not hard.peer_to_peer:
            factor, basis = 2.0 * factor, "assumed"
    else:
        speed = hard.link_one_way
        name = _LINK_OF_GENERATION.get(view.calibration.architecture(hard.gpu.architecture))
        link = network.COLLECTIVE_LINKS[name or _OTHER_LINK]
        if name is None:
            factor, basis = _OTHER_FACTOR * factor, "assumed"
    timed = float(
        network.collective_time(
            size, ranks, speed, **link._asdict(), nodes=nodes, node_network_bytes_s=node_bytes_s,
            passes=network.PASSES[operation],
        )
    )  # fmt: skip
    known = np.isfinite(timed) and timed > 0
    algorithm = size / timed if known else 0.0
    bus = algorithm * network.PASSES[operation] * float(network.ring_share(ranks))
    shown: Basis = "assumed" if basis == "assumed" else "predicted"
    return Collective(
        group, workload, phase, operation, hard.fabric if nodes > 1 else kind, size, ranks, nodes, calls,  # type: ignore[arg-type]
        spread(timed, factor, shown) if known else NOT_KNOWN, algorithm, bus,
    )  # fmt: skip


def _over_network(entry: ScenarioResult) -> tuple[Figure, float]:
    """Speed and longest waiting for the network of the first run on servers of the fastest fabric."""
    runs: list[ServeResult | TrainResult] = [*entry.serve, *entry.train]
    run = next((one for one in runs if one.group in entry.room.fabrics[0].groups), None)
    if run is None:
        return NOT_KNOWN, 0.0
    if isinstance(run, TrainResult):
        speed = run.tokens_s
    else:
        speed = run.output_tokens_s if run.output_tokens_s.value else run.output_tokens_s_limit
    return speed, max((wait.share for wait in run.waits if wait.between_servers), default=0.0)


def fabrics_compared(plan: Plan, letter: str, catalog: Catalog) -> tuple[FabricOption, ...]:
    """The scenario with InfiniBand, RoCE and plain Ethernet of the same speed; none where no network joins servers."""
    at = next(i for i, one in enumerate(plan.scenarios) if one.letter == letter)
    alone = replace(replace(plan, ("baseline",), None), ("scenarios",), (plan.scenarios[at],))
    in_use = {hard.fabric for hard in hardwares_of(plan, letter, catalog)}
    found = []
    for kind in FABRICS:
        tried = replace(alone, ("scenarios", 0, "network", "fabric"), kind)
        entry = evaluate(tried, catalog).scenarios[0]
        if not entry.room.fabrics:
            return ()
        speed, wait = _over_network(entry)
        bill = [line.amount for line in entry.money.lines if line.key.startswith("network_")]
        switches = sum(1 if one.single_switch else one.leaf + one.spine + one.core for one in entry.room.fabrics)
        found.append(
            FabricOption(
                kind, in_use == {kind}, speed, wait, switches,
                entry.room.fabrics[0].switch, total([one.power_w for one in entry.room.fabrics]),
                total(bill) if bill else NOT_KNOWN,
            )
        )  # fmt: skip
    return tuple(found)
