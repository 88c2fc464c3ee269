"""Every family of error that public tables make is planted once and more, and found."""

import pytest
from planting import CATALOG, Pins, changed, with_gpu, with_llm

from gpuplanner.catalog.check import (
    check,
    check_gpu,
    check_llm,
    checked_card,
    compared,
    count_params,
    facts,
    generation_of,
)
from gpuplanner.catalog.load import ENTRY_KINDS, load
from gpuplanner.catalog.schema import Gpu, Price
from gpuplanner.units import GIB, TERA

T = TERA


def errors(catalog, name=None):
    return [issue for issue in check(catalog) if issue.level == "error" and name in (None, issue.entry)]


def test_the_shipped_catalog_has_no_errors():
    assert errors(CATALOG) == []


def test_every_shipped_figure_names_a_source_that_exists_or_is_unverified():
    for kind in ENTRY_KINDS:
        for entry in CATALOG.entries(kind).values():
            for key, fact in facts(entry):
                assert fact.source in CATALOG.sources or (fact.source, fact.mark) == ("unverified", "unverified"), (
                    entry.name,
                    key,
                )
    for price in CATALOG.prices:
        assert price.source in CATALOG.sources or price.source == "unverified", price.id


# Wrong values and where they stand: the list of traps that came with the reference tables (T1 to T12).
PLANTED = [
    ("T1", "H100 SXM 80GB", {"peak_flops__fp16": 1979 * T}),
    ("T1", "H100 SXM 80GB", {"peak_flops__fp32": 989 * T, "peak_flops__fp16": 1979 * T}),
    ("T1", "H100 NVL 94GB", {"peak_flops__fp32": 835 * T, "peak_flops__fp16": 1671 * T}),
    ("T1", "GH200 96GB", {"peak_flops__fp16": 1979 * T}),
    ("T1", "L40S 48GB", {"peak_flops__bf16": 733 * T}),
    ("T1", "L40S 48GB", {"peak_flops__fp8": 1466 * T}),
    ("T1", "L40 48GB", {"peak_flops__fp16": 362 * T}),
    ("T1", "GeForce RTX 4090 24GB", {"peak_flops__int8": 1321 * T}),
    ("T1", "GeForce RTX 4090 24GB", {"peak_flops__fp8": 1321 * T}),
    ("T1", "GeForce RTX 5090 32GB", {"peak_flops__fp4": 3352 * T}),
    ("T1", "B200 180GB", {"peak_flops__fp8": 9000 * T}),
    ("T1", "B100 192GB", {"peak_flops__fp16": 3500 * T}),
    ("T1", "Instinct MI300X 192GB", {"peak_flops__fp16": 2615 * T}),
    ("T1", "Instinct MI100 32GB", {"peak_flops__int8": 369.2 * T}),
    ("T1", "Instinct MI210 64GB", {"peak_flops__int8": 362 * T}),
    ("T1", "A100 SXM 80GB", {"peak_flops__tf32": 312 * T}),
    # Everything doubled: the ratios still fit, the chip cannot do it.
    ("T1", "A100 SXM 80GB", {f"peak_flops__{precision}": tflops * T for precision, tflops in (
        ("fp32", 39), ("tf32", 312), ("fp16", 624), ("bf16", 624), ("int8", 1248), ("int4", 2496))}),
    ("T2", "RTX A6000 48GB", {"peak_flops__fp16": 38.7 * T, "peak_flops__bf16": 38.7 * T}),
    ("T2", "GeForce RTX 3090 24GB", {"peak_flops__bf16": 35.6 * T}),
    ("T2", "A100 SXM 80GB", {"peak_flops__fp16": 77.97 * T, "peak_flops__bf16": 77.97 * T}),
    ("T2", "H100 SXM 80GB", {"peak_flops__fp16": 133 * T}),
    ("T3", "H100 PCIe 80GB", {"memory_bandwidth_bytes_s": 3.35e12}),
    ("T3", "H100 PCIe 80GB", {"peak_flops__fp16": 989.5 * T, "peak_flops__bf16": 989.5 * T}),
    ("T3", "H100 SXM 80GB", {"board_power_w": 350}),
    ("T3", "A100 PCIe 80GB", {"board_power_w": 400}),
    ("T3", "H200 NVL 141GB", {"peak_flops__bf16": 989.5 * T}),
    ("T4", "GeForce RTX 4090 24GB", {"peak_flops__fp16": 330.3 * T}),
    ("T4", "GeForce RTX 3090 24GB", {"peak_flops__fp16": 142.3 * T, "peak_flops__bf16": 142.3 * T}),
    ("T4", "GeForce RTX 5090 32GB", {"peak_flops__fp8": 838 * T}),
    ("T4", "GeForce RTX 2080 Ti 11GB", {"peak_flops__fp16": 107.6 * T}),
    ("T5", "A16 64GB (4x16GB)", {"gpus_per_card": 1}),
    ("T5", "Instinct MI250X 128GB", {"gpus_per_card": 1}),
    ("T5", "Data Center GPU Max 1550 128GB", {"gpus_per_card": 1}),
    ("T5", "B200 180GB", {"gpus_per_card": 2}),
    ("T5", "GB200 186GB (per GPU)", {"gpus_per_card": 2}),
    ("T6", "H100 SXM 80GB", {"link_one_way_bytes_s": 900e9}),
    ("T6", "B200 180GB", {"link_one_way_bytes_s": 1800e9}),
    ("T6", "RTX A6000 48GB", {"link_one_way_bytes_s": 112.5e9}),
    ("T6", "H100 PCIe 80GB", {"pcie_one_way_bytes_s": 128e9}),
    ("T6", "Instinct MI300X 192GB", {"pair_one_way_bytes_s": None}),
    ("T6", "Instinct MI300X 192GB", {"link_one_way_bytes_s": 896e9}),
    ("T6", "Instinct MI300X 192GB", {"pair_one_way_bytes_s": 448e9}),
    ("T7", "A100 PCIe 80GB", {"link_domain": 8}),
    ("T7", "GeForce RTX 4090 24GB", {"link_kind": "nvlink", "link_one_way_bytes_s": 450e9}),
    ("T8", "H100 SXM 80GB", {"memory_bytes": 80e9}),
    ("T8", "A100 SXM 80GB", {"memory_visible_bytes": 96 * GIB}),
    ("T8", "Instinct MI325X 256GB", {"memory_bytes": 288 * GIB}),
    ("T9", "H200 NVL 141GB", {"peak_flops__bf16": 840 * T, "peak_flops__fp16": 840 * T}),
    ("T9", "Gaudi 3 128GB", {"peak_flops__bf16": 1835 * T}),
    ("T9", "Tesla V100 SXM2 16GB", {"memory_bandwidth_bytes_s": 1130e9}),
    ("T9", "Instinct MI300X 192GB", {"memory_bandwidth_bytes_s": 10.3e12}),
    ("T10", "A800 SXM 80GB", {"link_one_way_bytes_s": 300e9}),
    ("T10", "A800 PCIe 80GB", {"link_one_way_bytes_s": 300e9}),
    ("T10", "H800 SXM 80GB", {"link_one_way_bytes_s": 450e9}),
    ("T10", "GeForce RTX 4090 D 24GB", {"peak_flops__fp16": 165.2 * T, "peak_flops__fp32": 82.58 * T}),
    ("T10", "GeForce RTX 5090 D 32GB", {"peak_flops__fp4": 1676 * T}),
    ("T10", "H20 96GB", {"peak_flops__bf16": 989.5 * T}),
    ("T12", "Tesla V100 SXM2 32GB", {"peak_flops__bf16": 125 * T}),
    ("T12", "T4 16GB", {"peak_flops__bf16": 65 * T}),
    ("T12", "H100 SXM 80GB", {"peak_flops__int4": 3958 * T}),
    ("T12", "Instinct MI250X 128GB", {"peak_flops__int4": 766 * T}),
    ("T12", "B300 288GB", {"peak_flops__int8": 4500 * T}),
    ("T12", "GB300 288GB (per GPU)", {"peak_flops__int8": 5000 * T}),
    ("T12", "B300 288GB", {"peak_flops__bf16": 3750 * T, "peak_flops__fp8": 7500 * T}),
    ("T12", "A100 SXM 80GB", {"peak_flops__fp8": 624 * T}),
    ("unit", "H100 SXM 80GB", {"memory_bandwidth_bytes_s": 3350}),
    ("unit", "H100 SXM 80GB", {"peak_flops__fp16": 989.5}),
    ("unit", "H100 SXM 80GB", {"memory_bytes": 80}),
    ("bound", "L4 24GB", {"power_limit_min_w": 90}),
    ("bound", "L4 24GB", {"board_power_w": 30}),
    ("bound", "L4 24GB", {"memory_bandwidth_bytes_s": 3.0e12}),
]  # fmt: skip


