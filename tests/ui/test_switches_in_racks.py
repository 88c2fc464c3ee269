"""Switches in the racks: above the servers, and else in racks of their own."""

import pytest

from gpuplanner.model.evaluate import evaluate
from gpuplanner.model.plan import Group, Plan, Scenario, Site
from gpuplanner.ui.charts.racks import Device, Limits, arrange, devices_of, limits_of, switches_of, with_switches


def servers(count, units=8, power_w=10_200.0):
    return [Device(0, number, "server", 8, units, power_w, 130.0) for number in range(count)]


SWITCH = Device(-1, 0, "QM9700", 0, 1, 1000.0, 14.0, switch=True)


def test_switches_stand_at_the_top_of_the_racks_two_units_each():
    racks = with_switches(arrange(servers(10), Limits(42)), [SWITCH] * 3, Limits(42), 0).racks
    tops = [[place.unit for place in rack.standing if place.device.switch] for rack in racks]
    assert tops == [[41, 42], [42]]


def test_a_rack_without_power_to_spare_takes_no_switch():
    limits = Limits(42, power_w=20_500.0)
    racks = with_switches(arrange(servers(2), limits), [SWITCH] * 3, limits, 1).racks
    assert [[place.device.switch for place in rack.standing] for rack in racks] == [[False, False], [True] * 3]
    assert [place.unit for place in racks[1].standing] == [1, 2, 3]


@pytest.mark.parametrize("site", [Site(), Site(rack_power_w=25e3), Site(rack_power_w=45e3), Site(rack_units=10)])
@pytest.mark.parametrize("count", [1, 2, 8, 40, 130])
def test_servers_and_switches_stand_in_the_racks_that_the_room_counts(site, count, catalog):
    group = Group(server="DGX H100", gpu="H100 SXM 80GB", servers=count)
    plan = Plan(scenarios=(Scenario(letter="A", groups=(group,)),), site=site)
    room = evaluate(plan, catalog).scenarios[0].room
    limits = limits_of(site, catalog)
    standing = arrange(devices_of(plan.scenarios[0], room, site, catalog), limits)
    drawn = with_switches(standing, switches_of(room, catalog), limits, room.network_racks)
    assert len(drawn.racks) == room.racks
    placed = sum(place.device.switch for rack in drawn.racks for place in rack.standing)
    assert placed == sum(fabric.leaf + fabric.spine + fabric.core + fabric.single_switch for fabric in room.fabrics)
