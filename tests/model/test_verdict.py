"""The one rule: met by the unfavourable end, to check by the middle alone, missed by the middle."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from planning import H100, LLAMA_8B, catalog, full_queue, group, outcome, plan, pretraining, side_by_side

from gpuplanner.model import verdict
from gpuplanner.model.evaluate import evaluate
from gpuplanner.model.plan import Money, Plan, Serve, UserLoad, Wishes
from gpuplanner.model.results import NOT_KNOWN, Check, Figure, exact

BAND = Figure(10.0, 8.0, 13.0, "predicted")


@pytest.mark.parametrize(
    ("target", "lower_is_better", "status"),
    [
        (13.0, True, "ok"),
        (12.9, True, "warn"),
        (10.0, True, "warn"),
        (9.9, True, "fail"),
        (8.0, False, "ok"),
        (8.1, False, "warn"),
        (10.0, False, "warn"),
        (10.1, False, "fail"),
        (None, True, "unknown"),
    ],
)
def test_a_target_is_met_by_the_unfavourable_end(target, lower_is_better, status):
    assert verdict.meets(BAND, target, lower_is_better) == status


def test_what_is_not_known_meets_nothing_and_misses_nothing():
    assert verdict.meets(NOT_KNOWN, 1.0, True) == "unknown"


@given(st.floats(0.1, 100), st.floats(1.0, 5.0), st.floats(0.01, 1000), st.floats(0.01, 1000))
def test_an_easier_target_is_never_judged_worse(middle, factor, first, second):
    order = {"ok": 0, "warn": 1, "fail": 2}
    figure = Figure(middle, middle / factor, middle * factor, "predicted")
    tight, loose = sorted((first, second))
    assert order[verdict.meets(figure, loose, True)] <= order[verdict.meets(figure, tight, True)]
    assert order[verdict.meets(figure, tight, False)] <= order[verdict.meets(figure, loose, False)]


def test_the_gravest_check_counts_and_the_first_of_equals():
    first, second = Check("warn", "a"), Check("warn", "b")
    assert verdict.worst([Check("ok"), first, second, Check("unknown")]) is first
    assert verdict.worst([first, Check("fail", "c")]).key == "c"
    assert verdict.worst([]).key == "nothing_to_run"


@pytest.mark.parametrize(
    ("limit", "status", "key"),
    [(14.0, "ok", "budget_ok"), (12.0, "warn", "budget_band_exceeds"), (9.0, "fail", "budget_over")],
)
def test_a_budget_is_judged_by_the_same_rule(limit, status, key):
    wished = Plan(wishes=Wishes(budget=Money(amount=limit, currency="USD")))
    found = verdict.budget(wished, BAND, limit, "USD")
    assert (found.status, found.key) == (status, key)
    if key == "budget_over":
        assert found.numbers["over"] == pytest.approx(1.0)


def test_without_a_budget_or_a_price_money_is_not_judged():
    assert verdict.budget(Plan(), BAND, None, "USD").key == "no_budget"
    wished = Plan(wishes=Wishes(budget=Money(amount=1.0, currency="USD")))
    assert verdict.budget(wished, NOT_KNOWN, 1.0, "USD").status == "unknown"


# --- speed ---------------------------------------------------------------------------------------


def asked(**fields):
    return Serve(llm=(LLAMA_8B,), **{"load": UserLoad(users=50, requests_per_user_peak_hour=12), **fields})


def test_a_light_load_on_a_strong_server_is_fast_enough():
    assert outcome(group(), workload=asked()).speed == Check("ok", "fast_enough")


@pytest.mark.parametrize("name", ["first_token", "per_token"])
def test_a_target_between_middle_and_end_of_a_band_is_to_check(name):
    # With the split left open a tighter target would be met by another split.
    fixed = group(run={"tp": 1, "pp": 1, "weights": "bf16", "kv": "bf16"})
    figure = getattr(outcome(fixed, workload=asked()).serve[0], f"{name}_s")
    easy = {"first_token_s": None, "per_token_s": None}
    between = (figure.value + figure.high) / 2
    found = outcome(fixed, workload=asked(**{**easy, f"{name}_s": between})).speed
    assert (found.status, found.key) == ("warn", f"low_end_misses_{name}")
    missed = outcome(fixed, workload=asked(**{**easy, f"{name}_s": figure.value * 0.99})).speed
    assert (missed.status, missed.key) == ("fail", f"misses_{name}")


def test_more_requests_than_can_be_served_are_an_overload():
    found = outcome(group(), workload=asked(load=UserLoad(users=1e6, requests_per_user_peak_hour=60)))
    assert (found.speed.status, found.speed.key) == ("fail", "overloaded")
    assert found.serve[0].first_token_s.note == "overloaded"


def test_without_targets_and_demand_nothing_is_judged():
    assert outcome(group(), workload=full_queue(LLAMA_8B)).speed.key == "no_speed_target"


def test_a_queue_with_a_target_that_is_met_is_fast_enough():
    found = outcome(group(), workload=full_queue(LLAMA_8B, per_token_s=10.0))
    assert found.speed.key == "fast_enough"


def test_a_deadline_is_judged_by_the_band_of_the_duration():
    duration = outcome(group(workload="train"), workload=pretraining()).train[0].duration_s
    for deadline, key in (
        (duration.high * 1.01, "fast_enough"),
        ((duration.value + duration.high) / 2, "low_end_misses_deadline"),
        (duration.value * 0.99, "misses_deadline"),
    ):
        assert outcome(group(workload="train"), workload=pretraining(deadline_s=deadline)).speed.key == key


def test_a_duration_that_is_not_known_does_not_meet_a_deadline():
    result = outcome(group(workload="train"), workload=pretraining(deadline_s=1e9)).train[0]
    assert verdict.train_speed(result._replace(duration_s=NOT_KNOWN))[0].status == "unknown"


# --- the best ------------------------------------------------------------------------------------


def headline(*groups, **fields):
    compared = side_by_side(*groups, workload=asked(), **fields)
    return evaluate(compared, catalog()).headline


def quote(amount):
    return Money(amount=amount, currency="USD")


def test_the_cheaper_of_two_that_meet_everything_is_the_best():
    found = headline(group(price=quote(300e3)), group(price=quote(100e3)))
    assert (found.key, found.best) == ("best_no_budget", "B")
    assert found.numbers["amount"] == pytest.approx(100e3, rel=0.05)


def test_two_whose_cost_bands_overlap_are_both_named():
    found = headline(group(price=quote(300e3)), group(price=quote(300.1e3)))
    assert (found.key, found.best, found.other) == ("two_best", "A", "B")


def test_a_scenario_that_misses_something_is_never_the_best():
    slow = group("Tesla P40 24GB", gpus_per_server=1, price=quote(1e3))
    assert headline(slow, group(price=quote(300e3))).best == "B"


def test_a_scenario_of_which_nothing_is_known_is_never_the_best():
    found = headline(group("nonsense"), group(price=quote(300e3)))
    assert (found.best, found.key) == ("B", "best_no_budget")
    alone = headline(group("nonsense"))
    assert (alone.key, alone.best) == ("none_meets", "A")


def test_none_is_best_where_all_miss_something_and_the_least_bad_is_named():
    found = headline(group(), wishes=Wishes(budget=quote(1000.0)))
    assert (found.key, found.best, found.numbers["what"]) == ("none_meets", "A", "budget_over")


def test_what_is_rented_is_headed_by_what_it_costs_over_the_term():
    found = headline(group(condition="rented", price=quote(10.0)))
    # 10 dollars an hour for three years.
    assert found.numbers["amount"] == pytest.approx(10.0 * 8760 * 3)


def test_without_work_there_is_nothing_to_head():
    assert evaluate(Plan(), catalog()).headline.key == "nothing_yet"
    assert evaluate(plan(group(H100, None)), catalog()).headline.key == "nothing_yet"


def test_the_smallest_headroom_counts():
    whole = outcome(group(), workload=asked())
    assert verdict.headroom_of(whole) == whole.serve[0].headroom.value
    two = whole._replace(serve=(whole.serve[0], whole.serve[0]._replace(headroom=exact(-0.5))))
    assert verdict.headroom_of(two) == -0.5


def test_a_best_that_only_its_central_figures_carry_is_called_so():
    # The typed price is within the budget by its middle and over it by the band of racks and network.
    found = headline(group(), wishes=Wishes(budget=quote(330e3)))
    entry = evaluate(side_by_side(group(), workload=asked(), wishes=Wishes(budget=quote(330e3))), catalog()).scenarios[
        0
    ]
    assert entry.money_check.status == "warn"
    assert (found.key, found.numbers["what"]) == ("best_central", entry.money_check.key)
