"""Heat that a room must remove, the air and water that carry it, and what the inlet may be.

Plain functions of floats or arrays. Temperatures are in °C, temperature differences in K, everything else in SI.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gpuplanner.model.results import Envelope
from gpuplanner.units import BTU_H_PER_W, W_PER_TON

Quantity = float | NDArray[np.float64]
Answer = bool | np.bool_ | NDArray[np.bool_]

# Dry air at 20 °C and 101.325 kPa.
AIR_DENSITY_KG_M3 = 1.204
AIR_HEAT_CAPACITY_J_KGK = 1006.0

# International standard atmosphere, troposphere: p/p0 = (1 - ALTITUDE_COEFFICIENT_PER_M * h) ** PRESSURE_EXPONENT.
ALTITUDE_COEFFICIENT_PER_M = 2.25577e-5
PRESSURE_EXPONENT = 5.25588


class Coolant(NamedTuple):
    """A liquid that carries heat: density [kg/m³] and specific heat capacity [J/(kg K)]."""

    density_kg_m3: float
    heat_capacity_j_kgk: float


WATER = Coolant(998.0, 4186.0)
# Propylene glycol, 25 % by volume, in water at loop temperature.
PG25 = Coolant(1018.0, 3930.0)


class AirClass(NamedTuple):
    """Inlet temperatures of one class of air-cooled equipment. [°C]"""

    allowable_min_c: float
    allowable_max_c: float
    recommended_min_c: float
    recommended_max_c: float


# ASHRAE TC 9.9, Thermal Guidelines for Data Processing Environments, 5th edition (2021), below 900 m.
# The lower allowable limit of H1 was not found in a readable source; 5 °C is unverified.
ASHRAE_CLASSES: dict[str, AirClass] = {
    "A1": AirClass(15.0, 32.0, 18.0, 27.0),
    "A2": AirClass(10.0, 35.0, 18.0, 27.0),
    "A3": AirClass(5.0, 40.0, 18.0, 27.0),
    "A4": AirClass(5.0, 45.0, 18.0, 27.0),
    "H1": AirClass(5.0, 25.0, 18.0, 22.0),
}


# The allowable maximum falls by a kelvin for so many metres above DERATING_FROM_M, by its value at sea level [°C, m]:
# classes A1 and A2, then A3, then A4 (same guidelines; unverified). The recommended range does not move.
DERATING_FROM_M = 900.0
_METRES_PER_KELVIN = ((35.0, 300.0), (40.0, 175.0), (np.inf, 125.0))
RECOMMENDED_C = (18.0, 27.0)


class LiquidSplit(NamedTuple):
    """Where the heat of a rack goes. [W]"""

    liquid_w: Quantity
    air_w: Quantity


class InletCheck(NamedTuple):
    """Whether an inlet temperature suits the room class, and the system in it."""

    room_ok: Answer
    system_ok: Answer


def heat_btu_h(heat_w: Quantity) -> Quantity:
    """Heat flow in BTU (international table) an hour for `heat_w` in watts."""
    return heat_w * BTU_H_PER_W


def cooling_tons(heat_w: Quantity) -> Quantity:
    """Tons of refrigeration (12,000 BTU/h each) for `heat_w` in watts."""
    return heat_w / W_PER_TON


def heat_of_tons(tons: Quantity) -> Quantity:
    """Watts that `tons` of refrigeration remove."""
    return tons * W_PER_TON


def air_density_ratio(altitude_m: Quantity) -> Quantity:
    """Density of room air at an altitude as a share of that at sea level.

    A cooled room has the same temperature at any altitude, so its air thins with the pressure alone.

    Parameters
    ----------
    altitude_m : float or array
        Height above sea level, −430 to 11,000 m. [m]

    References
    ----------
    .. [1] U.S. Standard Atmosphere, 1976, troposphere (equal to ISO 2533).
    """
    return (1.0 - ALTITUDE_COEFFICIENT_PER_M * np.asarray(altitude_m, float)) ** PRESSURE_EXPONENT


def air_flow(
    heat_w: Quantity,
    temperature_rise_k: Quantity,
    altitude_m: Quantity = 0.0,
    density_kg_m3: Quantity = AIR_DENSITY_KG_M3,
    heat_capacity_j_kgk: Quantity = AIR_HEAT_CAPACITY_J_KGK,
) -> Quantity:
    """Air flow that carries `heat_w` away at a given temperature rise.

    The steady-flow energy balance of dry air, P = ρ·cp·V·ΔT.

    Parameters
    ----------
    heat_w : float or array
        Heat released into the air. [W]
    temperature_rise_k : float or array
        Outlet minus inlet temperature. Must be positive. [K]
    altitude_m : float or array
        Height of the site; see `air_density_ratio`. [m]
    density_kg_m3, heat_capacity_j_kgk : float or array
        Of the air at sea level.

    Returns
    -------
    float or array
        Volume flow at the site. [m³/s]

    Notes
    -----
    Good to about 3 % for inlets of 10 to 35 °C; air that bypasses the equipment or recirculates comes on top.

    References
    ----------
    .. [1] ASHRAE Handbook, Fundamentals: sensible heat of an air stream.
    """
    carried_j_m3 = _air_heat_j_m3k(altitude_m, density_kg_m3, heat_capacity_j_kgk) * np.asarray(
        temperature_rise_k, float
    )
    return heat_w / carried_j_m3


def air_temperature_rise(
    heat_w: Quantity,
    air_flow_m3_s: Quantity,
    altitude_m: Quantity = 0.0,
    density_kg_m3: Quantity = AIR_DENSITY_KG_M3,
    heat_capacity_j_kgk: Quantity = AIR_HEAT_CAPACITY_J_KGK,
) -> Quantity:
    """Outlet minus inlet temperature [K] of `air_flow_m3_s` that takes up `heat_w`: `air_flow` solved for it."""
    warmed_w_k = _air_heat_j_m3k(altitude_m, density_kg_m3, heat_capacity_j_kgk) * np.asarray(air_flow_m3_s, float)
    return heat_w / warmed_w_k


def _air_heat_j_m3k(altitude_m: Quantity, density_kg_m3: Quantity, heat_capacity_j_kgk: Quantity) -> Quantity:
    """Heat that a cubic metre of site air takes up per kelvin. [J/(m³ K)]"""
    return density_kg_m3 * air_density_ratio(altitude_m) * heat_capacity_j_kgk


def coolant_flow(
    heat_w: Quantity,
    temperature_rise_k: Quantity,
    density_kg_m3: Quantity = WATER.density_kg_m3,
    heat_capacity_j_kgk: Quantity = WATER.heat_capacity_j_kgk,
) -> Quantity:
    """Liquid flow [m³/s] that carries `heat_w` away at a given temperature rise [K].

    The steady-flow energy balance P = ρ·cp·V·ΔT, with the properties of `WATER`, `PG25` or another liquid at the mean
    loop temperature. Between 20 and 50 °C they move by less than 2 %.
    """
    return heat_w / (density_kg_m3 * heat_capacity_j_kgk * np.asarray(temperature_rise_k, float))


def liquid_split(heat_w: Quantity, liquid_share: Quantity) -> LiquidSplit:
    """Part the heat of liquid-cooled equipment into what the liquid takes and what the room's air still must. [W]"""
    liquid_w = heat_w * np.asarray(liquid_share, float)
    return LiquidSplit(liquid_w, heat_w - liquid_w)


