"""Where the heat goes, and what air suits the servers."""

import pytest
from planning import LLAMA_8B, catalog, full_queue, group, outcome, plan, value

from gpuplanner.model import cooling
from gpuplanner.model.evaluate import evaluate
from gpuplanner.model.plan import Site
from gpuplanner.model.ways_out import ways_out

QUEUE = full_queue(LLAMA_8B)
LIQUID = "Supermicro SYS-421GE-TNHR2-LCC"


def room(*groups, **site):
    return outcome(*groups, workload=QUEUE, site=Site(**site)).room


def keys(*groups, **site):
    return {one.key: one for one in evaluate(plan(*groups, workload=QUEUE, site=Site(**site)), catalog()).findings}


def test_a_stated_rise_of_the_air_decides_its_flow():
    found = room(group(), air_rise_k=10.0)
    # P / (ρ · cp · ΔT) = P / (1.204 · 1006 · 10).
    assert value(found.airflow_m3_s) == pytest.approx(value(found.heat_w) / (1.204 * 1006.0 * 10.0))
    assert found.climate.air_rise_k == 10.0
    thin = room(group(), air_rise_k=10.0, altitude_m=2000.0)
    # At 2,000 m air has 78.5 % of its density.
    assert value(found.airflow_m3_s) / value(thin.airflow_m3_s) == pytest.approx(0.785, abs=0.001)


def test_a_door_of_a_rack_takes_all_heat_into_water():
    found = room(group(), cooling="rear-door", coolant_rise_k=6.0)
    # P / (998 · 4186 · 6 K).
    assert value(found.climate.coolant_flow_m3_s) == pytest.approx(value(found.heat_w) / (998.0 * 4186.0 * 6.0))
    assert value(found.climate.air_share) == 1.0


def test_a_tank_leaves_two_per_cent_in_the_air():
    found = room(group(server="DGX H100"), cooling="immersion")
    assert value(found.climate.air_share) == pytest.approx(0.02)
    assert found.climate.coolant == "water"


def test_a_server_without_cold_plates_gives_its_heat_to_the_air_of_a_liquid_room():
    cards = group("L40S 48GB", server="Lenovo ThinkSystem SR675 V3")
    found = room(cards, cooling="direct-liquid")
    assert value(found.air_heat_w) == value(found.heat_w)
    assert keys(cards, cooling="direct-liquid")["air_in_liquid_room"].level == "note"
    assert "air_in_liquid_room" not in keys(cards, cooling="crac")


def test_a_board_of_eight_that_is_listed_with_air_is_taken_with_cold_plates_and_said():
    found = room(group(server="DGX H100"), cooling="direct-liquid")
    assert value(found.climate.air_share) == pytest.approx(0.2)
    assert keys(group(server="DGX H100"), cooling="direct-liquid")["liquid_version"].level == "check"


def test_a_liquid_cooled_server_in_a_room_without_a_loop_is_said_and_has_a_way_out():
    assert keys(group(server=LIQUID), cooling="crac")["needs_liquid"].level == "check"
    assert "needs_liquid" not in keys(group(server=LIQUID), cooling="direct-liquid")
    asked = plan(group(server=LIQUID), workload=QUEUE, site=Site(cooling="crac", power_w=50e3))
    ways = ways_out(asked, catalog(), evaluate(asked, catalog()), "A")
    assert [way.edits for way in ways if way.key == "pipe_liquid"] == [((("site", "cooling"), "direct-liquid"),)]


# ASHRAE: a kelvin less for 300 m above 900 m in A1 and A2, for 175 m in A3, for 125 m in A4.
@pytest.mark.parametrize(
    ("warmest", "altitude", "less"), [(35, 900, 0), (35, 2100, 4), (32, 1200, 1), (40, 1250, 2), (45, 1150, 2)]
)
def test_thin_air_lowers_the_warmest_inlet(warmest, altitude, less):
    assert cooling.inlet_derating(warmest, altitude) == pytest.approx(less)


def test_altitude_makes_the_same_air_too_warm():
    # 30 °C at sea level, (3,000 - 900) / 300 = 7 K less at 3,000 m.
    assert "inlet_too_warm" not in keys(group(server="DGX H100"), supply_c=25.0, power_w=20e3)
    high = keys(group(server="DGX H100"), supply_c=25.0, altitude_m=3000.0, power_w=20e3)["inlet_too_warm"]
    assert high.numbers["limit_c"] == pytest.approx(23.0)


def test_air_below_the_lowest_inlet_is_said():
    assert keys(group(server="DGX H100"), supply_c=2.0)["inlet_too_cold"].numbers["limit_c"] == 5.0


def test_cooler_supply_is_offered_where_the_air_is_too_warm():
    asked = plan(group(server="DGX H100"), workload=QUEUE, site=Site(supply_c=33.0, rack_power_w=15e3))
    ways = ways_out(asked, catalog(), evaluate(asked, catalog()), "A")
    cooler = next(way for way in ways if way.key == "cool_supply" and way.finding_key == "inlet_too_warm")
    assert cooler.solves and cooler.edits == ((("site", "supply_c"), 30.0),)


@pytest.mark.parametrize(("warmest", "name"), [(30, ""), (32, "A1"), (35, "A2"), (39, "A2"), (40, "A3"), (50, "A4")])
def test_the_class_of_equipment_is_the_widest_that_it_stands(warmest, name):
    assert cooling.air_class_of(warmest) == name


@pytest.mark.parametrize(
    ("supply", "where"), [(22, "recommended"), (16, "allowable"), (29, "allowable"), (31, "outside"), (4, "outside")]
)
def test_supply_air_is_recommended_allowable_or_outside(supply, where):
    assert cooling.envelope_of(supply, 5.0, 30.0) == where
