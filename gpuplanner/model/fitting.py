"""One group fine-tuning or training: choose the layout, then say how long it takes.

Every legal tensor, pipeline and sharding layout with its largest micro-batch that fits becomes a row of one case; the
fastest row that fits wins, ties go to the smaller tensor and pipeline degree.
"""

from datetime import date
from typing import NamedTuple

import numpy as np

from gpuplanner.catalog import compatibility
from gpuplanner.catalog.load import Catalog
from gpuplanner.catalog.schema import Llm, Runtime
from gpuplanner.model import case as cases
from gpuplanner.model import evidence, hardware, link_waits, own_rows, parallelism, training
from gpuplanner.model.bands import between, scaled, spread
from gpuplanner.model.case import IdentityCache
from gpuplanner.model.plan import FineTune, Group, Network, Run, Train
from gpuplanner.model.power import TRAINING_SHARE_OF_TDP
from gpuplanner.model.results import NOT_KNOWN, Basis, Check, Choice, Demand, MemoryUse, Part, TrainResult
from gpuplanner.model.serving import choose_runtime, judged
from gpuplanner.units import SECONDS_PER_DAY

_ZERO = {"zero0": 0.0, "zero1": 1.0, "zero2": 2.0, "zero3": 3.0}
_RECOMPUTE = {
    "none": training.RECOMPUTE_NONE,
    "selective": training.RECOMPUTE_SELECTIVE,
    "full": training.RECOMPUTE_FULL,
}
_MICRO_BATCHES = (1, 2, 4, 8, 16, 32)
# Pre-training takes about four million tokens a step, a small model less; fine-tuning small batches that still fill the
# cards.
_TRAIN_STEP_TOKENS = 4e6
_TRAIN_STEP_TOKENS_SMALL = 1e6
_SMALL_MODEL = 10e9
_FINETUNE_SEQUENCES = 64
# Runs of weeks on a thousand cards and more lose 5 to 10 % to failures and restarts.
_AVAILABILITY_LARGE, _LARGE_CLUSTER = 0.93, 1000
_USABLE_SHARE = 0.97
_SAFE_SHARE = 0.95
# Frozen weights need no gradient of their own: four FLOP a parameter and token instead of six.
_FROZEN_SHARE = 2.0 / 3.0
_TIE = 1e-9
_SHARDING = {
    "FSDP": ("zero3",),
    "llm-foundry": ("zero3",),
    "HF Trainer and PEFT": ("zero0", "zero3"),
    "DeepSpeed": ("zero1", "zero2", "zero3"),
}
_BINDS = {
    "matrix": "compute", "attention": "compute", "elementwise": "bandwidth", "tensor_communication": "communication",
    "expert_communication": "communication", "context_communication": "communication", "launch": "host",
    "bubble": "pipeline",
    "data_communication": "network", "optimizer": "optimizer", "stragglers": "network",
}  # fmt: skip
_COMPUTE_BITS = {"fp32": 4.0, "tf32": 4.0}


class Layout(NamedTuple):
    """One way to lay a training run out."""

    tp: int
    pp: int
    dp: int
    ep: int
    cp: int
    micro: int
    sharding: str
    recompute: str
    optimizer: str
    interleave: int
    offload: str


def _stated(value: object, options: tuple) -> tuple:
    return options if value == "auto" else (value,)


def compute_format(run: Run, hard: hardware.Hardware) -> str:
    """The stated compute type, else BF16 where the card has it, else FP16."""
    if run.compute != "auto":
        return run.compute
    assert hard.gpu is not None
    return "bf16" if "bf16" in hard.gpu.peak_flops else "fp16"


def global_batch(workload: FineTune | Train, llm: Llm) -> int:
    """Sequences in a step: stated, or the usual size."""
    if workload.global_batch != "auto":
        return workload.global_batch
    if workload.kind == "finetune":
        return _FINETUNE_SEQUENCES
    tokens = _TRAIN_STEP_TOKENS if llm.params_total > _SMALL_MODEL else _TRAIN_STEP_TOKENS_SMALL
    return max(round(tokens / workload.sequence_tokens), 1)


