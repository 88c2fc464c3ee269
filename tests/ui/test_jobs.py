"""The six jobs of a buyer, end to end.

Open the example, change a number as a person would, see every figure follow, take it back, save, mail, open it
elsewhere, and read the same figures there and on the command line.
"""

import json
import math

import pytest
from PySide6.QtCore import Qt

from gpuplanner import __main__ as command_line
from gpuplanner import app, i18n, paths
from gpuplanner.catalog.load import load
from gpuplanner.model.evaluate import evaluate
from gpuplanner.model.pinning import pin
from gpuplanner.report.results_json import results_to_json
from gpuplanner.storage.samples import SAMPLES
from gpuplanner.storage.settings import Settings
from gpuplanner.ui.document import PlanDocument
from gpuplanner.ui.panels.cluster import GroupRow

# Two copies of one program must agree to the last digits; only the order of a sum may differ.
SAME = 1e-9


@pytest.fixture(scope="module")
def catalog():
    return load()


@pytest.fixture
def window(qtbot, catalog, tmp_path, monkeypatch):
    monkeypatch.setattr(paths, "user_data", lambda: tmp_path / "data")
    monkeypatch.setattr(paths, "user_config", lambda: tmp_path / "config")
    i18n.set_language("en")
    made = app.build(catalog, Settings(), "light", tmp_path / "config")
    # A test that fails must not stop at the question whether to save.
    qtbot.addWidget(made, before_close_func=lambda window: window.document.undo_stack.setClean())
    made.resize(1600, 1000)
    with qtbot.waitActive(made):
        made.show()
        made.activateWindow()
    return made


def open_example(window, number):
    window.open_sample(SAMPLES[number - 1].key)
    return window.evaluation.results


def type_over(qtbot, field, text):
    """Click into a field, replace what stands there, and press Return."""
    qtbot.mouseClick(field, Qt.MouseButton.LeftButton)
    field.setFocus()
    field.selectAll()
    qtbot.keyClicks(field, text)
    qtbot.keyClick(field, Qt.Key.Key_Return)


def group_row(window, index=0):
    return next(row for row in window.cluster.findChildren(GroupRow) if row.index == index and row.isVisibleTo(window))


def cards(window):
    """What the cards say, as a person reads them."""
    model = window.cards.view.model()
    return [model.index(row, 0).data(Qt.ItemDataRole.AccessibleTextRole) for row in range(model.rowCount())]


def current(window, qtbot):
    """The results of the plan as it stands now."""
    qtbot.waitUntil(lambda: window.evaluation.plan is window.document.plan)
    return window.evaluation.results


def differences(one, other, place=""):
    """Where two trees of figures differ by more than the last digits."""
    if isinstance(one, dict) and isinstance(other, dict):
        found = [f"{place}: keys" for _each in [0] if set(one) != set(other)]
        return found + [
            line for key in one if key in other for line in differences(one[key], other[key], f"{place}.{key}")
        ]
    if isinstance(one, list) and isinstance(other, list):
        if len(one) != len(other):
            return [f"{place}: {len(one)} against {len(other)}"]
        return [
            line
            for at, (a, b) in enumerate(zip(one, other, strict=True))
            for line in differences(a, b, f"{place}[{at}]")
        ]
    if isinstance(one, float) and isinstance(other, (int, float)):
        return [] if math.isclose(one, other, rel_tol=SAME) else [f"{place}: {one!r} against {other!r}"]
    return [] if one == other else [f"{place}: {one!r} against {other!r}"]


def serve_users(qtbot, window):
    type_over(qtbot, window.workload.pages["serve"].loads["users"][1].field, "400")


def more_servers(text):
    def change(qtbot, window):
        type_over(qtbot, group_row(window).servers, text)

    return change


def room_cooling(qtbot, window):
    show_page(qtbot, window, 1)
    type_over(qtbot, window.site.fields["cooling_w"], "5 tons")


def quoted_price(qtbot, window):
    type_over(qtbot, group_row(window).price, "$150,000")


def show_page(qtbot, window, at):
    """Click a tab of the builder."""
    tabs = window.cluster.tabs
    qtbot.mouseClick(tabs, Qt.MouseButton.LeftButton, pos=tabs.tabRect(at).center())


def of(results, letter="A"):
    return results.scenario(letter)


