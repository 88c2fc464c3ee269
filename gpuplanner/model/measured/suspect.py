"""Measured rows that no hardware can reach: a figure beyond the floor of `bounds` is a fault of its setting or unit.

What a row leaves open is taken in its favour: the cache of the prompt alone, all devices of a replica busy, prefill
outside of the count where rates of the answer are published.
"""

from typing import Literal, NamedTuple

import numpy as np

from gpuplanner.model import bounds, memory, training
from gpuplanner.model.case import Case
from gpuplanner.model.measured.keys import LARGEST
from gpuplanner.model.measured.predict import Prepared
from gpuplanner.model.measured.rows import STATIC, ServingRow, TrainingRow
from gpuplanner.units import GIB

Bound = Literal["bandwidth", "compute", "memory", "power"]
# Boards hold their limit to a few percent in the mean of a second.
_POWER_ROOM = 1.05


class Broken(NamedTuple):
    """The bound that a row breaks, and the best figure it allows, in the row's metric, unit and scope."""

    bound: Bound
    limit: float


def broken_bounds(prepared: Prepared) -> list[Broken | None]:
    """For every row the bound of its hardware that its figure breaks; None where it breaks none or none applies."""
    found: list[Broken | None] = [None] * len(prepared.rows)
    with np.errstate(all="ignore"):
        if prepared.serving_case is not None:
            for here, i in enumerate(prepared.serving):
                value = _value(prepared, i)
                if value is not None:
                    case = prepared.serving_case.rows(np.array([here]))
                    found[i] = _serving(case, prepared.records[i], prepared.metrics[i], prepared.scopes[i], value)
        if prepared.train_case is not None:
            best = _training(prepared, prepared.train_case)
            for here, i in enumerate(prepared.train):
                value = _value(prepared, i)
                if value is not None:
                    found[i] = _of_training(
                        prepared.train_case, here, prepared.records[i], prepared.metrics[i], prepared.scopes[i], value,
                        best,
                    )  # fmt: skip
    return found


def _value(prepared: Prepared, i: int) -> float | None:
    """The figure of a row; 1 for a row that says that something fits."""
    value = prepared.rows[i].get("value")
    if isinstance(value, bool):
        return 1.0 if value and prepared.metrics[i] == "fits" else None
    if not isinstance(value, int | float) or not 0 < value <= LARGEST or prepared.metrics[i] == "fits":
        return None
    return float(value)


def _at_most(value: float, by_memory: float, by_compute: float) -> Broken | None:
    """A rate against the most that the bus and the matrix units allow."""
    limits: list[tuple[float, Bound]] = [
        (by_memory * bounds.MEMORY_ROOM, "bandwidth"), (by_compute * bounds.CLOCK_ROOM, "compute"),
    ]  # fmt: skip
    least, bound = min(limits, key=lambda limit: limit[0] if np.isfinite(limit[0]) else np.inf)
    return Broken(bound, least) if np.isfinite(least) and value > least else None


def _at_least(value: float, floor: bounds.Floor) -> Broken | None:
    """A time against the least that the two allow."""
    rate = _at_most(1.0 / value, 1.0 / float(floor.memory[0]), 1.0 / float(floor.compute[0]))
    return None if rate is None else Broken(rate.bound, 1.0 / rate.limit)


