"""What all charts share: a title with its unit, axes without spines, a canvas painted in pixels, and hovering.

A chart collects plain values from plan and results and paints them in `paint_data`. It repaints only when these values,
the theme or the language have changed; a chart that is not visible waits until it is shown.
"""

import math
import re
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import pyqtgraph as pg
from PySide6.QtCore import QByteArray, QMimeData, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QAccessible,
    QAccessibleEvent,
    QColor,
    QGuiApplication,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPainterPath,
    QPen,
    QPixmap,
    QPolygonF,
    QTransform,
    QWheelEvent,
)
from PySide6.QtWidgets import QHBoxLayout, QLabel, QSizePolicy, QVBoxLayout, QWidget

from gpuplanner.i18n import facts, format
from gpuplanner.model.comparison import scenario_name
from gpuplanner.model.plan import Plan
from gpuplanner.model.results import Results
from gpuplanner.ui.theme import Theme, ThemeSource

HEADER = 24
# An axis keeps its range until data leaves it or fills less than this share of it.
LEAST_FILLED = 0.4
# How much of a mark is left when another scenario is looked at.
FADED = 0.45
BAR_HEIGHT = 0.56
COPY_SCALE = 2
# Names of scenarios take at most this share of a chart's width.
_NAMES_SHARE = 0.34
_ZOOM_STEP = 0.85
_STEPS: dict[int, int] = {Qt.Key.Key_Up: -1, Qt.Key.Key_Left: -1, Qt.Key.Key_Down: 1, Qt.Key.Key_Right: 1}

Left, Right, Centre = Qt.AlignmentFlag.AlignLeft, Qt.AlignmentFlag.AlignRight, Qt.AlignmentFlag.AlignHCenter


class Named(NamedTuple):
    """A scenario as a chart names it."""

    letter: str
    name: str


def named(plan: Plan, results: Results) -> tuple[Named, ...]:
    """The scenarios of the results in the order of the plan, with their names."""
    names = {scenario.letter: scenario_name(scenario) for scenario in plan.scenarios}
    return tuple(Named(entry.letter, names.get(entry.letter) or entry.name) for entry in results.scenarios)


def short_name(name: str) -> str:
    """A name for places with little room: "8× GeForce RTX 4090 24GB" is "RTX 4090 24GB"."""
    parts = []
    for each in name.split(" + "):
        count, times, rest = each.partition("× ")
        parts.append((rest if times and count.isdigit() else each).removeprefix("GeForce "))
    return " + ".join(dict.fromkeys(parts))


def shorter_name(name: str) -> str:
    """The same without the memory size: "RTX 4090"."""
    return re.sub(r" \d+ ?GB\b", "", short_name(name))


def nice_ticks(low: float, high: float, most: int = 6) -> list[float]:
    """Round values within a range, at most `most`, a step of 1, 2 or 5 apart."""
    span = high - low
    if not span > 0 or not math.isfinite(span):
        return [low]
    rough = span / most
    size = 10.0 ** math.floor(math.log10(rough))
    step = next(size * factor for factor in (1, 2, 5, 10) if size * factor >= rough * (1 - 1e-9))
    first = math.ceil(low / step - 1e-9)
    return [round(index * step, 12) for index in range(first, math.floor(high / step + 1e-9) + 1)]


def log_ticks(low: float, high: float) -> list[float]:
    """1, 2 and 5 of each decade within a range; only the decades when there are many."""
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    factors = (1, 2, 5) if last - first <= 3 else (1,)
    return [
        round(factor * 10.0**power, 12) for power in range(first, last + 1) for factor in factors
        if low * (1 - 1e-9) <= factor * 10.0**power <= high * (1 + 1e-9)
    ]  # fmt: skip


def kept_top(shown: float, needed: float) -> float:
    """The end of an axis: what it was while the data fits and fills enough of it, else a round value above the data."""
    if needed <= shown and needed >= LEAST_FILLED * shown:
        return shown
    return _round_up(needed)


def _round_up(value: float) -> float:
    if not value > 0 or not math.isfinite(value):
        return 1.0
    size = 10.0 ** math.floor(math.log10(value))
    return next(size * factor for factor in (1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10, 12) if size * factor >= value)


