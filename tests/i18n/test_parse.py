import datetime
import math

import pint
import pytest
from babel import Locale
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gpuplanner import units
from gpuplanner.i18n.format import BABEL_LOCALES
from gpuplanner.i18n.parse import (
    _FIELD_UNITS,
    Money,
    parse_date,
    parse_money,
    parse_number,
    parse_quantity,
    unit_scale,
)

# What people might type: the characters of numbers, units and separators, in any order.
near_misses = st.text(
    "0123456789.,+-−–eE %kKmMgGtTiIbBsShHwW万亿千百毫秒天$¥€元０９．，　/年月日\u00a0\ud800", max_size=14
)
any_text = st.text() | near_misses | st.text("0123456789,. ", max_size=400)


@pytest.mark.parametrize(
    "text, value",
    [
        ("2", 2), ("2.", 2), (".5", 0.5), ("1,234,567.5", 1_234_567.5), ("1 234 567", 1_234_567), ("+46", 46),
        ("-3", -3),
        ("−3", -3), ("–3", -3), ("- 3", -3), ("1e6", 1e6), ("1.5E-3", 0.0015), ("１２３，４５６．５", 123_456.5),
        (" 7\u3000", 7),
        ("3。5", 3.5), ("1\u202f000", 1000), ("007", 7),
    ],
)  # fmt: skip
def test_a_number_is_read_as_people_write_it(text, value):
    assert parse_number(text) == value


@pytest.mark.parametrize(
    "text",
    ["", " ", "-", ".", "1,5", "1,50", "12,34,567", "1234,567", "1.2.3", "1e", "1e999", "nan", "inf", "0x10",
    "1_000", "5 GB",
     "–", "10²", "٣", "2026-11-30", "1 2", "1" * 2000],
)  # fmt: skip
def test_what_is_not_clearly_a_number_is_refused(text):
    assert parse_number(text) is None


@pytest.mark.parametrize(
    "text, value",
    [
        ("128k", 128_000), ("128K tokens", 128_000), ("1.5M", 1.5e6), ("1.5m", 1.5e6), ("70B", 70e9), ("15T", 15e12),
        ("5 万", 50_000), ("1 亿", 1e8), ("2.5千万", 2.5e7), ("3百", 300), ("15 万亿", 15e12), ("５万", 50_000),
        ("200 人", 200),
        ("200 users", 200), ("8 GPUs", 8), ("128Ki", 131_072), ("2 million", 2e6), ("5 万 tokens", 50_000),
        ("12,000", 12_000),
    ],
)  # fmt: skip
def test_a_count_may_have_a_large_number_word(text, value):
    assert parse_quantity(text, "count") == pytest.approx(value, rel=1e-15)


@pytest.mark.parametrize(
    "text, unit, value",
    [
        ("80", "GB", 80e9), ("80g", "GB", 80e9), ("80 GB", "GB", 80e9), ("80gb", "MB", 80e9),
        ("80GiB", "GB", 80 * 2**30),
        ("80gi", "GB", 80 * 2**30), ("80", "GiB", 80 * 2**30), ("0.5 TB", "GB", 0.5e12), ("512 字节", "GB", 512),
        ("30ms", "s", 0.03), ("30", "ms", 0.03), ("2 s", "ms", 2), ("500 毫秒", "s", 0.5), ("2秒", "ms", 2),
        ("5 m", "s", 300),
        ("1 h 30 min", "s", 5400), ("1h30m", "min", 5400), ("2天3小时", "h", 183_600),
        ("3 年", "months", 3 * 8760 * 3600),
        ("12 months", "years", 8760 * 3600), ("1.5 万小时", "h", 15_000 * 3600),
        ("6.4 kW", "kW", 6400), ("6.4", "kW", 6400), ("400W", "kW", 400), ("400 w", "kW", 400), ("2k", "kW", 2000),
        ("1.5 万千瓦", "kW", 15e6), ("1mw", "kW", 1e6), ("10 冷吨", "kW", 35_168.5), ("10", "tons", 35_168.5),
        ("20%", "percent", 0.2), ("20", "percent", 0.2), ("20 ％", "%", 0.2), ("1.33×", "ratio", 1.33),
        ("1.33x", "ratio", 1.33),
        ("2倍", "ratio", 2), ("46%", "ratio", 0.46),
        ("900 GB/s", "GB/s", 900e9), ("900gb/s", "GB/s", 900e9), ("400 Gb/s", "GB/s", 50e9),
        ("400 gb/s", "Gb/s", 50e9),
        ("100G", "Gb/s", 12.5e9), ("100", "Gb/s", 12.5e9), ("25GbE", "Gb/s", 3.125e9), ("400Gbps", "Gb/s", 50e9),
        ("989", "TFLOPS", 989e12), ("1 P", "TFLOPS", 1e15), ("24 ℃", "°C", 24), ("75 °F", "°C", 23.8889),
        ("8 K", "K", 8),
        ("130", "kg", 130), ("130公斤", "kg", 130), ("1 度", "kWh", 3.6e6),
    ],
)  # fmt: skip
def test_a_typed_unit_wins_over_the_unit_of_the_field(text, unit, value):
    # Printed to six figures at most (75 °F); the rest differ by rounding only.
    assert parse_quantity(text, unit) == pytest.approx(value, rel=1e-6 if "°F" in text else 1e-15)


