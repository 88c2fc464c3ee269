"""The workload panel: what is asked for, never how it is run."""

import math
from collections.abc import Callable
from functools import partial
from typing import Any

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import (
    QButtonGroup,
    QCheckBox,
    QFrame,
    QHBoxLayout,
    QLabel,
    QMenu,
    QScrollArea,
    QStackedWidget,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from gpuplanner.i18n import N_, _
from gpuplanner.i18n import format as words
from gpuplanner.model.edit import Path
from gpuplanner.model.plan import (
    ConcurrencyLoad,
    FineTune,
    Plan,
    QueueLoad,
    RateLoad,
    Serve,
    Train,
    UserLoad,
)
from gpuplanner.model.results import Demand, Results
from gpuplanner.ui import icons
from gpuplanner.ui.document import Editor, PlanDocument
from gpuplanner.ui.evaluation import Evaluation
from gpuplanner.ui.fields import (
    Caption,
    ChoiceField,
    DateField,
    FieldRow,
    NameField,
    NumberField,
    QuantityField,
    TextField,
    auto_text,
    icon_button,
    tint,
)
from gpuplanner.ui.theme import Theme, ThemeSource

WIDE = 132

KINDS: dict[str, tuple[str, str, type]] = {
    "serve": (N_("Serve"), "chat", Serve),
    "finetune": (N_("Fine-tune"), "tune", FineTune),
    "train": (N_("Train"), "train", Train),
}
NEW_NAMES = {"serve": N_("Serve a model"), "finetune": N_("Fine-tune a model"), "train": N_("Train a model")}
LOADS: dict[str, tuple[str, type]] = {
    "users": (N_("users"), UserLoad),
    "rate": (N_("request rate"), RateLoad),
    "concurrency": (N_("requests in flight"), ConcurrencyLoad),
    "queue": (N_("queue, always full"), QueueLoad),
}
FORMATS = (
    ("32-bit", N_("32 bit")),
    ("16-bit", N_("16 bit")),
    ("8-bit", N_("8 bit")),
    ("4-bit", N_("4 bit")),
    ("any", N_("any")),
)


class LlmField(NameField):
    """The language models of a workload: one, several ("any of these"), or none for the largest that fits."""

    def read(self, text: str) -> Any:
        parts = [part.strip() for part in text.replace("，", ",").split(",") if part.strip()]
        names = [super(LlmField, self).read(part) for part in parts]
        return None if None in names or not names else tuple(dict.fromkeys(names))

    def write(self, value: Any) -> str:
        return ", ".join(value)

    def of_name(self, name: str) -> Any:
        return (name,)


class LengthSketch(QWidget):
    """How prompt and answer lengths spread, on a logarithmic axis."""

    FIRST, LAST = 30.0, 30_000.0
    TICKS = (100.0, 1_000.0, 10_000.0)

    def __init__(self, theme: ThemeSource) -> None:
        super().__init__()
        self._source = theme
        self._lengths = (1500.0, 0.55, 400.0, 0.55)
        self.setFixedHeight(56)
        theme.changed.connect(self.update)

    def show_lengths(self, prompt: float, prompt_spread: float, answer: float, answer_spread: float) -> None:
        """Draw these means and spreads (standard deviation over mean)."""
        lengths = (prompt, prompt_spread, answer, answer_spread)
        if lengths != self._lengths:
            self._lengths = lengths
            self.update()
        self.setAccessibleName(
            _("Prompts of {prompt} tokens and answers of {answer} tokens on average.").format(
                prompt=words.exact(prompt), answer=words.exact(answer)
            )
        )

    def paintEvent(self, event: QPaintEvent) -> None:
        theme = self._source.theme
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        base = self.height() - 16.5
        prompt, prompt_spread, answer, answer_spread = self._lengths
        for mean, spread, colour, word, left in (
            (answer, answer_spread, theme.text2, _("answer"), answer <= prompt),
            (prompt, prompt_spread, theme.accent, _("prompt"), answer > prompt),
        ):
            self._curve(painter, mean, spread, base, colour, word, left)
        painter.setPen(QPen(theme.line2, 1))
        painter.drawLine(QPointF(0, base), QPointF(self.width(), base))
        painter.setFont(theme.font(10))
        painter.setPen(theme.text3)
        for tick in self.TICKS:
            x = self._x(tick)
            painter.drawText(QRectF(x - 30, base + 2, 60, 14), Qt.AlignmentFlag.AlignHCenter, words.tokens(tick))
        painter.end()

    def _x(self, tokens: float) -> float:
        return math.log(tokens / self.FIRST) / math.log(self.LAST / self.FIRST) * self.width()

    def _curve(
        self, painter: QPainter, mean: float, spread: float, base: float, colour: Any, word: str, left: bool
    ) -> None:
        # A log-normal with this mean and this ratio of standard deviation to mean.
        sigma = max(0.08, math.sqrt(math.log1p(spread * spread)))
        centre = math.log(max(mean, 1)) - sigma * sigma / 2
        height = (base - 13) * min(1.0, 0.52 / sigma) ** 0.4
        span = math.log(self.LAST / self.FIRST)
        line = QPolygonF()
        for step in range(65):
            share = step / 64
            distance = (math.log(self.FIRST) + share * span - centre) / sigma
            line.append(QPointF(share * self.width(), base - height * math.exp(-distance * distance / 2)))
        ground = QPolygonF(line)
        ground.append(QPointF(self.width(), base))
        ground.append(QPointF(0, base))
        painter.setPen(Qt.PenStyle.NoPen)
        faint = type(colour)(colour)
        faint.setAlphaF(0.16)
        painter.setBrush(faint)
        painter.drawPolygon(ground)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(colour, 1.2))
        painter.drawPolyline(line)
        painter.setFont(self._source.theme.font(10))
        peak = (centre - math.log(self.FIRST)) / span * self.width()
        width = painter.fontMetrics().horizontalAdvance(word)
        x = (
            peak - sigma / span * self.width() * 0.6 - width - 4
            if left
            else peak + sigma / span * self.width() * 0.6 + 4
        )
        painter.drawText(QPointF(min(max(x, 0), self.width() - width), 10), word)


