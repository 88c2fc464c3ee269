"""The one record that every speed and memory formula takes: a struct of float64 columns, one row a configuration.

A plan, a measured row and a search all become cases here, so that the same formulas predict all three. Columns that
belong to a model, a card or an engine are looked up once (`llm_columns`, `gpu_columns`, `constants`) and gathered by
row.

Symbols in the docstrings of the formulas: L layers, d hidden width, h heads, g KV heads, e head width, f FFN width, V
vocabulary, E experts, k experts a token uses, t p x q tensor, pipeline, data and expert degree, I input and O output
tokens, B sequences in flight in a replica.
"""

from collections.abc import Callable, Sequence
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np

from gpuplanner.catalog.calibration import Calibration
from gpuplanner.catalog.schema import Gpu, Llm

Columns = np.ndarray
T = TypeVar("T")


class WeightFormat(NamedTuple):
    """Bits a weight in the file; what is left in 16 bit; which efficiency row reads it; the smallest precision it
    counts as."""

    bits: float
    rest_16: bool
    share: str
    single_user_share: str
    level: int


# Bits: blocks and scales of the published layouts; for GGUF the average of a whole 7B file, head and embedding included
# (llama.cpp quantize README; 70B files are .03-.08 lower). int4: 4 bit and a 16-bit scale and zero a group of 128
# (unverified).
WEIGHT_FORMATS: dict[str, WeightFormat] = {
    "fp32": WeightFormat(32, False, "32 bit", "32 bit", 32),
    "bf16": WeightFormat(16, False, "16 bit", "16 bit", 16),
    "fp16": WeightFormat(16, False, "16 bit", "16 bit", 16),
    "fp8": WeightFormat(8 + 32 / 128**2, True, "8 bit", "single-user 8 bit", 8),
    "int8": WeightFormat(8 + 16 / 1024, True, "8 bit", "single-user 8 bit", 8),
    "fp6": WeightFormat(6.25, True, "4-bit weight only", "single-user 4 to 6 bit", 5),
    "int4": WeightFormat(4.25, True, "4-bit weight only", "single-user 4 to 6 bit", 4),
    "int3": WeightFormat(3.25, True, "4-bit weight only", "single-user 3 bit and less", 3),
    "int2": WeightFormat(2.25, True, "4-bit weight only", "single-user 3 bit and less", 2),
    "nf4": WeightFormat(4.5, True, "4-bit weight only", "single-user 4 to 6 bit", 4),
    "nvfp4": WeightFormat(4.5, True, "native FP4", "single-user 4 to 6 bit", 4),
    "fp4": WeightFormat(4.5, True, "native FP4", "single-user 4 to 6 bit", 4),
    "mxfp4": WeightFormat(4.25, True, "native FP4", "single-user 4 to 6 bit", 4),
    "q8_0": WeightFormat(8.5, False, "8 bit", "single-user 8 bit", 8),
    "q6_k": WeightFormat(6.56, False, "4-bit weight only", "single-user 4 to 6 bit", 6),
    "q5_k_m": WeightFormat(5.68, False, "4-bit weight only", "single-user 4 to 6 bit", 5),
    "q5_k_s": WeightFormat(5.52, False, "4-bit weight only", "single-user 4 to 6 bit", 5),
    "q5_0": WeightFormat(5.5, False, "4-bit weight only", "single-user 4 to 6 bit", 5),
    "q4_k_m": WeightFormat(4.84, False, "4-bit weight only", "single-user 4 to 6 bit", 4),
    "q4_k_s": WeightFormat(4.58, False, "4-bit weight only", "single-user 4 to 6 bit", 4),
    "q4_k_xl": WeightFormat(4.9, False, "4-bit weight only", "single-user 4 to 6 bit", 4),
    "q4_0": WeightFormat(4.5, False, "4-bit weight only", "single-user 4 to 6 bit", 4),
    "iq4_xs": WeightFormat(4.27, False, "4-bit weight only", "single-user 4 to 6 bit", 4),
    "q3_k_l": WeightFormat(4.27, False, "4-bit weight only", "single-user 3 bit and less", 3),
    "q3_k_m": WeightFormat(3.91, False, "4-bit weight only", "single-user 3 bit and less", 3),
    "q3_k_s": WeightFormat(3.50, False, "4-bit weight only", "single-user 3 bit and less", 3),
    "iq3_xxs": WeightFormat(3.06, False, "4-bit weight only", "single-user 3 bit and less", 3),
    "q2_k": WeightFormat(3.35, False, "4-bit weight only", "single-user 3 bit and less", 2),
    "iq2_m": WeightFormat(2.7, False, "4-bit weight only", "single-user 3 bit and less", 2),
    "iq2_xxs": WeightFormat(2.06, False, "4-bit weight only", "single-user 3 bit and less", 2),
}
KV_BYTES = {
    "fp32": 4.0,
    "bf16": 2.0,
    "fp16": 2.0,
    "fp8": 1.0,
    "int8": 1.0,
    "q8_0": 1.0625,
    "int4": 0.5625,
    "q4_0": 0.5625,
    "nvfp4": 0.5625,
    "q6": 0.8125,
}
SINGLE_USER_ENGINES = frozenset({"llama.cpp", "exllama", "MLC", "MLX"})


