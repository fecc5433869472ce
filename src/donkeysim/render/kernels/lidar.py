"""Rays against boxes, frustums and the ground, for one scan of each of many cars.

Every shape spans few columns of a scan, so shapes are put into the scan one after another (only where their bounding
sphere is seen), instead of searching the world for every ray.
"""

import math
from typing import NamedTuple

import numpy as np

from donkeysim.core.frames import Quaternion, Vector
from donkeysim.core.kernel import inner_kernel, kernel
from donkeysim.core.rng import draw_gaussian
from donkeysim.core.types import FloatArray, IntArray, LongArray
from donkeysim.core.workers import take_row
from donkeysim.render.kernels.rays import SLACK, meet_box, meet_frustum, meet_ground
from donkeysim.render.kernels.vector import dot, make_rows, read_column, read_vector, subtract
from donkeysim.render.tables import PoseTables

SHAPE_BOX = 0.0
SHAPE_FRUSTUM = 1.0

NOISE_STREAM = 1 << 32
"""First of the lidar's streams of random numbers (one per ray)."""


class ShapeColumns(NamedTuple):
    """A table of shapes; a sensor's pose is a row of one too."""

    kind: int = 0
    origin: int = 1  # [m, world], 3 columns
    rotation: int = 4  # From its frame to the world, by rows, 9 columns
    size: int = 13  # Box: half sizes about the origin; frustum: radius at base and top, height above the origin [m]


SHAPE = ShapeColumns()
SHAPE_WIDTH = 16


class LidarTables(NamedTuple):
    """What lidars need of all scenes; those with `begin` hold the first row of each scene, and the end of the last."""

    world_scene: IntArray
    shape: FloatArray
    """What stays, shape [shape_count, SHAPE_WIDTH]."""
    shape_begin: LongArray
    prop_size: FloatArray
    """Radius at the base, at the top, height [m], shape [prop_count, 3]."""
    prop_begin: LongArray
    ground: FloatArray
    """Origin x, y, cell, lowest, greatest height [m], shape [scene_count, 5]."""
    height: FloatArray
    """Of all scenes' grid corners, row by row [m]."""
    height_begin: LongArray
    height_columns: LongArray
    """Corners in a row, shape [scene_count]."""
    box_centre: FloatArray
    """Of the box that a car shows, body frame [m], shape [scene_count, 3]."""
    box_half: FloatArray
    """Half sizes [m], shape [scene_count, 3]."""


class Rays(NamedTuple):
    """One lidar's rays."""

    direction: FloatArray
    """Unit vectors, sensor frame, shape [level_count, ray_count, 3]."""
    wraps: bool
    """False: the azimuth of a column is that of all its rays, so that columns may be skipped."""
    increment: float
    """Angle between columns, clockwise seen from above the sensor [rad]."""
    reach: float
    """Rays end here [m]."""
    noise: float
    """Standard deviation added to the distance, which stays at least 0 [m]."""
    pitch_cos: float
    """Of half the sensor's pitch."""
    pitch_sin: float


@kernel(taken_in=True)
def write_shape(
    shape: FloatArray, kind: float, origin: Vector, quaternion: Quaternion | FloatArray, size: Vector
) -> None:
    """Write one row of a shape table from a pose (origin, unit quaternion) and a size."""
    rows = make_rows(quaternion)
    shape[SHAPE.kind] = kind
    for axis in range(3):
        a, b, c = rows[axis]
        shape[SHAPE.origin + axis] = origin[axis]
        shape[SHAPE.rotation + 3 * axis] = a
        shape[SHAPE.rotation + 3 * axis + 1] = b
        shape[SHAPE.rotation + 3 * axis + 2] = c
        shape[SHAPE.size + axis] = size[axis]


@kernel
def place_bodies(shapes: FloatArray, cars: LongArray, position: FloatArray, orientation: FloatArray) -> None:
    """Write where cars are, one after another; their size is nothing."""
    for row in range(len(cars)):
        car = cars[row]
        write_shape(shapes[row], SHAPE_BOX, read_vector(position[car], 0), orientation[car], (0.0, 0.0, 0.0))


@inner_kernel(merged=True)
def pitch_sensor(sensor, quaternion, rays):
    """Turn a sensor from its body's attitude, given by a quaternion, to its own."""
    qw, qx, qy, qz = quaternion[0], quaternion[1], quaternion[2], quaternion[3]
    c, s = rays.pitch_cos, rays.pitch_sin
    turned = (qw * c - qy * s, qx * c - qz * s, qy * c + qw * s, qz * c + qx * s)
    write_shape(sensor, SHAPE_BOX, read_vector(sensor, SHAPE.origin), turned, (0.0, 0.0, 0.0))


