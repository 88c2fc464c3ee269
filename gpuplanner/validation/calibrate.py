"""Fit the constants to measured rows and derive the bands; development only.

``python -m gpuplanner.validation.calibrate ROWS…`` rewrites constants.json and residuals.json in resources/calibration.
The same rows give the same files. Parameters are logarithms with tight priors; rows weigh at most as much as six of one
source, model, card and family; the errors that make the bands come from fits that have not seen the row's publisher.
"""

import hashlib
import json
import sys
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from gpuplanner import paths
from gpuplanner.catalog import load as catalogs
from gpuplanner.catalog.calibration import Calibration, Residual, calibration_of, load_calibration
from gpuplanner.catalog.load import Catalog
from gpuplanner.model.measured import predict as predictions
from gpuplanner.model.measured.keys import Keys, Lookup, Unpredictable
from gpuplanner.model.measured.predict import Prepared
from gpuplanner.model.measured.rows import ServingRow, card_of
from gpuplanner.model.measured.suspect import broken_bounds
from gpuplanner.validation.score import is_scorable, setting_of

# Scale of the Student-t error by family; how well a formula can do where it is right.
SCALES = {
    "consumer_decode": 0.15, "consumer_prefill": 0.2, "consumer_server": 0.3, "decode_fixed_batch": 0.2,
    "serving_tpot": 0.15,
    "ttft_loaded": 0.4, "ttft_idle": 0.2, "max_throughput": 0.2, "throughput_at_concurrency": 0.2, "request_rate": 0.4,
    "training": 0.15, "finetune": 0.2, "cpu_decode": 0.2, "cpu_prefill": 0.3, "power_gpu": 0.15, "energy": 0.25,
}  # fmt: skip
_NU = 3.0
_ROWS_OF_A_GROUP = 6.0
_SOURCE_BIAS_SD = 0.04
_STEP = 1e-3
_MOVES = 1e-9
_FIT_ROUNDS = 8
_LINEAR_ROUNDS = 6
# Families with fewer publishers or rows are left out by engine and card instead.
_PUBLISHERS_NEEDED, _ROWS_NEEDED = 5, 40
_VERY_FEW, _BORROWED = 3, 1.15
# Bands of families that no row tests, by judgement: never narrower.
_JUDGED = {"offload": 2.5, "cpu_prefill": 2.5}
# Share of rows left out that the bands hold. Rows of 17 publishers that nobody had seen
# (tests/validation/holdout.jsonl) lie outside more often than rows left out here: at 0.82 of these the bands held 73 %
# of those.
_LEVEL_50, _LEVEL_80 = 0.53, 0.84
_ROWS_OF_A_WIDENING = 15
PARENTS = {
    "consumer_server": "serving_tpot", "throughput_at_concurrency": "serving_tpot", "request_rate": "ttft_loaded",
    "ttft_idle": "max_throughput",
    "cpu_decode": "consumer_decode", "cpu_prefill": "consumer_prefill", "offload": "cpu_decode",
    "gpu_hours": "training",
    "energy": "power_gpu", "power_server": "power_gpu", "server_draw": "power_server", "kv_capacity": "peak_memory",
    "ttft_loaded": "serving_tpot", "consumer_prefill": "consumer_decode", "finetune": "training",
}  # fmt: skip


class Data(NamedTuple):
    """Rows that are scored; ``fitted`` says which of them take part in the fit."""

    prepared: Prepared
    measured: np.ndarray
    families: np.ndarray
    scale: np.ndarray
    weight: np.ndarray
    source: np.ndarray
    publisher: np.ndarray
    group: np.ndarray
    fitted: np.ndarray


