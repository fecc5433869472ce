"""Commands and pictures that come late: rings of commands on their way, and of moments that pictures are made of.

A command is done `delay` after it was given, or when the one before is, whichever is later. Pictures are taken at the
ends of steps, at most 60 to the second, and arrive `delay` later; a camera shows the newest that has arrived, and after
a reset the oldest there is. No picture is kept: it is drawn anew from where everything was.

All arrays have the rows of world 0 first, then those of world 1 and so on, so a moment may be restored world by world.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from donkeysim.core.rng import draw_uniforms
from donkeysim.core.types import PHYSICS_RATE, BoolArray, FloatArray, LongArray
from donkeysim.physics.engine import PhysicsEngine
from donkeysim.physics.vehicle import make_orders
from donkeysim.render.tables import PoseTables
from donkeysim.world.ranges import DelayRanges
from donkeysim.world.state import Control, State, make_control, make_state

MOMENT_STEPS = PHYSICS_RATE // 60
"""Physics steps between two moments that pictures are taken of, at least."""

ACTION_STREAM, PICTURE_STREAM = (1 << 22) + (1 << 12), (1 << 22) + (1 << 12) + 1
"""Streams of random numbers of the delay of each command and of each picture."""

_POSES = PoseTables._fields

Delays = tuple[FloatArray, FloatArray]
"""Delay and greatest further delay of each car [s], shape [car_count] each."""


def find_latest(ranges: DelayRanges, name: str) -> float:
    """Return the greatest delay that may be drawn [s]; 0 when nothing is."""
    return float(sum((getattr(ranges, f"{name}{part}") or (0.0, 0.0))[1] for part in ("", "_jitter")))


class ActionLine:
    """Commands on their way.

    Attributes:
        control: What the cars do now; they were asked for it `delay` ago.
        orders: Rings of what they will do.
        asked: The last command of each car: steer, throttle, brake, shape [car_count, 3].
    """

    def __init__(self, latest: float, car_count: int, cars_per_world: int) -> None:
        self._cars_per_world = cars_per_world
        self.control = make_control(car_count)
        self.orders = make_orders(car_count, math.ceil(latest * PHYSICS_RATE) + 2)
        self.asked: FloatArray = np.zeros((car_count, 3))

    def list_arrays(self) -> dict[str, NDArray[Any]]:
        """Return all that changes, by name."""
        arrays = {**self.control._asdict(), **self.orders._asdict(), "asked": self.asked}
        return {f"action.{name}": array for name, array in arrays.items()}

    def forget(self, rows: LongArray, control: Control) -> None:
        """Let cars do at once what they are asked to, and nothing that is on its way."""
        self.orders.first[rows] = self.orders.waiting[rows] = 0
        for column, (now, then) in enumerate(zip(control, self.control, strict=True)):
            self.asked[rows, column] = then[rows] = now[rows]

    def send(self, control: Control, clock: LongArray, key: LongArray, delays: Delays) -> None:
        """Send off what has been asked for since the last step.

        Args:
            clock: Physics step of each world.
            key: Of each world's random numbers.
        """
        wanted = np.column_stack(control)
        rows = np.flatnonzero((wanted != self.asked).any(axis=1))
        self.asked[:] = wanted
        world, slot = np.divmod(rows, self._cars_per_world)
        now, (delay, jitter) = clock[world], (part[rows] for part in delays)
        late = delay + jitter * draw_uniforms(key[world], slot, now, ACTION_STREAM)
        due = now + np.rint(late * PHYSICS_RATE).astype(np.int64)
        orders, length = self.orders, self.orders.due.shape[1]
        waiting, first = orders.waiting[rows], orders.first[rows]
        before = orders.due[rows, (first + waiting - 1) % length]
        place = (first + waiting) % length
        orders.due[rows, place] = np.where(waiting > 0, np.maximum(due, before), due)
        orders.value[rows, place] = wanted[rows]
        orders.waiting[rows] = waiting + 1

    def step(self, physics: PhysicsEngine, state: State, step_count: int) -> None:
        """Let time pass."""
        physics.step(state, self.control, step_count, self.orders)


class PictureLine:
    """Moments that pictures are made of.

    Attributes:
        stamp: Physics step of each moment, -1 where there is none, shape [world_count, moment_count].
        since: Physics step of each car's last reset: older pictures are not shown, shape [car_count].
        poses: Where everything was, by field of `PoseTables`, shape [row_count, moment_count, ...].
    """

    def __init__(self, latest: float, world_count: int, cars_per_world: int, props_per_world: int) -> None:
        count = math.ceil(latest * PHYSICS_RATE / MOMENT_STEPS) + 3
        self._cars_per_world, self._props_per_world = cars_per_world, props_per_world
        self.stamp: LongArray = np.full((world_count, count), -1, np.int64)
        self.since: LongArray = np.zeros(world_count * cars_per_world, np.int64)
        state = make_state(world_count, cars_per_world, props_per_world)
        now = {name: getattr(state, name) for name in _POSES}
        self.poses = {name: np.repeat(array[:, None], count, axis=1) for name, array in now.items()}
        self._shown = state

    def list_arrays(self) -> dict[str, NDArray[Any]]:
        """Return all that changes, by name."""
        return {"picture.stamp": self.stamp, "picture.since": self.since} | {
            f"picture.{name}": array for name, array in self.poses.items()
        }

    def forget(self, rows: LongArray, state: State) -> None:
        """Begin anew with where cars are now."""
        worlds = rows // self._cars_per_world
        self.since[rows] = state.step_index[worlds]
        self.note(state, np.unique(worlds))

    def note(self, state: State, worlds: LongArray | None = None) -> None:
        """Keep where everything is now, in these worlds or in all."""
        chosen = np.arange(len(self.stamp)) if worlds is None else worlds
        stamp, clock = self.stamp[chosen], state.step_index[chosen]
        order = np.argsort(stamp, axis=1)
        newest, second = order[:, -1], order[:, -2]
        rows = np.arange(len(chosen))
        # The newest moment stays only if it is far enough from the one before; else this one takes its place.
        is_near = stamp[rows, newest] - stamp[rows, second] < MOMENT_STEPS
        is_near &= (stamp[rows, second] >= 0) | (stamp[rows, newest] == clock)
        is_near |= stamp[rows, newest] == clock
        place = np.where(is_near, newest, order[:, 0])
        self.stamp[chosen, place] = clock
        for name, array in self.poses.items():
            source: NDArray[Any] = getattr(state, name)
            each = self._props_per_world if name.startswith("prop_") else self._cars_per_world
            row = (chosen[:, None] * each + np.arange(each)).ravel()
            array[row, np.repeat(place, each)] = source[row]

    def show(self, state: State, cars: LongArray, key: LongArray, delays: Delays) -> State:
        """Return the state as the cameras of cars see it now: their worlds as they were, valid until the next call.

        Args:
            cars: Rows, each of another world.
            key: Of each world's random numbers.
        """
        world = cars // self._cars_per_world
        place, is_any = self._find_moments(state.step_index[world], cars, key, delays)
        for name, array in self.poses.items():
            each = self._props_per_world if name.startswith("prop_") else self._cars_per_world
            rows = world[:, None] * each + np.arange(each)
            then, now = array[rows, place[:, None]], getattr(state, name)[rows]
            getattr(self._shown, name)[rows] = np.where(is_any.reshape(-1, *[1] * (now.ndim - 1)), then, now)
        return self._shown

    def _find_moments(
        self, now: LongArray, cars: LongArray, key: LongArray, delays: Delays
    ) -> tuple[LongArray, BoolArray]:
        """Return the places of the newest moments whose pictures have arrived, of the oldest where none has.

        The second array says where there is any moment at all.
        """
        world, slot = np.divmod(cars, self._cars_per_world)
        stamp = self.stamp[world]
        is_known = (stamp >= self.since[cars][:, None]) & (stamp <= now[:, None])
        chance = draw_uniforms(key[world][:, None], slot[:, None], stamp, PICTURE_STREAM)
        late = delays[0][cars][:, None] + delays[1][cars][:, None] * chance
        has_come = is_known & (stamp + np.rint(late * PHYSICS_RATE).astype(np.int64) <= now[:, None])
        newest = np.argmax(np.where(has_come, stamp, -2), axis=1)
        oldest = np.argmin(np.where(is_known, stamp, np.iinfo(np.int64).max), axis=1)
        return np.where(has_come.any(axis=1), newest, oldest), np.asarray(is_known.any(axis=1))


def make_lines(
    ranges: DelayRanges, world_count: int, cars_per_world: int, props_per_world: int
) -> tuple[ActionLine | None, PictureLine | None]:
    """Return the lines that ranges of delays ask for, None where nothing comes late."""
    action, picture = find_latest(ranges, "action"), find_latest(ranges, "picture")
    return (
        ActionLine(action, world_count * cars_per_world, cars_per_world) if action else None,
        PictureLine(picture, world_count, cars_per_world, props_per_world) if picture else None,
    )


def list_under_way(actions: ActionLine | None, pictures: PictureLine | None) -> dict[str, NDArray[Any]]:
    """Return all that changes in these lines, by name."""
    lines = [line for line in (actions, pictures) if line is not None]
    return {name: array for line in lines for name, array in line.list_arrays().items()}
