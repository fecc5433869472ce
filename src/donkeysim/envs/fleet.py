"""Many worlds of one simulator, each with an episode of its own: what batches of environments and races are made of.

What happens in a world depends on its seed, its start and its actions only: not on its row, on how many others there
are, or on how many threads run them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from donkeysim.core.errors import SpecError, describe_unknown
from donkeysim.core.kernel import RepeatedCall
from donkeysim.core.rng import draw_uniform, hash_words
from donkeysim.core.types import PHYSICS_RATE, FloatArray
from donkeysim.envs.counts import Counts, forget_counts, make_counts
from donkeysim.envs.kernels.counting import STEP_RATE, count_step
from donkeysim.envs.step import Step
from donkeysim.record.recorder import open_simulator
from donkeysim.sim.compile_crew import CompileReport
from donkeysim.sim.placement import place_on_path
from donkeysim.sim.readings import PathReader, Readings
from donkeysim.sim.snapshot import Snapshot
from donkeysim.world.experiment import Experiment
from donkeysim.world.specs import BodySpec, CameraSpec, LidarSpec

FRAME_STEPS = PHYSICS_RATE // STEP_RATE
"""Physics steps in one step."""

START_STREAM = 1 << 20
"""First of the streams of random numbers that starts are drawn from."""

START_OFFSET, START_YAW = 0.08, math.radians(8.0)
"""Of a random start: greatest distance from the path [m] and angle to it [rad]."""

_WORD = 0x7FFFFFFFFFFFFFFF


@dataclass(frozen=True)
class Start:
    """Where an episode begins, on the path.

    Attributes:
        along: Length of the path from its node 0 [m]; taken modulo the length of a closed path.
        offset: From the path, + = left of it [m].
        yaw: Against the direction of the path, + = left [rad].
    """

    along: float
    offset: float = 0.0
    yaw: float = 0.0


def read_start(options: Mapping[str, Any] | None) -> Start | None:
    """Return the start that `reset(options=...)` asks for; None when it asks for none.

    Args:
        options: `s` [m], `offset` [m] and `yaw` [rad], each a number; those left out are 0.

    Raises:
        SpecError: Another option, or one that is no finite number.
    """
    if not options:
        return None
    for name, value in options.items():
        if name not in ("s", "offset", "yaw"):
            raise SpecError(describe_unknown("option of reset", str(name), ("s", "offset", "yaw")))
        try:
            fine = math.isfinite(value)
        except TypeError:
            fine = False
        if not fine:
            raise SpecError(f"the option {name} of reset is {value!r}; it takes a finite number.")
    return Start(float(options.get("s", 0.0)), float(options.get("offset", 0.0)), float(options.get("yaw", 0.0)))


@dataclass(frozen=True)
class FleetMoment:
    """A moment of a fleet.

    Attributes:
        snapshot: Of its simulator.
        counts: What the episodes have counted.
        seed: Of each world.
        episode: Number of each world's episode.
    """

    snapshot: Snapshot
    counts: Counts
    seed: tuple[int, ...]
    episode: tuple[int, ...]


class Fleet:
    """Cars in worlds; episodes begin world by world, time passes for all.

    Attributes:
        simulator: Where they drive.
        world_count: Worlds, each with `cars_per_world` cars.
        step: The last one; None before the first `begin`.
    """

    def __init__(
        self,
        experiment: Experiment,
        world_count: int,
        *,
        cars_per_world: int = 1,
        worker_count: int = 1,
        frame_skip: int = 1,
        look_ahead: Sequence[float] = (),
    ) -> None:
        """Build the tracks, quickly; cars are put on them by `open`.

        Args:
            experiment: What is simulated.
            world_count: Worlds.
            cars_per_world: Cars in each.
            worker_count: Threads.
            frame_skip: Twentieths of a simulated second in one step.
            look_ahead: Distances for `Step.ahead`, rising [m].

        Raises:
            SceneError: There is no such track.
            SpecError: A number of worlds or cars is not possible, or there is no such car.
        """
        spec = experiment.specify_world(world_count, cars_per_world)
        self.simulator = open_simulator(spec, worker_count=worker_count, log=experiment.log)
        self.world_count, self.cars_per_world = world_count, cars_per_world
        self._frame_skip = frame_skip
        self._reader = PathReader(self.simulator.scenes, self.simulator.world_scene, cars_per_world, look_ahead)
        car_count = self.simulator.car_count
        self._paths = tuple(
            self.simulator.scenes[self.simulator.world_scene[car // cars_per_world]].path for car in range(car_count)
        )
        self._counts = make_counts(car_count)
        self._count_step = RepeatedCall(count_step)
        self._nobody = np.zeros(car_count, bool)
        self._seed = [0] * world_count
        self._episode = [0] * world_count
        self.step: Step | None = None

    def open(
        self,
        camera: CameraSpec | None,
        lidar: LidarSpec | None = None,
        bodies: Sequence[BodySpec] = (),
        report: CompileReport | None = None,
    ) -> None:
        """Compile what driving needs (half a minute the first time, told to `report`) and put all cars on the grid.

        Args:
            camera: Every car's; None for none.
            lidar: Every car's; None for none.
            bodies: Of the cars of a world, in turns; none for the default.
            report: Told before each stage and at the end.
        """
        simulator = self.simulator
        simulator.compile(report)
        for car in range(simulator.car_count):
            world, slot = divmod(car, self.cars_per_world)
            simulator.add_car(world, bodies[slot % len(bodies)] if bodies else None)
            simulator.configure_camera(car, camera)
            simulator.configure_lidar(car, lidar)
        self._path_length = self._reader.read(simulator.state).path_length.tolist()
        self._beginning = simulator.snapshot()

    # -- episodes -----------------------------------------------------------------------------------------------------

    def seed(self, world: int, seed: int) -> None:
        """Draw all that is random in a world's coming episodes from this seed."""
        self._seed[world], self._episode[world] = int(seed), 0

    def begin(
        self,
        worlds: Sequence[int],
        starts: Mapping[int, Start] | None = None,
        at_random: bool = False,
        grid_drawn: bool = False,
    ) -> Step:
        """Begin new episodes: everything of these worlds back to how it began, their clocks too.

        Args:
            worlds: Which.
            starts: Places by row of the car, instead of the grid.
            at_random: Put the other cars somewhere on the path, a little askew; else on the grid.
            grid_drawn: Who stands where on the grid is drawn; else in the order of the cars.
        """
        simulator = self.simulator
        simulator.restore(self._beginning, worlds)
        for world in worlds:
            key = int(hash_words(self._seed[world] & _WORD, self._episode[world], 0, 0)) & _WORD
            simulator.seed_world(world, key)
            self._episode[world] += 1
            if grid_drawn:
                self._line_up(world)
            for car in self._list_cars([world]):
                start = (starts or {}).get(car)
                if start is None and at_random:
                    start = self._draw_start(world, car)
                if start is not None:
                    place_on_path(simulator, car, start.along, start.offset, start.yaw)
        forget_counts(self._counts, self._list_cars(worlds))
        return self._make_step(self._reader.read(simulator.state))

    def _list_cars(self, worlds: Sequence[int]) -> list[int]:
        slots = range(self.cars_per_world)
        return [world * self.cars_per_world + slot for world in worlds for slot in slots]

    def _line_up(self, world: int) -> None:
        """Change the places of the grid among the cars of a world, by its random numbers."""
        key, cars = int(self.simulator.world_key[world]), self._list_cars([world])
        beginning = self._beginning.state
        places = sorted(cars, key=lambda car: draw_uniform(key, car - cars[0], 0, START_STREAM + 3))
        for car, place in zip(cars, places, strict=True):
            x, y, z = beginning.spawn_position[place].tolist()
            w, i, j, k = beginning.spawn_orientation[place].tolist()
            self.simulator.set_spawn(car, (x, y, z), (w, i, j, k))
            self.simulator.place_car(car, (x, y, z), (w, i, j, k))

    def _draw_start(self, world: int, car: int) -> Start:
        key, slot = int(self.simulator.world_key[world]), car % self.cars_per_world
        along, offset, yaw = (draw_uniform(key, slot, 0, START_STREAM + stream) for stream in range(3))
        return Start(along * self._path_length[car], (2.0 * offset - 1.0) * START_OFFSET, (2.0 * yaw - 1.0) * START_YAW)

    # -- time ---------------------------------------------------------------------------------------------------------

    def advance(self, steer: FloatArray, throttle: FloatArray, brake: FloatArray | None = None) -> Step:
        """Drive for `frame_skip` twentieths of a simulated second and return what happened.

        Args:
            steer: -1 to 1, + = left, shape [car_count].
            throttle: -1 to 1, shape [car_count].
            brake: 0 to 1, shape [car_count]; None for none.
        """
        simulator, control, counts = self.simulator, self.simulator.control, self._counts
        counts.previous_steer[:], counts.previous_throttle[:] = counts.steer, counts.throttle
        counts.steer[:], counts.throttle[:] = steer, throttle
        control.steer[:], control.throttle[:] = steer, throttle
        control.brake[:] = 0.0 if brake is None else brake
        simulator.step(FRAME_STEPS * self._frame_skip)
        readings, state = self._reader.read(simulator.state), simulator.state
        arguments = (counts, self._reader.table, state.on_road, self._frame_skip)
        self._count_step((state,), 0, simulator.car_count, *arguments)
        counts.hit[:] = state.hit
        simulator.clear_hits()
        return self._make_step(readings)

    def _make_step(self, readings: Readings) -> Step:
        state, counts = self.simulator.state, self._counts
        counts.along[:] = readings.along
        self.step = Step(
            *readings,
            on_road=state.on_road != 0,
            hit=counts.hit,
            gain=counts.gain,
            driven=counts.driven,
            furthest=counts.furthest,
            progress=counts.progress,
            laps=counts.laps.copy(),
            lap_time=counts.lap_time,
            time=counts.time.copy(),
            off_road_time=counts.off_road_time,
            still_time=counts.still_time,
            wrong_way_time=counts.wrong_way_time,
            steer=counts.steer,
            throttle=counts.throttle,
            previous_steer=counts.previous_steer,
            previous_throttle=counts.previous_throttle,
            ended=self._nobody,
            state=state,
            paths=self._paths,
        )
        return self.step

    # -- moments ------------------------------------------------------------------------------------------------------

    def snapshot(self) -> FleetMoment:
        """Return a copy of all that changes, what the episodes have counted too."""
        counts = Counts._make(array.copy() for array in self._counts)
        return FleetMoment(self.simulator.snapshot(), counts, tuple(self._seed), tuple(self._episode))

    def restore(self, moment: FleetMoment, worlds: Sequence[int] | None = None) -> Step:
        """Go back to a moment of this fleet, or of one made alike, and return the step as it was then.

        Args:
            moment: Where to.
            worlds: Only these; the others go on as they are.

        Raises:
            ShapeError: The moment is of a fleet with other numbers of worlds or cars.
        """
        self.simulator.restore(moment.snapshot, worlds)
        chosen = range(self.world_count) if worlds is None else worlds
        cars = self._list_cars(chosen)
        pairs: list[tuple[NDArray[Any], NDArray[Any]]] = list(zip(self._counts, moment.counts, strict=True))
        for array, was in pairs:
            array[cars] = was[cars]
        for world in chosen:
            self._seed[world], self._episode[world] = moment.seed[world], moment.episode[world]
        return self._make_step(self._reader.read(self.simulator.state))

    def close(self) -> None:
        """Stop the simulator's threads."""
        self.simulator.close()
