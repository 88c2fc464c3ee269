"""Derivations of serving figures: output, first token, time a token, memory, power of a card.

The operating point is found again through the same remembered case and the same formulas as in `serving`; what stands
in the results is taken from there.
"""

from typing import NamedTuple

import numpy as np

from gpuplanner.catalog.load import Catalog
from gpuplanner.catalog.schema import Gpu, Llm
from gpuplanner.model import inference, memory, power, serving
from gpuplanner.model.case import Case, ServeConstants
from gpuplanner.model.derivation import Leaves, Node, figure, less, made, over, plus, times
from gpuplanner.model.plan import ConcurrencyLoad, Group, Plan, RateLoad, Serve, UserLoad
from gpuplanner.model.results import Figure, ServeResult
from gpuplanner.units import SECONDS_PER_HOUR


class Operating(NamedTuple):
    """One group that serves: what its figures rest on. ``batch`` is requests in flight in one replica."""

    workload: Serve
    at: int
    group: Group
    place: tuple[str | int, ...]
    result: ServeResult
    prepared: serving.Prepared
    case: Case
    gpu: Gpu
    llm: Llm
    batch: float
    state: inference.Batching
    leaves: Leaves
    # The room caps the cards, not the plan.
    held_back: bool


def operating(
    plan: Plan, view: Catalog, scenario_at: int, result: ServeResult, held_back: bool = False
) -> Operating | None:
    """Where a group stands at its load; None where no GPU serves alone or nothing could be computed."""
    scenario = plan.scenarios[scenario_at]
    group = scenario.groups[result.group]
    at = next(i for i, workload in enumerate(plan.workloads) if workload.id == result.workload)
    workload = plan.workloads[at]
    if result.choice is None or not group.gpu or not group.runs or not isinstance(workload, Serve):
        return None
    if group.runs[0].offload == "weights":
        return None
    llm = view.find("llm", result.choice.llm)
    if llm is None:
        return None
    prepared: serving.Prepared = serving.prepared(workload, group, scenario.network, group.runs[0], llm, view)
    if prepared.case is None or prepared.hardware.gpu is None or prepared.memory is None or not result.batch:
        return None
    batch = result.batch / result.choice.dp
    return Operating(
        workload, at, group, ("scenarios", scenario_at, "groups", result.group), result, prepared, prepared.case,
        prepared.hardware.gpu, llm, batch, inference.continuous_batching(prepared.case, np.array([batch])),
        Leaves(view), held_back,
    )  # fmt: skip


def _one(column: np.ndarray) -> float:
    return float(np.ravel(column)[0])


def _constant(o: Operating, name: str, kind: str = "count", symbol: str = "") -> Node:
    position = int(o.case.index[0][ServeConstants._fields.index(name)])
    return o.leaves.constant(position, _one(getattr(o.case.k, name)), kind, symbol)


# --- leaves ----------------------------------------------------------------------------------------


def _prompt(o: Operating) -> Node:
    return o.leaves.typed(
        "prompt_tokens", o.workload.prompt_tokens, "tokens", ("workloads", o.at, "prompt_tokens"), "I"
    )


def _answer(o: Operating) -> Node:
    return o.leaves.typed(
        "answer_tokens", o.workload.answer_tokens, "tokens", ("workloads", o.at, "answer_tokens"), "O"
    )


def _degree(o: Operating, name: str, value: float, symbol: str) -> Node:
    """A degree of the split: typed, or what the automatic choice came to."""
    if not o.group.runs or getattr(o.group.runs[0], name) == "auto":
        return o.leaves.chosen(name, value, symbol=symbol)
    return o.leaves.typed(name, value, "count", (*o.place, "runs", 0, name), symbol)


def _tp(o: Operating) -> Node:
    return _degree(o, "tp", _one(o.case.run.tp), "t")


def _dp(o: Operating) -> Node:
    return _degree(o, "dp", _one(o.case.run.dp), "x")


def bandwidth(o: Operating) -> Node:
    """Memory bandwidth of one device, slowed down by a power cap where there is one."""
    value = _one(o.case.gpu.bandwidth)
    assert o.gpu.memory_bandwidth_bytes_s is not None
    sheet = o.gpu.memory_bandwidth_bytes_s.value / o.gpu.gpus_per_card
    leaf = o.leaves.cited("bandwidth", o.gpu.memory_bandwidth_bytes_s, o.gpu, "bandwidth", "BW", sheet)
    if value == sheet:
        return leaf
    return made(Node("bandwidth_capped", value, "bandwidth", "BW", operation="follows"), leaf, _cap(o))


def _cap(o: Operating) -> Node:
    if o.held_back:
        return Node("room_cap", o.group.power_cap_w, "watts")
    return o.leaves.typed("power_cap", o.group.power_cap_w, "watts", (*o.place, "power_cap_w"))


