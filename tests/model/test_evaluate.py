"""The one entry point: pure, never raising, every figure a number with its band, every fact with words."""

import copy
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from planning import (
    A100,
    H100,
    LLAMA_8B,
    LLAMA_70B,
    RTX4090,
    V100,
    catalog,
    faults,
    full_queue,
    group,
    inside,
    plan,
    pretraining,
    side_by_side,
)

from gpuplanner.i18n import facts, using
from gpuplanner.model.edit import replace
from gpuplanner.model.evaluate import evaluate
from gpuplanner.model.plan import (
    Economics,
    FineTune,
    Group,
    Money,
    Network,
    Plan,
    Run,
    Scenario,
    Serve,
    Site,
    Train,
    Wishes,
)
from gpuplanner.model.results import Check, Figure, Finding, Headline, Part, ServeResult, TrainResult
from gpuplanner.model.ways_out import ways_out
from gpuplanner.storage.samples import SAMPLES, open_sample

SERVE, TUNE, TRAIN = Serve(llm=(LLAMA_8B,)), FineTune(llm=(LLAMA_8B,)), pretraining(deadline_s=1e6)
WORKLOADS = (SERVE, TUNE, TRAIN)


def strictly(made, with_ways=False):
    """The results of a plan, computed where any warning and any operation on what is no number is an error."""
    with warnings.catch_warnings(), np.errstate(all="raise", under="ignore"):
        warnings.simplefilter("error")
        results = evaluate(made, catalog())
        ways = (
            [way for one in results.scenarios for way in ways_out(made, catalog(), results, one.letter)]
            if with_ways
            else []
        )
    return results, ways


def wordless(results, ways=()):
    """Keys, parts, notes and limits that `facts` cannot put into words."""
    found = set()
    for node in inside(results):
        if isinstance(node, (Check, Finding, Headline)) and node.key:
            if node.key not in facts.FACTS:
                found.add(node.key)
            else:
                facts.sentence(node.key, node.numbers, "USD")
        if isinstance(node, Figure) and node.note and node.note not in facts.WORDS:
            found.add(node.note)
        if isinstance(node, Part) and node.name not in facts.PARTS and node.name not in facts.WORDS:
            found.add(node.name)
        if isinstance(node, (ServeResult, TrainResult)) and node.binds and node.binds not in facts.WORDS:
            found.add(node.binds)
    for way in ways:
        if way.key not in facts.WAYS_OUT or way.finding_key not in facts.FACTS:
            found.add(way.key)
        else:
            facts.sentence(way.key, way.numbers, "USD")
    return found


def check(made, with_ways=True):
    results, ways = strictly(made, with_ways)
    assert faults(results) == set()
    assert wordless(results, ways) == set()
    return results


# --- pure ----------------------------------------------------------------------------------------


def numbers(results):
    """Every number of a result, in order."""
    return [node for node in inside(results) if isinstance(node, (int, float)) and not isinstance(node, bool)]


def fresh(made):
    """An equal plan that shares no record with this one."""
    return type(made).model_validate(copy.deepcopy(made.model_dump()))


@pytest.mark.parametrize("sample", SAMPLES, ids=[sample.key for sample in SAMPLES])
def test_an_equal_plan_gives_equal_results(sample):
    made = open_sample(sample.key).plan
    first, again, anew = evaluate(made, catalog()), evaluate(made, catalog()), evaluate(fresh(made), catalog())
    assert first == again
    assert numbers(anew) == pytest.approx(numbers(first), rel=1e-9)


@given(st.lists(st.sampled_from([H100, A100, RTX4090, V100, "L40S 48GB", "nonsense", ""]), min_size=1, max_size=3))
@settings(max_examples=25, deadline=None)
def test_what_was_asked_before_does_not_matter(cards):
    made = plan(*(group(card, servers=2) for card in cards), workload=SERVE)
    before = numbers(evaluate(made, catalog()))
    evaluate(plan(group(H100), workload=full_queue(LLAMA_70B)), catalog())
    assert numbers(evaluate(fresh(made), catalog())) == pytest.approx(before, rel=1e-9)


def test_results_are_in_no_language():
    made = plan(group(V100, run={"runtime": "vLLM (CUDA)"}), workload=SERVE)
    with using("zh"):
        chinese = evaluate(fresh(made), catalog())
    assert chinese == evaluate(fresh(made), catalog())


