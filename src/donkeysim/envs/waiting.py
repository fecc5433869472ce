"""What takes long is said in the log, on standard error where nobody set one up: waiting, and compiling."""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from donkeysim.sim.simulator import Simulator

TELL_SECONDS = 2.0
"""After this time it is logged what is waited for [s]."""

STILL_SECONDS = 10.0
"""And then again this often [s]."""

_log = logging.getLogger("donkeysim.envs")


class WaitReport:
    """Says what is waited for: first after `TELL_SECONDS`."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._begun = time.monotonic()
        self._tells_at = TELL_SECONDS

    def log(self) -> bool:
        """Say it if it is time to, and return whether it was; call it often."""
        waited = time.monotonic() - self._begun
        if waited < self._tells_at:
            return False
        is_first, self._tells_at = self._tells_at == TELL_SECONDS, waited + STILL_SECONDS
        _log.warning("waiting for %s ...%s", self._what, "" if is_first else f" {waited:.0f} s so far")
        return True


def announce_kernels(stage: str) -> None:
    """Say in the log that kernels are compiled now, unless this stage was marked as compiled before."""
    from donkeysim.sim.compile_processes import is_compiled  # not for who waits for another program

    if not is_compiled(stage):
        _log.warning(
            "First run on this machine: kernels of a %s are compiled, once, which takes about a minute.", stage
        )


def compile_aloud(simulator: Simulator) -> None:
    """Compile what driving needs; the first time on a machine, which takes long, the log says how far it is.

    A warning, because that is what Python shows where no logging was set up.
    """
    if not simulator.must_compile:
        simulator.compile()
        return
    begun = time.perf_counter()

    def report(stage: str, done: int, total: int) -> None:
        if done < total:
            _log.warning("First run: compiling kernels, %d of %d: %s", done, total, stage)

    _log.warning("First run on this machine: kernels are compiled, once, which takes about half a minute.")
    simulator.compile(report)
    _log.warning("First run: kernels compiled in %.0f s", time.perf_counter() - begun)
