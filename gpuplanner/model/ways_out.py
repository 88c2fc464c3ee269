"""Ways out of what is wrong with a scenario: single steps, each evaluated as if it had been made.

Computed after the frame, for one scenario at a time, never inside `evaluate`.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from pydantic import ValidationError

from gpuplanner.catalog.load import Catalog
from gpuplanner.catalog.schema import Gpu
from gpuplanner.model import findings, hardware, serving
from gpuplanner.model.edit import Path, replace
from gpuplanner.model.evaluate import evaluate
from gpuplanner.model.plan import FineTune, Plan, Scenario, Serve, Train
from gpuplanner.model.power import lowest_limit
from gpuplanner.model.results import NOT_KNOWN, Figure, Results, ScenarioResult, ServeResult, TrainResult

Edit = tuple[Path, Any]
_LEVELS = {32: "32-bit", 16: "16-bit", 8: "8-bit", 4: "4-bit"}
_MOST_SERVERS = 4096
# Of more groups than this the first are tried: each try evaluates the scenario.
_MOST_GROUPS = 4
_SPEED = (
    "exceeds_memory",
    "misses_first_token",
    "misses_per_token",
    "overloaded",
    "low_end_misses_demand",
    "misses_deadline",
    "low_end_misses_deadline",
    "low_end_misses_first_token",
    "low_end_misses_per_token",
)
_HEAT = (
    "exceeds_power",
    "exceeds_cooling",
    "nameplate_exceeds_power",
    "nameplate_exceeds_cooling",
    "tight_power",
    "tight_cooling",
    "throttles",
    "cannot_be_cooled",
    "exceeds_rack",
)
_MONEY = ("exceeds_budget", "budget_band_exceeds")
_WAITS = "waits_for_link"
# Notes that have ways out.
_NOTES = ("format_lever", _WAITS)
# Rates of network cards that are sold. [bit/s]
_NIC_BITS = (1e9, 10e9, 25e9, 50e9, 100e9, 200e9, 400e9, 800e9)
# A step that is meant to leave less waiting must bring so much speed.
_WORTH_A_LINK = 1.05
_SPLIT = (
    "tp_not_divides",
    "gpus_not_divisible",
    "tp_leaves_server",
    "pp_exceeds_layers",
    "ep_not_divides",
    "ep_without_experts",
    "runtime_no_tensor",
    "runtime_no_pipeline",
    "runtime_one_server",
    "batch_too_small",
)
_RUNTIME = (
    "runtime_fails",
    "runtime_not_scored",
    "slow_runtime",
    "no_format",
    "runtime_unknown",
    "runtime_does_not_train",
)

# Steps that ask for less instead of doing better: offered last.
_COUNTED = ("remove_servers", "add_servers")
_ASKS_LESS = ("relax_target", "allow_format")


class WayOut(NamedTuple):
    """One step and what it leads to.

    ``solves``: the finding is gone afterwards; ``edits`` make it, as one undo step.
    """

    key: str
    numbers: dict[str, float | str]
    finding_key: str
    edits: tuple[Edit, ...]
    letter: str
    speed: Figure
    purchase: Figure
    extra_cost: float
    solves: bool


def ways_out(plan: Plan, catalog: Catalog, results: Results, letter: str) -> tuple[WayOut, ...]:
    """Single steps that remove a finding of this scenario, the cheapest first; steps that only help come after those
    that solve.
    """
    at = next((i for i, scenario in enumerate(plan.scenarios) if scenario.letter == letter), None)
    today = results.scenario(letter)
    if at is None or today is None:
        return ()
    # The other scenarios do not matter here, and leaving them out keeps each try short.
    alone = replace(replace(plan, ("baseline",), None), ("scenarios",), (plan.scenarios[at],))
    found: list[WayOut] = []
    tried: set[tuple[str, int, str]] = set()
    for finding in results.findings:
        if finding.scenario != letter or (finding.level == "note" and finding.key not in _NOTES):
            continue
        # What is said of the whole scenario may be helped in any of its groups.
        every = range(min(len(alone.scenarios[0].groups), _MOST_GROUPS))
        for group in every if finding.group is None else (finding.group,):
            for key, numbers, edits in _steps(alone, finding.key, group, today, catalog):
                marker = (finding.key, group, repr((key, sorted(numbers.items(), key=str))))
                if marker in tried:
                    continue
                tried.add(marker)
                way = _evaluated(alone, catalog, today, letter, at, finding.key, key, numbers, edits)
                if way is not None:
                    found.append(way)
    return tuple(sorted(_gentlest(found), key=lambda way: (not way.solves, way.key in _ASKS_LESS, way.extra_cost)))


def _gentlest(found: list[WayOut]) -> list[WayOut]:
    """Of several numbers of servers to leave out or to add that solve one finding, the smallest only."""
    least: dict[tuple[str, Path], float] = {}
    for way in found:
        if way.solves and way.key in _COUNTED:
            step = (way.finding_key, way.edits[0][0])
            least[step] = min(float(way.numbers["count"]), least.get(step, np.inf))
    return [
        way
        for way in found
        if way.key not in _COUNTED
        or float(way.numbers["count"]) <= least.get((way.finding_key, way.edits[0][0]), np.inf)
    ]


def _fewer_servers(servers: int, share: float) -> list[int]:
    """Smaller numbers of servers worth a try: one fewer, and about the share that is left of a limit."""
    enough = int(servers * min(share, 1.0))
    return [count for count in dict.fromkeys((servers - 1, enough + 1, enough, enough - 1)) if 0 < count < servers]


def _room_share(today: ScenarioResult) -> float:
    """How much of its load the tightest limit of the room carries."""
    load = max(today.room.it_load_w.high or 0.0, 1.0)
    return min((limit / load for _, limit in today.room.limits), default=1.0)


def _evaluated(
    alone: Plan,
    catalog: Catalog,
    today: ScenarioResult,
    letter: str,
    at: int,
    finding: str,
    key: str,
    numbers: dict[str, float | str],
    edits: tuple[Edit, ...],
) -> WayOut | None:
    try:
        after = alone
        for path, value in edits:
            after = replace(after, path, value)
    except (ValidationError, KeyError, IndexError):
        # A step that the plan's own limits forbid is no way out.
        return None
    results = evaluate(after, catalog)
    then = results.scenarios[0]
    left = {one.key for one in results.findings if one.scenario == letter}
    before, now = today.money.total_over_term.value, then.money.total_over_term.value
    solves = finding not in left and not _worse(today, then)
    if finding == _WAITS:
        gain = (speed_of(then).value or 0.0) / (speed_of(today).value or np.inf)
        if _worse(today, then) or gain < _WORTH_A_LINK:
            return None
    elif not solves and not _better(today, then):
        return None
    slower = (speed_of(then).value or 0.0) <= (speed_of(today).value or 0.0)
    if finding in _SPEED and then.speed.status == "fail" and slower:
        # One sentence would go because a graver one takes its place.
        return None
    if key == "cap_power":
        old, new = speed_of(today), speed_of(then)
        if old.value and new.value is not None:
            numbers = {**numbers, "speed_loss": new.value / old.value - 1.0}
    placed = tuple(
        (("scenarios", at, *path[2:]) if path[:1] == ("scenarios",) else path, value) for path, value in edits
    )
    extra = (now or 0.0) - (before or 0.0) if now is not None and before is not None else 0.0
    return WayOut(key, numbers, finding, placed, letter, speed_of(then), then.money.purchase, extra, solves)


_RANK = {"ok": 0, "unknown": 1, "warn": 2, "fail": 3}


def _grades(result: ScenarioResult) -> tuple[int, ...]:
    return tuple(_RANK[check.status] for check in (result.fits, result.speed, result.room_check, result.money_check))


def _worse(today: ScenarioResult, then: ScenarioResult) -> bool:
    return any(new == 3 and old < 3 for old, new in zip(_grades(today), _grades(then), strict=True))


def _better(today: ScenarioResult, then: ScenarioResult) -> bool:
    return _grades(then) < _grades(today) and not _worse(today, then)


def speed_of(result: ScenarioResult) -> Figure:
    """What a scenario is compared by: output within the targets, else its limit, else the training rate."""
    if result.serve:
        first = result.serve[0]
        return first.output_tokens_s if first.output_tokens_s.value else first.output_tokens_s_limit
    return result.train[0].tokens_s if result.train else NOT_KNOWN


def _steps(
    plan: Plan, finding: str, group: int, today: ScenarioResult, catalog: Catalog
) -> Iterator[tuple[str, dict[str, float | str], tuple[Edit, ...]]]:
    scenario = plan.scenarios[0]
    if group >= len(scenario.groups) or not scenario.groups[group].runs:
        return
    here: Path = ("scenarios", 0, "groups", group)
    run: Path = (*here, "runs", 0)
    stated = scenario.groups[group].runs[0]
    servers = scenario.groups[group].servers
    workload_at = next(i for i, workload in enumerate(plan.workloads) if workload.id == stated.workload)
    workload = plan.workloads[workload_at]
    if finding in _SPEED or finding == "format_lever":
        yield from _formats(plan, today, workload, workload_at, group, run, catalog)
    if (finding in _RUNTIME or finding in _SPEED) and stated.runtime != "auto":
        yield (
            "change_runtime",
            {"runtime": _auto_runtime(plan, scenario, group, catalog)},
            (((*run, "runtime"), "auto"), ((*run, "version"), "auto")),
        )
    if finding in _SPLIT or finding in _SPEED:
        if any(value != "auto" for value in (stated.tp, stated.pp, stated.dp, stated.ep)):
            yield "split_auto", {}, tuple(((*run, name), "auto") for name in ("tp", "pp", "dp", "ep"))
    if finding == _WAITS:
        yield from _better_links(plan, today, group, here, run, catalog)
    if finding == "fp32_waste":
        yield "use_compute", {"compute": "bf16"}, (((*run, "compute"), "auto"), ((*run, "weights"), "auto"))
    if finding in _SPEED:
        for count in _more_servers(today, workload, servers):
            yield "add_servers", {"count": count - servers}, (((*here, "servers"), count),)
        if isinstance(workload, Serve):
            yield from _looser_targets(finding, today, workload, workload_at, group)
        elif today.train and today.train[0].duration_s.high is not None and isinstance(workload, (FineTune, Train)):
            target = float(np.ceil(today.train[0].duration_s.high / 86_400.0) * 86_400.0)
            yield "relax_target", {"target_s": target}, ((("workloads", workload_at, "deadline_s"), target),)
    if finding in _HEAT:
        cap = _cap(plan, scenario, group, today, catalog)
        if cap is not None:
            yield "cap_power", {"watts": cap}, (((*here, "power_cap_w"), cap),)
        for count in _fewer_servers(servers, _room_share(today)):
            yield "remove_servers", {"count": servers - count}, (((*here, "servers"), count),)
    climate = today.room.climate
    if finding in ("inlet_too_warm", "throttles") and climate is not None and climate.inlet_max_c is not None:
        coolest = float(np.floor(climate.inlet_max_c * 2.0) / 2.0)
        if coolest < plan.site.supply_c:
            yield "cool_supply", {"limit_c": coolest}, ((("site", "supply_c"), coolest),)
    if finding == "needs_liquid":
        yield "pipe_liquid", {}, ((("site", "cooling"), "direct-liquid"),)
    if finding in _MONEY:
        over = today.money_check.numbers
        for count in _fewer_servers(
            servers, float(over.get("budget", 0.0)) / max(float(over.get("amount", 1.0)), 1e-9)
        ):
            yield "remove_servers", {"count": servers - count}, (((*here, "servers"), count),)
        cards = scenario.groups[group].gpus_per_server
        if cards > 1:
            yield "fewer_gpus", {"count": cards // 2}, (((*here, "gpus_per_server"), cards // 2),)
        if scenario.groups[group].condition == "new":
            yield "buy_used", {"gpu": scenario.groups[group].gpu}, (((*here, "condition"), "used"),)
    if finding == "runtime_fails" and stated.runtime == "auto":
        yield "use_linux", {}, (((*here, "os"), "linux"),)


def _better_links(
    plan: Plan, today: ScenarioResult, group: int, here: Path, run: Path, catalog: Catalog
) -> Iterator[tuple[str, dict[str, float | str], tuple[Edit, ...]]]:
    """Other links, cards and splits for a group whose cards wait for the link they have."""
    scenario, view = plan.scenarios[0], catalog.over(plan.entries)
    hard = hardware.resolve(scenario.groups[group], scenario.network, view)
    every: list[ServeResult | TrainResult] = [*today.serve, *today.train]
    waits = [wait for one in every if one.group == group for wait in one.waits]
    joining: Path = ("scenarios", 0, "network")
    if any(wait.between_servers for wait in waits):
        if hard.fabric != "infiniband":
            yield "use_fabric", {"binds": "infiniband"}, (((*joining, "fabric"), "infiniband"),)
        if hard.fabric == "ethernet":
            yield "use_fabric", {"binds": "roce"}, (((*joining, "fabric"), "roce"),)
        faster = [bits for bits in _NIC_BITS if bits > hard.nic_bits_s][:2]
        for bits in faster:
            yield "faster_nics", {"nic": bits}, (((*joining, "nic_bits_s"), bits),)
        if scenario.network.oversubscription > 1.0:
            yield "even_leaves", {}, (((*joining, "oversubscription"), 1.0),)
    if any(not wait.between_servers for wait in waits) and hard.gpu is not None:
        if hard.link_one_way == 0.0 and hard.gpu.link_one_way_bytes_s is not None:
            yield "use_bridges", {}, (((*joining, "in_server"), "nvlink"),)
        for name in _linked_cards(hard.gpu, view):
            edits: tuple[Edit, ...] = (((*here, "gpu"), name), ((*here, "server"), ""), ((*here, "price"), "auto"))
            yield "swap_card", {"gpu": name}, edits
    for one in every:
        # The automatic choice is the fastest split already.
        if one.group == group and one.choice is not None and "tp" not in one.choice.auto:
            for tp in (one.choice.tp // 2, one.choice.tp // 4, 1):
                pp = one.choice.tp * one.choice.pp // max(tp, 1)
                if 1 <= tp < one.choice.tp:
                    yield "use_split", {"tp": tp, "pp": pp}, (((*run, "tp"), tp), ((*run, "pp"), pp))


def _linked_cards(gpu: Gpu, catalog: Catalog) -> list[str]:
    """Two cards with a faster link between all of a server and as much memory: of the same generation where there are
    any, else of the same maker, the nearest in computing speed first.
    """
    mine = gpu.link_one_way_bytes_s.value if gpu.link_one_way_bytes_s is not None and gpu.link_domain > 2 else 0.0
    rate = gpu.peak_flops["bf16"].value if "bf16" in gpu.peak_flops else 0.0
    found = [
        (other.architecture != gpu.architecture, abs(other.peak_flops["bf16"].value - rate), other.name)
        for other in catalog.gpus.values()
        if other.vendor == gpu.vendor
        and other.link_one_way_bytes_s is not None
        and other.link_domain > 2
        and other.link_one_way_bytes_s.value > 1.2 * mine
        and other.memory_bytes.value >= gpu.memory_bytes.value
        and "bf16" in other.peak_flops
    ]
    return [name for _generation, _away, name in sorted(found)[:2]]


def _auto_runtime(plan: Plan, scenario: Scenario, group: int, catalog: Catalog) -> str:
    stated = scenario.groups[group]
    kind = next(workload.kind for workload in plan.workloads if workload.id == stated.runs[0].workload)
    view = catalog.over(plan.entries)
    free = replace(stated.runs[0], ("runtime",), "auto")
    runtime = serving.choose_runtime(free, kind, hardware.resolve(stated, scenario.network, view), stated, view)
    return runtime.name if runtime is not None else ""


def _formats(
    plan: Plan, today: ScenarioResult, workload: Any, workload_at: int, group: int, run: Path, catalog: Catalog
) -> Iterator[tuple[str, dict[str, float | str], tuple[Edit, ...]]]:
    mine = next((one for one in today.serve if one.group == group), None)
    if not isinstance(workload, Serve):
        return
    scenario = plan.scenarios[0]
    stated = scenario.groups[group].runs[0].weights
    if mine is not None and mine.choice is not None:
        options = mine.formats
        view = catalog.over(plan.entries)
        llm = view.find("llm", mine.choice.llm)
        if stated != "auto" and llm is not None:
            options = findings.free_format(workload, scenario.groups[group], scenario, llm, view).formats
        for option in options:
            if option.fits and option.weights != mine.choice.weights:
                yield (
                    "use_format",
                    {"weights": option.weights},
                    (((*run, "weights"), option.weights), ((*run, "compute"), "auto")),
                )
    # A lower format than the workload allows is a decision about quality, offered as such.
    allowed = {"32-bit": 32, "16-bit": 16, "8-bit": 8, "4-bit": 4, "any": 2}[workload.lowest_format]
    for bits in (8, 4):
        if bits < allowed and stated == "auto":
            yield "allow_format", {"bits": bits}, ((("workloads", workload_at, "lowest_format"), _LEVELS[bits]),)


def _more_servers(today: ScenarioResult, workload: Any, servers: int) -> list[int]:
    """How many servers might be enough, by the ratio of what is asked to what is there; the exact figure is tried."""
    short = 1.0
    for one in today.serve:
        if one.headroom.value is not None:
            short = max(short, 1.0 / max(one.headroom.value + 1.0, 0.02))
    for run in today.train:
        if run.duration_s.value is not None and run.deadline_s:
            short = max(short, run.duration_s.value / run.deadline_s)
    enough = int(np.ceil(servers * short * 1.02))
    return [
        count
        for count in dict.fromkeys((servers + 1, enough, enough + 1, servers * 2))
        if servers < count <= _MOST_SERVERS
    ]


def _looser_targets(
    finding: str, today: ScenarioResult, workload: Serve, at: int, group: int
) -> Iterator[tuple[str, dict[str, float | str], tuple[Edit, ...]]]:
    mine = next((one for one in today.serve if one.group == group), None)
    if mine is None:
        return
    if "first_token" in finding and mine.first_token_s.high is not None:
        target = _rounded_up(mine.first_token_s.high)
        yield "relax_target", {"target_s": target}, ((("workloads", at, "first_token_s"), target),)
    if "per_token" in finding and mine.per_token_s.high is not None:
        target = _rounded_up(mine.per_token_s.high)
        yield "relax_target", {"target_s": target}, ((("workloads", at, "per_token_s"), target),)


def _rounded_up(value: float) -> float:
    """The next value with two digits."""
    step = 10.0 ** (np.floor(np.log10(value)) - 1.0)
    return float(np.round(np.ceil(value / step) * step, 6))


def _cap(plan: Plan, scenario: Scenario, group: int, today: ScenarioResult, catalog: Catalog) -> float | None:
    """A power limit of the cards that brings the load under every limit of the room, in steps of 10 W."""
    power = next((one for one in today.room.groups if one.group == group), None)
    gpu = catalog.over(plan.entries).find("gpu", scenario.groups[group].gpu)
    if power is None or gpu is None or gpu.board_power_w is None or not today.room.limits:
        return None
    limit = min(value for _, value in today.room.limits)
    cards = scenario.groups[group].gpus_per_server * scenario.groups[group].servers
    draw = today.room.it_nameplate_w.value or 0.0
    surplus = draw - limit
    lowest = lowest_limit(gpu, catalog)
    cap = float(np.floor((gpu.board_power_w.value - surplus / cards) / 10.0) * 10.0)
    if surplus <= 0 or cap < lowest:
        return None
    return cap
