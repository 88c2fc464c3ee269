"""Results as data for scripts: SI units, the unit in each key, null where not known, the same keys in every release.

A key is the field's name in `model.results`, completed by a unit where the name has none. A figure is
``{"value", "low", "high", "basis"}``, with ``"confidence"`` (good, fair or rough: how narrow its band is) where it is
predicted, ``"parts"`` where it has parts and ``"note"`` where a reason is named.
Amounts are in the currency that the key ``currency`` of the results names.
"""

import math
import types
from collections.abc import Mapping
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from gpuplanner.i18n import facts
from gpuplanner.model import evidence
from gpuplanner.model.plan import Plan
from gpuplanner.model.results import (
    Check,
    Demand,
    FabricResult,
    Failures,
    Figure,
    Finding,
    Headline,
    MemoryUse,
    MoneyLine,
    MoneyResult,
    Results,
    RoomResult,
    ServeResult,
    SupplyResult,
    TrainResult,
    Wait,
)
from gpuplanner.report.text import headline

FORMAT = "gpuplanner-results"
FORMAT_VERSION = 1

# Keys of fields whose name does not say the unit.
_KEYS: dict[type, dict[str, str]] = {
    Demand: {"concurrency": "concurrency_requests"},
    MemoryUse: {
        name: f"{name}_bytes"
        for name in (
            "weights",
            "kv_cache",
            "activations",
            "gradients",
            "optimizer",
            "runtime",
            "capacity",
            "usable",
        )
    },
    ServeResult: {
        "headroom": "headroom_share",
        "batch": "batch_requests",
        "max_batch": "max_batch_requests",
        "utilisation": "utilisation_share",
        "link_wait": "link_wait_share",
    },
    TrainResult: {"mfu": "mfu_share", "cost": "cost_amount", "link_wait": "link_wait_share"},
    RoomResult: {"pue": "pue_ratio", "throttled_speed": "throttled_speed_share", "limits": "limits_w"},
    Failures: {
        "rate_per_year": "rate_per_year_share",
        "expected": "expected_cards",
        "any_chance": "any_failure_share",
        "spares_hold": "spares_hold_share",
        "sure": "sure_share",
    },
    SupplyResult: {"volts": "voltage_v", "amps": "breaker_a"},
    FabricResult: {"oversubscription": "oversubscription_ratio", "slowdown": "slowdown_ratio"},
    Wait: {"share": "waiting_share"},
    MoneyLine: {"unit_price": "unit_price_amount"},
    MoneyResult: {
        name: f"{name}_amount"
        for name in (
            "purchase",
            "electricity_per_year",
            "running_per_year",
            "rent_per_year",
            "resale",
            "total_over_term",
            "per_million_tokens",
            "per_run",
            "cloud_per_year",
            "cumulative",
            "cumulative_low",
            "cumulative_high",
            "cloud_cumulative",
        )
    },
}
# What is said in a sentence too, in the language in force.
_SPOKEN = (Check, Finding, Headline)


def results_to_json(plan: Plan, results: Results) -> dict[str, Any]:
    """The results of a plan, ready for `json.dumps(..., allow_nan=False)`."""
    return {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "plan": plan.name,
        **_record(results, results.currency),
    }


def results_schema() -> dict[str, Any]:
    """The JSON Schema of `results_to_json`, derived from the records of the results."""
    definitions: dict[str, Any] = {}
    _schema_of(Results, definitions)
    fields = definitions.pop(Results.__name__)
    head = {
        "format": {"const": FORMAT},
        "format_version": {"const": FORMAT_VERSION},
        "plan": {"type": "string"},
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "GPU Planner results",
        **fields,
        "properties": {**head, **fields["properties"]},
        "required": [*head, *fields["required"]],
        "$defs": definitions,
    }


def _key_of(kind: type, name: str) -> str:
    return _KEYS.get(kind, {}).get(name, name)


def _record(record: Any, currency: str) -> dict[str, Any]:
    kind = type(record)
    data: dict[str, Any] = {}
    for name in kind._fields:
        value = getattr(record, name)
        if kind is RoomResult and name == "limits":
            data["limits_w"] = {limit: _number(watts) for limit, watts in value}
        else:
            data[_key_of(kind, name)] = _value(value, currency)
    if kind is MemoryUse:
        data["used_bytes"] = _number(record.used)
    if isinstance(record, Results):
        data["headline"]["text"] = headline(record)
    if isinstance(record, Check | Finding):
        data["text"] = facts.sentence(record.key, record.numbers, currency) if record.key else ""
    return data


