"""What runs on what: runtime × GPU × precision × operating system, and why.

A chain of gates in the order in which a user meets them. Each gate reads rules from the catalog (sets of architectures
with a range of versions, never a list of cards) and the worst finding is the answer. The last gate, maintenance, can
only lower "works" to "works with limits".
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, NamedTuple

from gpuplanner.catalog.load import Catalog
from gpuplanner.catalog.reasons import REASONS, WAYS_OUT
from gpuplanner.catalog.schema import Gate, Gpu, Llm, Runtime
from gpuplanner.i18n import _, using

Answer = Literal["works", "works with limits", "fails", "not known"]
Mode = Literal["native", "storage_only"]
Version = tuple[int, ...]

_RANK = {"works": 0, "works with limits": 1, "not known": 2, "fails": 3}

GATES = (
    "OS",
    "driver",
    "toolkit",
    "framework wheel",
    "engine wheel",
    "engine minimum",
    "weight-format kernel",
    "compute dtype",
    "KV dtype",
    "attention backend",
    "model architecture",
    "feature pair",
    "link",
    "maintenance",
)

# The weight formats that a plan may ask for, most exact first.
GGUF_FORMATS = ("q8_0", "q6_k", "q5_k_m", "q4_k_m", "q3_k_m", "q2_k")
PLANNING_FORMATS = ("fp32", "bf16", "fp16", "fp8", "int8", "int4", "nvfp4", "mxfp4", "nf4", *GGUF_FORMATS)

_GGUF_NAME = re.compile(r"i?q\d|tq\d|gguf")
# Packings of their own that hold integers of a planning format.
_HOLDS = {"mlx": ("int4", "int8"), "exl2": ("int4",), "exl3": ("int4",)}
_SIXTEEN_BIT = ("bf16", "fp16")
# Formats with arithmetic of their own: unpacked to 16 bit they save memory and no time, which the user is told. Packed
# integers are always unpacked, so there it is no news.
_FLOAT_FORMATS = ("fp8", "fp8_block", "mxfp8", "fp6", "mxfp6", "nvfp4", "mxfp4", "fp4")
_OWN_COMPUTE = {
    "fp8": "fp8",
    "fp8_block": "fp8",
    "mxfp8": "fp8",
    "fp6": "fp8",
    "mxfp6": "fp8",
    "nvfp4": "fp4",
    "mxfp4": "fp4",
    "fp4": "fp4",
    "int8": "int8",
    "int4": "int4",
}
# Schemes that are file layouts: one that is asked for must be the one that the runtime reads. Other words (kernels,
# encodings) are free.
_PACKINGS = frozenset(
    (
        "awq",
        "gptq",
        "bitsandbytes",
        "eetq",
        "weight_only",
        "w4a8",
        "w8a8",
        "aqlm",
        "deepspeedfp",
        "modelopt",
        "mlc",
        "NNCF",
    )
)

# Which makers' devices a back end drives. The first word that a back end contains decides.
_BACKENDS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("Intel NPU", ()),
    ("CUDA", ("NVIDIA",)),
    ("TensorRT", ("NVIDIA",)),
    ("TRT-LLM", ("NVIDIA",)),
    ("ROCm", ("AMD",)),
    ("HIP", ("AMD",)),
    ("Vulkan", ("NVIDIA", "AMD", "Intel")),
    ("OpenCL", ("NVIDIA", "AMD", "Intel")),
    ("Metal", ("Apple",)),
    ("MLX", ("Apple",)),
    ("MPS", ("Apple",)),
    ("Gaudi", ("Intel Gaudi",)),
    ("HPU", ("Intel Gaudi",)),
    ("XPU", ("Intel",)),
    ("SYCL", ("Intel",)),
    ("Intel GPU", ("Intel",)),
    ("CANN", ("Huawei",)),
    ("Ascend", ("Huawei",)),
    ("NPU", ("Huawei",)),
    ("MUSA", ("Moore Threads",)),
    ("Moore Threads", ("Moore Threads",)),
    ("Cambricon", ("Cambricon",)),
    ("MLU", ("Cambricon",)),
    ("Hygon", ("Hygon",)),
    ("DCU", ("Hygon",)),
)

_OS_NAMES = {"linux": "Linux", "windows": "Windows", "wsl2": "WSL2", "macos": "macOS"}

# Words of a runtime's status that say that nobody tends it any more.
_ENDED = (
    "archived",
    "end of life",
    "no longer maintained",
    "unmaintained",
    "dormant",
    "maintenance mode",
    "superseded",
    "fork",
)


class Verdict(NamedTuple):
    """Whether something runs. ``reason_key`` and ``way_out_key`` name sentences; ``numbers`` holds what stands in them.

    ``mode`` says how the weights that were asked for are computed with: in their own format, or unpacked to another.
    """

    answer: Answer
    gate: str
    reason_key: str
    numbers: dict[str, Any]
    source: str
    way_out_key: str | None = None
    mode: Mode | None = None


class FormatSupport(NamedTuple):
    """A weight format that runs, the type that the arithmetic runs in, and the KV formats beside it."""

    weights: str
    compute: str
    mode: Mode
    kv: tuple[str, ...]


def judge(
    catalog: Catalog,
    gpu: Gpu | None,
    runtime: Runtime | None,
    *,
    version: str | None = None,
    weights: str | None = None,
    compute: str | None = None,
    kv: str | None = None,
    scheme: str | None = None,
    os: str = "linux",
    llm: Llm | None = None,
    gpus: int = 1,
    nodes: int = 1,
    layer: str | None = None,
    feature: str | None = None,
    as_of: str | None = None,
    build: str | None = None,
) -> Verdict:
    """The worst finding of the chain of gates, or "works".

    Parameters
    ----------
    version : str, optional
        Version of the runtime (of the driver or framework where `layer` says so). None = the newest, or the newest
        on `as_of`.
    weights, compute, kv, scheme : str, optional
        What is asked for, in the catalog's words; None asks nothing. `scheme` is a packing (awq, gptq …) or a KV
        encoding.
    os : str
        linux, windows, wsl2 or macos.
    layer : str, optional
        "driver" or "framework" judges that layer alone, without a runtime.
    as_of : str, optional
        A date, month, year or range of years. What failed in a part of that time only is answered with "works with
        limits".
    build : str, optional
        Any other condition, such as "CUDA 13", "cu126" or "ROCm < 7.0".
    """
    ask = _Ask(
        index=_index(catalog),
        catalog=catalog,
        gpu=gpu,
        runtime=runtime,
        version=version,
        weights=weights,
        compute=compute,
        kv=kv,
        scheme=scheme,
        os=os,
        llm=llm,
        gpus=gpus,
        nodes=nodes,
        layer=layer,
        feature=feature,
        as_of=as_of,
        build=build,
    )
    if runtime is None and layer in ("driver", "framework"):
        chain = (
            (("driver", _driver),)
            if layer == "driver"
            else (("toolkit", _toolkit), ("framework wheel", _framework_wheel))
        )
        return _worst(ask, [found for _name, gate in chain for found in gate(ask)])
    if runtime is None:
        return Verdict("not known", "engine minimum", "no_runtime", ask.numbers(), "")
    exceptions = ask.exceptions
    findings: list[Verdict] = []
    for name, gate in _CHAIN:
        ruled = [verdict for verdict in exceptions if verdict.gate == name]
        findings += ruled or gate(ask)
        if name == "engine minimum" and any(_RANK[found.answer] >= _RANK["not known"] for found in findings):
            break
    return _worst(ask, findings)


def formats(
    catalog: Catalog, gpu: Gpu, runtime: Runtime, version: str | None = None, os: str = "linux"
) -> tuple[FormatSupport, ...]:
    """The planning formats that run (with or without limits), most exact first; empty where nothing runs or is known.

    Training software also gets 16-bit weights with arithmetic in a narrower type (``bf16`` weights, ``fp8`` compute).
    Remembered by the identity of the records, so that asking again costs nothing.
    """
    index = _index(catalog)
    key = (id(index), id(gpu), id(runtime), version, os)
    known = _remembered.get(key)
    if known is None:
        if len(_remembered) >= MAX_REMEMBERED:
            _remembered.clear()
        # What is asked here depends on the chip, not on the card.
        chip = gpu.compute_capability or gpu.gfx or gpu.name
        shared = (id(index), id(runtime), version, os, gpu.vendor, chip, frozenset(gpu.peak_flops))
        like = _remembered.get(shared)
        supported = like[-1] if like else _formats(catalog, index, gpu, runtime, version, os)
        # The records are kept so that their identity stays theirs.
        _remembered[shared] = _remembered[key] = known = (gpu, runtime, index, supported)
    return known[-1]


def kv_formats(
    catalog: Catalog, gpu: Gpu, runtime: Runtime, version: str | None = None, os: str = "linux"
) -> tuple[str, ...]:
    """The KV-cache formats that run, the 16-bit ones first; empty where nothing runs."""
    supported = formats(catalog, gpu, runtime, version, os)
    return supported[0].kv if supported else ()


def silicon_compute(catalog: Catalog, gpu: Gpu, weights: str) -> tuple[str, Mode]:
    """The type that arithmetic on these weights runs in by what the silicon has, and whether it is their own.

    Whatever the software: for cards and runtimes of which no source says what runs.
    """
    index = _index(catalog)
    word, _scheme = _format_word(weights, None)
    return _arithmetic(index.silicon(gpu), word, "native", ())


def sentence(verdict: Verdict) -> str:
    """The verdict in words for people: what is the matter, and what to do."""
    text = _(REASONS[verdict.reason_key]) % verdict.numbers
    if verdict.way_out_key is None:
        return text
    return _("%(reason)s %(way_out)s") % {
        "reason": text,
        "way_out": _(WAYS_OUT[verdict.way_out_key]) % verdict.numbers,
    }


class SpokenVerdict(str):
    """A verdict as text that says itself in the language in force where it is written; compared and kept in English.

    Results are remembered across a change of the language, so what stands in them must not be in any.
    """

    _verdict: Verdict

    def __new__(cls, verdict: Verdict) -> "SpokenVerdict":
        with using("en"):
            text = super().__new__(cls, sentence(verdict))
        text._verdict = verdict
        return text

    def __str__(self) -> str:
        return sentence(self._verdict)

    def __format__(self, spec: str) -> str:
        return format(str(self), spec)


# --- Versions and dates ---


def version_of(text: str) -> Version:
    """The leading dotted numbers of a version; what follows (rc1, post4) does not count."""
    found = re.match(r"\D*(\d+(?:\.\d+)*)", text)
    return tuple(map(int, found[1].split("."))) if found else ()


def _at_least(version: Version, bound: str) -> bool:
    low = version_of(bound)
    width = max(len(version), len(low))
    return version + (0,) * (width - len(version)) >= low + (0,) * (width - len(low))


def _at_most(version: Version, bound: str) -> bool:
    """A short bound covers all its patch releases."""
    high = version_of(bound)
    return version[: len(high)] <= high


def _covers(rule: Mapping[str, Any], version: Version | None) -> bool:
    """Whether a rule's range holds for a version; None is the newest, which only an open range reaches."""
    low, high = rule.get("version_from"), rule.get("version_until")
    if version is None:
        return high is None
    return (low is None or _at_least(version, low)) and (high is None or _at_most(version, high))


