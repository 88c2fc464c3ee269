"""The fit: quantiles, bands and physics by hand."""

import numpy as np
import pytest

from gpuplanner.catalog.load import load
from gpuplanner.model.measured import predict
from gpuplanner.validation import calibrate

CATALOG = load()


def test_a_weighted_quantile_follows_the_weights():
    values, weights = np.array([1.0, 2.0, 3.0]), np.array([1.0, 1.0, 8.0])
    assert calibrate.weighted_quantile(values, weights, 0.5) == pytest.approx(2.78, abs=0.01)
    assert calibrate.weighted_quantile(values, np.ones(3), 0.5) == pytest.approx(2.0)


def test_a_band_of_ten_equal_sources_takes_the_ninth():
    # ceil(11 x 0.8) / 10 = 0.9 of ten sources with errors 0.1 to 1.0: between the ninth and the tenth.
    errors = np.arange(1, 11) / 10.0
    factor = calibrate.band(errors, np.arange(10).astype(str))["factor_80"]
    assert np.exp(0.85) < factor < np.exp(1.0)


def test_one_large_source_does_not_set_a_band():
    errors = np.concatenate([np.full(100, 0.05), np.full(9, 0.5)])
    sources = np.array(["large"] * 100 + [str(n) for n in range(9)])
    assert calibrate.band(errors, sources)["factor_50"] > np.exp(0.05)


def test_a_row_above_the_bandwidth_is_flagged():
    row = {
        "family": "decode_fixed_batch", "metric": "output_tokens_per_s", "gpu": "H100 SXM 80GB", "gpus": 1,
        "model": "Llama-3.1-8B",
        "engine": {"name": "vLLM"}, "weights": "bf16", "batch": 1, "value": 300.0, "scope": "system",
    }  # fmt: skip
    # 15 GB of weights at 3.35 TB/s: at most 223 tokens a second.
    prepared = predict.prepare([row, {**row, "value": 150.0}], CATALOG)
    assert calibrate.breaks_physics(prepared, np.array([300.0, 150.0])).tolist() == [True, False]


def test_the_linear_solution_finds_known_constants():
    rng = np.random.default_rng(7)
    count = 200
    design = rng.normal(size=(count, 2))
    truth = np.array([0.05, -0.08])
    data = calibrate.Data(
        predict.prepare([], CATALOG), np.ones(count), np.full(count, "training"), np.full(count, 0.15), np.ones(count),
        np.array(["a"] * 100 + ["b"] * 100), np.full(count, "p"), np.full(count, "g"),
    )  # fmt: skip
    start = calibrate.Point(np.zeros(2), np.zeros(2))
    found = calibrate.solve(design, -design @ truth, start, data, np.full(2, 1.0), np.ones(count, bool), 10)
    assert found.shift == pytest.approx(truth, abs=1e-3)


def test_a_tight_prior_holds_a_constant_that_one_row_pulls():
    data = calibrate.Data(
        predict.prepare([], CATALOG), np.ones(1), np.array(["training"]), np.array([0.15]), np.ones(1),
        np.array(["a"]), np.array(["p"]),
        np.array(["g"]),
    )  # fmt: skip
    start = calibrate.Point(np.zeros(1), np.zeros(1))
    found = calibrate.solve(np.ones((1, 1)), np.array([-1.0]), start, data, np.array([0.07]), np.ones(1, bool), 10)
    assert 0 < found.shift[0] < 0.07


def test_no_shipped_constant_moved_far_without_a_reason_beside_it():
    import json

    from gpuplanner import paths

    parameters = json.loads((paths.resources() / "calibration" / "constants.json").read_text(encoding="utf-8"))[
        "parameters"
    ]
    for name, entry in parameters.items():
        assert abs(entry.get("moved", 0.0)) <= 2.0 or entry.get("why"), name
