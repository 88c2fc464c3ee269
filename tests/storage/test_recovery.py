import errno
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from gpuplanner import paths
from gpuplanner.model.edit import replace
from gpuplanner.storage import plan_file, recovery
from gpuplanner.storage.plan_file import PlanFileError
from gpuplanner.storage.recovery import FileState
from tests.storage.plans import full_plan

NAME = "0123456789abcdef" * 2
OTHER = "fedcba9876543210" * 2


@pytest.fixture(autouse=True)
def data_folder(tmp_path, monkeypatch):
    monkeypatch.setattr(paths, "user_data", lambda: tmp_path / "data")
    return tmp_path / "data"


def test_a_copy_holds_the_plan_and_says_what_it_is():
    state = FileState(path="/plans/offer.gpuplan", size=3, modified_ns=4, digest="ab")
    recovery.write(NAME, full_plan(), title="Offer", file=state, changes=5)
    (copy,) = recovery.copies()
    assert (copy.name, copy.head.title, copy.head.file, copy.head.changes) == (NAME, "Offer", state, 5)
    assert recovery.read(NAME).plan == full_plan()


def test_each_window_has_a_copy_of_its_own_and_the_newest_comes_first():
    recovery.write(NAME, full_plan(), title="first")
    recovery.write(OTHER, full_plan(), title="second")
    assert [copy.head.title for copy in recovery.copies()] == ["second", "first"]
    recovery.write(NAME, full_plan(), title="first again")
    assert [copy.head.title for copy in recovery.copies()] == ["first again", "second"]


def test_a_removed_copy_is_gone_and_removing_it_again_is_fine():
    recovery.write(NAME, full_plan())
    recovery.remove(NAME)
    recovery.remove(NAME)
    assert recovery.copies() == ()


def test_without_a_data_folder_there_are_no_copies():
    assert recovery.copies() == ()


@pytest.mark.parametrize(
    "content", [b"", b"\xff\xfe", b"{}", b"[1]\n", b'{"format": "gpuplanner-plan"}\n', b"x" * 100_000]
)
def test_what_is_no_copy_is_passed_over_and_stays(content):
    recovery.write(OTHER, full_plan(), title="whole")
    stray = recovery.folder() / f"{NAME}.recovery"
    stray.write_bytes(content)
    assert [copy.name for copy in recovery.copies()] == [OTHER]
    assert stray.read_bytes() == content
    with pytest.raises(PlanFileError):
        recovery.read(NAME)


def test_a_damaged_plan_in_a_copy_is_refused_with_its_place():
    recovery.write(NAME, full_plan(), title="Offer")
    path = recovery.folder() / f"{NAME}.recovery"
    path.write_bytes(path.read_bytes()[:-200])
    with pytest.raises(PlanFileError, match="Offer"):
        recovery.read(NAME)


@pytest.mark.parametrize("name", ["../offer", "", "a" * 33, "C:\\offer", NAME + "\n"])
def test_a_name_cannot_lead_out_of_the_folder(name):
    with pytest.raises(ValueError, match="name of a recovery copy"):
        recovery.write(name, full_plan())


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EROFS, errno.EIO, errno.ENODEV])
def test_a_failing_disk_leaves_the_copy_before_whole_and_says_why(monkeypatch, number):
    recovery.write(NAME, full_plan(), title="before")

    def fails(_descriptor):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "fsync", fails)
    with pytest.raises(OSError) as caught:
        recovery.write(NAME, replace(full_plan(), ("name",), "after"), title="after")
    assert caught.value.strerror.endswith(".")
    assert [copy.head.title for copy in recovery.copies()] == ["before"]
    assert recovery.read(NAME).plan == full_plan()
    assert len(list(recovery.folder().iterdir())) == 1


def test_a_data_folder_that_cannot_be_made_is_a_sentence(data_folder):
    data_folder.parent.mkdir(parents=True, exist_ok=True)
    data_folder.write_text("a file where the folder should be")
    with pytest.raises(OSError) as caught:
        recovery.write(NAME, full_plan())
    assert "recovery copies" in caught.value.strerror


KILLED = """
import sys
from pathlib import Path
from gpuplanner import paths
from gpuplanner.model.edit import replace
from gpuplanner.storage import plan_file, recovery
folder, name = Path(sys.argv[1]), sys.argv[2]
paths.user_data = lambda: folder
old, target = plan_file.read(folder / "offer.gpuplan").plan, folder / "offer.gpuplan"
print("ready", flush=True)
count = 0
while True:
    count += 1
    plan = replace(old, ("name",), f"number {count}")
    recovery.write(name, plan, title=f"number {count}", changes=count)
    plan_file.write(target, plan)
"""


def test_a_save_killed_at_any_moment_leaves_a_whole_file_and_a_whole_copy(data_folder):
    # SIGKILL where there is one; TerminateProcess elsewhere, which is as sudden.
    data_folder.mkdir(parents=True)
    target = data_folder / "offer.gpuplan"
    kills = int(os.environ.get("GPUPLANNER_KILLS", "8"))
    for number in range(kills):
        plan_file.write(target, full_plan())
        child = subprocess.Popen(
            [sys.executable, "-c", KILLED, str(data_folder), NAME],
            stdout=subprocess.PIPE,
            cwd=Path(__file__).resolve().parents[2],
        )
        assert child.stdout is not None
        assert child.stdout.readline().strip() == b"ready"
        time.sleep(0.005 + 0.0137 * (number * 7 % 11))
        child.send_signal(getattr(signal, "SIGKILL", signal.SIGTERM))
        child.wait()
        child.stdout.close()
        saved = plan_file.read(target).plan
        assert replace(saved, ("name",), full_plan().name) == full_plan()
        for copy in recovery.copies():
            assert recovery.read(copy.name).plan.name == copy.head.title
