"""Compile kernels into the library that a wheel or an image carries: `python -m supply.kernels`.

All that the base install calls is called here with each set of types; what is missing, an install without Numba cannot
run. It goes into the package that is imported.
"""

import json
import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import llvmlite.binding as llvm
import numpy as np
from numba import types
from numba.np.numpy_support import as_dtype

from donkeysim.core import rng
from donkeysim.core.device import Cpu
from donkeysim.core.errors import DonkeySimError
from donkeysim.core.inner_compiler import remember_call_types
from donkeysim.core.kernel_cache import KernelCache
from donkeysim.core.kernel_folders import PACKAGE, find_target, name_ready_library
from donkeysim.core.object_file import Machine, link, write_object
from donkeysim.core.ready_kernel import name_array, name_function
from donkeysim.core.workers import Workers
from donkeysim.envs.kernels.episodes import decode_action
from donkeysim.envs.track_env import TrackVectorEnv
from donkeysim.physics.engine import PhysicsEngine
from donkeysim.sim.compile_processes import mark_compiled
from donkeysim.sim.simulator import Simulator
from donkeysim.world.randomization import read_randomization
from donkeysim.world.ranges import DelayRanges
from donkeysim.world.specs import CameraSpec, ChallengeSpec, SceneSpec, WorldSpec, load_car
from donkeysim.world.state import Layout
from donkeysim.world.tracks.catalogue import share_scene

ROOT = Path(__file__).resolve().parent.parent

SYSTEMS = {"linux": "linux-gnu.2.17", "darwin": "macos.11.0", "win32": "windows-gnu"}
"""What Zig calls them; Linux by the oldest C library that a wheel is for."""

PROCESSORS = {"amd64": "x86_64", "arm64": "aarch64"}
"""What Zig calls those for which a system has another name."""


def fill_package(sources: Path = PACKAGE.parent) -> None:
    """Compile kernels into a package, in a process whose environment tells Numba which processor it compiles for.

    Args:
        sources: The folder in which the package lies.

    Raises:
        DonkeySimError: This processor is of no target.
    """
    target = find_target()
    if target is None:
        raise DonkeySimError("kernels can be made ready on x86-64-v3 or ARM processors only: use another machine.")
    with tempfile.TemporaryDirectory() as cache:
        environment = {
            "PYTHONPATH": os.pathsep.join(map(str, (sources, ROOT))),
            "NUMBA_CPU_NAME": target.name,
            "NUMBA_CPU_FEATURES": target.switches,
            "DONKEYSIM_COMPILE": "1",
            "DONKEYSIM_KERNEL_CACHE": cache,
        }
        code = "from supply.kernels import write_library_here; write_library_here()"
        subprocess.run([sys.executable, "-c", code], env=os.environ | environment, check=True)


def write_library_here() -> None:
    """Write the library of the package that is imported."""
    remember_call_types()
    library = name_ready_library()
    assert library is not None
    library.parent.mkdir(exist_ok=True)
    write_library(library, call_kernels)


def write_library(library: Path, call: Callable[[], None]) -> None:
    """Compile and link kernels, and write down beside the library what it contains.

    Args:
        library: Its file.
        call: Calls the kernels with all types that they are wanted for; none may have been called before.
    """
    target = find_target()
    assert target is not None
    # Zig links for Windows with MinGW's C library, not with Microsoft's.
    triple = llvm.get_process_triple().replace("windows-msvc", "windows-gnu")
    machine = Machine(triple, target.switches, target.name, "pic")
    objects: dict[str, bytes] = {}
    listed: dict[str, list[tuple[str, str, str]]] = {}
    for name, compiled in collect_forms(call):
        symbol = f"kernel_{len(objects)}"
        objects[symbol] = write_object(symbol, compiled, machine)
        kinds = f"({','.join(map(name_type, compiled.signature.args))})"
        listed.setdefault(name, []).append((kinds, symbol, name_result(compiled.signature.return_type)))
    processor = platform.machine().lower()
    zig_target = f"{PROCESSORS.get(processor, processor)}-{SYSTEMS[sys.platform]}"
    link(objects, library, ("-target", zig_target, "-shared", "-s"))
    library.with_suffix(".json").write_text(json.dumps(listed, indent=1) + "\n", encoding="utf-8")


