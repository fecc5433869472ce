"""One of `CompileProcesses`: `python -m donkeysim.sim.compile_apart STAGE ...` prints each stage when done.

After a part it begins anew for the next one, where a process can: what compiling leaves behind goes.
"""

import gc
import os
import signal
import sys
import threading

from donkeysim.core.inner_compiler import remember_call_types
from donkeysim.core.memory import give_back
from donkeysim.sim.compile_processes import PARTS, WORKPLACE, mark_compiled
from donkeysim.sim.simulator import Simulator
from donkeysim.world.specs import SceneSpec, WorldSpec

COLLECTION = 5_000, 5, 2
"""How often garbage is looked for; what a function was made of refers to itself and goes in the last round."""


def main() -> None:
    """Compile the stages named on the command line, on the smallest scene."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    sys.modules["scipy.linalg.cython_blas"] = None  # type: ignore[assignment]  # Numba would load it; no kernel needs it
    remember_call_types()
    threading.Thread(target=_leave_with_parent, daemon=True).start()
    part, rest = _split(sys.argv[1:])
    stages = dict(Simulator(WorldSpec(scene=SceneSpec("flat"))).list_compile_stages())
    gc.collect()
    gc.freeze()  # going through what Numba itself consists of would take a tenth of the time
    gc.collect()  # of so little that Python does not put off the rounds to come
    gc.callbacks.append(_give_back_after)
    gc.set_threshold(*COLLECTION)
    for stage in part:
        stages[stage]()
        mark_compiled(stage)
        sys.stdout.write(stage + "\n")
        sys.stdout.flush()
    if rest:
        os.execv(sys.executable, [sys.executable, "-m", WORKPLACE, *rest])


def _split(stages: list[str]) -> tuple[list[str], list[str]]:
    """Return the stages to compile in this process, and those after which it begins anew."""
    if os.name != "posix":
        return stages, []
    part = next(part for part in PARTS if stages[0] in part)
    return [stage for stage in stages if stage in part], [stage for stage in stages if stage not in part]


def _give_back_after(phase: str, about: dict[str, int]) -> None:
    """Give memory back after the last round of a collection."""
    if phase == "stop" and about["generation"] == 2:
        give_back()


def _leave_with_parent() -> None:
    """End this process when the one that started it has ended, which closes our standard input."""
    while os.read(0, 4096):  # not sys.stdin, whose lock would be held when this process ends
        pass
    os._exit(1)


if __name__ == "__main__":
    main()
