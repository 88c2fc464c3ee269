"""Measured rows: families by the table, hostile rows, names, layouts."""

import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuplanner import paths
from gpuplanner.catalog.load import load
from gpuplanner.model.measured import predict, rows
from gpuplanner.model.measured.keys import Keys, Lookup, Unpredictable, family_of, serving_engine, weight_format
from gpuplanner.validation import score

CATALOG = load()
LOOKUP = Lookup(CATALOG)
VLLM = {"name": "vLLM", "kind": "vLLM (CUDA)"}
LLAMA_CPP = {"name": "llama.cpp", "kind": "llama.cpp"}
MEASURED = [
    json.loads(line)
    for path in sorted((paths.resources() / "measurements").glob("*.jsonl"))
    for line in path.read_text(encoding="utf-8").splitlines()
]

# The table of families, one example a line.
FAMILIES = [
    ({"metric": "fits"}, "fit"),
    ({"metric": "kv_capacity_tokens"}, "kv_capacity"),
    ({"metric": "peak_memory_gib", "task": "training"}, "peak_memory"),
    ({"metric": "gpu_hours", "task": "training"}, "gpu_hours"),
    ({"metric": "power_w_per_gpu"}, "power_gpu"),
    ({"metric": "power_w_server", "task": "power"}, "power_server"),
    ({"metric": "energy_kwh"}, "energy"),
    ({"metric": "tokens_per_s", "task": "finetune"}, "finetune"),
    ({"metric": "mfu", "task": "training"}, "training"),
    ({"metric": "busbw_gb_s"}, "collective"),
    ({"metric": "speed_ratio"}, "power_cap_speed"),
    ({"metric": "power_w_server", "task": "facility"}, "server_draw"),
    ({"metric": "prefill_tokens_per_s"}, "cpu_prefill"),
    ({"metric": "output_tokens_per_s"}, "cpu_decode"),
    ({"metric": "tpot_s", "gpu": "T4", "host": "weights offloaded to CPU"}, "offload"),
    ({"metric": "ttft_s", "gpu": "H100 SXM 80GB", "engine": VLLM, "request_rate": 4}, "request_rate"),
    ({"metric": "prefill_tokens_per_s", "gpu": "H100 SXM 80GB", "engine": LLAMA_CPP}, "consumer_prefill"),
    ({"metric": "prefill_tokens_per_s", "gpu": "H100 SXM 80GB", "engine": VLLM}, "ttft_idle"),
    ({"metric": "ttft_s", "gpu": "GeForce RTX 4090 24GB", "engine": VLLM, "concurrency": 8}, "consumer_server"),
    ({"metric": "ttft_s", "gpu": "H100 SXM 80GB", "engine": VLLM, "concurrency": 8}, "ttft_loaded"),
    ({"metric": "ttft_s", "gpu": "H100 SXM 80GB", "engine": VLLM, "batch": 1}, "ttft_idle"),
    ({"metric": "tpot_s", "gpu": "H100 SXM 80GB", "engine": VLLM, "concurrency": 8}, "serving_tpot"),
    ({"metric": "tpot_s", "gpu": "H100 SXM 80GB", "engine": VLLM, "batch": 8}, "decode_fixed_batch"),
    ({"metric": "output_tokens_per_s", "gpu": "H100 SXM 80GB", "engine": VLLM, "batch": 8}, "decode_fixed_batch"),
    ({"metric": "output_tokens_per_s", "gpu": "RTX A6000 48GB", "engine": VLLM, "batch": 1}, "consumer_decode"),
    (
        {"metric": "output_tokens_per_s", "gpu": "H100 SXM 80GB", "engine": VLLM, "concurrency": 64},
        "throughput_at_concurrency",
    ),
    ({"metric": "output_tokens_per_s", "gpu": "H100 SXM 80GB", "engine": VLLM}, "max_throughput"),
    ({"metric": "output_tokens_per_s", "gpu": "H100 SXM 80GB", "engine": LLAMA_CPP}, "consumer_decode"),
    ({"metric": "smell"}, "other"),
    ({"metric": "smell", "family": "training"}, "training"),
]


@pytest.mark.parametrize(("row", "family"), FAMILIES)
def test_the_first_line_of_the_table_that_fits_wins(row, family):
    assert family_of(row) == family


def test_shipped_rows_without_their_family_get_it_back():
    # Rows that a person sorted by hand differ in a few: what lies outside of the GPU's memory is told by the host's
    # words.
    told = [row for row in MEASURED if row["scorable"]]
    same = [family_of({key: value for key, value in row.items() if key != "family"}) == row["family"] for row in told]
    assert np.mean(same) > 0.97


scalars = st.one_of(st.none(), st.booleans(), st.integers(-(10**12), 10**12), st.floats(), st.text(max_size=12))
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=6,
)
KEYS = sorted({key for row in MEASURED for key in row})


