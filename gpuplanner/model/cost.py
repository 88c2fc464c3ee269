"""What a scenario costs: purchase, running, resale, and what that makes a token, a run and a month.

Every price is a dated indication with a band. What has no price of its own takes a class value from `assumptions` and
says so.
"""

from functools import cache
from statistics import median

import numpy as np

from gpuplanner.catalog.load import Catalog
from gpuplanner.catalog.schema import Gpu, Price
from gpuplanner.model import hardware, wear
from gpuplanner.model.bands import between, product, quotient, scaled, total, weakest
from gpuplanner.model.case import IdentityCache
from gpuplanner.model.plan import Economics, ExchangeRate, Group, Money, Plan, Scenario
from gpuplanner.model.results import (
    NOT_KNOWN,
    FabricPart,
    FabricResult,
    Figure,
    MoneyLine,
    MoneyResult,
    RoomResult,
    exact,
)
from gpuplanner.units import HOURS_PER_YEAR, MONTHS_PER_YEAR

# Half-width of a single published price by how sure its source is.
_PRICE_FACTOR = {"high": 1.08, "medium": 1.15, "low": 1.3}
_RECENT_MONTHS = 12
_TARIFF_ROW = {
    "US": "US industrial", "CN": "CN industrial", "DE": "DE", "FR": "FR", "GB": "UK", "UK": "UK",
    "JP": "JP industrial", "KR": "KR industrial",
    "IN": "IN industrial", "SG": "SG", "TW": "TW industrial", "AU": "AU business", "FI": "Nordic countries",
    "SE": "Nordic countries",
    "NO": "Nordic countries", "DK": "Nordic countries",
}  # fmt: skip
_EURO = ("AT", "BE", "ES", "IE", "IT", "NL", "PT", "PL", "CZ", "GR", "HU")
# Which class values price the parts of a network; a switch without a price of its own costs so much a port.
_SWITCH_ROW = "price_switch_per_port"
_PART_ROWS = {
    "nic": "price_nic",
    "copper": "price_dac_or_short_cable",
    "transceiver": "price_transceiver",
    "fibre": "price_fibre_patch",
}
_RATES = {"CNY": "CNY per USD", "JPY": "JPY per USD", "EUR": "USD per EUR", "GBP": "USD per GBP"}
# Currencies of tariffs that the exchange rates of the catalog do not cover (unverified, ±5 %).
_OTHER_PER_USD = {"KRW": 1400.0, "INR": 88.0, "TWD": 31.0}
_CHASSIS_OF_A_MAC = ("mac",)


@cache
def months(date: str) -> int:
    """Months since year 0 of a date as prices state it ("2026-06", "2026", "2025-Q1")."""
    year, _, rest = date.partition("-")
    number = int(year) if year.isdigit() else 0
    month = {"Q1": 2, "Q2": 5, "Q3": 8, "Q4": 11, "H1": 4, "H2": 10}.get(rest[:2], 0) or (
        int(rest[:2]) if rest[:2].isdigit() else 6
    )
    return number * 12 + month


class Exchange:
    """Turns amounts into the plan's base currency, with the plan's own rates before the catalog's."""

    def __init__(self, plan: Plan, catalog: Catalog) -> None:
        self.base = plan.currency
        self._own = {rate.currency: rate.per_base for rate in plan.exchange_rates}
        self._catalog = catalog

    def _per_usd(self, currency: str) -> float | None:
        if currency == "USD":
            return 1.0
        row = _RATES.get(currency)
        if row is None:
            return _OTHER_PER_USD.get(currency)
        value = self._catalog.assumption("exchange_rate", row).value
        return value if row.endswith("per USD") else 1.0 / value

    def rate(self, currency: str) -> float | None:
        """Units of the base currency that one unit of `currency` buys; None where no rate is known."""
        if currency == self.base:
            return 1.0
        if currency in self._own:
            return 1.0 / self._own[currency]
        base, other = self._per_usd(self.base), self._per_usd(currency)
        return None if base is None or other is None else base / other

    def money(self, money: Money) -> Figure:
        """A typed amount in the base currency."""
        rate = self.rate(money.currency)
        return NOT_KNOWN._replace(note="exchange_rate") if rate is None else exact(money.amount * rate, "input")

    def figure(self, figure: Figure, currency: str) -> Figure:
        """A figure in another currency, in the base currency."""
        rate = self.rate(currency)
        return NOT_KNOWN._replace(note="exchange_rate") if rate is None else scaled(figure, rate)


