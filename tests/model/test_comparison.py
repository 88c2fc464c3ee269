"""Rows of the comparison: which figure stands where, how it is judged, and which is best."""

import pytest

from gpuplanner.model import comparison
from gpuplanner.model.results import NOT_KNOWN, Check, Figure
from gpuplanner.units import GIB
from tests.ui import sample_results as sample


@pytest.fixture
def serving():
    return {row.key: row for row in comparison.rows(sample.plan(), sample.results(), "serve")}


@pytest.fixture
def training():
    return {row.key: row for row in comparison.rows(sample.train_plan(), sample.train_results(), "tune")}


def test_serving_rows_stand_in_the_order_of_the_questions(serving):
    assert list(serving) == [
        "first_token", "per_token", "output", "headroom", "single_stream", "prefill",
        "link_wait", "memory_used", "max_power", "heat", "energy_per_million",
        "purchase", "total", "per_million", "breakeven",
    ]  # fmt: skip


def test_training_rows_judge_the_deadline(training):
    assert list(training) == [
        "tokens", "step", "mfu", "link_wait", "duration", "memory_used", "max_power", "heat", "gpu_hours",
        "energy_per_run",
        "purchase", "total", "per_run",
    ]  # fmt: skip
    # Deadline 12 h: 4.0 h keeps it, 9.1 h keeps it with its band of 1.2, 9.9 h only in the centre, 16 h misses.
    assert [cell.status for cell in training["duration"].cells] == ["ok", "ok", "fail", "fail", "ok"]
    assert training["duration"].target == sample.DEADLINE_S


def test_each_row_has_a_cell_for_every_scenario(serving):
    assert all([cell.letter for cell in row.cells] == list("ABCDE") for row in serving.values())


def test_targets_come_from_the_plan(serving):
    assert serving["first_token"].target == 2.0
    assert serving["first_token"].numbers == {"percentile": 0.95}
    assert serving["output"].target == sample.DEMAND_TOKENS_S
    assert serving["purchase"].target == sample.BUDGET
    assert serving["max_power"].target == sample.COOLING_W


@pytest.mark.parametrize(("letter", "status"), [("A", "ok"), ("B", "warn"), ("C", "fail"), ("D", "ok"), ("E", "warn")])
def test_the_band_decides_the_status(serving, letter, status):
    # Targets 2 s: A and D stay below at 0.3 and 1.4 s; B and E pass it at 2.1 and 2.6 s; C is above with 3.95 s.
    assert serving["first_token"].cell(letter).status == status


def test_best_is_only_chosen_among_scenarios_that_meet_the_targets(serving):
    # C is cheapest (52 k) but misses the first token; E (104 k) is the cheapest that meets it.
    assert [cell.letter for cell in serving["purchase"].cells if cell.best] == ["E"]
    assert [cell.letter for cell in serving["first_token"].cells if cell.best] == ["A"]


def test_an_assumed_figure_competes_with_its_unfavourable_end():
    results = sample.results()
    # B assumed at 100 k, up to 150 k: cheaper than E (104 k, known) in the centre, not at its band's end.
    assumed = Figure(100e3, 70e3, 150e3, "assumed")
    scenarios = tuple(
        entry._replace(money=entry.money._replace(purchase=assumed)) if entry.letter == "B" else entry
        for entry in results.scenarios
    )
    rows = {row.key: row for row in comparison.rows(sample.plan(), results._replace(scenarios=scenarios), "serve")}
    assert [cell.letter for cell in rows["purchase"].cells if cell.best] == ["E"]


def test_nameplate_over_the_limit_is_a_check_while_the_expected_draw_fits(serving):
    # Cooling 10.5 kW: A draws 6.9 kW, nameplate 10.7 kW.
    cell = serving["max_power"].cell("A")
    assert (cell.status, cell.figure.value, cell.second.value) == ("warn", 10_700, 6900)


def test_memory_shows_bytes_beside_the_share(serving):
    cell = serving["memory_used"].cell("A")
    assert cell.figure.value == pytest.approx(31.0 / 72)
    assert cell.second.value == pytest.approx(31.0 * GIB)


def test_a_scenario_that_does_not_run_the_workload_has_unknown_cells():
    results = sample.results()
    scenarios = tuple(entry._replace(serve=()) if entry.letter == "E" else entry for entry in results.scenarios)
    rows = comparison.rows(sample.plan(), results._replace(scenarios=scenarios), "serve")
    cell = rows[0].cell("E")
    assert (cell.figure, cell.status, cell.best) == (NOT_KNOWN, "unknown", False)


def test_two_groups_add_their_output_and_show_the_slower_first_token():
    results = sample.results()
    both = (sample.serve("A"), sample.serve("B")._replace(group=1))
    scenarios = tuple(entry._replace(serve=both) if entry.letter == "A" else entry for entry in results.scenarios)
    rows = {row.key: row for row in comparison.rows(sample.plan(), results._replace(scenarios=scenarios), "serve")}
    assert rows["output"].cell("A").figure[:3] == (3420 + 980, 2500 + 740, 4700 + 1300)
    assert rows["first_token"].cell("A").figure.value == 1.25
    assert rows["headroom"].cell("A").figure.value == pytest.approx(4400 / 889 - 1)


def test_a_budget_in_another_currency_is_not_compared_without_a_rate():
    plan = sample.plan()
    wishes = plan.wishes.model_copy(update={"budget": plan.wishes.budget.model_copy(update={"currency": "CNY"})})
    rows = {
        row.key: row for row in comparison.rows(plan.model_copy(update={"wishes": wishes}), sample.results(), "serve")
    }
    assert rows["purchase"].target is None


def test_one_scenario_alone_is_not_called_best():
    results = sample.results()
    alone = results._replace(scenarios=results.scenarios[:1])
    assert not any(cell.best for row in comparison.rows(sample.plan(), alone, "serve") for cell in row.cells)


def test_a_plan_without_scenarios_or_workload_has_no_rows():
    assert comparison.rows(sample.empty_plan(), sample.empty_results(), "serve") == ()
    assert comparison.rows(sample.plan(), sample.results(), "no such workload") == ()


def test_what_is_not_known_is_not_judged():
    assert comparison.status_against(NOT_KNOWN, 1.0, "low") == "unknown"
    assert comparison.status_against(Figure(0.5, 0.4, 1.2, "predicted"), 1.0, "low") == "warn"


def test_a_scenario_that_does_not_fit_is_never_best():
    entry = sample.scenario("A")._replace(fits=Check("fail", "does_not_fit"))
    assert not comparison.may_be_best(entry)


def test_a_scenario_without_a_name_is_called_by_all_its_cards():
    group = sample.plan().scenarios[0].groups[0]
    other = group.model_copy(update={"gpu": "T4", "gpus_per_server": 4, "servers": 2})
    plain = sample.plan().scenarios[0].model_copy(update={"name": "", "groups": (group, other, group)})
    assert comparison.scenario_name(plain) == "16× H100 SXM + 8× T4"
    assert comparison.scenario_name(plain.model_copy(update={"groups": ()})) == "A"