def peak(o: Operating) -> Node:
    """Dense rate of the compute type that one device holds."""
    value, sustained = _one(o.case.run.peak), _one(o.case.gpu.sustained)
    assert o.result.choice is not None
    stated = o.gpu.peak_flops.get(o.result.choice.compute)  # type: ignore[call-overload]
    facts = [stated, *o.gpu.peak_flops.values()] if stated is not None else list(o.gpu.peak_flops.values())
    devices = o.gpu.gpus_per_card
    fact = next((f for f in facts if abs(f.value / devices * sustained - value) <= 1e-9 * value), facts[0])
    leaf = o.leaves.cited("peak", fact, o.gpu, "flops", "P", fact.value / devices)
    if leaf.value == value:
        return leaf
    given = [_board_power(o)] + ([_cap(o)] if o.group.power_cap_w is not None else [])
    clock = made(Node("sustained", sustained, "share", "s", operation="follows"), *given)
    return made(Node("peak_sustained", value, "flops", "P", operation="product"), *times(leaf, clock))


def _board_power(o: Operating) -> Node:
    board = power.board_power(o.gpu, o.leaves.catalog)
    if o.gpu.board_power_w is not None:
        return o.leaves.cited("board_power", o.gpu.board_power_w, o.gpu, "watts", "TDP")
    return figure("board_power", board, "watts", "leaf", symbol="TDP", name=o.gpu.name)


# --- named times -----------------------------------------------------------------------------------


def _weights_read(o: Operating, tokens: float, value_s: float) -> Node:
    """Time to read the weights once: bytes over the bandwidth that is reached."""
    llm, run, tp = o.case.llm, o.case.run, _tp(o)
    assert o.result.choice is not None

    def bytes_a_weight(value: float) -> Node:
        return o.leaves.chosen("bytes_per_weight", value, symbol="b", name=o.result.choice.weights)  # type: ignore[union-attr]

    def part(key: str, params: Node, size: float, *more: Node) -> Node:
        value = (params.value or 0.0) * size
        for node in more:
            value = value / (node.value or 1.0) if node.role == "÷" else value * (node.value or 0.0)
        whole = Node(key, value, "bytes", operation="product")
        return made(whole, *times(params, bytes_a_weight(size), *more))

    terms = [
        part("body_read", o.leaves.shaped("body_params", _one(llm.nonexpert), o.llm, "parameters", "N"),
             _one(run.body_bytes), over(tp)),
        part("head_read", o.leaves.shaped("head_params", _one(llm.head), o.llm, "parameters", "N"),
             _one(run.head_bytes), over(tp)),
    ]  # fmt: skip
    if _one(llm.experts) > 0:
        awake = _one(inference.distinct_experts(o.case, np.array([tokens])))
        shards = o.leaves.chosen("expert_shards", _one(memory.expert_shards(o.case)))
        experts = made(
            Node("experts_awake", awake, "count", operation="follows"),
            o.leaves.shaped("experts", _one(llm.experts), o.llm, "count", "E"),
            o.leaves.shaped("experts_per_token", _one(llm.experts_per_token), o.llm, "count", "k"),
            _constant(o, "distinct"),
        )
        terms.insert(1, part(
            "experts_read", o.leaves.shaped("expert_params", _one(llm.expert), o.llm, "parameters", "N"),
            _one(run.expert_bytes), experts, over(shards),
        ))  # fmt: skip
    whole = sum(term.value or 0.0 for term in terms)
    read = made(Node("bytes_read", whole, "bytes", "W", operation="sum"), *plus(*terms))
    return made(
        Node("weights_time", value_s, "duration", operation="product"),
        *times(read, over(bandwidth(o)), over(_constant(o, "dram", symbol="e")),
               over(_constant(o, "engine_dram", symbol="φ")), over(_constant(o, "format_share", symbol="f"))),
    )  # fmt: skip


def _efficiencies(o: Operating) -> tuple[Node, ...]:
    own = [over(_constant(o, "matrix", symbol="e")), over(_constant(o, "engine_matrix", symbol="φ"))]
    if _one(o.case.llm.experts) > 0:
        own.append(over(_constant(o, "expert_matrix", symbol="κ")))
    return tuple(own)


def _two() -> Node:
    return Node("flop_per_parameter", 2.0, symbol="2", origin="formula")


def _decode_compute(o: Operating, batch: float, value_s: float) -> Node:
    """Arithmetic of one step: two FLOP a parameter and sequence."""
    llm, run = o.case.llm, o.case.run
    draft = o.leaves.chosen("draft_tokens", 1.0 + _one(run.draft_tokens))
    stage = max(batch / _one(run.pp), 1.0)
    work = 2.0 * _one(llm.active) * stage * (draft.value or 1.0) / _one(run.tp)
    flop = made(
        Node("step_work", work, "work", "F", operation="product"),
        *times(_two(), o.leaves.shaped("active_params", _one(llm.active), o.llm, "parameters", "N"),
               Node("sequences", stage, "count", "B"), draft, over(_tp(o))),
    )  # fmt: skip
    return made(
        Node("compute_time", value_s, "duration", operation="product"), *times(flop, over(peak(o)), *_efficiencies(o))
    )


def _matrix(o: Operating, step: inference.DecodeStep, batch: float) -> Node:
    tokens = max(batch / _one(o.case.run.pp), 1.0) * (1.0 + _one(o.case.run.draft_tokens))
    return made(
        Node("weights_compute", _one(step.matrix), "duration", operation="smooth_max"),
        _weights_read(o, tokens, _one(step.weights))._replace(role="+"),
        _decode_compute(o, batch, _one(step.compute))._replace(role="+"),
    )


