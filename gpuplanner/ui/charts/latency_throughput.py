"""First-token time of each scenario as its load grows to saturation, with the target and the demand drawn in."""

import math
from bisect import bisect_left
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QPainter, QPen, QPolygonF

from gpuplanner.i18n import _, facts, format
from gpuplanner.model.plan import Plan, Serve
from gpuplanner.model.results import Curve, Results, ServeResult
from gpuplanner.ui.charts.base import (
    Chart,
    Left,
    Named,
    Place,
    Right,
    area_between,
    faded,
    joined,
    line_of,
    log_ticks,
    named,
    nice_ticks,
    tick_text,
)  # fmt: skip
from gpuplanner.ui.theme import ThemeSource

# The axis shows this many times the target, and the unloaded time of the fastest scenario with some air below.
_TARGETS_SHOWN = 4.0
_IDLE_TIMES_SHOWN = 40.0
_AIR_BELOW = 0.7
# Heights under the top at which a curve's letter may stand. [px]
_LEVELS = (9.0, 23.0, 37.0)


class Latencies(NamedTuple):
    """What the chart shows. ``banded`` are the letters whose band is shaded."""

    entries: tuple[Named, ...]
    curves: tuple[Curve | None, ...]
    target_s: float | None
    percentile: float
    demand_tokens_s: float | None
    banded: tuple[str, ...]


def at_load(curve: Curve, tokens_s: float, values: tuple[float, ...]) -> float | None:
    """A curve's value at a load, interpolated; None beyond saturation."""
    loads = curve.output_tokens_s
    if not loads or tokens_s > loads[-1]:
        return None
    index = bisect_left(loads, tokens_s)
    if index == 0:
        return values[0]
    before, after = loads[index - 1], loads[index]
    share = (tokens_s - before) / (after - before) if after > before else 0.0
    return values[index - 1] + share * (values[index] - values[index - 1])


def of_scenario(groups: Sequence[ServeResult]) -> Curve | None:
    """The curve of all groups that share a load: each carries its share of it, and the slowest decides.

    It ends where the first of them saturates.
    """
    known = [(each.curve, each.load_share) for each in groups if each.curve is not None and each.load_share > 0]
    if len(known) <= 1:
        return known[0][0] if known else None
    scaled = [
        curve._replace(output_tokens_s=tuple(load / share for load in curve.output_tokens_s)) for curve, share in known
    ]
    first = min(scaled, key=lambda curve: curve.output_tokens_s[-1])
    loads = first.output_tokens_s

    def slowest(name: str) -> tuple[float, ...]:
        read = [[at_load(curve, load, getattr(curve, name)) for load in loads] for curve in scaled]
        return tuple(max(value for value in values if value is not None) for values in zip(*read, strict=True))

    return Curve(loads, *(slowest(name) for name in Curve._fields[1:]))


