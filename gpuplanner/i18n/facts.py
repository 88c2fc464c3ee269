"""What the model says, in words: findings, checks, headlines, ways out, metrics, units and marks.

The model returns a key and numbers in SI units; here a key names a message with named placeholders, and the name of a
placeholder says how its number is written (`need_bytes` in GiB, `value_s` in the unit that fits, `share` in percent).
Every layer that shows a fact (window, report, command line) asks here, so one fact has one sentence. `FACTS` is the
registry: what the model may emit.
"""

import string
from collections.abc import Callable, Iterable, Mapping
from functools import cache, lru_cache
from typing import Any, NamedTuple

from gpuplanner.i18n import N_, _, format, language, ngettext
from gpuplanner.units import (
    BTU_H_PER_W,
    GIB,
    KILO,
    M3_H_PER_CFM,
    MILLI,
    SECONDS_PER_DAY,
    SECONDS_PER_HOUR,
    SECONDS_PER_MINUTE,
)

Numbers = Mapping[str, Any]

JOULE_PER_KWH = KILO * SECONDS_PER_HOUR
# Words that a fact spells out are written in place; longer lists of names are cut, the window shows the rest.
_NAMES_SHOWN = 3


class Fact(NamedTuple):
    """One message; ``bare`` stands in when a number of ``message`` is absent, ``short`` when one of ``bare`` is too.

    ``counted`` chooses the plural by the number ``by``.
    """

    message: str = ""
    bare: str = ""
    short: str = ""
    counted: Callable[[int], str] | None = None
    by: str = ""