def fit_data(rows: Sequence[Mapping[str, Any]], catalog: Catalog, calibration: Calibration) -> Data:
    """Choose the rows that are scorable and predictable; those of a fitted family and within physics are fitted."""
    chosen = [row for row in rows if is_scorable(row) and not isinstance(row["value"], bool)]
    values = predictions.predict(predictions.prepare(chosen, catalog, calibration), calibration)
    kept = [row for row, value in zip(chosen, values, strict=True) if 0 < value < np.inf and float(row["value"]) > 0]
    prepared = predictions.prepare(kept, catalog, calibration)
    measured = np.array([float(row["value"]) for row in kept])
    families = np.array(prepared.families)
    fitted = np.array([family in SCALES for family in prepared.families])
    fitted &= np.array([broken is None for broken in broken_bounds(prepared)])
    cell = [
        (row.get("source"), row.get("model"), row.get("gpu"), family)
        for row, family in zip(kept, prepared.families, strict=True)
    ]
    counts = Counter(key for key, good in zip(cell, fitted, strict=True) if good)
    return Data(
        prepared,
        measured,
        families,
        np.array([SCALES.get(family, 1.0) for family in prepared.families]),
        np.array([min(1.0, _ROWS_OF_A_GROUP / max(counts[key], 1)) for key in cell]),
        np.array([f"{row.get('source')}|{family}" for row, family in zip(kept, prepared.families, strict=True)]),
        np.array([str(row.get("publisher") or row.get("source")) for row in kept]),
        np.array([engine_and_card(row) for row in kept]),
        fitted,
    )


def engine_and_card(row: Mapping[str, Any]) -> str:
    """The group that is left out together in families of few publishers."""
    try:
        era = Keys(row).record("engine").text("era")
    except Unpredictable:
        era = None
    return f"{row.get('publisher')}|{era}|{row.get('gpu')}"


def residuals(data: Data, calibration: Calibration) -> np.ndarray:
    """ln(predicted / measured) of every row."""
    return np.log(predictions.predict(data.prepared, calibration) / data.measured)


def jacobian(
    data: Data, calibration: Calibration, base: np.ndarray, active: np.ndarray, moves: np.ndarray | None = None
) -> np.ndarray:
    """Derivative of every residual to the logarithm of every active constant.

    ``moves`` (rows x active constants) says where it can differ from 0; then constants that move no row in common are
    shifted together.
    """
    columns = np.zeros((len(base), len(active)))
    turns = np.arange(len(active)) if moves is None else together(moves)
    for turn in range(turns.max() + 1):
        shifted = np.flatnonzero(turns == turn)
        values = calibration.values.copy()
        values[active[shifted]] *= np.exp(_STEP)
        change = (residuals(data, calibration.with_values(values)) - base) / _STEP
        for column in shifted:
            columns[:, column] = change if moves is None else np.where(moves[:, column], change, 0.0)
    return columns


def together(moves: np.ndarray) -> np.ndarray:
    """The turn of every constant (columns of `moves`) so that constants of one turn move no row in common.

    Greedy: a constant goes into the first turn where it fits. One prediction a turn gives the whole derivative [1]_.

    References
    ----------
    .. [1] Curtis, Powell, Reid: On the estimation of sparse Jacobian matrices. IMA J. Appl. Math. 13 (1974) 117-119.
    """
    turns: list[np.ndarray] = []
    answer = np.zeros(moves.shape[1], int)
    for column in np.argsort(-moves.sum(axis=0), kind="stable"):
        turn = next((n for n, taken in enumerate(turns) if not (taken & moves[:, column]).any()), len(turns))
        if turn == len(turns):
            turns.append(np.zeros(len(moves), bool))
        turns[turn] |= moves[:, column]
        answer[column] = turn
    return answer


class Point(NamedTuple):
    """Where the search stands: shifts of the constants from their priors (logarithms), and what each source has in
    common."""

    shift: np.ndarray
    bias: np.ndarray


def _sources(data: Data) -> tuple[np.ndarray, int]:
    names, place = np.unique(data.source, return_inverse=True)
    return place, len(names)


def _cost(base: np.ndarray, point: Point, data: Data, spreads: np.ndarray, keep: np.ndarray) -> float:
    place, _ = _sources(data)
    scaled = (base + point.bias[place]) / data.scale
    rows = data.weight * (_NU + 1.0) / 2.0 * np.log1p(scaled**2 / _NU)
    prior = ((point.shift / spreads) ** 2).sum() + ((point.bias / _SOURCE_BIAS_SD) ** 2).sum()
    return float(rows[keep].sum() + 0.5 * prior)


