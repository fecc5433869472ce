"""One of `CompileProcesses`: `python -m donkeysim.sim.compile_apart STAGE ...` prints each stage when done."""

import gc
import os
import signal
import sys
import threading

from donkeysim.core.inner_compiler import remember_call_types
from donkeysim.sim.compile_processes import mark_compiled
from donkeysim.sim.simulator import Simulator
from donkeysim.world.specs import SceneSpec, WorldSpec

OBJECTS_BEFORE_COLLECTION = 100_000
"""Numba keeps nearly all objects it makes; looking for garbage among them takes a tenth of the time."""


def main() -> None:
    """Compile the stages named on the command line, on the smallest scene."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    remember_call_types()
    gc.set_threshold(OBJECTS_BEFORE_COLLECTION, 50, 1000)
    threading.Thread(target=_leave_with_parent, daemon=True).start()
    stages = dict(Simulator(WorldSpec(scene=SceneSpec("flat"))).list_compile_stages())
    for stage in sys.argv[1:]:
        stages[stage]()
        mark_compiled(stage)
        sys.stdout.write(stage + "\n")
        sys.stdout.flush()


def _leave_with_parent() -> None:
    """End this process when the one that started it has ended, which closes our standard input."""
    while os.read(0, 4096):  # not sys.stdin, whose lock would be held when this process ends
        pass
    os._exit(1)


if __name__ == "__main__":
    main()
