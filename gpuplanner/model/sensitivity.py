"""What would change a figure most: the plan evaluated again with one input or one constant moved at a time.

Inputs move by a stated step, constants by the spread of their prior. Computed after the frame, for one figure of one
scenario, never inside `evaluate`.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from pydantic import ValidationError

from gpuplanner.catalog.load import Catalog
from gpuplanner.model import comparison, explain
from gpuplanner.model.derivation import Node, walk
from gpuplanner.model.edit import Path, replace, value_at
from gpuplanner.model.evaluate import evaluate
from gpuplanner.model.plan import Money, Plan, Scenario, Serve
from gpuplanner.model.results import Results

# A fifth either way: about what a buyer's own guess is off.
STEP = 0.2
_PUE_STEP = 0.1
_TERM_STEP = 1.0


class Mover(NamedTuple):
    """One input or constant, moved down and up, and the figure that follows from each.

    ``key`` names it in `i18n.derivations`; ``down`` and ``up`` are its moved values, None where it cannot be moved
    so far. ``path`` is its place in the plan, () for a constant, whose name is ``constant``.
    """

    key: str
    kind: str
    today: float
    down: float | None
    up: float | None
    value_down: float | None
    value_up: float | None
    path: Path = ()
    constant: str = ""
    name: str = ""

    def effect(self, value: float) -> float:
        """The larger of both changes of the figure."""
        return max((abs(end - value) for end in (self.value_down, self.value_up) if end is not None), default=0.0)


def movers(
    plan: Plan, catalog: Catalog, results: Results, letter: str, metric: str, workload: str, most: int = 5
) -> tuple[Mover, ...]:
    """What moves a figure most, the largest effect first. Nothing where the figure is not known."""
    node = explain.explain(plan, catalog, results, letter, metric, workload)
    at = next((i for i, scenario in enumerate(plan.scenarios) if scenario.letter == letter), None)
    if node is None or node.value is None or at is None:
        return ()
    value = node.value
    alone = _alone(plan, letter)
    found = []
    for mover, path, kept in _inputs(plan, alone, node, letter, workload):
        ends = []
        for end in (mover.down, mover.up):
            ends.append(None if end is None else _again(alone, catalog, letter, metric, workload, path, kept, end))
        found.append(mover._replace(value_down=ends[0], value_up=ends[1]))
    for mover, position in _constants(node, catalog):
        ends = []
        for end in (mover.down, mover.up):
            table = catalog.over(plan.entries).calibration
            values = table.values.copy()
            values[position] = end
            moved = catalog.with_calibration(table.with_values(values))
            ends.append(_figure(alone, moved, letter, metric, workload))
        found.append(mover._replace(value_down=ends[0], value_up=ends[1]))
    moving = [mover for mover in found if mover.effect(value) > 1e-9 * abs(value)]
    return tuple(sorted(moving, key=lambda mover: -mover.effect(value))[:most])


def _alone(plan: Plan, letter: str) -> Plan:
    """The plan with no other scenarios than this one and the baseline: each try is as short as can be."""
    kept = tuple(scenario for scenario in plan.scenarios if scenario.letter in (letter, plan.baseline_letter))
    return replace(plan, ("scenarios",), kept) if len(kept) < len(plan.scenarios) else plan


def _figure(plan: Plan, catalog: Catalog, letter: str, metric: str, workload: str) -> float | None:
    results = evaluate(plan, catalog)
    row = next((row for row in comparison.rows(plan, results, workload) if row.key == metric), None)
    if row is not None:
        cell = row.cell(letter)
        return None if cell is None else cell.figure.value
    entry = results.scenario(letter)
    if metric == "speed_ratio" and entry is not None:
        return entry.speed_ratio.value
    node = explain.explain(plan, catalog, results, letter, metric, workload)
    return None if node is None else node.value


def _again(
    plan: Plan, catalog: Catalog, letter: str, metric: str, workload: str, path: Path, kept: Any, end: float
) -> float | None:
    value: Any = end
    if isinstance(kept, Money):
        value = Money(amount=end, currency=kept.currency)
    elif isinstance(kept, int):
        value = round(end)
    try:
        return _figure(replace(plan, path, value), catalog, letter, metric, workload)
    except ValidationError:
        # The plan's own limits forbid this step.
        return None


_FIELDS = (
    ("prompt_tokens", "prompt_tokens", "tokens"),
    ("answer_tokens", "answer_tokens", "tokens"),
    ("mean_to_peak", "mean_to_peak", "share"),
    ("sequence_tokens", "sequence_tokens", "tokens"),
    ("tokens_to_train", "tokens", "tokens"),
    ("tokens_per_epoch", "tokens_per_epoch", "tokens"),
    ("epochs", "epochs", "count"),
)
_LOADS = (
    ("users", "users", "count"),
    ("requests_per_hour", "requests_per_user_peak_hour", "count"),
    ("requests_asked", "requests_s", "requests_s"),
    ("in_flight_asked", "concurrency", "count"),
)
_TARGETS = (("target_first_token_s", "first_token_s"), ("target_per_token_s", "per_token_s"))


def _stepped(value: float) -> tuple[float, float]:
    return value * (1.0 - STEP), value * (1.0 + STEP)


def _inputs(
    plan: Plan, alone: Plan, node: Node, letter: str, workload: str
) -> Iterator[tuple[Mover, Path, float | int | Money]]:
    """The inputs worth a try: each with its place in `alone` and the value that it holds there."""
    w_at = next((i for i, each in enumerate(plan.workloads) if each.id == workload), None)
    s_at = next(i for i, scenario in enumerate(plan.scenarios) if scenario.letter == letter)
    a_at = next(i for i, scenario in enumerate(alone.scenarios) if scenario.letter == letter)
    scenario = plan.scenarios[s_at]

    def made(
        key: str, kind: str, path: Path, down: float | None, up: float | None, today: float, name: str = ""
    ) -> Any:
        own = ("scenarios", a_at, *path[2:]) if path[0] == "scenarios" else path
        mover = Mover(key, kind, today, down, up, None, None, path, name=name)
        return mover, own, value_at(alone, own)

    if w_at is not None:
        asked = plan.workloads[w_at]
        for key, field, kind in _FIELDS:
            if hasattr(asked, field):
                value = float(getattr(asked, field))
                yield made(key, kind, ("workloads", w_at, field), *_stepped(value), value)
        if isinstance(asked, Serve):
            for key, field, kind in _LOADS:
                if hasattr(asked.load, field):
                    value = float(getattr(asked.load, field))
                    yield made(key, kind, ("workloads", w_at, "load", field), *_stepped(value), value)
            for key, field in _TARGETS:
                target = getattr(asked, field)
                if target is not None:
                    yield made(key, "duration", ("workloads", w_at, field), *_stepped(target), target)
            share = asked.shared_prefix_share
            yield made(
                "shared_prefix", "share", ("workloads", w_at, "shared_prefix_share"),
                max(share - STEP, 0.0) if share else None, min(share + STEP, 1.0), share,
            )  # fmt: skip
    yield from (made(*each) for each in _of_groups(scenario, s_at, node))
    economics, site = plan.economics, plan.site
    yield from _class_values(plan, node)
    if site.pue != "auto":
        yield made("pue", "count", ("site", "pue"), max(site.pue - _PUE_STEP, 1.0), site.pue + _PUE_STEP, site.pue)
    term = economics.term_years
    yield made(
        "term", "years", ("economics", "term_years"), term - _TERM_STEP if term > _TERM_STEP else None,
        term + _TERM_STEP, term,
    )  # fmt: skip
    for key, field in (("price_per_kwh", "electricity_per_kwh"), ("cloud_hour", "cloud_per_gpu_hour")):
        typed = getattr(economics, field)
        if isinstance(typed, Money):
            yield made(key, "money", ("economics", field), *_stepped(typed.amount), typed.amount)


def _class_values(plan: Plan, node: Node) -> Iterator[tuple[Mover, Path, float | Money]]:
    """Class values that a buyer can replace by an own figure, moved to the ends of their range."""
    places: dict[str, tuple[Path, bool]] = {
        "pue": (("site", "pue"), plan.site.pue == "auto"),
        "price_per_kwh": (("economics", "electricity_per_kwh"), plan.economics.electricity_per_kwh == "auto"),
        "resale_share": (("economics", "resale_share"), plan.economics.resale_share == "auto"),
        "maintenance_share": (("economics", "maintenance_share"), plan.economics.maintenance_share == "auto"),
    }
    for each in walk(node):
        path, left_open = places.pop(each.key, ((), False))
        if left_open and each.has_band and each.value is not None:
            kept = Money(amount=each.value, currency=plan.currency) if each.key == "price_per_kwh" else each.value
            yield Mover(each.key, each.kind, each.value, each.low, each.high, None, None, path), path, kept


def _of_groups(scenario: Scenario, at: int, node: Node) -> Iterator[tuple[Any, ...]]:
    named = len(scenario.groups) > 1
    for g, group in enumerate(scenario.groups):
        here = ("scenarios", at, "groups", g)
        name = group.name or group.gpu if named else ""
        servers, cards = group.servers, group.gpus_per_server
        yield "servers", "count", (*here, "servers"), servers - 1 if servers > 1 else None, servers + 1, servers, name
        if group.gpu:
            fewer = cards // 2 if cards > 1 else None
            yield "gpus_per_server", "count", (*here, "gpus_per_server"), fewer, None, cards, name
        if isinstance(group.price, Money):
            amount = group.price.amount
            yield "unit_price", "money", (*here, "price"), *_stepped(amount), amount, name
        if group.power_cap_w is not None:
            yield "power_cap", "watts", (*here, "power_cap_w"), *_stepped(group.power_cap_w), group.power_cap_w, name


def _constants(node: Node, catalog: Catalog) -> Iterator[tuple[Mover, int]]:
    """The constants that stand in the derivation, moved by one standard deviation of their prior."""
    table, seen = catalog.calibration, set()
    for each in walk(node):
        if each.constant is None or each.constant.name in seen or each.value is None:
            continue
        seen.add(each.constant.name)
        wide = float(np.exp(each.constant.spread))
        position = table.names.index(each.constant.name)
        yield (
            Mover(each.key, each.kind, each.value, each.value / wide, each.value * wide, None, None,
                  constant=each.constant.name),
            position,
        )  # fmt: skip
