"""Curves that stand in the rows of arrays."""

import numpy as np


def read_off(at: np.ndarray, known: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Row by row, the value at `at` on the line through (`known`, `values`); beyond the ends, the value of that end.

    All three hold one curve a row and as many points a row; `known` is positive and rises along each row by equal
    factors. The same numbers as `np.interp` for each row.
    """
    last = known.shape[1] - 1
    first, end = known[:, :1], known[:, -1:]
    with np.errstate(divide="ignore", invalid="ignore"):
        guess = np.log(at / first) * (last / np.log(end / first))
    place = np.nan_to_num(np.clip(guess, 0.0, last - 1.0), nan=0.0).astype(int)
    place += (np.arange(len(known)) * (last + 1))[:, None]
    # A guess may round to the wrong side of a point, where both lines have the value of that point.
    left, below = known.take(place), values.take(place)
    right, above = known.take(place + 1), values.take(place + 1)
    inside = (above - below) / (right - left) * (at - left) + below
    return np.where(at >= end, values[:, -1:], np.where(at <= first, values[:, :1], inside))
