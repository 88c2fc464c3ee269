"""Arithmetic of figures with bands.

A predicted figure is log-normal around its value: its half-width is the logarithm of a factor. Independent half-widths
add in quadrature, as logarithms in products and quotients, as amounts in sums.
"""

from collections.abc import Sequence

import numpy as np

from gpuplanner.model.results import NOT_KNOWN, Basis, Figure, Part

_RANK: dict[str, int] = {"input": 0, "known": 1, "predicted": 2, "assumed": 3, "not validated": 4, "not known": 5}


def weakest(*bases: Basis) -> Basis:
    """The least certain of several ways to know."""
    return max(bases, key=_RANK.__getitem__)


def spread(value: float, factor: float, basis: Basis = "predicted", parts: tuple[Part, ...] = ()) -> Figure:
    """A figure whose 80 % band is a factor either way; not known where the value is not a number."""
    if not np.isfinite(value):
        return NOT_KNOWN
    return Figure(float(value), float(value / factor), float(value * factor), basis, parts)


def between(value: float, low: float, high: float, basis: Basis, parts: tuple[Part, ...] = ()) -> Figure:
    """A figure with a stated band; not known where the value is not a number."""
    if not np.isfinite(value):
        return NOT_KNOWN
    return Figure(float(value), float(min(low, value)), float(max(high, value)), basis, parts)


def scaled(figure: Figure, factor: float) -> Figure:
    """The figure times an exact number."""
    if figure.value is None or figure.low is None or figure.high is None:
        return figure
    parts = tuple(Part(part.name, part.value * factor) for part in figure.parts)
    return figure._replace(value=figure.value * factor, low=figure.low * factor, high=figure.high * factor, parts=parts)


def total(figures: Sequence[Figure]) -> Figure:
    """The sum of independent figures; not known as soon as one is not."""
    if not figures:
        return Figure(0.0, 0.0, 0.0, "known")
    value = below = above = 0.0
    basis: Basis = "input"
    for figure in figures:
        if figure.value is None or figure.low is None or figure.high is None:
            return NOT_KNOWN._replace(note=figure.note)
        value += figure.value
        below += (figure.value - figure.low) ** 2
        above += (figure.high - figure.value) ** 2
        # A line of nothing says nothing about how well the sum is known.
        if figure.value:
            basis = weakest(basis, figure.basis)
    return Figure(value, value - below**0.5, value + above**0.5, basis)


def product(first: Figure, second: Figure) -> Figure:
    """The product of two independent positive figures."""
    if first.value is None or second.value is None:
        return NOT_KNOWN
    return _combined(first.value * second.value, first, second, False)


def quotient(first: Figure, second: Figure) -> Figure:
    """The quotient of two independent positive figures; not known where the divisor is 0."""
    if first.value is None or not second.value:
        return NOT_KNOWN
    return _combined(first.value / second.value, first, second, True)


def _combined(value: float, first: Figure, second: Figure, divided: bool) -> Figure:
    basis = weakest(first.basis, second.basis)
    if value <= 0:
        return Figure(value, value, value, basis)
    a_low, a_high = _log_sides(first)
    b_low, b_high = _log_sides(second)
    if divided:
        b_low, b_high = b_high, b_low
    below, above = float(np.hypot(a_low, b_low)), float(np.hypot(a_high, b_high))
    return Figure(value, value * float(np.exp(-below)), value * float(np.exp(above)), basis)


def _log_sides(figure: Figure) -> tuple[float, float]:
    value, low, high = figure.value or 0.0, figure.low or 0.0, figure.high or 0.0
    # A band that reaches 0 is cut at a hundredth of the value: below that nothing is decided any more.
    below = float(np.log(value / max(low, value / 100.0))) if value > 0 else 0.0
    above = float(np.log(max(high, value) / value)) if value > 0 else 0.0
    return below, above