def _cache_time(o: Operating, value_s: float, batch: float) -> Node:
    """Time to read the cache of every sequence: bytes over what is reached of the bandwidth, attention included."""
    run = o.case.run
    context = run.input + run.output / 2.0
    rank = max(max(batch / _one(run.pp), 1.0) / _one(run.attention_dp), 1.0)
    one = _one(memory.cache_bytes(o.case, context))
    sequence = made(
        Node("cache_of_sequence", one, "bytes", operation="follows"),
        o.leaves.shaped("layers", _one(o.case.llm.layers), o.llm, "count", "L"),
        o.leaves.shaped("kv_heads", _one(o.case.llm.kv_heads), o.llm, "count", "g"),
        Node("mean_context", _one(context), "tokens", "T"),
        o.leaves.chosen("bytes_per_kv", _one(run.kv_bytes), name=o.result.choice.kv if o.result.choice else ""),
    )
    shards = o.leaves.chosen("cache_shards", _one(memory.cache_shards(o.case)))
    fetched = _one(inference.cache_fetches(o.case))
    again = made(
        Node("cache_fetches", fetched, "count", operation="follows"), _constant(o, "repeated_reads"),
        o.leaves.shaped("kv_heads", _one(o.case.llm.kv_heads), o.llm, "count", "g"),
    )  # fmt: skip
    read = made(
        Node("cache_read", rank * one * fetched / (shards.value or 1.0), "bytes", operation="product"),
        *times(sequence, Node("sequences", rank, "count", "B"), again, over(shards)),
    )
    speed = bandwidth(o)
    reached = (read.value or 0.0) / ((speed.value or 1.0) * value_s) if value_s else 1.0
    share = made(
        Node("cache_share_reached", reached, "share", "e", operation="follows"),
        _constant(o, "dram"), _constant(o, "engine_dram"),
    )  # fmt: skip
    return made(Node("kv_cache_time", value_s, "duration", operation="product"), *times(read, over(speed), over(share)))


def _kernels(o: Operating, value_s: float) -> Node:
    """What starting the kernels of each layer takes."""
    llm, k = o.case.llm, o.case.k
    own = made(
        Node("dense_layers_time", _one(llm.layers) * _one(k.layer_time), "duration", operation="product"),
        *times(o.leaves.shaped("layers", _one(llm.layers), o.llm, "count", "L"),
               _constant(o, "layer_time", "duration", "τ")),
    )  # fmt: skip
    experts = made(
        Node("expert_layers_time", _one(llm.moe_layers) * _one(k.expert_layer_time), "duration", operation="product"),
        *times(o.leaves.shaped("expert_layers", _one(llm.moe_layers), o.llm, "count", "L"),
               _constant(o, "expert_layer_time", "duration", "τ")),
    )  # fmt: skip
    inner = made(
        Node("layers_time", (own.value or 0.0) + (experts.value or 0.0), "duration", operation="sum"),
        *plus(own, experts),
    )
    if _one(llm.moe_layers) == 0:
        inner = own
    return made(
        Node("kernels_time", value_s, "duration", operation="product"), *times(inner, _constant(o, "layer_factor"))
    )


def communication(o: Operating, value_s: float, size: float) -> Node:
    """Time that a step spends on the links: two all-reduces a layer, and what else the split sends."""
    speed = _one(inference.link(o.case)[1])
    each = _one(inference.all_reduce(o.case, np.array([size])))
    latency = _one(inference.all_reduce(o.case, np.zeros(1)))
    on_link = _one(o.case.gpu.link) > 0
    fact = o.gpu.link_one_way_bytes_s if on_link else o.gpu.pcie_one_way_bytes_s
    sheet = (
        [] if fact is None else [o.leaves.cited("link_speed" if on_link else "pcie_speed", fact, o.gpu, "bandwidth")]
    )
    transfer = made(
        Node("transfer_time", each - latency, "duration", operation="follows"),
        Node("message", size, "bytes", "S"), _tp(o),
        made(Node("link_reached", speed, "bandwidth", operation="follows"), *sheet,
             _constant(o, "share_nvlink" if on_link else "share_pcie")),
    )  # fmt: skip
    wait = made(
        Node("link_latency", latency, "duration", operation="follows"),
        _constant(o, "latency_nvlink" if on_link else "latency_pcie", "duration"), _tp(o),
    )  # fmt: skip
    reduce = made(Node("all_reduce_time", each, "duration", operation="sum"), *plus(wait, transfer))
    return made(
        Node("communication_time", value_s, "duration", operation="product"),
        *times(Node("per_layer", 2.0, symbol="2"),
               o.leaves.shaped("layers", _one(o.case.llm.layers), o.llm, "count", "L"), reduce),
    )  # fmt: skip


def _host(o: Operating, value_s: float, batch: float) -> Node:
    sequences = max(batch, 1.0)
    own = _one(o.case.k.sequence_time) * sequences
    scheduling = made(
        Node("scheduling_time", own, "duration", operation="product"),
        *times(Node("sequences", sequences, "count", "B"), _constant(o, "sequence_time", "duration", "τ")),
    )
    return made(
        Node("host_time", value_s, "duration", operation="sum"),
        *plus(_constant(o, "host_time", "duration"), scheduling),
    )


