"""Waiting against textbook formulas and tables."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuplanner.model import inference
from gpuplanner.model.queueing import (
    admission_wait,
    lognormal_excess,
    normal_quantile,
    prefill_wait,
    tail_multiple,
)
from tests.model.serving_cases import serving_case


def erlang_c_wait(servers, utilisation):
    """Exact mean wait of M/M/m in service times (Erlang C), the sum that Sakasegawa approximates."""
    load = servers * utilisation
    blocked = load**servers / math.factorial(servers) / (1 - utilisation)
    queued = blocked / (sum(load**k / math.factorial(k) for k in range(servers)) + blocked)
    return queued / (servers * (1 - utilisation))


@pytest.mark.parametrize(
    ("utilisation", "squared_variation", "service_times"),
    # M/M/1 waits rho/(1-rho) service times; M/D/1 half of that.
    [(0.5, 1.0, 1.0), (0.8, 1.0, 4.0), (0.9, 1.0, 9.0), (0.5, 0.0, 0.5), (0.8, 0.0, 2.0)],
)
def test_a_single_server_waits_as_pollaczek_and_khinchine_say(utilisation, squared_variation, service_times):
    wait = prefill_wait(np.array(utilisation), np.array(0.2), np.array(squared_variation))
    assert float(wait) == pytest.approx(0.2 * service_times)


@pytest.mark.parametrize("servers", [1, 2, 5, 20])
@pytest.mark.parametrize("utilisation", [0.3, 0.6, 0.8, 0.95])
def test_many_places_wait_as_erlang_c_says(servers, utilisation):
    # An approximation that is exact for one server and for heavy traffic; in between it is off by a twenty-fifth of the
    # service time at most.
    wait = float(admission_wait(np.array(utilisation), np.array(float(servers)), np.array(1.0)))
    assert wait == pytest.approx(erlang_c_wait(servers, utilisation), rel=0.05, abs=0.04)


def test_a_full_server_waits_for_ever():
    assert np.isinf(prefill_wait(np.array(1.0), np.array(1.0), np.array(1.0)))
    assert np.isinf(admission_wait(np.array(1.0), np.array(4.0), np.array(1.0)))


@pytest.mark.parametrize(("percentile", "means"), [(0.5, 0.693), (0.95, 2.996), (0.99, 4.605)])
def test_an_exponential_tail_lies_at_its_table_values(percentile, means):
    assert tail_multiple(percentile) == pytest.approx(means, abs=5e-4)


@pytest.mark.parametrize(
    ("percentile", "z"), [(0.5, 0.0), (0.9, 1.2816), (0.95, 1.6449), (0.99, 2.3263), (0.999, 3.0902)]
)
def test_normal_quantiles_agree_with_the_table(percentile, z):
    assert normal_quantile(percentile) == pytest.approx(z, abs=0.005)


def test_a_length_without_spread_has_no_long_ones():
    assert lognormal_excess(0.0, 0.99) == pytest.approx(1.0)


def test_the_median_of_a_log_normal_length_lies_below_its_mean():
    # Median over mean of a log-normal is 1/sqrt(1 + cv²): 0.7071 at cv = 1.
    assert lognormal_excess(1.0, 0.5) == pytest.approx(1 / math.sqrt(2), abs=2e-3)


@given(st.floats(0.01, 0.98), st.floats(0.01, 0.98), st.floats(0.001, 10.0), st.floats(0.0, 4.0))
def test_more_load_never_waits_less(first, second, service, variation):
    low, high = sorted((first, second))
    quiet, busy = (float(prefill_wait(np.array(u), np.array(service), np.array(variation))) for u in (low, high))
    assert quiet <= busy
    quiet, busy = (float(admission_wait(np.array(u), np.array(8.0), np.array(service))) for u in (low, high))
    assert quiet <= busy


@given(st.floats(0.5, 0.999), st.floats(0.0, 5.0))
def test_percentiles_above_the_median_are_ordered(percentile, spread):
    assert lognormal_excess(spread, percentile) <= lognormal_excess(spread, 0.999) + 1e-9


def test_a_burst_waits_for_itself_even_on_an_idle_server():
    # Eight at once and nobody before them: on average three and a half others are read first.
    assert float(prefill_wait(np.array(0.0), np.array(0.2), np.array(0.0), 8.0)) == pytest.approx(3.5 * 0.2)


def simulate(case, rate, burst, requests=1500, seed=1):
    """Serve requests step by step: first-token times and times a token of those after the start.

    Every pass takes what its decode step takes at the number in flight and the model's time for each prompt that has
    come meanwhile; what is tested is the waiting and the number in flight, not the time of a kernel.
    """
    random = np.random.default_rng(seed)
    arrivals = np.repeat(np.cumsum(random.exponential(burst / rate, requests // burst)), burst)
    most, answer = int(case.run.max_sequences[0]), int(case.run.output[0])
    wide = case.rows(np.zeros(most, int))
    step = inference.decode_step(wide, np.arange(1.0, most + 1.0), wide.run.input + wide.run.output / 2.0).total
    prompt = float(inference.open_loop(case, np.array([rate])).batching.prompt_s[0])
    first, last = np.zeros(len(arrivals)), np.zeros(len(arrivals))
    now, coming, running = 0.0, 0, {}
    while coming < len(arrivals) or running:
        if not running:
            now = max(now, arrivals[coming])
        read = []
        while coming < len(arrivals) and arrivals[coming] <= now and len(running) + len(read) < most and len(read) < 8:
            read.append(coming)
            coming += 1
        now += (step[len(running) - 1] if running else 0.0) + prompt * len(read)
        for request in list(running):
            running[request] -= 1
            if not running[request]:
                last[request] = now
                del running[request]
        for request in read:
            first[request] = now
            running[request] = answer - 1
    settled = slice(len(arrivals) // 8, None)
    return (first - arrivals)[settled], ((last - first) / (answer - 1))[settled]


@pytest.mark.parametrize("share", [0.3, 0.6, 0.9])
@pytest.mark.parametrize(
    ("model", "tp", "prompt", "answer"), [("Llama-3.1-8B", 1.0, 1024, 128), ("Llama-3.1-8B", 1.0, 256, 256)]
)
def test_an_open_loop_runs_as_a_simulation_of_its_steps(share, model, tp, prompt, answer):
    case = serving_case(model, tp=tp, prompt=prompt, answer=answer)
    full, _ = inference.largest_batch(case, np.array([1e5]))
    rate = share * float(inference.continuous_batching(case, full).requests_s[0])
    found = inference.open_loop(case, np.array([rate]), squared_variation=0.0)
    first, token = simulate(case, rate, burst=1)
    assert float(found.per_token_s[0]) == pytest.approx(token.mean(), rel=0.10)
    # The fixed time before the first token is the engine's, not the queue's.
    queued = float(found.first_token_s[0] - 0.3 * case.k.first_token_time[0])
    assert queued == pytest.approx(first.mean(), rel=0.40)


@pytest.mark.parametrize("share", [0.3, 0.8])
def test_bursts_are_waited_for_but_taken_too_lightly(share):
    case = serving_case("Llama-3.1-70B", tp=4.0, prompt=2048.0, answer=64.0)
    full, _ = inference.largest_batch(case, np.array([1e5]))
    rate = share * float(inference.continuous_batching(case, full).requests_s[0])
    even, bursts = (
        float(inference.open_loop(case, np.array([rate]), squared_variation=0.0, burst=size).first_token_s[0])
        for size in (1.0, 8.0)
    )
    first, _token = simulate(case, rate, burst=8)
    assert 2 * even < bursts < first.mean() + 0.3 * case.k.first_token_time[0]
    assert bursts > 0.5 * first.mean()
