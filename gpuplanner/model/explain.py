"""Explain a figure: its derivation as a tree, from the figure that the window shows down to inputs and sources.

`explain` finds the figure as the comparison, the cards and the builder show it and builds what it rests on. Nothing is
worked out twice: values are taken from the results or from the functions that `evaluate` calls.
"""

from collections.abc import Callable
from typing import NamedTuple

from gpuplanner.catalog.load import Catalog
from gpuplanner.catalog.schema import Gpu
from gpuplanner.model import comparison, cooling, cost, hardware, power, room
from gpuplanner.model import explain_serving as serving
from gpuplanner.model import explain_training as training
from gpuplanner.model.bands import scaled
from gpuplanner.model.derivation import Leaves, Node, figure, less, made, over, plus, times, total_of
from gpuplanner.model.edit import replace
from gpuplanner.model.evaluate import evaluate, held_back, view_of
from gpuplanner.model.plan import Group, Plan, Serve
from gpuplanner.model.results import (
    OWN_ROWS,
    FabricPart,
    Figure,
    GroupPower,
    MoneyLine,
    Results,
    ScenarioResult,
    ServeResult,
    TrainResult,
    exact,
)
from gpuplanner.units import HOURS_PER_YEAR, KILO, M3_H_PER_CFM, SECONDS_PER_HOUR

# Figures that are shown outside the comparison, or that only a derivation asks for: where they stand, their kind.
_ROOM = {
    "load_power": ("it_load_w", "power"),
    "average_power": ("it_average_w", "power"),
    "facility_power": ("facility_w", "power"),
    "nameplate": ("it_nameplate_w", "power"),
    "cooling_tons": ("cooling_tons", "tons"),
    "air": ("airflow_m3_s", "air"),
    "weight": ("weight_kg", "weight"),
}
_MONEY = {
    "electricity": "electricity_per_year",
    "running": "running_per_year",
    "rent": "rent_per_year",
    "cloud": "cloud_per_year",
    "resale": "resale",
}
_OF_RUN = ("output_limit", "kv_capacity", "network_time", "memory_bytes", "gpu_power", "decode_step", "prefill_one")
# Every figure that can be explained, beside the rows of the comparison.
EXTRA = (*_ROOM, *_MONEY, "speed_ratio", *_OF_RUN)
_MILLION = 1e6


class Subject(NamedTuple):
    """What is explained: a scenario of the plan with its results and the catalog as the plan sees it."""

    plan: Plan
    view: Catalog
    results: Results
    workload: str
    at: int
    entry: ScenarioResult
    rows: dict[str, comparison.Row]
    leaves: Leaves

    @property
    def hardwares(self) -> list[hardware.Hardware]:
        scenario = self.plan.scenarios[self.at]
        return [hardware.resolved(group, scenario.network, self.view) for group in scenario.groups]

    @property
    def groups(self) -> tuple[Group, ...]:
        return self.plan.scenarios[self.at].groups


def subject(plan: Plan, catalog: Catalog, results: Results, letter: str, workload: str) -> Subject | None:
    """The scenario of that letter; None where plan or results lack it."""
    entry = results.scenario(letter)
    at = next((i for i, scenario in enumerate(plan.scenarios) if scenario.letter == letter), None)
    if entry is None or at is None:
        return None
    rows = {row.key: row for row in comparison.rows(plan, results, workload)}
    view = view_of(plan, catalog)
    return Subject(plan, view, results, workload, at, entry, rows, Leaves(view))


def metrics(plan: Plan, results: Results, workload: str) -> tuple[str, ...]:
    """The keys of every figure of a workload that can be explained."""
    return (*(row.key for row in comparison.rows(plan, results, workload)), *EXTRA)


def explain(
    plan: Plan, catalog: Catalog, results: Results, letter: str, metric: str, workload: str = ""
) -> Node | None:
    """The derivation of a figure of one scenario.

    ``workload`` is the id of the workload that is looked at, by default the plan's first. None where the results do
    not have the figure, or where nothing is known of it but that it is not known.
    """
    workload = workload or (plan.workloads[0].id if plan.workloads else "")
    s = subject(plan, catalog, results, letter, workload)
    if s is None:
        return None
    if metric == "speed_ratio":
        return _ratio(s, catalog)
    if metric in _ROOM:
        return _ROOM_BUILDERS[metric](s)
    if metric in _MONEY:
        return _MONEY_BUILDERS[metric](s)
    row = s.rows.get(metric)
    shown = None
    if row is not None:
        cell = row.cell(letter)
        shown = cell.figure if cell is not None else None
        if shown is None or (shown.value is None and metric != "first_token"):
            return None
    if metric in _ROOM_BUILDERS:
        return _ROOM_BUILDERS[metric](s)
    if metric in _MONEY_BUILDERS:
        return _MONEY_BUILDERS[metric](s)
    if shown is not None and shown.value and shown.note == OWN_ROWS:
        return _moved(plan, catalog, letter, metric, workload, shown)
    if any(each.id == workload and isinstance(each, Serve) for each in plan.workloads):
        return _of_serving(s, metric, shown)
    return _of_training(s, metric)


