"""How long cards wait for links: where the waiting is put down, its limits, and what is offered against it."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from planning import H100, LLAMA_70B, RTX4090, SIXTEEN_BIT, catalog, full_queue, group, plan, pretraining

from gpuplanner.model.evaluate import evaluate
from gpuplanner.model.explain_serving import operating
from gpuplanner.model.inference import link, stage_hops
from gpuplanner.model.plan import ConcurrencyLoad, Network
from gpuplanner.model.ways_out import ways_out


def results_of(*groups, workload=None, **network):
    return evaluate(plan(*groups, workload=workload or full_queue(), network=Network(**network)), catalog())


def run_of(*groups, workload=None, **network):
    scenario = results_of(*groups, workload=workload, **network).scenarios[0]
    return (*scenario.serve, *scenario.train)[0]


def test_a_card_that_works_alone_waits_for_nobody():
    alone = run_of(group(gpus_per_server=1, run=SIXTEEN_BIT), workload=full_queue("Llama-3.1-8B"))
    assert (alone.link_wait.value, alone.waits) == (0.0, ())


def test_tensor_ranks_of_one_server_wait_for_the_link_of_their_cards():
    fast = run_of(group(run={**SIXTEEN_BIT, "tp": 8, "pp": 1}))
    slow = run_of(group(RTX4090, run={**SIXTEEN_BIT, "tp": 8, "pp": 1}))
    assert {(wait.phase, wait.link, wait.between_servers) for wait in fast.waits} == {
        ("decode", "nvlink", False), ("prefill", "nvlink", False),
    }  # fmt: skip
    assert {wait.link for wait in slow.waits} == {"pcie-no-p2p"}
    assert slow.link_wait.value > fast.link_wait.value


def test_a_decode_step_waits_as_long_as_its_named_communication():
    run = run_of(group(run={**SIXTEEN_BIT, "tp": 8, "pp": 1}))
    parts = {part.name: part.value for part in run.decode_step_s.parts}
    decode = next(wait.share for wait in run.waits if wait.phase == "decode")
    assert decode == pytest.approx(parts["communication"] / sum(parts.values()))


def test_the_whole_lies_between_its_phases_and_its_parts_add_up():
    run = run_of(group(run={**SIXTEEN_BIT, "tp": 8, "pp": 1}))
    shares = [wait.share for wait in run.waits]
    assert min(shares) <= run.link_wait.value <= max(shares)
    assert sum(part.value for part in run.link_wait.parts) == pytest.approx(run.link_wait.value)


def test_stages_in_different_servers_wait_for_the_network():
    run = run_of(group(servers=2, run={**SIXTEEN_BIT, "tp": 8, "pp": 2, "dp": 1}))
    assert {wait.link for wait in run.waits if wait.between_servers} == {"infiniband"}


def test_a_token_leaves_the_server_once_between_two_stages_of_two_servers():
    # 16 sequences x 8,192 x 2 bytes = 262,144 bytes; eight ranks share 8 x 50 GB/s; 14 us more than the link's latency.
    run = {**SIXTEEN_BIT, "tp": 8, "pp": 2, "dp": 1}
    asked = full_queue(load=ConcurrencyLoad(concurrency=32))
    opened = plan(group(servers=2, run=run), workload=asked)
    result = evaluate(opened, catalog()).scenarios[0].serve[0]
    operated = operating(opened, catalog(), 0, result)
    near, far = (float(np.ravel(each)[0]) for each in stage_hops(operated.case, np.array([262_144.0])))
    latency, speed = (float(np.ravel(each)[0]) for each in link(operated.case))
    assert near == 0.0
    assert far == pytest.approx(latency + 14e-6 + 262_144 / min(speed, 400e9))


def test_gradients_of_several_servers_wait_for_the_network_and_of_one_for_its_links():
    training = pretraining(LLAMA_70B)
    run = {"tp": 8, "pp": 4}
    between = run_of(group(workload="train", servers=16, run=run), workload=training)
    assert {wait.link for wait in between.waits} == {"nvlink", "infiniband"}
    within = run_of(group(workload="train", run={"tp": 1, "pp": 1}), workload=pretraining("Llama-3.2-1B"))
    assert {wait.link for wait in within.waits} <= {"nvlink"}


@given(st.sampled_from([25e9, 50e9, 100e9, 200e9, 400e9]))
@settings(max_examples=10, deadline=None)
def test_faster_network_cards_never_wait_longer(bits):
    run = {"tp": 8, "pp": 4, "dp": 4}
    slow, fast = (
        run_of(group(workload="train", servers=16, run=run), workload=pretraining(LLAMA_70B), nic_bits_s=each)
        for each in (bits, 2 * bits)
    )
    assert fast.link_wait.value <= slow.link_wait.value * (1 + 1e-9)
    assert fast.tokens_s.value >= slow.tokens_s.value * (1 - 1e-9)


def test_much_waiting_is_said_with_the_link_and_what_helps():
    cards = group(RTX4090, run={**SIXTEEN_BIT, "tp": 8, "pp": 1})
    opened = plan(cards, workload=full_queue())
    results = evaluate(opened, catalog())
    (said,) = (finding for finding in results.findings if finding.key == "waits_for_link")
    assert said.numbers["binds"] == "pcie-no-p2p" and said.numbers["share"] > 0.15
    ways = [way for way in ways_out(opened, catalog(), results, "A") if way.finding_key == "waits_for_link"]
    assert {"swap_card", "use_split"} & {way.key for way in ways}
    today = results.scenarios[0].serve[0].output_tokens_s.value
    assert all(way.speed.value > 1.05 * today for way in ways)


def test_little_waiting_is_not_worth_a_word():
    results = results_of(group(gpus_per_server=1, run=SIXTEEN_BIT), workload=full_queue("Llama-3.1-8B"))
    assert not any(finding.key == "waits_for_link" for finding in results.findings)


def test_a_slow_network_is_helped_by_a_faster_one():
    opened = plan(
        group(H100, "train", {"tp": 1, "pp": 1}, servers=8), workload=pretraining("Llama-3.1-8B"),
        network=Network(fabric="ethernet", nic_bits_s=25e9, nics_per_server=1),
    )  # fmt: skip
    results = evaluate(opened, catalog())
    (said,) = (finding for finding in results.findings if finding.key == "waits_for_link")
    assert said.numbers["binds"] == "ethernet"
    keys = {way.key for way in ways_out(opened, catalog(), results, "A") if way.finding_key == "waits_for_link"}
    assert {"use_fabric", "faster_nics"} <= keys
