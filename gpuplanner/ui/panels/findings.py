"""What is wrong, and the cheapest way out of it: one row each, one click applies, one undo takes it back.

Each way out is an evaluation of its own, so they are computed when the plan has rested a moment, on a worker, one
scenario at a time, the selected one first. Until then a row has no link; ways out of an earlier plan are dropped.
"""

from collections.abc import Callable, Sequence
from functools import partial
from itertools import zip_longest
from typing import Any, NamedTuple

from PySide6.QtCore import (
    QAbstractListModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QPoint,
    QPointF,
    QRectF,
    QRunnable,
    QSize,
    Qt,
    QThreadPool,
    QTimer,
    Signal,
)
from PySide6.QtGui import QGuiApplication, QKeyEvent, QMouseEvent, QPainter, QPen
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QLabel,
    QListView,
    QMenu,
    QPushButton,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QVBoxLayout,
    QWidget,
)

from gpuplanner.i18n import _, facts, format, ngettext
from gpuplanner.model.plan import Plan
from gpuplanner.model.results import Finding, Results, ScenarioResult
from gpuplanner.ui import icons
from gpuplanner.ui.document import PlanDocument
from gpuplanner.ui.evaluation import Evaluation
from gpuplanner.ui.fields import plain_tip
from gpuplanner.ui.theme import Theme, ThemeSource

Index = QModelIndex | QPersistentModelIndex
# (plan, catalog, results, letter) -> ways out of that scenario's findings, the cheapest of each first.
WaysOut = Callable[[Plan, Any, Results, str], Sequence[Any]]

ROW = 24
# A plan that rests this long is searched for ways out. [ms]
REST_MS = 150
_PADDING = 12
# What a way out depends on beside its scenario.
_ASKED = ("workloads", "site", "economics", "wishes", "currency", "exchange_rates", "country")
_LEVELS = ("stop", "check", "note")
# These say their effect themselves.
_NO_EFFECT = frozenset({"cap_power", "enter_quote", "relax_target"})


class _Answer(QObject):
    """Carries a worker's ways out to the main thread."""

    ready = Signal(int, str, object)


class _Search(QRunnable):
    """Finds the ways out of one scenario."""

    def __init__(self, find: Callable[[], Sequence[Any]], generation: int, letter: str, answer: _Answer) -> None:
        super().__init__()
        self._find, self._generation, self._letter, self._answer = find, generation, letter, answer

    def run(self) -> None:
        ways = tuple(self._find())
        self._answer.ready.emit(self._generation, self._letter, ways)


class Row(NamedTuple):
    """One finding as its row shows it, with its ways out, cheapest first."""

    level: str
    letter: str
    sentence: str
    fixes: tuple[str, ...] = ()
    # What each way out changes: figures before and after.
    effects: tuple[str, ...] = ()


def fix_text(way: Any, currency: str) -> str:
    """A way out with what it leads to: "Use 4× H100: 1,640 tok/s, $163 k"."""
    fix = facts.sentence(way.key, way.numbers, currency)
    if way.key in _NO_EFFECT or way.speed.value is None:
        return fix
    speed = facts.scale("tokens_s", ()).text(way.speed.value)
    if way.purchase.value is None:
        return _("{fix}: {speed}").format(fix=fix, speed=speed)
    return _("{fix}: {speed}, {amount}").format(fix=fix, speed=speed, amount=format.money(way.purchase.value, currency))


def effect_text(way: Any, before: ScenarioResult, currency: str) -> str:
    """What a way out changes: "Speed 516 → 4,370 tok/s · Purchase $77.8 k → $77.8 k"; empty where nothing is known."""
    # The search for ways out is not needed before the first of them is there.
    from gpuplanner.model.ways_out import speed_of

    parts = []
    speed, scale = speed_of(before), facts.scale("tokens_s", ())
    if speed.value is not None and way.speed.value is not None:
        shown = {"before": scale.value(speed.value), "after": scale.text(way.speed.value)}
        parts.append(_("Speed {before} → {after}").format(**shown))
    spent = before.money.purchase.value
    if spent is not None and way.purchase.value is not None:
        shown = {"before": format.money(spent, currency), "after": format.money(way.purchase.value, currency)}
        parts.append(_("Purchase {before} → {after}").format(**shown))
    return " · ".join(parts)


