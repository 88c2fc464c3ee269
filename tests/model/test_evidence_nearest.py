import math

import pytest

from gpuplanner.catalog.load import load
from gpuplanner.model import evidence
from gpuplanner.model.evaluate import evaluate
from gpuplanner.model.evidence import Likeness, likeness, nearest
from gpuplanner.storage.samples import SAMPLES, open_sample


@pytest.fixture(scope="module")
def catalog():
    return load()


@pytest.fixture(scope="module")
def rows(catalog):
    return [row for row in catalog.measurements if row.get("scorable", True) is not False]


def test_a_measured_row_is_nearest_to_itself(catalog, rows):
    for family in ("max_throughput", "training", "consumer_decode", "ttft_loaded"):
        row = next(each for each in rows if each["family"] == family)
        first = nearest(likeness(row, catalog), catalog)[0]
        assert first.distance == pytest.approx(0.0, abs=1e-12)
        assert first.differs == ()
        assert first.measured == first.row["value"]


def test_only_rows_of_the_same_family_are_near(catalog):
    found = nearest(Likeness("training", "H100 SXM 80GB", "Hopper"), catalog, 20)
    assert found
    assert {near.row["family"] for near in found} == {"training"}


def test_the_nearest_comes_first(catalog):
    found = nearest(Likeness("serving_tpot", "H100 SXM 80GB", "Hopper", size=7e10, batch=32, cards=8), catalog, 10)
    distances = [near.distance for near in found]
    assert distances == sorted(distances)


def test_a_row_on_half_as_many_cards_is_half_of_ln_2_away(catalog, rows):
    # By the stated weights: 0.5 for the logarithm of the number of cards, nothing for what is alike.
    row = next(each for each in rows if each["family"] == "max_throughput")
    like = likeness(row, catalog)
    twice = like._replace(cards=2 * like.cards)
    near = next(each for each in nearest(twice, catalog, 60) if each.row is row)
    assert near.distance == pytest.approx(0.5 * math.log(2.0))
    assert near.differs == ("cards",)


def test_another_card_of_the_architecture_is_nearer_than_another_architecture(catalog, rows):
    like = likeness(next(each for each in rows if each["family"] == "decode_fixed_batch"), catalog)
    other_card = nearest(like._replace(card="another"), catalog)[0].distance
    other_architecture = nearest(like._replace(card="another", architecture="another"), catalog)[0].distance
    assert 0 < other_card < other_architecture


def test_a_family_without_rows_has_nothing_near(catalog):
    assert nearest(Likeness("weather"), catalog) == ()


def test_rows_of_one_publisher_on_one_card_model_and_engine_are_listed_once(catalog):
    found = nearest(Likeness("ttft_loaded", "H100 SXM 80GB", "Hopper", size=7e10, batch=32, cards=8), catalog, 30)
    groups = [
        (n.row["publisher"], n.row.get("gpu"), n.row.get("model"), str(n.row["engine"].get("era"))) for n in found
    ]
    assert len(groups) == len(set(groups))


def test_every_speed_of_the_examples_has_evidence(catalog):
    for sample in SAMPLES[:3]:
        plan = open_sample(sample.key).plan
        results = evaluate(plan, catalog)
        for workload in plan.workloads:
            for key in ("output", "first_token") if workload.kind == "serve" else ("tokens",):
                letter = plan.scenarios[0].letter
                assert evidence.nearest_to(plan, results, letter, workload.id, key, catalog)


def test_a_figure_that_nobody_measures_has_no_evidence(catalog):
    plan = open_sample(SAMPLES[0].key).plan
    results = evaluate(plan, catalog)
    assert evidence.nearest_to(plan, results, "A", plan.workloads[0].id, "purchase", catalog) == ()
