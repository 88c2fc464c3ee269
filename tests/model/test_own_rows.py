"""Own measurements: what they move, by how much, and what they leave alone."""

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuplanner.i18n import facts
from gpuplanner.model import own_rows
from gpuplanner.model.edit import replace
from gpuplanner.model.evaluate import evaluate
from gpuplanner.model.explain import explain
from gpuplanner.model.own_rows import Like, Residual, posterior
from gpuplanner.model.plan import Plan, UserLoad
from gpuplanner.model.results import Results
from tests.model.planning import A100, H100, LLAMA_8B, LLAMA_70B, catalog, full_queue, group, plan, pretraining

HERE = Like(H100, "Hopper", "vLLM 0.10 and later", "dense", LLAMA_70B, "bf16", 1500.0, 400.0)
FAMILY = "max_throughput"
SD = math.log(1.42) / own_rows.Z_80

logs = st.floats(-0.5, 0.5)
likes = st.builds(
    Like,
    st.sampled_from([H100, "H200 SXM 141GB"]),
    st.just("Hopper"),
    st.just(HERE.engine),
    st.just("dense"),
    st.sampled_from([LLAMA_70B, LLAMA_8B]),
    st.sampled_from(["bf16", "fp8"]),
    st.sampled_from([128.0, 1500.0, 2000.0, 8000.0]),
    st.sampled_from([128.0, 400.0]),
)
residuals = st.builds(
    Residual, likes, st.just((FAMILY,)), logs, st.sampled_from(["vendor", "ours"]), st.sampled_from("abcdef")
)


def residual(log: float = 0.0, like: Like = HERE, source: str = "vendor", setting: str = "one") -> Residual:
    return Residual(like, (FAMILY,), log, source, setting)


def test_one_row_of_the_same_run_moves_the_figure_by_the_normal_posterior_of_the_shares():
    # Hand calculation: 0.65 s² in common with s = ln 1.42 / 1.2816; the row varies by s² + (ln 1.10)² + (ln 1.03)².
    variance = SD**2
    weight = 0.65 * variance / (variance + math.log(1.10) ** 2 + math.log(1.03) ** 2)
    left = variance - weight * 0.65 * variance
    own = posterior(HERE, FAMILY, [residual(-0.2)], SD)
    assert own is not None
    assert own.rows == 1
    assert own.shift == pytest.approx(math.exp(-0.2 * weight))
    assert own.narrowing == pytest.approx(math.sqrt(left / variance))


def test_a_row_equal_to_the_prediction_leaves_the_value_and_narrows_the_band():
    own = posterior(HERE, FAMILY, [residual(0.0)], SD)
    assert own is not None
    assert own.shift == 1.0
    assert own.narrowing < 1.0


@given(st.lists(residuals, max_size=6), residuals)
def test_a_further_row_never_widens_the_band(rows, further):
    before, after = posterior(HERE, FAMILY, rows, SD), posterior(HERE, FAMILY, [*rows, further], SD)
    assert after is not None
    assert after.narrowing <= (1.0 if before is None else before.narrowing) + 1e-12


@given(st.lists(residuals, min_size=1, max_size=6), st.randoms())
def test_the_order_of_rows_does_not_matter(rows, random):
    shuffled = list(rows)
    random.shuffle(shuffled)
    # Equal as figures are: to one part in 1e9 (arrays add up in another order).
    assert posterior(HERE, FAMILY, shuffled, SD) == pytest.approx(posterior(HERE, FAMILY, rows, SD), rel=1e-9)


@given(st.lists(residuals, min_size=1, max_size=6))
def test_the_shift_stays_within_what_was_measured(rows):
    own = posterior(HERE, FAMILY, rows, SD)
    assert own is not None
    assert abs(math.log(own.shift)) <= max(abs(row.log) for row in rows) * 1.5 + 1e-9


@pytest.mark.parametrize(
    "change",
    [
        {"architecture": "A100", "card": A100},
        {"engine": "TensorRT-LLM 0.12 and later"},
        {"kind": "experts", "llm": "Mixtral-8x7B"},
    ],
)
def test_a_row_of_another_architecture_engine_or_kind_of_model_changes_nothing(change):
    assert posterior(HERE, FAMILY, [residual(-0.3, HERE._replace(**change))], SD) is None


def test_a_row_of_another_family_changes_nothing():
    assert posterior(HERE, "ttft_idle", [residual(-0.3)], SD) is None


def test_a_likelier_row_moves_more():
    shifts = [
        posterior(HERE, FAMILY, [residual(-0.3, like)], SD)
        for like in (
            HERE,
            HERE._replace(weights="fp8"),
            HERE._replace(weights="fp8", llm=LLAMA_8B),
            HERE._replace(weights="fp8", llm=LLAMA_8B, card="H200 SXM 141GB"),
            HERE._replace(weights="fp8", llm=LLAMA_8B, card="H200 SXM 141GB", prompt=150.0),
        )
    ]
    moved = [own.shift for own in shifts if own is not None]
    assert len(moved) == 5
    assert moved == sorted(moved)


