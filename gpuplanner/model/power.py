"""Power of cards and servers, and speed under a power cap."""

from typing import NamedTuple

import numpy as np

from gpuplanner.catalog.calibration import Calibration
from gpuplanner.catalog.load import Catalog
from gpuplanner.catalog.schema import Gpu, Server
from gpuplanner.model.bands import between, scaled, total
from gpuplanner.model.case import Columns
from gpuplanner.model.results import Figure, exact

# A card that trains is held at its limit nearly all the time: 0.93 of TDP reproduces server readings of 6.7 to 7.2 kW
# on 8 x H100.
TRAINING_SHARE_OF_TDP = 0.93
# Below this share of the dynamic range a cap bites linearly.
_CAP_KNEE = 0.6
_CAP_EXPONENT = 1 / 2.7
# Share of the dynamic range that does no work; where decode begins to fall, and its loss a unit of range before that.
_CAP_STATIC = 0.15
_CAP_DECODE_KNEE, _CAP_DECODE_LOSS = 0.37, 0.5
_LOWEST_LIMIT_SHARE = 0.4
# Share of TDP at idle where a card is of no class in `assumptions`.
_IDLE_SHARE = (0.10, 0.05, 0.20)
_LIQUID_COOLING = ("liquid", "immersion", "water")


def gpu_power(
    idle_w: Columns, tdp_w: Columns, memory_use: Columns, compute_use: Columns, calibration: Calibration
) -> Columns:
    """Power of a busy card from the share of time its memory is at work and the activity of its matrix units. [W]

    Valid for data-centre cards that serve; 10 % median error on runs of models left out.

    References
    ----------
    .. [1] Fitted on 314 runs of the ML.ENERGY benchmark, v3 (vLLM on H100 and B200).
    """
    load = (
        calibration.value("power/idle share")
        + calibration.value("power/memory") * np.asarray(memory_use, float)
        + calibration.value("power/compute") * np.asarray(compute_use, float)
    )
    return idle_w + (tdp_w - idle_w) * np.minimum(1.0, load)


def power_cap_speed(
    dynamic_share: Columns, compute_bound: bool | Columns = True, decode_share: float = 0.65
) -> Columns:
    """Speed that is left under a power cap; `dynamic_share` = (cap - idle) / (full - idle).

    Compute-bound work follows the power to 1/2.7 down to 0.6 of the dynamic range, then falls linearly to nothing at
    0.15: so much goes to memory and leakage before the cores turn. Memory-bound work keeps its speed until the cap
    reaches what decode draws (about 0.65 of TDP), loses little down to 0.37, then falls to the same point. Below half
    of TDP a factor of 1.4 either way.

    References
    ----------
    .. [1] Cap sweeps of the Zeus project on V100, A40 and RTX 3090 (V100 at half power keeps 63 %).
    """
    x = np.clip(np.asarray(dynamic_share, float), 0.0, 1.0)
    knee = _CAP_KNEE**_CAP_EXPONENT
    rest = np.maximum(x - _CAP_STATIC, 0.0)
    compute = np.where(x >= _CAP_KNEE, np.maximum(x, 1e-9) ** _CAP_EXPONENT, knee * rest / (_CAP_KNEE - _CAP_STATIC))
    gentle = 1.0 - _CAP_DECODE_LOSS * np.maximum(decode_share - x, 0.0)
    low = 1.0 - _CAP_DECODE_LOSS * (decode_share - _CAP_DECODE_KNEE)
    steep = low * rest / (_CAP_DECODE_KNEE - _CAP_STATIC)
    memory = np.where(x >= _CAP_DECODE_KNEE, gentle, steep)
    return np.where(compute_bound, compute, np.minimum(memory, 1.0))


# Board power by form where a maker publishes none: middle and range (judged).
_BOARD_POWER = {"SoC": (70.0, 25.0, 250.0), "OAM": (700.0, 450.0, 1000.0), "PCIe": (300.0, 180.0, 400.0)}


def board_power(gpu: Gpu, catalog: Catalog) -> Figure:
    """Most that a card draws: the maker's figure, its computer's, or what cards of its form draw. [W]"""
    if gpu.board_power_w is not None:
        return exact(gpu.board_power_w.value, "known")
    for server in catalog.servers.values():
        if server.gpu_options == (gpu.name,) and server.max_power_w is not None:
            return between(
                server.max_power_w.value, 0.6 * server.max_power_w.value, server.max_power_w.value, "assumed"
            )
    value, low, high = _BOARD_POWER.get(gpu.form_factor, _BOARD_POWER["PCIe"])
    if gpu.form_factor == "SoC" and gpu.memory_bandwidth_bytes_s is not None:
        # Larger chips of a family draw more, about with their memory bandwidth: 145 W at 400 GB/s, 295 W at 800 GB/s.
        value = 0.36e-9 * gpu.memory_bandwidth_bytes_s.value
        low, high = 0.4 * value, 1.6 * value
    return between(value, low, high, "assumed")