@settings(deadline=None, max_examples=150)
@given(
    st.sampled_from(MEASURED),
    st.dictionaries(st.sampled_from(KEYS), values, max_size=5),
    st.sets(st.sampled_from(KEYS), max_size=4),
)
def test_a_hostile_row_is_predicted_or_skipped_with_a_reason(row, changes, dropped):
    hostile = {key: value for key, value in {**row, **changes}.items() if key not in dropped}
    answer = score.score([hostile], CATALOG)["rows"][0]
    assert (answer["predicted"] is None) == bool(answer["skipped"])
    if answer["predicted"] is not None:
        assert math.isfinite(answer["predicted"])


@settings(deadline=None, max_examples=100)
@given(st.dictionaries(st.sampled_from(KEYS) | st.text(max_size=8), values, max_size=8))
def test_no_row_raises(row):
    assert len(score.score([row], CATALOG)["rows"]) == 1


def test_an_ambiguous_card_is_skipped_with_its_candidates():
    row = {"metric": "tpot_s", "gpu": "A100 80GB", "model": "Llama-3.1-8B", "engine": VLLM, "batch": 1, "value": 0.01}
    reason = score.score([row], CATALOG)["rows"][0]["skipped"]
    assert "A100 PCIe 80GB" in reason and "A100 SXM 80GB" in reason


def test_an_unknown_model_is_skipped_by_name():
    row = {"metric": "tpot_s", "gpu": "H100 SXM 80GB", "model": "Nobody-7B", "engine": VLLM, "batch": 1, "value": 0.01}
    assert "Nobody-7B" in score.score([row], CATALOG)["rows"][0]["skipped"]


@pytest.mark.parametrize("word", ["AWQ", "GPTQ", "w4a16", "q4f16_1"])
def test_words_of_four_bit_formats_are_understood(word):
    assert weight_format(word) == "int4"


@pytest.mark.parametrize(
    ("word", "name"),
    [("Q4_K_M", "q4_k_m"), ("q5_k_xl", "q5_k_m"), ("FP8", "fp8"), ("BFloat16", "bf16"), ("iq4_xs", "iq4_xs")],
)
def test_words_of_other_formats_are_understood(word, name):
    assert weight_format(word) == name


def test_a_format_nobody_knows_is_refused_by_name():
    with pytest.raises(Unpredictable, match="zebra"):
        weight_format("zebra")


# Words of published runs, and the bytes/s of one GPU that they mean.
NETWORKS = [
    ("4x ConnectX-7 IB NDR 400Gb/s", 4.0, 50e9),
    ("RoCE 1600 Gbps per node", 8.0, 25e9),
    ("RoCE 400G per GPU", 8.0, 50e9),
    ("InfiniBand 8x200G", 8.0, 25e9),
    ("Storage+Management: 1x NVIDIA BlueField 2 DPU 100Gb/s, Compute: 8x NVIDIA ConnectX-7 400Gb/s", 8.0, 50e9),
    ("Gig Ethernet", 1.0, 0.125e9),
]


@pytest.mark.parametrize(("words", "per_node", "expected"), NETWORKS)
def test_network_words_become_bytes_a_second_of_one_gpu(words, per_node, expected):
    assert rows.network_per_gpu(words, per_node, "A100") == pytest.approx(expected)


def test_without_words_a_server_has_the_network_it_is_sold_with():
    assert rows.network_per_gpu(None, 8.0, "Hopper") == 50e9


def test_desktop_programs_split_layers_and_servers_take_the_fewest_ranks_that_hold_the_weights():
    keys = Keys({"gpus": 4})
    desktop = rows.serving_layout(keys, 1.0, 80e9, 141e9, "llama.cpp", False)
    server = rows.serving_layout(keys, 1.0, 80e9, 141e9, "vLLM 0.10 and later", False)
    assert (desktop.tp, desktop.pp) == (1.0, 4.0)
    assert (server.tp, server.dp) == (4.0, 1.0)
    small = rows.serving_layout(keys, 1.0, 80e9, 16e9, "vLLM 0.10 and later", False)
    assert (small.tp, small.dp) == (1.0, 4.0)


def test_eager_programs_are_read_as_such():
    for name in ("LitGPT", "lit-gpt fork", "bitsandbytes"):
        engine, _, known = serving_engine(Keys({"engine": {"name": name, "era": "other"}}), LOOKUP)
        assert (engine, known) == ("HF transformers", False)


def test_first_versions_of_vllm_0_6_make_room_for_a_whole_prompt():
    # Logs of vLLM issue 10517 (RTX 3090, Llama-3.1-8B): the peak above the weights grows from 2.07 to 2.99 GiB between
    # 20,000 and 29,000 tokens of context, and is 0.06 GiB at 35,000, where prompts are cut.
    def capacity(version, longest):
        row = {
            "metric": "kv_capacity_tokens", "task": "fit", "gpu": "GeForce RTX 3090 24GB", "gpus": 1, "weights": "bf16",
            "model": "Llama-3.1-8B", "engine": {**VLLM, "version": version, "era": "vLLM 0.6-0.9"},
            "max_model_len": longest, "value": 1,
        }  # fmt: skip
        return score.score([row], CATALOG)["rows"][0]["predicted"]

    assert capacity("0.6.4", 29_000) < capacity("0.6.4", 20_000) < 0.9 * capacity("0.6.4", 35_000)
    assert capacity("0.8.5", 29_000) == pytest.approx(capacity("0.8.5", 20_000))


