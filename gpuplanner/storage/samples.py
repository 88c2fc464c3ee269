"""The worked examples that the program is shipped with: one for each job that buyers bring.

Development tool: `python -m gpuplanner.storage.samples` brings the pinned records and the figures that were seen up
to date with the catalog and the model. The decisions in the files stay as they are.
"""

import sys
from pathlib import Path
from typing import NamedTuple

from gpuplanner import paths
from gpuplanner.i18n import N_
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
