"""What follows from a plan: the one entry point of the model layer.

`evaluate` is pure: the same plan and catalog give the same results. What it derives from a part of the plan it
remembers by the identity of that frozen part, so that an edit of one scenario computes that scenario again and nothing
else.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from gpuplanner.catalog.load import Catalog
from gpuplanner.catalog.schema import Gpu, Llm
from gpuplanner.i18n import language
from gpuplanner.model import (
    climate,
    cost,
    cpu_serving,
    electrical,
    evidence,
    findings,
    fitting,
    hardware,
    own_rows,
    room,
    serving,
    verdict,
)
from gpuplanner.model.bands import between, product, quotient, scaled, spread, total
from gpuplanner.model.case import IdentityCache
from gpuplanner.model.findings import Computed
from gpuplanner.model.plan import (
    Economics,
    ExchangeRate,
    FineTune,
    Group,
    PinnedEntries,
    Plan,
    Run,
    Scenario,
    Serve,
    Site,
    Train,
    Wishes,
    Workload,
)
from gpuplanner.model.results import (
    NOT_KNOWN,
    OWN_ROWS,
    Check,
    Demand,
    Figure,
    MoneyResult,
    OwnRow,
    Results,
    ScenarioResult,
    ServeResult,
    TrainResult,
    exact,
)
from gpuplanner.units import HOURS_PER_YEAR, SECONDS_PER_HOUR

MODEL_VERSION = "1"
# The parts of a plan that no scenario depends on, empty: defaults that are left out are copied anew every time.
_OTHER_PARTS: dict[str, Any] = {"name": "", "notes": "", "entries": PinnedEntries(), "baseline": None, "measured": ()}
_DUTY_ROW = {"finetune": "fine-tuning, now and then", "train": "training, cluster in steady use"}
_QUEUE_DUTY_ROW = "serving, batch queue"
# Below this share of its time a server does nothing that could be put on a token.
_LEAST_BUSY = 1e-6
# A power cap above nothing: what a room leaves a card may be 0.
_LEAST_POWER_W = 1.0
_SECONDS_PER_YEAR = HOURS_PER_YEAR * SECONDS_PER_HOUR


def _view(entries: PinnedEntries, measured: tuple[dict[str, Any], ...], _language: str, catalog: Catalog) -> Catalog:
    """The catalog as a plan sees it: its pinned records in front, and what its own measurements come to."""
    view = catalog.over(entries)
    if not measured:
        return view
    # Reading rows takes many modules, and most plans have none.
    from gpuplanner.model.measured.own import judge

    return view.with_own_rows(judge(measured, view))


_views = IdentityCache(_view, limit=64)


def view_of(plan: Plan, catalog: Catalog) -> Catalog:
    """The catalog as `evaluate` sees it for a plan; remembered, so that what was derived from it is found again."""
    # Why a row is not understood is said in a sentence of the language in force.
    view: Catalog = _views(plan.entries, plan.measured, language() if plan.measured else "", catalog)
    return view


def evaluate(plan: Plan, catalog: Catalog) -> Results:
    """Compute every figure of a plan.

    Looks a name up in the plan's pinned entries, then the user's own, then the shipped ones. Never raises for a valid
    plan: what cannot be computed is a figure that is not known, with a reason.
    """
    view = view_of(plan, catalog)
    demands = tuple(_demand(workload, plan.economics.term_years, view) for workload in plan.workloads)
    computed: tuple[Computed, ...] = tuple(
        _scenarios(
            scenario,
            plan.workloads,
            plan.site,
            plan.economics,
            plan.wishes,
            plan.exchange_rates,
            plan.currency,
            plan.country,
            view,
        )
        for scenario in plan.scenarios
    )
    computed = _against_baseline(computed, plan, view)
    scenarios = tuple(one.result for one in computed)
    limit = budget_limit(plan, view)
    return Results(
        demands, scenarios, verdict.headline(scenarios, plan, limit, plan.currency), findings.of_plan(plan, computed),
        plan.baseline_letter, plan.currency,
        MODEL_VERSION, view.calibration.id, _own_rows(plan, scenarios, view),
    )  # fmt: skip


def _own_rows(plan: Plan, scenarios: tuple[ScenarioResult, ...], catalog: Catalog) -> tuple[OwnRow, ...]:
    """The plan's own measurements, each with the scenarios that it speaks for."""
    own = catalog.own_rows
    if own is None:
        return ()
    speaks: dict[int, tuple[str, ...]] = {}
    for result, scenario in zip(scenarios, plan.scenarios, strict=True):
        runs: list[ServeResult | TrainResult] = [*result.serve, *result.train]
        for run in runs:
            workload = next(each for each in plan.workloads if each.id == run.workload)
            like = own_rows.like_of(workload, scenario.groups[run.group], run.choice, catalog)
            families = {shift.family for shift in run.own}
            for at, residual in zip(own.at, own.residuals, strict=True):
                known = speaks.get(at, ())
                if result.letter in known or like is None or families.isdisjoint(residual.families):
                    continue
                if own_rows.alike(like, residual.like):
                    speaks[at] = (*known, result.letter)
    return tuple(row._replace(scenarios=speaks.get(row.row, ())) for row in own.judged)