class _Derived(QWidget):
    """A figure that follows from the workload: bold, with its unit, not to be edited."""

    def __init__(self, label: str, unit: str) -> None:
        super().__init__()
        self._texts = label, unit
        self.label, self.value, self.unit = QLabel(), QLabel(), QLabel()
        for each in (self.label, self.value, self.unit):
            each.setTextFormat(Qt.TextFormat.PlainText)
        self.label.setProperty("tone", "second")
        self.unit.setProperty("tone", "third")
        self.unit.setFixedWidth(44)
        self.value.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(6)
        layout.addWidget(self.label, 1)
        layout.addWidget(self.value)
        layout.addWidget(self.unit)
        self.setFixedHeight(24)
        self.retranslate()

    def show_value(self, value: float | None, scale: float = 1.0) -> None:
        """Show a figure in SI over `scale`; None hides the row."""
        self.setVisible(value is not None)
        if value is not None:
            text = words.number(value / scale)
            if text != self.value.text():
                self.value.setText(text)
            self.value.setAccessibleName(f"{self.label.text()}: {text} {self.unit.text()}")

    def show_unit(self, unit: str) -> None:
        """Name the unit (a msgid)."""
        self._texts = self._texts[0], unit
        self.unit.setText(_(unit))

    def retranslate(self) -> None:
        label, unit = self._texts
        self.label.setText(_(label))
        self.unit.setText(_(unit))
        self.value.setFont(Theme.font(12, 600))


class _Check(QCheckBox):
    """A yes or no of the plan."""

    def __init__(self, text: str, commit: Callable[[Any], str | None]) -> None:
        super().__init__()
        self._text = text
        self.clicked.connect(lambda checked: commit(bool(checked)))
        self.retranslate()

    def retranslate(self) -> None:
        self.setText(_(self._text))