FINDINGS: dict[str, Fact] = {
    "exceeds_memory": Fact(
        N_("Needs {need_bytes} a GPU; {gpu} has {usable_bytes} usable"), N_("Does not fit in memory")
    ),
    "tight_memory": Fact(N_("Memory is {share} full: longer prompts may not fit"), N_("Memory is {share} full")),
    "misses_first_token": Fact(
        N_("First token {value_s} misses {target_s}; {binds} binds"),
        N_("First token {value_s} misses {target_s}"),
        N_("First token misses its target"),
    ),
    "misses_per_token": Fact(N_("Time per token {value_s} misses {target_s}"), N_("Time per token misses its target")),
    "overloaded": Fact(
        N_("Demand of {demand_tokens_s} exceeds the {capacity_tokens_s} it can serve"),
        N_("Demand exceeds what it can serve"),
    ),
    "low_end_misses_demand": Fact(
        N_("Low end of the band ({low_tokens_s}) is under demand, {demand_tokens_s}"),
        N_("Low end of the band is under demand"),
    ),
    "low_end_misses_first_token": Fact(
        N_("First token may reach {high_s}; the target is {target_s}"), N_("First token may reach {high_s}")
    ),
    "low_end_misses_per_token": Fact(
        N_("Time per token may reach {high_s}; the target is {target_s}"), N_("Time per token may reach {high_s}")
    ),
    "kv_cache_full": Fact(N_("KV cache holds {max_batch} requests; {batch} are in flight")),
    "misses_deadline": Fact(N_("Takes {value_s}; the deadline leaves {target_s}"), N_("Ends after the deadline")),
    "low_end_misses_deadline": Fact(
        N_("May take {high_s}; the deadline leaves {target_s}"),
        N_("May take {high_s}"),
        N_("May end after the deadline"),
    ),
    "exceeds_power": Fact(N_("Draws {value_w}; the feed gives {limit_w}"), N_("Draws more than the feed gives")),
    "nameplate_exceeds_power": Fact(
        N_("Nameplate {value_w} exceeds the feed of {limit_w}"), N_("Nameplate exceeds the feed")
    ),
    "tight_power": Fact(
        N_("Draws {value_w}, close to the {limit_w} of the feed"), N_("Close to the limit of the feed")
    ),
    "exceeds_ups": Fact(N_("Draws {value_w}; the UPS gives {limit_w}"), N_("Draws more than the UPS gives")),
    "tight_ups": Fact(N_("Draws {value_w}, close to the {limit_w} of the UPS"), N_("Close to the limit of the UPS")),
    "nameplate_exceeds_ups": Fact(N_("Nameplate {value_w} exceeds the UPS of {limit_w}")),
    "tight_cooling": Fact(N_("Heat of {heat_w} is close to cooling of {limit_w}"), N_("Close to the limit of cooling")),
    "exceeds_cooling": Fact(N_("Heat of {heat_w} exceeds cooling of {limit_w}"), N_("Heat exceeds the cooling")),
    "nameplate_exceeds_cooling": Fact(
        N_("Nameplate {heat_w} exceeds cooling of {limit_w}"), N_("Nameplate exceeds the cooling")
    ),
    "fabric_too_large": Fact(N_("{ports} network ports: more than three tiers of switches join")),
    "cannot_be_cooled": Fact(
        N_("Heat of {heat_w}: cards shut down, even at their lowest power limit"), N_("Too warm: cards shut down")
    ),
    "throttles": Fact(N_("Too warm: cards slow down to {share} of full speed"), N_("Too warm: cards slow down")),
    "exceeds_rack": Fact(N_("One rack needs {value_w}; its limit is {limit_w}"), N_("One rack exceeds its limit")),
    "inlet_too_warm": Fact(
        N_("Supply air of {supply_c} is warmer than the {limit_c} allowed"), N_("Supply air is too warm")
    ),
    "inlet_too_cold": Fact(
        N_("Supply air of {supply_c} is colder than the {limit_c} allowed"), N_("Supply air is too cold")
    ),
    "needs_liquid": Fact(N_("{server} is cooled by liquid; this room has no loop for it")),
    "liquid_version": Fact(N_("{server} is listed with air cooling: ask for its liquid-cooled version")),
    "air_in_liquid_room": Fact(N_("{server} takes no liquid: its heat stays in the air")),
    "several_circuits": Fact(
        counted=lambda n: ngettext(
            "A server of {value_w} needs {count} circuit of {limit_w} on each feed",
            "A server of {value_w} needs {count} circuits of {limit_w} on each feed",
            n,
        ),
        by="count",
    ),
    "feed_loss_slows": Fact(N_("With one feed lost, power supplies give {limit_w} of the {value_w} on the nameplate")),
    "feed_loss_stops": Fact(N_("One power supply a server: it stops with its feed")),
    "rack_binds": Fact(
        counted=lambda n: ngettext(
            "A rack takes {count} server: {binds} binds", "A rack takes {count} servers: {binds} binds", n
        ),
        by="count",
    ),
    "exceeds_budget": Fact(N_("Costs {amount}, {over} over the budget"), N_("Over the budget")),
    "budget_band_exceeds": Fact(
        N_("Price band reaches {high}; the budget is {budget}"), N_("Price band reaches {high}")
    ),
    "price_assumed": Fact(N_("No price on record for {entry}; a class value is assumed")),
    "price_old": Fact(
        counted=lambda n: ngettext(
            "Price is {months} month old; ask for a quote", "Price is {months} months old; ask for a quote", n
        ),
        by="months",
    ),
    "price_unknown": Fact(N_("No price is known for {entry}; enter a quote")),
    "used_no_warranty": Fact(
        counted=lambda n: ngettext(
            "Used cards: no vendor warranty, {spares} spare added",
            "Used cards: no vendor warranty, {spares} spares added",
            n,
        ),
        by="spares",
    ),
    "runtime_fails": Fact(N_("{runtime} does not run on {gpu}: {reason}"), N_("{runtime} does not run on {gpu}")),
    "runtime_limits": Fact(
        N_("{runtime} runs on {gpu} with limits: {reason}"), N_("{runtime} runs on {gpu} with limits")
    ),
    "runtime_unknown": Fact(N_("Not known whether {runtime} runs on {gpu}; test it first")),
    "illegal_split": Fact(N_("TP{tp} × PP{pp} cannot be used: {reason}"), N_("TP{tp} × PP{pp} cannot be used")),
    "tp_not_divides": Fact(N_("TP{tp} does not divide the {heads} attention heads")),
    "gpus_not_divisible": Fact(N_("{gpus} GPUs cannot be shared out in copies of {needed}")),
    "context_too_long": Fact(N_("Context of {context} tokens exceeds the model's {max_context}")),
    "no_nvlink": Fact(N_("{gpu} has no NVLink: cards talk over PCIe")),
    "waits_for_link": Fact(N_("Cards wait {share} of the time for {binds}")),
    "pcie_tensor_parallel": Fact(N_("TP{tp} over PCIe: every layer waits for the bus")),
    "export_cut_link": Fact(N_("{gpu} computes like {parent} but links at {link}, not {parent_link}")),
    "fp32_waste": Fact(N_("FP32 leaves the tensor cores idle: 16 bit is {speed_ratio} as fast")),
    "slow_runtime": Fact(N_("{runtime} holds the cards back: {other} is {ratio} as fast")),
    "trade_ratio": Fact(
        N_("At 16 bit H100 is {ratio_16bit} an A100; {claim} needs FP8 on the H100 ({ratio_fp8})"),
        N_("At 16 bit H100 is {ratio_16bit} an A100; {claim} needs FP8 on the H100"),
    ),
    "outside_measured": Fact(
        N_("Outside what was measured ({what}); band widened"), N_("Outside what was measured; band widened")
    ),
    "not_validated": Fact(N_("Not checked against measurements: {what}"), N_("Not checked against measurements")),
    "own_rows_speed": Fact(
        counted=lambda n: ngettext(
            "Your own measurement ({count}) shifts the speed by {shift}; its band narrows from {band_before} to "
            "{band_after} either way",
            "Your {count} measurements shift the speed by {shift}; its band narrows from {band_before} to {band_after} "
            "either way",
            n,
        ),
        by="count",
    ),
    "own_rows_first_token": Fact(
        counted=lambda n: ngettext(
            "Your own measurement ({count}) shifts the first token by {shift}; its band narrows from {band_before} to "
            "{band_after} either way",
            "Your {count} measurements shift the first token by {shift}; its band narrows from {band_before} to "
            "{band_after} either way",
            n,
        ),
        by="count",
    ),
    "own_rows_power": Fact(
        counted=lambda n: ngettext(
            "Your own measurement ({count}) shifts power by {shift}; its band narrows from {band_before} to "
            "{band_after} either way",
            "Your {count} measurements shift power by {shift}; its band narrows from {band_before} to {band_after} "
            "either way",
            n,
        ),
        by="count",
    ),
    "second_training_group": Fact(N_("Training uses one group; group {group} is left idle")),
    "cpu_only_slow": Fact(N_("CPUs alone: {tokens_s}, {kwh_per_million} per million tokens")),
    "trade_ratio_16bit": Fact(
        N_("At 16 bit H100 is {ratio_16bit} an A100; {claim} needs FP8, which this plan rules out")
    ),
    "outgrown": Fact(N_("Peak of {demand_tokens_s} at the end of the term exceeds the {capacity_tokens_s} it carries")),
    "cap_raised": Fact(N_("{gpu} cannot be capped that low: {watts} is used")),
    "end_of_life_new": Fact(N_("{gpu} is no longer made: ask who sells it new, and with which warranty")),
    "too_many_racks": Fact(N_("Needs {racks} racks; the room has {limit}")),
    "no_gpu": Fact(N_("No GPU in this group")),
    "card_figures_missing": Fact(N_("The catalog lacks bandwidth or matrix rates of {gpu}: no speed is predicted")),
    "no_runtime": Fact(N_("No known software runs this on {gpu}")),
    "runtime_not_scored": Fact(N_("No measurements speak for {runtime}: no speed is predicted")),
    "no_format": Fact(N_("{runtime} has no weight format on {gpu} at or above {lowest}; allow a lower one")),
    "pp_exceeds_layers": Fact(N_("PP{pp} exceeds the {layers} layers of the model")),
    "ep_without_experts": Fact(N_("EP{ep} needs a model with experts")),
    "ep_not_divides": Fact(N_("EP{ep} does not divide the {experts} experts")),
    "tp_leaves_server": Fact(N_("TP{tp} does not fit the {gpus} GPUs of one server")),
    "runtime_no_tensor": Fact(N_("{runtime} cannot split layers over GPUs (TP{tp})")),
    "runtime_no_pipeline": Fact(N_("{runtime} has no pipeline stages (PP{pp})")),
    "runtime_one_server": Fact(N_("{runtime} does not span servers")),
    "runtime_does_not_train": Fact(N_("{runtime} serves models and does not train them")),
    "training_needs_gpu": Fact(N_("Training needs GPUs; this group has none")),
    "no_compute_unit": Fact(N_("{gpu} has no {compute} units")),
    "batch_too_small": Fact(N_("A batch of {batch} sequences does not reach all {gpus} GPUs")),
    "unknown_card": Fact(N_("The catalog has no card called {gpu}")),
    "unknown_model": Fact(N_("The catalog has no model called {llm}"), N_("Choose a model first")),
    "cpu_unknown": Fact(N_("Name the processor: without a GPU the speed follows from its memory")),
    "entries_differ": Fact(N_("Pinned entries differ from this catalog: {names}")),
    "format_lever": Fact(N_("{weights} weights: {speed_ratio} the speed, {memory_bytes} a GPU")),
    "pruning_no_gain": Fact(N_("Pruning saves memory; {gpu} runs no faster with it")),
}