class LatencyChart(Chart):
    """A curve per scenario; time is on a logarithmic axis."""

    key = "latency"
    explains = "first_token"

    def __init__(self, theme: ThemeSource) -> None:
        # Each scenario's curve and its line; one edit changes few of them.
        self._drawn: dict[str, tuple[Curve, QPolygonF]] = {}
        super().__init__(theme)

    def collect(self, plan: Plan, results: Results, workload_id: str, selected: str) -> Latencies | None:
        workload = next((each for each in plan.workloads if each.id == workload_id), None)
        if not isinstance(workload, Serve):
            return None
        curves = [
            of_scenario([each for each in entry.serve if each.workload == workload_id]) for entry in results.scenarios
        ]
        if not any(curves):
            return None
        demand = next((each for each in results.demands if each.workload == workload_id), None)
        letters = [entry.letter for entry in results.scenarios]
        banded = tuple(dict.fromkeys(each for each in (results.baseline, selected) if each in letters))
        return Latencies(
            named(plan, results), tuple(curves), workload.first_token_s, workload.first_token_percentile,
            demand.output_tokens_s if demand else None, banded,
        )  # fmt: skip

    def arrange(self) -> None:
        data: Latencies = self.data
        self.view.invertY(False)
        curves = [curve for curve in data.curves if curve is not None and curve.output_tokens_s]
        before = self._drawn
        self._drawn = {
            entry.letter: before[entry.letter]
            if entry.letter in before and before[entry.letter][0] is curve
            else (curve, line_of(curve.output_tokens_s, map(math.log10, curve.first_token_s)))
            for entry, curve in zip(data.entries, data.curves, strict=True)
            if curve is not None
        }
        self._lines = {letter: line for letter, (_curve, line) in self._drawn.items()}
        self._bands = {
            entry.letter: area_between(
                curve.output_tokens_s,
                [math.log10(value) for value in curve.first_token_low_s],
                [math.log10(value) for value in curve.first_token_high_s],
            )
            for entry, curve in zip(data.entries, data.curves, strict=True)
            if curve is not None and entry.letter in data.banded
        }
        idle = min(curve.first_token_s[0] for curve in curves)
        high = data.target_s * _TARGETS_SHOWN if data.target_s else idle * _IDLE_TIMES_SHOWN
        low = min(idle, data.target_s or idle) * _AIR_BELOW
        # A card whose idle time already misses the target is still shown.
        high = max(high, 1.6 * max(curve.first_token_s[0] for curve in curves))
        furthest = max(max(curve.output_tokens_s) for curve in curves)
        top = self.keep_top(max(furthest, (data.demand_tokens_s or 0.0) * 1.1))
        self.value_axis(self.left, ((math.log10(tick), tick_text(tick)) for tick in log_ticks(low, high)))
        self.value_axis(self.bottom, ((tick, tick_text(tick)) for tick in nice_ticks(0, top, 5)))
        self.bottom.lines = False
        self.set_range((0, top), (math.log10(low), math.log10(high)))

    def paint_data(self, painter: QPainter, place: Place) -> None:
        data: Latencies | None = self.data
        if data is None:
            self.paint_nothing(painter, place, _("Load curves are for serving."))
            return
        theme, area = self.theme, place.area
        painter.setClipRect(area)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        pairs = [(entry, curve) for entry, curve in zip(data.entries, data.curves, strict=True) if curve is not None]
        for letter, band in self._bands.items():
            painter.fillPath(place.path(band), faded(theme.series_colour(letter), 0.13 * self.strength(letter)))
        if data.target_s is not None:
            y = round(place.y(math.log10(data.target_s)))
            self.paint_limit(painter, (QPointF(area.left(), y), QPointF(area.right(), y)), theme.fail)
        if data.demand_tokens_s is not None:
            x = round(place.x(data.demand_tokens_s))
            pen = QPen(theme.text2, theme.border)
            pen.setDashPattern([2, 2])
            painter.setPen(pen)
            painter.drawLine(QPointF(x, area.top()), QPointF(x, area.bottom()))
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        ends = []
        for letter, points in self._lines.items():
            line = place.polygon(points)
            painter.setPen(QPen(faded(theme.series_colour(letter), self.strength(letter)), 2))
            painter.drawPolyline(line)
            ends.append((line.toList(), letter))
        self._paint_dots(painter, place, pairs)
        self._paint_words(painter, place, ends)
        painter.setClipping(False)

    def _letters(self, lines: list[tuple[list[QPointF], str]], area: QRectF) -> list[tuple[QPointF, str]]:
        """A place on each curve for its letter: near the top, further down where another letter stands."""
        placed: list[tuple[QPointF, str]] = []
        for line, letter in sorted(lines, key=lambda item: item[0][-1].x()):
            for level in _LEVELS:
                at = end_of(line, area.top() + level)
                near = [each for each, _text in placed if abs(each.y() - at.y()) < 13 and abs(each.x() - at.x()) < 18]
                if not near:
                    placed.append((at, letter))
                    break
            else:
                placed.append((end_of(line, area.top() + _LEVELS[0]), letter))
        return joined(placed, 18, 12)

    def _paint_dots(self, painter: QPainter, place: Place, pairs: list[tuple[Named, Curve]]) -> None:
        demand = self.data.demand_tokens_s
        if demand is None:
            return
        for entry, curve in pairs:
            seconds = at_load(curve, demand, curve.first_token_s)
            if seconds is not None:
                painter.setPen(QPen(self.theme.panel, 1.5))
                painter.setBrush(faded(self.theme.series_colour(entry.letter), self.strength(entry.letter)))
                painter.drawEllipse(place.point(demand, math.log10(seconds)), 4.0, 4.0)
        painter.setBrush(Qt.BrushStyle.NoBrush)

    def _paint_words(self, painter: QPainter, place: Place, lines: list[tuple[list[QPointF], str]]) -> None:
        data: Latencies = self.data
        theme, area = self.theme, place.area
        letters = self._letters(lines, area)
        if data.target_s is not None:
            text = _("target {time}").format(time=format.duration(data.target_s, 2))
            y = place.y(math.log10(data.target_s)) - 9
            width = theme.metrics(11, 500).horizontalAdvance(text)
            # Where no letter stands.
            lefts = [area.left() + area.width() * share for share in (0.6, 0.35, 0.1, 0.75)]
            taken = [at.x() for at, _text in letters if abs(at.y() - y) < 16]
            free = (left for left in lefts if not any(left - 24 < x < left + width + 4 for x in taken))
            at = QPointF(next(free, lefts[0]), y)
            self.paint_text(painter, at, text, theme.fail, weight=500)
        if data.demand_tokens_s is not None:
            text = _("peak demand {rate}").format(rate=format.number(data.demand_tokens_s))
            at = QPointF(place.x(data.demand_tokens_s) + 5, area.bottom() - 9)
            align = Left
            if at.x() + theme.metrics(11, 500).horizontalAdvance(text) > area.right():
                at, align = at - QPointF(10, 0), Right
            self.paint_text(painter, at, text, theme.text2, weight=500, align=align)
        for at, text in letters:
            colour = theme.series_text(text[0])
            width = theme.metrics(12, 600).horizontalAdvance(text)
            left = at.x() + 5 if at.x() + 5 + width < area.right() else at.x() - 6 - width
            self.paint_text(painter, QPointF(left, at.y()), text, colour, weight=600, size=12, filled=False)

    def reading(self, x: float, y: float) -> tuple[str, str]:
        if self.data is None or x < 0:
            return "", ""
        read = []
        for entry, curve in zip(self.data.entries, self.data.curves, strict=True):
            seconds = at_load(curve, x, curve.first_token_s) if curve is not None else None
            if seconds is not None:
                read.append((abs(math.log10(seconds) - y), entry.letter, curve, seconds))
        if not read:
            return "", ""
        # A tenth of a decade is about ten pixels; further off no curve is meant, and all are read.
        distance, letter, curve, seconds = min(read, key=lambda item: item[0])
        load = facts.scale("tokens_s", ()).text(x)
        lines = [_("at {load}").format(load=load)]
        for _distance, each, its_curve, its_seconds in sorted(read, key=lambda item: -item[3]):
            low, high = (
                at_load(its_curve, x, its_curve.first_token_low_s),
                at_load(its_curve, x, its_curve.first_token_high_s),
            )
            lines.append(
                f"{each}  {format.duration(its_seconds)}  ({format.band(low, high)} {facts.unit('first_token')})"
            )
        return (letter if distance < 0.12 else ""), "\n".join(lines)

    def reading_of(self, letter: str) -> str:
        curve = self.data.curves[self.letters().index(letter)]
        demand = self.data.demand_tokens_s
        if curve is None:
            return _("{letter}: not known").format(letter=letter)
        load = demand if demand is not None else curve.output_tokens_s[len(curve.output_tokens_s) // 2]
        seconds = at_load(curve, load, curve.first_token_s)
        words = facts.scale("tokens_s", ())
        if seconds is None:
            return _("{letter}: saturates at {limit}, under {load}").format(
                letter=letter, limit=words.text(curve.output_tokens_s[-1]), load=words.text(load)
            )
        return _("{letter} at {load}: {time}").format(
            letter=letter, load=words.text(load), time=format.duration(seconds)
        )

    def anchor(self, letter: str) -> QPointF:
        curve = self.data.curves[self.letters().index(letter)]
        rect = self.view.viewRect()
        load = min(self.data.demand_tokens_s or rect.center().x(), rect.right())
        seconds = at_load(curve, load, curve.first_token_s) if curve is not None else None
        return QPointF(load, math.log10(seconds) if seconds else rect.center().y())

    def subtitle(self) -> str:
        text = _("{percentile}, s, by output tokens/s").format(percentile=facts.percentile(self.data.percentile))
        if self.data.banded:
            text += " · " + _("shade: 80 % band of {letters}").format(letters=_(", ").join(self.data.banded))
        return text

    def summary(self) -> str:
        data: Latencies = self.data
        if data.demand_tokens_s is None:
            return _("First token against load, one curve for each scenario.")
        meeting = []
        for entry, curve in zip(data.entries, data.curves, strict=True):
            seconds = at_load(curve, data.demand_tokens_s, curve.first_token_s) if curve is not None else None
            if seconds is not None and (data.target_s is None or seconds <= data.target_s):
                meeting.append(entry.letter)
        load = facts.scale("tokens_s", ()).text(data.demand_tokens_s)
        if not meeting:
            return _("First token against load: at the peak demand of {load} no scenario meets the target.").format(
                load=load
            )
        return _("First token against load: at the peak demand of {load} the target is met by {letters}.").format(
            load=load, letters=_(", ").join(meeting)
        )

    def table(self) -> list[list[str]]:
        rows = [["", _("Name"), "tok/s", _("First token, s"), _("Low"), _("High"), _("Per token, s")]]
        for entry, curve in zip(self.data.entries, self.data.curves, strict=True):
            if curve is not None:
                for point in zip(*curve, strict=True):
                    rows.append([entry.letter, entry.name, *(format.number(value) for value in point)])
        return rows


def end_of(line: list[QPointF], top: float) -> QPointF:
    """Where a curve rises through a height, or ends below it."""
    for before, after in pairwise(line):
        if after.y() <= top < before.y():
            share = (before.y() - top) / (before.y() - after.y())
            return QPointF(before.x() + share * (after.x() - before.x()), top)
    return QPointF(line[-1].x(), max(line[-1].y(), top))
