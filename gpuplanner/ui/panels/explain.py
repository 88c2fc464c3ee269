"""One figure and what it rests on: its band, its verdict, the figures it is made of, and the sources.

The short form, in a dock; the whole derivation is a page of its own.
"""

from typing import Any

from PySide6.QtCore import QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QGuiApplication, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QFrame, QLabel, QPushButton, QScrollArea, QSizePolicy, QVBoxLayout, QWidget

from gpuplanner.i18n import _, derivations
from gpuplanner.model.plan import Plan
from gpuplanner.model.results import Results
from gpuplanner.ui import icons
from gpuplanner.ui.band_track import BandTrack
from gpuplanner.ui.document import PlanDocument
from gpuplanner.ui.evaluation import Evaluation
from gpuplanner.ui.explained import Explained, explained
from gpuplanner.ui.theme import Theme, ThemeSource

ROW = 20
_PADDING = 12
_INDENT = 14


class _Lines(QWidget):
    """The derivation, the basis of each figure, and the sources."""

    def __init__(self) -> None:
        super().__init__()
        self.theme: Theme | None = None
        self._shown: Explained | None = None
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)

    def show_figure(self, shown: Explained, theme: Theme) -> None:
        self._shown, self.theme = shown, theme
        self.setMinimumHeight(self._height())
        self.update()

    def _height(self) -> int:
        if self._shown is None:
            return 0
        sources = len(self._shown.sources)
        return ROW * len(self._shown.lines) + (ROW + 16 * sources if sources else 0) + 8

    def paintEvent(self, event: QPaintEvent) -> None:
        shown, theme = self._shown, self.theme
        if shown is None or theme is None:
            return
        painter = QPainter(self)
        seen = event.rect()
        right = self.width() - _PADDING
        # Unit and band have columns of their own, so that values stand under each other.
        small = theme.metrics(10, 400)
        unit_width = max((small.horizontalAdvance(line.unit) for line in shown.lines), default=0)
        band_width = max((small.horizontalAdvance(line.band) for line in shown.lines), default=0)
        value_right = right - unit_width - (band_width + 8 if band_width else 0) - 6
        y = 2.0
        flags = Qt.AlignmentFlag.AlignVCenter
        for line in shown.lines:
            if y + ROW < seen.top() or y > seen.bottom():
                # Scrolled out of sight.
                y += ROW
                continue
            left = _PADDING + _INDENT * line.depth
            if line.depth:
                painter.setPen(QPen(theme.line2, 1))
                painter.drawLine(QPointF(left - 9, y), QPointF(left - 9, y + ROW / 2))
                painter.drawLine(QPointF(left - 9, y + ROW / 2), QPointF(left - 3, y + ROW / 2))
            value_width = theme.metrics(12, 600).horizontalAdvance(line.value)
            painter.setFont(theme.font(12, 400))
            painter.setPen(theme.text)
            room = int(value_right - value_width - 8 - left)
            name = theme.metrics(12, 400).elidedText(line.name, Qt.TextElideMode.ElideRight, room)
            painter.drawText(QRectF(left, y, room, ROW), flags, name)
            painter.setFont(theme.font(12, 600))
            box = QRectF(value_right - value_width - 2, y, value_width + 2, ROW)
            painter.drawText(box, flags | Qt.AlignmentFlag.AlignRight, line.value)
            painter.setFont(theme.font(10, 400))
            painter.setPen(theme.text3)
            painter.drawText(QRectF(value_right + 6, y + 1, unit_width + 2, ROW), flags, line.unit)
            painter.drawText(
                QRectF(right - band_width, y + 1, band_width, ROW), flags | Qt.AlignmentFlag.AlignRight, line.band
            )
            y += ROW
        if shown.sources and y <= seen.bottom():
            y += 4
            painter.setFont(theme.font(11, 600))
            painter.setPen(theme.text2)
            painter.drawText(QRectF(_PADDING, y, self.width(), 16), flags, _("Sources"))
            painter.setFont(theme.font(11, 400))
            painter.setPen(theme.text2)
            metrics = theme.metrics(11, 400)
            for at, source in enumerate(shown.sources, start=1):
                y += 16
                text = metrics.elidedText(f"{at}  {source}", Qt.TextElideMode.ElideRight, int(right - _PADDING))
                painter.drawText(QRectF(_PADDING, y, right - _PADDING, 16), flags, text)


