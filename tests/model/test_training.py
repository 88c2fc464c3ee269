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
        "ends_bytes": 2.0, "fragmentation": 1.05,
    }  # fmt: skip
    run.update(changes)
    index = training.constants_index(card, framework, "bf16", CALIBRATION)
    return training.build([shape], [columns], [list(run.values())], [index], CALIBRATION)


# Korthikanti et al., arXiv 2205.05198, Fig. 1, profiled bytes as recorded in calculon-ai/calculon,
# calculon/llm/validation.py (seqsel_fig1): eight tensor ranks; stages, chunks, micro-batch of the published settings.
ACTIVATIONS = [
    ("Megatron-GPT-22B-selective", 1.0, 1.0, 4.0, 59.25, 9.5625),
    ("Megatron-GPT-175B-selective", 8.0, 3.0, 1.0, 66.84375, 12.3515625),
    ("Megatron-GPT-530B-selective", 35.0, 3.0, 1.0, 114.0234375, 23.076171875),
    ("Megatron-GPT-1T-selective", 64.0, 1.0, 1.0, 131.25, 26.5625),
]


@pytest.mark.parametrize(("name", "stages", "chunks", "micro", "plain_gib", "selective_gib"), ACTIVATIONS)
def test_activations_agree_with_profiled_sizes(name, stages, chunks, micro, plain_gib, selective_gib):
    published = {
        "tp": 8.0, "pp": stages, "dp": 1.0, "n_gpus": 8 * stages, "sequence": 2048.0, "global_batch": 256.0,
        "micro_batch": micro, "interleave": chunks, "gated": 0.0, "zero": 1.0, "flash": 0.0,
    }  # fmt: skip
    plain = train_case(name, without_vocab=True, sequence_parallel=0.0, **published)
    selective = train_case(name, without_vocab=True, recompute=training.RECOMPUTE_SELECTIVE, **published)
    assert float(training.activation_bytes(plain)[0]) / GIB == pytest.approx(plain_gib, abs=0.01)
    assert float(training.activation_bytes(selective)[0]) / GIB == pytest.approx(selective_gib, abs=0.01)


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


def test_wider_expert_groups_fill_the_matrices_of_an_expert():
    # Mixtral-8x7B: two of eight experts a token, 4,096 tokens a card: 1,024 rows alone, 8,192 from eight cards.
    alone, wide = (train_case("Mixtral-8x7B", ep=ranks, zero=1.0) for ranks in (1.0, 8.0))
    assert float(training.tokens_of_an_expert(alone)[0]) == 1024.0
    assert float(training.tokens_of_an_expert(wide)[0]) == 8192.0
    assert training.train_step(wide).matrix[0] < training.train_step(alone).matrix[0]


def test_unpacking_quantised_weights_costs_the_same_whatever_the_tokens():
    lora = {"full": 0.0, "adapter_params": 4e7, "global_batch": 8.0, "zero": 0.0}
    extra = []
    for sequence in (1024.0, 8192.0):
        plain = training.train_step(train_case(sequence=sequence, **lora))
        packed = training.train_step(train_case(sequence=sequence, quantised=1.0, weight_bytes=0.5, **lora))
        extra.append(float(packed.matrix[0] - plain.matrix[0]))
    assert extra[0] > 0
    assert extra[1] == pytest.approx(extra[0])


def test_attention_without_flash_kernels_takes_more_time_and_memory():
    flash = train_case(framework="Megatron and NeMo", zero=1.0)
    plain = train_case(framework="Megatron and NeMo", zero=1.0, flash=0.0)
    assert training.train_step(plain).attention[0] > 2.0 * training.train_step(flash).attention[0]
    # 5 bytes a score, 32 heads and layers, 4,096 tokens squared.
    more = training.activation_bytes(plain)[0] - training.activation_bytes(flash)[0]
    assert more == pytest.approx(5 * 32 * 32 * 4096**2)


def test_cards_that_copy_through_the_host_wait_for_it():
    shared = {"n_gpus": 2.0, "dp": 2.0, "in_server": 2.0, "global_batch": 2.0, "gpu": "L40S 48GB"}
    direct, staged = train_case(**shared), train_case(**shared)
    staged = staged._replace(gpu=staged.gpu._replace(peer_to_peer=np.zeros(1)))
    assert training.train_step(staged).data_communication[0] > 2.0 * training.train_step(direct).data_communication[0]


def test_cards_cut_for_export_hold_more_of_their_peak():
    h100, h20 = (CATALOG.gpus[name] for name in ("H100 SXM 80GB", "H20 96GB"))
    shares = [
        training.fed(cases.GpuColumns(*cases.gpu_columns(card, CALIBRATION)), card.architecture) for card in (h100, h20)
    ]
    # 400 W for 148 TFLOP/s: nothing holds its clock back, and a card cannot pass its peak.
    assert shares[0] == pytest.approx(1.0, abs=0.01)
    assert 1.2 < shares[1] < 1.5


