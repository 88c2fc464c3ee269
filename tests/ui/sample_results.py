"""A plan of five scenarios and results by hand, to test views without the model.

The figures are invented and agree with each other (headroom is output over demand, heat is power); no view may depend
on how they were computed.
"""

from gpuplanner.model.plan import Economics, FineTune, Group, Money, Plan, Run, Scenario, Serve, Site, UserLoad, Wishes
from gpuplanner.model.results import (
    NOT_KNOWN,
    Check,
    Choice,
    Curve,
    Demand,
    Figure,
    Finding,
    GroupPower,
    Headline,
    MemoryUse,
    MoneyLine,
    MoneyResult,
    Part,
    Results,
    RoomResult,
    ScenarioResult,
    ServeResult,
    TrainResult,
    exact,
)
from gpuplanner.units import BTU_H_PER_W, GIB, HOURS_PER_YEAR, KILO, W_PER_TON

DEMAND_TOKENS_S = 889.0
BUDGET = 200e3
COOLING_W = 10_500.0
FEED_W = 16_000.0
TERM_MONTHS = 36
CLOUD_PER_YEAR = 105_120.0

# letter: name, GPU, GPUs per server, servers, condition, weights, tp, pp, dp
_SCENARIOS = {
    "A": ("8× H100 SXM", "H100 SXM", 8, 1, "new", "fp8", 4, 1, 2),
    "B": ("8× A100 SXM", "A100 SXM 80GB", 8, 1, "used", "bf16", 8, 1, 1),
    "C": ("16× RTX 4090", "RTX 4090", 8, 2, "new", "fp8", 4, 2, 2),
    "D": ("8× H20 96GB", "H20 96GB", 8, 1, "new", "fp8", 4, 1, 2),
    "E": ("8× A800 SXM", "A800 SXM 80GB", 8, 1, "used", "bf16", 8, 1, 1),
}
# letter: first token, per token (value, low, high) [s]; output at targets [tokens/s]
_SPEED = {
    "A": ((0.17, 0.1, 0.3), (0.017, 0.014, 0.021), (3420, 2500, 4700)),
    "B": ((1.25, 0.8, 2.1), (0.038, 0.030, 0.046), (980, 740, 1300)),
    "C": ((3.95, 2.5, 6.7), (0.047, 0.038, 0.057), (764, 520, 1100)),
    "D": ((0.85, 0.5, 1.4), (0.024, 0.019, 0.029), (1300, 905, 1870)),
    "E": ((1.50, 0.9, 2.6), (0.039, 0.031, 0.048), (940, 700, 1240)),
}
# letter: memory parts per GPU [GiB]: weights, KV cache, activations, runtime, capacity, usable
_MEMORY = {
    "A": (17.6, 8.0, 2.4, 3.0, 80, 72),
    "B": (17.6, 16.0, 2.0, 3.0, 80, 72),
    "C": (9.0, 7.5, 2.0, 2.0, 24, 21.6),
    "D": (17.6, 8.0, 2.4, 3.0, 96, 86.4),
    "E": (17.6, 16.0, 2.0, 3.0, 80, 72),
}
# letter: power at load, nameplate [W]; purchase (value, low, high), running cost a year, resale
_ROOM = {"A": (6900, 10_700), "B": (5400, 6700), "C": (8100, 10_000), "D": (4900, 6400), "E": (5300, 6600)}
_MONEY = {
    "A": ((312e3, 281e3, 349e3), 33.3e3, 94e3),
    "B": ((118e3, 102e3, 139e3), 14.0e3, 29e3),
    "C": ((52e3, 47e3, 60e3), 11.0e3, 10e3),
    "D": ((186e3, 172e3, 204e3), 17.0e3, 55e3),
    "E": ((104e3, 88e3, 126e3), 15.0e3, 20e3),
}


