"""Numbers for people: the only place where a figure, an amount or a date becomes text.

Babel supplies separators, currency marks and date patterns, once per language; the digits are set here, because
Babel's own formatting takes 15 µs a call and a window repaints thousands of figures. All functions take SI units,
use the language in force (`gpuplanner.i18n.language`), write minus as U+2212 and ranges with an en dash. What is not
known (None or nan) is `NOT_KNOWN`, never 0 and never blank.
"""

import datetime
import math
from decimal import Decimal
from functools import cache, lru_cache
from typing import NamedTuple, SupportsFloat

from babel import Locale
from babel.dates import format_date

from gpuplanner.i18n import _, language
from gpuplanner.i18n.parse import unit_scale
from gpuplanner.units import GB, GIB, HOURS_PER_YEAR, KILO, SECONDS_PER_DAY, SECONDS_PER_HOUR

Number = SupportsFloat | None

NOT_KNOWN = "–"
MINUS = "−"
_INFINITE = "∞"
_SECONDS_PER_YEAR = HOURS_PER_YEAR * SECONDS_PER_HOUR

BABEL_LOCALES = {"en": "en", "zh": "zh_Hans"}

# Babel's mark for one currency differs by language (¥ is the yen in English). A plan is mailed between languages, so
# these three keep one mark everywhere; the rest are Babel's.
_CURRENCY_MARKS = {"USD": "$", "CNY": "¥", "JPY": "JP¥"}

# Large amounts are counted in these; below 10,000 every digit is read at a glance.
_COMPACT_FROM = 10_000
_COMPACT = {
    "en": ((1e12, "T"), (1e9, "B"), (1e6, "M"), (1e3, "k")),
    "zh": ((1e12, "万亿"), (1e8, "亿"), (1e4, "万")),
}


class _Marks(NamedTuple):
    """What one language puts between digits."""

    separators: dict[int, str] | None
    babel: Locale
    compact: tuple[tuple[float, str], ...]


@cache
def _marks(code: str) -> _Marks:
    babel = Locale.parse(BABEL_LOCALES[code])
    symbols = babel.number_symbols["latn"]
    separators = {ord("."): symbols["decimal"], ord(","): symbols["group"]}
    # None where Python already writes them so, as for English and Chinese.
    as_python = separators == {ord("."): ".", ord(","): ","}
    return _Marks(None if as_python else separators, babel, _COMPACT[code])


def _localised(digits: str) -> str:
    """Text made of Python's own digits and separators, in the marks of the language in force."""
    if separators := _marks(language()).separators:
        digits = digits.translate(separators)
    return MINUS + digits[1:] if digits[0] == "-" else digits


def _unusual(value: float) -> str | None:
    """The text of nan and the infinities, None for any other number."""
    if math.isfinite(value):
        return None
    if value != value:
        return NOT_KNOWN
    return _INFINITE if value > 0 else MINUS + _INFINITE


def _rounded(value: float, digits: int) -> str:
    """`value` to `digits` significant figures, in Python's separators, trailing zeros kept."""
    if value == 0:
        return "0"
    scientific = f"{value:.{digits - 1}e}"
    decimals = digits - 1 - int(scientific[scientific.index("e") + 1 :])
    return f"{_from_scientific(scientific, value):,.{decimals if decimals > 0 else 0}f}"


def _from_scientific(rounded: str, value: float) -> float:
    # The largest doubles round up beyond all doubles.
    result = float(rounded)
    return result if math.isfinite(result) else value


def _without_trailing_zeros(digits: str) -> str:
    return digits.rstrip("0").rstrip(".") if "." in digits else digits


def _all_digits(value: float) -> str:
    """The shortest digits that read back as `value`, in Python's separators, never in scientific notation."""
    if isinstance(value, int):
        return f"{value:,}"
    digits = f"{Decimal(repr(value)):,f}"
    digits = _without_trailing_zeros(digits)
    return "0" if digits == "-0" else digits


def number(value: Number, digits: int = 3) -> str:
    """A predicted figure: `digits` significant figures, thousands separated. "1,230", "0.0450"."""
    if value is None:
        return NOT_KNOWN
    value = float(value)
    return _unusual(value) or _localised(_rounded(value, digits))


def exact(value: Number) -> str:
    """An input or a catalog figure with all its digits; `parse.parse_number` reads the same value back."""
    if value is None:
        return NOT_KNOWN
    if not isinstance(value, int):
        value = float(value)
        if unusual := _unusual(value):
            return unusual
    return _localised(_all_digits(value))


