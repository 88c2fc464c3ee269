"""Files of measured rows that a buyer was given or wrote: JSON lines, one JSON list, or a table as CSV.

A row that is no row is left out and named; nothing of a file is followed or run. In a CSV table the first line names
the keys; `engine.name` is the key `name` of the record `engine`.
"""

import csv
import io
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from gpuplanner.i18n import _
from gpuplanner.model.plan import looks_like_row
from gpuplanner.storage import atomic, strict_json
from gpuplanner.storage.plan_file import clean_text
from gpuplanner.storage.strict_json import NotStrictJson

MAX_BYTES = 10 * 2**20
MAX_ROWS = 10_000
_MAX_REFUSED = 200
_WORDS = {"true": True, "false": False, "yes": True, "no": False}


class Refused(NamedTuple):
    """A row that was left out: where it stands, and why, in the language in force."""

    place: str
    reason: str


class Reading(NamedTuple):
    """What a file holds."""

    rows: tuple[dict[str, Any], ...]
    refused: tuple[Refused, ...]


def read_rows(path: Path) -> Reading:
    """Read the measured rows of a file (.jsonl, .json or .csv).

    Raises
    ------
    OSError
        The file cannot be read.
    ValueError
        It is no such file as a whole; the text is a sentence.
    """
    with path.open("rb") as file:
        data = file.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise ValueError(_("The file is larger than 10 MB."))
    try:
        text = strict_json.text_of(data)
    except NotStrictJson as error:
        raise ValueError(error.reason) from error
    found = _table(text) if path.suffix.casefold() == ".csv" else _items(text)
    rows: list[dict[str, Any]] = []
    refused: list[Refused] = []
    for place, item in found:
        if len(rows) >= MAX_ROWS or len(refused) >= _MAX_REFUSED:
            refused.append(Refused(place, _("The rest of the file is not read.")))
            break
        reason = str(item) if isinstance(item, NotStrictJson) else _why_not(item)
        if reason:
            refused.append(Refused(place, reason))
        else:
            rows.append(_cleaned(item))
    return Reading(tuple(rows), tuple(refused))


def _cleaned(value: Any) -> Any:
    """The value without characters that no text of a plan may hold."""
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, dict):
        return {clean_text(key): _cleaned(item) for key, item in value.items()}
    return [_cleaned(item) for item in value] if isinstance(value, list) else value


def _why_not(item: Any) -> str:
    """Why an item is no measured row; nothing where it is one."""
    if not isinstance(item, dict):
        return _("A record in braces is expected.")
    if not looks_like_row(item):
        return _("A measured row holds short text, finite numbers, yes or no, and few of them.")
    if not isinstance(item.get("metric"), str):
        return _("The row does not say what was measured (“metric”).")
    if not isinstance(item.get("value"), bool | int | float):
        return _("The row states no figure (“value”).")
    return ""


def _items(text: str) -> Iterator[tuple[str, Any]]:
    """The items of a JSON list, or of a file with one JSON record a line."""
    if text.lstrip().startswith("["):
        try:
            items = strict_json.decode(text)
        except NotStrictJson as error:
            raise ValueError(error.reason) from error
        for number, item in enumerate(items, 1):
            yield _("entry {number}").format(number=number), item
        return
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        place = _("line {number}").format(number=number)
        try:
            yield place, strict_json.decode(line)
        except NotStrictJson as error:
            yield place, error


def _table(text: str) -> Iterator[tuple[str, Any]]:
    """The lines of a CSV table as records. Empty cells are left out; commas or semicolons part the cells."""
    head = text.split("\n", 1)[0]
    separator = ";" if head.count(";") > head.count(",") else ","
    try:
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
        keys = [key.strip() for key in next(reader, [])]
        for cells in reader:
            if not any(cell.strip() for cell in cells):
                continue
            yield _("line {number}").format(number=reader.line_num), _record(keys, cells)
    except csv.Error as error:
        raise ValueError(_("This is no table in CSV.")) from error


def _record(keys: Sequence[str], cells: Sequence[str]) -> dict[str, Any]:
    row: dict[str, Any] = {}
    for key, cell in zip(keys, cells, strict=False):
        text = cell.strip()
        if not key or not text:
            continue
        outer, _dot, inner = key.partition(".")
        if inner:
            record = row.setdefault(outer, {})
            if isinstance(record, dict):
                # A version such as 0.10 is a word, not the number 0.1.
                record[inner] = text if inner == "version" else _cell(text)
        else:
            row[outer] = _cell(text)
    return row


def _cell(text: str) -> Any:
    if text.casefold() in _WORDS:
        return _WORDS[text.casefold()]
    try:
        number = float(text)
    except ValueError:
        return text
    if not math.isfinite(number):
        return text
    return int(number) if number == int(number) and abs(number) < 1e15 and "e" not in text.casefold() else number


def write_rows(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    """Write rows as JSON lines. Raises `OSError` where that cannot be done; an older file then stays."""
    lines = (json.dumps(row, ensure_ascii=False, allow_nan=False) for row in rows)
    atomic.write_text(path, "".join(f"{line}\n" for line in lines))
