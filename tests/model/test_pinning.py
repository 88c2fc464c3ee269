from types import SimpleNamespace

import pytest

from gpuplanner.catalog.load import load, priced
from gpuplanner.model.edit import remove, replace
from gpuplanner.model.pinning import entries_that_differ, pin, repin
from gpuplanner.model.plan import Group, Plan, Reference, Run, Scenario, Serve

CARD = "H100 SXM 80GB"


@pytest.fixture(scope="module")
def catalog():
    return load()


@pytest.fixture(scope="module")
def plan() -> Plan:
    group = Group(server="DGX H100", gpu=CARD, runs=(Run(workload="chat", runtime="vLLM (CUDA)"),))
    return Plan(
        workloads=(Serve(id="chat", llm=("Llama-3.3-70B",)),),
        scenarios=(Scenario(letter="A", groups=(group,)), Scenario(letter="B", groups=(Group(gpu="A100 SXM 80GB"),))),
    )


def test_whatever_a_plan_names_is_pinned_with_its_prices_and_sources(plan, catalog):
    entries = pin(plan, catalog).entries
    assert {gpu.name for gpu in entries.gpus} == {CARD, "A100 SXM 80GB"}
    assert [server.name for server in entries.servers] == ["DGX H100"]
    assert [llm.name for llm in entries.llms] == ["Llama-3.3-70B"]
    assert [runtime.name for runtime in entries.runtimes] == ["vLLM (CUDA)"]
    assert {price.id for price in catalog.prices_of(CARD)} <= {price.id for price in entries.prices}
    cited = {price.source for price in entries.prices} | {entries.gpus[0].memory_bytes.source}
    assert cited - {"unverified"} <= {source.id for source in entries.sources}


def test_the_parts_of_a_named_server_are_pinned(plan, catalog):
    sold_with = {slot.entry for slot in catalog.servers["DGX H100"].nics if slot.entry}
    assert {nic.name for nic in pin(plan, catalog).entries.nics} == sold_with != set()


def test_a_pinned_plan_is_returned_as_it_is(plan, catalog):
    pinned = pin(plan, catalog)
    assert pin(pinned, catalog) is pinned


def test_pinned_records_stay_when_the_catalog_changes(plan, catalog):
    pinned = pin(plan, catalog)
    dearer = tuple(price.model_copy(update={"amount": price.amount * 2}) for price in catalog.prices)
    faster = catalog.gpus[CARD].model_copy(update={"note": "another note"})
    newer = catalog.over(SimpleNamespace(gpus=(faster,), prices=dearer))
    changed = replace(pinned, ("scenarios", 1, "groups", 0, "gpu"), "L40S 48GB")
    found = pin(changed, newer).entries
    assert catalog.gpus[CARD] in found.gpus
    own = {price.id: price.amount for price in found.prices if CARD in priced(price)}
    assert own == {price.id: price.amount for price in catalog.prices_of(CARD)}
    assert entries_that_differ(pinned, newer) != ()
    assert Reference("gpu", CARD) in entries_that_differ(pinned, newer)


def test_records_that_are_no_longer_named_go(plan, catalog):
    pinned = pin(plan, catalog)
    entries = pin(remove(pinned, ("scenarios", 0)), catalog).entries
    assert [gpu.name for gpu in entries.gpus] == ["A100 SXM 80GB"]
    assert entries.servers == entries.nics == ()
    assert all("A100 SXM 80GB" in priced(price) for price in entries.prices)


def test_an_empty_plan_pins_nothing(plan, catalog):
    assert pin(Plan(), catalog) == Plan()
    empty = replace(replace(pin(plan, catalog), ("scenarios",), ()), ("workloads",), ())
    assert pin(empty, catalog).entries == Plan().entries


def test_a_name_that_nobody_knows_is_left_alone(plan, catalog):
    strange = replace(plan, ("scenarios", 1, "groups", 0, "gpu"), "Acme X1 64GB")
    assert [gpu.name for gpu in pin(strange, catalog).entries.gpus] == [CARD]


def test_a_pinned_card_that_the_catalog_lacks_stays_and_is_named(plan, catalog):
    pinned = pin(plan, catalog)
    own = pinned.entries.gpus[0].model_copy(update={"name": "Acme X1 64GB"})
    entries = pinned.entries.model_copy(update={"gpus": (own, *pinned.entries.gpus[1:])})
    mailed = replace(replace(pinned, ("entries",), entries), ("scenarios", 0, "groups", 0, "gpu"), "Acme X1 64GB")
    assert own in pin(mailed, catalog).entries.gpus
    assert entries_that_differ(mailed, catalog) == (Reference("gpu", "Acme X1 64GB"),)
    assert own in repin(mailed, catalog).entries.gpus


def test_repin_takes_the_catalog_of_today(plan, catalog):
    old = catalog.gpus[CARD].model_copy(update={"note": "as it was last year"})
    pinned = pin(plan, catalog.over(SimpleNamespace(gpus=(old,))))
    assert old in pinned.entries.gpus
    assert entries_that_differ(pinned, catalog) == (Reference("gpu", CARD),)
    assert entries_that_differ(repin(pinned, catalog), catalog) == ()
    assert entries_that_differ(repin(pinned, catalog, [Reference("gpu", CARD)]), catalog) == ()
    assert repin(pinned, catalog, [Reference("gpu", "A100 SXM 80GB")]) == pinned


def test_class_values_of_other_cards_are_left_out(plan, catalog):
    kept = {assumption.applies_to for assumption in pin(plan, catalog).entries.assumptions}
    assert "hgx_h100_h200" in kept
    assert "Gaudi 3 128GB" in {assumption.applies_to for assumption in catalog.assumptions}
    assert "Gaudi 3 128GB" not in kept


def test_a_price_that_several_cards_share_is_pinned_for_each(plan, catalog):
    shared = [price for price in catalog.prices if price.entry is None and "A100 SXM 80GB" in price.candidates]
    assert shared
    pinned = pin(plan, catalog)
    assert {price.id for price in shared} <= {price.id for price in pinned.entries.prices}
    assert entries_that_differ(pinned, catalog) == ()


def test_prices_of_a_pinned_card_come_from_the_plan_alone(plan, catalog):
    pinned = pin(plan, catalog)
    dearer = tuple(
        price.model_copy(update={"id": f"{price.id}-new", "amount": price.amount * 2}) for price in catalog.prices
    )
    newer = catalog.over(SimpleNamespace(prices=(*catalog.prices, *dearer)))
    for name in (CARD, "A100 SXM 80GB", "DGX H100"):
        seen = {price.id: price.amount for price in newer.over(pinned.entries).prices_of(name)}
        assert seen == {price.id: price.amount for price in catalog.prices_of(name)}
