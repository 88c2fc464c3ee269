"""The page of two cards: how many times as fast one is, task by task, beside measured pairs, and where quoted ratios
come from."""

from collections.abc import Mapping
from functools import partial

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from gpuplanner.catalog.query import resolve
from gpuplanner.i18n import _, format, measured, ngettext
from gpuplanner.model.card_ratio import PRECISIONS, CardRatio, Side, TaskRatio
from gpuplanner.report import card_ratio as words
from gpuplanner.report.card_ratio import Found, find
from gpuplanner.ui.background import Background
from gpuplanner.ui.charts.card_ratio import CardRatioChart
from gpuplanner.ui.document import PlanDocument
from gpuplanner.ui.fields import ChoiceField, NameField
from gpuplanner.ui.pages import Page
from gpuplanner.ui.text_table import Cell, Column, TextTable
from gpuplanner.ui.theme import Theme, ThemeSource
from gpuplanner.validation.card_pairs import Pair, Pairs

FIRST, SECOND, LLM = Side("H100 SXM 80GB"), Side("A100 SXM 80GB"), "Llama-3.1-70B"
_PAIRS_LEAST, _PAIRS_MOST = 400, 520


class CardRatioPage(Page):
    """Two cards and a model on top, what is said of them below, then the chart, the table, and the pairs of a task."""

    def __init__(self, document: PlanDocument, theme: ThemeSource) -> None:
        super().__init__(theme)
        self._document = document
        self.sides = [FIRST, SECOND]
        self.llm = LLM
        self.found: Found | None = None
        self._task = ""
        self.work = Background(self)
        self.work.ready.connect(self._arrived)

        self.cards = [
            NameField(partial(self._card_chosen, at), self._card_names, partial(self._resolved, "gpu")) for at in (0, 1)
        ]
        self.precisions = [
            ChoiceField(partial(self._precision_chosen, at), [(name, words.PRECISIONS[name]) for name in PRECISIONS])
            for at in (0, 1)
        ]
        self.model = NameField(self._llm_chosen, self._llm_names, partial(self._resolved, "llm"))
        self.swap_button, self.copy_button = QPushButton(), QPushButton()
        self.swap_button.clicked.connect(self.swap)
        self._against, self._at_model = QLabel(), QLabel()
        line = QHBoxLayout()
        line.setSpacing(6)
        for field in (self.cards[0], self.cards[1], self.model):
            field.setMinimumWidth(150)
            field.setMaximumWidth(260)
        line.addWidget(self.cards[0], 3)
        line.addWidget(self.precisions[0])
        line.addWidget(self._against)
        line.addWidget(self.cards[1], 3)
        line.addWidget(self.precisions[1])
        line.addWidget(self._at_model)
        line.addWidget(self.model, 3)
        line.addWidget(self.swap_button)
        line.addStretch(1)
        line.addWidget(self.copy_button)
        self.body.addLayout(line)

        self.headline, self.claims = QLabel(), QLabel()
        said = _card(self.headline, self.claims)
        self.body.addWidget(said)

        self.chart = CardRatioChart(theme)
        self.chart.explain_requested.connect(lambda key, _what: self.show_task(key))
        self.copy_button.clicked.connect(self.chart.copy)
        self.reasons_title, self.reasons = QLabel(), QLabel()
        self.reasons.setAlignment(Qt.AlignmentFlag.AlignTop)
        why = _card(self.reasons_title, self.reasons)
        why.layout().addStretch(1)  # type: ignore[union-attr]
        _between(why)
        upper = QHBoxLayout()
        upper.setSpacing(8)
        upper.addWidget(_card(self.chart), 2)
        upper.addWidget(why, 1)
        self.body.addLayout(upper, 10)

        self.table, self.pairs = TextTable(theme), TextTable(theme)
        self.table.chosen.connect(self._row_chosen)
        self.pairs.chosen.connect(self._pair_chosen)
        self.pairs_title, self.pair_details = QLabel(), QLabel()
        for label in (
            self.headline, self.claims, self.reasons, self.pairs_title, self.pair_details, self.reasons_title,
            self._against, self._at_model,
        ):  # fmt: skip
            label.setTextFormat(Qt.TextFormat.PlainText)
        for label in (self.headline, self.claims, self.reasons, self.pair_details):
            label.setWordWrap(True)
            label.setTextInteractionFlags(
                Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
            )
        for label in (
            self.headline,
            self.claims,
            self.reasons,
            self.reasons_title,
            self.pairs_title,
            self.pair_details,
        ):
            label.setContentsMargins(12, 4, 12, 4)
        self.claims.setProperty("tone", "second")
        self.pair_details.setProperty("tone", "second")
        lower = QHBoxLayout()
        lower.setSpacing(8)
        lower.addWidget(_card(self.table), 2)
        pairs = _card(self.pairs_title, self.pairs, self.pair_details)
        _between(pairs)
        lower.addWidget(pairs, 1)
        self.body.addLayout(lower, 9)
        self._recompute()

    # --- what is compared --------------------------------------------------------

    def compare(self, first: Side, second: Side, llm: str = "") -> None:
        """Compare these two cards."""
        self.sides = [first, second]
        self.llm = llm or self.llm
        self._recompute()

    def swap(self) -> None:
        """Turn every ratio over."""
        self.compare(self.sides[1], self.sides[0])

    def first(self) -> QWidget:
        return self.cards[0]

    def finish(self) -> None:
        self.work.finish()

    def _card_names(self) -> list[str]:
        return [gpu.name for gpu in self._document.catalog.gpus.values() if not gpu.unlisted]

    def _llm_names(self) -> list[str]:
        return [llm.name for llm in self._document.catalog.llms.values() if not llm.unlisted]

    def _resolved(self, kind: str, text: str) -> str:
        name: str = resolve(self._document.catalog, kind, text).name
        return name

    def _card_chosen(self, at: int, name: str) -> None:
        self.sides[at] = self.sides[at]._replace(gpu=name)
        self._recompute()

    def _precision_chosen(self, at: int, name: str) -> None:
        self.sides[at] = Side(self.sides[at].gpu, next(each for each in PRECISIONS if each == name))
        self._recompute()

    def _llm_chosen(self, name: str) -> None:
        self.llm = name
        self._recompute()

    def _recompute(self) -> None:
        first, second = self.sides
        for field, precision, side in zip(self.cards, self.precisions, self.sides, strict=True):
            field.show_value(side.gpu)
            precision.show_value(side.precision)
        self.model.show_value(self.llm)
        llm, catalog = self.llm, self._document.catalog
        if self.found is not None:
            self.headline.setEnabled(False)
        self.work.start(lambda: find(first, second, llm, catalog))

    def _arrived(self, found: Found) -> None:
        self.found = found
        self.headline.setEnabled(True)
        self._show()

    # --- showing -----------------------------------------------------------------

    def retranslate(self) -> None:
        """Show all words in the language in force."""
        self.show_title(
            _("Compare two cards"),
            _("Equally many cards of each, the same model; ratios with their 80 % band, beside measured pairs."),
        )
        for field, name in zip(self.cards, (_("First card"), _("Second card")), strict=True):
            field.setAccessibleName(name)
        for choice, name in zip(
            self.precisions, (_("Precision of the first card"), _("Precision of the second card")), strict=True
        ):
            choice.retranslate()
            choice.setAccessibleName(name)
        self.model.setAccessibleName(_("Model"))
        self._against.setText(_("against"))
        self._at_model.setText(_("with"))
        self.swap_button.setText(_("Swap"))
        self.copy_button.setText(_("Copy"))
        self.copy_button.setToolTip(_("Copy the picture and the values"))
        self.headline.setFont(Theme.font(14, 600))
        self.reasons_title.setFont(Theme.font(12, 600))
        self.reasons_title.setText(_("How a larger ratio comes about"))
        self.pairs_title.setFont(Theme.font(12, 600))
        self.table.setAccessibleName(_("Tasks"))
        self.pairs.setAccessibleName(_("Measured pairs"))
        self.chart.retranslate()
        self._show()

    def _show(self) -> None:
        if self.found is None:
            self.headline.setText(_("Comparing …"))
            return
        ratio, pairs = self.found
        self.headline.setText(words.headline(ratio))
        self.claims.setText("\n".join(words.claim(claim) for claim in ratio.claims))
        said = words.reasons(ratio)
        self.reasons.setText("\n\n".join(said) if said else _("There is no such case for these cards."))
        self.chart.show_ratios(ratio, pairs)
        self._show_table(ratio, pairs)
        known = [task.key for task in (*ratio.tasks, *ratio.cases)]
        if self._task not in known:
            self._task = next((key for key in known if key in pairs), known[0])
        self.show_task(self._task)

    def _show_table(self, ratio: CardRatio, pairs: Mapping[str, Pairs]) -> None:
        columns = [
            Column(_("Task")), Column(_("Cards of each"), 92, True, True), Column(ratio.first.gpu, 112, True),
            Column(_("Binds"), 118, False, True), Column(ratio.second.gpu, 112, True),
            Column(_("Binds"), 118, False, True),
            Column(_("Ratio"), 62, True), Column(_("80 % band"), 84, True), Column(_("Measured"), 74, True),
            Column(_("Pairs"), 46, True),
        ]  # fmt: skip
        tasks = (*ratio.tasks, *ratio.cases)
        rows, spoken = [], []
        for task in tasks:
            found = pairs.get(task.key)
            rows.append(_cells(task, found))
            spoken.append(words.spoken(task, found.measured if found else None, len(found.pairs) if found else 0))
        self.table.show_rows(columns, rows, spoken)

    def show_task(self, key: str) -> None:
        """List the measured pairs of a task."""
        if self.found is None:
            return
        self._task = key
        ratio, pairs = self.found
        keys = [task.key for task in (*ratio.tasks, *ratio.cases)]
        self.table.choose(keys.index(key) if key in keys else -1)
        found = pairs.get(key)
        name = words.task(key)
        self.pair_details.setText("")
        columns = [
            Column(_("Measured case")), Column(_("Measured"), 72, True), Column(_("Predicted"), 72, True),
        ]  # fmt: skip
        if found is None:
            self.pairs_title.setText(_("{task}: no measured pair").format(task=name))
            self.pairs.show_rows(columns, [])
            self.pair_details.setText(
                _("No source has measured both cards at equal settings in these precisions, or it is not in our rows.")
            )
            return
        self.pairs_title.setText(
            ngettext("{task}: {count} measured pair", "{task}: {count} measured pairs", len(found.pairs)).format(
                task=name, count=format.count(len(found.pairs))
            )
        )
        self.pairs.show_rows(columns, [_pair_cells(pair) for pair in found.pairs])
        if found.predicted is not None:
            self.pair_details.setText(
                _(
                    "Median measured {measured} (10–90 %: {band}); predicted at the same settings by constants that "
                    "have not seen the publisher: {predicted}."
                ).format(
                    measured=format.ratio(found.measured),
                    band=format.band(found.low, found.high),
                    predicted=format.ratio(found.predicted),
                )
            )

    def _row_chosen(self, at: int) -> None:
        if self.found is not None:
            ratio = self.found.ratio
            self.show_task((*ratio.tasks, *ratio.cases)[at].key)

    def _pair_chosen(self, at: int) -> None:
        found = self.found.pairs.get(self._task) if self.found is not None else None
        if found is not None:
            self.pair_details.setText(_pair_details(found.pairs[at]))


