"""Derivations of training figures: rate, step by named times, duration, memory of a card."""

from typing import NamedTuple

import numpy as np

from gpuplanner.catalog.load import Catalog
from gpuplanner.catalog.schema import Gpu, Llm
from gpuplanner.model import fitting, hardware, training
from gpuplanner.model.derivation import Leaves, Node, made, over, plus, times
from gpuplanner.model.plan import FineTune, Group, Plan, Train
from gpuplanner.model.results import Figure, TrainResult
from gpuplanner.units import SECONDS_PER_HOUR

# The named times of a step that are spent on links.
LINKS = ("tensor_communication", "expert_communication", "context_communication", "data_communication")


class Running(NamedTuple):
    """One group that trains: what its figures rest on. ``case`` has the one row of the chosen layout."""

    workload: FineTune | Train
    at: int
    group: Group
    place: tuple[str | int, ...]
    result: TrainResult
    hardware: hardware.Hardware
    case: training.TrainCase
    gpu: Gpu
    llm: Llm
    leaves: Leaves


def running(plan: Plan, view: Catalog, scenario_at: int, result: TrainResult) -> Running | None:
    """How a group trains; None where nothing could be computed."""
    scenario = plan.scenarios[scenario_at]
    group, choice = scenario.groups[result.group], result.choice
    at = next(i for i, workload in enumerate(plan.workloads) if workload.id == result.workload)
    workload = plan.workloads[at]
    if choice is None or not group.runs or not isinstance(workload, (FineTune, Train)):
        return None
    run = group.runs[0]
    hard: hardware.Hardware = hardware.resolved(group, scenario.network, view)
    llm, runtime = view.find("llm", choice.llm), view.find("runtime", choice.runtime)
    if hard.gpu is None or llm is None or runtime is None:
        return None
    layout = fitting.Layout(
        choice.tp, choice.pp, choice.dp, choice.ep, choice.cp, choice.micro_batch, choice.sharding, choice.recompute,
        choice.optimizer, choice.interleave, "none" if run.offload == "auto" else run.offload,
    )  # fmt: skip
    batch = fitting.global_batch(workload, llm)
    case = fitting.build_case([layout], run, workload, llm, hard, runtime, batch, choice.compute, view)
    place = ("scenarios", scenario_at, "groups", result.group)
    return Running(workload, at, group, place, result, hard, case, hard.gpu, llm, Leaves(view))


def _one(column: np.ndarray) -> float:
    return float(np.ravel(column)[0])


def _constant(r: Running, name: str, kind: str = "count") -> Node:
    position = int(r.case.index[0][training.TrainConstants._fields.index(name)])
    return r.leaves.constant(position, _one(getattr(r.case.k, name)), kind)


def _degree(r: Running, name: str, value: float, symbol: str = "") -> Node:
    if getattr(r.group.runs[0], name) == "auto":
        return r.leaves.chosen(name, value, symbol=symbol)
    return r.leaves.typed(name, value, "count", (*r.place, "runs", 0, name), symbol)


def _sequence(r: Running) -> Node:
    path = ("workloads", r.at, "sequence_tokens")
    return r.leaves.typed("sequence_tokens", r.workload.sequence_tokens, "tokens", path, "s")


def _batch(r: Running) -> Node:
    value = _one(r.case.run.global_batch)
    if r.workload.global_batch == "auto":
        return r.leaves.chosen("global_batch", value, symbol="b")
    return r.leaves.typed("global_batch", value, "count", ("workloads", r.at, "global_batch"), "b")


def _devices(r: Running) -> Node:
    value = _one(r.case.run.n_gpus)
    return Node("devices", value, "count", "n", origin="your input", path=(*r.place, "servers"))