def solve(
    design: np.ndarray, base: np.ndarray, point: Point, data: Data, spreads: np.ndarray, keep: np.ndarray, rounds: int
) -> Point:
    """The best constants while the formulas are taken as linear around `point`.

    Iteratively reweighted least squares of a Student-t likelihood with Gaussian priors; one more unknown a source
    takes up what its rows have in common.
    """
    place, number = _sources(data)
    used, place = design[keep], place[keep]
    order = np.argsort(place, kind="stable")
    present, starts = np.unique(place[order], return_index=True)
    shift, bias = point.shift, point.bias
    # The residual that the linear form has where all unknowns are at their priors.
    origin = base[keep] - used @ shift
    scale, share = data.scale[keep], data.weight[keep] * (_NU + 1.0)
    for _round in range(rounds):
        scaled = (origin + used @ shift + bias[place]) / scale
        weight = share / (_NU + scaled**2) / scale**2
        weighted = used * weight[:, None]
        # What sources have in common is eliminated: each row belongs to one source, so its block is diagonal.
        own = np.full(number, 1.0 / _SOURCE_BIAS_SD**2)
        across, pull = np.zeros((number, len(shift))), np.zeros(number)
        own[present] += np.add.reduceat(weight[order], starts)
        across[present] = np.add.reduceat(weighted[order], starts, axis=0)
        pull[present] = np.add.reduceat((weight * origin)[order], starts)
        normal = used.T @ weighted + np.diag(1.0 / spreads**2) - across.T @ (across / own[:, None])
        shift = np.linalg.solve(normal, across.T @ (pull / own) - weighted.T @ origin)
        bias = -(pull + across @ shift) / own
    return Point(shift, bias)


class Fit(NamedTuple):
    """Calibration that fits all rows, and what is needed to leave rows out."""

    calibration: Calibration
    active: np.ndarray
    point: Point
    design: np.ndarray
    base: np.ndarray


def fit(data: Data, calibration: Calibration) -> Fit:
    """Maximum a posteriori constants for all rows, from their priors on."""
    calibration = calibration.with_values(calibration.priors.copy())
    base = residuals(data, calibration)
    every = np.arange(len(calibration.values))
    design = jacobian(data, calibration, base, every)
    moves = np.abs(design) > _MOVES
    # Constants that any fitted row depends on.
    active = every[moves[data.fitted].any(axis=0)]
    design, moves = design[:, active], moves[:, active]
    spreads = calibration.spreads[active]
    keep = data.fitted
    point = Point(np.zeros(len(active)), np.zeros(_sources(data)[1]))
    cost = _cost(base, point, data, spreads, keep)
    for _round in range(_FIT_ROUNDS):
        wanted = solve(design, base, point, data, spreads, keep, _LINEAR_ROUNDS)
        for share in (1.0, 0.5, 0.25, 0.1):
            # The formulas bend: as far along the way as it gets better.
            nearer = Point(*(old + share * (new - old) for old, new in zip(point, wanted, strict=True)))
            moved = _moved(calibration, active, nearer.shift)
            errors = residuals(data, moved)
            now = _cost(errors, nearer, data, spreads, keep)
            if now < cost:
                break
        else:
            break
        gain, cost = cost - now, now
        point, calibration, base = nearer, moved, errors
        design = jacobian(data, calibration, base, active, moves)
        if gain < 0.05:
            break
    return Fit(calibration, active, point, design, base)


def _moved(calibration: Calibration, active: np.ndarray, shift: np.ndarray) -> Calibration:
    values = calibration.priors.copy()
    values[active] = calibration.priors[active] * np.exp(shift)
    return calibration.with_values(values)


def by_publisher(data: Data) -> dict[str, bool]:
    """Whether a family has enough publishers and rows to leave out whole publishers."""
    return {
        family: len(set(data.publisher[data.families == family])) >= _PUBLISHERS_NEEDED
        and int((data.families == family).sum()) >= _ROWS_NEEDED
        for family in set(data.families)
    }


class LeftOut(NamedTuple):
    """ln(predicted / measured) of every row under constants that have not seen its source, or its publisher;
    ``judged``, by which its family is judged: its publisher, or in small families its engine with its card."""

    source: np.ndarray
    publisher: np.ndarray
    judged: np.ndarray


