"""Catalog entries side by side, every figure with its unit, its mark and its numbered source."""

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, QRect, QSize, Qt
from PySide6.QtGui import QGuiApplication, QKeySequence, QPainter, QShortcut
from PySide6.QtWidgets import (
    QAbstractItemView,
    QDialog,
    QFrame,
    QHBoxLayout,
    QHeaderView,
    QLabel,
    QPushButton,
    QScrollArea,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
    QVBoxLayout,
    QWidget,
)

from gpuplanner.catalog.load import Catalog
from gpuplanner.i18n import _
from gpuplanner.i18n import format as words
from gpuplanner.ui import catalog_rows
from gpuplanner.ui.catalog_rows import FactLine, Sheet
from gpuplanner.ui.fields import plain_tip
from gpuplanner.ui.theme import ThemeSource

ROW_HEIGHT = 23
LABEL_WIDTH = 190
COLUMN_WIDTH = 250
Index = QModelIndex | QPersistentModelIndex


def merged_labels(sheets: Sequence[Sheet]) -> list[str]:
    """The labels of all sheets, each once, in an order that every sheet keeps where it can."""
    labels: list[str] = []
    for sheet in sheets:
        at = 0
        for line in sheet.lines:
            if line.label in labels:
                at = labels.index(line.label) + 1
            else:
                labels.insert(at, line.label)
                at += 1
    return labels


class FigureTable(QAbstractTableModel):
    """Figures by entries. Sources are numbered in the order in which the table is read."""

    def __init__(self, sheets: Sequence[Sheet], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.sheets = tuple(sheets)
        self._lines = [{line.label: line for line in sheet.lines} for sheet in sheets]
        # What no entry tells is not worth a row.
        self.labels = [
            label
            for label in merged_labels(sheets)
            if any(label in lines and lines[label].text != words.NOT_KNOWN for lines in self._lines)
        ]
        named = dict.fromkeys(
            source
            for label in self.labels
            for lines in self._lines
            if label in lines
            for source in lines[label].sources
        )
        self.numbers = {source: number for number, source in enumerate(named, 1)}

    def line(self, row: int, column: int) -> FactLine | None:
        """The figure in a cell; None where the entry has no such figure."""
        return self._lines[column].get(self.labels[row])

    def differs(self, row: int) -> bool:
        """Whether the entries say different things in this row."""
        said = {(line.text, line.unit) for lines in self._lines if (line := lines.get(self.labels[row])) is not None}
        return len(said) > 1

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(self.labels)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(self.sheets)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid():
            return None
        line = self.line(index.row(), index.column())
        if role == Qt.ItemDataRole.DisplayRole:
            return words.NOT_KNOWN if line is None else line.text
        if role in (Qt.ItemDataRole.ToolTipRole, Qt.ItemDataRole.AccessibleTextRole):
            said = _("{what}: not known").format(what=self.labels[index.row()])
            if line is not None and line.text != words.NOT_KNOWN:
                parts = (f"{line.label}: {line.text}", line.unit, line.extra, catalog_rows.mark_words(line.mark))
                said = " ".join(part for part in parts if part)
            return plain_tip(said) if role == Qt.ItemDataRole.ToolTipRole else said
        return None

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if role not in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole):
            return None
        return self.sheets[section].title if orientation == Qt.Orientation.Horizontal else self.labels[section]

    def as_text(self) -> str:
        """The table as tab-separated values, with units."""
        rows = ["\t".join(("", *(_cell_text(sheet.title) for sheet in self.sheets)))]
        for at, label in enumerate(self.labels):
            cells = []
            for column in range(len(self.sheets)):
                line = self.line(at, column)
                text = words.NOT_KNOWN if line is None else f"{line.text} {line.unit}".strip()
                cells.append(_cell_text(text))
            rows.append("\t".join((label, *cells)))
        return "\n".join(rows)


def _cell_text(text: str) -> str:
    # A spreadsheet would take a leading sign of a formula for one.
    return "'" + text if text[:1] in ("=", "+", "@") else text


