"""The log of the simulator where its disk is full or its folder is read-only."""

import contextlib
import logging

from donkeysim.cli import donkey_sim
from small_disk import fill_up, forbid_writing, mount_disk


@contextlib.contextmanager
def start_log(path):
    """Begin a log as the program does; pytest's own handlers are away meanwhile."""
    root = logging.getLogger()
    before, level = root.handlers[:], root.level
    root.handlers[:] = []
    donkey_sim._start_log(str(path))
    try:
        yield root
    finally:
        for handler in root.handlers:
            if getattr(handler.stream, "name", None) == str(path):
                handler.stream.close()
        root.handlers[:] = before
        root.setLevel(level)


def test_a_log_on_a_full_disk_is_told_of_once_and_goes_on_when_there_is_room(tmp_path, capsys):
    with mount_disk(tmp_path / "disk") as disk:
        ballast = fill_up(disk)
        with start_log(disk / "sim.log") as log:
            for number in range(200):
                log.warning("fault %d", number)
            told = capsys.readouterr().err
            assert told.count("\n") == 1
            assert "No space left on device; make room" in told
            ballast.unlink()
            log.warning("there is room again")
        assert (disk / "sim.log").read_text().endswith("there is room again\n")


def test_a_log_in_a_folder_that_is_read_only_goes_to_standard_error(tmp_path, capsys):
    with mount_disk(tmp_path / "disk") as disk:
        forbid_writing(disk)
        with start_log(disk / "sim.log"):
            assert "Read-only file system; work in another folder" in capsys.readouterr().err
