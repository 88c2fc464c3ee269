"""Training and fine-tuning: memory of a GPU, and a step as a sum of named times.

Valid range: decoder models of 0.1 to 1,000 G parameters on 1 to 10,000 GPUs; fine-tuning outside well-packed batches,
context parallelism and offload are predicted without having been scored.
"""

from typing import NamedTuple

import numpy as np

from gpuplanner.catalog.calibration import Calibration
from gpuplanner.catalog.schema import Gpu
from gpuplanner.model.case import Columns, GpuColumns, LlmColumns, columns_of

RECOMPUTE_NONE, RECOMPUTE_SELECTIVE, RECOMPUTE_FULL = 0.0, 1.0, 2.0
# Optimizer bytes a trained parameter beside 16-bit weights: FP32 master copy and moments (AdamW), or 8-bit moments.
OPTIMIZER_BYTES = {"adamw": 12.0, "adamw-8bit": 6.0, "sgd": 8.0, "lion": 8.0, "adamw-bf16": 4.0}
# Dense 16-bit watts per TFLOP/s of the card that the constants of an architecture speak for: H100 SXM, B200.
_WATTS_PER_TFLOP = (("Hopper", 0.707), ("Blackwell Ultra", 0.444), ("Blackwell (", None), ("Blackwell", 0.444))
_FED_EXPONENT = 0.37
_FED_MOST = 1.45
_BEFORE_AMPERE = frozenset({"Volta", "Turing", "Pascal"})
_CONTEXT_BYTES = 1.0e9
# Blocks that the allocator holds and cannot use: little with expandable segments, more under scripts of mixed lengths.
_FRAGMENTATION, _FRAGMENTATION_HF = 1.05, 1.12
_RAMP_WIDTH = 450.0
# Traffic of a logit around the loss: 16 bit out and in, a 32-bit copy, its softmax and its gradient.
_LOGIT_BYTES = 16.0
_RAMP_TOKENS = 112.5
_GATHERED_LAYERS = 2.0
_TENSOR_LATENCY_S = 15e-6
_UNPACKED_BYTES = 2.0
# Traffic a score and pass of attention without flash attention, scale and softmax fused: scores written and read,
# probabilities, dropout with its mask.
_SCORE_BYTES_FORWARD, _SCORE_BYTES_BACKWARD = 13.0, 17.0
_BACKWARD_ATTENTION = 3.5
# Copies through the host's memory wait for each other: nothing of them hides behind compute.
_STAGED_OVERLAP = 0.0
_LINK_DOMAIN_OF_A_SERVER = 8.0


class TrainColumns(NamedTuple):
    """A training configuration. `trained` is the share of parameters that get gradients; `weight_bytes` a frozen or
    trained weight."""

    peak: Columns
    n_gpus: Columns
    tp: Columns
    pp: Columns
    dp: Columns
    ep: Columns
    cp: Columns
    sequence: Columns
    global_batch: Columns
    micro_batch: Columns
    interleave: Columns
    recompute: Columns
    zero: Columns
    weight_bytes: Columns
    adapter_params: Columns
    full: Columns
    quantised: Columns
    optimizer_bytes: Columns
    gradient_bytes: Columns
    flash: Columns
    sequence_parallel: Columns
    in_server: Columns
    network: Columns
    fused_loss: Columns
    gated: Columns
    offload_optimizer: Columns
    fed: Columns
    ends_bytes: Columns
    fragmentation: Columns


class TrainConstants(NamedTuple):
    """Calibrated constants of a training case."""

    matrix: Columns
    framework: Columns
    attention: Columns
    dram: Columns
    link_nvlink: Columns
    link_pcie: Columns
    network: Columns
    launch_layer: Columns
    launch_experts: Columns
    launch_expert: Columns
    expert_matrix: Columns
    expert_tokens: Columns
    dequantise: Columns
    attention_code: Columns
    unfused: Columns
    hidden: Columns
    overlap: Columns
    bubble: Columns
    stragglers: Columns


class TrainCase(NamedTuple):
    """Training configurations in columns of equal length; `index` says where each constant stands in the table."""

    llm: LlmColumns
    gpu: GpuColumns
    run: TrainColumns
    k: TrainConstants
    index: np.ndarray  # type: ignore[assignment]

    @property
    def size(self) -> int:
        return self.run.tp.size

    def rows(self, keep: np.ndarray) -> "TrainCase":
        return TrainCase(
            LlmColumns(*(column[keep] for column in self.llm)),
            GpuColumns(*(column[keep] for column in self.gpu)),
            TrainColumns(*(column[keep] for column in self.run)),
            TrainConstants(*(column[keep] for column in self.k)),
            self.index[keep],
        )

    def with_constants(self, calibration: Calibration) -> "TrainCase":
        return self._replace(k=TrainConstants(*calibration.values[self.index].T))