def inlet_check(inlet_c: Quantity, air_class: AirClass, system_inlet_max_c: Quantity) -> InletCheck:
    """Whether air of `inlet_c` may enter the equipment.

    `room_ok` asks for the class's allowable envelope. `system_ok` asks for the narrower of that envelope and the
    system's own limit: a server that stands 35 °C does not widen an A1 room, and an A3 room does not lift a server's
    limit of 30 °C.

    References
    ----------
    .. [1] ASHRAE TC 9.9, Thermal Guidelines for Data Processing Environments, 5th ed., 2021. Valid below 900 m;
       higher sites allow less.
    """
    inlet = np.asarray(inlet_c, float)
    room_ok = (inlet >= air_class.allowable_min_c) & (inlet <= air_class.allowable_max_c)
    return InletCheck(room_ok, room_ok & (inlet <= system_inlet_max_c))


def inlet_derating(inlet_max_c: float, altitude_m: float) -> float:
    """By how much thin air lowers the warmest allowable inlet of equipment that stands `inlet_max_c` at sea level. [K]

    References
    ----------
    .. [1] ASHRAE TC 9.9, Thermal Guidelines for Data Processing Environments, 5th ed., 2021: 1 K for 300 m above
       900 m in classes A1 and A2, for 175 m in A3, for 125 m in A4 (unverified; printed up to 3,050 m).
    """
    metres = next(metres for top, metres in _METRES_PER_KELVIN if inlet_max_c <= top)
    return max(altitude_m - DERATING_FROM_M, 0.0) / metres


def air_class_of(inlet_max_c: float) -> str:
    """The widest class of ASHRAE whose warmest allowable air the equipment stands; "" where it stands none's."""
    held = [name for name, limits in ASHRAE_CLASSES.items() if name[0] == "A" and limits.allowable_max_c <= inlet_max_c]
    return held[-1] if held else ""


def envelope_of(supply_c: float, lowest_c: float | None, highest_c: float) -> Envelope:
    """Where supply air lies: "recommended" (18 to 27 °C), "allowable" to the equipment, or "outside" of both."""
    if supply_c > highest_c or (lowest_c is not None and supply_c < lowest_c):
        return "outside"
    return "recommended" if RECOMMENDED_C[0] <= supply_c <= RECOMMENDED_C[1] else "allowable"


def pue_of_parts(chain_efficiency: Quantity, cooling_cop: Quantity, other_share: Quantity = 0.0) -> Quantity:
    """Power usage effectiveness of a site from its parts.

    The power chain (transformer, UPS, PDU) turns part of what it passes on into heat; the cooling plant removes that
    heat and the equipment's at `cooling_cop` watts a watt.

    Parameters
    ----------
    chain_efficiency : float or array
        Power at the equipment ÷ power into the chain, product of its stages. In (0, 1].
    cooling_cop : float or array
        Heat removed ÷ electric power of compressors, pumps and fans together. Positive; `inf` leaves cooling out.
    other_share : float or array
        Light, offices and the rest, as a share of the equipment's power.

    Returns
    -------
    float or array
        Facility power ÷ equipment power, at least 1.

    Notes
    -----
    All losses are taken to be inside the cooled room; a UPS in a room of its own makes this pessimistic by about 1 %.

    References
    ----------
    .. [1] ISO/IEC 30134-2: power usage effectiveness.
    """
    delivered = 1.0 / np.asarray(chain_efficiency, float)
    return delivered + delivered / np.asarray(cooling_cop, float) + other_share


def blended_pue(liquid_share: Quantity, pue_liquid: Quantity, pue_air: Quantity) -> Quantity:
    """PUE of a room whose liquid takes `liquid_share` of the heat and whose air takes the rest."""
    share = np.asarray(liquid_share, float)
    return share * pue_liquid + (1.0 - share) * pue_air
