"""The drawing of the network and its page."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PySide6.QtGui import QGuiApplication

from gpuplanner.catalog.load import load
from gpuplanner.model.evaluate import evaluate
from gpuplanner.model.interconnect import server_links
from gpuplanner.model.plan import Group, Network, Plan, QueueLoad, Run, Scenario, Serve, Train
from gpuplanner.ui.charts.network import NetworkCanvas, drawing_of, line_width
from gpuplanner.ui.document import PlanDocument
from gpuplanner.ui.evaluation import Evaluation
from gpuplanner.ui.panels.network import NetworkPage
from gpuplanner.ui.theme import ThemeSource

H100, V100 = "H100 SXM 80GB", "Tesla V100 SXM2 32GB"


@pytest.fixture(scope="module")
def catalog():
    return load()


def drawn(catalog, *groups, room=100, compact=False, **network):
    scenario = Scenario(letter="A", groups=groups, network=Network(**network))
    plan = Plan(scenarios=(scenario,))
    fabrics = evaluate(plan, catalog).scenarios[0].room.fabrics
    return drawing_of(scenario, fabrics, server_links(plan, "A", catalog), catalog, room, compact)


def titles(drawing, tier):
    return [box.title for box in drawing.boxes if box.tier == tier]


def test_few_servers_are_drawn_one_by_one_below_their_switch(catalog):
    drawing = drawn(catalog, Group(gpu=H100, server="DGX H100", servers=6))
    assert titles(drawing, 0) == [f"DGX H100 · {number}" for number in range(1, 7)]
    assert titles(drawing, 1) == ["Quantum-2 QM9700/QM9790"]
    # 6 x 8 ports of 64.
    assert [box.second for box in drawing.boxes if box.tier == 1] == ["48 of 64 ports"]
    assert [cable.number for cable in drawing.cables] == [8.0] * 6


def test_a_few_leaves_are_named_with_their_rails_and_ports(catalog):
    # 12 servers x 8 ports: three leaves of 32 ports down do not share eight rails evenly; 16 servers need four.
    drawing = drawn(catalog, Group(gpu=H100, servers=16))
    leaves = [box for box in drawing.boxes if box.key.startswith("leaf")]
    assert [box.title for box in leaves] == ["Leaf 1", "Leaf 2", "Leaf 3", "Leaf 4"]
    assert leaves[0].second == "64 of 64 ports · rails 1–2"
    assert titles(drawing, 0) == ["8× H100 SXM ×16"]


def test_a_large_fabric_is_a_handful_of_boxes(catalog):
    drawing = drawn(catalog, Group(gpu=H100, servers=512), oversubscription=3.0)
    assert drawing.tiers == 4 and len(drawing.boxes) == 4
    # 64 ports at 3 : 1 are 48 down and 16 up: 8 x 11 leaves with 1,408 cables up.
    assert titles(drawing, 1) == ["88 leaf switches"]
    assert [cable.said for cable in drawing.cables] == ["4,096× 400 Gb/s", "1,408× 400 Gb/s", "1,408× 400 Gb/s"]


@given(servers=st.integers(1, 100_000), nics=st.integers(1, 16), room=st.integers(1, 30))
@settings(max_examples=40, deadline=None)
def test_every_cable_of_the_fabric_is_drawn_and_boxes_stay_few(servers, nics, room):
    shipped = load()
    group = Group(gpu=H100, servers=servers)
    drawing = drawn(shipped, group, room=room, nics_per_server=nics, nic_bits_s=400e9)
    assert len(drawing.boxes) <= 12 + 3 * 4
    keys = {box.key for box in drawing.boxes}
    assert all(cable.lower in keys and cable.upper in keys for cable in drawing.cables)
    from_servers = sum(cable.number for cable in drawing.cables if cable.lower.startswith(("server", "group")))
    assert from_servers == pytest.approx(servers * nics if servers > 1 else 0)


def test_ethernet_is_dashed_and_infiniband_is_not(catalog):
    assert not any(cable.dashed for cable in drawn(catalog, Group(gpu=H100, servers=4)).cables)
    assert all(cable.dashed for cable in drawn(catalog, Group(gpu=H100, servers=4), fabric="ethernet").cables)


def test_each_doubling_of_bandwidth_widens_a_line_by_the_same():
    assert line_width(25e9) == 1.0
    steps = [line_width(50e9 * 2**k) - line_width(25e9 * 2**k) for k in range(8)]
    assert steps == pytest.approx([steps[0]] * 8)


def test_groups_of_different_speed_have_switches_of_their_own(catalog):
    drawing = drawn(catalog, Group(gpu=H100, servers=4), Group(gpu="GeForce RTX 4090 24GB", servers=2))
    assert {box.fabric for box in drawing.boxes} == {0, 1}
    assert len(titles(drawing, 1)) == 2


def test_the_small_drawing_joins_all_groups_to_one_box(catalog):
    drawing = drawn(
        catalog, Group(gpu=H100, servers=4), Group(gpu="GeForce RTX 4090 24GB", servers=2), compact=True
    )  # fmt: skip
    assert titles(drawing, 1) == ["InfiniBand + Ethernet"]
    assert len(drawing.cables) == 2


def test_ports_of_a_class_are_marked_and_those_of_a_record_are_not(catalog):
    def said(**group):
        return next(box.spoken for box in drawn(catalog, Group(servers=2, **group)).boxes)

    assert "≈" in said(gpu="GeForce RTX 4090 24GB")
    assert "≈" not in said(gpu=H100, server="DGX H100")


@pytest.fixture
def page(qtbot, catalog):
    workloads = (
        Train(id="train", llm=("Llama-3.1-70B",), tokens=1e11, sequence_tokens=2048),
        Serve(id="serve", llm=("Llama-3.1-8B",), load=QueueLoad()),
    )
    groups = (
        Group(gpu=H100, servers=16, runs=(Run(workload="train"),)),
        Group(gpu=V100, servers=2, condition="owned", runs=(Run(workload="serve", tp=8),)),
    )
    alone = Scenario(letter="B", groups=(Group(gpu=H100, runs=(Run(workload="serve"),)),))
    plan = Plan(workloads=workloads, scenarios=(Scenario(letter="A", groups=groups), alone))
    document = PlanDocument(catalog, plan)
    made = NetworkPage(document, Evaluation(document), ThemeSource("light"))
    qtbot.addWidget(made)
    made.retranslate()
    made.resize(1400, 900)
    made.show()
    qtbot.waitUntil(lambda: not made.work.busy)
    yield made
    made.finish()


def cells(table):
    return [[cell.text for cell in row] for row in table.text_model.rows]


def test_the_page_names_links_and_how_long_cards_wait_for_them(page):
    rows = cells(page.links)
    assert [row[0] for row in rows] == ["NVLink in 8× H100 SXM", "NVLink in 8× V100 SXM2", "InfiniBand", "Ethernet"]
    assert rows[0][1:3] == ["8 cards", "450 GB/s"]
    assert rows[2][1:3] == ["16 servers", "400 GB/s a server"]
    assert rows[0][3].startswith("training") or rows[2][3].startswith("training")


def test_the_page_compares_three_fabrics(page):
    assert [row[0] for row in cells(page.options)] == ["InfiniBand", "RoCE", "Ethernet"]


def test_parts_of_owned_servers_have_no_price_and_bought_ones_do(page):
    rows = {row[0]: row for row in cells(page.parts)}
    leaf = rows["Leaf switch Quantum-2 QM9700/QM9790"]
    # Four of the QM9700 of 2026 at 38,000 dollars.
    assert (leaf[1], leaf[2], leaf[3]) == ("4", "$38 k", "$152 k")
    assert next(row for name, row in rows.items() if "25 Gb/s" in name)[3] == "–"


def test_the_table_of_parts_goes_to_a_spreadsheet(page):
    page.copy()
    lines = QGuiApplication.clipboard().text().splitlines()
    assert lines[0].split("\t") == ["Part", "Count", "Each", "Price", "Power"]
    assert len(lines) == 1 + len(page.parts.text_model.rows)


def test_choosing_a_box_shows_the_facts_of_its_network(page):
    assert "InfiniBand" in page._titles["facts"].text()
    ethernet = next(box for box in page.canvas.drawing().boxes if box.fabric == 1)
    page.canvas.choose(ethernet.key)
    assert "Ethernet" in page._titles["facts"].text()


def test_a_single_server_is_said_to_need_no_network(page):
    page._document.select("B")
    assert cells(page.parts) == [] and not page.copy_button.isEnabled()
    assert page._titles["facts"].text() == "No network between servers"


@pytest.mark.parametrize("compact", [False, True])
def test_the_drawing_paints_at_any_size(qtbot, catalog, compact):
    canvas = NetworkCanvas(ThemeSource("dark"))
    qtbot.addWidget(canvas)
    scenario = Scenario(letter="A", groups=(Group(gpu=H100, servers=20), Group(gpu=V100)))
    plan = Plan(scenarios=(scenario,))
    fabrics = evaluate(plan, catalog).scenarios[0].room.fabrics
    canvas.show_network("A", scenario, fabrics, server_links(plan, "A", catalog), catalog, compact)
    for size in ((110, 60), (300, 200), (1200, 700)):
        canvas.resize(*size)
        assert not canvas.grab().isNull()
        assert all(rect.width() > 0 for _box, rect in canvas.boxes())
