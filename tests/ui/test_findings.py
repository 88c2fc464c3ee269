"""Findings with their ways out, and the explanation of a figure."""

from typing import NamedTuple

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QGuiApplication

from gpuplanner.model.results import Figure, exact
from gpuplanner.ui.document import PlanDocument
from gpuplanner.ui.evaluation import Evaluation
from gpuplanner.ui.panels.explain import ExplainPanel, explained
from gpuplanner.ui.panels.findings import FindingsPanel, closest_limit
from gpuplanner.ui.theme import ThemeSource
from tests.ui import sample_results as sample


class Way(NamedTuple):
    """What the model returns for a way out."""

    key: str
    numbers: dict
    finding_key: str
    edits: tuple
    letter: str
    speed: Figure
    purchase: Figure


SERVERS = ("scenarios", 2, "groups", 0, "servers")
WAYS = {
    "A": (
        Way(
            "cap_power",
            {"watts": 650, "speed_loss": 0.03},
            "nameplate_exceeds_cooling",
            (),
            "A",
            exact(3300.0),
            exact(312e3),
        ),
    ),
    "C": (
        Way("add_servers", {"count": 1}, "misses_first_token", ((SERVERS, 3),), "C", exact(1150.0), exact(78e3)),
        Way("add_servers", {"count": 2}, "misses_first_token", ((SERVERS, 4),), "C", exact(1500.0), exact(104e3)),
    ),
}


@pytest.fixture
def document():
    made = PlanDocument(None, sample.plan())
    made.select("C")
    return made


@pytest.fixture
def evaluation(document):
    return Evaluation(document, lambda plan, catalog: sample.results())


@pytest.fixture
def asked():
    return []


@pytest.fixture
def panel(qtbot, document, evaluation, asked):
    def ways_out(plan, catalog, results, letter):
        asked.append(letter)
        return WAYS.get(letter, ())

    made = FindingsPanel(document, evaluation, ThemeSource("light"), ways_out)
    qtbot.addWidget(made, before_close_func=FindingsPanel.finish)
    made.resize(700, 200)
    made.show()
    return made


@pytest.fixture
def searched(panel, asked, qtbot):
    """The panel once all ways out have been found."""
    qtbot.waitUntil(lambda: len(asked) == 5 and panel.view.rows_model.rows[2].fixes != ())
    return panel


def test_stops_come_first_and_are_counted(panel):
    assert [row.level for row in panel.view.rows_model.rows] == ["stop", "stop", "check", "check", "check", "note"]
    assert panel.counts.text() == "2 stops · 3 checks · 1 note"


def test_results_are_shown_before_any_way_out_is_computed(qtbot, document, evaluation):
    asked = []
    panel = FindingsPanel(document, evaluation, ThemeSource("light"), lambda *args: asked.append(args) or ())
    qtbot.addWidget(panel, before_close_func=FindingsPanel.finish)
    assert len(panel.view.rows_model.rows) == 6
    assert not asked


def test_the_selected_scenario_gets_its_ways_out_first(searched, panel, asked, qtbot):
    assert asked == ["C", "A", "B", "D", "E"]
    assert panel.view.rows_model.rows[1].fixes == (
        "Add 1 server: 1,150 tok/s, $78 k",
        "Add 2 servers: 1,500 tok/s, $104 k",
    )
    assert panel.view.rows_model.rows[2].fixes == ("Cap GPUs at 650 W: −3 % speed",)


def test_a_click_on_the_link_is_one_undo_step(searched, panel, document, asked, qtbot):
    view = panel.view
    rect = view.visualRect(view.rows_model.index(1))
    qtbot.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(rect.right() - 60, rect.center().y()))
    assert document.plan.scenarios[2].groups[0].servers == 3
    assert document.undo_stack.undoText() == "C: Add 1 server"
    document.undo()
    assert document.plan == sample.plan()


def test_a_click_on_the_row_shows_its_scenario(panel, document, qtbot):
    rect = panel.view.visualRect(panel.view.rows_model.index(3))
    qtbot.mouseClick(panel.view.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(120, rect.center().y()))
    assert document.selected == "B"


def test_further_ways_out_are_in_a_menu(searched, panel, document, asked, qtbot):
    menu = panel.menu_for(1)
    menu.actions()[1].trigger()
    assert document.plan.scenarios[2].groups[0].servers == 4


def test_the_focused_fix_is_applied_by_its_command(searched, panel, document, asked, qtbot):
    panel.view.setCurrentIndex(panel.view.rows_model.index(1))
    panel.apply_focused()
    assert document.plan.scenarios[2].groups[0].servers == 3


def test_a_finding_without_a_way_out_has_no_link(searched, panel, asked, qtbot):
    assert panel.view.rows_model.rows[5].fixes == ()
    panel.apply_fix(5)


