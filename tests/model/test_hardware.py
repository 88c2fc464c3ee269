"""What a group leaves open is filled in from its server, its card or its class."""

import numpy as np
import pytest
from planning import A100, A800, H100, RTX4090, V100, catalog

from gpuplanner.model import case as cases
from gpuplanner.model.hardware import card_columns, resolve, server_class
from gpuplanner.model.plan import Group, Network

GBIT = 1e9


def hardware(network=None, **fields):
    return resolve(Group(**fields), network or Network(), catalog())


@pytest.mark.parametrize(
    ("gpu", "count", "kind"),
    [
        (H100, 8, "hgx_h100_h200"),
        (H100, 4, "sxm_4gpu"),
        (A100, 8, "hgx_a100"),
        (V100, 8, "v100_sxm2_8gpu"),
        (RTX4090, 8, "consumer_8gpu"),
        (RTX4090, 2, "workstation_2gpu"),
        ("L40S 48GB", 4, "pcie_4gpu"),
        ("L40S 48GB", 8, "pcie_8gpu"),
    ],
)
def test_a_custom_box_is_of_the_class_that_suits_its_cards(gpu, count, kind):
    group = Group(gpu=gpu, gpus_per_server=count)
    assert server_class(group, catalog().gpus[gpu], None) == kind


def test_a_stated_class_counts_before_all_else():
    group = Group(gpu=H100, server="DGX H100", chassis_class="pcie_8gpu")
    assert hardware(**{name: getattr(group, name) for name in ("gpu", "server", "chassis_class")}).server_class == (
        "pcie_8gpu"
    )


def test_every_card_in_any_number_is_of_a_class_with_a_price_and_a_power():
    kinds = {row.applies_to for row in catalog().assumptions if row.key == "price_chassis_without_gpus"} | {"mac"}
    for gpu in catalog().gpus.values():
        for count in (1, 2, 4, 8, 10):
            assert server_class(Group(gpu=gpu.name, gpus_per_server=count), gpu, None) in kinds, gpu.name


def test_the_link_of_a_data_centre_board_is_one_direction():
    # NVLink: 900 GB/s both ways on H100, 600 on A100, 400 on A800 (data sheets); half of each in one direction.
    assert hardware(gpu=H100).link_one_way == 450e9
    assert hardware(gpu=A100).link_one_way == 300e9
    assert hardware(gpu=A800).link_one_way == 200e9


def test_a_4090_has_no_link_whatever_the_plan_asks():
    for network in (Network(), Network(in_server="nvlink")):
        found = hardware(network, gpu=RTX4090)
        assert (found.link_one_way, found.link_domain) == (0.0, 1)
    assert hardware(gpu=RTX4090).peer_to_peer is False


def test_cards_in_slots_are_bridged_only_where_the_plan_says_so():
    card = "A100 PCIe 80GB"
    assert hardware(gpu=card).link_one_way == 0.0
    assert hardware(Network(in_server="nvlink"), gpu=card).link_one_way > 0.0
    assert hardware(Network(in_server="nvlink"), gpu=card).link_domain == 2


def test_a_link_that_is_not_used_is_not_there():
    assert hardware(Network(in_server="pcie"), gpu=H100).link_one_way == 0.0
    assert hardware(Network(in_server="pcie"), gpu=H100).peer_to_peer is True
    assert hardware(Network(in_server="pcie-no-p2p"), gpu=H100).peer_to_peer is False


def test_eight_ports_of_400_gbit_give_each_of_eight_cards_50_gbyte():
    network = Network(nics_per_server=8, nic_bits_s=400 * GBIT, fabric="infiniband")
    assert hardware(network, gpu=H100).network_per_device == pytest.approx(50e9)


def test_traffic_that_stays_below_one_switch_does_not_feel_oversubscription():
    full = Network(nics_per_server=8, nic_bits_s=400 * GBIT, fabric="infiniband")
    half = full.model_copy(update={"oversubscription": 2.0})
    # 8 x 8 ports on one switch of 64; 40 servers: every rail has a leaf of 42 ports down.
    assert hardware(half, gpu=H100, servers=8).network_per_device == pytest.approx(50e9)
    assert hardware(half, gpu=H100, servers=40).network_per_device == pytest.approx(50e9)


def test_traffic_between_oversubscribed_leaves_shares_their_uplinks():
    third = Network(nics_per_server=8, nic_bits_s=400 * GBIT, fabric="infiniband", oversubscription=3.0)
    # 64 ports at 3 : 1 are 48 down. Of 500 servers the next in the ring is elsewhere for 452 of 499: 3 x 0.906 = 2.717.
    assert hardware(third, gpu=H100, servers=500).network_per_device == pytest.approx(50e9 / 2.717, rel=1e-3)


def test_without_rails_a_leaf_keeps_fewer_servers_among_themselves():
    plain = Network(nics_per_server=8, nic_bits_s=400 * GBIT, fabric="infiniband", oversubscription=3.0, rails=1)
    # All 8 ports of a server on one leaf: 48 / 8 = 6 servers a leaf; 3 x (64 - 6) / 63 = 2.762.
    assert hardware(plain, gpu=H100, servers=64).network_per_device == pytest.approx(50e9 / 2.762, rel=1e-3)


def test_a_server_lends_its_processors_and_memory():
    described = (
        one for one in catalog().servers.values() if one.cpu in catalog().cpus and one.memory_bytes is not None
    )
    server = next(described)
    found = hardware(gpu=H100, server=server.name)
    assert found.cpu is not None and found.cpu.name == server.cpu
    assert found.sockets == server.cpu_count
    assert found.host_memory == server.memory_bytes.value


def test_a_card_with_four_chips_counts_as_four_devices():
    found = hardware(gpu="A16 64GB (4x16GB)", gpus_per_server=2, servers=3)
    assert (found.devices_per_server, found.devices) == (8, 24)


def test_a_cap_is_shared_by_the_chips_of_a_card():
    assert hardware(gpu="A16 64GB (4x16GB)", power_cap_w=200.0).power_cap_w == 50.0


def test_names_that_no_entry_has_leave_nothing_behind():
    found = hardware(gpu="nonsense", server="nonsense", cpu="nonsense")
    assert (found.gpu, found.server, found.cpu, found.devices) == (None, None, None, 0)


@pytest.mark.parametrize("cap", [600.0, 450.0, 300.0, 200.0])
def test_a_cap_slows_compute_more_than_memory(cap):
    whole, capped = (
        cases.GpuColumns(*card_columns(hardware(gpu=H100, power_cap_w=watts), catalog(), False))
        for watts in (None, cap)
    )
    compute = float(capped.sustained / whole.sustained)
    memory = float(capped.bandwidth / whole.bandwidth)
    assert compute < memory <= 1.0


def test_no_cap_goes_below_the_lowest_limit_of_a_card():
    lowest = catalog().gpus[H100].power_limit_min_w.value
    assert hardware(gpu=H100, power_cap_w=1.0).power_cap_w == lowest
    assert hardware(gpu=H100, power_cap_w=500.0).power_cap_w == 500.0


def test_a_cap_above_the_cards_limit_changes_nothing():
    whole, capped = (card_columns(hardware(gpu=H100, power_cap_w=watts), catalog(), True) for watts in (None, 900.0))
    np.testing.assert_array_equal(whole, capped)
