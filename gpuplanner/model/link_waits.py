"""How long cards wait for the links inside a server and for the network between servers.

A run's step is a sum of named times; those that move data stand still for compute. What hides behind compute (a part of
gradient exchange and of tensor-parallel traffic in training) is left out already where the step is made up.
"""

import numpy as np

from gpuplanner.model import inference, training
from gpuplanner.model.bands import between
from gpuplanner.model.case import Case
from gpuplanner.model.hardware import Hardware
from gpuplanner.model.results import NOT_KNOWN, Basis, Figure, Part, Wait

# Shares below this are not shown: rounding, not waiting.
_LEAST = 1e-6
_NAMED = ("nvlink", "xgmi")


def link_inside(hard: Hardware, ranks: float) -> str:
    """The link over which so many cards of one server talk: nvlink, xgmi, card_link (of another maker), pcie or
    pcie-no-p2p.
    """
    if hard.link_one_way > 0 and ranks <= max(hard.link_domain, 1):
        return hard.gpu.link_kind if hard.gpu is not None and hard.gpu.link_kind in _NAMED else "card_link"
    return "pcie" if hard.peer_to_peer else "pcie-no-p2p"


def of_serving(
    case: Case, state: inference.Batching, hard: Hardware, factor: float, basis: Basis
) -> tuple[Figure, tuple[Wait, ...]]:
    """Waiting of the first row of a serving case at its operating point: overall, and by phase and link.

    ``factor``: half-width of times of the band. The whole weighs decode and prefill by the time that they take.
    """
    step, chunk = state.step, state.chunk
    _inside, between_stages = inference.stage_hops(case, inference.token_bytes(case, state.batch))
    far = float(np.atleast_1d(between_stages)[0])
    outside = bool(np.atleast_1d(inference.leaves_server(case))[0])
    decode = float(step.communication[0])
    away = min(decode if outside else far, decode)
    ranks = float((case.run.tp * case.run.attention_dp)[0])
    inside = link_inside(hard, ranks)
    prefill = float(chunk.communication[0])
    waits = _waits("decode", decode - away, away, float(step.total[0]), inside, hard.fabric) + _waits(
        "prefill", 0.0 if outside else prefill, prefill if outside else 0.0, float(chunk.total[0]), inside, hard.fabric
    )
    reading = float(np.clip(state.prefill_share[0], 0.0, 1.0))
    weights = {"decode": 1.0 - reading, "prefill": reading}
    by_link: dict[str, float] = {}
    for wait in waits:
        by_link[wait.link] = by_link.get(wait.link, 0.0) + weights[wait.phase] * wait.share
    return _figure(by_link, factor, basis), waits


def of_training(
    case: training.TrainCase, at: int, step: training.TrainStep, hard: Hardware, factor: float, basis: Basis
) -> tuple[Figure, tuple[Wait, ...]]:
    """Waiting of one row of a training case, with its step: overall, and by link."""
    run, gpu = case.run, case.gpu
    domain = max(float(run.in_server[at]), float(gpu.link_domain[at]) if gpu.link[at] > 0 else 0.0)
    reach = {
        "tensor_communication": float(run.tp[at]),
        "expert_communication": float(run.ep[at]),
        "context_communication": float(run.tp[at] * run.cp[at]),
        "data_communication": float(run.n_gpus[at]),
    }
    named = step._asdict()
    inside = sum(float(named[name]) for name, ranks in reach.items() if ranks <= domain)
    away = sum(float(named[name]) for name, ranks in reach.items() if ranks > domain)
    link = link_inside(hard, min(float(run.n_gpus[at]), domain))
    waits = _waits("step", inside, away, float(step.total), link, hard.fabric)
    return _figure({wait.link: wait.share for wait in waits}, factor, basis), waits


def _waits(phase: str, inside: float, away: float, whole: float, link: str, fabric: str) -> tuple[Wait, ...]:
    if not np.isfinite(whole) or whole <= 0:
        return ()
    shares = (Wait(phase, link, False, inside / whole), Wait(phase, fabric, True, away / whole))  # type: ignore[arg-type]
    return tuple(wait for wait in shares if wait.share > _LEAST)


def _figure(by_link: dict[str, float], factor: float, basis: Basis) -> Figure:
    """The share as a figure: waiting off by `factor` either way, with the rest of the time as it is."""
    share = sum(by_link.values())
    if not np.isfinite(share):
        return NOT_KNOWN
    share = min(share, 1.0)
    parts = tuple(Part(link, value) for link, value in by_link.items())
    low, high = (share * each / (share * each + 1.0 - share) if share > 0 else 0.0 for each in (1.0 / factor, factor))
    return between(share, low, high, basis, parts)
