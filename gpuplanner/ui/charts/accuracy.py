"""Predicted against measured: every scored row as a point, the line where both are equal, and the band around it.

Both axes are logarithms of the same length, so the line runs at 45 degrees whatever the window's shape. A point's
colour and marker say its architecture. A click, or Return on the point that the arrows have reached, asks for the row.
"""

import math
from collections import Counter
from typing import NamedTuple

import numpy as np
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QPainter, QPainterPath, QPen, QPolygonF, QResizeEvent, QTransform

from gpuplanner.catalog.load import Catalog
from gpuplanner.i18n import _, format, measured, ngettext
from gpuplanner.model.plan import FineTune, Plan, Serve, Workload
from gpuplanner.model.results import Results
from gpuplanner.ui.charts.base import HEADER, Axis, Chart, Place, Right, faded, log_ticks, tick_text
from gpuplanner.ui.theme import ThemeSource
from gpuplanner.validation.accuracy import Point, points, spread_80

# The architectures with a colour of their own, in the order of the theme's series; all others share the last.
ARCHITECTURES = (
    "Hopper",
    "A100",
    "Ada",
    "Blackwell data centre",
    "Blackwell consumer",
    "Ampere consumer",
    "CDNA 3",
)
_LETTERS = "ABCDEFGH"
_RADIUS = 3.2
# How near the pointer must be to a point. [px]
_REACH = 10.0
_MARGIN = 0.06
_LEAST_DECADES = 0.6
# Width over height of the plot, at most.
_WIDEST = 1.5


class Cloud(NamedTuple):
    """What the chart shows: decimal logarithms in the unit of the axes; ``unit`` is "" where rows differ in it."""

    points: tuple[Point, ...]
    x: np.ndarray
    y: np.ndarray
    letters: tuple[str, ...]
    factor: float
    unit: str
    median: float
    inside: float


def cloud_of(chosen: tuple[Point, ...]) -> Cloud | None:
    """The points in the unit of the axes; None where there are none."""
    if not chosen:
        return None
    units = {measured.unit(str(point.row.get("metric"))) for point in chosen}
    sizes = np.array([measured.size(str(point.row.get("metric"))) for point in chosen])
    x = np.log10(np.array([point.measured for point in chosen]) / sizes)
    y = np.log10(np.array([point.predicted for point in chosen]) / sizes)
    letters = tuple(letter_of(point.architecture) for point in chosen)
    errors = [abs(point.error) for point in chosen]
    return Cloud(
        chosen, x, y, letters, spread_80(chosen), units.pop() if len(units) == 1 else "", float(np.median(errors)),
        float(np.mean([point.inside for point in chosen])),
    )  # fmt: skip


def letter_of(architecture: str) -> str:
    """The place in the theme's series that an architecture has."""
    return _LETTERS[ARCHITECTURES.index(architecture)] if architecture in ARCHITECTURES else _LETTERS[-1]


def family_in_hand(workload: Workload | None) -> str:
    """The family of rows that are like the figure by which a workload is judged; "" without a workload."""
    if workload is None:
        return ""
    if isinstance(workload, Serve):
        return "max_throughput"
    return "finetune" if isinstance(workload, FineTune) else "training"


