"""The page of accuracy: predicted against measured, the evidence closest to the scenario in hand, errors by family."""

from collections import Counter
from collections.abc import Mapping
from functools import partial
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QScrollArea, QSizePolicy, QVBoxLayout, QWidget

from gpuplanner.i18n import N_, _, facts, format, measured, ngettext
from gpuplanner.model import evidence
from gpuplanner.model.comparison import scenario_name
from gpuplanner.model.evidence import Near
from gpuplanner.model.plan import Serve
from gpuplanner.ui.background import Background
from gpuplanner.ui.charts.accuracy import AccuracyChart, family_in_hand
from gpuplanner.ui.document import PlanDocument
from gpuplanner.ui.evaluation import Evaluation
from gpuplanner.ui.fields import ChoiceField, NameField
from gpuplanner.ui.pages import Page
from gpuplanner.ui.text_table import Cell, Column, TextTable
from gpuplanner.ui.theme import Theme, ThemeSource
from gpuplanner.validation import accuracy
from gpuplanner.validation.accuracy import Choice, Point

SIDE_LEAST, SIDE_MOST = 520, 640
NEAREST = 6
# Figures that rows measure, as keys of the comparison: of serving and of training.
_SERVED = ("output", "first_token", "per_token", "single_stream", "prefill", "memory_used", "energy_per_million")
_TRAINED = ("tokens", "gpu_hours", "memory_used")
# An error within this is good; beyond the second it is far off.
_CLOSE, _FAR = 0.15, 0.35


