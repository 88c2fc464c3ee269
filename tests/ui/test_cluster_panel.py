import json

import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt
from PySide6.QtGui import QDropEvent

from gpuplanner.model.plan import Economics, Group, Money, Network, Run, Site
from gpuplanner.ui.panels.cluster import ENTRY_MIME, ClusterPanel, SplitField, split_text
from gpuplanner.ui.panels.economics import EconomicsPanel
from gpuplanner.ui.panels.explain import explained
from gpuplanner.ui.panels.site import SitePanel


@pytest.fixture
def panel(qtbot, document, evaluation, theme):
    site, economics = SitePanel(document, evaluation, theme), EconomicsPanel(document, evaluation, theme)
    made = ClusterPanel(document, evaluation, theme, (("Site", site), ("Economics", economics)))
    qtbot.addWidget(made)
    made.site, made.economics = site, economics
    made.resize(1010, 320)
    made.show()
    return made


def groups(panel):
    return panel.document.selected_scenario.groups


def type_into(qtbot, field, text):
    field.setFocus()
    field.selectAll()
    qtbot.keyClicks(field, text)
    qtbot.keyClick(field, Qt.Key.Key_Return)


def drop(panel, kind, name, at):
    data = QMimeData()
    data.setData(ENTRY_MIME, json.dumps({"kind": kind, "name": name}).encode())
    event = QDropEvent(
        QPointF(at), Qt.DropAction.CopyAction, data, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    )
    panel.dropEvent(event)


def middle_of(panel, widget):
    return widget.mapTo(panel, widget.rect().center())


def test_a_line_edits_its_group(panel, qtbot):
    row = panel.rows[0]
    type_into(qtbot, row.gpus, "4")
    type_into(qtbot, row.servers, "3")
    type_into(qtbot, row.cap, "500")
    type_into(qtbot, row.price, "$200,000")
    group = groups(panel)[0]
    assert (group.gpus_per_server, group.servers, group.power_cap_w) == (4, 3, 500)
    assert group.price == Money(amount=200_000, currency="USD")


def test_a_blank_price_is_automatic_and_says_what_it_comes_to(panel):
    result = panel.evaluation.results.scenario("A")
    assert panel.rows[0].price.text() == ""
    assert panel.rows[0].price.placeholderText().startswith("auto ($")
    assert result.money.lines[0].unit_price.value > 0


def test_a_blank_split_says_what_was_chosen(panel):
    choice = panel.evaluation.results.scenario("A").serve[0].choice
    assert panel.rows[0].split.placeholderText() == f"auto ({split_text(choice.tp, choice.pp, choice.dp)})"


def test_a_typed_split_is_one_step_and_goes_back_to_auto(panel, qtbot):
    field = panel.rows[0].split
    type_into(qtbot, field, "tp4 pp2")
    run = groups(panel)[0].runs[0]
    assert (run.tp, run.pp, run.dp) == (4, 2, "auto")
    assert field.text() == "TP4 × PP2"
    field.selectAll()
    qtbot.keyClick(field, Qt.Key.Key_Delete)
    run = groups(panel)[0].runs[0]
    assert (run.tp, run.pp, run.dp) == ("auto", "auto", "auto")


@pytest.mark.parametrize(
    ("typed", "read"),
    [
        ("TP4 × PP2 × DP2", (4, 2, 2)),
        ("tp8", (8, "auto", "auto")),
        ("DP=2", ("auto", "auto", 2)),
        ("4 by 2", None),
        ("tp4 and more", None),
    ],
)
def test_a_split_is_read_as_people_write_it(qtbot, typed, read):
    field = SplitField(lambda value: None)
    qtbot.addWidget(field)
    assert field.read(typed) == read


def test_every_field_of_group_and_run_can_be_edited(panel):
    row = panel.rows[0]
    row._toggle()
    on_line = {"gpus_per_server", "servers", "condition", "power_cap_w", "price", "runs"}
    assert set(Group.model_fields) - on_line <= set(row.details.group_fields)
    assert set(Run.model_fields) - {"workload", "tp", "pp", "dp", "speculation"} <= set(row.details.run_fields)


def test_details_show_what_auto_came_to(panel):
    row = panel.rows[0]
    row._toggle()
    choice = panel.evaluation.results.scenario("A").serve[0].choice
    assert choice.runtime in row.details.run_fields["runtime"].placeholderText()


def test_every_field_of_the_network_can_be_edited(panel):
    assert set(Network.model_fields) == set(panel._network.fields)


def test_a_port_is_typed_in_bits(panel, qtbot):
    type_into(qtbot, panel._network.fields["nic_bits_s"], "400")
    assert panel.document.selected_scenario.network.nic_bits_s == 400e9
    assert panel._network.fields["nic_bits_s"].text() == "400"


def test_every_field_of_site_and_economics_can_be_edited(panel):
    assert set(Site.model_fields) == set(panel.site.fields)
    assert set(Economics.model_fields) == set(panel.economics.fields)
    assert "budget" in panel.economics.wishes


def test_cooling_may_be_typed_in_tons(panel, qtbot):
    panel.tabs.setCurrentIndex(1)
    type_into(qtbot, panel.site.fields["cooling_w"], "10 tons")
    # A ton of refrigeration is 12,000 BTU/h, 3,516.85 W.
    assert panel.document.plan.site.cooling_w == pytest.approx(35_168.5)


