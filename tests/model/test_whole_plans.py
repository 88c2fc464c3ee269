"""Whole plans by hand: what three rooms need, with the arithmetic beside each figure.

Inputs of the arithmetic are printed figures of the catalog (nameplates, TDP, power supplies, switches) and the class
values of `assumptions` (rest of a server at load, shares, efficiencies).
"""

import pytest
from planning import H100, RTX4090, full_queue, group, outcome, pretraining, value

from gpuplanner.model.plan import Network, Site

# One cubic foot a minute in m³/s.
CFM = 0.3048**3 / 60.0
KWH = 3.6e6
TRAINING_CARD_W = 0.93 * 700.0


def office():
    """Two workstations with two RTX 4090 each, on sockets of 230 V and 16 A, cooled by a split unit."""
    return outcome(
        group(RTX4090, server="Dual RTX 4090 / 5090 workstation", gpus_per_server=2, servers=2),
        workload=full_queue("Llama-3.1-8B"),
        site=Site(volts=230, amps=16, phases=1, cooling="split", power_w=6e3, cooling_w=5e3),
    )


def test_an_office_with_two_workstations_draws_two_kilowatts():
    found = office().room
    card = value(found.groups[0].gpu_load_w)
    assert 300.0 < card <= 450.0
    # A workstation: 100 W beside its two cards. A small switch for two ports of 10 Gbit/s: 12 W.
    assert value(found.it_load_w) == pytest.approx(2 * (100.0 + 2 * card) + 12.0)
    # Type plates of 1,600 W.
    assert value(found.it_nameplate_w) == pytest.approx(2 * 1600.0 + 12.0)
    assert value(found.heat_w) == value(found.it_load_w)


def test_an_office_with_two_workstations_takes_two_sockets():
    supply = office().room.supply
    # 230 V · 16 A · 0.8 = 2,944 VA; at a power factor of 0.97 2,856 W: one workstation of 1,600 W each, and the switch
    # goes beside one of them.
    assert supply.circuit_va == pytest.approx(2944.0)
    assert supply.circuit_w == pytest.approx(2855.7, abs=0.1)
    assert (supply.circuits, supply.network_circuits) == (2, 0)
    assert supply.plug == "CEE 7/7"
    # 1,600 W / 0.945 / 0.97 / 230 V = 7.6 A: below the 10 A of a C13. One power supply stops with its feed.
    assert supply.groups[0].cord == "C13"
    assert supply.groups[0].feed_loss == "stops"


def test_an_office_with_two_workstations_moves_140_cubic_feet_a_minute_for_a_kilowatt():
    found = office().room
    assert value(found.airflow_m3_s) == pytest.approx(value(found.heat_w) / 1000.0 * 140.0 * CFM, rel=1e-4)
    # 1 / (1.204 · 1006 · 140 CFM/kW) = 1000 / (1211.2 · 0.06607) = 12.5 K.
    assert found.climate.air_rise_k == pytest.approx(12.5, abs=0.05)
    assert value(found.climate.air_share) == 1.0
    assert found.climate.coolant == ""


def test_an_office_with_two_workstations_needs_a_small_ups():
    supply = office().room.supply
    # 3,212 W / 0.985 = 3,261 W behind the strip; / 0.97 = 3,362 VA: two modules of 3 kW and a spare one.
    assert value(supply.ups_load_w) == pytest.approx(3261.0, abs=1.0)
    assert value(supply.ups_va) == pytest.approx(3362.0, abs=1.0)
    assert (supply.ups_module_w, supply.ups_modules) == (3000.0, 3)


def h100_room():
    """Sixteen DGX H100 in four racks of 45 kW, aisle containment, two feeds of 415 V and 32 A circuits, training."""
    return outcome(
        group(H100, "train", server="DGX H100", servers=16),
        workload=pretraining(),
        network=Network(fabric="infiniband"),
        site=Site(volts=415, amps=32, phases=3, feeds=2, rack_power_w=45e3, cooling="containment", supply_c=24.0),
    )


