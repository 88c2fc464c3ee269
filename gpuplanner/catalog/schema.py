"""Records of the catalog: frozen, in SI units, with a source for every figure.

Nothing here is computed. A figure that nobody knows is absent; a figure that somebody states without saying where
it comes from carries the mark ``unverified``.
"""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

Text = Annotated[str, Field(max_length=4000)]
Name = Annotated[str, Field(min_length=1, max_length=200)]
Key = Annotated[str, Field(min_length=1, max_length=200)]
Amount = Annotated[float, Field(ge=0, le=1e30, allow_inf_nan=False)]
Positive = Annotated[float, Field(gt=0, le=1e30, allow_inf_nan=False)]
Count = Annotated[int, Field(ge=0, le=10**9)]
Mark = Literal["primary", "secondary", "derived", "assumed", "unverified"]
Confidence = Literal["high", "medium", "low"]
PRECISIONS = (
    "fp64", "fp64_matrix", "fp32", "fp32_matrix", "tf32", "bf16", "fp16", "fp16_acc16",
    "fp8", "fp8_acc16", "int8", "fp4", "int4",
)  # fmt: skip
Precision = Literal[
    "fp64", "fp64_matrix", "fp32", "fp32_matrix", "tf32", "bf16", "fp16", "fp16_acc16",
    "fp8", "fp8_acc16", "int8", "fp4", "int4",
]  # fmt: skip


class Record(BaseModel):
    """A frozen, strictly checked record."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, defer_build=True)


class Fact(Record):
    """One figure and where it comes from: ``source`` is a key of the catalog's sources, or "unverified"."""

    value: Amount
    source: Key = "unverified"
    mark: Mark = "primary"

    @model_validator(mode="after")
    def _unverified_is_marked(self) -> "Fact":
        if self.source == "unverified":
            self.__dict__["mark"] = "unverified"
        return self


class Source(Record):
    """A document that figures were read in."""

    id: Key
    where: Text
    title: Text = ""
    date: Annotated[str, Field(max_length=40)] = ""


class Entry(Record):
    """What every catalog entry has in common."""

    id: Key
    name: Name
    aliases: tuple[Name, ...] = ()
    vendor: Annotated[str, Field(max_length=200)] = ""
    confidence: Confidence = "medium"
    note: Text = ""
    sources: tuple[Key, ...] = ()
    # Entries that only measured rows use are not offered to buyers. (`hidden` is the width of an Llm.)
    unlisted: bool = False


class Gpu(Entry):
    """A card, board module or chip as it is bought. All figures are of the whole card.

    Software sees ``gpus_per_card`` devices on it, each with its share of every figure (an A16 shows four of 16 GiB, an
    MI250X two of 64 GiB). ``memory_bytes`` is the label read as GiB; ``memory_visible_bytes`` what the driver shows.
    ``peak_flops`` holds dense matrix rates [FLOP/s]; ``fp16`` and ``fp8`` accumulate in FP32, ``fp16_acc16`` and
    ``fp8_acc16`` in FP16. Link speeds are one direction. [B/s]
    """

    kind: Literal["gpu"] = "gpu"
    architecture: Name
    compute_capability: Annotated[str, Field(max_length=10)] | None = None
    gfx: Annotated[str, Field(max_length=20)] | None = None
    release: Annotated[str, Field(max_length=10)] = ""
    form_factor: Annotated[str, Field(max_length=40)] = ""
    gpus_per_card: Annotated[int, Field(ge=1, le=16)] = 1
    memory_bytes: Fact
    memory_visible_bytes: Fact | None = None
    memory_type: Annotated[str, Field(max_length=60)] = ""
    memory_bandwidth_bytes_s: Fact | None = None
    peak_flops: dict[Precision, Fact] = {}
    board_power_w: Fact | None = None
    power_limit_min_w: Fact | None = None
    power_limit_max_w: Fact | None = None
    idle_power_w: Fact | None = None
    link_one_way_bytes_s: Fact | None = None
    pair_one_way_bytes_s: Fact | None = None
    link_kind: Literal["nvlink", "xgmi", "other", "none"] = "none"
    # How many cards one link domain joins: 8 on a board with switches, 2 where a bridge joins a pair, 72 in a rack.
    link_domain: Annotated[int, Field(ge=1, le=1024)] = 1
    link_note: Text = ""
    pcie_one_way_bytes_s: Fact | None = None
    pcie_generation: Annotated[float, Field(ge=1, le=8)] | None = None
    pcie_lanes: Annotated[int, Field(ge=1, le=32)] | None = None
    peer_to_peer: bool | None = None
    slots: Annotated[float, Field(ge=0, le=8)] | None = None
    cooling: Annotated[str, Field(max_length=60)] = ""
    max_temperature_c: Fact | None = None
    throttle_temperature_c: Fact | None = None
    ecc: bool | None = None
    mig: bool = False
    mig_max_instances: Count | None = None
    mig_note: Text = ""
    # Which software stack the maker supplies, and which engines a source names for the card.
    software: Text = ""
    # No longer made: never offered as new.
    end_of_life: Text | None = None
    export_restricted: bool = False
    export_note: Text = ""
    export_regions: tuple[Annotated[str, Field(max_length=40)], ...] = ()


