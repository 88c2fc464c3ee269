"""Constants, residual bands and measured rows as data, read on first use.

A constant has a physical name (`dram/Hopper`), a prior with its spread, and the value in force. Which rows it was
fitted on stands beside
it in the file. Nothing here computes a speed.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np


@dataclass(frozen=True)
class Band:
    """Factors either way that hold half and 80 % of unseen rows of a family, and the ratio of two options.

    ``sources`` is how many publishers they come from.
    """

    sources: int
    factor_50: float
    factor_80: float
    ratio_80: float


class Residual(NamedTuple):
    """What is predicted for one shipped row, in the row's metric, unit and scope.

    ``predicted`` under the shipped constants; the others under constants that have not seen the row's source, its
    publisher, or its engine with its card. ``left_out`` is the one of the two last that the family's band comes from:
    how far off we would have been without the row and its like. ``power`` is that of the row's evidence: the row's 80 %
    band reaches the family's factor to that power either way.
    """

    predicted: float
    without_source: float
    without_publisher: float
    left_out: float
    power: float = 1.0


@dataclass(frozen=True)
class Calibration:
    """The table of constants. ``values`` is ordered as ``names``."""

    id: str
    names: tuple[str, ...]
    values: np.ndarray
    priors: np.ndarray
    spreads: np.ndarray
    fitted_on: tuple[str, ...]
    architectures: tuple[tuple[str, str], ...]
    engines: dict[str, dict[str, Any]]
    bands: dict[str, Band]
    # Cards of which rows took part in the calibration or its scoring.
    cards_seen: frozenset[str] = frozenset()
    # Powers by which lack of evidence widens a band, by reason, where rows could tell.
    widening: Mapping[str, float] = field(default_factory=dict)
    # Errors by file and family under constants that have not seen the file of rows: rows, median_ape, p90_ape.
    without_file: Mapping[str, Mapping[str, Mapping[str, float]]] = field(default_factory=dict)
    folder: Path | None = None

    @cached_property
    def residuals(self) -> Mapping[str, Residual]:
        """Predictions of the shipped rows by their ids, read on first use; empty beside a table without that file.

        Rows that are not scored, or that no formula answers, are not in it.
        """
        path = self.folder / "residuals.json" if self.folder else None
        if path is None or not path.exists():
            return MappingProxyType({})
        rows = json.loads(path.read_text(encoding="utf-8"))["rows"]
        return MappingProxyType({identity: Residual(*figures) for identity, figures in rows.items()})

    @cached_property
    def _positions(self) -> dict[str, int]:
        return {name: position for position, name in enumerate(self.names)}

    def position(self, group: str, key: str = "", default: str = "other") -> int:
        """Where the constant ``group/key`` stands in ``values``; falls back to ``group/default``.

        Raises
        ------
        KeyError
            Neither is in the table.
        """
        positions = self._positions
        name = f"{group}/{key}" if key else group
        if name in positions:
            return positions[name]
        return positions[f"{group}/{default}"]

    def value(self, group: str, key: str = "", default: str = "other") -> float:
        """The constant ``group/key`` itself."""
        return float(self.values[self.position(group, key, default)])

    def knows(self, group: str, key: str) -> bool:
        """Whether the table has a row of its own for this key."""
        return f"{group}/{key}" in self._positions

    def architecture(self, name: str) -> str:
        """The row that speaks for a card's architecture ("Ampere (GA100)" → "A100"); "other" where none does."""
        return next((row for prefix, row in self.architectures if name.startswith(prefix)), "other")

    def engine_seen(self, engine: str) -> bool:
        """Whether measured rows moved any constant of this engine."""
        names = ("layer time", "host time", "engine dram", "engine matrix")
        return any(self.knows(name, engine) and bool(self.fitted_on[self.position(name, engine)]) for name in names)

    def band(self, family: str) -> Band:
        """The band of a family of figures.

        Raises
        ------
        KeyError
            No such family.
        """
        return self.bands[family]

    def with_values(self, values: np.ndarray) -> "Calibration":
        """The same table with other values in force (used while fitting)."""
        return replace(self, values=values)


def load_calibration(folder: Path) -> Calibration:
    """Read the table of constants from a folder.

    Raises
    ------
    OSError, ValueError, KeyError
        The shipped file is missing or damaged: a fault of the installation.
    """
    return replace(calibration_of(json.loads((folder / "constants.json").read_text(encoding="utf-8"))), folder=folder)


def calibration_of(data: Mapping[str, Any]) -> Calibration:
    """The table of constants that the contents of its file mean."""
    parameters = data["parameters"]
    return Calibration(
        id=data["id"],
        names=tuple(parameters),
        values=np.array([row["value"] for row in parameters.values()], float),
        priors=np.array([row["prior"] for row in parameters.values()], float),
        spreads=np.array([row["sd"] for row in parameters.values()], float),
        fitted_on=tuple(row.get("fitted_on", "") for row in parameters.values()),
        architectures=tuple((prefix, row) for prefix, row in data["architectures"]),
        engines=data["engines"],
        bands={name: Band(**row) for name, row in data["bands"].items()},
        cards_seen=frozenset(data.get("cards_seen", ())),
        without_file=data.get("without_file", {}),
        widening={reason: float(entry["power"]) for reason, entry in data.get("widening", {}).items()},
    )


def load_measurements(folder: Path) -> tuple[dict[str, Any], ...]:
    """Read the shipped measured rows, file by file in the order of their names."""
    rows: list[dict[str, Any]] = []
    for path in sorted(folder.glob("*.jsonl")):
        with path.open(encoding="utf-8") as lines:
            rows.extend(json.loads(line) for line in lines if line.strip())
    return tuple(rows)
