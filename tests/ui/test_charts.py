"""Charts show what the results say, repaint only for other figures, and can be read without seeing them."""

import math

import pytest
from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QGuiApplication

from gpuplanner.ui.charts.base import joined, kept_top, log_ticks, nice_ticks
from gpuplanner.ui.charts.cost_over_time import CostChart
from gpuplanner.ui.charts.latency_throughput import LatencyChart, at_load, of_scenario
from gpuplanner.ui.charts.memory import MemoryChart
from gpuplanner.ui.charts.power_cooling import PowerChart
from gpuplanner.ui.charts.speed import SpeedChart
from gpuplanner.ui.theme import ThemeSource
from tests.ui import sample_results as sample

CHARTS = [SpeedChart, MemoryChart, LatencyChart, PowerChart, CostChart]


@pytest.fixture
def show(qtbot):
    def made(kind, plan=None, results=None, workload="serve", selected="D"):
        chart = kind(ThemeSource("light"))
        qtbot.addWidget(chart)
        chart.resize(520, 300)
        chart.show()
        chart.show_results(plan or sample.plan(), results or sample.results(), workload, selected)
        return chart

    return made


def painted(chart):
    """Count the repaints of a chart from now on."""
    count = []
    original = chart.paint_data
    chart.paint_data = lambda *args: (count.append(1), original(*args))
    return count


@pytest.mark.parametrize("kind", CHARTS)
def test_every_chart_has_a_summary_and_a_table(show, kind):
    chart = show(kind)
    assert chart.accessibleName().endswith(".")
    rows = chart.table()
    assert all(len(row) == len(rows[0]) for row in rows)
    assert {row[0] for row in rows[1:]} == set("ABCDE")


@pytest.mark.parametrize("kind", CHARTS)
def test_the_same_figures_are_not_painted_again(show, kind, qtbot):
    chart = show(kind)
    qtbot.wait(20)
    count = painted(chart)
    chart.show_results(sample.plan(), sample.results(), "serve", "D")
    qtbot.wait(20)
    assert not count


def test_another_figure_is_painted(show, qtbot):
    chart = show(PowerChart)
    qtbot.wait(20)
    count = painted(chart)
    results = sample.results()
    first = results.scenarios[0]
    hotter = first._replace(room=first.room._replace(it_load_w=first.room.it_load_w._replace(value=9000.0)))
    chart.show_results(sample.plan(), results._replace(scenarios=(hotter, *results.scenarios[1:])), "serve", "D")
    qtbot.wait(20)
    assert count


@pytest.mark.parametrize("kind", CHARTS)
def test_a_hidden_chart_waits_until_it_is_shown(qtbot, kind):
    chart = kind(ThemeSource("light"))
    qtbot.addWidget(chart)
    chart.show_results(sample.plan(), sample.results(), "serve", "D")
    assert chart.data is None
    chart.show()
    assert chart.data is not None


@pytest.mark.parametrize("kind", CHARTS)
def test_charts_survive_an_empty_plan_and_training(show, kind, qtbot):
    show(kind, sample.empty_plan(), sample.empty_results())
    chart = show(kind, sample.train_plan(), sample.train_results(), "tune")
    qtbot.wait(20)
    assert (chart.data is None) == (kind is LatencyChart)


def test_speed_says_what_is_needed_of_the_baseline(show):
    # Demand 889 tokens/s, baseline B 980 tokens/s.
    assert show(SpeedChart).data.needed == pytest.approx(889 / 980)


def test_the_demand_is_read_off_a_curve_between_its_points():
    curve = sample.curve(1.0, 1000.0)
    x0, x1 = curve.output_tokens_s[10:12]
    y0, y1 = curve.first_token_s[10:12]
    assert at_load(curve, (x0 + x1) / 2, curve.first_token_s) == pytest.approx((y0 + y1) / 2)
    assert at_load(curve, 1000.0, curve.first_token_s) is None


def test_groups_that_share_a_load_make_one_curve():
    # Two alike at half the load each carry twice as much at the same times.
    half = sample.serve("A")._replace(load_share=0.5)
    both = of_scenario([half, half])
    assert both.output_tokens_s == tuple(2 * load for load in half.curve.output_tokens_s)
    assert both.first_token_s == pytest.approx(half.curve.first_token_s)