def plan() -> Plan:
    """The plan that the results belong to: a staff assistant of 70 billion parameters, five ways to run it."""
    scenarios = tuple(
        Scenario(
            letter=letter,
            name=name,
            groups=(
                Group(
                    gpu=gpu, gpus_per_server=gpus, servers=servers, condition=condition, runs=(Run(workload="serve"),)
                ),
            ),
        )
        for letter, (name, gpu, gpus, servers, condition, *_run) in _SCENARIOS.items()
    )
    return Plan(
        name="Staff assistant 70B",
        currency="USD",
        workloads=(Serve(id="serve", name="Staff assistant", llm=("Llama-3.3-70B",), load=UserLoad(users=200)),),
        scenarios=scenarios,
        baseline="B",
        site=Site(power_w=FEED_W, cooling_w=COOLING_W),
        economics=Economics(term_years=3.0),
        wishes=Wishes(budget=Money(amount=BUDGET, currency="USD")),
    )


def results() -> Results:
    """What follows from `plan`, by hand."""
    return Results(
        demands=(Demand("serve", 2.22, DEMAND_TOKENS_S, 3330.0, 64.0, 2.7e14, 2.9),),
        scenarios=tuple(scenario(letter) for letter in _SCENARIOS),
        headline=Headline(
            "best_meets_all",
            "D",
            "B",
            {"letter": "D", "headroom": 0.46, "amount": 186e3, "budget": BUDGET, "currency": "USD"},
        ),
        findings=(
            Finding(
                "stop",
                "exceeds_budget",
                "A",
                numbers={"amount": 312e3, "budget": BUDGET, "over": 112e3, "currency": "USD"},
            ),
            Finding(
                "stop",
                "misses_first_token",
                "C",
                0,
                "serve",
                {"value_s": 3.95, "target_s": 2.0, "percentile": 0.95, "binds": "pcie_all_reduce"},
            ),
            Finding("check", "nameplate_exceeds_cooling", "A", numbers={"heat_w": 10_700.0, "limit_w": COOLING_W}),
            Finding(
                "check",
                "low_end_misses_demand",
                "B",
                0,
                "serve",
                {"low_tokens_s": 740.0, "demand_tokens_s": DEMAND_TOKENS_S},
            ),
            Finding("check", "price_old", "D", 0, numbers={"months": 28}),
            Finding("note", "used_no_warranty", "E", 0, numbers={"spares": 2}),
        ),
        baseline="B",
        currency="USD",
        model_version="1",
        calibration_id="by-hand",
    )


def scenario(letter: str) -> ScenarioResult:
    """One scenario of the serving plan."""
    name, _gpu, gpus, servers, *_run = _SCENARIOS[letter]
    served = serve(letter)
    ratio = _SPEED[letter][2][0] / _SPEED["B"][2][0]
    spread = 1.0 if letter == "B" else 1.2
    checks = {
        "A": (_fits(letter), Check("ok", "fast_enough"), _nameplate(), _over_budget(112e3), _over_budget(112e3)),
        "B": (_fits(letter), Check("warn", "fast_enough"), _room(letter), _within_budget(letter), _meets("warn", 0.10)),
        "C": (
            _fits(letter),
            Check("fail", "too_slow"),
            Check("warn", "nameplate_exceeds_cooling", {"heat_w": 10_000.0, "limit_w": COOLING_W}),
            _within_budget(letter),
            Check("fail", "misses_first_token", {"value_s": 3.95, "target_s": 2.0}),
        ),
        "D": (
            _fits(letter),
            Check("ok", "fast_enough"),
            _room(letter),
            Check("warn", "budget_band_exceeds", {"high": 204e3, "budget": BUDGET, "currency": "USD"}),
            _meets("ok", 0.46),
        ),
        "E": (_fits(letter), Check("warn", "fast_enough"), _room(letter), _within_budget(letter), _meets("warn", 0.06)),
    }[letter]
    fits, speed, room, money, summary = checks
    return ScenarioResult(
        letter=letter,
        name=name,
        gpus=gpus * servers,
        servers=servers,
        serve=(served,),
        train=(),
        room=room_result(letter),
        money=money_result(letter),
        fits=fits,
        speed=speed,
        room_check=room,
        money_check=money,
        speed_ratio=Figure(ratio, ratio / spread, ratio * spread, "predicted"),
        summary=summary,
    )