CHECKS: dict[str, Fact] = {
    "nothing_in_room": Fact(N_("Nothing stands in this room")),
    "meets_targets": Fact(N_("Meets targets, {headroom} to spare"), N_("Meets targets")),
    "fits": Fact(N_("Fits, {share} of usable memory"), N_("Fits")),
    "does_not_fit": Fact(N_("Needs {need_bytes} a GPU, {usable_bytes} usable"), N_("Does not fit")),
    "fast_enough": Fact(N_("Fast enough")),
    "too_slow": Fact(N_("Too slow")),
    "room_ok": Fact(N_("Room holds it, {share} used"), N_("Room holds it")),
    "room_over": Fact(N_("Over the limits of the room")),
    "budget_ok": Fact(N_("Within budget, {share} used"), N_("Within budget")),
    "budget_over": Fact(N_("Over budget by {over}"), N_("Over budget")),
    "no_speed_target": Fact(N_("No speed target set")),
    "no_budget": Fact(N_("No budget set")),
    "no_limit": Fact(N_("No limit set")),
    "not_known": Fact(N_("Not known: {reason}"), N_("Not known")),
    "nothing_to_run": Fact(N_("Nothing to run yet")),
}

# Why one of the plan's own measurements moves nothing.
OWN_ROWS: dict[str, Fact] = {
    "row_not_read": Fact(N_("Not understood: {reason}"), N_("Not understood")),
    "row_without_value": Fact(N_("The row states no figure.")),
    "row_not_predicted": Fact(N_("This figure cannot be predicted from what the row states.")),
    "row_moves_nothing": Fact(N_("Shown only: such a figure moves no other.")),
    "row_breaks_bandwidth": Fact(N_("{ratio} what the memory bandwidth allows: check unit, cards and batch.")),
    "row_breaks_compute": Fact(N_("{ratio} what the computing rate allows: check unit, cards and precision.")),
    "row_breaks_power": Fact(N_("{ratio} the power limit: check unit and cards.")),
    "row_breaks_memory": Fact(N_("More than the memory holds: check cards, weights and unit.")),
}

