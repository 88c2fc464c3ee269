"""Predict many measured rows at once: the rows of a kind share one struct of arrays."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gpuplanner.catalog.calibration import Calibration
from gpuplanner.catalog.load import Catalog
from gpuplanner.i18n import _
from gpuplanner.model import case as cases
from gpuplanner.model import cpu, inference, memory, network, offload, power, training
from gpuplanner.model.case import Case, LlmColumns
from gpuplanner.model.inference import Batching
from gpuplanner.model.measured import rows as read_rows
from gpuplanner.model.measured.keys import Keys, Lookup, Unpredictable, family_of
from gpuplanner.model.measured.rows import (
    CLOSED,
    OPEN,
    SATURATED,
    STATIC,
    CapRow,
    CollectiveRow,
    CpuRow,
    DrawRow,
    ServingRow,
    TrainingRow,
)  # fmt: skip
from gpuplanner.units import GIB

# Published runs at a request rate send some hundreds of requests: an overload cannot pile up without end.
_RUN_OF_REQUESTS = 600.0
# What is asked for at once where the engine decides how much it runs.
_ENDLESS = 1e5
# Whole runs lose time to failures, restarts and evaluation, the more the more servers.
_AVAILABLE = 0.90
# Shares of TDP where neither shape nor batch are stated.
_MIXED_SHARE, _DECODE_SHARE, _FULL_SHARE = 0.75, 0.65, 0.95
# Cards without an idle figure: a tenth of their limit.
_IDLE_SHARE = 0.10
_CONTEXT_W = 35.0
_SERVER_KINDS = {"Hopper": 1900.0, "Blackwell data centre": 1900.0, "A100": 1050.0, "CDNA 3": 1900.0, "Gaudi": 1500.0}
_IDLE_OF_BOARD, _IDLE_OF_SLOTS = 0.93, 0.45
_SERVER_SMALL = 100.0
_PCIE_CARD_SHARE_W = 65.0


@dataclass
class Prepared:
    """Rows read into columns, ready to be predicted under any table of constants."""

    rows: list[Mapping[str, Any]]
    families: list[str]
    records: list[Any]
    reasons: list[str | None]
    metrics: list[str]
    scopes: list[str]
    serving: np.ndarray
    serving_case: Case | None
    train: np.ndarray
    train_case: training.TrainCase | None

    def positions(self, kind: type) -> np.ndarray:
        return np.array([i for i, record in enumerate(self.records) if isinstance(record, kind)], int)


def prepare(rows: Sequence[Mapping[str, Any]], catalog: Catalog, calibration: Calibration | None = None) -> Prepared:
    """Read rows; those that cannot be read carry a reason."""
    calibration = calibration or catalog.calibration
    lookup = Lookup(catalog)
    families, records, reasons, metrics, scopes = [], [], [], [], []
    for row in rows:
        family = family_of(row)
        record, reason, metric, scope = None, None, "", "system"
        try:
            keys = Keys(row)
            metric, scope = read_rows.need(keys.text("metric"), "metric"), keys.text("scope") or "system"
            if family not in _FAMILIES or metric not in _METRICS:
                raise Unpredictable(_("No formula predicts “%(metric)s” of this kind of row.") % {"metric": metric})
            record = read_rows.read(row, family, lookup, calibration)
        except Unpredictable as error:
            reason = str(error)
        families.append(family)
        records.append(record)
        reasons.append(reason)
        metrics.append(metric)
        scopes.append(scope)
    serving = [i for i, record in enumerate(records) if isinstance(record, ServingRow)]
    train = [i for i, record in enumerate(records) if isinstance(record, TrainingRow)]
    serving_case = train_case = None
    if serving:
        chosen: list[Any] = [records[i] for i in serving]
        serving_case = cases.build(
            [r.llm for r in chosen],
            [r.gpu for r in chosen],
            [r.run for r in chosen],
            [r.index for r in chosen],
            calibration,
        )
    if train:
        chosen = [records[i] for i in train]
        train_case = training.build(
            [r.llm for r in chosen],
            [r.gpu for r in chosen],
            [r.run for r in chosen],
            [r.index for r in chosen],
            calibration,
        )
    return Prepared(
        list(rows),
        families,
        records,
        reasons,
        metrics,
        scopes,
        np.array(serving, int),
        serving_case,
        np.array(train, int),
        train_case,
    )


_FAMILIES = frozenset(
    {
        "consumer_decode", "consumer_prefill", "consumer_server", "decode_fixed_batch", "serving_tpot",
        "ttft_loaded", "ttft_idle",
        "max_throughput", "throughput_at_concurrency", "request_rate", "cpu_decode", "cpu_prefill", "offload",
        "training", "finetune",
        "gpu_hours", "fit", "kv_capacity", "peak_memory", "power_gpu", "power_server", "energy", "collective",
        "power_cap_speed", "server_draw",
    }
)  # fmt: skip
_METRICS = frozenset(
    {
        "output_tokens_per_s", "total_tokens_per_s", "prefill_tokens_per_s", "ttft_s", "tpot_s", "tokens_per_s",
        "tflops_per_gpu", "mfu", "hfu",
        "step_time_s", "gpu_hours", "fits", "peak_memory_gib", "kv_capacity_tokens", "power_w_per_gpu",
        "power_w_server", "power_w_server_idle",
        "energy_j_per_output_token", "energy_kwh", "busbw_gb_s", "speed_ratio",
    }
)  # fmt: skip


def predict(prepared: Prepared, calibration: Calibration) -> np.ndarray:
    """The predicted value of every row, in the row's metric, unit and scope; nan where none can be given.

    For `fits` 1 is true and 0 false.
    """
    values = np.full(len(prepared.rows), np.nan)
    with np.errstate(all="ignore"):
        if prepared.serving_case is not None:
            values[prepared.serving] = _serving(
                prepared, prepared.serving_case.with_constants(calibration), calibration
            )
        if prepared.train_case is not None:
            values[prepared.train] = _training(prepared, prepared.train_case.with_constants(calibration), calibration)
        _cpu(prepared, values, calibration)
        _collectives(prepared, values)
        _caps(prepared, values)
        _draws(prepared, values, calibration)
    return values


# --- serving ---------------------------------------------------------------------------------------------------------


def _join(parts: list[tuple[np.ndarray, dict[str, np.ndarray]]], size: int) -> dict[str, np.ndarray]:
    joined: dict[str, np.ndarray] = {}
    for at, figures in parts:
        for name, figure in figures.items():
            joined.setdefault(name, np.full(size, np.nan))[at] = figure
    return joined


def _serving(prepared: Prepared, case: Case, calibration: Calibration) -> np.ndarray:
    records: list[ServingRow] = [prepared.records[i] for i in prepared.serving]
    mode = np.array([record.mode for record in records])
    amount = np.array([record.amount for record in records])
    exact = np.array([record.exact_batch for record in records])
    rate = np.array([record.rate for record in records])
    decode_only = np.array([record.decode_only for record in records])
    parts: list[tuple[np.ndarray, dict[str, np.ndarray]]] = []
    for kind, compute in ((STATIC, _static), (CLOSED, _closed), (SATURATED, _closed), (OPEN, _open)):
        at = np.flatnonzero(mode == kind)
        if at.size:
            parts.append(
                (at, compute(case.rows(at), np.minimum(amount[at], _ENDLESS), exact[at], rate[at], decode_only[at]))
            )
    figures = _join(parts, len(records))
    _offloaded(case, records, np.where(np.isfinite(amount), amount, 1.0), figures, calibration)
    if "gap_s" in figures:
        gaps = np.array([record.median_gap for record in records]) & np.isfinite(figures["gap_s"])
        figures["tpot_s"] = np.where(gaps, figures["gap_s"], figures["tpot_s"])
    beams = np.array([record.beams for record in records])
    for name in ("output_tokens_per_s", "total_tokens_per_s"):
        figures[name] = figures[name] / beams
    _memory_figures(case, records, amount, mode, figures)
    figures.update(_power_figures(case, records, figures, calibration))
    values = np.full(len(records), np.nan)
    for here, (i, record) in enumerate(zip(prepared.serving, records, strict=True)):
        values[here] = _serving_value(prepared.metrics[i], prepared.scopes[i], record, figures, here)
    return values


def _serving_value(metric: str, scope: str, record: ServingRow, figures: dict[str, np.ndarray], here: int) -> float:
    if scope == "per_user" and metric == "output_tokens_per_s":
        return float(1.0 / figures["tpot_s"][here])
    name = "fits" if metric == "fits" else metric
    if name not in figures:
        return float("nan")
    value = float(figures[name][here])
    if scope == "per_gpu" and metric in (
        "output_tokens_per_s",
        "total_tokens_per_s",
        "prefill_tokens_per_s",
        "kv_capacity_tokens",
    ):
        return value / record.cards
    if metric == "peak_memory_gib" and scope != "per_gpu":
        return value * record.devices
    return value


def _rates(case: Case, batching: Batching) -> dict[str, np.ndarray]:
    memory_use, compute_use = inference.utilisation(case, batching)
    return {
        "output_tokens_per_s": batching.output_tokens_s,
        "total_tokens_per_s": batching.output_tokens_s * (case.run.input + case.run.output) / case.run.output,
        "memory_use": memory_use,
        "compute_use": compute_use,
    }


def _static(
    case: Case, amount: np.ndarray, exact: np.ndarray, rate: np.ndarray, decode_only: np.ndarray
) -> dict[str, np.ndarray]:
    """A batch that starts and ends together: prefill of all prompts, then the answers."""
    run = case.run
    asked = np.maximum(amount / run.dp, 1.0)
    # A server runs a batch that its cache cannot hold in turns; all of a batch reach their full length together.
    _, room = inference.largest_batch(case, asked, run.input + run.output)
    turns = np.ceil(asked / np.maximum(room, 1.0))
    batch = np.where((run.single_user > 0) | (room < 1.0), asked, asked / turns)
    batching = inference.continuous_batching(case, batch)
    step = batching.step.total
    answer = run.output / inference.accepted_tokens(case)
    chunk = inference.prefill(case, run.input, inference.chunk_prompts(case, batch))
    reading = batch * chunk.total / chunk.prompts
    writing = answer * step
    # Programs for one user report the rate of the answer alone.
    output = batch * run.output * run.dp / (writing + np.where(decode_only, 0.0, reading))
    figures = _rates(case, batching._replace(cycle_s=reading + writing))
    figures["output_tokens_per_s"] = output
    figures["total_tokens_per_s"] = batch * (run.input + run.output) * run.dp / (writing + reading)
    figures["tpot_s"] = step / inference.accepted_tokens(case)
    figures["ttft_s"] = inference.first_token_idle(case, asked)
    figures["prefill_tokens_per_s"] = batch * run.input * run.dp / reading
    return figures


def _closed(
    case: Case, amount: np.ndarray, exact: np.ndarray, rate: np.ndarray, decode_only: np.ndarray
) -> dict[str, np.ndarray]:
    """So many requests in flight at all times."""
    wanted = np.maximum(amount / case.run.dp, 1.0)
    fitted, room = inference.largest_batch(case, wanted)
    # What ran had room: where our sum says that not one sequence fits, all are taken to.
    fitted, room = np.where(room < 1.0, wanted, fitted), np.where(room < 1.0, np.maximum(wanted, 1.0), room)
    batch = np.maximum(np.where(exact, wanted, fitted), 1.0)
    waiting = np.where(exact, 0.0, np.maximum(wanted - room, 0.0) / np.maximum(room, 1.0))
    batching = inference.continuous_batching(case, batch)
    figures = _rates(case, batching)
    figures["tpot_s"] = batching.per_token_s
    figures["gap_s"] = inference.median_gap(case, batching)
    figures["ttft_s"] = inference.first_token_loaded(case, batching, waiting)
    figures["prefill_tokens_per_s"] = batching.requests_s * case.run.input
    return figures


def _open(
    case: Case, amount: np.ndarray, exact: np.ndarray, rate: np.ndarray, decode_only: np.ndarray
) -> dict[str, np.ndarray]:
    """Requests that come at a rate, whether or not earlier ones are done."""
    served = inference.open_loop(case, rate / case.run.dp, _RUN_OF_REQUESTS)
    figures = _rates(case, served.batching)
    output = served.requests_s * case.run.dp * case.run.output
    figures["output_tokens_per_s"] = output
    figures["total_tokens_per_s"] = output * (case.run.input + case.run.output) / case.run.output
    figures["tpot_s"] = served.per_token_s
    figures["ttft_s"] = served.first_token_s
    figures["prefill_tokens_per_s"] = served.requests_s * case.run.dp * case.run.input
    return figures


def _offloaded(
    case: Case, records: list[ServingRow], batch: np.ndarray, figures: dict[str, np.ndarray], calibration: Calibration
) -> None:
    """Replace the speeds of rows whose experts, or layers that do not fit, are computed in the host's memory."""
    at = np.flatnonzero([bool(record.offload) for record in records])
    if not at.size:
        return
    part, n = case.rows(at), batch[at]
    run = part.run
    experts = np.array([records[i].offload == "experts" for i in at])
    bandwidth = np.array([records[i].host_bandwidth for i in at])
    sockets = np.array([records[i].sockets for i in at])
    token, reading, _ = offload.offloaded(part, n, experts, bandwidth, sockets, calibration)
    figures["tpot_s"][at] = token
    figures["output_tokens_per_s"][at] = n / token
    figures["total_tokens_per_s"][at] = n * (run.input + run.output) / (reading + run.output * token)
    figures["prefill_tokens_per_s"][at] = n * run.input / reading
    figures["ttft_s"][at] = reading + token


