"""A tub's lock keeps a second writer out, says who has it, and ends with its holder, however that ends."""

import errno
import os
import subprocess
import sys

import filelock
import pytest

from donkeysim.core.errors import TubError
from donkeysim.tub.edit import LOCK_NAME, TubLock

HOLD = "import sys, pathlib; from donkeysim.tub.edit import TubLock; " + (
    "lock = TubLock(pathlib.Path(sys.argv[1])); print('held', flush=True); sys.stdin.read()"
)


@pytest.fixture
def holder(tmp_path):
    """A process that holds the lock of `tmp_path` until it is killed."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert process.stdout.readline().strip() == b"held"
    yield process
    process.kill()
    process.communicate()


def test_every_second_writer_is_told_the_process_that_holds_the_lock(tmp_path, holder):
    for _ in range(3):
        with pytest.raises(TubError, match=rf"another program \(process {holder.pid}\); stop it"):
            TubLock(tmp_path)


def test_a_killed_holder_leaves_no_stuck_lock(tmp_path, holder):
    holder.kill()  # SIGKILL on Unix: nothing of its own can run any more
    holder.wait()
    assert (tmp_path / LOCK_NAME).exists()
    TubLock(tmp_path).release()


def test_a_released_lock_may_be_taken_and_released_again(tmp_path):
    first = TubLock(tmp_path)
    first.release()
    first.release()
    second = TubLock(tmp_path)
    assert (tmp_path / LOCK_NAME).read_text(encoding="ascii").strip() == str(os.getpid())
    second.release()


def test_a_folder_where_nothing_can_be_locked_is_written_to_with_a_warning(tmp_path, monkeypatch, caplog):
    def fail(_descriptor, **_options):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(filelock, "lock_descriptor", fail)
    TubLock(tmp_path).release()
    assert "write to it from one program only" in caplog.text


def test_a_folder_that_is_not_there_gets_one_sentence(tmp_path):
    with pytest.raises(TubError, match=r"cannot write into the tub .*none: No such file"):
        TubLock(tmp_path / "none")