def left_out(data: Data, found: Fit) -> LeftOut:
    """Residuals of every row under constants that have not seen it and its like."""
    source = np.array([str(row.get("source")) for row in data.prepared.rows])
    whole = by_publisher(data)
    small = np.array([not whole[family] for family in data.families])
    every = np.ones(len(small), bool)
    known: dict[bytes, np.ndarray] = {}
    by_source, by_publishers, by_group = (
        _without(data, found, labels, asked, known)
        for labels, asked in ((source, every), (data.publisher, every), (data.group, small))
    )
    return LeftOut(by_source, by_publishers, np.where(small, by_group, by_publishers))


def _without(
    data: Data, found: Fit, labels: np.ndarray, asked: np.ndarray, known: dict[bytes, np.ndarray]
) -> np.ndarray:
    outside = np.full(len(found.base), np.nan)
    for label in sorted(set(labels[asked])):
        hidden = labels == label
        key = hidden.tobytes()
        if key not in known:
            known[key] = without_rows(data, found, hidden)
        outside[hidden] = known[key][hidden]
    return outside


def without_rows(data: Data, found: Fit, hidden: np.ndarray, unnamed: str = "") -> np.ndarray:
    """Residuals of all rows under constants that have not seen the hidden ones.

    The constants of the key ``unnamed`` become those of "other" where a group has such.
    """
    if not (data.fitted & hidden).any():
        return found.base
    spreads = found.calibration.spreads[found.active]
    point = solve(found.design, found.base, found.point, data, spreads, data.fitted & ~hidden, _LINEAR_ROUNDS)
    moved = _moved(found.calibration, found.active, point.shift)
    values = moved.values.copy()
    for position, name in enumerate(moved.names):
        group, _, key = name.partition("/")
        if unnamed and key == unnamed and moved.knows(group, "other"):
            values[position] = moved.value(group, "other")
    return residuals(data, moved.with_values(values))


# --- bands -----------------------------------------------------------------------------------------------------------


def weighted_quantile(values: np.ndarray, weights: np.ndarray, level: float) -> float:
    """The value below which a share `level` of the weight lies."""
    order = np.argsort(values)
    summed = np.cumsum(weights[order])
    return float(np.interp(level * summed[-1], summed - weights[order] / 2.0, values[order]))


def band(errors: np.ndarray, sources: np.ndarray) -> dict[str, float]:
    """Factors that hold half and 80 % of rows of a source that has not been seen.

    Both hold a little more of the rows left out (`_LEVEL_80`), because a source that nobody here has seen is harder;
    counted row by row and also with large sources sharing their weight: the wider of the two.
    """
    _, place, counts = np.unique(sources, return_inverse=True, return_counts=True)
    shared, size = 1.0 / np.sqrt(counts[place]), np.abs(errors)

    def factor(level: float) -> float:
        widest = max(weighted_quantile(size, weight, level) for weight in (shared, np.ones_like(shared)))
        return round(float(np.exp(widest)), 3)

    return {"sources": len(counts), "factor_50": factor(_LEVEL_50), "factor_80": factor(_LEVEL_80)}