def decode_step(o: Operating, state: inference.Batching | None = None, batch: float | None = None) -> Node:
    """One step that gives every running sequence a token, by named times."""
    batch = o.batch if batch is None else batch
    step = (o.state if state is None else state).step
    run = o.case.run
    rank = max(max(batch / _one(run.pp), 1.0) / _one(run.attention_dp), 1.0)
    size = 2.0 * rank * (1.0 + _one(run.draft_tokens)) * _one(o.case.llm.hidden)
    value = Node("decode_step", _one(step.total), "duration", "T", operation="sum", family="serving_tpot")
    if state is None and o.result.decode_step_s.value == value.value:
        value = value._replace(low=o.result.decode_step_s.low, high=o.result.decode_step_s.high)
    return made(
        value,
        *plus(
            _matrix(o, step, batch),
            _cache_time(o, _one(step.cache), batch),
            _kernels(o, _one(step.layers)),
            communication(o, _one(step.communication), size),
            _host(o, _one(step.host), batch),
        ),
    )


def prefill(o: Operating) -> Node:
    """Reading one prompt alone, by named times."""
    run, llm = o.case.run, o.case.llm
    chunk = inference.prefill(o.case, run.input, np.ones_like(run.input))
    fresh = _one(run.input) * (1.0 - _one(run.prefix))
    body = max(_one(llm.active) - _one(llm.head), 0.0)
    tokens = made(
        Node("fresh_tokens", fresh, "tokens", operation="product"),
        *times(_prompt(o), made(Node("not_cached", 1.0 - _one(run.prefix), "share", operation="follows"), _prefix(o))),
    )
    work = made(
        Node("prefill_body_work", 2.0 * body * fresh / _one(run.tp), "work", operation="product"),
        *times(_two(), o.leaves.shaped("body_active_params", body, o.llm, "parameters", "N"), tokens, over(_tp(o))),
    )
    head = made(
        Node("prefill_head_work", 2.0 * _one(llm.head) / _one(run.tp), "work", operation="product"),
        *times(_two(), o.leaves.shaped("head_params", _one(llm.head), o.llm, "parameters", "N"), over(_tp(o))),
    )
    flop = made(
        Node("prefill_work", (work.value or 0.0) + (head.value or 0.0), "work", "F", operation="sum"),
        *plus(work, head),
    )
    compute = made(
        Node("compute_time", _one(chunk.compute), "duration", operation="product"),
        *times(flop, over(peak(o)), *_efficiencies(o)),
    )
    matrix = made(
        Node("weights_compute", _one(chunk.matrix), "duration", operation="smooth_max"),
        compute._replace(role="+"), _weights_read(o, fresh, _one(chunk.weights))._replace(role="+"),
    )  # fmt: skip
    attention = made(
        Node("attention_time", _one(chunk.attention), "duration", operation="follows"),
        tokens, _constant(o, "attention"), peak(o),
    )  # fmt: skip
    elementwise = made(
        Node("elementwise_time", _one(chunk.elementwise), "duration", operation="follows"),
        tokens, o.leaves.shaped("hidden", _one(llm.hidden), o.llm, "count", "d"), bandwidth(o), _constant(o, "dram"),
    )  # fmt: skip
    layers = made(
        Node("kernels_time", _one(chunk.layers), "duration", operation="product"),
        *times(o.leaves.shaped("layers", _one(llm.layers), o.llm, "count", "L"),
               _constant(o, "layer_time", "duration", "τ")),
    )  # fmt: skip
    size = 2.0 * fresh / _one(run.attention_dp) * _one(llm.hidden)
    links = communication(o, _one(chunk.communication), size)
    return made(
        Node("prefill_one", _one(chunk.total), "duration", operation="sum", family="ttft_idle"),
        *plus(matrix, attention, elementwise, layers, links),
    )


def _prefix(o: Operating) -> Node:
    return o.leaves.typed(
        "shared_prefix", o.workload.shared_prefix_share, "share", ("workloads", o.at, "shared_prefix_share")
    )


# --- the figures of the results --------------------------------------------------------------------


class Curve(NamedTuple):
    """Parts of the first token along the curve over requests in flight, each read off at one point."""

    idle: float
    own: float
    half: float
    mean: float
    first: float


def _on_curve(o: Operating, batch: float) -> Curve:
    p = o.prepared
    wide = o.case.across()
    state = inference.continuous_batching(wide, p.batch[None, :])
    idle = inference.first_token_open(wide, state, np.zeros((1, p.batch.size)))[0]

    def at(values: np.ndarray) -> float:
        return float(np.interp(batch, p.batch, np.ravel(values)))

    own = np.broadcast_to(state.prefill_one_s, (1, p.batch.size))
    return Curve(at(idle), at(own), at(state.step.total / 2.0), at(p.first_token_mean_s), at(p.first_token_s))