def test_many_rows_of_one_source_narrow_less_than_rows_of_many_sources():
    same = posterior(HERE, FAMILY, [residual(0.0, setting=str(i)) for i in range(8)], SD)
    others = posterior(HERE, FAMILY, [residual(0.0, source=str(i), setting=str(i)) for i in range(8)], SD)
    assert same is not None and others is not None
    assert others.narrowing < same.narrowing


def test_no_band_becomes_narrower_than_a_measurement_repeats():
    own = posterior(HERE, FAMILY, [residual(0.0)], math.log(1.01))
    assert own is not None
    assert own.narrowing == 1.0


# --- in a plan -------------------------------------------------------------------------------------------------------

ROW: dict[str, Any] = {
    "id": "demo", "task": "inference", "gpu": H100, "gpus": 8, "model": LLAMA_70B, "weights": "fp8",
    "engine": {"name": "vLLM", "kind": "vLLM (CUDA)", "version": "0.11"}, "input_tokens": 1500, "output_tokens": 400,
    "metric": "output_tokens_per_s", "value": 1.0, "source": "Vendor demo",
}  # fmt: skip


def serving_plan(*rows: dict[str, Any], gpu: str = H100, workload: Any = None) -> Plan:
    asked = workload or full_queue(lowest_format="8-bit", load=UserLoad(users=200))
    bare = plan(group(gpu, run={"runtime": "vLLM (CUDA)", "weights": "fp8"}), workload=asked)
    return replace(bare, ("measured",), rows)


def results(*rows: dict[str, Any], **fields: Any) -> Results:
    return evaluate(serving_plan(*rows, **fields), catalog())


def predicted(row: dict[str, Any]) -> float:
    value = results(row).own_rows[0].predicted.value
    assert value is not None
    return value


def limit(found: Results) -> Any:
    return found.scenarios[0].serve[0].output_tokens_s_limit


def test_a_plan_without_own_rows_says_nothing_of_them():
    found = results()
    assert found.own_rows == ()
    assert found.scenarios[0].serve[0].own == ()
    assert not [finding for finding in found.findings if finding.key.startswith("own_rows")]


def test_a_demo_run_below_the_prediction_lowers_speed_and_narrows_its_band():
    slow = {**ROW, "value": 0.8 * predicted(ROW)}
    before, after = results(), results(slow)
    shift = next(each for each in after.scenarios[0].serve[0].own if each.family == FAMILY)
    assert shift.rows == 1
    assert 0.8 < shift.speed_ratio < 1.0
    assert limit(after).value == pytest.approx(limit(before).value * shift.speed_ratio)
    assert limit(after).high / limit(after).value == pytest.approx(shift.band_ratio)
    assert limit(before).high / limit(before).value == pytest.approx(shift.unshifted_band_ratio)
    assert shift.band_ratio < shift.unshifted_band_ratio
    assert after.own_rows[0].status == "counts"
    assert after.own_rows[0].scenarios == ("A",)


def test_the_verdict_counts_the_shifted_figure():
    load = UserLoad(users=200)
    asked = full_queue(lowest_format="8-bit", load=load, first_token_s=2.0, per_token_s=0.05)
    before = results(workload=asked)
    slow = {**ROW, "value": 0.1 * predicted(ROW)}
    after = results(slow, workload=asked)
    one, other = before.scenarios[0].serve[0], after.scenarios[0].serve[0]
    assert other.output_tokens_s.value < one.output_tokens_s.value
    assert other.headroom.value < one.headroom.value


def test_a_row_that_breaks_physics_is_marked_and_moves_nothing():
    # 8 × 989 TFLOP/s FP8 × 2 ÷ (2 × 70.6 G) = 112,000 tok/s at the very most; ten times that is no measurement.
    found = results({**ROW, "value": 1_120_000.0})
    row = found.own_rows[0]
    assert row.status == "suspect"
    assert row.reason.key in ("row_breaks_compute", "row_breaks_bandwidth")
    assert facts.sentence(row.reason.key, row.reason.numbers)
    assert limit(found) == limit(results())


@pytest.mark.parametrize(
    "row",
    [
        {},
        {"metric": "output_tokens_per_s"},
        {**ROW, "gpu": "No such card", "value": 5.0},
        {**ROW, "value": None},
        {**ROW, "value": "fast"},
        {**ROW, "value": -3.0},
        {**ROW, "value": 10**30},
        {**ROW, "metric": ["x"], "value": 5.0},
        {**ROW, "engine": "vLLM", "value": 5.0},
        {**ROW, "scorable": False, "value": 5.0},
        {**ROW, "metric": "fits", "value": True},
    ],
)
def test_a_row_that_does_not_count_moves_nothing_and_says_why(row):
    found = results(row)
    assert found.own_rows[0].status != "counts"
    assert facts.sentence(found.own_rows[0].reason.key, found.own_rows[0].reason.numbers)
    assert limit(found) == limit(results())


