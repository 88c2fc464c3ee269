"""What the user has decided: frozen records, no computed values.

``"auto"`` is a decision too: the rule of the field decides, and what it comes to stands in the results. Quantities
are in SI units (seconds, watts, bytes), shares are fractions, lengths of text are tokens.
"""

import math
from datetime import date
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    ValidatorFunctionWrapHandler,
    WrapValidator,
    model_validator,
)
from pydantic_core import PydanticCustomError

from gpuplanner.catalog.schema import (
    Assumption,
    Cpu,
    Gpu,
    Llm,
    Nic,
    Price,
    Runtime,
    Server,
    Source,
    Switch,
)

LETTERS = "ABCDEFGH"
MAX_SCENARIOS = len(LETTERS)

Auto = Literal["auto"]
Text = Annotated[str, Field(max_length=4000)]
Label = Annotated[str, Field(max_length=200)]
EntryName = Annotated[str, Field(max_length=200)]
WorkloadId = Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{1,40}$")]


def _calendar_day(text: str) -> str:
    """Refuses what looks like a date and is none (2026-02-30)."""
    try:
        date.fromisoformat(text)
    except ValueError as error:
        raise PydanticCustomError("no_such_day", "there is no such day") from error
    return text


Date = Annotated[str, Field(pattern=r"^\d{4}-\d{2}-\d{2}$"), AfterValidator(_calendar_day)]
Currency = Annotated[str, Field(pattern=r"^[A-Z]{3}$")]
Share = Annotated[float, Field(ge=0, le=1)]
Percentile = Annotated[float, Field(ge=0.5, le=0.999)]
Tokens = Annotated[int, Field(ge=1, le=100_000_000)]
Degree = Annotated[int, Field(ge=1, le=4096)]
WeightFormat = Literal[
    "fp32", "bf16", "fp16", "fp8", "int8", "int4", "nvfp4", "mxfp4", "nf4",
    "q8_0", "q6_k", "q5_k_m", "q4_k_m", "q3_k_m", "q2_k",
]  # fmt: skip
ComputeFormat = Literal["fp32", "tf32", "bf16", "fp16", "fp8", "int8", "fp4"]
KvFormat = Literal["bf16", "fp16", "fp8", "int8", "int4", "q8_0", "q4_0"]
# So many records of one kind fit into a plan, and so many names into one field: far more than any plan needs.
# The first bad record ends the check: a hostile file may hold a hundred thousand.
MANY = Field(max_length=5000, fail_fast=True)
SEVERAL = Field(max_length=200, fail_fast=True)
LowestFormat = Literal["32-bit", "16-bit", "8-bit", "4-bit", "any"]
Condition = Literal["new", "used", "owned", "rented"]


class Record(BaseModel):
    """A frozen, strictly checked part of a plan."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class Money(Record):
    """An amount in a currency. Amounts of different currencies are never added."""

    amount: Annotated[float, Field(ge=0, le=1e15)]
    currency: Currency


class ExchangeRate(Record):
    """How many units of ``currency`` one unit of the plan's base currency buys, and on which day that was so."""

    currency: Currency
    per_base: Annotated[float, Field(gt=0, le=1e12)]
    date: Date | None = None


class PinnedEntries(Record):
    """The catalog records that a plan refers to, so that a colleague with another catalog sees the same numbers."""

    gpus: Annotated[tuple[Gpu, ...], MANY] = ()
    servers: Annotated[tuple[Server, ...], MANY] = ()
    cpus: Annotated[tuple[Cpu, ...], MANY] = ()
    nics: Annotated[tuple[Nic, ...], MANY] = ()
    switches: Annotated[tuple[Switch, ...], MANY] = ()
    llms: Annotated[tuple[Llm, ...], MANY] = ()
    runtimes: Annotated[tuple[Runtime, ...], MANY] = ()
    prices: Annotated[tuple[Price, ...], MANY] = ()
    assumptions: Annotated[tuple[Assumption, ...], MANY] = ()
    sources: Annotated[tuple[Source, ...], MANY] = ()


# --- what is asked for -------------------------------------------------------


class UserLoad(Record):
    """People who each send some requests in the busiest hour."""

    kind: Literal["users"] = "users"
    users: Annotated[float, Field(ge=1, le=1e9)] = 200
    requests_per_user_peak_hour: Annotated[float, Field(gt=0, le=1e5)] = 12


class RateLoad(Record):
    """A stated arrival rate at the peak."""

    kind: Literal["rate"] = "rate"
    requests_s: Annotated[float, Field(gt=0, le=1e7)] = 1.0


