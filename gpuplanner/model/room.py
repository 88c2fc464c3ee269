"""Power, heat and space of a scenario in our own room, each watt counted once: card, server, network, room.

Nameplate sizes circuits, the load at peak decides whether the room carries it, the average pays the bill. Rented
servers draw nothing here.
"""

from typing import NamedTuple

import numpy as np

from gpuplanner.catalog.load import Catalog
from gpuplanner.catalog.schema import Gpu, Server
from gpuplanner.model import cooling, fabric, hardware, power
from gpuplanner.model.bands import between, product, scaled, total
from gpuplanner.model.plan import Group, Scenario, Site
from gpuplanner.model.results import NOT_KNOWN, Check, FabricResult, Figure, GroupPower, RackLimit, RoomResult, exact
from gpuplanner.units import M3_H_PER_CFM

_PUE_ROW = {
    "split": "office or server room, split air conditioner",
    "crac": "CRAC, no containment",
    "containment": "hot or cold aisle containment",
    "in-row": "in-row",
    "rear-door": "rear-door exchanger",
    "free-air": "free air",
    "direct-liquid": "direct liquid",
    "immersion": "immersion",
    "colocation": "colocation, average",
}
_RACK_ROW = {
    "split": "room air",
    "crac": "room air",
    "free-air": "room air",
    "colocation": "room air",
    "containment": "containment or in-row",
    "in-row": "containment or in-row",
    "rear-door": "rear-door exchanger",
    "direct-liquid": "direct liquid",
    "immersion": "direct liquid",
}
_TIGHT = 0.95
EIGHT_GPU = ("hgx", "oam", "v100")
UNITS_LEFT_FOR_SWITCHES = 2
# Share of the heat that a tank gives to the air above it (judged).
_AIR_OVER_TANK = 0.02
# Idle ÷ busy power of a card, where a share of the dynamic range is asked for.
_IDLE_OF_LOAD = 0.12


class GroupLoad(NamedTuple):
    """What the work asks of a group: power of one busy device, share of the peak that is mean, whether compute binds.
    [W]
    """

    gpu_w: Figure
    mean_share: float
    compute_bound: bool


def airs_its_cards(hard: hardware.Hardware, site: Site) -> bool:
    """Whether the cards of a server give their heat to the air.

    A tank takes every server; cold plates take those that have or may have them. A server without a record is taken as
    the version that suits the room, and so is a board of eight: its makers sell it with cold plates too.
    """
    if site.cooling == "immersion":
        return False
    if site.cooling == "direct-liquid" and (hard.server is None or hard.server_class.startswith(EIGHT_GPU)):
        return False
    if hard.server is None:
        return True
    if power.is_liquid_only(hard.server.cooling):
        return False
    return site.cooling != "direct-liquid" or power.is_air_only(hard.server.cooling)


def _per_server(value: Figure, servers: int) -> Figure:
    return scaled(value, float(servers))


def group_power(
    index: int, group: Group, hard: hardware.Hardware, load: GroupLoad, site: Site, catalog: Catalog
) -> GroupPower:
    """Idle, load, average and nameplate power of all servers of a group. [W]"""
    gpu = hard.gpu
    if gpu is None and group.gpu:
        # Cards that no entry describes: what they draw is not known, and so is the whole.
        nothing = NOT_KNOWN._replace(note="power")
        return GroupPower(index, nothing, nothing, nothing, nothing, nothing, group.servers, hard.devices)
    devices = hard.devices_per_server
    limit = scaled(power.board_power(gpu, catalog), 1.0 / gpu.gpus_per_card) if gpu is not None else exact(0.0, "known")
    tdp = limit.value or 0.0
    liquid = not airs_its_cards(hard, site)
    tdp_sum = devices * tdp
    cpu_tdp = hard.cpu.tdp_w.value * hard.sockets if hard.cpu is not None else None
    base, extra = power.chassis_power(catalog, hard.server_class, liquid, tdp_sum, cpu_tdp)
    card_idle = power.idle_power(gpu, catalog) if gpu is not None else exact(0.0, "known")
    one_idle = (card_idle.value or 0.0) / (gpu.gpus_per_card if gpu is not None else 1)
    usual = hard.server.gpus_per_server if hard.server is not None else devices
    idle = power.server_idle(catalog, hard.server, hard.server_class, devices, usual, one_idle)
    if load.gpu_w.value is None:
        # Nothing runs, or its speed is not known: a busy card is taken at the usual share of its limit.
        gpu_w = (
            between(0.75 * tdp, 0.55 * (limit.low or tdp), limit.high or tdp, "assumed")
            if gpu is not None and load.mean_share > 0
            else exact(one_idle, "assumed")
        )
    else:
        gpu_w = load.gpu_w
    if load.mean_share <= 0:
        busy = idle
    else:
        busy = total([base, scaled(gpu_w, float(devices))])
        if busy.value is not None and idle.value is not None and busy.value < idle.value:
            busy = idle
    name = power.nameplate(hard.server, devices, scaled(limit, float(devices)), extra)
    if hard.power_cap_w is not None:
        name = total([scaled(exact(min(hard.power_cap_w, tdp), "input"), float(devices)), extra])
    share = load.mean_share
    average = total([scaled(busy, share), scaled(idle, 1.0 - share)])
    return GroupPower(
        index, _per_server(idle, group.servers), _per_server(busy, group.servers), _per_server(average,
        group.servers), _per_server(name, group.servers), gpu_w,
        group.servers, hard.devices,
    )  # fmt: skip


