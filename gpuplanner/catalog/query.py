"""Find entries: by the names people use, by text and figures, and what an entry says line by line."""

import difflib
import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from gpuplanner.catalog.load import ENTRY_KINDS, Catalog
from gpuplanner.catalog.schema import Fact, Record
from gpuplanner.i18n import _
from gpuplanner.units import GIB, TERA

# Words that makers and shops put around a name and that never tell two entries apart.
_VENDOR_WORDS = frozenset(
    "nvidia amd ati intel apple huawei cambricon hygon biren geforce tesla instinct radeon quadro graphics gpu card "
    "accelerator supermicro dell hpe lenovo hugging face meta mistralai google microsoft xeon platinum epyc".split()
)
# Endings of repository names that mean the same weights' shape.
_LLM_ENDINGS = frozenset("instruct chat it hf base fp8 bf16 awq gptq gguf 4bit 8bit int4 int8".split())
_SUGGESTIONS = 5


class UnknownName(LookupError):
    """No entry has this name; `suggestions` are the nearest."""

    def __init__(self, text: str, suggestions: tuple[str, ...]) -> None:
        self.text = text
        self.suggestions = suggestions
        super().__init__(text, suggestions)

    def __str__(self) -> str:
        if not self.suggestions:
            return _("The catalog has no entry “%(name)s”.") % {"name": self.text}
        return _("The catalog has no entry “%(name)s”. Near to it: %(candidates)s") % {
            "name": self.text,
            "candidates": "; ".join(self.suggestions),
        }


class AmbiguousName(LookupError):
    """Several entries may be meant, or a version that the catalog does not hold; `why` says so then."""

    def __init__(self, text: str, candidates: tuple[str, ...], why: str | None = None) -> None:
        self.text = text
        self.candidates = candidates
        self.why = why
        super().__init__(text, candidates, why)

    def __str__(self) -> str:
        names = "; ".join(self.candidates)
        if self.why:
            return _("“%(name)s” does not say which one is meant (%(why)s). Choose: %(candidates)s") % {
                "name": self.text,
                "why": self.why,
                "candidates": names,
            }
        return _("“%(name)s” may be one of several. Choose: %(candidates)s") % {"name": self.text, "candidates": names}


@lru_cache(maxsize=16_384)
def words(text: str) -> tuple[str, ...]:
    """The words of a name in lower case, with units joined to their numbers: "80 GB" is one word, "3.1" too."""
    plain = unicodedata.normalize("NFKC", text).casefold()
    plain = re.sub(r"(\d)\s*(gb|gib|g)\b", r"\1gb", plain)
    plain = re.sub(r"\b(sxm|oam)\d\b", r"\1", plain)
    return tuple(re.findall(r"\d+(?:\.\d+)+|[^\W_]+", plain))


def _key(parts: Iterable[str]) -> str:
    return "".join(part.replace(".", "p") for part in parts)


def exact_key(text: str) -> str:
    """Equal for names that differ in case, spaces and hyphens only."""
    return _key(words(text))


def loose_key(text: str, kind: str) -> str:
    """Equal for names that differ in vendor words too; for LLMs also in owner and ending of a repository name."""
    if kind == "llm":
        text = text.rsplit("/", 1)[-1]
    parts = [part for part in words(text) if part not in _VENDOR_WORDS]
    if kind == "llm":
        while len(parts) > 1 and parts[-1] in _LLM_ENDINGS:
            parts.pop()
    return _key(parts)


def names_of(entry: Any) -> tuple[str, ...]:
    """Everything an entry may be called, its name first."""
    hf_id = getattr(entry, "hf_id", None)
    return (entry.name, entry.id, *((hf_id,) if hf_id else ()), *entry.aliases)


def resolve(catalog: Catalog, kind: str, text: str) -> Any:
    """The one entry that `text` means.

    An exact name wins; then short names that are known to fit several; then aliases and spellings. Raises `UnknownName`
    or `AmbiguousName`, both with names to choose from: nothing is guessed.
    """
    entries = catalog.entries(kind)
    if text in entries:
        return entries[text]
    text = text.strip()
    ambiguous = _ambiguous(catalog, kind, text)
    if ambiguous is not None:
        raise ambiguous
    for key in (exact_key, lambda name: loose_key(name, kind)):
        wanted = key(text)
        found = [e for e in entries.values() if wanted and any(key(name) == wanted for name in names_of(e))]
        if len(found) == 1:
            return found[0]
        if found:
            # The name itself outranks another entry's alias.
            named = [e for e in found if key(e.name) == wanted]
            if len(named) == 1:
                return named[0]
            raise AmbiguousName(text, tuple(e.name for e in found))
    raise UnknownName(text, _suggestions(entries, kind, text))


def _ambiguous(catalog: Catalog, kind: str, text: str) -> AmbiguousName | None:
    if kind != "gpu":
        return None
    if text in catalog.ambiguous:
        candidates, why = catalog.ambiguous[text]
        return AmbiguousName(text, candidates, why)
    for key in (exact_key, lambda name: loose_key(name, kind)):
        wanted = key(text)
        for name, (candidates, why) in catalog.ambiguous.items():
            if key(name) == wanted:
                return AmbiguousName(text, candidates, why)
    return None


