"""What the catalog panel and its dialogs say about an entry: table rows, figures with their sources, marks. No widgets.

Figures are shown in the units that data sheets use; the record keeps SI. What a record does not hold is "not known".
"""

import datetime
from collections.abc import Callable, Iterable, Set
from typing import Any, NamedTuple

from gpuplanner.catalog.check import ONE_SOURCE, compared
from gpuplanner.catalog.load import Catalog
from gpuplanner.catalog.schema import (
    PRECISIONS,
    Entry,
    Fact,
    Gpu,
    Link,
    Llm,
    Nic,
    Optic,
    Precision,
    Price,
    Server,
    Switch,
)
from gpuplanner.i18n import N_, _, format, language, ngettext
from gpuplanner.model.plan import Plan
from gpuplanner.units import GIB, GIGA, KIB, KILO, M3_H_PER_CFM, SECONDS_PER_HOUR, TERA

TABS = ("gpus", "servers", "llms", "network", "prices")
KINDS = {"gpus": ("gpu",), "servers": ("server",), "llms": ("llm",), "network": ("switch", "nic", "optic", "link")}
TITLES = {
    "gpus": N_("GPUs"),
    "servers": N_("Servers"),
    "llms": N_("Models"),
    "network": N_("Network"),
    "prices": N_("Prices"),
}

# A price older than this is marked: no market for cards stands still for half a year.
OLD_PRICE_MONTHS = 6

# A shape before a word, so that the mark does not rest on colour.
MARKS = {
    "secondary": ("○", N_("secondary source")),
    "derived": ("ƒ", N_("derived")),
    "assumed": ("≈", N_("assumed")),
    "unverified": ("◇", N_("unverified")),
}

PRECISION_NAMES = {
    "fp64": "FP64",
    "fp64_matrix": N_("FP64 matrix"),
    "fp32": "FP32",
    "fp32_matrix": N_("FP32 matrix"),
    "tf32": "TF32",
    "bf16": "BF16",
    "fp16": "FP16",
    "fp16_acc16": N_("FP16, 16-bit sum"),
    "fp8": "FP8",
    "fp8_acc16": N_("FP8, 16-bit sum"),
    "int8": "INT8",
    "fp4": "FP4",
    "int4": "INT4",
}
# The two rates that a small card shows.
PRECISIONS_OF_THE_CARD: tuple[Precision, ...] = ("bf16", "fp8")
CONDITIONS = {
    "new": N_("new"),
    "used": N_("used"),
    "owned": N_("owned"),
    "rented": N_("rented"),
}

Convert = Callable[[float, str], float | None]


class Column(NamedTuple):
    """A column of a catalog table. ``width`` is a first guess; the user's own is remembered."""

    key: str
    title: str
    tip: str
    width: int
    right: bool = True


class Cell(NamedTuple):
    """One cell: what is painted, what it sorts by (None last), and the mark of its figure."""

    text: str
    sort: float | str | None = None
    mark: str = ""


class Row(NamedTuple):
    """One entry or price in a table. ``label`` is the name as the table shows it, ``suffix`` a word behind it."""

    kind: str
    name: str
    label: str
    suffix: str
    cells: tuple[Cell, ...]
    own: bool


class FactLine(NamedTuple):
    """One figure of an entry. ``sources`` are ids; ``key`` = it belongs on the small card."""

    label: str
    text: str
    unit: str = ""
    extra: str = ""
    sources: tuple[str, ...] = ()
    mark: str = ""
    key: bool = False


class Sheet(NamedTuple):
    """Everything that is shown about one entry."""

    kind: str
    name: str
    title: str
    subtitle: str
    lines: tuple[FactLine, ...]
    warnings: tuple[str, ...]
    notes: tuple[str, ...]
    own: bool


class ShownPrice(NamedTuple):
    """The price that stands for an entry. ``currency`` is empty for the plan's, else its own: no rate is known."""

    price: Price
    amount: float
    low: float | None
    high: float | None
    currency: str


