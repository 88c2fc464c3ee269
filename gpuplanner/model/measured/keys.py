"""Measured rows as they come: keys read with care, names resolved, families told apart.

Every key may be missing or of the wrong type; what a prediction needs and cannot read becomes an `Unpredictable` with
a sentence.
"""

import math
import re
from collections.abc import Mapping
from typing import Any

from gpuplanner.catalog.load import Catalog
from gpuplanner.catalog.query import AmbiguousName, UnknownName, resolve
from gpuplanner.i18n import _
from gpuplanner.model.case import SINGLE_USER_ENGINES, WEIGHT_FORMATS, engine_row

LARGEST = 1e30


class Unpredictable(ValueError):
    """A row that cannot be predicted; the text says why, for people."""


class Keys:
    """The keys of one row. A key of the wrong type is refused by name, a missing or null one is None."""

    def __init__(self, row: Mapping[str, Any]) -> None:
        self._row = row

    def has(self, key: str) -> bool:
        return self._row.get(key) is not None

    def number(self, key: str, least: float = 0.0) -> float | None:
        """A finite number of at least `least`."""
        return _number(key, self._row.get(key), least)

    def text(self, key: str) -> str | None:
        value = self._row.get(key)
        if value is None:
            return None
        if not isinstance(value, str) or len(value) > 4000:
            raise Unpredictable(_("The key “%(key)s” should be a text.") % {"key": key})
        return value.strip() or None

    def record(self, key: str) -> "Keys":
        value = self._row.get(key)
        if value is None:
            return Keys({})
        if not isinstance(value, Mapping):
            raise Unpredictable(_("The key “%(key)s” should be a record.") % {"key": key})
        return Keys(value)

    def flag(self, key: str) -> bool:
        value = self._row.get(key)
        if value is None:
            return False
        if not isinstance(value, bool):
            raise Unpredictable(_("The key “%(key)s” should be true or false.") % {"key": key})
        return value

    def either(self, key: str) -> bool | str | None:
        """True, false, or a word (`activation_checkpointing`)."""
        value = self._row.get(key)
        return value if isinstance(value, bool) else self.text(key)


def _number(key: str, value: Any, least: float) -> float | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise Unpredictable(_("The key “%(key)s” should be a number.") % {"key": key})
    if not -LARGEST <= value <= LARGEST or math.isnan(value):
        raise Unpredictable(_("The key “%(key)s” is out of range.") % {"key": key})
    if value < least:
        raise Unpredictable(_("The key “%(key)s” is out of range.") % {"key": key})
    return float(value)


class Lookup:
    """Names of cards, models and programs → entries, each name resolved once."""

    def __init__(self, catalog: Catalog) -> None:
        self.catalog = catalog
        self._known: dict[tuple[str, str], Any] = {}

    def entry(self, kind: str, name: str) -> Any:
        """The entry of this name. Raises `Unpredictable` with the sentence of the catalog where it has none or
        several."""
        known = self._known.get((kind, name))
        if known is None:
            try:
                known = resolve(self.catalog, kind, name)
            except (UnknownName, AmbiguousName) as error:
                known = Unpredictable(str(error))
            self._known[kind, name] = known
        if isinstance(known, Unpredictable):
            raise Unpredictable(str(known))
        return known

    def runtime(self, name: str | None) -> Any | None:
        """The runtime of this name, None where the catalog has none."""
        if not name:
            return None
        try:
            return self.entry("runtime", name)
        except Unpredictable:
            return None


# Words that rows use for weights beside the names of the format table.
_FORMAT_WORDS = {
    "bfloat16": "bf16", "float16": "fp16", "half": "fp16", "f16": "fp16", "float32": "fp32", "f32": "fp32",
    "tf32": "fp32",
    "amp_bf16": "bf16", "16bit": "bf16", "8bit": "int8", "4bit": "int4", "w8a8": "int8", "w8a16": "int8",
    "w4a16": "int4", "awq": "int4",
    "gptq": "int4", "awq4": "int4", "gptq4": "int4", "e4m3": "fp8", "fp8_e4m3": "fp8", "exl2": "int4",
    "exl3": "int4", "mxfp8": "fp8",
    "q8": "q8_0", "q6": "q6_k", "q5": "q5_k_m", "q5_k": "q5_k_m", "q5_1": "q5_k_m", "q4": "q4_k_m",
    "q4_k": "q4_k_m", "q4_1": "q4_k_m",
    "q4f16": "int4", "q3f16": "int3", "q3": "q3_k_m", "q3_k": "q3_k_m", "q2": "q2_k", "iq1_s": "iq2_xxs",
    "iq1_m": "iq2_xxs",
    "iq2_xs": "iq2_m", "iq2_s": "iq2_m", "iq3_s": "q3_k_s", "iq3_m": "q3_k_m", "iq3_xs": "iq3_xxs", "iq4_nl": "q4_0",
}  # fmt: skip


