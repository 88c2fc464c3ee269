"""The derivation page: a tree of figures, the formula of the chosen row, sources, what moves it, the way back."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication

from gpuplanner import app, i18n
from gpuplanner.i18n import derivations
from gpuplanner.model import comparison
from gpuplanner.model.derivation import walk
from gpuplanner.model.explain import explain
from gpuplanner.storage.samples import SAMPLES
from gpuplanner.storage.settings import Settings
from gpuplanner.ui.panels.derivation import DerivationPage


class Discard:
    """Answers in place of the dialogs."""

    def save_changes(self, title):
        return "discard"


@pytest.fixture
def window(qapp, catalog, tmp_path):
    made = app.build(catalog, Settings(), "light", tmp_path)
    made.ask = Discard()
    made.show()
    made.open_sample(SAMPLES[0].key)
    yield made
    made.close()
    made.deleteLater()
    QApplication.processEvents()


@pytest.fixture
def page(window):
    window.show_derivation("B", "output")
    shown = window._pages.page
    assert isinstance(shown, DerivationPage)
    yield shown
    shown.finish()
    QApplication.processEvents()


def test_the_page_shows_the_figure_of_the_table(window, page):
    results = window.evaluation.results
    assert page.root.value == results.scenario("B").serve[0].output_tokens_s.value
    assert page.title.text() == "B · Output within targets"
    assert page.tree.nodes.item(0).text() == "Output within targets"


def test_the_formula_of_the_chosen_row_is_shown_with_its_numbers(page):
    reading = next(node for node in walk(page.root) if node.key == "weights_time")
    page.tree.choose(reading)
    assert page.formula.text().startswith("W ÷ BW ÷ e")
    assert "GB/s" in page.numbers.text() and page.numbers.text().endswith("ms")


def test_a_constant_says_its_prior_and_how_many_rows_moved_it(page):
    constant = next(node for node in walk(page.root) if node.constant and node.constant.name == "dram/A100")
    page.tree.choose(constant)
    facts = dict(page._facts(constant))
    assert facts["Calibrated"].startswith("Prior 0.780")
    assert "measured rows" in facts["Fitted on"]


def test_a_source_leads_to_its_figure(page):
    page.sources.chosen.emit(0)
    assert page.tree.node(page.tree.currentIndex()).source is not None


def test_back_returns_to_the_same_focus(window, qtbot):
    table = window.comparison.table
    table.setFocus()
    table.setCurrentIndex(table.lines_model.index(1, 2))
    qtbot.keyClick(table, Qt.Key.Key_Return)
    page = window._pages.page
    assert isinstance(page, DerivationPage)
    qtbot.keyClick(page.tree, Qt.Key.Key_Escape)
    assert window._pages.page is None
    assert table.hasFocus()
    assert table.currentIndex() == table.lines_model.index(1, 2)
    page.finish()


def test_the_dock_leads_to_the_page(window):
    window.show_explanation("B", "purchase")
    window.explain.derivation_button.click()
    page = window._pages.page
    assert page.title.text() == "B · Purchase"
    page.finish()


def test_an_edit_keeps_the_row_that_is_looked_at(window, page):
    constant = next(node for node in walk(page.root) if node.key == "bandwidth")
    page.tree.choose(constant)
    before = page.tree._path(page.tree.currentIndex())
    assert window.document.set_value(("workloads", 0, "answer_tokens"), 500, "Answer") is None
    assert page.tree._path(page.tree.currentIndex()) == before
    answer = next(node for node in walk(page.root) if node.key == "answer_tokens")
    assert answer.value == 500


def test_what_moves_the_figure_comes_after_the_frame(page, qtbot):
    qtbot.waitUntil(lambda: bool(page._movers), timeout=30_000)
    assert len(page._movers) == 5
    assert "Servers" in page.moved.accessibleName()


def test_a_scenario_is_compared_with_the_baseline(window):
    base = window.evaluation.results.baseline
    letter = next(entry.letter for entry in window.evaluation.results.scenarios if entry.letter != base)
    window.show_derivation(letter, "output")
    page = window._pages.page
    assert page.compare_button.text() == f"Compare with {base}"
    page.compare_button.click()
    assert [child.name for child in page.root.children] == [letter, base]
    assert not page.compare_button.isVisible()
    page.finish()


def test_the_derivation_is_copied_as_text(page):
    page.copy()
    text = QApplication.clipboard().text()
    assert text.startswith("B · Output within targets\n")
    assert "\tcatalog\t" in text and "req/s × " in text


def test_every_row_speaks_a_sentence(page):
    index = page.tree.nodes.index(0, 0)
    spoken = index.data(Qt.ItemDataRole.AccessibleTextRole)
    assert spoken.startswith("Output within targets: ") and "80 % band" in spoken


@pytest.mark.parametrize("key", ["output", "first_token", "memory_used", "heat", "total", "speed_ratio", "kv_capacity"])
def test_every_figure_has_a_name_in_both_languages(window, key):
    window.show_derivation("B", key)
    page = window._pages.page
    for code in ("en", "zh"):
        i18n.set_language(code)
        for node in walk(page.root):
            if node.constant is None:
                assert node.key in derivations.NAMES, node.key
            else:
                assert node.constant.name.partition("/")[0] in derivations.CONSTANTS, node.constant.name
            assert derivations.name(node)
    page.finish()


def test_the_page_speaks_chinese(window, page):
    window.choose_language("zh")
    assert page.tree.nodes.headerData(0, Qt.Orientation.Horizontal) == "数字"
    assert page.copy_button.text() == "复制推导"


def derived(window, letter, key):
    evaluation, document = window.evaluation, window.document
    return explain(evaluation.plan, document.catalog, evaluation.results, letter, key, document.workload)


def test_every_number_of_the_table_can_be_derived(window):
    model = window.comparison.table.lines_model
    rows = {row.key: row for row in comparison.rows(window.evaluation.plan, window.evaluation.results, "chat")}
    subjects = {
        model.subject(model.index(row, column))
        for row in range(model.rowCount())
        for column in range(model.columnCount())
    } - {None}
    assert len(subjects) > 60
    for letter, key in subjects:
        if rows[key].cell(letter).figure.known:
            assert derived(window, letter, key) is not None, (letter, key)


@pytest.mark.parametrize(
    "key", ["speed_ratio", "purchase", "load_power", "nameplate", "heat", "air", "weight", "max_power", "total"]
)
def test_the_numbers_of_cards_builder_and_charts_can_be_derived(window, key):
    for entry in window.evaluation.results.scenarios:
        assert derived(window, entry.letter, key) is not None
