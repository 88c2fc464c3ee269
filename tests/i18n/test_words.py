import re
import sys
import threading

import pytest
from babel.messages.catalog import Catalog

from gpuplanner import i18n
from gpuplanner.i18n import extract, language, languages, set_language, system_language, using

# Shown with the assertion, so that a translator can copy the list.
ADVICE = "translate in resources/i18n, then run python -m gpuplanner.i18n.extract:"


@pytest.fixture(autouse=True)
def chosen_language_is_put_back():
    before = language()
    yield
    set_language(before)


@pytest.fixture(scope="module")
def source() -> Catalog:
    return extract.source_words()


def ids(words: Catalog) -> list[str]:
    return [
        text
        for message in words
        if message.id
        for text in ([message.id] if isinstance(message.id, str) else message.id)
    ]


@pytest.mark.parametrize("code", extract.TRANSLATED)
def test_every_string_of_the_source_is_translated(source, code):
    missing = extract.untranslated(extract.translated_words(code, source))
    assert not missing, "\n".join([f"{len(missing)} not translated to {code}; {ADVICE}", *missing])


@pytest.mark.parametrize("code", extract.TRANSLATED)
def test_a_translation_has_the_placeholders_of_its_msgid(source, code):
    wrong = extract.misplaced(extract.translated_words(code, source))
    assert not wrong, "\n".join(wrong)


def test_the_catalog_files_are_up_to_date_with_the_source_and_the_translations():
    stale = extract.stale()
    assert not stale, "\n".join(["run python -m gpuplanner.i18n.extract; out of date:", *stale])


def test_every_msgid_is_one_literal_string():
    built = extract.unextractable()
    assert not built, "\n".join(built)


def test_no_msgid_has_markup(source):
    marked_up = [text for text in ids(source) if re.search(r"</?[a-zA-Z][^<>]*>|&[a-zA-Z]+;|&#", text)]
    assert not marked_up


def test_every_placeholder_has_a_name(source):
    named = re.compile(r"[a-z]\w*|%\([a-z]\w*\)")
    unnamed = [text for text in ids(source) if any(not named.match(place) for place in extract.placeholders(text))]
    unnamed += [text for text in ids(source) if re.search(r"%[sdifgr]\b", text)]
    assert not unnamed


def test_the_language_switches_without_a_restart():
    set_language("en")
    assert i18n._("{value} days") == "{value} days"
    set_language("zh")
    assert i18n._("{value} days") == "{value} 天"


def test_a_block_can_be_in_another_language_and_blocks_nest():
    set_language("en")
    with using("zh"):
        assert language() == "zh"
        with using("en"):
            assert language() == "en"
        assert language() == "zh"
    assert language() == "en"


def test_a_report_on_another_thread_leaves_the_language_of_the_window():
    set_language("en")
    inside, done = threading.Event(), threading.Event()
    seen = []

    def report():
        with using("zh"):
            inside.set()
            done.wait(5)
            seen.append(language())

    thread = threading.Thread(target=report)
    thread.start()
    assert inside.wait(5)
    assert language() == "en"
    done.set()
    thread.join(5)
    assert seen == ["zh"]


def test_the_chosen_language_reaches_threads_that_are_already_running():
    go, seen = threading.Event(), []
    thread = threading.Thread(target=lambda: (go.wait(5), seen.append(language())))
    thread.start()
    set_language("zh")
    go.set()
    thread.join(5)
    assert seen == ["zh"]


def test_an_unknown_language_is_refused_and_changes_nothing():
    set_language("zh")
    with pytest.raises(ValueError, match="fr"):
        set_language("fr")
    with pytest.raises(ValueError, match="fr"), using("fr"):
        pass
    assert language() == "zh"


def test_languages_are_named_in_their_own_words():
    assert languages() == {"en": "English", "zh": "简体中文"}


def test_an_empty_text_does_not_bring_up_the_header_of_the_catalog():
    with using("zh"):
        assert i18n._("") == ""


def test_a_text_without_translation_is_shown_in_english():
    with using("zh"):
        assert i18n._("An invented sentence.") == "An invented sentence."
        assert i18n.pgettext("invented", "Rack") == "Rack"
        assert i18n.ngettext("{n} invented thing", "{n} invented things", 2) == "{n} invented things"
    assert i18n.N_("marked") == "marked"


