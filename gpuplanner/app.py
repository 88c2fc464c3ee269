"""The window's composition root: catalog, settings, document, evaluation, theme and window are put together here.

Qt ends the process where it finds no display or a system library is missing, so both are looked for before it is asked.
"""

import ctypes
import gc
import os
import re
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from gpuplanner import i18n, paths
from gpuplanner.i18n import _

# Shared library to the Debian package that brings it: what Qt itself needs, and what its X11 and Wayland parts need.
_QT_LIBRARIES = {
    "libEGL.so.1": "libegl1",
    "libGL.so.1": "libgl1",
    "libxkbcommon.so.0": "libxkbcommon0",
    "libfontconfig.so.1": "libfontconfig1",
    "libdbus-1.so.3": "libdbus-1-3",
    "libglib-2.0.so.0": "libglib2.0-0",
    "libfreetype.so.6": "libfreetype6",
    "libX11.so.6": "libx11-6",
    "libz.so.1": "zlib1g",
    "libzstd.so.1": "libzstd1",
}
_X11_LIBRARIES = {
    "libxcb.so.1": "libxcb1",
    "libX11-xcb.so.1": "libx11-xcb1",
    "libxcb-cursor.so.0": "libxcb-cursor0",
    "libxcb-icccm.so.4": "libxcb-icccm4",
    "libxcb-image.so.0": "libxcb-image0",
    "libxcb-keysyms.so.1": "libxcb-keysyms1",
    "libxcb-randr.so.0": "libxcb-randr0",
    "libxcb-render.so.0": "libxcb-render0",
    "libxcb-render-util.so.0": "libxcb-render-util0",
    "libxcb-shape.so.0": "libxcb-shape0",
    "libxcb-shm.so.0": "libxcb-shm0",
    "libxcb-sync.so.1": "libxcb-sync1",
    "libxcb-util.so.1": "libxcb-util1",
    "libxcb-xfixes.so.0": "libxcb-xfixes0",
    "libxcb-xkb.so.1": "libxcb-xkb1",
    "libxkbcommon-x11.so.0": "libxkbcommon-x11-0",
}
_WAYLAND_LIBRARIES = {
    "libwayland-client.so.0": "libwayland-client0",
    "libwayland-cursor.so.0": "libwayland-cursor0",
}
_PACKAGES = {**_QT_LIBRARIES, **_X11_LIBRARIES, **_WAYLAND_LIBRARIES}


class NoWindow(Exception):
    """There can be no window here; the text is a sentence that says what it needs."""


def run(path: Path | None = None, language: str | None = None, theme: str | None = None) -> int:
    """Open the window on a plan file, or on the page of examples, and return its exit code.

    `language` and `theme` override the settings for this run. Raises `NoWindow` where there is no display or a system
    library is missing.
    """
    _check_system()
    with starting():
        load_model()
        application, window = _opened(path, language, theme)
    from gpuplanner.storage import diagnostics

    log = diagnostics.open_log()
    with watching(window):
        code = application.exec()
    diagnostics.close_log(log)
    # The window goes before the interpreter does: Python code that Qt calls must still be there.
    window.deleteLater()
    application.processEvents()
    from gpuplanner.ui.theme import forget_fonts

    forget_fonts()
    return int(code)


@contextmanager
def starting() -> Iterator[None]:
    """No garbage is collected while the program starts, and what stands then is not looked through again."""
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        if collects:
            gc.enable()


@contextmanager
def watching(window: Any) -> Iterator[None]:
    """Errors that nothing else has caught go to the window, which keeps the plan safe, and are printed as before."""
    from gpuplanner.storage import diagnostics

    before = sys.excepthook

    def caught(kind: type[BaseException], error: BaseException, trace: Any) -> None:
        before(kind, error, trace)
        if not isinstance(error, Exception):
            return
        if threading.current_thread() is threading.main_thread():
            window.show_crash(error)
        else:
            # No widget is touched off the main thread.
            diagnostics.record(error)

    sys.excepthook = caught
    try:
        yield
    finally:
        sys.excepthook = before


def load_model() -> None:
    """Load what does not need Qt. Once PySide6 is there, it reads the source of each module that is imported."""
    # There are none; looking for them reads the entry points of every installed package.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    import gpuplanner.catalog.load
    import gpuplanner.catalog.query
    import gpuplanner.i18n.facts
    import gpuplanner.model.comparison
    import gpuplanner.model.evaluate
    import gpuplanner.model.pinning
    import gpuplanner.storage.plan_file
    import gpuplanner.storage.recovery
    import gpuplanner.storage.settings  # noqa: F401


