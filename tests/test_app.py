import ctypes
import subprocess
import sys

import pytest

from gpuplanner import app


@pytest.fixture
def linux(monkeypatch):
    monkeypatch.setattr(app.sys, "platform", "linux")
    for name in ("QT_QPA_PLATFORM", "DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)


def without(monkeypatch, *missing):
    """A system that lacks these libraries and has all others."""

    def load(name, *options, **more):
        if name in missing:
            raise OSError(f"{name}: cannot open shared object file")
        return object()

    monkeypatch.setattr(app, "_missing", lambda libraries: [n for n in libraries if n in missing])
    monkeypatch.setattr(ctypes, "CDLL", load)


def test_without_a_display_there_is_no_window_and_a_sentence_says_so(linux, monkeypatch):
    without(monkeypatch)
    with pytest.raises(app.NoWindow, match="needs a display"):
        app.run()


@pytest.mark.parametrize(
    ("library", "package"),
    [
        ("libEGL.so.1", "libegl1"),
        ("libxkbcommon.so.0", "libxkbcommon0"),
        ("libxcb-cursor.so.0", "libxcb-cursor0"),
        ("libxcb-icccm.so.4", "libxcb-icccm4"),
    ],
)
def test_a_missing_library_is_named_with_its_package(linux, monkeypatch, library, package):
    without(monkeypatch, library)
    with pytest.raises(app.NoWindow) as caught:
        app.run()
    assert library in str(caught.value)
    assert f"apt install {package}" in str(caught.value)


def test_x11_libraries_are_not_needed_without_x11(linux, monkeypatch):
    without(monkeypatch, "libxcb-cursor.so.0")
    monkeypatch.setenv("QT_QPA_PLATFORM", "offscreen")
    app._check_system()


def test_an_import_that_fails_names_the_package():
    error = ImportError("libEGL.so.1: cannot open shared object file: No such file or directory")
    assert "apt install libegl1" in app._import_failure(error)


def test_an_x_server_that_does_not_answer_is_no_display(linux, monkeypatch):
    monkeypatch.setenv("DISPLAY", ":4093")
    assert not app._x11_answers()


def test_windows_and_macos_bring_all_that_is_needed(monkeypatch):
    monkeypatch.setattr(app.sys, "platform", "win32")
    app._check_system()


def test_the_window_starts_without_what_is_opened_later():
    later = (
        "gpuplanner.model.claims.reading", "gpuplanner.model.derivation", "gpuplanner.model.explain",
        "gpuplanner.model.explain_serving", "gpuplanner.model.explain_training", "gpuplanner.model.measured.rows",
        "gpuplanner.ui.charts.accuracy", "gpuplanner.ui.dialogs.compare_entries",
        "gpuplanner.ui.panels.accuracy", "gpuplanner.ui.panels.derivation", "gpuplanner.validation", "openpyxl",
        "xlsxwriter",
    )  # fmt: skip
    code = f"import sys, gpuplanner.ui.main_window; print(*(name for name in {later!r} if name in sys.modules))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert loaded == []
