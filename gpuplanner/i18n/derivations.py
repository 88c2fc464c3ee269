"""A derivation in words: names of its figures, formulas in symbols and in numbers, where a figure comes from.

The model names figures by keys; a formula is written from the operation of a node and the nodes below it, so that it
cannot say anything else than what is worked out.
"""

from typing import Any

from gpuplanner.i18n import N_, _, facts, format

NAMES: dict[str, str] = {
    # speed
    "output": N_("Output within targets"),
    "output_limit": N_("Output without targets"),
    "first_token": N_("First token"),
    "per_token": N_("Time per token"),
    "headroom": N_("Headroom"),
    "single_stream": N_("One request alone"),
    "prefill": N_("Prefill rate"),
    "requests_within": N_("Requests/s within targets"),
    "requests_limit": N_("Requests/s without targets"),
    "requests_asked": N_("Requests asked for at the peak"),
    "in_flight_asked": N_("Requests in flight asked for"),
    "full_queue": N_("A queue that is always full"),
    "demand_output": N_("Output asked for at the peak"),
    "first_token_at_capacity": N_("First token at that rate"),
    "per_token_at_capacity": N_("Time per token at that rate"),
    "target_first_token_s": N_("Target for the first token"),
    "target_per_token_s": N_("Target per token"),
    "in_flight": N_("Requests in flight, one copy"),
    "replica_sharing": N_("What copies and stages keep of linear scaling"),
    "cycle": N_("Cycle of a full batch"),
    "reading": N_("Reading the prompts of a batch"),
    "writing": N_("Writing the answers"),
    "prefill_in_chunk": N_("One prompt read inside the steps"),
    "reading_others": N_("Prompts of others read meanwhile"),
    "answer_time": N_("Time from first to last token"),
    "per_token_mean": N_("Mean time per token"),
    "crowding": N_("Crowding at the percentile"),
    "percentile": N_("Percentile of the target"),
    "prefill_one": N_("Reading one prompt"),
    "half_step": N_("Half of the step under way"),
    "engine_time": N_("Engine, scheduler and launches"),
    "waiting": N_("Waiting for prompts ahead and for a place"),
    "tail": N_("How far the slow ones lie above the mean"),
    "closed_queue": N_("Queue and engine"),
    "utilisation": N_("Utilisation at your demand"),
    "tokens_served": N_("Output tokens served at the peak"),
    "decode_step": N_("Decode step"),
    "weights_compute": N_("Weights and arithmetic, overlapped"),
    "weights_time": N_("Reading the weights"),
    "compute_time": N_("Arithmetic"),
    "kv_cache_time": N_("Reading the KV cache"),
    "kernels_time": N_("Starting kernels"),
    "dense_layers_time": N_("Starting kernels of all layers"),
    "expert_layers_time": N_("Starting kernels of expert layers"),
    "layers_time": N_("Starting kernels, before the card's factor"),
    "communication_time": N_("Links between cards"),
    "network_time": N_("Time on links and network"),
    "decode_wait": N_("Waiting in decode steps"),
    "prefill_wait": N_("Waiting while prompts are read"),
    "phase_share": N_("Share of the busy time"),
    "link_wait": N_("Waiting for the network"),
    "chunk_time": N_("Reading the prompts of one chunk"),
    "all_reduce_time": N_("One all-reduce"),
    "link_latency": N_("Latency of the link"),
    "transfer_time": N_("Transfer"),
    "link_reached": N_("Speed of the link that is reached"),
    "link_speed": N_("Link between cards, one way"),
    "pcie_speed": N_("PCIe, one way"),
    "message": N_("Bytes of a message"),
    "per_layer": N_("All-reduces a layer"),
    "host_time": N_("Host software"),
    "scheduling_time": N_("Scheduling the sequences"),
    "attention_time": N_("Attention"),
    "elementwise_time": N_("Norms and activations"),
    "bytes_read": N_("Bytes read"),
    "body_read": N_("Layers"),
    "experts_read": N_("Experts that are awake"),
    "head_read": N_("Output head"),
    "cache_read": N_("Bytes of cache read"),
    "cache_share_reached": N_("Share of the bandwidth reached, attention included"),
    "experts_awake": N_("Experts awake in a step"),
    "step_work": N_("Work of a step"),
    "prefill_work": N_("Work of a prompt"),
    "prefill_body_work": N_("Work of the layers"),
    "prefill_head_work": N_("Work of the output head"),
    "flop_per_parameter": N_("FLOP per parameter and token"),
    "sequences": N_("Sequences"),
    "fresh_tokens": N_("Prompt tokens computed"),
    "not_cached": N_("Share that no cached prefix covers"),
    "mean_context": N_("Mean context"),
    "sequence_tokens": N_("Tokens of a sequence"),
    "accepted_tokens": N_("Tokens per step and sequence"),
    "draft_tokens": N_("Tokens tried per step"),
    # card
    "bandwidth": N_("Memory bandwidth"),
    "bandwidth_capped": N_("Memory bandwidth under the power cap"),
    "peak": N_("Peak rate, dense"),
    "peak_sustained": N_("Peak rate at the clock that is held"),
    "sustained": N_("Share of the boost clock that is held"),
    "board_power": N_("Board power"),
    "power_cap": N_("Power cap"),
    "room_cap": N_("Power that the room leaves to a card"),
    "idle_power": N_("Idle power of a card"),
    "memory_size": N_("Memory of a card"),
    "memory_visible": N_("Memory that programs see"),
    "memory_fraction": N_("Share that the software fills"),
    "devices_per_card": N_("GPUs on a card"),
    "cpu_bandwidth": N_("Memory bandwidth of a processor"),
    "cpu_cores": N_("Cores of a processor"),
    "sockets": N_("Processors"),
    # model
    "active_params": N_("Parameters a token uses"),
    "total_params": N_("Parameters"),
    "body_params": N_("Parameters of the layers"),
    "body_active_params": N_("Parameters of the layers a token uses"),
    "head_params": N_("Parameters of the output head"),
    "ends_params": N_("Embedding and output head"),
    "expert_params": N_("Parameters of one expert in all layers"),
    "all_expert_params": N_("Parameters of all experts"),
    "experts": N_("Experts"),
    "experts_per_token": N_("Experts a token uses"),
    "expert_layers": N_("Layers with experts"),
    "layers": N_("Layers"),
    "kv_heads": N_("KV heads"),
    "hidden": N_("Hidden width"),
    "vocabulary": N_("Vocabulary"),
    "ffn_width": N_("FFN width"),
    "bytes_per_weight": N_("Bytes per weight"),
    "bytes_per_kv": N_("Bytes per cache element"),
    # how it runs
    "tp": N_("Tensor parallel"),
    "pp": N_("Pipeline stages"),
    "dp": N_("Copies"),
    "ep": N_("Expert parallel"),
    "cp": N_("Context parallel"),
    "expert_shards": N_("Cards that share the experts"),
    "cache_shards": N_("Cards that share the cache"),
    "attention_ranks": N_("Attention ranks"),
    "max_sequences": N_("Most sequences of the software"),
    "max_batched_tokens": N_("Tokens in a chunk"),
    "runtime_name": N_("Software"),
    "load_share": N_("Share of the load"),
    # inputs
    "prompt_tokens": N_("Prompt"),
    "answer_tokens": N_("Answer"),
    "prompt_spread": N_("Spread of prompt lengths"),
    "shared_prefix": N_("Shared prefix"),
    "users": N_("Users"),
    "requests_per_hour": N_("Requests per user in the peak hour"),
    "mean_to_peak": N_("Mean load over peak"),
    "servers": N_("Servers"),
    "gpus_per_server": N_("GPUs per server"),
    "devices": N_("GPUs"),
    "network_per_gpu": N_("Network per GPU, one way"),
    "altitude": N_("Altitude in metres"),
    "term": N_("Term"),
    "discount_rate": N_("Discount rate"),
    "staff": N_("Staff"),
    "epochs": N_("Epochs"),
    "tokens_per_epoch": N_("Tokens per epoch"),
    "tokens_to_train": N_("Tokens to train on"),
    "global_batch": N_("Sequences in a step"),
    "micro_batch": N_("Micro-batch"),
    "interleave": N_("Interleaved stages"),
    "passes": N_("Passes over the weights"),
    "recompute": N_("Recomputed activations"),
    "sharding": N_("Sharding stage"),
    "gradient_bytes": N_("Bytes per gradient"),
    "optimizer_bytes": N_("Optimizer bytes per parameter"),
    # memory
    "memory_used": N_("Memory used"),
    "memory_bytes": N_("Memory per GPU"),
    "weights": N_("Weights of the model"),
    "kv_cache": N_("KV cache"),
    "activations": N_("Activations"),
    "gradients": N_("Gradients"),
    "optimizer": N_("Optimizer"),
    "runtime": N_("Runtime reserve"),
    "usable": N_("Usable memory"),
    "kv_capacity": N_("Requests the KV cache holds"),
    "cache_budget": N_("Memory left for the cache"),
    "cache_per_sequence": N_("Cache of one sequence on a card"),
    "cache_of_longest": N_("Cache of the longest sequence"),
    "cache_fetches": N_("How often a step reads the cache"),
    "cache_of_sequence": N_("Cache of one sequence"),
    "params_per_gpu": N_("Parameters on a card"),
    # training
    "tokens": N_("Training rate"),
    "step": N_("Step time"),
    "step_tokens": N_("Tokens in a step"),
    "matrix": N_("Matrix products"),
    "matrix_share_reached": N_("Share of the peak that is reached"),
    "attention": N_("Attention"),
    "elementwise": N_("Norms and activations"),
    "tensor_communication": N_("Tensor-parallel traffic"),
    "expert_communication": N_("Expert traffic"),
    "context_communication": N_("Context-parallel traffic"),
    "data_communication": N_("Gradient exchange"),
    "launch": N_("Launch floor"),
    "bubble": N_("Pipeline bubbles"),
    "stragglers": N_("Stragglers"),
    "mfu": N_("MFU"),
    "flop_per_token": N_("Model FLOP per token"),
    "duration": N_("Duration"),
    "availability": N_("Share of the time without failures"),
    "without_own_rows": N_("Without your own measurements"),
    "own_measurements": N_("Your own measurements"),
    "gpu_hours": N_("GPU-hours"),
    "energy_per_run": N_("Energy per run"),
    "run_power": N_("Power of the run"),
    "per_run": N_("Cost per run"),
    "run_share": N_("The run's share of the term"),
    # power and room
    "max_power": N_("Nameplate power"),
    "nameplate": N_("Nameplate power"),
    "load_power": N_("Power at peak load"),
    "average_power": N_("Average power"),
    "facility_power": N_("Power of the facility"),
    "pue": N_("PUE"),
    "heat": N_("Heat at load"),
    "heat_of_power": N_("Heat per watt"),
    "cooling_tons": N_("Cooling needed"),
    "watts_per_ton": N_("Watts per ton of cooling"),
    "air": N_("Air through the servers"),
    "air_heat": N_("Heat that the air carries"),
    "air_per_watt": N_("Air per watt"),
    "air_density": N_("Air density against sea level"),
    "air_rise": N_("Warming of the air in kelvin"),
    "weight": N_("Weight of the servers"),
    "group_weight": N_("Weight of a group"),
    "server_weight": N_("Weight of a server"),
    "group_nameplate": N_("Nameplate of a group"),
    "group_load": N_("Load of a group"),
    "group_idle": N_("Idle power of a group"),
    "group_average": N_("Average of a group"),
    "busy_share": N_("Share of the time under load"),
    "server_power": N_("Power of a server"),
    "server_nameplate": N_("Nameplate of the server"),
    "rest_of_server": N_("Rest of a server"),
    "cards_power": N_("Cards of a server"),
    "card_limit": N_("Power limit of a card"),
    "gpu_power": N_("Power of a card at load"),
    "dynamic_power": N_("Drawn above idle"),
    "power_range": N_("Range above idle"),
    "power_load": N_("Part of the range in use"),
    "memory_load": N_("Part for memory"),
    "compute_load": N_("Part for arithmetic"),
    "memory_use": N_("Bandwidth in use"),
    "compute_use": N_("Peak rate in use"),
    "network_power": N_("Switches and network"),
    "part_power": N_("Power of a part of the network"),
    "part_watts": N_("Power of one piece"),
    "part_price": N_("Price of one piece"),
    "servers_load": N_("Load of all servers"),
    "energy_per_million": N_("Energy, M tokens"),
    "energy_of_group": N_("Energy of a group's share"),
    "tokens_counted": N_("Tokens counted"),
    "seconds_per_hour": N_("Seconds per hour"),
    "hours_per_year": N_("Hours per year"),
    "months_per_year": N_("Months per year"),
    "watts_per_kw": N_("Watts per kW"),
    # money
    "purchase": N_("Purchase"),
    "line_servers": N_("Servers"),
    "line_spares": N_("Spare cards"),
    "line_network": N_("Switches and cables"),
    "line_racks": N_("Racks"),
    "line_rent": N_("Rented servers"),
    "owned_servers": N_("Already owned"),
    "quantity": N_("Quantity"),
    "unit_price": N_("Price of one server"),
    "cards_price": N_("Cards of a server"),
    "card_price": N_("Price of a card"),
    "chassis_price": N_("Server without cards"),
    "rack_price": N_("Rack and power strips"),
    "electricity": N_("Electricity of a year"),
    "kwh_per_year": N_("Energy of a year"),
    "price_per_kwh": N_("Price of a kWh"),
    "running": N_("Running cost of a year"),
    "running_over_term": N_("Running cost over the term"),
    "maintenance": N_("Maintenance"),
    "maintenance_share": N_("Maintenance per year, share of price"),
    "rent": N_("Rent of a year"),
    "rented_hours": N_("Hours rented per year"),
    "resale": N_("Resale at the end"),
    "resale_today": N_("Resale, in today's money"),
    "resale_share": N_("Share of the price that resale brings"),
    "group_resale": N_("Resale of a group"),
    "worth": N_("Price of the group"),
    "annuity": N_("Years, discounted"),
    "discount": N_("Discount to today"),
    "total": N_("Total over term"),
    "per_million": N_("Per million tokens"),
    "tokens_per_year": N_("Tokens served in a year"),
    "cloud": N_("Renting as much for a year"),
    "cloud_hour": N_("Rent of one GPU-hour"),
    "breakeven": N_("Break-even vs rent"),
    "saved_per_year": N_("Saved per year against renting"),
    "speed_ratio": N_("Speed against the baseline"),
}

