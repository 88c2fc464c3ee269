"""Measured rows → cases of the model: what a row states, and what is chosen where it is silent.

A row becomes one entry of the column records of `model.case` or `model.training`, or one set of plain numbers for the
families without columns. Nothing here computes a speed.
"""

import math
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from gpuplanner.catalog.calibration import Calibration
from gpuplanner.catalog.schema import Gpu, Llm
from gpuplanner.i18n import _
from gpuplanner.model import evidence, power, training
from gpuplanner.model.case import (
    KV_BYTES,
    SINGLE_USER_ENGINES,
    WEIGHT_FORMATS,
    GpuColumns,
    LlmColumns,
    Setting,
    bytes_per_weight,
    compute_peak,
    constants_index,
    gpu_columns,
    llm_columns,
    reaches_peers,
)  # fmt: skip
from gpuplanner.model.evidence import Evidence
from gpuplanner.model.measured.keys import Keys, Lookup, Unpredictable, serving_engine, weight_format
from gpuplanner.model.parallelism import Split
from gpuplanner.units import GIB

# A program without a row of its own in the engine table widens the band at least so much.
_UNKNOWN_PROGRAM = 1.25
STATIC, CLOSED, SATURATED, OPEN = 0, 1, 2, 3

_ASSUMED_TOKENS = 128.0
_ASSUMED_PROMPT_MEASURED = 512.0
_ASSUMED_SEQUENCE = 2048.0
_LINK = {name: position for position, name in enumerate(GpuColumns._fields)}
# Memory from which vLLM takes large prefill batches and many sequences by default.
_LARGE_CARD_BYTES = 70 * GIB
# What an allocator holds after a first large pass, next to the largest sum of live tensors: twice in the log of an A40.
_RESERVED = 2.0
# What servers of a generation are sold with, bytes/s of network a GPU.
_NETWORK_BY_ARCHITECTURE = {
    "Hopper": 50e9,
    "Blackwell data centre": 50e9,
    "A100": 25e9,
    "CDNA 3": 50e9,
    "Gaudi": 37.5e9,
    "Volta": 3.1e9,
}
_NETWORK_OTHERS = 1.6e9
# Idle power of cards without an idle figure, as a share of their limit; a card that runs at all is not slower than
# this share.
_IDLE_SHARE, _LEAST_SPEED = 0.10, 0.02
_MEMORY_SHARE_OF_A_PLAN = 0.6
_WEIGHT_SHARE_OF_A_PLAN = 0.7


class ServingRow(NamedTuple):
    """One serving configuration and what its row asks about it."""

    llm: np.ndarray
    gpu: np.ndarray
    run: tuple[float, ...]
    index: np.ndarray  # type: ignore[assignment]
    mode: int
    amount: float
    exact_batch: bool
    rate: float
    devices: float
    replicas: float
    cards: float
    decode_only: bool
    at_the_wall: bool
    offload: str
    beams: float
    median_gap: bool
    context: float
    longest: float
    cap_w: float
    host_bandwidth: float
    sockets: float
    setting: Setting
    known_engine: bool
    evidence: Evidence


class TrainingRow(NamedTuple):
    """One training configuration and what its row asks about it."""

    llm: np.ndarray
    gpu: np.ndarray
    run: tuple[float, ...]
    index: np.ndarray  # type: ignore[assignment]
    cards: float
    per_node: float
    peak: float
    tokens: float
    gpu_hours: float
    cap_w: float
    architecture: str
    evidence: Evidence
    counts_recompute: bool


class CpuRow(NamedTuple):
    """One model on a host processor."""

    llm: np.ndarray
    bytes_per_weight: tuple[float, float, float]
    kv_bytes: float
    bandwidth: float
    sockets: float
    cores: float
    avx512: bool
    server: bool
    tuned: bool
    eight_bit: bool
    input: float
    output: float


class CollectiveRow(NamedTuple):
    """One collective operation."""

    message_bytes: float
    ranks: float
    nodes: float
    link_bytes_s: float
    node_bytes_s: float
    operation: str
    link_kind: str
    multicast: bool
    efa: bool


class CapRow(NamedTuple):
    """One card under a power cap."""

    cap_w: float
    reference_w: float
    idle_w: float
    memory_bound: bool


class DrawRow(NamedTuple):
    """The draw of a whole server or card whose work is not stated."""

    gpu: np.ndarray
    cards: float
    load: str
    cap_w: float
    architecture: str


def need(value: Any, key: str) -> Any:
    """`value`, or a refusal that names the key which is not stated."""
    if value is None:
        raise Unpredictable(_("The row does not state “%(key)s”.") % {"key": key})
    return value


_SIZE = re.compile(r"\s+(\d+)\s*GB(?:\s+carve-out)?$", re.IGNORECASE)
_ONE_DEVICE = re.compile(r"\s+(?:one|1|single)\s+(?:GCD|tile|die)\b.*$", re.IGNORECASE)


class Card(NamedTuple):
    """The entry that a row's card means, the devices that one published "GPU" has, and its memory where the name
    states it. [GB]"""

    gpu: Gpu
    devices: float
    memory_gb: float | None


def card_of(keys: Keys, lookup: Lookup) -> Card:
    """The card of a row.

    "MI250X one GCD" is one device of the card of that name. A chip that is sold with several memory sizes ("Apple M4
    Pro 24GB") is the entry without the size; where a name leaves the number of GPU cores open, the full chip is taken:
    it reads memory as fast.
    """
    name = need(keys.text("gpu"), "gpu")
    memory = keys.number("gpu_memory_gb", 0.1)
    if " + " in name:
        raise Unpredictable(_("“%(name)s” mixes cards: only groups of one kind are predicted.") % {"name": name})
    try:
        gpu = lookup.entry("gpu", name)
        return Card(gpu, float(gpu.gpus_per_card), memory)
    except Unpredictable:
        one = _ONE_DEVICE.sub("", name)
        if one != name:
            return Card(lookup.entry("gpu", one), 1.0, memory)
        size = _SIZE.search(name)
        chip = (name[: size.start()] if size else name).split(" (")[0].removesuffix(" iGPU")
        chips = (gpu for gpu in lookup.catalog.gpus.values() if gpu.form_factor == "SoC")
        versions = [gpu for gpu in chips if gpu.name.split(" (")[0] == chip]
        if not versions:
            raise
        memory = memory or (float(size.group(1)) if size else None)
        return Card(max(versions, key=_cores_in_name), 1.0, memory)