class Place:
    """From the values of the axes to pixels of the widget."""

    def __init__(self, painter: QPainter, view: QRectF) -> None:
        transform = painter.transform()
        self._transform = QTransform(transform.m11(), 0, 0, transform.m22(), transform.dx(), transform.dy())
        self.m11, self.m22 = transform.m11(), transform.m22()
        self.dx, self.dy = transform.dx(), transform.dy()
        corner, opposite = self.point(view.left(), view.top()), self.point(view.right(), view.bottom())
        self.area = QRectF(corner, opposite).normalized()

    def x(self, value: float) -> float:
        return value * self.m11 + self.dx

    def y(self, value: float) -> float:
        return value * self.m22 + self.dy

    def point(self, x: float, y: float) -> QPointF:
        return QPointF(self.x(x), self.y(y))

    def polygon(self, line: QPolygonF) -> QPolygonF:
        """A line of points in the values of the axes, in pixels."""
        return self._transform.map(line)

    def path(self, path: QPainterPath) -> QPainterPath:
        """A path in the values of the axes, in pixels."""
        return self._transform.map(path)


class _Canvas(pg.GraphicsObject):
    """The one item of a chart. It paints in pixels, so lines and text keep their size at every zoom and scaling."""

    def __init__(self, chart: "Chart") -> None:
        super().__init__()
        self._chart = chart

    def boundingRect(self) -> QRectF:
        return QRectF(self.viewRect())

    def viewRangeChanged(self, *_args: Any) -> None:
        self.prepareGeometryChange()
        self.update()

    def paint(self, painter: QPainter, *_args: Any) -> None:
        place = Place(painter, QRectF(self.viewRect()))
        painter.save()
        painter.resetTransform()
        self._chart.paint_data(painter, place)
        self._chart.paint_readout(painter, place)
        painter.restore()


class Tick(NamedTuple):
    """A place on an axis and its text."""

    value: float
    text: str


class Axis(pg.AxisItem):
    """Texts beside the plot and, on a value axis, hairlines across it. No spine, no marks."""

    def __init__(self, orientation: str, chart: "Chart") -> None:
        super().__init__(orientation)
        self._chart = chart
        self.ticks: tuple[Tick, ...] = ()
        self.lines = False
        self.setStyle(tickLength=0)
        # Our ticks carry their units; the label that would name a power of ten is laid out at each change of range.
        self.enableAutoSIPrefix(False)

    def boundingRect(self) -> QRectF:
        own = self.mapRectFromParent(self.geometry())
        view = self.linkedView()
        if view is not None:
            own = own | view.mapRectToItem(self, view.boundingRect())
        # Without this margin the first and last text are cut.
        return own.adjusted(-15, -9, 15, 9)

    def paint(self, painter: QPainter, *_args: Any) -> None:
        view = self.linkedView()
        if view is None or not self.ticks:
            return
        theme = self._chart.theme
        plot = view.mapRectToItem(self, view.boundingRect())
        own = self.mapRectFromParent(self.geometry())
        upright = self.orientation in ("left", "right")
        # An inverted axis hands its range reversed, so the first end is always at the bottom or left.
        low, high = self.range
        span = (high - low) or 1.0
        painter.setFont(theme.font(11, 400))
        metrics = theme.metrics(11, 400)
        for tick in self.ticks:
            share = (tick.value - low) / span
            if not -1e-6 <= share <= 1 + 1e-6:
                continue
            if upright:
                at = plot.bottom() - plot.height() * share
                text = metrics.elidedText(tick.text, Qt.TextElideMode.ElideRight, int(own.width()) - 9)
                painter.setPen(theme.text2)
                box = QRectF(own.left(), at - 9, own.width() - 8, 18)
                painter.drawText(box, Right | Qt.AlignmentFlag.AlignVCenter, text)
                if self.lines:
                    painter.setPen(QPen(theme.grid, 1))
                    painter.drawLine(QPointF(plot.left(), at), QPointF(plot.right(), at))
            else:
                at = plot.left() + plot.width() * share
                painter.setPen(theme.text2)
                half = metrics.horizontalAdvance(tick.text) / 2 + 2
                left = min(max(at - half, own.left() - 12), own.right() + 12 - 2 * half)
                painter.drawText(QRectF(left, own.top() + 3, 2 * half, 18), Qt.AlignmentFlag.AlignCenter, tick.text)
                if self.lines:
                    painter.setPen(QPen(theme.grid, 1))
                    painter.drawLine(QPointF(at, plot.top()), QPointF(at, plot.bottom()))


