import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from gpuplanner.model.differences import ABSENT, Difference, differences, take, three_way
from gpuplanner.model.edit import remove, replace
from gpuplanner.model.plan import Group, Plan, QueueLoad, Run, Scenario, Serve, Train
from tests.storage.plans import full_plan, plans

PLAN = Plan(
    workloads=(Serve(),),
    scenarios=(
        Scenario(letter="A", groups=(Group(gpu="H100", runs=(Run(workload="serve"),)),)),
        Scenario(letter="B", groups=(Group(gpu="A100"),)),
    ),
)


def test_a_changed_number_is_one_difference_with_both_values():
    other = replace(PLAN, ("scenarios", 1, "groups", 0, "servers"), 4)
    assert differences(PLAN, other) == (Difference(("scenarios", "B", "groups", 0, "servers"), 1, 4),)


def test_a_scenario_is_found_by_its_letter_not_by_its_place():
    other = remove(PLAN, ("scenarios", 0))
    (found,) = differences(PLAN, other)
    assert (found.place, found.a, found.b) == (("scenarios", "A"), PLAN.scenarios[0], ABSENT)


def test_another_kind_of_load_is_one_difference():
    other = replace(PLAN, ("workloads", 0, "load"), QueueLoad())
    assert [found.place for found in differences(PLAN, other)] == [("workloads", "serve", "load")]


def test_a_field_of_a_pinned_entry_is_told_by_the_name_of_the_entry():
    plan = full_plan()
    other = replace(plan, ("entries", "gpus", 0, "memory_bytes", "value"), 80.0 * 2**30)
    (found,) = differences(plan, other)
    assert found.place == ("entries", "gpus", "Acme X1 64GB", "memory_bytes", "value")


@given(plans())
@settings(max_examples=40, deadline=None)
def test_a_plan_does_not_differ_from_itself(plan):
    assert differences(plan, plan) == ()


@settings(max_examples=60, deadline=None)
@given(plans(), plans())
def test_taking_every_difference_over_makes_the_inputs_the_same(mine, theirs):
    # Workloads come before the scenarios that run them; what only this plan runs must go before its workload does.
    todo = sorted(differences(mine, theirs), key=lambda found: found.b is ABSENT and found.place[0] == "workloads")
    for _pass in range(len(todo) + 1):
        left = []
        for found in todo:
            try:
                mine = take(mine, theirs, found.place)
            except (ValidationError, KeyError):
                left.append(found)
        if not left:
            break
        # A group that goes moves those behind it up: what is left is looked for anew.
        todo = list(differences(mine, theirs))[::-1]
    assert differences(mine, theirs) == ()


@settings(max_examples=60, deadline=None)
@given(st.integers(2, 100), st.integers(2, 100))
def test_one_difference_taken_over_leaves_the_others(servers, gpus):
    place = ("scenarios", 0, "groups", 0)
    other = replace(replace(PLAN, (*place, "servers"), servers), (*place, "gpus_per_server"), 200 + gpus)
    taken = take(PLAN, other, ("scenarios", "A", "groups", 0, "servers"))
    assert taken == replace(PLAN, (*place, "servers"), servers)


def test_a_scenario_that_only_the_other_has_is_taken_whole():
    mine = remove(PLAN, ("scenarios", 1))
    assert take(mine, PLAN, ("scenarios", "B")) == PLAN


def test_a_scenario_that_the_other_does_not_have_goes():
    assert take(PLAN, remove(PLAN, ("scenarios", 1)), ("scenarios", "B")) == remove(PLAN, ("scenarios", 1))


def test_a_run_of_a_workload_that_is_not_here_is_refused():
    other = replace(PLAN, ("workloads",), (Serve(), Train()))
    other = replace(other, ("scenarios", 0, "groups", 0, "runs", 0, "workload"), "train")
    with pytest.raises(ValidationError):
        take(PLAN, other, ("scenarios", "A", "groups", 0, "runs", 0, "workload"))


def test_a_place_that_neither_has_is_an_error():
    with pytest.raises(KeyError):
        take(PLAN, PLAN, ("scenarios", "H"))


def test_with_a_common_base_only_what_both_changed_is_in_question():
    servers, notes = ("scenarios", 0, "groups", 0, "servers"), ("notes",)
    base = PLAN
    mine = replace(replace(base, servers, 2), ("name",), "mine only")
    theirs = replace(replace(base, servers, 3), notes, "theirs only")
    free, both = three_way(base, mine, theirs)
    assert [(found.place, found.b) for found in free] == [(notes, "theirs only")]
    assert [(found.place, found.a, found.b) for found in both] == [(("scenarios", "A", "groups", 0, "servers"), 2, 3)]


def test_the_same_change_on_both_sides_is_no_question():
    changed = replace(PLAN, ("name",), "both")
    assert three_way(PLAN, changed, changed) == ((), ())
