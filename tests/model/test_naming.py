import pytest

from gpuplanner.catalog.load import load
from gpuplanner.model.naming import BadName, with_full_names
from gpuplanner.model.pinning import pin
from gpuplanner.model.plan import Group, Owned, Plan, Run, Scenario, Serve, Wishes


@pytest.fixture(scope="module")
def catalog():
    return load()


def plan(gpu: str, llm: str = "Llama-3.3-70B") -> Plan:
    return Plan(
        workloads=(Serve(id="chat", llm=(llm,)),),
        scenarios=(Scenario(letter="A", groups=(Group(gpu=gpu, runs=(Run(workload="chat", llm=llm),)),)),),
        wishes=Wishes(owned=(Owned(gpu=gpu, count=2),)),
    )


def test_names_of_the_catalog_stay(catalog):
    full = plan("H100 SXM 80GB")
    assert with_full_names(full, catalog) is full


def test_short_names_become_the_catalogs_own(catalog):
    assert with_full_names(plan("4090", "Llama 3.3 70B"), catalog) == plan("GeForce RTX 4090 24GB")


@pytest.mark.parametrize("name", ["H100", "Acme X1 64GB"])
def test_an_unclear_name_is_refused_with_its_place(catalog, name):
    with pytest.raises(BadName) as caught:
        with_full_names(plan(name), catalog)
    assert caught.value.place == "scenarios[0].groups[0].gpu"
    assert name in str(caught.value)


def test_a_pinned_card_needs_no_catalog(catalog):
    pinned = pin(plan("H100 SXM 80GB"), catalog)
    card = pinned.entries.gpus[0].model_copy(update={"name": "Acme X1 64GB"})
    own = Plan(**{**dict(plan("Acme X1 64GB")), "entries": pinned.entries.model_copy(update={"gpus": (card,)})})
    assert with_full_names(own, catalog) is own
