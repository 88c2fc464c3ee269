import threading

import pytest

from gpuplanner.model.results import Headline, Results
from gpuplanner.ui import evaluation as evaluation_module
from gpuplanner.ui.evaluation import Evaluation

SERVERS = ("scenarios", 0, "groups", 0, "servers")


def results_of(plan, catalog):
    """Results that carry the number of servers as their calibration."""
    servers = plan.scenarios[0].groups[0].servers
    return Results((), (), Headline(""), (), None, "USD", "1", str(servers))


def test_quick_work_is_done_before_the_next_key(document):
    evaluation = Evaluation(document, results_of)
    document.set_value(SERVERS, 7, "Servers")
    assert evaluation.results.calibration_id == "7"
    assert evaluation.plan is document.plan


def test_undo_evaluates_like_typing(document):
    evaluation = Evaluation(document, results_of)
    document.set_value(SERVERS, 7, "Servers")
    document.undo()
    assert evaluation.results.calibration_id == "1"


@pytest.fixture
def slow(document, monkeypatch):
    """An evaluation that has turned out slow and whose next jobs wait at a gate."""
    monkeypatch.setattr(evaluation_module, "QUICK_S", 0.0)
    gate, threads = threading.Event(), []

    def evaluate(plan, catalog):
        threads.append(threading.current_thread())
        if threading.current_thread() is not threading.main_thread():
            gate.wait(5)
        return results_of(plan, catalog)

    made = Evaluation(document, evaluate)
    made.gate, made.threads = gate, threads
    # The first evaluation reads the catalog and does not count; the second one does.
    document.set_value(SERVERS, 2, "Servers")
    yield made
    gate.set()
    made.finish()


def test_slow_work_leaves_the_main_thread(slow, document, qtbot):
    document.set_value(SERVERS, 3, "Servers")
    assert slow.results.calibration_id == "2"
    with qtbot.waitSignal(slow.results_changed):
        slow.gate.set()
    assert slow.results.calibration_id == "3"
    assert slow.threads[-1] is not threading.main_thread()


def test_results_of_an_earlier_plan_are_dropped(slow, document, qtbot):
    heard = []
    slow.results_changed.connect(lambda results: heard.append(results.calibration_id))
    for servers in (3, 4, 5):
        document.set_value(SERVERS, servers, "Servers")
    with qtbot.waitSignal(slow.results_changed):
        slow.gate.set()
    assert heard == ["5"]
    assert slow.plan is document.plan


def test_old_figures_are_called_old_after_a_while(slow, document, qtbot):
    with qtbot.waitSignal(slow.stale_changed) as grown_old:
        document.set_value(SERVERS, 3, "Servers")
    assert grown_old.args == [True]
    with qtbot.waitSignal(slow.stale_changed) as current:
        slow.gate.set()
    assert current.args == [False]
