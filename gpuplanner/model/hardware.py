"""What a group of servers is made of: devices, links and network shares, with what is not stated filled in by class."""

from typing import NamedTuple

import numpy as np

from gpuplanner.catalog.load import Catalog
from gpuplanner.catalog.schema import Cpu, Gpu, Server
from gpuplanner.model import case as cases
from gpuplanner.model import power, switches
from gpuplanner.model.bands import between
from gpuplanner.model.plan import Group, Network
from gpuplanner.model.results import Figure

# Rate of one network card where neither the plan nor the server says. [bit/s]
_NIC_BITS = {
    "hgx_a100": 200e9,
    "hgx_h100_h200": 400e9,
    "hgx_b200": 400e9,
    "hgx_b300": 800e9,
    "oam_8": 400e9,
    "rack_scale": 400e9,
    "sxm_4gpu": 200e9,
}
# Boxes that come with the network ports that the rules below count on.
CLASSES_WITH_NICS = frozenset(
    {"hgx_a100", "hgx_h100_h200", "hgx_b200", "hgx_b300", "rack_scale", "workstation_2gpu", "mac"}
)
# The network port that a desk machine has on its board.
_DESK_NIC_BITS = {"workstation_2gpu": 10e9, "mac": 10e9}
_OTHER_NIC_BITS = 25e9
# How much of a link a fabric carries: InfiniBand moves its nominal rate, Ethernet without RDMA spends host time on
# every packet.
_FABRIC_SHARE = {"infiniband": 1.0, "roce": 0.95, "ethernet": 0.5}
_HOST_MEMORY_BYTES = 512e9
_SERVING_SHARE_OF_TDP = 0.93
# What a card that is hardly fed still does: no work ever stops.
_SLOWEST = 0.02
_BUS_CARDS = ("PCIe",)


_CONSUMER = ("GeForce", "Radeon RX", "Arc A", "Arc B")
_WORKSTATION = ("RTX", "Radeon PRO", "Radeon AI PRO", "Arc Pro", "Quadro")


def is_consumer(gpu: Gpu) -> bool:
    """Whether a card is sold for games: its price ages, and it wears, in a way of its own."""
    return gpu.name.startswith(_CONSUMER)


def is_workstation(gpu: Gpu) -> bool:
    """Whether a card is sold for workstations."""
    return gpu.name.startswith(_WORKSTATION)


class Hardware(NamedTuple):
    """One group, resolved. Devices are what software sees; speeds are one direction. [B/s]"""

    gpu: Gpu | None
    server: Server | None
    cpu: Cpu | None
    server_class: str
    sockets: int
    devices: int
    devices_per_server: int
    link_domain: int
    link_one_way: float
    peer_to_peer: bool
    network_per_device: float
    nics_per_server: int
    nic_bits_s: float
    fabric: str
    memory_bandwidth: float
    host_memory: float
    # Cap of one device; None = the card's own limit. [W]
    power_cap_w: float | None


def server_class(group: Group, gpu: Gpu | None, server: Server | None) -> str:
    """The row of `assumptions` that speaks for a chassis: its own, the stated one, or one that suits the card."""
    if group.chassis_class != "auto":
        return group.chassis_class
    if server is not None:
        return server.server_class
    if gpu is None:
        return "cpu_only_2s"
    count, form, name = group.gpus_per_server, gpu.form_factor, gpu.architecture
    if form == "SoC":
        return "mac" if gpu.vendor == "Apple" else "workstation_2gpu"
    if form == "superchip":
        return "superchip_1u" if "Hopper" in name else "rack_scale"
    if form == "OAM" or form.startswith("APU"):
        return "oam_8"
    if form == "SXM2":
        return "v100_sxm2_8gpu"
    if form == "SXM4":
        return "sxm_4gpu" if count <= 4 else "hgx_a100"
    if form == "SXM5":
        return "sxm_4gpu" if count <= 4 else "hgx_h100_h200"
    if form == "SXM6":
        return "hgx_b300" if "Ultra" in name else "hgx_b200"
    if count <= 2:
        return "workstation_2gpu"
    if gpu.name.startswith("GeForce") and count > 4:
        return "consumer_8gpu"
    return "pcie_4gpu" if count <= 4 else "pcie_8gpu"