class FigureDelegate(QStyledItemDelegate):
    """Value, unit, mark and source number on fixed sub-columns; bold where the entries differ."""

    def __init__(self, table: FigureTable, theme: ThemeSource, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._table, self._theme = table, theme

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        return QSize(COLUMN_WIDTH, ROW_HEIGHT)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        theme = self._theme.theme
        rect = option.rect
        if option.state & QStyle.StateFlag.State_Selected:
            painter.fillRect(rect, theme.selected)
        elif option.state & QStyle.StateFlag.State_MouseOver:
            painter.fillRect(rect, theme.hover)
        painter.fillRect(QRect(rect.left(), rect.bottom(), rect.width(), 1), theme.grid)
        line = self._table.line(index.row(), index.column())
        middle = Qt.AlignmentFlag.AlignVCenter
        text = words.NOT_KNOWN if line is None else line.text
        weight = 600 if self._table.differs(index.row()) and text != words.NOT_KNOWN else 400
        metrics = theme.metrics(12, weight)
        number_width = 26
        end = rect.right() - 6 - number_width
        numeric = text[:1].isdigit() or text == words.NOT_KNOWN or not text[:1].isalpha()
        split = rect.left() + 96
        painter.setFont(theme.font(12, weight))
        painter.setPen(theme.text3 if text == words.NOT_KNOWN else theme.text)
        if numeric and metrics.horizontalAdvance(text) <= split - rect.left() - 8:
            painter.drawText(
                QRect(rect.left(), rect.top(), split - rect.left(), rect.height()),
                Qt.AlignmentFlag.AlignRight | middle,
                text,
            )
            at = split + 6
        else:
            shown = metrics.elidedText(text, Qt.TextElideMode.ElideRight, end - rect.left() - 12)
            painter.drawText(
                QRect(rect.left() + 12, rect.top(), end - rect.left() - 12, rect.height()),
                Qt.AlignmentFlag.AlignLeft | middle,
                shown,
            )
            at = rect.left() + 12 + metrics.horizontalAdvance(shown) + 6
        if line is None:
            return
        mark = catalog_rows.mark_words(line.mark)
        if mark:
            small = theme.metrics(10)
            rest = theme.metrics(11).horizontalAdvance(" · ".join((line.unit, line.extra)))
            if small.horizontalAdvance(mark) > end - at - rest - 12:
                mark = catalog_rows.mark_shape(line.mark)
            width = small.horizontalAdvance(mark) + 2
            painter.setFont(theme.font(10))
            painter.setPen(theme.warn if line.mark in ("unverified", "assumed") else theme.text3)
            painter.drawText(QRect(end - width, rect.top(), width, rect.height()), middle, mark)
            end -= width + 6
        unit = " · ".join(part for part in (line.unit, line.extra) if part)
        painter.setFont(theme.font(11))
        painter.setPen(theme.text2)
        unit = theme.metrics(11).elidedText(unit, Qt.TextElideMode.ElideRight, max(0, end - at))
        painter.drawText(QRect(at, rect.top(), max(0, end - at), rect.height()), middle, unit)
        numbers = ",".join(words.count(self._table.numbers[source]) for source in line.sources[:2])
        painter.setFont(theme.font(10))
        painter.setPen(theme.accent)
        painter.drawText(
            QRect(rect.right() - 6 - number_width, rect.top(), number_width, rect.height()),
            Qt.AlignmentFlag.AlignRight | middle,
            numbers,
        )


class FigureHeader(QHeaderView):
    """Names of entries above, names of figures at the left, both without boxes."""

    def __init__(self, orientation: Qt.Orientation, theme: ThemeSource, parent: QWidget | None = None) -> None:
        super().__init__(orientation, parent)
        self._theme = theme
        self.setHighlightSections(False)
        self.setMinimumSectionSize(20)

    def paintSection(self, painter: QPainter, rect: QRect, section: int) -> None:
        theme = self._theme.theme
        across = self.orientation() == Qt.Orientation.Horizontal
        painter.save()
        painter.fillRect(rect, theme.panel)
        painter.fillRect(QRect(rect.left(), rect.bottom(), rect.width(), 1), theme.line if across else theme.grid)
        text = str(self.model().headerData(section, self.orientation()))
        size, weight = (12, 600) if across else (12, 400)
        painter.setFont(theme.font(size, weight))
        painter.setPen(theme.text if across else theme.text2)
        inner = rect.adjusted(12, 0, -8, 0)
        shown = theme.metrics(size, weight).elidedText(text, Qt.TextElideMode.ElideRight, inner.width())
        painter.drawText(inner, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, shown)
        painter.restore()


class CompareEntries(QDialog):
    """Entries side by side; with one entry, everything the catalog says about it."""

    def __init__(
        self, sheets: Sequence[Sheet], catalog: Catalog, theme: ThemeSource, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.theme = theme
        self.table = FigureTable(sheets, self)
        single = len(sheets) == 1
        self.setWindowTitle(sheets[0].title if single else _("Catalog entries side by side"))
        self.view = QTableView()
        self.view.setModel(self.table)
        self.view.setItemDelegate(FigureDelegate(self.table, theme, self.view))
        self.view.setHorizontalHeader(FigureHeader(Qt.Orientation.Horizontal, theme, self.view))
        self.view.setVerticalHeader(FigureHeader(Qt.Orientation.Vertical, theme, self.view))
        self.view.horizontalHeader().setFixedHeight(30)
        self.view.horizontalHeader().setDefaultSectionSize(COLUMN_WIDTH)
        if len(sheets) * COLUMN_WIDTH < 1000:
            self.view.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Stretch)
        self.view.verticalHeader().setDefaultSectionSize(ROW_HEIGHT)
        self.view.verticalHeader().setFixedWidth(LABEL_WIDTH)
        self.view.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self.view.setShowGrid(False)
        self.view.setFrameShape(QFrame.Shape.NoFrame)
        # The corner between the two headers is a button of the style; it has nothing to do here.
        self.view.setStyleSheet("QTableCornerButton::section { background: palette(base); border: none; }")
        self.view.setMouseTracking(True)
        self.view.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.view.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.view.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.view.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.view.setAccessibleName(self.windowTitle())

        self.foot = QLabel(self._foot_text(catalog))
        # A note may come from a pack or a plan somebody mailed: never as rich text.
        self.foot.setTextFormat(Qt.TextFormat.PlainText)
        self.foot.setWordWrap(True)
        self.foot.setProperty("tone", "second")
        self.foot.setContentsMargins(12, 8, 12, 8)
        self.foot.setAlignment(Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeft)
        self.foot.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        scroll = QScrollArea()
        scroll.setWidget(self.foot)
        scroll.setWidgetResizable(True)
        scroll.setFrameShape(QFrame.Shape.NoFrame)
        scroll.setFixedHeight(170)

        self.copy = QPushButton(_("Copy table"))
        self.copy.clicked.connect(self.copy_table)
        close = QPushButton(_("Close"))
        close.setDefault(True)
        close.clicked.connect(self.accept)
        QShortcut(QKeySequence("Ctrl+Shift+C"), self, self.copy_table)
        legend = QLabel(
            " · ".join(
                ("" if single else _("bold: they differ"), *map(catalog_rows.mark_words, catalog_rows.MARKS))
            ).strip(" ·")
        )
        legend.setProperty("tone", "third")
        buttons = QHBoxLayout()
        buttons.setContentsMargins(12, 8, 12, 12)
        buttons.addWidget(legend)
        buttons.addStretch(1)
        buttons.addWidget(self.copy)
        buttons.addWidget(close)
        rule = QFrame()
        rule.setProperty("rule", True)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 6, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self.view, 1)
        layout.addWidget(rule)
        layout.addWidget(scroll)
        layout.addLayout(buttons)
        width = LABEL_WIDTH + COLUMN_WIDTH * min(4, max(2, len(sheets))) + 24
        self.resize(width, min(820, 300 + ROW_HEIGHT * len(self.table.labels)))

    def _foot_text(self, catalog: Catalog) -> str:
        lines = [
            f"{words.count(number)}  {catalog_rows.source_line(catalog, source)}"
            for source, number in self.table.numbers.items()
        ]
        for sheet in self.table.sheets:
            said = [*sheet.warnings, *sheet.notes]
            if said:
                before = "" if len(self.table.sheets) == 1 else f"{sheet.title}: "
                lines.append(before + " ".join(said))
        return "\n".join(lines)

    def copy_table(self) -> None:
        """Put the table on the clipboard as tab-separated values."""
        QGuiApplication.clipboard().setText(self.table.as_text())