def _moved(plan: Plan, catalog: Catalog, letter: str, metric: str, workload: str, shown: Figure) -> Node | None:
    """A figure that the plan's own measurements have moved: what it was without them, and the factor they ask for."""
    bare = replace(plan, ("measured",), ())
    without = explain(bare, catalog, evaluate(bare, catalog), letter, metric, workload)
    if without is None or not without.value or shown.value is None:
        return without
    whole = without._replace(
        value=shown.value, low=shown.low, high=shown.high, operation="product", children=(), origin="formula"
    )
    factor = Node("own_measurements", shown.value / without.value, "ratio", origin="measured")
    return made(whole, *times(without._replace(key="without_own_rows"), factor))


# --- speed -------------------------------------------------------------------------------------------


def _of_serving(s: Subject, metric: str, shown: Figure | None) -> Node | None:
    results = [result for result in s.entry.serve if result.workload == s.workload and result.choice is not None]
    if not results:
        return None
    pairs = [(result, _of_group(s, result, metric)) for result in results]
    known = [(result, node) for result, node in pairs if node is not None]
    if not known:
        return None
    if metric in ("memory_used", "memory_bytes"):
        # The fullest group decides whether the scenario fits.
        return max(known, key=lambda pair: pair[0].memory_share.value or -1.0)[1]
    if len(results) == 1:
        return known[0][1]
    return _of_several(s, metric, shown, known)


_SUMMED = ("output", "output_limit", "prefill", "kv_capacity")


def _of_several(s: Subject, metric: str, shown: Figure | None, known: list[tuple[ServeResult, Node]]) -> Node:
    """The figure of a scenario in which several groups serve the workload."""
    named = [node._replace(name=_group_name(s, result.group)) for result, node in known]
    if shown is not None:
        value, low, high = shown[:3]
    else:
        values = [node.value or 0.0 for node in named]
        value, low, high = (sum(values) if metric in _SUMMED else max(values)), None, None
    root = Node(
        metric, value, named[0].kind, "", low, high, operation="follows", numbers=named[0].numbers,
        family=named[0].family,
    )  # fmt: skip
    if metric in _SUMMED:
        return made(root._replace(operation="sum"), *plus(*named))
    if metric == "headroom":
        outputs = [(result, _of_group(s, result, "output")) for result, _node in known]
        parts = [node._replace(name=_group_name(s, result.group)) for result, node in outputs if node is not None]
        whole = made(
            Node("output", total_of(parts), "tokens_s", operation="sum"), *plus(*parts)
        )  # fmt: skip
        operating = (serving.operating(s.plan, s.view, s.at, result) for result, _node in known)
        asked = next((serving.demand_output(o) for o in operating if o is not None), None)
        if asked is None:
            return made(root, *named)
        return made(root._replace(operation="less_one"), whole._replace(role="×"), over(asked))
    if metric == "energy_per_million":
        carried = sum(result.load_share for result, _node in known) or 1.0
        shares = [
            made(
                Node("energy_of_group", (node.value or 0.0) * result.load_share / carried, node.kind,
                     operation="product", name=node.name),
                *times(node, Node("load_share", result.load_share / carried, "share")),
            )
            for (result, _node), node in zip(known, named, strict=True)
        ]  # fmt: skip
        return made(root._replace(operation="sum"), *plus(*shares))
    return made(root._replace(operation="largest"), *(node._replace(role="+") for node in named))


def _group_name(s: Subject, group: int) -> str:
    stated = s.groups[group]
    return stated.name or stated.gpu or stated.server


def _held(s: Subject, group: int) -> Plan:
    """The plan with the group's cards as the room holds them back, where it does."""
    limit = dict(s.entry.room.device_limits_w).get(group)
    if limit is None:
        return s.plan
    scenario = s.plan.scenarios[s.at]
    capped = held_back(scenario.groups[group], limit, s.hardwares[group])
    groups = tuple(capped if i == group else one for i, one in enumerate(scenario.groups))
    scenarios = tuple(
        scenario.model_copy(update={"groups": groups}) if i == s.at else one for i, one in enumerate(s.plan.scenarios)
    )
    return s.plan.model_copy(update={"scenarios": scenarios})


def _of_group(s: Subject, result: ServeResult, metric: str) -> Node | None:
    held = _held(s, result.group)
    o = serving.operating(held, s.view, s.at, result, held is not s.plan)
    if o is None:
        return _on_processors(s, result, metric)
    million = scaled(result.energy_j_per_token, _MILLION)
    single: dict[str, Callable[[], Node]] = {
        "first_token": lambda: serving.first_token(o),
        "per_token": lambda: serving.per_token(o),
        "output": lambda: serving.output(o),
        "output_limit": lambda: serving.output_limit(o),
        "headroom": lambda: serving.headroom(o),
        "single_stream": lambda: serving.single_stream(o),
        "prefill": lambda: serving.prefill_rate(o),
        "memory_used": lambda: serving.memory_used(o),
        "memory_bytes": lambda: serving.memory_bytes(o),
        "kv_capacity": lambda: serving.kv_capacity(o),
        "network_time": lambda: serving.network_time(o),
        "link_wait": lambda: serving.link_wait(o),
        "gpu_power": lambda: serving.card_power(o),
        "decode_step": lambda: serving.decode_step(o),
        "prefill_one": lambda: serving.prefill(o),
        "energy_per_million": lambda: serving.energy(o, million, _MILLION),
    }
    return single[metric]() if metric in single else None