class _Name(QWidget):
    """The letter and the name of the figure."""

    def __init__(self) -> None:
        super().__init__()
        self.theme: Theme | None = None
        self._shown: Explained | None = None
        self.setFixedHeight(22)

    def show_figure(self, shown: Explained, theme: Theme) -> None:
        self._shown, self.theme = shown, theme
        self.update()

    def paintEvent(self, _event: Any) -> None:
        if self._shown is None or self.theme is None:
            return
        painter = QPainter(self)
        icons.paint_letter(painter, self._shown.letter, QRectF(0, 3, 16, 16), self.theme)
        painter.setFont(self.theme.font(12, 400))
        painter.setPen(self.theme.text2)
        painter.drawText(QRectF(22, 0, self.width(), 22), Qt.AlignmentFlag.AlignVCenter, self._shown.title)


class ExplainPanel(QWidget):
    """Explains the figure that was clicked last; until then, the output of the selected scenario."""

    # Letter and key of the figure whose whole derivation is asked for.
    derivation_requested = Signal(str, str)

    def __init__(self, document: PlanDocument, evaluation: Evaluation, theme: ThemeSource) -> None:
        super().__init__()
        self._document, self._evaluation, self._source = document, evaluation, theme
        self._letter, self._key = "", ""
        self._plan_and_results: tuple[Plan, Results] | None = None
        self.shown: Explained | None = None

        self.setProperty("ground", "panel")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.verdict, self.basis = QLabel(), QLabel()
        for label in (self.verdict, self.basis):
            label.setTextFormat(Qt.TextFormat.PlainText)
            label.setWordWrap(True)
        self.basis.setProperty("tone", "third")
        self.copy_button = QPushButton()
        self.copy_button.setProperty("link", "true")
        self.copy_button.clicked.connect(self.copy)
        self.derivation_button = QPushButton()
        self.derivation_button.setProperty("link", "true")
        self.derivation_button.clicked.connect(self._ask_derivation)
        rule = QFrame()
        rule.setProperty("rule", "true")
        self._name, self._track, self._lines = _Name(), BandTrack(), _Lines()
        head = QVBoxLayout()
        head.setContentsMargins(_PADDING, 4, _PADDING, 0)
        head.setSpacing(0)
        head.addWidget(self._name)
        head.addWidget(self._track)
        head.addWidget(self.verdict)
        head.addWidget(self.basis)
        self._body = body = QWidget()
        inside = QVBoxLayout(body)
        inside.setContentsMargins(0, 0, 0, 0)
        inside.setSpacing(2)
        inside.addLayout(head)
        inside.addWidget(self._lines)
        inside.addStretch(1)
        self._scroll = QScrollArea()
        self._scroll.setWidget(body)
        self._scroll.setWidgetResizable(True)
        self._scroll.setFrameShape(QFrame.Shape.NoFrame)
        self._scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(2)
        layout.addWidget(rule)
        layout.addWidget(self._scroll, 1)
        theme.changed.connect(self._theme_changed)
        document.selection_changed.connect(self._selection_changed)
        document.workload_changed.connect(self._refresh)
        evaluation.results_changed.connect(self._results_changed)
        self.retranslate()
        if evaluation.results is not None:
            self._results_changed(evaluation.results)

    def explain(self, letter: str, key: str) -> None:
        """Explain another figure: a metric of the comparison of one scenario."""
        self._letter, self._key = letter, key
        self._refresh()
        self._scroll.verticalScrollBar().setValue(0)

    def show_results(self, plan: Plan, results: Results) -> None:
        """Explain the same figure with other results."""
        self._plan_and_results = (plan, results)
        self._refresh()

    def header_buttons(self) -> tuple[QWidget, ...]:
        """What stands beside the title of the dock."""
        return self.derivation_button, self.copy_button

    def retranslate(self) -> None:
        """Take the words of the language in force."""
        self.derivation_button.setText(_("Show derivation"))
        self.derivation_button.setToolTip(_("Show the whole derivation as a tree (Ctrl+E)"))
        self.copy_button.setText(_("Copy"))
        self.copy_button.setToolTip(_("Copy how the figure is worked out"))
        self.shown = None
        self._refresh()

    def text(self) -> str:
        """The explanation as text, one figure a line, tab-separated."""
        shown = self.shown
        if shown is None:
            return ""
        lines = [
            f"{shown.letter} · {shown.title}\t{shown.value}\t{shown.unit}\t{shown.low}\t{shown.high}\t{shown.basis}"
        ]
        lines += [
            "\t".join(("  " * each.depth + each.name, each.value, each.unit, each.band, each.basis))
            for each in shown.lines
        ]
        return "\n".join([*lines, shown.verdict, *shown.sources])

    @property
    def subject(self) -> tuple[str, str]:
        """Letter and key of the figure that is shown."""
        if self.shown is None:
            return "", ""
        return self.shown.letter, self.shown.key

    def _ask_derivation(self) -> None:
        letter, key = self.subject
        if letter:
            self.derivation_requested.emit(letter, key)

    def copy(self) -> None:
        """Put the explanation on the clipboard."""
        QGuiApplication.clipboard().setText(self.text())

    def _refresh(self, *_args: object) -> None:
        if self._plan_and_results is None:
            return
        plan, results = self._plan_and_results
        workload, catalog = self._document.workload, self._document.catalog
        letter = self._letter if results.scenario(self._letter) is not None else self._document.selected
        # What was asked for may be gone (another workload, another scenario): then its output.
        keys = [key for key in (self._key, "output", "tokens") if key]
        rows = self._evaluation.rows(plan, results, workload)
        found = (explained(plan, results, workload, letter, key, catalog, rows) for key in keys)
        shown = next((each for each in found if each is not None), None)
        if shown != self.shown:
            self.shown = shown
            self._show(shown)

    def _show(self, shown: Explained | None) -> None:
        self._body.setVisible(shown is not None)
        for button in (self.copy_button, self.derivation_button):
            button.setEnabled(shown is not None)
        if shown is None:
            self.setAccessibleName(_("Explain"))
            return
        theme = self._source.theme
        self.verdict.setText(shown.verdict)
        self.verdict.setVisible(bool(shown.verdict))
        tone = {"ok": "ok", "warn": "warn", "fail": "fail"}.get(shown.status, "third")
        if self.verdict.property("tone") != tone:
            self.verdict.setProperty("tone", tone)
            self.verdict.style().unpolish(self.verdict)
            self.verdict.style().polish(self.verdict)
        basis = _("How it came about: {basis}").format(basis=shown.basis)
        if shown.confidence:
            sure = _("Confidence: {word}").format(word=derivations.confidence(shown.confidence))
            basis = f"{basis} · {sure}"
        self.basis.setText(basis)
        for view in (self._name, self._track, self._lines):
            view.show_figure(shown, theme)
        spoken = [f"{shown.letter}, {shown.title}: {shown.value} {shown.unit}."]
        if shown.ends is not None:
            spoken.append(_("80 % band {low} to {high}.").format(low=shown.low, high=shown.high))
        self.setAccessibleName(" ".join([*spoken, shown.verdict]).strip())

    def _results_changed(self, results: Results) -> None:
        self.show_results(self._evaluation.plan or self._document.plan, results)

    def _selection_changed(self, letter: str) -> None:
        self._letter = letter
        self._refresh()

    def _theme_changed(self, _theme: Theme) -> None:
        self._show(self.shown)