def _demand(workload: Workload, term_years: float, catalog: Catalog) -> Demand:
    llm = _named_llm(workload, catalog)
    if isinstance(workload, Serve):
        return serving.demand_of(workload, llm, term_years)
    return fitting.demand_of(workload, llm)


def budget_limit(plan: Plan, catalog: Catalog) -> float | None:
    """The budget in the base currency; None where there is none or no exchange rate is known."""
    return None if plan.wishes.budget is None else cost.Exchange(plan, catalog).money(plan.wishes.budget).value


def _named_llm(workload: Workload, catalog: Catalog) -> Llm | None:
    return catalog.find("llm", workload.llm[0]) if workload.llm else None


def candidate_llms(workload: Workload, run: Run, catalog: Catalog) -> list[Llm]:
    """Models that a run may use: the run's own, the workload's, or (for "the largest that fits") every model of the
    catalog, largest first.
    """
    names: Sequence[str]
    if run.llm != "auto":
        names = (run.llm,)
    elif workload.llm:
        names = workload.llm
    else:
        names = [llm.name for llm in catalog.llms.values() if not llm.unlisted]
    found = [llm for llm in (catalog.find("llm", name) for name in names) if llm is not None]
    return found if len(names) == 1 else sorted(found, key=lambda llm: -llm.params_total)


def _prepare_serving(
    workload: Serve, group: Group, network: object, run: Run, catalog: Catalog
) -> serving.Prepared | None:
    """The run with the model it can carry: of several models the largest that fits and meets the targets, else the
    largest that fits.
    """
    best: serving.Prepared | None = None
    for llm in candidate_llms(workload, run, catalog):
        prepared: serving.Prepared = serving.prepared(workload, group, network, run, llm, catalog)
        if best is None:
            best = prepared
        if prepared.case is not None and prepared.fits.status != "fail":
            if prepared.capacity > 0:
                return prepared
            if best.fits.status == "fail" or best.case is None:
                best = prepared
    return best


_serving_runs = IdentityCache(_prepare_serving, limit=512)


def _training_run(
    workload: FineTune | Train, group: Group, network: object, run: Run, catalog: Catalog
) -> fitting.Trained | None:
    best: fitting.Trained | None = None
    for llm in candidate_llms(workload, run, catalog):
        trained: fitting.Trained = fitting.trained(workload, group, network, run, llm, catalog)
        if trained.result.choice is not None and trained.result.fits.status != "fail":
            return trained
        best = best or trained
    return best


_training_runs = IdentityCache(_training_run, limit=512)