def _class_figure(catalog: Catalog, key: str, kind: str) -> Figure:
    rows = {row.applies_to for row in catalog.assumptions if row.key == key}
    if kind in rows:
        return hardware.assumed(catalog, key, kind)
    fallback = {
        "mac": {"rack_units": 2.0, "weight": 4.0},
        "rack_scale": {"rack_units": 48.0, "weight": 1400.0},
        "v100_sxm2_8gpu": {"rack_units": 4.0, "weight": 60.0},
    }
    value = fallback.get(kind, {}).get(key, {"rack_units": 4.0, "weight": 60.0}[key])
    return between(value, 0.6 * value, 1.5 * value, "assumed")


def server_size(catalog: Catalog, server: Server | None, kind: str) -> tuple[Figure, Figure]:
    """Height and weight of one server: of its record, else of its class. [U, kg]"""
    units = None if server is None else server.rack_units
    weight = None if server is None else server.weight_kg
    return (
        exact(units.value, "known") if units is not None else _class_figure(catalog, "rack_units", kind),
        exact(weight.value, "known") if weight is not None else _class_figure(catalog, "weight", kind),
    )


def room_of(
    scenario: Scenario, hardwares: list[hardware.Hardware], loads: list[GroupLoad], site: Site, catalog: Catalog
) -> RoomResult:
    """Everything that a scenario asks of the room."""
    own = [i for i, group in enumerate(scenario.groups) if group.condition != "rented"]
    groups = tuple(group_power(i, scenario.groups[i], hardwares[i], loads[i], site, catalog) for i in own)
    units, weights, racks, spare = [], [], 0, []
    limit_w = rack_limit(site, catalog)
    for i, one in zip(own, groups, strict=True):
        server, kind, count = hardwares[i].server, hardwares[i].server_class, scenario.groups[i].servers
        unit, weight = server_size(catalog, server, kind)
        units.append(scaled(unit, float(count)))
        weights.append(scaled(weight, float(count)))
        each_w = (one.nameplate_w.value or 0.0) / count
        per_rack = max(servers_per_rack(site, limit_w, unit.value or 1.0, each_w, weight.value or 0.0), 1)
        filled = int(np.ceil(count / per_rack))
        racks += filled
        spare.append((filled, units_for_switches(site, unit.value or 1.0), limit_w - min(per_rack, count) * each_w))
    joined = fabric.fabrics(scenario, hardwares, racks, catalog)
    network = total([one.power_w for one in joined])
    for_switches = _network_racks(joined, spare, limit_w, site, catalog)
    racks += for_switches
    load = total([*(group.load_w for group in groups), network])
    average = total([*(group.average_w for group in groups), network])
    nameplate = total([*(group.nameplate_w for group in groups), network])
    pue = exact(site.pue, "input") if site.pue != "auto" else hardware.assumed(catalog, "pue", _PUE_ROW[site.cooling])
    facility = product(average, pue)
    air = _heat_in_air(groups, hardwares, network, load, site, catalog)
    airflow = _airflow(air, any(hardwares[i].server_class.startswith(EIGHT_GPU) for i in own), site, catalog)

    warm = device_limits(groups, hardwares, load, site, catalog)
    limits = []
    if site.power_w is not None:
        limits.append(("power", site.power_w))
    if site.cooling_w is not None:
        limits.append(("cooling", site.cooling_w))
    if site.ups_w is not None:
        limits.append(("ups", site.ups_w))
    return RoomResult(
        groups, network, load, average, nameplate, facility, load, scaled(load, float(cooling.heat_btu_h(1.0))),
        scaled(load, float(cooling.cooling_tons(1.0))),
        air, airflow, pue, racks, total(units), total(weights), throttling(groups, loads, warm, load, site.cooling_w),
        tuple(limits), tuple(sorted(warm.items())), joined, for_switches,
    )  # fmt: skip