def _span(as_of: str) -> tuple[str, str]:
    """First and last day of a date, month, year or range of years, as texts that sort."""
    if years := re.fullmatch(r"(\d{4})-(\d{4})", as_of):
        return f"{years[1]}-01-01", f"{years[2]}-12-31"
    return (as_of + "-01-01"[len(as_of) - 4 :])[:10], (as_of + "-12-31"[len(as_of) - 4 :])[:10]


# --- The rules, indexed once for a catalog ---


class _Index:
    """The catalog's rules by kind. Holds the records, so that their identity stays theirs."""

    def __init__(self, platforms: tuple[Gate, ...], exceptions: tuple[Gate, ...]) -> None:
        self.gates = (*platforms, *exceptions)
        self.by_kind: dict[str, list[Gate]] = {}
        for gate in self.gates:
            self.by_kind.setdefault(gate.kind, []).append(gate)
        self._silicon: dict[tuple[Any, ...], dict[str, str]] = {}

    def rules(self, kind: str) -> Iterator[tuple[Mapping[str, Any], str]]:
        for gate in self.by_kind.get(kind, ()):
            yield gate.data.get("rules") or {}, _source_of(gate)

    @cached_property
    def exceptions(self) -> dict[str, list[Gate]]:
        """Exceptions by the runtime that they name; under "" those that name none."""
        named: dict[str, list[Gate]] = {}
        for gate in self.by_kind.get("exception", ()):
            if not _is_exception(gate):
                continue
            for name in gate.data["rules"]["when"].get("runtimes", ("",)):
                named.setdefault(name, []).append(gate)
        return named

    @cached_property
    def more_rows(self) -> dict[str, list[Mapping[str, Any]]]:
        """Rows of formats by runtime, beside the runtime's own table."""
        rows: dict[str, list[Mapping[str, Any]]] = {}
        for row, _source in self.rules("runtime_formats"):
            rows.setdefault(row["runtime"], []).append(row)
        return rows

    @cached_property
    def sparse_models(self) -> tuple[str, ...]:
        return tuple(
            name
            for rules, _source in self.rules("model_family")
            if rules["family"] == "sparse attention"
            for name in rules["models"]
        )

    @cached_property
    def releases(self) -> dict[str, tuple[tuple[str, str], ...]]:
        return {
            name: tuple((version, _span(date)[0]) for version, date in rules["releases"])
            for rules, _source in self.rules("releases")
            for name in rules["runtimes"]
        }

    def silicon(self, gpu: Gpu) -> dict[str, str]:
        """What the chip has: a type → native, slow, cores (no matrix unit) or none. Absent where no source says."""
        key = (gpu.compute_capability, gpu.gfx, gpu.name, frozenset(gpu.peak_flops))
        if key not in self._silicon:
            # The tables name what is special; a published peak rate stands for the rest.
            has = {
                str(word): "native"
                for word in gpu.peak_flops
                if word in ("bf16", "fp16", "int8", "int4", "fp8", "fp4", "tf32")
            }
            has["fp32"] = "native"
            for rules, _source in self.rules("precision"):
                if _matches_card(rules, gpu):
                    for name, state in (
                        ("native", "native"),
                        ("native_slow", "slow"),
                        ("cores_only", "cores"),
                        ("none", "none"),
                    ):
                        has |= dict.fromkeys(rules.get(name) or (), state)
            has["fp4"] = min((has[w] for w in ("fp4", "nvfp4", "mxfp4") if w in has), key=_STATES.index, default="none")
            self._silicon[key] = has
        return self._silicon[key]