def quantity(value: Number, unit: str) -> str:
    """An SI value in `unit` with all its digits and without the unit: what a field beside its unit shows.

    `parse.parse_quantity(text, unit)` reads the same value back. Raises `ValueError` for an unknown unit.
    """
    if value is None:
        return NOT_KNOWN
    value = float(value)
    if unusual := _unusual(value):
        return unusual
    scale = unit_scale(unit)
    shown = scale.shown(value)
    # Dividing by the unit leaves noise in the last digit (0.29 is 28.999999999999996 %): the fewest digits that
    # read back as the same value are what the user wrote.
    candidates = (float(f"{shown:.{digits}g}") for digits in (15, 16, 17))
    return exact(next((short for short in candidates if scale.si(short) == value), shown))


def count(value: Number) -> str:
    """A whole number of things: "1,024"."""
    if value is None:
        return NOT_KNOWN
    value = float(value)
    return _unusual(value) or _localised(f"{round(value):,}")


def tokens(value: Number) -> str:
    """A large count to three figures, "128 k" or "15 T"; in Chinese "12.8 万", "15 万亿"."""
    if value is None:
        return NOT_KNOWN
    value = float(value)
    return _unusual(value) or _localised(_compact(value))


def percent(fraction: Number) -> str:
    """A fraction as a percentage: whole from 10 % up, two figures below, 0 under 0.005 %. "46 %", "6.5 %"."""
    if fraction is None:
        return NOT_KNOWN
    points = float(fraction) * 100
    return _unusual(points) or _localised(_percent_digits(points)) + " %"


def signed_percent(fraction: Number) -> str:
    """A change or a headroom with its sign: "+46 %", "−14 %", "0 %"."""
    text = percent(fraction)
    return text if text[0] in (NOT_KNOWN, MINUS) or text == "0 %" else "+" + text


def _percent_digits(points: float) -> str:
    size = abs(points)
    if size < 0.005:
        # A headroom of 1e-17 is what is left of two equal figures.
        return "0"
    # 9.96 rounds to 10, which has no decimals.
    return f"{round(points):,}" if size >= 9.95 else _without_trailing_zeros(_rounded(points, 2))


def ratio(value: Number) -> str:
    """How many times the baseline: "1.33×", "0.78×", "12.3×"."""
    if value is None:
        return NOT_KNOWN
    value = float(value)
    if unusual := _unusual(value):
        return unusual if value != value else unusual + "×"
    size = abs(value)
    digits = f"{value:.2f}" if 0.1 <= size < 9.995 else _rounded(value, 3 if size >= 9.995 else 2)
    return _localised(digits) + "×"


def band(low: Number, high: Number) -> str:
    """An 80 % band, two significant figures at each end: "0.8–2.1". Not known if either end is not."""
    if low is None or high is None:
        return NOT_KNOWN
    low, high = float(low), float(high)
    if low != low or high != high:
        return NOT_KNOWN
    lower, upper = _band_end(low, 2), _band_end(high, 2)
    if lower == upper and low != high:
        # A band narrower than two figures can show still is a band.
        lower, upper = _band_end(low, 3), _band_end(high, 3)
    return f"{lower} – {upper}" if low < 0 or high < 0 else f"{lower}–{upper}"


def _band_end(value: float, digits: int) -> str:
    if unusual := _unusual(value):
        return unusual
    text = _rounded(value, digits)
    return _localised(_without_trailing_zeros(text) if abs(value) < 1 else text)


def money(amount: Number, currency: str) -> str:
    """A predicted amount to three figures: "$186 k", "$1.24 M"; in Chinese "¥132 万", "¥1.2 亿"."""
    if amount is None:
        return NOT_KNOWN
    value = float(amount)
    return _unusual(value) or _with_currency(_compact(value), currency)


def signed_money(amount: Number, currency: str) -> str:
    """A difference between two amounts: "+$18 k", "−$4.2 k"."""
    text = money(amount, currency)
    return "+" + text if amount is not None and float(amount) > 0 else text


def money_exact(amount: Number, currency: str) -> str:
    """An amount as it was entered, all digits: "$8,500", "$36.90"; `parse.parse_money` reads the same amount back."""
    if amount is None:
        return NOT_KNOWN
    value = float(amount)
    if unusual := _unusual(value):
        return unusual
    digits = _all_digits(value)
    # "36.9" is written as cents are.
    return _with_currency(digits + "0" if digits[-2:-1] == "." else digits, currency)


def currency_mark(currency: str) -> str:
    """The mark of an ISO currency code, "$" or "¥"; the code itself where there is none."""
    return _currency_mark(language(), currency)


@cache
def _currency_mark(code: str, currency: str) -> str:
    known = _CURRENCY_MARKS.get(currency)
    return known or _marks(code).babel.currency_symbols.get(currency, currency)


