"""Circuits, racks, energy and failures, by hand calculation and published examples."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuplanner.model.facility import (
    circuit_capacity,
    circuit_feeds,
    energy_cost,
    energy_per_year,
    facility_power,
    failure_rate,
    feed_loss,
    rack_budget,
    rack_feed,
    rack_fit,
    racks_needed,
    run_energy,
    time_between_failures,
    units_to_cover,
    ups_modules,
    whole_units,
)

KWH = 3.6e6

counts = st.integers(1, 2000)
watts = st.floats(100.0, 1e6)


def test_ten_servers_at_seven_tenths_load_take_876_mwh_a_year():
    # 102 kW · 0.7 · 1.4 · 8760 h = 875,650 kWh; at 0.10 each 87,565.
    energy_j = energy_per_year(102e3, 0.7, 1.4)
    assert energy_j / KWH == pytest.approx(875_650, abs=1)
    assert energy_cost(energy_j, 0.1 / KWH) == pytest.approx(87_565, abs=1)


def test_a_site_draws_its_equipment_times_pue():
    power = facility_power(13, 10_200.0, 1.4)
    assert power.it_w == pytest.approx(132_600)
    assert power.facility_w == pytest.approx(185_640)


def test_a_gb300_rack_has_the_budget_that_nvidia_prints():
    # Mission Control power FAQ: 4 · 1.4 + 1.0 = 6.6 kW managed, 7.5 kW a tray, 18 trays 135 kW.
    budget = rack_budget(4, 1400.0, 1000.0, 900.0, 18)
    assert [budget.managed_node_w, budget.node_w, budget.rack_w] == pytest.approx([6600, 7500, 135_000])


def test_a_run_of_an_hour_takes_its_power_in_kilowatt_hours():
    run = run_energy(4, 7000.0, 3600.0)
    assert run.total_w == 28_000
    assert run.energy_j / KWH == pytest.approx(28.0)


def test_three_phases_carry_root_three_times_one():
    capacity = circuit_capacity(415.0, 32.0, np.array([1, 3]), 0.8)
    # 415 · 32 = 13.28 kVA; √3 of it 23.00 kVA, 18.40 kVA for ever.
    assert capacity.capacity_va == pytest.approx([13_280, 23_002], rel=1e-4)
    assert capacity.continuous_va == pytest.approx([10_624, 18_402], rel=1e-4)


def test_doubled_feeds_carry_one_h100_server_each():
    # 18.40 kVA · 0.95 = 17.48 kW: one server of 10.2 kW a feed, twice for 2N.
    feeds = circuit_feeds(4, 10_200.0, 18_402.0, 0.95, 2)
    assert feeds.usable_w_per_feed == pytest.approx(17_482, abs=1)
    assert (feeds.systems_per_feed, feeds.feeds) == (1, 8)


def test_a_system_larger_than_a_feed_takes_several_on_every_path():
    # 8.65 kVA · 0.95 = 8.2 kW: a server of 14.3 kW takes two of them, four for 2N.
    feeds = circuit_feeds(3, 14_300.0, 8650.0, 0.95, 2)
    assert (feeds.systems_per_feed, feeds.feeds) == (0, 12)


def test_losing_one_of_two_feeds_throttles_an_h100_server_but_not_an_a100_server():
    # Six supplies of 3.3 kW: 9.9 kW left of 10.2; six of 3.0 kW: 9.0 kW left of 6.5.
    loss = feed_loss(6, 2, np.array([3300.0, 3000.0]), np.array([10_200.0, 6500.0]))
    assert loss.psus_after_loss == 3
    assert loss.full_performance.tolist() == [False, True]


def test_the_worst_feed_is_the_one_that_counts():
    # Five supplies on two feeds: three on one of them.
    loss = feed_loss(5, 2, 1000.0, 2000.0)
    assert (loss.psus_per_feed, loss.psus_after_loss, bool(loss.full_performance)) == (3, 2, True)


def test_a_spare_ups_module_comes_on_top_of_the_load():
    assert tuple(ups_modules(458e3, 250e3, 1)) == (2, 3, 750e3)


def test_a_rack_of_two_b200_servers_keeps_3_4_kw():
    # Two circuits of 380 V, 32 A, 80 %: 33.7 kVA, 32.0 kW at power factor 0.95, less 28.6 kW.
    feed = rack_feed(2, 14_300.0, 2, circuit_capacity(380.0, 32.0, 3, 0.8).continuous_va, 0.95)
    assert feed.headroom_w == pytest.approx(3410, abs=15)
    assert feed.fits


def test_a_load_equal_to_the_capacity_fits():
    assert rack_feed(3, 0.1, 3, 0.1, 1.0).fits


def test_the_last_rack_may_be_part_full():
    assert tuple(racks_needed(13, 4, 10_200.0)) == (4, 40_800, 132_600)
    assert racks_needed(3, 4, 10_200.0).rack_w == 30_600


def test_a_quotient_that_is_whole_on_paper_counts_whole():
    # 57.2 / 14.3 = 4, and 0.3 / 0.1 is 2.9999999999999996 in binary.
    assert rack_fit(57_200.0, 14_300.0) == 4
    assert whole_units(0.3 / 0.1) == 3
    assert units_to_cover(0.1 * 3 / 0.1) == 3


def test_the_llama_3_run_failed_about_every_three_hours():
    # 419 failures on 16,384 GPUs in 54 days: 1,296 h / 419 = 3.09 h; 0.1729 a GPU and year.
    rate = failure_rate(16_384, 54.0, 419)
    assert rate.hours_between_failures == pytest.approx(3.09, abs=0.005)
    assert rate.failures_per_gpu_year == pytest.approx(0.1729, abs=5e-5)


def test_a_fleet_that_never_failed_has_no_known_mean_time():
    rate = failure_rate(64, 30.0, 0)
    assert rate.hours_between_failures == np.inf
    assert rate.failures_per_gpu_year == 0


@given(gpus=counts, days=st.floats(1.0, 2000.0), failures=counts)
def test_the_rate_of_a_fleet_gives_back_its_mean_time(gpus, days, failures):
    rate = failure_rate(gpus, days, failures)
    assert time_between_failures(gpus, rate.failures_per_gpu_year) == pytest.approx(rate.hours_between_failures)


@given(systems=counts, system_w=watts, usable=watts, paths=st.integers(1, 3))
def test_feeds_always_carry_their_systems(systems, system_w, usable, paths):
    feeds = circuit_feeds(systems, system_w, usable, 1.0, paths)
    assert feeds.feeds / paths * usable >= systems * system_w * (1 - 1e-6)


@given(systems=counts, more=counts, system_w=watts, usable=watts)
def test_more_systems_never_need_fewer_feeds(systems, more, system_w, usable):
    few = circuit_feeds(systems, system_w, usable, 0.95, 2).feeds
    assert circuit_feeds(systems + more, system_w, usable, 0.95, 2).feeds >= few


@given(rack_w=watts, system_w=watts)
def test_what_fits_a_rack_needs_one_rack_and_one_more_does_not_fit(rack_w, system_w):
    systems = rack_fit(rack_w, system_w)
    assert systems * system_w <= rack_w * (1 + 1e-6)
    assert (systems + 1) * system_w > rack_w * (1 - 1e-6)


@given(systems=counts, per_rack=st.integers(1, 10), system_w=watts)
def test_racks_hold_all_systems(systems, per_rack, system_w):
    needed = racks_needed(systems, per_rack, system_w)
    assert (needed.racks - 1) * per_rack < systems <= needed.racks * per_rack
    assert needed.rack_w <= needed.total_w * (1 + 1e-12)


def test_columns_give_what_single_values_give():
    systems = np.array([1.0, 7.0, 64.0])
    feeds = circuit_feeds(systems, 10_200.0, 18_402.0, 0.95, 2).feeds
    assert feeds.tolist() == [circuit_feeds(one, 10_200.0, 18_402.0, 0.95, 2).feeds for one in systems]
