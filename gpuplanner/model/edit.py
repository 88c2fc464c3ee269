"""Change one value of a plan and share the rest."""

from collections.abc import Sequence
from typing import Any, TypeVar

from pydantic import BaseModel

T = TypeVar("T")
Path = tuple[str | int, ...]


def value_at(node: Any, path: Path) -> Any:
    """The value at `path`: attribute names for records, positions for tuples."""
    for step in path:
        node = node[step] if isinstance(step, int) else getattr(node, step)
    return node


def replace(node: T, path: Path, value: Any) -> T:
    """Return a copy of `node` in which the value at `path` is `value`.

    Everything off the path is shared with the original. The rebuilt records are validated, so an out-of-range value
    raises `pydantic.ValidationError` and the caller still holds the old plan.
    """
    if not path:
        return value
    step, rest = path[0], path[1:]
    if isinstance(step, int):
        if not isinstance(node, Sequence) or not -len(node) <= step < len(node):
            raise IndexError(f"no item {step} at this place of the plan")
        items: list[Any] = list(node)
        items[step] = replace(items[step], rest, value)
        return tuple(items)  # type: ignore[return-value]
    if not isinstance(node, BaseModel) or step not in type(node).model_fields:
        raise KeyError(f"{type(node).__name__} has no {step}")
    fields = {name: getattr(node, name) for name in type(node).model_fields}
    fields[step] = replace(fields[step], rest, value)
    return type(node)(**fields)


def insert(node: T, path: Path, item: Any) -> T:
    """Return a copy with `item` put into a tuple; the last step of `path` is its position (the length of the tuple
    appends).
    """
    *parent, position = path
    items = list(value_at(node, tuple(parent)))
    items.insert(int(position), item)
    return replace(node, tuple(parent), tuple(items))


def remove(node: T, path: Path) -> T:
    """Return a copy without the item at `path`; the last step is its position in a tuple."""
    *parent, position = path
    items = list(value_at(node, tuple(parent)))
    del items[int(position)]
    return replace(node, tuple(parent), tuple(items))


def move(node: T, path: Path, target: int) -> T:
    """Return a copy in which the item at `path` stands at position `target` of the same tuple."""
    *parent, position = path
    items = list(value_at(node, tuple(parent)))
    items.insert(target, items.pop(int(position)))
    return replace(node, tuple(parent), tuple(items))