# Server kernels for MXFP4 experts work on widths that are multiples of this.
_EXPERT_TILE = 256


class LlmColumns(NamedTuple):
    """The shape of a model. Parameters are counts, `kv_*` elements per token over all layers of a replica,
    `attention_*` FLOP per token and token of context."""

    layers: Columns
    moe_layers: Columns
    hidden: Columns
    heads: Columns
    kv_heads: Columns
    vocab: Columns
    params: Columns
    nonexpert: Columns
    expert: Columns
    head: Columns
    embedding: Columns
    active: Columns
    experts: Columns
    experts_per_token: Columns
    ffn_active: Columns
    expert_width: Columns
    kv_full: Columns
    kv_window: Columns
    window: Columns
    state_bytes: Columns
    decode_full: Columns
    decode_window: Columns
    prefill_full: Columns
    prefill_window: Columns
    attention_width: Columns
    kv_width: Columns
    max_context: Columns


class GpuColumns(NamedTuple):
    """One device. Rates in FLOP/s and B/s, dense; `memory` is what a program can use, `sustained` the clock share
    under dense compute."""

    peak32: Columns
    tf32: Columns
    peak16: Columns
    peak16_acc16: Columns
    peak_fp8: Columns
    peak_int8: Columns
    peak_fp4: Columns
    bandwidth: Columns
    memory: Columns
    tdp: Columns
    idle: Columns
    link: Columns
    link_domain: Columns
    pcie: Columns
    peer_to_peer: Columns
    sustained: Columns
    vector_ceiling: Columns


class RunColumns(NamedTuple):
    """How it runs. `peak` is the dense rate of the compute type; `body`, `expert`, `head`, `embedding` bytes a
    weight. `memory_fraction` is of all memory, or of what is free after loading (`fraction_of_free`), for everything or
    for weights and cache alone (`static_fraction`)."""

    peak: Columns
    tp: Columns
    pp: Columns
    dp: Columns
    ep: Columns
    attention_dp: Columns
    body_bytes: Columns
    expert_bytes: Columns
    head_bytes: Columns
    kv_bytes: Columns
    input: Columns
    output: Columns
    prefix: Columns
    max_sequences: Columns
    max_batched: Columns
    memory_fraction: Columns
    fraction_of_free: Columns
    single_user: Columns
    vllm: Columns
    in_server: Columns
    network: Columns
    draft_tokens: Columns
    accepted: Columns
    draft_cost: Columns
    static_fraction: Columns


class ServeConstants(NamedTuple):
    """Calibrated constants of a serving case, gathered from the table."""

    dram: Columns
    matrix: Columns
    attention: Columns
    layer_time: Columns
    host_time: Columns
    sequence_time: Columns
    engine_dram: Columns
    engine_matrix: Columns
    first_token_time: Columns
    interleave: Columns
    format_share: Columns
    layer_factor: Columns
    expert_layer_time: Columns
    expert_matrix: Columns
    latency_nvlink: Columns
    latency_pcie: Columns
    share_nvlink: Columns
    share_pcie: Columns
    floor_layer: Columns
    floor_expert: Columns
    cache_wait: Columns
    distinct: Columns
    fullest_rank: Columns
    repeated_reads: Columns


