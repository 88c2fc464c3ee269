"""Claim check: one line to type, and whether it can be.

The answer follows the typing. Whatever is typed is shown as plain text and never as markup.
"""

from collections.abc import Sequence

from PySide6.QtCore import QPointF, QRect, QRectF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QBrush, QGuiApplication, QPainter, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import (
    QDialog,
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPushButton,
    QScrollArea,
    QSizePolicy,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from gpuplanner.i18n import _
from gpuplanner.i18n import claims as words
from gpuplanner.model.claims.checking import Judgement, NoLetter, put_into
from gpuplanner.report.claims import Answer, answer, as_text, claimed, closest, written
from gpuplanner.ui import icons
from gpuplanner.ui.document import PlanDocument
from gpuplanner.ui.fields import plain_tip
from gpuplanner.ui.theme import Theme, ThemeSource

# A rest of the keys this long and the line is read.
REST_MS = 150
# Measured rows are looked up once the answer stands.
ROWS_MS = 300
WIDTH, HEIGHT = 760, 660
# Longer text is refused by the reader; the line takes it so that it can say so.
LONGEST_LINE = 10_000
_CHIPS = 8

# The shape and colour of a verdict.
STATUS = {
    "holds": "ok",
    "pessimistic": "ok",
    "only_if": "warn",
    "optimistic": "warn",
    "impossible": "fail",
    "cannot_tell": "unknown",
}


class Mark(QWidget):
    """The shape of a verdict in its colour."""

    def __init__(self, theme: ThemeSource, size: int) -> None:
        super().__init__()
        self._theme, self._status = theme, ""
        self.setFixedSize(size, size)
        theme.changed.connect(self.update)

    def show_status(self, status: str) -> None:
        """Show "ok", "warn", "fail", "unknown", or nothing."""
        self._status = status
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        if not self._status:
            return
        theme = self._theme.theme
        painter = QPainter(self)
        rect = QRectF(self.rect()).adjusted(2, 2, -2, -2)
        icons.paint(painter, self._status, rect, theme.status_colour(self._status), theme.panel)
        painter.end()


class ClaimBar(QWidget):
    """The claimed value against our band and the bound, on one line, with a legend that names each."""

    TRACK, TOP, LEGEND = 16, 14, 22

    def __init__(self, theme: ThemeSource) -> None:
        super().__init__()
        self._theme = theme
        self._judgement: Judgement | None = None
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(_("Claim against our band and the bound"))
        theme.changed.connect(self.update)

    def sizeHint(self) -> QSize:
        return QSize(420, self.TOP + self.TRACK + self.LEGEND + 6)

    def show_judgement(self, judgement: Judgement | None) -> None:
        """Draw a judgement; nothing where there is neither a figure nor a bound."""
        shown = judgement is not None and judgement.claimed > 0 and bool(self._marks(judgement))
        self._judgement = judgement if shown else None
        self.setVisible(shown)
        self.setAccessibleDescription("; ".join(self.legend()))
        self.update()

    @staticmethod
    def _marks(judgement: Judgement) -> list[float]:
        figure, ceiling = judgement.figure, judgement.best.ceiling
        return [value for value in (figure.low, figure.high, ceiling) if value is not None and value > 0]

    def legend(self) -> list[str]:
        """What each mark says, in words."""
        judgement = self._judgement
        if judgement is None:
            return []
        figure, best = judgement.figure, judgement.best
        memory = judgement.claim.kind == "memory"
        said = [
            (_("there: {value}") if memory else _("claimed: {value}")).format(value=claimed(judgement)),
        ]
        if figure.low is not None and figure.high is not None:
            low, high = written(figure.low, judgement), written(figure.high, judgement)
            text = low if low == high else _("{low} to {high}").format(low=low, high=high)
            said.append((_("needed: {value}") if memory else _("our band: {value}")).format(value=text))
        if best.ceiling is not None:
            pattern = _("at least: {value}") if best.lower else _("at most: {value}")
            said.append(pattern.format(value=written(best.ceiling, judgement)))
        return said

    def paintEvent(self, event: QPaintEvent) -> None:
        judgement = self._judgement
        if judgement is None:
            return
        theme = self._theme.theme
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        figure, best = judgement.figure, judgement.best
        ceiling = best.ceiling
        near = max([judgement.claimed, figure.high or 0.0])
        end = 1.12 * max(near, min(ceiling, 4.0 * near) if ceiling is not None else 0.0)
        track = QRectF(1, self.TOP, self.width() - 2, self.TRACK)

        def at(value: float) -> float:
            return track.left() + track.width() * min(value / end, 1.0)

        painter.setPen(QPen(theme.line, 1))
        painter.setBrush(theme.sunken)
        painter.drawRoundedRect(track, 4, 4)
        painter.setPen(Qt.PenStyle.NoPen)
        if ceiling is not None:
            # Beyond the bound, or below it where less claims more, nothing can be.
            left, right = (track.left(), at(ceiling)) if best.lower else (at(ceiling), track.right())
            if right - left > 1:
                zone = QRectF(left, track.top(), right - left, track.height())
                painter.setBrush(theme.fail_ground)
                painter.drawRect(zone)
                painter.setBrush(QBrush(theme.fail, Qt.BrushStyle.BDiagPattern))
                painter.drawRect(zone)
                painter.setPen(QPen(theme.fail, 2))
                edge = right if best.lower else left
                painter.drawLine(QPointF(edge, track.top() - 3), QPointF(edge, track.bottom() + 3))
                painter.setPen(Qt.PenStyle.NoPen)
        if figure.low is not None and figure.high is not None and figure.value is not None:
            width = max(at(figure.high) - at(figure.low), 3.0)
            painter.setBrush(theme.accent)
            painter.drawRoundedRect(QRectF(at(figure.low), track.top() + 4, width, track.height() - 8), 3, 3)
            painter.setPen(QPen(theme.panel, 2))
            middle = at(figure.value)
            painter.drawLine(QPointF(middle, track.top() + 4), QPointF(middle, track.bottom() - 4))
            painter.setPen(Qt.PenStyle.NoPen)
        x = at(judgement.claimed)
        painter.setBrush(theme.text)
        painter.drawPolygon(QPolygonF([QPointF(x - 6, 1), QPointF(x + 6, 1), QPointF(x, self.TOP - 2)]))
        painter.setPen(QPen(theme.text, 2))
        painter.drawLine(QPointF(x, self.TOP - 2), QPointF(x, track.bottom() + 2))
        self._paint_legend(painter, theme, int(track.bottom()) + 6)
        painter.end()

    def _paint_legend(self, painter: QPainter, theme: Theme, top: int) -> None:
        painter.setFont(theme.font(11))
        metrics = theme.metrics(11)
        x = 2
        figure = self._judgement.figure if self._judgement is not None else None
        shapes = ["claim", *(["band"] if figure is not None and figure.low is not None else []), "bound"]
        for shape, text in zip(shapes, self.legend(), strict=False):
            painter.setPen(Qt.PenStyle.NoPen)
            box = QRectF(x, top + 4, 10, 8)
            if shape == "claim":
                painter.setBrush(theme.text)
                painter.drawPolygon(QPolygonF([box.topLeft(), box.topRight(), QPointF(box.center().x(), box.bottom())]))
            elif shape == "band":
                painter.setBrush(theme.accent)
                painter.drawRoundedRect(box, 2, 2)
            else:
                painter.setBrush(theme.fail_ground)
                painter.drawRect(box)
                painter.setBrush(QBrush(theme.fail, Qt.BrushStyle.BDiagPattern))
                painter.drawRect(box)
            painter.setPen(theme.text2)
            width = metrics.horizontalAdvance(text)
            painter.drawText(QRect(x + 15, top, width + 4, 16), Qt.AlignmentFlag.AlignVCenter, text)
            x += width + 15 + 18


class _Lines(QWidget):
    """A caption and lines of plain text under it; hidden where there are none."""

    def __init__(self) -> None:
        super().__init__()
        self.caption, self.text = QLabel(), QLabel()
        for label in (self.caption, self.text):
            label.setTextFormat(Qt.TextFormat.PlainText)
            label.setWordWrap(True)
        self.caption.setProperty("tone", "second")
        self.text.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(2)
        column.addWidget(self.caption)
        column.addWidget(self.text)

    def show_lines(self, caption: str, lines: Sequence[str]) -> None:
        """Show the lines, one under the other."""
        self.caption.setFont(Theme.font(11, 600))
        self.caption.setText(caption)
        self.text.setText("\n".join(lines))
        self.text.setAccessibleName(caption)
        self.setVisible(bool(lines))


class ClaimDialog(QDialog):
    """Type a claim; the verdict, our figure, the arithmetic and what would make it true follow."""

    # The configuration has gone into the plan.
    placed = Signal()

    def __init__(self, document: PlanDocument, theme: ThemeSource, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._document, self._theme = document, theme
        self._answer: Answer | None = None
        self.setWindowTitle(_("Claim check"))
        self.line = QLineEdit()
        self.line.setMaxLength(LONGEST_LINE)
        self.line.setPlaceholderText(_("Type or paste what somebody claims"))
        self.line.setAccessibleName(_("Claim"))
        self.line.setFont(Theme.font(14))
        self.line.setMinimumHeight(32)
        self.line.textChanged.connect(self._typed)
        self._rest = QTimer(self, singleShot=True, interval=REST_MS)
        self._rest.timeout.connect(self.check)
        self._rows: tuple[str, ...] = ()
        self._look_up = QTimer(self, singleShot=True, interval=ROWS_MS)
        self._look_up.timeout.connect(self.show_closest)

        self.chips: list[QToolButton] = []
        chip_grid = QGridLayout()
        chip_grid.setSpacing(6)
        for at, example in enumerate(words.EXAMPLES[:_CHIPS]):
            chip = QToolButton()
            chip.setProperty("chip", True)
            chip.setFocusPolicy(Qt.FocusPolicy.TabFocus)
            chip.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
            text = _(example)
            chip.setToolTip(plain_tip(text))
            chip.setAccessibleName(_("Example: {claim}").format(claim=text))
            shown = Theme.metrics(11).elidedText(text, Qt.TextElideMode.ElideRight, WIDTH // 2 - 52)
            chip.setText(shown.replace("&", "&&"))
            chip.clicked.connect(lambda _checked=False, typed=text: self._take(typed))
            self.chips.append(chip)
            chip_grid.addWidget(chip, at // 2, at % 2)

        self.mark = Mark(theme, 24)
        self.word, self.headline, self.understood = QLabel(), QLabel(), QLabel()
        for label in (self.word, self.headline, self.understood):
            label.setTextFormat(Qt.TextFormat.PlainText)
            label.setWordWrap(label is not self.word)
        self.understood.setProperty("tone", "second")
        self.headline.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self.bar = ClaimBar(theme)
        self.bounds, self.conditions, self.assumptions, self.closest = _Lines(), _Lines(), _Lines(), _Lines()
        self.variants = QFrame()
        self._variant_grid = QGridLayout(self.variants)
        self._variant_grid.setContentsMargins(0, 0, 0, 0)
        self._variant_grid.setHorizontalSpacing(14)
        self._variant_grid.setVerticalSpacing(3)
        self._variant_grid.setColumnStretch(3, 1)

        top = QHBoxLayout()
        top.setSpacing(8)
        top.addWidget(self.mark)
        top.addWidget(self.word)
        top.addStretch(1)
        inner = QWidget()
        column = QVBoxLayout(inner)
        column.setContentsMargins(2, 2, 8, 2)
        column.setSpacing(10)
        column.addLayout(top)
        column.addWidget(self.headline)
        column.addWidget(self.understood)
        column.addWidget(self.bar)
        for section in (self.bounds, self.conditions, self.assumptions, self.variants, self.closest):
            column.addWidget(section)
        column.addStretch(1)
        self._scroll = QScrollArea()
        self._scroll.setWidget(inner)
        self._scroll.setWidgetResizable(True)
        self._scroll.setFrameShape(QFrame.Shape.NoFrame)

        self.put = QPushButton(_("Put this into a scenario"))
        self.put.setProperty("primary", True)
        self.put.clicked.connect(self.put_into_plan)
        self.copy = QPushButton(_("Copy answer"))
        self.copy.clicked.connect(self._copy)
        close = QPushButton(_("Close"))
        close.clicked.connect(self.reject)
        self.said = QLabel()
        self.said.setTextFormat(Qt.TextFormat.PlainText)
        self.said.setProperty("tone", "second")
        self.said.setWordWrap(True)
        for button in (self.put, self.copy, close):
            # Return belongs to the line.
            button.setAutoDefault(False)
        buttons = QHBoxLayout()
        buttons.addWidget(self.said, 1)
        buttons.addWidget(self.copy)
        buttons.addWidget(self.put)
        buttons.addWidget(close)
        rule = QFrame()
        rule.setProperty("rule", True)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(16, 14, 16, 14)
        whole.setSpacing(10)
        whole.addWidget(self.line)
        whole.addLayout(chip_grid)
        whole.addWidget(rule)
        whole.addWidget(self._scroll, 1)
        whole.addLayout(buttons)
        self.resize(WIDTH, HEIGHT)
        self.line.setFocus()
        self.check()

    def _take(self, text: str) -> None:
        self.line.setText(text)
        self.line.setFocus()
        self._rest.stop()
        self.check()

    def _typed(self, _text: str) -> None:
        self._rest.start()

    def check(self) -> None:
        """Read the line and show the answer."""
        self._rest.stop()
        answered = answer(self.line.text(), self._document.catalog, self._document.plan)
        self._answer = answered
        judgement = answered.judgement
        status = STATUS[judgement.verdict] if judgement is not None else ""
        self.mark.show_status(status)
        self.mark.setVisible(bool(status))
        self.word.setVisible(bool(answered.word))
        self.word.setFont(Theme.font(18, 600))
        self.word.setText(answered.word)
        self.headline.setFont(Theme.font(14, 400))
        lead = _(words.EXAMPLE_LEAD).format(example=answered.example) if answered.example else ""
        self.headline.setText("\n".join(part for part in (answered.headline, lead) if part))
        self.headline.setAccessibleName(f"{answered.word}: {answered.headline}" if answered.word else answered.headline)
        about = " ".join(part for part in (answered.about, answered.ignored) if part)
        self.understood.setText("\n".join(part for part in (answered.understood, about) if part))
        self.understood.setVisible(bool(self.understood.text()))
        self.bar.show_judgement(judgement)
        self.bounds.show_lines(_("What limits it"), answered.bounds)
        self.conditions.show_lines(_("What would make it true"), answered.conditions)
        self.assumptions.show_lines(_("What was taken"), answered.assumptions)
        self._show_variants(answered)
        self._rows = ()
        self.closest.show_lines("", ())
        self._look_up.stop()
        if judgement is not None:
            self._look_up.start()
        self.put.setEnabled(judgement is not None and bool(judgement.best.scenarios))
        self.copy.setEnabled(judgement is not None)
        self.said.setText("")

    def show_closest(self) -> None:
        """Show the measured rows nearest to what is claimed."""
        self._look_up.stop()
        if self._answer is not None and self._answer.judgement is not None:
            self._rows = closest(self._answer.judgement, self._document.catalog, self._document.plan)
            self.closest.show_lines(_("Closest evidence"), self._rows)

    def _show_variants(self, answered: Answer) -> None:
        while (item := self._variant_grid.takeAt(0)) is not None:
            widget = item.widget()
            if widget is not None:
                widget.hide()
                widget.deleteLater()
        judgement = answered.judgement
        self.variants.setVisible(bool(answered.variants))
        if judgement is None or not answered.variants:
            return
        caption = QLabel(_("For each card it may mean"))
        caption.setTextFormat(Qt.TextFormat.PlainText)
        caption.setFont(Theme.font(11, 600))
        caption.setProperty("tone", "second")
        self._variant_grid.addWidget(caption, 0, 0, 1, 4)
        for row, (variant, (name, word, figure)) in enumerate(
            zip(judgement.variants, answered.variants, strict=True), 1
        ):
            mark = Mark(self._theme, 16)
            mark.show_status(STATUS[variant.verdict])
            self._variant_grid.addWidget(mark, row, 0)
            for column, text in enumerate((name, word, figure), 1):
                label = QLabel(text)
                label.setTextFormat(Qt.TextFormat.PlainText)
                label.setFont(Theme.font(12, 600 if variant is judgement.best else 400))
                self._variant_grid.addWidget(label, row, column)

    def put_into_plan(self) -> None:
        """Add the configuration of the claim to the plan, as one step that undo takes back."""
        if self._answer is None or self._answer.judgement is None:
            return
        best = self._answer.judgement.best
        try:
            after, letter = put_into(self._document.plan, best)
        except NoLetter:
            self.said.setText(_("A plan has at most eight scenarios. Remove one first."))
            return
        refused = self._document.change(
            lambda _plan: after, _("Put a claim into scenario {letter}").format(letter=letter)
        )
        if refused is None:
            self._document.select(letter)
            self.placed.emit()
        self.said.setText(refused or _("Added as scenario {letter}.").format(letter=letter))

    def _copy(self) -> None:
        if self._answer is not None:
            QGuiApplication.clipboard().setText("\n".join((self.line.text(), as_text(self._answer, self._rows))))
