"""Draws what is watched: each view of each moment once, for all who want it."""

from __future__ import annotations

import os
import queue
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping
from concurrent.futures import Future
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from donkeysim.core.errors import SceneError
from donkeysim.core.image import encode_jpeg
from donkeysim.core.rotation import find_yaws
from donkeysim.core.types import ByteArray
from donkeysim.render.moment import Moment, blend_moments
from donkeysim.render.scratch import ScratchRoom
from donkeysim.render.tables import PoseTables
from donkeysim.sim.viewpoint import View, find_flight, find_view, make_seat_camera, make_view_camera
from donkeysim.watch.broadcast import Broadcast, Cuts
from donkeysim.watch.tv import TrackCameras
from donkeysim.watch.watchable import CHOSEN
from donkeysim.world.scene import Scene
from donkeysim.world.specs import BodySpec, CameraSpec, CarSpec

if TYPE_CHECKING:
    from donkeysim.render.camera import Renderer
    from donkeysim.sim.simulator import Simulator

# Above the 20 to 25 a second from which movement looks smooth, half of what screens show.
RATE = 30.0
"""Moments a second that are drawn; whoever asks between two of them gets the earlier one [1/s]."""

KEPT = 128
"""Pictures that are kept for whoever asks next."""

# More than cores would only wait for each other; four suffice for 30 pictures a second of a few views, and leave the
# rest of a large machine to who learns there.
PAINTERS = max(1, min(4, (os.cpu_count() or 1)))
"""How many pictures are drawn at once."""

TV_RAISE = 0.06
"""Cameras beside the track look so far above a car's origin [m]."""


class FrameSnapshot(NamedTuple):
    """A kept moment and all that its pictures need.

    Attributes:
        moment: How everything looks and where it is.
        renderer: Draws it.
        scene: Of world 0.
        cars_per_world: As in `Ledger`.
        rows: The cars' by their ids.
        cameras: What the cars have, by row.
        bodies: What they wear, by row.
        car: What kind all of them are.
        cuts: What the director of pictures has decided.
        beside: The cameras beside the track; None: there are none.
    """

    moment: Moment
    renderer: Renderer
    scene: Scene
    cars_per_world: int
    rows: Mapping[int, int]
    cameras: Mapping[int, CameraSpec | None]
    bodies: Mapping[int, BodySpec]
    car: CarSpec
    cuts: Cuts
    beside: TrackCameras | None


def keep_snapshot(simulator: Simulator, rows: Mapping[int, int], broadcast: Broadcast) -> FrameSnapshot:
    """Keep a moment; `rows`: the cars that are watched, by their ids."""
    return FrameSnapshot(
        moment=simulator.keep_moment(),
        renderer=simulator.renderer,
        scene=simulator.scene,
        cars_per_world=simulator.spec.cars_per_world,
        rows=rows,
        cameras={row: simulator.get_camera(row) for row in rows.values()},
        bodies={row: simulator.get_body(row) for row in rows.values()},
        car=simulator.car_spec,
        cuts=broadcast.cuts,
        beside=broadcast.cameras,
    )


class CarView(NamedTuple):
    """What is wanted: a kind of view, see `draw_car_view`, of a car's row (-1: of none), columns and rows [pixel]."""

    kind: str
    row: int
    width: int
    height: int


class PictureCache:
    """Draws on the threads that ask, a few at once; every method may be called from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._pictures: OrderedDict[Hashable, Future[bytes]] = OrderedDict()
        self._rooms: queue.LifoQueue[ScratchRoom] = queue.LifoQueue()
        for _ in range(PAINTERS):
            self._rooms.put(ScratchRoom())

    def take(self, key: Hashable, draw: Callable[[ScratchRoom], ByteArray]) -> bytes:
        """Return a picture as JPEG: that which has been drawn or is being drawn under this key, or a new one.

        Args:
            key: Pictures of one key are the same.
            draw: Draws it in a room of its own.
        """
        with self._lock:
            picture = self._pictures.get(key)
            is_drawn_here = picture is None
            if picture is None:
                picture = self._pictures[key] = Future()
            while len(self._pictures) > KEPT:
                self._pictures.popitem(last=False)
        if is_drawn_here:
            self._draw(key, draw, picture)
        return picture.result()

    def _draw(self, key: Hashable, draw: Callable[[ScratchRoom], ByteArray], picture: Future[bytes]) -> None:
        room = self._rooms.get()
        try:
            picture.set_result(encode_jpeg(draw(room)))
        except BaseException as error:
            picture.set_exception(error)
            with self._lock:
                self._pictures.pop(key, None)
            raise
        finally:
            self._rooms.put(room)


def find_car_view(snapshot: FrameSnapshot, kind: str, car_id: int, width: int, height: int) -> CarView:
    """Return what is wanted of a moment.

    Raises:
        SceneError: There is no such car then.
    """
    if kind == "place":
        return CarView(kind, -1, width, height)
    row = snapshot.cuts.chosen if car_id == CHOSEN else snapshot.rows.get(car_id, -1)
    if row < 0:
        who = "no car" if car_id == CHOSEN else f"no car {car_id}"
        raise SceneError(f"there is {who} now; it has left or the scene has ended.")
    return CarView(kind, row, width, height)


def draw_car_view(
    before: FrameSnapshot, after: FrameSnapshot, share: float, view: CarView, seconds: float, room: ScratchRoom
) -> ByteArray:
    """Return a picture between two moments, shape [height, width, 3].

    Args:
        after: The later one, whose cars and cuts count.
        share: Of the way, 0 to 1.
        view: "chase", "top" or "seat", see `viewpoint.draw_car`; "camera", what the car sees; "tv", from beside the
            track; "place", see `viewpoint.find_flight`.
        seconds: For how long the flight of "place" has gone on [s].
    """
    moment = blend_moments(before.moment, after.moment, share)
    kind, row, camera = view.kind, view.row, make_view_camera(view.width, view.height)
    if kind == "place":
        return after.renderer.draw_view(moment, 0, find_flight(after.scene, seconds), camera, room)
    if kind in ("seat", "camera"):
        own = after.cameras.get(row) or CameraSpec()
        camera = make_seat_camera(own, view.width, view.height) if kind == "seat" else own
        return after.renderer.draw_seat(moment, row, camera, room)
    place, world = moment.poses.position[row], row // after.cars_per_world
    aimed = aim_beside(after, moment.poses, row) if kind == "tv" else None
    if aimed is not None:
        return after.renderer.draw_view(moment, world, aimed[0], replace(camera, fov=aimed[1]), room)
    x, y, z = place.tolist()
    eye = find_view(kind, x, y, z, float(find_yaws(moment.poses.orientation[row])))
    return after.renderer.draw_view(moment, world, eye, camera, room, row)


def aim_beside(snapshot: FrameSnapshot, poses: PoseTables, row: int) -> tuple[View, float] | None:
    """Return where the camera beside the track looks that shows a car, and its field of view [rad]; None: none does."""
    if snapshot.beside is None or snapshot.cuts.camera[row] < 0:
        return None
    first = row // snapshot.cars_per_world * snapshot.cars_per_world
    company = [car for car in range(first, first + snapshot.cars_per_world) if car != row and poses.present[car]]
    raised = np.array([0.0, 0.0, TV_RAISE])
    camera = int(snapshot.cuts.camera[row])
    return snapshot.beside.aim(camera, poses.position[row] + raised, poses.position[company] + raised)
