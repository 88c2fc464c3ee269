"""What people type, as numbers: separators, full-width digits, Chinese counting words, units and currencies.

Every function takes any text and returns None for what it does not understand: a field then keeps its last good
value. A wrong guess would be worse than a refusal, so a comma only groups thousands ("1,5" is refused, not 15) and
an unknown unit is not ignored. Results are SI: bytes, seconds, watts, fractions.
"""

import datetime
import math
import re
from collections.abc import Iterable
from functools import cache
from typing import NamedTuple

from gpuplanner.units import (
    BITS_PER_BYTE,
    BTU_H_PER_W,
    GB,
    GIB,
    HOURS_PER_YEAR,
    KIB,
    M3_H_PER_CFM,
    MIB,
    MONTHS_PER_YEAR,
    SECONDS_PER_DAY,
    SECONDS_PER_HOUR,
    TB,
    W_PER_TON,
)

# Longer than any number that format.exact writes (the smallest double has 326 places).
_LONGEST = 1000


class Scale(NamedTuple):
    """A unit against SI: value × times ÷ over + offset. A whole divisor keeps 35 ms equal to 0.035 s, to the bit."""

    times: float = 1
    over: float = 1
    offset: float = 0

    def si(self, shown: float) -> float:
        """The SI value of a figure in this unit."""
        return shown * self.times / self.over + self.offset

    def shown(self, si: float) -> float:
        """The figure in this unit for an SI value."""
        return (si - self.offset) * self.over / self.times


class Money(NamedTuple):
    """A typed amount; `currency` is an ISO code, or None where none was typed."""

    amount: float
    currency: str | None


_KIBI = ((KIB, "Ki"), (MIB, "Mi"), (GIB, "Gi"), (2**40, "Ti"))
_YEAR_S = HOURS_PER_YEAR * SECONDS_PER_HOUR

# Chinese counting words stand before any unit: 1.5 万 kW.
_COUNTING = {"百": 1e2, "千": 1e3, "万": 1e4, "萬": 1e4, "百万": 1e6, "千万": 1e7, "亿": 1e8, "億": 1e8, "万亿": 1e12}

_COUNT_PREFIXES = {
    "k": 1e3,
    "m": 1e6,
    "mn": 1e6,
    "million": 1e6,
    "g": 1e9,
    "b": 1e9,
    "bn": 1e9,
    "billion": 1e9,
    "t": 1e12,
    "tn": 1e12,
    "trillion": 1e12,
    "thousand": 1e3,
    "ki": KIB,
    "mi": MIB,
    "gi": GIB,
}
_COUNT_WORDS = (
    "token tokens tok user users request requests server servers node nodes gpu gpus card cards step steps "
    "epoch epochs people 人 个 位 台 张 块 卡 次 步 轮 路 词元"
).split()


# A unit and its names, the one that a field shows first.
Units = Iterable[tuple[Scale, str]]


def _count_units() -> Units:
    yield Scale(), " ".join(("count", *_COUNT_WORDS))
    for prefix, size in _COUNT_PREFIXES.items():
        yield Scale(size), " ".join(prefix + word for word in ("", *_COUNT_WORDS))


def _byte_units() -> Units:
    yield Scale(), "B byte bytes 字节"
    for size, name in ((1e3, "k"), (1e6, "M"), (GB, "G"), (TB, "T"), (1e15, "P")):
        yield Scale(size), f"{name}B {name}"
        yield Scale(size, BITS_PER_BYTE), f"{name}bit {name}bits"
    for size, name in _KIBI:
        yield Scale(size), f"{name}B {name}"


def _rate_units() -> Units:
    yield Scale(), "B/s"
    for size, name in ((1e3, "k"), (1e6, "M"), (GB, "G"), (TB, "T")):
        yield Scale(size), f"{name}B/s {name}Bps {name}B"
        yield Scale(size, BITS_PER_BYTE), f"{name}b/s {name}bit/s {name}bps {name}bit"
    # What people say of a network: a "100G" or "100 GbE" port carries bits.
    yield Scale(GB, BITS_PER_BYTE), "GbE"
    for size, name in _KIBI:
        yield Scale(size), f"{name}B/s"


