"""What helps to find a fault: a rotating log in the data folder, and a report that the user may copy. Nothing is sent.

Neither holds file names, texts of a plan or anything else of the user's: of an error only its kind and the places in
the program are kept, never its message, which may quote what was typed.
"""

import logging
import platform
import sys
import traceback
from importlib.metadata import PackageNotFoundError, version
from logging.handlers import RotatingFileHandler
from pathlib import Path

from gpuplanner import __version__, paths

LOG = "gpuplanner.log"
LOG_BYTES = 200_000
LOGS_KEPT = 3
_PARTS = ("PySide6-Essentials", "pyqtgraph", "numpy", "pydantic", "Babel")
_FRAMES = 60

_log = logging.getLogger("gpuplanner.diagnostics")


def open_log() -> logging.Handler | None:
    """Begin to log; None where the data folder cannot be written, which stops nothing else."""
    folder = paths.user_data() / "log"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        handler = RotatingFileHandler(
            folder / LOG, maxBytes=LOG_BYTES, backupCount=LOGS_KEPT, encoding="utf-8", delay=True
        )
    except OSError:
        return None
    handler.setFormatter(logging.Formatter("%(asctime)s %(message)s"))
    # A full disk must not add an error of its own.
    handler.handleError = lambda record: None  # type: ignore[method-assign]
    _log.addHandler(handler)
    _log.setLevel(logging.INFO)
    _log.propagate = False
    _log.info("start %s", "; ".join(surroundings()))
    return handler


def close_log(handler: logging.Handler | None) -> None:
    """End the log that `open_log` began."""
    if handler is not None:
        _log.removeHandler(handler)
        handler.close()


def record(error: BaseException) -> None:
    """Log an error: its kind and places."""
    _log.error("error %s", " < ".join(places(error)))


def surroundings() -> list[str]:
    """The versions that matter, one a line."""
    lines = [
        f"GPU Planner {__version__}",
        f"Python {platform.python_version()}",
        f"{platform.system()} {platform.release()} {platform.machine()}",
    ]
    for name in _PARTS:
        try:
            lines.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            lines.append(f"{name} ?")
    return lines


def places(error: BaseException) -> list[str]:
    """The kinds of an error and of its causes, and where in the program they arose, the innermost first."""
    lines: list[str] = []
    seen: set[int] = set()
    current: BaseException | None = error
    while current is not None and id(current) not in seen and len(lines) < _FRAMES:
        seen.add(id(current))
        lines.append(type(current).__name__)
        frames = traceback.extract_tb(current.__traceback__)
        lines += [f"{_module(frame.filename)}:{frame.lineno} {frame.name}" for frame in reversed(frames)]
        current = current.__cause__ or (None if current.__suppress_context__ else current.__context__)
    return lines[:_FRAMES]


def report(error: BaseException | None = None) -> str:
    """The text that a user may copy: versions, and the places of an error or of the last ones logged."""
    lines = surroundings()
    if error is not None:
        lines += ["", *places(error)]
    else:
        lines += ["", *_last_logged()]
    return "\n".join(lines) + "\n"


def _last_logged(count: int = 40) -> list[str]:
    try:
        text = (paths.user_data() / "log" / LOG).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return []
    return text.splitlines()[-count:]


def _module(filename: str) -> str:
    """A file of the program by its place in it; of any other only its name, which says nothing about the user."""
    path = Path(filename)
    root = Path(sys.modules["gpuplanner"].__file__ or "").parent
    return path.relative_to(root.parent).as_posix() if path.is_relative_to(root) else path.name