def _not_computed(workload: Workload, group_index: int, group: Group, run: Run, gpu: Gpu | None) -> ServeResult:
    """The result of a run whose card or model no entry describes."""
    if group.gpu and gpu is None:
        check = Check("unknown", "unknown_card", {"gpu": group.gpu})
    else:
        check = Check("unknown", "unknown_model", {"llm": run.llm if run.llm != "auto" else ", ".join(workload.llm)})
    return ServeResult(
        workload.id, group_index, None, check, Check("unknown", "not_known"), None, NOT_KNOWN, NOT_KNOWN, NOT_KNOWN,
        NOT_KNOWN, NOT_KNOWN, NOT_KNOWN, NOT_KNOWN, NOT_KNOWN,
        0.0, 0.0, NOT_KNOWN, NOT_KNOWN, NOT_KNOWN, NOT_KNOWN, "", 0.0, NOT_KNOWN, NOT_KNOWN, 0.0, None,
    )  # fmt: skip


class Work(NamedTuple):
    """What the groups of a scenario do: results of every run, what each group draws, and what stands behind them."""

    serve: tuple[ServeResult, ...]
    train: tuple[TrainResult, ...]
    loads: list[room.GroupLoad]
    seen: dict[tuple[int, str], evidence.Evidence]
    # Speed in 16 bit ÷ speed, of training groups in another precision.
    slower: dict[int, float]
    refused: tuple[tuple[int, Check], ...]


def _work(
    scenario: Scenario,
    workloads: tuple[Workload, ...],
    hardwares: list[hardware.Hardware],
    economics: Economics,
    catalog: Catalog,
) -> Work:
    """Run every workload on the groups that carry it, as far as their cards go."""
    refused: list[tuple[int, Check]] = [
        (i, Check("unknown", "unknown_card", {"gpu": group.gpu}))
        for i, group in enumerate(scenario.groups)
        if group.gpu and hardwares[i].gpu is None
    ]
    serve: list[ServeResult] = []
    train: list[TrainResult] = []
    seen: dict[tuple[int, str], evidence.Evidence] = {}
    slower: dict[int, float] = {}
    loads = [room.GroupLoad(NOT_KNOWN, 0.0, False) for _ in scenario.groups]
    for workload in workloads:
        runs = [
            (i, group, group.runs[0])
            for i, group in enumerate(scenario.groups)
            if group.runs and group.runs[0].workload == workload.id
        ]
        if isinstance(workload, Serve):
            serve.extend(_serve_all(workload, runs, scenario, hardwares, economics, seen, loads, catalog))
        else:
            for order, (i, group, run) in enumerate(runs):
                if order:
                    refused.append((i, Check("fail", "second_training_group", {"group": i + 1})))
                    continue
                trained: fitting.Trained | None = _training_runs(workload, group, scenario.network, run, catalog)
                if trained is None:
                    refused.append((i, Check("unknown", "unknown_model", {"llm": ", ".join(workload.llm)})))
                    continue
                result = trained.result._replace(group=i)
                if trained.evidence is not None:
                    seen[i, workload.id] = trained.evidence
                if np.isfinite(trained.tokens_s_16_bit) and result.tokens_s.value:
                    slower[i] = trained.tokens_s_16_bit / result.tokens_s.value
                row = catalog.assumption("duty_cycle", _DUTY_ROW[workload.kind])
                share = economics.duty_cycle if economics.duty_cycle != "auto" else row.value
                loads[i] = room.GroupLoad(result.gpu_power_w, share if result.choice is not None else 0.0, True)
                train.append(result)
    return Work(tuple(serve), tuple(train), loads, seen, slower, tuple(refused))


