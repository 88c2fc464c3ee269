"""Enter a card, a language model or a price of one's own, with the catalog's checks beside the fields as one types."""

import datetime
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QDialog,
    QFrame,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QScrollArea,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from gpuplanner import paths
from gpuplanner.catalog import check, load, query, user_entries
from gpuplanner.catalog.load import BadFile, Catalog
from gpuplanner.catalog.schema import Fact, Llm, Source
from gpuplanner.catalog.user_entries import BadEntry
from gpuplanner.i18n import N_, _
from gpuplanner.model import pinning
from gpuplanner.model.plan import Money, Reference
from gpuplanner.ui.document import PlanDocument
from gpuplanner.ui.fields import (
    Caption,
    ChoiceField,
    DateField,
    FieldRow,
    MoneyField,
    NameField,
    NumberField,
    QuantityField,
    TextField,
)
from gpuplanner.ui.theme import ThemeSource

Draft = dict[str, Any]

TITLES = {
    ("gpu", True): N_("Your own card"),
    ("gpu", False): N_("Edit your card"),
    ("llm", True): N_("Your own model"),
    ("llm", False): N_("Edit your model"),
    ("price", True): N_("Your own price"),
    ("price", False): N_("Edit your price"),
}
YES_NO = ((True, N_("yes")), (False, N_("no")))
ATTENTION = (
    ("MHA", "MHA"),
    ("GQA", "GQA"),
    ("MQA", "MQA"),
    ("MLA", "MLA"),
    ("hybrid", N_("hybrid")),
)
LINKS = (("none", N_("PCIe only")), ("nvlink", "NVLink"), ("xgmi", "Infinity Fabric"), ("other", N_("another link")))
PRICE_KINDS = (("gpu", N_("a card")), ("server", N_("a server")), ("cloud-hour", N_("a rented hour")))
PER = {"gpu": "card", "server": "server", "cloud-hour": "hour"}
CONDITIONS = (("new", N_("new")), ("used", N_("used")))


class FieldSpec(NamedTuple):
    """One field of a form. ``key`` is the key of the record, with a dot where it lies deeper. ``unit`` as in
    `i18n.parse`.
    """

    key: str
    label: str
    kind: str = "text"
    unit: str = ""
    word: str = ""
    choices: tuple[tuple[Any, str], ...] = ()
    hint: str = ""
    required: bool = False


class Section(NamedTuple):
    """Fields under one heading. ``only`` (key, value) = shown while the form says so."""

    title: str
    fields: tuple[FieldSpec, ...]
    only: tuple[str, Any] | None = None


def _figure(key: str, label: str, unit: str, word: str = "", hint: str = "", required: bool = False) -> FieldSpec:
    return FieldSpec(key, label, "quantity", unit, word or unit, (), hint, required)


def _whole(key: str, label: str, word: str = "", required: bool = False, hint: str = "") -> FieldSpec:
    return FieldSpec(key, label, "whole", "count", word, (), hint, required)