def mark_words(mark: str) -> str:
    """The mark of a figure in words, with its shape: "◇ unverified"; empty for one that was read in a data sheet."""
    if mark not in MARKS:
        return ""
    shape, word = MARKS[mark]
    return f"{shape} {_(word)}"


def mark_shape(mark: str) -> str:
    """The shape of a mark alone, for a cell without room for the word."""
    return MARKS[mark][0] if mark in MARKS else ""


# --- prices --------------------------------------------------------------------


def converter(plan: Plan, catalog: Catalog) -> Convert:
    """How an amount becomes one in the plan's currency: by the plan's rates, else by the catalog's class values."""
    rates = {rate.currency: 1 / rate.per_base for rate in plan.exchange_rates}
    rates[plan.currency] = 1.0
    dollars = {"USD": 1.0}
    for assumption in catalog.assumptions:
        if assumption.key == "exchange_rate":
            one, _per, other = assumption.applies_to.partition(" per ")
            if other == "USD":
                dollars[one] = 1 / assumption.value
            elif one == "USD":
                dollars[other] = assumption.value

    def convert(amount: float, currency: str) -> float | None:
        if currency in rates:
            return amount * rates[currency]
        if currency in dollars and plan.currency in dollars:
            return amount * dollars[currency] / dollars[plan.currency]
        return None

    return convert


def newest_price(prices: Iterable[Price], condition: str) -> Price | None:
    """The newest market price in this condition; the newest launch price only where there is no market price."""
    fitting = [price for price in prices if price.condition == condition and price.kind != "cloud-hour"]
    market = [price for price in fitting if price.price_kind != "launch"]
    return max(market or fitting, key=lambda price: price.date, default=None)


# What a price is called that no seller stated.
_CLASS_VALUE = "class value"


def shown_price(catalog: Catalog, entry: Entry, convert: Convert, condition: str | None = None) -> ShownPrice | None:
    """The price that stands for `entry`.

    Without a condition that of a new one, or of a used one where it is no longer made or has no price as new.
    """
    prices = catalog.prices_of(entry.name)
    made = not getattr(entry, "end_of_life", None)
    conditions = (condition,) if condition else ("new", "used") if made else ("used",)
    for wanted in conditions:
        if price := newest_price(prices, wanted):
            return convert_price(price, convert)
    guess = None if condition == "used" else _class_price(catalog, entry)
    return convert_price(guess, convert) if guess is not None else None


def _class_price(catalog: Catalog, entry: Entry) -> Price | None:
    """The class value that stands in for a card without any price; marked assumed wherever it is shown."""
    for row in catalog.assumptions:
        if row.key == "price_card" and row.applies_to == entry.name:
            return Price(
                id=f"class-value-{entry.id}", item=entry.name, entry=entry.name, kind=_CLASS_VALUE, condition="new",
                currency=row.unit[:3], amount=row.value, low=row.low, high=row.high, date=row.date or catalog.date,
                source=row.source, confidence="low", note=row.note,
            )  # fmt: skip
    return None


def convert_price(price: Price, convert: Convert) -> ShownPrice:
    """A price in the plan's currency, or in its own where no exchange rate is known."""
    amount = convert(price.amount, price.currency)
    if amount is None or not price.amount:
        return ShownPrice(price, price.amount, price.low, price.high, price.currency)
    rate = amount / price.amount
    return ShownPrice(price, amount, _times(price.low, rate), _times(price.high, rate), "")


def _times(value: float | None, rate: float) -> float | None:
    return None if value is None else value * rate


def months_old(date: str, today: datetime.date) -> int | None:
    """Whole months since a date of which the day or month may be missing; None if it is no date."""
    parts = date.split("-")
    try:
        year, month = int(parts[0]), int(parts[1]) if len(parts) > 1 else 6
    except ValueError:
        return None
    return max(0, (today.year - year) * 12 + today.month - month)


