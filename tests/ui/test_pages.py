import pytest
from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtWidgets import QApplication

from gpuplanner import app
from gpuplanner.storage.samples import SAMPLES
from gpuplanner.storage.settings import Settings


@pytest.fixture
def window(qtbot, qapp, catalog, tmp_path, plan):
    made = app.build(catalog, Settings(), "light", tmp_path / "settings")
    made.show()
    made.document.new(plan)
    made.show_plan_or_welcome(True)
    yield made
    made.document.undo_stack.setClean()
    made.close()
    made.deleteLater()
    QCoreApplication.processEvents()


def docks(window):
    return [dock for dock, _header, _title in window._docks.values()]


def test_a_page_takes_the_whole_window_and_gives_it_back(window):
    before = [dock.isHidden() for dock in docks(window)]
    window.open_page("accuracy")
    assert all(dock.isHidden() for dock in docks(window))
    window.back()
    assert [dock.isHidden() for dock in docks(window)] == before
    assert window.shows_plan


@pytest.mark.parametrize(
    ("key", "modifier"),
    [(Qt.Key.Key_Escape, Qt.KeyboardModifier.NoModifier), (Qt.Key.Key_Left, Qt.KeyboardModifier.AltModifier)],
)
def test_back_returns_to_the_same_focus(window, qtbot, key, modifier):
    window.activateWindow()
    window.comparison.table.setFocus()
    before = QApplication.focusWidget()
    page = window.open_page("accuracy")
    assert QApplication.focusWidget() is page.first()
    qtbot.keyClick(page.first(), key, modifier)
    assert QApplication.focusWidget() is before


def test_a_hidden_dock_stays_hidden_after_a_page(window):
    dock = docks(window)[2]
    dock.hide()
    window.open_page("compare_cards")
    window.open_page("accuracy")
    window.back()
    assert dock.isHidden()
    assert not docks(window)[0].isHidden()


def test_opening_a_plan_leaves_the_page(window):
    window.open_page("accuracy")
    window.open_sample(SAMPLES[0].key)
    assert not docks(window)[0].isHidden()
    assert window.shows_plan


def test_f6_goes_through_the_page(window):
    page = window.open_page("accuracy")
    assert page in window.regions()
    assert window.cards not in window.regions()


def test_pages_open_without_a_plan_and_lead_back_to_the_examples(window):
    window.close_plan()
    window.open_page("compare_cards")
    window.back()
    assert not window.shows_plan
    assert window.welcome.isVisible()


def test_alt_and_a_digit_opens_a_tab_of_the_comparison(window, qtbot):
    qtbot.keyClick(window.comparison.table, Qt.Key.Key_4, Qt.KeyboardModifier.AltModifier)
    assert window.comparison.tabs.currentIndex() == 3


def test_the_tab_of_accuracy_leads_to_the_row(window, qtbot):
    tabs = window.comparison.tabs
    window.show_tab(next(at for at in range(tabs.count()) if tabs.tabText(at) == "Accuracy"))
    chart = window.comparison._rows_chart
    assert {point.family for point in chart.data.points} == {"max_throughput"}
    chart.setFocus()
    qtbot.keyClick(chart, Qt.Key.Key_Right)
    qtbot.keyClick(chart, Qt.Key.Key_Return)
    page = window._pages.page
    smallest = min(chart.data.points, key=lambda point: point.measured)
    assert str(smallest.row["source"]) in page.details.text()


def test_an_unknown_page_is_a_mistake_of_ours(window):
    with pytest.raises(KeyError):
        window.open_page("weather")
