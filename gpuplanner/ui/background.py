"""Work that takes longer than a frame: on one worker, its result on the main thread, stale results dropped."""

from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QObject, QRunnable, QThreadPool, Signal


class _Answer(QObject):
    """Carries a worker's result to the main thread."""

    ready = Signal(int, object)


class _Job(QRunnable):
    def __init__(self, work: Callable[[], Any], generation: int, answer: _Answer) -> None:
        super().__init__()
        self._work, self._generation, self._answer = work, generation, answer

    def run(self) -> None:
        self._answer.ready.emit(self._generation, self._work())


class Background(QObject):
    """Runs one piece of work at a time; what was started before the last `start` is never heard of again."""

    ready = Signal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._generation = 0
        self.busy = False
        self._answer = _Answer(self)
        self._answer.ready.connect(self._arrived)
        self._pool = QThreadPool(self)
        self._pool.setMaxThreadCount(1)

    def start(self, work: Callable[[], Any]) -> None:
        """Begin this work, which touches no widget; `ready` brings what it returns."""
        self._generation += 1
        self.busy = True
        self._pool.clear()
        self._pool.start(_Job(work, self._generation, self._answer))

    def finish(self) -> None:
        """Wait for the worker; for closing the window and for tests."""
        self._pool.waitForDone()

    def _arrived(self, generation: int, result: object) -> None:
        if generation == self._generation:
            self.busy = False
            self.ready.emit(result)
