"""What a buyer should know about a plan: plain facts with keys and numbers; `i18n.facts` has the words."""

from collections.abc import Sequence
from typing import Literal, NamedTuple

from gpuplanner.catalog.load import Catalog
from gpuplanner.catalog.schema import Gpu, Llm
from gpuplanner.model import cost, evidence, hardware, power, room, serving
from gpuplanner.model.case import IdentityCache
from gpuplanner.model.edit import replace
from gpuplanner.model.plan import Group, Plan, Run, Scenario, Serve
from gpuplanner.model.results import Check, Finding, RoomResult, ScenarioResult, ServeResult, Status, TrainResult

_LEVEL: dict[Status, Literal["stop", "check", "note"]] = {
    "fail": "stop",
    "warn": "check",
    "unknown": "check",
    "ok": "note",
}
_ORDER = {"stop": 0, "check": 1, "note": 2}
_OLD_PRICE_MONTHS = 12
_TRADE_CLAIM = 3.5
_SLOW_ENGINE = "HF transformers"
_SLOW_RATIO = 1.5
# A gain below this is not worth another format.
_LEVER_RATIO = 1.15
# Cards that wait for links for a larger share of their time are worth a better link.
MUCH_WAITING = 0.15
_TOKENS_PER_MILLION = 1e6
_JOULE_PER_KWH = 3.6e6
# Peaks that agree this closely come from the same chip.
_SAME_CHIP = 0.02
_OWN_ROWS = {
    "ttft_loaded": "own_rows_first_token", "ttft_idle": "own_rows_first_token", "power_gpu": "own_rows_power",
    "energy": "own_rows_power",
}  # fmt: skip


class Computed(NamedTuple):
    """A scenario's result with what only findings and ratios need."""

    result: ScenarioResult
    hardwares: tuple[hardware.Hardware, ...]
    evidences: dict[tuple[int, str], evidence.Evidence]
    # How much faster 16 bit would be, by group, where a run computes in 32 bit.
    fp32_ratios: dict[int, float]
    refused: tuple[tuple[int, Check], ...]
    speed_reasons: tuple[Check, ...]
    room_reasons: tuple[Check, ...]
    findings: tuple[Finding, ...] = ()


def of_plan(plan: Plan, computed: Sequence[Computed]) -> tuple[Finding, ...]:
    """Every finding, the gravest first, in the order of the scenarios."""
    found = [finding for one in computed for finding in one.findings]
    found.extend(_trade_ratios(plan, computed))
    unique = {(finding.key, finding.scenario, finding.group, finding.workload): finding for finding in found}
    return tuple(sorted(unique.values(), key=lambda finding: _ORDER[finding.level]))


def _from(check: Check, letter: str, group: int | None = None, workload: str = "") -> Finding:
    return Finding(_LEVEL[check.status], check.key, letter, group, workload, check.numbers)


def of_scenario(plan: Plan, scenario: Scenario, one: Computed, catalog: Catalog) -> tuple[Finding, ...]:
    """What is to be said of one scenario by itself."""
    letter, result = scenario.letter, one.result
    found = [_from(check, letter, group) for group, check in one.refused]
    every: tuple[ServeResult | TrainResult, ...] = (*result.serve, *result.train)
    for run in every:
        if run.refusal.status != "ok" and run.refusal.key:
            found.append(_from(run.refusal, letter, run.group, run.workload))
        if run.choice is not None and run.fits.status in ("warn", "fail"):
            key = "exceeds_memory" if run.fits.status == "fail" else run.fits.key
            found.append(_from(run.fits._replace(key=key), letter, run.group, run.workload))
    for check in one.speed_reasons:
        if (
            check.status in ("warn", "fail")
            and check.key not in ("does_not_fit",)
            and not any(f.key == check.key for f in found)
        ):
            found.append(_from(check, letter))
    found.extend(_from(check, letter) for check in one.room_reasons)
    for joined in result.room.fabrics:
        if joined.too_large:
            found.append(Finding("check", "fabric_too_large", letter, None, "", {"ports": joined.nics}))
    found.extend(_of_supply(letter, result.room, plan.site.cooling, one.hardwares))
    money = result.money_check
    if money.status in ("warn", "fail"):
        key = "exceeds_budget" if money.key == "budget_over" else money.key
        found.append(_from(money._replace(key=key), letter))
    for i, group in enumerate(scenario.groups):
        found.extend(_of_group(plan, scenario, i, group, one, catalog))
    for run in result.serve:
        found.extend(_of_serving(plan, scenario, run, one, catalog))
    for run in result.train:
        ratio = one.fp32_ratios.get(run.group)
        if ratio is not None and ratio > 1.2:
            found.append(Finding("check", "fp32_waste", letter, run.group, run.workload, {"speed_ratio": ratio}))
    for run in every:
        if run.link_wait.value is not None and run.link_wait.value > MUCH_WAITING and run.link_wait.parts:
            slowest = max(run.link_wait.parts, key=lambda part: part.value)
            waits: dict[str, float | str] = {"share": run.link_wait.value, "binds": slowest.name}
            found.append(Finding("note", "waits_for_link", letter, run.group, run.workload, waits))
    for (index, workload), seen in one.evidences.items():
        for reason in seen.outside:
            if reason == "architecture":
                found.append(
                    Finding("note", "not_validated", letter, index, workload, {"what": scenario.groups[index].gpu})
                )
            elif reason == "long_context":
                found.append(Finding("note", "outside_measured", letter, index, workload, {"what": "context"}))
    found.extend(_of_own_rows(letter, run) for run in every if run.own)
    return tuple(found)


