"""Families of rules: every expected answer is what the named document or thread says, not what the program computes."""

import re

import pytest

from gpuplanner.catalog.compatibility import (
    GATES,
    PLANNING_FORMATS,
    formats,
    judge,
    kv_formats,
    sentence,
    silicon_compute,
    version_of,
)
from gpuplanner.catalog.load import load
from gpuplanner.catalog.reasons import REASONS, WAYS_OUT
from gpuplanner.catalog.schema import Gpu, Runtime

VLLM = "vLLM (CUDA)"
VLLM_ROCM = "vLLM ROCm"
V100 = "Tesla V100 SXM2 32GB"
A100 = "A100 SXM 80GB"
H100 = "H100 SXM 80GB"
B200 = "B200 180GB"
P40 = "Tesla P40 24GB"
T4 = "T4 16GB"
RTX_4090 = "GeForce RTX 4090 24GB"
RTX_5090 = "GeForce RTX 5090 32GB"
MI300X = "Instinct MI300X 192GB"
APPLE = "Apple M4 Max (40-core GPU)"


@pytest.fixture(scope="module")
def catalog():
    return load()


@pytest.fixture
def answer(catalog):
    def ask(gpu, runtime, **asked):
        return judge(catalog, catalog.gpus[gpu], catalog.runtimes[runtime] if runtime else None, **asked).answer

    return ask


@pytest.fixture
def supported(catalog):
    def ask(gpu, runtime, **asked):
        return {f.weights: f for f in formats(catalog, catalog.gpus[gpu], catalog.runtimes[runtime], **asked)}

    return ask


# --- Versions ---


def test_a_short_upper_bound_covers_its_patch_releases(answer):
    # "Version bounds are inclusive; a short bound covers all its patch releases": TensorRT-LLM had Volta until 0.14.
    assert answer(V100, "TensorRT-LLM", version="0.14.7", weights="fp16") == "works with limits"
    assert answer(V100, "TensorRT-LLM", version="0.15.0", weights="fp16") == "fails"


def test_what_follows_the_numbers_of_a_version_does_not_count():
    assert version_of("0.26.1rc1") == (0, 26, 1)
    assert version_of("v2.11") == (2, 11)


# --- The CUDA 13 cliff: it compiles nothing below compute capability 7.5 ---


@pytest.mark.parametrize("gpu", [P40, "Tesla P100 PCIe 16GB", V100])
def test_cuda_13_ends_pascal_and_volta_and_cuda_12_keeps_them(answer, gpu):
    assert answer(gpu, "llama.cpp", weights="q4_k_m", build="CUDA 13") == "fails"
    assert answer(gpu, "llama.cpp", weights="q4_k_m", build="CUDA 12") == "works"


def test_turing_stays_with_cuda_13(answer):
    assert answer(T4, "llama.cpp", weights="q4_k_m", build="CUDA 13") == "works"


def test_without_a_build_an_old_card_is_told_which_build_it_needs(catalog):
    verdict = judge(catalog, catalog.gpus[P40], catalog.runtimes["llama.cpp"], weights="q4_k_m")
    assert (verdict.answer, verdict.gate) == ("works with limits", "toolkit")
    assert "cuda12" in sentence(verdict)


def test_the_newest_driver_branch_ends_pascal_and_580_keeps_it(answer):
    gpu = "Tesla P100 PCIe 16GB"
    assert answer(gpu, None, layer="driver", version="580") == "works"
    assert answer(gpu, None, layer="driver", version="595") == "fails"
    assert answer(gpu, None, layer="driver", version="610") == "fails"
    assert answer(T4, None, layer="driver", version="595") == "works"


