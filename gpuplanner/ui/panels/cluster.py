"""The cluster builder: the groups of the selected scenario, its network, and the room and money it is judged by."""

import json
import re
from collections.abc import Callable
from functools import partial
from typing import Any, get_args

from pydantic import ValidationError
from PySide6.QtCore import QEvent, QMimeData, QPoint, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QDrag,
    QDragEnterEvent,
    QDragLeaveEvent,
    QDragMoveEvent,
    QDropEvent,
    QEnterEvent,
    QFocusEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QResizeEvent,
)
from PySide6.QtWidgets import (
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QMenu,
    QScrollArea,
    QSizePolicy,
    QStackedWidget,
    QTabBar,
    QVBoxLayout,
    QWidget,
)

from gpuplanner.i18n import N_, _, ngettext
from gpuplanner.i18n import format as words
from gpuplanner.model import edit
from gpuplanner.model.comparison import scenario_name
from gpuplanner.model.edit import Path
from gpuplanner.model.plan import ComputeFormat, Group, KvFormat, Plan, Run, Scenario, Speculation, WeightFormat
from gpuplanner.model.results import Choice, Results, ScenarioResult
from gpuplanner.ui import icons
from gpuplanner.ui.document import Editor, PlanDocument, refusal
from gpuplanner.ui.evaluation import Evaluation
from gpuplanner.ui.fields import (
    Cell,
    ChoiceField,
    DateField,
    MoneyField,
    NameField,
    NumberField,
    QuantityField,
    TextField,
    _LineField,
    auto_text,
    icon_button,
    plain_tip,
    tint,
)
from gpuplanner.ui.theme import Theme, ThemeSource
from gpuplanner.units import BITS_PER_BYTE, M3_H_PER_CFM, SECONDS_PER_HOUR

# What the catalog drags, as JSON {"kind", "name"}; and a group on its way to another place, as its position.
ENTRY_MIME = "application/x-gpuplanner-entry"
GROUP_MIME = "application/x-gpuplanner-group"

CONDITIONS = (("new", N_("new")), ("used", N_("used")), ("owned", N_("owned")), ("rented", N_("rented")))
WEIGHT_FORMATS, COMPUTE_FORMATS, KV_FORMATS = (get_args(kind) for kind in (WeightFormat, ComputeFormat, KvFormat))
FORMAT_NAMES = {
    "bf16": "BF16", "fp16": "FP16", "fp32": "FP32", "tf32": "TF32", "fp8": "FP8", "fp4": "FP4", "int8": "INT8",
    "int4": "INT4", "nvfp4": "NVFP4", "mxfp4": "MXFP4", "nf4": "NF4", "q8_0": "Q8_0", "q6_k": "Q6_K",
    "q5_k_m": "Q5_K_M", "q4_k_m": "Q4_K_M", "q3_k_m": "Q3_K_M", "q2_k": "Q2_K", "q4_0": "Q4_0",
}  # fmt: skip
AUTO = ("auto", N_("auto"))
YES_NO_AUTO = (AUTO, (True, N_("yes")), (False, N_("no")))
SYSTEMS = (("linux", "Linux"), ("windows", "Windows"), ("wsl2", "WSL 2"), ("macos", "macOS"))

_DEGREE = re.compile(r"(tp|pp|dp)\s*=?\s*(\d{1,4})", re.IGNORECASE)

# The racks are drawn beside the groups from this width on.
DRAWING_FROM = 940

# The figures under the groups whose explanation goes by another name.
EXPLAINED = {"load": "load_power"}

# Columns of a group's line: heading and width. [px]
COLUMNS = (
    (N_("Group"), 0),
    (N_("GPUs"), 46),
    (N_("Servers"), 50),
    (N_("Condition"), 74),
    (N_("Split"), 124),
    (N_("Power cap"), 66),
    (N_("Unit price"), 108),
)


def _formats(*names: str) -> tuple[tuple[Any, str], ...]:
    return (AUTO, *((name, FORMAT_NAMES[name]) for name in names))


def split_text(tp: int, pp: int, dp: int) -> str:
    """A split as people write it: "TP4 × DP2"; degrees of one are left out."""
    parts = [f"{name}{size}" for name, size in (("TP", tp), ("PP", pp), ("DP", dp)) if size > 1]
    return " × ".join(parts) or "TP1"


class SplitField(_LineField):
    """How the model is split: "auto", or degrees such as "TP4 × PP2"; what is not named is left to the rule."""

    def __init__(self, commit: Callable[[Any], str | None]) -> None:
        super().__init__(commit, blank=("auto", "auto", "auto"))

    def read(self, text: str) -> Any:
        named = {name.lower(): int(size) for name, size in _DEGREE.findall(text)}
        if not named or re.sub(r"[\s×x*,·]", "", _DEGREE.sub("", text)):
            return None
        return tuple(named.get(name, "auto") for name in ("tp", "pp", "dp"))

    def write(self, value: Any) -> str:
        parts = [f"{name}{size}" for name, size in zip(("TP", "PP", "DP"), value, strict=True) if size != "auto"]
        return " × ".join(parts)

    def not_understood(self) -> str:
        return _("Write the split as TP4 × PP2, or leave it blank.")


