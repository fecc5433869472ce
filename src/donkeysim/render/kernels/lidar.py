"""Rays against boxes, frustums and the ground, for one scan of one car.

Every shape spans few columns of a scan, so shapes are put into the scan one after another (only where their bounding
sphere is seen), instead of searching the world for every ray.

A shape is a row of SHAPE_WIDTH numbers: kind, origin [m, world], rotation from its frame to the world (row-major),
size [m] (a box: half length, half width, half height about the origin; a frustum: radius at the base, radius at the
top, height above the origin).
"""

from __future__ import annotations

import math

import numpy as np

from donkeysim.core.kernel import inner_kernel, kernel
from donkeysim.core.rng import draw_gaussian

SHAPE_WIDTH = 16
SHAPE_BOX = 0.0
SHAPE_FRUSTUM = 1.0

_SLACK = 1e-6


@kernel
def write_shape(shape, kind, x, y, z, qw, qx, qy, qz, a, b, c):
    """Write one row of a shape table from a pose (origin, unit quaternion) and a size."""
    shape[0] = kind
    shape[1], shape[2], shape[3] = x, y, z
    shape[4] = 1.0 - 2.0 * (qy * qy + qz * qz)
    shape[5] = 2.0 * (qx * qy - qw * qz)
    shape[6] = 2.0 * (qx * qz + qw * qy)
    shape[7] = 2.0 * (qx * qy + qw * qz)
    shape[8] = 1.0 - 2.0 * (qx * qx + qz * qz)
    shape[9] = 2.0 * (qy * qz - qw * qx)
    shape[10] = 2.0 * (qx * qz - qw * qy)
    shape[11] = 2.0 * (qy * qz + qw * qx)
    shape[12] = 1.0 - 2.0 * (qx * qx + qy * qy)
    shape[13], shape[14], shape[15] = a, b, c


@kernel
def place_movers(
    shapes, present, position, orientation, own_car, first_car, car_count,
    prop_position, prop_orientation, first_prop, prop_size, box_centre, box_half,
):  # fmt: skip
    """Write what moves in one world into a shape table: its props and all its cars but one.

    Args:
        shapes: Written, shape [at least prop_count + car_count, SHAPE_WIDTH].
        present: As in `State`; so are `position` and `orientation`.
        position: Of the cars.
        orientation: Of the cars.
        own_car: Row of the car that scans.
        first_car: Row of the world's slot 0.
        car_count: Slots of the world.
        prop_position: As in `State`; so is `prop_orientation`.
        prop_orientation: Of the props.
        first_prop: Row of the world's first prop.
        prop_size: Radius at the base, at the top, height [m], shape [prop_count, 3].
        box_centre: Of a car's box in the body frame [m], shape [3].
        box_half: Half sizes [m], shape [3].

    Returns:
        Rows written.
    """
    count = 0
    for prop in range(prop_size.shape[0]):
        row = first_prop + prop
        p, q, s = prop_position[row], prop_orientation[row], prop_size[prop]
        write_shape(shapes[count], SHAPE_FRUSTUM, p[0], p[1], p[2], q[0], q[1], q[2], q[3], s[0], s[1], s[2])
        count += 1
    for car in range(first_car, first_car + car_count):
        if car == own_car or present[car] == 0:
            continue
        shape, p, q = shapes[count], position[car], orientation[car]
        write_shape(shape, SHAPE_BOX, p[0], p[1], p[2], q[0], q[1], q[2], q[3], box_half[0], box_half[1], box_half[2])
        for axis in range(3):
            row = 4 + 3 * axis
            shape[1 + axis] += (
                shape[row] * box_centre[0] + shape[row + 1] * box_centre[1] + shape[row + 2] * box_centre[2]
            )
        count += 1
    return count


@inner_kernel
def meet_box(ox, oy, oz, dx, dy, dz, hx, hy, hz):
    """Return the distance along a ray to a box about the origin, inf when it is missed or the ray begins inside."""
    enter, leave = -np.inf, np.inf
    for axis in range(3):
        o, d, h = ox, dx, hx
        if axis == 1:
            o, d, h = oy, dy, hy
        elif axis == 2:
            o, d, h = oz, dz, hz
        if d == 0.0:
            if abs(o) > h:
                return np.inf
            continue
        first, second = (-h - o) / d, (h - o) / d
        enter = max(enter, min(first, second))
        leave = min(leave, max(first, second))
    if enter < 0.0 or enter > leave:
        return np.inf
    return enter


