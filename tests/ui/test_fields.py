import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import QLineEdit, QVBoxLayout, QWidget

from gpuplanner import i18n
from gpuplanner.model.edit import value_at
from gpuplanner.model.plan import Money
from gpuplanner.ui.fields import (
    ChoiceField,
    DateField,
    FieldRow,
    MoneyField,
    NameField,
    NumberField,
    QuantityField,
    TextField,
    plain_tip,
)

SERVERS = ("scenarios", 0, "groups", 0, "servers")
PER_TOKEN = ("workloads", 0, "per_token_s")
CONTEXT = ("workloads", 0, "max_context_tokens")
USERS = ("workloads", 0, "load", "users")
BUDGET = ("wishes", "budget")
GPU = ("scenarios", 0, "groups", 0, "gpu")
FORMAT = ("workloads", 0, "lowest_format")


@pytest.fixture
def show(qtbot, document):
    """Put a field that edits a place of the plan into a window, beside one to leave it for."""

    def put(path, make):
        window = QWidget()
        qtbot.addWidget(window)
        field = make(document.editor(path, "the field"))
        document.plan_changed.connect(lambda plan: field.show_value(value_at(plan, path)))
        field.show_value(value_at(document.plan, path))
        window.row = FieldRow("The field", field, "unit")
        window.elsewhere = QLineEdit()
        column = QVBoxLayout(window)
        column.addWidget(window.row)
        column.addWidget(window.elsewhere)
        with qtbot.waitActive(window):
            window.show()
            window.activateWindow()
        field.setFocus()
        if isinstance(field, QLineEdit):
            field.selectAll()
        field.shown_in = window
        return field

    return put


def servers(make=NumberField):
    return lambda commit: make(commit, whole=True)


def test_typing_is_live_and_one_undo_step(qtbot, document, show):
    field = show(SERVERS, servers())
    qtbot.keyClicks(field, "64")
    assert value_at(document.plan, SERVERS) == 64
    qtbot.keyClick(field, Qt.Key.Key_Return)
    document.undo()
    assert field.text() == "1"
    assert document.undo_stack.isClean()


def test_what_is_being_typed_is_left_alone(qtbot, document, show):
    field = show(USERS, NumberField)
    qtbot.keyClicks(field, "1500.")
    assert value_at(document.plan, USERS) == 1500
    assert field.text() == "1500."
    qtbot.keyClick(field, Qt.Key.Key_Return)
    assert field.text() == "1,500"


def test_what_is_no_number_stays_visible_and_changes_nothing(qtbot, document, show):
    field = show(SERVERS, servers())
    qtbot.keyClicks(field, "2x")
    assert value_at(document.plan, SERVERS) == 2
    assert field.text() == "2x"
    assert field.refusal == "Not a number. 2 is kept until this is one."
    assert field.shown_in.row.sentence.isVisible()


def test_leaving_the_field_shows_the_value_of_the_plan(qtbot, document, show):
    field = show(SERVERS, servers())
    qtbot.keyClicks(field, "2x")
    field.shown_in.elsewhere.setFocus()
    assert field.text() == "2"
    assert field.refusal == ""
    assert not field.shown_in.row.sentence.isVisible()


def test_escape_shows_the_value_of_the_plan(qtbot, document, show):
    field = show(SERVERS, servers())
    qtbot.keyClicks(field, "2x")
    qtbot.keyClick(field, Qt.Key.Key_Escape)
    assert field.text() == "2"


def test_a_value_out_of_range_is_refused_in_the_unit_of_the_field(qtbot, document, show):
    field = show(PER_TOKEN, lambda commit: QuantityField(commit, "ms", blank=None))
    before = document.plan
    qtbot.keyClicks(field, "4000000")
    # Up to 400,000 ms is accepted on the way; an hour is the limit.
    assert field.refusal == "Must be at most 3,600,000 ms."
    assert value_at(document.plan, PER_TOKEN) == 400
    document.undo()
    assert document.plan == before


def test_part_of_a_server_is_refused(qtbot, document, show):
    field = show(SERVERS, servers())
    qtbot.keyClicks(field, "1.5")
    assert field.refusal == "Whole numbers only."
    assert value_at(document.plan, SERVERS) == 1


