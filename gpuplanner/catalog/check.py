"""Look for wrong figures in a catalog: what cannot be, what contradicts itself, and what nobody has a source for.

The rules are named after the kinds of error that public tables make (T1 to T12):

T1  a rate with 2:4 sparsity given as the dense one         T7   a bridge counted for the whole server
T2  the vector rate given as the matrix rate                T8   decimal gigabytes, or more memory visible than there is
T3  form factors mixed (SXM, PCIe, NVL)                     T9   a figure from before the launch, never updated
T4  the FP16-accumulate rate given for FP32 accumulation    T10  an export variant with its parent's figures
T5  a package counted as one or several devices             T11  a row copied from another card
T6  a link quoted both ways given as one way                T12  rates of one card that do not fit together

Beside them: ``unit``, ``bound``, ``shape``, ``params``, ``kv``, ``reference``, ``price``, ``server``, ``network``,
``file`` and ``source``.
"""

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Any, Literal, NamedTuple

from gpuplanner import paths
from gpuplanner.catalog.load import ENTRY_KINDS, Catalog
from gpuplanner.catalog.query import exact_key, words
from gpuplanner.catalog.schema import Cpu, Fact, Gpu, Llm, Price, Server
from gpuplanner.i18n import N_, _
from gpuplanner.units import GIB, TERA

UNVERIFIED = "unverified"

# Rates are printed with three or four digits; two of them in a ratio differ by rounding.
RATIO_TOLERANCE = 0.045
# A peak rate follows from units and clock, so that two tables agree on it; bandwidth and power are rounded more freely.
PEAK_TOLERANCE = 0.005
BANDWIDTH_TOLERANCE = 0.03
POWER_TOLERANCE = 0.04


class Issue(NamedTuple):
    """One finding. An error is a figure that cannot be right; unverified is one that nobody has a source for."""

    level: Literal["error", "unverified"]
    entry: str
    key: str
    rule: str
    message: str
    values: Mapping[str, float | str]


# --- what an architecture can do -------------------------------------------------------------------------------------


class Generation(NamedTuple):
    """Ratios between the dense rates of an architecture, from how many operations a unit does in a clock.

    Each ratio is a pair of rate names and the values that it takes on cards of this kind.
    """

    name: str
    pattern: str
    compute_capabilities: tuple[str, ...]
    lacks: tuple[str, ...]
    ratios: tuple[tuple[str, str, tuple[float, ...]], ...]
    # Whether 16-bit work runs on matrix units.
    matrix: bool = True
    # Per card with a bridge or on a board, one direction. None = the generation has no such link. [B/s]
    link_bytes_s: float | None = None
    # GeForce only, or everything but GeForce. None = both.
    consumer: bool | None = None


_16 = ("bf16", "fp16", (1.0,))
GENERATIONS = (
    Generation("Pascal", r"^pascal", ("6.0", "6.1"), ("tf32", "bf16", "fp8", "fp4", "int4"),
               (("fp16", "fp32", (1 / 64, 2.0)), ("int8", "fp32", (4.0,))), matrix=False, link_bytes_s=80e9),
    Generation("Volta", r"^volta", ("7.0",), ("tf32", "bf16", "fp8", "fp4", "int4"),
               (("fp16", "fp32", (8.0,)), ("int8", "fp32", (4.0,))), link_bytes_s=150e9),
    Generation("Turing", r"^turing", ("7.5",), ("tf32", "bf16", "fp8", "fp4"),
               (("fp16", "fp32", (8.0,)), ("int8", "fp16", (2.0,)), ("int4", "int8", (2.0,))),
               link_bytes_s=50e9, consumer=False),
    Generation("Turing", r"^turing", ("7.5",), ("tf32", "bf16", "fp8", "fp4"),
               (("fp16", "fp32", (4.0,)), ("fp16_acc16", "fp16", (2.0,)), ("int8", "fp16", (4.0,)),
                ("int4", "int8", (2.0,))),
               link_bytes_s=50e9, consumer=True),
    Generation("Ampere (GA100)", r"ga100", ("8.0",), ("fp8", "fp4"),
               (_16, ("fp16", "tf32", (2.0,)), ("fp16", "fp32", (16.0,)), ("int8", "fp16", (2.0,)),
                ("int4", "int8", (2.0,))),
               link_bytes_s=300e9),
    # The A10G runs its matrix units at a little over half the rate of the A10.
    Generation("Ampere", r"^ampere", ("8.6",), ("fp8", "fp4"),
               (_16, ("fp16", "tf32", (2.0,)), ("fp16", "fp32", (4.0, 2.22)), ("fp16_acc16", "fp16", (1.0,)),
                ("int8", "fp16", (2.0,)), ("int4", "int8", (2.0,))), link_bytes_s=56.25e9, consumer=False),
    Generation("Ampere", r"^ampere", ("8.6",), ("fp8", "fp4"),
               (_16, ("fp16", "tf32", (2.0,)), ("fp16", "fp32", (2.0,)), ("fp16_acc16", "fp16", (2.0,)),
                ("int8", "fp16", (4.0,)), ("int4", "int8", (2.0,))), link_bytes_s=56.25e9, consumer=True),
    # The L40 and L20 are cut to half the matrix rate of the L40S; the L40S sheet prints its INT4 rate equal to INT8.
    Generation("Ada", r"^ada", ("8.9",), ("fp4",),
               (_16, ("fp16", "tf32", (2.0,)), ("fp16", "fp32", (2.0, 4.0)), ("fp16_acc16", "fp16", (1.0,)),
                ("fp8", "fp16", (2.0,)), ("int8", "fp16", (2.0,)), ("int4", "int8", (1.0, 2.0))), consumer=False),
    Generation("Ada", r"^ada", ("8.9",), ("fp4",),
               (_16, ("fp16", "tf32", (2.0,)), ("fp16", "fp32", (2.0,)), ("fp16_acc16", "fp16", (2.0,)),
                ("fp8", "fp16", (2.0,)),
                ("fp8_acc16", "fp8", (2.0,)), ("int8", "fp16", (4.0,)), ("int4", "int8", (2.0,))), consumer=True),
    # The H20 keeps its vector units and has a seventh of the matrix rate.
    Generation("Hopper", r"hopper|gh100", ("9.0",), ("fp4", "int4"),
               (_16, ("fp16", "tf32", (2.0,)), ("fp16", "fp32", (13.93, 14.77, 3.36)), ("fp8", "fp16", (2.0,)),
                ("int8", "fp16", (2.0,))), link_bytes_s=450e9),
    Generation("Blackwell Ultra", r"blackwell ultra", ("10.3",), ("int4",),
               (_16, ("fp16", "tf32", (2.0,)), ("fp16", "fp32", (29.2, 31.25)), ("fp8", "fp16", (2.0,)),
                ("fp4", "fp8", (3.0, 3.11)),
                ("int8", "fp16", (0.067,)), ("fp64", "fp32", (0.016,))), link_bytes_s=900e9),
    Generation("Blackwell", r"^blackwell$|gb100", ("10.0",), ("int4",),
               (_16, ("fp16", "tf32", (2.0,)), ("fp16", "fp32", (29.2, 30.0, 31.25)), ("fp8", "fp16", (2.0,)),
                ("int8", "fp16", (2.0,)),
                ("fp4", "fp8", (2.0,))), link_bytes_s=900e9),
    Generation("Blackwell (GB10)", r"gb20b|gb10\b", ("12.1",), ("int4",),
               (_16, ("fp16", "fp32", (2.09,)), ("fp8", "fp16", (4.0,)), ("int8", "fp16", (4.0,)),
                ("fp4", "fp8", (2.0,)))),
    # Tables disagree whether the smaller RTX PRO cards run at half rate.
    Generation("Blackwell", r"^blackwell", ("12.0",), ("int4",),
               (_16, ("fp16", "tf32", (2.0,)), ("fp16", "fp32", (4.0, 2.0)), ("fp16_acc16", "fp16", (1.0, 2.0)),
                ("fp8", "fp16", (2.0,)),
                ("int8", "fp16", (2.0, 4.0)), ("fp4", "fp8", (2.0, 4.0))), consumer=False),
    Generation("Blackwell", r"^blackwell", ("12.0",), ("int4",),
               (_16, ("fp16", "tf32", (2.0,)), ("fp16", "fp32", (2.0,)), ("fp16_acc16", "fp16", (2.0,)),
                ("fp8", "fp16", (2.0,)),
                ("fp8_acc16", "fp8", (2.0,)), ("int8", "fp16", (4.0,)), ("fp4", "fp8", (4.0,))), consumer=True),
    Generation("GCN", r"^gcn|vega 20", ("gfx906",), ("tf32", "bf16", "fp8", "fp4", "int4"),
               (("fp16", "fp32", (2.0,)), ("int8", "fp16", (2.0,))), matrix=False, link_bytes_s=92e9),
    Generation("CDNA 1", r"^cdna 1", ("gfx908",), ("tf32", "fp8", "fp4", "int4"),
               (("fp16", "fp32", (8.0,)), ("bf16", "fp16", (0.5,)), ("int8", "fp16", (1.0,))), link_bytes_s=138e9),
    Generation("CDNA 2", r"^cdna 2", ("gfx90a",), ("tf32", "fp8", "fp4", "int4"),
               (("fp16", "fp32", (8.0,)), _16, ("int8", "fp16", (1.0,))), link_bytes_s=350e9),
    Generation("CDNA 3", r"^cdna 3", ("gfx942",), ("fp4", "int4"),
               (("fp16", "fp32", (8.0,)), _16, ("fp16", "tf32", (2.0,)), ("fp8", "fp16", (2.0,)),
                ("int8", "fp16", (2.0,))),
               link_bytes_s=448e9),
    Generation("CDNA 4", r"^cdna 4", ("gfx950",), (),
               (("fp16", "fp32", (16.0,)), _16, ("fp8", "fp16", (2.0,)), ("int8", "fp16", (2.0,)),
                ("fp4", "fp8", (2.0,))),
               link_bytes_s=536e9),
    Generation("RDNA 3", r"^rdna 3", ("gfx1100", "gfx1101", "gfx1151"), ("tf32", "fp8", "fp4"),
               (("fp16", "fp32", (2.0,)), _16, ("int8", "fp16", (1.0,)), ("int4", "int8", (2.0,)))),
    Generation("RDNA 4", r"^rdna 4", ("gfx1200", "gfx1201"), ("tf32", "fp4"),
               (("fp16", "fp32", (4.0,)), _16, ("fp8", "fp16", (2.0,)), ("int8", "fp16", (2.0,)),
                ("int4", "int8", (2.0,)))),
    Generation("Gaudi 2", r"^gaudi 2", (), ("int4", "fp4"), (("fp8", "bf16", (2.0,)),), link_bytes_s=300e9),
    Generation("Gaudi 3", r"^gaudi 3", (), ("int4", "fp4"), (("fp8", "bf16", (1.0,)),
               ("bf16", "fp16", (3.65,))), link_bytes_s=600e9),
    Generation("Xe-HPC", r"ponte vecchio|xe-hpc", (), ("fp8", "fp4", "int4"),
               (("fp16", "fp32", (16.0,)), _16, ("int8", "fp16", (2.0,)), ("fp16", "tf32", (2.0,)))),
    Generation("Xe-HPG", r"^xe2?-hpg", (), ("fp8", "fp4"), (("fp16", "fp32", (7.0, 8.0, 8.5)), _16,
               ("int8", "fp16", (2.0,)))),
    Generation("Apple", r"^m\d+ family", (),
               ("tf32", "fp8", "fp4", "int4", "bf16"), (("fp16", "fp32", (1.0,)),), matrix=False),
)  # fmt: skip


