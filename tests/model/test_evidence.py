"""What widens a band, and how sure a figure is in one word."""

from dataclasses import replace

import pytest

from gpuplanner.catalog.load import load
from gpuplanner.model import evidence
from gpuplanner.model.results import NOT_KNOWN, Figure

CATALOG = load()
CALIBRATION = CATALOG.calibration


def named(entries, name):
    return next(entry for entry in entries.values() if entry.name == name)


H100, LLAMA, MIXTRAL = (
    named(CATALOG.gpus, "H100 SXM 80GB"), named(CATALOG.llms, "Llama-3.1-8B"), named(CATALOG.llms, "Mixtral-8x7B"),
)  # fmt: skip


def trained(calibration=CALIBRATION, architecture="Hopper", llm=LLAMA, framework="Megatron and NeMo", tokens=4096):
    return evidence.training(calibration, architecture, H100, llm, framework, tokens, False)


def test_a_seen_card_and_framework_widen_nothing():
    assert trained() == evidence.Evidence(1.0, (), True)


def test_each_reason_widens_by_the_power_that_rows_have_shown():
    shown = replace(CALIBRATION, widening={"experts_trained": 2.0, "long_context": 1.5})
    found = trained(shown, llm=MIXTRAL, tokens=64_000)
    assert found.outside == ("experts_trained", "long_context") and found.power == pytest.approx(3.0)


def test_a_reason_that_no_row_shows_widens_by_judgement():
    found = trained(replace(CALIBRATION, widening={}), framework="other")
    assert found.power == evidence.JUDGED_WIDENING["engine"]


def test_an_unknown_architecture_is_not_validated():
    found = trained(architecture="other")
    assert "architecture" in found.outside and not found.validated


def test_measured_powers_never_narrow_a_band():
    assert all(power >= 1.0 for power in CALIBRATION.widening.values())
    assert set(CALIBRATION.widening) <= set(evidence.JUDGED_WIDENING)


def test_the_power_multiplies_the_width_of_the_logarithm():
    plain, wide = evidence.Evidence(1.0, (), True), evidence.Evidence(2.0, ("engine",), True)
    factor = evidence.factor(CALIBRATION, "training", plain)
    assert evidence.factor(CALIBRATION, "training", wide) == pytest.approx(factor**2)


@pytest.mark.parametrize(
    ("low", "high", "word"),
    [(75.0, 135.0, "good"), (75.0, 150.0, "fair"), (50.0, 120.0, "rough"), (0.0, 110.0, "rough")],
)
def test_the_wider_side_of_the_band_decides_the_word(low, high, word):
    assert evidence.confidence_of(Figure(100.0, low, high, "predicted")) == word


def test_what_is_not_predicted_has_no_word():
    assert evidence.confidence_of(Figure(100.0, 50.0, 200.0, "assumed")) == ""
    assert evidence.confidence_of(NOT_KNOWN) == ""
