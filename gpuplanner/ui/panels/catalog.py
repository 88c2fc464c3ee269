"""The catalog: what can be bought and run, to look up, compare and drag into the plan."""

import datetime
import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from PySide6.QtCore import (
    QAbstractTableModel,
    QEvent,
    QItemSelectionModel,
    QMimeData,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QPoint,
    QPointF,
    QRect,
    QRectF,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import QContextMenuEvent, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPen, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QHBoxLayout,
    QHeaderView,
    QLabel,
    QLineEdit,
    QMenu,
    QPushButton,
    QScrollArea,
    QSizePolicy,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTabBar,
    QTableView,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from gpuplanner import paths
from gpuplanner.catalog import compatibility, query
from gpuplanner.catalog.load import Catalog
from gpuplanner.catalog.schema import Gpu
from gpuplanner.i18n import _, language, ngettext
from gpuplanner.i18n import format as words
from gpuplanner.model.plan import Plan
from gpuplanner.model.results import Results
from gpuplanner.ui import catalog_rows, icons
from gpuplanner.ui.catalog_rows import Cell, Column, Row, Sheet
from gpuplanner.ui.dialogs.entry import EntryDialog, own_prices, remove_own
from gpuplanner.ui.document import PlanDocument
from gpuplanner.ui.fields import icon_button, plain_tip
from gpuplanner.ui.theme import Theme, ThemeSource

MIME = "application/x-gpuplanner-entry"
TICK_WIDTH = 23
ROW_HEIGHT = 22
CARD_HEIGHT = 246
# The longest name of a runtime that a chip shows whole.
CHIP_WIDTH = 60
# Under this its name says nothing, and the chips take two rows.
LEAST_CHIP = 24
_BOX = 13
Index = QModelIndex | QPersistentModelIndex


class EntryTable(QAbstractTableModel):
    """The rows of one tab as the filter leaves them; column 0 holds the ticks."""

    ticked = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.columns: tuple[Column, ...] = ()
        self.rows: list[Row] = []
        self.ticks: set[tuple[str, str]] = set()
        self._order: tuple[int, Qt.SortOrder] | None = None
        self._unsorted: Sequence[Row] = ()

    def show(self, columns: tuple[Column, ...], rows: Sequence[Row]) -> None:
        """Show other rows, in the order that the user last asked for."""
        self.beginResetModel()
        if tuple(column.key for column in columns) != tuple(column.key for column in self.columns):
            self._order = None
        self.columns, self._unsorted = columns, rows
        self.rows = self._sorted()
        self.endResetModel()

    def _sorted(self) -> list[Row]:
        if self._order is None:
            return list(self._unsorted)
        column, order = self._order

        def value(row: Row) -> Any:
            return (row.kind, row.name) in self.ticks if column == 0 else row.cells[column - 1].sort

        known = [row for row in self._unsorted if value(row) is not None]
        unknown = [row for row in self._unsorted if value(row) is None]
        # Not known comes last in both directions: it is neither small nor large.
        return sorted(known, key=value, reverse=order == Qt.SortOrder.DescendingOrder) + unknown

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        """Sort by a column; −1 gives the order of the catalog back."""
        self._order = None if column < 0 else (column, order)
        self.layoutAboutToBeChanged.emit()
        before = self.persistentIndexList()
        named = [(self.rows[index.row()], index.column()) for index in before]
        self.rows = self._sorted()
        place = {(row.kind, row.name): at for at, row in enumerate(self.rows)}
        after = [self.index(place[row.kind, row.name], column_) for row, column_ in named]
        self.changePersistentIndexList(before, after)
        self.layoutChanged.emit()

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(self.rows)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(self.columns) + 1

    def cell(self, index: Index) -> Cell | None:
        """The cell at an index; None in the column of ticks."""
        return None if index.column() == 0 else self.rows[index.row()].cells[index.column() - 1]

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid():
            return None
        row = self.rows[index.row()]
        if index.column() == 0:
            if role == Qt.ItemDataRole.CheckStateRole:
                ticked = (row.kind, row.name) in self.ticks
                return Qt.CheckState.Checked if ticked else Qt.CheckState.Unchecked
            if role == Qt.ItemDataRole.AccessibleTextRole:
                return _("Compare {name}").format(name=row.name)
            return None
        cell = row.cells[index.column() - 1]
        if role == Qt.ItemDataRole.DisplayRole:
            return cell.text
        if role == Qt.ItemDataRole.ToolTipRole:
            return plain_tip(self._tip(row, index.column() - 1))
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return self._spoken(row, index.column() - 1)
        return None

    def _tip(self, row: Row, column: int) -> str:
        if column == 0:
            own = _("Your own entry") if row.own else ""
            name = row.label if row.kind == "price" else row.name
            return " · ".join(part for part in (name, row.suffix, own) if part)
        cell = row.cells[column]
        text = f"{self.columns[column].tip}: {cell.text}"
        if cell.text == words.NOT_KNOWN:
            return _("{what}: not known").format(what=self.columns[column].tip)
        mark = catalog_rows.mark_words(cell.mark)
        return f"{text} · {mark}" if mark else text

    def _spoken(self, row: Row, column: int) -> str:
        if column > 0:
            return self._tip(row, column)
        figures = (
            f"{self.columns[at].title} {cell.text}"
            for at, cell in enumerate(row.cells)
            if at and cell.text != words.NOT_KNOWN
        )
        name = row.label if row.kind == "price" else row.name
        return ", ".join((name, row.suffix, *figures) if row.suffix else (name, *figures))

    def setData(self, index: Index, value: Any, role: int = Qt.ItemDataRole.EditRole) -> bool:
        if not index.isValid() or index.column() != 0 or role != Qt.ItemDataRole.CheckStateRole:
            return False
        row = self.rows[index.row()]
        if Qt.CheckState(value) == Qt.CheckState.Checked:
            self.ticks.add((row.kind, row.name))
        else:
            self.ticks.discard((row.kind, row.name))
        self.dataChanged.emit(index, index, [Qt.ItemDataRole.CheckStateRole])
        self.ticked.emit()
        return True

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if orientation != Qt.Orientation.Horizontal:
            return None
        if section == 0:
            return _("Ticked") if role in (Qt.ItemDataRole.ToolTipRole, Qt.ItemDataRole.AccessibleTextRole) else None
        if not 0 < section <= len(self.columns):
            return None
        column = self.columns[section - 1]
        if role == Qt.ItemDataRole.DisplayRole:
            return column.title
        if role in (Qt.ItemDataRole.ToolTipRole, Qt.ItemDataRole.AccessibleTextRole):
            return column.tip
        return None

    def flags(self, index: Index) -> Qt.ItemFlag:
        flags = Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable
        if index.isValid() and index.column() == 0:
            flags |= Qt.ItemFlag.ItemIsUserCheckable
        if index.isValid() and self.rows[index.row()].kind in ("gpu", "server", "llm"):
            flags |= Qt.ItemFlag.ItemIsDragEnabled
        return flags

    def mimeTypes(self) -> list[str]:
        return [MIME]

    def mimeData(self, indexes: Sequence[Index]) -> QMimeData:
        data = QMimeData()
        if indexes:
            row = self.rows[indexes[0].row()]
            data.setData(MIME, json.dumps({"kind": row.kind, "name": row.name}).encode())
            data.setText(row.name)
        return data

    def supportedDragActions(self) -> Qt.DropAction:
        return Qt.DropAction.CopyAction

    def position(self, kind: str, name: str) -> int | None:
        """The row in which an entry stands, None if the filter hides it."""
        return next((at for at, row in enumerate(self.rows) if (row.kind, row.name) == (kind, name)), None)


class EntryDelegate(QStyledItemDelegate):
    """Paints ticks, names and figures; a weak figure carries the shape of its mark."""

    def __init__(self, table: EntryTable, theme: ThemeSource, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._table, self._theme = table, theme

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        return QSize(40, ROW_HEIGHT)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        theme = self._theme.theme
        rect = option.rect
        selected = bool(option.state & QStyle.StateFlag.State_Selected)
        hovered = bool(option.state & QStyle.StateFlag.State_MouseOver)
        if selected:
            painter.fillRect(rect, theme.selected)
        elif hovered:
            painter.fillRect(rect, theme.hover)
        if index.column() == 0:
            if selected:
                painter.fillRect(QRect(rect.left(), rect.top(), 2, rect.height()), theme.accent)
            ticked = index.data(Qt.ItemDataRole.CheckStateRole) == Qt.CheckState.Checked
            paint_tick(painter, QPointF(rect.left() + 8, rect.center().y() - _BOX / 2 + 0.5), ticked, theme)
            return
        row = self._table.rows[index.row()]
        column = self._table.columns[index.column() - 1]
        cell = row.cells[index.column() - 1]
        if index.column() == 1:
            self._paint_name(painter, rect, row, theme)
            return
        painter.setFont(theme.font(12))
        inner = rect.adjusted(2, 0, -3, 0)
        side = Qt.AlignmentFlag.AlignRight if column.right else Qt.AlignmentFlag.AlignLeft
        known = cell.text != words.NOT_KNOWN
        painter.setPen(theme.text if known and not cell.mark else theme.text2 if known else theme.text3)
        metrics = theme.metrics(12)
        text = metrics.elidedText(cell.text, Qt.TextElideMode.ElideRight, inner.width())
        painter.drawText(inner, side | Qt.AlignmentFlag.AlignVCenter, text)
        if cell.mark and column.right:
            left = inner.right() - metrics.horizontalAdvance(text) - 9
            if left >= rect.left() - 1:
                painter.setFont(theme.font(10))
                painter.setPen(theme.warn if cell.mark in ("unverified", "assumed") else theme.text3)
                painter.drawText(
                    QRectF(left, rect.top(), 9, rect.height()),
                    Qt.AlignmentFlag.AlignCenter,
                    catalog_rows.mark_shape(cell.mark),
                )

    def _paint_name(self, painter: QPainter, rect: QRect, row: Row, theme: Theme) -> None:
        left, right = rect.left() + 2, rect.right() - 2
        if row.own:
            painter.save()
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(theme.accent)
            middle = rect.center().y() + 0.5
            painter.drawPolygon(
                [QPointF(left + 3, middle - 4), QPointF(left + 7, middle), QPointF(left + 3, middle + 4),
                 QPointF(left - 1, middle)]
            )  # fmt: skip
            painter.restore()
            left += 11
        metrics = theme.metrics(12)
        suffix_width = theme.metrics(10).horizontalAdvance(row.suffix) + 4 if row.suffix else 0
        if metrics.horizontalAdvance(row.label) + suffix_width > right - left:
            # The name is worth more than the word behind it, which the tooltip has too.
            suffix_width = 0
        label = metrics.elidedText(row.label, Qt.TextElideMode.ElideRight, right - left - suffix_width)
        painter.setFont(theme.font(12))
        painter.setPen(theme.text)
        align = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
        painter.drawText(QRect(left, rect.top(), right - left, rect.height()), align, label)
        if suffix_width:
            painter.setFont(theme.font(10))
            painter.setPen(theme.text3)
            begin = left + metrics.horizontalAdvance(label) + 4
            painter.drawText(QRect(begin, rect.top() + 1, suffix_width, rect.height()), align, row.suffix)

    def editorEvent(self, event: QEvent, model: Any, option: QStyleOptionViewItem, index: Index) -> bool:
        if index.column() == 0 and event.type() == QEvent.Type.MouseButtonRelease:
            assert isinstance(event, QMouseEvent)
            if event.button() == Qt.MouseButton.LeftButton:
                return toggle(model, index)
        return False


def toggle(table: EntryTable, index: Index) -> bool:
    """Tick a row, or take its tick away."""
    tick = table.index(index.row(), 0)
    ticked = tick.data(Qt.ItemDataRole.CheckStateRole) == Qt.CheckState.Checked
    state = Qt.CheckState.Unchecked if ticked else Qt.CheckState.Checked
    return table.setData(tick, state, Qt.ItemDataRole.CheckStateRole)


def paint_tick(painter: QPainter, corner: QPointF, ticked: bool, theme: Theme) -> None:
    """A tick box with its upper left corner at `corner`."""
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    box = QRectF(corner.x() + 0.5, corner.y() + 0.5, _BOX - 1, _BOX - 1)
    if ticked:
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme.accent)
        painter.drawRoundedRect(box.adjusted(-0.5, -0.5, 0.5, 0.5), 3, 3)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(theme.on_accent, 1.7, c=Qt.PenCapStyle.RoundCap, j=Qt.PenJoinStyle.RoundJoin))
        points = ((0.22, 0.52), (0.42, 0.72), (0.78, 0.30))
        painter.drawPolyline([box.topLeft() + QPointF(x * box.width(), y * box.height()) for x, y in points])
    else:
        painter.setPen(QPen(theme.line2, theme.border))
        painter.setBrush(theme.panel)
        painter.drawRoundedRect(box, 3, 3)
    painter.restore()


