"""Compiles kernels in processes of their own while this one continues.

Numba compiles one function at a time in a process, and holds the interpreter while it does. A first run therefore lets
other processes fill the kernel cache; this one loads what they made. They end with this process, however it ends:
each leaves when its standard input closes.
"""

import contextlib
import subprocess
import sys
import weakref
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Self

from donkeysim.core.kernel_folders import CACHE_FOLDER, READY_LIBRARY, is_cache_whole

PARTS = (("vehicles and contacts",), ("camera", "lidar"))
"""Compile stages that take about as long; together they are all of `Simulator.list_compile_stages`."""

STARTED = ([stage for part in PARTS for stage in part],) if sys.platform == "linux" else PARTS
"""What each process is started with. One with several parts makes a copy of itself for each further one, which shares
with it what Numba consists of, 50 MB."""

CompileReport = Callable[[str, int, int], None]
"""Called as report(stage, done, total) before each stage and once at the end."""

WORKPLACE = "donkeysim.sim.compile_apart"


class CompileProcesses:
    """Processes that compile what the cache lacks; none when it lacks nothing.

    They end at `close`, when nobody holds this object any more, and at the end of the program, whatever they are doing.
    """

    def __init__(self) -> None:
        """Start them."""
        self._process: dict[str, subprocess.Popen[str]] = {}
        self._end = weakref.finalize(self, _end_processes, self._process)
        for stages in STARTED:
            missing = [stage for stage in stages if not is_compiled(stage)]
            if missing and sys.executable:
                process = subprocess.Popen(
                    [sys.executable, "-m", WORKPLACE, *missing],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.DEVNULL,
                    text=True,
                )
                self._process |= dict.fromkeys(missing, process)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def finish(self, report: CompileReport) -> None:
        """Return when all is compiled and they have ended, telling how far it is."""
        stages = [stage for part in reversed(PARTS) for stage in part if stage in self._process]  # as they get ready
        for done, stage in enumerate(stages):
            report(stage, done, len(stages))
            self.wait_for(stage)
        if stages:
            for process in self._process.values():
                process.wait()
            self.close()
            report("ready", len(stages), len(stages))

    def wait_for(self, stage: str) -> None:
        """Return when the stage is compiled, or its process has ended without."""
        process = self._process.get(stage)
        if process is None or process.stdout is None or is_compiled(stage):
            return
        for line in process.stdout:
            if line.strip() == stage:
                return

    def close(self) -> None:
        """End the processes, whatever they are doing."""
        self._end()


def _end_processes(process_by_stage: dict[str, subprocess.Popen[str]]) -> None:
    for process in set(process_by_stage.values()):
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                pipe.close()
    process_by_stage.clear()


def is_compiled(stage: str) -> bool:
    """Return whether a stage has been compiled into the cache, or came compiled with the package."""
    return READY_LIBRARY is not None or (CACHE_FOLDER / _name_mark(stage)).exists()


def mark_compiled(stage: str) -> None:
    """Note that a stage's kernels lie in the cache, if they do."""
    if is_cache_whole():
        with contextlib.suppress(OSError):
            (CACHE_FOLDER / _name_mark(stage)).touch()


def _name_mark(stage: str) -> str:
    """Return the name of the file that says so."""
    return f"{stage.replace(' ', '-')}.done"


def compile_stages(
    stages: Sequence[tuple[str, Callable[[], None]]], report: CompileReport | None, processes: CompileProcesses | None
) -> None:
    """Compile some stages, or load them from the cache, telling how far it is.

    Args:
        stages: Names and what to call.
        report: Called before each stage and at the end.
        processes: Processes that already compile; None: start them here where something is missing.
    """
    if processes is None:
        with CompileProcesses() as own_crew:
            compile_stages(stages, report, own_crew)
        return
    for done, (name, run) in enumerate(stages):
        if report is not None:
            report(name, done, len(stages))
        processes.wait_for(name)
        run()
        mark_compiled(name)
    if report is not None:
        report("ready", len(stages), len(stages))
