"""The page of the network: a drawing of its tiers, what cards wait for, exchanges, other fabrics, and the parts."""

from functools import partial

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFrame, QGridLayout, QHBoxLayout, QLabel, QPushButton, QSizePolicy, QVBoxLayout, QWidget

from gpuplanner.i18n import N_, _, facts, format, ngettext
from gpuplanner.model import interconnect
from gpuplanner.model.comparison import scenario_name
from gpuplanner.model.interconnect import FabricOption
from gpuplanner.model.plan import Plan, Scenario
from gpuplanner.model.results import FabricResult, Results, ScenarioResult, ServeResult, TrainResult
from gpuplanner.ui.background import Background
from gpuplanner.ui.charts.drawing import device_name
from gpuplanner.ui.charts.network import NetworkCanvas, link_words
from gpuplanner.ui.document import PlanDocument
from gpuplanner.ui.evaluation import Evaluation
from gpuplanner.ui.pages import Page
from gpuplanner.ui.text_table import Cell, Column, TextTable
from gpuplanner.ui.theme import Theme, ThemeSource
from gpuplanner.units import GIGA, KILO, MEGA

SIDE_LEAST, SIDE_MOST = 480, 620
_PHASES = {"decode": N_("Decode step"), "prefill": N_("Chunk of prompts"), "gradients": N_("Gradients")}
_OPERATIONS = {"all_reduce": N_("all-reduce"), "reduce_scatter": N_("reduce-scatter")}
_PARTS = {
    "switch": N_("Switch"),
    "leaf": N_("Leaf switch"),
    "spine": N_("Spine switch"),
    "core": N_("Core switch"),
    "nic": N_("Network card"),
    "copper": N_("Copper cable"),
    "transceiver": N_("Transceiver"),
    "fibre": N_("Fibre cable"),
}