class Chip(NamedTuple):
    """The most that a chip has been sold with: units, clock [GHz], dense FP16 operations per unit and clock."""

    units: int
    clock_ghz: float
    operations: int

    @property
    def ceiling_flops(self) -> float:
        return self.units * self.clock_ghz * 1e9 * self.operations


# Dense FP16 with FP32 accumulation where that runs at full speed; no card exceeds units x clock x operations.
CHIPS: dict[str, Chip] = {
    "GV100": Chip(84, 1.60, 1024), "TU102": Chip(72, 1.82, 1024), "TU104": Chip(48, 1.82, 1024),
    "GA100": Chip(108, 1.41, 2048), "GA102": Chip(84, 1.86, 1024), "GA104": Chip(48, 1.80, 1024),
    "GA106": Chip(30, 1.86, 1024), "GH100": Chip(132, 1.98, 4096), "AD102": Chip(142, 2.60, 1024),
    "AD103": Chip(80, 2.62, 1024), "AD104": Chip(60, 2.62, 1024), "AD106": Chip(36, 2.62, 1024),
    "GB202": Chip(188, 2.63, 1024), "GB203": Chip(84, 2.65, 1024), "GB205": Chip(50, 2.60, 1024),
    "GB206": Chip(36, 2.65, 1024),
    "gfx908": Chip(120, 1.51, 1024), "gfx90a": Chip(220, 1.71, 1024), "gfx942": Chip(304, 2.11, 2048),
    "gfx950": Chip(256, 2.41, 4096), "gfx1100": Chip(96, 2.52, 512), "gfx1201": Chip(64, 3.00, 1024),
    "10.0": Chip(148, 2.07, 8192), "10.3": Chip(148, 2.07, 8192), "9.0": Chip(132, 1.98, 4096),
}  # fmt: skip

# Variants made for export, the card they were cut from, and what was cut.
EXPORT_CUTS = (
    (r"\ba800\b", r"\ba100\b", ("link_one_way_bytes_s",)),
    (r"\bh800\b", r"\bh100\b", ("link_one_way_bytes_s", "peak_flops.fp64")),
    (r"\bh20\b", r"\bh100\b",
    ("peak_flops.fp16", "peak_flops.bf16", "peak_flops.fp8", "peak_flops.int8", "peak_flops.tf32")),
    (r"\b4090 ?d\b", r"\b4090\b",
    ("peak_flops.fp32", "peak_flops.fp16", "peak_flops.bf16", "peak_flops.fp8", "board_power_w")),
    (r"\b5090 ?d\b", r"\b5090\b", ("peak_flops.fp4", "peak_flops.fp16", "peak_flops.fp8", "peak_flops.int8")),
    (r"\bmi308x\b", r"\bmi300x\b", ("peak_flops.fp16", "peak_flops.bf16", "peak_flops.fp8", "peak_flops.int8")),
    (r"\bl20\b", r"\bl40\b", ("peak_flops.fp16", "peak_flops.bf16", "peak_flops.fp8", "board_power_w")),
)  # fmt: skip

# Devices that software sees on one package, where the name tells.
DEVICES = (
    (r"\ba16\b", 4), (r"\bmi250x?\b", 2), (r"\bmax 1550\b", 2),
    (r"\b(h100|h200) nvl\b", 1), (r"\bgb[23]00\b", 1), (r"\bb[123]00\b", 1), (r"\bmi3\d\d[xa]?\b", 1),
)  # fmt: skip

# One way, 16 lanes. [B/s]
PCIE_ONE_WAY_BYTES_S = {1.0: 4e9, 2.0: 8e9, 3.0: 15.75e9, 4.0: 31.5e9, 5.0: 63e9, 6.0: 121e9, 7.0: 242e9}
# One way, all links of a card. [B/s]
NVLINK_ONE_WAY_BYTES_S = {1: 80e9, 2: 150e9, 3: 300e9, 4: 450e9, 5: 900e9}
_HARMLESS = frozenset(
    "nvidia amd intel geforce tesla instinct radeon gpu card accelerator module hbm2 hbm2e hbm3 hbm3e gddr5 gddr6 "
    "gddr6x gddr7 copy mine my our own used new test edition founders sxm pcie oam tensor core graphics of the "
    "per".split()
)