# The first unit of each kind is the SI unit, or what the program uses in its place.
_UNITS: dict[str, tuple[tuple[Scale, str], ...]] = {
    "count": tuple(_count_units()),
    "bytes": tuple(_byte_units()),
    "bytes/s": tuple(_rate_units()),
    "FLOP/s": (
        (Scale(), "FLOP/s FLOPS"),
        (Scale(1e9), "GFLOPS GFLOP/s G"),
        (Scale(1e12), "TFLOPS TFLOP/s T TOPS"),
        (Scale(1e15), "PFLOPS PFLOP/s P"),
    ),
    "seconds": (
        (Scale(), "s sec secs second seconds 秒 秒钟"),
        (Scale(1, 10**6), "µs μs us 微秒"),
        (Scale(1, 10**3), "ms msec 毫秒"),
        (Scale(60), "min mins minute minutes m 分 分钟"),
        (Scale(SECONDS_PER_HOUR), "h hr hrs hour hours 时 小时"),
        (Scale(SECONDS_PER_DAY), "days day d 天 日"),
        (Scale(7 * SECONDS_PER_DAY), "weeks week w wk 周 星期"),
        (Scale(_YEAR_S, MONTHS_PER_YEAR), "months month mo 月 个月"),
        (Scale(_YEAR_S), "years year yr y 年"),
    ),
    "watts": (
        (Scale(), "W watt watts 瓦"),
        (Scale(1e3), "kW k 千瓦"),
        (Scale(1e6), "MW M 兆瓦"),
        (Scale(1, BTU_H_PER_W), "BTU/h"),
        (Scale(1e3, BTU_H_PER_W), "kBTU/h"),
        (Scale(W_PER_TON), "tons ton TR RT 冷吨"),
    ),
    "joules": (
        (Scale(), "J"), (Scale(SECONDS_PER_HOUR), "Wh"), (Scale(1e3 * SECONDS_PER_HOUR), "kWh 度 千瓦时"),
        (Scale(1e6 * SECONDS_PER_HOUR), "MWh"),
    ),
    "percent": ((Scale(1, 100), "% percent pct"), (Scale(1, 1000), "‰")),
    "ratio": ((Scale(), "× x times 倍"), (Scale(1, 100), "%")),
    "celsius": ((Scale(), "°C C ℃ 度"), (Scale(5, 9, -160 / 9), "°F F ℉")),
    "kelvins": ((Scale(), "K °C ℃"), (Scale(5, 9), "°F ℉")),
    "metres": (
        (Scale(), "m 米"), (Scale(1, 100), "cm 厘米"), (Scale(1, 1000), "mm 毫米"), (Scale(1e3), "km 公里"),
        (Scale(3048, 10_000), "ft"), (Scale(254, 10_000), "in"),
    ),
    "kilograms": ((Scale(), "kg 公斤 千克"), (Scale(1, 1000), "g"), (Scale(45_359_237, 10**8), "lb lbs")),
    "m³/s": (
        (Scale(), "m³/s m3/s"), (Scale(1, 3600), "m³/h m3/h"), (Scale(M3_H_PER_CFM, 3600), "CFM"),
        (Scale(1, 60_000), "L/min l/min"),
    ),
}  # fmt: skip

_KINDS = {kind: {name: scale for scale, names in units for name in names.split()} for kind, units in _UNITS.items()}


def _field_units() -> dict[str, tuple[str, Scale]]:
    # A field of counts is in ones, whatever they are called: "k" is typed in it, and does not name it.
    ones, names_of_ones = _UNITS["count"][0]
    found = {name: ("count", ones) for name in names_of_ones.split()}
    for kind, units in _UNITS.items():
        if kind == "count":
            continue
        found[kind] = kind, units[0][0]
        for scale, names in units:
            found.setdefault(names.split()[0], (kind, scale))
    return found


# What a field may name as its unit: the first name of each, and the kinds.
_FIELD_UNITS = _field_units()

_ALIASES = str.maketrans(
    # Full-width forms of a Chinese input method, spaces of every width, and the signs that look like a minus.
    {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)}
    | dict.fromkeys(map(ord, "\u00a0\u2002\u2003\u2007\u2009\u200a\u202f\u3000\t"), " ")
    | dict.fromkeys(map(ord, "\u2212\u2013\uff0d\ufe63"), "-")
    | {ord("￥"): "¥", ord("。"): "."}
)