def price_mark(price: Price) -> str:
    """The mark of a price: a launch price is history, one without a source is unverified, a weak one is secondary."""
    if price.kind == _CLASS_VALUE:
        return "assumed"
    if price.source == "unverified":
        return "unverified"
    if price.price_kind == "launch":
        return "assumed"
    return "secondary" if price.confidence == "low" else ""


# --- tables --------------------------------------------------------------------


def columns(tab: str, currency: str) -> tuple[Column, ...]:
    """The columns of a tab behind the tick."""
    _step, word = _price_step()
    price = Column("price", f"{word}{format.currency_mark(currency)}", _("Newest price of one card or server"), 40)
    if tab == "gpus":
        return (
            Column("name", _("Name"), _("Name; “used” where only second-hand prices are known"), 104, right=False),
            Column("memory", "GB", _("Memory as printed on the box"), 31),
            Column("bandwidth", "TB/s", _("Memory bandwidth"), 32),
            Column("flops", "TFLOPS", _("Dense 16-bit peak: the better of BF16 and FP16"), 48),
            Column("power", "W", _("Board power"), 42),
            price,
        )
    if tab == "servers":
        return (
            Column("name", _("Name"), _("Server or chassis"), 168, right=False),
            Column("gpus", _("GPUs"), _("GPUs in one server"), 38),
            Column("units", "U", _("Height in rack units"), 28),
            Column("power", "kW", _("Rated power of the whole server"), 38),
            price,
        )
    if tab == "llms":
        return (
            Column("name", _("Name"), _("Language model"), 140, right=False),
            Column("params", "B", _("Parameters in billions"), 44),
            Column("active", _("Active"), _("Parameters that one token uses, in billions"), 44),
            Column("context", _("Context"), _("Longest context, in units of 1,024 tokens"), 50),
            Column("attention", _("Attn."), _("How attention keeps its cache"), 44),
        )
    if tab == "network":
        return (
            Column("name", _("Name"), _("Network card, switch, module or link"), 150, right=False),
            Column("what", _("Kind"), _("What it is"), 46, right=False),
            Column("ports", _("Ports"), _("Ports of one device"), 38),
            Column("speed", "Gb/s", _("Speed of one port, one direction"), 42),
            Column("power", "W", _("Typical power"), 36),
        )
    return (
        Column("name", _("Item"), _("What the price is for"), 120, right=False),
        Column("condition", _("Cond."), _("New or used"), 40, right=False),
        Column("region", _("Region"), _("Where the price was seen"), 44, right=False),
        Column("date", _("Date"), _("When the price was seen"), 60, right=False),
        Column("amount", _("Price"), _("In the currency of the source"), 62),
    )


NETWORK_WORDS = {"switch": N_("switch"), "nic": N_("card"), "optic": N_("module"), "link": N_("link")}


def rows(tab: str, catalog: Catalog, convert: Convert, own_prices: Set[str] = frozenset()) -> tuple[Row, ...]:
    """All entries of a tab that are offered to buyers: cards from the fastest down, the rest in catalog order.

    `own_prices` are the ids of the prices that the user entered.
    """
    if tab == "prices":
        return tuple(_price_row(price, own_prices) for price in catalog.prices)
    made: list[Row] = []
    for kind in KINDS[tab]:
        for entry in catalog.entries(kind).values():
            if not entry.unlisted:
                made.append(_row(kind, entry, catalog, convert))
    if tab == "gpus":
        made.sort(key=lambda row: -_fastest(catalog.find(row.kind, row.name)))
    return tuple(made)


def _fastest(gpu: Gpu) -> float:
    """What cards are ordered by: the dense 16-bit rate; without one a card comes last."""
    rate = peak_16_bit(gpu)
    return 0.0 if rate is None else rate.value


# Families that no card shares its number with: the name is as clear without them, and a narrow column shows more of it.
_FAMILIES = ("NVIDIA ", "GeForce ", "Tesla ", "Instinct ", "AMD ", "Intel ")