FORMS: dict[str, tuple[Section, ...]] = {
    "gpu": (
        Section(
            N_("Name"),
            (
                FieldSpec("name", N_("Name"), required=True),
                FieldSpec("aliases", N_("Also called"), hint=N_("Several names with commas.")),
                FieldSpec("vendor", N_("Maker")),
                FieldSpec("architecture", N_("Architecture"), required=True, hint=N_("As in “Hopper (GH100)”.")),
                FieldSpec(
                    "compute_capability",
                    N_("Compute capability"),
                    hint=N_("NVIDIA's number of what the card can run, such as 9.0; blank for other makers."),
                ),
                FieldSpec("form_factor", N_("Form"), hint=N_("PCIe, SXM5, OAM …")),
                FieldSpec("release", N_("Released"), hint=N_("Year and month, such as 2024-02.")),
            ),
        ),
        Section(
            N_("Memory"),
            (
                _figure(
                    "memory_bytes",
                    N_("Memory"),
                    "GiB",
                    "GB",
                    N_("The number on the box. A card's “80 GB” are 80 GiB."),
                    True,
                ),
                FieldSpec("memory_type", N_("Memory type"), hint=N_("HBM3, GDDR6 …")),
                _figure("memory_bandwidth_bytes_s", N_("Bandwidth"), "GB/s"),
            ),
        ),
        Section(
            N_("Dense peaks, without sparsity"),
            tuple(
                _figure(f"peak_flops.{precision}", name, "TFLOPS")
                for precision, name in (
                    ("fp32", "FP32"),
                    ("tf32", "TF32"),
                    ("bf16", "BF16"),
                    ("fp16", "FP16"),
                    ("fp8", "FP8"),
                    ("int8", "INT8"),
                    ("fp4", "FP4"),
                )
            ),
        ),
        Section(
            N_("Power and links"),
            (
                _figure("board_power_w", N_("Board power"), "W"),
                _figure("idle_power_w", N_("Idle power"), "W"),
                FieldSpec("link_kind", N_("Joined by"), "choice", choices=LINKS),
                _figure(
                    "link_one_way_bytes_s",
                    N_("Link, one way"),
                    "GB/s",
                    "",
                    N_("One direction. Makers often print both ways together: halve that."),
                ),
                _whole("link_domain", N_("Cards joined"), hint=N_("8 on a board with switches, 2 with a bridge.")),
                _figure("pcie_one_way_bytes_s", N_("PCIe, one way"), "GB/s"),
            ),
        ),
        Section(N_("Where this was read"), (FieldSpec("source", N_("Source")), FieldSpec("note", N_("Note")))),
    ),
    "llm": (
        Section(
            N_("Name"),
            (
                FieldSpec("name", N_("Name"), required=True),
                FieldSpec("aliases", N_("Also called"), hint=N_("Several names with commas.")),
                FieldSpec("hf_id", N_("Repository")),
                FieldSpec("licence", N_("Licence")),
            ),
        ),
        Section(
            N_("Shape"),
            (
                _whole("layers", N_("Layers"), required=True),
                _whole("hidden", N_("Width"), required=True),
                _whole("heads", N_("Heads"), required=True),
                _whole("kv_heads", N_("KV heads"), required=True),
                _whole("head_dim", N_("Width of a head"), required=True),
                _whole("ffn_width", N_("Feed-forward width")),
                FieldSpec("gated_ffn", N_("Gated feed-forward"), "choice", choices=YES_NO),
                _whole("vocab", N_("Vocabulary"), required=True),
                FieldSpec("tied_embeddings", N_("Tied embeddings"), "choice", choices=YES_NO),
                _whole("max_context", N_("Longest context"), N_("tokens")),
                FieldSpec("native_dtype", N_("Published as"), hint=N_("bf16, fp8 …")),
            ),
        ),
        Section(
            N_("Attention"),
            (
                FieldSpec("attention.kind", N_("Kind"), "choice", choices=ATTENTION),
                _whole("attention.windowed_layers", N_("Windowed layers")),
                _whole("attention.window", N_("Window"), N_("tokens")),
                _whole("attention.linear_layers", N_("Linear layers")),
            ),
        ),
        Section(
            N_("Latent attention"),
            (
                _whole("attention.mla.kv_rank", N_("KV rank"), required=True),
                _whole("attention.mla.query_rank", N_("Query rank")),
                _whole("attention.mla.rope_dim", N_("Rotary width")),
                _whole("attention.mla.nope_dim", N_("Plain width")),
                _whole("attention.mla.value_dim", N_("Value width")),
            ),
            ("attention.kind", "MLA"),
        ),
        Section(N_("Experts"), (FieldSpec("moe", N_("Mixture of experts"), "choice", choices=YES_NO),)),
        Section(
            "",
            (
                _whole("moe.experts", N_("Experts"), required=True),
                _whole("moe.experts_per_token", N_("Used for a token"), required=True),
                _whole("moe.shared_experts", N_("Shared experts")),
                _whole("moe.expert_width", N_("Width of an expert"), required=True),
                _whole("moe.moe_layers", N_("Layers with experts"), required=True),
            ),
            ("moe", True),
        ),
        Section(N_("Where this was read"), (FieldSpec("source", N_("Source")), FieldSpec("note", N_("Note")))),
    ),
    "price": (
        Section(
            N_("What it is for"),
            (
                FieldSpec("kind", N_("Price of"), "choice", choices=PRICE_KINDS),
                FieldSpec("entry", N_("Belongs to"), "name", required=True),
                FieldSpec("condition", N_("Condition"), "choice", choices=CONDITIONS),
            ),
        ),
        Section(
            N_("Price"),
            (
                FieldSpec("amount", N_("Price"), "money", required=True),
                FieldSpec("low", N_("At least"), "money"),
                FieldSpec("high", N_("At most"), "money"),
                FieldSpec("date", N_("Seen on"), "date", required=True),
                FieldSpec("region", N_("Region")),
            ),
        ),
        Section(
            N_("Where this was read"),
            (
                FieldSpec("source", N_("Source"), hint=N_("Vendor and number of the quote.")),
                FieldSpec("note", N_("Note")),
            ),
        ),
    ),
}


