"""Derivations in words: every key has a name, formulas are written from the operation itself."""

import pytest

from gpuplanner.catalog.load import load
from gpuplanner.i18n import derivations, set_language
from gpuplanner.model.derivation import Node, less, made, over, plus, times, walk
from gpuplanner.model.evaluate import evaluate
from gpuplanner.model.explain import explain, metrics
from gpuplanner.storage.samples import SAMPLES, open_sample


@pytest.fixture(autouse=True)
def english():
    set_language("en")
    yield
    set_language("en")


def test_every_figure_of_every_sample_has_a_name():
    catalog, nameless = load(None), set()
    for sample in SAMPLES:
        plan = open_sample(sample.key).plan
        results = evaluate(plan, catalog)
        for workload in plan.workloads:
            for entry in results.scenarios:
                for metric in metrics(plan, results, workload.id):
                    root = explain(plan, catalog, results, entry.letter, metric, workload.id)
                    nodes = walk(root) if root is not None else ()
                    nameless |= {n.key for n in nodes if n.constant is None and n.key not in derivations.NAMES}
    assert nameless == set()


def test_every_constant_of_the_table_has_a_name():
    groups = {name.partition("/")[0] for name in load(None).calibration.names}
    assert groups <= set(derivations.CONSTANTS)


def test_a_product_is_written_in_symbols_and_numbers():
    # 4 cards × 296 TFLOP/s × 0.55 = 651.2 TFLOP/s
    node = made(
        Node("peak", 651.2e12, "flops", operation="product"),
        *times(
            Node("devices", 4.0, symbol="n"), Node("peak", 296e12, "flops", "P"), Node("sustained", 0.55, symbol="e")
        ),
    )
    assert derivations.in_symbols(node) == "n × P × e"
    assert derivations.in_numbers(node, "USD") == "4 × 296 TFLOP/s × 0.550 = 651 TFLOP/s"


def test_a_quotient_has_its_factors_first():
    node = made(
        Node("duration", 5.0, "duration", operation="product"), over(Node("tokens", 2.0)), Node("prompt_tokens", 10.0)
    )
    assert node.operation == "follows"
    right = made(
        Node("duration", 5.0, "duration", operation="product"),
        over(Node("tokens", 2.0, "tokens_s")),
        Node("prompt_tokens", 10.0, "tokens", role="×"),
    )
    assert derivations.in_numbers(right, "USD") == "10 tokens ÷ 2.00 tok/s = 5.00 s"


def test_a_difference_is_written_with_a_minus():
    node = made(
        Node("total", 70.0, "money", operation="sum"),
        *plus(Node("purchase", 100.0, "money"), less(Node("resale", 30.0, "money"))),
    )
    assert derivations.in_numbers(node, "USD") == "$100 − $30 = $70"
    assert derivations.in_words(node) == "Purchase − Resale at the end"


def test_what_follows_claims_no_numbers():
    node = made(Node("waiting", 1.0, "duration", operation="follows"), Node("utilisation", 0.5, "share"))
    assert derivations.in_numbers(node, "USD") == ""
    assert derivations.in_words(node) == "M/G/1 queue for prefill and M/M/m queue for places"


def test_the_outline_indents_by_level_and_names_the_source():
    lines = derivations.outline(
        made(Node("output", 6.0, "tokens_s", operation="product"), *times(Node("tp", 2.0), Node("dp", 3.0))), "USD"
    )
    assert [line.split("\t")[0] for line in lines] == ["Output within targets", "  Tensor parallel", "  Copies"]


def test_text_from_a_catalog_stays_one_cell():
    node = Node("board_power", 700.0, "watts", origin="catalog", name="Evil\tcard\nname")
    assert derivations.outline(node, "USD") == ["Board power · Evil card name\t700\tW\t\tcatalog"]
