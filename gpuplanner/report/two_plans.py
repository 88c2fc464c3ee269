"""Two plans side by side: the inputs that differ, and the resulting numbers of both."""

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from pydantic import BaseModel

from gpuplanner.i18n import _, ngettext, places
from gpuplanner.i18n import format as words
from gpuplanner.model.differences import ABSENT, differences
from gpuplanner.model.plan import Plan
from gpuplanner.model.results import Figure, Results
from gpuplanner.report.results_json import figure_to_json
from gpuplanner.storage.seen import SideBySide, side_by_side

FORMAT = "gpuplanner-comparison"
FORMAT_VERSION = 1
_MONEY = ("purchase", "running_per_year", "total_over_term", "per_million_tokens", "per_run")


class Side(NamedTuple):
    """One of the two plans, and what it is called."""

    file: str
    plan: Plan
    results: Results


def to_json(a: Side, b: Side) -> dict[str, Any]:
    """What differs, ready for `json.dumps(..., allow_nan=False)`.

    ``inputs`` holds only what differs; its ``a`` or ``b`` is missing where a plan has no such record. ``results`` holds
    every headline figure that either plan has, SI units with the unit in ``key``; money in the currency of its plan.
    """
    return {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        **{
            name: {"file": side.file, "plan": side.plan.name, "currency": side.results.currency}
            for name, side in (("a", a), ("b", b))
        },
        "inputs": [
            {
                "path": list(found.place),
                "text": places.place(found.place),
                **{name: _data(value) for name, value in (("a", found.a), ("b", found.b)) if value is not ABSENT},
            }
            for found in differences(a.plan, b.plan)
        ],
        "results": [
            {
                "scenario": pair.scenario,
                "workload": pair.workload or None,
                "group": pair.group,
                "key": pair.key,
                "same": is_same(pair, a, b),
                "a": figure_to_json(pair.a),
                "b": figure_to_json(pair.b),
            }
            for pair in side_by_side(a.results, b.results)
        ],
    }


def as_text(a: Side, b: Side) -> str:
    """What differs, for people."""
    return "\n".join(_lines(a, b)) + "\n"


def is_same(pair: SideBySide, a: Side, b: Side) -> bool:
    """Whether a figure of both is the same; amounts in two currencies never are."""
    return pair.same and (pair.key not in _MONEY or a.results.currency == b.results.currency)


def figure_text(figure: Figure, key: str, currency: str) -> str:
    """A figure with its band, amounts with their currency."""
    if figure.value is None:
        return words.NOT_KNOWN
    if key in _MONEY:
        return words.money(figure.value, currency)
    text = words.number(figure.value)
    if figure.low is not None and figure.high is not None and figure.low != figure.high:
        text += f" ({words.band(figure.low, figure.high)})"
    return text


def value_text(value: Any) -> str:
    """An input of one side; one that is not there says so."""
    return _("not in this plan") if value is ABSENT else places.value(value)


def figure_place(pair: SideBySide) -> str:
    """Whose figure it is: "Scenario A, Workload serve, group 1"."""
    path: list[str | int] = ["scenarios", pair.scenario]
    text = places.place(path)
    if pair.workload:
        text += _(", ") + places.place(("workloads", pair.workload))
    if pair.group is not None:
        text += _(", ") + places.place(("groups", pair.group))
    return text


def _lines(a: Side, b: Side) -> Iterator[str]:
    yield f"A  {a.file}"
    yield f"B  {b.file}"
    yield ""
    inputs = differences(a.plan, b.plan)
    if not inputs:
        yield _("All inputs are the same.")
    else:
        yield ngettext("{count} input differs:", "{count} inputs differ:", len(inputs)).format(count=len(inputs))
        for found in inputs:
            yield f"  {places.place(found.place)}: {value_text(found.a)} → {value_text(found.b)}"
    yield ""
    pairs = side_by_side(a.results, b.results)
    changed = [pair for pair in pairs if not is_same(pair, a, b)]
    if not changed:
        yield _("All resulting figures are the same.")
        return
    yield _("{count} of {all} resulting figures differ:").format(count=len(changed), all=len(pairs))
    yield from _figures(changed, a, b)


def _figures(pairs: Iterable[SideBySide], a: Side, b: Side) -> Iterator[str]:
    before = ""
    for pair in pairs:
        head = figure_place(pair)
        if head != before:
            yield f"  {head}"
            before = head
        one = figure_text(pair.a, pair.key, a.results.currency)
        other = figure_text(pair.b, pair.key, b.results.currency)
        yield f"    {places.figure_name(pair.key)}: {one} → {other}"


def _data(value: Any) -> Any:
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json")
    if isinstance(value, tuple | list):
        return [_data(each) for each in value]
    return value