CONSTANTS: dict[str, str] = {
    "dram": N_("Share of the memory bandwidth reached"),
    "matrix16": N_("Share of the 16-bit peak reached"),
    "matrix8": N_("Share of the 8-bit peak reached"),
    "matrix4": N_("Share of the 4-bit peak reached"),
    "prefill vector": N_("Share of the vector rate reached"),
    "attention16": N_("Share of the peak that attention reaches"),
    "layer time": N_("Starting the kernels of a layer"),
    "host time": N_("Host work per step"),
    "sequence time": N_("Host work per sequence"),
    "engine dram": N_("Software's factor on bandwidth"),
    "engine matrix": N_("Software's factor on arithmetic"),
    "first token time": N_("Fixed time before the first token"),
    "prefill interleave": N_("Prompts queueing behind others"),
    "format": N_("Weight format's factor on bandwidth"),
    "layer factor": N_("Card's factor on kernel starts"),
    "expert layer time": N_("Starting the kernels of an expert layer"),
    "expert matrix": N_("Factor of grouped products"),
    "all-reduce latency": N_("Latency of an all-reduce"),
    "link share": N_("Share of the link reached"),
    "launch floor layer": N_("Launch floor of a layer in prefill"),
    "launch floor expert layer": N_("Launch floor of an expert layer"),
    "cache wait": N_("Waiting for space in the cache"),
    "distinct experts": N_("Skew of the expert router"),
    "repeated cache reads": N_("Cache read again for the heads of a group"),
    "fullest rank": N_("Crowding of the fullest rank"),
    "power": N_("Power coefficient"),
    "train matrix16": N_("Training share of the 16-bit peak"),
    "train matrix8": N_("Training share of the 8-bit peak"),
    "train matrix4": N_("Training share of the 4-bit peak"),
    "framework": N_("Training software's factor"),
    "train attention": N_("Attention's share of the peak in training"),
    "train link share": N_("Share of the link reached in training"),
    "train network share": N_("Share of the network reached in training"),
    "train launch layer": N_("Launch floor of a layer in training"),
    "train launch expert layer": N_("Launch floor of an expert layer in training"),
    "train launch expert": N_("Launch floor of one expert in training"),
    "train expert tokens": N_("Tokens of an expert that fill a matrix product"),
    "train attention code": N_("Share of the attention rate that a framework's code reaches"),
    "train unfused traffic": N_("Memory traffic of operations that are not fused"),
    "train dequantise": N_("Rate of unpacking quantised weights"),
    "train expert matrix": N_("Factor of grouped products in training"),
    "train qlora": N_("Factor of dequantising"),
    "train hidden tensor communication": N_("Share of tensor traffic that is hidden"),
    "train overlap": N_("Share of compute that hides gradient exchange"),
    "bubble share": N_("Share of the textbook bubble"),
    "stragglers": N_("Loss to stragglers a doubling of cards"),
    "cpu token time": N_("Fixed time per token"),
    "cpu matrix": N_("Share of the processor's vector rate reached"),
    "cpu dram": N_("Share of the processor's bandwidth reached"),
}

