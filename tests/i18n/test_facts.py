"""Every key that the model may emit has a sentence, and its numbers are written as people read them."""

import pytest

from gpuplanner.i18n import facts, using
from gpuplanner.units import GIB

# One plausible number for every placeholder, in SI units.
NUMBERS = {
    "need_bytes": 92 * GIB,
    "usable_bytes": 72 * GIB,
    "memory_bytes": 20 * GIB,
    "gpu": "H100 SXM",
    "share": 0.96,
    "headroom": 0.46,
    "speed_loss": 0.03,
    "value_s": 4.0,
    "high_s": 5.0,
    "target_s": 2.0,
    "percentile": 0.95,
    "binds": "pcie_all_reduce",
    "demand_tokens_s": 889.0,
    "capacity_tokens_s": 764.0,
    "low_tokens_s": 740.0,
    "tokens_s": 6.0,
    "batch": 64,
    "max_batch": 32,
    "value_w": 12_000.0,
    "limit_w": 10_500.0,
    "heat_w": 10_700.0,
    "watts": 650.0,
    "supply_c": 27.0,
    "limit_c": 25.0,
    "amount": 312e3,
    "budget": 200e3,
    "over": 112e3,
    "high": 204e3,
    "currency": "USD",
    "entry": "H20 96GB",
    "server": "DGX H100",
    "months": 28,
    "spares": 2,
    "runtime": "vLLM",
    "other": "TensorRT-LLM",
    "reason": "needs compute capability 7.0",
    "tp": 3,
    "pp": 1,
    "heads": 64,
    "gpus": 6,
    "needed": 4,
    "context": 200_000,
    "max_context": 131_072,
    "racks": 3,
    "ports": 70_000,
    "limit": 2,
    "layers": 80,
    "ep": 8,
    "experts": 128,
    "bits": 8,
    "lowest": "16-bit",
    "compute": "fp8",
    "llm": "Llama-3.3-70B",
    "parent": "A100",
    "link": 200e9,
    "parent_link": 300e9,
    "nic": 400e9,
    "speed_ratio": 4.2,
    "ratio": 3.0,
    "ratio_16bit": 1.8,
    "ratio_fp8": 3.6,
    "claim": 3.5,
    "shift": -0.08,
    "band_before": 1.42,
    "band_after": 1.18,
    "what": "prompts of 64,000 tokens",
    "group": 2,
    "kwh_per_million": 12.0,
    "names": ("H100 SXM", "vLLM"),
    "weights": "fp8",
    "letter": "D",
    "fix": "enter_quote",
    "count": 2,
    "years": 3,
}


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("key", sorted(facts.FACTS))
def test_every_fact_reads_as_a_sentence_with_all_its_numbers(key, language):
    with using(language):
        text = facts.sentence(key, NUMBERS)
    assert text
    assert "{" not in text
    # NOT_KNOWN would stand where a number has no format; the messages themselves hold no en dash.
    assert "–" not in text


def test_an_unknown_key_is_an_error():
    with pytest.raises(KeyError):
        facts.sentence("no_such_fact", {})
    with pytest.raises(KeyError):
        facts.metric("no_such_metric")
    with pytest.raises(KeyError):
        facts.unit("no_such_kind")


def test_finding_says_the_fact_with_its_number_and_what_binds():
    # The finding that the design writes out as an example.
    text = facts.sentence(
        "misses_first_token", {"value_s": 4.0, "target_s": 2.0, "percentile": 0.95, "binds": "pcie_all_reduce"}
    )
    assert text == "First token 4.00 s misses 2.00 s; PCIe all-reduce binds"


def test_a_missing_number_shortens_the_sentence():
    assert facts.sentence("misses_first_token", {"value_s": 4.0, "target_s": 2.0}) == "First token 4.00 s misses 2.00 s"
    assert facts.sentence("not_known", {}) == "Not known"


def test_headline_names_the_amount_and_the_budget():
    numbers = {"letter": "D", "headroom": 0.46, "amount": 186_000, "budget": 200_000, "currency": "USD"}
    assert (
        facts.sentence("best_meets_all", numbers)
        == "D meets every target with 46 % to spare, for $186 k of your $200 k."
    )


def test_amounts_without_a_currency_take_the_plans():
    assert facts.sentence("budget_over", {"over": 112_000}, "USD") == "Over budget by $112 k"


def test_a_reason_that_is_a_fact_itself_is_said_with_its_numbers():
    numbers = {"letter": "C", "what": "misses_deadline", "value_s": 864_000, "target_s": 604_800}
    text = facts.sentence("none_meets", numbers)
    assert text == "No option meets every target. Closest is C: Takes 10.0 days; the deadline leaves 7.00 days."


def test_plural_follows_the_number():
    assert facts.sentence("add_servers", {"count": 1}) == "Add 1 server"
    assert facts.sentence("add_servers", {"count": 2}) == "Add 2 servers"


def test_every_placeholder_of_every_message_has_a_format():
    messages = [
        text for fact in (*facts.FACTS.values(), *facts.METRICS.values()) for text in (fact.message, fact.bare) if text
    ]
    used = {name for message in messages for name in facts.placeholders(message)}
    assert used <= set(NUMBERS)


def test_power_cap_says_the_speed_it_costs():
    assert facts.sentence("cap_power", {"watts": 650, "speed_loss": 0.03}) == "Cap GPUs at 650 W: −3 % speed"


def test_metric_takes_its_percentile_from_the_plan():
    assert facts.metric("first_token", {"percentile": 0.95}) == "First token, p95"
    assert facts.metric("first_token", {"percentile": 0.999}) == "First token, p99.9"
    assert facts.metric("total", {"years": 3.0}) == "3-year total"


def test_a_row_of_money_has_one_unit():
    scale = facts.scale("money", (312e3, 118e3, 52e3), "USD")
    assert (scale.unit, scale.value(312e3), scale.band(281e3, 349e3)) == ("k$", "312", "280–350")
    with using("zh"):
        assert facts.scale("money", (2.22e6, 0.37e6), "CNY").unit == "万元"


def test_a_row_of_times_takes_the_unit_that_fits_the_largest():
    assert facts.scale("duration", (864_000.0, 400_000.0)).unit == "days"
    assert facts.scale("duration", (0.5, 0.2)).unit == "ms"


def test_shares_and_headroom_are_percent_on_the_screen():
    assert facts.scale("headroom", ()).value(-0.14) == "−14 %"
    assert facts.scale("share", ()).value(0.43) == "43"
    assert facts.scale("share", ()).text(0.43) == "43 %"


def test_not_known_is_a_dash_without_a_unit():
    assert facts.scale("power", ()).text(None) == "–"


@pytest.mark.parametrize("table", ["BASIS", "STATUS", "LEVELS", "SECTIONS"])
def test_marks_have_words(table):
    words = getattr(facts, table)
    assert words and all(words.values())