def test_a_verdict_on_software_is_said_in_the_language_of_the_reader():
    made = plan(group(V100, run={"runtime": "vLLM (CUDA)"}), workload=SERVE)
    said = next(one for one in evaluate(made, catalog()).findings if one.key == "runtime_fails")
    english = facts.sentence(said.key, said.numbers)
    with using("zh"):
        chinese = f"{said.numbers['reason']}"
    assert "7.0" in chinese
    assert chinese not in english and said.numbers["reason"] in english


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("currency",), "CNY"),
        (("country",), "CN"),
        (("economics", "term_years"), 5.0),
        (("economics", "duty_cycle"), 0.1),
        (("site", "cooling"), "direct-liquid"),
        (("site", "power_w"), 1e3),
        (("wishes", "budget"), Money(amount=1e3, currency="USD")),
        (("workloads", 0, "answer_tokens"), 800),
        (("scenarios", 0, "network", "in_server"), "pcie"),
        (("scenarios", 0, "groups", 0, "servers"), 3),
        (("scenarios", 0, "groups", 0, "power_cap_w"), 400.0),
        (("scenarios", 0, "groups", 0, "runs", 0, "tp"), 4),
        (("scenarios", 0, "groups", 0, "condition"), "used"),
        (("exchange_rates",), ({"currency": "EUR", "per_base": 0.5},)),
    ],
)
def test_what_is_remembered_forgets_nothing_that_changed(path, value):
    budget = Wishes(budget=Money(amount=1e6, currency="EUR"))
    made = plan(group(servers=2, run={"tp": 8, "pp": 1}), workload=SERVE, wishes=budget)
    evaluate(made, catalog())
    edited = replace(made, path, value)
    after = evaluate(edited, catalog())
    assert numbers(after) == pytest.approx(numbers(evaluate(fresh(edited), catalog())), rel=1e-9)
    assert numbers(after) != numbers(evaluate(made, catalog()))


def test_a_pinned_record_counts_before_the_catalogs():
    made = plan(group(gpus_per_server=1), workload=full_queue(LLAMA_8B))
    card = catalog().gpus[H100]
    slow = card.memory_bandwidth_bytes_s.model_copy(update={"value": card.memory_bandwidth_bytes_s.value / 2})
    pinned = replace(made, ("entries", "gpus"), (card.model_copy(update={"memory_bandwidth_bytes_s": slow}),))
    full, half = (evaluate(one, catalog()).scenarios[0].serve[0].single_stream_tokens_s.value for one in (made, pinned))
    assert half < 0.7 * full


def test_scenarios_do_not_touch_each_other():
    alone = evaluate(side_by_side(group(), workload=SERVE), catalog()).scenario("A")
    beside = evaluate(side_by_side(group(), group(RTX4090), workload=SERVE), catalog()).scenario("A")
    assert alone._replace(speed_ratio=beside.speed_ratio) == beside


def test_the_baseline_is_one_and_others_are_measured_against_it():
    made = side_by_side(group(A100), group(H100), workload=full_queue(LLAMA_70B), baseline="B")
    results = evaluate(made, catalog())
    slow, fast = results.scenario("A"), results.scenario("B")
    assert fast.speed_ratio[:3] == (1.0, 1.0, 1.0)
    expected = slow.serve[0].output_tokens_s.value / fast.serve[0].output_tokens_s.value
    assert slow.speed_ratio.value == pytest.approx(expected)
    assert slow.speed_ratio.low < expected < slow.speed_ratio.high


def test_different_work_has_no_ratio():
    other = Serve(id="other", llm=(LLAMA_8B,))
    made = Plan(
        workloads=(SERVE, other),
        scenarios=(
            Scenario(letter="A", groups=(group(),)),
            Scenario(letter="B", groups=(group(workload="other"),)),
        ),
    )
    assert not evaluate(made, catalog()).scenario("B").speed_ratio.known


# --- whatever a file may hold --------------------------------------------------------------------


def test_an_empty_plan_has_results():
    check(Plan())
    check(Plan(scenarios=(Scenario(letter="A"),)))
    check(Plan(workloads=WORKLOADS))


@pytest.mark.parametrize("workload", WORKLOADS, ids=lambda one: one.kind)
@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"gpus_per_server": 0},
        {"gpu": "nonsense"},
        {"gpu": ""},
        {"gpu": "", "cpu": "EPYC 9654"},
        {"gpu": "", "cpu": "nonsense"},
        {"server": "nonsense"},
        {"chassis_class": "rack_scale"},
        {"servers": 100_000, "gpus_per_server": 1024},
        {"servers": 100_000, "price": Money(amount=1e15, currency="USD")},
        {"price": Money(amount=0.0, currency="XAU")},
        {"memory_bytes": 0.0},
        {"power_cap_w": 1e-3},
        {"age_years": 50.0, "condition": "used"},
        {"os": "windows"},
        {"os": "macos"},
    ],
    ids=str,
)
def test_no_group_is_too_strange(workload, fields):
    made = {"gpu": H100, "runs": (Run(workload=workload.id),), **fields}
    check(plan(Group(**made), workload=workload))