class AccuracyPage(Page):
    """Left the chart with its filters, right what is closest to the selected scenario and the table of families."""

    def __init__(self, document: PlanDocument, evaluation: Evaluation, theme: ThemeSource) -> None:
        super().__init__(theme)
        self._document, self._evaluation = document, evaluation
        self._points: tuple[Point, ...] = accuracy.points(document.catalog)
        self._by_id = {str(point.row.get("id")): point for point in self._points}
        self._near: tuple[Near, ...] = ()
        self._naive: dict[str, float] = {}
        self.choice = Choice()
        self._key = ""
        self._shown: Mapping[str, Any] | None = None
        self._follows = False
        self.chart = AccuracyChart(theme)
        self.chart.explain_requested.connect(self._point_chosen)

        self.family = ChoiceField(partial(self._choose, "family"), self._families())
        self.card = NameField(
            partial(self._choose, "card"), partial(self._names, "card"), partial(self._resolve, "card"), ""
        )
        self.model = NameField(
            partial(self._choose, "model"), partial(self._names, "model"), partial(self._resolve, "model"), ""
        )
        self.engine = NameField(
            partial(self._choose, "engine"), partial(self._names, "engine"), partial(self._resolve, "engine"), ""
        )
        self.all_button, self.copy_button = QPushButton(), QPushButton()
        self.all_button.clicked.connect(self.show_all)
        self.copy_button.clicked.connect(self.chart.copy)
        filters = QHBoxLayout()
        filters.setContentsMargins(12, 8, 12, 0)
        filters.setSpacing(6)
        self.family.setMinimumWidth(130)
        for field in (self.family, self.card, self.model, self.engine):
            filters.addWidget(field, 1)
        filters.addWidget(self.all_button)
        filters.addWidget(self.copy_button)

        left = QFrame()
        left.setProperty("card", True)
        column = QVBoxLayout(left)
        column.setContentsMargins(0, 0, 0, 4)
        column.addLayout(filters)
        column.addWidget(self.chart, 1)

        self.nearest, self.families = TextTable(theme), TextTable(theme)
        self.nearest.chosen.connect(self._near_chosen)
        self.families.chosen.connect(self._family_chosen)
        self._near_title, self._near_note, self._family_title = QLabel(), QLabel(), QLabel()
        self.figure = ChoiceField(self._figure_chosen, ())
        self.figure.setMinimumWidth(140)
        self.details = QLabel()
        for label in (self._near_title, self._near_note, self._family_title, self.details):
            label.setTextFormat(Qt.TextFormat.PlainText)
        self._near_title.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self._near_note.setProperty("tone", "third")
        for label in (self._near_note, self.details):
            label.setWordWrap(True)
        self.details.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self.details.setAlignment(Qt.AlignmentFlag.AlignTop)
        self.details.setContentsMargins(12, 4, 12, 8)

        right = QVBoxLayout()
        right.setSpacing(8)
        head = QHBoxLayout()
        head.setContentsMargins(12, 8, 12, 0)
        head.addWidget(self._near_title, 1)
        head.addWidget(self.figure)
        right.addWidget(_card(head, self._near_note, self.nearest))
        scroll = QScrollArea()
        scroll.setWidgetResizable(True)
        scroll.setFrameShape(QFrame.Shape.NoFrame)
        scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        scroll.setWidget(self.details)
        scroll.setMinimumHeight(120)
        self._details_box = _card(scroll)
        right.addWidget(self._details_box, 3)
        self._family_title.setContentsMargins(12, 8, 12, 0)
        right.addWidget(_card(self._family_title, self.families), 4)
        side = QWidget()
        side.setLayout(right)
        right.setContentsMargins(0, 0, 0, 0)
        side.setMinimumWidth(SIDE_LEAST)
        side.setMaximumWidth(SIDE_MOST)

        line = QHBoxLayout()
        line.setSpacing(8)
        line.addWidget(left, 3)
        line.addWidget(side, 2)
        self.body.addLayout(line, 1)

        self._rules = Background(self)
        self._rules.ready.connect(self._rules_known)
        catalog = document.catalog
        self._rules.start(lambda: accuracy.rules_of_thumb(catalog))
        document.selection_changed.connect(self._show_nearest)
        document.workload_changed.connect(self._show_nearest)
        evaluation.results_changed.connect(self._show_nearest)
        self.choice = Choice(family=family_in_hand(self._workload()))

    # --- showing -----------------------------------------------------------------

    def retranslate(self) -> None:
        """Show all words in the language in force."""
        publishers = len({str(point.row.get("publisher")) for point in self._points})
        self.show_title(
            _("Accuracy"),
            ngettext(
                "{count} measured row of {publishers} publishers, each predicted by constants that have not seen its "
                "publisher.",
                "{count} measured rows of {publishers} publishers, each predicted by constants that have not seen its "
                "publisher.",
                len(self._points),
            ).format(count=format.count(len(self._points)), publishers=format.count(publishers)),
        )
        self.family.set_items(self._families())
        self.family.setAccessibleName(_("Family of figures"))
        for field, name in (
            (self.card, _("All cards")), (self.model, _("All models")), (self.engine, _("All software")),
        ):  # fmt: skip
            field.show_blank(name)
            field.setAccessibleName(name)
        self.all_button.setText(_("Show all"))
        self.copy_button.setText(_("Copy"))
        self.copy_button.setToolTip(_("Copy the picture and the values"))
        self._family_title.setFont(Theme.font(12, 600))
        self._family_title.setText(_("By family, rows left out"))
        self._near_title.setFont(Theme.font(12, 600))
        self._near_note.setFont(Theme.font(11, 400))
        self._near_note.setContentsMargins(12, 0, 12, 2)
        self.nearest.setAccessibleName(_("Closest evidence"))
        self.families.setAccessibleName(_("Errors by family"))
        self.figure.setAccessibleName(_("The figure that evidence is shown for"))
        self.chart.retranslate()
        self._show_choice()
        self._show_nearest()
        self._show_details(self._shown)

    def first(self) -> QWidget:
        return self.family

    def finish(self) -> None:
        self._rules.finish()

    def show_all(self) -> None:
        """Take every filter away."""
        self.choice = Choice()
        self._show_choice()

    def show_row(self, identity: str) -> None:
        """Show the source of a row. Raises `KeyError` for an unknown one."""
        self._follows = False
        self._show_details(self._by_id[identity].row)

    # --- filters -----------------------------------------------------------------

    def _families(self) -> list[tuple[str, str]]:
        counts = Counter(point.family for point in self._points)
        return [
            ("", N_("All families")),
            *((name, f"{measured.family(name)}  {count}") for name, count in counts.most_common()),
        ]

    def _names(self, name: str) -> list[str]:
        """What there is to choose from, given the other filters; the most frequent first."""
        others = self.choice._replace(**{name: ""})
        counts = Counter(getattr(point, name) for point in self._points if others.takes(point))
        return [each for each, _count in counts.most_common() if each]

    def _resolve(self, name: str, text: str) -> str:
        known = {getattr(point, name).casefold(): getattr(point, name) for point in self._points}
        try:
            return known[text.strip().casefold()]
        except KeyError:
            raise LookupError(_("No measured row names “{name}”.").format(name=text)) from None

    def _choose(self, name: str, value: str) -> None:
        self.choice = self.choice._replace(**{name: value})
        self._show_choice()

    def _show_choice(self) -> None:
        for name, field in (("card", self.card), ("model", self.model), ("engine", self.engine)):
            field.show_value(getattr(self.choice, name))
            field.refill()
        self.family.show_value(self.choice.family)
        chosen = tuple(point for point in self._points if self.choice.takes(point))
        self.chart.show_points(chosen)
        self.all_button.setEnabled(self.choice != Choice())
        self._show_families()

    # --- closest evidence --------------------------------------------------------

    def _workload(self) -> Any:
        plan = self._evaluation.plan or self._document.plan
        return next((each for each in plan.workloads if each.id == self._document.workload), None)

    def _figure_chosen(self, key: str) -> None:
        self._key = key
        self._show_nearest()

    def _show_nearest(self, _changed: object = None) -> None:
        workload = self._workload()
        keys = () if workload is None else _SERVED if isinstance(workload, Serve) else _TRAINED
        self.figure.set_items([(key, facts.metric(key)) for key in keys])
        if keys and self._key not in keys:
            self._key = keys[0]
        self.figure.show_value(self._key)
        self.figure.setVisible(bool(keys))
        plan, results, letter = self._evaluation.plan, self._evaluation.results, self._document.selected
        self._near = ()
        if plan is not None and results is not None and workload is not None:
            self._near = evidence.nearest_to(
                plan, results, letter, workload.id, self._key, self._document.catalog, NEAREST
            )
        scenario = next((each for each in plan.scenarios if each.letter == letter), None) if plan else None
        if scenario is None:
            self._near_title.setText(_("Closest evidence"))
        else:
            self._near_title.setText(
                _("Closest evidence to {letter}, {name}").format(letter=letter, name=scenario_name(scenario))
            )
        self._near_note.setText(self._note())
        columns = [
            Column(_("Measured case")), Column(_("Differs in"), 170), Column(_("Measured"), 96, True),
            Column(_("Error"), 62, True),
        ]  # fmt: skip
        self.nearest.show_rows(columns, [_near_cells(near) for near in self._near], [_spoken(n) for n in self._near])
        self.nearest.setFixedHeight(max(self.nearest.wanted_height(), 40))
        if self._near and (self._shown is None or self._follows):
            # Until a row is chosen, the details are those of the nearest.
            self._follows = True
            self.nearest.choose(0)
            self._show_details(self._near[0].row)

    def _note(self) -> str:
        errors = [abs(near.error) for near in self._near if near.error is not None]
        if not self._near:
            return _("No measured rows are like this figure. Select a scenario that runs a workload.")
        if not errors:
            return _("None of these rows has been predicted.")
        return ngettext(
            "On {count} row like it we were off by {median} in the middle and {largest} at most.",
            "On {count} rows like it we were off by {median} in the middle and {largest} at most.",
            len(errors),
        ).format(
            count=len(errors),
            median=format.percent(sorted(errors)[len(errors) // 2]),
            largest=format.percent(max(errors)),
        )

    def _near_chosen(self, at: int) -> None:
        self._follows = False
        self._show_details(self._near[at].row)

    # --- one row -----------------------------------------------------------------

    def _point_chosen(self, identity: str, _what: str) -> None:
        self.nearest.choose(-1)
        self.show_row(identity)

    def _show_details(self, row: Mapping[str, Any] | None) -> None:
        self._shown = row
        if row is None:
            self.details.setProperty("tone", "third")
            self.details.setText(_("Click a point or a row to see where it was read."))
            self.details.style().polish(self.details)
            return
        metric = str(row.get("metric"))
        point = self._by_id.get(str(row.get("id")))
        lines = [measured.setting(row), measured.load(row)]
        if point is None:
            lines.append(
                _("{metric}: measured {measured}; not predicted").format(
                    metric=measured.metric(metric), measured=measured.value(metric, row.get("value"))
                )
            )
        else:
            lines.append(
                _("{metric}: measured {measured}, predicted {predicted} ({error})").format(
                    metric=measured.metric(metric), measured=measured.value(metric, point.measured),
                    predicted=measured.value(metric, point.predicted), error=measured.error(point.error),
                )
            )  # fmt: skip
        for said, key in (
            (_("Publisher: {text}"), "publisher"), (_("Source: {text}"), "source"), (_("Read at: {text}"), "where"),
            (_("Note: {text}"), "note"), (_("Row: {text}"), "id"),
        ):  # fmt: skip
            if row.get(key):
                lines.append(said.format(text=row[key]))
        self.details.setProperty("tone", "")
        self.details.style().polish(self.details)
        self.details.setText("\n".join(line for line in lines if line))

    # --- families ----------------------------------------------------------------

    def _show_families(self) -> None:
        columns = [
            Column(_("Family")), Column(_("Rows"), 52, True), Column(_("Publishers"), 74, True, True),
            Column(_("Median"), 60, True), Column(_("90 %"), 60, True), Column(_("In band"), 60, True),
            Column(_("Rule of thumb"), 96, True),
        ]  # fmt: skip
        self._scores = accuracy.by_family(self._points)
        rows = []
        for score in self._scores:
            naive = self._naive.get(score.family)
            if naive is not None:
                rule = format.percent(naive)
            else:
                rule = "…" if self._rules.busy else format.NOT_KNOWN
            better = naive is not None and score.median < naive
            rows.append(
                (
                    Cell(measured.family(score.family)),
                    Cell(format.count(score.rows)),
                    Cell(format.count(score.publishers)),
                    Cell(format.percent(score.median), "ok" if better else "", better),
                    Cell(format.percent(score.p90)),
                    Cell(format.percent(score.coverage)),
                    Cell(rule, "second", tip=_("Median error of a rule of thumb on the same rows")),
                )
            )
        self.families.show_rows(columns, rows)
        if self.choice.family:
            names = [score.family for score in self._scores]
            self.families.choose(names.index(self.choice.family) if self.choice.family in names else -1)

    def _family_chosen(self, at: int) -> None:
        self._choose("family", self._scores[at].family)

    def _rules_known(self, naive: dict[str, float]) -> None:
        self._naive = naive
        self._show_families()


def _near_cells(near: Near) -> tuple[Cell, ...]:
    metric = str(near.row.get("metric"))
    about = measured.setting(near.row)
    tip = "\n".join(part for part in (about, measured.load(near.row), str(near.row.get("source") or "")) if part)
    error = abs(near.error) if near.error is not None else None
    tone = "" if error is None else "ok" if error <= _CLOSE else "warn" if error <= _FAR else "fail"
    return (
        Cell(about, tip=tip),
        Cell(measured.what_differs(near.differs), "second"),
        Cell(measured.value(metric, near.measured)),
        Cell(measured.error(near.error), tone, True),
    )


def _spoken(near: Near) -> str:
    return _("{case}. Differs in {what}. Measured {measured}, we were off by {error}.").format(
        case=measured.setting(near.row),
        what=measured.what_differs(near.differs),
        measured=measured.value(str(near.row.get("metric")), near.measured),
        error=measured.error(near.error),
    )


def _card(*inside: Any) -> QFrame:
    """A card that holds widgets and layouts, one under the other."""
    frame = QFrame()
    frame.setProperty("card", True)
    column = QVBoxLayout(frame)
    column.setContentsMargins(1, 1, 1, 4)
    column.setSpacing(2)
    for each in inside:
        column.addWidget(each) if isinstance(each, QWidget) else column.addLayout(each)
    return frame
