import json
from pathlib import Path

import pytest

from gpuplanner.catalog.load import load
from gpuplanner.validation.compat import judge_cases, thread_date

CASES = Path(__file__).parents[1] / "cases" / "compat.jsonl"


@pytest.fixture(scope="module")
def catalog():
    return load()


@pytest.fixture(scope="module")
def cases():
    return [json.loads(line) for line in CASES.read_text(encoding="utf-8").splitlines()]


@pytest.fixture(scope="module")
def judged(catalog, cases):
    return judge_cases(catalog, cases)


def test_we_never_say_that_it_works_where_a_case_says_that_it_fails(judged):
    assert judged["dangerous"] == 0


def test_the_answers_agree_with_what_people_met(judged):
    # The rules were written with these cases in view: this guards against losing one, it does not measure how good
    # the rules are on cases that nobody has seen.
    wrong = [row for row in judged["rows"] if not row["ok"]]
    print(wrong)
    assert judged["agree"] == len(judged["rows"]) == 131


def test_nearly_all_answers_are_the_same_word(judged):
    assert sum(row["computed"] == row["expected"] for row in judged["rows"]) >= 125


def test_every_row_has_the_promised_keys_and_a_reason(judged):
    for row in judged["rows"]:
        assert set(row) == {"id", "expected", "computed", "reason", "ok", "skipped"}
        assert row["computed"] in ("works", "works with limits", "fails", "not known")
        assert row["reason"] and row["skipped"] is None


def test_a_name_that_the_catalog_does_not_have_is_skipped_with_its_reason(catalog, cases):
    strange = {**cases[0], "gpu": "Card of nobody"}
    result = judge_cases(catalog, [strange])
    assert result["rows"][0]["skipped"] == "no such GPU: Card of nobody"
    assert result["rows"][0]["computed"] is None
    assert (result["agree"], result["dangerous"]) == (0, 0)


def test_a_works_does_not_count_where_the_case_names_a_limit(catalog, cases):
    works = next(case for case in cases if case["id"] == "compat-024")
    result = judge_cases(catalog, [{**works, "expected": "works-with-limits"}])
    assert result["rows"][0]["computed"] == "works"
    assert result["rows"][0]["ok"] is False


def test_the_worst_of_several_precisions_is_the_answer(catalog, cases):
    both = next(case for case in cases if case["id"] == "compat-113")
    result = judge_cases(catalog, [{**both, "also": [{"weights": "fp8", "scheme": None}]}])
    assert result["rows"][0]["computed"] == "fails"


def test_a_thread_is_dated_by_the_next_one_that_is_known(catalog):
    where = "https://github.com/vllm-project/vllm/issues/40851"
    assert thread_date(catalog, {"build": "as of issue 40851", "where": where}) == "2026-04"
    assert thread_date(catalog, {"build": "as of issue 38006", "where": where}) == "2026-04"
    assert thread_date(catalog, {"build": "cu126", "where": where}) is None