@pytest.mark.parametrize(("typed", "seconds"), [("35", 0.035), ("0.1 s", 0.1), ("20ms", 0.02), ("３０", 0.03)])
def test_units_may_be_typed(qtbot, document, show, typed, seconds):
    field = show(PER_TOKEN, lambda commit: QuantityField(commit, "ms", blank=None))
    field.insert(typed)
    field.textEdited.emit(field.text())
    assert value_at(document.plan, PER_TOKEN) == seconds


@pytest.mark.parametrize(("typed", "users"), [("2k", 2000), ("5万", 50_000), ("1,500", 1500)])
def test_counting_words_may_be_typed(qtbot, document, show, typed, users):
    field = show(USERS, NumberField)
    field.insert(typed)
    field.textEdited.emit(field.text())
    assert value_at(document.plan, USERS) == users


def test_arrows_step_by_one_ten_and_a_tenth(qtbot, document, show):
    field = show(USERS, NumberField)
    qtbot.keyClick(field, Qt.Key.Key_Up)
    assert value_at(document.plan, USERS) == 201
    qtbot.keyClick(field, Qt.Key.Key_Down, Qt.KeyboardModifier.ShiftModifier)
    assert value_at(document.plan, USERS) == 191
    for _time in range(3):
        qtbot.keyClick(field, Qt.Key.Key_Up, Qt.KeyboardModifier.ControlModifier)
    assert value_at(document.plan, USERS) == 191.3
    assert field.text() == "191.3"


def test_arrows_stop_at_the_limit(qtbot, document, show):
    field = show(SERVERS, servers())
    qtbot.keyClick(field, Qt.Key.Key_Down)
    assert value_at(document.plan, SERVERS) == 1
    assert field.refusal == "Must be at least 1."


