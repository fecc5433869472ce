"""Programs that we start end with us: orderly where they can, killed where no signal reaches them."""

import contextlib
import os
import signal
import subprocess
import sys

import pytest

from donkeysim.envs import child_guard

# In a venv there the number of a process is none of a group's: Ctrl-Break to it may go to the whole console.
AS_ON_WINDOWS = """
import os, shutil, signal, sys

def kill(process, number):
    print("signalled", process == os.getpid(), number, flush=True)
    raise OSError(22, "The parameter is incorrect")

sys.platform, signal.CTRL_BREAK_EVENT, os.kill = "win32", 1, kill
"""

WORK = """
from threading import Event
from donkeysim.envs.child_guard import end_with_parent

ended = []
signal.signal(signal.SIGTERM, lambda *_: ended.append("closed"))
end_with_parent()
print("begun", flush=True)
while not ended:
    Event().wait(0.01)
print(*ended, flush=True)
"""


def test_on_windows_a_program_of_ours_ends_itself_in_order_when_its_parent_lets_go():
    command = [sys.executable, "-c", AS_ON_WINDOWS + WORK]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        begun = process.stdout.readline()
        process.stdin.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(30)
        process.kill()
        said = begun + process.stdout.read()
    assert (said, process.returncode) == ("begun\nclosed\n", 0)


@pytest.mark.skipif(os.name == "nt", reason="there are no groups to be killed there")
@pytest.mark.parametrize(
    "error", [PermissionError(1, "a zombie on macOS"), OSError(22, "no such group"), SystemError("no console")]
)
def test_a_program_that_no_signal_reaches_is_killed(monkeypatch, error):
    sent = []

    def send(leader, number):
        sent.append((leader, number))
        if len(sent) == 1:
            raise error

    monkeypatch.setattr(os, "killpg", send)
    monkeypatch.setattr(child_guard, "_wait_for_parent", lambda _pipe: None)
    monkeypatch.setattr(child_guard, "PATIENCE", 0.01)
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        child_guard._end_with_parent(process)
        process.kill()
    assert sent == [(process.pid, signal.SIGTERM), (process.pid, signal.SIGKILL)]