@pytest.mark.parametrize("workload", WORKLOADS, ids=lambda one: one.kind)
@pytest.mark.parametrize("gpu", [H100, V100, RTX4090])
def test_every_value_of_every_choice_of_a_run_has_a_result(workload, gpu):
    schema = Run.model_json_schema()["properties"]
    for name, field in schema.items():
        for branch in field.get("anyOf", [field]):
            for option in branch.get("enum", []):
                check(plan(group(gpu, workload.id, {name: option}), workload=workload), with_ways=False)


@pytest.mark.parametrize("workload", WORKLOADS, ids=lambda one: one.kind)
@pytest.mark.parametrize(
    "run",
    [
        *({name: degree} for name in ("tp", "pp", "dp", "ep", "cp") for degree in (1, 3, 16, 4096)),
        {"attention_dp": True},
        {"max_sequences": 1},
        {"max_sequences": 1_000_000},
        {"max_batched_tokens": 10_000_000},
        {"memory_fraction": 1e-6},
        {"pruning_kept": 0.01},
        {"pruning_2_4": True},
        {"speculation": {"draft_tokens": 64, "acceptance": 1.0}},
        {"speculation": {"draft_tokens": 1, "acceptance": 0.0}},
        {"micro_batch": 100_000},
        {"interleave": 64},
        {"llm": "nonsense"},
        {"runtime": "nonsense"},
        {"version": "0.0.0"},
    ],
    ids=str,
)
def test_no_run_is_too_strange(workload, run):
    check(plan(group(workload=workload.id, run=run, servers=2), workload=workload))


@pytest.mark.parametrize(
    "workload",
    [
        Serve(),
        Serve(llm=("nonsense",)),
        Serve(llm=(LLAMA_8B,), prompt_tokens=1, answer_tokens=1),
        Serve(llm=(LLAMA_8B,), prompt_tokens=100_000_000, answer_tokens=100_000_000),
        Serve(llm=(LLAMA_8B,), prompt_spread=5, answer_spread=5, first_token_percentile=0.999),
        Serve(llm=(LLAMA_8B,), prompt_spread=0, answer_spread=0, per_token_percentile=0.5),
        Serve(llm=(LLAMA_8B,), shared_prefix_share=1.0),
        Serve(llm=(LLAMA_8B,), max_context_tokens=100_000_000),
        Serve(llm=(LLAMA_8B,), growth_per_year=-1.0),
        Serve(llm=(LLAMA_8B,), growth_per_year=10.0),
        Serve(llm=(LLAMA_8B,), first_token_s=1e-9, per_token_s=1e-9),
        *(Serve(llm=(LLAMA_8B,), lowest_format=lowest) for lowest in ("32-bit", "16-bit", "8-bit", "4-bit", "any")),
        *(
            Serve(llm=(LLAMA_8B,), load=load)
            for load in (
                {"kind": "users", "users": 1e9, "requests_per_user_peak_hour": 1e5},
                {"kind": "rate", "requests_s": 1e-300},
                {"kind": "rate", "requests_s": 1e7},
                {"kind": "concurrency", "concurrency": 1},
                {"kind": "concurrency", "concurrency": 1e7},
                {"kind": "queue"},
            )
        ),
        FineTune(),
        *(FineTune(llm=(LLAMA_8B,), method=method) for method in ("full", "lora", "qlora")),
        FineTune(llm=(LLAMA_8B,), rank=4096, adapter_targets="attention", packing=False),
        FineTune(llm=(LLAMA_8B,), tokens_per_epoch=1e15, epochs=1000),
        FineTune(llm=(LLAMA_8B,), sequence_tokens=100_000_000),
        FineTune(llm=(LLAMA_8B,), global_batch=1),
        Train(llm=(LLAMA_8B,), tokens=1e18),
        Train(llm=(LLAMA_8B,), tokens=1, global_batch=1_000_000),
        Train(llm=(LLAMA_8B,), deadline_s=1e-9),
    ],
    ids=lambda one: f"{one.kind} {one.model_dump(exclude_defaults=True)}"[:80],
)
def test_no_workload_is_too_strange(workload):
    check(plan(group(workload=workload.id), workload=workload))
    check(plan(Group(gpu="", cpu="EPYC 9654", runs=(Run(workload=workload.id),)), workload=workload))