class _Page(QWidget):
    """The fields of one kind of workload."""

    def __init__(self, panel: "WorkloadPanel", kind: str) -> None:
        super().__init__()
        self.panel, self.kind = panel, kind
        self._parts: list[Any] = []
        # Field name to the field that shows it.
        self.fields: dict[str, Any] = {}
        self.rows: dict[str, FieldRow] = {}
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(12, 4, 4, 12)
        self._column.setSpacing(0)
        self.title = self.row("name", N_("Name"), TextField(self.edit("name", N_("Name"))), wide=True)

    def edit(self, name: str, text: str) -> Editor:
        """Writes a field of the workload shown."""
        return self.panel.document.editor(lambda: (*self.panel.place(), name), lambda: _(text))

    def section(self, text: str) -> Caption:
        """Begin a section."""
        self._column.addSpacing(8)
        caption = Caption(text)
        self._parts.append(caption)
        self._column.addWidget(caption)
        self._column.addSpacing(2)
        return caption

    def row(self, name: str, label: str, field: Any, unit: str = "", wide: bool = False, hint: str = "") -> FieldRow:
        """Add a field with its label."""
        row = FieldRow(label, field, unit, WIDE if wide else 82, 0 if wide else 44, hint)
        self.fields[name], self.rows[name] = field, row
        return self.put(row)

    def put(self, part: Any) -> Any:
        """Add any part."""
        self._parts.append(part)
        self._column.addWidget(part)
        return part

    def rule(self) -> None:
        """A hairline."""
        line = QFrame()
        line.setProperty("rule", True)
        self._column.addSpacing(8)
        self._column.addWidget(line)

    def end(self) -> None:
        """Everything is in: keep it at the top."""
        self._column.addStretch(1)

    def number(self, name: str, label: str, unit: str = "", hint: str = "", **options: Any) -> NumberField:
        """A figure without a unit of its own."""
        field = NumberField(self.edit(name, label), **options)
        self.row(name, label, field, unit, hint=hint)
        return field

    def quantity(
        self, name: str, label: str, unit: str, word: str | None = None, hint: str = "", **options: Any
    ) -> NumberField:
        """A figure in a unit."""
        field = QuantityField(self.edit(name, label), unit, **options)
        self.row(name, label, field, unit if word is None else word, hint=hint)
        return field

    def model_section(self) -> None:
        """The language model, and beside the heading what it is."""
        self._column.addSpacing(8)
        head = QWidget()
        line = QHBoxLayout(head)
        line.setContentsMargins(0, 0, 0, 0)
        caption = Caption(N_("Model"))
        self._parts.append(caption)
        self.shape = QLabel()
        self.shape.setTextFormat(Qt.TextFormat.PlainText)
        self.shape.setProperty("tone", "third")
        line.addWidget(caption)
        line.addStretch(1)
        line.addWidget(self.shape)
        self._column.addWidget(head)
        document = self.panel.document
        field = LlmField(
            self.edit("llm", N_("Model")), partial(document.names, "llm"), partial(document.resolve, "llm"), blank=()
        )
        hint = N_("Several names with commas: any of these will do. Blank: the largest that fits.")
        self.row("llm", N_("Model"), field, wide=True, hint=hint)

    def show(self, workload: Any) -> None:  # type: ignore[override]
        """Show every field of the workload."""
        for name, field in self.fields.items():
            if hasattr(workload, name):
                field.show_value(getattr(workload, name))
        self.fields["llm"].show_blank(_("largest that fits"))
        self.shape.setText(self.panel.shape_of(workload.llm))
        self.shape.setFont(Theme.font(11))

    def retranslate(self) -> None:
        """Show all words in the language in force."""
        for part in self._parts:
            if hasattr(part, "retranslate"):
                part.retranslate()


