"""One figure and what it rests on: its band, its verdict, the figures it is made of, and the sources."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QGuiApplication, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QFrame, QLabel, QPushButton, QScrollArea, QSizePolicy, QVBoxLayout, QWidget

from gpuplanner.i18n import _, facts, format
from gpuplanner.model import comparison
from gpuplanner.model.plan import Plan
from gpuplanner.model.results import Figure, Results, ScenarioResult, ServeResult, Status, TrainResult, exact
from gpuplanner.ui import icons
from gpuplanner.ui.document import PlanDocument
from gpuplanner.ui.evaluation import Evaluation
from gpuplanner.ui.theme import Theme, ThemeSource

ROW = 20
_PADDING = 12
_INDENT = 14


class Line(NamedTuple):
    """One figure of the derivation. ``depth`` 0 stands alone, 1 is part of the line above."""

    name: str
    value: str
    unit: str = ""
    band: str = ""
    basis: str = ""
    depth: int = 0


class Explained(NamedTuple):
    """What the panel shows of one figure."""

    letter: str
    title: str
    value: str
    unit: str
    low: str
    high: str
    ends: tuple[float, float, float] | None
    target: float | None
    target_text: str
    status: Status
    verdict: str
    basis: str
    lines: tuple[Line, ...]
    sources: tuple[str, ...]


def explained(
    plan: Plan, results: Results, workload_id: str, letter: str, key: str, catalog: Any = None,
    compared: Sequence[comparison.Row] | None = None,
) -> Explained | None:  # fmt: skip
    """Everything known about one figure; None if the results do not have it.

    `compared` are the rows of the comparison, where they are at hand.
    """
    entry = results.scenario(letter)
    if entry is None:
        return None
    if compared is None:
        compared = comparison.rows(plan, results, workload_id)
    rows = {row.key: row for row in compared}
    if key == "speed_ratio":
        return _ratio(plan, results, entry, rows, catalog)
    if key in _ROOM:
        return _of_room(key, plan, entry, catalog)
    row = rows.get(key)
    cell = row.cell(letter) if row is not None else None
    if row is None or cell is None:
        return None
    scale = facts.scale(row.kind, [cell.figure.value], results.currency)
    lines = (*_parts(cell.figure, scale), *_rests_on(key, plan, results, entry, workload_id))
    # A row of the table has little room; here the name stands alone.
    title = _("Output within targets") if key == "output" else facts.metric(key, row.numbers)
    return _made(letter, title, cell.figure, scale, row.target, row.better, cell.status, lines, plan, entry, catalog)


def _of_room(key: str, plan: Plan, entry: ScenarioResult, catalog: Any) -> Explained:
    """A figure that stands under the builder and has no row in the comparison."""
    field, kind = _ROOM[key]
    figure = getattr(entry.room, field)
    scale = facts.scale(kind, [figure.value])
    lines = (*_parts(figure, scale), *_power(entry))
    return _made(
        entry.letter, facts.metric(key), figure, scale, None, "low", "unknown", lines, plan, entry, catalog
    )  # fmt: skip


def _made(
    letter: str, title: str, figure: Figure, scale: facts.Scale, target: float | None, better: comparison.Better,
    status: Status, lines: tuple[Line, ...], plan: Plan, entry: ScenarioResult, catalog: Any,
) -> Explained:  # fmt: skip
    ends = None
    if figure.value is not None and figure.low is not None and figure.high is not None and figure.low < figure.high:
        ends = (figure.low, figure.value, figure.high)
    target_text = scale.value(target) if target is not None else ""
    need = (_("need {value}") if better == "high" else _("at most {value}")).format(value=target_text)
    unit = "" if scale.kind in ("headroom", "ratio") else scale.unit
    return Explained(
        letter, title, scale.value(figure.value), unit, scale.value(figure.low), scale.value(figure.high), ends,
        target, need if target is not None else "", status, _verdict(figure, target_text, better, status),
        facts.basis(figure.basis), lines, sources_of(plan, entry, catalog),
    )  # fmt: skip


def _verdict(figure: Figure, target: str, better: comparison.Better, status: Status) -> str:
    if figure.value is None:
        return facts.word(figure.note) if figure.note else facts.basis("not known")
    if not target:
        return ""
    if status == "ok":
        if better == "high":
            return _("Meets {target} even at the low end of the band.").format(target=target)
        return _("Stays within {target} even at the high end of the band.").format(target=target)
    if status == "warn":
        return _("Meets {target}; an end of the band does not.").format(target=target)
    return _("Misses {target}.").format(target=target)


def _line(name: str, figure: Figure, kind: str, currency: str = "", depth: int = 0) -> Line:
    scale = facts.scale(kind, [figure.value], currency)
    band = scale.band(figure.low, figure.high) if comparison.has_band(figure) else ""
    unit = "" if scale.kind in ("headroom", "ratio") else scale.unit
    return Line(name, scale.value(figure.value), unit, band, facts.basis(figure.basis), depth)


def _parts(figure: Figure, scale: facts.Scale) -> Iterable[Line]:
    return (Line(facts.part(part.name), scale.value(part.value), scale.unit, depth=1) for part in figure.parts)


def _rests_on(key: str, plan: Plan, results: Results, entry: ScenarioResult, workload_id: str) -> tuple[Line, ...]:
    """The figures that a figure follows from, as far as the results hold them."""
    serve = next((run for run in entry.serve if run.workload == workload_id), None)
    train = next((run for run in entry.train if run.workload == workload_id), None)
    if key in _SERVE and serve is not None:
        return tuple(_SERVE[key](serve, results))
    if key in _TRAIN and train is not None:
        return tuple(_TRAIN[key](train, plan))
    if key == "memory_used":
        return tuple(_memory(serve or train))
    if key in ("max_power", "heat"):
        return tuple(_power(entry))
    if key in _MONEY:
        return tuple(_MONEY[key](entry, plan))
    return ()


def _first_token(run: ServeResult, _results: Results) -> Iterable[Line]:
    yield _line(_("First token, idle server"), run.first_token_idle_s, "duration")
    yield _line(_("Prefill of one prompt"), run.prefill_s, "duration")
    yield Line(_("Utilisation at your demand"), format.percent(run.utilisation))
    yield Line(_("What binds"), facts.word(run.binds))


def _per_token(run: ServeResult, _results: Results) -> Iterable[Line]:
    yield _line(_("Decode step"), run.decode_step_s, "duration")
    yield Line(_("Requests in flight"), format.number(run.batch))
    yield Line(_("What binds"), facts.word(run.binds))


def _output(run: ServeResult, results: Results) -> Iterable[Line]:
    yield _line(_("Requests/s within targets"), run.requests_s, "count")
    yield _line(_("Output without targets"), run.output_tokens_s_limit, "tokens_s")
    yield Line(_("Requests in flight"), format.number(run.batch))
    yield Line(_("Requests the KV cache holds"), format.number(run.max_batch))
    yield Line(_("What binds"), facts.word(run.binds))


def _headroom(run: ServeResult, results: Results) -> Iterable[Line]:
    yield _line(facts.metric("output"), run.output_tokens_s, "tokens_s")
    demand = next((each for each in results.demands if each.workload == run.workload), None)
    if demand is not None and demand.output_tokens_s is not None:
        yield _line(_("Your demand at the peak"), exact(demand.output_tokens_s), "tokens_s")


def _energy(run: ServeResult, _results: Results) -> Iterable[Line]:
    yield _line(_("Power of one GPU"), run.gpu_power_w, "power")
    yield _line(facts.metric("output"), run.output_tokens_s, "tokens_s")


_SERVE: dict[str, Callable[[ServeResult, Results], Iterable[Line]]] = {
    "first_token": _first_token,
    "per_token": _per_token,
    "output": _output,
    "headroom": _headroom,
    "energy_per_million": _energy,
}


def _tokens(run: TrainResult, _plan: Plan) -> Iterable[Line]:
    yield _line(facts.metric("step"), run.step_s, "duration")
    if run.choice is not None and run.choice.global_batch:
        yield Line(_("Sequences in a step"), format.count(run.choice.global_batch))
    yield _line(facts.metric("mfu"), run.mfu, "share")
    yield Line(_("Share of communication"), format.percent(run.communication_share))
    yield Line(_("What binds"), facts.word(run.binds))


def _duration(run: TrainResult, _plan: Plan) -> Iterable[Line]:
    yield _line(facts.metric("tokens"), run.tokens_s, "tokens_s")
    if run.deadline_s is not None:
        yield _line(_("Time until the deadline"), exact(run.deadline_s), "duration")


_TRAIN: dict[str, Callable[[TrainResult, Plan], Iterable[Line]]] = {
    "tokens": _tokens,
    "step": _tokens,
    "mfu": _tokens,
    "duration": _duration,
    "gpu_hours": _duration,
    "energy_per_run": _duration,
}


def _memory(run: ServeResult | TrainResult | None) -> Iterable[Line]:
    memory = run.memory if run is not None else None
    if memory is None:
        return
    for name in ("weights", "kv_cache", "activations", "gradients", "optimizer", "runtime"):
        value = getattr(memory, name)
        if value:
            yield Line(facts.part(name), format.bytes_gib(value, unit=False), "GiB", depth=1)
    yield Line(facts.part("usable"), format.bytes_gib(memory.usable, unit=False), "GiB")
    yield Line(facts.part("capacity"), format.bytes_gib(memory.capacity, unit=False), "GiB")


def _power(entry: ScenarioResult) -> Iterable[Line]:
    room = entry.room
    for name, figure in ((facts.metric("load_power"), room.it_load_w), (_("Average power"), room.it_average_w)):
        yield _line(name, figure, "power")
    if room.network_w.value:
        yield _line(_("Network"), room.network_w, "power", depth=1)
    yield _line(facts.metric("nameplate"), room.it_nameplate_w, "power")
    yield _line(facts.metric("heat"), room.heat_w, "heat")
    yield Line(_("Cooling"), format.number(room.cooling_tons.value), _("tons"))
    for name, limit in room.limits:
        yield _line(facts.part(name), exact(limit), "power")


# Figures of the room that are shown outside the comparison: field of the results, kind of scale.
_ROOM = {
    "load_power": ("it_load_w", "power"),
    "nameplate": ("it_nameplate_w", "power"),
    "air": ("airflow_m3_s", "air"),
    "weight": ("weight_kg", "weight"),
}


def _purchase(entry: ScenarioResult, _plan: Plan) -> Iterable[Line]:
    for line in entry.money.lines:
        name = f"{format.exact(line.quantity)}× {line.name}" if line.name else facts.part(line.key)
        yield _line(name, line.amount, "money", entry.money.currency, depth=1)


def _total(entry: ScenarioResult, plan: Plan) -> Iterable[Line]:
    money = entry.money
    yield _line(facts.metric("purchase"), money.purchase, "money", money.currency)
    yield _line(_("Running cost of a year"), money.running_per_year, "money", money.currency)
    yield _line(_("of it electricity"), money.electricity_per_year, "money", money.currency, depth=1)
    if money.rent_per_year.value:
        yield _line(_("Rent of a year"), money.rent_per_year, "money", money.currency)
    yield _line(_("Resale at the end"), money.resale, "money", money.currency)
    yield Line(_("Term"), format.exact(plan.economics.term_years), _("years"), basis=facts.basis("input"))


def _breakeven(entry: ScenarioResult, _plan: Plan) -> Iterable[Line]:
    money = entry.money
    yield _line(facts.metric("purchase"), money.purchase, "money", money.currency)
    yield _line(_("Running cost of a year"), money.running_per_year, "money", money.currency)
    yield _line(_("Renting as much for a year"), money.cloud_per_year, "money", money.currency)


_MONEY: dict[str, Callable[[ScenarioResult, Plan], Iterable[Line]]] = {
    "purchase": _purchase,
    "total": _total,
    "per_million": _total,
    "per_run": _total,
    "breakeven": _breakeven,
}


def _ratio(
    plan: Plan, results: Results, entry: ScenarioResult, rows: dict[str, comparison.Row], catalog: Any
) -> Explained | None:
    row = rows.get("output") or rows.get("tokens")
    lines = []
    for letter in dict.fromkeys((entry.letter, results.baseline or "")):
        cell = row.cell(letter) if row is not None else None
        if row is not None and cell is not None:
            name = f"{letter} · {facts.metric(row.key)}"
            lines.append(_line(name, cell.figure, row.kind))
    title = facts.metric("speed_ratio", {"letter": results.baseline or ""})
    scale = facts.scale("ratio", ())
    figure = entry.speed_ratio
    status: Status = "ok" if figure.known else "unknown"
    return _made(entry.letter, title, figure, scale, None, "high", status, tuple(lines), plan, entry, catalog)


def sources_of(plan: Plan, entry: ScenarioResult, catalog: Any = None) -> tuple[str, ...]:
    """The documents behind the entries that a scenario uses, as pinned in the plan, each once."""
    scenario = next((each for each in plan.scenarios if each.letter == entry.letter), None)
    if scenario is None:
        return ()
    runs: tuple[ServeResult | TrainResult, ...] = (*entry.serve, *entry.train)
    choices = [run.choice for run in runs if run.choice is not None]
    names = [name for group in scenario.groups for name in (group.gpu, group.server, group.cpu)]
    names += [choice.llm for choice in choices] + [choice.runtime for choice in choices]
    known = {source.id: source for source in plan.entries.sources}
    pinned = (*plan.entries.gpus, *plan.entries.servers, *plan.entries.cpus, *plan.entries.llms, *plan.entries.runtimes)
    shipped = catalog.sources if catalog is not None else {}
    found: dict[str, None] = {}
    for record in pinned:
        if record.name not in names and record.id not in names:
            continue
        for key in record.sources:
            source = known.get(key) or shipped.get(key)
            if source is not None:
                words = [record.name, source.title or source.where]
                found.setdefault(", ".join([": ".join(words), *([format.date(source.date)] if source.date else [])]))
    return tuple(found)


class _Track(QWidget):
    """The value with its unit; beside it the band as a bar, the value a dot on it, the target an upright line."""

    def __init__(self) -> None:
        super().__init__()
        self.theme: Theme | None = None
        self._shown: Explained | None = None
        self.setFixedHeight(38)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def show_figure(self, shown: Explained, theme: Theme) -> None:
        self._shown, self.theme = shown, theme
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(160, 38)

    def paintEvent(self, _event: Any) -> None:
        shown, theme = self._shown, self.theme
        if shown is None or theme is None:
            return
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        flags = Qt.AlignmentFlag.AlignVCenter
        painter.setFont(theme.font(20, 600))
        painter.setPen(theme.text)
        painter.drawText(QRectF(0, 0, self.width(), self.height()), flags, shown.value)
        start = theme.metrics(20, 600).horizontalAdvance(shown.value) + 6
        painter.setFont(theme.font(12, 400))
        painter.setPen(theme.text3)
        painter.drawText(QRectF(start, 2, self.width(), self.height()), flags, shown.unit)
        start += theme.metrics(12, 400).horizontalAdvance(shown.unit) + 16
        if shown.ends is None or self.width() - start < 80:
            return
        low, value, high = shown.ends
        every = [low, value, high, *([shown.target] if shown.target is not None else [])]
        first, last = min(every), max(every)
        span = (last - first) or 1.0
        left, right = start + 20.0, self.width() - 20.0

        def x(of: float) -> float:
            return left + (right - left) * (of - first) / span

        y = 13.0
        painter.setPen(QPen(theme.line2, 1))
        painter.drawLine(QPointF(start, y), QPointF(self.width(), y))
        colour = theme.series_colour(shown.letter)
        pale = colour.lighter(100)
        pale.setAlphaF(0.4)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(pale)
        painter.drawRoundedRect(QRectF(x(low), y - 4, x(high) - x(low), 8), 4, 4)
        painter.setBrush(colour)
        painter.drawEllipse(QPointF(x(value), y), 5, 5)
        metrics = theme.metrics(10, 400)
        painter.setFont(theme.font(10, 400))
        taken = begun = -1.0
        for of, text, ink in (
            *([(shown.target, shown.target_text, theme.fail)] if shown.target is not None else []),
            (low, shown.low, theme.text3),
            (high, shown.high, theme.text3),
        ):
            width = metrics.horizontalAdvance(text)
            at = min(max(x(of) - width / 2, float(start)), self.width() - width)
            if of == shown.target:
                painter.setPen(QPen(theme.fail, 1.5))
                painter.drawLine(QPointF(x(of), y - 9), QPointF(x(of), y + 8))
                taken, begun = at + width, at
            elif shown.target is not None and at < taken + 4 and at + width > begun - 4:
                # Beside the target's words, not under them.
                at = taken + 5 if x(of) >= x(shown.target) else begun - width - 5
                if not start <= at <= self.width() - width:
                    at = begun - width - 5 if at > start else taken + 5
            painter.setPen(ink)
            painter.drawText(QPointF(at, y + 19), text)


class _Lines(QWidget):
    """The derivation, the basis of each figure, and the sources."""

    def __init__(self) -> None:
        super().__init__()
        self.theme: Theme | None = None
        self._shown: Explained | None = None
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)

    def show_figure(self, shown: Explained, theme: Theme) -> None:
        self._shown, self.theme = shown, theme
        self.setMinimumHeight(self._height())
        self.update()

    def _height(self) -> int:
        if self._shown is None:
            return 0
        sources = len(self._shown.sources)
        return ROW * len(self._shown.lines) + (ROW + 16 * sources if sources else 0) + 8

    def paintEvent(self, event: QPaintEvent) -> None:
        shown, theme = self._shown, self.theme
        if shown is None or theme is None:
            return
        painter = QPainter(self)
        seen = event.rect()
        right = self.width() - _PADDING
        # Unit and band have columns of their own, so that values stand under each other.
        small = theme.metrics(10, 400)
        unit_width = max((small.horizontalAdvance(line.unit) for line in shown.lines), default=0)
        band_width = max((small.horizontalAdvance(line.band) for line in shown.lines), default=0)
        value_right = right - unit_width - (band_width + 8 if band_width else 0) - 6
        y = 2.0
        flags = Qt.AlignmentFlag.AlignVCenter
        for line in shown.lines:
            if y + ROW < seen.top() or y > seen.bottom():
                # Scrolled out of sight.
                y += ROW
                continue
            left = _PADDING + _INDENT * line.depth
            if line.depth:
                painter.setPen(QPen(theme.line2, 1))
                painter.drawLine(QPointF(left - 9, y), QPointF(left - 9, y + ROW / 2))
                painter.drawLine(QPointF(left - 9, y + ROW / 2), QPointF(left - 3, y + ROW / 2))
            value_width = theme.metrics(12, 600).horizontalAdvance(line.value)
            painter.setFont(theme.font(12, 400))
            painter.setPen(theme.text)
            room = int(value_right - value_width - 8 - left)
            name = theme.metrics(12, 400).elidedText(line.name, Qt.TextElideMode.ElideRight, room)
            painter.drawText(QRectF(left, y, room, ROW), flags, name)
            painter.setFont(theme.font(12, 600))
            box = QRectF(value_right - value_width - 2, y, value_width + 2, ROW)
            painter.drawText(box, flags | Qt.AlignmentFlag.AlignRight, line.value)
            painter.setFont(theme.font(10, 400))
            painter.setPen(theme.text3)
            painter.drawText(QRectF(value_right + 6, y + 1, unit_width + 2, ROW), flags, line.unit)
            painter.drawText(
                QRectF(right - band_width, y + 1, band_width, ROW), flags | Qt.AlignmentFlag.AlignRight, line.band
            )
            y += ROW
        if shown.sources and y <= seen.bottom():
            y += 4
            painter.setFont(theme.font(11, 600))
            painter.setPen(theme.text2)
            painter.drawText(QRectF(_PADDING, y, self.width(), 16), flags, _("Sources"))
            painter.setFont(theme.font(11, 400))
            painter.setPen(theme.text2)
            metrics = theme.metrics(11, 400)
            for at, source in enumerate(shown.sources, start=1):
                y += 16
                text = metrics.elidedText(f"{at}  {source}", Qt.TextElideMode.ElideRight, int(right - _PADDING))
                painter.drawText(QRectF(_PADDING, y, right - _PADDING, 16), flags, text)


class _Name(QWidget):
    """The letter and the name of the figure."""

    def __init__(self) -> None:
        super().__init__()
        self.theme: Theme | None = None
        self._shown: Explained | None = None
        self.setFixedHeight(22)

    def show_figure(self, shown: Explained, theme: Theme) -> None:
        self._shown, self.theme = shown, theme
        self.update()

    def paintEvent(self, _event: Any) -> None:
        if self._shown is None or self.theme is None:
            return
        painter = QPainter(self)
        icons.paint_letter(painter, self._shown.letter, QRectF(0, 3, 16, 16), self.theme)
        painter.setFont(self.theme.font(12, 400))
        painter.setPen(self.theme.text2)
        painter.drawText(QRectF(22, 0, self.width(), 22), Qt.AlignmentFlag.AlignVCenter, self._shown.title)


class ExplainPanel(QWidget):
    """Explains the figure that was clicked last; until then, the output of the selected scenario."""

    def __init__(self, document: PlanDocument, evaluation: Evaluation, theme: ThemeSource) -> None:
        super().__init__()
        self._document, self._evaluation, self._source = document, evaluation, theme
        self._letter, self._key = "", ""
        self._plan_and_results: tuple[Plan, Results] | None = None
        self.shown: Explained | None = None

        self.setProperty("ground", "panel")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.verdict, self.basis = QLabel(), QLabel()
        for label in (self.verdict, self.basis):
            label.setTextFormat(Qt.TextFormat.PlainText)
            label.setWordWrap(True)
        self.basis.setProperty("tone", "third")
        self.copy_button = QPushButton()
        self.copy_button.setProperty("link", "true")
        self.copy_button.clicked.connect(self.copy)
        rule = QFrame()
        rule.setProperty("rule", "true")
        self._name, self._track, self._lines = _Name(), _Track(), _Lines()
        head = QVBoxLayout()
        head.setContentsMargins(_PADDING, 4, _PADDING, 0)
        head.setSpacing(0)
        head.addWidget(self._name)
        head.addWidget(self._track)
        head.addWidget(self.verdict)
        head.addWidget(self.basis)
        self._body = body = QWidget()
        inside = QVBoxLayout(body)
        inside.setContentsMargins(0, 0, 0, 0)
        inside.setSpacing(2)
        inside.addLayout(head)
        inside.addWidget(self._lines)
        inside.addStretch(1)
        self._scroll = QScrollArea()
        self._scroll.setWidget(body)
        self._scroll.setWidgetResizable(True)
        self._scroll.setFrameShape(QFrame.Shape.NoFrame)
        self._scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(2)
        layout.addWidget(rule)
        layout.addWidget(self._scroll, 1)
        theme.changed.connect(self._theme_changed)
        document.selection_changed.connect(self._selection_changed)
        document.workload_changed.connect(self._refresh)
        evaluation.results_changed.connect(self._results_changed)
        self.retranslate()
        if evaluation.results is not None:
            self._results_changed(evaluation.results)

    def explain(self, letter: str, key: str) -> None:
        """Explain another figure: a metric of the comparison of one scenario."""
        self._letter, self._key = letter, key
        self._refresh()
        self._scroll.verticalScrollBar().setValue(0)

    def show_results(self, plan: Plan, results: Results) -> None:
        """Explain the same figure with other results."""
        self._plan_and_results = (plan, results)
        self._refresh()

    def header_buttons(self) -> tuple[QWidget, ...]:
        """What stands beside the title of the dock."""
        return (self.copy_button,)

    def retranslate(self) -> None:
        """Take the words of the language in force."""
        self.copy_button.setText(_("Copy"))
        self.copy_button.setToolTip(_("Copy how the figure is worked out"))
        self.shown = None
        self._refresh()

    def text(self) -> str:
        """The explanation as text, one figure a line, tab-separated."""
        shown = self.shown
        if shown is None:
            return ""
        lines = [
            f"{shown.letter} · {shown.title}\t{shown.value}\t{shown.unit}\t{shown.low}\t{shown.high}\t{shown.basis}"
        ]
        lines += [
            "\t".join(("  " * each.depth + each.name, each.value, each.unit, each.band, each.basis))
            for each in shown.lines
        ]
        return "\n".join([*lines, shown.verdict, *shown.sources])

    def copy(self) -> None:
        """Put the explanation on the clipboard."""
        QGuiApplication.clipboard().setText(self.text())

    def _refresh(self, *_args: object) -> None:
        if self._plan_and_results is None:
            return
        plan, results = self._plan_and_results
        workload, catalog = self._document.workload, self._document.catalog
        letter = self._letter if results.scenario(self._letter) is not None else self._document.selected
        # What was asked for may be gone (another workload, another scenario): then its output.
        keys = [key for key in (self._key, "output", "tokens") if key]
        rows = self._evaluation.rows(plan, results, workload)
        found = (explained(plan, results, workload, letter, key, catalog, rows) for key in keys)
        shown = next((each for each in found if each is not None), None)
        if shown != self.shown:
            self.shown = shown
            self._show(shown)

    def _show(self, shown: Explained | None) -> None:
        self._body.setVisible(shown is not None)
        self.copy_button.setEnabled(shown is not None)
        if shown is None:
            self.setAccessibleName(_("Explain"))
            return
        theme = self._source.theme
        self.verdict.setText(shown.verdict)
        self.verdict.setVisible(bool(shown.verdict))
        tone = {"ok": "ok", "warn": "warn", "fail": "fail"}.get(shown.status, "third")
        if self.verdict.property("tone") != tone:
            self.verdict.setProperty("tone", tone)
            self.verdict.style().unpolish(self.verdict)
            self.verdict.style().polish(self.verdict)
        self.basis.setText(_("How it came about: {basis}").format(basis=shown.basis))
        for view in (self._name, self._track, self._lines):
            view.show_figure(shown, theme)
        spoken = [f"{shown.letter}, {shown.title}: {shown.value} {shown.unit}."]
        if shown.ends is not None:
            spoken.append(_("80 % band {low} to {high}.").format(low=shown.low, high=shown.high))
        self.setAccessibleName(" ".join([*spoken, shown.verdict]).strip())

    def _results_changed(self, results: Results) -> None:
        self.show_results(self._evaluation.plan or self._document.plan, results)

    def _selection_changed(self, letter: str) -> None:
        self._letter = letter
        self._refresh()

    def _theme_changed(self, _theme: Theme) -> None:
        self._show(self.shown)
