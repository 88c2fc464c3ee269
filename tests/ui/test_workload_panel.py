import pytest
from PySide6.QtCore import Qt

from gpuplanner import i18n
from gpuplanner.model.plan import FineTune, QueueLoad, RateLoad, Serve, Train, UserLoad
from gpuplanner.ui.panels.workload import WorkloadPanel


@pytest.fixture
def panel(qtbot, document, evaluation, theme):
    made = WorkloadPanel(document, evaluation, theme)
    qtbot.addWidget(made)
    made.resize(256, 900)
    made.show()
    return made


def page(panel):
    return panel.pages[next(w.kind for w in panel.document.plan.workloads if w.id == panel.document.workload)]


def type_into(qtbot, field, text):
    field.setFocus()
    field.selectAll()
    qtbot.keyClicks(field, text)
    qtbot.keyClick(field, Qt.Key.Key_Return)


def test_every_field_of_a_serve_workload_can_be_edited(panel):
    shown = set(page(panel).fields)
    assert set(Serve.model_fields) - {"kind", "id", "load", "mean_to_peak", "growth_per_year"} <= shown
    assert {"mean_to_peak", "growth_per_year"} <= shown


def test_every_field_of_a_fine_tune_can_be_edited(panel):
    panel.document.add_workload(FineTune())
    assert set(FineTune.model_fields) - {"kind", "id", "packing"} <= set(page(panel).fields)


def test_every_field_of_a_training_can_be_edited(panel):
    panel.document.add_workload(Train())
    assert set(Train.model_fields) - {"kind", "id"} <= set(page(panel).fields)


def test_typing_changes_the_workload_and_what_it_asks_for(panel, qtbot):
    before = page(panel).output.value.text()
    type_into(qtbot, page(panel).loads["users"][1].field, "400")
    assert panel.document.plan.workloads[0].load == UserLoad(users=400)
    assert page(panel).output.value.text() != before


def test_what_it_asks_for_is_worked_out_by_hand(panel):
    # 200 users × 12 requests ÷ 3,600 s = 0.667 requests a second, × 400 tokens = 267 tokens a second.
    assert page(panel).rate.value.text() == "0.667"
    assert page(panel).output.value.text() == "267"


def test_another_kind_of_load_shows_its_own_fields(panel):
    page(panel)._set_load("rate")
    assert panel.document.plan.workloads[0].load == RateLoad()
    assert not page(panel).loads["requests_s"][1].isHidden()
    assert page(panel).loads["users"][1].isHidden()
    page(panel)._set_load("queue")
    assert panel.document.plan.workloads[0].load == QueueLoad()
    # A queue that is always full has no rate.
    assert page(panel).rate.isHidden()


def test_several_models_mean_any_of_these(panel, qtbot):
    type_into(qtbot, page(panel).fields["llm"], "Llama-3.1-8B, Llama-3.3-70B")
    assert panel.document.plan.workloads[0].llm == ("Llama-3.1-8B", "Llama-3.3-70B")


def test_a_blank_model_means_the_largest_that_fits(panel, qtbot):
    field = page(panel).fields["llm"]
    field.setFocus()
    field.selectAll()
    qtbot.keyClick(field, Qt.Key.Key_Delete)
    assert panel.document.plan.workloads[0].llm == ()
    assert field.placeholderText() == "largest that fits"


def test_the_shape_of_the_model_stands_beside_its_heading(panel):
    # Llama 3.3 70B has 70.6 billion parameters and 8 key-value heads for 64 query heads.
    assert page(panel).shape.text() == "70.6 B · dense · GQA"


def test_adding_a_workload_shows_it_and_undo_takes_it_back(panel):
    panel.add("train")
    assert panel.document.workload == "train"
    assert panel._stack.currentWidget() is panel.pages["train"]
    panel.document.undo()
    assert panel.document.workload == "serve"
    assert panel._stack.currentWidget() is panel.pages["serve"]


def test_clicking_a_workload_shows_its_figures(panel, qtbot):
    panel.document.add_workload(Serve(prompt_tokens=300))
    assert page(panel).fields["prompt_tokens"].text() == "300"
    qtbot.mouseClick(panel._buttons["serve"], Qt.MouseButton.LeftButton)
    assert page(panel).fields["prompt_tokens"].text() == "1,500"
    type_into(qtbot, page(panel).fields["prompt_tokens"], "700")
    assert [each.prompt_tokens for each in panel.document.plan.workloads] == [700, 300]


def test_adapter_fields_are_for_adapters(panel):
    panel.document.add_workload(FineTune(method="full"))
    assert page(panel).rows["rank"].isHidden()
    panel.document.set_value(("workloads", 1, "method"), "lora", "Method")
    assert not page(panel).rows["rank"].isHidden()


def test_a_plan_without_a_workload_says_how_to_add_one(panel):
    panel.document.remove_workload("serve")
    assert panel._empty.isVisible()
    assert "plus" in panel._empty.text()


def test_the_panel_speaks_chinese(panel):
    i18n.set_language("zh")
    panel.retranslate()
    assert page(panel).rows["prompt_tokens"].label.text() != "Prompt, mean"
    assert "人" in page(panel).loads["users"][1].unit.text()
