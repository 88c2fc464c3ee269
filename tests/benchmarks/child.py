"""What is measured, each in a process of its own: `python child.py NAME`. Prints one line of JSON."""

import json
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

SAMPLE = Path(__file__).resolve().parents[2] / "resources" / "samples" / "1-serve-staff-assistant.gpuplan"
SIZE = 1600, 1000
WARM_UP, KEYSTROKES = 20, 120
CONFIGURATIONS = 100_000


def memory_bytes():
    """Memory of this process that is in RAM, and None where the system does not say."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except OSError:
        return None
    return pages * os.sysconf("SC_PAGE_SIZE")


def ready(**figures):
    """Say that the window stands; the parent reads the clock at this line."""
    print(json.dumps({"memory_bytes": memory_bytes(), **figures}), flush=True)


def painted(application, widget):
    """Handle events until the window and everything in it has been painted."""
    for _round in range(3):
        application.processEvents()
    widget.repaint()
    application.processEvents()


def bare():
    """A window with one plot: what PySide6 and pyqtgraph cost before our own code."""
    import pyqtgraph
    from PySide6.QtWidgets import QApplication, QMainWindow

    application = QApplication(sys.argv[:1])
    window = QMainWindow()
    plot = pyqtgraph.PlotWidget()
    plot.plot([0, 1, 2], [0, 1, 4])
    window.setCentralWidget(plot)
    window.resize(*SIZE)
    window.show()
    painted(application, window)
    ready()


def program():
    """The program with a worked plan open, all figures shown."""
    application, window = open_window()
    painted(application, window)
    ready(scenarios=len(window.document.plan.scenarios), evaluated=window.evaluation.results is not None)


def open_window():
    """The program's window with the sample open, put together in the order in which the program does it."""
    from gpuplanner import app

    with app.starting():
        app.load_model()
        return made_window(app)


def made_window(app):
    from PySide6.QtWidgets import QApplication

    from gpuplanner import i18n
    from gpuplanner.catalog.load import load
    from gpuplanner.storage.settings import Settings

    i18n.set_language("en")
    application = QApplication(sys.argv[:1])
    folder = Path(tempfile.mkdtemp())
    window = app.build(load(folder / "catalog"), Settings(), "light", folder)
    window.resize(*SIZE)
    window.show()
    said = window.document.open(SAMPLE)
    assert said is None, said
    window.show_plan_or_welcome(True)
    return application, window


def fill(document):
    """Copies of the scenarios that there are, until the plan is full."""
    from gpuplanner.model.plan import MAX_SCENARIOS

    while len(document.plan.scenarios) < MAX_SCENARIOS:
        at = len(document.plan.scenarios) % 5
        document.add_scenario(copy_of=document.plan.scenarios[at].letter)
    document.select(document.plan.scenarios[0].letter)


def keystroke():
    """From a key in a field of one scenario to everything repainted, eight scenarios, warm.

    What waits for a quiet moment (ways out are looked for after the frame) is timed apart: `after_s`.
    """
    from PySide6.QtCore import QCoreApplication, QEvent, QObject
    from PySide6.QtTest import QTest

    from gpuplanner.ui.panels.cluster import GroupRow

    class Paints(QObject):
        count = 0

        def eventFilter(self, _watched, event):
            Paints.count += event.type() == QEvent.Type.Paint
            return False

    application, window = open_window()
    fill(window.document)
    painted(application, window)
    window.activateWindow()
    application.processEvents()
    field = window.cluster.findChildren(GroupRow)[0].servers
    field.setFocus()
    counter = Paints()
    application.installEventFilter(counter)
    times, cpus, later, paints, texts = [], [], [], [], ["1", "2", "3", "2"]
    for stroke in range(WARM_UP + KEYSTROKES):
        field.selectAll()
        idle(application)
        Paints.count = 0
        cpu = time.process_time()
        start = time.perf_counter()
        QTest.keyClick(field, texts[stroke % len(texts)])
        while window.evaluation.plan is not window.document.plan:
            # Evaluated on a worker: the figures of this keystroke are still to come.
            application.processEvents()
            assert time.perf_counter() - start < 10, "no results came"
        # Layouts and paints are posted events; timers are not.
        QCoreApplication.sendPostedEvents()
        cpu = time.process_time() - cpu
        framed, painted_then = time.perf_counter(), Paints.count
        application.processEvents()
        if stroke >= WARM_UP:
            times.append(framed - start)
            cpus.append(cpu)
            later.append(time.perf_counter() - framed)
            paints.append(painted_then)
    application.removeEventFilter(counter)
    servers = window.document.plan.scenarios[0].groups[0].servers
    whole = []
    for _round in range(7):
        idle(application)
        start = time.perf_counter()
        window.grab()
        whole.append(time.perf_counter() - start)
    times.sort()
    cpus.sort()
    ready(
        median_s=statistics.median(times),
        p95_s=times[int(len(times) * 0.95) - 1],
        worst_s=times[-1],
        cpu_p95_s=cpus[int(len(cpus) * 0.95) - 1],
        after_s=statistics.median(later),
        evaluate_s=window.evaluation.seconds,
        full_repaint_s=statistics.median(whole),
        paint_events=statistics.median(paints),
        keystrokes=len(times),
        servers=servers,
        scale=window.devicePixelRatioF(),
    )


