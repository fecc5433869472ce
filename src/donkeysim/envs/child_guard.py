"""Keeps a program while the process that wants it lives: `python -m donkeysim.envs.child_guard PROGRAM ARGUMENTS`.

The program must not outlive the one who started it, however that ends, on any system, and knows nothing of it. So this
small process stands between the two: when its standard input closes, it ends the program. A program of our own does so
itself (`end_with_parent`).
"""

import contextlib
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence
from typing import Any

PATIENCE = 5.0
"""How long a program may take to end when it is asked to; then it is killed [s]."""


def start_guarded(command: Sequence[str], **options: Any) -> subprocess.Popen[bytes]:
    """Start a program that ends with this process, however this one ends; `options` are those of `subprocess.Popen`."""
    guard = [sys.executable, "-m", "donkeysim.envs.child_guard"]
    return subprocess.Popen([*guard, *command], stdin=subprocess.PIPE, **options)


def start_own(module: str, *arguments: str) -> subprocess.Popen[bytes]:
    """Start a module of ours that calls `end_with_parent`, and so ends with this process, however this one ends."""
    command = [sys.executable, "-m", module, *arguments]
    return subprocess.Popen(command, stdin=subprocess.PIPE, **_own_group())  # type: ignore[call-overload,no-any-return]


def end_with_parent() -> None:
    """End this process, and all that it has started, when the one that started it by `start_own` ends or lets go."""
    pipe = os.dup(0)
    with open(os.devnull, "rb") as nothing:
        os.dup2(nothing.fileno(), 0)

    def wait_and_end() -> None:
        _wait_for_parent(pipe)
        if sys.platform == "win32":  # in a venv another process leads its group there: Ctrl-Break would go to all
            signal.raise_signal(signal.SIGTERM)
        else:
            _signal_group(os.getpid(), signal.SIGTERM)
        threading.Event().wait(PATIENCE)
        _signal_group(os.getpid(), None)

    threading.Thread(target=wait_and_end, daemon=True).start()


def end_guarded(process: subprocess.Popen[bytes]) -> None:
    """Let go of a program, or of its guard, which ends it."""
    if process.stdin is not None:
        with contextlib.suppress(OSError):
            process.stdin.close()
    try:
        process.wait(PATIENCE + 3.0)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def main() -> int:
    """Run the program named on the command line, to its end or that of whoever holds our standard input."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        process = subprocess.Popen(sys.argv[1:], stdin=subprocess.DEVNULL, **_own_group())  # type: ignore[call-overload]
    except OSError as error:
        sys.stderr.write(f"{sys.argv[1]} cannot be started: {error.strerror or error}.\n")
        return 126
    threading.Thread(target=_end_with_parent, args=(process,), daemon=True).start()
    signal.signal(signal.SIGTERM, lambda *_: _signal_group(process.pid, signal.SIGTERM))
    return int(process.wait()) & 0xFF


def _own_group() -> dict[str, object]:
    """Return how to start a program that Ctrl-C in our terminal does not reach."""
    if sys.platform == "win32":
        return {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP}
    return {"start_new_session": True}


def _wait_for_parent(pipe: int) -> None:
    """Return when the process that started us has ended or let go, which closes what we read from."""
    while os.read(pipe, 4096):  # not sys.stdin, whose lock would be held when this process ends
        pass


def _end_with_parent(process: subprocess.Popen[bytes]) -> None:
    """End the program when the process that started us has ended or let go."""
    _wait_for_parent(0)
    _signal_group(process.pid, signal.SIGTERM)
    try:
        process.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        _signal_group(process.pid, None)


def _signal_group(leader: int, number: int | None) -> None:
    """Send a signal to a program and all it has started; None kills. On Windows any signal is Ctrl-Break."""
    if sys.platform == "win32":
        number = signal.SIGTERM if number is None else signal.CTRL_BREAK_EVENT  # the first kills at once there
        send = os.kill
    else:
        number = signal.SIGKILL if number is None else number
        send = os.killpg
    # It may have ended, which macOS and Windows report in other ways, or share no console with us: then it is killed.
    with contextlib.suppress(OSError, SystemError):
        send(leader, number)


if __name__ == "__main__":
    raise SystemExit(main())
