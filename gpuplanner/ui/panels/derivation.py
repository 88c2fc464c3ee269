"""The whole derivation of a figure, as a page: a tree of figures, the formula of the chosen one, what it rests on.

The tree shows at once. What would change the figure most, and the cheapest ways to change it, take many evaluations:
a worker finds them once the page stands.
"""

from functools import partial
from typing import Any

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QGuiApplication, QKeyEvent, QPainter, QPen, QStandardItem, QStandardItemModel
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QHeaderView,
    QLabel,
    QPushButton,
    QScrollArea,
    QSizePolicy,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTreeView,
    QVBoxLayout,
    QWidget,
)

from gpuplanner.i18n import _, derivations, facts, format, measured, ngettext
from gpuplanner.model import evidence
from gpuplanner.model.comparison import scenario_name
from gpuplanner.model.derivation import Node, sources, walk
from gpuplanner.model.explain import explain
from gpuplanner.model.plan import Plan
from gpuplanner.model.results import Results
from gpuplanner.ui.background import Background
from gpuplanner.ui.band_track import BandTrack
from gpuplanner.ui.document import PlanDocument
from gpuplanner.ui.evaluation import Evaluation
from gpuplanner.ui.explained import Explained, explained
from gpuplanner.ui.fields import plain_tip
from gpuplanner.ui.pages import Page
from gpuplanner.ui.text_table import Cell, Column, TextTable
from gpuplanner.ui.theme import Theme, ThemeSource

Index = QModelIndex | QPersistentModelIndex

ROW, HEAD = 24, 26
_NODE = Qt.ItemDataRole.UserRole
_FIGURE, _HOW, _VALUE, _BAND, _ORIGIN = range(5)
_WIDTHS = {_VALUE: 128, _BAND: 92, _ORIGIN: 92}
# Width of the unit beside a value. [px]
_UNIT = 54
# Levels that are open when the page comes up: more would hide the shape of the tree.
_OPEN_LEVELS = 3
_MOVERS, _WAYS, _NEAR = 5, 3, 4
# What the ratio to the baseline is made of.
_COMPARED = frozenset({"output", "output_limit", "tokens"})


def _first_column(index: Index) -> QModelIndex:
    return index.model().index(index.row(), 0, index.parent())


class _Rows(QStyledItemDelegate):
    """Paints a row: name, how, value with its unit, band, and the pill that says where it comes from."""

    def __init__(self, view: "DerivationTree") -> None:
        super().__init__(view)
        self._view = view

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        return QSize(40, ROW)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        view = self._view
        theme = view.source.theme
        node: Node = _first_column(index).data(_NODE)
        box, state = QRectF(option.rect), option.state  # type: ignore[attr-defined]
        if state & QStyle.StateFlag.State_Selected:
            painter.fillRect(box, theme.selected)
        elif state & QStyle.StateFlag.State_MouseOver:
            painter.fillRect(box, theme.hover)
        painter.setPen(QPen(theme.grid, 1))
        painter.drawLine(box.bottomLeft(), box.bottomRight())
        right = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight
        text, column = str(index.data() or ""), index.column()
        root = not index.parent().isValid()
        if column == _ORIGIN:
            self._pill(painter, box, text, node.origin, theme)
        elif column == _VALUE:
            value, unit = derivations.value(node, view.currency)
            inner = box.adjusted(0, 0, -_UNIT, 0)
            painter.setFont(theme.font(12, 600))
            painter.setPen(theme.text)
            painter.drawText(inner, right, value)
            painter.setFont(theme.font(11, 400))
            painter.setPen(theme.text2)
            painter.drawText(box.adjusted(box.width() - _UNIT + 6, 0, 0, 0), Qt.AlignmentFlag.AlignVCenter, unit)
        else:
            weight = 600 if column == _FIGURE and root else 400
            size = 12 if column == _FIGURE else 11
            painter.setFont(theme.font(size, weight))
            painter.setPen(theme.text if column == _FIGURE else theme.text3 if column == _BAND else theme.text2)
            inner = box.adjusted(4, 0, -8, 0)
            shown = theme.metrics(size, weight).elidedText(text, Qt.TextElideMode.ElideRight, int(inner.width()))
            painter.drawText(inner, right if column == _BAND else Qt.AlignmentFlag.AlignVCenter, shown)
        current = view.currentIndex()
        if column == _FIGURE and view.hasFocus() and current.siblingAtColumn(0) == index:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(theme.accent)
            painter.drawRect(QRectF(0, box.top(), 3, box.height()))

    @staticmethod
    def _pill(painter: QPainter, box: QRectF, text: str, origin: str, theme: Theme) -> None:
        tones = {
            "catalog": (theme.accent, theme.selected),
            "calibrated": (theme.ok, theme.ok_ground),
            "measured": (theme.ok, theme.ok_ground),
            "assumed": (theme.warn, theme.warn_ground),
            "your input": (theme.text, theme.hover),
        }
        ink, ground = tones.get(origin, (theme.text2, theme.sunken))
        width = theme.metrics(10, 600).horizontalAdvance(text) + 14
        pill = QRectF(box.left() + 4, box.center().y() - 8, min(width, box.width() - 6), 16)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(theme.line, 1))
        painter.setBrush(ground)
        painter.drawRoundedRect(pill, 8, 8)
        painter.setFont(theme.font(10, 600))
        painter.setPen(ink)
        painter.drawText(pill, Qt.AlignmentFlag.AlignCenter, text)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)