def _of_supply(letter: str, space: RoomResult, cooling: str, hardwares: Sequence[hardware.Hardware]) -> list[Finding]:
    """Circuits, power supplies and racks: what an electrician would ask about."""
    supply = space.supply
    if supply is None:
        return []
    found: list[Finding] = []
    for one in supply.groups:
        at = one.group
        if one.circuits_per_server is not None and one.circuits_per_server > supply.feeds:
            on_feed = one.circuits_per_server // supply.feeds
            circuits: dict[str, float | str] = {
                "count": on_feed, "value_w": one.server_nameplate_w or 0.0, "limit_w": supply.circuit_w
            }  # fmt: skip
            found.append(Finding("check", "several_circuits", letter, at, "", circuits))
        if supply.feeds > 1 and one.feed_loss == "slows":
            have = (one.psus_left or 0) * (one.psu_w or 0.0)
            left: dict[str, float | str] = {"value_w": one.server_nameplate_w or 0.0, "limit_w": have}
            found.append(Finding("note", "feed_loss_slows", letter, at, "", left))
        elif supply.feeds > 1 and one.feed_loss == "stops":
            found.append(Finding("note", "feed_loss_stops", letter, at))
        if one.rack_binds in ("power", "weight"):
            held: dict[str, float | str] = {"count": one.servers_per_rack, "binds": one.rack_binds}
            found.append(Finding("note", "rack_binds", letter, at, "", held))
        server = hardwares[at].server
        if server is not None and cooling == "direct-liquid" and power.is_air_only(server.cooling):
            liquid = server.server_class.startswith(room.EIGHT_GPU)
            key = "liquid_version" if liquid else "air_in_liquid_room"
            found.append(Finding("check" if liquid else "note", key, letter, at, "", {"server": server.name}))
    return found


def _of_own_rows(letter: str, run: ServeResult | TrainResult) -> Finding:
    """What the buyer's own measurements did to the figure that most of them are about."""
    most = max(run.own, key=lambda shift: shift.rows)
    key = _OWN_ROWS.get(most.family, "own_rows_speed")
    moved = 1.0 / most.speed_ratio if key == "own_rows_first_token" else most.speed_ratio
    numbers: dict[str, float | str] = {
        "count": most.rows, "shift": moved - 1.0, "band_before": most.unshifted_band_ratio,
        "band_after": most.band_ratio,
    }  # fmt: skip
    return Finding("note", key, letter, run.group, run.workload, numbers)


def _of_group(
    plan: Plan, scenario: Scenario, index: int, group: Group, one: Computed, catalog: Catalog
) -> list[Finding]:
    letter, hard = scenario.letter, one.hardwares[index]
    found: list[Finding] = []
    gpu = hard.gpu
    if gpu is None:
        return found
    price, date, how = cost.price_of(group, hard, plan, catalog)
    if group.condition != "owned":
        if price.value is None:
            found.append(Finding("check", "price_unknown", letter, index, "", {"entry": gpu.name}))
        elif price.basis == "assumed" and how not in ("market", "other_market"):
            found.append(Finding("note", "price_assumed", letter, index, "", {"entry": gpu.name}))
        elif how == "market" and date:
            age = cost.months(catalog.date) - cost.months(date)
            if age >= _OLD_PRICE_MONTHS:
                found.append(Finding("note", "price_old", letter, index, "", {"months": age}))
    if group.condition == "new" and gpu.end_of_life and how != "market" and how != "quote":
        found.append(Finding("check", "end_of_life_new", letter, index, "", {"gpu": gpu.name}))
    if group.power_cap_w is not None and group.power_cap_w < (lowest := power.lowest_limit(gpu, catalog)):
        found.append(Finding("check", "cap_raised", letter, index, "", {"gpu": gpu.name, "watts": lowest}))
    if group.condition == "used":
        worn = next(each for each in one.result.money.failures if each.group == index)
        found.append(Finding("note", "used_no_warranty", letter, index, "", {"spares": worn.spares}))
    parent = uncut_parent(gpu, catalog)
    if parent is not None and parent.link_one_way_bytes_s is not None and gpu.link_one_way_bytes_s is not None:
        numbers: dict[str, float | str] = {
            "gpu": gpu.name, "parent": parent.name, "link": gpu.link_one_way_bytes_s.value,
            "parent_link": parent.link_one_way_bytes_s.value,
        }  # fmt: skip
        found.append(Finding("note", "export_cut_link", letter, index, "", numbers))
    every: tuple[ServeResult | TrainResult, ...] = (*one.result.serve, *one.result.train)
    ranks = [each.choice.tp for each in every if each.group == index and each.choice is not None]
    if hard.devices_per_server > 1 and gpu.link_kind == "none" and gpu.form_factor != "SoC":
        found.append(Finding("note", "no_nvlink", letter, index, "", {"gpu": gpu.name}))
    if ranks and max(ranks) > 2 and (hard.link_one_way == 0 or max(ranks) > hard.link_domain):
        found.append(Finding("check", "pcie_tensor_parallel", letter, index, "", {"tp": max(ranks)}))
    run = group.runs[0] if group.runs else None
    if (
        run is not None
        and (run.pruning_kept < 1.0 or run.pruning_2_4)
        and not (run.pruning_2_4 and serving.has_sparse_units(gpu))
    ):
        found.append(Finding("note", "pruning_no_gain", letter, index, run.workload, {"gpu": gpu.name}))
    return found