@pytest.mark.parametrize(("rule", "name", "changes"), PLANTED, ids=[f"{r}-{n}-{'-'.join(c)}" for r, n, c in PLANTED])
def test_a_planted_fault_of_a_card_is_found(rule, name, changes):
    card = changed(CATALOG.gpus[name], **changes)
    found = check_gpu(card, {**CATALOG.gpus, name: card})
    assert rule in {issue.rule for issue in found}, [issue[2:5] for issue in found]
    keys = {path.replace("__", ".") for path in changes}
    assert any(issue.key in keys or issue.rule == "bound" for issue in found)


@pytest.mark.parametrize("factor", [0.5, 2.0])
def test_any_rate_of_any_card_that_is_off_by_two_is_found(factor):
    for gpu in CATALOG.gpus.values():
        for name, fact in gpu.peak_flops.items():
            assert check_gpu(changed(gpu, **{f"peak_flops__{name}": fact.value * factor})), (gpu.name, name)


@pytest.mark.parametrize("factor", [0.5, 2.0])
def test_the_generation_alone_tells_that_a_rate_is_off_by_two(factor):
    # Under a name that nobody checked: only what the architecture can do speaks.
    seen = 0
    for gpu in CATALOG.gpus.values():
        size = f"{gpu.memory_bytes.value / GIB:g}GB"
        name = f"GeForce RTX 9999 {size}" if "GeForce" in gpu.name else f"Unheard {size}"
        card = changed(gpu, id="unheard", name=name, aliases=())
        assert checked_card(card) is None and check_gpu(card) == [], gpu.name
        if generation_of(card) is None or len(card.peak_flops) < 4:
            continue
        for rate in {"fp16", "bf16", "fp8"} & set(card.peak_flops):
            seen += 1
            wrong = changed(card, **{f"peak_flops__{rate}": card.peak_flops[rate].value * factor})
            assert check_gpu(wrong), (gpu.name, rate)
    assert seen > 150