class _Head(QHeaderView):
    """The headings, in line with what stands under them."""

    def __init__(self, view: "DerivationTree") -> None:
        super().__init__(Qt.Orientation.Horizontal, view)
        self._view = view
        self.setFixedHeight(HEAD)
        self.setMinimumSectionSize(40)
        self.setSectionsClickable(False)

    def paintSection(self, painter: QPainter, rect: Any, section: int) -> None:
        theme = self._view.source.theme
        box = QRectF(rect)
        painter.fillRect(box, theme.panel)
        painter.setPen(QPen(theme.line, 1))
        painter.drawLine(box.bottomLeft(), box.bottomRight())
        painter.setFont(theme.font(11, 400))
        painter.setPen(theme.text2)
        side = Qt.AlignmentFlag.AlignRight if section in (_VALUE, _BAND) else Qt.AlignmentFlag.AlignLeft
        left = 12 if section == _FIGURE else 4
        inner = box.adjusted(left, 0, -_UNIT if section == _VALUE else -8, 0)
        title = str(self.model().headerData(section, Qt.Orientation.Horizontal) or "")
        painter.drawText(inner, side | Qt.AlignmentFlag.AlignVCenter, title)


class DerivationTree(QTreeView):
    """The figures of a derivation. `node_chosen` says which one is looked at."""

    node_chosen = Signal(object)

    def __init__(self, theme: ThemeSource) -> None:
        super().__init__()
        self.source = theme
        self.currency = "USD"
        self.nodes = QStandardItemModel(self)
        self.setModel(self.nodes)
        self.setItemDelegate(_Rows(self))
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setIndentation(18)
        self.setUniformRowHeights(True)
        self.setMouseTracking(True)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setTabKeyNavigation(False)
        self.setHeader(_Head(self))
        self.selectionModel().currentRowChanged.connect(self._current_changed)

    def show_root(self, root: Node | None, currency: str) -> None:
        """Show another derivation, or the same with other figures: what was open and looked at stays so."""
        open_rows, current = self._open_rows(), self._path(self.currentIndex())
        self.currency = currency
        self.selectionModel().blockSignals(True)
        self.nodes.clear()
        self.nodes.setHorizontalHeaderLabels([_("Figure"), _("How"), _("Value"), _("80 % band"), _("Comes from")])
        if root is not None:
            self.nodes.appendRow(self._row(root))
        header = self.header()
        header.setStretchLastSection(False)
        for column, width in _WIDTHS.items():
            header.setSectionResizeMode(column, QHeaderView.ResizeMode.Fixed)
            header.resizeSection(column, width)
        header.setSectionResizeMode(_FIGURE, QHeaderView.ResizeMode.Stretch)
        header.setSectionResizeMode(_HOW, QHeaderView.ResizeMode.Interactive)
        self._share_width()
        if open_rows and root is not None:
            for path in open_rows:
                self.setExpanded(self._index(path), True)
        else:
            self.expandToDepth(_OPEN_LEVELS - 1)
        self.selectionModel().blockSignals(False)
        target = self._index(current) if current else QModelIndex()
        self.setCurrentIndex(target if target.isValid() else self.nodes.index(0, 0))

    def forget(self) -> None:
        """Open the next derivation as new."""
        self.nodes.clear()

    def node(self, index: Index) -> Node | None:
        """The figure of a row."""
        return _first_column(index).data(_NODE) if index.isValid() else None

    def choose(self, node: Node) -> None:
        """Look at the first row of this figure."""
        found = self._find(QModelIndex(), node)
        if found is not None:
            self.setCurrentIndex(found)
            self.scrollTo(found)

    def resizeEvent(self, event: Any) -> None:
        super().resizeEvent(event)
        self._share_width()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            # The page behind it closes.
            event.ignore()
        else:
            super().keyPressEvent(event)

    def _share_width(self) -> None:
        room = self.viewport().width() - sum(_WIDTHS.values())
        if self.nodes.columnCount() > _HOW and room > 0:
            self.header().resizeSection(_HOW, int(room * 0.36))

    def _row(self, node: Node) -> list[QStandardItem]:
        value, unit = derivations.value(node, self.currency)
        band = derivations.band(node, self.currency)
        how = derivations.in_words(node)
        texts = (derivations.name(node), how, f"{value} {unit}".strip(), band, derivations.origin(node))
        items = [QStandardItem(text) for text in texts]
        spoken = _("{figure}: {value}. {origin}.").format(figure=texts[0], value=texts[2], origin=texts[4])
        if band:
            spoken += " " + _("80 % band {band}.").format(band=band)
        items[0].setData(node, _NODE)
        items[0].setData(spoken, Qt.ItemDataRole.AccessibleTextRole)
        tip = "\n".join(part for part in (spoken, how) if part)
        for item in items:
            item.setData(plain_tip(tip), Qt.ItemDataRole.ToolTipRole)
            item.setEditable(False)
        for child in node.children:
            items[0].appendRow(self._row(child))
        return items

    def _path(self, index: Index) -> tuple[int, ...]:
        rows: list[int] = []
        at = _first_column(index) if index.isValid() else QModelIndex()
        while at.isValid():
            rows.insert(0, at.row())
            at = at.parent()
        return tuple(rows)

    def _index(self, path: tuple[int, ...]) -> QModelIndex:
        at = QModelIndex()
        for row in path:
            at = self.nodes.index(row, 0, at)
        return at

    def _open_rows(self) -> list[tuple[int, ...]]:
        found: list[tuple[int, ...]] = []

        def visit(parent: QModelIndex) -> None:
            for row in range(self.nodes.rowCount(parent)):
                index = self.nodes.index(row, 0, parent)
                if self.isExpanded(index):
                    found.append(self._path(index))
                    visit(index)

        visit(QModelIndex())
        return found

    def _find(self, parent: QModelIndex, node: Node) -> QModelIndex | None:
        for row in range(self.nodes.rowCount(parent)):
            index = self.nodes.index(row, 0, parent)
            if index.data(_NODE) is node:
                return index
            below = self._find(index, node)
            if below is not None:
                return below
        return None

    def _current_changed(self, current: QModelIndex, _before: QModelIndex) -> None:
        self.node_chosen.emit(self.node(current))