ORIGINS: dict[str, str] = {
    "formula": N_("formula"),
    "catalog": N_("catalog"),
    "your input": N_("your input"),
    "calibrated": N_("calibrated"),
    "assumed": N_("assumed"),
    "measured": N_("measured"),
    "choice": N_("chosen"),
}

CONFIDENCE: dict[str, str] = {
    "high": N_("high"),
    "medium": N_("medium"),
    "low": N_("low"),
    "judged": N_("judged"),
    "unverified": N_("unverified"),
    "good": N_("good"),
    "fair": N_("fair"),
    "rough": N_("rough"),
}

# How a node that claims no formula of one line comes about.
HOW: dict[str, str] = {
    "requests_within": N_("Highest rate on the load curve at which both targets hold"),
    "first_token_at_capacity": N_("Read off the load curve at that rate"),
    "per_token_at_capacity": N_("Read off the load curve at that rate"),
    "in_flight": N_("What the cache holds, at most what the software allows"),
    "waiting": N_("M/G/1 queue for prefill and M/M/m queue for places"),
    "tail": N_("Log-normal prompt lengths and an exponential wait"),
    "sustained": N_("Watts per TFLOP against the best-fed card, to the power 1/2.7"),
    "cache_share_reached": N_("Bytes read ÷ (bandwidth × time)"),
    "matrix_share_reached": N_("Work ÷ (GPUs × peak × time)"),
    "experts_awake": N_("Experts that a batch of tokens wakes up"),
    "gpu_power": N_("Idle and load, at most the card's limit"),
    "group_average": N_("Load and idle power, weighted by time"),
    "memory_visible": N_("What the driver shows, less 1 % for itself"),
    "tokens_per_year": N_("Mean load over the year, at most what is carried"),
    "annuity": N_("(1 − (1 + r)^−T) ÷ r; without a rate, the years"),
    "discount": N_("(1 + r)^−T"),
    "kv_cache": N_("Cache of the requests in flight, at least one longest sequence"),
}

