"""Where the heat of a room goes (air, liquid) and whether the air at the inlets suits the servers."""

from collections.abc import Sequence
from typing import Literal

from gpuplanner.catalog.load import Catalog
from gpuplanner.model import cooling, hardware, room
from gpuplanner.model.bands import quotient, scaled
from gpuplanner.model.plan import Site
from gpuplanner.model.results import ClimateResult, Figure, RoomResult, exact

# Usual warming of the liquid: 10 K in cold plates and tanks, 6 K in the door of a rack (judged).
_COOLANT_RISE_K = {"rear-door": 6.0}
_USUAL_RISE_K = 10.0
_NOTHING = exact(0.0, "known")


def climate_of(
    space: RoomResult, hardwares: Sequence[hardware.Hardware], site: Site, catalog: Catalog
) -> ClimateResult:
    """Air, liquid and inlet of a scenario's equipment."""
    coolant, liquid = _liquid_heat(space, site)
    rise = _COOLANT_RISE_K.get(site.cooling, _USUAL_RISE_K) if site.coolant_rise_k == "auto" else site.coolant_rise_k
    medium = cooling.PG25 if coolant == "glycol" else cooling.WATER
    per_watt = float(cooling.coolant_flow(1.0, rise, medium.density_kg_m3, medium.heat_capacity_j_kgk))
    lowest, highest, derating, suited = _inlet(space, hardwares, site, catalog)
    return ClimateResult(
        _share(space.air_heat_w, space.heat_w), _air_rise(space, site), coolant, liquid, rise,
        scaled(liquid, per_watt) if coolant else _NOTHING,
        "" if highest is None else cooling.envelope_of(site.supply_c, lowest, highest),
        suited, lowest, highest, derating, room.rack_limit(site, catalog),
    )  # fmt: skip


def _liquid_heat(space: RoomResult, site: Site) -> tuple[Literal["", "water", "glycol"], Figure]:
    """What carries heat away in pipes, and how much: cold plates and tanks part of it, a door of a rack all. [W]"""
    heat, air = space.heat_w, space.air_heat_w
    if heat.value is None or air.value is None or not heat.value:
        return "", _NOTHING
    if site.cooling == "rear-door":
        return "water", air
    left = heat.value - air.value
    if left <= 0:
        return "", _NOTHING
    # The band is that of the air's share: what is not in the one is in the other.
    low, high = (air.high or air.value) - air.value, air.value - (air.low or air.value)
    liquid = Figure(left, max(left - low, 0.0), min(left + high, heat.value), air.basis)
    return "water" if site.cooling == "immersion" else "glycol", liquid


def _share(air: Figure, heat: Figure) -> Figure:
    if not heat.value or air.value is None:
        return exact(1.0, "known")
    if air.value >= heat.value:
        return exact(1.0, air.basis)
    share = quotient(air, heat._replace(low=heat.value, high=heat.value))
    return share._replace(high=min(share.high or 1.0, 1.0))


def _air_rise(space: RoomResult, site: Site) -> float:
    """Outlet less inlet of the servers: as stated, else what their air flow comes to. [K]"""
    if site.air_rise_k != "auto":
        return site.air_rise_k
    if not space.air_heat_w.value or not space.airflow_m3_s.value:
        return 0.0
    return float(cooling.air_temperature_rise(space.air_heat_w.value, space.airflow_m3_s.value, site.altitude_m))


def _inlet(
    space: RoomResult, hardwares: Sequence[hardware.Hardware], site: Site, catalog: Catalog
) -> tuple[float | None, float | None, float, str]:
    """The range of inlet air that suits every server here, what altitude takes from it, and its class."""
    servers = [hardwares[group.group].server for group in space.groups]
    if not servers:
        return None, None, 0.0, ""
    at_sea = min(room.inlet_limit(server, catalog) for server in servers)
    here = min(room.inlet_limit(server, catalog, site.altitude_m) for server in servers)
    lows = [server.inlet_min_c for server in servers if server is not None and server.inlet_min_c is not None]
    return max(lows, default=None), here, at_sea - here, cooling.air_class_of(at_sea)
