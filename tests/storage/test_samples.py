import pytest

from gpuplanner import i18n
from gpuplanner.model.plan import Plan
from gpuplanner.storage.samples import SAMPLES, WORDS, Sample, in_the_language_in_force, open_sample


@pytest.fixture
def chinese():
    before = i18n.language()
    i18n.set_language("zh")
    yield
    i18n.set_language(before)


def words_of(plan: Plan) -> list[str]:
    texts = [plan.name, plan.notes, *(workload.name for workload in plan.workloads)]
    for scenario in plan.scenarios:
        texts += [scenario.name, scenario.notes]
        for group in scenario.groups:
            texts += [group.name, group.vendor, group.notes]
    return [line for text in texts for line in text.split("\n") if line]


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.key)
def test_every_word_of_an_example_can_be_translated(sample: Sample) -> None:
    known = {*WORDS, *(each.title for each in SAMPLES)}
    assert [line for line in words_of(open_sample(sample.key).plan) if line not in known] == []


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.key)
def test_an_example_speaks_the_language_in_force(chinese: None, sample: Sample) -> None:
    plan = open_sample(sample.key).plan
    shown = in_the_language_in_force(plan)
    for before, after in zip(words_of(plan), words_of(shown), strict=True):
        assert before != after or not any(letter.isascii() and letter.isalpha() for letter in before), before


def test_only_words_change_with_the_language(chinese: None) -> None:
    plan = open_sample("4-reuse-old-cards").plan
    shown = in_the_language_in_force(plan)
    assert shown.entries == plan.entries
    assert [scenario.groups[0].gpu for scenario in shown.scenarios] == [s.groups[0].gpu for s in plan.scenarios]
    assert shown.wishes == plan.wishes


def test_an_example_in_english_is_as_its_file_says() -> None:
    plan = open_sample("1-serve-staff-assistant").plan
    assert in_the_language_in_force(plan) == plan
