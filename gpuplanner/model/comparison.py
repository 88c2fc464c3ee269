"""The comparison of scenarios as rows of figures: keys and numbers, no words.

The window's table, the command line and the reports show these rows, so one figure is chosen, judged and marked best in
one place. Figures are in SI units; the kind of a row says how `i18n.facts` writes them.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import reduce
from types import MappingProxyType
from typing import Literal, NamedTuple

from gpuplanner.model import verdict
from gpuplanner.model.plan import FineTune, Plan, Scenario, Serve, Train
from gpuplanner.model.results import (
    NOT_KNOWN,
    Basis,
    Figure,
    Results,
    ScenarioResult,
    ServeResult,
    Status,
    TrainResult,
    exact,
)

Better = Literal["high", "low"] | None

# Figures that differ by less than this are one figure (the rule of ties of the automatic choices).
_TIE = 1e-9
_TOKENS_PER_MILLION = 1e6


class Cell(NamedTuple):
    """One figure of one scenario. ``second`` stands beside it where a band would (memory in bytes, power at load)."""

    letter: str
    figure: Figure
    status: Status = "unknown"
    best: bool = False
    second: Figure | None = None


def scenario_name(scenario: Scenario) -> str:
    """What a scenario is called: its own name, else its cards ("8× H100 SXM"), else its letter."""
    if scenario.name:
        return scenario.name
    counts: dict[str, int] = {}
    for group in scenario.groups:
        if group.gpu:
            counts[group.gpu] = counts.get(group.gpu, 0) + group.gpus_per_server * group.servers
    return " + ".join(f"{count}× {gpu}" for gpu, count in counts.items()) or scenario.letter


class Row(NamedTuple):
    """One metric across all scenarios. ``numbers`` are what the metric's name needs: a percentile, the years."""

    key: str
    section: Literal["speed", "fit", "money", "train"]
    kind: str
    better: Better
    target: float | None
    cells: tuple[Cell, ...]
    second_kind: str = ""
    numbers: Mapping[str, float] = MappingProxyType({})

    def cell(self, letter: str) -> Cell | None:
        """The figure of one scenario, None if the row has none."""
        return next((cell for cell in self.cells if cell.letter == letter), None)


def rows(plan: Plan, results: Results, workload_id: str) -> tuple[Row, ...]:
    """Every metric of one workload for every scenario of `results`, in the order in which they are shown.

    A figure is best among the scenarios that fit and meet the speed targets, and only where two or more can be
    compared. An assumed figure competes with the unfavourable end of its band. An unknown workload has no rows.
    """
    workload = next((each for each in plan.workloads if each.id == workload_id), None)
    if workload is None or not results.scenarios:
        return ()
    if isinstance(workload, Serve):
        return _serve_rows(plan, results, workload)
    return _train_rows(plan, results, workload)


def output(plan: Plan, results: Results, workload_id: str) -> Row | None:
    """The row of what a workload produces: output within the targets, or the training rate. None without any."""
    workload = next((each for each in plan.workloads if each.id == workload_id), None)
    if workload is None or not results.scenarios:
        return None
    if isinstance(workload, Serve):
        wanted = _demand_tokens_s(results, workload.id)
        figures = {each.letter: _output(_serving(each, workload.id)) for each in results.scenarios}
        return _plain("output", "speed", "tokens_s", "high", figures, results, wanted)
    rates = {
        each.letter: next((run.tokens_s for run in each.train if run.workload == workload.id), NOT_KNOWN)
        for each in results.scenarios
    }
    return _plain("tokens", "train", "tokens_s", "high", rates, results)


def _output(groups: Sequence[ServeResult]) -> Figure:
    return _sum(group.output_tokens_s for group in groups)


def _demand_tokens_s(results: Results, workload_id: str) -> float | None:
    return next((demand.output_tokens_s for demand in results.demands if demand.workload == workload_id), None)


