import json
import os
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuplanner.i18n import using
from gpuplanner.model.edit import remove, replace
from gpuplanner.model.plan import Plan
from gpuplanner.storage import plan_file
from gpuplanner.storage.plan_file import PlanFileError
from tests.storage.plans import full_plan, plans

VALID = plan_file.dump(full_plan())


def opened(text: str) -> plan_file.Opened:
    return plan_file.parse(text.encode(), "offer.gpuplan")


def changed(old: str, new: str) -> str:
    assert old in VALID
    return VALID.replace(old, new, 1)


def refusal(text: str | bytes) -> PlanFileError:
    with pytest.raises(PlanFileError) as caught:
        plan_file.parse(text.encode() if isinstance(text, str) else text, "offer.gpuplan")
    assert "\n" not in str(caught.value)
    return caught.value


# --- what is saved is what is opened -------------------------------------------


@settings(max_examples=60, deadline=None)
@given(plans())
def test_plan_to_file_to_plan_is_the_same_plan(plan):
    found = opened(plan_file.dump(plan))
    assert found.plan == plan
    assert (found.notes, found.unknown) == ((), ())


def test_every_section_of_a_plan_survives_a_file(tmp_path):
    path = tmp_path / "offer.gpuplan"
    assert plan_file.write(path, full_plan()) == ()
    assert plan_file.read(path).plan == full_plan()


def test_saving_twice_gives_the_same_bytes():
    assert plan_file.dump(opened(VALID).plan) == VALID


def test_the_envelope_names_format_version_and_program():
    content = json.loads(VALID)
    assert list(content) == ["format", "format_version", "written_by", "plan", "seen", "unknown"]
    assert (content["format"], content["format_version"]) == ("gpuplanner-plan", 1)
    assert list(content["written_by"]) == ["program", "model_version", "calibration_id"]


def test_names_are_readable_in_the_file():
    assert "机房" in VALID
    assert max(map(len, VALID.splitlines())) <= 200


# --- hostile and damaged files --------------------------------------------------


@settings(max_examples=80, deadline=None)
@given(st.binary(max_size=400))
def test_any_bytes_are_a_plan_or_one_refusal(data):
    try:
        plan_file.parse(data, "x.gpuplan")
    except PlanFileError as error:
        assert "\n" not in str(error)


@settings(max_examples=120, deadline=None)
@given(st.randoms(use_true_random=False), st.integers(1, 5))
def test_a_damaged_plan_is_a_plan_or_one_refusal(source: random.Random, count):
    text = VALID
    for _change in range(count):
        start = source.randrange(len(text))
        stop = min(len(text), start + source.choice([0, 1, 1, 5, 40]))
        middle = source.choice(
            ["", "1e999", "-1", '"', "[", "}", "null", "\\ud800", "\x00", "true", ",", "1" * 5000, "é"]
        )
        text = text[:start] + middle + text[stop:]
    try:
        plan_file.parse(text.encode(), "x.gpuplan")
    except PlanFileError as error:
        assert "\n" not in str(error)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('"users": 200.0', '"users": "200"', "workloads[0].load.users: A number is expected here."),
        ('"users": 200.0', '"users": true', "workloads[0].load.users: A number is expected here."),
        ('"users": 200.0', '"users": -1', "workloads[0].load.users: The number must be at least 1"),
        ('"users": 200.0', '"users": NaN', "NaN is not a number that a file may hold."),
        ('"users": 200.0', '"users": -Infinity', "-Infinity is not a number that a file may hold."),
        ('"users": 200.0', '"users": 1e999', "1e999 is too large."),
        ('"users": 200.0', '"users": ' + "9" * 5000, "A number has more than 60 digits."),
        ('"users": 200.0', '"users": 1' + "0" * 59, "The number must be at most"),
        ('"users": 200.0', '"users": 1, "users": 2', "“users” stands twice in the same place."),
        ('"servers": 2', '"servers": 2.5', "scenarios[0].groups[0].servers: A number is expected here."),
        ('"tp": 8', '"tp": 0', "scenarios[0].groups[0].runs[0].tp: The number must be at least 1"),
        ('"supply_c": 24.0', '"supply_c": 90', "site.supply_c: The number must be at most 60"),
        ('"value": 400000000000000.0', '"value": 1e31', "entries.gpus[0].peak_flops.bf16.value: The number must be at"),
        ('"letter": "C"', '"letter": "A"', "Two scenarios have the same letter."),
        ('"workload": "chat"', '"workload": "gone"', "Scenario A runs “gone”"),
        ('"name": "Machine room 2', '"name": "\\ud800', "The text holds half a character."),
        ('"name": "Machine room 2', '"\\u202ename": "', "A key holds a character that cannot be shown."),
    ],
)  # fmt: skip
def test_a_bad_value_is_refused_with_its_line(old, new, words):
    text = changed(old, new)
    line = VALID[: VALID.index(old)].count("\n") + 1
    error = refusal(text)
    assert words in error.reason
    if not error.reason.startswith(("Two", "Scenario")):
        assert str(error).startswith(f"offer.gpuplan, line {line}: ")
    assert str(error).endswith("Not opened.")


