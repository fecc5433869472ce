"""Where everything is at a moment, for whoever draws it elsewhere; and the file of the place it happens in."""

import secrets
import threading
from typing import NamedTuple

import msgspec
import numpy as np

from donkeysim.core.memory import remember
from donkeysim.core.types import FloatArray
from donkeysim.render.tables import PoseTables
from donkeysim.watch.picture_cache import FrameSnapshot, aim_beside
from donkeysim.watch.place_model import write_place
from donkeysim.world.scene import Scene
from donkeysim.world.specs import BodySpec, CameraSpec, CarSpec

STANDS_STILL = 1e-4
"""A prop that is nearer than this to where it began is left out [m]."""

Pose = tuple[float, ...]
"""x, y, z [m] and a rotation as a unit quaternion (w, x, y, z), world frame."""


class Seat(msgspec.Struct):
    """A car's camera: place [m] and (roll, pitch, yaw) [rad] in the body frame, vertical field of view [rad], shape."""

    position: tuple[float, float, float]
    rotation: tuple[float, float, float]
    fov: float
    aspect: float


class CarMoment(msgspec.Struct):
    """A car.

    Attributes:
        id: Of `CarRow`.
        name: What stands on its plate.
        style: Of its body.
        colour: Paint, sRGB 0 to 255.
        is_ghost: It is in a world of its own; others drive through it.
        pose: Of its body.
        steer: Of the front wheels, + = left [rad].
        wheels: How far each has turned about its axle [rad].
        extensions: Of each suspension from full compression [m], shape [4] as `wheels`.
        tv: Of the camera beside the track that shows it best: place [m], roll, pitch, yaw, vertical field of view
            [rad]; None: none does.
    """

    id: int
    name: str
    style: str
    colour: tuple[int, int, int]
    is_ghost: bool
    pose: Pose
    steer: float
    wheels: tuple[float, ...]
    extensions: tuple[float, ...]
    tv: tuple[float, ...] | None


class PlaceMoment(msgspec.Struct):
    """Everything that moves in a place.

    Attributes:
        time: When it is shown in full, by a clock that began at any time [s].
        period: From one moment to the next [s]; moments are drawn so much later, on the way from one to the other.
        place: Names the file of the place; another name is another place.
        is_still: Nothing lies between this moment and others: it was asked for by its place on the time line, or
            time is not the clock's.
        cars: Those that are there.
        seats: The cameras of those that have one, by their ids.
        props: Number and pose of everything that has been pushed about.
        chosen: Id of the car that is worth watching; -1: none.
    """

    time: float
    period: float
    place: str
    is_still: bool
    cars: list[CarMoment]
    seats: dict[int, Seat]
    props: list[tuple[float, ...]]
    chosen: int


class _PlaceFile(NamedTuple):
    name: str
    lock: threading.Lock
    content: list[bytes]
    """Nothing until somebody asked for it."""


_FILES: dict[int, _PlaceFile] = {}
_SESSION = secrets.token_hex(4)
"""Two programs at one address, one after the other, never give two places one name."""


def find_place_file(scene: Scene) -> _PlaceFile:
    """Return the file of a scene, which may not have been written."""
    return remember(
        _FILES, scene, lambda: _PlaceFile(f"{scene.name} {_SESSION} {secrets.token_hex(2)}", threading.Lock(), [])
    )


def get_place_file(scene: Scene, car: CarSpec) -> bytes:
    """Return the file of a place, written when it is first asked for: a second or two, on any thread."""
    file = find_place_file(scene)
    with file.lock:
        if not file.content:
            file.content.append(write_place(scene, car))
        return file.content[0]


def describe_moment(snapshot: FrameSnapshot, time: float, period: float, is_still: bool = False) -> PlaceMoment:
    """Return a moment that was kept, for world 0; see `PlaceMoment`."""
    poses = snapshot.moment.poses
    ids = {row: car_id for car_id, row in snapshot.rows.items()}
    shown = [row for row in ids if poses.present[row]]
    return PlaceMoment(
        time=time,
        period=period,
        place=find_place_file(snapshot.scene).name,
        is_still=is_still,
        cars=[describe_car(poses, row, ids[row], snapshot.bodies[row], _aim_tv(snapshot, row)) for row in shown],
        seats={ids[row]: describe_seat(camera) for row in shown if (camera := snapshot.cameras.get(row)) is not None},
        props=_list_props(snapshot.scene, poses.prop_position, poses.prop_orientation),
        chosen=ids.get(snapshot.cuts.chosen, -1),
    )


def describe_still(snapshot: FrameSnapshot) -> bytes:
    """Return a moment as JSON that nothing lies between and others; see `PlaceMoment.is_still`."""
    return msgspec.json.encode(describe_moment(snapshot, 0.0, 0.0, is_still=True))


def describe_place(scene: Scene, camera: CameraSpec) -> PlaceMoment:
    """Return a place without cars; the seat 0 is that of a car which is none of them."""
    seat = describe_seat(camera)
    name = find_place_file(scene).name
    return PlaceMoment(0.0, 0.0, name, is_still=True, cars=[], seats={0: seat}, props=[], chosen=-1)


def describe_car(
    poses: PoseTables,
    row: int,
    car_id: int,
    body: BodySpec,
    tv: tuple[float, ...] | None = None,
    is_ghost: bool = False,
) -> CarMoment:
    """Return a car of a moment; see `CarMoment`."""
    return CarMoment(
        id=car_id,
        name=body.name.encode("utf-8", "replace").decode(),
        style=body.style,
        colour=body.colour,
        is_ghost=is_ghost,
        pose=(*_round(poses.position[row]), *_round(poses.orientation[row], 6)),
        steer=round(float(poses.steer_angle[row]), 4),
        wheels=tuple(_round(poses.wheel_angle[row], 3)),
        extensions=tuple(_round(poses.wheel_extension[row])),
        tv=tv,
    )


def _aim_tv(snapshot: FrameSnapshot, row: int) -> tuple[float, ...] | None:
    aimed = aim_beside(snapshot, snapshot.moment.poses, row)
    return None if aimed is None else tuple(_round(np.array((*aimed[0][0], *aimed[0][1], aimed[1]))))


def describe_seat(camera: CameraSpec) -> Seat:
    """Return where a car's camera is and what it sees."""
    return Seat(camera.position, camera.rotation, camera.fov, camera.width / camera.height)


def _list_props(scene: Scene, position: FloatArray, orientation: FloatArray) -> list[tuple[float, ...]]:
    """Return those that are no longer where they began, upright and turned by their yaw."""
    count = len(scene.props.model)
    half = 0.5 * scene.props.yaw
    first = np.stack((np.cos(half), np.zeros(count), np.zeros(count), np.sin(half)), axis=1)
    moved = np.abs(position[:count] - scene.props.position).max(axis=1, initial=0.0) > STANDS_STILL
    moved |= np.abs((orientation[:count] * first).sum(axis=1)) < 1.0 - STANDS_STILL
    return [
        (index, *_round(position[index]), *_round(orientation[index], 6)) for index in np.flatnonzero(moved).tolist()
    ]


def _round(values: FloatArray, digits: int = 5) -> list[float]:
    return np.round(values, digits).tolist()  # type: ignore[no-any-return]