def check(catalog: Catalog) -> list[Issue]:
    """Everything that is wrong or unsourced in a catalog: shipped entries, the user's own and pinned ones alike."""
    issues = [
        Issue(
            "error",
            p.entry,
            p.key,
            "file",
            _("%(file)s: %(reason)s") % {"file": p.file, "reason": p.reason},
            {"file": p.file},
        )
        for p in catalog.problems
    ]
    for gpu in catalog.gpus.values():
        issues += check_gpu(gpu, catalog.gpus)
    issues += _copies(catalog.gpus.values())
    for llm in catalog.llms.values():
        issues += check_llm(llm)
    for server in catalog.servers.values():
        issues += check_server(server, catalog)
    for cpu in catalog.cpus.values():
        issues += _cpu(cpu)
    issues += _network(catalog)
    for price in catalog.prices:
        issues += check_price(price, catalog)
    for assumption in catalog.assumptions:
        if not assumption.low <= assumption.value <= assumption.high:
            message = _("The value %(value)g lies outside its own range, %(low)g to %(high)g.")
            values = {"value": assumption.value, "low": assumption.low, "high": assumption.high}
            name = f"{assumption.key}: {assumption.applies_to}"
            issues.append(Issue("error", name, "value", "bound", message % values, values))
    issues += _sources(catalog)
    return sorted(issues, key=lambda issue: issue.level != "error")


def _issue(entry: str, key: str, rule: str, message: str, **values: float | str) -> Issue:
    return Issue("error", entry, key, rule, message % values if values else message, values)


def _close(value: float, wanted: float, tolerance: float) -> bool:
    return abs(value - wanted) <= tolerance * abs(wanted)


# --- cards -----------------------------------------------------------------------------------------------------------


def check_gpu(gpu: Gpu, others: Mapping[str, Gpu] | None = None) -> list[Issue]:
    """What is wrong with one card, alone and beside `others`."""
    issues = list(_units(gpu))
    if issues:
        return issues
    issues += _memory(gpu)
    generation = generation_of(gpu)
    issues += _rates(gpu, generation)
    issues += _ceiling(gpu)
    issues += _links(gpu, generation)
    issues += _devices(gpu)
    issues += _power(gpu)
    issues += _against_checked(gpu)
    if others is not None:
        issues += _export(gpu, others)
    return _once(issues)


def _once(issues: Iterable[Issue]) -> list[Issue]:
    """One issue for a key and rule, in order."""
    seen: dict[tuple[str, str, str], Issue] = {}
    for issue in issues:
        seen.setdefault((issue.entry, issue.key, issue.rule), issue)
    return list(seen.values())


def is_consumer(gpu: Gpu) -> bool:
    """GeForce cards run FP16 with FP32 accumulation at half rate; cards for workstations and servers do not."""
    name = " ".join(words(gpu.name))
    if re.search(r"\b(rtx pro|rtx a\d|ada\b|quadro|tesla)", name):
        return False
    return "geforce" in name or re.search(r"\b(rtx|gtx) ?\d{4}\b", name) is not None


def generation_of(gpu: Gpu) -> Generation | None:
    """The row of `GENERATIONS` that speaks for a card, None where none does."""
    code = gpu.compute_capability or gpu.gfx
    text = gpu.architecture.casefold()
    consumer = is_consumer(gpu)
    fitting = [g for g in GENERATIONS if g.consumer is None or g.consumer == consumer]
    if code is not None:
        return next((g for g in fitting if code in g.compute_capabilities), None)
    return next((g for g in fitting if re.search(g.pattern, text)), None)


def _units(gpu: Gpu) -> Iterator[Issue]:
    """Figures that are off by a factor of a thousand and more: another unit was typed."""
    limits: list[tuple[str, Fact | None, float, float]] = [
        ("memory_bytes", gpu.memory_bytes, GIB, 4096 * GIB),
        ("memory_visible_bytes", gpu.memory_visible_bytes, GIB / 2, 4096 * GIB),
        ("memory_bandwidth_bytes_s", gpu.memory_bandwidth_bytes_s, 1e10, 1e14),
        ("link_one_way_bytes_s", gpu.link_one_way_bytes_s, 1e9, 1e13),
        ("pair_one_way_bytes_s", gpu.pair_one_way_bytes_s, 1e9, 1e13),
        ("pcie_one_way_bytes_s", gpu.pcie_one_way_bytes_s, 1e8, 1e12),
        ("board_power_w", gpu.board_power_w, 5, 5000),
        ("idle_power_w", gpu.idle_power_w, 0.1, 1000),
        ("max_temperature_c", gpu.max_temperature_c, 40, 125),
        ("throttle_temperature_c", gpu.throttle_temperature_c, 40, 125),
        *((f"peak_flops.{name}", fact, 1e10, 1e17) for name, fact in gpu.peak_flops.items()),
    ]
    for key, fact, low, high in limits:
        if fact is not None and not low <= fact.value <= high:
            yield _issue(
                gpu.name,
                key,
                "unit",
                _("%(value)g is no possible figure here; it must lie between %(low)g and %(high)g in SI units."),
                value=fact.value,
                low=low,
                high=high,
            )


def _label_gib(name: str) -> float | None:
    match = re.search(r"(\d+(?:\.\d+)?)\s?GB\b", name)
    return float(match[1]) if match else None


def _memory(gpu: Gpu) -> Iterator[Issue]:
    size = gpu.memory_bytes.value
    label = _label_gib(gpu.name)
    if size % GIB and not size % 1e9:
        yield _issue(
            gpu.name,
            "memory_bytes",
            "T8",
            _("%(decimal)g × 10⁹ bytes: the number on a card's box is GiB, so it holds %(right)g bytes."),
            decimal=size / 1e9,
            right=size / 1e9 * GIB,
        )
    elif label is not None and not _close(size / GIB, label, 0.02):
        yield _issue(
            gpu.name,
            "memory_bytes",
            "T8",
            _("The name says %(label)g GB and the figure is %(size).1f GiB."),
            label=label,
            size=size / GIB,
        )
    visible = gpu.memory_visible_bytes
    if visible is not None:
        share = visible.value / size
        if share > 1.0001:
            yield _issue(
                gpu.name,
                "memory_visible_bytes",
                "T8",
                _("The driver cannot show more memory (%(visible).1f GiB) than the card has (%(size).1f GiB)."),
                visible=visible.value / GIB,
                size=size / GIB,
            )
        elif share < 0.9:
            yield _issue(
                gpu.name,
                "memory_visible_bytes",
                "T8",
                _("Only %(share).0f %% of the memory is visible; drivers show 93 to 100 %%."),
                share=100 * share,
            )


