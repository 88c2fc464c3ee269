"""Power, circuits, racks and failures of an installation: arithmetic that every panel and the command line share.

Plain functions of floats or arrays; watts, volt-amperes, joules and seconds inside. Counts come back as whole floats.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gpuplanner.units import HOURS_PER_DAY, HOURS_PER_YEAR, SECONDS_PER_HOUR

Quantity = float | NDArray[np.float64]
Answer = bool | np.bool_ | NDArray[np.bool_]

# Quotients such as 57.2 kW ÷ 14.3 kW are whole on paper and one rounding error below in binary.
WHOLE_TOLERANCE = 1e-9


class FacilityPower(NamedTuple):
    """Power of the equipment and of the whole site. [W]"""

    it_w: Quantity
    facility_w: Quantity


class RackBudget(NamedTuple):
    """Power of a rack of equal nodes. [W]"""

    managed_node_w: Quantity
    node_w: Quantity
    rack_w: Quantity


class RunEnergy(NamedTuple):
    """Energy of one run [J] and the power that it draws [W]."""

    energy_j: Quantity
    total_w: Quantity


class CircuitCapacity(NamedTuple):
    """What a circuit carries for a moment and for ever. [VA]"""

    capacity_va: Quantity
    continuous_va: Quantity


class CircuitFeeds(NamedTuple):
    """How many feeds a set of systems needs."""

    usable_w_per_feed: Quantity
    systems_per_feed: Quantity
    feeds: Quantity


class FeedLoss(NamedTuple):
    """What is left of a system's power supplies when one feed fails."""

    psus_per_feed: Quantity
    psus_after_loss: Quantity
    full_performance: Answer


class UpsModules(NamedTuple):
    """Modules of an uninterruptible supply."""

    modules_for_load: Quantity
    modules: Quantity
    installed_w: Quantity


class RackFeed(NamedTuple):
    """A rack's load against its circuits."""

    load_w: Quantity
    capacity_va: Quantity
    headroom_w: Quantity
    fits: Answer


class RacksNeeded(NamedTuple):
    """Racks for a set of equal systems; `rack_w` is the fullest rack. [W]"""

    racks: Quantity
    rack_w: Quantity
    total_w: Quantity


class FailureRate(NamedTuple):
    """How often something fails."""

    hours_between_failures: Quantity
    failures_per_gpu_year: Quantity


def whole_units(quotient: Quantity) -> Quantity:
    """The whole units in a quotient, forgiving the rounding of one that is whole on paper."""
    quotient = np.asarray(quotient, float)
    return np.floor(quotient + WHOLE_TOLERANCE * np.maximum(1.0, np.abs(quotient)))


def units_to_cover(quotient: Quantity) -> Quantity:
    """The whole units that cover a quotient, with the same forgiveness as `whole_units`."""
    quotient = np.asarray(quotient, float)
    return np.ceil(quotient - WHOLE_TOLERANCE * np.maximum(1.0, np.abs(quotient)))


def energy_per_year(it_w: Quantity, load_factor: Quantity, pue: Quantity) -> Quantity:
    """Energy of a year at the meter. [J]

    Parameters
    ----------
    it_w : float or array
        Power of the equipment when busy. [W]
    load_factor : float or array
        Mean ÷ busy power over the year, 0 to 1.
    pue : float or array
        Facility ÷ equipment power, at least 1.

    Notes
    -----
    A year of 8,760 hours.
    """
    return it_w * np.asarray(load_factor, float) * pue * HOURS_PER_YEAR * SECONDS_PER_HOUR


def energy_cost(energy_j: Quantity, price_per_j: Quantity) -> Quantity:
    """Cost of an amount of energy, in the currency of the price."""
    return energy_j * np.asarray(price_per_j, float)


def facility_power(systems: Quantity, system_w: Quantity, pue: Quantity) -> FacilityPower:
    """Power of equal systems, and of the site around them."""
    it_w = systems * np.asarray(system_w, float)
    return FacilityPower(it_w, it_w * pue)


def rack_budget(
    gpus_per_node: Quantity, gpu_w: Quantity, cpu_w: Quantity, static_node_w: Quantity, nodes: Quantity
) -> RackBudget:
    """Power budget of a rack whose nodes have a managed part (GPUs and CPUs, which can be capped) and a static one.

    References
    ----------
    .. [1] NVIDIA Mission Control, power reservation steering: managed and static power of a GB300 NVL72 rack.
    """
    managed_node_w = gpus_per_node * np.asarray(gpu_w, float) + cpu_w
    node_w = managed_node_w + static_node_w
    return RackBudget(managed_node_w, node_w, node_w * nodes)


