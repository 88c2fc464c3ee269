"""How well a configuration is covered by measurements, how wide its bands are because of that, and which measured rows
are nearest to it.

The 80 % factor of a family comes from cross-validated residuals; it is widened by a power for each way in which the
configuration lies outside of what was measured. The powers come with the calibration, from rows that were left out;
those that no rows can tell are judged here.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from gpuplanner.catalog.calibration import Calibration
from gpuplanner.catalog.load import Catalog
from gpuplanner.catalog.schema import Gpu, Llm, Runtime
from gpuplanner.model.case import SINGLE_USER_ENGINES, WEIGHT_FORMATS, IdentityCache, Setting
from gpuplanner.model.parallelism import Split
from gpuplanner.model.plan import FineTune, Group, PinnedEntries, Plan, Serve, Workload
from gpuplanner.model.results import Choice, Figure, Results, ServeResult, TrainResult

# Powers of the family's factor where the calibration has no measured one: judgements of the method's authors.
JUDGED_WIDENING = {
    "card": 1.15,
    "engine": 1.25,
    "architecture": 1.6,
    "pcie_tensor": 1.3,
    "experts_across_servers": 1.5,
    "experts_trained": 1.5,
    "long_context": 1.2,
}
_LONG_CONTEXT_TOKENS = 32_000
_GOOD, _FAIR = 1.35, 1.6


class Own(NamedTuple):
    """What the buyer's own measurements say of a family of figures (see `own_rows`).

    ``rows`` of them count; ``shift`` multiplies speeds and powers and divides times; ``narrowing`` multiplies the log
    half-width.
    """

    rows: int
    shift: float
    narrowing: float


class Evidence(NamedTuple):
    """What widens a band: ``power`` multiplies the log half-width, ``outside`` names the reasons.

    ``own`` holds what own measurements say, by family; empty without them.
    """

    power: float
    outside: tuple[str, ...]
    validated: bool
    own: Mapping[str, Own] = MappingProxyType({})


def _widen(calibration: Calibration, reasons: list[str]) -> Evidence:
    power = float(np.prod([calibration.widening.get(name, JUDGED_WIDENING[name]) for name in reasons]))
    return Evidence(power, tuple(reasons), "architecture" not in reasons)


def _card(calibration: Calibration, gpu: Gpu, architecture: str, group: str) -> list[str]:
    position = calibration.position(group, architecture)
    if architecture == "other" or not calibration.knows(group, architecture) or not calibration.fitted_on[position]:
        return ["architecture"]
    return [] if gpu.name in calibration.cards_seen else ["card"]


def serving(
    calibration: Calibration,
    setting: Setting,
    gpu: Gpu,
    llm: Llm,
    runtime: Runtime | None,
    split: Split,
    context: float,
    devices_per_server: int,
    linked: bool = True,
) -> Evidence:
    """The evidence for a serving configuration."""
    reasons = _card(calibration, gpu, setting.architecture, "dram")
    if not calibration.engine_seen(setting.engine):
        reasons.append("engine")
    ranks = split.tp * split.attention_dp
    if ranks > 2 and not linked:
        reasons.append("pcie_tensor")
    if llm.moe is not None and ranks > devices_per_server:
        reasons.append("experts_across_servers")
    if context > _LONG_CONTEXT_TOKENS:
        reasons.append("long_context")
    return _widen(calibration, reasons)


def training(
    calibration: Calibration,
    architecture: str,
    gpu: Gpu,
    llm: Llm,
    framework: str,
    sequence: float,
    context_parallel: bool,
) -> Evidence:
    """The evidence for a training configuration."""
    reasons = _card(calibration, gpu, architecture, "train matrix16")
    if framework == "other":
        reasons.append("engine")
    if llm.moe is not None:
        reasons.append("experts_trained")
    if sequence > _LONG_CONTEXT_TOKENS or context_parallel:
        reasons.append("long_context")
    return _widen(calibration, reasons)


def factor(calibration: Calibration, family: str, evidence: Evidence, share: float = 0.8) -> float:
    """Factor either way that holds 80 % (or half, ``share`` 0.5) of unseen cases like this one."""
    band = calibration.band(family)
    base = band.factor_80 if share == 0.8 else band.factor_50
    own = evidence.own.get(family)
    return float(base ** (evidence.power * (1.0 if own is None else own.narrowing)))


def shift(evidence: Evidence, family: str) -> float:
    """Factor on speeds (and powers; times are divided by it) that the buyer's own measurements ask for; 1 without."""
    own = evidence.own.get(family)
    return 1.0 if own is None else own.shift


