"""What the claim check says: verdicts, bounds, conditions and assumptions, in words.

As in `facts`, the model gives a key and numbers, and the name of a placeholder says how its number is written.
"""

from collections.abc import Callable, Mapping
from typing import Any

from gpuplanner.i18n import N_, _, facts, format

Numbers = Mapping[str, Any]

VERDICTS: dict[str, str] = {
    "holds": N_("Holds"),
    "pessimistic": N_("Understated"),
    "only_if": N_("Only if …"),
    "optimistic": N_("Optimistic"),
    "impossible": N_("Impossible"),
    "cannot_tell": N_("Cannot tell"),
}

# One sentence for the answer. `claimed`, `band` and `value` are written by the caller in the unit of the claim.
HEADLINES: dict[str, str] = {
    "holds": N_("{claimed} lies inside our band of {band}."),
    "holds_exact": N_("{claimed} is the figure of the data sheet, {value}."),
    "holds_fits": N_("It fits: {value} needed, {claimed} usable."),
    "holds_not": N_("Right, it does not fit: {value} needed, {claimed} there."),
    "pessimistic": N_("{claimed} is less than we expect: {band}."),
    "pessimistic_price": N_("{claimed} is more than it costs: {band}."),
    "pessimistic_lower": N_("{claimed} is more than we expect: {band}."),
    "optimistic": N_("{claimed} is above our band of {band}, though no hard bound forbids it."),
    "optimistic_lower": N_("{claimed} is below our band of {band}, though no hard bound forbids it."),
    "optimistic_price": N_("{claimed} is below the price band of {band}."),
    "optimistic_fits": N_("It does not fit: {value} needed, {claimed} usable."),
    "optimistic_unfit": N_("Nothing allows {claimed} here: {why}."),
    "only_if": N_("{claimed} is true only under a condition; as stated we expect {band}."),
    "only_if_bare": N_("{claimed} is true only under a condition."),
    "only_if_fits": N_("It fits only under a condition: {value} needed as stated, {claimed} there."),
    "only_if_price": N_("{claimed} is enough only under a condition; new it costs {band}."),
    "only_if_sparse": N_("{claimed} is the figure with 2:1 sparsity; dense it is {value}."),
    "impossible_memory": N_("The weights alone need {weights_bytes}; the cards have {room_bytes}."),
    "impossible_weights": N_("The weights alone take {limit}; {claimed} is claimed."),
    "impossible_bandwidth": N_("Memory bandwidth allows {limit} at most; {claimed} is claimed."),
    "impossible_compute": N_("The dense compute peak allows {limit} at most; {claimed} is claimed."),
    "impossible_compute_lower": N_("At the dense compute peak it takes {limit} at least; {claimed} is claimed."),
    "impossible_bandwidth_lower": N_("Memory bandwidth makes it {limit} at least; {claimed} is claimed."),
    "impossible_price": N_("The lowest price on record comes to {limit}; {claimed} is claimed."),
    "impossible_ratio": N_("The data sheets are {limit} apart at most; {claimed} is claimed."),
    "impossible_idle_power": N_("Idle they already draw {limit}; {claimed} is claimed."),
    "impossible_dense_peak": N_("The dense peak is {limit}; {claimed} is claimed."),
    "impossible_data_sheet_bandwidth": N_("The data sheet gives {limit}; {claimed} is claimed."),
    "impossible_whole_peak": N_("No more than 100 % of the peak can be used; {claimed} is claimed."),
    "impossible_fits": N_("Wrong, it fits: {value} needed, {claimed} usable."),
    "cannot_tell": N_("Whether {claimed} is right cannot be said: {why}."),
    "cannot_tell_bare": N_("This cannot be said: {why}."),
}