# --- from record to draft and back ---------------------------------------------


def specs(kind: str) -> Iterable[FieldSpec]:
    """Every field of a form."""
    for section in FORMS[kind]:
        yield from section.fields


def draft_of(kind: str, entry: Any, currency: str, today: datetime.date) -> Draft:
    """What the form shows for a record, or for a new one where `entry` is None."""
    draft: Draft = {spec.key: None for spec in specs(kind)}
    if kind == "price":
        draft.update(kind="gpu", condition="new", date=today.isoformat(), amount=None)
    elif kind == "gpu":
        draft.update(link_kind="none")
    else:
        draft.update({"gated_ffn": True, "tied_embeddings": False, "attention.kind": "GQA", "moe": False})
    if entry is None:
        return draft
    for spec in specs(kind):
        if spec.key in ("source", "moe"):
            continue
        value = _at(entry, spec.key)
        if isinstance(value, Fact):
            value = value.value
        elif spec.key == "aliases":
            value = ", ".join(value)
        elif spec.kind == "money" and value is not None:
            value = Money(amount=value, currency=entry.currency)
        draft[spec.key] = value
    if kind == "llm":
        draft["moe"] = entry.moe is not None
    return draft


def _at(record: Any, key: str) -> Any:
    for step in key.split("."):
        if record is None:
            return None
        record = record.get(step) if isinstance(record, Mapping) else getattr(record, step, None)
    return record


def data_of(kind: str, draft: Draft, original: Any, identity: str, source: str) -> dict[str, Any]:
    """The record's data that a draft stands for.

    A figure that `original` has with the same value keeps its source and mark; every other figure is read in
    `source`, or is unverified where that is empty.
    """
    if kind == "price":
        return _price_data(draft, original, identity, source)
    data: dict[str, Any] = {} if original is None else original.model_dump(mode="json", exclude_defaults=True)
    data["id"] = identity
    fact_keys = _fact_keys(kind)
    for spec in specs(kind):
        if spec.key in ("source", "moe") or (spec.key.startswith("moe.") and not draft.get("moe")):
            continue
        if spec.key.startswith("attention.mla.") and draft.get("attention.kind") != "MLA":
            continue
        value = draft.get(spec.key)
        if spec.key == "aliases":
            value = [name.strip() for name in (value or "").split(",") if name.strip()] or None
        elif isinstance(value, str):
            value = value.strip() or None
        elif value is not None and spec.key in fact_keys:
            kept = _at(original, spec.key)
            if isinstance(kept, Fact) and kept.value == value:
                value = kept.model_dump(mode="json")
            else:
                mark = "primary" if source else "unverified"
                value = {"value": value, "source": source or "unverified", "mark": mark}
        _put(data, spec.key, value)
    if source:
        data["sources"] = [*dict.fromkeys((*(original.sources if original is not None else ()), source))]
    if kind == "llm":
        _finish_llm(data, draft)
    return data


def _fact_keys(kind: str) -> frozenset[str]:
    return frozenset(spec.key for spec in specs(kind) if spec.kind == "quantity") if kind == "gpu" else frozenset()


def _put(data: dict[str, Any], key: str, value: Any) -> None:
    *parents, last = key.split(".")
    for parent in parents:
        data = data.setdefault(parent, {})
    if value is None:
        data.pop(last, None)
    else:
        data[last] = value


def _finish_llm(data: dict[str, Any], draft: Draft) -> None:
    """Fill in what follows from the shape: full layers, and the parameters."""
    attention = data.setdefault("attention", {})
    layers = data.get("layers")
    if isinstance(layers, int):
        others = sum(attention.get(key) or 0 for key in ("windowed_layers", "linear_layers"))
        attention["full_layers"] = max(0, layers - others)
    if attention.get("kind") != "MLA":
        attention.pop("mla", None)
    if not draft.get("moe"):
        data.pop("moe", None)
    data.update(params_total=0.0, params_active=0.0, params_basis="computed")
    try:
        shape = user_entries.validate("llm", data)
    except BadEntry:
        return
    assert isinstance(shape, Llm)
    data["params_total"], data["params_active"] = map(float, check.count_params(shape))


