"""Serving speed: a decode step and a prefill as sums of named times, and what continuous batching makes of them.

Every time is work / (datasheet peak x one efficiency). Efficiencies come from the calibration table (`case.k`); a sum
has the same parts for every card, so the parts explain the answer.

Valid range: dense and expert models of 1 to 700 G parameters on NVIDIA data-centre cards from the A100 on, with server
engines, contexts up to 32,000 tokens; other cards and engines are predicted by the same formulas with wider bands
(`evidence`).
"""

from typing import NamedTuple

import numpy as np

from gpuplanner.model.case import Case, Columns, IdentityCache
from gpuplanner.model.memory import cache_bytes, cache_shards, expert_shards, sequences_that_fit, serving_memory
from gpuplanner.model.network import pcie_efficiency
from gpuplanner.model.queueing import prefill_wait

# Tile-count measurements of matrix products give exponents of 1.4 to 2.9 for how compute and memory time overlap.
_SMOOTH = 2.5
_CHUNK_TOKENS = 8192.0
_SEQUENCE_KERNEL_S = 10e-9
_DECODE_ATTENTION_SHARE = 0.5
_CACHE_DRAM_LIMIT = 0.95
# Heads beyond so many that read the same keys run close enough together to find them in L2.
_SHARING_HEADS = 8.0
_NIC_LATENCY_S = 14e-6
_GROUPED_ROWS = 16.0


def smooth_max(first: Columns, second: Columns, exponent: float = _SMOOTH) -> Columns:
    """A maximum with a rounded corner: both limits slow each other down where they are close."""
    large, small = np.maximum(first, second), np.minimum(first, second)
    return large * (1.0 + (small / np.maximum(large, 1e-300)) ** exponent) ** (1 / exponent)


class DecodeStep(NamedTuple):
    """Named times of one step that gives every running sequence one token. [s]"""

    weights: Columns
    compute: Columns
    cache: Columns
    layers: Columns
    communication: Columns
    host: Columns
    # Weights and compute overlap; this is what both together take.
    matrix: Columns

    @property
    def total(self) -> Columns:
        return self.matrix + self.cache + self.layers + self.communication + self.host


class Prefill(NamedTuple):
    """Named times of one chunk of prompts on one replica. [s]"""

    compute: Columns
    weights: Columns
    attention: Columns
    elementwise: Columns
    layers: Columns
    communication: Columns
    matrix: Columns
    prompts: Columns

    @property
    def total(self) -> Columns:
        return self.matrix + self.attention + self.elementwise + self.layers + self.communication


def distinct_experts(case: Case, tokens: Columns) -> Columns:
    """How many experts of a layer a batch of tokens wakes up, fewer than under uniform routing because routers are
    skewed.

    With expert parallelism under vLLM the step waits for the fullest rank, whose number of experts lies above the mean.
    """
    experts, used = np.maximum(case.llm.experts, 1.0), np.maximum(case.llm.experts_per_token, 1.0)
    # The share that no token wakes up, (1 - k/E)^tokens, as an exponential: powers of arrays take three times as long,
    # and nothing below e^-60 counts beside 1.
    idle = np.log(np.maximum(1.0 - used / experts, 1e-300)) * np.maximum(tokens, 1.0)
    uniform = experts * (1.0 - np.exp(np.maximum(idle, -60.0)))
    awake = used + case.k.distinct * np.maximum(uniform - used, 0.0)
    ranks = np.maximum(case.run.ep, 1.0)
    mean = np.maximum(awake / ranks, 1e-9)
    crowding = (
        case.k.fullest_rank
        * case.run.vllm
        * np.sqrt(2.0 * np.log(ranks) * np.maximum(1.0 - awake / experts, 0.0) / mean)
    )
    return np.where(case.llm.experts > 0, np.minimum(experts, awake * (1.0 + crowding)), 0.0)


def link(case: Case) -> tuple[Columns, Columns]:
    """Latency and effective one-way bandwidth of the path that tensor ranks talk over. [s], [B/s]

    The link of the cards where all ranks are in one link domain, PCIe where they are not, the network where the ranks
    leave the server.
    """
    path: tuple[Columns, Columns] = _links(case)
    return path


