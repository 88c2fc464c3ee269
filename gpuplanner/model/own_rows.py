"""What the buyer's own measurements say about a like scenario: a shift of the figure and a narrower band.

The error of a prediction, ln(measured ÷ predicted), is taken as a sum of independent normal parts, each with its share
of the family's variance s², s = ln(F80) / 1.2816 of the scenario's own band:

===========  =====  ================================================================================
part         share  two runs have it in common where
===========  =====  ================================================================================
family       0.15   architecture, engine (a row of the engine table) and kind of model are the same
card         0.15   … and the card
model        0.15   … and the model
format       0.05   … and the format of the weights
lengths      0.15   … the shorter ÷ the longer prompt, times the same of the answer: so much of it
setting      0.35   never: load, split and all else
===========  =====  ================================================================================

Rows of another family, architecture, engine or kind of model have nothing in common with a scenario and change nothing.
A row adds the scatter of re-measuring (a factor of 1.03) and, once for all rows of one source, that of another machine
and hand (1.10). Conditioning the normal distribution on the rows gives the shift and what is left of s; no band becomes
narrower than re-measuring allows. Order does not matter, and a further row never widens a band. The 50 rows most alike
count.

The shares are judgements, rounded from the scatter of the shipped rows within one setting of card, engine, model and
format (about 0.6 s), between models of a card and engine, and between sources (1.07–1.16). Tried on those rows, each
predicted with two like ones as "own": 82–93 % lie in the narrowed band of every family, and the median error falls for
output, time a token, decode, training and fine-tuning (by 6–23 %), stays for power and the loaded first token, and
grows for the idle first token and energy (by 13–20 %), where settings differ more than cards do.
"""

from collections.abc import Sequence
from typing import NamedTuple, TypeVar

import numpy as np

from gpuplanner.catalog.calibration import Calibration
from gpuplanner.catalog.load import Catalog
from gpuplanner.catalog.schema import Gpu, Llm
from gpuplanner.model.case import Setting
from gpuplanner.model.evidence import Evidence, Own, factor
from gpuplanner.model.plan import FineTune, Group, Serve, Workload
from gpuplanner.model.results import OWN_ROWS, Choice, OwnShift, ServeResult, TrainResult

SHARES = {"family": 0.15, "card": 0.15, "model": 0.15, "format": 0.05, "lengths": 0.15}
_SETTING_SHARE = 0.35
REMEASURED, OTHER_SOURCE = float(np.log(1.03)), float(np.log(1.10))
# Half of an 80 % interval of a normal distribution, in standard deviations.
Z_80 = 1.2816
# The rows that are most like a scenario speak for the rest.
_MOST_ROWS = 50
# Families of rows that say something about a family of figures. An unloaded figure of a program for one user is
# predicted by the same formula as that of a server.
SPEAKS_FOR = {
    "max_throughput": ("max_throughput", "serving_tpot"),
    "throughput_at_concurrency": ("max_throughput", "serving_tpot"),
    "consumer_server": ("max_throughput", "serving_tpot"),
    "serving_tpot": ("serving_tpot",),
    "ttft_loaded": ("ttft_loaded",),
    "ttft_idle": ("ttft_idle",),
    "consumer_prefill": ("ttft_idle",),
    "decode_fixed_batch": ("decode_fixed_batch",),
    "consumer_decode": ("decode_fixed_batch",),
    "training": ("training",),
    "finetune": ("finetune",),
    "power_gpu": ("power_gpu",),
    "energy": ("energy",),
}


# The families that figures of a served workload belong to.
SERVED = (
    "max_throughput", "serving_tpot", "ttft_loaded", "ttft_idle", "decode_fixed_batch", "power_gpu", "energy",
)  # fmt: skip


# Figures of a result, and the families that move them.
_SPEED = ("max_throughput", "ttft_loaded", "serving_tpot")
_FIGURES: dict[str, tuple[str, ...]] = {
    "first_token_s": ("ttft_loaded",),
    "first_token_idle_s": ("ttft_idle",),
    "per_token_s": ("serving_tpot",),
    "decode_step_s": ("serving_tpot",),
    "output_tokens_s": _SPEED,
    "requests_s": _SPEED,
    "headroom": _SPEED,
    "output_tokens_s_limit": ("max_throughput",),
    "single_stream_tokens_s": ("decode_fixed_batch",),
    "prefill_s": ("ttft_idle",),
    "prefill_tokens_s": ("ttft_idle",),
    "gpu_power_w": ("power_gpu",),
    "energy_j_per_token": ("energy", "power_gpu", "max_throughput"),
    **{name: ("training", "finetune") for name in ("step_s", "tokens_s", "mfu", "duration_s", "gpu_hours")},
}

Result = TypeVar("Result", ServeResult, TrainResult)


class Like(NamedTuple):
    """What a row or a scenario is like. Lengths in tokens, of training the sequence; nan = not stated.

    A card whose architecture has no row in the calibration is an architecture of its own.
    """

    card: str
    architecture: str
    engine: str
    kind: str
    llm: str
    weights: str
    prompt: float
    answer: float


class Residual(NamedTuple):
    """One own row that counts: ``log`` is ln(measured ÷ predicted) of a speed or a power (of a time, the negative)."""

    like: Like
    families: tuple[str, ...]
    log: float
    source: str
    setting: str


def _card_like(gpu: Gpu, llm: Llm, architecture: str, engine: str, words: str, prompt: float, answer: float) -> Like:
    alone = gpu.name if architecture == "other" else architecture
    return Like(gpu.name, alone, engine, "dense" if llm.moe is None else "experts", llm.name, words, prompt, answer)


def serving_like(gpu: Gpu, llm: Llm, setting: Setting, prompt: float, answer: float) -> Like:
    """What a serving run is like."""
    return _card_like(gpu, llm, setting.architecture, setting.engine, setting.weights, prompt, answer)


