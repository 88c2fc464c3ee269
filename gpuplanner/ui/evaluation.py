"""When the plan is evaluated anew: at once where quick, on a worker where not; stale results are dropped."""

from collections.abc import Callable
from time import perf_counter
from typing import Any

from PySide6.QtCore import QObject, QRunnable, QThreadPool, QTimer, Signal

from gpuplanner.model import comparison
from gpuplanner.model.plan import Plan
from gpuplanner.model.results import Results
from gpuplanner.ui.document import PlanDocument

# Work under this does not deserve a thread. [s]
QUICK_S = 0.030
# Old figures are shown as old after this. [ms]
STALE_AFTER_MS = 100

Evaluate = Callable[[Plan, Any], Results]


class _Answer(QObject):
    """Carries a worker's results to the main thread."""

    ready = Signal(int, object, float)


class _Job(QRunnable):
    def __init__(self, evaluate: Evaluate, plan: Plan, catalog: Any, generation: int, answer: _Answer) -> None:
        super().__init__()
        self._work = evaluate, plan, catalog
        self._generation, self._answer = generation, answer

    def run(self) -> None:
        evaluate, plan, catalog = self._work
        start = perf_counter()
        results = evaluate(plan, catalog)
        self._answer.ready.emit(self._generation, results, perf_counter() - start)


class Evaluation(QObject):
    """Holds the results of the document's plan and says when there are new ones."""

    results_changed = Signal(object)
    # True while the results shown are those of an earlier plan.
    stale_changed = Signal(bool)

    def __init__(self, document: PlanDocument, evaluate: Evaluate | None = None, parent: QObject | None = None) -> None:
        super().__init__(parent)
        if evaluate is None:
            from gpuplanner.model.evaluate import evaluate as of_model

            evaluate = of_model
        self._rows: tuple[Plan, Results, str, tuple[comparison.Row, ...]] | None = None
        self._document = document
        self._evaluate: Evaluate = evaluate
        self._generation = 0
        self._measured = False
        self._quick = True
        self._stale = False
        self.results: Results | None = None
        # The plan that `results` belong to.
        self.plan: Plan | None = None
        self.seconds = 0.0
        self._answer = _Answer(self)
        self._answer.ready.connect(self._arrived)
        self._pool = QThreadPool(self)
        self._pool.setMaxThreadCount(1)
        self._old = QTimer(self, singleShot=True, interval=STALE_AFTER_MS)
        self._old.timeout.connect(self._grown_old)
        document.plan_changed.connect(self._plan_changed)
        self._plan_changed(document.plan)

    def rows(self, plan: Plan, results: Results, workload: str) -> tuple[comparison.Row, ...]:
        """The rows of the comparison; what was asked for last is remembered, as several views show it."""
        last = self._rows
        if last is None or last[0] is not plan or last[1] is not results or last[2] != workload:
            last = self._rows = plan, results, workload, comparison.rows(plan, results, workload)
        return last[3]

    def refresh(self) -> None:
        """Evaluate again, because the catalog has changed."""
        self._plan_changed(self._document.plan)

    def finish(self) -> None:
        """Wait for a worker; for closing the window and for tests."""
        self._old.stop()
        self._pool.waitForDone()

    def _plan_changed(self, plan: Plan) -> None:
        self._generation += 1
        if self._quick:
            start = perf_counter()
            results = self._evaluate(plan, self._document.catalog)
            self._show(plan, results, perf_counter() - start)
        else:
            self._old.start()
            # A job that has not begun is of no use any more.
            self._pool.clear()
            self._waiting = plan
            self._pool.start(_Job(self._evaluate, plan, self._document.catalog, self._generation, self._answer))

    def _arrived(self, generation: int, results: Results, seconds: float) -> None:
        if generation == self._generation:
            self._show(self._waiting, results, seconds)

    def _show(self, plan: Plan, results: Results, seconds: float) -> None:
        self._old.stop()
        # The first evaluation reads the catalog and says nothing about the next one.
        self._quick = seconds < QUICK_S or not self._measured
        self._measured = True
        self.plan, self.results, self.seconds = plan, results, seconds
        self._set_stale(False)
        self.results_changed.emit(results)

    def _grown_old(self) -> None:
        self._set_stale(True)

    def _set_stale(self, stale: bool) -> None:
        if stale != self._stale:
            self._stale = stale
            self.stale_changed.emit(stale)