_PROCESSOR_FIGURES = {
    "first_token": ("first_token_s", "first_token", "cpu_prefill"),
    "per_token": ("per_token_s", "per_token", "cpu_decode"),
    "output": ("output_tokens_s", "tokens_s", "cpu_decode"),
    "output_limit": ("output_tokens_s_limit", "tokens_s", "cpu_decode"),
    "headroom": ("headroom", "headroom", "cpu_decode"),
    "single_stream": ("single_stream_tokens_s", "tokens_s", "cpu_decode"),
    "prefill": ("prefill_tokens_s", "tokens_s", "cpu_prefill"),
    "memory_used": ("memory_share", "share", "peak_memory"),
    "decode_step": ("decode_step_s", "duration", "cpu_decode"),
    "prefill_one": ("prefill_s", "duration", "cpu_prefill"),
    "energy_per_million": ("energy_j_per_token", "energy_per_million", "energy"),
}


def _on_processors(s: Subject, result: ServeResult, metric: str) -> Node | None:
    """A figure of servers without a GPU: it follows from the memory bandwidth of their processors."""
    if metric not in _PROCESSOR_FIGURES or s.groups[result.group].gpu:
        return None
    name, kind, family = _PROCESSOR_FIGURES[metric]
    shown: Figure = getattr(result, name)
    if metric == "energy_per_million":
        shown = scaled(shown, _MILLION)
    hard = s.hardwares[result.group]
    given: list[Node] = []
    if hard.cpu is not None:
        speed, cores = hard.cpu.memory_bandwidth_bytes_s, float(hard.cpu.cores)
        given.append(s.leaves.cited("cpu_bandwidth", speed, hard.cpu, "bandwidth", "BW"))
        given.append(s.leaves.shaped("cpu_cores", cores, hard.cpu))
    given += [
        Node("sockets", float(hard.sockets), origin="your input", path=("scenarios", s.at, "groups", result.group)),
        s.leaves.named("cpu dram", "two sockets" if hard.sockets > 1 else "one socket"),
    ]
    llm = s.view.find("llm", result.choice.llm) if result.choice is not None else None
    if llm is not None:
        given.append(s.leaves.shaped("active_params", float(llm.params_active), llm, "parameters", "N"))
    if metric in ("per_token", "decode_step") and shown.parts:
        parts = [
            made(Node(f"{part.name}_time", part.value, "duration", operation="follows"), *given) for part in shown.parts
        ]
        return figure(metric, shown, kind, "sum", *plus(*parts), family=family)
    return figure(metric, shown, kind, "follows", *given, family=family)


def _of_training(s: Subject, metric: str) -> Node | None:
    result = next((run for run in s.entry.train if run.workload == s.workload), None)
    r = None if result is None else training.running(_held(s, result.group), s.view, s.at, result)
    if result is None or r is None:
        return None
    if metric == "energy_per_run":
        return _energy_of_run(s, result, training.duration(r))
    if metric == "per_run":
        return _cost_of_run(s, result, training.duration(r))
    built: dict[str, Callable[[], Node]] = {
        "tokens": lambda: training.rate(r),
        "step": lambda: training.step(r),
        "mfu": lambda: training.mfu(r),
        "duration": lambda: training.duration(r),
        "gpu_hours": lambda: training.gpu_hours(r),
        "memory_used": lambda: training.memory_used(r),
        "memory_bytes": lambda: training.memory_bytes(r),
        "network_time": lambda: training.network_time(r),
        "link_wait": lambda: training.link_wait(r),
    }
    return built[metric]() if metric in built else None


def _ratio(s: Subject, catalog: Catalog) -> Node | None:
    """Speed against the baseline: both sides, and the narrower band of a ratio."""
    shown, letter = s.entry.speed_ratio, s.results.baseline
    if shown.value is None or letter is None:
        return None
    sides = []
    workload = s.workload
    if s.entry.serve:
        workload = s.entry.serve[0].workload
    elif s.entry.train:
        workload = s.entry.train[0].workload
    for each in (s.entry.letter, letter):
        other = subject(s.plan, catalog, s.results, each, workload)
        found = None
        for metric in ("output", "output_limit", "tokens") if other is not None else ():
            node = explain(s.plan, catalog, s.results, each, metric, workload)
            if node is not None and node.value:
                found = node
                break
        if found is None:
            found = Node("output", 0.0, "tokens_s", operation="follows")
        sides.append(found._replace(name=each))
    numbers = {"letter": letter}
    node = Node(
        "speed_ratio", shown.value, "ratio", "", shown.low, shown.high, operation="product", numbers=numbers,
        family="training" if s.entry.train and not s.entry.serve else "max_throughput",
    )  # fmt: skip
    return made(node, sides[0]._replace(role="×"), over(sides[1]))