class _ServePage(_Page):
    def __init__(self, panel: "WorkloadPanel") -> None:
        super().__init__(panel, "serve")
        self.model_section()
        lowest = ChoiceField(self.edit("lowest_format", N_("Lowest weight format")), FORMATS)
        hint = N_("The lowest weight format that is good enough; the fastest at or above it is chosen.")
        self.row("lowest_format", N_("Lowest format"), lowest, wide=True, hint=hint)

        self.section(N_("Requests"))
        self.number("prompt_tokens", N_("Prompt, mean"), N_("tokens"), whole=True, step=100)
        self.number("answer_tokens", N_("Answer, mean"), N_("tokens"), whole=True, step=100)
        self.sketch = self.put(LengthSketch(panel.theme))
        spread = N_("Standard deviation over mean: 0 when all are alike, 1 when they differ widely.")
        self.number("prompt_spread", N_("Prompt spread"), "", spread, step=0.1)
        self.number("answer_spread", N_("Answer spread"), "", spread, step=0.1)
        prefix = N_("Share of the prompt that many requests begin with alike, such as a long instruction.")
        self.quantity("shared_prefix_share", N_("Shared prefix"), "%", hint=prefix, step=5)
        self.number("max_context_tokens", N_("Max context"), N_("tokens"), whole=True, blank="auto", step=1000)

        self.section(N_("Load"))
        self.load_kind = ChoiceField(self._set_load, [(kind, text) for kind, (text, _type) in LOADS.items()])
        self.load_row = self.put(FieldRow(N_("Given as"), self.load_kind, "", WIDE, 0))
        self.loads: dict[str, tuple[str, FieldRow]] = {}
        for kind, name, label, unit in (
            ("users", "users", N_("Users"), N_("staff")),
            ("users", "requests_per_user_peak_hour", N_("Peak requests"), N_("/user/h")),
            ("rate", "requests_s", N_("Request rate"), N_("req/s")),
            ("concurrency", "concurrency", N_("In flight"), N_("requests")),
        ):
            commit = panel.document.editor(self._load_place(name), partial(_, label))
            self.loads[name] = kind, self.put(FieldRow(label, NumberField(commit), unit))
        mean = N_("The mean over the year as a share of the busiest hour; it sets energy and cost per token.")
        self.mean = self.quantity("mean_to_peak", N_("Mean / peak"), "%", hint=mean, step=5)
        self.growth = self.quantity("growth_per_year", N_("Growth / year"), "%", step=5)

        self.section(N_("Targets"))
        self.quantity("first_token_s", N_("First token"), "s", N_("s"), blank=None, step=0.1)
        self.quantity("first_token_percentile", N_("… at percentile"), "%", "%")
        self.quantity("per_token_s", N_("Per token"), "ms", N_("ms"), blank=None, step=5)
        self.quantity("per_token_percentile", N_("… at percentile"), "%", "%")

        self.rule()
        self.section(N_("What this asks for"))
        self.rate = self.put(_Derived(N_("Request rate"), N_("req/s")))
        self.output = self.put(_Derived(N_("Output at peak"), N_("tok/s")))
        self.prefill = self.put(_Derived(N_("Prompts at peak"), N_("tok/s")))
        self.flight = self.put(_Derived(N_("In flight"), N_("requests")))
        self.work = self.put(_Derived(N_("Work per request"), "PFLOP"))
        self.later = self.put(_Derived(N_("Rate at end of term"), N_("req/s")))
        self.end()

    def _load_place(self, name: str) -> Callable[[], Path]:
        return lambda: (*self.panel.place(), "load", name)

    def _set_load(self, kind: str) -> str | None:
        document = self.panel.document
        return document.apply([((*self.panel.place(), "load"), LOADS[kind][1]())], _("Kind of load"))

    def show(self, workload: Serve) -> None:  # type: ignore[override]
        super().show(workload)
        self.load_kind.show_value(workload.load.kind)
        for name, (kind, row) in self.loads.items():
            row.setVisible(kind == workload.load.kind)
            if kind == workload.load.kind:
                row.field.show_value(getattr(workload.load, name))  # type: ignore[attr-defined]
        self.fields["max_context_tokens"].show_blank(auto_text(""))
        for name in ("first_token_s", "per_token_s"):
            self.fields[name].show_blank(_("none"))
        self.sketch.show_lengths(
            workload.prompt_tokens, workload.prompt_spread, workload.answer_tokens, workload.answer_spread
        )

    def show_demand(self, demand: Demand | None) -> None:
        """Show what the workload comes to."""
        self.rate.show_value(demand.requests_s if demand else None)
        self.output.show_value(demand.output_tokens_s if demand else None)
        self.prefill.show_value(demand.prefill_tokens_s if demand else None)
        self.flight.show_value(demand.concurrency if demand else None)
        _show_work(self.work, demand.work_flop_per_request if demand else None)
        self.later.show_value(demand.requests_s_end_of_term if demand else None)