class Case(NamedTuple):
    """Configurations in columns of equal length. `index` says where each constant stands in the table, one row a
    configuration. Its columns are never written to."""

    llm: LlmColumns
    gpu: GpuColumns
    run: RunColumns
    k: ServeConstants
    index: np.ndarray  # type: ignore[assignment]

    @property
    def size(self) -> int:
        return self.run.tp.size

    @property
    def counts_as_one(self) -> bool:
        """Remembered by its own identity (`IdentityCache`)."""
        return True

    def rows(self, keep: np.ndarray) -> "Case":
        """The configurations at these positions (repeats allowed) or under this mask."""
        return Case(
            LlmColumns(*(column[keep] for column in self.llm)),
            GpuColumns(*(column[keep] for column in self.gpu)),
            RunColumns(*(column[keep] for column in self.run)),
            ServeConstants(*(column[keep] for column in self.k)),
            self.index[keep],
        )

    def across(self) -> "Case":
        """The same configurations as a column, so that formulas broadcast over a second axis (a grid of loads)."""
        return Case(
            LlmColumns(*(column[:, None] for column in self.llm)),
            GpuColumns(*(column[:, None] for column in self.gpu)),
            RunColumns(*(column[:, None] for column in self.run)),
            ServeConstants(*(column[:, None] for column in self.k)),
            self.index,
        )

    def with_constants(self, calibration: Calibration) -> "Case":
        """The same configurations under another table of constants."""
        return self._replace(k=ServeConstants(*calibration.values[self.index].T))


class IdentityCache(Generic[T]):
    """Remembers what was derived from frozen records, by their identity: hashing a large record costs more than
    deriving from it.

    Arguments that are text or numbers count by value, tuples by the identity of what they hold, but for large ones that
    say of themselves that they count as one.
    """

    def __init__(self, derive: Callable[..., T], limit: int = 4096) -> None:
        self._derive = derive
        self._limit = limit
        self._known: dict[tuple[Any, ...], tuple[tuple[Any, ...], T]] = {}

    def __call__(self, *arguments: Any) -> T:
        key = tuple(map(_identity, arguments))
        found = self._known.get(key)
        if found is not None:
            return found[1]
        if len(self._known) >= self._limit:
            self._known.clear()
        derived = self._derive(*arguments)
        # The records are kept with the result, so that an identity cannot be given to another record meanwhile.
        self._known[key] = (arguments, derived)
        return derived


def _identity(argument: Any) -> Any:
    if argument is None or isinstance(argument, (str, int, float)):
        return argument
    if isinstance(argument, tuple) and not hasattr(argument, "counts_as_one"):
        return tuple(map(_identity, argument))
    return ("id", id(argument))


class Parameters(NamedTuple):
    """Parameter counts of a model."""

    attention_layer: float
    feed_forward: float
    nonexpert: float
    expert: float
    head: float
    embedding: float
    total: float
    active: float


