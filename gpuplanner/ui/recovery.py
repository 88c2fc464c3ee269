"""Keeps a recovery copy of the open plan while it is not saved, and offers what earlier windows left behind."""

from pathlib import Path

from PySide6.QtCore import QLockFile, QObject, QTimer, Signal

from gpuplanner.i18n import _
from gpuplanner.model.plan import Plan
from gpuplanner.storage import recovery
from gpuplanner.storage.plan_file import PlanFileError
from gpuplanner.storage.recovery import Copy
from gpuplanner.ui.background import Background
from gpuplanner.ui.document import Fingerprint, PlanDocument

# So much work may be lost where the machine loses power.
INTERVAL_MS = 30_000


class Recovery(QObject):
    """The recovery copy of one window. ``failed`` says once why a copy could not be written."""

    failed = Signal(str)

    def __init__(self, document: PlanDocument, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._document = document
        self._name = recovery.new_name()
        self._copied: Plan | None = None
        self._complained = False
        self._locks: dict[str, QLockFile] = {}
        self._timer = QTimer(self, singleShot=True, interval=INTERVAL_MS)
        self._timer.timeout.connect(self._due)
        self._work = Background(self)
        self._work.ready.connect(self._written)
        document.plan_changed.connect(self._changed)
        document.file_changed.connect(self._changed)

    def now(self) -> str | None:
        """Write the copy before going on: at a crash. Returns the sentence why it was not written."""
        self._timer.stop()
        self._work.finish()
        if not self._document.dirty:
            return None
        self._lock(self._name)
        self._copied = self._document.plan
        said = _Writing(self._name, self._document)()
        self._written(said)
        return said

    def finish(self) -> None:
        """The plan is saved, or the user has let it go: its copy goes too."""
        self._forget()
        for lock in self._locks.values():
            lock.unlock()
        self._locks.clear()

    # --- what earlier windows left ------------------------------------------------

    def left_behind(self) -> tuple[Copy, ...]:
        """Copies whose window is gone, newest first. They are this window's to offer until it closes."""
        return tuple(copy for copy in recovery.copies() if copy.name != self._name and self._lock(copy.name))

    def restore(self, copy: Copy) -> str | None:
        """Go on with the plan of a copy, not saved yet, under the file it came from.

        Returns the sentence why not; the copy then stays. It also stays until this window has a copy of its own.
        """
        try:
            opened = recovery.read(copy.name)
        except PlanFileError as error:
            return str(error)
        file = copy.head.file
        path = Path(file.path) if file is not None else None
        state = Fingerprint(file.size, file.modified_ns, file.digest) if file is not None and file.digest else None
        self._document.recover(opened.plan, path, state, opened.seen, opened.unknown)
        said = self.now()
        return said if said is not None else self.discard(copy)

    def discard(self, copy: Copy) -> str | None:
        """Remove a copy for good. Returns the sentence why it is still there."""
        try:
            recovery.remove(copy.name)
        except OSError as error:
            return _("The recovery copy cannot be removed: {reason}.").format(reason=error.strerror or error)
        lock = self._locks.pop(copy.name, None)
        if lock is not None:
            lock.unlock()
        return None

    # --- the copy of this window ----------------------------------------------------

    def _changed(self, _plan: object = None) -> None:
        if not self._document.dirty:
            self._forget()
        elif not self._timer.isActive() and self._document.plan is not self._copied:
            self._timer.start()

    def _due(self) -> None:
        if self._document.dirty:
            self._lock(self._name)
            self._copied = self._document.plan
            self._work.start(_Writing(self._name, self._document))

    def _written(self, said: object) -> None:
        if said is None:
            self._complained = False
            return
        self._copied = None
        self._timer.start()
        if not self._complained:
            self._complained = True
            self.failed.emit(str(said))

    def _forget(self) -> None:
        self._timer.stop()
        self._work.finish()
        if self._name in self._locks:
            self._copied = None
            try:
                recovery.remove(self._name)
            except OSError:
                # It is offered at the next start, where it can be deleted.
                return
            self._locks.pop(self._name).unlock()

    def _lock(self, name: str) -> bool:
        """Hold a copy as this window's; False while another window that lives holds it."""
        if name in self._locks:
            return True
        folder = recovery.folder()
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError:
            return True
        lock = QLockFile(str(folder / f"{name}.lock"))
        # A lock is only given up with its program, however long that runs.
        lock.setStaleLockTime(0)
        if lock.tryLock(0):
            self._locks[name] = lock
            return True
        return lock.error() != QLockFile.LockError.LockFailedError


class _Writing:
    """The work of one copy: it takes what the document holds now, and touches no widget when it runs."""

    def __init__(self, name: str, document: PlanDocument) -> None:
        self._name, self._plan, self._seen, self._unknown = name, document.plan, document.seen, document.unknown
        self._title, self._changes = document.title, document.steps_since_save
        state = document.fingerprint
        self._file = (
            recovery.FileState(path=str(document.path.absolute()), **(state._asdict() if state is not None else {}))
            if document.path is not None
            else None
        )

    def __call__(self) -> str | None:
        try:
            recovery.write(
                self._name, self._plan, self._seen, self._unknown,
                title=self._title, file=self._file, changes=self._changes,
            )  # fmt: skip
        except OSError as error:
            return _("No recovery copy could be written: {reason} Save the plan.").format(
                reason=error.strerror or str(error)
            )
        return None
