"""Whether a claim can be: our figure with its band, the bounds that nothing passes, and what would make it true.

A claim becomes a scenario (two where cards are compared) and goes through the functions of `evaluate`, so that the
answer is what the window shows for the same configuration; the bounds come from `bounds`. What the claim leaves open is
taken in the claimant's favour and said. A short name ("H100") is checked as every card it may mean.
"""

import functools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from gpuplanner.catalog import compatibility
from gpuplanner.catalog.calibration import Calibration
from gpuplanner.catalog.load import Catalog
from gpuplanner.catalog.query import dense16
from gpuplanner.catalog.schema import Gpu, Llm
from gpuplanner.model import bounds, card_ratio, cost, evidence, fitting, hardware, memory, serving
from gpuplanner.model import case as cases
from gpuplanner.model.bands import between, quotient, scaled, spread
from gpuplanner.model.case import Case
from gpuplanner.model.claims.reading import Cards, Claim
from gpuplanner.model.edit import replace
from gpuplanner.model.evaluate import evaluate
from gpuplanner.model.plan import (
    LETTERS,
    ConcurrencyLoad,
    FineTune,
    Group,
    Network,
    Plan,
    QueueLoad,
    Run,
    Scenario,
    Serve,
    Train,
    Workload,
)
from gpuplanner.model.results import NO_NUMBERS, NOT_KNOWN, Check, Figure, Numbers, ServeResult, TrainResult, exact

VERDICTS = ("holds", "pessimistic", "only_if", "optimistic", "impossible", "cannot_tell")

# What is taken where a claim is silent, in its favour: a short prompt.
_PROMPT, _ANSWER, _FIRST_TOKEN_PROMPT = 128, 512, 1024
_USUAL_LLM, _SMALL_LLM = "Llama-3.1-8B", "Qwen3-4B"
_IN_A_SERVER = 8
_MOST_IN_A_SERVER = 16
# Data sheets are quoted with three digits, and rounded.
_SAME_FIGURE = 0.03
_SPARSE = 2.0
_LOWER = {"32-bit": "16-bit", "16-bit": "8-bit", "8-bit": "4-bit"}
_WIDTH = {"fp32": "32-bit", "tf32": "32-bit", "bf16": "16-bit", "fp16": "16-bit", "fp8": "8-bit", "int8": "8-bit",
          "q8_0": "8-bit"}  # fmt: skip
_TWO_BIT = "iq2_xxs"
# What cache and software take beside the weights, at most, before somebody would say so (judged, ±0.1).
_WITH_CACHE = 1.3
_DESKTOP_RUNTIME = "llama.cpp"
_DESKTOP = frozenset(
    {"llama.cpp", "ik_llama.cpp", "Ollama", "LM Studio", "ExLlamaV2", "ExLlamaV3", "MLC-LLM", "MLX-LM"}
)
_TRAIN_TOKENS = 1e12
_FINETUNE_TOKENS = 50e6
_MFU_CARDS = 64
# The cards that a claim about any card is held against.
_USUAL_PAIR = ("H100 SXM 80GB", "A100 SXM 80GB")
_WORK = "claim"
# Memory of a card that holds the usual model, to serve alone and to train on eight. [bytes]
_HOLDS_SERVING, _HOLDS_TRAINING = 20e9, 24e9
# The figure that is compared, and the family of its band.
_RATIO_OF = {
    "serve": ("output_tokens_s_limit", "max_throughput"),
    "decode": ("single_stream_tokens_s", "decode_fixed_batch"),
    "prefill": ("prefill_tokens_s", "ttft_idle"),
}


class Said(NamedTuple):
    """A sentence to be: a key of `i18n.claims` and its numbers."""

    key: str
    numbers: Numbers = NO_NUMBERS


class Bound(NamedTuple):
    """What nothing passes. ``limit`` is in the unit of the claim; ``broken`` where the claim lies beyond it."""

    key: str
    limit: float
    broken: bool
    numbers: Numbers = NO_NUMBERS


class Variant(NamedTuple):
    """The answer for one card (or pair of cards, or kind of work) that the claim may mean."""

    name: str
    work: str
    verdict: str
    figure: Figure
    bounds: tuple[Bound, ...] = ()
    conditions: tuple[Said, ...] = ()
    assumptions: tuple[Said, ...] = ()
    missing: Said | None = None
    # What the window can put into the plan.
    workload: Workload | None = None
    scenarios: tuple[Scenario, ...] = ()
    # Better is lower: a time, a power, a need.
    lower: bool = False

    @property
    def ceiling(self) -> float | None:
        """The tightest bound in the unit of the claim; None where only memory sizes bound it."""
        known = [bound for bound in self.bounds if bound.key not in ("memory", "usable")]
        limits = [bound.limit for bound in known if np.isfinite(bound.limit) and bound.limit > 0]
        return (max(limits) if self.lower else min(limits)) if limits else None


class Judgement(NamedTuple):
    """The answer to a claim. ``unit`` is a kind of figure: tokens_s, duration, ratio, money, memory, power, share,
    flops, link."""

    claim: Claim
    verdict: str
    unit: str
    claimed: float
    best: Variant
    variants: tuple[Variant, ...]
    currency: str = ""

    @property
    def figure(self) -> Figure:
        return self.best.figure

    @property
    def broken(self) -> Bound | None:
        """The bound that makes the claim impossible."""
        return next((bound for bound in self.best.bounds if bound.broken), None)


def check(claim: Claim, catalog: Catalog, plan: Plan) -> Judgement:
    """Hold a claim against physics, prices and our prediction. Never raises for a claim that `read` returned.

    ``plan`` gives currency, rates, country and pinned entries; its scenarios do not matter.
    """
    view = catalog.over(plan.entries)
    judged = _Checker(claim, view, plan).variants()
    order = {verdict: rank for rank, verdict in enumerate(VERDICTS)}
    # Of equal answers that of the modules speaks: they are what a short name means most often.
    best = min(
        judged, key=lambda variant: (order[variant.verdict], "SXM" not in variant.name, -_size_of(variant, view))
    )
    claimed = claim.value
    if claim.kind == "memory" and best.bounds:
        claimed = best.bounds[0].limit
    currency = claim.money.currency if claim.money is not None else ""
    return Judgement(claim, best.verdict, _UNITS[claim.kind], claimed, best, judged, currency)


def _size_of(variant: Variant, catalog: Catalog) -> float:
    gpu = catalog.gpus.get(variant.name.split(" : ")[0])
    return gpu.memory_bytes.value if gpu is not None else 0.0


_UNITS = {
    "throughput": "tokens_s", "prefill": "tokens_s", "training_rate": "tokens_s", "first_token": "duration",
    "per_token": "duration", "training_time": "duration", "ratio": "ratio", "speedup": "ratio", "price": "money",
    "memory": "memory", "need": "memory", "power": "power", "mfu": "share", "peak": "flops", "bandwidth": "link",
}  # fmt: skip


def judge(claimed: float, figure: Figure, broken: bool, lower: bool = False) -> str:
    """The verdict on a value against a band. ``lower``: a smaller value claims more."""
    if broken:
        return "impossible"
    if figure.value is None or figure.low is None or figure.high is None:
        return "cannot_tell"
    claims_more = claimed < figure.low if lower else claimed > figure.high
    claims_less = claimed > figure.high if lower else claimed < figure.low
    return "optimistic" if claims_more else "pessimistic" if claims_less else "holds"