def short_name(name: str) -> str:
    """A card's name without its maker's family, and without the memory size that stands in the next column."""
    shown = name
    for family in _FAMILIES:
        shown = shown.removeprefix(family)
    words = shown.rsplit(" ", 1)
    return words[0] if len(words) == 2 and words[1].endswith("GB") and words[1][:-2].isdigit() else shown


def peak_16_bit(gpu: Gpu) -> Fact | None:
    """The dense 16-bit matrix rate: the better of BF16 and FP16."""
    rates = [gpu.peak_flops[precision] for precision in ("bf16", "fp16") if precision in gpu.peak_flops]
    return max(rates, key=lambda fact: fact.value, default=None)


def _row(kind: str, entry: Any, catalog: Catalog, convert: Convert) -> Row:
    own = entry.name in catalog.user_names
    label, suffix = entry.name, ""
    if kind == "gpu":
        shown = shown_price(catalog, entry, convert)
        label = short_name(entry.name)
        suffix = _("used") if shown and shown.price.condition == "used" else ""
        cells: tuple[Cell, ...] = (
            _fact_cell(entry.memory_bytes, GIB, format.exact),
            _fact_cell(entry.memory_bandwidth_bytes_s, TERA, _two_places),
            _fact_cell(peak_16_bit(entry), TERA, format.count),
            _fact_cell(entry.board_power_w, 1, format.count),
            _price_cell(shown),
        )
    elif kind == "server":
        cells = (
            Cell(format.count(entry.gpus_per_server), entry.gpus_per_server),
            _fact_cell(entry.rack_units, 1, format.exact),
            _fact_cell(entry.max_power_w, KILO, _one_place),
            _price_cell(shown_price(catalog, entry, convert)),
        )
    elif kind == "llm":
        cells = (
            Cell(format.number(entry.params_total / GIGA), entry.params_total),
            Cell(format.number(entry.params_active / GIGA), entry.params_active),
            _context_cell(entry.max_context),
            Cell(entry.attention.kind, entry.attention.kind),
        )
    else:
        bits = getattr(entry, "port_bits_s", None)
        if isinstance(entry, Link) and entry.one_way_bytes_s is not None:
            bits = entry.one_way_bytes_s.value * 8
        ports = getattr(entry, "ports", None)
        cells = (
            Cell(_(NETWORK_WORDS[kind]), NETWORK_WORDS[kind]),
            Cell(format.count(ports), ports),
            Cell(format.count(bits and bits / GIGA), bits),
            _fact_cell(getattr(entry, "power_w", None), 1, format.exact),
        )
    return Row(kind, entry.name, label, suffix, (Cell(label, entry.name.casefold()), *cells), own)


def _price_row(price: Price, own: Set[str]) -> Row:
    return Row(
        "price",
        price.id,
        price.item,
        "",
        (
            Cell(price.item, price.item.casefold()),
            Cell(_(CONDITIONS[price.condition]) if price.condition else format.NOT_KNOWN, price.condition),
            Cell(price.region or format.NOT_KNOWN, price.region or None),
            Cell(price.date[:7], price.date),
            Cell(format.money(price.amount, price.currency), price.amount, price_mark(price)),
        ),
        price.id in own,
    )


def _fact_cell(fact: Fact | None, scale: float, write: Callable[[float], str]) -> Cell:
    if fact is None:
        return Cell(format.NOT_KNOWN)
    value = fact.value / scale
    return Cell(write(value), value, fact.mark if fact.mark in MARKS else "")


def _price_step() -> tuple[float, str]:
    """What prices of a column are counted in, as the language counts large numbers."""
    return (1e4, "万") if language() == "zh" else (KILO, "k")


def _price_cell(shown: ShownPrice | None) -> Cell:
    if shown is None:
        return Cell(format.NOT_KNOWN)
    text = _one_place(shown.amount / _price_step()[0])
    if shown.currency:
        text = format.money(shown.amount, shown.currency)
    return Cell(text, shown.amount, price_mark(shown.price))