_STATES = ("native", "cores", "slow", "none")
_indexes: dict[tuple[int, ...], _Index] = {}
# So many answers of `formats` are kept: every card of the catalog with every runtime, some times over.
MAX_REMEMBERED = 20_000
_remembered: dict[tuple[Any, ...], tuple[Gpu, Runtime, _Index, tuple[FormatSupport, ...]]] = {}


def _index(catalog: Catalog) -> _Index:
    """The index of a catalog's rules; catalogs that share the records share it."""
    platforms, exceptions = catalog.platforms, catalog.exceptions
    key = (
        len(platforms),
        len(exceptions),
        *(id(gates[end]) for gates in (platforms, exceptions) if gates for end in (0, -1)),
    )
    index = _indexes.get(key)
    if index is None:
        index = _indexes[key] = _Index(platforms, exceptions)
    return index


def _is_exception(gate: Gate) -> bool:
    """Whether a record, which may come from a user's file, has what an exception needs."""
    rules = gate.data.get("rules")
    if not isinstance(rules, Mapping) or not isinstance(rules.get("when"), Mapping):
        return False
    then = rules.get("then")
    return (
        isinstance(then, Mapping)
        and then.get("answer") in _RANK
        and then.get("gate") in GATES
        and then.get("reason_key") in REASONS
        and (then.get("way_out_key") is None or then["way_out_key"] in WAYS_OUT)
    )


def _source_of(gate: Gate) -> str:
    sources = gate.data.get("sources") or ()
    return str(sources[0]["where"]) if sources else ""


def _matches_card(rule: Mapping[str, Any], gpu: Gpu | None) -> bool:
    """Whether one of a rule's three lists of architectures holds the card."""
    if gpu is None:
        return False
    if gpu.compute_capability:
        return gpu.compute_capability in (rule.get("cc_set") or ())
    if gpu.gfx:
        # One table keeps its AMD names in the list for compute capabilities.
        return gpu.gfx in (rule.get("gfx_list") or ()) or gpu.gfx in (rule.get("cc_set") or ())
    return any(_is_called(label, gpu) for label in rule.get("other_list") or ())


def _is_called(label: str, gpu: Gpu) -> bool:
    """Whether a label such as "Arc B" or "Ascend 910B" names the card. A last word of letters stands for a series."""
    wanted = [word for word in label.split() if word != "Pro"]
    words = [word for word in f"{gpu.vendor} {gpu.name}".split() if word != "Pro"]
    for start in range(len(words) - len(wanted) + 1):
        part = words[start : start + len(wanted)]
        series = wanted[-1].isalpha() and re.fullmatch(re.escape(wanted[-1]) + r"\d.*", part[-1])
        if part[:-1] == wanted[:-1] and (part[-1] == wanted[-1] or series):
            return True
    return False


def _format_word(weights: str, scheme: str | None) -> tuple[str, str | None]:
    """The catalog's word for a weight format; a GGUF type (q4_k_m) is the format gguf with a scheme."""
    if _GGUF_NAME.match(weights):
        return "gguf", scheme or weights
    return weights, scheme


# --- The question ---


@dataclass(frozen=True)
class _Ask:
    index: _Index
    catalog: Catalog
    gpu: Gpu | None
    runtime: Runtime | None
    version: str | None = None
    weights: str | None = None
    compute: str | None = None
    kv: str | None = None
    scheme: str | None = None
    os: str = "linux"
    llm: Llm | None = None
    gpus: int = 1
    nodes: int = 1
    layer: str | None = None
    feature: str | None = None
    as_of: str | None = None
    build: str | None = None

    @property
    def rules(self) -> Mapping[str, Any]:
        return self.runtime.rules if self.runtime else {}

    @property
    def maker(self) -> str:
        if self.gpu is None:
            return ""
        return "Intel Gaudi" if "Gaudi" in self.gpu.name else self.gpu.vendor

    @property
    def capability(self) -> str:
        """The name of the architecture that rules go by."""
        return "" if self.gpu is None else self.gpu.compute_capability or self.gpu.gfx or self.gpu.architecture

    @cached_property
    def span(self) -> tuple[str, str] | None:
        return _span(self.as_of) if self.as_of else None

    @cached_property
    def resolved(self) -> Version | None:
        """The version asked for, else the newest that was out on the date; None = the newest of all."""
        if self.version:
            return version_of(self.version) or None
        released = self.index.releases.get(self.runtime.name, ()) if self.runtime else ()
        if self.span is None or not released:
            return None
        out = [version for version, date in released if date <= self.span[1]]
        if not out or self.span[1] >= "2026-09":
            # Later than the last release that the catalog knows of: the newest.
            return None if out else (0,)
        return version_of(out[-1])

    @cached_property
    def words(self) -> str:
        return (self.feature or "").lower()

    @cached_property
    def word(self) -> tuple[str, str | None]:
        """Weight format and scheme in the catalog's words."""
        return _format_word(self.weights or "", self.scheme)

    @cached_property
    def cuda(self) -> tuple[Version, bool] | None:
        """The CUDA toolkit of the build, and whether anything below it is meant."""
        build = self.build or ""
        if wheel := re.search(r"\bcu(\d\d)(\d)\b", build):
            return (int(wheel[1]), int(wheel[2])), False
        return _toolkit_in(build, "CUDA")

    @cached_property
    def rows(self) -> tuple[Mapping[str, Any], ...]:
        """The runtime's rows of formats for this card, whatever their version."""
        if self.runtime is None or self.gpu is None:
            return ()
        own = [row for row in self.rules.get("formats") or () if _matches_card(row, self.gpu)]
        more = [row for row in self.index.more_rows.get(self.runtime.name, ()) if _matches_card(row, self.gpu)]
        return (*own, *more)

    @cached_property
    def current_rows(self) -> tuple[Mapping[str, Any], ...]:
        return tuple(row for row in self.rows if row.get("supported", True) and _covers(row, self.resolved))

    @cached_property
    def row_compute(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(word for row in self.current_rows for word in row.get("compute") or ()))

    @cached_property
    def exceptions(self) -> list[Verdict]:
        assert self.runtime is not None
        known = self.index.exceptions
        found = []
        for gate in (*known.get(self.runtime.name, ()), *known.get("", ())):
            when, then = gate.data["rules"]["when"], gate.data["rules"]["then"]
            extent = _extent(when, self)
            if not extent:
                continue
            answer, reason, way_out = then["answer"], then["reason_key"], then.get("way_out_key")
            if extent == "part" and answer == "fails":
                answer, reason = "works with limits", "depends_on_version"
            found.append(
                Verdict(
                    answer,
                    then["gate"],
                    reason,
                    self.numbers(until=when.get("version_until") or ""),
                    _source_of(gate),
                    way_out,
                )
            )
        return found

    def numbers(self, **more: Any) -> dict[str, Any]:
        base = {
            "runtime": self.runtime.name if self.runtime else "",
            "gpu": self.gpu.name if self.gpu else "",
            "architecture": self.capability,
            "version": self.version or "",
            "weights": self.weights or "",
            "compute": self.compute or "",
            "kv": self.kv or "",
            "os": _OS_NAMES.get(self.os, self.os),
            "gpus": self.gpus,
            "nodes": self.nodes,
            "model": self.llm.name if self.llm else "",
            "build": self.build or "",
        }
        return base | more

    def found(
        self, answer: Answer, gate: str, reason: str, source: str = "", way_out: str | None = None, **more: Any
    ) -> Verdict:
        return Verdict(answer, gate, reason, self.numbers(**more), source or self.source, way_out)

    @property
    def source(self) -> str:
        sources = self.rules.get("sources") or ()
        return str(sources[0]["where"]) if sources else ""


