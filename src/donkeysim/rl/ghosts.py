"""The cars that learn, for people who watch: a few seconds of a few of them, as ghosts in one place.

Learning runs many times faster than the clock, in as many worlds as there are cars. So the newest seconds are kept,
and pages get them at the pace of the clock; when they are over, the then newest ones begin.
"""

import time
from collections import deque
from typing import NamedTuple

import msgspec
import numpy as np

from donkeysim.core.clock import Clock
from donkeysim.core.types import FloatArray
from donkeysim.render.tables import PoseTables
from donkeysim.sim.simulator import Simulator
from donkeysim.watch.moments import CarMoment, PlaceMoment, describe_car, find_place_file, get_place_file
from donkeysim.world.scene import Scene
from donkeysim.world.specs import BodySpec, CarSpec

# More would hide the road, and each other.
MOST = 12
"""Cars that are shown, all in the first place."""

KEPT = 4.0
"""So much is kept [s of simulated time]."""

PAINTS = (
    (222, 56, 44), (40, 110, 220), (245, 190, 40), (60, 160, 75), (150, 70, 190), (240, 130, 40),
    (60, 190, 200), (230, 110, 170), (150, 152, 158), (120, 80, 50), (180, 210, 60), (30, 40, 90),
)  # fmt: skip
"""Of the cars that are shown, sRGB 0 to 255."""


class _Kept(NamedTuple):
    """Of the cars that are shown: the columns of `PoseTables` that are theirs."""

    number: int
    poses: tuple[FloatArray, ...]


class _Clip(NamedTuple):
    """What is being shown, and when it began [s]."""

    began: float
    steps: tuple[_Kept, ...]


CAR_FIELDS = PoseTables._fields[1:6]
"""Of a car, but for whether it is there: all that learn are."""


class Ghosts:
    """Keeps what cars do; `note` belongs to the thread that learns, the rest to any other."""

    def __init__(self, read_clock: Clock = time.perf_counter) -> None:
        self._read_clock = read_clock
        self._period = 0.1
        self._steps: deque[_Kept] = deque()
        self._simulator: Simulator | None = None
        self._place: tuple[Scene, CarSpec] | None = None
        self._rows = np.zeros(0, np.intp)
        self._clip = _Clip(0.0, ())
        self._count = 0
        self._encoded: tuple[_Kept | None, bytes] = (None, b"")

    def note(self, simulator: Simulator, period: float) -> None:
        """Keep where the cars are.

        Args:
            simulator: Of all cars that learn, on this machine's processor.
            period: Since the last time [s of simulated time].
        """
        if self._simulator is not simulator:
            here = simulator.world_scene == simulator.world_scene[0]
            cars = np.flatnonzero(np.repeat(here, simulator.spec.cars_per_world))
            self._rows, self._period = cars[:MOST], period
            self._steps = deque(maxlen=round(KEPT / period))
            self._simulator, self._place = simulator, (simulator.scene, simulator.car_spec)
        self._count += 1
        poses = tuple(getattr(simulator.state, name)[self._rows] for name in CAR_FIELDS)
        self._steps.append(_Kept(self._count, poses))

    def find_place(self) -> tuple[Scene, CarSpec] | None:
        """Return the place and the kind of cars; None before the first step."""
        return self._place

    async def take_moment(self) -> bytes:
        """Return where the ghosts are now, a `PlaceMoment` as JSON; the same bytes until that is new."""
        step, at = self._find(self._read_clock())
        kept, message = self._encoded
        if kept is not step or not message:
            message = msgspec.json.encode(self._describe(step, at))
            self._encoded = step, message
        return message

    def write_place(self) -> bytes | None:
        """Return the file of the place, None before the first step."""
        return None if self._place is None else get_place_file(*self._place)

    def _find(self, now: float) -> tuple[_Kept | None, float]:
        """Return the step that is shown now, and when it is shown [s]."""
        began, steps = self._clip
        index = int((now - began) / self._period)
        if index >= len(steps):
            self._clip = _Clip(now, tuple(self._steps))
            began, steps = self._clip
            index = 0
        return (steps[index] if steps else None), began + index * self._period

    def _describe(self, step: _Kept | None, at: float) -> PlaceMoment:
        name = "" if self._place is None else find_place_file(self._place[0]).name
        cars = [] if step is None else self._describe_cars(step)
        return PlaceMoment(at, self._period, name, is_still=False, cars=cars, seats={}, props=[], chosen=1)

    def _describe_cars(self, step: _Kept) -> list[CarMoment]:
        count = len(self._rows)
        poses = PoseTables._make((np.ones(count, np.uint8), *step.poses, np.zeros((0, 3)), np.zeros((0, 4))))
        return [
            describe_car(poses, row, row + 1, BodySpec(colour=PAINTS[row % MOST]), is_ghost=row > 0)
            for row in range(count)
        ]