_SERVING = N_(
    "Models of 1 to 700 G parameters, server software, contexts to 32,000 tokens; elsewhere the band is wider."
)
_TRAINING = N_("Decoder models of 0.1 to 1,000 G parameters on 1 to 10,000 GPUs.")
_CPU = N_("Processors that read weights from main memory, one request at a time.")
VALID: dict[str, str] = {
    "max_throughput": _SERVING,
    "serving_tpot": _SERVING,
    "ttft_idle": _SERVING,
    "ttft_loaded": N_("A weak law: waiting depends on how requests arrive and how software schedules them."),
    "decode_fixed_batch": _SERVING,
    "peak_memory": N_("Settings as stated; other versions of the software reserve more or less."),
    "kv_capacity": N_("Settings as stated; other versions of the software reserve more or less."),
    "training": _TRAINING,
    "finetune": N_("Well-packed batches of 0.1 to 1,000 G parameters; recompute as stated."),
    "power_gpu": N_("Data-centre cards that serve."),
    "power_server": N_("Air- or liquid-cooled servers, readings at the wall."),
    "energy": N_("Data-centre cards that serve."),
    "cpu_decode": _CPU,
    "cpu_prefill": _CPU,
}


# From here on tokens are counted in millions, billions or 亿.
_MANY_TOKENS = 1e6


