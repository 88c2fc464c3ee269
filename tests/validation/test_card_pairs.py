import pytest

from gpuplanner.catalog.load import load
from gpuplanner.model.card_ratio import Side
from gpuplanner.validation.card_pairs import pairs_of, task_of

H100, A100 = "H100 SXM 80GB", "A100 SXM 80GB"


@pytest.fixture(scope="module")
def catalog():
    return load()


@pytest.fixture(scope="module")
def sixteen_bit(catalog):
    return pairs_of(catalog.measurements, Side(H100), Side(A100), catalog)


def row(gpu, value, **fields):
    return {
        "id": f"{gpu}-{value}", "family": "decode_fixed_batch", "task": "inference", "source": "one", "gpu": gpu,
        "model": "Llama-3.1-8B", "weights": "bf16", "batch": 1, "metric": "tpot_s", "value": value, **fields,
    }  # fmt: skip


def test_a_time_that_is_half_as_long_is_twice_as_fast(catalog):
    found = pairs_of([row(H100, 0.01), row(A100, 0.02)], Side(H100), Side(A100), catalog)
    assert found["decode_small"].measured == pytest.approx(2.0)


def test_rows_of_two_sources_are_no_pair(catalog):
    rows = [row(H100, 0.01), row(A100, 0.02, source="another")]
    assert pairs_of(rows, Side(H100), Side(A100), catalog) == {}


def test_rows_at_other_settings_are_no_pair(catalog):
    rows = [row(H100, 0.01), row(A100, 0.02, batch=8)]
    assert pairs_of(rows, Side(H100), Side(A100), catalog) == {}


def test_another_precision_is_a_pair_only_where_it_was_asked_for(catalog):
    rows = [row(H100, 0.01, weights="fp8"), row(A100, 0.02)]
    assert pairs_of(rows, Side(H100), Side(A100), catalog) == {}
    assert pairs_of(rows, Side(H100, "8-bit"), Side(A100), catalog)["decode_small"].measured == pytest.approx(2.0)


def test_training_pairs_may_differ_in_the_batch_that_fills_the_card(catalog):
    training = {"family": "training", "task": "training", "compute": "bf16", "weights": None, "metric": "tokens_per_s"}
    rows = [row(H100, 230.0, global_batch=512, **training), row(A100, 100.0, global_batch=256, **training)]
    assert pairs_of(rows, Side(H100), Side(A100), catalog)["train"].measured == pytest.approx(2.3)


def test_h100_against_a100_in_16_bit_is_in_the_shipped_rows(sixteen_bit):
    # TensorRT-LLM 0.11: 26 pairs of most throughput, median 2.06; Splitwise: 15 first tokens, median 2.27.
    assert len(sixteen_bit["serving"].pairs) >= 20
    assert sixteen_bit["serving"].measured == pytest.approx(2.06, abs=0.05)
    assert sixteen_bit["prefill"].measured == pytest.approx(2.27, abs=0.05)


@pytest.mark.parametrize("task", ["serving", "prefill", "decode_small"])
def test_inference_pairs_are_predicted_within_a_tenth_of_their_median(sixteen_bit, task):
    found = sixteen_bit[task]
    assert found.predicted == pytest.approx(found.measured, rel=0.10)


@pytest.mark.parametrize(
    ("fields", "task"),
    [
        ({"family": "training"}, "train"),
        ({"family": "max_throughput", "input_tokens": 20_000}, "long_context"),
        ({"family": "max_throughput", "input_tokens": 2_000}, "serving"),
        ({"family": "decode_fixed_batch", "batch": 64}, "decode_large"),
        ({"family": "decode_fixed_batch", "batch": 1}, "decode_small"),
        ({"family": "ttft_idle"}, "prefill"),
        ({"family": "power_gpu"}, ""),
    ],
)
def test_a_row_belongs_to_the_task_that_it_measures(fields, task):
    assert task_of(fields) == task