def _uncut_parent(gpu: Gpu, catalog: Catalog) -> Gpu | None:
    """The card with the same chip, form and matrix rate but a faster link: what an export variant was cut from."""
    if gpu.link_one_way_bytes_s is None or "bf16" not in gpu.peak_flops:
        return None
    rate, link = gpu.peak_flops["bf16"].value, gpu.link_one_way_bytes_s.value
    for other in catalog.gpus.values():
        if (
            other.architecture != gpu.architecture
            or other.form_factor != gpu.form_factor
            or "bf16" not in other.peak_flops
        ):
            continue
        same = (
            abs(other.peak_flops["bf16"].value / rate - 1.0) < _SAME_CHIP
            and other.memory_bytes.value == gpu.memory_bytes.value
        )
        if same and other.link_one_way_bytes_s is not None and other.link_one_way_bytes_s.value > 1.2 * link:
            return other
    return None


uncut_parent = IdentityCache(_uncut_parent)


def _outgrown(workload: Serve, run: ServeResult, letter: str, term_years: float) -> list[Finding]:
    """Says where the load fits today and no more at the end of the term."""
    demand = serving.demand_of(workload, None, term_years)
    carried = run.output_tokens_s.value
    if (
        workload.growth_per_year <= 0
        or demand.requests_s is None
        or demand.requests_s_end_of_term is None
        or not carried
    ):
        return []
    today = demand.requests_s * workload.answer_tokens * run.load_share
    later = demand.requests_s_end_of_term * workload.answer_tokens * run.load_share
    if not today <= carried < later:
        return []
    numbers: dict[str, float | str] = {"demand_tokens_s": later, "capacity_tokens_s": carried}
    return [Finding("check", "outgrown", letter, run.group, run.workload, numbers)]