def ratio_factor(calibration: Calibration, family: str, first: Evidence, second: Evidence) -> float:
    """Factor either way of the ratio of two options: they share model and formula, so most of the error cancels.

    Where own measurements narrow the options more than that, each stands by itself.
    """
    paired = float(calibration.band(family).ratio_80 ** max(first.power, second.power))
    if not (first.own or second.own):
        return paired
    logs = [np.log(factor(calibration, family, one)) for one in (first, second)]
    return min(paired, float(np.exp(np.hypot(*logs))))


def confidence(width: float) -> str:
    """One word for an 80 % factor: good, fair or rough."""
    return "good" if width <= _GOOD else "fair" if width <= _FAIR else "rough"


def confidence_of(figure: Figure) -> str:
    """The word of a predicted figure, by the wider side of its band; "" where nothing is predicted."""
    if figure.basis not in ("predicted", "not validated") or not figure.value or figure.low is None:
        return ""
    if figure.low <= 0 or figure.high is None:
        return confidence(float("inf"))
    return confidence(max(figure.value / figure.low, figure.high / figure.value))


# --- the nearest measured rows ---------------------------------------------------------------------------------------

# What one e-fold of a size is worth: a factor of e in active parameters is as far as another generation of card is two
# thirds of. Batch and lengths move a figure by known laws, so they count less.
_PER_EFOLD = {"size": 1.0, "batch": 0.5, "prompt": 0.25, "answer": 0.25, "cards": 0.5, "bits": 1.0}
_OTHER = {"card": 0.5, "architecture": 1.0, "engine": 0.5, "kind": 1.0, "method": 1.0, "model": 0.25}
# A size that one side states and the other does not counts as this many e-folds.
_NOT_STATED = 1.0
# Sizes that differ by less than this factor are called the same.
_ALIKE = 1.5


class Likeness(NamedTuple):
    """What a measured row, or a run of a plan, is like. nan and "" = not stated. ``size`` is the active parameters,
    ``prompt`` the sequence length of training, ``cards`` those of the whole figure, ``bits`` those of a weight."""

    family: str
    card: str = ""
    architecture: str = ""
    engine: str = ""
    model: str = ""
    # "dense" or "experts".
    kind: str = ""
    method: str = ""
    size: float = np.nan
    batch: float = np.nan
    prompt: float = np.nan
    answer: float = np.nan
    cards: float = np.nan
    bits: float = np.nan


_WORDS = ("card", "architecture", "engine", "kind", "method", "model")
_SIZES = ("size", "batch", "prompt", "answer", "cards", "bits")


class Near(NamedTuple):
    """A measured row, how far it is from what was asked, and how far off the model was there.

    ``predicted`` comes from constants fitted without the row's publisher; None where the row could not be predicted.
    ``error`` = predicted ÷ measured − 1. ``differs`` names what is not alike, in the words of `Likeness`.
    """

    row: Mapping[str, Any]
    distance: float
    measured: float
    predicted: float | None
    error: float | None
    differs: tuple[str, ...]


class _Rows(NamedTuple):
    """The scorable rows in columns: words as arrays of text, sizes as logarithms."""

    rows: tuple[Mapping[str, Any], ...]
    family: np.ndarray
    words: dict[str, np.ndarray]
    sizes: np.ndarray


def _bits(word: str | None) -> float:
    layout = WEIGHT_FORMATS.get((word or "").casefold().replace("_xl", "_m"))
    return np.nan if layout is None else layout.bits


def _number(row: Mapping[str, Any], *keys: str) -> float:
    for key in keys:
        value = row.get(key)
        if isinstance(value, int | float) and not isinstance(value, bool) and value > 0:
            return float(value)
    return np.nan


def likeness(row: Mapping[str, Any], catalog: Catalog) -> Likeness:
    """What a measured row is like. Names that are not names of the catalog count as not stated."""
    gpu = catalog.find("gpu", str(row.get("gpu", "")))
    llm = catalog.find("llm", str(row.get("model", "")))
    training_row = row.get("task") in ("training", "finetune")
    engine = row.get("engine")
    words = engine if isinstance(engine, dict) else {}
    return Likeness(
        str(row.get("family", "")),
        "" if gpu is None else gpu.name,
        "" if gpu is None else catalog.calibration.architecture(gpu.architecture),
        str(words.get("era") or words.get("name") or ""),
        "" if llm is None else llm.name,
        "" if llm is None else _kind(llm),
        str(row.get("method") or "full") if row.get("task") == "finetune" else "",
        np.nan if llm is None else _active(llm),
        _number(row, "global_batch") if training_row else _number(row, "mean_batch", "concurrency", "batch"),
        _number(row, "seq_len" if training_row else "input_tokens"),
        np.nan if training_row else _number(row, "output_tokens"),
        _number(row, "gpus"),
        _bits(row.get("compute") if training_row else row.get("weights")),
    )