def test_pytorch_wheels_hold_the_architectures_of_their_cuda_build(answer):
    # pytorch/pytorch issue 172352: sm_70 left cu128 at 2.11 and stays in cu126; sm_120 needs cu128.
    assert answer(V100, None, layer="framework", version="2.11", build="cu128 or cu130") == "fails"
    assert answer(V100, None, layer="framework", version="2.11", build="cu126") == "works"
    assert answer(V100, None, layer="framework", version="2.10", build="cu128") == "works"
    assert answer(RTX_5090, None, layer="framework", version="2.8", build="cu126") == "fails"
    assert answer(RTX_5090, None, layer="framework", version="2.8", build="cu128") == "works"


def test_a_wheel_runs_on_a_higher_minor_of_the_same_architecture(answer):
    # Ada (8.9) is not in the list; code built for 8.6 runs on it.
    assert answer(RTX_4090, None, layer="framework", version="2.11", build="cu130") == "works"


# --- Engine minimum ---


def test_between_the_documented_floors_of_vllm_nothing_is_known_of_volta(catalog, answer):
    # 0.14 documents 7.0 and 0.16.0 was seen on a V100; 0.23 documents 7.5; which release changed it was not found.
    assert answer(V100, VLLM, version="0.14.0", weights="fp16") == "works with limits"
    assert answer(V100, VLLM, version="0.16.2", weights="fp16") == "works with limits"
    for version in ("0.17", "0.20.1", "0.22"):
        verdict = judge(catalog, catalog.gpus[V100], catalog.runtimes[VLLM], version=version, weights="fp16")
        assert (verdict.answer, verdict.gate) == ("not known", "engine minimum")
    assert answer(V100, VLLM, version="0.23", weights="fp16") == "fails"
    assert answer(V100, VLLM, weights="fp16") == "fails"


def test_a_card_below_both_floors_fails_in_the_gap_and_one_above_both_runs(answer):
    assert answer(P40, VLLM, version="0.20", weights="fp16") == "fails"
    assert answer(T4, VLLM, version="0.20", weights="fp16") == "works"


def test_lmdeploy_still_serves_volta_at_four_bit(answer):
    assert (
        answer(V100, "LMDeploy (TurboMind + PyTorch engines)", version="0.16.0", weights="int4", scheme="awq")
        == "works"
    )


def test_advice_is_no_floor(answer):
    # Megatron recommends Turing or newer.
    assert answer(V100, "Megatron-LM / Megatron Core", weights="fp16") == "works with limits"


def test_a_back_end_of_another_maker_does_not_run(answer):
    assert answer(MI300X, VLLM, weights="bf16") == "fails"
    assert answer(H100, "vLLM-Ascend (plugin)", weights="bf16") == "fails"
    assert answer("Radeon RX 7900 XTX 24GB", "ExLlamaV3", weights="exl3") == "fails"


def test_a_card_that_no_table_names_is_not_known(answer):
    # Compute capability 12.1 is listed only where a source names it.
    assert answer("GB10 (DGX Spark) 128GB", VLLM, weights="bf16") == "not known"
    assert answer("GB10 (DGX Spark) 128GB", "llama.cpp", weights="q4_k_m") == "works"


# --- Precisions ---


@pytest.mark.parametrize("runtime", [VLLM, "LLaMA-Factory", "DeepSpeed (training)"])
def test_no_bf16_below_ampere(answer, runtime):
    assert answer(V100, runtime, version="0.14" if runtime == VLLM else None, weights="bf16", compute="bf16") == "fails"


def test_fp8_on_ampere_is_storage_only(catalog, supported):
    fp8 = supported(A100, VLLM)["fp8"]
    assert (fp8.compute, fp8.mode) == ("bf16", "storage_only")
    verdict = judge(catalog, catalog.gpus[A100], catalog.runtimes[VLLM], weights="fp8")
    assert (verdict.answer, verdict.mode) == ("works with limits", "storage_only")


def test_fp8_on_ada_and_hopper_computes_in_fp8(supported):
    for gpu in (RTX_4090, H100):
        fp8 = supported(gpu, VLLM)["fp8"]
        assert (fp8.compute, fp8.mode) == ("fp8", "native")