HEADLINES: dict[str, Fact] = {
    "best_meets_all": Fact(
        N_("{letter} meets every target with {headroom} to spare, for {amount} of your {budget}."),
        N_("{letter} meets every target, for {amount} of your {budget}."),
    ),
    "best_no_budget": Fact(
        N_("{letter} meets every target with {headroom} to spare, for {amount}."),
        N_("{letter} meets every target, for {amount}."),
    ),
    "best_central": Fact(
        N_("{letter} meets every target by its central figures, for {amount}. {what}."),
        N_("{letter} meets every target by its central figures. {what}."),
    ),
    "two_best": Fact(
        N_("{letter} and {other} meet every target; {letter} costs {amount}, and their cost bands overlap."),
        N_("{letter} and {other} meet every target; their cost bands overlap."),
    ),
    "none_meets": Fact(
        N_("No option meets every target. Closest is {letter}: {what}. Cheapest way out: {fix}."),
        N_("No option meets every target. Closest is {letter}: {what}."),
    ),
    "nothing_yet": Fact(N_("No options yet. Drag a GPU here or press Ctrl+G.")),
}

WAYS_OUT: dict[str, Fact] = {
    "use_format": Fact(N_("Use {weights} weights")),
    "change_runtime": Fact(N_("Change the runtime to {runtime}")),
    "add_servers": Fact(counted=lambda n: ngettext("Add {count} server", "Add {count} servers", n), by="count"),
    "cap_power": Fact(N_("Cap GPUs at {watts}: {speed_loss} speed"), N_("Cap GPUs at {watts}")),
    "allow_format": Fact(N_("Allow {bits}-bit weights")),
    "split_auto": Fact(N_("Let the program choose the split")),
    "use_compute": Fact(N_("Compute in 16 bit")),
    "remove_servers": Fact(
        counted=lambda n: ngettext("Install {count} server fewer", "Install {count} servers fewer", n), by="count"
    ),
    "fewer_gpus": Fact(N_("Buy {count} GPUs a server")),
    "buy_used": Fact(N_("Buy {gpu} second-hand")),
    "cool_supply": Fact(N_("Cool the supply air to {limit_c}")),
    "pipe_liquid": Fact(N_("Bring liquid to the racks")),
    "use_linux": Fact(N_("Run it under Linux")),
    "use_split": Fact(N_("Split as TP{tp} × PP{pp}")),
    "faster_nics": Fact(N_("Use network cards of {nic}")),
    "use_fabric": Fact(N_("Join the servers by {binds}")),
    "use_bridges": Fact(N_("Join the cards by NVLink bridges")),
    "swap_card": Fact(N_("Use {gpu} cards")),
    "even_leaves": Fact(N_("Give leaves as many ports up as down")),
    "relax_target": Fact(N_("Relax the target to {target_s}"), N_("Relax the target")),
    "lower_batch": Fact(N_("Allow {batch} requests at once"), N_("Allow fewer requests at once")),
    "use_gpu": Fact(N_("Use {count}× {gpu}")),
    "enter_quote": Fact(N_("Enter a quote")),
}

FACTS: dict[str, Fact] = {**FINDINGS, **CHECKS, **OWN_ROWS, **HEADLINES, **WAYS_OUT}

