"""One group serving one workload: choose how it runs, then find where it stands at the load.

The choice follows the rules of the plan: every allowed format and split becomes a row of one case, the row with the
highest output within the targets wins, ties go to the smaller tensor and pipeline degree. A grid over the number of
requests in flight then gives the whole curve of load against first token and time a token.
"""

from typing import NamedTuple

import numpy as np

from gpuplanner.catalog import compatibility
from gpuplanner.catalog.load import Catalog
from gpuplanner.catalog.schema import Gpu, Llm, Runtime
from gpuplanner.model import case as cases
from gpuplanner.model import (
    curves,
    evidence,
    hardware,
    inference,
    link_waits,
    memory,
    own_rows,
    parallelism,
    power,
    queueing,
)
from gpuplanner.model.bands import between, spread, weakest
from gpuplanner.model.case import KV_BYTES, WEIGHT_FORMATS, Case, IdentityCache, Setting
from gpuplanner.model.plan import Group, Network, Run, Serve, runtime_order
from gpuplanner.model.results import (
    NOT_KNOWN,
    Basis,
    Check,
    Choice,
    Curve,
    Demand,
    FormatOption,
    MemoryUse,
    Part,
    ServeResult,
    exact,
)

_LEVELS = {"32-bit": 32, "16-bit": 16, "8-bit": 8, "4-bit": 4, "any": 0}
_POINTS = 32
_LEAST_IN_FLIGHT = 0.05
_SMALL_CARD_BYTES = 60e9
_BATCHED_LARGE, _BATCHED_SMALL = 8192, 2048
# vLLM took 0.90 of the memory up to 0.19 and takes 0.92 from 0.22 on.
_NEW_VLLM_FRACTION = 0.92
_CONTEXT_STEP = 1024
# Router imbalance between replicas takes 2 % of linear scaling; stages never take equally long, which takes 7 %
# (judged, ±5 %).
_REPLICA_SHARE = 0.98
_STAGE_SHARE = 0.93
_DRAFT_ACCEPTANCE = {"draft": 0.7, "eagle": 0.8, "mtp": 0.8}
_SPARSE_SPEED = 2.0
_TIE = 1e-9
# A queue this close to capacity does not settle within a peak hour: it counts as overloaded.
FULL = 0.98


class Candidate(NamedTuple):
    """One way to run: a format and a split."""

    weights: str
    compute: str
    kv: str
    split: parallelism.Split
    setting: Setting


class Prepared(NamedTuple):
    """A run with its choice made: the case of the chosen row, and its curve over requests in flight of one replica."""

    llm: Llm
    runtime: Runtime | None
    hardware: hardware.Hardware
    choice: Choice | None
    refusal: Check
    case: Case | None
    candidate: Candidate | None
    fits: Check
    memory: memory.ServingMemory | None
    context: float
    batch: np.ndarray
    requests_s: np.ndarray
    first_token_s: np.ndarray
    first_token_mean_s: np.ndarray
    per_token_s: np.ndarray
    room: float
    capacity: float
    capacity_low: float
    capacity_high: float
    limit: float
    formats: tuple[FormatOption, ...]
    evidence: evidence.Evidence | None
    basis: Basis

    @property
    def counts_as_one(self) -> bool:
        """Remembered by its own identity (`IdentityCache`)."""
        return True


def context_tokens(workload: Serve, llm: Llm) -> float:
    """The longest sequence that must fit: stated, or the 99th percentile of prompt and answer rounded up."""
    usual = float(workload.prompt_tokens + workload.answer_tokens)
    if workload.max_context_tokens != "auto":
        return max(float(workload.max_context_tokens), usual)
    prompt = workload.prompt_tokens * queueing.lognormal_excess(workload.prompt_spread, 0.99)
    answer = workload.answer_tokens * queueing.lognormal_excess(workload.answer_spread, 0.99)
    long = np.ceil((prompt + answer) / _CONTEXT_STEP) * _CONTEXT_STEP
    return max(float(min(long, llm.max_context or np.inf)), usual)


def _judge(
    catalog: Catalog,
    gpu: Gpu,
    runtime: Runtime,
    version: str | None,
    weights: str | None,
    compute: str | None,
    os: str,
    llm: Llm | None,
    gpus: int,
    nodes: int,
) -> compatibility.Verdict:
    return compatibility.judge(
        catalog, gpu, runtime, version=version, weights=weights, compute=compute, os=os, llm=llm, gpus=gpus, nodes=nodes
    )


# Whether software runs on a card, remembered: it is asked at every edit and changes with few.
judged = IdentityCache(_judge)


def choose_runtime(run: Run, kind: str, hard: hardware.Hardware, group: Group, catalog: Catalog) -> Runtime | None:
    """The stated software, or the first of the order of preference that runs on the card."""
    if run.runtime != "auto":
        return catalog.find("runtime", run.runtime)
    if hard.gpu is None:
        return catalog.find("runtime", "llama.cpp")
    for name in runtime_order(kind):
        runtime = catalog.find("runtime", name)
        if runtime is None or runtime.engine is None:
            continue
        verdict = judged(catalog, hard.gpu, runtime, _version(run), None, None, group.os, None, hard.devices, 1)
        if verdict.answer in ("works", "works with limits") and compatibility.formats(
            catalog, hard.gpu, runtime, _version(run), group.os
        ):
            return runtime
    return None