def _memory_figures(
    case: Case, records: list[ServingRow], amount: np.ndarray, mode: np.ndarray, figures: dict[str, np.ndarray]
) -> None:
    store = memory.serving_memory(case)
    context = np.array([record.context for record in records])
    longest = np.array([record.longest for record in records])
    longest = np.where(
        np.isfinite(longest), longest, np.where(np.isfinite(case.llm.max_context), case.llm.max_context, 8192.0)
    )
    sequences = np.where((mode == STATIC) & np.isfinite(amount), amount / case.run.dp, 1.0)
    scores = memory.attention_buffer(case, context)
    roomy = store._replace(budget=store.budget - scores)
    figures["fits"] = (memory.sequences_that_fit(case, roomy, context) >= sequences).astype(float)
    figures["kv_capacity_tokens"] = memory.cache_tokens(case, store, longest) * case.run.dp
    cache = memory.cache_per_gpu(case, context) * sequences / case.run.attention_dp
    used = store.weights + store.activations + store.runtime + cache + scores
    pooled = (case.run.single_user == 0) & (case.run.memory_fraction < 1.0)
    figures["peak_memory_gib"] = np.where(pooled, np.maximum(store.usable, used), used) / GIB


def _power_figures(
    case: Case, records: list[ServingRow], figures: dict[str, np.ndarray], calibration: Calibration
) -> dict[str, np.ndarray]:
    tdp = case.gpu.tdp
    idle = np.where(np.isfinite(case.gpu.idle), case.gpu.idle, _IDLE_SHARE * tdp)
    cap = np.array([record.cap_w for record in records])
    gpu_w = power.gpu_power(idle, tdp, figures["memory_use"], figures["compute_use"], calibration)
    gpu_w = np.where(np.isfinite(cap), np.minimum(gpu_w, cap), gpu_w)
    devices = np.array([record.devices for record in records])
    cards = np.array([record.cards for record in records])
    in_server = np.minimum(cards, case.run.in_server)
    base = np.array([server_base(r.setting.architecture, r.gpu, n) for r, n in zip(records, in_server, strict=True)])
    per_card = gpu_w * devices / cards
    server_w = power.server_power(base, in_server, per_card)
    wall = np.array([record.at_the_wall for record in records])
    return {
        "power_w_per_gpu": per_card,
        "power_w_server": server_w,
        # Benchmarks with a power analyser count the whole server.
        "energy_j_per_output_token": np.where(wall, server_w, gpu_w * devices) / figures["output_tokens_per_s"],
    }