def _of_prices(prices: list[Price], exchange: Exchange) -> tuple[Figure, str] | None:
    """The middle of the newest prices within a year, with their spread, and the date of the newest."""
    dated = [(months(price.date), price, exchange.rate(price.currency)) for price in prices]
    usable = [(when, price, rate) for when, price, rate in dated if rate is not None and price.amount > 0]
    if not usable:
        return None
    newest = max(when for when, _, _ in usable)
    recent = [(price, rate) for when, price, rate in usable if when >= newest - _RECENT_MONTHS]
    amounts = sorted(price.amount * rate for price, rate in recent)
    middle = median(amounts)
    factor = min(_PRICE_FACTOR[price.confidence] for price, _ in recent)
    low = min(middle / factor, *((price.low or price.amount) * rate for price, rate in recent))
    high = max(middle * factor, *((price.high or price.amount) * rate for price, rate in recent))
    date = max((price for price, _ in recent), key=lambda price: months(price.date)).date
    return between(middle, low, high, "known"), date


def _for_country(prices: list[Price], country: str) -> tuple[list[Price], bool]:
    """The prices of the buyer's own market where there are any, else those of the others; and whether they are its own.

    China is a market of its own: import, export control and tax make its prices differ; all others count as one.
    """
    home = [price for price in prices if ("CN" in price.region) == (country == "CN")]
    return (home, True) if home else (prices, False)


def _age_row(gpu: Gpu, age: float, kind: str) -> str:
    if kind == "resale":
        if hardware.is_consumer(gpu):
            return (
                "GeForce, after 1 year"
                if age < 2
                else "GeForce, after 3 years"
                if age < 4
                else "GeForce, after 5 years"
            )
        years = int(np.clip(round(age), 1, 5))
        return f"data-center card, after {years} year{'s' if years > 1 else ''}"
    if hardware.is_consumer(gpu):
        return "GeForce, 1-2 years" if age < 2.5 else "GeForce, 3-4 years" if age < 4.5 else "GeForce, 5-6 years"
    if hardware.is_workstation(gpu):
        return "workstation card, 3-5 years"
    steps = ((1.5, "1 year"), (2.5, "2 years"), (3.5, "3 years"), (5.0, "4 years"), (7.0, "6 years"))
    return "data-center card, " + next((words for limit, words in steps if age < limit), "8 years and more")


def age_of(gpu: Gpu, catalog: Catalog) -> float:
    """Years since a card came out."""
    return max((months(catalog.date) - months(gpu.release or catalog.date)) / 12.0, 0.5)


def card_price(
    gpu: Gpu, condition: str, age_years: float | None, country: str, catalog: Catalog, exchange: Exchange
) -> tuple[Figure, str, str]:
    """Price of one card in the base currency, its date, and how it came about.

    A market price of that condition; else, for used ones, the price new times an age factor; else the launch price
    times the age factor; else a class value. Marked assumed in all cases but the first.
    """
    own = [price for price in catalog.prices_of(gpu.name) if price.kind == "gpu" and price.per == "card"]
    wanted = "used" if condition in ("used", "owned") else "new"
    region = exact(1.0, "known")
    if country == "CN":
        row = "CN, cards under export control" if gpu.export_restricted else "CN, cards sold freely"
        region = hardware.assumed(catalog, "price_factor_region", row)
    market, at_home = _for_country(
        [price for price in own if price.condition == wanted and price.price_kind != "launch"], country
    )
    found = _of_prices(market, exchange)
    if found is not None and (at_home or country != "CN"):
        return found[0], found[1], "market"
    if found is not None:
        # A price of another market, brought here.
        return _assumed(product(found[0], region)), found[1], "other_market"
    age = age_years if age_years is not None else age_of(gpu, catalog)
    newer = _of_prices([price for price in own if price.condition == "new" and price.price_kind != "launch"], exchange)
    launch = _of_prices([price for price in own if price.price_kind == "launch"], exchange)
    if wanted == "used":
        factor = hardware.assumed(catalog, "used_price_factor", _age_row(gpu, age, "price"))
        if newer is not None and not hardware.is_consumer(gpu):
            condition_factor = hardware.assumed(catalog, "used_price_factor_condition", "used, working")
            return _assumed(product(newer[0], condition_factor)), newer[1], "new_times_condition"
        source = launch or newer
        if source is not None:
            return _assumed(product(source[0], factor)), source[1], "launch_times_age"
    if wanted == "new" and launch is not None:
        if age > 2.5:
            factor = hardware.assumed(catalog, "used_price_factor", _age_row(gpu, age, "price"))
            wide = between(max(factor.value or 0.0, 0.8), factor.value or 0.0, 1.15, "assumed")
            return _assumed(product(launch[0], product(wide, region))), launch[1], "launch_times_age"
        return _assumed(product(launch[0], product(between(1.0, 0.8, 1.25, "assumed"), region))), launch[1], "launch"
    stated = next((one for one in catalog.assumptions if one.key == "price_card" and one.applies_to == gpu.name), None)
    if stated is not None:
        return exchange.figure(between(stated.value, stated.low, stated.high, "assumed"), "USD"), stated.date, "class"
    used = _of_prices([price for price in own if price.condition == "used"], exchange)
    if used is not None:
        wide = between(1.4, 1.0, 1.8, "assumed")
        return _assumed(product(used[0], wide)), used[1], "used_times_condition"
    return NOT_KNOWN._replace(note="price"), "", "none"


