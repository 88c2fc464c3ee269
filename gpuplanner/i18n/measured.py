"""Words for measured rows: families, metrics with their units, and in what a row differs from what was asked."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from gpuplanner.i18n import N_, _, format

FAMILIES: dict[str, str] = {
    "max_throughput": N_("Maximum throughput"),
    "throughput_at_concurrency": N_("Throughput at a concurrency"),
    "request_rate": N_("Serving at a request rate"),
    "serving_tpot": N_("Per token under load"),
    "ttft_loaded": N_("First token under load"),
    "ttft_idle": N_("First token, idle"),
    "decode_fixed_batch": N_("Decode, fixed batch"),
    "consumer_decode": N_("Desktop decode"),
    "consumer_prefill": N_("Desktop prefill"),
    "consumer_server": N_("Desktop card as a server"),
    "cpu_decode": N_("CPU decode"),
    "cpu_prefill": N_("CPU prefill"),
    "offload": N_("Offload to host memory"),
    "training": N_("Training"),
    "finetune": N_("Fine-tuning"),
    "gpu_hours": N_("GPU-hours of a run"),
    "fit": N_("Fits or not"),
    "kv_capacity": N_("KV cache capacity"),
    "peak_memory": N_("Peak memory"),
    "power_gpu": N_("GPU power"),
    "power_server": N_("Server power"),
    "energy": N_("Energy per token"),
    "collective": N_("Collective bandwidth"),
    "power_cap_speed": N_("Speed under a power cap"),
    "server_draw": N_("Server draw"),
    "other": N_("Other"),
}


class _Metric(NamedTuple):
    name: str
    unit: str
    # SI value of one unit.
    size: float = 1.0


METRICS: dict[str, _Metric] = {
    "output_tokens_per_s": _Metric(N_("output tokens"), N_("tok/s")),
    "total_tokens_per_s": _Metric(N_("tokens in and out"), N_("tok/s")),
    "prefill_tokens_per_s": _Metric(N_("prompt tokens"), N_("tok/s")),
    "tokens_per_s": _Metric(N_("tokens trained"), N_("tok/s")),
    "ttft_s": _Metric(N_("first token"), N_("ms"), 1e-3),
    "tpot_s": _Metric(N_("time per token"), N_("ms"), 1e-3),
    "step_time_s": _Metric(N_("step time"), N_("s")),
    "tflops_per_gpu": _Metric(N_("rate per GPU"), "TFLOP/s"),
    "mfu": _Metric(N_("model FLOP utilisation"), "%", 0.01),
    "hfu": _Metric(N_("hardware FLOP utilisation"), "%", 0.01),
    "gpu_hours": _Metric(N_("GPU-hours"), N_("GPU-h")),
    "peak_memory_gib": _Metric(N_("peak memory"), "GiB"),
    "kv_capacity_tokens": _Metric(N_("KV cache capacity"), N_("tokens")),
    "power_w_per_gpu": _Metric(N_("power per GPU"), "W"),
    "power_w_server": _Metric(N_("server power"), "W"),
    "power_w_server_idle": _Metric(N_("idle server power"), "W"),
    "energy_j_per_output_token": _Metric(N_("energy per output token"), "J"),
    "energy_kwh": _Metric(N_("energy"), "kWh"),
    "busbw_gb_s": _Metric(N_("bus bandwidth"), "GB/s"),
    "speed_ratio": _Metric(N_("share of full speed"), "%", 0.01),
}

# Rows of the calibration that speak for several cards.
_ARCHITECTURES = {
    "A100": N_("Ampere (A100)"),
    "Blackwell data centre": N_("Blackwell, data centre"),
    "Blackwell consumer": N_("Blackwell, desktop"),
    "Ampere consumer": N_("Ampere, desktop"),
}

DIFFERS: dict[str, str] = {
    "card": N_("GPU"),
    "architecture": N_("architecture"),
    "engine": N_("software"),
    "model": N_("model"),
    "kind": N_("kind of model"),
    "method": N_("method"),
    "size": N_("model size"),
    "batch": N_("batch"),
    "prompt": N_("prompt length"),
    "answer": N_("answer length"),
    "cards": N_("number of cards"),
    "bits": N_("precision"),
}


def family(name: str) -> str:
    """What a family of rows is called; a family of somebody's own by its own name."""
    known = FAMILIES.get(name)
    return _(known) if known else name


