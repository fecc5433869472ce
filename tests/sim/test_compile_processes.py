"""Kernels are compiled in processes that fill the cache for everybody and end with the one that started them."""

import gc
import os
import shutil
import signal
import subprocess
import sys

import psutil
import pytest

from donkeysim.cli import donkey_sim
from donkeysim.core import memory
from donkeysim.serve import scene_loader
from donkeysim.sim import compile_apart, compile_processes
from donkeysim.sim.simulator import FIRST_STAGES, Simulator
from donkeysim.world.specs import SceneSpec, WorldSpec

SCAN = """
from donkeysim.core.kernel import CACHE_FOLDER
from donkeysim.sim.simulator import Simulator
from donkeysim.world.specs import SceneSpec, WorldSpec
before = set(CACHE_FOLDER.rglob("*.nbc"))
dict(Simulator(WorldSpec(scene=SceneSpec("flat"))).list_compile_stages())["lidar"]()
print(len(before), len(set(CACHE_FOLDER.rglob("*.nbc")) - before))
"""

START = """
from donkeysim.sim.compile_processes import CompileProcesses
processes = CompileProcesses()
print(*{process.pid for process in processes._process.values()}, flush=True)
processes.wait_for("camera")
"""


def run_in(cache, *arguments):
    environment = dict(os.environ, DONKEYSIM_KERNEL_CACHE=str(cache))
    command = [sys.executable, *arguments]
    return subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


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
        children = [psutil.Process(int(pid)) for pid in parent.stdout.readline().split()]
        assert len(children) == 2
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
        assert len(processes) == 2
    assert all(process.poll() is not None for process in processes)


def test_one_after_another_there_is_one_process(tmp_path, monkeypatch):
    monkeypatch.setattr(compile_processes, "CACHE_FOLDER", tmp_path)
    monkeypatch.setenv("DONKEYSIM_KERNEL_CACHE", str(tmp_path))
    with compile_processes.CompileProcesses(side_by_side=False) as processes:
        assert list(processes._process) == [stage for part in compile_processes.PARTS for stage in part]
        assert len(set(processes._process.values())) == 1


@pytest.mark.parametrize(("available", "is_side_by_side"), [(1.0e9, False), (4.0e9, True), (float("inf"), True)])
def test_a_server_compiles_side_by_side_where_there_is_memory(available, is_side_by_side, monkeypatch):
    chosen = []
    monkeypatch.setattr(memory, "find_available", lambda: available)
    monkeypatch.setattr(compile_processes, "CompileProcesses", lambda *, side_by_side: chosen.append(side_by_side))
    monkeypatch.setattr(scene_loader, "SceneLoader", lambda *_: None)
    donkey_sim._make_loader(None)
    assert chosen == [is_side_by_side]


def test_this_machine_says_how_much_memory_there_is():
    assert memory.find_available() > 1.0e7


@pytest.mark.skipif(os.name != "posix", reason="a process cannot begin anew here")
def test_a_process_begins_anew_for_each_part():
    first, second = compile_processes.PARTS
    assert compile_apart._split([*first, *second]) == ([*first], [*second])
    assert compile_apart._split([first[-1], *second]) == ([first[-1]], [*second])
    assert compile_apart._split([*second]) == ([*second], [])


def test_it_is_told_how_far_compiling_is_and_once_only(tmp_path, monkeypatch):
    """The processes are killed at once: who waits for them goes on all the same."""
    monkeypatch.setattr(compile_processes, "CACHE_FOLDER", tmp_path)
    monkeypatch.setenv("DONKEYSIM_KERNEL_CACHE", str(tmp_path))
    told = []
    with compile_processes.CompileProcesses(side_by_side=False) as processes:
        for process in processes._process.values():
            process.kill()
        processes.finish(lambda *report: told.append(report))
        processes.finish(lambda *report: told.append(report))
    stages = [stage for part in compile_processes.PARTS for stage in part]
    assert told == [*((stage, done, 3) for done, stage in enumerate(stages)), ("ready", 3, 3)]


def test_what_nobody_holds_leaves_no_process_and_no_pipe(tmp_path, monkeypatch):
    monkeypatch.setattr(compile_processes, "CACHE_FOLDER", tmp_path)
    monkeypatch.setenv("DONKEYSIM_KERNEL_CACHE", str(tmp_path))
    holder = compile_processes.CompileProcesses()
    processes = set(holder._process.values())
    assert len(processes) == 2
    del holder
    gc.collect()
    assert all(process.returncode is not None for process in processes)
    assert all(pipe.closed for process in processes for pipe in (process.stdin, process.stdout))


def test_a_stage_is_compiled_when_this_machine_or_the_package_has_its_kernels(tmp_path, monkeypatch):
    cache, ready = tmp_path / "cache", tmp_path / "ready"
    monkeypatch.setattr(compile_processes, "CACHE_FOLDER", cache)
    monkeypatch.setattr(compile_processes, "READY_FOLDER", ready)
    assert not compile_processes.is_compiled("camera")
    for folder in (cache, ready):
        folder.mkdir()
        monkeypatch.setattr(compile_processes, "CACHE_FOLDER", folder)
        compile_processes.mark_compiled("camera")
        monkeypatch.setattr(compile_processes, "CACHE_FOLDER", cache)
        assert compile_processes.is_compiled("camera")
        shutil.rmtree(folder)
        assert not compile_processes.is_compiled("camera")