def _price_data(draft: Draft, original: Any, identity: str, source: str) -> dict[str, Any]:
    data: dict[str, Any] = {} if original is None else original.model_dump(mode="json", exclude_defaults=True)
    entry = (draft.get("entry") or "").strip()
    kind = draft["kind"]
    data.update(
        id=identity,
        item=entry or data.get("item", ""),
        entry=entry or None,
        kind=kind,
        per=PER.get(kind, "unit"),
        condition=draft["condition"],
        price_kind=data.get("price_kind") or "market",
        gpu=entry if kind == "gpu" and entry else data.get("gpu"),
        source=source or data.get("source") or "unverified",
    )
    if kind == "gpu":
        data.setdefault("gpus", 1)
    for key in ("amount", "low", "high"):
        money = draft.get(key)
        data[key] = None if money is None else money.amount
        if key == "amount" and money is not None:
            data["currency"] = money.currency
    for key in ("date", "region", "note"):
        data[key] = draft.get(key) or ""
    return {key: value for key, value in data.items() if value is not None}


class Remark(NamedTuple):
    """Something about one field: an error, or a figure without a source. ``key`` empty = about the entry as a whole."""

    level: str
    key: str
    text: str


def judge(kind: str, draft: Draft, data: Mapping[str, Any], catalog: Catalog) -> tuple[Any, list[Remark]]:
    """The record that the data stands for (None if it cannot be one) and everything to say about it."""
    money = {draft[key].currency for key in ("amount", "low", "high") if kind == "price" and draft.get(key)}
    if len(money) > 1:
        return None, [Remark("error", "low", _("All three amounts must be in one currency."))]
    missing = [spec for spec in specs(kind) if spec.required and _needed(spec, draft) and _blank(draft.get(spec.key))]
    if missing:
        return None, [Remark("missing", spec.key, _("Needed.")) for spec in missing]
    try:
        record = user_entries.validate(kind, data)
    except BadEntry as error:
        return None, [Remark("error", _field_of(kind, key), text) for key, text in error.problems]
    if kind == "gpu":
        others = {name: gpu for name, gpu in catalog.gpus.items() if name != record.name}
        issues: Sequence[check.Issue] = check.check_gpu(record, others)
    elif kind == "llm":
        issues = check.check_llm(record)
    else:
        issues = tuple(check.check_price(record, catalog))
    remarks = [Remark(issue.level, _field_of(kind, issue.key), issue.message) for issue in issues]
    said = {remark.key for remark in remarks}
    for key, fact in check.facts(record):
        if fact.mark == "unverified" and key not in said:
            remarks.append(Remark("unverified", _field_of(kind, key), _("Unverified: no source is named.")))
    if kind == "price" and record.source == "unverified":
        remarks.append(Remark("unverified", "source", _("Unverified: no source is named.")))
    return record, remarks


def _needed(spec: FieldSpec, draft: Draft) -> bool:
    for form in FORMS.values():
        for section in form:
            if spec in section.fields and section.only is not None:
                key, value = section.only
                return draft.get(key) == value
    return True


def _blank(value: Any) -> bool:
    return value is None or (isinstance(value, str) and not value.strip())


def _field_of(kind: str, key: str) -> str:
    """The field of the form that a key of the record belongs to; empty for the entry as a whole."""
    if kind == "price" and key.startswith("price."):
        return "amount"
    keys = [spec.key for spec in specs(kind)]
    while key and key not in keys:
        key = key.rpartition(".")[0]
    return key


# --- the window ----------------------------------------------------------------


