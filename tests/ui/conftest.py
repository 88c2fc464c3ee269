"""One platform, one language, one font and folders of its own for every test of the window."""

import gc
import os
import sys
import threading

os.environ["QT_QPA_PLATFORM"] = "offscreen"
os.environ.pop("QT_SCALE_FACTOR", None)

import pytest
from PySide6.QtCore import QCoreApplication, QEvent, QLocale, QThreadPool, QTimer
from PySide6.QtWidgets import QApplication
from shiboken6 import isValid

from gpuplanner import i18n, paths
from gpuplanner.catalog.load import load
from gpuplanner.model.pinning import pin
from gpuplanner.model.plan import Group, Plan, Run, Scenario, Serve
from gpuplanner.ui import evaluation as evaluation_module
from gpuplanner.ui import theme as theme_module
from gpuplanner.ui.document import PlanDocument
from gpuplanner.ui.evaluation import Evaluation
from gpuplanner.ui.theme import ThemeSource


def pytest_sessionfinish(session, exitstatus):
    session.config.exit_status = int(exitstatus)


@pytest.hookimpl(trylast=True)
def pytest_unconfigure(config):
    """End here, with the tests' own verdict.

    Python takes its modules down before Qt takes down the application, and what a test leaves in an exception or a
    cache then crashes the process after the last test has passed. The program itself lets go of both in `app.run`.
    """
    theme_module.forget_fonts()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(getattr(config, "exit_status", 1))


@pytest.fixture(scope="session", autouse=True)
def fixed_surroundings():
    """The same numbers, words and letters on every machine."""
    QLocale.setDefault(QLocale.c())
    before = theme_module.families
    theme_module.families = lambda code: ["DejaVu Sans", "Noto Sans CJK SC"]
    yield
    theme_module.families = before


@pytest.fixture(autouse=True)
def own_folders(tmp_path_factory, monkeypatch):
    """Nothing is read from or written to the folders of whoever runs the tests."""
    folder = tmp_path_factory.mktemp("user")
    monkeypatch.setattr(paths, "user_data", lambda: folder / "data")
    monkeypatch.setattr(paths, "user_config", lambda: folder / "config")
    monkeypatch.setattr(paths, "user_catalog", lambda: folder / "data" / "catalog")
    # How fast the machine is must not decide whether results are there at once.
    monkeypatch.setattr(evaluation_module, "QUICK_S", float("inf"))
    i18n.set_language("en")
    yield
    i18n.set_language("en")


@pytest.fixture(autouse=True)
def nothing_left_running(qapp):
    """A thread or a repeating timer that a test leaves behind fails it."""
    threads = set(threading.enumerate())
    gc.disable()
    yield
    QApplication.closeAllWindows()
    # Qt takes windows down in its own order; left to Python's collector, parts may go before what they belong to.
    for widget in QApplication.topLevelWidgets():
        widget.deleteLater()
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    assert QThreadPool.globalInstance().activeThreadCount() == 0
    # A thread of Qt's that ran Python is listed as a dummy for as long as the process lives; the pool has none active.
    left = [each for each in threading.enumerate() if each not in threads]
    assert not [each for each in left if not isinstance(each, threading._DummyThread)]
    timers = [each for each in gc.get_objects() if isinstance(each, QTimer) and isValid(each)]
    running = [each for each in timers if each.isActive() and not each.isSingleShot()]
    # PySide crashes now and then when Python collects the wrappers of a window in an order of its own: they are set
    # aside, the window itself is gone.
    del timers
    gc.freeze()
    gc.enable()
    assert not running


@pytest.fixture(scope="session")
def catalog():
    return load(None)


@pytest.fixture
def plan():
    """Two scenarios that serve a 70B model."""

    def scenario(letter, gpu):
        run = Run(workload="serve")
        return Scenario(letter=letter, groups=(Group(gpu=gpu, gpus_per_server=8, runs=(run,)),))

    return Plan(
        name="Staff assistant",
        workloads=(Serve(name="Staff assistant", llm=("Llama-3.3-70B",)),),
        scenarios=(scenario("A", "H100 SXM 80GB"), scenario("B", "A100 SXM 80GB")),
    )


@pytest.fixture
def document(qapp, catalog, plan):
    made = PlanDocument(catalog, plan, pin)
    yield made
    made.close()


@pytest.fixture
def evaluation(document):
    made = Evaluation(document)
    yield made
    made.finish()


@pytest.fixture
def theme(qapp):
    source = ThemeSource("light")
    source.apply()
    return source
