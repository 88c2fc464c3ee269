"""The answer to a claim as sentences, for the window and the command line alike."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from gpuplanner.catalog.load import Catalog
from gpuplanner.i18n import _, facts, format, language, measured
from gpuplanner.i18n import claims as words
from gpuplanner.model import evidence
from gpuplanner.model.claims.checking import Bound, Judgement, Said, Variant, check
from gpuplanner.model.claims.reading import Claim, Unread, read
from gpuplanner.model.evaluate import evaluate
from gpuplanner.model.plan import Plan
from gpuplanner.model.results import Figure

_FITS = ("memory",)
_WRITTEN: dict[str, Callable[[float], str]] = {
    "tokens_s": words.rate,
    "duration": format.duration,
    "ratio": format.ratio,
    "memory": format.bytes_gb,
    "power": words.power,
    "share": format.percent,
    "flops": words.flops,
    "link": words.link,
}


class Answer(NamedTuple):
    """What is shown for a typed text. Without a judgement the text was not understood, and `headline` says why."""

    judgement: Judgement | None
    word: str
    headline: str
    # How the claim was read.
    understood: str = ""
    bounds: tuple[str, ...] = ()
    conditions: tuple[str, ...] = ()
    assumptions: tuple[str, ...] = ()
    # One line for every card that a short name may mean.
    variants: tuple[tuple[str, str, str], ...] = ()
    # Which of them the answer is of.
    about: str = ""
    ignored: str = ""
    example: str = ""


def answer(text: str, catalog: Catalog, plan: Plan) -> Answer:
    """Read a claim, check it, and say so in the language in force."""
    claim = read(text, catalog)
    if isinstance(claim, Unread):
        return Answer(None, "", _(words.UNREAD[claim.reason]), example=_(words.EXAMPLES[0]))
    return told(check(claim, catalog, plan))


def told(judgement: Judgement) -> Answer:
    """A judgement in words."""
    best = judgement.best
    # The same arithmetic need not stand there twice.
    bounds = tuple(dict.fromkeys(bound_text(bound, best) for bound in best.bounds))
    return Answer(
        judgement,
        _(words.VERDICTS[judgement.verdict]),
        headline(judgement),
        _understood(judgement.claim, best),
        bounds,
        tuple(_condition(said) for said in best.conditions),
        tuple(words.said(words.ASSUMPTIONS, said.key, said.numbers) for said in best.assumptions),
        tuple(
            (_named(variant), _(words.VERDICTS[variant.verdict]), _figure_text(variant.figure, judgement))
            for variant in judgement.variants
        )
        if len(judgement.variants) > 1
        else (),
        _("The answer is for {name}.").format(name=_named(best)) if len(judgement.variants) > 1 else "",
        _("Not read: {text}").format(text=", ".join(judgement.claim.ignored)) if judgement.claim.ignored else "",
    )


def written(value: float | None, judgement: Judgement) -> str:
    """A value in the unit of the claim."""
    if value is None:
        return format.NOT_KNOWN
    if judgement.unit == "money":
        return format.money(value, judgement.currency)
    return _WRITTEN[judgement.unit](value)


def claimed(judgement: Judgement) -> str:
    """The claimed value with the digits it was typed with."""
    value = float(f"{judgement.claimed:.6g}")
    if judgement.unit == "tokens_s":
        return _("{rate} tok/s").format(rate=format.exact(value))
    if judgement.unit == "flops":
        return f"{format.exact(float(f'{value / 1e12:.6g}'))} TFLOPS"
    if judgement.unit == "ratio":
        return f"{format.exact(value)}×" if len(f"{value:g}") <= 4 else format.ratio(value)
    if judgement.unit == "money":
        return format.money_exact(value, judgement.currency)
    return written(value, judgement)


def _figure_text(figure: Figure, judgement: Judgement) -> str:
    """A figure with its band: "19.0× (16–22)" in the unit of the claim."""
    if figure.value is None:
        return format.NOT_KNOWN
    if figure.low == figure.high:
        return written(figure.value, judgement)
    return _("{value}, {low} to {high}").format(
        value=written(figure.value, judgement),
        low=written(figure.low, judgement),
        high=written(figure.high, judgement),
    )


def _band(figure: Figure, judgement: Judgement) -> str:
    return _("{low} to {high}").format(low=written(figure.low, judgement), high=written(figure.high, judgement))


def headline(judgement: Judgement) -> str:
    """The answer in one sentence; before it the bound, where as stated it cannot be."""
    said = _headline(judgement, judgement.verdict)
    broken = judgement.broken
    if judgement.verdict != "only_if" or broken is None or judgement.claim.kind in (*_FITS, "peak", "price"):
        return said
    return ("" if language() == "zh" else " ").join((_headline(judgement, "impossible"), said))


def _headline(judgement: Judgement, verdict: str) -> str:
    best, claim = judgement.best, judgement.claim
    figure = best.figure
    numbers: dict[str, Any] = {}
    parts = {
        "claimed": claimed(judgement),
        "band": _band(figure, judgement),
        "value": written(figure.value, judgement),
    }
    key = verdict
    if verdict == "impossible":
        broken = judgement.broken
        if claim.kind in _FITS and claim.negated:
            key = "impossible_fits"
        elif broken is not None:
            numbers = dict(broken.numbers)
            parts["limit"] = written(broken.limit, judgement) if broken.key != "memory" else ""
            name = "ratio" if broken.key.startswith("ratio") else broken.key
            key = f"impossible_{name}"
            if best.lower and f"{key}_lower" in words.HEADLINES:
                key += "_lower"
    elif verdict == "cannot_tell":
        key = "cannot_tell" if claim.kind not in _FITS else "cannot_tell_bare"
        parts["why"] = _missing(best.missing)
    elif claim.kind in _FITS:
        key = "holds_not" if claim.negated and verdict == "holds" else f"{verdict}_fits"
    elif verdict == "only_if":
        if claim.kind == "peak":
            key = "only_if_sparse"
        elif claim.kind == "price":
            key = "only_if_price"
        elif figure.value is None:
            key = "only_if_bare"
    elif verdict == "optimistic" and figure.value is None:
        key, parts["why"] = "optimistic_unfit", _missing(best.missing)
    elif verdict == "holds" and figure.low == figure.high:
        key = "holds_exact"
    elif claim.kind == "price" and f"{verdict}_price" in words.HEADLINES:
        key = f"{verdict}_price"
    elif best.lower and f"{verdict}_lower" in words.HEADLINES:
        key = f"{verdict}_lower"
    return words.said(words.HEADLINES, key, numbers, **parts)


def _missing(said: Said | None) -> str:
    if said is None:
        return _(facts.BASIS["not known"])
    if said.key == "refused":
        key = str(said.numbers.get("what") or "not_known")
        rest = {name: value for name, value in said.numbers.items() if name != "what"}
        return facts.sentence(key if key in facts.FACTS else "not_known", rest).rstrip(".。")
    key = "which_cards_bare" if said.key == "which_cards" and "generation" not in said.numbers else said.key
    return words.said(words.MISSING, key, said.numbers)


def bound_text(bound: Bound, variant: Variant) -> str:
    """The arithmetic of a bound."""
    key = "compute_time" if bound.key == "compute" and "limit_s" in bound.numbers else bound.key
    if bound.key == "bandwidth" and variant.lower and bound.limit:
        # A time a token: the rate of the arithmetic is that of one reader.
        return words.said(words.BOUNDS, "bandwidth", bound.numbers)
    return words.said(words.BOUNDS, key, bound.numbers)


def _condition(said: Said) -> str:
    numbers = said.numbers
    then = ""
    if "then_tokens_s" in numbers:
        then = words.rate(float(numbers["then_tokens_s"]))
    elif "then_s" in numbers:
        then = format.duration(float(numbers["then_s"]))
    return words.said(words.CONDITIONS, said.key, numbers, then=then).rstrip(": ：")


def _named(variant: Variant) -> str:
    work = words.WORK.get(variant.work)
    return f"{variant.name} · {_(work)}" if work and variant.work else variant.name


def _format(weights: str) -> str:
    """A number format as vendors write it, or a width."""
    if weights.endswith("-bit"):
        return _("{bits} bit").format(bits=weights.removesuffix("-bit"))
    return facts.weight_format(weights) if weights else ""


def _understood(claim: Claim, best: Variant) -> str:
    """How the claim was read: cards, model, format, software."""
    parts = []
    for cards in claim.cards[:2]:
        names = list(cards.names)
        name = next((each for each in names if each in best.name.split(" : ")), names[0] if names else cards.text)
        parts.append(f"{format.count(cards.total)} × {name}" if cards.total > 1 else name)
    parts.extend(each for each in (claim.llm, _format(claim.weights)) if each)
    if claim.runtime:
        parts.append(claim.runtime)
    if claim.batch is not None:
        parts.append(_("batch {count}").format(count=format.count(claim.batch)))
    return " · ".join(parts)


# Which figure of the comparison the measured rows nearest to a claim are looked up for, by kind of claim or of work.
_ROWS_OF = {
    "throughput": "output", "first_token": "first_token", "per_token": "per_token", "prefill": "prefill",
    "memory": "memory_used", "power": "max_power", "training_time": "tokens", "training_rate": "tokens", "mfu": "mfu",
    "train": "tokens", "finetune": "tokens", "serve": "output", "decode": "single_stream",
}  # fmt: skip


def closest(judgement: Judgement, catalog: Catalog, plan: Plan, count: int = 3) -> tuple[str, ...]:
    """The measured rows nearest to what is claimed, and how far off the model was there; a line each.

    The measurements are read on first use, which takes a tenth of a second.
    """
    claim, best = judgement.claim, judgement.best
    key = _ROWS_OF.get(best.work if claim.kind in ("ratio", "speedup") else claim.kind)
    if key is None or best.workload is None or not best.scenarios or best.figure.value is None:
        return ()
    if claim.batch is None and (claim.scope == "user" or key in ("per_token", "first_token")):
        # A lone request.
        key = "prefill" if key == "first_token" else "single_stream"
    first = best.scenarios[:1]
    alone = Plan(
        currency=plan.currency, country=plan.country, entries=plan.entries, workloads=(best.workload,), scenarios=first
    )
    rows = evidence.nearest_to(alone, evaluate(alone, catalog), first[0].letter, best.workload.id, key, catalog, count)
    return tuple(_row(near) for near in rows)


def _row(near: evidence.Near) -> str:
    metric = str(near.row.get("metric", ""))
    return _("{setting}: measured {measured}, predicted {predicted} ({error}); {source}").format(
        setting=measured.setting(near.row),
        measured=measured.value(metric, near.measured),
        predicted=measured.value(metric, near.predicted),
        error=measured.error(near.error),
        source=str(near.row.get("source", "")),
    )


def to_json(answered: Answer, rows: Sequence[str] = ()) -> dict[str, Any]:
    """The answer as data, SI units; `rows` are those of `closest`."""
    judgement = answered.judgement
    if judgement is None:
        return {"understood": False, "reason": answered.headline}
    return {
        "understood": True,
        "kind": judgement.claim.kind,
        "verdict": judgement.verdict,
        "unit": judgement.unit,
        "currency": judgement.currency or None,
        "claimed": judgement.claimed,
        "figure": _figure_json(judgement.figure),
        "ceiling": judgement.best.ceiling,
        "sentence": answered.headline,
        "bounds": [
            {"key": bound.key, "limit": bound.limit, "broken": bound.broken, "numbers": dict(bound.numbers)}
            for bound in judgement.best.bounds
        ],
        "conditions": [{"key": said.key, "numbers": dict(said.numbers)} for said in judgement.best.conditions],
        "assumptions": [{"key": said.key, "numbers": dict(said.numbers)} for said in judgement.best.assumptions],
        "variants": [
            {
                "name": variant.name, "work": variant.work or None, "verdict": variant.verdict,
                "figure": _figure_json(variant.figure), "ceiling": variant.ceiling,
            }
            for variant in judgement.variants
        ],
        "closest_evidence": list(rows),
        "not_read": list(judgement.claim.ignored),
    }  # fmt: skip


def _figure_json(figure: Figure) -> dict[str, Any] | None:
    if figure.value is None:
        return None
    return {"value": figure.value, "low": figure.low, "high": figure.high, "basis": figure.basis}


def as_text(answered: Answer, rows: Sequence[str] = ()) -> str:
    """The answer as lines for a terminal; `rows` are those of `closest`."""
    lines = [f"{answered.word}: {answered.headline}" if answered.word else answered.headline]
    if answered.example:
        lines.append(_(words.EXAMPLE_LEAD).format(example=answered.example))
    if answered.understood:
        lines.append(f"  {answered.understood}")
    if answered.about:
        lines.append(f"  {answered.about}")
    lines += [f"  {line}" for line in (*answered.bounds, *answered.assumptions)]
    lines += [f"  → {line}" for line in answered.conditions]
    lines += [f"  {name}: {word} ({figure})" for name, word, figure in answered.variants]
    lines += [f"  {_('Closest evidence')}: {row}" for row in rows]
    if answered.ignored:
        lines.append(f"  {answered.ignored}")
    return "\n".join(lines)
