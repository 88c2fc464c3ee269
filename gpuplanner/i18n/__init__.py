"""Words for people, in every layer: English msgids, translated when they are looked up.

The language is one choice for the program (`set_language`), and `using` overrides it for a block, so that a report
can be in another language than the window. Nothing is translated at import time: text that is kept in a table is
marked with `N_` and translated with `_` where it is shown, so the language switches without a restart.
"""

import gettext as _gettext
import locale
import os
import plistlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from pathlib import Path

from gpuplanner import paths

__all__ = [
    "N_",
    "_",
    "language",
    "languages",
    "ngettext",
    "pgettext",
    "set_language",
    "system_language",
    "using",
]

DOMAIN = "gpuplanner"

# Each in its own words, as a menu of languages shows them.
_LANGUAGES = {"en": "English", "zh": "简体中文"}

_chosen = "en"
# A context variable, so that a report written on a worker thread does not change the window's words.
_override: ContextVar[str | None] = ContextVar("gpuplanner_language", default=None)


def languages() -> dict[str, str]:
    """The languages of the program: code to the language's own name."""
    return dict(_LANGUAGES)


def language() -> str:
    """The code of the language in force here: that of the innermost `using`, else the chosen one."""
    return _override.get() or _chosen


def set_language(code: str) -> None:
    """Choose the language of the program. Raises `ValueError` for a code that `languages` does not list."""
    global _chosen
    _chosen = _known(code)


@contextmanager
def using(code: str) -> Iterator[None]:
    """Use another language within a `with` block, in this thread only. Raises `ValueError` for an unknown code."""
    token = _override.set(_known(code))
    try:
        yield
    finally:
        _override.reset(token)


def _known(code: str) -> str:
    if code not in _LANGUAGES:
        raise ValueError(f"no such language: {code!r} (there are {', '.join(_LANGUAGES)})")
    return code


def _(message: str) -> str:
    """The message in the language in force, or the message itself where it has no translation."""
    # gettext keeps the catalog's header under the empty msgid.
    return _catalog(language()).gettext(message) if message else ""


def ngettext(singular: str, plural: str, n: int) -> str:
    """The form for `n` things. The number itself goes in through a named placeholder."""
    return _catalog(language()).ngettext(singular, plural, n)


def pgettext(context: str, message: str) -> str:
    """The message where one English word has several translations; `context` says which."""
    return _catalog(language()).pgettext(context, message)


def N_(message: str) -> str:
    """Mark a msgid for translation and return it as it is."""
    return message


def system_language() -> str:
    """The program's language that fits the system's own: "zh" for any Chinese, else "en"."""
    return "zh" if _system_locale().lower().startswith(("zh", "chinese")) else "en"


def _system_locale() -> str:
    for variable in ("LC_ALL", "LC_MESSAGES", "LANG"):
        if named := os.environ.get(variable):
            return named
    if sys.platform == "win32":
        import ctypes

        return locale.windows_locale.get(ctypes.windll.kernel32.GetUserDefaultUILanguage(), "")
    if sys.platform == "darwin":
        # A program started from the Dock has no LANG; the preferred languages stand here.
        try:
            with (Path.home() / "Library/Preferences/.GlobalPreferences.plist").open("rb") as file:
                return str(plistlib.load(file)["AppleLanguages"][0])
        except (OSError, plistlib.InvalidFileException, KeyError, IndexError):
            return ""
    return ""


@cache
def _catalog(code: str) -> _gettext.NullTranslations:
    return _gettext.translation(DOMAIN, paths.resources() / "i18n", [code], fallback=code == "en")