def _version(run: Run) -> str | None:
    return None if run.version == "auto" else run.version


def _formats(
    run: Run, workload: Serve, llm: Llm, hard: hardware.Hardware, runtime: Runtime, group: Group, catalog: Catalog
) -> list[tuple[str, str]]:
    """Pairs of weight format and compute type that may be used, at or above the lowest allowed format."""
    assert hard.gpu is not None
    supported = compatibility.formats(catalog, hard.gpu, runtime, _version(run), group.os)
    pairs = [(row.weights, row.compute) for row in supported if row.weights in WEIGHT_FORMATS]
    if run.weights != "auto":
        pairs = [pair for pair in pairs if pair[0] == run.weights] or _by_hand(run.weights, hard, catalog)
    else:
        lowest = _LEVELS[workload.lowest_format]
        native = (
            4
            if (llm.native_dtype or "").startswith("mxfp4")
            else 8
            if (llm.native_dtype or "").startswith("fp8")
            else 16
        )
        # A model that was trained in a low precision loses nothing in it.
        pairs = [
            pair
            for pair in pairs
            if WEIGHT_FORMATS[pair[0]].level >= min(lowest, native) and pair[0] not in ("fp32", "nf4")
        ]
        if native != 4:
            pairs = [pair for pair in pairs if pair[0] != "mxfp4"]
        kinds = {weights for weights, _ in pairs}
        if "bf16" in kinds:
            pairs = [pair for pair in pairs if pair[0] != "fp16"]
        if runtime.engine not in cases.SINGLE_USER_ENGINES:
            # Server engines read GGUF files as an experiment: used when asked for, never chosen.
            pairs = [pair for pair in pairs if pair[0] not in compatibility.GGUF_FORMATS]
    if run.compute != "auto":
        pairs = [(weights, run.compute) for weights, _ in pairs]
    return list(dict.fromkeys(pairs))


def _by_hand(weights: str, hard: hardware.Hardware, catalog: Catalog) -> list[tuple[str, str]]:
    assert hard.gpu is not None
    compute, _mode = compatibility.silicon_compute(catalog, hard.gpu, weights)
    return [(weights, compute)]


def _kv_choices(run: Run, hard: hardware.Hardware, runtime: Runtime, group: Group, catalog: Catalog) -> list[str]:
    if run.kv != "auto":
        return [run.kv]
    assert hard.gpu is not None
    known = compatibility.kv_formats(catalog, hard.gpu, runtime, _version(run), group.os)
    small = [name for name in ("fp8", "q8_0", "int8") if name in known][:1]
    return ["fp16" if "bf16" not in known and "fp16" in known else "bf16", *small]