def told_once(results: Results) -> list[Finding]:
    """Stops before checks before notes, otherwise as they come; what two groups have in common is said once."""
    found: dict[tuple[str, str, str], Finding] = {}
    for finding in sorted(results.findings, key=lambda each: _LEVELS.index(each.level)):
        sentence = facts.sentence(finding.key, finding.numbers, results.currency)
        found.setdefault((finding.level, finding.scenario, sentence), finding)
    return list(found.values())


def unchanged(before: tuple[Plan, Results], plan: Plan, results: Results) -> frozenset[str]:
    """The scenarios whose ways out still hold: same place, contents and result, and nothing else asked of them."""
    old_plan, old_results = before
    if any(getattr(old_plan, name) != getattr(plan, name) for name in _ASKED):
        return frozenset()
    pairs = zip(old_plan.scenarios, plan.scenarios, strict=False)
    same = {new.letter for old, new in pairs if old == new}
    return frozenset(letter for letter in same if old_results.scenario(letter) == results.scenario(letter))


def closest_limit(results: Results, letter: str) -> str:
    """The sentence for a plan with nothing to fix: which limit of the room is nearest, and how much of it is left."""
    entry = results.scenario(letter)
    watts = entry.room.it_nameplate_w.value if entry is not None else None
    if entry is None or not entry.room.limits or not watts:
        return _("Nothing to fix.")
    name, limit = min(entry.room.limits, key=lambda item: item[1])
    left = format.percent(1 - watts / limit)
    if name.startswith("cooling"):
        return _("Nothing to fix. Closest limit: cooling, {left} left.").format(left=left)
    return _("Nothing to fix. Closest limit: power, {left} left.").format(left=left)


class _Model(QAbstractListModel):
    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.rows: tuple[Row, ...] = ()

    def show(self, rows: tuple[Row, ...]) -> None:
        if len(rows) != len(self.rows):
            self.beginResetModel()
            self.rows = rows
            self.endResetModel()
            return
        before, self.rows = self.rows, rows
        for at, (old, new) in enumerate(zip(before, rows, strict=True)):
            if old != new:
                self.dataChanged.emit(self.index(at), self.index(at))

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(self.rows)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid():
            return None
        row = self.rows[index.row()]
        if role == Qt.ItemDataRole.DisplayRole:
            return row.sentence
        if role == Qt.ItemDataRole.ToolTipRole:
            lines = [row.sentence]
            for fix, effect in zip_longest(row.fixes, row.effects, fillvalue=""):
                lines += [f"→ {fix}", *([f"    {effect}"] if effect else [])]
            return plain_tip("\n".join(lines))
        if role == Qt.ItemDataRole.AccessibleTextRole:
            spoken = _("{level}, {letter}: {sentence}.").format(
                level=facts.level(row.level), letter=row.letter or "–", sentence=row.sentence
            )
            return spoken + (" " + _("Way out: {fix}.").format(fix=row.fixes[0]) if row.fixes else "")
        return None


