import json

import pytest

from gpuplanner import __main__ as command_line
from gpuplanner import i18n, paths
from gpuplanner.catalog.load import load
from gpuplanner.i18n import using
from gpuplanner.model.evaluate import evaluate
from gpuplanner.model.pinning import entries_that_differ, pin
from gpuplanner.model.plan import Serve, Train
from gpuplanner.report.results_json import results_to_json
from gpuplanner.report.text import results_as_text
from gpuplanner.storage.samples import SAMPLES, open_sample
from gpuplanner.storage.seen import differences

KEYS = [sample.key for sample in SAMPLES]


@pytest.fixture(scope="module")
def catalog():
    return load()


@pytest.fixture(autouse=True)
def nothing_of_the_user(tmp_path, monkeypatch):
    monkeypatch.setattr(paths, "user_data", lambda: tmp_path)
    before = i18n.language()
    yield
    i18n.set_language(before)


def scenario(plan, letter):
    return next(each for each in plan.scenarios if each.letter == letter)


def test_there_is_an_example_for_each_of_the_six_jobs():
    assert len(KEYS) == 6
    assert sorted(sample.path.name for sample in SAMPLES) == sorted(
        path.name for path in (paths.resources() / "samples").glob("*.gpuplan")
    )


@pytest.mark.parametrize("key", KEYS)
def test_an_example_opens_without_a_word(key):
    opened = open_sample(key)
    assert (opened.notes, opened.unknown) == ((), ())
    assert opened.plan.notes


@pytest.mark.parametrize("sample", SAMPLES, ids=KEYS)
def test_the_name_of_an_example_is_its_title_in_every_language(sample):
    assert open_sample(sample.key).plan.name == sample.title
    with using("zh"):
        assert i18n._(sample.title) != sample.title
        assert i18n._(sample.question) != sample.question


@pytest.mark.parametrize("key", KEYS)
def test_an_example_pins_the_catalog_of_today(key, catalog):
    plan = open_sample(key).plan
    advice = "run python -m gpuplanner.storage.samples"
    assert pin(plan, catalog) is plan, advice
    assert entries_that_differ(plan, catalog) == (), advice


@pytest.mark.parametrize("key", KEYS)
def test_an_example_shows_the_figures_that_its_author_saw(key, catalog):
    opened = open_sample(key)
    assert opened.seen is not None and opened.seen.figures
    assert differences(opened.seen, evaluate(opened.plan, catalog)) == (), "run python -m gpuplanner.storage.samples"


@pytest.mark.parametrize("sample", SAMPLES, ids=KEYS)
def test_the_command_line_shows_the_figures_of_the_model(sample, catalog, capsys):
    plan = open_sample(sample.key).plan
    assert command_line.main(["--lang", "en", "evaluate", str(sample.path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == json.loads(json.dumps(results_to_json(plan, evaluate(plan, catalog))))


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("key", KEYS)
def test_an_example_is_told_in_words(key, language, catalog):
    plan = open_sample(key).plan
    with using(language):
        text = results_as_text(plan, evaluate(plan, catalog))
    for each in plan.scenarios:
        assert f"\n{each.letter}   " in text


@pytest.mark.parametrize("key", KEYS)
def test_every_scenario_of_an_example_comes_to_something(key, catalog):
    results = evaluate(open_sample(key).plan, catalog)
    for result in results.scenarios:
        assert result.serve or result.train
        assert result.money.total_over_term.known


# --- what each example is about ---------------------------------------------------------


def test_example_1_compares_five_kinds_of_card_for_200_staff():
    plan = open_sample("1-serve-staff-assistant").plan
    (chat,) = plan.workloads
    assert isinstance(chat, Serve)
    assert chat.llm == ("Llama-3.3-70B",)
    assert chat.first_token_s == 2.0
    assert [each.groups[0].gpu for each in plan.scenarios] == [
        "H100 SXM 80GB", "A100 SXM 80GB", "GeForce RTX 4090 24GB", "H20 96GB", "A800 SXM 80GB",
    ]  # fmt: skip


def test_example_2_takes_the_largest_of_several_models_that_fits(catalog):
    plan = open_sample("2-budget-first").plan
    sizes = {name: catalog.llms[name].params_total for name in plan.workloads[0].llm}
    assert len(sizes) > 3
    chosen = {s.letter: s.serve[0].choice.llm for s in evaluate(plan, catalog).scenarios}
    assert set(chosen.values()) <= set(sizes)
    # Four 24 GB cards hold the 72B model at 4 bit (36 GB of weights).
    assert sizes[chosen["B"]] >= 7e10
    assert (plan.wishes.budget.amount, plan.wishes.budget.currency) == (100_000, "CNY")


def test_example_3_runs_one_h100_scenario_at_32_bit():
    plan = open_sample("3-train-or-fine-tune").plan
    assert [each.kind for each in plan.workloads] == ["finetune", "train"]
    waste, good = scenario(plan, "E"), scenario(plan, "A")
    assert all(group.runs[0].compute == "fp32" for group in waste.groups)
    assert [group.gpu for group in waste.groups] == [group.gpu for group in good.groups]


def test_example_4_owns_16_v100s_and_some_t4s():
    plan = open_sample("4-reuse-old-cards").plan
    owned = {each.gpu: each.count for each in plan.wishes.owned}
    assert owned == {"Tesla V100 SXM2 32GB": 16, "T4 16GB": 8}
    assert [run.runtime for each in "DE" for run in scenario(plan, each).groups[0].runs] == [
        "vLLM (CUDA)", "HF transformers",
    ]  # fmt: skip
    assert scenario(plan, "F").groups[0].gpu == ""


def test_example_5_states_the_room_of_the_question():
    plan = open_sample("5-room-first").plan
    assert plan.site.power_w == 40_000
    # 10 tons of refrigeration, 3.51685 kW each.
    assert plan.site.cooling_w == pytest.approx(35_168.5)
    assert plan.site.supply_c == 24
    assert isinstance(plan.workloads[0], Train)
    hundred = scenario(plan, "E").groups[0]
    assert hundred.servers * hundred.gpus_per_server >= 100
    assert hundred.servers == 13


def test_example_6_holds_four_quotes():
    plan = open_sample("6-compare-quotes").plan
    assert [each.groups[0].condition for each in plan.scenarios] == ["new", "used", "new", "rented"]
    assert all(each.groups[0].price != "auto" for each in plan.scenarios)
