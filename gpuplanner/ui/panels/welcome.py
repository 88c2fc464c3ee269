"""What to begin with: the worked examples and the recent files."""

from collections.abc import Callable
from datetime import datetime
from functools import partial
from pathlib import Path

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFocusEvent, QPainter, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import (
    QAbstractButton,
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from gpuplanner.i18n import _
from gpuplanner.i18n import format as words
from gpuplanner.storage.samples import SAMPLES, Sample
from gpuplanner.ui import icons
from gpuplanner.ui.fields import plain_tip
from gpuplanner.ui.theme import Theme, ThemeSource

ICONS = ("chat", "budget", "train", "reuse", "room", "quotes")
CARD_HEIGHT = 234


class _Card(QAbstractButton):
    """One example: an icon, its title, the buyer's question, and a sketch of the answer."""

    def __init__(self, sample: Sample, kind: str, theme: ThemeSource) -> None:
        super().__init__()
        self._sample, self._kind, self._theme = sample, kind, theme
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setMinimumSize(200, CARD_HEIGHT)
        self.setMaximumHeight(CARD_HEIGHT)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        theme.changed.connect(self.update)
        self.retranslate()

    def retranslate(self) -> None:
        self.setText(_(self._sample.title))
        self.setAccessibleName(f"{_(self._sample.title)}. {_(self._sample.question)}")
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(318, CARD_HEIGHT)

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        theme = self._theme.theme
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        focused = self.hasFocus()
        box = QRectF(self.rect()).adjusted(1, 1, -1, -1)
        painter.setBrush(theme.hover if self.underMouse() else theme.panel)
        painter.setPen(QPen(theme.accent, 2) if focused else QPen(theme.line, theme.border))
        painter.drawRoundedRect(box, 8, 8)
        tile = QRectF(18, 18, 34, 34)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme.selected)
        painter.drawRoundedRect(tile, 6, 6)
        icons.paint(painter, self._kind, tile.adjusted(9, 9, -9, -9), theme.accent)
        painter.setPen(theme.text)
        painter.setFont(theme.font(14, 600))
        flags = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft | Qt.TextFlag.TextWordWrap
        painter.drawText(QRectF(64, 12, self.width() - 78, 46), flags, _(self._sample.title))
        painter.setPen(theme.text2)
        painter.setFont(theme.font(12))
        top = Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeft | Qt.TextFlag.TextWordWrap
        painter.drawText(QRectF(18, 66, self.width() - 36, 54), top, _(self._sample.question))
        area = QRectF(18, 126, self.width() - 36, self.height() - 126 - 20)
        painter.setPen(QPen(theme.line2, 1))
        painter.drawLine(area.bottomLeft(), area.bottomRight())
        _SKETCHES[self._kind](painter, area, theme)
        painter.end()


def _limit(painter: QPainter, one: QPointF, other: QPointF, theme: Theme) -> None:
    painter.setPen(QPen(theme.fail, 1.2, Qt.PenStyle.DashLine))
    painter.drawLine(one, other)


def _sketch_serve(painter: QPainter, area: QRectF, theme: Theme) -> None:
    painter.setBrush(Qt.BrushStyle.NoBrush)
    for letter, reach in (("C", 0.40), ("B", 0.52), ("A", 0.86)):
        line = QPolygonF()
        for step in range(41):
            share = step / 40
            rise = 0.06 / (1.03 - share) ** 0.95
            if rise <= 1:
                line.append(
                    QPointF(area.left() + share * reach * area.width(), area.bottom() - 2 - rise * area.height())
                )
        painter.setPen(QPen(theme.series_colour(letter), 1.8))
        painter.drawPolyline(line)
    y = area.top() + area.height() * 0.36
    _limit(painter, QPointF(area.left(), y), QPointF(area.right(), y), theme)


def _sketch_budget(painter: QPainter, area: QRectF, theme: Theme) -> None:
    painter.setPen(QPen(theme.text2, 1.4))
    steps = (0.12, 0.24, 0.36, 0.58, 0.66, 0.8)
    line = QPolygonF()
    for number, rise in enumerate(steps):
        y = area.bottom() - rise * area.height()
        line.append(QPointF(area.left() + number / 6 * area.width(), y))
        line.append(QPointF(area.left() + (number + 1) / 6 * area.width(), y))
    painter.drawPolyline(line)
    x = area.left() + area.width() * 0.55
    _limit(painter, QPointF(x, area.top()), QPointF(x, area.bottom()), theme)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(theme.accent)
    painter.drawEllipse(QPointF(area.left() + area.width() / 2, area.bottom() - 0.58 * area.height()), 4, 4)