def widenings(data: Data, found: Fit, outside: np.ndarray) -> dict[str, dict[str, Any]]:
    """By how much what was not measured widens a band, as powers of a family's factor; only where rows can tell.

    A card, an engine and an architecture are left out of the fit with all their rows (an architecture is then also
    read as one without a name: its constants become those of "other"); the other reasons are compared with rows of
    their family that have none. The power is the ratio of the sizes that hold 80 % of rows, each taken relative to
    its family's; never below 1.
    """
    sets = [getattr(getattr(record, "evidence", None), "outside", ()) for record in data.prepared.records]
    clean = np.array([not reasons for reasons in sets])
    usual = np.full(len(outside), np.nan)
    for family in sorted(set(data.families)):
        at = data.families == family
        if (at & clean).sum() >= _ROWS_OF_A_WIDENING:
            usual[at] = weighted_quantile(np.abs(outside[at & clean]), np.ones((at & clean).sum()), 0.8)
    answer: dict[str, dict[str, Any]] = {}

    def add(reason: str, errors: np.ndarray, at: np.ndarray) -> None:
        at = at & np.isfinite(usual)
        if at.sum() >= _ROWS_OF_A_WIDENING and len(set(data.source[at])) >= 2:
            size = weighted_quantile(np.abs(errors[at]) / usual[at], np.ones(at.sum()), 0.8)
            answer[reason] = {"power": round(max(size, 1.0), 2), "rows": int(at.sum())}

    for reason, labels in (("card", _cards(data)), ("engine", _engines(data)), ("architecture", _architectures(data))):
        errors = np.full(len(outside), np.nan)
        for label in sorted(set(labels) - {""}):
            hidden = labels == label
            unnamed = label if reason == "architecture" else ""
            errors[hidden] = without_rows(data, found, hidden, unnamed)[hidden]
        add(reason, errors, data.fitted & clean & np.isfinite(errors))
    for reason in sorted({reason for reasons in sets for reason in reasons} - set(answer)):
        add(reason, outside, np.array([reason in reasons for reasons in sets]))
    return answer


def _cards(data: Data) -> np.ndarray:
    return np.array([str(row.get("gpu") or "") for row in data.prepared.rows])


def _engines(data: Data) -> np.ndarray:
    return np.array([engine_and_card(row).split("|")[1].replace("None", "") for row in data.prepared.rows])


def _architectures(data: Data) -> np.ndarray:
    names = []
    for record in data.prepared.records:
        name = record.setting.architecture if isinstance(record, ServingRow) else getattr(record, "architecture", "")
        names.append("" if name == "other" else name)
    return np.array(names)


def ratio_bands(prepared: Prepared, errors: np.ndarray) -> dict[str, float]:
    """80 % factors of the ratio of two cards at equal settings of one source, by family, where there are ten pairs.

    ``errors`` are the residuals of rows left out, each divided by the power of its evidence.
    """
    groups: dict[tuple[str, str], list[int]] = defaultdict(list)
    for i, row in enumerate(prepared.rows):
        if np.isfinite(errors[i]):
            groups[prepared.families[i], setting_of(row)].append(i)
    gaps: dict[str, list[float]] = defaultdict(list)
    for (family, _setting), members in groups.items():
        for place, first in enumerate(members):
            for second in members[place + 1 :]:
                if prepared.rows[first].get("gpu") != prepared.rows[second].get("gpu"):
                    gaps[family].append(abs(errors[first] - errors[second]))
    return {
        family: round(float(np.exp(np.quantile(found, 0.8))), 3) for family, found in gaps.items() if len(found) >= 10
    }


def powers(data: Data, catalog: Catalog, calibration: Calibration) -> np.ndarray:
    """The power by which the evidence of each row widens its band under this calibration."""
    records = predictions.prepare(data.prepared.rows, catalog, calibration).records
    return np.array([record.evidence.power if hasattr(record, "evidence") else 1.0 for record in records])


def bands(
    data: Data, outside: np.ndarray, widened: np.ndarray, previous: Mapping[str, Any]
) -> dict[str, dict[str, float]]:
    """Bands of all families from the residuals of rows left out.

    ``widened`` is the power of every row's evidence: what is left after it has done its part makes the band.
    """
    errors: dict[str, tuple[np.ndarray, np.ndarray]] = {}
    whole = by_publisher(data)
    for family in sorted(set(data.families)):
        at = data.families == family
        errors[family] = (outside[at] / widened[at], (data.publisher if whole[family] else data.group)[at])
    ratios = ratio_bands(data.prepared, outside / widened)
    answer: dict[str, dict[str, float]] = {}
    for family, (sizes, labels) in errors.items():
        answer[family] = band(sizes, labels)
    for family in (*previous, *PARENTS):
        answer.setdefault(family, {"sources": 0, "factor_50": 1.0, "factor_80": 1.0})
    # Parents before children, so that a child borrows what its parent has become.
    for family in sorted(answer, key=_depth):
        entry, parent = answer[family], PARENTS.get(family)
        if parent in answer and not whole.get(family, False):
            more = _BORROWED if entry["sources"] < _VERY_FEW else 1.0
            for key in ("factor_50", "factor_80"):
                entry[key] = round(max(entry[key], 1.0 + (answer[parent][key] - 1.0) * more), 3)
        entry["factor_80"] = max(entry["factor_80"], _JUDGED.get(family, 1.0))
        # Without pairs to tell, as wide as one figure: in most families with pairs the ratio is narrower than that.
        entry["ratio_80"] = ratios.get(family, entry["factor_80"])
        if entry["sources"] == 0 and parent is None:
            answer[family] = dict(previous[family])
    return {family: answer[family] for family in sorted(answer)}