def parameters(llm: Llm) -> Parameters:
    """Count the parameters of a model.

    Dense, MHA, GQA, MQA, MLA, experts with shared ones, and layers without an FFN are counted exactly (norms and
    biases, below 0.05 %, left out). For hybrids, whose linear layers the algebra does not describe, the published
    totals are taken.

    References
    ----------
    .. [1] The algebra of NVIDIA Megatron-LM, `theoretical_memory_usage.py`, extended by MLA as in the DeepSeek-V2
    paper.
    """
    width, attention = llm.hidden, llm.attention
    if attention.mla is not None:
        mla = attention.mla
        key_width = mla.nope_dim + mla.rope_dim
        query = (
            width * mla.query_rank + mla.query_rank * llm.heads * key_width
            if mla.query_rank
            else width * llm.heads * key_width
        )
        per_layer = (
            query
            + width * (mla.kv_rank + mla.rope_dim)
            + mla.kv_rank * llm.heads * (mla.nope_dim + mla.value_dim)
            + llm.heads * mla.value_dim * width
        )
    else:
        per_layer = 2 * width * llm.heads * llm.head_dim + 2 * width * llm.kv_heads * llm.head_dim
    matrices = 3 if llm.gated_ffn else 2
    moe = llm.moe
    moe_layers = moe.moe_layers if moe else 0
    dense_ffn = matrices * width * (llm.ffn_width or 0)
    head = float(llm.vocab * width)
    embedding = 0.0 if llm.tied_embeddings else head
    expert = float(moe_layers * matrices * width * moe.expert_width) if moe else 0.0
    shared = 0.0
    if moe:
        shared_width = moe.shared_expert_width or moe.expert_width
        shared = moe_layers * (moe.shared_experts * matrices * width * shared_width + width * moe.experts)
    feed_forward = (llm.layers - moe_layers) * dense_ffn + shared
    nonexpert = llm.layers * per_layer + feed_forward
    experts, used = (moe.experts, moe.experts_per_token) if moe else (0, 0)
    if llm.params_basis != "computed":
        total = float(llm.params_total)
        active = float(llm.params_active) if moe else total - embedding
        nonexpert = max(total - experts * expert - head - embedding, 0.0)
        return Parameters(per_layer, feed_forward, nonexpert, expert, head, embedding, total, active)
    total = nonexpert + experts * expert + head + embedding
    active = nonexpert + used * expert + head
    return Parameters(per_layer, feed_forward, nonexpert, expert, head, embedding, total, active)


def _llm_columns(llm: Llm) -> np.ndarray:
    count, attention, moe = parameters(llm), llm.attention, llm.moe
    share = attention.kv_share or 1
    full_heads = attention.full_kv_heads or llm.kv_heads
    full_width = attention.full_head_dim or llm.head_dim
    query_width = llm.heads * llm.head_dim
    if attention.mla is not None:
        mla = attention.mla
        kv_full = float(attention.full_layers * (mla.kv_rank + mla.rope_dim))
        decode_layer = 2 * llm.heads * (2 * mla.kv_rank + mla.rope_dim)
        prefill_layer = 2 * llm.heads * (mla.nope_dim + mla.rope_dim + mla.value_dim)
        kv_heads, attention_width, kv_width = 1, llm.heads * (mla.nope_dim + mla.rope_dim), mla.kv_rank + mla.rope_dim
        decode_full, prefill_full = attention.full_layers * decode_layer, attention.full_layers * prefill_layer
    else:
        kv_full = 2 * attention.full_layers * full_heads * full_width / share
        kv_heads, attention_width, kv_width = llm.kv_heads, query_width, llm.kv_heads * llm.head_dim
        decode_full = prefill_full = 4 * attention.full_layers * llm.heads * full_width
    kv_window = 2 * attention.windowed_layers * llm.kv_heads * llm.head_dim / share
    windowed = 4 * attention.windowed_layers * query_width
    ffn_active = float(llm.ffn_width or 0)
    if moe:
        expert_share = moe.moe_layers / llm.layers
        routed = moe.experts_per_token * moe.expert_width + moe.shared_experts * (
            moe.shared_expert_width or moe.expert_width
        )
        ffn_active = expert_share * routed + (1 - expert_share) * ffn_active
    return np.array(
        [
            llm.layers, moe.moe_layers if moe else 0, llm.hidden, llm.heads, kv_heads, llm.vocab, count.total,
            count.nonexpert,
            count.expert, count.head, count.embedding, count.active, moe.experts if moe else 0,
            moe.experts_per_token if moe else 0,
            ffn_active, moe.expert_width if moe else (llm.ffn_width or 4 * llm.hidden), kv_full, kv_window,
            attention.window or 0, attention.state_bytes_per_sequence or 0, decode_full, windowed, prefill_full,
            windowed,
            attention_width, kv_width, llm.max_context or np.inf,
        ],
        float,
    )  # fmt: skip


llm_columns = IdentityCache(_llm_columns)