@pytest.mark.parametrize(
    "text, unit",
    [("80 kg", "GB"), ("5 s", "kW"), ("80 G B x", "GB"), ("5 GB", "count"), ("1,5 GB", "GB"), ("GB", "GB"),
     ("", "GB"),
     ("1e308 TB", "GB"), ("1 h 30", "s"), ("1 h 30 GB", "s"), ("5 万万", "W"), ("20 %%", "%"), ("5 gallons", "m³/h")],
)  # fmt: skip
def test_a_unit_that_does_not_belong_is_refused_not_ignored(text, unit):
    if text == "5 万万":
        # Ten thousand ten-thousands is an old way to say 亿, and unambiguous.
        assert parse_quantity(text, unit) == 5e8
    else:
        assert parse_quantity(text, unit) is None


PINT_NAMES = {
    "B": "byte", "kB": "kB", "MB": "MB", "GB": "GB", "TB": "TB", "PB": "PB", "KiB": "KiB", "MiB": "MiB", "GiB": "GiB",
    "TiB": "TiB", "kbit": "kbit", "Mbit": "Mbit", "Gbit": "Gbit", "Tbit": "Tbit", "Pbit": "Pbit",
    "B/s": "byte/s", "kB/s": "kB/s", "MB/s": "MB/s", "GB/s": "GB/s", "TB/s": "TB/s", "kb/s": "kbit/s",
    "Mb/s": "Mbit/s",
    "Gb/s": "Gbit/s", "Tb/s": "Tbit/s", "GbE": "Gbit/s", "KiB/s": "KiB/s", "MiB/s": "MiB/s", "GiB/s": "GiB/s",
    "TiB/s": "TiB/s",
    "s": "s", "µs": "us", "ms": "ms", "min": "min", "h": "h", "days": "day", "weeks": "week",
    "W": "W", "kW": "kW", "MW": "MW", "BTU/h": "Btu/h", "kBTU/h": "kBtu/h", "tons": "refrigeration_ton",
    "J": "J", "Wh": "Wh", "kWh": "kWh", "MWh": "MWh", "%": "percent", "‰": "permille", "°C": "degC", "°F": "degF",
    "K": "kelvin",
    "m": "m", "cm": "cm", "mm": "mm", "km": "km", "ft": "ft", "in": "inch", "kg": "kg", "g": "g", "lb": "lb",
    "m³/s": "m³/s", "m³/h": "m³/h", "CFM": "ft³/min", "L/min": "L/min",
}  # fmt: skip
SI_IN_PINT = {"bytes": "byte", "bytes/s": "byte/s", "seconds": "s", "watts": "W", "joules": "J", "percent": "",
 "metres": "m",
              "kilograms": "kg", "celsius": "degC", "kelvins": "kelvin", "m³/s": "m³/s"}  # fmt: skip


@pytest.fixture(scope="module")
def pint_registry():
    return pint.UnitRegistry(cache_folder=None, autoconvert_offset_to_baseunit=True)


@pytest.mark.parametrize("unit", sorted(PINT_NAMES))
def test_units_convert_as_pint_converts_them(unit, pint_registry):
    kind, scale = _FIELD_UNITS[unit]
    expected = pint_registry.Quantity(40.0, PINT_NAMES[unit]).to(SI_IN_PINT[kind]).magnitude
    # units.py gives BTU, ton and CFM to six or seven printed figures.
    assert scale.si(40.0) == pytest.approx(expected, rel=2e-6)


def test_every_unit_of_a_field_has_an_oracle():
    named_by_kind = set(PINT_NAMES) | set(SI_IN_PINT)
    of_our_own = {unit for unit, (kind, _scale) in _FIELD_UNITS.items() if kind in ("count", "ratio", "FLOP/s")}
    assert set(_FIELD_UNITS) - named_by_kind - of_our_own == {"months", "years"}