def idle_share(card: Any, cards: float) -> float:
    """Share of its base that a server draws while its cards do nothing.

    Readings: 2.38 kW for 8 H200 of 75 W and 1.48 kW for 8 A100 of 53 W, next to 0.65 kW for 8 A100 in PCIe slots.
    """
    return _IDLE_OF_BOARD if cards >= 4 and card.link_domain >= 8 else _IDLE_OF_SLOTS


def server_base(architecture: str, gpu: np.ndarray, cards: float) -> float:
    """Power of a server beside its cards under load: boards with eight linked modules, or cards in slots. [W]"""
    card = cases.GpuColumns(*gpu)
    if cards >= 4 and card.link_domain >= 8:
        return _SERVER_KINDS.get(architecture, 1500.0) * min(cards, 8.0) / 8.0
    return _SERVER_SMALL + _PCIE_CARD_SHARE_W * cards


# --- training --------------------------------------------------------------------------------------------------------


def _training(prepared: Prepared, case: training.TrainCase, calibration: Calibration) -> np.ndarray:
    records: list[TrainingRow] = [prepared.records[i] for i in prepared.train]
    step = training.train_step(case)
    rate = training.tokens_per_second(case, step)
    cards = np.array([record.cards for record in records])
    peak = np.array([record.peak for record in records])
    tokens = np.array([record.tokens for record in records])
    per_node = np.array([record.per_node for record in records])
    cap = np.array([record.cap_w for record in records])
    used = training.train_memory(case).total
    flop = training.flop_per_token(case.llm, case.run.sequence)
    recomputed = np.where(case.run.recompute >= training.RECOMPUTE_FULL, 4.0 / 3.0, 1.0)
    printed = np.where([record.counts_recompute for record in records], recomputed, 1.0)
    tdp = case.gpu.tdp
    gpu_w = np.where(np.isfinite(cap), np.minimum(cap, tdp), power.TRAINING_SHARE_OF_TDP * tdp)
    devices_per_card = case.run.n_gpus / cards
    base = np.array([server_base(record.architecture, record.gpu, record.per_node) for record in records])
    stated_hours = np.array([record.gpu_hours for record in records])
    seconds = np.where(np.isfinite(stated_hours), stated_hours * 3600.0 / cards, tokens / rate)
    figures = {
        "tokens_per_s": rate,
        "step_time_s": step.total,
        "tflops_per_gpu": rate * flop * printed / cards / 1e12,
        "mfu": training.model_flops_utilisation(case, rate, peak),
        "hfu": training.model_flops_utilisation(case, rate, peak) * recomputed,
        "gpu_hours": seconds / 3600.0 * cards / _AVAILABLE,
        "fits": (used <= case.gpu.memory).astype(float),
        "peak_memory_gib": used / GIB,
        "power_w_per_gpu": gpu_w * devices_per_card,
        "power_w_server": power.server_power(base, per_node, gpu_w * devices_per_card),
        "energy_kwh": gpu_w * case.run.n_gpus * seconds / 3.6e6,
    }
    values = np.full(len(records), np.nan)
    for here, i in enumerate(prepared.train):
        metric, scope = prepared.metrics[i], prepared.scopes[i]
        if metric not in figures:
            continue
        value = float(figures[metric][here])
        if metric == "tokens_per_s" and scope == "per_gpu":
            value /= cards[here]
        elif metric == "tokens_per_s" and scope == "per_node":
            value /= cards[here] / per_node[here]
        elif metric == "peak_memory_gib" and scope == "system":
            value *= case.run.n_gpus[here]
        values[here] = value
    return values


