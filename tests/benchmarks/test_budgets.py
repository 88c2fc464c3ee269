"""The budgets as tests: `pytest tests/benchmarks`. Not part of the ordinary run, because a busy machine misses them."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))

from measure import evaluation, keystrokes, many_configurations, start_and_memory, table

pytestmark = pytest.mark.timeout(600)


@pytest.mark.parametrize(
    "measure",
    [start_and_memory, keystrokes, evaluation, many_configurations],
    ids=lambda measure: measure.__name__,
)
def test_budget(measure, capsys):
    measures = measure()
    with capsys.disabled():
        print("\n" + table(measures))
    assert all(each.met for each in measures), table(measures)
