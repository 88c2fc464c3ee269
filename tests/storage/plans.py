"""Plans for the tests of files: random ones, and one that says something in every section."""

from hypothesis import strategies as st

from gpuplanner.catalog.schema import Fact, Gpu, Llm, Price, Source
from gpuplanner.model.plan import (
    ConcurrencyLoad,
    Economics,
    ExchangeRate,
    FineTune,
    Group,
    Money,
    Network,
    Owned,
    PinnedEntries,
    Placed,
    Plan,
    QueueLoad,
    RateLoad,
    Run,
    Scenario,
    Serve,
    Site,
    Speculation,
    Train,
    UserLoad,
    Wishes,
)

ACME = Gpu(
    id="acme-x1-64",
    name="Acme X1 64GB",
    architecture="acme",
    memory_bytes=Fact(value=64 * 2**30, source="acme-datasheet"),
    peak_flops={"bf16": Fact(value=4e14, source="acme-datasheet")},
)
SHEET = Source(id="acme-datasheet", where="Acme X1 data sheet, page 3")
QUOTE = Price(
    id="acme-quote", item="Acme X1", entry="Acme X1 64GB", kind="gpu", currency="EUR", amount=9000, date="2026-05",
    source="acme-datasheet",
)  # fmt: skip


def full_plan() -> Plan:
    """A plan with something in every section."""
    return Plan(
        name="Machine room 2, 机房",
        notes="First line.\nSecond line.\tAfter a tab.",
        currency="CNY",
        exchange_rates=(ExchangeRate(currency="USD", per_base=0.14, date="2026-06-01"),),
        country="CN",
        entries=PinnedEntries(gpus=(ACME,), prices=(QUOTE,), sources=(SHEET,)),
        workloads=(
            Serve(id="chat", llm=("Llama-3.3-70B",), load=UserLoad(users=200, requests_per_user_peak_hour=12)),
            Serve(id="batch", load=QueueLoad(), first_token_s=None, per_token_s=None),
            FineTune(id="tune", method="qlora", deadline="2026-12-24"),
            Train(id="train", tokens=2e12, global_batch=1024),
        ),
        scenarios=(
            Scenario(
                letter="A",
                groups=(
                    Group(
                        gpu="Acme X1 64GB",
                        servers=2,
                        price=Money(amount=1.1e6, currency="CNY"),
                        power_cap_w=350,
                        runs=(Run(workload="chat", tp=8, speculation=Speculation(kind="eagle")),),
                    ),
                    Group(server="DGX H100", runs=(Run(workload="tune", sharding="zero3"),)),
                ),
                network=Network(fabric="roce", nic_bits_s=4e11),
                placement=(Placed(group=0, server=0, rack=1, unit=3),),
            ),
            Scenario(letter="C", name="Nothing bought"),
        ),
        baseline="C",
        site=Site(power_w=40e3, cooling_w=35e3, supply_c=24, pue=1.4),
        economics=Economics(electricity_per_kwh=Money(amount=0.7, currency="CNY")),
        wishes=Wishes(budget=Money(amount=1e6, currency="CNY"), owned=(Owned(gpu="Tesla T4 16GB", count=4),)),
        measured=({"id": "ours-1", "metric": "output_tokens_per_s", "value": 812.5, "parallel": {"tp": 8}, "x": None},),
    )


_SHOWN = st.characters(exclude_categories=("Cc", "Cf", "Cs", "Zl", "Zp"))
names = st.text(_SHOWN, max_size=30)
money = st.builds(Money, amount=st.floats(0, 1e15), currency=st.sampled_from(["USD", "CNY", "EUR"]))


def _auto(strategy: st.SearchStrategy) -> st.SearchStrategy:
    return st.one_of(st.just("auto"), strategy)


_loads = st.one_of(
    st.builds(UserLoad, users=st.floats(1, 1e9), requests_per_user_peak_hour=st.floats(1e-300, 1e5)),
    st.builds(RateLoad, requests_s=st.floats(1e-9, 1e7)),
    st.builds(ConcurrencyLoad, concurrency=st.floats(1, 1e7)),
    st.builds(QueueLoad),
)
_workloads = st.one_of(
    st.builds(
        Serve,
        id=st.just("w"),
        name=names,
        llm=st.lists(names, max_size=3).map(tuple),
        load=_loads,
        prompt_tokens=st.integers(1, 10**8),
        first_token_s=st.none() | st.floats(1e-3, 86_400),
        growth_per_year=st.floats(-1, 10),
    ),
    st.builds(FineTune, id=st.just("w"), epochs=st.floats(0.1, 1000), global_batch=_auto(st.integers(1, 10**6))),
    st.builds(Train, id=st.just("w"), tokens=st.floats(1, 1e18), deadline_s=st.none() | st.floats(1, 1e10)),
)
_runs = st.builds(
    Run,
    workload=st.just("w"),
    runtime=_auto(names),
    tp=_auto(st.integers(1, 4096)),
    attention_dp=_auto(st.booleans()),
    memory_fraction=_auto(st.floats(0.01, 1)),
    weights=_auto(st.sampled_from(["fp8", "int4", "q4_k_m"])),
)
_groups = st.builds(
    Group,
    gpu=names,
    server=names,
    servers=st.integers(1, 100_000),
    price=_auto(money),
    age_years=_auto(st.floats(0, 50)),
    runs=st.lists(_runs, max_size=1).map(tuple),
)


@st.composite
def plans(draw: st.DrawFn) -> Plan:
    """Any plan: odd numbers, odd names, none to eight scenarios."""
    letters = draw(st.lists(st.sampled_from("ABCDEFGH"), unique=True, max_size=8))
    return Plan(
        name=draw(names),
        notes=draw(names),
        workloads=(draw(_workloads),),
        scenarios=tuple(
            Scenario(letter=letter, groups=tuple(draw(st.lists(_groups, max_size=2)))) for letter in letters
        ),
        baseline=draw(st.sampled_from([None, *letters])),
        site=Site(power_w=draw(st.none() | st.floats(1e-6, 1e10)), altitude_m=draw(st.floats(-500, 6000))),
        wishes=Wishes(budget=draw(st.none() | money)),
        entries=draw(
            st.sampled_from([PinnedEntries(), PinnedEntries(gpus=(ACME,), prices=(QUOTE,), sources=(SHEET,))])
        ),
    )


LLM = Llm(
    id="tiny", name="Tiny 1B", layers=2, hidden=64, heads=4, kv_heads=4, head_dim=16, vocab=100, params_total=1e9,
    params_active=1e9, attention={"kind": "MHA", "full_layers": 2},
)  # fmt: skip