# Short words that stand inside a sentence: what binds, why not. Names (of cards, of runtimes) stand as they are.
WORDS: dict[str, str] = {
    "runtime": N_("software"),
    "context": N_("context length"),
    "overloaded": N_("demand exceeds capacity"),
    "nothing_served": N_("nothing is served"),
    "nothing_bought": N_("nothing is bought"),
    "never": N_("renting stays cheaper"),
    "price": N_("no price on record"),
    "exchange_rate": N_("no exchange rate"),
    "cloud_price": N_("no cloud price on record"),
    "memory": N_("memory size"),
    "bandwidth": N_("memory bandwidth"),
    "compute": N_("compute"),
    "network": N_("network"),
    "queue": N_("queueing"),
    "power": N_("power"),
    "weight": N_("weight"),
    "height": N_("height"),
    "heat": N_("heat"),
    "money": N_("money"),
    "host": N_("host software"),
    "cpu": N_("CPU"),
    "all_reduce": N_("all-reduce"),
    "pcie": N_("PCIe"),
    "pcie-no-p2p": N_("PCIe, no peer access"),
    "nvlink": N_("NVLink"),
    "xgmi": N_("Infinity Fabric"),
    "card_link": N_("link between the cards"),
    "infiniband": N_("InfiniBand"),
    "roce": N_("RoCE"),
    "ethernet": N_("Ethernet"),
    "pcie_all_reduce": N_("PCIe all-reduce"),
    "kv_cache": N_("KV cache"),
    "prefill": N_("prefill"),
    "decode": N_("decode"),
    "communication": N_("communication"),
    "pipeline": N_("pipeline bubbles"),
    "optimizer": N_("optimizer step"),
    "none": N_("nothing"),
    "room": N_("room"),
    "budget": N_("budget"),
    "speed": N_("speed"),
    "fit": N_("fit"),
}

METRICS: dict[str, Fact] = {
    "first_token": Fact(N_("First token, {percentile}"), N_("First token")),
    "per_token": Fact(N_("Per token, {percentile}"), N_("Per token")),
    "output": Fact(N_("At targets")),
    "output_limit": Fact(N_("Without targets")),
    "headroom": Fact(N_("Headroom")),
    "single_stream": Fact(N_("Single stream")),
    "prefill": Fact(N_("Prefill rate")),
    "link_wait": Fact(N_("Waiting for the network")),
    "memory_used": Fact(N_("Memory used")),
    "max_power": Fact(N_("Max power")),
    "heat": Fact(N_("Heat at load")),
    "energy_per_million": Fact(N_("Energy, M tokens")),
    "purchase": Fact(N_("Purchase")),
    "total": Fact(N_("{years}-year total"), N_("Total over term")),
    "per_million": Fact(N_("Per million tokens")),
    "breakeven": Fact(N_("Break-even vs rent")),
    "tokens": Fact(N_("Training rate")),
    "step": Fact(N_("Step time")),
    "mfu": Fact(N_("MFU")),
    "duration": Fact(N_("Duration")),
    "gpu_hours": Fact(N_("GPU-hours")),
    "energy_per_run": Fact(N_("Energy per run")),
    "per_run": Fact(N_("Cost per run")),
    "speed_ratio": Fact(N_("Speed against {letter}"), N_("Speed against the baseline")),
    "nameplate": Fact(N_("Nameplate power")),
    "load_power": Fact(N_("Power at peak load")),
    "air": Fact(N_("Air through the servers")),
    "weight": Fact(N_("Weight of the servers")),
    "memory_bytes": Fact(N_("Memory per GPU")),
}

SECTIONS: dict[str, str] = {
    "speed": N_("Speed at peak"),
    "train": N_("Training run"),
    "fit": N_("Fit and room"),
    "money": N_("Money"),
}

CHARTS: dict[str, Fact] = {
    "speed": Fact(N_("Relative speed")),
    "memory": Fact(N_("Memory per GPU")),
    "latency": Fact(N_("First token against load")),
    "power": Fact(N_("Power and heat")),
    "cost": Fact(N_("Cost over time")),
    "accuracy": Fact(N_("Predicted against measured")),
    "card_ratio": Fact(N_("How many times as fast")),
}

BASIS: dict[str, str] = {
    "input": N_("your input"),
    "known": N_("known"),
    "assumed": N_("assumed"),
    "predicted": N_("predicted"),
    "not validated": N_("not validated"),
    "not known": N_("not known"),
}

STATUS: dict[str, str] = {
    "ok": N_("yes"),
    "warn": N_("yes, but the band goes over"),
    "fail": N_("no"),
    "unknown": N_("not known"),
}

LEVELS: dict[str, str] = {"stop": N_("stop"), "check": N_("check"), "note": N_("note")}

PARTS: dict[str, str] = {
    "host": N_("host software"),
    "communication": N_("communication"),
    "stragglers": N_("stragglers"),
    "data_communication": N_("gradient exchange"),
    "bubble": N_("pipeline bubbles"),
    "launch": N_("launch floor"),
    "context_communication": N_("context-parallel traffic"),
    "expert_communication": N_("expert traffic"),
    "tensor_communication": N_("tensor-parallel traffic"),
    "matrix": N_("matrix products"),
    "elementwise": N_("norms and activations"),
    "attention": N_("attention"),
    "kernels": N_("kernel launches"),
    "weights_compute": N_("reading weights, computing"),
    "weights": N_("weights"),
    "kv_cache": N_("KV cache"),
    "activations": N_("activations"),
    "gradients": N_("gradients"),
    "optimizer": N_("optimizer state"),
    "runtime": N_("runtime reserve"),
    "capacity": N_("capacity"),
    "cooling": N_("cooling limit"),
    "feed": N_("feed limit"),
    "ups": N_("UPS limit"),
    "servers": N_("servers"),
    "running": N_("running cost"),
    "resale": N_("resale"),
    "server": N_("rest of the servers"),
    "gpu": N_("GPUs"),
    "usable": N_("usable"),
    "cpu": N_("processors"),
    "nic": N_("network cards"),
    "fans": N_("fans"),
    "psu_loss": N_("losses of power supplies"),
    "equipment": N_("equipment"),
    "chain_loss": N_("losses of UPS and PDU"),
    "cooling_power": N_("cooling and the rest"),
    "network_switch": N_("network switch"),
    "network_leaf": N_("leaf switches"),
    "network_spine": N_("spine switches"),
    "network_core": N_("core switches"),
    "network_nic": N_("network cards"),
    "network_copper": N_("copper cables"),
    "network_transceiver": N_("transceivers"),
    "network_fibre": N_("fibre cables"),
}


