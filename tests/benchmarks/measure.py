"""Measures against the budgets, each beside a baseline taken in the same run."""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
STARTS = 5


class Measure(NamedTuple):
    """A figure with its baseline and its budget, all in `unit`; a budget of None = no limit."""

    name: str
    figure: float
    unit: str
    budget: float | None
    baseline_name: str
    baseline: float
    ratio_budget: float | None
    note: str = ""

    @property
    def ratio(self) -> float:
        return self.figure / self.baseline

    @property
    def met(self) -> bool:
        within = self.budget is None or self.figure <= self.budget
        return within and (self.ratio_budget is None or self.ratio <= self.ratio_budget)


def child(name: str, scale: float = 1.0) -> tuple[dict, float]:
    """Run one child process; its figures, and the seconds from its start to the line it printed."""
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH", "")))),
        "QT_SCALE_FACTOR": str(scale),
        "QT_LOGGING_RULES": "*=false",
    }
    environment.setdefault("QT_QPA_PLATFORM", "offscreen")
    # As an installed program runs: compiled once, not at every start. The copies do not litter the source tree.
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    environment["PYTHONPYCACHEPREFIX"] = str(Path(tempfile.gettempdir()) / "gpuplanner-benchmarks")
    start = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, str(HERE / "child.py"), name], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment
    )
    assert process.stdout is not None and process.stderr is not None
    line = process.stdout.readline()
    seconds = time.perf_counter() - start
    said = process.stderr.read().decode()
    process.wait()
    if not line:
        raise RuntimeError(f"{name}: {said}")
    return json.loads(line), seconds


def start_and_memory() -> list[Measure]:
    """Start to a usable window with a worked plan, and memory, against a bare window of PySide6 and pyqtgraph."""
    child("bare"), child("program")
    bare, program = [], []
    for _round in range(STARTS):
        # In turns, so that a slow moment of the machine meets both.
        bare.append(child("bare"))
        program.append(child("program"))
    bare_s, program_s = (statistics.median(seconds for _figures, seconds in runs) for runs in (bare, program))
    measures = [
        Measure("start to usable window", program_s, "s", 1.0, "bare window", bare_s, 2.5, "a plan of 5 scenarios open")
    ]
    used = [runs[0][0]["memory_bytes"] for runs in (bare, program)]
    if all(used):
        mb = [size / 1e6 for size in used]
        measures.append(Measure("memory", mb[1], "MB", None, "bare window", mb[0], 1.5))
    return measures


def keystrokes() -> list[Measure]:
    """A key in a field to repainted charts, 95th percentile, against one repaint of the whole window."""
    measures = []
    for scale, budget_ms in ((1.0, 16.0), (2.0, 33.0)):
        found, _seconds = child("keystroke", scale)
        note = (
            f"median {found['median_s'] * 1e3:.1f}, worst {found['worst_s'] * 1e3:.1f}, "
            f"processor 95th {found['cpu_p95_s'] * 1e3:.1f}, "
            f"of which evaluate {found['evaluate_s'] * 1e3:.1f}; {found['paint_events']:.0f} paint events; "
            f"after the frame {found['after_s'] * 1e3:.1f}"
        )
        measures.append(
            Measure(
                f"keystroke to repaint, {scale:.0%}", found["p95_s"] * 1e3, "ms", budget_ms, "whole window repainted",
                found["full_repaint_s"] * 1e3, None, note,
            )
        )  # fmt: skip
    return measures


def evaluation() -> list[Measure]:
    """One evaluation of eight scenarios, against a fixed amount of interpreted work."""
    work, _seconds = child("machine")
    found, _seconds = child("evaluate")
    names = (("one scenario edited", "one_scenario_s"), ("a workload edited", "all_scenarios_s"))
    return [
        Measure(
            f"evaluate 8 scenarios, {name}", found[key] * 1e3, "ms", 5.0, "200,000 steps", work["work_s"] * 1e3, None
        )
        for name, key in names
    ]


def many_configurations() -> list[Measure]:
    """100,000 configurations through the functions of evaluate, on one core, against 200,000 interpreted steps."""
    work, _seconds = child("machine")
    found, _seconds = child("configurations")
    names = (
        ("served at one load", "served"),
        ("trained", "trained"),
        ("served within targets, 32 loads each", "within_targets"),
    )
    return [
        Measure(
            f"100,000 configurations {name}", found[key], "s", 1.0, "200,000 steps", work["work_s"], None,
            f"{100_000 / found[key]:,.0f} a second",
        )
        for name, key in names
    ]  # fmt: skip


def table(measures: list[Measure]) -> str:
    """The measures as lines of text."""
    lines = []
    for each in measures:
        limits = []
        if each.budget is not None:
            limits.append(f"≤ {each.budget:g} {each.unit}")
        if each.ratio_budget is not None:
            limits.append(f"≤ {each.ratio_budget:g} ×")
        verdict = "ok  " if each.met else "OVER"
        lines.append(
            f"{verdict} {each.name:38} {each.figure:8.2f} {each.unit:3}"
            f"  {each.baseline_name}: {each.baseline:.2f} {each.unit}"
            f"  ratio {each.ratio:.2f}  budget {' and '.join(limits)}" + (f"  ({each.note})" if each.note else "")
        )
    return "\n".join(lines)