def _context_cell(tokens: int | None) -> Cell:
    if tokens is None:
        return Cell(format.NOT_KNOWN)
    return Cell(f"{format.count(tokens / KIB)}k" if tokens >= KIB else format.count(tokens), tokens)


def _one_place(value: float) -> str:
    if value < 1:
        return format.exact(round(value, 2))
    return format.number(value, 3 if value >= 10 else 2)


def _two_places(value: float) -> str:
    return format.number(value, 3 if value >= 1 else 2)


# --- one entry -----------------------------------------------------------------


def sheet(kind: str, entry: Any, catalog: Catalog, convert: Convert, currency: str, today: datetime.date) -> Sheet:
    """Everything that is known about an entry, each figure with its unit, its sources and its mark."""
    makers: dict[str, Callable[[Any, Catalog], tuple[str, list[FactLine], list[str]]]] = {
        "gpu": _gpu,
        "server": _server,
        "llm": _llm,
        "price": _price,
    }
    make = makers.get(kind, _network)
    subtitle, lines, warnings = make(entry, catalog)
    if kind in ("gpu", "server"):
        price_lines, price_warnings = _prices_of(entry, catalog, convert, currency, today)
        lines += price_lines
        warnings += price_warnings
    if kind == "price":
        warnings += _age_warning(entry.date, today)
    if kind == "gpu" and entry.name not in catalog.user_names and not compared(entry):
        warnings.append(_(ONE_SOURCE))
    if entry.confidence == "low":
        warnings.append(_("Low confidence: check these figures before you rely on them."))
    notes = [text for text in (entry.note,) if text]
    name = entry.id if kind == "price" else entry.name
    title = entry.item if kind == "price" else entry.name
    vendor = getattr(entry, "vendor", "")
    if vendor and not title.startswith(vendor):
        title = f"{vendor} {title}"
    own = kind != "price" and entry.name in catalog.user_names
    shown = tuple(line for line in lines if line.text)
    return Sheet(kind, name, title, subtitle, shown, tuple(warnings), tuple(notes), own)


def source_line(catalog: Catalog, source: str) -> str:
    """A source as the foot of a card names it: what, and from when."""
    if source == "unverified":
        return _("No source: a figure that somebody states")
    record = catalog.sources.get(source)
    if record is None:
        return source
    title = record.title or record.where
    return f"{title}, {record.date}" if record.date and record.date not in title else title


def _line(label: str, fact: Fact | None, scale: float, unit: str, key: bool = False, extra: str = "") -> FactLine:
    if fact is None:
        return FactLine(label, format.NOT_KNOWN, "", "", (), "", key)
    # Five figures hold every data sheet; more would be the noise of a conversion.
    text = format.exact(float(f"{fact.value / scale:.5g}"))
    return FactLine(label, text, unit, extra, (fact.source,), fact.mark, key)


def _dots(*parts: str) -> str:
    return " · ".join(part for part in parts if part)