# --- power, heat, room -------------------------------------------------------------------------------


def _board(s: Subject, gpu: Gpu) -> Node:
    if gpu.board_power_w is not None:
        return s.leaves.cited("board_power", gpu.board_power_w, gpu, "watts", "TDP")
    return figure("board_power", power.board_power(gpu, s.view), "watts", "leaf", symbol="TDP", name=gpu.name)


def _count(s: Subject, group: int, field: str, key: str) -> Node:
    return s.leaves.typed(
        key, float(getattr(s.groups[group], field)), "count", ("scenarios", s.at, "groups", group, field), "n"
    )


def _rest_of_server(s: Subject, value: float, table: str, kind: str) -> Node:
    """What a server draws beside its cards: a class value, cited where the catalog has a row of that class."""
    rows = {row.applies_to for row in s.view.assumptions if row.key == table}
    row = next((each for each in (kind, f"{kind}, air at load", f"{kind}, liquid") if each in rows), None)
    if row is not None and abs(s.view.assumption(table, row).value - value) <= 1e-6 * max(abs(value), 1.0):
        return s.leaves.assumed("rest_of_server", table, row, "power", value)
    return Node("rest_of_server", value, "power", origin="assumed", name=kind)


def _group_power(s: Subject, group: GroupPower, name: str, key: str) -> Node:
    """Power of all servers of a group: servers × (cards + the rest of a server)."""
    shown: Figure = getattr(group, name)
    hard, stated = s.hardwares[group.group], s.groups[group.group]
    each = scaled(shown, 1.0 / max(group.servers, 1))
    server = _server_power(s, group, each, hard, stated, name == "nameplate_w")
    return figure(
        key, shown, "power", "product", *times(_count(s, group.group, "servers", "servers"), server),
        name=_group_name(s, group.group),
    )  # fmt: skip


def _server_power(
    s: Subject, group: GroupPower, each: Figure, hard: hardware.Hardware, stated: Group, nameplate: bool
) -> Node:
    plate = None if hard.server is None else hard.server.max_power_w
    if nameplate and plate is not None and hard.server is not None and each.value == plate.value:
        return s.leaves.cited("server_nameplate", plate, hard.server, "power")
    if hard.gpu is None or each.value is None:
        return Node(
            "server_power", each.value, "power", "", each.low, each.high, origin="assumed", name=hard.server_class
        )
    devices = hard.devices_per_server
    if nameplate:
        limit = (power.board_power(hard.gpu, s.view).value or 0.0) / hard.gpu.gpus_per_card
        if hard.power_cap_w is not None:
            limit = min(hard.power_cap_w, limit)
        one = made(Node("card_limit", limit, "watts", operation="follows"), _board(s, hard.gpu))
    else:
        limit = group.gpu_load_w.value or 0.0
        one = _card_at_load(s, group)
    cards = made(
        Node("cards_power", limit * devices, "power", operation="product"),
        *times(_count(s, group.group, "gpus_per_server", "gpus_per_server"), one,
               Node("devices_per_card", float(hard.gpu.gpus_per_card), origin="catalog", name=hard.gpu.name,
                    source=s.leaves.citation(hard.gpu.sources[0] if hard.gpu.sources else "", hard.gpu.confidence))),
    )  # fmt: skip
    rest = each.value - limit * devices
    if rest < 0:
        return figure("server_power", each, "power", "follows", cards)
    table = "nameplate_without_gpus" if nameplate else "base_load_without_gpus"
    return figure(
        "server_power", each, "power", "sum", *plus(cards, _rest_of_server(s, rest, table, hard.server_class))
    )


def _card_at_load(s: Subject, group: GroupPower) -> Node:
    result = next((run for run in s.entry.serve if run.group == group.group), None)
    if result is not None and result.gpu_power_w.value == group.gpu_load_w.value:
        node = _of_group(s, result, "gpu_power")
        if node is not None:
            return node
    hard = s.hardwares[group.group]
    return figure(
        "gpu_power", group.gpu_load_w, "watts", "follows", *((_board(s, hard.gpu),) if hard.gpu is not None else ()),
        family="power_gpu",
    )  # fmt: skip


def _network_power(s: Subject) -> Node:
    shown = s.entry.room.network_w
    if not shown.value:
        return Node("network_power", shown.value or 0.0, "power", origin="formula")
    parts = [
        figure(
            "part_power", part.power_w, "power", "product",
            *times(Node("quantity", float(part.number), "count", "n"), _part_watts(s, part)), name=part.name,
        )
        for one in s.entry.room.fabrics
        for part in one.parts
        if part.power_w.value
    ]  # fmt: skip
    return figure("network_power", shown, "power", "sum", *plus(*parts))