class _Served(NamedTuple):
    """One serving configuration of a claim, evaluated."""

    workload: Serve
    scenario: Scenario
    result: ServeResult
    case: Case | None
    wide: Case | None
    weights: str
    evidence: evidence.Evidence | None


class _Trained(NamedTuple):
    """One training run of a claim, evaluated."""

    workload: FineTune | Train
    scenario: Scenario
    result: TrainResult
    evidence: evidence.Evidence | None


class _Checker:
    """Checks one claim. Holds nothing but the claim, the catalog and what the plan says of money."""

    def __init__(self, claim: Claim, catalog: Catalog, plan: Plan) -> None:
        self.claim, self.catalog, self.plan = claim, catalog, plan
        self.calibration: Calibration = catalog.calibration
        # The same configuration answers several questions about two cards.
        self._serve = functools.cache(self._served)
        self._trained = functools.cache(self._training_run)

    def variants(self) -> tuple[Variant, ...]:
        claim = self.claim
        if claim.kind == "speedup" and len(claim.cards) < 2:
            return (self._speedup_of_nothing(),)
        if claim.kind in ("ratio", "speedup"):
            return self._ratios()
        if claim.kind == "mfu":
            return self._mfus()
        if claim.kind == "need":
            return (self._need(),)
        if not claim.cards:
            return (self._missing("no_cards"),)
        one = {
            "throughput": self._throughput, "first_token": self._first_token, "per_token": self._per_token,
            "prefill": self._prefill, "memory": self._memory, "price": self._price, "power": self._power,
            "training_time": self._training, "training_rate": self._training, "peak": self._peak,
            "bandwidth": self._bandwidth,
        }[claim.kind]  # fmt: skip
        needs_llm = claim.kind in ("throughput", "first_token", "per_token", "prefill", "memory", "training_time",
                                   "training_rate")  # fmt: skip
        if needs_llm and not claim.llm:
            return (self._missing("no_llm"),)
        return tuple(one(name) for name in self._meant(claim.cards[0]))

    def _meant(self, cards: Cards) -> tuple[str, ...]:
        """The cards to check: whole servers of eight hold modules where there are such."""
        modules = tuple(name for name in cards.names if self._gpu(name).form_factor.startswith(("SXM", "OAM")))
        return modules if modules and cards.whole and self.claim.kind == "power" else cards.names

    def _missing(self, key: str, name: str = "", numbers: Numbers = NO_NUMBERS) -> Variant:
        return Variant(name, "", "cannot_tell", NOT_KNOWN, missing=Said(key, numbers))

    # --- the configuration ---------------------------------------------------------------------------------------

    def _gpu(self, name: str) -> Gpu:
        gpu: Gpu = self.catalog.gpus[name]
        return gpu

    @property
    def _llm(self) -> Llm:
        llm: Llm = self.catalog.llms[self.claim.llm]
        return llm

    def _weights(self, gpu: Gpu, width: str | None = None) -> str:
        """The format that a width, or nothing, means on a card."""
        asked = self.claim.weights if width is None else width
        peaks = gpu.peak_flops
        if not asked:
            native = self._llm.native_dtype or "" if self.claim.llm else ""
            if native.startswith("mxfp4"):
                return "mxfp4"
            asked = "8-bit" if native.startswith("fp8") else "16-bit"
        if asked == "16-bit":
            return "bf16" if "bf16" in peaks else "fp16"
        if asked in ("8-bit", "4-bit") and gpu.vendor == "Apple":
            return "q8_0" if asked == "8-bit" else "q4_k_m"
        if asked == "8-bit":
            return "fp8" if "fp8" in peaks else "int8"
        if asked == "4-bit":
            return "int4"
        return asked

    def _group(self, name: str, cards: Cards, runs: tuple[Run, ...] = (), condition: str = "new") -> Group:
        total, servers = cards.per_server, cards.servers
        form = self._gpu(name).form_factor if name in self.catalog.gpus else ""
        if servers == 1 and total > (_IN_A_SERVER if form.startswith(("SXM", "OAM")) else _MOST_IN_A_SERVER):
            per_server = next(size for size in range(_IN_A_SERVER, 0, -1) if total % size == 0)
            if self._gpu(name).link_domain < total:
                total, servers = per_server, total // per_server
        return Group(
            gpu=name, server=cards.server, gpus_per_server=min(total, 1024), servers=min(servers, 100_000),
            condition=condition, runs=runs, os="macos" if self._gpu(name).vendor == "Apple" else "linux",
        )  # fmt: skip

    def _plan(self, workload: Workload, *scenarios: Scenario) -> Plan:
        return Plan(
            currency=self.plan.currency, exchange_rates=self.plan.exchange_rates, country=self.plan.country,
            entries=self.plan.entries, workloads=(workload,), scenarios=scenarios,
            baseline=scenarios[-1].letter if len(scenarios) > 1 else None,
        )  # fmt: skip

    def _served(
        self,
        name: str,
        cards: Cards,
        width: str | None = None,
        batch: float | None = None,
        llm: str = "",
        runtime: str = "",
        prompt: int | None = None,
        tp: int | None = None,
    ) -> _Served:
        """Serving on these cards: with `batch` requests in flight, or with a queue that is always full."""
        claim, gpu = self.claim, self._gpu(name)
        weights = self._weights(gpu, width)
        if weights == "tf32":
            # A way to multiply; the weights lie in 32 bit.
            weights = "fp32"
        if not runtime and not claim.runtime and weights in compatibility.GGUF_FORMATS:
            runtime = _DESKTOP_RUNTIME
        if prompt is None:
            prompt = claim.prompt or (_FIRST_TOKEN_PROMPT if claim.kind in ("first_token", "prefill") else _PROMPT)
        workload = Serve(
            id=_WORK,
            llm=(llm or claim.llm,),
            prompt_tokens=prompt,
            answer_tokens=claim.answer or (card_ratio.ANSWER if claim.kind in ("ratio", "speedup") else _ANSWER),
            prompt_spread=0.0,
            answer_spread=0.0,
            load=QueueLoad() if batch is None else ConcurrencyLoad(concurrency=max(min(batch, 1e7), 1.0)),
            first_token_s=None,
            per_token_s=None,
            lowest_format="any",
        )
        run = Run(
            workload=_WORK, runtime=runtime or claim.runtime or "auto", weights=weights, tp="auto" if tp is None else tp
        )
        group = self._group(name, cards, (run,))
        scenario = Scenario(letter="A", name=claim.text[:200], groups=(group,))
        prepared: serving.Prepared = serving.prepared(
            workload, group, scenario.network, run, self.catalog.llms[workload.llm[0]], self.catalog
        )
        result = serving.result(prepared, workload, 0, 1.0, serving.demand_of(workload, None, 1.0), self.catalog)
        wide = None
        if prepared.case is not None:
            devices = np.array([float(prepared.hardware.devices)])
            one = np.ones(1)
            # All devices read every weight once between them: no split does better.
            wide = prepared.case._replace(
                run=prepared.case.run._replace(tp=devices, pp=one, dp=one, ep=one, attention_dp=one)
            )
        return _Served(workload, scenario, result, prepared.case, wide, weights, prepared.evidence)

    def _quickest(
        self, name: str, cards: Cards, width: str | None, batch: float | None, score: Callable[[ServeResult], float]
    ) -> _Served:
        """The configuration with the split that suits the claim best: the one for most throughput, or all cards of a
        server in one copy."""
        auto = self._serve(name, cards, width, batch)
        group = auto.scenario.groups[0]
        together = group.gpus_per_server * self._gpu(name).gpus_per_card
        if batch is None or together < 2 or auto.result.choice is None or auto.result.choice.tp == together:
            return auto
        joined = self._serve(name, cards, width, batch, "", "", None, together)
        return joined if score(joined.result) > score(auto.result) else auto

    def _assumed(self, name: str, served: _Served | None = None) -> tuple[Said, ...]:
        """What was taken where the claim is silent."""
        claim, said = self.claim, []
        cards = claim.cards[0] if claim.cards else None
        if cards is not None and cards.by_machine:
            said.append(Said("machines", {"servers": cards.servers, "count": cards.per_server}))
        if cards is not None and cards.by_size:
            said.append(Said("card_by_size", {"gpu": name}))
        if claim.llm_by_size:
            said.append(Said("llm_by_size", {"llm": claim.llm}))
        if served is not None and not claim.weights:
            said.append(Said("weights_taken", {"weights": served.weights}))
        if served is not None:
            workload = served.workload
            if claim.kind in ("throughput", "per_token") and (claim.prompt is None or claim.answer is None):
                numbers = {"prompt": workload.prompt_tokens, "answer": workload.answer_tokens}
                said.append(Said("lengths_taken", numbers))
            if claim.kind in ("first_token", "prefill") and claim.prompt is None:
                said.append(Said("prompt_taken", {"prompt": workload.prompt_tokens}))
        return tuple(said)

    def _refusal(self, check: Check) -> Said:
        return Said("refused", {"what": check.key, **check.numbers})

    def _shown(self, result: ServeResult | TrainResult, figure: Figure) -> tuple[Figure, Said | None]:
        """The figure, or nothing and why where it does not run or does not fit."""
        if result.choice is None:
            return NOT_KNOWN, self._refusal(result.refusal)
        if result.fits.status == "fail":
            return NOT_KNOWN, self._refusal(result.fits)
        return figure, None

    def _verdict(
        self, claimed: float, figure: Figure, broken: bool, result: ServeResult | TrainResult, lower: bool = False
    ) -> str:
        """What does not fit beside its cache and software, though its weights would, is claimed too boldly."""
        verdict = judge(claimed, figure, broken, lower)
        unfit = result.choice is not None and result.fits.status == "fail"
        return "optimistic" if verdict == "cannot_tell" and unfit else verdict

    def _memory_bound(self, case: Case) -> Bound:
        """Weights alone against all memory."""
        weights = float(memory.weight_bytes(case)[0])
        room = float((bounds.devices(case) * case.gpu.memory)[0])
        return Bound(
            "memory", room, weights > room * bounds.MEMORY_ROOM, {"weights_bytes": weights, "room_bytes": room}
        )

    # --- serving -------------------------------------------------------------------------------------------------

    def _throughput(self, name: str) -> Variant:
        claim, cards = self.claim, self.claim.cards[0]
        claimed = claim.value * (cards.total if claim.scope == "gpu" else 1)
        scope = claim.scope
        if not scope and (claim.runtime in _DESKTOP or self._weights(self._gpu(name)) in compatibility.GGUF_FORMATS):
            # What runs on a desktop is claimed for one reader.
            scope = "user"
        variant = self._rate(name, claimed, None, claim.batch, scope, claim.counts_prompt)
        if variant.verdict == "pessimistic" and not scope and claim.batch is None:
            other = self._rate(name, claimed, None, None, "user", claim.counts_prompt)
            if other.verdict == "holds":
                variant, scope = other, "user"
        if scope != claim.scope:
            variant = variant._replace(assumptions=(*variant.assumptions, Said("one_reader_taken")))
        if claim.scope == "gpu":
            variant = self._divided(variant, cards.total)
        if variant.verdict not in ("optimistic", "impossible", "cannot_tell"):
            return variant
        silent: list[Said] = []
        stated: list[Said] = []
        width = _LOWER.get(_WIDTH.get(self._weights(self._gpu(name)), ""))
        while width is not None:
            other = self._rate(name, claimed, width, claim.batch, scope, claim.counts_prompt)
            if other.verdict in ("holds", "pessimistic"):
                (stated if claim.weights else silent).append(
                    Said("use_weights", {"weights": self._weights(self._gpu(name), width), **_figure(other)})
                )
                break
            width = _LOWER.get(width)
        if claim.batch is not None or scope == "user":
            other = self._rate(name, claimed, None, None, "all", claim.counts_prompt)
            if other.verdict in ("holds", "pessimistic"):
                key = "aggregate" if scope == "user" else "larger_batch"
                stated.append(Said(key, _figure(other)))
        if not claim.counts_prompt and scope != "user" and claim.prompt is not None:
            other = self._rate(name, claimed, None, claim.batch, scope, True)
            if other.verdict in ("holds", "pessimistic"):
                silent.append(Said("prompt_counted", _figure(other)))
        offload = (
            self._offloaded(name, claimed) if any(b.key == "memory" and b.broken for b in variant.bounds) else None
        )
        if offload is not None:
            (stated if claim.weights and not silent else silent).append(offload)
        return _conditioned(variant, silent, stated)

    def _divided(self, variant: Variant, cards: int) -> Variant:
        limits = tuple(
            bound._replace(limit=bound.limit / cards) if bound.key != "memory" else bound for bound in variant.bounds
        )
        return variant._replace(figure=scaled(variant.figure, 1.0 / cards), bounds=limits)

    def _rate(
        self, name: str, claimed: float, width: str | None, batch: float | None, scope: str, with_prompt: bool
    ) -> Variant:
        """Output rate against band and ceilings. With one reader a rate is that of a lone request, unless a batch is
        stated."""
        cards = self.claim.cards[0]
        flight_asked = 1.0 if scope == "user" and batch is None else batch
        served = self._quickest(
            name, cards, width, flight_asked, lambda result: _rate_of(result, scope == "user", batch).value or 0.0
        )
        assumptions = self._assumed(name, served)
        variant = Variant(
            name, "", "cannot_tell", NOT_KNOWN, assumptions=assumptions, workload=served.workload,
            scenarios=(served.scenario,),
        )  # fmt: skip
        if served.wide is None:
            return variant._replace(missing=self._refusal(served.result.refusal))
        case, result = served.wide, served.result
        held = self._memory_bound(case)
        if held.broken:
            return variant._replace(verdict="impossible", bounds=(held,))
        total = float(served.workload.prompt_tokens + served.workload.answer_tokens) / served.workload.answer_tokens
        share = total if with_prompt else 1.0
        context = case.run.input + case.run.output / 2.0
        most = float(bounds.sequences_at_most(case)[0])
        flight = np.array([max(min(batch, most) if batch is not None else most, 1.0)])
        if scope == "user":
            one = np.array([batch or 1.0])
            floor = bounds.decode_floor(case, one, context)
            by_memory, by_compute = 1.0 / float(floor.memory[0]), 1.0 / float(floor.compute[0])
            read = float(bounds.step_bytes(case, one, context)[0])
            flight = one
        else:
            floor = bounds.request_floor(case, flight)
            answer = float(case.run.output[0]) * share
            by_memory, by_compute = answer / float(floor.memory[0]), answer / float(floor.compute[0])
            read = float(bounds.step_bytes(case, flight, context)[0])
        speed = float((bounds.devices(case) * case.gpu.bandwidth)[0])
        peak = float((bounds.devices(case) * bounds.peak(case))[0])
        limits = [
            Bound(
                "bandwidth", by_memory, claimed > by_memory * bounds.MEMORY_ROOM,
                {"read_bytes": read, "batch": float(flight[0]), "speed_bytes_s": speed, "limit_tokens_s": by_memory},
            ),
            Bound(
                "compute", by_compute, claimed > by_compute * bounds.CLOCK_ROOM,
                {"peak_flops": peak, "limit_tokens_s": by_compute},
            ),
        ]  # fmt: skip
        limits = [limit for limit in limits if np.isfinite(limit.limit)]
        limits.sort(key=lambda bound: bound.limit)
        broken = any(limit.broken for limit in limits)
        figure = scaled(_rate_of(result, scope == "user", batch), 1.0 if scope == "user" else share)
        figure, missing = self._shown(result, figure)
        if missing is None and scope == "" and batch is None:
            single = result.single_stream_tokens_s.value or 0.0
            assumptions = (*assumptions, Said("best_batch", {"batch": result.batch, "single_tokens_s": single}))
        verdict = self._verdict(claimed, figure, broken, result)
        return variant._replace(
            verdict=verdict, figure=figure, bounds=tuple(limits), missing=missing, assumptions=assumptions
        )

    def _offloaded(self, name: str, claimed: float) -> Said | None:
        """What main memory would have to give if the experts lay there: possible for one reader on the fastest host."""
        llm = self._llm
        if llm.moe is None or claimed <= 0:
            return None
        count = cases.parameters(llm)
        size = cases.WEIGHT_FORMATS["q4_k_m"].bits / 8.0
        read = llm.moe.experts_per_token * count.expert * size
        hosts = [cpu.memory_bandwidth_bytes_s.value * min(cpu.max_sockets, 2) for cpu in self.catalog.cpus.values()]
        need = claimed * read
        if not hosts or need > max(hosts):
            return None
        return Said("offload_experts", {"read_bytes": read, "speed_bytes_s": need, "host_bytes_s": max(hosts)})

    def _prefill(self, name: str) -> Variant:
        claim, cards = self.claim, self.claim.cards[0]
        served = self._quickest(name, cards, None, 1.0, lambda result: _prefill_rate(result).value or 0.0)
        variant = Variant(
            name, "", "cannot_tell", NOT_KNOWN, assumptions=self._assumed(name, served), workload=served.workload,
            scenarios=(served.scenario,),
        )  # fmt: skip
        if served.wide is None:
            return variant._replace(missing=self._refusal(served.result.refusal))
        case = served.wide
        floor = bounds.prefill_floor(case, case.run.input, np.ones(1))
        limit = float(case.run.input[0] / floor.compute[0])
        peak = float((bounds.devices(case) * bounds.peak(case))[0])
        bound = Bound(
            "compute", limit, claim.value > limit * bounds.CLOCK_ROOM, {"peak_flops": peak, "limit_tokens_s": limit}
        )
        figure, missing = self._shown(served.result, _prefill_rate(served.result))
        verdict = self._verdict(claim.value, figure, bound.broken, served.result)
        variant = variant._replace(verdict=verdict, figure=figure, bounds=(bound,), missing=missing)
        return self._lowered(variant, name)

    def _lowered(self, variant: Variant, name: str) -> Variant:
        """With the condition that 8-bit weights and arithmetic are meant, where that is not excluded and would do."""
        claim, gpu = self.claim, self._gpu(name)
        if variant.verdict not in ("optimistic", "impossible") or claim.weights or "fp8" not in gpu.peak_flops:
            return variant
        if self._weights(gpu) == "fp8":
            return variant
        again = _Checker(claim._replace(weights="8-bit"), self.catalog, self.plan)
        method = {"prefill": again._prefill, "first_token": again._first_token, "per_token": again._per_token}
        other = method[claim.kind](name)
        if other.verdict not in ("holds", "pessimistic"):
            return variant
        return _conditioned(variant, [Said("use_weights", {"weights": "fp8", **_figure(other)})], [])

    def _first_token(self, name: str) -> Variant:
        claim, cards = self.claim, self.claim.cards[0]
        batch = claim.batch or 1.0
        served = self._quickest(name, cards, None, batch, lambda result: 1.0 / (_first(result, batch).value or np.inf))
        variant = Variant(
            name, "", "cannot_tell", NOT_KNOWN, assumptions=self._assumed(name, served), workload=served.workload,
            scenarios=(served.scenario,), lower=True,
        )  # fmt: skip
        if claim.batch is None:
            variant = variant._replace(assumptions=(*variant.assumptions, Said("idle_server")))
        if served.wide is None:
            return variant._replace(missing=self._refusal(served.result.refusal))
        case, result = served.wide, served.result
        held = self._memory_bound(case)
        if held.broken:
            return variant._replace(verdict="impossible", bounds=(held,))
        floor = bounds.prefill_floor(case, case.run.input, np.ones(1))
        seconds = float(floor.compute[0])
        peak = float((bounds.devices(case) * bounds.peak(case))[0])
        work = float(bounds.prompt_flop(case, case.run.input)[0])
        bound = Bound(
            "compute", seconds, claim.value < seconds / bounds.CLOCK_ROOM,
            {"work_flop": work, "peak_flops": peak, "limit_s": seconds},
        )  # fmt: skip
        figure, missing = self._shown(result, _first(result, batch))
        verdict = self._verdict(claim.value, figure, bound.broken, result, lower=True)
        variant = variant._replace(verdict=verdict, figure=figure, bounds=(bound,), missing=missing)
        return self._lowered(variant, name)

    def _per_token(self, name: str) -> Variant:
        claim = self.claim
        rate = self._rate(name, 1.0 / claim.value, None, claim.batch, "user", False)
        limits = tuple(
            bound if bound.key == "memory" else bound._replace(limit=1.0 / bound.limit) for bound in rate.bounds
        )
        figure = quotient(exact(1.0), rate.figure)
        return self._lowered(rate._replace(
            figure=figure, bounds=tuple(sorted(limits, key=lambda bound: -bound.limit)), lower=True
        ), name)  # fmt: skip

    # --- memory --------------------------------------------------------------------------------------------------

    def _memory(self, name: str) -> Variant:
        if self.claim.work in ("train", "finetune"):
            return self._training_memory(name)
        return self._fits(name)

    def _fits(self, name: str) -> Variant:
        claim, cards, gpu = self.claim, self.claim.cards[0], self._gpu(name)
        variant = self._fit(name, None, "")
        if claim.negated:
            return variant._replace(verdict=_negated(variant.verdict))
        if variant.verdict not in ("optimistic", "impossible", "cannot_tell"):
            return variant
        silent: list[Said] = []
        stated: list[Said] = []
        if not claim.runtime and cards.total <= 2:
            other = self._fit(name, None, _DESKTOP_RUNTIME)
            if other.verdict in ("holds", "pessimistic"):
                silent.append(Said("use_runtime", {"runtime": _DESKTOP_RUNTIME}))
        width = _LOWER.get(_WIDTH.get(self._weights(gpu), ""))
        found = bool(silent)
        while width is not None and not found:
            for runtime in ("", _DESKTOP_RUNTIME) if not claim.runtime and cards.total <= 2 else ("",):
                other = self._fit(name, width, runtime)
                if other.verdict in ("holds", "pessimistic"):
                    weights = self._weights(gpu, width)
                    (stated if claim.weights else silent).append(Said("fits_with", {"weights": weights}))
                    found = True
                    break
            width = _LOWER.get(width)
        if not found and variant.bounds:
            count = cases.parameters(self._llm)
            two = count.total * cases.WEIGHT_FORMATS[_TWO_BIT].bits / 8.0
            room = cards.total * gpu.gpus_per_card * _usable(gpu, self.calibration)
            if two * 1.1 < room:
                said = Said("two_bit", {"weights_bytes": two, "room_bytes": room})
                (stated if claim.weights else silent).append(said)
            else:
                stated.append(Said("main_memory"))
        return _conditioned(variant, silent, stated)

    def _fit(self, name: str, width: str | None, runtime: str) -> Variant:
        cards = self.claim.cards[0]
        served = self._serve(name, cards, width, 1.0, "", runtime)
        variant = Variant(
            name, "", "cannot_tell", NOT_KNOWN, assumptions=self._assumed(name, served), workload=served.workload,
            scenarios=(served.scenario,), lower=True,
        )  # fmt: skip
        result = served.result
        if served.wide is None:
            return variant._replace(missing=self._refusal(result.refusal))
        held = self._memory_bound(served.wide)
        devices = float(bounds.devices(served.wide)[0])
        if held.broken:
            weights = float(memory.weight_bytes(served.wide)[0])
            return variant._replace(verdict="impossible", bounds=(held,), figure=exact(weights, "predicted"))
        assert served.case is not None
        use = result.memory
        if use is None:
            return variant._replace(missing=self._refusal(result.refusal), bounds=(held,))
        figure = scaled(result.memory_share, use.usable * devices)
        verdict = "optimistic" if result.fits.status == "fail" else "holds"
        usable = use.usable * devices
        bound = Bound("usable", usable, False, {"need_bytes": figure.value or 0.0, "room_bytes": usable})
        return variant._replace(verdict=verdict, figure=figure, bounds=(bound, held))

    def _need(self) -> Variant:
        """How much memory a model needs, whatever the card: its weights, and room for cache and software."""
        claim, name = self.claim, _USUAL_PAIR[0]
        weights, taken = self._weight_bytes(name, None)
        if weights is None:
            return self._missing("no_cards")
        figure = between(weights, weights, _WITH_CACHE * weights, "predicted")
        bound = Bound(
            "weights", weights, claim.value * bounds.MEMORY_ROOM < weights, {"weights_bytes": weights, "weights": taken}
        )
        said = [] if claim.weights else [Said("weights_taken", {"weights": taken})]
        if claim.llm_by_size:
            said.append(Said("llm_by_size", {"llm": claim.llm}))
        variant = Variant(
            claim.llm, "", judge(claim.value, figure, bound.broken, lower=True), figure, (bound,), (), tuple(said),
            lower=True,
        )  # fmt: skip
        width = _LOWER.get(_WIDTH.get(taken, ""))
        while variant.verdict in ("impossible", "optimistic") and width is not None:
            smaller, other = self._weight_bytes(name, width)
            if smaller is not None and claim.value * bounds.MEMORY_ROOM >= smaller:
                condition = Said("weights_of", {"weights": other, "weights_bytes": smaller})
                return _conditioned(variant, [] if claim.weights else [condition], [condition])
            width = _LOWER.get(width)
        return variant

    def _weight_bytes(self, name: str, width: str | None) -> tuple[float | None, str]:
        if name not in self.catalog.gpus:
            return None, ""
        served = self._serve(name, Cards((), "", _IN_A_SERVER), width, 1.0)
        return (None if served.wide is None else float(memory.weight_bytes(served.wide)[0])), served.weights

    def _training_memory(self, name: str) -> Variant:
        claim, cards = self.claim, self.claim.cards[0]
        workload, scenario, result, _seen = self._trained(name, cards, claim.llm)
        variant = Variant(
            name, claim.work, "cannot_tell", NOT_KNOWN, assumptions=self._assumed(name), workload=workload,
            scenarios=(scenario,), lower=True,
        )  # fmt: skip
        if result.choice is None or result.memory is None:
            return variant._replace(missing=self._refusal(result.refusal))
        usable = result.memory.usable
        need = scaled(result.memory_share, usable)
        bound = Bound("usable", usable, False, {"need_bytes": need.value or 0.0, "room_bytes": usable})
        verdict = "optimistic" if result.fits.status == "fail" else "holds"
        if claim.negated:
            verdict = _negated(verdict)
        return variant._replace(verdict=verdict, figure=need, bounds=(bound,))

    # --- training ------------------------------------------------------------------------------------------------

    def _training_run(self, name: str, cards: Cards, llm: str, weights: str = "") -> _Trained:
        """Evaluate a training run on these cards."""
        claim = self.claim
        workload: FineTune | Train
        if claim.work == "finetune":
            text = claim.text.casefold()
            method = "qlora" if "qlora" in text else "full" if "full" in text or "全参" in text else "lora"
            workload = FineTune(
                id=_WORK, llm=(llm,), method=method, tokens_per_epoch=claim.tokens or _FINETUNE_TOKENS, epochs=1
            )
        else:
            workload = Train(id=_WORK, llm=(llm,), tokens=min(claim.tokens or _TRAIN_TOKENS, 1e18))
        gpu = self._gpu(name)
        asked = self._weights(gpu, weights or self.claim.weights or "16-bit")
        compute = asked if asked in ("bf16", "fp16", "fp8", "fp32", "tf32") else "auto"
        run = Run(workload=_WORK, runtime=claim.runtime or "auto", compute=compute)
        scenario = Scenario(letter="A", name=claim.text[:200], groups=(self._group(name, cards, (run,)),))
        trained: fitting.Trained = fitting.trained(
            workload, scenario.groups[0], scenario.network, run, self.catalog.llms[llm], self.catalog
        )
        return _Trained(workload, scenario, trained.result, trained.evidence)

    def _train_floor(self, name: str, cards: Cards, llm: Llm, sequence: float, frozen: bool, peak: float) -> float:
        """Most tokens a second at the dense peak of all cards."""
        columns = cases.LlmColumns(*cases.llm_columns(llm))
        per_parameter = 4.0 if frozen else 6.0
        seen = np.where(columns.window > 0, np.minimum(sequence, 2.0 * np.maximum(columns.window, 1.0)), sequence)
        attention = per_parameter / 4.0 * (sequence * columns.prefill_full + seen * columns.prefill_window)
        return cards.total * peak / float(per_parameter * columns.active + attention)

    def _peak_of(self, gpu: Gpu, compute: str) -> float | None:
        fact = gpu.peak_flops.get(compute)  # type: ignore[call-overload]
        return fact.value if fact is not None else dense16(gpu)

    def _training(self, name: str) -> Variant:
        claim, cards, gpu = self.claim, self.claim.cards[0], self._gpu(name)
        lower = claim.kind == "training_time"
        if lower and claim.tokens is None:
            return self._missing("no_tokens", name)
        workload, scenario, result, _seen = self._trained(name, cards, claim.llm)
        said = list(self._assumed(name))
        if not claim.weights:
            said.append(Said("sixteen_bit"))
        variant = Variant(
            name, claim.work, "cannot_tell", NOT_KNOWN, assumptions=tuple(said), workload=workload,
            scenarios=(scenario,), lower=lower,
        )  # fmt: skip
        compute = result.choice.compute if result.choice is not None else self._weights(gpu, claim.weights or "16-bit")
        peak = self._peak_of(gpu, compute)
        if peak is None:
            return variant._replace(missing=Said("no_peak", {"gpu": name}))
        frozen = isinstance(workload, FineTune) and workload.method != "full"
        most = self._train_floor(name, cards, self._llm, float(workload.sequence_tokens), frozen, peak)
        total = claim.tokens or 0.0
        limit = total / most if lower else most
        broken = claim.value < limit / bounds.CLOCK_ROOM if lower else claim.value > limit * bounds.CLOCK_ROOM
        numbers: dict[str, float | str] = {"peak_flops": peak * cards.total, "limit_tokens_s": most}
        if lower:
            numbers["limit_s"] = limit
            numbers["work_flop"] = peak * cards.total * limit
        bound = Bound("compute", limit, broken, numbers)
        figure = result.duration_s if lower else result.tokens_s
        figure, missing = self._shown(result, figure)
        verdict = self._verdict(claim.value, figure, broken, result, lower)
        variant = variant._replace(verdict=verdict, figure=figure, bounds=(bound,), missing=missing)
        if variant.verdict in ("optimistic", "impossible") and compute in ("bf16", "fp16") and "fp8" in gpu.peak_flops:
            other = self._trained(name, cards, claim.llm, "fp8").result
            figure = other.duration_s if lower else other.tokens_s
            if judge(claim.value, figure, False, lower) in ("holds", "pessimistic"):
                condition = Said("use_weights", {"weights": "fp8", **_figure_of(figure, lower)})
                silent = [] if claim.weights else [condition]
                return _conditioned(variant, silent, [condition] if claim.weights else [])
        return variant

    def _mfus(self) -> tuple[Variant, ...]:
        """A utilisation: of the cards that are named, else of the usual ones."""
        claim = self.claim
        cards = claim.cards[0] if claim.cards else Cards(_USUAL_PAIR, "", _MFU_CARDS)
        if not cards.counted:
            cards = cards._replace(per_server=_MFU_CARDS)
        llm = claim.llm or _USUAL_LLM
        found = []
        for name in cards.names:
            workload, scenario, result, _seen = self._trained(name, cards, llm)
            said = [] if claim.llm and claim.cards else [
                Said("mfu_setting", {"llm": llm, "count": cards.total, "gpu": name})
            ]  # fmt: skip
            bound = Bound("whole_peak", 1.0, claim.value > 1.0)
            figure, missing = self._shown(result, result.mfu)
            variant = Variant(
                name, "train", self._verdict(claim.value, figure, bound.broken, result), figure, (bound,), (),
                tuple(said), missing, workload, (scenario,),
            )  # fmt: skip
            if variant.verdict == "optimistic" and claim.value <= (result.mfu.high or 0.0) * 4.0 / 3.0:
                variant = _conditioned(variant, [], [Said("recompute_counted")])
            found.append(variant)
        return tuple(found)

    # --- ratios --------------------------------------------------------------------------------------------------

    def _pairs(self) -> list[tuple[str, str]]:
        """The cards that are compared: each form of the first with the same form of the second, the larger memory."""
        first, second = self.claim.cards[0], self.claim.cards[1]
        pairs = []
        for name in first.names:
            form = self._gpu(name).form_factor[:3]
            same = [other for other in second.names if self._gpu(other).form_factor[:3] == form and form]
            other = max(same or second.names, key=lambda each: (self._gpu(each).memory_bytes.value, each))
            pairs.append((name, other, bool(same)))
        matched = [(one, two) for one, two, alike in pairs if alike]
        return matched or [(one, two) for one, two, _alike in pairs]

    def _ratios(self) -> tuple[Variant, ...]:
        claim = self.claim
        if claim.work in ("train", "finetune"):
            works: Sequence[str] = (claim.work,)
        elif claim.work:
            works = (claim.work,) if claim.work != "serve" else ("serve", "decode")
        else:
            # A job that takes a day is a run; a card that is so many times another may be that at anything.
            works = ("train",) if claim.kind == "speedup" else ("train", "serve", "decode", "prefill")
        return tuple(self._ratio(one, two, work) for one, two in self._pairs() for work in works)

    def _ratio(self, one: str, two: str, work: str) -> Variant:
        """How the first card (times its number) stands to the second at one kind of work."""
        claim = self.claim
        a, b = self._gpu(one), self._gpu(two)
        first, second = claim.cards[:2]
        # A machine by its name against a card: card by card.
        per_card = bool(first.server) != bool(second.server) and not (first.counted and second.counted)
        count = 1.0 if per_card else first.total / second.total
        width = claim.weights or "16-bit"
        name = f"{one} : {two}"
        figure, workload, scenarios, missing = self._relation(one, two, work, width, width)
        figure = scaled(figure, count)
        said = [Said("ratio_setting", {"llm": workload.llm[0], "weights": self._weights(a, width)})] if workload else []
        if per_card:
            said.append(Said("per_card"))
        if count != 1.0:
            said.append(Said("perfect_scaling", {"ratio": count}))
        compute = self._data_sheet(a, b, width, width)
        bandwidth = _quotient(a.memory_bandwidth_bytes_s, b.memory_bandwidth_bytes_s)
        size = _quotient(a.memory_bytes, b.memory_bytes)
        limits: list[Bound] = []
        parts: list[tuple[str, float | None]] = [("ratio_compute", compute)]
        if work in ("decode", "serve"):
            parts.append(("ratio_bandwidth", bandwidth))
        if work == "serve":
            parts.append(("ratio_memory", size))
        most = max((value for _key, value in parts if value is not None), default=float("inf")) * count
        # What a model leaves of two memories can be further apart than any figure of the data sheets.
        if work == "serve" and figure.high is not None:
            most = max(most, figure.high)
        for key, value in parts:
            if value is not None:
                limits.append(
                    Bound(key, most, claim.value > most * bounds.CLOCK_ROOM, {"ratio": value, "count": count})
                )
        variant = Variant(
            name, work, judge(claim.value, figure, any(limit.broken for limit in limits)), figure, tuple(limits), (),
            tuple(said), missing, workload, scenarios,
        )  # fmt: skip
        if variant.verdict not in ("optimistic", "impossible"):
            return variant
        conditions = []
        if "fp8" in a.peak_flops and self._weights(a, width) in ("bf16", "fp16") and work != "decode":
            other, _w, _s, _m = self._relation(one, two, work, "8-bit", width)
            other = scaled(other, count)
            if other.high is not None and claim.value <= other.high:
                conditions.append(Said("low_precision_one_side", {"gpu": one, "weights": "fp8", **_ratio_of(other)}))
        mixed = self._data_sheet(a, b, "8-bit", width)
        sparse = [(compute, _SPARSE), (mixed, 1.0), (mixed, _SPARSE)]
        for value, factor in sparse:
            if value is not None and abs(claim.value / (value * factor * count) - 1.0) < _SAME_FIGURE:
                conditions.append(Said("data_sheet_ratio", {"ratio": value * factor * count}))
                break
        return _conditioned(variant, [] if claim.weights else conditions, conditions if claim.weights else [])

    def _relation(
        self, one: str, two: str, work: str, width: str, other_width: str
    ) -> tuple[Figure, Workload | None, tuple[Scenario, ...], Said | None]:
        """The ratio of two cards, one for one, with the band of a ratio."""
        small = min(self._gpu(one).memory_bytes.value, self._gpu(two).memory_bytes.value)
        first: _Served | _Trained
        second: _Served | _Trained
        if work in ("train", "finetune"):
            llm = self.claim.llm or (_USUAL_LLM if small >= _HOLDS_TRAINING else _SMALL_LLM)
            cards = Cards((), "", _IN_A_SERVER)
            first, second = self._trained(one, cards, llm, width), self._trained(two, cards, llm, other_width)
            over, under = first.result.tokens_s.value, second.result.tokens_s.value
            family = "finetune" if work == "finetune" else "training"
        else:
            llm = self.claim.llm or (_USUAL_LLM if small >= _HOLDS_SERVING else _SMALL_LLM)
            cards = Cards((), "", self._enough(llm, small, max(width, other_width, key=_bits)))
            batch = None if work == "serve" else 1.0
            # The lengths of the page that compares cards, so that both say the same.
            prompt = self.claim.prompt or card_ratio.PROMPT
            first = self._serve(one, cards, width, batch, llm, "", prompt)
            second = self._serve(two, cards, other_width, batch, llm, "", prompt)
            name, family = _RATIO_OF[work]
            over, under = getattr(first.result, name).value, getattr(second.result, name).value
        both = (first.scenario, second.scenario)
        if not over or not under or first.evidence is None or second.evidence is None:
            _nothing, why = self._shown(first.result if not over else second.result, NOT_KNOWN)
            return NOT_KNOWN, first.workload, both, why
        factor = evidence.ratio_factor(self.calibration, family, first.evidence, second.evidence)
        return spread(over / under, factor), first.workload, both, None

    def _enough(self, llm: str, memory_bytes: float, width: str) -> int:
        """Cards that hold the model with a quarter to spare: a power of two."""
        need = cases.parameters(self.catalog.llms[llm]).total * _bits(width) / 8.0 * 1.25
        return next((count for count in (1, 2, 4, 8, 16) if count * memory_bytes >= need), 32)

    def _data_sheet(self, a: Gpu, b: Gpu, width: str, other: str) -> float | None:
        """Ratio of the dense peaks."""

        def rate(gpu: Gpu, asked: str) -> float | None:
            fact = gpu.peak_flops.get(self._weights(gpu, asked))  # type: ignore[call-overload]
            return fact.value if fact is not None else None

        over, under = rate(a, width), rate(b, other)
        return over / under if over and under else None

    def _speedup_of_nothing(self) -> Variant:
        """A speed-up without cards: what one generation gives, and how many cards it would take."""
        claim = self.claim
        if not all(name in self.catalog.gpus for name in _USUAL_PAIR):
            return self._missing("which_cards", numbers={"ratio": claim.value})
        again = _Checker(claim._replace(cards=tuple(Cards((n,), "") for n in _USUAL_PAIR)), self.catalog, self.plan)
        figure, _workload, _scenarios, _missing = again._relation(*_USUAL_PAIR, "train", "16-bit", "16-bit")
        numbers: dict[str, float | str] = {"ratio": claim.value}
        if figure.value:
            numbers |= {
                "generation": figure.value, "count": float(np.ceil(claim.value / figure.value)),
                "gpu": _USUAL_PAIR[0], "other": _USUAL_PAIR[1],
            }  # fmt: skip
        return self._missing("which_cards", numbers=numbers)

    # --- money, power, data sheets -------------------------------------------------------------------------------

    def _price(self, name: str) -> Variant:
        claim, cards = self.claim, self.claim.cards[0]
        assert claim.money is not None
        country = self.plan.country or ("CN" if claim.money.currency == "CNY" else "")
        exchange = cost.Exchange(self.plan, self.catalog)
        rate = exchange.rate(claim.money.currency)
        if rate is None:
            return self._missing("exchange_rate", name)
        if claim.condition == "rented":
            return self._rent(name, exchange, rate)
        prices: dict[str, tuple[Figure, str]] = {}
        for condition in ("new", "used"):
            if cards.whole:
                group = self._group(name, cards, condition=condition)
                hard = hardware.resolved(group, Network(), self.catalog)
                price, date, _how = cost.server_price(group, hard, country, self.catalog, exchange)
                price = scaled(price, float(group.servers))
            else:
                price, date, _how = cost.card_price(self._gpu(name), condition, None, country, self.catalog, exchange)
                price = scaled(price, float(cards.total))
            # In the currency that was typed.
            prices[condition] = scaled(price, 1.0 / rate), date
        asked = claim.condition or "new"
        figure, date = prices[asked]
        said = [Said("country", {"country": country})] if country and not self.plan.country else []
        if not claim.condition:
            said.append(Said("condition_new"))
        if date:
            said.append(Said("price_date", {"date": date}))
        lows = [price.low for price, _date in prices.values() if price.low is not None]
        amount = claim.money.amount
        limit = min(lows, default=0.0)
        bound = Bound("price", limit, amount < limit, {"low": limit, "currency": claim.money.currency})
        verdict = judge(amount, figure, bound.broken and bool(lows), lower=True)
        placed = self._group(name, cards, condition=asked)
        variant = Variant(
            name, "", verdict, figure, (bound,) if lows else (), (), tuple(said),
            Said("no_price", {"gpu": name}) if figure.value is None else None, None,
            (Scenario(letter="A", name=claim.text[:200], groups=(placed,)),), True,
        )  # fmt: skip
        used = prices["used"][0]
        if verdict == "optimistic" and used.low is not None and amount >= used.low and asked == "new":
            condition_said = Said(
                "second_hand",
                {"low": used.low, "high": used.high or used.low, "currency": claim.money.currency},
            )
            return _conditioned(variant, [] if claim.condition else [condition_said], [condition_said])
        return variant

    def _rent(self, name: str, exchange: cost.Exchange, rate: float) -> Variant:
        """Price of an hour of cards in a cloud."""
        claim, cards = self.claim, self.claim.cards[0]
        hour, date = cost.cloud_price(self._gpu(name), self.catalog, exchange)
        figure = scaled(hour, cards.total / rate)
        said = (Said("per_hour"), *((Said("price_date", {"date": date}),) if date else ()))
        placed = self._group(name, cards, condition="rented")
        return Variant(
            name, "", judge(claim.value, figure, False, lower=True), figure, (), (), said,
            Said("no_price", {"gpu": name}) if figure.value is None else None, None,
            (Scenario(letter="A", name=claim.text[:200], groups=(placed,)),), True,
        )  # fmt: skip

    def _power(self, name: str) -> Variant:
        claim, cards = self.claim, self.claim.cards[0]
        board = self._gpu(name).board_power_w
        if board is not None and not cards.whole:
            limit = board.value * cards.total
            if abs(claim.value / limit - 1.0) < _SAME_FIGURE:
                bound = Bound("board_power", limit, False, {"value_w": limit})
                return Variant(name, "", "holds", exact(limit, "known"), (bound,), lower=True)
        llm = claim.llm or (_USUAL_LLM if self._gpu(name).memory_bytes.value >= _HOLDS_SERVING else _SMALL_LLM)
        served = self._serve(name, cards, "16-bit" if not claim.weights else None, None, llm)
        room = evaluate(self._plan(served.workload, served.scenario), self.catalog).scenarios[0].room
        figure, idle = room.it_load_w, room.groups[0].idle_w if room.groups else NOT_KNOWN
        plate = room.it_nameplate_w
        said = (*self._assumed(name), Said("at_load", {"llm": llm}))
        gpu = self._gpu(name)
        variant = Variant(
            name, "", "cannot_tell", figure, assumptions=said, workload=served.workload,
            scenarios=(served.scenario,), lower=True,
        )  # fmt: skip
        if figure.value is None or idle.low is None:
            return variant._replace(missing=Said("no_power", {"gpu": name}))
        broken = claim.value < idle.low
        bound = Bound("idle_power", idle.low, broken, {"value_w": idle.low})
        verdict = judge(claim.value, figure, broken, lower=True)
        stated: list[Said] = []
        if gpu.board_power_w is not None and verdict == "optimistic":
            cards_w = gpu.board_power_w.value * cards.total
            if abs(claim.value / cards_w - 1.0) < 0.1 or claim.value < cards_w:
                stated.append(Said("cards_alone", {"value_w": cards_w}))
        if plate.value is not None:
            stated.append(Said("nameplate", {"value_w": plate.value}))
        return _conditioned(variant._replace(verdict=verdict, bounds=(bound,)), [], stated)

    def _peak(self, name: str) -> Variant:
        claim, gpu = self.claim, self._gpu(name)
        total = claim.cards[0].total
        formats = [self._weights(gpu, claim.weights)] if claim.weights else list(gpu.peak_flops)
        known = {each: gpu.peak_flops[each].value * total for each in formats if each in gpu.peak_flops}  # type: ignore[index]
        if claim.weights in ("fp16", "bf16", "16-bit") and dense16(gpu):
            known = {"fp16": (dense16(gpu) or 0.0) * total}
        if claim.weights in ("fp16",) and "fp16_acc16" in gpu.peak_flops:
            known["fp16_acc16"] = gpu.peak_flops["fp16_acc16"].value * total
        if not known:
            return self._missing("no_peak", name, {"gpu": name})
        for each, value in known.items():
            if abs(claim.value / value - 1.0) < _SAME_FIGURE:
                bound = Bound("dense_peak", value, False, {"weights": each, "peak_flops": value})
                return Variant(name, "", "holds", exact(value, "known"), (bound,))
        for each, value in known.items():
            if abs(claim.value / (value * _SPARSE) - 1.0) < _SAME_FIGURE and serving.has_sparse_units(gpu):
                bound = Bound("dense_peak", value, True, {"weights": each, "peak_flops": value})
                said = Said("sparse_figure", {"peak_flops": value, "claimed_flops": claim.value})
                return Variant(name, "", "only_if", exact(value, "known"), (bound,), (said,))
        nearest = min(known, key=lambda each: abs(np.log(claim.value / known[each])))
        value = known[nearest]
        broken = claim.value > max(known.values())
        bound = Bound("dense_peak", value, broken, {"weights": nearest, "peak_flops": value})
        verdict = "impossible" if broken else "pessimistic" if claim.weights else "cannot_tell"
        missing = Said("which_format") if verdict == "cannot_tell" else None
        return Variant(name, "", verdict, exact(value, "known"), (bound,), missing=missing)

    def _bandwidth(self, name: str) -> Variant:
        claim, gpu = self.claim, self._gpu(name)
        if gpu.memory_bandwidth_bytes_s is None:
            return self._missing("no_bandwidth", name, {"gpu": name})
        value = gpu.memory_bandwidth_bytes_s.value * claim.cards[0].total
        away = claim.value / value - 1.0
        verdict = "holds" if abs(away) < _SAME_FIGURE else "impossible" if away > 0 else "pessimistic"
        bound = Bound("data_sheet_bandwidth", value, verdict == "impossible", {"speed_bytes_s": value})
        return Variant(name, "", verdict, exact(value, "known"), (bound,))