class NetworkPage(Page):
    """Left the drawing over links and exchanges, right facts, fabrics in comparison and the table of parts."""

    def __init__(self, document: PlanDocument, evaluation: Evaluation, theme: ThemeSource) -> None:
        super().__init__(theme)
        self._document, self._evaluation = document, evaluation
        self._compared: tuple[Plan, str] | None = None
        self._options: tuple[FabricOption, ...] = ()
        self.canvas = NetworkCanvas(theme)
        self.canvas.setMinimumHeight(260)
        self.canvas.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.canvas.chosen.connect(lambda _key: self._show_facts())
        self.links, self.exchanges = TextTable(theme), TextTable(theme)
        self.options, self.parts = TextTable(theme), TextTable(theme)
        self._titles = {name: QLabel() for name in ("network", "links", "exchanges", "facts", "options", "parts")}
        for label in self._titles.values():
            label.setTextFormat(Qt.TextFormat.PlainText)
            label.setContentsMargins(12, 8, 12, 2)
            label.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.copy_button = QPushButton()
        self.copy_button.setProperty("link", "true")
        self.copy_button.clicked.connect(self.copy)
        self.facts = _Facts()
        self._pricing = QLabel()
        self._pricing.setWordWrap(True)
        self._pricing.setContentsMargins(12, 2, 12, 4)
        self._pricing.setProperty("tone", "third")
        self._pricing.setTextFormat(Qt.TextFormat.PlainText)

        left = QVBoxLayout()
        left.setSpacing(8)
        left.addWidget(_card(self._titles["network"], self.canvas), 1)
        left.addWidget(_card(self._titles["links"], self.links))
        self._exchange_card = _card(self._titles["exchanges"], self.exchanges)
        left.addWidget(self._exchange_card)
        right = QVBoxLayout()
        right.setSpacing(8)
        right.setContentsMargins(0, 0, 0, 0)
        right.addWidget(_card(self._titles["facts"], self.facts))
        self._options_card = _card(self._titles["options"], self.options)
        right.addWidget(self._options_card)
        head = QHBoxLayout()
        head.setContentsMargins(0, 0, 8, 0)
        head.addWidget(self._titles["parts"], 1)
        head.addWidget(self.copy_button)
        self._parts_card = _card(head, self.parts, self._pricing)
        right.addWidget(self._parts_card, 1)
        side = QWidget()
        side.setLayout(right)
        side.setMinimumWidth(SIDE_LEAST)
        side.setMaximumWidth(SIDE_MOST)
        line = QHBoxLayout()
        line.setSpacing(8)
        line.addLayout(left, 3)
        line.addWidget(side, 2)
        self.body.addLayout(line, 1)

        self.work = Background(self)
        self.work.ready.connect(self._arrived)
        document.selection_changed.connect(self._refresh)
        evaluation.results_changed.connect(self._refresh)
        theme.changed.connect(lambda _theme: self.canvas.update())

    # --- showing -----------------------------------------------------------------

    def retranslate(self) -> None:
        """Show all words in the language in force."""
        for name, text in (
            ("network", _("Network")), ("links", _("Links, and how long cards wait for them")),
            ("exchanges", _("Exchanges of a run, each by itself")), ("options", _("The same plan with another fabric")),
            ("parts", _("Network parts")),
        ):  # fmt: skip
            self._titles[name].setFont(Theme.font(12, 600))
            self._titles[name].setText(text)
        self._titles["facts"].setFont(Theme.font(12, 600))
        self._pricing.setFont(Theme.font(11, 400))
        self.copy_button.setText(_("Copy table"))
        self.copy_button.setToolTip(_("Copy the parts, tab-separated, for a spreadsheet"))
        for table, name in (
            (self.links, _("Links")), (self.exchanges, _("Exchanges")), (self.options, _("Fabrics in comparison")),
            (self.parts, _("Network parts")),
        ):  # fmt: skip
            table.setAccessibleName(name)
        self.canvas.setAccessibleName(_("Drawing of the network"))
        self.canvas.retranslate()
        self._refresh()

    def finish(self) -> None:
        self.work.finish()

    def showEvent(self, event: object) -> None:
        super().showEvent(event)  # type: ignore[arg-type]
        self._refresh()

    def copy(self) -> None:
        """Put the parts on the clipboard, tab-separated."""
        QGuiApplication.clipboard().setText(self.parts.tsv())

    def _found(self) -> tuple[Plan, Results, Scenario, ScenarioResult] | None:
        plan, results = self._evaluation.plan, self._evaluation.results
        if plan is None or results is None:
            return None
        scenario = next((one for one in plan.scenarios if one.letter == self._document.selected), None)
        entry = None if scenario is None else results.scenario(scenario.letter)
        return None if scenario is None or entry is None else (plan, results, scenario, entry)

    def _refresh(self, _changed: object = None) -> None:
        found = self._found()
        if found is None:
            self.show_title(_("Network"), _("No scenario to draw."))
            self.canvas.show_network("", None, (), (), None, False)
            for table in (self.links, self.exchanges, self.options, self.parts):
                table.show_rows((), ())
            self.facts.show_facts(())
            self._pricing.setText("")
            return
        plan, results, scenario, entry = found
        catalog = self._document.catalog
        links = interconnect.server_links(plan, scenario.letter, catalog)
        sentence = _("Scenario {letter}, {name}").format(letter=scenario.letter, name=scenario_name(scenario))
        self.show_title(_("Network"), sentence)
        self.canvas.show_network(
            scenario.letter, scenario, entry.room.fabrics, links, catalog.over(plan.entries), False
        )  # fmt: skip
        self.canvas.setAccessibleDescription("\n".join(box.spoken for box in self.canvas.drawing().boxes))
        self._show_facts()
        self._show_links(scenario, entry, links)
        self._show_parts(scenario, entry, results.currency)
        if self.isVisible():
            self._show_exchanges(plan, results, scenario)
            self._compare(plan, scenario.letter)

    def _fabric(self, entry: ScenarioResult) -> FabricResult | None:
        """The fabric of the box that is chosen, else the fastest."""
        chosen = next((box for box in self.canvas.drawing().boxes if box.key == self.canvas.selected), None)
        at = chosen.fabric if chosen is not None and chosen.fabric is not None else 0
        return entry.room.fabrics[at] if at < len(entry.room.fabrics) else None

    def _show_facts(self) -> None:
        found = self._found()
        fabric = None if found is None else self._fabric(found[3])
        if fabric is None:
            self._titles["facts"].setText(_("No network between servers"))
            self.facts.show_facts(())
            return
        switch = fabric.switch.partition(" (")[0]
        name = facts.word(fabric.fabric)
        self._titles["facts"].setText(f"{name} · {switch}" if switch else name)
        shown = [
            (_("Ports used"), _("{used} of {ports}").format(
                used=format.count(fabric.ports_used), ports=format.count(fabric.ports))),
            (_("Power"), _power(fabric.power_w.value or 0.0)),
            (_("Cables to servers"), format.count(fabric.cables_node_leaf)),
        ]  # fmt: skip
        if fabric.single_switch:
            self.facts.show_facts(((_("Switches"), format.count(1)), *shown))
            return
        tiers = [number for number in (fabric.leaf, fabric.spine, fabric.core) if number]
        switches = " + ".join(format.count(number) for number in tiers)
        slow, behind = fabric.slowdown, _("no")
        if slow.value is not None and slow.high is not None and slow.high > 1.0:
            behind = _("{value} (1 to {high})").format(value=format.ratio(slow.value), high=format.ratio(slow.high))
        self.facts.show_facts(
            (
                (_("Switches"), switches if len(tiers) < 2 else f"{switches} = {format.count(sum(tiers))}"), *shown,
                (_("Oversubscription"), f"{format.exact(fabric.oversubscription)} : 1"),
                (_("Slows traffic"), behind),
                (_("Leaf to spine"), format.count(fabric.cables_leaf_spine)),
                (_("Spine to core"), format.count(fabric.cables_spine_core)),
            )
        )  # fmt: skip

    def _show_links(
        self, scenario: Scenario, entry: ScenarioResult, links: tuple[interconnect.ServerLink, ...]
    ) -> None:
        columns = (
            Column(_("Link")), Column(_("Joins"), 96), Column(_("One way"), 146, True, True),
            Column(_("Cards wait"), 210, True),
        )  # fmt: skip
        catalog = self._document.catalog
        rows = []
        for link in links:
            group = scenario.groups[link.group]
            cards = ngettext("{count} card", "{count} cards", link.domain).format(count=format.count(link.domain))
            speed = "" if link.bytes_s is None else _("{rate} GB/s").format(rate=format.count(link.bytes_s / GIGA))
            waits = _waits(entry, (link.group,), False)
            name = _("{link} in {server}").format(link=facts.word(link.kind), server=device_name(group, catalog))
            rows.append((Cell(name, bold=True, tip=link_words(link)), Cell(cards), Cell(speed), waits))
        for fabric in entry.room.fabrics:
            servers = ngettext("{count} server", "{count} servers", fabric.servers)
            each = fabric.nics / fabric.servers * fabric.bits_s / 8.0 / GIGA
            speed = _("{rate} GB/s a server").format(rate=format.number(each))
            rows.append(
                (
                    Cell(facts.word(fabric.fabric), bold=True),
                    Cell(servers.format(count=format.count(fabric.servers))), Cell(speed),
                    _waits(entry, fabric.groups, True),
                )
            )  # fmt: skip
        self.links.show_rows(columns, rows)
        self.links.setFixedHeight(min(self.links.wanted_height(), 26 + 24 * 6))

    def _show_exchanges(self, plan: Plan, results: Results, scenario: Scenario) -> None:
        found = interconnect.collectives(plan, results, scenario.letter, self._document.catalog)
        columns = (
            Column(_("Exchange")), Column(_("Over"), 160, False, True), Column(_("Message"), 84, True),
            Column(_("Time"), 84, True), Column(_("Algorithm"), 92, True, True), Column(_("Bus"), 92, True),
        )  # fmt: skip
        rows = []
        for one in found:
            phase, operation = _(_PHASES[one.phase]), _(_OPERATIONS[one.operation])
            ranks = ngettext("{count} card", "{count} cards", one.ranks).format(count=format.count(one.ranks))
            times = "" if one.calls <= 1 else f" ×{format.count(one.calls)}"
            name = f"{phase}: {operation}{times}, {ranks}"
            mark = "≈ " if one.time_s.basis == "assumed" else ""
            time = mark + format.duration(one.time_s.value) if one.time_s.value is not None else format.NOT_KNOWN
            band = ""
            if one.time_s.low is not None and one.time_s.high is not None:
                band = _("{low} to {high}").format(
                    low=format.duration(one.time_s.low), high=format.duration(one.time_s.high)
                )
            rate = [_("{rate} GB/s").format(rate=format.number(each / GIGA)) for each in
                    (one.algorithm_bytes_s, one.bus_bytes_s)]  # fmt: skip
            rows.append(
                (
                    Cell(name, bold=True), Cell(facts.word(one.link)), Cell(_size(one.message_bytes)),
                    Cell(time, tip=band), Cell(rate[0]), Cell(rate[1]),
                )
            )  # fmt: skip
        self.exchanges.show_rows(columns, rows)
        self.exchanges.setFixedHeight(min(self.exchanges.wanted_height(), 26 + 24 * 5))
        self._exchange_card.setVisible(bool(rows))

    def _show_parts(self, scenario: Scenario, entry: ScenarioResult, currency: str) -> None:
        columns = (
            Column(_("Part")), Column(_("Count"), 64, True), Column(_("Each"), 84, True, True),
            Column(_("Price"), 92, True), Column(_("Power"), 80, True),
        )  # fmt: skip
        lines = [line for line in entry.money.lines if line.key.startswith("network_")]
        rows = []
        billed = iter(lines)
        for fabric in entry.room.fabrics:
            # The bill lists every part of the fabrics that are bought, in this order.
            bought = any(scenario.groups[i].condition in ("new", "used") for i in fabric.groups)
            if not any(part.key == "nic" for part in fabric.parts):
                name = _("Network card, {speed} Gb/s").format(speed=format.count(fabric.bits_s / GIGA))
                rows.append(
                    (Cell(name), Cell(format.count(fabric.nics), bold=True), Cell(""),
                     Cell(_("in server"), "second", tip=_("The price of the server covers it.")), Cell("", "second"))
                )  # fmt: skip
            for part in fabric.parts:
                line = next(billed, None) if bought else None
                kind, name = _(_PARTS[part.key]), part.name.partition(" (")[0]
                if part.key in ("copper", "fibre", "nic") or not name:
                    kind, name = (
                        "",
                        _("{part}, {speed} Gb/s").format(
                            part=_(_PARTS[part.key]), speed=format.count(part.bits_s / GIGA)
                        ),
                    )
                each, price = Cell(format.NOT_KNOWN, "second"), Cell(format.NOT_KNOWN, "second")
                if line is not None and line.amount.value is not None and line.unit_price.value is not None:
                    mark = "≈ " if line.unit_price.basis == "assumed" else ""
                    each = Cell(mark + format.money(line.unit_price.value, currency))
                    price = Cell(mark + format.money(line.amount.value, currency), bold=True)
                watts = part.power_w.value or 0.0
                rows.append(
                    (Cell(f"{kind} {name}".strip(), tip=part.name), Cell(format.count(part.number), bold=True), each,
                     price, Cell(_power(watts) if watts else "", "second"))
                )  # fmt: skip
        self.parts.show_rows(columns, rows)
        self.parts.setVisible(bool(rows))
        self.copy_button.setEnabled(bool(rows))
        if not entry.room.fabrics:
            self._pricing.setText(_("No network between servers: there is one server, or others bring it."))
        elif not lines:
            self._pricing.setText(_("Nothing to buy: owned servers keep the network that they have."))
        else:
            self._pricing.setText(_("≈: a price of its class, not of this part."))

    # --- other fabrics -----------------------------------------------------------

    def _compare(self, plan: Plan, letter: str) -> None:
        if self._compared is not None and self._compared[0] is plan and self._compared[1] == letter:
            self._show_options()
            return
        self._compared, self._options = (plan, letter), ()
        self._show_options()
        self.work.start(partial(interconnect.fabrics_compared, plan, letter, self._document.catalog))

    def _arrived(self, options: tuple[FabricOption, ...]) -> None:
        self._options = options
        self._show_options()

    def _show_options(self) -> None:
        results = self._evaluation.results
        columns = (
            Column(_("Fabric")), Column(_("Speed, tok/s"), 100, True), Column(_("Waits"), 72, True),
            Column(_("Switches"), 64, True), Column(_("Power"), 72, True, True), Column(_("Price"), 80, True),
        )  # fmt: skip
        rows = []
        speeds = facts.scale("tokens_s", [one.speed.value for one in self._options])
        for one in self._options:
            name = _("{fabric}, in use").format(fabric=facts.word(one.fabric)) if one.in_use else facts.word(one.fabric)
            price = format.NOT_KNOWN
            if one.price.value is not None and results is not None:
                price = format.money(one.price.value, results.currency)
            rows.append(
                (
                    Cell(name, bold=one.in_use, tip=one.switch), Cell(speeds.value(one.speed.value)),
                    Cell(format.percent(one.wait)), Cell(format.count(one.switches)),
                    Cell(_power(one.power_w.value or 0.0)), Cell(price),
                )
            )  # fmt: skip
        self.options.show_rows(columns, rows)
        self.options.setFixedHeight(self.options.wanted_height())
        self._options_card.setVisible(bool(rows) or self.work.busy)


