"""The wishes panel: what the buyer is free to do, what is owned already, and notes."""

from functools import partial
from typing import Any

from PySide6.QtWidgets import QCheckBox, QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from gpuplanner.i18n import N_, _
from gpuplanner.model.plan import Condition, Owned, Plan
from gpuplanner.ui.document import Editor, PlanDocument
from gpuplanner.ui.evaluation import Evaluation
from gpuplanner.ui.fields import (
    ChoiceField,
    NameField,
    NotesField,
    NumberField,
    QuantityField,
    TextField,
    icon_button,
    tint,
)
from gpuplanner.ui.form import FieldColumns
from gpuplanner.ui.theme import ThemeSource

PRIORITIES = (
    ("cost", N_("lowest cost")),
    ("speed", N_("highest speed")),
    ("power", N_("least power")),
    ("spare", N_("most to spare")),
)
CONDITIONS: tuple[tuple[Condition, str], ...] = (
    ("new", N_("new")),
    ("used", N_("used")),
    ("owned", N_("owned")),
    ("rented", N_("rented")),
)


class NamesField(TextField):
    """Several names with commas between them."""

    def read(self, text: str) -> Any:
        return tuple(dict.fromkeys(part.strip() for part in text.replace("，", ",").split(",") if part.strip()))

    def write(self, value: Any) -> str:
        return ", ".join(value)

    def _edited(self, text: str) -> None:
        self._parsed = self.read(text)
        self.show_refusal(self._offer(self._parsed))


class _Owned(QWidget):
    """One kind of card that is there already: card, count and age."""

    def __init__(self, document: PlanDocument, index: int) -> None:
        super().__init__()
        self._document = document
        self._place = ("wishes", "owned", index)
        self.gpu = NameField(
            self._editor("gpu", N_("Owned card")), partial(document.names, "gpu"), partial(document.resolve, "gpu")
        )
        self.count = NumberField(self._editor("count", N_("Owned cards")), whole=True)
        self.age = NumberField(self._editor("age_years", N_("Age of owned cards")), step=1)
        self.remove = icon_button("close", "", self._remove)
        line = QHBoxLayout(self)
        line.setContentsMargins(0, 2, 0, 2)
        line.setSpacing(4)
        for field, width in ((self.gpu, 148), (self.count, 44), (self.age, 40)):
            field.setFixedWidth(width)
            line.addWidget(field)
        line.addWidget(self.remove)
        self.retranslate()

    def _editor(self, name: str, label: str) -> Editor:
        return self._document.editor((*self._place, name), lambda: _(label))

    def _remove(self) -> None:
        self._document.remove(self._place, _("Remove owned cards"))

    def show(self, owned: Owned) -> None:  # type: ignore[override]
        """Show the cards."""
        self.gpu.show_value(owned.gpu)
        self.count.show_value(owned.count)
        self.age.show_value(owned.age_years)

    def retranslate(self) -> None:
        """Show all words in the language in force."""
        for widget, words in (
            (self.gpu, _("Owned card")),
            (self.count, _("Owned cards")),
            (self.age, _("Age [years]")),
            (self.remove, _("Remove owned cards")),
        ):
            widget.setAccessibleName(words)
            widget.setToolTip(words)