class ConcurrencyLoad(Record):
    """A stated number of requests in flight at the peak."""

    kind: Literal["concurrency"] = "concurrency"
    concurrency: Annotated[float, Field(ge=1, le=1e7)] = 32


class QueueLoad(Record):
    """A queue that is always full: as much as the cards can do."""

    kind: Literal["queue"] = "queue"


Load = Annotated[UserLoad | RateLoad | ConcurrencyLoad | QueueLoad, Field(discriminator="kind")]


class Serve(Record):
    """Answer requests with a language model.

    ``llm`` is a name, several names ("any of these"), or empty: the largest that fits.
    """

    kind: Literal["serve"] = "serve"
    id: WorkloadId = "serve"
    name: Label = ""
    llm: Annotated[tuple[EntryName, ...], SEVERAL] = ()
    prompt_tokens: Tokens = 1500
    prompt_spread: Annotated[float, Field(ge=0, le=5)] = 0.55
    answer_tokens: Tokens = 400
    answer_spread: Annotated[float, Field(ge=0, le=5)] = 0.55
    shared_prefix_share: Share = 0.0
    max_context_tokens: Tokens | Auto = "auto"
    load: Load = UserLoad()
    mean_to_peak: Annotated[float, Field(gt=0, le=1)] = 0.3
    growth_per_year: Annotated[float, Field(ge=-1, le=10)] = 0.0
    first_token_s: Annotated[float, Field(gt=0, le=86_400)] | None = 2.0
    first_token_percentile: Percentile = 0.95
    per_token_s: Annotated[float, Field(gt=0, le=3600)] | None = 0.05
    per_token_percentile: Percentile = 0.95
    lowest_format: LowestFormat = "8-bit"


class FineTune(Record):
    """Adapt a language model to the buyer's own text."""

    kind: Literal["finetune"] = "finetune"
    id: WorkloadId = "finetune"
    name: Label = ""
    llm: Annotated[tuple[EntryName, ...], SEVERAL] = ()
    method: Literal["full", "lora", "qlora"] = "lora"
    rank: Annotated[int, Field(ge=1, le=4096)] = 16
    adapter_targets: Literal["attention", "all-linear"] = "all-linear"
    tokens_per_epoch: Annotated[float, Field(ge=1, le=1e15)] = 50e6
    epochs: Annotated[float, Field(gt=0, le=1000)] = 3
    sequence_tokens: Tokens = 4096
    packing: bool = True
    global_batch: Annotated[int, Field(ge=1, le=1_000_000)] | Auto = "auto"
    start: Date | None = None
    deadline: Date | None = None
    deadline_s: Annotated[float, Field(gt=0, le=1e10)] | None = None


class Train(Record):
    """Train a language model from its first token, or go on training it."""

    kind: Literal["train"] = "train"
    id: WorkloadId = "train"
    name: Label = ""
    llm: Annotated[tuple[EntryName, ...], SEVERAL] = ()
    tokens: Annotated[float, Field(ge=1, le=1e18)] = 1e12
    sequence_tokens: Tokens = 4096
    global_batch: Annotated[int, Field(ge=1, le=1_000_000)] | Auto = "auto"
    start: Date | None = None
    deadline: Date | None = None
    deadline_s: Annotated[float, Field(gt=0, le=1e10)] | None = None


Workload = Annotated[Serve | FineTune | Train, Field(discriminator="kind")]


# --- what is bought, and how it runs -----------------------------------------


class Speculation(Record):
    """Speculative decoding: how many tokens a draft proposes, and what share of them is accepted."""

    kind: Literal["draft", "eagle", "mtp"] = "draft"
    draft_tokens: Annotated[int, Field(ge=1, le=64)] = 3
    acceptance: Share | Auto = "auto"
    draft_cost: Annotated[float, Field(ge=0, le=1)] = 0.05


