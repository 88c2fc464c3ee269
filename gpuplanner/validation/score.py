"""Score predictions of measured rows: errors by family, coverage of the bands, order of cards, and what naive rules
would have said."""

import json
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from gpuplanner.catalog.calibration import Calibration
from gpuplanner.catalog.load import Catalog
from gpuplanner.i18n import _
from gpuplanner.model import evidence
from gpuplanner.model.measured import predict as predictions
from gpuplanner.model.measured.predict import Prepared

_CLOSE = 0.25
_CLEAR_GAP = 1.2
# Everything else that a row states must be equal for two cards to be compared.
_NOT_A_SETTING = frozenset(
    {
        "id", "gpu", "gpu_as_published", "value", "note", "where", "host", "interconnect", "network",
        "not_in_catalog", "ambiguous", "scorable",
        "why_not", "mean_batch", "gpu_memory_gb", "model_as_published", "output_tokens_measured", "gpus_per_node",
    }
)  # fmt: skip


def score(
    rows: Sequence[Mapping[str, Any]], catalog: Catalog, calibration: Calibration | None = None
) -> dict[str, Any]:
    """Predict rows and score them.

    Returns
    -------
    dict
        ``rows``: one per row given, in order: id, metric, measured, predicted, low, high (the 80 % band), family,
        skipped (None or the reason). ``families``: counts and errors over scorable rows. ``pairs``: two cards of one
        source at equal settings whose measured gap exceeds 20 %: how many, how many in the right order, median error
        of the ratio.
    """
    calibration = calibration or catalog.calibration
    prepared = predictions.prepare(rows, catalog, calibration)
    values = predictions.predict(prepared, calibration)
    factors = band_factors(prepared, calibration)
    scored = [_row(prepared, i, float(values[i]), float(factors[i])) for i in range(len(rows))]
    return {"rows": scored, "families": _families(rows, scored), "pairs": _pairs(rows, scored)}


def band_factors(prepared: Prepared, calibration: Calibration) -> np.ndarray:
    """The factor either way of every row's 80 % band, nan where the family has none."""
    factors = np.full(len(prepared.rows), np.nan)
    for i, (family, record) in enumerate(zip(prepared.families, prepared.records, strict=True)):
        if record is None or family not in calibration.bands:
            continue
        found = getattr(record, "evidence", None) or evidence.Evidence(1.0, (), True)
        factors[i] = evidence.factor(calibration, family, found)
    return factors


def _row(prepared: Prepared, i: int, value: float, factor: float) -> dict[str, Any]:
    row = prepared.rows[i]
    reason = prepared.reasons[i]
    predicted: bool | float | None = None
    low: float | None = None
    high: float | None = None
    if reason is None and not np.isfinite(value):
        reason = _("This figure cannot be predicted from what the row states.")
    if reason is None:
        if prepared.metrics[i] == "fits":
            predicted = bool(value)
        else:
            predicted, low, high = value, value / factor, value * factor
            if prepared.metrics[i] in ("mfu", "hfu"):
                high = min(high, 1.0)
            if not np.isfinite(factor):
                low = high = None
    identity = row.get("id")
    return {
        "id": identity if isinstance(identity, str | int) else None,
        "metric": row.get("metric") if isinstance(row.get("metric"), str) else None,
        "measured": _measured(row),
        "predicted": predicted,
        "low": low,
        "high": high,
        "family": prepared.families[i],
        "skipped": reason,
    }


def _measured(row: Mapping[str, Any]) -> Any:
    value = row.get("value")
    return value if isinstance(value, bool | int | float) and np.isfinite(value) else None