def _peak(r: Running) -> Node:
    """Dense rate of the compute type of one device, at the clock that it holds."""
    assert r.result.choice is not None
    value, sustained = _one(r.case.run.peak), _one(r.case.gpu.sustained)
    stated = r.gpu.peak_flops.get(r.result.choice.compute)  # type: ignore[call-overload]
    facts = [stated, *r.gpu.peak_flops.values()] if stated is not None else list(r.gpu.peak_flops.values())
    devices = r.gpu.gpus_per_card
    fact = next((f for f in facts if abs(f.value / devices * sustained - value) <= 1e-9 * value), facts[0])
    leaf = r.leaves.cited("peak", fact, r.gpu, "flops", "P", fact.value / devices)
    if leaf.value == value:
        return leaf
    clock = Node("sustained", sustained, "share", "s", operation="follows")
    if r.gpu.board_power_w is not None:
        clock = made(clock, r.leaves.cited("board_power", r.gpu.board_power_w, r.gpu, "watts", "TDP"))
    return made(Node("peak_sustained", value, "flops", "P", operation="product"), *times(leaf, clock))


def _active(r: Running) -> Node:
    return r.leaves.shaped("active_params", _one(r.case.llm.active), r.llm, "parameters", "N")


def _matrix(r: Running, value_s: float) -> Node:
    """Matrix products of a step: work over the rate that all cards together reach."""
    run = r.case.run
    passes = (3.0 if _one(run.full) else 2.0) + (_one(run.recompute) >= training.RECOMPUTE_FULL)
    in_step = _one(run.global_batch) * _one(run.sequence)
    step_tokens = made(
        Node("step_tokens", in_step, "tokens", operation="product"), *times(_batch(r), _sequence(r))
    )  # fmt: skip
    work = made(
        Node("step_work", 2.0 * passes * _one(r.case.llm.active) * in_step, "work", "F", operation="product"),
        *times(Node("flop_per_parameter", 2.0, symbol="2"), r.leaves.chosen("passes", passes, name=_method(r)),
               _active(r), step_tokens),
    )  # fmt: skip
    gpus, rate = _devices(r), _peak(r)
    reached = (work.value or 0.0) / ((gpus.value or 1.0) * (rate.value or 1.0) * value_s)
    efficiency = made(
        Node("matrix_share_reached", reached, "share", "e", operation="follows"),
        _constant(r, "matrix"), _constant(r, "framework"),
        *((_constant(r, "expert_matrix"),) if _one(r.case.llm.experts) > 0 else ()),
        *((_constant(r, "qlora"),) if _one(run.quantised) > 0 else ()),
        r.leaves.shaped("ffn_width", _one(r.case.llm.ffn_active), r.llm, "count", "f"),
        _degree(r, "tp", _one(run.tp), "t"), _degree(r, "micro_batch", _one(run.micro_batch)),
    )  # fmt: skip
    return made(
        Node("matrix", value_s, "duration", operation="product"), *times(work, over(gpus), over(rate), over(efficiency))
    )


def _method(r: Running) -> str:
    return r.workload.method if isinstance(r.workload, FineTune) else ""


