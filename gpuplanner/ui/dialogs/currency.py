"""The plan's base currency and its exchange rates."""

from pydantic import ValidationError
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QLabel, QVBoxLayout, QWidget

from gpuplanner.i18n import N_, _
from gpuplanner.model import edit
from gpuplanner.model.plan import ExchangeRate, Plan
from gpuplanner.ui.document import PlanDocument, refusal
from gpuplanner.ui.fields import ChoiceField, DateField, FieldRow, NumberField

CURRENCIES = ("USD", "CNY", "EUR", "GBP", "JPY", "HKD", "TWD", "SGD", "KRW", "INR", "CHF", "CAD", "AUD")


def rebased(plan: Plan, currency: str) -> Plan:
    """The plan with another base currency and its exchange rates restated for it.

    Amounts keep their own currency. Rates that cannot be restated go; the catalog's then count.
    """
    if currency == plan.currency:
        return plan
    own = {rate.currency: rate for rate in plan.exchange_rates}
    per_base = own[currency].per_base if currency in own else None
    rates = []
    if per_base is not None:
        rates.append(ExchangeRate(currency=plan.currency, per_base=1 / per_base, date=own[currency].date))
        rates += [
            ExchangeRate(currency=rate.currency, per_base=rate.per_base / per_base, date=rate.date)
            for rate in plan.exchange_rates
            if rate.currency != currency
        ]
    return edit.replace(edit.replace(plan, ("exchange_rates",), tuple(rates)), ("currency",), currency)


class CurrencyDialog(QDialog):
    """Chooses the base currency and states rates; the plan changes once, when the dialog is accepted."""

    def __init__(self, document: PlanDocument, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._document, self._plan = document, document.plan
        self.setWindowTitle(_("Currency and exchange rates"))
        codes = dict.fromkeys((*CURRENCIES, document.plan.currency))
        self.base = ChoiceField(self._set_base, [(code, code) for code in codes])
        self.other = ChoiceField(self._choose_other, [(code, code) for code in codes])
        self._currency = "CNY" if document.plan.currency != "CNY" else "USD"
        self.rate = NumberField(self._set_rate, blank=None, step=0.1)
        self.day = DateField(self._set_day, blank=None)
        said = QLabel(_("Amounts keep the currency they were entered in. A blank rate: the catalog's, which is dated."))
        said.setTextFormat(Qt.TextFormat.PlainText)
        said.setWordWrap(True)
        said.setProperty("tone", "second")
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 14, 16, 14)
        column.addWidget(said)
        for label, field in (
            (N_("Base currency"), self.base),
            (N_("Exchange rate of"), self.other),
            (N_("One unit of the base buys"), self.rate),
            (N_("On the day"), self.day),
        ):
            column.addWidget(FieldRow(label, field, "", 132, 0))
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Ok | QDialogButtonBox.StandardButton.Cancel)
        buttons.button(QDialogButtonBox.StandardButton.Ok).setText(_("Apply"))
        buttons.button(QDialogButtonBox.StandardButton.Cancel).setText(_("Cancel"))
        buttons.accepted.connect(self.accept)
        buttons.rejected.connect(self.reject)
        column.addStretch(1)
        column.addWidget(buttons)
        self.setMinimumWidth(380)
        self._show()

    def accept(self) -> None:
        """Make the changes one step of the plan."""
        plan = self._plan
        edits = [(("exchange_rates",), plan.exchange_rates), (("currency",), plan.currency)]
        self._document.apply(edits, _("Currency and exchange rates"))
        super().accept()

    def _set_base(self, code: str) -> str | None:
        self._plan = rebased(self._plan, code)
        if self._currency == code:
            self._currency = next(each for each in CURRENCIES if each != code)
        self._show()
        return None

    def _choose_other(self, code: str) -> str | None:
        if code != self._plan.currency:
            self._currency = code
        self._show()
        return None

    def _own(self) -> ExchangeRate | None:
        return next((rate for rate in self._plan.exchange_rates if rate.currency == self._currency), None)

    def _with(self, rate: ExchangeRate | None) -> None:
        kept = tuple(each for each in self._plan.exchange_rates if each.currency != self._currency)
        rates = kept if rate is None else (*kept, rate)
        self._plan = edit.replace(self._plan, ("exchange_rates",), rates)

    def _set_rate(self, value: float | None) -> str | None:
        own = self._own()
        try:
            made = (
                None
                if value is None
                else ExchangeRate(currency=self._currency, per_base=value, date=own.date if own else None)
            )
        except ValidationError as error:
            return refusal(error)
        self._with(made)
        self._show()
        return None

    def _set_day(self, day: str | None) -> str | None:
        own = self._own()
        if own is None:
            return _("State the rate first.")
        self._with(edit.replace(own, ("date",), day))
        self._show()
        return None

    def _show(self) -> None:
        self.base.show_value(self._plan.currency)
        self.other.show_value(self._currency)
        own = self._own()
        self.rate.show_value(own.per_base if own else None)
        self.rate.show_blank(_("the catalog's"))
        self.day.show_value(own.date if own else None)
        self.day.show_blank(_("not set"))
