"""Files that are validated: kinds, bad files, tables for people."""

import json
from pathlib import Path

import pytest

from gpuplanner import paths
from gpuplanner.catalog.load import load
from gpuplanner.i18n import columns, using
from gpuplanner.validation import command

CATALOG = load()
MEASUREMENTS = paths.resources() / "measurements"
FACILITY = Path(__file__).parent.parent / "cases" / "facility.json"


def test_all_shipped_rows_are_scored_together():
    files = sorted(MEASUREMENTS.glob("*.jsonl"))
    lines = sum(len(path.read_text(encoding="utf-8").splitlines()) for path in files)
    assert len(command.run(files, CATALOG)["rows"]) == lines


def test_worked_cases_agree_and_facts_are_skipped_with_their_key():
    rows = command.run([FACILITY], CATALOG)["rows"]
    assert all(row["ok"] for row in rows if row["skipped"] is None)
    assert set(rows[0]) == {"id", "key", "expected", "computed", "ok", "skipped"}
    assert any(row["skipped"] for row in rows)


def test_compatibility_cases_are_judged(tmp_path):
    case = {"id": "a", "gpu": "H100 SXM 80GB", "runtime": "vLLM (CUDA)", "weights": "bf16", "expected": "works"}
    path = tmp_path / "compat.jsonl"
    path.write_text(json.dumps(case), encoding="utf-8")
    result = command.run([path], CATALOG)
    assert result["rows"][0]["id"] == "a" and result["agree"] == 1 and result["dangerous"] == 0


# Each damage, and words of the sentence that names its place.
DAMAGE = [
    ('{"metric": "tpot_s"}\n{"metric": ', "rows.jsonl: line 2"),
    ("{}\n\n[1]\n", "rows.jsonl: line 3"),
    ('{"a": 1} trailing', "rows.jsonl: line 1"),
    ("[1, 2]", "rows.jsonl: line 1"),
    ("[" * 100_000, "rows.jsonl"),
]


@pytest.mark.parametrize(("text", "place"), DAMAGE)
def test_a_damaged_file_is_refused_with_file_and_place(tmp_path, text, place):
    path = tmp_path / "rows.jsonl"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match=place):
        command.run([path], CATALOG)


def test_a_missing_file_is_refused_by_name(tmp_path):
    with pytest.raises(ValueError, match=r"gone\.jsonl"):
        command.run([tmp_path / "gone.jsonl"], CATALOG)


def test_a_file_that_is_not_text_is_refused(tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ValueError, match="UTF-8"):
        command.run([path], CATALOG)


def test_an_empty_file_gives_an_empty_result(tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_text("", encoding="utf-8")
    assert command.run([path], CATALOG) == {"rows": [], "families": {}, "pairs": {}}


def test_the_table_names_families_and_reasons():
    text = command.text(command.run([MEASUREMENTS / "power.jsonl"], CATALOG))
    assert "power_gpu" in text and "layout" not in text.splitlines()[0]
    assert any(line.strip()[:1].isdigit() for line in text.splitlines())


def test_the_table_names_what_was_not_seen_rules_of_thumb_and_the_worst_rows():
    result = command.run([MEASUREMENTS / "serving.jsonl"], CATALOG, worst=2)
    assert set(result["without_file"]) == {"serving.jsonl"}
    assert all(len(found) == 2 for found in result["worst"].values())
    text = command.text(result)
    assert "serving.jsonl" in text and "rule of thumb" in text
    assert all(identity in text for found in result["worst"].values() for identity in found)


def test_a_suspect_is_named_with_its_bound(tmp_path):
    # 2 x 7.505 G bytes of weights and 17 MB of cache at 3.35 TB/s are 4.486 ms; less 3 % of room, by 2 ms: 2.18.
    row = {
        "id": "too-fast", "metric": "tpot_s", "gpu": "H100 SXM 80GB", "gpus": 1, "model": "Llama-3.1-8B",
        "engine": {"name": "vLLM"}, "weights": "bf16", "batch": 1, "value": 0.002,
    }  # fmt: skip
    path = tmp_path / "rows.jsonl"
    path.write_text(json.dumps(row), encoding="utf-8")
    text = command.text(command.run([path], CATALOG))
    assert "too-fast: 2.18 times what the memory bandwidth allows" in text


def test_columns_stand_under_each_other_in_chinese_too():
    with using("zh"):
        text = command.text(command.run([MEASUREMENTS / "consumer.jsonl"], CATALOG))
    for table in text.split("\n\n")[:3]:
        lines = [line for line in table.splitlines() if line.startswith(("类别", "consumer", "cpu", "decode"))]
        assert len(lines) > 3
        assert len({columns.width(line) for line in lines}) == 1, lines[:2]


def test_figures_that_no_float_holds_are_no_measurements(tmp_path):
    row = {"metric": "output_tokens_per_s", "gpu": "H100 SXM 80GB", "model": "Llama-3.1-8B"}
    path = tmp_path / "rows.jsonl"
    path.write_text("\n".join(json.dumps({**row, "value": v}) for v in (10**400, -(10**400), 1e999)), encoding="utf-8")
    assert [scored["measured"] for scored in command.run([path], CATALOG)["rows"]] == [None, None, None]


def test_a_number_of_thousands_of_digits_is_refused_by_its_reason(tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_text('{"value": 1' + "0" * 6000 + "}", encoding="utf-8")
    with pytest.raises(ValueError, match="too many digits"):
        command.run([path], CATALOG)
