"""What must lie in the memory of a GPU, by part, for serving and for training."""

from typing import NamedTuple

import numpy as np

from gpuplanner.model.case import Case, Columns
from gpuplanner.units import GIB, MIB

# Peak activations of a prefill, in hidden widths a token, by tensor degree 1, 2, 4, 8 (aiconfigurator
# ACTIVATION_COEFFICIENTS).
_ACTIVATIONS_DENSE = np.array([11.0, 6.5, 5.0, 5.0])
_ACTIVATIONS_EXPERTS = np.array([22.0, 13.0, 10.0, 10.0])
# CUDA context, and buffers of the collective library by tensor degree 1, 2, 4, 8 (aiconfigurator systems files).
_CONTEXT = 0.55 * GIB
# vLLM compares with the memory in use after the context was opened: 0.06 to 0.14 GiB are left of it (start-up logs).
_CONTEXT_COUNTED = 0.1 * GIB
# Captured graphs of decode steps (vLLM reports 0.48 GiB on a 16 GB card).
_GRAPHS = 0.5 * GIB
_COLLECTIVES = np.array([0.0, 342.0, 392.0, 392.0]) * MIB
# llama.cpp: context, and a compute buffer of one row of logits a micro-batch token.
_DESKTOP_CONTEXT = 0.4e9
_DESKTOP_MICRO_BATCH = 512
# Beyond this context nobody runs without flash attention.
_LONGEST_PLAIN = 131072.0
# Sampling from all sequences at once, bytes a logit: 32-bit logits and their copy, sorted values and 8-byte positions,
# probabilities, running sums and the scattered result, 4 + 4 + 4 + 8 + 4 + 4 + 4. vLLM start-up logs of Llama-3.1-8B,
# Qwen3-32B and gpt-oss give 33.
_SAMPLING_BYTES = 32.0
_PAGING_RESERVE = 0.015


class ServingMemory(NamedTuple):
    """Bytes on the fullest GPU of a replica before any request, what is left for the cache, and the cache of one
    token. [bytes]"""

    weights: Columns
    activations: Columns
    runtime: Columns
    usable: Columns
    budget: Columns


def _by_degree(table: np.ndarray, degree: Columns) -> Columns:
    return table[np.clip(np.ceil(np.log2(np.maximum(degree, 1))), 0, 3).astype(int)]


def expert_shards(case: Case) -> Columns:
    """Over how many GPUs of one pipeline stage the experts are spread: all of them."""
    return case.run.tp * case.run.attention_dp


def weight_bytes(case: Case) -> Columns:
    """All weights of one replica as they lie in memory. [bytes]"""
    llm, run = case.llm, case.run
    return (
        llm.nonexpert * run.body_bytes
        + llm.experts * llm.expert * run.expert_bytes
        + (llm.embedding + llm.head) * run.head_bytes
    )


def weights_per_gpu(case: Case) -> Columns:
    """Weights on the fullest GPU. [bytes]

    Layers are split over tensor ranks and stages, experts over all GPUs of a stage; embedding and head lie on the
    first and last stage. Programs for one user leave the embedding table in the host's memory and split by what is
    free.
    """
    llm, run = case.llm, case.run
    ends = np.where(run.pp > 1, np.maximum(llm.embedding, llm.head), llm.embedding + llm.head)
    ends = np.where(run.single_user > 0, llm.head / run.pp, ends)
    return (
        llm.nonexpert * run.body_bytes / (run.tp * run.pp)
        + llm.experts * llm.expert * run.expert_bytes / (expert_shards(case) * run.pp)
        + ends * run.head_bytes / run.tp
    )


def cache_bytes(case: Case, tokens: Columns) -> Columns:
    """KV cache (and state of linear layers) of one sequence of `tokens` tokens, all GPUs of a replica together without
    copies. [bytes]"""
    llm, run = case.llm, case.run
    window = np.where(llm.window > 0, np.minimum(tokens, np.maximum(llm.window, 1)), tokens)
    return (llm.kv_full * tokens + llm.kv_window * window) * run.kv_bytes + llm.state_bytes


def cache_shards(case: Case) -> Columns:
    """By how much a tensor group divides the cache: KV heads are copied when there are more ranks than heads; MLA
    counts one head."""
    return np.minimum(case.run.tp, case.llm.kv_heads)