def test_blackwell_cards_of_desktops_are_not_taken_for_those_of_data_centres():
    card = CATALOG.gpus["GeForce RTX 5090 32GB"]
    assert training.fed(cases.GpuColumns(*cases.gpu_columns(card, CALIBRATION)), card.architecture) == 1.0


def test_megatron_on_volta_has_no_flash_attention():
    assert training.flash_attention("Volta", "Megatron and NeMo") == 0.0
    assert training.flash_attention("Volta", "FSDP") == training.flash_attention("Hopper", "Megatron and NeMo") == 1.0


MODELS = ("TinyLlama-1.1B", "Llama-3.1-8B", "Llama-3.1-70B", "Mixtral-8x7B", "DeepSeek-V3")
CARDS = ("H100 SXM 80GB", "A100 SXM 80GB", "B200 180GB", "H20 96GB", "L40S 48GB", "GeForce RTX 4090 24GB",
         "Tesla V100 SXM2 32GB", "Instinct MI300X 192GB", "Gaudi 2 96GB")  # fmt: skip


@settings(deadline=None, max_examples=150)
@given(
    st.sampled_from(MODELS), st.sampled_from(CARDS), st.integers(0, 14), st.sampled_from([512.0, 4096.0, 131072.0]),
    st.sampled_from([1.0, 8.0]), st.sampled_from([0.0, 1.0, 2.0]), st.sampled_from([0.0, 1.0, 3.0]),
    st.sampled_from(["FSDP", "Megatron and NeMo", "HF Trainer and PEFT", "other"]), st.booleans(),
)  # fmt: skip
def test_every_plan_has_a_finite_speed_below_the_peak(
    llm, gpu, doublings, sequence, micro, recompute, zero, framework, full
):
    card = cases.GpuColumns(*cases.gpu_columns(CATALOG.gpus[gpu], CALIBRATION))
    ranks = float(2**doublings)
    trained = {} if full else {"full": 0.0, "adapter_params": 1e7}
    case = train_case(
        llm, gpu, framework=framework, peak=float(card.peak16), n_gpus=ranks, dp=ranks, in_server=min(ranks, 8.0),
        sequence=sequence, micro_batch=micro, global_batch=ranks * micro, recompute=recompute, zero=zero, **trained,
    )  # fmt: skip
    step = training.train_step(case)
    assert all(np.isfinite(part[0]) and part[0] >= -1e-9 for part in step)
    used = training.train_memory(case)
    assert all(np.isfinite(part[0]) and part[0] >= 0 for part in used)
    rate = training.tokens_per_second(case, step)
    # Attention counted un-halved: half of it need not be computed; frozen weights save a third.
    assert 0 < float(training.model_flops_utilisation(case, rate, card.peak16)[0]) < (1.0 if full else 1.5)


@settings(deadline=None, max_examples=60)
@given(st.sampled_from(MODELS), st.sampled_from(["tokens", "weights"]), st.floats(1.1, 16.0))
def test_more_work_never_takes_less_time(llm, kind, times):
    small = train_case(llm, zero=1.0)
    large = train_case(llm, zero=1.0, sequence=4096.0 * times) if kind == "tokens" else None
    if large is None:
        large = small._replace(llm=small.llm._replace(active=small.llm.active * times))
    assert training.train_step(large).total[0] >= training.train_step(small).total[0]


@settings(deadline=None, max_examples=40)
@given(st.sampled_from(MODELS), st.integers(0, 10), st.integers(0, 10))
def test_more_cards_at_the_same_batch_of_each_never_train_slower(llm, first, second):
    rates = []
    for doublings in sorted((first, second)):
        ranks = 8.0 * 2**doublings
        case = train_case(llm, n_gpus=ranks, dp=ranks, global_batch=4 * ranks, zero=1.0)
        rates.append(float(training.tokens_per_second(case, training.train_step(case))[0]))
    assert rates[0] <= rates[1] * (1 + 1e-9)


def test_scripts_on_the_trainer_keep_quantised_models_ends_in_32_bit():
    # PEFT's preparation for quantised training raises embedding and head: 2 x 32,000 x 4,096 more bytes twice over.
    quantised = {"quantised": 1.0, "weight_bytes": 0.5, "full": 0.0, "adapter_params": 4e7, "zero": 0.0}
    plain = training.train_memory(train_case(**quantised))
    raised = training.train_memory(train_case(ends_bytes=training.ends_bytes("HF Trainer and PEFT"), **quantised))
    assert float((raised.weights - plain.weights)[0]) == pytest.approx(2 * 2 * 32_000 * 4096)