# By job: what a person does, and what must follow from it (before, after).
JOBS = {
    # Twice the staff ask twice as often; the same cards have less to spare.
    1: (
        serve_users,
        lambda before, after: (
            after.demands[0].requests_s == pytest.approx(2 * before.demands[0].requests_s)
            and of(after).serve[0].headroom.value < of(before).serve[0].headroom.value
        ),
    ),
    # A second box costs as much again.
    2: (
        more_servers("2"),
        lambda before, after: of(after).money.purchase.value > 1.5 * of(before).money.purchase.value,
    ),
    # Twice the servers finish the training sooner, and not in less than half the time.
    3: (
        more_servers("16"),
        lambda before, after: (
            of(before).train[1 - run_on_first_group(before)].duration_s.value / 2
            <= of(after).train[1 - run_on_first_group(after)].duration_s.value * (1 + 1e-9)
            < of(before).train[1 - run_on_first_group(before)].duration_s.value
        ),
    ),
    # Half of the old machines draw half of the power.
    4: (
        more_servers("1"),
        lambda before, after: (
            of(after).room.it_nameplate_w.value < of(before).room.it_nameplate_w.value and of(after).gpus == 8
        ),
    ),
    # Half of the cooling: the room check of every scenario can only get worse.
    5: (
        room_cooling,
        lambda before, after: (
            of(after, "D").room.limits != of(before, "D").room.limits
            and of(after, "D").room.heat_w.value <= of(before, "D").room.heat_w.value * (1 + 1e-9)
        ),
    ),
    # The quote typed for one server is the price of one server.
    6: (quoted_price, lambda before, after: line_of_servers(after) == pytest.approx(150_000)),
}


def run_on_first_group(results):
    """The place, among the training results of scenario A, of the one on its second group."""
    return next(at for at, result in enumerate(of(results).train) if result.group == 1)


def line_of_servers(results):
    """The unit price of the first line of scenario A's bill that was typed in."""
    return next(line.unit_price.value for line in of(results).money.lines if line.unit_price.basis == "input")


@pytest.mark.parametrize("number", JOBS)
def test_a_job_from_example_to_a_colleague(number, qtbot, window, catalog, tmp_path, capsys):
    change, follows = JOBS[number]
    before = open_example(window, number)
    said_before = cards(window)
    assert len(before.scenarios) == len(said_before) >= 3

    change(qtbot, window)
    after = current(window, qtbot)
    assert follows(before, after)
    assert cards(window) != said_before
    assert window.document.undo_stack.count() == 1
    assert window.document.dirty

    window.setFocus()
    qtbot.keyClick(window, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    undone = current(window, qtbot)
    assert not differences(results_to_json(window.document.plan, undone), results_to_json(window.document.plan, before))
    assert cards(window) == said_before
    assert not window.document.dirty

    qtbot.keyClick(window, Qt.Key.Key_Y, Qt.KeyboardModifier.ControlModifier)
    current(window, qtbot)
    here = results_to_json(window.document.plan, window.evaluation.results)
    file = tmp_path / "mailed.gpuplan"
    assert window.document.save(file) is None
    assert not window.document.dirty

    colleague = PlanDocument(catalog, pin=pin)
    assert colleague.open(file) is None
    there = results_to_json(colleague.plan, evaluate(colleague.plan, catalog))
    colleague.close()
    assert not differences(here, there)

    assert command_line.main(["evaluate", str(file), "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    # Through text once, as the command line's figures went.
    assert not differences(json.loads(json.dumps(here)), printed)


@pytest.mark.parametrize("number", JOBS)
def test_an_example_opens_with_a_verdict_and_nothing_to_save(number, qtbot, window):
    results = open_example(window, number)
    assert results.headline.key
    assert all(each.fits.status in ("ok", "warn", "fail") for each in results.scenarios)
    assert not window.document.dirty


def test_a_card_from_the_catalog_becomes_part_of_the_selected_scenario(qtbot, window):
    open_example(window, 1)
    panel = window.catalog
    panel.filter.setFocus()
    qtbot.keyClicks(panel.filter, "L40S")
    qtbot.keyClick(panel.filter, Qt.Key.Key_Down)
    qtbot.keyClick(panel.view, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    results = current(window, qtbot)
    assert len(results.scenarios) == 6
    assert "L40S" in cards(window)[-1]
    window.document.undo()
    assert len(current(window, qtbot).scenarios) == 5
