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
from gpuplanner.model.case import LlmColumns
from gpuplanner.model.measured import predict as predictions
from gpuplanner.model.measured.keys import LARGEST
from gpuplanner.model.measured.predict import Prepared
from gpuplanner.model.measured.rows import TrainingRow
from gpuplanner.model.measured.suspect import broken_bounds

_CLOSE = 0.25
_CLEAR_GAP = 1.2
_UNSEEN = ("without_source", "without_publisher", "left_out")
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
        skipped (None or the reason); then ``naive`` (what a rule of thumb says), ``suspect`` (None, or the ``bound``
        of the hardware that the measured figure breaks and the best figure, ``limit``, that it allows), and for
        shipped rows ``without_source``, ``without_publisher`` and ``left_out``, see `Residual`.

        ``families``: counts and errors over scorable rows; then ``suspect``, their number, and the errors of
        ``naive`` (beside ``ours`` on the same rows), ``without_source``, ``without_publisher`` and ``left_out``
        predictions (None where there are none). Of training also ``parts``: dense models and models with experts.

        ``pairs``: two cards of one source at equal settings whose measured gap exceeds 20 %: how many, how many in
        the right order, median error of the ratio.
    """
    calibration = calibration or catalog.calibration
    prepared = predictions.prepare(rows, catalog, calibration)
    values = predictions.predict(prepared, calibration)
    factors = band_factors(prepared, calibration)
    scored = [_row(prepared, i, float(values[i]), float(factors[i])) for i in range(len(rows))]
    _add_naive(prepared, scored)
    for row, broken in zip(scored, broken_bounds(prepared), strict=True):
        row["suspect"] = None if broken is None else {"bound": broken.bound, "limit": broken.limit}
    _add_left_out(rows, scored, catalog)
    families = _families(rows, scored)
    if "training" in families:
        families["training"]["parts"] = _training_parts(prepared, scored)
    return {"rows": scored, "families": families, "pairs": _pairs(rows, scored)}


def _add_naive(prepared: Prepared, scored: list[dict[str, Any]]) -> None:
    with np.errstate(all="ignore"):
        guesses = predictions.naive(prepared)
    for row, guess in zip(scored, guesses, strict=True):
        row["naive"] = float(guess) if 0 < guess < np.inf else None


def _add_left_out(rows: Sequence[Mapping[str, Any]], scored: list[dict[str, Any]], catalog: Catalog) -> None:
    """Predictions of constants that have not seen the row: of rows that are shipped, and only as they are shipped."""
    shipped = {row.get("id"): row for row in catalog.measurements}
    residuals = catalog.calibration.residuals
    for given, row in zip(rows, scored, strict=True):
        found = residuals.get(row["id"]) if shipped.get(row["id"]) == given else None
        row.update((name, None if found is None else getattr(found, name)) for name in _UNSEEN)


def _training_parts(prepared: Prepared, scored: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    parts: dict[str, list[int]] = {"dense": [], "experts": []}
    for i, record in enumerate(prepared.records):
        if scored[i]["family"] == "training" and isinstance(record, TrainingRow):
            parts["experts" if LlmColumns(*record.llm).experts > 1 else "dense"].append(i)
    return {name: _family(prepared.rows, scored, members) for name, members in parts.items() if members}


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
    # An integer may have more digits than any float holds.
    return value if isinstance(value, bool | int | float) and abs(value) <= LARGEST else None


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
    numbers = [row for row in answered if not isinstance(row["measured"], bool) and (row["measured"] or 0) > 0]
    guessed = [row for row in numbers if row["naive"] is not None]
    naive = _errors(guessed, "naive")
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
        "suspect": sum(scored[i]["suspect"] is not None for i in members),
        "naive": naive and {**naive, "ours": _errors(guessed, "predicted")},
        **{name: _errors(numbers, name) for name in _UNSEEN},
    }


def _errors(scored: Sequence[Mapping[str, Any]], name: str) -> dict[str, Any] | None:
    """Errors of one way to predict on the rows that have it; of left-out predictions also their bias, and the share
    that the band around them holds."""
    known = [row for row in scored if row[name] is not None]
    if not known:
        return None
    measured, predicted = np.array([(row["measured"], row[name]) for row in known], float).T
    ape = np.abs(predicted / measured - 1.0)
    found = {
        "rows": len(known),
        "median_ape": float(np.median(ape)),
        "p90_ape": float(np.quantile(ape, 0.9)),
    }
    if name in _UNSEEN:
        found["bias"] = float(np.exp(np.median(np.log(predicted / measured))) - 1.0)
        shift = predicted / np.array([row["predicted"] for row in known], float)
        inside = [
            row["low"] is not None and row["low"] * moved <= row["measured"] <= row["high"] * moved
            for row, moved in zip(known, shift, strict=True)
        ]
        found["coverage_80"] = float(np.mean(inside))
    return found


def worst(result: Mapping[str, Any], number: int) -> dict[str, list[Mapping[str, Any]]]:
    """The rows that hurt most by family, worst first: by the prediction that has not seen them where there is one."""
    members: dict[str, list[tuple[float, Mapping[str, Any]]]] = defaultdict(list)
    for row in result["rows"]:
        measured, predicted = row.get("measured"), row.get("left_out") or row.get("predicted")
        if any(isinstance(figure, bool) or not figure or figure <= 0 for figure in (measured, predicted)):
            continue
        members[row["family"]].append((abs(float(np.log(predicted / measured))), row))
    return {
        family: [row for _size, row in sorted(found, key=lambda pair: -pair[0])[:number]]
        for family, found in sorted(members.items())
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


def reasons(scored: Sequence[Mapping[str, Any]]) -> list[tuple[str, int]]:
    """Why rows were skipped, most frequent first."""
    counts = Counter(row["skipped"] for row in scored if row.get("skipped"))
    return counts.most_common()
