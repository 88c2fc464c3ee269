"""A table of short texts: hairlines, fixed or stretching columns, one row chosen by click, arrows or Return."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QPainter, QPen
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QHeaderView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
    QWidget,
)

from gpuplanner.ui.theme import ThemeSource

Index = QModelIndex | QPersistentModelIndex
ROW, HEAD = 24, 26
_PAD = 6
# A stretching column is not left with less than this while others can be spared.
_LEAST = 150


class Column(NamedTuple):
    """A heading (in the language in force), a width in pixels (0 = what is left), whether figures stand in it, and
    whether a narrow table does without it."""

    title: str
    width: int = 0
    figures: bool = False
    spare: bool = False


class Cell(NamedTuple):
    """A text; ``tone`` "" | "second" | "ok" | "warn" | "fail", and whether it is bold."""

    text: str
    tone: str = ""
    bold: bool = False
    tip: str = ""


class TextModel(QAbstractTableModel):
    """Rows of cells; what a screen reader says of a row stands beside it."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.columns: tuple[Column, ...] = ()
        self.rows: tuple[tuple[Cell, ...], ...] = ()
        self.spoken: tuple[str, ...] = ()

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(self.rows)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(self.columns)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid():
            return None
        cell = self.rows[index.row()][index.column()]
        if role == Qt.ItemDataRole.DisplayRole:
            return cell.text
        if role == Qt.ItemDataRole.ToolTipRole:
            return cell.tip or cell.text
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return self.spoken[index.row()]
        return None

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if orientation == Qt.Orientation.Horizontal and role == Qt.ItemDataRole.DisplayRole:
            return self.columns[section].title
        return None


class _Cells(QStyledItemDelegate):
    def __init__(self, table: "TextTable") -> None:
        super().__init__(table)
        self._table = table

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        table = self._table
        theme, model = table.source.theme, table.text_model
        cell, column = model.rows[index.row()][index.column()], model.columns[index.column()]
        box = QRectF(option.rect)  # type: ignore[attr-defined]
        if index.row() == table.chosen_row:
            painter.fillRect(box, theme.selected)
        painter.setPen(QPen(theme.grid, 1))
        painter.drawLine(box.bottomLeft(), box.bottomRight())
        weight = 600 if cell.bold else 400
        tones = {"second": theme.text2, "ok": theme.ok, "warn": theme.warn, "fail": theme.fail}
        painter.setFont(theme.font(12, weight))
        painter.setPen(tones.get(cell.tone, theme.text))
        side = Qt.AlignmentFlag.AlignRight if column.figures else Qt.AlignmentFlag.AlignLeft
        room = box.adjusted(_PAD, 0, -_PAD, 0)
        text = theme.metrics(12, weight).elidedText(cell.text, Qt.TextElideMode.ElideRight, int(room.width()))
        painter.drawText(room, side | Qt.AlignmentFlag.AlignVCenter, text)
        focused = option.state & QStyle.StateFlag.State_HasFocus  # type: ignore[attr-defined]
        if focused and table.hasFocus():
            painter.setPen(QPen(theme.accent, 2))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRect(box.adjusted(1, 1, -1, -2))

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        return QSize(40, ROW)


class _Head(QHeaderView):
    def __init__(self, table: "TextTable") -> None:
        super().__init__(Qt.Orientation.Horizontal, table)
        self._table = table
        self.setMinimumSectionSize(20)
        self.setFixedHeight(HEAD)
        self.setSectionsClickable(False)
        self.setHighlightSections(False)

    def sizeHint(self) -> QSize:
        return QSize(super().sizeHint().width(), HEAD)

    def paintSection(self, painter: QPainter, rect: Any, section: int) -> None:
        theme, column = self._table.source.theme, self._table.text_model.columns[section]
        box = QRectF(rect)
        painter.fillRect(box, theme.panel)
        painter.setPen(QPen(theme.line, 1))
        painter.drawLine(box.bottomLeft(), box.bottomRight())
        painter.setFont(theme.font(11, 400))
        painter.setPen(theme.text2)
        side = Qt.AlignmentFlag.AlignRight if column.figures else Qt.AlignmentFlag.AlignLeft
        room = box.adjusted(_PAD, 0, -_PAD, 0)
        text = theme.metrics(11, 400).elidedText(column.title, Qt.TextElideMode.ElideRight, int(room.width()))
        painter.drawText(room, side | Qt.AlignmentFlag.AlignVCenter, text)


class TextTable(QTableView):
    """Shows rows of texts. `chosen` says which row was clicked or reached by Return."""

    chosen = Signal(int)

    def __init__(self, theme: ThemeSource) -> None:
        super().__init__()
        self.source = theme
        self.chosen_row = -1
        self.text_model = TextModel(self)
        self.setModel(self.text_model)
        self.setItemDelegate(_Cells(self))
        self.setHorizontalHeader(_Head(self))
        self.verticalHeader().hide()
        self.verticalHeader().setMinimumSectionSize(12)
        self.verticalHeader().setDefaultSectionSize(ROW)
        self.setShowGrid(False)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setSelectionMode(QAbstractItemView.SelectionMode.NoSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setTabKeyNavigation(False)
        self.setCornerButtonEnabled(False)
        self.clicked.connect(self._clicked)
        theme.changed.connect(self._theme_changed)

    def show_rows(
        self, columns: Sequence[Column], rows: Sequence[Sequence[Cell]], spoken: Sequence[str] | None = None
    ) -> None:
        """Show other rows. ``spoken`` is what a screen reader says of each; else its texts, one after the other."""
        model = self.text_model
        model.beginResetModel()
        model.columns = tuple(columns)
        model.rows = tuple(tuple(row) for row in rows)
        model.spoken = tuple(spoken) if spoken is not None else tuple("; ".join(c.text for c in row) for row in rows)
        model.endResetModel()
        self.chosen_row = -1
        self._share_width()

    def choose(self, row: int) -> None:
        """Mark a row; -1 marks none."""
        if row != self.chosen_row:
            self.chosen_row = row
            self.viewport().update()

    def wanted_height(self) -> int:
        """The height at which no row is hidden."""
        return HEAD + ROW * len(self.text_model.rows) + 2

    def tsv(self) -> str:
        """The table, tab-separated."""
        head = [column.title for column in self.text_model.columns]
        return "\n".join("\t".join(row) for row in [head, *([c.text for c in row] for row in self.text_model.rows)])

    def resizeEvent(self, event: Any) -> None:
        super().resizeEvent(event)
        self._share_width()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.currentIndex().isValid():
            self._clicked(self.currentIndex())
        elif event.key() == Qt.Key.Key_Escape:
            # The page behind it closes.
            event.ignore()
        else:
            super().keyPressEvent(event)

    def _clicked(self, index: QModelIndex) -> None:
        self.choose(index.row())
        self.chosen.emit(index.row())

    def _share_width(self) -> None:
        columns = self.text_model.columns
        stretching = [at for at, column in enumerate(columns) if not column.width]
        rest = self.viewport().width() - sum(column.width for column in columns)
        for at, column in enumerate(columns):
            narrow = column.spare and rest < _LEAST * len(stretching)
            if narrow:
                rest += column.width
            if self.isColumnHidden(at) != narrow:
                self.setColumnHidden(at, narrow)
        for at, column in enumerate(columns):
            width = column.width or max(60, rest // max(len(stretching), 1))
            if self.columnWidth(at) != width:
                self.setColumnWidth(at, width)

    def _theme_changed(self, _theme: object) -> None:
        self.viewport().update()
        self.horizontalHeader().viewport().update()
