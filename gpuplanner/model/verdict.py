"""The one verdict rule, and which scenario it makes the best.

Met: the unfavourable end of the band meets the target. Check: only the central value does. Missed: the central value
does not. Cards, table, findings, recommendations and reports all ask here.
"""

from collections.abc import Sequence

from gpuplanner.model.plan import Plan, Serve
from gpuplanner.model.results import Check, Figure, Headline, ScenarioResult, ServeResult, Status, TrainResult

_ORDER: dict[Status, int] = {"ok": 0, "unknown": 1, "warn": 2, "fail": 3}
# Not asked, so not missed.
_NOT_ASKED = ("no_budget", "no_limit")


def meets(figure: Figure, target: float | None, lower_is_better: bool) -> Status:
    """How a figure stands to its target; "unknown" where either is absent."""
    if figure.value is None or target is None:
        return "unknown"
    bad = figure.high if lower_is_better else figure.low
    assert bad is not None
    if lower_is_better:
        return "ok" if bad <= target else "warn" if figure.value <= target else "fail"
    return "ok" if bad >= target else "warn" if figure.value >= target else "fail"


def worst(checks: Sequence[Check]) -> Check:
    """The check that weighs most; the first of equals."""
    return max(checks, key=lambda check: _ORDER[check.status]) if checks else Check("unknown", "nothing_to_run")


def serve_speed(result: ServeResult, workload: Serve, demand_tokens_s: float | None) -> list[Check]:
    """Every reason why a serving run is or is not fast enough."""
    if result.choice is None:
        return [result.refusal]
    if result.fits.status == "fail":
        return [Check("fail", "does_not_fit", result.fits.numbers)]
    checks = []
    if result.first_token_s.note == "overloaded":
        numbers: dict[str, float | str] = {
            "demand_tokens_s": (demand_tokens_s or 0.0) * result.load_share,
            "capacity_tokens_s": result.output_tokens_s_limit.value or 0.0,
        }
        return [Check("fail", "overloaded", numbers)]
    for figure, target, percentile, name in (
        (result.first_token_s, workload.first_token_s, workload.first_token_percentile, "first_token"),
        (result.per_token_s, workload.per_token_s, workload.per_token_percentile, "per_token"),
    ):
        status = meets(figure, target, True)
        if status in ("warn", "fail"):
            key = f"misses_{name}" if status == "fail" else f"low_end_misses_{name}"
            checks.append(
                Check(
                    status, key,
                    {"value_s": figure.value or 0.0, "high_s": figure.high or 0.0, "target_s": target or 0.0,
                    "percentile": percentile, "binds": result.binds},
                )
            )  # fmt: skip
    if demand_tokens_s is not None:
        wanted = demand_tokens_s * result.load_share
        status = meets(result.output_tokens_s, wanted, False)
        if status == "fail" and not any(check.status == "fail" for check in checks):
            checks.append(
                Check(
                    "fail",
                    "overloaded",
                    {"demand_tokens_s": wanted, "capacity_tokens_s": result.output_tokens_s.value or 0.0},
                )
            )
        elif status == "warn":
            checks.append(
                Check(
                    "warn",
                    "low_end_misses_demand",
                    {"low_tokens_s": result.output_tokens_s.low or 0.0, "demand_tokens_s": wanted},
                )
            )
    if checks:
        return checks
    judged = [
        figure.known and target is not None
        for figure, target in (
            (result.first_token_s, workload.first_token_s),
            (result.per_token_s, workload.per_token_s),
            (result.output_tokens_s, demand_tokens_s),
        )
    ]
    return [Check("ok", "fast_enough" if any(judged) else "no_speed_target")]


def train_speed(result: TrainResult) -> list[Check]:
    """Whether a training run ends before its deadline."""
    if result.choice is None:
        return [result.refusal]
    if result.fits.status == "fail":
        return [Check("fail", "does_not_fit", result.fits.numbers)]
    if result.deadline_s is None:
        return [Check("ok", "no_speed_target")]
    status = meets(result.duration_s, result.deadline_s, True)
    numbers: dict[str, float | str] = {
        "value_s": result.duration_s.value or 0.0,
        "high_s": result.duration_s.high or 0.0,
        "target_s": result.deadline_s,
    }
    if status == "fail":
        return [Check("fail", "misses_deadline", numbers)]
    if status == "warn":
        return [Check("warn", "low_end_misses_deadline", numbers)]
    if status == "unknown":
        return [Check("unknown", "not_known", {"reason": "speed"})]
    return [Check("ok", "fast_enough")]


