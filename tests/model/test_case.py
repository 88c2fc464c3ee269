from typing import NamedTuple

import numpy as np
from serving_cases import CALIBRATION, CATALOG, serving_case

from gpuplanner.model import case as cases
from gpuplanner.model import inference


class _Large(NamedTuple):
    number: int

    @property
    def counts_as_one(self) -> bool:
        return True


def test_a_tuple_is_remembered_by_what_it_holds():
    asked = []
    remembered = cases.IdentityCache(lambda part: asked.append(part) or len(asked))
    record = CATALOG.gpus["H100 SXM 80GB"]
    assert remembered((1, (record,))) == remembered((1, (record,))) == 1
    assert remembered((2, (record,))) == 2


def test_a_large_record_is_remembered_by_its_own_identity():
    asked = []
    remembered = cases.IdentityCache(lambda part: asked.append(part) or len(asked))
    first, second = _Large(7), _Large(7)
    assert remembered(first) == remembered(first) == 1
    assert remembered(second) == 2


def test_a_path_between_cards_is_that_of_the_case_asked_for():
    on_link, on_pcie = serving_case(tp=8.0), serving_case(gpu="L40S 48GB", tp=8.0)
    first, second = inference.link(on_link)[1], inference.link(on_pcie)[1]
    assert first > 4 * second
    np.testing.assert_array_equal(inference.link(on_link)[1], first)
    # A case made from another has a path of its own.
    halved = on_link._replace(gpu=on_link.gpu._replace(link=on_link.gpu.link / 2.0))
    np.testing.assert_allclose(inference.link(halved)[1], first / 2.0)


def test_one_model_and_one_card_count_for_all_configurations():
    one = serving_case()
    runs = [[column[0] for column in one.run]] * 3
    shape, card = [column[0] for column in one.llm], [column[0] for column in one.gpu]
    together = cases.build([shape], [card], runs, list(one.index) * 3, CALIBRATION)
    assert together.size == 3
    for column, alone in zip((*together.llm, *together.gpu), (*one.llm, *one.gpu), strict=True):
        np.testing.assert_array_equal(column, np.repeat(alone, 3))