def _part_watts(s: Subject, part: FabricPart) -> Node:
    """Power of one switch or module: published, or by its speed from others."""
    watts = (part.power_w.value or 0.0) / part.number
    switch = s.view.switches.get(part.name)
    if switch is not None and switch.power_w is not None:
        return s.leaves.cited("part_watts", switch.power_w, switch, "watts", value=watts)
    return Node("part_watts", watts, "watts", origin="assumed", name=part.name)


def _room_power(s: Subject, name: str, of_group: str, key: str, kind: str = "power") -> Node:
    shown: Figure = getattr(s.entry.room, name)
    groups = [_group_power(s, group, of_group, f"group_{of_group[:-2]}") for group in s.entry.room.groups]
    return figure(key, shown, kind, "sum", *plus(*groups, _network_power(s)), family="power_server")


def _nameplate(s: Subject, key: str = "nameplate") -> Node:
    return _room_power(s, "it_nameplate_w", "nameplate_w", key)


def _load_power(s: Subject, key: str = "load_power") -> Node:
    return _room_power(s, "it_load_w", "load_w", key)


def _average_power(s: Subject) -> Node:
    groups = []
    for group in s.entry.room.groups:
        load, idle, mean = group.load_w.value, group.idle_w.value, group.average_w.value
        share = None
        if load is not None and idle is not None and mean is not None and load > idle:
            share = (mean - idle) / (load - idle)
        groups.append(
            figure(
                "group_average", group.average_w, "power", "follows", _group_power(s, group, "load_w", "group_load"),
                figure("group_idle", group.idle_w, "power", "leaf", origin="assumed"),
                Node("busy_share", share, "share", origin="assumed"), name=_group_name(s, group.group),
            )
        )  # fmt: skip
    shown, network = s.entry.room.it_average_w, _network_power(s)
    return figure("average_power", shown, "power", "sum", *plus(*groups, network), family="power_server")


def _pue(s: Subject) -> Node:
    shown, site = s.entry.room.pue, s.plan.site
    if site.pue != "auto":
        return s.leaves.typed("pue", site.pue, "count", ("site", "pue"), "PUE")
    row = next((each for each in s.view.assumptions if each.key == "pue" and each.value == shown.value), None)
    if row is None:
        return figure("pue", shown, "count", "leaf", symbol="PUE", origin="assumed")
    return s.leaves.assumed("pue", "pue", row.applies_to, "count", shown.value, "PUE")


def _facility(s: Subject) -> Node:
    return figure("facility_power", s.entry.room.facility_w, "power", "product", *times(_average_power(s), _pue(s)))


def _heat(s: Subject) -> Node:
    return figure("heat", s.entry.room.heat_w, "heat", "product", *times(_load_power(s), Node("heat_of_power", 1.0)))


def _tons(s: Subject) -> Node:
    ton = Node("watts_per_ton", float(1.0 / cooling.cooling_tons(1.0)), "watts")
    return figure("cooling_tons", s.entry.room.cooling_tons, "tons", "product", *times(_load_power(s), over(ton)))


def _air(s: Subject) -> Node:
    space = s.entry.room
    heat = figure("air_heat", space.air_heat_w, "power", "follows", _load_power(s))
    density = float(cooling.air_density_ratio(s.plan.site.altitude_m))
    thin = made(
        Node("air_density", density, "share", operation="follows"),
        s.leaves.typed("altitude", s.plan.site.altitude_m, "count", ("site", "altitude_m")),
    )
    flow = (space.airflow_m3_s.value or 0.0) * density / (space.air_heat_w.value or 1.0)
    eight = next(
        (row for row in s.view.assumptions if row.key == "airflow_per_kw" and row.value and _air_row(row.value, flow)),
        None,
    )
    per_watt = Node("air_per_watt", flow, "air", origin="assumed")
    if s.plan.site.air_rise_k != "auto":
        rise = s.leaves.typed("air_rise", s.plan.site.air_rise_k, "count", ("site", "air_rise_k"))
        per_watt = made(Node("air_per_watt", flow, "air", operation="follows"), rise)
    elif eight is not None:
        per_watt = s.leaves.assumed("air_per_watt", "airflow_per_kw", eight.applies_to, "air", flow)
    return figure("air", space.airflow_m3_s, "air", "product", *times(heat, per_watt, over(thin)))


def _air_row(cfm_per_kw: float, m3_s_per_w: float) -> bool:
    return abs(cfm_per_kw * M3_H_PER_CFM / SECONDS_PER_HOUR / KILO - m3_s_per_w) <= 1e-9 * m3_s_per_w


def _weight(s: Subject) -> Node:
    shown, parts = s.entry.room.weight_kg, []
    for group in s.entry.room.groups:
        hard = s.hardwares[group.group]
        one = _size(s, hard)
        count = _count(s, group.group, "servers", "servers")
        parts.append(
            made(
                Node("group_weight", (one.value or 0.0) * group.servers, "weight", operation="product",
                     name=_group_name(s, group.group)),
                *times(count, one),
            )
        )  # fmt: skip
    return (
        figure("weight", shown, "weight", "sum", *plus(*parts)) if parts else figure("weight", shown, "weight", "leaf")
    )