def _assumed(figure: Figure) -> Figure:
    return figure if figure.value is None else figure._replace(basis="assumed")


def server_price(
    group: Group, hard: hardware.Hardware, country: str, catalog: Catalog, exchange: Exchange
) -> tuple[Figure, str, str]:
    """Price of ONE server as configured, in the base currency, its date, and how it came about.

    Rented: of one server-hour.
    """
    if group.price != "auto":
        return exchange.money(group.price), str(group.quote_date or ""), "quote"
    gpu = hard.gpu
    if gpu is None and group.gpu:
        return NOT_KNOWN._replace(note="price"), "", "none"
    if group.condition == "rented":
        if gpu is None:
            return NOT_KNOWN._replace(note="price"), "", "none"
        hour, date = cloud_price(gpu, catalog, exchange)
        return scaled(hour, float(group.gpus_per_server)), date, "market"
    wanted = "used" if group.condition in ("used", "owned") else "new"
    if hard.server is not None and gpu is not None:
        whole = [
            price
            for price in catalog.prices_of(hard.server.name, wanted)
            if price.kind == price.per == "server"
            and price.gpu in (None, gpu.name)
            and price.gpus in (None, group.gpus_per_server)
            and price.price_kind != "launch"
        ]
        whole, at_home = _for_country(whole, country)
        found = _of_prices(whole, exchange)
        if found is not None and (at_home or country != "CN"):
            return found[0], found[1], "market"
    kind = hard.server_class
    if kind in _CHASSIS_OF_A_MAC:
        chassis = exact(0.0, "known")
    else:
        chassis = exchange.figure(hardware.assumed(catalog, "price_chassis_without_gpus", kind), "USD")
        if group.condition in ("used", "owned"):
            chassis = product(chassis, hardware.assumed(catalog, "used_price_factor_condition", "used, working"))
        if kind == "rack_scale" and group.gpus_per_server < 72:
            chassis = scaled(chassis, group.gpus_per_server / 72.0)
    if gpu is None:
        return chassis, "", "class"
    age = None if group.age_years == "auto" else group.age_years
    card, date, how = card_price(gpu, group.condition, age, country, catalog, exchange)
    cards = scaled(card, float(group.gpus_per_server))
    whole_price = total([cards, chassis])
    if whole_price.value is not None and card.basis == "known" and (chassis.value or 0.0) < 0.35 * (cards.value or 1.0):
        # The chassis is the smaller part: the price is known where the cards' is, with the chassis' band inside its
        # own.
        return whole_price._replace(basis="known"), date, how
    return whole_price, date, how


def _priced(
    group: Group,
    hard: hardware.Hardware,
    currency: str,
    country: str,
    rates: tuple[ExchangeRate, ...],
    catalog: Catalog,
) -> tuple[Figure, str, str]:
    plan = Plan.model_construct(currency=currency, exchange_rates=rates)
    return server_price(group, hard, country, catalog, Exchange(plan, catalog))


_prices = IdentityCache(_priced, limit=512)


def price_of(group: Group, hard: hardware.Hardware, plan: Plan, catalog: Catalog) -> tuple[Figure, str, str]:
    """`server_price` in the plan's currency and country, remembered."""
    return _prices(group, hard, plan.currency, plan.country, plan.exchange_rates, catalog)