def test_ampere_does_not_compute_in_fp8(answer):
    assert answer(A100, VLLM, weights="fp8", compute="fp8") == "fails"
    assert answer(A100, "Transformer Engine", version="2", weights="bf16", compute="fp8") == "fails"
    assert answer(H100, "Transformer Engine", version="2", weights="bf16", compute="fp8") == "works"


def test_fp4_on_hopper_is_weight_only_and_native_on_blackwell(supported):
    hopper, blackwell = supported(H100, VLLM), supported(B200, VLLM)
    for word in ("nvfp4", "mxfp4"):
        assert (hopper[word].compute, hopper[word].mode) == ("bf16", "storage_only")
        assert (blackwell[word].compute, blackwell[word].mode) == ("fp4", "native")


def test_tensorrt_llm_has_no_weight_only_fp4_on_hopper(answer):
    assert answer(H100, "TensorRT-LLM", version="1", weights="nvfp4") == "fails"


@pytest.mark.parametrize("gpu", [B200, "B300 288GB", RTX_5090])
def test_vllm_has_no_int8_w8a8_from_compute_capability_10(answer, gpu):
    assert answer(gpu, VLLM, weights="int8", scheme="w8a8", compute="int8") == "fails"
    assert answer(H100, VLLM, weights="int8", scheme="w8a8", compute="int8") == "works"


def test_awq_needs_turing_and_gptq_runs_on_volta(answer):
    assert answer(V100, VLLM, version="0.14", weights="int4", scheme="awq") == "fails"
    assert answer(V100, VLLM, version="0.14", weights="int4", scheme="gptq") == "works with limits"
    assert answer(T4, VLLM, weights="int4", scheme="awq") == "works"


def test_marlin_kernels(answer):
    # Ampere and newer; Turing in vLLM since PR 29901; never on AMD.
    assert answer(T4, VLLM, weights="int4", scheme="marlin", build="after PR 29901") == "works"
    assert answer(T4, VLLM, weights="int4", scheme="marlin", build="before PR 29901") == "fails"
    assert answer(T4, "TGI (Text Generation Inference)", weights="int4", scheme="gptq", feature="Marlin") == "fails"
    assert answer(MI300X, "SGLang", weights="int4", scheme="awq", feature="Marlin") == "fails"
    assert answer(MI300X, "SGLang", weights="int4", scheme="awq") == "works"


def test_a_p40_computes_fp16_models_in_fp32_and_quantised_ones_in_int8(supported):
    # Compute capability 6.1: fp16 at 1/64 rate, dp4a on the cores.
    p40 = supported(P40, "llama.cpp")
    assert (p40["fp16"].compute, p40["fp16"].mode) == ("fp32", "storage_only")
    assert p40["q4_k_m"].compute == "int8"


def test_a_p100_computes_in_fp16_on_its_cores(supported):
    assert supported("Tesla P100 PCIe 16GB", "llama.cpp")["fp16"].compute == "fp16"


def test_int8_arithmetic_on_b300_is_named_slow(catalog):
    # 153.5 TOPS, about a thirtieth of the B200.
    verdict = judge(
        catalog, catalog.gpus["B300 288GB"], catalog.runtimes["bitsandbytes"], weights="int8", compute="int8"
    )
    assert verdict.answer == "works with limits"


def test_gguf_names_are_one_format_with_a_scheme(answer, supported):
    assert {"q8_0", "q6_k", "q5_k_m", "q4_k_m", "q3_k_m", "q2_k"} <= supported(RTX_4090, "llama.cpp").keys()
    assert answer(H100, "TensorRT-LLM", weights="q4_k_m") == "fails"
    assert answer(RTX_4090, "llama.cpp", weights="int4", scheme="awq") == "fails"


