"""One card against another: a bar a task with its band, the measured pairs as a diamond, the quoted ratios as lines."""

from collections.abc import Mapping
from typing import NamedTuple

from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QPainter, QPen, QPolygonF

from gpuplanner.i18n import _, format
from gpuplanner.model.card_ratio import CardRatio, TaskRatio
from gpuplanner.report import card_ratio as words
from gpuplanner.ui.charts.base import Chart, Left, Named, Place, Right, Swatch, Tick, bar, faded, nice_ticks
from gpuplanner.validation.card_pairs import Pairs


class Ratios(NamedTuple):
    """What the chart shows: tasks, then cases, with the measured pairs of each."""

    found: CardRatio
    tasks: tuple[TaskRatio, ...]
    pairs: Mapping[str, Pairs]

    @property
    def entries(self) -> tuple[Named, ...]:
        """The bars by key, as a scale of names needs them."""
        return tuple(Named(task.key, words.task(task.key)) for task in self.tasks)


class CardRatioChart(Chart):
    """Bars from nothing to the ratio; a line at 1, where the cards are equal."""

    key = "card_ratio"
    explains = "pairs"
    derives = False

    def show_ratios(self, found: CardRatio, pairs: Mapping[str, Pairs]) -> None:
        """Show these two cards."""
        speeds = tuple(task for task in (*found.tasks, *found.cases) if task.key != "largest_model")
        self.data = Ratios(found, speeds, pairs)
        self._arrange_all()

    def letters(self) -> tuple[str, ...]:
        return () if self.data is None else tuple(task.key for task in self.data.tasks)

    def arrange(self) -> None:
        data: Ratios = self.data
        self.name_tasks(data)
        ends = [task.ratio.high or 0.0 for task in data.tasks]
        ends += [pairs.measured for key, pairs in data.pairs.items() if key in self.letters()]
        ends += [claim.claim for claim in data.found.claims]
        words_width = self.theme.metrics(11, 600).horizontalAdvance("0.00×") + 16
        air = 1 / max(0.5, 1 - words_width / max(self.view.width(), 1.0))
        top = self.keep_top(max(ends)) * air
        self.value_axis(self.bottom, ((tick, f"{format.exact(tick)}×") for tick in nice_ticks(0, top / air, 6)))
        self.set_range((0, top), (-0.9, len(data.tasks) - 0.4))

    def name_tasks(self, data: Ratios) -> None:
        """Names of tasks down the left side, the first on top."""
        self.view.invertY(True)
        metrics = self.theme.metrics(11, 400)
        names = [entry.name for entry in data.entries]
        widest = max((metrics.horizontalAdvance(name) for name in names), default=0) + 14
        self._give_width(self.left, min(widest, max(60, int(self.width() * 0.4))))
        self.left.ticks = tuple(Tick(float(row), name) for row, name in enumerate(names))
        self.left.lines = False

    def paint_data(self, painter: QPainter, place: Place) -> None:
        data: Ratios | None = self.data
        if data is None:
            self.paint_nothing(painter, place, _("Nothing to compare yet"))
            return
        theme, area = self.theme, place.area
        largest = max(claim.claim for claim in data.found.claims)
        for claim in data.found.claims:
            x = round(place.x(claim.claim))
            self.paint_limit(painter, (QPointF(x, area.top()), QPointF(x, area.bottom())), theme.text3)
            text = _("quoted {ratio}").format(ratio=words.quoted(claim.claim))
            # One stands left of its line and the other right, so that near ones do not cover each other.
            side, by = (Left, 4) if claim.claim == largest else (Right, -4)
            if side == Right and x + by - theme.metrics(10, 400).horizontalAdvance(text) < area.left():
                # Left of a line near the axis is no room: its ratio alone.
                text = words.quoted(claim.claim)
            self.paint_text(painter, QPointF(x + by, place.y(-0.68)), text, theme.text2, size=10, align=side)
        equal = round(place.x(1.0))
        painter.setPen(QPen(theme.text2, theme.border))
        painter.drawLine(QPointF(equal, area.top()), QPointF(equal, area.bottom()))
        cases = {task.key for task in data.found.cases}
        for row, task in enumerate(data.tasks):
            opacity = self.strength(task.key)
            if task.ratio.value is None:
                said = words.binds(task.first if task.first.rate is None else task.second)
                self.paint_text(painter, place.point(0, row) + QPointF(6, 0), said, theme.text3)
                continue
            box = bar(place, row, 0, task.ratio.value)
            colour = theme.series_colour("B" if task.key in cases else "A")
            painter.fillRect(box, faded(colour, opacity))
            middle, end = box.center().y(), box.right()
            low, high = task.ratio.low, task.ratio.high
            if low is not None and high is not None:
                self.paint_whisker(painter, place.x(low), place.x(high), middle)
                end = max(end, place.x(high))
            pairs = data.pairs.get(task.key)
            if pairs is not None:
                at = QPointF(place.x(pairs.measured), middle)
                painter.setRenderHint(QPainter.RenderHint.Antialiasing)
                painter.setPen(QPen(theme.text, 1.5))
                painter.setBrush(theme.panel)
                painter.drawPolygon(
                    QPolygonF([at + QPointF(*by) for by in ((0, -6), (6, 0), (0, 6), (-6, 0))]), Qt.FillRule.WindingFill
                )
                end = max(end, at.x() + 6)
            text = format.ratio(task.ratio.value)
            self.paint_text(painter, QPointF(end + 8, middle), text, faded(theme.text, opacity), weight=600)

    def swatches(self) -> tuple[Swatch, ...]:
        theme = self.theme
        return (
            Swatch(theme.series_colour("A"), _("task")),
            Swatch(theme.series_colour("B"), _("how a larger ratio comes about")),
        )

    def reading(self, x: float, y: float) -> tuple[str, str]:
        row = round(y)
        if self.data is None or not 0 <= row < len(self.data.tasks):
            return "", ""
        key = self.data.tasks[row].key
        return key, self.reading_of(key)

    def reading_of(self, letter: str) -> str:
        data: Ratios = self.data
        pairs = data.pairs.get(letter)
        task = data.found.task(letter)
        return words.spoken(task, pairs.measured if pairs else None, len(pairs.pairs) if pairs else 0)

    def subtitle(self) -> str:
        found: CardRatio = self.data.found
        return _("{first} ÷ {second}, bar: predicted with 80 % band, diamond: median of measured pairs").format(
            first=words.side(found.first), second=words.side(found.second)
        )

    def summary(self) -> str:
        return words.headline(self.data.found)

    def table(self) -> list[list[str]]:
        data: Ratios = self.data
        head = [_("Task"), _("Ratio"), _("Low"), _("High"), _("Measured"), _("Pairs")]
        rows = []
        for task in data.tasks:
            pairs = data.pairs.get(task.key)
            rows.append(
                [
                    words.task(task.key), *(format.ratio(end) for end in task.ratio[:3]),
                    format.ratio(pairs.measured) if pairs else format.NOT_KNOWN,
                    format.count(len(pairs.pairs)) if pairs else "0",
                ]
            )  # fmt: skip
        return [head, *rows]