def _of_serving(plan: Plan, scenario: Scenario, run: ServeResult, one: Computed, catalog: Catalog) -> list[Finding]:
    letter = scenario.letter
    found: list[Finding] = []
    workload = next(workload for workload in plan.workloads if workload.id == run.workload)
    assert isinstance(workload, Serve)
    group = scenario.groups[run.group]
    if run.choice is None:
        return found
    found.extend(_outgrown(workload, run, letter, plan.economics.term_years))
    llm = catalog.find("llm", run.choice.llm)
    longest = workload.prompt_tokens + workload.answer_tokens
    if workload.max_context_tokens != "auto":
        longest = max(longest, workload.max_context_tokens)
    if llm is not None and llm.max_context and longest > llm.max_context:
        numbers: dict[str, float | str] = {"context": longest, "max_context": llm.max_context}
        found.append(Finding("stop", "context_too_long", letter, run.group, run.workload, numbers))
    if one.hardwares[run.group].gpu is None and run.energy_j_per_token.value is not None:
        kwh = run.energy_j_per_token.value * _TOKENS_PER_MILLION / _JOULE_PER_KWH
        numbers = {"tokens_s": run.single_stream_tokens_s.value or 0.0, "kwh_per_million": kwh}
        found.append(Finding("note", "cpu_only_slow", letter, run.group, run.workload, numbers))
    if run.choice.engine == _SLOW_ENGINE and llm is not None:
        faster = _otherwise(workload, group, scenario, llm, "auto", run.choice.weights, catalog)
        mine = run.single_stream_tokens_s.value
        if faster is not None and faster.choice is not None and mine:
            there = serving.result(
                faster, workload, run.group, run.load_share, serving.demand_of(workload, None, 1.0), catalog
            )
            ratio = (there.single_stream_tokens_s.value or 0.0) / mine
            if ratio > _SLOW_RATIO:
                numbers = {"runtime": run.choice.runtime, "other": faster.choice.runtime, "ratio": ratio}
                found.append(Finding("check", "slow_runtime", letter, run.group, run.workload, numbers))
    if run.choice.compute == "fp32" and one.hardwares[run.group].gpu is not None and llm is not None:
        stated = group.runs[0].runtime
        sixteen = _otherwise(workload, group, scenario, llm, stated, _sixteen_bit(one.hardwares[run.group]), catalog)
        if sixteen is not None and sixteen.limit and run.output_tokens_s_limit.value:
            best = sixteen.limit * workload.answer_tokens / run.output_tokens_s_limit.value
            if best > 1.2:
                found.append(Finding("check", "fp32_waste", letter, run.group, run.workload, {"speed_ratio": best}))
    if llm is not None and "weights" not in run.choice.auto and run.output_tokens_s_limit.value:
        options = free_format(workload, group, scenario, llm, catalog).formats
        fastest = max(
            (one for one in options if one.fits and one.weights != run.choice.weights),
            key=lambda one: one.output_tokens_s_limit,
            default=None,
        )
        ratio = fastest.output_tokens_s_limit / run.output_tokens_s_limit.value if fastest is not None else 0.0
        if fastest is not None and ratio > _LEVER_RATIO:
            per_gpu = fastest.weight_bytes / max(run.choice.tp * run.choice.pp, 1)
            numbers = {"weights": fastest.weights, "speed_ratio": ratio, "memory_bytes": per_gpu}
            found.append(Finding("note", "format_lever", letter, run.group, run.workload, numbers))
    return found


def _otherwise(
    workload: Serve, group: Group, scenario: Scenario, llm: Llm, runtime: str, weights: str, catalog: Catalog
) -> serving.Prepared:
    """The same work with another runtime or weight format, and the automatic choice for all else."""
    run: Run = _other_run(workload.id, runtime, weights)
    return serving.prepared(workload, group, scenario.network, run, llm, catalog)


def free_format(workload: Serve, group: Group, scenario: Scenario, llm: Llm, catalog: Catalog) -> serving.Prepared:
    """The group's run with the weight format left open, and all else as it is."""
    return serving.prepared(workload, group, scenario.network, _free_run(group.runs[0]), llm, catalog)


def _sixteen_bit(hard: hardware.Hardware) -> str:
    return "bf16" if hard.gpu is not None and "bf16" in hard.gpu.peak_flops else "fp16"


_free_run = IdentityCache(lambda run: replace(replace(run, ("weights",), "auto"), ("compute",), "auto"), limit=256)
# One frozen run for one question, so that what is derived from it is remembered.
_other_run = IdentityCache(
    lambda workload, runtime, weights: Run(workload=workload, runtime=runtime, weights=weights), limit=256
)


def _trade_ratios(plan: Plan, computed: Sequence[Computed]) -> list[Finding]:
    """Where H100 and A100 stand side by side: what the trade's "3.5 times" rests on."""
    found: list[Finding] = []
    for workload in plan.workloads:
        if not isinstance(workload, Serve):
            continue
        for form in ("SXM", "PCIe"):
            hopper = _options(computed, workload.id, f"H100 {form}")
            ampere = _options(computed, workload.id, f"A100 {form}")
            if hopper is None or ampere is None or not ampere[1].get("bf16") or not hopper[1].get("bf16"):
                continue
            sixteen = hopper[1]["bf16"] / ampere[1]["bf16"]
            eight = hopper[1].get("fp8", 0.0) / ampere[1]["bf16"]
            numbers: dict[str, float | str] = {"ratio_16bit": sixteen, "claim": _TRADE_CLAIM}
            if eight > 0:
                numbers["ratio_fp8"] = eight
            key = "trade_ratio" if eight > 0 else "trade_ratio_16bit"
            found.append(Finding("note", key, hopper[0], None, workload.id, numbers))
    return found


def _options(computed: Sequence[Computed], workload: str, name: str) -> tuple[str, dict[str, float]] | None:
    """Output limit a GPU by weight format in the first scenario whose cards carry this name."""
    for one in computed:
        for run in one.result.serve:
            gpu = one.hardwares[run.group].gpu
            if run.workload == workload and gpu is not None and gpu.name.startswith(name) and run.formats:
                devices = one.hardwares[run.group].devices
                return one.result.letter, {
                    option.weights: option.output_tokens_s_limit / devices for option in run.formats if option.fits
                }
    return None