def test_training_software_offers_16_bit_weights_with_fp8_arithmetic(catalog):
    megatron = catalog.runtimes["Megatron-LM / Megatron Core"]
    on_hopper = {(f.weights, f.compute) for f in formats(catalog, catalog.gpus[H100], megatron)}
    assert {("bf16", "bf16"), ("bf16", "fp8")} <= on_hopper
    assert ("bf16", "fp8") not in {(f.weights, f.compute) for f in formats(catalog, catalog.gpus[A100], megatron)}


def test_bitsandbytes_int8_needs_turing_and_nf4_does_not(answer):
    assert answer(V100, "bitsandbytes", weights="nf4") == "works"
    assert answer(V100, "bitsandbytes", weights="int8") == "fails"
    assert answer(V100, "HF Trainer + PEFT + Accelerate", weights="int8") == "fails"


# --- KV cache ---


def test_fp8_kv_is_storage_only_on_ada_and_refused_on_volta_and_turing(answer):
    assert answer("L40S 48GB", VLLM, kv="fp8") == "works with limits"
    assert answer(V100, VLLM, version="0.16.0", kv="fp8") == "fails"
    assert answer(T4, VLLM, kv="fp8") == "fails"


def test_nvfp4_kv_runs_on_data_centre_blackwell_only(answer):
    assert answer(B200, VLLM, kv="nvfp4") == "works"
    assert answer(RTX_5090, VLLM, kv="nvfp4") == "fails"


def test_e5m2_kv_and_an_fp8_checkpoint_exclude_each_other(answer):
    assert answer(A100, VLLM, kv="fp8", scheme="e5m2") == "works with limits"
    assert answer(A100, VLLM, weights="fp8", kv="fp8", scheme="e5m2") == "fails"


def test_kv_formats_start_with_16_bit(catalog):
    assert kv_formats(catalog, catalog.gpus[A100], catalog.runtimes[VLLM]) == ("bf16", "fp16", "fp8", "int8")
    assert kv_formats(catalog, catalog.gpus[A100], catalog.runtimes[VLLM], version="0.20") == ("bf16", "fp16", "fp8")
    assert kv_formats(catalog, catalog.gpus[P40], catalog.runtimes[VLLM]) == ()


# --- sm_120: above sm_100, and without several of its kernels ---


def test_early_vllm_wheels_lack_sm_120(answer):
    for version in ("0.8.5", "0.9.2", "0.10.0"):
        assert answer(RTX_5090, VLLM, version=version, weights="bf16") == "fails"
    assert answer(RTX_5090, VLLM, version="0.11.0", weights="bf16") == "works"
    assert answer(B200, VLLM, version="0.10.0", weights="bf16") == "works"


def test_block_fp8_on_sm_120_broke_again_and_a_setting_helps(answer):
    assert answer(RTX_5090, VLLM, version="0.23", weights="fp8_block") == "works"
    assert answer(RTX_5090, VLLM, version="0.24.0", weights="fp8_block") == "fails"
    assert (
        answer(RTX_5090, VLLM, version="0.24.0", weights="fp8_block", build="VLLM_USE_DEEP_GEMM=0")
        == "works with limits"
    )
    assert answer(H100, VLLM, version="0.24.0", weights="fp8_block") == "works"


def test_tensorrt_llm_has_block_fp8_on_hopper_and_not_on_sm_120_or_ada(answer):
    assert answer(H100, "TensorRT-LLM", version="1", weights="fp8_block") == "works"
    assert answer(RTX_5090, "TensorRT-LLM", version="1", weights="fp8_block") == "fails"
    assert answer("L40S 48GB", "TensorRT-LLM", version="1", weights="fp8_block") == "fails"


def test_sparse_attention_needs_hopper_and_reached_sm_120_at_0_24(catalog, answer):
    llm = catalog.llms["DeepSeek-V3.2"]
    pro = "RTX PRO 6000 Blackwell Workstation 96GB"
    assert answer(A100, VLLM, llm=llm, gpus=16) == "fails"
    assert answer(H100, VLLM, llm=llm, gpus=16) == "works"
    assert answer(pro, VLLM, llm=llm, gpus=8, version="0.13") == "fails"
    assert answer(pro, VLLM, llm=llm, gpus=8, version="0.24.0") == "works with limits"
    assert answer(A100, VLLM, llm=catalog.llms["Llama-3.1-70B"], gpus=16) == "works"