class EntryHeader(QHeaderView):
    """Column titles: hairline below, a small triangle at the column that sorts."""

    def __init__(self, theme: ThemeSource, parent: QWidget | None = None) -> None:
        super().__init__(Qt.Orientation.Horizontal, parent)
        self._theme = theme
        self.setSectionsClickable(True)
        self.setHighlightSections(False)
        self.setMinimumSectionSize(24)
        self.setFixedHeight(26)
        self.setSortIndicatorShown(True)
        self.setSortIndicatorClearable(True)
        self.setSortIndicator(-1, Qt.SortOrder.AscendingOrder)

    def paintSection(self, painter: QPainter, rect: QRect, section: int) -> None:
        theme = self._theme.theme
        painter.save()
        painter.fillRect(rect, theme.panel)
        painter.fillRect(QRect(rect.left(), rect.bottom(), rect.width(), 1), theme.line)
        table = self.model()
        if isinstance(table, EntryTable) and 0 < section <= len(table.columns):
            column = table.columns[section - 1]
            painter.setFont(theme.font(11))
            sorts = self.sortIndicatorSection() == section
            painter.setPen(theme.text if sorts else theme.text2)
            inner = rect.adjusted(2, 0, -3, 0)
            side = Qt.AlignmentFlag.AlignRight if column.right else Qt.AlignmentFlag.AlignLeft
            metrics = theme.metrics(11)
            text = metrics.elidedText(column.title, Qt.TextElideMode.ElideRight, inner.width())
            painter.drawText(inner, side | Qt.AlignmentFlag.AlignVCenter, text)
            if sorts:
                up = self.sortIndicatorOrder() == Qt.SortOrder.AscendingOrder
                middle = inner.right() - 3 if column.right else inner.left() + 3
                edge = rect.top() + 3 if up else rect.bottom() - 3
                tip = edge - 1 if up else edge + 1
                base = edge + 3 if up else edge - 3
                painter.setRenderHint(QPainter.RenderHint.Antialiasing)
                painter.setPen(Qt.PenStyle.NoPen)
                painter.setBrush(theme.accent)
                painter.drawPolygon(
                    [QPointF(middle, tip), QPointF(middle + 3.5, base), QPointF(middle - 3.5, base)]
                )  # fmt: skip
        painter.restore()


