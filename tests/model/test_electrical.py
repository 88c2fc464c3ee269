"""Circuits, plugs, power supplies and sizes by region; what no site and no number of servers may break."""

import pint
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from planning import H100, LLAMA_8B, catalog, faults, full_queue, group, outcome, plan, pretraining, value

from gpuplanner.model.bands import total
from gpuplanner.model.electrical import Circuit, circuit_of, cord_of, plug_of, supply_volts, ups_modules_for
from gpuplanner.model.evaluate import evaluate
from gpuplanner.model.plan import Group, Site
from gpuplanner.units import BTU_H_PER_W, LITRES_PER_M3, M3_H_PER_CFM, W_PER_TON

QUEUE = full_queue(LLAMA_8B)


def supply(*groups, workload=QUEUE, **site):
    return outcome(*groups, workload=workload, site=Site(**site)).room.supply


def keys(*groups, workload=QUEUE, **site):
    found = evaluate(plan(*groups, workload=workload, site=Site(**site)), catalog()).findings
    return {one.key: one for one in found}


# --- regions -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("region", "circuit"),
    [("CN", (380, 32, 3)), ("EU", (400, 32, 3)), ("UK", (400, 32, 3)), ("US", (208, 30, 3)), ("JP", (200, 30, 1))],
)
def test_a_region_brings_its_usual_circuit(region, circuit):
    assert circuit_of(Site(plug_region=region)) == circuit


def test_what_is_typed_wins_over_the_region():
    assert circuit_of(Site(plug_region="US", volts=415, amps=60)) == (415, 60, 3)
    assert circuit_of(Site(plug_region="EU", phases=1, volts=230)) == (230, 32, 1)


@pytest.mark.parametrize(
    ("region", "circuit", "plug"),
    [
        ("EU", Circuit(400, 32, 3), "IEC 60309 32 A, 3P+N+E"),
        ("CN", Circuit(380, 63, 3), "IEC 60309 63 A, 3P+N+E"),
        ("EU", Circuit(230, 32, 1), "IEC 60309 32 A, 2P+E"),
        ("EU", Circuit(230, 16, 1), "CEE 7/7"),
        ("UK", Circuit(230, 13, 1), "BS 1363"),
        ("UK", Circuit(230, 16, 1), "IEC 60309 16 A, 2P+E"),
        ("US", Circuit(120, 20, 1), "NEMA 5-20"),
        ("US", Circuit(208, 30, 1), "NEMA L6-30"),
        ("US", Circuit(208, 30, 3), "NEMA L21-30"),
        ("JP", Circuit(200, 30, 1), "NEMA L6-30"),
        ("EU", Circuit(400, 40, 3), ""),
        ("US", Circuit(415, 32, 3), "IEC 60309 32 A, 3P+N+E"),
        ("US", Circuit(480, 30, 3), ""),
    ],
)
def test_a_plug_follows_region_and_circuit_and_is_not_guessed(region, circuit, plug):
    assert plug_of(region, circuit) == plug


def test_a_power_supply_behind_three_phases_with_neutral_sees_230_volts():
    # 400 V / √3 = 230.9 V; in the USA supplies stand between two lines.
    assert supply_volts(Circuit(400, 32, 3)) == pytest.approx(230.9, abs=0.1)
    assert supply_volts(Circuit(415, 32, 3)) == pytest.approx(239.6, abs=0.1)
    assert supply_volts(Circuit(208, 30, 3)) == 208


@pytest.mark.parametrize(
    ("watts", "volts", "region", "cord"),
    [
        # Amps = W / (0.94 · 0.97 · V): 9.5, 15.7, 24.9, 13.7 and 17.4.
        (2000, 230, "EU", "C13"),
        (3300, 230, "EU", "C19"),
        (5250, 231, "EU", ""),
        (1500, 120, "US", "C13"),
        (3300, 208, "US", "C19"),
    ],
)
def test_a_cord_carries_the_current_of_its_power_supply(watts, volts, region, cord):
    assert cord_of(watts, volts, 0.94, 0.97, region) == cord


# --- circuits, feeds, sizes ------------------------------------------------------------------------