class _Moved(QWidget):
    """What moves the figure: one bar an input, from its value with the input moved down to that with it moved up."""

    def __init__(self, theme: ThemeSource) -> None:
        super().__init__()
        self._source = theme
        self._rows: tuple[tuple[str, str, float, float], ...] = ()
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setFixedHeight(ROW * _MOVERS + 4)

    def show_rows(self, rows: tuple[tuple[str, str, float, float], ...]) -> None:
        """Rows of name, effect in words, and both changes as shares of today's value."""
        self._rows = rows
        self.setAccessibleName("; ".join(f"{name}: {effect}" for name, effect, _down, _up in rows))
        self.update()

    def paintEvent(self, _event: Any) -> None:
        theme, painter = self._source.theme, QPainter(self)
        widest = max((max(abs(down), abs(up)) for _n, _e, down, up in self._rows), default=0.0) or 1.0
        # The words of the effects are kept whole as long as that leaves a bar.
        metrics = theme.metrics(11, 400)
        words = max((metrics.horizontalAdvance(effect) for _n, effect, _d, _u in self._rows), default=0) + 20.0
        left = self.width() * 0.34
        right = max(self.width() - max(words, 240.0), left + 32.0)
        middle, half = (left + right) / 2, max((right - left) / 2 - 6, 10.0)
        for at, (name, effect, down, up) in enumerate(self._rows):
            box = QRectF(12, at * ROW, left - 20, ROW)
            painter.setFont(theme.font(12, 400))
            painter.setPen(theme.text)
            shown = theme.metrics(12, 400).elidedText(name, Qt.TextElideMode.ElideRight, int(box.width()))
            painter.drawText(box, Qt.AlignmentFlag.AlignVCenter, shown)
            for change, colour in ((down, theme.line2), (up, theme.accent)):
                end = middle + half * max(min(change / widest, 1.0), -1.0)
                bar = QRectF(min(middle, end), at * ROW + 8, abs(end - middle), 8)
                painter.fillRect(bar, colour)
            painter.setPen(QPen(theme.text3, 1))
            painter.drawLine(QPointF(middle, at * ROW + 4), QPointF(middle, at * ROW + ROW - 4))
            painter.setFont(theme.font(11, 400))
            painter.setPen(theme.text2)
            room = QRectF(right, at * ROW, self.width() - right - 12, ROW)
            painter.drawText(
                room,
                Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight,
                metrics.elidedText(effect, Qt.TextElideMode.ElideRight, int(room.width()) + 1),
            )