def first_token(o: Operating) -> Node:
    """First token at the load: own prefill, the step under way, the engine, the wait, and how far the slow ones lie."""
    shown = o.result.first_token_s
    root = Node(
        "first_token", shown.value, "first_token", "", shown.low, shown.high, operation="sum", family="ttft_loaded",
        numbers={"percentile": o.workload.first_token_percentile},
    )  # fmt: skip
    if shown.value is None:
        return made(root._replace(operation="follows"), load(o), *capacity_of(o))
    if isinstance(o.workload.load, ConcurrencyLoad):
        own, half = _one(o.state.prefill_one_s), _one(o.state.step.total) / 2.0
        rest = made(
            Node("closed_queue", shown.value - own - half, "duration", operation="follows"),
            load(o), _constant(o, "first_token_time", "duration"), _constant(o, "interleave"),
            _constant(o, "cache_wait"),
        )  # fmt: skip
        return made(root, *plus(prefill(o), _half_step(o, half), rest))
    # Little's law the other way round: the operating point on the curve is where the results have it.
    part = _on_curve(o, o.batch)
    engine = made(
        Node("engine_time", part.idle - part.own - part.half, "duration", operation="follows"),
        _constant(o, "first_token_time", "duration"), _constant(o, "floor_layer", "duration"),
    )  # fmt: skip
    wait = made(
        Node("waiting", part.mean - part.idle, "duration", operation="follows"),
        load(o), Node("utilisation", o.result.utilisation, "share", "ρ"),
        o.leaves.typed("prompt_spread", o.workload.prompt_spread, "count", ("workloads", o.at, "prompt_spread")),
    )  # fmt: skip
    tail = made(
        Node("tail", shown.value - part.mean, "duration", operation="follows"),
        o.leaves.typed(
            "percentile", o.workload.first_token_percentile, "share", ("workloads", o.at, "first_token_percentile")
        ),
        o.leaves.typed("prompt_spread", o.workload.prompt_spread, "count", ("workloads", o.at, "prompt_spread")),
    )  # fmt: skip
    own_prefill = prefill(o)
    return made(root, *plus(own_prefill, _half_step(o, part.half), engine, wait, tail))


def _half_step(o: Operating, value_s: float) -> Node:
    return made(Node("half_step", value_s, "duration", operation="follows"), decode_step(o))


def per_token(o: Operating) -> Node:
    """Time a token at the load: a cycle without the own prefill, over the answer, times the crowding."""
    shown = o.result.per_token_s
    mean = _one(o.state.per_token_s)
    answer = _answer(o)
    busy_s = mean * (answer.value or 0.0)
    writing = _one(o.case.run.output / inference.accepted_tokens(o.case)) * _one(o.state.step.total)
    parts = [
        made(
            Node("writing", writing, "duration", operation="product"),
            *times(answer, decode_step(o), over(_accepted(o))),
        ),
        made(
            Node("reading_others", busy_s - writing, "duration", operation="follows"),
            prefill(o), Node("in_flight", o.batch, "count", "B"),
        ),
    ]  # fmt: skip
    busy = made(Node("answer_time", busy_s, "duration", operation="sum"), *plus(*parts))
    average = made(
        Node("per_token_mean", mean, "duration", operation="product"), *times(busy, over(answer))
    )  # fmt: skip
    crowding = made(
        Node("crowding", (shown.value or mean) / mean if mean else 1.0, "count", operation="follows"),
        o.leaves.typed(
            "percentile", o.workload.per_token_percentile, "share", ("workloads", o.at, "per_token_percentile")
        ),
        Node("in_flight", o.batch, "count", "B"),
    )  # fmt: skip
    root = Node(
        "per_token", shown.value, "per_token", "", shown.low, shown.high, operation="product", family="serving_tpot",
        numbers={"percentile": o.workload.per_token_percentile},
    )  # fmt: skip
    return made(root, *times(average, crowding))


def _accepted(o: Operating) -> Node:
    return o.leaves.chosen("accepted_tokens", _one(inference.accepted_tokens(o.case)))


def load(o: Operating, whole: bool = False) -> Node:
    """What the workload asks for: requests a second, or requests in flight. ``whole``: of all groups together."""
    asked, place = o.workload.load, ("workloads", o.at, "load")
    share = 1.0 if whole else o.result.load_share
    part = o.leaves.chosen("load_share", share)
    if isinstance(asked, UserLoad):
        rate = asked.users * asked.requests_per_user_peak_hour / SECONDS_PER_HOUR
        return made(
            Node("requests_asked", rate * share, "requests_s", "λ", operation="product"),
            *times(o.leaves.typed("users", asked.users, "count", (*place, "users")),
                   o.leaves.typed("requests_per_hour", asked.requests_per_user_peak_hour, "count",
                                  (*place, "requests_per_user_peak_hour")),
                   part, over(Node("seconds_per_hour", SECONDS_PER_HOUR))),
        )  # fmt: skip
    if isinstance(asked, RateLoad):
        rate_typed = o.leaves.typed("requests_asked", asked.requests_s, "requests_s", (*place, "requests_s"), "λ")
        if share == 1.0:
            return rate_typed
        return made(
            Node("requests_asked", asked.requests_s * share, "requests_s", "λ", operation="product"),
            *times(rate_typed, part),
        )
    if isinstance(asked, ConcurrencyLoad):
        return o.leaves.typed("in_flight_asked", asked.concurrency, "count", (*place, "concurrency"), "c")
    return Node("full_queue", None, "requests_s", "λ", origin="your input", path=place)


