"""Plan files: `.gpuplan`, UTF-8 JSON in an envelope.

``format``          "gpuplanner-plan"
``format_version``  see `migrate`
``written_by``      program, model version and calibration id
``plan``            the decisions and the pinned catalog records
``seen``            the headline figures when saved: only ever compared, never evaluated
``unknown``         keys of a newer version that this one carried along: where they stand, the id of the nearest
                    record, their value

A file from outside is hostile until validated: everything here is bounded, and whatever is wrong becomes one
`PlanFileError`.
"""

import errno
import json
import os
import re
import stat
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from gpuplanner import __version__
from gpuplanner.catalog.sentences import sentence
from gpuplanner.i18n import _, ngettext
from gpuplanner.model.plan import Plan
from gpuplanner.storage import atomic, strict_json
from gpuplanner.storage.migrate import FORMAT_VERSION, migrate
from gpuplanner.storage.seen import Seen
from gpuplanner.storage.strict_json import NotStrictJson
from gpuplanner.storage.unknown_keys import Unknown, put_back, set_aside, written

FORMAT = "gpuplanner-plan"
SUFFIX = ".gpuplan"
PROGRAM = f"GPU Planner {__version__}"
MAX_BYTES = 10 * 2**20
# A record shorter than this stands on one line.
LINE_WIDTH = 120
MAX_UNKNOWN = 1000

# Control characters, and marks that reorder or hide what is shown (bidirectional controls, zero-width space, byte-
# order mark).
_UNSHOWN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]"
)
_SURROGATE = re.compile("[\ud800-\udfff]")


class WrittenBy(BaseModel):
    """Which program wrote a file. A later release may say more; that is left out."""

    model_config = ConfigDict(frozen=True, extra="ignore", defer_build=True)

    program: Annotated[str, Field(max_length=200)] = ""
    model_version: Annotated[str, Field(max_length=200)] = ""
    calibration_id: Annotated[str, Field(max_length=200)] = ""