def training_like(gpu: Gpu, llm: Llm, calibration: Calibration, framework: str, method: str, sequence: float) -> Like:
    """What a training run is like; in place of a format stands the method."""
    architecture = calibration.architecture(gpu.architecture)
    return _card_like(gpu, llm, architecture, framework, method, sequence, float("nan"))


def like_of(workload: Workload, group: Group, choice: Choice | None, catalog: Catalog) -> Like | None:
    """What a run of a plan is like, with what its choice came to; None where it has no card or no model."""
    gpu = catalog.find("gpu", group.gpu) if group.gpu else None
    llm = None if choice is None else catalog.find("llm", choice.llm)
    if gpu is None or llm is None or choice is None:
        return None
    architecture = catalog.calibration.architecture(gpu.architecture)
    if isinstance(workload, Serve):
        lengths = float(workload.prompt_tokens), float(workload.answer_tokens)
        return _card_like(gpu, llm, architecture, choice.engine, choice.weights, *lengths)
    method = workload.method if isinstance(workload, FineTune) else "full"
    return training_like(gpu, llm, catalog.calibration, choice.engine, method, float(workload.sequence_tokens))


def alike(first: Like, second: Like) -> bool:
    """Whether two runs have anything in common."""
    return (first.architecture, first.engine, first.kind) == (second.architecture, second.engine, second.kind)


def _in_common(first: Sequence[Like], second: Sequence[Like]) -> np.ndarray:
    """`common` of every one of the first (rows) and of the second (columns)."""

    def columns(likes: Sequence[Like], name: str) -> np.ndarray:
        return np.array([getattr(like, name) for like in likes])

    def same(name: str) -> np.ndarray:
        return columns(first, name)[:, None] == columns(second, name)[None, :]

    def length(name: str) -> np.ndarray:
        mine, theirs = columns(first, name)[:, None], columns(second, name)[None, :]
        ratio = np.minimum(mine, theirs) / np.maximum(mine, theirs)
        return np.where(np.isnan(ratio), np.isnan(mine) & np.isnan(theirs), ratio)

    share = (
        SHARES["family"]
        + SHARES["card"] * same("card")
        + SHARES["model"] * same("llm")
        + SHARES["format"] * same("weights")
        + SHARES["lengths"] * length("prompt") * length("answer")
    )
    return np.where(same("architecture") & same("engine") & same("kind"), share, 0.0)


def common(first: Like, second: Like) -> float:
    """Share of the variance of the errors of two runs that they have in common, 0 to 0.65.

    Of lengths the shorter ÷ the longer counts; where only one is stated, nothing.
    """
    return float(_in_common((first,), (second,))[0, 0])


def _about(like: Like, family: str, rows: Sequence[Residual]) -> list[tuple[float, Residual]]:
    """The rows that have something in common with a scenario, the most alike first, in an order of their own."""
    found = [row for row in rows if family in row.families and alike(like, row.like)]
    if not found:
        return []
    shares = _in_common((like,), [row.like for row in found])[0].tolist()
    ordered = sorted(
        zip(shares, found, strict=True), key=lambda one: (-round(one[0], 9), one[1].log, one[1].source, one[1].setting)
    )
    return ordered[:_MOST_ROWS]


def posterior(like: Like, family: str, rows: Sequence[Residual], log_sd: float) -> Own | None:
    """What the rows leave of a band of standard deviation `log_sd`, and by how much they move its middle.

    None where no row has anything in common with the scenario.
    """
    chosen = _about(like, family, rows)
    if not chosen or log_sd <= 0:
        return None
    variance = log_sd**2
    mine = variance * np.array([share for share, _ in chosen])
    logs = np.array([row.log for _, row in chosen])
    every = [row.like for _, row in chosen]
    settings, sources = np.array([row.setting for _, row in chosen]), np.array([row.source for _, row in chosen])
    between = variance * (_in_common(every, every) + _SETTING_SHARE * (settings[:, None] == settings[None, :]))
    between += OTHER_SOURCE**2 * (sources[:, None] == sources[None, :])
    between[np.diag_indices_from(between)] += REMEASURED**2
    weights = np.linalg.solve(between, mine)
    left = max(variance - float(weights @ mine), REMEASURED**2)
    return Own(len(chosen), float(np.exp(weights @ logs)), min(float(np.sqrt(left)) / log_sd, 1.0))


def informed(
    calibration: Calibration, seen: Evidence, like: Like, families: Sequence[str], rows: Sequence[Residual]
) -> Evidence:
    """The evidence with what the buyer's own rows say about figures of these families."""
    if not rows:
        return seen
    found = {}
    for family in families:
        own = posterior(like, family, rows, float(np.log(factor(calibration, family, seen))) / Z_80)
        if own is not None:
            found[family] = own
    return seen._replace(own=found) if found else seen


def shifts(calibration: Calibration, seen: Evidence) -> tuple[OwnShift, ...]:
    """What own rows did to the figures of every family that they speak for."""
    bare = seen._replace(own={})
    return tuple(
        OwnShift(family, own.rows, own.shift, factor(calibration, family, bare), factor(calibration, family, seen))
        for family, own in seen.own.items()
    )


def marked(result: Result, calibration: Calibration, seen: Evidence) -> Result:
    """The result with what own rows did to it, and a note on every figure that they moved."""
    if not seen.own:
        return result
    figures = {
        name: getattr(result, name)._replace(note=OWN_ROWS)
        for name, families in _FIGURES.items()
        if hasattr(result, name) and getattr(result, name).known and not seen.own.keys().isdisjoint(families)
    }
    return result._replace(own=shifts(calibration, seen), **figures)
