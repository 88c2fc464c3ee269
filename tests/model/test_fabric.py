"""The network between servers, against published reference architectures and by hand."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from planning import H100, RTX4090, catalog, group, outcome, value

from gpuplanner.model.evaluate import evaluate
from gpuplanner.model.plan import Network, Scenario
from gpuplanner.model.plan import Plan as Whole
from gpuplanner.model.switches import choose_switch

# NVIDIA DGX SuperPOD H100 reference architecture (RA-11333-001 V11): scalable units of 32 places on 64-port switches.
# Nodes -> leaf and spine switches, cables between servers and leaves, leaves and spines.
SUPERPOD_H100 = {32: (8, 4, 256, 256), 64: (16, 8, 512, 512), 96: (24, 16, 768, 768), 128: (32, 16, 1024, 1024)}


def joined(*groups, **network):
    scenario = Scenario(letter="A", groups=groups, network=Network(**network))
    return evaluate(Whole(scenarios=(scenario,)), catalog()).scenarios[0]


def parts(fabric):
    return {part.key: part for part in fabric.parts}


@pytest.mark.parametrize("nodes", SUPERPOD_H100)
def test_h100_servers_are_joined_as_in_the_published_reference_architecture(nodes):
    (found,) = joined(group(workload=None, servers=nodes)).room.fabrics
    assert (found.leaf, found.spine, found.cables_node_leaf, found.cables_leaf_spine) == SUPERPOD_H100[nodes]
    assert (found.core, found.switch) == (0, "Quantum-2 QM9700/QM9790 (NDR)")


def test_eight_servers_share_one_switch_over_copper():
    # 8 x 8 cards on 64 ports; 8 servers of 8 U in two racks of 42 U, with room for 40 kW each.
    (found,) = joined(group(workload=None, servers=2)).room.fabrics
    assert found.single_switch and (found.leaf, found.spine) == (0, 0)
    assert parts(found)["switch"].number == 1
    assert parts(found)["copper"].number == 16
    assert "transceiver" not in parts(found)


def test_one_server_has_no_network_and_rented_ones_bring_their_own():
    assert joined(group(workload=None, servers=1)).room.fabrics == ()
    assert joined(group(workload=None, servers=4, condition="rented")).room.fabrics == ()


def test_every_optical_link_has_a_transceiver_at_both_ends():
    (found,) = joined(group(workload=None, servers=64)).room.fabrics
    links = found.cables_node_leaf + found.cables_leaf_spine + found.cables_spine_core
    assert parts(found)["transceiver"].number == 2 * links
    assert parts(found)["fibre"].number == links


def test_power_is_that_of_the_switches_and_of_the_transceivers():
    (found,) = joined(group(workload=None, servers=32)).room.fabrics
    # 12 switches of 747 W; 512 links with two modules of about 7.7 W (at most 9 W).
    assert parts(found)["leaf"].power_w.value == pytest.approx(8 * 747.0)
    assert value(found.power_w) == pytest.approx(12 * 747.0 + 1024 * 7.65, rel=0.01)
    assert found.power_w.high > 12 * 747.0 + 1024 * 8.0


def test_groups_of_different_speed_have_networks_of_their_own():
    found = joined(group(workload=None, servers=4), group(RTX4090, None, gpus_per_server=4, servers=4)).room.fabrics
    assert [one.bits_s for one in found] == [400e9, 25e9]
    assert [one.groups for one in found] == [(0,), (1,)]


def test_oversubscription_saves_uplinks():
    # 64 ports at 3 : 1 are 48 down and 16 up: 512 cards need 11 leaves, in rails 8 x ceil(64 / 48) = 16.
    (full,) = joined(group(workload=None, servers=64)).room.fabrics
    (third,) = joined(group(workload=None, servers=64), oversubscription=3.0).room.fabrics
    assert (third.leaf, third.cables_leaf_spine) == (16, 16 * 16)
    assert third.spine < full.spine


def test_a_desk_machine_brings_the_port_that_a_small_switch_joins():
    (found,) = joined(group(RTX4090, None, gpus_per_server=2, servers=3)).room.fabrics
    assert found.bits_s == 10e9
    assert found.switch == "MikroTik CRS305-1G-4S+IN"


def test_more_cards_than_three_tiers_join_is_said():
    # r^3 / 4 of 64 ports: 65,536.
    assert not joined(group(workload=None, servers=8_000)).room.fabrics[0].too_large
    assert joined(group(workload=None, servers=9_000)).room.fabrics[0].too_large


def test_infiniband_and_ethernet_take_their_own_switches():
    assert "QM9700" in choose_switch("infiniband", 400e9, 500, catalog())[0].name
    assert "Spectrum-4 SN5400" in choose_switch("roce", 400e9, 500, catalog())[0].name


def test_a_speed_that_no_switch_has_is_joined_by_an_unnamed_one():
    assert choose_switch("infiniband", 3200e9, 8, catalog()) == (None, 64.0)
    found = joined(group(workload=None, servers=4), nic_bits_s=3200e9).room
    assert found.fabrics[0].switch == "" and value(found.network_w) > 0


def test_the_bill_counts_the_network_part_by_part():
    found = outcome(group(H100, servers=64))
    lines = {line.key: line for line in found.money.lines}
    assert lines["network_leaf"].quantity == 16
    # The QM9700 of 2026: 38,000 dollars.
    assert value(lines["network_leaf"].unit_price) == pytest.approx(38_000.0)
    # 400G class values: 800 for a module, 90 for a fibre.
    assert value(lines["network_transceiver"].amount) == pytest.approx(800.0 * 2048)
    assert value(lines["network_fibre"].amount) == pytest.approx(90.0 * 1024)
    assert not any(line.key.startswith("network") for line in outcome(group(H100)).money.lines)


def test_owned_servers_keep_the_network_that_they_have():
    owned = outcome(group(H100, servers=8, condition="owned"))
    assert owned.room.fabrics and not any(line.key.startswith("network") for line in owned.money.lines)


@given(
    servers=st.integers(2, 100_000), nics=st.integers(1, 16), bits=st.sampled_from([10e9, 25e9, 100e9, 400e9, 800e9])
)
@settings(max_examples=60, deadline=None)
def test_any_number_of_servers_has_ports_for_all(servers, nics, bits):
    (found,) = joined(
        group(workload=None, servers=servers), nics_per_server=nics, nic_bits_s=bits, fabric="roce"
    ).room.fabrics
    assert found.ports >= found.ports_used or found.too_large
    assert found.cables_node_leaf == servers * nics
    assert value(found.power_w) > 0


@given(servers=st.integers(2, 5_000))
@settings(max_examples=40, deadline=None)
def test_more_servers_never_need_fewer_watts_of_network(servers):
    few, more = (value(joined(group(workload=None, servers=count)).room.network_w) for count in (servers, servers + 64))
    assert few <= more
