"""The answer in ten seconds: one sentence on top, and a card for every scenario with its four verdicts.

A click selects a scenario; its two figures can be clicked for their explanation. Entries of the catalog are dropped on
a card to add a group, and between cards to make a scenario; a card is dragged to another place, and its letter stays.
"""

import json
from collections.abc import Sequence
from typing import Any, NamedTuple

from PySide6.QtCore import (
    QAbstractListModel,
    QMimeData,
    QModelIndex,
    QPersistentModelIndex,
    QPoint,
    QPointF,
    QRect,
    QRectF,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import (
    QContextMenuEvent,
    QDragEnterEvent,
    QDragLeaveEvent,
    QDragMoveEvent,
    QDropEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPen,
)
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QHBoxLayout,
    QListView,
    QMenu,
    QPushButton,
    QSizePolicy,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QVBoxLayout,
    QWidget,
)

from gpuplanner.i18n import _, derivations, facts, format, pgettext
from gpuplanner.model import evidence
from gpuplanner.model.comparison import has_band, scenario_name
from gpuplanner.model.plan import Plan, Scenario
from gpuplanner.model.results import Check, Headline, Results, ScenarioResult, ServeResult, Status, TrainResult
from gpuplanner.ui import icons
from gpuplanner.ui.document import PlanDocument
from gpuplanner.ui.evaluation import Evaluation
from gpuplanner.ui.theme import Theme, ThemeSource

Index = QModelIndex | QPersistentModelIndex

ENTRY_MIME = "application/x-gpuplanner-entry"
SCENARIO_MIME = "application/x-gpuplanner-scenario"

HEADLINE = 26
CARD_HEIGHT = 152
LEAST_WIDTH = 178
MOST_WIDTH = 300
GAP = 8
_PADDING = 12
_BADGE = 18
# A drop this close to a gap goes between the cards. [px]
_BETWEEN = 16

# Stand in a sentence for letters, and are painted as badges; no text has these characters.
_BEST_MARK, _OTHER_MARK = "\ue000", "\ue001"


class Mark(NamedTuple):
    """One of the four questions and its answer."""

    status: Status
    word: str
    sentence: str


class Card(NamedTuple):
    """One scenario as its card shows it; a card is repainted only when this differs."""

    letter: str
    title: str
    subtitle: str
    pill: str
    ratio: str
    amount: str
    marks: tuple[Mark, ...]
    # The most important fact, and shorter forms of its sentence.
    summary: tuple[str, ...]
    summary_status: Status
    spoken: str
    # The ratio and the amount with their bands.
    figures: tuple[str, ...] = ()


def headline_parts(results: Results) -> tuple[str, dict[str, str]]:
    """The sentence on top with placeholders for the letters, and the letter of each placeholder."""
    headline = results.headline
    numbers = {**_reason_numbers(results, headline), **headline.numbers}
    letters = {}
    if headline.best:
        numbers["letter"] = _BEST_MARK
        letters[_BEST_MARK] = headline.best
    if headline.other:
        numbers["other"] = _OTHER_MARK
        letters[_OTHER_MARK] = headline.other
    return facts.sentence(headline.key, numbers, results.currency), letters


def headline_sentence(results: Results) -> str:
    """The sentence on top with its letters."""
    text, letters = headline_parts(results)
    for mark, letter in letters.items():
        text = text.replace(mark, letter)
    return text


def _reason_numbers(results: Results, headline: Headline) -> dict[str, Any]:
    """The numbers of the check that the headline gives as its reason."""
    entry = results.scenario(headline.best)
    if entry is None:
        return {}
    checks = (entry.fits, entry.speed, entry.room_check, entry.money_check, entry.summary)
    return next((dict(check.numbers) for check in checks if check.key == headline.numbers.get("what")), {})


def cards(plan: Plan, results: Results) -> tuple[Card, ...]:
    """What the cards show, in the order of the plan."""
    scenarios = {scenario.letter: scenario for scenario in plan.scenarios}
    best = _best_letters(results)
    return tuple(
        _card(scenarios[entry.letter], entry, results, best) for entry in results.scenarios if entry.letter in scenarios
    )


def _best_letters(results: Results) -> tuple[str, ...]:
    headline = results.headline
    if headline.key not in ("best_meets_all", "best_no_budget", "best_central", "two_best"):
        return ()
    return tuple(letter for letter in (headline.best, headline.other if headline.key == "two_best" else "") if letter)