# The arithmetic of the bounds.
BOUNDS: dict[str, str] = {
    "memory": N_("Memory: weights {weights_bytes}, all cards {room_bytes}."),
    "weights": N_("Weights in {weights}: {weights_bytes}."),
    "usable": N_("Memory: {need_bytes} needed, {room_bytes} usable by the software."),
    "bandwidth": N_(
        "Bandwidth: a step reads {read_bytes} for {batch} at once, at {speed_bytes_s}: {limit_tokens_s} at most."
    ),
    "compute": N_("Compute: {peak_flops} dense allow {limit_tokens_s} at most."),
    "compute_time": N_("Compute: {work_flop} at {peak_flops} dense take {limit_s} at least."),
    "ratio_compute": N_("Data sheet: dense compute {ratio}."),
    "ratio_bandwidth": N_("Data sheet: memory bandwidth {ratio}."),
    "ratio_memory": N_("Data sheet: memory size {ratio}."),
    "price": N_("Lowest price on record, new or used: {low}."),
    "idle_power": N_("Power without work: {value_w}."),
    "board_power": N_("Data sheet: the cards alone may draw {value_w}."),
    "dense_peak": N_("Data sheet: {peak_flops} dense at {weights}."),
    "data_sheet_bandwidth": N_("Data sheet: {speed_bytes_s}."),
    "whole_peak": N_("MFU counts the operations of the model against the dense peak: 100 % is the end."),
}

# What would make the claim true.
CONDITIONS: dict[str, str] = {
    "use_weights": N_("With {weights} weights and arithmetic: {then}"),
    "weights_of": N_("With {weights} weights they take {weights_bytes}."),
    "fits_with": N_("With {weights} weights it fits."),
    "use_runtime": N_("With {runtime} it fits."),
    "aggregate": N_("As the sum over all users: {then}"),
    "larger_batch": N_("With as many requests at once as the memory holds: {then}"),
    "prompt_counted": N_("If prompt tokens are counted too: {then}"),
    "offload_experts": N_(
        "With the experts in main memory: a token reads {read_bytes}, so the host must give {speed_bytes_s}; "
        "the fastest in the catalog have {host_bytes_s}."
    ),
    "two_bit": N_("With 2-bit weights of {weights_bytes}, which cost quality; the card has {room_bytes}."),
    "main_memory": N_("With a part of the layers in main memory, at the speed of the processor."),
    "low_precision_one_side": N_("If {gpu} computes in {weights} and the other in 16 bit: {ratio}."),
    "data_sheet_ratio": N_("If sparse or low-precision peaks of the data sheet are divided: {ratio}."),
    "sparse_figure": N_("Data sheets print the rate for matrices that are half zeros (2:1): {claimed_flops}. "
                        "Language models run dense: {peak_flops}."),
    "second_hand": N_("Second-hand: {low} to {high}."),
    "cards_alone": N_("The cards alone, without server and fans: {value_w}."),
    "nameplate": N_("The nameplates add up to {value_w}."),
    "recompute_counted": N_("If recomputed operations are counted too (HFU)."),
}  # fmt: skip

# What was taken where the claim is silent.
ASSUMPTIONS: dict[str, str] = {
    "machines": N_("“台” read as machines: {servers} servers of {count} cards."),
    "card_by_size": N_("Card taken: {gpu}."),
    "llm_by_size": N_("Model taken: {llm}."),
    "weights_taken": N_("Weights taken: {weights}."),
    "lengths_taken": N_("Lengths taken: {prompt} tokens in, {answer} out."),
    "prompt_taken": N_("Prompt taken: {prompt} tokens."),
    "best_batch": N_("All users together at the best batch, {batch}; a single reader gets {single_tokens_s}."),
    "idle_server": N_("An idle server is taken."),
    "sixteen_bit": N_("16-bit arithmetic is taken."),
    "ratio_setting": N_("Compared with {llm} in {weights}."),
    "perfect_scaling": N_("Number of cards counted in full: {ratio}."),
    "one_reader_taken": N_("Read as the speed of a single reader."),
    "per_card": N_("Compared card by card."),
    "per_hour": N_("On demand, an hour of all cards."),
    "country": N_("Prices in {country}."),
    "condition_new": N_("New is taken."),
    "price_date": N_("Newest price of {date}."),
    "at_load": N_("Serving {llm} at full load is taken."),
    "mfu_setting": N_("{llm} on {count} × {gpu} is taken."),
}

# What is not known.
MISSING: dict[str, str] = {
    "no_cards": N_("name the card"),
    "no_llm": N_("name the model"),
    "no_tokens": N_("say how many tokens are trained"),
    "which_cards": N_(
        "name the cards before and after. {gpu} trains {generation} as fast as {other}, so {ratio} takes about {count} "
        "of them in place of one"
    ),
    "which_cards_bare": N_("name the cards before and after"),
    "exchange_rate": N_("no exchange rate is known"),
    "no_price": N_("no price of {gpu} is on record"),
    "no_peak": N_("the catalog has no such rate of {gpu}"),
    "no_bandwidth": N_("the catalog has no bandwidth of {gpu}"),
    "no_power": N_("the power of {gpu} is not known"),
    "which_format": N_("say in which number format"),
}