def _value(value: Any, currency: str) -> Any:
    if isinstance(value, Figure):
        return figure_to_json(value)
    if hasattr(value, "_fields"):
        return _record(value, currency)
    if isinstance(value, Mapping):
        return {str(key): _value(one, currency) for key, one in value.items()}
    if isinstance(value, frozenset):
        return sorted(value)
    if isinstance(value, tuple | list):
        return [_value(one, currency) for one in value]
    if value is None or isinstance(value, bool | str):
        return value
    return _number(value)


def figure_to_json(figure: Figure) -> dict[str, Any]:
    """One figure with its band, how it came about, and its parts."""
    data: dict[str, Any] = {
        "value": _number(figure.value),
        "low": _number(figure.low),
        "high": _number(figure.high),
        "basis": figure.basis,
    }
    if word := evidence.confidence_of(figure):
        data["confidence"] = word
    if figure.parts:
        parts: dict[str, float | None] = {}
        for part in figure.parts:
            before, here = parts.get(part.name, 0.0), _number(part.value)
            parts[part.name] = None if before is None or here is None else before + here
        data["parts"] = parts
    if figure.note:
        data["note"] = figure.note
    return data


def _number(value: Any) -> int | float | None:
    """A plain number; null for what is not finite, as for what is not known.

    numpy's own kinds of number become Python's.
    """
    if value is None:
        return None
    if isinstance(value, int):
        return int(value)
    number = float(value)
    return number if math.isfinite(number) else None


# --- the schema ------------------------------------------------------------------


def _schema_of(kind: Any, definitions: dict[str, Any]) -> dict[str, Any]:
    origin, inner = get_origin(kind), get_args(kind)
    if kind is Figure:
        definitions.setdefault("Figure", _figure_schema())
        return {"$ref": "#/$defs/Figure"}
    if isinstance(kind, type) and hasattr(kind, "_fields"):
        return _record_schema(kind, definitions)
    if origin is Literal:
        return {"enum": list(inner)}
    if origin in (Union, types.UnionType):
        return _union_schema(inner, definitions)
    if origin in (dict, Mapping):
        return {"type": "object", "additionalProperties": _schema_of(inner[1], definitions)}
    if origin is frozenset:
        return {"type": "array", "items": _schema_of(inner[0], definitions)}
    if origin is tuple:
        return {"type": "array", "items": _schema_of(inner[0], definitions)}
    # A number that is not finite is not known.
    names: dict[Any, Any] = {str: "string", bool: "boolean", int: "integer", float: ["number", "null"]}
    return {"type": names[kind]} if kind in names else {}


def _union_schema(kinds: tuple[Any, ...], definitions: dict[str, Any]) -> dict[str, Any]:
    choices = [_schema_of(kind, definitions) for kind in kinds if kind is not type(None)]
    if type(None) in kinds and {"type": ["number", "null"]} not in choices:
        choices.append({"type": "null"})
    return choices[0] if len(choices) == 1 else {"anyOf": choices}


def _record_schema(kind: Any, definitions: dict[str, Any]) -> dict[str, Any]:
    name = kind.__name__
    reference = {"$ref": f"#/$defs/{name}"}
    if name in definitions:
        return reference
    definitions[name] = {}
    hints = get_type_hints(kind)
    properties = {_key_of(kind, field): _schema_of(hints[field], definitions) for field in kind._fields}
    if kind is RoomResult:
        properties["limits_w"] = {"type": "object", "additionalProperties": {"type": ["number", "null"]}}
    if kind is MemoryUse:
        properties["used_bytes"] = {"type": ["number", "null"]}
    if kind in _SPOKEN:
        properties["text"] = {"type": "string"}
    definitions[name] = {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
    return reference


def _figure_schema() -> dict[str, Any]:
    number = {"type": ["number", "null"]}
    basis = get_type_hints(Figure)["basis"]
    return {
        "type": "object",
        "properties": {
            "value": number,
            "low": number,
            "high": number,
            "basis": {"enum": list(get_args(basis))},
            "confidence": {"enum": ["good", "fair", "rough"]},
            "parts": {"type": "object", "additionalProperties": number},
            "note": {"type": "string"},
        },
        "required": ["value", "low", "high", "basis"],
        "additionalProperties": False,
    }