class TrainMemory(NamedTuple):
    """Memory of the fullest GPU. [bytes]"""

    weights: Columns
    gradients: Columns
    optimizer: Columns
    activations: Columns
    runtime: Columns

    @property
    def total(self) -> Columns:
        return self.weights + self.gradients + self.optimizer + self.activations + self.runtime


class TrainStep(NamedTuple):
    """Named times of one optimizer step. [s]"""

    matrix: Columns
    attention: Columns
    elementwise: Columns
    tensor_communication: Columns
    expert_communication: Columns
    context_communication: Columns
    launch: Columns
    bubble: Columns
    data_communication: Columns
    optimizer: Columns
    stragglers: Columns

    @property
    def total(self) -> Columns:
        return sum(self)  # type: ignore[return-value]


def flash_attention(architecture: str, framework: str) -> float:
    """1 where the framework's attention keeps its scores on the chip; Megatron's does not before Ampere."""
    return 0.0 if framework == "Megatron and NeMo" and architecture in _BEFORE_AMPERE else 1.0


def ends_bytes(framework: str) -> float:
    """Bytes a weight of embedding and head beside quantised layers; PEFT raises what is not quantised to 32 bit."""
    return 4.0 if framework == "HF Trainer and PEFT" else 2.0


def fragmentation(framework: str) -> float:
    """Memory that the allocator takes, by what is used."""
    return _FRAGMENTATION_HF if framework == "HF Trainer and PEFT" else _FRAGMENTATION


def fed(card: GpuColumns, architecture: str) -> float:
    """How much more of its peak a card holds than the card of its kind that the constants speak for (1 or more).

    Cards that get more watts for each FLOP/s, above all those with matrix units cut for export (H20), are not held
    back by power: the law of `sustained` upwards, as far as the matrix units allow.
    """
    reference = next((watts for name, watts in _WATTS_PER_TFLOP if architecture.startswith(name)), None)
    if reference is None or not np.isfinite(card.tdp):
        return 1.0
    return float(np.clip((card.tdp / (card.peak16 / 1e12) / reference) ** _FED_EXPONENT, 1.0, _FED_MOST))


def constants_index(
    gpu: Gpu, framework: str, compute: str, calibration: Calibration, generation: str | None = None
) -> np.ndarray:
    """Where the constants of a training setting stand in the table, in the order of `TrainConstants`.

    `generation` names an older state of the framework that has a pace of its own.
    """
    at = calibration.position
    architecture = calibration.architecture(gpu.architecture)
    # Blackwell Ultra has twice the exponential units of Blackwell.
    attention = "Blackwell Ultra" if gpu.architecture.startswith("Blackwell Ultra") else architecture
    group = {"fp8": "train matrix8", "int8": "train matrix8", "fp4": "train matrix4"}.get(compute, "train matrix16")
    fused = framework in ("Megatron and NeMo", "FSDP", "llm-foundry", "DeepSpeed")
    return np.array(
        [
            at(group, architecture), at("framework", generation or framework), at("train attention", attention),
            at("dram", architecture), at("train link share", "nvlink"), at("train link share", "pcie"),
            at("train network share"), at("train launch layer", "fused" if fused else "eager"),
            at("train launch expert layer"), at("train launch expert"), at("train expert matrix"),
            at("train expert tokens"), at("train dequantise"), at("train attention code", framework),
            at("train unfused traffic", framework), at("train hidden tensor communication"),
            at("train overlap", framework), at("bubble share"), at("stragglers"),
        ]
    )  # fmt: skip


def build(llms: list, gpus: list, runs: list, indices: list, calibration: Calibration) -> TrainCase:
    """Put rows together, one entry of each list a configuration; a single model or card counts for all."""
    index = np.array(indices, int).reshape(len(indices), len(TrainConstants._fields))
    return TrainCase(
        LlmColumns(*columns_of(llms, len(indices))),
        GpuColumns(*columns_of(gpus, len(indices))),
        TrainColumns(*np.array(runs, float).reshape(len(indices), -1).T),
        TrainConstants(*calibration.values[index].T),
        index,
    )