_DIGITS = r"(?:[0-9]{1,3}(?:,[0-9]{3})+|[0-9]{1,3}(?: [0-9]{3})+|[0-9]+)(?:\.[0-9]*)?|\.[0-9]+"
_NUMBER = re.compile(rf"([+-]?) ?({_DIGITS})([eE][+-]?[0-9]{{1,3}})?")
_PART = re.compile(r"([0-9]+(?:\.[0-9]+)?) *([^\W0-9_]+) *")
_DATE = re.compile(r"([0-9]{4}) *[-/.年] *([0-9]{1,2}) *[-/.月] *([0-9]{1,2}) *日?")


def _normalised(text: str) -> str:
    return text.translate(_ALIASES).strip() if len(text) <= _LONGEST else ""


def _number_and_rest(text: str) -> tuple[float, str] | None:
    """The number that a normalised text begins with, and what stands behind it without its spaces."""
    match = _NUMBER.match(text)
    if match is None:
        return None
    sign, digits, exponent = match.groups()
    value = float(sign + digits.replace(",", "").replace(" ", "") + (exponent or ""))
    return value, text[match.end() :].replace(" ", "")


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def parse_number(text: str) -> float | None:
    """A bare number, "1,234.5" or "１２３" or "1e6"; None for anything else, a unit included."""
    read = _number_and_rest(_normalised(text))
    return _finite(read[0]) if read and not read[1] else None


def unit_scale(unit: str) -> Scale:
    """How the unit of a field relates to SI. Raises `ValueError` for a unit that `parse_quantity` does not list."""
    return _field_unit(unit)[1]


def _field_unit(unit: str) -> tuple[str, Scale]:
    if unit not in _FIELD_UNITS:
        raise ValueError(f"no such unit: {unit!r} (there are {', '.join(_FIELD_UNITS)})")
    return _FIELD_UNITS[unit]


@cache
def _caseless(kind: str) -> dict[str, Scale]:
    names: dict[str, Scale] = {}
    for name, scale in _KINDS[kind].items():
        names.setdefault(name.casefold(), scale)
    return names


def _scale_of(typed: str, kind: str, field_unit: str, field_scale: Scale) -> Scale | None:
    """The unit that was typed behind a number, None if it is none of this kind."""
    if not typed or (typed.casefold() == field_unit.casefold() and typed not in _KINDS[kind]):
        return field_scale
    found = _KINDS[kind].get(typed) or _caseless(kind).get(typed.casefold())
    if found:
        return found
    for size in (2, 1):
        if typed[:size] in _COUNTING:
            behind = _scale_of(typed[size:], kind, field_unit, field_scale)
            return behind and behind._replace(times=behind.times * _COUNTING[typed[:size]])
    # "100G" in a field of Gb/s: bits, because the field counts bits.
    return field_scale if field_unit.casefold().startswith(typed.casefold()) else None


def parse_quantity(text: str, unit: str) -> float | None:
    """What was typed in a field whose unit is `unit`, in SI; None if it is not understood.

    Parameters
    ----------
    text : str
        "0.5 TB", "80g", "128k", "5 万", "30ms", "1 h 30 min", "6.4 kW", "20%". Without a unit the number is in the
        field's; a lone prefix is one of the SI unit ("2k" in a field of kW is 2 kW). "G" is 10⁹ and "Gi" is 2³⁰, so
        "80 GB" is less than the memory of an "80 GB" card. Upper and lower case count only where both exist: GB/s
        and Gb/s. A month is a twelfth of a year of 8,760 hours.
    unit : str
        The field's unit: "count", "tokens", "users", "B", "GB", "GiB", "s", "ms", "min", "h", "days", "months",
        "years", "W", "kW", "tons", "kBTU/h", "%", "×", "GB/s", "Gb/s", "TFLOPS", "kWh", "°C", "K", "m", "mm", "kg",
        "m³/h", "CFM" and so on; or the kind, which stands for its SI unit: "bytes", "seconds", "watts",
        "percent", "ratio".

    Returns
    -------
    float or None
        Bytes, seconds, watts, joules, FLOP/s, bytes/s, a fraction or a count; °C for temperatures. Finite.

    Raises
    ------
    ValueError
        For an unknown `unit`; never because of `text`.
    """
    kind, scale = _field_unit(unit)
    clean = _normalised(text)
    read = _number_and_rest(clean)
    if read is None:
        return None
    value, typed = read
    found = _scale_of(typed, kind, unit, scale)
    if found:
        return _finite(found.si(value))
    return _compound(clean) if kind == "seconds" else None