# --- the rest --------------------------------------------------------------------------------------------------------


def _cpu(prepared: Prepared, values: np.ndarray, calibration: Calibration) -> None:
    at = prepared.positions(CpuRow)
    if not at.size:
        return
    records: list[CpuRow] = [prepared.records[i] for i in at]
    llm = LlmColumns(*np.array([record.llm for record in records]).T)
    body, expert, rest = np.array([record.bytes_per_weight for record in records]).T
    columns = np.array(
        [
            (
                r.kv_bytes,
                r.bandwidth,
                r.sockets,
                r.cores,
                r.avx512,
                r.server,
                r.tuned,
                r.eight_bit,
                r.input,
                r.output,
            )
            for r in records
        ],
        float,
    ).T
    kv, bandwidth, sockets, cores, avx512, server, tuned, eight_bit, prompt, answer = columns
    active = llm.nonexpert * body + llm.experts_per_token * llm.expert * expert + llm.head * rest
    cache = (llm.kv_full + llm.kv_window) * (prompt + answer / 2.0) * kv + llm.state_bytes
    token = cpu.cpu_decode_s(active + cache, bandwidth, sockets, llm.experts, calibration)
    flop = (
        2.0 * (llm.active - llm.head) * prompt
        + 2.0 * llm.head
        + prompt**2 / 2.0 * (llm.prefill_full + llm.prefill_window)
    )
    rows = np.where(llm.experts > 0, prompt * llm.experts_per_token / np.maximum(llm.experts, 1.0), np.inf)
    peak = cpu.cpu_peak(cores, avx512 > 0, server > 0)
    reading = cpu.cpu_prefill_s(flop, peak, tuned > 0, calibration, eight_bit > 0, rows)
    figures = {
        "tpot_s": token,
        "output_tokens_per_s": 1.0 / token,
        "total_tokens_per_s": (prompt + answer) / (reading + answer * token),
        "prefill_tokens_per_s": prompt / reading,
        "ttft_s": reading + token,
    }
    for here, i in enumerate(at):
        if prepared.metrics[i] in figures:
            values[i] = figures[prepared.metrics[i]][here]