def _depth(family: str) -> int:
    return 0 if family not in PARENTS else 1 + _depth(PARENTS[family])


# --- the file --------------------------------------------------------------------------------------------------------


def without_files(data: Data, found: Fit, file_of: Mapping[str, str]) -> dict[str, dict[str, dict[str, float]]]:
    """Errors of the families of every file under constants that have seen none of its rows."""
    files = np.array([file_of[row["id"]] for row in data.prepared.rows])
    return {
        str(name): errors_of(data, without_rows(data, found, files == name), files == name)
        for name in sorted(set(files))
        if (data.fitted & (files == name)).any()
    }


def errors_of(data: Data, errors: np.ndarray, among: np.ndarray | None = None) -> dict[str, dict[str, float]]:
    """Median and 90 % absolute errors by family, with how many rows and publishers they rest on."""
    among = np.ones(len(errors), bool) if among is None else among
    table = {}
    for family in sorted(set(data.families[among])):
        at = (data.families == family) & among
        ape = np.abs(np.exp(errors[at]) - 1.0)
        table[family] = {
            "rows": int(at.sum()),
            "publishers": len(set(data.publisher[at])),
            "median_ape": round(float(np.median(ape)), 4),
            "p90_ape": round(float(np.quantile(ape, 0.9)), 4),
        }
    return table


def document(previous: dict[str, Any], data: Data, found: Fit, outside: np.ndarray, cards: list[str]) -> dict[str, Any]:
    """The calibration file with new values and bands; names, priors and notes stay as they are.

    The bands are still those of ``previous``.
    """
    calibration = found.calibration
    shifts = dict(zip((calibration.names[position] for position in found.active), found.point.shift, strict=True))
    touched = (np.abs(found.design[data.fitted]) > 0.02).sum(axis=0)
    rows = dict(zip((calibration.names[position] for position in found.active), touched, strict=True))
    parameters = {}
    for name, entry in previous["parameters"].items():
        kept = {key: value for key, value in entry.items() if key not in ("value", "fitted_on", "moved")}
        shift, count = float(shifts.get(name, 0.0)), int(rows.get(name, 0))
        kept["value"] = _digits(entry["prior"] * float(np.exp(shift)))
        if count:
            kept["fitted_on"] = f"{count} rows"
            kept["moved"] = round(shift / entry["sd"], 2)
        parameters[name] = kept
    return {
        **previous,
        "note": (
            "Priors from kernel timing tables and vendors' data; values fitted to the shipped rows; "
            "bands from rows of publishers left out."
        ),
        "parameters": parameters,
        "widening": widenings(data, found, outside),
        "cards_seen": cards,
        "left_out": errors_of(data, outside),
    }


def identity(contents: Mapping[str, Any], rows: int) -> str:
    """A name for a calibration that differs as soon as a constant, a band or what widens one does.

    Plans keep it beside the figures that were seen, to tell another calibration from another plan.
    """
    values = {name: entry["value"] for name, entry in contents["parameters"].items()}
    said = json.dumps([values, contents["bands"], contents["widening"]], sort_keys=True)
    return f"fit-{rows}-rows-{hashlib.sha256(said.encode()).hexdigest()[:8]}"


def _digits(value: float, digits: int = 4) -> float:
    return float(f"{value:.{digits}g}")