def _candidates(
    run: Run, workload: Serve, llm: Llm, hard: hardware.Hardware, runtime: Runtime, group: Group, catalog: Catalog
) -> tuple[list[Candidate], parallelism.Refusal | None]:
    engine = cases.engine_row(runtime.engine or "", _version(run))
    stated = {name: getattr(run, name) for name in ("tp", "pp", "dp") if getattr(run, name) != "auto"}
    ep = run.ep if run.ep != "auto" else 1
    options = parallelism.splits(llm, runtime, hard.devices, hard.devices_per_server, hard.link_domain)
    if run.attention_dp is True:
        ranks = min(hard.devices, hard.devices_per_server)
        if llm.moe is None:
            return [], parallelism.Refusal("ep_without_experts", {"ep": ranks})
        options = [parallelism.Split(1, 1, hard.devices // ranks, ranks, ranks)]
    if stated:
        chosen = []
        for split in options or [parallelism.Split(1, 1, 1)]:
            tp, pp = stated.get("tp", split.tp), stated.get("pp", split.pp)
            dp = stated.get("dp", max(hard.devices // (tp * pp), 1))
            chosen.append(parallelism.Split(tp, pp, dp))
        options = list(dict.fromkeys(chosen))
        refusals = [
            parallelism.refusal(llm, runtime, split, hard.devices, hard.devices_per_server, hard.link_domain)
            for split in options
        ]
        options = [split for split, refused in zip(options, refusals, strict=True) if refused is None]
        if not options:
            return [], refusals[0]
    if ep > 1:
        checked = [split._replace(ep=ep) for split in options]
        refusals = [
            parallelism.refusal(llm, runtime, split, hard.devices, hard.devices_per_server, hard.link_domain)
            for split in checked
        ]
        options = [split for split, refused in zip(checked, refusals, strict=True) if refused is None]
        if not options:
            return [], refusals[0]
    assert hard.gpu is not None
    architecture = catalog.calibration.architecture(hard.gpu.architecture)
    rows: list[Candidate] = []
    for weights, compute in _formats(run, workload, llm, hard, runtime, group, catalog):
        setting = Setting(architecture, hard.gpu.vendor, engine, weights, compute, llm.moe is not None)
        for kv in _kv_choices(run, hard, runtime, group, catalog):
            rows.extend(Candidate(weights, compute, kv, split, setting) for split in options)
    return rows, None


def build_case(
    candidates: list[Candidate],
    run: Run,
    workload: Serve,
    llm: Llm,
    hard: hardware.Hardware,
    runtime: Runtime,
    catalog: Catalog,
    stored: bool = False,
) -> Case:
    """The case whose rows are the candidates.

    ``stored``: with the weights as pruning leaves them in memory. Kernels read and multiply pruned weights like any
    other, but for 2:4 on cards with units for it; so a case for speed is built without.
    """
    calibration = catalog.calibration
    assert hard.gpu is not None
    card = hardware.card_columns(hard, catalog, decode_bound=True)
    shape: np.ndarray = cases.llm_columns(llm).copy()
    sparse_units = run.pruning_2_4 and has_sparse_units(hard.gpu)
    if run.pruning_kept < 1.0 and stored:
        for name in ("params", "nonexpert", "expert", "head", "embedding", "active"):
            shape[cases.LlmColumns._fields.index(name)] *= run.pruning_kept
    single_user = runtime.engine in cases.SINGLE_USER_ENGINES
    largest = (
        run.max_sequences
        if run.max_sequences != "auto"
        else _engine_limit(candidates[0].setting.engine, runtime, catalog)
    )
    batched = run.max_batched_tokens
    if batched == "auto":
        large = hard.gpu.memory_bytes.value / hard.gpu.gpus_per_card >= _SMALL_CARD_BYTES
        batched = _BATCHED_LARGE if large else _BATCHED_SMALL
    fraction = run.memory_fraction
    if fraction == "auto":
        new_vllm = runtime.engine == "vLLM" and _version(run) is None
        fraction = _NEW_VLLM_FRACTION if new_vllm else runtime.memory_fraction or (1.0 if single_user else 0.9)
    speculation = run.speculation
    draft, accepted, draft_cost = 0.0, 0.0, 0.0
    if speculation is not None:
        accepted = _DRAFT_ACCEPTANCE[speculation.kind] if speculation.acceptance == "auto" else speculation.acceptance
        draft, draft_cost = float(speculation.draft_tokens), speculation.draft_cost
    sparse = _SPARSE_SPEED if sparse_units else 1.0
    settings = {candidate.setting for candidate in candidates}
    peaks = {setting: cases.compute_peak(card, setting) * sparse for setting in settings}
    places: dict[Setting, np.ndarray] = {setting: cases.constants_index(setting, calibration) for setting in settings}
    widths = {name: cases.bytes_per_weight(name, llm, single_user) for name in {one.weights for one in candidates}}
    rows, indices = [], []
    for candidate in candidates:
        body, expert, rest = widths[candidate.weights]
        if run.pruning_2_4 and (stored or sparse_units):
            # 2:4 keeps half of the weights and two bits of position for each pair that is kept.
            body, expert = body * 0.5 + 0.125, expert * 0.5 + 0.125
        split = candidate.split
        rows.append(
            (
                peaks[candidate.setting], split.tp, split.pp, split.dp, split.ep,
                split.attention_dp,
                body, expert, rest, KV_BYTES[candidate.kv], workload.prompt_tokens, workload.answer_tokens,
                workload.shared_prefix_share if runtime.prefix_cache is not False else 0.0, largest, batched, fraction,
                float(runtime.memory_fraction_of_free), float(single_user), float(runtime.engine == "vLLM"),
                hard.devices_per_server, hard.network_per_device, draft, accepted, draft_cost,
                float(runtime.engine == "SGLang"),
            )
        )  # fmt: skip
        indices.append(places[candidate.setting])
    return cases.build([shape], [card], rows, indices, calibration)


def _engine_limit(engine: str, runtime: Runtime, catalog: Catalog) -> float:
    stated = catalog.calibration.engines.get(engine, {}).get("max_sequences")
    return float(stated or runtime.max_sequences or 256)


def has_sparse_units(gpu: Gpu) -> bool:
    """2:4 sparsity in matrix units: NVIDIA from the A100 on."""
    return gpu.vendor == "NVIDIA" and float(gpu.compute_capability or 0) >= 8.0


class Load(NamedTuple):
    """The grid of requests in flight of every row, and what follows. Rates are of all replicas."""

    batch: np.ndarray
    requests_s: np.ndarray
    first_token_s: np.ndarray
    first_token_mean_s: np.ndarray
    per_token_s: np.ndarray
    limit: np.ndarray


def load_curve(case: Case, workload: Serve, room: np.ndarray, points: int) -> Load:
    """How first token and time a token grow with load, open loop, for every row of the case.

    In flight goes from nearly none to what the cache and the engine hold. Rate = what that many yield; the wait for
    prefill (M/G/1) and for a place (M/M/m) and the tail of prompt lengths make the percentile.
    """
    wide = case.across()
    most = np.maximum(np.minimum(room, case.run.max_sequences), 1.0)[:, None]
    batch = _LEAST_IN_FLIGHT * (most / _LEAST_IN_FLIGHT) ** np.linspace(0.0, 1.0, points)
    state = inference.continuous_batching(wide, batch)
    shared = np.where(wide.run.dp > 1, _REPLICA_SHARE, 1.0) * np.where(wide.run.pp > 1, _STAGE_SHARE, 1.0)
    # More in flight may yield less (experts wake up): the rate that is offered never falls.
    rate = np.maximum.accumulate(state.requests_s * shared, axis=1)
    # A prompt that is read inside decode steps shares their weights.
    service = state.prompt_s
    busy = np.minimum(rate / wide.run.dp * service, 0.999)
    wait = queueing.prefill_wait(busy, service, np.asarray(workload.prompt_spread**2))
    utilisation = np.minimum(rate / rate[:, -1:], 0.9999)
    queue = wait + queueing.admission_wait(utilisation, most, state.cycle_s)
    # The second request in flight shares weights with a prompt: it never comes out faster than a lone one for that.
    mean = np.maximum.accumulate(inference.first_token_open(wide, state, queue), axis=1)
    tail = queueing.tail_multiple(workload.first_token_percentile) - 1.0
    excess = queueing.lognormal_excess(workload.prompt_spread, workload.first_token_percentile) - 1.0
    slowest = mean + np.hypot(np.maximum(state.prefill_one_s * excess, 0.0), tail * queue)
    first = np.maximum.accumulate(slowest, axis=1)
    crowded = np.minimum(batch + queueing.normal_quantile(workload.per_token_percentile) * np.sqrt(batch), most)
    # Time a token at the percentile of how many are in flight: read off the same curve.
    per_token = curves.read_off(crowded, batch, state.per_token_s)
    return Load(batch, rate, first, mean, per_token, rate[:, -1])


def capacity(
    rate: np.ndarray, first: np.ndarray, token: np.ndarray, first_target: float | None, token_target: float | None
) -> np.ndarray:
    """Highest rate on each curve at which both targets hold; 0 where they never do.

    The last axis runs along the curve.
    """
    shape: tuple[int, ...] = np.broadcast_shapes(rate.shape, first.shape, token.shape)
    over: np.ndarray = np.zeros(shape)
    for curve, target in ((first, first_target), (token, token_target)):
        if target is not None:
            over = np.maximum(over, curve / target)
    over, offered = over.reshape(-1, shape[-1]), np.broadcast_to(rate, shape).reshape(-1, shape[-1])
    # A curve that is not a number is never fast enough.
    late = ~(over <= 1.0)
    row, high = np.arange(over.shape[0]), np.maximum(late.argmax(axis=1), 1)
    below, above = over[row, high - 1], over[row, high]
    slow, fast = offered[row, high - 1], offered[row, high]
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.nan_to_num((1.0 - below) / (above - below))
    between_points = slow + np.minimum(np.maximum(share, 0.0), 1.0) * (fast - slow)
    reached = np.where(late.any(axis=1), np.where(late[:, 0], 0.0, between_points), offered[:, -1])
    return reached.reshape(shape[:-1])


def prepare(workload: Serve, group: Group, network: Network, run: Run, llm: Llm, catalog: Catalog) -> Prepared:
    """Choose how the run is carried out and trace its curve; independent of the load itself."""
    hard = hardware.resolved(group, network, catalog)
    runtime = choose_runtime(run, "serve", hard, group, catalog)
    none = np.zeros(0)
    empty = Prepared(
        llm, runtime, hard, None, Check("unknown", "not_known", {"reason": "runtime"}), None, None, Check("unknown",
        "not_known"), None,
        context_tokens(workload, llm), none, none, none, none, none, 0.0, 0.0, 0.0, 0.0, 0.0, (), None, "not known",
    )  # fmt: skip
    if hard.gpu is None or hard.devices == 0:
        return empty._replace(refusal=Check("fail", "no_gpu"))
    if hard.gpu.memory_bandwidth_bytes_s is None or not hard.gpu.peak_flops:
        return empty._replace(refusal=Check("unknown", "card_figures_missing", {"gpu": hard.gpu.name}))
    if runtime is None and run.runtime != "auto":
        return empty._replace(refusal=Check("unknown", "runtime_not_scored", {"runtime": run.runtime}))
    if runtime is None:
        return empty._replace(refusal=Check("fail", "no_runtime", {"gpu": hard.gpu.name}))
    if (
        runtime.engine is None
        or f"layer time/{cases.engine_row(runtime.engine, _version(run))}" not in catalog.calibration.names
    ):
        return empty._replace(refusal=Check("unknown", "runtime_not_scored", {"runtime": runtime.name}))
    weights = None if run.weights == "auto" else run.weights
    verdict = judged(
        catalog, hard.gpu, runtime, _version(run), weights, None, group.os, llm, hard.devices, group.servers
    )
    if verdict.answer == "fails":
        numbers: dict[str, float | str] = {
            "runtime": runtime.name,
            "gpu": hard.gpu.name,
            "reason": compatibility.SpokenVerdict(verdict),
        }
        return empty._replace(refusal=Check("fail", "runtime_fails", numbers))
    candidates, refused = _candidates(run, workload, llm, hard, runtime, group, catalog)
    if refused is not None:
        return empty._replace(refusal=Check("fail", refused.key, refused.numbers))
    if candidates and run.compute != "auto":
        # A type of arithmetic that was asked for and that the card has no units for.
        card = hardware.card_columns(hard, catalog, decode_bound=True)
        candidates = [one for one in candidates if np.isfinite(cases.compute_peak(card, one.setting))]
        if not candidates:
            numbers = {"gpu": hard.gpu.name, "compute": run.compute}
            return empty._replace(refusal=Check("fail", "no_compute_unit", numbers))
    if not candidates:
        return empty._replace(
            refusal=Check(
                "fail", "no_format", {"runtime": runtime.name, "gpu": hard.gpu.name, "lowest": workload.lowest_format}
            )
        )

    case = build_case(candidates, run, workload, llm, hard, runtime, catalog)
    pruned = run.pruning_kept < 1.0 or run.pruning_2_4
    held = build_case(candidates, run, workload, llm, hard, runtime, catalog, stored=True) if pruned else case
    split_memory = memory.serving_memory(held)
    context = empty.context
    room = memory.sequences_that_fit(case, split_memory, case.run.input + case.run.output / 2.0)
    longest = memory.sequences_that_fit(case, split_memory, np.full(case.size, context))
    fits = longest >= 1.0
    # The cache stays in 16 bit unless it does not fit: the small one counts only for splits whose 16-bit cache fits
    # nowhere.
    wide = np.array([KV_BYTES[candidate.kv] >= 2.0 for candidate in candidates])
    allowed = fits & (wide if run.kv == "auto" and (fits & wide).any() else True)
    keep = np.flatnonzero(allowed) if allowed.any() else np.flatnonzero(wide) if wide.any() else np.arange(case.size)
    traced = load_curve(case.rows(keep), workload, np.maximum(room[keep], 1.0), _POINTS)
    within = capacity(
        traced.requests_s, traced.first_token_s, traced.per_token_s, workload.first_token_s, workload.per_token_s
    )
    within, limit = np.nan_to_num(within, nan=0.0), np.nan_to_num(traced.limit, nan=0.0)
    tp, pp = case.run.tp[keep], case.run.pp[keep]
    # Within the targets first, else at all, else what needs least memory.
    score = within if within.max() > 0 else limit
    if not fits.any():
        score = (split_memory.budget - memory.cache_per_gpu(case, np.full(case.size, context)))[keep]
        best_score = score.max()
        near = np.flatnonzero(score >= best_score - abs(best_score) * _TIE)
    else:
        near = np.flatnonzero(score >= score.max() * (1.0 - _TIE))
    best = near[np.lexsort((pp[near], tp[near]))[0]]
    at = int(keep[best])
    chosen, one = candidates[at], case.rows(np.array([at]))
    curve = Load(*(part[best] for part in traced))
    ranks = chosen.split.tp * chosen.split.attention_dp
    linked = hard.link_one_way > 0 and ranks <= hard.link_domain
    seen = evidence.serving(
        catalog.calibration, chosen.setting, hard.gpu, llm, runtime, chosen.split, context, hard.devices_per_server,
        linked,
    )  # fmt: skip
    if catalog.own_rows is not None:
        like = own_rows.serving_like(
            hard.gpu, llm, chosen.setting, float(workload.prompt_tokens), float(workload.answer_tokens)
        )
        seen = own_rows.informed(catalog.calibration, seen, like, own_rows.SERVED, catalog.own_rows.residuals)
        curve = _moved(curve, seen)
    factor = evidence.factor(catalog.calibration, "max_throughput", seen)
    first_factor = evidence.factor(catalog.calibration, "ttft_loaded", seen)
    token_factor = evidence.factor(catalog.calibration, "serving_tpot", seen)

    # The capacity itself, and with each uncertain input at its unfavourable and its favourable end.
    ends = np.ones((3, 7))
    for row, widest in enumerate((1.0 / factor, first_factor, token_factor)):
        ends[row, 1 + row], ends[row, 4 + row] = widest, 1.0 / widest
    rate, first, token = ends[:, :, None]
    shifted = (curve.requests_s * rate, curve.first_token_s * first, curve.per_token_s * token)
    middle, *others = capacity(*shifted, workload.first_token_s, workload.per_token_s).tolist()
    low, high = _quadrature(middle, others[:3]), _quadrature(middle, others[3:])
    one_memory = memory.ServingMemory(*(column[[at]] for column in split_memory))
    if seen.own:
        # What another format would give moves with what this one gives.
        within = within * (middle / within[best] if within[best] > 0 else 1.0)
        limit = limit * evidence.shift(seen, "max_throughput")
    auto = frozenset(
        name
        for name in ("llm", "runtime", "version", "weights", "compute", "kv", "tp", "pp", "dp", "ep", "max_sequences")
        if getattr(run, name) == "auto"
    )
    split = chosen.split
    choice = Choice(
        llm.name, runtime.name, "" if run.version == "auto" else run.version, chosen.setting.engine, chosen.weights,
        chosen.compute, chosen.kv,
        split.tp, split.pp, split.dp, split.ep, 1, split.attention_dp > 1, int(one.run.max_sequences[0]), auto=auto,
    )  # fmt: skip
    needed = float(
        (
            one_memory.weights
            + one_memory.activations
            + one_memory.runtime
            + memory.cache_per_gpu(one, np.array([context]))
        )[0]
    )
    usable = float(one_memory.usable[0])
    if fits[at]:
        fit = Check(
            "warn" if needed > 0.95 * usable else "ok",
            "tight_memory" if needed > 0.95 * usable else "fits",
            {"share": needed / usable},
        )
    else:
        fit = Check("fail", "does_not_fit", {"need_bytes": needed, "usable_bytes": usable, "gpu": hard.gpu.name})
    limits = Check(
        "warn",
        "runtime_limits",
        {"runtime": runtime.name, "gpu": hard.gpu.name, "reason": compatibility.SpokenVerdict(verdict)},
    )
    unknown = Check("warn", "runtime_unknown", {"runtime": runtime.name, "gpu": hard.gpu.name})
    state = {"works with limits": limits, "not known": unknown}.get(verdict.answer, Check("ok"))
    return Prepared(
        llm, runtime, hard, choice, state, one, chosen, fit, one_memory, context, curve.batch, curve.requests_s,
        curve.first_token_s,
        curve.first_token_mean_s, curve.per_token_s, float(room[at]), middle if fits[at] else 0.0,
        low if fits[at] else 0.0,
        high if fits[at] else 0.0, float(curve.limit) if fits[at] else 0.0,
        _format_options(candidates, keep, within, limit, fits, held, split_memory), seen,
        "predicted" if seen.validated else "not validated",
    )  # fmt: skip


def _moved(curve: Load, seen: evidence.Evidence) -> Load:
    """The curve where the buyer's own measurements put it."""
    rate = evidence.shift(seen, "max_throughput")
    first, token = evidence.shift(seen, "ttft_loaded"), evidence.shift(seen, "serving_tpot")
    return curve._replace(
        requests_s=curve.requests_s * rate, limit=curve.limit * rate, first_token_s=curve.first_token_s / first,
        first_token_mean_s=curve.first_token_mean_s / first, per_token_s=curve.per_token_s / token,
    )  # fmt: skip


def _quadrature(middle: float, ends: list[float]) -> float:
    """One end of the band of a derived figure: log deviations of independent inputs add in quadrature."""
    if middle <= 0:
        return max(ends)
    deviations = [np.log(max(end, middle / 100.0) / middle) for end in ends]
    sign = -1.0 if min(ends) < middle else 1.0
    return middle * float(np.exp(sign * np.sqrt(np.sum(np.square(deviations)))))


def _format_options(
    candidates: list[Candidate],
    keep: np.ndarray,
    within: np.ndarray,
    limit: np.ndarray,
    fits: np.ndarray,
    case: Case,
    split_memory: memory.ServingMemory,
) -> tuple[FormatOption, ...]:
    best: dict[str, FormatOption] = {}
    shares = ((split_memory.weights + split_memory.activations + split_memory.runtime) / split_memory.usable)[keep]
    whole = memory.weight_bytes(case)[keep]
    for i, at in enumerate(keep):
        candidate, fit = candidates[at], bool(fits[at])
        option = FormatOption(
            candidate.weights, candidate.compute, fit, float(within[i]) * float(case.run.output[at]) if fit else 0.0,
            float(limit[i]) * float(case.run.output[at]) if fit else 0.0, float(shares[i]), float(whole[i]),
        )  # fmt: skip
        known = best.get(candidate.weights)
        if known is None or (option.fits, option.output_tokens_s, option.output_tokens_s_limit) > (
            known.fits,
            known.output_tokens_s,
            known.output_tokens_s_limit,
        ):
            best[candidate.weights] = option
    return tuple(best.values())


prepared = IdentityCache(prepare, limit=512)


def demand_of(workload: Serve, llm: Llm | None, term_years: float) -> Demand:
    """What the workload asks for at its peak."""
    load, answer = workload.load, float(workload.answer_tokens)
    flop = None
    if llm is not None:
        count = cases.parameters(llm)
        flop = 2.0 * count.active * (workload.prompt_tokens * (1.0 - workload.shared_prefix_share) + answer)
    rate: float | None = None
    concurrency: float | None = None
    if load.kind == "users":
        rate = load.users * load.requests_per_user_peak_hour / 3600.0
    elif load.kind == "rate":
        rate = load.requests_s
    elif load.kind == "concurrency":
        concurrency = load.concurrency
    growth = (1.0 + workload.growth_per_year) ** term_years
    return Demand(
        workload.id, rate, None if rate is None else rate * answer,
        None if rate is None else rate * workload.prompt_tokens, concurrency, flop,
        None if rate is None else rate * growth,
    )  # fmt: skip


def result(
    prepared_run: Prepared, workload: Serve, group_index: int, share: float, demand: Demand, catalog: Catalog
) -> ServeResult:
    """Where the prepared run stands when it carries `share` of the demand."""
    p = prepared_run
    nothing = ServeResult(
        workload.id, group_index, p.choice, p.refusal, p.fits, None, NOT_KNOWN, NOT_KNOWN, NOT_KNOWN, NOT_KNOWN,
        NOT_KNOWN, NOT_KNOWN, NOT_KNOWN,
        NOT_KNOWN, 0.0, 0.0, NOT_KNOWN, NOT_KNOWN, NOT_KNOWN, NOT_KNOWN, "", 0.0, NOT_KNOWN, NOT_KNOWN, share, None,
    )  # fmt: skip
    if p.case is None or p.memory is None or p.evidence is None or p.choice is None or p.hardware.gpu is None:
        return nothing
    case, calibration, seen = p.case, catalog.calibration, p.evidence
    answer, replicas = float(workload.answer_tokens), p.choice.dp
    factor = {
        family: evidence.factor(calibration, family, seen)
        for family in (
            "max_throughput",
            "ttft_loaded",
            "ttft_idle",
            "serving_tpot",
            "decode_fixed_batch",
            "energy",
            "power_gpu",
        )
    }
    # Speeds are multiplied, times divided by what own measurements say.
    faster = {family: evidence.shift(seen, family) for family in factor}
    fits = p.fits.status != "fail"
    overloaded = False
    if demand.requests_s is not None:
        wanted = demand.requests_s * share
        overloaded = wanted >= FULL * p.limit
        batch = float(np.interp(min(wanted, p.limit), p.requests_s, p.batch))
    elif demand.concurrency is not None:
        batch = min(demand.concurrency * share / replicas, max(p.room, 1.0), float(p.choice.max_sequences))
        wanted = float(np.interp(batch, p.batch, p.requests_s))
    else:
        batch, wanted = float(p.batch[-1]), p.limit
    # The operating point and a single request in one pass: position 0 and 1.
    case = case.rows(np.array([0, 0]))
    state = inference.continuous_batching(case, np.array([max(batch, _LEAST_IN_FLIGHT), 1.0]))
    step, chunk = state.step, state.chunk
    step_parts = tuple(
        Part(name, float(value[0]) / faster["serving_tpot"])
        for name, value in (
            ("weights_compute", step.matrix),
            ("kv_cache", step.cache),
            ("kernels", step.layers),
            ("communication", step.communication),
            ("host", step.host),
        )
    )
    chunk_parts = tuple(
        Part(name, float(value[0] / chunk.prompts[0]) / faster["ttft_idle"])
        for name, value in (
            ("weights_compute", chunk.matrix),
            ("attention", chunk.attention),
            ("elementwise", chunk.elementwise),
            ("kernels", chunk.layers),
            ("communication", chunk.communication),
        )
    )
    basis = p.basis
    if demand.concurrency is not None:
        waiting = max(demand.concurrency * share / replicas - min(p.room, p.choice.max_sequences), 0.0) / max(
            p.room, 1.0
        )
        first_value = float(inference.first_token_loaded(case, state, np.array([waiting, 0.0]))[0])
        first_value /= faster["ttft_loaded"]
        token_value = float(state.per_token_s[0]) / faster["serving_tpot"]
    elif demand.requests_s is not None:
        first_value, token_value = (
            float(np.interp(batch, p.batch, p.first_token_s)),
            float(np.interp(batch, p.batch, p.per_token_s)),
        )
    else:
        first_value, token_value = float("nan"), float(state.per_token_s[0]) / faster["serving_tpot"]
    first = spread(first_value, factor["ttft_loaded"], basis) if fits else NOT_KNOWN
    if overloaded:
        first = NOT_KNOWN._replace(note="overloaded")
    elif demand.requests_s is None and demand.concurrency is None:
        first = NOT_KNOWN._replace(note="queue")
    token = (
        spread(token_value, factor["serving_tpot"], basis, tuple(Part(part.name, part.value) for part in step_parts))
        if fits
        else NOT_KNOWN
    )

    # Attention ranks each hold the cache of their own share of the sequences.
    holders = float(case.run.attention_dp[0])
    needed_batch = min(max(batch / holders, 1.0), max(p.room / holders, 1.0))
    one_cache, longest = (
        float(size) for size in memory.cache_per_gpu(case, np.array([workload.prompt_tokens + answer / 2.0, p.context]))
    )
    cache = one_cache * needed_batch
    use = MemoryUse(
        float(p.memory.weights[0]), max(cache, longest), float(p.memory.activations[0]), 0.0, 0.0,
        float(p.memory.runtime[0]),
        p.hardware.gpu.memory_bytes.value / p.hardware.gpu.gpus_per_card, float(p.memory.usable[0]),
    )  # fmt: skip
    memory_factor = 1.0 + 0.03 * (2.0 if not seen.validated else 1.0)
    parts = (
        Part("weights", use.weights),
        Part("kv_cache", use.kv_cache),
        Part("activations", use.activations),
        Part("runtime", use.runtime),
    )
    share_of_usable = spread(
        use.used / use.usable, memory_factor, basis, tuple(Part(part.name, part.value / use.usable) for part in parts)
    )

    output = between(p.capacity * answer, p.capacity_low * answer, p.capacity_high * answer, basis)
    limit = spread(p.limit * answer, factor["max_throughput"], basis)
    headroom = NOT_KNOWN
    if demand.requests_s and share > 0:
        need = demand.requests_s * share
        headroom = between(p.capacity / need - 1.0, p.capacity_low / need - 1.0, p.capacity_high / need - 1.0, basis)
    memory_use, compute_use = inference.utilisation(case, state)
    busy = float(np.clip(wanted / p.limit, 0.0, 1.0)) if p.limit > 0 else 1.0
    active = min(batch, 1.0)
    idle = power.idle_power(p.hardware.gpu, catalog)
    gpu_w = NOT_KNOWN
    tdp = float(case.gpu.tdp[0])
    if fits and np.isfinite(tdp) and idle.value is not None:
        idle_w = idle.value / p.hardware.gpu.gpus_per_card
        running = float(power.gpu_power(np.array(idle_w), np.array(tdp), memory_use, compute_use, calibration)[0])
        waiting_w = idle_w + power.context_power(p.hardware.gpu, catalog)
        value = (active * running + (1.0 - active) * min(waiting_w, tdp)) * faster["power_gpu"]
        top = min(tdp, hard_cap) if (hard_cap := p.hardware.power_cap_w) else tdp
        value = min(value, top)
        gpu_w = between(
            value,
            max(value / factor["power_gpu"], idle_w),
            min(value * factor["power_gpu"], top),
            weakest(basis, idle.basis) if idle.basis == "assumed" else basis,
        )
    energy = NOT_KNOWN
    if gpu_w.value is not None and wanted > 0:
        value = gpu_w.value * p.hardware.devices / (min(wanted, p.limit) * answer)
        if "energy" in seen.own:
            # Measured energy speaks for itself, beside what speed and power say.
            value *= faster["energy"] * faster["max_throughput"] / faster["power_gpu"]
        energy = spread(value, factor["energy"], basis)
    terms = {part.name: part.value * answer for part in step_parts}
    prefill_time = float(state.prefill_share[0] * state.cycle_s[0])
    bound = "prefill" if prefill_time > sum(terms.values()) else max(terms, key=lambda name: terms[name])
    if bound == "weights_compute":
        bound = "compute" if float(step.compute[0]) > float(step.weights[0]) else "bandwidth"
    bound = {"kv_cache": "bandwidth", "kernels": "host"}.get(bound, bound)
    curve = Curve(
        tuple((p.requests_s * answer).tolist()), tuple(p.first_token_s.tolist()),
        tuple((p.first_token_s / factor["ttft_loaded"]).tolist()),
        tuple((p.first_token_s * factor["ttft_loaded"]).tolist()), tuple(p.per_token_s.tolist()),
    )  # fmt: skip
    single = faster["decode_fixed_batch"] / float(step.total[1] / inference.accepted_tokens(case)[1])
    alone = float(state.prefill_one_s[1]) / faster["ttft_idle"]
    answered = ServeResult(
        workload.id, group_index, p.choice, p.refusal, p.fits, use, share_of_usable, first,
        spread(float(inference.first_token_idle(case, np.array([1.0, 1.0]))[0]) / faster["ttft_idle"],
        factor["ttft_idle"], basis, chunk_parts) if fits else NOT_KNOWN,
        token, output if fits else exact(0.0, "predicted"), limit if fits else exact(0.0, "predicted"),
        between(p.capacity, p.capacity_low, p.capacity_high, basis) if fits else exact(0.0, "predicted"),
        headroom if fits else NOT_KNOWN,
        batch * replicas, p.room * replicas, spread(float(step.total[0]) / faster["serving_tpot"],
        factor["serving_tpot"], basis, step_parts) if fits else NOT_KNOWN,
        spread(alone, factor["ttft_idle"], basis, chunk_parts) if fits else NOT_KNOWN,
        spread(single, factor["decode_fixed_batch"], basis) if fits else NOT_KNOWN,
        spread(workload.prompt_tokens / alone, factor["ttft_idle"], basis) if fits else NOT_KNOWN,
        bound, busy, gpu_w, energy, share, curve if fits else None, p.formats,
    )  # fmt: skip
    if fits:
        wait, waits = link_waits.of_serving(case, state, p.hardware, factor["serving_tpot"], basis)
        answered = answered._replace(link_wait=wait, waits=waits)
    return own_rows.marked(answered, calibration, seen)