@pytest.mark.parametrize(
    "value, expected", [("zh_CN.UTF-8", "zh"), ("zh_TW", "zh"), ("en_US.UTF-8", "en"), ("de_DE", "en"), ("C", "en")]
)
def test_the_language_of_the_system_comes_from_its_locale(monkeypatch, value, expected):
    monkeypatch.delenv("LC_ALL", raising=False)
    monkeypatch.delenv("LC_MESSAGES", raising=False)
    monkeypatch.setenv("LANG", value)
    assert system_language() == expected


def test_a_mac_without_locale_variables_says_its_language_in_the_preferences(monkeypatch, tmp_path):
    import plistlib

    for variable in ("LC_ALL", "LC_MESSAGES", "LANG"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.setattr("pathlib.Path.home", lambda: tmp_path)
    assert system_language() == "en"
    preferences = tmp_path / "Library/Preferences/.GlobalPreferences.plist"
    preferences.parent.mkdir(parents=True)
    preferences.write_bytes(plistlib.dumps({"AppleLanguages": ["zh-Hans-CN", "en-CN"]}, fmt=plistlib.FMT_BINARY))
    assert system_language() == "zh"


@pytest.fixture
def small_package(tmp_path, monkeypatch):
    """A package with three msgids and no catalogs, in place of the real one."""
    package = tmp_path / "gpuplanner"
    package.mkdir()
    (package / "words.py").write_text(
        "from gpuplanner.i18n import _, ngettext, pgettext\n"
        '_("Needs {need} GB.")\n'
        'ngettext("{n} card", "{n} cards", 2)\n'
        'pgettext("furniture", "Rack")\n',
        "utf-8",
    )
    monkeypatch.setattr(extract, "SOURCE", package)
    monkeypatch.setattr("gpuplanner.paths.resources", lambda: tmp_path / "resources")
    return package


def translate(english: str, chinese: str) -> None:
    po = extract._po("zh")
    text = po.read_text("utf-8")
    head, found, tail = text.partition(f'"{english}"\n')
    assert found
    po.write_text(head + found + re.sub(r'(msgstr(?:\[0\])?) ""', rf'\1 "{chinese}"', tail, count=1), "utf-8")


def test_check_names_what_is_missing_and_what_is_stale(small_package, capsys):
    assert extract.main(["--check"]) == 1
    said = capsys.readouterr().out
    assert "zh: not translated: 'Needs {need} GB.' (gpuplanner/words.py)" in said
    assert "out of date: i18n/zh/LC_MESSAGES/gpuplanner.mo" in said


def test_writing_twice_changes_nothing_the_second_time(small_package):
    assert len(extract.update()) == 3
    assert extract.update() == []
    assert extract.stale() == []


def test_check_passes_once_all_is_translated_and_compiled(small_package, capsys):
    extract.update()
    translate("Needs {need} GB.", "需要 {need} GB。")
    translate("{n} card", "{n} 张卡")
    translate("Rack", "机柜")
    assert extract.problems() == ["out of date: i18n/zh/LC_MESSAGES/gpuplanner.mo"]
    extract.update()
    assert extract.main(["--check"]) == 0
    assert extract.update() == []


def test_check_names_a_translation_with_other_placeholders(small_package):
    extract.update()
    translate("Needs {need} GB.", "需要 {needs} GB。")
    assert "zh: other placeholders than 'Needs {need} GB.': '需要 {needs} GB。'" in extract.problems()


def test_a_translation_survives_the_absence_of_its_msgid(small_package):
    extract.update()
    translate("Rack", "机柜")
    words = (small_package / "words.py").read_text("utf-8")
    (small_package / "words.py").write_text('_("Another.")\n', "utf-8")
    extract.update()
    assert '#~ msgstr "机柜"' in extract._po("zh").read_text("utf-8")
    (small_package / "words.py").write_text(words, "utf-8")
    extract.update()
    assert 'msgctxt "furniture"\nmsgid "Rack"\nmsgstr "机柜"' in extract._po("zh").read_text("utf-8")


def test_a_msgid_that_is_built_from_pieces_is_named(small_package):
    (small_package / "words.py").write_text('_("Rack")\n_(f"{1} racks")\n_("Rack" + " 2")\n', "utf-8")
    assert extract.unextractable() == ["gpuplanner/words.py:2", "gpuplanner/words.py:3"]
