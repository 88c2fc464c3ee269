import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QGuiApplication

from gpuplanner import i18n
from gpuplanner.ui.charts.accuracy import cloud_of
from gpuplanner.ui.panels.accuracy import AccuracyPage
from gpuplanner.ui.text_table import ROW
from gpuplanner.ui.theme import ThemeSource


@pytest.fixture
def page(qtbot, document, evaluation):
    made = AccuracyPage(document, evaluation, ThemeSource("light"))
    qtbot.addWidget(made)
    made.resize(1500, 860)
    made.retranslate()
    made.show()
    yield made
    made.finish()


def shown(page):
    return page.chart.data.points


def test_it_opens_on_the_figures_of_the_workload_in_hand(page):
    assert {point.family for point in shown(page)} == {"max_throughput"}


def test_a_filter_leaves_only_rows_like_it(page, qtbot):
    page.show_all()
    everything = len(shown(page))
    page.card.setFocus()
    page.card.selectAll()
    qtbot.keyClicks(page.card, "A100 SXM 80GB")
    assert {point.card for point in shown(page)} == {"A100 SXM 80GB"}
    assert 0 < len(shown(page)) < everything


def test_a_name_that_no_row_has_is_refused_and_changes_nothing(page, qtbot):
    before = shown(page)
    page.model.setFocus()
    qtbot.keyClicks(page.model, "Llama of a dream")
    assert page.model.refusal
    assert shown(page) == before


def test_show_all_takes_every_filter_away(page, qtbot):
    page.show_all()
    assert len(shown(page)) > 1000
    assert not page.all_button.isEnabled()


def test_a_click_on_a_family_shows_its_rows(page, qtbot):
    row = next(at for at, score in enumerate(page._scores) if score.family == "training")
    place = page.families.visualRect(page.families.text_model.index(row, 0)).center()
    qtbot.mouseClick(page.families.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert {point.family for point in shown(page)} == {"training"}


def test_the_nearest_rows_name_how_far_off_we_were(page):
    rows = page.nearest.text_model.rows
    assert rows
    assert all(row[-1].text for row in rows)
    assert "%" in page._near_note.text()


def test_a_click_on_a_near_row_shows_where_it_was_read(page, qtbot):
    qtbot.mouseClick(page.nearest.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(40, ROW // 2))
    assert str(page._near[0].row["source"]) in page.details.text()


def test_arrows_walk_the_points_and_return_shows_the_source(page, qtbot):
    page.chart.setFocus()
    qtbot.keyClick(page.chart, Qt.Key.Key_Right)
    smallest = min(shown(page), key=lambda point: point.measured)
    assert str(smallest.row["source"]) in page.chart.accessibleDescription()
    qtbot.keyClick(page.chart, Qt.Key.Key_Return)
    assert str(smallest.row["source"]) in page.details.text()


def test_hovering_a_point_names_its_source_and_error(page):
    at = page.chart.anchor(page.chart.letters()[0])
    identity, text = page.chart.reading(at.x(), at.y())
    assert identity
    assert "%" in text
    assert str(page._by_id[identity].row["source"]) in text


def test_nothing_is_read_far_from_all_points(page):
    rect = page.chart.view.viewRect()
    assert page.chart.reading(rect.left(), rect.bottom()) == ("", "")


def test_a_decade_is_as_long_up_as_across(page):
    rect, view = page.chart.view.viewRect(), page.chart.view
    assert view.width() / rect.width() == pytest.approx(view.height() / rect.height(), rel=1e-3)


def test_the_chart_says_what_it_shows_in_one_sentence(page):
    said = page.chart.accessibleName()
    assert str(len(shown(page))) in said
    assert said.endswith(".")


def test_rules_of_thumb_stand_beside_our_errors(page, qtbot):
    with qtbot.waitSignal(page._rules.ready, timeout=20_000):
        pass
    rows = {score.family: row for score, row in zip(page._scores, page.families.text_model.rows, strict=True)}
    assert rows["training"][-1].text.endswith("%")


def test_copying_takes_every_point_with_its_source(page):
    page.chart.copy()
    lines = QGuiApplication.clipboard().text().splitlines()
    assert len(lines) == len(shown(page)) + 1


def test_it_speaks_chinese(page):
    i18n.set_language("zh")
    page.retranslate()
    assert page.title.text() == "准确度"
    assert "最接近" in page._near_title.text()


def test_no_rows_are_no_cloud():
    assert cloud_of(()) is None