class _View(pg.ViewBox):
    """Ctrl+wheel zooms, dragging moves what is zoomed; anything else goes to the page around the chart."""

    def __init__(self, chart: "Chart") -> None:
        super().__init__(enableMenu=False, defaultPadding=0.0)
        self._chart = chart

    def wheelEvent(self, event: Any, axis: int | None = None) -> None:
        if not event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            event.ignore()
            return
        self._chart.zoomed = True
        self.scaleBy(s=[_ZOOM_STEP ** (event.delta() / 120)] * 2, center=self.mapToView(event.pos()))
        self._chart.range_moved()
        event.accept()

    def mouseDragEvent(self, event: Any, axis: int | None = None) -> None:
        if not self._chart.zoomed or event.button() != Qt.MouseButton.LeftButton:
            event.ignore()
            return
        event.accept()
        moved = self.mapToView(event.lastPos()) - self.mapToView(event.pos())
        self.translateBy(x=moved.x(), y=moved.y())
        self._chart.range_moved()


class _Plot(pg.PlotWidget):
    """The plot of a chart, without menu and buttons."""

    def __init__(self, chart: "Chart", axes: dict[str, Axis]) -> None:
        super().__init__(viewBox=_View(chart), axisItems=axes)
        self._chart = chart
        self.setFrameShape(self.Shape.NoFrame)
        self.hideButtons()
        item = self.getPlotItem()
        item.setMenuEnabled(False)
        item.layout.setContentsMargins(0, 4, 12, 0)
        for axis in axes.values():
            # The plot item lifts an axis above its marks when it adopts it.
            axis.setZValue(-10)
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        # The ground of the plot covers what is behind it.
        self.viewport().setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)

    def sizeHint(self) -> QSize:
        return QSize(320, 180)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        super().mouseMoveEvent(event)
        self._chart.pointer_at(self.mapToScene(event.position().toPoint()))

    def leaveEvent(self, event: Any) -> None:
        super().leaveEvent(event)
        self._chart.pointer_left()

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        if not self._chart.derive():
            self._chart.reset_zoom()
        event.accept()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        super().mouseReleaseEvent(event)
        if event.button() == Qt.MouseButton.LeftButton:
            self._chart.clicked()

    def wheelEvent(self, event: QWheelEvent) -> None:
        if event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            super().wheelEvent(event)
        else:
            event.ignore()


class Swatch(NamedTuple):
    """One entry of a legend: a colour and its word. A line instead of a square for limits."""

    colour: QColor
    text: str
    line: bool = False


class _Legend(QWidget):
    """Swatches in one row, right of the title."""

    def __init__(self) -> None:
        super().__init__()
        self._swatches: tuple[Swatch, ...] = ()
        self.theme: Theme | None = None
        self._wanted = 0
        self.setFixedHeight(18)
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)

    def show_swatches(self, swatches: tuple[Swatch, ...], theme: Theme) -> None:
        if (swatches, theme) != (self._swatches, self.theme):
            self._swatches, self.theme = swatches, theme
            self._wanted = round(sum(self._width(each) for each in swatches))
            self.updateGeometry()
            self.update()

    def sizeHint(self) -> QSize:
        return QSize(self._wanted, 18)

    def minimumSizeHint(self) -> QSize:
        # A narrow chart does without the last entries; hovering names every part.
        return QSize(0, 18)

    def _width(self, swatch: Swatch) -> float:
        assert self.theme is not None
        return 14 + self.theme.metrics(11, 400).horizontalAdvance(swatch.text) + 12

    def paintEvent(self, _event: Any) -> None:
        if self.theme is None:
            return
        painter = QPainter(self)
        painter.setFont(self.theme.font(11, 400))
        x = 0.0
        for swatch in self._swatches:
            if x + self._width(swatch) > self.width() + 12:
                return
            if swatch.line:
                painter.fillRect(QRectF(x, 8, 10, 2), swatch.colour)
            else:
                painter.fillRect(QRectF(x, 4, 10, 10), swatch.colour)
            painter.setPen(self.theme.text2)
            painter.drawText(QPointF(x + 14, 13), swatch.text)
            x += self._width(swatch)


