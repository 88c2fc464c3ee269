import datetime
import json

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QApplication

from gpuplanner.catalog import load
from gpuplanner.catalog.schema import Price
from gpuplanner.model.plan import ExchangeRate, Group, Plan, Run, Scenario, Serve
from gpuplanner.ui import catalog_rows
from gpuplanner.ui.dialogs.compare_entries import CompareEntries
from gpuplanner.ui.dialogs.entry import EntryDialog
from gpuplanner.ui.document import PlanDocument
from gpuplanner.ui.panels.catalog import MIME, CatalogPanel
from gpuplanner.ui.theme import ThemeSource

TODAY = datetime.date(2026, 11, 30)


@pytest.fixture(scope="module")
def catalog():
    return load.load()


def plan_with(runtime="vLLM (CUDA)"):
    run = Run(workload="chat", runtime=runtime)
    group = Group(gpu="H100 SXM 80GB", runs=(run,))
    return Plan(
        workloads=(Serve(id="chat", llm=("Llama-3.3-70B",)),),
        scenarios=(Scenario(letter="A", groups=(group,)), Scenario(letter="B")),
    )


@pytest.fixture
def panel(qtbot, catalog, tmp_path):
    made = CatalogPanel(PlanDocument(catalog, plan_with()), None, ThemeSource("light"), None, tmp_path)
    made.today = lambda: TODAY
    qtbot.addWidget(made)
    made.resize(312, 900)
    made.show()
    return made


def names(panel):
    return [row.name for row in panel.table.rows]


def choose(panel, name):
    panel.view.setCurrentIndex(panel.table.index(panel.table.position(panel.table.rows[0].kind, name), 1))


def tab(panel, key):
    panel.tabs.setCurrentIndex(catalog_rows.TABS.index(key))


def test_typing_a_size_keeps_the_cards_that_have_it(qtbot, panel):
    qtbot.keyClicks(panel.filter, ">= 90 GB")
    assert "H20 96GB" in names(panel)
    assert "H100 SXM 80GB" not in names(panel)


def test_an_alias_finds_its_card(qtbot, panel):
    qtbot.keyClicks(panel.filter, "4090")
    assert names(panel)
    assert all("4090" in name for name in names(panel))


def test_a_unit_that_cannot_be_compared_is_said_and_hides_nothing(qtbot, panel):
    every = len(names(panel))
    panel.filter.setText("> 5 parsecs")
    assert len(names(panel)) == every
    assert "parsecs" in panel.filter.toolTip()
    panel.filter.setText("")
    assert not panel.filter.toolTip()


def test_escape_empties_the_filter(qtbot, panel):
    qtbot.keyClicks(panel.filter, "H20")
    qtbot.keyClick(panel.filter, Qt.Key.Key_Escape)
    assert panel.filter.text() == ""


def test_entries_that_only_measured_rows_use_are_not_offered(panel, catalog):
    tab(panel, "llms")
    unlisted = {name for name, llm in catalog.llms.items() if llm.unlisted}
    assert unlisted
    assert not unlisted & set(names(panel))


def test_the_runtime_chip_keeps_what_the_runtime_of_the_workload_runs_on(panel):
    assert panel.chips["runs"].property("whole") == "vLLM"
    panel.chips["runs"].click()
    # vLLM's CUDA build needs compute capability 7.0 or newer; the P40 has 6.1.
    assert "H100 SXM 80GB" in names(panel)
    assert "Tesla P40 24GB" not in names(panel)
    assert "Instinct MI300X 192GB" not in names(panel)


def test_the_runtime_chip_follows_the_plan(panel):
    panel.chips["runs"].click()
    panel.document.set_value(("scenarios", 0, "groups", 0, "runs", 0, "runtime"), "llama.cpp (CUDA)", "Runtime")
    assert panel.chips["runs"].property("whole") == "llama.cpp"


