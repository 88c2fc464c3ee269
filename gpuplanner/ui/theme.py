"""Colours, fonts and the style sheet of the window.

A `Theme` is a frozen set of colour tokens; everything that paints takes its colours and fonts from one. `ThemeSource`
holds the theme in force, follows the system where the user wants that, and tells the views when it changes. Fonts are
cached by size and weight, because making a `QFont` and its metrics anew is a sixth of a full repaint.
"""

import sys
from dataclasses import dataclass
from functools import cache, lru_cache

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QColor, QFont, QFontMetrics, QGuiApplication, QPalette
from PySide6.QtWidgets import QApplication

from gpuplanner.i18n import language
from gpuplanner.model.plan import LETTERS

CHOICES = ("system", "light", "dark", "contrast")

# pyqtgraph's symbol of each series, by the order of the letters.
MARKERS = ("o", "s", "t", "d", "star", "+", "t1", "x")

# Contrast that body text needs against its ground, by WCAG 2.1 level AA.
_TEXT_CONTRAST = 4.5

# Heights that the layout is built on. [px]
TOP_BAR = 44
STATUS_BAR = 26
FIELD = 26
FIELD_ROW = 30
HEADER = 30


def _colours(text: str) -> tuple[QColor, ...]:
    return tuple(QColor("#" + code) for code in text.split())


@dataclass(frozen=True, eq=False)
class Theme:
    """The colour tokens of one look. `name` is "light", "dark" or "contrast"."""

    name: str
    window: QColor
    panel: QColor
    sunken: QColor
    hover: QColor
    selected: QColor
    line: QColor
    line2: QColor
    grid: QColor
    text: QColor
    text2: QColor
    text3: QColor
    accent: QColor
    on_accent: QColor
    ok: QColor
    warn: QColor
    fail: QColor
    ok_ground: QColor
    warn_ground: QColor
    fail_ground: QColor
    series: tuple[QColor, ...]
    # Weights, KV cache, activations, gradients, optimizer, runtime.
    memory: tuple[QColor, ...]
    border: int = 1

    def series_colour(self, letter: str) -> QColor:
        """The colour of a scenario; it belongs to the letter, not to the place."""
        return self.series[LETTERS.index(letter)]

    def series_marker(self, letter: str) -> str:
        """pyqtgraph's symbol of a scenario."""
        return MARKERS[LETTERS.index(letter)]

    def letter_colour(self, letter: str) -> QColor:
        """Black or white, whichever is read more easily inside the scenario's mark."""
        return black_or_white(self.series_colour(letter))

    def series_text(self, letter: str) -> QColor:
        """The scenario's colour as text: shifted until it is readable on a panel."""
        return readable(self.series_colour(letter), self.panel)

    def status_colour(self, status: str) -> QColor:
        """The colour of a verdict: "ok", "warn", "fail" or "unknown"."""
        return {"ok": self.ok, "warn": self.warn, "fail": self.fail}.get(status, self.text3)

    def status_ground(self, status: str) -> QColor:
        """The ground under a message of that verdict."""
        return {"ok": self.ok_ground, "warn": self.warn_ground, "fail": self.fail_ground}.get(status, self.sunken)

    @property
    def is_dark(self) -> bool:
        return self.name != "light"

    @staticmethod
    def font(size: int = 12, weight: int = 400) -> QFont:
        """The interface font, tabular numerals on. Cached: do not change what you get."""
        return font(size, weight)

    @staticmethod
    def metrics(size: int = 12, weight: int = 400) -> QFontMetrics:
        """Measures of `font(size, weight)`. Cached."""
        return metrics(size, weight)


def _theme(
    name: str, grounds: str, lines: str, texts: str, states: str, series: str, memory: str, border: int = 1
) -> Theme:
    window, panel, sunken, hover, selected = _colours(grounds)
    line, line2, grid = _colours(lines)
    text, text2, text3, accent, on_accent = _colours(texts)
    ok, warn, fail, ok_ground, warn_ground, fail_ground = _colours(states)
    return Theme(
        name, window, panel, sunken, hover, selected, line, line2, grid, text, text2, text3, accent, on_accent,
        ok, warn, fail, ok_ground, warn_ground, fail_ground, _colours(series), _colours(memory), border,
    )  # fmt: skip