def _gpu(gpu: Gpu, catalog: Catalog) -> tuple[str, list[FactLine], list[str]]:
    subtitle = _dots(gpu.form_factor, gpu.architecture.split(" (")[0], format.date(gpu.release) if gpu.release else "")
    main: list[Precision] = [precision for precision in PRECISIONS_OF_THE_CARD if precision in gpu.peak_flops]
    if "bf16" not in main:
        main = ["fp16"]
    known = [gpu.peak_flops[precision] for precision in main if precision in gpu.peak_flops]
    lines = [
        _line(_("Memory"), gpu.memory_bytes, GIB, _dots_space("GB", gpu.memory_type), key=True),
        _line(_("Bandwidth"), gpu.memory_bandwidth_bytes_s, TERA, "TB/s", key=True),
        FactLine(
            " / ".join(_(PRECISION_NAMES[precision]) for precision in main),
            " / ".join(format.exact(float(f"{fact.value / TERA:.5g}")) for fact in known) or format.NOT_KNOWN,
            "TFLOPS" if known else "",
            "",
            tuple(dict.fromkeys(fact.source for fact in known)),
            _weakest(known),
            True,
        ),
        _link(gpu),
        _line(_("Board power"), gpu.board_power_w, 1, "W", key=True),
    ]
    lines += [
        _line(_(PRECISION_NAMES[precision]), gpu.peak_flops[precision], TERA, "TFLOPS")
        for precision in PRECISIONS
        if precision in gpu.peak_flops
    ]
    lines += [
        _line(_("Memory the driver shows"), gpu.memory_visible_bytes, GIB, "GiB"),
        _line(_("Between two cards"), gpu.pair_one_way_bytes_s, GIGA, _("GB/s each way")),
        _line(_("PCIe"), gpu.pcie_one_way_bytes_s, GIGA, _("GB/s each way"), extra=_pcie(gpu)),
        _line(_("Idle power"), gpu.idle_power_w, 1, "W"),
        _line(_("Lowest power limit"), gpu.power_limit_min_w, 1, "W"),
        _line(_("Highest power limit"), gpu.power_limit_max_w, 1, "W"),
        _line(_("Highest temperature"), gpu.max_temperature_c, 1, "°C"),
        _line(_("Slows down at"), gpu.throttle_temperature_c, 1, "°C"),
        FactLine(_("Slots"), format.exact(gpu.slots)),
        FactLine(_("Cooling"), gpu.cooling or format.NOT_KNOWN),
        FactLine(_("Error correction"), _yes_no(gpu.ecc)),
        FactLine(_("Can be split (MIG)"), _yes_no(gpu.mig)),
        FactLine(_("Direct traffic between cards"), _yes_no(gpu.peer_to_peer)),
        FactLine(_("Compute capability"), gpu.compute_capability or gpu.gfx or format.NOT_KNOWN),
    ]
    if gpu.gpus_per_card > 1:
        lines.insert(1, FactLine(_("GPUs on one card"), format.count(gpu.gpus_per_card), key=True))
    warnings = []
    if gpu.end_of_life:
        warnings.append(_("No longer made: only offered as used or owned."))
    if gpu.export_restricted:
        warnings.append(_("Under export control: {note}").format(note=gpu.export_note or _("check before you order")))
    return subtitle, lines, warnings


def _dots_space(*parts: str) -> str:
    return " ".join(part for part in parts if part)


def _weakest(facts: Iterable[Fact]) -> str:
    order = ("unverified", "assumed", "secondary", "derived", "primary")
    return min((fact.mark for fact in facts), key=order.index, default="")


def _link(gpu: Gpu) -> FactLine:
    if gpu.link_kind == "none" or gpu.link_one_way_bytes_s is None:
        return FactLine(_("Link between cards"), _("PCIe only"), key=True)
    name = {"nvlink": "NVLink", "xgmi": "Infinity Fabric"}.get(gpu.link_kind, _("Link between cards"))
    joins = ngettext("{count} card", "{count} cards", gpu.link_domain).format(count=gpu.link_domain)
    return _line(name, gpu.link_one_way_bytes_s, GIGA, _("GB/s each way"), key=True, extra=joins)


def _pcie(gpu: Gpu) -> str:
    if gpu.pcie_generation is None or gpu.pcie_lanes is None:
        return ""
    return f"{format.exact(gpu.pcie_generation)} ×{gpu.pcie_lanes}"


def _yes_no(value: bool | None) -> str:
    return format.NOT_KNOWN if value is None else _("yes") if value else _("no")