def idle(application):
    """A short pause, as between two keys of a quick typist: what waits for a rest does not begin."""
    end = time.perf_counter() + 0.02
    while time.perf_counter() < end:
        application.processEvents()


def evaluate():
    """One evaluation of eight scenarios, warm; each after another edit, so that no answer can be remembered."""
    from gpuplanner.catalog.load import load
    from gpuplanner.model import edit
    from gpuplanner.model.evaluate import evaluate as run
    from gpuplanner.storage import plan_file

    catalog = load()
    plan = plan_file.read(SAMPLE).plan
    letters = "ABCDEFGH"
    scenarios = [plan.scenarios[at % len(plan.scenarios)] for at in range(8)]
    scenarios = tuple(
        edit.replace(scenario, ("letter",), letter) for scenario, letter in zip(scenarios, letters, strict=True)
    )
    plan = edit.replace(plan, ("scenarios",), scenarios)
    one, every = [], []
    for round_ in range(60):
        # One field of one scenario, as a keystroke changes it; and one that all scenarios depend on.
        plan = edit.replace(plan, ("scenarios", 0, "groups", 0, "servers"), 1 + round_ % 7)
        start = time.perf_counter()
        run(plan, catalog)
        one.append(time.perf_counter() - start)
        plan = edit.replace(plan, ("workloads", 0, "answer_tokens"), 300 + round_)
        start = time.perf_counter()
        run(plan, catalog)
        every.append(time.perf_counter() - start)
    ready(one_scenario_s=statistics.median(one[10:]), all_scenarios_s=statistics.median(every[10:]), scenarios=8)


def configurations():
    """100,000 configurations in chunks, one thread; processor time, so that other programs count less."""
    import configurations as many
    import numpy as np

    from gpuplanner.catalog.load import load

    catalog, figures = load(), {}
    served = many.serving_configurations(catalog, CONFIGURATIONS)
    trained = many.training_configurations(catalog, CONFIGURATIONS)
    np.seterr(all="ignore")
    for function, case, size in (
        (many.served, served, many.CHUNK),
        (many.trained, trained, many.CHUNK),
        (many.within_targets, served, many.CHUNK // many.POINTS),
    ):
        times = []
        for _round in range(3):
            start = time.process_time()
            for part in many.in_chunks(case, size):
                function(part)
            times.append(time.process_time() - start)
        figures[function.__name__] = statistics.median(times)
    ready(**figures)


def machine():
    """How fast this machine is: a fixed amount of interpreted work."""
    times = []
    for _round in range(9):
        start = time.perf_counter()
        sum(number * number for number in range(200_000))
        times.append(time.perf_counter() - start)
    ready(work_s=statistics.median(times))


if __name__ == "__main__":
    {function.__name__: function for function in (bare, program, keystroke, evaluate, configurations, machine)}[
        sys.argv[1]
    ]()
