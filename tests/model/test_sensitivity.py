"""What moves a figure most: each step is a plan evaluated again, and the largest effect comes first."""

import pytest
from planning import catalog

from gpuplanner.model.edit import replace
from gpuplanner.model.evaluate import evaluate
from gpuplanner.model.sensitivity import STEP, movers
from gpuplanner.storage.samples import SAMPLES, open_sample


@pytest.fixture(scope="module")
def served():
    plan = open_sample(SAMPLES[0].key).plan
    return plan, evaluate(plan, catalog())


def found(served, metric, letter="B", most=50):
    plan, results = served
    return movers(plan, catalog(), results, letter, metric, "chat", most)


def test_a_step_is_the_plan_evaluated_again(served):
    plan, _results = served
    answer = next(mover for mover in found(served, "output") if mover.key == "answer_tokens")
    assert (answer.down, answer.up) == pytest.approx((400 * (1 - STEP), 400 * (1 + STEP)))
    longer = evaluate(replace(plan, answer.path, 480), catalog()).scenario("B")
    assert answer.value_up == pytest.approx(longer.serve[0].output_tokens_s.value, rel=1e-9)


def test_the_largest_effect_comes_first_and_five_are_enough(served):
    value = served[1].scenario("B").serve[0].output_tokens_s.value
    effects = [mover.effect(value) for mover in found(served, "output", most=5)]
    assert len(effects) == 5
    assert effects == sorted(effects, reverse=True)


def test_a_constant_moves_by_the_spread_of_its_prior(served):
    table = catalog().calibration
    dram = next(mover for mover in found(served, "single_stream") if mover.constant == "dram/A100")
    position = table.names.index("dram/A100")
    assert dram.up / dram.today == pytest.approx(2.718281828 ** table.spreads[position])
    # More of the bandwidth is reached: a single stream, bound by reading weights, gets faster.
    assert dram.value_up > served[1].scenario("B").serve[0].single_stream_tokens_s.value > dram.value_down


def test_speed_does_not_hang_on_the_price_of_electricity(served):
    assert not any(mover.key in ("price_per_kwh", "resale_share", "term") for mover in found(served, "output"))
    assert any(mover.key == "price_per_kwh" for mover in found(served, "electricity"))


def test_the_catalog_keeps_its_constants(served):
    before = catalog().calibration.values.copy()
    found(served, "output", most=3)
    assert (catalog().calibration.values == before).all()


def test_what_is_not_there_moves_nothing(served):
    assert found(served, "no such figure") == ()
    assert found(served, "output", letter="H") == ()
