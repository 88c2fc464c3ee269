import pytest
from PySide6.QtCore import Qt

from gpuplanner import i18n
from gpuplanner.model.card_ratio import Side
from gpuplanner.ui.panels.card_ratio import CardRatioPage
from gpuplanner.ui.theme import ThemeSource


@pytest.fixture
def page(qtbot, document):
    made = CardRatioPage(document, ThemeSource("light"))
    qtbot.addWidget(made)
    made.resize(1500, 860)
    made.retranslate()
    made.show()
    settle(made, qtbot)
    yield made
    made.finish()


def settle(page, qtbot):
    qtbot.waitUntil(lambda: not page.work.busy, timeout=20_000)


def ratio(page, task):
    return page.found.ratio.task(task).ratio.value


def test_it_opens_on_the_pair_that_the_trade_quotes(page):
    assert page.cards[0].text() == "H100 SXM 80GB"
    assert page.cards[1].text() == "A100 SXM 80GB"
    assert "H100 SXM 80GB" in page.headline.text()
    assert "3.5×" in page.claims.text()
    assert "2.3×" in page.claims.text()


def test_typing_another_card_compares_it(page, qtbot):
    page.cards[1].setFocus()
    page.cards[1].selectAll()
    qtbot.keyClicks(page.cards[1], "L40S 48GB")
    settle(page, qtbot)
    assert page.found.ratio.second.gpu == "L40S 48GB"
    assert "L40S" in page.headline.text()


def test_swapping_turns_the_ratio_over(page, qtbot):
    before = ratio(page, "serving")
    qtbot.mouseClick(page.swap_button, Qt.MouseButton.LeftButton)
    settle(page, qtbot)
    assert ratio(page, "serving") == pytest.approx(1 / before)


def test_a_narrower_format_on_one_side_serves_faster(page, qtbot):
    before = ratio(page, "serving")
    page.compare(Side("H100 SXM 80GB", "8-bit"), Side("A100 SXM 80GB"))
    settle(page, qtbot)
    assert ratio(page, "serving") > before
    assert page.precisions[0].value == "8-bit"


def test_a_task_lists_its_measured_pairs(page):
    page.show_task("serving")
    assert len(page.pairs.text_model.rows) == len(page.found.pairs["serving"].pairs)
    assert "26" in page.pairs_title.text()


def test_a_task_without_a_measured_pair_says_so(page):
    page.show_task("largest_model")
    assert not page.pairs.text_model.rows
    assert page.pair_details.text()


def test_only_the_last_of_quick_choices_is_shown(page, qtbot):
    page.compare(Side("L40S 48GB"), Side("A100 SXM 80GB"))
    page.compare(Side("H200 SXM 141GB"), Side("A100 SXM 80GB"))
    settle(page, qtbot)
    assert page.found.ratio.first.gpu == "H200 SXM 141GB"


def test_arrows_walk_the_tasks_and_return_lists_the_pairs(page, qtbot):
    page.chart.setFocus()
    qtbot.keyClick(page.chart, Qt.Key.Key_Down)
    assert "Training" in page.chart.accessibleDescription()
    qtbot.keyClick(page.chart, Qt.Key.Key_Return)
    assert "Training" in page.pairs_title.text()


def test_it_speaks_chinese(page):
    i18n.set_language("zh")
    page.retranslate()
    assert page.title.text() == "比较两种显卡"
    assert "训练" in page.headline.text()
