"""The place of an input in a plan, its value, and the headline figures that a plan keeps, in words."""

from collections.abc import Sequence
from typing import Any

from gpuplanner.i18n import N_, _, ngettext
from gpuplanner.i18n import format as words

# By field name; a name that means two things stands with the field that holds it.
_FIELDS = {
    "name": N_("name"),
    "notes": N_("notes"),
    "currency": N_("currency"),
    "exchange_rates": N_("exchange rate"),
    "per_base": N_("units a unit of the base currency buys"),
    "date": N_("date"),
    "country": N_("country"),
    "baseline": N_("baseline"),
    "measured": N_("own measurements"),
    "llm": N_("language model"),
    "prompt_tokens": N_("prompt, tokens"),
    "prompt_spread": N_("prompt, spread"),
    "answer_tokens": N_("answer, tokens"),
    "answer_spread": N_("answer, spread"),
    "shared_prefix_share": N_("shared share of the prompt"),
    "max_context_tokens": N_("longest context, tokens"),
    "load": N_("load"),
    "users": N_("users"),
    "requests_per_user_peak_hour": N_("requests per user in the peak hour"),
    "requests_s": N_("requests per second"),
    "concurrency": N_("requests in flight"),
    "mean_to_peak": N_("mean load ÷ peak"),
    "growth_per_year": N_("growth a year"),
    "first_token_s": N_("first token at most, s"),
    "first_token_percentile": N_("first token, percentile"),
    "per_token_s": N_("per token at most, s"),
    "per_token_percentile": N_("per token, percentile"),
    "lowest_format": N_("lowest weight format"),
    "method": N_("method"),
    "rank": N_("adapter rank"),
    "adapter_targets": N_("adapter targets"),
    "tokens_per_epoch": N_("tokens per epoch"),
    "epochs": N_("epochs"),
    "sequence_tokens": N_("sequence length, tokens"),
    "packing": N_("packing"),
    "global_batch": N_("global batch"),
    "start": N_("start"),
    "deadline": N_("deadline"),
    "deadline_s": N_("time allowed, s"),
    "tokens": N_("tokens"),
    "workload": N_("workload"),
    "runtime": N_("software"),
    "version": N_("version"),
    "weights": N_("weight format"),
    "compute": N_("compute format"),
    "kv": N_("KV cache format"),
    "max_sequences": N_("sequences at once, at most"),
    "max_batched_tokens": N_("batched tokens, at most"),
    "memory_fraction": N_("share of the memory used"),
    "speculation": N_("speculative decoding"),
    "pruning_kept": N_("share of weights kept"),
    "pruning_2_4": N_("2:4 pruning"),
    "optimizer": N_("optimizer"),
    "sharding": N_("sharding"),
    "recompute": N_("recomputation"),
    "micro_batch": N_("micro-batch"),
    "interleave": N_("interleaving"),
    "offload": N_("offload"),
    "server": N_("server"),
    "chassis_class": N_("chassis"),
    "cpu": N_("CPU"),
    "sockets": N_("CPU sockets"),
    "memory_bytes": N_("memory, bytes"),
    "gpu": N_("GPU"),
    "gpus_per_server": N_("GPUs per server"),
    "servers": N_("servers"),
    "os": N_("operating system"),
    "condition": N_("condition"),
    "price": N_("price of one server"),
    "vendor": N_("vendor"),
    "quote_date": N_("date of the quote"),
    "age_years": N_("age, years"),
    "power_cap_w": N_("power cap, W"),
    "in_server": N_("link inside the server"),
    "nics_per_server": N_("network cards per server"),
    "fabric": N_("network"),
    "nic_bits_s": N_("network speed, bit/s"),
    "rails": N_("rails"),
    "oversubscription": N_("oversubscription"),
    "placement": N_("places in the racks"),
    "power_w": N_("power available, W"),
    "feeds": N_("feeds"),
    "ups_w": N_("UPS, W"),
    "plug_region": N_("plug region"),
    "volts": N_("voltage, V"),
    "amps": N_("breaker, A"),
    "phases": N_("phases"),
    "continuous_factor": N_("continuous share of a breaker"),
    "rack_power_w": N_("power per rack, W"),
    "rack_units": N_("rack height, U"),
    "rack_weight_kg": N_("weight per rack, kg"),
    "racks": N_("racks"),
    "cooling": N_("kind of cooling"),
    "cooling_w": N_("cooling capacity, W"),
    "supply_c": N_("supply temperature, °C"),
    "altitude_m": N_("altitude, m"),
    "air_rise_k": N_("air temperature rise, K"),
    "coolant_rise_k": N_("coolant temperature rise, K"),
    "pue": N_("PUE"),
    "term_years": N_("term, years"),
    "discount_rate": N_("discount rate"),
    "electricity_per_kwh": N_("electricity price per kWh"),
    "staff_per_year": N_("staff cost a year"),
    "maintenance_share": N_("maintenance share"),
    "duty_cycle": N_("duty cycle"),
    "failure_rate_per_year": N_("failures a year"),
    "resale_share": N_("resale share"),
    "cloud_per_gpu_hour": N_("cloud price per GPU-hour"),
    "budget": N_("budget"),
    "budget_covers": N_("budget covers"),
    "priority": N_("priority"),
    "may_use": N_("may use"),
    "vendors": N_("vendors"),
    "countries": N_("countries"),
    "spare_share": N_("spare share"),
    "owned": N_("owned cards"),
    "count": N_("count"),
}
_SECTIONS = {
    "site": N_("Site"),
    "economics": N_("Economics"),
    "wishes": N_("Wishes"),
}