def test_the_list_is_copied(panel):
    panel.copy()
    assert QGuiApplication.clipboard().text().splitlines()[0].split("\t")[:3] == [
        "stop",
        "A",
        "Costs $312 k, $112 k over the budget",
    ]


def test_with_nothing_to_fix_the_closest_limit_is_named(panel):
    # D: nameplate 6.4 kW of 10.5 kW cooling leaves 39 %.
    assert closest_limit(sample.results(), "D") == "Nothing to fix. Closest limit: cooling, 39 % left."
    panel.show_results(sample.plan(), sample.results()._replace(findings=()))
    assert panel.view.empty.startswith("Nothing to fix.")


# --- explain -------------------------------------------------------------------------------------


@pytest.fixture
def explain(qtbot, document, evaluation):
    made = ExplainPanel(document, evaluation, ThemeSource("light"))
    qtbot.addWidget(made)
    made.resize(346, 200)
    made.show()
    return made


def told(key, letter="D"):
    return explained(sample.plan(), sample.results(), "serve", letter, key)


def test_a_figure_is_explained_with_value_band_target_and_origin():
    shown = told("output")
    assert (shown.title, shown.value, shown.unit, shown.low, shown.high) == (
        "Output within targets",
        "1,300",
        "tok/s",
        "905",
        "1,870",
    )
    assert (shown.target_text, shown.status, shown.basis) == ("need 889", "ok", "predicted")
    assert shown.verdict == "Meets 889 even at the low end of the band."


def test_the_parts_of_a_figure_add_up_to_it():
    parts = [line for line in told("total").lines if line.depth == 1][:3]
    assert [line.name for line in parts] == ["Purchase", "running cost", "resale"]
    # 186 + 51 − 55 = 182 thousand.
    assert (told("total").value, [line.value for line in parts]) == ("182", ["186", "51.0", "−55.0"])


def test_what_misses_says_so():
    assert told("first_token", "C").verdict == "Misses 2.00."
    assert told("first_token", "B").verdict == "Meets 2.00; an end of the band does not."


@pytest.mark.parametrize(
    "key",
    ["first_token", "per_token", "output", "headroom", "memory_used", "max_power", "heat", "energy_per_million",
     "purchase", "total", "per_million", "breakeven", "speed_ratio"],
)  # fmt: skip
def test_every_figure_of_serving_rests_on_others(key):
    assert told(key).lines


def test_the_panel_keeps_its_figure_when_the_selection_moves(explain, document):
    explain.explain("D", "purchase")
    document.select("B")
    assert (explain.shown.letter, explain.shown.title) == ("B", "Purchase")


def test_a_figure_that_is_gone_gives_way_to_the_output(explain):
    explain.explain("D", "no_such_metric")
    assert explain.shown.title == "Output within targets"


def test_the_panel_speaks_the_figure(explain):
    explain.explain("D", "output")
    assert explain.accessibleName() == (
        "D, Output within targets: 1,300 tok/s. 80 % band 905 to 1,870. Meets 889 even at the low end of the band."
    )


def test_an_empty_plan_explains_nothing(explain):
    explain.show_results(sample.empty_plan(), sample.empty_results())
    assert explain.shown is None
    assert explain.text() == ""


def test_ways_out_of_an_earlier_plan_are_dropped(searched, panel, asked, qtbot):
    dearer = sample.plan().economics.model_copy(update={"term_years": 5.0})
    plan = sample.plan().model_copy(update={"economics": dearer})
    panel.show_results(plan, sample.results())
    assert panel.view.rows_model.rows[2].fixes == ()
    qtbot.waitUntil(lambda: len(asked) == 10)


def test_ways_out_of_scenarios_that_have_not_changed_are_kept(searched, panel, asked, qtbot):
    results = sample.results()
    slower = results.scenarios[2]._replace(gpus=4)
    panel.show_results(
        sample.plan(), results._replace(scenarios=(*results.scenarios[:2], slower, *results.scenarios[3:]))
    )
    assert panel.view.rows_model.rows[2].fixes == ("Cap GPUs at 650 W: −3 % speed",)
    assert panel.view.rows_model.rows[1].fixes == ()
    qtbot.waitUntil(lambda: len(asked) == 6)
    assert asked[-1] == "C"


def test_what_two_groups_have_in_common_is_said_once(panel):
    twice = sample.results().findings[4]
    panel.show_results(sample.plan(), sample.results()._replace(findings=(twice, twice._replace(group=1))))
    assert len(panel.view.rows_model.rows) == 1


def test_a_way_out_shows_figures_before_and_after(panel, qtbot):
    qtbot.waitUntil(lambda: panel.view.rows_model.rows[1].fixes != ())
    effects = panel.view.rows_model.rows[1].effects
    assert len(effects) == len(panel.view.rows_model.rows[1].fixes)
    assert any("→" in effect for effect in effects)
    tip = panel.view.rows_model.index(1).data(Qt.ItemDataRole.ToolTipRole)
    assert effects[0] in tip
