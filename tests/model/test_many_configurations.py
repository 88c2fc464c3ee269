"""A search asks for thousands of configurations at once: they get the figures that each gets by itself."""

import configurations
import numpy as np
import pytest
from serving_cases import CATALOG

_COUNT = 300


def _one_by_one(function, case):
    return np.concatenate([function(part) for part in configurations.in_chunks(case, 1)], axis=1)


@pytest.fixture(autouse=True)
def _quiet():
    # Models that no card holds divide by nothing.
    with np.errstate(all="ignore"):
        yield


@pytest.mark.parametrize("function", [configurations.served, configurations.within_targets])
def test_many_ways_to_serve_get_the_figures_of_each_by_itself(function):
    case = configurations.serving_configurations(CATALOG, _COUNT)
    together = function(case)
    assert (together > 0).mean() > 0.5
    np.testing.assert_allclose(together, _one_by_one(function, case), rtol=1e-12)


def test_many_ways_to_train_get_the_figures_of_each_by_itself():
    case = configurations.training_configurations(CATALOG, _COUNT)
    together = configurations.trained(case)
    assert (together > 0).all()
    np.testing.assert_allclose(together, _one_by_one(configurations.trained, case), rtol=1e-12)