def _named_time(r: Running, name: str, value_s: float) -> Node:
    if name == "matrix":
        return _matrix(r, value_s)
    run, gpu = r.case.run, r.gpu
    link = gpu.link_one_way_bytes_s if _one(r.case.gpu.link) > 0 else gpu.pcie_one_way_bytes_s
    link_key = "link_speed" if _one(r.case.gpu.link) > 0 else "pcie_speed"
    share = "link_nvlink" if _one(r.case.gpu.link) > 0 else "link_pcie"
    sheet = () if link is None else (r.leaves.cited(link_key, link, gpu, "bandwidth"),)
    fabric = Node("network_per_gpu", _one(run.network), "bandwidth", origin="your input",
                  path=("scenarios", r.place[1], "network", "nic_bits_s"))  # fmt: skip
    bandwidth = gpu.memory_bandwidth_bytes_s
    dram = () if bandwidth is None else (r.leaves.cited("bandwidth", bandwidth, gpu, "bandwidth", "BW"),)
    tp, pp = _degree(r, "tp", _one(run.tp), "t"), _degree(r, "pp", _one(run.pp), "p")
    ranks = _degree(r, "dp", _one(run.dp), "x")
    layers = r.leaves.shaped("layers", _one(r.case.llm.layers), r.llm, "count", "L")
    given: dict[str, tuple[Node, ...]] = {
        "attention": (_sequence(r), layers, _constant(r, "attention"), _peak(r)),
        "elementwise": (layers, *dram, _constant(r, "dram")),
        "tensor_communication": (tp, layers, *sheet, _constant(r, share), _constant(r, "hidden")),
        "expert_communication": (_degree(r, "ep", _one(run.ep)), *sheet, fabric, _constant(r, share)),
        "context_communication": (_degree(r, "cp", _one(run.cp)), *sheet, _constant(r, share)),
        "launch": (layers, pp, _constant(r, "launch_layer", "duration"), _constant(r, "launch_expert", "duration")),
        "bubble": (pp, _degree(r, "interleave", _one(run.interleave)), _constant(r, "bubble")),
        "data_communication": (ranks, *sheet, fabric, _constant(r, "network"), _constant(r, "overlap")),
        "optimizer": (*dram, _constant(r, "dram"), ranks),
        "stragglers": (_devices(r), _constant(r, "stragglers")),
    }
    return made(Node(name, value_s, "duration", operation="follows"), *given.get(name, ()))


def _family(r: Running) -> str:
    return "finetune" if r.workload.kind == "finetune" else "training"


def _shown(r: Running, key: str, shown: Figure, kind: str, **fields: object) -> Node:
    node = Node(key, shown.value, kind, "", shown.low, shown.high, operation="product", family=_family(r))
    return node._replace(**fields)  # type: ignore[arg-type]


def step(r: Running) -> Node:
    """One optimizer step by named times."""
    parts = [_named_time(r, part.name, part.value) for part in r.result.step_s.parts]
    return made(_shown(r, "step", r.result.step_s, "duration", operation="sum", symbol="T"), *plus(*parts))


def rate(r: Running) -> Node:
    """Trained tokens a second: the tokens of a step over its time."""
    shown = r.result.tokens_s
    return made(_shown(r, "tokens", shown, "tokens_s"), *times(_batch(r), _sequence(r), over(step(r))))


def mfu(r: Running) -> Node:
    """Share of the dense peak that the model's own FLOP use."""
    peak = _peak(r)
    if peak.key == "peak_sustained":
        # The convention divides by the datasheet peak, whatever clock the card holds.
        peak = next(child for child in peak.children if child.key == "peak")
    frozen = isinstance(r.workload, FineTune) and r.workload.method != "full"
    share, speed = r.result.mfu.value, r.result.tokens_s.value
    flop = share * (_devices(r).value or 0.0) * (peak.value or 0.0) / speed if share and speed else None
    per_token = made(
        Node("flop_per_token", flop, "work", operation="follows"),
        _active(r), _sequence(r), r.leaves.chosen("passes", 2.0 if frozen else 3.0, name=_method(r)),
    )  # fmt: skip
    return made(_shown(r, "mfu", r.result.mfu, "share"), *times(rate(r), per_token, over(_devices(r)), over(peak)))


def duration(r: Running) -> Node:
    """Tokens of the run over the rate, and what failures of large clusters cost."""
    w = r.workload
    tokens: Node
    if isinstance(w, Train):
        tokens = r.leaves.typed("tokens_to_train", w.tokens, "tokens", ("workloads", r.at, "tokens"), "D")
    else:
        tokens = made(
            Node("tokens_to_train", w.tokens_per_epoch * w.epochs, "tokens", "D", operation="product"),
            *times(
                r.leaves.typed(
                    "tokens_per_epoch", w.tokens_per_epoch, "tokens", ("workloads", r.at, "tokens_per_epoch")
                ),
                r.leaves.typed("epochs", w.epochs, "count", ("workloads", r.at, "epochs")),
            ),
        )  # fmt: skip
    shown, speed = r.result.duration_s, r.result.tokens_s.value
    factors = times(tokens, over(rate(r)))
    if shown.value and speed and tokens.value:
        available = tokens.value / speed / shown.value
        if abs(available - 1.0) > 1e-9:
            factors = (*factors, over(Node("availability", available, "share", origin="assumed")))
    return made(_shown(r, "duration", shown, "duration"), *factors)