class EntryRow(FieldRow):
    """A field with what is refused, wrong or unverified beneath it, each with its shape and colour."""

    def __init__(self, label: str, field: QWidget, unit: str, hint: str) -> None:
        self._refused, self._remark = "", ("", "")
        super().__init__(label, field, unit, 190, 52, hint)

    def show_refusal(self, sentence: str) -> None:
        self._refused = sentence
        self._write()

    def show_remark(self, level: str, text: str) -> None:
        """Say what a check found; empty takes it away."""
        self._remark = level, text
        self._write()

    def _write(self) -> None:
        level, text = ("error", self._refused) if self._refused else self._remark
        shape, tone = {"error": ("✕ ", "fail"), "unverified": ("◇ ", "warn")}.get(level, ("", "third"))
        shown = f"{shape}{text}" if text else ""
        if shown == self.sentence.text() and tone == self.sentence.property("tone"):
            return
        self.sentence.setProperty("tone", tone)
        self.sentence.style().unpolish(self.sentence)
        self.sentence.style().polish(self.sentence)
        super().show_refusal(shown)


class LabelField(QuantityField):
    """Memory as the box of a card prints it: its "80 GB" are 80 GiB."""

    def read(self, text: str) -> Any:
        return super().read(re.sub(r"(?i)(?<=[\d\s])([gt])b\b", r"\1iB", text))


