"""The scanning lidar: how far it is to what stands around a car.

Rays meet what cars can hit (the scene's colliders), the ground, movable props and other cars, each a box around chassis
and body; never the own car. Like the original, a ray that begins inside a thing does not see that thing.
"""

import copy
import functools
import math
from collections.abc import Callable, Sequence
from typing import Self

import numpy as np

from donkeysim.core.index_loops import repeat
from donkeysim.core.rotation import yaw_to_quaternion
from donkeysim.core.types import FloatArray, IntArray, LongArray
from donkeysim.core.workers import Workers
from donkeysim.render.body import fit_models
from donkeysim.render.kernels.lidar import (
    SHAPE,
    SHAPE_BOX,
    SHAPE_FRUSTUM,
    SHAPE_WIDTH,
    LidarTables,
    Rays,
    list_returns,
    place_bodies,
    scan_cars,
    write_shape,
)
from donkeysim.render.tables import PoseReader
from donkeysim.world.scene import COLLIDER_BOX, Colliders, Scene
from donkeysim.world.specs import BODY_STYLES, CarSpec, LidarSpec
from donkeysim.world.state import Layout, State, make_state


class LidarScanner:
    """Scans for the cars of one simulator; one call at a time, see `share`."""

    def __init__(self, layout: Layout) -> None:
        self._tables = _make_tables(layout.scenes, layout.world_scene, layout.car)
        self._layout = layout.world_count, layout.cars_per_world, layout.props_per_world
        self._open()

    def share(self) -> Self:
        """Return a scanner with the same tables that may be called meanwhile, on another thread."""
        other = copy.copy(self)
        other._open()
        return other

    def _open(self) -> None:
        self._alone = Workers(1)
        self._rays = functools.lru_cache(maxsize=64)(
            lambda lidar: (make_rays(lidar), np.array(lidar.position, np.float64))
        )
        self._poses = PoseReader()
        self._scratch = functools.lru_cache(maxsize=64)(self._make_scratch)
        self._scan_cars = repeat(scan_cars)

    def scan(self, state: State, car: int, lidar: LidarSpec, key: int) -> FloatArray:
        """Return what a car's lidar sees now.

        Args:
            car: Row of the car.
            key: World key for the noise, see `core.rng`; with the car's slot and the world's step it decides the noise.

        Returns:
            One row (distance [m], ray index, level index) for each ray that met something within `max_range`, level
            by level, the rays of a level in order, shape [return_count, 3]; `angle_down` is in no column.
        """
        distance = self.scan_cars(state, (car,), lidar, (key,), self._alone)[0]
        rows: FloatArray = np.empty((distance.size, 3))
        return rows[: list_returns(distance, rows)]

    def scan_cars(
        self, state: State, cars: Sequence[int], lidar: LidarSpec, keys: Sequence[int], workers: Workers
    ) -> FloatArray:
        """Return what the lidars of several cars see now, each the same as if it were alone.

        Ray r of level k leaves the sensor turned by r * `sweep_increment` clockwise seen from above (0 is ahead) and
        pitched down by `angle_down` + k * `angle_delta`.

        Args:
            cars: Rows of the cars.
            lidar: That of each of them.
            keys: Key of each car's world, as for `scan`.

        Returns:
            Distances [m], inf where nothing was met within `max_range`, shape [len(cars), level_count, ray_count].
        """
        owner, key = np.array((cars, keys), np.int64)
        rays, offset = self._rays(lidar)
        poses = self._poses.read(state)
        shape = rays.direction.shape[:2]
        sensor: FloatArray = np.empty((len(owner), SHAPE_WIDTH))
        place_bodies(sensor, owner, state.position, state.orientation)
        origin, rotation = sensor[:, SHAPE.origin : SHAPE.rotation], sensor[:, SHAPE.rotation : SHAPE.size]
        origin += rotation.reshape(-1, 3, 3) @ offset
        distance: FloatArray = np.empty((len(owner), *shape))

        def task(worker: int, next_row: LongArray) -> None:
            arguments = (owner, key, state.step_index, sensor, self._tables, poses, self._layout[1:], rays)
            scratch = self._scratch(worker, *shape)
            self._scan_cars((state,), next_row, len(owner), *arguments, *scratch, distance)

        # A scan takes microseconds: waking a thread for a few of them would cost more.
        if len(owner) == 1:
            task(0, np.zeros(1, np.int64))
        else:
            workers.run(task, len(owner), smallest=16)
        return distance

    def list_compile_stages(self) -> list[tuple[str, Callable[[], None]]]:
        """Return (name, run) of what must be compiled before the first scan."""
        state = make_state(*self._layout)
        return [("lidar", lambda: _discard(self.scan(state, 0, LidarSpec(), 0)))]

    def _make_scratch(self, worker: int, level_count: int, ray_count: int) -> tuple[FloatArray, FloatArray]:
        """Return a worker's room for what moves in a world, and for the rays of a scan."""
        del worker  # each has its own
        return np.zeros((sum(self._layout[1:]), SHAPE_WIDTH)), np.empty((level_count, ray_count, 3))