def test_a_card_of_one_source_is_guarded_but_not_called_compared():
    # The RTX 4070 stands in one table that was read; H100 figures were compared between tables.
    card = CATALOG.gpus["GeForce RTX 4070 12GB"]
    assert compared(CATALOG.gpus["H100 SXM 80GB"]) and not compared(card)
    assert check_gpu(changed(card, memory_bandwidth_bytes_s=2 * card.memory_bandwidth_bytes_s.value))
    assert not compared(changed(card, id="mine", name="Unheard 12GB", aliases=()))


def test_a_link_given_both_ways_and_a_decimal_memory_are_found_on_any_card():
    for gpu in CATALOG.gpus.values():
        if gpu.link_one_way_bytes_s is not None:
            assert check_gpu(changed(gpu, link_one_way_bytes_s=2 * gpu.link_one_way_bytes_s.value)), gpu.name
        decimal = changed(gpu, memory_bytes=gpu.memory_bytes.value / GIB * 1e9)
        assert "T8" in {issue.rule for issue in check_gpu(decimal)}, gpu.name


def test_a_model_with_grouped_queries_given_as_multi_head_is_found():
    for llm in CATALOG.llms.values():
        if llm.attention.kind == "GQA" and llm.params_basis == "computed":
            assert check_llm(changed(llm, kv_heads=llm.heads)), llm.name
            assert check_llm(changed(llm, kv_heads=llm.heads, attention__kind="MHA")), llm.name


