"""Many configurations as one case: every pick is a card, a model, a format and a split of the shipped catalog."""

import itertools
import random
from types import SimpleNamespace

import numpy as np

from gpuplanner.catalog.load import Catalog
from gpuplanner.model import case as cases
from gpuplanner.model import inference, memory, serving, training
from gpuplanner.model.case import Case, GpuColumns, Setting
from gpuplanner.model.training import TrainCase

# Elements of a column at a time: what a step works on stays in the cache of a core.
CHUNK = 16_384
POINTS = 32
_ENGINES = ("vLLM 0.10 and later", "SGLang", "TensorRT-LLM 0.12 and later", "llama.cpp")
_FORMATS = (("bf16", "bf16"), ("fp8", "fp8"), ("int4", "bf16"))
_SPLITS = [(tp, pp, dp) for tp in (1, 2, 4, 8) for pp in (1, 2) for dp in (1, 2, 4)]
_LENGTHS = ((512.0, 128.0), (2048.0, 512.0), (8192.0, 1024.0), (24576.0, 2048.0))
# Targets and spread of an ordinary chat.
WORKLOAD = SimpleNamespace(
    prompt_spread=1.0, first_token_percentile=0.95, per_token_percentile=0.95, first_token_s=2.0, per_token_s=0.05
)


def _known(catalog: Catalog) -> tuple[list, list]:
    """Models, and cards whose bandwidth and rates are known."""
    gpus = [
        gpu
        for gpu in catalog.gpus.values()
        if gpu.memory_bandwidth_bytes_s and gpu.board_power_w and {"bf16", "fp32"} <= gpu.peak_flops.keys()
    ]
    return list(catalog.llms.values()), gpus


def serving_configurations(catalog: Catalog, count: int, seed: int = 1) -> Case:
    """`count` ways to serve, drawn at random: card x model x engine x format x split x lengths."""
    llms, gpus = _known(catalog)
    calibration = catalog.calibration
    choose = random.Random(seed)
    llm_rows, gpu_rows, runs, indices = [], [], [], []
    for _configuration in range(count):
        llm, gpu, engine = choose.choice(llms), choose.choice(gpus), choose.choice(_ENGINES)
        (weights, compute), (tp, pp, dp) = choose.choice(_FORMATS), choose.choice(_SPLITS)
        prompt, answer = choose.choice(_LENGTHS)
        card = cases.gpu_columns(gpu, calibration)
        compute = compute if compute in gpu.peak_flops else "bf16"
        setting = _setting(calibration.architecture(gpu.architecture), gpu.vendor, engine, weights, compute, llm)
        desktop = engine in cases.SINGLE_USER_ENGINES
        llm_rows.append(cases.llm_columns(llm))
        gpu_rows.append(card)
        runs.append(
            (
                _peak(card, setting), tp, pp, dp, 1, 1, *_widths(weights, llm, desktop), 2.0, prompt, answer, 0.0,
                256.0, 8192.0, 0.9, float(engine.startswith("TensorRT")), float(desktop),
                float(engine.startswith("vLLM")), 8.0, 50e9, 0.0, 0.0, 0.0, float(engine == "SGLang"),
            )
        )  # fmt: skip
        indices.append(cases.constants_index(setting, calibration))
    return in_columns(cases.build(llm_rows, gpu_rows, runs, indices, calibration))


# As a search does: what belongs to a pair of entries is derived once.
_setting = cases.IdentityCache(lambda *parts: Setting(*parts[:5], parts[5].moe is not None), limit=10**6)
_peak = cases.IdentityCache(cases.compute_peak, limit=10**6)
_widths = cases.IdentityCache(cases.bytes_per_weight, limit=10**6)


def training_configurations(catalog: Catalog, count: int, seed: int = 1) -> TrainCase:
    """`count` ways to train, drawn at random: card x model x framework x split x recompute x sharding."""
    llms, gpus = _known(catalog)
    calibration = catalog.calibration
    choose = random.Random(seed)
    layouts = list(
        itertools.product((1, 2, 4, 8), (1, 2, 4), (1, 8, 64), (1.0, 2.0, 4.0), (0.0, 1.0, 2.0), (0.0, 1.0, 3.0))
    )
    llm_rows, gpu_rows, runs, indices = [], [], [], []
    for _configuration in range(count):
        llm, gpu = choose.choice(llms), choose.choice(gpus)
        framework = choose.choice(("Megatron and NeMo", "FSDP", "DeepSpeed"))
        tp, pp, dp, micro, recompute, zero = choose.choice(layouts)
        sequence = choose.choice((2048.0, 4096.0, 8192.0))
        card = cases.gpu_columns(gpu, calibration)
        columns = GpuColumns(*card)
        experts = min(dp, 8) if llm.moe else 1
        llm_rows.append(cases.llm_columns(llm))
        gpu_rows.append(card)
        runs.append(
            (
                float(columns.peak16 * columns.sustained), tp * pp * dp, tp, pp, dp, experts, 1, sequence,
                dp * micro * 16.0, micro, 1.0, recompute, zero, 2.0, 0.0, 1.0, 0.0, 12.0, 4.0, 1.0, 1.0, 8.0, 50e9,
                1.0, float(llm.gated_ffn), 0.0, _fed(card, gpu.architecture), 2.0, 1.05,
            )
        )  # fmt: skip
        indices.append(_train_index(gpu, framework, "bf16", calibration))
    built = training.build(llm_rows, gpu_rows, runs, indices, calibration)
    return TrainCase(*_contiguous(built), built.index)


_fed = cases.IdentityCache(lambda card, architecture: training.fed(GpuColumns(*card), architecture))
_train_index = cases.IdentityCache(training.constants_index)


def in_columns(case: Case) -> Case:
    """The same case with each column in one piece of memory."""
    return Case(*_contiguous(case), case.index)


def _contiguous(case) -> tuple:
    kinds = (type(part) for part in case[:-1])
    return tuple(kind(*map(np.ascontiguousarray, part)) for kind, part in zip(kinds, case[:-1], strict=True))


def in_chunks(case, size: int):
    """Views of the case, `size` configurations each."""
    for start in range(0, case.size, size):
        yield case.rows(slice(start, start + size))  # type: ignore[arg-type]


def served(case: Case) -> np.ndarray:
    """Columns of one configuration each: requests held, rate, first token, time a token, memory and compute use."""
    batch, held = inference.largest_batch(case, np.full(case.size, 64.0))
    state = inference.continuous_batching(case, batch)
    first = inference.first_token_open(case, state, np.zeros(case.size))
    return np.array([held, state.output_tokens_s, first, state.per_token_s, *inference.utilisation(case, state)])


def trained(case: TrainCase) -> np.ndarray:
    """Columns of one configuration each: memory of the fullest GPU, time of a step, tokens a second."""
    step = training.train_step(case)
    return np.array([training.train_memory(case).total, step.total, training.tokens_per_second(case, step)])


def within_targets(case: Case) -> np.ndarray:
    """Columns of one configuration each: requests a second within the targets, and the limit."""
    room = memory.sequences_that_fit(case, memory.serving_memory(case), case.run.input + case.run.output / 2.0)
    curve = serving.load_curve(case, WORKLOAD, np.maximum(room, 1.0), POINTS)
    targets = WORKLOAD.first_token_s, WORKLOAD.per_token_s
    return np.array([serving.capacity(curve.requests_s, curve.first_token_s, curve.per_token_s, *targets), curve.limit])