class AccuracyChart(Chart):
    """Log against log, square; hovering a point says its source, its row and how far off we were."""

    key = "accuracy"
    explains = "row"
    derives = False

    def __init__(self, theme: ThemeSource, catalog: Catalog | None = None) -> None:
        self._order: tuple[str, ...] = ()
        self._by_id: dict[str, int] = {}
        self._catalog = catalog
        self._family = ""
        super().__init__(theme)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        # A flat panel would show decades without a point on either side.
        height = self.height() - HEADER
        self.plot.setMaximumWidth(max(round(_WIDEST * height), 200))

    def show_results(self, plan: Plan, results: Results, workload_id: str, selected: str) -> None:
        """Show the rows that are like the figure by which the workload is judged; for a chart beside others."""
        if not self.isVisible():
            self._waiting = plan, results, workload_id, selected
            return
        self._waiting = None
        family = family_in_hand(next((each for each in plan.workloads if each.id == workload_id), None))
        if self._catalog is not None and family != self._family:
            self._family = family
            self.show_points(tuple(point for point in points(self._catalog) if point.family == family))

    def show_points(self, chosen: tuple[Point, ...]) -> None:
        """Show these rows."""
        self.data = cloud_of(chosen)
        self._by_id = {str(point.row.get("id")): at for at, point in enumerate(chosen)}
        self._order = () if self.data is None else tuple(
            str(chosen[at].row.get("id")) for at in np.argsort(self.data.x, kind="stable")
        )  # fmt: skip
        self.zoomed = False
        self._arrange_all()

    def letters(self) -> tuple[str, ...]:
        return self._order

    # --- axes --------------------------------------------------------------------

    def arrange(self) -> None:
        data: Cloud = self.data
        self.view.invertY(False)
        low = float(min(data.x.min(), data.y.min())) - _MARGIN
        high = float(max(data.x.max(), data.y.max())) + _MARGIN
        if high - low < _LEAST_DECADES:
            middle = (low + high) / 2
            low, high = middle - _LEAST_DECADES / 2, middle + _LEAST_DECADES / 2
        wide = high - low
        self._ticks_of(self.left, low, high)
        # As many pixels a decade on both axes: the longer side of the window shows more of its axis.
        width, height = max(self.view.width(), 1.0), max(self.view.height(), 1.0)
        x, y = [low, high], [low, high]
        stretched, share = (x, width / height) if width >= height else (y, height / width)
        middle = (low + high) / 2
        stretched[:] = [middle - wide * share / 2, middle + wide * share / 2]
        self._ticks_of(self.bottom, *x)
        self._ticks_of(self.left, *y)
        self.set_range((x[0], x[1]), (y[0], y[1]))

    def _ticks_of(self, axis: Axis, low: float, high: float) -> None:
        ticks = log_ticks(10.0**low, 10.0**high)
        self.value_axis(axis, ((math.log10(tick), tick_text(tick)) for tick in ticks))

    # --- painting ----------------------------------------------------------------

    def paint_data(self, painter: QPainter, place: Place) -> None:
        data: Cloud | None = self.data
        if data is None:
            self.paint_nothing(painter, place, _("No measured rows like this"))
            return
        theme, area = self.theme, place.area
        painter.save()
        painter.setClipRect(area)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        view = self.view.viewRect()
        ends = (min(view.left(), view.top()) - 1, max(view.right(), view.bottom()) + 1)
        half = math.log10(data.factor)
        band = QPolygonF(
            [
                place.point(ends[0], ends[0] - half), place.point(ends[1], ends[1] - half),
                place.point(ends[1], ends[1] + half), place.point(ends[0], ends[0] + half),
            ]
        )  # fmt: skip
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(faded(theme.accent, 0.10))
        painter.drawPolygon(band)
        painter.setPen(QPen(theme.text2, theme.border))
        painter.drawLine(place.point(ends[0], ends[0]), place.point(ends[1], ends[1]))
        self._paint_points(painter, place, data)
        painter.restore()
        self._paint_legend(painter, area, data)
        self._paint_counts(painter, area, data)
        self._paint_axes(painter, area, data)

    def _paint_points(self, painter: QPainter, place: Place, data: Cloud) -> None:
        theme = self.theme
        opacity = 0.9 if len(data.points) < 300 else 0.6
        painter.setPen(Qt.PenStyle.NoPen)
        for letter in _LETTERS:
            at = [i for i, each in enumerate(data.letters) if each == letter]
            painter.setBrush(faded(theme.series_colour(letter), opacity))
            painter.setPen(QPen(theme.panel, 0.5))
            for i in at:
                painter.drawPath(_marker(letter, place.point(float(data.x[i]), float(data.y[i])), _RADIUS))
        if self._hovered in self._by_id:
            i = self._by_id[self._hovered]
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(theme.text, 2))
            painter.drawEllipse(place.point(float(data.x[i]), float(data.y[i])), _RADIUS + 4, _RADIUS + 4)

    def _paint_axes(self, painter: QPainter, area: QRectF, data: Cloud) -> None:
        """What runs along which axis."""
        theme = self.theme
        unit = data.unit
        across = _("measured, {unit}").format(unit=unit) if unit else _("measured")
        up = _("predicted, {unit}").format(unit=unit) if unit else _("predicted")
        self.paint_text(painter, QPointF(area.right() - 10, area.bottom() - 10), across, theme.text2, align=Right)
        self.paint_text(painter, QPointF(area.left() + 8, area.top() + 10), up, theme.text2)

    def _paint_legend(self, painter: QPainter, area: QRectF, data: Cloud) -> None:
        """Marker, architecture and count, from the top left down."""
        theme = self.theme
        counts = Counter(data.letters)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        y = area.top() + 30
        for letter in _LETTERS:
            if not counts[letter]:
                continue
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(theme.series_colour(letter))
            painter.drawPath(_marker(letter, QPointF(area.left() + 14, y), 4.0))
            place = _LETTERS.index(letter)
            name = _("others") if letter == _LETTERS[-1] else measured.architecture(ARCHITECTURES[place])
            self.paint_text(
                painter, QPointF(area.left() + 24, y), f"{name}  {format.count(counts[letter])}", theme.text2
            )
            y += 17

    def _paint_counts(self, painter: QPainter, area: QRectF, data: Cloud) -> None:
        """What the cloud comes to, at the lower right."""
        theme = self.theme
        lines = [
            ngettext("{count} row", "{count} rows", len(data.points)).format(count=format.count(len(data.points))),
            _("median error {share}").format(share=format.percent(data.median)),
            _("80 % within ×/÷ {factor}").format(factor=format.number(data.factor)),
            _("in their family's band: {share}").format(share=format.percent(data.inside)),
        ]
        y = area.bottom() - 32 - 16 * (len(lines) - 1)
        for line in lines:
            self.paint_text(painter, QPointF(area.right() - 10, y), line, theme.text2, align=Right)
            y += 16

    # --- words -------------------------------------------------------------------

    def reading(self, x: float, y: float) -> tuple[str, str]:
        data: Cloud = self.data
        rect, size = self.view.viewRect(), self.view.size()
        if not size.width() or not size.height():
            return "", ""
        across, down = rect.width() / size.width(), rect.height() / size.height()
        far = np.hypot((data.x - x) / across, (data.y - y) / down)
        at = int(far.argmin())
        if far[at] > _REACH:
            return "", ""
        identity = str(data.points[at].row.get("id"))
        return identity, self.reading_of(identity)

    def reading_of(self, letter: str) -> str:
        point = self.data.points[self._by_id[letter]]
        metric = str(point.row.get("metric"))
        lines = [
            measured.setting(point.row),
            measured.load(point.row),
            _("{metric}: measured {measured}, predicted {predicted} ({error})").format(
                metric=measured.metric(metric),
                measured=measured.value(metric, point.measured),
                predicted=measured.value(metric, point.predicted),
                error=measured.error(point.error),
            ),
            str(point.row.get("source") or ""),
        ]
        return "\n".join(line for line in lines if line)

    def anchor(self, letter: str) -> QPointF:
        at = self._by_id[letter]
        return QPointF(float(self.data.x[at]), float(self.data.y[at]))

    def subtitle(self) -> str:
        if self.data.unit:
            return _("logarithmic; on the line both are equal")
        return _("each row in its unit, logarithmic; on the line both are equal")

    def summary(self) -> str:
        data: Cloud = self.data
        return ngettext(
            "Predicted against measured: {count} row, median error {median}, 80 % within a factor of {factor}.",
            "Predicted against measured: {count} rows, median error {median}, 80 % within a factor of {factor}.",
            len(data.points),
        ).format(
            count=format.count(len(data.points)), median=format.percent(data.median), factor=format.number(data.factor)
        )

    def table(self) -> list[list[str]]:
        data: Cloud = self.data
        head = [
            _("Family"), _("Configuration"), _("Load"), _("Measured"), _("Predicted"), _("Unit"), _("Error"),
            _("Publisher"), _("Source"),
        ]  # fmt: skip
        rows = []
        for point in data.points:
            metric = str(point.row.get("metric"))
            size = measured.size(metric)
            rows.append(
                [
                    measured.family(point.family), measured.setting(point.row), measured.load(point.row),
                    format.number(point.measured / size), format.number(point.predicted / size), measured.unit(metric),
                    measured.error(point.error), str(point.row.get("publisher") or ""),
                    str(point.row.get("source") or ""),
                ]
            )  # fmt: skip
        return [head, *rows]