def _toolkit_in(build: str, name: str) -> tuple[Version, bool] | None:
    """The version of a toolkit that a build condition names, and whether anything below it is meant."""
    found = re.search(rf"\b{name}\s*(<|below|before|older than)?\s*(\d+(?:\.\d+)*)", build)
    return (version_of(found[2]), bool(found[1])) if found else None


def _extent(when: Mapping[str, Any], ask: _Ask) -> Literal["", "part", "all"]:
    """Whether an exception holds for all that is asked, for a part of the time that it spans, or not at all."""
    cards = [when[name] for name in ("cc_set", "gfx_list", "other_list") if when.get(name)]
    if cards and not _matches_card(when, ask.gpu):
        return ""
    word, _scheme = ask.word
    compute = ask.compute
    build = (ask.build or "").lower()
    one_of = (
        ("weights", word),
        ("kv", ask.kv),
        ("compute", compute),
        ("schemes", ask.scheme),
        ("os_list", ask.os),
        ("vendors", ask.maker),
        ("uses", ask.runtime.use if ask.runtime else None),
    )
    if any(name in when and value not in when[name] for name, value in one_of):
        return ""
    if "not_runtimes" in when and ask.runtime is not None and ask.runtime.name in when["not_runtimes"]:
        return ""
    if "features" in when and not all(feature in ask.words for feature in when["features"]):
        return ""
    if "kernel" in when and when["kernel"] != ask.scheme and when["kernel"] not in ask.words:
        return ""
    if ask.gpus < when.get("min_gpus", 1):
        return ""
    if when.get("sparse_attention") and not (
        "sparse attention" in ask.words or _named(ask.llm, ask.index.sparse_models)
    ):
        return ""
    if when.get("mla") and not (
        "mla" in ask.words.split() or (ask.llm is not None and ask.llm.attention.kind == "MLA")
    ):
        return ""
    if when.get("moe") and not ("moe" in ask.words.split() or (ask.llm is not None and ask.llm.moe is not None)):
        return ""
    if when.get("dense") and not (ask.llm is not None and ask.llm.moe is None):
        return ""
    if "models" in when and not _named(ask.llm, when["models"]):
        return ""
    if "build" in when and not all(part.lower() in build for part in when["build"]):
        return ""
    if any(part.lower() in build for part in when.get("not_build", ())):
        return ""
    if "cuda_until" in when and (ask.cuda is None or not _at_most(ask.cuda[0], when["cuda_until"])):
        return ""
    return _extent_in_time(when, ask)


def _extent_in_time(when: Mapping[str, Any], ask: _Ask) -> Literal["", "part", "all"]:
    merge = re.search(r"(before|after) PR (\d+)", ask.build or "")
    if merge and when.get("until_pr"):
        return "all" if merge[1] == "before" and merge[2] == when["until_pr"] else ""
    dated = "date_from" in when or "date_until" in when
    if ask.version is None and ask.span is not None and dated:
        start, end = ask.span
        first = _span(when["date_from"])[0] if "date_from" in when else ""
        last = _span(when["date_until"])[1] if "date_until" in when else "9999"
        if end < first or start > last:
            return ""
        return "all" if first <= start and end <= last else "part"
    if ask.version is None and ask.span is None:
        return "" if "version_until" in when or "date_until" in when else "all"
    if "version_from" in when or "version_until" in when:
        return "all" if _covers(when, ask.resolved) else ""
    # Dates alone cannot be read as a version: what has ended is taken as ended.
    return "" if "date_until" in when else "all"


def _named(llm: Llm | None, names: Iterable[str]) -> bool:
    return llm is not None and llm.name.startswith(tuple(names))


# --- The gates ---


def _os(ask: _Ask) -> list[Verdict]:
    support = (ask.rules.get("os_support") or {}).get(ask.os, "not known")
    window = (ask.rules.get("os_versions") or {}).get(ask.os)
    if window:
        if not _covers(window, ask.resolved):
            return [
                ask.found(
                    "fails", "OS", "os_other_version", way_out="use_linux", until=window.get("version_until") or ""
                )
            ]
        if window.get("limited_from") and ask.resolved and _at_least(ask.resolved, window["limited_from"]):
            return [
                ask.found("works with limits", "OS", "os_deprecated", way_out="use_linux", until=window["limited_from"])
            ]
        support = "yes"
    if support == "no":
        return [
            ask.found(
                "fails", "OS", "os_not_supported", way_out="use_linux" if ask.os == "windows" else "other_runtime"
            )
        ]
    if support not in ("yes", "limited"):
        return [ask.found("not known", "OS", "os_not_known")]
    apple = ask.maker == "Apple"
    if ask.gpu is not None and apple != (ask.os == "macos"):
        return [ask.found("fails", "OS", "card_needs_macos" if apple else "no_card_on_macos", way_out="other_os")]
    if ask.maker == "AMD" and ask.os == "windows" and "Vulkan" not in " ".join(ask.rules.get("backends") or ()):
        for rules, source in ask.index.rules("rocm_os"):
            if "windows" in (rules.get("os_list") or ()) and not _matches_card(rules, ask.gpu):
                return [ask.found("fails", "OS", "no_rocm_on_windows", source, "use_linux")]
    if support == "limited":
        return [ask.found("works with limits", "OS", "os_limited")]
    return []


