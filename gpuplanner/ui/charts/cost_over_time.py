"""What each scenario has cost by each month of the term, against renting and against the budget."""

from itertools import pairwise
from typing import NamedTuple

from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QPainter, QPen

from gpuplanner.i18n import _, facts, format, ngettext
from gpuplanner.model.plan import Plan
from gpuplanner.model.results import Results
from gpuplanner.ui.charts.base import (
    Chart,
    Left,
    Named,
    Place,
    Right,
    area_between,
    faded,
    joined,
    kept_top,
    line_of,
    named,
    nice_ticks,
    tick_text,
)  # fmt: skip


class Spending(NamedTuple):
    """One scenario. Amounts are in the plan's currency."""

    months: tuple[float, ...]
    total: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    cloud: tuple[float, ...]
    resale: float | None
    breakeven_months: float | None


class Spendings(NamedTuple):
    """What the chart shows. ``rented`` is whose cloud price the dashed line is."""

    entries: tuple[Named, ...]
    spendings: tuple[Spending, ...]
    currency: str
    budget: float | None
    selected: str
    banded: tuple[str, ...]


class CostChart(Chart):
    """A line per scenario, renting dashed, a ring where buying breaks even, a diamond after resale."""

    key = "cost"
    explains = "total"

    def collect(self, plan: Plan, results: Results, workload_id: str, selected: str) -> Spendings | None:
        spendings = []
        for entry in results.scenarios:
            money = entry.money
            spendings.append(
                Spending(
                    money.months, money.cumulative, money.cumulative_low, money.cumulative_high, money.cloud_cumulative,
                    money.resale.value, money.breakeven_months.value,
                )
            )  # fmt: skip
        if not any(each.months for each in spendings):
            return None
        budget = plan.wishes.budget
        amount = budget.amount if budget is not None and budget.currency == results.currency else None
        letters = [entry.letter for entry in results.scenarios]
        banded = tuple(dict.fromkeys(each for each in (results.baseline, selected) if each in letters))
        shown = selected if selected in letters else (letters[0] if letters else "")
        return Spendings(named(plan, results), tuple(spendings), results.currency, amount, shown, banded)

    def scale(self) -> facts.Scale:
        """The unit of the amounts."""
        return facts.scale(
            "money", [value for each in self.data.spendings for value in each.total[-1:]], self.data.currency
        )

    def rent(self) -> Spending | None:
        """The scenario whose cloud price is drawn: the selected one."""
        return next(
            (
                s
                for e, s in zip(self.data.entries, self.data.spendings, strict=True)
                if e.letter == self.data.selected and s.cloud
            ),
            None,
        )

    def arrange(self) -> None:
        data: Spendings = self.data
        self.view.invertY(False)
        size = self.scale().size
        months = max(each.months[-1] for each in data.spendings if each.months)
        highest = max(max(each.total, default=0.0) for each in data.spendings)
        self._lines = {
            entry.letter: line_of(each.months, [value / size for value in each.total])
            for entry, each in zip(data.entries, data.spendings, strict=True)
            if each.months
        }
        self._bands = {
            entry.letter: area_between(
                each.months, [value / size for value in each.low], [value / size for value in each.high]
            )
            for entry, each in zip(data.entries, data.spendings, strict=True)
            if each.months and entry.letter in data.banded
        }
        rent = self.rent()
        if rent is not None:
            # Renting may run far above everything; the crossing is what matters.
            highest = max(highest, min(max(rent.cloud), 1.6 * highest))
        self._top_y = kept_top(
            self._top_y, max(highest, data.budget or 0.0 if (data.budget or 0.0) < 2 * highest else 0.0) / size
        )
        step = 12 if months > 60 else 6 if months > 12 else 3
        ticks = [float(month) for month in range(0, int(months) + 1, step)]
        self.value_axis(self.bottom, ((tick, tick_text(tick)) for tick in ticks))
        self.bottom.lines = False
        self.value_axis(self.left, ((tick, tick_text(tick)) for tick in nice_ticks(0, self._top_y, 5)))
        # The letters stand right of the last month.
        letters = self.theme.metrics(12, 600).horizontalAdvance("A, B, C") + 10
        self.set_range((0, months / max(0.6, 1 - letters / max(self.view.width(), 1.0))), (0, self._top_y))

    def paint_data(self, painter: QPainter, place: Place) -> None:
        data: Spendings | None = self.data
        if data is None:
            self.paint_nothing(painter, place, _("Nothing to compare yet"))
            return
        theme, area, size = self.theme, place.area, self.scale().size
        painter.setClipRect(area)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        for letter, band in self._bands.items():
            painter.fillPath(place.path(band), faded(theme.series_colour(letter), 0.13 * self.strength(letter)))
        if data.budget is not None:
            y = round(place.y(data.budget / size))
            self.paint_limit(painter, (QPointF(area.left(), y), QPointF(area.right(), y)), theme.fail)
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        rent = self.rent()
        if rent is not None:
            pen = QPen(theme.text2, 2)
            pen.setDashPattern([4, 3])
            painter.setPen(pen)
            painter.drawPolyline(place.polygon(line_of(rent.months, [value / size for value in rent.cloud])))
        ends: list[tuple[QPointF, str]] = []
        for letter, points in self._lines.items():
            line = place.polygon(points)
            painter.setPen(QPen(faded(theme.series_colour(letter), self.strength(letter)), 2))
            painter.drawPolyline(line)
            ends.append((line.toList()[-1], letter))
        self._paint_marks(painter, place, size)
        self._paint_words(painter, place, size, ends)
        painter.setClipping(False)

    def _paint_marks(self, painter: QPainter, place: Place, size: float) -> None:
        """The ring where the selected scenario breaks even with renting, and its diamond after resale."""
        data: Spendings = self.data
        rent = self.rent()
        if rent is None:
            return
        colour = self.theme.series_colour(data.selected)
        painter.setBrush(self.theme.panel)
        painter.setPen(QPen(colour, 2))
        breakeven = rent.breakeven_months
        if breakeven is not None and rent.months[0] <= breakeven <= rent.months[-1]:
            at = place.point(breakeven, interpolated(rent.months, rent.total, breakeven) / size)
            painter.drawEllipse(at, 4.5, 4.5)
            text = ngettext("{months} month", "{months} months", round(breakeven)).format(
                months=format.count(breakeven)
            )
            self.paint_text(
                painter, at + QPointF(-6, -13), text, self.theme.series_text(data.selected), weight=500, align=Right
            )
        if rent.resale:
            last, after = rent.total[-1] / size, (rent.total[-1] - rent.resale) / size
            at = place.point(rent.months[-1], after)
            pen = QPen(colour, 1.5)
            pen.setDashPattern([2, 2])
            painter.setPen(pen)
            painter.drawLine(place.point(rent.months[-1], last), at)
            painter.setPen(QPen(colour, 1.5))
            painter.setBrush(self.theme.panel)
            painter.drawPolygon([at + QPointF(0, -5), at + QPointF(4.5, 0), at + QPointF(0, 5), at + QPointF(-4.5, 0)])
            text = _("after resale {amount}").format(amount=self.scale().value(rent.total[-1] - rent.resale))
            self.paint_text(
                painter, at + QPointF(-10, 0), text, self.theme.series_text(data.selected), weight=500, align=Right
            )
        painter.setBrush(Qt.BrushStyle.NoBrush)

    def _paint_words(self, painter: QPainter, place: Place, size: float, ends: list[tuple[QPointF, str]]) -> None:
        data: Spendings = self.data
        theme, area = self.theme, place.area
        if data.budget is not None:
            text = _("budget {amount}").format(amount=format.money(data.budget, data.currency))
            at = QPointF(area.left() + 8, place.y(data.budget / size) - 9)
            self.paint_text(painter, at, text, theme.fail, weight=500, filled=False)
        rent = self.rent()
        if rent is not None:
            month = rent.months[-1] * 0.28
            at = place.point(month, interpolated(rent.months, rent.cloud, month) / size) + QPointF(10, 10)
            text = _("renting as much as {letter}").format(letter=data.selected)
            self.paint_text(painter, at, text, theme.text2, weight=500)
        for at, letters in joined([(QPointF(at.x() + 0.001 * at.y(), at.y()), text) for at, text in ends], 30, 12):
            place_of = QPointF(at.x() + 8, min(max(at.y(), area.top() + 8), area.bottom() - 8))
            self.paint_text(
                painter, place_of, letters, theme.series_text(letters[0]), weight=600, size=12, align=Left, filled=False
            )

    def reading(self, x: float, y: float) -> tuple[str, str]:
        if self.data is None:
            return "", ""
        size = self.scale().size
        read = []
        for entry, each in zip(self.data.entries, self.data.spendings, strict=True):
            if each.months and 0 <= x <= each.months[-1]:
                value = interpolated(each.months, each.total, x)
                read.append((abs(value / size - y), entry.letter, value))
        if not read:
            return "", ""
        distance, letter, _value = min(read)
        lines = [_("month {month}").format(month=format.count(x))]
        lines += [
            f"{each}  {format.money(value, self.data.currency)}"
            for _d, each, value in sorted(read, key=lambda i: -i[2])
        ]
        return (letter if distance < 0.04 * self._top_y else ""), "\n".join(lines)

    def reading_of(self, letter: str) -> str:
        each = self.data.spendings[self.letters().index(letter)]
        if not each.months:
            return _("{letter}: not known").format(letter=letter)
        return _("{letter}: {first} at first, {last} after {months} months").format(
            letter=letter,
            first=format.money(each.total[0], self.data.currency),
            last=format.money(each.total[-1], self.data.currency),
            months=format.count(each.months[-1]),
        )

    def anchor(self, letter: str) -> QPointF:
        each = self.data.spendings[self.letters().index(letter)]
        return QPointF(
            0.6 * each.months[-1], interpolated(each.months, each.total, 0.6 * each.months[-1]) / self.scale().size
        )

    def subtitle(self) -> str:
        return _("cumulative, {unit}, by month").format(unit=self.scale().unit)

    def summary(self) -> str:
        data: Spendings = self.data
        known = [
            (each.total[-1], entry) for each, entry in zip(data.spendings, data.entries, strict=True) if each.total
        ]
        total, entry = min(known, key=lambda item: item[0])
        return _("Cost over time: {letter}, {name}, has cost least by the end, {amount} before resale.").format(
            letter=entry.letter, name=entry.name, amount=format.money(total, data.currency)
        )

    def table(self) -> list[list[str]]:
        rows = [["", _("Name"), _("Month"), self.data.currency, _("Low"), _("High"), _("Renting")]]
        for entry, each in zip(self.data.entries, self.data.spendings, strict=True):
            for index, month in enumerate(each.months):
                cloud = each.cloud[index] if each.cloud else None
                values = (each.total[index], each.low[index], each.high[index], cloud)
                rows.append(
                    [entry.letter, entry.name, format.count(month), *(format.number(value, 4) for value in values)]
                )
        return rows


def interpolated(xs: tuple[float, ...], ys: tuple[float, ...], x: float) -> float:
    """The value of a line of points at `x`, the end values beyond the ends."""
    if x <= xs[0]:
        return ys[0]
    for (x0, x1), (y0, y1) in zip(pairwise(xs), pairwise(ys), strict=False):
        if x <= x1:
            return y0 + (y1 - y0) * (x - x0) / (x1 - x0)
    return ys[-1]