def _size(s: Subject, hard: hardware.Hardware) -> Node:
    if hard.server is not None and hard.server.weight_kg is not None:
        return s.leaves.cited("server_weight", hard.server.weight_kg, hard.server, "weight")
    weight = room.server_size(s.view, hard.server, hard.server_class)[1]
    return figure("server_weight", weight, "weight", "leaf", origin="assumed", name=hard.server_class)


_ROOM_BUILDERS: dict[str, Callable[[Subject], Node]] = {
    "max_power": lambda s: _nameplate(s, "max_power"),
    "nameplate": _nameplate,
    "load_power": _load_power,
    "average_power": _average_power,
    "facility_power": _facility,
    "heat": _heat,
    "cooling_tons": _tons,
    "air": _air,
    "weight": _weight,
}


# --- money -------------------------------------------------------------------------------------------

_RUNNING = ("rent_per_year",)


def _unit_price(s: Subject, group: int, line: MoneyLine) -> Node:
    """Price of one server: a quote, a market price, or cards and a class value for the rest."""
    stated, hard = s.groups[group], s.hardwares[group]
    shown = line.unit_price
    if stated.price != "auto":
        typed = s.leaves.typed("unit_price", shown.value, "money", ("scenarios", s.at, "groups", group, "price"))
        return typed
    if hard.gpu is None or shown.value is None:
        return figure("unit_price", shown, "money", "leaf", origin="assumed")
    exchange = cost.Exchange(s.plan, s.view)
    if stated.condition == "rented":
        hour, _date = cost.cloud_price(hard.gpu, s.view, exchange)
        one = _cited_price(s, "cloud_hour", hour, hard.gpu.name, "cloud-hour", "")
        return figure(
            "unit_price", shown, "money", "product",
            *times(_count(s, group, "gpus_per_server", "gpus_per_server"), one),
        )  # fmt: skip
    age = None if stated.age_years == "auto" else stated.age_years
    card, date, how = cost.card_price(hard.gpu, stated.condition, age, s.plan.country, s.view, exchange)
    if card.value is None:
        return figure("unit_price", shown, "money", "leaf", origin="assumed")
    one = _cited_price(s, "card_price", card, hard.gpu.name, "gpu", date)
    one = one._replace(numbers={"how": how})
    cards = made(
        Node("cards_price", card.value * stated.gpus_per_server, "money", operation="product"),
        *times(_count(s, group, "gpus_per_server", "gpus_per_server"), one),
    )
    rest = shown.value - (cards.value or 0.0)
    kind = hard.server_class
    whole_market = hard.server is not None and any(
        price.kind == price.per == "server" and price.price_kind != "launch"
        for price in s.view.prices_of(hard.server.name)
    )
    if rest < 0 or (whole_market and shown.basis == "known"):
        return _cited_price(
            s, "unit_price", shown, hard.server.name if hard.server is not None else hard.gpu.name, "server", ""
        )
    rows = {row.applies_to for row in s.view.assumptions if row.key == "price_chassis_without_gpus"}
    if kind in rows:
        chassis = s.leaves.assumed("chassis_price", "price_chassis_without_gpus", kind, "money", rest)
    else:
        chassis = Node("chassis_price", rest, "money", origin="assumed", name=kind)
    return figure("unit_price", shown, "money", "sum", *plus(cards, chassis))


def _cited_price(s: Subject, key: str, shown: Figure, entry: str, kind: str, date: str) -> Node:
    """A price with the indication that it rests on: that of the date, else the newest."""
    prices = [price for price in s.view.prices_of(entry) if price.kind == kind]
    chosen = next((price for price in prices if date and price.date == date), None)
    if chosen is None and prices:
        chosen = max(prices, key=lambda price: cost.months(price.date))
    source = None if chosen is None else s.leaves.citation(chosen.source, chosen.confidence, chosen.date)
    if source is not None and chosen is not None:
        source = source._replace(date=chosen.date)
    return Node(
        key, shown.value, "money", "", shown.low, shown.high, name=entry, source=source,
        origin="catalog" if shown.basis == "known" and source is not None else "assumed",
    )  # fmt: skip


def _line(s: Subject, at: int, line: MoneyLine) -> Node:
    """One line of the bill."""
    name = line.name
    if line.key == "owned":
        return Node("owned_servers", line.amount.value, "money", origin="your input", name=name,
                    path=("scenarios", s.at, "groups", at, "condition"))  # fmt: skip
    if line.key == "servers":
        count = _count(s, at, "servers", "servers")
        return figure(
            "line_servers", line.amount, "money", "product", *times(count, _unit_price(s, at, line)), name=name
        )
    count = Node("quantity", float(line.quantity), "count", "n")
    if line.key == "spares":
        card = _cited_price(s, "card_price", line.unit_price, name, "gpu", "")
        return figure("line_spares", line.amount, "money", "product", count._replace(role="×"), card._replace(role="×"),
                      name=name)  # fmt: skip
    if line.key == "racks":
        one = figure(
            "rack_price", line.unit_price, "money", "leaf", origin="assumed",
            source=s.leaves.citation(s.view.assumption("price_rack", "42U, empty, with doors").source, "judged"),
        )  # fmt: skip
        return figure("line_racks", line.amount, "money", "product", count._replace(role="×"), one._replace(role="×"))
    one = _cited_price(s, "part_price", line.unit_price, name, "switch", "")
    return figure("line_network", line.amount, "money", "product", count._replace(role="×"), one._replace(role="×"),
                  name=name)  # fmt: skip


