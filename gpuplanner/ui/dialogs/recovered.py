"""Plans that were not saved when the program ended: what each holds, and what is to become of it."""

from collections.abc import Callable, Sequence
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QAbstractItemView,
    QDialog,
    QDialogButtonBox,
    QHeaderView,
    QLabel,
    QTableWidget,
    QTableWidgetItem,
    QVBoxLayout,
    QWidget,
)

from gpuplanner.i18n import _
from gpuplanner.i18n import format as words
from gpuplanner.storage.recovery import Copy


class RecoveredDialog(QDialog):
    """One row a copy. `restore` takes a copy and closes; `discard` returns the sentence why a copy is still there."""

    def __init__(
        self,
        copies: Sequence[Copy],
        restore: Callable[[Copy], object],
        discard: Callable[[Copy], str | None],
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._copies, self._restore, self._discard = list(copies), restore, discard
        self.setWindowTitle(_("Plans that were not saved"))
        self._said = QLabel(
            _("GPU Planner kept a copy of these plans. The files themselves are as they were last saved.")
        )
        self._said.setTextFormat(Qt.TextFormat.PlainText)
        self._said.setWordWrap(True)
        self.table = QTableWidget(0, 4)
        self.table.setHorizontalHeaderLabels([_("Plan"), _("File"), _("Copied"), _("Changes")])
        self.table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.table.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.table.setTabKeyNavigation(False)
        self.table.verticalHeader().hide()
        self.table.setShowGrid(False)
        header = self.table.horizontalHeader()
        header.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        header.setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        header.setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        self.table.itemActivated.connect(self._restore_chosen)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        buttons.button(QDialogButtonBox.StandardButton.Close).setText(_("Close"))
        self.restore_button = buttons.addButton(_("Restore"), QDialogButtonBox.ButtonRole.ActionRole)
        self.discard_button = buttons.addButton(_("Delete the copy"), QDialogButtonBox.ButtonRole.ActionRole)
        self.restore_button.clicked.connect(self._restore_chosen)
        self.discard_button.clicked.connect(self._discard_chosen)
        self.restore_button.setDefault(True)
        buttons.rejected.connect(self.reject)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(16, 14, 16, 14)
        layout.addWidget(self._said)
        layout.addWidget(self.table, 1)
        layout.addWidget(buttons)
        self._show_copies()
        self.resize(640, 320)

    def _show_copies(self) -> None:
        self.table.setRowCount(len(self._copies))
        for row, copy in enumerate(self._copies):
            head = copy.head
            cells = (
                head.title,
                Path(head.file.path).name if head.file is not None else _("never saved"),
                words.moment(head.saved_at),
                words.count(head.changes),
            )
            for column, text in enumerate(cells):
                item = QTableWidgetItem(text)
                if column == 1 and head.file is not None:
                    item.setToolTip(head.file.path)
                self.table.setItem(row, column, item)
        if self._copies:
            self.table.selectRow(0)
        for button in (self.restore_button, self.discard_button):
            button.setEnabled(bool(self._copies))

    def _chosen(self) -> Copy | None:
        row = self.table.currentRow()
        return self._copies[row] if 0 <= row < len(self._copies) else None

    def _restore_chosen(self, _item: object = None) -> None:
        copy = self._chosen()
        if copy is not None:
            self.accept()
            self._restore(copy)

    def _discard_chosen(self) -> None:
        copy = self._chosen()
        if copy is None:
            return
        said = self._discard(copy)
        if said is not None:
            self._said.setText(said)
            return
        self._copies.remove(copy)
        self._show_copies()