def _layouts(
    run: Run, workload: FineTune | Train, llm: Llm, hard: hardware.Hardware, runtime: Runtime, batch: int
) -> tuple[list[Layout], Check | None]:
    devices, per_server = hard.devices, hard.devices_per_server
    widest = min(devices, max(per_server, hard.link_domain if hard.link_domain > 8 else 1), 16)
    frameworks = runtime.engine or "other"
    splits_layers = runtime.tensor_parallel is not False and frameworks in ("Megatron and NeMo", "other")
    tensor = [tp for tp in parallelism.tensor_degrees(llm, widest) if tp <= 16] if splits_layers else [1]
    sharding = _SHARDING.get(frameworks, ("zero1",))
    layouts = []
    refused: Check | None = None
    for tp in _stated(run.tp, tuple(tensor)):
        pipeline = [
            1 << step for step in range(7) if splits_layers and tp << step <= devices and llm.layers % (1 << step) == 0
        ] or [1]
        for pp in _stated(run.pp, tuple(pipeline)):
            cp = 1 if run.cp == "auto" else run.cp
            dp = max(devices // (tp * pp * cp), 1) if run.dp == "auto" else run.dp
            ep = 1
            if llm.moe is not None:
                ep = run.ep if run.ep != "auto" else _expert_ranks(llm.moe.experts, min(dp, max(per_server // tp, 1)))
            split = parallelism.Split(tp, pp, dp * cp, ep)
            bad = parallelism.refusal(llm, runtime, split, devices, per_server, hard.link_domain)
            if bad is not None:
                refused = Check("fail", bad.key, bad.numbers)
                continue
            for shard in _stated(run.sharding, sharding):
                for recompute in _stated(run.recompute, ("none", "full")):
                    for micro in _stated(run.micro_batch, _MICRO_BATCHES):
                        if micro * dp <= max(batch, dp):
                            layouts.append(
                                Layout(
                                    tp, pp, dp, ep, cp, micro, shard, recompute,
                                    "adamw" if run.optimizer == "auto" else run.optimizer,
                                    1 if run.interleave == "auto" else run.interleave,
                                    "none" if run.offload == "auto" else run.offload,
                                )
                            )  # fmt: skip
    return layouts, refused


def _expert_ranks(experts: int, most: int) -> int:
    return max((ranks for ranks in range(1, most + 1) if experts % ranks == 0 and ranks & (ranks - 1) == 0), default=1)


def build_case(
    layouts: list[Layout],
    run: Run,
    workload: FineTune | Train,
    llm: Llm,
    hard: hardware.Hardware,
    runtime: Runtime,
    batch: int,
    compute: str,
    catalog: Catalog,
) -> training.TrainCase:
    """The case whose rows are the layouts."""
    calibration = catalog.calibration
    assert hard.gpu is not None
    card = hardware.card_columns(hard, catalog, decode_bound=False)
    shape: np.ndarray = cases.llm_columns(llm)
    columns = cases.GpuColumns(*card)
    rate = {
        "fp32": columns.peak32,
        "tf32": columns.tf32,
        "fp8": columns.peak_fp8,
        "int8": columns.peak_int8,
        "fp4": columns.peak_fp4,
    }.get(compute, columns.peak16)
    peak = float(rate * columns.sustained)
    architecture = calibration.architecture(hard.gpu.architecture)
    framework = runtime.engine or "other"
    index = training.constants_index(hard.gpu, framework, compute, calibration)
    full, quantised, adapters = 1.0, 0.0, 0.0
    weight_bytes = _COMPUTE_BITS.get(compute, 2.0)
    if isinstance(workload, FineTune) and workload.method != "full":
        full = 0.0
        adapters = training.adapter_parameters(
            llm.hidden,
            llm.kv_heads * llm.head_dim,
            llm.heads * llm.head_dim,
            llm.ffn_width or 0,
            llm.layers,
            workload.rank,
            workload.adapter_targets,
            llm.gated_ffn,
        )
        if workload.method == "qlora":
            quantised, weight_bytes = 1.0, cases.WEIGHT_FORMATS["nf4"].bits / 8
    gradient = 4.0 if framework == "Megatron and NeMo" or compute in _COMPUTE_BITS else 2.0
    rows = [
        (
            peak, layout.tp * layout.pp * layout.dp * layout.cp, layout.tp, layout.pp, layout.dp, layout.ep,
            layout.cp, workload.sequence_tokens, max(batch, layout.dp),
            layout.micro, layout.interleave, _RECOMPUTE[layout.recompute], _ZERO[layout.sharding], weight_bytes,
            adapters, full, quantised,
            training.OPTIMIZER_BYTES[layout.optimizer] - (4.0 if compute in _COMPUTE_BITS else 0.0), gradient,
            training.flash_attention(architecture, framework), 1.0,
            hard.devices_per_server, hard.network_per_device,
            1.0 if framework in ("Megatron and NeMo", "FSDP") else 0.0, float(llm.gated_ffn),
            float(layout.offload == "optimizer"), training.fed(columns, hard.gpu.architecture),
            training.ends_bytes(framework), training.fragmentation(framework),
        )
        for layout in layouts
    ]  # fmt: skip
    return training.build([shape], [card], rows, [index] * len(rows), calibration)


class Trained(NamedTuple):
    """The chosen layout and what follows from it, independent of room and money."""

    result: TrainResult
    evidence: evidence.Evidence | None
    tokens_s_16_bit: float


def run_training(
    workload: FineTune | Train, group: Group, network: Network, run: Run, llm: Llm, catalog: Catalog
) -> Trained:
    """Choose a layout and predict the run."""
    hard = hardware.resolved(group, network, catalog)
    runtime = choose_runtime(run, workload.kind, hard, group, catalog)
    nothing = TrainResult(
        workload.id, 0, None, Check("unknown", "not_known", {"reason": "runtime"}), Check("unknown", "not_known"),
        None, NOT_KNOWN, NOT_KNOWN, NOT_KNOWN, NOT_KNOWN,
        NOT_KNOWN, deadline_of(workload), NOT_KNOWN, NOT_KNOWN, NOT_KNOWN, "", 0.0,
    )  # fmt: skip

    def refuse(check: Check) -> Trained:
        return Trained(nothing._replace(refusal=check), None, float("nan"))

    if hard.gpu is None and group.gpu:
        return refuse(Check("unknown", "unknown_card", {"gpu": group.gpu}))
    if hard.gpu is None or hard.devices == 0:
        return refuse(Check("fail", "training_needs_gpu"))
    if hard.gpu.memory_bandwidth_bytes_s is None or not hard.gpu.peak_flops:
        return refuse(Check("unknown", "card_figures_missing", {"gpu": hard.gpu.name}))
    if runtime is None and run.runtime != "auto":
        return refuse(Check("unknown", "runtime_not_scored", {"runtime": run.runtime}))
    if runtime is None:
        return refuse(Check("fail", "no_runtime", {"gpu": hard.gpu.name}))
    if runtime.use not in ("training", "finetune"):
        return refuse(Check("fail", "runtime_does_not_train", {"runtime": runtime.name}))
    compute = compute_format(run, hard)
    version = None if run.version == "auto" else run.version
    asked = None if run.compute == "auto" else compute
    verdict = judged(catalog, hard.gpu, runtime, version, None, asked, group.os, llm, hard.devices, group.servers)
    if verdict.answer == "fails":
        return refuse(
            Check(
                "fail",
                "runtime_fails",
                {"runtime": runtime.name, "gpu": hard.gpu.name, "reason": compatibility.SpokenVerdict(verdict)},
            )
        )
    if compute not in hard.gpu.peak_flops:
        return refuse(Check("fail", "no_compute_unit", {"gpu": hard.gpu.name, "compute": compute}))
    batch = global_batch(workload, llm)
    layouts, refused = _layouts(run, workload, llm, hard, runtime, batch)
    if not layouts:
        return refuse(refused or Check("fail", "batch_too_small", {"batch": batch, "gpus": hard.devices}))
    case = build_case(layouts, run, workload, llm, hard, runtime, batch, compute, catalog)
    used = training.train_memory(case)
    usable = _USABLE_SHARE * case.gpu.memory
    fits = used.total <= usable
    # The automatic choice leaves the margin under which a fit counts as safe, where it can.
    safe = used.total <= _SAFE_SHARE * usable
    allowed = safe if safe.any() else fits
    step = training.train_step(case)
    speed = np.nan_to_num(training.tokens_per_second(case, step), nan=0.0)
    score = np.where(allowed, speed, 0.0) if fits.any() else -used.total
    near = np.flatnonzero(score >= score.max() - abs(score.max()) * _TIE)
    at = int(near[np.lexsort((case.run.pp[near], case.run.tp[near]))[0]])
    layout = layouts[at]
    seen = evidence.training(
        catalog.calibration,
        catalog.calibration.architecture(hard.gpu.architecture),
        hard.gpu,
        llm,
        runtime.engine or "other",
        workload.sequence_tokens,
        layout.cp > 1,
    )
    family = "finetune" if workload.kind == "finetune" else "training"
    faster = 1.0
    if catalog.own_rows is not None:
        method = workload.method if isinstance(workload, FineTune) else "full"
        like = own_rows.training_like(
            hard.gpu, llm, catalog.calibration, runtime.engine or "other", method, float(workload.sequence_tokens)
        )
        seen = own_rows.informed(catalog.calibration, seen, like, (family,), catalog.own_rows.residuals)
        faster = evidence.shift(seen, family)
        speed = speed * faster
    factor = evidence.factor(catalog.calibration, family, seen)
    basis: Basis = "predicted" if seen.validated else "not validated"
    one_step = training.TrainStep(*(column[at] for column in step))
    parts = tuple(
        Part(name, float(value) / faster)
        for name, value in zip(training.TrainStep._fields, one_step, strict=True)
        if value
    )
    seconds = float(one_step.total) / faster
    tokens_s = float(speed[at])
    shown = basis if fits[at] else "not validated"
    step_figure = spread(seconds, factor, shown, parts) if fits[at] else NOT_KNOWN
    speed_figure = spread(tokens_s, factor, shown) if fits[at] else NOT_KNOWN
    tokens = workload.tokens if isinstance(workload, Train) else workload.tokens_per_epoch * workload.epochs
    availability = _AVAILABILITY_LARGE if hard.devices >= _LARGE_CLUSTER else 1.0
    duration = spread(tokens / tokens_s / availability, factor, shown) if fits[at] and tokens_s > 0 else NOT_KNOWN
    peak = float(case.run.peak[at] / case.gpu.sustained[at])
    mfu = float(training.model_flops_utilisation(case, speed, np.asarray(peak))[at])
    if isinstance(workload, FineTune) and workload.method != "full":
        mfu *= _FROZEN_SHARE
    memory_use = MemoryUse(
        float(used.weights[at]), 0.0, float(used.activations[at]), float(used.gradients[at]),
        float(used.optimizer[at]), float(used.runtime[at]),
        hard.gpu.memory_bytes.value / hard.gpu.gpus_per_card, float(usable[at]),
    )  # fmt: skip
    share = memory_use.used / memory_use.usable
    memory_factor = catalog.calibration.band("peak_memory").factor_50 ** seen.power
    names = (
        ("weights", memory_use.weights),
        ("gradients", memory_use.gradients),
        ("optimizer", memory_use.optimizer),
        ("activations", memory_use.activations),
        ("runtime", memory_use.runtime),
    )
    if fits[at]:
        fit = Check("warn", "tight_memory", {"share": share}) if share > 0.95 else Check("ok", "fits", {"share": share})
    else:
        fit = Check(
            "fail",
            "does_not_fit",
            {"need_bytes": memory_use.used, "usable_bytes": memory_use.usable, "gpu": hard.gpu.name},
        )
    wait, waits = link_waits.of_training(case, at, one_step, hard, factor, shown)
    named = {part.name: part.value for part in parts}
    binds = _BINDS.get(max(named, key=lambda name: named[name]), "") if named else ""
    gpu_w = NOT_KNOWN
    tdp = float(case.gpu.tdp[at])
    if np.isfinite(tdp) and fits[at]:
        cap = hard.power_cap_w or tdp
        gpu_w = between(min(TRAINING_SHARE_OF_TDP * tdp, cap), min(0.8 * tdp, cap), min(tdp, cap), "predicted")
    auto = frozenset(
        name
        for name in (
            "runtime",
            "version",
            "compute",
            "tp",
            "pp",
            "dp",
            "ep",
            "cp",
            "sharding",
            "recompute",
            "micro_batch",
            "optimizer",
            "interleave",
        )
        if getattr(run, name) == "auto"
    )
    weights = "nf4" if isinstance(workload, FineTune) and workload.method == "qlora" else compute
    choice = Choice(
        llm.name, runtime.name, "" if run.version == "auto" else run.version, runtime.engine or "other", weights,
        compute, "", layout.tp, layout.pp, layout.dp, layout.ep,
        layout.cp, False, 0, layout.micro, layout.sharding, layout.recompute, layout.optimizer, layout.interleave,
        int(case.run.global_batch[at]), auto,
    )  # fmt: skip
    state = Check("ok")
    if verdict.answer == "works with limits":
        state = Check(
            "warn",
            "runtime_limits",
            {"runtime": runtime.name, "gpu": hard.gpu.name, "reason": compatibility.SpokenVerdict(verdict)},
        )
    elif verdict.answer == "not known":
        state = Check("warn", "runtime_unknown", {"runtime": runtime.name, "gpu": hard.gpu.name})
    reference = float("nan")
    if compute == "fp32" and fits[at]:
        sixteen = build_case(
            [layout],
            run,
            workload,
            llm,
            hard,
            runtime,
            batch,
            "bf16" if "bf16" in hard.gpu.peak_flops else "fp16",
            catalog,
        )
        reference = float(training.tokens_per_second(sixteen, training.train_step(sixteen))[0]) * faster
    result = nothing._replace(
        choice=choice, refusal=state, fits=fit, memory=memory_use,
        memory_share=spread(share, memory_factor, basis, tuple(Part(name, value / memory_use.usable) for name,
        value in names)),
        step_s=step_figure, tokens_s=speed_figure,
        mfu=between(mfu, mfu / factor, min(mfu * factor, 1.0), shown) if fits[at] else NOT_KNOWN,
        duration_s=duration,
        gpu_hours=scaled(duration, hard.devices / 3600.0), gpu_power_w=gpu_w, binds=binds,
        communication_share=wait.value or 0.0, link_wait=wait if fits[at] else NOT_KNOWN,
        waits=waits if fits[at] else (),
    )  # fmt: skip
    return Trained(own_rows.marked(result, catalog.calibration, seen), seen, reference)


def demand_of(workload: FineTune | Train, llm: Llm | None) -> Demand:
    """What a training workload asks for: the FLOP of the whole run, forward and backward, recompute not counted."""
    work = None
    if llm is not None:
        columns = cases.LlmColumns(*cases.llm_columns(llm))
        flop = float(training.flop_per_token(columns, np.asarray(float(workload.sequence_tokens))))
        if isinstance(workload, FineTune) and workload.method != "full":
            flop *= _FROZEN_SHARE
        tokens = workload.tokens if isinstance(workload, Train) else workload.tokens_per_epoch * workload.epochs
        work = flop * tokens
    return Demand(workload.id, None, None, None, None, work, None)


def deadline_of(workload: FineTune | Train) -> float | None:
    """Seconds between start and deadline, or the stated time; None where there is no deadline."""
    if workload.deadline_s is not None:
        return workload.deadline_s
    if workload.start and workload.deadline:
        days = (date.fromisoformat(workload.deadline) - date.fromisoformat(workload.start)).days
        return max(days, 0) * SECONDS_PER_DAY
    return None


trained = IdentityCache(run_training, limit=512)