def capacity_of(o: Operating) -> tuple[Node, ...]:
    """Requests a second without targets: a full batch over its cycle, on every replica."""
    p = o.prepared
    if p.limit <= 0:
        return ()
    at = int(np.argmax(p.requests_s >= p.requests_s[-1]))
    batch = float(p.batch[at])
    state = inference.continuous_batching(o.case, np.array([batch]))
    own = _one(state.requests_s)
    sharing = made(
        Node("replica_sharing", p.limit / own, "count", operation="follows"), _dp(o),
        _degree(o, "pp", _one(o.case.run.pp), "p"),
    )  # fmt: skip
    cycle = _one(state.cycle_s)
    reading = _one(state.prefill_share) * cycle
    step = decode_step(o, state, batch)
    writing = _one(o.case.run.output / inference.accepted_tokens(o.case)) * _one(state.step.total)
    prompt = reading / batch
    read = made(
        Node("reading", reading, "duration", operation="product"),
        *times(Node("in_flight", batch, "count", "B"),
               made(Node("prefill_in_chunk", prompt, "duration", operation="follows"), prefill(o))),
    )  # fmt: skip
    write = made(
        Node("writing", writing, "duration", operation="product"), *times(_answer(o), step, over(_accepted(o)))
    )
    whole = made(Node("cycle", cycle, "duration", "T", operation="sum"), *plus(read, write))
    flight = made(
        Node("in_flight", batch, "count", "B", operation="follows"), kv_capacity(o),
        _degree(o, "max_sequences", _one(o.case.run.max_sequences), ""),
    )  # fmt: skip
    limit = Node("requests_limit", p.limit, "requests_s", "μ", operation="product", family="max_throughput")
    factors = times(flight, _dp(o), over(whole))
    if sharing.value != 1.0:
        factors = (*factors, sharing._replace(role="×"))
    return (made(limit, *factors),)


def requests(o: Operating) -> Node:
    """The highest rate at which both targets hold, as read off the curve."""
    w, p = o.workload, o.prepared
    children: list[Node] = []
    if p.capacity > 0:
        batch = float(np.interp(p.capacity, p.requests_s, p.batch))
        for key, curve, target, name, percentile in (
            ("first_token_at_capacity", p.first_token_s, w.first_token_s, "first_token_s", w.first_token_percentile),
            ("per_token_at_capacity", p.per_token_s, w.per_token_s, "per_token_s", w.per_token_percentile),
        ):
            if target is None:
                continue
            reached = float(np.interp(batch, p.batch, curve))
            limit = o.leaves.typed(f"target_{name}", target, "duration", ("workloads", o.at, name))
            children.append(
                made(
                    Node(key, reached, "duration", operation="follows", numbers={"percentile": percentile}),
                    limit, Node("in_flight", batch, "count", "B"),
                )
            )  # fmt: skip
    shown = o.result.requests_s
    return made(
        Node("requests_within", shown.value, "requests_s", "λ", shown.low, shown.high, operation="follows",
             family="max_throughput"),
        *children, *capacity_of(o),
    )  # fmt: skip


def output(o: Operating) -> Node:
    """Output tokens a second within the targets."""
    shown = o.result.output_tokens_s
    return made(
        Node("output", shown.value, "tokens_s", "", shown.low, shown.high, operation="product",
             family="max_throughput"),
        *times(requests(o), _answer(o)),
    )  # fmt: skip


def output_limit(o: Operating) -> Node:
    """Output tokens a second of a full queue, without targets."""
    shown = o.result.output_tokens_s_limit
    return made(
        Node("output_limit", shown.value, "tokens_s", "", shown.low, shown.high, operation="product",
             family="max_throughput"),
        *times(*capacity_of(o), _answer(o)),
    )  # fmt: skip


def single_stream(o: Operating) -> Node:
    """Tokens a second of one request alone."""
    state = inference.continuous_batching(o.case, np.array([1.0]))
    shown = o.result.single_stream_tokens_s
    return made(
        Node("single_stream", shown.value, "tokens_s", "", shown.low, shown.high, operation="product",
             family="decode_fixed_batch"),
        *_rate_of(_accepted(o), decode_step(o, state, 1.0)),
    )  # fmt: skip


def _rate_of(count: Node, seconds: Node) -> tuple[Node, ...]:
    return count._replace(role="×"), over(seconds)


def prefill_rate(o: Operating) -> Node:
    """Prompt tokens a second of one prompt alone."""
    shown = o.result.prefill_tokens_s
    return made(
        Node("prefill", shown.value, "tokens_s", "", shown.low, shown.high, operation="product", family="ttft_idle"),
        *_rate_of(_prompt(o), prefill(o)),
    )


def demand_output(o: Operating) -> Node:
    """Output tokens a second that the whole workload asks for at its peak."""
    asked = load(o, whole=True)
    value = None if asked.value is None else asked.value * o.workload.answer_tokens
    return made(Node("demand_output", value, "tokens_s", operation="product"), *times(asked, _answer(o)))


# --- memory ----------------------------------------------------------------------------------------