class _Fact(QWidget):
    """A figure of the line under the groups: name, value, unit. A click or Enter asks where it comes from."""

    pressed = Signal()

    def __init__(self, label: str, unit: str, theme: ThemeSource) -> None:
        super().__init__()
        self._theme = theme
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self._texts = label, unit
        self.label, self.value, self.unit = QLabel(), QLabel(), QLabel()
        line = QHBoxLayout(self)
        line.setContentsMargins(5, 1, 5, 1)
        line.setSpacing(4)
        for part in (self.label, self.value, self.unit):
            part.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
            part.setTextFormat(Qt.TextFormat.PlainText)
            line.addWidget(part)
        self.label.setProperty("tone", "second")
        self.unit.setProperty("tone", "third")
        self.retranslate()

    def show(self, text: str, tip: str) -> None:  # type: ignore[override]
        """Show a value that is already written."""
        if text != self.value.text():
            self.value.setText(text)
            self.setAccessibleName(f"{self.label.text()}: {text} {self.unit.text()}")
        self.setToolTip(tip)

    def explain_current(self) -> None:
        """Ask where the figure comes from."""
        self.pressed.emit()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton and self.rect().contains(event.position().toPoint()):
            self.pressed.emit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space):
            self.pressed.emit()
        else:
            super().keyPressEvent(event)

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.update()

    def enterEvent(self, event: QEnterEvent) -> None:
        super().enterEvent(event)
        self.update()

    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        theme = self._theme.theme
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if self.hasFocus():
            painter.setPen(QPen(theme.accent, 2))
            painter.drawRoundedRect(QRectF(self.rect()).adjusted(1, 1, -1, -1), 4, 4)
        elif self.underMouse():
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(theme.hover)
            painter.drawRoundedRect(QRectF(self.rect()), 4, 4)
        painter.end()

    def retranslate(self) -> None:
        label, unit = self._texts
        self.label.setText(_(label))
        self.unit.setText(_(unit) if unit else "")
        self.label.setFont(Theme.font(11))
        self.unit.setFont(Theme.font(11))
        self.value.setFont(Theme.font(12, 600))


class _Grip(QWidget):
    """The handle by which a group is dragged to another place."""

    def __init__(self, row: "GroupRow", theme: ThemeSource) -> None:
        super().__init__()
        self._row, self._theme = row, theme
        self._pressed: QPoint | None = None
        self.setFixedSize(14, 26)
        self.setCursor(Qt.CursorShape.OpenHandCursor)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        icons.paint(painter, "grip", QRectF(0, 6, 14, 14), self._theme.theme.text3)
        painter.end()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self._pressed = event.position().toPoint()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if self._pressed is None or (event.position().toPoint() - self._pressed).manhattanLength() < 6:
            return
        self._pressed = None
        data = QMimeData()
        data.setData(GROUP_MIME, str(self._row.index).encode())
        drag = QDrag(self._row)
        drag.setMimeData(data)
        drag.setPixmap(self._row.line_picture())
        drag.exec(Qt.DropAction.MoveAction)


