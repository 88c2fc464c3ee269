"""Measured pairs: two cards in rows of one source at equal settings, sorted by the task that they measure."""

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from gpuplanner.catalog.load import Catalog
from gpuplanner.model.card_ratio import LARGE_BATCH, Side
from gpuplanner.model.case import WEIGHT_FORMATS
from gpuplanner.validation.score import is_scorable, setting_of

# A pair differs in its card and, where two precisions are compared, in these.
_PRECISION_KEYS = ("weights", "compute", "kv")
# Batches are chosen by who trains, to fill the card: pairs are of one model, length and number of cards.
_TRAINING_KEYS = ("global_batch", "micro_batch", "grad_accum", "activation_checkpointing", "sharding", "lengths_basis")
# Metrics that fall as speed grows.
_TIMES = frozenset({"ttft_s", "tpot_s", "step_time_s", "gpu_hours"})
_SMALL_BATCH, _LARGE_BATCH = 4.0, LARGE_BATCH / 4.0
_LONG_PROMPT = 8000.0
_LEVELS = {"16-bit": (16,), "8-bit": (8,), "4-bit": (4, 5, 6)}


class Pair(NamedTuple):
    """Speed of the first card over that of the second: measured, and predicted without having seen the publisher."""

    first: Mapping[str, Any]
    second: Mapping[str, Any]
    measured: float
    predicted: float | None


class Pairs(NamedTuple):
    """The pairs of one task with their medians; ``predicted`` None where none was predicted."""

    pairs: tuple[Pair, ...]
    measured: float
    low: float
    high: float
    predicted: float | None


def pairs_of(rows: Sequence[Mapping[str, Any]], first: Side, second: Side, catalog: Catalog) -> dict[str, Pairs]:
    """The measured pairs of two cards, by the task of `model.card_ratio` that they are like; tasks without are absent.

    ``low`` and ``high`` are the 10th and 90th percentile of the measured ratios.
    """
    mine: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
    theirs: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for row in rows:
        if not is_scorable(row) or isinstance(row["value"], bool) or not task_of(row):
            continue
        for side, found in ((first, mine), (second, theirs)):
            if row.get("gpu") == side.gpu and _level(row) in _LEVELS[side.precision]:
                found[_setting(row)].append(row)
    by_task: dict[str, list[Pair]] = defaultdict(list)
    for setting, ours in mine.items():
        for one in ours:
            for other in theirs.get(setting, ()):
                if one is not other:
                    by_task[task_of(one)].append(_pair(one, other, catalog))
    return {task: _summed(found) for task, found in by_task.items()}


def task_of(row: Mapping[str, Any]) -> str:
    """The task of `model.card_ratio` that a row is like; "" for none."""
    family = row.get("family")
    if family in ("training", "gpu_hours"):
        return "train"
    if family == "finetune":
        return "finetune"
    prompt = row.get("input_tokens")
    if isinstance(prompt, int | float) and prompt >= _LONG_PROMPT and family == "max_throughput":
        return "long_context"
    if family in ("ttft_idle", "consumer_prefill"):
        return "prefill"
    if family in ("max_throughput", "throughput_at_concurrency"):
        return "serving"
    if family in ("decode_fixed_batch", "consumer_decode", "serving_tpot"):
        batch = next((row[key] for key in ("mean_batch", "concurrency", "batch") if key in row), 1)
        if isinstance(batch, int | float):
            return "decode_small" if batch <= _SMALL_BATCH else "decode_large" if batch >= _LARGE_BATCH else ""
    return ""


def _level(row: Mapping[str, Any]) -> int | None:
    word = row.get("compute") if row.get("task") in ("training", "finetune") else row.get("weights")
    layout = WEIGHT_FORMATS.get(str(word or "").casefold().removeprefix("amp_"))
    return None if layout is None else layout.level


def _setting(row: Mapping[str, Any]) -> str:
    dropped = set(_PRECISION_KEYS)
    if row.get("task") in ("training", "finetune"):
        dropped.update(_TRAINING_KEYS)
    return json.dumps([row.get("source"), setting_of({key: row[key] for key in row if key not in dropped})])


def _pair(one: Mapping[str, Any], other: Mapping[str, Any], catalog: Catalog) -> Pair:
    slower = one["metric"] in _TIMES
    measured = float(one["value"]) / float(other["value"])
    residuals = [catalog.calibration.residuals.get(row.get("id")) for row in (one, other)]
    predicted = None
    if residuals[0] is not None and residuals[1] is not None and residuals[1].left_out > 0:
        predicted = residuals[0].left_out / residuals[1].left_out
        predicted = 1.0 / predicted if slower else predicted
    return Pair(one, other, 1.0 / measured if slower else measured, predicted)


def _summed(pairs: list[Pair]) -> Pairs:
    measured = [pair.measured for pair in pairs]
    predicted = [pair.predicted for pair in pairs if pair.predicted is not None]
    low, middle, high = np.quantile(measured, (0.1, 0.5, 0.9)).tolist()
    return Pairs(tuple(pairs), middle, low, high, float(np.median(predicted)) if predicted else None)