def name(node: Any) -> str:
    """What a node is called; a constant by its group and row, a side of a ratio with its letter."""
    if node.constant is not None:
        group, _slash, row = node.constant.name.partition("/")
        known = CONSTANTS.get(group)
        label = _(known) if known else group
        return _("{what} · {which}").format(what=label, which=row) if row else label
    known = NAMES.get(node.key)
    label = _(known) if known else node.key.replace("_", " ")
    percentile = node.numbers.get("percentile") if node.numbers else None
    if percentile:
        label = _("{what}, {percentile}").format(what=label, percentile=facts.percentile(float(percentile)))
    return _("{what} · {which}").format(what=label, which=node.name) if node.name else label


def origin(node: Any) -> str:
    """The word of the pill: where the figure comes from."""
    return _(ORIGINS[node.origin])


def confidence(word: str) -> str:
    """How sure a source or a band is, in one word."""
    known = CONFIDENCE.get(word)
    return _(known) if known else word


def valid(node: Any) -> str:
    """Where the formula holds; empty where nothing but arithmetic is done."""
    known = VALID.get(node.family)
    return _(known) if known else ""


def scale(node: Any, currency: str) -> facts.Scale:
    """The unit of a node."""
    return facts.scale(node.kind, [node.value], currency)


def value(node: Any, currency: str) -> tuple[str, str]:
    """A node's value and its unit. Inputs and catalog figures have all their digits."""
    of = scale(node, currency)
    unit = "" if of.kind in ("headroom", "ratio") else of.unit
    if node.value is None:
        return format.NOT_KNOWN, ""
    if of.kind == "tokens" and abs(node.value) >= _MANY_TOKENS:
        return format.tokens(node.value), unit
    if of.kind in ("share", "headroom", "ratio", "power"):
        return of.value(node.value), unit
    exactly = node.origin in ("your input", "catalog", "choice") and not node.children
    # A count is a count, however it came about: 2 FLOP, 8 cards.
    exactly = exactly or (of.kind in ("count", "tokens") and float(node.value).is_integer())
    digits = of.exact(node.value) if exactly else of.value(node.value)
    return (digits if len(digits) <= 9 else of.value(node.value)), unit


