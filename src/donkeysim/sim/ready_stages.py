"""Fills the folder of kernels that a wheel carries: compiled apart, for a target instead of the processor here."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from donkeysim.core.errors import DonkeySimError
from donkeysim.core.kernel import name_ready_folder
from donkeysim.core.ready_kernels import find_target
from donkeysim.sim.compile_processes import PARTS, WORKPLACE


def fill_ready_folder() -> Path:
    """Compile all stages for this machine's target into the package, and return the folder.

    Raises:
        DonkeySimError: This processor is of no target, or something could not be compiled.
    """
    target, ready = find_target(), name_ready_folder()
    if target is None or ready is None:
        raise DonkeySimError("kernels can be made ready on x86-64-v3 or ARM processors only: use another machine.")
    with tempfile.TemporaryDirectory() as folder:
        environment = {
            **os.environ,
            "NUMBA_CPU_NAME": target.name,
            "NUMBA_CPU_FEATURES": target.switches,
            "DONKEYSIM_KERNEL_CACHE": folder,
        }
        commands = [[sys.executable, "-m", WORKPLACE, *stages] for stages in PARTS]
        running = [subprocess.Popen(command, env=environment, stdin=subprocess.PIPE) for command in commands]
        if any([process.wait() for process in running]):  # noqa: C419  (all are waited for)
            raise DonkeySimError("kernels could not be compiled; the reason stands above.")
        (filled,) = Path(folder).iterdir()
        shutil.rmtree(ready, ignore_errors=True)
        shutil.copytree(filled, ready)
    return ready
