"""Starts a simulator's executable, ours or the original's, waits until it listens, and ends it."""

import contextlib
import os
import socket
import subprocess
import tempfile
import weakref
from collections.abc import Callable
from pathlib import Path

from donkeysim.core.clock import Clock
from donkeysim.core.errors import SimulatorError
from donkeysim.envs.child_guard import end_guarded, start_guarded

BEAT = 0.1
"""Time between two looks whether it listens [s]."""

# Enough for a sentence and the end of a traceback.
LAST_LINES = 8
"""Lines of its output that are shown when it ends unasked."""


class LaunchedSimulator:
    """A simulator that runs as a child process, and ends with this process, however this one ends."""

    def __init__(self, path: str, port: int) -> None:
        """Start it.

        Args:
            path: The executable; it is given `--port PORT`.
            port: Where it shall listen.

        Raises:
            SimulatorError: There is no such executable, or somebody listens on the port already.
        """
        program = Path(path).expanduser()
        check_program(program)
        if is_listening("127.0.0.1", port):
            raise SimulatorError(
                f"port {port} is in use, so {program} cannot listen there; if a simulator runs on it already, use it "
                'with "remote" instead of a path, else choose another port.'
            )
        self._path, self._port = program, port
        self._output = tempfile.TemporaryFile("a+b")  # noqa: SIM115  (closed with the process)
        command = [str(program.resolve()), "--port", str(port)]
        self._process = start_guarded(command, stdout=self._output, stderr=subprocess.STDOUT)
        self._end = weakref.finalize(self, end_guarded, self._process)

    def wait_until_listening(
        self, read_clock: Clock, seconds: float, report: Callable[[], object] = lambda: None
    ) -> None:
        """Return when it takes connections; `report` is called now and then meanwhile.

        Raises:
            SimulatorError: It has ended, or not begun to listen in this time.
        """
        deadline = read_clock() + seconds
        while not is_listening("127.0.0.1", self._port):
            self.check()
            report()
            if read_clock() > deadline:
                raise SimulatorError(f"{self._path} does not listen on port {self._port} after {seconds:g} s.")
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(BEAT)

    def check(self) -> None:
        """Return when it still runs.

        Raises:
            SimulatorError: It has ended; the text shows its last lines.
        """
        code = self._process.poll()
        if code is not None:
            said = self._read_lines(LAST_LINES) or "  (it printed nothing)"
            raise SimulatorError(f"{self._path} ended with exit code {code}:\n{said}")

    def read_last_line(self) -> str:
        """Return what it has said last; "" when it has said nothing yet."""
        return self._read_lines(1).strip()

    def stop(self) -> None:
        """End it: asked first, killed when it does not listen to that."""
        self._end()
        self._output.close()

    quit = stop  # as the original calls it

    def _read_lines(self, count: int) -> str:
        """Return the last lines it has said, each indented."""
        self._output.seek(0)
        lines = self._output.read().decode(errors="replace").splitlines()
        return "\n".join(f"  {line}" for line in lines[-count:])


def check_program(program: Path) -> None:
    """Return when a program can be started.

    Raises:
        SimulatorError: It is not there, or is none.
    """
    if not program.is_file():
        raise SimulatorError(
            f'there is no simulator at {program}; give the path of its executable, "remote" for one that runs, or "" '
            "for the built-in one."
        )
    if not os.access(program, os.X_OK):
        raise SimulatorError(f"{program} cannot be run; allow it with: chmod +x {program}")


def is_listening(host: str, port: int) -> bool:
    """Return whether somebody takes connections there."""
    with contextlib.suppress(OSError), socket.create_connection((host, port), timeout=1.0):
        return True
    return False