def make_rays(lidar: LidarSpec) -> Rays:
    """Return the rays of a lidar."""
    azimuth = np.arange(lidar.ray_count) * lidar.sweep_increment
    pitch = lidar.angle_down + np.arange(lidar.level_count) * lidar.angle_delta
    flat = np.cos(pitch)[:, None]
    down = np.broadcast_to(np.sin(pitch)[:, None], (len(pitch), len(azimuth)))
    rays = np.stack([flat * np.cos(azimuth), -flat * np.sin(azimuth), -down], axis=-1)
    return Rays(
        direction=np.ascontiguousarray(rays),
        wraps=bool(np.any(flat < 0.0)),
        increment=float(lidar.sweep_increment),
        reach=float(lidar.max_range),
        noise=float(lidar.noise),
        pitch_cos=math.cos(0.5 * lidar.pitch),
        pitch_sin=math.sin(0.5 * lidar.pitch),
    )


def _make_tables(scenes: Sequence[Scene], world_scene: IntArray, car: CarSpec) -> LidarTables:
    low, high = (np.array(corner) for corner in zip(*(_measure_car(scene, car) for scene in scenes), strict=True))
    shape, shape_begin = _join([_list_shapes(scene.colliders) for scene in scenes])
    props, grounds = [scene.props for scene in scenes], [scene.ground for scene in scenes]
    size, prop_begin = _join(
        [np.column_stack([row.radius_base, row.radius_top, row.height]).astype(np.float64) for row in props]
    )
    heights = [np.ascontiguousarray(ground.height, np.float64) for ground in grounds]
    height, height_begin = _join([rows.ravel() for rows in heights])
    return LidarTables(
        world_scene=np.asarray(world_scene, np.int32),
        shape=shape,
        shape_begin=shape_begin,
        prop_size=size,
        prop_begin=prop_begin,
        ground=np.array([[*of.height_origin, of.height_cell, of.height.min(), of.height.max()] for of in grounds]),
        height=height,
        height_begin=height_begin,
        height_columns=np.array([rows.shape[1] for rows in heights], np.int64),
        box_centre=0.5 * (low + high),
        box_half=0.5 * (high - low),
    )


def _join(parts: list[FloatArray]) -> tuple[FloatArray, LongArray]:
    """Return rows of all scenes one after another, and where those of each begin."""
    return np.concatenate(parts), np.cumsum([0, *map(len, parts)]).astype(np.int64)


def _measure_car(scene: Scene, car: CarSpec) -> tuple[FloatArray, FloatArray]:
    """Return the corners of the box that a car shows: its chassis and, where the scene dresses cars, the first body."""
    centre, half = np.array(car.chassis_centre, np.float64), 0.5 * np.array(car.chassis_size, np.float64)
    low, high = centre - half, centre + half
    if BODY_STYLES[0] in scene.car_models:
        vertex = fit_models(scene, car)[scene.car_models[BODY_STYLES[0]].body].vertex.astype(np.float64)
        low, high = np.minimum(low, vertex.min(axis=0)), np.maximum(high, vertex.max(axis=0))
    return low, high


def _list_shapes(colliders: Colliders) -> FloatArray:
    shapes = np.zeros((len(colliders.kind), SHAPE_WIDTH))
    for row, kind in enumerate(colliders.kind.tolist()):
        x, y, z = colliders.centre[row].tolist()
        length, width, height = colliders.half_size[row].tolist()
        upright = yaw_to_quaternion(float(colliders.yaw[row]))
        if kind == COLLIDER_BOX:
            write_shape(shapes[row], SHAPE_BOX, (x, y, z), upright, (length, width, height))
        else:
            write_shape(shapes[row], SHAPE_FRUSTUM, (x, y, z - height), upright, (length, length, 2.0 * height))
    return shapes


def _discard(_rows: FloatArray) -> None:
    """Drop a scan that was made only to compile its kernels."""
