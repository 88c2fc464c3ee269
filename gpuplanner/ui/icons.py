"""Icons as painter paths on a grid of 16, coloured by a token of the theme: sharp and right at every scale."""

from collections.abc import Callable
from functools import cache

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QIcon, QIconEngine, QPainter, QPainterPath, QPen, QPixmap

GRID = 16.0

_STATUS = {
    "ok": "ok",
    "warn": "warn",
    "fail": "fail",
    "unknown": "unknown",
    "stop": "fail",
    "check": "warn",
    "note": "unknown",
}


def _lines(*polylines: tuple[tuple[float, float], ...]) -> QPainterPath:
    path = QPainterPath()
    for first, *rest in polylines:
        path.moveTo(*first)
        for point in rest:
            path.lineTo(*point)
    return path


def _rounded(*boxes: tuple[float, float, float, float, float]) -> QPainterPath:
    path = QPainterPath()
    for x, y, width, height, radius in boxes:
        path.addRoundedRect(QRectF(x, y, width, height), radius, radius)
    return path


def _undo() -> QPainterPath:
    path = _lines(((5.5, 2.5), (2.5, 5.5), (5.5, 8.5)))
    path.moveTo(2.5, 5.5)
    path.lineTo(9.5, 5.5)
    path.arcTo(QRectF(5.5, 5.5, 8, 8), 90, -180)
    path.lineTo(6.5, 13.5)
    return path


def _redo() -> QPainterPath:
    path = _lines(((10.5, 2.5), (13.5, 5.5), (10.5, 8.5)))
    path.moveTo(13.5, 5.5)
    path.lineTo(6.5, 5.5)
    path.arcTo(QRectF(2.5, 5.5, 8, 8), 90, 180)
    path.lineTo(9.5, 13.5)
    return path


def _chat() -> QPainterPath:
    path = QPainterPath()
    path.addRoundedRect(QRectF(1.75, 2.5, 12.5, 9), 2, 2)
    path.addPath(_lines(((5, 11.5), (5, 14), (8, 11.5))))
    return path


def _train() -> QPainterPath:
    path = _lines(((2.5, 2), (2.5, 13.5), (14, 13.5)))
    path.moveTo(4.5, 4)
    path.cubicTo(5.5, 9.5, 8.5, 11, 13.5, 11)
    return path


def _tune() -> QPainterPath:
    path = _lines(((2, 4.5), (8.5, 4.5)), ((11.5, 4.5), (14, 4.5)), ((2, 11.5), (4.5, 11.5)), ((7.5, 11.5), (14, 11.5)))
    path.addEllipse(QPointF(10, 4.5), 1.6, 1.6)
    path.addEllipse(QPointF(6, 11.5), 1.6, 1.6)
    return path


def _search() -> QPainterPath:
    path = QPainterPath()
    path.addEllipse(QPointF(7, 7), 4.2, 4.2)
    path.addPath(_lines(((10.2, 10.2), (13.5, 13.5))))
    return path


def _file() -> QPainterPath:
    return _lines(
        ((9, 1.75), (3.5, 1.75), (3.5, 14.25), (12.5, 14.25), (12.5, 5.25), (9, 1.75), (9, 5.25), (12.5, 5.25))
    )


def _trash() -> QPainterPath:
    return _lines(
        ((2.5, 4), (13.5, 4)), ((6, 4), (6, 2.25), (10, 2.25), (10, 4)), ((4, 4), (4.6, 13.75), (11.4, 13.75), (12, 4))
    )


def _dollar() -> QPainterPath:
    path = QPainterPath()
    path.addEllipse(QPointF(8, 8), 6.2, 6.2)
    path.moveTo(10.2, 6)
    path.cubicTo(9.4, 4.6, 6, 4.7, 6, 6.5)
    path.cubicTo(6, 8.6, 10.1, 7.5, 10.1, 9.6)
    path.cubicTo(10.1, 11.4, 6.5, 11.4, 5.8, 10)
    path.addPath(_lines(((8, 3.6), (8, 12.4))))
    return path


