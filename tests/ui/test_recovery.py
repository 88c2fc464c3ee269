import json
import sys

import pytest
from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QDialogButtonBox

from gpuplanner import app, paths
from gpuplanner.model.edit import replace
from gpuplanner.model.pinning import pin
from gpuplanner.storage import atomic, recovery
from gpuplanner.storage.settings import Settings
from gpuplanner.ui.dialogs.recovered import RecoveredDialog
from gpuplanner.ui.dialogs.report import ReportDialog
from gpuplanner.ui.document import PlanDocument
from gpuplanner.ui.recovery import Recovery

SERVERS = ("scenarios", 0, "groups", 0, "servers")
LEFT = "0123456789abcdef" * 2


@pytest.fixture
def kept(document, monkeypatch):
    """The recovery of a document, with a wait that a test can sit out."""
    monkeypatch.setattr("gpuplanner.ui.recovery.INTERVAL_MS", 5)
    made = Recovery(document)
    yield made
    made.finish()


def names(copies):
    return [copy.head.title for copy in copies]


def test_a_plan_that_is_not_saved_is_copied_after_the_interval(qtbot, kept, document):
    document.set_value(SERVERS, 7, "Servers")
    qtbot.waitUntil(lambda: len(recovery.copies()) == 1)
    (copy,) = recovery.copies()
    assert recovery.read(copy.name).plan == document.plan
    assert (copy.head.title, copy.head.changes, copy.head.file) == ("Staff assistant", 1, None)


def test_a_later_change_replaces_the_copy(qtbot, kept, document):
    for count in (7, 8):
        document.set_value(SERVERS, count, "Servers")
        document.end_typing()
        qtbot.waitUntil(
            lambda count=count: (
                [recovery.read(copy.name).plan.scenarios[0].groups[0].servers for copy in recovery.copies()] == [count]
            )
        )


@pytest.mark.parametrize("goes", ["save", "undo", "new", "finish"])
def test_the_copy_goes_when_there_is_nothing_left_to_lose(kept, document, plan, tmp_path, goes):
    document.set_value(SERVERS, 7, "Servers")
    assert kept.now() is None
    assert len(recovery.copies()) == 1
    {
        "save": lambda: document.save(tmp_path / "offer.gpuplan"),
        "undo": document.undo,
        "new": lambda: document.new(plan),
        "finish": kept.finish,
    }[goes]()
    assert recovery.copies() == ()


def test_nothing_is_copied_of_a_plan_that_is_saved(kept, document, tmp_path):
    document.set_value(SERVERS, 7, "Servers")
    document.save(tmp_path / "offer.gpuplan")
    assert kept.now() is None
    assert recovery.copies() == ()
    assert "7" in (tmp_path / "offer.gpuplan").read_text(encoding="utf-8")


def test_two_windows_have_a_copy_each_and_do_not_offer_the_living_one(kept, document, catalog, plan):
    other_document = PlanDocument(catalog, replace(plan, ("name",), "Other"), pin)
    other = Recovery(other_document)
    for each, recoverer in ((document, kept), (other_document, other)):
        each.set_value(SERVERS, 7, "Servers")
        recoverer.now()
    assert sorted(names(recovery.copies())) == ["Other", "Staff assistant"]
    assert kept.left_behind() == other.left_behind() == ()
    other.finish()
    other_document.close()
    assert names(recovery.copies()) == ["Staff assistant"]


def test_a_copy_of_a_program_that_is_gone_is_offered_to_one_window_only(kept, document, catalog, plan):
    recovery.write(LEFT, plan, title="Left")
    other = Recovery(document)
    assert names(kept.left_behind()) == ["Left"]
    assert other.left_behind() == ()
    assert kept.discard(recovery.copies()[0]) is None
    assert recovery.copies() == ()
    other.finish()


def test_a_disk_that_fails_is_told_once_and_tried_again(qtbot, kept, document, monkeypatch):
    told, tries = [], []
    kept.failed.connect(told.append)

    def full(path, text):
        tries.append(path)
        raise OSError(28, "The disk is full.")

    working = atomic.write_text
    monkeypatch.setattr(atomic, "write_text", full)
    document.set_value(SERVERS, 7, "Servers")
    qtbot.waitUntil(lambda: len(tries) >= 3)
    assert told == ["No recovery copy could be written: The disk is full. Save the plan."]
    assert document.plan.scenarios[0].groups[0].servers == 7
    monkeypatch.setattr(atomic, "write_text", working)
    qtbot.waitUntil(lambda: len(recovery.copies()) == 1)


