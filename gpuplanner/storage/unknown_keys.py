"""Keys that a newer version wrote: set aside on reading, put back on writing.

A plan travels by e-mail between releases. A release that does not know a key must not refuse the plan, and must not
lose the key either.
"""

from collections.abc import Callable, Iterable
from functools import cache, partial
from types import UnionType
from typing import Annotated, Any, NamedTuple, Union, get_args, get_origin

from pydantic import BaseModel

Path = tuple[str | int, ...]

# What tells one record of a list from another: a scenario's letter, a workload's or entry's id.
_IDENTITIES = ("letter", "id")


class Unknown(NamedTuple):
    """A key that this release does not know.

    ``record`` is the id of the nearest record above it, "" where there is none.
    """

    path: Path
    record: str
    value: Any

    @property
    def place(self) -> str:
        """Where it stood, for people."""
        return written(self.path)


def written(path: Path) -> str:
    """A path as text: ``scenarios[1].groups[0].gpu``."""
    text = ""
    for step in path:
        text += f"[{step}]" if isinstance(step, int) else f".{step}" if text else step
    return text


def set_aside(record: type[BaseModel], data: Any, at: Path = ()) -> tuple[Any, tuple[Unknown, ...]]:
    """`data` without the keys that `record` and the records inside it do not have, and these keys.

    Wherever `data` does not have the shape of the record it is left alone; validation reports that.
    """
    found: list[Unknown] = []
    cleaned = _clean_record(record, data, at, "", found)
    return cleaned, tuple(found)


def put_back(data: Any, unknown: Iterable[Unknown]) -> tuple[Any, tuple[Unknown, ...]]:
    """`data` with the keys set aside in their places, and those whose record is gone."""
    gone: list[Unknown] = []
    named: dict[int, dict[str, Any]] = {}
    for item in unknown:
        parent = _parent(data, item, named)
        if isinstance(parent, dict) and isinstance(item.path[-1], str):
            parent.setdefault(item.path[-1], item.value)
        else:
            gone.append(item)
    return data, tuple(gone)


def identity(value: Any) -> str:
    """The id of a record of a list, "" where it has none."""
    if isinstance(value, dict):
        for key in _IDENTITIES:
            if isinstance(value.get(key), str):
                return str(value[key])
    return ""


def _parent(data: Any, item: Unknown, named: dict[int, dict[str, Any]]) -> Any:
    """The record that the key belongs to, None if it is gone. The nearest record with an id is found by it, wherever it
    stands now.

    `named` keeps the records of each list by id from one call to the next.
    """
    node = data
    reached = not item.record
    for step in item.path[:-1]:
        if isinstance(node, dict) and isinstance(step, str):
            node = node.get(step)
        elif isinstance(node, list) and isinstance(step, int):
            by_id = named.setdefault(id(node), {}) if not reached else {}
            if not reached and not by_id:
                by_id.update({identity(one): one for one in reversed(node)})
            if item.record in by_id:
                node, reached = by_id[item.record], True
            elif 0 <= step < len(node) and (reached or not identity(node[step])):
                node = node[step]
            else:
                return None
        else:
            return None
    return node


def _clean_record(record: type[BaseModel], data: Any, at: Path, owner: str, found: list[Unknown]) -> Any:
    if not isinstance(data, dict):
        return data
    owner = identity(data) or owner
    cleaners = _cleaners(record)
    cleaned: dict[str, Any] = {}
    for key, value in data.items():
        if key not in cleaners:
            found.append(Unknown((*at, key), owner, value))
        elif (clean := cleaners[key]) is None:
            cleaned[key] = value
        else:
            cleaned[key] = clean(value, (*at, key), owner, found)
    return cleaned


# Cleans a value at a path, below an owner, and adds what it finds.
_Cleaner = Callable[[Any, Path, str, list[Unknown]], Any]


@cache
def _cleaners(record: type[BaseModel]) -> dict[str, _Cleaner | None]:
    """What each field of a record is cleaned with; None where no record can be inside."""
    return {name: _cleaner(field.annotation) for name, field in record.model_fields.items()}


def _cleaner(kind: Any) -> _Cleaner | None:
    kind = _bare(kind)
    origin = get_origin(kind)
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        return partial(_clean_record, kind)
    if origin is tuple:
        inner = _cleaner(get_args(kind)[0])
        return None if inner is None else partial(_clean_list, inner)
    if origin is dict:
        inner = _cleaner(get_args(kind)[1])
        return None if inner is None else partial(_clean_dict, inner)
    if origin in (Union, UnionType):
        kinds = tuple(map(_bare, get_args(kind)))
        cleaners = tuple(map(_cleaner, kinds))
        return partial(_clean_union, kinds, cleaners) if any(cleaners) else None
    return None


def _clean_list(inner: _Cleaner, value: Any, at: Path, owner: str, found: list[Unknown]) -> Any:
    if not isinstance(value, list):
        return value
    return [inner(one, (*at, place), owner, found) for place, one in enumerate(value)]


def _clean_dict(inner: _Cleaner, value: Any, at: Path, owner: str, found: list[Unknown]) -> Any:
    if not isinstance(value, dict):
        return value
    return {key: inner(one, (*at, key), owner, found) for key, one in value.items()}


def _clean_union(
    kinds: tuple[Any, ...],
    cleaners: tuple[_Cleaner | None, ...],
    value: Any,
    at: Path,
    owner: str,
    found: list[Unknown],
) -> Any:
    """Cleaned as the member that the value is meant to be: the record of its ``kind``, else the one of its shape."""
    for kind, clean in zip(kinds, cleaners, strict=True):
        if clean is None:
            continue
        if isinstance(value, list) and get_origin(kind) is tuple:
            return clean(value, at, owner, found)
        if isinstance(value, dict) and isinstance(kind, type) and issubclass(kind, BaseModel):
            tag = kind.model_fields.get("kind")
            if tag is None or "kind" not in value or value["kind"] in get_args(tag.annotation):
                return clean(value, at, owner, found)
    return value


def _bare(kind: Any) -> Any:
    return get_args(kind)[0] if get_origin(kind) is Annotated else kind
