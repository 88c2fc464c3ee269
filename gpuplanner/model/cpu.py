"""Inference on host processors, and what a GPU gains or loses when a part of the weights stays in the host's memory.

Array functions; bytes, seconds, bytes/s, FLOP/s. Only CPU decode has been scored (22 rows, one family of programs):
the rest is "not validated".
"""

from __future__ import annotations

import numpy as np

from gpuplanner.catalog.calibration import Calibration

Quantity = float | np.ndarray

# Vector FLOP a core and cycle (FP32 fused multiply-adds), and the clock that all cores hold together.
_FLOP_PER_CYCLE = 32.0
_FLOP_PER_CYCLE_AVX512 = 64.0
# The many cores of a server hold less than the few of a desktop.
_CLOCK_SERVER_HZ, _CLOCK_DESKTOP_HZ = 2.8e9, 4.5e9
# llama.cpp multiplies quantised weights in 8-bit integers, of which an instruction takes twice as many.
_INTEGER_RATE = 2.0
# Rows an expert needs to fill the blocks of a matrix product halfway.
_ROWS_OF_HALF_A_BLOCK = 16.0
# Share of the PCIe rate that a stream of weights reaches.
_PCIE_SHARE = 0.8


def cpu_peak(cores: Quantity, avx512: Quantity, server: Quantity = True) -> Quantity:
    """Vector rate of all cores of a host at the clock they hold together. [FLOP/s]"""
    clock = np.where(server, _CLOCK_SERVER_HZ, _CLOCK_DESKTOP_HZ)
    return np.asarray(cores, float) * np.where(avx512, _FLOP_PER_CYCLE_AVX512, _FLOP_PER_CYCLE) * clock


def cpu_memory_share(sockets: Quantity, experts: Quantity, calibration: Calibration) -> Quantity:
    """Share of the sum of all sockets' memory bandwidth that reading weights reaches.

    Threads of one socket wait for the memory of the other (NUMA); experts are read in small scattered pieces.
    """
    one, two = calibration.value("cpu dram", "one socket"), calibration.value("cpu dram", "two sockets")
    scattered = np.where(np.asarray(experts) > 0, calibration.value("cpu dram", "experts"), 1.0)
    return np.where(np.asarray(sockets, float) > 1.0, two, one) * scattered


def cpu_decode_s(
    active_bytes: Quantity, memory_bandwidth: Quantity, sockets: Quantity, experts: Quantity, calibration: Calibration
) -> Quantity:
    """Time of one token for one user. [s]

    Parameters
    ----------
    active_bytes : float or array
        Weights (and cache) that a token reads. [bytes]
    memory_bandwidth : float or array
        Of all sockets together, channels x transfers x 8 bytes. [bytes/s]
    sockets : float or array
        Processors.
    experts : float or array
        Experts a layer, 0 for a dense model.

    Notes
    -----
    15 % median against tuned llama.cpp runs; other programs are two to four times slower.
    """
    share = cpu_memory_share(sockets, experts, calibration)
    return active_bytes / (share * memory_bandwidth) + calibration.value("cpu token time")


def cpu_prefill_s(
    flop: Quantity,
    peak: Quantity,
    tuned: Quantity,
    calibration: Calibration,
    eight_bit: Quantity = True,
    rows_per_expert: Quantity = np.inf,
) -> Quantity:
    """Time to read a prompt of `flop` floating-point operations. [s]

    ``tuned``: programs with kernels of their own for the processor (ik_llama.cpp, IPEX with AMX), which are as fast in
    16 bit as in fewer; ``eight_bit``: weights of 8 bit and less; ``rows_per_expert``: tokens that meet one expert,
    infinite for dense models. A factor of two either way.
    """
    share = np.where(tuned, calibration.value("cpu matrix", "tuned"), calibration.value("cpu matrix", "llama.cpp"))
    integer = np.where(np.asarray(eight_bit) & ~np.asarray(tuned, bool), _INTEGER_RATE, 1.0)
    rows = np.asarray(rows_per_expert, float)
    filled = 1.0 / (1.0 + _ROWS_OF_HALF_A_BLOCK / np.maximum(rows, 1e-9))
    return flop / (share * integer * filled * peak)


def offload_decode_s(
    gpu_s: Quantity,
    gpu_share: Quantity,
    host_bytes: Quantity,
    memory_bandwidth: Quantity,
    sockets: Quantity,
    experts: Quantity,
    calibration: Calibration,
) -> Quantity:
    """Time of one token when the GPU computes `gpu_share` of the layers and the host reads `host_bytes` for the
    others. [s]

    ``gpu_s`` is what the GPU would take for the whole model. Not validated.
    """
    share = cpu_memory_share(sockets, experts, calibration)
    return gpu_s * gpu_share + host_bytes / (share * memory_bandwidth)


def offload_prefill_s(gpu_s: Quantity, host_bytes: Quantity, pcie_bytes_s: Quantity, passes: Quantity) -> Quantity:
    """Time to read prompts when the weights that stay on the host are sent to the GPU once for each of `passes`
    batches. [s]

    Not validated.
    """
    return gpu_s + passes * host_bytes / (_PCIE_SHARE * np.asarray(pcie_bytes_s, float))