def _expert_params(llm: LlmColumns) -> Columns:
    return llm.experts * llm.expert


def params_per_gpu(case: TrainCase) -> Columns:
    """Parameters held by one GPU before sharding over data ranks: tensor, pipeline and expert split applied."""
    llm, run = case.llm, case.run
    dense = np.maximum(llm.params - _expert_params(llm), 0.0) / (run.tp * run.pp)
    return dense + _expert_params(llm) / (_expert_ranks(run) * run.pp)


def _expert_ranks(run: TrainColumns) -> Columns:
    """Over how many ranks of a stage the experts are spread: expert ranks hold whole ones, else tensor ranks split
    them."""
    return np.where(run.ep > 1, run.ep, run.tp)


def tokens_of_an_expert(case: TrainCase) -> Columns:
    """Tokens of a micro-batch that one expert's matrices see together, from all ranks that share it.

    Experts on ranks of their own gather the tokens of the whole expert group: the wider the group, the fuller each
    expert's matrix.
    """
    llm, run = case.llm, case.run
    tokens = run.micro_batch * run.sequence / run.cp
    return tokens * np.maximum(run.ep, 1.0) * llm.experts_per_token / np.maximum(llm.experts, 1.0)


def _fill(width: Columns, tokens: Columns, half: Columns | float) -> Columns:
    """Share of its large-matrix rate that a product of this width and this many rows reaches."""
    return 1.0 / ((1.0 + _RAMP_WIDTH / np.maximum(width, 1.0)) * (1.0 + half / np.maximum(tokens, 1.0)))


def activation_bytes(case: TrainCase) -> Columns:
    """Activations of one micro-batch kept for the backward pass on the first pipeline stage. [bytes]

    Non-gated GPT blocks and flash attention 34 s b d / t a layer (sequence parallel), s b d (10 + 24 / t) where tensor
    ranks do not share the sequence; gated blocks 2 s b (8 d + 2 g e + 4 f). Without flash attention 5 b h s^2 / t more,
    which selective recompute drops. Full recompute keeps the 2 s b d of a layer's input and one live layer. The first
    stage holds min(p, m) micro-batches of L/p layers, 1 + (p - 1) / (p v) times as much with v interleaved chunks.
    Reproduces the eight sizes of [1], Fig. 1; gated blocks are derived, good to 25 %.

    References
    ----------
    .. [1] Korthikanti et al., "Reducing Activation Recomputation in Large Transformer Models", arXiv 2205.05198, Eq.
    1-6.
    """
    llm, run = case.llm, case.run
    tokens = run.micro_batch * run.sequence / run.cp
    gated = 2.0 * (8.0 * llm.hidden + 2.0 * llm.kv_width + 4.0 * llm.ffn_active)
    plain = 34.0 * llm.hidden
    # Ten of the hidden widths (norms, residuals, dropout) are whole on every rank without sequence parallelism.
    whole = np.where(run.sequence_parallel > 0, 0.0, 10.0 * llm.hidden)
    layer = tokens * (whole + (np.where(run.gated > 0, gated, plain) - whole) / run.tp)
    scores = 5.0 * llm.heads * run.sequence * tokens / run.tp
    layer = layer + np.where((run.flash > 0) | (run.recompute == RECOMPUTE_SELECTIVE), 0.0, scores)
    held = (
        np.minimum(run.pp, micro_batches(case))
        / run.pp
        * (1.0 + (run.pp - 1.0) / (run.pp * run.interleave) * (run.interleave > 1))
    )
    kept = np.where(run.recompute >= RECOMPUTE_FULL, 2.0 * tokens * llm.hidden / run.tp, layer)
    live = np.where(run.recompute >= RECOMPUTE_FULL, layer, 0.0)
    # Logits in 16 bit, a 32-bit copy and its gradient, an eighth of it where the loss is chunked.
    logits = tokens * llm.vocab * 10.0 / run.tp * np.where(run.fused_loss > 0, 0.125, 1.0)
    return llm.layers * kept * held + live + logits


def micro_batches(case: TrainCase) -> Columns:
    """Micro-batches of one replica in a step."""
    run = case.run
    return np.maximum(run.global_batch / (run.dp * run.micro_batch), 1.0)


