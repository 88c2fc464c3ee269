from pathlib import Path

import pytest
from PySide6.QtCore import QCoreApplication, QMimeData, QPointF, Qt, QUrl
from PySide6.QtGui import QCloseEvent, QDropEvent
from PySide6.QtWidgets import QApplication, QToolButton

from gpuplanner import app, i18n
from gpuplanner.storage import settings as settings_file
from gpuplanner.storage.samples import SAMPLES
from gpuplanner.storage.settings import Settings
from gpuplanner.ui.theme import DARK

SERVERS = ("scenarios", 0, "groups", 0, "servers")


class Answers:
    """Answers in place of the dialogs, and keeps what was asked."""

    def __init__(self):
        self.asked = []
        self.changes, self.changed_file, self.save_to, self.to_open = "cancel", "cancel", None, None

    def save_changes(self, title):
        self.asked.append("save_changes")
        return self.changes

    def overwrite_changed(self, name):
        self.asked.append("overwrite_changed")
        return self.changed_file

    def file_to_save(self, suggested):
        self.asked.append("file_to_save")
        self.suggested = suggested
        return self.save_to

    def file_to_open(self, folder):
        self.asked.append("file_to_open")
        return self.to_open


@pytest.fixture
def window(qtbot, qapp, catalog, tmp_path):
    made = app.build(catalog, Settings(), "light", tmp_path / "settings")
    made.ask = Answers()
    made.show()
    yield made
    made.document.undo_stack.setClean()
    made.close()
    made.deleteLater()
    QCoreApplication.processEvents()


@pytest.fixture
def planned(window, plan):
    """The window on a plan."""
    window.document.new(plan)
    window.show_plan_or_welcome(True)
    return window


def servers(window):
    return window.document.plan.scenarios[0].groups[0].servers


# --- beginning ------------------------------------------------------------------------


def test_without_a_plan_the_window_offers_the_examples(window):
    assert not window.shows_plan
    assert len(window.welcome._cards) == len(SAMPLES) == 6
    assert QApplication.focusWidget() is window.welcome.first() or window.welcome.first().isVisible()


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.key)
def test_every_example_opens_with_results(window, sample):
    window.open_sample(sample.key)
    assert window.shows_plan
    assert window.document.path is None
    assert [s.letter for s in window.evaluation.results.scenarios] == [s.letter for s in window.document.plan.scenarios]
    assert window.message.sentence == ""


def test_nothing_pretends_to_search_recommend_or_report(window):
    words = [action.text().replace("&", "").lower() for action in window.commands.all]
    assert not [text for text in words if any(part in text for part in ("recommend", "report", "search"))]


def test_an_empty_plan_has_somewhere_to_begin(window):
    window.new_plan()
    assert window.shows_plan
    assert window.document.plan.scenarios == ()
    window.document.add_group("A", gpu="L40S")
    assert window.cluster.rows[0].title.text() == "L40S"


# --- one value travels -------------------------------------------------------------------


def test_typing_in_the_builder_changes_the_results_and_undo_takes_it_back(planned, qtbot):
    before = planned.evaluation.results.scenario("A").gpus
    field = planned.cluster.rows[0].servers
    with qtbot.waitActive(planned):
        planned.activateWindow()
    field.setFocus()
    field.selectAll()
    qtbot.keyClicks(field, "2")
    assert planned.evaluation.results.scenario("A").gpus == 2 * before
    planned.commands["undo"].trigger()
    assert planned.evaluation.results.scenario("A").gpus == before
    assert not planned.commands["undo"].isEnabled()


def test_undo_names_the_step(planned):
    planned.document.set_value(SERVERS, 2, "Servers")
    assert "Servers" in planned.commands["undo"].toolTip()
    planned.document.undo()
    assert "Servers" in planned.commands["redo"].toolTip()
    assert planned.commands["undo"].toolTip().startswith("Nothing to undo")


def test_scenarios_are_selected_by_their_place(planned):
    planned.commands.scenario(1).trigger()
    assert planned.document.selected == "B"
    assert planned.commands.scenario(1).isChecked()
    assert not planned.commands.scenario(2).isVisible()


def test_duplicate_move_baseline_and_remove(planned):
    planned.commands["duplicate"].trigger()
    assert planned.document.selected == "C"
    planned.commands["scenario_left"].trigger()
    assert "".join(s.letter for s in planned.document.plan.scenarios) == "CAB"
    planned.commands["baseline"].trigger()
    assert planned.document.plan.baseline == "C"
    planned.commands["remove_scenario"].trigger()
    assert "".join(s.letter for s in planned.document.plan.scenarios) == "AB"
    assert planned.document.plan.baseline is None