# Watts a dense 16-bit TFLOP (or, for consumer chips, an FP32 vector TFLOP) of the best-fed card of a generation: a
# card with fewer cannot
# hold its boost clock under dense compute. Exponent: the power-cap law, speed ~ power^(1/2.7).
_FEED_16 = {"Hopper": 0.707, "A100": 1.28}
_FEED_32 = {"Ampere consumer": 9.5, "Ada": 5.4, "Blackwell consumer": 5.2}
_FEED_EXPONENT = 1 / 2.7
# Workstation and server cards with consumer chips run far below their boost clock, where voltage no longer falls:
# nearly linear.
_FEED_EXPONENT_32 = 0.8
# What desktop programs reach of the 16-bit efficiency of libraries on AMD and Intel cards.
_OTHER_VENDORS = 0.76
# Multiples of the FP32 vector rate that single-user programs reach in prefill, and which chips have 64 FP32 lanes a
# multiprocessor.
_VECTOR_CEILING = {"A100": 3.2, "Hopper": 4.0, "Pascal": 1.35}
_NARROW_MULTIPROCESSOR = frozenset({"Volta", "Turing", "A100"})
# Programs on a unified memory may take three quarters of it on macOS, most of it elsewhere (unverified).
_UNIFIED_SHARE = {"Apple": 0.75}
_UNIFIED_OTHER = 0.90
# 1 % goes to the driver; the label is read as GiB with 1.5 % lost; GDDR with ECC on gives up a sixteenth.
_VISIBLE_SHARE, _LABEL_SHARE, _ECC_SHARE = 0.99, 0.985, 0.94


def usable_memory(gpu: Gpu, architecture: str) -> float:
    """Memory of one device that programs can use. [bytes]

    The visible size where the catalog knows it, else the label read as GiB. Good to 1 % where the visible size is
    known, else 3 %.
    """
    devices = gpu.gpus_per_card
    if gpu.memory_visible_bytes is not None:
        return _VISIBLE_SHARE * gpu.memory_visible_bytes.value / devices
    label = gpu.memory_bytes.value / devices
    if (
        gpu.form_factor == "SoC"
        or "unified" in gpu.memory_type
        or ("LPDDR5" in gpu.memory_type and architecture in ("GB10", "Strix Halo"))
    ):
        return label * _UNIFIED_SHARE.get(architecture, _UNIFIED_OTHER)
    gddr_with_ecc = gpu.memory_type.startswith("GDDR") and bool(gpu.ecc) and "GeForce" not in gpu.name
    return label * _LABEL_SHARE * (_ECC_SHARE if gddr_with_ecc else 1.0)


def reaches_peers(gpu: Gpu, linked: bool) -> bool:
    """Whether cards reach each other's memory directly; GeForce drivers allow it over a bridge only."""
    return gpu.peer_to_peer is not False and (linked or "GeForce" not in gpu.name)


def _gpu_columns(gpu: Gpu, calibration: Calibration) -> np.ndarray:
    architecture = calibration.architecture(gpu.architecture)
    devices = gpu.gpus_per_card
    peaks = {name: fact.value / devices for name, fact in gpu.peak_flops.items()}
    peak32 = peaks.get("fp32", np.nan)
    half = [peaks[name] for name in ("bf16", "fp16") if name in peaks]
    # A card whose 16-bit rate is lower than its 32-bit rate (Pascal P40) computes 16-bit models in 32 bit.
    peak16 = max([*half, peak32]) if half and np.isfinite(peak32) else max(half, default=peak32)
    tdp = gpu.board_power_w.value / devices if gpu.board_power_w else np.nan
    sustained = 1.0
    if architecture in _FEED_16:
        sustained = min(1.0, (tdp / (peak16 / 1e12)) / _FEED_16[architecture]) ** _FEED_EXPONENT
    elif architecture in _FEED_32:
        sustained = min(1.0, (tdp / (peak32 / 1e12)) / _FEED_32[architecture]) ** _FEED_EXPONENT_32
    lanes = 2.0 if architecture in _NARROW_MULTIPROCESSOR else 1.0
    if gpu.vendor == "NVIDIA":
        ceiling = min(peak16, _VECTOR_CEILING.get(architecture, 2.0) * lanes * peak32)
    else:
        ceiling = peak16 * (1.0 if gpu.vendor == "Apple" else _OTHER_VENDORS)
    bandwidth = gpu.memory_bandwidth_bytes_s.value / devices if gpu.memory_bandwidth_bytes_s else np.nan
    link = gpu.link_one_way_bytes_s.value if gpu.link_one_way_bytes_s and gpu.link_domain > 1 else 0.0
    pcie = gpu.pcie_one_way_bytes_s.value if gpu.pcie_one_way_bytes_s else 16e9
    return np.array(
        [
            peak32, peaks.get("tf32", np.nan), peak16, peaks.get("fp16_acc16", peak16), peaks.get("fp8", np.nan),
            peaks.get("int8", np.nan), peaks.get("fp4", np.nan), bandwidth, usable_memory(gpu, architecture), tdp,
            gpu.idle_power_w.value / devices if gpu.idle_power_w else np.nan, link, gpu.link_domain, pcie,
            float(reaches_peers(gpu, link > 0.0)), sustained, ceiling,
        ],
        float,
    )  # fmt: skip