def _cores_in_name(gpu: Gpu) -> int:
    cores = re.search(r"(\d+)-core", gpu.name)
    return int(cores.group(1)) if cores else 0


def _model(keys: Keys, lookup: Lookup) -> Llm:
    llm: Llm = lookup.entry("llm", need(keys.text("model"), "model"))
    return llm


def _columns(keys: Keys, card: Card, calibration: Calibration) -> np.ndarray:
    """The card's columns with what the row says about memory size and links."""
    gpu, memory = card.gpu, card.memory_gb
    columns: np.ndarray = gpu_columns(gpu, calibration)
    words = (keys.text("interconnect") or "").casefold()
    changes: dict[str, float] = {}
    if memory is not None:
        changes["memory"] = columns[_LINK["memory"]] * memory * GIB / (gpu.memory_bytes.value / gpu.gpus_per_card)
    bridged = gpu.link_domain == 2 and gpu.form_factor not in ("SXM", "OAM")
    if (words.startswith("pcie") and "pairs" not in words) or (
        bridged and "nvlink" not in words and "bridge" not in words
    ):
        changes["link"] = 0.0
    cut = re.search(r"(\d+)\s*gb/s", words)
    if cut and columns[_LINK["link"]] > 0:
        # Published link rates count both directions.
        changes["link"] = float(cut.group(1)) * 1e9 / 2
    if changes.get("link") == 0.0:
        changes["peer_to_peer"] = float(reaches_peers(gpu, False))
    if not changes:
        return columns
    columns = columns.copy()
    for name, value in changes.items():
        columns[_LINK[name]] = value
    return columns


def capped(columns: np.ndarray, cap_w: float | None, devices: float) -> np.ndarray:
    """The card's columns under a power cap of the whole card: compute and memory slow down by the power law."""
    card: Any = GpuColumns(*columns)
    if cap_w is None or not cap_w / devices < card.tdp:
        return columns
    idle = card.idle if np.isfinite(card.idle) else _IDLE_SHARE * card.tdp
    share = (cap_w / devices - idle) / (card.tdp - idle)
    changed = columns.copy()
    changed[_LINK["sustained"]] *= max(float(power.power_cap_speed(share, True)), _LEAST_SPEED)
    changed[_LINK["bandwidth"]] *= max(float(power.power_cap_speed(share, False)), _LEAST_SPEED)
    return changed


def network_per_gpu(text: str | None, per_node: float, architecture: str) -> float:
    """Network bandwidth of one GPU in one direction, from the words of a row or by what such servers are sold with.
    [bytes/s]"""
    usual = _NETWORK_BY_ARCHITECTURE.get(architecture, _NETWORK_OTHERS)
    if not text:
        return usual
    words = text.casefold()
    part = next((piece for piece in words.split(", ") if piece.startswith("compute")), words)
    per_card = re.search(r"(\d+)\s*g\w*\s+per gpu", part)
    if per_card:
        return float(per_card.group(1)) / 8 * 1e9
    per_server = re.search(r"(\d+)\s*g\w*\s+per node", part)
    if per_server:
        return float(per_server.group(1)) / 8 * 1e9 / per_node
    many = re.search(r"(\d+)\s*x\s*.*?(\d{2,4})\s*g", part)
    if many:
        return float(many.group(1)) * float(many.group(2)) / 8 * 1e9 / per_node
    if "gig ethernet" in part or "1gbe" in part:
        return 0.125e9 / per_node
    single = re.search(r"(\d+)\s*g(?:b|e|\b)", part)
    if single:
        return float(single.group(1)) / 8 * 1e9 / per_node
    return usual


def default_compute(weights: str, stated: str | None, columns: np.ndarray, server: bool) -> str:
    """The type that matrix products run in: stated, else what the format and the card allow."""
    card: Any = GpuColumns(*columns)
    word = weight_format(stated) if stated else weights
    level = WEIGHT_FORMATS[word].share
    if level == "native FP4" and server and np.isfinite(card.peak_fp4):
        return "fp4"
    if word == "fp8" and np.isfinite(card.peak_fp8):
        return "fp8"
    if word == "int8" and stated and np.isfinite(card.peak_int8):
        return "int8"
    if word == "fp32":
        return "fp32"
    return "bf16"


def default_weights(llm: Llm) -> str:
    """What a model is released in."""
    word = (llm.native_dtype or "bf16").split()[0].casefold()
    return {"mxfp4": "mxfp4", "fp8": "fp8"}.get(word, "bf16")


def _lengths(keys: Keys, metric: str) -> tuple[float, float]:
    prompt = _ASSUMED_PROMPT_MEASURED if metric in ("prefill_tokens_per_s", "ttft_s") else _ASSUMED_TOKENS
    stated_in, stated_out = keys.number("input_tokens", 1.0), keys.number("output_tokens", 1.0)
    return stated_in if stated_in is not None else prompt, stated_out if stated_out is not None else _ASSUMED_TOKENS


class Layout(NamedTuple):
    """How a model is spread: tensor, pipeline, data, expert and attention-data degree, over devices."""

    tp: float
    pp: float
    dp: float
    ep: float
    attention_dp: float
    devices: float


