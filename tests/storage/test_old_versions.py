"""Files as each format version wrote them. They are never edited; a new version adds a file."""

import json
from pathlib import Path

import pytest

from gpuplanner.storage import plan_file
from gpuplanner.storage.migrate import FORMAT_VERSION

FILES = Path(__file__).resolve().parents[1] / "files"


def test_there_is_a_file_of_every_version():
    assert {path.name for path in FILES.glob("plan-v*.gpuplan")} == {
        f"plan-v{version}.gpuplan" for version in range(1, FORMAT_VERSION + 1)
    }


def test_version_1_is_read_as_it_was_written():
    opened = plan_file.read(FILES / "plan-v1.gpuplan")
    plan = opened.plan
    assert plan.name == "Machine room 2, 机房"
    assert [workload.kind for workload in plan.workloads] == ["serve", "serve", "finetune", "train"]
    assert [scenario.letter for scenario in plan.scenarios] == ["A", "C", "D"]
    assert plan.scenarios[2].groups[0].runs[0].tp == 4
    assert plan.scenarios[0].groups[0].price.amount == 1.1e6
    assert plan.wishes.owned[0].gpu == "T4 16GB"
    h100 = next(gpu for gpu in plan.entries.gpus if gpu.name == "H100 SXM 80GB")
    # The label of 80 GB, read as GiB.
    assert h100.memory_bytes.value == 80 * 2**30
    assert opened.seen is not None and opened.seen.currency == "CNY"
    assert [item.place for item in opened.unknown] == ["plan.scenarios[0].tint"]
    assert len(opened.notes) == 1


@pytest.mark.parametrize("path", sorted(FILES.glob("plan-v*.gpuplan")), ids=lambda path: path.stem)
def test_an_old_file_that_is_saved_is_a_file_of_today(path):
    opened = plan_file.read(path)
    text = plan_file.dump(opened.plan, opened.seen, opened.unknown)
    again = plan_file.parse(text.encode(), path.name)
    assert (again.plan, again.seen, again.unknown) == (opened.plan, opened.seen, opened.unknown)
    assert json.loads(text)["format_version"] == FORMAT_VERSION
