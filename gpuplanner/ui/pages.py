"""Full pages over the plan: one opens in place of the window's middle, and Back returns to what was there.

The stack holds the plan, what to begin with, and every page that has been opened. `Back` (the button, Alt+Left, or Esc
that no field needs) shows what was there before and focuses the same widget. The window hides its docks while a page
is open.
"""

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import (
    QApplication,
    QHBoxLayout,
    QLabel,
    QSizePolicy,
    QStackedWidget,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from gpuplanner.i18n import _
from gpuplanner.ui.fields import icon_button, tint
from gpuplanner.ui.theme import Theme, ThemeSource


class Page(QWidget):
    """A full page: Back, title and one sentence on top, everything else in `body`.

    A subclass sets its title and sentence in `retranslate` by `show_title`, and may give `first`.
    """

    back_pressed = Signal()

    def __init__(self, theme: ThemeSource) -> None:
        super().__init__()
        self.source = theme
        self.back_button: QToolButton = icon_button("left", _("Back"), self.back_pressed.emit, 26)
        self.title, self.sentence = QLabel(), QLabel()
        for label in (self.title, self.sentence):
            label.setTextFormat(Qt.TextFormat.PlainText)
        self.sentence.setProperty("tone", "second")
        self.sentence.setWordWrap(True)
        self.sentence.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.head = QHBoxLayout()
        self.head.setSpacing(10)
        self.head.addWidget(self.back_button, 0, Qt.AlignmentFlag.AlignVCenter)
        self.head.addWidget(self.title, 0, Qt.AlignmentFlag.AlignVCenter)
        self.head.addWidget(self.sentence, 1)
        self.body = QVBoxLayout()
        self.body.setSpacing(8)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(10, 10, 10, 10)
        whole.setSpacing(8)
        whole.addLayout(self.head)
        whole.addLayout(self.body, 1)
        theme.changed.connect(self._tint)
        self._tint()

    def show_title(self, title: str, sentence: str = "") -> None:
        """Name the page and say in one sentence what it shows."""
        self.title.setFont(Theme.font(16, 600))
        self.title.setText(title)
        self.sentence.setFont(Theme.font(12, 400))
        self.sentence.setText(sentence)
        self.setAccessibleName(title)
        tip = _("Back (Alt+Left, Esc)")
        self.back_button.setToolTip(tip)
        self.back_button.setAccessibleName(_("Back"))

    def first(self) -> QWidget:
        """What to focus when the page opens."""
        return self.back_button

    def retranslate(self) -> None:
        """Show all words in the language in force."""
        raise NotImplementedError

    def finish(self) -> None:
        """Wait for a worker; for closing the window and for tests."""

    def _tint(self, _theme: object = None) -> None:
        tint(self, self.source.theme)


class PageStack(QStackedWidget):
    """The window's middle. Emits `page_changed` when a page opens or closes."""

    page_changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._below: int | None = None
        self._focus: QWidget | None = None

    @property
    def page(self) -> Page | None:
        """The page that is open; None where the plan, or what to begin with, is shown."""
        shown = self.currentWidget()
        return shown if isinstance(shown, Page) else None

    @property
    def below(self) -> int:
        """The index of what is shown, or of what is below the page that is open."""
        return self.currentIndex() if self.page is None or self._below is None else self._below

    def open(self, page: Page) -> None:
        """Show a page over what is there; from another page, Back goes past that one."""
        if self.indexOf(page) < 0:
            self.addWidget(page)
            page.back_pressed.connect(self.back)
        if self.page is None:
            self._below, self._focus = self.currentIndex(), QApplication.focusWidget()
        if self.page is not page:
            self.setCurrentWidget(page)
            self.page_changed.emit()
        page.first().setFocus(Qt.FocusReason.OtherFocusReason)

    def back(self) -> None:
        """Show again what was below the page, with its focus."""
        if self.page is None or self._below is None:
            return
        focus, self._focus = self._focus, None
        self.setCurrentIndex(self._below)
        self.page_changed.emit()
        if focus is not None and focus.isVisible():
            focus.setFocus(Qt.FocusReason.OtherFocusReason)

    def leave_page(self) -> None:
        """Forget the page, because what is below changes: another plan has been opened."""
        self._focus = None
        if self.page is not None and self._below is not None:
            self.setCurrentIndex(self._below)
            self.page_changed.emit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape and self.page is not None:
            self.back()
            event.accept()
            return
        super().keyPressEvent(event)