def has_band(figure: Figure) -> bool:
    """Whether a figure has ends that differ."""
    return figure.low is not None and figure.high is not None and figure.low < figure.high


def status_against(figure: Figure, target: float | None, better: Better) -> Status:
    """The verdict of a figure on its target. Without one there is nothing to judge: "ok" for any known figure."""
    if figure.value is None:
        return "unknown"
    if target is None or better is None:
        return "ok"
    return verdict.meets(figure, target, lower_is_better=better == "low")


# --- serving -------------------------------------------------------------------------------------


def _serve_rows(plan: Plan, results: Results, workload: Serve) -> tuple[Row, ...]:
    wanted = _demand_tokens_s(results, workload.id)
    parts = {scenario.letter: _serving(scenario, workload.id) for scenario in results.scenarios}

    def row(
        key: str,
        kind: str,
        better: Better,
        choose: Callable[[tuple[ServeResult, ...]], Figure],
        target: float | None = None,
        **numbers: float,
    ) -> Row:
        figures = {letter: choose(groups) if groups else NOT_KNOWN for letter, groups in parts.items()}
        cells = tuple(
            Cell(letter, figure, status_against(figure, target, better)) for letter, figure in figures.items()
        )
        return _marked(Row(key, "speed", kind, better, target, cells, numbers=numbers), results)

    def total(name: str) -> Callable[[tuple[ServeResult, ...]], Figure]:
        return lambda groups: _sum(getattr(group, name) for group in groups)

    def slowest(name: str) -> Callable[[tuple[ServeResult, ...]], Figure]:
        return lambda groups: _largest([getattr(group, name) for group in groups])

    def fastest(name: str) -> Callable[[tuple[ServeResult, ...]], Figure]:
        return lambda groups: _largest([getattr(group, name) for group in groups])

    first, each = workload.first_token_percentile, workload.per_token_percentile
    speed = [
        row("first_token", "first_token", "low", slowest("first_token_s"), workload.first_token_s, percentile=first),
        row("per_token", "per_token", "low", slowest("per_token_s"), workload.per_token_s, percentile=each),
        row("output", "tokens_s", "high", total("output_tokens_s"), wanted),
    ]  # fmt: skip
    if wanted is not None:
        headroom = row("headroom", "headroom", "high", lambda groups: _headroom(groups, wanted), 0.0)
        speed.append(headroom._replace(target=None))
    speed += [
        row("single_stream", "tokens_s", "high", fastest("single_stream_tokens_s")),
        row("prefill", "tokens_s", "high", total("prefill_tokens_s")),
        row("link_wait", "share", "low", slowest("link_wait")),
    ]
    energy = {letter: _energy_per_million(groups) for letter, groups in parts.items()}
    fit = [
        _memory_row(results, {letter: _fullest(groups) for letter, groups in parts.items()}),
        _power_row(results),
        _heat_row(results),
        _plain("energy_per_million", "fit", "energy_per_million", "low", energy, results),
    ]
    money = [
        *_money_rows(plan, results),
        _plain("per_million", "money", "money", "low", _money(results, "per_million_tokens"), results),
        _plain("breakeven", "money", "months", "low", _money(results, "breakeven_months"), results),
    ]
    return (*speed, *fit, *money)


def _serving(scenario: ScenarioResult, workload: str) -> tuple[ServeResult, ...]:
    return tuple(result for result in scenario.serve if result.workload == workload)


def _headroom(groups: Sequence[ServeResult], demand_tokens_s: float) -> Figure:
    if len(groups) == 1:
        return groups[0].headroom
    output = _sum(group.output_tokens_s for group in groups)
    if output.value is None or output.low is None or output.high is None:
        return output
    value, low, high = (end / demand_tokens_s - 1 for end in (output.value, output.low, output.high))
    return Figure(value, low, high, output.basis, note=output.note)


