"""The headline figures that a plan's author saw when saving: compared with today's, never evaluated."""

import math
from collections.abc import Iterator
from typing import Annotated, NamedTuple

from pydantic import BaseModel, ConfigDict, Field

from gpuplanner.model.results import NOT_KNOWN, Figure, Results

# The same model and calibration must give the same number on every machine.
RELATIVE_TOLERANCE = 1e-9

_SCENARIO_FIGURES = ("speed_ratio",)
_SERVE_FIGURES = ("output_tokens_s", "first_token_s", "per_token_s", "headroom", "memory_share")
_TRAIN_FIGURES = ("tokens_s", "step_s", "duration_s", "memory_share")
_ROOM_FIGURES = ("it_load_w", "it_nameplate_w", "facility_w", "cooling_tons")
_MONEY_FIGURES = ("purchase", "running_per_year", "total_over_term", "per_million_tokens", "per_run")

_Amount = Annotated[float, Field(ge=-1e30, le=1e30)] | None


class SeenFigure(BaseModel):
    """One figure of a scenario, or of a group of it that runs a workload.

    None = not known. SI units, money in the plan's currency.
    """

    model_config = ConfigDict(frozen=True, extra="ignore", allow_inf_nan=False, defer_build=True)

    scenario: Annotated[str, Field(pattern=r"^[A-H]$")]
    workload: Annotated[str, Field(max_length=40)] = ""
    group: Annotated[int, Field(ge=0, le=1000)] | None = None
    key: Annotated[str, Field(max_length=60)]
    value: _Amount = None
    low: _Amount = None
    high: _Amount = None


class Seen(BaseModel):
    """What the author saw, and with which model."""

    model_config = ConfigDict(frozen=True, extra="ignore", allow_inf_nan=False, defer_build=True)

    model_version: Annotated[str, Field(max_length=200)] = ""
    calibration_id: Annotated[str, Field(max_length=200)] = ""
    currency: Annotated[str, Field(max_length=3)] = ""
    figures: Annotated[tuple[SeenFigure, ...], Field(max_length=20_000)] = ()


class SeenDifference(NamedTuple):
    """A figure that is not what the author saw.

    ``same_model`` False: another model or calibration explains it; show both.
    """

    scenario: str
    workload: str
    group: int | None
    key: str
    seen: Figure
    now: Figure
    same_model: bool


def seen_of(results: Results) -> Seen:
    """The headline figures of `results`."""
    return Seen(
        model_version=results.model_version,
        calibration_id=results.calibration_id,
        currency=results.currency,
        figures=tuple(
            SeenFigure(
                scenario=scenario,
                workload=workload,
                group=group,
                key=key,
                value=_storable(figure.value),
                low=_storable(figure.low),
                high=_storable(figure.high),
            )
            for (scenario, workload, group, key), figure in _figures(results)
        ),
    )


def differences(seen: Seen | None, results: Results) -> tuple[SeenDifference, ...]:
    """Figures that differ by more than `RELATIVE_TOLERANCE` from what the author saw, in the order of the results.

    Empty where nothing was seen: a plan that was written by hand, say.
    """
    if seen is None:
        return ()
    same_model = (seen.model_version, seen.calibration_id) == (results.model_version, results.calibration_id)
    now = dict(_figures(results))
    found = []
    for figure in seen.figures:
        place = (figure.scenario, figure.workload, figure.group, figure.key)
        today = now.get(place, NOT_KNOWN)
        before = Figure(figure.value, figure.low, figure.high, today.basis if figure.value is not None else "not known")
        if not all(_same(a, b) for a, b in zip(before[:3], (today.value, today.low, today.high), strict=True)):
            found.append(SeenDifference(*place, before, today, same_model))
    return tuple(found)


_Place = tuple[str, str, int | None, str]


class SideBySide(NamedTuple):
    """A headline figure of two plans; not known where a plan has no such scenario or run."""

    scenario: str
    workload: str
    group: int | None
    key: str
    a: Figure
    b: Figure

    @property
    def same(self) -> bool:
        """Whether both are the same number with the same band."""
        return all(_same(_storable(one), other) for one, other in zip(self.a[:3], self.b[:3], strict=True))


def side_by_side(a: Results, b: Results) -> tuple[SideBySide, ...]:
    """The headline figures of two plans, in the order of the first; those that neither knows are left out."""
    mine, theirs = dict(_figures(a)), dict(_figures(b))
    pairs = (
        SideBySide(*place, mine.get(place, NOT_KNOWN), theirs.get(place, NOT_KNOWN))
        for place in dict.fromkeys((*mine, *theirs))
    )
    return tuple(pair for pair in pairs if pair.a.value is not None or pair.b.value is not None)


def _figures(results: Results) -> Iterator[tuple[_Place, Figure]]:
    for scenario in results.scenarios:
        for key in _SCENARIO_FIGURES:
            yield (scenario.letter, "", None, key), getattr(scenario, key)
        for serve in scenario.serve:
            for key in _SERVE_FIGURES:
                yield (scenario.letter, serve.workload, serve.group, key), getattr(serve, key)
        for train in scenario.train:
            for key in _TRAIN_FIGURES:
                yield (scenario.letter, train.workload, train.group, key), getattr(train, key)
        for key in _ROOM_FIGURES:
            yield (scenario.letter, "", None, key), getattr(scenario.room, key)
        for key in _MONEY_FIGURES:
            yield (scenario.letter, "", None, key), getattr(scenario.money, key)


def _storable(value: float | None) -> float | None:
    """A number that a file may hold: what is infinite or out of range is not known to the reader."""
    return float(value) if value is not None and math.isfinite(value) and abs(value) <= 1e30 else None


def _same(before: float | None, now: float | None) -> bool:
    now = _storable(now)
    if before is None or now is None:
        return before is now
    return math.isclose(before, now, rel_tol=RELATIVE_TOLERANCE, abs_tol=0.0)
