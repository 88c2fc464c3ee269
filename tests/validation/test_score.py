"""The scored result: its shape, its counts, its bands, and how good the model is today."""

import json

import pytest

from gpuplanner import paths
from gpuplanner.catalog.load import load
from gpuplanner.validation import score

CATALOG = load()
FILES = sorted((paths.resources() / "measurements").glob("*.jsonl"))
ROWS = [json.loads(line) for path in FILES for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.fixture(scope="module")
def scored():
    return score.score(ROWS, CATALOG)


def test_every_row_comes_back_once_in_order(scored):
    assert [row["id"] for row in scored["rows"]] == [row["id"] for row in ROWS]


def test_the_result_has_the_documented_shape(scored):
    assert set(scored) == {"rows", "families", "pairs"}
    for row in scored["rows"]:
        assert list(row)[:8] == ["id", "metric", "measured", "predicted", "low", "high", "family", "skipped"]
        assert list(row)[8:] == ["naive", "suspect", "without_source", "without_publisher", "left_out"]
    for family in scored["families"].values():
        assert list(family)[:10] == [
            "rows", "scorable", "predicted", "skipped", "answered", "median_ape", "p90_ape", "bias", "within_25",
            "coverage_80",
        ]  # fmt: skip
    for pair in scored["pairs"].values():
        assert list(pair) == ["pairs", "order_right", "ratio_error_median"]
    json.dumps(scored, allow_nan=False)


def test_bands_hold_the_prediction_and_are_positive(scored):
    for row in scored["rows"]:
        if row["low"] is not None:
            assert 0 <= row["low"] <= row["predicted"] <= row["high"]


def test_fits_are_true_or_false(scored):
    assert all(
        isinstance(row["predicted"], bool)
        for row in scored["rows"]
        if row["metric"] == "fits" and row["skipped"] is None
    )


def test_nearly_every_scorable_row_is_answered(scored):
    for name, family in scored["families"].items():
        if family["scorable"]:
            assert family["answered"] >= 0.98, name


def test_counts_of_a_family_add_up(scored):
    for family in scored["families"].values():
        assert family["predicted"] + family["skipped"] == family["rows"]


# Median and 90 % errors of rows whose publisher (in small families: engine and card) the fit has not seen, with a
# tenth of slack on what
# the calibration found. A formula that gets worse shows here once the constants are fitted again.
LEFT_OUT = {
    "consumer_decode": (0.13, 0.36), "consumer_prefill": (0.16, 0.29), "decode_fixed_batch": (0.18, 0.61),
    "serving_tpot": (0.15, 0.40),
    "ttft_loaded": (0.32, 1.01), "ttft_idle": (0.17, 0.30), "max_throughput": (0.13, 0.28), "training": (0.09, 0.24),
    "finetune": (0.16, 0.52), "power_gpu": (0.09, 0.38), "energy": (0.17, 0.45), "request_rate": (0.24, 0.64),
}  # fmt: skip
# The same of all shipped rows under the shipped constants: a slip in a formula shows here at once.
SHIPPED = {
    "consumer_decode": 0.09, "consumer_prefill": 0.18, "decode_fixed_batch": 0.17, "serving_tpot": 0.15,
    "ttft_loaded": 0.31,
    "ttft_idle": 0.19, "max_throughput": 0.13, "training": 0.12, "finetune": 0.22, "power_gpu": 0.13,
    "energy": 0.20, "request_rate": 0.22,
    "collective": 0.08, "peak_memory": 0.15, "kv_capacity": 0.25, "power_server": 0.08, "power_cap_speed": 0.08,
    "gpu_hours": 0.30,
    "cpu_decode": 0.19, "fit": 0.0,
}  # fmt: skip


@pytest.mark.parametrize("family", LEFT_OUT)
def test_errors_on_unseen_publishers_stay_where_they_are(family):
    found = json.loads((paths.resources() / "calibration" / "constants.json").read_text(encoding="utf-8"))["left_out"][
        family
    ]
    median, ninety = LEFT_OUT[family]
    assert found["median_ape"] <= median and found["p90_ape"] <= ninety


@pytest.mark.parametrize("family", SHIPPED)
def test_errors_on_shipped_rows_stay_where_they_are(family, scored):
    assert scored["families"][family]["median_ape"] <= SHIPPED[family]


def test_19_of_20_fits_are_right(scored):
    # Two known misses: a prompt profiled without flash attention, and a group size of 32 that the format does not
    # state.
    family = scored["families"]["fit"]
    assert family["within_25"] >= 0.95


def test_bands_hold_at_least_four_of_five_rows(scored):
    for name, family in scored["families"].items():
        if family["scorable"] >= 20 and family["coverage_80"] is not None:
            assert family["coverage_80"] >= 0.80, name


def test_the_order_of_two_cards_is_right(scored):
    pairs = scored["pairs"]
    assert pairs["max_throughput"]["order_right"] == pairs["max_throughput"]["pairs"]
    assert pairs["consumer_decode"]["order_right"] >= 0.97 * pairs["consumer_decode"]["pairs"]
    assert pairs["ttft_idle"]["order_right"] == pairs["ttft_idle"]["pairs"]


def test_formulas_beat_rules_of_thumb_on_rows_of_sources_they_have_not_seen(scored):
    for family in (
        "decode_fixed_batch",
        "serving_tpot",
        "max_throughput",
        "ttft_loaded",
        "training",
        "power_gpu",
        "consumer_decode",
    ):
        found = scored["families"][family]
        assert found["without_source"]["median_ape"] < 0.75 * found["naive"]["median_ape"], family


def test_rows_that_say_nothing_of_scoring_count():
    row = {
        "metric": "tpot_s", "gpu": "H100 SXM 80GB", "model": "Llama-3.1-8B", "engine": {"name": "vLLM"},
        "weights": "bf16", "batch": 1,
        "value": 0.008,
    }  # fmt: skip
    family = score.score([row], CATALOG)["families"]["decode_fixed_batch"]
    assert (family["rows"], family["scorable"], family["answered"]) == (1, 1, 1.0)
    assert score.score([{**row, "scorable": False}], CATALOG)["families"]["decode_fixed_batch"]["scorable"] == 0


def test_a_card_of_twice_the_bandwidth_makes_a_pair_of_its_own():
    row = {
        "metric": "tpot_s", "gpu": "H100 SXM 80GB", "model": "Llama-3.1-8B", "engine": {"name": "vLLM"},
        "weights": "bf16", "batch": 1,
        "value": 0.008, "source": "by hand", "gpus": 1,
    }  # fmt: skip
    pairs = score.score([row, {**row, "gpu": "A100 SXM 40GB", "value": 0.015}], CATALOG)["pairs"]
    assert pairs["decode_fixed_batch"]["pairs"] == 1 and pairs["decode_fixed_batch"]["order_right"] == 1


SERVED = {
    "gpu": "H100 SXM 80GB", "gpus": 1, "model": "Llama-3.1-8B", "engine": {"name": "vLLM"}, "weights": "bf16",
    "source": "by hand",
}  # fmt: skip
DECODED = {**SERVED, "metric": "tpot_s", "batch": 1, "value": 0.008}
TRAINED = {
    "task": "training", "gpu": "H100 SXM 80GB", "gpus": 8, "model": "Llama-3.1-8B", "seq_len": 8192,
    "global_batch": 128, "metric": "tokens_per_s", "scope": "system", "value": 70_000.0,
    "engine": {"name": "Megatron-LM", "era": "Megatron and NeMo"}, "weights": "bf16", "compute": "bf16",
}  # fmt: skip


def row_of(given):
    return score.score([given], CATALOG)["rows"][0]


def test_the_rule_of_thumb_of_decode_reads_the_weights_once():
    # 7.5 G weights without the table of embeddings, 2 bytes each, at 3.35 TB/s.
    assert row_of(DECODED)["naive"] == pytest.approx(15.0e9 / 3.35e12, rel=0.01)


def test_the_rule_of_thumb_of_a_first_token_computes_at_half_of_the_peak():
    # 2 x 7.5 G x 1,024 tokens at half of 989 TFLOP/s.
    row = {**SERVED, "metric": "ttft_s", "input_tokens": 1024, "batch": 1, "value": 0.04}
    assert row_of(row)["naive"] == pytest.approx(2 * 7.5e9 * 1024 / (0.5 * 989e12), rel=0.01)


def test_the_rule_of_thumb_of_most_throughput_counts_prompt_and_answer():
    # Half of 989 TFLOP/s by 2 x 7.5 G a token; a fifth of the tokens are answer.
    row = {
        **SERVED, "metric": "output_tokens_per_s", "family": "max_throughput", "input_tokens": 1024,
        "output_tokens": 256, "value": 5000.0,
    }  # fmt: skip
    assert row_of(row)["naive"] == pytest.approx(0.5 * 989e12 / (2 * 7.5e9) / 5, rel=0.01)


def test_the_rule_of_thumb_of_training_is_40_percent_of_the_peak():
    # 0.4 x 8 x 989 TFLOP/s by 6 x 7.5 G a token.
    assert row_of(TRAINED)["naive"] == pytest.approx(0.4 * 8 * 989e12 / (6 * 7.5e9), rel=0.01)


def test_the_rule_of_thumb_of_power_is_70_percent_of_the_limit():
    row = {**SERVED, "metric": "power_w_per_gpu", "concurrency": 64, "value": 600.0}
    assert row_of(row)["naive"] == pytest.approx(0.7 * 700)


def test_a_decode_above_the_bandwidth_is_suspect():
    # 15 GB of weights at 3.35 TB/s: at least 4.48 ms a token.
    found = row_of({**DECODED, "value": 0.0040})["suspect"]
    assert found["bound"] == "bandwidth" and found["limit"] == pytest.approx(0.00448 / 1.03, rel=0.01)
    assert row_of({**DECODED, "value": 0.0048})["suspect"] is None


def test_a_training_rate_above_the_peak_is_suspect():
    # Even without attention 8 x 989 TFLOP/s allow at most 176,000 tokens a second of 6 x 7.5 G operations.
    found = row_of({**TRAINED, "value": 250_000.0})["suspect"]
    assert found["bound"] == "compute" and found["limit"] < 176_000 * 1.1
    assert row_of(TRAINED)["suspect"] is None


def test_a_share_of_the_peak_above_one_is_suspect():
    row = {**TRAINED, "metric": "mfu"}
    assert row_of({**row, "value": 1.2})["suspect"]["bound"] == "compute"
    assert row_of({**row, "value": 0.6})["suspect"] is None


def test_a_draw_above_the_limit_is_suspect():
    row = {**SERVED, "metric": "power_w_per_gpu", "concurrency": 64, "value": 800.0}
    assert row_of(row)["suspect"]["bound"] == "power"
    assert row_of({**row, "power_limit_w": 400, "value": 500.0})["suspect"]["limit"] == pytest.approx(400 * 1.05)
    assert row_of({**row, "value": 690.0})["suspect"] is None


def test_a_shipped_row_carries_what_is_predicted_without_it_and_a_changed_one_does_not(scored):
    at = next(i for i, row in enumerate(scored["rows"]) if row["left_out"] is not None)
    assert scored["rows"][at]["left_out"] == CATALOG.calibration.residuals[ROWS[at]["id"]].left_out
    assert row_of({**ROWS[at], "value": 2 * ROWS[at]["value"]})["left_out"] is None


def test_training_is_told_apart_by_experts(scored):
    training = scored["families"]["training"]
    assert set(training["parts"]) == {"dense", "experts"}
    assert sum(part["rows"] for part in training["parts"].values()) <= training["rows"]


def test_the_rows_that_hurt_most_come_first():
    rows = [{**DECODED, "id": str(n), "value": value} for n, value in enumerate((0.0055, 0.055, 0.011))]
    found = score.worst(score.score(rows, CATALOG), 2)["decode_fixed_batch"]
    assert [row["id"] for row in found] == ["1", "2"]
