"""The network between the servers of a scenario: switches by tier, cables, transceivers, and what they draw.

Servers whose network cards have the same speed share one fabric. Counts follow `network.rail_fabric`, which reproduces
the published reference architectures; which parts they are is chosen from the catalog. What a part costs is for `cost`.
"""

from collections.abc import Sequence
from statistics import median

import numpy as np

from gpuplanner.catalog.load import Catalog
from gpuplanner.catalog.schema import Optic, Switch
from gpuplanner.model import hardware, network
from gpuplanner.model.bands import between, scaled, total
from gpuplanner.model.plan import Scenario
from gpuplanner.model.results import FabricPart, FabricResult, Figure, exact
from gpuplanner.model.switches import choose_switch, slowdown

# Up to so many racks, passive copper reaches from the servers to their switch.
_RACKS_WITHIN_COPPER = 2
# The keys of parts that stand in racks.
SWITCHES = ("switch", "leaf", "spine", "core")
_FAST_BITS = 100e9
# Half-width of a switch's power where it follows from others of its speed.
_POWER_LOW, _POWER_HIGH = 0.6, 1.7
_COPPER = "Passive DAC (any speed)"


def fabrics(
    scenario: Scenario, hardwares: Sequence[hardware.Hardware], racks: int, catalog: Catalog
) -> tuple[FabricResult, ...]:
    """The fabrics of a scenario in our own room, one for each speed of network card, fastest first.

    One server alone needs none, and rented servers bring their own.
    """
    by_speed: dict[float, list[int]] = {}
    for i, group in enumerate(scenario.groups):
        if group.condition != "rented" and hardwares[i].nics_per_server > 0:
            by_speed.setdefault(hardwares[i].nic_bits_s, []).append(i)
    found = []
    for bits_s, groups in sorted(by_speed.items(), reverse=True):
        servers = sum(scenario.groups[i].servers for i in groups)
        if servers > 1:
            nics = sum(scenario.groups[i].servers * hardwares[i].nics_per_server for i in groups)
            bring = all(_brings_nics(hardwares[i]) for i in groups)
            found.append(
                _fabric(
                    tuple(groups),
                    hardwares[groups[0]].fabric,
                    bits_s,
                    servers,
                    nics,
                    bring,
                    scenario.network.oversubscription,
                    None if scenario.network.rails == "auto" else scenario.network.rails,
                    racks,
                    catalog,
                )
            )
    return tuple(found)


def _brings_nics(hard: hardware.Hardware) -> bool:
    """Whether the price of a server covers its network cards: its record lists them, or its class comes with them."""
    listed = hard.server is not None and any(slot.role == "compute" for slot in hard.server.nics)
    return listed or hard.server_class in hardware.CLASSES_WITH_NICS


def _fabric(
    groups: tuple[int, ...],
    kind: str,
    bits_s: float,
    servers: int,
    nics: int,
    brings_nics: bool,
    oversubscription: float,
    rails: int | None,
    racks: int,
    catalog: Catalog,
) -> FabricResult:
    switch, radix = choose_switch(kind, bits_s, nics, catalog)
    per_server = int(np.ceil(nics / servers))
    count = network.rail_fabric(1.0, servers, per_server, per_server, radix, oversubscription=oversubscription)
    leaf, spine, core = (int(tier) for tier in (count.leaf_switches, count.spine_switches, count.core_switches))
    single = bool(count.single_switch)
    between_switches = int(count.cables_leaf_spine) + int(count.cables_spine_core)
    near = racks <= _RACKS_WITHIN_COPPER
    optical = between_switches + (0 if near else nics)
    copper = nics + between_switches - optical

    each = switch_power(switch, radix, bits_s, catalog)
    name = switch.name if switch is not None else ""
    names = ("switch",) if single else ("leaf", "spine", "core")
    parts = [
        FabricPart(key, name, bits_s, number, scaled(each, float(number)))
        for key, number in zip(names, (1,) if single else (leaf, spine, core), strict=True)
        if number
    ]
    if not brings_nics:
        parts.append(FabricPart("nic", "", bits_s, nics, exact(0.0, "known")))
    if copper:
        parts.append(FabricPart("copper", _COPPER, bits_s, copper, exact(0.0, "known")))
    if optical:
        optic = transceiver(bits_s, catalog)
        end = _of_module(optic, bits_s)
        parts.append(
            FabricPart("transceiver", optic.name if optic is not None else "", bits_s, 2 * optical,
                       scaled(end, 2.0 * optical))
        )  # fmt: skip
        parts.append(FabricPart("fibre", "", bits_s, optical, exact(0.0, "known")))
    limit = network.fat_tree_limit(radix).endpoints_3_tiers
    return FabricResult(
        groups, kind, bits_s, servers, nics, name, int(radix), single, leaf, spine, core,
        nics, int(count.cables_leaf_spine), int(count.cables_spine_core),
        nics + 2 * between_switches, (1 if single else leaf + spine + core) * int(radix),
        oversubscription, bool(nics > limit), tuple(parts), total([part.power_w for part in parts]),
        between(slowdown(kind, bits_s, servers, per_server, rails, oversubscription, catalog), 1.0,
                1.0 if single else oversubscription, "predicted"),
        int(count.downlinks_per_leaf), int(count.uplinks_per_leaf),
    )  # fmt: skip


def switch_power(switch: Switch | None, radix: float, bits_s: float, catalog: Catalog) -> Figure:
    """Power of one switch under load: published, or by its throughput from others of its speed. [W]

    Without transceivers. A published typical figure is taken as it stands; the most is its upper bound.
    """
    if switch is not None and switch.power_w is not None:
        typical = switch.power_w.value
        most = switch.power_max_w.value if switch.power_max_w is not None else 1.3 * typical
        return between(typical, 0.9 * typical, max(most, typical), "known")
    fast = bits_s >= _FAST_BITS
    per_bit = [
        one.power_w.value / (one.ports * one.port_bits_s)
        for one in catalog.switches.values()
        if one.power_w is not None and one.ports and one.port_bits_s and (one.port_bits_s >= _FAST_BITS) == fast
    ]
    watts = median(per_bit) * radix * bits_s if per_bit else 0.0
    return between(watts, _POWER_LOW * watts, _POWER_HIGH * watts, "assumed")


def transceiver(bits_s: float, catalog: Catalog) -> Optic | None:
    """The transceiver for links of a speed: one of that speed, else of the next higher, else None."""
    modules = [
        one
        for one in catalog.optics.values()
        if one.port_bits_s and one.port_bits_s >= bits_s and _module_power(one) is not None
    ]
    return min(modules, key=lambda one: (one.port_bits_s or 0.0, one.ports, one.name), default=None)


def _module_power(optic: Optic) -> float | None:
    fact = optic.power_max_w or optic.power_w
    return None if fact is None else fact.value / optic.ports


def _of_module(optic: Optic | None, bits_s: float) -> Figure:
    """Power of one end of an optical link. [W]"""
    most = None if optic is None else _module_power(optic)
    if most is None:
        # About 22 W a Tbit/s, as the modules of the catalog draw at 200 to 400 Gbit/s.
        watts = 22e-12 * bits_s
        return between(watts, 0.6 * watts, 1.4 * watts, "assumed")
    return between(0.85 * most, 0.6 * most, most, "assumed")
