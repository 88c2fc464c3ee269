import json
import math
import re

import pytest

from gpuplanner.i18n import using
from gpuplanner.model.results import NOT_KNOWN, Figure, Part, exact
from gpuplanner.report.results_json import results_schema, results_to_json
from tests.ui import sample_results

# Keys that need no unit: names, counts of things, and what is written in words.
WITHOUT_UNIT = set(
    """
    format format_version plan demands scenarios headline findings baseline currency model_version calibration_id
    workload letter name group summary key level text numbers status scenario best other auto basis value low high parts
    note serve train room money choice refusal fits memory curve binds speed room_check money_check formats quantity
    gpus servers racks rack_units groups lines limits_w oldest_price llm runtime version engine weights compute kv tp
    pp dp ep cp attention_dp max_sequences micro_batch sharding recompute optimizer interleave global_batch
    fabrics fabric nics switch radix single_switch leaf spine core cables_node_leaf cables_leaf_spine cables_spine_core
    ports ports_used too_large number failures cards spares expected_cards
    network_racks supply climate feeds phases plug network_circuits circuits circuits_per_server circuits_per_rack
    servers_per_rack rack_binds psus psus_left cord feed_loss ups_modules coolant envelope air_class
    downlinks_per_leaf uplinks_per_leaf waits phase link between_servers
    own own_rows row rows family metric measured predicted reason
    """.split()
)
UNIT = re.compile(
    r"_(s|w|bytes|requests|share|ratio|amount|months|kwh|kwh_per_year|flop_per_request|c|kg|tons|btu_h|m3_s|hours|j|units|k|v|a|va)$"
    r"|_s_(limit|end_of_term)$|_j_per_token$|_s_limit$|^(amount|months)$|_tokens_s$"
)


@pytest.fixture(params=["serve", "train", "empty"])
def sample(request):
    plan = {"serve": sample_results.plan, "train": sample_results.train_plan, "empty": sample_results.empty_plan}
    results = {
        "serve": sample_results.results,
        "train": sample_results.train_results,
        "empty": sample_results.empty_results,
    }
    return plan[request.param](), results[request.param]()


def conforms(value, schema, definitions) -> None:
    """Whether a value has the types, keys and words that a schema (of the few forms that are used here) asks for."""
    if "$ref" in schema:
        schema = definitions[schema["$ref"].rsplit("/", 1)[-1]]
    if "anyOf" in schema:
        for choice in schema["anyOf"]:
            try:
                return conforms(value, choice, definitions)
            except AssertionError:
                continue
        raise AssertionError(f"{value!r} is none of {schema['anyOf']}")
    if "const" in schema:
        assert value == schema["const"]
    if "enum" in schema:
        assert value in schema["enum"]
    if "type" in schema:
        python = {"string": str, "boolean": bool, "integer": int, "number": (int, float), "null": type(None)}
        python |= {"object": dict, "array": list}
        kinds = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
        assert any(isinstance(value, python[kind]) for kind in kinds), f"{value!r} is not {kinds}"
    if isinstance(value, dict):
        known = schema.get("properties", {})
        assert set(schema.get("required", ())) <= set(value)
        for key, inner in value.items():
            assert key in known or schema.get("additionalProperties", True), key
            conforms(inner, known.get(key, schema.get("additionalProperties", {})) or {}, definitions)
    if isinstance(value, list):
        for inner in value:
            conforms(inner, schema.get("items", {}), definitions)


def test_results_round_trip_through_json(sample):
    data = results_to_json(*sample)
    assert json.loads(json.dumps(data, allow_nan=False)) == data


def test_results_conform_to_their_schema(sample):
    schema = results_schema()
    conforms(results_to_json(*sample), schema, schema["$defs"])


def test_every_key_of_a_figure_names_its_unit():
    schema = results_schema()
    records = [schema, *(record for name, record in schema["$defs"].items() if name != "Figure")]
    keys = {key for record in records for key in record["properties"]}
    assert {key for key in keys if key not in WITHOUT_UNIT and not UNIT.search(key)} == set()


def test_a_figure_is_value_low_high_and_basis():
    results = sample_results.results()
    serve = results_to_json(sample_results.plan(), results)["scenarios"][0]["serve"][0]
    figure = results.scenarios[0].serve[0].per_token_s
    assert serve["per_token_s"] == {
        "value": figure.value,
        "low": figure.low,
        "high": figure.high,
        "basis": "predicted",
        # 21 / 17 and 17 / 14 are below 1.35.
        "confidence": "good",
        "parts": {part.name: part.value for part in figure.parts},
    }


def _first_token(figure: Figure):
    results = sample_results.results()
    first = results.scenarios[0]
    first = first._replace(serve=(first.serve[0]._replace(first_token_s=figure),))
    data = results_to_json(sample_results.plan(), results._replace(scenarios=(first,)))
    return data["scenarios"][0]["serve"][0]["first_token_s"]


def test_what_is_not_known_is_null_with_its_reason():
    assert _first_token(NOT_KNOWN._replace(note="no_bandwidth")) == {
        "value": None,
        "low": None,
        "high": None,
        "basis": "not known",
        "note": "no_bandwidth",
    }


def test_what_is_not_finite_is_null():
    assert _first_token(Figure(math.inf, 1.0, math.nan, "predicted"))["value"] is None


def test_parts_of_the_same_name_add_up():
    parts = (Part("prefill", 1.0), Part("queue", 2.0), Part("prefill", 0.5))
    assert _first_token(exact(3.5, "predicted", parts))["parts"] == {"prefill": 1.5, "queue": 2.0}


def test_keys_do_not_depend_on_the_language(sample):
    def keys(value):
        if isinstance(value, dict):
            return {key: keys(inner) for key, inner in value.items()}
        return [keys(inner) for inner in value] if isinstance(value, list) else None

    with using("zh"):
        chinese = results_to_json(*sample)
    assert keys(chinese) == keys(results_to_json(*sample))