@pytest.mark.parametrize("workload", WORKLOADS, ids=lambda one: one.kind)
@pytest.mark.parametrize(
    "fields",
    [
        *(
            {"site": Site(**site)}
            for site in (
                {"power_w": 1e-3},
                {"cooling_w": 1e-3},
                {"ups_w": 1e3},
                {"power_w": 15.5e3, "cooling_w": 15.5e3, "ups_w": 15.5e3},
                {"power_w": 18e3, "cooling_w": 18e3, "ups_w": 18e3},
                {"rack_units": 1, "racks": 1},
                {"rack_weight_kg": 1e-3},
                {"rack_power_w": 1.0},
                {"supply_c": 60, "altitude_m": 6000},
                {"pue": 5},
            )
        ),
        *({"site": Site(cooling=kind)} for kind in ("split", "containment", "in-row", "rear-door", "free-air")),
        *({"site": Site(cooling=kind)} for kind in ("direct-liquid", "immersion", "colocation")),
        *(
            {"economics": Economics(**money)}
            for money in (
                {"term_years": 1e-3},
                {"term_years": 20, "discount_rate": 1.0},
                {"duty_cycle": 0.0},
                {"resale_share": 1.0},
                {"electricity_per_kwh": Money(amount=1e15, currency="USD")},
                {"cloud_per_gpu_hour": Money(amount=0.0, currency="USD")},
                {"staff_per_year": Money(amount=1.0, currency="XAU")},
            )
        ),
        *({"currency": code, "country": "CN"} for code in ("CNY", "KRW", "XAU")),
        {"wishes": Wishes(budget=Money(amount=0.0, currency="USD"), budget_covers="term")},
        {"network": Network(in_server="nvlink", nics_per_server=0)},
        {"network": Network(fabric="ethernet", nic_bits_s=1e-3, oversubscription=64)},
    ],
    ids=lambda fields: next(iter(fields)),
)
def test_no_room_and_no_economics_is_too_strange(workload, fields):
    check(plan(group(workload=workload.id, servers=2), workload=workload, **fields), with_ways="site" in fields)


@pytest.mark.parametrize("condition", ["new", "used", "owned", "rented"])
def test_every_card_of_the_catalog_has_a_result(condition):
    for gpu in catalog().gpus:
        check(plan(group(gpu, condition=condition), workload=SERVE), with_ways=False)


@pytest.mark.parametrize("kind", [Serve, FineTune, Train])
def test_every_model_of_the_catalog_has_a_result(kind):
    for llm in catalog().llms:
        workload = kind(llm=(llm,))
        check(plan(group(workload=workload.id), workload=workload), with_ways=False)


@pytest.mark.parametrize("workload", WORKLOADS, ids=lambda one: one.kind)
def test_every_software_of_the_catalog_has_a_result(workload):
    for runtime in catalog().runtimes:
        for gpu in (H100, "Instinct MI300X 192GB", "M2 Ultra (76-core GPU)", "Huawei Ascend 910B 64GB"):
            check(plan(group(gpu, workload.id, {"runtime": runtime}), workload=workload), with_ways=False)


def test_fifty_groups_and_eight_scenarios_have_results():
    cards = [H100, A100, RTX4090, V100, "nonsense", ""]
    groups = tuple(
        group(
            cards[i % len(cards)], ("serve", "train", None)[i % 3], condition=("new", "used", "owned", "rented")[i % 4]
        )
        for i in range(50)
    )
    scenarios = tuple(Scenario(letter=letter, groups=groups[i:]) for i, letter in enumerate("ABCDEFGH"))
    results = check(Plan(workloads=(SERVE, TRAIN), scenarios=scenarios), with_ways=False)
    assert len(results.scenarios) == 8
    assert sum(one.load_share for one in results.scenarios[0].serve) == pytest.approx(1.0)


@given(
    gpu=st.sampled_from(sorted(catalog().gpus)),
    llm=st.sampled_from(sorted(catalog().llms)),
    count=st.integers(0, 16),
    servers=st.integers(1, 64),
    prompt=st.integers(1, 200_000),
    answer=st.integers(1, 20_000),
    rate=st.floats(1e-6, 1e4),
    lowest=st.sampled_from(["32-bit", "16-bit", "8-bit", "4-bit", "any"]),
)
@settings(max_examples=60, deadline=None)
def test_any_serving_plan_has_results(gpu, llm, count, servers, prompt, answer, rate, lowest):
    asked = Serve(
        llm=(llm,), prompt_tokens=prompt, answer_tokens=answer, lowest_format=lowest,
        load={"kind": "rate", "requests_s": rate},
    )  # fmt: skip
    check(plan(group(gpu, gpus_per_server=count, servers=servers), workload=asked), with_ways=False)


@given(
    gpu=st.sampled_from(sorted(catalog().gpus)),
    llm=st.sampled_from(sorted(catalog().llms)),
    count=st.integers(0, 16),
    servers=st.integers(1, 200),
    tokens=st.floats(1.0, 1e14),
    sequence=st.integers(1, 200_000),
)
@settings(max_examples=60, deadline=None)
def test_any_training_plan_has_results(gpu, llm, count, servers, tokens, sequence):
    training = Train(llm=(llm,), tokens=tokens, sequence_tokens=sequence, deadline_s=1e7)
    check(plan(group(gpu, "train", gpus_per_server=count, servers=servers), workload=training), with_ways=False)
