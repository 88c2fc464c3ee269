import json

import pytest
from planting import CATALOG, changed

from gpuplanner.catalog.load import load
from gpuplanner.catalog.query import (
    KINDS,
    AmbiguousName,
    Filters,
    UnknownName,
    describe,
    names_of,
    resolve,
    search,
    unit_of,
)


@pytest.mark.parametrize(
    ("kind", "text", "name"),
    [
        ("gpu", "4090", "GeForce RTX 4090 24GB"),
        ("gpu", "rtx4090", "GeForce RTX 4090 24GB"),
        ("gpu", "NVIDIA GeForce RTX 4090", "GeForce RTX 4090 24GB"),
        ("gpu", "4090 D", "GeForce RTX 4090 D 24GB"),
        ("gpu", "h100-pcie", "H100 PCIe 80GB"),
        ("gpu", "NVIDIA H100 SXM5 80 GB", "H100 SXM 80GB"),
        ("gpu", "MI300X", "Instinct MI300X 192GB"),
        ("gpu", "  L40S  ", "L40S 48GB"),
        ("llm", "Llama 3 70B", "Llama-3-70B"),
        ("llm", "llama-3.1-70b-instruct", "Llama-3.1-70B"),
        ("llm", "meta-llama/Llama-3.3-70B-Instruct", "Llama-3.3-70B"),
        ("llm", "deepseek v3", "DeepSeek-V3"),
        ("llm", "qwen3 32b", "Qwen3-32B"),
        ("runtime", "vLLM", "vLLM (CUDA)"),
        ("runtime", "trt-llm", "TensorRT-LLM"),
        ("server", "dgx h100", "DGX H100"),
    ],
)
def test_a_name_resolves_as_people_write_it(kind, text, name):
    assert resolve(CATALOG, kind, text).name == name


@pytest.mark.parametrize("text", ["H100", "nvidia h100", "h 100"])
def test_h100_is_asked_about(text):
    with pytest.raises(AmbiguousName) as caught:
        resolve(CATALOG, "gpu", text)
    assert set(caught.value.candidates) == {"H100 SXM 80GB", "H100 PCIe 80GB", "H100 NVL 94GB"}
    assert "H100 NVL 94GB" in str(caught.value)


def test_every_ambiguous_name_is_asked_about_and_its_candidates_exist():
    for name, ambiguity in CATALOG.ambiguous.items():
        with pytest.raises(AmbiguousName) as caught:
            resolve(CATALOG, "gpu", name)
        assert caught.value.candidates == ambiguity.candidates
        assert all(candidate in CATALOG.gpus for candidate in ambiguity.candidates)


def test_a_card_with_a_version_that_the_catalog_lacks_is_asked_about_with_the_reason():
    with pytest.raises(AmbiguousName) as caught:
        resolve(CATALOG, "gpu", "3060")
    assert caught.value.candidates == ("GeForce RTX 3060 12GB",)
    assert "8 GB" in str(caught.value)


def test_every_name_and_alias_leads_to_its_entry():
    for kind in KINDS:
        for entry in CATALOG.entries(kind).values():
            for name in names_of(entry):
                assert resolve(CATALOG, kind, name) is entry, name


@pytest.mark.parametrize("text", ["H1000", "RTX 9999", "llama", "", "   ", "*"])
def test_an_unknown_name_is_not_guessed(text):
    with pytest.raises(UnknownName):
        resolve(CATALOG, "gpu", text)


def test_an_unknown_name_comes_with_near_ones():
    with pytest.raises(UnknownName) as caught:
        resolve(CATALOG, "llm", "mixtral 8x7")
    assert "Mixtral-8x7B" in caught.value.suggestions


def test_a_users_entry_with_a_shipped_alias_makes_the_alias_ambiguous(tmp_path):
    own = changed(CATALOG.gpus["GeForce RTX 4090 24GB"], id="own", name="RTX 4090 48GB (rebuilt)", aliases=("4090",))
    (tmp_path / "gpus.json").write_text(f"[{own.model_dump_json()}]", encoding="utf-8")
    with pytest.raises(AmbiguousName):
        resolve(load(tmp_path), "gpu", "4090")
    assert resolve(load(tmp_path), "gpu", "RTX 4090 48GB (rebuilt)").id == "own"


def names(*args):
    return {entry.name for entry in search(CATALOG, *args)}


def test_a_search_takes_words_and_comparisons():
    found = names("gpu", "ada >= 48 GB")
    assert found == {"L20 48GB", "L40 48GB", "L40S 48GB", "RTX 5880 Ada 48GB", "RTX 6000 Ada 48GB"}
    assert names("gpu", "ada >= 48 GB < 300 W") == {"L20 48GB", "RTX 5880 Ada 48GB"}
    assert "H100 SXM 80GB" in names("gpu", ">= 3.35 TB/s") and "H100 PCIe 80GB" not in names("gpu", ">= 3.35 TB/s")
    assert names("llm", "qwen3 <= 1 B") == {"Qwen3-0.6B"}


def test_a_unit_that_cannot_be_compared_is_refused_with_a_sentence():
    with pytest.raises(ValueError, match="bananas"):
        search(CATALOG, "gpu", ">= 5 bananas")


def test_filters_keep_what_is_still_made_and_what_is_offered():
    made = {gpu.name for gpu in search(CATALOG, "gpu", "", Filters(made=True))}
    assert "Tesla V100 SXM2 16GB" not in made and "H100 SXM 80GB" in made
    assert "GPT-175B" not in names("llm") and "GPT-175B" in names("llm", "gpt-175b", Filters(unlisted=True))
    assert names("gpu", "", Filters(own=True)) == set()
    assert names("gpu", "", Filters(vendors=frozenset({"AMD"}), precisions=frozenset({"fp4"}))) == {
        "Instinct MI350X 288GB",
        "Instinct MI355X 288GB",
    }


def test_a_search_sorts_and_puts_what_is_not_known_last():
    cards = search(CATALOG, "gpu", "", Filters(sort="bandwidth", descending=True))
    figures = [card.memory_bandwidth_bytes_s.value for card in cards if card.memory_bandwidth_bytes_s]
    assert figures == sorted(figures, reverse=True)
    assert cards[-1].name == "Hygon DCU K100"


def test_every_figure_is_described_with_unit_source_and_mark():
    lines = {line.key: line for line in describe(CATALOG.gpus["H100 SXM 80GB"], CATALOG)}
    memory = lines["memory_bytes"]
    assert (memory.value, memory.unit, memory.mark) == (80 * 2**30, "byte", "primary")
    assert memory.source in CATALOG.sources
    assert lines["peak_flops.bf16"].value == pytest.approx(989.5e12)
    assert lines["peak_flops.bf16"].unit == "FLOP/s"
    assert lines["link_one_way_bytes_s"].unit == "byte/s"
    assert lines["architecture"].unit is None
    assert any(key.startswith("price.") for key in lines)


def test_every_entry_can_be_described_and_written_as_json():
    for kind in KINDS:
        for entry in CATALOG.entries(kind).values():
            assert json.dumps([line._asdict() for line in describe(entry, CATALOG)], allow_nan=False)


@pytest.mark.parametrize(("key", "unit"), [("airflow_m3_s", "m³/s"), ("port_bits_s", "bit/s"), ("heads", None)])
def test_the_unit_follows_from_the_key(key, unit):
    assert unit_of(key) == unit
