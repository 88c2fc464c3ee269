"""`gpuplanner validate`: read files of measured rows, compatibility cases or worked cases, and score what each
holds."""

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from gpuplanner.catalog.load import Catalog
from gpuplanner.i18n import N_, _, columns
from gpuplanner.model import calc
from gpuplanner.validation import score as scoring
from gpuplanner.validation.compat import judge_cases

MAX_FILE_BYTES = 64 * 2**20


def run(paths: Sequence[Path], catalog: Catalog, worst: int = 0) -> dict[str, Any]:
    """Read all files and score them by kind; keys of the kinds that were found are joined in one dict.

    Measured rows give ``rows``, ``families``, ``pairs``, and if asked ``worst``, so many ids by family; with rows that
    are shipped also ``without_file``, errors of families under constants that have not seen the whole file; worked
    cases ``rows`` of computed keys; compatibility cases ``rows``, ``agree``, ``dangerous``.

    Raises
    ------
    ValueError
        A file cannot be read; the text is "file: line n: reason".
    """
    measured: list[Mapping[str, Any]] = []
    compat: list[Mapping[str, Any]] = []
    worked: list[Mapping[str, Any]] = []
    for path in paths:
        for place, record in _records(Path(path)):
            if "calc" in record or record.get("kind") in ("formula", "fact"):
                worked.append(record)
            elif "expected" in record and ("runtime" in record or "gpu" in record):
                for key in ("id", "expected"):
                    if key not in record:
                        raise ValueError(f"{place}: " + _("the key “%(key)s” is missing") % {"key": key})
                compat.append(record)
            else:
                measured.append(record)
    result: dict[str, Any] = {"rows": []}
    if worked:
        result["rows"].extend(_compute_cases(worked))
    if compat:
        judged = judge_cases(catalog, compat)
        result["rows"].extend(judged.pop("rows"))
        result.update(judged)
    if measured or not (worked or compat):
        scored = scoring.score(measured, catalog)
        result["rows"].extend(scored["rows"])
        result["families"], result["pairs"] = scored["families"], scored["pairs"]
        if worst > 0:
            result["worst"] = {
                family: [row["id"] for row in found] for family, found in scoring.worst(scored, worst).items()
            }
        if any(row["left_out"] is not None for row in scored["rows"]):
            known, given = catalog.calibration.without_file, {Path(path).name for path in paths}
            result["without_file"] = {name: known[name] for name in sorted(given & set(known))}
    return result


def _records(path: Path) -> list[tuple[str, Mapping[str, Any]]]:
    """The records of a file with the place of each, from one JSON list or one object a line."""
    try:
        if path.stat().st_size > MAX_FILE_BYTES:
            raise ValueError(f"{path.name}: " + _("the file is too large"))
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise ValueError(
            f"{path.name}: " + _("the file cannot be read (%(reason)s)") % {"reason": error.strerror or str(error)}
        ) from error
    except UnicodeDecodeError as error:
        raise ValueError(f"{path.name}: " + _("the file is not UTF-8 text")) from error
    if text.lstrip().startswith("["):
        items = _parsed(text, path.name)
        return [
            (f"{path.name}: " + _("entry %(number)d") % {"number": n}, _record(item, path.name, n))
            for n, item in enumerate(items, 1)
        ]
    found = []
    # Only line feeds end a line: JSON texts may hold other separators.
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            place = f"{path.name}: " + _("line %(number)d") % {"number": number}
            found.append((place, _record(_parsed(line, place), path.name, number)))
    return found