class Run(Record):
    """How one group runs one workload. Every field is ``auto`` or a value."""

    workload: WorkloadId
    runtime: EntryName | Auto = "auto"
    version: Annotated[str, Field(max_length=40)] | Auto = "auto"
    llm: EntryName | Auto = "auto"
    weights: WeightFormat | Auto = "auto"
    compute: ComputeFormat | Auto = "auto"
    kv: KvFormat | Auto = "auto"
    tp: Degree | Auto = "auto"
    pp: Degree | Auto = "auto"
    dp: Degree | Auto = "auto"
    ep: Degree | Auto = "auto"
    cp: Degree | Auto = "auto"
    attention_dp: bool | Auto = "auto"
    max_sequences: Annotated[int, Field(ge=1, le=1_000_000)] | Auto = "auto"
    max_batched_tokens: Annotated[int, Field(ge=1, le=10_000_000)] | Auto = "auto"
    memory_fraction: Annotated[float, Field(gt=0, le=1)] | Auto = "auto"
    speculation: Speculation | None = None
    # Share of the weights that pruning keeps; 2:4 doubles the peak only where the card has it.
    pruning_kept: Annotated[float, Field(gt=0, le=1)] = 1.0
    pruning_2_4: bool = False
    optimizer: Literal["adamw", "adamw-8bit", "sgd", "lion"] | Auto = "auto"
    sharding: Literal["zero0", "zero1", "zero2", "zero3"] | Auto = "auto"
    recompute: Literal["none", "selective", "full"] | Auto = "auto"
    micro_batch: Annotated[int, Field(ge=1, le=100_000)] | Auto = "auto"
    interleave: Annotated[int, Field(ge=1, le=64)] | Auto = "auto"
    offload: Literal["none", "optimizer", "weights"] | Auto = "auto"


class Group(Record):
    """Servers of one kind. ``server`` empty = a custom box; ``gpu`` empty = the CPUs do the work."""

    name: Label = ""
    server: EntryName = ""
    chassis_class: Annotated[str, Field(max_length=60)] | Auto = "auto"
    cpu: EntryName | Auto = "auto"
    sockets: Annotated[int, Field(ge=1, le=16)] | Auto = "auto"
    memory_bytes: Annotated[float, Field(ge=0, le=1e15)] | Auto = "auto"
    gpu: EntryName = ""
    gpus_per_server: Annotated[int, Field(ge=0, le=1024)] = 8
    servers: Annotated[int, Field(ge=1, le=100_000)] = 1
    os: Literal["linux", "windows", "wsl2", "macos"] = "linux"
    condition: Condition = "new"
    # Of ONE server as configured, or of one rented server-hour.
    price: Money | Auto = "auto"
    vendor: Label = ""
    quote_date: Date | None = None
    country: Label = ""
    age_years: Annotated[float, Field(ge=0, le=50)] | Auto = "auto"
    power_cap_w: Annotated[float, Field(gt=0, le=10_000)] | None = None
    runs: Annotated[tuple[Run, ...], Field(max_length=1)] = ()
    notes: Text = ""


class Network(Record):
    """What joins the servers of a scenario, and the cards of a server."""

    in_server: Literal["nvlink", "pcie", "pcie-no-p2p"] | Auto = "auto"
    nics_per_server: Annotated[int, Field(ge=0, le=64)] | Auto = "auto"
    fabric: Literal["infiniband", "roce", "ethernet"] | Auto = "auto"
    nic_bits_s: Annotated[float, Field(gt=0, le=1e14)] | Auto = "auto"
    rails: Annotated[int, Field(ge=1, le=64)] | Auto = "auto"
    oversubscription: Annotated[float, Field(ge=1, le=64)] = 1.0


class Placed(Record):
    """One server at its place: rack number and lowest unit, counted from 1."""

    group: Annotated[int, Field(ge=0, le=1000)]
    server: Annotated[int, Field(ge=0, le=100_000)]
    rack: Annotated[int, Field(ge=1, le=100_000)]
    unit: Annotated[int, Field(ge=1, le=100)]


class Scenario(Record):
    """One way to meet the workloads. Its letter is its own for life."""

    letter: Annotated[str, Field(pattern=r"^[A-H]$")]
    name: Label = ""
    notes: Text = ""
    groups: Annotated[tuple[Group, ...], Field(max_length=50)] = ()
    network: Network = Network()
    placement: Annotated[tuple[Placed, ...], Field(max_length=20_000)] | Auto = "auto"


# --- where it stands, what it costs, what is wished ---------------------------