def test_a_bad_value_is_refused_in_chinese():
    with using("zh"):
        error = refusal(changed('"users": 200.0', '"users": -1'))
        assert "Not opened" not in str(error)


def test_deep_nesting_is_refused():
    assert "nested more than 64 deep" in refusal("[" * 100_000).reason
    assert "nested more than 64 deep" in refusal(changed('"tp": 8', '"tp": ' + '{"a":' * 70 + "1" + "}" * 70)).reason


def test_too_many_values_are_refused():
    assert "more than 20000 entries" in refusal("[" + "0," * 500_000 + "0]").reason
    assert "more than 400000 values" in refusal("[" + ("[" + "0," * 9_000 + "0],") * 50 + "0]").reason


def test_a_hundred_thousand_bad_records_are_refused_at_the_first():
    text = changed('"cpus": [],', '"cpus": [' + ",".join(['{"id": "x"}'] * 15_000) + "],")
    assert refusal(text).reason == "entries.cpus[0].name: This figure is required."


def test_a_text_full_of_quotes_is_refused_at_once():
    assert refusal('\\"' * 2_000_000).reason


def test_a_file_over_ten_mebibytes_is_refused(tmp_path):
    path = tmp_path / "big.gpuplan"
    with path.open("wb") as file:
        file.truncate(10 * 2**20 + 1)
    with pytest.raises(PlanFileError, match="10 MiB"):
        plan_file.read(path)


@pytest.mark.parametrize(
    "data", [b"", b"  \n", b"\xff\xfe{\x00", b"\xc3(", b"\x00", b"null", b"[]", b"{}", b'{"format": "x"}']
)
def test_what_is_no_plan_is_said_to_be_none(data):
    assert refusal(data).reason


def test_a_byte_order_mark_is_passed_over():
    assert plan_file.parse(b"\xef\xbb\xbf" + VALID.encode(), "x.gpuplan").plan == full_plan()


def test_a_folder_a_pipe_and_a_missing_file_are_refused(tmp_path):
    os.mkfifo(tmp_path / "pipe") if hasattr(os, "mkfifo") else None
    for name in ("", "pipe", "missing.gpuplan", "missing/deeper.gpuplan", "zero\0byte"):
        with pytest.raises(PlanFileError):
            plan_file.read(tmp_path / name)


def test_characters_that_reorder_text_are_removed_and_named():
    found = opened(changed('"name": "Machine room 2', '"name": "\\u202eMachine\\u0000 room 2\\u200b'))
    assert found.plan.name == full_plan().name
    assert found.notes == ("Characters that cannot be shown were removed from 1 text (plan.name).",)


def test_windows_line_ends_in_notes_are_no_damage():
    found = opened(changed("First line.\\n", "First line.\\r\\n"))
    assert found.plan == full_plan()
    assert found.notes == ()


def test_whole_numbers_are_taken_for_figures():
    assert opened(changed('"users": 200.0', '"users": 200')).plan == full_plan()


# --- versions --------------------------------------------------------------------