def _card(scenario: Scenario, entry: ScenarioResult, results: Results, best: Sequence[str]) -> Card:
    name = scenario_name(scenario)
    pill = ""
    if entry.letter in best:
        pill = _("best fit")
    elif entry.letter == results.baseline:
        pill = _("baseline")
    marks = tuple(
        Mark(check.status, word, _said(check, results.currency))
        for check, word in (
            (entry.fits, _("Fits")),
            (entry.speed, _("Fast enough")),
            (entry.room_check, _("Room")),
            (entry.money_check, _("Budget")),
        )
    )
    ratio, amount = format.ratio(entry.speed_ratio.value), format.money(entry.money.purchase.value, results.currency)
    if not entry.money.purchase.value and entry.money.rent_per_year.value:
        amount = _("{amount} a year").format(amount=format.money(entry.money.rent_per_year.value, results.currency))
    subtitle = _run_words(scenario, entry)
    spoken = _("Option {letter}, {name}. Speed {ratio} the baseline. {amount}.").format(
        letter=entry.letter, name=", ".join(part for part in (name, subtitle) if part), ratio=ratio, amount=amount
    )
    spoken = " ".join([spoken, *(f"{mark.word}: {facts.status(mark.status)}." for mark in marks)])
    check = entry.summary
    summary = facts.variants(check.key, check.numbers, results.currency) if check.key else (facts.status(check.status),)
    figures = _figures(entry, results)
    return Card(
        entry.letter, name, subtitle, pill, ratio, amount, marks, summary, entry.summary.status, spoken, figures
    )  # fmt: skip


def _figures(entry: ScenarioResult, results: Results) -> tuple[str, ...]:
    """The ratio and the purchase with band and confidence: "Speed, B = 1: 2.75× (2.4–3.1). Confidence: good"."""
    lines = []
    speed = facts.metric("speed_ratio", {"letter": results.baseline or ""})
    for name, figure, kind in (
        (speed, entry.speed_ratio, "ratio"),
        (facts.metric("purchase"), entry.money.purchase, "money"),
    ):
        if not figure.value or not has_band(figure):
            continue
        scale = facts.scale(kind, [figure.value], results.currency)
        unit = "" if kind == "ratio" else f" {scale.unit}"
        line = f"{name}: {scale.value(figure.value)} ({scale.band(figure.low, figure.high)}){unit}"
        if sure := evidence.confidence_of(figure):
            line += " · " + _("Confidence: {word}").format(word=derivations.confidence(sure))
        lines.append(line)
    return tuple(lines)


def _said(check: Check, currency: str) -> str:
    return facts.sentence(check.key, check.numbers, currency) if check.key else facts.status(check.status)


_CONDITIONS = {
    "new": lambda: _("new"),
    "used": lambda: _("used"),
    "owned": lambda: _("owned"),
    "rented": lambda: _("rented"),
}


def _run_words(scenario: Scenario, entry: ScenarioResult) -> str:
    """Condition, weights and split of the first run: "new · FP8 · TP4 × DP2"."""
    words: list[str] = []
    conditions = dict.fromkeys(group.condition for group in scenario.groups)
    words.extend(_CONDITIONS[each]() for each in conditions)
    runs: tuple[ServeResult | TrainResult, ...] = (*entry.serve, *entry.train)
    choice = next((run.choice for run in runs if run.choice is not None), None)
    if choice is not None:
        words.append(facts.weight_format(choice.weights))
        degrees = (("TP", choice.tp), ("PP", choice.pp), ("EP", choice.ep), ("CP", choice.cp), ("DP", choice.dp))
        split = " × ".join(f"{name}{degree}" for name, degree in degrees if degree > 1)
        if split:
            words.append(split)
    if any(run.own for run in runs):
        # Its figures are moved by the plan's own measurements.
        words.append(_("measured"))
    return " · ".join(words)


