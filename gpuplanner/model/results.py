"""What follows from a plan: plain named tuples, never stored in a plan.

Every predicted figure is a `Figure`: a value, an 80 % band, how it came about, and the names and sizes of its parts.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal, NamedTuple

Basis = Literal["input", "known", "assumed", "predicted", "not validated", "not known"]
Numbers = Mapping[str, float | str]
NO_NUMBERS: Numbers = MappingProxyType({})
Status = Literal["ok", "warn", "fail", "unknown"]


class Part(NamedTuple):
    """A named share of a figure, in the figure's unit."""

    name: str
    value: float


class Figure(NamedTuple):
    """A value with its 80 % band. ``value`` None = not known, and ``note`` names the reason."""

    value: float | None
    low: float | None
    high: float | None
    basis: Basis
    parts: tuple[Part, ...] = ()
    note: str = ""

    @property
    def known(self) -> bool:
        return self.value is not None


NOT_KNOWN = Figure(None, None, None, "not known")
# The note of a known figure that the buyer's own measurements have moved.
OWN_ROWS = "own_rows"


def exact(value: float, basis: Basis = "input", parts: tuple[Part, ...] = ()) -> Figure:
    """A figure without a band: counted, typed in, or taken from a data sheet."""
    return Figure(value, value, value, basis, parts)


class Check(NamedTuple):
    """One of the four questions of a scenario: a status, a key of the reason and its numbers."""

    status: Status
    key: str = ""
    numbers: Numbers = NO_NUMBERS


class Finding(NamedTuple):
    """Something a buyer should know. ``key`` and ``numbers`` become words in `i18n`; ``level`` orders the list."""

    level: Literal["stop", "check", "note"]
    key: str
    scenario: str = ""
    group: int | None = None
    workload: str = ""
    numbers: Numbers = NO_NUMBERS


class Demand(NamedTuple):
    """What a workload asks for at its peak; of training, the work of the whole run in place of a request's.

    Absent figures are None (a queue that is always full has no rate).
    """

    workload: str
    requests_s: float | None
    output_tokens_s: float | None
    prefill_tokens_s: float | None
    concurrency: float | None
    work_flop_per_request: float | None
    requests_s_end_of_term: float | None


class MemoryUse(NamedTuple):
    """Memory of the fullest GPU of a replica, by part. [bytes]"""

    weights: float
    kv_cache: float
    activations: float
    gradients: float
    optimizer: float
    runtime: float
    capacity: float
    usable: float

    @property
    def used(self) -> float:
        return self.weights + self.kv_cache + self.activations + self.gradients + self.optimizer + self.runtime


class Choice(NamedTuple):
    """How a run is carried out, with what `auto` came to. ``auto`` names the fields that a rule decided."""

    llm: str
    runtime: str
    version: str
    engine: str
    weights: str
    compute: str
    kv: str
    tp: int
    pp: int
    dp: int
    ep: int
    cp: int
    attention_dp: bool = False
    max_sequences: int = 0
    micro_batch: int = 0
    sharding: str = ""
    recompute: str = ""
    optimizer: str = ""
    interleave: int = 1
    global_batch: int = 0
    auto: frozenset[str] = frozenset()


class Curve(NamedTuple):
    """First-token and per-token time as load grows. ``output_tokens_s`` rises to saturation."""

    output_tokens_s: tuple[float, ...]
    first_token_s: tuple[float, ...]
    first_token_low_s: tuple[float, ...]
    first_token_high_s: tuple[float, ...]
    per_token_s: tuple[float, ...]


class OwnShift(NamedTuple):
    """What the buyer's own measurements did to the figures of one family of measured rows.

    ``rows`` of them count. ``speed_ratio`` is what speeds and powers were multiplied by, and times divided by; the
    factor of the 80 % band either way was ``unshifted_band_ratio`` and is ``band_ratio``.
    """

    family: str
    rows: int
    speed_ratio: float
    unshifted_band_ratio: float
    band_ratio: float


class FormatOption(NamedTuple):
    """What another weight format would give on the same cards, with its own best split."""

    weights: str
    compute: str
    fits: bool
    output_tokens_s: float
    output_tokens_s_limit: float
    memory_share: float
    weight_bytes: float


class Wait(NamedTuple):
    """Share of a phase of a run (decode, prefill, step) in which cards wait for one link.

    ``link``: nvlink, xgmi, card_link (of another maker), pcie or pcie-no-p2p inside a server; infiniband, roce or
    ethernet ``between_servers``.
    """

    phase: Literal["decode", "prefill", "step"]
    link: str
    between_servers: bool
    share: float