def budget(plan: Plan, cost: Figure, limit: float | None, currency: str) -> Check:
    """Whether a scenario stays within the budget."""
    if plan.wishes.budget is None or limit is None:
        return Check("unknown", "no_budget")
    if cost.value is None:
        return Check("unknown", "price_unknown", {"entry": ""})
    status = meets(cost, limit, True)
    if status == "fail":
        return Check(
            "fail",
            "budget_over",
            {"amount": cost.value, "budget": limit, "over": cost.value - limit, "currency": currency},
        )
    if status == "warn":
        return Check(
            "warn",
            "budget_band_exceeds",
            {"high": cost.high or 0.0, "amount": cost.value, "budget": limit, "currency": currency},
        )
    return Check("ok", "budget_ok", {"share": cost.value / limit if limit else 0.0})


def _grade(scenario: ScenarioResult) -> int:
    """How far a scenario is from meeting everything.

    0: every check is met. 1: some check only by the central value, or room or money are not known. 2: something is
    missed, or it is not known whether the work can be done at all.
    """
    checks = (scenario.fits, scenario.speed, scenario.room_check, scenario.money_check)
    if any(check.status == "fail" for check in checks) or "unknown" in (scenario.fits.status, scenario.speed.status):
        return 2
    unknown = any(check.status == "unknown" and check.key not in _NOT_ASKED for check in checks)
    return 1 if unknown or any(check.status == "warn" for check in checks) else 0


def headline(scenarios: Sequence[ScenarioResult], plan: Plan, budget_limit: float | None, currency: str) -> Headline:
    """The sentence on top: the cheapest scenario that misses nothing, or what stands in the way."""
    running = [scenario for scenario in scenarios if scenario.serve or scenario.train]
    if not running:
        return Headline("nothing_yet")
    good = [scenario for scenario in running if _grade(scenario) < 2]
    if not good:
        least = min(
            running,
            key=lambda one: (
                sum(check.status == "fail" for check in (one.fits, one.speed, one.room_check, one.money_check)),
                _cost(one),
            ),
        )
        return Headline(
            "none_meets",
            least.letter,
            "",
            {"letter": least.letter, "what": worst([least.fits, least.speed, least.room_check, least.money_check]).key},
        )
    ranked = sorted(good, key=lambda one: (_grade(one), _cost(one)))
    best = ranked[0]
    spare = headroom_of(best)
    numbers: dict[str, float | str] = {
        "letter": best.letter,
        "amount": _amount(best, plan),
        "currency": currency,
    }
    if spare is not None:
        numbers["headroom"] = spare
    if budget_limit is not None:
        numbers["budget"] = budget_limit
    if _grade(best) == 1:
        # Only the central figures carry it: the band of the one check that goes over is said in the same breath.
        checks = (best.fits, best.speed, best.room_check, best.money_check)
        over = next(check for check in checks if check.status == "warn")
        return Headline("best_central", best.letter, "", {**numbers, "what": over.key})
    for other in ranked[1:]:
        if _grade(other) == _grade(best) and _may_cost_less(other, best):
            numbers["other"] = other.letter
            return Headline("two_best", best.letter, other.letter, numbers)
    return Headline("best_meets_all" if budget_limit is not None else "best_no_budget", best.letter, "", numbers)


def _may_cost_less(other: ScenarioResult, best: ScenarioResult) -> bool:
    """Whether the cost bands of two scenarios overlap, the dearer one given first."""
    low, high = other.money.total_over_term.low, best.money.total_over_term.high
    return low is not None and high is not None and low <= high


def _amount(scenario: ScenarioResult, plan: Plan) -> float:
    """What the headline calls the cost: what the budget covers, and the whole term where nothing is bought."""
    whole_term = plan.wishes.budget is not None and plan.wishes.budget_covers == "term"
    purchase = scenario.money.purchase.value
    return (scenario.money.total_over_term.value if whole_term or not purchase else purchase) or 0.0


def _cost(scenario: ScenarioResult) -> float:
    return scenario.money.total_over_term.value if scenario.money.total_over_term.value is not None else float("inf")


def headroom_of(scenario: ScenarioResult) -> float | None:
    """The smallest headroom over all serving runs; for training, how much of the time to the deadline is left."""
    spare = [run.headroom.value for run in scenario.serve if run.headroom.value is not None]
    spare += [
        run.deadline_s / run.duration_s.value - 1.0
        for run in scenario.train
        if run.deadline_s is not None and run.duration_s.value
    ]
    return min(spare) if spare else None