class DerivationPage(Page):
    """A figure from its value down to inputs, catalog entries, constants and their sources."""

    def __init__(self, document: PlanDocument, evaluation: Evaluation, theme: ThemeSource) -> None:
        super().__init__(theme)
        self._document, self._evaluation = document, evaluation
        self._letter, self._key = "", "output"
        self._shown: Explained | None = None
        self.root: Node | None = None
        self._looked_at: Node | None = None
        self._near: tuple[evidence.Near, ...] = ()
        self._ways: tuple[Any, ...] = ()
        self._movers: tuple[Any, ...] = ()
        self._worker = Background(self)
        self._worker.ready.connect(self._found)
        self._stale = True

        self.copy_button = QPushButton()
        self.copy_button.clicked.connect(self.copy)
        self.compare_button = QPushButton()
        self.compare_button.clicked.connect(self._compare)
        for button in (self.copy_button, self.compare_button):
            self.head.addWidget(button, 0, Qt.AlignmentFlag.AlignTop)
        self.verdict = _label("", wrap=True)
        self.binds = _label("second", wrap=True)
        self.track = BandTrack()
        self.track.setFixedHeight(38)
        self.tree = DerivationTree(theme)
        self.tree.node_chosen.connect(self._look_at)
        self.counts = _label("second")
        self.moved = _Moved(theme)
        self._moved_title, self._moved_note = _title(), _label("second")
        self._ways_title, self._ways_box = _title(), QVBoxLayout()
        self._ways_box.setContentsMargins(12, 0, 12, 6)
        self._ways_box.setSpacing(0)
        self._tree_title = _title()

        self._node_name, self._node_value, self._node_band = _title(), _title(), _label("second")
        self.formula, self.numbers = _label("", wrap=True), _label("second", wrap=True)
        for label in (self.formula, self.numbers):
            label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._details = QGridLayout()
        self._details.setContentsMargins(12, 4, 12, 8)
        self._details.setHorizontalSpacing(10)
        self._details.setVerticalSpacing(4)
        self._details.setColumnStretch(1, 1)
        self._near_title, self._near_note = _title(), _label("second", wrap=True)
        self.nearest = TextTable(theme)
        self._sources_title = _title()
        self.sources = TextTable(theme)
        self.sources.chosen.connect(self._source_chosen)
        self._source_nodes: tuple[Node, ...] = ()
        self._lay_out()
        theme.changed.connect(self._theme_changed)
        document.workload_changed.connect(self._refresh)
        evaluation.results_changed.connect(self._refresh)

    def _lay_out(self) -> None:
        left, right = QVBoxLayout(), QVBoxLayout()
        for column in (left, right):
            column.setContentsMargins(0, 0, 0, 0)
            column.setSpacing(8)
        figure = QVBoxLayout()
        figure.setContentsMargins(12, 6, 12, 4)
        figure.setSpacing(2)
        for widget in (self.track, self.verdict, self.binds):
            figure.addWidget(widget)
        left.addWidget(_card(figure))
        head = _line(self._tree_title, self.counts)
        left.addWidget(_card(head, self.tree), 1)
        below = QHBoxLayout()
        below.setSpacing(8)
        below.addWidget(_card(_line(self._moved_title, self._moved_note), self.moved), 3)
        below.addWidget(_card(_line(self._ways_title), self._ways_box, None), 2)
        left.addLayout(below)

        ground = QFrame()
        ground.setProperty("formula", True)
        inside = QVBoxLayout(ground)
        inside.setContentsMargins(12, 8, 12, 8)
        inside.setSpacing(4)
        inside.addWidget(self.formula)
        inside.addWidget(self.numbers)
        self._ground = ground
        holder = QVBoxLayout()
        holder.setContentsMargins(12, 2, 12, 2)
        holder.addWidget(ground)
        named = QHBoxLayout()
        named.setContentsMargins(12, 8, 12, 0)
        self._node_name.setWordWrap(True)
        named.addWidget(self._node_name, 1)
        named.addWidget(self._node_value, 0, Qt.AlignmentFlag.AlignTop)
        band = QHBoxLayout()
        band.setContentsMargins(12, 0, 12, 0)
        band.addStretch(1)
        band.addWidget(self._node_band)
        right.addWidget(_card(named, band, holder, self._details))
        right.addWidget(_card(_line(self._near_title), _padded(self._near_note), self.nearest))
        right.addWidget(_card(_line(self._sources_title), self.sources), 1)
        side = QWidget()
        side.setLayout(right)
        scroll = QScrollArea()
        scroll.setWidget(side)
        scroll.setWidgetResizable(True)
        scroll.setFrameShape(QFrame.Shape.NoFrame)
        scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        both = QHBoxLayout()
        both.setSpacing(8)
        main = QWidget()
        main.setLayout(left)
        both.addWidget(main, 13)
        both.addWidget(scroll, 7)
        self.body.addLayout(both)

    # --- what is shown -----------------------------------------------------------------

    def show_figure(self, letter: str, key: str) -> None:
        """Derive another figure: a metric of the comparison, of the builder or of a card, of one scenario."""
        if (letter, key) != (self._letter, self._key):
            self.tree.forget()
        self._letter, self._key = letter, key
        self._refresh()

    def first(self) -> QWidget:
        return self.tree

    def retranslate(self) -> None:
        self.copy_button.setText(_("Copy derivation"))
        self.copy_button.setToolTip(_("Copy the derivation as text, one figure a line"))
        self._tree_title.setText(_("Derivation"))
        self._moved_title.setText(_("What moves it most"))
        self._ways_title.setText(_("Cheapest ways to change it"))
        self.tree.setAccessibleName(_("Derivation"))
        self.nearest.setAccessibleName(_("Closest evidence"))
        self.sources.setAccessibleName(_("Sources"))
        self._refresh()

    def text(self) -> str:
        """The derivation as text, tab-separated, indented by level."""
        if self.root is None:
            return ""
        return "\n".join([self.title.text(), *derivations.outline(self.root, self.tree.currency)])

    def copy(self) -> None:
        """Put the derivation on the clipboard."""
        QGuiApplication.clipboard().setText(self.text())

    def finish(self) -> None:
        self._worker.finish()

    def _compare(self) -> None:
        """Derive the ratio to the baseline, with both sides below it."""
        self.show_figure(self._letter, "speed_ratio")
        self.tree.setFocus(Qt.FocusReason.OtherFocusReason)

    def showEvent(self, event: Any) -> None:
        super().showEvent(event)
        if self._stale:
            self._refresh()

    def _plan_and_results(self) -> tuple[Plan, Results] | None:
        plan, results = self._evaluation.plan, self._evaluation.results
        return None if plan is None or results is None or not plan.scenarios else (plan, results)

    def _refresh(self, *_args: object) -> None:
        # Hidden, it costs nothing; it looks again when it comes up.
        self._stale = not self.isVisible()
        both = self._plan_and_results()
        if both is None or (self._stale and self.root is not None):
            return
        plan, results = both
        workload, catalog = self._document.workload, self._document.catalog
        if results.scenario(self._letter) is None:
            self._letter = plan.scenarios[0].letter
        self.root = explain(plan, catalog, results, self._letter, self._key, workload)
        if self.root is None:
            # What was asked for is gone, or not known: then what the scenario produces.
            known = (explain(plan, catalog, results, self._letter, key, workload) for key in ("output", "tokens"))
            self.root = next((node for node in known if node is not None), None)
            if self.root is not None:
                self._key = self.root.key
        rows = self._evaluation.rows(plan, results, workload)
        self._shown = explained(plan, results, workload, self._letter, self._key, catalog, rows)
        self._show(plan, results)
        if self.root is not None and self.root.value is not None and not self._stale:
            self._movers, self._ways = (), ()
            self._moved_note.setText(_("computing …"))
            work = partial(_search, plan, catalog, results, self._letter, self._key, workload)
            self._worker.start(work)

    def _show(self, plan: Plan, results: Results) -> None:
        theme, root, shown = self.source.theme, self.root, self._shown
        scenario = next(each for each in plan.scenarios if each.letter == self._letter)
        name = derivations.name(root._replace(name="")) if root is not None else _("Not known")
        self.show_title(f"{self._letter} · {name}", scenario_name(scenario))
        self.copy_button.setEnabled(root is not None)
        base = results.baseline
        self.compare_button.setText(_("Compare with {letter}").format(letter=base or ""))
        self.compare_button.setVisible(bool(base) and base != self._letter and self._key in _COMPARED)
        if shown is not None:
            self.track.show_figure(shown, theme)
        elif root is not None:
            self.track.show_figure(_plain(self._letter, root, results.currency), theme)
        verdict = shown.verdict if shown is not None else ""
        self.verdict.setText(verdict)
        self.verdict.setVisible(bool(verdict))
        tone = {"ok": "ok", "warn": "warn", "fail": "fail"}.get(shown.status if shown is not None else "", "second")
        _set_tone(self.verdict, tone)
        self.binds.setText(self._said(results))
        self.binds.setVisible(bool(self.binds.text()))
        self.tree.show_root(root, results.currency)
        nodes = list(walk(root)) if root is not None else []
        given = sum(node.origin in ("catalog", "your input") for node in nodes)
        self.counts.setText(
            ngettext("{count} figure", "{count} figures", len(nodes)).format(count=len(nodes))
            + " · "
            + _("{count} from the catalog or your input").format(count=given)
        )
        self._show_sources()
        self._show_nearest(plan, results)
        self._show_movers()
        self._show_ways()

    def _said(self, results: Results) -> str:
        entry = results.scenario(self._letter)
        parts = []
        bound = [(run.workload, run.binds) for run in entry.serve] if entry is not None else []
        bound += [(run.workload, run.binds) for run in entry.train] if entry is not None else []
        binds = next((what for workload, what in bound if workload == self._document.workload and what), "")
        if binds:
            parts.append(_("Binds: {what}.").format(what=facts.word(binds)))
        if self._shown is not None and self._shown.confidence:
            word = derivations.confidence(self._shown.confidence)
            parts.append(_("Confidence: {word}.").format(word=word))
        if self.root is not None:
            own = [each for each in self.root.children if each.share]
            shares = sorted(own, key=lambda each: -(each.share or 0.0))[:2]
            parts += [
                _("{part}: {share}.").format(part=derivations.name(each), share=format.percent(each.share))
                for each in shares
            ]
        return " ".join(parts)

    # --- the figure that is looked at ------------------------------------------------------

    def _look_at(self, node: Node | None) -> None:
        self._looked_at = node
        while self._details.count():
            item = self._details.takeAt(0)
            widget = item.widget() if item is not None else None
            if widget is not None:
                widget.deleteLater()
        if node is None:
            return
        currency = self.tree.currency
        self._node_name.setText(derivations.name(node))
        self._node_value.setText(derivations.text(node, currency))
        band = derivations.band(node, currency)
        self._node_band.setText(_("80 % band {band}").format(band=band) if band else derivations.origin(node))
        symbols, named = derivations.in_symbols(node), derivations.in_words(node)
        formula = "\n".join(dict.fromkeys(part for part in (symbols, named) if part))
        numbers = derivations.in_numbers(node, currency)
        self.formula.setText(formula)
        self.numbers.setText(numbers)
        self.numbers.setVisible(bool(numbers))
        self._ground.setVisible(bool(formula))
        for at, (label, text) in enumerate(self._facts(node)):
            key, value = _label("second"), _label("", wrap=True)
            key.setText(label)
            value.setText(text)
            value.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            self._details.addWidget(key, at, 0, Qt.AlignmentFlag.AlignTop)
            self._details.addWidget(value, at, 1)

    def _facts(self, node: Node) -> list[tuple[str, str]]:
        found: list[tuple[str, str]] = [(_("Comes from"), derivations.origin(node))]
        if node.share is not None:
            found.append((_("Share"), _("{share} of the figure above").format(share=format.percent(node.share))))
        if node.path:
            found.append((_("Change it"), _("in the plan, under {place}").format(place=_place(node.path))))
        constant = node.constant
        if constant is not None:
            said = _("Prior {prior}, now {value}: moved by {moved} of its standard deviations.").format(
                prior=format.number(constant.prior), value=format.number(node.value),
                moved=format.number(constant.moved, 2),
            )  # fmt: skip
            found.append((_("Calibrated"), said))
            rows = ngettext("{count} measured row", "{count} measured rows", constant.rows).format(count=constant.rows)
            found.append((_("Fitted on"), rows if constant.rows else _("no row: the prior stands")))
        valid = derivations.valid(node)
        if valid:
            found.append((_("Valid for"), valid))
        bands = self._document.catalog.calibration.bands
        if node.key == "speed_ratio" and node.family in bands:
            checked = _("Ratios of two options share their error: 80 % within a factor of {most}.").format(
                most=format.number(bands[node.family].ratio_80)
            )
            found.append((_("Checked on"), checked))
        elif node.family in bands:
            band = bands[node.family]
            checked = ngettext(
                "{count} publisher not used for calibration: half within a factor of {half}, 80 % within {most}.",
                "{count} publishers not used for calibration: half within a factor of {half}, 80 % within {most}.",
                band.sources,
            ).format(count=band.sources, half=format.number(band.factor_50), most=format.number(band.factor_80))
            found.append((_("Checked on"), checked))
        if node.has_band and node.value and node.low and node.low > 0 and node.family:
            width = max(node.value / node.low, (node.high or node.value) / node.value)
            word = derivations.confidence(evidence.confidence(width))
            found.append((_("Confidence"), word))
        if node.source is not None:
            source = node.source
            shown = ", ".join(part for part in (source.title, format.date(source.date) if source.date else "") if part)
            found.append((_("Source"), shown or derivations.confidence("unverified")))
            if source.where and source.where != source.title:
                found.append((_("Read in"), source.where))
            found.append((_("Confidence"), derivations.confidence(source.confidence)))
        return found

    # --- sources and evidence -------------------------------------------------------------

    def _show_sources(self) -> None:
        found = sources(self.root) if self.root is not None else ()
        self._source_nodes = tuple(nodes[0] for _citation, nodes in found)
        self._sources_title.setText(_("Sources") + f"  {len(found)}")
        columns = [Column("", 26), Column(_("Document")), Column(_("Figures"), 120), Column(_("Date"), 74),
                   Column(_("Confidence"), 74)]  # fmt: skip
        rows = []
        for at, (citation, nodes) in enumerate(found, 1):
            read = _(", ").join(dict.fromkeys(derivations.name(node._replace(name="")) for node in nodes))
            title = citation.title or derivations.confidence("unverified")
            rows.append(
                (
                    Cell(str(at), "second"), Cell(title, tip=plain_tip(citation.where or title)),
                    Cell(read, "second", tip=plain_tip(read)),
                    Cell(format.date(citation.date) if citation.date else format.NOT_KNOWN, "second"),
                    Cell(derivations.confidence(citation.confidence), "second"),
                )
            )  # fmt: skip
        self.sources.show_rows(columns, rows)
        self.sources.setMinimumHeight(min(self.sources.wanted_height(), 200))

    def _source_chosen(self, row: int) -> None:
        if row < len(self._source_nodes):
            self.tree.choose(self._source_nodes[row])

    def _show_nearest(self, plan: Plan, results: Results) -> None:
        self._near = ()
        if self.root is not None:
            self._near = evidence.nearest_to(
                plan, results, self._letter, self._document.workload, self._key, self._document.catalog, _NEAR
            )
        self._near_title.setText(_("Closest evidence"))
        self._near_note.setText(
            _("Measured rows like this figure, and how far off we were there.")
            if self._near
            else _("No measured rows are like this figure.")
        )
        columns = [Column(_("Measured case")), Column(_("Measured"), 96, True), Column(_("Error"), 62, True)]
        rows = [
            (
                Cell(measured.setting(near.row), tip=plain_tip(str(near.row.get("source") or ""))),
                Cell(measured.value(str(near.row.get("metric")), near.measured)),
                Cell(measured.error(near.error), "", True),
            )
            for near in self._near
        ]
        self.nearest.show_rows(columns, rows)
        self.nearest.setVisible(bool(rows))
        self.nearest.setFixedHeight(self.nearest.wanted_height())

    # --- what a worker finds --------------------------------------------------------------

    def _found(self, answer: Any) -> None:
        self._movers, self._ways = answer
        self._moved_note.setText("")
        self._show_movers()
        self._show_ways()

    def _show_movers(self) -> None:
        root = self.root
        if root is None or not root.value:
            self.moved.show_rows(())
            return
        rows = []
        for mover in self._movers:
            down, up = (
                0.0 if value is None else value / root.value - 1.0 for value in (mover.value_down, mover.value_up)
            )
            rows.append((_mover_name(mover, self.root, self.tree.currency), _both(mover, down, up), down, up))
        self.moved.show_rows(tuple(rows))

    def _show_ways(self) -> None:
        while self._ways_box.count():
            item = self._ways_box.takeAt(0)
            widget = item.widget() if item is not None else None
            if widget is not None:
                widget.deleteLater()
        # One step may solve several findings: it is offered once.
        once = {(way.key, way.edits): way for way in reversed(self._ways)}
        for way in [way for way in self._ways if once[way.key, way.edits] is way][:_WAYS]:
            sentence = facts.sentence(way.key, way.numbers, self.tree.currency)
            effect = facts.scale("tokens_s", ()).text(way.speed.value) if way.speed.value is not None else ""
            cost = format.signed_money(way.extra_cost, self.tree.currency) if way.extra_cost else _("no cost")
            row = QWidget()
            line = QHBoxLayout(row)
            line.setContentsMargins(0, 0, 0, 0)
            said = _label("", wrap=True)
            said.setText(" · ".join(part for part in (sentence, effect, cost) if part))
            apply = QPushButton(_("Apply"))
            apply.setProperty("link", "true")
            apply.setAccessibleName(_("Apply: {fix}").format(fix=sentence))
            apply.clicked.connect(partial(self._apply, way, sentence))
            line.addWidget(said, 1)
            line.addWidget(apply)
            self._ways_box.addWidget(row)
        if not self._ways:
            note = _label("second", wrap=True)
            note.setText(_("Nothing needs to be changed.") if not self._worker.busy else _("computing …"))
            self._ways_box.addWidget(note)

    def _apply(self, way: Any, sentence: str, _checked: bool = False) -> None:
        step = _("{letter}: {fix}").format(letter=way.letter, fix=sentence)
        refused = self._document.apply(way.edits, step)
        self._document.notice.emit(refused or _("{step}. Undo takes it back.").format(step=step))

    def _theme_changed(self, _theme: object = None) -> None:
        both = self._plan_and_results()
        if both is not None and self.root is not None:
            self._show(*both)