def _link(case: Case) -> tuple[Columns, Columns]:
    gpu, run, k = case.gpu, case.run, case.k
    near = np.minimum(run.tp * run.attention_dp, _joined(case))
    on_link = (gpu.link > 0) & (near <= gpu.link_domain)
    pcie_share = pcie_efficiency(near, gpu.peer_to_peer > 0, k.share_pcie)
    latency = np.where(on_link, k.latency_nvlink, k.latency_pcie)
    speed = np.where(on_link, k.share_nvlink * gpu.link, pcie_share * gpu.pcie)
    outside = leaves_server(case)
    # A ring over several servers leaves each of them once, over all its network cards.
    between = np.minimum(speed, run.network * run.in_server)
    return np.where(outside, latency + _NIC_LATENCY_S, latency), np.where(outside, between, speed)


# One pass over a case asks for it many times.
_links = IdentityCache(_link, limit=2)


def _joined(case: Case) -> Columns:
    """Cards that reach each other without a network: those of a server, or of a larger link domain."""
    return np.maximum(case.run.in_server, np.where(case.gpu.link > 0, case.gpu.link_domain, 0.0))


def leaves_server(case: Case) -> Columns:
    """Whether the ranks that work on one layer together are spread over several servers."""
    return case.run.tp * case.run.attention_dp > _joined(case)


def token_bytes(case: Case, batch: Columns) -> Columns:
    """Bytes that a decode step sends from layer to layer: the hidden state of every sequence of a rank, in 16 bit."""
    run = case.run
    rank = np.maximum(np.maximum(batch / run.pp, 1.0) / run.attention_dp, 1.0)
    return 2.0 * rank * (1.0 + run.draft_tokens) * case.llm.hidden


def stage_hops(case: Case, size: Columns) -> tuple[Columns, Columns]:
    """Times in which `size` bytes pass through the stages of a pipeline: inside servers, and between them. [s]

    Between servers each tensor rank sends its part over its own share of the network.
    """
    run = case.run
    latency, speed = link(case)
    stages = np.maximum(np.floor(_joined(case) / run.tp), 1.0)
    far = np.maximum(np.ceil(run.pp / stages) - 1.0, 0.0)
    near = run.pp - 1.0 - far
    away = np.where(leaves_server(case), latency, latency + _NIC_LATENCY_S) + size / np.maximum(
        np.minimum(speed, run.network * run.tp), 1.0
    )
    return near * (latency + size / np.maximum(speed, 1.0)), far * away


def all_reduce(case: Case, size: Columns) -> Columns:
    """Time of an all-reduce of `size` bytes over the tensor ranks: latency + ring traffic. [s]

    The latency is that of two ranks; every doubling of the ranks adds hops and one more card to wait for.

    References
    ----------
    .. [1] All-reduce timings of ai-dynamo/aiconfigurator: NCCL on 2, 4, 8 ranks 12, 16, 24 us (A100), 7, 11, 18 us
    (H100), 10, 16, 27 us (B200); L40S over PCIe 7.5, 12, 23 us.
    """
    latency, speed = link(case)
    ranks = case.run.tp
    waiting = latency * np.sqrt(np.maximum(ranks, 2.0) / 2.0)
    return np.where(ranks > 1, waiting + 2.0 * (ranks - 1.0) / ranks * size / np.maximum(speed, 1.0), 0.0)


def _dram(case: Case) -> Columns:
    return case.k.dram * case.k.engine_dram * case.gpu.bandwidth


def cache_fetches(case: Case) -> Columns:
    """How often a step reads the cache: once, and the share of it again that L2 has lost for each further query head
    of a group, in programs whose attention works by query head."""
    group = np.minimum(case.llm.heads / np.maximum(case.llm.kv_heads, 1.0), _SHARING_HEADS)
    return 1.0 + case.k.repeated_reads * (group - 1.0)


