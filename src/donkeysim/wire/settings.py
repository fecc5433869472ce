"""What a client's messages mean to a simulator: requests to commands, old values to new ones, an index to a node.

The server and the environments make the very same of the same messages.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, TypeVar

from donkeysim.core import frames
from donkeysim.core.errors import SceneError
from donkeysim.core.rotation import look_to_quaternion
from donkeysim.sim import commands
from donkeysim.wire import messages
from donkeysim.wire.equipment import ConfigureCamera, ConfigureCar, ConfigureLidar, ConfigureSecondCamera
from donkeysim.wire.messages import RegenerateRoad
from donkeysim.world.specs import BodySpec, CameraSpec, LidarSpec, RoadSpec

if TYPE_CHECKING:
    from donkeysim.sim.simulator import Simulator

Spec = TypeVar("Spec", BodySpec, CameraSpec, LidarSpec)

Made = tuple[commands.Command, str]
"""A command and a note for the client, "" for none."""

PLACEHOLDER_NAME = "Racer Name"
"""A `car_config` with this name is ignored whole, as the original does."""

SHORTEST_NAME = 2
"""Characters; shorter names are not shown."""

MOST_RAYS = 20_000
"""Rays of one lidar scan; more levels than that allows are left out."""


def make_command(simulator: Simulator, row: int, request: messages.Request) -> tuple[commands.Command | None, str]:
    """Return what carries out a client's request about its car, and a note for the client, "" for none.

    Args:
        request: What the client wants; no command comes of one that is not about a car.
    """
    make = _MAKERS.get(type(request))
    return (None, "") if make is None else make(simulator, row, request)


def _drive(simulator: Simulator, row: int, request: messages.DriveCar) -> Made:
    del simulator
    return commands.Drive([row], _list(request.steer), _list(request.throttle), _list(request.brake)), ""


def _move(simulator: Simulator, row: int, request: messages.SetPosition) -> Made:
    del simulator
    turned = None if request.orientation is None else [request.orientation]
    return commands.Move([row], [request.position], turned), ""


def _set_camera(simulator: Simulator, row: int, request: ConfigureCamera) -> Made:
    is_second = isinstance(request, ConfigureSecondCamera)
    camera = simulator.get_camera(row, is_second) or simulator.car_spec.camera
    return commands.SetCamera([row], change_camera(camera, request), is_second), ""


def _set_lidar(simulator: Simulator, row: int, request: ConfigureLidar) -> Made:
    lidar, note = change_lidar(simulator.get_lidar(row) or LidarSpec(), request)
    return commands.SetLidar([row], lidar), note


_MAKERS: dict[type[messages.Request], Callable[[Simulator, int, Any], Made]] = {
    messages.DriveCar: _drive,
    messages.ResetCar: lambda _simulator, row, _request: (commands.Reset([row]), ""),
    messages.SetPosition: _move,
    ConfigureCar: lambda simulator, row, request: (
        commands.Dress([row], change_body(simulator.get_body(row), request)),
        "",
    ),
    ConfigureCamera: _set_camera,
    ConfigureSecondCamera: _set_camera,
    ConfigureLidar: _set_lidar,
}


def _list(value: float | None) -> list[float] | None:
    return None if value is None else [value]


def change_road(scene_name: str, old: RoadSpec | None, request: RegenerateRoad) -> RoadSpec:
    """Return which road a `regen_road` makes after an old one.

    Raises:
        SceneError: There is no old one: the scene's road is not a generated one.
    """
    if old is None:
        raise SceneError(f"the road of {scene_name} is not a generated one; it cannot be regenerated.")
    return RoadSpec(
        style=old.style if request.road_style is None else request.road_style,
        seed=old.seed if request.rand_seed is None else request.rand_seed,
        turn=request.turn_increment or old.turn,
    )


def describe_node(simulator: Simulator, index: int) -> messages.NodePosition:
    """Return where a node of the path is, in the original's raw units, looking from the node before to the one after.

    Raises:
        SceneError: The path has no such node.
    """
    path = simulator.scene.path
    if not 0 <= index < len(path.position):
        raise SceneError(f"index {index} is not a node of this path; it takes 0 to {len(path.position) - 1}.")
    place = path.position[index].tolist()
    if path.told_height is not None:
        place[2] = path.told_height.item(index)
    x, y, z = frames.position_to_units(place)
    yaw, slope = path.frame.look(index)
    qx, qy, qz, qw = frames.quaternion_to_unity(look_to_quaternion(yaw, -slope))
    return messages.NodePosition(index=index, pos_x=x, pos_y=y, pos_z=z, Qx=qx, Qy=qy, Qz=qz, Qw=qw)


def change_body(body: BodySpec, request: ConfigureCar) -> BodySpec:
    """Return how the car looks after a `car_config`."""
    if request.name == PLACEHOLDER_NAME:
        return body
    name = None if request.name is None or len(request.name) < SHORTEST_NAME else request.name
    return _change(body, style=request.style, colour=request.colour, name=name, font_size=request.font_size)


def change_camera(camera: CameraSpec, request: ConfigureCamera) -> CameraSpec:
    """Return a camera after a `cam_config` or `cam_config_b`."""
    width, height = request.size or (None, None)
    new = {name: getattr(request, name) for name in ("fov", "position", "rotation", "fisheye", "grey", "encoding")}
    return _change(camera, width=width, height=height, **new)


def change_lidar(lidar: LidarSpec, request: ConfigureLidar) -> tuple[LidarSpec, str]:
    """Return a lidar after a `lidar_config`, and what had to be changed, one sentence for the client, else ""."""
    changed = _change(lidar, **{part.name: getattr(request, part.name) for part in fields(LidarSpec)})
    most_levels = max(1, MOST_RAYS // changed.ray_count)
    notes = list(request.notes)
    if changed.level_count > most_levels:
        was = f"numSweepsLevels {changed.level_count} was changed to {most_levels}"
        notes.append(f"{was}; a scan has at most {MOST_RAYS} rays")
        changed = replace(changed, level_count=most_levels)
    return changed, f"lidar_config: {'; '.join(notes)}." if notes else ""


def _change(old: Spec, **new: Any) -> Spec:
    """Return a spec with the values, and of vectors the components, that are not None."""
    given = {name: value for name, value in new.items() if value is not None}
    for name, value in given.items():
        if isinstance(value, tuple):
            pairs = zip(getattr(old, name), value, strict=True)
            given[name] = tuple(before if after is None else after for before, after in pairs)
    return replace(old, **given)
