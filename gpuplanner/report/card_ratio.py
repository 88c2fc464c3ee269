"""Words for two cards compared: the tasks, what a quoted ratio is worth, and how a larger one comes about."""

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from gpuplanner.catalog.load import Catalog
from gpuplanner.i18n import N_, _, facts, format, ngettext
from gpuplanner.model.card_ratio import CardRatio, ClaimFound, Outcome, Side, TaskRatio, compare_cards, narrower
from gpuplanner.model.results import Figure
from gpuplanner.validation.card_pairs import Pairs, pairs_of

TASKS: dict[str, str] = {
    "train": N_("Training"),
    "finetune": N_("Fine-tuning, LoRA"),
    "prefill": N_("Prefill, one prompt"),
    "decode_small": N_("Decode, one request"),
    "decode_large": N_("Decode, 64 requests"),
    "serving": N_("Loaded serving"),
    "long_context": N_("Serving, long prompts"),
    "largest_model": N_("Largest model on 8 cards"),
    "one_side_narrow": N_("Serving, first in a narrower format"),
    "short_of_memory": N_("Serving, memory nearly full"),
    "both": N_("Both of these"),
}
# The same inside a sentence.
_IN_A_SENTENCE: dict[str, str] = {
    "train": N_("training"),
    "finetune": N_("fine-tuning"),
    "prefill": N_("prefill"),
    "decode_small": N_("decode of one request"),
    "decode_large": N_("decode of 64 requests"),
    "serving": N_("loaded serving"),
    "long_context": N_("serving of long prompts"),
    "one_side_narrow": N_("serving with the first card in a narrower format"),
    "short_of_memory": N_("serving with memory nearly full"),
    "both": N_("a narrower format and full memory together"),
}
PRECISIONS: dict[str, str] = {"16-bit": N_("16 bit"), "8-bit": N_("8 bit"), "4-bit": N_("4 bit")}


class Found(NamedTuple):
    """Two cards compared, with the measured pairs by task."""

    ratio: CardRatio
    pairs: Mapping[str, Pairs]


def find(first: Side, second: Side, llm: str, catalog: Catalog) -> Found:
    """Compare two cards and look for measured pairs of them.

    Raises
    ------
    KeyError
        A card or the model is not in the catalog.
    """
    ratio = compare_cards(first, second, llm, catalog)
    pairs = pairs_of(catalog.measurements, first, second, catalog)
    narrow = pairs_of(catalog.measurements, narrower(first), second, catalog)
    if narrower(first) != first and "serving" in narrow:
        pairs["one_side_narrow"] = narrow["serving"]
    return Found(ratio, pairs)


def task(key: str) -> str:
    """What a task or case is called. Raises `KeyError` for an unknown one."""
    return _(TASKS[key])


def precision(name: str) -> str:
    """A precision by its width. Raises `KeyError` for an unknown one."""
    return _(PRECISIONS[name])


def side(one: Side) -> str:
    """A card with its precision."""
    return _("{card} in {precision}").format(card=one.gpu, precision=precision(one.precision))


def headline(found: CardRatio) -> str:
    """What trains and serves how many times as fast."""
    train, serving = found.task("train").ratio, found.task("serving").ratio
    said = {"first": side(found.first), "second": side(found.second)}
    if train.value and serving.value:
        return _("{first} trains {train} and serves {serving} as fast as {second}.").format(
            train=_with_band(train), serving=_with_band(serving), **said
        )
    if serving.value:
        return _("{first} serves {serving} as fast as {second}; training is not known.").format(
            serving=_with_band(serving), **said
        )
    if train.value:
        return _("{first} trains {train} as fast as {second}; serving is not known.").format(
            train=_with_band(train), **said
        )
    return _("{first} and {second} cannot be compared at this model.").format(**said)


def _with_band(figure: object) -> str:
    value, low, high = figure[:3]  # type: ignore[index]
    return _("{ratio} ({band})").format(ratio=format.ratio(value), band=format.band(low, high))


def claim(found: ClaimFound) -> str:
    """Where a ratio that the trade quotes holds and where not."""
    ratio = quoted(found.claim)
    if found.holds:
        said = [_("{ratio} holds for {tasks}.").format(ratio=ratio, tasks=_tasks(found.holds))]
    else:
        said = [_("{ratio} holds for none of these.").format(ratio=ratio)]
    if found.reached:
        said.append(_("The band of {tasks} reaches it.").format(tasks=_tasks(found.reached)))
    if found.less:
        said.append(_("It is less for {tasks}.").format(tasks=_tasks(found.less)))
    if found.more:
        said.append(_("It is more for {tasks}.").format(tasks=_tasks(found.more)))
    return " ".join(said)


def quoted(ratio: float) -> str:
    """A ratio as it is quoted: "3.5×"."""
    return f"{format.exact(ratio)}×"


def _tasks(keys: Sequence[str]) -> str:
    return _(", ").join(_(_IN_A_SENTENCE[key]) for key in keys)