gpu_columns = IdentityCache(_gpu_columns)


def engine_row(engine: str, version: str | None) -> str:
    """The row of the engine table for a program and its version ("vLLM", "0.9.2" → "vLLM 0.6-0.9"); the newest without
    a version."""
    numbers = _version_numbers(version)
    if engine == "TensorRT-LLM":
        return "TensorRT-LLM before 0.12" if numbers and numbers < (0, 12) else "TensorRT-LLM 0.12 and later"
    if engine == "vLLM":
        if numbers and numbers < (0, 6):
            return "vLLM before 0.6"
        return "vLLM 0.6-0.9" if numbers and numbers < (0, 10) else "vLLM 0.10 and later"
    return engine


def _version_numbers(version: str | None) -> tuple[int, ...]:
    numbers: list[int] = []
    for piece in (version or "").lstrip("v").split("."):
        digits = "".join(character for character in piece if character.isdigit())
        if not digits or (len(digits) < len(piece) and not numbers):
            break
        numbers.append(int(digits[:6]))
    return tuple(numbers)


class Setting(NamedTuple):
    """What decides the constants of a serving case: the card's architecture, the engine row, the formats and what kind
    of model it is."""

    architecture: str
    vendor: str
    engine: str
    weights: str
    compute: str
    experts: bool


# Programs that call the library's collectives between kernels, outside of captured graphs.
_LAUNCHED_FROM_PYTHON = frozenset({"vLLM before 0.6", "HF transformers", "TGI"})


def _attention_kernel(setting: Setting) -> str:
    """The kind of decode attention: one block a query head in old programs, one a group of them in later ones."""
    if setting.engine in ("TensorRT-LLM before 0.12", "FasterTransformer"):
        return "by query head"
    return "by query head, AMD" if setting.engine == "vLLM before 0.6" and setting.vendor == "AMD" else "grouped"


def _constants_index(setting: Setting, calibration: Calibration) -> np.ndarray:
    """Where the constants of a setting stand in the table, in the order of `ServeConstants`."""
    architecture, engine = setting.architecture, setting.engine
    layout = WEIGHT_FORMATS[setting.weights]
    single_user = engine in SINGLE_USER_ENGINES
    share = layout.single_user_share if single_user else layout.share
    if not single_user and share == "native FP4" and setting.compute != "fp4":
        share = "4-bit weight only"
    if setting.experts and share == "8 bit" and engine.startswith("vLLM"):
        share = "8-bit experts, vLLM"
    at = calibration.position
    group = {"fp8": "matrix8", "int8": "matrix8", "fp4": "matrix4"}.get(setting.compute, "matrix16")
    matrix = at(group, architecture)
    if engine == "exllama":
        matrix = at("prefill vector", "exllama")
    elif engine == "llama.cpp" and setting.vendor == "NVIDIA":
        matrix = at("prefill vector", "NVIDIA")
    elif single_user and setting.vendor == "Apple":
        matrix = at("prefill vector", "Apple")
    factor = architecture if calibration.knows("layer factor", architecture) else "other"
    return np.array(
        [
            at("dram", architecture), matrix, at("attention16"), at("layer time", engine), at("host time", engine),
            at("sequence time", engine), at("engine dram", engine), at("engine matrix", engine),
            at("first token time", engine),
            at("prefill interleave", engine), at("format", share), at("layer factor", factor), at("expert layer time"),
            at("expert matrix"), at("all-reduce latency", "nvlink"), at("all-reduce latency", "pcie"),
            at("link share", "nvlink, launched from Python" if engine in _LAUNCHED_FROM_PYTHON else "nvlink"),
            at("link share", "pcie"), at("launch floor layer"), at("launch floor expert layer"), at("cache wait"),
            at("distinct experts"), at("fullest rank"), at("repeated cache reads", _attention_kernel(setting)),
        ]
    )  # fmt: skip