def train_memory(case: TrainCase) -> TrainMemory:
    """Memory of the fullest GPU by part.

    AdamW in mixed precision takes 16 bytes a trained parameter (weights 2, gradients 2, master copy and moments 12).
    ZeRO stage 1 divides the optimizer, 2 also the gradients, 3 also the weights by the data ranks, plus two gathered
    layers. Frozen weights (LoRA) take their own bytes only. `fragmentation` multiplies the sum of all parts.

    References
    ----------
    .. [1] microsoft/DeepSpeed, memory estimators of `runtime/zero/stage_1_and_2.py` and `stage3.py`.
    .. [2] NVIDIA/Megatron-LM, `theoretical_memory_usage.py`.
    """
    llm, run = case.llm, case.run
    held = params_per_gpu(case)
    adapters = run.adapter_params / (run.tp * run.pp)
    trained = np.where(run.full > 0, held, adapters)
    shard = run.dp * run.cp
    weight_shard = np.where(run.zero >= 3, shard, 1.0)
    gradient_shard = np.where(run.zero >= 2, shard, 1.0)
    optimizer_shard = np.where(run.zero >= 1, shard, 1.0)
    ends = (llm.embedding + llm.head) / (run.tp * np.where(run.pp > 1, 2.0, 1.0))
    quantised = np.where(
        run.quantised > 0, (held - ends) * run.weight_bytes + ends * run.ends_bytes, held * run.weight_bytes
    )
    weights = quantised / weight_shard + np.where(run.full > 0, 0.0, 2.0 * adapters)
    layer = np.maximum(llm.params - llm.embedding - llm.head, 0.0) / np.maximum(llm.layers, 1.0) / run.tp
    weights = (
        weights
        + np.where(run.zero >= 3, _GATHERED_LAYERS * 2.0 * layer, 0.0)
        + np.where(run.quantised > 0, 2.0 * layer, 0.0)
    )
    gradients = trained * run.gradient_bytes / gradient_shard
    optimizer = np.where(run.offload_optimizer > 0, 0.0, trained * run.optimizer_bytes / optimizer_shard)
    activations = activation_bytes(case)
    runtime = _CONTEXT_BYTES + (run.fragmentation - 1.0) * (
        weights + gradients + optimizer + activations + _CONTEXT_BYTES
    )
    return TrainMemory(weights, gradients, optimizer, activations, runtime)


def _tensor_link(case: TrainCase, ranks: Columns) -> Columns:
    gpu, run, k = case.gpu, case.run, case.k
    domain = np.maximum(run.in_server, np.where(gpu.link > 0, gpu.link_domain, 0.0))
    on_link = (gpu.link > 0) & (np.minimum(ranks, domain) <= gpu.link_domain)
    peer = np.where(gpu.peer_to_peer > 0, 1.0, 0.5)
    inside = np.where(on_link, k.link_nvlink * gpu.link, k.link_pcie * gpu.pcie * peer)
    outside = ranks > domain
    # A ring over several servers leaves each of them once, over all its network cards.
    return np.where(outside, np.minimum(k.network * run.network * run.in_server, inside), inside)


