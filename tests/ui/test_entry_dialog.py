import json

import pytest
from PySide6.QtCore import Qt

from gpuplanner.catalog import load, user_entries
from gpuplanner.model import pinning
from gpuplanner.model.plan import Group, Plan, Scenario
from gpuplanner.ui.dialogs.entry import EntryDialog, own_prices, remove_own
from gpuplanner.ui.document import PlanDocument
from gpuplanner.ui.theme import ThemeSource
from gpuplanner.units import GIB

# A small dense model: Llama-3-8B's published shape and its 8.03 billion parameters.
LLAMA_3_8B = {
    "layers": "32", "hidden": "4096", "heads": "32", "kv_heads": "8", "head_dim": "128", "ffn_width": "14336",
    "vocab": "128256",
}  # fmt: skip


@pytest.fixture(scope="module")
def catalog():
    return load.load()


@pytest.fixture
def document(catalog):
    return PlanDocument(catalog, pin=pinning.pin)


@pytest.fixture
def dialog(qtbot, document, tmp_path):
    kept = []

    def make(kind, entry=None):
        made = EntryDialog(document, ThemeSource("light"), kind, entry, None, tmp_path)
        # A dialog without a window belongs to whoever holds it: this list, until the test ends.
        kept.append(made)
        qtbot.addWidget(made)
        with qtbot.waitActive(made):
            made.show()
            made.activateWindow()
        return made

    return make


def type_into(qtbot, dialog, key, text):
    field = dialog.fields[key]
    field.setFocus()
    field.selectAll()
    qtbot.keyClicks(field, text)


def new_card(qtbot, dialog, name="Acme X1 64GB"):
    made = dialog("gpu")
    for key, text in (
        ("name", name), ("architecture", "Acme"), ("memory_bytes", "64"), ("memory_bandwidth_bytes_s", "1.6 TB/s"),
        ("peak_flops.bf16", "400"), ("board_power_w", "0.35 kW"),
    ):  # fmt: skip
        type_into(qtbot, made, key, text)
    return made


def test_nothing_can_be_saved_before_what_is_needed_is_there(dialog):
    made = dialog("gpu")
    assert not made.save.isEnabled()
    assert made.rows["name"].sentence.text() == "Needed."


def test_typed_units_become_si(qtbot, dialog):
    made = new_card(qtbot, dialog)
    assert made.record.memory_bytes.value == 64 * GIB
    assert made.record.memory_bandwidth_bytes_s.value == 1.6e12
    assert made.record.peak_flops["bf16"].value == 4e14
    assert made.record.board_power_w.value == 350


def test_gb_on_the_box_of_a_card_is_read_as_gib(qtbot, dialog):
    made = new_card(qtbot, dialog)
    type_into(qtbot, made, "memory_bytes", "64 GB")
    assert made.record.memory_bytes.value == 64 * GIB


def test_figures_without_a_source_are_said_to_be_unverified_and_can_be_saved(qtbot, dialog):
    made = new_card(qtbot, dialog)
    assert made.rows["board_power_w"].sentence.text().startswith("◇ Unverified")
    assert made.save.isEnabled()


def test_naming_a_source_takes_the_mark_away(qtbot, dialog):
    made = new_card(qtbot, dialog)
    type_into(qtbot, made, "source", "Acme X1 data sheet, May 2031")
    assert made.rows["board_power_w"].sentence.isHidden()
    assert made.record.board_power_w.mark == "primary"


def test_a_sparse_rate_typed_as_dense_is_caught_while_typing(qtbot, dialog, catalog):
    # The H100's sparse FP16 rate of 1,979 TFLOPS is twice its dense one.
    made = dialog("gpu", catalog.gpus["H100 SXM 80GB"])
    assert made.save.isEnabled()
    type_into(qtbot, made, "peak_flops.fp16", "1979")
    assert made.rows["peak_flops.fp16"].sentence.text().startswith("✕")
    assert not made.save.isEnabled()


def test_an_error_of_a_check_can_be_overruled_on_purpose(qtbot, dialog, catalog):
    made = dialog("gpu", catalog.gpus["H100 SXM 80GB"])
    type_into(qtbot, made, "peak_flops.fp16", "1979")
    assert made.insist.isVisible()
    qtbot.mouseClick(made.insist, Qt.MouseButton.LeftButton, pos=made.insist.rect().center() / 4)
    made.insist.setChecked(True)
    assert made.save.isEnabled()


def test_text_that_is_no_number_is_refused_at_the_field_and_changes_nothing(qtbot, dialog):
    made = new_card(qtbot, dialog)
    type_into(qtbot, made, "board_power_w", "much")
    assert made.rows["board_power_w"].sentence.text().startswith("✕ Not a number")
    assert made.record.board_power_w.value == 350


def test_a_saved_card_stands_in_the_file_and_in_the_documents_catalog(qtbot, dialog, document, tmp_path):
    made = new_card(qtbot, dialog)
    with qtbot.waitSignal(made.saved) as signal:
        qtbot.mouseClick(made.save, Qt.MouseButton.LeftButton)
    assert signal.args == ["gpu", "Acme X1 64GB"]
    assert "Acme X1 64GB" in document.catalog.gpus
    assert "Acme X1 64GB" in document.catalog.user_names
    assert json.loads((tmp_path / "gpus.json").read_text())[0]["memory_bytes"]["value"] == 64 * GIB


def test_the_named_source_is_kept_beside_the_figures(qtbot, dialog, document):
    made = new_card(qtbot, dialog)
    type_into(qtbot, made, "source", "Acme X1 data sheet")
    made.save_entry()
    card = document.catalog.gpus["Acme X1 64GB"]
    assert document.catalog.sources[card.memory_bytes.source].title == "Acme X1 data sheet"