def test_a_layout_of_more_devices_than_the_row_counts_is_of_a_larger_run():
    # 8 x 2 x 4 = 64 devices cannot be 8 cards: eight are a server of the run.
    row = {
        "metric": "tokens_per_s", "task": "training", "gpu": "H100 SXM 80GB", "gpus": 8, "model": "Llama-3-70B",
        "engine": {"name": "Megatron-LM", "era": "Megatron and NeMo"}, "parallel": {"tp": 8, "pp": 2, "dp": 4},
        "seq_len": 8192, "global_batch": 128,
    }  # fmt: skip
    assert rows.training_row(Keys(row), LOOKUP, CATALOG.calibration).cards == 64
    served = row | {"metric": "output_tokens_per_s", "task": "inference", "gpus": 1, "engine": VLLM, "batch": 8}
    served["parallel"] = {"tp": 4}
    assert rows.serving_row(Keys(served), LOOKUP, CATALOG.calibration).cards == 4


def test_an_apple_chip_with_a_memory_size_of_its_own_is_found():
    card = rows.card_of(Keys({"gpu": "Apple M4 Pro 24GB"}), LOOKUP)
    assert card.gpu.name.startswith("Apple M4 Pro") and card.memory_gb == 24.0


def test_a_power_cap_slows_compute_more_than_memory():
    row = {
        "metric": "output_tokens_per_s", "gpu": "H100 SXM 80GB", "model": "Llama-3.1-8B", "engine": VLLM,
        "weights": "bf16", "batch": 1,
        "input_tokens": 128, "output_tokens": 128, "value": 100.0,
    }  # fmt: skip
    free, capped = (item["predicted"] for item in score.score([row, {**row, "power_limit_w": 500}], CATALOG)["rows"])
    prompt = {**row, "metric": "prefill_tokens_per_s", "input_tokens": 4096}
    read, slow = (
        item["predicted"] for item in score.score([prompt, {**prompt, "power_limit_w": 500}], CATALOG)["rows"]
    )
    assert 0.95 < capped / free <= 1.0
    assert slow / read < 0.95


def test_every_family_of_the_table_has_a_prediction():
    prepared = predict.prepare(MEASURED, CATALOG)
    found = predict.predict(prepared, CATALOG.calibration)
    answered = {family for family, value in zip(prepared.families, found, strict=True) if np.isfinite(value)}
    asked = {row["family"] for row in MEASURED if row["scorable"]}
    assert asked <= answered


def test_offload_is_predicted_once_the_hosts_memory_speed_is_known():
    row = {
        "family": "offload", "metric": "output_tokens_per_s", "gpu": "GeForce RTX 3090 24GB",
        "model": "Llama-3.1-70B", "weights": "q4_k_m",
        "engine": LLAMA_CPP, "batch": 1, "value": 3.0,
    }  # fmt: skip
    silent, slow, fast = (
        score.score([{**row, **extra}], CATALOG)["rows"][0]
        for extra in ({}, {"host_memory_gbs": 60}, {"host_memory_gbs": 400})
    )
    assert "host_memory_gbs" in silent["skipped"]
    assert slow["predicted"] < fast["predicted"]


HOSTS = [
    ("2x EPYC 7742", True),
    ("dual-socket X99 board (Xeon E5 v4, DDR4)", True),
    ("2 x Intel Xeon 8480C", True),
    ("Ryzen 9 7950X, 2 x 32 GB DDR5, dual channel", False), ("1 x AMD EPYC 9554 (64 cores)", False),
]  # fmt: skip


@pytest.mark.parametrize(("host", "two"), HOSTS)
def test_two_memory_modules_are_not_two_sockets(host, two):
    assert rows._two_sockets(host) is two


# Readings of whole servers that do nothing: 8 H200, 8 A100 on a board, 8 A100 in slots. Two such servers differ by 5 %.
IDLE = [("H200 SXM 141GB", 2381.8), ("A100 SXM 80GB", 1476.3), ("A100 PCIe 80GB", 646.7)]


@pytest.mark.parametrize(("gpu", "reading"), IDLE)
def test_idle_servers_draw_what_was_read(gpu, reading):
    row = {"task": "facility", "metric": "power_w_server", "gpu": gpu, "gpus": 8, "load": "idle", "value": reading}
    answer = score.score([row], CATALOG)["rows"][0]
    assert answer["family"] == "server_draw" and answer["predicted"] == pytest.approx(reading, rel=0.05)
