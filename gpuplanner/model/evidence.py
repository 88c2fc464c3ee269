"""How well a configuration is covered by measurements, and how wide its bands are because of that.

The 80 % factor of a family comes from cross-validated residuals; it is widened by a power for each way in which the
configuration lies
outside of what was measured. The widening powers are judgements, kept here until rows allow to derive them.
"""

from typing import NamedTuple

import numpy as np

from gpuplanner.catalog.calibration import Calibration
from gpuplanner.catalog.schema import Gpu, Llm, Runtime
from gpuplanner.model.case import Setting
from gpuplanner.model.parallelism import Split

# Powers of the family's factor.
_CARD_NOT_SEEN = 1.15
_ENGINE_NOT_SEEN = 1.25
_ARCHITECTURE_NOT_SEEN = 1.6
_PCIE_TENSOR = 1.3
_EXPERTS_ACROSS_SERVERS = 1.5
_LONG_CONTEXT = 1.2
_LONG_CONTEXT_TOKENS = 32_000
_GOOD, _FAIR = 1.35, 1.6


class Evidence(NamedTuple):
    """What widens a band: ``power`` multiplies the log half-width, ``outside`` names the reasons."""

    power: float
    outside: tuple[str, ...]
    validated: bool


def _widen(reasons: list[tuple[str, float]], validated: bool) -> Evidence:
    power = float(np.prod([power for _, power in reasons]))
    return Evidence(power, tuple(name for name, _ in reasons), validated)


def _card(calibration: Calibration, gpu: Gpu, architecture: str, group: str) -> list[tuple[str, float]]:
    position = calibration.position(group, architecture)
    if architecture == "other" or not calibration.knows(group, architecture) or not calibration.fitted_on[position]:
        return [("architecture", _ARCHITECTURE_NOT_SEEN)]
    return [] if gpu.name in calibration.cards_seen else [("card", _CARD_NOT_SEEN)]


def serving(
    calibration: Calibration,
    setting: Setting,
    gpu: Gpu,
    llm: Llm,
    runtime: Runtime | None,
    split: Split,
    context: float,
    devices_per_server: int,
    linked: bool = True,
) -> Evidence:
    """The evidence for a serving configuration."""
    reasons = _card(calibration, gpu, setting.architecture, "dram")
    if not calibration.engine_seen(setting.engine):
        reasons.append(("engine", _ENGINE_NOT_SEEN))
    ranks = split.tp * split.attention_dp
    if ranks > 2 and not linked:
        reasons.append(("pcie_tensor", _PCIE_TENSOR))
    if llm.moe is not None and ranks > devices_per_server:
        reasons.append(("experts_across_servers", _EXPERTS_ACROSS_SERVERS))
    if context > _LONG_CONTEXT_TOKENS:
        reasons.append(("long_context", _LONG_CONTEXT))
    return _widen(reasons, all(name != "architecture" for name, _ in reasons))


def training(
    calibration: Calibration, architecture: str, gpu: Gpu, framework: str, sequence: float, context_parallel: bool
) -> Evidence:
    """The evidence for a training configuration."""
    reasons = _card(calibration, gpu, architecture, "train matrix16")
    if framework == "other":
        reasons.append(("engine", _ENGINE_NOT_SEEN))
    if sequence > _LONG_CONTEXT_TOKENS or context_parallel:
        reasons.append(("long_context", _LONG_CONTEXT))
    return _widen(reasons, all(name != "architecture" for name, _ in reasons))


def factor(calibration: Calibration, family: str, evidence: Evidence, share: float = 0.8) -> float:
    """Factor either way that holds 80 % (or half, ``share`` 0.5) of unseen cases like this one."""
    band = calibration.band(family)
    base = band.factor_80 if share == 0.8 else band.factor_50
    return float(base**evidence.power)


def ratio_factor(calibration: Calibration, family: str, first: Evidence, second: Evidence) -> float:
    """Factor either way of the ratio of two options: they share model and formula, so most of the error cancels."""
    return float(calibration.band(family).ratio_80 ** max(first.power, second.power))


def confidence(width: float) -> str:
    """One word for an 80 % factor: good, fair or rough."""
    return "good" if width <= _GOOD else "fair" if width <= _FAIR else "rough"
