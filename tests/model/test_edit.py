"""An edit replaces the path to one value and shares the rest."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from gpuplanner.model.edit import insert, move, remove, replace, value_at
from gpuplanner.model.plan import Group, Plan, Run, Scenario, Serve, Train

counts = st.integers(1, 1000)


def plan_of(sizes):
    groups = tuple(Group(gpu="H100 SXM 80GB", servers=size, runs=(Run(workload="serve"),)) for size in sizes)
    other = Scenario(letter="B", groups=(Group(gpu="L4 24GB"),))
    return Plan(name="p", workloads=(Serve(),), scenarios=(Scenario(letter="A", groups=groups), other))


@given(st.lists(counts, min_size=1, max_size=5), st.data())
def test_an_edit_changes_one_value_and_nothing_else(sizes, data):
    plan = plan_of(sizes)
    position = data.draw(st.integers(0, len(sizes) - 1))
    count = data.draw(counts)
    path = ("scenarios", 0, "groups", position, "servers")
    after = replace(plan, path, count)
    assert value_at(after, path) == count
    assert replace(after, path, sizes[position]) == plan
    assert value_at(plan, path) == sizes[position]


@given(st.lists(counts, min_size=2, max_size=5))
def test_what_is_off_the_path_is_shared(sizes):
    plan = plan_of(sizes)
    after = replace(plan, ("scenarios", 0, "groups", 0, "servers"), 7)
    assert after.scenarios[1] is plan.scenarios[1]
    assert after.workloads[0] is plan.workloads[0]
    assert after.site is plan.site
    assert after.scenarios[0].groups[1] is plan.scenarios[0].groups[1]
    assert after.scenarios[0].groups[0].runs[0] is plan.scenarios[0].groups[0].runs[0]


@pytest.mark.parametrize("bad", [0, -1, 100_001, "many", None, 1.5])
def test_a_value_out_of_range_is_refused_and_the_plan_stays(bad):
    plan = plan_of([3])
    with pytest.raises(ValidationError):
        replace(plan, ("scenarios", 0, "groups", 0, "servers"), bad)
    assert plan == plan_of([3])


def test_an_edit_that_breaks_a_rule_of_the_whole_plan_is_refused():
    with pytest.raises(ValidationError):
        replace(plan_of([1]), ("scenarios", 1, "letter"), "A")


@pytest.mark.parametrize(
    ("path", "error"),
    [
        (("nonsense",), KeyError),
        (("scenarios", 5, "name"), IndexError),
        (("scenarios", 0, "groups", 9, "servers"), IndexError),
        (("name", "length"), KeyError),
        # A text is a sequence too, and still holds no part of a plan.
        (("name", 0), ValidationError),
    ],
)
def test_a_path_that_leads_nowhere_is_named(path, error):
    with pytest.raises(error):
        replace(plan_of([1]), path, "x")


@given(st.lists(counts, min_size=1, max_size=5), st.data())
def test_what_is_inserted_can_be_removed_again(sizes, data):
    plan = plan_of(sizes)
    position = data.draw(st.integers(0, len(sizes)))
    path = ("scenarios", 0, "groups", position)
    item = Group(gpu="T4 16GB")
    after = insert(plan, path, item)
    assert value_at(after, path) == item
    assert len(after.scenarios[0].groups) == len(sizes) + 1
    assert remove(after, path) == plan


@given(st.lists(counts, min_size=2, max_size=5), st.data())
def test_a_move_keeps_every_item(sizes, data):
    plan = plan_of(sizes)
    start, target = (data.draw(st.integers(0, len(sizes) - 1)) for _ in range(2))
    after = move(plan, ("scenarios", 0, "groups", start), target)
    assert after.scenarios[0].groups[target] is plan.scenarios[0].groups[start]
    assert sorted(one.servers for one in after.scenarios[0].groups) == sorted(sizes)
    assert move(after, ("scenarios", 0, "groups", target), start) == plan


def test_a_date_that_is_no_day_is_refused():
    with pytest.raises(ValidationError):
        Train(start="2026-02-30")
    assert Train(start="2026-02-28").start == "2026-02-28"