def _cache_per_sequence(o: Operating, tokens: float, key: str = "cache_per_sequence") -> Node:
    one = _one(memory.cache_per_gpu(o.case, np.array([tokens])))
    whole = _one(memory.cache_bytes(o.case, np.array([tokens])))
    shards = o.leaves.chosen("cache_shards", _one(memory.cache_shards(o.case)))
    sequence = made(
        Node("cache_of_sequence", whole, "bytes", operation="follows"),
        o.leaves.shaped("layers", _one(o.case.llm.layers), o.llm, "count", "L"),
        o.leaves.shaped("kv_heads", _one(o.case.llm.kv_heads), o.llm, "count", "g"),
        Node("sequence_tokens", tokens, "tokens", "T"),
        o.leaves.chosen("bytes_per_kv", _one(o.case.run.kv_bytes), name=o.result.choice.kv if o.result.choice else ""),
    )
    return made(
        Node(key, one, "bytes", operation="product"),
        *times(sequence, over(shards), over(_degree(o, "pp", _one(o.case.run.pp), "p"))),
    )


def weights_memory(o: Operating, value: float) -> Node:
    """Weights on the fullest card: by part of the model and the format."""
    llm, run = o.case.llm, o.case.run
    assert o.result.choice is not None
    name = o.result.choice.weights

    def part(key: str, params: float, size: float, *divisors: Node) -> Node:
        bytes_ = params * size
        for node in divisors:
            bytes_ /= node.value or 1.0
        return made(
            Node(key, bytes_, "memory", operation="product"),
            *times(o.leaves.shaped(key, params, o.llm, "parameters", "N"),
                   o.leaves.chosen("bytes_per_weight", size, symbol="b", name=name),
                   *(over(each) for each in divisors)),
        )  # fmt: skip

    tp, pp = _tp(o), _degree(o, "pp", _one(run.pp), "p")
    shards = o.leaves.chosen("expert_shards", _one(memory.expert_shards(o.case)))
    ends = _one(llm.embedding) + _one(llm.head) if _one(run.pp) == 1 else max(_one(llm.embedding), _one(llm.head))
    parts = [
        part("body_params", _one(llm.nonexpert), _one(run.body_bytes), tp, pp),
        part("all_expert_params", _one(llm.experts) * _one(llm.expert), _one(run.expert_bytes), shards, pp),
        part("ends_params", ends, _one(run.head_bytes), tp),
    ]
    return made(Node("weights", value, "memory", "W", operation="sum"), *plus(*parts))


def usable_memory(o: Operating, value: float) -> Node:
    """What a program may fill of a card's memory."""
    sheet = o.leaves.cited("memory_size", o.gpu.memory_bytes, o.gpu, "memory", "M",
                           o.gpu.memory_bytes.value / o.gpu.gpus_per_card)  # fmt: skip
    seen = made(Node("memory_visible", _one(o.case.gpu.memory), "memory", "M", operation="follows"), sheet)
    fraction = _degree(o, "memory_fraction", _one(o.case.run.memory_fraction), "u")
    fraction = fraction._replace(kind="share")
    return made(Node("usable", value, "memory", operation="product"), *times(seen, fraction))


def memory_bytes(o: Operating) -> Node:
    """Memory of the fullest card, by part. [bytes]"""
    use = o.result.memory
    assert use is not None
    run = o.case.run
    tokens = _one(run.input) + _one(run.output) / 2.0
    cache = made(
        Node("kv_cache", use.kv_cache, "memory", operation="follows"),
        _cache_per_sequence(o, tokens), Node("in_flight", o.batch, "count", "B"),
        _cache_per_sequence(o, o.prepared.context, "cache_of_longest"),
    )  # fmt: skip
    activations = made(
        Node("activations", use.activations, "memory", operation="follows"),
        _degree(o, "max_batched_tokens", _one(run.max_batched), "")._replace(kind="tokens"),
        o.leaves.shaped("hidden", _one(o.case.llm.hidden), o.llm, "count", "d"),
        o.leaves.shaped("vocabulary", _one(o.case.llm.vocab), o.llm, "count", "V"),
    )  # fmt: skip
    runtime = made(
        Node("runtime", use.runtime, "memory", operation="follows"),
        o.leaves.chosen("runtime_name", 1.0, name=o.result.choice.runtime if o.result.choice else ""), _tp(o),
    )  # fmt: skip
    return made(
        Node("memory_bytes", use.used, "memory", operation="sum"),
        *plus(weights_memory(o, use.weights), cache, activations, runtime),
    )


def memory_used(o: Operating) -> Node:
    """Share of the usable memory that the fullest card holds."""
    shown, use = o.result.memory_share, o.result.memory
    assert use is not None
    return made(
        Node("memory_used", shown.value, "share", "", shown.low, shown.high, operation="product", family="peak_memory"),
        *_rate_of(memory_bytes(o), usable_memory(o, use.usable)),
    )


def kv_capacity(o: Operating) -> Node:
    """How many requests the cache of the group holds at once."""
    run, p = o.case.run, o.prepared
    assert p.memory is not None
    tokens = _one(run.input) + _one(run.output) / 2.0
    budget = made(
        Node("cache_budget", _one(p.memory.budget), "memory", operation="follows"),
        usable_memory(o, _one(p.memory.usable)), weights_memory(o, _one(p.memory.weights)),
        Node("activations", _one(p.memory.activations), "memory"), Node("runtime", _one(p.memory.runtime), "memory"),
    )  # fmt: skip
    ranks = o.leaves.chosen("attention_ranks", _one(run.attention_dp))
    return made(
        Node("kv_capacity", o.result.max_batch, "count", operation="product", family="kv_capacity"),
        *times(budget, over(_cache_per_sequence(o, tokens)), ranks, _dp(o)),
    )


