import json
import subprocess
import sys
import time
from types import SimpleNamespace

import pytest
from planting import CATALOG, Pins, changed

from gpuplanner.catalog import load as loading
from gpuplanner.catalog.load import ENTRY_KINDS, load
from gpuplanner.units import GIB

CARD = {
    "id": "acme-x1", "name": "Acme X1 64GB", "architecture": "Acme",
    "memory_bytes": {"value": 68719476736, "source": "unverified"},
}  # fmt: skip


def write(folder, stem, entries):
    (folder / f"{stem}.json").write_text(entries if isinstance(entries, str) else json.dumps(entries), encoding="utf-8")


def test_the_whole_reference_is_shipped():
    # Rows of the reference tables; 57 servers, 149 models and 51 of the 62 measured shapes (11 have no shape at all).
    counts = {kind: len(CATALOG.entries(kind)) for kind in ENTRY_KINDS}
    assert counts == {
        "gpu": 217, "server": 57, "cpu": 17, "nic": 28, "switch": 17, "optic": 6, "link": 25, "llm": 243, "runtime": 49,
    }  # fmt: skip
    assert len(CATALOG.prices) + len(CATALOG.statistics) == 379
    assert len(CATALOG.assumptions) == 295 and len(CATALOG.platforms) == 71
    assert CATALOG.problems == ()
    assert CATALOG.date == "2026-11"


def test_an_80_gb_card_holds_80_gib_and_a_link_counts_one_way():
    card = CATALOG.gpus["H100 SXM 80GB"]
    assert card.memory_bytes.value == 80 * GIB
    assert card.link_one_way_bytes_s.value == 450e9
    assert card.link_domain == 8
    assert CATALOG.gpus["A100 PCIe 80GB"].link_domain == 2
    assert CATALOG.gpus["GB200 186GB (per GPU)"].link_domain == 72
    assert CATALOG.gpus["Instinct MI300X 192GB"].pair_one_way_bytes_s.value == 64e9


def test_ids_are_unique_within_a_kind():
    for kind in ENTRY_KINDS:
        ids = [entry.id for entry in CATALOG.entries(kind).values()]
        assert len(ids) == len(set(ids))


def test_shapes_of_measured_rows_are_not_offered():
    assert CATALOG.llms["GPT-175B"].unlisted
    assert not CATALOG.llms["Llama-3.1-70B"].unlisted


def test_the_users_entry_is_added_and_wins_over_a_shipped_one(tmp_path):
    own = changed(CATALOG.gpus["L4 24GB"], board_power_w=71)
    write(tmp_path, "gpus", [CARD, json.loads(own.model_dump_json())])
    catalog = load(tmp_path)
    assert catalog.problems == ()
    assert list(catalog.gpus)[-1] == "Acme X1 64GB"
    assert list(catalog.gpus).index("L4 24GB") == list(CATALOG.gpus).index("L4 24GB")
    assert catalog.gpus["L4 24GB"].board_power_w.value == 71
    assert catalog.user_names == {"Acme X1 64GB", "L4 24GB"}


def test_a_bad_entry_is_reported_with_file_and_key_and_the_rest_loads(tmp_path):
    bad = {**CARD, "name": "Bad", "memory_bytes": {"value": -1, "source": "x"}, "colour": "red"}
    write(tmp_path, "gpus", [bad, CARD])
    catalog = load(tmp_path)
    assert "Acme X1 64GB" in catalog.gpus and "Bad" not in catalog.gpus
    assert {(p.file, p.entry, p.key) for p in catalog.problems} == {
        ("gpus.json", "Bad", "memory_bytes.value"),
        ("gpus.json", "Bad", "colour"),
    }
    assert all(p.reason for p in catalog.problems)


def test_a_name_that_stands_twice_counts_once(tmp_path):
    write(tmp_path, "gpus", [CARD, {**CARD, "id": "other"}])
    catalog = load(tmp_path)
    assert catalog.gpus["Acme X1 64GB"].id == "acme-x1"
    assert [p.key for p in catalog.problems] == ["name"]