def test_a_year_is_8760_hours_and_a_month_its_twelfth():
    # pint's year is Julian, 8,766 hours; energy and cost are counted in years of 8,760.
    assert unit_scale("years").si(1) == units.HOURS_PER_YEAR * units.SECONDS_PER_HOUR
    assert unit_scale("months").si(12) == unit_scale("years").si(1)


def test_a_field_of_tokens_or_users_is_a_count():
    assert parse_quantity("128k", "tokens") == parse_quantity("128k tok", "tokens") == 128_000
    assert parse_quantity("200", "users") == parse_quantity("200 人", "users") == 200


def test_an_unknown_unit_of_a_field_is_our_mistake_and_raises():
    with pytest.raises(ValueError, match="furlong"):
        parse_quantity("5", "furlong")


@given(number=st.floats(-1e12, 1e12))
@pytest.mark.parametrize("unit", sorted(_FIELD_UNITS))
def test_a_bare_number_is_in_the_unit_of_the_field(unit, number):
    assert parse_quantity(repr(number), unit) == unit_scale(unit).si(number)


@pytest.mark.parametrize(
    "text, amount, currency",
    [
        ("1.5 M$", 1.5e6, "USD"), ("$1.5M", 1.5e6, "USD"), ("¥100,000", 1e5, "CNY"), ("￥100,000", 1e5, "CNY"),
        ("200k", 2e5, None),
        ("8500", 8500, None), ("100 万", 1e6, None), ("132 万元", 1.32e6, "CNY"), ("¥132 万", 1.32e6, "CNY"),
        ("1.2亿元", 1.2e8, "CNY"),
        ("10万人民币", 1e5, "CNY"), ("20 万美元", 2e5, "USD"), ("USD 1.5M", 1.5e6, "USD"), ("1.5m usd", 1.5e6, "USD"),
        ("1.5MUSD", 1.5e6, "USD"), ("HK$5", 5, "HKD"), ("5 €", 5, "EUR"), ("£3.50", 3.5, "GBP"),
        ("JP¥500 k", 5e5, "JPY"),
        ("−$186 k", -186_000, "USD"), ("$-5", -5, "USD"), ("- $5", -5, "USD"), ("$5 USD", 5, "USD"),
        ("SGD 500 k", 5e5, "SGD"),
        ("2 billion", 2e9, None), ("1.5 bn €", 1.5e9, "EUR"), ("5百万", 5e6, None),
    ],
)  # fmt: skip
def test_an_amount_is_read_with_its_currency(text, amount, currency):
    assert parse_money(text) == (pytest.approx(amount, rel=1e-15), currency)


@pytest.mark.parametrize(
    "text", ["", "$", "$5 EUR", "5 apples", "$$5", "1,5 M$", "-$-5", "five", "5 kk", "USDT 5", "$1e999", "5 GB", "-"]
)
def test_what_is_not_clearly_an_amount_is_refused(text):
    assert parse_money(text) is None


def test_an_amount_without_a_currency_takes_the_one_of_the_field():
    assert parse_money("200k", "CNY") == Money(200_000, "CNY")
    assert parse_money("$200k", "CNY") == Money(200_000, "USD")


@pytest.mark.parametrize(
    "text", ["2026-11-30", "2026/11/30", "2026.11.30", " 2026年11月30日", "２０２６－１１－３０", "2026 - 11 - 30"]
)
def test_a_date_is_read_with_the_year_first(text):
    assert parse_date(text) == datetime.date(2026, 11, 30)


@pytest.mark.parametrize(
    "text", ["", "11/30/2026", "30.11.2026", "2026-13-01", "2026-02-30", "2026-11", "20261130", "0000-01-01"]
)
def test_a_date_that_could_be_another_day_is_refused(text):
    assert parse_date(text) is None


@example("1e400")
@example("9" * 400)
@example("1 h " * 100)
@example("5" + "万" * 990)
@given(any_text)
@settings(deadline=None)
def test_no_text_is_an_error_and_every_result_is_finite(text):
    read = [
        parse_number(text),
        *(parse_quantity(text, unit) for unit in ("count", "GB", "Gb/s", "s", "kW", "%", "×", "°C")),
    ]
    money = parse_money(text)
    read.append(money.amount if money else None)
    assert all(value is None or (type(value) is float and math.isfinite(value)) for value in read)
    assert parse_date(text) is None or isinstance(parse_date(text), datetime.date)


def test_separators_of_both_languages_are_those_that_are_read():
    for name in BABEL_LOCALES.values():
        symbols = Locale.parse(name).number_symbols["latn"]
        assert (symbols["decimal"], symbols["group"]) == (".", ",")