@inner_kernel
def meet_frustum(ox, oy, oz, dx, dy, dz, radius_base, radius_top, height):
    """Return the distance along a ray to an upright frustum on the origin, inf when it is missed or begins inside."""
    best = np.inf
    slope = (radius_top - radius_base) / height
    radius = radius_base + slope * oz
    if 0.0 <= oz <= height and ox * ox + oy * oy < radius * radius:
        return np.inf
    a = dx * dx + dy * dy - slope * slope * dz * dz
    b = ox * dx + oy * dy - slope * radius * dz
    c = ox * ox + oy * oy - radius * radius
    discriminant = b * b - a * c
    if discriminant >= 0.0:
        # Citardauq form where b and the root have the same sign: no cancellation, and a = 0 needs no case of its own.
        q = -(b + math.copysign(math.sqrt(discriminant), b))
        for index in range(2):
            t = np.inf
            if index == 0 and a != 0.0:
                t = q / a
            elif index == 1 and q != 0.0:
                t = c / q
            z = oz + t * dz
            if 0.0 <= t < best and 0.0 <= z <= height and radius + slope * t * dz >= 0.0:
                best = t
    if dz != 0.0:
        for index in range(2):
            t = (index * height - oz) / dz
            x, y = ox + t * dx, oy + t * dy
            limit = radius_top if index == 1 else radius_base
            if 0.0 <= t < best and x * x + y * y <= limit * limit:
                best = t
    return best


@inner_kernel
def meet_ground(ox, oy, oz, dx, dy, dz, reach, ground):
    """Return the distance along a ray to the height field, inf when it is farther than `reach`.

    Walks the cells under the ray; in each the height is bilinear, so the ray meets it at the root of a quadratic. Cells
    beyond the border repeat the border's heights.

    Args:
        ox: Origin [m, world].
        oy: Its y.
        oz: Its z.
        dx: Unit direction.
        dy: Its y.
        dz: Its z.
        reach: [m]
        ground: (origin x, origin y [m], cell [m], lowest, greatest height [m], heights [m], shape [rows, columns]).
    """
    origin_x, origin_y, cell, low, high, height = ground
    near, far = 0.0, reach
    if dz == 0.0:
        if oz < low - _SLACK or oz > high + _SLACK:
            return np.inf
    else:
        first, second = (low - _SLACK - oz) / dz, (high + _SLACK - oz) / dz
        near, far = max(near, min(first, second)), min(far, max(first, second))
    rows, columns = height.shape
    x, y, vx, vy = (ox - origin_x) / cell, (oy - origin_y) / cell, dx / cell, dy / cell
    column = min(max(math.floor(x + near * vx), -1), columns - 1)
    row = min(max(math.floor(y + near * vy), -1), rows - 1)
    while near <= far:
        next_x = next_y = np.inf
        if vx > 0.0 and column < columns - 1:
            next_x = (column + 1 - x) / vx
        elif vx < 0.0 and column >= 0:
            next_x = (column - x) / vx
        if vy > 0.0 and row < rows - 1:
            next_y = (row + 1 - y) / vy
        elif vy < 0.0 and row >= 0:
            next_y = (row - y) / vy
        leave = min(far, max(near, min(next_x, next_y)))
        left, right = max(column, 0), min(column + 1, columns - 1)
        below, above = max(row, 0), min(row + 1, rows - 1)
        h00, h10, h01, h11 = height[below, left], height[below, right], height[above, left], height[above, right]
        u, v = x + near * vx - column, y + near * vy - row
        bend = h00 - h10 - h01 + h11
        c = oz + near * dz - (h00 + (h10 - h00) * u + (h01 - h00) * v + bend * u * v)
        b = dz - (h10 - h00 + bend * v) * vx - (h01 - h00 + bend * u) * vy
        step = _solve_first(-bend * vx * vy, b, c, leave - near)
        if step < np.inf:
            return near + step
        if leave >= far:
            return np.inf
        if next_x <= next_y:
            column += 1 if vx > 0.0 else -1
        else:
            row += 1 if vy > 0.0 else -1
        near = leave
    return np.inf


@inner_kernel
def _solve_first(a, b, c, limit):
    """Return the least root of a t² + b t + c in [0, limit], inf when there is none."""
    if abs(c) < 1e-12:
        return 0.0
    discriminant = b * b - 4.0 * a * c
    if discriminant < 0.0:
        return np.inf
    q = -0.5 * (b + math.copysign(math.sqrt(discriminant), b))
    best = np.inf
    if a != 0.0:
        t = q / a
        if 0.0 <= t <= limit + 1e-12:
            best = t
    if q != 0.0:
        t = c / q
        if 0.0 <= t <= limit + 1e-12 and t < best:
            best = t
    return best


@inner_kernel
def meet_shape(shape, ox, oy, oz, dx, dy, dz):
    """Return the distance along a world ray to one row of a shape table, inf when it is missed."""
    x, y, z = ox - shape[1], oy - shape[2], oz - shape[3]
    lx = shape[4] * x + shape[7] * y + shape[10] * z
    ly = shape[5] * x + shape[8] * y + shape[11] * z
    lz = shape[6] * x + shape[9] * y + shape[12] * z
    mx = shape[4] * dx + shape[7] * dy + shape[10] * dz
    my = shape[5] * dx + shape[8] * dy + shape[11] * dz
    mz = shape[6] * dx + shape[9] * dy + shape[12] * dz
    if shape[0] == SHAPE_BOX:
        return meet_box(lx, ly, lz, mx, my, mz, shape[13], shape[14], shape[15])
    return meet_frustum(lx, ly, lz, mx, my, mz, shape[13], shape[14], shape[15])