class Site(Record):
    """The room. None = no limit is known, so none is checked."""

    power_w: Annotated[float, Field(gt=0, le=1e10)] | None = None
    feeds: Annotated[int, Field(ge=1, le=2)] = 1
    ups_w: Annotated[float, Field(gt=0, le=1e10)] | None = None
    plug_region: Literal["CN", "EU", "UK", "US", "JP", "other"] = "EU"
    # "auto": what a computer room of the region usually has.
    volts: Annotated[float, Field(ge=90, le=1000)] | Auto = "auto"
    amps: Annotated[float, Field(ge=1, le=10_000)] | Auto = "auto"
    phases: Literal[1, 3] | Auto = "auto"
    continuous_factor: Annotated[float, Field(gt=0, le=1)] = 0.8
    rack_power_w: Annotated[float, Field(gt=0, le=1e7)] | None = None
    rack_units: Annotated[int, Field(ge=1, le=100)] = 42
    rack_weight_kg: Annotated[float, Field(gt=0, le=1e5)] | None = None
    racks: Annotated[int, Field(ge=1, le=100_000)] | None = None
    cooling: Literal[
        "split", "crac", "containment", "in-row", "rear-door", "free-air", "direct-liquid", "immersion", "colocation"
    ] = "crac"
    cooling_w: Annotated[float, Field(gt=0, le=1e10)] | None = None
    supply_c: Annotated[float, Field(ge=-40, le=60)] = 22.0
    altitude_m: Annotated[float, Field(ge=-500, le=6000)] = 0.0
    # Outlet less inlet: of the air through the servers, of the liquid. "auto": usual for them.
    air_rise_k: Annotated[float, Field(ge=1, le=60)] | Auto = "auto"
    coolant_rise_k: Annotated[float, Field(ge=1, le=40)] | Auto = "auto"
    pue: Annotated[float, Field(ge=1, le=5)] | Auto = "auto"


class Economics(Record):
    """How money is counted."""

    term_years: Annotated[float, Field(gt=0, le=20)] = 3.0
    discount_rate: Annotated[float, Field(ge=0, le=1)] = 0.0
    electricity_per_kwh: Money | Auto = "auto"
    staff_per_year: Money | Auto = "auto"
    maintenance_share: Annotated[float, Field(ge=0, le=1)] | Auto = "auto"
    duty_cycle: Share | Auto = "auto"
    failure_rate_per_year: Share | Auto = "auto"
    resale_share: Share | Auto = "auto"
    cloud_per_gpu_hour: Money | Auto = "auto"


class Owned(Record):
    """Cards that are already there."""

    gpu: EntryName
    count: Annotated[int, Field(ge=1, le=1_000_000)]
    server: EntryName = ""
    age_years: Annotated[float, Field(ge=0, le=50)] = 4.0


class Wishes(Record):
    """What the buyer is free to do, and what counts most."""

    budget: Money | None = None
    budget_covers: Literal["purchase", "term"] = "purchase"
    priority: Literal["cost", "speed", "power", "spare"] = "cost"
    may_use: Annotated[tuple[Condition, ...], SEVERAL] = ("new", "used", "owned", "rented")
    vendors: Annotated[tuple[Label, ...], SEVERAL] = ()
    countries: Annotated[tuple[Label, ...], SEVERAL] = ()
    spare_share: Share = 0.0
    owned: Annotated[tuple[Owned, ...], SEVERAL] = ()


# --- what the buyer measured --------------------------------------------------

_ROW_KEYS, _ROW_TEXT, _ROW_DEPTH, _ROW_NUMBER = 100, 4000, 3, 1e30


def _plain(value: Any, depth: int = 1) -> bool:
    """Whether a value is what a row may hold: short text, a finite number, yes or no, or few of these."""
    if value is None or isinstance(value, bool):
        return True
    if isinstance(value, str):
        return len(value) <= _ROW_TEXT
    if isinstance(value, int | float):
        return math.isfinite(value) and abs(value) <= _ROW_NUMBER if isinstance(value, float) else abs(value) <= 10**30
    if depth > _ROW_DEPTH or not isinstance(value, dict | list | tuple) or len(value) > _ROW_KEYS:
        return False
    if not isinstance(value, dict):
        return all(_plain(item, depth + 1) for item in value)
    return all(
        isinstance(key, str) and len(key) <= _ROW_KEYS and _plain(item, depth + 1) for key, item in value.items()
    )


def looks_like_row(item: Any) -> bool:
    """Whether an item may stand among the measured rows of a plan."""
    return isinstance(item, dict) and _plain(item)


def _measured_row(row: dict[str, Any]) -> dict[str, Any]:
    """Refuses a row that no measurement looks like. Which keys mean what is read where a row is predicted."""
    if not looks_like_row(row):
        raise PydanticCustomError(
            "not_a_measured_row", "a measured row holds short text, finite numbers, yes or no, and few of them"
        )
    return row


class MeasuredRows(tuple[dict[str, Any], ...]):
    """Rows that were checked once. An edit elsewhere in the plan shares them, so what follows from them is kept."""


def _checked_once(value: Any, check: ValidatorFunctionWrapHandler) -> tuple[dict[str, Any], ...]:
    if isinstance(value, MeasuredRows):
        return value
    # Strict checks take no list for a tuple, and JSON has nothing else.
    return MeasuredRows(check(tuple(value) if isinstance(value, list) else value))


Measured = Annotated[
    tuple[Annotated[dict[str, Any], AfterValidator(_measured_row)], ...],
    Field(max_length=10_000, fail_fast=True),
    WrapValidator(_checked_once),
]


