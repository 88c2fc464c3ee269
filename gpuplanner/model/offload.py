"""Models of which a part stays in the host's memory: experts, or the layers that the cards do not hold.

Programs with kernels for the host compute that part there; others send its weights over PCIe at every step. Not
validated: measured rows do not state the host's memory.
"""

from typing import NamedTuple

import numpy as np

from gpuplanner.catalog.calibration import Calibration
from gpuplanner.model import cpu, inference, memory
from gpuplanner.model.case import Case, Columns

# Prompt tokens that are read for one passage of the host's weights over PCIe.
_PASS_TOKENS = 2048.0


class Offloaded(NamedTuple):
    """Time of one token of each sequence, time to read all prompts [s], and what lies in the host's memory. [bytes]"""

    token_s: Columns
    reading_s: Columns
    host_bytes: Columns


def offloaded(
    case: Case,
    batch: Columns,
    experts_on_host: Columns,
    host_bandwidth: Columns,
    sockets: Columns,
    calibration: Calibration,
) -> Offloaded:
    """Speeds of a replica whose experts, or layers that do not fit, lie in the host's memory.

    Parameters
    ----------
    batch : array
        Sequences in flight.
    experts_on_host : array
        Whether all routed experts stay on the host; else as many layers as the cards have no room for.
    host_bandwidth : array
        Of all sockets together. [bytes/s]
    """
    run, llm = case.run, case.llm
    store = memory.serving_memory(case)
    room = np.maximum(store.usable - store.activations - store.runtime, 0.0)
    share = np.where(experts_on_host, 1.0, np.clip(room / np.maximum(store.weights, 1.0), 0.0, 1.0))
    read_experts = inference.distinct_experts(case, batch) * llm.expert * run.expert_bytes
    read_rest = llm.nonexpert * run.body_bytes + llm.head * run.head_bytes
    on_host = np.where(experts_on_host, read_experts, (1.0 - share) * (read_rest + read_experts))
    step = inference.decode_step(case, batch, run.input + run.output / 2.0).total
    on_gpu = np.where(experts_on_host, step * read_rest / np.maximum(read_rest + read_experts, 1.0), step)
    computed = cpu.offload_decode_s(on_gpu, share, on_host, host_bandwidth, sockets, llm.experts, calibration)
    kept = np.where(
        experts_on_host, llm.experts * llm.expert * run.expert_bytes, (1.0 - share) * memory.weight_bytes(case)
    )
    streamed = step + cpu.offload_prefill_s(0.0, kept, case.gpu.pcie, 1.0)
    passes = np.maximum(np.ceil(batch * run.input / _PASS_TOKENS), 1.0)
    read = inference.prefill(case, run.input, batch).total
    reading = np.asarray(cpu.offload_prefill_s(read, kept, case.gpu.pcie, passes))
    return Offloaded(np.where(run.single_user > 0, computed, streamed), reading, kept)