def decode_step(case: Case, batch: Columns, context: Columns) -> DecodeStep:
    """One token for each of `batch` sequences of a replica at a mean context of `context` tokens.

    Parameters
    ----------
    batch : array
        Sequences in flight in one replica; below 1 counts as 1.
    context : array
        Tokens that a sequence has behind it, on average over its answer.

    References
    ----------
    .. [1] Kernel timing tables of ai-dynamo/aiconfigurator, fitted to matrix, attention and all-reduce times; see the
    calibration table.
    """
    llm, gpu, run, k = case.llm, case.gpu, case.run, case.k
    tp, shards = run.tp, expert_shards(case)
    stage = np.maximum(batch / run.pp, 1.0)
    rank = np.maximum(stage / run.attention_dp, 1.0)
    draft = 1.0 + run.draft_tokens
    used = np.maximum(llm.experts_per_token, 0.0)
    expert_flop = 2.0 * used * llm.expert * stage * draft / shards
    dense_flop = 2.0 * np.maximum(llm.active - used * llm.expert, 0.0) * rank * draft / tp
    efficiency = k.matrix * k.engine_matrix * np.where(llm.experts > 0, k.expert_matrix, 1.0)
    compute = (dense_flop + expert_flop) / (efficiency * run.peak)
    read = (
        llm.nonexpert * run.body_bytes / tp
        + llm.expert * distinct_experts(case, stage * draft) * run.expert_bytes / shards
        + llm.head * run.head_bytes / tp
    )
    weights = read / (_dram(case) * k.format_share)
    matrix = smooth_max(compute, weights)

    cache_speed = np.minimum(k.dram * k.engine_dram, _CACHE_DRAM_LIMIT) * gpu.bandwidth
    cache_read = rank * cache_bytes(case, context) * cache_fetches(case) / (cache_shards(case) * cache_speed)
    seen = np.where(llm.window > 0, np.minimum(context, np.maximum(llm.window, 1.0)), context)
    cache_flop = rank * draft * (context * llm.decode_full + seen * llm.decode_window) / tp
    cache_compute = cache_flop / (_DECODE_ATTENTION_SHARE * gpu.peak16 * gpu.sustained)
    kernels = llm.layers * rank * np.maximum(llm.kv_heads / tp, 1.0) * _SEQUENCE_KERNEL_S
    cache = smooth_max(cache_read, cache_compute) + kernels

    layers = k.layer_factor * (llm.layers * k.layer_time + llm.moe_layers * k.expert_layer_time)
    size = token_bytes(case, batch)
    latency, speed = link(case)
    inside, between = stage_hops(case, size)
    hops = inside + between
    # Attention data parallelism sends every token to its experts and back.
    exchange = np.where(
        run.attention_dp > 1,
        2.0
        * llm.moe_layers
        * (latency + rank * draft * np.maximum(used, 1.0) * 2.0 * llm.hidden / np.maximum(speed, 1.0)),
        0.0,
    )
    communication = 2.0 * llm.layers * all_reduce(case, size) + hops + exchange
    host = k.host_time + k.sequence_time * np.maximum(batch, 1.0)
    drafting = run.draft_tokens * run.draft_cost * (weights + layers)
    return DecodeStep(weights, compute, cache, layers + drafting, communication, host, matrix)