def _rate_of(result: ServeResult, one_reader: bool, batch: float | None) -> Figure:
    """Output rate of all requests together at the batch (or at best), or of one reader among them."""
    if one_reader:
        return quotient(exact(1.0), result.per_token_s) if batch is not None else result.single_stream_tokens_s
    return result.output_tokens_s_limit if batch is None else scaled(result.output_tokens_s_limit, result.utilisation)


def _prefill_rate(result: ServeResult) -> Figure:
    """Prompt tokens a second of all copies, which read side by side."""
    return scaled(result.prefill_tokens_s, float(result.choice.dp)) if result.choice is not None else NOT_KNOWN


def _first(result: ServeResult, batch: float) -> Figure:
    return result.first_token_idle_s if batch <= 1.0 else result.first_token_s


def _bits(width: str) -> float:
    layout = cases.WEIGHT_FORMATS.get("fp32" if width == "tf32" else width)
    return layout.bits if layout is not None else float(width.split("-")[0])


def _quotient(first: Any, second: Any) -> float | None:
    return first.value / second.value if first is not None and second is not None and second.value else None


def _usable(gpu: Gpu, calibration: Calibration) -> float:
    return cases.usable_memory(gpu, calibration.architecture(gpu.architecture))


def _negated(verdict: str) -> str:
    return {"holds": "impossible", "impossible": "holds", "optimistic": "holds"}.get(verdict, verdict)