def _rates(gpu: Gpu, generation: Generation | None) -> Iterator[Issue]:
    peaks = {name: fact.value for name, fact in gpu.peak_flops.items()}
    if generation is None:
        yield from _plain_ratios(gpu, peaks)
        return
    for name in generation.lacks:
        if name in peaks:
            yield _issue(
                gpu.name,
                f"peak_flops.{name}",
                "T12",
                _("%(architecture)s has no %(precision)s matrix units."),
                architecture=generation.name,
                precision=name.upper(),
            )
    if generation.matrix and "fp32" in peaks:
        for name in ("fp16", "bf16"):
            if name in peaks and _close(peaks[name], peaks["fp32"], 0.1):
                yield _issue(
                    gpu.name,
                    f"peak_flops.{name}",
                    "T2",
                    _("%(precision)s equals the FP32 vector rate (%(rate).4g TFLOPS); the matrix units are faster."),
                    precision=name.upper(),
                    rate=peaks[name] / TERA,
                )
    if generation.compute_capabilities and generation.compute_capabilities[0] in ("8.0", "9.0", "10.0", "10.3"):
        if "tf32" in peaks and peaks.get("fp32", 0) > peaks["tf32"]:
            yield _issue(
                gpu.name,
                "peak_flops.fp32",
                "T1",
                _("FP32 (%(fp32).4g TFLOPS) is above TF32 (%(tf32).4g): a matrix rate was taken for the vector rate."),
                fp32=peaks["fp32"] / TERA,
                tf32=peaks["tf32"] / TERA,
            )
    for upper, lower, allowed in generation.ratios:
        if upper not in peaks or lower not in peaks or not peaks[lower]:
            continue
        ratio = peaks[upper] / peaks[lower]
        if any(_close(ratio, wanted, RATIO_TOLERANCE) for wanted in allowed):
            continue
        nearest = min(allowed, key=lambda wanted: abs(math.log(ratio / wanted)) if ratio else math.inf)
        yield _ratio_issue(gpu, generation, upper, lower, ratio, nearest, allowed)


def _ratio_issue(
    gpu: Gpu, generation: Generation, upper: str, lower: str, ratio: float, nearest: float, allowed: tuple[float, ...]
) -> Issue:
    key = f"peak_flops.{upper}"
    values: dict[str, float | str] = {
        "upper": upper.upper(),
        "lower": lower.upper(),
        "ratio": ratio,
        "allowed": " / ".join(f"{wanted:.3g}" for wanted in allowed),
        "architecture": generation.name,
    }
    off = ratio / nearest
    if generation.consumer and _close(off, 2, 0.06) and upper in ("fp16", "bf16", "fp8"):
        return _issue(
            gpu.name,
            key,
            "T4",
            _("%(upper)s is %(ratio).3g × %(lower)s: that is the rate with FP16 accumulation; with FP32 it is half."),
            **values,
        )
    if _close(off, 2, 0.06) or _close(off, 4, 0.06):
        return _issue(
            gpu.name,
            key,
            "T1",
            _(
                "%(upper)s is %(ratio).3g × %(lower)s, on %(architecture)s it is %(allowed)s: "
                "a sparse rate was taken for the dense one."
            ),
            **values,
        )
    return _issue(
        gpu.name,
        key,
        "T12",
        _("%(upper)s is %(ratio).3g × %(lower)s; on %(architecture)s it is %(allowed)s."),
        **values,
    )


def _plain_ratios(gpu: Gpu, peaks: Mapping[Any, float]) -> Iterator[Issue]:
    """For an architecture that nobody has described: each narrower format is at most twice as fast."""
    sixteen = max(peaks.get("fp16", 0), peaks.get("bf16", 0))
    pairs = (
        ("tf32", "fp32", 17.0),
        ("fp16", "tf32", 2.05),
        ("bf16", "tf32", 2.05),
        ("fp8", "", 2.05),
        ("int8", "", 4.1),
    )
    for upper, lower, most in pairs:
        base = peaks.get(lower, 0) if lower else sixteen
        if upper in peaks and base and peaks[upper] / base > most:
            yield _issue(
                gpu.name,
                f"peak_flops.{upper}",
                "T1",
                _(
                    "%(upper)s is %(ratio).3g × %(lower)s; more than %(most)g × is not known "
                    "of any card without sparsity."
                ),
                upper=upper.upper(),
                ratio=peaks[upper] / base,
                lower=lower.upper() or _("the 16-bit rate"),
                most=most,
            )


def _ceiling(gpu: Gpu) -> Iterator[Issue]:
    """No card is faster than all units of its chip at the highest clock that any product of it runs."""
    match = re.search(r"\b(G[VATHB]\d{3}|TU\d{3}|AD\d{3})\b", gpu.architecture)
    chip = CHIPS.get(match[1]) if match else None
    if chip is None:
        chip = CHIPS.get(gpu.gfx or gpu.compute_capability or "")
    if chip is None:
        return
    for name, factor in (("fp16", 1), ("bf16", 1), ("fp16_acc16", 1), ("fp8", 2), ("fp32", 1)):
        fact = gpu.peak_flops.get(name)  # type: ignore[call-overload]
        most = chip.ceiling_flops * factor
        if fact is not None and fact.value > 1.01 * most:
            yield _issue(
                gpu.name,
                f"peak_flops.{name}",
                "T1",
                _(
                    "%(precision)s %(rate).4g TFLOPS is more than %(units)d units × %(clock).2f GHz "
                    "can do dense: %(most).4g."
                ),
                precision=name.upper(),
                rate=fact.value / TERA,
                units=chip.units,
                clock=chip.clock_ghz,
                most=most / TERA,
            )


def _links(gpu: Gpu, generation: Generation | None) -> Iterator[Issue]:
    link = gpu.link_one_way_bytes_s
    pair = gpu.pair_one_way_bytes_s
    if link is not None and link.value > 0:
        if (
            generation is not None
            and generation.link_bytes_s is not None
            and link.value > 1.02 * generation.link_bytes_s
        ):
            yield _issue(
                gpu.name,
                "link_one_way_bytes_s",
                "T6",
                _("%(link).4g GB/s one way; %(architecture)s has at most %(most).4g. Tables often count both ways."),
                link=link.value / 1e9,
                architecture=generation.name,
                most=generation.link_bytes_s / 1e9,
            )
        if gpu.link_kind == "nvlink" and generation is not None and generation.link_bytes_s is None:
            yield _issue(
                gpu.name,
                "link_one_way_bytes_s",
                "T7",
                _("Cards of %(architecture)s have no NVLink."),
                architecture=generation.name,
            )
        if gpu.link_kind == "none":
            yield _issue(gpu.name, "link_kind", "T7", _("A link speed is given and the kind of link is “none”."))
        bridge = gpu.form_factor.casefold().startswith("pcie")
        # NVLink bridges join pairs; only the big-memory Hopper cards have one for four.
        four = gpu.link_kind != "nvlink" or (gpu.compute_capability == "9.0" and gpu.memory_bytes.value >= 140 * GIB)
        most_cards = 4 if four else 2
        if bridge and gpu.link_domain > most_cards:
            yield _issue(
                gpu.name,
                "link_domain",
                "T7",
                _("A bridge joins %(most)d cards, not %(domain)d; the others talk over PCIe."),
                most=most_cards,
                domain=gpu.link_domain,
            )
    if pair is not None and link is not None and pair.value > 1.001 * link.value:
        yield _issue(
            gpu.name,
            "pair_one_way_bytes_s",
            "T6",
            _("One pair (%(pair).4g GB/s) cannot be faster than all links of a card (%(link).4g GB/s)."),
            pair=pair.value / 1e9,
            link=link.value / 1e9,
        )
    if gpu.gfx in ("gfx942", "gfx950") and link is not None and gpu.link_domain >= 8:
        if pair is None or pair.value > link.value / 4:
            yield _issue(
                gpu.name,
                "pair_one_way_bytes_s",
                "T6",
                _(
                    "The links go to seven neighbours: the speed between any two cards must be given; "
                    "it is about a seventh."
                ),
            )
    pcie = gpu.pcie_one_way_bytes_s
    if pcie is not None and gpu.pcie_generation in PCIE_ONE_WAY_BYTES_S:
        most = PCIE_ONE_WAY_BYTES_S[gpu.pcie_generation] * (gpu.pcie_lanes or 16) / 16
        if pcie.value > 1.03 * most:
            yield _issue(
                gpu.name,
                "pcie_one_way_bytes_s",
                "T6",
                _("PCIe %(generation)g × %(lanes)d carries %(most).4g GB/s one way, not %(value).4g."),
                generation=gpu.pcie_generation,
                lanes=gpu.pcie_lanes or 16,
                most=most / 1e9,
                value=pcie.value / 1e9,
            )


