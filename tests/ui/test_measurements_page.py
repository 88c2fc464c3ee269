"""Own measurements: typed in, imported, shown beside the prediction, undone step by step."""

import json

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QLineEdit

from gpuplanner import i18n
from gpuplanner.ui.actions import Actions
from gpuplanner.ui.panels.measurements import MeasurementsPage, with_value
from gpuplanner.ui.theme import ThemeSource


@pytest.fixture
def page(qtbot, document, evaluation):
    made = MeasurementsPage(document, evaluation, ThemeSource("light"))
    qtbot.addWidget(made)
    made.resize(1500, 860)
    made.show()
    return made


def click(qtbot, button):
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)


def type_in(qtbot, field, text):
    field.setFocus()
    field.selectAll()
    qtbot.keyClicks(field, text)


def cells(page, row=0):
    return [cell.text for cell in page.table.text_model.rows[row]]


def added(qtbot, page):
    click(qtbot, page.add_button)
    return page.document.plan.measured[-1]


def test_an_empty_page_says_how_to_begin(page):
    assert page.empty.isVisible()
    assert not page.remove_button.isEnabled()


def test_a_row_from_a_scenario_states_its_run_and_leaves_the_figure_open(qtbot, page, document):
    row = added(qtbot, page)
    scenario = document.selected_scenario
    assert page.add_button.text() == f"Add from {document.selected}"
    assert (row["gpu"], row["gpus"]) == (scenario.groups[0].gpu, scenario.groups[0].gpus_per_server)
    assert row["input_tokens"] == document.plan.workloads[0].prompt_tokens
    assert "value" not in row
    assert "no figure yet" in cells(page)[0]
    # What is predicted is there before the figure.
    assert cells(page)[5] != "–"


def test_a_typed_figure_moves_its_scenario_and_is_one_step(qtbot, page, document, evaluation):
    added(qtbot, page)
    before, steps = document.plan, document.undo_stack.count()
    predicted = page.judged()[0].predicted.value
    type_in(qtbot, page.value, str(round(predicted * 0.8)))
    assert document.plan.measured[0]["value"] == round(predicted * 0.8)
    assert page.judged()[0].status == "counts"
    assert cells(page)[0] == f"✓ moves {document.selected}"
    assert "band" in page.said.text()
    assert evaluation.results.scenarios[0].serve[0].own
    document.end_typing()
    assert document.undo_stack.count() == steps + 1
    document.undo()
    assert document.plan == before
    assert page.value.text() == ""


def test_an_impossible_figure_is_suspect_and_moves_nothing(qtbot, page, evaluation):
    added(qtbot, page)
    bare = evaluation.results.scenarios[0].serve[0].output_tokens_s_limit
    type_in(qtbot, page.value, "99000000")
    assert cells(page)[0] == "✕ suspect"
    assert "check" in page.said.text()
    assert evaluation.results.scenarios[0].serve[0].output_tokens_s_limit == bare


def test_times_are_typed_in_milliseconds(qtbot, page, document):
    added(qtbot, page)
    page.what.activated.emit([value for value, _text in page.what._items].index("ttft_s|system|inference"))
    type_in(qtbot, page.value, "250")
    row = document.plan.measured[0]
    assert (row["metric"], row["value"]) == ("ttft_s", 0.25)
    assert cells(page)[4] == "250 ms"


def test_the_form_shows_what_belongs_to_the_kind_of_row(qtbot, page, document):
    added(qtbot, page)
    parts = {part.key: part.row for part in page._parts}
    assert parts["concurrency",].isVisible()
    assert not parts["seq_len",].isVisible()
    document.set_value(("measured", 0), {"metric": "tokens_per_s", "task": "training"}, "x")
    assert not parts["concurrency",].isVisible()
    assert parts["seq_len",].isVisible()


def test_rows_are_duplicated_and_removed(qtbot, page, document):
    first = added(qtbot, page)
    click(qtbot, page.copy_button)
    assert [row["id"] for row in document.plan.measured] == ["own-1", "own-2"]
    assert page.chosen == 1
    click(qtbot, page.remove_button)
    assert document.plan.measured == (first,)
    click(qtbot, page.remove_button)
    assert document.plan.measured == ()
    assert page.empty.isVisible()