LIGHT = _theme(
    "light",
    "F3F4F6 FFFFFF F6F7F9 EEF1F5 E4EDFC",
    "E3E6EA C9CED6 ECEEF1",
    "1A1E24 555E6A 666F7A 1F5FD0 FFFFFF",
    "14773F 8F5A00 B3261E E5F4EB FCF1DC FCE9E7",
    "0066AD CC8400 00806A C266A3 B8400F 3F97D3 8A7A3A 434B56",
    "2F5FA8 7FA8DB C9B37A DCC68E B59A55 8B939D",
)
DARK = _theme(
    "dark",
    "121417 1A1D21 15181B 24282E 22324D",
    "2A2F36 454C56 262A30",
    "E9EBEE AEB6C0 8F98A3 82AEFF 0D1526",
    "5CC890 E5AE4A FF8577 17301F 33280F 3A1E1B",
    "519BDB F2B63F 2FBE97 F0A0DA EC7A42 A6DBFA C9BC78 7E8895",
    "5C8FD6 9DC1EE CDB878 DDCB95 B09A5C 7C8591",
)
CONTRAST = _theme(
    "contrast",
    "000000 000000 000000 1F1F1F 00335C",
    "8C8C8C FFFFFF 3A3A3A",
    "FFFFFF FFFFFF D6D6D6 4CC2FF 000000",
    "5BFF9A FFD433 FF8A8A 000000 000000 000000",
    "4CC2FF FFC233 3DF2B0 FF9AD8 FF8F4A C4E7FF E3D48A CFCFCF",
    "4CC2FF B5E3FF E3D48A F2E8B8 C4B46A CFCFCF",
    border=2,
)
THEMES = {theme.name: theme for theme in (LIGHT, DARK, CONTRAST)}


def luminance(colour: QColor) -> float:
    """Relative luminance of WCAG 2.1."""

    def linear(share: float) -> float:
        return share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4

    return 0.2126 * linear(colour.redF()) + 0.7152 * linear(colour.greenF()) + 0.0722 * linear(colour.blueF())


def contrast(one: QColor, other: QColor) -> float:
    """Contrast ratio of WCAG 2.1, from 1 to 21."""
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def black_or_white(ground: QColor) -> QColor:
    """The one of the two that contrasts more with `ground`."""
    black, white = QColor("#000000"), QColor("#FFFFFF")
    return black if contrast(black, ground) >= contrast(white, ground) else white


def blend(one: QColor, other: QColor, share: float) -> QColor:
    """`share` of `other` mixed into `one`."""
    kept = 1 - share
    return QColor.fromRgbF(
        one.redF() * kept + other.redF() * share,
        one.greenF() * kept + other.greenF() * share,
        one.blueF() * kept + other.blueF() * share,
    )


@lru_cache(maxsize=256)
def _readable(rgb: int, ground_rgb: int, ratio: float) -> QColor:
    colour, ground = QColor.fromRgb(rgb), QColor.fromRgb(ground_rgb)
    target = black_or_white(ground)
    for percent in range(0, 101, 4):
        shifted = blend(colour, target, percent / 100)
        if contrast(shifted, ground) >= ratio:
            return shifted
    return target


def readable(colour: QColor, ground: QColor, ratio: float = _TEXT_CONTRAST) -> QColor:
    """`colour`, shifted towards black or white until it has `ratio` against `ground`."""
    return _readable(colour.rgb(), ground.rgb(), ratio)


def families(code: str) -> list[str]:
    """Font families in the order they are tried, for a language."""
    if sys.platform == "win32":
        latin, chinese = ["Segoe UI Variable Text", "Segoe UI"], ["Microsoft YaHei UI", "Microsoft YaHei"]
    elif sys.platform == "darwin":
        latin, chinese = [".AppleSystemUIFont", "Helvetica Neue"], ["PingFang SC"]
    else:
        latin, chinese = ["Inter", "Noto Sans", "DejaVu Sans"], ["Noto Sans CJK SC", "WenQuanYi Micro Hei"]
    # Digits and Latin words keep one look in both languages; Chinese falls through to the second family.
    return latin + chinese


@cache
def _font(code: str, size: int, weight: int) -> QFont:
    made = QFont()
    made.setFamilies(families(code))
    made.setPixelSize(size)
    made.setWeight(QFont.Weight(weight))
    made.setHintingPreference(QFont.HintingPreference.PreferNoHinting)
    made.setFeature(QFont.Tag("tnum"), 1)
    return made


