"""The site panel: the room's power, circuits, racks and cooling."""

from typing import Any

from gpuplanner.i18n import N_, _
from gpuplanner.i18n import format as words
from gpuplanner.model.plan import Plan
from gpuplanner.model.results import Results
from gpuplanner.ui.document import Editor, PlanDocument
from gpuplanner.ui.evaluation import Evaluation
from gpuplanner.ui.fields import ChoiceField, NumberField, QuantityField, auto_text
from gpuplanner.ui.form import FieldColumns
from gpuplanner.ui.theme import ThemeSource

COOLING = (
    ("split", N_("split units")),
    ("crac", N_("room air units")),
    ("containment", N_("aisle containment")),
    ("in-row", N_("in-row coolers")),
    ("rear-door", N_("rear-door coolers")),
    ("free-air", N_("free air")),
    ("direct-liquid", N_("direct liquid")),
    ("immersion", N_("immersion")),
    ("colocation", N_("colocation")),
)
PLUGS = (
    ("CN", N_("China")),
    ("EU", N_("Europe")),
    ("UK", N_("Britain")),
    ("US", N_("USA")),
    ("JP", N_("Japan")),
    ("other", N_("other")),
)


class SitePanel(FieldColumns):
    """Edits every field of the plan's site."""

    def __init__(self, document: PlanDocument, evaluation: Evaluation, theme: ThemeSource) -> None:
        super().__init__()
        self._document, self._evaluation = document, evaluation
        self.fields: dict[str, Any] = {}
        self.section(N_("Power"))
        self._quantity("power_w", N_("Power available"), "kW", blank=None, hint=N_("What the feed of the room gives."))
        self._number("feeds", N_("Feeds"), hint=N_("Two feeds share the load; each must carry all of it alone."))
        self._quantity("ups_w", N_("UPS"), "kW", blank=None)
        self._quantity("pue", N_("PUE"), "count", "", blank="auto", step=0.05, hint=N_("Facility power over IT power."))
        self.section(N_("Circuits"))
        self._choice("plug_region", N_("Plugs"), PLUGS)
        self._quantity("volts", N_("Voltage"), "count", "V", step=10)
        self._quantity("amps", N_("Breaker"), "count", "A")
        self._choice("phases", N_("Phases"), ((1, N_("one")), (3, N_("three"))))
        hint = N_("Share of a breaker that may be used all the time.")
        self._quantity("continuous_factor", N_("Continuous load"), "%", hint=hint)
        self.section(N_("Racks"))
        self._number("racks", N_("Racks"), blank=None)
        self._quantity("rack_power_w", N_("Power per rack"), "kW", blank=None)
        self._number("rack_units", N_("Height"), unit="U")
        self._quantity("rack_weight_kg", N_("Weight per rack"), "kg", blank=None, step=10)
        self.section(N_("Cooling"))
        self._choice("cooling", N_("Kind"), COOLING)
        hint = N_("Heat that can be removed. Tons of refrigeration may be typed: 10 tons.")
        self._quantity("cooling_w", N_("Capacity"), "kW", blank=None, hint=hint)
        self._quantity("supply_c", N_("Supply air"), "°C")
        self._quantity("altitude_m", N_("Altitude"), "m", N_("m"), step=100)
        document.plan_changed.connect(self.show_plan)
        evaluation.results_changed.connect(self._show_results)
        document.selection_changed.connect(lambda _letter: self._show_results(evaluation.results))
        self.retranslate()

    def show_plan(self, plan: Plan) -> None:
        """Write the site into the fields."""
        for name, field in self.fields.items():
            field.show_value(getattr(plan.site, name))

    def retranslate(self) -> None:
        """Show all words in the language in force."""
        super().retranslate()
        for name, field in self.fields.items():
            if name != "pue" and hasattr(field, "show_blank"):
                field.show_blank(_("not known"))
        self.show_plan(self._document.plan)
        self._show_results(self._evaluation.results)

    def _show_results(self, results: Results | None) -> None:
        scenario = results.scenario(self._document.selected) if results is not None else None
        value = scenario.room.pue.value if scenario is not None else None
        field = self.fields["pue"]
        field.show_blank(auto_text("" if value is None else words.number(value)))

    def _editor(self, name: str, label: str) -> Editor:
        return self._document.editor(("site", name), lambda: _(label))

    def _quantity(
        self, name: str, label: str, unit: str, word: str | None = None, hint: str = "", **options: Any
    ) -> None:
        field = QuantityField(self._editor(name, label), unit, **options)
        self.fields[name] = field
        self.row(label, field, unit if word is None else word, hint=hint)

    def _number(self, name: str, label: str, unit: str = "", hint: str = "", **options: Any) -> None:
        field = NumberField(self._editor(name, label), whole=True, **options)
        self.fields[name] = field
        self.row(label, field, unit, hint=hint)

    def _choice(self, name: str, label: str, items: tuple[tuple[Any, str], ...]) -> None:
        field = ChoiceField(self._editor(name, label), items)
        self.fields[name] = field
        self.row(label, field, wide=True)