def _suggestions(entries: Mapping[str, Any], kind: str, text: str) -> tuple[str, ...]:
    wanted = loose_key(text, kind)
    asked = {part for part in words(text) if part not in _VENDOR_WORDS}
    scores: list[tuple[float, str]] = []
    for entry in entries.values():
        if entry.unlisted:
            continue
        best = max(difflib.SequenceMatcher(None, wanted, loose_key(name, kind)).ratio() for name in names_of(entry))
        shared = len(asked & set(words(entry.name))) / max(1, len(asked))
        scores.append((best + shared, entry.name))
    scores.sort(key=lambda score: -score[0])
    return tuple(name for score, name in scores[:_SUGGESTIONS] if score >= 0.6)


# --- searching -------------------------------------------------------------------------------------------------------


class Filters(NamedTuple):
    """What a search keeps, and its order. `sort` is a key of `SORT_KEYS`, or empty for catalog order."""

    vendors: frozenset[str] = frozenset()
    form_factors: frozenset[str] = frozenset()
    precisions: frozenset[str] = frozenset()
    # Only what can still be bought new.
    made: bool = False
    own: bool = False
    unlisted: bool = False
    sort: str = ""
    descending: bool = False


def _value(fact: Fact | None) -> float | None:
    return None if fact is None else fact.value


def dense16(gpu: Any) -> float | None:
    """Dense 16-bit matrix rate: the better of BF16 and FP16. [FLOP/s]"""
    rates = [gpu.peak_flops[p].value for p in ("bf16", "fp16") if p in gpu.peak_flops]
    return max(rates) if rates else None


def _memory(entry: Any) -> float | None:
    return _value(getattr(entry, "memory_bytes", None))


def _bandwidth(entry: Any) -> float | None:
    return _value(getattr(entry, "memory_bandwidth_bytes_s", None))


def _compute(entry: Any) -> float | None:
    return dense16(entry) if hasattr(entry, "peak_flops") else None


def _power(entry: Any) -> float | None:
    for field in ("board_power_w", "max_power_w", "typical_power_w", "tdp_w", "power_max_w", "power_w"):
        value = _value(getattr(entry, field, None))
        if value is not None:
            return value
    return None


def _params(entry: Any) -> float | None:
    return getattr(entry, "params_total", None)


def _context(entry: Any) -> float | None:
    return getattr(entry, "max_context", None)


def _speed(entry: Any) -> float | None:
    return getattr(entry, "port_bits_s", None)


SORT_KEYS: dict[str, Callable[[Any], Any]] = {
    "name": lambda entry: entry.name.casefold(),
    "release": lambda entry: getattr(entry, "release", "") or None,
    "memory": _memory,
    "bandwidth": _bandwidth,
    "compute": _compute,
    "power": _power,
    "params": _params,
    "context": _context,
    "speed": _speed,
}

# Unit in a comparison: which figure it means, and its size in SI. A card's "48 GB" is its label, which is GiB.
_UNITS: dict[str, tuple[Callable[[Any], float | None], float]] = {
    "gb": (_memory, GIB),
    "gib": (_memory, GIB),
    "tb": (_memory, 1024.0 * GIB),
    "gb/s": (_bandwidth, 1e9),
    "tb/s": (_bandwidth, 1e12),
    "w": (_power, 1.0),
    "kw": (_power, 1e3),
    "tflops": (_compute, TERA),
    "tflop/s": (_compute, TERA),
    "pflops": (_compute, 1e15),
    "b": (_params, 1e9),
    "k": (_context, 1024.0),
    "gb/s/port": (_speed, 8e9),
    "gbit/s": (_speed, 1e9),
    "gbps": (_speed, 1e9),
}
_COMPARISON = re.compile(
    r"(?P<op>>=|<=|≥|≤|>|<|=)\s*(?P<number>\d+(?:[.,]\d+)?)\s*(?P<unit>[a-zA-Z]+(?:/[a-zA-Z]+)?)(?=\s|$|,|;)"
)
# "48 GB" read off a label is met by 48 GiB exactly; figures printed with few digits need a little room.
_CLOSE = 0.005


def parse_query(text: str) -> tuple[tuple[str, ...], tuple[tuple[str, float, str], ...]]:
    """The words and the comparisons of a search text; a comparison is (operator, number, unit). Raises `ValueError`."""
    comparisons = []
    for match in _COMPARISON.finditer(text):
        unit = match["unit"].casefold()
        if unit not in _UNITS:
            raise ValueError(
                _("“%(unit)s” is not a unit that can be compared here: use GB, GB/s, W, TFLOPS, B or k.")
                % {"unit": match["unit"]}
            )
        op = match["op"].replace("≥", ">=").replace("≤", "<=")
        comparisons.append((op, float(match["number"].replace(",", ".")), unit))
    return words(_COMPARISON.sub(" ", text)), tuple(comparisons)


