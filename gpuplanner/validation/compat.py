"""Work cases of compatibility: does this software run on that card? Our verdict beside what people met."""

import re
from bisect import bisect_left
from collections.abc import Iterable, Mapping
from typing import Any

from gpuplanner.catalog.compatibility import Verdict, judge, sentence
from gpuplanner.catalog.load import Catalog

_RUNS = ("works", "works with limits")
_SEVERITY = ("works", "works with limits", "not known", "fails")


def judge_cases(catalog: Catalog, cases: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Judge every case and count.

    Returns
    -------
    dict
        ``rows``: one per case with ``id``, ``expected``, ``computed``, ``reason``, ``ok``, ``skipped`` (None, or why
        nothing was computed). ``agree``: rows with the same answer; "works with limits" counts for "works" too, since
        the reason names the limit, but a bare "works" does not count for "works with limits". ``dangerous``: rows where
        we say that it works and the case says that it fails.
    """
    rows = [_row(catalog, case) for case in cases]
    return {
        "rows": rows,
        "agree": sum(row["ok"] is True for row in rows),
        "dangerous": sum(_is_dangerous(row) for row in rows),
    }


def _is_dangerous(row: Mapping[str, Any]) -> bool:
    return row["computed"] in _RUNS and row["expected"] == "fails"


def _row(catalog: Catalog, case: Mapping[str, Any]) -> dict[str, Any]:
    expected = str(case["expected"]).replace("-", " ")
    row = {"id": case["id"], "expected": expected, "computed": None, "reason": None, "ok": None, "skipped": None}
    verdict = _judge(catalog, case)
    if isinstance(verdict, str):
        return {**row, "skipped": verdict}
    limit_named = verdict.answer == "works with limits" and expected in _RUNS
    return {
        **row,
        "computed": verdict.answer,
        "reason": sentence(verdict),
        "ok": verdict.answer == expected or limit_named,
    }


def _judge(catalog: Catalog, case: Mapping[str, Any]) -> Verdict | str:
    """The worst verdict over the precisions of a case, or what the catalog lacks to judge it."""
    gpu = catalog.gpus.get(case.get("gpu") or "")
    if case.get("gpu") and gpu is None:
        return f"no such GPU: {case['gpu']}"
    runtime = catalog.runtimes.get(case.get("runtime") or "")
    if case.get("runtime") and runtime is None:
        return f"no such runtime: {case['runtime']}"
    llm = catalog.llms.get(case.get("model") or "")
    asked = [case, *({**case, **other} for other in case.get("also") or ())]
    verdicts = [
        judge(
            catalog,
            gpu,
            runtime,
            # An open range is asked at its known end: "up to 0.14" at 0.14, "0.23 and newer" at 0.23.
            version=one.get("version_until") or one.get("version_from"),
            weights=one.get("weights"),
            compute=one.get("compute"),
            kv=one.get("kv"),
            scheme=one.get("scheme"),
            os=one.get("os_word") or "linux",
            llm=llm,
            gpus=one.get("gpus") or 1,
            layer=one.get("layer"),
            feature=one.get("feature"),
            as_of=one.get("as_of") or thread_date(catalog, one),
            build=one.get("build"),
        )
        for one in asked
    ]
    return max(verdicts, key=lambda verdict: _SEVERITY.index(verdict.answer))


def thread_date(catalog: Catalog, case: Mapping[str, Any]) -> str | None:
    """The month of the thread that a case says "as of issue N" about, read between threads whose dates are known.

    Numbers of a repository grow with time, so that the next known thread bounds the date from above.
    """
    named = re.search(r"as of (?:issues?|PR) (\d+)", case.get("build") or "")
    if named is None:
        return None
    number = int(named[1])
    for gate in catalog.exceptions:
        rules = gate.data.get("rules") or {}
        if gate.kind == "thread_dates" and f"{rules['repository']}/" in (case.get("where") or ""):
            place = bisect_left([known for known, _date in rules["threads"]], number)
            if place < len(rules["threads"]):
                return str(rules["threads"][place][1])[:7]
    return None
