import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from gpuplanner import __main__ as command_line
from gpuplanner import __version__, app, i18n, paths
from gpuplanner.model.edit import replace
from gpuplanner.storage import plan_file
from gpuplanner.storage.samples import SAMPLES
from tests.storage.plans import full_plan

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(autouse=True)
def nothing_of_the_user(tmp_path, monkeypatch):
    """No catalog and no language of whoever runs the tests."""
    monkeypatch.setattr(paths, "user_data", lambda: tmp_path / "data")
    monkeypatch.setattr(command_line, "system_language", lambda: "en")
    before = i18n.language()
    yield
    i18n.set_language(before)


def run(*arguments: str) -> int:
    try:
        return command_line.main(arguments)
    except SystemExit as exit:
        return int(exit.code or 0)


def data_of(capsys, *arguments: str):
    assert run(*arguments, "--json") == 0
    return json.loads(capsys.readouterr().out)


def refused(capsys, *arguments: str) -> str:
    """The one line that a refusal is."""
    assert run(*arguments) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("gpuplanner: ")
    assert captured.err.count("\n") == 1
    return captured.err.strip()


def in_a_process(*arguments: str, **options) -> subprocess.CompletedProcess:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "LANG": "C", "LC_ALL": "C", **options.pop("env", {})}
    return subprocess.run(
        [sys.executable, "-m", "gpuplanner", *arguments],
        capture_output=True,
        env=environment,
        cwd=ROOT,
        timeout=60,
        **options,
    )


# --- what needs no plan ------------------------------------------------------------


def test_the_version_is_printed(capsys):
    assert run("--version") == 0
    assert capsys.readouterr().out.strip() == f"GPU Planner {__version__}"


@pytest.mark.parametrize("arguments", [["--help"], ["evaluate", "--help"], ["calc", "--help"], ["catalog", "--help"]])
def test_help_is_printed(capsys, arguments):
    assert run(*arguments) == 0
    assert "usage: gpuplanner" in capsys.readouterr().out


def test_a_formula_is_computed_by_name(capsys):
    # 10 kW are 34,121 BTU/h (3,412.142 a kW) and 2.843 tons (3.51685 kW each).
    data = data_of(capsys, "calc", "heat_load", "heat_kw=10")
    assert data["heat_btu_h"] == pytest.approx(34_121.42)
    assert data["cooling_tons"] == pytest.approx(2.84345, abs=1e-4)


def test_options_may_stand_anywhere_on_the_line(capsys):
    assert (
        run("--lang", "en", "calc", "--json", "air_temperature_rise", "heat_kw=10", "--lang=en", "airflow_cfm=1000")
        == 0
    )
    assert "delta_t_k" in json.loads(capsys.readouterr().out)


def test_the_calculations_are_listed(capsys):
    names = [each["name"] for each in data_of(capsys, "calc", "--list")["calculations"]]
    assert {"heat_load", "rail_fabric", "circuit_feeds"} <= set(names)
    assert run("calc", "--list") == 0
    assert "heat_load heat_kw → heat_btu_h cooling_tons" in capsys.readouterr().out


@pytest.mark.parametrize(
    "arguments",
    [
        ["calc"],
        ["calc", "nonsense"],
        ["calc", "heat_load"],
        ["calc", "heat_load", "heat_kw=ten"],
        ["calc", "heat_load", "heat_kw=nan"],
        ["calc", "heat_load", "heat_kw"],
        ["calc", "heat_load", "heat_kw=1", "heat_kw=2"],
        ["calc", "heat_load", "heat_kw=1", "colour=2"],
        ["catalog", "show"],
        ["catalog", "show", "gpu", "no such card"],
        ["catalog", "show", "no such card"],
        ["catalog", "list", "planets"],
        ["catalog", "list", "gpu", "4090"],
        ["catalog", "grow"],
        ["catalog", "check", "gpu"],
        ["evaluate"],
        ["evaluate", "a", "b"],
        ["evaluate", "missing.gpuplan"],
        ["validate"],
        ["validate", "missing.jsonl"],
        ["missing.gpuplan"],
        ["recommend", "x.gpuplan"],
        ["--lang", "fr"],
        ["--lang"],
        ["--nonsense"],
    ],
    ids=" ".join,
)
def test_bad_input_is_one_line_and_exit_code_2(capsys, arguments):
    refused(capsys, *arguments)