def test_chips_keep_what_they_name(panel, catalog):
    panel.chips["fp8"].click()
    assert all("fp8" in catalog.gpus[name].peak_flops for name in names(panel))
    panel.chips["link"].click()
    assert all(catalog.gpus[name].link_kind != "none" for name in names(panel))
    panel.chips["used"].click()
    assert names(panel)
    assert all(catalog.prices_of(name, "used") for name in names(panel))


def test_cards_come_from_the_fastest_down_and_the_card_below_is_never_empty(panel, catalog):
    rates = [peak.value if (peak := catalog_rows.peak_16_bit(catalog.gpus[name])) else 0 for name in names(panel)]
    assert rates == sorted(rates, reverse=True)
    assert panel.current.name == names(panel)[0]
    panel.filter.setText("H20")
    assert panel.card.sheet.title == panel.current.label or "H20" in panel.card.sheet.title
    panel.filter.setText("no such card")
    assert panel.card.sheet is None


def test_what_was_only_offered_is_not_remembered_as_chosen(panel):
    choose(panel, "H20 96GB")
    panel.filter.setText("MI300")
    assert "MI300" in panel.current.name
    panel.filter.setText("")
    assert panel.current.name == "H20 96GB"


def test_chips_stand_in_one_row(panel):
    panel.resize(312, 900)
    shown = [chip for chip in panel.chips.values() if not chip.isHidden()]
    assert len(shown) == 5
    assert len({chip.y() for chip in shown}) == 1


def test_sorting_puts_what_is_not_known_last_in_both_directions(panel):
    column = 1 + [each.key for each in panel.table.columns].index("price")
    for order in (Qt.SortOrder.AscendingOrder, Qt.SortOrder.DescendingOrder):
        panel.view.sortByColumn(column, order)
        prices = [row.cells[column - 1].sort for row in panel.table.rows]
        known = [price for price in prices if price is not None]
        assert prices[len(known) :] == [None] * (len(prices) - len(known))
        assert known == sorted(known, reverse=order == Qt.SortOrder.DescendingOrder)


def test_the_chosen_row_stays_chosen_through_sorting_and_filtering(panel):
    choose(panel, "H20 96GB")
    panel.view.sortByColumn(2, Qt.SortOrder.DescendingOrder)
    assert panel.current.name == "H20 96GB"
    panel.filter.setText("H20")
    assert panel.current.name == "H20 96GB"


def test_the_card_shows_figures_with_numbered_sources_and_warnings(panel):
    choose(panel, "H20 96GB")
    said = panel.card.as_text()
    assert "NVIDIA H20 96GB" in said
    assert "Memory: 96 GB HBM3" in said
    assert "BF16 / FP8: 148 / 296 TFLOPS" in said
    assert [number for number, _text in panel.card.numbered()] == list(range(1, len(panel.card.numbered()) + 1))
    assert "months old" in said


def test_a_weak_figure_is_marked_with_a_shape_and_a_word(panel, catalog):
    entry = next(gpu for gpu in catalog.gpus.values() if gpu.board_power_w and gpu.board_power_w.mark == "unverified")
    choose(panel, entry.name)
    assert "◇ unverified" in panel.card.as_text()
    at = panel.table.index(panel.table.position("gpu", entry.name), 5)
    assert "◇ unverified" in at.data(Qt.ItemDataRole.ToolTipRole)


def test_not_known_is_a_dash_with_its_reason(panel):
    tab(panel, "servers")
    at = panel.table.position("server", "Dell PowerEdge XE9680")
    cell = panel.table.index(at, 4)
    assert cell.data() == "–"
    assert "not known" in cell.data(Qt.ItemDataRole.ToolTipRole)


def test_enter_adds_the_card_to_the_selected_scenario_as_one_step(qtbot, panel):
    choose(panel, "H20 96GB")
    qtbot.keyClick(panel.view, Qt.Key.Key_Return)
    assert [group.gpu for group in panel.document.plan.scenarios[0].groups] == ["H100 SXM 80GB", "H20 96GB"]
    panel.document.undo()
    assert len(panel.document.plan.scenarios[0].groups) == 1


