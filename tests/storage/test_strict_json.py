import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuplanner.storage import strict_json
from gpuplanner.storage.strict_json import NotStrictJson

values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**20), 10**20)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=20,
)  # fmt: skip


def places(value, at=()):
    yield at
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from places(inner, (*at, key))
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from places(inner, (*at, number))


@given(values)
def test_what_json_writes_is_read(value):
    text = json.dumps(value)
    assert strict_json.decode(text) == value


@given(values)
def test_every_place_has_its_line(value):
    # Indented, json begins a new line for every member and item, and for every closing bracket.
    text = json.dumps(value, indent=1)
    lines = [strict_json.line_of(text, place) for place in places(value)]
    assert lines[0] == 1
    assert lines == sorted(lines)
    assert len(set(lines)) == len(lines)


def test_a_member_that_is_absent_is_at_its_parent():
    assert strict_json.line_of('{"a":\n 1,\n"b": {\n"c": [1,\n2]}}', ("b", "d")) == 3
    assert strict_json.line_of('{"a":\n 1,\n"b": {\n"c": [1,\n2]}}', ("b", "c", 1)) == 5


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('{"a": 1,\n"b": {"c": 1,\n"c": 2}}', 3),
        ('{"c": 1,\n"b": {"c": 1},\n"c": 2}', 3),
        ('[1,\nNaN]', 2),
        ('["NaN",\n\n-1e400]', 3),
        ('{"a": 1\n"b": 2}', 2),
    ],
)  # fmt: skip
def test_a_refusal_names_the_line(text, line):
    with pytest.raises(NotStrictJson) as caught:
        strict_json.decode(text)
    assert caught.value.line == line


def test_a_long_key_is_cut_in_the_refusal():
    key = "k\u202e" * 500
    with pytest.raises(NotStrictJson) as caught:
        strict_json.decode(json.dumps({key: 1})[:-1] + "," + json.dumps({key: 2})[1:])
    assert len(caught.value.reason) < 100
    assert caught.value.reason.isprintable()
