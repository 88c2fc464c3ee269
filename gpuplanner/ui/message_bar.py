"""A line that says what has happened and offers the one thing to do about it; it takes no focus and blocks nothing."""

from collections.abc import Callable

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QSizePolicy, QWidget

from gpuplanner.i18n import _
from gpuplanner.ui import icons
from gpuplanner.ui.fields import icon_button, tint
from gpuplanner.ui.theme import ThemeSource


class MessageBar(QWidget):
    """One message at a time: a status, a sentence, an action."""

    def __init__(self, theme: ThemeSource) -> None:
        super().__init__()
        self._theme = theme
        self._status = "unknown"
        self._act: Callable[[], object] | None = None
        self._sentence = QLabel()
        self._sentence.setTextFormat(Qt.TextFormat.PlainText)
        self._sentence.setWordWrap(True)
        self._sentence.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self._button = QPushButton()
        self._button.setProperty("link", True)
        self._button.clicked.connect(self._clicked)
        self._close = icon_button("close", "", self.clear)
        line = QHBoxLayout(self)
        line.setContentsMargins(32, 3, 6, 3)
        line.setSpacing(8)
        line.addWidget(self._sentence, 1)
        line.addWidget(self._button)
        line.addWidget(self._close)
        self.hide()
        theme.changed.connect(self._tint)
        self._tint()

    @property
    def sentence(self) -> str:
        """What is said, empty if nothing is."""
        return "" if self.isHidden() else self._sentence.text()

    def say(self, status: str, sentence: str, action: str = "", act: Callable[[], object] | None = None) -> None:
        """Show a sentence with a status ("ok", "warn", "fail", "unknown") and, where there is one, what to do."""
        self._status, self._act = status, act
        self._sentence.setText(sentence)
        self._button.setText(action)
        self._button.setVisible(act is not None)
        for part in (self._close,):
            part.setToolTip(_("Close this message"))
            part.setAccessibleName(_("Close this message"))
        self.setAccessibleName(sentence)
        self.show()
        self.update()

    def clear(self) -> None:
        """Say nothing."""
        self._act = None
        self.hide()

    def _clicked(self) -> None:
        act = self._act
        self.clear()
        if act is not None:
            act()

    def _tint(self, _theme: object = None) -> None:
        tint(self, self._theme.theme)

    def paintEvent(self, event: QPaintEvent) -> None:
        theme = self._theme.theme
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        colour, ground = theme.status_colour(self._status), theme.status_ground(self._status)
        painter.setBrush(ground)
        painter.setPen(QPen(colour, theme.border))
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), 5, 5)
        icons.paint(painter, self._status, QRectF(11, (self.height() - 14) / 2, 14, 14), colour, theme.panel)
        painter.end()