class EntryView(QTableView):
    """The table of one tab; tells the panel what the user wants with a row."""

    add = Signal(bool)
    menu = Signal(QPoint)

    def __init__(self, table: EntryTable, theme: ThemeSource, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._table = table
        self.setModel(table)
        self.setItemDelegate(EntryDelegate(table, theme, self))
        self.setHorizontalHeader(EntryHeader(theme, self))
        self.verticalHeader().hide()
        self.verticalHeader().setMinimumSectionSize(ROW_HEIGHT)
        self.verticalHeader().setDefaultSectionSize(ROW_HEIGHT)
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setDragEnabled(True)
        self.setDragDropMode(QAbstractItemView.DragDropMode.DragOnly)
        self.setDefaultDropAction(Qt.DropAction.CopyAction)
        self.setMouseTracking(True)
        self.setTabKeyNavigation(False)
        self.setSortingEnabled(True)
        self.doubleClicked.connect(self._double_clicked)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.currentIndex().isValid():
            self.add.emit(bool(event.modifiers() & Qt.KeyboardModifier.ControlModifier))
            event.accept()
        elif event.key() == Qt.Key.Key_Space and self.currentIndex().isValid():
            toggle(self._table, self.currentIndex())
            event.accept()
        else:
            super().keyPressEvent(event)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        self.menu.emit(event.globalPos())

    def _double_clicked(self, index: QModelIndex) -> None:
        if index.column() > 0:
            self.add.emit(False)


class DetailCard(QWidget):
    """One entry with its main figures, numbered sources and what to beware of."""

    def __init__(self, theme: ThemeSource, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._catalog: Catalog | None = None
        self.sheet: Sheet | None = None
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)

    def show_sheet(self, sheet: Sheet | None, catalog: Catalog) -> None:
        """Show another entry, or none."""
        self.sheet, self._catalog = sheet, catalog
        self.setAccessibleName("" if sheet is None else sheet.title)
        self.setAccessibleDescription(self.as_text())
        self.setFixedHeight(max(1, round(self._lay(None, max(200, self.width())))))
        self.update()

    def as_text(self) -> str:
        """The card in words, for a screen reader and the clipboard."""
        if self.sheet is None:
            return ""
        lines = [self.sheet.title, self.sheet.subtitle]
        for line in self.sheet.lines:
            if line.key:
                parts = (line.label + ":", line.text, line.unit, line.extra, catalog_rows.mark_words(line.mark))
                lines.append(" ".join(part for part in parts if part))
        return "\n".join((*lines, *self.sheet.warnings))

    def numbered(self) -> list[tuple[int, str]]:
        """The sources of the figures shown, numbered in the order they appear."""
        if self.sheet is None or self._catalog is None:
            return []
        named = dict.fromkeys(source for line in self.sheet.lines if line.key for source in line.sources)
        return [(number, catalog_rows.source_line(self._catalog, source)) for number, source in enumerate(named, 1)]

    def resizeEvent(self, event: Any) -> None:
        super().resizeEvent(event)
        height = max(1, round(self._lay(None, max(200, self.width()))))
        if height != self.height():
            self.setFixedHeight(height)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        self._lay(painter, self.width())
        if self.hasFocus():
            painter.setPen(QPen(self._theme.theme.accent, 2))
            painter.drawRect(QRectF(self.rect()).adjusted(1, 1, -1, -1))

    def _lay(self, painter: QPainter | None, width: int) -> float:
        """Paint the card, or only measure it; returns the height it needs."""
        theme = self._theme.theme
        left, right, y = 12.0, width - 12.0, 10.0
        sheet = self.sheet
        if sheet is None:
            return self._text(painter, _("No entry passes the filter."), left, right, y, 12, 400, theme.text3)
        y = self._text(painter, sheet.title, left, right, y, 13, 600, theme.text)
        if sheet.subtitle:
            y = self._text(painter, sheet.subtitle, left, right, y + 1, 11, 400, theme.text2)
        y += 5
        numbers = {
            source: number
            for number, source in enumerate(
                dict.fromkeys(source for line in sheet.lines if line.key for source in line.sources), 1
            )
        }
        for line in sheet.lines:
            if line.key:
                y = self._figure(painter, line, [numbers[source] for source in line.sources], left, right, y)
        y += 4
        if painter is not None:
            painter.fillRect(QRectF(left, y, right - left, 1), theme.line)
        y += 5
        for number, text in self.numbered():
            if painter is not None:
                painter.setFont(theme.font(11))
                painter.setPen(theme.text2)
                painter.drawText(QRectF(left, y, 14, 16), Qt.AlignmentFlag.AlignLeft, words.count(number))
            y = self._text(painter, text, left + 14, right, y, 11, 400, theme.text2)
        for warning in sheet.warnings:
            if painter is not None:
                icons.paint(painter, "warn", QRectF(left, y + 2.5, 11, 11), theme.warn, theme.panel)
            y = self._text(painter, warning, left + 15, right, y, 11, 400, theme.warn)
        return y + 8

    def _text(
        self,
        painter: QPainter | None,
        text: str,
        left: float,
        right: float,
        y: float,
        size: int,
        weight: int,
        colour: Any,
    ) -> float:
        theme = self._theme.theme
        flags = Qt.AlignmentFlag.AlignLeft | Qt.TextFlag.TextWordWrap
        metrics = theme.metrics(size, weight)
        box = metrics.boundingRect(QRect(0, 0, int(right - left), 10_000), int(flags), text)
        if painter is not None:
            painter.setFont(theme.font(size, weight))
            painter.setPen(colour)
            painter.drawText(QRectF(left, y, right - left, box.height() + 2), int(flags), text)
        return y + max(box.height(), metrics.height()) + 1

    def _figure(
        self, painter: QPainter | None, line: Any, numbers: list[int], left: float, right: float, y: float
    ) -> float:
        height = 19.0
        if painter is None:
            return y + height
        theme = self._theme.theme
        middle = Qt.AlignmentFlag.AlignVCenter
        label_width, number_width = 88.0, 18.0
        painter.setFont(theme.font(12))
        painter.setPen(theme.text2)
        label = theme.metrics(12).elidedText(line.label, Qt.TextElideMode.ElideRight, int(label_width + 12))
        painter.drawText(QRectF(left, y, label_width + 12, height), Qt.AlignmentFlag.AlignLeft | middle, label)
        value_width = max(76.0, theme.metrics(12, 600).horizontalAdvance(line.text) + 2.0)
        at = left + label_width
        value = theme.metrics(12, 600).elidedText(
            line.text, Qt.TextElideMode.ElideRight, int(right - at - number_width)
        )
        painter.setFont(theme.font(12, 600))
        painter.setPen(theme.text if line.text != words.NOT_KNOWN else theme.text3)
        painter.drawText(QRectF(at, y, value_width, height), Qt.AlignmentFlag.AlignRight | middle, value)
        at += value_width + 7
        mark = catalog_rows.mark_words(line.mark)
        rest = " · ".join(part for part in (line.unit, line.extra) if part)
        end = right - number_width
        if mark:
            metrics = theme.metrics(10)
            free = end - at - theme.metrics(11).horizontalAdvance(rest) - 6
            shown = mark if metrics.horizontalAdvance(mark) <= free else catalog_rows.mark_shape(line.mark)
            width = metrics.horizontalAdvance(shown) + 2
            painter.setFont(theme.font(10))
            painter.setPen(theme.warn if line.mark in ("unverified", "assumed") else theme.text3)
            painter.drawText(QRectF(end - width, y, width, height), Qt.AlignmentFlag.AlignRight | middle, shown)
            end -= width + 4
        painter.setFont(theme.font(11))
        painter.setPen(theme.text2)
        if theme.metrics(11).horizontalAdvance(rest) > end - at:
            # What is beside the point goes first; "All figures" has it.
            rest = line.unit or line.extra
        rest = theme.metrics(11).elidedText(rest, Qt.TextElideMode.ElideRight, int(max(0, end - at)))
        painter.drawText(QRectF(at, y, max(0.0, end - at), height), Qt.AlignmentFlag.AlignLeft | middle, rest)
        painter.setFont(theme.font(10))
        painter.setPen(theme.accent)
        painter.drawText(
            QRectF(right - number_width, y - 1, number_width, height),
            Qt.AlignmentFlag.AlignRight | middle,
            ",".join(words.count(number) for number in numbers[:2]),
        )
        return y + height


class ChipRow(QWidget):
    """Chips beside each other, in as many lines as the width asks for; they never widen what they stand in."""

    GAP = 4

    def __init__(self, chips: tuple[QToolButton, ...]) -> None:
        super().__init__()
        self._chips = chips
        for chip in chips:
            chip.setParent(self)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)

    def arrange(self) -> None:
        """Place the chips that are shown, because one of them or the width has changed."""
        shown = [chip for chip in self._chips if not chip.isHidden()]
        if shown and shown[0].property("whole"):
            others = sum(chip.sizeHint().width() + self.GAP for chip in shown[1:])
            frame = shown[0].sizeHint().width() - shown[0].fontMetrics().horizontalAdvance(shown[0].text())
            whole, room = shown[0].property("whole"), self.width() - others - frame
            if room >= LEAST_CHIP:
                # A long name of a runtime takes what the others leave of the row.
                elided = shown[0].fontMetrics().elidedText(whole, Qt.TextElideMode.ElideRight, min(room, CHIP_WIDTH))
                shown[0].setText(elided)
        x = y = line = 0
        for chip in shown:
            size = chip.sizeHint()
            if x and x + size.width() > self.width():
                x, y = 0, y + line + self.GAP
            chip.setGeometry(x, y, min(size.width(), max(self.width(), 40)), size.height())
            x += size.width() + self.GAP
            line = size.height()
        self.setFixedHeight(max(1, y + line))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.arrange()