def _kind(llm: Llm) -> str:
    return "dense" if llm.moe is None else "experts"


def _active(llm: Llm) -> float:
    return float(llm.params_active if llm.moe is not None and llm.params_active else llm.params_total)


def _in_columns(catalog: Catalog) -> _Rows:
    kept = tuple(
        row
        for row in catalog.measurements
        if row.get("scorable", True) is not False and np.isfinite(_number(row, "value"))
    )
    likes = [likeness(row, catalog) for row in kept]
    with np.errstate(invalid="ignore"):
        sizes = np.log(np.array([[getattr(like, name) for name in _SIZES] for like in likes], float))
    return _Rows(
        kept,
        np.array([like.family for like in likes]),
        {name: np.array([getattr(like, name) for like in likes]) for name in _WORDS},
        sizes.reshape(len(kept), len(_SIZES)),
    )


_rows_of = IdentityCache(_in_columns, limit=4)
# Over nothing, a plan's view of the catalog is the catalog itself, in whose names measured rows are written.
_NO_ENTRIES = PinnedEntries()


def nearest(like: Likeness, catalog: Catalog, count: int = 5) -> tuple[Near, ...]:
    """The measured rows of the same family that are nearest, the nearest first.

    The distance is a sum: for active parameters, requests in flight, lengths, cards and bits of a weight the logarithm
    of the ratio times `_PER_EFOLD`; for another card, architecture, engine, kind of model (dense or with experts),
    method of fine-tuning or model a fixed amount, `_OTHER`. What neither side states does not count. Rows of one
    publisher about one model, card and engine differ in load only: of them the nearest is kept.

    Returns fewer than `count` where the family has fewer; an unknown family has none.
    """
    columns: _Rows = _rows_of(catalog.over(_NO_ENTRIES))
    at = np.flatnonzero(columns.family == like.family)
    if not at.size:
        return ()
    distance = np.zeros(at.size)
    other: dict[str, np.ndarray] = {}
    for name in _WORDS:
        mine, theirs = getattr(like, name), columns.words[name][at]
        other[name] = (theirs != mine) & ((theirs != "") | (mine != ""))
        distance += _OTHER[name] * other[name]
    mine_sizes = np.log(np.array([getattr(like, name) for name in _SIZES], float))
    theirs_sizes = columns.sizes[at]
    apart = np.abs(theirs_sizes - mine_sizes)
    neither = np.isnan(theirs_sizes) & np.isnan(mine_sizes)
    folds = np.where(neither, 0.0, np.where(np.isnan(apart), _NOT_STATED, apart))
    distance += folds @ np.array([_PER_EFOLD[name] for name in _SIZES])
    found: list[Near] = []
    seen: set[tuple[str, ...]] = set()
    for position in np.argsort(distance, kind="stable"):
        row = columns.rows[at[position]]
        group = (str(row.get("publisher")), *(str(columns.words[name][at[position]]) for name in _WORDS))
        if group in seen:
            continue
        seen.add(group)
        differs = [name for name in _WORDS if other[name][position]]
        differs += [name for name, fold in zip(_SIZES, folds[position], strict=True) if fold > np.log(_ALIKE)]
        measured = float(row["value"])
        predicted = _left_out(row, catalog)
        error = None if predicted is None else predicted / measured - 1.0
        found.append(Near(row, float(distance[position]), measured, predicted, error, tuple(differs)))
        if len(found) == count:
            break
    return tuple(found)


def _left_out(row: Mapping[str, Any], catalog: Catalog) -> float | None:
    residual = catalog.calibration.residuals.get(str(row.get("id")))
    return None if residual is None or not np.isfinite(residual.left_out) else float(residual.left_out)