def _search(plan: Plan, catalog: Any, results: Results, letter: str, key: str, workload: str) -> Any:
    """What moves the figure and what changes it cheaply; runs on a worker."""
    from gpuplanner.model.sensitivity import movers
    from gpuplanner.model.ways_out import ways_out

    return movers(plan, catalog, results, letter, key, workload, _MOVERS), ways_out(plan, catalog, results, letter)


def _mover_name(mover: Any, root: Node | None, currency: str) -> str:
    if mover.constant:
        found = (each for each in walk(root) if root is not None and each.constant is not None) if root else ()
        node = next(
            (each for each in found if each.constant is not None and each.constant.name == mover.constant), None
        )
        return derivations.name(node) if node is not None else mover.constant
    return derivations.name(Node(mover.key, mover.today, mover.kind, name=mover.name))


def _both(mover: Any, down: float, up: float) -> str:
    """Both steps with their effects: "4 → −50 % · 16 → +90 %"."""
    parts = []
    # A step is written to three figures: its exact size says nothing.
    for value, change in ((mover.down, down), (mover.up, up)):
        if value is not None:
            at = derivations.text(Node(mover.key, value, mover.kind), "")
            parts.append(f"{at} → {format.signed_percent(change)}")
    return " · ".join(parts)


def _place(path: tuple[str | int, ...]) -> str:
    """The part of the window in which an input stands."""
    words = {
        "workloads": _("Workload"),
        "scenarios": _("Cluster builder"),
        "site": _("Site"),
        "economics": _("Economics"),
    }
    return words.get(str(path[0]), str(path[0]))