UNREAD: dict[str, str] = {
    "empty": N_("Type what somebody claims."),
    "too_long": N_("A claim is one sentence; this text is longer."),
    "no_names": N_("No card or model of the catalog is named here."),
    "no_cards": N_("No card of the catalog is named here."),
    "no_figure": N_("No figure is claimed here: a speed, a ratio, a time, a price, a power."),
    "time_of_what": N_("It is not said what takes this time: the first token, a token, or a training run."),
    "negated": N_("Turn the sentence round: say what is claimed, not what is denied."),
}
EXAMPLE_LEAD = N_("A claim looks like this: {example}")

EXAMPLES: tuple[str, ...] = (
    N_("5000 tok/s on 8x H100 with Llama-3.3-70B FP8 (vLLM, batch 64, 1k in 1k out)"),
    N_("DeepSeek-R1 runs on a 4090 at 20 tok/s"),
    N_("H100 is 3.5x A100"),
    N_("on 8 H100 instead of 1 A100 a day becomes half an hour"),
    N_("¥100,000 buys four A800"),
    N_("10 servers of 8x H100 draw 60 kW"),
    N_("H100 has 1979 TFLOPS FP16"),
    N_("train a 7B on 1T tokens in 10 days on 64 A100"),
)

WORK: dict[str, str] = {
    "train": N_("training"),
    "finetune": N_("fine-tuning"),
    "serve": N_("serving many users"),
    "decode": N_("a single reader"),
    "prefill": N_("reading prompts"),
}

TABLES = (HEADLINES, BOUNDS, CONDITIONS, ASSUMPTIONS, MISSING, UNREAD)


def flops(value: float) -> str:
    """A rate of operations: "989 TFLOPS"."""
    unit, size = ("PFLOPS", 1e15) if value >= 1e16 else ("TFLOPS", 1e12)
    return f"{format.number(value / size)} {unit}"


def operations(value: float) -> str:
    """An amount of operations: "1.23 × 10²² operations" in short steps."""
    for size, name in ((1e21, "ZFLOP"), (1e18, "EFLOP"), (1e15, "PFLOP")):
        if value >= size:
            return f"{format.number(value / size)} {name}"
    return f"{format.number(value / 1e12)} TFLOP"


def link(value: float) -> str:
    """A memory bandwidth: "3.35 TB/s"."""
    unit, size = ("TB/s", 1e12) if value >= 1e12 else ("GB/s", 1e9)
    return f"{format.number(value / size)} {unit}"


def power(value: float) -> str:
    """Watts as they are quoted: "450 W", "10.2 kW"."""
    return f"{format.count(value)} W" if value < 1000 else format.power_kw(value)


def rate(value: float) -> str:
    """A speed: "5,000 tok/s"."""
    return _("{rate} tok/s").format(rate=format.number(value))


_FORMATS: dict[str, Callable[[Any], str]] = {
    "weights_bytes": format.bytes_gb,
    "room_bytes": format.bytes_gb,
    "need_bytes": format.bytes_gb,
    "read_bytes": format.bytes_gb,
    "speed_bytes_s": link,
    "host_bytes_s": link,
    "limit_tokens_s": rate,
    "single_tokens_s": rate,
    "then_tokens_s": rate,
    "then_s": format.duration,
    "limit_s": format.duration,
    "peak_flops": flops,
    "claimed_flops": flops,
    "work_flop": operations,
    "value_w": power,
    "ratio": format.ratio,
    "generation": format.ratio,
    "batch": format.count,
    "prompt": format.count,
    "answer": format.count,
    "servers": format.count,
    "count": format.count,
    "weights": facts.weight_format,
}
_AMOUNTS = ("low", "high")


def said(table: Mapping[str, str], key: str, numbers: Numbers, **written: str) -> str:
    """The sentence of a key with its numbers; `written` are parts that are words already. Raises `KeyError`."""
    message = table[key]
    values = dict(written)
    for name in facts.placeholders(message):
        if name in values:
            continue
        value = numbers.get(name)
        if value is None:
            values[name] = format.NOT_KNOWN
        elif name in _AMOUNTS:
            values[name] = format.money(float(value), str(numbers.get("currency", "USD")))
        else:
            values[name] = _FORMATS.get(name, str)(value)
    return _(message).format(**values)