def serving_layout(
    keys: Keys, per_card: float, memory: float, weights: float, engine: str, one_replica: bool
) -> Layout:
    """The stated layout, else: single-user programs split layers, servers take the smallest tensor degree that holds
    the weights.

    Where the row is about latency, or a stated batch, all cards form one replica.
    """
    stated = keys.record("parallel")
    cards = keys.number("gpus", 1.0)
    tp, pp, dp = (stated.number(key, 1.0) for key in ("tp", "pp", "dp"))
    ep = stated.number("ep", 1.0) or stated.number("moe_ep", 1.0) or 1.0
    attention = stated.number("attention_dp", 1.0) or 1.0
    if tp is None and pp is None and dp is None and attention == 1.0:
        devices = (cards or 1.0) * per_card
        if engine in SINGLE_USER_ENGINES or engine == "HF transformers":
            return Layout(1.0, devices, 1.0, 1.0, 1.0, devices)
        if one_replica:
            return Layout(devices, 1.0, 1.0, 1.0, 1.0, devices)
        wanted = 1.0
        while wanted < devices and weights / wanted > _WEIGHT_SHARE_OF_A_PLAN * memory:
            wanted *= 2.0
        wanted = min(wanted, devices)
        return Layout(wanted, 1.0, max(devices // wanted, 1.0), 1.0, 1.0, devices)
    tp, pp = tp or 1.0, pp or 1.0
    group = tp * pp * attention
    if cards is not None and dp is None:
        dp = max(cards // group, 1.0)
    dp = dp or 1.0
    if dp > 1 and ep > 1 and ep > tp:
        # Experts spread over data ranks: attention is data parallel, the replica is all of them.
        attention, dp = attention * dp, 1.0
    if per_card > 1 and cards is not None and tp * pp * dp * attention == cards:
        # One published "GPU" is a card of several devices.
        tp *= per_card
    return Layout(tp, pp, dp, ep, attention, tp * pp * dp * attention)


def serving_row(keys: Keys, lookup: Lookup, calibration: Calibration, family: str = "") -> ServingRow:
    """Read a row about inference on GPUs."""
    named, llm = card_of(keys, lookup), _model(keys, lookup)
    gpu = named.gpu
    metric = keys.text("metric") or ""
    columns = capped(_columns(keys, named, calibration), keys.number("power_limit_w", 1.0), named.devices)
    card: Any = GpuColumns(*columns)
    if not np.isfinite(card.bandwidth):
        raise Unpredictable(_("The memory bandwidth of %(name)s is not known.") % {"name": gpu.name})
    engine, runtime, known = serving_engine(keys, lookup)
    single = engine in SINGLE_USER_ENGINES
    stated_weights = keys.text("weights")
    weights = weight_format(stated_weights) if stated_weights else default_weights(llm)
    compute = default_compute(weights, keys.text("compute"), columns, not single)
    architecture = calibration.architecture(gpu.architecture)
    setting = Setting(architecture, gpu.vendor, engine, weights, compute, llm.moe is not None)
    peak = compute_peak(columns, setting)
    if not np.isfinite(peak):
        raise Unpredictable(_("The computing rate of %(name)s is not known for this precision.") % {"name": gpu.name})
    body, expert, rest = bytes_per_weight(weights, llm, single)
    shape: Any = LlmColumns(*llm_columns(llm))
    kv_word = keys.text("kv")
    kv_bytes = _kv_bytes(kv_word, engine, weights)
    prompt, answer = _lengths(keys, metric)

    rate = keys.number("request_rate") or 0.0
    batch, concurrency, mean_batch = (keys.number(key, 1.0) for key in ("batch", "concurrency", "mean_batch"))
    task = keys.text("task")
    if rate > 0:
        mode, amount = OPEN, math.inf
    elif batch is not None and concurrency is None:
        mode, amount = STATIC, batch
    elif concurrency is not None or mean_batch is not None:
        amount = mean_batch if mean_batch is not None else float(concurrency or 1.0)
        mode = CLOSED
    elif single or metric in ("ttft_s", "tpot_s", "prefill_tokens_per_s") or keys.text("scope") == "per_user":
        mode, amount = STATIC, 1.0
    else:
        mode, amount = SATURATED, math.inf
    if mode == CLOSED and amount <= 1.0 and task == "inference":
        mode = STATIC
    bytes_of_weights = (
        shape.nonexpert * body + shape.experts * shape.expert * expert + (shape.head + shape.embedding) * rest
    )
    layout = serving_layout(keys, named.devices, card.memory, bytes_of_weights, engine, mode in (STATIC, CLOSED))

    per_node = keys.number("gpus_per_node", 1.0) or (4.0 if gpu.link_domain >= 72 else 8.0)
    fraction, of_free = _memory_fraction(keys, engine, runtime)
    beams = _beams(keys, llm)
    row = (
        peak, layout.tp, layout.pp, layout.dp, layout.ep, layout.attention_dp, body, expert, rest, kv_bytes, prompt,
        answer, 1.0 - 1.0 / beams,
        _most_sequences(engine, card.memory, calibration), _batched_tokens(keys, engine, card.memory, shape,
        prompt + answer),
        fraction, of_free, float(single), float(engine.startswith("vLLM")), per_node,
        network_per_gpu(keys.text("network"), per_node, architecture), 0.0, 0.0, 0.0,
        float(engine == "SGLang"),
    )  # fmt: skip
    context = keys.number("max_model_len", 1.0) or keys.number("seq_len", 1.0)
    stated_context = (
        context if context is not None else (prompt + answer if keys.has("input_tokens") else _ASSUMED_SEQUENCE)
    )
    return ServingRow(
        llm_columns(llm), columns, row, constants_index(setting, calibration), mode, amount, mean_batch is not None,
        rate,
        layout.devices, layout.dp, max(keys.number("gpus", 1.0) or 1.0, layout.devices / named.devices), single,
        keys.has("scenario"), _offload(keys, family, llm), beams, _publisher(keys) in _MEDIAN_GAPS, stated_context,
        keys.number("max_model_len", 1.0) or math.nan,
        keys.number("power_limit_w", 1.0) or math.nan, (_host_bandwidth(keys) or math.nan) * 1e9,
        2.0 if _two_sockets(keys.text("host")) else 1.0, setting, known,
        serving_evidence(setting, gpu, llm, runtime, layout, columns, known, max(stated_context, prompt + answer),
        per_node, calibration),
    )  # fmt: skip


def _offload(keys: Keys, family: str, llm: Llm) -> str:
    """What stays in the host's memory: nothing, the experts, or the layers that do not fit."""
    if family != "offload":
        return ""
    return "experts" if llm.moe is not None and "expert" in (keys.text("host") or "").casefold() else "layers"


# Rules of benchmarks that decide how many answers are written at once for a prompt: GPT-J in MLPerf is searched with
# four beams.
_BEAMS = {("MLPerf", "GPT-J-6B"): 4.0}


# Publishers whose time a token is the median gap between tokens (ml-energy/leaderboard, "median ITL").
_MEDIAN_GAPS = frozenset({"ML.ENERGY"})


def _publisher(keys: Keys) -> str:
    return keys.text("publisher") or keys.text("source") or ""


def _beams(keys: Keys, llm: Llm) -> float:
    publisher = _publisher(keys)
    return next((beams for (name, model), beams in _BEAMS.items() if name in publisher and model == llm.name), 1.0)


def serving_evidence(
    setting: Setting,
    gpu: Gpu,
    llm: Llm,
    runtime: Any | None,
    layout: Layout,
    columns: np.ndarray,
    known: bool,
    context: float,
    per_node: float,
    calibration: Calibration,
) -> Evidence:
    """What widens the band of a serving row."""
    split = Split(int(layout.tp), int(layout.pp), int(layout.dp), int(layout.ep), int(layout.attention_dp))
    linked = columns[_LINK["link"]] > 0
    found = evidence.serving(calibration, setting, gpu, llm, runtime, split, context, int(per_node), bool(linked))
    return found if known else found._replace(power=max(found.power, _UNKNOWN_PROGRAM))


def _kv_bytes(word: str | None, engine: str = "", weights: str = "bf16") -> float:
    """Bytes of a cache element: stated, else 16 bit.

    TensorRT-LLM keeps an FP8 cache for models in FP8 and FP4, and NVFP4 checkpoints name an FP8 cache that every
    server follows.
    """
    if word is None:
        small = weights == "nvfp4" or (weights == "fp8" and engine.startswith("TensorRT"))
        return KV_BYTES["fp8" if small and engine not in SINGLE_USER_ENGINES else "bf16"]
    plain = word.casefold()
    if plain in KV_BYTES:
        return KV_BYTES[plain]
    return WEIGHT_FORMATS[weight_format(word)].bits / 8


def _memory_fraction(keys: Keys, engine: str, runtime: Any | None) -> tuple[float, float]:
    """Share of the memory a program takes, and whether of what is free after loading."""
    stated = keys.number("gpu_memory_utilization", 0.01)
    of_free = float(engine.startswith("TensorRT") or engine == "LMDeploy")
    if stated is not None and stated <= 1.0:
        return stated, of_free
    if engine in SINGLE_USER_ENGINES or engine in ("HF transformers", "gpt-fast", "TGI"):
        return 1.0, 0.0
    if engine == "vLLM 0.10 and later":
        version = re.match(r"v?0\.(\d+)", keys.record("engine").text("version") or "")
        # 0.92 from version 0.22 on.
        return (0.92 if version and int(version.group(1)) >= 22 else 0.90), 0.0
    if engine == "LMDeploy":
        return 0.80, 1.0
    return 0.90, of_free


def _most_sequences(engine: str, memory: float, calibration: Calibration) -> float:
    most = float(calibration.engines.get(engine, {}).get("max_sequences", 256))
    return 256.0 if engine == "vLLM 0.10 and later" and memory < _LARGE_CARD_BYTES else most


_FIRST_ENGINE = re.compile(r"v?0\.[67](?:\.|$)")
_SMALL_CHUNK, _WHOLE_PROMPTS = 2048.0, 32768.0


def _batched_tokens(keys: Keys, engine: str, memory: float, shape: Any, used: float) -> float:
    """Tokens of the largest prefill a server makes room for."""
    if engine in ("HF transformers", "gpt-fast"):
        return used * (keys.number("batch", 1.0) or 1.0)
    if engine == "vLLM before 0.6":
        # These versions made room for one whole prompt of the longest context, and for what the allocator had reserved.
        longest = keys.number("max_model_len", 1.0) or min(max(float(shape.max_context), used), 32768.0)
        return _RESERVED * longest
    if engine == "vLLM 0.6-0.9" and _FIRST_ENGINE.match(keys.record("engine").text("version") or ""):
        # Versions 0.6 and 0.7 cut prompts into pieces only where the longest context is beyond 32 Ki tokens.
        longest = keys.number("max_model_len", 1.0) or max(float(shape.max_context), used)
        return longest if _SMALL_CHUNK <= longest <= _WHOLE_PROMPTS else _SMALL_CHUNK
    if engine.startswith("vLLM") and memory < _LARGE_CARD_BYTES:
        return _SMALL_CHUNK
    return 8192.0


_TWO_SOCKETS = re.compile(
    r"\b(?:dual|two|2)[\s-]*[x×]?[\s-]*(?:sockets?|cpus?|amd|intel|epyc|xeon|platinum|gold|kunpeng)\b|\b2s\b",
    re.IGNORECASE,
)


def _two_sockets(host: str | None) -> bool:
    return bool(host and _TWO_SOCKETS.search(host))


# --- training --------------------------------------------------------------------------------------------------------

_FRAMEWORK_WORDS = (
    ("megatron", "Megatron and NeMo"), ("nemo", "Megatron and NeMo"), ("foundry", "llm-foundry"), ("composer",
    "llm-foundry"),
    ("fsdp", "FSDP"), ("titan", "FSDP"), ("torchtune", "FSDP"), ("deepspeed", "DeepSpeed"), ("peft",
    "HF Trainer and PEFT"),
    ("trainer", "HF Trainer and PEFT"), ("axolotl", "HF Trainer and PEFT"), ("factory", "HF Trainer and PEFT"),
    ("unsloth", "HF Trainer and PEFT"), ("transformers", "HF Trainer and PEFT"),
)  # fmt: skip
FRAMEWORKS = frozenset({"Megatron and NeMo", "llm-foundry", "FSDP", "DeepSpeed", "HF Trainer and PEFT", "other"})
_SHARDED_BY_DEFAULT = frozenset({"FSDP", "llm-foundry", "DeepSpeed"})


def framework_of(keys: Keys, lookup: Lookup) -> str:
    """The row of the framework table for a row's program."""
    engine = keys.record("engine")
    era = engine.text("era")
    if era in FRAMEWORKS:
        return str(era)
    runtime = lookup.runtime(engine.text("kind")) or lookup.runtime(engine.text("name"))
    if runtime is not None and runtime.engine in FRAMEWORKS:
        return str(runtime.engine)
    for key in ("kind", "name"):
        text = engine.text(key)
        for word, framework in _FRAMEWORK_WORDS:
            if text and word in text.casefold():
                return framework
    return "other"


def _zero(word: str | None, framework: str, devices: float, method: str, fits_unsharded: bool, split: bool) -> float:
    text = (word or "").casefold()
    if "shard-grad" in text or "zero2" in text or "zero-2" in text:
        return 2.0
    if "zero3" in text or "zero-3" in text or "fsdp" in text:
        return 3.0
    if "zero1" in text or "distributed-optimizer" in text or "zero-1" in text:
        return 1.0
    if "ddp" in text or devices <= 1:
        return 0.0
    if framework in _SHARDED_BY_DEFAULT and not split:
        return 3.0
    if framework == "HF Trainer and PEFT":
        return 0.0 if fits_unsharded else 3.0
    return 1.0


_DATA_PARALLEL_WORDS = frozenset({"fsdp-full", "fsdp", "zero3", "ddp", "zero2"})
_WIDEST = 8.0


def _degrees(
    keys: Keys, llm: Llm, gpu: Gpu, memory: float, shape: Any, per_param: float, framework: str, devices: float
) -> Layout:
    """Stated degrees, else data parallel for sharding frameworks, else the smallest degrees that fit.

    Experts are spread over the cards of a server before tensor and pipeline ranks split the rest.
    """
    stated = keys.record("parallel")
    context = keys.number("cp", 1.0) or stated.number("cp", 1.0) or 1.0
    tp, pp, dp = (stated.number(key, 1.0) for key in ("tp", "pp", "dp"))
    ep = stated.number("ep", 1.0) or 1.0
    if tp is None and pp is None and dp is None:
        tp, pp = 1.0, 1.0
        if framework in ("Megatron and NeMo", "other") and keys.text("sharding") not in _DATA_PARALLEL_WORDS:
            room = _MEMORY_SHARE_OF_A_PLAN * memory / per_param
            free = max(devices / context, 1.0)
            most = min(_WIDEST, max(float(gpu.link_domain), 1.0), free)
            experts = float(shape.experts * shape.expert)
            ep = min(most, float(shape.experts)) if experts and ep == 1.0 else ep
            dense = float(shape.params) - experts

            def held(tensor: float, stages: float) -> float:
                return (dense / tensor + experts / (ep if ep > 1 else tensor)) / stages

            while held(tp, pp) > room and tp * 2 <= (1.0 if experts else most):
                tp *= 2
            while held(tp, pp) > room and tp * pp * 2 <= free / max(ep / tp, 1.0) and pp * 2 <= llm.layers:
                pp *= 2
    tp, pp = tp or 1.0, pp or 1.0
    if dp is None:
        dp = max(devices // (tp * pp * context), 1.0)
    left = devices / (tp * pp * dp * context)
    if left >= 2.0:
        # Cards beyond the stated degrees: more replicas while each has a sequence, else they share long sequences.
        whole = keys.number("global_batch", 1e-6) or math.inf
        more = min(left, max(1.0, whole // dp))
        dp, context = dp * more, context * max(left / more, 1.0)
    return Layout(tp, pp, dp, min(ep, dp * context * tp), context, devices)


def training_row(keys: Keys, lookup: Lookup, calibration: Calibration) -> TrainingRow:
    """Read a row about training or fine-tuning."""
    named, llm = card_of(keys, lookup), _model(keys, lookup)
    gpu = named.gpu
    columns = capped(_columns(keys, named, calibration), keys.number("power_limit_w", 1.0), named.devices)
    card: Any = GpuColumns(*columns)
    if not np.isfinite(card.bandwidth):
        raise Unpredictable(_("The memory bandwidth of %(name)s is not known.") % {"name": gpu.name})
    architecture = calibration.architecture(gpu.architecture)
    framework = framework_of(keys, lookup)
    shape: Any = LlmColumns(*llm_columns(llm))
    method = (keys.text("method") or "full").casefold()
    if method not in ("full", "lora", "qlora"):
        raise Unpredictable(_("The method “%(word)s” is not known.") % {"word": method})
    compute_word = keys.text("compute")
    compute = "bf16"
    if compute_word:
        word = weight_format(compute_word)
        level = WEIGHT_FORMATS[word].share
        if word == "fp8" and np.isfinite(card.peak_fp8):
            compute = "fp8"
        elif level == "native FP4" and np.isfinite(card.peak_fp4):
            compute = "fp4"
        elif word == "fp32":
            compute = "tf32" if np.isfinite(card.tf32) else "fp32"
    peaks = {"fp8": card.peak_fp8, "fp4": card.peak_fp4, "tf32": card.tf32, "fp32": card.peak32}
    dense = peaks.get(compute, card.peak16)
    if not np.isfinite(dense):
        raise Unpredictable(_("The computing rate of %(name)s is not known for this precision.") % {"name": gpu.name})
    tokens = keys.number("train_tokens", 1.0) or math.nan
    cards = keys.number("gpus", 1.0)
    stated = keys.record("parallel")
    degrees = [stated.number(key, 1.0) or 1.0 for key in ("tp", "pp", "dp")]
    product = math.prod(degrees) * (keys.number("cp", 1.0) or stated.number("cp", 1.0) or 1.0)
    if cards is None:
        cards = product if product > 1 else (256.0 if shape.params < 15e9 else 1024.0) if np.isfinite(tokens) else 1.0
    # A layout that names more devices than the row is of a larger run: the row counts one server, or one rank.
    cards = max(cards, product / named.devices)
    devices = cards * named.devices
    sequence = keys.number("seq_len", 1.0) or _ASSUMED_SEQUENCE

    weight_bytes = 2.0
    if method == "qlora":
        weights = keys.text("weights")
        bits = WEIGHT_FORMATS[weight_format(weights)].bits if weights else 4.5
        weight_bytes = bits / 8 if bits < 16 else 4.5 / 8
    per_param = {"full": 6.0, "lora": 2.0, "qlora": weight_bytes}[method]
    layout = _degrees(keys, llm, gpu, card.memory, shape, per_param, framework, devices)
    tp, pp, dp, ep, context = layout.tp, layout.pp, layout.dp, layout.ep, layout.attention_dp
    resident = shape.params / (tp * pp) * {"full": 16.0, "lora": 2.0, "qlora": weight_bytes}[method]
    sharding = keys.text("sharding")
    zero = _zero(sharding, framework, devices, method, resident < 0.8 * card.memory, tp * pp > 1)

    micro, count, whole = (
        keys.number("micro_batch", 1e-6),
        keys.number("grad_accum", 1.0),
        keys.number("global_batch", 1e-6),
    )
    if whole is None:
        if micro is not None:
            whole = micro * (count or (1.0 if pp == 1 else 4.0 * pp)) * dp
        else:
            whole = dp * max(1.0 if method != "full" else 8.0, 4.0 * pp if pp > 1 else 1.0)
    local = max(whole / dp, 1e-6)
    if micro is None:
        micro = local / count if count else _micro_batch(local, sequence / context, pp)
    micro = min(micro, max(local, 1e-6))

    checkpointing = keys.either("activation_checkpointing")
    recompute = _recompute(checkpointing, framework)
    offload = float("offload" in (sharding or ""))
    optimizer, gradients = training.OPTIMIZER_BYTES["adamw"], 4.0 if framework == "Megatron and NeMo" else 2.0
    per_node = keys.number("gpus_per_node", 1.0) or (4.0 if gpu.link_domain >= 72 else min(8.0, cards))
    per_node = min(per_node, cards) if cards < per_node else per_node
    run: tuple[float, ...] = (
        dense * card.sustained, devices, tp, pp, dp, ep, context, sequence, whole, micro, keys.number("vpp",
        1.0) or 1.0, recompute, zero,
        weight_bytes, _adapters(llm, method), float(method == "full"), float(method == "qlora"),
        optimizer, gradients, _flash(keys, framework, architecture), 1.0, per_node * named.devices,
        network_per_gpu(keys.text("network"), per_node, architecture), _chunked_loss(keys), float(llm.gated_ffn),
        offload, training.fed(card, gpu.architecture), training.ends_bytes(framework),
        training.fragmentation(framework),
    )  # fmt: skip
    if checkpointing is None and keys.text("metric") == "peak_memory_gib":
        run = _that_ran(run, columns, llm, calibration)
    early = framework == "Megatron and NeMo" and _dated(keys, _BEFORE_SEQUENCE_PARALLEL)
    return TrainingRow(
        llm_columns(llm), columns, run,
        training.constants_index(gpu, framework, compute, calibration, "Megatron before 2022" if early else None),
        cards, per_node,
        dense, tokens, keys.number("gpu_hours", 0.001) or math.nan, keys.number("power_limit_w", 1.0) or math.nan,
        architecture, evidence.training(calibration, architecture, gpu, llm, framework, sequence, context > 1),
        # Megatron's formula of those years (Narayanan et al., SC 2021, Eq. 3) counts what is computed twice.
        early,
    )  # fmt: skip


def _micro_batch(local: float, sequence: float, pp: float) -> float:
    """A micro-batch of about 8,192 tokens that divides the local batch; one sequence where stages wait for each
    other."""
    most = 1.0 if pp > 1 else max(1.0, 8192.0 / sequence)
    size = min(local, 2.0 ** math.floor(math.log2(most)))
    return max(size, min(local, 1.0))


def _recompute(stated: bool | str | None, framework: str) -> float:
    if isinstance(stated, str):
        return training.RECOMPUTE_SELECTIVE if "sel" in stated.casefold() else training.RECOMPUTE_FULL
    if stated is None:
        # Scripts on the HF Trainer recompute unless they say otherwise.
        return training.RECOMPUTE_FULL if framework == "HF Trainer and PEFT" else training.RECOMPUTE_NONE
    return training.RECOMPUTE_FULL if stated else training.RECOMPUTE_NONE


# Flash attention came with 2023; sequence parallelism, and FLOP counted once, with 2022.
_BEFORE_FLASH, _BEFORE_SEQUENCE_PARALLEL = re.compile(r"\b20(1\d|20|21|22)\b"), re.compile(r"\b20(1\d|20|21)\b")


def _dated(keys: Keys, years: re.Pattern[str]) -> bool:
    return bool(years.search(keys.record("engine").text("version") or ""))


def _chunked_loss(keys: Keys) -> float:
    """1 where the program takes the loss piece by piece, without all logits at once."""
    engine = keys.record("engine")
    return float(any("torchtune" in (engine.text(key) or "").casefold() for key in ("name", "kind")))


def _flash(keys: Keys, framework: str, architecture: str) -> float:
    """1 where attention kernels keep the scores on the chip: not before 2023, nor in Megatron on older cards."""
    if _dated(keys, _BEFORE_FLASH):
        return 0.0
    return training.flash_attention(architecture, framework)


_RUN = {name: position for position, name in enumerate(training.TrainColumns._fields)}


def _that_ran(run: tuple[float, ...], columns: np.ndarray, llm: Llm, calibration: Calibration) -> tuple[float, ...]:
    """The settings of a run that is known to have fitted: recompute everything, then page the optimizer, if it would
    not."""
    index = np.zeros(len(training.TrainConstants._fields), int)
    choices = []
    for recompute, frugal in (
        (run[_RUN["recompute"]], False),
        (training.RECOMPUTE_FULL, False),
        (training.RECOMPUTE_FULL, True),
    ):
        changed = list(run)
        changed[_RUN["recompute"]] = recompute
        if frugal:
            # The optimizer steps inside the backward pass, its states lie in the host's memory.
            changed[_RUN["offload_optimizer"]], changed[_RUN["gradient_bytes"]] = 1.0, 0.0
        choices.append(tuple(changed))
    case = training.build([llm_columns(llm)] * 3, [columns] * 3, choices, [index] * 3, calibration)
    fits = training.train_memory(case).total <= case.gpu.memory
    if fits[0]:
        return choices[0]
    if fits[1] or not (fits[2] and run[_RUN["n_gpus"]] == 1):
        return choices[1]
    return choices[2]


def _adapters(llm: Llm, method: str) -> float:
    if method == "full":
        return 0.0
    width = llm.ffn_width or (llm.moe.expert_width if llm.moe else 0)
    return training.adapter_parameters(
        llm.hidden,
        llm.kv_heads * llm.head_dim,
        llm.heads * llm.head_dim,
        width,
        llm.layers,
        16,
        "all-linear",
        llm.gated_ffn,
    )


# --- the rest --------------------------------------------------------------------------------------------------------


def is_training(keys: Keys, lookup: Lookup) -> bool:
    """Whether a row about memory, fit or power is about training."""
    if keys.text("task") in ("training", "finetune"):
        return True
    if any(
        keys.has(key)
        for key in ("method", "global_batch", "micro_batch", "grad_accum", "train_tokens", "activation_checkpointing")
    ):
        return True
    if keys.has("seq_len") and not keys.has("input_tokens") and keys.text("task") == "power":
        return True
    engine = keys.record("engine")
    runtime = lookup.runtime(engine.text("kind"))
    return bool(runtime is not None and runtime.use in ("training", "finetune")) or keys.text("workload") == "training"


_TUNED_CPU = re.compile(r"ik_llama|ktransformers|ipex|amx|openvino", re.IGNORECASE)
_AVX512 = re.compile(
    r"epyc 9|ryzen (9|7|5) (7|9)\d{3}|ryzen ai|threadripper (pro )?7|platinum|gold|xeon (w|6|max)|xeon\(r\) (w|6)",
    re.IGNORECASE,
)
# Cores of desktop processors that rows name without saying how many they have, by vendors' lists.
_CORES = (
    (r"79[57]0x|5950x|9950x", 16), (r"5900x|7900x|9900x|3900x", 12), (r"5800x|7700x|9700x", 8), (r"1[34]900", 24),
    (r"1[34]700", 20), (r"12900", 16),
    (r"x99|e5-26", 14), (r"m[1-5] max", 12), (r"m[1-5] ultra", 24), (r"m[1-5] pro", 10), (r"\bm[1-5]\b", 8),
    (r"epyc|xeon|threadripper", 32),
)  # fmt: skip


_SERVER_CPU = re.compile(r"epyc|xeon|threadripper|platinum|gold|kunpeng|x99|graviton|ampere altra", re.IGNORECASE)


def cpu_row(keys: Keys, lookup: Lookup, calibration: Calibration) -> CpuRow:
    """Read a row about a host without a GPU."""
    llm = _model(keys, lookup)
    host = keys.text("host") or ""
    metric = keys.text("metric") or ""
    stated = keys.text("weights")
    weights = weight_format(stated) if stated else default_weights(llm)
    bandwidth = _host_bandwidth(keys)
    sockets = 2.0 if _two_sockets(host) else 1.0
    cpu = _named_cpu(host, lookup)
    if bandwidth is None and cpu is not None:
        bandwidth = cpu.memory_bandwidth_bytes_s.value * sockets / 1e9
    if metric != "prefill_tokens_per_s" and metric != "ttft_s":
        need(bandwidth, "host_memory_gbs")
    cores = float(cpu.cores * sockets) if cpu is not None else _cores(host, sockets)
    engine = keys.record("engine")
    tuned = any(_TUNED_CPU.search(engine.text(key) or "") for key in ("name", "kind"))
    prompt, answer = _lengths(keys, metric)
    server = bool(_SERVER_CPU.search(host))
    avx512 = bool(cpu.avx512) if cpu is not None else bool(_AVX512.search(host))
    return CpuRow(
        llm_columns(llm), bytes_per_weight(weights, llm, True), _kv_bytes(keys.text("kv")),
        (bandwidth or math.nan) * 1e9, sockets, cores, avx512, server, tuned,
        WEIGHT_FORMATS[weights].level <= 8, prompt, answer,
    )  # fmt: skip


def _named_cpu(host: str, lookup: Lookup) -> Any | None:
    words = host.casefold()
    return next((cpu for cpu in lookup.catalog.cpus.values() if cpu.name.casefold() in words), None)


def _cores(host: str, sockets: float) -> float:
    stated = re.search(r"(\d+)[\s-]*cores?", host.casefold())
    if stated:
        return float(stated.group(1))
    return next(
        (float(cores) * sockets for pattern, cores in _CORES if re.search(pattern, host.casefold())), 8.0 * sockets
    )


_TRANSFERS = re.compile(r"ddr([345])x?[\s-]*(\d{4})?", re.IGNORECASE)
_CHANNELS = re.compile(r"(\d+)\s*(?:memory\s*)?channels?", re.IGNORECASE)
_CHANNEL_WORDS = (("dual-channel", 2), ("quad-channel", 4), ("octa-channel", 8), ("eight-channel", 8))
# Millions of transfers a second of the usual memory of a generation, and channels a socket by the processor's name.
_USUAL_TRANSFERS = {"3": 1600.0, "4": 3200.0, "5": 5600.0}
_CHANNELS_BY_NAME = (
    (r"epyc 9|xeon 6|turin|genoa", 12, "5"), (r"epyc 7|milan|rome", 8, "4"), (r"threadripper pro", 8, "5"),
    (r"threadripper", 4, "4"), (r"x99|e5-26", 4, "4"), (r"xeon|platinum|gold", 8, "5"),
    (r"ryzen [3579] [1-5]\d{3}", 2, "4"), (r"ryzen|core.{0,6} (?:i[3579]|ultra)|\bi[3579]-1[2-5]\d{3}", 2, "5"),
    (r"\bi[3579]-\d{4,5}", 2, "4"),
)  # fmt: skip


def _host_bandwidth(keys: Keys) -> float | None:
    """Memory bandwidth of all sockets of a row's host: stated, else channels x transfers x 8 bytes from what its words
    say, else from what such processors are sold with. [GB/s]; None where nothing tells."""
    stated = keys.number("host_memory_gbs", 0.1)
    if stated is not None:
        return stated
    host = (keys.text("host") or "").casefold()
    named = next(((count, kind) for pattern, count, kind in _CHANNELS_BY_NAME if re.search(pattern, host)), None)
    kind = _TRANSFERS.search(host)
    counted = _CHANNELS.search(host)
    channels = float(counted.group(1)) if counted else next((n for word, n in _CHANNEL_WORDS if word in host), None)
    if channels is None:
        channels = named[0] if named else None
    if channels is None or not (kind or named):
        return None
    generation = kind.group(1) if kind else str(named[1] if named else "5")
    transfers = float(kind.group(2)) if kind and kind.group(2) else _USUAL_TRANSFERS[generation]
    return channels * transfers * 8e-3 * (2.0 if _two_sockets(host) else 1.0)


_NODE_NETWORK_DEFAULT = 8 * 50e9


def collective_row(keys: Keys, lookup: Lookup, calibration: Calibration) -> CollectiveRow:
    """Read a row about a collective operation."""
    named = card_of(keys, lookup)
    gpu = named.gpu
    operation = (keys.text("collective") or "all_reduce").casefold()
    ranks = need(keys.number("gpus", 1.0), "gpus")
    if ranks < 2:
        raise Unpredictable(_("A collective needs at least two GPUs."))
    message = keys.number("message_bytes", 1.0) or 8.0 * GIB
    columns = GpuColumns(*_columns(keys, named, calibration))
    words = (keys.text("interconnect") or "").casefold()
    nodes = keys.number("nodes", 1.0) or 1.0
    if gpu.link_domain >= ranks and "mnnvl" in words:
        nodes = 1.0
    on_link = columns.link > 0 and not words.startswith("pcie")
    architecture = calibration.architecture(gpu.architecture)
    kind = {"A100": "nvlink_ampere", "Hopper": "nvlink_hopper", "Blackwell data centre": "nvlink_blackwell"}.get(
        architecture, "nvlink_ampere"
    )
    network = keys.text("network")
    per_node = ranks / nodes
    node_bytes = network_per_gpu(network, per_node, architecture) * per_node
    return CollectiveRow(
        message, ranks, nodes, float(columns.link if on_link else columns.pcie), float(node_bytes), operation,
        kind if on_link else "pcie",
        (keys.text("algorithm") or "").casefold() != "ring", "efa" in (network or "").casefold(),
    )  # fmt: skip


def cap_row(keys: Keys, lookup: Lookup, calibration: Calibration) -> CapRow:
    """Read a row about speed under a power cap."""
    gpu = card_of(keys, lookup).gpu
    cap = need(keys.number("power_limit_w", 1.0), "power_limit_w")
    tdp = gpu.board_power_w.value if gpu.board_power_w else None
    reference = keys.number("power_limit_reference_w", 1.0) or tdp
    idle = gpu.idle_power_w.value if gpu.idle_power_w else 0.1 * need(reference, "power_limit_reference_w")
    phase = (keys.text("phase") or "serving").casefold()
    return CapRow(cap, need(reference, "power_limit_reference_w"), idle, phase == "decode")


def draw_row(keys: Keys, lookup: Lookup, calibration: Calibration) -> DrawRow:
    """Read a row about the draw of a server or card, with or without a stated load."""
    named = card_of(keys, lookup)
    gpu = named.gpu
    columns = _columns(keys, named, calibration)
    load = (keys.text("load") or keys.text("workload") or "").casefold()
    if keys.text("metric") == "power_w_server_idle":
        load = "idle"
    if keys.text("scope") == "interconnect":
        raise Unpredictable(_("The draw of network switches is not predicted from cards."))
    return DrawRow(
        columns,
        need(keys.number("gpus_per_node", 1.0) or keys.number("gpus", 1.0), "gpus"),
        load,
        keys.number("power_limit_w", 1.0) or math.nan,
        calibration.architecture(gpu.architecture),
    )


def read(row: Mapping[str, Any], family: str, lookup: Lookup, calibration: Calibration) -> Any:
    """The record of a row of this family. Raises `Unpredictable` with a sentence."""
    keys = Keys(row)
    if family in ("cpu_decode", "cpu_prefill"):
        return cpu_row(keys, lookup, calibration)
    if family == "collective":
        return collective_row(keys, lookup, calibration)
    if family == "power_cap_speed":
        return cap_row(keys, lookup, calibration)
    if family in ("training", "finetune", "gpu_hours"):
        return training_row(keys, lookup, calibration)
    if family == "server_draw" or (family in ("power_gpu", "power_server") and not keys.has("model")):
        return draw_row(keys, lookup, calibration)
    if family in ("fit", "peak_memory", "kv_capacity", "power_gpu", "power_server", "energy") and is_training(
        keys, lookup
    ):
        return training_row(keys, lookup, calibration)
    if family == "offload" and _host_bandwidth(keys) is None:
        raise Unpredictable(_("The speed of the host's memory (“host_memory_gbs”) is not stated."))
    return serving_row(keys, lookup, calibration, family)
