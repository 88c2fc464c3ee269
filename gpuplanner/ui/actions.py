"""The commands of the window: one `QAction` each, with its words and keys, for menus, buttons and shortcuts alike."""

from typing import NamedTuple

from PySide6.QtCore import QObject
from PySide6.QtGui import QAction, QKeySequence

from gpuplanner.i18n import N_, _
from gpuplanner.model.plan import LETTERS
from gpuplanner.ui import icons
from gpuplanner.ui.fields import plain_tip
from gpuplanner.ui.theme import Theme, blend


class _Command(NamedTuple):
    text: str
    keys: tuple[str, ...] = ()
    icon: str = ""
    checkable: bool = False
    role: QAction.MenuRole = QAction.MenuRole.NoRole


_COMMANDS = {
    "new": _Command(N_("&New"), ("Ctrl+N",)),
    "open": _Command(N_("&Open …"), ("Ctrl+O",)),
    "save": _Command(N_("&Save"), ("Ctrl+S",)),
    "save_as": _Command(N_("Save &as …"), ("Ctrl+Shift+S",)),
    "compare_plans": _Command(N_("Compare &with …")),
    "recovered": _Command(N_("Plans that were not sa&ved …")),
    "close": _Command(N_("&Close plan"), ("Ctrl+W",)),
    "quit": _Command(N_("&Quit"), ("Ctrl+Q",), role=QAction.MenuRole.QuitRole),
    "undo": _Command(N_("&Undo"), ("Ctrl+Z",), "undo"),
    "redo": _Command(N_("&Redo"), ("Ctrl+Y", "Ctrl+Shift+Z"), "redo"),
    "duplicate": _Command(N_("&Duplicate scenario"), ("Ctrl+D",)),
    "add_group": _Command(N_("Add &group …"), ("Ctrl+G",)),
    "add_scenario": _Command(N_("&New scenario"), ("Ctrl+Shift+N",)),
    "remove_scenario": _Command(N_("&Remove scenario")),
    "scenario_left": _Command(N_("Move scenario &left"), ("Ctrl+Shift+Left",)),
    "scenario_right": _Command(N_("Move scenario &right"), ("Ctrl+Shift+Right",)),
    "baseline": _Command(N_("Make &baseline"), ("Ctrl+B",)),
    "currency": _Command(N_("&Currency and exchange rates …")),
    "measurements": _Command(N_("Own &measurements"), ("Ctrl+M",)),
    "renew_entries": _Command(N_("Use &today's catalog in this plan")),
    "differences": _Command(N_("What the &author saw …")),
    "compare_entries": _Command(N_("&Compare ticked entries …")),
    "add_entry": _Command(N_("&Add to my catalog …")),
    "network": _Command(N_("Net&work")),
    "accuracy": _Command(N_("&Accuracy")),
    "compare_cards": _Command(N_("Compare t&wo cards")),
    "back": _Command(N_("&Back"), ("Alt+Left",)),
    "claim": _Command(N_("Claim c&heck …"), ("Ctrl+Shift+K",)),
    "explain": _Command(N_("&Explain the focused figure"), ("Ctrl+E",)),
    "reset_layout": _Command(N_("&Reset layout")),
    "next_region": _Command(N_("Next &region"), ("F6",)),
    "previous_region": _Command(N_("&Previous region"), ("Shift+F6",)),
    "diagnostics": _Command(N_("Copy &diagnostics …")),
    "about": _Command(N_("&About GPU Planner …"), role=QAction.MenuRole.AboutRole),
    **{
        f"theme_{name}": _Command(text, checkable=True)
        for name, text in (
            ("system", N_("As the &system")),
            ("light", N_("&Light")),
            ("dark", N_("&Dark")),
            ("contrast", N_("&High contrast")),
        )
    },
    "language_en": _Command("English", checkable=True),
    "language_zh": _Command("简体中文", checkable=True),
}

# Tabs of the comparison that have a key.
_TABS = 8


class Actions(QObject):
    """All commands by name."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._actions: dict[str, QAction] = {}
        for name, command in _COMMANDS.items():
            action = QAction(self)
            action.setShortcuts([QKeySequence(keys) for keys in command.keys])
            action.setCheckable(command.checkable)
            action.setMenuRole(command.role)
            self._actions[name] = action
        self._scenarios: list[QAction] = []
        for number, _letter in enumerate(LETTERS, 1):
            action = QAction(self)
            action.setShortcut(QKeySequence(f"Ctrl+{number}"))
            action.setCheckable(True)
            action.setMenuRole(QAction.MenuRole.NoRole)
            self._scenarios.append(action)
        self._tabs: list[QAction] = []
        for number in range(1, _TABS + 1):
            action = QAction(self)
            action.setShortcut(QKeySequence(f"Alt+{number}"))
            action.setMenuRole(QAction.MenuRole.NoRole)
            self._tabs.append(action)
        self.retranslate()

    def __getitem__(self, name: str) -> QAction:
        return self._actions[name]

    @property
    def all(self) -> tuple[QAction, ...]:
        """Every command, for the window to listen to its keys."""
        return (*self._actions.values(), *self._scenarios, *self._tabs)

    def scenario(self, position: int) -> QAction:
        """The command that selects the scenario at a position."""
        return self._scenarios[position]

    @property
    def tabs(self) -> tuple[QAction, ...]:
        """The commands that open the tabs of the comparison, in their order."""
        return tuple(self._tabs)

    def retranslate(self) -> None:
        """Show all words in the language in force."""
        for name, command in _COMMANDS.items():
            # A language is named in its own words.
            own_words = name.startswith("language_")
            self._actions[name].setText(command.text if own_words else _(command.text))

    def show_steps(self, undo: str, redo: str) -> None:
        """Name the steps that undo and redo would make."""
        for name, step, text in (
            ("undo", undo, _("Undo: {step}").format(step=undo) if undo else _("Nothing to undo")),
            ("redo", redo, _("Redo: {step}").format(step=redo) if redo else _("Nothing to redo")),
        ):
            action = self._actions[name]
            action.setEnabled(bool(step))
            keys = action.shortcut().toString(QKeySequence.SequenceFormat.NativeText)
            action.setToolTip(plain_tip(f"{text} ({keys})"))

    def tint(self, theme: Theme) -> None:
        """Give the icons the colours of the theme."""
        faded = blend(theme.text3, theme.panel, 0.55)
        for name, command in _COMMANDS.items():
            if command.icon:
                self._actions[name].setIcon(icons.icon(command.icon, theme.text2, faded))