def _energy_per_million(groups: Sequence[ServeResult]) -> Figure:
    """Energy of a million output tokens, each group's share weighing as much as the load it carries. [J]"""
    known = [group for group in groups if group.energy_j_per_token.known]
    if not known or len(known) < len(groups):
        return NOT_KNOWN
    load = sum(group.load_share for group in known) or 1.0
    return _sum(
        _times(group.energy_j_per_token, _TOKENS_PER_MILLION * (group.load_share / load if len(known) > 1 else 1.0))
        for group in known
    )


# --- training ------------------------------------------------------------------------------------


def _train_rows(plan: Plan, results: Results, workload: FineTune | Train) -> tuple[Row, ...]:
    runs = {
        scenario.letter: next((run for run in scenario.train if run.workload == workload.id), None)
        for scenario in results.scenarios
    }
    deadline = next((run.deadline_s for run in runs.values() if run is not None and run.deadline_s is not None), None)

    def figures(name: str) -> dict[str, Figure]:
        return {letter: getattr(run, name) if run is not None else NOT_KNOWN for letter, run in runs.items()}

    return (
        _plain("tokens", "train", "tokens_s", "high", figures("tokens_s"), results),
        _plain("step", "train", "duration", "low", figures("step_s"), results),
        _plain("mfu", "train", "share", "high", figures("mfu"), results),
        _plain("link_wait", "train", "share", "low", figures("link_wait"), results),
        _plain("duration", "train", "duration", "low", figures("duration_s"), results, deadline),
        _memory_row(results, runs),
        _power_row(results),
        _heat_row(results),
        _plain("gpu_hours", "fit", "gpu_hours", "low", figures("gpu_hours"), results),
        _plain("energy_per_run", "fit", "energy", "low", figures("energy_j"), results),
        *_money_rows(plan, results),
        _plain("per_run", "money", "money", "low", figures("cost"), results),
    )


# --- rows that serving and training share ----------------------------------------------------------


def _memory_row(results: Results, fullest: Mapping[str, ServeResult | TrainResult | None]) -> Row:
    cells = []
    for letter, result in fullest.items():
        if result is None:
            cells.append(Cell(letter, NOT_KNOWN))
            continue
        used = exact(result.memory.used, "predicted") if result.memory is not None else None
        cells.append(Cell(letter, result.memory_share, result.fits.status, second=used))
    return _marked(Row("memory_used", "fit", "share", "low", None, tuple(cells), "memory"), results)


def _power_row(results: Results) -> Row:
    """Nameplate against the tightest limit of the room: over it is a check while the expected draw fits."""
    cells = []
    limits = [limit for scenario in results.scenarios for limit in room_limits(scenario)]
    for scenario in results.scenarios:
        room = scenario.room
        limit = min(room_limits(scenario), default=None)
        status = status_against(room.it_load_w, limit, "low")
        if status == "ok" and status_against(room.it_nameplate_w, limit, "low") == "fail":
            status = "warn"
        if not room.it_nameplate_w.known:
            status = "unknown"
        cells.append(Cell(scenario.letter, room.it_nameplate_w, status, second=room.it_load_w))
    return _marked(Row("max_power", "fit", "power", "low", min(limits, default=None), tuple(cells), "power"), results)


def room_limits(scenario: ScenarioResult) -> tuple[float, ...]:
    """The limits of the whole room; those of one rack are judged rack by rack, in `room_check`. [W]"""
    return tuple(limit for name, limit in scenario.room.limits if not name.startswith("rack"))


def _heat_row(results: Results) -> Row:
    figures = {scenario.letter: scenario.room.heat_w for scenario in results.scenarios}
    return _plain("heat", "fit", "heat", "low", figures, results)


def _money_rows(plan: Plan, results: Results) -> tuple[Row, Row]:
    budget = _budget(plan)
    covers_term = plan.wishes.budget_covers == "term"
    total = _plain(
        "total", "money", "money", "low", _money(results, "total_over_term"), results, budget if covers_term else None
    )
    return (
        _plain(
            "purchase", "money", "money", "low", _money(results, "purchase"), results, None if covers_term else budget
        ),
        total._replace(numbers={"years": plan.economics.term_years}),
    )


