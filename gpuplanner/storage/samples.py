"""The worked examples that the program is shipped with: one for each job that buyers bring.

Development tool: `python -m gpuplanner.storage.samples` brings the pinned records and the figures that were seen up
to date with the catalog and the model. The decisions in the files stay as they are.
"""

import sys
from pathlib import Path
from typing import NamedTuple

from gpuplanner import paths
from gpuplanner.i18n import N_, _
from gpuplanner.model.plan import Plan
from gpuplanner.storage import plan_file
from gpuplanner.storage.plan_file import SUFFIX, Opened


class Sample(NamedTuple):
    """A worked example. ``title`` and ``question`` are msgids; the title is the name of its plan."""

    key: str
    title: str
    question: str

    @property
    def path(self) -> Path:
        """Where its plan file is."""
        return paths.resources() / "samples" / f"{self.key}{SUFFIX}"


SAMPLES = (
    Sample(
        "1-serve-staff-assistant",
        N_("Serve a 70B assistant to 200 staff"),
        N_("Which cards, how many, what do they cost, and does our room hold them?"),
    ),
    Sample(
        "2-budget-first",
        N_("The best model for ¥100,000"),
        N_("We have a fixed budget. What is the best we can run?"),
    ),
    Sample(
        "3-train-or-fine-tune",
        N_("Fine-tune 8B, pre-train 70B by a date"),
        N_("H100, A100, A800 or 4090?"),
    ),
    Sample(
        "4-reuse-old-cards",
        N_("Use 16 V100s and some T4s again"),
        N_("What can our old cards still serve beside new ones? Do we need to buy at all?"),
    ),
    Sample(
        "5-room-first",
        N_("What 40 kW and 10 tons of cooling can hold"),
        N_("What is the most we can install before cards slow down?"),
    ),
    Sample(
        "6-compare-quotes",
        N_("New H100 PCIe, used A100, 4090 boxes, or rent"),
        N_("Four offers for the same work. Which?"),
    ),
)

# The other words of the examples, a line each. The titles above are the names of the plans.
WORDS = (
    N_(
        "200 people ask an assistant that runs Llama-3.3-70B, each up to 40 times in the busiest hour. "
        "The first word should come within 2 seconds for 95 of 100 questions, "
        "and the text should then run at 20 words a second or faster."
    ),
    N_("The machine room has 16 kW of power and 3 tons of cooling left, and there is a budget of $200,000."),
    N_("Try: halve the requests, allow 4-bit weights, or give the room more cooling."),
    N_("Staff assistant"),
    N_("The fast one: 8-bit weights run natively on these cards."),
    N_("Second-hand, three generations of software old, but with the same memory."),
    N_("Gaming cards: cheap, no NVLink, 24 GB each."),
    N_("The card that may be sold in China: much memory bandwidth, little compute."),
    N_("As the A100, with slower links between the cards. The price is a quote."),
    N_("Quote of a refurbisher"),
    N_(
        "An office of 20 people has ¥100,000 for one machine and wants the largest model that still answers at "
        "reading speed. Seven models would do: each option takes the largest of them that fits."
    ),
    N_("The options were put together by hand."),
    N_("Office assistant"),
    N_("Quote of a local builder"),
    N_("One second-hand data-centre card in a plain workstation; the price is a quote."),
    N_("Quote of a reseller"),
    N_("Quiet, on a desk, with memory for the largest models."),
    N_(
        "Two jobs: adapt Llama-3.1-8B to the house style with LoRA within two days, and train a model of the size "
        "of Llama-3.1-70B on 200 billion tokens within three months. Each option is 64 cards for the training and "
        "8 for the fine-tuning."
    ),
    N_("Option E is option A with 32-bit arithmetic: the same cards, most of their speed left unused."),
    N_("House style, 8B"),
    N_("Our own 70B"),
    N_("Training"),
    N_("Fine-tuning"),
    N_("Computes like the A100; its links carry two thirds."),
    N_("No NVLink, 24 GB a card."),
    N_("H100 at 32 bit"),
    N_("What forgetting to switch on 16-bit arithmetic costs."),
    N_(
        "Two servers with 8 V100 each and two with 4 T4 each are there already and cost nothing to buy. "
        "A help desk of 400 people needs Llama-3.1-8B at 16 bit, with text that runs at 33 words a second. "
        "Do the old cards do, alone or beside a new server?"
    ),
    N_("Option E is option D with slower software on the same cards. Option F has no cards at all."),
    N_("Help desk"),
    N_("Keep 16× V100"),
    N_("Keep V100 and T4"),
    N_("Old V100 servers"),
    N_("Old T4 servers"),
    N_("V100 beside 2× H100"),
    N_("New server"),
    N_("2× H100, vLLM"),
    N_("2× H100, eager Python"),
    N_("The same cards as in D. Change the software back and nothing needs to be bought."),
    N_("Processors only"),
    N_(
        "The room gives 40 kW of power and 10 tons of cooling with supply air of 24 °C. How many servers with "
        "8 H100 each can train in it before the cards slow down?"
    ),
    N_("Option E is what “100 H100” means: 13 servers. No room of this size holds them."),
    N_("A training that never stops"),
    N_("3 servers, air"),
    N_("4 servers, air"),
    N_("4 servers, liquid"),
    N_("Cold plates take most of the heat into water; the room's air takes the rest."),
    N_("5 servers, air"),
    N_("100 H100: 13 servers"),
    N_("13 servers hold 104 cards."),
    N_(
        "Four offers for the same work, with the prices that the vendors wrote. New cards with a warranty, used "
        "ones, gaming cards, or renting by the hour: which is cheapest over three years, and which meets the targets?"
    ),
    N_("Documents and chat"),
    N_("Vendor A: 8× H100 PCIe"),
    N_("Vendor B: 8× A100 SXM, used"),
    N_("Vendor C: 16× RTX 4090"),
    N_("Cloud: 4× H100 by the hour"),
    N_("Draws no power in our room; nothing is left at the end."),
    N_("Vendor A"),
    N_("Vendor B"),
    N_("Vendor C"),
    N_("Cloud"),
)


