"""The comparison: a table of metrics by scenarios beside the charts, and a page for each chart.

Every number can be clicked: the panel asks for its explanation by the scenario's letter and the metric's key.
"""

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from PySide6.QtCore import (
    QAbstractTableModel,
    QEvent,
    QModelIndex,
    QPersistentModelIndex,
    QPoint,
    QPointF,
    QRect,
    QRectF,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import QGuiApplication, QKeyEvent, QKeySequence, QMouseEvent, QPainter, QPen
from PySide6.QtWidgets import (
    QAbstractItemView,
    QBoxLayout,
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QHeaderView,
    QLabel,
    QPushButton,
    QSizePolicy,
    QStackedWidget,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTabBar,
    QTableView,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from gpuplanner.i18n import _, facts, format, language
from gpuplanner.model import comparison
from gpuplanner.model.plan import Plan
from gpuplanner.model.results import Results, Status
from gpuplanner.ui import icons
from gpuplanner.ui.charts.base import Chart, short_name, shorter_name
from gpuplanner.ui.charts.cost_over_time import CostChart
from gpuplanner.ui.charts.latency_throughput import LatencyChart
from gpuplanner.ui.charts.memory import MemoryChart
from gpuplanner.ui.charts.power_cooling import PowerChart
from gpuplanner.ui.charts.speed import SpeedChart
from gpuplanner.ui.document import PlanDocument
from gpuplanner.ui.evaluation import Evaluation
from gpuplanner.ui.theme import Theme, ThemeSource

Index = QModelIndex | QPersistentModelIndex

ROW = 22
SECTION_ROW = 26
HEADER_ROW = 30
LABEL_WIDTH = 146
MOST_LABEL = 240
LEAST_COLUMN = 70
MOST_COLUMN = 150
ICON = 11
FADED = 0.45
# Where the value ends and the band ends, from the right edge of a column; the band is left out where it has no room.
LEAST_BAND = 34
_BAND_GAP = 5
_EDGE = 4
_ICON_GAP = 3
# The charts go under the table below this width.
_NARROW = 940
# The height from which charts fit under the table, and the least at which one can be read.
_TALL, _CHART_HEIGHT = 420, 132


class Shown(NamedTuple):
    """One cell as it is painted; a cell is repainted only when this differs."""

    value: str
    beside: str
    status: Status
    best: bool


class Line(NamedTuple):
    """One row as it is painted, with the figures behind it. ``cells`` is empty for the caption of a section."""

    key: str
    label: str
    unit: str
    cells: tuple[Shown, ...] = ()
    row: comparison.Row | None = None
    scale: facts.Scale | None = None

    def tip(self, at: int) -> str:
        """What a cell says on hovering: value with unit, band and origin."""
        assert self.row is not None and self.scale is not None
        cell, scale = self.row.cells[at], self.scale
        figure = cell.figure
        lines = [f"{cell.letter} · {self.label}  {scale.text(figure.value)}"]
        if not figure.known:
            lines.append(facts.word(figure.note) if figure.note else facts.basis("not known"))
        else:
            if comparison.has_band(figure):
                lines.append(_("80 % band {band}").format(band=scale.band(figure.low, figure.high)))
            lines.append(facts.basis(figure.basis))
            if facts.own_mark(figure.note):
                lines.append(_("Moved by your own measurements (Plan › Own measurements)"))
        lines.append(_("Enter or click: how it is worked out"))
        return "\n".join(lines)

    def spoken(self, at: int) -> str:
        """What a screen reader says of a cell."""
        assert self.row is not None and self.scale is not None
        cell = self.row.cells[at]
        said = _("{letter}, {metric}: {value}.").format(
            letter=cell.letter, metric=self.label, value=self.scale.text(cell.figure.value)
        )
        return said + (" " + _("Best.") if cell.best else "")


class Column(NamedTuple):
    """One scenario as the header shows it."""

    letter: str
    name: str


def lines_of(rows: Sequence[comparison.Row], currency: str) -> tuple[Line, ...]:
    """The rows of the comparison in words, with the captions of their sections between them."""
    made: list[Line] = []
    section = ""
    for row in rows:
        if row.section != section:
            section = row.section
            caption = facts.section(section)
            # Chinese has no capitals.
            made.append(Line("", caption.upper() if language() == "en" else caption, ""))
        made.append(_line(row, currency))
    return tuple(made)


def _line(row: comparison.Row, currency: str) -> Line:
    scale = facts.scale(row.kind, [cell.figure.value for cell in row.cells], currency)
    label = _label(row.key, tuple(row.numbers.items()), language())
    beside = facts.scale(row.second_kind, [], currency) if row.second_kind else None
    unit = scale.unit if row.kind != "headroom" else ""
    if row.target is not None:
        sign = "≥" if row.better == "high" else "≤"
        unit = f"{unit} {sign} {target_text(row, scale)}"
    cells = tuple(_shown(row, cell, scale, beside) for cell in row.cells)
    return Line(row.key, label, unit, cells, row, scale)


def target_text(row: comparison.Row, scale: facts.Scale) -> str:
    """A target as the row writes it: what was typed with all its digits, what was computed to three."""
    return scale.value(row.target) if row.key in ("output", "max_power") else scale.exact(row.target)


def _shown(row: comparison.Row, cell: comparison.Cell, scale: facts.Scale, beside: facts.Scale | None) -> Shown:
    figure = cell.figure
    if beside is not None and cell.second is not None:
        second = _beside(row.key, beside, cell.second.value, language())
    elif row.kind != "headroom" and comparison.has_band(figure):
        # The band of the headroom is that of the output, a row above.
        second = _band(scale, figure.low, figure.high, language())
    else:
        second = ""
    mark = facts.own_mark(figure.note) if figure.known else ""
    return Shown(mark + _value(scale, figure.value, language()), second, cell.status, cell.best)


# One edit changes few figures; the words of the others are remembered, for the language they are in.


@lru_cache(maxsize=256)
def _label(key: str, numbers: tuple[tuple[str, float], ...], _language: str) -> str:
    return facts.metric(key, dict(numbers))


@lru_cache(maxsize=4096)
def _value(scale: facts.Scale, value: float | None, _language: str) -> str:
    return scale.value(value)


@lru_cache(maxsize=4096)
def _band(scale: facts.Scale, low: float | None, high: float | None, _language: str) -> str:
    return scale.band(low, high)


@lru_cache(maxsize=4096)
def _beside(key: str, scale: facts.Scale, value: float | None, _language: str) -> str:
    if key == "max_power":
        return _("{power} peak").format(power=scale.value(value))
    return f"{scale.value(value)} {scale.unit}"


class ComparisonModel(QAbstractTableModel):
    """Lines by scenarios; the first column holds the labels."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.columns: tuple[Column, ...] = ()
        self.lines: tuple[Line, ...] = ()

    def show(self, columns: tuple[Column, ...], lines: tuple[Line, ...]) -> bool:
        """Take other lines; says whether the shape has changed. Only cells that differ are repainted."""
        shape = [(line.key, len(line.cells)) for line in lines]
        if len(columns) != len(self.columns) or shape != [(line.key, len(line.cells)) for line in self.lines]:
            self.beginResetModel()
            self.columns, self.lines = columns, lines
            self.endResetModel()
            return True
        before, self.lines = self.lines, lines
        if columns != self.columns:
            self.columns = columns
            self.headerDataChanged.emit(Qt.Orientation.Horizontal, 0, len(columns))
        for row, (old, new) in enumerate(zip(before, lines, strict=True)):
            if (old.label, old.unit) != (new.label, new.unit):
                self.dataChanged.emit(self.index(row, 0), self.index(row, 0))
            for column, (one, other) in enumerate(zip(old.cells, new.cells, strict=True), start=1):
                if one != other:
                    self.dataChanged.emit(self.index(row, column), self.index(row, column))
        return False

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(self.lines)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(self.columns) + 1

    def flags(self, index: Index) -> Qt.ItemFlag:
        if index.column() == 0 or not self.lines[index.row()].cells:
            return Qt.ItemFlag.ItemIsEnabled
        return Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid():
            return None
        line = self.lines[index.row()]
        if index.column() == 0:
            if role == Qt.ItemDataRole.DisplayRole:
                return f"{line.label}  {line.unit}".rstrip()
            return None
        cell = line.cells[index.column() - 1] if line.cells else None
        if cell is None:
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return cell.value
        if role == Qt.ItemDataRole.ToolTipRole:
            return line.tip(index.column() - 1)
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return line.spoken(index.column() - 1)
        return None

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if orientation != Qt.Orientation.Horizontal or role != Qt.ItemDataRole.DisplayRole:
            return None
        if section == 0:
            return _("value, 80 % band")
        column = self.columns[section - 1]
        return f"{column.letter} {column.name}"

    def subject(self, index: Index) -> tuple[str, str] | None:
        """The letter and the metric of a cell, None where there is no number."""
        if not index.isValid() or index.column() == 0 or not self.lines[index.row()].cells:
            return None
        return self.columns[index.column() - 1].letter, self.lines[index.row()].key


class _Header(QHeaderView):
    """Letter badge and short name of each scenario, right-aligned over the values."""

    def __init__(self, table: "ComparisonTable") -> None:
        super().__init__(Qt.Orientation.Horizontal, table)
        self._table = table
        # The default minimum widens narrow columns.
        self.setMinimumSectionSize(20)
        self.setSectionsClickable(True)
        self.setHighlightSections(False)
        self.setFixedHeight(HEADER_ROW)

    def sizeHint(self) -> QSize:
        return QSize(super().sizeHint().width(), HEADER_ROW)

    def paintSection(self, painter: QPainter, rect: QRect, section: int) -> None:
        table = self._table
        theme, model = table.theme, table.lines_model
        box = QRectF(rect)
        selected = section > 0 and model.columns[section - 1].letter == table.selected
        painter.fillRect(box, theme.selected if selected else theme.panel)
        painter.setPen(QPen(theme.line, 1))
        painter.drawLine(QPointF(box.left(), box.bottom() - 0.5), QPointF(box.right(), box.bottom() - 0.5))
        if section == 0:
            painter.setFont(theme.font(11, 400))
            painter.setPen(theme.text2)
            painter.drawText(box.adjusted(12, 0, 0, 0), Qt.AlignmentFlag.AlignVCenter, _("value, 80 % band"))
            return
        column = model.columns[section - 1]
        painter.setOpacity(table.strength(column.letter))
        metrics = theme.metrics(11, 600)
        room = int(box.width()) - _EDGE - 24
        fits = metrics.horizontalAdvance(column.name) <= room
        text = metrics.elidedText(column.name if fits else shorter_name(column.name), Qt.TextElideMode.ElideRight, room)
        width = metrics.horizontalAdvance(text)
        left = box.right() - _EDGE - width
        icons.paint_letter(painter, column.letter, QRectF(left - 21, box.center().y() - 8, 16, 16), theme)
        painter.setFont(theme.font(11, 600))
        painter.setPen(theme.text)
        painter.drawText(QRectF(left, box.top(), width + 2, box.height()), Qt.AlignmentFlag.AlignVCenter, text)
        painter.setOpacity(1.0)


class _Cells(QStyledItemDelegate):
    """Icon, value and band on fixed sub-columns, a hairline under each row."""

    def __init__(self, table: "ComparisonTable") -> None:
        super().__init__(table)
        self._table = table

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        table = self._table
        theme, box = table.theme, QRectF(option.rect)  # type: ignore[attr-defined]
        line = table.lines_model.lines[index.row()]
        letter = table.lines_model.columns[index.column() - 1].letter if index.column() else ""
        if letter and letter == table.selected:
            painter.fillRect(box, theme.selected)
        if not line.cells:
            if index.column() == 0:
                painter.setFont(theme.font(10, 600))
                painter.setPen(theme.text2)
                flags = Qt.AlignmentFlag.AlignBottom | Qt.AlignmentFlag.AlignLeft
                painter.drawText(box.adjusted(12, 0, 200, -4), flags, line.label)
            return
        painter.setPen(QPen(theme.grid, 1))
        painter.drawLine(
            QPointF(box.left() + (12 if not letter else 0), box.bottom() - 0.5),
            QPointF(box.right(), box.bottom() - 0.5),
        )
        if index.column() == 0:
            self._paint_label(painter, box, line, theme)
            return
        painter.setOpacity(table.strength(letter))
        self._paint_cell(painter, box, line.cells[index.column() - 1], table.band_width(index.column()), theme)
        painter.setOpacity(1.0)
        if option.state & QStyle.StateFlag.State_HasFocus and table.hasFocus():  # type: ignore[attr-defined]
            painter.setPen(QPen(theme.accent, 2))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRect(box.adjusted(1, 1, -1, -2))

    def _paint_label(self, painter: QPainter, box: QRectF, line: Line, theme: Theme) -> None:
        painter.setFont(theme.font(12, 400))
        painter.setPen(theme.text)
        flags = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft
        metrics = theme.metrics(12, 400)
        label = metrics.elidedText(line.label, Qt.TextElideMode.ElideRight, int(box.width()) - 14)
        painter.drawText(box.adjusted(12, 0, 0, 0), flags, label)
        if line.unit:
            left = 12 + metrics.horizontalAdvance(label) + 6
            small = theme.metrics(10, 400)
            unit = small.elidedText(line.unit, Qt.TextElideMode.ElideRight, int(box.width() - left))
            painter.setFont(theme.font(10, 400))
            painter.setPen(theme.text3)
            painter.drawText(box.adjusted(left, 1, 0, 1), flags, unit)

    def _paint_cell(self, painter: QPainter, box: QRectF, cell: Shown, band: int, theme: Theme) -> None:
        right = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight
        end = box.right() - _EDGE
        if band:
            if cell.beside and theme.metrics(10, 400).horizontalAdvance(cell.beside) <= band + 1:
                painter.setFont(theme.font(10, 400))
                painter.setPen(theme.text3)
                painter.drawText(
                    QRectF(box.left(), box.top() + 1, box.width() - _EDGE, box.height()), right, cell.beside
                )
            end -= band + _BAND_GAP
        weight = 600 if cell.best else 400
        colour = theme.text if cell.status in ("ok", "unknown") else theme.status_colour(cell.status)
        metrics = theme.metrics(12, weight)
        width = metrics.horizontalAdvance(cell.value)
        painter.setFont(theme.font(12, weight))
        painter.setPen(colour if cell.value != format.NOT_KNOWN else theme.text3)
        painter.drawText(QRectF(end - width - 2, box.top(), width + 2, box.height()), right, cell.value)
        if cell.best:
            painter.fillRect(QRectF(end - width, box.bottom() - 4, width, 2), theme.ok)
        if cell.status in ("warn", "fail"):
            place = QRectF(end - width - ICON - _ICON_GAP, box.center().y() - ICON / 2, ICON, ICON)
            icons.paint(painter, cell.status, place, theme.status_colour(cell.status), theme.panel)

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        return QSize(LEAST_COLUMN, ROW)


class ComparisonTable(QTableView):
    """The table of metrics by scenarios."""

    explain_requested = Signal(str, str)
    derivation_requested = Signal(str, str)
    column_clicked = Signal(str)
    hovered = Signal(str)

    def __init__(self, theme: ThemeSource) -> None:
        super().__init__()
        self.theme = theme.theme
        self.selected = ""
        self.emphasis = ""
        # The width of the band's sub-column, by column.
        self.band_widths: list[int] = []
        self._text_widths: dict[tuple[int, int, str], int] = {}
        self.shows_bands = True
        self._hovered = ""
        self.lines_model = ComparisonModel(self)
        self.setModel(self.lines_model)
        self.setItemDelegate(_Cells(self))
        header = _Header(self)
        self.setHorizontalHeader(header)
        header.sectionClicked.connect(self._header_clicked)
        header.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self.verticalHeader().hide()
        self.verticalHeader().setMinimumSectionSize(12)
        self.verticalHeader().setDefaultSectionSize(ROW)
        self.setShowGrid(False)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setSelectionMode(QAbstractItemView.SelectionMode.NoSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setMouseTracking(True)
        self.setTabKeyNavigation(False)
        self.setCornerButtonEnabled(False)
        self.clicked.connect(self._clicked)
        self.doubleClicked.connect(self._derive)
        self.setAccessibleName(_("Comparison of scenarios"))

    def show_lines(self, columns: tuple[Column, ...], lines: tuple[Line, ...]) -> None:
        """Show other rows; the shape of the table changes only with the metrics or the scenarios."""
        if self.lines_model.show(columns, lines):
            for row, line in enumerate(lines):
                self.setRowHeight(row, ROW if line.cells else SECTION_ROW)
        self._share_width()

    def select_letter(self, letter: str) -> None:
        """Highlight the column of a scenario."""
        if letter != self.selected:
            self.selected = letter
            self._repaint_all()

    def set_emphasis(self, letter: str) -> None:
        """Fade all columns but one; "" shows all alike."""
        if letter != self.emphasis:
            self.emphasis = letter
            self._repaint_all()

    def strength(self, letter: str) -> float:
        """The opacity of a column."""
        return 1.0 if not self.emphasis or letter == self.emphasis else FADED

    def take_theme(self, theme: Theme) -> None:
        """Paint with another theme."""
        self.theme = theme
        self._text_widths.clear()
        self._repaint_all()

    def band_width(self, column: int) -> int:
        """The width that bands have in a column, 0 where none are shown."""
        return self.band_widths[column - 1] if column <= len(self.band_widths) else 0

    def tsv(self) -> str:
        """The table, tab-separated: each scenario's value and what stands beside it."""
        head = [
            "",
            "",
            *(f"{column.letter} {column.name}".strip() for column in self.lines_model.columns for _n in (0, 1)),
        ]
        rows = [head]
        for line in self.lines_model.lines:
            if line.cells:
                rows.append(
                    [line.label, line.unit, *(text for cell in line.cells for text in (cell.value, cell.beside))]
                )
        return "\n".join("\t".join(row) for row in rows)

    def _repaint_all(self) -> None:
        self.viewport().update()
        self.horizontalHeader().viewport().update()

    def _share_width(self) -> None:
        columns = self.lines_model.columns
        if not columns:
            return
        values, bands = self._needs()
        room = self.viewport().width() - LABEL_WIDTH
        # As much of the bands as fits: the longest are left out first, and all where few would be left.
        spare = room - sum(value + _BAND_GAP for value in values)
        cap = max(bands, default=0)
        while cap >= LEAST_BAND and sum(min(band, cap) for band in bands) > spare:
            cap -= 1
        self.shows_bands = cap >= LEAST_BAND
        self.band_widths = [min(band, cap) if self.shows_bands else 0 for band in bands]
        widths = [
            value + (band + _BAND_GAP if self.shows_bands else 0)
            for value, band in zip(values, self.band_widths, strict=True)
        ]
        widths = [max(width, LEAST_COLUMN) for width in widths]
        extra = max(0, min((room - sum(widths)) // len(widths), MOST_COLUMN - max(widths)))
        widths = [width + extra for width in widths]
        label = max(LABEL_WIDTH, min(MOST_LABEL, self.viewport().width() - sum(widths)))
        for column, size in enumerate([label, *widths]):
            if self.columnWidth(column) != size:
                self.setColumnWidth(column, size)

    def _needs(self) -> tuple[list[int], list[int]]:
        """The width of the widest value with its icon, and of the widest band, of each column."""
        values, bands = [], []
        for column in range(len(self.lines_model.columns)):
            cells = [line.cells[column] for line in self.lines_model.lines if line.cells]
            value = 0
            for cell in cells:
                width = self._width(12, 600 if cell.best else 400, cell.value)
                value = max(value, width + (ICON + _ICON_GAP if cell.status in ("warn", "fail") else 0))
            values.append(value + _EDGE + 3)
            bands.append(max((self._width(10, 400, cell.beside) for cell in cells), default=0))
        return values, bands

    def _width(self, size: int, weight: int, text: str) -> int:
        """The width of a text; remembered, as an edit changes few of them."""
        key = size, weight, text
        if key not in self._text_widths:
            self._text_widths[key] = self.theme.metrics(size, weight).horizontalAdvance(text)
        return self._text_widths[key]

    def resizeEvent(self, event: Any) -> None:
        super().resizeEvent(event)
        self._share_width()

    def _header_clicked(self, section: int) -> None:
        if section:
            self.column_clicked.emit(self.lines_model.columns[section - 1].letter)

    def explain_current(self) -> None:
        """Explain the figure in the current cell."""
        self._clicked(self.currentIndex())

    def _clicked(self, index: QModelIndex) -> None:
        subject = self.lines_model.subject(index)
        if subject is not None:
            self.explain_requested.emit(*subject)

    def _derive(self, index: QModelIndex) -> None:
        subject = self.lines_model.subject(index)
        if subject is not None:
            self.derivation_requested.emit(*subject)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.explain_current()
            self._derive(self.currentIndex())
        elif event.matches(QKeySequence.StandardKey.Copy):
            QGuiApplication.clipboard().setText(self.tsv())
        else:
            super().keyPressEvent(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        super().mouseMoveEvent(event)
        index = self.indexAt(event.position().toPoint())
        subject = self.lines_model.subject(index)
        self.viewport().setCursor(Qt.CursorShape.PointingHandCursor if subject else Qt.CursorShape.ArrowCursor)
        self._hover(subject[0] if subject else "")

    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        self._hover("")

    def _hover(self, letter: str) -> None:
        if letter != self._hovered:
            self._hovered = letter
            self.hovered.emit(letter)


class _Tab(NamedTuple):
    key: str
    title: Callable[[], str]
    charts: tuple[type[Chart], ...]


_TABS = (
    _Tab("overview", lambda: _("Overview"), (SpeedChart, LatencyChart)),
    _Tab("charts", lambda: _("All charts"), (SpeedChart, MemoryChart, PowerChart, LatencyChart, CostChart)),
    _Tab("speed", lambda: _("Speed"), (SpeedChart,)),
    _Tab("memory", lambda: _("Memory"), (MemoryChart,)),
    _Tab("latency", lambda: _("Latency"), (LatencyChart,)),
    _Tab("power", lambda: _("Power"), (PowerChart,)),
    _Tab("cost", lambda: _("Cost"), (CostChart,)),
    # Reads the measured rows, so its chart comes when it is opened.
    _Tab("accuracy", lambda: _("Accuracy"), ()),
)


class ComparisonPanel(QWidget):
    """Tabs: the table with two charts, all charts, and each chart alone."""

    explain_requested = Signal(str, str)
    derivation_requested = Signal(str, str)

    # The identity of a measured row that was clicked; "" for the page of accuracy as it is.
    row_requested = Signal(str)

    def __init__(self, document: PlanDocument, evaluation: Evaluation, theme: ThemeSource) -> None:
        super().__init__()
        self._document, self._evaluation, self._source = document, evaluation, theme
        self._shown: tuple[Plan, Results] | None = None
        self.charts: list[Chart] = []
        self._rows_chart: Chart | None = None
        self._rows_link = QPushButton()
        self._rows_link.setProperty("link", True)
        self._pages: dict[int, QWidget] = {}

        self.tabs = QTabBar()
        self.tabs.setExpanding(False)
        self.tabs.setDrawBase(False)
        self.tabs.setUsesScrollButtons(True)
        self.note = QLabel()
        self.note.setProperty("tone", "third")
        self.note.setTextFormat(Qt.TextFormat.PlainText)
        self.copy_button = QToolButton()
        self.copy_button.clicked.connect(self.copy)
        top = QHBoxLayout()
        top.setContentsMargins(4, 0, 8, 0)
        top.setSpacing(8)
        top.addWidget(self.tabs)
        top.addStretch(1)
        top.addWidget(self.note)
        top.addWidget(self.copy_button)
        self._rule = QFrame()
        self._rule.setProperty("rule", "true")
        self._stack = QStackedWidget()
        self.table = ComparisonTable(theme)
        self.table.explain_requested.connect(self.explain_requested)
        self.table.derivation_requested.connect(self.derivation_requested)
        self.table.column_clicked.connect(document.select)
        self.table.hovered.connect(self._emphasise)
        self.empty = QLabel()
        self.empty.setTextFormat(Qt.TextFormat.PlainText)
        self.empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.empty.setWordWrap(True)
        self.empty.setProperty("tone", "second")
        self._stack.addWidget(self.empty)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(1, 1, 1, 1)
        layout.setSpacing(0)
        layout.addLayout(top)
        layout.addWidget(self._rule)
        layout.addWidget(self._stack, 1)
        for tab in _TABS:
            self.tabs.addTab(tab.title())
        self.tabs.currentChanged.connect(self._tab_changed)

        theme.changed.connect(self._theme_changed)
        document.selection_changed.connect(self._selection_changed)
        document.workload_changed.connect(self._workload_changed)
        evaluation.results_changed.connect(self._results_changed)
        self._theme_changed(theme.theme)
        self.retranslate()
        if evaluation.results is not None:
            self._results_changed(evaluation.results)

    # --- showing -----------------------------------------------------------------

    def show_results(self, plan: Plan, results: Results) -> None:
        """Show the comparison of the workload in hand."""
        self._shown = (plan, results)
        workload = self._document.workload
        rows = self._evaluation.rows(plan, results, workload)
        names = {scenario.letter: comparison.scenario_name(scenario) for scenario in plan.scenarios}
        columns = tuple(
            Column(entry.letter, short_name(names.get(entry.letter, entry.name))) for entry in results.scenarios
        )
        self.table.selected = self._document.selected
        self.table.show_lines(columns, lines_of(rows, results.currency))
        self._show_note(
            any(cell.figure.known and facts.own_mark(cell.figure.note) for row in rows for cell in row.cells)
        )
        if rows:
            self._stack.setCurrentWidget(self._page(self.tabs.currentIndex()))
        else:
            self._stack.setCurrentWidget(self.empty)
        for chart in self._every_chart():
            chart.show_results(plan, results, workload, self._document.selected)

    def retranslate(self) -> None:
        """Take the words of the language in force."""
        self._rows_link.setText(_("Closest evidence, filters, errors by family"))
        for at, tab in enumerate(_TABS):
            self.tabs.setTabText(at, tab.title())
            self.tabs.setTabToolTip(at, f"Alt+{at + 1}")
        self._show_note(False)
        self.empty.setText(_("No options to compare yet.\nDrag a GPU here or press Ctrl+G."))
        self.copy_button.setToolTip(_("Copy table or chart (Ctrl+Shift+C)"))
        self.copy_button.setAccessibleName(_("Copy table or chart"))
        self.table.setAccessibleName(_("Comparison of scenarios"))
        for chart in self._every_chart():
            chart.retranslate()
        if self._shown is not None:
            self.show_results(*self._shown)
        self.table.horizontalHeader().viewport().update()

    def _show_note(self, moved: bool) -> None:
        """What the bands are, and what the mark means where one is shown."""
        bands = _("Bands hold 80 % of measured cases")
        mark = _("{mark} moved by own measurements").format(mark=facts.OWN_MARK)
        self.note.setText(f"{mark} · {bands}" if moved else bands)

    def show_tab(self, at: int) -> None:
        """Open a tab by its position, as Alt+1 to Alt+8 do."""
        if 0 <= at < self.tabs.count():
            self.tabs.setCurrentIndex(at)

    def copy(self) -> None:
        """Copy what the tab shows: the table as tab-separated text, or the chart as picture and values."""
        tab = _TABS[self.tabs.currentIndex()]
        charts = tab.charts
        if tab.key == "accuracy" and self._rows_chart is not None:
            self._rows_chart.copy()
        elif len(charts) == 1:
            page = self._page(self.tabs.currentIndex())
            chart = page.findChild(charts[0])
            if isinstance(chart, Chart):
                chart.copy()
        else:
            QGuiApplication.clipboard().setText(self.table.tsv())

    # --- inside ------------------------------------------------------------------

    def _every_chart(self) -> list[Chart]:
        return self.charts if self._rows_chart is None else [*self.charts, self._rows_chart]

    def _page(self, at: int) -> QWidget:
        """The page of a tab; made when it is first opened, so that the window starts without it."""
        if at not in self._pages:
            page = self._made_page(_TABS[at])
            self._pages[at] = page
            self._stack.addWidget(page)
        return self._pages[at]

    def _made_page(self, tab: _Tab) -> QWidget:
        charts = [self._made_chart(kind) for kind in tab.charts]
        if tab.key == "overview":
            return _Overview(self.table, charts)
        page = QWidget()
        if tab.key == "accuracy":
            beside = QHBoxLayout(page)
            beside.setContentsMargins(8, 4, 8, 4)
            beside.addWidget(self._accuracy_chart(), 3)
            beside.addWidget(self._rows_link, 1, Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeft)
            return page
        if tab.key == "charts":
            grid = QGridLayout(page)
            grid.setContentsMargins(4, 4, 4, 4)
            grid.setSpacing(4)
            for at, chart in enumerate(charts[:3]):
                grid.addWidget(chart, 0, 2 * at, 1, 2)
            for at, chart in enumerate(charts[3:]):
                grid.addWidget(chart, 1, 3 * at, 1, 3)
            for column in range(6):
                grid.setColumnStretch(column, 1)
        else:
            alone = QVBoxLayout(page)
            alone.setContentsMargins(8, 4, 8, 4)
            alone.addWidget(charts[0])
        return page

    def _made_chart(self, kind: type[Chart]) -> Chart:
        chart = kind(self._source)
        chart.explain_requested.connect(self.explain_requested)
        chart.derivation_requested.connect(self.derivation_requested)
        chart.hovered.connect(self._emphasise)
        self.charts.append(chart)
        if self._shown is not None:
            chart.show_results(*self._shown, self._document.workload, self._document.selected)
        return chart

    def _accuracy_chart(self) -> Chart:
        from gpuplanner.ui.charts.accuracy import AccuracyChart

        chart = AccuracyChart(self._source, self._document.catalog)
        # Its marks are measured rows, not scenarios: nothing else fades with them.
        chart.explain_requested.connect(lambda identity, _what: self.row_requested.emit(identity))
        self._rows_chart = chart
        self._rows_link.clicked.connect(lambda _checked=False: self.row_requested.emit(""))
        if self._shown is not None:
            chart.show_results(*self._shown, self._document.workload, self._document.selected)
        return chart

    def _emphasise(self, letter: str) -> None:
        self.table.set_emphasis(letter)
        for chart in self.charts:
            chart.set_emphasis(letter)

    def _tab_changed(self, at: int) -> None:
        if self._shown is not None and self.table.lines_model.lines:
            self._stack.setCurrentWidget(self._page(at))

    def _results_changed(self, results: Results) -> None:
        self.show_results(self._evaluation.plan or self._document.plan, results)

    def _workload_changed(self, _workload: str) -> None:
        if self._shown is not None:
            self.show_results(*self._shown)

    def _selection_changed(self, letter: str) -> None:
        self.table.select_letter(letter)
        if self._shown is not None:
            for chart in self.charts:
                chart.show_results(*self._shown, self._document.workload, letter)

    def _theme_changed(self, theme: Theme) -> None:
        self.table.take_theme(theme)
        self.copy_button.setIcon(icons.icon("copy", theme.text2))


class _Overview(QWidget):
    """The table, and right of it the charts one above the other; side by side under it where there is little width."""

    def __init__(self, table: QWidget, charts: Sequence[QWidget]) -> None:
        super().__init__()
        self._whole = QBoxLayout(QBoxLayout.Direction.LeftToRight, self)
        self._whole.setContentsMargins(0, 0, 0, 0)
        self._whole.setSpacing(0)
        self._side = QBoxLayout(QBoxLayout.Direction.TopToBottom)
        self._side.setContentsMargins(0, 0, 0, 0)
        self._side.setSpacing(0)
        self._charts = tuple(charts)
        for chart in charts:
            self._side.addWidget(chart, 1)
        self._whole.addWidget(table, 69)
        self._whole.addWidget(_Rule())
        self._whole.addLayout(self._side, 31)

    def resizeEvent(self, event: Any) -> None:
        super().resizeEvent(event)
        # Under the table the charts need height of their own; a low window keeps beside it as many as are legible.
        narrow = self.width() < _NARROW and self.height() >= _TALL
        room = len(self._charts) if narrow else max(1, self.height() // _CHART_HEIGHT)
        for at, chart in enumerate(self._charts):
            chart.setVisible(at < room)
        across, down = QBoxLayout.Direction.LeftToRight, QBoxLayout.Direction.TopToBottom
        self._whole.setDirection(down if narrow else across)
        self._side.setDirection(across if narrow else down)


class _Rule(QWidget):
    """A hairline between the table and its charts."""

    def __init__(self) -> None:
        super().__init__()
        self.setMinimumSize(1, 1)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Preferred)

    def sizeHint(self) -> QSize:
        return QSize(1, 1)

    def paintEvent(self, _event: Any) -> None:
        QPainter(self).fillRect(self.rect(), self.palette().midlight())


def column_at(table: ComparisonTable, letter: str, row: int) -> QPoint:
    """The middle of a cell in the table's viewport, for tests and for showing a cell."""
    column = next(at for at, each in enumerate(table.lines_model.columns, start=1) if each.letter == letter)
    return table.visualRect(table.lines_model.index(row, column)).center()