def _fits(letter: str) -> Check:
    *parts, _capacity, usable = _MEMORY[letter]
    share = sum(parts) / usable
    return Check("ok", "fits", {"share": share}) if share < 0.949 else Check("warn", "tight_memory", {"share": share})


def _nameplate() -> Check:
    return Check("warn", "nameplate_exceeds_cooling", {"heat_w": 10_700.0, "limit_w": COOLING_W})


def _room(letter: str) -> Check:
    return Check("ok", "room_ok", {"share": _ROOM[letter][1] / COOLING_W})


def _over_budget(over: float) -> Check:
    return Check("fail", "budget_over", {"over": over, "currency": "USD"})


def _within_budget(letter: str) -> Check:
    return Check("ok", "budget_ok", {"share": _MONEY[letter][0][0] / BUDGET})


def _meets(status: str, headroom: float) -> Check:
    return Check(status, "meets_targets", {"headroom": headroom})  # type: ignore[arg-type]


def _predicted(values: tuple[float, float, float], parts: tuple[Part, ...] = ()) -> Figure:
    return Figure(*values, "predicted", parts)


def serve(letter: str) -> ServeResult:
    """The only group of a scenario, serving."""
    _name, _gpu, _gpus, _servers, _condition, weights, tp, pp, dp = _SCENARIOS[letter]
    first, per_token, output = _SPEED[letter]
    memory = memory_use(letter)
    share = memory.used / memory.usable
    headroom = tuple(value / DEMAND_TOKENS_S - 1 for value in output)
    saturation = output[0] * 1.15
    return ServeResult(
        workload="serve",
        group=0,
        choice=Choice(
            "Llama-3.3-70B", "vLLM", "0.10", "vllm", weights, "bf16", "bf16", tp, pp, dp, 1, 1, auto=frozenset({"tp"})
        ),
        refusal=Check("ok"),
        fits=_fits(letter),
        memory=memory,
        memory_share=Figure(share, share * 0.95, share * 1.05, "predicted"),
        first_token_s=_predicted(
            first, (Part("prefill", first[0] * 0.7), Part("queue", first[0] * 0.2), Part("host", first[0] * 0.1))
        ),
        first_token_idle_s=_predicted((first[0] * 0.8, first[1] * 0.8, first[2] * 0.8)),
        per_token_s=_predicted(
            per_token, (Part("weights", per_token[0] * 0.8), Part("all_reduce", per_token[0] * 0.2))
        ),
        output_tokens_s=_predicted(output),
        output_tokens_s_limit=_predicted((saturation, output[1] * 1.15, output[2] * 1.15)),
        requests_s=_predicted((output[0] / 400, output[1] / 400, output[2] / 400)),
        headroom=Figure(*headroom, "predicted"),
        batch=64.0,
        max_batch=180.0,
        decode_step_s=_predicted(per_token),
        prefill_s=_predicted(first),
        single_stream_tokens_s=_predicted((1.4 / per_token[0], 1.4 / per_token[2], 1.4 / per_token[1])),
        prefill_tokens_s=_predicted((1500 / first[0], 1500 / first[2], 1500 / first[1])),
        binds="pcie_all_reduce" if letter == "C" else "bandwidth",
        utilisation=min(0.95, DEMAND_TOKENS_S / saturation),
        gpu_power_w=exact(400.0, "predicted"),
        energy_j_per_token=_predicted(tuple(_ROOM[letter][0] / DEMAND_TOKENS_S * factor for factor in (1, 0.9, 1.1))),  # type: ignore[arg-type]
        load_share=1.0,
        curve=curve(first[0], saturation),
    )


def memory_use(letter: str) -> MemoryUse:
    """Memory of the fullest GPU. [bytes]"""
    weights, cache, activations, runtime, capacity, usable = (value * GIB for value in _MEMORY[letter])
    return MemoryUse(weights, cache, activations, 0.0, 0.0, runtime, capacity, usable)


