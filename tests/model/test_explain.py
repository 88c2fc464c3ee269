"""Derivations: the root is the figure that the window shows, and every node is what its children make of it."""

import math
from functools import cache

import pytest
from planning import H100, LLAMA_8B, catalog, group, plan

from gpuplanner.model import comparison
from gpuplanner.model.derivation import Node, made, over, plus, sources, times, walk, worked_out
from gpuplanner.model.evaluate import evaluate
from gpuplanner.model.explain import EXTRA, explain, metrics
from gpuplanner.model.plan import Serve, Site, UserLoad
from gpuplanner.storage.samples import SAMPLES, open_sample

# Nodes whose value is read off a curve, picked from a table or bounded by a limit: they follow from their children
# without a formula of one line. Any other node must be what its children make of it.
FOLLOWS = {
    "requests_within", "first_token_at_capacity", "per_token_at_capacity", "in_flight", "replica_sharing",
    "prefill_in_chunk", "cache_fetches", "reading_others", "half_step", "engine_time", "waiting", "tail",
    "closed_queue", "crowding", "cache_of_sequence", "cache_share_reached", "experts_awake", "sustained",
    "bandwidth_capped", "link_reached", "link_latency", "transfer_time", "attention_time", "elementwise_time",
    "not_cached", "kv_cache", "activations", "runtime", "gradients", "optimizer", "cache_budget", "memory_visible",
    "usable", "params_per_gpu", "tokens_served", "tokens_per_year", "matrix_share_reached", "flop_per_token",
    "attention", "elementwise", "tensor_communication", "expert_communication", "context_communication", "launch",
    "bubble", "data_communication", "stragglers", "card_limit", "group_average", "servers_load", "air_heat",
    "air_density", "annuity", "discount", "maintenance", "cloud", "run_power", "run_share", "phase_share",
    "chunk_time",
}  # fmt: skip
# These add up, or multiply, but where a limit binds: a power limit, weights that experts share, pipeline stages.
BOUNDED = {"gpu_power", "weights", "compute_time", "communication_time", "network_time", "server_power"}


@cache
def evaluated(key):
    opened = open_sample(key).plan
    return opened, evaluate(opened, catalog())


def subjects(key):
    opened, results = evaluated(key)
    for workload in opened.workloads:
        for entry in results.scenarios:
            for metric in metrics(opened, results, workload.id):
                yield workload.id, entry, metric


def derivations(key):
    opened, results = evaluated(key)
    for workload, entry, metric in subjects(key):
        node = explain(opened, catalog(), results, entry.letter, metric, workload)
        if node is not None:
            yield entry, metric, node


samples = pytest.mark.parametrize("key", [sample.key for sample in SAMPLES])


@samples
def test_the_root_is_the_figure_that_is_shown(key):
    opened, results = evaluated(key)
    for workload in opened.workloads:
        for row in comparison.rows(opened, results, workload.id):
            for cell in row.cells:
                node = explain(opened, catalog(), results, cell.letter, row.key, workload.id)
                if cell.figure.value is None:
                    assert node is None or node.value is None
                    continue
                assert node is not None, (cell.letter, row.key)
                shown = (node.value, node.low, node.high)
                assert shown == pytest.approx(cell.figure[:3], rel=1e-9), (cell.letter, row.key)


@samples
def test_figures_outside_the_table_are_those_of_the_results(key):
    for entry, metric, node in derivations(key):
        shown = {
            "load_power": entry.room.it_load_w, "nameplate": entry.room.it_nameplate_w,
            "average_power": entry.room.it_average_w, "facility_power": entry.room.facility_w,
            "cooling_tons": entry.room.cooling_tons, "air": entry.room.airflow_m3_s, "weight": entry.room.weight_kg,
            "electricity": entry.money.electricity_per_year, "running": entry.money.running_per_year,
            "rent": entry.money.rent_per_year, "cloud": entry.money.cloud_per_year, "resale": entry.money.resale,
            "speed_ratio": entry.speed_ratio,
        }.get(metric)  # fmt: skip
        if shown is not None:
            assert (node.value, node.low, node.high) == shown[:3], (entry.letter, metric)


@samples
def test_every_node_is_what_its_children_make_of_it(key):
    for entry, metric, node in derivations(key):
        for each in walk(node):
            if each.operation in ("leaf", "follows"):
                continue
            found = worked_out(each)
            size = max(abs(child.value) for child in each.operands) if each.operation == "sum" else abs(each.value)
            assert found == pytest.approx(each.value, rel=1e-9, abs=1e-9 * size), (entry.letter, metric, each.key)


@samples
def test_a_formula_is_claimed_wherever_one_holds(key):
    """A formula of the model that gains a factor shows here: the derivation must name the factor as well."""
    missing = {
        (metric, each.key)
        for entry, metric, node in derivations(key)
        for each in walk(node)
        if each.operation == "follows" and each.key not in FOLLOWS | BOUNDED and entry.gpus
        # A model with experts multiplies in groups, and a host without cards reads from memory alone.
        and not any(child.origin == "calibrated" and "experts" in child.name for child in each.children)
        and not any(child.key == "cpu_bandwidth" for child in each.children)
    }  # fmt: skip
    assert missing == set()


@samples
def test_shares_of_a_sum_add_up_to_one(key):
    for entry, metric, node in derivations(key):
        for each in walk(node):
            if each.operation == "sum" and each.value:
                total = sum(child.share for child in each.operands)
                assert total == pytest.approx(1.0, rel=1e-6), (entry.letter, metric, each.key)


