import unicodedata

import pytest

from gpuplanner.i18n import facts, using
from gpuplanner.model.results import NOT_KNOWN
from gpuplanner.report.text import headline, results_as_text
from tests.ui import sample_results


@pytest.fixture
def text() -> str:
    return results_as_text(sample_results.plan(), sample_results.results())


def line(text: str, start: str) -> str:
    return next(each for each in text.splitlines() if each.strip().startswith(start))


def test_the_name_and_the_headline_come_first(text):
    assert text.splitlines()[:2] == [sample_results.plan().name, headline(sample_results.results())]


def test_every_scenario_has_its_four_answers(text):
    for scenario in sample_results.results().scenarios:
        row = line(text, f"{scenario.letter}   ").split()
        answers = [word for word in row if word in "✓▲✕–"]
        expected = (scenario.fits, scenario.speed, scenario.room_check, scenario.money_check)
        assert answers == [{"ok": "✓", "warn": "▲", "fail": "✕", "unknown": "–"}[check.status] for check in expected]


def test_a_figure_stands_with_its_unit_and_its_band(text):
    # Scenario A of the sample: 17 ms per token, 14 to 21.
    row = line(text, "Per token")
    assert row.split()[3] == "ms"
    assert "17.0 (14–21 good)" in row


def test_the_best_figure_of_a_row_is_marked(text):
    assert "17.0 (14–21 good) *" in line(text, "Per token")


def test_a_figure_that_misses_its_target_is_marked(text):
    assert "✕ 3.95" in line(text, "First token, p95")


def test_a_ratio_stands_with_its_band(text):
    # Scenario A of the sample against its baseline: 2.4 times, 2.0 to 2.8.
    results = sample_results.results()
    ratio = results.scenarios[0].speed_ratio
    scale = facts.scale("ratio", [ratio.value])
    assert f"{scale.text(ratio.value)} ({scale.band(ratio.low, ratio.high)})" in line(text, "A   ")


def test_what_nobody_predicts_has_no_word_of_confidence(text):
    assert not {"good", "fair", "rough"} & set(line(text, "Purchase").replace(")", " ").split())
    assert "how narrow it is" in text


def test_every_finding_is_said(text):
    results = sample_results.results()
    for finding in results.findings:
        assert facts.sentence(finding.key, finding.numbers, results.currency) in text


def test_what_is_not_known_is_a_dash():
    results = sample_results.results()
    serve = results.scenarios[0].serve[0]._replace(per_token_s=NOT_KNOWN)
    first = results.scenarios[0]._replace(serve=(serve,))
    text = results_as_text(sample_results.plan(), results._replace(scenarios=(first, *results.scenarios[1:])))
    assert line(text, "Per token").split()[4] == "–"


def test_a_plan_without_scenarios_says_what_to_do():
    text = results_as_text(sample_results.empty_plan(), sample_results.empty_results())
    assert headline(sample_results.empty_results()) in text


def test_a_training_plan_has_a_table_of_its_run():
    text = results_as_text(sample_results.train_plan(), sample_results.train_results())
    assert "tok/s" in line(text, "Training rate")


def test_columns_stand_under_each_other_in_chinese_too():
    def columns(row: str) -> int:
        return sum(2 if unicodedata.east_asian_width(character) in "WF" else 1 for character in row)

    with using("zh"):
        text = results_as_text(sample_results.plan(), sample_results.results())
    table = text.split("\n\n")[2].splitlines()
    assert "17.0 (14–21 良好) *" in "".join(table)
    # The last column is aligned on the right, so every row with figures ends in the same place.
    assert len({columns(row) for row in table if row.startswith("  ")}) == 1


def test_eight_scenarios_are_split_into_tables_that_can_be_read():
    results = sample_results.results()
    eight = tuple(results.scenarios[number % 5]._replace(letter=letter) for number, letter in enumerate("ABCDEFGH"))
    text = results_as_text(sample_results.plan(), results._replace(scenarios=eight))
    assert sum(row.strip().startswith("Per token") for row in text.splitlines()) == 2
    assert max(map(len, text.splitlines())) < 200