class _Details(QWidget):
    """Everything else about a group: what it is, how it was bought, and how it runs its workload."""

    PER_LINE = 6
    WIDTH = 104

    def __init__(self, row: "GroupRow") -> None:
        super().__init__()
        self._row = row
        document = row.panel.document
        self.group_fields: dict[str, Any] = {}
        self.run_fields: dict[str, Any] = {}
        self._cells: list[Cell] = []
        self._training: list[Cell] = []
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(20, 0, 0, 6)
        self._grid.setHorizontalSpacing(8)
        self._grid.setVerticalSpacing(4)
        self._grid.setColumnStretch(self.PER_LINE, 1)

        def names(kind: str) -> Callable[[], list[str]]:
            return partial(document.names, kind)

        def resolve(kind: str) -> Callable[[str], str]:
            return partial(document.resolve, kind)

        g, r = self._group, self._run
        g("gpu", N_("GPU"), lambda c: NameField(c, names("gpu"), resolve("gpu"), blank=""))
        g("server", N_("Server"), lambda c: NameField(c, names("server"), resolve("server"), blank=""))
        g("cpu", N_("CPU"), lambda c: NameField(c, names("cpu"), resolve("cpu"), blank="auto"))
        g("sockets", N_("Sockets"), lambda c: NumberField(c, whole=True, blank="auto"))
        g("memory_bytes", N_("Memory"), lambda c: QuantityField(c, "GB", blank="auto", step=64), "GB")
        g("os", N_("System"), lambda c: ChoiceField(c, SYSTEMS))
        g("name", N_("Name"), TextField)
        g("vendor", N_("Vendor"), TextField)
        g("quote_date", N_("Quote of"), lambda c: DateField(c, blank=None))
        g("age_years", N_("Age"), lambda c: NumberField(c, blank="auto"), N_("years"))
        g("country", N_("Country"), TextField)
        g("chassis_class", N_("Chassis class"), lambda c: TextField(c, blank="auto"))
        g("notes", N_("Notes"), TextField)
        r("runtime", N_("Runtime"), lambda c: NameField(c, names("runtime"), resolve("runtime"), blank="auto"))
        r("version", N_("Version"), lambda c: TextField(c, blank="auto"))
        r("weights", N_("Weights"), lambda c: ChoiceField(c, _formats(*WEIGHT_FORMATS)))
        r(
            "kv",
            N_("KV cache"),
            lambda c: ChoiceField(c, _formats("bf16", "fp16", "fp8", "int8", "int4", "q8_0", "q4_0")),
        )
        r(
            "compute",
            N_("Compute"),
            lambda c: ChoiceField(c, _formats("fp32", "tf32", "bf16", "fp16", "fp8", "int8", "fp4")),
        )
        r("ep", N_("Expert split"), lambda c: NumberField(c, whole=True, blank="auto"))
        r("cp", N_("Context split"), lambda c: NumberField(c, whole=True, blank="auto"))
        r("attention_dp", N_("Attention DP"), lambda c: ChoiceField(c, YES_NO_AUTO))
        r("max_sequences", N_("Max sequences"), lambda c: NumberField(c, whole=True, blank="auto", step=16))
        r("max_batched_tokens", N_("Max batch tokens"), lambda c: NumberField(c, whole=True, blank="auto", step=1024))
        r("memory_fraction", N_("Memory share"), lambda c: QuantityField(c, "%", blank="auto"), "%")
        r("llm", N_("Model"), lambda c: NameField(c, names("llm"), resolve("llm"), blank="auto"))
        r("pruning_kept", N_("Weights kept"), lambda c: QuantityField(c, "%", step=5), "%")
        r("pruning_2_4", N_("2:4 sparse"), lambda c: ChoiceField(c, ((False, N_("no")), (True, N_("yes")))))
        self.speculation = ChoiceField(
            self._set_speculation,
            (("off", N_("off")), ("draft", N_("draft model")), ("eagle", "EAGLE"), ("mtp", "MTP")),
        )
        self._add(Cell(N_("Speculative"), self.speculation, self.WIDTH))
        self.draft_tokens = NumberField(row.edit_run("speculation", N_("Draft tokens"), "draft_tokens"), whole=True)
        self._add(Cell(N_("Draft tokens"), self.draft_tokens, self.WIDTH))
        acceptance = row.edit_run("speculation", N_("Accepted"), "acceptance")
        self.acceptance = QuantityField(acceptance, "%", blank="auto", step=5)
        self._add(Cell(N_("Accepted"), self.acceptance, self.WIDTH, "%"))
        optimizers = (AUTO, ("adamw", "AdamW"), ("adamw-8bit", N_("AdamW 8 bit")), ("sgd", "SGD"), ("lion", "Lion"))
        sharding = (AUTO, ("zero0", N_("none")), ("zero1", "ZeRO-1"), ("zero2", "ZeRO-2"), ("zero3", "ZeRO-3"))
        recompute = (AUTO, ("none", N_("none")), ("selective", N_("selective")), ("full", N_("full")))
        offload = (AUTO, ("none", N_("none")), ("optimizer", N_("optimizer")), ("weights", N_("weights")))
        r("optimizer", N_("Optimizer"), lambda c: ChoiceField(c, optimizers), training=True)
        r("sharding", N_("Sharding"), lambda c: ChoiceField(c, sharding), training=True)
        r("recompute", N_("Recompute"), lambda c: ChoiceField(c, recompute), training=True)
        r("micro_batch", N_("Micro-batch"), lambda c: NumberField(c, whole=True, blank="auto"), training=True)
        r("interleave", N_("Interleave"), lambda c: NumberField(c, whole=True, blank="auto"), training=True)
        r("offload", N_("Offload"), lambda c: ChoiceField(c, offload), training=True)
        self._shown: list[Cell] = []

    def _group(self, name: str, label: str, make: Callable[[Editor], Any], unit: str = "") -> None:
        field = make(self._row.edit_group(name, label))
        self.group_fields[name] = field
        self._add(Cell(label, field, self.WIDTH, unit))

    def _run(
        self, name: str, label: str, make: Callable[[Editor], Any], unit: str = "", training: bool = False
    ) -> None:
        field = make(self._row.edit_run(name, label))
        self.run_fields[name] = field
        cell = Cell(label, field, self.WIDTH, unit)
        if training:
            self._training.append(cell)
        self._add(cell)

    def _add(self, cell: Cell) -> None:
        # Without a parent a cell that is made visible would flash up as a window of its own.
        cell.setParent(self)
        cell.refused.connect(self._row.show_refusal)
        self._cells.append(cell)

    def _set_speculation(self, kind: str) -> str | None:
        value = None if kind == "off" else Speculation(kind=kind)  # type: ignore[arg-type]
        return self._row.edit_run("speculation", N_("Speculative"))(value)

    def show(self, group: Group, plan: Plan, choice: Choice | None) -> None:  # type: ignore[override]
        """Show everything of the group."""
        run = group.runs[0] if group.runs else None
        workload = next((w for w in plan.workloads if run is not None and w.id == run.workload), None)
        trains = workload is not None and workload.kind != "serve"
        for name, field in self.group_fields.items():
            field.show_value(getattr(group, name))
        for name, text in (("gpu", _("no GPU")), ("server", _("custom box")), ("quote_date", _("no quote"))):
            self.group_fields[name].show_blank(text)
        for name in ("cpu", "sockets", "memory_bytes", "age_years", "chassis_class"):
            self.group_fields[name].show_blank(auto_text(""))
        if run is not None:
            for name, field in self.run_fields.items():
                field.show_value(getattr(run, name))
                if hasattr(field, "show_blank"):
                    field.show_blank(auto_text(_chosen_text(choice, name)))
            self.speculation.show_value("off" if run.speculation is None else run.speculation.kind)
            if run.speculation is not None:
                self.draft_tokens.show_value(run.speculation.draft_tokens)
                self.acceptance.show_value(run.speculation.acceptance)
                self.acceptance.show_blank(auto_text(""))
        self._arrange(run, trains)

    def _arrange(self, run: Run | None, trains: bool) -> None:
        shown: list[Cell] = []
        for cell in self._cells:
            field = cell.field
            of_run = field not in self.group_fields.values()
            speculates = run is not None and run.speculation is not None
            visible = not of_run or run is not None
            if cell in self._training:
                visible = visible and trains
            elif trains and field in (
                self.speculation, self.run_fields["kv"], self.run_fields["attention_dp"],
                self.run_fields["max_sequences"], self.run_fields["max_batched_tokens"],
                self.run_fields["memory_fraction"], self.draft_tokens, self.acceptance,
            ):  # fmt: skip
                visible = False
            if field in (self.draft_tokens, self.acceptance):
                visible = visible and speculates
            cell.setVisible(visible)
            if visible:
                shown.append(cell)
        if shown == self._shown:
            return
        for cell in self._shown:
            self._grid.removeWidget(cell)
        self._shown = shown
        for number, cell in enumerate(shown):
            self._grid.addWidget(cell, number // self.PER_LINE, number % self.PER_LINE)

    def retranslate(self) -> None:
        """Show all words in the language in force."""
        for cell in self._cells:
            cell.retranslate()


def _chosen_text(choice: Choice | None, name: str) -> str:
    """What `auto` came to in a field of a run."""
    if choice is None or not hasattr(choice, name):
        return ""
    value = getattr(choice, name)
    if isinstance(value, bool):
        return _("yes") if value else _("no")
    if isinstance(value, int):
        return words.exact(value) if value else ""
    names = {"zero0": _("none"), "zero1": "ZeRO-1", "zero2": "ZeRO-2", "zero3": "ZeRO-3", "adamw": "AdamW"}
    return FORMAT_NAMES.get(value) or names.get(value) or str(value)


class GroupRow(QWidget):
    """One group of servers."""

    def __init__(self, panel: "ClusterPanel", index: int) -> None:
        super().__init__()
        self.panel, self.index = panel, index
        self.details: _Details | None = None
        self._drop_target = False
        self.grip = _Grip(self, panel.theme)
        self.title, self.subtitle = QLabel(), QLabel()
        for label in (self.title, self.subtitle):
            label.setTextFormat(Qt.TextFormat.PlainText)
            label.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.subtitle.setProperty("tone", "third")
        named = QWidget()
        names = QVBoxLayout(named)
        names.setContentsMargins(0, 0, 0, 0)
        names.setSpacing(0)
        names.addWidget(self.title)
        names.addWidget(self.subtitle)
        named.setMinimumWidth(110)
        self.gpus = NumberField(self.edit_group("gpus_per_server", N_("GPUs per server")), whole=True)
        self.servers = NumberField(self.edit_group("servers", N_("Servers")), whole=True)
        self.condition = ChoiceField(self.edit_group("condition", N_("Condition")), CONDITIONS)
        self.split = SplitField(self._set_split)
        self.cap = QuantityField(self.edit_group("power_cap_w", N_("Power cap")), "W", blank=None, step=10)
        self.price = MoneyField(self.edit_group("price", N_("Unit price")), blank="auto")
        self.unfold = icon_button("down", "", self._toggle)
        self.more = icon_button("more", "", self._ask)
        line = QHBoxLayout()
        line.setContentsMargins(0, 0, 0, 0)
        line.setSpacing(6)
        line.addWidget(self.grip)
        line.addWidget(named, 1)
        fields: tuple[Any, ...] = (self.gpus, self.servers, self.condition, self.split, self.cap, self.price)
        for (_text, width), field in zip(COLUMNS[1:], fields, strict=True):
            field.setFixedWidth(width)
            field.refused.connect(self.show_refusal)
            line.addWidget(field)
        line.addWidget(self.unfold)
        line.addWidget(self.more)
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(4, 2, 4, 2)
        self._column.setSpacing(2)
        self._column.addLayout(line)
        self.sentence = QLabel()
        self.sentence.setTextFormat(Qt.TextFormat.PlainText)
        self.sentence.setProperty("tone", "fail")
        self.sentence.setWordWrap(True)
        self.sentence.setAlignment(Qt.AlignmentFlag.AlignRight)
        self.sentence.hide()
        self._column.addWidget(self.sentence)
        self.retranslate()

    # --- where it writes --------------------------------------------------------

    def place(self) -> Path:
        """Where the group stands in the plan."""
        return (*self.panel.place(), "groups", self.index)

    def edit_group(self, name: str, label: str) -> Editor:
        """Writes a field of the group."""
        return self.panel.document.editor(lambda: (*self.place(), name), lambda: _(label))

    def edit_run(self, name: str, label: str, *inner: str) -> Editor:
        """Writes a field of the group's run."""
        return self.panel.document.editor(lambda: (*self.place(), "runs", 0, name, *inner), lambda: _(label))

    def _set_split(self, value: tuple[Any, Any, Any]) -> str | None:
        group = self.panel.group(self.index)
        if not group.runs:
            return _("This group runs nothing yet.")
        run = group.runs[0]
        try:
            for name, degree in zip(("tp", "pp", "dp"), value, strict=True):
                run = edit.replace(run, (name,), degree)
        except ValidationError as error:
            return refusal(error)
        return self.panel.document.set_value((*self.place(), "runs", 0), run, _("Split"))

    # --- showing ----------------------------------------------------------------

    def show(self, group: Group, plan: Plan, result: ScenarioResult | None) -> None:  # type: ignore[override]
        """Show the group and what its automatic values came to."""
        run = group.runs[0] if group.runs else None
        choice = _choice_of(result, self.index)
        _set_text(self.title, group.name or group.gpu or _("CPU only"))
        _set_text(self.subtitle, _described(group, choice))
        self.gpus.show_value(group.gpus_per_server)
        self.servers.show_value(group.servers)
        self.condition.show_value(group.condition)
        self.split.setEnabled(run is not None)
        self.split.show_value((run.tp, run.pp, run.dp) if run is not None else ("auto", "auto", "auto"))
        chosen = split_text(choice.tp, choice.pp, choice.dp) if choice is not None else ""
        self.split.show_blank(auto_text(chosen) if run is not None else _("runs nothing"))
        self.split.setToolTip(plain_tip(self.split.refusal or auto_text(chosen)))
        self.cap.show_value(group.power_cap_w)
        self.cap.show_blank(_("none"))
        self.price.show_currency(plan.currency)
        self.price.show_value(group.price)
        self.price.show_blank(auto_text(_price_of(result, self.index)))
        if self.details is not None and not self.details.isHidden():
            self.details.show(group, plan, choice)

    def show_refusal(self, sentence: str) -> None:
        """Show what was refused under the line."""
        self.sentence.setText(sentence)
        self.sentence.setVisible(bool(sentence))

    def retranslate(self) -> None:
        """Show all words in the language in force."""
        self.title.setFont(Theme.font(12, 600))
        self.subtitle.setFont(Theme.font(11))
        for field, label, unit in (
            (self.gpus, _("GPUs per server"), ""),
            (self.servers, _("Servers"), ""),
            (self.condition, _("Condition"), ""),
            (self.split, _("Split"), ""),
            (self.cap, _("Power cap"), "W"),
            (self.price, _("Unit price"), ""),
        ):
            field.setAccessibleName(f"{label} [{unit}]" if unit else label)
        self.condition.retranslate()
        for button, tip in ((self.unfold, _("Show or hide the details")), (self.more, _("More"))):
            button.setToolTip(tip)
            button.setAccessibleName(tip)
        if self.details is not None:
            self.details.retranslate()

    def line_picture(self) -> Any:
        """A picture of the line, to drag."""
        return self.grab()

    def mark_as_target(self, marked: bool) -> None:
        """Show that a drop would change this group."""
        if marked != self._drop_target:
            self._drop_target = marked
            self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if self._drop_target:
            painter = QPainter(self)
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(QPen(self.panel.theme.theme.accent, 1.5, Qt.PenStyle.DashLine))
            painter.drawRoundedRect(QRectF(self.rect()).adjusted(1, 1, -1, -1), 5, 5)
            painter.end()

    # --- what can be done ----------------------------------------------------------

    def _toggle(self) -> None:
        if self.details is None:
            self.details = _Details(self)
            self._column.insertWidget(1, self.details)
            self.details.setVisible(True)
        else:
            self.details.setVisible(self.details.isHidden())
        shown = not self.details.isHidden()
        self.unfold.setProperty("icon_name", "up" if shown else "down")
        tint(self, self.panel.theme.theme)
        self.panel.show_plan(self.panel.document.plan)

    def _ask(self) -> None:
        menu = QMenu(self)
        group = self.panel.group(self.index)
        last = len(self.panel.scenario().groups) - 1
        menu.addAction(_("Duplicate group"), self.duplicate)
        menu.addAction(_("Move up"), partial(self.move_to, self.index - 1)).setEnabled(self.index > 0)
        menu.addAction(_("Move down"), partial(self.move_to, self.index + 1)).setEnabled(self.index < last)
        runs = menu.addMenu(_("Runs"))
        running = group.runs[0].workload if group.runs else None
        for workload in self.panel.document.plan.workloads:
            action = runs.addAction(workload.name or workload.id, partial(self.run_workload, workload.id))
            action.setCheckable(True)
            action.setChecked(workload.id == running)
        action = runs.addAction(_("nothing"), partial(self.run_workload, None))
        action.setCheckable(True)
        action.setChecked(running is None)
        reset = menu.addAction(_("Set everything to auto"), self.reset)
        reset.setEnabled(bool(group.runs) and group.runs[0] != Run(workload=group.runs[0].workload))
        menu.addSeparator()
        menu.addAction(_("Remove group"), self.remove)
        menu.exec(self.more.mapToGlobal(self.more.rect().bottomLeft()))
        menu.deleteLater()

    def duplicate(self) -> None:
        """Put a copy of the group behind it."""
        self.panel.document.insert(
            (*self.panel.place(), "groups", self.index + 1), self.panel.group(self.index), _("Duplicate group")
        )

    def move_to(self, target: int) -> None:
        """Put the group at another place."""
        self.panel.document.move(self.place(), target, _("Move group"))

    def remove(self) -> None:
        """Take the group out of the scenario."""
        self.panel.document.remove(self.place(), _("Remove group"))

    def run_workload(self, workload: str | None) -> None:
        """Let the group run another workload, or none. How it ran the old one is not carried over."""
        runs = () if workload is None else (Run(workload=workload),)
        self.panel.document.apply([((*self.place(), "runs"), runs)], _("What the group runs"))

    def reset(self) -> None:
        """Leave every choice of the run to the rules."""
        group = self.panel.group(self.index)
        if group.runs:
            runs = (Run(workload=group.runs[0].workload),)
            self.panel.document.apply([((*self.place(), "runs"), runs)], _("Set everything to auto"))


def _set_text(label: QLabel, text: str) -> None:
    if label.text() != text:
        label.setText(text)
        label.setToolTip(plain_tip(text))


def _choice_of(result: ScenarioResult | None, index: int) -> Choice | None:
    if result is None:
        return None
    serve = next((each.choice for each in result.serve if each.group == index), None)
    return serve or next((each.choice for each in result.train if each.group == index), None)


def _price_of(result: ScenarioResult | None, index: int) -> str:
    """The price that the results took for one server of a group."""
    if result is None:
        return ""
    of_groups = [line for line in result.money.lines if line.key in ("servers", "owned", "rent_per_year")]
    if index >= len(of_groups) or of_groups[index].unit_price.value is None:
        return ""
    return words.money(of_groups[index].unit_price.value, result.money.currency)


def _described(group: Group, choice: Choice | None) -> str:
    """Server, runtime and weights of a group, as they are or as they came to be."""
    parts = [group.server or _("custom box")]
    if choice is not None:
        parts += [choice.runtime, FORMAT_NAMES.get(choice.weights, choice.weights)]
    return " · ".join(part for part in parts if part)


class _DropZone(QWidget):
    """Where a group is added by dropping; says what the drop would come to."""

    def __init__(self, theme: ThemeSource) -> None:
        super().__init__()
        self._theme = theme
        self._active = False
        self._text = ""
        self.setFixedHeight(26)
        theme.changed.connect(self.update)

    def show_text(self, text: str, active: bool) -> None:
        """Show a sentence; `active` while something is dragged over it."""
        if (text, active) != (self._text, self._active):
            self._text, self._active = text, active
            self.setAccessibleName(text)
            self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        theme = self._theme.theme
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(theme.accent if self._active else theme.line2, 1, Qt.PenStyle.DashLine))
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), 5, 5)
        painter.setPen(theme.accent if self._active else theme.text3)
        painter.setFont(theme.font(11))
        painter.drawText(self.rect(), Qt.AlignmentFlag.AlignCenter, self._text)
        painter.end()