def _families(rows: Sequence[Mapping[str, Any]], scored: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    by_family: dict[str, list[int]] = defaultdict(list)
    for i, row in enumerate(scored):
        by_family[row["family"]].append(i)
    return {name: _family(rows, scored, by_family[name]) for name in sorted(by_family)}


def is_scorable(row: Mapping[str, Any]) -> bool:
    """A row counts unless it says that it does not (a buyer's own rows say nothing) and if it has a figure."""
    return row.get("scorable", True) is not False and _measured(row) is not None


def _family(rows: Sequence[Mapping[str, Any]], scored: list[dict[str, Any]], members: list[int]) -> dict[str, Any]:
    scorable = [i for i in members if is_scorable(rows[i])]
    answered = [scored[i] for i in scorable if scored[i]["skipped"] is None]
    errors, logs, covered = [], [], []
    for row in answered:
        if isinstance(row["predicted"], bool):
            errors.append(float(row["predicted"] != bool(row["measured"])))
            continue
        measured, predicted = float(row["measured"]), float(row["predicted"])
        if measured <= 0 or predicted <= 0 or isinstance(row["measured"], bool):
            continue
        errors.append(abs(predicted / measured - 1.0))
        logs.append(float(np.log(predicted / measured)))
        if row["low"] is not None:
            covered.append(row["low"] <= measured <= row["high"])
    return {
        "rows": len(members),
        "scorable": len(scorable),
        "predicted": sum(scored[i]["skipped"] is None for i in members),
        "skipped": sum(scored[i]["skipped"] is not None for i in members),
        "answered": len(answered) / len(scorable) if scorable else None,
        "median_ape": float(np.median(errors)) if errors else None,
        "p90_ape": float(np.quantile(errors, 0.9)) if errors else None,
        "bias": float(np.exp(np.median(logs)) - 1.0) if logs else None,
        "within_25": float(np.mean([error <= _CLOSE for error in errors])) if errors else None,
        "coverage_80": float(np.mean(covered)) if covered else None,
    }


def _pairs(rows: Sequence[Mapping[str, Any]], scored: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    groups: dict[tuple[str, str], list[int]] = defaultdict(list)
    for i, row in enumerate(scored):
        numeric = isinstance(row["predicted"], float) and not isinstance(row["measured"], bool)
        if numeric and row["measured"] and row["measured"] > 0 and row["predicted"] > 0 and is_scorable(rows[i]):
            groups[row["family"], setting_of(rows[i])].append(i)
    found: dict[str, list[tuple[bool, float]]] = defaultdict(list)
    for (family, _setting), members in sorted(groups.items()):
        for position, first in enumerate(members):
            for second in members[position + 1 :]:
                if rows[first].get("gpu") == rows[second].get("gpu"):
                    continue
                measured = scored[first]["measured"] / scored[second]["measured"]
                predicted = scored[first]["predicted"] / scored[second]["predicted"]
                if max(measured, 1.0 / measured) > _CLEAR_GAP:
                    found[family].append(((measured > 1) == (predicted > 1), abs(predicted / measured - 1.0)))
    return {
        family: {
            "pairs": len(pairs),
            "order_right": sum(right for right, _error in pairs),
            "ratio_error_median": float(np.median([error for _right, error in pairs])),
        }
        for family, pairs in sorted(found.items())
    }


def setting_of(row: Mapping[str, Any]) -> str:
    """What must be equal for two rows to differ in the card only."""
    setting = {key: value for key, value in row.items() if key not in _NOT_A_SETTING}
    return json.dumps(setting, sort_keys=True, default=str)


def naive_errors(prepared: Prepared, values: np.ndarray) -> dict[str, float]:
    """Median error by family of the rules of thumb (`predict.naive`) on the scorable rows that both answer."""
    guesses = predictions.naive(prepared)
    errors: dict[str, list[float]] = defaultdict(list)
    for i, row in enumerate(prepared.rows):
        measured = _measured(row)
        if np.isfinite(guesses[i]) and np.isfinite(values[i]) and measured and is_scorable(row):
            errors[prepared.families[i]].append(abs(guesses[i] / float(measured) - 1.0))
    return {family: float(np.median(found)) for family, found in errors.items()}


def reasons(scored: Sequence[Mapping[str, Any]]) -> list[tuple[str, int]]:
    """Why rows were skipped, most frequent first."""
    counts = Counter(row["skipped"] for row in scored if row.get("skipped"))
    return counts.most_common()
