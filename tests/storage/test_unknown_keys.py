from gpuplanner.catalog.schema import Server
from gpuplanner.model.plan import Plan
from gpuplanner.storage.unknown_keys import Unknown, put_back, set_aside


def test_a_known_record_is_left_as_it_is():
    data = {"name": "x", "workloads": [{"kind": "train", "id": "t", "tokens": 1}]}
    assert set_aside(Plan, data) == (data, ())


def test_what_is_not_a_record_is_left_for_validation():
    for data in (3, [], {"workloads": 3, "site": [1], "scenarios": [4, {"groups": {"a": 1}}]}):
        assert set_aside(Plan, data) == (data, ())


def test_free_content_is_not_searched():
    data = {"measured": [{"anything": {"goes": 1}}]}
    assert set_aside(Plan, data) == (data, ())


def test_a_kind_decides_which_keys_are_known():
    data = {"workloads": [{"kind": "train", "id": "t", "load": 5}]}
    assert set_aside(Plan, data)[1] == (Unknown(("workloads", 0, "load"), "t", 5),)


def test_a_key_deep_inside_a_record_goes_back_by_the_id_of_that_record():
    item = Unknown(("servers", 0, "nics", 1, "colour"), "box-2", "red")
    data = {"servers": [{"id": "box-1", "nics": []}, {"id": "box-2", "nics": [{}, {}]}]}
    changed, gone = put_back(data, [item])
    assert changed["servers"][1]["nics"] == [{}, {"colour": "red"}]
    assert gone == ()


def test_a_key_of_an_item_that_is_gone_is_dropped():
    item = Unknown(("servers", 0, "nics", 1, "colour"), "box-2", "red")
    assert put_back({"servers": [{"id": "box-2", "nics": [{}]}]}, [item])[1] == (item,)
    assert put_back({"servers": [{"id": "box-1", "nics": [{}, {}]}]}, [item])[1] == (item,)
    assert put_back({}, [item])[1] == (item,)


def test_a_known_key_wins_over_one_set_aside():
    data, _gone = put_back({"a": 1}, [Unknown(("a",), "", 2)])
    assert data == {"a": 1}


def test_keys_inside_a_pinned_server_are_found():
    _data, found = set_aside(
        Server, {"id": "box", "nics": [{"count": 1, "colour": "red"}], "psu_w": {"value": 1, "x": 2}}
    )
    assert {item.path for item in found} == {("nics", 0, "colour"), ("psu_w", "x")}