def weight_format(word: str) -> str:
    """The row of the format table for a word of a measured row ("Q4_K_M", "AWQ", "q4f16_1").

    Raises `Unpredictable` for a word that means none.
    """
    plain = re.sub(r"[\s-]+", "_", word.casefold())
    for name in (plain, plain.replace("_", "")):
        if name in WEIGHT_FORMATS:
            return name
        if name in _FORMAT_WORDS:
            return _FORMAT_WORDS[name]
    for prefix in (plain[:6], plain[:5], plain[:4], plain.split("_")[0], plain[:2]):
        if prefix in WEIGHT_FORMATS:
            return prefix
        if prefix in _FORMAT_WORDS:
            return _FORMAT_WORDS[prefix]
    raise Unpredictable(_("The precision “%(word)s” is not known.") % {"word": word})


# What a program that the catalog does not hold is nearest to.
_ENGINE_WORDS = (
    ("tensorrt", "TensorRT-LLM"), ("trt", "TensorRT-LLM"), ("vllm", "vLLM"), ("sglang", "SGLang"), ("lmdeploy",
    "LMDeploy"), ("tgi", "TGI"),
    ("text-generation-inference", "TGI"), ("fastertransformer", "FasterTransformer"), ("gpt-fast", "gpt-fast"),
    ("llama", "llama.cpp"),
    ("ollama", "llama.cpp"), ("lm studio", "llama.cpp"), ("ggml", "llama.cpp"), ("exllama", "exllama"), ("tabby",
    "exllama"),
    ("mlx", "MLX"), ("mlc", "MLC"), ("transformers", "HF transformers"), ("gptq", "HF transformers"), ("awq",
    "HF transformers"),
    ("litgpt", "HF transformers"), ("lit-gpt", "HF transformers"), ("bitsandbytes", "HF transformers"),
    ("accelerate", "HF transformers"), ("ktransformers", "llama.cpp"), ("fastllm", "llama.cpp"), ("pegainfer", "vLLM"),
    ("deepspeed", "TGI"), ("aphrodite", "vLLM before 0.6"),
)  # fmt: skip
ERAS = frozenset(
    {
        "TensorRT-LLM 0.12 and later", "TensorRT-LLM before 0.12", "vLLM 0.10 and later", "vLLM 0.6-0.9",
        "vLLM before 0.6", "SGLang",
        "LMDeploy", "TGI", "FasterTransformer", "gpt-fast", "HF transformers", "llama.cpp", "exllama", "MLC", "MLX",
    }
)  # fmt: skip
# Programs without a row of their own in the engine table are taken for a server of the middle of the table.
OTHER_ENGINE = "vLLM 0.6-0.9"


def serving_engine(keys: Keys, lookup: Lookup) -> tuple[str, Any | None, bool]:
    """The row of the engine table for a row's program, its catalog entry, and whether the row was known by name."""
    engine = keys.record("engine")
    era, kind, name, version = engine.text("era"), engine.text("kind"), engine.text("name"), _version(engine)
    runtime = lookup.runtime(kind) or lookup.runtime(name)
    if era in ERAS:
        return str(era), runtime, True
    if runtime is not None and runtime.engine:
        row = engine_row(runtime.engine, version)
        if row in ERAS:
            return row, runtime, True
    for text in (kind, name):
        for word, engine_name in _ENGINE_WORDS:
            if text and word in text.casefold():
                return engine_row(engine_name, version), runtime, False
    return OTHER_ENGINE, runtime, False


def _version(engine: Keys) -> str | None:
    try:
        return engine.text("version")
    except Unpredictable:
        return None