def cache_per_gpu(case: Case, tokens: Columns) -> Columns:
    """KV cache of one sequence on one GPU that holds it. [bytes]"""
    return cache_bytes(case, tokens) / (cache_shards(case) * case.run.pp)


def serving_memory(case: Case) -> ServingMemory:
    """Split the memory of a GPU before any request has come.

    vLLM takes a share of all memory for everything, SGLang a share for weights and cache alone, TensorRT-LLM and
    LMDeploy a share of what is free after loading, single-user programs all.

    References
    ----------
    .. [1] ai-dynamo/aiconfigurator, vllm_backend and trtllm_backend (memory fractions, activation coefficients,
    library buffers).
    .. [2] llm-d-incubation/llm-d-planner, docs/empirical-vllm-memory-results.md (vLLM 0.11 at start-up).
    """
    llm, gpu, run = case.llm, case.gpu, case.run
    weights = weights_per_gpu(case)
    coefficient = np.where(
        llm.experts > 0, _by_degree(_ACTIVATIONS_EXPERTS, run.tp), _by_degree(_ACTIVATIONS_DENSE, run.tp)
    )
    desktop = run.single_user > 0
    # vLLM makes room to sample from all sequences at once, on every tensor rank.
    logits = run.vllm * run.max_sequences * llm.vocab * _SAMPLING_BYTES
    activations = np.where(
        desktop, llm.vocab * 4.0 * _DESKTOP_MICRO_BATCH, 2.0 * run.max_batched * llm.hidden * coefficient + logits
    )
    runtime = np.where(
        desktop,
        _DESKTOP_CONTEXT,
        np.where(run.vllm > 0, _CONTEXT_COUNTED, _CONTEXT)
        + _GRAPHS
        + _by_degree(_COLLECTIVES, run.tp * run.attention_dp),
    )
    fixed = weights + activations + runtime
    taken = run.memory_fraction * gpu.memory + np.where(run.static_fraction > 0, activations + runtime, 0.0)
    usable = np.where(run.fraction_of_free > 0, gpu.memory, np.minimum(taken, gpu.memory))
    free = usable - fixed
    budget = np.where(run.fraction_of_free > 0, run.memory_fraction * free, free)
    return ServingMemory(
        weights, activations, runtime, usable, np.where(budget > 0, budget * (1 - _PAGING_RESERVE), budget)
    )


def sequences_that_fit(case: Case, memory: ServingMemory, tokens: Columns) -> Columns:
    """How many sequences of `tokens` tokens the cache of a whole replica holds (0 where the weights alone do not
    fit)."""
    one = np.maximum(cache_per_gpu(case, tokens), 1.0)
    return np.maximum(memory.budget, 0.0) / one * case.run.attention_dp


def cache_tokens(case: Case, memory: ServingMemory, longest: Columns | None = None) -> Columns:
    """KV capacity of one replica in tokens, as engines report it: how often a sequence of `longest` tokens fits, in
    tokens.

    Without `longest` the model's longest context counts. Where every layer has a window, engines reserve full blocks
    and report as if there were none.
    """
    long = np.where(np.isfinite(case.llm.max_context), case.llm.max_context, 8192.0) if longest is None else longest
    plain = np.maximum(memory.budget, 0.0) * cache_shards(case) * case.run.pp * case.run.attention_dp
    unwindowed = plain / np.maximum(case.llm.kv_window * case.run.kv_bytes, 1.0)
    all_windowed = (case.llm.kv_full <= 0) & (case.llm.kv_window > 0)
    return np.where(all_windowed, unwindowed, sequences_that_fit(case, memory, long) * long)


def attention_buffer(case: Case, context: Columns) -> Columns:
    """What desktop programs without flash attention take for the scores of one micro-batch, beyond the logits' buffer.
    [bytes]

    A quantised cache needs flash attention, which has no such buffer.
    """
    scores = case.llm.heads * np.minimum(context, _LONGEST_PLAIN) * 4.0 * _DESKTOP_MICRO_BATCH
    extra = np.maximum(scores - case.llm.vocab * 4.0 * _DESKTOP_MICRO_BATCH, 0.0)
    return np.where((case.run.single_user > 0) & (case.run.kv_bytes >= 2.0), extra, 0.0)
