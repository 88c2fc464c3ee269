import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gpuplanner.model.pinning import pin
from gpuplanner.model.plan import Group, Plan, Run, Scenario, Serve, Train
from gpuplanner.ui.document import PlanDocument

SERVERS = ("scenarios", 0, "groups", 0, "servers")
GPUS = ("scenarios", 0, "groups", 0, "gpus_per_server")


def servers(document):
    return document.plan.scenarios[0].groups[0].servers


def letters(document):
    return "".join(scenario.letter for scenario in document.plan.scenarios)


# --- one way in ---------------------------------------------------------------


def test_keystrokes_in_one_field_are_one_undo_step(document):
    before = document.plan
    for typed in (6, 64, 640):
        assert document.set_value(SERVERS, typed, "Servers") is None
    assert servers(document) == 640
    document.undo()
    assert document.plan == before
    assert document.undo_stack.isClean()


def test_leaving_the_field_begins_a_new_step(document):
    document.set_value(SERVERS, 6, "Servers")
    document.end_typing()
    document.set_value(SERVERS, 64, "Servers")
    document.undo()
    assert servers(document) == 6


def test_another_field_begins_a_new_step(document):
    document.set_value(SERVERS, 6, "Servers")
    document.set_value(GPUS, 4, "GPUs")
    document.undo()
    assert (servers(document), document.plan.scenarios[0].groups[0].gpus_per_server) == (6, 8)


def test_a_rest_begins_a_new_step(qtbot, monkeypatch, catalog, plan):
    monkeypatch.setattr("gpuplanner.ui.document.TYPING_PAUSE_MS", 5)
    document = PlanDocument(catalog, plan, pin)
    document.set_value(SERVERS, 6, "Servers")
    qtbot.wait(60)
    document.set_value(SERVERS, 64, "Servers")
    document.undo()
    assert servers(document) == 6
    document.close()


def test_typing_back_to_the_old_value_leaves_no_step(document):
    document.set_value(SERVERS, 64, "Servers")
    document.set_value(SERVERS, 1, "Servers")
    assert document.undo_stack.count() == 0
    assert not document.dirty


def test_a_refused_value_changes_nothing_and_says_why(document):
    before = document.plan
    assert document.set_value(SERVERS, 0, "Servers") == "Must be at least 1."
    assert document.set_value(SERVERS, 1.5, "Servers") == "Whole numbers only."
    assert document.plan is before
    assert document.undo_stack.count() == 0


def test_a_limit_is_worded_in_the_unit_of_the_field(document):
    refused = document.set_value(("workloads", 0, "first_token_s"), 1e6, "First token")
    # The field's limit is a day.
    assert refused.worded(lambda si: f"{si / 3600:g} h") == "Must be at most 24 h."


def test_several_edits_are_one_step_or_none(document):
    before = document.plan
    assert document.apply([(SERVERS, 3), (GPUS, 4)], "Both") is None
    assert document.undo_stack.count() == 1
    document.undo()
    assert document.plan == before
    assert document.apply([(SERVERS, 3), (GPUS, -1)], "Both") is not None
    assert document.plan == before


def test_the_plan_is_told_once_for_each_change(document, qtbot):
    heard = []
    document.plan_changed.connect(heard.append)
    document.set_value(SERVERS, 6, "Servers")
    document.set_value(SERVERS, 6, "Servers")
    assert heard == [document.plan]


