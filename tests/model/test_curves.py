import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from gpuplanner.model.curves import read_off

_POSITIVE = st.floats(0.01, 1e4)


@given(
    ends=st.lists(st.tuples(_POSITIVE, st.floats(1.01, 1e5)), min_size=1, max_size=4),
    points=st.integers(2, 40),
    seed=st.integers(0, 2**32 - 1),
)
def test_reads_each_row_as_numpy_reads_one_curve(ends, points, seed):
    first, ratio = np.array(ends).T
    known = first[:, None] * ratio[:, None] ** np.linspace(0.0, 1.0, points)
    random = np.random.default_rng(seed)
    values = random.uniform(1.0, 2.0, known.shape)
    at = known * random.uniform(0.5, 2.0, known.shape)
    expected = [np.interp(*row) for row in zip(at, known, values, strict=True)]
    np.testing.assert_allclose(read_off(at, known, values), expected, rtol=1e-9)


def test_gives_the_value_of_a_point_at_that_point():
    known = 0.05 * (np.array([[7.0], [256.0], [4096.0]]) / 0.05) ** np.linspace(0.0, 1.0, 32)
    values = np.sqrt(known)
    np.testing.assert_allclose(read_off(known, known, values), values, rtol=1e-12)


def test_gives_the_ends_outside_the_curve():
    known, values = np.array([[1.0, 2.0, 4.0]]), np.array([[5.0, 6.0, 9.0]])
    assert read_off(np.array([[0.1, 3.0, 8.0]]), known, values).tolist() == [[5.0, 7.5, 9.0]]


def test_a_curve_of_no_numbers_gives_none():
    known, values = np.array([[1.0, 2.0, 4.0]]), np.full((1, 3), np.nan)
    assert np.isnan(read_off(np.array([[0.1, 3.0, 8.0]]), known, values)).all()
