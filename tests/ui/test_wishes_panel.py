import pytest
from PySide6.QtCore import Qt

from gpuplanner.model.plan import Wishes
from gpuplanner.ui.panels.wishes import WishesPanel


@pytest.fixture
def panel(qtbot, document, evaluation, theme):
    made = WishesPanel(document, evaluation, theme)
    qtbot.addWidget(made)
    made.resize(1200, 200)
    made.show()
    return made


def test_every_wish_but_the_budget_has_a_place(panel):
    elsewhere = {"budget", "budget_covers"}
    assert set(Wishes.model_fields) - elsewhere == {*panel.fields, "may_use", "owned"}


def test_a_condition_is_allowed_or_not_as_one_step(panel):
    panel.may_use["used"].click()
    assert panel._document.plan.wishes.may_use == ("new", "owned", "rented")
    panel._document.undo()
    assert panel.may_use["used"].isChecked()


def test_vendors_are_typed_with_commas_of_either_kind(panel, qtbot):
    panel.fields["vendors"].setFocus()
    qtbot.keyClicks(panel.fields["vendors"], "Dell, Inspur")
    assert panel._document.plan.wishes.vendors == ("Dell", "Inspur")
    panel.fields["vendors"].setText("")
    assert panel.fields["vendors"].read("浪潮，华为") == ("浪潮", "华为")


def test_owned_cards_are_added_changed_and_removed(panel, qtbot):
    panel.add.click()
    (owned,) = panel._document.plan.wishes.owned
    assert (owned.gpu, owned.count) == ("H100 SXM 80GB", 8)
    panel.owned[0].count.setFocus()
    panel.owned[0].count.selectAll()
    qtbot.keyClicks(panel.owned[0].count, "16")
    assert panel._document.plan.wishes.owned[0].count == 16
    qtbot.mouseClick(panel.owned[0].remove, Qt.MouseButton.LeftButton)
    assert panel._document.plan.wishes.owned == ()
    assert panel.owned == []


def test_notes_of_plan_and_scenario_are_kept_line_by_line(panel, qtbot):
    qtbot.keyClicks(panel.notes, "for")
    qtbot.keyClick(panel.notes, Qt.Key.Key_Return)
    qtbot.keyClicks(panel.notes, "the board")
    assert panel._document.plan.notes == "for\nthe board"
    qtbot.keyClicks(panel.scenario_notes, "cheap")
    assert panel._document.selected_scenario.notes == "cheap"
    panel._document.undo()
    assert panel.scenario_notes.toPlainText() == ""