edits = st.lists(
    st.one_of(
        st.tuples(st.just("servers"), st.integers(1, 100)),
        st.tuples(st.just("gpus"), st.integers(0, 64)),
        st.tuples(st.just("add"), st.just(0)),
        st.tuples(st.just("copy"), st.just(0)),
        st.tuples(st.just("remove"), st.integers(0, 3)),
        st.tuples(st.just("move"), st.integers(0, 3)),
        st.tuples(st.just("leave"), st.just(0)),
    ),
    max_size=12,
)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=edits)
def test_undoing_everything_gives_the_first_plan_and_redoing_the_last(qapp, catalog, steps):
    run = Run(workload="serve")
    first = Plan(workloads=(Serve(),), scenarios=(Scenario(letter="A", groups=(Group(runs=(run,)),)),))
    document = PlanDocument(catalog, first)
    for kind, number in steps:
        present = [scenario.letter for scenario in document.plan.scenarios]
        if kind in ("servers", "gpus") and present and document.plan.scenarios[0].groups:
            document.set_value(SERVERS if kind == "servers" else GPUS, number, kind)
        elif kind == "add":
            document.add_scenario()
        elif kind == "copy" and present:
            document.add_scenario(copy_of=present[0])
        elif kind == "remove" and number < len(present):
            document.remove_scenario(present[number])
        elif kind == "move" and number < len(present):
            document.move_scenario(present[0], number)
        elif kind == "leave":
            document.end_typing()
    last = document.plan
    while document.undo_stack.canUndo():
        document.undo()
    assert document.plan == first
    while document.undo_stack.canRedo():
        document.redo()
    assert document.plan == last
    document.close()


# --- scenarios, groups, workloads ------------------------------------------------


def test_a_letter_is_free_again_when_its_scenario_is_gone(document):
    document.add_scenario()
    assert letters(document) == "ABC"
    document.remove_scenario("B")
    document.add_scenario()
    assert letters(document) == "ACB"


def test_a_scenario_keeps_its_letter_when_it_moves(document):
    document.move_scenario("A", 1)
    assert letters(document) == "BA"


def test_the_ninth_scenario_is_refused(document):
    for _number in range(6):
        assert document.add_scenario() is None
    assert letters(document) == "ABCDEFGH"
    assert "eight" in document.add_scenario()


def test_a_copy_stands_behind_its_original_and_is_selected(document):
    document.add_scenario(copy_of="A")
    assert letters(document) == "ACB"
    assert document.selected == "C"
    assert document.plan.scenarios[1].groups == document.plan.scenarios[0].groups


def test_removing_the_baseline_leaves_a_valid_plan_in_one_step(document):
    document.set_baseline("B")
    assert document.remove_scenario("B") is None
    assert document.plan.baseline is None
    document.undo()
    assert document.plan.baseline == "B"


def test_removing_the_selected_scenario_selects_its_neighbour(document):
    document.add_scenario()
    document.select("B")
    document.remove_scenario("B")
    assert document.selected == "A"


def test_removing_a_workload_removes_the_runs_of_it(document):
    assert document.remove_workload("serve") is None
    assert document.plan.workloads == ()
    assert all(group.runs == () for scenario in document.plan.scenarios for group in scenario.groups)


def test_a_second_workload_of_a_kind_gets_an_id_of_its_own(document):
    document.add_workload(Serve())
    assert [workload.id for workload in document.plan.workloads] == ["serve", "serve-2"]
    assert document.workload == "serve-2"


def test_a_new_group_comes_as_its_server_is_sold_and_runs_the_workload_shown(document):
    document.add_group("A", server="DGX H100")
    group = document.plan.scenarios[0].groups[1]
    assert (group.server, group.gpus_per_server) == ("DGX H100", 8)
    assert group.gpu in document.known().find("server", "DGX H100").gpu_options
    assert group.runs == (Run(workload="serve"),)


def test_an_edit_pins_the_entries_it_refers_to_in_the_same_step(document):
    before = document.plan
    document.add_scenario(gpu="A800 SXM 80GB")
    assert "A800 SXM 80GB" in [gpu.name for gpu in document.plan.entries.gpus]
    document.undo()
    assert document.plan == before


def test_a_name_that_fits_several_cards_is_not_guessed(document):
    with pytest.raises(LookupError) as caught:
        document.resolve("gpu", "H100")
    assert "H100 PCIe" in str(caught.value)
    assert document.resolve("gpu", "4090") == "GeForce RTX 4090 24GB"


# --- the file ----------------------------------------------------------------------


