"""Training memory and steps: published activation sizes, sharding by hand, properties."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuplanner.catalog.load import load
from gpuplanner.model import case as cases
from gpuplanner.model import training
from gpuplanner.units import GIB

CATALOG = load()
CALIBRATION = CATALOG.calibration


def train_case(
    llm: str = "Llama-2-7B",
    gpu: str = "H100 SXM 80GB",
    without_vocab: bool = False,
    framework: str = "FSDP",
    **changes: float,
) -> training.TrainCase:
    """One training configuration: eight cards, sharded, four sequences of 4,096 tokens a card."""
    model, card = CATALOG.llms[llm], CATALOG.gpus[gpu]
    columns, shape = cases.gpu_columns(card, CALIBRATION), cases.llm_columns(model).copy()
    if without_vocab:
        shape[cases.LlmColumns._fields.index("vocab")] = 0.0
    run = {
        "peak": 989e12, "n_gpus": 8.0, "tp": 1.0, "pp": 1.0, "dp": 8.0, "ep": 1.0, "cp": 1.0, "sequence": 4096.0,
        "global_batch": 32.0,
        "micro_batch": 1.0, "interleave": 1.0, "recompute": 0.0, "zero": 3.0, "weight_bytes": 2.0,
        "adapter_params": 0.0, "full": 1.0,
        "quantised": 0.0, "optimizer_bytes": 12.0, "gradient_bytes": 2.0, "flash": 1.0, "sequence_parallel": 1.0,
        "in_server": 8.0,
        "network": 50e9, "fused_loss": 0.0, "gated": float(model.gated_ffn), "offload_optimizer": 0.0, "fed": 1.0,
    }  # fmt: skip
    run.update(changes)
    index = training.constants_index(card, framework, "bf16", CALIBRATION)
    return training.build([shape], [columns], [list(run.values())], [index], CALIBRATION)


# Korthikanti et al., arXiv 2205.05198, sequence parallelism with selective recompute, three interleaved chunks:
# s b d (34 / t) bytes a layer, L layers on the first stage, times 1 + (p - 1) / (p v). Two digits are printed.
ACTIVATIONS = [
    ("Megatron-GPT-175B-selective", 8.0, 12.35),
    ("Megatron-GPT-530B-selective", 35.0, 23.08),
]


@pytest.mark.parametrize(("name", "stages", "gib"), ACTIVATIONS)
def test_activations_agree_with_profiled_sizes(name, stages, gib):
    case = train_case(
        name, without_vocab=True, tp=8.0, pp=stages, dp=1.0, n_gpus=8 * stages, sequence=2048.0, global_batch=256.0,
        interleave=3.0,
        recompute=training.RECOMPUTE_SELECTIVE, gated=0.0, zero=1.0,
    )  # fmt: skip
    assert float(training.activation_bytes(case)[0]) / GIB == pytest.approx(gib, abs=0.01)


def test_mixed_precision_adamw_takes_16_bytes_a_parameter():
    case = train_case("Llama-2-7B", zero=0.0)
    states = training.train_memory(case)
    total = float((states.weights + states.gradients + states.optimizer)[0])
    assert total == pytest.approx(16 * 6.738e9, rel=1e-3)


def test_full_sharding_divides_states_by_the_ranks_and_keeps_two_layers_whole():
    case = train_case("Llama-2-7B", zero=3.0)
    states = training.train_memory(case)
    # A layer of Llama-2-7B: 4 x 4096^2 + 3 x 4096 x 11008 parameters of 2 bytes.
    layer = 4 * 4096**2 + 3 * 4096 * 11008
    total = float((states.weights + states.gradients + states.optimizer)[0])
    assert total == pytest.approx(16 * 6.738e9 / 8 + 2 * 2 * layer, rel=1e-3)


def test_whole_experts_on_ranks_do_not_shrink_with_tensor_ranks():
    one, two = (train_case("Mixtral-8x7B", ep=8.0, tp=tp, dp=8.0 / tp, zero=1.0) for tp in (1.0, 2.0))
    experts = 8 * 32 * 3 * 4096 * 14336 / 8
    assert training.params_per_gpu(two)[0] > experts
    assert training.params_per_gpu(two)[0] < training.params_per_gpu(one)[0]


@settings(deadline=None, max_examples=40)
@given(st.sampled_from([0.0, 1.0, 2.0, 3.0]), st.sampled_from([0.0, 1.0, 2.0, 3.0]))
def test_more_sharding_never_takes_more_state(first, second):
    less, more = (train_case(zero=stage) for stage in sorted((first, second)))
    a, b = training.train_memory(less), training.train_memory(more)
    # Stage 3 holds two gathered layers beside its shard.
    slack = 2 * 2 * 6.6e9 / 32 if second != first else 0.0
    assert float((b.gradients + b.optimizer)[0]) <= float((a.gradients + a.optimizer)[0]) + 1.0
    assert float(b.weights[0]) <= float(a.weights[0]) + slack


@settings(deadline=None, max_examples=30)
@given(st.floats(1, 16), st.floats(1, 16))
def test_larger_micro_batches_never_take_less_memory(first, second):
    small, large = (train_case(micro_batch=size, global_batch=512.0) for size in sorted((first, second)))
    assert training.train_memory(small).total[0] <= training.train_memory(large).total[0]


def test_recomputing_saves_memory_and_costs_time():
    plain, full = train_case(micro_batch=4.0), train_case(micro_batch=4.0, recompute=training.RECOMPUTE_FULL)
    assert training.train_memory(full).total[0] < training.train_memory(plain).total[0]
    assert training.train_step(full).total[0] > training.train_step(plain).total[0]


def test_parts_of_a_step_add_up_and_none_is_negative():
    case = train_case("Llama-3.1-70B", n_gpus=64.0, dp=8.0, tp=4.0, pp=2.0, zero=1.0, global_batch=256.0)
    step = training.train_step(case)
    assert float(step.total[0]) == pytest.approx(sum(float(part[0]) for part in step))
    assert all(float(part[0]) >= -1e-12 for part in step)


def test_no_run_computes_more_than_the_peak():
    for micro in (1.0, 4.0, 16.0):
        case = train_case(micro_batch=micro, global_batch=1024.0)
        rate = training.tokens_per_second(case, training.train_step(case))
        assert 0.1 < float(training.model_flops_utilisation(case, rate, np.array([989e12]))[0]) < 0.85


def test_model_flop_follow_the_published_convention():
    # PaLM: 6 N + 12 L h e s a token; MPT-7B, 2,048 tokens: N without the embedding's second use.
    shape = cases.LlmColumns(*(np.array([value]) for value in cases.llm_columns(CATALOG.llms["Llama-2-7B"])))
    expected = 6 * float(shape.active[0]) + 12 * 32 * 4096 * 2048
    assert float(training.flop_per_token(shape, np.array([2048.0]))[0]) == pytest.approx(expected)


def test_an_adapter_of_rank_16_on_attention_has_four_pairs_a_layer():
    # Llama-2-7B: four matrices 4096 x 4096, 32 layers, 16 x (4096 + 4096) each.
    assert training.adapter_parameters(4096, 4096, 4096, 11008, 32, 16, "attention", True) == 32 * 4 * 16 * 8192
