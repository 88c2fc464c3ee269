"""Prices by condition, age, market and currency; and a bill that is the sum of its lines."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from planning import (
    A100,
    A800,
    H100,
    LLAMA_8B,
    RTX4090,
    catalog,
    full_queue,
    group,
    outcome,
    pretraining,
    value,
)

from gpuplanner.model import cost
from gpuplanner.model.hardware import resolve
from gpuplanner.model.plan import Economics, ExchangeRate, Group, Money, Network, Plan, Serve, UserLoad
from gpuplanner.model.results import exact

QUEUE = full_queue(LLAMA_8B)
USD = cost.Exchange(Plan(), catalog())
CONDITIONS = ("new", "used", "owned", "rented")


def bill(*groups, workload=QUEUE, **fields):
    return outcome(*groups, workload=workload, **fields).money


def price(gpu, condition="new", age=None, country="US"):
    return cost.card_price(catalog().gpus[gpu], condition, age, country, catalog(), USD)


def dollars(amount):
    return Money(amount=amount, currency="USD")


# --- currencies ----------------------------------------------------------------------------------


def test_a_rate_of_the_plan_counts_before_the_catalogs():
    exchange = cost.Exchange(
        Plan(currency="USD", exchange_rates=(ExchangeRate(currency="CNY", per_base=8.0),)), catalog()
    )
    assert exchange.rate("CNY") == pytest.approx(1 / 8.0)
    # Catalog: 7.15 yuan a dollar.
    assert USD.rate("CNY") == pytest.approx(1 / 7.15)


def test_rates_go_both_ways_and_through_the_dollar():
    euro = cost.Exchange(Plan(currency="EUR"), catalog())
    # 1.14 dollars a euro and 7.15 yuan a dollar.
    assert euro.rate("USD") == pytest.approx(1 / 1.14)
    assert euro.rate("CNY") == pytest.approx(1 / 7.15 / 1.14)
    assert euro.rate("EUR") == 1.0


def test_a_currency_without_a_rate_makes_an_amount_not_known():
    assert USD.rate("XAU") is None
    figure = USD.money(Money(amount=5.0, currency="XAU"))
    assert (figure.value, figure.note) == (None, "exchange_rate")


@given(st.floats(1.0, 1e9))
def test_an_amount_in_the_base_currency_is_itself(amount):
    assert value(USD.money(dollars(amount))) == amount


def test_a_plan_in_yuan_costs_what_the_plan_in_dollars_does():
    dollar, yuan = (bill(group(price=dollars(300e3)), currency=currency) for currency in ("USD", "CNY"))
    assert value(yuan.purchase) == pytest.approx(7.15 * value(dollar.purchase))
    assert yuan.currency == "CNY"


# --- prices --------------------------------------------------------------------------------------


@pytest.mark.parametrize("date", ["2026-06", "2026", "2026-Q2", "2026-06-15"])
def test_dates_of_prices_count_in_months(date):
    assert abs(cost.months(date) - (2026 * 12 + 6)) <= 1


def test_the_price_of_a_h100_is_a_dated_market_price():
    figure, date, how = price(H100)
    assert (how, figure.basis) == ("market", "known")
    assert date.startswith("2026")
    # Prices on record of 2026: 25,000 to 40,000 dollars.
    assert 25_000 <= value(figure) <= 40_000


@pytest.mark.parametrize("gpu", [H100, A100, RTX4090])
def test_a_used_card_costs_less_than_a_new_one(gpu):
    assert value(price(gpu, "used")[0]) < value(price(gpu)[0])


def test_what_is_not_a_market_price_is_marked_assumed():
    for gpu in catalog().gpus:
        for condition in ("new", "used"):
            figure, _date, how = price(gpu, condition)
            if how != "market" and figure.known:
                assert figure.basis == "assumed", (gpu, condition)
                assert figure.low < figure.value < figure.high, (gpu, condition)


def test_every_card_with_any_price_or_class_value_has_a_price_in_either_condition():
    classed = {row.applies_to for row in catalog().assumptions if row.key == "price_card"}
    for gpu in catalog().gpus:
        own = [one for one in catalog().prices_of(gpu) if one.kind == "gpu" and one.per == "card"]
        if own or gpu in classed:
            assert price(gpu)[0].known, gpu


def test_an_old_card_at_its_launch_price_loses_by_its_age():
    # The A800 came out in 2022 and has only a launch price: today it is worth less, also where one is found new.
    launch = next(one.amount for one in catalog().prices_of(A800) if one.price_kind == "launch")
    new, used = price(A800)[0], price(A800, "used")[0]
    assert value(used) < value(new) < launch
    assert price(A800)[2] == "launch_times_age"


def test_a_card_under_export_control_costs_more_in_china():
    # Class value: 1.35 times the price elsewhere (1.1 to 1.8), marked assumed.
    there, here = price(H100, country="US")[0], price(H100, country="CN")[0]
    assert value(here) == pytest.approx(1.35 * value(there))
    assert here.basis == "assumed"
    assert price(A800, country="CN")[0].value > price(A800)[0].value


def test_a_market_price_of_china_is_the_price_in_china():
    figure, _date, how = price(RTX4090, country="CN")
    chinese = [
        one.amount / 7.15 if one.currency == "CNY" else one.amount
        for one in catalog().prices_of(RTX4090)
        if "CN" in one.region and one.condition == "new" and one.price_kind == "market"
    ]
    assert how == "market"
    assert min(chinese) * 0.999 <= value(figure) <= max(chinese) * 1.001


def test_a_contract_for_many_servers_is_not_the_price_of_one():
    atlas = "Huawei Atlas 800T A2/A3 (8x Ascend 910B)"
    one = Group(gpu="Huawei Ascend 910B 64GB", server=atlas)
    figure, _date, _how = cost.server_price(one, resolve(one, Network(), catalog()), "CN", catalog(), USD)
    assert value(figure) < 1e6


def test_a_quote_is_the_price_whatever_the_catalog_says():
    one = Group(gpu=H100, price=dollars(123_456.0), quote_date="2026-10-01")
    figure, date, how = cost.server_price(one, resolve(one, Network(), catalog()), "US", catalog(), USD)
    assert (figure, date, how) == (exact(123_456.0, "input"), "2026-10-01", "quote")


def test_cards_that_no_entry_describes_have_no_price():
    assert not bill(group("nonsense")).purchase.known


def test_a_kilowatt_hour_costs_what_it_costs_in_the_country():
    # Class values: US industry 0.093 $/kWh, China 0.64 yuan/kWh.
    tariff = lambda country: cost.electricity_price(Economics(), country, catalog(), USD)  # noqa: E731
    assert value(tariff("US")) == pytest.approx(0.093)
    assert value(tariff("CN")) == pytest.approx(0.64 / 7.15)
    assert tariff("US").basis == "assumed"


# --- the bill ------------------------------------------------------------------------------------


@given(
    conditions=st.lists(st.sampled_from(CONDITIONS), min_size=1, max_size=4),
    gpu=st.sampled_from([H100, A100]),
    servers=st.integers(1, 30),
)
@settings(max_examples=40, deadline=None)
def test_the_purchase_is_the_sum_of_its_lines(conditions, gpu, servers):
    found = bill(*(group(gpu, condition=condition, servers=servers) for condition in conditions))
    bought = sum(value(line.amount) for line in found.lines if line.key != "rent_per_year")
    rented = sum(value(line.amount) for line in found.lines if line.key == "rent_per_year")
    assert value(found.purchase) == pytest.approx(bought)
    assert value(found.rent_per_year) == pytest.approx(rented)
    for line in found.lines:
        if line.key not in ("owned", "rent_per_year"):
            assert value(line.amount) == pytest.approx(line.quantity * value(line.unit_price))


def test_the_total_is_purchase_and_running_less_resale():
    found = bill(group(servers=2), economics=Economics(term_years=3.0))
    expected = value(found.purchase) + 3.0 * value(found.running_per_year) - value(found.resale)
    assert value(found.total_over_term) == pytest.approx(expected)


def test_discounting_takes_running_costs_and_resale_at_their_present_value():
    found = bill(group(), economics=Economics(term_years=3.0, discount_rate=0.1))
    # 10 % over 3 years: an annuity of 2.4869, and 0.7513 for what comes at the end.
    expected = value(found.purchase) + 2.48685 * value(found.running_per_year) - 0.751315 * value(found.resale)
    assert value(found.total_over_term) == pytest.approx(expected, rel=1e-5)


def test_what_is_owned_costs_nothing_to_buy_and_keeps_its_resale_value():
    found = bill(group(condition="owned"))
    assert value(found.purchase) == 0.0
    assert value(found.resale) > 0.0
    assert value(found.electricity_per_year) > 0.0


def test_what_is_rented_is_paid_by_the_hour_and_leaves_nothing():
    found = bill(group(condition="rented", price=dollars(20.0)))
    assert value(found.rent_per_year) == pytest.approx(20.0 * 8760)
    assert (value(found.purchase), value(found.resale), value(found.electricity_per_year)) == (0.0, 0.0, 0.0)


def test_rented_cards_are_paid_for_the_stated_share_of_the_year():
    found = bill(group(condition="rented", price=dollars(20.0)), economics=Economics(duty_cycle=0.5))
    assert value(found.rent_per_year) == pytest.approx(20.0 * 4380)


def test_electricity_is_the_rooms_energy_at_the_stated_price():
    whole = outcome(group(), workload=QUEUE, economics=Economics(electricity_per_kwh=dollars(0.20)))
    kwh = value(whole.room.facility_w) * 8760 / 1000
    assert value(whole.money.energy_kwh_per_year) == pytest.approx(kwh)
    assert value(whole.money.electricity_per_year) == pytest.approx(0.20 * kwh)


def test_used_cards_come_with_their_spares():
    # Class value: 6 % of tested used cards fail in a year; three of eight hold for three years with 95 %.
    lines = {line.key: line for line in bill(group(condition="used")).lines}
    assert lines["spares"].quantity == 3
    assert "spares" not in {line.key for line in bill(group(condition="new")).lines}


def test_a_million_tokens_cost_the_total_over_what_is_served():
    asked = Serve(llm=(LLAMA_8B,), load=UserLoad(users=100, requests_per_user_peak_hour=36), mean_to_peak=0.5)
    whole = outcome(group(), workload=asked, economics=Economics(term_years=2.0))
    # One request a second of 400 tokens at the peak, half of that on average.
    tokens = 1.0 * 400 * 0.5 * 3600 * 8760 * 2.0
    expected = value(whole.money.total_over_term) / tokens * 1e6
    assert value(whole.money.per_million_tokens) == pytest.approx(expected)


def test_a_stated_concurrency_pays_for_the_tokens_that_it_yields():
    few, many = (
        bill(group(), workload=Serve(llm=(LLAMA_8B,), load={"kind": "concurrency", "concurrency": count}))
        for count in (1, 256)
    )
    assert value(few.per_million_tokens) > 10 * value(many.per_million_tokens)


def test_break_even_is_the_purchase_over_what_renting_would_cost_more():
    # 120,000 over (26,280 rent - 6,280 running) a year: 6 years.
    found = cost.breakeven(exact(120e3, "known"), exact(6280.0, "known"), exact(26_280.0, "known"))
    assert value(found) == pytest.approx(72.0)
    assert cost.breakeven(exact(1.0), exact(10.0), exact(5.0)).note == "never"
    assert cost.breakeven(exact(0.0), exact(1.0), exact(5.0)).note == "nothing_bought"


def test_one_training_run_costs_what_its_group_costs_while_it_is_busy():
    training = pretraining(tokens=1e11)
    whole = outcome(group(workload="train"), workload=training, economics=Economics(term_years=3.0, duty_cycle=0.5))
    years = value(whole.train[0].duration_s) / (8760 * 3600) / 0.5
    assert value(whole.train[0].cost) == pytest.approx(value(whole.money.total_over_term) / 3.0 * years)


def test_cost_over_time_begins_with_the_purchase_and_grows_by_the_running_cost():
    found = bill(group(), economics=Economics(term_years=2.0))
    assert len(found.months) == 25
    assert found.cumulative[0] == pytest.approx(value(found.purchase))
    assert found.cumulative[12] == pytest.approx(value(found.purchase) + value(found.running_per_year))
    for low, middle, high in zip(found.cumulative_low, found.cumulative, found.cumulative_high, strict=True):
        assert low <= middle <= high


@given(first=st.integers(1, 50), second=st.integers(1, 50), condition=st.sampled_from(["new", "used", "rented"]))
@settings(max_examples=25, deadline=None)
def test_more_servers_never_cost_less(first, second, condition):
    low, high = sorted((first, second))
    few, many = (bill(group(servers=count, condition=condition)) for count in (low, high))
    assert value(few.purchase) <= value(many.purchase) * (1 + 1e-9)
    assert value(few.running_per_year) <= value(many.running_per_year) * (1 + 1e-9)


@given(amount=st.floats(1e3, 1e7), share=st.floats(0.0, 1.0))
@settings(max_examples=20, deadline=None)
def test_a_stated_share_is_what_is_fetched_at_the_end(amount, share):
    found = bill(group(price=dollars(amount)), economics=Economics(resale_share=share))
    assert value(found.resale) == pytest.approx(share * amount)


def test_the_plan_says_how_old_its_oldest_price_is():
    assert bill(group(price=dollars(1.0), quote_date="2024-03-01"), group()).oldest_price == "2024-03-01"
