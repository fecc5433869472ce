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

from donkeysim.core.errors import SpecError, describe_unknown, shorten
from donkeysim.core.rng import draw_uniforms, hash_rows
from donkeysim.core.types import PHYSICS_RATE, BoolArray, FloatArray, LongArray
from donkeysim.envs.episodes import NOWHERE, draw_episodes, make_episodes
from donkeysim.envs.kernels.episodes import START_STREAM, WORD
from donkeysim.envs.step import Step
from donkeysim.envs.waiting import compile_aloud
from donkeysim.record.recorder import open_simulator
from donkeysim.sim import commands
from donkeysim.sim.batch import Batch
from donkeysim.sim.simulator import STEPS_PER_FRAME
from donkeysim.sim.snapshot import Snapshot
from donkeysim.world.experiment import Experiment
from donkeysim.world.specs import BodySpec, CameraSpec, LidarSpec


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


def read_seed(seed: Any) -> int | None:
    """Return the seed that `reset` is given.

    Raises:
        SpecError: It is no whole number, or below 0.
    """
    if seed is None:
        return None
    if not isinstance(seed, (int, np.integer)) or seed < 0:
        raise SpecError(f"the seed is {shorten(repr(seed))}; it takes a whole number, 0 or more, or None.")
    return int(seed)


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
        self.simulator = open_simulator(spec, worker_count=worker_count, look_ahead=look_ahead, log=experiment.log)
        self.world_count, self.cars_per_world = world_count, cars_per_world
        self._frame_skip = frame_skip
        car_count = self.simulator.car_count
        self._previous, self._no_brake = np.zeros((2, car_count)), np.zeros(car_count)
        self._rows = Step(
            **vars(self.simulator.ledger),
            previous_steer=self._previous[0],
            previous_throttle=self._previous[1],
            ended=np.zeros(car_count, bool),
            paths=tuple(self.simulator.get_scene(car).path for car in range(car_count)),
            props=tuple(self.simulator.get_props(car) for car in range(car_count)),
            duration=frame_skip * STEPS_PER_FRAME / PHYSICS_RATE,
        )
        self._episodes = make_episodes(self.simulator)
        self._begins: BoolArray = np.zeros(world_count, bool)
        self.step: Step | None = None

    def open(
        self,
        camera: CameraSpec | None,
        lidar: LidarSpec | None = None,
        bodies: Sequence[BodySpec] = (),
        resets: bool = False,
    ) -> None:
        """Compile what driving needs (half a minute the first time) and put all cars on the grid.

        Args:
            camera: Every car's; None for none.
            lidar: Every car's; None for none.
            bodies: Of the cars of a world, in turns; none for the default.
            resets: Whether episodes begin with a reset, as those of the original's client do: the active node is 0.
        """
        simulator = self.simulator
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
        self._batch = Batch(simulator, self._beginning)

    # -- episodes -----------------------------------------------------------------------------------------------------

    def seed(self, world: int, seed: int) -> None:
        """Draw all that is random in a world's coming episodes from this seed."""
        self._episodes.seed[world], self._episodes.number[world] = int(seed) & WORD, 0

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
        rows = self._list_rows(chosen)
        self._begins[:], self._begins[chosen] = False, True
        former = self._episodes.number[chosen]
        draw_episodes(self._batch, self._begins, self._episodes, at_random and not grid_drawn, NOWHERE)
        for car, start in (starts or {}).items():
            self._episodes.start[car] = (start.along, start.offset, start.yaw)
        self._batch.begin(self._begins, self._episodes.start)
        self._previous[:, rows] = 0.0
        if self.simulator.log is not None:
            self._note_begun(chosen, rows, former)
        if grid_drawn:
            self._line_up(rows)
        return self._begin_step()

    def _begin_step(self) -> Step:
        self.step = self._rows
        self._rows.ended[:] = False
        return self._rows

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

    def _note_begun(self, worlds: LongArray, rows: LongArray, numbers: LongArray) -> None:
        """Tell the log that episodes of these numbers have begun, in commands that do the same."""
        simulator, start = self.simulator, self._episodes.start[rows]
        seeds = hash_rows(self._episodes.seed[worlds], numbers, 0, 0) & WORD
        is_all = len(worlds) == self.world_count
        simulator.note(commands.Restore(self._beginning, None if is_all else worlds.tolist()))
        simulator.note(commands.Seed(worlds.tolist(), seeds.tolist()))
        put = np.isfinite(start[:, 0])
        if put.any():
            simulator.note(commands.PutOnPath(rows[put].tolist(), *start[put].T.tolist()))

    # -- time ---------------------------------------------------------------------------------------------------------

    def advance(self, steer: FloatArray, throttle: FloatArray, brake: FloatArray | None = None) -> Step:
        """Drive for `frame_skip` twentieths of a simulated second and return what happened.

        Args:
            steer: -1 to 1, + = left, shape [car_count].
            throttle: -1 to 1, shape [car_count].
            brake: 0 to 1, shape [car_count]; None for none.
        """
        simulator, ledger = self.simulator, self.simulator.ledger
        self._previous[0], self._previous[1] = ledger.steer, ledger.throttle
        simulator.apply(commands.ClearHits())
        simulator.apply(commands.Drive(None, steer, throttle, self._no_brake if brake is None else brake))
        simulator.step(STEPS_PER_FRAME * self._frame_skip)
        return self._rows

    # -- moments ------------------------------------------------------------------------------------------------------

    def snapshot(self) -> FleetSnapshot:
        """Return a copy of all that changes."""
        episodes = self._episodes
        return FleetSnapshot(
            self.simulator.snapshot(), self._previous.copy(), episodes.seed.copy(), episodes.number.copy()
        )

    def restore(self, moment: FleetSnapshot, worlds: Sequence[int] | None = None) -> Step:
        """Go back to a moment of this fleet, or of one made alike, and return the step as it was then.

        Args:
            moment: Where to.
            worlds: Only these; the others go on as they are.

        Raises:
            ShapeError: The moment is of a fleet with other numbers of worlds or cars.
        """
        self.simulator.restore(moment.snapshot, worlds)
        chosen: LongArray = np.arange(self.world_count) if worlds is None else np.array(worlds, np.int64)
        rows = self._list_rows(chosen)
        self._previous[:, rows] = moment.previous[:, rows]
        episodes = self._episodes
        episodes.seed[chosen], episodes.number[chosen] = moment.seed[chosen], moment.episode[chosen]
        return self._begin_step()

    def close(self) -> None:
        """Stop the simulator's threads."""
        self.simulator.close()
