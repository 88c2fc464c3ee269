"""What no software can pass: least times that follow from the data sheet and the size of the work alone.

A floor counts the bytes that must cross the memory bus once and the multiplications that must be done once, at the full
bandwidth and the dense matrix peak of every device, with nothing lost and everything overlapped. No constant here is
calibrated: a figure beyond a floor is a fault of its setting or its unit, not a feat. The formulas of `inference` and
`training` lie above these floors for every configuration.

Valid range: models whose weights are much larger than the caches of a chip (1 G parameters and more): smaller ones may
be read from the cache in part. A chip may clock above the figure of its data sheet: see `CLOCK_ROOM`.
"""

from typing import NamedTuple

import numpy as np

from gpuplanner.model.case import Case, Columns
from gpuplanner.model.inference import accepted_tokens
from gpuplanner.model.memory import cache_bytes, weight_bytes
from gpuplanner.model.training import TrainCase

# Data sheets state matrix rates at the boost clock; chips reach up to a tenth more for a while (H100 SXM: 1,980 MHz
# against the 1,830 of its 989 TFLOP/s). A figure breaks the compute bound beyond this factor.
CLOCK_ROOM = 1.10
# Visible memory and published bandwidth are exact to a few percent (rounded labels, memory clock of a board's maker).
MEMORY_ROOM = 1.03


class Floor(NamedTuple):
    """Least times that the memory bus and the matrix units need for the same work. [s]"""

    memory: Columns
    compute: Columns

    @property
    def seconds(self) -> Columns:
        """The larger of the two: they overlap at best."""
        return np.fmax(self.memory, self.compute)

    @property
    def binds(self) -> np.ndarray:
        """Which of the two is the larger, in the words of `results`: "bandwidth" or "compute"."""
        return np.where(np.nan_to_num(self.compute) > self.memory, "compute", "bandwidth")

    @property
    def least_possible(self) -> Columns:
        """The floor with what chips may run above their data sheet: a shorter time is impossible. [s]"""
        return np.fmax(self.memory / MEMORY_ROOM, self.compute / CLOCK_ROOM)


def devices(case: Case) -> Columns:
    """Devices of one replica."""
    return case.run.tp * case.run.pp * case.run.attention_dp


def peak(case: Case) -> Columns:
    """Dense matrix rate of one device in the compute type of the case, at the data sheet's clock. [FLOP/s]

    Programs for one user multiply in 8-bit integers or with 16-bit sums where the card has them, whatever the weights.
    """
    gpu, run = case.gpu, case.run
    any_type = np.fmax(np.fmax(gpu.peak16, gpu.peak16_acc16), gpu.peak_int8)
    return np.where(run.single_user > 0, any_type, run.peak / gpu.sustained)


def step_bytes(case: Case, batch: Columns, context: Columns) -> Columns:
    """Bytes that one decode step of a replica reads over all its devices: every weight that is used once, every cache
    once.

    Of experts only those of one token count: all sequences might choose the same. Attention ranks each read the other
    weights.
    """
    llm, run = case.llm, case.run
    once = llm.nonexpert * run.body_bytes + llm.head * run.head_bytes
    experts = llm.experts_per_token * llm.expert * run.expert_bytes
    return once * run.attention_dp + experts + batch * cache_bytes(case, context)


def step_flop(case: Case, batch: Columns, context: Columns) -> Columns:
    """Operations of one decode step of a replica: 2 a used parameter and sequence, and attention over the context."""
    llm = case.llm
    seen = np.where(llm.window > 0, np.minimum(context, np.maximum(llm.window, 1.0)), context)
    attention = context * np.minimum(llm.decode_full, llm.prefill_full) + seen * llm.decode_window
    return batch * (2.0 * llm.active + attention)


