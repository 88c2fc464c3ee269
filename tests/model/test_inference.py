"""Decode steps, prefills and batching: an independent scalar version, limits and properties."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuplanner.model import inference
from gpuplanner.model.case import Case
from tests.model.serving_cases import serving_case


def plain_decode_step(case: Case, batch: float, context: float) -> dict[str, float]:
    """A dense model on cards of one link domain, written with plain floats."""
    llm, gpu, run, k = (
        {name: float(column[0]) for name, column in zip(record._fields, record, strict=True)}
        for record in (case.llm, case.gpu, case.run, case.k)
    )
    tp = run["tp"]
    compute = 2 * llm["active"] * batch / tp / (k["matrix"] * k["engine_matrix"] * run["peak"])
    speed = k["dram"] * k["engine_dram"] * gpu["bandwidth"]
    weights = (
        (llm["nonexpert"] * run["body_bytes"] + llm["head"] * run["head_bytes"]) / tp / (speed * k["format_share"])
    )
    matrix = (compute**2.5 + weights**2.5) ** (1 / 2.5)
    cache_speed = min(k["dram"] * k["engine_dram"], 0.95) * gpu["bandwidth"]
    fetched = 1 + k["repeated_reads"] * (llm["heads"] / llm["kv_heads"] - 1)
    read = batch * llm["kv_full"] * context * run["kv_bytes"] * fetched / (min(tp, llm["kv_heads"]) * cache_speed)
    flop = batch * context * llm["decode_full"] / tp / (0.5 * gpu["peak16"] * gpu["sustained"])
    cache = (read**2.5 + flop**2.5) ** (1 / 2.5) + llm["layers"] * batch * max(llm["kv_heads"] / tp, 1) * 10e-9
    layers = k["layer_factor"] * llm["layers"] * k["layer_time"]
    ring = 2 * (tp - 1) / tp * 2 * batch * llm["hidden"] / (k["share_nvlink"] * gpu["link"])
    # Twice the ranks wait sqrt(2) times as long.
    communication = 2 * llm["layers"] * (k["latency_nvlink"] * math.sqrt(tp / 2) + ring) if tp > 1 else 0.0
    host = k["host_time"] + k["sequence_time"] * batch
    return {
        "weights": weights, "compute": compute, "cache": cache, "layers": layers, "communication": communication,
        "host": host,
        "matrix": matrix, "total": matrix + cache + layers + communication + host,
    }  # fmt: skip


@settings(deadline=None, max_examples=60)
@given(st.sampled_from([1.0, 2.0, 4.0, 8.0]), st.floats(1, 512), st.floats(1, 32_000))
def test_a_decode_step_agrees_with_plain_arithmetic(tp, batch, context):
    case = serving_case("Llama-3.1-70B", tp=tp)
    step = inference.decode_step(case, np.array([batch]), np.array([context]))
    expected = plain_decode_step(case, batch, context)
    for name in ("weights", "compute", "cache", "layers", "communication", "host", "matrix", "total"):
        assert float(getattr(step, name)[0]) == pytest.approx(expected[name], rel=1e-9), name


def test_a_single_stream_never_beats_the_bandwidth_of_the_card():
    # 16 bit weights of 8.03e9 parameters less the embedding, 3.35e12 bytes/s.
    case = serving_case("Llama-3.1-8B")
    step = inference.decode_step(case, np.ones(1), np.ones(1)).total[0]
    assert step > (8.03e9 - 0.525e9) * 2 / 3.35e12


@settings(deadline=None, max_examples=40)
@given(st.floats(1, 256), st.floats(1, 256))
def test_more_in_flight_never_yields_fewer_tokens(first, second):
    case = serving_case("Llama-3.1-8B")
    few, many = sorted((first, second))
    rates = [float(inference.continuous_batching(case, np.array([batch])).output_tokens_s[0]) for batch in (few, many)]
    # A chunk boundary costs a little.
    assert rates[0] <= rates[1] * 1.02


@settings(deadline=None, max_examples=40)
@given(st.floats(16, 30_000), st.floats(16, 30_000))
def test_longer_prompts_take_longer(first, second):
    case = serving_case("Llama-3.1-8B")
    short, long = (
        inference.prefill(case, np.array([tokens]), np.ones(1)).total[0] for tokens in sorted((first, second))
    )
    assert short <= long


def test_few_tokens_wake_few_experts_and_many_wake_nearly_all():
    case = serving_case("Qwen3-30B-A3B")
    one, many = (float(inference.distinct_experts(case, np.array([tokens]))[0]) for tokens in (1.0, 10_000.0))
    assert one == pytest.approx(8)
    assert 0.8 * 128 < many <= 128


def test_a_cached_prefix_saves_prefill():
    plain, cached = serving_case(), serving_case(prefix=0.5)
    prompt = np.array([4096.0])
    assert (
        inference.prefill(cached, prompt, np.ones(1)).total[0] < inference.prefill(plain, prompt, np.ones(1)).total[0]
    )


def test_accepted_draft_tokens_follow_the_geometric_series():
    # Leviathan et al., Eq. 1: (1 - 0.8^5) / (1 - 0.8) = 3.3616.
    case = serving_case(draft_tokens=4.0, accepted=0.8)
    assert float(inference.accepted_tokens(case)[0]) == pytest.approx(3.3616, abs=1e-4)


def test_a_ring_over_two_servers_uses_all_network_cards():
    # 16 ranks, 8 a server, 25e9 bytes/s each: 200e9 leaves a server, more than the NVLink share of one A100.
    inside, across = (serving_case("Llama-3.1-70B", "A100 SXM 80GB", tp=tp, network=25e9) for tp in (8.0, 16.0))
    size = np.array([1e8])
    assert inference.all_reduce(across, size)[0] < 2 * inference.all_reduce(inside, size)[0]


def test_cards_behind_the_host_share_their_path():
    linked, host = (serving_case("Llama-3.1-8B", gpu, tp=4.0) for gpu in ("L40S 48GB", "GeForce RTX 4090 24GB"))
    size = np.array([1e8])
    assert inference.all_reduce(host, size)[0] > inference.all_reduce(linked, size)[0]


@settings(deadline=None, max_examples=30)
@given(st.floats(0.01, 200))
def test_no_more_requests_are_served_than_come(rate):
    case = serving_case("Llama-3.1-8B")
    served = inference.open_loop(case, np.array([rate]))
    assert served.requests_s[0] <= rate * (1 + 1e-9)
    assert math.isfinite(served.first_token_s[0]) and served.first_token_s[0] > 0


def test_an_overloaded_replica_serves_its_limit():
    case = serving_case("Llama-3.1-8B")
    served = inference.open_loop(case, np.array([1000.0]))
    assert bool(served.overloaded[0])
    most = inference.continuous_batching(case, inference.largest_batch(case, np.array([1e5]))[0]).requests_s
    assert served.requests_s[0] == pytest.approx(most[0], rel=0.05)


def test_utilisation_is_a_share():
    case = serving_case("Llama-3.1-70B", tp=4.0)
    for batch in (1.0, 64.0, 256.0):
        for share in inference.utilisation(case, inference.continuous_batching(case, np.array([batch]))):
            assert 0.0 <= share[0] <= 1.0