def test_a_kernel_of_one_architecture_runs_on_that_only(answer):
    assert answer(H100, VLLM, weights="int4", scheme="machete") == "works"
    assert answer(B200, VLLM, weights="int4", scheme="machete") == "fails"


def test_tensorrt_llm_runs_on_gb10_as_a_beta_from_1_2(answer):
    gpu = "GB10 (DGX Spark) 128GB"
    assert answer(gpu, "TensorRT-LLM", version="1.2", weights="nvfp4") == "works with limits"
    assert answer(gpu, "TensorRT-LLM", version="1.1", weights="nvfp4") == "fails"


# --- AMD ---


def test_rocm_support_is_not_engine_support(answer):
    # MI100 stays in ROCm and left vLLM; MI50 left both; llama.cpp runs on both.
    assert answer("Instinct MI100 32GB", VLLM_ROCM, weights="fp16") == "fails"
    assert answer("Instinct MI50 32GB", VLLM_ROCM, weights="fp16") == "fails"
    assert answer("Instinct MI100 32GB", "llama.cpp", weights="q4_k_m") == "works"
    assert answer("Instinct MI50 32GB", "llama.cpp", weights="q4_k_m") == "works"
    assert answer("Instinct MI50 32GB", "bitsandbytes", weights="nf4") == "fails"


def test_gfx908_was_let_in_for_a_while(answer):
    assert answer("Instinct MI100 32GB", VLLM_ROCM, weights="fp16", version="0.5.0") == "works with limits"
    assert answer("Instinct MI100 32GB", VLLM_ROCM, weights="fp16", version="0.5.1") == "fails"


def test_gfx950_needs_rocm_7(answer):
    gpu = "Instinct MI355X 288GB"
    assert answer(gpu, VLLM_ROCM, build="ROCm < 7.0") == "fails"
    assert answer(gpu, VLLM_ROCM, build="ROCm 6.4") == "fails"
    assert answer(gpu, VLLM_ROCM, build="ROCm 7.0") == "works"


def test_vllm_refuses_fp8_on_cdna_2_and_rdna_3(answer):
    assert answer("Instinct MI210 64GB", VLLM_ROCM, weights="fp8") == "fails"
    assert answer("Radeon RX 7900 XTX 24GB", VLLM_ROCM, weights="fp8") == "fails"
    assert answer(MI300X, VLLM_ROCM, weights="fp8", compute="fp8") == "works"


def test_mxfp4_is_native_on_cdna_4(supported):
    mxfp4 = supported("Instinct MI355X 288GB", VLLM_ROCM)["mxfp4"]
    assert (mxfp4.compute, mxfp4.mode) == ("fp4", "native")


# --- Operating systems ---


def test_no_vllm_on_native_windows(answer):
    assert answer(RTX_4090, VLLM, os="windows", weights="bf16") == "fails"
    assert answer(RTX_4090, VLLM, os="wsl2", weights="bf16") == "works"


def test_llama_cpp_and_lmdeploy_run_on_native_windows(answer):
    assert answer(RTX_4090, "llama.cpp", os="windows", weights="q4_k_m") == "works"
    assert answer(RTX_4090, "LMDeploy (TurboMind + PyTorch engines)", os="windows", weights="int4") == "works"


def test_native_windows_has_no_nccl(answer):
    assert answer(RTX_4090, "PyTorch FSDP / FSDP2", os="windows", weights="bf16", gpus=2) == "fails"
    assert answer(RTX_4090, "PyTorch FSDP / FSDP2", os="windows", weights="bf16") == "works with limits"


