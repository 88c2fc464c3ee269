"""The electricity behind a room: from card to plug, circuit, rack, UPS and generator, each watt counted once.

Nameplate sizes whatever must never trip: circuits, UPS, generator. The load at peak is what flows. Rows of
`assumptions` are readings at the wall, so the losses of power supplies are inside them and are only named here; losses
of UPS and PDU are inside the PUE.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from gpuplanner.catalog.load import Catalog
from gpuplanner.model import facility, hardware, room
from gpuplanner.model.bands import product, quotient, scaled
from gpuplanner.model.plan import Scenario, Site
from gpuplanner.model.results import (
    NOT_KNOWN,
    FeedLossEffect,
    Figure,
    GroupPower,
    GroupSupply,
    Part,
    RoomResult,
    SupplyResult,
)

# More circuits than this are no plan any more, only a breaker of next to nothing.
_MOST_CIRCUITS = 1e9
# Sizes in which UPS modules are made, and how many of one size stand in a frame before the next size is cheaper
# (judged from the module sizes of makers' lists).
_UPS_MODULES_W = (3e3, 10e3, 25e3, 50e3, 100e3, 250e3, 500e3)
_UPS_MODULES_OF_A_SIZE = 4
_SPARE_MODULES = 1
# A generator is run at no more than about four fifths of its rating, so that starting loads do not stall it (judged).
GENERATOR_MARGIN = 1.25
# How much current a connector of IEC 60320 carries: by the standard, and as UL lists it in North America. [A]
_CORDS = (("C13", 10.0, 15.0), ("C19", 16.0, 20.0))
# Most that a power supply of a server takes. [V]
_MOST_VOLTS = 264.0
_UL_REGIONS = ("US", "JP")
_RACKLESS = ("workstation_2gpu", "mac")


class Circuit(NamedTuple):
    """A branch circuit. [V, A]"""

    volts: float
    amps: float
    phases: int


# What a computer room of a region usually has: three phases of 32 A; in the USA 208 V between lines and 30 A; in Japan
# 200 V and 30 A on one phase. Nominal voltages of IEC 60038 (unverified for single buildings: ask the electrician).
REGIONS = {
    "CN": Circuit(380.0, 32.0, 3),
    "EU": Circuit(400.0, 32.0, 3),
    "UK": Circuit(400.0, 32.0, 3),
    "US": Circuit(208.0, 30.0, 3),
    "JP": Circuit(200.0, 30.0, 1),
    "other": Circuit(400.0, 32.0, 3),
}
# Plugs of NEMA WD 6 by phases, volts from and to, and amps; Japanese plugs have the same shapes.
_NEMA = {
    (1, 90, 150, 15): "NEMA 5-15", (1, 90, 150, 20): "NEMA 5-20", (1, 90, 150, 30): "NEMA L5-30",
    (1, 190, 260, 20): "NEMA L6-20", (1, 190, 260, 30): "NEMA L6-30", (3, 190, 250, 20): "NEMA L21-20",
    (3, 190, 250, 30): "NEMA L21-30",
}  # fmt: skip
_IEC_AMPS = (16, 32, 63, 125)
# What fits the sockets of a wall: amps up to, plug.
_WALL = {"UK": (13, "BS 1363"), "EU": (16, "CEE 7/7")}


def circuit_of(site: Site) -> Circuit:
    """The circuit of a site: what is typed, and for the rest what is usual in its region."""
    usual = REGIONS[site.plug_region]
    return Circuit(
        usual.volts if site.volts == "auto" else site.volts,
        usual.amps if site.amps == "auto" else site.amps,
        usual.phases if site.phases == "auto" else site.phases,
    )


def plug_of(region: str, circuit: Circuit) -> str:
    """The plug at the end of a circuit; "" where no standard that we know has one.

    References
    ----------
    .. [1] NEMA WD 6; IEC 60309-2 (blue 200 to 250 V, red 346 to 415 V between lines); BS 1363 (13 A).
    """
    if region in _UL_REGIONS:
        for (phases, low, high, amps), name in _NEMA.items():
            if phases == circuit.phases and low <= circuit.volts <= high and amps == circuit.amps:
                return name
    if circuit.phases == 1 and region not in _UL_REGIONS and 200 <= circuit.volts <= 250:
        most, name = _WALL.get(region, (0, ""))
        if circuit.amps <= most:
            return name
        return f"IEC 60309 {circuit.amps:.0f} A, 2P+E" if circuit.amps in _IEC_AMPS else ""
    if circuit.phases == 3 and 346 <= circuit.volts <= 415 and circuit.amps in _IEC_AMPS:
        return f"IEC 60309 {circuit.amps:.0f} A, 3P+N+E"
    return ""


def cord_of(supply_w: float, volts: float, efficiency: float, power_factor: float, region: str) -> str:
    """The connector of IEC 60320 that carries one power supply at its full output; "" = none does."""
    amps = supply_w / (efficiency * power_factor * volts)
    listed = region in _UL_REGIONS
    return next((name for name, iec, ul in _CORDS if amps <= (ul if listed else iec)), "")


def supply_volts(circuit: Circuit) -> float:
    """Voltage at one power supply: between line and neutral where the lines have more than it takes. [V]"""
    star = circuit.phases == 3 and circuit.volts > _MOST_VOLTS
    return circuit.volts / float(np.sqrt(3.0)) if star else circuit.volts


def supply_of(
    space: RoomResult, scenario: Scenario, hardwares: Sequence[hardware.Hardware], site: Site, catalog: Catalog
) -> SupplyResult:
    """What a scenario asks of the electricity of its room."""
    circuit = circuit_of(site)
    factor = catalog.assumption("power_factor", "server PSU at load").value
    volt_amperes = facility.circuit_capacity(circuit.volts, circuit.amps, circuit.phases, site.continuous_factor)
    continuous_va = float(volt_amperes.continuous_va)
    usable_w = continuous_va * factor
    groups = tuple(
        _group_supply(one, scenario, hardwares[one.group], circuit, continuous_va, factor, site, catalog)
        for one in space.groups
    )
    of_network = _network_circuits(space, groups, usable_w, site.feeds)
    circuits = _sum([*(one.circuits for one in groups), of_network])

    pdu, ups = (
        hardware.assumed(catalog, "pdu_efficiency", "any"),
        hardware.assumed(catalog, "ups_efficiency", "double conversion"),
    )
    chain = product(pdu, ups) if site.ups_w is not None else pdu
    ups_load = quotient(space.it_nameplate_w, pdu)
    power_factor = hardware.assumed(catalog, "power_factor", "server PSU at load")
    module_w, modules = ups_modules_for(ups_load.value or 0.0)
    generator = scaled(quotient(product(space.it_nameplate_w, space.pue), power_factor), GENERATOR_MARGIN)
    return SupplyResult(
        circuit.volts, circuit.amps, circuit.phases, plug_of(site.plug_region, circuit), continuous_va, usable_w,
        site.feeds, groups, of_network, circuits, _peak_power(space, chain), ups_load, quotient(ups_load, power_factor),
        module_w, modules, generator,
        scaled(space.facility_w, float(facility.energy_per_year(1.0, 1.0, 1.0))),
    )  # fmt: skip


def ups_modules_for(load_w: float) -> tuple[float, int]:
    """Size and number of the UPS modules that carry a load with one to spare; (0, 0) for no load. [W]"""
    if load_w <= 0:
        return 0.0, 0
    size = next((one for one in _UPS_MODULES_W if load_w <= one * _UPS_MODULES_OF_A_SIZE), _UPS_MODULES_W[-1])
    return size, int(facility.ups_modules(load_w, size, _SPARE_MODULES).modules)


def _group_supply(
    drawn: GroupPower,
    scenario: Scenario,
    hard: hardware.Hardware,
    circuit: Circuit,
    continuous_va: float,
    factor: float,
    site: Site,
    catalog: Catalog,
) -> GroupSupply:
    servers = scenario.groups[drawn.group].servers
    each_w = None if drawn.nameplate_w.value is None else drawn.nameplate_w.value / servers
    units, weight = room.server_size(catalog, hard.server, hard.server_class)
    per_rack, binds = room.rack_fill(
        site, room.rack_limit(site, catalog), units.value or 1.0, each_w or 0.0, weight.value or 0.0
    )
    per_rack = min(max(per_rack, 1), servers)
    if per_rack == servers or hard.server_class in _RACKLESS:
        binds = ""
    racks = -(-servers // per_rack)
    in_rack = in_all = of_server = None
    if each_w is not None and each_w > 0:

        def needed(count: int) -> int | None:
            with np.errstate(all="ignore"):
                feeds = facility.circuit_feeds(float(count), each_w, continuous_va, factor, float(site.feeds)).feeds
            return _counted(float(feeds))

        of_server = needed(1)
        if hard.server_class in _RACKLESS:
            in_rack = in_all = needed(servers)
        else:
            in_rack = needed(per_rack)
            rest = servers - (racks - 1) * per_rack
            last = needed(rest)
            in_all = None if in_rack is None or last is None else in_rack * (racks - 1) + last
    effect, left = _feed_loss(hard, each_w, site.feeds)
    server, cord = hard.server, ""
    if server is not None and server.psu_w is not None:
        efficiency = catalog.assumption("psu_efficiency", "titanium, 20-80 % load").value
        cord = cord_of(server.psu_w.value, supply_volts(circuit), efficiency, factor, site.plug_region)
    return GroupSupply(
        drawn.group, server_parts(drawn, hard, site, catalog), each_w, per_rack, racks,
        None if each_w is None else each_w * per_rack, binds, of_server, in_rack, in_all,
        None if server is None else server.psu_count,
        None if server is None or server.psu_w is None else server.psu_w.value, cord, effect, left,
    )  # fmt: skip


def _feed_loss(hard: hardware.Hardware, nameplate_w: float | None, feeds: int) -> tuple[FeedLossEffect, int | None]:
    """What the loss of one feed does to a server, and how many of its power supplies go on."""
    if feeds < 2:
        return "stops", 0
    server = hard.server
    if server is None or server.psu_count is None:
        return "not known", None
    if server.psu_count < 2:
        return "stops", 0
    rating = None if server.psu_w is None else server.psu_w.value
    loss = facility.feed_loss(server.psu_count, feeds, rating or 0.0, nameplate_w or 0.0)
    left = int(loss.psus_after_loss)
    if rating is None or nameplate_w is None:
        return "not known", left
    return ("holds" if bool(loss.full_performance) else "slows"), left


def server_parts(drawn: GroupPower, hard: hardware.Hardware, site: Site, catalog: Catalog) -> Figure:
    """Power of one server at load, at its plug, and where it goes. [W]

    Cards, processors, network cards, fans, losses of the power supplies, and what is left: memory, drives, board. Class
    shares that ask for more than a server draws beside its cards are cut back in proportion, so that the parts are the
    whole.
    """
    each = scaled(drawn.load_w, 1.0 / max(drawn.servers, 1))
    if each.value is None:
        return NOT_KNOWN
    cards = min((drawn.gpu_load_w.value or 0.0) * hard.devices_per_server, each.value)
    rest = each.value - cards
    lost = (1.0 - catalog.assumption("psu_efficiency", "titanium, 20-80 % load").value) * each.value
    wanted = [Part("psu_loss", lost)]
    if room.airs_its_cards(hard, site) and hard.server_class.startswith(room.EIGHT_GPU):
        share = catalog.assumption("fan_share", "air-cooled 8-GPU server at load").value
        wanted.append(Part("fans", share * each.value))
    if hard.cpu is not None:
        busy = catalog.assumption("cpu_power_busy", "server CPU").value
        wanted.append(Part("cpu", busy * hard.cpu.tdp_w.value * hard.sockets))
    nic = _nic_power(hard, catalog)
    if nic > 0:
        wanted.append(Part("nic", nic))
    asked = sum(part.value for part in wanted)
    shrink = min(1.0, rest / asked) if asked > 0 else 0.0
    named = [Part(part.name, part.value * shrink) for part in wanted]
    left = rest - sum(part.value for part in named)
    return each._replace(parts=(Part("gpu", cards), *named, Part("server", max(left, 0.0))))


def _nic_power(hard: hardware.Hardware, catalog: Catalog) -> float:
    """What the network cards of a server draw, of the least thirsty known card of their speed. [W]"""
    known = [
        one.power_w.value / one.ports
        for one in catalog.nics.values()
        if one.power_w is not None and one.power_w.value > 0 and one.port_bits_s == hard.nic_bits_s
    ]
    return min(known, default=0.0) * hard.nics_per_server


def _network_circuits(space: RoomResult, groups: Sequence[GroupSupply], usable_w: float, feeds: int) -> int | None:
    """Circuits for the switches beyond what the servers' circuits leave."""
    asked = space.network_w.value
    if not asked:
        return 0
    spare = 0.0
    for drawn, one in zip(space.groups, groups, strict=True):
        if one.circuits is None or drawn.nameplate_w.value is None:
            return None
        spare += max(one.circuits / feeds * usable_w - drawn.nameplate_w.value, 0.0)
    with np.errstate(divide="ignore", over="ignore"):
        more = facility.units_to_cover(np.float64(max(asked - spare, 0.0)) / usable_w) * feeds
    return _counted(float(more))


def _peak_power(space: RoomResult, chain: Figure) -> Figure:
    """Power of the whole site when everything is busy: equipment, losses on the way to it, cooling and the rest. [W]"""
    whole = product(space.it_load_w, space.pue)
    if whole.value is None or space.it_load_w.value is None:
        return whole
    over = whole.value - space.it_load_w.value
    lost = min(space.it_load_w.value * (1.0 / (chain.value or 1.0) - 1.0), over)
    return whole._replace(
        parts=(Part("equipment", space.it_load_w.value), Part("chain_loss", lost), Part("cooling_power", over - lost))
    )


def _counted(count: float) -> int | None:
    """A count of circuits; None where a circuit carries next to nothing."""
    return int(count) if count <= _MOST_CIRCUITS else None


def _sum(counts: Sequence[int | None]) -> int | None:
    known = [count for count in counts if count is not None]
    return sum(known) if len(known) == len(counts) else None
