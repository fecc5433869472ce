"""From a scene's name to a compiled simulator."""

from __future__ import annotations

import functools
import gc
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TYPE_CHECKING

from donkeysim.core.image import prepare_encodings
from donkeysim.core.memory import give_back, leave_library
from donkeysim.serve.options import SimulationOptions
from donkeysim.sim.compile_processes import CompileProcesses
from donkeysim.world.scene import Scene
from donkeysim.world.specs import SceneSpec
from donkeysim.world.tracks import specify_scene
from donkeysim.world.tracks.catalogue import share_scene

if TYPE_CHECKING:
    from donkeysim.sim.simulator import Simulator


class SceneLoader:
    """Builds scenes; the last one is kept for the next time.

    Attributes:
        stage: What is being done, for people; "" while nothing is.
        challenges: What is added to scenes.
    """

    def __init__(
        self,
        options: SimulationOptions,
        report: Callable[[str], None],
        processes: CompileProcesses | None = None,
        build: Callable[[SceneSpec], Scene] = share_scene,
    ) -> None:
        """Prepare to load.

        Args:
            report: Called with what is being done where it takes long: the first time on a machine.
            processes: They compile already, and nothing is built before they have; None: begin now.
        """
        self.stage = ""
        self.challenges = options.experiment.scene.challenges
        self._options = options
        self._report = report
        self._built: dict[SceneSpec, Scene] = {}
        self._processes = processes or CompileProcesses()
        self._build = build

    def load(self, name: str) -> Simulator:
        """Return a simulator of a scene, compiled.

        Raises:
            DonkeySimError: There is no such scene, or its track is broken.
        """
        gc.disable()
        try:
            scene = replace(self._options.experiment.move_to(name).scene, challenges=self.challenges)
            return self._load(specify_scene(scene))
        finally:
            self.stage = ""
            _settle_memory()

    def forget(self) -> None:
        """Keep no scene: the one that was loaded last has got another road."""
        self._built.clear()

    def close(self) -> None:
        """End the processes that compile."""
        self._processes.close()

    def _load(self, scene: SceneSpec) -> Simulator:
        gc.collect()
        give_back()
        self._processes.finish(functools.partial(self._report_kernels, is_first_run=True))
        self._tell("building the track", False)
        if scene not in self._built:
            self._built = {scene: self._build_beside(scene)}
        from donkeysim.record.recorder import open_simulator

        options = self._options
        experiment = replace(options.experiment, scenes=(scene,))
        spec = experiment.specify_world(cars_per_world=options.max_cars + 1)  # a pace car may be added
        workers, log = options.worker_count, experiment.log
        simulator = open_simulator(spec, worker_count=workers, scene=self._built[scene], log=log)
        simulator.compile(functools.partial(self._report_kernels, is_first_run=simulator.must_compile), self._processes)
        prepare_encodings()
        return simulator

    def _build_beside(self, spec: SceneSpec) -> Scene:
        """Build a scene while the compiler is read, the first time; that takes a second."""
        with ThreadPoolExecutor(1) as builder:
            scene = builder.submit(self._build, spec)
            from donkeysim.core.kernel import prepare_compiler

            prepare_compiler()
            return scene.result()

    def _report_kernels(self, stage: str, done: int, total: int, *, is_first_run: bool) -> None:
        doing = "compiling" if is_first_run else "loading"
        self._tell(f"{doing} kernels, {done} of {total}: {stage}", is_first_run)

    def _tell(self, text: str, is_news: bool) -> None:
        self.stage = text
        if is_news:
            self._report(text)


def _settle_memory() -> None:
    """Spare the garbage collector what stays: going through all of it would make a beat 60 ms late now and then."""
    gc.unfreeze()
    gc.collect()
    give_back()
    leave_library("libllvmlite")
    gc.freeze()
    gc.enable()
