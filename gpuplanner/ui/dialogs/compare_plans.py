"""The open plan beside another file: inputs that differ, to take over one by one, and the resulting figures of both."""

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QAbstractItemView,
    QDialog,
    QDialogButtonBox,
    QHeaderView,
    QLabel,
    QTableWidget,
    QTableWidgetItem,
    QTabWidget,
    QVBoxLayout,
    QWidget,
)

from gpuplanner.i18n import _, ngettext, places
from gpuplanner.model.differences import Difference, differences, take
from gpuplanner.model.evaluate import evaluate
from gpuplanner.model.plan import Plan
from gpuplanner.report import two_plans
from gpuplanner.storage.seen import side_by_side
from gpuplanner.ui.document import PlanDocument


class ComparePlansDialog(QDialog):
    """Follows the open plan; taking a difference over is one undo step of it. `other` stays as it is."""

    def __init__(self, document: PlanDocument, other: Plan, file: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._document = document
        self._other = two_plans.Side(file, other, evaluate(other, document.catalog))
        self._found: tuple[Difference, ...] = ()
        self.setWindowTitle(_("Compared with {file}").format(file=file))
        self.said = QLabel()
        self.said.setTextFormat(Qt.TextFormat.PlainText)
        self.said.setWordWrap(True)
        self.inputs = _table((_("Input"), _("This plan"), file))
        self.figures = _table((_("Scenario"), _("Figure"), _("This plan"), file))
        tabs = QTabWidget()
        tabs.addTab(self.inputs, _("Inputs that differ"))
        tabs.addTab(self.figures, _("Resulting figures"))
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        buttons.button(QDialogButtonBox.StandardButton.Close).setText(_("Close"))
        self.take_button = buttons.addButton(_("Take over"), QDialogButtonBox.ButtonRole.ActionRole)
        self.take_button.setToolTip(_("Make the chosen input of this plan that of the other file"))
        self.take_button.clicked.connect(self._take)
        tabs.currentChanged.connect(lambda shown: self.take_button.setVisible(shown == 0))
        buttons.rejected.connect(self.reject)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(16, 14, 16, 14)
        layout.addWidget(self.said)
        layout.addWidget(tabs, 1)
        layout.addWidget(buttons)
        self.resize(860, 520)
        document.plan_changed.connect(self.show_plan)
        self.show_plan(document.plan)

    def show_plan(self, plan: Plan) -> None:
        """Show what differs between `plan` and the other file."""
        here = two_plans.Side(self._document.title, plan, evaluate(plan, self._document.catalog))
        self._found = differences(plan, self._other.plan)
        self.said.setText(
            ngettext("{count} input differs.", "{count} inputs differ.", len(self._found)).format(
                count=len(self._found)
            )
            if self._found
            else _("All inputs are the same.")
        )
        _fill(
            self.inputs,
            [
                (places.place(each.place), two_plans.value_text(each.a), two_plans.value_text(each.b))
                for each in self._found
            ],
        )
        pairs = side_by_side(here.results, self._other.results)
        _fill(
            self.figures,
            [
                (
                    two_plans.figure_place(pair),
                    places.figure_name(pair.key),
                    two_plans.figure_text(pair.a, pair.key, here.results.currency),
                    two_plans.figure_text(pair.b, pair.key, self._other.results.currency),
                )
                for pair in pairs
            ],
            bold=[not two_plans.is_same(pair, here, self._other) for pair in pairs],
        )
        self.take_button.setEnabled(bool(self._found))

    def _take(self) -> None:
        row = self.inputs.currentRow()
        if not 0 <= row < len(self._found):
            return
        place = self._found[row].place
        text = _("Take over: {input}").format(input=places.place(place))
        try:
            refused = self._document.change(lambda plan: take(plan, self._other.plan, place), text)
        except KeyError:
            refused = _("Not possible here.")
        if refused is not None:
            self.said.setText(refused)
        elif self._found:
            self.inputs.selectRow(min(row, len(self._found) - 1))


def _table(heads: Sequence[str]) -> QTableWidget:
    table = QTableWidget(0, len(heads))
    table.setHorizontalHeaderLabels(list(heads))
    table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
    table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
    table.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
    table.setTabKeyNavigation(False)
    table.verticalHeader().hide()
    table.setShowGrid(False)
    table.horizontalHeader().setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
    table.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
    table.horizontalHeader().setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
    return table


def _fill(table: QTableWidget, rows: Sequence[Sequence[str]], bold: Sequence[bool] = ()) -> None:
    table.setRowCount(len(rows))
    for row, cells in enumerate(rows):
        for column, text in enumerate(cells):
            item = QTableWidgetItem(text)
            if bold and bold[row]:
                font = item.font()
                font.setBold(True)
                item.setFont(font)
            table.setItem(row, column, item)
    if rows and table.currentRow() < 0:
        table.selectRow(0)