class ServeResult(NamedTuple):
    """One group serving one workload. Rates are of the whole group."""

    workload: str
    group: int
    choice: Choice | None
    refusal: Check
    fits: Check
    memory: MemoryUse | None
    memory_share: Figure
    first_token_s: Figure
    first_token_idle_s: Figure
    per_token_s: Figure
    # Most output tokens per second at which both targets hold, and without targets.
    output_tokens_s: Figure
    output_tokens_s_limit: Figure
    requests_s: Figure
    headroom: Figure
    batch: float
    max_batch: float
    decode_step_s: Figure
    prefill_s: Figure
    # Single-stream decode and prefill rates, the figures that buyers compare with published ones.
    single_stream_tokens_s: Figure
    prefill_tokens_s: Figure
    binds: str
    utilisation: float
    gpu_power_w: Figure
    energy_j_per_token: Figure
    load_share: float
    curve: Curve | None
    formats: tuple[FormatOption, ...] = ()
    own: tuple[OwnShift, ...] = ()
    # Share of its busy time in which a card waits for links, and where; parts by link.
    link_wait: Figure = NOT_KNOWN
    waits: tuple[Wait, ...] = ()


class TrainResult(NamedTuple):
    """One group fine-tuning or training."""

    workload: str
    group: int
    choice: Choice | None
    refusal: Check
    fits: Check
    memory: MemoryUse | None
    memory_share: Figure
    step_s: Figure
    tokens_s: Figure
    mfu: Figure
    duration_s: Figure
    deadline_s: float | None
    gpu_hours: Figure
    energy_j: Figure
    gpu_power_w: Figure
    binds: str
    communication_share: float
    # What one run costs, in the plan's base currency.
    cost: Figure = NOT_KNOWN
    own: tuple[OwnShift, ...] = ()
    # Share of a step in which a card waits for links, and where; parts by link.
    link_wait: Figure = NOT_KNOWN
    waits: tuple[Wait, ...] = ()


class GroupPower(NamedTuple):
    """Power at the wall of all servers of one group. [W]"""

    group: int
    idle_w: Figure
    load_w: Figure
    average_w: Figure
    nameplate_w: Figure
    gpu_load_w: Figure
    servers: int
    gpus: int


class FabricPart(NamedTuple):
    """Equal parts of a network: their key (leaf, spine, core, switch, nic, copper, transceiver, fibre), catalog entry
    ("" = any of the speed), speed of their links [bit/s], number, and power of all of them [W].
    """

    key: str
    name: str
    bits_s: float
    number: int
    power_w: Figure


NO_SLOWDOWN = exact(1.0, "known")


class FabricResult(NamedTuple):
    """One network between servers: groups by index, counts of switches, cables and ports, and its parts.

    ``leaf``, ``spine`` and ``core`` are 0 where one switch joins all. ``too_large``: more network cards than three
    tiers of the largest switch join.
    """

    groups: tuple[int, ...]
    fabric: str
    bits_s: float
    servers: int
    nics: int
    switch: str
    radix: int
    single_switch: bool
    leaf: int
    spine: int
    core: int
    cables_node_leaf: int
    cables_leaf_spine: int
    cables_spine_core: int
    ports_used: int
    ports: int
    oversubscription: float
    too_large: bool
    parts: tuple[FabricPart, ...]
    power_w: Figure
    # How many times longer traffic takes behind oversubscribed leaves; 1 to the whole ratio by how servers are placed.
    slowdown: Figure = NO_SLOWDOWN
    downlinks_per_leaf: int = 0
    uplinks_per_leaf: int = 0


FeedLossEffect = Literal["holds", "slows", "stops", "not known"]
RackLimit = Literal["", "height", "power", "weight"]
Envelope = Literal["recommended", "allowable", "outside", ""]


class GroupSupply(NamedTuple):
    """How the servers of one group are fed. Counts of circuits are of all feeds; None = not known.

    ``server_w``: one server at load at its plug, with its parts; ``rack_binds``: what keeps another server out of a
    full rack ("" = all stand in one); ``feed_loss``: what a server does when one feed fails, on ``psus_left`` of its
    ``psus`` power supplies; ``cord``: connector of IEC 60320 at a power supply ("" = not known).
    """

    group: int
    server_w: Figure
    server_nameplate_w: float | None
    servers_per_rack: int
    racks: int
    rack_nameplate_w: float | None
    rack_binds: RackLimit
    circuits_per_server: int | None
    circuits_per_rack: int | None
    circuits: int | None
    psus: int | None
    psu_w: float | None
    cord: str
    feed_loss: FeedLossEffect
    psus_left: int | None


class SupplyResult(NamedTuple):
    """The electricity of the room: the circuit that is used and how many are needed, UPS, generator, energy.

    ``circuit_va`` and ``circuit_w``: what one circuit carries for ever. Circuits, UPS and generator are sized by
    nameplates. ``peak_w``: the site when all is busy, with its parts. Modules of the UPS include a spare one.
    ``plug``: "" = no standard plug is known.
    """

    volts: float
    amps: float
    phases: int
    plug: str
    circuit_va: float
    circuit_w: float
    feeds: int
    groups: tuple[GroupSupply, ...]
    network_circuits: int | None
    circuits: int | None
    peak_w: Figure
    ups_load_w: Figure
    ups_va: Figure
    ups_module_w: float
    ups_modules: int
    generator_va: Figure
    energy_per_year_j: Figure


