"""Serving from the host's memory: processors read all weights, or those that the cards leave there, one request after
the other."""

import numpy as np

from gpuplanner.catalog.load import Catalog
from gpuplanner.catalog.schema import Llm, Runtime
from gpuplanner.model import case as cases
from gpuplanner.model import cpu, hardware, offload, parallelism, power, queueing, serving
from gpuplanner.model.bands import between, scaled, spread
from gpuplanner.model.case import WEIGHT_FORMATS
from gpuplanner.model.plan import Run, Serve
from gpuplanner.model.results import NOT_KNOWN, Basis, Check, Choice, Curve, Demand, MemoryUse, Part, ServeResult, exact
from gpuplanner.model.serving import FULL as _FULL
from gpuplanner.model.serving import capacity, context_tokens

_FORMATS = {"32-bit": "bf16", "16-bit": "bf16", "8-bit": "q8_0", "4-bit": "q4_k_m", "any": "q4_k_m"}
_POINTS = 32
_TUNED = ("ik_llama.cpp", "IPEX-LLM", "KTransformers (kt-kernel + SGLang)")
_HOST_RESERVE_BYTES = 8e9
# Processors with more memory channels are made for servers.
_DESKTOP_CHANNELS = 4


def serve(
    workload: Serve,
    group_index: int,
    run: Run,
    llm: Llm,
    runtime: Runtime | None,
    hard: hardware.Hardware,
    servers: int,
    share: float,
    demand: Demand,
    catalog: Catalog,
) -> ServeResult:
    """Speed, fit and load curve of servers that have no GPU, or leave weights in the host's memory beside it.

    One request at a time on each server. With a GPU experts stay on the host, or the layers that do not fit.
    """
    nothing = ServeResult(
        workload.id, group_index, None, Check("unknown", "cpu_unknown"), Check("unknown", "not_known"), None,
        NOT_KNOWN, NOT_KNOWN, NOT_KNOWN, NOT_KNOWN, NOT_KNOWN,
        NOT_KNOWN, NOT_KNOWN, NOT_KNOWN, 0.0, 0.0, NOT_KNOWN, NOT_KNOWN, NOT_KNOWN, NOT_KNOWN, "", 0.0, NOT_KNOWN,
        NOT_KNOWN, share, None,
    )  # fmt: skip
    if hard.cpu is None:
        return nothing
    calibration = catalog.calibration
    weights = run.weights if run.weights != "auto" else _FORMATS[workload.lowest_format]
    columns = cases.LlmColumns(*cases.llm_columns(llm))
    size = WEIGHT_FORMATS[weights].bits / 8.0
    cache_token = float(columns.kv_full + columns.kv_window) * 2.0
    context, answer = context_tokens(workload, llm), float(workload.answer_tokens)
    in_memory = float(columns.params) * size
    active = float(columns.active) * size + cache_token * (workload.prompt_tokens + answer / 2.0)
    token = float(cpu.cpu_decode_s(active, hard.memory_bandwidth, hard.sockets, float(columns.experts), calibration))
    tuned = runtime is not None and runtime.name in _TUNED
    server = (hard.cpu.memory_channels or 2) > _DESKTOP_CHANNELS
    peak = float(cpu.cpu_peak(hard.cpu.cores * hard.sockets, hard.cpu.avx512, server))
    # The last token of a prompt is always computed, however much of it is in the cache.
    fresh = max(workload.prompt_tokens * (1.0 - workload.shared_prefix_share), 1.0)
    rows = fresh * float(columns.experts_per_token) / float(columns.experts) if columns.experts else np.inf
    eight_bit = WEIGHT_FORMATS[weights].level <= 8
    reading = cpu.cpu_prefill_s(2.0 * float(columns.active) * fresh, peak, tuned, calibration, eight_bit, rows)
    prompt = float(reading)
    used = MemoryUse(
        in_memory, cache_token * context, 0.0, 0.0, 0.0, _HOST_RESERVE_BYTES, hard.host_memory, hard.host_memory
    )
    decode = calibration.band("cpu_decode").factor_80
    read = calibration.band("cpu_prefill").factor_80
    basis: Basis = "predicted"
    drawn = exact(0.0, "known")
    if hard.gpu is not None:
        # The same formulas, with the cards' share.
        if runtime is None or (run.runtime == "auto" and runtime.engine not in cases.SINGLE_USER_ENGINES):
            runtime = catalog.runtimes["llama.cpp"]
        part = _beside_cards(workload, run, llm, runtime, hard, weights, catalog)
        token, prompt = float(part.token_s[0]), float(part.reading_s[0])
        used = used._replace(weights=float(part.host_bytes[0]), kv_cache=0.0)
        decode = read = calibration.band("offload").factor_80
        basis = "not validated"
        board, idle = power.board_power(hard.gpu, catalog), power.idle_power(hard.gpu, catalog)
        drawn = between(0.5 * (board.value or 0.0), idle.low or 0.0, board.high or 0.0, "not validated")
    choice = Choice(
        llm.name, runtime.name if runtime is not None else "", "", "llama.cpp", weights, "cpu", "fp16", 1, 1, servers,
        1, 1, False, 1,
        auto=frozenset(name for name in ("runtime", "weights") if getattr(run, name) == "auto"),
    )  # fmt: skip
    if used.used > used.usable:
        fit = Check(
            "fail", "does_not_fit", {"need_bytes": used.used, "usable_bytes": used.usable, "gpu": hard.cpu.name}
        )
        return nothing._replace(choice=choice, refusal=Check("ok"), fits=fit, memory=used)
    service = prompt + answer * token
    busy = np.linspace(0.02, _FULL, _POINTS)
    rate = busy / service * servers
    # One server each: a queue in front of every one, answers of spread-out length.
    wait = queueing.prefill_wait(busy, np.asarray(service), np.asarray(workload.answer_spread**2))
    tail = queueing.tail_multiple(workload.first_token_percentile)
    first = prompt + token + wait * tail
    per_token = np.full(_POINTS, token)
    reach = [
        float(capacity(rate * r, first * f, per_token * t, workload.first_token_s, workload.per_token_s))
        for r, f, t in ((1.0, 1.0, 1.0), (1 / decode, read, decode), (decode, 1 / read, 1 / decode))
    ]
    limit = float(servers / service)
    wanted = demand.requests_s * share if demand.requests_s is not None else limit * 0.98
    at_once = demand.concurrency * share / servers if demand.concurrency is not None else 0.0
    if demand.concurrency is not None:
        wanted = limit * min(at_once, 1.0)
    overloaded = demand.requests_s is not None and wanted >= _FULL * limit
    at = (
        NOT_KNOWN._replace(note="overloaded")
        if overloaded
        else spread(float(np.interp(wanted, rate, first)), read, "not validated")
    )
    if demand.concurrency is not None:
        # So many ask all the time: each waits for those before it.
        at = spread(prompt + token + max(at_once - 1.0, 0.0) * service, read, "not validated")
    elif demand.requests_s is None:
        at = NOT_KNOWN._replace(note="queue")
    within = between(reach[0], reach[1], reach[2], "not validated")
    headroom = NOT_KNOWN
    if demand.requests_s:
        middle, low, high = (value / wanted - 1.0 for value in reach)
        headroom = between(middle, low, high, "not validated")
    parts = (
        Part("weights", float(columns.active) * size / active * token),
        Part("kv_cache", (1.0 - float(columns.active) * size / active) * token),
    )
    return nothing._replace(
        choice=choice, refusal=Check("ok"), fits=Check("ok", "fits", {"share": used.used / used.usable}), memory=used,
        memory_share=spread(used.used / used.usable, 1.05, "predicted"), first_token_s=at,
        first_token_idle_s=spread(prompt + token, read, "not validated"),
        per_token_s=spread(token, decode, basis, parts),
        output_tokens_s=scaled(within, answer),
        output_tokens_s_limit=spread(limit * answer, decode, "not validated"), requests_s=within,
        headroom=headroom,
        batch=min(wanted / limit, 1.0) * servers, max_batch=float(servers), decode_step_s=spread(token, decode,
        basis, parts),
        prefill_s=spread(prompt, read, "not validated"), single_stream_tokens_s=spread(1.0 / token, decode,
        basis),
        prefill_tokens_s=spread(workload.prompt_tokens / prompt, read, "not validated"),
        binds="bandwidth" if answer * token > prompt else "compute",
        utilisation=min(wanted / limit, 1.0), gpu_power_w=drawn,
        curve=Curve(
            tuple((rate * answer).tolist()), tuple(first.tolist()), tuple((first / read).tolist()),
            tuple((first * read).tolist()), tuple(per_token.tolist()),
        ),
    )  # fmt: skip


def _beside_cards(
    workload: Serve,
    run: Run,
    llm: Llm,
    runtime: Runtime,
    hard: hardware.Hardware,
    weights: str,
    catalog: Catalog,
) -> offload.Offloaded:
    """Speeds of one request where the cards of a server hold what they can."""
    assert hard.gpu is not None
    engine = cases.engine_row(runtime.engine or "llama.cpp", None if run.version == "auto" else run.version)
    architecture = catalog.calibration.architecture(hard.gpu.architecture)
    setting = cases.Setting(architecture, hard.gpu.vendor, engine, weights, "bf16", llm.moe is not None)
    split = parallelism.Split(1, hard.devices_per_server, 1, 1, 1)
    candidate = serving.Candidate(weights, "bf16", "fp16", split, setting)
    case = serving.build_case([candidate], run, workload, llm, hard, runtime, catalog)
    experts = np.array([llm.moe is not None])
    one = np.ones(1)
    return offload.offloaded(case, one, experts, hard.memory_bandwidth * one, hard.sockets * one, catalog.calibration)