class Envelope(BaseModel):
    """A plan file as a whole; its schema is what `gpuplanner schema` prints."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", allow_inf_nan=False, defer_build=True, title="GPU Planner plan file"
    )

    format: Annotated[str, Field(pattern=f"^{FORMAT}$")]
    format_version: Annotated[int, Field(ge=1, le=FORMAT_VERSION)]
    written_by: WrittenBy = WrittenBy()
    plan: Plan
    seen: Seen | None = None
    unknown: tuple[dict[str, Any], ...] = ()


class Opened(NamedTuple):
    """A plan file that was read. ``notes`` are sentences for the user; ``unknown`` goes back into `write`."""

    plan: Plan
    seen: Seen | None
    written_by: WrittenBy
    notes: tuple[str, ...]
    unknown: tuple[Unknown, ...]


class PlanFileError(Exception):
    """A file that is not a plan; its text is one line: which file, which place, why.

    ``line`` and ``place`` are None and "" for the file as a whole.
    """

    def __init__(self, file: str, place: str, reason: str, line: int | None = None) -> None:
        super().__init__(file, place, reason)
        self.file = file
        self.place = place
        self.reason = reason
        self.line = line

    def __str__(self) -> str:
        if self.place:
            return _("{file}, {place}: {reason} Not opened.").format(
                file=self.file, place=self.place, reason=self.reason
            )
        return _("{file}: {reason} Not opened.").format(file=self.file, reason=self.reason)


def read(path: str | Path) -> Opened:
    """The plan in the file at `path`.

    Raises `PlanFileError` for whatever is in the way: no file, no permission, no plan.
    """
    path = Path(path)
    name = clean_text(path.name or str(path))
    try:
        data = _bytes_of(path)
    except (OSError, ValueError) as error:
        raise PlanFileError(name, "", _why_unread(error)) from error
    return parse(data, name)


def parse(data: bytes, name: str) -> Opened:
    """The plan in `data`, the content of the file called `name`. Raises `PlanFileError`."""
    if len(data) > MAX_BYTES:
        raise PlanFileError(name, "", _too_large())
    try:
        text = strict_json.text_of(data)
        content = strict_json.decode(text)
    except NotStrictJson as error:
        raise PlanFileError(name, _place_of(error.line), error.reason, error.line) from error
    notes: list[str] = []
    try:
        version = _version_of(content)
        removed: list[strict_json.Path] = []
        content = _cleaned(content, (), removed)
        if removed:
            notes.append(_note_on_removed(removed))
        if version < FORMAT_VERSION:
            content, migrated = migrate(content, version)
            notes += migrated
        content, _gone = put_back(content, _carried(content.pop("unknown", None)))
        content, unknown = set_aside(Envelope, content)
        envelope = Envelope.model_validate_json(json.dumps({**content, "format_version": FORMAT_VERSION}), strict=True)
    except _Refused as refused:
        line = strict_json.line_of(text, refused.path)
        raise PlanFileError(name, _place_of(line), refused.reason, line) from refused
    except ValidationError as error:
        at, reason = _first(error, content)
        line = strict_json.line_of(text, at)
        raise PlanFileError(name, _place_of(line), reason, line) from error
    if unknown:
        notes.append(_note_on_unknown(unknown))
    return Opened(envelope.plan, envelope.seen, envelope.written_by, tuple(notes), unknown)


def write(path: str | Path, plan: Plan, seen: Seen | None = None, unknown: Iterable[Unknown] = ()) -> tuple[str, ...]:
    """Save a plan, atomically.

    Returns sentences about what could not be kept; raises `OSError` with a sentence as ``strerror``.
    """
    content, gone = _content(plan, seen, tuple(unknown))
    atomic.write_text(path, _laid_out(content) + "\n")
    return tuple(
        _("“{key}”, which a newer version of GPU Planner wrote, is dropped: {record} is no longer in the plan.").format(
            key=item.place, record=item.record or written(item.path[:-1])
        )
        for item in gone
    )


def dump(plan: Plan, seen: Seen | None = None, unknown: Iterable[Unknown] = ()) -> str:
    """The text of a plan file: keys in the order of the schema, one short record a line."""
    return _laid_out(_content(plan, seen, tuple(unknown))[0]) + "\n"


def plan_schema() -> dict[str, Any]:
    """The JSON Schema of a plan file."""
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **Envelope.model_json_schema()}


def clean_text(text: str) -> str:
    """Text without characters that reorder or hide what is shown."""
    return _UNSHOWN.sub("", _SURROGATE.sub("\ufffd", text))


# --- reading -------------------------------------------------------------------


class _Refused(ValueError):
    """Something at a place of the content that no field of a record can check."""

    def __init__(self, path: strict_json.Path, reason: str) -> None:
        super().__init__(reason)
        self.path = path
        self.reason = reason


def _bytes_of(path: Path) -> bytes:
    found = os.stat(path)
    if stat.S_ISDIR(found.st_mode):
        raise IsADirectoryError(errno.EISDIR, "is a folder")
    if not stat.S_ISREG(found.st_mode):
        # Reading a pipe or a device might never end.
        raise OSError(errno.EINVAL, "is not a file")
    with path.open("rb") as file:
        return file.read(MAX_BYTES + 1)


def _why_unread(error: OSError | ValueError) -> str:
    number = error.errno if isinstance(error, OSError) else None
    if number in (errno.ENOENT, errno.ENOTDIR):
        return _("There is no such file.")
    if number == errno.EISDIR:
        return _("This is a folder.")
    if number in (errno.EACCES, errno.EPERM):
        return _("You may not read this file.")
    if isinstance(error, OSError) and number != errno.EINVAL and error.strerror:
        return _("The file cannot be read: {reason}.").format(reason=error.strerror)
    return _("This is not a file that can be read.")


def _too_large() -> str:
    return _("The file has more than {limit} MiB; no plan is that large.").format(limit=MAX_BYTES // 2**20)


def _version_of(content: Any) -> int:
    """The format version of an envelope. Raises `_Refused` where it is no envelope, or a newer one."""
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise _Refused(("format",), _("This is not a GPU Planner plan."))
    version = content.get("format_version")
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise _Refused(("format_version",), _("The format version must be a whole number from 1 on."))
    if version > FORMAT_VERSION:
        raise _Refused(
            ("format_version",),
            _(
                "A newer version of GPU Planner wrote this file (format {version}; this one reads up to {known})."
            ).format(version=version, known=FORMAT_VERSION),
        )
    return version


def _cleaned(value: Any, at: strict_json.Path, removed: list[strict_json.Path]) -> Any:
    """`value` with texts that can be shown. Raises `_Refused` for half characters and for keys that cannot be shown."""
    if isinstance(value, str):
        if _SURROGATE.search(value):
            raise _Refused(at, _("The text holds half a character."))
        value = value.replace("\r\n", "\n")
        clean = _UNSHOWN.sub("", value)
        if clean != value:
            removed.append(at)
        return clean
    if isinstance(value, list):
        return [_cleaned(one, (*at, place), removed) for place, one in enumerate(value)]
    if isinstance(value, dict):
        for key in value:
            if _UNSHOWN.search(key) or _SURROGATE.search(key):
                raise _Refused((*at, key), _("A key holds a character that cannot be shown."))
        return {key: _cleaned(one, (*at, key), removed) for key, one in value.items()}
    return value


def _carried(listed: Any) -> tuple[Unknown, ...]:
    """The keys that the envelope lists as carried along. Raises `_Refused` where the list is not one."""
    if listed is None:
        return ()
    at: strict_json.Path = ("unknown",)
    if not isinstance(listed, list) or len(listed) > MAX_UNKNOWN:
        raise _Refused(at, _("A list of at most {limit} keys is expected here.").format(limit=MAX_UNKNOWN))
    carried: list[Unknown] = []
    for place, item in enumerate(listed):
        path = item.get("path") if isinstance(item, dict) else None
        if (
            not isinstance(path, list)
            or not path
            or not isinstance(path[-1], str)
            or any(isinstance(step, bool) or not isinstance(step, str | int) for step in path)
            or not isinstance(item.get("record"), str)
            or "value" not in item
        ):
            raise _Refused((*at, place), _("Each unknown key needs “path”, “record” and “value”."))
        carried.append(Unknown(tuple(path), item["record"], item["value"]))
    return tuple(carried)


def _first(error: ValidationError, content: Any) -> tuple[strict_json.Path, str]:
    """Where the first thing wrong stands in the content, and what it is, in words."""
    # A value that fits no member of a union is reported once for each; what is not a list of words says most.
    details = error.errors(include_url=False, include_input=False)[:20]
    at = _path_in(content, details[0]["loc"])
    same = [detail for detail in details if _path_in(content, detail["loc"]) == at]
    detail = next((d for d in same if d["type"] != "literal_error"), same[0])
    place: strict_json.Path = (*at, detail["loc"][-1]) if detail["type"] == "missing" else at
    shown = written(place[1:] if place[:1] == ("plan",) else place)
    words = _words(detail)
    return at, f"{shown}: {words}" if shown else words


def _words(detail: Any) -> str:
    rules = {
        "same_id": _("Two workloads have the same id."),
        "same_letter": _("Two scenarios have the same letter."),
        "no_such_day": _("There is no such day in the calendar."),
        "unknown_baseline": _("The baseline {letter} is not a scenario of the plan."),
        "unknown_workload": _("Scenario {letter} runs “{workload}”, which is not a workload of the plan."),
        "union_tag_invalid": _("One of these words is expected: {expected_tags}"),
        "union_tag_not_found": _("The key “kind” is missing."),
        "not_a_measured_row": _("A measured row holds short text, finite numbers, yes or no, and few of them."),
        "too_long": _("More than {max_length} entries are not read here."),
    }
    if detail["type"] in rules:
        return rules[detail["type"]].format(**detail.get("ctx", {}))
    return sentence(detail)


def _path_in(content: Any, loc: tuple[int | str, ...]) -> strict_json.Path:
    """The place in the content that an error location names.

    Locations also hold the names of union members; these lead nowhere.
    """
    path: list[str | int] = []
    node = content
    # "users" is both a kind of load and a figure of it: the first mention names the kind.
    kind_named = False
    for number, step in enumerate(loc):
        if isinstance(node, dict) and step in node:
            if step == node.get("kind") and not kind_named and number < len(loc) - 1:
                kind_named = True
                continue
        elif not (isinstance(node, list) and isinstance(step, int) and step < len(node)):
            continue
        path.append(step)
        node = node[step]
        kind_named = False
    return tuple(path)


def _place_of(line: int | None) -> str:
    return "" if line is None else _("line {line}").format(line=line)


def _note_on_removed(removed: list[strict_json.Path]) -> str:
    places = ", ".join(written(path) for path in removed[:3])
    return ngettext(
        "Characters that cannot be shown were removed from {count} text ({places}).",
        "Characters that cannot be shown were removed from {count} texts ({places}).",
        len(removed),
    ).format(count=len(removed), places=places)


def _note_on_unknown(unknown: tuple[Unknown, ...]) -> str:
    places = ", ".join(item.place for item in unknown[:3])
    return ngettext(
        "A newer version of GPU Planner wrote {count} key that this one does not know ({places}); saving keeps it.",
        "A newer version of GPU Planner wrote {count} keys that this one does not know ({places}); saving keeps them.",
        len(unknown),
    ).format(count=len(unknown), places=places)


# --- writing -------------------------------------------------------------------


def _content(plan: Plan, seen: Seen | None, unknown: tuple[Unknown, ...]) -> tuple[dict[str, Any], tuple[Unknown, ...]]:
    body = plan.model_dump(mode="json", exclude={"entries"})
    # In catalog records None always means "not known" and is what an absent key means too.
    entries = plan.entries.model_dump(mode="json", exclude_none=True)
    ordered = {name: entries if name == "entries" else body[name] for name in Plan.model_fields}
    content: dict[str, Any] = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "written_by": WrittenBy(
            program=PROGRAM,
            model_version=seen.model_version if seen else "",
            calibration_id=seen.calibration_id if seen else "",
        ).model_dump(),
        "plan": ordered,
        "seen": seen.model_dump(mode="json") if seen else None,
    }
    content, gone = put_back(content, unknown)
    kept = [item for item in unknown if item not in gone]
    content["unknown"] = [{"path": list(item.path), "record": item.record, "value": item.value} for item in kept]
    return content, gone


def _laid_out(value: Any, indent: int = 0, room: int = LINE_WIDTH) -> str:
    """JSON in which whatever fits on one line stands on one line."""
    line = json.dumps(value, ensure_ascii=False, allow_nan=False)
    if len(line) <= room - indent or not isinstance(value, dict | list) or not value:
        return line
    inner = " " * (indent + 1)
    if isinstance(value, dict):
        rows = []
        for key, one in value.items():
            name = json.dumps(key, ensure_ascii=False)
            rows.append(f"{inner}{name}: {_laid_out(one, indent + 1, room - len(name) - 2)}")
        return "{\n" + ",\n".join(rows) + "\n" + " " * indent + "}"
    return "[\n" + ",\n".join(f"{inner}{_laid_out(one, indent + 1, room)}" for one in value) + "\n" + " " * indent + "]"