class _Subtitle(QLabel):
    """The words beside a chart's title; they end in an ellipsis where there is no room."""

    def __init__(self) -> None:
        super().__init__()
        self._whole = ""

    def show_text(self, text: str) -> None:
        """Show as much of the text as there is room for; the tooltip has all of it."""
        if text != self._whole:
            self._whole = text
            self.setToolTip(text)
        self._elide()

    def resizeEvent(self, event: Any) -> None:
        super().resizeEvent(event)
        self._elide()

    def _elide(self) -> None:
        shown = self.fontMetrics().elidedText(self._whole, Qt.TextElideMode.ElideRight, self.width())
        if shown != self.text():
            self.setText(shown)


class Chart(QWidget):
    """A chart of one workload across all scenarios.

    Subclasses name their `key` in `i18n.facts`, and give `collect`, `paint_data`, `subtitle`, `summary` and `table`.
    """

    key = ""
    # What a click on a scenario's mark explains: the key of a row of the comparison.
    explains = ""
    # Whether that is a figure of a scenario, which has a derivation.
    derives = True
    explain_requested = Signal(str, str)
    derivation_requested = Signal(str, str)
    # The letter of the scenario under the pointer, "" for none.
    hovered = Signal(str)

    def __init__(self, theme: ThemeSource) -> None:
        super().__init__()
        self._source = theme
        self.theme = theme.theme
        self.data: Any = None
        self.zoomed = False
        self.emphasis = ""
        self._readout = ""
        self._readout_at = QPointF()
        self._hovered = ""
        self._waiting: tuple[Plan, Results, str, str] | None = None
        self._top_x = self._top_y = 0.0
        self._arranging = False

        self.title, self.unit, self.legend = QLabel(), _Subtitle(), _Legend()
        for label in (self.title, self.unit):
            label.setTextFormat(Qt.TextFormat.PlainText)
        self.unit.setProperty("tone", "third")
        self.unit.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        header = QHBoxLayout()
        header.setContentsMargins(12, 6, 12, 0)
        header.setSpacing(8)
        header.addWidget(self.title)
        header.addWidget(self.unit, 1)
        header.addWidget(self.legend)
        self.left, self.bottom = Axis("left", self), Axis("bottom", self)
        self.plot = _Plot(self, {"left": self.left, "bottom": self.bottom})
        self.view = self.plot.getViewBox()
        self.canvas = _Canvas(self)
        self.plot.addItem(self.canvas)
        self.view.disableAutoRange()
        self.view.sigResized.connect(self._resized)
        self.bottom.setHeight(24)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 4)
        layout.setSpacing(0)
        layout.addLayout(header)
        layout.addWidget(self.plot, 1)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        theme.changed.connect(self._theme_changed)
        self._take_theme()
        self.retranslate()

    # --- what a subclass gives ---------------------------------------------------

    def collect(self, plan: Plan, results: Results, workload_id: str, selected: str) -> Any:
        """The plain values that are painted; None if there is nothing to show."""
        raise NotImplementedError

    def arrange(self) -> None:
        """Set axes and ranges for `data`. Called when the data has changed."""
        raise NotImplementedError

    def paint_data(self, painter: QPainter, place: Place) -> None:
        """Paint `data`."""
        raise NotImplementedError

    def subtitle(self) -> str:
        """The unit and what it refers to, beside the title."""
        raise NotImplementedError

    def summary(self) -> str:
        """What the chart shows, as one sentence for a screen reader."""
        raise NotImplementedError

    def table(self) -> list[list[str]]:
        """The values with a heading row, for copying and for those who do not see the chart."""
        raise NotImplementedError

    def swatches(self) -> tuple[Swatch, ...]:
        """The legend; empty where marks are labelled directly."""
        return ()

    def letters(self) -> tuple[str, ...]:
        """The scenarios that have marks, in order."""
        return tuple(entry.letter for entry in self.data.entries) if self.data is not None else ()

    def reading(self, x: float, y: float) -> tuple[str, str]:
        """What is under the pointer, in the values of the axes: the letter and the sentence of its figures."""
        return "", ""

    def reading_of(self, letter: str) -> str:
        """The sentence of one scenario's figures."""
        return ""

    # --- showing -----------------------------------------------------------------

    def show_results(self, plan: Plan, results: Results, workload_id: str, selected: str) -> None:
        """Show other results; nothing is repainted when the figures of this chart are the same."""
        if not self.isVisible():
            self._waiting = (plan, results, workload_id, selected)
            return
        self._waiting = None
        data = self.collect(plan, results, workload_id, selected)
        if data != self.data:
            self.data = data
            self._arrange_all()

    def showEvent(self, event: Any) -> None:
        super().showEvent(event)
        if self._waiting is not None:
            self.show_results(*self._waiting)

    def retranslate(self) -> None:
        """Take the words of the language in force."""
        self._arrange_all()

    def set_emphasis(self, letter: str) -> None:
        """Fade all scenarios but one; "" shows all alike."""
        if letter != self.emphasis:
            self.emphasis = letter
            self.canvas.update()

    def strength(self, letter: str) -> float:
        """The opacity of a scenario's marks."""
        return 1.0 if not self.emphasis or letter == self.emphasis else FADED

    def _arrange_all(self) -> None:
        self.title.setFont(self.theme.font(12, 600))
        self.unit.setFont(self.theme.font(11, 400))
        self.title.setText(facts.chart_title(self.key))
        if self.data is not None:
            subtitle = self.subtitle()
            self.unit.show_text(subtitle)
            self.legend.show_swatches(self.swatches(), self.theme)
            self.setAccessibleName(self.summary())
            self.arrange()
        else:
            self.unit.show_text("")
            self.legend.show_swatches((), self.theme)
            self.left.ticks = self.bottom.ticks = ()
            self.setAccessibleName(facts.chart_title(self.key))
        self._readout = ""
        for item in (self.canvas, self.left, self.bottom):
            item.update()
        if self.isVisible():
            # Otherwise the first paint finds that the axes have moved, and asks for a second one.
            self.plot.getPlotItem().layout.activate()
            self.plot.scene().prepareForPaint()

    def _theme_changed(self, theme: Theme) -> None:
        self.theme = theme
        self._take_theme()
        self._arrange_all()

    def _take_theme(self) -> None:
        self.plot.setBackground(self.theme.panel)

    # --- axes --------------------------------------------------------------------

    def set_range(self, x: tuple[float, float], y: tuple[float, float]) -> None:
        """Show these values unless the user has zoomed in."""
        if not self.zoomed and self.view.targetRange() != [list(x), list(y)]:
            self.view.setRange(xRange=x, yRange=y, padding=0, disableAutoRange=True)

    def name_axis(self, entries: Sequence[Named]) -> None:
        """Names of scenarios down the left side, the first on top."""
        self.view.invertY(True)
        metrics = self.theme.metrics(11, 400)
        limit = max(60, int(self.width() * _NAMES_SHARE))

        def widths(names: Iterable[str]) -> int:
            return max((metrics.horizontalAdvance(name) for name in names), default=0) + 14

        names = [f"{entry.letter}  {entry.name}" for entry in entries]
        if widths(names) > limit:
            # The letter says which one it is; the count of cards is on its card.
            names = [f"{entry.letter}  {short_name(entry.name)}" for entry in entries]
        if widths(names) > limit:
            names = [f"{entry.letter}  {shorter_name(entry.name)}" for entry in entries]
        ticks = [Tick(float(row), name) for row, name in enumerate(names)]
        self._give_width(self.left, min(widths(names), limit))
        self.left.ticks, self.left.lines = tuple(ticks), False

    def value_axis(self, axis: Axis, ticks: Iterable[tuple[float, str]]) -> None:
        """Round values along an axis, with hairlines."""
        axis.ticks, axis.lines = tuple(Tick(*tick) for tick in ticks), True
        if axis.orientation == "left":
            metrics = self.theme.metrics(11, 400)
            widest = max((metrics.horizontalAdvance(tick.text) for tick in axis.ticks), default=20)
            self._give_width(axis, widest + 18)

    def _give_width(self, axis: Axis, width: int) -> None:
        # Setting the same width again lays the whole plot out anew.
        if axis.fixedWidth != width:
            axis.setWidth(width)

    def keep_top(self, needed_x: float) -> float:
        """The right end of a value axis that begins at 0, kept still while the data allows."""
        self._top_x = kept_top(self._top_x, needed_x)
        return self._top_x

    def _resized(self, *_args: object) -> None:
        """Room for words at the ends of an axis is a matter of pixels."""
        if self.data is not None and not self._arranging:
            self._arranging = True
            self.arrange()
            self._arranging = False

    def reset_zoom(self) -> None:
        """Show everything again."""
        self.zoomed = False
        self._top_x = 0.0
        if self.data is not None:
            self.arrange()
        self.range_moved()

    def range_moved(self) -> None:
        """The user has zoomed or moved: the axes follow."""
        for axis in (self.left, self.bottom):
            axis.update()
        self.canvas.update()

    # --- pointer and keys ----------------------------------------------------------

    def pointer_at(self, scene: QPointF) -> None:
        """The pointer is over the plot."""
        if self.data is None or not self.view.sceneBoundingRect().contains(scene):
            self.pointer_left()
            return
        at = self.view.mapSceneToView(scene)
        letter, text = self.reading(at.x(), at.y())
        self._show_reading(letter, text, at)

    def pointer_left(self) -> None:
        """The pointer has left the plot."""
        self._show_reading("", "", QPointF())

    def clicked(self) -> None:
        """A click explains the mark under the pointer."""
        if self._hovered and self.explains:
            self.explain_requested.emit(self._hovered, self.explains)

    def derive(self) -> bool:
        """Ask how the figure of the mark under the pointer comes about; False where there is no mark."""
        if not (self._hovered and self.explains and self.derives):
            return False
        self.derivation_requested.emit(self._hovered, self.explains)
        return True

    def _show_reading(self, letter: str, text: str, at: QPointF) -> None:
        if (text, at) != (self._readout, self._readout_at):
            self._readout, self._readout_at = text, at
            self.canvas.update()
        if letter != self._hovered:
            self._hovered = letter
            self.plot.viewport().setCursor(
                Qt.CursorShape.PointingHandCursor if letter and self.explains else Qt.CursorShape.ArrowCursor
            )
            self.hovered.emit(letter)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        letters = self.letters()
        step = _STEPS.get(event.key())
        if step is not None and letters:
            now = letters.index(self._hovered) + step if self._hovered in letters else (0 if step > 0 else -1)
            letter = letters[now % len(letters)]
            said = self.reading_of(letter)
            self._show_reading(letter, said, self.anchor(letter))
            self.setAccessibleDescription(said)
            QAccessible.updateAccessibility(QAccessibleEvent(self, QAccessible.Event.DescriptionChanged))
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self._hovered:
            self.clicked()
        elif event.key() == Qt.Key.Key_Escape and (self._hovered or self.zoomed):
            self.pointer_left()
            self.reset_zoom()
        else:
            super().keyPressEvent(event)

    def anchor(self, letter: str) -> QPointF:
        """Where the reading of a scenario is shown when keys walk through them, in the values of the axes."""
        rect = self.view.viewRect()
        return QPointF(rect.center().x(), float(self.letters().index(letter)))

    # --- copying -----------------------------------------------------------------

    def copy(self) -> None:
        """Put a picture at twice the size and the values, tab-separated, on the clipboard."""
        data = QMimeData()
        data.setImageData(self.picture().toImage())
        data.setText(self.tsv())
        data.setData("text/tab-separated-values", QByteArray(self.tsv().encode()))
        QGuiApplication.clipboard().setMimeData(data)

    def picture(self, scale: float = COPY_SCALE) -> QPixmap:
        """The chart as a picture, text and lines drawn at that scale."""
        made = QPixmap(self.size() * scale)
        made.setDevicePixelRatio(scale)
        made.fill(self.theme.panel)
        self.render(made)
        return made

    def tsv(self) -> str:
        """The values of the chart, tab-separated."""
        return "\n".join("\t".join(row) for row in self.table()) if self.data is not None else ""

    # --- painting ----------------------------------------------------------------

    def paint_readout(self, painter: QPainter, place: Place) -> None:
        """The figures under the pointer, on a ground of their own."""
        if not self._readout:
            return
        theme = self.theme
        metrics = theme.metrics(11, 600)
        lines = self._readout.split("\n")
        width = max(metrics.horizontalAdvance(line) for line in lines) + 14
        height = 16 * len(lines) + 6
        at = place.point(self._readout_at.x(), self._readout_at.y()) + QPointF(12, -height - 4)
        area = place.area
        x = at.x() if at.x() + width <= area.right() else max(area.left(), at.x() - width - 24)
        y = min(max(at.y(), area.top()), max(area.top(), area.bottom() - height))
        box = QRectF(x, y, width, height)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(theme.line2, theme.border))
        painter.setBrush(theme.panel)
        painter.drawRoundedRect(box, 4, 4)
        painter.setPen(theme.text)
        painter.setFont(theme.font(11, 600))
        for row, line in enumerate(lines):
            painter.drawText(QRectF(x + 7, y + 3 + 16 * row, width, 16), Left | Qt.AlignmentFlag.AlignVCenter, line)

    def paint_text(
        self, painter: QPainter, at: QPointF, text: str, colour: QColor, *, weight: int = 400, align: Any = Left,
        filled: bool = True, size: int = 11,
    ) -> QRectF:  # fmt: skip
        """A text whose left end, centre or right end stands at a place, vertically centred. Returns its box."""
        metrics = self.theme.metrics(size, weight)
        width = metrics.horizontalAdvance(text)
        left = at.x() - {Left: 0.0, Centre: width / 2, Right: width}[align]
        box = QRectF(left, at.y() - metrics.height() / 2, width, metrics.height())
        if filled:
            ground = QColor(self.theme.panel)
            ground.setAlphaF(0.85)
            painter.fillRect(box.adjusted(-2, 1, 2, -1), ground)
        painter.setFont(self.theme.font(size, weight))
        painter.setPen(colour)
        painter.drawText(box, Qt.AlignmentFlag.AlignCenter, text)
        return box

    def paint_limit(self, painter: QPainter, line: tuple[QPointF, QPointF], colour: QColor) -> None:
        """A dashed line."""
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        pen = QPen(colour, 1.0 * self.theme.border)
        pen.setDashPattern([4, 3])
        painter.setPen(pen)
        painter.drawLine(*line)

    def paint_whisker(self, painter: QPainter, low: float, high: float, y: float) -> None:
        """The band of a bar."""
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        painter.setPen(QPen(self.theme.text, 1.0 * self.theme.border))
        painter.drawLine(QPointF(low, y), QPointF(high, y))
        for x in (low, high):
            painter.drawLine(QPointF(x, y - 4), QPointF(x, y + 4))

    def paint_nothing(self, painter: QPainter, place: Place, text: str) -> None:
        """A sentence in the middle of an empty plot."""
        painter.setFont(self.theme.font(12, 400))
        painter.setPen(self.theme.text3)
        painter.drawText(place.area, Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap, text)


