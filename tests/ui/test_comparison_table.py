"""The table of the comparison: what cells say, clicking a number, copying, and repainting only what differs."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication

from gpuplanner.i18n import using
from gpuplanner.model import comparison
from gpuplanner.ui.document import PlanDocument
from gpuplanner.ui.evaluation import Evaluation
from gpuplanner.ui.panels.comparison import ComparisonPanel, column_at, lines_of
from gpuplanner.ui.theme import ThemeSource
from tests.ui import sample_results as sample


@pytest.fixture
def document():
    return PlanDocument(None, sample.plan())


@pytest.fixture
def panel(qtbot, document):
    evaluation = Evaluation(document, lambda plan, catalog: sample.results())
    made = ComparisonPanel(document, evaluation, ThemeSource("light"))
    qtbot.addWidget(made)
    made.resize(1012, 345)
    made.show()
    return made


@pytest.fixture
def lines():
    rows = comparison.rows(sample.plan(), sample.results(), "serve")
    return {line.key or line.label: line for line in lines_of(rows, "USD")}


def test_sections_stand_between_the_metrics(lines):
    assert [key for key in lines if key.isupper()] == ["SPEED AT PEAK", "FIT AND ROOM", "MONEY"]


def test_chinese_captions_are_left_as_they_are():
    rows = comparison.rows(sample.plan(), sample.results(), "serve")
    with using("zh"):
        assert not lines_of(rows, "CNY")[0].label.isascii()


def test_the_unit_and_the_target_stand_once_in_the_row(lines):
    assert lines["first_token"].unit == "s ≤ 2"
    assert lines["per_token"].unit == "ms ≤ 50"
    assert lines["output"].unit == "tok/s ≥ 889"
    assert lines["max_power"].unit == "kW ≤ 10.5"
    assert lines["purchase"].unit == "k$ ≤ 200"


def test_a_cell_shows_value_and_band(lines):
    cell = lines["first_token"].cells[1]
    assert (cell.value, cell.beside, cell.status) == ("1.25", "0.8–2.1", "warn")
    assert lines["output"].cells[0].beside == "2.5–4.7k"


def test_memory_and_power_show_their_second_figure_beside(lines):
    assert lines["memory_used"].cells[0].beside == "31.0 GiB"
    assert lines["max_power"].cells[0].beside == "6.9 peak"


def test_headroom_has_its_sign(lines):
    assert [cell.value for cell in lines["headroom"].cells] == ["+285 %", "+10 %", "−14 %", "+46 %", "+6 %"]


def test_the_tooltip_says_unit_band_and_origin(lines):
    assert lines["purchase"].tip(3).splitlines()[:3] == [
        "D · Purchase  186 k$",
        "80 % band 170–200",
        "assumed",
    ]


def test_a_click_on_a_number_asks_for_its_explanation(panel, qtbot):
    asked = []
    panel.explain_requested.connect(lambda *subject: asked.append(subject))
    place = column_at(panel.table, "D", 1)
    qtbot.mouseClick(panel.table.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert asked == [("D", "first_token")]


def test_keys_reach_every_number_and_enter_explains_it(panel, qtbot):
    asked = []
    panel.explain_requested.connect(lambda *subject: asked.append(subject))
    panel.table.setFocus()
    panel.table.setCurrentIndex(panel.table.lines_model.index(1, 1))
    qtbot.keyClick(panel.table, Qt.Key.Key_Right)
    qtbot.keyClick(panel.table, Qt.Key.Key_Down)
    qtbot.keyClick(panel.table, Qt.Key.Key_Return)
    assert asked == [("B", "per_token")]


def test_only_cells_that_differ_are_repainted(panel):
    changed = []
    panel.table.lines_model.dataChanged.connect(lambda first, last: changed.append((first.row(), first.column())))
    results = sample.results()
    faster = results.scenarios[2].serve[0]._replace(first_token_s=results.scenarios[3].serve[0].first_token_s)
    changed_scenario = results.scenarios[2]._replace(serve=(faster,))
    scenarios = (*results.scenarios[:2], changed_scenario, *results.scenarios[3:])
    panel.show_results(sample.plan(), results._replace(scenarios=scenarios))
    assert changed == [(1, 3)]


def test_the_table_is_copied_tab_separated(panel):
    panel.copy()
    lines = QGuiApplication.clipboard().text().splitlines()
    assert lines[0].split("\t")[2] == "A H100 SXM"
    assert lines[1].split("\t")[:4] == ["First token, p95", "s ≤ 2", "0.170", "0.1–0.3"]


def test_hovering_a_column_fades_the_others_in_table_and_charts(panel, qtbot):
    panel.table.hovered.emit("B")
    assert panel.table.strength("A") < 1 == panel.table.strength("B")
    assert all(chart.emphasis == "B" for chart in panel.charts)
    panel.table.hovered.emit("")
    assert panel.table.strength("A") == 1


def test_pages_are_made_when_first_opened(panel):
    assert len(panel.charts) == 2
    panel.show_tab(3)
    assert [type(chart).__name__ for chart in panel.charts[2:]] == ["MemoryChart"]


def test_choosing_another_scenario_moves_the_highlight(panel, document):
    document.select("E")
    assert panel.table.selected == "E"


def test_training_has_rows_of_its_own(qtbot):
    document = PlanDocument(None, sample.train_plan())
    evaluation = Evaluation(document, lambda plan, catalog: sample.train_results())
    panel = ComparisonPanel(document, evaluation, ThemeSource("light"))
    qtbot.addWidget(panel)
    keys = [line.key for line in panel.table.lines_model.lines if line.cells]
    assert keys[:5] == ["tokens", "step", "mfu", "link_wait", "duration"]


def test_an_empty_plan_says_what_to_do(panel):
    panel.show_results(sample.empty_plan(), sample.empty_results())
    assert panel.empty.isVisible()
    assert "Drag a GPU here" in panel.empty.text()
