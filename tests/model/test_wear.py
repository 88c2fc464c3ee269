"""Failures within the term and the spares that hold, against the binomial distribution worked by hand."""

from math import comb

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from planning import H100, RTX4090, group, outcome, value

from gpuplanner.model.plan import Economics
from gpuplanner.model.wear import at_most, failing, spares_for


def exactly(cards, chance, failures):
    return comb(cards, failures) * chance**failures * (1 - chance) ** (cards - failures)


def test_a_yearly_rate_compounds_over_the_years():
    # 6 % a year leaves 0.94 ^ 3 = 0.8306 of the cards after three years.
    assert float(failing(0.06, 3.0)) == pytest.approx(1 - 0.830584)


@pytest.mark.parametrize("failures", [0, 1, 3, 8])
def test_the_chance_of_few_failures_is_binomial(failures):
    expected = sum(exactly(8, 0.1694, k) for k in range(failures + 1))
    assert at_most(8, 0.1694, failures) == pytest.approx(expected, rel=1e-12)


def test_three_spares_hold_for_eight_used_cards_over_three_years():
    # P(X <= 2) = 0.861 and P(X <= 3) = 0.968 at 0.1694 a card.
    assert sum(exactly(8, 0.169416, k) for k in range(3)) < 0.95 < sum(exactly(8, 0.169416, k) for k in range(4))
    assert spares_for(8, 0.169416) == 3


def test_a_group_tells_what_fails_and_what_holds():
    (found,) = outcome(group(H100, condition="used"), economics=Economics(term_years=3)).money.failures
    # Class value: 6 % of tested used cards fail in a year (3-12 %).
    assert found.cards == 8 and value(found.rate_per_year) == 0.06
    assert value(found.expected) == pytest.approx(8 * 0.169416)
    assert found.expected.low == pytest.approx(8 * (1 - 0.97**3))
    assert found.expected.high == pytest.approx(8 * (1 - 0.88**3))
    assert found.any_chance == pytest.approx(1 - 0.830584**8)
    assert found.spares == 3 and found.spares_hold > found.sure == 0.95


def test_a_typed_rate_is_used_as_it_stands():
    (found,) = outcome(group(RTX4090), economics=Economics(failure_rate_per_year=0.25, term_years=1)).money.failures
    assert value(found.expected) == pytest.approx(2.0)
    assert found.rate_per_year.basis == "input"


def test_rented_cards_are_replaced_by_their_owner():
    assert outcome(group(H100, condition="rented")).money.failures == ()


@given(cards=st.integers(1, 800_000), rate=st.floats(0.0, 1.0), years=st.floats(0.1, 20.0))
@settings(max_examples=60, deadline=None)
def test_the_spares_hold_and_one_fewer_would_not(cards, rate, years):
    chance = float(failing(rate, years))
    spares = spares_for(cards, chance)
    assert 0 <= spares <= cards
    assert at_most(cards, chance, spares) >= 0.95 - 1e-9
    assert spares == 0 or at_most(cards, chance, spares - 1) < 0.95 + 1e-9


@given(cards=st.integers(1, 2000), rate=st.floats(0.001, 0.5))
@settings(max_examples=40, deadline=None)
def test_more_cards_never_need_fewer_spares(cards, rate):
    assert spares_for(cards, rate) <= spares_for(cards + 1, rate)
