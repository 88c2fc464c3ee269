"""Parameter counts, KV caches and what fits, by published figures and properties."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuplanner.model import case as cases
from gpuplanner.model import memory
from gpuplanner.model.case import LlmColumns
from gpuplanner.units import GIB
from tests.model.serving_cases import CATALOG, serving_case

# Published counts; four digits are printed.
PARAMETERS = [
    ("Llama-2-7B", 6.738e9), ("Llama-3.1-8B", 8.030e9), ("Llama-3.1-70B", 70.55e9), ("Mixtral-8x7B", 46.70e9),
    ("Qwen3-30B-A3B", 30.53e9),
    ("Qwen3-235B-A22B", 235.09e9), ("DeepSeek-V3", 671.03e9), ("gpt-oss-120b", 116.8e9), ("Llama-4-Maverick",
    400.7e9), ("Kimi-K2", 1026e9),
]  # fmt: skip


@pytest.mark.parametrize(("name", "published"), PARAMETERS)
def test_parameters_are_counted_as_published(name, published):
    assert cases.parameters(CATALOG.llms[name]).total == pytest.approx(published, rel=1e-3)


def test_latent_attention_keeps_576_elements_a_layer_and_token():
    # DeepSeek-V3: 61 layers, latent rank 512 and rope width 64: 35,136 elements, 70.3 kB at 16 bit.
    shape = LlmColumns(*cases.llm_columns(CATALOG.llms["DeepSeek-V3"]))
    assert shape.kv_full + shape.kv_window == 61 * 576


def test_a_token_of_llama_405b_takes_516_kb():
    # 2 x 126 layers x 8 heads x 128 x 2 bytes.
    shape = LlmColumns(*cases.llm_columns(CATALOG.llms["Llama-3.1-405B"]))
    assert 2 * shape.kv_full == 516_096


def test_a_16_bit_70b_fills_two_a100_but_leaves_room_for_a_cache():
    # 141 GB on 2 x 80 GiB: reading the label as 1e9 bytes would leave nothing.
    case = serving_case("Llama-3.1-70B", "A100 SXM 80GB", tp=2.0, max_batched=2048.0, memory_fraction=0.95, vllm=0.0)
    assert memory.serving_memory(case).budget[0] > 1e9


def test_kv_heads_are_copied_when_there_are_more_ranks_than_heads():
    eight, sixteen = (serving_case("Llama-3.1-70B", tp=tp) for tp in (8.0, 16.0))
    tokens = np.array([1000.0])
    assert memory.cache_per_gpu(eight, tokens) == memory.cache_per_gpu(sixteen, tokens)


def test_windowed_layers_stop_growing():
    case = serving_case("Mistral-7B-v0.1")
    assert memory.cache_bytes(case, np.array([4096.0])) == memory.cache_bytes(case, np.array([32768.0]))


def test_desktop_programs_leave_the_embedding_in_host_memory():
    desktop = serving_case("Llama-3.1-8B", engine="llama.cpp", weights="fp16", single_user=1.0, vllm=0.0)
    server = serving_case("Llama-3.1-8B")
    # 128,256 x 4,096 weights of 2 bytes.
    assert memory.weights_per_gpu(server)[0] - memory.weights_per_gpu(desktop)[0] == pytest.approx(128_256 * 4096 * 2)


@settings(deadline=None, max_examples=40)
@given(st.floats(0.3, 0.98), st.floats(0.3, 0.98), st.floats(256, 32_768))
def test_more_memory_never_holds_fewer_sequences(first, second, tokens):
    less, more = sorted((first, second))
    room = []
    for share in (less, more):
        case = serving_case(memory_fraction=share)
        room.append(float(memory.sequences_that_fit(case, memory.serving_memory(case), np.array([tokens]))[0]))
    assert room[0] <= room[1]


@settings(deadline=None, max_examples=40)
@given(st.sampled_from(["bf16", "fp8", "int4", "q4_k_m", "q8_0", "nvfp4"]))
def test_smaller_formats_never_take_more_memory(weights):
    small, plain = serving_case(weights=weights), serving_case(weights="bf16")
    assert memory.weight_bytes(small)[0] <= memory.weight_bytes(plain)[0]


@settings(deadline=None, max_examples=30)
@given(st.floats(1, 100_000), st.floats(1, 100_000))
def test_longer_sequences_never_need_less_cache(first, second):
    case = serving_case("Gemma-3-27B")
    short, long = (memory.cache_bytes(case, np.array([tokens]))[0] for tokens in sorted((first, second)))
    assert short <= long


# Start-up logs of vLLM 0.11 on an H100 of 79.18 GiB at 16,000 tokens, 0.90 of memory (llm-d-planner,
# docs/empirical-vllm-memory-results.md): peak activations and room for the cache in GiB.
START_UP = [
    ("Llama-3.1-8B", "bf16", 4.76, 51.38),
    ("Qwen3-32B", "bf16", 5.64, 4.45),
    ("gpt-oss-20b", "mxfp4", 7.38, 50.28),
]


@pytest.mark.parametrize(("llm", "weights", "activations", "room"), START_UP)
def test_vllm_makes_room_to_sample_from_1024_sequences(llm, weights, activations, room):
    case = serving_case(llm, weights=weights, max_sequences=1024.0)
    memory_of = memory.serving_memory(case)
    # Captured graphs (0.5 GiB) are counted from later versions on.
    assert memory_of.activations[0] / GIB == pytest.approx(activations, rel=0.05)
    assert memory_of.budget[0] / GIB == pytest.approx(room, abs=2.0)


def test_the_share_of_sglang_is_for_weights_and_cache_alone():
    # SGLang log, 4 x H100, Qwen3-235B in FP8 at 0.93: 8.23 GB of keys and as much of values a card.
    case = serving_case("Qwen3-235B-A22B", weights="fp8", engine="SGLang", tp=4.0, memory_fraction=0.93, vllm=0.0)
    static = case._replace(run=case.run._replace(static_fraction=np.array([1.0])))
    assert memory.serving_memory(static).budget[0] == pytest.approx(2 * 8.23 * GIB, rel=0.1)
    assert memory.serving_memory(case).budget[0] < memory.serving_memory(static).budget[0]


def test_fp4_files_of_hybrids_keep_linear_attention_in_16_bit():
    dense, hybrid = CATALOG.llms["Qwen3-32B"], CATALOG.llms["Qwen3.6-27B"]
    assert cases.bytes_per_weight("nvfp4", dense)[0] == 4.5 / 8
    assert 4.5 / 8 < cases.bytes_per_weight("nvfp4", hybrid)[0] < 2.0
    assert cases.bytes_per_weight("fp8", hybrid)[0] == cases.bytes_per_weight("fp8", dense)[0]
