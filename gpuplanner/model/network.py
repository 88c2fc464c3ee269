"""Fabrics between servers, and the time that GPUs take to exchange data over links and networks.

Plain functions of floats or arrays; bytes, seconds and bytes/s in one direction. Counts come back as whole floats.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gpuplanner.model.facility import units_to_cover
from gpuplanner.units import BITS_PER_BYTE

Quantity = float | NDArray[np.float64]
Answer = bool | np.bool_ | NDArray[np.bool_]

# How often a collective passes the buffer round: an all-reduce is a reduce-scatter and an all-gather.
PASSES = {"all_reduce": 2.0, "all_gather": 1.0, "reduce_scatter": 1.0}


class FatTreeLimit(NamedTuple):
    """Most endpoints of a non-blocking fat tree."""

    endpoints_2_tiers: Quantity
    endpoints_3_tiers: Quantity


class FatTree(NamedTuple):
    """Switches of a non-blocking tree of two tiers, or one switch."""

    single_switch: Answer
    leaf_switches: Quantity
    spine_switches_by_ports: Quantity


class RailFabric(NamedTuple):
    """Switches and cables of a rail-aligned fabric. With a single switch all leaf, spine and core counts are 0."""

    nodes: Quantity
    gpus: Quantity
    rails: Quantity
    leaf_switches: Quantity
    spine_switches: Quantity
    core_switches: Quantity
    downlinks_per_leaf: Quantity
    uplinks_per_leaf: Quantity
    cables_node_leaf: Quantity
    cables_node_leaf_and_manager: Quantity
    cables_leaf_spine: Quantity
    cables_spine_core: Quantity
    single_switch: Answer
    ports_used: Quantity

    @property
    def switches(self) -> Quantity:
        """All switches to buy."""
        return np.where(self.single_switch, 1.0, self.leaf_switches + self.spine_switches + self.core_switches)


class BusBandwidth(NamedTuple):
    """Bus bandwidth of an all-reduce [bytes/s] and the factors between algorithm and bus bandwidth."""

    bus_bytes_s: Quantity
    factor_all_reduce: Quantity
    factor_all_gather: Quantity


class CollectiveLink(NamedTuple):
    """How NCCL gets on with the links inside one server.

    `base_latency_s` starts a collective, `step_latency_s` is one hop of it; `ring_efficiency` is the share of the
    link's one-way rate that a long ring reaches, `multicast_efficiency` that of reduction inside the switch
    (0 where there is none).
    """

    base_latency_s: float
    step_latency_s: float
    ring_efficiency: float
    multicast_efficiency: float


# Latencies: a straight line through the start times of NCCL collectives at 2, 4 and 8 GPUs that kernel timing tables
# give (A100 12, 16, 24 µs; H100 7, 11, 18; B200 10, 16, 27; L40S over PCIe 7.5, 12, 23), within 0.6 µs of each.
# Ring efficiencies: A100 from the same tables; Hopper and Blackwell from single runs with in-switch reduction off.
# Multicast efficiencies: NCCL's own factors for in-switch reduction (0.85 Hopper, 0.74 Blackwell) times 0.85, the one
# constant fitted here, to eight-GPU runs of 8 GiB on H100 and B200; 5 % either way.
COLLECTIVE_LINKS: dict[str, CollectiveLink] = {
    "nvlink_ampere": CollectiveLink(10.0e-6, 1.0e-6, 0.82, 0.0),
    "nvlink_hopper": CollectiveLink(5.2e-6, 0.92e-6, 0.86, 0.72),
    "nvlink_blackwell": CollectiveLink(7.2e-6, 1.41e-6, 0.80, 0.63),
    # Of a pair of cards below one switch or root complex; for more cards, and without peer-to-peer, see
    # `pcie_efficiency`.
    "pcie": CollectiveLink(5.0e-6, 1.28e-6, 0.56, 0.0),
}

# NCCL's latency of one network hop with its bulk protocol on InfiniBand or RoCE.
NETWORK_LATENCY_S = 14e-6
# The same on AWS EFA of P5en and P6: the plug-in reports 35 µs, and NCCL counts it once to send and once to flush.
EFA_NETWORK_LATENCY_S = 14e-6 + 2 * 35e-6
# 46–48 GB/s of bus bandwidth for each 50 GB/s of NIC (NCCL maintainers, InfiniBand NDR), latency apart.
NETWORK_EFFICIENCY = 0.96

# PCIe paths get worse with every card that shares them: mildly where cards copy to each other below a switch, by
# 1/n^.79 where all traffic passes through the host's memory, where a pair also reaches a fifth less: 0.45, 0.26 and
# 0.15 at 2, 4 and 8 cards. Hosts differ by a factor of two and more.
_PCIE_DECAY, _PCIE_DECAY_NO_PEER = 0.3, 0.79
_NO_PEER_SHARE = 0.8


def fat_tree_limit(switch_radix: Quantity) -> FatTreeLimit:
    """Most endpoints of a non-blocking fat tree of switches with `switch_radix` (even) ports: r²/2 and r³/4."""
    radix = np.asarray(switch_radix, float)
    return FatTreeLimit(radix**2 / 2.0, radix**3 / 4.0)


def fat_tree(endpoints: Quantity, switch_radix: Quantity) -> FatTree:
    """Switches of a non-blocking tree for `endpoints`: one switch if it has the ports, else leaves and spines.

    Valid up to the two-tier limit r²/2. The spines are those that the ports ask for; a count that spreads a leaf's
    uplinks evenly may be higher (see `rail_fabric`).
    """
    radix = np.asarray(switch_radix, float)
    single = endpoints <= radix
    leaves = units_to_cover(endpoints / (radix / 2.0))
    spines = units_to_cover(leaves / 2.0)
    return FatTree(single, np.where(single, 0.0, leaves), np.where(single, 0.0, spines))


def rail_fabric(
    scalable_units: Quantity,
    nodes_per_unit: Quantity,
    nics_per_node: Quantity,
    gpus_per_node: Quantity,
    switch_radix: Quantity,
    displaced_nodes: Quantity = 0.0,
    manager_links: Quantity = 0.0,
    rails_isolated: Answer = False,
    oversubscription: Quantity = 1.0,
) -> RailFabric:
    """Switches and cables of a rail-aligned fabric of equal scalable units, non-blocking unless stated otherwise.

    A leaf has half of its ports down and half up. From so many nodes as a leaf has ports down on, each NIC position of
    a node (a rail) has leaves of its own; fewer nodes share leaves between rails. Leaves and spines are sized for all
    units.

    Parameters
    ----------
    scalable_units, nodes_per_unit, nics_per_node, gpus_per_node : float or array
        What is connected.
    switch_radix : float or array
        Ports of a switch at the NIC's speed; even.
    displaced_nodes : float or array
        Nodes whose place the fabric manager takes: they lower nodes, GPUs and node cables, not the switches.
    manager_links : float or array
        Cables of the fabric manager.
    rails_isolated : bool or array
        Every rail has spines of its own and no way to the other rails: two tiers at any size, half as many spines
        as leaves.
    oversubscription : float or array
        Bandwidth down ÷ up of a leaf, at least 1.

    Returns
    -------
    RailFabric
        `ports_used` counts the ports in use on all switches.

    Notes
    -----
    Two tiers reach r²/2 endpoints, three r³/4; beyond that the figures mean nothing. Spines are raised until they
    divide a leaf's uplinks evenly; three tiers have as many spines as leaves and half as many cores.

    References
    ----------
    .. [1] NVIDIA DGX SuperPOD reference architectures: H100 (RA-11333-001 V11), B200, B300.
    """
    half = np.floor(np.asarray(switch_radix, float) / 2.0)
    over = np.asarray(oversubscription, float)
    up = np.maximum(units_to_cover(2.0 * half / (1.0 + over)), 1.0)
    down = 2.0 * half - up
    sized_nodes = scalable_units * np.asarray(nodes_per_unit, float)
    endpoints = sized_nodes * nics_per_node
    nodes = sized_nodes - displaced_nodes
    node_cables = nodes * nics_per_node
    isolated = np.asarray(rails_isolated, bool)

    single = ~isolated & (np.maximum(endpoints, node_cables + manager_links) <= switch_radix)
    rails_own_leaves = isolated | (sized_nodes >= down)
    leaves = np.where(
        rails_own_leaves, nics_per_node * units_to_cover(sized_nodes / down), units_to_cover(endpoints / down)
    )
    two_tiers = isolated | ((endpoints <= 2.0 * half * down) & (leaves <= 2.0 * half))
    spines_by_ports = units_to_cover(leaves * up / (2.0 * half))
    spines = np.where(
        isolated,
        spines_by_ports,
        np.where(two_tiers, _smallest_divisor_from(spines_by_ports, up), units_to_cover(leaves * up / half)),
    )
    cores = np.where(two_tiers, 0.0, units_to_cover(spines / 2.0))

    built = np.where(single, 0.0, 1.0)
    leaf_spine = built * leaves * up
    spine_core = built * np.where(two_tiers, 0.0, spines * half)
    return RailFabric(
        nodes=nodes,
        gpus=nodes * gpus_per_node,
        rails=np.asarray(nics_per_node, float) + 0.0 * nodes,
        leaf_switches=built * leaves,
        spine_switches=built * spines,
        core_switches=built * cores,
        downlinks_per_leaf=built * down,
        uplinks_per_leaf=built * up,
        cables_node_leaf=node_cables,
        cables_node_leaf_and_manager=node_cables + manager_links,
        cables_leaf_spine=leaf_spine,
        cables_spine_core=spine_core,
        single_switch=single,
        ports_used=node_cables + manager_links + 2.0 * (leaf_spine + spine_core),
    )


def _smallest_divisor_from(least: Quantity, number: Quantity) -> Quantity:
    """The smallest divisor of `number` that is at least `least`; `number` itself where there is none."""
    divisor = np.asarray(number, float) + 0.0 * np.asarray(least, float)
    for candidate in range(int(np.max(number)), 0, -1):
        divisor = np.where((np.mod(number, candidate) == 0.0) & (candidate >= least), float(candidate), divisor)
    return divisor


def node_bandwidth(nics: Quantity, nic_bits_s: Quantity) -> Quantity:
    """Network bandwidth of a server in one direction. [bytes/s]"""
    return nics * np.asarray(nic_bits_s, float) / BITS_PER_BYTE


def bus_bandwidth(ranks: Quantity, algorithm_bytes_s: Quantity) -> BusBandwidth:
    """Bus bandwidth of an all-reduce from its algorithm bandwidth (buffer ÷ time).

    References
    ----------
    .. [1] NVIDIA nccl-tests, doc/PERFORMANCE.md: all-reduce 2(n−1)/n, all-gather and reduce-scatter (n−1)/n.
    """
    all_gather = ring_share(ranks)
    all_reduce = 2.0 * all_gather
    return BusBandwidth(algorithm_bytes_s * all_reduce, all_reduce, all_gather)


def ring_share(ranks: Quantity) -> Quantity:
    """Share of the buffer that each of `ranks` sends in one pass of a ring, (n−1)/n."""
    return 1.0 - 1.0 / np.asarray(ranks, float)


def transfer_time(message_bytes: Quantity, ranks: Quantity, bus_bytes_s: Quantity) -> Quantity:
    """Time of an all-reduce at a known bus bandwidth, latency included in that bandwidth. [s]"""
    return 2.0 * ring_share(ranks) * message_bytes / np.asarray(bus_bytes_s, float)


def all_reduce_time(
    message_bytes: Quantity, ranks: Quantity, alpha_s: Quantity, efficiency: Quantity, link_bytes_s: Quantity
) -> Quantity:
    """Time of an all-reduce between the GPUs of a tensor-parallel group. [s]

    `alpha + 2(t−1)/t · V / (e·BW)`; nothing for a group of one.

    Parameters
    ----------
    message_bytes : float or array
        Size of the buffer that every rank holds. [bytes]
    ranks : float or array
        GPUs of the group, at least 1.
    alpha_s : float or array
        Latency of one call. [s]
    efficiency : float or array
        Share of the link that the call reaches; above 1 is possible with reduction inside the switch.
    link_bytes_s : float or array
        One-way bandwidth of one GPU's link. [bytes/s]

    Notes
    -----
    Inside captured GPU graphs 3 to 25 % off kernel timing tables; over PCIe without peer-to-peer hosts differ tenfold.
    """
    several = np.asarray(ranks, float) > 1.0
    moved = 2.0 * ring_share(ranks) * message_bytes / (np.asarray(efficiency, float) * link_bytes_s)
    return np.where(several, alpha_s + moved, 0.0)


def pcie_efficiency(
    ranks: Quantity, peer_to_peer: Answer, pair_efficiency: Quantity = COLLECTIVE_LINKS["pcie"].ring_efficiency
) -> Quantity:
    """Share of the PCIe link that a ring of `ranks` cards reaches, with or without direct copies between cards.

    `pair_efficiency` is that of two cards with peer-to-peer. Through host memory (and across sockets) the cards share
    one path; the law is a judgement on a few measured hosts that lie up to a factor of two either way.
    """
    peer = np.asarray(peer_to_peer, bool)
    decay = np.where(peer, _PCIE_DECAY, _PCIE_DECAY_NO_PEER)
    return pair_efficiency * (2.0 / np.maximum(ranks, 2.0)) ** decay * np.where(peer, 1.0, _NO_PEER_SHARE)


def oversubscription_slowdown(servers: Quantity, leaf_servers: Quantity, oversubscription: Quantity) -> Quantity:
    """How many times longer traffic between servers takes behind leaves with fewer ports up than down; at least 1.

    Only what leaves a leaf shares the ports up. A server that is placed at random has its next one in the ring (or
    the receiver of an exchange) in another leaf with the chance (n−m)/(n−1).

    Parameters
    ----------
    servers : float or array
        Servers that work together, at least 1.
    leaf_servers : float or array
        Servers whose ports of one rail share a leaf.
    oversubscription : float or array
        Ports down ÷ ports up of a leaf, at least 1.

    Notes
    -----
    Servers in the order of their leaves pass a ring on to another leaf once a leaf and lose nothing; with every
    neighbour in another leaf they lose the whole ratio. The truth lies between 1 and `oversubscription`.
    """
    others = np.maximum(np.asarray(servers, float) - 1.0, 1.0)
    elsewhere = np.clip((servers - np.asarray(leaf_servers, float)) / others, 0.0, 1.0)
    return np.maximum(1.0, oversubscription * elsewhere)


def collective_time(
    message_bytes: Quantity,
    ranks: Quantity,
    link_bytes_s: Quantity,
    *,
    base_latency_s: Quantity,
    step_latency_s: Quantity,
    ring_efficiency: Quantity,
    multicast_efficiency: Quantity = 0.0,
    nodes: Quantity = 1.0,
    node_network_bytes_s: Quantity = np.inf,
    network_latency_s: Quantity = NETWORK_LATENCY_S,
    passes: Quantity = 2.0,
) -> Quantity:
    """Time of an NCCL collective, launched on its own. [s]

    Three parts: the latency of the hops, the transfer at the slowest of links and network, and the filling of the
    pipeline, `2·√(latency·transfer)`: chunks that are best for a message are neither so large that the ring waits
    for the first one nor so small that latency rules.

    Parameters
    ----------
    message_bytes : float or array
        Size of the whole buffer (for an all-gather: of the result). [bytes]
    ranks : float or array
        GPUs, over all nodes.
    link_bytes_s : float or array
        One-way bandwidth of one GPU's links inside the node. [bytes/s]
    base_latency_s, step_latency_s, ring_efficiency, multicast_efficiency : float or array
        Of a `CollectiveLink`; use `_asdict()`. `multicast_efficiency` 0 is a plain ring. [s], [1]
    nodes : float or array
        Servers; GPUs that share an NVLink domain across trays are one.
    node_network_bytes_s : float or array
        One-way network bandwidth of a server, over all its NICs. [bytes/s]
    network_latency_s : float or array
        One hop between servers. [s]
    passes : float or array
        2 for an all-reduce, 1 for an all-gather or reduce-scatter; see `PASSES`.

    Notes
    -----
    Reduction inside the switch sends each buffer up once and down once, so its bus bandwidth beats a ring's by up to
    2(g−1)/(g+1) for g GPUs; it helps an all-reduce inside one node only. Nodes are visited as a tree, log2(nodes)
    hops each way.

    Against 26 published runs (1 MiB to 16 GiB, 4 to 32 GPUs, 21 of them on B200): median error 4 %, 9 of 10 within
    14 %, worst 47 % (4 MiB on eight B200, where the published curve dips) and 42 % (cards behind PCIe whose
    peer-to-peer state is not stated). The form and the multicast efficiencies were chosen with these runs in sight,
    so expect twice as much elsewhere.

    References
    ----------
    .. [1] NVIDIA NCCL, src/graph/tuning.cc: latencies of hops and networks, in-switch efficiencies.
    .. [2] aws-ofi-nccl, platform-aws: network latency of EFA.
    """
    per_node = np.asarray(ranks, float) / nodes
    several_nodes = np.asarray(nodes, float) > 1.0
    ring_bytes_s = ring_efficiency * np.asarray(link_bytes_s, float)
    multicast_gain = 2.0 * (per_node - 1.0) / (per_node + 1.0)
    in_switch = ~several_nodes & (np.asarray(passes, float) > 1.0)
    multicast_bytes_s = np.where(in_switch, multicast_efficiency * multicast_gain * link_bytes_s, 0.0)
    in_node_bytes_s = np.where(per_node > 1.0, np.maximum(ring_bytes_s, multicast_bytes_s), np.inf)
    network_bytes_s = np.where(several_nodes, NETWORK_EFFICIENCY * np.asarray(node_network_bytes_s, float), np.inf)

    transfer_s = passes * ring_share(ranks) * message_bytes / np.minimum(in_node_bytes_s, network_bytes_s)
    in_node_latency_s = base_latency_s + step_latency_s * passes * (per_node - 1.0)
    network_s = passes * np.log2(np.asarray(nodes, float)) * network_latency_s
    total_s = in_node_latency_s + network_s + transfer_s + 2.0 * np.sqrt(in_node_latency_s * transfer_s)
    return np.where(np.asarray(ranks, float) > 1.0, total_s, 0.0)


def collective_bus_bandwidth(
    message_bytes: Quantity,
    ranks: Quantity,
    link_bytes_s: Quantity,
    *,
    base_latency_s: Quantity,
    step_latency_s: Quantity,
    ring_efficiency: Quantity,
    multicast_efficiency: Quantity = 0.0,
    nodes: Quantity = 1.0,
    node_network_bytes_s: Quantity = np.inf,
    network_latency_s: Quantity = NETWORK_LATENCY_S,
    passes: Quantity = 2.0,
) -> Quantity:
    """Bus bandwidth that nccl-tests would print for a collective of at least two ranks. [bytes/s]

    The bytes of a ring, `passes·(n−1)/n · buffer`, divided by `collective_time`; parameters are the same.
    """
    time_s = collective_time(
        message_bytes,
        ranks,
        link_bytes_s,
        base_latency_s=base_latency_s,
        step_latency_s=step_latency_s,
        ring_efficiency=ring_efficiency,
        multicast_efficiency=multicast_efficiency,
        nodes=nodes,
        node_network_bytes_s=node_network_bytes_s,
        network_latency_s=network_latency_s,
        passes=passes,
    )
    return passes * ring_share(ranks) * message_bytes / time_s