def cloud_price(gpu: Gpu, catalog: Catalog, exchange: Exchange) -> tuple[Figure, str]:
    """What a cloud asks for one GPU-hour on demand, in the base currency, and the date of that price."""
    offers = [
        price
        for price in catalog.prices_of(gpu.name)
        if price.kind == "cloud-hour" and "spot" not in price.item.lower()
    ]
    found = _of_prices(offers, exchange)
    return found if found is not None else (NOT_KNOWN._replace(note="cloud_price"), "")


def tariff_row(country: str) -> str:
    """The row of `assumptions` (tariff) that speaks for a country."""
    return _TARIFF_ROW.get(country) or ("EU non-household average" if country in _EURO else "world business average")


def electricity_price(economics: Economics, country: str, catalog: Catalog, exchange: Exchange) -> Figure:
    """Price of a kWh in the base currency: typed, or the country's tariff."""
    if economics.electricity_per_kwh != "auto":
        return exchange.money(economics.electricity_per_kwh)
    assumption = catalog.assumption("tariff", tariff_row(country))
    return exchange.figure(
        between(assumption.value, assumption.low, assumption.high, "assumed"), assumption.unit.split("/")[0]
    )


def network_lines(scenario: Scenario, room: RoomResult, exchange: Exchange, catalog: Catalog) -> list[MoneyLine]:
    """The bill of materials of the networks that come with servers that are bought, part by part."""
    lines = []
    for one in room.fabrics:
        if any(scenario.groups[i].condition in ("new", "used") for i in one.groups):
            for part in one.parts:
                price = _part_price(part, one, exchange, catalog)
                name = part.name or _speed_row(catalog, _PART_ROWS.get(part.key, _SWITCH_ROW), part.bits_s)
                lines.append(
                    MoneyLine(f"network_{part.key}", name, part.number, price, scaled(price, float(part.number)))
                )
    return lines


def _part_price(part: FabricPart, of: FabricResult, exchange: Exchange, catalog: Catalog) -> Figure:
    """Price of one part in the base currency: of its catalog entry where one is known, else of its speed."""
    row = _PART_ROWS.get(part.key)
    if row is None:
        found = _of_prices([price for price in catalog.prices_of(part.name) if price.per == "switch"], exchange)
        if found is not None:
            return found[0]
        kind = "InfiniBand" if of.fabric == "infiniband" else "Ethernet"
        port = hardware.assumed(catalog, _SWITCH_ROW, _speed_row(catalog, _SWITCH_ROW, part.bits_s, kind))
        return exchange.figure(scaled(port, float(of.radix)), "USD")
    return exchange.figure(hardware.assumed(catalog, row, _speed_row(catalog, row, part.bits_s)), "USD")


def _speed_row(catalog: Catalog, key: str, bits_s: float, kind: str = "") -> str:
    """The row of `assumptions` for a speed: the slowest that is fast enough, else the fastest, of a kind if any."""
    rows = [row.applies_to for row in catalog.assumptions if row.key == key]
    rows = [row for row in rows if row.endswith(kind)] or rows
    rated = sorted((float(row.split("G")[0]) * 1e9, row) for row in rows if row.split("G")[0].isdigit())
    if not rated:
        return rows[0]
    return next((row for speed, row in rated if speed >= bits_s), rated[-1][1])


def resale_share(group: Group, gpu: Gpu | None, economics: Economics, catalog: Catalog) -> Figure:
    """Share of what was paid that a group still fetches at the end of the term."""
    if economics.resale_share != "auto":
        return exact(economics.resale_share, "input")
    if gpu is None:
        return hardware.assumed(catalog, "resale_value", "server chassis, after 3 years")
    if group.condition == "new":
        return hardware.assumed(catalog, "resale_value", _age_row(gpu, economics.term_years, "resale"))
    # A used card goes on losing value at the pace of its class: from age to age + term.
    age = age_of(gpu, catalog) if group.age_years == "auto" else group.age_years
    now = hardware.assumed(catalog, "used_price_factor", _age_row(gpu, age, "price"))
    later = hardware.assumed(catalog, "used_price_factor", _age_row(gpu, age + economics.term_years, "price"))
    ratio = quotient(later, now)
    value = min(ratio.value or 0.0, 0.7)
    return between(value, 0.3 * value, min(ratio.high or value, 0.9), "assumed")