def _summary(data: Data, first: np.ndarray, fitted: np.ndarray, outside: np.ndarray) -> str:
    lines = [f"{'family':26s}{'rows':>6s}{'publ.':>6s}{'prior':>16s}{'fitted':>16s}{'left out':>16s}"]
    for family in sorted(set(data.families)):
        at = data.families == family
        cells = []
        for errors in (first, fitted, outside):
            ape = np.abs(np.exp(errors[at]) - 1.0)
            cells.append(f"{100 * np.median(ape):6.1f} /{100 * np.quantile(ape, 0.9):6.1f}")
        lines.append(
            f"{family:26s}{at.sum():6d}{len(set(data.publisher[at])):6d}" + "".join(f"{cell:>16s}" for cell in cells)
        )
    return "\n".join(lines)


def residuals_document(data: Data, calibration: Calibration, outside: LeftOut, widened: np.ndarray) -> str:
    """The text of the file of residuals: the figures of `Residual` by the id of the row, a row a line."""
    predicted = predictions.predict(data.prepared, calibration)
    columns = [
        predicted,
        *(np.exp(errors) * data.measured for errors in (outside.source, outside.publisher, outside.judged)),
        widened,
    ]
    lines = [
        f"{json.dumps(row['id'], ensure_ascii=False)}: {json.dumps([_digits(float(c[i]), 6) for c in columns])}"
        for i, row in enumerate(data.prepared.rows)
    ]
    head = json.dumps(list(Residual._fields))
    return f'{{"id": "{calibration.id}", "columns": {head},\n"rows": {{\n' + ",\n".join(lines) + "\n}}\n"


def run(files: Sequence[Path], write: bool = True) -> str:
    """Calibrate on the rows of these files; returns a table of errors and the constants that moved far."""
    rows: list[dict[str, Any]] = []
    file_of: dict[str, str] = {}
    for path in files:
        found_here = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
        rows.extend(found_here)
        file_of.update((row["id"], path.name) for row in found_here)
    catalog = catalogs.load()
    folder = paths.resources() / "calibration"
    start = load_calibration(folder)
    data = fit_data(rows, catalog, start)
    first = residuals(data, start.with_values(start.priors))
    found = fit(data, start)
    outside = left_out(data, found)
    lookup = Lookup(catalog)
    cards = sorted(
        {
            card_of(Keys(row), lookup).gpu.name
            for row, fitted in zip(data.prepared.rows, data.fitted, strict=True)
            if fitted and row.get("gpu")
        }
    )
    previous = json.loads((folder / "constants.json").read_text(encoding="utf-8"))
    contents = document(previous, data, found, outside.judged, cards)
    widened = powers(data, catalog, calibration_of(contents))
    new_bands = bands(data, outside.judged, widened, previous["bands"])
    contents["bands"] = new_bands
    contents["without_file"] = without_files(data, found, file_of)
    contents["id"] = identity(contents, int(data.fitted.sum()))
    if write:
        text = json.dumps(contents, indent=1, ensure_ascii=False) + "\n"
        (folder / "constants.json").write_text(text, encoding="utf-8")
        # With the digits that the file of constants keeps: what everybody else predicts.
        text = residuals_document(data, calibration_of(contents), outside, widened)
        (folder / "residuals.json").write_text(text, encoding="utf-8")
    spreads = start.spreads[found.active]
    far = [
        f"{start.names[position]}: {start.priors[position]:.3g} -> {found.calibration.values[position]:.3g} "
        f"({move / sd:+.1f} sd)"
        for position, move, sd in zip(found.active, found.point.shift, spreads, strict=True)
        if abs(move / sd) > 1.5
    ]
    factors = np.array([new_bands[family]["factor_80"] for family in data.families])
    inside = np.abs(outside.judged) <= widened * np.log(factors)
    held = [f"{family} {inside[data.families == family].mean():.2f}" for family in sorted(set(data.families))]
    far.append("left-out rows inside their bands: " + ", ".join(held))
    far.append("widening: " + json.dumps(contents["widening"]))
    return _summary(data, first, found.base, outside.judged) + "\n\n" + "\n".join(far) + "\n\n" + json.dumps(new_bands)


if __name__ == "__main__":
    sys.stdout.write(run([Path(name) for name in sys.argv[1:]]) + "\n")