def prefill(case: Case, prompt: Columns, prompts: Columns) -> Prefill:
    """Read `prompts` prompts of `prompt` tokens in one chunk.

    A shared prefix that is cached is not computed again, but attention still reads it. A single prompt gets no
    speed-up from pipeline stages.
    """
    llm, gpu, run, k = case.llm, case.gpu, case.run, case.k
    tp, shards = run.tp, expert_shards(case)
    fresh = prompt * (1.0 - run.prefix)
    tokens = prompts * fresh
    rank_tokens = tokens / run.attention_dp
    used = llm.experts_per_token
    body = np.maximum(llm.active - llm.head - used * llm.expert, 0.0)
    rows = tokens * used / np.maximum(llm.experts, 1.0)
    grouped = np.where(llm.experts > 0, k.expert_matrix * rows / (rows + _GROUPED_ROWS), 1.0)
    flop = 2.0 * (body * rank_tokens + llm.head * prompts) / tp + 2.0 * used * llm.expert * tokens / shards
    compute = flop / (k.matrix * k.engine_matrix * grouped * run.peak)
    read = (
        llm.nonexpert * run.body_bytes / tp
        + llm.expert * distinct_experts(case, tokens) * run.expert_bytes / shards
        + llm.head * run.head_bytes / tp
    )
    weights = read / (_dram(case) * k.format_share)
    matrix = smooth_max(compute, weights)

    cached = prompt - fresh
    full = (prompt**2 - cached**2) / 2.0
    window = np.maximum(llm.window, 1.0)
    inside = np.minimum(prompt, window)
    windowed = np.where(llm.window > 0, inside**2 / 2.0 + np.maximum(prompt - window, 0.0) * window, prompt**2 / 2.0)
    windowed = windowed * np.where(prompt > 0, fresh / np.maximum(prompt, 1.0), 1.0)
    attention_flop = prompts * (full * llm.prefill_full + windowed * llm.prefill_window) / (tp * run.attention_dp)
    ceiling = np.where(run.single_user > 0, np.minimum(run.peak, gpu.peak16), gpu.peak16) * gpu.sustained
    attention = attention_flop / (k.attention * ceiling)
    # Norms and residuals are computed whole on every tensor rank; heads and FFN are shared out.
    traffic = rank_tokens * llm.layers * (6.0 * llm.hidden + (4.0 * llm.hidden + 3.0 * llm.ffn_active) / tp) * 2.0
    elementwise = traffic / (k.dram * gpu.bandwidth)
    layers = llm.layers * k.layer_time
    communication = 2.0 * llm.layers * all_reduce(case, 2.0 * rank_tokens * llm.hidden)
    return Prefill(compute, weights, attention, elementwise, layers, communication, matrix, prompts)


def chunk_prompts(case: Case, batch: Columns) -> Columns:
    """How many prompts one chunk of about 8,192 tokens reads together."""
    fresh = np.maximum(case.run.input * (1.0 - case.run.prefix), 1.0)
    return np.maximum(1.0, np.minimum(batch, _CHUNK_TOKENS / fresh))


def accepted_tokens(case: Case) -> Columns:
    """Tokens a decode step yields for a sequence: 1, or the accepted run of a draft plus one.

    References
    ----------
    .. [1] Leviathan, Kalman, Matias, "Fast Inference from Transformers via Speculative Decoding", 2023, Eq. 1.
    """
    a, length = case.run.accepted, case.run.draft_tokens
    ratio = np.where(a < 1.0, (1.0 - a ** (length + 1.0)) / np.maximum(1.0 - a, 1e-9), length + 1.0)
    return np.where(length > 0, ratio, 1.0)


class Batching(NamedTuple):
    """Continuous batching with `batch` sequences in flight in every replica. Rates are of all replicas together."""

    batch: Columns
    cycle_s: Columns
    output_tokens_s: Columns
    requests_s: Columns
    per_token_s: Columns
    prefill_one_s: Columns
    prefill_share: Columns
    step: DecodeStep
    chunk: Prefill

    @property
    def prompt_s(self) -> Columns:
        """What reading one prompt adds to the steps of a replica. [s]"""
        return self.prefill_share * self.cycle_s / np.maximum(self.batch, 1.0)


def continuous_batching(case: Case, batch: Columns) -> Batching:
    """What a full pipeline of requests yields when `batch` of them are in flight: every step writes a token for each
    and reads the prompts that have come since the step before.

    A cycle of so many steps as an answer has replaces all requests in flight, so batch / steps prompts come a step;
    where that is less than one, as many of the steps read one prompt. A step that reads prompts pays for weights,
    kernels and the start of an all-reduce once. With one request at a time nothing is shared. Leaving the prefill out
    of the cycle would make maximum throughput 1.7 times too high in the middle.
    """
    run = case.run
    answer = run.output / accepted_tokens(case)
    step = decode_step(case, batch, run.input + run.output / 2.0)
    stage = np.maximum(batch / run.pp, 1.0)
    arriving = stage / answer
    chunk = prefill(case, run.input, np.maximum(arriving, 1.0))
    alone = prefill(case, run.input, np.ones_like(run.input)).total
    together = smooth_max(step.compute + chunk.compute, np.maximum(step.weights, chunk.weights))
    started = 2.0 * case.llm.layers * all_reduce(case, np.zeros_like(run.input))
    shared = chunk.attention + chunk.elementwise + chunk.communication - started + together - step.matrix
    mixed = np.clip(np.maximum(batch, 1.0) - 1.0, 0.0, 1.0)
    extra = np.maximum(mixed * shared + (1.0 - mixed) * chunk.total, 0.0)
    reading = answer * np.minimum(arriving, 1.0) * extra
    writing = answer * step.total
    cycle = reading + writing
    # Fewer than one request in flight: the replica idles between requests.
    busy = np.minimum(batch, 1.0)
    served = np.maximum(batch, 1.0) / cycle * busy * run.dp
    # A request's own prompt delays its first token, not the others.
    others = reading * (1.0 - 1.0 / np.maximum(batch, 1.0))
    per_token = (writing + others) / run.output
    return Batching(batch, cycle, served * run.output, served, per_token, alone, reading / cycle, step, chunk)


