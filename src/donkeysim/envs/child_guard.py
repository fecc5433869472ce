"""Keeps a program while the process that wants it lives: `python -m donkeysim.envs.child_guard PROGRAM ARGUMENTS`.

The program must not outlive the one who started it, however that ends, on any system, and knows nothing of it. So this
small process stands between the two: when its standard input closes, it ends the program.
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


def end_guarded(process: subprocess.Popen[bytes]) -> None:
    """Let go of the guard, which ends its program."""
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
    signal.signal(signal.SIGTERM, lambda *_: end_group(process, signal.SIGTERM))
    return int(process.wait()) & 0xFF


def _own_group() -> dict[str, object]:
    """Return how to start a program that Ctrl-C in our terminal does not reach."""
    if sys.platform == "win32":
        return {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP}
    return {"start_new_session": True}


def _end_with_parent(process: subprocess.Popen[bytes]) -> None:
    """End the program when the process that started us has ended or let go, which closes our standard input."""
    while os.read(0, 4096):  # not sys.stdin, whose lock would be held when this process ends
        pass
    end_group(process, signal.SIGTERM)
    try:
        process.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        end_group(process, None)


def end_group(process: subprocess.Popen[bytes], number: int | None) -> None:
    """Send a signal to a program and all it has started; None kills. On Windows any signal is Ctrl-Break."""
    if sys.platform == "win32":
        process.kill() if number is None else process.send_signal(signal.CTRL_BREAK_EVENT)
        return
    try:
        os.killpg(process.pid, signal.SIGKILL if number is None else number)
    except ProcessLookupError:
        return


if __name__ == "__main__":
    raise SystemExit(main())
