"""The user's own cards, models, servers and prices: one JSON file a kind, in a folder that the caller names.

Nothing here keeps state: every function reads the file, and those that change something write it back whole. What the
file holds beside good entries (an entry that a newer release wrote, or that someone broke by hand) is kept as it is.
"""

import json
import os
import secrets
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from gpuplanner.catalog.load import FILES, BadFile, Problem, identity, parse, read_bytes, read_records
from gpuplanner.catalog.sentences import sentence
from gpuplanner.i18n import _

# What a user may add in the program; the other kinds come with it.
USER_KINDS = ("gpu", "server", "cpu", "nic", "switch", "llm", "runtime", "price", "source")
# More entries of one kind than anybody types; the limit keeps a start quick.
MAX_ENTRIES = 5000


class BadEntry(ValueError):
    """An entry that cannot be kept; `problems` say key by key why, the text says it in one line."""

    def __init__(self, problems: tuple[tuple[str, str], ...]) -> None:
        self.problems = problems
        super().__init__(problems)

    def __str__(self) -> str:
        return "; ".join(f"{key}: {reason}" if key else reason for key, reason in self.problems)


def file_of(folder: Path, kind: str) -> Path:
    """Where entries of a kind are kept. Raises `KeyError` for a kind that users do not add."""
    if kind not in USER_KINDS:
        raise KeyError(f"users add no entries of kind {kind!r}")
    return folder / f"{FILES[kind][0]}.json"


def validate(kind: str, data: Mapping[str, Any]) -> Any:
    """The record that `data` describes, as strict as a file is read. Raises `BadEntry` with a sentence a key."""
    adapter: TypeAdapter[Any] = TypeAdapter(FILES[kind][1])
    try:
        text = json.dumps(dict(data), allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise BadEntry(
            (("", _("The entry holds a value that cannot be kept: %(reason)s") % {"reason": error}),)
        ) from error
    try:
        return adapter.validate_json(text, strict=True)
    except ValidationError as error:
        details = error.errors(include_url=False)
        raise BadEntry(tuple((".".join(map(str, d["loc"])), sentence(d)) for d in details)) from error


def read(folder: Path, kind: str) -> tuple[tuple[Any, ...], tuple[Problem, ...]]:
    """The user's good entries of a kind, and what was wrong with the others."""
    return read_records(file_of(folder, kind), kind, FILES[kind][1])


def put(folder: Path, kind: str, entry: Any) -> None:
    """Keep `entry`, in the place of the one of the same name (or id, for prices and sources) if there is one.

    Raises `BadFile` if the file there cannot be read (it is then left alone), `OSError` if it cannot be written.
    """
    items = _items(folder, kind)
    wanted = identity(kind, entry)
    data = entry.model_dump(mode="json", exclude_defaults=True)
    # A name that stands in the file twice counts once; the later one goes.
    places = [i for i, item in enumerate(items) if _identity(kind, item) == wanted]
    if places:
        items[places[0]] = data
        items = [item for i, item in enumerate(items) if i not in places[1:]]
    elif len(items) >= MAX_ENTRIES:
        raise BadFile(_("More than %(limit)d entries of one kind are not kept.") % {"limit": MAX_ENTRIES})
    else:
        items.append(data)
    _write(file_of(folder, kind), items)


def remove(folder: Path, kind: str, which: Any) -> bool:
    """Drop the entry of this name (or id). False, and nothing is written, if there is none. Errors as `put`."""
    items = _items(folder, kind)
    kept = [item for item in items if _identity(kind, item) != which]
    if len(kept) == len(items):
        return False
    _write(file_of(folder, kind), kept)
    return True


def rename(folder: Path, kind: str, which: Any, entry: Any) -> None:
    """Put `entry` in the place of the one called `which`, which may have another name. Errors as `put`."""
    items = _items(folder, kind)
    data = entry.model_dump(mode="json", exclude_defaults=True)
    new = identity(kind, entry)
    result = []
    placed = False
    for item in items:
        name = _identity(kind, item)
        if name not in (which, new):
            result.append(item)
        elif not placed:
            result.append(data)
            placed = True
    if not placed:
        result.append(data)
    _write(file_of(folder, kind), result)


def free_id(name: str, taken: frozenset[str] = frozenset()) -> str:
    """An id made of a name's letters and digits, with a number where it is taken."""
    base = "".join(c if c.isalnum() or c == "." else "-" for c in name.casefold()).strip("-.")[:180] or "entry"
    while "--" in base:
        base = base.replace("--", "-")
    result, number = base, 2
    while result in taken:
        result, number = f"{base}-{number}", number + 1
    return result


def _items(folder: Path, kind: str) -> list[Any]:
    """What the file holds, good entries and others. Raises `BadFile`."""
    path = file_of(folder, kind)
    try:
        items = parse(read_bytes(path))
    except FileNotFoundError:
        return []
    if not isinstance(items, list):
        raise BadFile(_("The file must hold a list of entries."))
    return items


def _identity(kind: str, item: Any) -> Any:
    if not isinstance(item, dict):
        return None
    return item.get("id" if kind in ("price", "source") else "name")


def _write(path: Path, items: list[Any]) -> None:
    """Replace the file in one step: a failure at any moment leaves the old one."""
    text = (
        "[\n" + ",\n".join(json.dumps(item, ensure_ascii=False, allow_nan=False, indent=1) for item in items) + "\n]\n"
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.parent / f".{secrets.token_hex(8)}.tmp"
    try:
        with open(temporary, "x", encoding="utf-8", newline="\n") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        with suppress(OSError):
            temporary.unlink()
        raise