def test_a_room_of_sixteen_h100_servers_draws_137_kilowatts():
    found = h100_room().room
    # A server: 2,800 W + 8 · 651 W = 8,008 W. 128 ports of NDR: four leaves of 32 down and 32 up, two spines, 747 W
    # each; four racks are too wide for copper, so 128 + 128 fibres with two transceivers of 0.85 · 9 W each.
    switches, optics = 6 * 747.0, 2 * 256 * 0.85 * 9.0
    assert value(found.network_w) == pytest.approx(switches + optics)
    assert value(found.it_load_w) == pytest.approx(16 * 8008.0 + switches + optics)
    assert value(found.it_load_w) == pytest.approx(136_527.0, abs=1.0)
    assert value(found.it_nameplate_w) == pytest.approx(16 * 10_200.0 + 8398.8)


def test_a_room_of_sixteen_h100_servers_names_every_watt_of_a_server_once():
    server = h100_room().room.supply.groups[0].server_w
    parts = {part.name: part.value for part in server.parts}
    assert value(server) == pytest.approx(8008.0)
    # 8 · 651 W of cards, 12 % for the fans, 5.5 % lost in the power supplies, 8 network cards of 25 W, and the rest.
    assert parts["gpu"] == pytest.approx(8 * TRAINING_CARD_W)
    assert parts["fans"] == pytest.approx(0.12 * 8008.0)
    assert parts["psu_loss"] == pytest.approx(0.055 * 8008.0)
    assert parts["nic"] == pytest.approx(8 * 25.0)
    assert sum(parts.values()) == pytest.approx(8008.0)


def test_a_room_of_sixteen_h100_servers_gives_39_tons_of_heat_to_the_air():
    found = h100_room().room
    # 136.527 kW · 3412.14 = 465.8 kBTU/h; / 12 = 38.8 tons. 110 CFM a kW: 15,018 CFM, 7.09 m³/s at 15.9 K.
    assert value(found.heat_btu_h) == pytest.approx(465.8e3, rel=1e-3)
    assert value(found.cooling_tons) == pytest.approx(38.82, abs=0.02)
    assert value(found.airflow_m3_s) == pytest.approx(15_018 * CFM, rel=1e-3)
    assert found.climate.air_rise_k == pytest.approx(15.9, abs=0.05)
    # 24 °C lies in the 18 to 27 °C that ASHRAE recommends; the servers stand 5 to 30 °C, less than class A1.
    assert (found.climate.envelope, found.climate.air_class) == ("recommended", "")
    assert (found.climate.inlet_min_c, found.climate.inlet_max_c) == (5.0, 30.0)


def test_a_room_of_sixteen_h100_servers_takes_32_circuits_and_four_racks():
    found = h100_room().room
    supply, one = found.supply, found.supply.groups[0]
    # √3 · 415 · 32 · 0.8 = 18.40 kVA, 17.85 kW at 0.97: one server of 10.2 kW, on each of two feeds.
    assert supply.circuit_va == pytest.approx(18.40e3, rel=1e-3)
    assert supply.circuit_w == pytest.approx(17.85e3, rel=1e-3)
    assert (one.circuits_per_server, one.circuits_per_rack, supply.circuits) == (2, 8, 32)
    # 45 / 10.2 = 4.4 servers by power; 40 U / 8 U = 5 by height.
    assert (one.servers_per_rack, one.racks, found.racks, one.rack_binds) == (4, 4, 4, "power")
    assert one.rack_nameplate_w == pytest.approx(40_800.0)
    # Six supplies of 3.3 kW, three of them on each feed: 9.9 kW are left of 10.2. 3,300 / 0.945 / 0.97 / 239.6 V =
    # 15.0 A: C19.
    assert (one.feed_loss, one.psus_left, one.cord) == ("slows", 3, "C19")


