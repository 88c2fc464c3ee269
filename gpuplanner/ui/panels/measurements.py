"""Own measurements: the plan's measured rows beside what is predicted for them, typed in, imported, exported.

Every edit goes through the document and is one step of undo. What a row moves is said by the model.
"""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QFileDialog,
    QFrame,
    QHBoxLayout,
    QLabel,
    QListWidget,
    QPushButton,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from gpuplanner.i18n import N_, _, facts, format, measured, ngettext
from gpuplanner.model.case import WEIGHT_FORMATS
from gpuplanner.model.plan import Plan
from gpuplanner.model.results import OwnRow, Results, ServeResult, TrainResult
from gpuplanner.storage.measured_rows import Reading, read_rows, write_rows
from gpuplanner.ui.document import PlanDocument
from gpuplanner.ui.fields import ChoiceField, DateField, NameField, NumberField, TextField
from gpuplanner.ui.form import FieldColumns
from gpuplanner.ui.pages import Page
from gpuplanner.ui.text_table import Cell, Column, TextTable
from gpuplanner.ui.theme import ThemeSource

FORM_HEIGHT = 196
_LABEL, _NUMBER, _TEXT = 132, 78, 184
_NOTES_SHOWN = 60
_MOST_TEXT = 4000

# What can be measured: metric, scope and task of a row, and how the figure is called with its unit.
MEASURED: tuple[tuple[str, str], ...] = (
    ("output_tokens_per_s|system|inference", N_("Output, all users (tok/s)")),
    ("output_tokens_per_s|per_user|inference", N_("Output, one user (tok/s)")),
    ("total_tokens_per_s|system|inference", N_("In and out (tok/s)")),
    ("prefill_tokens_per_s|system|inference", N_("Prompts read (tok/s)")),
    ("ttft_s|system|inference", N_("First token (ms)")),
    ("tpot_s|system|inference", N_("Time per token (ms)")),
    ("tokens_per_s|system|training", N_("Training (tok/s)")),
    ("step_time_s|system|training", N_("Training step (s)")),
    ("tokens_per_s|system|finetune", N_("Fine-tuning (tok/s)")),
    ("power_w_per_gpu|system|power", N_("Power of one card (W)")),
    ("energy_j_per_output_token|system|power", N_("Energy per output token (J)")),
)
_METHODS = ((None, ""), ("full", N_("full")), ("lora", "LoRA"), ("qlora", "QLoRA"))
_FORMATS = ((None, ""), *((name, name.upper()) for name in WEIGHT_FORMATS))
# What a state of a row looks like: a sign, a word, a tone.
_STATES = {
    "counts": ("✓", "ok"),
    "suspect": ("✕", "fail"),
    "shown": ("·", "second"),
    "skipped": ("–", "second"),
}

# Families of times: what is faster is less.
_TIMES = frozenset({"ttft_loaded", "ttft_idle", "serving_tpot"})

Key = tuple[str, ...]


class _Changes:
    """Writes one key of the chosen row; calling it returns the refusal sentence or None."""

    def __init__(self, page: "MeasurementsPage", key: Key, size: Callable[[], float] = lambda: 1.0) -> None:
        self._page, self._key, self._size = page, key, size

    def __call__(self, value: Any) -> str | None:
        if isinstance(value, int | float) and not isinstance(value, bool):
            value = value * self._size() if self._size() != 1.0 else value
            if value < 0:
                return _("Must be at least {limit}.").format(limit="0")
        if isinstance(value, str) and len(value) > _MOST_TEXT:
            return _("At most {limit} characters.").format(limit=format.count(_MOST_TEXT))
        return self._page.change_row({self._key: value})

    def done(self) -> None:
        self._page.document.end_typing()

    def undo(self) -> None:
        self._page.document.undo()

    def redo(self) -> None:
        self._page.document.redo()


class _Part(NamedTuple):
    """A field of the form: the key of the row it shows, and the tasks it belongs to (empty = all)."""

    key: Key
    field: Any
    row: Any
    tasks: frozenset[str]


