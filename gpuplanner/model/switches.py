"""Which switch joins the network cards of a fabric, and how many servers its leaves keep among themselves."""

from gpuplanner.catalog.load import Catalog
from gpuplanner.catalog.schema import Switch
from gpuplanner.model import network

# A switch that no entry describes: the usual radix of one chip.
_USUAL_RADIX = 64


def choose_switch(kind: str, bits_s: float, nics: int, catalog: Catalog) -> tuple[Switch | None, float]:
    """The switch for a fabric and its ports at the speed of the network cards.

    Of switches of the cards' own speed (else of twice the speed, where a port serves two) the smallest that joins all
    cards by itself, else the largest. Of equal ones the switch with a published power, then by name.
    """
    candidates = []
    for switch in catalog.switches.values():
        speed = switch.port_bits_s
        if not switch.ports or not speed or not _speaks(switch.technology, kind) or speed < bits_s:
            continue
        ways = int(speed // bits_s)
        if ways <= 2:
            candidates.append((float(switch.ports * ways), ways, switch.power_w is None, switch.name, switch))
    if not candidates:
        return None, float(_USUAL_RADIX)
    ways = min(one[1] for one in candidates)
    candidates = [one for one in candidates if one[1] == ways]
    enough = [one for one in candidates if one[0] >= nics]
    if enough:
        chosen = min(enough, key=lambda one: one[:4])
    else:
        largest = max(one[0] for one in candidates)
        chosen = min((one for one in candidates if one[0] == largest), key=lambda one: one[1:4])
    return chosen[4], chosen[0]


def _speaks(technology: str, kind: str) -> bool:
    if kind == "infiniband":
        return technology.startswith("InfiniBand")
    return technology.startswith("Ethernet")


def slowdown(
    kind: str, bits_s: float, servers: int, nics: int, rails: int | None, oversubscription: float, catalog: Catalog
) -> float:
    """How many times longer traffic between `servers` takes because leaves have fewer ports up than down.

    `nics` of one server; `rails` of them stand in leaves of their own (None = each does). One switch that joins all
    has no uplinks to share.
    """
    if oversubscription <= 1.0 or nics * servers == 0:
        return 1.0
    _switch, radix = choose_switch(kind, bits_s, nics * servers, catalog)
    if nics * servers <= radix:
        return 1.0
    down = float(
        network.rail_fabric(1.0, servers, nics, nics, radix, oversubscription=oversubscription).downlinks_per_leaf
    )
    leaf_servers = down * min(rails or nics, nics) / nics
    return float(network.oversubscription_slowdown(servers, leaf_servers, oversubscription))