def test_control_enter_makes_a_new_scenario(qtbot, panel):
    tab(panel, "servers")
    choose(panel, "DGX H100")
    qtbot.keyClick(panel.view, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    made = panel.document.plan.scenarios[-1]
    assert (made.letter, made.groups[0].server) == ("C", "DGX H100")


def test_enter_on_a_model_puts_it_into_the_workload(qtbot, panel):
    tab(panel, "llms")
    choose(panel, "Qwen2.5-7B")
    qtbot.keyClick(panel.view, Qt.Key.Key_Return)
    assert panel.document.plan.workloads[0].llm == ("Qwen2.5-7B",)


def test_a_dragged_row_carries_its_kind_and_name(panel):
    at = panel.table.position("gpu", "H20 96GB")
    data = panel.table.mimeData([panel.table.index(at, 1)])
    assert json.loads(bytes(data.data(MIME).data())) == {"kind": "gpu", "name": "H20 96GB"}


def test_space_and_a_click_on_the_box_tick_a_row(qtbot, panel):
    choose(panel, "H20 96GB")
    qtbot.keyClick(panel.view, Qt.Key.Key_Space)
    assert ("gpu", "H20 96GB") in panel.table.ticks
    box = panel.view.visualRect(panel.table.index(0, 0))
    panel.view.scrollToTop()
    box = panel.view.visualRect(panel.table.index(0, 0))
    qtbot.mouseClick(panel.view.viewport(), Qt.MouseButton.LeftButton, pos=box.center())
    assert len(panel.table.ticks) == 2
    assert "2 ticked" in panel.count.text()


def test_ticked_entries_are_compared_side_by_side_with_their_sources(qtbot, panel):
    for name in ("H100 SXM 80GB", "H20 96GB"):
        choose(panel, name)
        qtbot.keyClick(panel.view, Qt.Key.Key_Space)
    qtbot.mouseClick(panel.compare, Qt.MouseButton.LeftButton)
    dialog = panel.findChild(CompareEntries)
    assert {sheet.name for sheet in dialog.table.sheets} == {"H100 SXM 80GB", "H20 96GB"}
    row = dialog.table.labels.index("Memory")
    assert dialog.table.differs(row)
    assert "1  " in dialog.foot.text()
    dialog.copy_table()
    assert "Board power\t" in QApplication.clipboard().text()
    dialog.reject()


def test_all_figures_of_one_entry_include_what_the_card_has_no_room_for(qtbot, panel):
    choose(panel, "H100 SXM 80GB")
    qtbot.mouseClick(panel.all_figures, Qt.MouseButton.LeftButton)
    dialog = panel.findChild(CompareEntries)
    assert {"FP64", "Idle power", "PCIe"} <= set(dialog.table.labels)
    dialog.reject()


def test_column_widths_are_remembered_by_tab(panel):
    panel.view.horizontalHeader().resizeSection(2, 77)
    kept = panel.column_widths()
    assert kept["catalog.gpus"][1] == 77
    tab(panel, "servers")
    tab(panel, "gpus")
    assert panel.view.horizontalHeader().sectionSize(2) == 77


def test_remembered_widths_are_given_to_a_new_panel(qtbot, panel):
    panel.set_column_widths({"catalog.gpus": (120, 50, 50, 60, 50, 50)})
    assert [panel.view.horizontalHeader().sectionSize(at) for at in (1, 2, 4)] == [120, 50, 60]


def test_prices_are_shown_in_the_plans_currency_at_its_rate(panel):
    rate = ExchangeRate(currency="USD", per_base=0.125)
    panel.document.apply([(("currency",), "CNY"), (("exchange_rates",), (rate,))], "Currency")
    column = [each.key for each in panel.table.columns].index("price")
    assert "¥" in panel.table.columns[column].title
    row = panel.table.rows[panel.table.position("gpu", "H100 SXM 80GB")]
    # The newest dated market price of a new one, 30,000 dollars, at 8 yuan a dollar.
    assert row.cells[column].sort == pytest.approx(240_000)


def test_a_card_that_is_no_longer_made_is_never_priced_as_new(catalog):
    gone = next(gpu for gpu in catalog.gpus.values() if gpu.end_of_life and catalog.prices_of(gpu.name, "new"))
    shown = catalog_rows.shown_price(catalog, gone, lambda amount, _currency: amount)
    assert shown is None or shown.price.condition == "used"


def price(date, amount, kind="market"):
    return Price(
        id=f"{date}-{kind}", item="X", entry="X", kind="gpu", condition="new", currency="USD", amount=amount, date=date,
        price_kind=kind, source="s",
    )  # fmt: skip


def test_the_newest_market_price_speaks_before_a_newer_launch_price():
    prices = [price("2025-01", 1.0), price("2026-01", 2.0), price("2026-06", 3.0, "launch")]
    assert catalog_rows.newest_price(prices, "new").amount == 2.0
    assert catalog_rows.newest_price(prices[2:], "new").amount == 3.0
    assert catalog_rows.newest_price(prices, "used") is None


@pytest.mark.parametrize(("date", "months"), [("2024-07", 28), ("2026-11-30", 0), ("2025", 17), ("spring", None)])
def test_the_age_of_a_price_is_counted_in_months(date, months):
    assert catalog_rows.months_old(date, TODAY) == months


def test_ones_own_card_is_marked_and_editable(qtbot, panel):
    panel.add_entry()
    dialog = panel.findChild(EntryDialog)
    for key, text in (("name", "Acme X1 64GB"), ("architecture", "Acme"), ("memory_bytes", "64")):
        dialog.fields[key].setFocus()
        qtbot.keyClicks(dialog.fields[key], text)
    qtbot.mouseClick(dialog.save, Qt.MouseButton.LeftButton)
    assert panel.current.name == "Acme X1 64GB"
    assert panel.current.own
    assert panel.edit_entry.text() == "Edit …"
    panel.remove_current()
    assert "Acme X1 64GB" not in names(panel)


def test_markup_in_a_name_is_shown_letter_by_letter(qtbot, panel, tmp_path):
    from gpuplanner.catalog import user_entries

    card = panel.document.catalog.gpus["H20 96GB"].model_copy(update={"name": "<img src=x>", "id": "x", "aliases": ()})
    user_entries.put(tmp_path, "gpu", card)
    panel.document.catalog = load.load(tmp_path)
    panel.catalog_changed()
    at = panel.table.index(panel.table.position("gpu", "<img src=x>"), 1)
    assert not at.data(Qt.ItemDataRole.ToolTipRole).startswith("<img")


def test_every_row_is_a_sentence_for_a_screen_reader(panel):
    at = panel.table.index(panel.table.position("gpu", "H20 96GB"), 1)
    spoken = at.data(Qt.ItemDataRole.AccessibleTextRole)
    assert spoken.startswith("H20 96GB")
    assert "GB 96" in spoken


def test_the_panel_can_be_shown_in_every_theme(qtbot, panel):
    for choice in ("dark", "contrast", "light"):
        panel.theme.choose(choice)
        panel.card.show_sheet(panel.card.sheet, panel.document.catalog)
        assert not panel.grab().isNull()
    qtbot.mouseMove(panel.view.viewport(), QPoint(100, 30))


def test_a_card_without_a_price_shows_its_class_value_as_assumed():
    from gpuplanner.catalog.load import load
    from gpuplanner.ui.catalog_rows import price_mark, shown_price

    catalog = load(None)
    name = "Instinct MI355X 288GB"
    row = catalog.assumption("price_card", name)
    assert not catalog.prices_of(name)
    shown = shown_price(catalog, catalog.gpus[name], lambda amount, currency: amount)
    assert shown is not None and (shown.amount, shown.low, shown.high) == (row.value, row.low, row.high)
    assert price_mark(shown.price) == "assumed"
    assert shown_price(catalog, catalog.gpus[name], lambda amount, currency: amount, "used") is None
