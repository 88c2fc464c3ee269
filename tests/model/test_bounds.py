"""What no software can pass. Hand arithmetic, and the promise that every prediction lies above its floor."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuplanner.model import bounds, inference
from gpuplanner.model.bands import scaled
from tests.model.planning import LLAMA_8B, pretraining, trained, value
from tests.model.serving_cases import CATALOG, serving_case

MODELS = ("Llama-3.1-8B", "Llama-3.1-70B", "Mixtral-8x7B", "DeepSeek-V3", "gpt-oss-120b", "Gemma-3-27B")
CARDS = ("H100 SXM 80GB", "A100 SXM 80GB", "L40S 48GB", "GeForce RTX 4090 24GB", "H20 96GB", "Instinct MI300X 192GB")


def one(number: float) -> np.ndarray:
    return np.array([float(number)])


def test_a_single_user_waits_at_least_for_the_weights():
    # 8.030e9 parameters less the 128,256 x 4,096 of the embedding = 7.505e9, 2 bytes each, at 3.35e12 B/s: 4.48 ms.
    floor = bounds.decode_floor(serving_case(), one(1), one(0))
    assert floor.memory[0] == pytest.approx(4.48e-3, rel=2e-3)
    assert floor.binds[0] == "bandwidth"


def test_each_sequence_adds_its_own_cache():
    # 2 x 32 layers x 8 heads x 128 = 65,536 elements of 2 bytes a token: 1,000 tokens are 131.072e6 bytes.
    case = serving_case()
    with_cache = bounds.step_bytes(case, one(8), one(1000)) - bounds.step_bytes(case, one(0), one(1000))
    assert with_cache[0] == pytest.approx(8 * 131.072e6)


def test_a_prompt_takes_two_operations_a_parameter_and_causal_attention():
    # 2 x (7.505e9 - 525.3e6) x 1,024 = 14.293e12; 2 x 525.3e6 = 1.05e9; 4 x 32 x 32 x 128 x 1,024^2 / 2 = 0.275e12.
    # Together 14.569e12 at 989.4e12 FLOP/s: 14.7 ms.
    floor = bounds.prefill_floor(serving_case(), one(1024), one(1))
    assert floor.compute[0] == pytest.approx(14.7e-3, rel=5e-3)
    assert floor.binds[0] == "compute"


def test_a_cached_prefix_is_not_computed_again():
    fresh, cached = (bounds.prompt_flop(serving_case(prefix=share), one(1024))[0] for share in (0.0, 0.5))
    # Half of the tokens, three quarters of the attention: 7.147e12 + 0.001e12 + 0.206e12.
    assert cached == pytest.approx(7.354e12, rel=2e-3)
    assert cached > fresh / 2


def test_a_pipeline_does_not_shorten_the_way_of_one_token():
    alone, tensor, staged = (
        bounds.decode_floor(serving_case(**split), one(1), one(0)).memory[0] for split in ({}, {"tp": 4.0}, {"pp": 4.0})
    )
    assert tensor == pytest.approx(alone / 4)
    assert staged == pytest.approx(alone)


def test_an_expert_model_reads_at_least_the_experts_of_one_token():
    # DeepSeek-V3: 37e9 active parameters as printed (±0.5), 1 byte each at 8 bit, 2 for the head's 0.93e9.
    read = bounds.step_bytes(serving_case("DeepSeek-V3", weights="fp8"), one(64), one(0))[0]
    assert read == pytest.approx(37e9 + 0.93e9, abs=0.5e9)


def test_weights_larger_than_the_memory_leave_no_place_for_a_sequence():
    # 70.6e9 x 2 = 141 GB against 80 GiB.
    assert bounds.sequences_at_most(serving_case("Llama-3.1-70B"))[0] == 0
    assert bounds.sequences_at_most(serving_case("Llama-3.1-70B", tp=2.0))[0] > 0


def test_more_memory_than_the_weights_holds_the_caches_that_fit():
    # 0.99 x 81,559 MiB = 84.67e9, less 16.06e9; 1,024 + 128 tokens of 131,072 bytes = 151.0e6: 454 sequences.
    assert bounds.sequences_at_most(serving_case())[0] == pytest.approx(454, rel=0.01)


@given(
    st.sampled_from(MODELS),
    st.sampled_from(CARDS),
    st.sampled_from((1.0, 2.0, 4.0, 8.0)),
    st.sampled_from((1.0, 2.0)),
    st.sampled_from(("bf16", "fp8", "int4")),
    st.floats(1, 2048),
    st.floats(16, 32_000),
    st.floats(16, 4096),
)
def test_no_prediction_of_serving_passes_a_floor(llm, gpu, tp, pp, weights, batch, prompt, answer):
    case = serving_case(llm, gpu, weights, tp=tp, pp=pp, prompt=prompt, answer=answer)
    context = case.run.input + case.run.output / 2
    state = inference.continuous_batching(case, one(batch))
    assert (
        inference.decode_step(case, one(batch), context).total >= bounds.decode_floor(case, one(batch), context).seconds
    )
    assert (
        inference.prefill(case, case.run.input, one(1)).total
        >= bounds.prefill_floor(case, case.run.input, one(1)).seconds
    )
    assert state.output_tokens_s <= bounds.output_ceiling(case, one(batch)) * (1 + 1e-9)


@pytest.mark.parametrize("gpu", ["H100 SXM 80GB", "A100 SXM 80GB", "GeForce RTX 4090 24GB"])
def test_no_prediction_of_training_passes_the_peak(gpu):
    # 6 x 7.505e9 a token and the attention's share, at the dense rate of eight cards: an MFU of 1 and no more.
    result = trained(gpu, pretraining(LLAMA_8B), servers=8)
    peak = CATALOG.gpus[gpu].peak_flops["bf16"].value
    assert value(scaled(result.tokens_s, 6 * 7.505e9)) < 64 * peak


def test_training_operations_are_six_a_parameter_and_token():
    from gpuplanner.model import fitting, hardware
    from gpuplanner.model.plan import Group, Network, Run

    # One sequence of 2,048: 6 x 7.505e9 x 2,048 = 92.2e12, attention 6 x 32 x 32 x 128 x 2,048^2 = 3.3e12.
    workload = pretraining(LLAMA_8B, global_batch=1)
    group = Group(gpu="H100 SXM 80GB", gpus_per_server=1)
    hard = hardware.resolve(group, Network(), CATALOG)
    layout = fitting.Layout(1, 1, 1, 1, 1, 1, "zero1", "none", "adamw", 1, "none")
    runtime = CATALOG.runtimes["Megatron-LM / Megatron Core"]
    case = fitting.build_case(
        [layout], Run(workload="train"), workload, CATALOG.llms[LLAMA_8B], hard, runtime, 1, "bf16", CATALOG
    )
    assert bounds.train_flop(case)[0] == pytest.approx(95.5e12, rel=2e-3)
    assert bounds.train_floor(case)[0] == pytest.approx(95.5e12 / 989.4e12, rel=2e-3)
