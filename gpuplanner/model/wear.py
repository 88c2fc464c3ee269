"""How many cards of a group fail within the term, and the spares that hold.

Failures are independent and come at a constant rate a year: a class value of `assumptions` with its band. Correlated
ones (a bad batch, heat, a surge) make the tail longer than this says.
"""

import numpy as np

from gpuplanner.catalog.load import Catalog
from gpuplanner.catalog.schema import Gpu
from gpuplanner.model import hardware
from gpuplanner.model.bands import between
from gpuplanner.model.plan import Economics, Group
from gpuplanner.model.results import Failures, Figure, exact

# Spares shall last the term in so many of a hundred cases.
SURE = 0.95
_SPREAD = 12.0


def failure_rate(group: Group, gpu: Gpu, economics: Economics, catalog: Catalog) -> Figure:
    """Share of the cards of a group that fail in a year: typed, else of its class by condition."""
    if economics.failure_rate_per_year != "auto":
        return exact(economics.failure_rate_per_year, "input")
    games, worn = hardware.is_consumer(gpu), group.condition in ("used", "owned")
    if worn:
        row = "GeForce, ex-mining or 24/7 used" if games else "data-center card, used, tested"
    else:
        desk = games or hardware.is_workstation(gpu)
        row = "GeForce or workstation card, new" if desk else "data-center card, new"
    return hardware.assumed(catalog, "annual_failure_rate", row)


def failing(rate_per_year: float | np.ndarray, years: float) -> np.ndarray:
    """Chance that one card fails within `years`, at a rate of 0 to 1 a year."""
    return 1.0 - (1.0 - np.asarray(rate_per_year, float)) ** years


def at_most(cards: int, chance: float, failures: int) -> float:
    """Chance that no more than `failures` of `cards` fail, where each fails with `chance`: the binomial distribution.

    Summed in logarithms; exact to about 1e-12 up to a million cards.
    """
    if failures < 0:
        return 0.0
    return float(_cumulative(cards, chance, min(failures, cards))[-1])


def spares_for(cards: int, chance: float, sure: float = SURE) -> int:
    """The fewest spares that replace every card that fails, with a certainty of `sure`."""
    if cards <= 0 or chance <= 0.0:
        return 0
    if chance >= 1.0:
        return cards
    mean = cards * chance
    far = int(min(cards, np.ceil(mean + _SPREAD * np.sqrt(mean) + _SPREAD)))
    return int(np.searchsorted(_cumulative(cards, chance, far), sure))


def _cumulative(cards: int, chance: float, upto: int) -> np.ndarray:
    """Chances of at most 0, 1, ... `upto` failures."""
    if chance <= 0.0 or cards <= 0:
        return np.ones(upto + 1)
    if chance >= 1.0:
        return np.where(np.arange(upto + 1) < cards, 0.0, 1.0)
    k = np.arange(1, upto + 1)
    steps = np.log((cards - k + 1.0) / k) + np.log(chance) - np.log1p(-chance)
    logs = cards * np.log1p(-chance) + np.concatenate([[0.0], np.cumsum(steps)])
    return np.minimum(np.cumsum(np.exp(logs)), 1.0)


def failures_of(index: int, group: Group, gpu: Gpu, economics: Economics, catalog: Catalog) -> Failures:
    """What is to be expected of the cards of a group within the term of the plan."""
    cards = group.gpus_per_server * group.servers
    rate = failure_rate(group, gpu, economics, catalog)
    years = economics.term_years
    value, low, high = (float(failing(bound or 0.0, years)) for bound in rate[:3])
    expected = between(cards * value, cards * low, cards * high, rate.basis)
    spares = spares_for(cards, value)
    return Failures(
        index, cards, rate, expected, 1.0 - at_most(cards, value, 0), spares, at_most(cards, value, spares), SURE
    )
