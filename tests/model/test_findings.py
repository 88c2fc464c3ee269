"""What a buyer is told, and what not."""

import pytest
from planning import (
    A100,
    A800,
    H100,
    LLAMA_8B,
    LLAMA_70B,
    RTX4090,
    SIXTEEN_BIT,
    catalog,
    full_queue,
    group,
    plan,
    pretraining,
    side_by_side,
)

from gpuplanner.model.evaluate import evaluate
from gpuplanner.model.findings import uncut_parent
from gpuplanner.model.plan import Money, Serve, Site, UserLoad, Wishes

QUEUE = full_queue(LLAMA_8B)


def findings(*groups, workload=QUEUE, **fields):
    return {one.key: one for one in evaluate(plan(*groups, workload=workload, **fields), catalog()).findings}


def test_a_sound_plan_has_nothing_to_stop_or_check():
    found = findings(
        group(price=Money(amount=3e5, currency="USD")), site=Site(power_w=15e3, cooling_w=15e3, rack_power_w=15e3)
    )
    assert {one.level for one in found.values()} <= {"note"}


def test_the_gravest_come_first():
    made = plan(
        group(price=Money(amount=3e5, currency="USD")),
        workload=full_queue(LLAMA_70B, first_token_s=None),
        site=Site(power_w=1e3),
        wishes=Wishes(budget=Money(amount=1.0, currency="USD")),
    )
    order = {"stop": 0, "check": 1, "note": 2}
    levels = [order[one.level] for one in evaluate(made, catalog()).findings]
    assert levels == sorted(levels) and levels[0] == 0


def test_every_finding_is_said_once():
    made = side_by_side(group(RTX4090), group(RTX4090), workload=full_queue(LLAMA_70B))
    found = evaluate(made, catalog()).findings
    assert len({(one.key, one.scenario, one.group, one.workload) for one in found}) == len(found)


@pytest.mark.parametrize(
    ("groups", "fields", "key", "level"),
    [
        ((group("nonsense"),), {}, "unknown_card", "check"),
        ((group(gpus_per_server=1),), {"workload": full_queue(LLAMA_70B)}, "exceeds_memory", "stop"),
        ((group(),), {"site": Site(power_w=1e3)}, "exceeds_power", "stop"),
        ((group(),), {"site": Site(cooling_w=7e3)}, "throttles", "stop"),
        ((group(),), {"site": Site(cooling_w=1e3)}, "cannot_be_cooled", "stop"),
        ((group(),), {"wishes": Wishes(budget=Money(amount=1e3, currency="USD"))}, "exceeds_budget", "stop"),
        ((group(condition="used"),), {}, "used_no_warranty", "note"),
        ((group(A800),), {}, "end_of_life_new", "check"),
        ((group(A800),), {}, "price_assumed", "note"),
        ((group(RTX4090),), {}, "no_nvlink", "note"),
        ((group(run={"pruning_kept": 0.5}),), {}, "pruning_no_gain", "note"),
        ((group(),), {"workload": full_queue(LLAMA_8B, max_context_tokens=1_000_000)}, "context_too_long", "stop"),
    ],
)
def test_what_matters_is_said_at_its_level(groups, fields, key, level):
    found = findings(*groups, **fields)
    assert found[key].level == level


def test_a_faster_format_is_pointed_out_where_another_was_stated():
    asked = full_queue(LLAMA_70B, lowest_format="8-bit")
    said = findings(group(run={"weights": "bf16"}), workload=asked)["format_lever"].numbers
    stated, free = group(run={"weights": "bf16"}), group(run={"weights": said["weights"]})
    slow, fast = (
        one.serve[0].output_tokens_s_limit.value
        for one in evaluate(side_by_side(stated, free, workload=asked), catalog()).scenarios
    )
    assert said["speed_ratio"] == pytest.approx(fast / slow)
    assert said["speed_ratio"] > 1.15


def test_no_format_is_pointed_out_that_the_workload_rules_out():
    assert "format_lever" not in findings(group(run={"weights": "bf16"}), workload=full_queue(LLAMA_70B))


def test_two_of_four_on_a_card_with_units_for_it_is_no_idle_pruning():
    assert "pruning_no_gain" not in findings(group(run={"pruning_2_4": True}))