def _devices(gpu: Gpu) -> Iterator[Issue]:
    text = " ".join(words(gpu.name))
    wanted = next((number for pattern, number in DEVICES if re.search(pattern, text)), None)
    told = re.search(r"\bx ?(\d)\b|\((\d) (?:gcds|tiles)|, (\d) tiles", gpu.architecture.casefold())
    if wanted is None and told:
        wanted = int(next(group for group in told.groups() if group))
    if wanted is not None and gpu.gpus_per_card != wanted:
        yield _issue(
            gpu.name,
            "gpus_per_card",
            "T5",
            _("Software sees %(wanted)d devices on this card, not %(given)d."),
            wanted=wanted,
            given=gpu.gpus_per_card,
        )


def _power(gpu: Gpu) -> Iterator[Issue]:
    power = gpu.board_power_w
    low, high = gpu.power_limit_min_w, gpu.power_limit_max_w
    if low is not None and high is not None and low.value > high.value:
        yield _issue(
            gpu.name,
            "power_limit_min_w",
            "bound",
            _("The lowest power limit (%(low)g W) is above the highest (%(high)g W)."),
            low=low.value,
            high=high.value,
        )
    if power is not None and low is not None and low.value > power.value:
        yield _issue(
            gpu.name,
            "power_limit_min_w",
            "bound",
            _("The lowest power limit (%(low)g W) is above the board power (%(power)g W)."),
            low=low.value,
            power=power.value,
        )
    if power is not None and gpu.idle_power_w is not None and gpu.idle_power_w.value > 0.5 * power.value:
        yield _issue(
            gpu.name,
            "idle_power_w",
            "bound",
            _("%(idle)g W idle is more than half of the board power (%(power)g W)."),
            idle=gpu.idle_power_w.value,
            power=power.value,
        )
    sixteen = max((gpu.peak_flops[name].value for name in ("bf16", "fp16") if name in gpu.peak_flops), default=0.0)
    if power is not None and sixteen / power.value > MOST_FLOPS_PER_W:
        yield _issue(
            gpu.name,
            "peak_flops",
            "bound",
            _("%(efficiency).3g TFLOPS per watt in 16 bit: no card reaches more than %(most).3g."),
            efficiency=sixteen / power.value / TERA,
            most=MOST_FLOPS_PER_W / TERA,
        )
    width = gpu.memory_bandwidth_bytes_s
    if width is not None and width.value / gpu.memory_bytes.value > MOST_SWEEPS_S:
        yield _issue(
            gpu.name,
            "memory_bandwidth_bytes_s",
            "bound",
            _("The whole memory would be read %(sweeps).3g times a second; no card reaches more than %(most)g."),
            sweeps=width.value / gpu.memory_bytes.value,
            most=MOST_SWEEPS_S,
        )


# The best known are B100 and H100 PCIe: 2.5 and 2.2 TFLOPS dense 16 bit per watt.
MOST_FLOPS_PER_W = 2.9e12
# RTX 3080 10GB: 71 times a second.
MOST_SWEEPS_S = 85.0


# --- cards beside the figures that were cross-checked ----------------------------------------------------------------


ONE_SOURCE = N_("These figures come from one source and were compared with no other.")


class Checked(NamedTuple):
    """The figures of one card as they were compared between tables; None where none was trusted."""

    name: str
    # What the form factors of one card have in common: "h100" of "H100 PCIe 80GB".
    stem: str
    keys: frozenset[str]
    parts: frozenset[str]
    figures: Mapping[str, float]
    # Whether two sources gave them. The figures of one source only tell that somebody changed them since.
    compared: bool


@cache
def checked_cards() -> tuple[Checked, ...]:
    """The cross-checked figures that come with the program, apart from the catalog itself.

    Rows marked ``one_source`` repeat what a single source said: a guard against slips, no second opinion.
    """
    rows = json.loads((paths.resources() / "catalog" / "cross_checked.json").read_text(encoding="utf-8"))
    cards = []
    for row in rows:
        figures = {f"peak_flops.{name}": value * TERA for name, value in row["peak_tflops"].items()}
        for key, field, scale in (
            ("bandwidth_gb_s", "memory_bandwidth_bytes_s", 1e9),
            ("board_power_w", "board_power_w", 1.0),
            ("link_one_way_gb_s", "link_one_way_bytes_s", 1e9),
            ("memory_gib", "memory_bytes", GIB),
        ):
            if row.get(key) is not None:
                figures[field] = row[key] * scale
        keys = frozenset(exact_key(name) for name in (row["name"], *row.get("aliases", ())))
        cards.append(
            Checked(
                row["name"], _stem(row["name"]), keys, _telling(row["name"], ""), figures, not row.get("one_source")
            )
        )
    return tuple(cards)


def _telling(name: str, form_factor: str) -> frozenset[str]:
    """The words that tell a card from another."""
    form = [part for part in words(form_factor) if part in ("sxm", "pcie", "oam")]
    return frozenset(part for part in (*words(name), *form) if part not in _HARMLESS or part in ("sxm", "pcie"))


def compared(gpu: Gpu) -> bool:
    """Whether the figures of a card were compared between two sources."""
    card = checked_card(gpu)
    return card is not None and card.compared


def checked_card(gpu: Gpu) -> Checked | None:
    """The cross-checked card that an entry describes, None if it is another card or cannot be told."""
    cards = checked_cards()
    for names in ((gpu.name,), (gpu.id, *gpu.aliases)):
        keys = {exact_key(name) for name in names}
        found = [card for card in cards if card.keys & keys]
        if len(found) == 1:
            return found[0]
    # A name such as "H100" with its form factor and memory in other fields.
    memory = f"{round(gpu.memory_bytes.value / GIB)}gb"
    for extra in (frozenset[str](), _telling("", gpu.form_factor), _telling(memory, gpu.form_factor)):
        parts = _telling(gpu.name, "") | extra
        found = [card for card in cards if card.parts <= parts and not parts - card.parts - {"sxm", "pcie", memory}]
        if found:
            most = max(len(card.parts) for card in found)
            found = [card for card in found if len(card.parts) == most]
            if len(found) == 1:
                return found[0]
    return None


def _figure(gpu: Gpu, key: str) -> float | None:
    if key.startswith("peak_flops."):
        fact = gpu.peak_flops.get(key.partition(".")[2])  # type: ignore[call-overload]
    else:
        fact = getattr(gpu, key)
    return None if fact is None else float(fact.value)


def _against_checked(gpu: Gpu) -> Iterator[Issue]:
    card = checked_card(gpu)
    if card is None:
        return
    siblings = [other for other in checked_cards() if other is not card and other.stem == card.stem]
    for key, right in card.figures.items():
        value = _figure(gpu, key)
        tolerance = (
            PEAK_TOLERANCE
            if key.startswith("peak_flops.") and not key.startswith("peak_flops.fp64")
            else POWER_TOLERANCE
            if key == "board_power_w"
            else BANDWIDTH_TOLERANCE
        )
        if value is None or _close(value, right, tolerance):
            continue
        ratio = value / right
        unit, scale = _shown(key)
        rule, message = _mix_up(key, ratio)
        shown: dict[str, float | str] = {
            "card": card.name,
            "value": value / scale,
            "right": right / scale,
            "unit": unit,
        }
        sibling = next((s for s in siblings if key in s.figures and _close(value, s.figures[key], tolerance)), None)
        if sibling is not None and key != "memory_bytes":
            rule, message = (
                "T3",
                _("%(value).4g %(unit)s is the figure of %(sibling)s; %(card)s has %(right).4g %(unit)s."),
            )
            shown["sibling"] = sibling.name
        values: dict[str, float | str] = {"value": value, "right": right, "ratio": ratio, "card": card.name}
        yield Issue("error", gpu.name, key, rule, message % shown, values)