class MlaShape(Record):
    """Ranks and widths of multi-head latent attention. ``query_rank`` 0 = queries are not compressed."""

    query_rank: Count = 0
    kv_rank: Count
    rope_dim: Count = 64
    nope_dim: Count = 128
    value_dim: Count = 128


class Attention(Record):
    """Which layers keep what cache. ``state_bytes_per_sequence``: the fixed state of all linear layers together."""

    kind: Literal["MHA", "GQA", "MQA", "MLA", "hybrid"]
    window: Count | None = None
    full_layers: Count
    windowed_layers: Count = 0
    linear_layers: Count = 0
    state_bytes_per_sequence: Amount | None = None
    mla: MlaShape | None = None
    # Gemma 4: full layers have a head width and a number of KV heads of their own.
    full_head_dim: Count | None = None
    full_kv_heads: Count | None = None
    # So many layers share one KV cache (cross-layer attention).
    kv_share: Count | None = None
    note: Text = ""


class Experts(Record):
    """``moe_layers`` of the layers hold ``experts`` each; a token uses ``experts_per_token`` and all shared ones."""

    experts: Annotated[int, Field(ge=1, le=100_000)]
    experts_per_token: Annotated[int, Field(ge=1, le=1000)]
    shared_experts: Count = 0
    expert_width: Count
    shared_expert_width: Count | None = None
    moe_layers: Count
    first_dense_layers: Count = 0


class Llm(Entry):
    """The shape of a language model. ``params_basis`` published: the algebra does not apply to it."""

    kind: Literal["llm"] = "llm"
    hf_id: Annotated[str, Field(max_length=200)] | None = None
    layers: Annotated[int, Field(ge=1, le=10_000)]
    hidden: Annotated[int, Field(ge=1, le=1_000_000)]
    heads: Annotated[int, Field(ge=1, le=100_000)]
    kv_heads: Annotated[int, Field(ge=1, le=100_000)]
    head_dim: Annotated[int, Field(ge=1, le=100_000)]
    ffn_width: Count | None = None
    gated_ffn: bool = True
    vocab: Annotated[int, Field(ge=1, le=100_000_000)]
    tied_embeddings: bool = False
    attention: Attention
    moe: Experts | None = None
    max_context: Count | None = None
    native_dtype: Annotated[str, Field(max_length=80)] | None = None
    params_basis: Literal["computed", "published", "listed"] = "computed"
    params_total: Amount
    params_active: Amount
    params_total_published: Amount | None = None
    params_active_published: Amount | None = None
    licence: Annotated[str, Field(max_length=200)] | None = None


class NicSlot(Record):
    """Network cards that a server is sold with."""

    count: Annotated[int, Field(ge=0, le=4096)]
    speed_bits_s: Positive
    role: Annotated[str, Field(max_length=60)] = "compute"
    entry: Name | None = None


class Server(Entry):
    """A chassis that holds cards. Powers are readings or ratings of the whole server with its cards. [W]"""

    kind: Literal["server"] = "server"
    # Names a row of `assumptions` for every figure that is not known: price, idle power, weight, rack units.
    server_class: Name
    form: Annotated[str, Field(max_length=40)] = "rack"
    gpu_options: tuple[Name, ...] = ()
    gpus_per_server: Annotated[int, Field(ge=0, le=1024)]
    cpu: Annotated[str, Field(max_length=200)] | None = None
    cpu_count: Count | None = None
    cpu_cores: Count | None = None
    memory_bytes: Fact | None = None
    memory_max_bytes: Fact | None = None
    rack_units: Fact | None = None
    weight_kg: Fact | None = None
    max_power_w: Fact | None = None
    typical_power_w: Fact | None = None
    idle_power_w: Fact | None = None
    psu_count: Count | None = None
    psu_w: Fact | None = None
    psu_needed: Count | None = None
    airflow_m3_s: Fact | None = None
    inlet_min_c: Annotated[float, Field(ge=-50, le=100)] | None = None
    inlet_max_c: Annotated[float, Field(ge=-50, le=100)] | None = None
    cooling: Annotated[str, Field(max_length=60)] = "air"
    nics: tuple[NicSlot, ...] = ()
    free_pcie_slots: Count | None = None


class Cpu(Entry):
    """A host processor, per socket."""

    kind: Literal["cpu"] = "cpu"
    architecture: Annotated[str, Field(max_length=60)] = ""
    release: Annotated[str, Field(max_length=10)] = ""
    cores: Annotated[int, Field(ge=1, le=4096)]
    max_sockets: Annotated[int, Field(ge=1, le=16)]
    memory_type: Annotated[str, Field(max_length=40)] = ""
    memory_channels: Count | None = None
    memory_transfers_s: Fact | None = None
    memory_bandwidth_bytes_s: Fact
    max_memory_bytes: Fact | None = None
    amx: bool = False
    avx512: bool = False
    bf16: bool = False
    tdp_w: Fact


