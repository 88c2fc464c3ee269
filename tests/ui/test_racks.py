import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuplanner.catalog.load import load
from gpuplanner.model.evaluate import evaluate
from gpuplanner.model.plan import Group, Placed, Plan, Scenario, Site
from gpuplanner.storage.samples import SAMPLES, open_sample
from gpuplanner.ui.charts.racks import (
    Device,
    Limits,
    RackView,
    arrange,
    devices_of,
    limits_of,
    rack_status,
    switches_of,
    with_switches,
)
from gpuplanner.ui.document import PlanDocument
from gpuplanner.ui.theme import ThemeSource


@pytest.fixture(scope="module")
def catalog():
    return load()


def servers(count, units=8, power_w=10_200.0, weight_kg=130.0, group=0):
    return [Device(group, number, "server", 8, units, power_w, weight_kg) for number in range(count)]


devices = st.lists(
    st.builds(
        Device,
        group=st.integers(0, 3),
        server=st.integers(0, 50),
        name=st.just("server"),
        gpus=st.integers(0, 8),
        units=st.integers(1, 48),
        power_w=st.floats(100, 150_000),
        weight_kg=st.floats(5, 1500),
    ),
    max_size=30,
)


def test_racks_fill_from_the_bottom_without_gaps():
    racks = arrange(servers(5), Limits(42)).racks
    assert [place.unit for place in racks[0].standing] == [1, 9, 17, 25, 33]


def test_power_of_a_rack_stops_it_before_its_height_does():
    # 22 kW carry two servers of 10.2 kW, 42 U would carry five.
    racks = arrange(servers(5), Limits(42, power_w=22_000)).racks
    assert [len(rack.standing) for rack in racks] == [2, 2, 1]


def test_two_servers_that_use_the_limit_exactly_share_a_rack():
    assert len(arrange(servers(2, power_w=11_000.0), Limits(42, power_w=22_000)).racks) == 1


def test_weight_of_a_rack_is_a_limit_too():
    assert len(arrange(servers(4, weight_kg=300.0), Limits(42, weight_kg=1000)).racks) == 2


def test_a_device_over_every_limit_is_still_drawn_in_a_rack_of_its_own():
    whole_rack = Device(0, 0, "NVL72", 72, 48, 132_000.0, 1360.0)
    arrangement = arrange([whole_rack], Limits(42, 15_000, 1000))
    assert len(arrangement.racks) == 1
    assert rack_status(arrangement.racks[0], Limits(42, 15_000, 1000))[0] == "fail"


def test_places_that_the_plan_states_are_kept():
    arrangement = arrange(servers(2), Limits(42), {(0, 1): (3, 20)})
    assert [(rack.number, [place.unit for place in rack.standing]) for rack in arrangement.racks] == [
        (1, [1]),
        (3, [20]),
    ]


def test_a_loose_server_fills_the_gap_under_a_placed_one():
    placed, loose = servers(1), servers(2, group=1)
    racks = arrange(placed + loose, Limits(42), {(0, 0): (1, 12)}).racks
    assert [(place.device.group, place.unit) for place in racks[0].standing] == [(1, 1), (0, 12), (1, 20)]


def test_a_device_of_unknown_height_stands_beside_the_racks():
    arrangement = arrange([Device(0, 0, "desktop", 1, None)], Limits())
    assert not arrangement.racks
    assert [device.name for device in arrangement.beside] == ["desktop"]


@given(devices)
def test_every_device_stands_exactly_once_and_none_overlap(made):
    made = [device._replace(server=at) for at, device in enumerate(made)]
    arrangement = arrange(made, Limits(42, 40_000, 1200))
    standing = [place for rack in arrangement.racks for place in rack.standing]
    assert sorted(place.device.server for place in standing) == list(range(len(made)))
    for rack in arrangement.racks:
        top = 0
        for place in rack.standing:
            assert place.unit > top
            top = place.unit + place.device.units - 1
        if len(rack.standing) > 1:
            assert top <= 42
            assert rack.power_w <= 40_000 * (1 + 1e-6)


