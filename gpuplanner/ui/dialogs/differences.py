"""What the author of a plan saw, beside what is computed here."""

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QAbstractItemView,
    QDialog,
    QDialogButtonBox,
    QLabel,
    QTableWidget,
    QTableWidgetItem,
    QVBoxLayout,
    QWidget,
)

from gpuplanner.i18n import _
from gpuplanner.i18n import format as words
from gpuplanner.i18n.places import figure_name


class DifferencesDialog(QDialog):
    """Both figures in a table. Keeping means closing; updating means saving, which writes today's figures."""

    def __init__(self, differences: Sequence[Any], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(_("What the author saw"))
        same = all(difference.same_model for difference in differences)
        if not differences:
            text = _("All figures are those that the author of the plan saw.")
        elif same:
            text = _("These figures differ though model and calibration are the same; the catalog entries differ.")
        else:
            text = _("The plan was saved with another model or calibration. Saving it here keeps today's figures.")
        said = QLabel(text)
        said.setTextFormat(Qt.TextFormat.PlainText)
        said.setWordWrap(True)
        self.table = QTableWidget(len(differences), 5)
        self.table.setHorizontalHeaderLabels([_("Scenario"), _("Workload"), _("Figure"), _("Author saw"), _("Now")])
        self.table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.table.verticalHeader().hide()
        self.table.setShowGrid(False)
        for row, each in enumerate(differences):
            cells = (
                each.scenario,
                each.workload,
                figure_name(each.key),
                words.number(each.seen.value),
                words.number(each.now.value),
            )
            for column, text in enumerate(cells):
                item = QTableWidgetItem(text)
                if column > 2:
                    item.setTextAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
                self.table.setItem(row, column, item)
        self.table.resizeColumnsToContents()
        self.table.setVisible(bool(differences))
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        buttons.button(QDialogButtonBox.StandardButton.Close).setText(_("Close"))
        buttons.rejected.connect(self.reject)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(16, 14, 16, 14)
        layout.addWidget(said)
        layout.addWidget(self.table, 1)
        layout.addWidget(buttons)
        self.resize(620, 420 if differences else 120)
