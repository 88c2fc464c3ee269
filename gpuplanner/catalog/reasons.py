"""What the gates of `compatibility` say, in words for people: a reason and, where there is one, a way out."""

from gpuplanner.i18n import N_

REASONS = {
    "works": N_("%(runtime)s runs on the %(gpu)s as asked."),
    "no_runtime": N_("No runtime is chosen."),
    "no_card": N_("Nothing is known about %(runtime)s without a GPU."),
    "os_not_supported": N_("%(runtime)s does not run on %(os)s."),
    "os_other_version": N_("This version of %(runtime)s does not run on %(os)s; the last that did is %(until)s."),
    "os_deprecated": N_("%(runtime)s still runs on %(os)s, but this ends: deprecated since %(until)s."),
    "os_not_known": N_("No source says whether %(runtime)s runs on %(os)s."),
    "os_limited": N_("%(runtime)s runs on %(os)s with a part of its functions only."),
    "card_needs_macos": N_("The %(gpu)s is used under macOS only."),
    "no_card_on_macos": N_("macOS has no driver for the %(gpu)s: only Apple GPUs through Metal."),
    "no_rocm_on_windows": N_("ROCm on Windows does not list the %(gpu)s (%(architecture)s)."),
    "no_nccl_on_windows": N_("Native Windows has no NCCL: %(runtime)s cannot use %(gpus)d GPUs together there."),
    "through_vulkan": N_("On %(os)s the %(gpu)s is not in the ROCm list of %(runtime)s; it runs through Vulkan."),
    "plugin_subset": N_("%(runtime)s is a separate plug-in and runs a subset of the models."),
    "driver_dropped": N_("Driver %(driver)s no longer supports the %(gpu)s (compute capability %(architecture)s)."),
    "driver_too_old": N_("The %(gpu)s needs driver %(needed)s or newer; this is %(driver)s."),
    "driver_lacks_cuda": N_("Driver %(driver)s is too old for CUDA %(cuda)d."),
    "driver_window": N_("%(runtime)s runs on the %(gpu)s with drivers of the branches 570 to 580 only."),
    "toolkit_dropped": N_("%(toolkit)s no longer supports the %(gpu)s (%(architecture)s)."),
    "toolkit_too_old": N_("The toolkit is too old for %(runtime)s on the %(gpu)s (%(architecture)s)."),
    "toolkit_unofficial": N_("%(toolkit)s does not list the %(gpu)s (%(architecture)s); it runs unofficially."),
    "cann_mismatch": N_("Each release of %(runtime)s is tied to one version of CANN and torch-npu; this is another."),
    "wheel_lacks_card": N_("The PyTorch wheel holds no code for the %(gpu)s (%(architecture)s)."),
    "only_some_wheels": N_("Only some PyTorch wheels hold code for the %(gpu)s: %(builds)s."),
    "wheel_not_known": N_("No source says which cards this PyTorch wheel was built for."),
    "wrong_python": N_("With a Python other than 3.12 pip installs the CUDA wheel of vLLM without a word."),
    "engine_wheel_lacks_card": N_("This package of %(runtime)s holds no kernels for the %(gpu)s (%(architecture)s)."),
    "needs_source_build": N_("In this version %(runtime)s must be built from source for the %(gpu)s."),
    "below_minimum": N_("%(runtime)s needs compute capability %(needed)s or newer; the %(gpu)s has %(architecture)s."),
    "outside_list": N_("%(runtime)s runs on %(needed)s; the %(gpu)s is %(architecture)s."),
    "minimum_gap": N_(
        "%(runtime)s raised its minimum to compute capability %(needed)s, but which release did is not known."
    ),
    "below_advice": N_("%(runtime)s advises compute capability %(needed)s or newer; the %(gpu)s has %(architecture)s."),
    "below_maintained": N_("%(runtime)s maintains CUDA cards from Turing on; the %(gpu)s still runs, untended."),
    "needs_build": N_("%(runtime)s runs on the %(gpu)s (%(architecture)s) in this build only: %(builds)s."),
    "v1_engine_needs_ampere": N_("The V1 engine of %(runtime)s did not run on cards before Ampere in this version."),
    "v0_engine_only": N_("Only the old V0 engine of %(runtime)s runs on the %(gpu)s in this version."),
    "unofficial": N_("%(runtime)s took the %(gpu)s (%(architecture)s) for a while without listing it."),
    "needs_rocm_7": N_("%(runtime)s runs on the %(gpu)s (%(architecture)s) with ROCm 7.0.2 or newer only."),
    "card_not_yet": N_("%(runtime)s supports the %(gpu)s only in versions after %(until)s."),
    "hardware_survey_failed": N_("The ROCm engine of %(runtime)s did not recognise the %(gpu)s in this version."),
    "no_backend": N_("%(runtime)s has no back end for devices of %(maker)s."),
    "not_in_list": N_("%(runtime)s does not support %(architecture)s, the architecture of the %(gpu)s."),
    "not_listed": N_("No source says whether %(runtime)s runs on the %(gpu)s (%(architecture)s)."),
    "not_listed_framework": N_(
        "The tables of %(runtime)s do not name the %(gpu)s; it runs as far as its framework does."
    ),
    "card_other_version": N_("This version of %(runtime)s does not support the %(gpu)s (%(architecture)s)."),
    "kernel_missing": N_("%(runtime)s has no kernel for %(weights)s weights on %(architecture)s."),
    "kernel_other_version": N_(
        "This version of %(runtime)s has no kernel for %(weights)s weights on %(architecture)s."
    ),
    "kernel_missing_in_version": N_("%(weights)s weights fail on the %(gpu)s in this version of %(runtime)s."),
    "kernel_regression": N_(
        "%(weights)s weights fail on the %(gpu)s in this version of %(runtime)s: an error in DeepGEMM."
    ),
    "kernel_not_known": N_("No source says whether %(runtime)s runs %(weights)s weights on the %(gpu)s."),
    "storage_only": N_("%(weights)s saves memory on the %(gpu)s but no time: it computes in %(compute)s."),
    "format_for_some": N_("%(runtime)s runs %(weights)s weights here for some models or layers only (%(scheme)s)."),
    "format_subset": N_("%(runtime)s runs a subset of formats and models on the %(gpu)s."),
    "needs_flag": N_("%(runtime)s needs a launch setting for %(weights)s weights on the %(gpu)s (%(architecture)s)."),
    "needs_own_build": N_("%(weights)s weights need a bitsandbytes that you build for the %(gpu)s yourself."),
    "experimental": N_("This is experimental in %(runtime)s."),
    "partial": N_("%(runtime)s has a part of the kernels only for %(compute)s on the %(gpu)s."),
    "little_tested": N_("%(runtime)s has a back end for the %(gpu)s that few people have tested."),
    "marlin_needs_ampere": N_(
        "The Marlin kernel of %(runtime)s does not run on the %(gpu)s (compute capability %(architecture)s)."
    ),
    "machete_needs_hopper": N_("The Machete kernel runs on Hopper only; the %(gpu)s is %(architecture)s."),
    "marlin_cuda_only": N_("The Marlin kernel runs on NVIDIA cards only."),
    "bitsandbytes_warp": N_(
        "bitsandbytes in %(runtime)s does not run on %(architecture)s, whose wavefront has 64 lanes."
    ),
    "compute_missing": N_("The %(gpu)s (%(architecture)s) cannot compute in %(compute)s."),
    "compute_missing_in_version": N_("This version of %(runtime)s does not compute in %(compute)s on the %(gpu)s."),
    "compute_not_offered": N_("%(runtime)s does not compute in %(compute)s on the %(gpu)s (%(architecture)s)."),
    "compute_not_known": N_("No source says whether the %(gpu)s computes in %(compute)s."),
    "compute_slow": N_("The %(gpu)s computes in %(compute)s at a small part of its speed only."),
    "nan_risk": N_("%(runtime)s warns that some models give no valid numbers (NaN) on the %(gpu)s."),
    "kv_missing": N_("%(runtime)s cannot keep the KV cache in %(kv)s on the %(gpu)s (%(architecture)s)."),
    "kv_not_known": N_("No source says whether %(runtime)s keeps the KV cache in %(kv)s on the %(gpu)s."),
    "kv_route": N_("A KV cache in %(kv)s saves memory only on the %(gpu)s, and needs FlashInfer or Triton attention."),
    "kv_condition": N_("A KV cache in %(kv)s runs on the %(gpu)s under a condition: %(condition)s."),
    "kv_storage_only": N_("A KV cache in %(kv)s saves memory on the %(gpu)s but no time."),
    "kv_e5m2_with_fp8": N_("%(runtime)s refuses a KV cache in fp8_e5m2 together with fp8 weights."),
    "no_prefix_cache": N_("%(runtime)s runs on the %(gpu)s without chunked prefill and without a prefix cache."),
    "older_attention_paths": N_("%(runtime)s runs on the %(gpu)s without its newer attention kernels."),
    "sparse_attention_needs_hopper": N_("Sparse attention needs Hopper or newer; the %(gpu)s is %(architecture)s."),
    "sparse_attention_no_kernel": N_(
        "%(runtime)s has no kernel for sparse attention on %(architecture)s in this version."
    ),
    "some_models_only": N_("%(runtime)s runs some models with sparse attention on the %(gpu)s, not all."),
    "mla_needs_gfx950": N_(
        "This version of %(runtime)s runs multi-head latent attention on gfx950 only; the %(gpu)s is %(architecture)s."
    ),
    "model_not_listed": N_("%(runtime)s does not list this model for the %(gpu)s."),
    "model_subset": N_(
        "%(runtime)s runs dense Qwen models only on devices of this family, and does not name the %(gpu)s."
    ),
    "feature_missing": N_("%(runtime)s does not have what is asked: %(feature)s."),
    "gains_nothing": N_("%(runtime)s is made for mixtures of experts; a dense model such as this gains nothing."),
    "feature_pair": N_("%(runtime)s cannot use these functions together: LoRA and speculative decoding."),
    "no_peer_to_peer": N_(
        "The driver of the %(gpu)s has no peer-to-peer access: traffic between the cards goes through host memory."
    ),
    "newer_nccl": N_("Tensor parallelism on the %(gpu)s needs a newer NCCL than %(runtime)s brings in this version."),
    "one_server_only": N_("%(runtime)s does not run over several servers."),
    "several_servers_not_known": N_("No source says whether %(runtime)s runs over several servers."),
    "unmaintained": N_("%(runtime)s runs, but it is no longer kept up: %(status)s (%(since)s)."),
    "depends_on_version": N_("%(runtime)s failed on the %(gpu)s in a part of this time: it depends on the version."),
}