def reason(found: CardRatio, key: str) -> str:
    """How a larger ratio comes about, one sentence a case. Raises `StopIteration` for a case that there is none of."""
    case = found.task(key)
    said = {
        "first": found.first.gpu,
        "second": found.second.gpu,
        "ratio": _with_band(case.ratio) if case.ratio.value else format.NOT_KNOWN,
        "mine": facts.weight_format(case.first.weights) if case.first.weights else format.NOT_KNOWN,
        "theirs": facts.weight_format(case.second.weights) if case.second.weights else format.NOT_KNOWN,
    }
    if key == "one_side_narrow":
        return _("{first} in {mine} against {second} in {theirs}: {ratio} in loaded serving.").format(**said)
    if key == "short_of_memory":
        return ngettext(
            "On {count} card each, the fewest that hold the model, the weights leave the cache little room: {ratio}.",
            "On {count} cards each, the fewest that hold the model, the weights leave the cache little room: {ratio}.",
            case.cards,
        ).format(count=case.cards, **said)
    if key == "both":
        return _("The narrower format on one side and full memory on the other: {ratio}.").format(**said)
    return _("With long prompts reading them binds, so compute decides: {ratio}.").format(**said)


def binds(outcome: Outcome) -> str:
    """What holds one side back, or why it has no rate."""
    if outcome.rate is None:
        return _("does not run") if outcome.refusal.key != "does_not_fit" else _("does not fit")
    return facts.word(outcome.binds) if outcome.binds else format.NOT_KNOWN


def rate(one: TaskRatio, outcome: Outcome) -> str:
    """What one side does, with its format."""
    if outcome.rate is None:
        return format.NOT_KNOWN
    if one.key == "largest_model":
        return outcome.llm
    return _("{rate} tok/s").format(rate=format.number(outcome.rate))


def spoken(one: TaskRatio, measured: float | None, pairs: int) -> str:
    """A task as one sentence for a screen reader and for hovering."""
    numbers: Mapping[str, str] = {
        "task": task(one.key),
        "ratio": _with_band(one.ratio) if one.ratio.value else format.NOT_KNOWN,
    }
    if measured is None:
        return _("{task}: {ratio}, no measured pair.").format(**numbers)
    return ngettext(
        "{task}: {ratio}, measured {measured} in {count} pair.",
        "{task}: {ratio}, measured {measured} in {count} pairs.",
        pairs,
    ).format(measured=format.ratio(measured), count=format.count(pairs), **numbers)


def reasons(found: CardRatio) -> list[str]:
    """How larger ratios come about, a sentence each; those that these cards have no case of are left out."""
    keys = [case.key for case in found.cases]
    if any(each.key == "long_context" for each in found.tasks):
        keys.append("long_context")
    return [reason(found, key) for key in keys if found.task(key).ratio.value]


def _why_not(found: CardRatio, one: TaskRatio) -> list[str]:
    """Which card does not do a task, and why."""
    sides = ((found.first, one.first), (found.second, one.second))
    return [f"{side.gpu}: {binds(outcome)}." for side, outcome in sides if outcome.rate is None]


def as_text(found: Found) -> str:
    """The comparison as plain text."""
    ratio, pairs = found
    lines = [headline(ratio), *(claim(each) for each in ratio.claims), ""]
    for each in (*ratio.tasks, *ratio.cases):
        known = pairs.get(each.key)
        line = spoken(each, known.measured if known else None, len(known.pairs) if known else 0)
        lines.append(" ".join([line, *_why_not(ratio, each)]))
    said = reasons(ratio)
    return "\n".join([*lines, "", *said] if said else lines)


def to_json(found: Found) -> dict[str, Any]:
    """The comparison as data: rates in tokens/s, null where not known."""
    ratio, pairs = found
    return {
        "first": ratio.first._asdict(),
        "second": ratio.second._asdict(),
        "llm": ratio.llm,
        "sentence": headline(ratio),
        "tasks": [_task_json(each, pairs.get(each.key)) for each in ratio.tasks],
        "cases": [_task_json(each, pairs.get(each.key)) for each in ratio.cases],
        "claims": [each._asdict() for each in ratio.claims],
    }


def _task_json(one: TaskRatio, found: Pairs | None) -> dict[str, Any]:
    return {
        "key": one.key,
        "cards_of_each": one.cards,
        "ratio": _figure_json(one.ratio),
        "first": _outcome_json(one, one.first),
        "second": _outcome_json(one, one.second),
        "measured_ratio": None if found is None else found.measured,
        "measured_pairs": 0 if found is None else len(found.pairs),
        "predicted_at_pairs": None if found is None else found.predicted,
    }


def _outcome_json(one: TaskRatio, outcome: Outcome) -> dict[str, Any]:
    rate_key = "parameters" if one.key == "largest_model" else "tokens_s"
    return {
        rate_key: outcome.rate,
        "weights": outcome.weights or None,
        "binds": outcome.binds or None,
        "llm": outcome.llm or None,
        "engine": outcome.engine or None,
        "refusal": outcome.refusal.key or None,
    }


def _figure_json(figure: Figure) -> dict[str, Any]:
    ends = [end if end is not None and math.isfinite(end) else None for end in figure[:3]]
    return {"value": ends[0], "low": ends[1], "high": ends[2], "basis": figure.basis}