_DESKTOP_CARDS = re.compile(r"geforce|radeon|\barc\b|apple|gb10|dgx spark|laptop", re.IGNORECASE)
_WORKSTATION = re.compile(r"^(nvidia )?(quadro )?rtx\b", re.IGNORECASE)
_SINGLE_USER_PROGRAM = re.compile(
    r"llama\.?cpp|ollama|lm studio|exllama|mlc|mlx|ktransformers|fastllm|transformers|awq|gptq|ipex", re.IGNORECASE
)


_SERVER_PROGRAM = re.compile(r"vllm|tensorrt|trt-llm|sglang|lmdeploy|\btgi\b|fastertransformer", re.IGNORECASE)


def _programs(keys: Keys) -> str:
    """What a row calls its program."""
    engine = keys.record("engine")
    return " ".join(engine.text(key) or "" for key in ("kind", "name", "era"))


def _single_user_program(keys: Keys) -> bool:
    programs = _programs(keys)
    # A harness that runs one or the other is a server's.
    return bool(_SINGLE_USER_PROGRAM.search(programs)) and not _SERVER_PROGRAM.search(programs)


def is_single_user(keys: Keys) -> bool:
    """Whether a row is about one user at a desk: by its program, or by its card."""
    card = keys.text("gpu") or ""
    desk = _DESKTOP_CARDS.search(card) or (_WORKSTATION.search(card) and "Server" not in card)
    return bool(desk) or _single_user_program(keys)


_BY_METRIC = {
    "fits": "fit", "kv_capacity_tokens": "kv_capacity", "peak_memory_gib": "peak_memory", "gpu_hours": "gpu_hours",
    "power_w_per_gpu": "power_gpu", "busbw_gb_s": "collective", "speed_ratio": "power_cap_speed",
    "energy_j_per_output_token": "energy", "energy_kwh": "energy",
}  # fmt: skip
_TRAINING_METRICS = frozenset({"tokens_per_s", "tflops_per_gpu", "mfu", "hfu", "step_time_s"})
_SPEED_METRICS = frozenset({"output_tokens_per_s", "total_tokens_per_s", "prefill_tokens_per_s", "ttft_s", "tpot_s"})


def family_of(row: Mapping[str, Any]) -> str:
    """The family of a row: the one it states, else by its metric and settings; the first rule that fits wins."""
    given = row.get("family")
    if isinstance(given, str) and given:
        return given
    keys = Keys(row)
    try:
        return _family(keys)
    except Unpredictable:
        return "other"


def _family(keys: Keys) -> str:
    metric, task = keys.text("metric") or "", keys.text("task") or ""
    if metric in _BY_METRIC:
        return _BY_METRIC[metric]
    if metric == "power_w_server" or metric == "power_w_server_idle":
        return "server_draw" if task == "facility" else "power_server"
    if metric in _TRAINING_METRICS:
        return "finetune" if task == "finetune" else "training"
    if metric not in _SPEED_METRICS:
        return "other"
    if not keys.has("gpu"):
        return "cpu_prefill" if metric in ("prefill_tokens_per_s", "ttft_s") else "cpu_decode"
    if _is_offloaded(keys):
        return "offload"
    if keys.has("request_rate"):
        return "request_rate"
    single = is_single_user(keys)
    concurrency = keys.number("concurrency") or 0.0
    loaded = concurrency > 1
    if metric == "prefill_tokens_per_s":
        return "consumer_prefill" if single else "ttft_idle"
    if metric == "ttft_s":
        if loaded:
            return "consumer_server" if single else "ttft_loaded"
        return "consumer_prefill" if single else "ttft_idle"
    if metric == "tpot_s" or keys.text("scope") == "per_user":
        if loaded:
            return "consumer_server" if single else "serving_tpot"
        return "consumer_decode" if single else "decode_fixed_batch"
    if keys.has("batch") or concurrency == 1:
        return "consumer_decode" if single else "decode_fixed_batch"
    if loaded:
        return "consumer_server" if single else "throughput_at_concurrency"
    return "consumer_decode" if _single_user_program(keys) else "max_throughput"


def _is_offloaded(keys: Keys) -> bool:
    host = (keys.text("host") or "").casefold()
    return any(word in host for word in ("offload", "experts on the cpu", "layers on the cpu", "exps=cpu"))


def is_single_user_engine(engine: str) -> bool:
    """Whether the program of an engine row serves one request at a time at a desk."""
    return engine in SINGLE_USER_ENGINES or engine == "HF transformers"