def test_a_copied_row_is_found():
    # Two public tables give the MI300A and the MI308X all figures of the MI300X.
    parent = CATALOG.gpus["Instinct MI300X 192GB"]
    copy = changed(parent, id="mi308x-copy", name="Instinct MI308X 192GB", aliases=())
    found = errors(CATALOG.over(Pins(gpus=(copy,))), "Instinct MI308X 192GB")
    assert {"T10", "T11"} <= {issue.rule for issue in found}
    apu = changed(parent, id="mi300a-copy", name="Instinct MI300A", aliases=(), form_factor="APU socket (SH5)")
    assert "T11" in {issue.rule for issue in errors(CATALOG.over(Pins(gpus=(apu,))), "Instinct MI300A")}


def test_a_short_name_is_told_by_form_factor_and_memory():
    card = changed(CATALOG.gpus["H100 PCIe 80GB"], id="h", name="H100", aliases=(), memory_bandwidth_bytes_s=3.35e12)
    assert "T3" in {issue.rule for issue in check_gpu(card)}


@pytest.mark.parametrize("name", ["NVIDIA H100 80GB SXM5", "my H100-SXM 80 GB", "h100 sxm 80gb (test)"])
def test_a_strangers_card_is_compared_under_another_spelling(name):
    card = changed(CATALOG.gpus["H100 SXM 80GB"], id="mine", name=name, aliases=(), memory_bandwidth_bytes_s=2.039e12)
    assert checked_card(card).name == "H100 SXM 80GB"
    assert "T3" in {issue.rule for issue in check_gpu(card)}


def test_a_card_that_nobody_checked_is_judged_by_its_generation_only():
    # A super version with more units than the RTX 4080 has: another card, and plausible.
    factor = 80 / 76
    base = CATALOG.gpus["GeForce RTX 4080 16GB"]
    card = changed(
        base,
        id="rtx-4080-super",
        name="GeForce RTX 4080 SUPER 16GB",
        aliases=(),
        **{f"peak_flops__{name}": fact.value * factor for name, fact in base.peak_flops.items()},
    )
    assert checked_card(card) is None
    assert check_gpu(card) == []
    assert "T4" in {i.rule for i in check_gpu(changed(card, peak_flops__fp16=card.peak_flops["fp16_acc16"].value))}


def test_an_architecture_that_nobody_described_still_has_its_rates_compared():
    card = Gpu(
        id="x", name="Acme X1 64GB", architecture="Acme", memory_bytes={"value": 64 * GIB},
        peak_flops={"bf16": {"value": 4e14}, "fp8": {"value": 16e14}},
    )  # fmt: skip
    assert generation_of(card) is None
    assert [issue.rule for issue in check_gpu(card)] == ["T1"]


def test_a_figure_without_a_source_is_unverified_and_no_error():
    catalog = with_gpu("H100 SXM 80GB", board_power_w={"value": 700})
    assert errors(catalog) == []
    assert catalog.gpus["H100 SXM 80GB"].board_power_w.mark == "unverified"
    assert ("H100 SXM 80GB", "board_power_w") in {(i.entry, i.key) for i in check(catalog) if i.level == "unverified"}


def test_a_source_that_does_not_exist_is_unverified():
    catalog = with_gpu("H100 SXM 80GB", board_power_w={"value": 700, "source": "nowhere"})
    found = [i for i in check(catalog) if i.entry == "H100 SXM 80GB" and i.key == "board_power_w"]
    assert [i.level for i in found] == ["unverified"] and "nowhere" in found[0].message


LLM_FAULTS = [
    ("kv", "Llama-3.1-70B", {"kv_heads": 64}),
    ("params", "Llama-3.1-70B", {"kv_heads": 64, "attention__kind": "MHA"}),
    # The total is counted again with the wrong heads: the published count still tells.
    (
        "params",
        "Llama-3.1-70B",
        {"kv_heads": 64, "attention__kind": "MHA", "params_total": 79.948e9, "params_active": 79.948e9},
    ),
    ("kv", "Falcon-7B", {"kv_heads": 71}),
    ("kv", "DeepSeek-V3", {"kv_heads": 2}),
    ("kv", "DeepSeek-V3", {"attention__mla": None}),
    ("kv", "Gemma-3-27B", {"attention__windowed_layers": 0, "attention__full_layers": 62, "attention__window": None}),
    ("kv", "gpt-oss-120b", {"attention__windowed_layers": 0, "attention__full_layers": 36, "attention__window": None}),
    ("params", "Mixtral-8x7B", {"params_total": 56e9}),
    ("params", "Mixtral-8x7B", {"params_total": 56e9, "params_basis": "published", "params_total_published": 56e9}),
    ("params", "Qwen3-32B", {"head_dim": 80}),
    ("params", "DeepSeek-V3", {"params_total": 685e9}),
    ("params", "GLM-4.5", {"params_total": 32e9, "params_active": 355e9}),
    ("params", "Llama-2-7B", {"layers": 1, "attention__full_layers": 1}),
    ("shape", "Mistral-7B-v0.1", {"max_context": 4096}),
    ("shape", "Llama-2-7B", {"attention__full_layers": 40}),
    ("shape", "Mixtral-8x7B", {"moe__experts_per_token": 16}),
    ("kv", "Llama-2-7B", {"kv_heads": 5}),
]