def test_tensorrt_llm_left_windows_at_0_18(answer):
    assert answer(RTX_4090, "TensorRT-LLM", os="windows", version="0.17", weights="fp16") == "works"
    assert answer(RTX_4090, "TensorRT-LLM", os="windows", version="0.18", weights="fp16") == "works with limits"
    assert answer(RTX_4090, "TensorRT-LLM", os="windows", weights="fp16") == "fails"


def test_macos_has_metal_runtimes_only(answer):
    assert answer(APPLE, VLLM, os="macos") == "fails"
    assert answer(APPLE, "MLX-LM", os="macos", weights="mlx") == "works"
    assert answer(APPLE, "llama.cpp", os="macos", weights="q4_k_m") == "works"
    assert answer(RTX_4090, "llama.cpp", os="macos", weights="q4_k_m") == "fails"
    assert answer(APPLE, "llama.cpp", os="linux", weights="q4_k_m") == "fails"


# --- Links, servers, upkeep ---


def test_cards_without_peer_to_peer_run_together_with_limits(answer):
    assert answer(RTX_4090, VLLM, weights="bf16", gpus=4) == "works with limits"
    assert answer(RTX_4090, VLLM, weights="bf16") == "works"
    assert answer(H100, VLLM, weights="bf16", gpus=8) == "works"


def test_a_bridge_joins_two_3090_and_not_four(answer):
    assert answer("GeForce RTX 3090 24GB", VLLM, weights="bf16", gpus=2) == "works"
    assert answer("GeForce RTX 3090 24GB", VLLM, weights="bf16", gpus=4) == "works with limits"


def test_several_servers_need_a_runtime_that_spans_them(answer):
    assert answer(H100, VLLM, weights="bf16", gpus=16, nodes=2) == "works"
    assert answer(RTX_4090, "Ollama", weights="q4_k_m", gpus=2, nodes=2) == "fails"


def test_software_that_nobody_tends_still_works_with_that_limit(catalog, answer):
    verdict = judge(catalog, catalog.gpus[H100], catalog.runtimes["torchtune"], weights="bf16")
    assert (verdict.answer, verdict.gate) == ("works with limits", "maintenance")
    assert answer("Arc A770 16GB", "IPEX-LLM", weights="int4") == "works with limits"


def test_upkeep_never_hides_a_failure(answer):
    assert answer(V100, "DeepSpeed-MII / DeepSpeed-FastGen", weights="fp16") == "fails"


def test_an_ascend_release_is_tied_to_one_cann(answer):
    gpu, runtime = "Huawei Ascend 910B 64GB", "vLLM-Ascend (plugin)"
    assert answer(gpu, runtime, version="0.18.0", weights="bf16", build="CANN 8.5.1") == "works"
    assert answer(gpu, runtime, version="0.18.0", weights="bf16", build="CANN 9.1.0") == "fails"


def test_lora_and_speculative_decoding_exclude_each_other_in_vllm(answer):
    assert answer(H100, VLLM, weights="bf16", feature="LoRA") == "works"
    assert answer(H100, VLLM, weights="bf16", feature="LoRA with speculative decoding") == "fails"


def test_a_function_that_the_runtime_lacks_fails(answer):
    assert answer(RTX_4090, "Ollama", weights="q4_k_m", gpus=2, feature="tensor parallel") == "fails"


# --- Dates ---


def test_a_failure_in_a_part_of_the_time_is_a_limit(answer):
    # The wheels of the first half of 2025 had no sm_120, those of the second half had.
    assert answer(RTX_5090, VLLM, as_of="2025-06", weights="bf16") == "fails"
    assert answer(RTX_5090, VLLM, as_of="2025", weights="bf16") == "works with limits"
    assert answer(RTX_5090, VLLM, as_of="2026-08", weights="bf16") == "works"


def test_a_date_is_read_as_the_version_of_that_day(answer):
    assert answer(V100, VLLM, as_of="2026-02", weights="fp16") == "works with limits"
    assert answer(V100, VLLM, as_of="2026-08", weights="fp16") == "fails"