def money_of(
    scenario: Scenario,
    plan: Plan,
    hardwares: list[hardware.Hardware],
    room: RoomResult,
    tokens_per_year: Figure,
    busy_share: float,
    catalog: Catalog,
) -> MoneyResult:
    """The bill of a scenario over its term.

    Parameters
    ----------
    tokens_per_year : Figure
        Output tokens that are served in a year; not known where nothing is served.
    busy_share : float
        Share of the year that rented cards would have to be paid for.
    """
    economics, exchange = plan.economics, Exchange(plan, catalog)
    term = economics.term_years
    lines: list[MoneyLine] = []
    prices: list[Figure] = []
    dates: list[str] = []
    bought: list[Figure] = []
    resold: list[Figure] = []
    rents: list[Figure] = []
    maintained: list[Figure] = []
    worth: list[Figure] = []
    for i, group in enumerate(scenario.groups):
        hard = hardwares[i]
        price, date, _how = price_of(group, hard, plan, catalog)
        whole = scaled(price, float(group.servers))
        prices.append(whole)
        if date:
            dates.append(date)
        label = group.name or (hard.server.name if hard.server is not None else group.gpu or "CPU")
        if group.condition == "rented":
            hours = HOURS_PER_YEAR * busy_share
            rent = scaled(whole, hours)
            rents.append(rent)
            lines.append(MoneyLine("rent_per_year", label, group.servers, price, rent))
            continue
        amount = exact(0.0, "input") if group.condition == "owned" else whole
        lines.append(
            MoneyLine("owned" if group.condition == "owned" else "servers", label, group.servers, price, amount)
        )
        bought.append(amount)
        worth.append(whole)
        resold.append(product(whole, resale_share(group, hard.gpu, economics, catalog)))
        if economics.maintenance_share != "auto":
            share = exact(economics.maintenance_share, "input")
        else:
            share = hardware.assumed(
                catalog,
                "maintenance_share",
                "server under OEM contract"
                if group.condition == "new" and hard.server_class.startswith(("hgx", "rack", "oam"))
                else "server, third party",
            )
        maintained.append(product(whole, share))
    failures = tuple(
        wear.failures_of(i, group, gpu, economics, catalog)
        for i, group in enumerate(scenario.groups)
        if (gpu := hardwares[i].gpu) is not None and group.condition != "rented"
    )
    for worn in failures:
        group, gpu = scenario.groups[worn.group], hardwares[worn.group].gpu
        if group.condition != "used" or gpu is None or not worn.spares:
            continue
        age = None if group.age_years == "auto" else group.age_years
        card = card_price(gpu, group.condition, age, plan.country, catalog, exchange)[0]
        if card.value is not None:
            reserve = scaled(card, float(worn.spares))
            lines.append(MoneyLine("spares", group.gpu, worn.spares, card, reserve))
            bought.append(reserve)
    network = network_lines(scenario, room, exchange, catalog)
    lines.extend(network)
    bought.extend(line.amount for line in network)
    racks = (
        room.racks
        if any(not hardwares[g.group].server_class.startswith(("workstation", "mac")) for g in room.groups)
        else 0
    )
    buying = any(group.condition in ("new", "used") for group in scenario.groups)
    if racks and buying:
        one = exchange.figure(
            total(
                [
                    hardware.assumed(catalog, "price_rack", "42U, empty, with doors"),
                    hardware.assumed(catalog, "price_rack_pdu", "17-22 kW, three-phase"),
                ]
            ),
            "USD",
        )
        lines.append(MoneyLine("racks", "", racks, one, scaled(one, float(racks))))
        bought.append(scaled(one, float(racks)))
    purchase = total(bought)
    kwh = scaled(room.facility_w, HOURS_PER_YEAR / 1000.0)
    electricity = (
        product(kwh, electricity_price(economics, plan.country, catalog, exchange))
        if kwh.value
        else exact(0.0, "known")
    )
    staff = exact(0.0, "input") if economics.staff_per_year == "auto" else exchange.money(economics.staff_per_year)
    maintenance = total(maintained)
    rent = total(rents)
    running = total([electricity, maintenance, staff, rent])
    resale = total(resold)
    annuity, later = discounting(economics)
    if purchase.value is None or running.value is None or resale.value is None:
        overall = NOT_KNOWN._replace(note=purchase.note or "price")
    else:
        back = scaled(resale, later)
        gross = total([purchase, scaled(running, annuity)])
        below, above = (gross.value or 0) - (gross.low or 0), (gross.high or 0) - (gross.value or 0)
        back_below, back_above = (back.value or 0) - (back.low or 0), (back.high or 0) - (back.value or 0)
        value = (gross.value or 0) - (back.value or 0)
        overall = Figure(
            value,
            value - float(np.hypot(below, back_above)),
            value + float(np.hypot(above, back_below)),
            weakest(gross.basis, back.basis),
        )
    per_million = NOT_KNOWN._replace(note="nothing_served")
    if overall.value is not None and tokens_per_year.value:
        per_million = scaled(quotient(overall, scaled(tokens_per_year, term)), 1e6)
    hours = HOURS_PER_YEAR * busy_share
    cloud_lines = []
    for i, group in enumerate(scenario.groups):
        gpu = hardwares[i].gpu
        if gpu is None:
            continue
        hour = (
            exchange.money(economics.cloud_per_gpu_hour)
            if economics.cloud_per_gpu_hour != "auto"
            else cloud_price(gpu, catalog, exchange)[0]
        )
        cloud_lines.append(scaled(hour, hours * group.gpus_per_server * group.servers))
    cloud = total(cloud_lines) if cloud_lines else NOT_KNOWN
    axis = np.arange(0.0, term * MONTHS_PER_YEAR + 1e-9, 1.0)
    if purchase.value is None or running.value is None:
        mine = low = high = np.full(axis.shape, np.nan)
    else:
        mine = purchase.value + running.value * axis / 12.0
        spread_low = np.hypot(purchase.value - (purchase.low or 0), (running.value - (running.low or 0)) * axis / 12.0)
        spread_high = np.hypot(
            (purchase.high or 0) - purchase.value, ((running.high or 0) - running.value) * axis / 12.0
        )
        low, high = mine - spread_low, mine + spread_high
    rented = (cloud.value if cloud.value is not None else np.nan) * axis / 12.0
    return MoneyResult(
        exchange.base, tuple(lines), purchase, electricity, running, rent, resale, overall, per_million, NOT_KNOWN,
        breakeven(purchase, running, cloud), cloud, kwh,
        tuple(axis.tolist()), _plain(mine), _plain(low), _plain(high), _plain(rented), min(dates, key=months,
        default=""), failures,
    )  # fmt: skip


