import pytest
from PySide6.QtCore import QCoreApplication, Qt

from gpuplanner import app
from gpuplanner.model.edit import replace
from gpuplanner.storage import plan_file
from gpuplanner.storage.settings import Settings
from gpuplanner.ui.dialogs.compare_plans import ComparePlansDialog

SERVERS = ("scenarios", 0, "groups", 0, "servers")


class Answers:
    def __init__(self, answer):
        self.answer = answer

    def overwrite_changed(self, name):
        return self.answer

    def file_to_open(self, folder):
        return self.answer


@pytest.fixture
def window(qtbot, catalog, plan, tmp_path):
    made = app.build(catalog, Settings(), "light", tmp_path / "settings")
    made.document.new(plan)
    made.show_plan_or_welcome(True)
    made.show()
    yield made
    made.document.undo_stack.setClean()
    made.close()
    made.deleteLater()
    QCoreApplication.processEvents()


@pytest.fixture
def other(window, tmp_path):
    """A file of a colleague who changed two inputs."""
    path = tmp_path / "theirs.gpuplan"
    plan_file.write(path, replace(replace(window.document.plan, SERVERS, 4), ("name",), "Theirs"))
    return path


def dialog_of(window):
    (found,) = [each for each in window.findChildren(ComparePlansDialog) if each.isVisible()]
    return found


def rows(table):
    return [
        [table.item(row, column).text() for column in range(table.columnCount())] for row in range(table.rowCount())
    ]


def test_inputs_that_differ_and_figures_of_both_are_shown(window, other):
    window.ask = Answers(other)
    window.compare_asking()
    dialog = dialog_of(window)
    assert rows(dialog.inputs) == [
        ["name", "Staff assistant", "Theirs"],
        ["Scenario A, group 1, servers", "1", "4"],
    ]
    assert ["Scenario A", "Purchase"] in [row[:2] for row in rows(dialog.figures)]


def test_taking_one_input_over_is_one_undo_step(window, other, qtbot):
    before = window.document.plan
    window.compare_with(other)
    dialog = dialog_of(window)
    dialog.inputs.selectRow(1)
    qtbot.mouseClick(dialog.take_button, Qt.MouseButton.LeftButton)
    assert window.document.plan == replace(before, SERVERS, 4)
    assert [row[0] for row in rows(dialog.inputs)] == ["name"]
    window.document.undo()
    assert window.document.plan == before
    assert len(rows(dialog.inputs)) == 2


def test_a_file_that_is_no_plan_is_refused(window, tmp_path):
    window.compare_with(tmp_path / "none.gpuplan")
    assert "none.gpuplan" in window.message.sentence
    assert not window.findChildren(ComparePlansDialog)


@pytest.fixture
def conflict(window, tmp_path):
    """The open plan and its file were both changed."""
    path = tmp_path / "shared.gpuplan"
    window.document.save(path)
    plan_file.write(path, replace(window.document.plan, SERVERS, 4))
    window.document.set_value(SERVERS, 2, "Servers")
    return path


def test_their_version_is_taken_as_one_step_that_undo_takes_back(window, conflict):
    theirs = conflict.read_bytes()
    window.ask = Answers("theirs")
    assert window.save()
    assert window.document.plan.scenarios[0].groups[0].servers == 4
    assert not window.document.dirty
    assert conflict.read_bytes() == theirs
    window.document.undo()
    assert window.document.plan.scenarios[0].groups[0].servers == 2
    assert window.document.dirty


def test_what_differs_is_shown_and_nothing_is_saved(window, conflict):
    theirs = conflict.read_bytes()
    window.ask = Answers("compare")
    assert not window.save()
    assert rows(dialog_of(window).inputs) == [["Scenario A, group 1, servers", "2", "4"]]
    assert conflict.read_bytes() == theirs