@pytest.mark.parametrize(
    ("rule", "name", "changes"), LLM_FAULTS, ids=[f"{r}-{n}-{'-'.join(c)}" for r, n, c in LLM_FAULTS]
)
def test_a_planted_fault_of_a_model_is_found(rule, name, changes):
    found = errors(with_llm(name, **changes), name)
    assert rule in {issue.rule for issue in found}, found


def test_parameters_are_counted_from_the_shape():
    # Published counts: 6.738e9, 46.70e9 and 671.03e9 (four digits).
    for name, total in (("Llama-2-7B", 6.738e9), ("Mixtral-8x7B", 46.70e9), ("DeepSeek-V3", 671.03e9)):
        assert count_params(CATALOG.llms[name])[0] == pytest.approx(total, rel=2e-4)


SERVER_FAULTS = [
    ("T3", "DGX H100", {"rack_units": 4}),
    ("T3", "DGX A100 80GB", {"rack_units": 4}),
    ("T3", "DGX H100", {"psu_count": 4, "psu_w": 3000}),
    ("server", "DGX H100", {"max_power_w": 5000}),
    ("server", "HGX H100 8-GPU, Supermicro SYS-821GE-TNHR", {"rack_units": 2}),
    ("server", "DGX H100", {"psu_needed": 8}),
    ("server", "DGX H100", {"typical_power_w": 12000}),
    ("reference", "DGX H100", {"gpu_options": ("H100",)}),
    ("reference", "DGX H100", {"server_class": "none_such"}),
]


@pytest.mark.parametrize(
    ("rule", "name", "changes"), SERVER_FAULTS, ids=[f"{r}-{n}-{'-'.join(c)}" for r, n, c in SERVER_FAULTS]
)
def test_a_planted_fault_of_a_server_is_found(rule, name, changes):
    server = changed(CATALOG.servers[name], **changes)
    assert rule in {issue.rule for issue in errors(CATALOG.over(Pins(servers=(server,))), name)}


def test_faults_of_the_network_and_of_prices_are_found():
    nic = changed(CATALOG.nics["ConnectX-7 NDR 400G"], port_bits_s=400)
    assert "network" in {i.rule for i in errors(CATALOG.over(Pins(nics=(nic,))), nic.name)}
    price = Price(
        id="x",
        item="x",
        entry="No such card",
        kind="gpu",
        currency="USD",
        amount=5,
        low=6,
        high=7,
        date="soon",
        source="y",
    )
    rules = [i.rule for i in errors(CATALOG.over(Pins(prices=(price,)))) if i.key == "price.x"]
    assert sorted(rules) == ["price", "price", "reference"]


def test_a_fault_in_the_users_own_file_is_found(tmp_path):
    card = changed(CATALOG.gpus["A800 SXM 80GB"], link_one_way_bytes_s=300e9)
    (tmp_path / "gpus.json").write_text(f"[{card.model_dump_json()}]", encoding="utf-8")
    assert "T10" in {issue.rule for issue in errors(load(tmp_path), "A800 SXM 80GB")}


def test_a_bad_entry_of_the_user_is_an_error_of_the_check(tmp_path):
    (tmp_path / "gpus.json").write_text('[{"id": "x", "name": "X"}]', encoding="utf-8")
    assert "file" in {issue.rule for issue in errors(load(tmp_path), "X")}
