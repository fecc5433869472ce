"""Kernels are compiled in processes that fill the cache for everybody and end with the one that started them."""

import gc
import os
import signal
import subprocess
import sys
import time

import psutil
import pytest

from donkeysim.sim import compile_apart, compile_processes
from donkeysim.sim.simulator import FIRST_STAGES, Simulator
from donkeysim.world.specs import SceneSpec, WorldSpec

SCAN = """
from donkeysim.core.kernel_folders import CACHE_FOLDER
from donkeysim.sim.simulator import Simulator
from donkeysim.world.specs import SceneSpec, WorldSpec
before = set(CACHE_FOLDER.rglob("*.nbc"))
dict(Simulator(WorldSpec(scene=SceneSpec("flat"))).list_compile_stages())["lidar"]()
print(len(before), len(set(CACHE_FOLDER.rglob("*.nbc")) - before))
"""

START = """
from donkeysim.sim.compile_processes import CompileProcesses
processes = CompileProcesses()
print("started", flush=True)
processes.wait_for("camera")
"""

FREE = """
from llvmlite import binding
from llvmlite.binding import newpassmanagers
from donkeysim.core.inner_compiler import free_pass_managers
freed = []
newpassmanagers.NewPassManager._dispose = lambda self: freed.append(type(self).__name__)
free_pass_managers()
binding.initialize_native_target()
binding.initialize_native_asmprinter()
machine = binding.Target.from_default_triple().create_target_machine()
builder = binding.create_pass_builder(machine, binding.create_pipeline_tuning_options(speed_level=2))
builder.getModulePassManager()
builder.getFunctionPassManager()
print(*freed)
"""


def run_in(cache, *arguments):
    environment = dict(os.environ, DONKEYSIM_KERNEL_CACHE=str(cache))
    command = [sys.executable, *arguments]
    return subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def wait_for_processes(parent, count):
    """Return all that a process has started, as soon as there are so many."""
    end = time.monotonic() + 60.0
    while len(children := parent.children(recursive=True)) < count:
        assert time.monotonic() < end
        time.sleep(0.05)
    return children


def test_every_stage_belongs_to_the_crew():
    stages = [name for name, _ in Simulator(WorldSpec(scene=SceneSpec("flat"))).list_compile_stages()]
    assert sorted(stages) == sorted(name for group in compile_processes.PARTS for name in group)
    assert set(FIRST_STAGES) <= set(stages)


@pytest.mark.soak
def test_what_a_process_compiled_another_one_loads(tmp_path):
    with run_in(tmp_path, "-m", "donkeysim.sim.compile_apart", "lidar") as apart:
        assert apart.stdout.readline() == "lidar\n"
        apart.stdin.close()
    with run_in(tmp_path, "-c", SCAN) as here:
        cached, compiled = map(int, here.stdout.read().split())
    assert cached > 0
    assert compiled == 0


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="this system cannot kill so")
def test_no_process_outlives_a_killed_parent(tmp_path):
    with run_in(tmp_path, "-c", START) as parent:
        assert parent.stdout.readline() == "started\n"
        children = wait_for_processes(psutil.Process(parent.pid), len(compile_processes.PARTS))
        parent.send_signal(signal.SIGKILL)
    _, alive = psutil.wait_procs(children, timeout=10)
    for process in alive:
        process.kill()
    assert not alive


def test_closing_ends_the_processes(tmp_path, monkeypatch):
    monkeypatch.setattr(compile_processes, "CACHE_FOLDER", tmp_path)
    monkeypatch.setenv("DONKEYSIM_KERNEL_CACHE", str(tmp_path))
    with compile_processes.CompileProcesses() as processes:
        processes = set(processes._process.values())
        assert len(processes) == len(compile_processes.STARTED)
    assert all(process.poll() is not None for process in processes)


def test_pass_managers_are_freed():
    out = subprocess.run([sys.executable, "-c", FREE], capture_output=True, text=True, check=True).stdout
    assert out.split() == ["ModulePassManager", "FunctionPassManager"]


@pytest.mark.skipif(sys.platform != "linux", reason="one process for each part")
def test_a_copy_works_on_each_further_part(monkeypatch):
    copies = iter([0, 1, 2])
    monkeypatch.setattr(compile_apart.os, "fork", lambda: next(copies))
    assert compile_apart._share_out([["a"], ["b", "c"]]) == (["b", "c"], [])
    assert compile_apart._share_out([["a"], [], ["b"], ["c"]]) == (["a"], [1, 2])


def test_it_is_told_how_far_compiling_is_and_once_only(tmp_path, monkeypatch):
    """The processes are killed at once: who waits for them goes on all the same."""
    monkeypatch.setattr(compile_processes, "CACHE_FOLDER", tmp_path)
    monkeypatch.setenv("DONKEYSIM_KERNEL_CACHE", str(tmp_path))
    told = []
    with compile_processes.CompileProcesses() as processes:
        for process in processes._process.values():
            process.kill()
        processes.finish(lambda *report: told.append(report))
        processes.finish(lambda *report: told.append(report))
    stages = ["camera", "lidar", "vehicles and contacts"]
    assert told == [*((stage, done, 3) for done, stage in enumerate(stages)), ("ready", 3, 3)]


def test_what_nobody_holds_leaves_no_process_and_no_pipe(tmp_path, monkeypatch):
    monkeypatch.setattr(compile_processes, "CACHE_FOLDER", tmp_path)
    monkeypatch.setenv("DONKEYSIM_KERNEL_CACHE", str(tmp_path))
    holder = compile_processes.CompileProcesses()
    processes = set(holder._process.values())
    assert len(processes) == len(compile_processes.STARTED)
    del holder
    gc.collect()
    assert all(process.returncode is not None for process in processes)
    assert all(pipe.closed for process in processes for pipe in (process.stdin, process.stdout))


def test_a_stage_is_compiled_when_this_machine_or_the_package_has_its_kernels(tmp_path, monkeypatch):
    monkeypatch.setattr(compile_processes, "CACHE_FOLDER", tmp_path)
    assert not compile_processes.is_compiled("camera")
    compile_processes.mark_compiled("camera")
    assert compile_processes.is_compiled("camera")
    assert not compile_processes.is_compiled("lidar")
    monkeypatch.setattr(compile_processes, "READY_LIBRARY", tmp_path / "kernels.so")
    assert compile_processes.is_compiled("lidar")
