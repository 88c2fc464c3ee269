import re

import pytest
from PySide6.QtGui import QColor

from gpuplanner.model.plan import LETTERS
from gpuplanner.ui.theme import (
    CONTRAST,
    DARK,
    LIGHT,
    MARKERS,
    THEMES,
    ThemeSource,
    black_or_white,
    contrast,
    font,
    style_sheet,
)

themes = pytest.mark.parametrize("theme", THEMES.values(), ids=THEMES)


def test_contrast_is_that_of_wcag():
    # WCAG 2.1: black on white is 21 : 1, a colour on itself 1 : 1, #767676 on white 4.54 : 1.
    white = QColor("#FFFFFF")
    assert contrast(QColor("#000000"), white) == pytest.approx(21)
    assert contrast(white, white) == pytest.approx(1)
    assert contrast(QColor("#767676"), white) == pytest.approx(4.54, abs=0.005)


def test_tokens_have_the_contrast_the_palette_promises():
    # Stated for the palette with one digit after the point.
    assert contrast(LIGHT.text3, LIGHT.panel) == pytest.approx(5.1, abs=0.05)
    assert contrast(DARK.text3, DARK.panel) == pytest.approx(5.8, abs=0.05)
    assert contrast(LIGHT.accent, LIGHT.panel) == pytest.approx(5.8, abs=0.05)
    assert contrast(DARK.accent, DARK.panel) == pytest.approx(7.6, abs=0.05)


@themes
def test_a_status_is_read_on_its_panel(theme):
    for status in ("ok", "warn", "fail"):
        assert contrast(theme.status_colour(status), theme.panel) >= 5.5


@themes
def test_words_are_read_on_every_ground(theme):
    for ground in (theme.window, theme.panel, theme.sunken, theme.hover, theme.selected):
        assert contrast(theme.text, ground) >= 7
        assert contrast(theme.text2, ground) >= 4.5
    for status in ("ok", "warn", "fail"):
        assert contrast(theme.text, theme.status_ground(status)) >= 7
    assert contrast(theme.on_accent, theme.accent) >= 4.5


@themes
def test_marks_of_scenarios_stand_out_from_the_panel(theme):
    for letter in LETTERS:
        assert contrast(theme.series_colour(letter), theme.panel) >= 2.95


@themes
def test_letters_in_marks_are_black_or_white_whichever_contrasts_more(theme):
    for letter in LETTERS:
        chosen = contrast(theme.letter_colour(letter), theme.series_colour(letter))
        assert theme.letter_colour(letter).name() in ("#000000", "#ffffff")
        for other in ("#000000", "#FFFFFF"):
            assert chosen >= contrast(QColor(other), theme.series_colour(letter))


def test_black_or_white_follows_the_ground():
    assert black_or_white(QColor("#FFC233")).name() == "#000000"
    assert black_or_white(QColor("#0066AD")).name() == "#ffffff"


@themes
def test_scenario_colours_as_text_are_readable(theme):
    for letter in LETTERS:
        assert contrast(theme.series_text(letter), theme.panel) >= 4.5


@themes
def test_no_two_scenarios_share_a_colour_or_a_marker(theme):
    assert len({theme.series_colour(letter).name() for letter in LETTERS}) == len(LETTERS)
    assert len(set(MARKERS)) == len(LETTERS)


@themes
def test_the_style_sheet_has_a_colour_for_every_token(theme):
    text = style_sheet(theme)
    assert "@" not in text
    assert text.count("{") == text.count("}")
    assert not re.search(r"url|image: [^n]", text)


def test_fonts_are_made_once(qapp):
    assert font(12, 600) is font(12, 600)
    assert font(12, 600).pixelSize() == 12


def test_choosing_a_theme_tells_the_views(qapp, qtbot):
    source = ThemeSource("light")
    source.apply()
    with qtbot.waitSignal(source.changed) as heard:
        source.choose("contrast")
    assert heard.args == [CONTRAST]
    assert source.theme is CONTRAST
    source.choose("light")


def test_a_theme_that_does_not_exist_is_refused(qapp):
    with pytest.raises(ValueError, match="sepia"):
        ThemeSource("light").choose("sepia")
