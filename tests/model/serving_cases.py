"""Serving configurations for tests of the model."""

from gpuplanner.catalog.load import load
from gpuplanner.model import case as cases
from gpuplanner.model.case import Case, Setting

CATALOG = load()
CALIBRATION = CATALOG.calibration


def serving_case(
    llm: str = "Llama-3.1-8B",
    gpu: str = "H100 SXM 80GB",
    weights: str = "bf16",
    engine: str = "vLLM 0.10 and later",
    tp: float = 1.0,
    pp: float = 1.0,
    prompt: float = 1024.0,
    answer: float = 256.0,
    **changes: float,
) -> Case:
    """One configuration."""
    model, card = CATALOG.llms[llm], CATALOG.gpus[gpu]
    architecture = CALIBRATION.architecture(card.architecture)
    columns = cases.gpu_columns(card, CALIBRATION)
    setting = Setting(architecture, card.vendor, engine, weights, "bf16", model.moe is not None)
    body, expert, rest = cases.bytes_per_weight(weights, model)
    run = {
        "peak": cases.compute_peak(columns, setting), "tp": tp, "pp": pp, "dp": 1.0, "ep": 1.0, "attention_dp": 1.0,
        "body_bytes": body,
        "expert_bytes": expert, "head_bytes": rest, "kv_bytes": 2.0, "input": prompt, "output": answer, "prefix": 0.0,
        "max_sequences": 256.0, "max_batched": 8192.0, "memory_fraction": 0.9, "fraction_of_free": 0.0,
        "single_user": 0.0,
        "vllm": 1.0, "in_server": 8.0, "network": 50e9, "draft_tokens": 0.0, "accepted": 0.0, "draft_cost": 0.0,
        "static_fraction": 0.0,
    }  # fmt: skip
    run.update(changes)
    index = cases.constants_index(setting, CALIBRATION)
    return cases.build([cases.llm_columns(model)], [columns], [list(run.values())], [index], CALIBRATION)
