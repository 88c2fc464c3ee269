"""What differs between two plans, input by input, and how to take one difference over.

Records are the same where their name is: a scenario by its letter, a workload by its id, a catalog entry by its name.
Groups, which have no name of their own, are compared by their place.
"""

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from pydantic import BaseModel

from gpuplanner.model import edit
from gpuplanner.model.plan import PinnedEntries, Plan

# Names for records and fields, positions from 0 for what has no name.
Place = tuple[str | int, ...]

_NAMED = {"workloads": "id", "scenarios": "letter", "exchange_rates": "currency"}
_BY_POSITION = ("groups", "runs", "owned")
_ENTRIES = tuple(PinnedEntries.model_fields)


class _Absent:
    def __repr__(self) -> str:
        return "ABSENT"


ABSENT: Final = _Absent()


class Difference(NamedTuple):
    """An input that two plans have otherwise. `ABSENT` where a plan has no such record."""

    place: Place
    a: Any
    b: Any


def differences(a: Plan, b: Plan) -> tuple[Difference, ...]:
    """Every input that differs, in the order of the plan; empty for plans that decide the same.

    A record that only one plan has is one difference. Of pinned catalog entries only those that both plans have are
    compared: the others follow from the inputs that name them.
    """
    return tuple(_between((), a, b))


def take(plan: Plan, other: Plan, place: Place) -> Plan:
    """`plan` with what `other` has at `place`: the value, the record it lacks, or one record less.

    Raises `pydantic.ValidationError` where the plan cannot hold it (a run of a workload that only `other` has), and
    `KeyError` for a place that neither has.
    """
    here, there = _found(plan, place), _found(other, place)
    if here is None and there is None:
        raise KeyError(f"neither plan has {place}")
    if there is None:
        assert here is not None
        return edit.remove(plan, here)
    if here is not None:
        return edit.replace(plan, here, edit.value_at(other, there))
    parent = _found(plan, place[:-1])
    if parent is None:
        raise KeyError(f"the plan has no {place[:-1]}")
    return edit.insert(plan, (*parent, len(edit.value_at(plan, parent))), edit.value_at(other, there))


def three_way(base: Plan, mine: Plan, theirs: Plan) -> tuple[tuple[Difference, ...], tuple[Difference, ...]]:
    """What only they changed since `base`, which can be taken over as it is, and what both changed otherwise.

    In each `Difference`, ``a`` is mine and ``b`` is theirs. A record that one removed and the other changed within
    counts as changed by both.
    """
    my_places = [difference.place for difference in differences(base, mine)]
    free: list[Difference] = []
    both: list[Difference] = []
    their_places = [difference.place for difference in differences(base, theirs)]
    for difference in differences(mine, theirs):
        if not any(_overlap(difference.place, place) for place in their_places):
            continue
        (both if any(_overlap(difference.place, place) for place in my_places) else free).append(difference)
    return tuple(free), tuple(both)


def _overlap(one: Place, other: Place) -> bool:
    length = min(len(one), len(other))
    return one[:length] == other[:length]


def _between(place: Place, a: Any, b: Any) -> Iterator[Difference]:
    if a == b:
        return
    field = place[-1] if place else ""
    if isinstance(a, BaseModel) and type(a) is type(b):
        for name in type(a).model_fields:
            yield from _between((*place, name), getattr(a, name), getattr(b, name))
    elif _are_records(field, place) and isinstance(a, tuple) and isinstance(b, tuple):
        mine, theirs = _keyed(field, place, a), _keyed(field, place, b)
        for key in dict.fromkeys((*mine, *theirs)):
            one, other = mine.get(key, ABSENT), theirs.get(key, ABSENT)
            if place[:1] == ("entries",) and ABSENT in (one, other):
                continue
            yield from _between((*place, key), one, other)
    else:
        yield Difference(place, a, b)


def _are_records(field: str | int, place: Place) -> bool:
    return field in _NAMED or field in _BY_POSITION or (len(place) == 2 and place[0] == "entries")


def _keyed(field: str | int, place: Place, records: tuple[Any, ...]) -> dict[str | int, Any]:
    """The records of a tuple by what names them. A name that is there twice is told apart by its position."""
    if field in _BY_POSITION:
        return dict(enumerate(records))
    named: dict[str | int, Any] = {}
    for position, record in enumerate(records):
        key = getattr(record, _NAMED[str(field)]) if field in _NAMED else _entry_key(record)
        named[key if key not in named else position] = record
    return named


def _entry_key(record: Any) -> str:
    return str(getattr(record, "name", "") or getattr(record, "id", "") or f"{record.key}, {record.applies_to}")


def _found(plan: Plan, place: Place) -> edit.Path | None:
    """The place as `edit` takes it, None where the plan has no such record."""
    node: Any = plan
    path: edit.Path = ()
    for depth, step in enumerate(place):
        if isinstance(node, tuple):
            before = place[:depth]
            keys = list(_keyed(before[-1], before, node))
            if step not in keys:
                return None
            path = (*path, keys.index(step))
        elif isinstance(node, BaseModel) and step in type(node).model_fields:
            path = (*path, step)
        else:
            return None
        node = edit.value_at(plan, path)
    return path