def _shown(key: str) -> tuple[str, float]:
    """The unit in which people know a figure, and its size in SI."""
    if key.startswith("peak_flops."):
        return "TFLOPS", TERA
    if key.endswith("_bytes_s"):
        return "GB/s", 1e9
    return ("GiB", float(GIB)) if key.endswith("_bytes") else ("W", 1.0)


def _mix_up(key: str, ratio: float) -> tuple[str, str]:
    """What a figure that is off by this factor was probably taken for: rule and message."""
    if key == "memory_bytes":
        return "T8", _("%(value).4g %(unit)s; %(card)s has %(right).4g %(unit)s.")
    if key == "link_one_way_bytes_s" and _close(ratio, 2, 0.03):
        return "T6", _("%(value).4g %(unit)s counts both directions; one way %(card)s has %(right).4g %(unit)s.")
    if key.startswith("peak_flops.") and _close(ratio, 2, 0.03):
        return "T1", _(
            "%(value).4g %(unit)s is twice the dense rate of %(card)s, %(right).4g %(unit)s: "
            "sparse, or with another accumulator."
        )
    if key.startswith("peak_flops.") and ratio < 0.6:
        return "T2", _(
            "%(value).4g %(unit)s is far below the matrix rate of %(card)s, %(right).4g %(unit)s: a vector rate?"
        )
    return "T9", _(
        "%(value).4g %(unit)s is not the figure that %(card)s was sold with, %(right).4g %(unit)s: "
        "announced, rounded or mixed up."
    )


def _stem(name: str) -> str:
    parts = [part for part in words(name) if part not in ("sxm", "pcie", "nvl", "oam") and not part.endswith("gb")]
    drop = {"workstation", "server", "max", "q", "d", "nvidia", "amd", "instinct", "tesla", "geforce"}
    return " ".join(part for part in parts if part not in drop)


# --- cards beside each other -----------------------------------------------------------------------------------------


def _export(gpu: Gpu, others: Mapping[str, Gpu]) -> Iterator[Issue]:
    text = " ".join(words(gpu.name))
    for variant, parent, cuts in EXPORT_CUTS:
        if not re.search(variant, text):
            continue
        for other in others.values():
            name = " ".join(words(other.name))
            if (
                not re.search(parent, name)
                or re.search(rf"{variant}|laptop", name)
                or other.form_factor != gpu.form_factor
            ):
                continue
            for key in cuts:
                mine, theirs = _figure(gpu, key), _figure(other, key)
                if mine is not None and theirs is not None and mine > 0.97 * theirs:
                    unit, scale = _shown(key)
                    message = _("%(value).4g %(unit)s is the figure of %(parent)s; this card was cut for export.")
                    shown = {"value": mine / scale, "unit": unit, "parent": other.name}
                    values: dict[str, float | str] = {"value": mine, "parent": other.name, "parent_value": theirs}
                    yield Issue("error", gpu.name, key, "T10", message % shown, values)


def _copies(gpus: Iterable[Gpu]) -> list[Issue]:
    """Different cards with all figures equal: one row was copied from the other."""
    issues = []
    cards = [gpu for gpu in gpus if len(gpu.peak_flops) >= 3]
    for place, gpu in enumerate(cards):
        for other in cards[:place]:
            # A single figure that differs is enough: cards of one chip often share their rates.
            same = all(
                _figure(gpu, key) == _figure(other, key)
                for key in (
                    "memory_bytes",
                    "memory_bandwidth_bytes_s",
                    *(f"peak_flops.{name}" for name in gpu.peak_flops),
                )
            ) and set(gpu.peak_flops) == set(other.peak_flops)
            power, link = _known_equal(gpu, other, "board_power_w"), _known_equal(gpu, other, "link_one_way_bytes_s")
            if same and power and link and exact_key(gpu.name) != exact_key(other.name):
                issues.append(
                    _issue(
                        gpu.name,
                        "peak_flops",
                        "T11",
                        _("Every figure equals that of %(other)s, another card: the row was copied."),
                        other=other.name,
                    )
                )
    return issues


def _known_equal(gpu: Gpu, other: Gpu, key: str) -> bool:
    mine, theirs = _figure(gpu, key), _figure(other, key)
    return mine is None or theirs is None or mine == theirs


# --- language models -------------------------------------------------------------------------------------------------


def count_params(llm: Llm) -> tuple[float, float]:
    """Parameters of all matrices and of those that a token passes, from the shape; norms and biases left out.

    Exact for dense, GQA, MQA, MLA and mixture-of-experts models. Linear-attention layers are counted as attention, so a
    hybrid comes out some percent off.
    """
    shape = llm.attention
    d, h, e = llm.hidden, llm.heads, llm.head_dim
    wide = 3 if llm.gated_ffn else 2
    if shape.mla is not None and shape.kind == "MLA":
        m = shape.mla
        query = (
            d * m.query_rank + m.query_rank * h * (m.nope_dim + m.rope_dim)
            if m.query_rank
            else d * h * (m.nope_dim + m.rope_dim)
        )
        attention = (
            query + d * (m.kv_rank + m.rope_dim) + m.kv_rank * h * (m.nope_dim + m.value_dim) + h * m.value_dim * d
        )
        layers = llm.layers * attention
    else:
        one = 2 * d * h * e + 2 * d * llm.kv_heads * e
        layers = llm.layers * one
        if shape.full_head_dim:
            full = 2 * d * h * shape.full_head_dim + 2 * d * (shape.full_kv_heads or llm.kv_heads) * shape.full_head_dim
            layers = (llm.layers - shape.full_layers) * one + shape.full_layers * full
    expert_all = expert_active = 0.0
    dense_layers = llm.layers
    if llm.moe is not None:
        moe = llm.moe
        dense_layers = llm.layers - moe.moe_layers
        shared = moe.shared_experts * wide * d * (moe.shared_expert_width or moe.expert_width) + d * moe.experts
        one_expert = wide * d * moe.expert_width
        expert_all = moe.moe_layers * (shared + moe.experts * one_expert)
        expert_active = moe.moe_layers * (shared + moe.experts_per_token * one_expert)
    ffn = dense_layers * wide * d * (llm.ffn_width or 0)
    head = llm.vocab * d
    total = layers + ffn + expert_all + head * (1 if llm.tied_embeddings else 2)
    return float(total), float(layers + ffn + expert_active + head)


# Families whose layers look back only so far; counting them as full attention makes the cache several times too big.
_WINDOWED = re.compile(r"\bgemma[ -]?[23]\b|\bgpt[ -]oss\b")


