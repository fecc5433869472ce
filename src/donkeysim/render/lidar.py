"""The scanning lidar: how far it is to what stands around a car.

Rays meet what cars can hit (the scene's colliders), the ground, movable props and other cars, each a box around chassis
and body; never the own car. Like the original, a ray that begins inside a thing does not see that thing.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from donkeysim.core.rotation import yaw_to_quaternion
from donkeysim.core.types import FloatArray, IntArray
from donkeysim.render.kernels.lidar import (
    SHAPE_BOX,
    SHAPE_FRUSTUM,
    SHAPE_WIDTH,
    add_shapes,
    list_returns,
    place_movers,
    scan_ground,
    write_shape,
)
from donkeysim.world.scene import COLLIDER_BOX, Colliders, Ground, Props, Scene
from donkeysim.world.specs import BODY_STYLES, CarSpec, LidarSpec
from donkeysim.world.state import State, make_state

NOISE_STREAM = 1 << 32
"""First of the lidar's streams of random numbers (one per ray)."""

GroundTable = tuple[float, float, float, float, float, FloatArray]
"""Origin x, y, cell, lowest, greatest height [m], heights [m], shape [rows, columns]."""


@dataclass(frozen=True)
class _Place:
    """What the lidar needs of a scene: shapes that stay, sizes of the props, the ground, and a car's box."""

    shapes: FloatArray
    prop_size: FloatArray
    ground: GroundTable
    box_centre: FloatArray
    box_half: FloatArray


@dataclass(frozen=True)
class _Scratch:
    """Rays of one `LidarSpec` in the sensor frame, and room for one scan."""

    ray_sensor: FloatArray
    wraps: bool
    direction: FloatArray
    distance: FloatArray
    rows: FloatArray


class LidarScanner:
    """Scans for the cars of one simulator; one scan at a time."""

    def __init__(
        self,
        scenes: Sequence[Scene],
        world_scene: IntArray,
        car: CarSpec,
        world_count: int,
        cars_per_world: int,
        props_per_world: int,
    ) -> None:
        places = [_make_place(scene, car) for scene in scenes]
        self._place = [places[world_scene[world]] for world in range(world_count)]
        self._cars_per_world = cars_per_world
        self._props_per_world = props_per_world
        self._movers = np.zeros((props_per_world + cars_per_world, SHAPE_WIDTH))
        self._sensor = np.zeros(SHAPE_WIDTH)
        self._scratch = functools.lru_cache(maxsize=64)(_make_scratch)

    def scan(self, state: State, car: int, lidar: LidarSpec, key: int) -> FloatArray:
        """Return what a car's lidar sees now.

        Ray r of level k leaves the sensor turned by r * `sweep_increment` clockwise seen from above (0 is ahead) and
        pitched down by `angle_down` + k * `angle_delta`.

        Args:
            state: Read.
            car: Row of the car.
            lidar: Its lidar.
            key: World key for the noise, see `core.rng`; with the car's slot and the world's step it decides the noise.

        Returns:
            One row (distance [m], ray index, level index) for each ray that met something within `max_range`, level
            by level, the rays of a level in order, shape [return_count, 3]; `angle_down` is in no column.
        """
        world, slot = divmod(car, self._cars_per_world)
        place, scratch = self._place[world], self._scratch(lidar)
        self._place_sensor(state, car, lidar)
        scan_ground(
            self._sensor, scratch.ray_sensor, place.ground, lidar.max_range, scratch.direction, scratch.distance
        )
        mover_count = place_movers(
            self._movers, state.present, state.position, state.orientation, car, world * self._cars_per_world,
            self._cars_per_world, state.prop_position, state.prop_orientation, world * self._props_per_world,
            place.prop_size, place.box_centre, place.box_half,
        )  # fmt: skip
        for shapes, count in ((place.shapes, len(place.shapes)), (self._movers, mover_count)):
            add_shapes(
                shapes, count, self._sensor, scratch.direction, lidar.sweep_increment, lidar.max_range,
                scratch.wraps, scratch.distance,
            )  # fmt: skip
        step = int(state.step_index[world])
        count = list_returns(
            scratch.distance, lidar.max_range, lidar.noise, key, slot, step, NOISE_STREAM, scratch.rows
        )
        return scratch.rows[:count].copy()

    def list_compile_stages(self) -> list[tuple[str, Callable[[], None]]]:
        """Return (name, run) of what must be compiled before the first scan."""
        state = make_state(len(self._place), self._cars_per_world, self._props_per_world)
        return [("lidar", lambda: _discard(self.scan(state, 0, LidarSpec(), 0)))]

    def _place_sensor(self, state: State, car: int, lidar: LidarSpec) -> None:
        """Write the sensor's pose in the world: behind the body's pose, its own position and pitch."""
        x, y, z = state.position[car].tolist()
        qw, qx, qy, qz = state.orientation[car].tolist()
        write_shape(self._sensor, SHAPE_BOX, x, y, z, qw, qx, qy, qz, 0.0, 0.0, 0.0)
        x, y, z = (self._sensor[1:4] + self._sensor[4:13].reshape(3, 3) @ lidar.position).tolist()
        c, s = math.cos(0.5 * lidar.pitch), math.sin(0.5 * lidar.pitch)
        qw, qx, qy, qz = qw * c - qy * s, qx * c - qz * s, qy * c + qw * s, qz * c + qx * s
        write_shape(self._sensor, SHAPE_BOX, x, y, z, qw, qx, qy, qz, 0.0, 0.0, 0.0)


