"""JSON that came from outside: bounded, strict, and with the line of every place.

The standard parser reads it; what it lets pass (duplicate keys, NaN, endless numbers and nesting) is refused here.
Lines are looked up only when a refusal needs one, by a second walk over the text.
"""

import json
import math
import re
from collections.abc import Iterator
from typing import Any, NamedTuple, NoReturn

from gpuplanner.i18n import _

Path = tuple[str | int, ...]

MAX_DEPTH = 64
MAX_VALUES = 400_000
# In one list or object.
MAX_ITEMS = 20_000
# The largest figure of any record is 1e30; longer numbers are damage or malice, and slow to convert.
MAX_DIGITS = 60

# The closing quote is optional, so that an unclosed string is one token and not a quadratic search.
_TOKEN = re.compile(r'"(?:[^"\\]++|\\.)*+"?|[{}\[\],:]|[^\s{}\[\],:"]++', re.DOTALL)
_STRUCTURE = re.compile(r'"(?:[^"\\]++|\\.)*+"?|[{}\[\],]', re.DOTALL)


class NotStrictJson(ValueError):
    """The text is not JSON, or not JSON that is accepted here. ``line`` is None where no single line is at fault."""

    def __init__(self, reason: str, line: int | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.line = line


class _Refused(ValueError):
    """A number or a key that the parser's hooks do not take."""

    def __init__(self, reason: str, token: str = "", key: str | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.token = token
        self.key = key


def text_of(data: bytes) -> str:
    """The text of a file, without a leading byte-order mark. Raises `NotStrictJson` where it is not UTF-8."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise NotStrictJson(_("The text is UTF-16, not UTF-8."))
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise NotStrictJson(_("The text is not UTF-8."), data.count(b"\n", 0, error.start) + 1) from error
    return text.removeprefix("\ufeff")


def decode(text: str) -> Any:
    """The value of a JSON text. Raises `NotStrictJson` with the line at fault."""
    if not text.strip():
        raise NotStrictJson(_("The file is empty."))
    _check_size(text)
    try:
        return json.loads(
            text, object_pairs_hook=_object, parse_constant=_constant, parse_int=_integer, parse_float=_float
        )
    except json.JSONDecodeError as error:
        raise NotStrictJson(_("This is not complete JSON text."), error.lineno) from error
    except _Refused as refused:
        raise NotStrictJson(refused.reason, _line_of_refused(text, refused)) from refused


def line_of(text: str, path: Path) -> int | None:
    """The line where the member or item at `path` begins.

    Where it is absent, the line of its nearest parent. `text` must be valid JSON.
    """
    best, best_offset = -1, None
    for place in _places(text):
        if len(place.path) > best and place.path == path[: len(place.path)]:
            best, best_offset = len(place.path), place.offset
            if best == len(path):
                break
    return None if best_offset is None else text.count("\n", 0, best_offset) + 1


def _check_size(text: str) -> None:
    # The commas seen in each list or object that is still open.
    commas: list[int] = []
    values = 0
    for match in _STRUCTURE.finditer(text):
        mark = match[0]
        if mark in "[{":
            commas.append(0)
            values += 1
        elif mark in "]}":
            if commas:
                commas.pop()
        elif mark == ",":
            values += 1
            if commas:
                commas[-1] += 1
        if len(commas) > MAX_DEPTH:
            _refuse(text, match.start(), _("Values are nested more than {limit} deep.").format(limit=MAX_DEPTH))
        if values > MAX_VALUES:
            raise NotStrictJson(_("There are more than {limit} values.").format(limit=MAX_VALUES))
        if commas and commas[-1] >= MAX_ITEMS:
            _refuse(text, match.start(), _("A list has more than {limit} entries.").format(limit=MAX_ITEMS))


def _refuse(text: str, offset: int, reason: str) -> NoReturn:
    raise NotStrictJson(reason, text.count("\n", 0, offset) + 1)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        seen: set[str] = set()
        for key, _value in pairs:
            if key in seen:
                raise _Refused(_("“{key}” stands twice in the same place.").format(key=_shown(key)), key=key)
            seen.add(key)
    return members


def _constant(token: str) -> NoReturn:
    raise _Refused(_("{number} is not a number that a file may hold.").format(number=token), token)


def _integer(token: str) -> int:
    if len(token) > MAX_DIGITS:
        raise _Refused(_("A number has more than {limit} digits.").format(limit=MAX_DIGITS), token)
    return int(token)


def _float(token: str) -> float:
    if len(token) > MAX_DIGITS:
        raise _Refused(_("A number has more than {limit} digits.").format(limit=MAX_DIGITS), token)
    value = float(token)
    if not math.isfinite(value):
        raise _Refused(_("{number} is too large.").format(number=token), token)
    return value


def _shown(key: str) -> str:
    """A key from a file, short and printable."""
    return "".join(c if c.isprintable() else "?" for c in key[:40])


def _line_of_refused(text: str, refused: _Refused) -> int | None:
    if refused.token:
        for match in _TOKEN.finditer(text):
            if match[0] == refused.token:
                return text.count("\n", 0, match.start()) + 1
        return None
    previous: set[Path] = set()
    for place in _places(text):
        if place.path and place.path[-1] == refused.key:
            if place.path in previous:
                return text.count("\n", 0, place.offset) + 1
            previous.add(place.path)
    return None


class _Place(NamedTuple):
    path: Path
    offset: int


def _places(text: str) -> Iterator[_Place]:
    """Every value of a JSON text with its path and where it (or its key) begins, in the order of the text."""
    path: list[str | int] = []
    # One step a level: the name of the current member, or the number of the current item.
    inside_object: list[bool] = []
    key: tuple[str, int] | None = None
    expect_key = False
    for match in _TOKEN.finditer(text):
        mark, offset = match[0], match.start()
        if mark in "]}":
            inside_object.pop()
            path.pop()
        elif mark == ",":
            expect_key = inside_object[-1]
            if not expect_key:
                path[-1] = int(path[-1]) + 1
        elif mark == ":":
            expect_key = False
        elif expect_key:
            key = (json.loads(mark), offset)
            path[-1] = key[0]
        else:
            if key is not None:
                yield _Place(tuple(path), key[1])
                key = None
            else:
                yield _Place(tuple(path), offset)
            if mark == "{":
                inside_object.append(True)
                path.append("")
                expect_key = True
            elif mark == "[":
                inside_object.append(False)
                path.append(0)