@samples
def test_every_figure_of_the_catalog_has_a_source_and_every_constant_its_prior(key):
    for entry, metric, node in derivations(key):
        for each in walk(node):
            where = (entry.letter, metric, each.key)
            assert (each.origin == "catalog") <= (each.source is not None), where
            assert (each.origin == "calibrated") == (each.constant is not None), where
            if each.origin == "your input":
                assert each.path, where


@samples
def test_the_ends_of_a_band_enclose_the_value(key):
    for entry, metric, node in derivations(key):
        for each in walk(node):
            if each.low is not None and each.value is not None:
                slack = 1e-9 * abs(each.value)
                assert each.low - slack <= each.value <= each.high + slack, (entry.letter, metric, each.key)


@samples
def test_every_figure_of_the_table_leads_to_an_input_or_the_catalog(key):
    opened, results = evaluated(key)
    for workload in opened.workloads:
        for row in comparison.rows(opened, results, workload.id):
            for cell in row.cells:
                if not cell.figure.value:
                    continue
                node = explain(opened, catalog(), results, cell.letter, row.key, workload.id)
                origins = {each.origin for each in walk(node)}
                assert origins & {"your input", "catalog", "assumed"}, (cell.letter, row.key)


def test_a_decode_step_names_its_times_and_the_bandwidth_it_reads_with():
    # 8B at 16 bit on one H100: the weights are read at 3.35 TB/s x the shares of card and engine.
    made_plan = plan(
        group(H100, gpus_per_server=1, run={"weights": "bf16", "compute": "bf16", "kv": "bf16"}),
        workload=Serve(llm=(LLAMA_8B,), load=UserLoad(users=10)),
    )
    results = evaluate(made_plan, catalog())
    node = explain(made_plan, catalog(), results, "A", "single_stream")
    step = next(each for each in walk(node) if each.key == "decode_step")
    assert [child.key for child in step.children] == ["weights_compute", "kv_cache_time", "kernels_time", "host_time"]
    bandwidth = next(each for each in walk(step) if each.key == "bandwidth")
    assert (bandwidth.value, bandwidth.origin, bandwidth.name) == (3.35e12, "catalog", H100)
    assert bandwidth.source.title
    # 8.03 G parameters, of which the 0.525 G of the embedding are looked up, not read: 15.0 GB at two bytes each.
    read = next(each for each in walk(step) if each.key == "bytes_read")
    assert read.value == pytest.approx(15.0e9, rel=2e-3)


def test_heat_is_the_power_at_load():
    opened, results = evaluated(SAMPLES[0].key)
    heat = explain(opened, catalog(), results, "A", "heat")
    tons = explain(opened, catalog(), results, "A", "cooling_tons")
    # 1 ton of refrigeration = 3,516.85 W.
    assert tons.value == pytest.approx(heat.value / 3516.85)


def test_the_ratio_shows_both_sides():
    opened, results = evaluated(SAMPLES[0].key)
    base = results.baseline
    other = next(entry.letter for entry in results.scenarios if entry.letter != base)
    node = explain(opened, catalog(), results, other, "speed_ratio")
    assert [child.name for child in node.children] == [other, base]
    assert node.value == pytest.approx(node.children[0].value / node.children[1].value)
    # Card, model and formula are shared: the band of a ratio is narrower than that of either side.
    assert node.high / node.low < node.children[0].high / node.children[0].low


def test_sources_are_listed_once_with_what_was_read_in_them():
    opened, results = evaluated(SAMPLES[0].key)
    node = explain(opened, catalog(), results, "A", "output")
    found = sources(node)
    assert len({citation for citation, _ in found}) == len(found)
    names = {each.key for _, nodes in found for each in nodes}
    assert {"bandwidth", "peak", "active_params"} <= names


def test_what_is_not_there_is_not_explained():
    opened, results = evaluated(SAMPLES[0].key)
    assert explain(opened, catalog(), results, "H", "output") is None
    assert explain(opened, catalog(), results, "A", "no such figure") is None
    assert explain(opened, catalog(), results, "A", "step") is None


def test_figures_beside_the_table_can_be_explained():
    opened, results = evaluated(SAMPLES[0].key)
    for metric in EXTRA:
        assert explain(opened, catalog(), results, "B", metric) is not None, metric


def test_an_operation_that_misses_the_value_is_not_claimed():
    right = made(Node("x", 6.0, operation="product"), *times(Node("a", 2.0), Node("b", 3.0)))
    wrong = made(Node("x", 6.1, operation="product"), *times(Node("a", 2.0), Node("b", 3.0)))
    assert (right.operation, wrong.operation) == ("product", "follows")
    assert worked_out(wrong) is None
    assert all(child.role == "given" for child in wrong.children)


def test_operations_do_what_they_say():
    a, b = Node("a", 6.0), Node("b", 3.0)
    assert worked_out(made(Node("x", 2.0, operation="product"), *times(a, over(b)))) == 2.0
    assert worked_out(made(Node("x", 9.0, operation="sum"), *plus(a, b))) == 9.0
    assert worked_out(made(Node("x", 1.0, operation="less_one"), *times(a, over(b)))) == 1.0
    # (6^2.5 + 3^2.5)^(1/2.5)
    value = (6**2.5 + 3**2.5) ** 0.4
    whole = made(Node("x", value, operation="smooth_max"), a._replace(role="+"), b._replace(role="+"))
    assert math.isclose(worked_out(whole), value)


def test_air_at_a_stated_rise_leads_to_what_was_typed():
    made_plan = plan(group(H100), workload=Serve(llm=(LLAMA_8B,)), site=Site(air_rise_k=10.0))
    node = explain(made_plan, catalog(), evaluate(made_plan, catalog()), "A", "air")
    typed = next(each for each in walk(node) if each.key == "air_rise")
    assert (typed.value, typed.origin) == (10.0, "your input")