def _compound(text: str) -> float | None:
    """The sum of a time in parts, "1 h 30 min" or "2天3小时"."""
    total, at = 0.0, 0
    while at < len(text):
        part = _PART.match(text, at)
        scale = part and _KINDS["seconds"].get(part[2])
        if not part or not scale:
            return None
        total += scale.si(float(part[1]))
        at = part.end()
    return _finite(total)


_CURRENCY_NAMES = {
    name: code
    for code, names in {
        "USD": "$ us$ 美元 美金",
        "CNY": "¥ cn¥ rmb 元 块 人民币 元人民币",
        "EUR": "€ 欧元",
        "GBP": "£ 英镑",
        "JPY": "jp¥ 円 日元",
        "HKD": "hk$ 港元 港币",
        "TWD": "nt$ 新台币",
        "KRW": "₩ 韩元",
        "INR": "₹",
        "SGD": "s$",
        "AUD": "a$ au$",
        "CAD": "ca$",
    }.items()
    for name in names.split()
}
_MONEY_STEPS = {**_COUNT_PREFIXES, **_COUNTING}
_BEFORE_NUMBER = re.compile(r"([+-]?) ?([^0-9.+-]*?) ?(?=[-+]? ?[.0-9])")


def parse_money(text: str, currency: str | None = None) -> Money | None:
    """A typed amount: "1.5 M$", "¥100,000", "200k", "132 万元", "USD 8,500".

    `currency` is returned where none was typed. "$" is the US dollar and "¥" the yuan, as `format.money` writes them.
    None if the text is not an amount, or names two currencies.
    """
    clean = _normalised(text)
    before = _BEFORE_NUMBER.match(clean)
    if before is None:
        return None
    sign, mark = before.groups()
    read = _number_and_rest(clean[before.end() :])
    if read is None or (sign and clean[before.end()] in "+-"):
        return None
    value, typed = read
    behind = _step_and_currency(typed)
    in_front = _currency(mark.strip()) if mark.strip() else ""
    if behind is None or in_front is None or (in_front and behind[1] and in_front != behind[1]):
        return None
    amount = _finite((-value if sign == "-" else value) * behind[0])
    return None if amount is None else Money(amount, in_front or behind[1] or currency)


def _step_and_currency(typed: str) -> tuple[float, str] | None:
    """What stands behind an amount: a large-number word, a currency, both in this order, or nothing."""
    if not typed:
        return 1.0, ""
    if named := _currency(typed):
        return 1.0, named
    lowered = typed.casefold()
    for step in sorted(_MONEY_STEPS, key=len, reverse=True):
        if lowered == step:
            return _MONEY_STEPS[step], ""
        if lowered.startswith(step) and (named := _currency(typed[len(step) :])):
            return _MONEY_STEPS[step], named
    return None


def _currency(name: str) -> str | None:
    """The ISO code of a currency's mark, name or code."""
    return _CURRENCY_NAMES.get(name.casefold()) or (name.upper() if name.upper() in _iso_codes() else None)


@cache
def _iso_codes() -> frozenset[str]:
    # Loaded at the first amount with an unknown mark: Babel's names of all currencies are not needed to start.
    from babel import Locale

    return frozenset(Locale.parse("en").currencies)


def parse_date(text: str) -> datetime.date | None:
    """A day with the year first: "2026-11-30", "2026/11/30", "2026年11月30日". Other orders are ambiguous: None."""
    match = _DATE.fullmatch(_normalised(text))
    if match is None:
        return None
    try:
        return datetime.date(*(int(part) for part in match.groups()))
    except ValueError:
        return None