def _server(server: Server, catalog: Catalog) -> tuple[str, list[FactLine], list[str]]:
    cards = [short_name(name) for name in server.gpu_options]
    shown = ", ".join(cards[:2]) + (f" +{len(cards) - 2}" if len(cards) > 2 else "")
    nics = [nic for nic in server.nics if nic.speed_bits_s]
    processor = server.cpu or format.NOT_KNOWN
    if server.cpu and server.cpu_count and server.cpu_count > 1:
        processor = f"{format.count(server.cpu_count)}× {server.cpu}"
    lines = [
        FactLine(_("GPUs"), format.count(server.gpus_per_server), shown, key=True),
        _line(_("Height"), server.rack_units, 1, "U", key=True),
        _line(_("Rated power"), server.max_power_w, KILO, "kW", key=True),
        _line(_("Memory"), server.memory_bytes, GIB, "GiB", key=True),
        FactLine(
            _("Network"),
            ", ".join(f"{nic.count}× {format.count(nic.speed_bits_s / GIGA)}" for nic in nics) or format.NOT_KNOWN,
            "Gb/s" if nics else "",
            key=True,
        ),
        FactLine(_("Processor"), processor, key=True),
        _line(_("Typical power"), server.typical_power_w, KILO, "kW"),
        _line(_("Idle power"), server.idle_power_w, KILO, "kW"),
        _line(_("Weight"), server.weight_kg, 1, "kg"),
        _line(_("One power supply"), server.psu_w, 1, "W", extra=_supplies(server)),
        _line(_("Air"), server.airflow_m3_s, M3_H_PER_CFM / SECONDS_PER_HOUR, "CFM"),
        FactLine(_("Inlet"), _range(server.inlet_min_c, server.inlet_max_c), "°C" if server.inlet_max_c else ""),
        FactLine(_("Cooling"), server.cooling or format.NOT_KNOWN),
        _line(_("Largest memory"), server.memory_max_bytes, GIB, "GiB"),
        FactLine(_("Free PCIe slots"), format.count(server.free_pcie_slots)),
    ]
    return _dots(server.form, server.cooling), lines, []


def _supplies(server: Server) -> str:
    if server.psu_count is None:
        return ""
    if server.psu_needed is None:
        return _("{count} installed").format(count=server.psu_count)
    return _("{count} installed, {needed} needed").format(count=server.psu_count, needed=server.psu_needed)


def _range(low: float | None, high: float | None) -> str:
    if low is None and high is None:
        return format.NOT_KNOWN
    return f"{format.exact(low)}–{format.exact(high)}"


def _llm(llm: Llm, catalog: Catalog) -> tuple[str, list[FactLine], list[str]]:
    kind = _("mixture of experts") if llm.moe else _("dense")
    sources = llm.sources[:2]
    mark = "" if llm.params_basis == "computed" else "secondary"
    lines = [
        FactLine(_("Parameters"), format.number(llm.params_total / GIGA, 4), "B", "", sources, mark, True),
        FactLine(_("Active for a token"), format.number(llm.params_active / GIGA, 4), "B", "", sources, mark, True),
        FactLine(
            _("Layers × width"), f"{format.count(llm.layers)} × {format.count(llm.hidden)}", sources=sources, key=True
        ),
        FactLine(
            _("Heads / KV heads"),
            f"{format.count(llm.heads)} / {format.count(llm.kv_heads)}",
            llm.attention.kind,
            "",
            sources,
            key=True,
        ),
        FactLine(_("Longest context"), format.count(llm.max_context), _("tokens"), "", sources, key=True),
        FactLine(_("Weights at 16 bit"), format.number(llm.params_total * 2 / GIB), "GiB", "", (), "derived", True),
        FactLine(_("Width of a head"), format.count(llm.head_dim)),
        FactLine(_("Feed-forward width"), format.count(llm.ffn_width)),
        FactLine(_("Vocabulary"), format.count(llm.vocab)),
        FactLine(_("Published as"), llm.native_dtype or format.NOT_KNOWN),
        FactLine(_("Licence"), llm.licence or format.NOT_KNOWN, _("check the licence") if llm.licence else ""),
    ]
    if llm.moe:
        experts = f"{format.count(llm.moe.experts_per_token)} / {format.count(llm.moe.experts)}"
        lines.insert(2, FactLine(_("Experts used / held"), experts, "", "", sources, key=True))
    return _dots(kind, llm.attention.kind, llm.native_dtype or ""), lines, []


