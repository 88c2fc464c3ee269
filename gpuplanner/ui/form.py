"""Many labelled fields on one page, in sections side by side."""

from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QScrollArea, QVBoxLayout, QWidget

from gpuplanner.ui.fields import Caption, FieldRow

WIDE = 120
ROW_WIDTH = 228
SPACE_BETWEEN = 20


class FieldColumns(QScrollArea):
    """Sections of labelled fields side by side, for the pages of the builder."""

    def __init__(self) -> None:
        super().__init__()
        self.setWidgetResizable(True)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAsNeeded)
        inside = QWidget()
        self._rows = QVBoxLayout(inside)
        self._rows.setContentsMargins(12, 6, 12, 8)
        self._rows.setSpacing(10)
        self._rows.addStretch(1)
        self.begin_row()
        self.setWidget(inside)
        self._column = QVBoxLayout()
        self._parts: list[Any] = []

    def begin_row(self) -> None:
        """Begin a row of sections beneath the last one."""
        self._line = QHBoxLayout()
        self._line.setSpacing(SPACE_BETWEEN)
        self._line.addStretch(1)
        self._rows.insertLayout(self._rows.count() - 1, self._line)

    def section(self, text: str) -> None:
        """Begin a section at the right of the last one."""
        self._column = QVBoxLayout()
        self._column.setSpacing(0)
        caption = Caption(text)
        self._parts.append(caption)
        self._column.addWidget(caption)
        self._column.addStretch(1)
        self._line.insertLayout(self._line.count() - 1, self._column)

    def put(self, part: Any) -> Any:
        """Add a part to the section."""
        self._parts.append(part)
        self._column.insertWidget(self._column.count() - 1, part)
        return part

    def row(
        self, label: str, field: Any, unit: str = "", wide: bool = False, hint: str = "", automatic: bool = False
    ) -> FieldRow:
        """Add a labelled field to the section; an automatic one has room for what "auto" comes to."""
        width, for_unit = (WIDE, 0) if wide else (100, 26) if automatic else (82, 44)
        row = FieldRow(label, field, unit, width, for_unit, hint)
        row.setFixedWidth(ROW_WIDTH)
        return self.put(row)

    def retranslate(self) -> None:
        """Show all words in the language in force."""
        for part in self._parts:
            if hasattr(part, "retranslate"):
                part.retranslate()
