import pytest

from gpuplanner.catalog.load import load
from gpuplanner.model import card_ratio
from gpuplanner.model.bands import spread
from gpuplanner.model.card_ratio import NOT_KNOWN, Outcome, Side, TaskRatio, claim_found, compare_cards
from gpuplanner.model.evaluate import evaluate
from gpuplanner.model.plan import Group, Plan, Run, Scenario

H100, A100 = "H100 SXM 80GB", "A100 SXM 80GB"
# llm-foundry, same model, length and number of cards, bf16 on both: the median of 19 pairs.
TRAINING_MEASURED = 2.29
# 16 bit on both: 15 pairs of first tokens and 8 of decode steps of one request (Splitwise), 26 of most throughput
# (TensorRT-LLM 0.11).
PREFILL_MEASURED, DECODE_MEASURED, SERVING_MEASURED = 2.27, 1.49, 2.06


@pytest.fixture(scope="module")
def catalog():
    return load()


@pytest.fixture(scope="module")
def sixteen_bit(catalog):
    return compare_cards(Side(H100), Side(A100), "Llama-3.1-70B", catalog)


def test_h100_against_a100_trains_in_16_bit_as_measured(sixteen_bit):
    assert sixteen_bit.task("train").ratio.value == pytest.approx(TRAINING_MEASURED, rel=0.10)


@pytest.mark.parametrize(
    ("key", "measured"),
    [("prefill", PREFILL_MEASURED), ("decode_small", DECODE_MEASURED), ("serving", SERVING_MEASURED)],
)
def test_h100_against_a100_serves_in_16_bit_as_measured(sixteen_bit, key, measured):
    assert sixteen_bit.task(key).ratio.value == pytest.approx(measured, rel=0.10)


def test_three_and_a_half_takes_a_narrower_format_on_one_side(sixteen_bit):
    claim = next(each for each in sixteen_bit.claims if each.claim == 3.5)
    assert {"train", "prefill", "decode_small", "decode_large", "serving"} <= set(claim.less)
    assert "one_side_narrow" in (*claim.holds, *claim.more)


def test_a_card_against_itself_is_equal_at_everything(catalog):
    found = compare_cards(Side(A100), Side(A100), "Llama-3.1-8B", catalog)
    assert {task.ratio.value for task in found.tasks} == {1.0}


def test_swapping_the_cards_turns_every_ratio_over(catalog):
    one = compare_cards(Side(H100), Side(A100), "Llama-3.1-8B", catalog)
    other = compare_cards(Side(A100), Side(H100), "Llama-3.1-8B", catalog)
    for task in one.tasks:
        assert task.ratio.value == pytest.approx(1 / other.task(task.key).ratio.value)


def test_the_band_of_a_ratio_is_narrower_than_that_of_either_rate(sixteen_bit, catalog):
    band = catalog.calibration.band("max_throughput")
    ratio = sixteen_bit.task("serving").ratio
    assert 1.0 < ratio.high / ratio.value < band.factor_80


def test_a_rate_is_what_a_plan_with_the_same_card_shows(sixteen_bit, catalog):
    task = sixteen_bit.task("serving")
    workload = card_ratio._full_queue(catalog.find("llm", "Llama-3.1-70B"), card_ratio.PROMPT)
    run = Run(workload=workload.id, weights=task.first.weights)
    group = Group(gpu=H100, gpus_per_server=task.cards, runs=(run,))
    plan = Plan(workloads=(workload,), scenarios=(Scenario(letter="A", groups=(group,)),))
    served = evaluate(plan, catalog).scenarios[0].serve[0]
    assert served.output_tokens_s_limit.value == pytest.approx(task.first.rate, rel=1e-9)


def test_the_larger_memory_holds_the_larger_model(catalog):
    found = compare_cards(Side("H200 SXM 141GB"), Side(A100), "Llama-3.1-8B", catalog)
    assert found.task("largest_model").ratio.value > 1.0


@pytest.mark.parametrize(
    "pair",
    [
        ("GeForce RTX 4090 24GB", "Tesla V100 SXM2 32GB"),
        ("Instinct MI300X 192GB", "H20 96GB"),
        ("T4 16GB", "L40S 48GB"),
    ],
)
def test_any_two_cards_are_compared_or_say_why_not(catalog, pair):
    for precision in card_ratio.PRECISIONS:
        found = compare_cards(Side(pair[0], precision), Side(pair[1], precision), "Llama-3.1-8B", catalog)
        for task in found.tasks:
            assert task.ratio.value or task.first.refusal.key or task.second.refusal.key


def test_a_card_that_no_catalog_has_is_refused(catalog):
    with pytest.raises(KeyError, match="A100 of a dream"):
        compare_cards(Side("A100 of a dream"), Side(A100), "Llama-3.1-8B", catalog)


def test_a_claim_holds_where_the_ratio_is_near_and_its_band_contains_it():
    def task(key, ratio):
        return TaskRatio(key, ratio, Outcome(1.0), Outcome(1.0), 8, "training")

    found = claim_found(
        2.0,
        [
            task("inside", spread(1.8, 1.2)),
            task("wide", spread(1.2, 1.8)),
            task("below", spread(1.0, 1.2)),
            task("above", spread(4.0, 1.2)),
            task("unknown", NOT_KNOWN),
        ],
    )
    assert (found.holds, found.reached) == (("inside",), ("wide",))
    assert (found.less, found.more) == (("below",), ("above",))