def _network(entry: Nic | Switch | Optic | Link, catalog: Catalog) -> tuple[str, list[FactLine], list[str]]:
    if isinstance(entry, Link):
        lines = [
            _line(_("Speed of one card"), entry.one_way_bytes_s, GIGA, _("GB/s each way"), key=True),
            _line(_("Between two cards"), entry.pair_one_way_bytes_s, GIGA, _("GB/s each way"), key=True),
            _line(_("Latency"), entry.latency_s, 1e-6, "µs", key=True),
            FactLine(_("Joins pairs only"), _yes_no(entry.pairs_only), key=True),
        ]
        return entry.link_kind, lines, []
    bits = entry.port_bits_s
    lines = [
        FactLine(_("Ports"), format.count(entry.ports), "", "", entry.sources[:1], key=True),
        FactLine(_("Speed of a port"), format.count(bits and bits / GIGA), "Gb/s", "", entry.sources[:1], key=True),
        _line(_("Typical power"), entry.power_w, 1, "W", key=True),
        _line(_("Highest power"), entry.power_max_w, 1, "W", key=True),
    ]
    if not isinstance(entry, Optic):
        lines.append(_line(_("Latency"), entry.latency_s, 1e-6, "µs", key=True))
    if isinstance(entry, Switch):
        lines.append(FactLine(_("Height"), format.count(entry.rack_units), "U" if entry.rack_units else "", key=True))
    return _dots(_(NETWORK_WORDS[entry.kind]), entry.technology), lines, []


def _price(price: Price, catalog: Catalog) -> tuple[str, list[FactLine], list[str]]:
    band = _money_range(price.low, price.high, price.currency)
    lines = [
        FactLine(
            _("Price"),
            format.money_exact(price.amount, price.currency),
            price.unit or "",
            band,
            (price.source,),
            price_mark(price),
            True,
        ),
        FactLine(_("For one"), price.per or format.NOT_KNOWN, key=True),
        FactLine(_("Condition"), _(CONDITIONS[price.condition]) if price.condition else format.NOT_KNOWN, key=True),
        FactLine(_("Seen"), format.date(price.date), price.region, key=True),
        FactLine(_("Belongs to"), price.entry or format.NOT_KNOWN, key=True),
        FactLine(_("Kind of price"), _("at launch") if price.price_kind == "launch" else _("on the market"), key=True),
    ]
    return _dots(price.kind, price.region, format.date(price.date)), lines, []


def _money_range(low: float | None, high: float | None, currency: str) -> str:
    if low is None or high is None:
        return ""
    return f"{format.money_exact(low, currency)}–{format.money_exact(high, currency)}"


def _prices_of(
    entry: Gpu | Server, catalog: Catalog, convert: Convert, currency: str, today: datetime.date
) -> tuple[list[FactLine], list[str]]:
    lines: list[FactLine] = []
    warnings: list[str] = []
    labels = {"new": _("Price, new"), "used": _("Price, used")}
    for condition, label in labels.items():
        if condition == "new" and getattr(entry, "end_of_life", None):
            continue
        shown = shown_price(catalog, entry, convert, condition)
        if shown is None:
            continue
        written = shown.currency or currency
        band = "" if shown.low is None or shown.high is None else _rounded_range(shown.low, shown.high)
        launch = _("launch price, history") if shown.price.price_kind == "launch" else ""
        mark = price_mark(shown.price)
        lines.append(
            FactLine(label, format.money(shown.amount, written), launch, band, (shown.price.source,), mark, True)
        )
        if not warnings:
            warnings += _age_warning(shown.price.date, today)
    if not lines:
        lines.append(FactLine(_("Price"), format.NOT_KNOWN, key=True))
    return lines, warnings


def _rounded_range(low: float, high: float) -> str:
    return f"{format.tokens(low)}–{format.tokens(high)}"


def _age_warning(date: str, today: datetime.date) -> list[str]:
    months = months_old(date, today)
    if months is None or months <= OLD_PRICE_MONTHS:
        return []
    words = ngettext("The price is {count} month old.", "The price is {count} months old.", months)
    return [words.format(count=months)]