def _purchase(s: Subject) -> Node:
    money = s.entry.money
    lines = [_line(s, at, line) for at, line in enumerate(money.lines) if line.key not in _RUNNING]
    if not lines:
        return figure("purchase", money.purchase, "money", "leaf", origin="formula")
    return figure("purchase", money.purchase, "money", "sum", *plus(*lines))


def _kwh_price(s: Subject) -> Node:
    economics, plan = s.plan.economics, s.plan
    shown = cost.electricity_price(economics, plan.country, s.view, cost.Exchange(plan, s.view))
    if economics.electricity_per_kwh != "auto":
        return s.leaves.typed("price_per_kwh", shown.value, "price_kwh", ("economics", "electricity_per_kwh"), "c")
    rows = [row for row in s.view.assumptions if row.key == "tariff"]
    row = next((each for each in rows if each.applies_to == cost.tariff_row(plan.country)), None)
    if row is None:
        return figure("price_per_kwh", shown, "price_kwh", "leaf", symbol="c")
    return s.leaves.assumed("price_per_kwh", "tariff", row.applies_to, "price_kwh", shown.value, "c")


def _electricity(s: Subject) -> Node:
    shown = s.entry.money.electricity_per_year
    kwh = figure(
        "kwh_per_year", s.entry.money.energy_kwh_per_year, "kwh", "product",
        *times(_facility(s), Node("hours_per_year", HOURS_PER_YEAR), over(Node("watts_per_kw", KILO))),
    )  # fmt: skip
    return figure("electricity", shown, "money", "product", *times(kwh, _kwh_price(s)))


def _rent(s: Subject) -> Node:
    money = s.entry.money
    lines = []
    for at, line in enumerate(money.lines):
        if line.key != "rent_per_year":
            continue
        hours = (line.amount.value or 0.0) / ((line.unit_price.value or 1.0) * line.quantity)
        lines.append(
            figure(
                "line_rent", line.amount, "money", "product",
                *times(_count(s, at, "servers", "servers"), _unit_price(s, at, line),
                       Node("rented_hours", hours, "count", origin="assumed")),
                name=line.name,
            )
        )  # fmt: skip
    return figure("rent", money.rent_per_year, "money", "sum" if lines else "leaf", *plus(*lines), origin="formula")


def _running(s: Subject) -> Node:
    money, economics = s.entry.money, s.plan.economics
    staff_typed = economics.staff_per_year
    staff = exact(0.0) if staff_typed == "auto" else cost.Exchange(s.plan, s.view).money(staff_typed)
    upkeep = (money.running_per_year.value or 0.0) - sum(
        figure_.value or 0.0 for figure_ in (money.electricity_per_year, money.rent_per_year, staff)
    )
    parts = [
        _electricity(s), _rent(s),
        s.leaves.typed("staff", staff.value, "money", ("economics", "staff_per_year")),
    ]  # fmt: skip
    if abs(upkeep) > 1e-9 * abs(money.running_per_year.value or 1.0):
        share: Node | None = None
        if economics.maintenance_share != "auto":
            share = s.leaves.typed(
                "maintenance_share", economics.maintenance_share, "share", ("economics", "maintenance_share")
            )
        else:
            rows = [row for row in s.view.assumptions if row.key == "maintenance_share"]
            worth = [line for line in money.lines[: len(s.groups)] if line.key in ("servers", "owned")]
            priced = sum((line.unit_price.value or 0.0) * line.quantity for line in worth)
            row = next((each for each in rows if priced and abs(each.value - upkeep / priced) < 1e-6), None)
            if row is not None:
                share = s.leaves.assumed("maintenance_share", "maintenance_share", row.applies_to, "share")
        maintenance = Node("maintenance", upkeep, "money", operation="follows", origin="assumed")
        parts.append(made(maintenance, *((share,) if share is not None else ())))
    return figure("running", money.running_per_year, "money", "sum", *plus(*parts))


def _resale(s: Subject) -> Node:
    money, economics = s.entry.money, s.plan.economics
    given = []
    for at, group in enumerate(s.groups):
        if group.condition == "rented":
            continue
        share = cost.resale_share(group, s.hardwares[at].gpu, economics, s.view)
        node = (
            s.leaves.typed("resale_share", economics.resale_share, "share", ("economics", "resale_share"))
            if economics.resale_share != "auto"
            else figure("resale_share", share, "share", "leaf", origin="assumed")
        )
        line = money.lines[at]
        worth = (line.unit_price.value or 0.0) * line.quantity
        price = made(Node("worth", worth, "money", operation="product"),
                     *times(_count(s, at, "servers", "servers"), _unit_price(s, at, line)))  # fmt: skip
        given.append(
            made(
                Node("group_resale", worth * (share.value or 0.0), "money", operation="product",
                     name=_group_name(s, at)),
                *times(price, node),
            )
        )  # fmt: skip
    return figure("resale", money.resale, "money", "sum" if given else "leaf", *plus(*given), origin="formula")


