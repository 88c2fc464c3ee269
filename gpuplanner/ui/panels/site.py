"""The site panel: the room's power, circuits, racks and cooling, and what the selected scenario needs of them."""

from typing import Any, NamedTuple

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QLabel, QWidget

from gpuplanner.i18n import N_, _, facts
from gpuplanner.i18n import format as words
from gpuplanner.model.plan import Plan
from gpuplanner.model.results import ClimateResult, Figure, Results, RoomResult, SupplyResult
from gpuplanner.ui.document import Editor, PlanDocument
from gpuplanner.ui.evaluation import Evaluation
from gpuplanner.ui.fields import ChoiceField, NumberField, QuantityField, auto_text, plain_tip
from gpuplanner.ui.form import ROW_WIDTH, SPACE_BETWEEN, FieldColumns
from gpuplanner.ui.theme import ThemeSource
from gpuplanner.units import KILO, LITRES_PER_M3, M3_H_PER_CFM, SECONDS_PER_HOUR, SECONDS_PER_MINUTE

_J_PER_MWH = 3.6e9
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
# What a server does when one of two feeds fails; what the air at its inlet is to it.
FEED_LOSS = {
    "holds": N_("servers go on"), "slows": N_("servers slow down"), "stops": N_("servers stop"),
    "not known": N_("not known"),
}  # fmt: skip
ENVELOPE = {"recommended": N_("recommended"), "allowable": N_("allowed"), "outside": N_("not allowed")}
COOLANT = {"water": N_("water"), "glycol": N_("water with glycol")}
_AUTO = ("volts", "amps", "phases", "air_rise_k", "coolant_rise_k", "pue")


class Need(NamedTuple):
    """A name, its figure, and how the figure comes about."""

    name: str
    value: str
    hint: str = ""


class _NeedLine(QWidget):
    """A name and its figure, as wide as a row of a field."""

    def __init__(self) -> None:
        super().__init__()
        self.setFixedWidth(ROW_WIDTH)
        self.name, self.value = QLabel(), QLabel()
        self.name.setProperty("tone", "second")
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        for label in (self.name, self.value):
            label.setTextFormat(Qt.TextFormat.PlainText)
            row.addWidget(label)
        row.insertStretch(1, 1)