def sentence(key: str, numbers: Numbers, money: str = "") -> str:
    """The sentence of a finding, check, headline or way out, in the language in force.

    ``money`` is the ISO currency of amounts where `numbers` names none. A number that is absent shortens the sentence
    where there is a shorter one, and is written "–" where there is not. Raises `KeyError` for a key that `FACTS` lacks.
    """
    try:
        return _remembered(key, tuple(numbers.items()), money, language())
    except TypeError:
        # A number that cannot be hashed, such as a list.
        return _spoken(FACTS[key], numbers, money)


@lru_cache(maxsize=4096)
def _remembered(key: str, numbers: tuple[tuple[str, Any], ...], money: str, _language: str) -> str:
    """Views say the same sentences again after every edit."""
    return _spoken(FACTS[key], dict(numbers), money)


def variants(key: str, numbers: Numbers, money: str = "") -> tuple[str, ...]:
    """The sentence and its shorter forms, the fullest first, for places with little room."""
    fact = FACTS[key]
    made = [sentence(key, numbers, money)]
    for message in (fact.bare, fact.short):
        if message and all(_present(numbers, name) for name in placeholders(message)):
            made.append(_filled(_(message), numbers, money))
    return tuple(dict.fromkeys(made))


def metric(key: str, numbers: Numbers | None = None) -> str:
    """The name of a row of the comparison: "First token, p95". Raises `KeyError` for an unknown key."""
    return _spoken(METRICS[key], numbers or {}, "")


def section(key: str) -> str:
    """The caption of a section of the comparison. Raises `KeyError` for an unknown key."""
    return _(SECTIONS[key])


def chart_title(key: str) -> str:
    """The title of a chart. Raises `KeyError` for an unknown key."""
    return _(CHARTS[key].message)


# What stands before a figure that the buyer's own measurements have moved.
OWN_MARK = "•"


def own_mark(note: str) -> str:
    """The mark of a figure with this note; nothing where own measurements have not moved it."""
    return f"{OWN_MARK} " if note == "own_rows" else ""


def basis(name: str) -> str:
    """How a figure came about: "predicted", "your input". Raises `KeyError` for an unknown basis."""
    return _(BASIS[name])


def status(name: str) -> str:
    """The answer that a status gives: "yes", "no". Raises `KeyError` for an unknown status."""
    return _(STATUS[name])


def level(name: str) -> str:
    """The word for a finding's level. Raises `KeyError` for an unknown level."""
    return _(LEVELS[name])


def word(name: str) -> str:
    """What a key inside a sentence stands for; a name (of a card, of a runtime) stands for itself."""
    known = WORDS.get(name)
    return _(known) if known else name


def part(name: str) -> str:
    """The name of a figure's part, where the model has a word for it; otherwise as it stands."""
    known = PARTS.get(name) or WORDS.get(name)
    if known:
        return _(known)
    if name in METRICS:
        return metric(name)
    return name.replace("_", " ")


def _spoken(fact: Fact, numbers: Numbers, money: str) -> str:
    if fact.counted is not None:
        count = numbers.get(fact.by)
        message = fact.counted(round(float(count)) if count is not None else 0)
    else:
        variants = [message for message in (fact.message, fact.bare, fact.short) if message]
        complete = (each for each in variants if all(_present(numbers, name) for name in placeholders(each)))
        message = _(next(complete, variants[-1]))
    return _filled(message, numbers, money)


def _filled(message: str, numbers: Numbers, money: str) -> str:
    return message.format(**{name: _written(name, numbers, money) for name in placeholders(message)})


@cache
def placeholders(message: str) -> tuple[str, ...]:
    """The named placeholders of a message, each once."""
    return tuple(dict.fromkeys(name for _text, name, _spec, _conversion in string.Formatter().parse(message) if name))


def _present(numbers: Numbers, name: str) -> bool:
    return numbers.get(name) not in (None, "")