@inner_kernel(merged=True)
def place_movers(shapes, own_car, scene, tables, poses, counts):
    """Write what moves in one world into a shape table: its props and all its cars but one; return how many.

    Args:
        shapes: Written, shape [at least prop_count + car_count, SHAPE_WIDTH].
        own_car: Row of the car that scans.
        scene: That of its world.
        tables: LidarTables.
        poses: PoseTables.
        counts: Cars per world, props per world.
    """
    cars_per_world, props_per_world = counts
    world = own_car // cars_per_world
    count = 0
    first = tables.prop_begin[scene]
    for prop in range(tables.prop_begin[scene + 1] - first):
        row = world * props_per_world + prop
        size = read_vector(tables.prop_size[first + prop], 0)
        origin = read_vector(poses.prop_position[row], 0)
        write_shape(shapes[count], SHAPE_FRUSTUM, origin, poses.prop_orientation[row], size)
        count += 1
    half, centre = read_vector(tables.box_half[scene], 0), read_vector(tables.box_centre[scene], 0)
    for car in range(world * cars_per_world, (world + 1) * cars_per_world):
        if car == own_car or poses.present[car] == 0:
            continue
        shape = shapes[count]
        write_shape(shape, SHAPE_BOX, read_vector(poses.position[car], 0), poses.orientation[car], half)
        for axis in range(3):
            shape[SHAPE.origin + axis] += dot(read_vector(shape, SHAPE.rotation + 3 * axis), centre)
        count += 1
    return count


@inner_kernel
def meet_shape(shape, origin, ray):
    """Return the distance along a world ray to one row of a shape table, inf when it is missed."""
    # Into the shape's frame, where it stands upright on or about the origin.
    away = subtract(origin, read_vector(shape, SHAPE.origin))
    x, y, z = (
        read_column(shape, SHAPE.rotation),
        read_column(shape, SHAPE.rotation + 1),
        read_column(shape, SHAPE.rotation + 2),
    )
    start, way = (dot(x, away), dot(y, away), dot(z, away)), (dot(x, ray), dot(y, ray), dot(z, ray))
    size = read_vector(shape, SHAPE.size)
    if shape[SHAPE.kind] == SHAPE_BOX:
        return meet_box(start, way, size)
    return meet_frustum(start, way, size)


@inner_kernel
def add_shapes(shapes, shape_count, sensor, rays, direction, distance):
    """Shorten the rays of a scan that meet a shape.

    Args:
        shapes: Table of shapes.
        shape_count: Rows of it to use.
        sensor: A row of a shape table of which origin and rotation are used: the sensor's pose.
        direction: Unit vectors, world frame, shape [level_count, ray_count, 3].
        distance: Read and written [m], shape [level_count, ray_count].
    """
    origin = read_vector(sensor, SHAPE.origin)
    level_count, ray_count = distance.shape
    for index in range(shape_count):
        shape = shapes[index]
        first_size, second_size, height = read_vector(shape, SHAPE.size)
        lift = 0.0
        radius = math.sqrt(first_size**2 + second_size**2 + height**2)
        if shape[SHAPE.kind] == SHAPE_FRUSTUM:
            lift = 0.5 * height
            radius = math.sqrt(max(first_size, second_size) ** 2 + lift * lift)
        start, up = read_vector(shape, SHAPE.origin), read_column(shape, SHAPE.rotation + 2)
        centre = subtract((start[0] + lift * up[0], start[1] + lift * up[1], start[2] + lift * up[2]), origin)
        square = dot(centre, centre)
        # Most shapes end here, out of reach, or below, where a ray passes the sphere around them.
        if square > (rays.reach + radius) ** 2:
            continue
        radius += SLACK
        ahead = dot(read_column(sensor, SHAPE.rotation), centre)
        aside = dot(read_column(sensor, SHAPE.rotation + 1), centre)
        flat = math.hypot(ahead, aside)
        azimuth, half = 0.0, np.inf
        if flat > radius and not rays.wraps:
            azimuth, half = math.atan2(-aside, ahead), math.asin(radius / flat)
        # Columns count from 0 to a whole revolution, azimuths from minus to plus a half: what lies on the left, or
        # across the first column, is found in the second pass.
        for revolution in range(2):
            if half == np.inf:
                first, last = 0, ray_count - 1 - revolution * ray_count
            else:
                middle = azimuth + 2.0 * math.pi * revolution
                first = max(0, math.ceil((middle - half) / rays.increment))
                last = min(ray_count - 1, math.floor((middle + half) / rays.increment))
            for level in range(level_count):
                for ray in range(first, last + 1):
                    way = read_vector(direction[level, ray], 0)
                    along = dot(centre, way)
                    if square - along * along > radius * radius:
                        continue
                    distance[level, ray] = min(distance[level, ray], meet_shape(shape, origin, way))