def resolve(group: Group, network: Network, catalog: Catalog) -> Hardware:
    """Fill in what the group leaves open."""
    gpu = catalog.find("gpu", group.gpu) if group.gpu else None
    server = catalog.find("server", group.server) if group.server else None
    kind = server_class(group, gpu, server)
    cpu_name = group.cpu if group.cpu != "auto" else (server.cpu if server is not None and server.cpu else "")
    cpu = catalog.find("cpu", cpu_name) if cpu_name else None
    sockets = (
        group.sockets
        if group.sockets != "auto"
        else (server.cpu_count if server is not None and server.cpu_count else 2)
    )
    per_card = gpu.gpus_per_card if gpu is not None else 1
    per_server = group.gpus_per_server * per_card if gpu is not None else 0

    link, domain, peer = 0.0, 1, True
    if gpu is not None:
        # Cards in slots need a bridge that has to be bought: only where the plan says so.
        bridged = gpu.form_factor not in _BUS_CARDS or network.in_server == "nvlink"
        if gpu.link_one_way_bytes_s is not None and bridged and not network.in_server.startswith("pcie"):
            link, domain = gpu.link_one_way_bytes_s.value, gpu.link_domain
        peer = cases.reaches_peers(gpu, link > 0.0) and network.in_server != "pcie-no-p2p"
    compute_nics = [slot for slot in (server.nics if server is not None else ()) if slot.role == "compute"]
    if network.nics_per_server != "auto":
        nics = network.nics_per_server
    elif compute_nics:
        nics = sum(slot.count for slot in compute_nics)
    else:
        nics = max(per_server, 1) if kind in _NIC_BITS else 1
    if network.nic_bits_s != "auto":
        bits = network.nic_bits_s
    elif compute_nics:
        bits = compute_nics[0].speed_bits_s
    else:
        bits = _NIC_BITS.get(kind) or _DESK_NIC_BITS.get(kind, _OTHER_NIC_BITS)
    fabric = network.fabric if network.fabric != "auto" else ("infiniband" if bits >= 200e9 else "ethernet")
    rails = None if network.rails == "auto" else network.rails
    behind_leaves = switches.slowdown(fabric, bits, group.servers, nics, rails, network.oversubscription, catalog)
    share = _FABRIC_SHARE[fabric] / behind_leaves
    per_device = nics * bits / 8.0 * share / max(per_server, 1)
    bandwidth = cpu.memory_bandwidth_bytes_s.value * sockets if cpu is not None else 0.0
    if group.memory_bytes != "auto":
        memory = float(group.memory_bytes)
    elif server is not None and server.memory_bytes is not None:
        memory = server.memory_bytes.value
    else:
        memory = _HOST_MEMORY_BYTES
    cap = None
    if group.power_cap_w is not None and gpu is not None:
        # A driver takes no limit below the card's lowest.
        cap = max(group.power_cap_w, power.lowest_limit(gpu, catalog)) / per_card
    return Hardware(
        gpu,
        server,
        cpu,
        kind,
        sockets,
        per_server * group.servers,
        per_server,
        domain,
        link,
        peer,
        max(per_device, 1.0),
        nics,
        bits,
        fabric,
        bandwidth,
        memory,
        cap,
    )


# One resolved group for all that ask about it.
resolved = cases.IdentityCache(resolve, limit=512)


def card_columns(hard: Hardware, catalog: Catalog, decode_bound: bool) -> np.ndarray:
    """The card's columns with the links of this group, slowed down by a power cap.

    Under a cap compute follows the power law; memory keeps its speed until the cap reaches what decode draws.
    """
    assert hard.gpu is not None
    card: np.ndarray = cases.gpu_columns(hard.gpu, catalog.calibration).copy()
    at = cases.GpuColumns._fields.index
    card[at("link")], card[at("link_domain")], card[at("peer_to_peer")] = (
        hard.link_one_way,
        hard.link_domain,
        float(hard.peer_to_peer),
    )
    tdp = card[at("tdp")]
    if hard.power_cap_w is not None and hard.power_cap_w < tdp:
        idle = (power.idle_power(hard.gpu, catalog).value or 0.0) / hard.gpu.gpus_per_card
        # Serving draws less than the limit most of the time: the range that a cap cuts into ends at what it draws at
        # its busiest.
        full = tdp if not decode_bound else _SERVING_SHARE_OF_TDP * tdp
        share = (hard.power_cap_w - idle) / max(full - idle, 1.0)
        card[at("sustained")] *= max(float(power.power_cap_speed(share, True)), _SLOWEST)
        card[at("bandwidth")] *= max(float(power.power_cap_speed(share, False)), _SLOWEST)
    return card


def assumed(catalog: Catalog, key: str, applies_to: str, scale: float = 1.0) -> Figure:
    """A class value as a figure, marked assumed."""
    row = catalog.assumption(key, applies_to)
    return between(row.value * scale, row.low * scale, row.high * scale, "assumed")
