"""Headline and cards: the answer at a glance, choosing a scenario, adding by dropping."""

import pytest
from PySide6.QtCore import QModelIndex, QPoint, Qt

from gpuplanner.catalog.load import load
from gpuplanner.i18n import format
from gpuplanner.model.results import Headline
from gpuplanner.ui.document import PlanDocument
from gpuplanner.ui.evaluation import Evaluation
from gpuplanner.ui.panels.cards import CardsPanel, cards, headline_parts, headline_sentence
from gpuplanner.ui.theme import ThemeSource
from tests.ui import sample_results as sample


@pytest.fixture
def document():
    return PlanDocument(load(), sample.plan())


@pytest.fixture
def panel(qtbot, document):
    evaluation = Evaluation(document, lambda plan, catalog: sample.results())
    made = CardsPanel(document, evaluation, ThemeSource("light"))
    qtbot.addWidget(made)
    made.resize(1012, 200)
    made.show()
    return made


def card(letter):
    return next(each for each in cards(sample.plan(), sample.results()) if each.letter == letter)


def test_headline_is_one_sentence_with_the_letter_of_the_best():
    assert headline_sentence(sample.results()) == "D meets every target with 46 % to spare, for $186 k of your $200 k."


def test_headline_marks_the_letter_for_its_badge():
    text, letters = headline_parts(sample.results())
    assert list(letters.values()) == ["D", "B"]
    assert next(iter(letters)) == text[0]


def test_headline_gives_the_reason_with_its_numbers_when_none_meets():
    headline = Headline("none_meets", "C", "", {"letter": "C", "what": "misses_first_token"})
    text = headline_sentence(sample.results()._replace(headline=headline))
    assert text == "No option meets every target. Closest is C: First token 3.95 s misses 2.00 s."


def test_a_card_shows_ratio_price_run_and_verdicts():
    shown = card("C")
    assert (shown.title, shown.ratio, shown.amount) == ("16× RTX 4090", "0.78×", "$52 k")
    assert shown.subtitle == "new · FP8 · TP4 × PP2 × DP2"
    assert [mark.status for mark in shown.marks] == ["warn", "fail", "warn", "ok"]


def test_the_tip_of_a_card_gives_band_and_confidence_of_its_figures(panel):
    tip = panel.view.card_model.index(0).data(Qt.ItemDataRole.ToolTipRole)
    ratio = sample.results().scenarios[0].speed_ratio
    speed, purchase = tip.splitlines()[1:3]
    assert f"({format.band(ratio.low, ratio.high)}) · Confidence: good" in speed
    assert purchase.startswith("Purchase: ") and purchase.endswith(" k$")
    assert "Confidence" not in purchase


def test_baseline_and_best_fit_are_marked():
    assert (card("B").pill, card("D").pill, card("A").pill) == ("baseline", "best fit", "")


def test_a_card_speaks_as_a_full_sentence(panel):
    model = panel.view.card_model
    spoken = model.data(model.index(3), Qt.ItemDataRole.AccessibleTextRole)
    assert spoken == (
        "Option D, 8× H20 96GB, new · FP8 · TP4 × DP2. Speed 1.33× the baseline. $186 k. "
        "Fits: yes. Fast enough: yes. Room: yes. Budget: yes, but the band goes over."
    )


def test_a_click_selects_the_scenario(panel, document, qtbot):
    rect = panel.view.visualRect(panel.view.card_model.index(2))
    qtbot.mouseClick(panel.view.viewport(), Qt.MouseButton.LeftButton, pos=rect.center() + QPoint(0, 30))
    assert document.selected == "C"


def test_a_click_on_a_figure_explains_it(panel, qtbot):
    asked = []
    panel.explain_requested.connect(lambda *subject: asked.append(subject))
    rect = panel.view.visualRect(panel.view.card_model.index(0))
    qtbot.mouseClick(panel.view.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(rect.left() + 30, rect.top() + 62))
    qtbot.mouseClick(panel.view.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(rect.left() + 165, rect.top() + 62))
    assert asked == [("A", "speed_ratio"), ("A", "purchase")]


def test_arrow_keys_walk_the_cards(panel, document, qtbot):
    panel.view.setFocus()
    qtbot.keyClick(panel.view, Qt.Key.Key_Right)
    assert document.selected == "B"


def test_a_gpu_dropped_on_a_card_adds_a_group_and_between_cards_a_scenario(panel, document):
    panel.view.drop_entry("gpu", "L40S", "B")
    assert [group.gpu for group in document.plan.scenarios[1].groups] == ["A100 SXM 80GB", "L40S"]
    panel.view.drop_entry("gpu", "L40S", "")
    assert document.plan.scenarios[-1].groups[0].gpu == "L40S"
    document.undo()
    document.undo()
    assert document.plan == sample.plan()


def test_a_card_moves_to_a_gap_and_keeps_its_letter(panel, document):
    panel.view.move_card("A", 3)
    assert [scenario.letter for scenario in document.plan.scenarios] == ["B", "C", "A", "D", "E"]
    panel.view.move_card("E", 0)
    assert [scenario.letter for scenario in document.plan.scenarios] == ["E", "B", "C", "A", "D"]


def test_the_place_between_two_cards_is_a_gap(panel):
    view = panel.view
    first = view.visualRect(view.card_model.index(0))
    assert view.gap_at(first.right() + 2) == 1
    assert view.gap_at(first.center().x()) is None
    assert view.gap_at(0) == 0
    assert view.gap_at(5000) == 5


def test_delete_removes_the_scenario_and_undo_brings_it_back(panel, document, qtbot):
    panel.view.setFocus()
    qtbot.keyClick(panel.view, Qt.Key.Key_Right)
    qtbot.keyClick(panel.view, Qt.Key.Key_Delete)
    assert [scenario.letter for scenario in document.plan.scenarios] == ["A", "C", "D", "E"]
    document.undo()
    assert document.plan == sample.plan()


def test_only_a_card_that_differs_is_repainted(panel):
    changed = []
    panel.view.card_model.dataChanged.connect(lambda first, last: changed.append(first.row()))
    results = sample.results()
    cheaper = results.scenarios[2]
    cheaper = cheaper._replace(money=cheaper.money._replace(purchase=cheaper.money.purchase._replace(value=40e3)))
    panel.show_results(
        sample.plan(), results._replace(scenarios=(*results.scenarios[:2], cheaper, *results.scenarios[3:]))
    )
    assert changed == [2]


def test_an_empty_plan_says_what_to_do(panel, qtbot):
    panel.show_results(sample.empty_plan(), sample.empty_results())
    assert panel.headline.accessibleName() == "No options yet. Drag a GPU here or press Ctrl+G."
    assert panel.view.model().rowCount(QModelIndex()) == 0
    qtbot.wait(10)
