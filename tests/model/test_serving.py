"""A group that serves: what is chosen, what fits, and how it goes as load grows."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from planning import (
    A100,
    H100,
    LLAMA_8B,
    LLAMA_70B,
    MIXTRAL,
    RTX4090,
    SIXTEEN_BIT,
    V100,
    catalog,
    full_queue,
    group,
    outcome,
    plan,
    served,
    value,
)

from gpuplanner.model.edit import replace
from gpuplanner.model.evaluate import evaluate
from gpuplanner.model.plan import ConcurrencyLoad, Network, RateLoad, Serve, UserLoad
from gpuplanner.model.serving import capacity, context_tokens, demand_of, has_sparse_units

GIB = 2**30


def asked(llm=LLAMA_8B, **fields):
    return Serve(llm=(llm,), **{"load": RateLoad(requests_s=2.0), **fields})


def with_memory(gpu, size):
    """The same plan on a card with other memory: the card pinned in the plan counts."""
    card = catalog().gpus[gpu]
    changed = card.model_copy(
        update={"memory_bytes": card.memory_bytes.model_copy(update={"value": size}), "memory_visible_bytes": None}
    )
    made = plan(group(gpu, gpus_per_server=1), workload=full_queue(LLAMA_8B))
    return replace(made, ("entries", "gpus"), (changed,))


# --- what is asked -------------------------------------------------------------------------------


def test_users_become_requests_a_second():
    # 200 people × 12 requests an hour.
    demand = demand_of(asked(load=UserLoad(users=200, requests_per_user_peak_hour=12), answer_tokens=400), None, 3.0)
    assert demand.requests_s == pytest.approx(200 * 12 / 3600)
    assert demand.output_tokens_s == pytest.approx(400 * 200 * 12 / 3600)


def test_growth_multiplies_the_demand_year_by_year():
    demand = demand_of(asked(growth_per_year=0.2), None, 3.0)
    assert demand.requests_s_end_of_term == pytest.approx(2.0 * 1.2**3)


def test_a_queue_that_is_always_full_has_no_rate():
    demand = demand_of(full_queue(), None, 3.0)
    assert (demand.requests_s, demand.output_tokens_s, demand.concurrency) == (None, None, None)


def test_the_longest_request_is_the_99th_of_a_hundred():
    llm = catalog().llms[LLAMA_8B]
    # Log-normal, spread 0.55: 99th over mean = e^(2.326 × 0.5142 − 0.1322) = 2.898; 1900 × 2.898 = 5506, up to 6144.
    assert context_tokens(asked(prompt_tokens=1500, answer_tokens=400), llm) == 6144
    assert context_tokens(asked(max_context_tokens=32_768), llm) == 32_768


def test_no_context_is_shorter_than_a_usual_request():
    llm = catalog().llms[LLAMA_8B]
    assert context_tokens(asked(max_context_tokens=1), llm) == 1900


# --- what is chosen ------------------------------------------------------------------------------


def test_no_format_below_the_lowest_allowed_one_is_chosen():
    for lowest, bits in (("16-bit", 16), ("8-bit", 8), ("4-bit", 4)):
        choice = served(H100, full_queue(LLAMA_70B, lowest_format=lowest)).choice
        assert {"bf16": 16, "fp16": 16, "fp8": 8, "int8": 8}.get(choice.weights, 4) >= bits


def test_the_fastest_allowed_format_is_chosen():
    found = served(H100, full_queue(LLAMA_70B, lowest_format="8-bit"))
    best = max(found.formats, key=lambda option: option.output_tokens_s_limit)
    assert found.choice.weights == best.weights == "fp8"


def test_the_cache_stays_in_16_bit_where_it_fits():
    assert served(H100, full_queue(LLAMA_8B, lowest_format="any")).choice.kv in ("bf16", "fp16")


def test_what_is_stated_is_done():
    run = {**SIXTEEN_BIT, "tp": 4, "pp": 2, "dp": 1, "runtime": "SGLang", "max_sequences": 17}
    choice = served(H100, full_queue(LLAMA_70B), run).choice
    assert (choice.tp, choice.pp, choice.dp, choice.runtime, choice.max_sequences) == (4, 2, 1, "SGLang", 17)
    assert not {"tp", "pp", "dp", "runtime", "weights", "compute", "kv", "max_sequences"} & choice.auto


def test_what_is_left_open_is_named():
    assert {"tp", "pp", "dp", "weights", "runtime"} <= served(H100, full_queue(LLAMA_8B)).choice.auto


def test_a_model_that_fits_one_card_is_copied_not_split():
    choice = served(H100, full_queue(LLAMA_8B)).choice
    assert (choice.tp, choice.pp, choice.dp) == (1, 1, 8)


def test_of_several_models_the_largest_that_fits_is_taken():
    either = full_queue(LLAMA_8B).model_copy(update={"llm": (LLAMA_8B, LLAMA_70B)})
    assert served(H100, either).choice.llm == LLAMA_70B
    assert served(H100, either, gpus_per_server=1).choice.llm == LLAMA_8B


def test_without_a_name_the_largest_model_that_fits_is_taken():
    chosen = catalog().llms[served(RTX4090, Serve(), gpus_per_server=1).choice.llm]
    # 24 GB at 8 bit hold at most 24 G parameters.
    assert 8e9 < chosen.params_total < 24e9


def test_units_that_a_card_lacks_are_refused():
    found = served(V100, full_queue(LLAMA_8B), {"compute": "fp8", "runtime": "llama.cpp"})
    assert found.choice is None or np.isfinite(value(found.output_tokens_s_limit))
    refused = served(H100, full_queue(LLAMA_8B), {"compute": "fp4"}).refusal
    assert (refused.status, refused.key) == ("fail", "no_compute_unit")


@pytest.mark.parametrize(
    ("gpu", "run", "fields", "key"),
    [
        ("nonsense", {}, {}, "unknown_card"),
        (H100, {"runtime": "nonsense"}, {}, "runtime_not_scored"),
        (H100, {}, {"gpus_per_server": 0}, "no_gpu"),
        (V100, {"runtime": "vLLM (CUDA)"}, {}, "runtime_fails"),
        (H100, {"llm": "nonsense"}, {}, "unknown_model"),
    ],
)
def test_what_cannot_be_computed_says_why(gpu, run, fields, key):
    found = served(gpu, full_queue(LLAMA_8B), run, **fields)
    assert found.refusal.key == key
    assert found.choice is None
    assert not found.output_tokens_s_limit.known


# --- memory --------------------------------------------------------------------------------------


def test_the_weights_of_a_70b_at_16_bit_are_shared_by_its_ranks():
    # 70.55 G parameters × 2 bytes over eight cards.
    use = served(H100, full_queue(LLAMA_70B), {**SIXTEEN_BIT, "tp": 8, "pp": 1}).memory
    assert use.weights == pytest.approx(70.55e9 * 2 / 8, rel=0.005)
    assert use.capacity == 80 * GIB
    assert use.usable < use.capacity


@given(st.floats(8, 200), st.floats(8, 200))
@settings(max_examples=25, deadline=None)
def test_more_memory_never_makes_a_model_stop_fitting(first, second):
    small, large = (
        evaluate(with_memory("L40S 48GB", size * GIB), catalog()).scenarios[0] for size in sorted((first, second))
    )
    assert not (small.fits.status != "fail" and large.fits.status == "fail")
    assert (small.serve[0].output_tokens_s_limit.value or 0) <= (
        large.serve[0].output_tokens_s_limit.value or 0
    ) * 1.001


def test_no_run_that_fits_uses_more_than_there_is():
    for name in catalog().llms:
        found = served(H100, full_queue(name), gpus_per_server=8, servers=2)
        if found.memory is not None and found.fits.status != "fail":
            assert found.memory.used <= found.memory.usable * (1 + 1e-9), name


def test_more_than_95_percent_of_the_memory_is_to_check():
    seen = set()
    for fraction in np.linspace(0.2, 0.95, 40):
        found = served(
            H100, full_queue(LLAMA_8B), {**SIXTEEN_BIT, "memory_fraction": float(fraction)}, gpus_per_server=1
        )
        if found.fits.status != "fail":
            assert found.fits.status == ("warn" if found.fits.numbers["share"] > 0.95 else "ok")
        seen.add(found.fits.status)
    assert {"fail", "ok"} <= seen


def test_attention_ranks_hold_their_own_sequences_only():
    found = served(H100, full_queue(MIXTRAL), {"attention_dp": True, **SIXTEEN_BIT})
    assert found.choice.attention_dp
    assert found.memory.used <= found.memory.usable


# --- pruning and other levers --------------------------------------------------------------------


def test_pruned_weights_save_memory_and_are_no_faster_on_plain_kernels():
    whole, pruned = (
        served(H100, full_queue(LLAMA_8B), {**SIXTEEN_BIT, "tp": 1, "pp": 1, "pruning_kept": kept}, gpus_per_server=1)
        for kept in (1.0, 0.5)
    )
    assert pruned.memory.weights == pytest.approx(0.5 * whole.memory.weights)
    assert value(pruned.single_stream_tokens_s) == pytest.approx(value(whole.single_stream_tokens_s))


def test_two_of_four_is_faster_only_where_the_card_has_units_for_it():
    for gpu, faster in ((H100, True), (V100, False)):
        run = {"weights": "fp16", "tp": 1, "pp": 1, "runtime": "llama.cpp" if gpu == V100 else "vLLM (CUDA)"}
        if gpu == V100:
            run["weights"] = "q8_0"
        whole, sparse = (
            served(gpu, full_queue(LLAMA_8B, lowest_format="8-bit"), {**run, "pruning_2_4": on}, gpus_per_server=1)
            for on in (False, True)
        )
        assert (value(sparse.single_stream_tokens_s) > 1.1 * value(whole.single_stream_tokens_s)) is faster


@pytest.mark.parametrize(
    ("gpu", "has"), [(V100, False), ("T4 16GB", False), (A100, True), (H100, True), ("B200 180GB", True)]
)
def test_sparse_units_came_with_ampere(gpu, has):
    assert has_sparse_units(catalog().gpus[gpu]) is has


def test_a_draft_that_is_always_right_speeds_up_one_user():
    plain, drafted = (
        served(H100, full_queue(LLAMA_70B), {**SIXTEEN_BIT, "tp": 8, "pp": 1, "speculation": one})
        for one in (None, {"draft_tokens": 3, "acceptance": 1.0, "draft_cost": 0.0})
    )
    # Four tokens a step instead of one, less what the wider step costs.
    ratio = value(drafted.single_stream_tokens_s) / value(plain.single_stream_tokens_s)
    assert 3.0 < ratio <= 4.0


def test_a_bus_instead_of_a_link_widens_the_band():
    run = {**SIXTEEN_BIT, "tp": 8, "pp": 1}
    linked, bus = (
        outcome(group(run=run), workload=full_queue(), network=network).serve[0].output_tokens_s_limit
        for network in (Network(), Network(in_server="pcie"))
    )
    assert bus.value < linked.value
    assert bus.high / bus.value > 1.01 * linked.high / linked.value


# --- load ----------------------------------------------------------------------------------------


def test_the_curve_of_load_never_turns_back():
    curve = served(H100, asked()).curve
    assert list(curve.output_tokens_s) == sorted(curve.output_tokens_s)
    for low, middle, high in zip(curve.first_token_low_s, curve.first_token_s, curve.first_token_high_s, strict=True):
        assert low <= middle <= high


@given(st.floats(0.01, 30.0), st.floats(0.01, 30.0))
@settings(max_examples=25, deadline=None)
def test_more_requests_never_make_the_first_token_faster(first, second):
    run = {**SIXTEEN_BIT, "tp": 1, "pp": 1}
    calm, busy = (served(H100, asked(load=RateLoad(requests_s=rate)), run) for rate in sorted((first, second)))
    if busy.first_token_s.known:
        assert value(calm.first_token_s) <= value(busy.first_token_s) * (1 + 1e-9)
        assert calm.utilisation <= busy.utilisation * (1 + 1e-9)


def test_capacity_is_where_a_curve_crosses_its_target():
    rate, first = np.array([1.0, 2.0, 4.0]), np.array([1.0, 2.0, 6.0])
    token = np.array([0.01, 0.01, 0.01])
    # Halfway between 2 and 6 seconds: halfway between 2 and 4 requests a second.
    assert float(capacity(rate, first, token, 4.0, None)) == pytest.approx(3.0)
    assert float(capacity(rate, first, token, 0.5, None)) == 0.0
    assert float(capacity(rate, first, token, 9.0, 0.02)) == 4.0
    assert float(capacity(rate, first, token, None, 0.005)) == 0.0


def test_a_curve_that_is_no_number_carries_nothing():
    bad = np.full(3, np.nan)
    assert float(capacity(np.array([1.0, 2.0, 3.0]), bad, bad, 1.0, 1.0)) == 0.0


def test_headroom_is_capacity_over_demand_less_one():
    found = served(H100, asked())
    assert value(found.headroom) == pytest.approx(value(found.requests_s) / 2.0 - 1.0)


def test_targets_take_from_what_could_be_served():
    found = served(H100, asked())
    assert value(found.output_tokens_s) <= value(found.output_tokens_s_limit)
    free = served(H100, asked(first_token_s=None, per_token_s=None))
    assert value(free.output_tokens_s) == pytest.approx(value(free.output_tokens_s_limit))


@given(st.integers(1, 6), st.integers(1, 6))
@settings(max_examples=15, deadline=None)
def test_more_servers_never_serve_less(first, second):
    few, many = (
        value(served(H100, full_queue(LLAMA_8B), servers=count).output_tokens_s_limit)
        for count in sorted((first, second))
    )
    assert few <= many * (1 + 1e-9)


def test_the_parts_of_a_step_add_up_to_it():
    found = served(H100, asked())
    assert sum(part.value for part in found.decode_step_s.parts) == pytest.approx(value(found.decode_step_s))


def test_a_card_that_serves_draws_between_idle_and_its_limit():
    for gpu in (H100, A100, RTX4090):
        figure = served(gpu, asked()).gpu_power_w
        assert 0 < figure.low <= figure.value <= figure.high <= catalog().gpus[gpu].board_power_w.value


def test_a_power_cap_is_kept_and_costs_speed():
    free, capped = (served(H100, full_queue(LLAMA_8B), power_cap_w=watts) for watts in (None, 300.0))
    assert value(capped.gpu_power_w) <= 300.0
    assert value(capped.output_tokens_s_limit) < value(free.output_tokens_s_limit)


# --- without a card ------------------------------------------------------------------------------


def on_processors(workload, **fields):
    return served("", workload, cpu="EPYC 9654", **fields)


def test_processors_read_their_weights_from_memory():
    found = on_processors(asked(lowest_format="8-bit"))
    # Two EPYC 9654: 2 × 460.8 GB/s, of which 0.32 (0.25 to 0.5 by program) read 8.03 G weights of 8.5 bit.
    middle = 0.32 * 2 * 460.8e9 / (8.03e9 * 8.5 / 8)
    assert middle / 1.6 <= value(found.single_stream_tokens_s) <= 1.6 * middle
    assert found.binds in ("bandwidth", "compute")


def test_processors_answer_one_request_after_the_other():
    alone, crowd = (on_processors(asked(load=ConcurrencyLoad(concurrency=count))) for count in (1, 20))
    service = value(alone.first_token_s) + 400 * value(alone.per_token_s)
    # Nineteen answers before one's own.
    assert value(crowd.first_token_s) == pytest.approx(19 * service, rel=0.05)


def test_a_model_larger_than_the_hosts_memory_does_not_fit():
    assert on_processors(asked(LLAMA_70B), memory_bytes=32e9).fits.status == "fail"


def test_a_processor_that_nobody_named_is_asked_for():
    assert served("", asked(), cpu="nonsense").refusal.key == "cpu_unknown"