class WishesPanel(FieldColumns):
    """Edits the plan's wishes except the budget, its country and notes, and the notes of the selected scenario."""

    def __init__(self, document: PlanDocument, evaluation: Evaluation, theme: ThemeSource) -> None:
        super().__init__()
        self._document, self._theme = document, theme
        self.fields: dict[str, Any] = {}
        self.owned: list[_Owned] = []
        self.section(N_("What counts"))
        self.fields["priority"] = ChoiceField(self._wish("priority", N_("Priority")), PRIORITIES)
        self.row(N_("Priority"), self.fields["priority"], wide=True)
        self.fields["spare_share"] = QuantityField(self._wish("spare_share", N_("Spare")), "%", step=5)
        hint = N_("Share of the cards that stands by for failures.")
        self.row(N_("Spare"), self.fields["spare_share"], "%", hint=hint)
        for name, label in (("vendors", N_("Vendors")), ("countries", N_("From countries"))):
            self.fields[name] = NamesField(self._wish(name, label))
            self.row(label, self.fields[name], wide=True, hint=N_("Several with commas. Blank: any."))
        self.country = TextField(document.editor(("country",), lambda: _("Country")))
        self.country.setMaxLength(2)
        self.row(N_("Country"), self.country, hint=N_("Where the plan is for, by two letters such as CN or DE."))
        self.section(N_("May use"))
        self.may_use: dict[str, QCheckBox] = {}
        for condition, _text in CONDITIONS:
            box = QCheckBox()
            box.clicked.connect(self._set_may_use)
            self.may_use[condition] = self.put(box)
        self.section(N_("Owned already: card, count, years"))
        holder = QWidget()
        self._rows = QVBoxLayout(holder)
        self._rows.setContentsMargins(0, 0, 0, 0)
        self._rows.setSpacing(0)
        self.put(holder)
        self.add = QPushButton()
        self.add.setProperty("link", True)
        self.add.clicked.connect(self._add_owned)
        beside = QHBoxLayout()
        beside.addWidget(self.add)
        beside.addStretch(1)
        self._rows.addLayout(beside)
        self.section(N_("Notes on the plan"))
        self.notes = self.put(NotesField(document.editor(("notes",), lambda: _("Notes on the plan"))))
        self.section(N_("Notes on the scenario"))
        self.scenario_notes = self.put(NotesField(document.editor(self._of_scenario, lambda: _("Scenario notes"))))
        document.plan_changed.connect(self.show_plan)
        document.selection_changed.connect(lambda _letter: self.show_plan(document.plan))
        theme.changed.connect(lambda _theme: tint(self, theme.theme))
        self.retranslate()

    def show_plan(self, plan: Plan) -> None:
        """Write wishes and notes into the fields."""
        wishes = plan.wishes
        for name, field in self.fields.items():
            field.show_value(getattr(wishes, name))
        self.country.show_value(plan.country)
        for condition, box in self.may_use.items():
            box.setChecked(condition in wishes.may_use)
        while len(self.owned) > len(wishes.owned):
            row = self.owned.pop()
            self._rows.removeWidget(row)
            row.hide()
            row.deleteLater()
        while len(self.owned) < len(wishes.owned):
            row = _Owned(self._document, len(self.owned))
            tint(row, self._theme.theme)
            self.owned.append(row)
            self._rows.insertWidget(len(self.owned) - 1, row)
        for row, owned in zip(self.owned, wishes.owned, strict=True):
            row.show(owned)
        self.notes.show_value(plan.notes)
        scenario = self._document.selected_scenario
        self.scenario_notes.setEnabled(scenario is not None)
        self.scenario_notes.show_value(scenario.notes if scenario is not None else "")

    def retranslate(self) -> None:
        """Show all words in the language in force."""
        super().retranslate()
        for condition, text in CONDITIONS:
            self.may_use[condition].setText(_(text))
        self.add.setText(_("+ Owned cards"))
        self.notes.setAccessibleName(_("Notes on the plan"))
        self.scenario_notes.setAccessibleName(_("Notes on the scenario"))
        for row in self.owned:
            row.retranslate()
        self.show_plan(self._document.plan)

    def _of_scenario(self) -> tuple[Any, ...]:
        index = self._document.scenario_index(self._document.selected)
        return ("scenarios", index if index is not None else 0, "notes")

    def _wish(self, name: str, label: str) -> Editor:
        return self._document.editor(("wishes", name), lambda: _(label))

    def _set_may_use(self, _checked: bool = False) -> None:
        chosen = tuple(condition for condition, box in self.may_use.items() if box.isChecked())
        self._document.apply([(("wishes", "may_use"), chosen)], _("May use"))

    def _add_owned(self, _checked: bool = False) -> None:
        groups = self._document.selected_scenario.groups if self._document.selected_scenario is not None else ()
        gpu = next((group.gpu for group in groups if group.gpu), "") or next(iter(self._document.names("gpu")), "")
        place = ("wishes", "owned", len(self._document.plan.wishes.owned))
        self._document.insert(place, Owned(gpu=gpu, count=8), _("Owned cards"))
