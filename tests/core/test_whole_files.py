"""A file is there whole or not at all; what killed writers leave is taken away; failures say what to do."""

import errno
import os
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from donkeysim.core import files
from donkeysim.core.errors import DonkeySimError, PilotError
from donkeysim.core.files import describe_failure, make_folder, replace_file, write_whole
from small_disk import fill_up, forbid_writing, list_files, mount_disk


@pytest.fixture
def refusals(monkeypatch):
    """How often a file or folder is not given another name, as by Windows while somebody has a file open."""
    refusals = [PermissionError(13, "Access is denied")] * 3

    def refuse_at_first(rename):
        return lambda fresh, target: (_ for _ in ()).throw(refusals.pop()) if refusals else rename(fresh, target)

    for name in ("rename", "replace"):
        monkeypatch.setattr(Path, name, refuse_at_first(getattr(Path, name)))
    monkeypatch.setattr(files, "RENAME_TRIES", 50)
    return refusals


def test_a_file_that_somebody_reads_is_replaced_once_they_are_done_where_windows_refuses_it(tmp_path, refusals):
    path = tmp_path / "report.html"
    path.write_bytes(b"old")
    write_whole(path, b"new")
    assert path.read_bytes() == b"new"
    assert not refusals


def test_a_folder_that_a_scanner_looks_through_gets_its_name_once_that_is_done(tmp_path, refusals):
    with make_folder(tmp_path / "tub") as fresh:
        (fresh / "manifest.json").write_bytes(b"{}")
    assert (tmp_path / "tub" / "manifest.json").is_file()
    assert not refusals


def test_on_windows_a_refusal_may_mean_that_a_program_has_the_file_open():
    program = "import os, shutil, tempfile; os.name = 'nt'; from donkeysim.core.files import describe_failure as tell;"
    program += "print(tell(PermissionError(13, 'Permission denied')))"
    said = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert said.startswith("Permission denied; close the program that has it open, work in another folder, or ")


@pytest.fixture
def dead_process():
    """The number of a process that has ended."""
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


def test_a_block_that_fails_leaves_the_file_as_it_was_and_nothing_else(tmp_path):
    path = tmp_path / "pilot.h5"
    path.write_bytes(b"old")

    def write_half():
        with replace_file(path, PilotError) as beside:
            beside.write_bytes(b"ha")
            raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(PilotError, match=r"^cannot write .*pilot\.h5: No space left on device; make room .*\.$"):
        write_half()
    assert path.read_bytes() == b"old"
    assert list_files(tmp_path) == ["pilot.h5"]


def test_a_block_that_removes_its_file_leaves_the_old_one(tmp_path):
    path = tmp_path / "film.mp4"
    path.write_bytes(b"old")
    with replace_file(path) as beside:
        beside.unlink()
    assert path.read_bytes() == b"old"
    assert list_files(tmp_path) == ["film.mp4"]


def test_a_written_file_may_be_read_by_whom_the_system_lets(tmp_path):
    path = tmp_path / "made" / "report.html"
    write_whole(path, b"all of it")
    assert path.read_bytes() == b"all of it"
    beside = tmp_path / "usual"
    beside.write_bytes(b"")
    assert path.stat().st_mode == beside.stat().st_mode


def test_a_writer_that_was_killed_is_known_on_windows_too(dead_process, monkeypatch):
    assert not psutil.pid_exists(dead_process)
    with monkeypatch.context() as windows:
        windows.setattr(os, "name", "nt")
        verdicts = [files._is_another(process) for process in (dead_process, os.getpid(), os.getppid())]
    assert verdicts == [False, False, True]


def test_what_a_killed_writer_left_is_taken_away_by_the_next(tmp_path, dead_process):
    alive = os.getppid()
    left = [f".pilot.{process}-abcd_123.new.h5" for process in (dead_process, os.getpid(), alive)]
    left.append(f".another.{dead_process}-abcd_123.new")
    others = [".pilot.x-abcd_123.new.h5", f"pilot.{dead_process}-abcd_123.new.h5", f".pilot.{dead_process}-abc.h5"]
    for name in [*left, *others]:
        (tmp_path / name).write_bytes(b"half")
    write_whole(tmp_path / "pilot.h5", b"new")
    assert list_files(tmp_path) == sorted([left[2], *others, "pilot.h5"])


def test_a_folder_is_there_whole_or_not_at_all(tmp_path, dead_process):
    left = tmp_path / f".drive.{dead_process}-abcd_123.new"
    (left / "data").mkdir(parents=True)

    def fill(path, is_broken):
        with make_folder(path, PilotError) as beside:
            (beside / "part").write_bytes(b"half")
            assert not path.exists()
            if is_broken:
                raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(PilotError, match=r"drive: No space left on device; make room"):
        fill(tmp_path / "drive", is_broken=True)
    assert list(tmp_path.iterdir()) == []  # what a killed writer left is gone, too
    fill(tmp_path / "deep" / "drive", is_broken=False)
    assert [path.name for path in (tmp_path / "deep").rglob("*")] == ["drive", "part"]
    (tmp_path / "usual").mkdir()
    assert (tmp_path / "deep" / "drive").stat().st_mode == (tmp_path / "usual").stat().st_mode


def test_two_writers_at_once_do_not_take_away_each_others_files(tmp_path):
    path = tmp_path / "moment.npz"
    with replace_file(path) as first:
        first.write_bytes(b"first")
        write_whole(path, b"second")
        assert path.read_bytes() == b"second"
    assert path.read_bytes() == b"first"


def test_a_full_and_a_read_only_disk_are_told_with_what_to_do(tmp_path):
    with mount_disk(tmp_path / "disk") as disk:
        write_whole(disk / "kept", b"old")
        ballast = fill_up(disk)
        with pytest.raises(DonkeySimError, match=r"kept: No space left on device; make room"):
            write_whole(disk / "kept", bytes(10_000))
        ballast.unlink()
        forbid_writing(disk)
        with pytest.raises(DonkeySimError, match=r"kept: Read-only file system; work in another folder"):
            write_whole(disk / "kept", b"new")
        assert (disk / "kept").read_bytes() == b"old"
        assert list_files(disk) == ["kept"]


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EROFS, errno.EACCES, errno.EPERM, errno.EMFILE, errno.ENFILE])
def test_every_usual_failure_says_what_to_do(number):
    reason, advice = describe_failure(OSError(number, os.strerror(number))).split("; ")
    assert reason == os.strerror(number)
    assert advice


def test_a_librarys_long_story_is_told_in_one_line():
    told = describe_failure(OSError("cannot close\n, name = 'x',\nbuf = 0x5"))
    assert told == "cannot close , name = 'x', buf = 0x5"