def _throttled(
    scenario: Scenario,
    workloads: tuple[Workload, ...],
    hardwares: list[hardware.Hardware],
    economics: Economics,
    site: Site,
    work: Work,
    space: room.RoomResult,
    catalog: Catalog,
) -> tuple[Work, room.RoomResult]:
    """The same work on cards that the room holds back, as if their power were capped.

    The room goes on showing what the scenario asks of it; its yearly energy is that of the cards held back.
    """
    left = dict(space.device_limits_w)
    groups = tuple(
        group if i not in left else held_back(group, left[i], hardwares[i]) for i, group in enumerate(scenario.groups)
    )
    held = scenario.model_copy(update={"groups": groups})
    capped = [hardware.resolved(group, held.network, catalog) for group in groups]
    slower = _work(held, workloads, capped, economics, catalog)
    draws = room.room_of(held, capped, slower.loads, site, catalog)
    before, after = _rate(work), _rate(slower)
    kept, low, high = space.throttled_speed[:3]
    if before > 0 and kept is not None:
        # The band stays as wide as the heat makes it, around what the cards really lose.
        shift = min(after / before, 1.0)
        bounds = [bound / kept * shift if kept > 0 and bound is not None else shift for bound in (low, high)]
        kept, low, high = shift, min(bounds[0], shift), min(max(bounds[1], shift), 1.0)
    return slower, space._replace(
        throttled_speed=space.throttled_speed._replace(value=kept, low=low, high=high),
        groups=tuple(
            asked._replace(average_w=one.average_w) for asked, one in zip(space.groups, draws.groups, strict=True)
        ),
        it_average_w=draws.it_average_w,
        facility_w=draws.facility_w,
    )


def held_back(group: Group, device_limit_w: float, hard: hardware.Hardware) -> Group:
    """The group with its cards capped at what the room leaves each of their devices."""
    return group.model_copy(update={"power_cap_w": max(device_limit_w * _per_card(hard), _LEAST_POWER_W)})


def _rate(work: Work) -> float:
    """Tokens per second of everything that runs, trained and served."""
    figures = [result.output_tokens_s_limit for result in work.serve] + [result.tokens_s for result in work.train]
    return sum(figure.value or 0.0 for figure in figures)


def _per_card(hard: hardware.Hardware) -> int:
    return 1 if hard.gpu is None else hard.gpu.gpus_per_card


