"""One card against another: how many times as fast, task by task, with the band of a ratio and what binds on either
side.

Both sides run through the functions that a plan runs through, on equally many cards of each. A ratio that the trade
quotes ("3.5x") holds where the band of a task contains it; three cases beside the tasks show how a larger ratio comes
about: a narrower format on one side, too little memory on the other, and a long context.
"""

import math
from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple

from gpuplanner.catalog import compatibility
from gpuplanner.catalog.load import Catalog
from gpuplanner.catalog.schema import Gpu, Llm
from gpuplanner.model import evidence, fitting, hardware, serving
from gpuplanner.model.bands import spread
from gpuplanner.model.case import WEIGHT_FORMATS
from gpuplanner.model.evidence import Evidence
from gpuplanner.model.plan import ConcurrencyLoad, FineTune, Group, Network, QueueLoad, Run, Serve, Train
from gpuplanner.model.results import NOT_KNOWN, Basis, Check, Choice, Figure, MemoryUse, Part, exact

Precision = Literal["16-bit", "8-bit", "4-bit"]
PRECISIONS: tuple[Precision, ...] = ("16-bit", "8-bit", "4-bit")
TASKS = ("train", "finetune", "prefill", "decode_small", "decode_large", "serving", "long_context", "largest_model")
CASES = ("one_side_narrow", "short_of_memory", "both")
# What sellers say of the newer card against the older.
CLAIMS = (3.5, 2.3)

PROMPT, ANSWER = 1000, 500
LONG_PROMPT = 32_000
SMALL_BATCH, LARGE_BATCH = 1, 64
SEQUENCE = 4096
_TRAIN_TOKENS = 1e12
_CARDS_OF_A_SERVER = 8
_SERVING_CARDS = (1, 2, 4, 8, 16, 32, 64)
_TRAINING_CARDS = (8, 16, 32, 64, 128, 256, 512)
_FINETUNE_CARDS = (1, 2, 4, 8, 16, 32, 64)
# Weights may take so much of a card's memory that the cache still has room for a full batch.
_ROOMY = 0.6
_LEVELS: dict[Precision, tuple[int, ...]] = {"16-bit": (16,), "8-bit": (8,), "4-bit": (4, 5)}
_TRAINING_COMPUTE: dict[Precision, tuple[str, ...]] = {
    "16-bit": ("bf16", "fp16"),
    "8-bit": ("fp8",),
    "4-bit": ("fp8",),
}
# A ratio is what was quoted where it is no further from it than this factor.
_NEAR = 1.25
# The named time of a figure that is longest says what binds.
_PREFILL_BINDS = {
    "weights_compute": "compute",
    "attention": "compute",
    "elementwise": "bandwidth",
    "kernels": "host",
    "communication": "communication",
}


_ONE_REPLICA = frozenset({"prefill", "decode_small", "decode_large"})
_NOTHING_REFUSED = Check("ok")
_DECODE_BINDS = {"weights_compute": "bandwidth", "kv_cache": "bandwidth", "kernels": "host", "host": "host"}


class Side(NamedTuple):
    """A card and the precision that it runs in."""

    gpu: str
    precision: Precision = "16-bit"


class Outcome(NamedTuple):
    """What one side does. ``rate`` in tokens/s of all its cards (for the largest model: its parameters)."""

    rate: float | None
    weights: str = ""
    binds: str = ""
    llm: str = ""
    engine: str = ""
    # Why there is no rate.
    refusal: Check = _NOTHING_REFUSED


class TaskRatio(NamedTuple):
    """The first card against the second at one task, on ``cards`` of each."""

    key: str
    ratio: Figure
    first: Outcome
    second: Outcome
    cards: int
    # The family of measured rows that are like it.
    family: str


class ClaimFound(NamedTuple):
    """Where a quoted ratio holds: tasks whose ratio is near it, tasks of which only the band reaches it, and tasks that
    reach less and more."""

    claim: float
    holds: tuple[str, ...]
    reached: tuple[str, ...]
    less: tuple[str, ...]
    more: tuple[str, ...]


class CardRatio(NamedTuple):
    """Two cards compared. ``cases`` show how a larger ratio at loaded serving comes about."""

    first: Side
    second: Side
    llm: str
    tasks: tuple[TaskRatio, ...]
    cases: tuple[TaskRatio, ...]
    claims: tuple[ClaimFound, ...]

    def task(self, key: str) -> TaskRatio:
        """The task or case of this key. Raises `StopIteration` for an unknown one."""
        return next(each for each in (*self.tasks, *self.cases) if each.key == key)


class _Ran(NamedTuple):
    """One side that has run, with what its band rests on."""

    outcome: Outcome
    evidence: Evidence | None
    basis: Basis
    memory: MemoryUse | None = None