class Needs(QWidget):
    """Names and figures that nobody can edit, in two columns."""

    def __init__(self) -> None:
        super().__init__()
        self._needs: list[_NeedLine] = []
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 2, 0, 0)
        self._grid.setHorizontalSpacing(SPACE_BETWEEN)
        self._grid.setVerticalSpacing(5)

    def show_lines(self, lines: list[Need]) -> None:
        """Show these names and figures in place of those before."""
        while len(self._needs) < len(lines):
            self._needs.append(_NeedLine())
        half = -(-len(lines) // 2)
        for at, need in enumerate(self._needs):
            if at < len(lines):
                need.name.setText(lines[at].name)
                need.value.setText(lines[at].value)
                need.setToolTip(plain_tip(lines[at].hint) if lines[at].hint else "")
                self._grid.addWidget(need, at % half, at // half)
            need.setVisible(at < len(lines))

    def lines(self) -> list[tuple[str, str]]:
        """What is shown."""
        return [(need.name.text(), need.value.text()) for need in self._needs if not need.isHidden()]


def supply_lines(supply: SupplyResult) -> list[Need]:
    """What a scenario needs of the electricity of its room, in words."""
    circuits = words.NOT_KNOWN if supply.circuits is None else words.count(supply.circuits)
    kind = _("{volts} V, {amps} A").format(volts=words.exact(supply.volts), amps=words.exact(supply.amps))
    hint = _("A circuit takes whole servers by their nameplates; each feed has circuits for all of them.")
    lines = [Need(_("Circuits of {kind}").format(kind=kind), circuits, hint)]
    fullest = [one.circuits_per_rack for one in supply.groups if one.circuits_per_rack is not None]
    if fullest:
        lines.append(Need(_("Circuits of a full rack"), words.count(max(fullest)), hint))
    hint = _("Volts × amps, √3 times that on three phases, × continuous load × power factor of the servers.")
    lines.append(Need(_("One circuit carries"), words.power_kw(supply.circuit_w), hint))
    hint = _("The usual plug of this circuit in the region; a dash where there is none.")
    lines.append(Need(_("Plug"), supply.plug or words.NOT_KNOWN, hint))
    if cords := " + ".join(dict.fromkeys(one.cord for one in supply.groups if one.cord)):
        lines.append(Need(_("Cords of the servers"), cords, _("Carries one power supply at its full output.")))
    if effects := " + ".join(dict.fromkeys(_(FEED_LOSS[one.feed_loss]) for one in supply.groups)):
        hint = _("The power supplies that are left, against the nameplate of the server.")
        lines.append(Need(_("If one feed is lost"), effects, hint))
    for one in supply.groups[:1]:
        lines.append(Need(_("One server at load"), words.power_kw(one.server_w.value), _parts(one.server_w)))
    hint = _("Nameplates of all equipment and the losses of the PDU, by the power factor.")
    lines.append(Need(_("UPS"), _kva(supply.ups_va.value), hint))
    if supply.ups_modules:
        modules = _("{count} modules of {power}").format(
            count=words.count(supply.ups_modules), power=words.power_kw(supply.ups_module_w)
        )
        lines.append(Need(_("UPS with a spare"), modules, hint))
    hint = _("Nameplates of all equipment × PUE, by the power factor, and a quarter more.")
    lines.append(Need(_("Generator"), _kva(supply.generator_va.value), hint))
    lines.append(Need(_("Whole site at peak"), words.power_kw(supply.peak_w.value), _parts(supply.peak_w)))
    year = None if supply.energy_per_year_j.value is None else supply.energy_per_year_j.value / _J_PER_MWH
    hint = _("Average power × PUE × 8,760 hours.")
    return [*lines, Need(_("Energy a year"), _("{energy} MWh").format(energy=words.number(year)), hint)]


def cooling_lines(room: RoomResult, climate: ClimateResult) -> list[Need]:
    """Where the heat of a scenario goes, in words."""
    power = words.power_kw(room.heat_w.value)
    heat = None if room.heat_btu_h.value is None else room.heat_btu_h.value / KILO
    flow = None if room.airflow_m3_s.value is None else room.airflow_m3_s.value * SECONDS_PER_HOUR
    air = _("{flow} m³/h, {cfm} CFM").format(
        flow=_rounded(flow), cfm=_rounded(None if flow is None else flow / M3_H_PER_CFM)
    )
    in_air = _("Of the heat of the equipment. A rear door takes it out of the air again.")
    carries = _("Heat ÷ (density × heat capacity × rise); thin air at altitude carries less.")
    lines = [
        Need(_("Heat"), _("{power}, {heat} kBTU/h").format(power=power, heat=words.number(heat))),
        Need(_("Refrigeration"), _("{tons} tons").format(tons=words.number(room.cooling_tons.value))),
        Need(_("Heat that stays in the air"), words.percent(climate.air_share.value), in_air),
        Need(_("Air"), air, carries),
        Need(_("Air warms by"), _("{kelvin} K").format(kelvin=_short("air_rise_k", climate.air_rise_k))),
    ]
    if climate.coolant and climate.coolant_flow_m3_s.value is not None:
        litres = climate.coolant_flow_m3_s.value * LITRES_PER_M3 * SECONDS_PER_MINUTE
        name = _("Flow of {liquid}").format(liquid=_(COOLANT[climate.coolant]))
        lines.append(Need(name, _("{flow} L/min").format(flow=words.number(litres)), carries))
    if climate.envelope:
        hint = _("ASHRAE recommends 18 to 27 °C.")
        lines.append(Need(_("Supply air"), _(ENVELOPE[climate.envelope]), hint))
    if climate.inlet_max_c is not None:
        warmest = _("up to {warmest} °C").format(warmest=words.exact(round(climate.inlet_max_c, 1)))
        warmest = f"{warmest} ({climate.air_class})" if climate.air_class else warmest
        hint = _("The lowest limit among the servers, less what thin air takes above 900 m.")
        lines.append(Need(_("Servers allow"), warmest, hint))
    hint = _("As typed, else what is usual for this kind of cooling.")
    lines.append(Need(_("A rack carries"), words.power_kw(climate.rack_limit_w), hint))
    if room.network_racks:
        lines.append(Need(_("Racks for switches alone"), words.count(room.network_racks)))
    return [*lines, Need(_("Racks"), words.count(room.racks))]


def _parts(figure: Figure) -> str:
    """What a power is made of, one part a line."""
    return "\n".join(
        _("{name}: {power}").format(name=facts.part(part.name), power=words.power_kw(part.value))
        for part in figure.parts
        if part.value > 0
    )


def _kva(value: float | None) -> str:
    return _("{power} kVA").format(power=words.NOT_KNOWN if value is None else words.number(value / KILO))


def _short(name: str, value: float) -> str:
    """What "auto" comes to, short enough for its field."""
    return (
        words.count(value)
        if name in ("volts", "amps")
        else words.exact(float(f"{value:.2g}" if name != "pue" else f"{value:.3g}"))
    )


def _rounded(value: float | None) -> str:
    return words.NOT_KNOWN if value is None else words.count(float(f"{value:.3g}"))


class SitePanel(FieldColumns):
    """Edits every field of the plan's site, and shows what the selected scenario needs of the room."""

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
        self._quantity("volts", N_("Voltage"), "count", "V", blank="auto", step=10)
        self._quantity("amps", N_("Breaker"), "count", "A", blank="auto")
        self._choice("phases", N_("Phases"), (("auto", N_("auto")), (1, N_("one")), (3, N_("three"))))
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
        hint = N_("Outlet less inlet of the servers. A smaller rise asks for more air.")
        self._quantity("air_rise_k", N_("Air rise"), "count", "K", blank="auto", hint=hint)
        hint = N_("Outlet less inlet of the liquid. A smaller rise asks for more flow.")
        self._quantity("coolant_rise_k", N_("Liquid rise"), "count", "K", blank="auto", hint=hint)
        self.begin_row()
        self.section(N_("Supply that is needed"))
        self.supply = self.put(Needs())
        self.section(N_("Cooling that is needed"))
        self.cooling = self.put(Needs())
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
            if name not in _AUTO and hasattr(field, "show_blank"):
                field.show_blank(_("not known"))
        self.show_plan(self._document.plan)
        self._show_results(self._evaluation.results)

    def _show_results(self, results: Results | None) -> None:
        scenario = results.scenario(self._document.selected) if results is not None else None
        room = scenario.room if scenario is not None else None
        supply = room.supply if room is not None else None
        climate = room.climate if room is not None else None
        usual = {
            "pue": None if room is None else room.pue.value,
            "volts": None if supply is None else supply.volts,
            "amps": None if supply is None else supply.amps,
            "air_rise_k": None if climate is None else climate.air_rise_k,
            "coolant_rise_k": None if climate is None else climate.coolant_rise_k,
        }
        for name, value in usual.items():
            self.fields[name].show_blank(auto_text("" if value is None else _short(name, value)))
        phases = {None: "", 1: _("one"), 3: _("three")}[None if supply is None else supply.phases]
        self.fields["phases"].show_blank(auto_text(phases))
        self.supply.show_lines([] if supply is None else supply_lines(supply))
        self.cooling.show_lines([] if room is None or climate is None else cooling_lines(room, climate))

    def _editor(self, name: str, label: str) -> Editor:
        return self._document.editor(("site", name), lambda: _(label))

    def _quantity(
        self, name: str, label: str, unit: str, word: str | None = None, hint: str = "", **options: Any
    ) -> None:
        field = QuantityField(self._editor(name, label), unit, **options)
        self.fields[name] = field
        self.row(label, field, unit if word is None else word, hint=hint, automatic=options.get("blank") == "auto")

    def _number(self, name: str, label: str, unit: str = "", hint: str = "", **options: Any) -> None:
        field = NumberField(self._editor(name, label), whole=True, **options)
        self.fields[name] = field
        self.row(label, field, unit, hint=hint)

    def _choice(self, name: str, label: str, items: tuple[tuple[Any, str], ...]) -> None:
        field = ChoiceField(self._editor(name, label), items)
        self.fields[name] = field
        self.row(label, field, wide=True)
