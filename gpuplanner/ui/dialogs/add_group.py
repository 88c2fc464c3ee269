"""Add a group of servers by its names, without the mouse."""

from functools import partial
from typing import Any

from PySide6.QtWidgets import QDialog, QDialogButtonBox, QVBoxLayout, QWidget

from gpuplanner.i18n import N_, _
from gpuplanner.model import edit
from gpuplanner.ui.document import PlanDocument
from gpuplanner.ui.fields import FieldRow, NameField, NumberField


class AddGroupDialog(QDialog):
    """Asks for card, chassis and counts; the plan changes once, when the dialog is accepted."""

    def __init__(self, document: PlanDocument, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._document = document
        self._group = document.new_group(None, None)
        self.setWindowTitle(_("Add a group"))
        self.gpu = self._name("gpu")
        self.server = self._name("server")
        self.gpus = NumberField(partial(self._set, "gpus_per_server"), whole=True)
        self.servers = NumberField(partial(self._set, "servers"), whole=True)
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 14, 16, 14)
        for label, field, wide in (
            (N_("GPU"), self.gpu, True),
            (N_("Server"), self.server, True),
            (N_("GPUs per server"), self.gpus, False),
            (N_("Servers"), self.servers, False),
        ):
            column.addWidget(FieldRow(label, field, "", 260 if wide else 82, 0))
        self.gpu.show_blank(_("no GPU"))
        self.server.show_blank(_("custom box"))
        self.buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Ok | QDialogButtonBox.StandardButton.Cancel)
        add = self.buttons.button(QDialogButtonBox.StandardButton.Ok)
        add.setText(_("Add group"))
        add.setProperty("primary", True)
        self.buttons.button(QDialogButtonBox.StandardButton.Cancel).setText(_("Cancel"))
        self.buttons.accepted.connect(self.accept)
        self.buttons.rejected.connect(self.reject)
        column.addStretch(1)
        column.addWidget(self.buttons)
        self.setMinimumWidth(420)
        self._show()

    def accept(self) -> None:
        """Add the group to the selected scenario, or to a new one where the plan has none."""
        said = self._document.add_made_group(self._group)
        if said is None:
            super().accept()
        else:
            self.gpu.show_refusal(said)

    def _name(self, kind: str) -> NameField:
        document = self._document
        return NameField(
            partial(self._set, kind), partial(document.names, kind), partial(document.resolve, kind), blank=""
        )

    def _set(self, name: str, value: Any) -> str | None:
        from pydantic import ValidationError

        from gpuplanner.ui.document import refusal

        try:
            group = edit.replace(self._group, (name,), value)
        except ValidationError as error:
            return refusal(error)
        if name in ("gpu", "server") and value:
            # A card or chassis brings the counts it is usually sold with.
            usual = self._document.new_group(group.gpu or None, group.server or None)
            group = edit.replace(usual, ("servers",), group.servers)
        self._group = group
        self._show()
        return None

    def _show(self) -> None:
        self.gpu.show_value(self._group.gpu)
        self.server.show_value(self._group.server)
        self.gpus.show_value(self._group.gpus_per_server)
        self.servers.show_value(self._group.servers)