def test_an_ambiguous_name_lists_the_candidates(capsys):
    said = refused(capsys, "catalog", "show", "H100")
    for name in ("H100 SXM 80GB", "H100 PCIe 80GB", "H100 NVL 94GB"):
        assert name in said


def test_an_entry_is_shown_with_its_sources(capsys):
    data = data_of(capsys, "catalog", "show", "4090")
    assert data["name"] == "GeForce RTX 4090 24GB"
    bandwidth = next(figure for figure in data["figures"] if figure["key"] == "memory_bandwidth_bytes_s")
    assert bandwidth["value"] == pytest.approx(1.008e12)
    assert bandwidth["unit"] == "byte/s"
    assert bandwidth["source"] in {source["id"] for source in data["sources"]} | {"unverified"}
    assert run("catalog", "show", "gpu", "4090") == 0
    assert "memory_bandwidth_bytes_s: 1008000000000" in capsys.readouterr().out


def test_a_card_of_one_source_says_so(capsys):
    said = "These figures come from one source and were compared with no other."
    assert run("catalog", "show", "RTX 4070") == 0
    assert said in capsys.readouterr().out
    assert run("catalog", "show", "H100 SXM 80GB") == 0
    assert said not in capsys.readouterr().out


def test_entries_are_listed_by_kind(capsys):
    every = data_of(capsys, "catalog", "list")["entries"]
    cpus = data_of(capsys, "catalog", "list", "cpus")["entries"]
    assert {entry["kind"] for entry in cpus} == {"cpu"}
    assert [entry for entry in every if entry["kind"] == "cpu"] == cpus


def test_a_check_with_errors_exits_1(capsys, monkeypatch):
    from gpuplanner.catalog import check

    error = check.Issue("error", "Acme X1", "memory_bytes", "T8", "More visible than there is.", {"value": 3.0})
    missing = error._replace(level="unverified", rule="source")
    for issues, code in (([error, missing], 1), ([missing], 0), ([], 0)):
        monkeypatch.setattr(check, "check", lambda _catalog, issues=issues: issues)
        assert run("catalog", "check") == code
        text = capsys.readouterr().out
        assert all(f"Acme X1: memory_bytes: {issue.message}" in text for issue in issues)
        assert run("catalog", "check", "--json") == code
        data = json.loads(capsys.readouterr().out)
        assert len(data["errors"]) == code
        assert len(data["errors"]) + len(data["unverified"]) == len(issues)


def test_the_schema_of_a_plan_file_takes_a_plan_file(capsys):
    schema = data_of(capsys, "schema")
    content = json.loads(plan_file.dump(full_plan()))
    assert set(content) <= set(schema["properties"])
    assert set(content["plan"]) == set(schema["$defs"]["Plan"]["properties"])


def test_the_schema_of_the_results_is_printed(capsys):
    assert run("schema", "--results") == 0
    assert "scenarios" in json.loads(capsys.readouterr().out)["properties"]


# --- rows and cases --------------------------------------------------------------------


def test_worked_cases_are_computed_and_compared(capsys):
    path = ROOT / "tests" / "cases" / "facility.json"
    rows = data_of(capsys, "validate", str(path))["rows"]
    assert {case["id"] for case in json.loads(path.read_text(encoding="utf-8"))} == {row["id"] for row in rows}
    assert all({"id", "key", "expected", "computed", "ok", "skipped"} == set(row) for row in rows)
    assert run("validate", str(path)) == 0
    assert "cases agree" in capsys.readouterr().out


def test_a_measured_row_comes_back_predicted_or_with_a_reason(capsys, tmp_path):
    row = {
        "id": "ours-1", "task": "inference", "family": "decode_fixed_batch", "scorable": True, "gpu": "H100 SXM 80GB",
        "gpus": 1, "model": "Llama-3.1-8B", "engine": {"name": "vLLM", "era": "vLLM 0.10 and later"},
        "weights": "bf16", "compute": "bf16", "kv": "bf16", "input_tokens": 128, "output_tokens": 128, "batch": 1,
        "metric": "output_tokens_per_s", "scope": "system", "value": 140.0, "source": "our own", "publisher": "us",
    }  # fmt: skip
    path = tmp_path / "ours.jsonl"
    path.write_text(json.dumps(row) + "\n" + json.dumps({**row, "id": "ours-2", "gpu": "no such card"}) + "\n")
    data = data_of(capsys, "validate", str(path))
    assert [each["id"] for each in data["rows"]] == ["ours-1", "ours-2"]
    first, second = data["rows"]
    assert first["skipped"] is None and first["low"] < first["predicted"] < first["high"]
    assert second["predicted"] is None and second["skipped"]


