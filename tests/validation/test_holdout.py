"""A look from outside: published measurements that calibration never sees, and shipped rows changed at random.

`holdout.jsonl` holds measurements of other publishers, cards, models and years than `resources/measurements`, gathered
after the formulas were written. Nothing may be fitted to it: where it shows physics that is missing, that is written
down in `README.md` beside it, with the medians by family, and stays.
"""

import json
import math
import random
from pathlib import Path

import numpy as np
import pytest

from gpuplanner import paths
from gpuplanner.catalog.load import load
from gpuplanner.model import inference
from gpuplanner.model.measured import predict, suspect
from gpuplanner.model.measured.rows import STATIC, ServingRow
from gpuplanner.validation import score

CATALOG = load()
HOLDOUT = [
    json.loads(line) for line in Path(__file__).with_name("holdout.jsonl").read_text(encoding="utf-8").splitlines()
]
SHIPPED = [
    json.loads(line)
    for path in sorted((paths.resources() / "measurements").glob("*.jsonl"))
    for line in path.read_text(encoding="utf-8").splitlines()
]
PROMISED = 0.80
CHANGES = 300


@pytest.fixture(scope="module")
def scored():
    return score.score(HOLDOUT, CATALOG)


def test_no_row_of_the_holdout_is_shipped():
    assert not {row["id"] for row in HOLDOUT} & {row["id"] for row in SHIPPED}
    assert not {row["source"] for row in HOLDOUT} & {row["source"] for row in SHIPPED}


def test_most_of_the_holdout_comes_from_publishers_that_calibration_does_not_know():
    known = {row["publisher"] for row in SHIPPED}
    assert np.mean([row["publisher"] not in known for row in HOLDOUT]) > 0.85


def test_nearly_every_scorable_row_is_answered(scored):
    answered = [row["skipped"] is None for given, row in zip(HOLDOUT, scored["rows"], strict=True) if given["scorable"]]
    assert len(answered) >= 40
    assert np.mean(answered) >= 0.95


def numbers(scored):
    """Pairs of a scorable row that was answered with a number, as given and as scored."""
    return [
        (given, row)
        for given, row in zip(HOLDOUT, scored["rows"], strict=True)
        if given["scorable"] and row["skipped"] is None and not isinstance(row["measured"], bool)
    ]


def test_bands_hold_as_many_strangers_as_they_promise(scored):
    pairs = numbers(scored)
    inside = [row["low"] <= row["measured"] <= row["high"] for _, row in pairs]
    # Rows of one publisher err together, so publishers are counted: two standard deviations of a binomial share.
    publishers = len({given["publisher"] for given, _ in pairs})
    uncertainty = 2.0 * math.sqrt(PROMISED * (1.0 - PROMISED) / publishers)
    assert abs(np.mean(inside) - PROMISED) <= uncertainty < 0.25


def test_half_of_the_strangers_are_predicted_to_a_quarter(scored):
    errors = [abs(row["predicted"] / row["measured"] - 1.0) for _, row in numbers(scored)]
    assert np.median(errors) < 0.25


def test_what_fits_and_what_does_not_is_told_apart(scored):
    fits = [row for row in scored["rows"] if isinstance(row["measured"], bool) and row["skipped"] is None]
    assert len(fits) >= 5
    assert np.mean([row["measured"] == row["predicted"] for row in fits]) >= 0.8


# --- rows changed at random ------------------------------------------------------------------------------------------

DROPPED = (
    "parallel", "weights", "compute", "kv", "gpus", "gpus_per_node", "interconnect", "network", "input_tokens",
    "output_tokens", "micro_batch", "global_batch", "activation_checkpointing", "sharding", "method", "max_model_len",
    "gpu_memory_utilization", "host", "host_memory_gbs", "batch", "concurrency",
)  # fmt: skip
LENGTHS = (1, 2, 17, 512, 4096, 32_768, 131_072)
BATCHES = (1, 2, 8, 64, 300, 1024, 4096)