class _CardModel(QAbstractListModel):
    """The cards; tells the view only which of them differ."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.cards: tuple[Card, ...] = ()

    def show(self, cards: tuple[Card, ...]) -> None:
        if [card.letter for card in cards] != [card.letter for card in self.cards]:
            self.beginResetModel()
            self.cards = cards
            self.endResetModel()
            return
        before, self.cards = self.cards, cards
        for row, (old, new) in enumerate(zip(before, cards, strict=True)):
            if old != new:
                self.dataChanged.emit(self.index(row), self.index(row))

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(self.cards)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid():
            return None
        card = self.cards[index.row()]
        if role == Qt.ItemDataRole.DisplayRole:
            return f"{card.letter} {card.title}"
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return card.spoken
        if role == Qt.ItemDataRole.ToolTipRole:
            return "\n".join(
                [card.title, *card.figures, *(f"{mark.word}: {mark.sentence}" for mark in card.marks), card.summary[0]]
            )
        return None

    def flags(self, index: Index) -> Qt.ItemFlag:
        return super().flags(index) | Qt.ItemFlag.ItemIsDragEnabled

    def mimeTypes(self) -> list[str]:
        return [SCENARIO_MIME]

    def mimeData(self, indexes: Sequence[Index]) -> QMimeData:
        data = QMimeData()
        if indexes:
            data.setData(SCENARIO_MIME, self.cards[indexes[0].row()].letter.encode())
        return data


class _CardDelegate(QStyledItemDelegate):
    """Paints one card."""

    def __init__(self, view: "CardView") -> None:
        super().__init__(view)
        self._view = view

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        last = index.row() == len(self._view.card_model.cards) - 1
        return QSize(self._view.card_width + (0 if last else GAP), CARD_HEIGHT)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        view, card = self._view, self._view.card_model.cards[index.row()]
        theme = view.theme
        box = QRectF(option.rect)  # type: ignore[attr-defined]
        box.setWidth(view.card_width)
        state = option.state  # type: ignore[attr-defined]
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        selected = card.letter == view.selected
        width = 1.6 if selected else theme.border
        pen = QPen(theme.accent if selected else theme.line, width)
        if view.drop_target == card.letter:
            pen = QPen(theme.accent, 1.6, Qt.PenStyle.DashLine)
        painter.setPen(pen)
        hovered = state & QStyle.StateFlag.State_MouseOver and not selected
        painter.setBrush(theme.hover if hovered and theme.name == "contrast" else theme.panel)
        painter.drawRoundedRect(box.adjusted(1, 1, -1, -1), 8, 8)
        if state & QStyle.StateFlag.State_HasFocus and view.hasFocus():
            painter.setPen(QPen(theme.accent, 2))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(box.adjusted(3, 3, -3, -3), 6, 6)
        inner = box.adjusted(_PADDING, _PADDING - 2, -_PADDING, -_PADDING + 4)
        self._paint_title(painter, inner, card, theme)
        self._paint_figures(painter, inner, card, theme)
        self._paint_marks(painter, inner, card, theme)
        painter.setPen(QPen(theme.line, 1))
        y = inner.bottom() - 24
        painter.drawLine(QPointF(inner.left(), y), QPointF(inner.right(), y))
        size, words = 12, ""
        for size, words in ((size, words) for words in card.summary for size in (12, 11)):
            if theme.metrics(size, 600).horizontalAdvance(words) <= inner.width():
                break
        painter.setFont(theme.font(size, 600))
        painter.setPen(theme.status_colour(card.summary_status) if card.summary_status != "unknown" else theme.text2)
        text = theme.metrics(size, 600).elidedText(words, Qt.TextElideMode.ElideRight, int(inner.width()))
        painter.drawText(QRectF(inner.left(), y + 4, inner.width(), 20), Qt.AlignmentFlag.AlignVCenter, text)
        painter.restore()

    def _paint_title(self, painter: QPainter, inner: QRectF, card: Card, theme: Theme) -> None:
        top = inner.top()
        icons.paint_letter(painter, card.letter, QRectF(inner.left(), top, _BADGE, _BADGE), theme)
        left, right, lower = inner.left() + _BADGE + 7, inner.right(), inner.right()
        if card.pill:
            width = theme.metrics(10, 500).horizontalAdvance(card.pill) + 12
            # Beside the title where that leaves it room, else on the line below.
            beside = left + theme.metrics(13, 600).horizontalAdvance(card.title) + 4 <= right - width
            pill = QRectF(right - width, top + (1 if beside else 21), width, 16)
            best = card.pill == _("best fit")
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(theme.ok_ground if best else theme.hover)
            painter.drawRoundedRect(pill, 8, 8)
            painter.setPen(theme.ok if best else theme.text2)
            painter.setFont(theme.font(10, 500))
            painter.drawText(pill, Qt.AlignmentFlag.AlignCenter, card.pill)
            right = pill.left() - 4 if beside else right
            lower = lower if beside else pill.left() - 4
        painter.setFont(theme.font(13, 600))
        painter.setPen(theme.text)
        title = theme.metrics(13, 600).elidedText(card.title, Qt.TextElideMode.ElideRight, int(right - left))
        painter.drawText(QRectF(left, top, right - left, _BADGE), Qt.AlignmentFlag.AlignVCenter, title)
        painter.setFont(theme.font(11, 400))
        painter.setPen(theme.text2)
        room = int(lower - inner.left())
        subtitle = theme.metrics(11, 400).elidedText(card.subtitle, Qt.TextElideMode.ElideRight, room)
        painter.drawText(QRectF(inner.left(), top + 21, room, 16), Qt.AlignmentFlag.AlignVCenter, subtitle)

    def _paint_figures(self, painter: QPainter, inner: QRectF, card: Card, theme: Theme) -> None:
        ratio, amount = figure_boxes(inner, card, theme)
        painter.setFont(theme.font(20, 600))
        painter.setPen(theme.text if card.ratio != format.NOT_KNOWN else theme.text3)
        painter.drawText(ratio, Qt.AlignmentFlag.AlignVCenter, card.ratio)
        left = ratio.left() + theme.metrics(20, 600).horizontalAdvance(card.ratio) + 6
        painter.setFont(theme.font(11, 400))
        painter.setPen(theme.text3)
        speed = pgettext("beside a ratio", "speed")
        word = QRectF(left, ratio.top() + 2, 60, ratio.height())
        # A narrow card with a long amount has no room for the word; the tip says it too.
        if left + theme.metrics(11, 400).horizontalAdvance(speed) <= ratio.right():
            painter.drawText(word, Qt.AlignmentFlag.AlignVCenter, speed)
        painter.setFont(theme.font(14, 600))
        painter.setPen(theme.text if card.amount != format.NOT_KNOWN else theme.text3)
        painter.drawText(amount, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight, card.amount)

    def _paint_marks(self, painter: QPainter, inner: QRectF, card: Card, theme: Theme) -> None:
        # The words of the first column are short.
        first = inner.width() * 0.42
        for at, mark in enumerate(card.marks):
            left = inner.left() + first * (at % 2)
            top = inner.top() + 69 + 18 * (at // 2)
            colour = theme.status_colour(mark.status)
            icons.paint(painter, mark.status, QRectF(left, top + 2, 12, 12), colour, theme.panel)
            strong = mark.status in ("warn", "fail")
            painter.setFont(theme.font(11, 500 if strong else 400))
            painter.setPen(colour if strong else theme.text2)
            room = int(inner.width() - first if at % 2 else first) - 19
            word = theme.metrics(11, 500).elidedText(mark.word, Qt.TextElideMode.ElideRight, room)
            painter.drawText(QRectF(left + 18, top, room, 16), Qt.AlignmentFlag.AlignVCenter, word)


def figure_boxes(inner: QRectF, card: Card, theme: Theme) -> tuple[QRectF, QRectF]:
    """Where the ratio and the amount stand inside a card."""
    top = inner.top() + 40
    amount = theme.metrics(14, 600).horizontalAdvance(card.amount) + 4
    right = QRectF(inner.right() - amount, top, amount, 26)
    return QRectF(inner.left(), top, max(0.0, inner.width() - amount - 8), 26), right


class CardView(QListView):
    """The row of cards."""

    explain_requested = Signal(str, str)
    derivation_requested = Signal(str, str)

    def __init__(self, document: PlanDocument, theme: ThemeSource) -> None:
        super().__init__()
        self._document = document
        self.theme = theme.theme
        self.selected = document.selected
        self.card_width = LEAST_WIDTH
        self.drop_target = ""
        self._drop_gap: int | None = None
        self.card_model = _CardModel(self)
        self.setModel(self.card_model)
        self.setItemDelegate(_CardDelegate(self))
        self.setFlow(QListView.Flow.LeftToRight)
        self.setWrapping(False)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setSelectionMode(QAbstractItemView.SelectionMode.NoSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setDragEnabled(True)
        self.setAcceptDrops(True)
        self.setDropIndicatorShown(False)
        self.setMouseTracking(True)
        self.setTabKeyNavigation(False)
        self.setFixedHeight(CARD_HEIGHT)
        # Cards stand on the window's ground, not on a panel.
        self.viewport().setAutoFillBackground(False)
        self.setStyleSheet("QListView { background: transparent; border: none; }")
        self.setAccessibleName(_("Scenarios"))

    def show_cards(self, cards: tuple[Card, ...]) -> None:
        """Show other cards."""
        count = len(self.card_model.cards)
        self.card_model.show(cards)
        if len(cards) != count:
            self._share_width()
            self.viewport().update()
        self.show_selected(self.selected)

    def dataChanged(self, first: Index, last: Index, roles: Sequence[int] = ()) -> None:
        # The base class lays everything out again; a card keeps its size whatever it says.
        for row in range(first.row(), last.row() + 1):
            self.update(self.card_model.index(row))

    def show_selected(self, letter: str) -> None:
        """Mark another card as selected."""
        changed = {self.selected, letter}
        current = self.currentIndex()
        if letter == self.selected and current.isValid() and self.card_model.cards[current.row()].letter == letter:
            return
        self.selected = letter
        for row, card in enumerate(self.card_model.cards):
            if card.letter in changed:
                index = self.card_model.index(row)
                self.update(index)
                if card.letter == letter:
                    self.setCurrentIndex(index)
                    self.scrollTo(index)

    def take_theme(self, theme: Theme) -> None:
        """Paint with another theme."""
        self.theme = theme
        self.viewport().update()

    def _share_width(self) -> None:
        count = max(1, len(self.card_model.cards))
        # The gap after the last card lies outside.
        width = max(LEAST_WIDTH, min(MOST_WIDTH, (self.viewport().width() + GAP) // count - GAP))
        overflows = (width + GAP) * count - GAP > self.viewport().width()
        self.setFixedHeight(CARD_HEIGHT + (12 if overflows else 0))
        if width != self.card_width:
            self.card_width = width
            self.scheduleDelayedItemsLayout()

    def resizeEvent(self, event: Any) -> None:
        super().resizeEvent(event)
        self._share_width()

    def paintEvent(self, event: Any) -> None:
        super().paintEvent(event)
        painter = QPainter(self.viewport())
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if not self.card_model.cards:
            pen = QPen(self.theme.accent if self.drop_target else self.theme.line2, 1.2, Qt.PenStyle.DashLine)
            painter.setPen(pen)
            box = QRectF(self.viewport().rect()).adjusted(1, 1, -1, -1)
            painter.drawRoundedRect(box, 8, 8)
            painter.setPen(self.theme.text2)
            painter.setFont(self.theme.font(12, 400))
            painter.drawText(box, Qt.AlignmentFlag.AlignCenter, facts.sentence("nothing_yet", {}))
        elif self._drop_gap is not None:
            x = self._gap_x(self._drop_gap)
            painter.setPen(QPen(self.theme.accent, 2, Qt.PenStyle.DashLine))
            painter.drawLine(QPointF(x, 4), QPointF(x, CARD_HEIGHT - 4))

    # --- choosing ------------------------------------------------------------------

    def currentChanged(self, current: Index, previous: Index) -> None:
        super().currentChanged(current, previous)
        if current.isValid() and self.hasFocus():
            self._document.select(self.card_model.cards[current.row()].letter)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        super().mouseReleaseEvent(event)
        at = event.position().toPoint()
        index = self.indexAt(at)
        if event.button() != Qt.MouseButton.LeftButton or not index.isValid():
            return
        card = self.card_model.cards[index.row()]
        self._document.select(card.letter)
        subject = self._figure_at(index, card, at)
        if subject:
            self.explain_requested.emit(card.letter, subject)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        super().mouseDoubleClickEvent(event)
        at = event.position().toPoint()
        index = self.indexAt(at)
        if event.button() == Qt.MouseButton.LeftButton and index.isValid():
            card = self.card_model.cards[index.row()]
            subject = self._figure_at(index, card, at)
            if subject:
                self.derivation_requested.emit(card.letter, subject)

    def _figure_at(self, index: QModelIndex, card: Card, at: QPoint) -> str:
        box = QRectF(self.visualRect(index))
        box.setWidth(self.card_width)
        box.adjust(_PADDING, _PADDING - 2, -_PADDING, -_PADDING + 4)
        ratio, amount = figure_boxes(box, card, self.theme)
        if amount.contains(QPointF(at)):
            return "purchase"
        return "speed_ratio" if ratio.contains(QPointF(at)) else ""

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        super().mouseMoveEvent(event)
        index = self.indexAt(event.position().toPoint())
        hand = index.isValid()
        self.viewport().setCursor(Qt.CursorShape.PointingHandCursor if hand else Qt.CursorShape.ArrowCursor)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        index = self.currentIndex()
        if event.key() == Qt.Key.Key_Delete and index.isValid():
            self._document.remove_scenario(self.card_model.cards[index.row()].letter)
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and index.isValid():
            self.explain_current()
            self.derivation_requested.emit(self.card_model.cards[index.row()].letter, "speed_ratio")
        else:
            super().keyPressEvent(event)

    def explain_current(self) -> None:
        """Explain the ratio of the current card."""
        index = self.currentIndex()
        if index.isValid():
            self.explain_requested.emit(self.card_model.cards[index.row()].letter, "speed_ratio")

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        index = self.indexAt(event.pos())
        if index.isValid():
            self.menu_for(self.card_model.cards[index.row()].letter).exec(event.globalPos())

    def menu_for(self, letter: str) -> QMenu:
        """What can be done with a scenario."""
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        document = self._document
        menu.addAction(_("Make {letter} the baseline").format(letter=letter), lambda: document.set_baseline(letter))
        menu.addAction(_("Duplicate"), lambda: document.add_scenario(copy_of=letter))
        menu.addAction(_("Remove"), lambda: document.remove_scenario(letter))
        return menu

    # --- dropping ------------------------------------------------------------------

    def gap_at(self, x: int) -> int | None:
        """The gap between cards at a place of the viewport: 0 before the first card. None on a card."""
        step = self.card_width + GAP
        place = x + self.horizontalScrollBar().value() + GAP / 2
        nearest = round(place / step)
        count = len(self.card_model.cards)
        if nearest > count or place > count * step:
            return count
        return nearest if abs(place - nearest * step) <= _BETWEEN else None

    def _gap_x(self, gap: int) -> float:
        return max(1.0, gap * (self.card_width + GAP) - GAP / 2 - self.horizontalScrollBar().value())

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if event.mimeData().hasFormat(ENTRY_MIME) or event.mimeData().hasFormat(SCENARIO_MIME):
            event.acceptProposedAction()
        else:
            event.ignore()

    def dragMoveEvent(self, event: QDragMoveEvent) -> None:
        at = event.position().toPoint()
        data = event.mimeData()
        gap = self.gap_at(at.x())
        index = self.indexAt(at)
        onto = index.isValid() and gap is None and data.hasFormat(ENTRY_MIME)
        self.drop_target = self.card_model.cards[index.row()].letter if onto else ""
        self._drop_gap = gap
        self.viewport().update()
        if onto or gap is not None:
            event.acceptProposedAction()
        else:
            event.ignore()

    def dragLeaveEvent(self, event: QDragLeaveEvent) -> None:
        self._end_drag()

    def dropEvent(self, event: QDropEvent) -> None:
        target, gap, data = self.drop_target, self._drop_gap, event.mimeData()
        self._end_drag()
        if data.hasFormat(SCENARIO_MIME) and gap is not None:
            self.move_card(bytes(data.data(SCENARIO_MIME).data()).decode(), gap)
        elif data.hasFormat(ENTRY_MIME):
            kind, name = entry_of(data)
            self.drop_entry(kind, name, target)
        event.acceptProposedAction()

    def _end_drag(self) -> None:
        self.drop_target, self._drop_gap = "", None
        self.viewport().update()

    def move_card(self, letter: str, gap: int) -> None:
        """Put a scenario into a gap between cards."""
        letters = [card.letter for card in self.card_model.cards]
        if letter in letters:
            now = letters.index(letter)
            self._document.move_scenario(letter, gap - 1 if gap > now else gap)

    def drop_entry(self, kind: str, name: str, letter: str) -> None:
        """Add a card or a server to a scenario, or make a scenario of it where `letter` is empty."""
        gpu, server = (name if kind == "gpu" else None), (name if kind == "server" else None)
        if gpu is None and server is None:
            return
        if letter:
            refused = self._document.add_group(letter, gpu, server)
        else:
            refused = self._document.add_scenario(gpu, server)
        if refused:
            self._document.notice.emit(refused)


def entry_of(data: QMimeData) -> tuple[str, str]:
    """Kind and name of a dragged catalog entry, empty for anything else."""
    try:
        entry = json.loads(bytes(data.data(ENTRY_MIME).data()).decode("utf-8"))
        return str(entry["kind"]), str(entry["name"])
    except (ValueError, KeyError, TypeError):
        return "", ""


class _HeadlineView(QWidget):
    """The sentence on top, its letters painted as badges."""

    def __init__(self, theme: ThemeSource) -> None:
        super().__init__()
        self.theme = theme.theme
        self._text = ""
        self._letters: dict[str, str] = {}
        self.setFixedHeight(HEADLINE)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)

    def show_sentence(self, text: str, letters: dict[str, str], spoken: str) -> None:
        if (text, letters) != (self._text, self._letters):
            self._text, self._letters = text, letters
            self.setAccessibleName(spoken)
            self.setToolTip(spoken)
            self.update()

    def take_theme(self, theme: Theme) -> None:
        self.theme = theme
        self.update()

    def paintEvent(self, _event: Any) -> None:
        painter = QPainter(self)
        theme = self.theme
        metrics = theme.metrics(14, 600)
        x, middle = 2.0, self.height() / 2
        rest = self._text
        while rest:
            at = min((rest.index(mark) for mark in self._letters if mark in rest), default=len(rest))
            words = rest[:at]
            if words:
                room = int(self.width() - x)
                shown = metrics.elidedText(words, Qt.TextElideMode.ElideRight, room)
                painter.setFont(theme.font(14, 600))
                painter.setPen(theme.text)
                place = QRectF(x, 0, room, self.height())
                painter.drawText(place, Qt.AlignmentFlag.AlignVCenter, shown)
                x += metrics.horizontalAdvance(shown)
                if shown != words:
                    break
            if at < len(rest):
                icons.paint_letter(painter, self._letters[rest[at]], QRectF(x, middle - 9, 18, 18), theme)
                # A space follows in English; Chinese has none.
                x += 18 + (3 if rest[at + 1 : at + 2] == " " else 6)
            rest = rest[at + 1 :]
        if self.hasFocus():
            painter.setPen(QPen(theme.accent, 2))
            painter.drawRect(self.rect().adjusted(1, 1, -1, -1))


class CardsPanel(QWidget):
    """Headline and cards."""

    explain_requested = Signal(str, str)
    derivation_requested = Signal(str, str)

    def __init__(self, document: PlanDocument, evaluation: Evaluation, theme: ThemeSource) -> None:
        super().__init__()
        self._document, self._evaluation = document, evaluation
        self._shown: tuple[Plan, Results] | None = None
        self.headline = _HeadlineView(theme)
        self.add_button = QPushButton()
        self.add_button.setProperty("link", "true")
        self.add_button.clicked.connect(self._add)
        self.view = CardView(document, theme)
        self.view.explain_requested.connect(self.explain_requested)
        self.view.derivation_requested.connect(self.derivation_requested)
        top = QHBoxLayout()
        top.setSpacing(8)
        top.addWidget(self.headline, 1)
        top.addWidget(self.add_button)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(8)
        layout.addLayout(top)
        layout.addWidget(self.view)
        theme.changed.connect(self._theme_changed)
        document.selection_changed.connect(self.view.show_selected)
        evaluation.results_changed.connect(self._results_changed)
        self.retranslate()
        if evaluation.results is not None:
            self._results_changed(evaluation.results)

    def show_results(self, plan: Plan, results: Results) -> None:
        """Show headline and cards of other results."""
        self._shown = (plan, results)
        text, letters = headline_parts(results)
        self.headline.show_sentence(text, letters, headline_sentence(results))
        self.view.selected = self._document.selected
        self.view.show_cards(cards(plan, results))

    def retranslate(self) -> None:
        """Take the words of the language in force."""
        self.add_button.setText(_("+ Scenario"))
        self.add_button.setToolTip(_("Add an empty scenario"))
        self.view.setAccessibleName(_("Scenarios"))
        if self._shown is not None:
            self.show_results(*self._shown)
        self.view.viewport().update()

    def _add(self) -> None:
        refused = self._document.add_scenario()
        if refused:
            self._document.notice.emit(refused)

    def _results_changed(self, results: Results) -> None:
        self.show_results(self._evaluation.plan or self._document.plan, results)

    def _theme_changed(self, theme: Theme) -> None:
        self.headline.take_theme(theme)
        self.view.take_theme(theme)


def card_rect(view: CardView, letter: str) -> QRect:
    """Where a card stands in the view, for tests."""
    row = next(at for at, card in enumerate(view.card_model.cards) if card.letter == letter)
    return view.visualRect(view.card_model.index(row))
