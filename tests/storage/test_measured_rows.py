"""Files of measured rows: what is read, what is refused and why, and that hostile files do no harm."""

import json

import pytest

from gpuplanner.model.plan import Plan
from gpuplanner.storage.measured_rows import read_rows, write_rows
from gpuplanner.storage.plan_file import clean_text, read, write

ROW = {"id": "ours-1", "gpu": "H100 SXM 80GB", "gpus": 8, "metric": "output_tokens_per_s", "value": 812.5}


def written(tmp_path, name, text):
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_rows_that_were_written_are_read_again(tmp_path):
    rows = (ROW, {**ROW, "id": "ours-2", "engine": {"name": "vLLM", "version": "0.10"}, "note": "机房"})
    write_rows(tmp_path / "rows.jsonl", rows)
    assert read_rows(tmp_path / "rows.jsonl") == (rows, ())


def test_a_list_in_one_json_file_is_read(tmp_path):
    assert read_rows(written(tmp_path, "rows.json", json.dumps([ROW, ROW]))).rows == (ROW, ROW)


def test_a_bad_line_is_named_and_the_others_are_read(tmp_path):
    text = json.dumps(ROW) + "\n{broken\n\n" + json.dumps({"id": "no metric", "value": 1}) + "\n[1, 2]\n"
    reading = read_rows(written(tmp_path, "rows.jsonl", text))
    assert reading.rows == (ROW,)
    assert [refused.place for refused in reading.refused] == ["line 2", "line 4", "line 5"]
    assert all(refused.reason for refused in reading.refused)


@pytest.mark.parametrize("separator", [",", ";"])
def test_a_table_is_read_with_its_records(tmp_path, separator):
    lines = [
        "id,gpu,gpus,engine.name,engine.version,parallel.tp,metric,value,batch",
        "a,H100 SXM 80GB,8,vLLM,0.10,8,output_tokens_per_s,812.5,",
        "",
        "b,H100 SXM 80GB,8,vLLM,0.10,8,output_tokens_per_s,fast,1",
    ]
    text = "\r\n".join(line.replace(",", separator) for line in lines)
    reading = read_rows(written(tmp_path, "rows.csv", text))
    engine = {"name": "vLLM", "version": "0.10"}
    assert reading.rows == ({**ROW, "id": "a", "engine": engine, "parallel": {"tp": 8}},)
    assert len(reading.refused) == 1
    assert "value" in reading.refused[0].reason


@pytest.mark.parametrize(
    "text",
    ['{"metric":"x","value":1e999}', '{"metric":"x","value":NaN}', '{"metric":"x","value":1,"y":' + "[" * 5000,
     '{"metric":"x","value":1,"note":"' + "z" * 9000 + '"}', '{"metric":"x","value":"1"}', "null"],
)  # fmt: skip
def test_a_hostile_row_is_refused_with_a_reason(tmp_path, text):
    reading = read_rows(written(tmp_path, "rows.jsonl", text))
    assert reading.rows == ()
    assert reading.refused[0].reason


@pytest.mark.parametrize("data", [b"\xff\xfe\x00", b"\x80\x81", b"x" * (11 * 2**20), b'[{"metric":'])
def test_what_is_no_such_file_is_refused_as_a_whole(tmp_path, data):
    with pytest.raises(ValueError, match=r"\w"):
        read_rows(written(tmp_path, "rows.jsonl", data))


def test_characters_that_steer_a_terminal_are_taken_out(tmp_path):
    text = json.dumps({**ROW, "note": "fine\u202etxt\x1b[0m"})
    assert read_rows(written(tmp_path, "rows.jsonl", text)).rows[0]["note"] == clean_text("fine\u202etxt\x1b[0m")


def test_no_more_rows_are_read_than_a_plan_holds(tmp_path):
    text = (json.dumps({"metric": "x", "value": 1}) + "\n") * 10_001
    reading = read_rows(written(tmp_path, "rows.jsonl", text))
    assert len(reading.rows) == 10_000
    assert len(reading.refused) == 1


def test_rows_travel_with_the_plan_file(tmp_path):
    path = tmp_path / "plan.gpuplan"
    plan = Plan(name="with rows", measured=(ROW, {"anything": {"goes": [1, None, "x"]}}))
    write(path, plan)
    assert read(path).plan == plan