def _driver(ask: _Ask) -> list[Verdict]:
    if ask.gpu is None or not ask.gpu.compute_capability:
        return []
    text = ask.version if ask.layer == "driver" else None
    if text is None and (found := re.search(r"driver\s*R?(\d{3})", ask.build or "", re.IGNORECASE)):
        text = found[1]
    if text is None:
        return []
    driver = version_of(text)
    if not driver:
        return []
    for rules, source in ask.index.rules("driver_floor"):
        for floor in rules["floors"]:
            names = floor.get("runtimes")
            if names is not None and (ask.runtime is None or ask.runtime.name not in names):
                continue
            if _matches_card(floor, ask.gpu) and not _at_least(driver, floor["driver"]):
                return [
                    ask.found(
                        "fails", "driver", "driver_too_old", source, "newer_driver", driver=text, needed=floor["driver"]
                    )
                ]
    branches = [(rules, source) for rules, source in ask.index.rules("driver_branch") if "cc_dropped" in rules]
    older = [branch for branch in branches if _at_least(driver, branch[0]["version_from"])]
    if not older:
        return []
    rules, source = max(older, key=lambda branch: version_of(branch[0]["version_from"]))
    if ask.gpu.compute_capability in rules["cc_dropped"]:
        return [ask.found("fails", "driver", "driver_dropped", source, "driver_580", driver=text)]
    if ask.cuda and ask.cuda[0][0] > int(rules["cuda_major_max"]) and not ask.cuda[1]:
        return [
            ask.found("fails", "driver", "driver_lacks_cuda", source, "newer_driver", driver=text, cuda=ask.cuda[0][0])
        ]
    return []


def _toolkit(ask: _Ask) -> list[Verdict]:
    gpu = ask.gpu
    if gpu is None or ask.build is None:
        return []
    if gpu.compute_capability and ask.cuda:
        return _cuda_toolkit(ask, gpu.compute_capability, *ask.cuda)
    rocm = _toolkit_in(ask.build, "ROCm")
    if gpu.gfx and rocm:
        version, below = rocm
        for rules, source in ask.index.rules("rocm_gpu"):
            if gpu.gfx not in (rules.get("gfx_list") or ()):
                continue
            low, high = rules.get("version_from"), rules.get("version_until")
            name = f"ROCm {'.'.join(map(str, version))}"
            if low and (not _at_least(version, low) or (below and version_of(low) >= version)):
                return [ask.found("fails", "toolkit", "toolkit_too_old", source, "newer_toolkit", toolkit=name)]
            if high and not _at_most(version, high):
                if rules.get("unofficial_until") and _at_most(version, rules["unofficial_until"]):
                    return [ask.found("works with limits", "toolkit", "toolkit_unofficial", source, toolkit=name)]
                return [ask.found("fails", "toolkit", "toolkit_dropped", source, "older_toolkit", toolkit=name)]
    cann = re.search(r"\bCANN\s*(\d[\w.]*)", ask.build)
    asked = version_of(ask.version) if ask.version else ()
    if cann and asked and ask.runtime is not None:
        for rules, source in ask.index.rules("cann"):
            for row in rules.get("sets") or ():
                same = row["runtime"] == ask.runtime.name and version_of(row["runtime_version"])[: len(asked)] == asked
                if same and not row["cann"].startswith(cann[1]):
                    return [ask.found("fails", "toolkit", "cann_mismatch", source, "use_container")]
    return []


def _cuda_toolkit(ask: _Ask, capability: str, version: Version, below: bool) -> list[Verdict]:
    name = f"CUDA {'.'.join(map(str, version))}"
    for rules, source in ask.index.rules("minimum_toolkit"):
        needed = (rules.get("toolkit_min_by_cc") or {}).get(capability)
        if needed:
            low = version_of(needed)[: len(version)]
            if version < low or (below and version <= version_of(needed)):
                return [ask.found("fails", "toolkit", "toolkit_too_old", source, "newer_toolkit", toolkit=name)]
    for rules, source in ask.index.rules("cuda_toolkit"):
        if not below and _covers(rules, version) and capability not in rules["cc_set"]:
            return [ask.found("fails", "toolkit", "toolkit_dropped", source, "older_toolkit", toolkit=name)]
    return []


def _framework_wheel(ask: _Ask) -> list[Verdict]:
    if ask.gpu is None:
        return []
    training = ask.runtime is not None and ask.runtime.use in ("training", "finetune") and ask.build is not None
    if ask.layer != "framework" and not training:
        return []
    version = version_of(ask.version) if ask.version and ask.layer == "framework" else None
    named = re.findall(r"\bcu\d{3}\b|\brocm[\d.]+\b", (ask.build or "").lower())
    if training and not named:
        return []
    same: dict[str, str] = {}
    wheels: list[tuple[Mapping[str, Any], str]] = []
    for rules, source in ask.index.rules("pytorch_wheel"):
        same |= rules.get("same_binary") or {}
        wheels += [(wheel, source) for wheel in rules.get("wheels") or ()]
    capability = ask.gpu.compute_capability
    lists = "cc_set" if capability else "gfx_list"
    card = capability or ask.gpu.gfx
    wheels = [
        (wheel, source)
        for wheel, source in wheels
        if wheel.get(lists) and (not named or wheel["build"] in named) and (version is None or _covers(wheel, version))
    ]
    if card is None or not wheels:
        return [ask.found("not known", "framework wheel", "wheel_not_known")]
    good = [card in wheel[lists] or same.get(card) in wheel[lists] for wheel, _source in wheels]
    if not any(good):
        return [ask.found("fails", "framework wheel", "wheel_lacks_card", wheels[0][1], "other_wheel")]
    if not all(good):
        builds = ", ".join(wheel["build"] for (wheel, _source), ok in zip(wheels, good, strict=True) if ok)
        return [ask.found("works with limits", "framework wheel", "only_some_wheels", wheels[0][1], builds=builds)]
    return []


def _nothing(ask: _Ask) -> list[Verdict]:
    """Gates that only exceptions speak for."""
    return []