def curve(first_token_s: float, saturation: float) -> Curve:
    """A queue's rise: flat while idle, without bound at saturation."""
    share = [step / 80 for step in range(79)]
    idle = first_token_s * max(0.2, 1 - DEMAND_TOKENS_S / saturation) / 1.05
    times = tuple(idle * (1 + 0.6 * load**2) / (1 - load) for load in share)
    return Curve(
        output_tokens_s=tuple(load * saturation for load in share),
        first_token_s=times,
        first_token_low_s=tuple(time / 1.6 for time in times),
        first_token_high_s=tuple(time * 1.6 for time in times),
        per_token_s=tuple(0.02 * (1 + load) for load in share),
    )


def room_result(letter: str) -> RoomResult:
    """Power and heat of a scenario."""
    load, nameplate = _ROOM[letter]
    gpus, servers = _SCENARIOS[letter][2:4]
    load_w = Figure(load, load * 0.93, load * 1.07, "predicted", (Part("gpu", load * 0.7), Part("server", load * 0.3)))
    return RoomResult(
        groups=(
            GroupPower(
                0,
                exact(load * 0.3, "predicted"),
                load_w,
                exact(load * 0.6, "predicted"),
                exact(nameplate, "known"),
                exact(load * 0.7, "predicted"),
                servers,
                gpus * servers,
            ),
        ),
        network_w=exact(100.0, "assumed"),
        it_load_w=load_w,
        it_average_w=exact(load * 0.6, "predicted"),
        it_nameplate_w=exact(nameplate, "known"),
        facility_w=exact(load * 1.4, "predicted"),
        heat_w=load_w._replace(parts=()),
        heat_btu_h=exact(load * BTU_H_PER_W, "predicted"),
        cooling_tons=exact(load / W_PER_TON, "predicted"),
        air_heat_w=load_w._replace(parts=()),
        airflow_m3_s=exact(load / 1206 / 12, "predicted"),
        pue=exact(1.4, "assumed"),
        racks=1,
        rack_units=exact(8.0, "known"),
        weight_kg=exact(130.0, "known"),
        throttled_speed=exact(1.0, "predicted"),
        limits=(("cooling", COOLING_W), ("feed", FEED_W)),
    )


def money_result(letter: str) -> MoneyResult:
    """The bill of a scenario."""
    purchase, running, resale = _MONEY[letter]
    months = tuple(float(month) for month in range(TERM_MONTHS + 1))
    cumulative = tuple(purchase[0] + running * month / 12 for month in months)
    term = TERM_MONTHS / 12
    total = purchase[0] + running * term - resale
    tokens_m = DEMAND_TOKENS_S * 0.3 * HOURS_PER_YEAR * 3600 * term / 1e6
    breakeven = purchase[0] / (CLOUD_PER_YEAR - running) * 12
    energy = _ROOM[letter][0] * 0.6 * 1.4 / KILO * HOURS_PER_YEAR
    return MoneyResult(
        currency="USD",
        lines=(MoneyLine("servers", "", 1.0, _predicted(purchase), _predicted(purchase)),),
        purchase=Figure(*purchase, "assumed" if letter == "D" else "known", (Part("servers", purchase[0]),)),
        electricity_per_year=exact(energy * 0.12, "predicted"),
        running_per_year=exact(running, "predicted"),
        rent_per_year=exact(0.0),
        resale=Figure(resale, resale * 0.7, resale * 1.3, "assumed"),
        total_over_term=Figure(
            total,
            total - purchase[0] + purchase[1],
            total - purchase[0] + purchase[2],
            "predicted",
            (Part("purchase", purchase[0]), Part("running", running * term), Part("resale", -resale)),
        ),
        per_million_tokens=_predicted((total / tokens_m, total / tokens_m * 0.85, total / tokens_m * 1.2)),
        per_run=NOT_KNOWN,
        breakeven_months=exact(breakeven, "predicted"),
        cloud_per_year=exact(CLOUD_PER_YEAR, "assumed"),
        energy_kwh_per_year=exact(energy, "predicted"),
        months=months,
        cumulative=cumulative,
        cumulative_low=tuple(value - purchase[0] + purchase[1] for value in cumulative),
        cumulative_high=tuple(value - purchase[0] + purchase[2] for value in cumulative),
        cloud_cumulative=tuple(CLOUD_PER_YEAR * month / 12 for month in months),
        oldest_price="2024-07",
    )


