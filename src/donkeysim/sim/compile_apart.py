"""One of `CompileProcesses`: `python -m donkeysim.sim.compile_apart STAGE ...` prints each stage when done."""

import gc
import os
import signal
import sys
import threading
from collections.abc import Sequence

from donkeysim.core.inner_compiler import free_pass_managers, remember_call_types
from donkeysim.core.kernel import prepare_compiler
from donkeysim.core.kernel_cache import forget_statements
from donkeysim.core.memory import give_back
from donkeysim.sim.compile_processes import PARTS, mark_compiled
from donkeysim.sim.simulator import Simulator
from donkeysim.world.specs import SceneSpec, WorldSpec

COLLECTION = 5_000, 5, 2
"""How often garbage is looked for; what a function was made of refers to itself and goes in the last round."""

GIVING_BACK = 0.5
"""Between two times when memory is given back [s]."""


def main() -> None:
    """Compile the stages named on the command line, on the smallest scene."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    sys.modules["scipy.linalg.cython_blas"] = None  # type: ignore[assignment]  # Numba would load it; no kernel needs it
    remember_call_types()
    free_pass_managers()
    forget_statements()
    stages = dict(Simulator(WorldSpec(scene=SceneSpec("flat"))).list_compile_stages())
    prepare_compiler()  # once, not in each copy of this process
    gc.collect()
    gc.freeze()  # going through what Numba itself consists of would take a tenth of the time
    gc.collect()  # of so little that Python does not put off the rounds to come
    give_back()
    mine, children = _share_out([[stage for stage in part if stage in sys.argv[1:]] for part in PARTS])
    threading.Thread(target=_leave_with_parent, daemon=True).start()
    threading.Thread(target=_give_back_now_and_then, daemon=True).start()
    gc.set_threshold(*COLLECTION)
    for stage in mine:
        stages[stage]()
        mark_compiled(stage)
        sys.stdout.write(stage + "\n")
        sys.stdout.flush()
    failures = [os.waitpid(child, 0)[1] for child in children]
    os._exit(int(any(failures)))  # to take Numba apart would first make a copy of it


def _share_out(parts: Sequence[list[str]]) -> tuple[list[str], list[int]]:
    """Return the part for this process, and the numbers of the copies made of it, one for each further part."""
    mine, *others = filter(None, parts)
    children: list[int] = []
    for part in others:
        child = os.fork()
        if not child:
            return part, []
        children.append(child)
    return mine, children


def _give_back_now_and_then() -> None:
    """Give memory back, also while LLVM works on a whole kernel."""
    never = threading.Event()
    while not never.wait(GIVING_BACK):
        give_back()


def _leave_with_parent() -> None:
    """End this process when the one that started it has ended, which closes our standard input."""
    while os.read(0, 4096):  # not sys.stdin, whose lock would be held when this process ends
        pass
    os._exit(1)


if __name__ == "__main__":
    main()
