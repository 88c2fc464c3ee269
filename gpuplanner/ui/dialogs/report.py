"""Something went wrong: what became of the plan, and a report to copy. Nothing is sent."""

from PySide6.QtCore import Qt
from PySide6.QtGui import QFontDatabase, QGuiApplication
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QLabel, QPlainTextEdit, QVBoxLayout, QWidget

from gpuplanner.i18n import _


class ReportDialog(QDialog):
    """A sentence, and the report as plain text under it."""

    def __init__(self, title: str, sentence: str, report: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(title)
        said = QLabel(sentence)
        said.setTextFormat(Qt.TextFormat.PlainText)
        said.setWordWrap(True)
        self.text = QPlainTextEdit(report)
        self.text.setReadOnly(True)
        self.text.setFont(QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont))
        self.text.setAccessibleName(_("Report"))
        self.text.setTabChangesFocus(True)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        buttons.button(QDialogButtonBox.StandardButton.Close).setText(_("Close"))
        self.copy = buttons.addButton(_("Copy the report"), QDialogButtonBox.ButtonRole.ActionRole)
        self.copy.clicked.connect(self._copy)
        buttons.rejected.connect(self.reject)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(16, 14, 16, 14)
        layout.addWidget(said)
        layout.addWidget(self.text, 1)
        layout.addWidget(buttons)
        self.resize(640, 380)

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(self.text.toPlainText())
