"""Speed of every scenario against the baseline, with the band of the ratio and the ratio that the demand needs."""

from typing import NamedTuple

from PySide6.QtCore import QPointF
from PySide6.QtGui import QPainter

from gpuplanner.i18n import _, facts, format
from gpuplanner.model import comparison
from gpuplanner.model.plan import Plan
from gpuplanner.model.results import Figure, Results
from gpuplanner.ui.charts.base import Chart, Named, Place, Right, bar, faded, named, nice_ticks


class Bar(NamedTuple):
    """One scenario: its ratio, and the rate that it is the ratio of."""

    ratio: Figure
    rate: Figure


class Speeds(NamedTuple):
    """What the chart shows. ``needed`` is the demand over the baseline's rate, None without a demand."""

    entries: tuple[Named, ...]
    bars: tuple[Bar, ...]
    baseline: str
    needed: float | None
    training: bool


class SpeedChart(Chart):
    """Bars from the baseline's 1, whiskers for the band, a dashed line at what is needed."""

    key = "speed"
    explains = "speed_ratio"

    def collect(self, plan: Plan, results: Results, workload_id: str, selected: str) -> Speeds | None:
        row = comparison.output(plan, results, workload_id)
        if row is None or results.baseline is None:
            return None
        base = row.cell(results.baseline)
        rate = base.figure.value if base else None
        bars = tuple(
            Bar(entry.speed_ratio, cell.figure) for entry, cell in zip(results.scenarios, row.cells, strict=True)
        )
        needed = row.target / rate if row.target and rate else None
        return Speeds(named(plan, results), bars, results.baseline, needed, row.key == "tokens")

    def arrange(self) -> None:
        data: Speeds = self.data
        self.name_axis(data.entries)
        ends = [each.ratio.high or each.ratio.value or 0.0 for each in data.bars]
        # Room for the value that stands at the end of the longest bar.
        words = self.theme.metrics(11, 600).horizontalAdvance("0.00×") + 14
        air = 1 / max(0.5, 1 - words / max(self.view.width(), 1.0))
        top = self.keep_top(max([*ends, data.needed or 0.0, 1.0])) * air
        self.value_axis(self.bottom, ((tick, f"{format.exact(tick)}×") for tick in nice_ticks(0, top / air, 5)))
        self.set_range((0, top), (-0.6, len(data.bars) + 0.2))

    def paint_data(self, painter: QPainter, place: Place) -> None:
        data: Speeds | None = self.data
        if data is None:
            self.paint_nothing(painter, place, _("Nothing to compare yet"))
            return
        theme = self.theme
        for row, (entry, each) in enumerate(zip(data.entries, data.bars, strict=True)):
            opacity = self.strength(entry.letter)
            if each.ratio.value is None:
                self.paint_text(painter, place.point(0, row) + QPointF(6, 0), format.NOT_KNOWN, theme.text3)
                continue
            box = bar(place, row, 0, each.ratio.value)
            painter.fillRect(box, faded(theme.series_colour(entry.letter), opacity))
            end = box.right()
            middle = box.center().y()
            low, high = each.ratio.low, each.ratio.high
            if low is not None and high is not None and high > low:
                painter.setOpacity(opacity)
                self.paint_whisker(painter, place.x(low), place.x(high), middle)
                painter.setOpacity(1.0)
                end = max(end, place.x(high))
            text = format.ratio(each.ratio.value)
            if entry.letter == data.baseline:
                text = _("{ratio} baseline").format(ratio=text)
            self.paint_text(painter, QPointF(end + 8, middle), text, faded(theme.text, opacity), weight=600)
        if data.needed is not None:
            x, area = round(place.x(data.needed)), place.area
            self.paint_limit(painter, (QPointF(x, area.top()), QPointF(x, area.bottom())), theme.fail)
            text = _("needed {ratio}").format(ratio=format.ratio(data.needed))
            at = QPointF(x + 5, place.y(len(data.bars) - 0.22))
            if at.x() + theme.metrics(11, 500).horizontalAdvance(text) > area.right():
                self.paint_text(painter, at - QPointF(10, 0), text, theme.fail, weight=500, align=Right)
            else:
                self.paint_text(painter, at, text, theme.fail, weight=500)

    def reading(self, x: float, y: float) -> tuple[str, str]:
        row = round(y)
        if self.data is None or not 0 <= row < len(self.data.entries):
            return "", ""
        letter = self.data.entries[row].letter
        return letter, self.reading_of(letter)

    def reading_of(self, letter: str) -> str:
        data: Speeds = self.data
        each = data.bars[self.letters().index(letter)]
        if each.ratio.value is None:
            return _("{letter}: not known").format(letter=letter)
        rate = facts.scale("tokens_s", ())
        return _("{letter}: {ratio} ({band}), {rate} ({rate_band})").format(
            letter=letter,
            ratio=format.ratio(each.ratio.value),
            band=format.band(each.ratio.low, each.ratio.high),
            rate=rate.text(each.rate.value),
            rate_band=rate.band(each.rate.low, each.rate.high),
        )

    def subtitle(self) -> str:
        if self.data.training:
            return _("training tokens/s, {letter} = 1").format(letter=self.data.baseline)
        return _("tokens/s within targets, {letter} = 1").format(letter=self.data.baseline)

    def summary(self) -> str:
        data: Speeds = self.data
        known = [
            (each.ratio.value, entry) for each, entry in zip(data.bars, data.entries, strict=True) if each.ratio.value
        ]
        if not known:
            return _("Relative speed: not known.")
        best, entry = max(known, key=lambda item: item[0])
        return _("Relative speed: {letter}, {name}, is fastest with {ratio} the speed of {baseline}.").format(
            letter=entry.letter, name=entry.name, ratio=format.ratio(best), baseline=data.baseline
        )

    def table(self) -> list[list[str]]:
        data: Speeds = self.data
        rate = facts.scale("tokens_s", ())
        head = ["", _("Name"), _("Ratio"), _("Low"), _("High"), rate.unit, _("Low"), _("High")]
        return [head] + [
            [entry.letter, entry.name, *map(format.ratio, each.ratio[:3]), *map(format.number, each.rate[:3])]
            for entry, each in zip(data.entries, data.bars, strict=True)
        ]