HOSTILE = [
    '[{"id": "x", "name": "X", "architecture": "A", "memory_bytes": {"value": 1e999, "source": "s"}}]',
    '[{"id": "x", "name": "X", "architecture": "A", "memory_bytes": {"value": NaN, "source": "s"}}]',
    '[{"id": "x", "name": "X", "architecture": "A", "memory_bytes": {"value": 1e31, "source": "s"}}]',
    '[{"id": "x", "name": "X", "architecture": "A", "memory_bytes": {"value": "80", "source": "s"}}]',
    '[{"id": "x", "name": "X", "architecture": "A", "memory_bytes": {"value": true, "source": "s"}}]',
    '[{"id": "x", "name": "X", "architecture": "A", "memory_bytes": 80}]',
    '[{"id": "x", "name": "X", "architecture": "A", "memory_bytes": {"value": ' + "9" * 5000 + "}}]",
    '[{"id": "x", "name": ["X"], "architecture": {}, "memory_bytes": null}]',
    '[{"id": "x", "name": "' + "X" * 100_000 + '", "architecture": "A", "memory_bytes": {"value": 1}}]',
    '[1, null, "x", [], true]',
    '{"id": "x"}',
    "[" * 100_000,
    '[{"rules": ' + '{"a":' * 5000 + "1" + "}" * 5000 + "}]",
    "",
    "not json",
    "\x00\x01",
    '[{"id": "x", "id": "y", "name": "X", "name": "Z"}]',
]


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_a_hostile_file_is_reported_and_harms_nothing(tmp_path, text):
    write(tmp_path, "gpus", text)
    catalog = load(tmp_path)
    assert list(catalog.gpus) == list(CATALOG.gpus)
    assert catalog.problems and {p.file for p in catalog.problems} == {"gpus.json"}
    assert all(len(p.reason) < 1000 and len(p.entry) <= 200 for p in catalog.problems)


def test_bytes_that_are_no_text_are_reported(tmp_path):
    (tmp_path / "prices.json").write_bytes(b"[\xff\xfe]")
    assert [p.file for p in load(tmp_path).problems] == ["prices.json"]


def test_a_file_of_100_mib_is_not_read(tmp_path):
    with open(tmp_path / "gpus.json", "wb") as file:
        file.truncate(100 * 2**20)
    begin = time.perf_counter()
    catalog = load(tmp_path)
    problems = catalog.problems
    assert [p.file for p in problems] == ["gpus.json"] and "MiB" in problems[0].reason
    assert time.perf_counter() - begin < 5


def test_the_catalog_cannot_be_changed():
    with pytest.raises(AttributeError):
        CATALOG.gpus = {}
    with pytest.raises(TypeError):
        CATALOG.gpus["x"] = 1


def test_an_assumption_is_found_by_key_and_class():
    first = CATALOG.assumptions[0]
    assert CATALOG.assumption(first.key, first.applies_to) is first
    with pytest.raises(KeyError, match=r"no_such_key.*nothing"):
        CATALOG.assumption("no_such_key", "nothing")


def test_prices_are_found_by_entry_and_condition():
    prices = CATALOG.prices_of("GeForce RTX 4090 24GB")
    assert prices and all(price.entry == "GeForce RTX 4090 24GB" for price in prices)
    used = CATALOG.prices_of("GeForce RTX 4090 24GB", "used")
    assert used and set(used) < set(prices)
    assert CATALOG.prices_of("no such card") == ()


def test_pinned_records_win_and_the_catalog_stays_as_it_was():
    card = changed(CATALOG.gpus["L4 24GB"], board_power_w=50)
    gone = changed(CATALOG.gpus["L4 24GB"], id="gone", name="Card of an older catalog")
    view = CATALOG.over(Pins(gpus=(card, gone)))
    assert view.find("gpu", "L4 24GB").board_power_w.value == 50
    assert view.find("gpu", "Card of an older catalog") is gone
    assert CATALOG.find("gpu", "L4 24GB").board_power_w.value == 72
    assert CATALOG.find("gpu", "Card of an older catalog") is None
    assert view.llms is CATALOG.llms and view.ambiguous is CATALOG.ambiguous


def test_the_view_of_the_same_pinned_records_is_made_once():
    pins = Pins(gpus=(CATALOG.gpus["L4 24GB"],))
    assert CATALOG.over(pins) is CATALOG.over(pins)
    assert CATALOG.over(pins).over(Pins(llms=(CATALOG.llms["Llama-2-7B"],))).gpus is CATALOG.gpus


def test_where_a_plan_pins_prices_of_an_entry_no_others_count():
    name = "GeForce RTX 4090 24GB"
    price = changed(CATALOG.prices_of(name)[0], id="pinned", amount=1.0)
    view = CATALOG.over(Pins(prices=(price,)))
    assert view.prices_of(name) == (price,)
    assert view.prices_of("H100 SXM 80GB") == CATALOG.prices_of("H100 SXM 80GB")


def test_nothing_pinned_is_the_catalog_itself():
    assert CATALOG.over(SimpleNamespace(gpus=(), prices=())) is CATALOG


def test_a_kind_that_does_not_exist_is_an_error_of_the_caller():
    with pytest.raises(KeyError):
        CATALOG.find("chair", "x")


def test_reading_does_not_load_the_window_or_the_measurements():
    code = (
        "import sys; from gpuplanner.catalog.load import load; c = load(); c.gpus; c.llms; c.runtimes;"
        "print([m for m in sys.modules if m.startswith(('PySide6', 'pyqtgraph', 'numpy', 'babel'))])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_every_file_of_the_catalog_is_read_by_something():
    stems = {path.stem for path in (loading._shipped_folder()).glob("*.json")}
    assert stems == {stem for stem, _record in loading.FILES.values()} | {"ambiguous", "catalog", "cross_checked"}