def test_the_slowest_group_decides_the_curve_and_its_end():
    fast = sample.serve("A")._replace(load_share=0.5)
    slow = sample.serve("B")._replace(load_share=0.5)
    both = of_scenario([fast, slow])
    assert both.output_tokens_s[-1] == pytest.approx(2 * slow.curve.output_tokens_s[-1])
    assert all(time >= other for time, other in zip(both.first_token_s, slow.curve.first_token_s, strict=True))
    assert of_scenario([]) is None


def test_a_scenario_without_gpus_has_no_memory_per_gpu(show):
    results = sample.results()
    scenarios = (results.scenarios[0]._replace(gpus=0), *results.scenarios[1:])
    chart = show(MemoryChart, results=results._replace(scenarios=scenarios))
    assert chart.data.stacks[0].memory is None


def test_hovering_a_mark_names_its_scenario_and_click_explains_it(show, qtbot):
    chart = show(SpeedChart)
    qtbot.wait(20)
    letters, asked = [], []
    chart.hovered.connect(letters.append)
    chart.explain_requested.connect(lambda *subject: asked.append(subject))
    chart.pointer_at(chart.view.mapViewToScene(QPointF(0.5, 3.0)))
    assert letters == ["D"]
    chart.clicked()
    assert asked == [("D", "speed_ratio")]
    chart.pointer_left()
    assert letters == ["D", ""]


def test_a_double_click_on_a_mark_asks_how_its_figure_comes_about(show, qtbot):
    chart = show(SpeedChart)
    qtbot.wait(20)
    asked = []
    chart.derivation_requested.connect(lambda *subject: asked.append(subject))
    at = chart.plot.mapFromScene(chart.view.mapViewToScene(QPointF(0.5, 3.0)))
    qtbot.mouseMove(chart.plot.viewport(), at)
    chart.pointer_at(chart.view.mapViewToScene(QPointF(0.5, 3.0)))
    qtbot.mouseDClick(chart.plot.viewport(), Qt.MouseButton.LeftButton, pos=at)
    assert asked == [("D", "speed_ratio")]


def test_arrow_keys_walk_the_scenarios_and_speak_them(show, qtbot):
    chart = show(PowerChart)
    qtbot.keyClick(chart, Qt.Key.Key_Down)
    assert chart.accessibleDescription().startswith("A: 6.9 kW at load, 10.7 kW nameplate")
    qtbot.keyClick(chart, Qt.Key.Key_Down)
    assert chart.accessibleDescription().startswith("B: ")


def test_copy_gives_a_picture_at_twice_the_size_and_the_values(show):
    chart = show(MemoryChart)
    chart.copy()
    data = QGuiApplication.clipboard().mimeData()
    assert data.imageData().size() == chart.size() * 2
    assert data.text().splitlines()[1].startswith("A\t8× H100 SXM\t17.6\t8.00")


def test_memory_shows_gradients_only_where_something_is_trained(show):
    assert "gradients" not in show(MemoryChart).parts()
    assert "gradients" in show(MemoryChart, sample.train_plan(), sample.train_results(), "tune").parts()


def test_double_click_shows_everything_again(show, qtbot):
    chart = show(CostChart)
    qtbot.wait(20)
    before = chart.view.viewRect()
    chart.zoomed = True
    chart.view.scaleBy(s=[0.5, 0.5])
    qtbot.mouseDClick(chart.plot.viewport(), Qt.MouseButton.LeftButton)
    assert not chart.zoomed
    assert chart.view.viewRect().width() == pytest.approx(before.width())


def test_an_axis_stays_while_the_data_fits_and_fills_it():
    assert kept_top(5.0, 4.2) == 5.0
    assert kept_top(5.0, 2.0) == 5.0
    # Under 40 % of the axis, or beyond its end, it moves.
    assert kept_top(5.0, 1.9) == 2.0
    assert kept_top(5.0, 5.1) == 6.0


def test_ticks_are_round_and_inside_the_range():
    assert nice_ticks(0, 4.2, 5) == [0, 1, 2, 3, 4]
    assert log_ticks(0.09, 8) == [0.1, 0.2, 0.5, 1, 2, 5]
    assert all(1e-3 <= tick <= 1e3 and math.log10(tick) % 1 == 0 for tick in log_ticks(1e-3, 1e3))


def test_labels_on_top_of_each_other_become_one():
    labels = [(QPointF(100, 10), "B"), (QPointF(104, 12), "E"), (QPointF(300, 10), "A")]
    assert [text for _at, text in joined(labels, 20, 10)] == ["B, E", "A"]
