import os
import stat

import pytest

from gpuplanner.storage import atomic


def test_text_is_written_as_utf_8_without_changing_line_ends(tmp_path):
    atomic.write_text(tmp_path / "a", "机房\nb\r\n")
    assert (tmp_path / "a").read_bytes() == "机房\nb\r\n".encode()


def test_half_a_surrogate_pair_does_not_stop_a_save(tmp_path):
    atomic.write_text(tmp_path / "a", "x\ud800y")
    assert (tmp_path / "a").read_bytes() == b"x?y"


def test_only_the_target_is_left_in_the_folder(tmp_path):
    atomic.write_bytes(tmp_path / "a", b"1")
    atomic.write_bytes(tmp_path / "a", b"2")
    assert [path.name for path in tmp_path.iterdir()] == ["a"]
    assert (tmp_path / "a").read_bytes() == b"2"


@pytest.mark.skipif(os.name == "nt", reason="POSIX permission bits")
def test_permission_bits_stay(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(b"1")
    path.chmod(0o640)
    atomic.write_bytes(path, b"2")
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


@pytest.mark.skipif(os.name == "nt", reason="links need rights on Windows")
def test_a_link_stays_and_its_file_changes(tmp_path):
    (tmp_path / "folder").mkdir()
    file = tmp_path / "folder" / "a"
    file.write_bytes(b"1")
    link = tmp_path / "link"
    link.symlink_to(file)
    atomic.write_bytes(link, b"2")
    assert link.is_symlink()
    assert file.read_bytes() == b"2"


@pytest.mark.parametrize("call", ["fsync", "replace"])
def test_a_failure_keeps_the_old_file_and_leaves_no_other(tmp_path, monkeypatch, call):
    path = tmp_path / "a"
    path.write_bytes(b"old")

    def fail(*_arguments):
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(os, call, fail)
    with pytest.raises(OSError, match="“a” was not written: Input/output error"):
        atomic.write_bytes(path, b"new")
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["a"]


def test_an_interrupted_write_leaves_no_other_file(tmp_path, monkeypatch):
    def interrupt(*_arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        atomic.write_bytes(tmp_path / "a", b"new")
    assert os.listdir(tmp_path) == []


def test_a_folder_that_may_not_be_written_is_named(tmp_path, monkeypatch):
    def refuse(*_arguments):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(PermissionError) as caught:
        atomic.write_bytes(tmp_path / "a", b"")
    assert caught.value.strerror == f"Files cannot be written in the folder “{tmp_path}”. Save in another folder."


def test_a_missing_folder_is_named(tmp_path):
    with pytest.raises(FileNotFoundError) as caught:
        atomic.write_bytes(tmp_path / "gone" / "a", b"")
    assert caught.value.strerror == f"There is no folder “{tmp_path / 'gone'}”."


def test_a_folder_is_not_a_target(tmp_path):
    with pytest.raises(IsADirectoryError) as caught:
        atomic.write_bytes(tmp_path, b"")
    assert "is a folder" in str(caught.value.strerror)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names here")
def test_a_pipe_is_not_replaced_by_a_file(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="cannot be a file"):
        atomic.write_bytes(tmp_path / "pipe", b"")
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)


def test_a_read_only_file_is_not_replaced(tmp_path, monkeypatch):
    path = tmp_path / "a"
    path.write_bytes(b"old")
    monkeypatch.setattr(os, "access", lambda *_arguments: False)
    with pytest.raises(PermissionError) as caught:
        atomic.write_bytes(path, b"new")
    assert caught.value.strerror == "“a” is read-only. Save under another name."


def test_a_file_that_another_program_holds_is_said_to_be_open_there(tmp_path, monkeypatch):
    path = tmp_path / "a"
    path.write_bytes(b"old")

    def refuse(*_arguments):
        raise PermissionError(13, "Access is denied")

    monkeypatch.setattr(os, "replace", refuse)
    with pytest.raises(PermissionError) as caught:
        atomic.write_bytes(path, b"new")
    assert "is open in another program" in caught.value.strerror
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["a"]