def train_step(case: TrainCase) -> TrainStep:
    """Times of one step: m micro-batches through p stages, gradient exchange, optimizer.

    Matrices: 2 N tokens a pass, three passes for trained and two for frozen weights, one more with full recompute;
    small matrices and few tokens do not fill a GPU, an expert sees the tokens of its whole expert group. Quantised
    weights are unpacked to 16 bit in every pass. Attention: half the square (causal) in 3.5 passes of flash attention,
    else the whole square and its scores through memory. Launches set a floor under each layer, and another for each
    expert on the card. What the pipeline wastes is a quarter of the textbook bubble where the interleaving is not
    known; data-parallel traffic hides behind compute up to its share, nothing of it where cards copy through the
    host's memory.

    Valid for decoder models of 0.1 to 1,000 G parameters, sequences of 512 to 1 M tokens, 1 to 16,384 GPUs.

    References
    ----------
    .. [1] Narayanan et al., "Efficient Large-Scale Language Model Training on GPU Clusters", SC 2021 (bubble,
    interleaving).
    .. [2] Dao, "FlashAttention-2", arXiv 2307.08691 (backward 2.5 times the forward pass; older kernels).
    .. [3] Korthikanti et al., arXiv 2205.05198 (what is recomputed; bytes of a score).
    """
    llm, gpu, run, k = case.llm, case.gpu, case.run, case.k
    tokens = run.micro_batch * run.sequence / run.cp
    passes = np.where(run.full > 0, 3.0, 2.0) + (run.recompute >= RECOMPUTE_FULL)
    rate = k.matrix * k.framework * run.peak * run.fed * run.tp * run.pp
    routed = np.where(llm.experts > 0, llm.experts_per_token * llm.expert, 0.0)
    dense_width = np.where(llm.experts > 0, llm.hidden, llm.ffn_active) / run.tp
    dense_fill = _fill(dense_width, tokens, _RAMP_TOKENS)
    expert_width = llm.expert_width / np.where(run.ep > 1, 1.0, run.tp)
    expert_fill = _fill(expert_width, tokens_of_an_expert(case), k.expert_tokens)
    matrix = 2.0 * tokens * passes * ((llm.active - routed) / dense_fill + routed / (k.expert_matrix * expert_fill))
    matrix = matrix / rate
    # Quantised weights are brought to 16 bit anew in every pass, whatever the tokens.
    unpacked = params_per_gpu(case) * (run.weight_bytes + _UNPACKED_BYTES) * (passes - (run.full > 0))
    matrix = matrix + np.where(run.quantised > 0, unpacked / (k.dequantise * gpu.bandwidth), 0.0)
    recomputed = run.recompute >= RECOMPUTE_SELECTIVE
    attention_passes = _BACKWARD_ATTENTION + recomputed
    window = np.maximum(llm.window, 1.0)
    seen = np.where(llm.window > 0, np.minimum(run.sequence, 2.0 * window), run.sequence)
    attention_flop = tokens / 2.0 * (run.sequence * llm.prefill_full + seen * llm.prefill_window) * attention_passes
    attention_rate = k.attention * k.attention_code * gpu.peak16 * gpu.sustained * run.fed * run.tp * run.pp
    attention = attention_flop / attention_rate
    # Without flash attention the whole square is computed, and its scores pass through memory.
    scores = tokens * run.sequence * llm.heads * llm.layers / (run.tp * run.pp)
    score_bytes = _SCORE_BYTES_FORWARD * (1.0 + recomputed) + _SCORE_BYTES_BACKWARD
    plain = 2.0 * attention_flop / (rate * gpu.peak16 / run.peak) + scores * score_bytes / (k.dram * gpu.bandwidth)
    attention = np.where(run.flash > 0, attention, plain)
    traffic_passes = np.where(run.recompute >= RECOMPUTE_FULL, 4.0, 3.0)
    elementwise = (
        k.unfused * tokens * llm.layers * (14.0 * llm.hidden + 4.0 * llm.ffn_active) * 2.0 * traffic_passes
        / (k.dram * gpu.bandwidth * run.tp * run.pp)
    )  # fmt: skip
    logits = _LOGIT_BYTES * tokens * llm.vocab / (run.tp * run.pp)
    elementwise = elementwise + logits / (k.dram * gpu.bandwidth)
    stage_layers = llm.layers / run.pp
    stage_experts = llm.moe_layers / run.pp
    exchanges = 4.0 + 2.0 * (run.recompute >= RECOMPUTE_FULL)
    ring = 2.0 * (run.tp - 1.0) / run.tp * tokens * llm.hidden * 2.0 / _tensor_link(case, run.tp)
    tensor = np.where(run.tp > 1, (1.0 - k.hidden) * stage_layers * exchanges * (ring + _TENSOR_LATENCY_S), 0.0)
    used = np.maximum(llm.experts_per_token, 1.0)
    domain = np.where(gpu.link_domain > _LINK_DOMAIN_OF_A_SERVER, gpu.link_domain, run.in_server)
    near = np.where(gpu.link > 0, k.link_nvlink * gpu.link, k.link_pcie * gpu.pcie)
    groups = np.maximum(run.ep / domain, 1.0)
    # A token goes once to each other server that holds one of its experts, and from there over the link of the cards.
    away = groups * (1.0 - (1.0 - 1.0 / groups) ** used) * (groups - 1.0) / groups
    sent = tokens * llm.hidden * 2.0 / run.tp
    exchange_time = sent * np.maximum(used * (run.ep - 1.0) / run.ep / near, away / (k.network * run.network))
    expert = np.where((run.ep > 1) & (llm.experts > 0), stage_experts * 4.0 * exchange_time, 0.0)
    ring_keys = stage_layers * 3.0 * 2.0 * tokens * 2.0 * llm.kv_width / _tensor_link(case, run.tp * run.cp)
    context = np.where(run.cp > 1, np.maximum(ring_keys - attention, 0.0), 0.0)

    work = matrix + attention + elementwise + tensor + expert + context
    # Each expert that lies on the card launches its own matrices and casts.
    local = llm.experts / np.maximum(run.ep, 1.0)
    floor = (k.launch_layer * stage_layers + (k.launch_experts + k.launch_expert * local) * stage_experts) * np.where(
        run.recompute >= RECOMPUTE_FULL, 1.33, 1.0
    )
    micro = (work**4 + floor**4) ** 0.25
    count = micro_batches(case)
    bubble = (run.pp - 1.0) / run.interleave * micro * np.where(run.interleave > 1, 1.0, k.bubble)
    compute = count * micro + bubble

    held = params_per_gpu(case)
    trained = np.where(run.full > 0, held, run.adapter_params / (run.tp * run.pp))
    ranks = run.dp * run.cp
    # Weights are gathered for the forward and again for the backward pass of each micro-batch; gradients go out once.
    gather = np.where(run.zero >= 3, 2.0 * held * run.weight_bytes * count, 0.0)
    reduce = np.where(run.zero >= 3, trained * 2.0, 2.0 * trained * run.gradient_bytes)
    moved = (gather + reduce) * (ranks - 1.0) / ranks
    pcie = k.link_pcie * gpu.pcie * np.where(gpu.peer_to_peer > 0, 1.0, 0.5)
    inside = np.where(
        (gpu.link > 0) & (np.minimum(run.n_gpus, run.in_server) <= gpu.link_domain), k.link_nvlink * gpu.link, pcie
    )
    # Data ranks of one server share a ring that leaves it once: each of their network cards carries a part.
    rings = np.clip(run.in_server / run.tp, 1.0, ranks)
    speed = np.where(run.n_gpus > domain, np.minimum(k.network * run.network * rings, inside), inside)
    exchange = np.where(ranks > 1, moved / np.maximum(speed, 1.0), 0.0)
    soft = 0.05 * compute
    # Cards that cannot reach each other's memory copy through the host's, and wait for it.
    staged = (inside == pcie) & (gpu.peer_to_peer <= 0)
    hidden = k.overlap * np.where(staged, _STAGED_OVERLAP, 1.0)
    exposed = soft * np.logaddexp(0.0, (exchange - hidden * compute) / soft) + 0.1 * exchange
    exposed = np.where(ranks > 1, exposed, 0.0)
    optimizer = 28.0 * trained / np.where(run.zero >= 1, ranks, 1.0) / (k.dram * gpu.bandwidth)
    offload = np.where(
        run.offload_optimizer > 0, 16.0 * trained / np.where(run.zero >= 1, ranks, 1.0) / (0.8 * gpu.pcie), 0.0
    )
    whole = compute + exposed + optimizer + offload
    late = whole * k.stragglers * np.maximum(np.log2(np.maximum(run.n_gpus, 1.0) / 8.0), 0.0)
    return TrainStep(
        count * matrix,
        count * attention,
        count * elementwise,
        count * tensor,
        count * expert,
        count * context,
        count * (micro - work),
        bubble,
        exposed,
        optimizer + offload,
        late,
    )