def _sketch_train(painter: QPainter, area: QRectF, theme: Theme) -> None:
    height = area.height() / 4 - 5
    for number, (letter, share) in enumerate((("A", 0.32), ("B", 0.72), ("E", 0.76), ("C", 0.88))):
        y = area.top() + number * (height + 5)
        painter.fillRect(QRectF(area.left(), y, share * area.width(), height), theme.series_colour(letter))
    x = area.left() + area.width() * 0.7
    _limit(painter, QPointF(x, area.top() - 4), QPointF(x, area.bottom()), theme)


def _sketch_reuse(painter: QPainter, area: QRectF, theme: Theme) -> None:
    width = area.width() / 3 - 12
    for number, (letter, units) in enumerate((("F", 2), ("G", 4), ("H", 3))):
        box = QRectF(area.left() + number * (width + 18), area.top(), width, area.height())
        painter.setPen(QPen(theme.line2, 1))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRect(box)
        unit = (area.height() - 12) / (3 if units == 2 else 5)
        for at in range(units):
            y = box.bottom() - 3 - (at + 1) * (unit + 2)
            painter.fillRect(QRectF(box.left() + 4, y, width - 8, unit), theme.series_colour(letter))


def _sketch_room(painter: QPainter, area: QRectF, theme: Theme) -> None:
    width = area.width() / 8
    limit = area.top() + area.height() * 0.12
    for number in range(8):
        wanted = area.bottom() - area.height() * (0.3 + 0.14 * number)
        colour = type(theme.accent)(theme.accent)
        colour.setAlphaF(0.75 if wanted > limit else 0.35)
        y = max(wanted, limit)
        painter.fillRect(QRectF(area.left() + number * width, y, width - 5, area.bottom() - y), colour)
    _limit(painter, QPointF(area.left(), limit), QPointF(area.right(), limit), theme)


def _sketch_quotes(painter: QPainter, area: QRectF, theme: Theme) -> None:
    height = area.height() / 4 - 5
    for number, (letter, buy, run) in enumerate(
        (("A", 0.6, 0.24), ("B", 0.3, 0.15), ("C", 0.2, 0.22), ("H", 0.05, 0.7))
    ):
        y = area.top() + number * (height + 5)
        colour = theme.series_colour(letter)
        painter.fillRect(QRectF(area.left(), y, buy * area.width(), height), colour)
        pale = type(colour)(colour)
        pale.setAlphaF(0.35)
        painter.fillRect(QRectF(area.left() + buy * area.width(), y, run * area.width(), height), pale)


_SKETCHES: dict[str, Callable[[QPainter, QRectF, Theme], None]] = {
    "chat": _sketch_serve,
    "budget": _sketch_budget,
    "train": _sketch_train,
    "reuse": _sketch_reuse,
    "room": _sketch_room,
    "quotes": _sketch_quotes,
}


class _Recent(QAbstractButton):
    """One recent file: its name, its folder and when it was last changed."""

    def __init__(self, path: Path, theme: ThemeSource) -> None:
        super().__init__()
        self._path, self._theme = path, theme
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setFixedHeight(48)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.setText(path.name)
        self.setToolTip(plain_tip(str(path)))
        try:
            changed = datetime.fromtimestamp(path.stat().st_mtime)
            self._day = words.date(changed.date().isoformat())
        except OSError:
            self._day = _("not found")
        self.setAccessibleName(f"{path.name}, {self._day}")

    def paintEvent(self, event: QPaintEvent) -> None:
        theme = self._theme.theme
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if self.underMouse() or self.hasFocus():
            painter.setPen(QPen(theme.accent, 2) if self.hasFocus() else Qt.PenStyle.NoPen)
            painter.setBrush(theme.hover)
            painter.drawRoundedRect(QRectF(self.rect()).adjusted(1, 1, -1, -1), 5, 5)
        icons.paint(painter, "file", QRectF(12, 9, 14, 14), theme.text2)
        painter.setPen(theme.text3)
        painter.setFont(theme.font(11))
        day = painter.fontMetrics().horizontalAdvance(self._day)
        painter.drawText(QPointF(self.width() - day - 12, 20), self._day)
        folder = painter.fontMetrics().elidedText(
            str(self._path.parent), Qt.TextElideMode.ElideMiddle, self.width() - 50
        )
        painter.drawText(QPointF(36, 38), folder)
        painter.setPen(theme.text)
        painter.setFont(theme.font(13, 500))
        name = painter.fontMetrics().elidedText(self._path.name, Qt.TextElideMode.ElideMiddle, self.width() - 60 - day)
        painter.drawText(QPointF(36, 20), name)
        painter.end()