def _parsed(text: str, place: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        reason = (
            error.msg
            if isinstance(error, json.JSONDecodeError)
            else _("it is nested too deeply")
            if isinstance(error, RecursionError)
            else _("a number has too many digits")
        )
        raise ValueError(f"{place}: " + _("this is not JSON (%(reason)s)") % {"reason": reason}) from error


def _record(item: Any, file: str, number: int) -> Mapping[str, Any]:
    if not isinstance(item, dict):
        raise ValueError(
            f"{file}: " + _("line %(number)d") % {"number": number} + ": " + _("a record in braces is expected")
        )
    return item


# --- worked cases ----------------------------------------------------------------------------------------------------


# Which key of the catalog holds a fact of a worked case.
_CATALOG_KEYS = {
    "max_power_kw": "servers.max_power_w", "max_power_w": "servers.max_power_w",
    "typical_power_w": "servers.typical_power_w",
    "rack_u": "servers.rack_units", "weight_kg": "servers.weight_kg", "airflow_cfm": "servers.airflow_m3_s",
    "inlet_c_min": "servers.inlet_min_c", "inlet_c_max": "servers.inlet_max_c", "psu_count": "servers.psu_count",
    "psu_w": "servers.psu_w", "port_gbit_s": "switches.port_bits_s", "ports": "switches.ports",
    "unidirectional_gb_s": "links.one_way_bytes_s", "port_gb_s": "links.one_way_bytes_s", "power_w": "switches.power_w",
    "gpu_max_w": "gpus.board_power_w", "tgp_max_w": "gpus.board_power_w", "board_w": "gpus.board_power_w",
    "gpu_tdp_max_w": "gpus.board_power_w", "rack_kw_range": "assumptions.rack_power_limit",
}  # fmt: skip


def _compute_cases(cases: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    for case in cases:
        rows.extend(_compute_case(case))
    return rows


def _compute_case(case: Mapping[str, Any]) -> list[dict[str, Any]]:
    row: dict[str, Any] = {
        "id": case.get("id"),
        "key": None,
        "expected": None,
        "computed": None,
        "ok": None,
        "skipped": None,
    }
    if case.get("kind") == "fact":
        expected = case.get("expected")
        stated = expected if isinstance(expected, Mapping) else {}
        key = next((_CATALOG_KEYS[name] for name in stated if name in _CATALOG_KEYS), None)
        if key is None:
            return [{**row, "skipped": _("a fact, not a formula, and no key of the catalog holds it")}]
        return [
            {**row, "key": key, "skipped": _("a fact, not a formula: the catalog holds it as “%(key)s”") % {"key": key}}
        ]
    name, inputs, expected = case.get("calc"), case.get("inputs"), case.get("expected")
    if not isinstance(name, str) or not isinstance(inputs, Mapping) or not isinstance(expected, Mapping):
        return [{**row, "skipped": _("the case states no calculation, inputs and expected figures")}]
    try:
        computed = calc.compute(name, inputs)
    except calc.CalcError as error:
        return [{**row, "key": key, "expected": value, "skipped": str(error)} for key, value in expected.items()] or [
            {**row, "skipped": str(error)}
        ]
    tolerance = case.get("tolerance")
    return [
        {
            **row,
            "key": key,
            "expected": value,
            "computed": computed.get(key),
            "ok": _agrees(computed.get(key), value, tolerance),
        }
        for key, value in expected.items()
    ]


def _agrees(computed: Any, expected: Any, tolerance: Any) -> bool:
    if isinstance(expected, bool) or isinstance(computed, bool):
        return bool(computed) == bool(expected)
    if not isinstance(expected, int | float) or not isinstance(computed, int | float):
        return bool(computed == expected)
    relative = absolute = 0.0
    if isinstance(tolerance, Mapping):
        relative, absolute = float(tolerance.get("rel") or 0.0), float(tolerance.get("abs") or 0.0)
    # Whole numbers that went through floats differ in the last digits at most.
    return math.isclose(computed, expected, rel_tol=max(relative, 1e-9), abs_tol=absolute)


# --- for people ------------------------------------------------------------------------------------------------------


def text(result: Mapping[str, Any]) -> str:
    """A table of the result: families with their errors, pairs, and why rows were skipped."""
    lines: list[str] = []
    families = result.get("families") or {}
    if families:
        lines.append(_head())
        lines.extend(_family_line(name, family) for name, family in _with_parts(families))
        lines += _unseen_table(families) + _naive_table(families) + _suspects(result["rows"])
        for file, found in (result.get("without_file") or {}).items():
            lines += ["", _("Under constants that have not seen %(file)s at all:") % {"file": file}]
            lines.extend(columns.left(name, 28) + _cells(entry) for name, entry in found.items())
        lines += _worst(result)
    pairs = result.get("pairs") or {}
    if pairs:
        lines += ["", _("Two cards of one source at equal settings, measured gap above 20 %:")]
        lines.extend(
            _("%(family)s: order right %(right)d of %(pairs)d, ratio off by %(error).0f %% in the middle")
            % {
                "family": name,
                "right": pair["order_right"],
                "pairs": pair["pairs"],
                "error": 100 * pair["ratio_error_median"],
            }
            for name, pair in pairs.items()
        )
    judged = [row for row in result["rows"] if "ok" in row]
    if judged:
        done = [row for row in judged if row["skipped"] is None]
        right = sum(row["ok"] is True for row in done)
        lines += ["", _("%(right)d of %(all)d cases agree.") % {"right": right, "all": len(done)}]
        lines.extend(
            _("%(case)s: %(key)s expected %(expected)s, computed %(computed)s")
            % {
                "case": row["id"],
                "key": row.get("key") or row.get("reason") or "",
                "expected": row["expected"],
                "computed": row["computed"],
            }
            for row in done
            if row["ok"] is not True
        )
        if result.get("dangerous"):
            lines.append(_("%(count)d times we say it works and it failed.") % {"count": result["dangerous"]})
    skipped = scoring.reasons(result["rows"])
    if skipped:
        lines += ["", _("Skipped:")]
        lines.extend(f"{count:6d}  {reason}" for reason, count in skipped)
    return "\n".join(lines)


def _head() -> str:
    names = (
        _("rows"),
        _("scored"),
        _("answered"),
        _("median error"),
        _("9 of 10 within"),
        _("bias"),
        _("in 80 % band"),
    )
    return columns.left(_("family"), 28) + "".join(columns.right(name, 16) for name in names)


_PARTS = {"dense": N_("training, dense"), "experts": N_("training, experts")}


def _with_parts(families: Mapping[str, Any]) -> list[tuple[str, Mapping[str, Any]]]:
    """Families, and after training its parts."""
    found = []
    for name, family in families.items():
        found.append((name, family))
        found.extend((f"  {_(_PARTS[part])}", entry) for part, entry in family.get("parts", {}).items())
    return found


def _cells(entry: Mapping[str, Any] | None) -> str:
    """Rows, median and 90 % error in columns."""
    if entry is None:
        return "".join(f"{'–':>16s}" for _column in range(2))
    errors = f"{100 * entry['median_ape']:.0f} / {100 * entry['p90_ape']:.0f} %"
    return f"{entry['rows']:16d}{errors:>16s}"


def _columns(title: str, names: Sequence[str]) -> list[str]:
    return ["", title, columns.left(_("family"), 28) + "".join(columns.right(name, 16) for name in names)]


def _unseen_table(families: Mapping[str, Any]) -> list[str]:
    known = [(name, family) for name, family in _with_parts(families) if family["left_out"] is not None]
    if not known:
        return []
    names = (_("rows"), _("source"), _("publisher"), _("as for bands"), _("in 80 % band"))
    title = _("Shipped rows under constants that have not seen their source or publisher (median / 9 of 10 within):")
    lines = _columns(title, names)
    for name, family in known:
        errors = (_cells(family[key])[16:] for key in ("without_source", "without_publisher", "left_out"))
        left_out = family["left_out"]
        covered = f"{100 * left_out['coverage_80']:.0f} %"
        lines.append(columns.left(name, 28) + f"{left_out['rows']:16d}" + "".join(errors) + f"{covered:>16s}")
    return lines


def _naive_table(families: Mapping[str, Any]) -> list[str]:
    known = [(name, family["naive"]) for name, family in families.items() if family["naive"] is not None]
    if not known:
        return []
    title = _("Rules of thumb beside our predictions on the same rows (median / 9 of 10 within):")
    lines = _columns(title, (_("rows"), _("rule of thumb"), _("ours")))
    lines.extend(columns.left(name, 28) + _cells(naive) + _cells(naive["ours"])[16:] for name, naive in known)
    return lines


_BOUNDS = {
    "bandwidth": N_("%(row)s: %(times).2f times what the memory bandwidth allows"),
    "compute": N_("%(row)s: %(times).2f times what the computing rate allows"),
    "memory": N_("%(row)s: %(times).2f times what the memory holds"),
    "power": N_("%(row)s: %(times).2f times the power limit"),
}
_TIMES = ("tpot_s", "ttft_s", "step_time_s")


def _suspects(scored: Sequence[Mapping[str, Any]]) -> list[str]:
    found = [row for row in scored if row.get("suspect")]
    if not found:
        return []
    lines = ["", _("Rows that no hardware can reach; nothing is fitted to them:")]
    for row in found:
        times = float(row["measured"]) / row["suspect"]["limit"]
        times = 1.0 / times if row["metric"] in _TIMES else times
        lines.append(_(_BOUNDS[row["suspect"]["bound"]]) % {"row": row["id"], "times": times})
    return lines


def _worst(result: Mapping[str, Any]) -> list[str]:
    if not result.get("worst"):
        return []
    rows = {row["id"]: row for row in result["rows"]}
    lines = ["", _("Rows that hurt most:")]
    for family, members in result["worst"].items():
        for identity in members:
            row = rows[identity]
            predicted = row["left_out"] or row["predicted"]
            lines.append(
                _("%(family)s: %(row)s %(metric)s measured %(measured).4g, predicted %(predicted).4g")
                % {
                    "family": family, "row": identity, "metric": row["metric"], "measured": row["measured"],
                    "predicted": predicted,
                }
            )  # fmt: skip
    return lines


def _family_line(name: str, family: Mapping[str, Any]) -> str:
    def share(key: str) -> str:
        value = family[key]
        return "–" if value is None else f"{100 * value:.0f} %"

    cells = (
        str(family["rows"]),
        str(family["scorable"]),
        share("answered"),
        share("median_ape"),
        share("p90_ape"),
        share("bias"),
        share("coverage_80"),
    )
    return columns.left(name, 28) + "".join(f"{cell:>16s}" for cell in cells)
