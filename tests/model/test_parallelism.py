"""Which splits are legal: they divide heads, layers and experts, and fit the cards."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from planning import LLAMA_8B, LLAMA_70B, MIXTRAL, catalog

from gpuplanner.model.parallelism import Split, refusal, splits, tensor_degrees

LLAMA = catalog().llms[LLAMA_70B]  # 80 layers, 64 heads, 8 KV heads
SMALL = catalog().llms[LLAMA_8B]  # 32 layers, 32 heads, 8 KV heads
EXPERTS = catalog().llms[MIXTRAL]  # 8 experts
VLLM, DESKTOP = catalog().runtimes["vLLM (CUDA)"], catalog().runtimes["llama.cpp"]


def why(llm, split, gpus=8, per_server=8, domain=8, runtime=VLLM):
    found = refusal(llm, runtime, split, gpus, per_server, domain)
    return found.key if found else None


@pytest.mark.parametrize(
    ("llm", "split", "key"),
    [
        (LLAMA, Split(3, 1, 1), "tp_not_divides"),
        (LLAMA, Split(8, 2, 1), "gpus_not_divisible"),
        (SMALL, Split(1, 33, 1), "gpus_not_divisible"),
        (SMALL, Split(1, 1, 1, ep=2), "ep_without_experts"),
        (EXPERTS, Split(8, 1, 1, ep=3), "ep_not_divides"),
        (EXPERTS, Split(2, 1, 1, ep=8), "gpus_not_divisible"),
        (LLAMA, Split(8, 1, 1), None),
        (EXPERTS, Split(8, 1, 1, ep=8), None),
    ],
)
def test_an_illegal_split_is_refused_with_its_reason(llm, split, key):
    assert why(llm, split) == key


def test_more_stages_than_layers_are_refused():
    assert why(SMALL, Split(1, 33, 1), gpus=64) == "pp_exceeds_layers"


def test_tensor_ranks_stay_inside_a_server():
    assert why(LLAMA, Split(16, 1, 1), gpus=16) == "tp_leaves_server"
    assert why(LLAMA, Split(16, 1, 1), gpus=16, domain=72) is None


def test_ranks_hold_whole_kv_heads():
    # 56 of Falcon-like heads over 8 KV heads: seven ranks would divide the heads and cut the KV heads.
    odd = LLAMA.model_copy(update={"heads": 56, "kv_heads": 8})
    assert why(odd, Split(7, 1, 1)) == "tp_not_divides"
    assert why(odd, Split(4, 1, 1)) is None
    # Sixteen ranks copy each of 8 KV heads once.
    assert why(LLAMA, Split(16, 1, 1), gpus=16, per_server=16) is None


def test_a_program_that_knows_no_tensor_ranks_or_servers_is_not_asked_for_them():
    alone = VLLM.model_copy(update={"tensor_parallel": False, "pipeline_parallel": False, "multi_node": False})
    assert why(LLAMA, Split(2, 1, 1), runtime=alone) == "runtime_no_tensor"
    assert why(LLAMA, Split(1, 2, 1), runtime=alone) == "runtime_no_pipeline"
    staged = VLLM.model_copy(update={"pipeline_parallel": True, "multi_node": False})
    assert why(LLAMA, Split(8, 2, 1), gpus=16, runtime=staged) == "runtime_one_server"


def test_degrees_of_a_model_with_64_heads_and_8_kv_heads():
    assert tensor_degrees(LLAMA, 8) == [1, 2, 4, 8]
    assert tensor_degrees(LLAMA, 16) == [1, 2, 4, 8, 16]


def test_latent_attention_has_one_kv_head_that_every_rank_copies():
    deepseek = catalog().llms["DeepSeek-V3"]
    assert tensor_degrees(deepseek, 8) == [1, 2, 4, 8]


def test_programs_for_one_user_split_by_layers():
    assert {split.tp for split in splits(LLAMA, DESKTOP, 6, 6, 1)} == {1}
    assert Split(1, 6, 1) in splits(LLAMA, DESKTOP, 6, 6, 1)


def test_stages_that_cannot_be_even_are_not_chosen():
    # 80 layers in 64 stages: the fullest holds two, 1.6 times its share.
    assert {split.pp for split in splits(LLAMA, VLLM, 64, 8, 8)} == {1, 2, 4, 8, 16}
    assert why(LLAMA, Split(1, 64, 1), gpus=64) is None


def test_without_cards_there_is_no_split():
    assert splits(LLAMA, VLLM, 0, 0, 1) == []


@given(st.sampled_from(sorted(catalog().llms)), st.integers(1, 64), st.sampled_from([1, 2, 4, 8]))
def test_every_split_that_is_looked_at_is_legal_and_fits(name, gpus, per_server):
    llm = catalog().llms[name]
    for split in splits(llm, VLLM, gpus, per_server, per_server):
        assert refusal(llm, VLLM, split, gpus, per_server, per_server) is None
        assert split.tp * split.pp * split.dp <= gpus
        assert llm.heads % split.tp == 0
        # No card is left over that would hold another copy.
        assert gpus - split.tp * split.pp * split.dp < split.tp * split.pp