def _power(watts: float) -> str:
    return format.power_kw(watts) if watts >= KILO else _("{watts} W").format(watts=format.count(watts))


def _waits(entry: ScenarioResult, groups: tuple[int, ...], between: bool) -> Cell:
    """How long cards of these groups wait for their link, by what they do; the longest of several runs."""
    longest: dict[str, float] = {}
    runs: list[ServeResult | TrainResult] = [*entry.serve, *entry.train]
    for run in runs:
        if run.group in groups:
            for wait in run.waits:
                if wait.between_servers == between:
                    longest[wait.phase] = max(longest.get(wait.phase, 0.0), wait.share)
    said = {
        "decode": _("decode {share}"), "prefill": _("prefill {share}"), "step": _("training {share}"),
    }  # fmt: skip
    text = ", ".join(said[phase].format(share=format.percent(share)) for phase, share in longest.items())
    much = max(longest.values(), default=0.0) > 0.15
    return Cell(text or _("nothing"), "warn" if much else "" if text else "second")


def _size(size: float) -> str:
    if size >= GIGA:
        return _("{size} GB").format(size=format.number(size / GIGA))
    if size >= MEGA:
        return _("{size} MB").format(size=format.number(size / MEGA))
    return _("{size} kB").format(size=format.number(size / KILO))