def _with_currency(digits: str, currency: str) -> str:
    mark = currency_mark(currency)
    if mark[-1].isalpha():
        mark += " "
    text = _localised(digits)
    return f"{MINUS}{mark}{text[1:]}" if text[0] == MINUS else mark + text


def _compact(value: float) -> str:
    """`value` to three figures, counted in the language's large numbers, in Python's separators."""
    # Rounding first: 999,900 is 1 M, not 1,000 k.
    rounded = _from_scientific(f"{value:.2e}", value)
    size = abs(rounded)
    if size >= _COMPACT_FROM:
        for step, name in _marks(language()).compact:
            if size >= step:
                return f"{_without_trailing_zeros(_rounded(rounded / step, 3))} {name}"
    return _without_trailing_zeros(_rounded(rounded, 3))


def bytes_gb(value: Number, unit: bool = True) -> str:
    """Bytes in decimal gigabytes (10⁹), three figures: "31.0 GB". Without the unit where a label names it."""
    return _in_unit(value, GB, "GB", unit)


def bytes_gib(value: Number, unit: bool = True) -> str:
    """Bytes in GiB (2³⁰), the unit in which an "80 GB" card has 80: "80.0 GiB"."""
    return _in_unit(value, GIB, "GiB", unit)


def _in_unit(value: Number, scale: float, name: str, unit: bool) -> str:
    text = number(value if value is None else float(value) / scale)
    return f"{text} {name}" if unit and text != NOT_KNOWN else text


def power_kw(value: Number, unit: bool = True) -> str:
    """Watts in kW to one decimal: "6.4 kW". Without the unit where a label names it."""
    if value is None:
        return NOT_KNOWN
    value = float(value)
    if unusual := _unusual(value):
        return unusual
    digits = f"{value / KILO:,.1f}"
    text = _localised("0.0" if digits == "-0.0" else digits)
    return f"{text} kW" if unit else text


def duration(seconds: Number, digits: int = 3) -> str:
    """A time in the unit that fits it, from µs to years, with the unit: "170 ms", "4.00 s", "30.0 days"."""
    if seconds is None:
        return NOT_KNOWN
    value = float(seconds)
    if unusual := _unusual(value):
        return unusual
    # Rounding first: 0.9999 s is 1.00 s, not 1,000 ms.
    size = abs(float(f"{value:.{digits - 1}e}"))
    if size == 0:
        return _("{value} s").format(value="0")
    if size < 1e-3:
        return _("{value} µs").format(value=number(value * 1e6, digits))
    if size < 1:
        return _("{value} ms").format(value=number(value * 1e3, digits))
    if size < 120:
        return _("{value} s").format(value=number(value, digits))
    if size < 2 * SECONDS_PER_HOUR:
        return _("{value} min").format(value=number(value / 60, digits))
    if size < 2 * SECONDS_PER_DAY:
        return _("{value} h").format(value=number(value / SECONDS_PER_HOUR, digits))
    # Two at least, so the English plural always holds.
    if size < 2 * _SECONDS_PER_YEAR:
        return _("{value} days").format(value=number(value / SECONDS_PER_DAY, digits))
    return _("{value} years").format(value=number(value / _SECONDS_PER_YEAR, digits))


def moment(value: datetime.datetime) -> str:
    """A moment in the time zone of the computer: "Nov 30, 2026 14:05"."""
    here = value.astimezone()
    return f"{date(here)} {here:%H:%M}"


def date(value: datetime.date | str | None) -> str:
    """A date as the language writes it: "Nov 30, 2026", "2026年11月30日".

    Sources often give a year or a month only: "2026-11" is "Nov 2026". Text that is not an ISO date is returned as
    it stands.
    """
    if value is None or value == "":
        return NOT_KNOWN
    if isinstance(value, datetime.datetime):
        value = value.date()
    return _date(language(), value if isinstance(value, str) else value.isoformat())


# The Chinese patterns are CLDR's; Babel offers no "month of year" pattern by a width name.
_DATE_PATTERNS = {
    "en": {4: "y", 7: "MMM y", 10: "MMM d, y"},
    "zh": {4: "y", 7: "y年M月", 10: "y年M月d日"},
}


@lru_cache(maxsize=4096)
def _date(code: str, text: str) -> str:
    pattern = _DATE_PATTERNS[code].get(len(text))
    if pattern is None:
        return text
    try:
        day = datetime.date.fromisoformat(text + "0000-01-01"[len(text) :])
    except ValueError:
        return text
    return day.isoformat()[:4] if pattern == "y" else format_date(day, pattern, locale=BABEL_LOCALES[code])
