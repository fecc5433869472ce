"""Many worlds of one simulator, each with an episode of its own: what batches of environments and races are made of.

What happens in a world depends on its seed, its start and its actions only: not on its row, on how many others there
are, or on how many threads run them.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from donkeysim.core.device import Device, is_here
from donkeysim.core.rng import draw_uniforms, hash_rows
from donkeysim.core.types import PHYSICS_RATE, BoolArray, FloatArray, LongArray
from donkeysim.envs.kernels.episodes import START_STREAM, WORD, Episodes, begin_episode
from donkeysim.envs.reset import Start
from donkeysim.envs.step import Step
from donkeysim.envs.waiting import compile_aloud
from donkeysim.record.recorder import open_simulator
from donkeysim.sim import commands
from donkeysim.sim.batch import Batch
from donkeysim.sim.simulator import STEPS_PER_FRAME, Simulator
from donkeysim.sim.snapshot import Snapshot
from donkeysim.world.experiment import Experiment
from donkeysim.world.specs import BodySpec, CameraSpec, LidarSpec

NOWHERE: FloatArray = np.full(3, np.nan)
"""Where episodes begin that are given no start."""


@dataclass(frozen=True)
class FleetSnapshot:
    """A moment of a fleet.

    Attributes:
        snapshot: Of its simulator.
        previous: Steer and throttle asked for in the step before the last, shape [2, car_count].
        seed: Of each world.
        episode: Number of each world's episode.
    """

    snapshot: Snapshot
    previous: FloatArray
    seed: LongArray
    episode: LongArray


class Fleet:
    """Cars in worlds; episodes begin world by world, time passes for all.

    Attributes:
        simulator: Where they drive.
        device: Where all of it is.
        batch: All worlds; set by `open`.
        episodes: Which ones the worlds are in, arrays of the device.
        world_count: Worlds, each with `cars_per_world` cars.
        step: The last one; None before the first `begin`.
    """

    batch: Batch

    def __init__(
        self,
        experiment: Experiment,
        world_count: int,
        *,
        cars_per_world: int = 1,
        worker_count: int = 1,
        device: Device | None = None,
        frame_skip: int = 1,
        look_ahead: Sequence[float] = (),
    ) -> None:
        """Build the tracks, quickly; cars are put on them by `open`.

        Args:
            device: Where the cars are; None: this many threads of this machine.
            frame_skip: Twentieths of a simulated second in one step.
            look_ahead: Distances for `Step.ahead`, rising [m].

        Raises:
            SceneError: There is no such track.
            SpecError: A number of worlds or cars is not possible, or there is no such car.
        """
        spec = experiment.specify_world(world_count, cars_per_world)
        self.simulator = open_simulator(
            spec, worker_count=worker_count, look_ahead=look_ahead, device=device, log=experiment.log
        )
        self.device = self.simulator.device
        self.world_count, self.cars_per_world = world_count, cars_per_world
        self._frame_skip = frame_skip
        self.episodes = make_episodes(self.simulator)
        self._no_brake = self.device.zeros((self.simulator.car_count,), np.float64)
        self._ended = self.device.zeros((self.simulator.car_count,), bool)
        self._rows = self.make_step()
        self._begins: BoolArray = np.zeros(world_count, bool)
        self.step: Step | None = None

    def make_step(self, give: Callable[[Any], Any] = lambda array: array) -> Step:
        """Return the last step, whose arrays are the same ones in every step.

        Args:
            give: Makes somebody else's arrays of the device's, without a copy.
        """
        simulator, previous = self.simulator, self.episodes.previous
        cars = range(simulator.car_count)
        columns = {name: give(array) for name, array in vars(simulator.ledger).items() if name != "cars_per_world"}
        return Step(
            **columns,
            cars_per_world=self.cars_per_world,
            previous_steer=give(previous[0]),
            previous_throttle=give(previous[1]),
            ended=give(self._ended),
            paths=tuple(simulator.get_scene(car).path for car in cars),
            props=tuple(simulator.get_props(car) for car in cars) if is_here(self.device) else (),
            duration=self._frame_skip * STEPS_PER_FRAME / PHYSICS_RATE,
        )

    def open(
        self,
        camera: CameraSpec | None,
        lidar: LidarSpec | None = None,
        bodies: Sequence[BodySpec] = (),
        resets: bool = False,
    ) -> None:
        """Compile what driving needs (half a minute the first time) and put all cars on the grid.

        On a GPU all cars are alike and without sensors of their own, and kernels are compiled when they first run.

        Args:
            camera: Every car's; None for none.
            lidar: Every car's; None for none.
            bodies: Of the cars of a world, in turns; none for the default.
            resets: Whether episodes begin with a reset, as those of the original's client do: the active node is 0.
        """
        simulator = self.simulator
        if not is_here(self.device):
            self.batch = Batch(simulator)
            return
        compile_aloud(simulator)
        rows = list(range(simulator.car_count))
        worlds, slots = np.divmod(rows, self.cars_per_world)
        dressed = [bodies[slot % len(bodies)] if bodies else None for slot in slots.tolist()]
        simulator.apply(commands.Join(worlds.tolist(), dressed))
        simulator.apply(commands.SetCamera(rows, camera))
        simulator.apply(commands.SetLidar(rows, lidar))
        if resets:
            simulator.apply(commands.Reset(rows))
        self._grid = np.hstack([simulator.ledger.spawn_position, simulator.ledger.spawn_orientation])
        self._beginning = simulator.snapshot()
        self.batch = Batch(simulator, self._beginning)

    # -- episodes -----------------------------------------------------------------------------------------------------

    def seed(self, world: int, seed: int) -> None:
        """Draw all that is random in a world's coming episodes from this seed."""
        self.episodes.seed[world], self.episodes.number[world] = int(seed) & WORD, 0

    def begin(
        self,
        worlds: Sequence[int],
        starts: Mapping[int, Start] | None = None,
        at_random: bool = False,
        grid_drawn: bool = False,
    ) -> Step:
        """Begin new episodes: everything of these worlds back to how it began, their clocks too.

        Args:
            worlds: Which, each once.
            starts: Places by row of the car, instead of the grid.
            at_random: Put the other cars somewhere on the path, a little askew; else on the grid.
            grid_drawn: Who stands where on the grid is drawn; else in the order of the cars.
        """
        chosen: LongArray = np.array(worlds, np.int64)
        self._begins[:], self._begins[chosen] = False, True
        self._draw(self._begins, NOWHERE, at_random and not grid_drawn)
        for car, start in (starts or {}).items():
            self.episodes.start[car] = (start.along, start.offset, start.yaw)
        self._put(self._begins)
        if grid_drawn:
            self._line_up(self._list_rows(chosen))
        self._ended[:] = False
        return self._rows

    def begin_where(self, begins: Any, given: Any, at_random: bool = False) -> None:
        """Begin new episodes as `begin` does, of worlds that nobody on the host knows.

        Args:
            begins: Whether one begins in a world, an array of the device, shape [world_count].
            given: Where cars begin, as `Episodes.start`, of the device, shape [3]; `NOWHERE`: as `at_random` says.
            at_random: Somewhere on the path, a little askew; else on the grid.
        """
        self._draw(begins, given, at_random)
        self._put(begins)

    def _draw(self, begins: Any, given: Any, at_random: bool) -> None:
        """Give worlds the keys of their next episodes and their cars their starts."""
        where = self.simulator.physics.world_scene, self.batch.paths.length, self.cars_per_world, at_random, given
        self.device.run(begin_episode, self.world_count, begins, self.episodes, *where, block=256)

    def _put(self, begins: Any) -> None:
        """Put worlds back to how they began, and their cars where they start."""
        self.batch.begin(begins, self.episodes.start)
        self.step = self._rows
        if self.simulator.log is not None:
            self._note_begun(np.flatnonzero(begins))

    def _list_rows(self, worlds: LongArray) -> LongArray:
        """Return the rows of all cars of worlds."""
        rows: LongArray = (worlds[:, None] * self.cars_per_world + np.arange(self.cars_per_world)).ravel()
        return rows

    def _line_up(self, rows: LongArray) -> None:
        """Change the places of the grid among the cars of each world, by its random numbers."""
        world, slot = np.divmod(rows, self.cars_per_world)
        drawn = draw_uniforms(self.simulator.world_key[world], slot, 0, START_STREAM + 3)
        order = np.argsort(drawn.reshape(-1, self.cars_per_world), axis=1, kind="stable")
        places = np.take_along_axis(rows.reshape(order.shape), order, axis=1).ravel()
        grid = self._grid[places, :3].tolist(), self._grid[places, 3:].tolist()
        self.simulator.apply(commands.SetSpawn(rows.tolist(), *grid))
        self.simulator.apply(commands.Pose(rows.tolist(), *grid))

    def _note_begun(self, worlds: LongArray) -> None:
        """Tell the log that episodes have begun, in commands that do the same."""
        if not len(worlds):
            return
        simulator, episodes, rows = self.simulator, self.episodes, self._list_rows(worlds)
        seeds = hash_rows(episodes.seed[worlds], episodes.number[worlds] - 1, 0, 0) & WORD
        is_all = len(worlds) == self.world_count
        simulator.note(commands.Restore(self._beginning, None if is_all else worlds.tolist()))
        simulator.note(commands.Seed(worlds.tolist(), seeds.tolist()))
        start = episodes.start[rows]
        put = np.isfinite(start[:, 0])
        if put.any():
            simulator.note(commands.PutOnPath(rows[put].tolist(), *start[put].T.tolist()))

    # -- time ---------------------------------------------------------------------------------------------------------

    def advance(self, steer: Any, throttle: Any, brake: Any = None) -> Step:
        """Drive for `frame_skip` twentieths of a simulated second and return what happened.

        Args:
            steer: -1 to 1, + = left, shape [car_count], as the others an array of the device.
            throttle: -1 to 1.
            brake: 0 to 1; None for none.
        """
        simulator = self.simulator
        asked: tuple[Any, ...] = steer, throttle, self._no_brake if brake is None else brake
        if is_here(self.device):  # kernels are compiled for rows of one kind
            asked = tuple(np.ascontiguousarray(array, np.float64) for array in asked)
        self.batch.drive(asked, self.episodes.previous)
        if simulator.log is not None:
            simulator.note(commands.ClearHits())
            simulator.note(commands.Drive(None, *(array.copy() for array in asked)))
        simulator.step(STEPS_PER_FRAME * self._frame_skip)
        return self._rows

    # -- moments ------------------------------------------------------------------------------------------------------

    def snapshot(self) -> FleetSnapshot:
        """Return a copy of all that changes."""
        episodes = self.episodes
        return FleetSnapshot(
            self.simulator.snapshot(), episodes.previous.copy(), episodes.seed.copy(), episodes.number.copy()
        )

    def restore(self, moment: FleetSnapshot, worlds: Sequence[int] | None = None) -> Step:
        """Go back to a moment of this fleet, or of one made alike, and return the step as it was then.

        Args:
            worlds: Only these; the others continue as they are.

        Raises:
            ShapeError: The moment is of a fleet with other numbers of worlds or cars.
        """
        self.simulator.restore(moment.snapshot, worlds)
        chosen: LongArray = np.arange(self.world_count) if worlds is None else np.array(worlds, np.int64)
        rows = self._list_rows(chosen)
        episodes = self.episodes
        episodes.previous[:, rows] = moment.previous[:, rows]
        episodes.seed[chosen], episodes.number[chosen] = moment.seed[chosen], moment.episode[chosen]
        self._ended[:] = False
        return self._rows

    def list_arrays(self) -> list[Any]:
        """Return the arrays made here, but for those of the episodes."""
        return [self._no_brake, self._ended]

    def close(self) -> None:
        """Give the device's threads and memory back."""
        self.simulator.close()


def make_episodes(simulator: Simulator) -> Episodes:
    """Return episodes of all worlds, none begun yet; their keys are the simulator's own."""
    device, count = simulator.device, simulator.spec.world_count
    return Episodes(
        seed=device.zeros((count,), np.int64),
        number=device.zeros((count,), np.int64),
        world_key=simulator.world_key,
        start=device.upload(np.full((simulator.car_count, 3), np.nan)),
        previous=device.zeros((2, simulator.car_count), np.float64),
    )