def test_validate_names_as_many_of_the_worst_rows_as_asked(capsys):
    rows = str(paths.resources() / "measurements" / "facility.jsonl")
    for words in (("--worst", "2", rows), (rows, "--worst", "2"), (rows, "--worst=2")):
        assert all(len(found) <= 2 for found in data_of(capsys, "validate", *words)["worst"].values())
    assert "worst" not in data_of(capsys, "validate", rows)
    refused(capsys, "validate", rows, "--worst", "many")


def test_a_damaged_row_is_refused_with_its_line(capsys, tmp_path):
    path = tmp_path / "ours.jsonl"
    path.write_text('{"id": "a"}\n{"id": \n')
    assert "line 2" in refused(capsys, "validate", str(path))


# --- plans that are refused ----------------------------------------------------------


def test_a_damaged_plan_is_refused_with_file_line_and_reason(capsys, tmp_path):
    path = tmp_path / "offer.gpuplan"
    path.write_text(plan_file.dump(full_plan()).replace('"users": 200.0', '"users": -1'), encoding="utf-8")
    said = refused(capsys, "evaluate", str(path), "--json")
    assert said.startswith(f"gpuplanner: {path}: line ")
    assert "workloads[0].load.users: The number must be at least 1" in said


def test_an_ambiguous_card_in_a_plan_lists_the_candidates(capsys, tmp_path):
    path = tmp_path / "offer.gpuplan"
    plan_file.write(path, replace(full_plan(), ("scenarios", 0, "groups", 1, "gpu"), "H100"))
    said = refused(capsys, "evaluate", str(path))
    assert "scenarios[0].groups[1].gpu" in said
    assert "H100 SXM 80GB" in said


def test_a_folder_is_refused(capsys, tmp_path):
    assert "This is a folder." in refused(capsys, "evaluate", str(tmp_path))
    assert "This is a folder." in refused(capsys, "validate", str(tmp_path))


def test_a_refusal_in_chinese_is_one_line_too(capsys):
    refused(capsys, "--lang", "zh", "evaluate", "missing.gpuplan")


def test_a_name_that_reorders_text_cannot_reorder_the_line(capsys):
    assert "\u202e" not in refused(capsys, "evaluate", "a\u202eb\n.gpuplan")


# --- the window ------------------------------------------------------------------------


def test_without_a_display_the_first_example_is_evaluated_and_the_need_is_named(capsys, monkeypatch):
    def no_window(*_arguments):
        raise app.NoWindow("The window needs a display.")

    monkeypatch.setattr(app, "run", no_window)
    assert run() == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == SAMPLES[0].title
    assert lines[-1] == "The window needs a display."


def test_a_plan_and_a_chosen_language_reach_the_window(monkeypatch):
    asked = []
    monkeypatch.setattr(app, "run", lambda *arguments: asked.append(arguments) or 0)
    path = SAMPLES[1].path
    assert run(str(path), "--lang", "zh") == 0
    assert run() == 0
    assert asked == [(path, "zh"), (None, None)]


def test_a_plan_that_does_not_exist_opens_no_window(capsys, monkeypatch):
    monkeypatch.setattr(app, "run", lambda *_arguments: pytest.fail("a window was opened"))
    assert "There is no such file." in refused(capsys, "missing.gpuplan")


# --- as a process ----------------------------------------------------------------------