class ClimateResult(NamedTuple):
    """Where the heat goes, and whether the air at the inlet suits. [K, °C]

    ``air_rise_k``: outlet less inlet of the servers; ``envelope``: where the supply air lies in the range that
    ASHRAE recommends and the servers allow at this altitude; ``air_class``: the widest class of ASHRAE that every
    server allows ("" = none). ``coolant`` "" = nothing is cooled by liquid.
    """

    air_share: Figure
    air_rise_k: float
    coolant: Literal["", "water", "glycol"]
    liquid_heat_w: Figure
    coolant_rise_k: float
    coolant_flow_m3_s: Figure
    envelope: Envelope
    air_class: str
    inlet_min_c: float | None
    inlet_max_c: float | None
    altitude_derating_k: float
    rack_limit_w: float


class RoomResult(NamedTuple):
    """Power, heat and space of one scenario in our own room (rented servers draw nothing here)."""

    groups: tuple[GroupPower, ...]
    network_w: Figure
    it_load_w: Figure
    it_average_w: Figure
    it_nameplate_w: Figure
    facility_w: Figure
    heat_w: Figure
    heat_btu_h: Figure
    cooling_tons: Figure
    air_heat_w: Figure
    airflow_m3_s: Figure
    pue: Figure
    racks: int
    rack_units: Figure
    weight_kg: Figure
    # Share of full speed that is left when the room cannot remove the heat; 1 = no throttling.
    throttled_speed: Figure
    limits: tuple[tuple[str, float], ...]
    # Power that the room's cooling and inlet air leave to one device of a group: (group, W); empty = all they want.
    device_limits_w: tuple[tuple[int, float], ...] = ()
    fabrics: tuple[FabricResult, ...] = ()
    # Racks for switches alone, of all ``racks``: what finds no place above the servers.
    network_racks: int = 0
    supply: SupplyResult | None = None
    climate: ClimateResult | None = None


class Failures(NamedTuple):
    """Cards of a group that fail within the term: rate a year, expected number, chance of at least one, and spares.

    ``spares`` replace every failed card with a chance of ``spares_hold``, which is at least ``sure``.
    """

    group: int
    cards: int
    rate_per_year: Figure
    expected: Figure
    any_chance: float
    spares: int
    spares_hold: float
    sure: float


class MoneyLine(NamedTuple):
    """One line of a bill, in the plan's base currency."""

    key: str
    name: str
    quantity: float
    unit_price: Figure
    amount: Figure


class MoneyResult(NamedTuple):
    """What a scenario costs, in the plan's base currency."""

    currency: str
    lines: tuple[MoneyLine, ...]
    purchase: Figure
    electricity_per_year: Figure
    running_per_year: Figure
    rent_per_year: Figure
    resale: Figure
    total_over_term: Figure
    per_million_tokens: Figure
    # One run of everything that is trained.
    per_run: Figure
    breakeven_months: Figure
    cloud_per_year: Figure
    energy_kwh_per_year: Figure
    months: tuple[float, ...]
    cumulative: tuple[float, ...]
    cumulative_low: tuple[float, ...]
    cumulative_high: tuple[float, ...]
    cloud_cumulative: tuple[float, ...]
    oldest_price: str
    failures: tuple[Failures, ...] = ()


class ScenarioResult(NamedTuple):
    """Everything that follows from one scenario."""

    letter: str
    name: str
    gpus: int
    servers: int
    serve: tuple[ServeResult, ...]
    train: tuple[TrainResult, ...]
    room: RoomResult
    money: MoneyResult
    fits: Check
    speed: Check
    room_check: Check
    money_check: Check
    # Speed against the baseline, with the band of a ratio.
    speed_ratio: Figure
    # One sentence for the card: the most important fact.
    summary: Check


class Headline(NamedTuple):
    """The sentence on top: which scenario is best, why, and what is near it."""

    key: str
    best: str = ""
    other: str = ""
    numbers: Numbers = NO_NUMBERS


class OwnRow(NamedTuple):
    """One of the plan's own measured rows beside what is predicted for it without any of them.

    ``status``: "counts", "suspect" (its figure breaks a bound of the hardware), "shown" (predicted, but of a kind that
    moves no figure) or "skipped" (not predicted); ``reason`` says why, ``scenarios`` are those it speaks for. Figures
    in the row's metric, unit and scope; of a row about fit, 1 is yes and 0 no.
    """

    row: int
    family: str
    metric: str
    measured: float | None
    predicted: Figure
    status: Literal["counts", "suspect", "shown", "skipped"]
    reason: Check
    scenarios: tuple[str, ...] = ()


class Results(NamedTuple):
    """What follows from a plan."""

    demands: tuple[Demand, ...]
    scenarios: tuple[ScenarioResult, ...]
    headline: Headline
    findings: tuple[Finding, ...]
    baseline: str | None
    currency: str
    model_version: str
    calibration_id: str
    own_rows: tuple[OwnRow, ...] = ()

    def scenario(self, letter: str) -> ScenarioResult | None:
        """The result of the scenario with that letter, None if the plan has none."""
        return next((result for result in self.scenarios if result.letter == letter), None)