@kernel
def add_shapes(shapes, shape_count, sensor, direction, increment, reach, wraps, distance):
    """Shorten the rays of a scan that meet a shape.

    Args:
        shapes: Table of shapes.
        shape_count: Rows of it to use.
        sensor: A row of a shape table of which origin and rotation are used: the sensor's pose.
        direction: Unit rays, world frame, shape [level_count, ray_count, 3].
        increment: Angle between columns, clockwise seen from above the sensor [rad].
        reach: Rays end here [m].
        wraps: False: the azimuth of a column is that of all its rays, so that columns may be skipped.
        distance: Read and written [m], shape [level_count, ray_count].
    """
    ox, oy, oz = sensor[1], sensor[2], sensor[3]
    level_count, ray_count = distance.shape
    for index in range(shape_count):
        shape = shapes[index]
        lift = 0.0
        radius = math.sqrt(shape[13] ** 2 + shape[14] ** 2 + shape[15] ** 2)
        if shape[0] == SHAPE_FRUSTUM:
            lift = 0.5 * shape[15]
            radius = math.sqrt(max(shape[13], shape[14]) ** 2 + lift * lift)
        x, y, z = shape[1] + lift * shape[6] - ox, shape[2] + lift * shape[9] - oy, shape[3] + lift * shape[12] - oz
        square = x * x + y * y + z * z
        if square > (reach + radius) ** 2:
            continue
        radius += _SLACK
        ahead = sensor[4] * x + sensor[7] * y + sensor[10] * z
        aside = sensor[5] * x + sensor[8] * y + sensor[11] * z
        flat = math.hypot(ahead, aside)
        azimuth, half = 0.0, np.inf
        if flat > radius and not wraps:
            azimuth, half = math.atan2(-aside, ahead), math.asin(radius / flat)
        for turn in range(2):
            if half == np.inf:
                first, last = 0, ray_count - 1 - turn * ray_count
            else:
                centre = azimuth + 2.0 * math.pi * turn
                first = max(0, math.ceil((centre - half) / increment))
                last = min(ray_count - 1, math.floor((centre + half) / increment))
            for level in range(level_count):
                for ray in range(first, last + 1):
                    dx, dy, dz = direction[level, ray, 0], direction[level, ray, 1], direction[level, ray, 2]
                    along = x * dx + y * dy + z * dz
                    if square - along * along > radius * radius:
                        continue
                    distance[level, ray] = min(distance[level, ray], meet_shape(shape, ox, oy, oz, dx, dy, dz))


@kernel
def scan_ground(sensor, ray_sensor, ground, reach, direction, distance):
    """Turn the rays of a scan into the world and let them meet the ground.

    Args:
        sensor: A row of a shape table of which origin and rotation are used: the sensor's pose.
        ray_sensor: Unit rays, sensor frame, shape [level_count, ray_count, 3].
        ground: As `meet_ground` takes it.
        reach: Rays end here [m].
        direction: Written: the rays in the world frame, same shape.
        distance: Written: distance to the ground, inf where it is not met [m], shape [level_count, ray_count].
    """
    for level in range(distance.shape[0]):
        for ray in range(distance.shape[1]):
            x, y, z = ray_sensor[level, ray, 0], ray_sensor[level, ray, 1], ray_sensor[level, ray, 2]
            dx = sensor[4] * x + sensor[5] * y + sensor[6] * z
            dy = sensor[7] * x + sensor[8] * y + sensor[9] * z
            dz = sensor[10] * x + sensor[11] * y + sensor[12] * z
            direction[level, ray, 0], direction[level, ray, 1], direction[level, ray, 2] = dx, dy, dz
            distance[level, ray] = meet_ground(sensor[1], sensor[2], sensor[3], dx, dy, dz, reach, ground)


@kernel
def list_returns(distance, reach, noise, key, slot, step, stream, rows):
    """Write the rays that met something within reach as (distance [m], ray, level), level by level; return how many.

    Args:
        distance: [m], inf where nothing was met, shape [level_count, ray_count].
        reach: [m]
        noise: Standard deviation added to the distance, which stays at least 0 [m].
        key: World key of `core.rng`.
        slot: The car's slot in its world.
        step: Physics step of the scan.
        stream: First of level_count * ray_count streams of random numbers.
        rows: Written, shape [level_count * ray_count, 3].
    """
    count = 0
    for level in range(distance.shape[0]):
        for ray in range(distance.shape[1]):
            metres = distance[level, ray]
            if metres > reach:
                continue
            if noise > 0.0:
                number = stream + level * distance.shape[1] + ray
                metres = max(0.0, metres + noise * draw_gaussian(key, slot, step, number))
            rows[count, 0], rows[count, 1], rows[count, 2] = metres, ray, level
            count += 1
    return count