def lowest_limit(gpu: Gpu, catalog: Catalog) -> float:
    """Lowest limit that a card can be set to: the maker's, else two fifths of its power (judged). [W]"""
    if gpu.power_limit_min_w is not None:
        return gpu.power_limit_min_w.value
    return _LOWEST_LIMIT_SHARE * (board_power(gpu, catalog).value or 0.0)


def idle_class(gpu: Gpu) -> str:
    """The row of `assumptions` (card_idle_power) that speaks for a card whose idle power is not known."""
    memory, form = gpu.memory_type, gpu.form_factor
    if "unified" in memory or form == "SoC":
        return "unified memory SoC"
    if form == "superchip":
        return "HBM, superchip GPU part"
    if form == "OAM":
        return "HBM3/3e, AMD OAM" if gpu.vendor == "AMD" else "HBM2e, other OAM (Gaudi, Ascend)"
    if memory.startswith("HBM"):
        if form == "SXM6":
            return "HBM3e, SXM6"
        if form == "SXM5":
            return "HBM3/3e, SXM5"
        if form.startswith("SXM"):
            return "HBM2/2e, SXM"
        return "HBM2, AMD PCIe" if gpu.vendor == "AMD" else "HBM2/2e/3, PCIe"
    if memory.startswith("GDDR7"):
        return "GDDR7, active (GeForce 50, RTX PRO)" if "active" in gpu.cooling else "GDDR7, passive (RTX PRO Server)"
    if memory.startswith("GDDR5"):
        return "GDDR5/5X, passive"
    if gpu.vendor == "AMD":
        return "GDDR6, AMD Radeon"
    if "active" not in gpu.cooling:
        small = gpu.board_power_w is not None and gpu.board_power_w.value <= 100
        return "GDDR6, passive, up to 100 W" if small else "GDDR6, passive, 150-350 W"
    return (
        "GDDR6/6X, active (GeForce 20-40)"
        if gpu.name.startswith("GeForce")
        else "GDDR6 with ECC, active (RTX A, RTX Ada)"
    )


def idle_power(gpu: Gpu, catalog: Catalog) -> Figure:
    """Power of a card without a program on it; a class value where the catalog has none. [W]"""
    if gpu.idle_power_w is not None:
        return exact(gpu.idle_power_w.value, "known")
    row = catalog.assumption("card_idle_power", idle_class(gpu))
    return between(row.value, row.low, row.high, "assumed")


def context_power(gpu: Gpu, catalog: Catalog) -> float:
    """What a card draws more once a program holds it. [W]"""
    memory = gpu.memory_type
    kind = "HBM" if memory.startswith("HBM") else "GDDR6X/GDDR7" if memory.startswith(("GDDR6X", "GDDR7")) else "GDDR6"
    if "unified" in memory:
        return 0.0
    return catalog.assumption("card_context_power", kind).value


class ServerClass(NamedTuple):
    """Powers of a chassis without its cards. [W]"""

    base_w: Figure
    nameplate_w: Figure
    idle_with_cards_w: Figure | None


_CARDS_OF_A_RACK = 72
# Which row of `assumptions` speaks for a class that has none of its own.
_BASE_ROW = {
    "hgx_a100": "hgx_a100",
    "v100_sxm2_8gpu": "hgx_a100",
    "pcie_8gpu": "pcie_8gpu",
    "consumer_8gpu": "pcie_8gpu",
    "pcie_4gpu": "pcie_4gpu",
    "sxm_4gpu": "pcie_4gpu",
    "workstation_2gpu": "workstation_2gpu",
}
_IDLE_ROW = {
    "hgx_h100_h200": "hgx_h100_h200",
    "hgx_b200": "hgx_b200, air",
    "hgx_b300": "hgx_b200, air",
    "oam_8": "hgx_b200, air",
    "hgx_a100": "hgx_a100",
    "v100_sxm2_8gpu": "hgx_a100",
    "sxm_4gpu": "sxm_4gpu (A100)",
    "pcie_8gpu": "pcie_8gpu (A100, H100 PCIe)",
    "consumer_8gpu": "pcie_8gpu (A100, H100 PCIe)",
    "pcie_4gpu": "pcie_4gpu",
    "workstation_2gpu": "workstation_2gpu",
    "mac": "mac",
    "cpu_only_2s": "cpu_only_2s",
}