# --- power of a card -------------------------------------------------------------------------------


def card_power(o: Operating) -> Node:
    """Power of one card at the load: idle, and what memory and compute draw above it."""
    shown = o.result.gpu_power_w
    catalog, calibration = o.leaves.catalog, o.leaves.catalog.calibration
    memory_use, compute_use = (_one(share) for share in inference.utilisation(o.case, o.state))
    idle_figure = power.idle_power(o.gpu, catalog)
    idle_w = (idle_figure.value or 0.0) / o.gpu.gpus_per_card
    if o.gpu.idle_power_w is not None:
        idle = o.leaves.cited("idle_power", o.gpu.idle_power_w, o.gpu, "watts", "P₀", idle_w)
    else:
        idle = o.leaves.assumed("idle_power", "card_idle_power", power.idle_class(o.gpu), "watts", idle_w, "P₀")

    def use(key: str, name: str, share: float) -> Node:
        own = o.leaves.named(f"power/{name}")
        return made(
            Node(f"{key}_load", (own.value or 0.0) * share, "share", operation="product"),
            *times(own, Node(f"{key}_use", share, "share", "u")),
        )

    tdp = _one(o.case.gpu.tdp)
    if shown.value is None or not np.isfinite(tdp):
        return figure("gpu_power", shown, "watts", "follows", _board_power(o), idle, family="power_gpu")
    parts = (
        o.leaves.named("power/idle share"),
        use("memory", "memory", memory_use),
        use("compute", "compute", compute_use),
    )
    drawn = made(Node("power_load", sum(part.value or 0.0 for part in parts), "share", operation="sum"), *plus(*parts))
    room = made(
        Node("power_range", tdp - idle_w, "watts", operation="sum"),
        *plus(_board_power(o)._replace(value=tdp), less(idle)),
    )
    full = power.gpu_power(np.array(idle_w), np.array(tdp), np.array(memory_use), np.array(compute_use), calibration)
    dynamic = made(
        Node("dynamic_power", float(full) - idle_w, "watts", operation="product"), *times(room, drawn)
    )  # fmt: skip
    return made(
        Node("gpu_power", shown.value, "watts", "", shown.low, shown.high, operation="sum", family="power_gpu"),
        *plus(idle, dynamic),
    )


def energy(o: Operating, shown: Figure, scale: float) -> Node:
    """Energy of `scale` output tokens: power of the cards over what they write."""
    served = (o.result.gpu_power_w.value or 0.0) * o.prepared.hardware.devices
    each = o.result.energy_j_per_token.value
    rate = made(
        Node("tokens_served", served / each if each else None, "tokens_s", operation="follows"), load(o),
        _answer(o), *capacity_of(o),
    )  # fmt: skip
    devices = Node("devices", float(o.prepared.hardware.devices), "count", "n", origin="your input",
                   path=(*o.place, "servers"))  # fmt: skip
    return made(
        Node("energy_per_million", shown.value, "energy_per_million", "", shown.low, shown.high, operation="product",
             family="energy"),
        *times(card_power(o), devices, over(rate), Node("tokens_counted", scale, "tokens")),
    )  # fmt: skip


def network_time(o: Operating) -> Node:
    """Time that one decode step spends on links."""
    run = o.case.run
    rank = max(max(o.batch / _one(run.pp), 1.0) / _one(run.attention_dp), 1.0)
    size = 2.0 * rank * (1.0 + _one(run.draft_tokens)) * _one(o.case.llm.hidden)
    return communication(o, _one(o.state.step.communication), size)._replace(key="network_time")


def link_wait(o: Operating) -> Node:
    """Share of its busy time in which a card waits for links: of decode steps and of reading prompts."""
    shown, chunk = o.result.link_wait, o.state.chunk
    reading = float(np.clip(_one(o.state.prefill_share), 0.0, 1.0))
    fresh = o.workload.prompt_tokens * (1.0 - _one(o.case.run.prefix)) * _one(chunk.prompts)
    sent = communication(
        o, _one(chunk.communication), 2.0 * fresh / _one(o.case.run.attention_dp) * _one(o.case.llm.hidden)
    )
    read = made(Node("chunk_time", _one(chunk.total), "duration", operation="follows"), prefill(o))
    phases = []
    for key, whole, share, links in (
        ("decode_wait", decode_step(o), 1.0 - reading, network_time(o)),
        ("prefill_wait", read, reading, sent),
    ):
        busy = made(Node("phase_share", share, "share", operation="follows"), load(o))
        waits = share * (links.value or 0.0) / (whole.value or 1.0)
        phases.append(made(Node(key, waits, "share", operation="product"), *times(busy, links, over(whole))))
    root = Node("link_wait", shown.value, "share", "", shown.low, shown.high, operation="sum", family="serving_tpot")
    return made(root, *plus(*phases))


def headroom(o: Operating) -> Node:
    """How far the output within the targets lies above what is asked."""
    shown = o.result.headroom
    asked = load(o)
    return made(
        Node("headroom", shown.value, "headroom", "", shown.low, shown.high, operation="less_one",
             family="max_throughput"),
        *_rate_of(requests(o), asked),
    )  # fmt: skip
