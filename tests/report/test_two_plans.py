import json

import pytest

from gpuplanner.catalog.load import load
from gpuplanner.i18n import places, using
from gpuplanner.model.edit import remove, replace
from gpuplanner.model.evaluate import evaluate
from gpuplanner.model.pinning import pin
from gpuplanner.model.plan import Plan
from gpuplanner.report import two_plans
from gpuplanner.storage.samples import SAMPLES, open_sample

CATALOG = load(None)
SERVERS = ("scenarios", 0, "groups", 0, "servers")


def side(file: str, plan: Plan) -> two_plans.Side:
    plan = pin(plan, CATALOG)
    return two_plans.Side(file, plan, evaluate(plan, CATALOG))


@pytest.fixture(scope="module")
def plan():
    return open_sample(SAMPLES[0].key).plan


@pytest.fixture(scope="module")
def mine(plan):
    return side("mine.gpuplan", plan)


@pytest.fixture(scope="module")
def theirs(plan):
    return side("theirs.gpuplan", replace(plan, SERVERS, plan.scenarios[0].groups[0].servers + 1))


def test_the_same_plan_differs_in_nothing(mine):
    data = two_plans.to_json(mine, mine)
    assert data["inputs"] == []
    assert data["results"]
    assert all(each["same"] for each in data["results"])
    assert "All inputs are the same." in two_plans.as_text(mine, mine)


def test_one_more_server_is_one_input_and_what_follows_from_it(mine, theirs):
    data = json.loads(json.dumps(two_plans.to_json(mine, theirs), allow_nan=False))
    letter = mine.plan.scenarios[0].letter
    (found,) = data["inputs"]
    before = mine.plan.scenarios[0].groups[0].servers
    assert found == {
        "path": ["scenarios", letter, "groups", 0, "servers"],
        "text": f"Scenario {letter}, group 1, servers",
        "a": before,
        "b": before + 1,
    }
    changed = {(each["scenario"], each["key"]) for each in data["results"] if not each["same"]}
    assert (letter, "purchase") in changed
    assert (letter, "it_load_w") in changed
    purchase = next(each for each in data["results"] if (each["scenario"], each["key"]) == (letter, "purchase"))
    # The price of a group is that of its servers: one more server costs as much as each of those that were there.
    assert purchase["b"]["value"] > purchase["a"]["value"] > 0


def test_other_scenarios_of_the_plan_keep_their_figures(mine, theirs):
    data = two_plans.to_json(mine, theirs)
    other = [each for each in data["results"] if each["scenario"] == mine.plan.scenarios[1].letter]
    assert all(each["same"] for each in other if each["key"] != "speed_ratio")


def test_a_scenario_that_one_plan_lacks_has_one_side_only(mine, plan):
    last = len(plan.scenarios) - 1
    fewer = side("fewer.gpuplan", remove(plan, ("scenarios", last)))
    data = two_plans.to_json(mine, fewer)
    (found,) = [each for each in data["inputs"] if each["path"][0] == "scenarios"]
    assert "a" in found
    assert "b" not in found
    assert "not in this plan" in two_plans.as_text(mine, fewer)


def test_amounts_in_another_currency_are_not_the_same(mine, plan):
    other = side("euro.gpuplan", replace(plan, ("currency",), "EUR" if plan.currency != "EUR" else "USD"))
    data = two_plans.to_json(mine, other)
    assert not any(each["same"] for each in data["results"] if each["key"] == "purchase")


def test_every_input_of_a_plan_has_words():
    def fields(kind, seen=()):
        for name, field in kind.model_fields.items():
            yield name
            for each in _records(field.annotation):
                if each not in seen:
                    yield from fields(each, (*seen, each))

    def _records(annotation):
        if hasattr(annotation, "model_fields"):
            return [annotation]
        found = []
        for part in getattr(annotation, "__args__", ()):
            found += _records(part)
        return found

    skipped = {"entries", "workloads", "scenarios", "groups", "runs", "owned", "id", "letter", "kind", "network",
               "site", "economics", "wishes", "amount", "tp", "pp", "dp", "ep", "cp", "attention_dp"}  # fmt: skip
    inner = {"draft_tokens", "acceptance", "draft_cost", "group", "rack", "unit"}
    entries = set(fields(Plan.model_fields["entries"].annotation))
    named = {name for name in fields(Plan) if name not in entries} - skipped - inner
    assert {name for name in named if places.place(("x", name)).endswith(name) and "_" in name} == set()


def test_chinese_words_name_the_place(mine, theirs):
    with using("zh"):
        text = two_plans.as_text(mine, theirs)
    assert "servers" not in text
    assert "方案" in text
