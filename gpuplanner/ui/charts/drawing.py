"""What the drawings of a scenario's racks and network share: a canvas with tooltips, and names of servers."""

from typing import Any

from PySide6.QtCore import QEvent, QPointF, QRectF, Qt
from PySide6.QtGui import QHelpEvent, QPainter
from PySide6.QtWidgets import QToolTip, QWidget

from gpuplanner.catalog.load import Catalog
from gpuplanner.i18n import _
from gpuplanner.model.plan import Group
from gpuplanner.ui.catalog_rows import short_name
from gpuplanner.ui.fields import plain_tip
from gpuplanner.ui.theme import ThemeSource

LEFT, RIGHT, MIDDLE = Qt.AlignmentFlag.AlignLeft, Qt.AlignmentFlag.AlignRight, Qt.AlignmentFlag.AlignHCenter


def device_name(group: Group, catalog: Catalog) -> str:
    """What a server of a group is called in a drawing."""
    if group.name:
        return group.name
    if group.server:
        return group.server
    if not group.gpu:
        return _("CPU server")
    return f"{group.gpus_per_server}× {short_name(group.gpu)}"


class Canvas(QWidget):
    """A drawing of the selected scenario; repaints when what it shows has changed."""

    def __init__(self, theme: ThemeSource) -> None:
        super().__init__()
        self.theme = theme
        self.letter = ""
        self.compact = False
        self.setMouseTracking(True)

    def tips(self) -> list[tuple[QRectF, str]]:
        """Where the pointer finds which words."""
        return []

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip:
            assert isinstance(event, QHelpEvent)
            place = QPointF(event.pos())
            text = next((text for box, text in self.tips() if box.contains(place)), "")
            if text:
                QToolTip.showText(event.globalPos(), plain_tip(text), self)
            else:
                QToolTip.hideText()
            return True
        return super().event(event)

    def _said(self, painter: QPainter, box: QRectF, text: str, size: int, weight: int, colour: Any, flags: Any) -> None:
        theme = self.theme.theme
        painter.setFont(theme.font(size, weight))
        painter.setPen(colour)
        shown = theme.metrics(size, weight).elidedText(text, Qt.TextElideMode.ElideRight, int(box.width()))
        painter.drawText(box, flags | Qt.AlignmentFlag.AlignVCenter, shown)
