"""The calculations of the command line, against every worked case, and what they refuse."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuplanner.model.calc import CALCULATIONS, SMALLEST_POSITIVE, CalcError, compute, read_inputs

CASES = json.loads((Path(__file__).parents[1] / "cases" / "facility.json").read_text(encoding="utf-8"))
FORMULAS = [case for case in CASES if case["kind"] == "formula"]

# The contract of the command line: inputs and outputs by calculation.
TABLE = {
    "heat_load": ("heat_kw", "heat_btu_h cooling_tons"),
    "tons_to_kw": ("cooling_tons", "heat_kw heat_btu_h"),
    "airflow": ("heat_kw delta_t_k altitude_m density_kg_m3 cp_j_kg_k", "airflow_m3_h airflow_cfm density_ratio"),
    "air_temperature_rise": ("heat_kw airflow_cfm altitude_m", "delta_t_k"),
    "coolant_flow": ("heat_kw delta_t_k fluid cp_j_kg_k density_kg_m3", "coolant_l_min coolant_gpm"),
    "liquid_split": ("rack_kw liquid_share", "liquid_kw air_kw"),
    "energy_cost_year": ("it_kw load_factor pue price_per_kwh", "energy_mwh_year cost_year"),
    "facility_power": ("systems system_kw pue", "it_kw facility_kw"),
    "rack_budget": ("gpus_per_node gpu_kw cpu_kw static_node_kw nodes", "managed_node_kw node_kw rack_kw"),
    "run_energy": ("nodes node_w duration_s", "energy_kwh total_kw"),
    "inlet_check": ("inlet_c ashrae_class system_inlet_max_c", "room_ok system_ok"),
    "circuit_capacity": ("volts amps phases continuous_factor", "capacity_kva continuous_kva"),
    "circuit_feeds": (
        "systems system_kw volts amps phases continuous_factor power_factor feeds_per_system",
        "usable_kw_per_feed systems_per_feed feeds",
    ),
    "feed_loss": ("psus feeds psu_kw system_kw", "psus_per_feed psus_after_loss full_performance"),
    "ups_modules": ("load_kw module_kw spare_modules", "modules_for_load modules installed_kw"),
    "rack_feed": (
        "systems system_kw circuits volts amps phases continuous_factor power_factor",
        "load_kw capacity_kva headroom_kw fits",
    ),
    "racks_needed": ("systems systems_per_rack system_kw", "racks rack_kw total_kw"),
    "rack_fit": ("rack_kw system_kw", "systems"),
    "rail_fabric": (
        "scalable_units nodes_per_unit nics_per_node gpus_per_node switch_radix displaced_nodes manager_links "
        "rails_isolated",
        "nodes gpus rails leaf_switches spine_switches core_switches downlinks_per_leaf uplinks_per_leaf "
        "cables_node_leaf cables_node_leaf_and_manager cables_leaf_spine cables_spine_core single_switch ports_used",
    ),
    "fat_tree_limit": ("switch_radix", "endpoints_2_tiers endpoints_3_tiers"),
    "fat_tree": ("endpoints switch_radix", "single_switch leaf_switches spine_switches_by_ports"),
    "node_bandwidth": ("nics nic_gbit_s", "node_gb_s"),
    "bus_bandwidth": ("ranks algbw_gb_s", "busbw_gb_s factor_all_reduce factor_all_gather"),
    "allreduce_time": ("ranks message_bytes busbw_gb_s", "time_s"),
    "failure_rate": ("gpus days failures", "hours_between_failures failures_per_gpu_year"),
    "time_between_failures": ("gpus failures_per_gpu_year", "hours_between_failures"),
}

RACK = {
    "systems": 2,
    "system_kw": 14.3,
    "circuits": 2,
    "volts": 380,
    "amps": 32,
    "phases": 3,
    "continuous_factor": 0.8,
    "power_factor": 0.95,
}


def agrees(expected, computed, tolerance):
    if tolerance.get("exact") or isinstance(expected, bool):
        return computed == expected
    return abs(computed - expected) <= tolerance.get("rel", 0.0) * abs(expected) + tolerance.get("abs", 0.0)


@pytest.mark.parametrize("case", FORMULAS, ids=lambda case: case["id"])
def test_a_worked_case_agrees_within_its_stated_tolerance(case):
    computed = compute(case["calc"], case["inputs"])
    wrong = {
        key: (expected, computed[key])
        for key, expected in case["expected"].items()
        if not agrees(expected, computed[key], case["tolerance"])
    }
    assert not wrong


def test_every_formula_case_is_there():
    assert len(FORMULAS) == 88


@pytest.mark.parametrize("name", TABLE)
def test_a_calculation_has_the_keys_of_the_contract(name):
    inputs, outputs = TABLE[name]
    calculation = CALCULATIONS[name]
    assert [entry.key for entry in calculation.inputs] == inputs.split()
    assert list(calculation.outputs) == outputs.split()
    assert calculation.rule


def test_the_contract_names_every_calculation():
    assert list(CALCULATIONS) == list(TABLE)


@pytest.mark.parametrize(
    ("name", "inputs", "expected"),
    [
        # Four nodes of 7 kW for half an hour.
        ("run_energy", {"nodes": 4, "node_w": 7000, "duration_s": 1800}, {"energy_kwh": 14.0, "total_kw": 28.0}),
        # 13 servers of 10.2 kW, four a rack.
        (
            "racks_needed",
            {"systems": 13, "systems_per_rack": 4, "system_kw": 10.2},
            {"racks": 4, "rack_kw": 40.8, "total_kw": 132.6},
        ),
        # 1.75 · 1 GB at 350 GB/s.
        ("allreduce_time", {"ranks": 8, "message_bytes": 1e9, "busbw_gb_s": 350}, {"time_s": 0.005}),
        # 419 failures on 16,384 GPUs in 54 days.
        (
            "failure_rate",
            {"gpus": 16384, "days": 54, "failures": 419},
            {"hours_between_failures": 3.0931, "failures_per_gpu_year": 0.17286},
        ),
        (
            "inlet_check",
            {"inlet_c": 32, "ashrae_class": "A2", "system_inlet_max_c": 30},
            {"room_ok": True, "system_ok": False},
        ),
    ],
)
def test_a_calculation_without_a_published_case_agrees_with_hand_arithmetic(name, inputs, expected):
    assert compute(name, inputs) == pytest.approx(expected, rel=1e-4)


@pytest.mark.parametrize("case", FORMULAS, ids=lambda case: case["id"])
def test_outputs_are_plain_and_complete(case):
    computed = compute(case["calc"], case["inputs"])
    assert list(computed) == list(CALCULATIONS[case["calc"]].outputs)
    assert all(type(value) in (int, float, bool) for value in computed.values())
    assert json.loads(json.dumps(computed, allow_nan=False)) == computed


@pytest.mark.parametrize(
    ("name", "inputs", "word"),
    [
        ("heat", {}, "heat_load"),
        ("heat_load", {}, "heat_kw"),
        ("heat_load", {"heat_kw": 1, "heat_w": 1}, "heat_w"),
        ("heat_load", {"heat_kw": "1"}, "finite number"),
        ("heat_load", {"heat_kw": True}, "finite number"),
        ("heat_load", {"heat_kw": None}, "finite number"),
        ("heat_load", {"heat_kw": math.nan}, "finite number"),
        ("heat_load", {"heat_kw": math.inf}, "finite number"),
        ("heat_load", {"heat_kw": -1}, "between"),
        ("heat_load", {"heat_kw": 10**400}, "between"),
        ("airflow", {"heat_kw": 1, "delta_t_k": 0}, "above 0"),
        ("airflow", {"heat_kw": 1, "delta_t_k": 10, "altitude_m": 20_000}, "between"),
        ("energy_cost_year", {"it_kw": 1, "load_factor": 1.2, "pue": 1.4, "price_per_kwh": 0.1}, "load_factor"),
        ("energy_cost_year", {"it_kw": 1, "load_factor": 1, "pue": 0.9, "price_per_kwh": 0.1}, "pue"),
        ("rack_feed", {**RACK, "phases": 2}, "one of 1, 3"),
        ("rack_feed", {**RACK, "systems": 1.5}, "whole number"),
        ("fat_tree_limit", {"switch_radix": 63}, "multiple of 2"),
        ("fat_tree", {"endpoints": 2049, "switch_radix": 64}, "2,048"),
        ("inlet_check", {"inlet_c": 20, "ashrae_class": "A9", "system_inlet_max_c": 30}, "A1, A2, A3, A4, H1"),
        ("inlet_check", {"inlet_c": 20, "ashrae_class": 1, "system_inlet_max_c": 30}, "word"),
        ("failure_rate", {"gpus": 8, "days": 30, "failures": 0}, "failures"),
        (
            "rail_fabric",
            {**dict.fromkeys(TABLE["rail_fabric"][0].split()[:5], 8), "rails_isolated": 1},
            "true or false",
        ),
        ("rail_fabric", {**dict.fromkeys(TABLE["rail_fabric"][0].split()[:5], 8), "displaced_nodes": 64}, "64"),
        ("rail_fabric", {**dict.fromkeys(TABLE["rail_fabric"][0].split()[:5], 8)}, "128"),
        ("time_between_failures", {"gpus": 1, "failures_per_gpu_year": 5e-324}, "between"),
    ],
)
def test_a_bad_input_is_refused_in_one_sentence(name, inputs, word):
    with pytest.raises(CalcError) as refusal:
        compute(name, inputs)
    sentence = str(refusal.value)
    assert word in sentence
    assert sentence.endswith(".") and "\n" not in sentence


def test_inputs_with_a_default_may_be_left_out():
    short = {"heat_kw": 1, "delta_t_k": 10}
    full = {**short, "altitude_m": 0, "density_kg_m3": 1.204, "cp_j_kg_k": 1006}
    assert compute("airflow", short) == compute("airflow", full)


def test_a_whole_float_is_a_count():
    assert compute("rack_feed", {**RACK, "systems": 2.0}) == compute("rack_feed", RACK)


def test_texts_of_a_command_line_become_inputs():
    texts = {
        "inlet_check": {"inlet_c": "24.5", "ashrae_class": "H1", "system_inlet_max_c": "30"},
        "fat_tree": {"endpoints": "1024", "switch_radix": "64"},
    }
    assert compute("inlet_check", read_inputs("inlet_check", texts["inlet_check"]))["system_ok"] is True
    assert compute("fat_tree", read_inputs("fat_tree", texts["fat_tree"]))["leaf_switches"] == 32
    assert read_inputs("rail_fabric", {"rails_isolated": "true"}) == {"rails_isolated": True}


@pytest.mark.parametrize(
    ("name", "texts"),
    [
        ("heat_load", {"heat_kw": "many"}),
        ("heat_load", {"heat_kw": "nan"}),
        ("rail_fabric", {"rails_isolated": "1"}),
        ("nothing", {"heat_kw": "1"}),
    ],
)
def test_a_text_of_the_wrong_kind_is_refused(name, texts):
    with pytest.raises(CalcError):
        read_inputs(name, texts)


def ends(entry):
    """The smallest and the largest value that an input may have, and one between."""
    if entry.kind == "boolean":
        return st.booleans()
    if entry.kind == "label":
        return st.sampled_from(entry.choices or ("water",))
    least = SMALLEST_POSITIVE if entry.positive else entry.minimum
    if entry.kind == "number":
        return st.sampled_from([least, entry.maximum]) | st.floats(least, entry.maximum)
    if entry.choices:
        return st.sampled_from(entry.choices)
    steps = st.integers(-(-int(least) // entry.multiple_of), int(entry.maximum) // entry.multiple_of)
    return steps.map(lambda step: step * entry.multiple_of)


@given(name=st.sampled_from(sorted(CALCULATIONS)), data=st.data())
def test_every_allowed_input_gives_finite_outputs_or_a_sentence(name, data):
    inputs = {entry.key: data.draw(ends(entry), label=entry.key) for entry in CALCULATIONS[name].inputs}
    with np.errstate(over="raise", divide="raise", invalid="raise"):
        try:
            computed = compute(name, inputs)
        except CalcError as refusal:
            assert str(refusal)
            return
    assert all(math.isfinite(value) for value in computed.values())