def _scenario(
    scenario: Scenario,
    workloads: tuple[Workload, ...],
    site: Site,
    economics: Economics,
    wishes: Wishes,
    exchange_rates: tuple[ExchangeRate, ...],
    currency: str,
    country: str,
    catalog: Catalog,
) -> Computed:
    """Everything that follows from one scenario by itself."""
    # Only these parts of the plan may reach a scenario: the memory of results depends on it.
    plan = Plan.model_construct(
        **_OTHER_PARTS,
        workloads=workloads,
        scenarios=(scenario,),
        site=site,
        economics=economics,
        wishes=wishes,
        exchange_rates=exchange_rates,
        currency=currency,
        country=country,
    )
    by_id = {workload.id: workload for workload in workloads}
    hardwares = [hardware.resolved(group, scenario.network, catalog) for group in scenario.groups]
    work = _work(scenario, workloads, hardwares, economics, catalog)
    space = room.room_of(scenario, hardwares, work.loads, site, catalog)
    if space.device_limits_w:
        work, space = _throttled(scenario, workloads, hardwares, economics, site, work, space, catalog)
    space = space._replace(
        supply=electrical.supply_of(space, scenario, hardwares, site, catalog),
        climate=climate.climate_of(space, hardwares, site, catalog),
    )
    serve, train, loads, seen, slower = list(work.serve), list(work.train), work.loads, work.seen, work.slower
    refused = work.refused
    serve = [_with_host_energy(result, space, hardwares) for result in serve]
    train = [_with_energy(result, space) for result in train]
    room_check, room_reasons = room.check(space, site, hardwares, scenario, catalog)
    tokens = _tokens_per_year(workloads, serve, economics, catalog)
    busy = 1.0 if serve or not train else max(loads[result.group].mean_share for result in train)
    bill = cost.money_of(
        scenario,
        plan,
        hardwares,
        space,
        tokens,
        economics.duty_cycle if economics.duty_cycle != "auto" else busy,
        catalog,
    )

    if train:
        train = [_with_cost(result, bill, scenario.groups, loads, economics.term_years) for result in train]
        bill = bill._replace(per_run=total([result.cost for result in train]))

    reasons: dict[str, list[Check]] = {}
    demands = {
        workload.id: serving.demand_of(workload, None, economics.term_years)
        for workload in workloads
        if isinstance(workload, Serve)
    }
    for served in serve:
        asked = by_id[served.workload]
        assert isinstance(asked, Serve)
        alone = sum(one.workload == served.workload for one in serve) == 1
        if served.load_share > 0 or served.choice is None or alone:
            wanted = demands[asked.id].output_tokens_s
            reasons.setdefault(served.workload, []).extend(verdict.serve_speed(served, asked, wanted))
    for run_result in train:
        reasons.setdefault(run_result.workload, []).extend(verdict.train_speed(run_result))
    speed_reasons = [check for checks in reasons.values() for check in checks]
    every: list[ServeResult | TrainResult] = [*serve, *train]
    fits = verdict.worst([one.fits if one.choice is not None else one.refusal for one in every])
    speed = verdict.worst(speed_reasons)
    limit = budget_limit(plan, catalog)
    charged = bill.purchase if wishes.budget_covers == "purchase" else bill.total_over_term
    money = verdict.budget(plan, charged, limit, currency)
    of_scenario = ScenarioResult(
        scenario.letter, scenario.name,
        sum(hard.devices // (hard.gpu.gpus_per_card if hard.gpu is not None else 1) for hard in hardwares),
        sum(group.servers for group in scenario.groups), tuple(serve), tuple(train), space, bill, fits, speed,
        room_check, money, NOT_KNOWN, Check("unknown"),
    )  # fmt: skip
    spare = verdict.headroom_of(of_scenario)
    whole = Computed(
        of_scenario._replace(summary=_summary(of_scenario, spare)),
        tuple(hardwares),
        seen,
        slower,
        refused,
        tuple(speed_reasons),
        tuple(room_reasons),
    )
    return whole._replace(findings=findings.of_scenario(plan, scenario, whole, catalog))


_scenarios = IdentityCache(_scenario, limit=256)


def _summary(result: ScenarioResult, spare: float | None) -> Check:
    """The most important fact of a scenario: what is missed, else what is only just met, else what is left."""
    if not result.serve and not result.train:
        return Check("unknown", "nothing_to_run")
    checks = [result.fits, result.speed, result.room_check, result.money_check]
    for status in ("fail", "warn"):
        for check in checks:
            if check.status == status:
                return check
    if any(check.status == "unknown" and check.key not in ("no_budget", "no_limit") for check in checks):
        return next(
            check for check in checks if check.status == "unknown" and check.key not in ("no_budget", "no_limit")
        )
    return Check("ok", "meets_targets", {} if spare is None else {"headroom": spare})


def _serve_all(
    workload: Serve, runs: list[tuple[int, Group, Run]], scenario: Scenario, hardwares: list[hardware.Hardware],
    economics: Economics,
    seen: dict[tuple[int, str], evidence.Evidence], loads: list[room.GroupLoad], catalog: Catalog,
) -> list[ServeResult]:  # fmt: skip
    """All groups that serve one workload; the load is shared by what each can carry."""
    demand = serving.demand_of(workload, None, economics.term_years)
    prepared = [
        None
        if hardwares[i].gpu is None or _is_offloaded(run)
        else _serving_runs(workload, group, scenario.network, run, catalog)
        for i, group, run in runs
    ]
    hosts: list[ServeResult | None] = []
    for (i, group, run), one in zip(runs, prepared, strict=True):
        hosts.append(
            _on_processors(workload, i, group, run, hardwares[i], 1.0, demand, catalog)
            if one is None and (not group.gpu or _is_offloaded(run))
            else None
        )
    capacities = [
        (host.requests_s.value or 0.0) if host is not None else (one.capacity or 0.0) if one is not None else 0.0
        for one, host in zip(prepared, hosts, strict=True)
    ]
    if not any(capacities):
        capacities = [
            1.0 if host is not None and host.choice is not None else one.limit if one is not None else 0.0
            for one, host in zip(prepared, hosts, strict=True)
        ]
    whole = sum(capacities)
    results = []
    for (i, group, run), one, host, carried in zip(runs, prepared, hosts, capacities, strict=True):
        share = carried / whole if whole > 0 else 1.0 / len(runs)
        if host is not None:
            result = (
                _on_processors(workload, i, group, run, hardwares[i], share, demand, catalog) if share != 1.0 else host
            )
        elif one is None:
            result = _not_computed(workload, i, group, run, hardwares[i].gpu)
        else:
            result = _operating(one, workload, i, share, demand, catalog)
            if one.evidence is not None:
                seen[i, workload.id] = one.evidence
        results.append(result)
        bound = result.binds in ("compute", "prefill")
        if demand.requests_s is not None or demand.concurrency is not None:
            mean = workload.mean_to_peak
        elif economics.duty_cycle != "auto":
            mean = economics.duty_cycle
        else:
            mean = catalog.assumption("duty_cycle", _QUEUE_DUTY_ROW).value
        loads[i] = room.GroupLoad(result.gpu_power_w, mean if result.choice is not None else 0.0, bound)
    return results


def _operate(
    one: serving.Prepared, workload: Serve, group_index: int, share: float, catalog: Catalog, term_years: float
) -> ServeResult:
    return serving.result(one, workload, group_index, share, serving.demand_of(workload, None, term_years), catalog)


_operating_points = IdentityCache(_operate, limit=512)


def _operating(
    one: serving.Prepared, workload: Serve, group_index: int, share: float, demand: Demand, catalog: Catalog
) -> ServeResult:
    # The end of the term does not matter for today's operating point.
    return _operating_points(one, workload, group_index, share, catalog, 1.0)


def _is_offloaded(run: Run) -> bool:
    """Whether a run leaves a part of the weights in the host's memory."""
    return run.offload == "weights"


def _on_processors(
    workload: Serve,
    i: int,
    group: Group,
    run: Run,
    hard: hardware.Hardware,
    share: float,
    demand: Demand,
    catalog: Catalog,
) -> ServeResult:
    llms = candidate_llms(workload, run, catalog)
    runtime = serving.choose_runtime(run, "serve", hard, group, catalog)
    result: ServeResult | None = None
    for llm in llms:
        result = cpu_serving.serve(workload, i, run, llm, runtime, hard, group.servers, share, demand, catalog)
        if result.fits.status != "fail":
            return result
    return result if result is not None else _not_computed(workload, i, group, run, hard.gpu)


def _with_host_energy(result: ServeResult, space: room.RoomResult, hardwares: list[hardware.Hardware]) -> ServeResult:
    """Energy of a token that processors alone give: their servers at the wall in the peak hour, pauses included. [J]"""
    group = next((one for one in space.groups if one.group == result.group), None)
    busy = result.utilisation
    if group is None or hardwares[result.group].gpu is not None or busy < _LEAST_BUSY:
        return result
    power = total([scaled(group.load_w, busy), scaled(group.idle_w, 1.0 - busy)])
    return result._replace(energy_j_per_token=quotient(power, scaled(result.output_tokens_s_limit, busy)))


def _with_energy(result: TrainResult, space: room.RoomResult) -> TrainResult:
    """Energy of one run at the wall, with its share of the network. [J]"""
    group = next((one for one in space.groups if one.group == result.group), None)
    if group is None or result.duration_s.value is None:
        return result
    servers = sum(one.load_w.value or 0.0 for one in space.groups)
    share = (group.load_w.value or 0.0) / servers if servers else 0.0
    return result._replace(energy_j=product(total([group.load_w, scaled(space.network_w, share)]), result.duration_s))


def _with_cost(
    result: TrainResult, bill: MoneyResult, groups: tuple[Group, ...], loads: list[room.GroupLoad], term_years: float
) -> TrainResult:
    """Cost of one run: what its group takes of the bill, for the share of its busy time that the run needs."""
    if result.duration_s.value is None:
        return result
    years = scaled(result.duration_s, 1.0 / _SECONDS_PER_YEAR / (loads[result.group].mean_share or 1.0))
    return result._replace(cost=cost.run_cost(bill, groups, result.group, term_years, years))


def _tokens_per_year(
    workloads: tuple[Workload, ...], serve: list[ServeResult], economics: Economics, catalog: Catalog
) -> Figure:
    """Output tokens that are really served in a year: the mean of the demand, or what a full queue gets through."""
    figures = []
    for workload in workloads:
        if not isinstance(workload, Serve):
            continue
        mine = [result for result in serve if result.workload == workload.id and result.output_tokens_s_limit.value]
        if not mine:
            continue
        demand = serving.demand_of(workload, None, 1.0)
        carried = total([result.output_tokens_s_limit for result in mine])
        if demand.concurrency is not None:
            # So many requests and no more: what they yield, not what a full queue would.
            carried = total([scaled(result.output_tokens_s_limit, result.utilisation) for result in mine])
            figures.append(scaled(carried, workload.mean_to_peak * _SECONDS_PER_YEAR))
        elif demand.output_tokens_s is not None:
            served = min(demand.output_tokens_s, carried.value or 0.0)
            figures.append(exact(served * workload.mean_to_peak * _SECONDS_PER_YEAR, "input"))
        else:
            row = catalog.assumption("duty_cycle", _QUEUE_DUTY_ROW)
            duty = (
                exact(economics.duty_cycle, "input")
                if economics.duty_cycle != "auto"
                else between(row.value, row.low, row.high, "assumed")
            )
            figures.append(scaled(product(carried, duty), _SECONDS_PER_YEAR))
    return total(figures) if figures else NOT_KNOWN._replace(note="nothing_served")


def _speed_of(one: Computed) -> tuple[Figure, str, str] | None:
    """The figure that scenarios are compared by: output within the targets of the first workload, else its limit; or
    the training rate.
    """
    if one.result.serve:
        first = one.result.serve[0].workload
        mine = [result for result in one.result.serve if result.workload == first]
        within, limit = (
            total([result.output_tokens_s for result in mine]),
            total([result.output_tokens_s_limit for result in mine]),
        )
        return (within, "within", first) if within.value else (limit, "limit", first)
    if one.result.train:
        return one.result.train[0].tokens_s, "train", one.result.train[0].workload
    return None


def _against_baseline(computed: tuple[Computed, ...], plan: Plan, catalog: Catalog) -> tuple[Computed, ...]:
    """Fill in the speed ratio of every scenario to the baseline's, with the narrower band of a ratio."""
    base = next((one for one in computed if one.result.letter == plan.baseline_letter), None)
    reference = _speed_of(base) if base is not None else None
    if base is None or reference is None or not reference[0].value:
        return computed
    finished = []
    for one in computed:
        mine = _speed_of(one)
        ratio = NOT_KNOWN
        alike = mine is not None and mine[2] == reference[2]
        if mine is not None and alike and mine[0].value is not None and mine[1] == reference[1]:
            value = mine[0].value / reference[0].value
            if one is base:
                ratio = exact(1.0, "predicted")
            else:
                family = {"train": "training"}.get(mine[1], "max_throughput")
                kinds = [workload.kind for workload in plan.workloads if workload.id == mine[2]]
                if kinds == ["finetune"]:
                    family = "finetune"
                first = next(iter(one.evidences.values()), evidence.Evidence(1.0, (), True))
                second = next(iter(base.evidences.values()), evidence.Evidence(1.0, (), True))
                ratio = (
                    spread(value, evidence.ratio_factor(catalog.calibration, family, first, second))
                    if value > 0
                    else exact(0.0, "predicted")
                )
                if first.own or second.own:
                    ratio = ratio._replace(note=OWN_ROWS)
        elif (
            alike and mine is not None and mine[0].value is not None and (mine[1], reference[1]) == ("limit", "within")
        ):
            ratio = exact(0.0, "predicted")
        finished.append(one._replace(result=one.result._replace(speed_ratio=ratio)))
    return tuple(finished)