def _heat_in_air(
    groups: tuple[GroupPower, ...],
    hardwares: list[hardware.Hardware],
    network: Figure,
    load: Figure,
    site: Site,
    catalog: Catalog,
) -> Figure:
    """Heat that leaves the equipment in its air: all of it, less what cold plates or a tank take. [W]

    Switches are cooled by air except in a tank.
    """
    if site.cooling == "immersion":
        return scaled(load, _AIR_OVER_TANK)
    if all(airs_its_cards(hardwares[group.group], site) for group in groups):
        return load
    share = catalog.assumption("liquid_share", "direct liquid, cold plates")
    left = between(1 - share.value, 1 - share.high, 1 - share.low, "assumed")
    parts = [
        group.load_w if airs_its_cards(hardwares[group.group], site) else product(group.load_w, left)
        for group in groups
    ]
    return total([*parts, network])


def _airflow(air: Figure, eight: bool, site: Site, catalog: Catalog) -> Figure:
    """Air through the equipment: at the rise that the plan states, else by the class of server. [m³/s]"""
    if site.air_rise_k != "auto":
        return scaled(air, float(cooling.air_flow(1.0, site.air_rise_k, site.altitude_m)))
    per_kw = hardware.assumed(
        catalog,
        "airflow_per_kw",
        "air-cooled 8-GPU server" if eight else "any other server",
        M3_H_PER_CFM / 3600.0 / 1000.0,
    )
    return scaled(product(air, per_kw), 1.0 / float(cooling.air_density_ratio(site.altitude_m)))


def switch_units(name: str, catalog: Catalog) -> int:
    """Height of a switch; that of most where its record has none. [U]"""
    switch = catalog.switches.get(name)
    return (switch.rack_units if switch is not None else None) or 1


def units_for_switches(site: Site, server_units: float) -> int:
    """Units that a rack of such servers keeps for switches above them; none where a server fills the rack. [U]"""
    return UNITS_LEFT_FOR_SWITCHES if server_units <= site.rack_units - UNITS_LEFT_FOR_SWITCHES else 0


def switch_load(joined: tuple[FabricResult, ...], catalog: Catalog) -> tuple[int, float]:
    """Units that all switches take, and what one unit draws with its share of the transceivers. [U, W]"""
    switches = [part for one in joined for part in one.parts if part.key in fabric.SWITCHES]
    units = sum(part.number * switch_units(part.name, catalog) for part in switches)
    watts = sum(one.power_w.value or 0.0 for one in joined)
    return units, watts / units if units else 0.0