# --- What holds for everything ---


def test_formats_and_verdicts_say_the_same(catalog):
    for gpu in (A100, H100, P40, MI300X, RTX_5090):
        for runtime in catalog.runtimes.values():
            offered = {f.weights for f in formats(catalog, catalog.gpus[gpu], runtime)}
            for word in offered:
                assert judge(catalog, catalog.gpus[gpu], runtime, weights=word).answer in ("works", "works with limits")
            assert offered <= set(PLANNING_FORMATS)


def test_asking_again_returns_the_same_object(catalog):
    gpu, runtime = catalog.gpus[H100], catalog.runtimes[VLLM]
    assert formats(catalog, gpu, runtime) is formats(catalog, gpu, runtime)


def test_unpacked_weights_are_computed_in_16_bit_or_wider_or_as_integers(catalog):
    for gpu in catalog.gpus.values():
        for runtime in catalog.runtimes.values():
            for support in formats(catalog, gpu, runtime, os="macos" if gpu.vendor == "Apple" else "linux"):
                if support.mode == "storage_only":
                    assert support.compute in ("fp32", "bf16", "fp16", "int8"), (gpu.name, runtime.name, support)


def test_every_exception_names_a_gate_a_reason_and_a_source(catalog):
    for gate in catalog.exceptions:
        assert gate.data["sources"], gate.name
        if gate.kind != "exception":
            continue
        rules = gate.data["rules"]
        assert rules["then"]["gate"] in GATES, gate.name
        assert rules["then"]["reason_key"] in REASONS, gate.name
        assert rules["then"]["way_out_key"] is None or rules["then"]["way_out_key"] in WAYS_OUT, gate.name
        known = (*rules["when"].get("runtimes", ()), *rules["when"].get("not_runtimes", ()))
        assert all(name in catalog.runtimes for name in known), gate.name


def test_every_sentence_can_be_filled(catalog):
    verdict = judge(catalog, catalog.gpus[H100], catalog.runtimes[VLLM])
    everything = verdict.numbers | dict.fromkeys(
        (
            "needed",
            "builds",
            "toolkit",
            "driver",
            "maker",
            "status",
            "since",
            "until",
            "condition",
            "scheme",
            "feature",
        ),
        "x",
    )
    for text in (*REASONS.values(), *WAYS_OUT.values()):
        assert re.search(r"%\(\w+\)(?![sd])", text) is None
        assert text % (everything | {"cuda": 13})


def test_no_exception_is_left_out(catalog):
    assert [problem for problem in catalog.problems if problem.file == "exceptions.json"] == []


def test_a_verdict_reads_as_a_reason_and_a_way_out(catalog):
    verdict = judge(catalog, catalog.gpus[P40], catalog.runtimes[VLLM], weights="fp16")
    assert sentence(verdict) == (
        "vLLM (CUDA) needs compute capability 7.5 or newer; the Tesla P40 24GB has 6.1. "
        "Choose another runtime; llama.cpp runs on most cards."
    )


def test_a_record_without_rules_is_not_known_rather_than_an_error(catalog):
    bare = Runtime(id="mine", name="Mine", use="serving")
    assert judge(catalog, catalog.gpus[H100], bare, weights="bf16").answer in ("not known", "fails")
    assert formats(catalog, catalog.gpus[H100], bare) == ()
    assert judge(catalog, None, catalog.runtimes[VLLM]).answer in ("not known", "fails")


def test_the_silicon_speaks_where_no_table_does(catalog):
    gb10: Gpu = catalog.gpus["GB10 (DGX Spark) 128GB"]
    assert silicon_compute(catalog, gb10, "nvfp4") == ("fp4", "native")
    assert silicon_compute(catalog, gb10, "q4_k_m") == ("bf16", "storage_only")
    assert silicon_compute(catalog, catalog.gpus[A100], "fp8") == ("bf16", "storage_only")
