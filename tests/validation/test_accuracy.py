import math

import numpy as np
import pytest

from gpuplanner.catalog.load import load
from gpuplanner.validation import accuracy
from gpuplanner.validation.accuracy import Choice, Point, by_family, spread_80


def point(measured, predicted, family="training", publisher="one", inside=True, **words):
    names = {"card": "H100 SXM 80GB", "architecture": "Hopper", "model": "Llama-3.1-8B", "engine": "vLLM", **words}
    return Point({"publisher": publisher}, family, measured=measured, predicted=predicted, inside=inside, **names)


@pytest.fixture(scope="module")
def catalog():
    return load()


@pytest.fixture(scope="module")
def points(catalog):
    return accuracy.points(catalog)


def test_every_point_is_a_left_out_prediction_of_a_shipped_row(catalog, points):
    residuals = catalog.calibration.residuals
    assert len(points) > 1000
    assert all(each.predicted == residuals[each.row["id"]].left_out for each in points)
    assert all(each.measured == each.row["value"] for each in points)


def test_errors_by_family_match_a_hand_calculation():
    # Off by 10 %, 20 % and 50 %: the middle one is 20 %; two publishers; two of three inside.
    rows = [point(100, 110), point(100, 80, publisher="two"), point(100, 150, inside=False)]
    (score,) = by_family(rows)
    assert (score.rows, score.publishers) == (3, 2)
    assert score.median == pytest.approx(0.20)
    assert score.coverage == pytest.approx(2 / 3)
    assert score.p90 == pytest.approx(np.quantile([0.1, 0.2, 0.5], 0.9))


def test_the_family_with_most_rows_comes_first():
    rows = [point(1, 1), point(1, 1, family="fit"), point(1, 1, family="fit")]
    assert [score.family for score in by_family(rows)] == ["fit", "training"]


def test_the_spread_of_rows_that_are_off_by_a_factor_is_that_factor():
    assert spread_80([point(1, 1.5), point(1, 1 / 1.5), point(2, 3)]) == pytest.approx(1.5)
    assert spread_80([]) == 1.0


def test_a_choice_takes_rows_that_have_everything_it_names():
    one = point(1, 1, card="A100 SXM 80GB")
    assert Choice().takes(one)
    assert Choice(card="A100 SXM 80GB", family="training").takes(one)
    assert not Choice(card="A100 SXM 80GB", family="fit").takes(one)


def test_errors_are_relative_to_what_was_measured():
    assert point(50, 60).error == pytest.approx(0.2)
    assert math.isclose(point(50, 40).error, -0.2)