def _budget(plan: Plan) -> float | None:
    """The budget in the plan's base currency, None where there is none or no exchange rate for it."""
    budget = plan.wishes.budget
    if budget is None or budget.currency == plan.currency:
        return budget.amount if budget else None
    rate = next((rate.per_base for rate in plan.exchange_rates if rate.currency == budget.currency), None)
    return budget.amount / rate if rate else None


def _money(results: Results, name: str) -> dict[str, Figure]:
    return {scenario.letter: getattr(scenario.money, name) for scenario in results.scenarios}


def _plain(
    key: str, section: Literal["speed", "fit", "money", "train"], kind: str, better: Better, figures: dict[str, Figure],
    results: Results, target: float | None = None,
) -> Row:  # fmt: skip
    cells = tuple(Cell(letter, figure, status_against(figure, target, better)) for letter, figure in figures.items())
    return _marked(Row(key, section, kind, better, target, cells), results)


# --- the best of a row -----------------------------------------------------------------------------


def may_be_best(scenario: ScenarioResult) -> bool:
    """Whether a scenario fits and meets the speed targets, at least in the centre of the band."""
    return scenario.fits.status in ("ok", "warn") and scenario.speed.status in ("ok", "warn")


def _marked(row: Row, results: Results) -> Row:
    eligible = {scenario.letter for scenario in results.scenarios if may_be_best(scenario)}
    values = {cell.letter: _competing(cell.figure, row.better) for cell in row.cells if cell.letter in eligible}
    known = {letter: value for letter, value in values.items() if value is not None}
    if row.better is None or len(known) < 2:
        return row
    best = max(known.values()) if row.better == "high" else min(known.values())
    tied = {letter for letter, value in known.items() if abs(value - best) <= abs(best) * _TIE}
    if len(tied) == len(known):
        return row
    return row._replace(cells=tuple(cell._replace(best=cell.letter in tied) for cell in row.cells))


def _competing(figure: Figure, better: Better) -> float | None:
    if figure.basis != "assumed":
        return figure.value
    return figure.low if better == "high" else figure.high


# --- figures of several groups -----------------------------------------------------------------------


def _sum(figures: Iterable[Figure]) -> Figure:
    """The sum; the ends add up too, because what a speed formula gets wrong it gets wrong for every group alike."""
    items = list(figures)
    if len(items) == 1:
        return items[0]
    if not items or any(figure.value is None or figure.low is None or figure.high is None for figure in items):
        return NOT_KNOWN
    return reduce(_plus, items)


def _plus(one: Figure, other: Figure) -> Figure:
    value, low, high = (
        (a or 0.0) + (b or 0.0) for a, b in ((one.value, other.value), (one.low, other.low), (one.high, other.high))
    )
    basis: Basis = one.basis if one.basis == other.basis else "predicted"
    return Figure(value, low, high, basis, note=one.note or other.note)


def _times(figure: Figure, factor: float) -> Figure:
    if figure.value is None or figure.low is None or figure.high is None:
        return figure
    parts = tuple(part._replace(value=part.value * factor) for part in figure.parts)
    return Figure(figure.value * factor, figure.low * factor, figure.high * factor, figure.basis, parts, figure.note)


def _largest(figures: Sequence[Figure]) -> Figure:
    known = [figure for figure in figures if figure.value is not None]
    return max(known, key=lambda figure: figure.value or 0.0) if known else (figures[0] if figures else NOT_KNOWN)


def _fullest(groups: Sequence[ServeResult]) -> ServeResult | None:
    if not groups:
        return None
    return max(groups, key=lambda group: group.memory_share.value if group.memory_share.value is not None else -1.0)