_SERVING, _TRAINING = frozenset({"inference", "power"}), frozenset({"training", "finetune"})


def value_at(row: Any, key: Key) -> Any:
    """The value of a row at a key, None where it is not stated."""
    for step in key:
        row = row.get(step) if isinstance(row, dict) else None
    return row


def with_value(row: dict[str, Any], key: Key, value: Any) -> dict[str, Any]:
    """A copy of a row with another value at a key; None, or an empty text, takes the key away."""
    step, *rest = key
    inner = value
    if rest:
        record = row.get(step)
        inner = with_value(record if isinstance(record, dict) else {}, tuple(rest), value)
    changed = dict(row)
    if inner is None or inner == "" or inner == {}:
        changed.pop(step, None)
    else:
        changed[step] = inner
    return changed


class ImportPreview(QDialog):
    """What a file holds, before it goes into the plan."""

    def __init__(self, name: str, reading: Reading, new: int, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(_("Import measurements"))
        count = len(reading.rows)
        lines = [
            ngettext("“{file}” holds {count} measured row.", "“{file}” holds {count} measured rows.", count).format(
                file=name, count=format.count(count)
            )
        ]
        if new < count:
            said = ngettext(
                "{count} of them is in the plan already.", "{count} of them are in the plan already.", count - new
            )
            lines.append(said.format(count=format.count(count - new)))
        if reading.refused:
            said = ngettext("{count} row is left out:", "{count} rows are left out:", len(reading.refused))
            lines.append(said.format(count=format.count(len(reading.refused))))
        self.said = QLabel("\n".join(lines))
        self.said.setTextFormat(Qt.TextFormat.PlainText)
        self.said.setWordWrap(True)
        self.refused, self.rows = QListWidget(), QListWidget()
        self.refused.setAccessibleName(_("Rows left out"))
        self.refused.addItems([f"{one.place}: {one.reason}" for one in reading.refused])
        self.refused.setVisible(bool(reading.refused))
        self.rows.setAccessibleName(_("Rows read"))
        self.rows.addItems([described(row) for row in reading.rows[:_NOTES_SHOWN]])
        if count > _NOTES_SHOWN:
            self.rows.addItem("…")
        self.rows.setVisible(bool(count))
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Ok | QDialogButtonBox.StandardButton.Cancel)
        self.take = buttons.button(QDialogButtonBox.StandardButton.Ok)
        self.take.setText(
            ngettext("Add {count} row", "Add {count} rows", new).format(count=format.count(new))
            if new
            else _("Nothing to add")
        )
        self.take.setEnabled(bool(new))
        buttons.button(QDialogButtonBox.StandardButton.Cancel).setText(_("Cancel"))
        buttons.accepted.connect(self.accept)
        buttons.rejected.connect(self.reject)
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 14, 16, 14)
        for part in (self.said, self.refused, self.rows):
            column.addWidget(part)
        column.addWidget(buttons)
        self.resize(620, 420)


def described(row: Any) -> str:
    """A row in one line: what was measured, and of what."""
    metric = row.get("metric")
    name = metric if isinstance(metric, str) else ""
    said = f"{measured.metric(name)} {_value(row, name)}".strip()
    parts = [said, measured.setting(row), measured.load(row)]
    return " · ".join(part for part in parts if part)


def _value(row: Any, metric: str) -> str:
    value = row.get("value")
    return measured.value(metric, value if isinstance(value, bool | int | float) else None)