def _total(s: Subject) -> Node:
    money, economics = s.entry.money, s.plan.economics
    annuity, later = cost.discounting(economics)
    term = s.leaves.typed("term", economics.term_years, "years", ("economics", "term_years"), "T")
    rate = s.leaves.typed("discount_rate", economics.discount_rate, "share", ("economics", "discount_rate"), "r")
    years = made(Node("annuity", annuity, "count", operation="follows"), term, rate)
    today = made(Node("discount", later, "count", operation="follows"), term, rate)
    running = made(
        Node("running_over_term", (money.running_per_year.value or 0.0) * annuity, "money", operation="product"),
        *times(_running(s), years),
    )
    back = made(
        Node("resale_today", (money.resale.value or 0.0) * later, "money", operation="product"),
        *times(_resale(s), today),
    )
    return figure(
        "total", money.total_over_term, "money", "sum", *plus(_purchase(s), running, less(back)),
        numbers={"years": economics.term_years},
    )  # fmt: skip


def _per_million(s: Subject) -> Node:
    money, economics = s.entry.money, s.plan.economics
    shown = money.per_million_tokens
    tokens = None
    if shown.value:
        tokens = (money.total_over_term.value or 0.0) * _MILLION / (shown.value * economics.term_years)
    given: list[Node] = []
    served = [result for result in s.entry.serve if result.workload == s.workload]
    o = serving.operating(s.plan, s.view, s.at, served[0]) if served else None
    if o is not None:
        given.append(serving.demand_output(o))
        path = ("workloads", o.at, "mean_to_peak")
        given.append(s.leaves.typed("mean_to_peak", o.workload.mean_to_peak, "share", path))
    year = made(Node("tokens_per_year", tokens, "tokens", operation="follows"), *given)
    term = s.leaves.typed("term", economics.term_years, "years", ("economics", "term_years"), "T")
    counted = Node("tokens_counted", _MILLION, "tokens")
    return figure(
        "per_million", shown, "money", "product", *times(_total(s), counted, over(year), over(term))
    )  # fmt: skip


def _cloud(s: Subject) -> Node:
    money, economics = s.entry.money, s.plan.economics
    exchange = cost.Exchange(s.plan, s.view)
    given: list[Node] = []
    for at, hard in enumerate(s.hardwares):
        if hard.gpu is None:
            continue
        if economics.cloud_per_gpu_hour != "auto":
            typed = exchange.money(economics.cloud_per_gpu_hour)
            given.append(s.leaves.typed("cloud_hour", typed.value, "money", ("economics", "cloud_per_gpu_hour")))
        else:
            hour, date = cost.cloud_price(hard.gpu, s.view, exchange)
            given.append(_cited_price(s, "cloud_hour", hour, hard.gpu.name, "cloud-hour", date))
        given.append(_count(s, at, "gpus_per_server", "gpus_per_server"))
        given.append(_count(s, at, "servers", "servers"))
    return figure("cloud", money.cloud_per_year, "money", "follows", *given)


def _breakeven(s: Subject) -> Node:
    money = s.entry.money
    saved = (money.cloud_per_year.value or 0.0) - (money.running_per_year.value or 0.0)
    year = made(Node("saved_per_year", saved, "money", operation="sum"), *plus(_cloud(s), less(_running(s))))
    return figure(
        "breakeven", money.breakeven_months, "months", "product",
        *times(_purchase(s), over(year), Node("months_per_year", 12.0)),
    )  # fmt: skip


def _energy_of_run(s: Subject, result: TrainResult, duration: Node) -> Node:
    shown = result.energy_j
    drawn = (shown.value or 0.0) / (duration.value or 1.0)
    group = next((one for one in s.entry.room.groups if one.group == result.group), None)
    given = [] if group is None else [_group_power(s, group, "load_w", "group_load")]
    draw = made(Node("run_power", drawn, "power", operation="follows"), *given, _network_power(s))
    return figure("energy_per_run", shown, "energy", "product", *times(draw, duration))


def _cost_of_run(s: Subject, result: TrainResult, duration: Node) -> Node:
    shown, total = result.cost, _total(s)
    part = (shown.value or 0.0) / total.value if total.value else None
    term = s.leaves.typed("term", s.plan.economics.term_years, "years", ("economics", "term_years"), "T")
    share = made(Node("run_share", part, "share", operation="follows"), duration, term)
    return figure("per_run", shown, "money", "product", *times(total, share))


_MONEY_BUILDERS: dict[str, Callable[[Subject], Node]] = {
    "purchase": _purchase,
    "electricity": _electricity,
    "running": _running,
    "rent": _rent,
    "resale": _resale,
    "total": _total,
    "per_million": _per_million,
    "cloud": _cloud,
    "breakeven": _breakeven,
}