def switch_units_in(kept: int, spare_w: float, unit_w: float) -> int:
    """How many of the units that a rack keeps for switches its power feeds. [U]"""
    return kept if unit_w <= 0 else int(max(min(kept, spare_w // unit_w), 0))


def _network_racks(
    joined: tuple[FabricResult, ...],
    spare: list[tuple[int, int, float]],
    limit_w: float,
    site: Site,
    catalog: Catalog,
) -> int:
    """Racks for the switches that find no place above servers; ``spare``: racks, units kept and power left in each."""
    units, unit_w = switch_load(joined, catalog)
    beyond = units - sum(racks * switch_units_in(kept, left, unit_w) for racks, kept, left in spare)
    if beyond <= 0:
        return 0
    in_one = min(site.rack_units, max(int(limit_w // unit_w), 1)) if unit_w > 0 else site.rack_units
    return -(-beyond // in_one)


def rack_limit(site: Site, catalog: Catalog) -> float:
    """Power that one rack may draw: stated, or what its kind of cooling usually carries. [W]"""
    if site.rack_power_w is not None:
        return site.rack_power_w
    return catalog.assumption("rack_power_limit", _RACK_ROW[site.cooling]).value * 1000.0


def servers_per_rack(site: Site, limit_w: float, units: float, nameplate_w: float, weight_kg: float) -> int:
    """How many servers of a kind one rack takes by height, nameplate power and weight; 0 = not one."""
    return rack_fill(site, limit_w, units, nameplate_w, weight_kg)[0]


def rack_fill(site: Site, limit_w: float, units: float, nameplate_w: float, weight_kg: float) -> tuple[int, RackLimit]:
    """How many servers of a kind one rack takes (0 = not one), and what keeps the next one out."""
    by_height = (
        int((site.rack_units - UNITS_LEFT_FOR_SWITCHES) // max(units, 1.0))
        if units < site.rack_units
        else int(units <= site.rack_units + 10)
    )
    by_power = int(limit_w // nameplate_w) if nameplate_w > 0 else by_height
    by_weight = (
        int(site.rack_weight_kg // weight_kg) if site.rack_weight_kg is not None and weight_kg > 0 else by_height
    )
    fits = max(min(by_height, by_power, by_weight), 0)
    return fits, "height" if fits == by_height else "power" if fits == by_power else "weight"


def device_limits(
    groups: tuple[GroupPower, ...],
    hardwares: list[hardware.Hardware],
    load: Figure,
    site: Site,
    catalog: Catalog,
) -> dict[int, float]:
    """Power of one device, by group, that the room's cooling and the air at the inlet leave; empty = all they want. [W]

    Heat: what the room cannot remove warms the inlet until the cards, in equal shares, give up the surplus; chassis,
    fans and switches go on drawing. Inlet: a card's cooler is laid out for its limit at the warmest air that its server
    allows; above that, the power it sheds falls with the distance to the temperature at which it slows down.
    A steady state seen as a power cap; not validated against measurements of rooms.
    """
    limits: dict[int, float] = {}
    cards = sum((group.gpu_load_w.value or 0.0) * group.gpus for group in groups)
    if site.cooling_w is not None and load.value is not None and load.value > site.cooling_w and cards > 0:
        share = 1.0 - (load.value - site.cooling_w) / cards
        for group in groups:
            if group.gpus:
                limits[group.group] = max(share, 0.0) * (group.gpu_load_w.value or 0.0)
    for group in groups:
        hard = hardwares[group.group]
        top = inlet_limit(hard.server, catalog, site.altitude_m)
        if hard.gpu is None or site.supply_c <= top:
            continue
        board = (power.board_power(hard.gpu, catalog).value or 0.0) / hard.gpu.gpus_per_card
        slows = throttle_temperature(hard.gpu, catalog)
        left = board * max(slows - site.supply_c, 0.0) / max(slows - top, 1.0)
        wanted = limits.get(group.group, group.gpu_load_w.value or 0.0)
        if left < wanted:
            limits[group.group] = left
    return limits


def inlet_limit(server: Server | None, catalog: Catalog, altitude_m: float = 0.0) -> float:
    """Warmest air that a server takes at an altitude: by its own figure, else that of any server. [°C]"""
    if server is not None and server.inlet_max_c is not None:
        top = server.inlet_max_c
    else:
        top = catalog.assumption("inlet_max_c", "any server without a figure").value
    return top - cooling.inlet_derating(top, altitude_m)


def needs_liquid(server: Server, site: Site) -> bool:
    """Whether a server is cooled by liquid that its room does not bring."""
    return power.is_liquid_only(server.cooling) and site.cooling not in ("direct-liquid", "immersion")


def throttle_temperature(gpu: Gpu, catalog: Catalog) -> float:
    """Temperature at which a card lowers its clock: its own figure, else its class's. [°C]"""
    if gpu.throttle_temperature_c is not None:
        return gpu.throttle_temperature_c.value
    form = gpu.form_factor
    row = (
        "SoC"
        if form == "SoC"
        else "SXM or OAM"
        if form.startswith(("SXM", "OAM", "superchip", "APU"))
        else "active PCIe"
        if "active" in gpu.cooling
        else "passive PCIe"
    )
    return catalog.assumption("card_max_temp", row).value


def throttling(
    groups: tuple[GroupPower, ...], loads: list[GroupLoad], limits: dict[int, float], load: Figure, limit: float | None
) -> Figure:
    """Share of full speed that cards keep under `device_limits`, by the curve of speed under a power cap.

    The band is that of the heat: as much more or less surplus as the load's own band says.
    """
    devices = sum(group.gpus for group in groups)
    if not limits or devices == 0:
        return exact(1.0, "predicted")
    cards = sum((group.gpu_load_w.value or 0.0) * group.gpus for group in groups)
    shares = []
    for heat in (load.value, load.high, load.low):
        # So much of the cards' power goes or comes with the heat's band.
        more = ((heat or 0.0) - (load.value or 0.0)) / cards if limit is not None and cards else 0.0
        speed = 0.0
        for group in groups:
            full = group.gpu_load_w.value or 0.0
            idle = _IDLE_OF_LOAD * full
            left = limits.get(group.group, full) - more * full
            cap = np.array((left - idle) / max(full - idle, 1e-9))
            speed += (
                group.gpus / devices * float(power.power_cap_speed(cap, np.array(loads[group.group].compute_bound)))
            )
        shares.append(speed)
    return Figure(shares[0], min(shares), min(max(shares), 1.0), "not validated")


def _lowest(hard: hardware.Hardware, catalog: Catalog) -> float:
    return 0.0 if hard.gpu is None else power.lowest_limit(hard.gpu, catalog) / hard.gpu.gpus_per_card


def check(
    room: RoomResult, site: Site, hardwares: list[hardware.Hardware], scenario: Scenario, catalog: Catalog
) -> tuple[Check, list[Check]]:
    """Does the room carry it? The one verdict for the card, and every reason on its own."""
    reasons: list[Check] = []
    for name, limit in room.limits:
        figure = room.heat_w if name == "cooling" else room.it_load_w
        key, number = ("cooling", "heat_w") if name == "cooling" else (name, "value_w")
        if figure.value is None:
            continue
        if figure.value > limit:
            reasons.append(Check("fail", f"exceeds_{key}", {number: figure.value, "limit_w": limit}))
        elif (figure.high or figure.value) > limit or figure.value > _TIGHT * limit:
            reasons.append(Check("warn", f"tight_{key}", {number: figure.value, "limit_w": limit}))
        elif (room.it_nameplate_w.value or 0.0) > limit:
            number = "heat_w" if name == "cooling" else "value_w"
            reasons.append(
                Check("warn", f"nameplate_exceeds_{key}", {number: room.it_nameplate_w.value or 0.0, "limit_w": limit})
            )
    limit_w = rack_limit(site, catalog)
    for group in room.groups:
        hard = hardwares[group.group]
        one = (group.nameplate_w.value or 0.0) / max(group.servers, 1)
        if one > limit_w and hard.server_class != "rack_scale":
            stated = site.rack_power_w is not None
            reasons.append(Check("fail" if stated else "warn", "exceeds_rack", {"value_w": one, "limit_w": limit_w}))
        top = inlet_limit(hard.server, catalog, site.altitude_m)
        lowest = None if hard.server is None else hard.server.inlet_min_c
        if site.supply_c > top:
            reasons.append(Check("fail", "inlet_too_warm", {"supply_c": site.supply_c, "limit_c": round(top, 1)}))
        elif lowest is not None and site.supply_c < lowest:
            reasons.append(Check("warn", "inlet_too_cold", {"supply_c": site.supply_c, "limit_c": lowest}))
        if hard.server is not None and needs_liquid(hard.server, site):
            reasons.append(Check("warn", "needs_liquid", {"server": hard.server.name}))
    if any(limit < _lowest(hardwares[i], catalog) for i, limit in room.device_limits_w):
        reasons.append(Check("fail", "cannot_be_cooled", {"heat_w": room.heat_w.value or 0.0}))
    elif room.throttled_speed.value is not None and room.throttled_speed.value < 1.0:
        reasons.append(Check("fail", "throttles", {"share": room.throttled_speed.value}))
    if site.racks is not None and room.racks > site.racks:
        reasons.append(Check("fail", "too_many_racks", {"racks": room.racks, "limit": site.racks}))
    if not room.groups:
        return Check("ok", "nothing_in_room"), reasons
    worst = next((reason for status in ("fail", "warn") for reason in reasons if reason.status == status), None)
    if worst is not None:
        return worst, reasons
    if not room.limits:
        return Check("unknown", "no_limit"), reasons
    if room.it_load_w.value is None:
        return Check("unknown", "not_known", {"reason": "power"}), reasons
    share = max((room.heat_w.value or 0.0) / limit for _, limit in room.limits)
    return Check("ok", "room_ok", {"share": share}), reasons