def test_undo_in_a_field_is_the_plans(qtbot, document, show):
    field = show(SERVERS, servers())
    qtbot.keyClicks(field, "64")
    qtbot.keyClick(field, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert value_at(document.plan, SERVERS) == 1
    assert field.text() == "1"


def test_blank_is_auto_and_says_what_that_comes_to(qtbot, document, show):
    field = show(CONTEXT, lambda commit: NumberField(commit, whole=True, blank="auto"))
    field.show_blank("auto (8,192)")
    assert (field.text(), field.placeholderText()) == ("", "auto (8,192)")
    qtbot.keyClicks(field, "4096")
    assert value_at(document.plan, CONTEXT) == 4096
    field.clear()
    field.textEdited.emit("")
    assert value_at(document.plan, CONTEXT) == "auto"
    assert field.refusal == ""


def test_auto_may_be_typed(qtbot, document, show):
    field = show(CONTEXT, lambda commit: NumberField(commit, whole=True, blank="auto"))
    qtbot.keyClicks(field, "4096")
    field.selectAll()
    qtbot.keyClicks(field, "auto")
    assert value_at(document.plan, CONTEXT) == "auto"


def test_a_target_may_be_left_out(qtbot, document, show):
    field = show(PER_TOKEN, lambda commit: QuantityField(commit, "ms", blank=None))
    assert field.text() == "50"
    qtbot.keyClick(field, Qt.Key.Key_Delete)
    assert value_at(document.plan, PER_TOKEN) is None


def test_money_keeps_the_currency_it_was_typed_in(qtbot, document, show):
    field = show(BUDGET, lambda commit: MoneyField(commit, blank=None))
    field.show_currency("USD")
    qtbot.keyClicks(field, "200k")
    assert value_at(document.plan, BUDGET) == Money(amount=200_000, currency="USD")
    qtbot.keyClick(field, Qt.Key.Key_Return)
    assert field.text() == "$200,000"
    field.selectAll()
    field.insert("¥100,000")
    field.textEdited.emit(field.text())
    assert value_at(document.plan, BUDGET) == Money(amount=100_000, currency="CNY")


def test_a_negative_amount_is_refused(qtbot, document, show):
    field = show(BUDGET, lambda commit: MoneyField(commit, blank=None))
    qtbot.keyClicks(field, "-5")
    assert field.refusal == "Not an amount."
    assert value_at(document.plan, BUDGET) is None


def test_a_day_is_written_year_first(qtbot, document, show):
    path = ("scenarios", 0, "groups", 0, "quote_date")
    field = show(path, lambda commit: DateField(commit, blank=None))
    qtbot.keyClicks(field, "30/11")
    assert field.refusal == "Write the day as 2026-11-30."
    field.selectAll()
    qtbot.keyClicks(field, "2026/11/30")
    assert value_at(document.plan, path) == "2026-11-30"


def gpu_field(document):
    return lambda commit: NameField(
        commit, lambda: document.names("gpu"), lambda text: document.resolve("gpu", text), blank=""
    )


def test_an_alias_chooses_the_entry(qtbot, document, show):
    field = show(GPU, gpu_field(document))
    qtbot.keyClicks(field, "4090")
    qtbot.keyClick(field, Qt.Key.Key_Return)
    assert value_at(document.plan, GPU) == "GeForce RTX 4090 24GB"
    assert field.text() == "GeForce RTX 4090 24GB"


def test_a_short_name_that_fits_several_asks(qtbot, document, show):
    field = show(GPU, gpu_field(document))
    qtbot.keyClicks(field, "H100")
    assert value_at(document.plan, GPU) == "H100 SXM 80GB"
    assert "H100 PCIe" in field.refusal


def test_a_name_from_the_list_is_chosen(qtbot, document, show):
    field = show(GPU, gpu_field(document))
    field.completer().activated[str].emit("L40S")
    assert value_at(document.plan, GPU) == "L40S"
    assert field.text() == "L40S"


def test_a_choice_is_one_undo_step(qtbot, document, show):
    field = show(FORMAT, lambda commit: ChoiceField(commit, (("16-bit", "16 bit"), ("8-bit", "8 bit"), ("any", "any"))))
    assert field.currentText() == "8 bit"
    field.setFocus()
    qtbot.keyClick(field, Qt.Key.Key_Down)
    assert value_at(document.plan, FORMAT) == "any"
    qtbot.keyClick(field, Qt.Key.Key_Up)
    document.undo()
    assert value_at(document.plan, FORMAT) == "any"
    assert field.currentText() == "any"


def test_scrolling_over_a_choice_changes_nothing(qtbot, document, show):
    field = show(FORMAT, lambda commit: ChoiceField(commit, (("16-bit", "16 bit"), ("8-bit", "8 bit"), ("any", "any"))))
    field.shown_in.elsewhere.setFocus()
    middle = QPointF(field.rect().center())
    wheel = QWheelEvent(
        middle, field.mapToGlobal(middle), QPoint(0, -120), QPoint(0, -120), Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier, Qt.ScrollPhase.NoScrollPhase, False,
    )  # fmt: skip
    field.wheelEvent(wheel)
    assert value_at(document.plan, FORMAT) == "8-bit"


def test_a_choice_says_what_auto_comes_to(qtbot):
    field = ChoiceField(lambda value: None, (("auto", "auto"), ("fp8", "FP8")))
    qtbot.addWidget(field)
    field.show_value("auto")
    field.show_blank("auto (FP8)")
    assert field.currentText() == "auto (FP8)"
    assert field.value == "auto"


def test_a_field_says_its_name_and_unit(qtbot, show):
    field = show(SERVERS, servers())
    assert field.accessibleName() == "The field [unit]"


def test_the_words_of_a_field_follow_the_language(qtbot, show):
    field = show(PER_TOKEN, lambda commit: QuantityField(commit, "ms", blank=None))
    i18n.set_language("zh")
    qtbot.keyClicks(field, "2x")
    assert "Not a number" not in field.refusal


def test_a_name_field_of_text_takes_any_text(qtbot, document, show):
    field = show(("name",), TextField)
    qtbot.keyClicks(field, "<b>Plan</b>")
    assert document.plan.name == "<b>Plan</b>"


def test_markup_in_a_tool_tip_is_shown_letter_by_letter():
    assert "<img" not in plain_tip('<img src="//server/share">')
    assert plain_tip("2 servers") == "2 servers"