def test_a_saved_plan_opens_as_the_same_plan(document, catalog, tmp_path):
    document.set_value(SERVERS, 3, "Servers")
    assert document.dirty
    path = tmp_path / "offer.gpuplan"
    assert document.save(path) is None
    assert not document.dirty
    other = PlanDocument(catalog, pin=pin)
    assert other.open(path) is None
    assert servers(other) == 3
    assert other.plan.scenarios == document.plan.scenarios
    assert not other.dirty
    other.close()


def test_a_refused_file_changes_nothing(document, tmp_path):
    path = tmp_path / "bad.gpuplan"
    path.write_text("{", encoding="utf-8")
    document.set_value(SERVERS, 3, "Servers")
    before = document.plan
    said = document.open(path)
    assert "bad.gpuplan" in said
    assert document.plan is before
    assert document.path is None
    assert document.dirty


def test_short_names_in_a_file_become_full_names(document, catalog, tmp_path):
    path = tmp_path / "short.gpuplan"
    group = Group(gpu="4090")
    other = PlanDocument(catalog, Plan(scenarios=(Scenario(letter="A", groups=(group,)),)))
    other.save(path)
    other.close()
    assert document.open(path) is None
    assert document.plan.scenarios[0].groups[0].gpu == "GeForce RTX 4090 24GB"


def test_an_ambiguous_name_in_a_file_is_asked_about(document, catalog, tmp_path):
    path = tmp_path / "vague.gpuplan"
    other = PlanDocument(catalog, Plan(scenarios=(Scenario(letter="A", groups=(Group(gpu="H100"),)),)))
    other.save(path)
    other.close()
    said = document.open(path)
    assert "vague.gpuplan" in said
    assert "H100 PCIe" in said


def test_a_file_that_another_program_changed_is_not_overwritten(document, tmp_path):
    path = tmp_path / "shared.gpuplan"
    document.save(path)
    theirs = path.read_text(encoding="utf-8").replace("Staff assistant", "Their assistant")
    path.write_text(theirs, encoding="utf-8")
    document.set_value(SERVERS, 3, "Servers")
    assert document.changed_on_disk()
    assert "changed by another program" in document.save()
    assert path.read_text(encoding="utf-8") == theirs
    assert document.save(overwrite=True) is None
    assert not document.changed_on_disk()


def test_a_file_that_was_only_touched_has_not_changed(document, tmp_path):
    path = tmp_path / "touched.gpuplan"
    document.save(path)
    path.touch()
    assert not document.changed_on_disk()


def test_two_windows_on_one_file_notice_each_other(document, catalog, tmp_path):
    path = tmp_path / "twice.gpuplan"
    document.save(path)
    other = PlanDocument(catalog, pin=pin)
    said = []
    other.notice.connect(said.append)
    other.open(path)
    assert any("another window" in sentence for sentence in said)
    other.close()
    document.close()
    said.clear()
    third = PlanDocument(catalog, pin=pin)
    third.notice.connect(said.append)
    third.open(path)
    assert said == []
    third.close()


def test_a_plan_is_dirty_exactly_when_it_differs_from_its_file(document, tmp_path):
    document.save(tmp_path / "plan.gpuplan")
    document.set_value(SERVERS, 3, "Servers")
    assert document.dirty
    document.undo()
    assert not document.dirty
    document.redo()
    assert document.dirty


def test_typing_on_after_a_save_is_a_step_of_its_own(document, tmp_path):
    document.set_value(SERVERS, 3, "Servers")
    document.save(tmp_path / "plan.gpuplan")
    document.set_value(SERVERS, 33, "Servers")
    document.undo()
    assert servers(document) == 3
    assert not document.dirty


def test_a_folder_that_cannot_be_written_is_a_sentence(document, tmp_path):
    said = document.save(tmp_path / "missing" / "plan.gpuplan")
    assert "plan.gpuplan" in said
    assert document.path is None


def test_a_new_plan_has_no_file_and_no_history(document):
    document.set_value(SERVERS, 3, "Servers")
    document.new(Plan(workloads=(Train(),)))
    assert not document.undo_stack.canUndo()
    assert (document.workload, document.selected) == ("train", "")
    assert document.title == "Untitled plan"