def band(node: Any, currency: str) -> str:
    """A node's band without its unit; empty where it has none."""
    return scale(node, currency).band(node.low, node.high) if node.has_band else ""


def text(node: Any, currency: str) -> str:
    """A node's value with its unit."""
    if node.kind == "money":
        return format.money(node.value, currency)
    shown, unit = value(node, currency)
    return f"{shown} {unit}" if unit else shown


def in_words(node: Any) -> str:
    """How a node follows from its operands, in their names."""
    return _written(node, name)


def in_symbols(node: Any) -> str:
    """The formula in the symbols of the field, where every operand has one; else empty."""
    if not node.operands or any(not child.symbol for child in node.operands):
        return ""
    return _written(node, lambda child: child.symbol)


def in_numbers(node: Any, currency: str) -> str:
    """The formula with the numbers put in; empty where no formula is claimed."""
    if node.operation in ("leaf", "follows"):
        return ""
    return f"{_written(node, lambda child: text(child, currency))} = {text(node, currency)}"


def _written(node: Any, say: Any) -> str:
    if node.operation == "leaf":
        return ""
    if node.operation == "follows":
        known = HOW.get(node.key)
        if known:
            return _(known)
        return _("from {names}").format(names=_(", ").join(say(child) for child in node.children))
    operands = node.operands
    if node.operation == "sum":
        first, *rest = operands
        signed = [("− " if first.role == "-" else "") + say(first)]
        signed += [("− " if child.role == "-" else "+ ") + say(child) for child in rest]
        return " ".join(signed)
    if node.operation in ("product", "less_one"):
        # Factors come first, whatever their order.
        ordered = sorted(operands, key=lambda child: child.role == "÷")
        first, *rest = ordered
        factors = [("1 ÷ " if first.role == "÷" else "") + say(first)]
        factors += [("÷ " if child.role == "÷" else "× ") + say(child) for child in rest]
        return " ".join(factors) + (" − 1" if node.operation == "less_one" else "")
    if node.operation == "smooth_max":
        first, second = operands
        return f"(({say(first)})^2.5 + ({say(second)})^2.5)^(1/2.5)"
    listed = _(", ").join(say(child) for child in operands)
    if node.operation == "largest":
        return _("largest of {names}").format(names=listed)
    return _("smallest of {names}").format(names=listed)


def outline(node: Any, currency: str, depth: int = 0) -> list[str]:
    """The whole derivation as text, one figure a line, tab-separated: name, value, unit, band, origin, formula, source.

    Text from a catalog or plan stands as it is.
    """
    shown, unit = value(node, currency)
    cited = ""
    if node.source is not None:
        cited = ", ".join(part for part in (node.source.title or node.source.where, node.source.date) if part)
    how = in_numbers(node, currency) or in_words(node)
    cells = (
        name(node), shown, unit, band(node, currency), origin(node), how, cited,
    )  # fmt: skip
    # A line break in a name must not begin a row of the table.
    lines = ["  " * depth + "\t".join(" ".join(cell.split()) for cell in cells).rstrip()]
    for child in node.children:
        lines += outline(child, currency, depth + 1)
    return lines