def discounting(economics: Economics) -> tuple[float, float]:
    """What a yearly cost of 1 over the term is worth today, and what 1 at its end is."""
    rate, term = economics.discount_rate, economics.term_years
    return (
        term if rate == 0 else (1.0 - (1.0 + rate) ** -term) / rate,
        1.0 / (1.0 + rate) ** term,
    )


def _plain(values: np.ndarray) -> tuple[float, ...]:
    return tuple(values.tolist()) if np.isfinite(values).all() else ()


def run_cost(bill: MoneyResult, groups: tuple[Group, ...], group: int, term_years: float, years: Figure) -> Figure:
    """Cost of one training run in the base currency: what its group takes of the bill, for the years that it is in use.

    The bill is shared by what the servers of each group are worth; rented and owned ones count with their price.
    """
    worth = [
        (line.amount.value or 0.0) * term_years
        if line.key == "rent_per_year"
        else (line.unit_price.value or 0.0) * line.quantity
        for line in bill.lines[: len(groups)]
    ]
    if bill.total_over_term.value is None or sum(worth) <= 0:
        return NOT_KNOWN._replace(note="price")
    return product(scaled(bill.total_over_term, worth[group] / sum(worth) / term_years), years)


def breakeven(purchase: Figure, running: Figure, cloud: Figure) -> Figure:
    """Months after which owning has cost less than renting the same cards; not known where renting stays cheaper."""
    if purchase.value is None or running.value is None or cloud.value is None:
        return NOT_KNOWN._replace(note="cloud_price" if cloud.value is None else "price")
    if not purchase.value:
        return NOT_KNOWN._replace(note="nothing_bought")
    saved = cloud.value - running.value
    if saved <= 0:
        return NOT_KNOWN._replace(note="never")
    value = purchase.value / saved * 12.0
    best = (purchase.low or 0) / max((cloud.high or 0) - running.value, saved) * 12.0
    left = (cloud.low or 0) - running.value
    worst = (purchase.high or 0) / left * 12.0 if left > 0 else value * 10.0
    return between(value, best, min(worst, value * 10.0), weakest(purchase.basis, cloud.basis))