class _Facts(QWidget):
    """Names with their figures in four columns."""

    def __init__(self) -> None:
        super().__init__()
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(12, 2, 12, 8)
        self._grid.setHorizontalSpacing(12)
        self._grid.setVerticalSpacing(2)
        self._pairs: list[tuple[QLabel, QLabel]] = []
        for at in range(8):
            pair = QLabel(), QLabel()
            pair[0].setProperty("tone", "second")
            for row, label in enumerate(pair):
                label.setTextFormat(Qt.TextFormat.PlainText)
                label.setMinimumWidth(20)
                self._grid.addWidget(label, (at // 4) * 2 + row, at % 4)
            self._pairs.append(pair)
        for column in range(4):
            self._grid.setColumnStretch(column, 1)

    def show_facts(self, shown: tuple[tuple[str, str], ...]) -> None:
        """Show at most eight."""
        for at, (name, value) in enumerate(self._pairs):
            text = shown[at] if at < len(shown) else ("", "")
            name.setFont(Theme.font(11, 400))
            value.setFont(Theme.font(12, 600))
            name.setText(text[0])
            value.setText(text[1])
            name.setVisible(bool(text[0]))
            value.setVisible(bool(text[0]))
            name.setToolTip(text[0])
            value.setToolTip(text[1])
        self.setVisible(bool(shown))
        self.setAccessibleName("; ".join(f"{name}: {value}" for name, value in shown))


def _card(*inside: QWidget | QHBoxLayout) -> QFrame:
    """A card that holds widgets and lines, one under the other."""
    frame = QFrame()
    frame.setProperty("card", True)
    column = QVBoxLayout(frame)
    column.setContentsMargins(1, 1, 1, 4)
    column.setSpacing(2)
    for each in inside:
        column.addWidget(each) if isinstance(each, QWidget) else column.addLayout(each)
    return frame