def _reuse() -> QPainterPath:
    path = QPainterPath()
    path.arcMoveTo(QRectF(2.5, 2.5, 11, 11), 20)
    path.arcTo(QRectF(2.5, 2.5, 11, 11), 20, 150)
    path.arcMoveTo(QRectF(2.5, 2.5, 11, 11), 200)
    path.arcTo(QRectF(2.5, 2.5, 11, 11), 200, 150)
    path.addPath(_lines(((2.4, 3.6), (2.6, 7.1), (6, 6.4)), ((13.6, 12.4), (13.4, 8.9), (10, 9.6))))
    return path


def _room() -> QPainterPath:
    path = _rounded((2, 2, 12, 12, 1.5))
    path.addPath(_lines(((5.2, 11), (5.2, 7.5)), ((8, 11), (8, 5)), ((10.8, 11), (10.8, 6.5))))
    return path


# Outline icons, drawn with a 1.4 pen.
_OUTLINES: dict[str, Callable[[], QPainterPath]] = {
    "undo": _undo,
    "redo": _redo,
    "chat": _chat,
    "train": _train,
    "tune": _tune,
    "search": _search,
    "file": _file,
    "trash": _trash,
    "budget": _dollar,
    "reuse": _reuse,
    "room": _room,
    "plus": lambda: _lines(((8, 2.5), (8, 13.5)), ((2.5, 8), (13.5, 8))),
    "minus": lambda: _lines(((3, 8), (13, 8))),
    "close": lambda: _lines(((4, 4), (12, 12)), ((12, 4), (4, 12))),
    "check": lambda: _lines(((3, 8.5), (6.5, 12), (13, 4.5))),
    "down": lambda: _lines(((4, 6), (8, 10), (12, 6))),
    "up": lambda: _lines(((4, 10), (8, 6), (12, 10))),
    "right": lambda: _lines(((6, 3.5), (10.5, 8), (6, 12.5))),
    "left": lambda: _lines(((10, 3.5), (5.5, 8), (10, 12.5))),
    "copy": lambda: _rounded((5.5, 5.5, 8.5, 8.5, 1.5), (2, 2, 8.5, 8.5, 1.5)),
    "quotes": lambda: _rounded((2, 2.5, 5, 11, 1), (9.2, 5, 4.8, 8.5, 1)),
    "warning": lambda: _lines(((8, 2), (14.5, 13.5), (1.5, 13.5), (8, 2)), ((8, 6), (8, 10))),
}

_DOTS = {
    "more": ((3, 8), (8, 8), (13, 8)),
    "grip": ((6, 3.5), (10, 3.5), (6, 8), (10, 8), (6, 12.5), (10, 12.5)),
}


@cache
def _outline(name: str) -> QPainterPath:
    return _OUTLINES[name]()


@cache
def _status_shapes(status: str) -> tuple[QPainterPath, QPainterPath]:
    """The ground and the sign on it: a disc, a triangle, a square; the verdict is read without its colour."""
    ground = QPainterPath()
    if status == "ok":
        ground.addEllipse(QPointF(8, 8), 6.4, 6.4)
        return ground, _lines(((5, 8.2), (7.2, 10.4), (11, 5.9)))
    if status == "warn":
        ground = _lines(((8, 1.6), (15, 14), (1, 14), (8, 1.6)))
        return ground, _lines(((8, 6), (8, 9.6)), ((8, 11.6), (8, 11.9)))
    if status == "fail":
        ground.addRoundedRect(QRectF(1.8, 1.8, 12.4, 12.4), 2.6, 2.6)
        return ground, _lines(((5.6, 5.6), (10.4, 10.4)), ((10.4, 5.6), (5.6, 10.4)))
    ground.addEllipse(QPointF(8, 8), 6.4, 6.4)
    return ground, _lines(((8, 7.4), (8, 11.4)), ((8, 4.7), (8, 5)))