@cache
def _metrics(code: str, size: int, weight: int) -> QFontMetrics:
    return QFontMetrics(_font(code, size, weight))


def forget_fonts() -> None:
    """Let go of every font before the application ends: one that outlives it can crash the process on its way out."""
    _metrics.cache_clear()
    _font.cache_clear()


def font(size: int = 12, weight: int = 400) -> QFont:
    """The interface font in the language in force, tabular numerals on. Cached: do not change what you get."""
    return _font(language(), size, weight)


def metrics(size: int = 12, weight: int = 400) -> QFontMetrics:
    """Measures of `font(size, weight)`. Cached."""
    return _metrics(language(), size, weight)


def palette(theme: Theme) -> QPalette:
    """The theme's tokens in the roles that Qt's own painting uses."""
    made = QPalette()
    role = QPalette.ColorRole
    for each, colour in (
        (role.Window, theme.window),
        (role.WindowText, theme.text),
        (role.Base, theme.panel),
        (role.AlternateBase, theme.sunken),
        (role.Text, theme.text),
        (role.Button, theme.panel),
        (role.ButtonText, theme.text),
        (role.BrightText, theme.fail),
        (role.ToolTipBase, theme.panel),
        (role.ToolTipText, theme.text),
        (role.PlaceholderText, theme.text3),
        (role.Highlight, theme.accent),
        (role.HighlightedText, theme.on_accent),
        (role.Link, theme.accent),
        (role.LinkVisited, theme.accent),
        (role.Accent, theme.accent),
        (role.Light, theme.panel),
        (role.Midlight, theme.line),
        (role.Mid, theme.line2),
        (role.Dark, theme.line2),
        (role.Shadow, theme.line2),
    ):
        made.setColor(each, colour)
    faded = blend(theme.text3, theme.panel, 0.4)
    for each in (role.WindowText, role.Text, role.ButtonText):
        made.setColor(QPalette.ColorGroup.Disabled, each, faded)
    return made


def style_sheet(theme: Theme) -> str:
    """The one style sheet of the application, made from the tokens."""
    tokens = {
        name: value.name()
        for name, value in vars(theme).items()
        if isinstance(value, QColor)
    }  # fmt: skip
    tokens["faded"] = blend(theme.text3, theme.panel, 0.4).name()
    tokens["field"] = (theme.sunken if theme.is_dark else theme.panel).name()
    tokens["pressed"] = blend(theme.hover, theme.line2, 0.4).name()
    tokens["accent_hover"] = blend(theme.accent, theme.text, 0.12).name()
    sizes = {"b": f"{theme.border}px", "pad": f"{9 - theme.border}px"}
    text = _STYLE
    for name, value in sorted({**tokens, **sizes}.items(), key=lambda item: -len(item[0])):
        text = text.replace("@" + name, value)
    return text