def bar(place: Place, row: float, start: float, end: float, height: float = BAR_HEIGHT) -> QRectF:
    """The rectangle of a horizontal bar, on whole pixels."""
    top, bottom = sorted((place.y(row - height / 2), place.y(row + height / 2)))
    # Few scenarios in a tall chart would give slabs.
    if bottom - top > 26:
        middle = (top + bottom) / 2
        top, bottom = middle - 13, middle + 13
    left, right = place.x(start), place.x(end)
    return QRectF(round(left), round(top), max(0.0, round(right) - round(left)), max(1, round(bottom) - round(top)))


def faded(colour: QColor, opacity: float) -> QColor:
    """The colour with that opacity."""
    made = QColor(colour)
    made.setAlphaF(opacity)
    return made


def joined(labels: Sequence[tuple[QPointF, str]], near_x: float, near_y: float) -> list[tuple[QPointF, str]]:
    """Labels that would cover each other become one, "B, E"."""
    made: list[tuple[QPointF, str]] = []
    for at, text in sorted(labels, key=lambda label: label[0].x()):
        if made and abs(made[-1][0].x() - at.x()) < near_x and abs(made[-1][0].y() - at.y()) < near_y:
            made[-1] = (made[-1][0], f"{made[-1][1]}, {text}")
        else:
            made.append((at, text))
    return made


def line_of(xs: Iterable[float], ys: Iterable[float]) -> QPolygonF:
    """A line of points in the values of the axes; made once for new data, mapped to pixels at every repaint."""
    return QPolygonF([QPointF(x, y) for x, y in zip(xs, ys, strict=True)])


def area_between(xs: Sequence[float], low: Sequence[float], high: Sequence[float]) -> QPainterPath:
    """The band between two curves, in the values of the axes."""
    path = QPainterPath()
    path.addPolygon(line_of([*xs, *reversed(xs)], [*low, *reversed(high)]))
    path.closeSubpath()
    return path


def tick_text(value: float) -> str:
    """A round value of an axis."""
    return format.exact(value)