def in_the_language_in_force(plan: Plan) -> Plan:
    """An example's plan with its names and notes in the language in force; what has no translation stays.

    Only for a plan that is opened as a new one: what stands in a user's file stays as it was written.
    """
    scenarios = tuple(
        scenario.model_copy(
            update={
                "name": _line_by_line(scenario.name),
                "notes": _line_by_line(scenario.notes),
                "groups": tuple(
                    group.model_copy(
                        update={name: _line_by_line(getattr(group, name)) for name in ("name", "vendor", "notes")}
                    )
                    for group in scenario.groups
                ),
            }
        )
        for scenario in plan.scenarios
    )
    workloads = tuple(each.model_copy(update={"name": _line_by_line(each.name)}) for each in plan.workloads)
    named = {"name": _line_by_line(plan.name), "notes": _line_by_line(plan.notes)}
    return plan.model_copy(update={**named, "workloads": workloads, "scenarios": scenarios})


def _line_by_line(text: str) -> str:
    return "\n".join(_(line) for line in text.split("\n"))


def open_sample(key: str) -> Opened:
    """A worked example by its key. Raises `KeyError` for a key that does not exist, `PlanFileError` for a damaged
    file.
    """
    for sample in SAMPLES:
        if sample.key == key:
            return plan_file.read(sample.path)
    raise KeyError(key)


def update() -> list[str]:
    """Renew what the examples pin and show; return the names of the files that changed."""
    from gpuplanner.catalog.load import load
    from gpuplanner.model.evaluate import evaluate
    from gpuplanner.model.pinning import pin, repin
    from gpuplanner.storage.seen import seen_of

    catalog = load()
    changed = []
    for sample in SAMPLES:
        before = sample.path.read_bytes()
        opened = plan_file.read(sample.path)
        plan = repin(pin(opened.plan, catalog), catalog)
        plan_file.write(sample.path, plan, seen_of(evaluate(plan, catalog)), opened.unknown)
        if sample.path.read_bytes() != before:
            changed.append(sample.path.name)
    return changed


if __name__ == "__main__":
    sys.stdout.writelines(f"wrote {name}\n" for name in update())
