"""The claim check: type, read the answer, put it into the plan."""

import pytest
from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtWidgets import QLabel

from gpuplanner import app, i18n
from gpuplanner.model.claims.checking import VERDICTS
from gpuplanner.model.plan import LETTERS, Plan, Scenario
from gpuplanner.storage.settings import Settings
from gpuplanner.ui.actions import Actions
from gpuplanner.ui.dialogs.claim import STATUS, ClaimDialog

SPARSE = "H100 has 1979 TFLOPS FP16"
FITS = "Llama-3.1-405B fits in 8x H100 80GB in FP8"


@pytest.fixture
def dialog(qtbot, document, theme):
    made = ClaimDialog(document, theme)
    qtbot.addWidget(made)
    made.show()
    return made


def type_in(qtbot, dialog, text):
    dialog.line.selectAll()
    qtbot.keyClicks(dialog.line, text)
    dialog.check()


def test_the_answer_follows_the_typing(qtbot, dialog):
    assert not dialog.word.isVisible()
    dialog.line.selectAll()
    qtbot.keyClicks(dialog.line, SPARSE)
    # Without Return: after a rest of the keys.
    qtbot.waitUntil(lambda: dialog.word.text() == "Only if …")
    assert "2:1 sparsity" in dialog.headline.text()
    assert dialog.bar.isVisible()


def test_an_example_is_taken_by_a_click(qtbot, dialog):
    qtbot.mouseClick(dialog.chips[2], Qt.MouseButton.LeftButton)
    assert dialog.line.text() == "H100 is 3.5x A100"
    assert dialog.word.text()
    assert dialog.variants.isVisible()


def test_what_is_not_understood_says_so_and_offers_nothing(qtbot, dialog):
    type_in(qtbot, dialog, "hello world")
    assert "No card or model" in dialog.headline.text()
    assert not dialog.put.isEnabled()
    assert not dialog.bar.isVisible()


def test_a_claim_goes_into_the_plan_as_one_step(qtbot, dialog, document):
    before = document.plan
    type_in(qtbot, dialog, FITS)
    with qtbot.waitSignal(dialog.placed):
        qtbot.mouseClick(dialog.put, Qt.MouseButton.LeftButton)
    added = document.plan.scenarios[-1]
    assert (added.letter, added.groups[0].gpu, document.selected) == ("C", "H100 SXM 80GB", "C")
    assert document.plan.workloads[-1].llm == ("Llama-3.1-405B",)
    document.undo()
    assert document.plan == before


def test_a_full_plan_says_that_it_is_full(qtbot, dialog, document):
    document.new(Plan(scenarios=tuple(Scenario(letter=letter) for letter in LETTERS)))
    type_in(qtbot, dialog, FITS)
    qtbot.mouseClick(dialog.put, Qt.MouseButton.LeftButton)
    assert "eight scenarios" in dialog.said.text()
    assert len(document.plan.scenarios) == len(LETTERS)


def test_typed_markup_stays_text(qtbot, dialog):
    dialog.line.setText("<b>H100</b> is 3.5x A100 <img src='//x/y'> rev7")
    dialog.check()
    assert dialog.word.text()
    for label in dialog.findChildren(QLabel):
        assert label.textFormat() == Qt.TextFormat.PlainText


@pytest.mark.parametrize("text", ["H100 " * 2000, "\x00\x01\x02", "\u202eH100 is 3x A100", "9" * 600, "台" * 600])
def test_hostile_text_is_answered(dialog, text):
    dialog.line.setText(text)
    dialog.check()
    assert dialog.headline.text()


def test_every_verdict_has_a_shape():
    assert set(STATUS) == set(VERDICTS)
    assert set(STATUS.values()) <= {"ok", "warn", "fail", "unknown"}


def test_the_bar_says_in_words_what_it_draws(qtbot, dialog):
    type_in(qtbot, dialog, "H100 SXM is 2.3x A100 SXM 80GB for training")
    said = dialog.bar.accessibleDescription()
    assert "claimed: 2.3×" in said
    # 989.4 : 312 TFLOP/s.
    assert "at most: 3.17×" in said


def test_the_answer_speaks_chinese(qtbot, document, theme):
    i18n.set_language("zh")
    made = ClaimDialog(document, theme)
    qtbot.addWidget(made)
    made.show()
    qtbot.mouseClick(made.chips[2], Qt.MouseButton.LeftButton)
    assert made.line.text() == "H100 是 A100 的 3.5 倍"
    assert made.word.text() == "有条件"


def test_every_example_is_understood_in_both_languages(dialog):
    for code in i18n.languages():
        i18n.set_language(code)
        for chip in dialog.chips:
            chip.click()
            assert dialog.word.text(), dialog.line.text()


def test_the_keyboard_reaches_everything(dialog):
    for widget in (dialog.line, *dialog.chips, dialog.put, dialog.copy):
        assert widget.focusPolicy() & Qt.FocusPolicy.TabFocus
    assert all(widget.accessibleName() for widget in (dialog.line, *dialog.chips, dialog.bar))


def test_return_in_the_line_keeps_the_dialog_open(qtbot, dialog):
    type_in(qtbot, dialog, SPARSE)
    qtbot.keyClick(dialog.line, Qt.Key.Key_Return)
    assert dialog.isVisible()


def test_the_command_has_its_keys(qapp, qtbot):
    from PySide6.QtCore import QObject

    owner = QObject()
    assert Actions(owner)["claim"].shortcut().toString() == "Ctrl+Shift+K"


def test_the_nearest_measurements_follow(qtbot, dialog):
    type_in(qtbot, dialog, "3000 tok/s on 8x H100 SXM with Llama-3.3-70B FP8, batch 64, 1k in 1k out")
    qtbot.waitUntil(lambda: dialog.closest.isVisible(), timeout=10_000)
    assert "measured" in dialog.closest.text.text()


@pytest.fixture
def window(qtbot, catalog, tmp_path):
    made = app.build(catalog, Settings(), "light", tmp_path / "settings")
    made.show()
    yield made
    made.document.undo_stack.setClean()
    made.close()
    made.deleteLater()
    QCoreApplication.processEvents()


def opened(window):
    return window.findChild(ClaimDialog)


def test_the_keys_open_the_claim_check(qtbot, window):
    qtbot.keyClick(window, Qt.Key.Key_K, Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier)
    dialog = opened(window)
    assert dialog is not None and dialog.isVisible()
    dialog.reject()


def test_a_claim_opens_a_plan_where_none_is_open(qtbot, window):
    assert not window.shows_plan
    window.check_claim()
    dialog = opened(window)
    dialog.line.setText(FITS)
    dialog.check()
    dialog.put.click()
    assert window.shows_plan
    assert window.document.plan.scenarios[0].groups[0].gpu == "H100 SXM 80GB"
    dialog.reject()
