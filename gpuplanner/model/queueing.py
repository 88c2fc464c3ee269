"""Waiting for a place, and how far the slowest requests lie above the mean."""

import numpy as np

from gpuplanner.model.case import Columns


def prefill_wait(utilisation: Columns, service_s: Columns, squared_variation: Columns, burst: float = 1.0) -> Columns:
    """Mean wait for the prefill of the prompts ahead: a single server with Poisson arrivals (M/G/1). [s]

    Infinite at full utilisation. ``burst``: so many requests come at the same moment; each then waits for half of the
    others of its burst as well. Optimistic for load that swings over minutes (a morning's start): size for its peak.

    References
    ----------
    .. [1] Pollaczek-Khinchine formula; Kleinrock, "Queueing Systems", vol. 1, 1975, Eq. 5.62.
    .. [2] Bulk arrivals, M[X]/G/1: Gross and Harris, "Fundamentals of Queueing Theory", 1998, section 5.1.
    """
    rho = np.clip(utilisation, 0.0, 1.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        wait = (rho * (1.0 + squared_variation) + burst - 1.0) / (1.0 - rho) * service_s / 2.0
    return np.where(rho < 1.0, wait, np.inf)


def admission_wait(utilisation: Columns, places: Columns, service_s: Columns) -> Columns:
    """Mean wait for one of `places` sequences in flight to end (M/M/m). [s]

    Exact for one place; else within 5 % or a twenty-fifth of the service time of the exact wait (Erlang C).

    References
    ----------
    .. [1] Sakasegawa, "An approximation formula L_q = a rho^b / (1 - rho)", Annals of the Institute of Statistical
    Mathematics 29, 1977.
    """
    rho = np.clip(utilisation, 0.0, 1.0)
    slots = np.maximum(places, 1.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        wait = rho ** (np.sqrt(2.0 * (slots + 1.0)) - 1.0) / (slots * (1.0 - rho)) * service_s
    return np.where(rho < 1.0, wait, np.inf)


def tail_multiple(percentile: float) -> float:
    """How many mean waits the given percentile of an exponential wait lies above zero (3.0 at 95 %, 4.6 at 99 %)."""
    return float(-np.log(1.0 - percentile))


def normal_quantile(percentile: float) -> float:
    """Standard normal quantile, to 0.005 in the range that plans use (0.5 to 0.999).

    References
    ----------
    .. [1] Abramowitz and Stegun, "Handbook of Mathematical Functions", 26.2.23.
    """
    t = float(np.sqrt(-2.0 * np.log(max(1.0 - percentile, 1e-12))))
    return t - (2.515517 + 0.802853 * t + 0.010328 * t * t) / (1.0 + 1.432788 * t + 0.189269 * t * t + 0.001308 * t**3)


def lognormal_excess(spread: float, percentile: float) -> float:
    """How many times the mean the given percentile of a log-normal length is; `spread` is its standard deviation over
    its mean.
    """
    variance = float(np.log(1.0 + spread * spread))
    return float(np.exp(normal_quantile(percentile) * np.sqrt(variance) - variance / 2.0))