def is_liquid(cooling: str) -> bool:
    """Whether a way of cooling takes the heat of the cards away in liquid (no server fans at full speed)."""
    return any(word in cooling for word in _LIQUID_COOLING) and "air" not in cooling


def is_liquid_only(cooling: str) -> bool:
    """Whether a server cannot do without a loop of liquid, whatever else its air takes away."""
    return cooling == "liquid + air" or is_liquid(cooling)


def is_air_only(cooling: str) -> bool:
    """Whether a way of cooling gives all heat to the air; a closed loop inside the server does."""
    return "closed" in cooling or not any(word in cooling for word in _LIQUID_COOLING)


def _assumed(catalog: Catalog, key: str, row: str) -> Figure:
    assumption = catalog.assumption(key, row)
    return between(assumption.value, assumption.low, assumption.high, "assumed")


def chassis_power(
    catalog: Catalog, server_class: str, liquid: bool, tdp_sum_w: float, cpu_tdp_w: float | None = None
) -> tuple[Figure, Figure]:
    """Power of a server beside its cards under load, and what the nameplate adds to the sum of card TDPs. [W]

    The base of an air-cooled 8-GPU board includes its fans; PSU losses are inside, because the anchors are readings at
    the wall.
    """
    if server_class == "rack_scale":
        share = _assumed(catalog, "nameplate_without_gpus", "rack_scale_share_of_gpu_tdp")
        extra = scaled(share, tdp_sum_w)
        return between(0.7 * (extra.value or 0), 0.5 * (extra.value or 0), extra.value or 0, "assumed"), extra
    if server_class == "mac":
        # An Apple computer is its chip and a little more.
        return between(12.0, 8.0, 20.0, "assumed"), between(40.0, 20.0, 80.0, "assumed")
    if server_class == "cpu_only_2s":
        nameplate = _assumed(catalog, "nameplate_without_gpus", server_class)
        if cpu_tdp_w is None:
            return scaled(nameplate, 0.6), nameplate
        idle, busy = (
            catalog.assumption("idle_power_server_with_gpus", server_class),
            catalog.assumption("cpu_power_busy", "server CPU"),
        )
        base, low, high = (idle.value + share * cpu_tdp_w for share in (busy.value, busy.low, busy.high))
        return between(base, low, high, "assumed"), nameplate
    if server_class == "superchip_1u":
        nameplate = _assumed(catalog, "nameplate_without_gpus", server_class)
        return scaled(nameplate, 0.6), nameplate
    nameplate = _assumed(catalog, "nameplate_without_gpus", server_class)
    row = _BASE_ROW.get(server_class) or ("hgx_h100_h200, liquid" if liquid else "hgx_h100_h200, air at load")
    return _assumed(catalog, "base_load_without_gpus", row), nameplate


def server_idle(
    catalog: Catalog, server: Server | None, server_class: str, gpus: int, gpus_usual: int, gpu_idle_w: float
) -> Figure:
    """Power of a server that does nothing. [W]

    A class reading of the whole server, shifted by the cards it holds more or fewer than usual.
    """
    if server is not None and server.idle_power_w is not None and gpus == server.gpus_per_server:
        return exact(server.idle_power_w.value, "known")
    if server_class == "rack_scale":
        share = gpus / _CARDS_OF_A_RACK
        reading = _assumed(catalog, "idle_power_server_with_gpus", server_class)
        return scaled(reading, share)
    row = _IDLE_ROW.get(server_class)
    if row is None:
        base = {"superchip_1u": 120.0}.get(server_class, 300.0)
        return between(
            base + gpus * gpu_idle_w, 0.6 * base + gpus * gpu_idle_w, 1.6 * base + gpus * gpu_idle_w, "assumed"
        )
    assumed = _assumed(catalog, "idle_power_server_with_gpus", row)
    shift = 0.0 if server_class in ("mac", "cpu_only_2s") else (gpus - gpus_usual) * gpu_idle_w
    value, low, high = (max((bound or 0.0) + shift, 20.0) for bound in assumed[:3])
    return between(value, low, high, "assumed")


def nameplate(server: Server | None, gpus: int, cards_w: Figure, extra_w: Figure) -> Figure:
    """What the type plate says a server may draw: the vendor's for a full server, else cards and a class value. [W]"""
    if server is not None and server.max_power_w is not None and gpus == server.gpus_per_server:
        return exact(server.max_power_w.value, "known")
    return total([cards_w, extra_w])


def server_power(base_w: Columns, gpus: Columns, gpu_w: Columns) -> Columns:
    """Power of a server at the wall under load: its base and its cards. [W]; 4 % median error on nine readings."""
    return base_w + gpus * gpu_w
