"""Results as plain text, in the language in force: what a command line prints."""

from collections.abc import Iterable, Iterator, Sequence

from gpuplanner.i18n import _, columns, derivations, facts
from gpuplanner.i18n.format import NOT_KNOWN, date
from gpuplanner.model import evidence
from gpuplanner.model.comparison import Cell, Row, rows, scenario_name
from gpuplanner.model.plan import Plan, Workload
from gpuplanner.model.results import Figure, Finding, Results, ScenarioResult
from gpuplanner.storage.samples import SAMPLES

_MARKS = {"ok": "✓", "warn": "▲", "fail": "✕", "unknown": NOT_KNOWN}
# Answers that only say that the plan states no limit.
_NOTHING_ASKED = ("no_budget", "no_limit")
_TITLES = frozenset(sample.title for sample in SAMPLES)
_INDENT = "  "
_GAP = "   "
_COLUMNS = 5


def results_as_text(plan: Plan, results: Results) -> str:
    """The headline, the scenarios with their four answers, a table for each workload, and the findings."""
    blocks = [_heading(plan, results)]
    if results.scenarios:
        blocks.append(_scenarios(plan, results))
    for workload in plan.workloads:
        table = rows(plan, results, workload.id)
        if table:
            blocks.extend(_table(workload, table, results))
    blocks.append(_findings(results))
    blocks.append(_footing(results))
    return "\n\n".join(block for block in blocks if block) + "\n"


def headline(results: Results) -> str:
    """The sentence on top, "" where there is none."""
    if not results.headline.key:
        return ""
    numbers = {"letter": results.headline.best, "other": results.headline.other, **results.headline.numbers}
    return facts.sentence(results.headline.key, numbers, results.currency)


def _heading(plan: Plan, results: Results) -> str:
    # The shipped examples have names that are translated; a user's own name stays as it is.
    name = _(plan.name) if plan.name in _TITLES else plan.name
    return "\n".join(line for line in (name, headline(results)) if line)


def _scenarios(plan: Plan, results: Results) -> str:
    names = {scenario.letter: scenario_name(scenario) for scenario in plan.scenarios}
    head = ["", _("Scenario"), _("Fits"), _("Fast enough"), _("Room"), _("Budget"), _("Speed")]
    body = []
    for result in results.scenarios:
        checks = (result.fits, result.speed, result.room_check, result.money_check)
        speed = _ratio(result, results.baseline)
        body.append([result.letter, names.get(result.letter, ""), *(_MARKS[check.status] for check in checks), speed])
    reasons = [
        f"{_INDENT}{result.letter}{_GAP}{facts.sentence(check.key, check.numbers, results.currency)}"
        for result in results.scenarios
        for check in (result.fits, result.speed, result.room_check, result.money_check)
        if check.key and check.status != "ok" and check.key not in _NOTHING_ASKED
    ]
    return "\n".join([*_aligned([head, *body], right=6), *reasons])


def _ratio(result: ScenarioResult, baseline: str | None) -> str:
    if not result.speed_ratio.known:
        return NOT_KNOWN
    scale = facts.scale("ratio", [result.speed_ratio.value])
    if result.letter == baseline:
        return _("baseline")
    figure = result.speed_ratio
    text = scale.text(figure.value)
    return f"{text} ({scale.band(figure.low, figure.high)})" if _has_band(figure) else text


def _table(workload: Workload, table: Sequence[Row], results: Results) -> Iterator[str]:
    """The rows of a workload, as many scenarios beside each other as a wide window holds."""
    letters = [scenario.letter for scenario in results.scenarios]
    for start in range(0, len(letters), _COLUMNS):
        yield _part_of_table(workload.name or workload.id, table, letters[start : start + _COLUMNS], results.currency)


def _part_of_table(title: str, table: Sequence[Row], letters: Sequence[str], currency: str) -> str:
    lines = [[title, "", *letters]]
    section = ""
    for row in table:
        if row.section != section:
            section = row.section
            lines.append([facts.section(section), "", *("" for _letter in letters)])
        # One unit for the whole row, also where it stands in several parts.
        values = [end for cell in row.cells for end in (cell.figure.value, cell.figure.low, cell.figure.high)]
        scale = facts.scale(row.kind, values, currency)
        cells = {cell.letter: _cell(cell, scale) for cell in row.cells}
        shown = [cells.get(letter, NOT_KNOWN) for letter in letters]
        lines.append([_INDENT + facts.metric(row.key, row.numbers), scale.unit, *shown])
    return "\n".join(_aligned(lines))


def _cell(cell: Cell, scale: facts.Scale) -> str:
    """The figure and its band; an asterisk for the best, a mark for what is missed or only met in the centre."""
    figure = cell.figure
    if not figure.known:
        return NOT_KNOWN
    text = facts.own_mark(figure.note) + scale.value(figure.value)
    if _has_band(figure):
        band = scale.band(figure.low, figure.high)
        sure = evidence.confidence_of(figure)
        text += f" ({band} {derivations.confidence(sure)})" if sure else f" ({band})"
    if cell.status in ("warn", "fail"):
        text = f"{_MARKS[cell.status]} {text}"
    return f"{text} *" if cell.best else text


def _has_band(figure: Figure) -> bool:
    return figure.low is not None and figure.high is not None and figure.low != figure.high


def _findings(results: Results) -> str:
    if not results.findings:
        return ""
    return "\n".join([_("Findings"), *(_INDENT + _finding(finding, results.currency) for finding in results.findings)])


def _finding(finding: Finding, currency: str) -> str:
    sentence = facts.sentence(finding.key, finding.numbers, currency)
    level = facts.level(finding.level)
    return f"[{level}] {finding.scenario}: {sentence}" if finding.scenario else f"[{level}] {sentence}"


def _footing(results: Results) -> str:
    lines = [
        _("In brackets the range in which 8 of 10 measured values lie, and how narrow it is: good, fair or rough."),
        _("* best; ▲ the range goes over; ✕ missed."),
        _("Model {model}, calibration {calibration}.").format(
            model=results.model_version or NOT_KNOWN, calibration=results.calibration_id or NOT_KNOWN
        ),
    ]
    served = any(run.own for scenario in results.scenarios for run in scenario.serve)
    if served or any(run.own for scenario in results.scenarios for run in scenario.train):
        lines.append(_("{mark} moved by the plan's own measurements.").format(mark=facts.OWN_MARK))
    oldest = min((s.money.oldest_price for s in results.scenarios if s.money.oldest_price), default="")
    if oldest:
        lines.append(_("The oldest price is of {date}.").format(date=date(oldest)))
    return "\n".join(lines)


def _aligned(table: Iterable[Sequence[str]], right: int = 2) -> list[str]:
    """Lines of a table whose columns from `right` on are aligned on the right.

    Chinese characters are two columns wide.
    """
    cells = [list(line) for line in table]
    widths = [max(columns.width(line[column]) for line in cells) for column in range(len(cells[0]))]
    lines = []
    for line in cells:
        shown = [
            (columns.right if column >= right else columns.left)(text, width)
            for column, (text, width) in enumerate(zip(line, widths, strict=True))
        ]
        lines.append(_GAP.join(shown).rstrip())
    return lines
