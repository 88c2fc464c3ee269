"""Bands by the rules of independent errors: logarithms add in quadrature in products, amounts in sums."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuplanner.model.bands import between, product, quotient, scaled, spread, total, weakest
from gpuplanner.model.results import NOT_KNOWN, Part, exact

values = st.floats(1e-6, 1e9)
factors = st.floats(1.0, 5.0)


@st.composite
def figures(draw):
    return spread(draw(values), draw(factors))


def test_a_factor_of_two_either_way_goes_from_half_to_double():
    assert spread(10.0, 2.0)[:3] == (10.0, 5.0, 20.0)


def test_a_product_adds_log_widths_in_quadrature():
    # Factors e^0.3 and e^0.4 give e^0.5: the 3-4-5 triangle.
    result = product(spread(2.0, math.exp(0.3)), spread(5.0, math.exp(0.4)))
    assert result.value == pytest.approx(10.0)
    assert result.high == pytest.approx(10.0 * math.exp(0.5))
    assert result.low == pytest.approx(10.0 * math.exp(-0.5))


def test_a_quotient_takes_the_other_end_of_its_divisor():
    # 10 (8 to 10) over 2 (2 to 3): only the low end of the quotient moves, by both.
    result = quotient(between(10.0, 8.0, 10.0, "known"), between(2.0, 2.0, 3.0, "known"))
    assert result.high == pytest.approx(5.0)
    assert result.low == pytest.approx(5.0 * math.exp(-math.hypot(math.log(10 / 8), math.log(3 / 2))))


def test_a_sum_adds_amounts_in_quadrature():
    result = total([between(10.0, 7.0, 13.0, "known"), between(20.0, 16.0, 24.0, "assumed")])
    assert result[:4] == (30.0, 25.0, 35.0, "assumed")


def test_the_sum_of_nothing_is_nothing():
    assert total([])[:3] == (0.0, 0.0, 0.0)


def test_a_line_of_nothing_does_not_weaken_a_sum():
    assert total([exact(0.0, "not validated"), exact(3.0, "known")]).basis == "known"


def test_what_is_not_known_makes_the_result_not_known_and_keeps_the_reason():
    missing = NOT_KNOWN._replace(note="price")
    assert total([exact(1.0), missing]) == missing
    assert product(missing, exact(1.0)).value is None
    assert quotient(exact(1.0), missing).value is None
    assert scaled(missing, 3.0) == missing


def test_nothing_is_divided_by_zero():
    assert quotient(exact(1.0), exact(0.0)).value is None


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_what_is_not_a_number_is_not_known(bad):
    assert spread(bad, 2.0) == NOT_KNOWN
    assert between(bad, 0.0, 1.0, "known") == NOT_KNOWN


def test_the_least_certain_of_several_ways_counts():
    assert weakest("known", "predicted", "input") == "predicted"
    assert weakest("not validated", "assumed", "known") == "not validated"


def test_parts_scale_with_their_figure():
    figure = spread(6.0, 1.5, parts=(Part("a", 2.0), Part("b", 4.0)))
    assert scaled(figure, 0.5).parts == (Part("a", 1.0), Part("b", 2.0))


@given(figures(), figures())
def test_a_band_holds_its_value_and_is_never_narrower_than_the_wider_of_two(first, second):
    for result in (product(first, second), quotient(first, second)):
        assert result.low <= result.value <= result.high
        widest = max(first.high / first.value, second.high / second.value)
        assert result.high / result.value >= widest * (1 - 1e-9)


@given(st.lists(figures(), min_size=1, max_size=6))
def test_the_band_of_a_sum_is_at_most_the_sum_of_the_bands(several):
    result = total(several)
    assert result.low <= result.value <= result.high
    assert result.value == pytest.approx(sum(one.value for one in several))
    assert result.high <= sum(one.high for one in several) * (1 + 1e-9)


@given(figures(), st.floats(1e-3, 1e3))
def test_scaling_keeps_the_relative_band(figure, factor):
    result = scaled(figure, factor)
    assert result.high / result.value == pytest.approx(figure.high / figure.value)