def _cells(task: TaskRatio, found: Pairs | None) -> tuple[Cell, ...]:
    low, high = task.ratio.low, task.ratio.high
    band = format.band(low, high) if low is not None and high is not None and low < high else ""
    return (
        Cell(words.task(task.key)),
        Cell(format.count(task.cards)),
        Cell(words.rate(task, task.first)),
        Cell(words.binds(task.first), "second"),
        Cell(words.rate(task, task.second)),
        Cell(words.binds(task.second), "second"),
        Cell(format.ratio(task.ratio.value), bold=True),
        Cell(band, "second"),
        Cell(format.ratio(found.measured) if found else format.NOT_KNOWN),
        Cell(format.count(len(found.pairs)) if found else "0", "second"),
    )


def _pair_cells(pair: Pair) -> tuple[Cell, ...]:
    about = " · ".join(
        part
        for part in (str(pair.first.get("model") or ""), measured.load(pair.first), measured.engine(pair.first))
        if part
    )
    return (
        Cell(about, tip=_pair_details(pair)),
        Cell(format.ratio(pair.measured), bold=True),
        Cell(format.ratio(pair.predicted)),
    )


def _pair_details(pair: Pair) -> str:
    lines = []
    for row in (pair.first, pair.second):
        metric = str(row.get("metric"))
        lines.append(f"{measured.setting(row)}: {measured.value(metric, float(row['value']))}")
    lines.append(_("Source: {text}").format(text=pair.first.get("source")))
    return "\n".join(lines)


def _between(card: QFrame) -> None:
    """Cards at the right give way to the chart and the table in a narrow window."""
    card.setMinimumWidth(_PAIRS_LEAST)
    card.setMaximumWidth(_PAIRS_MOST)


def _card(*inside: QWidget) -> QFrame:
    """A card that holds widgets, one under the other."""
    frame = QFrame()
    frame.setProperty("card", True)
    column = QVBoxLayout(frame)
    column.setContentsMargins(1, 4, 1, 4)
    column.setSpacing(2)
    for each in inside:
        column.addWidget(each)
    return frame