def architecture(name: str) -> str:
    """What the cards are called that one row of the calibration speaks for."""
    known = _ARCHITECTURES.get(name)
    return _(known) if known else name


def metric(name: str) -> str:
    """What a row measures."""
    known = METRICS.get(name)
    return _(known.name) if known else name


def unit(name: str) -> str:
    """The unit in which a metric is shown; nothing for an unknown one."""
    known = METRICS.get(name)
    return _(known.unit) if known else ""


def size(name: str) -> float:
    """The value of one shown unit in the unit of the rows."""
    known = METRICS.get(name)
    return known.size if known else 1.0


def value(metric_name: str, figure: float | bool | None) -> str:
    """A figure of a row with its unit."""
    if figure is None or isinstance(figure, bool):
        return format.NOT_KNOWN if figure is None else (_("yes") if figure else _("no"))
    shown = format.number(figure / size(metric_name))
    name = unit(metric_name)
    return f"{shown} {name}" if name else shown


def what_differs(names: Sequence[str]) -> str:
    """In what a row differs from what was asked, in one phrase; "architecture" speaks for the card too."""
    left_out = {"card"} if "architecture" in names else set()
    if "model" in names and ("size" in names or "kind" in names):
        left_out.add("model")
    words = [_(DIFFERS[name]) for name in names if name in DIFFERS and name not in left_out]
    if not words:
        return _("nothing: the same case")
    return _(", ").join(words)


def setting(row: Mapping[str, Any]) -> str:
    """The configuration of a row in one line: "8× H100 SXM 80GB · Llama-3.1-70B · vLLM 0.10 · fp8"."""
    parts = []
    card = row.get("gpu") or row.get("host")
    if card:
        count = row.get("gpus")
        parts.append(f"{count:g}× {card}" if isinstance(count, int | float) and row.get("gpu") else str(card))
    if row.get("model"):
        parts.append(str(row["model"]))
    software = engine(row)
    if software:
        parts.append(software)
    precision = row.get("weights") or row.get("compute")
    if precision:
        parts.append(str(precision))
    return " · ".join(parts)


def engine(row: Mapping[str, Any]) -> str:
    """The software of a row with its version, as published."""
    record = row.get("engine")
    if not isinstance(record, dict):
        return ""
    name, version = str(record.get("name") or ""), record.get("version")
    return f"{name} {version}" if version and str(version) not in name else name


def load(row: Mapping[str, Any]) -> str:
    """Lengths and load of a row in one line."""
    said = []

    def number(key: str) -> float | None:
        found = row.get(key)
        return float(found) if isinstance(found, int | float) and not isinstance(found, bool) else None

    prompt, answer = number("input_tokens"), number("output_tokens")
    if prompt is not None and answer is not None:
        said.append(_("{prompt} in, {answer} out").format(prompt=format.exact(prompt), answer=format.exact(answer)))
    sequence = number("seq_len")
    if sequence is not None:
        said.append(_("sequences of {tokens}").format(tokens=format.exact(sequence)))
    batch = number("batch") or number("global_batch")
    if batch is not None:
        said.append(_("batch of {count}").format(count=format.exact(batch)))
    flight = number("concurrency")
    if flight is not None:
        said.append(_("{count} in flight").format(count=format.exact(flight)))
    rate = number("request_rate")
    if rate is not None:
        said.append(_("{rate} requests/s").format(rate=format.number(rate)))
    return " · ".join(said)


def error(share: float | None) -> str:
    """How far off a prediction was: "+12 %"."""
    return format.NOT_KNOWN if share is None else format.signed_percent(share)