_STYLE = """
* { outline: none; }
QToolTip { background: @panel; color: @text; border: @b solid @line2; padding: 5px 7px; }
QLabel { background: transparent; }
QLabel[tone="second"] { color: @text2; }
QLabel[tone="third"] { color: @text3; }
QLabel[tone="ok"] { color: @ok; }
QLabel[tone="warn"] { color: @warn; }
QLabel[tone="fail"] { color: @fail; }
QFrame[rule="true"] { background: @line; border: none; max-height: 1px; min-height: 1px; }
QWidget[ground="panel"] { background: @panel; }
QFrame[formula="true"] { background: @sunken; border: none; border-radius: 5px; }
QFrame[card="true"] { background: @panel; border: @b solid @line; border-radius: 8px; }

QLineEdit, QComboBox, QPlainTextEdit {
    background: @field; color: @text; border: @b solid @line2; border-radius: 5px; selection-background-color:
    @accent; selection-color: @on_accent; }
QLineEdit, QComboBox { min-height: 22px; padding: 0 @pad; }
QLineEdit:hover, QComboBox:hover { border-color: @text3; }
QLineEdit:focus, QComboBox:focus, QPlainTextEdit:focus {
    border: 2px solid @accent; padding: 0 7px; min-height: 22px; }
QPlainTextEdit:focus { padding: 0; }
QLineEdit[warned="true"] { border: 2px solid @warn; padding: 0 7px; }
QLineEdit[refused="true"] { border: 2px solid @fail; padding: 0 7px; }
QLineEdit[flat="true"] { background: transparent; border-color: transparent; padding: 0 3px;
    placeholder-text-color: @text; }
QLineEdit[flat="true"]:hover { border-color: @line2; }
QLineEdit[flat="true"]:focus { border: 2px solid @accent; padding: 0 2px; background: @field; }
QLineEdit:disabled, QComboBox:disabled { color: @faded; border-color: @line; background: @sunken; }
QComboBox { padding-right: 20px; combobox-popup: 0; }
QComboBox:focus { padding-right: 20px; }
QComboBox::drop-down { border: none; width: 20px; }
QComboBox::down-arrow { image: none; width: 0; height: 0; }
QComboBox QAbstractItemView, QListView#completions {
    background: @panel; color: @text; border: @b solid @line2; padding: 3px; selection-background-color:
    @selected; selection-color: @text; }
QComboBox QAbstractItemView::item, QListView#completions::item {
    min-height: 24px; padding: 0 6px; border-radius: 4px; }
QComboBox QAbstractItemView::item:hover, QComboBox QAbstractItemView::item:selected,
QListView#completions::item:selected, QListView#completions::item:hover {
    background: @selected; color: @text; }

QPushButton {
    background: @panel; color: @text; border: @b solid @line2; border-radius: 5px; min-height: 24px; padding: 0
    11px; font-weight: 500; }
QPushButton:hover { background: @hover; }
QPushButton:pressed { background: @pressed; }
QPushButton:focus { border: 2px solid @accent; padding: 0 10px; min-height: 22px; }
QPushButton:disabled { color: @faded; border-color: @line; }
QPushButton[primary="true"], QPushButton:default[primary="true"] {
    background: @accent; color: @on_accent; border: 1px solid @accent; font-weight: 600; }
QPushButton[primary="true"]:hover { background: @accent_hover; }
QPushButton[primary="true"]:disabled { background: @sunken; color: @faded; border: @b solid @line; }
QPushButton[link="true"] {
    background: transparent; color: @accent; border: none; padding: 0 4px; min-height: 22px; font-weight: 500; }
QPushButton[link="true"]:hover { text-decoration: underline; }
QPushButton[link="true"]:focus { border: 2px solid @accent; padding: 0 2px; min-height: 18px; }
QToolButton {
    background: transparent; color: @text2; border: @b solid transparent; border-radius: 5px; padding: 2px; }
QToolButton:hover { background: @hover; color: @text; }
QToolButton:pressed, QToolButton:checked { background: @pressed; }
QToolButton:focus { border: 2px solid @accent; padding: 1px; }
QToolButton:disabled { color: @faded; }
QToolButton::menu-indicator { image: none; width: 0; }
QToolButton[chip="true"] {
    background: @panel; color: @text; border: @b solid @line2; border-radius: 11px; padding: 1px 5px; font-size: 11px;
    min-height: 16px; }
QToolButton[chip="true"]:checked { background: @selected; border-color: @accent; }
QToolButton[chip="true"]:focus { border: 2px solid @accent; padding: 0 4px; }
QToolButton[row="true"] {
    text-align: left; color: @text; font-weight: 600; padding: 0 8px; border-radius: 5px; min-height: 26px; }
QToolButton[row="true"]:checked { background: @selected; }
QToolButton[status="true"] { color: @text2; padding: 1px 5px; border-radius: 4px; }
QCheckBox { color: @text; spacing: 6px; background: transparent; }
QCheckBox::indicator { width: 12px; height: 12px; border: @b solid @text3; border-radius: 3px; background: @panel; }
QCheckBox::indicator:checked { background: @accent; border-color: @accent; }
QCheckBox:focus, QRadioButton:focus { color: @accent; }

QMenuBar { background: transparent; color: @text2; spacing: 2px; }
QMenuBar::item { background: transparent; padding: 6px 10px; border-radius: 5px; }
QMenuBar::item:selected, QMenuBar::item:pressed { background: @hover; color: @text; }
QMenu { background: @panel; color: @text; border: @b solid @line2; padding: 4px; }
QMenu::item { padding: 5px 26px 5px 24px; border-radius: 4px; }
QMenu::item:selected { background: @selected; }
QMenu::item:disabled { color: @faded; }
QMenu::separator { height: 1px; background: @line; margin: 4px 6px; }
QMenu::indicator { width: 12px; height: 12px; left: 6px; }
QMenu::indicator:checked { background: @accent; border-radius: 3px; }

QScrollArea, QScrollArea > QWidget > QWidget { background: transparent; border: none; }
QScrollBar { background: transparent; border: none; }
QScrollBar:vertical { width: 10px; } QScrollBar:horizontal { height: 10px; }
QScrollBar::handle { background: @line2; border-radius: 3px; margin: 2px; min-height: 24px; min-width: 24px; }
QScrollBar::handle:hover { background: @text3; }
QScrollBar::add-line, QScrollBar::sub-line, QScrollBar::add-page, QScrollBar::sub-page {
    background: none; border: none; width: 0; height: 0; }

QTabBar { background: transparent; border: none; }
QTabBar::tab {
    background: transparent; color: @text2; border: none; border-bottom: 2px solid transparent; padding: 5px
    2px; margin: 0 7px; }
QTabBar::tab:selected { color: @text; border-bottom-color: @accent; font-weight: 600; }
QTabBar::tab:hover { color: @text; }
QTabBar::tab:focus { color: @accent; }
QTabWidget::pane { border: none; }
QMainWindow::separator { background: @line; width: 1px; height: 1px; }
QMainWindow::separator:hover { background: @accent; }
QDockWidget { color: @text; }
QStatusBar { background: @panel; border: none; }
QStatusBar::item { border: none; }
QSplitter::handle { background: transparent; }
QTableView, QListView, QTreeView {
    background: @panel; color: @text; border: none; selection-background-color: @selected; selection-color:
    @text; }
QHeaderView { background: @panel; border: none; }
QHeaderView::section { background: @panel; color: @text2; border: none; }
QDialog, QMessageBox { background: @panel; }
QProgressBar { background: @line; border: none; border-radius: 2px; max-height: 4px; min-height: 4px; }
QProgressBar::chunk { background: @accent; border-radius: 2px; }
"""