def test_keys_go_through_the_regions(planned, qtbot):
    with qtbot.waitActive(planned):
        planned.activateWindow()
    seen = []
    for _press in range(len(planned.regions())):
        planned.commands["next_region"].trigger()
        focused = QApplication.focusWidget()
        seen.append(next(i for i, r in enumerate(planned.regions()) if r.isAncestorOf(focused)))
    assert len(set(seen)) >= 6
    assert seen == sorted(seen[: seen.index(max(seen)) + 1]) + seen[seen.index(max(seen)) + 1 :]


# --- files ----------------------------------------------------------------------------------


def test_save_asks_for_a_file_once(planned, tmp_path):
    planned.ask.save_to = tmp_path / "offer.gpuplan"
    assert planned.save()
    planned.document.set_value(SERVERS, 2, "Servers")
    assert planned.isWindowModified()
    assert planned.save()
    assert planned.ask.asked == ["file_to_save"]
    assert not planned.isWindowModified()
    assert planned.ask.suggested.name == "Staff assistant.gpuplan"
    assert "offer.gpuplan · saved" in planned.top.accessibleName()


def test_a_saved_plan_keeps_what_its_author_saw(planned, tmp_path):
    planned.ask.save_to = tmp_path / "offer.gpuplan"
    planned.save()
    assert '"purchase"' in planned.ask.save_to.read_text(encoding="utf-8")
    planned.close_plan()
    assert planned.open_file(planned.ask.save_to)
    assert planned.document.seen is not None
    assert planned.message.sentence == ""


def test_other_figures_than_the_author_saw_are_told(planned, tmp_path):
    path = planned.ask.save_to = tmp_path / "offer.gpuplan"
    planned.save()
    figure = planned.document.seen.figures[0]
    text = path.read_text(encoding="utf-8")
    changed = planned.document.seen.model_copy(update={"figures": (figure.model_copy(update={"value": 42.0}),)})
    planned.document.seen_of = lambda plan: changed
    planned.save()
    assert path.read_text(encoding="utf-8") != text
    planned.close_plan()
    planned.open_file(path)
    assert planned.message.sentence == "1 figure is not what the author of the plan saw."


def test_a_refused_file_shows_its_sentence_and_changes_nothing(planned, tmp_path):
    path = tmp_path / "bad.gpuplan"
    path.write_text("{", encoding="utf-8")
    before = planned.document.plan
    assert not planned.open_file(path)
    assert "bad.gpuplan" in planned.message.sentence
    assert planned.document.plan is before
    assert planned.shows_plan
    assert planned.settings.recent_files == ()


def test_a_dropped_file_opens(planned, tmp_path):
    planned.ask.save_to = tmp_path / "offer.gpuplan"
    planned.save()
    planned.close_plan()
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(planned.ask.save_to))])
    event = QDropEvent(
        QPointF(300, 300), Qt.DropAction.CopyAction, data, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    )
    planned.dropEvent(event)
    assert planned.shows_plan
    assert planned.document.path == planned.ask.save_to


def test_changes_are_not_lost_by_opening_closing_or_quitting(planned):
    planned.document.set_value(SERVERS, 2, "Servers")
    planned.ask.changes = "cancel"
    planned.new_plan()
    planned.open_sample(SAMPLES[0].key)
    planned.close_plan()
    event = QCloseEvent()
    planned.closeEvent(event)
    assert not event.isAccepted()
    assert planned.ask.asked == ["save_changes"] * 4
    assert servers(planned) == 2


def test_what_is_not_to_be_saved_goes(planned):
    planned.document.set_value(SERVERS, 2, "Servers")
    planned.ask.changes = "discard"
    planned.new_plan()
    assert planned.document.plan.scenarios == ()


def test_saving_first_and_cancelling_that_keeps_the_plan(planned):
    planned.document.set_value(SERVERS, 2, "Servers")
    planned.ask.changes, planned.ask.save_to = "save", None
    planned.new_plan()
    assert servers(planned) == 2


def test_a_file_changed_outside_is_asked_about_before_it_is_replaced(planned, tmp_path):
    path = planned.ask.save_to = tmp_path / "shared.gpuplan"
    planned.save()
    theirs = path.read_text(encoding="utf-8") + "\n"
    path.write_text(theirs, encoding="utf-8")
    planned.document.set_value(SERVERS, 2, "Servers")
    assert not planned.save()
    assert path.read_text(encoding="utf-8") == theirs
    planned.ask.changed_file = "overwrite"
    assert planned.save()
    assert path.read_text(encoding="utf-8") != theirs


def test_recent_files_are_remembered_newest_first(planned, tmp_path):
    for name in ("one.gpuplan", "two.gpuplan"):
        planned.ask.save_to = tmp_path / name
        planned.save_as()
    kept = settings_file.load(tmp_path / "settings")
    assert [Path(name).name for name in kept.recent_files] == ["two.gpuplan", "one.gpuplan"]
    planned._list_recent()
    assert len(planned._recent.actions()) == 2