class _Delegate(QStyledItemDelegate):
    def __init__(self, view: "FindingsView") -> None:
        super().__init__(view)
        self._view = view

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        return QSize(200, ROW)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        theme, row = self._view.theme, self._view.rows_model.rows[index.row()]
        box, state = QRectF(option.rect), option.state  # type: ignore[attr-defined]
        if state & QStyle.StateFlag.State_MouseOver:
            painter.fillRect(box, theme.hover)
        middle = box.center().y()
        colour = theme.status_colour({"stop": "fail", "check": "warn"}.get(row.level, "unknown"))
        icons.paint(painter, row.level, QRectF(box.left() + _PADDING, middle - 7, 14, 14), colour, theme.panel)
        left = box.left() + _PADDING + 24
        if row.letter:
            icons.paint_letter(painter, row.letter, QRectF(left, middle - 8, 16, 16), theme)
        left += 24
        link, arrow = self.link_boxes(box, row, theme)
        painter.setFont(theme.font(12, 400))
        painter.setPen(theme.text)
        room = int((link.left() if row.fixes else box.right() - _PADDING) - left - 10)
        text = theme.metrics(12, 400).elidedText(row.sentence, Qt.TextElideMode.ElideRight, room)
        painter.drawText(QRectF(left, box.top(), room, box.height()), Qt.AlignmentFlag.AlignVCenter, text)
        if row.fixes:
            painter.setFont(theme.font(12, 500))
            painter.setPen(theme.accent)
            fix = theme.metrics(12, 500).elidedText(row.fixes[0], Qt.TextElideMode.ElideRight, int(link.width()) + 1)
            painter.drawText(link, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight, fix)
        if len(row.fixes) > 1:
            icons.paint(painter, "down", arrow.adjusted(2, 6, -2, -6), theme.accent)
        if state & QStyle.StateFlag.State_HasFocus and self._view.hasFocus():
            painter.setPen(QPen(theme.accent, 2))
            painter.drawRect(box.adjusted(1, 1, -1, -1))

    @staticmethod
    def link_boxes(box: QRectF, row: Row, theme: Theme) -> tuple[QRectF, QRectF]:
        """Where the link and the arrow to further ways out stand."""
        arrow = QRectF(box.right() - _PADDING - 14, box.top(), 16, box.height())
        right = arrow.left() - 2 if len(row.fixes) > 1 else box.right() - _PADDING
        words = theme.metrics(12, 500).horizontalAdvance(row.fixes[0]) + 2 if row.fixes else 0
        width = min(words, box.width() * 0.5)
        return QRectF(right - width, box.top(), width, box.height()), arrow