def _written(name: str, numbers: Numbers, money: str) -> str:
    if not _present(numbers, name):
        return format.NOT_KNOWN
    value = numbers[name]
    if name in _AMOUNTS:
        return format.money(float(value), str(numbers.get("currency") or money))
    if name in _NESTED and value in FACTS:
        return sentence(value, numbers, money)
    return _FORMATS[name](value)


def _speed(value: float) -> str:
    return _("{rate} tok/s").format(rate=format.number(value))


def _link(value: float) -> str:
    return _("{rate} GB/s").format(rate=format.number(value / 1e9)) if not isinstance(value, str) else value


def _port(value: float) -> str:
    return _("{rate} Gb/s").format(rate=format.count(value / 1e9))


def _temperature(value: float) -> str:
    return f"{format.exact(value)} °C"


def _energy(value: float) -> str:
    return f"{format.number(value)} kWh"


def _watts(value: float) -> str:
    return f"{format.count(value)} W"


def _loss(value: float) -> str:
    return format.signed_percent(-abs(value))


def _stated_ratio(value: float) -> str:
    return f"{format.exact(value)}×"


def percentile(value: float) -> str:
    """A percentile as buyers write it: "p95", "p99.9"."""
    return f"p{format.exact(round(float(value) * 100, 6))}"


def weight_format(name: str) -> str:
    """A number format as vendors write it: "FP8", "BF16", "Q4_K_M"."""
    return name.upper()


def _list(names: Any) -> str:
    if isinstance(names, str):
        return names
    shown = list(names)
    text = _(", ").join(word(str(name)) for name in shown[:_NAMES_SHOWN])
    return text + (" …" if len(shown) > _NAMES_SHOWN else "")


def _word_or_names(value: Any) -> str:
    return word(value) if isinstance(value, str) else _list(value)


_AMOUNTS = frozenset({"amount", "budget", "over", "high"})
_NESTED = frozenset({"what", "fix", "reason"})

_FORMATS: dict[str, Callable[[Any], str]] = {
    "llm": str,
    "compute": weight_format,
    "lowest": str,
    "bits": format.count,
    "experts": format.count,
    "ep": format.count,
    "layers": format.count,
    "limit": format.count,
    "racks": format.count,
    "ports": format.count,
    "need_bytes": format.bytes_gib,
    "usable_bytes": format.bytes_gib,
    "memory_bytes": format.bytes_gib,
    "share": format.percent,
    "headroom": format.percent,
    "speed_loss": _loss,
    "value_s": format.duration,
    "high_s": format.duration,
    "target_s": format.duration,
    "percentile": percentile,
    "demand_tokens_s": _speed,
    "capacity_tokens_s": _speed,
    "low_tokens_s": _speed,
    "tokens_s": _speed,
    "batch": format.count,
    "max_batch": format.count,
    "value_w": format.power_kw,
    "limit_w": format.power_kw,
    "heat_w": format.power_kw,
    "watts": _watts,
    "supply_c": _temperature,
    "limit_c": _temperature,
    "months": format.count,
    "spares": format.count,
    "tp": format.count,
    "pp": format.count,
    "heads": format.count,
    "gpus": format.count,
    "needed": format.count,
    "count": format.count,
    "years": format.exact,
    "context": format.count,
    "max_context": format.count,
    "link": _link,
    "parent_link": _link,
    "nic": _port,
    "speed_ratio": format.ratio,
    "ratio": format.ratio,
    "ratio_16bit": format.ratio,
    "ratio_fp8": format.ratio,
    "shift": format.signed_percent,
    "band_before": format.ratio,
    "band_after": format.ratio,
    "claim": _stated_ratio,
    "kwh_per_million": _energy,
    "weights": weight_format,
    "binds": word,
    "reason": _word_or_names,
    "what": _word_or_names,
    "fix": _word_or_names,
    "names": _list,
    "group": str,
    "gpu": str,
    "parent": str,
    "runtime": str,
    "other": str,
    "entry": str,
    "server": str,
    "letter": str,
}


# --- the unit of a row or an axis ---------------------------------------------------------------


class Scale(NamedTuple):
    """How the figures of one row are written: their unit, said once, and the SI value of one unit."""

    kind: str
    unit: str
    size: float

    def value(self, value: float | None) -> str:
        """The figure without its unit."""
        if value is None:
            return format.NOT_KNOWN
        if self.kind in ("headroom", "change"):
            return format.signed_percent(round(value, 2))
        if self.kind == "power":
            return format.power_kw(value, unit=False)
        if self.kind == "share":
            return format.percent(value).removesuffix(" %")
        if self.kind == "ratio":
            return format.ratio(value)
        return format.number(value / self.size)

    def exact(self, value: float | None) -> str:
        """An input (a target, a limit) with all its digits and without its unit."""
        if value is None:
            return format.NOT_KNOWN
        return format.exact(float(f"{value / self.size:.12g}"))

    def band(self, low: float | None, high: float | None) -> str:
        """The band without its unit."""
        if low is None or high is None:
            return format.NOT_KNOWN
        if self.kind in ("headroom", "change"):
            return f"{format.signed_percent(low)} – {format.signed_percent(high)}"
        if self.kind == "power":
            return f"{format.power_kw(low, unit=False)}–{format.power_kw(high, unit=False)}"
        low, high = low / self.size, high / self.size
        if self.kind in ("tokens_s", "gpu_hours") and high >= KILO:
            # One decimal under 1 k: a band is narrow on the screen.
            low = round(low / KILO, 1) if low >= KILO / 10 else low / KILO
            return format.band(low, high / KILO) + "k"
        return format.band(low, high)

    def text(self, value: float | None) -> str:
        """The figure with its unit, for sentences and tooltips."""
        shown = self.value(value)
        if not self.unit or shown == format.NOT_KNOWN or self.kind in ("headroom", "change", "ratio"):
            return shown
        return f"{shown} {self.unit}"


