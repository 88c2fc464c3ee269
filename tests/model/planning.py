"""Short plans for tests of the model: one scenario, one group, one workload unless a test says otherwise."""

import math
from collections.abc import Iterator
from functools import cache
from typing import Any

from gpuplanner.catalog.load import Catalog, load
from gpuplanner.model.evaluate import evaluate
from gpuplanner.model.plan import Group, Plan, QueueLoad, Run, Scenario, Serve, Train
from gpuplanner.model.results import Figure, Results, ScenarioResult, ServeResult, TrainResult

A100, A800, H100 = "A100 SXM 80GB", "A800 SXM 80GB", "H100 SXM 80GB"
RTX4090, V100 = "GeForce RTX 4090 24GB", "Tesla V100 SXM2 32GB"
LLAMA_8B, LLAMA_70B, MIXTRAL = "Llama-3.1-8B", "Llama-3.1-70B", "Mixtral-8x7B"
# Everything in 16 bit, so that two cards differ by nothing but themselves.
SIXTEEN_BIT = {"weights": "bf16", "compute": "bf16", "kv": "bf16"}


@cache
def catalog() -> Catalog:
    """The shipped catalog, without entries of a user."""
    return load()


def full_queue(llm: str = LLAMA_70B, **fields: Any) -> Serve:
    """As much as the cards can do, without targets, in 16 bit."""
    stated = {"lowest_format": "16-bit", "load": QueueLoad(), "first_token_s": None, "per_token_s": None}
    return Serve(llm=(llm,), **{**stated, **fields})


def group(gpu: str = H100, workload: str | None = "serve", run: dict[str, Any] | None = None, **fields: Any) -> Group:
    """Servers that run a workload, or nothing where it is None."""
    runs = () if workload is None else (Run(workload=workload, **(run or {})),)
    return Group(gpu=gpu, runs=runs, **fields)


def plan(*groups: Group, workload: Any = None, network: Any = None, **fields: Any) -> Plan:
    """One scenario with these groups."""
    scenario = Scenario(letter="A", groups=groups, **({} if network is None else {"network": network}))
    return Plan(workloads=(workload or Serve(llm=(LLAMA_8B,)),), scenarios=(scenario,), **fields)


def side_by_side(*groups: Group, workload: Any, **fields: Any) -> Plan:
    """A scenario for each group, compared with the first."""
    scenarios = tuple(Scenario(letter=letter, groups=(one,)) for letter, one in zip("ABCDEFGH", groups, strict=False))
    return Plan(workloads=(workload,), scenarios=scenarios, **fields)


def outcome(*groups: Group, workload: Any = None, **fields: Any) -> ScenarioResult:
    """What follows for the one scenario."""
    return evaluate(plan(*groups, workload=workload, **fields), catalog()).scenarios[0]


def served(
    gpu: str = H100, workload: Serve | None = None, run: dict[str, Any] | None = None, **fields: Any
) -> ServeResult:
    """One group serving."""
    asked = workload or full_queue()
    return outcome(group(gpu, asked.id, run, **fields), workload=asked).serve[0]


def trained(gpu: str, workload: Any, run: dict[str, Any] | None = None, **fields: Any) -> TrainResult:
    """One group training."""
    return outcome(group(gpu, workload.id, run, **fields), workload=workload).train[0]


def pretraining(llm: str = LLAMA_8B, **fields: Any) -> Train:
    return Train(llm=(llm,), **{"tokens": 1e11, "sequence_tokens": 2048, **fields})


def value(figure: Figure) -> float:
    """The value of a figure that is known."""
    assert figure.value is not None, figure
    return figure.value


def inside(node: Any) -> Iterator[Any]:
    """A result and everything in it."""
    yield node
    if isinstance(node, dict):
        node = tuple(node.values())
    if isinstance(node, tuple):
        for part in node:
            yield from inside(part)


def faults(results: Results) -> set[str]:
    """What no result may hold: numbers that are none, and bands that do not hold their value."""
    found = set()
    for part in inside(results):
        if isinstance(part, float) and not math.isfinite(part):
            found.add(f"{part} is not a number to show")
        if isinstance(part, Figure) and part.value is not None:
            ends = (part.low, part.high)
            if None in ends or not part.low <= part.value <= part.high:
                found.add(f"the band {ends} does not hold {part.value}")
    return found
