"""Power of cards and servers against readings and the figures that makers print."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from planning import A100, H100, RTX4090, catalog

from gpuplanner.model import power
from gpuplanner.model.bands import total
from gpuplanner.model.results import exact

shares = st.floats(0.0, 1.0)


def test_a_v100_at_half_its_power_keeps_two_thirds_of_its_speed():
    # Zeus cap sweep: 63 % measured; half of 300 W over 40 W idle is 0.42 of the range. A factor of 1.4 is stated there.
    speed = float(power.power_cap_speed(np.array((150 - 40) / (300 - 40))))
    assert 0.63 / 1.4 <= speed <= 0.63 * 1.4


def test_decode_hardly_feels_a_cap_at_two_thirds():
    # RTX 3090 sweep: nearly flat down to about 60 %.
    assert float(power.power_cap_speed(np.array(0.65), False)) == pytest.approx(1.0)
    assert float(power.power_cap_speed(np.array(0.60), False)) > 0.95


def test_compute_follows_the_power_to_the_inverse_of_2_7():
    # 0.8^(1/2.7) = e^(ln 0.8 / 2.7) = 0.9206.
    assert float(power.power_cap_speed(np.array(0.8))) == pytest.approx(0.9206, abs=1e-4)


@pytest.mark.parametrize("compute_bound", [True, False])
def test_nothing_is_left_of_the_speed_where_a_cap_leaves_no_power(compute_bound):
    assert float(power.power_cap_speed(np.array(0.0), compute_bound)) == 0.0
    assert float(power.power_cap_speed(np.array(1.0), compute_bound)) == pytest.approx(1.0)


@given(shares, shares, st.booleans())
def test_a_lower_cap_is_never_faster(first, second, compute_bound):
    low, high = sorted((first, second))
    slow, fast = (float(power.power_cap_speed(np.array(share), compute_bound)) for share in (low, high))
    assert slow <= fast + 1e-12


@given(shares, shares)
def test_a_busy_card_draws_between_idle_and_its_limit(memory, compute):
    drawn = float(power.gpu_power(np.array(75.0), np.array(700.0), memory, compute, catalog().calibration))
    assert 75.0 <= drawn <= 700.0


def test_a_busy_card_follows_the_fit_of_the_benchmark():
    # Shares by hand on 314 runs: 0.3 + 0.3 of memory at work + 0.9 of the matrix units' activity; memory half of the
    # time and matrix units a tenth: 75 + 625 × (0.3 + 0.15 + 0.9 × √0.1) = 534 W.
    # The rows of a later fit may move the three shares by a few hundredths.
    drawn = float(power.gpu_power(np.array(75.0), np.array(700.0), 0.5, 0.1**0.5, catalog().calibration))
    assert drawn == pytest.approx(534.0, rel=0.1)


@pytest.mark.parametrize(("liquid", "kw"), [(True, 7.108), (False, 8.008)])
def test_a_server_of_eight_h100_that_trains_draws_what_was_read_at_the_wall(liquid, kw):
    # 1.9 kW (liquid) or 2.8 kW (air) beside 8 × 0.93 × 700 W; LoRA readings 6.95 to 7.16 kW with liquid.
    base, _extra = power.chassis_power(catalog(), "hgx_h100_h200", liquid, 8 * 700.0)
    assert power.server_power(base.value, 8, power.TRAINING_SHARE_OF_TDP * 700.0) == pytest.approx(1000 * kw)
    assert base.basis == "assumed" and base.low < base.value < base.high


def test_the_type_plate_of_a_dgx_h100_is_the_makers():
    # DGX H100 user guide: 10.2 kW.
    server = catalog().servers["DGX H100"]
    _base, extra = power.chassis_power(catalog(), server.server_class, False, 5600.0)
    assert power.nameplate(server, 8, exact(5600.0, "known"), extra)[:4] == (10_200.0, 10_200.0, 10_200.0, "known")


def test_a_server_that_is_not_full_has_the_type_plate_of_its_class():
    server = catalog().servers["DGX H100"]
    _base, extra = power.chassis_power(catalog(), server.server_class, False, 2800.0)
    plate = power.nameplate(server, 4, exact(2800.0, "known"), extra)
    assert plate == total([exact(2800.0, "known"), extra])
    assert plate.basis == "assumed"


def test_no_card_idles_above_its_limit():
    for gpu in catalog().gpus.values():
        idle, limit = power.idle_power(gpu, catalog()), power.board_power(gpu, catalog())
        assert idle.low <= idle.value <= idle.high, gpu.name
        assert idle.value < limit.value, gpu.name


def test_a_card_without_published_power_is_marked_assumed():
    unknown = [gpu for gpu in catalog().gpus.values() if gpu.board_power_w is None]
    assert unknown
    for gpu in unknown:
        figure = power.board_power(gpu, catalog())
        assert figure.basis == "assumed" and figure.low < figure.value


def test_idle_power_is_the_makers_where_there_is_one_and_a_class_value_elsewhere():
    for name in (H100, A100, RTX4090):
        gpu = catalog().gpus[name]
        figure = power.idle_power(gpu, catalog())
        assert figure.basis == ("known" if gpu.idle_power_w is not None else "assumed")


@pytest.mark.parametrize(("cooling", "liquid"), [("air", False), ("direct liquid", True), ("liquid or air", False)])
def test_a_server_counts_as_liquid_cooled_only_without_air(cooling, liquid):
    assert power.is_liquid(cooling) is liquid


@given(st.integers(1, 72), st.integers(1, 72))
def test_a_rack_with_more_cards_never_idles_lower(first, second):
    low, high = sorted((first, second))
    few, many = (power.server_idle(catalog(), None, "rack_scale", count, 72, 165.0) for count in (low, high))
    assert few.value <= many.value


def test_a_full_rack_idles_as_it_was_read():
    # Class value: 40 kW (30 to 50) for 72 cards.
    assert power.server_idle(catalog(), None, "rack_scale", 72, 72, 165.0)[:3] == (40_000.0, 30_000.0, 50_000.0)