def compare_cards(first: Side, second: Side, llm_name: str, catalog: Catalog) -> CardRatio:
    """Compare two cards of the catalog at one model.

    Raises
    ------
    KeyError
        A card or the model is not in the catalog.
    """
    sides = (first, second)
    for side in sides:
        if catalog.find("gpu", side.gpu) is None:
            raise KeyError(side.gpu)
    llm = catalog.find("llm", llm_name)
    if llm is None:
        raise KeyError(llm_name)
    cards = _roomy_cards(sides, llm, catalog)
    longest = int(min(LONG_PROMPT, (llm.max_context or math.inf) - ANSWER))
    tasks = [
        _training(sides, llm, catalog),
        _fine_tuning(sides, llm, catalog),
        _serving("prefill", "ttft_idle", sides, _alone(llm), cards, catalog),
        _serving("decode_small", "decode_fixed_batch", sides, _alone(llm), cards, catalog),
        _serving("decode_large", "decode_fixed_batch", sides, _in_flight(llm, LARGE_BATCH), cards, catalog),
        _serving("serving", "max_throughput", sides, _full_queue(llm, PROMPT), cards, catalog),
    ]
    if longest > PROMPT:
        tasks.append(_serving("long_context", "max_throughput", sides, _full_queue(llm, longest), cards, catalog))
    tasks.append(_largest_model(sides, catalog))
    cases = _larger_ratios(sides, llm, cards, catalog)
    speeds = [each for each in (*tasks, *cases) if each.key != "largest_model"]
    return CardRatio(
        first, second, llm.name, tuple(tasks), tuple(cases), tuple(claim_found(claim, speeds) for claim in CLAIMS)
    )


def narrower(side: Side) -> Side:
    """The same card in the next narrower precision; in the narrowest, itself."""
    return Side(side.gpu, PRECISIONS[min(PRECISIONS.index(side.precision) + 1, len(PRECISIONS) - 1)])


def claim_found(claim: float, tasks: Sequence[TaskRatio]) -> ClaimFound:
    """Sort tasks by what their bands say of a quoted ratio; tasks without a ratio are left out."""
    holds: list[str] = []
    reached: list[str] = []
    less: list[str] = []
    more: list[str] = []
    for each in tasks:
        value, low, high = each.ratio[:3]
        if value is None or low is None or high is None:
            continue
        if low > claim or high < claim:
            (more if low > claim else less).append(each.key)
        else:
            (holds if max(value / claim, claim / value) <= _NEAR else reached).append(each.key)
    return ClaimFound(claim, tuple(holds), tuple(reached), tuple(less), tuple(more))


# --- the workloads -----------------------------------------------------------------------------------------------


def _alone(llm: Llm) -> Serve:
    return _in_flight(llm, SMALL_BATCH)


def _in_flight(llm: Llm, requests: int) -> Serve:
    return _full_queue(llm, PROMPT).model_copy(update={"load": ConcurrencyLoad(concurrency=requests)})


def _full_queue(llm: Llm, prompt: int) -> Serve:
    """Requests of one length without end, no targets, any format: the sides state theirs."""
    return Serve(
        llm=(llm.name,),
        prompt_tokens=prompt,
        prompt_spread=0.0,
        answer_tokens=ANSWER,
        answer_spread=0.0,
        load=QueueLoad(),
        first_token_s=None,
        per_token_s=None,
        lowest_format="any",
    )


