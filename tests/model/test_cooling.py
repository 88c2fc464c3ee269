"""Heat, air and water, against published figures and the arithmetic they rest on."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuplanner.model.cooling import (
    ASHRAE_CLASSES,
    PG25,
    WATER,
    air_density_ratio,
    air_flow,
    air_temperature_rise,
    blended_pue,
    coolant_flow,
    cooling_tons,
    heat_btu_h,
    heat_of_tons,
    inlet_check,
    liquid_split,
    pue_of_parts,
)
from gpuplanner.units import LITRES_PER_M3, M3_H_PER_CFM, SECONDS_PER_HOUR, SECONDS_PER_MINUTE

watts = st.floats(1.0, 1e8)
rises = st.floats(0.5, 60.0)
altitudes = st.floats(0.0, 5000.0)


@pytest.mark.parametrize(("power_w", "printed_btu_h"), [(6500.0, 22_179), (14_300.0, 48_794)])
def test_heat_of_a_server_is_what_its_user_guide_prints(power_w, printed_btu_h):
    # DGX A100 and DGX B200 user guides, printed to 1 BTU/h.
    assert heat_btu_h(power_w) == pytest.approx(printed_btu_h, abs=1.0)


def test_a_ton_of_refrigeration_is_twelve_thousand_btu_an_hour():
    assert heat_btu_h(heat_of_tons(1.0)) == pytest.approx(12_000, rel=1e-5)
    assert cooling_tons(heat_of_tons(7.0)) == pytest.approx(7.0)


@pytest.mark.parametrize(("altitude_m", "pressure_kpa"), [(0, 101.325), (1000, 89.874), (3000, 70.109), (5000, 54.020)])
def test_air_thins_as_the_standard_atmosphere_says(altitude_m, pressure_kpa):
    # U.S. Standard Atmosphere, 1976, table of pressure against geopotential height, five digits.
    assert air_density_ratio(altitude_m) == pytest.approx(pressure_kpa / 101.325, rel=2e-4)


def test_a_kilowatt_at_ten_kelvin_needs_297_cubic_metres_an_hour():
    # 1000 W / (1.204 kg/m³ · 1006 J/(kg K) · 10 K) = 0.08256 m³/s.
    assert air_flow(1000.0, 10.0) == pytest.approx(0.08256, rel=1e-4)
    assert air_flow(1000.0, 10.0) * SECONDS_PER_HOUR == pytest.approx(297.2, rel=1e-3)


def test_the_published_air_flow_of_a_dgx_h100_warms_by_about_16_kelvin():
    # User guide: 10.2 kW, 1,105 CFM. By hand: 1105 CFM = 0.5215 m³/s; 10200 / (0.5215 · 1211.2) = 16.15 K.
    assert air_temperature_rise(10_200.0, 1105 * M3_H_PER_CFM / SECONDS_PER_HOUR) == pytest.approx(16.15, abs=0.01)


def test_a_gb200_rack_needs_the_water_that_its_notes_quote():
    # 115 kW at 10 K: 165 L/min.
    flow_l_min = coolant_flow(115e3, 10.0) * LITRES_PER_M3 * SECONDS_PER_MINUTE
    assert flow_l_min == pytest.approx(165, abs=0.6)


def test_glycol_needs_more_flow_than_water():
    assert coolant_flow(1e4, 10.0, *PG25) > coolant_flow(1e4, 10.0, *WATER)


@given(heat=watts, rise=rises, altitude=altitudes)
def test_twice_the_heat_needs_twice_the_air(heat, rise, altitude):
    assert air_flow(2 * heat, rise, altitude) == pytest.approx(2 * air_flow(heat, rise, altitude))


@given(heat=watts, rise=rises, altitude=altitudes)
def test_the_flow_for_a_rise_gives_that_rise(heat, rise, altitude):
    assert air_temperature_rise(heat, air_flow(heat, rise, altitude), altitude) == pytest.approx(rise)


@given(heat=watts, rise=rises, low=altitudes, high=altitudes)
def test_a_higher_site_never_needs_less_air(heat, rise, low, high):
    low, high = sorted((low, high))
    assert air_flow(heat, rise, high) >= air_flow(heat, rise, low)


@given(heat=watts, share=st.floats(0.0, 1.0))
def test_liquid_and_air_take_all_of_the_heat(heat, share):
    split = liquid_split(heat, share)
    assert split.liquid_w + split.air_w == pytest.approx(heat)
    assert split.liquid_w >= 0 and split.air_w >= -1e-9 * heat


@pytest.mark.parametrize(
    ("name", "low", "high"), [("A1", 15, 32), ("A2", 10, 35), ("A3", 5, 40), ("A4", 5, 45), ("H1", 5, 25)]
)
def test_a_room_class_allows_its_envelope_and_no_more(name, low, high):
    # ASHRAE TC 9.9, fifth edition.
    inlet = np.array([low - 0.1, low, high, high + 0.1])
    assert inlet_check(inlet, ASHRAE_CLASSES[name], 100.0).room_ok.tolist() == [False, True, True, False]


def test_a_server_limit_below_the_room_class_decides():
    # A DGX H100 (30 °C) in an A2 room at 32 °C.
    check = inlet_check(32.0, ASHRAE_CLASSES["A2"], 30.0)
    assert check.room_ok and not check.system_ok


def test_a_room_class_below_the_server_limit_decides():
    # A server that stands 35 °C in an A1 room at 33 °C.
    check = inlet_check(33.0, ASHRAE_CLASSES["A1"], 35.0)
    assert not check.room_ok and not check.system_ok


def test_pue_counts_the_losses_and_their_cooling():
    # 1/0.9 = 1.1111 into the chain; 1.1111/4 = 0.2778 to cool it; 0.02 for the rest.
    assert pue_of_parts(0.9, 4.0, 0.02) == pytest.approx(1.4089, abs=1e-4)
    assert pue_of_parts(1.0, np.inf) == 1.0


@given(efficiency=st.floats(0.5, 1.0), cop=st.floats(1.0, 50.0), other=st.floats(0.0, 0.5))
def test_pue_is_never_below_one_and_falls_with_a_better_plant(efficiency, cop, other):
    assert pue_of_parts(efficiency, cop, other) >= 1.0
    assert pue_of_parts(efficiency, cop * 2, other) < pue_of_parts(efficiency, cop, other)


@given(share=st.floats(0.0, 1.0), liquid=st.floats(1.0, 2.0), air=st.floats(1.0, 2.0))
def test_a_blend_lies_between_its_parts(share, liquid, air):
    assert min(liquid, air) - 1e-12 <= blended_pue(share, liquid, air) <= max(liquid, air) + 1e-12