def _collectives(prepared: Prepared, values: np.ndarray) -> None:
    for i in prepared.positions(CollectiveRow):
        record: CollectiveRow = prepared.records[i]
        link = network.COLLECTIVE_LINKS[record.link_kind]._asdict()
        if not record.multicast:
            link["multicast_efficiency"] = 0.0
        if record.link_kind == "pcie":
            link["ring_efficiency"] = float(network.pcie_efficiency(record.ranks / record.nodes, True))
        values[i] = float(
            network.collective_bus_bandwidth(
                record.message_bytes, record.ranks, record.link_bytes_s, **link, nodes=record.nodes,
                node_network_bytes_s=record.node_bytes_s,
                network_latency_s=network.EFA_NETWORK_LATENCY_S if record.efa else network.NETWORK_LATENCY_S,
                passes=network.PASSES.get(record.operation, 2.0),
            )
        ) / 1e9  # fmt: skip


def _caps(prepared: Prepared, values: np.ndarray) -> None:
    for i in prepared.positions(CapRow):
        record: CapRow = prepared.records[i]
        share = (record.cap_w - record.idle_w) / (record.reference_w - record.idle_w)
        values[i] = float(power.power_cap_speed(np.array(share), not record.memory_bound))


def _draws(prepared: Prepared, values: np.ndarray, calibration: Calibration) -> None:
    """Servers and cards whose work is named at most by a word."""
    for i in prepared.positions(DrawRow):
        record: DrawRow = prepared.records[i]
        card: Any = cases.GpuColumns(*record.gpu)
        idle = card.idle if np.isfinite(card.idle) else _IDLE_SHARE * card.tdp
        if "idle" in record.load or "context" in record.load:
            gpu_w = idle + (_CONTEXT_W if "context" in record.load else 0.0)
        else:
            share = _DECODE_SHARE if "decod" in record.load else _FULL_SHARE if "train" in record.load else _MIXED_SHARE
            gpu_w = idle + (card.tdp - idle) * share
        if np.isfinite(record.cap_w):
            gpu_w = min(gpu_w, record.cap_w)
        metric = prepared.metrics[i]
        if metric == "power_w_per_gpu":
            values[i] = gpu_w
        elif metric in ("power_w_server", "power_w_server_idle"):
            base = server_base(record.architecture, record.gpu, record.cards)
            values[i] = base * (idle_share(card, record.cards) if "idle" in record.load else 1.0) + record.cards * gpu_w