class MeasurementsPage(Page):
    """The table of own rows, and the form of the one that is chosen."""

    def __init__(self, document: PlanDocument, evaluation: Any, theme: ThemeSource) -> None:
        super().__init__(theme)
        self.document, self._evaluation = document, evaluation
        self.chosen = 0
        self.add_button, self.copy_button, self.remove_button = QPushButton(), QPushButton(), QPushButton()
        self.import_button, self.export_button = QPushButton(), QPushButton()
        bar = QHBoxLayout()
        bar.setContentsMargins(12, 8, 12, 2)
        bar.setSpacing(6)
        for button, run in (
            (self.add_button, self.add), (self.copy_button, self.duplicate), (self.remove_button, self.remove),
            (self.import_button, self.import_asking), (self.export_button, self.export_asking),
        ):  # fmt: skip
            button.clicked.connect(partial(_call, run))
            bar.addWidget(button)
        bar.addStretch(1)
        self.table = TextTable(theme)
        self.table.chosen.connect(self.choose)
        self.said, self.empty = QLabel(), QLabel()
        for label in (self.said, self.empty):
            label.setTextFormat(Qt.TextFormat.PlainText)
            label.setWordWrap(True)
            label.setContentsMargins(12, 4, 12, 8)
        self.said.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.empty.setProperty("tone", "second")
        top = QFrame()
        top.setProperty("card", True)
        column = QVBoxLayout(top)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(bar)
        column.addWidget(self.table, 1)
        column.addWidget(self.empty, 1)
        column.addWidget(self.said)
        self.body.addWidget(top, 1)
        self.form = FieldColumns()
        self.form.setFrameShape(QFrame.Shape.NoFrame)
        self._parts: list[_Part] = []
        self._build_form()
        bottom = QFrame()
        bottom.setProperty("card", True)
        inside = QVBoxLayout(bottom)
        inside.setContentsMargins(0, 0, 0, 0)
        inside.addWidget(self.form)
        bottom.setFixedHeight(FORM_HEIGHT)
        self._bottom = bottom
        self.body.addWidget(bottom)
        document.plan_changed.connect(self.show_plan)
        document.selection_changed.connect(self._show_add)
        evaluation.results_changed.connect(self._show_results)
        self.retranslate()

    # --- the form ----------------------------------------------------------------

    def _build_form(self) -> None:
        form, everything = self.form, frozenset[str]()

        def row(label: str, field: Any) -> Any:
            made = form.row(label, field, wide=True)
            narrow = isinstance(field, NumberField)
            field.setFixedWidth(_NUMBER if narrow else _TEXT)
            made.setFixedWidth(_LABEL + (_NUMBER if narrow else _TEXT))
            return made

        def put(label: str, key: Key, field: Any, tasks: frozenset[str] = everything) -> None:
            self._parts.append(_Part(key, field, row(label, field), tasks))

        def number(label: str, key: Key, tasks: frozenset[str] = everything) -> None:
            put(label, key, NumberField(_Changes(self, key), blank=None), tasks)

        def text(label: str, key: Key) -> None:
            put(label, key, TextField(_Changes(self, key), blank=""))

        def name(label: str, key: Key, kind: str) -> None:
            document = self.document
            field = NameField(
                _Changes(self, key), lambda: document.names(kind), lambda said: document.resolve(kind, said), blank=""
            )
            put(label, key, field)

        form.section(N_("Measured"))
        self.what = ChoiceField(self._metric_chosen, MEASURED)
        row(N_("What"), self.what)
        self.value = NumberField(_Changes(self, ("value",), self._size), blank=None)
        put(N_("Value"), ("value",), self.value)
        text(N_("Source"), ("source",))
        put(N_("Day"), ("date",), DateField(_Changes(self, ("date",)), blank=None))
        text(N_("Note"), ("note",))
        form.section(N_("Hardware"))
        name(N_("Card"), ("gpu",), "gpu")
        number(N_("Cards"), ("gpus",))
        number(N_("Cards per server"), ("gpus_per_node",))
        number(N_("Power cap a card (W)"), ("power_limit_w",))
        form.section(N_("Software"))
        name(N_("Model"), ("model",), "llm")
        self.runtime = NameField(
            self._runtime_chosen, lambda: self.document.names("runtime"),
            lambda said: self.document.resolve("runtime", said), blank="",
        )  # fmt: skip
        put(N_("Runtime"), ("engine", "kind"), self.runtime)
        text(N_("Version"), ("engine", "version"))
        put(N_("Weights"), ("weights",), ChoiceField(_Changes(self, ("weights",)), _FORMATS), _SERVING)
        put(N_("Method"), ("method",), ChoiceField(_Changes(self, ("method",)), _METHODS), frozenset({"finetune"}))
        form.section(N_("Load"))
        number(N_("Prompt tokens"), ("input_tokens",), _SERVING)
        number(N_("Answer tokens"), ("output_tokens",), _SERVING)
        number(N_("Requests in flight"), ("concurrency",), _SERVING)
        number(N_("Fixed batch"), ("batch",), _SERVING)
        number(N_("Requests per second"), ("request_rate",), _SERVING)
        number(N_("Sequence length"), ("seq_len",), _TRAINING)
        number(N_("Global batch"), ("global_batch",), _TRAINING)
        number(N_("Micro-batch"), ("micro_batch",), _TRAINING)
        form.section(N_("Split"))
        for label, key in ((N_("Tensor"), "tp"), (N_("Pipeline"), "pp"), (N_("Data"), "dp"), (N_("Expert"), "ep")):
            number(label, ("parallel", key))

    # --- showing -----------------------------------------------------------------

    def retranslate(self) -> None:
        """Show all words in the language in force."""
        self.show_title(
            _("Own measurements"),
            _("A demo run or benchmark shifts and narrows the figures of like scenarios in this plan, and no others."),
        )
        self.copy_button.setText(_("Duplicate"))
        self.remove_button.setText(_("Remove"))
        self.import_button.setText(_("Import …"))
        self.export_button.setText(_("Export …"))
        self.table.setAccessibleName(_("Own measurements"))
        self.empty.setText(
            _("No measurements yet. Add one from a scenario and type its figure, or import rows (.jsonl, .json, .csv).")
        )
        self.form.retranslate()
        self.what.retranslate()
        self.what.setAccessibleName(_("What"))
        self.show_plan(self.document.plan)

    def first(self) -> QWidget:
        return self.table if self.document.plan.measured else self.add_button

    def show_plan(self, plan: Plan) -> None:
        """Show the rows of the plan, and the form of the chosen one."""
        self.chosen = min(max(self.chosen, 0), max(len(plan.measured) - 1, 0))
        self._show_rows()
        self._show_form()
        self._show_add()

    def _show_results(self, _results: object) -> None:
        self._show_rows()

    def _show_add(self, _letter: object = None) -> None:
        letter = self.document.selected
        self.add_button.setText(_("Add from {letter}").format(letter=letter) if letter else _("Add"))

    def _row(self) -> dict[str, Any]:
        rows = self.document.plan.measured
        return rows[self.chosen] if self.chosen < len(rows) else {}

    def judged(self) -> tuple[OwnRow, ...]:
        """What the model says of the rows; empty while it is not up to date with them."""
        plan, results = self._evaluation.plan, self._evaluation.results
        if plan is None or results is None or plan.measured != self.document.plan.measured:
            return ()
        rows: tuple[OwnRow, ...] = results.own_rows
        return rows

    def _show_rows(self) -> None:
        rows, judged = self.document.plan.measured, self.judged()
        columns = (
            Column(_("State"), 150), Column(_("Measured"), 170), Column(_("Configuration")), Column(_("Load"), 210),
            Column(_("Value"), 110, True), Column(_("Predicted"), 110, True), Column(_("80 % band"), 150, True),
            Column(_("Error"), 70, True),
        )  # fmt: skip
        scroll = self.table.verticalScrollBar().value()
        current = self.table.currentIndex().row()
        self.table.show_rows(
            columns, [self._cells(row, judged[i] if i < len(judged) else None) for i, row in enumerate(rows)]
        )
        if 0 <= current < len(rows):
            self.table.setCurrentIndex(self.table.text_model.index(current, 0))
        self.table.verticalScrollBar().setValue(scroll)
        self.table.choose(self.chosen if rows else -1)
        self.table.setVisible(bool(rows))
        self.empty.setVisible(not rows)
        self._bottom.setVisible(bool(rows))
        for button in (self.copy_button, self.remove_button, self.export_button):
            button.setEnabled(bool(rows))
        self._show_said(judged)

    def _cells(self, row: dict[str, Any], judged: OwnRow | None) -> list[Cell]:
        metric = row.get("metric") if isinstance(row.get("metric"), str) else ""
        assert isinstance(metric, str)
        known = next((text for value, text in MEASURED if value == _metric_of(row)), "")
        name = _(known) if known else measured.metric(metric)
        figure = None if judged is None else judged.predicted
        value, low, high = (None, None, None) if figure is None else figure[:3]
        fit = metric == "fits"
        predicted = measured.value(metric, bool(value) if fit and value is not None else value)
        band, error = format.NOT_KNOWN, format.NOT_KNOWN
        if not fit and low is not None and high is not None:
            band = f"{format.number(low / measured.size(metric))} – {format.number(high / measured.size(metric))}"
        if not fit and judged is not None and value and judged.measured:
            error = measured.error(value / judged.measured - 1.0)
        return [
            self._state(judged), Cell(name), Cell(measured.setting(row)), Cell(measured.load(row), "second"),
            Cell(_value(row, metric), bold=True), Cell(predicted), Cell(band, "second"), Cell(error),
        ]  # fmt: skip

    def _state(self, judged: OwnRow | None) -> Cell:
        if judged is None:
            return Cell("…", "second")
        sign, tone = _STATES[judged.status]
        if judged.status == "counts":
            letters = _(", ").join(judged.scenarios)
            word = _("moves {letters}").format(letters=letters) if letters else _("like no scenario")
            return Cell(f"{sign} {word}", tone if letters else "second", tip=self.reason(judged))
        words = {"suspect": _("suspect"), "shown": _("shown only"), "skipped": _("not understood")}
        if judged.reason.key == "row_without_value":
            words["skipped"] = _("no figure yet")
        return Cell(f"{sign} {words[judged.status]}", tone, tip=self.reason(judged))

    def reason(self, judged: OwnRow) -> str:
        """Why a row moves what it moves, in one sentence."""
        if judged.status != "counts":
            return facts.sentence(judged.reason.key, judged.reason.numbers)
        if judged.scenarios:
            return _("Its like are {letters}: their figures move, and their bands narrow.").format(
                letters=_(", ").join(judged.scenarios)
            )
        return _("No scenario has its kind of card, runtime and model, so it moves none.")

    def _show_said(self, judged: tuple[OwnRow, ...]) -> None:
        """The reason of the chosen row, and what all rows together do to its scenarios."""
        if self.chosen >= len(judged):
            self.said.setText("")
            return
        row = judged[self.chosen]
        lines = [self.reason(row)]
        results: Results = self._evaluation.results
        for letter in row.scenarios:
            scenario = results.scenario(letter)
            runs: list[ServeResult | TrainResult] = [] if scenario is None else [*scenario.serve, *scenario.train]
            lines.extend(f"{letter}: {_shifted(run)}" for run in runs if run.own)
        self.said.setText("\n".join(lines))

    def _show_form(self) -> None:
        row = self._row()
        task = _task_of(row)
        self.what.show_value(_metric_of(row))
        for part in self._parts:
            value = value_at(row, part.key)
            if isinstance(part.field, NumberField):
                number = value if isinstance(value, int | float) and not isinstance(value, bool) else None
                size = self._size() if part.field is self.value else 1.0
                part.field.show_value(number if number is None or size == 1.0 else number / size)
            elif isinstance(part.field, ChoiceField):
                part.field.show_value(value)
            elif isinstance(part.field, DateField):
                part.field.show_value(value if isinstance(value, str) else None)
            else:
                part.field.show_value(value if isinstance(value, str) else "")
            part.row.setVisible(not part.tasks or task in part.tasks)

    def _size(self) -> float:
        """The value of one unit of the figure in the form, in the unit of the rows."""
        metric = self._row().get("metric")
        return measured.size(metric) if isinstance(metric, str) else 1.0

    # --- changes -----------------------------------------------------------------

    def choose(self, row: int) -> None:
        """Show a row in the form."""
        self.document.end_typing()
        self.chosen = row
        self.table.choose(row)
        self._show_form()
        self._show_said(self.judged())

    def change_row(self, values: dict[Key, Any]) -> str | None:
        """Write keys of the chosen row, as one step."""
        row = self._row()
        for key, value in values.items():
            row = with_value(row, key, value)
        return self.document.set_value(("measured", self.chosen), row, _("Own measurements"))

    def _metric_chosen(self, chosen: str) -> str | None:
        metric, scope, task = chosen.split("|")
        # A family that the row names is that of the metric it had.
        values: dict[Key, Any] = {("metric",): metric, ("task",): task, ("family",): None}
        values["scope",] = None if scope == "system" else scope
        said = self.change_row(values)
        self.document.end_typing()
        return said

    def _runtime_chosen(self, name: str) -> str | None:
        return self.change_row({("engine", "kind"): name, ("engine", "name"): name, ("engine", "era"): None})

    def add(self) -> None:
        """Add a row about the selected scenario, without a figure."""
        plan = self.document.plan
        row = row_of_scenario(plan, self._evaluation.results, self.document.selected, _free_id(plan))
        self._inserted(len(plan.measured), row, _("Add a measurement"))
        self.value.setFocus()

    def duplicate(self) -> None:
        """Add a copy of the chosen row."""
        row = {**self._row(), "id": _free_id(self.document.plan)}
        self._inserted(self.chosen + 1, row, _("Duplicate a measurement"))

    def remove(self) -> None:
        """Take the chosen row out of the plan."""
        if self.document.plan.measured:
            self.document.remove(("measured", self.chosen), _("Remove a measurement"))

    def _inserted(self, at: int, row: dict[str, Any], text: str) -> None:
        before = self.chosen
        self.chosen = at
        said = self.document.insert(("measured", at), row, text)
        if said is not None:
            self.chosen = before
            self.said.setText(said)

    def import_asking(self) -> None:
        """Ask for a file, show what it holds, and add it."""
        kinds = _("Measured rows (*.jsonl *.json *.csv)")
        name, _filter = QFileDialog.getOpenFileName(self, _("Import measurements"), "", kinds)
        if name:
            self.import_file(Path(name))

    def import_file(self, path: Path) -> ImportPreview | None:
        """Show what a file holds; its rows go into the plan when that is accepted."""
        try:
            reading = read_rows(path)
        except OSError as error:
            self.said.setText(_("{file} cannot be read: {reason}").format(file=path.name, reason=error.strerror or ""))
            return None
        except ValueError as error:
            self.said.setText(_("{file} cannot be read: {reason}").format(file=path.name, reason=str(error)))
            return None
        present = self.document.plan.measured
        new = tuple(row for row in reading.rows if row not in present)
        preview = ImportPreview(path.name, reading, len(new), self)
        preview.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        preview.accepted.connect(partial(self._take, new))
        preview.open()
        return preview

    def _take(self, rows: tuple[dict[str, Any], ...]) -> None:
        present = self.document.plan.measured
        said = self.document.apply([(("measured",), (*present, *rows))], _("Import measurements"))
        if said is not None:
            self.said.setText(said)
        else:
            self.choose(len(present))

    def export_asking(self) -> None:
        """Ask where to write the rows of the plan."""
        name, _filter = QFileDialog.getSaveFileName(
            self, _("Export measurements"), "measurements.jsonl", _("Measured rows (*.jsonl)")
        )
        if name:
            self.export_file(Path(name))

    def export_file(self, path: Path) -> None:
        """Write the rows of the plan, one a line."""
        try:
            write_rows(path, self.document.plan.measured)
        except OSError as error:
            said = _("{file} cannot be written: {reason}")
            self.said.setText(said.format(file=path.name, reason=error.strerror or str(error)))