def _engine_minimum(ask: _Ask) -> list[Verdict]:
    if ask.gpu is None:
        return [ask.found("not known", "engine minimum", "no_card")]
    if not _backends_serve(ask) and not ask.current_rows:
        return [ask.found("fails", "engine minimum", "no_backend", way_out="other_runtime", maker=ask.gpu.vendor)]
    findings = _minimum(ask)
    if any(_RANK[found.answer] >= _RANK["not known"] for found in findings):
        return findings
    if ask.current_rows:
        return findings
    refused = [row for row in ask.rows if not row.get("supported", True) and _covers(row, ask.resolved)]
    if refused:
        return [ask.found("fails", "engine minimum", "not_in_list", way_out="other_runtime")]
    if ask.rows:
        return [ask.found("fails", "weight-format kernel", "card_other_version", way_out="another_version")]
    if ask.gpu.gfx and _closed_list(ask):
        # Kernels for AMD are compiled for each chip by name: what is not on such a list is not in the build.
        return [ask.found("fails", "engine minimum", "not_in_list", way_out="other_runtime")]
    if ask.runtime and ask.runtime.use in ("training", "finetune") and ask.gpu.compute_capability != "12.1":
        # Software on top of a framework runs where the framework does; no source tried this card.
        return [*findings, ask.found("works with limits", "engine minimum", "not_listed_framework")]
    return [ask.found("not known", "engine minimum", "not_listed", way_out="other_runtime")]


def _backends_serve(ask: _Ask) -> bool:
    if ask.runtime is None:
        return False
    for backend in ask.rules.get("backends") or ask.runtime.backends:
        for word, makers in _BACKENDS:
            if word in backend:
                if ask.maker in makers:
                    return True
                if not makers:
                    break
    return False


def _closed_list(ask: _Ask) -> bool:
    rows = [*(ask.rules.get("formats") or ()), *(ask.rules.get("minimum") or ())]
    names = {gfx for row in rows for gfx in row.get("gfx_list") or ()}
    return len(names) > 1


def _minimum(ask: _Ask) -> list[Verdict]:
    """The documented floor. Between two documented ones, where only one would do, nothing is known."""
    entries = [entry for entry in ask.rules.get("minimum") or () if _speaks_of(entry, ask)]
    findings: list[Verdict] = []
    for entry in entries:
        advice = entry.get("soft") and entry.get("cc_min")
        if advice and _covers(entry, ask.resolved) and not _meets(entry, ask):
            findings.append(ask.found("works with limits", "engine minimum", "below_advice", needed=_floor(entry)))
    hard = [entry for entry in entries if not entry.get("soft")]
    if not hard:
        return findings
    advised = [entry for entry in entries if entry.get("soft") and entry.get("other_list") and _meets(entry, ask)]
    if advised:
        return [ask.found("works with limits", "engine minimum", "experimental")]
    now = [entry for entry in hard if _covers(entry, ask.resolved)]
    if not now:
        met = [_meets(entry, ask) for entry in hard]
        if all(met):
            return findings
        answer: Answer = "not known" if any(met) else "fails"
        below = "below_minimum" if hard[-1].get("cc_min") else "outside_list"
        reason = "minimum_gap" if any(met) else below
        return [ask.found(answer, "engine minimum", reason, way_out="other_runtime", needed=_floor(hard[-1]))]
    good = [entry for entry in now if _meets(entry, ask)]
    builds = [entry for entry in now if entry.get("build")]
    if len(good) == len(now):
        return findings
    if good and builds:
        return [
            *findings,
            ask.found(
                "works with limits", "toolkit", "needs_build", builds=", ".join(e["build"] for e in good if e["build"])
            ),
        ]
    worst = next(entry for entry in now if entry not in good)
    gate = "toolkit" if worst.get("build") else "engine minimum"
    way_out = "older_toolkit" if worst.get("build") else "other_runtime"
    reason = "below_minimum" if worst.get("cc_min") else "outside_list"
    return [ask.found("fails", gate, reason, way_out=way_out, needed=_floor(worst))]


def _speaks_of(entry: Mapping[str, Any], ask: _Ask) -> bool:
    """Whether a floor is about this kind of card, this part of the runtime and this build."""
    gpu = ask.gpu
    assert gpu is not None
    if gpu.compute_capability:
        if not (entry.get("cc_min") or entry.get("cc_list")):
            return False
    elif not (entry.get("gfx_list") if gpu.gfx else entry.get("other_list")):
        return False
    if part := entry.get("part"):
        release = f"fa{ask.resolved[0]}" if ask.resolved else ""
        asked = {ask.word[0], ask.compute, release, f"auto{ask.scheme}"}
        if not any(word.strip().lower() in asked for word in part.split(",")):
            return False
    if (build := entry.get("build")) and ask.cuda:
        digits = re.search(r"\d\d", build)
        return digits is None or int(digits[0]) == ask.cuda[0][0]
    return True


def _meets(entry: Mapping[str, Any], ask: _Ask) -> bool:
    gpu = ask.gpu
    assert gpu is not None
    if gpu.compute_capability and entry.get("cc_min"):
        return float(gpu.compute_capability) >= float(entry["cc_min"])
    return _matches_card({**entry, "cc_set": entry.get("cc_list")}, gpu)


def _floor(entry: Mapping[str, Any]) -> str:
    return str(
        entry.get("cc_min") or ", ".join(entry.get("cc_list") or entry.get("gfx_list") or entry.get("other_list") or ())
    )


def _weights(ask: _Ask) -> list[Verdict]:
    if not ask.weights or not _lists_weights(ask):
        return _weights_by_framework(ask) if ask.weights and not ask.current_rows else []
    entries = _entries(ask)
    word, scheme = ask.word
    if not entries:
        other = [
            e for row in ask.current_rows for e in row["weights"] if _reads(e, word, scheme) and not e.get("cc_min")
        ]
        if other:
            return [ask.found("fails", "weight-format kernel", "kernel_other_version", way_out="newer_version")]
        return [ask.found("fails", "weight-format kernel", "kernel_missing", way_out="other_format")]
    compute, mode = _computed_with(ask, entries)
    silicon = _silicon_of(ask)
    if mode == "storage_only" and (
        word in _FLOAT_FORMATS or (word in _SIXTEEN_BIT and silicon.get(word) in ("none", "slow"))
    ):
        return [ask.found("works with limits", "weight-format kernel", "storage_only", compute=compute)]
    if all(entry.get("partial") or _is_restricted(entry) for entry in entries):
        return [
            ask.found(
                "works with limits", "weight-format kernel", "format_for_some", scheme=entries[0].get("scheme") or word
            )
        ]
    if mode == "native" and silicon.get(compute) == "slow":
        return [ask.found("works with limits", "compute dtype", "compute_slow", compute=compute)]
    return []