# Prompts come at random: half of the steps read none while fewer than ln 2 come a step.
_PROMPTS_A_STEP = 0.693


def median_gap(case: Case, batching: Batching) -> Columns:
    """Median time between two tokens of an answer, which some benchmarks report for the time a token. [s]

    While most steps read no prompt it is that of a step alone; `Batching.per_token_s` is the mean, prompts included.
    """
    prompts = np.maximum(batching.batch, 1.0) / case.run.output / case.run.pp
    return np.where(prompts < _PROMPTS_A_STEP, batching.step.total / accepted_tokens(case), batching.per_token_s)


def largest_batch(case: Case, wanted: Columns, tokens: Columns | None = None) -> tuple[Columns, Columns]:
    """Sequences that really are in flight when `wanted` ask at once, and how many the cache holds.

    A soft minimum of what is wanted, what the cache holds and the engine's limit. Engines that take a share of the free
    memory (TensorRT-LLM) admit a request only when its whole answer has room; others fill the cache with sequences at
    random progress.
    """
    memory = serving_memory(case)
    resident = tokens
    if resident is None:
        resident = case.run.input + case.run.output * np.where(case.run.fraction_of_free > 0, 1.0, 0.5)
    room = sequences_that_fit(case, memory, resident)
    limit = np.minimum(room, case.run.max_sequences)
    safe = np.maximum(limit, 1e-9)
    scale = np.minimum(wanted, safe)
    batch = scale * ((scale / wanted) ** 4 + (scale / safe) ** 4) ** -0.25
    return batch, room


def first_token_idle(case: Case, prompts: Columns) -> Columns:
    """First token on an idle server when `prompts` prompts arrive at once and are read together. [s]"""
    chunk_size = chunk_prompts(case, prompts)
    chunk = prefill(case, case.run.input, chunk_size)
    return 0.3 * case.k.first_token_time + chunk.total * prompts / chunk.prompts


def first_token_loaded(case: Case, batching: Batching, waiting_share: Columns) -> Columns:
    """Mean first-token time in a closed loop with `batching.batch` requests in flight. [s]

    ``waiting_share`` is how far the requests exceed what the cache holds, in units of what it holds; they wait for
    others to finish. A weak law: a factor of 2.7 holds 80 % of measured rows.
    """
    k = case.k
    queue = k.interleave * np.maximum(batching.batch - 1.0, 0.0) * batching.prefill_one_s
    return (
        k.first_token_time
        + _first_pass(case, batching)
        + queue
        + k.cache_wait * np.maximum(waiting_share, 0.0) * batching.cycle_s
    )


def first_token_open(case: Case, batching: Batching, wait_s: Columns) -> Columns:
    """Mean first-token time of requests that come at random moments and wait `wait_s` for their prefill. [s]

    Most of the fixed time of a loaded closed loop is the burst in which its requests come; a lone request meets little
    of it.
    """
    # The step that reads the prompt also writes a token for every other request.
    others = np.minimum(batching.batch, 1.0) * batching.step.total + batching.prompt_s
    own = np.maximum(others - batching.prefill_one_s, 0.0)
    return _IDLE_SHARE_OF_FIRST_TOKEN_TIME * case.k.first_token_time + _first_pass(case, batching) + own + wait_s