constants_index = IdentityCache(_constants_index)


def compute_peak(gpu: Sequence[float] | np.ndarray, setting: Setting) -> float:
    """Dense rate that the matrix products of a setting run at, clock limits included. [FLOP/s]; nan where the catalog
    has none."""
    card = GpuColumns(*gpu)
    if setting.engine == "llama.cpp":
        return float(card.vector_ceiling * card.sustained)
    if setting.engine == "exllama":
        return float(card.peak16_acc16 * card.sustained)
    peak = {
        "fp32": card.peak32,
        "tf32": card.tf32,
        "fp8": card.peak_fp8,
        "int8": card.peak_int8,
        "fp4": card.peak_fp4,
    }.get(setting.compute, card.peak16)
    return float(peak * card.sustained)


def bytes_per_weight(weights: str, llm: Llm, single_user: bool = False) -> tuple[float, float, float]:
    """Bytes of a weight in the body, in the experts, and in embedding and head.

    Models trained in MXFP4 (gpt-oss) keep everything but the experts in 16 bit, and servers widen their experts to
    whole tiles of 256 (2,880 to 3,072: vLLM loads 64.4 GiB of gpt-oss-120b). FP4 files of hybrids keep the linear
    attention in 16 bit.

    References
    ----------
    .. [1] vllm-project/llm-compressor, examples of Qwen3.5 (`ignore`: linear_attn, visual, embed_tokens, lm_head).
    """
    layout = WEIGHT_FORMATS[weights]
    size = layout.bits / 8
    rest = 2.0 if layout.rest_16 else size
    body = expert = size
    if weights == "mxfp4" and (llm.native_dtype or "").startswith("mxfp4"):
        body = 2.0
        if llm.moe is not None and not single_user:
            tiles = -(-llm.moe.expert_width // _EXPERT_TILE)
            expert = size * tiles * _EXPERT_TILE / llm.moe.expert_width
    elif weights in ("nvfp4", "fp4"):
        body = size + linear_attention_share(llm) * (2.0 - size)
    return body, expert, rest


def linear_attention_share(llm: Llm) -> float:
    """Share of the weights outside experts that belongs to linear-attention (or state-space) layers, 0 without such."""
    if not llm.attention.linear_layers:
        return 0.0
    count = parameters(llm)
    known = llm.attention.full_layers * count.attention_layer + count.feed_forward
    return min(max(1.0 - known / max(count.nonexpert, 1.0), 0.0), 1.0)


def columns_of(rows: Sequence[np.ndarray], count: int) -> np.ndarray:
    """Records as columns of `count` configurations; a single record is repeated."""
    table = np.array(rows, float).reshape(len(rows), -1).T
    return np.repeat(table, count, axis=1) if len(rows) == 1 else table


def build(
    llms: Sequence[np.ndarray],
    gpus: Sequence[np.ndarray],
    runs: Sequence[Sequence[float]],
    indices: Sequence[np.ndarray],
    calibration: Calibration,
) -> Case:
    """Put rows together: one entry of each sequence a configuration, in the order of the column records.

    A single model or card counts for all configurations.
    """
    index = np.array(indices, int).reshape(len(indices), len(ServeConstants._fields))
    return Case(
        LlmColumns(*columns_of(llms, len(indices))),
        GpuColumns(*columns_of(gpus, len(indices))),
        RunColumns(*np.array(runs, float).reshape(len(indices), -1).T),
        ServeConstants(*calibration.values[index].T),
        index,
    )
