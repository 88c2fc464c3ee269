import pytest

from gpuplanner.model.results import exact
from gpuplanner.storage import plan_file
from gpuplanner.storage.seen import differences, seen_of
from tests.ui import sample_results


@pytest.fixture
def results():
    return sample_results.results()


def with_output(results, factor):
    """The same results with another output rate of scenario A."""
    first = results.scenarios[0]
    serve = first.serve[0]
    serve = serve._replace(output_tokens_s=exact(serve.output_tokens_s.value * factor))
    return results._replace(scenarios=(first._replace(serve=(serve,)), *results.scenarios[1:]))


def test_the_same_results_do_not_differ(results):
    assert differences(seen_of(results), results) == ()


def test_seen_figures_survive_a_file(results):
    seen = seen_of(results)
    text = plan_file.dump(sample_results.plan(), seen)
    found = plan_file.parse(text.encode(), "x.gpuplan")
    assert found.seen == seen
    assert differences(found.seen, results) == ()
    assert found.written_by.model_version == results.model_version
    assert found.written_by.calibration_id == results.calibration_id


def test_a_figure_that_differs_is_shown_with_both_values(results):
    now = with_output(results, 1.01)
    (found,) = differences(seen_of(results), now)
    assert (found.scenario, found.key, found.same_model) == ("A", "output_tokens_s", True)
    assert found.now.value == pytest.approx(found.seen.value * 1.01)


def test_the_last_digits_of_a_number_are_no_difference(results):
    seen = seen_of(results)
    serve = results.scenarios[0].serve[0]
    nearly = serve._replace(
        output_tokens_s=serve.output_tokens_s._replace(value=serve.output_tokens_s.value * (1 + 1e-12))
    )
    first = results.scenarios[0]._replace(serve=(nearly,))
    assert differences(seen, results._replace(scenarios=(first, *results.scenarios[1:]))) == ()


def test_another_model_is_said_to_be_another(results):
    now = with_output(results, 1.01)._replace(calibration_id="another")
    (found,) = differences(seen_of(results), now)
    assert not found.same_model


def test_a_figure_that_is_no_longer_known_differs(results):
    seen = seen_of(results)
    found = differences(seen, results._replace(scenarios=results.scenarios[1:]))
    assert found
    assert all(item.scenario == "A" and item.now.value is None for item in found)


def test_an_infinite_figure_is_saved_as_not_known(results):
    money = results.scenarios[0].money
    money = money._replace(per_run=exact(float("inf")))
    results = results._replace(scenarios=(results.scenarios[0]._replace(money=money),))
    assert "Infinity" not in plan_file.dump(sample_results.plan(), seen_of(results))
    assert differences(seen_of(results), results) == ()


def test_nothing_seen_is_no_difference(results):
    assert differences(None, results) == ()
