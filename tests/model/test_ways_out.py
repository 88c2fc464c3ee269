"""Each way out is one step, evaluated as if it had been made."""

import pytest
from planning import A100, H100, LLAMA_8B, LLAMA_70B, catalog, full_queue, group, plan, pretraining, side_by_side

from gpuplanner.model.edit import replace
from gpuplanner.model.evaluate import evaluate
from gpuplanner.model.plan import Money, Serve, Site, UserLoad, Wishes
from gpuplanner.model.ways_out import ways_out


def asked(llm=LLAMA_8B, **fields):
    return Serve(llm=(llm,), **{"load": UserLoad(users=300, requests_per_user_peak_hour=12), **fields})


PLANS = {
    "does not fit": plan(group(gpus_per_server=1), workload=asked(LLAMA_70B, lowest_format="16-bit")),
    "overloaded": plan(group(A100, gpus_per_server=1), workload=asked(load=UserLoad(users=1e4))),
    "too slow": plan(group(A100, gpus_per_server=4), workload=asked(LLAMA_70B, per_token_s=0.015)),
    "split": plan(group(run={"tp": 3}), workload=asked()),
    "power": plan(group(servers=4), workload=asked(), site=Site(power_w=30e3, rack_power_w=20e3)),
    "heat": plan(group(servers=2), workload=asked(), site=Site(cooling_w=18e3, rack_power_w=20e3)),
    "money": plan(group(servers=2), workload=asked(), wishes=Wishes(budget=Money(amount=4e5, currency="USD"))),
    "deadline": plan(group(workload="train"), workload=pretraining(deadline_s=8e5)),
    "training split": plan(group(workload="train", run={"tp": 3}), workload=pretraining()),
    "runtime": plan(group("Tesla V100 SXM2 32GB", run={"runtime": "vLLM (CUDA)"}), workload=asked()),
}


def ways(made):
    return ways_out(made, catalog(), evaluate(made, catalog()), "A")


def after(made, way):
    for path, value in way.edits:
        made = replace(made, path, value)
    return evaluate(made, catalog())


@pytest.mark.parametrize("name", PLANS)
def test_there_is_a_way_out_that_solves(name):
    assert any(way.solves for way in ways(PLANS[name]))


@pytest.mark.parametrize("name", PLANS)
def test_a_way_out_leads_where_it_says(name):
    made = PLANS[name]
    today = evaluate(made, catalog()).scenarios[0]
    for way in ways(made):
        then = after(made, way)
        result = then.scenarios[0]
        keys = {one.key for one in then.findings}
        if way.solves:
            assert way.finding_key not in keys
        assert way.purchase == result.money.purchase
        if today.money.total_over_term.known and result.money.total_over_term.known:
            extra = result.money.total_over_term.value - today.money.total_over_term.value
            assert way.extra_cost == pytest.approx(extra)


@pytest.mark.parametrize("name", PLANS)
def test_what_solves_comes_first_and_the_cheapest_of_it(name):
    order = [(not way.solves, way.key in ("relax_target", "allow_format"), way.extra_cost) for way in ways(PLANS[name])]
    assert order == sorted(order)


def test_a_plan_without_faults_needs_no_way_out():
    sound = plan(group(price=Money(amount=3e5, currency="USD")), workload=asked())
    assert ways(sound) == ()


def test_a_step_changes_its_own_scenario_only():
    bad = group(A100, gpus_per_server=1)
    compared = side_by_side(group(), bad, workload=asked(load=UserLoad(users=1e4)))
    results = evaluate(compared, catalog())
    found = ways_out(compared, catalog(), results, "B")
    assert found
    for way in found:
        assert way.letter == "B"
        for path, _value in way.edits:
            assert path[0] == "workloads" or path[:2] == ("scenarios", 1)


def test_a_scenario_that_does_not_exist_has_no_way_out():
    made = PLANS["split"]
    assert ways_out(made, catalog(), evaluate(made, catalog()), "H") == ()


def test_the_second_group_is_helped_too():
    made = plan(group(), group(run={"tp": 3}), workload=asked())
    assert any(path[:4] == ("scenarios", 0, "groups", 1) for way in ways(made) for path, _value in way.edits)


def test_a_cap_brings_the_type_plates_under_the_limit():
    made = plan(group(workload="train"), workload=pretraining(), site=Site(power_w=9.5e3, rack_power_w=20e3))
    cap = next(way for way in ways(made) if way.key == "cap_power")
    room = after(made, cap).scenarios[0].room
    assert room.it_nameplate_w.value <= 9.5e3
    # 700 W less an eighth of what is over, in steps of ten watts.
    assert cap.numbers["watts"] % 10 == 0
    assert cap.numbers["speed_loss"] < 0


def test_no_step_is_offered_that_the_plans_limits_forbid():
    made = plan(group(H100), workload=full_queue(LLAMA_8B, per_token_s=1e-6))
    for way in ways(made):
        after(made, way)


def test_another_format_is_offered_where_one_was_stated():
    made = plan(group(run={"weights": "bf16"}), workload=full_queue(LLAMA_70B, lowest_format="8-bit"))
    offered = [way for way in ways(made) if way.key == "use_format"]
    assert {"fp8"} <= {way.numbers["weights"] for way in offered if way.solves}