def test_a_card_that_is_sold_new_is_not_called_discontinued():
    for gpu in (H100, "L40S 48GB"):
        assert "end_of_life_new" not in findings(group(gpu))


def test_a_quote_ends_every_doubt_about_a_price():
    quoted = group(A800, price=Money(amount=1e5, currency="USD"))
    assert not {"price_assumed", "price_unknown", "price_old", "end_of_life_new"} & set(findings(quoted))


def test_the_cut_card_is_measured_against_its_own_chip():
    assert uncut_parent(catalog().gpus[A800], catalog()).name == A100
    for gpu in (A100, H100, RTX4090):
        assert uncut_parent(catalog().gpus[gpu], catalog()) is None


def test_the_gain_of_a_runtime_is_not_that_of_a_format():
    asked = Serve(llm=(LLAMA_8B,), lowest_format="4-bit", load=UserLoad(users=20, requests_per_user_peak_hour=10))
    run = {"runtime": "HF transformers", "weights": "bf16"}
    eager = group(run=run, gpus_per_server=1)
    other = group(run={"weights": "bf16"}, gpus_per_server=1)
    results = evaluate(side_by_side(eager, other, workload=asked), catalog())
    slow, fast = (one.serve[0].single_stream_tokens_s.value for one in results.scenarios)
    said = next(one for one in results.findings if one.key == "slow_runtime")
    assert said.numbers["ratio"] == pytest.approx(fast / slow)


def test_leaving_fp32_is_told_as_the_gain_of_16_bit():
    wide = group(run={"compute": "fp32", "weights": "bf16", "tp": 1, "pp": 1}, gpus_per_server=1)
    sixteen = group(run={**SIXTEEN_BIT, "tp": 1, "pp": 1}, gpus_per_server=1)
    asked = full_queue(LLAMA_8B, lowest_format="8-bit")
    results = evaluate(side_by_side(wide, sixteen, workload=asked), catalog())
    slow, fast = (one.serve[0].output_tokens_s_limit.value for one in results.scenarios)
    said = next(one for one in results.findings if one.key == "fp32_waste")
    assert said.numbers["speed_ratio"] == pytest.approx(fast / slow, rel=1e-6)


def test_what_lies_outside_the_measurements_is_said():
    found = findings(group("Moore Threads MTT S4000 48GB", run={"runtime": "llama.cpp"}))
    assert "not_validated" in found or any(one.level != "note" for one in found.values())
    long = findings(group(), workload=full_queue(LLAMA_8B, max_context_tokens=100_000))
    assert long["outside_measured"].numbers["what"] == "context"


def test_training_and_serving_each_say_what_is_wrong_with_them():
    found = findings(group(workload="train", run={"compute": "fp32"}), workload=pretraining())
    assert (found["fp32_waste"].workload, found["fp32_waste"].group) == ("train", 0)


def test_a_load_that_grows_past_what_the_cards_carry_is_told_in_time():
    asked = Serve(llm=(LLAMA_8B,), load=UserLoad(users=200, requests_per_user_peak_hour=12), growth_per_year=2.0)
    carried = evaluate(plan(group(gpus_per_server=1), workload=asked), catalog()).scenarios[0].serve[0]
    demand = 200 * 12 / 3600 * 400
    # 27 times the load after three years of trebling.
    grown = demand * 27
    said = findings(group(gpus_per_server=1), workload=asked)
    assert ("outgrown" in said) == (demand <= carried.output_tokens_s.value < grown)
    many = Serve(llm=(LLAMA_8B,), load=UserLoad(users=2000, requests_per_user_peak_hour=12), growth_per_year=2.0)
    told = findings(group(gpus_per_server=1), workload=many)["outgrown"]
    assert told.numbers["demand_tokens_s"] == pytest.approx(2000 * 12 / 3600 * 400 * 27)
    assert "outgrown" not in findings(group(gpus_per_server=1), workload=Serve(llm=(LLAMA_8B,), load=many.load))


def test_a_cap_below_the_lowest_setting_of_a_card_is_not_raised_silently():
    # H100 SXM boards can be set down to 200 W.
    assert findings(group(power_cap_w=50.0))["cap_raised"].numbers["watts"] == 200
    assert "cap_raised" not in findings(group(power_cap_w=400.0))
