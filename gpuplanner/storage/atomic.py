"""Write a file completely or not at all."""

import errno
import os
import secrets
import stat
from contextlib import suppress
from pathlib import Path

from gpuplanner.i18n import _


def write_text(path: str | Path, text: str) -> None:
    """Make `text`, as UTF-8, the content of the file at `path`; see `write_bytes`.

    Half a surrogate pair, which UTF-8 cannot hold, becomes a question mark.
    """
    write_bytes(path, text.encode("utf-8", errors="replace"))


def write_bytes(path: str | Path, data: bytes) -> None:
    """Make `data` the content of the file at `path`, so that a failure at any moment leaves the old content.

    The data go to a temporary file beside the target, reach the disk, and take the target's place in one step. A
    link is followed: the file it names is replaced, the link stays. The target keeps its permission bits.

    Raises `OSError` whose ``strerror`` is a sentence for the user. The temporary file is then gone.
    """
    target = Path(os.path.realpath(path))
    try:
        mode = _mode_of(target)
        # Short and unrelated to the target's name, so that a name at the length limit of the disk can be saved too.
        temporary = target.parent / f".{secrets.token_hex(8)}.tmp"
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666)
    except OSError as error:
        raise _explained(error, target) from error
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if mode is not None:
            os.chmod(temporary, mode)
        os.replace(temporary, target)
    except BaseException as error:
        with suppress(OSError):
            os.unlink(temporary)
        if isinstance(error, OSError):
            raise _explained(error, target, replacing=True) from error
        raise
    _sync_folder(target.parent)


def _mode_of(target: Path) -> int | None:
    """The permission bits of the target, None where it does not exist yet. Refuses what must not be replaced."""
    try:
        found = os.stat(target)
    except FileNotFoundError:
        return None
    if stat.S_ISDIR(found.st_mode):
        raise IsADirectoryError(errno.EISDIR, "is a folder")
    if not stat.S_ISREG(found.st_mode):
        raise OSError(errno.EINVAL, "is a device")
    if not os.access(target, os.W_OK):
        raise PermissionError(errno.EPERM, "is read-only")
    return stat.S_IMODE(found.st_mode)


def _sync_folder(folder: Path) -> None:
    """Bring the new name to the disk.

    Windows, and some network disks, have no such call: there the replacement stands as it is.
    """
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _explained(error: OSError, target: Path, replacing: bool = False) -> OSError:
    """The same error with a sentence that says what to do."""
    names = {"file": target.name, "folder": str(target.parent)}
    if error.errno == errno.EISDIR:
        sentence = _("“{file}” is a folder. Choose a file name.")
    elif error.errno == errno.EINVAL:
        sentence = _("“{file}” cannot be a file. Choose another name.")
    elif replacing and error.errno in (errno.EACCES, errno.EPERM):
        # Windows refuses to replace a file that is open elsewhere.
        sentence = _("“{file}” is open in another program. Close it there, or save under another name.")
    elif error.errno == errno.EPERM and target.exists():
        sentence = _("“{file}” is read-only. Save under another name.")
    elif error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        sentence = _("Files cannot be written in the folder “{folder}”. Save in another folder.")
    elif error.errno in (errno.ENOENT, errno.ENOTDIR):
        sentence = _("There is no folder “{folder}”.")
    elif error.errno in (errno.ENOSPC, errno.EDQUOT if hasattr(errno, "EDQUOT") else errno.ENOSPC):
        sentence = _("The disk is full. “{file}” is unchanged.")
    elif error.errno == errno.ENAMETOOLONG:
        sentence = _("The name “{file}” is too long for this disk.")
    else:
        reason = error.strerror or type(error).__name__
        return OSError(
            error.errno or errno.EIO, _("“{file}” was not written: {reason}.").format(reason=reason, **names)
        )
    return OSError(error.errno, sentence.format(**names))