@pytest.mark.parametrize(
    "arguments",
    [
        ["calc", "heat_load", "heat_kw=10"],
        ["catalog", "list"],
        ["catalog", "show", "4090"],
        ["schema", "--results"],
        ["schema"],
        ["evaluate", "missing"],
        ["evaluate", str(SAMPLES[0].path)],
        ["evaluate", str(SAMPLES[2].path), "--json"],
    ],
    ids=lambda arguments: " ".join(Path(word).name for word in arguments),
)
def test_no_command_imports_qt(arguments):
    code = (
        "import sys; from gpuplanner.__main__ import main; main(sys.argv[1:]); "
        "sys.exit(any(name.split('.')[0] in ('PySide6', 'shiboken6', 'pyqtgraph') for name in sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, cwd=ROOT, timeout=60)
    assert done.returncode == 0, done.stderr


def test_output_is_utf_8_also_where_the_console_is_not():
    done = in_a_process("calc", "--list", env={"PYTHONIOENCODING": "cp1252"})
    assert done.returncode == 0
    assert "→" in done.stdout.decode("utf-8")


@pytest.mark.skipif(os.name == "nt", reason="pipes break otherwise on Windows")
def test_a_reader_that_has_seen_enough_is_no_error():
    reader, writer = os.pipe()
    os.close(reader)
    try:
        done = subprocess.run(
            [sys.executable, "-m", "gpuplanner", "catalog", "list", "--json"],
            stdout=writer, stderr=subprocess.PIPE, cwd=ROOT, timeout=60,
        )  # fmt: skip
    finally:
        os.close(writer)
    assert (done.returncode, done.stderr) == (0, b"")


def test_bad_input_leaves_no_traceback():
    done = in_a_process("evaluate", "missing.gpuplan")
    assert done.returncode == 2
    assert done.stderr.decode().strip() == "gpuplanner: missing.gpuplan: There is no such file."


# --- claims ------------------------------------------------------------------------------


def test_a_claim_that_is_none_is_refused_with_one_that_is(capsys):
    said = refused(capsys, "claim", "the moon is made of cheese")
    assert ".: " not in said
    assert "A claim looks like this: 5000 tok/s on 8x H100" in said


# --- two cards ---------------------------------------------------------------------------


def test_a_card_that_cannot_do_a_task_is_named_with_the_reason(capsys):
    # 405e9 parameters at 16 bit are 810 GB, to be trained with optimizer states: too much for any number of such cards.
    assert run("compare-cards", "RTX 4090", "RTX 3060 12GB", "--llm", "Llama-3.1-405B") == 0
    said = capsys.readouterr().out
    assert "RTX 3060 12GB: does not" in said


def test_two_cards_are_compared_as_data(capsys):
    found = data_of(capsys, "compare-cards", "H100 SXM 80GB", "A100 SXM 80GB")
    tasks = {task["key"]: task for task in found["tasks"]}
    assert tasks["serving"]["ratio"]["low"] < tasks["serving"]["ratio"]["value"] < tasks["serving"]["ratio"]["high"]
    assert tasks["serving"]["measured_pairs"] > 0
    assert {claim["claim"] for claim in found["claims"]} == {3.5, 2.3}


def test_each_card_may_have_a_precision_of_its_own(capsys):
    line = ("compare-cards", "H100 SXM 80GB", "A100 SXM 80GB", "--precision", "8-bit,16-bit", "--llm", "Llama-3.1-8B")
    found = data_of(capsys, *line)
    assert (found["first"]["precision"], found["second"]["precision"]) == ("8-bit", "16-bit")
    assert found["llm"] == "Llama-3.1-8B"


def test_two_cards_in_words_say_where_quoted_ratios_hold(capsys):
    assert run("compare-cards", "H100 SXM 80GB", "A100 SXM 80GB") == 0
    said = capsys.readouterr().out
    assert "3.5×" in said
    assert "2.3×" in said


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (("H100", "A100 SXM 80GB"), "H100 SXM 80GB"),
        (("H100 SXM 80GB", "card of a dream"), "card of a dream"),
        (("H100 SXM 80GB", "A100 SXM 80GB", "--precision", "3-bit"), "16-bit"),
    ],
)
def test_cards_that_cannot_be_compared_are_refused_in_one_line(capsys, line, why):
    assert why in refused(capsys, "compare-cards", *line)


# --- compare -------------------------------------------------------------------------


def test_compare_names_inputs_and_figures_that_differ(capsys, tmp_path):
    first, second = tmp_path / "first.gpuplan", tmp_path / "second.gpuplan"
    plan = plan_file.read(SAMPLES[0].path).plan
    plan_file.write(first, plan)
    plan_file.write(second, replace(plan, ("scenarios", 0, "groups", 0, "servers"), 9))
    data = data_of(capsys, "compare", str(first), str(second))
    assert [(each["path"][-1], each["b"]) for each in data["inputs"]] == [("servers", 9)]
    assert (data["a"]["file"], data["b"]["file"]) == ("first.gpuplan", "second.gpuplan")
    assert any(not each["same"] for each in data["results"])
    assert run("compare", str(first), str(second)) == 0
    assert "1 input differs:" in capsys.readouterr().out


def test_compare_refuses_what_is_no_plan(capsys, tmp_path):
    assert "no.gpuplan" in refused(capsys, "compare", str(SAMPLES[0].path), str(tmp_path / "no.gpuplan"))