def _first_pass(case: Case, batching: Batching) -> Columns:
    """A prompt's own prefill, not below what launching its kernels takes, and half of the step that is under way."""
    floor = case.llm.layers * case.k.floor_layer + case.llm.moe_layers * case.k.floor_expert
    own = smooth_max(batching.prefill_one_s, np.where(case.run.single_user > 0, 0.0, floor), 4.0)
    return own + batching.step.total / 2.0


def utilisation(case: Case, batching: Batching) -> tuple[Columns, Columns]:
    """Share of a cycle in which the memory is at work, and activity of the matrix units, for the power model.

    Matrix units work on whole tiles, however few rows of a tile are of use, so that their activity grows with the root
    of the share of time that useful work takes (fitted form: 8.4 % median error on models left out, 10.7 % in
    proportion to that share).
    """
    step, chunk = batching.step, batching.chunk
    answer = case.run.output / accepted_tokens(case)
    prefills = np.maximum(batching.batch, 1.0) / chunk.prompts / case.run.pp
    # Prompts that are read inside decode steps share their weights.
    alone = np.clip(2.0 - batching.batch, 0.0, 1.0) * prefills
    memory = (answer * (step.weights + step.cache) + alone * chunk.weights) / batching.cycle_s
    compute = (answer * step.compute + prefills * (chunk.compute + chunk.attention)) / batching.cycle_s
    return np.clip(memory, 0.0, 1.0), np.sqrt(np.clip(compute, 0.0, 1.0))


class OpenLoop(NamedTuple):
    """Requests that arrive at a rate, in one replica. ``overloaded`` where they come faster than they can be served."""

    batching: Batching
    requests_s: Columns
    first_token_s: Columns
    per_token_s: Columns
    overloaded: np.ndarray


# Halvings of the range of requests in flight: they settle it to a tenth of a per cent.
_HALVINGS = 16
_FEWEST_IN_FLIGHT = 0.02
_IDLE_SHARE_OF_FIRST_TOKEN_TIME = 0.3


def open_loop(
    case: Case,
    arrivals: Columns,
    run_of_requests: float = np.inf,
    squared_variation: float = 1.0,
    burst: float = 1.0,
) -> OpenLoop:
    """Means of first token and time a token when `arrivals` requests a second reach a replica at random moments.

    As many are in flight as a closed loop needs to yield that rate (Little's law), so decoding is slowed by the
    prefills between its steps. A run of `run_of_requests` requests starts with none in flight and its backlog grows
    evenly: on average half of what it leaves unserved is in flight. Where requests come faster than they can be
    served, the rate served is the replica's limit.

    ``burst`` requests come at the same moment. Against a simulation of the steps, time a token is within 10 % up to 0.9
    of the limit and the first token within 40 %. Optimistic close to the limit, where the number in flight swings and
    an error of a tenth in the limit doubles both times, and under bursts: up to half of the first token, and the
    swing that they cause in time a token is left out.

    References
    ----------
    .. [1] Little, "A Proof for the Queuing Formula: L = lambda W", Operations Research 9, 1961.
    """
    most = np.maximum(largest_batch(case, np.full(case.size, 1e5))[0], 1.0)
    low, high = np.full(case.size, _FEWEST_IN_FLIGHT), most
    for _halving in range(_HALVINGS):
        middle = np.sqrt(low * high)
        finished = arrivals * np.maximum(1.0 - 2.0 * middle / run_of_requests, 0.0)
        enough = continuous_batching(case, middle).requests_s / case.run.dp >= finished
        low, high = np.where(enough, low, middle), np.where(enough, middle, high)
    limit = continuous_batching(case, most).requests_s / case.run.dp
    overloaded = limit < 0.98 * arrivals
    state = continuous_batching(case, high)
    served = state.requests_s / case.run.dp
    service = state.prompt_s
    wait = prefill_wait(np.minimum(served * service, 0.95), service, np.asarray(squared_variation), burst)
    first = first_token_open(case, state, wait)
    return OpenLoop(state, np.minimum(served, arrivals), first, state.per_token_s, overloaded)