WAYS_OUT = {
    "use_linux": N_("Use Linux, or WSL2 where it is supported."),
    "other_os": N_("Choose the operating system that belongs to the card."),
    "other_runtime": N_("Choose another runtime; llama.cpp runs on most cards."),
    "other_format": N_("Choose another weight format."),
    "newer_driver": N_("Install a newer driver."),
    "driver_580": N_("Stay on driver branch 580, which is supported until August 2028."),
    "newer_toolkit": N_("Use a build with a newer toolkit."),
    "older_toolkit": N_("Use a build with an older toolkit, such as CUDA 12."),
    "other_wheel": N_("Use the wheel for another CUDA version: cu126 for old cards, cu128 or newer for new ones."),
    "use_container": N_("Use the container image of that release."),
    "newer_version": N_("Use a newer version."),
    "another_version": N_("Use another version."),
    "newer_wheel_or_source": N_("Use a newer package, or build from source."),
    "use_v0_engine": N_("Set VLLM_USE_V1=0, or use version 0.10.2 or newer."),
    "disable_deep_gemm": N_("Set VLLM_USE_DEEP_GEMM=0."),
    "plain_kernel": N_("Use the plain AWQ or GPTQ kernel."),
    "int4_instead": N_("Use AWQ or GPTQ weights."),
    "kv_16_bit": N_("Keep the KV cache in 16 bit."),
    "compute_fp16": N_("Compute in fp16."),
    "compute_fp8": N_("Compute in fp8."),
    "compute_other": N_("Compute in a type that the card has, such as fp16."),
    "dense_model_or_hopper": N_("Choose a model with dense attention, or Hopper and newer cards."),
    "other_model": N_("Choose a model that it lists."),
    "drop_one_feature": N_("Leave one of the two out."),
    "use_llama_cpp": N_("Use llama.cpp."),
    "use_vulkan": N_("Use the Vulkan engine, or a newer version."),
    "one_server": N_("Plan each copy of the model within one server."),
}