# --- rules of thumb --------------------------------------------------------------------------------------------------

_NAIVE_UTILISATION = 0.5
_NAIVE_MFU = 0.4
_NAIVE_POWER = 0.7


def naive(prepared: Prepared) -> np.ndarray:
    """What rules of thumb say, to compare with; nan where there is none.

    Decode: active weight bytes by bandwidth. Prefill and first token: 2 N at half of the peak. Most throughput: 2 N (I
    + O) at half of the peak. Training: 6 N D at 40 % of the peak. Power: 0.7 of TDP.
    """
    values = np.full(len(prepared.rows), np.nan)
    for i, record in enumerate(prepared.records):
        metric, family = prepared.metrics[i], prepared.families[i]
        if isinstance(record, ServingRow):
            llm, run = cases.LlmColumns(*record.llm), cases.RunColumns(*np.array(record.run))
            card = cases.GpuColumns(*record.gpu)
            read = (
                llm.nonexpert * run.body_bytes
                + llm.experts_per_token * llm.expert * run.expert_bytes
                + llm.head * run.head_bytes
            )
            token = read / (run.tp * card.bandwidth)
            reading = 2.0 * llm.active * run.input / (_NAIVE_UTILISATION * run.peak * run.tp)
            batch = min(record.amount, 1e4) if np.isfinite(record.amount) else 1.0
            if metric == "power_w_per_gpu":
                values[i] = _NAIVE_POWER * card.tdp * record.devices / record.cards
            elif metric == "tpot_s":
                values[i] = token
            elif metric == "ttft_s":
                values[i] = reading
            elif metric == "prefill_tokens_per_s":
                values[i] = run.input / reading
            elif metric in ("output_tokens_per_s", "total_tokens_per_s") and family == "max_throughput":
                total = _NAIVE_UTILISATION * run.peak * record.devices / (2.0 * llm.active)
                values[i] = total if metric == "total_tokens_per_s" else total * run.output / (run.input + run.output)
            elif metric == "output_tokens_per_s":
                values[i] = batch / token if prepared.scopes[i] != "per_user" else 1.0 / token
        elif isinstance(record, TrainingRow):
            train = training.TrainColumns(*np.array(record.run))
            rate = _NAIVE_MFU * record.peak * train.n_gpus / (6.0 * cases.LlmColumns(*record.llm).active)
            if metric == "tokens_per_s":
                values[i] = rate / (record.cards if prepared.scopes[i] == "per_gpu" else 1.0)
            elif metric == "step_time_s":
                values[i] = train.global_batch * train.sequence / rate
    return values