def prompt_flop(case: Case, prompt: Columns) -> Columns:
    """Operations of reading one prompt: 2 a used parameter and token, causal attention; the head once.

    A cached prefix is not computed again.
    """
    llm = case.llm
    fresh = prompt * (1.0 - case.run.prefix)
    cached = prompt - fresh
    window = np.maximum(llm.window, 1.0)
    inside = np.minimum(prompt, window)
    windowed = np.where(llm.window > 0, inside**2 / 2.0 + np.maximum(prompt - window, 0.0) * window, prompt**2 / 2.0)
    windowed = windowed * fresh / np.maximum(prompt, 1.0)
    attention = (prompt**2 - cached**2) / 2.0 * llm.prefill_full + windowed * llm.prefill_window
    return 2.0 * np.maximum(llm.active - llm.head, 0.0) * fresh + 2.0 * llm.head + attention


def decode_floor(case: Case, batch: Columns, context: Columns) -> Floor:
    """Least time of a decode step as one sequence sees it. [s]

    The stages of a pipeline follow each other, so only tensor and attention ranks share the work of a token; with
    `batch` sequences spread over p stages each stage holds a p-th of them. A draft that is accepted to the last token
    divides the time by its length plus one.
    """
    run = case.run
    ranks = run.tp * run.attention_dp
    inside = np.maximum(batch / run.pp, 1.0)
    per_step = run.draft_tokens + 1.0
    memory = step_bytes(case, inside, context) / (ranks * case.gpu.bandwidth) / per_step
    return Floor(memory, step_flop(case, inside, context) / (ranks * peak(case)))


def prefill_floor(case: Case, prompt: Columns, prompts: Columns) -> Floor:
    """Least time to read `prompts` prompts of `prompt` tokens: the least first-token time. [s]

    All devices of the replica may work on different parts of a prompt; the weights are read once.
    """
    whole = devices(case)
    memory = step_bytes(case, np.zeros_like(prompt), prompt) / (whole * case.gpu.bandwidth)
    return Floor(memory, prompts * prompt_flop(case, prompt) / (whole * peak(case)))


def request_floor(case: Case, batch: Columns) -> Floor:
    """Least time of a replica's devices for one whole request, prompt and answer, with `batch` in flight. [s]

    Every output token takes its share of a step's weights and its own cache; prompt and answer take their operations.
    """
    run = case.run
    held = np.maximum(batch, 1.0)
    context = run.input + run.output / 2.0
    steps = run.output / np.maximum(accepted_tokens(case), run.draft_tokens + 1.0)
    whole = devices(case)
    memory = steps * step_bytes(case, held, context) / held / (whole * case.gpu.bandwidth)
    flop = prompt_flop(case, run.input) + run.output * step_flop(case, np.ones_like(context), context)
    return Floor(memory, flop / (whole * peak(case)))


def output_ceiling(case: Case, batch: Columns) -> Columns:
    """Most output tokens a second of all replicas with `batch` in flight in each. [1/s]"""
    return case.run.dp * case.run.output / request_floor(case, batch).seconds


def sequences_at_most(case: Case) -> Columns:
    """Sequences whose caches fit beside the weights if nothing else took memory; 0 where the weights alone do not fit.

    Sequences at random progress hold half of their answer; a shared prefix is held once for all.
    """
    run = case.run
    space = devices(case) * case.gpu.memory - weight_bytes(case)
    tokens = run.input * (1.0 - run.prefix) + run.output / 2.0
    return np.where(space > 0, space / np.maximum(cache_bytes(case, tokens), 1.0), 0.0)


def train_flop(case: TrainCase) -> Columns:
    """Operations that one optimizer step cannot do without, all GPUs together.

    6 a used parameter and token (4 where the weights are frozen), attention causal, nothing computed twice.
    """
    llm, run = case.llm, case.run
    per_parameter = np.where(run.full > 0, 6.0, 4.0)
    seen = np.where(llm.window > 0, np.minimum(run.sequence, 2.0 * np.maximum(llm.window, 1.0)), run.sequence)
    attention = per_parameter / 4.0 * (run.sequence * llm.prefill_full + seen * llm.prefill_window)
    return run.global_batch * run.sequence * (per_parameter * llm.active + attention)


def train_floor(case: TrainCase) -> Columns:
    """Least time of one optimizer step: its operations at the dense peak of all GPUs. [s]"""
    return train_flop(case) / (case.run.n_gpus * case.run.peak / case.gpu.sustained)