def test_a_copy_of_a_shipped_card_keeps_the_sources_of_what_was_not_changed(qtbot, dialog, catalog):
    shipped = catalog.gpus["H100 SXM 80GB"]
    made = dialog("gpu", shipped)
    type_into(qtbot, made, "board_power_w", "650")
    assert made.record.memory_bytes == shipped.memory_bytes
    assert made.record.board_power_w.source == "unverified"
    assert made.record.name != shipped.name
    assert made.record.id != shipped.id


def test_editing_ones_own_card_replaces_it_under_its_new_name(qtbot, dialog, document, tmp_path):
    new_card(qtbot, dialog).save_entry()
    made = dialog("gpu", document.catalog.gpus["Acme X1 64GB"])
    type_into(qtbot, made, "name", "Acme X1b 64GB")
    made.save_entry()
    assert [card.name for card in user_entries.read(tmp_path, "gpu")[0]] == ["Acme X1b 64GB"]


def test_parameters_of_a_model_follow_from_its_shape(qtbot, dialog):
    made = dialog("llm")
    type_into(qtbot, made, "name", "My 8B")
    for key, text in LLAMA_3_8B.items():
        type_into(qtbot, made, key, text)
    # 8.03 billion are published; norms are left out here.
    assert made.record.params_total == pytest.approx(8.03e9, rel=0.001)
    assert made.record.attention.full_layers == 32
    assert "8.03" in made.summary.text()


def test_fields_of_experts_appear_with_the_choice(qtbot, dialog):
    made = dialog("llm")
    assert not made.rows["moe.experts"].isVisible()
    made.fields["moe"].setFocus()
    qtbot.keyClick(made.fields["moe"], Qt.Key.Key_Up)
    made.fields["moe"].activated.emit(0)
    assert made.rows["moe.experts"].isVisibleTo(made)
    assert made.rows["moe.experts"].sentence.text() == "Needed."


def test_kv_heads_that_do_not_divide_the_heads_are_an_error(qtbot, dialog):
    made = dialog("llm")
    type_into(qtbot, made, "name", "My 8B")
    for key, text in {**LLAMA_3_8B, "kv_heads": "5"}.items():
        type_into(qtbot, made, key, text)
    assert made.rows["kv_heads"].sentence.text().startswith("✕")


def test_a_price_resolves_the_name_of_what_it_is_for(qtbot, dialog, document, tmp_path):
    made = dialog("price")
    type_into(qtbot, made, "entry", "H100 SXM")
    type_into(qtbot, made, "amount", "CNY 210000")
    made.save_entry()
    (price,) = user_entries.read(tmp_path, "price")[0]
    assert (price.entry, price.currency, price.amount, price.per) == ("H100 SXM 80GB", "CNY", 210_000, "card")
    assert price.id in own_prices(tmp_path)
    assert price in document.catalog.prices_of("H100 SXM 80GB")


def test_an_ambiguous_name_is_asked_about(qtbot, dialog):
    made = dialog("price")
    type_into(qtbot, made, "entry", "H100")
    assert "H100 PCIe 80GB" in made.rows["entry"].sentence.text()
    assert made.record is None


def test_a_price_outside_its_own_range_is_an_error(qtbot, dialog):
    made = dialog("price")
    type_into(qtbot, made, "entry", "H100 SXM 80GB")
    type_into(qtbot, made, "amount", "30000")
    type_into(qtbot, made, "low", "31000")
    assert made.rows["amount"].sentence.text().startswith("✕")


def test_a_plan_that_pins_the_entry_is_offered_the_new_figures_as_one_step(qtbot, dialog, document):
    new_card(qtbot, dialog).save_entry()
    groups = (Group(gpu="Acme X1 64GB", gpus_per_server=4),)
    document.new(Plan(scenarios=(Scenario(letter="A", groups=groups),)))
    made = dialog("gpu", document.catalog.gpus["Acme X1 64GB"])
    type_into(qtbot, made, "board_power_w", "400")
    qtbot.mouseClick(made.save, Qt.MouseButton.LeftButton)
    assert made.update_plan.isVisible()
    assert document.plan.entries.gpus[0].board_power_w.value == 350
    qtbot.mouseClick(made.update_plan, Qt.MouseButton.LeftButton)
    assert document.plan.entries.gpus[0].board_power_w.value == 400
    assert document.undo_stack.count() == 1
    document.undo()
    assert document.plan.entries.gpus[0].board_power_w.value == 350


def test_a_plan_may_keep_the_earlier_figures(qtbot, dialog, document):
    new_card(qtbot, dialog).save_entry()
    document.new(Plan(scenarios=(Scenario(letter="A", groups=(Group(gpu="Acme X1 64GB"),)),)))
    made = dialog("gpu", document.catalog.gpus["Acme X1 64GB"])
    type_into(qtbot, made, "board_power_w", "400")
    made.save_entry()
    with qtbot.waitSignal(made.saved):
        qtbot.mouseClick(made.keep_plan, Qt.MouseButton.LeftButton)
    assert document.plan.entries.gpus[0].board_power_w.value == 350
    assert not document.dirty


def test_a_file_that_cannot_be_read_is_left_alone_and_said(qtbot, dialog, tmp_path):
    (tmp_path / "gpus.json").write_text("{ broken")
    made = new_card(qtbot, dialog)
    made.save_entry()
    assert made.summary.text().startswith("✕ Not saved")
    assert (tmp_path / "gpus.json").read_text() == "{ broken"


def test_a_removed_entry_leaves_the_catalog(qtbot, dialog, document, tmp_path):
    new_card(qtbot, dialog).save_entry()
    assert remove_own(document, "gpu", "Acme X1 64GB", tmp_path) is None
    assert "Acme X1 64GB" not in document.catalog.gpus