def _call(run: Callable[[], object], _checked: bool = False) -> None:
    run()


def _metric_of(row: dict[str, Any]) -> str:
    """The item of `MEASURED` that a row is."""
    metric, scope = row.get("metric"), row.get("scope") or "system"
    task = row.get("task") if row.get("task") in ("training", "finetune") else ""
    for value, _text in MEASURED:
        known, its_scope, its_task = value.split("|")
        if (known, its_scope) == (metric, scope) and (not task or task == its_task or its_task not in _TRAINING):
            return value
    return ""


def _task_of(row: dict[str, Any]) -> str:
    task = row.get("task")
    if task in _TRAINING:
        return str(task)
    chosen = _metric_of(row)
    return chosen.split("|")[2] if chosen else "inference"


def _free_id(plan: Plan) -> str:
    taken = {row.get("id") for row in plan.measured if isinstance(row.get("id"), str)}
    return next(name for n in range(1, len(taken) + 2) if (name := f"own-{n}") not in taken)


def _shifted(run: ServeResult | TrainResult) -> str:
    """What own rows did to each kind of figure of a run, in one line."""
    said = []
    for shift in run.own:
        moved = 1.0 / shift.speed_ratio if shift.family in _TIMES else shift.speed_ratio
        text = _("{family} {shift}, band {before} → {after}").format(
            family=measured.family(shift.family),
            shift=format.signed_percent(moved - 1.0),
            before=format.ratio(shift.unshifted_band_ratio),
            after=format.ratio(shift.band_ratio),
        )
        said.append(text)
    return "; ".join(said)


