"""Recovery copies: what a window held that was not saved yet, kept in the data folder, never over the user's file.

Each window has one copy under a name of its own. A copy is one line of JSON that says what it is, and after it the
text of a plan file, so that one atomic write replaces both.
"""

import re
import secrets
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from gpuplanner import paths
from gpuplanner.i18n import _
from gpuplanner.model.plan import Plan
from gpuplanner.storage import atomic, plan_file
from gpuplanner.storage.plan_file import Opened, PlanFileError
from gpuplanner.storage.seen import Seen
from gpuplanner.storage.unknown_keys import Unknown

FORMAT = "gpuplanner-recovery"
SUFFIX = ".recovery"
# A window without a living program behind it leaves one copy; more than this many are not a list that anybody reads.
MAX_LISTED = 50
_HEAD_BYTES = 20_000
_NAME = re.compile(r"[0-9a-f]{32}")


class FileState(BaseModel):
    """The file that a plan was read from or written to, as it then was. Sizes in bytes, times in ns."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    path: Annotated[str, Field(max_length=4096)]
    size: Annotated[int, Field(ge=0)] = 0
    modified_ns: int = 0
    digest: Annotated[str, Field(max_length=64)] = ""


class Head(BaseModel):
    """What a copy says of itself. ``changes`` counts the steps since the last save; ``saved_at`` is UTC."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    format: Annotated[str, Field(pattern=f"^{FORMAT}$")] = FORMAT
    title: Annotated[str, Field(max_length=400)] = ""
    file: FileState | None = None
    saved_at: datetime
    changes: Annotated[int, Field(ge=0, le=1_000_000)] = 0


class Copy(NamedTuple):
    """A recovery copy: the name of the window that left it, and what it says of itself."""

    name: str
    head: Head


def folder() -> Path:
    """Where recovery copies are kept. Not created here."""
    return paths.user_data() / "recovery"


def new_name() -> str:
    """A name for the copies of one window."""
    return secrets.token_hex(16)


def write(
    name: str,
    plan: Plan,
    seen: Seen | None = None,
    unknown: Iterable[Unknown] = (),
    *,
    title: str = "",
    file: FileState | None = None,
    changes: int = 0,
) -> None:
    """Make `plan` the recovery copy of the window called `name`, atomically; a copy that was there is replaced.

    Raises `OSError` with a sentence as ``strerror``; the copy that was there is then whole.
    """
    head = Head(title=title[:400], file=file, saved_at=datetime.now(UTC), changes=changes)
    target = _path(name)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        sentence = _("The folder for recovery copies cannot be made: {reason}.").format(reason=reason)
        raise OSError(error.errno, sentence) from error
    atomic.write_text(target, head.model_dump_json() + "\n" + plan_file.dump(plan, seen, unknown))


def remove(name: str) -> None:
    """Remove a window's copy; none being there is fine. Raises `OSError` where it cannot be removed."""
    _path(name).unlink(missing_ok=True)


def copies() -> tuple[Copy, ...]:
    """The copies in the data folder, newest first. What is no copy is passed over and stays where it is."""
    found = []
    try:
        files = sorted(folder().glob(f"*{SUFFIX}"))
    except OSError:
        return ()
    for path in files:
        if _NAME.fullmatch(path.stem):
            try:
                found.append(Copy(path.stem, _head(path)))
            except (OSError, ValueError):
                continue
    return tuple(sorted(found, key=lambda copy: copy.head.saved_at, reverse=True)[:MAX_LISTED])


def read(name: str) -> Opened:
    """The plan in a copy, checked like any other file. Raises `PlanFileError`."""
    path = _path(name)
    try:
        shown = _head(path).title or path.name
        with path.open("rb") as stream:
            data = stream.read(_HEAD_BYTES + plan_file.MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        raise PlanFileError(path.name, "", _("The recovery copy cannot be read.")) from error
    return plan_file.parse(data.partition(b"\n")[2], plan_file.clean_text(shown))


def _path(name: str) -> Path:
    if not _NAME.fullmatch(name):
        raise ValueError(f"{name!r} is not the name of a recovery copy")
    return folder() / f"{name}{SUFFIX}"


def _head(path: Path) -> Head:
    """What a copy says of itself. Raises `OSError`, or `ValueError` where it is no copy."""
    with path.open("rb") as stream:
        line = stream.readline(_HEAD_BYTES)
    try:
        head = Head.model_validate_json(line)
    except ValidationError as error:
        raise ValueError("not a recovery copy") from error
    if head.saved_at.tzinfo is None:
        raise ValueError("a recovery copy without a time zone")
    return head.model_copy(update={"title": plan_file.clean_text(head.title)})
