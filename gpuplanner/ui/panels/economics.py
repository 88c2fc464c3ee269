"""The economics panel: how money is counted, and the budget."""

from typing import Any

from gpuplanner.i18n import N_, _
from gpuplanner.i18n import format as words
from gpuplanner.model.plan import Plan
from gpuplanner.ui.document import Editor, PlanDocument
from gpuplanner.ui.evaluation import Evaluation
from gpuplanner.ui.fields import ChoiceField, MoneyField, QuantityField, auto_text
from gpuplanner.ui.form import FieldColumns
from gpuplanner.ui.theme import ThemeSource


class EconomicsPanel(FieldColumns):
    """Edits every field of the plan's economics, and the budget."""

    def __init__(self, document: PlanDocument, evaluation: Evaluation, theme: ThemeSource) -> None:
        super().__init__()
        self._document = document
        self.fields: dict[str, Any] = {}
        self.wishes: dict[str, Any] = {}
        self.section(N_("Budget"))
        self.wishes["budget"] = MoneyField(self._wish("budget", N_("Budget")), blank=None)
        self.row(N_("Budget"), self.wishes["budget"], wide=True)
        self.wishes["budget_covers"] = ChoiceField(
            self._wish("budget_covers", N_("Budget covers")),
            (("purchase", N_("purchase")), ("term", N_("whole term"))),
        )
        self.row(N_("Covers"), self.wishes["budget_covers"], wide=True)
        self.section(N_("Term"))
        self._quantity("term_years", N_("Term"), "count", N_("years"), step=0.5)
        hint = N_("What a year's delay of a payment is worth.")
        self._quantity("discount_rate", N_("Discount rate"), "%", hint=hint)
        hint = N_("Share of the purchase price that comes back at the end of the term.")
        self._quantity("resale_share", N_("Resale"), "%", blank="auto", hint=hint)
        self.section(N_("Running"))
        self._money("electricity_per_kwh", N_("Electricity"), N_("/kWh"))
        self._quantity("duty_cycle", N_("Duty cycle"), "%", blank="auto", hint=N_("Share of the time under load."))
        self._money("staff_per_year", N_("Staff"), N_("/year"))
        hint = N_("Share of the purchase price each year.")
        self._quantity("maintenance_share", N_("Maintenance"), "%", blank="auto", hint=hint)
        self._quantity("failure_rate_per_year", N_("Failures"), "%", N_("%/year"), blank="auto")
        self.section(N_("To compare with"))
        self._money("cloud_per_gpu_hour", N_("Cloud price"), N_("/GPU-h"))
        document.plan_changed.connect(self.show_plan)
        self.retranslate()

    def show_plan(self, plan: Plan) -> None:
        """Write economics and budget into the fields."""
        for record, fields in ((plan.economics, self.fields), (plan.wishes, self.wishes)):
            for name, field in fields.items():
                if isinstance(field, MoneyField):
                    field.show_currency(plan.currency)
                field.show_value(getattr(record, name))

    def retranslate(self) -> None:
        """Show all words in the language in force."""
        super().retranslate()
        for name, field in self.fields.items():
            field.show_blank(auto_text(self._class_value(name)))
        self.wishes["budget"].show_blank(_("no limit"))
        self.show_plan(self._document.plan)

    def _class_value(self, name: str) -> str:
        """What a blank field comes to, where the catalog has one value for it."""
        key = {"resale_share": "resale_share", "maintenance_share": "maintenance_share", "duty_cycle": "duty_cycle"}
        for assumption in self._document.catalog.assumptions:
            if assumption.key == key.get(name) and assumption.applies_to in ("all", "any", "*"):
                return words.percent(assumption.value)
        return ""

    def _editor(self, name: str, label: str) -> Editor:
        return self._document.editor(("economics", name), lambda: _(label))

    def _wish(self, name: str, label: str) -> Editor:
        return self._document.editor(("wishes", name), lambda: _(label))

    def _quantity(
        self, name: str, label: str, unit: str, word: str | None = None, hint: str = "", **options: Any
    ) -> None:
        field = QuantityField(self._editor(name, label), unit, **options)
        self.fields[name] = field
        self.row(label, field, unit if word is None else word, hint=hint)

    def _money(self, name: str, label: str, unit: str) -> None:
        field = MoneyField(self._editor(name, label), blank="auto")
        self.fields[name] = field
        self.row(label, field, unit)