# --- the same scenarios, fine-tuning ------------------------------------------------------------

# letter: tokens a second, hours of a run, and whether it fits
_TRAINING = {
    "A": (52_000.0, 4.0),
    "B": (23_000.0, 9.1),
    "C": (9_000.0, 23.2),
    "D": (13_000.0, 16.0),
    "E": (21_000.0, 9.9),
}
DEADLINE_S = 12 * 3600.0


def train_plan() -> Plan:
    """The same scenarios with a fine-tuning run instead of the assistant."""
    serving = plan()
    scenarios = tuple(
        scenario.model_copy(
            update={"groups": tuple(g.model_copy(update={"runs": (Run(workload="tune"),)}) for g in scenario.groups)}
        )
        for scenario in serving.scenarios
    )
    tune = FineTune(id="tune", name="Style of the house", llm=("Llama-3.1-8B",), deadline_s=DEADLINE_S)
    return serving.model_copy(update={"workloads": (tune,), "scenarios": scenarios})


def train_results() -> Results:
    """What follows from `train_plan`, by hand. C does not fit."""
    serving = results()
    scenarios = tuple(
        entry._replace(
            serve=(),
            train=(train(entry.letter),),
            fits=Check("fail", "does_not_fit", {"need_bytes": 31 * GIB, "usable_bytes": 21.6 * GIB})
            if entry.letter == "C"
            else entry.fits,
            money=entry.money._replace(per_run=_predicted((310.0, 260.0, 390.0)), per_million_tokens=NOT_KNOWN),
        )
        for entry in serving.scenarios
    )
    return serving._replace(
        scenarios=scenarios,
        demands=(Demand("tune", None, None, None, None, None, None),),
        findings=serving.findings[:1],
    )


def train(letter: str) -> TrainResult:
    """The only group of a scenario, fine-tuning."""
    rate, hours = _TRAINING[letter]
    memory = memory_use(letter)._replace(gradients=1.0 * GIB, optimizer=2.0 * GIB)
    seconds = hours * 3600
    share = memory.used / memory.usable
    gpus = _SCENARIOS[letter][2] * _SCENARIOS[letter][3]
    choice = serve(letter).choice
    return TrainResult(
        workload="tune",
        group=0,
        choice=choice,
        refusal=Check("ok"),
        fits=Check("fail", "does_not_fit") if letter == "C" else Check("ok", "fits"),
        memory=memory,
        memory_share=exact(share, "predicted"),
        step_s=_predicted((2.0, 1.7, 2.4), (Part("compute", 1.6), Part("communication", 0.4))),
        tokens_s=_predicted((rate, rate / 1.2, rate * 1.2)),
        mfu=_predicted((0.4, 0.33, 0.48)),
        duration_s=_predicted((seconds, seconds / 1.2, seconds * 1.2)),
        deadline_s=DEADLINE_S,
        gpu_hours=_predicted((hours * gpus, hours * gpus / 1.2, hours * gpus * 1.2)),
        energy_j=_predicted(
            (_ROOM[letter][0] * seconds, _ROOM[letter][0] * seconds * 0.8, _ROOM[letter][0] * seconds * 1.2)
        ),
        gpu_power_w=exact(400.0, "predicted"),
        binds="compute",
        communication_share=0.2,
    )


def empty_plan() -> Plan:
    """A plan with a workload and no scenario."""
    return plan().model_copy(update={"scenarios": (), "baseline": None})


def empty_results() -> Results:
    """What follows from `empty_plan`."""
    return results()._replace(scenarios=(), headline=Headline("nothing_yet"), findings=(), baseline=None)