def test_a_row_is_chosen_by_keys(qtbot, page):
    added(qtbot, page)
    click(qtbot, page.copy_button)
    page.table.setFocus()
    page.table.setCurrentIndex(page.table.text_model.index(0, 0))
    qtbot.keyClick(page.table, Qt.Key.Key_Return)
    assert page.chosen == 0
    qtbot.keyClick(page.table, Qt.Key.Key_Down)
    qtbot.keyClick(page.table, Qt.Key.Key_Return)
    assert page.chosen == 1


def test_an_import_is_shown_first_and_then_one_step(qtbot, page, document, tmp_path):
    row = added(qtbot, page)
    good = {**row, "id": "demo", "value": 900.0}
    path = tmp_path / "demo.jsonl"
    path.write_text("\n".join([json.dumps(good), json.dumps(row | {"value": 1.0}), "{nonsense"]), encoding="utf-8")
    before = document.plan
    preview = page.import_file(path)
    assert document.plan == before
    assert "2 measured rows" in preview.said.text()
    assert preview.refused.count() == 1
    assert "line 3" in preview.refused.item(0).text()
    click(qtbot, preview.take)
    assert len(document.plan.measured) == 3
    document.undo()
    assert document.plan == before


def test_a_row_that_is_there_already_is_not_added_twice(qtbot, page, document, tmp_path):
    added(qtbot, page)
    document.set_value(("measured", 0), {"metric": "ttft_s", "value": 1.0}, "x")
    page.export_file(tmp_path / "rows.jsonl")
    preview = page.import_file(tmp_path / "rows.jsonl")
    assert not preview.take.isEnabled()
    preview.reject()


def test_a_file_that_cannot_be_read_says_so(qtbot, page, document, tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_bytes(b"\xff\xfe\x00")
    assert page.import_file(path) is None
    assert "rows.jsonl" in page.said.text()
    assert page.import_file(tmp_path / "missing.jsonl") is None
    assert document.plan.measured == ()


def test_markup_in_a_file_stays_text(qtbot, page, document, tmp_path):
    rows = [{"metric": "<img src='//x/y'>", "value": 1, "gpu": "<b>x</b>", "id": "<i>"}]
    path = tmp_path / "rows.json"
    path.write_text(json.dumps(rows), encoding="utf-8")
    preview = page.import_file(path)
    for label in (*page.findChildren(QLabel), *preview.findChildren(QLabel)):
        assert label.textFormat() == Qt.TextFormat.PlainText
    click(qtbot, preview.take)
    assert cells(page)[0].startswith("–")


def test_every_row_that_a_file_may_hold_can_be_shown(page, document):
    odd = [
        {}, {"metric": 3}, {"metric": "ttft_s", "value": "x"}, {"engine": "vLLM", "parallel": [1]}, {"value": True},
        {"metric": "fits", "value": True, "gpu": "H100 SXM 80GB", "model": "Llama-3.1-8B"}, {"date": 5, "gpus": "8"},
    ]  # fmt: skip
    assert document.set_value(("measured",), tuple(odd), "x") is None
    for row in range(len(odd)):
        page.choose(row)
        assert page.said.text()


def test_it_speaks_chinese(qtbot, page):
    added(qtbot, page)
    i18n.set_language("zh")
    page.retranslate()
    assert page.copy_button.text() != "Duplicate"
    assert page.title.text() != "Own measurements"


def test_every_field_has_a_name_for_a_screen_reader(qtbot, page):
    added(qtbot, page)
    assert all(field.accessibleName() for field in page.form.findChildren(QLineEdit) if field.objectName() == "")
    assert page.table.accessibleName()


def test_the_command_has_a_key_and_words(qapp):
    actions = Actions(qapp)
    assert actions["measurements"].shortcuts()
    assert "easurements" in actions["measurements"].text()


def test_a_key_of_a_record_is_set_and_taken_away():
    row = with_value({"engine": {"name": "vLLM"}}, ("engine", "version"), "0.11")
    assert row == {"engine": {"name": "vLLM", "version": "0.11"}}
    assert with_value(with_value(row, ("engine", "version"), ""), ("engine", "name"), None) == {}