def place(path: Sequence[str | int]) -> str:
    """Where an input stands: "Scenario A, group 1, servers". Field names without words stand as they are."""
    parts: list[str] = []
    rest = list(path)
    while rest:
        step = rest.pop(0)
        if step == "scenarios" and rest:
            parts.append(_("Scenario {letter}").format(letter=rest.pop(0)))
        elif step == "workloads" and rest:
            parts.append(_("Workload {id}").format(id=rest.pop(0)))
        elif step == "groups" and rest:
            parts.append(_("group {number}").format(number=int(rest.pop(0)) + 1))
        elif step == "owned" and rest:
            parts.append(_("owned cards {number}").format(number=int(rest.pop(0)) + 1))
        elif step == "runs" and rest:
            rest.pop(0)
            if not rest:
                parts.append(_("how it runs"))
        elif step == "entries" and len(rest) > 1:
            rest.pop(0)
            parts.append(_("Catalog entry {name}").format(name=rest.pop(0)))
            parts += [str(each).replace("_", " ") for each in rest if each != "value"]
            rest = []
        elif step in _SECTIONS:
            parts.append(_(_SECTIONS[str(step)]))
        elif step == "network" and rest:
            continue
        else:
            parts.append(_(_FIELDS[str(step)]) if step in _FIELDS else str(step).replace("_", " "))
    return _(", ").join(parts)


def value(given: Any) -> str:
    """An input as it is read beside another: "automatic", "not set", "¥85,000", "4"."""
    if given is None or given == "" or given == ():
        return _("not set")
    if given == "auto":
        return _("automatic")
    if isinstance(given, bool):
        return _("yes") if given else _("no")
    if isinstance(given, int | float):
        return words.exact(given)
    if isinstance(given, str):
        return given
    if hasattr(given, "amount"):
        return words.money_exact(given.amount, given.currency)
    if isinstance(given, tuple):
        if all(isinstance(each, str) for each in given):
            return _(", ").join(given)
        return ngettext("{count} item", "{count} items", len(given)).format(count=len(given))
    fields = type(given).model_fields if hasattr(type(given), "model_fields") else {}
    if "value" in fields:
        return value(given.value)
    for name in ("name", "gpu", "kind", "letter", "workload"):
        if name in fields and getattr(given, name):
            return str(getattr(given, name))
    return _("present") if fields else "–"


def figure_name(key: str) -> str:
    """The words of a figure that a plan file keeps, with its unit."""
    names = {
        "speed_ratio": _("Speed against the baseline"),
        "output_tokens_s": _("Output within targets, tok/s"),
        "first_token_s": _("First token, s"),
        "per_token_s": _("Per token, s"),
        "headroom": _("Headroom"),
        "memory_share": _("Memory used, share"),
        "tokens_s": _("Training speed, tok/s"),
        "step_s": _("Training step, s"),
        "duration_s": _("Duration, s"),
        "it_load_w": _("Draw at load, W"),
        "it_nameplate_w": _("Nameplate, W"),
        "facility_w": _("Facility power, W"),
        "cooling_tons": _("Cooling, tons"),
        "purchase": _("Purchase"),
        "running_per_year": _("Running cost a year"),
        "total_over_term": _("Total over the term"),
        "per_million_tokens": _("Per million tokens"),
        "per_run": _("Per run"),
    }
    return names.get(key, key)
