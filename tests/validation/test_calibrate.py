"""The fit: quantiles, bands and physics by hand."""

import json
from collections import defaultdict

import numpy as np
import pytest

from gpuplanner import paths
from gpuplanner.catalog.load import load
from gpuplanner.model import evidence
from gpuplanner.model.measured import predict
from gpuplanner.validation import calibrate, score

CATALOG = load()


def test_a_weighted_quantile_follows_the_weights():
    values, weights = np.array([1.0, 2.0, 3.0]), np.array([1.0, 1.0, 8.0])
    assert calibrate.weighted_quantile(values, weights, 0.5) == pytest.approx(2.78, abs=0.01)
    assert calibrate.weighted_quantile(values, np.ones(3), 0.5) == pytest.approx(2.0)


def test_a_band_of_ten_equal_sources_holds_84_of_100():
    # Ten sources with errors 0.1 to 1.0, each in the middle of its tenth: 84 % lie below 0.8 + 0.9 of the next step.
    errors = np.arange(1, 11) / 10.0
    factor = calibrate.band(errors, np.arange(10).astype(str))["factor_80"]
    assert factor == pytest.approx(np.exp(0.89), abs=1e-3)


def test_one_large_source_does_not_set_a_band():
    # A hundred rows weigh as ten: 84 % of the weight of 19 reaches into the nine others.
    errors = np.concatenate([np.full(100, 0.05), np.full(9, 0.5)])
    sources = np.array(["large"] * 100 + [str(n) for n in range(9)])
    assert calibrate.band(errors, sources)["factor_80"] == pytest.approx(np.exp(0.5), abs=1e-3)


def test_many_small_sources_do_not_narrow_the_band_of_a_large_one():
    errors = np.concatenate([np.full(100, 0.5), np.full(60, 0.05)])
    sources = np.array(["large"] * 100 + [str(n) for n in range(60)])
    assert calibrate.band(errors, sources)["factor_80"] == pytest.approx(np.exp(0.5), abs=1e-3)


def test_constants_that_move_no_row_in_common_take_one_turn():
    moves = np.array([[1, 0, 1], [0, 1, 1], [1, 0, 0]], bool)
    turns = calibrate.together(moves)
    assert turns[0] == turns[1] != turns[2]


def test_the_linear_solution_finds_known_constants():
    rng = np.random.default_rng(7)
    count = 200
    design = rng.normal(size=(count, 2))
    truth = np.array([0.05, -0.08])
    data = calibrate.Data(
        predict.prepare([], CATALOG), np.ones(count), np.full(count, "training"), np.full(count, 0.15), np.ones(count),
        np.array(["a"] * 100 + ["b"] * 100), np.full(count, "p"), np.full(count, "g"), np.ones(count, bool),
    )  # fmt: skip
    start = calibrate.Point(np.zeros(2), np.zeros(2))
    found = calibrate.solve(design, -design @ truth, start, data, np.full(2, 1.0), np.ones(count, bool), 10)
    assert found.shift == pytest.approx(truth, abs=1e-3)


def test_a_tight_prior_holds_a_constant_that_one_row_pulls():
    data = calibrate.Data(
        predict.prepare([], CATALOG), np.ones(1), np.array(["training"]), np.array([0.15]), np.ones(1),
        np.array(["a"]), np.array(["p"]),
        np.array(["g"]), np.ones(1, bool),
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


def scored_rows():
    residuals = CATALOG.calibration.residuals
    rows = [row for row in CATALOG.measurements if row["id"] in residuals]
    return rows, [residuals[row["id"]] for row in rows]


def test_every_scored_row_has_its_residuals_and_they_are_current():
    scored = score.score(CATALOG.measurements, CATALOG)["rows"]
    residuals = CATALOG.calibration.residuals
    for row, record in zip(scored, CATALOG.measurements, strict=True):
        answered = row["skipped"] is None and not isinstance(row["predicted"], bool)
        if answered and score.is_scorable(record) and row["measured"] > 0:
            # Six digits are written down.
            found = residuals[row["id"]]
            assert found.predicted == pytest.approx(row["predicted"], rel=1e-5), row["id"]
            if row["family"] in CATALOG.calibration.bands and row["metric"] not in ("mfu", "hfu"):
                width = CATALOG.calibration.band(row["family"]).factor_80 ** found.power
                assert row["high"] == pytest.approx(row["predicted"] * width, rel=1e-5), row["id"]


def test_bands_hold_rows_of_publishers_that_the_fit_has_not_seen():
    rows, residuals = scored_rows()
    records = predict.prepare(rows, CATALOG).records
    inside = defaultdict(list)
    publishers = defaultdict(set)
    for row, found, record in zip(rows, residuals, records, strict=True):
        seen = getattr(record, "evidence", None) or evidence.Evidence(1.0, (), True)
        width = np.log(evidence.factor(CATALOG.calibration, row["family"], seen))
        inside[row["family"]].append(abs(np.log(found.left_out / row["value"])) <= width)
        publishers[row["family"]].add(row["publisher"])
    whole = [name for name in inside if len(publishers[name]) >= 5 and len(inside[name]) >= 40]
    assert {"training", "consumer_decode", "decode_fixed_batch", "finetune"} <= set(whole)
    for family in whole:
        assert 0.75 <= np.mean(inside[family]) <= 0.90, family


def test_a_family_of_few_publishers_is_no_narrower_than_its_parent():
    bands = CATALOG.calibration.bands
    for family, parent in calibrate.PARENTS.items():
        if family not in ("finetune", "peak_memory"):
            assert bands[family].factor_80 >= bands[parent].factor_80, family


def test_a_calibration_is_known_by_what_it_holds():
    shipped = json.loads((paths.resources() / "calibration" / "constants.json").read_text(encoding="utf-8"))
    assert shipped["id"] == calibrate.identity(shipped, 1575)
    moved = json.loads(json.dumps(shipped))
    first = next(iter(moved["parameters"].values()))
    first["value"] *= 1.001
    assert calibrate.identity(moved, 1575) != shipped["id"]
    wider = json.loads(json.dumps(shipped))
    wider["bands"]["training"]["factor_80"] += 0.001
    assert calibrate.identity(wider, 1575) != shipped["id"]