def test_height_comes_from_the_record_and_else_from_its_class(catalog):
    # The DGX H100 is 8 U by its data sheet; a custom 8-GPU box of SXM5 cards has the class value of 8 U.
    groups = (Group(server="DGX H100", gpu="H100 SXM 80GB"), Group(gpu="H20 96GB", gpus_per_server=8))
    stated, assumed = devices_of(Scenario(letter="A", groups=groups), None, Site(), catalog)
    assert (stated.units, stated.units_assumed) == (8, False)
    assert (assumed.units, assumed.units_assumed) == (8, True)


def test_groups_stand_in_racks_of_their_own():
    racks = arrange(servers(1) + servers(1, group=1), Limits(42)).racks
    assert [[place.device.group for place in rack.standing] for rack in racks] == [[0], [1]]


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.key)
def test_as_many_racks_are_drawn_as_the_room_is_reckoned_with(sample, catalog):
    plan = open_sample(sample.key).plan
    pinned = catalog.over(plan.entries)
    for result in evaluate(plan, catalog).scenarios:
        scenario = next(each for each in plan.scenarios if each.letter == result.letter)
        limits = limits_of(plan.site, pinned)
        servers_alone = arrange(devices_of(scenario, result.room, plan.site, pinned), limits)
        switches = switches_of(result.room, pinned)
        arrangement = with_switches(servers_alone, switches, limits, result.room.network_racks)
        assert len(arrangement.racks) == result.room.racks


def test_rented_servers_do_not_stand_in_our_room(catalog):
    scenario = Scenario(letter="A", groups=(Group(gpu="H20 96GB", condition="rented", servers=3),))
    assert devices_of(scenario, None, Site(), catalog) == ()


@pytest.fixture
def view(qtbot, catalog):
    groups = (Group(server="DGX H100", gpu="H100 SXM 80GB", servers=6), Group(gpu="H20 96GB", condition="owned"))
    plan = Plan(
        site=Site(rack_power_w=22_000, rack_weight_kg=1000),
        scenarios=(Scenario(letter="A", groups=groups), Scenario(letter="B", groups=(Group(gpu="L40S 48GB"),))),
    )
    made = RackView(PlanDocument(catalog, plan), None, ThemeSource("light"))
    qtbot.addWidget(made)
    made.resize(1200, 600)
    made.show()
    return made


def test_the_drawing_follows_the_scenario_in_the_builder(view):
    # Five servers of 8 U leave two units of 42 for switches; the sixth and the other group begin racks of their own.
    assert len(view.racks.arrangement.racks) == 3
    view.document.select("B")
    assert len(view.racks.arrangement.racks) == 1
    assert "1 server in 1 rack" in view.accessibleName()


def test_the_drawing_follows_an_edit_and_its_undo(view):
    view.document.set_value(("scenarios", 0, "groups", 0, "servers"), 12, "Servers")
    assert sum(len(rack.standing) for rack in view.racks.arrangement.racks) == 13
    view.document.undo()
    assert sum(len(rack.standing) for rack in view.racks.arrangement.racks) == 7


def test_a_placement_in_the_plan_is_drawn_where_it_says(view):
    placed = (Placed(group=0, server=0, rack=2, unit=30),)
    view.document.set_value(("scenarios", 0, "placement"), placed, "Place")
    rack = next(rack for rack in view.racks.arrangement.racks if rack.number == 2)
    assert any(place.unit == 30 and place.device.group == 0 for place in rack.standing)


def test_heights_are_drawn_to_scale(view):
    heights = {place.device.group: box.height() for _rack, place, box in view.racks.boxes()}
    frame = view.racks.frames()[0]
    # 8 of 42 U, less the two pixels between devices.
    assert heights[0] == pytest.approx(frame.height() * 8 / 42 - 2, abs=0.1)


def test_a_low_view_draws_the_small_form(view, qtbot):
    view.document.select("B")
    view.resize(260, 130)
    qtbot.waitUntil(lambda: view.racks.compact)
    assert view.racks.shown_units() < 42
    assert not view.grab().isNull()


def test_every_device_has_words_for_a_screen_reader(view):
    lines = view.accessibleDescription().splitlines()
    assert sum("DGX H100 ·" in line for line in lines) == 6
    assert any("8 GPUs" in line and "units 1 to 8" in line for line in lines)
