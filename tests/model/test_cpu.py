"""Host processors: reading prompts, and what the words of a row say about the host's memory."""

import numpy as np
import pytest

from gpuplanner.model import cpu
from gpuplanner.model.measured import rows
from gpuplanner.model.measured.keys import Keys
from tests.model.serving_cases import CALIBRATION

PEAK = cpu.cpu_peak(16, True, server=False)


def seconds(**settings):
    return float(cpu.cpu_prefill_s(1e13, PEAK, settings.pop("tuned", False), CALIBRATION, **settings))


def test_quantised_weights_are_read_twice_as_fast_by_integers():
    # llama.cpp on a Ryzen 9 7950X, Llama-3.1-8B: 78.6 tokens/s in BF16, 147.9 in Q8_0.
    assert seconds(eight_bit=False) / seconds(eight_bit=True) == pytest.approx(147.9 / 78.6, rel=0.1)


def test_tuned_programs_are_as_fast_in_16_bit():
    # ik_llama.cpp on the same processor: 256.9 and 268.2 tokens/s.
    assert seconds(tuned=True, eight_bit=False) == pytest.approx(seconds(tuned=True, eight_bit=True))


def test_few_tokens_an_expert_waste_blocks():
    few, many = seconds(rows_per_expert=np.array(16.0)), seconds(rows_per_expert=np.array(1600.0))
    assert few / many == pytest.approx(2 * 1600 / 1616)
    assert seconds() < many


def test_a_desktop_holds_a_higher_clock_than_a_server():
    assert cpu.cpu_peak(16, True, server=True) < PEAK


# Channels x transfers x 8 bytes.
HOSTS = [
    ("Threadripper PRO 7965WX (24 cores), 8 x 32 GB DDR5-4800, 8 channels; routed experts on the CPU", 307.2),
    ("1 x AMD EPYC 9554, 12 channels DDR5-4800", 460.8),
    ("13th Gen Intel(R) Core(TM) i9-13900HK", 89.6),
    ("AMD Ryzen 9 5950X, DDR4-3200", 51.2),
    ("2 x EPYC 7763", 409.6),
    ("GCP VM, 208 GB DRAM", None),
]


@pytest.mark.parametrize(("host", "gb_s"), HOSTS)
def test_the_words_of_a_host_tell_its_memory_bandwidth(host, gb_s):
    found = rows._host_bandwidth(Keys({"host": host}))
    assert found == (None if gb_s is None else pytest.approx(gb_s))


def test_a_stated_bandwidth_wins():
    assert rows._host_bandwidth(Keys({"host": "2 x EPYC 7763", "host_memory_gbs": 300})) == 300