class Nic(Entry):
    """A network card."""

    kind: Literal["nic"] = "nic"
    technology: Annotated[str, Field(max_length=100)] = ""
    ports: Annotated[int, Field(ge=1, le=64)] = 1
    port_bits_s: Positive
    power_w: Fact | None = None
    power_max_w: Fact | None = None
    latency_s: Fact | None = None
    pcie: Annotated[str, Field(max_length=40)] | None = None


class Switch(Entry):
    """A network switch."""

    kind: Literal["switch"] = "switch"
    technology: Annotated[str, Field(max_length=100)] = ""
    ports: Count | None = None
    port_bits_s: Positive | None = None
    power_w: Fact | None = None
    power_max_w: Fact | None = None
    latency_s: Fact | None = None
    rack_units: Count | None = None
    weight_kg: Amount | None = None


class Optic(Entry):
    """A transceiver module. ``ports`` is how many links one module carries."""

    kind: Literal["optic"] = "optic"
    technology: Annotated[str, Field(max_length=100)] = ""
    ports: Annotated[int, Field(ge=1, le=64)] = 1
    port_bits_s: Positive | None = None
    power_w: Fact | None = None
    power_max_w: Fact | None = None


class Link(Entry):
    """A link technology; speeds are one direction. [B/s]"""

    kind: Literal["link"] = "link"
    link_kind: Annotated[str, Field(max_length=40)]
    one_way_bytes_s: Fact | None = None
    pair_one_way_bytes_s: Fact | None = None
    pairs_only: bool = False
    latency_s: Fact | None = None


class Price(Record):
    """A dated indication of a price, never a quote. ``entry`` names the catalog entry, None for others."""

    id: Key
    item: Name
    entry: Name | None = None
    kind: Annotated[str, Field(max_length=40)]
    condition: Literal["new", "used"] | None = None
    per: Annotated[str, Field(max_length=40)] | None = None
    currency: Annotated[str, Field(pattern=r"^[A-Z]{3}$")]
    amount: Amount
    low: Amount | None = None
    high: Amount | None = None
    unit: Annotated[str, Field(max_length=60)] | None = None
    date: Annotated[str, Field(max_length=20)]
    region: Annotated[str, Field(max_length=60)] = ""
    gpu: Name | None = None
    gpus: Count | None = None
    price_kind: Literal["market", "launch"] | None = None
    # The entries a short name in the source may mean; `entry` is then None.
    candidates: tuple[Name, ...] = ()
    age_years: Amount | None = None
    source: Key
    confidence: Confidence = "medium"
    note: Text = ""
    listed_on: Annotated[str, Field(max_length=20)] | None = None


class Statistic(Record):
    """A published figure that is neither a price nor a class value: failure counts, residual values, network shares."""

    id: Key
    item: Name
    kind: Annotated[str, Field(max_length=40)]
    metric: Key
    value: float
    low: float | None = None
    high: float | None = None
    unit: Annotated[str, Field(max_length=60)]
    per: Annotated[str, Field(max_length=40)] | None = None
    date: Annotated[str, Field(max_length=20)]
    region: Annotated[str, Field(max_length=60)] = ""
    source: Key
    confidence: Confidence = "medium"
    note: Text = ""


class Assumption(Record):
    """A class value for a figure that is not known, with its 80 % range. Always shown as assumed."""

    key: Key
    applies_to: Name
    value: float
    low: float
    high: float
    unit: Annotated[str, Field(max_length=60)]
    basis: Literal["source", "judged"]
    source: Key
    date: Annotated[str, Field(max_length=20)] = ""
    note: Text = ""


class Gate(Record):
    """A rule or record of what runs where, kept as the source states it (see `compatibility`)."""

    name: Name
    kind: Annotated[str, Field(max_length=40)]
    data: dict[str, Any]


class Runtime(Entry):
    """Serving or training software. ``rules`` is read by `compatibility` only."""

    kind: Literal["runtime"] = "runtime"
    use: Literal["serving", "desktop", "training", "finetune", "library"]
    # The engine row of the calibration table that speaks for it; None = no speed is predicted with it.
    engine: Annotated[str, Field(max_length=60)] | None = None
    os: tuple[Annotated[str, Field(max_length=20)], ...] = ()
    backends: tuple[Annotated[str, Field(max_length=80)], ...] = ()
    # True, False, or None where no source says.
    tensor_parallel: bool | None = None
    pipeline_parallel: bool | None = None
    data_parallel: bool | None = None
    expert_parallel: bool | None = None
    context_parallel: bool | None = None
    attention_data_parallel: bool | None = None
    multi_node: bool | None = None
    lora_serving: bool | None = None
    speculative_decoding: bool | None = None
    prefix_cache: bool | None = None
    memory_fraction: Annotated[float, Field(gt=0, le=1)] | None = None
    memory_fraction_of_free: bool = False
    max_sequences: Count | None = None
    max_batched_tokens: Count | None = None
    methods: tuple[Annotated[str, Field(max_length=40)], ...] = ()
    licence: Annotated[str, Field(max_length=200)] = ""
    status: Text = ""
    rules: dict[str, Any] = {}


AnyEntry = Gpu | Server | Cpu | Nic | Switch | Optic | Link | Llm | Runtime