def paint(painter: QPainter, name: str, rect: QRectF, colour: QColor, ground: QColor | None = None) -> None:
    """Draw an icon into `rect`.

    A status ("ok", "warn", "fail", "unknown", "stop", "check", "note") is a filled shape whose sign has the colour
    `ground` (white where none is given); every other icon is an outline.
    """
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.translate(rect.topLeft())
    painter.scale(rect.width() / GRID, rect.height() / GRID)
    if name in _STATUS:
        shape, sign = _status_shapes(_STATUS[name])
        join = QPen(colour, 1.2, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap, Qt.PenJoinStyle.RoundJoin)
        painter.setPen(join)
        painter.setBrush(colour)
        painter.drawPath(shape)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(ground or QColor("#FFFFFF"), 1.8, c=Qt.PenCapStyle.RoundCap, j=Qt.PenJoinStyle.RoundJoin))
        painter.drawPath(sign)
    elif name in _DOTS:
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(colour)
        for x, y in _DOTS[name]:
            painter.drawEllipse(QPointF(x, y), 1.25, 1.25)
    else:
        painter.setPen(QPen(colour, 1.4, c=Qt.PenCapStyle.RoundCap, j=Qt.PenJoinStyle.RoundJoin))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawPath(_outline(name))
    painter.restore()


def paint_letter(painter: QPainter, letter: str, rect: QRectF, theme) -> None:
    """The mark of a scenario: its letter on its colour, in black or white by contrast."""
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(theme.series_colour(letter))
    painter.drawRoundedRect(rect, 4, 4)
    painter.setPen(theme.letter_colour(letter))
    painter.setFont(theme.font(max(10, round(rect.height() * 0.68)), 600))
    painter.drawText(rect, Qt.AlignmentFlag.AlignCenter, letter)
    painter.restore()


class _Engine(QIconEngine):
    def __init__(self, name: str, colour: QColor, faded: QColor | None, ground: QColor | None) -> None:
        super().__init__()
        self._name, self._colour, self._faded, self._ground = name, colour, faded or colour, ground

    def paint(self, painter: QPainter, rect, mode: QIcon.Mode, state: QIcon.State) -> None:
        colour = self._faded if mode == QIcon.Mode.Disabled else self._colour
        paint(painter, self._name, QRectF(rect), colour, self._ground)

    def pixmap(self, size: QSize, mode: QIcon.Mode, state: QIcon.State) -> QPixmap:
        made = QPixmap(size)
        made.fill(Qt.GlobalColor.transparent)
        painter = QPainter(made)
        self.paint(painter, made.rect(), mode, state)
        painter.end()
        return made

    def clone(self) -> "QIconEngine":
        return _Engine(self._name, self._colour, self._faded, self._ground)


def icon(name: str, colour: QColor, faded: QColor | None = None, ground: QColor | None = None) -> QIcon:
    """An icon for a button or an action; `faded` is its colour while disabled."""
    return QIcon(_Engine(name, colour, faded, ground))


def application_icon() -> QIcon:
    """The program's own icon: three bars of a chart on the accent."""
    made = QIcon()
    for size in (16, 24, 32, 48, 64, 128, 256):
        picture = QPixmap(size, size)
        picture.fill(Qt.GlobalColor.transparent)
        painter = QPainter(picture)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.scale(size / GRID, size / GRID)
        painter.setBrush(QColor("#1F5FD0"))
        painter.drawRoundedRect(QRectF(0.5, 0.5, 15, 15), 3.5, 3.5)
        painter.setBrush(QColor("#FFFFFF"))
        for x, top in ((3.5, 9), (7, 6), (10.5, 3.5)):
            painter.drawRoundedRect(QRectF(x, top, 2, 12.5 - top), 0.5, 0.5)
        painter.end()
        made.addPixmap(picture)
    return made