class WelcomePanel(QWidget):
    """Shown where no plan is open."""

    sample_chosen = Signal(str)
    file_chosen = Signal(str)
    open_pressed = Signal()
    empty_pressed = Signal()

    def __init__(self, theme: ThemeSource) -> None:
        super().__init__()
        self._theme = theme
        self._title, self._below = QLabel(), QLabel()
        self._below.setProperty("tone", "second")
        self._cards = [_Card(sample, kind, theme) for sample, kind in zip(SAMPLES, ICONS, strict=True)]
        grid = QGridLayout()
        grid.setSpacing(12)
        for number, card in enumerate(self._cards):
            card.clicked.connect(partial(self._chosen, SAMPLES[number].key))
            grid.addWidget(card, number // 3, number % 3)
        left = QVBoxLayout()
        left.setSpacing(8)
        left.addWidget(self._title)
        left.addWidget(self._below)
        left.addLayout(grid)
        left.addStretch(1)

        side = QFrame()
        side.setProperty("card", True)
        side.setFixedWidth(400)
        self._recent_title = QLabel()
        self._open, self._empty = QPushButton(), QPushButton()
        self._open.setProperty("primary", True)
        self._open.clicked.connect(lambda: self.open_pressed.emit())
        self._empty.clicked.connect(lambda: self.empty_pressed.emit())
        buttons = QHBoxLayout()
        buttons.setContentsMargins(0, 4, 0, 8)
        buttons.addWidget(self._open)
        buttons.addWidget(self._empty)
        buttons.addStretch(1)
        self._files = QVBoxLayout()
        self._files.setSpacing(2)
        self._drop, self._offline = QLabel(), QLabel()
        for label in (self._drop, self._offline):
            label.setTextFormat(Qt.TextFormat.PlainText)
            label.setProperty("tone", "third")
            label.setWordWrap(True)
        column = QVBoxLayout(side)
        column.setContentsMargins(16, 14, 16, 12)
        column.addWidget(self._recent_title)
        column.addLayout(buttons)
        column.addLayout(self._files)
        column.addWidget(self._drop)
        column.addStretch(1)
        column.addWidget(self._offline)

        inside = QWidget()
        line = QHBoxLayout(inside)
        line.setContentsMargins(56, 40, 56, 32)
        line.setSpacing(28)
        line.addLayout(left, 1)
        line.addWidget(side)
        scroll = QScrollArea()
        scroll.setWidgetResizable(True)
        scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        scroll.setWidget(inside)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.addWidget(scroll)
        self._recent: tuple[str, ...] = ()
        self.retranslate()

    def show_recent(self, files: tuple[str, ...]) -> None:
        """List these files, the newest first."""
        self._recent = files
        while self._files.count():
            item = self._files.takeAt(0)
            widget = item.widget() if item is not None else None
            if widget is not None:
                widget.hide()
                widget.deleteLater()
        for name in files:
            button = _Recent(Path(name), self._theme)
            button.clicked.connect(partial(self._file, name))
            self._files.addWidget(button)

    def retranslate(self) -> None:
        """Show all words in the language in force."""
        self._title.setText(_("What do you want to plan?"))
        self._title.setFont(Theme.font(20, 600))
        self._below.setText(_("Each example opens as a working plan. Change any figure; everything follows."))
        self._recent_title.setText(_("Recent files"))
        self._recent_title.setFont(Theme.font(14, 600))
        self._open.setText(_("Open …"))
        self._empty.setText(_("Empty plan"))
        self._drop.setText(_("A .gpuplan file can be dropped anywhere in the window."))
        self._offline.setText(_("Works without internet. Nothing leaves this computer."))
        for card in self._cards:
            card.retranslate()
        self.show_recent(self._recent)

    def first(self) -> QWidget:
        """What to focus first."""
        return self._cards[0]

    def _chosen(self, key: str, _checked: bool = False) -> None:
        self.sample_chosen.emit(key)

    def _file(self, name: str, _checked: bool = False) -> None:
        self.file_chosen.emit(name)