def _opened(path: Path | None, language: str | None, theme: str | None) -> tuple[Any, Any]:
    """The application, and its window, shown."""
    try:
        from PySide6.QtWidgets import QApplication
    except ImportError as error:
        raise NoWindow(_import_failure(error)) from error

    from gpuplanner.catalog.load import load
    from gpuplanner.storage import settings as settings_file

    settings = settings_file.load()
    i18n.set_language(language or settings.language or i18n.language())
    QApplication.setApplicationName("GPU Planner")
    QApplication.setDesktopFileName("gpuplanner")
    application = QApplication.instance() or QApplication(sys.argv[:1])
    catalog = load(paths.user_catalog())
    window = build(catalog, settings, theme)
    window.show()
    if path is not None:
        window.open_file(path)
    window.offer_recovered()
    return application, window


def build(catalog: Any, settings: Any, theme: str | None = None, settings_folder: Path | None = None) -> Any:
    """The window and everything behind it, not yet shown. A `QApplication` must exist."""
    from gpuplanner.model.pinning import pin
    from gpuplanner.ui.document import PlanDocument
    from gpuplanner.ui.evaluation import Evaluation
    from gpuplanner.ui.main_window import MainWindow
    from gpuplanner.ui.theme import ThemeSource

    source = ThemeSource(theme or settings.theme)
    # Palette and font before the first widget, the style sheet after the last, so that each is polished once.
    source.apply(sheet=False)
    document = PlanDocument(catalog, pin=pin)
    evaluation = Evaluation(document)
    window = MainWindow(document, evaluation, source, settings, settings_folder)
    source.apply_sheet()
    for part in (document, evaluation, source):
        part.setParent(window)
    return window


def _check_system() -> None:
    """Raise `NoWindow` where Qt would end the process. Windows and macOS bring all that is needed."""
    if not sys.platform.startswith("linux"):
        return
    platform = os.environ.get("QT_QPA_PLATFORM", "").split(":")[0].split(";")[0]
    missing = _missing(_QT_LIBRARIES)
    needed: dict[str, str] = {}
    reachable = True
    if not platform or platform.startswith(("xcb", "wayland")):
        ways = _ways(platform)
        needed, reachable = next((way for way in ways if way[1] and not _missing(way[0])), ways[0])
    missing += [name for name in _missing(needed) if name not in missing]
    if missing:
        raise NoWindow(_libraries_missing(missing))
    if not reachable:
        raise NoWindow(
            _(
                "The window needs a display: start it from a desktop session, or set DISPLAY or WAYLAND_DISPLAY. "
                "The figures above are the same that the window shows."
            )
        )


def _ways(platform: str) -> list[tuple[dict[str, str], bool]]:
    """How a display may be reached: the libraries needed for it, and whether it answers."""
    x11 = _X11_LIBRARIES, _x11_answers()
    wayland = _WAYLAND_LIBRARIES, _wayland_answers()
    if platform.startswith("xcb"):
        return [x11]
    if platform.startswith("wayland"):
        return [wayland]
    return [wayland, x11] if os.environ.get("WAYLAND_DISPLAY") and not os.environ.get("DISPLAY") else [x11, wayland]


def _missing(libraries: dict[str, str], load: Callable[[str], object] = ctypes.CDLL) -> list[str]:
    """Those of the shared libraries that cannot be loaded."""
    missing = []
    for name in libraries:
        try:
            load(name)
        except OSError:
            missing.append(name)
    return missing


def _x11_answers() -> bool:
    """Whether an X server answers at DISPLAY."""
    if not os.environ.get("DISPLAY"):
        return False
    try:
        xcb = ctypes.CDLL("libxcb.so.1")
    except OSError:
        # The missing library is reported; whether a server would answer cannot be said.
        return True
    xcb.xcb_connect.restype = ctypes.c_void_p
    xcb.xcb_connection_has_error.argtypes = [ctypes.c_void_p]
    xcb.xcb_disconnect.argtypes = [ctypes.c_void_p]
    connection = xcb.xcb_connect(None, None)
    failed = xcb.xcb_connection_has_error(connection)
    xcb.xcb_disconnect(connection)
    return not failed


def _wayland_answers() -> bool:
    """Whether there is a Wayland socket."""
    name = os.environ.get("WAYLAND_DISPLAY")
    return bool(name) and (Path(os.environ.get("XDG_RUNTIME_DIR", "")) / str(name)).exists()


def _import_failure(error: ImportError) -> str:
    """What to do where Qt cannot be imported."""
    found = re.search(r"(lib[\w.+-]+\.so[.\d]*)", str(error))
    if found:
        return _libraries_missing([found[1]])
    return _("The window needs PySide6, which cannot be loaded: {reason}").format(reason=error)


def _libraries_missing(names: list[str]) -> str:
    packages = [_PACKAGES[name] for name in names if name in _PACKAGES]
    if not packages:
        return _("The window needs the system libraries {libraries}; install the packages that bring them.").format(
            libraries=", ".join(names)
        )
    return _("The window needs the system libraries {libraries}. On Debian: apt install {packages}").format(
        libraries=", ".join(names), packages=" ".join(packages)
    )