# The family of measured rows that a figure of the comparison is like: of a server, of a program for one user, of a CPU.
_DECODED = ("max_throughput", "consumer_decode", "cpu_decode")
_SERVED: Mapping[str, tuple[str, str, str]] = {
    "output": _DECODED,
    "headroom": _DECODED,
    "speed_ratio": _DECODED,
    "per_million": _DECODED,
    "first_token": ("ttft_loaded", "consumer_prefill", "cpu_prefill"),
    "per_token": ("serving_tpot", "consumer_decode", "cpu_decode"),
    "single_stream": ("decode_fixed_batch", "consumer_decode", "cpu_decode"),
    "prefill": ("ttft_idle", "consumer_prefill", "cpu_prefill"),
    "memory_used": ("kv_capacity", "peak_memory", ""),
    "energy_per_million": ("energy", "energy", ""),
    "max_power": ("power_gpu", "power_gpu", ""),
    "heat": ("power_gpu", "power_gpu", ""),
}
_TRAINED: Mapping[str, str] = {
    "gpu_hours": "gpu_hours",
    "memory_used": "peak_memory",
    "max_power": "power_gpu",
    "heat": "power_gpu",
}
_TRAINING_SPEED = frozenset({"tokens", "step", "mfu", "duration", "speed_ratio", "energy_per_run", "per_run"})
# What is in flight where the figure itself says so.
_BATCH_OF = {"single_stream": 1.0, "prefill": 1.0}
_FULL_QUEUE = frozenset({"output", "headroom", "speed_ratio", "per_million"})


def family_of_figure(key: str, workload: Workload, choice: Choice) -> str:
    """The family of measured rows that a figure (a key of the comparison) is like; "" where none is measured."""
    if not isinstance(workload, Serve):
        if key in _TRAINING_SPEED:
            return "finetune" if isinstance(workload, FineTune) else "training"
        return _TRAINED.get(key, "")
    server, single, processor = _SERVED.get(key, ("", "", ""))
    if choice.compute == "cpu":
        return processor
    return single if choice.engine in SINGLE_USER_ENGINES else server


def likeness_of(
    plan: Plan, results: Results, letter: str, workload_id: str, key: str, catalog: Catalog
) -> Likeness | None:
    """What the run behind a figure of a scenario is like: of several groups the one that carries most.

    None where the scenario has no such run, or no rows measure such a figure.
    """
    workload = next((each for each in plan.workloads if each.id == workload_id), None)
    scenario = next((each for each in plan.scenarios if each.letter == letter), None)
    entry = results.scenario(letter)
    if workload is None or scenario is None or entry is None:
        return None
    every: list[ServeResult | TrainResult] = list(entry.serve)
    every.extend(entry.train)
    runs = [each for each in every if each.workload == workload_id and each.choice is not None]
    if not runs:
        return None
    run = max(runs, key=lambda each: each.load_share if isinstance(each, ServeResult) else 1.0)
    assert run.choice is not None
    return _like_run(workload, scenario.groups[run.group], run, run.choice, key, catalog.over(plan.entries))


def _like_run(
    workload: Workload, group: Group, run: ServeResult | TrainResult, choice: Choice, key: str, catalog: Catalog
) -> Likeness | None:
    family = family_of_figure(key, workload, choice)
    if not family:
        return None
    gpu, llm = catalog.find("gpu", group.gpu), catalog.find("llm", choice.llm)
    cards = float(group.gpus_per_server * group.servers) if gpu is not None else np.nan
    prompt = answer = np.nan
    if isinstance(run, TrainResult) or not isinstance(workload, Serve):
        batch, bits = float(choice.global_batch or np.nan), _bits(choice.compute)
        if not isinstance(workload, Serve):
            prompt = float(workload.sequence_tokens)
    else:
        batch = _BATCH_OF.get(key, np.nan if key in _FULL_QUEUE else float(run.batch))
        prompt, answer, bits = float(workload.prompt_tokens), float(workload.answer_tokens), _bits(choice.weights)
    if family == "kv_capacity":
        # What a card has room for does not depend on who asks.
        batch = prompt = answer = np.nan
    return Likeness(
        family,
        group.gpu if gpu is not None else "",
        "" if gpu is None else catalog.calibration.architecture(gpu.architecture),
        choice.engine,
        choice.llm,
        "" if llm is None else _kind(llm),
        workload.method if isinstance(workload, FineTune) else "",
        np.nan if llm is None else _active(llm),
        batch,
        prompt,
        answer,
        cards,
        bits,
    )


def nearest_to(
    plan: Plan, results: Results, letter: str, workload_id: str, key: str, catalog: Catalog, count: int = 5
) -> tuple[Near, ...]:
    """The measured rows that are nearest to the run behind a figure (a key of the comparison) of a scenario."""
    like = likeness_of(plan, results, letter, workload_id, key, catalog)
    return () if like is None else nearest(like, catalog, count)