class FindingsView(QListView):
    """The rows."""

    def __init__(self, panel: "FindingsPanel", theme: ThemeSource) -> None:
        super().__init__()
        self._panel = panel
        self.theme = theme.theme
        self.rows_model = _Model(self)
        self.setModel(self.rows_model)
        self.setItemDelegate(_Delegate(self))
        self.setUniformItemSizes(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setSelectionMode(QAbstractItemView.SelectionMode.NoSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setMouseTracking(True)
        self.setTabKeyNavigation(False)
        self.empty = ""

    def dataChanged(self, first: Index, last: Index, roles: Sequence[int] = ()) -> None:
        # The base class lays everything out again; a row keeps its size whatever it says.
        for row in range(first.row(), last.row() + 1):
            self.update(self.rows_model.index(row))

    def paintEvent(self, event: Any) -> None:
        super().paintEvent(event)
        if not self.rows_model.rows and self.empty:
            painter = QPainter(self.viewport())
            painter.setFont(self.theme.font(12, 400))
            painter.setPen(self.theme.text2)
            box = self.viewport().rect().adjusted(_PADDING, 4, -_PADDING, 0)
            painter.drawText(box, Qt.AlignmentFlag.AlignTop | Qt.TextFlag.TextWordWrap, self.empty)

    def _part_at(self, at: QPoint) -> tuple[int, str]:
        index = self.indexAt(at)
        if not index.isValid():
            return -1, ""
        row = self.rows_model.rows[index.row()]
        link, arrow = _Delegate.link_boxes(QRectF(self.visualRect(index)), row, self.theme)
        if row.fixes and link.contains(QPointF(at)):
            return index.row(), "link"
        if len(row.fixes) > 1 and arrow.contains(QPointF(at)):
            return index.row(), "arrow"
        return index.row(), "row"

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        super().mouseReleaseEvent(event)
        at, part = self._part_at(event.position().toPoint())
        if event.button() != Qt.MouseButton.LeftButton or at < 0:
            return
        if part == "link":
            self._panel.apply_fix(at)
        elif part == "arrow":
            self._panel.menu_for(at).exec(event.globalPosition().toPoint())
        else:
            self._panel.show_scenario(at)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        super().mouseMoveEvent(event)
        part = self._part_at(event.position().toPoint())[1]
        hand = part in ("link", "arrow")
        self.viewport().setCursor(Qt.CursorShape.PointingHandCursor if hand else Qt.CursorShape.ArrowCursor)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.currentIndex().isValid():
            self._panel.apply_fix(self.currentIndex().row())
        else:
            super().keyPressEvent(event)


class FindingsPanel(QWidget):
    """Findings of all scenarios, with their ways out."""

    def __init__(
        self, document: PlanDocument, evaluation: Evaluation, theme: ThemeSource, ways_out: WaysOut | None = None
    ) -> None:
        super().__init__()
        if ways_out is None:
            from gpuplanner.model.ways_out import ways_out as from_model

            ways_out = from_model
        self._document, self._evaluation, self._ways_out = document, evaluation, ways_out
        self._shown: tuple[Plan, Results] | None = None
        self._findings: list[Finding] = []
        self._ways: dict[str, Sequence[Any]] = {}
        self._queue: list[str] = []
        self._generation = 0
        self._answer = _Answer(self)
        self._answer.ready.connect(self._arrived)
        self._pool = QThreadPool(self)
        self._pool.setMaxThreadCount(1)
        self._timer = QTimer(self, singleShot=True, interval=REST_MS)
        self._timer.timeout.connect(self._find_next)

        self.setProperty("ground", "panel")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.counts = QLabel()
        self.counts.setTextFormat(Qt.TextFormat.PlainText)
        self.counts.setProperty("tone", "second")
        self.copy_button = QPushButton()
        self.copy_button.setProperty("link", "true")
        self.copy_button.clicked.connect(self.copy)
        rule = QFrame()
        rule.setProperty("rule", "true")
        self.view = FindingsView(self, theme)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(2)
        layout.addWidget(rule)
        layout.addWidget(self.view, 1)
        theme.changed.connect(self._theme_changed)
        evaluation.results_changed.connect(self._results_changed)
        document.selection_changed.connect(self._selection_changed)
        self.retranslate()
        if evaluation.results is not None:
            self._results_changed(evaluation.results)

    def header_buttons(self) -> tuple[QWidget, ...]:
        """What stands beside the title of the dock."""
        return self.counts, self.copy_button

    # --- showing -------------------------------------------------------------------

    def show_results(self, plan: Plan, results: Results) -> None:
        """Show the findings of other results; their ways out follow after the frame."""
        if self._shown is None or self._shown[1] is not results:
            kept = unchanged(self._shown, plan, results) if self._shown is not None else frozenset()
            self._ways = {letter: ways for letter, ways in self._ways.items() if letter in kept}
            self._generation += 1
            letters = dict.fromkeys(finding.scenario for finding in results.findings if finding.scenario)
            selected = self._document.selected
            # A stable sort: the selected scenario first, the others as they come.
            self._queue = sorted(
                (each for each in letters if each not in self._ways), key=lambda each: each != selected
            )
            self._timer.stop()
            if self._queue:
                self._timer.start()
        self._shown = (plan, results)
        self._findings = told_once(results)
        self._show_rows()

    def retranslate(self) -> None:
        """Take the words of the language in force."""
        self.copy_button.setText(_("Copy list"))
        self.view.setAccessibleName(_("Findings"))
        if self._shown is not None:
            self._show_rows()

    def ways_of(self, at: int) -> list[Any]:
        """The ways out of a finding, cheapest first."""
        finding = self._findings[at]
        return [way for way in self._ways.get(finding.scenario, ()) if way.finding_key == finding.key]

    def _show_rows(self) -> None:
        assert self._shown is not None
        _plan, results = self._shown
        rows = []
        for at, finding in enumerate(self._findings):
            ways, entry = self.ways_of(at), results.scenario(finding.scenario)
            fixes = tuple(fix_text(way, results.currency) for way in ways)
            effects = tuple(effect_text(way, entry, results.currency) if entry is not None else "" for way in ways)
            sentence = facts.sentence(finding.key, finding.numbers, results.currency)
            rows.append(Row(finding.level, finding.scenario, sentence, fixes, effects))
        self.view.empty = closest_limit(results, self._document.selected) if results.scenarios else ""
        self.view.rows_model.show(tuple(rows))
        counts = [sum(finding.level == level for finding in self._findings) for level in _LEVELS]
        texts = [
            ngettext("{count} stop", "{count} stops", counts[0]).format(count=counts[0]),
            ngettext("{count} check", "{count} checks", counts[1]).format(count=counts[1]),
            ngettext("{count} note", "{count} notes", counts[2]).format(count=counts[2]),
        ]
        self.counts.setText(" · ".join(text for text, count in zip(texts, counts, strict=True) if count))
        self.copy_button.setEnabled(bool(rows))

    def _find_next(self) -> None:
        if self._shown is None or not self._queue:
            return
        plan, results = self._shown
        letter = self._queue.pop(0)
        find = partial(self._ways_out, plan, self._document.catalog, results, letter)
        self._pool.start(_Search(find, self._generation, letter, self._answer))

    def _arrived(self, generation: int, letter: str, ways: Sequence[Any]) -> None:
        if generation != self._generation:
            return
        self._ways[letter] = ways
        self._show_rows()
        self._find_next()

    def finish(self) -> None:
        """Stop searching and wait for the worker; for closing the window."""
        self._timer.stop()
        self._queue.clear()
        self._pool.waitForDone()

    # --- acting --------------------------------------------------------------------

    def apply_fix(self, at: int, choice: int = 0) -> None:
        """Apply a way out of a finding, the cheapest by default, as one undo step."""
        ways = self.ways_of(at)
        if not choice < len(ways) or self._shown is None:
            return
        way = ways[choice]
        text = facts.sentence(way.key, way.numbers, self._shown[1].currency)
        letter = way.letter or self._findings[at].scenario
        step = _("{letter}: {fix}").format(letter=letter, fix=text)
        refused = self._document.apply(way.edits, step)
        said = refused if refused else _("{step}. Undo takes it back.").format(step=step)
        self._document.notice.emit(said)

    def apply_focused(self) -> None:
        """Apply the cheapest way out of the row that has the focus, else of the first row that has one."""
        index = self.view.currentIndex()
        rows = [index.row()] if index.isValid() else [at for at in range(len(self._findings)) if self.ways_of(at)]
        if rows:
            self.apply_fix(rows[0])

    def menu_for(self, at: int) -> QMenu:
        """All ways out of a finding."""
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        for choice, text in enumerate(self.view.rows_model.rows[at].fixes):
            # An ampersand in a name is no shortcut.
            action = menu.addAction(text.replace("&", "&&"))
            action.triggered.connect(lambda _checked=False, choice=choice: self.apply_fix(at, choice))
        return menu

    def show_scenario(self, at: int) -> None:
        """Select the scenario of a finding."""
        if self._findings[at].scenario:
            self._document.select(self._findings[at].scenario)

    def copy(self) -> None:
        """Put the findings on the clipboard, tab-separated, with their first way out."""
        lines = [
            "\t".join((facts.level(row.level), row.letter, row.sentence, row.fixes[0] if row.fixes else ""))
            for row in self.view.rows_model.rows
        ]
        QGuiApplication.clipboard().setText("\n".join(lines))

    # --- inside --------------------------------------------------------------------

    def _results_changed(self, results: Results) -> None:
        self.show_results(self._evaluation.plan or self._document.plan, results)

    def _selection_changed(self, letter: str) -> None:
        self._queue.sort(key=lambda each: each != letter)

    def _theme_changed(self, theme: Theme) -> None:
        self.view.theme = theme
        self.view.viewport().update()
