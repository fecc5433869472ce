"""Pictures of a running simulation between its moments, drawn beside it while somebody watches.

The thread that steps hands over each moment; another one draws what lies between the last two, one moment late, so
that motion is smooth at any rate of pictures. What steps waits for nothing.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from typing import NamedTuple

from donkeysim.core.clock import Clock
from donkeysim.core.errors import SceneError
from donkeysim.core.image import encode_jpeg
from donkeysim.core.rotation import find_yaws
from donkeysim.core.types import ByteArray
from donkeysim.render.camera import Renderer
from donkeysim.render.moment import Moment, blend_moments
from donkeysim.render.scratch import ScratchRoom
from donkeysim.sim.simulator import Simulator
from donkeysim.sim.viewpoint import find_flight, find_view, make_seat_camera, make_view_camera
from donkeysim.world.scene import Scene
from donkeysim.world.specs import CameraSpec

WANTED_SECONDS = 2.0
"""After a question moments are kept for so long [s]."""

ROLLING_PERIODS = 4.0
"""A film stands still when it has had no new moment for so many periods."""

HASTE = 0.1
"""Of a moment that comes too early or too late, so much changes the rhythm: a single one must not be seen."""


class _Frame(NamedTuple):
    """A kept moment: when it is shown in full, how long after the one before [s], and what it is of.

    `rows` are the cars' by their ids, `cameras` what the cars have, by row.
    """

    time: float
    period: float
    moment: Moment
    renderer: Renderer
    scene: Scene
    cars_per_world: int
    rows: Mapping[int, int]
    cameras: Mapping[int, CameraSpec | None]


class Film:
    """The last two moments of a simulator and what lies between."""

    def __init__(self, read_clock: Clock = time.perf_counter) -> None:
        self._read_clock = read_clock
        self._wanted_until = 0.0
        self._frames: tuple[_Frame, _Frame] | None = None
        self._drawing = threading.Lock()
        self._room = ScratchRoom()

    # -- on the thread that steps -------------------------------------------------------------------------------------

    def note(self, simulator: Simulator, period: float, list_rows: Callable[[], Mapping[int, int]]) -> None:
        """Keep this moment if somebody watches.

        Args:
            simulator: Of which this is a moment.
            period: From one moment to the next [s, wall time].
            list_rows: Returns those of its cars, by the ids under which they are watched; nobody may change them.
        """
        now = self._read_clock()
        if now > self._wanted_until:
            self._frames = None
            return
        last = self._frames[1] if self._frames else None
        due = now if last is None else last.time + period
        shown = now if abs(now - due) > period else due + HASTE * (now - due)
        renderer, per_world = simulator.renderer, simulator.spec.cars_per_world
        moment, rows = simulator.keep_moment(), list_rows()
        cameras = {row: simulator.get_camera(row) for row in rows.values()}
        frame = _Frame(shown, period, moment, renderer, simulator.scene, per_world, rows, cameras)
        before = frame if last is None or last.renderer is not renderer else last
        self._frames = before, frame

    def stop(self) -> None:
        """Forget all moments: the scene has ended, or its time is no longer the clock's."""
        self._frames = None

    # -- on any thread ------------------------------------------------------------------------------------------------

    def want(self) -> None:
        """Have moments kept for a while."""
        self._wanted_until = self._read_clock() + WANTED_SECONDS

    @property
    def is_rolling(self) -> bool:
        """Whether there are moments, and new ones keep coming."""
        frames = self._frames
        return frames is not None and self._read_clock() < frames[1].time + ROLLING_PERIODS * frames[1].period

    def take_picture(self, kind: str, car_id: int, width: int, height: int) -> bytes:
        """Return a view of a car as it was one moment ago, as JPEG.

        Args:
            kind: "chase", "top" or "seat", see `viewpoint.draw_car`; "place", see `viewpoint.find_flight`.
            car_id: Of `note`; not used for "place".
            width: Columns [pixel].
            height: Rows [pixel].

        Raises:
            SceneError: There is no such car now.
        """
        frames = self._frames
        if frames is None or (kind != "place" and car_id not in frames[1].rows):
            raise SceneError(f"there is no car {car_id} now; it has left or the scene has ended.")
        with self._drawing:
            picture = self._draw(frames, kind, car_id, width, height)
        return encode_jpeg(picture)

    def _draw(self, frames: tuple[_Frame, _Frame], kind: str, car_id: int, width: int, height: int) -> ByteArray:
        before, after = frames
        now = self._read_clock()
        share = min(max((now - after.time) / after.period, 0.0), 1.0)
        moment = blend_moments(before.moment, after.moment, share)
        world, view, camera = 0, find_flight(after.scene, now), make_view_camera(width, height)
        if kind != "place":
            row = after.rows[car_id]
            if kind == "seat":
                camera = make_seat_camera(after.cameras[row], width, height)
                return after.renderer.draw_seat(moment, row, camera, self._room)
            x, y, z = moment.poses.position[row].tolist()
            world = row // after.cars_per_world
            view = find_view(kind, x, y, z, float(find_yaws(moment.poses.orientation[row])))
        return after.renderer.draw_view(moment, world, view, camera, self._room)
