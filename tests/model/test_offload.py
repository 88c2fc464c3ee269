"""Models of which a part stays in the host's memory."""

import pytest
from planning import full_queue, group, outcome, value


def served(gpu, llm, cpu="EPYC 9654", offload="weights"):
    asked = full_queue(llm, lowest_format="4-bit")
    return outcome(group(gpu, asked.id, {"offload": offload}, cpu=cpu, gpus_per_server=1), workload=asked).serve[0]


def test_a_model_that_no_card_holds_runs_from_the_hosts_memory():
    without = served("GeForce RTX 4090 24GB", "Llama-3.1-70B", offload="auto")
    beside = served("GeForce RTX 4090 24GB", "Llama-3.1-70B")
    assert without.fits.status == "fail" and beside.fits.status == "ok"
    assert beside.per_token_s.basis == "not validated"
    assert beside.per_token_s.high / beside.per_token_s.value >= 2.0


def test_experts_on_the_host_give_r1_a_dozen_tokens_a_second():
    # ik_llama.cpp with an RTX A6000 beside eight channels of DDR5-4800 wrote 13.7 tokens/s of a 2.5-bit file; twelve
    # channels and 4.8 bits read 1.9 times the bytes 1.5 times as fast.
    token = value(served("RTX A6000 48GB", "DeepSeek-R1").per_token_s)
    assert 1 / token == pytest.approx(13.7 * 1.5 / 1.9, rel=1.5)


def test_the_host_sets_the_pace_where_most_of_a_model_lies_there():
    slow, fast = (value(served("GeForce RTX 4090 24GB", "Llama-3.1-70B", cpu).per_token_s)
                  for cpu in ("EPYC 7763", "EPYC 9654"))  # fmt: skip
    assert fast < slow
    small, large = (value(served(gpu, "DeepSeek-R1").per_token_s) for gpu in ("GeForce RTX 4090 24GB", "H100 SXM 80GB"))
    assert small / large < 1.5
