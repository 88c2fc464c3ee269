import pytest

from gpuplanner import __version__, paths
from gpuplanner.model import edit
from gpuplanner.model.plan import Plan
from gpuplanner.storage import diagnostics


@pytest.fixture(autouse=True)
def data_folder(tmp_path, monkeypatch):
    monkeypatch.setattr(paths, "user_data", lambda: tmp_path / "data")
    return tmp_path / "data"


@pytest.fixture
def log():
    handler = diagnostics.open_log()
    yield handler
    diagnostics.close_log(handler)


def raised() -> Exception:
    try:
        edit.value_at(Plan(name="Secret offer"), ("no such field of Secret offer",))
    except AttributeError as error:
        try:
            raise ValueError("C:\\Users\\mei\\Secret offer.gpuplan") from error
        except ValueError as caught:
            return caught
    raise AssertionError


def test_a_report_names_versions_kinds_and_places():
    report = diagnostics.report(raised())
    assert f"GPU Planner {__version__}" in report
    assert "ValueError" in report
    assert "AttributeError" in report
    assert "gpuplanner/model/edit.py:" in report


def test_neither_report_nor_log_quotes_the_user(log, data_folder):
    diagnostics.record(raised())
    logged = (data_folder / "log" / diagnostics.LOG).read_text(encoding="utf-8")
    for text in (diagnostics.report(raised()), diagnostics.report(), logged):
        assert "ValueError" in text
        assert "Secret" not in text
        assert "mei" not in text
        assert str(data_folder.parent) not in text


def test_the_log_rotates(log, data_folder, monkeypatch):
    monkeypatch.setattr(log, "maxBytes", 2000)
    for _each in range(50):
        diagnostics.record(raised())
    kept = list((data_folder / "log").iterdir())
    assert len(kept) == diagnostics.LOGS_KEPT + 1
    assert all(path.stat().st_size <= 2000 for path in kept)


def test_without_a_data_folder_nothing_is_logged_and_nothing_fails(data_folder):
    data_folder.write_text("a file where the folder should be")
    assert diagnostics.open_log() is None
    diagnostics.record(raised())
    assert diagnostics.report()


def test_a_full_disk_adds_no_error_of_its_own(log, monkeypatch, capsys):
    def full(_record):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(log, "shouldRollover", full)
    diagnostics.record(raised())
    assert capsys.readouterr().err == ""