def _conditioned(variant: Variant, silent: list[Said], stated: list[Said]) -> Variant:
    """With what would make it true. Where the claim left that open, it is true under that condition."""
    verdict = variant.verdict
    if silent and verdict in ("optimistic", "impossible", "cannot_tell"):
        verdict = "only_if"
    every = tuple(dict.fromkeys((said.key, tuple(said.numbers.items())) for said in (*silent, *stated)))
    return variant._replace(verdict=verdict, conditions=tuple(Said(key, dict(numbers)) for key, numbers in every))


def _figure(variant: Variant) -> dict[str, float | str]:
    return _figure_of(variant.figure, variant.lower)


def _figure_of(figure: Figure, lower: bool) -> dict[str, float | str]:
    """Our figure for a sentence: a rate or a time."""
    if figure.value is None:
        return {}
    return {"then_s": figure.value} if lower else {"then_tokens_s": figure.value}


def _ratio_of(figure: Figure) -> dict[str, float | str]:
    return {} if figure.value is None else {"ratio": figure.value}


class NoLetter(ValueError):
    """A plan has no letter left for the scenarios of a claim."""


def put_into(plan: Plan, variant: Variant) -> tuple[Plan, str]:
    """The plan with the configuration of a claim in it, and the letter of its first scenario.

    A workload that the plan already has, but for its name, is used again. Raises `NoLetter` where all letters are
    taken.
    """
    taken = {scenario.letter for scenario in plan.scenarios}
    free = [letter for letter in LETTERS if letter not in taken]
    if len(free) < len(variant.scenarios) or not variant.scenarios:
        raise NoLetter
    workload = variant.workload
    added: tuple[Workload, ...] = ()
    workload_id = ""
    if workload is not None:
        same = (each for each in plan.workloads if replace(replace(each, ("id",), _WORK), ("name",), "") == workload)
        known = next(same, None)
        ids = {each.id for each in plan.workloads}
        workload_id = known.id if known is not None else _free_id(ids)
        if known is None:
            added = (replace(workload, ("id",), workload_id),)
    scenarios = []
    for letter, scenario in zip(free, variant.scenarios, strict=False):
        placed = replace(scenario, ("letter",), letter)
        for at, group in enumerate(placed.groups):
            if group.runs:
                placed = replace(placed, ("groups", at, "runs", 0, "workload"), workload_id)
        scenarios.append(placed)
    fields = {name: getattr(plan, name) for name in Plan.model_fields}
    fields |= {"workloads": (*plan.workloads, *added), "scenarios": (*plan.scenarios, *scenarios)}
    return Plan(**fields), free[0]


def _free_id(ids: set[str]) -> str:
    return next(name for name in (_WORK, *(f"{_WORK}-{n}" for n in range(2, len(ids) + 3))) if name not in ids)