# --- language, theme, layout ---------------------------------------------------------------------


def test_the_language_changes_without_a_restart(planned, tmp_path):
    planned.choose_language("zh")
    assert planned.commands["undo"].text() != "&Undo"
    assert settings_file.load(tmp_path / "settings").language == "zh"
    # Qt's own words follow.
    assert QCoreApplication.translate("QPlatformTheme", "Cancel") == "取消"
    planned.choose_language("en")
    assert planned.commands["undo"].text() == "&Undo"
    assert QCoreApplication.translate("QPlatformTheme", "Cancel") == "Cancel"
    assert i18n.language() == "en"


def test_the_theme_changes_at_once_and_is_remembered(planned, tmp_path):
    planned.commands["theme_dark"].trigger()
    assert planned.theme.theme is DARK
    assert QApplication.palette().window().color() == DARK.window
    assert settings_file.load(tmp_path / "settings").theme == "dark"
    planned.choose_theme("light")


def test_docks_come_back_as_they_were(planned, qtbot, catalog, tmp_path):
    planned._docks["findings"][0].hide()
    planned.close()
    again = app.build(catalog, settings_file.load(tmp_path / "settings"), "light", tmp_path / "settings")
    again.show()
    again.open_sample(SAMPLES[0].key)
    assert again._docks["findings"][0].isHidden()
    assert not again._docks["workload"][0].isHidden()
    again.close()
    again.deleteLater()


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_title_leaves_undo_and_redo_alone(planned, qtbot, language):
    planned.choose_language(language)
    planned.resize(1180, 720)
    planned.top.show_title("A plan with a name that is much longer than most", "a-plan-with-a-name.gpuplan · saved")
    planned.top.grab()
    buttons = planned.top.findChildren(QToolButton, options=Qt.FindChildOption.FindDirectChildrenOnly)
    assert len(buttons) == 2
    assert planned.top.title_box.left() > max(button.geometry().right() for button in buttons)
    assert planned.top.title_box.right() <= planned.top.width()


def test_a_narrow_window_folds_the_catalog_away(planned):
    planned.resize(1200, 800)
    assert planned._docks["catalog"][0].isHidden()
    planned.resize(1600, 1000)
    assert not planned._docks["catalog"][0].isHidden()


def test_the_edge_brings_the_folded_catalog_back(planned, qtbot):
    dock, edge = planned._docks["catalog"][0], planned._edge
    assert edge.isHidden()
    planned.resize(1200, 800)
    assert not edge.isHidden()
    qtbot.mouseClick(edge, Qt.MouseButton.LeftButton)
    assert not dock.isHidden()
    qtbot.mouseClick(edge, Qt.MouseButton.LeftButton)
    assert dock.isHidden()
    planned.resize(1600, 1000)
    assert edge.isHidden()


def test_the_smallest_window_shows_only_charts_that_can_be_read(planned):
    planned.resize(1180, 720)
    QCoreApplication.processEvents()
    charts = [chart for chart in planned.comparison.charts if chart.isVisible()]
    assert charts
    assert all(chart.height() >= 110 for chart in charts)


def test_menus_have_room_for_chinese_letters(planned):
    planned.choose_language("zh")
    assert planned.top.height() >= planned.top.menus.sizeHint().height()
    planned.choose_language("en")


def test_control_e_explains_the_figure_in_focus(planned):
    fact = planned.cluster.facts["weight"]
    fact.setFocus()
    planned.commands["explain"].trigger()
    assert planned.explain.shown.title == "Weight of the servers"


def test_an_example_opened_in_chinese_has_chinese_names(window):
    window.choose_language("zh")
    window.open_sample(SAMPLES[0].key)
    assert window.document.plan.name == "为 200 名员工提供 70B 助手"
    assert window.document.plan.workloads[0].name == "员工助手"
    window.choose_language("en")


def test_an_example_opened_from_its_file_stays_as_written(window):
    window.choose_language("zh")
    window.open_file(SAMPLES[0].path)
    assert window.document.plan.name == SAMPLES[0].title
    window.choose_language("en")


def test_the_status_bar_names_the_oldest_price_in_time_not_in_spelling(planned):
    # A quarter ("2025-Q1") stands after every month of its year in spelling, and before June in time.
    results = planned.evaluation.results
    dated = [
        scenario._replace(money=scenario.money._replace(oldest_price=date))
        for scenario, date in zip(results.scenarios * 2, ("2025-06", "2025-Q1"), strict=False)
    ]
    planned.evaluation.results_changed.emit(results._replace(scenarios=tuple(dated)))
    assert "Q1" in planned.status._catalog.text()