def _plain(letter: str, node: Node, currency: str) -> Explained:
    """A figure without a verdict, for the band on top."""
    value, unit = derivations.value(node, currency)
    scale = derivations.scale(node, currency)
    ends = None
    if node.has_band and node.value is not None and node.low is not None and node.high is not None:
        ends = (node.low, node.value, node.high)
    return Explained(
        letter, derivations.name(node), value, unit, scale.value(node.low), scale.value(node.high), ends, None, "",
        "unknown", "", derivations.origin(node), (), (),
    )  # fmt: skip


def _label(tone: str = "", wrap: bool = False) -> QLabel:
    label = QLabel()
    label.setTextFormat(Qt.TextFormat.PlainText)
    label.setWordWrap(wrap)
    if tone:
        label.setProperty("tone", tone)
    return label


def _title() -> QLabel:
    label = _label()
    label.setFont(Theme.font(12, 600))
    return label


def _set_tone(label: QLabel, tone: str) -> None:
    if label.property("tone") != tone:
        label.setProperty("tone", tone)
        label.style().unpolish(label)
        label.style().polish(label)


def _line(*widgets: QWidget) -> QHBoxLayout:
    line = QHBoxLayout()
    line.setContentsMargins(12, 6, 12, 4)
    line.setSpacing(8)
    for widget in widgets:
        line.addWidget(widget)
    line.addStretch(1)
    return line


def _padded(widget: QWidget) -> QHBoxLayout:
    line = QHBoxLayout()
    line.setContentsMargins(12, 0, 12, 2)
    line.addWidget(widget, 1)
    return line


def _card(*inside: Any) -> QFrame:
    """A card that holds widgets and layouts, one under the other; None is a stretch."""
    frame = QFrame()
    frame.setProperty("card", True)
    column = QVBoxLayout(frame)
    column.setContentsMargins(1, 1, 1, 4)
    column.setSpacing(2)
    for each in inside:
        if each is None:
            column.addStretch(1)
        elif isinstance(each, QWidget):
            column.addWidget(each, 1 if isinstance(each, QTreeView) else 0)
        else:
            column.addLayout(each)
    return frame
