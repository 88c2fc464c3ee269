"""A group that trains: layout, memory, time, and what one run takes."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from planning import A100, H100, LLAMA_8B, LLAMA_70B, V100, catalog, group, outcome, pretraining, trained, value

from gpuplanner.model.evaluate import evaluate
from gpuplanner.model.fitting import deadline_of, demand_of, global_batch
from gpuplanner.model.plan import Economics, FineTune, Plan, Scenario, Site

DAY = 86_400.0
GIB = 2**30


def tuning(llm=LLAMA_8B, **fields):
    return FineTune(llm=(llm,), **fields)


# --- time ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("start", "deadline", "days"),
    [("2026-01-01", "2026-01-31", 30), ("2028-02-28", "2028-03-01", 2), ("2026-05-02", "2026-05-01", 0)],
)
def test_a_deadline_is_so_many_days_after_the_start(start, deadline, days):
    assert deadline_of(pretraining(start=start, deadline=deadline)) == days * DAY


def test_a_stated_time_counts_before_dates():
    assert deadline_of(pretraining(deadline_s=5.0, start="2026-01-01", deadline="2026-02-01")) == 5.0


@pytest.mark.parametrize("fields", [{}, {"start": "2026-01-01"}])
def test_without_two_days_there_is_no_deadline(fields):
    assert deadline_of(pretraining(**fields)) is None


def test_the_usual_step_holds_four_million_tokens():
    assert global_batch(pretraining(LLAMA_70B, sequence_tokens=4000), catalog().llms[LLAMA_70B]) == 1000
    assert global_batch(pretraining(global_batch=77), catalog().llms[LLAMA_8B]) == 77


def test_a_run_takes_its_tokens_over_its_rate():
    found = trained(H100, pretraining(tokens=1e11))
    assert value(found.duration_s) == pytest.approx(1e11 / value(found.tokens_s))
    assert value(found.gpu_hours) == pytest.approx(8 * value(found.duration_s) / 3600)


def test_epochs_repeat_the_tokens():
    once, thrice = (trained(H100, tuning(epochs=count)) for count in (1, 3))
    assert value(thrice.duration_s) == pytest.approx(3 * value(once.duration_s))


def test_a_step_is_the_sum_of_its_parts():
    found = trained(H100, pretraining(LLAMA_70B), servers=8)
    assert sum(part.value for part in found.step_s.parts) == pytest.approx(value(found.step_s))
    assert 0.0 <= found.communication_share < 1.0
    tokens = found.choice.global_batch * 2048
    assert value(found.tokens_s) == pytest.approx(tokens / value(found.step_s))


def test_a_well_laid_out_run_uses_more_than_a_quarter_and_no_more_than_the_best_published_share_of_the_peak():
    # Published MFU of dense 16-bit runs on A100 and H100: 0.35 to 0.6; FlashAttention-2 (arXiv 2307.08691, abstract)
    # reaches 225 TFLOP/s or 0.72 on A100 with a small model that needs no tensor ranks, as here.
    for gpu in (A100, H100):
        found = trained(gpu, pretraining(LLAMA_8B, sequence_tokens=4096), servers=8)
        assert 0.25 < value(found.mfu) < 0.72
        assert found.mfu.high <= 1.0


def test_mfu_follows_the_convention_of_palm():
    # Tokens/s × (6 N + 12 L h e s) over the peak of all cards; 989.4 TFLOP/s dense; the head counts, the embedding not.
    found = trained(H100, pretraining(LLAMA_8B, sequence_tokens=4096))
    active = 8.03e9 - 128_256 * 4096
    flop = 6 * active + 12 * 32 * 4096 * 4096
    assert value(found.mfu) == pytest.approx(value(found.tokens_s) * flop / (8 * 989.4e12), rel=0.01)


def test_a_thousand_cards_lose_a_part_of_their_time_to_failures():
    found = trained(H100, pretraining(LLAMA_70B, tokens=1e13), servers=128)
    # 1024 cards: 0.90 to 0.95 of the time is left.
    left = 1e13 / value(found.tokens_s) / value(found.duration_s)
    assert 0.90 <= left <= 0.95


@given(st.integers(1, 12), st.integers(1, 12))
@settings(max_examples=15, deadline=None)
def test_more_servers_never_take_much_longer(first, second):
    # More data ranks leave less for each; the choice may only lose what a partly filled step loses.
    few, many = (trained(H100, pretraining(), servers=count) for count in sorted((first, second)))
    assert value(many.duration_s) <= value(few.duration_s) * 1.25


# --- memory --------------------------------------------------------------------------------------


def test_full_training_keeps_sixteen_bytes_a_parameter_over_its_shards():
    # ZeRO-3 over 8 cards: 16 bytes × 8.03 G / 8 = 16.06 GB, and two gathered layers of 0.9 GB.
    use = trained(H100, pretraining(), {"runtime": "PyTorch FSDP / FSDP2", "tp": 1, "pp": 1}).memory
    states = use.weights + use.gradients + use.optimizer
    assert states == pytest.approx(16 * 8.03e9 / 8 + 2 * 2 * 7.0e9 / 32, rel=0.02)


def test_adapters_train_a_model_that_full_training_cannot_hold():
    assert trained(H100, tuning(LLAMA_8B, method="full"), gpus_per_server=1).fits.status == "fail"
    for method in ("lora", "qlora"):
        assert trained(H100, tuning(LLAMA_8B, method=method), gpus_per_server=1).fits.status != "fail"


def test_quantised_base_weights_take_about_half_with_their_ends_in_32_bit():
    half, quarter = (
        trained(H100, tuning(LLAMA_8B, method=method), gpus_per_server=1).memory.weights for method in ("lora", "qlora")
    )
    # (6.98e9 x 4.5 bit + embedding and head, 1.05e9, that PEFT raises to 32 bit) / (8.03e9 x 16 bit), a layer at work.
    assert 0.5 < quarter / half < 0.56


def test_a_run_that_does_not_fit_has_no_figures():
    found = trained(H100, tuning(LLAMA_70B, method="full"), gpus_per_server=1)
    assert found.fits.key == "does_not_fit"
    for figure in (found.step_s, found.tokens_s, found.duration_s, found.mfu, found.gpu_hours):
        assert not figure.known


def test_tight_runs_are_left_where_there_are_looser_ones():
    for llm in (LLAMA_8B, "Llama-2-13B", LLAMA_70B):
        found = trained(H100, pretraining(llm), servers=8)
        assert found.fits.status == "ok", llm
        assert found.memory.used / found.memory.usable <= 0.95


# --- what is chosen and refused ------------------------------------------------------------------


def test_what_is_stated_is_done():
    run = {"runtime": "Megatron-LM / Megatron Core", "tp": 2, "pp": 2, "micro_batch": 1, "recompute": "full",
           "sharding": "zero1", "optimizer": "adamw"}  # fmt: skip
    choice = trained(H100, pretraining(), run).choice
    assert (choice.tp, choice.pp, choice.dp, choice.micro_batch) == (2, 2, 2, 1)
    assert (choice.recompute, choice.sharding, choice.optimizer) == ("full", "zero1", "adamw")


def test_a_card_without_bf16_trains_in_fp16():
    found = trained(V100, tuning(method="qlora"), {"runtime": "HF Trainer + PEFT + Accelerate"})
    assert found.choice is None or found.choice.compute == "fp16"


@pytest.mark.parametrize(
    ("gpu", "run", "fields", "key"),
    [
        ("", {}, {}, "training_needs_gpu"),
        (H100, {}, {"gpus_per_server": 0}, "training_needs_gpu"),
        ("nonsense", {}, {}, "unknown_card"),
        (H100, {"runtime": "vLLM (CUDA)"}, {}, "runtime_does_not_train"),
        (H100, {"runtime": "nonsense"}, {}, "runtime_not_scored"),
        (H100, {"compute": "fp4"}, {}, "runtime_fails"),
        (H100, {"tp": 3}, {}, "tp_not_divides"),
    ],
)
def test_what_cannot_be_trained_says_why(gpu, run, fields, key):
    found = trained(gpu, pretraining(), run, **fields)
    assert found.refusal.key == key
    assert found.choice is None
    assert not found.duration_s.known


# --- energy and cost -----------------------------------------------------------------------------


def test_a_run_takes_the_power_of_its_servers_for_its_time():
    whole = outcome(group(workload="train"), workload=pretraining(), site=Site(cooling="direct-liquid"))
    # 1.9 kW and 8 × 651 W.
    assert value(whole.train[0].energy_j) == pytest.approx(7108.0 * value(whole.train[0].duration_s))


def test_two_runs_share_the_network():
    other = pretraining(id="other")
    made = Plan(
        workloads=(pretraining(), other),
        scenarios=(Scenario(letter="A", groups=(group(workload="train"), group(workload="other"))),),
    )
    found = evaluate(made, catalog()).scenarios[0]
    both = sum(value(one.energy_j) / value(one.duration_s) for one in found.train)
    assert both == pytest.approx(value(found.room.it_load_w))


def test_rented_cards_take_no_energy_of_ours():
    assert not trained(H100, pretraining(), condition="rented").energy_j.known


@given(st.floats(1e9, 1e13), st.floats(1e9, 1e13))
@settings(max_examples=15, deadline=None)
def test_more_tokens_take_longer_and_cost_more(first, second):
    few, many = (
        outcome(group(workload="train"), workload=pretraining(tokens=count), economics=Economics(duty_cycle=0.5)).train[
            0
        ]
        for count in sorted((first, second))
    )
    assert value(few.duration_s) <= value(many.duration_s)
    assert value(few.cost) <= value(many.cost) * (1 + 1e-9)


def test_the_work_of_a_run_is_six_flop_a_parameter_and_token_and_attention():
    # Llama-3.1-8B: 7.50 G parameters multiplied a token; attention 12 x 32 layers x 4096 wide x 4096 tokens.
    flop = 6 * 7.5047e9 + 12 * 32 * 4096 * 4096
    asked = pretraining(LLAMA_8B, tokens=1e12, sequence_tokens=4096)
    assert demand_of(asked, catalog().llms[LLAMA_8B]).work_flop_per_request == pytest.approx(flop * 1e12, rel=1e-4)
    assert demand_of(asked, None).work_flop_per_request is None