def _group(gpu: Gpu, cards: int, run: Run) -> Group:
    """So many cards in servers of eight."""
    per_server = min(cards, _CARDS_OF_A_SERVER)
    return Group(gpu=gpu.name, gpus_per_server=per_server, servers=max(cards // per_server, 1), runs=(run,))


# --- serving -----------------------------------------------------------------------------------------------------


def _formats(side: Side, workload: Serve, gpu: Gpu, catalog: Catalog) -> list[str]:
    """Weight formats of the asked width that the software of this card runs, else all of that width."""
    wanted = [name for name, row in WEIGHT_FORMATS.items() if row.level in _LEVELS[side.precision]]
    group = _group(gpu, 1, Run(workload=workload.id))
    hard = hardware.resolved(group, Network(), catalog)
    runtime = serving.choose_runtime(group.runs[0], "serve", hard, group, catalog)
    supported = () if runtime is None else compatibility.formats(catalog, gpu, runtime, None, group.os)
    known = list(dict.fromkeys(row.weights for row in supported if row.weights in wanted))
    return known or [name for name in ("bf16", "int8", "int4") if name in wanted]


def _served(key: str, side: Side, workload: Serve, cards: int, catalog: Catalog) -> _Ran:
    """The fastest format of the side's width. What one request or one batch meets runs on all cards together."""
    gpu, llm = catalog.find("gpu", side.gpu), catalog.find("llm", workload.llm[0])
    tensor = min(cards, _CARDS_OF_A_SERVER)
    together = {"tp": tensor, "pp": cards // tensor} if key in _ONE_REPLICA and cards > 1 else {}
    best: _Ran | None = None
    for weights in _formats(side, workload, gpu, catalog):
        for split in (together, {}) if together else ({},):
            run = Run.model_validate({"workload": workload.id, "weights": weights, **split})
            one: serving.Prepared = serving.prepared(workload, _group(gpu, cards, run), Network(), run, llm, catalog)
            ran = _operated(key, one, workload, catalog)
            if best is None or (ran.outcome.rate or 0.0) > (best.outcome.rate or 0.0):
                best = ran
            if one.choice is not None:
                # Heads that do not divide refuse the split: then the automatic one is taken.
                break
    assert best is not None
    return best


def _operated(key: str, one: serving.Prepared, workload: Serve, catalog: Catalog) -> _Ran:
    demand = serving.demand_of(workload, None, 1.0)
    result = serving.result(one, workload, 0, 1.0, demand, catalog)
    choice = result.choice
    if choice is None or result.fits.status == "fail":
        refused = result.refusal if choice is None else result.fits
        return _Ran(_outcome(None, choice, "", refused), one.evidence, one.basis, result.memory)
    binds = result.binds
    if key == "prefill":
        rate = result.prefill_tokens_s.value
        binds = _PREFILL_BINDS.get(_longest(result.prefill_s.parts), "")
    elif key in ("decode_small", "decode_large"):
        step = result.decode_step_s.value
        rate = result.batch / step if step else None
        if binds == "prefill":
            binds = _DECODE_BINDS.get(_longest(result.decode_step_s.parts), "")
        if key == "decode_large" and result.max_batch < LARGE_BATCH:
            binds = "memory"
    else:
        rate = result.output_tokens_s_limit.value
    return _Ran(_outcome(rate, choice, binds), one.evidence, one.basis, result.memory)


def _outcome(rate: float | None, choice: Choice | None, binds: str, refusal: Check = _NOTHING_REFUSED) -> Outcome:
    if choice is None:
        return Outcome(None, refusal=refusal)
    return Outcome(rate, choice.weights, binds, choice.llm, choice.engine, refusal)


def _longest(parts: tuple[Part, ...]) -> str:
    return max(parts, key=lambda part: part.value).name if parts else ""


def _serving(
    key: str, family: str, sides: tuple[Side, Side], workload: Serve, cards: int, catalog: Catalog
) -> TaskRatio:
    first, second = (_served(key, side, workload, cards, catalog) for side in sides)
    return _ratio(key, family, first, second, cards, catalog)


def _roomy_cards(sides: tuple[Side, Side], llm: Llm, catalog: Catalog) -> int:
    """The fewest cards on which the weights of either side leave the cache its room; the most that is tried if none."""
    workload = _full_queue(llm, PROMPT)

    def roomy(cards: int) -> bool:
        uses = [_served("serving", side, workload, cards, catalog).memory for side in sides]
        return all(use is not None and use.weights <= _ROOMY * use.usable for use in uses)

    return _fewest(_SERVING_CARDS, roomy)


def _fewest(counts: Sequence[int], enough: Callable[[int], bool]) -> int:
    return next((cards for cards in counts if enough(cards)), counts[-1])


# --- training ----------------------------------------------------------------------------------------------------


def _trained(side: Side, workload: Train | FineTune, cards: int, catalog: Catalog) -> _Ran:
    gpu, llm = catalog.find("gpu", side.gpu), catalog.find("llm", workload.llm[0])
    compute = next((name for name in _TRAINING_COMPUTE[side.precision] if name in gpu.peak_flops), None)
    # A card without the narrower units trains in 16 bit.
    stated = {} if compute is None or side.precision == "16-bit" else {"compute": compute}
    run = Run.model_validate({"workload": workload.id, **stated})
    one: fitting.Trained = fitting.trained(workload, _group(gpu, cards, run), Network(), run, llm, catalog)
    result, choice = one.result, one.result.choice
    if choice is None or result.fits.status == "fail":
        refused = result.refusal if choice is None else result.fits
        return _Ran(_outcome(None, choice, "", refused), one.evidence, "not known")
    outcome = _outcome(result.tokens_s.value, choice, result.binds)._replace(weights=choice.compute)
    return _Ran(outcome, one.evidence, result.tokens_s.basis)


def _both_trained(
    key: str, sides: tuple[Side, Side], workload: Train | FineTune, counts: Sequence[int], catalog: Catalog
) -> TaskRatio:
    """On the fewest cards that hold the model on either side."""
    ran = [_trained(side, workload, counts[0], catalog) for side in sides]
    cards = counts[0]
    for cards in counts:
        ran = [_trained(side, workload, cards, catalog) for side in sides]
        if all(one.outcome.rate or one.outcome.refusal.key != "does_not_fit" for one in ran):
            break
    family = "finetune" if isinstance(workload, FineTune) else "training"
    return _ratio(key, family, ran[0], ran[1], cards, catalog)


def _training(sides: tuple[Side, Side], llm: Llm, catalog: Catalog) -> TaskRatio:
    workload = Train(llm=(llm.name,), tokens=_TRAIN_TOKENS, sequence_tokens=min(SEQUENCE, llm.max_context or SEQUENCE))
    return _both_trained("train", sides, workload, _TRAINING_CARDS, catalog)


def _fine_tuning(sides: tuple[Side, Side], llm: Llm, catalog: Catalog) -> TaskRatio:
    workload = FineTune(llm=(llm.name,), sequence_tokens=min(SEQUENCE, llm.max_context or SEQUENCE))
    return _both_trained("finetune", sides, workload, _FINETUNE_CARDS, catalog)


# --- ratios ------------------------------------------------------------------------------------------------------


def _ratio(key: str, family: str, first: _Ran, second: _Ran, cards: int, catalog: Catalog) -> TaskRatio:
    """The ratio of two rates. Sides that share the software share most of its error; others do not."""
    ratio = NOT_KNOWN
    mine, theirs = first.outcome, second.outcome
    if mine.rate and theirs.rate and first.evidence is not None and second.evidence is not None:
        calibration = catalog.calibration
        if mine.engine == theirs.engine:
            factor = evidence.ratio_factor(calibration, family, first.evidence, second.evidence)
        else:
            logs = [
                math.log(evidence.factor(calibration, family, one.evidence)) for one in (first, second) if one.evidence
            ]
            factor = math.exp(math.hypot(*logs))
        basis: Basis = "not validated" if "not validated" in (first.basis, second.basis) else "predicted"
        ratio = spread(mine.rate / theirs.rate, factor, basis)
    return TaskRatio(key, ratio, mine, theirs, cards, family)


def _largest_model(sides: tuple[Side, Side], catalog: Catalog) -> TaskRatio:
    """The largest model of the catalog that a server of eight holds, at the precision of each side."""
    largest = [_largest(side, catalog) for side in sides]
    first, second = largest
    ratio = exact(first.rate / second.rate, "predicted") if first.rate and second.rate else NOT_KNOWN
    return TaskRatio("largest_model", ratio, first, second, _CARDS_OF_A_SERVER, "peak_memory")


def _largest(side: Side, catalog: Catalog) -> Outcome:
    offered = sorted((llm for llm in catalog.llms.values() if not llm.unlisted), key=lambda llm: -llm.params_total)
    gpu = catalog.find("gpu", side.gpu)
    memory = gpu.memory_bytes.value * _CARDS_OF_A_SERVER
    least = min(row.bits for row in WEIGHT_FORMATS.values() if row.level in _LEVELS[side.precision]) / 8.0
    refused = Check("fail", "does_not_fit")
    for llm in offered:
        if llm.params_total * least > memory:
            continue
        ran = _served("serving", side, _full_queue(llm, PROMPT), _CARDS_OF_A_SERVER, catalog)
        if ran.outcome.rate:
            return ran.outcome._replace(rate=float(llm.params_total), binds="memory")
        refused = ran.outcome.refusal
    return Outcome(None, refusal=refused)


def _larger_ratios(sides: tuple[Side, Side], llm: Llm, cards: int, catalog: Catalog) -> list[TaskRatio]:
    """How a larger ratio comes about at loaded serving: in turn and together.

    The first side in the next narrower format; both on the fewest cards that hold the second side at all, where its
    cache has little room; both.
    """
    workload = _full_queue(llm, PROMPT)
    first, second = sides
    narrow = (narrower(first), second)

    def held(fewer: int) -> bool:
        return bool(_served("serving", second, workload, fewer, catalog).outcome.rate)

    tight = _fewest(_SERVING_CARDS, held)
    found = []
    if narrow[0] != first:
        found.append(_serving("one_side_narrow", "max_throughput", narrow, workload, cards, catalog))
    if tight < cards:
        found.append(_serving("short_of_memory", "max_throughput", sides, workload, tight, catalog))
        if narrow[0] != first:
            found.append(_serving("both", "max_throughput", narrow, workload, tight, catalog))
    return found