@inner_kernel
def scan_ground(sensor, rays, ground, direction, distance):
    """Turn the rays of a scan into the world and let them meet the ground.

    Args:
        sensor: A row of a shape table of which origin and rotation are used: the sensor's pose.
        ground: As `meet_ground` takes it.
        direction: Written: the rays in the world frame, shape [level_count, ray_count, 3].
        distance: Written: distance to the ground, inf where it is not met [m], shape [level_count, ray_count].
    """
    origin = read_vector(sensor, SHAPE.origin)
    for level in range(distance.shape[0]):
        for ray in range(distance.shape[1]):
            own = read_vector(rays.direction[level, ray], 0)
            way = (
                dot(read_vector(sensor, SHAPE.rotation), own),
                dot(read_vector(sensor, SHAPE.rotation + 3), own),
                dot(read_vector(sensor, SHAPE.rotation + 6), own),
            )
            direction[level, ray, 0], direction[level, ray, 1], direction[level, ray, 2] = way
            distance[level, ray] = meet_ground(origin, way, rays.reach, ground)


@inner_kernel
def limit_returns(rays, key, slot, step, distance):
    """Make what is farther than the reach infinite and add noise to the rest.

    Args:
        key: World key of `core.rng`.
        slot: The car's slot in its world.
        step: Physics step of the scan.
        distance: Read and written [m], shape [level_count, ray_count].
    """
    for level in range(distance.shape[0]):
        for ray in range(distance.shape[1]):
            metres = distance[level, ray]
            if metres > rays.reach:
                distance[level, ray] = np.inf
            elif rays.noise > 0.0:
                stream = NOISE_STREAM + level * distance.shape[1] + ray
                distance[level, ray] = max(0.0, metres + rays.noise * draw_gaussian(key, slot, step, stream))


@kernel
def list_returns(distance: FloatArray, rows: FloatArray) -> int:
    """Write the rays of a scan that came back as (distance [m], ray, level), level by level; return how many."""
    count = 0
    for level in range(distance.shape[0]):
        for ray in range(distance.shape[1]):
            if distance[level, ray] < np.inf:
                rows[count, 0], rows[count, 1], rows[count, 2] = distance[level, ray], ray, level
                count += 1
    return count


@inner_kernel(merged=True)
def scan_car(row, cars, key, clock, sensor, tables, poses, counts, rays, movers, direction, distance):
    """Scan for one car; the arguments are those of `scan_cars`."""
    car, seen = cars[row], distance[row]
    world = car // counts[0]
    scene = np.int64(tables.world_scene[world])
    pitch_sensor(sensor[row], poses.orientation[car], rays)
    columns, corner = tables.height_columns[scene], tables.height_begin[scene]
    rows = (tables.height_begin[scene + 1] - corner) // columns
    about = tables.ground[scene]
    ground = ((about[0], about[1], about[2], about[3], about[4]), tables.height[corner:], rows, columns)
    scan_ground(sensor[row], rays, ground, direction, seen)
    first = tables.shape_begin[scene]
    add_shapes(tables.shape[first:], tables.shape_begin[scene + 1] - first, sensor[row], rays, direction, seen)
    mover_count = place_movers(movers, car, scene, tables, poses, counts)
    add_shapes(movers, mover_count, sensor[row], rays, direction, seen)
    limit_returns(rays, key[row], car - world * counts[0], clock[world], seen)


@kernel
def scan_cars(
    next_row: LongArray,
    end: int,
    cars: LongArray,
    key: LongArray,
    clock: LongArray,
    sensor: FloatArray,
    tables: LidarTables,
    poses: PoseTables,
    counts: tuple[int, int],
    rays: Rays,
    movers: FloatArray,
    direction: FloatArray,
    distance: FloatArray,
) -> None:
    """Scan for the cars of rows [next_row[0], end), those that no other thread takes.

    Args:
        next_row: See `take_row`.
        end: One behind the last.
        cars: Of each row.
        key: World key of `core.rng` of each row.
        clock: Physics step of each world.
        sensor: Pose of each row's sensor, turned as the body is, shape [row_count, SHAPE_WIDTH]; written.
        counts: Cars per world, props per world.
        movers: Working memory, shape [at least props + cars of a world, SHAPE_WIDTH].
        direction: Working memory, shape [level_count, ray_count, 3].
        distance: Written [m], inf where nothing came back, shape [row_count, level_count, ray_count].
    """
    while True:
        row = take_row(next_row)
        if row >= end:
            return
        scan_car(row, cars, key, clock, sensor, tables, poses, counts, rays, movers, direction, distance)