def check_llm(llm: Llm) -> list[Issue]:
    """What is wrong with the shape of a language model."""
    issues: list[Issue] = []
    shape = llm.attention

    def say(key: str, rule: str, message: str, **values: float | str) -> None:
        issues.append(_issue(llm.name, key, rule, message, **values))

    if llm.kv_heads > llm.heads or llm.heads % llm.kv_heads:
        say("kv_heads", "kv", _("%(kv)d KV heads do not divide %(heads)d heads."), kv=llm.kv_heads, heads=llm.heads)
    elif shape.kind == "GQA" and llm.kv_heads == llm.heads and llm.heads > 1:
        say(
            "kv_heads",
            "kv",
            _(
                "Grouped-query attention with as many KV heads as heads (%(heads)d): "
                "the number of KV heads was left out."
            ),
            heads=llm.heads,
        )
    elif shape.kind == "MHA" and llm.kv_heads != llm.heads:
        say(
            "attention.kind",
            "kv",
            _("Multi-head attention has as many KV heads (%(kv)d) as heads (%(heads)d)."),
            kv=llm.kv_heads,
            heads=llm.heads,
        )
    elif shape.kind == "MQA" and llm.kv_heads != 1:
        say("kv_heads", "kv", _("Multi-query attention has one KV head, not %(kv)d."), kv=llm.kv_heads)
    if shape.kind == "MLA":
        if shape.mla is None:
            say(
                "attention.mla",
                "kv",
                _("Latent attention needs its ranks: the cache follows from them, not from the heads."),
            )
        elif llm.kv_heads != llm.heads:
            say(
                "kv_heads",
                "kv",
                _("Models with latent attention state as many KV heads as heads; %(kv)d is not one."),
                kv=llm.kv_heads,
            )
    elif shape.mla is not None and shape.kind != "hybrid":
        say("attention.mla", "kv", _("Ranks of latent attention on a model of another kind."))
    layers = shape.full_layers + shape.windowed_layers + shape.linear_layers
    if layers > llm.layers or (layers != llm.layers and shape.kind != "hybrid"):
        say(
            "attention.full_layers",
            "shape",
            _("%(sum)d attention layers in a model of %(layers)d layers."),
            sum=layers,
            layers=llm.layers,
        )
    if shape.windowed_layers and not shape.window:
        say("attention.window", "kv", _("Layers with a window need its length."))
    name = " ".join(words(llm.name))
    if _WINDOWED.search(name) and not shape.windowed_layers and not llm.unlisted:
        say(
            "attention.windowed_layers",
            "kv",
            _("Models of this family keep only a window in part of their layers; none is stated here."),
        )
    if shape.window and llm.max_context is not None and llm.max_context <= shape.window and shape.windowed_layers:
        say(
            "max_context",
            "shape",
            _("The context ends with the window (%(window)d): that is a cap of some program."),
            window=shape.window,
        )
    if llm.moe is not None:
        if llm.moe.experts_per_token > llm.moe.experts:
            say(
                "moe.experts_per_token",
                "shape",
                _("A token cannot use %(used)d of %(experts)d experts."),
                used=llm.moe.experts_per_token,
                experts=llm.moe.experts,
            )
        if llm.moe.moe_layers + llm.moe.first_dense_layers > llm.layers:
            say("moe.moe_layers", "shape", _("More layers with experts than layers."))
    elif not llm.ffn_width and shape.kind != "hybrid":
        say("ffn_width", "shape", _("A model without experts needs the width of its feed-forward layers."))
    if llm.params_active > 1.0001 * llm.params_total:
        say(
            "params_active",
            "params",
            _("More active parameters (%(active).4g) than parameters (%(total).4g)."),
            active=llm.params_active,
            total=llm.params_total,
        )
    issues += _params(llm)
    return issues


def _params(llm: Llm) -> Iterator[Issue]:
    total, active = count_params(llm)
    experts = re.search(r"(\d+)\s?x\s?(\d+(?:\.\d+)?)\s?B\b", llm.name, re.I)
    if experts and _close(llm.params_total, float(experts[1]) * float(experts[2]) * 1e9, 0.02):
        yield _issue(
            llm.name,
            "params_total",
            "params",
            _("%(total).4g is experts times the number in the name; the attention is shared, so it is less."),
            total=llm.params_total,
        )
    if llm.attention.kind != "hybrid" and llm.params_basis == "computed":
        # Learned positions, biases and norms are not counted: below 0.05 % on the models of the catalog.
        if not _close(llm.params_total, total, 0.003):
            yield _issue(
                llm.name,
                "params_total",
                "params",
                _("%(stated).5g parameters are stated, the shape gives %(counted).5g."),
                stated=llm.params_total,
                counted=total,
            )
        # Makers count the embedding among the active parameters or leave it and the head out.
        embedding = llm.vocab * llm.hidden
        if not 0.995 * (active - embedding) <= llm.params_active <= 1.005 * (active + embedding):
            yield _issue(
                llm.name,
                "params_active",
                "params",
                _("%(stated).5g active parameters are stated, the shape gives %(counted).5g."),
                stated=llm.params_active,
                counted=active,
            )
    published = llm.params_total_published
    # Vision towers and the like are published along and not part of the shape.
    if published is not None and not 0.9 <= llm.params_total / published <= 1.03:
        yield _issue(
            llm.name,
            "params_total",
            "params",
            _("%(stated).5g parameters here, %(published).5g published."),
            stated=llm.params_total,
            published=published,
        )
    size = re.search(r"(?<![\w.x])(\d+(?:\.\d+)?)B\b", llm.name)
    if size and not experts and not 0.7 <= llm.params_total / (float(size[1]) * 1e9) <= 1.45:
        yield _issue(
            llm.name,
            "params_total",
            "params",
            _("The name says %(name)g B and the entry %(total).4g parameters."),
            name=float(size[1]),
            total=llm.params_total,
        )


# --- servers, processors, network, prices ----------------------------------------------------------------------------

# Products of one make: height in rack units, rated power [W], power supplies. From their manuals.
_APPLIANCES = (
    (r"\bdgx a100\b", 6, 6500, (6, 3000)), (r"\bdgx h[12]00\b", 8, 10200, (6, 3300)), (r"\bdgx b200\b", 10, 14300,
    (6, 3300)),
)  # fmt: skip


def check_server(server: Server, catalog: Catalog) -> list[Issue]:
    """What is wrong with one server."""
    issues: list[Issue] = []

    def say(key: str, rule: str, message: str, **values: float | str) -> None:
        issues.append(_issue(server.name, key, rule, message, **values))

    for name in server.gpu_options:
        if name not in catalog.gpus:
            say("gpu_options", "reference", _("The catalog has no card “%(name)s”."), name=name)
    for place, slot in enumerate(server.nics):
        if slot.entry is not None and slot.entry not in catalog.nics:
            say(f"nics.{place}.entry", "reference", _("The catalog has no network card “%(name)s”."), name=slot.entry)
    if not any(a.applies_to == server.server_class for a in catalog.assumptions):
        say("server_class", "reference", _("There are no class values for “%(name)s”."), name=server.server_class)
    powers = [catalog.gpus[n].board_power_w for n in server.gpu_options if n in catalog.gpus]
    watts = [fact.value * server.gpus_per_server for fact in powers if fact is not None]
    rated = server.max_power_w.value if server.max_power_w else None
    typical = server.typical_power_w.value if server.typical_power_w else None
    if rated is not None and watts and rated < min(watts):
        say(
            "max_power_w",
            "server",
            _("%(rated)g W for the whole server; its cards alone may draw %(cards)g W."),
            rated=rated,
            cards=min(watts),
        )
    if rated is not None and typical is not None and typical > rated:
        say(
            "typical_power_w",
            "server",
            _("Typical power (%(typical)g W) is above the rated one (%(rated)g W)."),
            typical=typical,
            rated=rated,
        )
    if server.psu_needed is not None and server.psu_count is not None and server.psu_needed > server.psu_count:
        say("psu_needed", "server", _("It needs more power supplies than it has."))
    if rated is not None and server.psu_w and server.psu_count and rated > 1.02 * server.psu_w.value * server.psu_count:
        say(
            "psu_w",
            "server",
            _("The power supplies give %(psu)g W together, the server takes %(rated)g W."),
            psu=server.psu_w.value * server.psu_count,
            rated=rated,
        )
    height = server.rack_units.value if server.rack_units else None
    boards = [catalog.gpus[n] for n in server.gpu_options if n in catalog.gpus]
    modules = bool(boards) and all(g.form_factor.startswith(("SXM", "OAM")) for g in boards)
    if height is not None and modules and server.gpus_per_server == 8:
        least = 3 if "liquid" in server.cooling or "water" in server.cooling else 4
        hot = [g.board_power_w.value for g in boards if g.board_power_w is not None]
        if least == 4 and hot and min(hot) >= 600:
            least = 5
        if height < least:
            say(
                "rack_units",
                "server",
                _("Eight such modules do not fit into %(height)g U with this cooling; at least %(least)g U."),
                height=height,
                least=least,
            )
    text = " ".join(words(server.name))
    for pattern, units, power, (count, psu) in _APPLIANCES:
        if not re.search(pattern, text):
            continue
        if height is not None and height != units:
            say("rack_units", "T3", _("This product is %(right)d U high, not %(value)g."), right=units, value=height)
        if rated is not None and not _close(rated, power, 0.02):
            say("max_power_w", "T3", _("This product is rated %(right)g W, not %(value)g."), right=power, value=rated)
        if server.psu_w and server.psu_count and (server.psu_count, server.psu_w.value) != (count, psu):
            say("psu_w", "T3", _("This product has %(count)d power supplies of %(psu)g W."), count=count, psu=psu)
    return issues