class _Badge(QWidget):
    """The letter of the scenario."""

    def __init__(self, theme: ThemeSource) -> None:
        super().__init__()
        self._theme, self._letter = theme, ""
        self.setFixedSize(18, 18)
        theme.changed.connect(self.update)

    def show_letter(self, letter: str) -> None:
        if letter != self._letter:
            self._letter = letter
            self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        if self._letter:
            painter = QPainter(self)
            icons.paint_letter(painter, self._letter, QRectF(0, 0, 18, 18), self._theme.theme)
            painter.end()


class ClusterPanel(QFrame):
    """Builds the selected scenario. Site and economics are pages beside it, given by the window."""

    # Letter of the scenario and key of the figure that is to be explained.
    explain_requested = Signal(str, str)

    def __init__(
        self,
        document: PlanDocument,
        evaluation: Evaluation,
        theme: ThemeSource,
        pages: tuple[tuple[str, QWidget], ...] = (),
        drawing: QWidget | None = None,
        add_group: Callable[[], object] | None = None,
    ) -> None:
        super().__init__()
        self.document, self.evaluation, self.theme = document, evaluation, theme
        self._pages = pages
        self._add_group = add_group
        self.setObjectName("cluster")
        self.setProperty("card", True)
        self.setAcceptDrops(True)
        self.rows: list[GroupRow] = []
        self.badge = _Badge(theme)
        self.name = TextField(document.editor(lambda: (*self.place(), "name"), lambda: _("Scenario name")))
        self.name.setProperty("flat", True)
        self.name.setFixedWidth(150)
        self.tabs = QTabBar()
        self.tabs.setUsesScrollButtons(False)
        self.tabs.setElideMode(Qt.TextElideMode.ElideNone)
        self.tabs.setDrawBase(False)
        self.tabs.setExpanding(False)
        self.said = QLabel()
        self.said.setTextFormat(Qt.TextFormat.PlainText)
        self.said.setProperty("tone", "third")
        self.said.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.said.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        head = QHBoxLayout()
        head.setContentsMargins(12, 2, 12, 0)
        head.setSpacing(6)
        head.addWidget(self.badge)
        head.addWidget(self.name)
        head.addWidget(self.tabs)
        head.addWidget(self.said, 1)

        self._headings = [QLabel() for _column in COLUMNS]
        heading_line = QHBoxLayout()
        heading_line.setContentsMargins(24, 0, 4, 0)
        heading_line.setSpacing(6)
        for label, (_text, width) in zip(self._headings, COLUMNS, strict=True):
            label.setProperty("tone", "third")
            if width:
                label.setFixedWidth(width)
                heading_line.addWidget(label)
            else:
                heading_line.addWidget(label, 1)
        heading_line.addSpacing(2 * 22 + 6)

        inside = QWidget()
        self._groups = QVBoxLayout(inside)
        self._groups.setContentsMargins(8, 0, 8, 0)
        self._groups.setSpacing(0)
        self._groups.addLayout(heading_line)
        self.zone = _DropZone(theme)
        self._groups.addSpacing(2)
        self._groups.addWidget(self.zone)
        self._network = _NetworkLine(self)
        # At the usual height one group fills the view; the network begins under it instead of being cut.
        self._groups.addSpacing(16)
        self._groups.addWidget(self._network)
        self._groups.addStretch(1)
        scroll = QScrollArea()
        scroll.setWidgetResizable(True)
        scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAsNeeded)
        scroll.setWidget(inside)

        self.facts = {
            "load": _Fact(N_("Peak draw"), "kW", theme),
            "nameplate": _Fact(N_("Nameplate"), "kW", theme),
            "heat": _Fact(N_("Heat"), "kBTU/h", theme),
            "air": _Fact(N_("Air"), "CFM", theme),
            "weight": _Fact(N_("Weight"), "kg", theme),
        }
        facts = QHBoxLayout()
        facts.setContentsMargins(7, 1, 7, 5)
        facts.setSpacing(8)
        for name, fact in self.facts.items():
            fact.pressed.connect(partial(self._explain, EXPLAINED.get(name, name)))
            facts.addWidget(fact)
        facts.addStretch(1)

        builder = QWidget()
        left = QVBoxLayout()
        left.setContentsMargins(0, 0, 0, 0)
        left.setSpacing(0)
        left.addWidget(scroll, 1)
        left.addLayout(facts)
        line = QHBoxLayout(builder)
        line.setContentsMargins(0, 0, 0, 0)
        line.setSpacing(0)
        line.addLayout(left, 1)
        self._drawing = drawing
        if drawing is not None:
            line.addWidget(drawing)
        self._stack = QStackedWidget()
        self._stack.addWidget(builder)
        self.tabs.addTab("")
        for _title, page in pages:
            self.tabs.addTab("")
            self._stack.addWidget(page)
        self.tabs.currentChanged.connect(self._stack.setCurrentIndex)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(2)
        column.addLayout(head)
        column.addWidget(self._stack, 1)
        document.plan_changed.connect(self.show_plan)
        document.selection_changed.connect(self._show_again)
        evaluation.results_changed.connect(self._show_results)
        theme.changed.connect(lambda _theme: tint(self, self.theme.theme))
        self.retranslate()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if self._drawing is not None:
            # The fields of a group come first.
            self._drawing.setVisible(self.width() >= DRAWING_FROM)

    def sizeHint(self) -> QSize:
        return QSize(800, 156)

    def minimumSizeHint(self) -> QSize:
        return QSize(560, 120)

    # --- what the rows ask -------------------------------------------------------------

    def place(self) -> Path:
        """Where the selected scenario stands in the plan."""
        index = self.document.scenario_index(self.document.selected)
        return ("scenarios", index if index is not None else 0)

    def scenario(self) -> Scenario:
        """The selected scenario; an empty one where the plan has none."""
        return self.document.selected_scenario or Scenario(letter="A")

    def group(self, index: int) -> Group:
        """A group of the selected scenario."""
        return self.scenario().groups[index]

    # --- showing -------------------------------------------------------------------------

    def show_plan(self, plan: Plan) -> None:
        """Write the selected scenario into the fields, whatever they showed before."""
        scenario = self.document.selected_scenario
        self.badge.show_letter(scenario.letter if scenario else "")
        self.name.setVisible(scenario is not None)
        self.name.show_value(scenario.name if scenario else "")
        groups = scenario.groups if scenario else ()
        while len(self.rows) > len(groups):
            row = self.rows.pop()
            self._groups.removeWidget(row)
            row.hide()
            row.deleteLater()
        while len(self.rows) < len(groups):
            row = GroupRow(self, len(self.rows))
            tint(row, self.theme.theme)
            self.rows.append(row)
            self._groups.insertWidget(len(self.rows), row)
        result = self._result()
        for row, group in zip(self.rows, groups, strict=True):
            row.show(group, plan, result)
        for label in self._headings:
            label.setVisible(bool(groups))
        self._network.show(scenario)
        self._show_zone()
        self._show_facts()

    def _show_again(self, _letter: str) -> None:
        self.show_plan(self.document.plan)

    def _show_results(self, results: Results) -> None:
        result = results.scenario(self.document.selected)
        scenario = self.document.selected_scenario
        if scenario is not None:
            for row, group in zip(self.rows, scenario.groups, strict=False):
                row.show(group, self.document.plan, result)
        self._show_facts()

    def _result(self) -> ScenarioResult | None:
        results = self.evaluation.results
        return results.scenario(self.document.selected) if results is not None else None

    def _show_facts(self) -> None:
        result = self._result()
        for fact in self.facts.values():
            fact.setVisible(result is not None)
        if result is None:
            _set_text(self.said, "")
            return
        room = result.room

        def band(low: float | None, high: float | None, scale: float) -> str:
            if low is None or high is None:
                return _("not known")
            return _("80 % band {band}").format(band=words.band(low / scale, high / scale))

        self.facts["load"].show(words.power_kw(room.it_load_w.value, unit=False), band(*room.it_load_w[1:3], 1e3))
        self.facts["nameplate"].show(
            words.power_kw(room.it_nameplate_w.value, unit=False), band(*room.it_nameplate_w[1:3], 1e3)
        )
        heat, air, weight = room.heat_btu_h, room.airflow_m3_s, room.weight_kg
        kbtu = None if heat.value is None else heat.value / 1e3
        self.facts["heat"].show(words.number(kbtu), band(heat.low, heat.high, 1e3))
        cfm = SECONDS_PER_HOUR / M3_H_PER_CFM
        self.facts["air"].show(
            words.number(None if air.value is None else air.value * cfm), band(air.low, air.high, 1 / cfm)
        )
        self.facts["weight"].show(words.number(weight.value), band(weight.low, weight.high, 1.0))
        name = scenario_name(edit.replace(self.scenario(), ("name",), ""))
        self.name.show_blank(name)
        self.name.setPlaceholderText(name)
        gpus = ngettext("{count} GPU", "{count} GPUs", result.gpus).format(count=words.count(result.gpus))
        servers = ngettext("{count} server", "{count} servers", result.servers).format(
            count=words.count(result.servers)
        )
        _set_text(self.said, f"{gpus} · {servers}")

    def _explain(self, key: str) -> None:
        self.explain_requested.emit(self.document.selected, key)

    def _show_zone(self, text: str = "") -> None:
        if self.document.selected_scenario is None:
            usual = _("Drag a GPU or server here, or press Ctrl+G: the first scenario.")
        else:
            usual = _("Drag a GPU or server here, or press Ctrl+G to add a group")
        self.zone.show_text(text or usual, bool(text))

    def retranslate(self) -> None:
        """Show all words in the language in force."""
        self.tabs.setTabText(0, _("Cluster"))
        for number, (title, page) in enumerate(self._pages, 1):
            self.tabs.setTabText(number, _(title))
            page.retranslate()  # type: ignore[attr-defined]
        for label, (text, _width) in zip(self._headings, COLUMNS, strict=True):
            label.setText(_(text))
            label.setFont(Theme.font(11))
        self.name.setFont(Theme.font(13, 600))
        self.name.setAccessibleName(_("Scenario name"))
        self.said.setFont(Theme.font(11))
        for fact in self.facts.values():
            fact.retranslate()
        for row in self.rows:
            row.retranslate()
        self._network.retranslate()
        self.show_plan(self.document.plan)
        tint(self, self.theme.theme)

    # --- dropping --------------------------------------------------------------------------

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if _entry_of(event.mimeData()) is not None or event.mimeData().hasFormat(GROUP_MIME):
            self.tabs.setCurrentIndex(0)
            event.acceptProposedAction()

    def dragMoveEvent(self, event: QDragMoveEvent) -> None:
        row = self._row_at(event.position().toPoint())
        for each in self.rows:
            each.mark_as_target(each is row)
        entry = _entry_of(event.mimeData())
        if entry is not None:
            self._show_zone(self._preview(entry, row) if row is None else "")
        event.acceptProposedAction()

    def dragLeaveEvent(self, event: QDragLeaveEvent) -> None:
        self._end_drag()

    def dropEvent(self, event: QDropEvent) -> None:
        row = self._row_at(event.position().toPoint())
        self._end_drag()
        entry = _entry_of(event.mimeData())
        if entry is not None:
            self.take(entry, row)
            event.acceptProposedAction()
        elif event.mimeData().hasFormat(GROUP_MIME):
            source = int(bytes(event.mimeData().data(GROUP_MIME).data()).decode())
            target = row.index if row is not None else len(self.rows) - 1
            if source != target:
                self.document.move((*self.place(), "groups", source), target, _("Move group"))
            event.acceptProposedAction()

    def take(self, entry: tuple[str, str], row: GroupRow | None = None) -> str | None:
        """Add a group of a catalog entry, or put the entry into the group of `row`."""
        kind, name = entry
        if row is None:
            if kind == "server":
                return self.document.add_group(self.document.selected, server=name)
            return self.document.add_group(self.document.selected, gpu=name)
        place = row.place()
        if kind == "gpu":
            return self.document.apply([((*place, "gpu"), name)], _("Replace GPU by {name}").format(name=name))
        made = self.document.new_group(None, name)
        edits: list[tuple[Path, Any]] = [
            ((*place, "server"), name),
            ((*place, "gpus_per_server"), made.gpus_per_server),
        ]
        if made.gpu:
            edits.append(((*place, "gpu"), made.gpu))
        return self.document.apply(edits, _("Replace server by {name}").format(name=name))

    def _preview(self, entry: tuple[str, str], row: GroupRow | None) -> str:
        return _("Add a group of {name}").format(name=entry[1])

    def _row_at(self, point: QPoint) -> GroupRow | None:
        widget = self.childAt(point)
        while widget is not None and not isinstance(widget, GroupRow):
            widget = widget.parentWidget()
        return widget

    def _end_drag(self) -> None:
        for row in self.rows:
            row.mark_as_target(False)
        self._show_zone()