def test_two_feeds_need_twice_the_circuits():
    one, two = (supply(group(server="DGX H100", servers=3), feeds=feeds) for feeds in (1, 2))
    assert two.circuits == 2 * one.circuits


def test_rented_servers_need_no_circuit():
    found = supply(group(condition="rented"))
    assert (found.circuits, found.ups_modules, value(found.generator_va)) == (0, 0, 0.0)


def test_cards_that_no_entry_describes_need_an_unknown_number_of_circuits():
    found = supply(group("nonsense"))
    assert found.circuits is None and found.groups[0].circuits is None
    assert not found.generator_va.known


def test_a_server_larger_than_a_circuit_is_said():
    # 208 V · 30 A · √3 · 0.8 · 0.97 = 8.39 kW on one circuit; the server's type plate says 10.2.
    found = keys(group(server="DGX H100"), plug_region="US")
    assert found["several_circuits"].numbers["count"] == 2
    assert "several_circuits" not in keys(group(server="DGX H100"), plug_region="EU")


def test_what_the_loss_of_a_feed_does_is_said_where_there_are_two():
    assert "feed_loss_slows" in keys(group(server="DGX H100"), feeds=2)
    assert "feed_loss_slows" not in keys(group(server="DGX A100 80GB", gpu="A100 SXM 80GB"), feeds=2)
    assert "feed_loss_slows" not in keys(group(server="DGX H100"), feeds=1)


def test_the_limit_that_binds_a_rack_is_said_where_it_is_not_height():
    assert keys(group(server="DGX H100", servers=8), rack_power_w=25e3)["rack_binds"].numbers["binds"] == "power"
    heavy = keys(group(server="DGX H100", servers=8), rack_power_w=100e3, rack_weight_kg=300.0)["rack_binds"]
    assert (heavy.numbers["binds"], heavy.numbers["count"]) == ("weight", 2)
    assert "rack_binds" not in keys(group(server="DGX H100", servers=8), rack_power_w=100e3)


def test_ups_modules_carry_the_load_with_one_of_them_lost():
    # 61.7 kW: three of 25 kW and a spare; 458 kW: five of 100 kW are more than four of a size, so two of 250 kW.
    assert ups_modules_for(61.7e3) == (25e3, 4)
    assert ups_modules_for(458e3) == (250e3, 3)
    assert ups_modules_for(0.0) == (0.0, 0)


@given(st.floats(1.0, 1e9))
def test_a_ups_without_one_module_still_carries_the_load(load):
    size, modules = ups_modules_for(load)
    assert (modules - 1) * size >= load * (1 - 1e-9)


def test_the_whole_site_at_peak_is_its_equipment_losses_and_cooling():
    peak = supply(group(servers=4), ups_w=1e6).peak_w
    assert sum(part.value for part in peak.parts) == pytest.approx(value(peak))


# --- properties ------------------------------------------------------------------------------------

sites = st.builds(
    Site,
    power_w=st.none() | st.floats(1.0, 1e10),
    feeds=st.sampled_from([1, 2]),
    ups_w=st.none() | st.floats(1.0, 1e10),
    plug_region=st.sampled_from(["CN", "EU", "UK", "US", "JP", "other"]),
    volts=st.just("auto") | st.floats(90, 1000),
    amps=st.just("auto") | st.floats(1, 10_000),
    phases=st.sampled_from(["auto", 1, 3]),
    continuous_factor=st.sampled_from([5e-324, 1e-300, 1e-6, 0.8, 1.0]),
    rack_power_w=st.none() | st.floats(1e-3, 1e7),
    rack_units=st.integers(1, 100),
    rack_weight_kg=st.none() | st.floats(1e-3, 1e5),
    racks=st.none() | st.integers(1, 100_000),
    cooling=st.sampled_from(
        ["split", "crac", "containment", "in-row", "rear-door", "free-air", "direct-liquid", "immersion", "colocation"]
    ),
    cooling_w=st.none() | st.floats(1.0, 1e10),
    supply_c=st.floats(-40, 60),
    altitude_m=st.floats(-500, 6000),
    air_rise_k=st.just("auto") | st.floats(1, 60),
    coolant_rise_k=st.just("auto") | st.floats(1, 40),
    pue=st.just("auto") | st.floats(1, 5),
)
servers = st.sampled_from(["", "DGX H100", "Supermicro SYS-421GE-TNHR2-LCC"])


