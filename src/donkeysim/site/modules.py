"""The module of compiled kernels that pages run: one that came with the package, or one that is compiled here."""

import importlib.util
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from filelock import FileLock

from donkeysim.core.errors import DonkeySimError, describe_install
from donkeysim.core.kernel_folders import CACHE_FOLDER, PACKAGE, name_sources

READY_FOLDER = PACKAGE / "ready_kernels"
"""Where modules lie in a wheel that carries them."""


def name_module() -> str:
    """Return the name of the module for these sources."""
    return f"kernels-{name_sources()}.wasm"


def make_module() -> Path:
    """Return the module for these sources; where there is none it is compiled, which takes half a minute.

    Raises:
        DonkeySimError: It must be compiled, and what links it is not installed or fails.
    """
    ready, module = READY_FOLDER / name_module(), CACHE_FOLDER / name_module()
    if ready.is_file() or module.is_file():
        return ready if ready.is_file() else module
    with FileLock(f"{module}.lock"):  # two programs that start at once compile once
        if not module.is_file():
            compile_module(module)
    return module


def compile_module(module: Path) -> None:
    """Compile all kernels that pages call into a file.

    Raises:
        DonkeySimError: What links them is not installed, or fails.
    """
    if importlib.util.find_spec("ziglang") is None:
        raise DonkeySimError(
            "this donkeysim has no kernels for pages yet, and making them takes the linker ziglang; install it "
            f"{describe_install('site')}. Wheels of a release carry them."
        )
    with tempfile.TemporaryDirectory(dir=module.parent) as folder:
        fresh = Path(folder, module.name)
        program = (sys.executable, "-m", "donkeysim.site.compile_wasm", str(fresh))
        # For a processor that nobody has in particular: what this one can do would be taken into the code.
        machine = {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": ""}
        done = subprocess.run(program, env=os.environ | machine, capture_output=True, text=True, check=False)
        if done.returncode or not fresh.is_file():
            raise DonkeySimError(f"kernels for pages could not be compiled: {done.stderr.strip()[-500:]}")
        fresh.replace(module)


def fill_ready_module() -> Path:
    """Put the module where a wheel carries it, and return where that is.

    Raises:
        DonkeySimError: As `compile_module`.
    """
    module = READY_FOLDER / name_module()
    module.parent.mkdir(exist_ok=True)
    compile_module(module)
    return module