def _entry_of(data: QMimeData) -> tuple[str, str] | None:
    """The GPU or server that is dragged."""
    if not data.hasFormat(ENTRY_MIME):
        return None
    try:
        entry = json.loads(bytes(data.data(ENTRY_MIME).data()).decode("utf-8"))
        kind, name = entry["kind"], entry["name"]
    except (ValueError, KeyError, TypeError):
        return None
    return (kind, name) if kind in ("gpu", "server") and isinstance(name, str) else None


class _NetworkLine(QWidget):
    """How the servers of the scenario are joined."""

    def __init__(self, panel: ClusterPanel) -> None:
        super().__init__()
        self._panel = panel
        self.fields: dict[str, Any] = {}
        self._cells: list[Cell] = []
        line = QHBoxLayout(self)
        line.setContentsMargins(24, 4, 4, 0)
        line.setSpacing(8)
        links = (AUTO, ("nvlink", "NVLink"), ("pcie", "PCIe"), ("pcie-no-p2p", N_("PCIe, no peer access")))
        fabrics = (AUTO, ("infiniband", "InfiniBand"), ("roce", "RoCE"), ("ethernet", "Ethernet"))
        for name, label, make, unit in (
            ("in_server", N_("Link in server"), lambda c: ChoiceField(c, links), ""),
            ("fabric", N_("Fabric"), lambda c: ChoiceField(c, fabrics), ""),
            ("nics_per_server", N_("Network cards"), lambda c: NumberField(c, whole=True, blank="auto"), ""),
            ("nic_bits_s", N_("Port speed"), _PortSpeed, "Gb/s"),
            ("rails", N_("Rails"), lambda c: NumberField(c, whole=True, blank="auto"), ""),
            ("oversubscription", N_("Oversubscription"), lambda c: NumberField(c, step=0.5), ""),
        ):
            field = make(panel.document.editor(partial(self._place, name), partial(_, label)))
            self.fields[name] = field
            cell = Cell(label, field, 98, unit)
            self._cells.append(cell)
            line.addWidget(cell)
        line.addStretch(1)

    def _place(self, name: str) -> Path:
        return (*self._panel.place(), "network", name)

    def show(self, scenario: Scenario | None) -> None:  # type: ignore[override]
        """Show the network of the scenario."""
        self.setVisible(scenario is not None)
        if scenario is not None:
            for name, field in self.fields.items():
                field.show_value(getattr(scenario.network, name))
                if name != "oversubscription":
                    field.show_blank(auto_text(""))

    def retranslate(self) -> None:
        for cell in self._cells:
            cell.retranslate()


class _PortSpeed(NumberField):
    """Speed of a network port: bits a second in the plan, Gb/s on the screen."""

    def __init__(self, commit: Callable[[Any], str | None]) -> None:
        super().__init__(commit, "Gb/s", blank="auto", step=100)

    def read(self, text: str) -> Any:
        rate = super().read(text)
        return None if rate is None else rate * BITS_PER_BYTE

    def write(self, value: Any) -> str:
        return words.quantity(value / BITS_PER_BYTE, self.unit)

    def shown(self, value: float) -> float:
        return super().shown(value / BITS_PER_BYTE)

    def of_shown(self, shown: float) -> float:
        return super().of_shown(shown) * BITS_PER_BYTE
