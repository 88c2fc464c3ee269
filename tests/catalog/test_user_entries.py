import json

import pytest
from planting import CATALOG, changed

from gpuplanner.catalog import user_entries
from gpuplanner.catalog.load import BadFile, load
from gpuplanner.catalog.user_entries import BadEntry, free_id, put, read, remove, rename, validate

CARD = {"id": "acme-x1", "name": "Acme X1 64GB", "architecture": "Acme", "memory_bytes": {"value": 68719476736}}


def test_an_entry_that_was_kept_is_read_back_equal(tmp_path):
    card = validate("gpu", CARD)
    put(tmp_path / "new folder", "gpu", card)
    assert read(tmp_path / "new folder", "gpu") == ((card,), ())
    assert load(tmp_path / "new folder").gpus["Acme X1 64GB"] == card


def test_every_shipped_card_survives_the_users_file(tmp_path):
    for gpu in CATALOG.gpus.values():
        put(tmp_path, "gpu", gpu)
    assert read(tmp_path, "gpu") == (tuple(CATALOG.gpus.values()), ())


def test_an_entry_of_the_same_name_is_replaced_in_its_place(tmp_path):
    card = validate("gpu", CARD)
    put(tmp_path, "gpu", card)
    put(tmp_path, "gpu", changed(card, id="second", name="Second"))
    put(tmp_path, "gpu", changed(card, note="better"))
    assert [(e.name, e.note) for e in read(tmp_path, "gpu")[0]] == [("Acme X1 64GB", "better"), ("Second", "")]


def test_an_entry_is_renamed_and_removed(tmp_path):
    card = validate("gpu", CARD)
    put(tmp_path, "gpu", card)
    rename(tmp_path, "gpu", card.name, changed(card, name="Acme X2"))
    assert [e.name for e in read(tmp_path, "gpu")[0]] == ["Acme X2"]
    assert remove(tmp_path, "gpu", "Acme X2") and not remove(tmp_path, "gpu", "Acme X2")
    assert read(tmp_path, "gpu") == ((), ())


def test_prices_are_told_apart_by_id(tmp_path):
    price = changed(CATALOG.prices[0], id="mine", amount=1.0)
    put(tmp_path, "price", price)
    put(tmp_path, "price", changed(price, id="mine-2", amount=2.0))
    assert [p.amount for p in read(tmp_path, "price")[0]] == [1.0, 2.0]
    assert remove(tmp_path, "price", "mine")
    assert [p.amount for p in read(tmp_path, "price")[0]] == [2.0]


@pytest.mark.parametrize(
    ("change", "key"),
    [
        ({"memory_bytes": {"value": -1}}, "memory_bytes.value"),
        ({"memory_bytes": {"value": 1e40}}, "memory_bytes.value"),
        ({"memory_bytes": {"value": "80"}}, "memory_bytes.value"),
        ({"memory_bytes": {"value": float("nan")}}, ""),
        ({"memory_bytes": None}, "memory_bytes"),
        ({"name": ""}, "name"),
        ({"colour": "red"}, "colour"),
        ({"gpus_per_card": 0}, "gpus_per_card"),
        ({"peak_flops": {"fp17": {"value": 1e15}}}, "peak_flops.fp17.[key]"),
        ({"link_kind": "string"}, "link_kind"),
    ],
)
def test_a_bad_entry_is_refused_with_a_sentence_at_its_key(change, key):
    with pytest.raises(BadEntry) as caught:
        validate("gpu", {**CARD, **change})
    assert [where for where, _reason in caught.value.problems] == [key]
    assert str(caught.value).rstrip().endswith((".", "'", '"')) or str(caught.value)


def test_what_cannot_be_read_is_not_overwritten(tmp_path):
    path = tmp_path / "gpus.json"
    path.write_text("{broken", encoding="utf-8")
    with pytest.raises(BadFile):
        put(tmp_path, "gpu", validate("gpu", CARD))
    assert path.read_text(encoding="utf-8") == "{broken"


def test_an_entry_that_this_release_does_not_understand_is_kept(tmp_path):
    strange = {"id": "n", "name": "From a newer release", "warp": 9}
    (tmp_path / "gpus.json").write_text(json.dumps([strange]), encoding="utf-8")
    put(tmp_path, "gpu", validate("gpu", CARD))
    assert json.loads((tmp_path / "gpus.json").read_text(encoding="utf-8"))[0] == strange


def test_a_failed_write_keeps_the_old_file(tmp_path, monkeypatch):
    put(tmp_path, "gpu", validate("gpu", CARD))
    before = (tmp_path / "gpus.json").read_bytes()

    def fails(*_args):
        raise OSError("disk full")

    monkeypatch.setattr(user_entries.os, "replace", fails)
    with pytest.raises(OSError, match="disk full"):
        put(tmp_path, "gpu", validate("gpu", {**CARD, "name": "Other"}))
    assert (tmp_path / "gpus.json").read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["gpus.json"]


def test_a_kind_that_users_do_not_add_is_refused(tmp_path):
    with pytest.raises(KeyError):
        read(tmp_path, "platform")


def test_an_id_is_made_of_the_name():
    assert free_id("Acme X1 (64 GB)") == "acme-x1-64-gb"
    assert free_id("Acme X1", frozenset({"acme-x1"})) == "acme-x1-2"
    assert free_id("华为 910B") == "华为-910b"
    assert free_id("!!!") == "entry"