def tokens_per_second(case: TrainCase, step: TrainStep) -> Columns:
    """Tokens that a step's global batch holds, by its time. [1/s]"""
    return case.run.global_batch * case.run.sequence / step.total


def flop_per_token(llm: LlmColumns, sequence: Columns) -> Columns:
    """Model FLOP of one trained token, forward and backward, attention not halved: 6 N + 12 L h e s.

    The convention of PaLM, llm-foundry and Megatron's `tflops_per_gpu`; recompute is not counted.
    """
    return 6.0 * llm.active + 3.0 * (
        llm.prefill_full * sequence + llm.prefill_window * np.minimum(sequence, np.maximum(llm.window, 1.0))
    )


def model_flops_utilisation(case: TrainCase, tokens_s: Columns, peak: Columns) -> Columns:
    """Share of the dense peak that model FLOP use (MFU); `peak` of one GPU. [FLOP/s]"""
    return tokens_s * flop_per_token(case.llm, case.run.sequence) / (case.run.n_gpus * peak)


def adapter_parameters(
    hidden: float,
    kv_width: float,
    query_width: float,
    ffn: float,
    layers: float,
    rank: float,
    targets: str,
    gated: bool,
) -> float:
    """Trained parameters of a LoRA adapter: rank x (inputs + outputs) of every matrix it is put on."""
    attention = 2 * (hidden + query_width) + 2 * (hidden + kv_width)
    feed_forward = (3 if gated else 2) * (hidden + ffn) if targets == "all-linear" else 0.0
    return layers * rank * (attention + feed_forward)
