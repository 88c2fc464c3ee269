"""Links inside servers, collectives at the run's own sizes, and fabrics side by side."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from planning import H100, LLAMA_70B, RTX4090, SIXTEEN_BIT, catalog, full_queue, group, plan, pretraining

from gpuplanner.model import network
from gpuplanner.model.evaluate import evaluate
from gpuplanner.model.interconnect import collectives, fabrics_compared, server_links
from gpuplanner.model.plan import ConcurrencyLoad, Network

MI300X = "Instinct MI300X 192GB"


def exchanges(*groups, workload=None, **stated):
    opened = plan(*groups, workload=workload or full_queue(), network=Network(**stated))
    return collectives(opened, evaluate(opened, catalog()), "A", catalog())


@pytest.mark.parametrize(
    ("card", "stated", "kind", "domain", "speed"),
    [
        (H100, {}, "nvlink", 8, 450e9),
        (MI300X, {}, "xgmi", 8, 448e9),
        (H100, {"in_server": "pcie"}, "pcie", 8, 63e9),
        (RTX4090, {}, "pcie-no-p2p", 8, 31e9),
        ("A100 PCIe 80GB", {"in_server": "nvlink"}, "nvlink", 2, 300e9),
    ],
)
def test_each_group_says_what_its_cards_talk_over(card, stated, kind, domain, speed):
    (link,) = server_links(plan(group(card, gpus_per_server=8), network=Network(**stated)), "A", catalog())
    assert (link.kind, link.domain) == (kind, domain)
    assert link.bytes_s == pytest.approx(speed, rel=0.03)


def test_a_single_card_has_no_link():
    assert server_links(plan(group(gpus_per_server=1)), "A", catalog()) == ()


def test_a_decode_step_reduces_the_hidden_state_of_its_sequences_twice_a_layer():
    # 16 sequences x 8,192 x 2 bytes = 262,144 bytes, 80 layers.
    run = {**SIXTEEN_BIT, "tp": 8, "pp": 1}
    decode, prefill = exchanges(group(run=run), workload=full_queue(load=ConcurrencyLoad(concurrency=16)))
    assert (decode.phase, prefill.phase, decode.link) == ("decode", "prefill", "nvlink")
    assert decode.message_bytes == pytest.approx(262_144, rel=0.01)
    assert (decode.ranks, decode.nodes, decode.calls) == (8, 1, 160)
    # Latency of eight cards (5.2 + 0.92 x 2 x 7 = 18.1 us) and little more.
    assert 18e-6 < decode.time_s.value < 30e-6


def test_gradients_of_replicas_pass_the_network_at_nearly_the_rate_of_its_cards():
    # 8 B parameters of one stage, gradients in 4 bytes: 32 GB; 8 cards of 50 GB/s times 0.96 carry 384 GB/s.
    run = {"tp": 1, "pp": 1, "sharding": "zero1", "runtime": "Megatron-LM / Megatron Core"}
    found = exchanges(group(H100, "train", run, servers=4), workload=pretraining("Llama-3.1-8B"))
    (gradients,) = found
    assert (gradients.phase, gradients.ranks, gradients.nodes) == ("gradients", 32, 4)
    assert gradients.link == "infiniband"
    assert gradients.message_bytes == pytest.approx(8.03e9 * 4, rel=0.02)
    assert 330e9 < gradients.bus_bytes_s < 384e9


def test_bus_and_algorithm_bandwidth_follow_the_definition_of_nccl_tests():
    for one in exchanges(group(run={**SIXTEEN_BIT, "tp": 8, "pp": 1})):
        assert one.algorithm_bytes_s == pytest.approx(one.message_bytes / one.time_s.value)
        assert one.bus_bytes_s == pytest.approx(one.algorithm_bytes_s * 1.75)


def test_links_without_published_timings_are_marked_assumed():
    run = {**SIXTEEN_BIT, "tp": 8, "pp": 1}
    assert {one.time_s.basis for one in exchanges(group(MI300X, run=run))} == {"assumed"}
    assert {one.time_s.basis for one in exchanges(group(H100, run=run))} == {"predicted"}


def test_a_run_without_tensor_ranks_exchanges_nothing():
    assert exchanges(group(gpus_per_server=1, run=SIXTEEN_BIT), workload=full_queue("Llama-3.1-8B")) == ()


def compared(servers, workload=None, run=None, **stated):
    asked = workload or pretraining(LLAMA_70B)
    opened = plan(group(H100, asked.id, run, servers=servers), workload=asked, network=Network(**stated))
    return fabrics_compared(opened, "A", catalog())


def test_three_fabrics_stand_side_by_side_with_the_one_in_use_marked():
    options = compared(16)
    assert [(one.fabric, one.in_use) for one in options] == [("infiniband", True), ("roce", False), ("ethernet", False)]
    # 128 ports: four leaves of 32 down and two spines of the 64-port QM9700.
    assert (options[0].switches, options[0].switch) == (6, "Quantum-2 QM9700/QM9790 (NDR)")
    assert all(one.power_w.value > 0 and one.price.value > 0 for one in options)


def test_ethernet_without_rdma_is_never_the_fastest():
    run = {"tp": 8, "pp": 1, "sharding": "zero1"}
    infiniband, roce, ethernet = compared(16, run=run, nics_per_server=1, nic_bits_s=100e9)
    assert infiniband.speed.value >= roce.speed.value >= ethernet.speed.value
    assert ethernet.wait > infiniband.wait


def test_one_server_has_no_fabric_to_compare():
    assert compared(1) == ()


@given(servers=st.sampled_from([2, 3, 17, 256, 4_000, 50_000, 100_000]))
@settings(max_examples=7, deadline=None)
def test_any_size_of_cluster_is_compared(servers):
    assert len(compared(servers, workload=full_queue(), run={"tp": 8})) == 3


@given(
    size=st.floats(1.0, 1e11), ranks=st.integers(2, 800_000), speed=st.floats(1e8, 2e12), faster=st.floats(1.0, 10.0)
)
@settings(max_examples=200, deadline=None)
def test_a_collective_never_takes_longer_over_a_faster_link(size, ranks, speed, faster):
    link = network.COLLECTIVE_LINKS["nvlink_hopper"]._asdict()
    nodes = -(-ranks // 8)
    slow = network.collective_time(size, ranks, speed, **link, nodes=nodes, node_network_bytes_s=speed)
    fast = network.collective_time(
        size, ranks, faster * speed, **link, nodes=nodes, node_network_bytes_s=faster * speed
    )
    assert 0 < fast <= slow * (1 + 1e-12) < float("inf")


@given(nodes=st.integers(1, 5_000), more=st.integers(1, 500), radix=st.sampled_from([32, 64, 128, 144]))
@settings(max_examples=200, deadline=None)
def test_more_servers_never_need_fewer_cables(nodes, more, radix):
    few, many = (network.rail_fabric(1.0, count, 8.0, 8.0, radix) for count in (nodes, nodes + more))
    assert many.cables_node_leaf > few.cables_node_leaf
    whole = [one.cables_node_leaf + one.cables_leaf_spine + one.cables_spine_core for one in (few, many)]
    assert whole[0] <= whole[1]


@given(servers=st.floats(1, 1e5), leaf=st.floats(1, 64), ratio=st.floats(1, 64))
@settings(max_examples=200, deadline=None)
def test_oversubscription_costs_at_most_its_ratio(servers, leaf, ratio):
    slow = float(network.oversubscription_slowdown(servers, leaf, ratio))
    assert 1.0 <= slow <= max(ratio, 1.0) * (1 + 1e-12)
    assert servers > leaf or slow == 1.0


@pytest.mark.parametrize("servers", [1, 2, 10_000, 100_000])
@pytest.mark.parametrize(
    "stated",
    [
        {},
        {"nics_per_server": 0, "oversubscription": 64},
        {"nics_per_server": 64, "rails": 1, "nic_bits_s": 1e-3, "fabric": "ethernet", "oversubscription": 64},
    ],
)
def test_nothing_fails_at_the_ends_of_what_a_plan_may_say(servers, stated):
    for asked in (full_queue(), pretraining()):
        opened = plan(group(H100, asked.id, servers=servers), workload=asked, network=Network(**stated))
        results = evaluate(opened, catalog())
        for one in collectives(opened, results, "A", catalog()):
            assert one.time_s.value > 0 and one.bus_bytes_s > 0
        assert len(fabrics_compared(opened, "A", catalog())) in (0, 3)