class _LearnPage(_Page):
    """What fine-tuning and training have in common."""

    def time_section(self) -> None:
        self.section(N_("Time"))
        self.row("start", N_("Start"), DateField(self.edit("start", N_("Start")), blank=None), wide=True)
        self.row("deadline", N_("Deadline"), DateField(self.edit("deadline", N_("Deadline")), blank=None), wide=True)
        hint = N_("How long it may take. A deadline on a day counts from the start.")
        self.quantity("deadline_s", N_("Time limit"), "days", N_("days"), hint=hint, blank=None)
        self.rule()
        self.section(N_("What this asks for"))
        self.work = self.put(_Derived(N_("Work in all"), "EFLOP"))
        self.none = QLabel()
        self.none.setProperty("tone", "third")
        self.put(self.none)
        self.end()

    def show(self, workload: Any) -> None:  # type: ignore[override]
        super().show(workload)
        self.fields["global_batch"].show_blank(auto_text(self.panel.batch_of(workload.id)))
        for name in ("start", "deadline"):
            self.fields[name].show_blank(_("not set"))
        self.fields["deadline_s"].show_blank(_("no limit"))

    def show_demand(self, demand: Demand | None) -> None:
        """Show what the workload comes to."""
        work = demand.work_flop_per_request if demand else None
        _show_work(self.work, work)
        self.none.setVisible(work is None)
        self.none.setText(_("Not known before a model is chosen."))


class _FineTunePage(_LearnPage):
    def __init__(self, panel: "WorkloadPanel") -> None:
        super().__init__(panel, "finetune")
        self.model_section()
        self.section(N_("Method"))
        method = ChoiceField(
            self.edit("method", N_("Method")),
            (("full", N_("all weights")), ("lora", "LoRA"), ("qlora", "QLoRA")),
        )
        self.row("method", N_("Method"), method, wide=True)
        self.number("rank", N_("Adapter rank"), whole=True)
        targets = ChoiceField(
            self.edit("adapter_targets", N_("Adapter targets")),
            (("attention", N_("attention")), ("all-linear", N_("all linear layers"))),
        )
        self.row("adapter_targets", N_("Adapters on"), targets, wide=True)
        self.section(N_("Data"))
        tokens = NumberField(self.edit("tokens_per_epoch", N_("Tokens per epoch")), step=1e6)
        self.row("tokens_per_epoch", N_("Tokens / epoch"), tokens, wide=True)
        self.number("epochs", N_("Epochs"))
        self.number("sequence_tokens", N_("Sequence"), N_("tokens"), whole=True, step=512)
        hint = N_("Sequences per step, over all GPUs.")
        self.number("global_batch", N_("Global batch"), N_("seq."), hint, whole=True, blank="auto")
        self.packing = self.put(_Check(N_("Short texts are packed together"), self.edit("packing", N_("Packing"))))
        self.time_section()

    def show(self, workload: FineTune) -> None:  # type: ignore[override]
        super().show(workload)
        for name in ("rank", "adapter_targets"):
            self.rows[name].setVisible(workload.method != "full")
        self.packing.setChecked(workload.packing)


class _TrainPage(_LearnPage):
    def __init__(self, panel: "WorkloadPanel") -> None:
        super().__init__(panel, "train")
        self.model_section()
        self.section(N_("Data"))
        self.row("tokens", N_("Tokens"), NumberField(self.edit("tokens", N_("Tokens")), step=1e9), wide=True)
        self.number("sequence_tokens", N_("Sequence"), N_("tokens"), whole=True, step=512)
        hint = N_("Sequences per step, over all GPUs.")
        self.number("global_batch", N_("Global batch"), N_("seq."), hint, whole=True, blank="auto")
        self.time_section()


_PAGES: dict[str, type[_Page]] = {"serve": _ServePage, "finetune": _FineTunePage, "train": _TrainPage}


