"""What the window asks before it does something that cannot be undone. Tests answer in its place."""

from pathlib import Path
from typing import Literal

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog, QMessageBox, QWidget

from gpuplanner.i18n import _

SUFFIX = ".gpuplan"


class Ask:
    """Asks with Qt's own dialogs."""

    def __init__(self, parent: QWidget) -> None:
        self._parent = parent

    def save_changes(self, title: str) -> Literal["save", "discard", "cancel"]:
        """Whether to save the plan that is about to go."""
        box = self._box(
            _("Save the changes to “{title}”?").format(title=title),
            _("Without saving, the changes since the last save are lost."),
        )
        save = box.addButton(_("Save"), QMessageBox.ButtonRole.AcceptRole)
        discard = box.addButton(_("Do not save"), QMessageBox.ButtonRole.DestructiveRole)
        cancel = box.addButton(_("Cancel"), QMessageBox.ButtonRole.RejectRole)
        box.setDefaultButton(save)
        box.setEscapeButton(cancel)
        box.exec()
        clicked = box.clickedButton()
        box.deleteLater()
        return "save" if clicked is save else "discard" if clicked is discard else "cancel"

    def overwrite_changed(self, name: str) -> Literal["overwrite", "theirs", "compare", "save_as", "cancel"]:
        """What to do about a file that another program has changed."""
        box = self._box(
            _("“{file}” was changed by another program since it was opened.").format(file=name),
            _("Replacing it loses that other version. Saving under another name keeps both."),
        )
        other = box.addButton(_("Save as …"), QMessageBox.ButtonRole.AcceptRole)
        overwrite = box.addButton(_("Replace"), QMessageBox.ButtonRole.DestructiveRole)
        theirs = box.addButton(_("Take the other version"), QMessageBox.ButtonRole.ActionRole)
        compare = box.addButton(_("Show what differs …"), QMessageBox.ButtonRole.ActionRole)
        cancel = box.addButton(_("Cancel"), QMessageBox.ButtonRole.RejectRole)
        box.setDefaultButton(other)
        box.setEscapeButton(cancel)
        box.exec()
        clicked = box.clickedButton()
        box.deleteLater()
        if clicked is theirs:
            return "theirs"
        if clicked is compare:
            return "compare"
        return "save_as" if clicked is other else "overwrite" if clicked is overwrite else "cancel"

    def file_to_open(self, folder: Path | None) -> Path | None:
        """Which plan file to open."""
        name, _filter = QFileDialog.getOpenFileName(
            self._parent, _("Open a plan"), str(folder) if folder else "", self._filters()
        )
        return Path(name) if name else None

    def file_to_save(self, suggested: Path) -> Path | None:
        """Where to save the plan."""
        name, _filter = QFileDialog.getSaveFileName(self._parent, _("Save the plan"), str(suggested), self._filters())
        if not name:
            return None
        path = Path(name)
        return path if path.suffix else path.with_suffix(SUFFIX)

    def _filters(self) -> str:
        return ";;".join((_("GPU Planner plans") + f" (*{SUFFIX})", _("All files") + " (*)"))

    def _box(self, text: str, more: str) -> QMessageBox:
        box = QMessageBox(self._parent)
        box.setTextFormat(Qt.TextFormat.PlainText)
        box.setIcon(QMessageBox.Icon.NoIcon)
        box.setWindowTitle(_("GPU Planner"))
        box.setText(text)
        box.setInformativeText(more)
        return box