def test_dropping_a_card_on_the_free_place_adds_a_group(panel):
    drop(panel, "gpu", "L40S", middle_of(panel, panel.zone))
    assert [group.gpu for group in groups(panel)] == ["H100 SXM 80GB", "L40S"]
    assert len(panel.rows) == 2


def test_dropping_a_card_on_a_group_replaces_its_card(panel):
    drop(panel, "gpu", "L40S", middle_of(panel, panel.rows[0].title))
    assert [group.gpu for group in groups(panel)] == ["L40S"]
    panel.document.undo()
    assert [group.gpu for group in groups(panel)] == ["H100 SXM 80GB"]


def test_dropping_a_server_brings_its_cards(panel):
    drop(panel, "server", "DGX H100", middle_of(panel, panel.zone))
    assert groups(panel)[1].server == "DGX H100"
    assert groups(panel)[1].gpus_per_server == 8


def test_what_is_no_entry_is_not_dropped(panel):
    before = panel.document.plan
    data = QMimeData()
    data.setData(ENTRY_MIME, b"not json")
    event = QDropEvent(
        QPointF(QPoint(400, 100)), Qt.DropAction.CopyAction, data, Qt.MouseButton.LeftButton,
        Qt.KeyboardModifier.NoModifier,
    )  # fmt: skip
    panel.dropEvent(event)
    assert panel.document.plan is before


def test_groups_are_copied_moved_and_removed(panel):
    panel.rows[0].duplicate()
    drop(panel, "gpu", "L40S", middle_of(panel, panel.zone))
    panel.rows[2].move_to(0)
    assert [group.gpu for group in groups(panel)] == ["L40S", "H100 SXM 80GB", "H100 SXM 80GB"]
    panel.rows[1].remove()
    assert [group.gpu for group in groups(panel)] == ["L40S", "H100 SXM 80GB"]
    assert [row.index for row in panel.rows] == [0, 1]


def test_a_moved_group_is_edited_at_its_new_place(panel, qtbot):
    drop(panel, "gpu", "L40S", middle_of(panel, panel.zone))
    panel.rows[1].move_to(0)
    type_into(qtbot, panel.rows[0].servers, "5")
    assert [(group.gpu, group.servers) for group in groups(panel)] == [("L40S", 5), ("H100 SXM 80GB", 1)]


def test_a_group_may_run_nothing(panel):
    panel.rows[0].run_workload(None)
    assert groups(panel)[0].runs == ()
    assert not panel.rows[0].split.isEnabled()
    panel.rows[0].run_workload("serve")
    assert groups(panel)[0].runs == (Run(workload="serve"),)


def test_all_choices_of_a_run_go_back_to_the_rules(panel, qtbot):
    type_into(qtbot, panel.rows[0].split, "tp2")
    panel.rows[0].reset()
    assert groups(panel)[0].runs == (Run(workload="serve"),)


def test_the_builder_shows_the_selected_scenario(panel):
    assert panel.rows[0].title.text() == "H100 SXM 80GB"
    panel.document.select("B")
    assert panel.rows[0].title.text() == "A100 SXM 80GB"


def test_a_refused_value_is_explained_under_the_line(panel, qtbot):
    row = panel.rows[0]
    row.servers.setFocus()
    row.servers.selectAll()
    qtbot.keyClicks(row.servers, "0")
    assert row.sentence.isVisible()
    assert row.sentence.text() == "Must be at least 1."
    assert groups(panel)[0].servers == 1


def test_power_and_heat_stand_under_the_groups(panel):
    room = panel.evaluation.results.scenario("A").room
    assert panel.facts["load"].value.text() == f"{room.it_load_w.value / 1000:.1f}"
    # All power becomes heat: 3.412 BTU/h a watt.
    assert float(panel.facts["heat"].value.text()) == pytest.approx(room.heat_w.value * 3.412142 / 1000, rel=0.005)


def test_a_plan_without_a_scenario_takes_its_first_group(panel):
    panel.document.remove_scenario("A")
    panel.document.remove_scenario("B")
    assert panel.rows == []
    drop(panel, "gpu", "L40S", middle_of(panel, panel.zone))
    assert [scenario.letter for scenario in panel.document.plan.scenarios] == ["A"]
    assert panel.rows[0].title.text() == "L40S"


@pytest.mark.parametrize(
    ("fact", "key"),
    [("load", "load_power"), ("nameplate", "nameplate"), ("heat", "heat"), ("air", "air"), ("weight", "weight")],
)
def test_a_figure_under_the_groups_explains_itself(panel, qtbot, fact, key):
    with qtbot.waitSignal(panel.explain_requested) as asked:
        qtbot.mouseClick(panel.facts[fact], Qt.MouseButton.LeftButton)
    assert asked.args == ["A", key]
    with qtbot.waitSignal(panel.explain_requested):
        qtbot.keyClick(panel.facts[fact], Qt.Key.Key_Return)
    results = panel.evaluation.results
    shown = explained(panel.document.plan, results, "serve", "A", key, panel.document.catalog)
    assert shown is not None
    assert shown.lines
    if key != "heat":
        assert (shown.value, shown.unit) == (panel.facts[fact].value.text(), panel.facts[fact].unit.text())