@given(site=sites, count=st.sampled_from([1, 2, 7, 300, 12_500, 100_000]), server=servers, busy=st.booleans())
@settings(max_examples=60, deadline=None)
def test_no_site_and_no_number_of_servers_breaks_the_room(site, count, server, busy):
    one = group(H100, "serve" if busy else None, server=server, servers=count)
    results = evaluate(plan(one, workload=QUEUE, site=site), catalog())
    assert faults(results) == set()
    found = results.scenarios[0].room
    assert value(found.heat_w) == value(found.it_load_w)
    assert 1 <= found.racks - found.network_racks <= count
    assert found.supply.circuits is None or found.supply.circuits >= found.supply.feeds


@given(first=st.integers(1, 400), second=st.integers(1, 400), feeds=st.sampled_from([1, 2]))
@settings(max_examples=30, deadline=None)
def test_more_servers_never_need_less_supply(first, second, feeds):
    low, high = sorted((first, second))
    few, many = (supply(group(server="DGX H100", servers=count), feeds=feeds) for count in (low, high))
    assert few.circuits <= many.circuits
    for name in ("ups_va", "generator_va", "peak_w", "energy_per_year_j"):
        assert value(getattr(few, name)) <= value(getattr(many, name)) * (1 + 1e-9), name


_RANK = {"ok": 0, "unknown": 0, "warn": 1, "fail": 2}


@given(site=sites, limit=st.sampled_from(["power_w", "cooling_w", "ups_w", "racks", "rack_weight_kg"]))
@settings(max_examples=40, deadline=None)
def test_removing_a_limit_never_makes_the_verdict_worse(site, limit):
    one = group("L40S 48GB", None, gpus_per_server=4, servers=12)
    kept, freed = (
        outcome(one, workload=QUEUE, site=which).room_check for which in (site, site.model_copy(update={limit: None}))
    )
    assert _RANK[freed.status] <= _RANK[kept.status]


@given(st.sampled_from(sorted(catalog().servers)), st.sampled_from(["crac", "direct-liquid", "immersion"]))
@settings(max_examples=40, deadline=None)
def test_the_parts_of_any_server_are_its_power(name, cooling):
    server = catalog().servers[name]
    gpu = next((each for each in server.gpu_options if each in catalog().gpus), "")
    stated = Group(gpu=gpu, server=name, gpus_per_server=server.gpus_per_server)
    found = outcome(stated, workload=QUEUE, site=Site(cooling=cooling)).room
    one = found.supply.groups[0].server_w
    assert sum(part.value for part in one.parts) == pytest.approx(value(one))
    assert all(part.value >= 0.0 for part in one.parts)
    assert value(total([found.groups[0].load_w])) == pytest.approx(value(one))


def test_training_names_no_more_fans_in_liquid():
    air, liquid = (
        supply(group(workload="train"), workload=pretraining(), cooling=kind).groups[0].server_w
        for kind in ("crac", "direct-liquid")
    )
    assert "fans" in {part.name for part in air.parts}
    assert "fans" not in {part.name for part in liquid.parts}


def test_conversions_of_the_room_agree_with_pint():
    unit = pint.UnitRegistry(cache_folder=None).Quantity
    assert unit(1.0, "watt").to("Btu_it / hour").magnitude == pytest.approx(BTU_H_PER_W, rel=1e-6)
    assert unit(12_000.0, "Btu_it / hour").to("watt").magnitude == pytest.approx(W_PER_TON, rel=1e-5)
    assert unit(1.0, "foot ** 3 / minute").to("meter ** 3 / hour").magnitude == pytest.approx(M3_H_PER_CFM, rel=1e-6)
    assert unit(1.0, "meter ** 3").to("litre").magnitude == pytest.approx(LITRES_PER_M3)


def test_desks_have_no_rack_that_binds():
    # Twelve workstations of 1.6 kW would be more than a rack of 15 kW takes.
    desk = "Dual RTX 4090 / 5090 workstation"
    tower = group("GeForce RTX 4090 24GB", None, server=desk, gpus_per_server=2, servers=12)
    assert supply(tower).groups[0].rack_binds == ""