def row_of_scenario(plan: Plan, results: Results | None, letter: str, identity: str) -> dict[str, Any]:
    """A row that states what a scenario runs, so that only the figure and its source are left to type."""
    row: dict[str, Any] = {"id": identity, "task": "inference", "metric": "output_tokens_per_s"}
    scenario = next((each for each in plan.scenarios if each.letter == letter), None)
    found = None if results is None else results.scenario(letter)
    if scenario is None or found is None:
        return row
    runs: list[ServeResult | TrainResult] = [*found.serve, *found.train]
    run = next((each for each in runs if each.choice is not None), None)
    if run is None or run.choice is None or run.group >= len(scenario.groups):
        return row
    group, choice = scenario.groups[run.group], run.choice
    workload = next(each for each in plan.workloads if each.id == run.workload)
    row.update(
        gpu=group.gpu, gpus=group.gpus_per_server * group.servers, gpus_per_node=group.gpus_per_server,
        model=choice.llm, engine={"kind": choice.runtime, "name": choice.runtime},
        parallel={"tp": choice.tp, "pp": choice.pp, "dp": choice.dp, "ep": choice.ep},
    )  # fmt: skip
    if choice.version:
        row["engine"]["version"] = choice.version
    if group.power_cap_w is not None:
        row["power_limit_w"] = group.power_cap_w
    if workload.kind == "serve":
        row.update(weights=choice.weights, input_tokens=workload.prompt_tokens, output_tokens=workload.answer_tokens)
        if choice.kv:
            row["kv"] = choice.kv
        if isinstance(run, ServeResult) and run.batch >= 1:
            row["concurrency"] = round(run.batch)
        return row
    row.update(
        task="training" if workload.kind == "train" else "finetune", metric="tokens_per_s", compute=choice.compute,
        seq_len=workload.sequence_tokens, global_batch=choice.global_batch, micro_batch=choice.micro_batch,
    )  # fmt: skip
    if workload.kind == "finetune":
        row["method"] = workload.method
    return row
