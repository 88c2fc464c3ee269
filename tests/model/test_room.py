"""Power, heat and space of a scenario; every watt once, and rented servers none."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from planning import H100, LLAMA_8B, catalog, full_queue, group, outcome, plan, pretraining, value

from gpuplanner.model.bands import total
from gpuplanner.model.evaluate import evaluate
from gpuplanner.model.plan import Group, Site
from gpuplanner.model.room import servers_per_rack

QUEUE = full_queue(LLAMA_8B)
# BTU/h a watt and watts a ton of refrigeration, as handbooks print them.
BTU_H_PER_W, W_PER_TON = 3.412, 3517.0


def room(*groups, workload=QUEUE, **site):
    return outcome(*groups, workload=workload, site=Site(**site)).room


def findings(*groups, **fields):
    """What a buyer is told, by key."""
    return {one.key: one for one in evaluate(plan(*groups, workload=QUEUE, **fields), catalog()).findings}


def reasons(*groups, workload=QUEUE, **site):
    """The verdict on the room, by key."""
    return outcome(*groups, workload=workload, site=Site(**site)).room_check


def test_the_load_is_the_sum_of_its_groups_and_the_network():
    found = room(group(servers=2), group("L40S 48GB", None, gpus_per_server=4))
    parts = total([*(one.load_w for one in found.groups), found.network_w])
    assert found.it_load_w[:3] == pytest.approx(parts[:3])
    assert value(found.it_nameplate_w) == pytest.approx(
        sum(value(one.nameplate_w) for one in found.groups) + value(found.network_w)
    )


def test_one_server_needs_no_switch():
    assert value(room(group()).network_w) == 0.0
    assert value(room(group(servers=2)).network_w) > 0.0


def test_idle_average_load_and_nameplate_are_in_order():
    for one in room(group(servers=3), group("L40S 48GB", None, gpus_per_server=4)).groups:
        assert value(one.idle_w) <= value(one.average_w) <= value(one.load_w) <= value(one.nameplate_w)


def test_heat_is_the_load_in_every_unit():
    found = room(group(servers=2))
    heat = value(found.heat_w)
    assert heat == value(found.it_load_w)
    assert value(found.heat_btu_h) == pytest.approx(heat * BTU_H_PER_W, rel=1e-3)
    assert value(found.cooling_tons) == pytest.approx(heat / W_PER_TON, rel=1e-3)


def test_the_room_takes_the_average_times_its_pue():
    found = room(group(), pue=1.5)
    assert value(found.facility_w) == pytest.approx(1.5 * value(found.it_average_w))


def test_rented_servers_draw_nothing_here():
    found = room(group(condition="rented"), power_w=1.0, cooling_w=1.0)
    assert found.groups == ()
    for figure in (found.it_load_w, found.it_nameplate_w, found.facility_w, found.heat_w, found.weight_kg):
        assert value(figure) == 0.0
    assert found.racks == 0
    assert reasons(group(condition="rented"), power_w=1.0).key == "nothing_in_room"


def test_owned_servers_draw_as_much_as_new_ones():
    assert room(group(condition="owned")).it_load_w == room(group(condition="new")).it_load_w


def test_a_server_that_runs_nothing_idles():
    one = room(group(workload=None)).groups[0]
    assert value(one.load_w) == value(one.idle_w) == value(one.average_w)


def test_cards_that_no_entry_describes_draw_an_unknown_power():
    found = room(group("nonsense"))
    assert not found.it_load_w.known
    assert reasons(group("nonsense"), power_w=1e6).status == "unknown"


def test_a_power_cap_lowers_load_and_nameplate():
    training = pretraining()
    free, capped = (
        room(group(workload="train", power_cap_w=watts), workload=training).groups[0] for watts in (None, 500.0)
    )
    assert value(capped.load_w) < value(free.load_w)
    # Eight cards that may draw 200 W less each.
    assert value(free.nameplate_w) - value(capped.nameplate_w) == pytest.approx(8 * 200.0)


def test_liquid_takes_most_of_the_heat_out_of_the_air():
    # Class value of cold plates: 80 % (70 to 90).
    found = room(group(), cooling="direct-liquid")
    assert value(found.air_heat_w) == pytest.approx(0.2 * value(found.heat_w))
    assert value(room(group(), cooling="crac").air_heat_w) == value(room(group(), cooling="crac").heat_w)


def test_air_flow_follows_the_class_value_and_thin_air_needs_more():
    # 110 CFM a kW for 8-GPU servers; 1 CFM = 1.699 m³/h.
    found = room(group())
    kw = value(found.air_heat_w) / 1000.0
    assert value(found.airflow_m3_s) == pytest.approx(kw * 110.0 * 1.699011 / 3600.0, rel=0.02)
    assert value(room(group(), altitude_m=2000.0).airflow_m3_s) > 1.2 * value(found.airflow_m3_s)


# --- the limits ----------------------------------------------------------------------------------


def test_the_room_holds_what_stays_under_every_limit_with_its_nameplate():
    assert reasons(group(), power_w=15e3, cooling_w=15e3, rack_power_w=15e3).status == "ok"


@pytest.mark.parametrize("what", ["power", "cooling", "ups"])
def test_a_limit_is_exceeded_tight_or_met_only_without_the_nameplate(what):
    load = room(group()).it_load_w
    plate = value(room(group()).it_nameplate_w)
    field = f"{what}_w"
    assert reasons(group(), **{field: 0.9 * value(load)}).key == f"exceeds_{what}"
    assert reasons(group(), **{field: 0.9 * value(load)}).status == "fail"
    assert reasons(group(), rack_power_w=15e3, **{field: (value(load) + load.high) / 2}).key == f"tight_{what}"
    above_band = max(load.high, value(load) / 0.95) * 1.001
    assert above_band < plate
    held = reasons(group(), rack_power_w=15e3, **{field: above_band})
    assert (held.status, held.key) == ("warn", f"nameplate_exceeds_{what}")


def test_without_limits_nothing_is_judged():
    assert reasons(group(), rack_power_w=15e3).key == "no_limit"


def test_a_room_that_cannot_remove_the_heat_slows_the_cards():
    load = value(room(group(workload="train"), workload=pretraining()).heat_w)
    found = room(group(workload="train"), workload=pretraining(), cooling_w=0.8 * load)
    assert 0.0 < value(found.throttled_speed) < 1.0
    assert found.throttled_speed.basis == "not validated"
    assert value(room(group(), cooling_w=1e6).throttled_speed) == 1.0


@given(first=st.floats(2e3, 12e3), second=st.floats(2e3, 12e3))
@settings(max_examples=25, deadline=None)
def test_more_cooling_never_slows_the_cards(first, second):
    low, high = sorted((first, second))
    slow, fast = (
        value(room(group(workload="train"), workload=pretraining(), cooling_w=watts).throttled_speed)
        for watts in (low, high)
    )
    assert slow <= fast + 1e-9


def held_back(**site):
    """A training server in a room that holds its cards back, and the same one in a room that does not."""
    work = pretraining()
    free = outcome(group(workload="train"), workload=work)
    cooling = site.pop("cooling", None)
    if cooling is not None:
        site["cooling_w"] = cooling * value(free.room.heat_w)
    return free, outcome(group(workload="train"), workload=work, site=Site(**site))


def test_what_the_room_holds_back_is_missing_in_speed_time_and_energy():
    free, warm = held_back(cooling=0.8)
    share = value(warm.room.throttled_speed)
    assert value(warm.train[0].tokens_s) == pytest.approx(share * value(free.train[0].tokens_s), rel=1e-9)
    assert value(warm.train[0].duration_s) > value(free.train[0].duration_s)
    assert value(warm.room.facility_w) < value(free.room.facility_w)
    # The room still shows what is asked of it.
    assert value(warm.room.heat_w) == value(free.room.heat_w)


def test_cards_held_back_by_a_fifth_of_the_heat_lose_what_the_measured_cap_curve_says():
    # 8 x H100 air-cooled: 2.8 kW of chassis, cards at 0.93 x 700 W = 651 W. A fifth of (2.8 + 5.21) kW is 1.60 kW or
    # 200 W a card: 451 W left. Above 76 W of idle and below 651 W that is 0.65 of the range; 0.65 ^ (1 / 2.7) = 0.853
    # of the card's compute, a little more of the whole step.
    _, warm = held_back(cooling=0.8)
    assert value(warm.room.throttled_speed) == pytest.approx(0.87, abs=0.04)


def test_a_cooling_limit_acts_like_a_power_cap_of_the_same_watts():
    _, warm = held_back(cooling=0.85)
    ((_, watts),) = warm.room.device_limits_w
    capped = outcome(group(workload="train", power_cap_w=watts), workload=pretraining())
    assert value(warm.train[0].tokens_s) == pytest.approx(value(capped.train[0].tokens_s), rel=1e-9)


def test_air_above_the_limit_of_the_server_slows_its_cards():
    free, warm = held_back(supply_c=45.0)
    assert value(warm.train[0].tokens_s) < value(free.train[0].tokens_s)
    assert value(held_back(supply_c=30.0)[1].train[0].tokens_s) == value(free.train[0].tokens_s)


def test_a_room_that_cannot_carry_even_the_lowest_power_limit_says_that_cards_shut_down():
    found = findings(group(), site=Site(cooling_w=2e3))
    assert found["cannot_be_cooled"].level == "stop"
    assert "throttles" not in found


def test_air_that_is_too_warm_is_said():
    assert reasons(group(), supply_c=50.0, rack_power_w=15e3).key == "inlet_too_warm"


def test_a_rack_that_the_plan_limits_is_exceeded_by_one_server():
    assert reasons(group(), rack_power_w=5e3).key == "exceeds_rack"
    assert reasons(group(), rack_power_w=5e3).status == "fail"


def test_too_many_racks_are_said():
    assert reasons(group(servers=20), racks=1, rack_power_w=15e3).key == "too_many_racks"


@pytest.mark.parametrize(
    ("site", "count"),
    [
        # 42 U less 2 for switches hold five servers of 8 U; 40 kW feed three of 10.2 kW; 300 kg carry two of 130 kg.
        (Site(), 5),
        (Site(rack_power_w=40e3), 3),
        (Site(rack_weight_kg=300.0), 2),
    ],
)
def test_a_rack_holds_what_height_power_and_weight_allow(site, count):
    limit = site.rack_power_w or 1e9
    assert servers_per_rack(site, limit, 8.0, 10_200.0, 130.0) == count


def test_switches_stand_above_the_servers_and_else_in_racks_of_their_own():
    # 32 DGX H100, four in a rack of 45 kW: 12 switches of 1 U for 256 ports stand in the 2 U that eight racks keep.
    assert room(group(server="DGX H100", servers=32), rack_power_w=45e3).network_racks == 0
    tall = room(group(server="DGX H100", servers=40), rack_units=8, rack_power_w=1e6)
    leaves = sum(part.number for one in tall.fabrics for part in one.parts if part.key in ("leaf", "spine", "core"))
    # Racks of 8 U take one server and no switch, or eight switches.
    assert tall.network_racks == -(-leaves // 8)
    assert tall.racks == 40 + tall.network_racks


@given(first=st.integers(1, 200), second=st.integers(1, 200))
@settings(max_examples=30, deadline=None)
def test_more_servers_never_draw_less(first, second):
    low, high = sorted((first, second))
    few, many = (room(group(servers=count)) for count in (low, high))
    for name in ("it_load_w", "it_average_w", "it_nameplate_w", "facility_w", "heat_w", "weight_kg", "rack_units"):
        assert value(getattr(few, name)) <= value(getattr(many, name)) * (1 + 1e-9), name
    assert few.racks <= many.racks


@given(first=st.integers(1, 8), second=st.integers(1, 8), gpu=st.sampled_from(["L40S 48GB", H100]))
@settings(max_examples=30, deadline=None)
def test_more_cards_in_a_server_never_draw_less(first, second, gpu):
    low, high = sorted((first, second))
    training = pretraining()
    few, many = (
        room(group(gpu, "train", gpus_per_server=count, chassis_class="pcie_8gpu"), workload=training)
        for count in (low, high)
    )
    for name in ("it_load_w", "it_nameplate_w", "facility_w"):
        assert value(getattr(few, name)) <= value(getattr(many, name)) * (1 + 1e-9), name


def test_every_server_of_the_catalog_has_power_size_and_weight():
    for server in catalog().servers.values():
        gpu = next((name for name in server.gpu_options if name in catalog().gpus), "")
        found = room(Group(gpu=gpu, server=server.name, gpus_per_server=server.gpus_per_server), workload=QUEUE)
        for figure in (found.it_load_w, found.it_nameplate_w, found.rack_units, found.weight_kg):
            assert value(figure) > 0.0, server.name


def test_an_empty_scenario_needs_nothing():
    assert value(room().it_load_w) == 0.0