class CatalogPanel(QWidget):
    """Tabs, filter, chips, table and card. What is looked at is view state; what is added goes through the document."""

    # The user dragged a column to another width, or it was remembered.
    widths_changed = Signal()

    def __init__(
        self,
        document: PlanDocument,
        evaluation: Any,
        theme: ThemeSource,
        parent: QWidget | None = None,
        folder: Path | None = None,
    ) -> None:
        super().__init__(parent)
        self.document, self.evaluation, self.theme = document, evaluation, theme
        # Where the user's own entries are kept.
        self.folder = folder or paths.user_catalog()
        self.today: Callable[[], datetime.date] = datetime.date.today
        self._catalog: Catalog | None = None
        self._rows: dict[str, tuple[Row, ...]] = {}
        self._widths: dict[str, tuple[int, ...]] = {}
        self._chosen: dict[str, tuple[str, str]] = {}
        # While the first row is put in front because the chosen one is not there.
        self._offering = False
        self._shown: tuple[Any, ...] = ()
        self._runtime = self._language = ""
        self.setProperty("ground", "panel")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)

        self.tabs = QTabBar()
        self.tabs.setDrawBase(False)
        self.tabs.setExpanding(False)
        self.tabs.setUsesScrollButtons(False)
        self.tabs.setElideMode(Qt.TextElideMode.ElideNone)
        for _tab in catalog_rows.TABS:
            self.tabs.addTab("")
        self.filter = QLineEdit()
        self.filter.setClearButtonEnabled(True)
        self.filter.setMaxLength(200)
        self._lens = self.filter.addAction(
            icons.icon("search", theme.theme.text3), QLineEdit.ActionPosition.LeadingPosition
        )
        self.chips = {key: QToolButton() for key in ("runs", "priced", "fp8", "link", "used")}
        self._chip_row = ChipRow(tuple(self.chips.values()))
        for chip in self.chips.values():
            chip.setCheckable(True)
            chip.setProperty("chip", True)
            chip.setFocusPolicy(Qt.FocusPolicy.TabFocus)
            chip.toggled.connect(self._refilter)

        self.table = EntryTable(self)
        self.view = EntryView(self.table, theme)
        self.count = QLabel()
        self.count.setProperty("tone", "second")
        self.count.setTextFormat(Qt.TextFormat.PlainText)
        self.compare = QPushButton()
        self.compare.setProperty("link", True)
        self.card = DetailCard(theme)
        self._scroll = QScrollArea()
        self._scroll.setWidget(self.card)
        self._scroll.setWidgetResizable(True)
        self._scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._scroll.setFrameShape(QFrame.Shape.NoFrame)
        self.new_entry = icon_button("plus", "", self.add_entry)
        self.edit_entry = QPushButton()
        self.all_figures = QPushButton()
        for button in (self.edit_entry, self.all_figures):
            button.setProperty("link", True)

        self._arrange()
        self.tabs.currentChanged.connect(self._tab_changed)
        self.filter.textChanged.connect(self._refilter)
        self.filter.installEventFilter(self)
        self.table.ticked.connect(self._show_count)
        self.view.add.connect(self.add_current)
        self.view.menu.connect(self._open_menu)
        self.view.selectionModel().currentRowChanged.connect(self._current_changed)
        self.view.horizontalHeader().sectionResized.connect(self._section_resized)
        self.compare.clicked.connect(self.compare_ticked)
        self.edit_entry.clicked.connect(self.edit_current)
        self.all_figures.clicked.connect(self.show_all_figures)
        document.plan_changed.connect(self.show_plan)
        document.selection_changed.connect(self._selection_changed)
        if evaluation is not None:
            evaluation.results_changed.connect(self._results_changed)
        theme.changed.connect(self._theme_changed)
        self.retranslate()

    def _arrange(self) -> None:
        top = QVBoxLayout()
        top.setContentsMargins(12, 0, 12, 6)
        top.setSpacing(8)
        top.addWidget(self.filter)
        top.addWidget(self._chip_row)
        foot = QHBoxLayout()
        foot.setContentsMargins(12, 2, 8, 2)
        foot.addWidget(self.count)
        foot.addStretch(1)
        foot.addWidget(self.compare)
        card_foot = QHBoxLayout()
        card_foot.setContentsMargins(8, 0, 8, 6)
        card_foot.setSpacing(2)
        card_foot.addWidget(self.all_figures)
        card_foot.addWidget(self.edit_entry)
        card_foot.addStretch(1)
        self._card_box = QWidget()
        self._card_box.setFixedHeight(CARD_HEIGHT)
        box = QVBoxLayout(self._card_box)
        box.setContentsMargins(0, 0, 0, 0)
        box.setSpacing(0)
        box.addWidget(self._scroll, 1)
        box.addLayout(card_foot)
        rule = QFrame()
        rule.setProperty("rule", True)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.setSpacing(2)
        whole.addWidget(self.tabs)
        whole.addLayout(top)
        whole.addWidget(self.view, 1)
        whole.addLayout(foot)
        whole.addWidget(rule)
        whole.addWidget(self._card_box)

    def header_buttons(self) -> tuple[QToolButton, ...]:
        """Buttons that the dock shows beside its title."""
        return (self.new_entry,)

    # --- what is shown ---------------------------------------------------------

    @property
    def tab(self) -> str:
        """The key of the tab in front."""
        return catalog_rows.TABS[self.tabs.currentIndex()]

    def show_plan(self, plan: Plan) -> None:
        """Show the catalog as this plan sees it: its currency, and the runtime of the workload shown."""
        catalog = self.document.catalog
        state = (id(catalog), plan.currency, plan.exchange_rates)
        if state != self._shown:
            self._shown = state
            self._catalog = catalog
            self._rows.clear()
            self._show_rows()
        self._show_runtime()

    def show_results(self, plan: Plan, results: Results) -> None:
        """Follow the runtime that the plan's automatic choice came to."""
        self._show_runtime()

    def _results_changed(self, _results: object) -> None:
        self._show_runtime()

    def _selection_changed(self, _letter: str) -> None:
        self._show_runtime()

    def retranslate(self) -> None:
        """Write every word anew, in the language in force."""
        for at, tab in enumerate(catalog_rows.TABS):
            self.tabs.setTabText(at, _(catalog_rows.TITLES[tab]))
        self.tabs.setAccessibleName(_("Parts of the catalog"))
        self.filter.setPlaceholderText(_("Filter: name, alias, ≥ 48 GB …"))
        self.filter.setAccessibleName(_("Filter the catalog"))
        self.view.setAccessibleName(_("Catalog entries"))
        chips = {
            "priced": (_("has price"), _("Only entries with a price")),
            "fp8": ("FP8", _("Only cards with an FP8 peak")),
            "link": ("NVLink", _("Only cards that are linked directly (NVLink, Infinity Fabric)")),
            "used": (_("used"), _("Only entries with a second-hand price")),
        }
        for key, (text, tip) in chips.items():
            self.chips[key].setText(text)
            self.chips[key].setToolTip(tip)
        self.compare.setText(_("Compare ticked"))
        self.new_entry.setToolTip(_("Add a card, model or price of your own"))
        self.new_entry.setAccessibleName(self.new_entry.toolTip())
        self.all_figures.setText(_("All figures"))
        self.all_figures.setToolTip(_("Every figure of this entry, with its source"))
        if language() != self._language:
            self._language = language()
            self._shown, self._runtime = (), ""
        self.show_plan(self.document.plan)

    def _theme_changed(self, theme: Theme) -> None:
        self._lens.setIcon(icons.icon("search", theme.text3))
        self.view.viewport().update()
        self.view.horizontalHeader().viewport().update()
        self.card.show_sheet(self.card.sheet, self.document.catalog)

    def _show_runtime(self) -> None:
        """Name the chip after the runtime of the workload shown; hide it where none is decided."""
        runtime = self._runtime_shown()
        if runtime == self._runtime and runtime:
            return
        self._runtime = runtime
        chip = self.chips["runs"]
        name = runtime.split(" (")[0].split(" / ")[0]
        chip.setProperty("whole", name)
        chip.setText(self.theme.theme.metrics(11).elidedText(name, Qt.TextElideMode.ElideRight, CHIP_WIDTH))
        chip.setToolTip(plain_tip(_("Only cards that {runtime} runs on").format(runtime=runtime)))
        self._show_chips()
        if chip.isChecked():
            self._refilter()

    def _runtime_shown(self) -> str:
        """The runtime that the scenario in the builder uses for the workload shown; empty where none is decided."""
        plan, workload = self.document.plan, self.document.workload
        for scenario in plan.scenarios:
            if scenario.letter != self.document.selected:
                continue
            for group in scenario.groups:
                for run in group.runs:
                    if run.workload == workload and run.runtime != "auto":
                        return run.runtime
        results = None if self.evaluation is None else self.evaluation.results
        scenario_result = None if results is None else results.scenario(self.document.selected)
        if scenario_result is not None:
            for result in (*scenario_result.serve, *scenario_result.train):
                if result.workload == workload and result.choice is not None:
                    return result.choice.runtime
        return ""

    def _show_chips(self) -> None:
        tab = self.tab
        self._chip_row.setVisible(tab in ("gpus", "servers"))
        self.chips["runs"].setVisible(tab == "gpus" and bool(self._runtime))
        for key in ("fp8", "link"):
            self.chips[key].setVisible(tab == "gpus")
        self._chip_row.arrange()

    def _all_rows(self) -> tuple[Row, ...]:
        tab = self.tab
        if tab not in self._rows:
            convert = catalog_rows.converter(self.document.plan, self.document.catalog)
            self._rows[tab] = catalog_rows.rows(tab, self.document.catalog, convert, own_prices(self.folder))
        return self._rows[tab]

    def _show_rows(self) -> None:
        chosen = self._chosen.get(self.tab)
        with_filter = self._filtered(self._all_rows())
        columns = catalog_rows.columns(self.tab, self.document.plan.currency)
        changed = tuple(column.key for column in columns) != tuple(column.key for column in self.table.columns)
        self.table.show(columns, with_filter)
        if changed:
            header = self.view.horizontalHeader()
            header.setSortIndicator(-1, Qt.SortOrder.AscendingOrder)
            self._give_widths(columns)
        at = None if chosen is None else self.table.position(*chosen)
        if self.table.rows:
            # The card below is never empty: what is not chosen begins with the first entry.
            self._offering = at is None
            index = self.table.index(at or 0, 1)
            flags = QItemSelectionModel.SelectionFlag.ClearAndSelect | QItemSelectionModel.SelectionFlag.Rows
            self.view.selectionModel().setCurrentIndex(index, flags)
            self._offering = False
        self._show_count()
        self._show_card()

    def _give_widths(self, columns: tuple[Column, ...]) -> None:
        header = self.view.horizontalHeader()
        header.blockSignals(True)
        header.setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
        remembered = self._widths.get(self.tab, ())
        header.resizeSection(0, TICK_WIDTH)
        header.setSectionResizeMode(0, QHeaderView.ResizeMode.Fixed)
        for at, column in enumerate(columns):
            header.resizeSection(at + 1, remembered[at] if at < len(remembered) else column.width)
        if not remembered:
            # The name takes what the figures leave, until the user says otherwise.
            header.setSectionResizeMode(1, QHeaderView.ResizeMode.Stretch)
        header.blockSignals(False)

    def _section_resized(self, section: int, old: int, new: int) -> None:
        header = self.view.horizontalHeader()
        if section == 0 or (header.sectionResizeMode(1) == QHeaderView.ResizeMode.Stretch and section == 1):
            return
        if not self.view.isVisible():
            return
        header.setSectionResizeMode(1, QHeaderView.ResizeMode.Interactive)
        self._widths[self.tab] = tuple(header.sectionSize(at + 1) for at in range(len(self.table.columns)))
        self.widths_changed.emit()

    def column_widths(self) -> dict[str, tuple[int, ...]]:
        """The widths that the user gave columns, by the name under which settings keep them."""
        return {f"catalog.{tab}": widths for tab, widths in self._widths.items()}

    def set_column_widths(self, remembered: dict[str, tuple[int, ...]]) -> None:
        """Give columns the widths that settings kept."""
        for tab in catalog_rows.TABS:
            if widths := remembered.get(f"catalog.{tab}"):
                self._widths[tab] = tuple(widths)
        self._give_widths(self.table.columns)

    # --- the filter ------------------------------------------------------------

    def _filtered(self, rows: Sequence[Row]) -> list[Row]:
        text = self.filter.text().strip()
        try:
            found = set(self._found(text)) if text else None
            said = ""
        except ValueError as error:
            # A unit that cannot be compared: everything stays, and the field says why.
            found, said = None, str(error)
        self.filter.setToolTip(plain_tip(said))
        if bool(self.filter.property("refused")) != bool(said):
            self.filter.setProperty("refused", bool(said))
            self.filter.style().unpolish(self.filter)
            self.filter.style().polish(self.filter)
        kept = [row for row in rows if found is None or (row.kind, row.name) in found]
        if self.tab in ("gpus", "servers"):
            kept = [row for row in kept if self._passes_chips(row)]
        return kept

    def _passes_chips(self, row: Row) -> bool:
        catalog = self.document.catalog
        entry = catalog.find(row.kind, row.name)
        on = {key for key, chip in self.chips.items() if chip.isChecked() and not chip.isHidden()}
        if "priced" in on and not any(price.kind != "cloud-hour" for price in catalog.prices_of(row.name)):
            return False
        if "used" in on and not catalog.prices_of(row.name, "used"):
            return False
        if "fp8" in on and "fp8" not in entry.peak_flops:
            return False
        if "link" in on and entry.link_kind == "none":
            return False
        return "runs" not in on or self._runs(entry)

    def _runs(self, gpu: Gpu) -> bool:
        catalog = self.document.catalog
        runtime = catalog.find("runtime", self._runtime)
        return runtime is not None and compatibility.judge(catalog, gpu, runtime).answer in (
            "works",
            "works with limits",
        )

    def _found(self, text: str) -> Iterable[tuple[str, str]]:
        if self.tab == "prices":
            wanted = text.casefold().split()
            for row in self._all_rows():
                said = " ".join(cell.text for cell in row.cells).casefold()
                if all(word in said for word in wanted):
                    yield row.kind, row.name
            return
        for kind in catalog_rows.KINDS[self.tab]:
            for entry in query.search(self.document.catalog, kind, text):
                yield kind, entry.name

    def _refilter(self, _changed: object = None) -> None:
        self._show_rows()

    def _tab_changed(self, _at: int) -> None:
        self._show_chips()
        self.view.scrollToTop()
        self._show_rows()

    def _show_count(self) -> None:
        shown, every, ticked = len(self.table.rows), len(self._all_rows()), len(self.table.ticks)
        text = _("{shown} of {all}").format(shown=words.count(shown), all=words.count(every))
        if ticked:
            said = ngettext("{count} ticked", "{count} ticked", ticked).format(count=words.count(ticked))
            text = f"{text} · {said}"
        self.count.setText(text)
        # Nothing to compare is nothing to press.
        self.compare.setVisible(ticked > 1)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is self.filter and event.type() == QEvent.Type.KeyPress:
            assert isinstance(event, QKeyEvent)
            if event.key() == Qt.Key.Key_Escape and self.filter.text():
                self.filter.clear()
                return True
            if event.key() in (Qt.Key.Key_Down, Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.table.rows:
                self.view.setFocus(Qt.FocusReason.TabFocusReason)
                if not self.view.currentIndex().isValid():
                    self.view.setCurrentIndex(self.table.index(0, 1))
                return True
        return super().eventFilter(watched, event)

    # --- the entry in front ----------------------------------------------------

    @property
    def current(self) -> Row | None:
        """The row that the card shows."""
        index = self.view.currentIndex()
        return self.table.rows[index.row()] if index.isValid() else None

    def reveal(self, kind: str, name: str) -> None:
        """Bring an entry to the front, for search and for sources of a figure."""
        for at, tab in enumerate(catalog_rows.TABS):
            if kind in catalog_rows.KINDS.get(tab, ("price",)):
                self._chosen[tab] = (kind, name)
                self.tabs.setCurrentIndex(at)
        self.filter.clear()
        self._show_rows()
        self.view.scrollTo(self.view.currentIndex())

    def _current_changed(self, current: QModelIndex, _before: QModelIndex) -> None:
        if current.isValid() and not self._offering:
            row = self.table.rows[current.row()]
            self._chosen[self.tab] = (row.kind, row.name)
        self._show_card()

    def sheet_of(self, kind: str, name: str) -> Sheet | None:
        """Everything about an entry, None if the catalog has it no more."""
        catalog, plan = self.document.catalog, self.document.plan
        entry = find(catalog, kind, name)
        if entry is None:
            return None
        convert = catalog_rows.converter(plan, catalog)
        return catalog_rows.sheet(kind, entry, catalog, convert, plan.currency, self.today())

    def _show_card(self) -> None:
        row = self.current
        sheet = None if row is None else self.sheet_of(row.kind, row.name)
        self.card.show_sheet(sheet, self.document.catalog)
        self._scroll.verticalScrollBar().setValue(0)
        self.all_figures.setVisible(sheet is not None)
        editable = row is not None and (row.own or row.kind in ("gpu", "llm", "price"))
        self.edit_entry.setVisible(editable)
        if editable:
            own = row is not None and row.own
            self.edit_entry.setText(_("Edit …") if own else _("Copy and edit …"))

    # --- what the user does ----------------------------------------------------

    def add_current(self, new_scenario: bool = False) -> None:
        """Add the entry in front to the selected scenario, or make a new scenario of it."""
        row = self.current
        if row is None:
            return
        said: str | None
        if row.kind == "llm":
            said = self._use_llm(row.name)
        elif row.kind in ("gpu", "server"):
            gpu, server = (row.name, None) if row.kind == "gpu" else (None, row.name)
            if new_scenario or not self.document.selected:
                said = self.document.add_scenario(gpu=gpu, server=server)
            else:
                said = self.document.add_group(self.document.selected, gpu=gpu, server=server)
        else:
            return
        if said:
            self.document.notice.emit(said)

    def _use_llm(self, name: str) -> str | None:
        plan = self.document.plan
        at = next((i for i, each in enumerate(plan.workloads) if each.id == self.document.workload), None)
        if at is None:
            return _("Add a workload first; then a model can be put into it.")
        return self.document.apply([(("workloads", at, "llm"), (name,))], _("Use {name}").format(name=name))

    def _open_menu(self, place: QPoint) -> None:
        row = self.current
        if row is None:
            return
        menu = QMenu(self)
        if row.kind in ("gpu", "server"):
            if self.document.selected:
                text = _("Add to scenario {letter}").format(letter=self.document.selected)
                menu.addAction(text, lambda: self.add_current(False))
            menu.addAction(_("New scenario with this"), lambda: self.add_current(True))
            menu.addSeparator()
        elif row.kind == "llm":
            menu.addAction(_("Use in the workload shown"), lambda: self.add_current(False))
            menu.addSeparator()
        menu.addAction(_("All figures"), self.show_all_figures)
        if not self.edit_entry.isHidden():
            menu.addAction(self.edit_entry.text(), self.edit_current)
        if row.own:
            menu.addAction(_("Remove your entry"), self.remove_current)
        menu.exec(place)
        menu.deleteLater()

    def compare_ticked(self) -> None:
        """Put the ticked entries of the kind that was ticked most side by side."""
        ticked = [(kind, name) for kind, name in self.table.ticks if find(self.document.catalog, kind, name)]
        here = [(row.kind, row.name) for row in self._all_rows() if (row.kind, row.name) in self.table.ticks]
        kinds = [kind for kind, _name in (here or ticked)]
        if not kinds:
            return
        kind = max(set(kinds), key=kinds.count)
        self._open_comparison([(each, name) for each, name in (here or sorted(ticked)) if each == kind])

    def show_all_figures(self) -> None:
        """Every figure of the entry in front."""
        if self.current is not None:
            self._open_comparison([(self.current.kind, self.current.name)])

    def _open_comparison(self, entries: Sequence[tuple[str, str]]) -> None:
        # Loaded when first asked for: the window starts without it.
        from gpuplanner.ui.dialogs.compare_entries import CompareEntries

        sheets = [sheet for kind, name in entries if (sheet := self.sheet_of(kind, name)) is not None]
        dialog = CompareEntries(sheets, self.document.catalog, self.theme, self)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.open()

    def add_entry(self) -> None:
        """Enter a card, model or price of one's own."""
        kind = {"llms": "llm", "prices": "price"}.get(self.tab, "gpu")
        self._open_entry(kind, None)

    def edit_current(self) -> None:
        """Edit the user's own entry in front, or a copy of a shipped one."""
        row = self.current
        if row is not None:
            self._open_entry(row.kind, find(self.document.catalog, row.kind, row.name))

    def remove_current(self) -> None:
        """Remove the user's own entry in front from their catalog; plans that pin it keep it."""
        row = self.current
        if row is None or not row.own:
            return
        said = remove_own(self.document, row.kind, row.name, self.folder)
        if said:
            self.document.notice.emit(said)
        self.catalog_changed()

    def _open_entry(self, kind: str, entry: Any) -> None:
        dialog = EntryDialog(self.document, self.theme, kind, entry, self, self.folder)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.saved.connect(self._entry_saved)
        dialog.open()

    def _entry_saved(self, kind: str, name: str) -> None:
        self.catalog_changed()
        self.reveal(kind, name)

    def catalog_changed(self) -> None:
        """The document has another catalog: show it, and evaluate with it."""
        self.show_plan(self.document.plan)
        if self.evaluation is not None:
            self.evaluation.refresh()


def find(catalog: Catalog, kind: str, name: str) -> Any:
    """An entry by kind and name, or a price by its id; None if there is none."""
    if kind == "price":
        return next((price for price in catalog.prices if price.id == name), None)
    return catalog.find(kind, name)