def gpu_hours(r: Running) -> Node:
    """Cards times hours."""
    hour = Node("seconds_per_hour", SECONDS_PER_HOUR)
    return made(
        _shown(r, "gpu_hours", r.result.gpu_hours, "gpu_hours"), *times(duration(r), _devices(r), over(hour))
    )  # fmt: skip


def network_time(r: Running) -> Node:
    """Time of a step that is spent on links."""
    parts = [_named_time(r, part.name, part.value) for part in r.result.step_s.parts if part.name in LINKS]
    value = sum(part.value or 0.0 for part in parts)
    return made(Node("network_time", value, "duration", operation="sum", family=_family(r)), *plus(*parts))


def link_wait(r: Running) -> Node:
    """Share of a step in which cards wait for links."""
    return made(_shown(r, "link_wait", r.result.link_wait, "share"), *times(network_time(r), over(step(r))))


def memory_bytes(r: Running) -> Node:
    """Memory of the fullest card, by part. [bytes]"""
    use, run = r.result.memory, r.case.run
    assert use is not None
    held = _one(training.params_per_gpu(r.case))
    tp, pp = _degree(r, "tp", _one(run.tp), "t"), _degree(r, "pp", _one(run.pp), "p")
    params = made(
        Node("params_per_gpu", held, "parameters", "N", operation="follows"),
        r.leaves.shaped("total_params", _one(r.case.llm.params), r.llm, "parameters", "N"), tp, pp,
    )  # fmt: skip
    sharding = r.leaves.chosen("sharding", _one(run.zero), name=r.result.choice.sharding if r.result.choice else "")
    ranks = _degree(r, "dp", _one(run.dp), "x")
    size = r.leaves.chosen("bytes_per_weight", _one(run.weight_bytes), symbol="b",
                           name=r.result.choice.weights if r.result.choice else "")  # fmt: skip
    optimizer = r.leaves.chosen("optimizer_bytes", _one(run.optimizer_bytes),
                                name=r.result.choice.optimizer if r.result.choice else "")  # fmt: skip
    gradient = r.leaves.chosen("gradient_bytes", _one(run.gradient_bytes))
    recompute = r.leaves.chosen("recompute", _one(run.recompute),
                                name=r.result.choice.recompute if r.result.choice else "")  # fmt: skip
    parts = [
        made(Node("weights", use.weights, "memory", operation="follows"), params, size, sharding, ranks),
        made(Node("gradients", use.gradients, "memory", operation="follows"), params, gradient, sharding, ranks),
        made(Node("optimizer", use.optimizer, "memory", operation="follows"), params, optimizer, sharding, ranks),
        made(Node("activations", use.activations, "memory", operation="follows"),
             _degree(r, "micro_batch", _one(run.micro_batch)), _sequence(r),
             r.leaves.shaped("layers", _one(r.case.llm.layers), r.llm, "count", "L"), recompute),
        Node("runtime", use.runtime, "memory", operation="follows", origin="formula"),
    ]  # fmt: skip
    whole = Node("memory_bytes", use.used, "memory", operation="sum", family="peak_memory")
    return made(whole, *plus(*parts))


def memory_used(r: Running) -> Node:
    """Share of the usable memory that the fullest card holds."""
    use, shown = r.result.memory, r.result.memory_share
    assert use is not None
    sheet = r.leaves.cited("memory_size", r.gpu.memory_bytes, r.gpu, "memory", "M",
                           r.gpu.memory_bytes.value / r.gpu.gpus_per_card)  # fmt: skip
    usable = made(Node("usable", use.usable, "memory", operation="follows"), sheet)
    return made(
        _shown(r, "memory_used", shown, "share", family="peak_memory"),
        memory_bytes(r)._replace(role="×"),
        over(usable),
    )