def run_energy(nodes: Quantity, node_w: Quantity, duration_s: Quantity) -> RunEnergy:
    """Energy that `nodes` drawing `node_w` each take in `duration_s`, before the site's overhead."""
    total_w = nodes * np.asarray(node_w, float)
    return RunEnergy(total_w * duration_s, total_w)


def circuit_capacity(volts: Quantity, amps: Quantity, phases: Quantity, continuous_factor: Quantity) -> CircuitCapacity:
    """Apparent power of a branch circuit.

    Parameters
    ----------
    volts : float or array
        Line to line for three phases, line to neutral (or between the two lines) for one. [V]
    amps : float or array
        Rating of the breaker. [A]
    phases : float or array
        1 or 3.
    continuous_factor : float or array
        Share of the rating that a load of three hours or more may use: 0.8 in the USA, 1 where the code has no
        such rule.

    References
    ----------
    .. [1] Balanced three-phase power, S = √3·V·I; NFPA 70 (NEC) 210.19, 215.2 for the continuous factor (unverified).
    """
    line_factor = np.where(np.asarray(phases) == 3, np.sqrt(3.0), 1.0)
    capacity_va = line_factor * volts * amps
    return CircuitCapacity(capacity_va, capacity_va * continuous_factor)


def circuit_feeds(
    systems: Quantity,
    system_w: Quantity,
    continuous_va: Quantity,
    power_factor: Quantity,
    feeds_per_system: Quantity,
) -> CircuitFeeds:
    """Feeds for `systems` when each of `feeds_per_system` must carry its systems alone (2 is "2N").

    A feed takes whole systems. A system that is larger than one feed takes as many as it needs on every path.
    """
    usable_w = continuous_va * np.asarray(power_factor, float)
    per_feed = whole_units(usable_w / system_w)
    shared = units_to_cover(systems / np.maximum(per_feed, 1.0))
    several = systems * units_to_cover(system_w / usable_w)
    return CircuitFeeds(usable_w, per_feed, feeds_per_system * np.where(per_feed >= 1.0, shared, several))


def feed_loss(psus: Quantity, feeds: Quantity, psu_w: Quantity, system_w: Quantity) -> FeedLoss:
    """What a system keeps when the feed with the most of its power supplies fails."""
    per_feed = units_to_cover(psus / np.asarray(feeds, float))
    left = psus - per_feed
    return FeedLoss(per_feed, left, left * psu_w >= np.asarray(system_w, float))


def ups_modules(load_w: Quantity, module_w: Quantity, spare_modules: Quantity) -> UpsModules:
    """Modules that carry a load, with `spare_modules` more (1 is "N+1")."""
    for_load = units_to_cover(load_w / np.asarray(module_w, float))
    modules = for_load + spare_modules
    return UpsModules(for_load, modules, modules * module_w)


def rack_feed(
    systems: Quantity,
    system_w: Quantity,
    circuits: Quantity,
    continuous_va: Quantity,
    power_factor: Quantity,
) -> RackFeed:
    """Whether `circuits` of `continuous_va` each feed a rack of `systems` with all circuits in use."""
    load_w = systems * np.asarray(system_w, float)
    capacity_va = circuits * np.asarray(continuous_va, float)
    headroom_w = capacity_va * power_factor - load_w
    return RackFeed(load_w, capacity_va, headroom_w, headroom_w >= -WHOLE_TOLERANCE * load_w)


def racks_needed(systems: Quantity, systems_per_rack: Quantity, system_w: Quantity) -> RacksNeeded:
    """Racks for `systems`, filled one after the other."""
    racks = units_to_cover(systems / np.asarray(systems_per_rack, float))
    rack_w = np.minimum(systems, systems_per_rack) * system_w
    return RacksNeeded(racks, rack_w, systems * np.asarray(system_w, float))


def rack_fit(rack_w: Quantity, system_w: Quantity) -> Quantity:
    """Whole systems that a rack's power feeds."""
    return whole_units(rack_w / np.asarray(system_w, float))


def failure_rate(gpus: Quantity, days: Quantity, failures: Quantity) -> FailureRate:
    """Failure rate of a fleet that was watched for `days`.

    Without a failure the mean time between them is infinite: nothing but a lower limit is known.
    """
    with np.errstate(divide="ignore"):
        hours_between = days * HOURS_PER_DAY / np.asarray(failures, float)
    gpu_years = gpus * np.asarray(days, float) * HOURS_PER_DAY / HOURS_PER_YEAR
    return FailureRate(hours_between, failures / gpu_years)


def time_between_failures(gpus: Quantity, failures_per_gpu_year: Quantity) -> Quantity:
    """Mean hours between failures of a job on `gpus` that stops when any of them fails.

    Failures are taken as independent; correlated ones (power, network) make large jobs do better than this.
    """
    return HOURS_PER_YEAR / (gpus * np.asarray(failures_per_gpu_year, float))