def collect_forms(call: Callable[[], None]) -> list[tuple[str, Any]]:
    """Return names of kernels and compiled forms of them, one for each set of types that Python calls them with."""
    forms: list[tuple[str, Any]] = []

    def note(cache: KernelCache, signature: Any, compiled: Any) -> None:
        if not any(hasattr(kind, "literal_value") for kind in signature):  # one that another kernel calls
            forms.append((name_function(cache.function), compiled))

    kernel_cache: Any = KernelCache
    ways = kernel_cache.save_overload, kernel_cache.load_overload
    kernel_cache.save_overload, kernel_cache.load_overload = note, lambda *_: None
    try:
        call()
    finally:
        kernel_cache.save_overload, kernel_cache.load_overload = ways
    return forms


def call_kernels() -> None:
    """Call all that the base install calls."""
    simulator = Simulator(WorldSpec(scene=SceneSpec("generated_road")))
    for stage, compile_stage in simulator.list_compile_stages():
        compile_stage()
        mark_compiled(stage)  # or processes would compile it once more for the batches
    run_index_kernels(Cpu(Workers(1)))
    simulator.scene.path.frame.place(np.zeros(1))
    for draw in (rng.hash_words, rng.draw_uniform, rng.draw_gaussian):
        draw(1, 2, 3, 4)
    rng.hash_rows(1, 2, 3, np.arange(4))


def run_index_kernels(device: Cpu) -> None:
    """Run every index kernel of the package."""
    step_worlds(device)
    drive_batch(device)


def step_worlds(device: Cpu) -> None:
    """Run what physics has: steps, places and rows."""
    scene = share_scene(SceneSpec("generated_track", challenges=ChallengeSpec(cones=1)))
    props = len(scene.props.mass)
    stepper = PhysicsEngine(Layout([scene], np.zeros(1, np.int32), load_car("original"), 1, 1, props), device)
    for _, compile_stage in stepper.list_compile_stages():
        compile_stage()


def drive_batch(device: Cpu) -> None:
    """Run what a batch of environments has: episodes, pictures of every kind, what is drawn, stacks."""
    drawn = read_randomization("wide")
    picture = replace(drawn.picture, jpeg_quality=None)
    for quality in ("default", "fast"):
        batch = TrackVectorEnv(
            1,
            device=device,
            observe=("camera", "grey", "depth", "segmentation", "vector"),
            stack=2,
            camera=CameraSpec(width=32, height=24, quality=quality),
            camera_spread=(0.01, 0.01),
            autoreset_mode="SameStep",
            time_limit=0.01,
            randomization=replace(drawn, delay=DelayRanges(), picture=picture),
        )
        batch.reset(seed=1)
        batch.step(np.zeros((1, 2)))
    for kind in (np.float32, np.float64):  # actions that lie on the device
        device.run(decode_action, 1, np.zeros((1, 2), kind), 1.0, -1.0, 1.0, np.zeros((3, 1)))


def name_type(kind: Any) -> str:
    """Return what `ready_kernel.name_type` calls a type of Numba's."""
    if isinstance(kind, types.Array):
        return name_array(as_dtype(kind.dtype), kind.ndim, kind.layout, kind.mutable)
    if isinstance(kind, (types.Tuple, types.NamedTuple, types.UniTuple, types.NamedUniTuple)):
        return f"({','.join(map(name_type, kind.types))})"
    return str(as_dtype(kind).str)


def name_result(kind: Any) -> str:
    """Return NumPy's name of the type of a number that is returned; "" for none."""
    return "" if kind == types.none else name_type(kind)


if __name__ == "__main__":
    fill_package()