def _cpu(cpu: Cpu) -> Iterator[Issue]:
    if cpu.memory_channels and cpu.memory_transfers_s:
        most = cpu.memory_channels * cpu.memory_transfers_s.value * 8
        if cpu.memory_bandwidth_bytes_s.value > 1.02 * most:
            yield _issue(
                cpu.name,
                "memory_bandwidth_bytes_s",
                "bound",
                _("%(channels)d channels carry %(most).4g GB/s, not %(value).4g."),
                channels=cpu.memory_channels,
                most=most / 1e9,
                value=cpu.memory_bandwidth_bytes_s.value / 1e9,
            )
    if not 1e9 <= cpu.memory_bandwidth_bytes_s.value <= 1e13:
        yield _issue(
            cpu.name, "memory_bandwidth_bytes_s", "unit", _("A memory bandwidth in bytes per second is expected.")
        )


def _network(catalog: Catalog) -> Iterator[Issue]:
    for kind in ("nic", "switch", "optic"):
        for entry in catalog.entries(kind).values():
            speed = entry.port_bits_s
            named = [float(number) * 1e9 for number in re.findall(r"(?<![\d.])(\d{2,4})G\b", entry.name)]
            fitting = () if speed is None else (speed, speed * (entry.ports or 1))
            if speed is not None and named and 1e9 <= speed and not set(named) & set(fitting):
                yield _issue(
                    entry.name,
                    "port_bits_s",
                    "network",
                    _("The name says %(named)s Gbit/s and the figure is %(speed)g."),
                    named=" / ".join(f"{n / 1e9:g}" for n in named),
                    speed=speed / 1e9,
                )
            if kind == "optic" and re.search(r"twin|\b2x", entry.name, re.IGNORECASE) and entry.ports != 2:
                yield _issue(
                    entry.name,
                    "ports",
                    "T5",
                    _("This module carries two links; counting one doubles the number of modules."),
                )
            if speed is not None and not 1e9 <= speed <= 1.7e12:
                yield _issue(
                    entry.name,
                    "port_bits_s",
                    "network",
                    _("%(speed).4g bit/s is no speed of a port; 400G is 4 × 10¹¹ bit/s and 50 GB/s."),
                    speed=speed,
                )
            low, high = entry.power_w, entry.power_max_w
            if low is not None and high is not None and low.value > high.value:
                yield _issue(
                    entry.name,
                    "power_w",
                    "network",
                    _("Typical power (%(low)g W) is above the highest (%(high)g W)."),
                    low=low.value,
                    high=high.value,
                )
    for link in catalog.links.values():
        match = re.match(r"PCIe (\d\.\d) x16$", link.name)
        if match and link.one_way_bytes_s and link.one_way_bytes_s.value > 1.03 * PCIE_ONE_WAY_BYTES_S[float(match[1])]:
            most = PCIE_ONE_WAY_BYTES_S[float(match[1])]
            yield _issue(
                link.name,
                "one_way_bytes_s",
                "T6",
                _("PCIe %(generation)s x16 carries %(most).4g GB/s one way, not %(value).4g."),
                generation=match[1],
                most=most / 1e9,
                value=link.one_way_bytes_s.value / 1e9,
            )
        generation = re.match(r"NVLink (\d)\b", link.name)
        if generation and link.one_way_bytes_s:
            most = NVLINK_ONE_WAY_BYTES_S.get(int(generation[1]), math.inf)
            if link.one_way_bytes_s.value > 1.02 * most:
                yield _issue(
                    link.name,
                    "one_way_bytes_s",
                    "T6",
                    _("NVLink %(generation)s carries %(most).4g GB/s one way, not %(value).4g."),
                    generation=generation[1],
                    most=most / 1e9,
                    value=link.one_way_bytes_s.value / 1e9,
                )
        if (
            link.pair_one_way_bytes_s
            and link.one_way_bytes_s
            and link.pair_one_way_bytes_s.value > link.one_way_bytes_s.value
        ):
            yield _issue(
                link.name, "pair_one_way_bytes_s", "T6", _("One pair cannot be faster than all links of a card.")
            )


def check_price(price: Price, catalog: Catalog) -> Iterator[Issue]:
    """What is wrong with one price."""
    name = price.entry or price.item
    if price.entry is not None and all(price.entry not in catalog.entries(kind) for kind in ENTRY_KINDS):
        yield _issue(
            name, f"price.{price.id}", "reference", _("The catalog has no entry “%(name)s”."), name=price.entry
        )
    low = price.amount if price.low is None else price.low
    high = price.amount if price.high is None else price.high
    if not low <= price.amount <= high:
        yield _issue(
            name,
            f"price.{price.id}",
            "price",
            _("The price %(amount)g lies outside its own range, %(low)g to %(high)g."),
            amount=price.amount,
            low=low,
            high=high,
        )
    if not re.fullmatch(r"\d{4}(-\d{2}){0,2}", price.date):
        yield _issue(
            name, f"price.{price.id}", "price", _("“%(date)s” is not a date such as 2026-11."), date=price.date
        )
    if price.amount <= 0:
        yield _issue(name, f"price.{price.id}", "price", _("A price must be greater than zero."))


# --- sources ---------------------------------------------------------------------------------------------------------


def _sources(catalog: Catalog) -> Iterator[Issue]:
    known = catalog.sources
    for kind in ENTRY_KINDS:
        for entry in catalog.entries(kind).values():
            for key, fact in facts(entry):
                if fact.source == UNVERIFIED or fact.mark == "unverified":
                    yield _unsourced(entry.name, key, _("No source is known for this figure."), fact.value)
                elif fact.source not in known:
                    message = _("The source “%(source)s” is not in the catalog.") % {"source": fact.source}
                    yield _unsourced(entry.name, key, message, fact.value)
            if not entry.sources and not any(True for _fact in facts(entry)):
                yield _unsourced(entry.name, "sources", _("No source is named for this entry."), "")
            for source in entry.sources:
                if source not in known and source != UNVERIFIED:
                    message = _("The source “%(source)s” is not in the catalog.") % {"source": source}
                    yield _unsourced(entry.name, "sources", message, source)
    for price in catalog.prices:
        if price.source not in known:
            yield _unsourced(
                price.entry or price.item, f"price.{price.id}", _("No source is known for this price."), price.amount
            )
    for assumption in catalog.assumptions:
        if assumption.source not in known:
            name = f"{assumption.key}: {assumption.applies_to}"
            yield _unsourced(
                name, "value", _("A judgement: no source is known for this class value."), assumption.value
            )


def _unsourced(entry: str, key: str, message: str, value: float | str) -> Issue:
    return Issue("unverified", entry, key, "source", message, {"value": value})


def facts(entry: Any) -> Iterator[tuple[str, Fact]]:
    """Every figure of an entry with its key."""
    for field in type(entry).model_fields:
        value = getattr(entry, field)
        if isinstance(value, Fact):
            yield field, value
        elif isinstance(value, dict) and field == "peak_flops":
            for name, fact in value.items():
                yield f"{field}.{name}", fact
