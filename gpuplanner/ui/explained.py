"""What the window says of one figure: its value, band and verdict, the figures it rests on, and the sources."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from gpuplanner.i18n import N_, _, facts, format
from gpuplanner.model import comparison, evidence
from gpuplanner.model.plan import Plan
from gpuplanner.model.results import Figure, Results, ScenarioResult, ServeResult, Status, TrainResult, exact


class Line(NamedTuple):
    """One figure of the derivation. ``depth`` 0 stands alone, 1 is part of the line above."""

    name: str
    value: str
    unit: str = ""
    band: str = ""
    basis: str = ""
    depth: int = 0


class Explained(NamedTuple):
    """What the panel shows of one figure."""

    letter: str
    title: str
    value: str
    unit: str
    low: str
    high: str
    ends: tuple[float, float, float] | None
    target: float | None
    target_text: str
    status: Status
    verdict: str
    basis: str
    lines: tuple[Line, ...]
    sources: tuple[str, ...]
    # The figure's key in the comparison, and how far its band goes: good, fair, rough, or "".
    key: str = ""
    confidence: str = ""


def explained(
    plan: Plan, results: Results, workload_id: str, letter: str, key: str, catalog: Any = None,
    compared: Sequence[comparison.Row] | None = None,
) -> Explained | None:  # fmt: skip
    """Everything known about one figure; None if the results do not have it.

    `compared` are the rows of the comparison, where they are at hand.
    """
    made = _explained(plan, results, workload_id, letter, key, catalog, compared)
    return None if made is None else made._replace(key=key)


def _explained(
    plan: Plan, results: Results, workload_id: str, letter: str, key: str, catalog: Any,
    compared: Sequence[comparison.Row] | None,
) -> Explained | None:  # fmt: skip
    entry = results.scenario(letter)
    if entry is None:
        return None
    if compared is None:
        compared = comparison.rows(plan, results, workload_id)
    rows = {row.key: row for row in compared}
    if key == "speed_ratio":
        return _ratio(plan, results, entry, rows, catalog)
    if key in _ROOM:
        return _of_room(key, plan, entry, catalog)
    row = rows.get(key)
    cell = row.cell(letter) if row is not None else None
    if row is None or cell is None:
        return None
    scale = facts.scale(row.kind, [cell.figure.value], results.currency)
    lines = (*_parts(cell.figure, scale), *_rests_on(key, plan, results, entry, workload_id))
    # A row of the table has little room; here the name stands alone.
    title = _("Output within targets") if key == "output" else facts.metric(key, row.numbers)
    return _made(letter, title, cell.figure, scale, row.target, row.better, cell.status, lines, plan, entry, catalog)


def _of_room(key: str, plan: Plan, entry: ScenarioResult, catalog: Any) -> Explained:
    """A figure that stands under the builder and has no row in the comparison."""
    field, kind = _ROOM[key]
    figure = getattr(entry.room, field)
    scale = facts.scale(kind, [figure.value])
    lines = (*_parts(figure, scale), *_power(entry))
    return _made(
        entry.letter, facts.metric(key), figure, scale, None, "low", "unknown", lines, plan, entry, catalog
    )  # fmt: skip


def _made(
    letter: str, title: str, figure: Figure, scale: facts.Scale, target: float | None, better: comparison.Better,
    status: Status, lines: tuple[Line, ...], plan: Plan, entry: ScenarioResult, catalog: Any,
) -> Explained:  # fmt: skip
    ends = None
    if figure.value is not None and figure.low is not None and figure.high is not None and figure.low < figure.high:
        ends = (figure.low, figure.value, figure.high)
    target_text = scale.value(target) if target is not None else ""
    need = (_("need {value}") if better == "high" else _("at most {value}")).format(value=target_text)
    unit = "" if scale.kind in ("headroom", "ratio") else scale.unit
    sure = evidence.confidence_of(figure) if ends is not None else ""
    return Explained(
        letter, title, scale.value(figure.value), unit, scale.value(figure.low), scale.value(figure.high), ends,
        target, need if target is not None else "", status, _verdict(figure, target_text, better, status),
        facts.basis(figure.basis), lines, sources_of(plan, entry, catalog), confidence=sure,
    )  # fmt: skip


def _verdict(figure: Figure, target: str, better: comparison.Better, status: Status) -> str:
    if figure.value is None:
        return facts.word(figure.note) if figure.note else facts.basis("not known")
    if not target:
        return ""
    if status == "ok":
        if better == "high":
            return _("Meets {target} even at the low end of the band.").format(target=target)
        return _("Stays within {target} even at the high end of the band.").format(target=target)
    if status == "warn":
        return _("Meets {target}; an end of the band does not.").format(target=target)
    return _("Misses {target}.").format(target=target)


def _line(name: str, figure: Figure, kind: str, currency: str = "", depth: int = 0) -> Line:
    scale = facts.scale(kind, [figure.value], currency)
    band = scale.band(figure.low, figure.high) if comparison.has_band(figure) else ""
    unit = "" if scale.kind in ("headroom", "ratio") else scale.unit
    return Line(name, scale.value(figure.value), unit, band, facts.basis(figure.basis), depth)


def _parts(figure: Figure, scale: facts.Scale) -> Iterable[Line]:
    return (Line(facts.part(part.name), scale.value(part.value), scale.unit, depth=1) for part in figure.parts)


def _rests_on(key: str, plan: Plan, results: Results, entry: ScenarioResult, workload_id: str) -> tuple[Line, ...]:
    """The figures that a figure follows from, as far as the results hold them."""
    serve = next((run for run in entry.serve if run.workload == workload_id), None)
    train = next((run for run in entry.train if run.workload == workload_id), None)
    if key in _SERVE and serve is not None:
        return tuple(_SERVE[key](serve, results))
    if key in _TRAIN and train is not None:
        return tuple(_TRAIN[key](train, plan))
    if key == "memory_used":
        return tuple(_memory(serve or train))
    if key in ("max_power", "heat"):
        return tuple(_power(entry))
    if key in _MONEY:
        return tuple(_MONEY[key](entry, plan))
    return ()


def _first_token(run: ServeResult, _results: Results) -> Iterable[Line]:
    yield _line(_("First token, idle server"), run.first_token_idle_s, "duration")
    yield _line(_("Prefill of one prompt"), run.prefill_s, "duration")
    yield Line(_("Utilisation at your demand"), format.percent(run.utilisation))
    yield Line(_("What binds"), facts.word(run.binds))


def _per_token(run: ServeResult, _results: Results) -> Iterable[Line]:
    yield _line(_("Decode step"), run.decode_step_s, "duration")
    yield Line(_("Requests in flight"), format.number(run.batch))
    yield Line(_("What binds"), facts.word(run.binds))


def _output(run: ServeResult, results: Results) -> Iterable[Line]:
    yield _line(_("Requests/s within targets"), run.requests_s, "count")
    yield _line(_("Output without targets"), run.output_tokens_s_limit, "tokens_s")
    yield Line(_("Requests in flight"), format.number(run.batch))
    yield Line(_("Requests the KV cache holds"), format.number(run.max_batch))
    yield Line(_("What binds"), facts.word(run.binds))


def _headroom(run: ServeResult, results: Results) -> Iterable[Line]:
    yield _line(facts.metric("output"), run.output_tokens_s, "tokens_s")
    demand = next((each for each in results.demands if each.workload == run.workload), None)
    if demand is not None and demand.output_tokens_s is not None:
        yield _line(_("Your demand at the peak"), exact(demand.output_tokens_s), "tokens_s")


def _energy(run: ServeResult, _results: Results) -> Iterable[Line]:
    yield _line(_("Power of one GPU"), run.gpu_power_w, "power")
    yield _line(facts.metric("output"), run.output_tokens_s, "tokens_s")


_PHASES = {"decode": N_("{link}, decode"), "prefill": N_("{link}, prefill"), "step": N_("{link}, training step")}


def _waits(run: ServeResult | TrainResult, _beside: object) -> Iterable[Line]:
    for wait in run.waits:
        yield Line(_(_PHASES[wait.phase]).format(link=facts.word(wait.link)), format.percent(wait.share))


_SERVE: dict[str, Callable[[ServeResult, Results], Iterable[Line]]] = {
    "link_wait": _waits,
    "first_token": _first_token,
    "per_token": _per_token,
    "output": _output,
    "headroom": _headroom,
    "energy_per_million": _energy,
}


def _tokens(run: TrainResult, _plan: Plan) -> Iterable[Line]:
    yield _line(facts.metric("step"), run.step_s, "duration")
    if run.choice is not None and run.choice.global_batch:
        yield Line(_("Sequences in a step"), format.count(run.choice.global_batch))
    yield _line(facts.metric("mfu"), run.mfu, "share")
    yield _line(facts.metric("link_wait"), run.link_wait, "share")
    yield Line(_("What binds"), facts.word(run.binds))


def _duration(run: TrainResult, _plan: Plan) -> Iterable[Line]:
    yield _line(facts.metric("tokens"), run.tokens_s, "tokens_s")
    if run.deadline_s is not None:
        yield _line(_("Time until the deadline"), exact(run.deadline_s), "duration")


_TRAIN: dict[str, Callable[[TrainResult, Plan], Iterable[Line]]] = {
    "link_wait": _waits,
    "tokens": _tokens,
    "step": _tokens,
    "mfu": _tokens,
    "duration": _duration,
    "gpu_hours": _duration,
    "energy_per_run": _duration,
}


def _memory(run: ServeResult | TrainResult | None) -> Iterable[Line]:
    memory = run.memory if run is not None else None
    if memory is None:
        return
    for name in ("weights", "kv_cache", "activations", "gradients", "optimizer", "runtime"):
        value = getattr(memory, name)
        if value:
            yield Line(facts.part(name), format.bytes_gib(value, unit=False), "GiB", depth=1)
    yield Line(facts.part("usable"), format.bytes_gib(memory.usable, unit=False), "GiB")
    yield Line(facts.part("capacity"), format.bytes_gib(memory.capacity, unit=False), "GiB")


def _power(entry: ScenarioResult) -> Iterable[Line]:
    room = entry.room
    for name, figure in ((facts.metric("load_power"), room.it_load_w), (_("Average power"), room.it_average_w)):
        yield _line(name, figure, "power")
    if room.network_w.value:
        yield _line(_("Network"), room.network_w, "power", depth=1)
    yield _line(facts.metric("nameplate"), room.it_nameplate_w, "power")
    yield _line(facts.metric("heat"), room.heat_w, "heat")
    yield Line(_("Cooling"), format.number(room.cooling_tons.value), _("tons"))
    for name, limit in room.limits:
        yield _line(facts.part(name), exact(limit), "power")


# Figures of the room that are shown outside the comparison: field of the results, kind of scale.
_ROOM = {
    "load_power": ("it_load_w", "power"),
    "nameplate": ("it_nameplate_w", "power"),
    "air": ("airflow_m3_s", "air"),
    "weight": ("weight_kg", "weight"),
}


def _purchase(entry: ScenarioResult, _plan: Plan) -> Iterable[Line]:
    for line in entry.money.lines:
        name = f"{format.exact(line.quantity)}× {line.name}" if line.name else facts.part(line.key)
        yield _line(name, line.amount, "money", entry.money.currency, depth=1)


def _total(entry: ScenarioResult, plan: Plan) -> Iterable[Line]:
    money = entry.money
    yield _line(facts.metric("purchase"), money.purchase, "money", money.currency)
    yield _line(_("Running cost of a year"), money.running_per_year, "money", money.currency)
    yield _line(_("of it electricity"), money.electricity_per_year, "money", money.currency, depth=1)
    if money.rent_per_year.value:
        yield _line(_("Rent of a year"), money.rent_per_year, "money", money.currency)
    yield _line(_("Resale at the end"), money.resale, "money", money.currency)
    yield Line(_("Term"), format.exact(plan.economics.term_years), _("years"), basis=facts.basis("input"))


def _breakeven(entry: ScenarioResult, _plan: Plan) -> Iterable[Line]:
    money = entry.money
    yield _line(facts.metric("purchase"), money.purchase, "money", money.currency)
    yield _line(_("Running cost of a year"), money.running_per_year, "money", money.currency)
    yield _line(_("Renting as much for a year"), money.cloud_per_year, "money", money.currency)


_MONEY: dict[str, Callable[[ScenarioResult, Plan], Iterable[Line]]] = {
    "purchase": _purchase,
    "total": _total,
    "per_million": _total,
    "per_run": _total,
    "breakeven": _breakeven,
}


def _ratio(
    plan: Plan, results: Results, entry: ScenarioResult, rows: dict[str, comparison.Row], catalog: Any
) -> Explained | None:
    row = rows.get("output") or rows.get("tokens")
    lines = []
    for letter in dict.fromkeys((entry.letter, results.baseline or "")):
        cell = row.cell(letter) if row is not None else None
        if row is not None and cell is not None:
            name = f"{letter} · {facts.metric(row.key)}"
            lines.append(_line(name, cell.figure, row.kind))
    title = facts.metric("speed_ratio", {"letter": results.baseline or ""})
    scale = facts.scale("ratio", ())
    figure = entry.speed_ratio
    status: Status = "ok" if figure.known else "unknown"
    return _made(entry.letter, title, figure, scale, None, "high", status, tuple(lines), plan, entry, catalog)


def sources_of(plan: Plan, entry: ScenarioResult, catalog: Any = None) -> tuple[str, ...]:
    """The documents behind the entries that a scenario uses, as pinned in the plan, each once."""
    scenario = next((each for each in plan.scenarios if each.letter == entry.letter), None)
    if scenario is None:
        return ()
    runs: tuple[ServeResult | TrainResult, ...] = (*entry.serve, *entry.train)
    choices = [run.choice for run in runs if run.choice is not None]
    names = [name for group in scenario.groups for name in (group.gpu, group.server, group.cpu)]
    names += [choice.llm for choice in choices] + [choice.runtime for choice in choices]
    known = {source.id: source for source in plan.entries.sources}
    pinned = (*plan.entries.gpus, *plan.entries.servers, *plan.entries.cpus, *plan.entries.llms, *plan.entries.runtimes)
    shipped = catalog.sources if catalog is not None else {}
    found: dict[str, None] = {}
    for record in pinned:
        if record.name not in names and record.id not in names:
            continue
        for key in record.sources:
            source = known.get(key) or shipped.get(key)
            if source is not None:
                words = [record.name, source.title or source.where]
                found.setdefault(", ".join([": ".join(words), *([format.date(source.date)] if source.date else [])]))
    return tuple(found)
