"""Fields that edit one value of the plan each: live on every keystroke, with the plan as their only memory.

A field commits what parses and is accepted, keeps what does not visible with a sentence about it, and shows the plan's
value again on Esc or when the user leaves it. A field that may be left blank ("auto", "no limit") shows in grey what
blank comes to.
"""

import html
import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from PySide6.QtCore import QObject, QRectF, QSize, QStringListModel, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent, QKeySequence, QPainter, QPaintEvent, Qt, QWheelEvent
from PySide6.QtWidgets import (
    QComboBox,
    QCompleter,
    QGridLayout,
    QLabel,
    QLineEdit,
    QListView,
    QPlainTextEdit,
    QSizePolicy,
    QStyle,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from gpuplanner.i18n import N_, _, parse
from gpuplanner.i18n import format as words
from gpuplanner.model.plan import Money
from gpuplanner.ui import icons
from gpuplanner.ui.document import Refusal
from gpuplanner.ui.theme import FIELD, FIELD_ROW

Commit = Callable[[Any], str | None]

# What a field shows before the first plan arrives.
_NOTHING = object()
UNIT_WIDTH = 44

# Units as labels show them: unit of `i18n.parse` to the word beside the field.
UNIT_WORDS = {
    "count": "",
    "tokens": N_("tokens"),
    "s": N_("s"),
    "ms": N_("ms"),
    "%": "%",
    "W": "W",
    "kW": "kW",
    "GB": "GB",
    "GiB": "GiB",
    "°C": "°C",
    "m": N_("m"),
    "kg": "kg",
    "years": N_("years"),
    "days": N_("days"),
}


class _LineField(QLineEdit):
    """A line of text for one value. Subclasses say how text becomes a value and back.

    `blank` is the value that no text stands for ("auto", None), or absent where the field must be filled.
    """

    refused = Signal(str)

    def __init__(self, commit: Commit, blank: Any = _NOTHING, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._commit = commit
        self._blank = blank
        self._value: Any = _NOTHING
        self._parsed: Any = _NOTHING
        self._refusal = ""
        self.setMaxLength(1000)
        self.textEdited.connect(self._edited)

    # --- what subclasses say ---------------------------------------------------

    def read(self, text: str) -> Any:
        """The value that `text` stands for, None if it is not understood."""
        raise NotImplementedError

    def write(self, value: Any) -> str:
        """The text of a value."""
        raise NotImplementedError

    def not_understood(self) -> str:
        """The sentence for text that does not parse."""
        raise NotImplementedError

    def worded(self, refusal: str) -> str:
        """A refusal of the plan, in the words of this field."""
        return refusal

    # --- showing ---------------------------------------------------------------

    def show_value(self, value: Any) -> None:
        """Show the plan's value; leaves the text alone while the user types it."""
        self._value = value
        if self.hasFocus() and (self._parsed is None or self._same(self._parsed, value)):
            return
        self._show(value)

    def show_blank(self, text: str) -> None:
        """What a blank field comes to, in grey: "auto (8)"."""
        if text != self.placeholderText():
            self.setPlaceholderText(text)

    def show_refusal(self, sentence: str | None) -> None:
        """Mark the field and say why; nothing takes the mark away."""
        sentence = sentence or ""
        if sentence == self._refusal:
            return
        self._refusal = sentence
        _mark(self, "refused", bool(sentence))
        self.setToolTip(plain_tip(sentence))
        self.setAccessibleDescription(sentence)
        self.refused.emit(sentence)

    @property
    def refusal(self) -> str:
        """The sentence shown at the field, empty if its value is accepted."""
        return self._refusal

    def _same(self, one: Any, other: Any) -> bool:
        if isinstance(one, (int, float)) and isinstance(other, (int, float)):
            return one == other
        return one is not _NOTHING and type(one) is type(other) and bool(one == other)

    def _show(self, value: Any) -> None:
        self._parsed = value
        text = "" if value is _NOTHING or self._same(value, self._blank) else self.write(value)
        if text != self.text():
            self.setText(text)
            self.setCursorPosition(0)
        self.show_refusal(None)

    # --- editing ---------------------------------------------------------------

    def _edited(self, text: str) -> None:
        stripped = text.strip()
        if self._blank is not _NOTHING and (not stripped or stripped.casefold() in ("auto", "自动")):
            self._parsed = self._blank
        else:
            self._parsed = self.read(stripped)
        if self._parsed is None and self._blank is not None:
            self.show_refusal(self.not_understood())
        elif self._parsed is None and stripped:
            self.show_refusal(self.not_understood())
        else:
            self.show_refusal(self._offer(self._parsed))

    def _offer(self, value: Any) -> str | None:
        said = self._commit(value)
        return None if said is None else self.worded(said)

    def _done(self) -> None:
        done = getattr(self._commit, "done", None)
        if done is not None:
            done()

    def _leave(self) -> None:
        self._done()
        if self._value is not _NOTHING:
            self._show(self._value)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        # A context menu or the list of completions takes the focus for a moment only.
        if event.reason() != Qt.FocusReason.PopupFocusReason:
            self._leave()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.matches(QKeySequence.StandardKey.Undo) or event.matches(QKeySequence.StandardKey.Redo):
            # Undo and redo are the plan's, not the line's.
            step = "undo" if event.matches(QKeySequence.StandardKey.Undo) else "redo"
            getattr(self._commit, step, lambda: None)()
            event.accept()
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._leave()
            self.selectAll()
            event.accept()
        elif event.key() == Qt.Key.Key_Escape and (self._refusal or self._text_differs()):
            self._show(self._value)
            self.selectAll()
            event.accept()
        else:
            super().keyPressEvent(event)

    def _text_differs(self) -> bool:
        return (
            self._value is not _NOTHING and self._parsed is not _NOTHING and not self._same(self._parsed, self._value)
        )


def plain_tip(text: str) -> str:
    """`text` for a tool tip, letter by letter: what looks like markup would be rendered, and may come from a file."""
    return f"<span>{html.escape(text)}</span>" if "<" in text or "&" in text else text


def _mark(widget: QWidget, name: str, value: bool) -> None:
    """Set a property that the style sheet looks at."""
    if bool(widget.property(name)) != value:
        widget.setProperty(name, value)
        widget.style().unpolish(widget)
        widget.style().polish(widget)


class NumberField(_LineField):
    """Edits one figure. `unit` is one of `i18n.parse`; the value is in SI, the text in the unit."""

    def __init__(
        self,
        commit: Commit,
        unit: str = "count",
        whole: bool = False,
        blank: Any = _NOTHING,
        step: float = 1,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(commit, blank, parent)
        self.unit = unit
        self._whole = whole
        self._step = step
        self.setAlignment(Qt.AlignmentFlag.AlignRight)

    def read(self, text: str) -> int | float | None:
        value = parse.parse_quantity(text, self.unit)
        if value is None or not math.isfinite(value):
            return None
        return int(value) if self._whole and value == int(value) else value

    def write(self, value: Any) -> str:
        return words.exact(value) if self.unit == "count" else words.quantity(value, self.unit)

    def not_understood(self) -> str:
        if self._value is _NOTHING or self._value is None or isinstance(self._value, str):
            return _("Not a number.")
        return _("Not a number. {value} is kept until this is one.").format(value=self.write(self._value))

    def worded(self, refusal: str) -> str:
        if not isinstance(refusal, Refusal):
            return refusal
        word = UNIT_WORDS.get(self.unit, self.unit)
        return refusal.worded(lambda si: f"{self.write(si)} {_(word)}".rstrip() if word else self.write(si))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Up, Qt.Key.Key_Down) and not self.isReadOnly():
            self._nudge(1 if event.key() == Qt.Key.Key_Up else -1, event.modifiers())
            event.accept()
            return
        super().keyPressEvent(event)

    def shown(self, value: float) -> float:
        """The figure on the screen for a value of the plan."""
        return parse.unit_scale(self.unit).shown(value)

    def of_shown(self, shown: float) -> float:
        """The value of the plan for a figure on the screen."""
        return parse.unit_scale(self.unit).si(shown)

    def _nudge(self, direction: int, modifiers: Qt.KeyboardModifier) -> None:
        step = self._step
        if modifiers & Qt.KeyboardModifier.ShiftModifier:
            step *= 10
        elif modifiers & Qt.KeyboardModifier.ControlModifier:
            step *= 1 if self._whole else 0.1
        start = self._value if isinstance(self._value, (int, float)) else 0
        # Decimal steps, so that 0.1 three times is 0.3 on the screen.
        value = self.of_shown(round(self.shown(start) + direction * step, 10))
        if self._whole:
            value = round(value)
        said = self._offer(value)
        if said is None:
            self._parsed = value
            self._show(value)
            self._value = value
            self.selectAll()
        self.show_refusal(said)


class QuantityField(NumberField):
    """A figure with a unit beside it; a `NumberField` whose unit must be named."""

    def __init__(
        self, commit: Commit, unit: str, blank: Any = _NOTHING, step: float = 1, parent: QWidget | None = None
    ) -> None:
        super().__init__(commit, unit, blank=blank, step=step, parent=parent)


class TextField(_LineField):
    """Edits a short text, such as a name."""

    def read(self, text: str) -> str:
        return text

    def write(self, value: Any) -> str:
        return str(value)

    def not_understood(self) -> str:
        return _("Not possible here.")

    def _edited(self, text: str) -> None:
        self._parsed = self._blank if not text and self._blank is not _NOTHING else text
        self.show_refusal(self._offer(self._parsed))


class NotesField(QPlainTextEdit):
    """Edits a text of several lines; each keystroke is committed, and merged into one undo step by the document."""

    refused = Signal(str)

    def __init__(self, commit: Commit, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._commit = commit
        self.setFixedSize(168, 84)
        self.setTabChangesFocus(True)
        self.textChanged.connect(self._edited)

    def show_value(self, value: str) -> None:
        """Show the plan's text."""
        if value != self.toPlainText():
            self.blockSignals(True)
            self.setPlainText(value)
            self.blockSignals(False)

    def _edited(self) -> None:
        said = self._commit(self.toPlainText())
        self.setToolTip(plain_tip(said or ""))
        self.refused.emit(said or "")


class MoneyField(_LineField):
    """Edits an amount with its currency; without one typed the currency is the plan's."""

    def __init__(self, commit: Commit, blank: Any = _NOTHING, parent: QWidget | None = None) -> None:
        super().__init__(commit, blank, parent)
        self._currency = "USD"
        self.setAlignment(Qt.AlignmentFlag.AlignRight)

    def show_currency(self, currency: str) -> None:
        """The currency that an amount without one is in."""
        self._currency = currency

    def read(self, text: str) -> Money | None:
        typed = parse.parse_money(text, self._own_currency())
        if typed is None or typed.currency is None or not 0 <= typed.amount <= 1e15:
            return None
        return Money(amount=typed.amount, currency=typed.currency)

    def write(self, value: Any) -> str:
        return words.money_exact(value.amount, value.currency)

    def not_understood(self) -> str:
        if isinstance(self._value, Money):
            return _("Not an amount. {value} is kept until this is one.").format(value=self.write(self._value))
        return _("Not an amount.")

    def _own_currency(self) -> str:
        return self._value.currency if isinstance(self._value, Money) else self._currency


class DateField(_LineField):
    """Edits a day, year first."""

    def read(self, text: str) -> str | None:
        day = parse.parse_date(text)
        return None if day is None else day.isoformat()

    def write(self, value: Any) -> str:
        return str(value)

    def not_understood(self) -> str:
        return _("Write the day as 2026-11-30.")


class NameField(_LineField):
    """Edits the name of a catalog entry, with a list of those that fit what is typed.

    `names` gives the names to offer; `resolve(text)` the name that a text stands for, or it raises `LookupError` with
    the sentence to show. The plan changes when a name is chosen or typed in full.
    """

    def __init__(
        self,
        commit: Commit,
        names: Callable[[], Iterable[str]],
        resolve: Callable[[str], str],
        blank: Any = _NOTHING,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(commit, blank, parent)
        self._names, self._resolve = names, resolve
        self._why = ""
        self._model = QStringListModel(self)
        completer = QCompleter(self._model, self)
        completer.setCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
        completer.setFilterMode(Qt.MatchFlag.MatchContains)
        completer.setMaxVisibleItems(14)
        self._popup = QListView()
        self._popup.setObjectName("completions")
        self._popup.setMinimumWidth(230)
        completer.setPopup(self._popup)
        completer.activated[str].connect(self._chosen)  # type: ignore[index]
        self.setCompleter(completer)
        self._open = QToolButton(self)
        self._open.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._open.setCursor(Qt.CursorShape.ArrowCursor)
        self._open.clicked.connect(self._show_all)
        self._open.setFixedSize(18, 18)
        self.setTextMargins(0, 0, 16, 0)
        self._filled = False

    def read(self, text: str) -> Any:
        try:
            return self._resolve(text)
        except LookupError as error:
            self._why = str(error)
            return None

    def write(self, value: Any) -> str:
        return str(value)

    def not_understood(self) -> str:
        return self._why

    def of_name(self, name: str) -> Any:
        """The value that a name chosen from the list stands for."""
        return name

    def _edited(self, text: str) -> None:
        self._fill()
        super()._edited(text)

    def _fill(self) -> None:
        if not self._filled:
            self._model.setStringList(list(self._names()))
            self._filled = True

    def refill(self) -> None:
        """The catalog has changed: read the names again at the next use."""
        self._filled = False

    def _show_all(self) -> None:
        self.refill()
        self._fill()
        self.setFocus()
        self.selectAll()
        self.completer().setCompletionPrefix("")
        self.completer().complete()

    def _chosen(self, name: str) -> None:
        self._parsed = self.of_name(name)
        said = self._offer(self._parsed)
        self.show_refusal(said)
        if said is None:
            self._leave()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Down and not self._popup.isVisible():
            self._show_all()
            return
        super().keyPressEvent(event)

    def resizeEvent(self, event: Any) -> None:
        super().resizeEvent(event)
        self._open.move(self.width() - 21, (self.height() - 18) // 2)

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        _paint_arrow(self)


class ChoiceField(QComboBox):
    """Chooses one of a few values. Items are (value, msgid); what "auto" comes to stands behind it."""

    refused = Signal(str)

    def __init__(self, commit: Commit, items: Sequence[tuple[Any, str]], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._commit = commit
        self._items = tuple(items)
        self._auto = ""
        self.setMinimumContentsLength(3)
        self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setView(QListView(self))
        for _value, text in self._items:
            self.addItem(_(text) if text else "")
        self.activated.connect(self._activated)

    def show_value(self, value: Any) -> None:
        """Show the plan's value."""
        for index, (each, _text) in enumerate(self._items):
            if each == value and type(each) is type(value):
                if index != self.currentIndex():
                    self.setCurrentIndex(index)
                return
        self.setCurrentIndex(-1)

    def set_items(self, items: Sequence[tuple[Any, str]]) -> None:
        """Offer other values. Does nothing if they are the same."""
        items = tuple(items)
        if items == self._items:
            return
        value = self.value
        self._items = items
        self.clear()
        for _value, text in items:
            self.addItem(_(text) if text else "")
        self._show_auto_text()
        self.show_value(value)

    def show_blank(self, text: str) -> None:
        """How the item "auto" reads: "auto (8)"."""
        if text != self._auto:
            self._auto = text
            self._show_auto_text()

    def retranslate(self) -> None:
        """Show the items in the language in force."""
        for index, (_value, text) in enumerate(self._items):
            self.setItemText(index, _(text) if text else "")
        self._show_auto_text()

    @property
    def value(self) -> Any:
        """The value of the item shown; None if there is none."""
        index = self.currentIndex()
        return self._items[index][0] if 0 <= index < len(self._items) else None

    def _show_auto_text(self) -> None:
        for index, (value, text) in enumerate(self._items):
            if value == "auto":
                self.setItemText(index, self._auto or _(text))

    def _activated(self, index: int) -> None:
        done = getattr(self._commit, "done", None)
        if done is not None:
            done()
        self.refused.emit(self._commit(self._items[index][0]) or "")
        if done is not None:
            done()

    def wheelEvent(self, event: QWheelEvent) -> None:
        # Scrolling a panel must not change the value that happens to pass under the mouse.
        event.ignore()

    def showPopup(self) -> None:
        metrics = self.fontMetrics()
        widest = max((metrics.horizontalAdvance(self.itemText(i)) for i in range(self.count())), default=0)
        self.view().setMinimumWidth(max(self.width(), widest + 40))
        super().showPopup()

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        _paint_arrow(self)


def auto_text(value: str) -> str:
    """What "auto" comes to, as fields show it: "auto (8)"."""
    return _("auto ({value})").format(value=value) if value else _("auto")


def _paint_arrow(widget: QWidget) -> None:
    painter = QPainter(widget)
    role = widget.palette().ColorRole.PlaceholderText
    icons.paint(
        painter, "down", QRectF(widget.width() - 18, (widget.height() - 11) / 2, 11, 11), widget.palette().color(role)
    )
    painter.end()


class FieldRow(QWidget):
    """Label left, field right-aligned, unit beside it, and beneath the sentence about what was refused."""

    def __init__(
        self, label: str, field: QWidget, unit: str = "", width: int = 82, unit_width: int = UNIT_WIDTH, hint: str = ""
    ) -> None:
        super().__init__()
        self._label_text, self._unit_text, self._hint_text = label, unit, hint
        self.field = field
        self.label = QLabel()
        self.label.setTextFormat(Qt.TextFormat.PlainText)
        self.label.setProperty("tone", "second")
        self.label.setBuddy(field)
        self.label.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.unit = QLabel()
        self.unit.setTextFormat(Qt.TextFormat.PlainText)
        self.unit.setProperty("tone", "third")
        self.sentence = QLabel()
        self.sentence.setTextFormat(Qt.TextFormat.PlainText)
        self.sentence.setWordWrap(True)
        self.sentence.setProperty("tone", "fail")
        self.sentence.setAlignment(Qt.AlignmentFlag.AlignRight)
        self.sentence.hide()
        field.setFixedWidth(width)
        layout = QGridLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setHorizontalSpacing(6)
        layout.setVerticalSpacing(2)
        layout.addWidget(self.label, 0, 0)
        layout.addWidget(field, 0, 1)
        layout.setColumnStretch(0, 1)
        if unit_width:
            self.unit.setFixedWidth(unit_width)
            layout.addWidget(self.unit, 0, 2)
        layout.setRowMinimumHeight(0, FIELD_ROW)
        layout.addWidget(self.sentence, 1, 0, 1, 3)
        if hasattr(field, "refused"):
            field.refused.connect(self.show_refusal)
        self.retranslate()

    def show_refusal(self, sentence: str) -> None:
        """Show the sentence under the field; an empty one takes the line away."""
        self.sentence.setText(sentence)
        self.sentence.setVisible(bool(sentence))

    def show_unit(self, unit: str) -> None:
        """Name another unit (a msgid)."""
        self._unit_text = unit
        self.unit.setText(_(unit) if unit else "")

    def retranslate(self) -> None:
        """Show label and unit in the language in force."""
        label = _(self._label_text)
        self.label.setText(label)
        self.unit.setText(_(self._unit_text) if self._unit_text else "")
        hint = _(self._hint_text) if self._hint_text else ""
        self.label.setToolTip(hint or label)
        unit = self.unit.text()
        self.field.setAccessibleName(f"{label} [{unit}]" if unit else label)
        if isinstance(self.field, ChoiceField):
            self.field.retranslate()


class Cell(QWidget):
    """A field with its label above it, for rows of many fields. What is refused is told to the panel."""

    refused = Signal(str)

    def __init__(self, label: str, field: QWidget, width: int, unit: str = "", hint: str = "") -> None:
        super().__init__()
        self._texts = label, unit, hint
        self.field = field
        self.label = QLabel()
        self.label.setTextFormat(Qt.TextFormat.PlainText)
        self.label.setProperty("tone", "third")
        self.label.setBuddy(field)
        self.label.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.setFixedWidth(width)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(1)
        column.addWidget(self.label)
        column.addWidget(field)
        if hasattr(field, "refused"):
            field.refused.connect(self.refused)
        self.retranslate()

    def retranslate(self) -> None:
        """Show the label in the language in force."""
        from gpuplanner.ui.theme import font

        label, unit, hint = (_(text) if text else "" for text in self._texts)
        self.label.setFont(font(11))
        self.label.setText(f"{label} ({unit})" if unit else label)
        self.label.setToolTip(hint or self.label.text())
        self.field.setAccessibleName(self.label.text())
        if isinstance(self.field, ChoiceField):
            self.field.retranslate()


class Caption(QLabel):
    """A heading of a section in a panel (a msgid)."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self._text = text
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.retranslate()

    def retranslate(self) -> None:
        """Show the heading in the language in force."""
        from gpuplanner.ui.theme import font

        self.setFont(font(11, 600))
        self.setProperty("tone", "second")
        self.setText(_(self._text))


def icon_button(name: str, tip: str, pressed: Callable[[], object], size: int = 22) -> QToolButton:
    """A small button with an icon, which `tint` sets; `tip` is its tool tip and accessible name."""
    button = QToolButton()
    button.setProperty("icon_name", name)
    button.setIconSize(QSize(14, 14))
    button.setFixedSize(size, size)
    button.setToolTip(tip)
    button.setAccessibleName(tip)
    button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
    button.clicked.connect(lambda _checked=False: pressed())
    return button


def tint(parent: QObject, theme: Any) -> None:
    """Give every `icon_button` under `parent` its icon in the theme's colours."""
    from gpuplanner.ui.theme import blend

    faded = blend(theme.text3, theme.panel, 0.55)
    for button in parent.findChildren(QToolButton):
        name = button.property("icon_name")
        if name:
            button.setIcon(icons.icon(name, theme.text2, faded))


def standard_margin(widget: QWidget) -> int:
    """The style's own margin around contents."""
    return widget.style().pixelMetric(QStyle.PixelMetric.PM_LayoutLeftMargin)


__all__ = [
    "FIELD",
    "Caption",
    "Cell",
    "ChoiceField",
    "DateField",
    "FieldRow",
    "MoneyField",
    "NameField",
    "NumberField",
    "QuantityField",
    "TextField",
    "auto_text",
    "icon_button",
    "tint",
]
