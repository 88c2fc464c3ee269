"""How far off the model was on the shipped rows: every prediction beside its measurement, and errors by family.

Only predictions that have not seen the row's publisher count (in small families: its engine with its card). They are
read from the residuals of the calibration, never computed again.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from gpuplanner.catalog.load import Catalog
from gpuplanner.model import evidence
from gpuplanner.model.measured import predict as predictions


class Point(NamedTuple):
    """One scored row. ``predicted`` in the row's metric, unit and scope; ``inside`` its family's 80 % band."""

    row: Mapping[str, Any]
    family: str
    card: str
    architecture: str
    model: str
    engine: str
    measured: float
    predicted: float
    inside: bool

    @property
    def error(self) -> float:
        """Predicted ÷ measured − 1."""
        return self.predicted / self.measured - 1.0


class FamilyScore(NamedTuple):
    """Errors of a family; ``coverage`` is the share of rows inside the family's 80 % band."""

    family: str
    rows: int
    publishers: int
    median: float
    p90: float
    coverage: float


class Choice(NamedTuple):
    """Which rows to look at; "" = all."""

    family: str = ""
    card: str = ""
    model: str = ""
    engine: str = ""

    def takes(self, point: Point) -> bool:
        return all(not wanted or wanted == getattr(point, name) for name, wanted in self._asdict().items())


def points(catalog: Catalog) -> tuple[Point, ...]:
    """Every row that has a left-out prediction, in the order of the files."""
    calibration = catalog.calibration
    found = []
    for row in catalog.measurements:
        residual = calibration.residuals.get(row.get("id"))
        if residual is None or not residual.left_out > 0 or not row["value"] > 0:
            continue
        like = evidence.likeness(row, catalog)
        measured, predicted = float(row["value"]), float(residual.left_out)
        band = calibration.bands.get(like.family)
        inside = band is not None and abs(np.log(predicted / measured)) <= residual.power * np.log(band.factor_80)
        found.append(
            Point(
                row,
                like.family,
                like.card or str(row.get("gpu") or row.get("host") or ""),
                like.architecture,
                like.model or str(row.get("model") or ""),
                like.engine,
                measured,
                predicted,
                bool(inside),
            )
        )
    return tuple(found)


def by_family(chosen: Sequence[Point]) -> tuple[FamilyScore, ...]:
    """Errors of every family among these rows, the family with most rows first."""
    groups: dict[str, list[Point]] = defaultdict(list)
    for point in chosen:
        groups[point.family].append(point)
    scores = [
        FamilyScore(
            family,
            len(rows),
            len({str(point.row.get("publisher")) for point in rows}),
            float(np.median([abs(point.error) for point in rows])),
            float(np.quantile([abs(point.error) for point in rows], 0.9)),
            float(np.mean([point.inside for point in rows])),
        )
        for family, rows in groups.items()
    ]
    return tuple(sorted(scores, key=lambda score: -score.rows))


def spread_80(chosen: Sequence[Point]) -> float:
    """The factor either way within which 80 % of these rows lie; 1 without rows."""
    if not chosen:
        return 1.0
    return float(np.exp(np.quantile([abs(np.log(point.predicted / point.measured)) for point in chosen], 0.8)))


def rules_of_thumb(catalog: Catalog) -> dict[str, float]:
    """Median error by family of the naive rules (`predict.naive`) on the scored rows that they answer.

    Reads all rows again: some tenths of a second.
    """
    scored = points(catalog)
    guesses = predictions.naive(predictions.prepare([point.row for point in scored], catalog))
    errors: dict[str, list[float]] = defaultdict(list)
    for point, guess in zip(scored, guesses, strict=True):
        if np.isfinite(guess) and guess > 0:
            errors[point.family].append(abs(float(guess) / point.measured - 1.0))
    return {family: float(np.median(found)) for family, found in errors.items()}
