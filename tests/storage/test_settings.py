import os

import pytest
from pydantic import ValidationError

from gpuplanner.storage import settings
from gpuplanner.storage.settings import MAX_RECENT, Settings


def test_settings_return_as_they_were_saved(tmp_path):
    saved = Settings(
        language="zh",
        theme="dark",
        recent_files=("/a/机房.gpuplan", "C:\\b.gpuplan"),
        window_geometry="AdnQywADAAA=",
        column_widths={"catalog.gpus": (120, 60)},
    )
    settings.save(saved, tmp_path / "new folder")
    assert settings.load(tmp_path / "new folder") == saved


def test_without_a_file_the_defaults_hold(tmp_path):
    assert settings.load(tmp_path) == Settings()
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"\xff\xfe", b"[]", b'{"theme": "pink"}', b'{"theme": NaN}', b'{"recent_files": "a"}', b"[" * 10_000],
)
def test_a_damaged_file_is_set_aside_and_the_defaults_hold(tmp_path, content):
    (tmp_path / settings.FILE).write_bytes(content)
    assert settings.load(tmp_path) == Settings()
    assert os.listdir(tmp_path) == [settings.DAMAGED]
    assert (tmp_path / settings.DAMAGED).read_bytes() == content


def test_a_huge_file_is_set_aside(tmp_path):
    (tmp_path / settings.FILE).write_bytes(b" " * (settings.MAX_BYTES + 10))
    assert settings.load(tmp_path) == Settings()
    assert os.listdir(tmp_path) == [settings.DAMAGED]


def test_keys_of_a_newer_version_are_passed_over(tmp_path):
    (tmp_path / settings.FILE).write_text('{"theme": "light", "telepathy": true}', encoding="utf-8")
    assert settings.load(tmp_path).theme == "light"


def test_the_newest_file_comes_first_and_once():
    some = Settings().with_recent("a").with_recent("b").with_recent("a")
    assert some.recent_files == ("a", "b")
    assert some.without_recent("a").recent_files == ("b",)


def test_ten_recent_files_are_kept():
    some = Settings()
    for number in range(15):
        some = some.with_recent(f"plan-{number}")
    assert some.recent_files == tuple(f"plan-{number}" for number in range(14, 14 - MAX_RECENT, -1))


def test_a_value_that_cannot_be_is_refused():
    with pytest.raises(ValidationError):
        Settings().changed(theme="pink")