def _meets(entry: Any, op: str, number: float, unit: str) -> bool:
    figure, scale = _UNITS[unit]
    value = figure(entry)
    if value is None:
        return False
    limit = number * scale
    if op == ">=":
        return value >= limit * (1 - _CLOSE)
    if op == "<=":
        return value <= limit * (1 + _CLOSE)
    if op == ">":
        return value > limit * (1 + _CLOSE)
    if op == "<":
        return value < limit * (1 - _CLOSE)
    return abs(value - limit) <= limit * _CLOSE


def search(catalog: Catalog, kind: str, text: str = "", filters: Filters = Filters()) -> tuple[Any, ...]:  # noqa: B008
    """Entries of a kind that contain every word of `text` and meet its comparisons (">= 48 GB", "< 400 W").

    Raises `ValueError` with a sentence for a unit that cannot be compared. An entry whose figure is not known meets no
    comparison; it comes last in any order.
    """
    asked, comparisons = parse_query(text)
    found = []
    for entry in catalog.entries(kind).values():
        if entry.unlisted and not filters.unlisted:
            continue
        if filters.own and entry.name not in catalog.user_names:
            continue
        if filters.vendors and entry.vendor not in filters.vendors:
            continue
        if filters.form_factors and getattr(entry, "form_factor", "") not in filters.form_factors:
            continue
        if filters.made and getattr(entry, "end_of_life", None) is not None:
            continue
        if filters.precisions and not filters.precisions <= set(getattr(entry, "peak_flops", ())):
            continue
        if all(_meets(entry, *comparison) for comparison in comparisons) and _contains(entry, asked):
            found.append(entry)
    if not filters.sort:
        return tuple(found)
    key = SORT_KEYS[filters.sort]
    known = sorted((e for e in found if key(e) is not None), key=key, reverse=filters.descending)
    return tuple(known + [e for e in found if key(e) is None])


def _contains(entry: Any, asked: tuple[str, ...]) -> bool:
    if not asked:
        return True
    extra = (
        entry.vendor,
        getattr(entry, "architecture", ""),
        getattr(entry, "form_factor", ""),
        getattr(entry, "technology", ""),
    )
    text = " ".join((*names_of(entry), *extra)).casefold()
    squeezed = exact_key(text)
    return all(word in text or word.replace(".", "p") in squeezed for word in asked)


# --- describing ------------------------------------------------------------------------------------------------------


class Line(NamedTuple):
    """One figure or property of an entry. `source` and `mark` are None where it has no source of its own."""

    key: str
    value: Any
    unit: str | None
    source: str | None
    mark: str | None


_UNIT_ENDINGS = (
    ("_bytes_s", "byte/s"),
    ("_bits_s", "bit/s"),
    ("_transfers_s", "1/s"),
    ("bytes_per_sequence", "byte"),
    ("_bytes", "byte"),
    ("_m3_s", "m³/s"),
    ("latency_s", "s"),
    ("_kg", "kg"),
    ("_w", "W"),
    ("_c", "°C"),
    ("rack_units", "U"),
    ("age_years", "a"),
)


def unit_of(key: str) -> str | None:
    """The SI unit that a key names, None for counts and words."""
    if key.startswith("peak_flops."):
        return "FLOP/s"
    return next((unit for ending, unit in _UNIT_ENDINGS if key.endswith(ending)), None)


def describe(entry: Any, catalog: Catalog) -> list[Line]:
    """Everything the catalog says about an entry, in the order of its record; then its prices."""
    lines = list(_lines("", entry))
    if hasattr(entry, "name"):
        for price in catalog.prices_of(entry.name):
            mark = (
                "unverified"
                if price.source == "unverified"
                else "assumed"
                if price.price_kind == "launch"
                else "primary"
            )
            per = f"{price.currency}/{price.per}" if price.per else price.currency
            lines.append(Line(f"price.{price.id}", price.amount, per, price.source, mark))
    return lines


def _lines(prefix: str, record: Record) -> Iterable[Line]:
    for field in type(record).model_fields:
        value = getattr(record, field)
        key = prefix + field
        if value is None or value == () or value == "" or value == {} or (field == "rules"):
            continue
        if isinstance(value, Fact):
            yield Line(key, value.value, unit_of(key), value.source, value.mark)
        elif isinstance(value, dict):
            for name, item in value.items():
                inner = f"{key}.{name}"
                if isinstance(item, Fact):
                    yield Line(inner, item.value, unit_of(inner), item.source, item.mark)
                else:
                    yield Line(inner, item, None, None, None)
        elif isinstance(value, Record):
            yield from _lines(key + ".", value)
        elif isinstance(value, tuple) and value and isinstance(value[0], Record):
            for place, item in enumerate(value):
                yield from _lines(f"{key}.{place}.", item)
        elif isinstance(value, tuple):
            yield Line(key, list(value), None, None, None)
        else:
            yield Line(key, value, unit_of(key) if isinstance(value, int | float) else None, None, None)


KINDS = ENTRY_KINDS