class Plan(Record):
    """Everything the user decided; nothing that follows from it."""

    name: Label = ""
    notes: Text = ""
    currency: Currency = "USD"
    exchange_rates: Annotated[tuple[ExchangeRate, ...], Field(max_length=50)] = ()
    country: Annotated[str, Field(max_length=2)] = ""
    entries: PinnedEntries = PinnedEntries()
    workloads: Annotated[tuple[Workload, ...], Field(max_length=50)] = ()
    scenarios: Annotated[tuple[Scenario, ...], Field(max_length=MAX_SCENARIOS)] = ()
    baseline: Annotated[str, Field(pattern=r"^[A-H]$")] | None = None
    site: Site = Site()
    economics: Economics = Economics()
    wishes: Wishes = Wishes()
    measured: Measured = ()

    @model_validator(mode="after")
    def _names_are_unique_and_known(self) -> "Plan":
        ids = [workload.id for workload in self.workloads]
        if len(set(ids)) != len(ids):
            raise PydanticCustomError("same_id", "two workloads have the same id")
        letters = [scenario.letter for scenario in self.scenarios]
        if len(set(letters)) != len(letters):
            raise PydanticCustomError("same_letter", "two scenarios have the same letter")
        if self.baseline is not None and self.baseline not in letters:
            raise PydanticCustomError(
                "unknown_baseline", "the baseline {letter} is not a scenario of the plan", {"letter": self.baseline}
            )
        for scenario in self.scenarios:
            for group in scenario.groups:
                for run in group.runs:
                    if run.workload not in ids:
                        raise PydanticCustomError(
                            "unknown_workload",
                            "scenario {letter} runs “{workload}”, which is not a workload of the plan",
                            {"letter": scenario.letter, "workload": run.workload},
                        )
        return self

    @property
    def baseline_letter(self) -> str | None:
        """The letter that ratios are taken against: the chosen one, else the first scenario's."""
        if self.baseline is not None:
            return self.baseline
        return self.scenarios[0].letter if self.scenarios else None


# The software that `auto` looks at, in order of preference: the first that runs on the card. Pinned with a plan that
# leaves it open.
SERVING_RUNTIMES = (
    "vLLM (CUDA)", "vLLM ROCm", "vLLM-Ascend (plugin)", "vLLM-Gaudi (plugin)", "MLX-LM",
    "LMDeploy (TurboMind + PyTorch engines)", "llama.cpp",
)  # fmt: skip
TRAINING_RUNTIMES = (
    "Megatron-LM / Megatron Core", "PyTorch FSDP / FSDP2", "MindSpeed (Core, LLM, MM, RL)", "DeepSpeed (training)",
)  # fmt: skip
FINETUNE_RUNTIMES = ("HF Trainer + PEFT + Accelerate", "PyTorch FSDP / FSDP2", "MindSpeed (Core, LLM, MM, RL)")


def runtime_order(kind: str) -> tuple[str, ...]:
    """The software that `auto` looks at for a kind of workload."""
    return {"serve": SERVING_RUNTIMES, "finetune": FINETUNE_RUNTIMES, "train": TRAINING_RUNTIMES}[kind]


class Reference(NamedTuple):
    """A catalog entry that a plan refers to: the kind of entry and its name."""

    kind: str
    name: str


def references(plan: Plan) -> tuple[Reference, ...]:
    """Every catalog entry that the plan names, each once, in the order of the plan."""
    found: dict[tuple[str, str], None] = {}

    def refer(kind: str, name: str) -> None:
        if name and name != "auto":
            found[kind, name] = None

    kinds = {workload.id: workload.kind for workload in plan.workloads}
    for workload in plan.workloads:
        for name in workload.llm:
            refer("llm", name)
    for scenario in plan.scenarios:
        for group in scenario.groups:
            refer("server", group.server)
            refer("cpu", group.cpu)
            refer("gpu", group.gpu)
            for run in group.runs:
                for name in runtime_order(kinds[run.workload]) if run.runtime == "auto" else (run.runtime,):
                    refer("runtime", name)
                refer("llm", run.llm)
    for row in plan.measured:
        engine = row.get("engine")
        runtime = engine.get("kind") if isinstance(engine, dict) else None
        for kind, named in (("gpu", row.get("gpu")), ("llm", row.get("model")), ("runtime", runtime)):
            if isinstance(named, str):
                refer(kind, named)
    for owned in plan.wishes.owned:
        refer("gpu", owned.gpu)
        refer("server", owned.server)
    return tuple(Reference._make(pair) for pair in found)