def test_a_newer_format_is_refused_with_its_version():
    error = refusal(changed('"format_version": 1', '"format_version": 7'))
    assert "format 7; this one reads up to 1" in str(error)
    assert error.line == 3


@pytest.mark.parametrize("version", ["0", "true", '"1"', "1.0", "null", "-3"])
def test_a_format_version_is_a_whole_number_from_1_on(version):
    assert "format version" in refusal(changed('"format_version": 1', f'"format_version": {version}')).reason


def newer() -> str:
    text = changed('"letter": "A"', '"letter": "A", "tint": {"hue": [1, 2]}')
    text = text.replace('"oversubscription": 1.0', '"oversubscription": 1.0, "optics": "lpo"', 1)
    text = text.replace('"users": 200.0', '"users": 200.0, "shifts": 3', 1)
    text = text.replace('"name": "Acme X1 64GB"', '"name": "Acme X1 64GB", "die_mm2": 800', 1)
    return text.replace('"seen": null', '"seen": null, "signature": "abc"', 1)


def test_keys_of_a_newer_version_are_set_aside_and_named():
    found = opened(newer())
    assert found.plan == full_plan()
    assert {(item.place, item.record) for item in found.unknown} == {
        ("plan.scenarios[0].tint", "A"),
        ("plan.scenarios[0].network.optics", "A"),
        ("plan.workloads[0].load.shifts", "chat"),
        ("plan.entries.gpus[0].die_mm2", "acme-x1-64"),
        ("signature", ""),
    }
    assert "5 keys" in found.notes[0]


def test_keys_of_a_newer_version_are_written_back_in_their_places():
    found = opened(newer())
    content = json.loads(plan_file.dump(found.plan, None, found.unknown))
    assert content["plan"]["scenarios"][0]["tint"] == {"hue": [1, 2]}
    assert content["plan"]["scenarios"][0]["network"]["optics"] == "lpo"
    assert content["plan"]["workloads"][0]["load"]["shifts"] == 3
    assert content["plan"]["entries"]["gpus"][0]["die_mm2"] == 800
    assert content["signature"] == "abc"
    again = opened(json.dumps(content))
    assert (again.plan, set(map(str, again.unknown))) == (found.plan, set(map(str, found.unknown)))


def test_a_newer_key_follows_its_scenario():
    found = opened(newer())
    swapped = Plan(**{**dict(found.plan), "scenarios": found.plan.scenarios[::-1]})
    content = json.loads(plan_file.dump(swapped, None, found.unknown))
    assert [scenario.get("tint") for scenario in content["plan"]["scenarios"]] == [None, {"hue": [1, 2]}]


def test_a_newer_key_whose_record_is_gone_is_dropped_and_named(tmp_path):
    found = opened(newer())
    without = remove(found.plan, ("scenarios", 0))
    notes = plan_file.write(tmp_path / "x.gpuplan", without, None, found.unknown)
    assert len(notes) == 2 and all("A is no longer in the plan" in note for note in notes)
    assert "tint" not in (tmp_path / "x.gpuplan").read_text(encoding="utf-8")


def test_a_key_listed_as_carried_along_returns_to_its_place():
    content = json.loads(VALID)
    content["unknown"] = [{"path": ["plan", "scenarios", 1, "tint"], "record": "A", "value": 5}]
    found = opened(json.dumps(content))
    assert json.loads(plan_file.dump(found.plan, None, found.unknown))["plan"]["scenarios"][0]["tint"] == 5


@pytest.mark.parametrize("listed", ["3", "[1]", '[{"path": []}]', '[{"path": [true], "record": "", "value": 1}]'])
def test_a_list_of_carried_keys_that_is_none_is_refused(listed):
    assert refusal(changed('"unknown": []', f'"unknown": {listed}')).place


def test_a_failed_write_keeps_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "offer.gpuplan"
    plan_file.write(path, full_plan())
    before = path.read_bytes()

    def full_disk(*_arguments):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full_disk)
    with pytest.raises(OSError) as caught:
        plan_file.write(path, replace(full_plan(), ("name",), "Another"))
    assert caught.value.strerror == "The disk is full. “offer.gpuplan” is unchanged."
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["offer.gpuplan"]