def count_rays(lidar: LidarSpec) -> int:
    """Return the rays of a level: as many whole increments as a turn holds, at least 1."""
    return max(1, int(2.0 * math.pi / lidar.sweep_increment + 1e-9))


def _make_scratch(lidar: LidarSpec) -> _Scratch:
    azimuth = np.arange(count_rays(lidar)) * lidar.sweep_increment
    pitch = lidar.angle_down + np.arange(lidar.level_count) * lidar.angle_delta
    flat = np.cos(pitch)[:, None]
    down = np.broadcast_to(np.sin(pitch)[:, None], (len(pitch), len(azimuth)))
    rays = np.stack([flat * np.cos(azimuth), -flat * np.sin(azimuth), -down], axis=-1)
    shape = (len(pitch), len(azimuth))
    return _Scratch(
        ray_sensor=np.ascontiguousarray(rays),
        wraps=bool(np.any(flat < 0.0)),
        direction=np.empty((*shape, 3)),
        distance=np.empty(shape),
        rows=np.empty((shape[0] * shape[1], 3)),
    )


def _make_place(scene: Scene, car: CarSpec) -> _Place:
    low, high = _measure_car(scene, car)
    return _Place(
        shapes=_list_shapes(scene.colliders),
        prop_size=_list_sizes(scene.props),
        ground=_list_ground(scene.ground),
        box_centre=0.5 * (low + high),
        box_half=0.5 * (high - low),
    )


def _measure_car(scene: Scene, car: CarSpec) -> tuple[FloatArray, FloatArray]:
    """Return the corners of the box that a car shows: its chassis and, where the scene dresses cars, the first body."""
    centre, half = np.array(car.chassis_centre, np.float64), 0.5 * np.array(car.chassis_size, np.float64)
    low, high = centre - half, centre + half
    if BODY_STYLES[0] in scene.car_models:
        vertex = scene.models[scene.car_models[BODY_STYLES[0]].body].vertex.astype(np.float64)
        low, high = np.minimum(low, vertex.min(axis=0)), np.maximum(high, vertex.max(axis=0))
    return low, high


def _list_shapes(colliders: Colliders) -> FloatArray:
    shapes = np.zeros((len(colliders.kind), SHAPE_WIDTH))
    for row, kind in enumerate(colliders.kind.tolist()):
        x, y, z = colliders.centre[row].tolist()
        length, width, height = colliders.half_size[row].tolist()
        turn = yaw_to_quaternion(float(colliders.yaw[row]))
        if kind == COLLIDER_BOX:
            write_shape(shapes[row], SHAPE_BOX, x, y, z, *turn, length, width, height)
        else:
            write_shape(shapes[row], SHAPE_FRUSTUM, x, y, z - height, *turn, length, length, 2.0 * height)
    return shapes


def _list_sizes(props: Props) -> FloatArray:
    return np.ascontiguousarray(np.column_stack([props.radius_base, props.radius_top, props.height]), np.float64)


def _list_ground(ground: Ground) -> GroundTable:
    x, y = ground.height_origin
    height = np.ascontiguousarray(ground.height, np.float64)
    return (float(x), float(y), float(ground.height_cell), float(height.min()), float(height.max()), height)


def _discard(_rows: FloatArray) -> None:
    """Drop a scan that was made only to compile its kernels."""