class ThemeSource(QObject):
    """The theme in force. `changed` comes after the application's palette, font and style sheet have changed."""

    changed = Signal(object)

    def __init__(self, choice: str = "system", parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._choice = choice if choice in CHOICES else "system"
        self._applied = False
        self.theme = self._resolved()
        QGuiApplication.styleHints().colorSchemeChanged.connect(self._system_changed)

    @property
    def choice(self) -> str:
        """What the user chose: one of `CHOICES`."""
        return self._choice

    def choose(self, choice: str) -> None:
        """Use another theme; "system" follows the desktop. Raises `ValueError` for a name that is not in `CHOICES`."""
        if choice not in CHOICES:
            raise ValueError(f"no such theme: {choice!r}")
        self._choice = choice
        self._refresh()

    def apply(self, sheet: bool = True) -> None:
        """Give the application this theme's palette, font and style sheet (again: after a change of language).

        Without the `sheet` while a window is put together: it would be matched with a widget, and with all in it, each
        time that it is put into another. `apply_sheet` follows.
        """
        application = QApplication.instance()
        if not isinstance(application, QApplication):
            return
        if not self._applied:
            application.setStyle("Fusion")
            self._applied = True
        application.setFont(font())
        application.setPalette(palette(self.theme))
        if sheet:
            self.apply_sheet()
        self.changed.emit(self.theme)

    def apply_sheet(self) -> None:
        """Give the application this theme's style sheet."""
        application = QApplication.instance()
        if isinstance(application, QApplication):
            application.setStyleSheet(style_sheet(self.theme))

    def _refresh(self) -> None:
        theme = self._resolved()
        if theme is not self.theme:
            self.theme = theme
            if self._applied:
                self.apply()

    def _system_changed(self, _scheme: object) -> None:
        self._refresh()

    def _resolved(self) -> Theme:
        if self._choice != "system":
            return THEMES[self._choice]
        hints = QGuiApplication.styleHints()
        accessibility = hints.accessibility()
        if accessibility is not None and accessibility.contrastPreference() == Qt.ContrastPreference.HighContrast:
            return CONTRAST
        return DARK if hints.colorScheme() == Qt.ColorScheme.Dark else LIGHT