def test_a_measured_time_is_read_the_other_way_round():
    row = {**ROW, "metric": "tpot_s", "concurrency": 64}
    slow = {**row, "value": 1.3 * predicted(row)}
    before, after = results().scenarios[0].serve[0], results(slow).scenarios[0].serve[0]
    assert after.per_token_s.value > before.per_token_s.value
    assert sum(part.value for part in after.decode_step_s.parts) == pytest.approx(after.decode_step_s.value)


def test_rows_of_another_card_family_leave_a_scenario_alone():
    slow = {**ROW, "value": 0.5 * predicted(ROW)}
    assert limit(results(slow, gpu="L40S 48GB")) == limit(results(gpu="L40S 48GB"))


def test_own_rows_of_training_move_the_duration():
    work = pretraining()
    bare = plan(group(H100, work.id), workload=work)
    before = evaluate(bare, catalog())
    choice = before.scenarios[0].train[0].choice
    row = {
        "id": "ours", "task": "training", "gpu": H100, "gpus": 8, "model": LLAMA_8B, "seq_len": 2048,
        "engine": {"name": "Megatron-LM", "kind": "Megatron-LM / Megatron Core"}, "metric": "tokens_per_s",
    }  # fmt: skip
    assert choice is not None and choice.engine == "Megatron and NeMo"
    asked = evaluate(replace(bare, ("measured",), ({**row, "value": 1.0},)), catalog()).own_rows[0].predicted.value
    slow = {**row, "value": 0.7 * asked}
    after = evaluate(replace(bare, ("measured",), (slow,)), catalog())
    shift = after.scenarios[0].train[0].own[0]
    one, other = before.scenarios[0].train[0], after.scenarios[0].train[0]
    assert shift.family == "training"
    assert other.duration_s.value == pytest.approx(one.duration_s.value / shift.speed_ratio)
    assert sum(part.value for part in other.step_s.parts) == pytest.approx(other.step_s.value)
    assert other.communication_share == pytest.approx(one.communication_share)


def test_a_plan_with_own_rows_changes_no_other_plan():
    bare = results()
    results({**ROW, "value": 0.5 * predicted(ROW)})
    assert results() == bare


def test_the_finding_says_how_many_rows_shifted_what():
    found = results({**ROW, "value": 0.8 * predicted(ROW)})
    finding = next(each for each in found.findings if each.key == "own_rows_speed")
    assert finding.numbers["count"] == 1
    assert finding.numbers["shift"] < 0
    assert "shifts the speed by −" in facts.sentence(finding.key, finding.numbers)


def test_an_edit_elsewhere_keeps_the_checked_rows():
    first = serving_plan(ROW)
    second = replace(first, ("name",), "renamed")
    assert second.measured is first.measured


@pytest.mark.parametrize(
    "row",
    [{"value": float("nan")}, {"value": 10**400}, {"x": "y" * 5000}, {"x": {"y": {"z": {"deep": {}}}}}, {"k" * 101: 1}],
)
def test_what_is_no_row_is_refused(row):
    with pytest.raises(ValueError, match="measured"):
        Plan(measured=(row,))


def test_every_figure_that_own_rows_move_is_noted_and_no_other():
    row = {**ROW, "metric": "tpot_s", "concurrency": 64}
    result = results({**row, "value": 1.3 * predicted(row)}).scenarios[0].serve[0]
    assert {shift.family for shift in result.own} == {"serving_tpot"}
    assert result.per_token_s.note == result.output_tokens_s.note == "own_rows"
    assert result.output_tokens_s_limit.note == result.first_token_idle_s.note == result.memory_share.note == ""


@pytest.mark.parametrize("metric", ["output", "per_token", "headroom"])
def test_the_derivation_of_a_moved_figure_names_what_it_was_and_the_factor(metric):
    asked = full_queue(lowest_format="8-bit", load=UserLoad(users=200), first_token_s=2.0, per_token_s=0.05)
    slow = {**ROW, "value": 0.8 * predicted(ROW)}
    with_rows = serving_plan(slow, workload=asked)
    tree = explain(with_rows, catalog(), evaluate(with_rows, catalog()), "A", metric)
    bare = serving_plan(workload=asked)
    before = explain(bare, catalog(), evaluate(bare, catalog()), "A", metric)
    assert tree is not None and before is not None
    without, factor = tree.children
    assert without == before._replace(key="without_own_rows", role="×")
    assert factor.origin == "measured"
    assert tree.value == pytest.approx(without.value * factor.value)