def test_a_room_of_sixteen_h100_servers_has_its_ups_generator_and_energy():
    found = h100_room().room
    supply = found.supply
    # 171.6 kW / 0.985 = 174.2 kW; / 0.97 = 179.6 kVA; four modules of 50 kW and a spare one.
    assert value(supply.ups_va) == pytest.approx(179.6e3, rel=1e-3)
    assert (supply.ups_module_w, supply.ups_modules) == (50e3, 5)
    # 171.6 kW · 1.4 / 0.97 · 1.25 = 309.6 kVA.
    assert value(supply.generator_va) == pytest.approx(309.6e3, rel=1e-3)
    # Busy 85 % of the year, idle at 2.4 kW: 16 · (0.85 · 8.008 + 0.15 · 2.4) + 8.399 = 123.07 kW, · 1.4 · 8,760 h.
    assert value(supply.energy_per_year_j) / KWH == pytest.approx(1_509_300, rel=1e-3)
    assert value(h100_room().money.energy_kwh_per_year) == pytest.approx(value(supply.energy_per_year_j) / KWH)


def liquid_row():
    """Sixty-four H100 in eight servers of 4 U with cold plates, racks of 60 kW, two feeds of 400 V and 63 A."""
    return outcome(
        group(H100, "train", server="Supermicro SYS-421GE-TNHR2-LCC", servers=8),
        workload=pretraining(),
        network=Network(fabric="infiniband"),
        site=Site(amps=63, feeds=2, rack_power_w=60e3, cooling="direct-liquid"),
    )


def test_a_liquid_row_of_64_cards_draws_58_kilowatts():
    found = liquid_row().room
    # 1,900 W without strong fans + 8 · 651 W = 7,108 W a server; one switch of 64 ports, 747 W, within copper's reach.
    assert value(found.network_w) == pytest.approx(747.0)
    assert value(found.it_load_w) == pytest.approx(8 * 7108.0 + 747.0)
    # Cards 5,600 W and 4,600 W beside them, by the class.
    assert value(found.it_nameplate_w) == pytest.approx(8 * 10_200.0 + 747.0)


def test_a_liquid_row_of_64_cards_leaves_a_fifth_of_its_heat_in_the_air():
    found = liquid_row().room
    # Cold plates take 80 % of 56.864 kW; the switch stays in the air: 11.373 + 0.747 = 12.120 kW, 21 %.
    assert value(found.air_heat_w) == pytest.approx(12_119.8, abs=0.1)
    assert value(found.climate.air_share) == pytest.approx(0.2104, abs=1e-4)
    # 45.491 kW / (1018 · 3930 · 10 K) = 1.137 l/s = 68.2 l/min of water with a quarter of glycol.
    assert found.climate.coolant == "glycol"
    assert value(found.climate.coolant_flow_m3_s) * 60e3 == pytest.approx(68.2, abs=0.05)


def test_a_liquid_row_of_64_cards_takes_six_circuits_and_two_racks():
    supply, one = liquid_row().room.supply, liquid_row().room.supply.groups[0]
    # √3 · 400 · 63 · 0.8 · 0.97 = 33.87 kW: three servers of 10.2 kW. 60 / 10.2 = 5 in a rack: two circuits for five,
    # one for three, on both feeds.
    assert supply.circuit_w == pytest.approx(33.87e3, rel=1e-3)
    assert (one.servers_per_rack, one.racks, one.rack_binds) == (5, 2, "power")
    assert (one.circuits_per_rack, supply.circuits) == (4, 6)
    assert supply.plug == "IEC 60309 63 A, 3P+N+E"
    # Two of four supplies of 5,250 W carry 10.2 kW; 24.8 A at 231 V are too much for a C19.
    assert (one.feed_loss, one.psus_left, one.cord) == ("holds", 2, "")
    # 82.347 kW / 0.985 = 83.6 kW: four modules of 25 kW and a spare one.
    assert (supply.ups_module_w, supply.ups_modules) == (25e3, 5)
    # 82.347 · 1.15 / 0.97 · 1.25 = 122.0 kVA.
    assert value(supply.generator_va) == pytest.approx(122.0e3, rel=1e-3)
