"""Which ways to split a model over cards are legal, and why others are not."""

from typing import NamedTuple

from gpuplanner.catalog.schema import Llm, Runtime
from gpuplanner.model.case import SINGLE_USER_ENGINES

# The formulas share layers out evenly: the automatic choice leaves splits alone whose fullest stage holds a tenth more.
_FULLEST_STAGE = 1.1


class Split(NamedTuple):
    """Tensor, pipeline and data degree of a serving replica, expert ranks, and whether attention runs data-parallel."""

    tp: int
    pp: int
    dp: int
    ep: int = 1
    attention_dp: int = 1


class Refusal(NamedTuple):
    """Why a split is not possible: a key and its numbers."""

    key: str
    numbers: dict[str, float | str]


def tensor_degrees(llm: Llm, most: int) -> list[int]:
    """Tensor degrees that divide the query heads, with KV heads split or copied whole, up to `most`."""
    return [
        tp
        for tp in range(1, most + 1)
        if llm.heads % tp == 0 and _whole_kv_heads(llm, tp) and (tp & (tp - 1) == 0 or tp == most)
    ]


def _whole_kv_heads(llm: Llm, tp: int) -> bool:
    """Whether every rank holds whole KV heads: its share of them, or a copy of one."""
    kv_heads = 1 if llm.attention.mla else llm.kv_heads
    return kv_heads % tp == 0 or tp % kv_heads == 0


def _even_stages(layers: int, pp: int) -> bool:
    """Whether the fullest of `pp` stages holds hardly more than its share of the layers."""
    return -(-layers // pp) * pp <= _FULLEST_STAGE * layers


def refusal(
    llm: Llm, runtime: Runtime | None, split: Split, gpus: int, gpus_per_server: int, link_domain: int
) -> Refusal | None:
    """Why this split cannot run, or None where it can."""
    tp, pp, dp = split.tp, split.pp, split.dp
    if llm.heads % tp:
        return Refusal("tp_not_divides", {"tp": tp, "heads": llm.heads})
    if not _whole_kv_heads(llm, tp):
        return Refusal("tp_not_divides", {"tp": tp, "heads": llm.kv_heads})
    if tp * pp * dp * split.attention_dp > gpus:
        return Refusal("gpus_not_divisible", {"gpus": gpus, "needed": tp * pp * dp * split.attention_dp})
    if pp > llm.layers:
        return Refusal("pp_exceeds_layers", {"pp": pp, "layers": llm.layers})
    if split.ep > 1 and llm.moe is None:
        return Refusal("ep_without_experts", {"ep": split.ep})
    if split.ep > 1 and llm.moe is not None and llm.moe.experts % split.ep:
        return Refusal("ep_not_divides", {"ep": split.ep, "experts": llm.moe.experts})
    if split.ep > tp * dp * split.attention_dp:
        return Refusal("gpus_not_divisible", {"gpus": tp * dp * split.attention_dp, "needed": split.ep})
    if tp > max(gpus_per_server, link_domain):
        return Refusal("tp_leaves_server", {"tp": tp, "gpus": gpus_per_server})
    if runtime is not None:
        if tp > 1 and runtime.tensor_parallel is False:
            return Refusal("runtime_no_tensor", {"runtime": runtime.name, "tp": tp})
        if pp > 1 and runtime.pipeline_parallel is False:
            return Refusal("runtime_no_pipeline", {"runtime": runtime.name, "pp": pp})
        if tp * pp > gpus_per_server and runtime.multi_node is False:
            return Refusal("runtime_one_server", {"runtime": runtime.name})
    return None


def splits(llm: Llm, runtime: Runtime | None, gpus: int, gpus_per_server: int, link_domain: int) -> list[Split]:
    """Every split that the automatic choice looks at: tensor ranks inside a server or link domain, stages over what is
    left.

    Programs for one user split by layers, not by tensor ranks.
    """
    widest = min(gpus, max(gpus_per_server, link_domain if link_domain > 8 else 1))
    single_user = runtime is not None and runtime.engine in SINGLE_USER_ENGINES
    found = []
    for tp in [1] if single_user else tensor_degrees(llm, widest):
        pp = 1
        while tp * pp <= gpus and pp <= min(llm.layers, 64):
            dp = gpus // (tp * pp)
            split = Split(tp, pp, dp)
            even = single_user or _even_stages(llm.layers, pp)
            if even and refusal(llm, runtime, split, gpus, gpus_per_server, link_domain) is None:
                found.append(split)
            pp *= 2
        # All cards of the group as stages, where their number is no power of two.
        if single_user and gpus & (gpus - 1) and gpus <= llm.layers:
            found.append(Split(1, gpus, 1))
    return found