# --- in the window --------------------------------------------------------------


@pytest.fixture
def window(qtbot, catalog, plan, tmp_path):
    made = app.build(catalog, Settings(), "light", tmp_path / "settings")
    made.document.new(plan)
    made.show()
    yield made
    made.document.undo_stack.setClean()
    made.close()
    made.deleteLater()
    QCoreApplication.processEvents()


def dialog_of(window, kind):
    (found,) = [each for each in window.findChildren(kind) if each.isVisible()]
    return found


def test_a_plan_left_behind_is_offered_restored_and_not_saved_over_its_file(window, document, plan, tmp_path, qtbot):
    path = tmp_path / "offer.gpuplan"
    document.save(path)
    saved = path.read_bytes()
    document.set_value(SERVERS, 7, "Servers")
    state = recovery.FileState(path=str(path), **document.fingerprint._asdict())
    recovery.write(LEFT, document.plan, title="Staff assistant", file=state, changes=3)
    document.close()
    window.offer_recovered()
    assert window.message.sentence.startswith("“Staff assistant” was not saved when GPU Planner last ended.")
    window.show_recovered()
    dialog = dialog_of(window, RecoveredDialog)
    assert [dialog.table.item(0, column).text() for column in (0, 1, 3)] == ["Staff assistant", "offer.gpuplan", "3"]
    qtbot.mouseClick(dialog.restore_button, Qt.MouseButton.LeftButton)
    assert window.document.plan == document.plan
    assert window.document.path == path
    assert window.document.dirty
    assert path.read_bytes() == saved
    # The plan is still not saved, so a copy of it is there: this window's.
    assert LEFT not in [copy.name for copy in recovery.copies()]
    assert len(recovery.copies()) == 1
    assert window.save()
    assert recovery.copies() == ()
    assert b'"servers": 7' in path.read_bytes()


def test_a_file_that_changed_after_the_crash_is_asked_about_before_it_is_replaced(window, plan, document, tmp_path):
    path = tmp_path / "offer.gpuplan"
    document.save(path)
    recovery.write(LEFT, plan, title="Offer", file=recovery.FileState(path=str(path), **document.fingerprint._asdict()))
    document.close()
    path.write_bytes(path.read_bytes() + b"\n")
    window.restore(recovery.copies()[0])
    assert window.document.changed_on_disk()


def test_a_copy_can_be_deleted_in_the_dialog(window, plan, qtbot):
    recovery.write(LEFT, plan, title="Left")
    window.show_recovered()
    dialog = dialog_of(window, RecoveredDialog)
    qtbot.mouseClick(dialog.discard_button, Qt.MouseButton.LeftButton)
    assert recovery.copies() == ()
    assert dialog.table.rowCount() == 0
    assert not dialog.restore_button.isEnabled()


def test_a_damaged_copy_is_refused_and_stays(window, plan):
    recovery.write(LEFT, plan, title="Left")
    path = recovery.folder() / f"{LEFT}.recovery"
    path.write_bytes(path.read_bytes()[:-100])
    before = window.document.plan
    assert not window.restore(recovery.copies()[0])
    assert "Left" in window.message.sentence
    assert window.document.plan is before
    assert path.exists()


def test_an_error_that_nothing_catches_keeps_the_plan_and_offers_a_report(window, qtbot, monkeypatch):
    monkeypatch.setattr(sys, "excepthook", lambda *_error: None)
    window.document.set_value(SERVERS, 7, "Servers")
    with app.watching(window):
        try:
            json.loads("Secret offer")
        except ValueError as error:
            sys.excepthook(type(error), error, error.__traceback__)
    (copy,) = recovery.copies()
    assert recovery.read(copy.name).plan == window.document.plan
    dialog = dialog_of(window, ReportDialog)
    qtbot.mouseClick(dialog.copy, Qt.MouseButton.LeftButton)
    report = QGuiApplication.clipboard().text()
    assert "JSONDecodeError" in report
    assert "Secret" not in report
    dialog.findChild(QDialogButtonBox).rejected.emit()


def test_diagnostics_can_be_copied_from_the_menu(window, qtbot):
    window.commands["diagnostics"].trigger()
    dialog = dialog_of(window, ReportDialog)
    assert "GPU Planner" in dialog.text.toPlainText()
    assert str(paths.user_data()) not in dialog.text.toPlainText()