class EntryDialog(QDialog):
    """A form for one entry. What does not check out is said at once; saving writes the user's own catalog."""

    saved = Signal(str, str)

    def __init__(
        self,
        document: PlanDocument,
        theme: ThemeSource,
        kind: str,
        entry: Any = None,
        parent: QWidget | None = None,
        folder: Path | None = None,
    ) -> None:
        super().__init__(parent)
        self.document, self.theme, self.kind = document, theme, kind
        self.folder = folder or paths.user_catalog()
        own = entry is not None and self._is_own(entry)
        # What is replaced on saving; a shipped entry is copied, never replaced.
        self._replaces = (entry.id if kind == "price" else entry.name) if own else None
        self._original = entry
        self.draft = draft_of(kind, entry, document.plan.currency, datetime.date.today())
        if entry is not None and not own and kind != "price":
            self.draft["name"] = _("{name} (own)").format(name=entry.name)
        self.record: Any = None
        self.remarks: list[Remark] = []
        self.rows: dict[str, EntryRow] = {}
        self.fields: dict[str, Any] = {}
        self._sections: list[tuple[Section, list[QWidget]]] = []
        self.setWindowTitle(_(TITLES[kind, not own]))

        self.summary = QLabel()
        self.summary.setTextFormat(Qt.TextFormat.PlainText)
        self.summary.setWordWrap(True)
        self.summary.setProperty("tone", "second")
        self.insist = QCheckBox(_("Keep it although a check says it cannot be right"))
        self.insist.toggled.connect(self._show_state)
        self.save = QPushButton(_("Save"))
        self.save.setProperty("primary", True)
        self.save.setDefault(True)
        self.save.clicked.connect(self.save_entry)
        self.cancel = QPushButton(_("Cancel"))
        self.cancel.clicked.connect(self.reject)
        self._pages = QStackedWidget()
        self._pages.addWidget(self._form())
        self._pages.addWidget(self._offer())
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self._pages)
        self.resize(470, 640 if kind != "price" else 520)
        self._edited()

    def _is_own(self, entry: Any) -> bool:
        return any(entry == each for each in user_entries.read(self.folder, self.kind)[0])

    def _form(self) -> QWidget:
        inner = QWidget()
        column = QVBoxLayout(inner)
        column.setContentsMargins(16, 10, 16, 12)
        column.setSpacing(0)
        for section in FORMS[self.kind]:
            parts: list[QWidget] = []
            if section.title:
                caption = Caption(section.title)
                caption.setContentsMargins(0, 10, 0, 2)
                parts.append(caption)
            for spec in section.fields:
                field = self._field(spec)
                row = EntryRow(spec.label, field, spec.word, spec.hint)
                self.fields[spec.key], self.rows[spec.key] = field, row
                parts.append(row)
            for part in parts:
                column.addWidget(part)
            self._sections.append((section, parts))
        column.addStretch(1)
        area = QScrollArea()
        area.setWidget(inner)
        area.setWidgetResizable(True)
        area.setFrameShape(QFrame.Shape.NoFrame)
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        rule = QFrame()
        rule.setProperty("rule", True)
        buttons = QHBoxLayout()
        buttons.addStretch(1)
        buttons.addWidget(self.cancel)
        buttons.addWidget(self.save)
        foot = QVBoxLayout()
        foot.setContentsMargins(16, 8, 16, 12)
        foot.setSpacing(6)
        foot.addWidget(self.summary)
        foot.addWidget(self.insist)
        foot.addLayout(buttons)
        page = QWidget()
        whole = QVBoxLayout(page)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.setSpacing(0)
        whole.addWidget(area, 1)
        whole.addWidget(rule)
        whole.addLayout(foot)
        return page

    def _offer(self) -> QWidget:
        """The page that asks whether the open plan shall use the new figures."""
        self.question = QLabel()
        self.question.setTextFormat(Qt.TextFormat.PlainText)
        self.question.setWordWrap(True)
        self.update_plan = QPushButton(_("Update in this plan"))
        self.update_plan.setProperty("primary", True)
        self.keep_plan = QPushButton(_("Leave the plan as it is"))
        self.update_plan.clicked.connect(self._update_plan)
        self.keep_plan.clicked.connect(self._finish)
        buttons = QHBoxLayout()
        buttons.addStretch(1)
        buttons.addWidget(self.keep_plan)
        buttons.addWidget(self.update_plan)
        page = QWidget()
        whole = QVBoxLayout(page)
        whole.setContentsMargins(16, 16, 16, 12)
        whole.addWidget(self.question)
        whole.addStretch(1)
        whole.addLayout(buttons)
        return page

    def _field(self, spec: FieldSpec) -> Any:
        def commit(value: Any) -> str | None:
            return self._commit(spec.key, value)

        field: Any
        if spec.kind == "choice":
            field = ChoiceField(commit, spec.choices)
        elif spec.key == "memory_bytes":
            field = LabelField(commit, spec.unit, blank=None)
        elif spec.kind == "quantity":
            field = QuantityField(commit, spec.unit, blank=None)
        elif spec.kind == "whole":
            field = NumberField(commit, whole=True, blank=None)
        elif spec.kind == "money":
            field = MoneyField(commit, blank=None)
            field.show_currency(self.document.plan.currency)
        elif spec.kind == "date":
            field = DateField(commit)
        elif spec.kind == "name":
            field = NameField(commit, self._priced_names, self._resolve, blank=None)
        else:
            field = TextField(commit)
        value = self.draft.get(spec.key)
        field.show_value("" if value is None and spec.kind == "text" else value)
        if spec.key == "source" and self._original is not None:
            field.show_blank(_("as before; new figures are unverified"))
        return field

    def _priced_names(self) -> list[str]:
        catalog = self.document.catalog
        kinds = ("server",) if self.draft.get("kind") == "server" else ("gpu", "server")
        return [name for kind in kinds for name, entry in catalog.entries(kind).items() if not entry.unlisted]

    def _resolve(self, text: str) -> str:
        """The card or server that a text means. Raises `LookupError` with the sentence to show."""
        first, second = ("server", "gpu") if self.draft.get("kind") == "server" else ("gpu", "server")
        try:
            return str(query.resolve(self.document.catalog, first, text).name)
        except query.UnknownName as unknown:
            try:
                return str(query.resolve(self.document.catalog, second, text).name)
            except query.UnknownName:
                raise unknown from None

    # --- editing -----------------------------------------------------------------

    def _commit(self, key: str, value: Any) -> str | None:
        if isinstance(value, float) and value < 0:
            return _("Must be at least {limit}.").format(limit="0")
        spec = next(spec for spec in specs(self.kind) if spec.key == key)
        if spec.kind == "whole" and value is not None and not isinstance(value, int):
            return _("Whole numbers only.")
        self.draft[key] = value
        self.fields[key].show_value(value)
        self._edited()
        return None

    @property
    def source_id(self) -> str:
        """The id of the source that new figures are read in; empty where none is named."""
        text = (self.draft.get("source") or "").strip()
        return user_entries.free_id(f"own {text}"[:120]) if text else ""

    def _edited(self) -> None:
        """Judge the draft anew and say what there is to say, at the fields."""
        identity = self._identity()
        data = data_of(self.kind, self.draft, self._original, identity, self.source_id)
        self.record, self.remarks = judge(self.kind, self.draft, data, self.document.catalog)
        at: dict[str, Remark] = {}
        for remark in sorted(self.remarks, key=lambda remark: remark.level != "error"):
            at.setdefault(remark.key, remark)
        for key, row in self.rows.items():
            found = at.get(key)
            row.show_remark(*((found.level, found.text) if found is not None else ("", "")))
        for section, parts in self._sections:
            if section.only is not None:
                shown = self.draft.get(section.only[0]) == section.only[1]
                for part in parts:
                    part.setVisible(shown)
        self._show_state()

    def _identity(self) -> str:
        if self._replaces is not None:
            return str(self._original.id)
        if self.kind == "price":
            taken = frozenset(price.id for price in self.document.catalog.prices)
            return user_entries.free_id(f"own {self.draft.get('entry') or ''} {self.draft.get('date') or ''}", taken)
        taken = frozenset(entry.id for entry in self.document.catalog.entries(self.kind).values())
        return user_entries.free_id(self.draft.get("name") or "", taken)

    def _show_state(self, _changed: object = None) -> None:
        errors = [remark for remark in self.remarks if remark.level == "error"]
        missing = [remark for remark in self.remarks if remark.level == "missing"]
        unverified = [remark for remark in self.remarks if remark.level == "unverified"]
        self.insist.setVisible(self.record is not None and bool(errors))
        self.save.setEnabled(self.record is not None and (not errors or self.insist.isChecked()))
        whole = [remark.text for remark in errors if not remark.key]
        if whole:
            text = "✕ " + " ".join(whole)
        elif missing:
            text = _("Fill in what is needed to save.")
        elif errors:
            text = _("The checks found errors; see the fields.")
        elif unverified:
            text = _("Can be saved. Figures without a source are shown as unverified.")
        else:
            text = _("Everything checks out.")
        if self.kind == "llm" and self.record is not None:
            text = _("{total} billion parameters, {active} of them for a token. {state}").format(
                total=_billions(self.record.params_total), active=_billions(self.record.params_active), state=text
            )
        self.summary.setText(text)

    # --- saving ------------------------------------------------------------------

    def save_entry(self) -> None:
        """Write the entry to the user's own catalog and show it to the document."""
        if not self.save.isEnabled():
            return
        try:
            if self.source_id:
                text = str(self.draft["source"]).strip()
                today = datetime.date.today().isoformat()
                user_entries.put(self.folder, "source", Source(id=self.source_id, where=text, title=text, date=today))
            if self._replaces is not None:
                user_entries.rename(self.folder, self.kind, self._replaces, self.record)
            else:
                user_entries.put(self.folder, self.kind, self.record)
        except (BadFile, OSError) as error:
            self.summary.setText("✕ " + _("Not saved: {reason}").format(reason=error))
            return
        self.document.catalog = load.load(self.folder)
        self._differing = self._in_plan()
        if not self._differing:
            self._finish()
            return
        names = ", ".join(reference.name for reference in self._differing)
        self.question.setText(
            _("The open plan keeps the earlier figures of {names}. Shall it use the new ones?").format(names=names)
        )
        self._pages.setCurrentIndex(1)
        self.update_plan.setFocus()

    def _in_plan(self) -> tuple[Reference, ...]:
        """What the open plan pins of this entry, and has otherwise now."""
        name = self.record.entry if self.kind == "price" else self.record.name
        differing = pinning.entries_that_differ(self.document.plan, self.document.catalog)
        return tuple(
            reference
            for reference in differing
            if reference.name == name and (self.kind == "price" or reference.kind == self.kind)
        )

    def _update_plan(self) -> None:
        catalog, which = self.document.catalog, self._differing
        text = _("Update {name}").format(name=which[0].name)
        said = self.document.change(lambda plan: pinning.repin(plan, catalog, which), text)
        if said:
            self.question.setText(said)
            return
        self._finish()

    def _finish(self) -> None:
        self.saved.emit(self.kind, self.record.id if self.kind == "price" else self.record.name)
        self.accept()


def _billions(count: float) -> str:
    from gpuplanner.i18n import format as words

    return words.number(count / 1e9)


def remove_own(document: PlanDocument, kind: str, name: str, folder: Path | None = None) -> str | None:
    """Take an entry out of the user's own catalog. Returns the sentence why it was not removed."""
    folder = folder or paths.user_catalog()
    try:
        user_entries.remove(folder, kind, name)
    except (BadFile, OSError) as error:
        return _("Not removed: {reason}").format(reason=error)
    document.catalog = load.load(folder)
    return None


def own_prices(folder: Path | None = None) -> frozenset[str]:
    """The ids of the prices that the user entered."""
    read: Callable[..., Any] = user_entries.read
    return frozenset(price.id for price in read(folder or paths.user_catalog(), "price")[0])