def _is_restricted(entry: Mapping[str, Any]) -> bool:
    """Whether a format is listed for some models, or for experts that the host's processor computes."""
    return entry.get("on") == "cpu" or "only" in (entry.get("scheme") or "").replace("weight_only", "")


def _weights_by_framework(ask: _Ask) -> list[Verdict]:
    """Cards that a training program does not name: 16-bit types by the silicon, packed ones by their library."""
    word, _scheme = ask.word
    if word in ("fp32", *_SIXTEEN_BIT):
        if _silicon_of(ask).get(word, "none") == "none":
            return [ask.found("fails", "compute dtype", "compute_missing", way_out="compute_fp16", compute=word)]
        return []
    library = ask.catalog.runtimes.get("bitsandbytes")
    finetune = ask.runtime is not None and ask.runtime.use == "finetune"
    if word in ("nf4", "int8") and library is not None and finetune:
        verdict = judge(ask.catalog, ask.gpu, library, weights=word, os=ask.os, as_of=ask.as_of)
        return [] if verdict.answer == "works" else [verdict._replace(gate="weight-format kernel")]
    return [ask.found("not known", "weight-format kernel", "kernel_not_known")]


def _lists_weights(ask: _Ask) -> bool:
    return any(row.get("weights") for row in ask.current_rows)


def _reads(entry: Mapping[str, Any], word: str, scheme: str | None) -> bool:
    """Whether a listed format is the one asked for."""
    own = entry["format"]
    if own != word and word not in _HOLDS.get(own, ()):
        return False
    listed = entry.get("scheme")
    return scheme is None or listed is None or listed == scheme or scheme not in _PACKINGS or listed not in _PACKINGS


def _listed(ask: _Ask, part: str) -> list[Mapping[str, Any]]:
    """What the rows of this card list as weights or KV formats in this version."""
    # Some rows name a format only.
    entries = [e if isinstance(e, Mapping) else {"format": e} for row in ask.current_rows for e in row.get(part) or ()]
    capability = ask.gpu.compute_capability if ask.gpu is not None else None
    return [
        entry
        for entry in entries
        if _covers(entry, ask.resolved)
        and not (capability and entry.get("cc_min") and float(capability) < float(entry["cc_min"]))
        and not (ask.version is None and ask.span is not None and ask.span[1] < entry.get("date_from", ""))
    ]


def _entries(ask: _Ask) -> list[Mapping[str, Any]]:
    """The listed formats that answer the question in this version."""
    listed = _listed(ask, "weights")
    word, scheme = ask.word
    found = [entry for entry in listed if _reads(entry, word, scheme)]
    if found:
        return found
    if word == "fp16":
        # Whatever computes in bf16 computes in fp16: every chip with the one has the other; tables name the usual one.
        return [entry for entry in listed if entry["format"] == "bf16"]
    if word == "fp32" and ask.runtime is not None and ask.runtime.use in ("training", "finetune"):
        return [entry for entry in listed if entry["format"] in _SIXTEEN_BIT][:1]
    if word == "fp8_block" and not _anywhere(ask, "fp8_block"):
        # A table that does not tell the two apart means both.
        return [entry for entry in listed if _reads(entry, "fp8", scheme)]
    return []


def _anywhere(ask: _Ask, word: str) -> bool:
    return any(entry["format"] == word for row in ask.rules.get("formats") or () for entry in row.get("weights") or ())


def _silicon_of(ask: _Ask) -> dict[str, str]:
    return ask.index.silicon(ask.gpu) if ask.gpu is not None else {}


def _computed_with(ask: _Ask, entries: list[Mapping[str, Any]]) -> tuple[str, Mode]:
    """The type of the arithmetic and whether it is the weights' own; of several listed forms the usual one."""
    word, scheme = ask.word
    # Four-bit weights with 8-bit activations need a checkpoint of their own: taken only where nothing else is there.
    usual = [entry for entry in entries if entry.get("scheme") != "w4a8" or scheme == "w4a8"] or entries
    native = [entry for entry in usual if entry.get("mode") == "native"]
    chosen = (native or usual)[0]
    return _arithmetic(_silicon_of(ask), word, chosen.get("mode") or "native", ask.row_compute)


def _arithmetic(silicon: Mapping[str, str], word: str, mode: str, offered: tuple[str, ...]) -> tuple[str, Mode]:
    """The type that arithmetic runs in. `offered` are the types that the engine computes in; empty = any."""
    if mode == "native":
        if word == "fp32":
            return "fp32", "native"
        if word in _SIXTEEN_BIT and silicon.get(word) in ("native", "cores", None):
            return word, "native"
        own = _OWN_COMPUTE.get(word)
        if own == "int4":
            # Four-bit weights with 8-bit activations.
            own = "fp8" if "fp8" in offered else "int8"
        if own is not None and silicon.get(own, "none") in ("native", "cores", "slow"):
            return own, "native"
    for sixteen in _SIXTEEN_BIT:
        usable = silicon.get(sixteen) in ("native", "cores")
        if usable and (not offered or sixteen in offered or (sixteen == "fp16" and "bf16" in offered)):
            return sixteen, "storage_only"
    packed = word not in ("fp32", *_SIXTEEN_BIT)
    if packed and silicon.get("int8") in ("native", "cores") and (not offered or "int8" in offered):
        return "int8", "storage_only"
    for sixteen in _SIXTEEN_BIT:
        if silicon.get(sixteen) == "native":
            return sixteen, "storage_only"
    return "fp32", "storage_only"


def _compute(ask: _Ask) -> list[Verdict]:
    compute = ask.compute
    if compute is None or ask.gpu is None:
        return []
    silicon = _silicon_of(ask)
    state = silicon.get("fp8" if compute == "mxfp8" else compute)
    listed = ask.row_compute
    if listed and compute not in (*listed, "fp32", "tf32") and not (compute == "fp16" and "bf16" in listed):
        return [ask.found("fails", "compute dtype", "compute_not_offered", way_out="compute_other", compute=compute)]
    if state == "none":
        return [ask.found("fails", "compute dtype", "compute_missing", way_out="compute_other", compute=compute)]
    if state is None and not listed and compute not in ("fp32", "tf32"):
        # No rate is published and no list names it.
        return [ask.found("not known", "compute dtype", "compute_not_known", compute=compute)]
    if state == "slow":
        return [ask.found("works with limits", "compute dtype", "compute_slow", compute=compute)]
    return []