def _serving(case: Case, record: ServingRow, metric: str, scope: str, value: float) -> Broken | None:
    run = case.run
    if metric == "fits" or metric == "peak_memory_gib":
        return _memory(case, record, metric, scope, value)
    if metric == "power_w_per_gpu":
        return _power(record.cap_w, float(case.gpu.tdp[0]) * record.devices / record.cards, value)
    if record.offload:
        return None
    whole = float(bounds.devices(case)[0])
    held = record.amount / record.replicas if np.isfinite(record.amount) else float(bounds.sequences_at_most(case)[0])
    batch = np.array([max(held, 1.0)])
    # Rates of one GPU count for the system of all of them.
    share = record.cards if scope == "per_gpu" else 1.0
    replicas, context = float(run.dp[0]), run.input
    if metric == "tpot_s" or (metric == "output_tokens_per_s" and scope == "per_user"):
        # How many of the requests in flight are still read, and not yet answered, is open.
        together = record.mode == STATIC or record.exact_batch
        floor = bounds.decode_floor(case, batch if together and np.isfinite(record.amount) else np.ones(1), context)
        if metric == "tpot_s":
            return _at_least(value, floor)
        return _at_most(value, 1.0 / float(floor.memory[0]), 1.0 / float(floor.compute[0]))
    if metric == "ttft_s":
        return _at_least(value, bounds.prefill_floor(case, run.input, np.ones(1)))
    if metric == "prefill_tokens_per_s":
        compute = bounds.prefill_floor(case, run.input, np.ones(1)).compute
        return _shared(_at_most(value * share, np.inf, replicas * float((run.input / compute)[0])), share)
    if metric == "output_tokens_per_s":
        drafted = float(run.draft_tokens[0]) + 1.0
        read = bounds.step_bytes(case, batch, context) / (whole * case.gpu.bandwidth) / drafted
        computed = bounds.step_flop(case, batch, context) / (whole * bounds.peak(case))
        each = replicas * float(batch[0])
        return _shared(_at_most(value * share, each / float(read[0]), each / float(computed[0])), share)
    if metric == "total_tokens_per_s":
        floor = bounds.request_floor(case, batch)
        tokens = replicas * float((run.input + run.output)[0])
        return _shared(
            _at_most(value * share, tokens / float(floor.memory[0]), tokens / float(floor.compute[0])), share
        )
    return None


def _power(cap_w: float, card_w: float, value: float) -> Broken | None:
    limit = float(np.fmin(cap_w, card_w)) * _POWER_ROOM
    return Broken("power", limit) if value > limit else None


def _shared(broken: Broken | None, share: float) -> Broken | None:
    return None if broken is None else broken._replace(limit=broken.limit / share)


def _memory(case: Case, record: ServingRow, metric: str, scope: str, value: float) -> Broken | None:
    whole = float(bounds.devices(case)[0])
    room = float(case.gpu.memory[0]) * bounds.MEMORY_ROOM
    if metric == "fits":
        if record.offload or case.run.single_user[0] > 0:
            # Programs for one user put what does not fit into the host's memory.
            return None
        weights = float(memory.weight_bytes(case)[0])
        return Broken("memory", room * whole) if weights > room * whole else None
    devices = record.devices / record.cards if scope == "per_gpu" else record.devices
    return Broken("memory", room * devices / GIB) if value * GIB > room * devices else None


def _training(prepared: Prepared, case: training.TrainCase) -> np.ndarray:
    """Tokens per second of all GPUs at the dense peak. [1/s]"""
    return np.asarray(case.run.global_batch * case.run.sequence / bounds.train_floor(case))


def _of_training(
    case: training.TrainCase, here: int, record: TrainingRow, metric: str, scope: str, value: float, best: np.ndarray
) -> Broken | None:
    most, peak = float(best[here]), record.peak * float(case.run.n_gpus[here]) / record.cards
    if metric == "tokens_per_s":
        share = {"per_gpu": record.cards, "per_node": record.cards / record.per_node}.get(scope, 1.0)
        return _shared(_at_most(value * share, np.inf, most), share)
    if metric == "step_time_s":
        batch = float(case.run.global_batch[here] * case.run.sequence[here])
        rate = _at_most(batch / value, np.inf, most)
        return None if rate is None else Broken(rate.bound, batch / rate.limit)
    if metric == "tflops_per_gpu":
        return _at_most(value, np.inf, peak / 1e12)
    if metric == "power_w_per_gpu":
        return _power(record.cap_w, float(case.gpu.tdp[here] * case.run.n_gpus[here]) / record.cards, value)
    if metric in ("mfu", "hfu"):
        return _at_most(value, np.inf, 1.0)
    if metric == "peak_memory_gib":
        room = float(case.gpu.memory[here]) * bounds.MEMORY_ROOM
        room *= float(case.run.n_gpus[here]) if scope == "system" else 1.0
        return Broken("memory", room / GIB) if value * GIB > room else None
    return None