# Time rows whose unit never changes with the figures: buyers quote them so.
_FIXED: dict[str, tuple[str, float]] = {
    "first_token": (N_("s"), 1.0),
    "per_token": (N_("ms"), MILLI),
    "tokens_s": (N_("tok/s"), 1.0),
    "power": ("kW", KILO),
    "heat": ("kBTU/h", KILO / BTU_H_PER_W),
    "air": ("CFM", M3_H_PER_CFM / SECONDS_PER_HOUR),
    "weight": ("kg", 1.0),
    "share": ("%", 0.01),
    "headroom": ("%", 0.01),
    "change": ("%", 0.01),
    "ratio": ("×", 1.0),
    "memory": ("GiB", GIB),
    "energy_per_million": ("kWh", JOULE_PER_KWH),
    "months": (N_("months"), 1.0),
    "gpu_hours": (N_("GPU-h"), 1.0),
    "count": ("", 1.0),
    # What derivations show beside these.
    "bandwidth": ("GB/s", 1e9),
    "flops": ("TFLOP/s", 1e12),
    "work": ("TFLOP", 1e12),
    "parameters": ("G", 1e9),
    "bytes": ("GB", 1e9),
    "tokens": (N_("tokens"), 1.0),
    "requests_s": (N_("req/s"), 1.0),
    "watts": ("W", 1.0),
    "tons": (N_("tons"), 1.0),
    "years": (N_("years"), 1.0),
    "kwh": ("kWh", 1.0),
}
_TIMES = (
    (SECONDS_PER_DAY, N_("days")),
    (SECONDS_PER_HOUR, N_("h")),
    (SECONDS_PER_MINUTE, N_("min")),
    (1.0, N_("s")),
    (MILLI, N_("ms")),
)
_ENERGIES = ((1e6 * JOULE_PER_KWH, "GWh"), (1e3 * JOULE_PER_KWH, "MWh"), (JOULE_PER_KWH, "kWh"))
_MONEY_STEPS = {"en": ((1e9, "B"), (1e6, "M"), (1e3, "k")), "zh": ((1e8, "亿"), (1e4, "万"))}
# A row is written in the largest unit in which its smallest figure still has two digits before the third.
_SMALLEST_SHOWN = 0.1
# Amounts below this are read at a glance.
_COMPACT_FROM = 10_000

KINDS = frozenset({*_FIXED, "duration", "energy", "money", "price_kwh"})


def unit(kind: str, currency: str = "") -> str:
    """The unit of a kind of figure where it does not depend on the figures. Raises `KeyError` for an unknown kind."""
    if kind not in KINDS:
        raise KeyError(kind)
    return scale(kind, (), currency).unit


def scale(kind: str, values: Iterable[float | None], currency: str = "") -> Scale:
    """One unit for a row of figures, chosen so that the largest reads well. Raises `KeyError` for an unknown kind."""
    if kind in _FIXED:
        name, size = _FIXED[kind]
        return Scale(kind, _(name) if name else "", size)
    known = [abs(value) for value in values if value]
    largest = max(known, default=0.0)
    smallest = min(known, default=0.0)
    if kind == "money":
        return _money_scale(smallest, largest, currency)
    if kind == "price_kwh":
        return Scale(kind, f"{_money_scale(0.0, 0.0, currency).unit}/kWh", 1.0)
    steps = {"duration": _TIMES, "energy": _ENERGIES}[kind]
    for size, name in steps:
        if largest >= 2 * size and smallest >= _SMALLEST_SHOWN * size:
            return Scale(kind, _(name), size)
    size, name = steps[-1] if largest else steps[-2]
    return Scale(kind, _(name), size)


def _money_scale(smallest: float, largest: float, currency: str) -> Scale:
    code = language()
    mark = "元" if (code, currency) == ("zh", "CNY") else format.currency_mark(currency) if currency else ""
    for size, name in _MONEY_STEPS[code]:
        if largest >= max(_COMPACT_FROM, size) and smallest >= _SMALLEST_SHOWN * size:
            return Scale("money", f"{name}{mark}", size)
    return Scale("money", mark, 1.0)