def _kv(ask: _Ask) -> list[Verdict]:
    kv = ask.kv
    if kv is None or kv in _SIXTEEN_BIT:
        return []
    if not any(row.get("kv") for row in ask.current_rows):
        return [ask.found("not known", "KV dtype", "kv_not_known")]
    entries = [entry for entry in _listed(ask, "kv") if entry["format"] == kv]
    if ask.scheme in ("e4m3", "e5m2"):
        entries = [e for e in entries if e.get("scheme") in (None, ask.scheme)]
    if not entries:
        return [ask.found("fails", "KV dtype", "kv_missing", way_out="kv_16_bit")]
    if all(e.get("condition") for e in entries):
        return [ask.found("works with limits", "KV dtype", "kv_condition", condition=entries[0]["condition"])]
    if kv in _FLOAT_FORMATS and all(e.get("mode") == "storage_only" for e in entries):
        return [ask.found("works with limits", "KV dtype", "kv_storage_only")]
    return []


# Words of a feature and what a runtime's record says of it. Serving adapters is another matter than training them.
_FEATURES = (
    ("tensor parallel", "tensor_parallel"),
    ("pipeline parallel", "pipeline_parallel"),
    ("expert parallel", "expert_parallel"),
    ("context parallel", "context_parallel"),
    ("speculative", "speculative_decoding"),
    ("prefix cach", "prefix_cache"),
    ("lora", "lora_serving"),
)


def _features(ask: _Ask) -> list[Verdict]:
    for word, name in _FEATURES:
        serves = ask.runtime is not None and ask.runtime.use in ("serving", "desktop")
        if word in ask.words and (name != "lora_serving" or serves) and getattr(ask.runtime, name) is False:
            return [ask.found("fails", "feature pair", "feature_missing", way_out="other_runtime", feature=ask.feature)]
    return []


def _link(ask: _Ask) -> list[Verdict]:
    if ask.nodes > 1 and ask.runtime is not None and ask.runtime.multi_node is not True:
        if ask.runtime.multi_node is False:
            return [ask.found("fails", "link", "one_server_only", way_out="one_server")]
        return [ask.found("not known", "link", "several_servers_not_known")]
    if ask.gpus < 2 or ask.gpu is None or (ask.runtime is not None and ask.runtime.tensor_parallel is False):
        return []
    for rules, source in ask.index.rules("link"):
        bridged = rules.get("nvlink_pairs_only") and ask.gpus <= 2
        if ask.gpu.name in (rules.get("gpus") or ()) and rules.get("p2p_stock_driver") is False and not bridged:
            return [ask.found("works with limits", "link", "no_peer_to_peer", source)]
    if ask.gpu.peer_to_peer is False and ask.gpu.pcie_generation is not None and ask.gpu.link_kind == "none":
        return [ask.found("works with limits", "link", "no_peer_to_peer")]
    return []


def _maintenance(ask: _Ask) -> list[Verdict]:
    status = ask.rules.get("status") or {}
    if not isinstance(status, Mapping):
        return []
    maturity = str(status.get("maturity") or "")
    if maturity.startswith("active") or not any(word in maturity for word in _ENDED):
        return []
    since = str(status.get("date") or "")
    if ask.span is not None and re.match(r"\d{4}", since) and ask.span[1] < _span(since[:7])[0]:
        return []
    return [
        ask.found(
            "works with limits", "maintenance", "unmaintained", way_out="other_runtime", status=maturity, since=since
        )
    ]


_CHAIN: tuple[tuple[str, Callable[[_Ask], list[Verdict]]], ...] = (
    ("OS", _os),
    ("driver", _driver),
    ("toolkit", _toolkit),
    ("framework wheel", _framework_wheel),
    ("engine wheel", _nothing),
    ("engine minimum", _engine_minimum),
    ("weight-format kernel", _weights),
    ("compute dtype", _compute),
    ("KV dtype", _kv),
    ("attention backend", _nothing),
    ("model architecture", _nothing),
    ("feature pair", _features),
    ("link", _link),
    ("maintenance", _maintenance),
)


def _worst(ask: _Ask, findings: list[Verdict]) -> Verdict:
    """The worst finding; of equals the first in the chain. Says how the weights are computed with where they run."""
    order = {name: place for place, name in enumerate(GATES)}
    best = min(findings, key=lambda found: (-_RANK[found.answer], order.get(found.gate, 0)), default=None)
    verdict = best or ask.found("works", "", "works")
    if (
        verdict.answer in ("works", "works with limits")
        and ask.weights
        and ask.gpu is not None
        and (entries := _entries(ask))
    ):
        verdict = verdict._replace(mode=_computed_with(ask, entries)[1])
    return verdict


# --- The fast path ---


def _formats(
    catalog: Catalog, index: _Index, gpu: Gpu, runtime: Runtime, version: str | None, os: str
) -> tuple[FormatSupport, ...]:
    bare = _Ask(index=index, catalog=catalog, gpu=gpu, runtime=runtime, version=version, os=os)
    if _RANK[judge(catalog, gpu, runtime, version=version, os=os).answer] >= _RANK["not known"]:
        return ()
    listed = {entry["format"] for row in bare.current_rows for entry in row.get("weights") or ()}
    kv = _kv_words(bare)
    found: list[FormatSupport] = []
    for word in (*PLANNING_FORMATS[: -len(GGUF_FORMATS)], "gguf"):
        verdict = judge(catalog, gpu, runtime, version=version, weights=word, os=os)
        if _RANK[verdict.answer] >= _RANK["not known"]:
            continue
        ask = _Ask(index=index, catalog=catalog, gpu=gpu, runtime=runtime, version=version, weights=word, os=os)
        if entries := [entry for entry in _entries(ask) if entry.get("on") != "cpu"]:
            compute, mode = _computed_with(ask, entries)
        elif listed:
            continue
        else:
            # A card that a training program does not name: what the silicon has.
            compute, mode = _arithmetic(
                index.silicon(gpu), word, "native" if word in ("fp32", *_SIXTEEN_BIT) else "storage_only", ()
            )
        names = GGUF_FORMATS if word == "gguf" else (word,)
        found += [FormatSupport(name, compute, mode, kv) for name in names]
    if runtime.use in ("training", "finetune"):
        for narrow in ("fp8", "fp4"):
            if (
                narrow in bare.row_compute
                and index.silicon(gpu).get(narrow) == "native"
                and any(f.weights == "bf16" for f in found)
            ):
                found.append(FormatSupport("bf16", narrow, "native", kv))
    return tuple(found)


def _kv_words(ask: _Ask) -> tuple[str, ...]:
    assert ask.runtime is not None
    words = [entry["format"] for entry in _listed(ask, "kv")]
    good = [
        word
        for word in dict.fromkeys(words)
        if word in _SIXTEEN_BIT
        or judge(ask.catalog, ask.gpu, ask.runtime, version=ask.version, kv=word, os=ask.os).answer
        in ("works", "works with limits")
    ]
    sixteen = "bf16" if _silicon_of(ask).get("bf16", "none") != "none" else "fp16"
    return tuple(dict.fromkeys([word for word in good if word in _SIXTEEN_BIT] or [sixteen])) + tuple(
        word for word in good if word not in _SIXTEEN_BIT
    )