def _show_work(row: _Derived, flop: float | None) -> None:
    """Work in the unit that keeps it between 1 and 1,000."""
    if flop is None:
        row.show_value(None)
        return
    for size, unit in ((1e21, "ZFLOP"), (1e18, "EFLOP"), (1e15, "PFLOP"), (1e12, "TFLOP"), (1.0, "FLOP")):
        if flop >= 0.1 * size or size == 1.0:
            row.show_unit(unit)
            row.show_value(flop, size)
            return


class _WorkloadButton(QToolButton):
    """One workload in the list: icon, name, and its kind at the right."""

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("row", True)
        self.setCheckable(True)
        self.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.setIconSize(QSize(14, 14))
        self.setMinimumWidth(60)
        self.kind_label = QLabel(self)
        self.kind_label.setProperty("tone", "third")
        self.kind_label.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 8, 0)
        layout.addStretch(1)
        layout.addWidget(self.kind_label)
        policy = self.sizePolicy()
        policy.setHorizontalPolicy(policy.Policy.Ignored)
        self.setSizePolicy(policy)


class WorkloadPanel(QWidget):
    """Lists the plan's workloads and edits the one shown."""

    def __init__(self, document: PlanDocument, evaluation: Evaluation, theme: ThemeSource) -> None:
        super().__init__()
        self.document, self.evaluation, self.theme = document, evaluation, theme
        self.setObjectName("workload")
        self.setProperty("ground", "panel")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._listed: tuple[tuple[str, str, str], ...] = ()
        self._buttons: dict[str, _WorkloadButton] = {}
        self._group = QButtonGroup(self)
        self.add_button = icon_button("plus", "", self._ask_kind)
        self.more_button = icon_button("more", "", self._ask_more)
        self._list = QVBoxLayout()
        self._list.setContentsMargins(8, 2, 8, 4)
        self._list.setSpacing(2)
        self._empty = QLabel()
        self._empty.setTextFormat(Qt.TextFormat.PlainText)
        self._empty.setWordWrap(True)
        self._empty.setProperty("tone", "third")
        self._empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._empty.setContentsMargins(12, 12, 12, 12)
        self._stack = QStackedWidget()
        self.pages: dict[str, _Page] = {}
        scroll = QScrollArea()
        scroll.setWidgetResizable(True)
        scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        scroll.setWidget(self._stack)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(self._list)
        column.addWidget(self._empty)
        column.addWidget(scroll, 1)
        document.plan_changed.connect(self.show_plan)
        document.workload_changed.connect(self._show_again)
        evaluation.results_changed.connect(self._show_results)
        theme.changed.connect(self._tint)
        self.retranslate()

    # --- for the dock ------------------------------------------------------------

    def title(self) -> str:
        """The dock's title."""
        return _("Workload")

    def header_buttons(self) -> tuple[QToolButton, ...]:
        """Buttons that the dock shows beside its title."""
        return self.add_button, self.more_button

    # --- what the pages ask --------------------------------------------------------

    def place(self) -> Path:
        """Where the workload shown stands in the plan."""
        ids = [workload.id for workload in self.document.plan.workloads]
        return ("workloads", ids.index(self.document.workload))

    def shape_of(self, names: tuple[str, ...]) -> str:
        """What kind of language model it is: "70.6 B · dense · GQA"."""
        if len(names) != 1:
            return ""
        llm = self.document.known().find("llm", names[0])
        if llm is None:
            return ""
        density = _("mixture of experts") if llm.moe else _("dense")
        return f"{words.number(llm.params_total / 1e9)} B · {density} · {llm.attention.kind}"

    def batch_of(self, workload: str) -> str:
        """What the global batch came to, in the scenario selected or else in any."""
        results = self.evaluation.results
        if results is None:
            return ""
        ordered = sorted(results.scenarios, key=lambda scenario: scenario.letter != self.document.selected)
        for scenario in ordered:
            for train in scenario.train:
                if train.workload == workload and train.choice is not None and train.choice.global_batch:
                    return words.exact(train.choice.global_batch)
        return ""

    # --- showing -------------------------------------------------------------------

    def show_plan(self, plan: Plan) -> None:
        """Write the workload shown into the fields, whatever they showed before."""
        listed = tuple((each.id, each.name, each.kind) for each in plan.workloads)
        if listed != self._listed:
            self._list_workloads(listed)
        button = self._buttons.get(self.document.workload)
        if button is not None:
            button.setChecked(True)
        workload = next((each for each in plan.workloads if each.id == self.document.workload), None)
        self._empty.setVisible(workload is None)
        self._stack.setVisible(workload is not None)
        if workload is not None:
            page = self._page(workload.kind)
            if self._stack.currentWidget() is not page:
                self._stack.setCurrentWidget(page)
            page.show(workload)

    def _show_again(self, _workload: str) -> None:
        self.show_plan(self.document.plan)
        if self.evaluation.results is not None:
            self._show_results(self.evaluation.results)

    def _show_results(self, results: Results) -> None:
        workload = next((each for each in self.document.plan.workloads if each.id == self.document.workload), None)
        if workload is None:
            return
        demand = next((each for each in results.demands if each.workload == workload.id), None)
        page: Any = self._page(workload.kind)
        page.show_demand(demand)
        if workload.kind != "serve":
            page.fields["global_batch"].show_blank(auto_text(self.batch_of(workload.id)))

    def retranslate(self) -> None:
        """Show all words in the language in force."""
        self._empty.setText(_("No workload yet. Add one with the plus sign above."))
        for button, tip in ((self.add_button, _("Add a workload")), (self.more_button, _("More"))):
            button.setToolTip(tip)
            button.setAccessibleName(tip)
        for page in self.pages.values():
            page.retranslate()
        self._listed = ()
        self._show_again("")
        self._tint()

    def _page(self, kind: str) -> _Page:
        if kind not in self.pages:
            page = _PAGES[kind](self)  # type: ignore[call-arg]
            self.pages[kind] = page
            self._stack.addWidget(page)
        return self.pages[kind]

    def _list_workloads(self, listed: tuple[tuple[str, str, str], ...]) -> None:
        self._listed = listed
        for button in self._buttons.values():
            self._group.removeButton(button)
            self._list.removeWidget(button)
            button.hide()
            button.deleteLater()
        self._buttons = {}
        for identity, name, kind in listed:
            button = _WorkloadButton()
            text = name or _(KINDS[kind][0])
            button.setText(text)
            button.kind_label.setText(_(KINDS[kind][0]))
            button.setAccessibleName(f"{text}, {_(KINDS[kind][0])}")
            button.setProperty("kind", kind)
            button.clicked.connect(partial(self._clicked, identity))
            self._group.addButton(button)
            self._list.addWidget(button)
            self._buttons[identity] = button
        self._tint()

    def _clicked(self, identity: str, _checked: bool = False) -> None:
        self.document.show_workload(identity)

    def _tint(self, _theme: object = None) -> None:
        theme = self.theme.theme
        for button in self._buttons.values():
            button.setFont(theme.font(12, 600))
            button.setIcon(icons.icon(KINDS[button.property("kind")][1], theme.accent))
        for header in self.header_buttons():
            parent = header.parentWidget()
            if parent is not None:
                tint(parent, theme)

    # --- adding and removing ---------------------------------------------------------

    def add(self, kind: str) -> None:
        """Add a workload of a kind with usual figures."""
        self.document.add_workload(KINDS[kind][2](id=kind, name=_(NEW_NAMES[kind])))

    def _ask_kind(self) -> None:
        menu = QMenu(self)
        for kind, text in NEW_NAMES.items():
            menu.addAction(_(text), partial(self.add, kind))
        menu.exec(self.add_button.mapToGlobal(self.add_button.rect().bottomLeft()))
        menu.deleteLater()

    def _ask_more(self) -> None:
        menu = QMenu(self)
        remove = menu.addAction(_("Remove this workload"), self._remove)
        remove.setEnabled(bool(self.document.workload))
        menu.exec(self.more_button.mapToGlobal(self.more_button.rect().bottomLeft()))
        menu.deleteLater()

    def _remove(self) -> None:
        self.document.remove_workload(self.document.workload)


__all__ = ["LengthSketch", "WorkloadPanel"]
