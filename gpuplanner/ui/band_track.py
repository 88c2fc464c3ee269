"""A value with its unit and its band on a line, the target an upright mark across it."""

from typing import Any

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from gpuplanner.ui.explained import Explained
from gpuplanner.ui.theme import Theme


class BandTrack(QWidget):
    """The value with its unit; beside it the band as a bar, the value a dot on it, the target an upright line."""

    def __init__(self) -> None:
        super().__init__()
        self.theme: Theme | None = None
        self._shown: Explained | None = None
        self.setFixedHeight(38)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def show_figure(self, shown: Explained, theme: Theme) -> None:
        self._shown, self.theme = shown, theme
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(160, 38)

    def paintEvent(self, _event: Any) -> None:
        shown, theme = self._shown, self.theme
        if shown is None or theme is None:
            return
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        flags = Qt.AlignmentFlag.AlignVCenter
        painter.setFont(theme.font(20, 600))
        painter.setPen(theme.text)
        painter.drawText(QRectF(0, 0, self.width(), self.height()), flags, shown.value)
        start = theme.metrics(20, 600).horizontalAdvance(shown.value) + 6
        painter.setFont(theme.font(12, 400))
        painter.setPen(theme.text3)
        painter.drawText(QRectF(start, 2, self.width(), self.height()), flags, shown.unit)
        start += theme.metrics(12, 400).horizontalAdvance(shown.unit) + 16
        if shown.ends is None or self.width() - start < 80:
            return
        low, value, high = shown.ends
        every = [low, value, high, *([shown.target] if shown.target is not None else [])]
        first, last = min(every), max(every)
        span = (last - first) or 1.0
        left, right = start + 20.0, self.width() - 20.0

        def x(of: float) -> float:
            return left + (right - left) * (of - first) / span

        y = 13.0
        painter.setPen(QPen(theme.line2, 1))
        painter.drawLine(QPointF(start, y), QPointF(self.width(), y))
        colour = theme.series_colour(shown.letter)
        pale = colour.lighter(100)
        pale.setAlphaF(0.4)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(pale)
        painter.drawRoundedRect(QRectF(x(low), y - 4, x(high) - x(low), 8), 4, 4)
        painter.setBrush(colour)
        painter.drawEllipse(QPointF(x(value), y), 5, 5)
        metrics = theme.metrics(10, 400)
        painter.setFont(theme.font(10, 400))
        taken = begun = -1.0
        for of, text, ink in (
            *([(shown.target, shown.target_text, theme.fail)] if shown.target is not None else []),
            (low, shown.low, theme.text3),
            (high, shown.high, theme.text3),
        ):
            width = metrics.horizontalAdvance(text)
            at = min(max(x(of) - width / 2, float(start)), self.width() - width)
            if of == shown.target:
                painter.setPen(QPen(theme.fail, 1.5))
                painter.drawLine(QPointF(x(of), y - 9), QPointF(x(of), y + 8))
                taken, begun = at + width, at
            elif shown.target is not None and at < taken + 4 and at + width > begun - 4:
                # Beside the target's words, not under them.
                at = taken + 5 if x(of) >= x(shown.target) else begun - width - 5
                if not start <= at <= self.width() - width:
                    at = begun - width - 5 if at > start else taken + 5
            painter.setPen(ink)
            painter.drawText(QPointF(at, y + 19), text)