def changed_rows(number: int, seed: int) -> list[dict]:
    """Shipped rows with keys dropped, other cards and models, other batches, lengths and layouts."""
    random_ = random.Random(seed)
    gpus, llms = (sorted(entry.name for entry in group.values()) for group in (CATALOG.gpus, CATALOG.llms))
    rows = []
    for count in range(number):
        row = json.loads(json.dumps(random_.choice(SHIPPED)))
        row["id"] = f"changed-{count}"
        for key in DROPPED:
            if random_.random() < 0.15:
                row.pop(key, None)
        if "engine" in row and random_.random() < 0.3:
            kept = random_.sample(["name", "kind", "era"], random_.randint(0, 2))
            row["engine"] = {key: row["engine"].get(key) for key in kept}
        if row.get("gpu") and random_.random() < 0.5:
            row["gpu"] = random_.choice(gpus)
            row.pop("gpu_memory_gb", None)
        if row.get("model") and random_.random() < 0.5:
            row["model"] = random_.choice(llms)
        for keys, values in ((("batch", "concurrency"), BATCHES), (("input_tokens", "output_tokens"), LENGTHS)):
            for key in keys:
                if key in row and random_.random() < 0.6:
                    row[key] = random_.choice(values)
        if random_.random() < 0.1:
            row["gpus"] = random_.choice((1, 2, 3, 7, 8, 64, 1024))
        rows.append(row)
    return rows


def asked_batch_fits(prepared: predict.Prepared, position: int) -> bool:
    """Whether the cache of a serving row holds all that it asks for at once: else fewer run, and floors of the whole
    batch do not apply."""
    here = np.flatnonzero(prepared.serving == position)
    record = prepared.records[position]
    case = prepared.serving_case.rows(here)
    wanted = np.array([max((record.amount if np.isfinite(record.amount) else 1.0) / record.replicas, 1.0)])
    length = case.run.input + case.run.output if record.mode == STATIC else None
    _, room = inference.largest_batch(case, wanted, length)
    return bool(room[0] >= wanted[0])


@pytest.mark.parametrize("seed", [1, 2])
def test_changed_rows_are_answered_with_finite_figures_or_skipped_with_a_reason(seed):
    rows = changed_rows(CHANGES, seed)
    scored = score.score(rows, CATALOG)["rows"]
    assert [row["id"] for row in scored] == [row["id"] for row in rows]
    for row in scored:
        if row["skipped"] is not None:
            assert len(row["skipped"]) > 10
        elif not isinstance(row["predicted"], bool):
            assert all(math.isfinite(row[name]) for name in ("low", "predicted", "high"))
            assert 0.0 <= row["low"] <= row["predicted"] <= row["high"]


@pytest.mark.parametrize("seed", [1, 2])
def test_no_changed_row_is_predicted_faster_than_its_hardware_allows(seed):
    rows = changed_rows(CHANGES, seed)
    scored = score.score(rows, CATALOG)["rows"]
    # A peak of memory beyond the card says that the run does not fit; a capacity of nothing breaks no bound.
    as_measured = [
        row | {"value": figure["predicted"]}
        for row, figure in zip(rows, scored, strict=True)
        if figure["skipped"] is None and not isinstance(figure["predicted"], bool)
        and figure["predicted"] > 0.0 and row["metric"] != "peak_memory_gib"
    ]  # fmt: skip
    prepared = predict.prepare(as_measured, CATALOG)
    broken = [
        (row["metric"], row.get("gpu"), row.get("model"), bound)
        for position, (row, bound) in enumerate(zip(as_measured, suspect.broken_bounds(prepared), strict=True))
        if bound is not None
        and not (isinstance(prepared.records[position], ServingRow) and not asked_batch_fits(prepared, position))
    ]
    assert len(as_measured) > CHANGES / 2
    assert broken == []
