"""What the program is, on which model and catalog its numbers rest, and whose work is in it."""

from importlib import metadata
from typing import Any

from PySide6.QtCore import Qt, qVersion
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QLabel, QPlainTextEdit, QVBoxLayout, QWidget

from gpuplanner import __version__
from gpuplanner.i18n import N_, _
from gpuplanner.model.results import Results
from gpuplanner.ui.theme import Theme

# Distribution, what it does here, licence.
LIBRARIES = (
    ("PySide6_Essentials", N_("window"), "LGPL-3.0"),
    ("pyqtgraph", N_("charts"), "MIT"),
    ("pydantic", N_("checked records"), "MIT"),
    ("numpy", N_("arithmetic"), "BSD-3-Clause"),
    ("platformdirs", N_("folders"), "MIT"),
    ("Babel", N_("numbers and dates"), "BSD-3-Clause"),
)


class AboutDialog(QDialog):
    """Version, model, catalog and licences, as text that can be copied."""

    def __init__(self, catalog: Any, results: Results | None, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(_("About GPU Planner"))
        title = QLabel(_("GPU Planner {version}").format(version=__version__))
        title.setTextFormat(Qt.TextFormat.PlainText)
        title.setFont(Theme.font(16, 600))
        what = QLabel(_("Which GPUs to buy for a language model. Works offline; nothing leaves this computer."))
        what.setTextFormat(Qt.TextFormat.PlainText)
        what.setWordWrap(True)
        self.text = QPlainTextEdit(self._written(catalog, results))
        self.text.setReadOnly(True)
        self.text.setTabChangesFocus(True)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        buttons.button(QDialogButtonBox.StandardButton.Close).setText(_("Close"))
        buttons.rejected.connect(self.reject)
        column = QVBoxLayout(self)
        column.setContentsMargins(20, 18, 20, 16)
        column.setSpacing(10)
        column.addWidget(title)
        column.addWidget(what)
        column.addWidget(self.text, 1)
        column.addWidget(buttons)
        self.resize(560, 460)

    def _written(self, catalog: Any, results: Results | None) -> str:
        lines = []
        if results is not None:
            lines.append(_("Model version: {version}").format(version=results.model_version))
            lines.append(_("Calibration: {calibration}").format(calibration=results.calibration_id))
        lines.append(_("Catalog of {date}").format(date=catalog.date))
        lines += ["", _("Licence: Apache-2.0"), "", _("Libraries")]
        for name, use, licence in LIBRARIES:
            try:
                version = metadata.version(name)
            except metadata.PackageNotFoundError:
                version = ""
            lines.append(f"  {name} {version}  ({_(use)}; {licence})".replace("  (", " ("))
        lines.append(f"  Qt {qVersion()} (LGPL-3.0)")
        lines += [
            "",
            _("Qt is used under the LGPL: its libraries are separate files and may be replaced by others."),
            _("Figures of the catalog and measured points name their source where they are shown."),
            _("Some measured points come under the Apache License 2.0; MLPerf results name round and submitter."),
        ]
        return "\n".join(lines)