def _marker(letter: str, at: QPointF, radius: float) -> QPainterPath:
    """The marker of a place in the series, of about the same ink for each."""
    path = QPainterPath()
    shape = _LETTERS.index(letter)
    if shape == 0:
        path.addEllipse(at, radius, radius)
    elif shape == 1:
        path.addRect(QRectF(at.x() - radius * 0.9, at.y() - radius * 0.9, radius * 1.8, radius * 1.8))
    elif shape in (2, 6):
        up = -1.0 if shape == 2 else 1.0
        path.addPolygon(
            QPolygonF(
                [
                    at + QPointF(0, up * radius * 1.2), at + QPointF(radius * 1.1, -up * radius * 0.8),
                    at + QPointF(-radius * 1.1, -up * radius * 0.8),
                ]
            )
        )  # fmt: skip
        path.closeSubpath()
    elif shape in (3, 4):
        corners = 4 if shape == 3 else 10
        outline = []
        for corner in range(corners):
            size = radius * (1.3 if shape == 3 or corner % 2 == 0 else 0.6)
            angle = 2 * math.pi * corner / corners - math.pi / 2
            outline.append(at + QPointF(size * math.cos(angle), size * math.sin(angle)))
        path.addPolygon(QPolygonF(outline))
        path.closeSubpath()
    else:
        arm, thick = radius * 1.2, radius * 0.4
        path.addRect(QRectF(-arm, -thick, 2 * arm, 2 * thick))
        path.addRect(QRectF(-thick, -arm, 2 * thick, 2 * arm))
        turned = QTransform().translate(at.x(), at.y()).rotate(45 if shape == 7 else 0)
        path.setFillRule(Qt.FillRule.WindingFill)
        path = turned.map(path)
    return path
