"""Keep beside the decisions the catalog records that they refer to.

A plan is evaluated with its own records first, so that a colleague whose catalog is older, newer or edited sees the
same numbers.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from pydantic import BaseModel

from gpuplanner.catalog.load import ENTRY_KINDS, FILES, Catalog, priced
from gpuplanner.catalog.schema import Assumption, Price, Server, Source
from gpuplanner.model.plan import PinnedEntries, Plan, Reference, references

# The kinds of entry that a plan can name, itself or through a server.
KINDS = ("gpu", "server", "cpu", "nic", "switch", "llm", "runtime")


def pin(plan: Plan, catalog: Catalog) -> Plan:
    """The plan with a record for every entry it refers to, their prices, the assumptions it may need, and the sources
    of all of these.

    Records that are already pinned stay as they are; those that the plan no longer refers to go. A name that neither
    the plan nor the catalog knows is left to `evaluate` to report. The same plan comes back where nothing has to
    change.
    """
    named = references(plan)
    # This runs at every keystroke: plain pairs, which compare like references, are made five times as fast.
    present = {(kind, entry.name) for kind in KINDS for entry in _pinned(plan, kind)}
    if present == _with_parts(named, present, plan.entries.servers):
        return plan
    entries = _entries(plan, named, _records(plan), catalog)
    if entries == plan.entries:
        return plan
    fields = {name: getattr(plan, name) for name in Plan.model_fields}
    return Plan(**{**fields, "entries": entries})


def repin(plan: Plan, catalog: Catalog, which: Iterable[Reference] | None = None) -> Plan:
    """The plan with today's catalog records in place of its pinned ones: of the entries in `which`, or of all.

    An entry that the catalog no longer has stays as it is pinned.
    """
    named = references(plan)
    pinned = _records(plan)
    renewed = set(pinned) if which is None else set(which)
    kept = {
        reference: entry
        for reference, entry in pinned.items()
        if reference not in renewed or catalog.find(*reference) is None
    }
    names = {name for _kind, name in kept}
    prices = tuple(price for price in plan.entries.prices if not names.isdisjoint(priced(price)))
    assumptions = () if which is None else plan.entries.assumptions
    fields = {name: getattr(plan, name) for name in Plan.model_fields}
    bare = Plan(
        **{**fields, "entries": PinnedEntries(prices=prices, assumptions=assumptions, sources=plan.entries.sources)}
    )
    entries = _entries(bare, named, kept, catalog)
    return plan if entries == plan.entries else Plan(**{**fields, "entries": entries})


def entries_that_differ(plan: Plan, catalog: Catalog) -> tuple[Reference, ...]:
    """Pinned entries that the catalog does not have, has otherwise, or has with other prices.

    Class values that differ are named as of kind "assumption", by the figure and what it applies to.
    """
    differing: list[Reference] = []
    for (kind, name), entry in _records(plan).items():
        prices = {price.id: price for price in plan.entries.prices if name in priced(price)}
        today = {price.id: price for price in catalog.prices_of(name)}
        if catalog.find(kind, name) != entry or prices != today:
            differing.append(Reference(kind, name))
    known = {(assumption.key, assumption.applies_to): assumption for assumption in catalog.assumptions}
    for assumption in plan.entries.assumptions:
        if known.get((assumption.key, assumption.applies_to)) != assumption:
            differing.append(Reference("assumption", f"{assumption.key}, {assumption.applies_to}"))
    return tuple(differing)


def _pinned(plan: Plan, kind: str) -> tuple[Any, ...]:
    return getattr(plan.entries, FILES[kind][0])


def _records(plan: Plan) -> dict[Reference, Any]:
    return {Reference(kind, entry.name): entry for kind in KINDS for entry in _pinned(plan, kind)}


def _parts(server: Server) -> Iterator[Reference]:
    """The processor and the network cards that a server is sold with."""
    if server.cpu:
        yield Reference("cpu", server.cpu)
    for slot in server.nics:
        if slot.entry:
            yield Reference("nic", slot.entry)


def _with_parts(
    named: Iterable[tuple[str, str]], present: set[tuple[str, str]], servers: Iterable[Server]
) -> set[tuple[str, str]]:
    """What is named, and what the servers named are sold with, as far as it is present."""
    wanted = set(named)
    for server in servers:
        if ("server", server.name) in wanted:
            wanted.update(present.intersection(_parts(server)))
    return wanted


def _entries(plan: Plan, named: Iterable[Reference], pinned: dict[Reference, Any], catalog: Catalog) -> PinnedEntries:
    records = dict(pinned)
    wanted: dict[Reference, None] = {}
    for reference in named:
        wanted[reference] = None
        server = records.setdefault(reference, catalog.find(*reference))
        if isinstance(server, Server):
            for part in _parts(server):
                records.setdefault(part, catalog.find(*part))
                wanted[part] = None
    wanted = {reference: None for reference in wanted if records[reference] is not None}
    if not wanted:
        return PinnedEntries()
    by_kind = {kind: tuple(records[r] for r in wanted if r.kind == kind) for kind in KINDS}
    prices = _prices(plan, wanted, pinned, catalog)
    assumptions = _assumptions(plan, wanted, catalog)
    cited = [*_cited((*(records[r] for r in wanted), *prices, *assumptions))]
    known = {source.id: source for source in plan.entries.sources}
    sources: list[Source] = []
    for key in dict.fromkeys(cited):
        source = known.get(key) or catalog.sources.get(key)
        if source is not None:
            sources.append(source)
    fields: dict[str, Any] = {FILES[kind][0]: entries for kind, entries in by_kind.items()}
    return PinnedEntries(**fields, prices=prices, assumptions=assumptions, sources=tuple(sources))


def _prices(
    plan: Plan, wanted: Iterable[Reference], pinned: dict[Reference, Any], catalog: Catalog
) -> tuple[Price, ...]:
    prices: dict[str, Price] = {}
    for reference in wanted:
        if reference in pinned:
            own: Iterable[Price] = (price for price in plan.entries.prices if reference.name in priced(price))
        else:
            own = catalog.prices_of(reference.name)
        for price in own:
            prices.setdefault(price.id, price)
    return tuple(prices.values())


def _assumptions(plan: Plan, wanted: Iterable[Reference], catalog: Catalog) -> tuple[Assumption, ...]:
    """Every class value but those of single entries that the plan does not name.

    Which classes a plan falls into follows only when it is evaluated, so none of them is left out.
    """
    names = {reference.name for reference in wanted}
    strangers = {name for kind in ENTRY_KINDS for name in catalog.entries(kind)} - names
    kept = {(a.key, a.applies_to): a for a in (*catalog.assumptions, *plan.entries.assumptions)}
    return tuple(a for a in kept.values() if a.applies_to not in strangers)


def _cited(value: Any) -> Iterator[str]:
    """The keys of all sources that records, and the figures inside them, cite."""
    if isinstance(value, BaseModel):
        for name in type(value).model_fields:
            inner = getattr(value, name)
            if name == "source":
                yield inner
            elif name == "sources":
                yield from inner
            elif isinstance(inner, BaseModel | tuple | dict):
                yield from _cited(inner)
    elif isinstance(value, tuple):
        for inner in value:
            yield from _cited(inner)
    elif isinstance(value, dict):
        yield from _cited(tuple(value.values()))
