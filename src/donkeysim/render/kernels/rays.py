"""Where a ray meets a box, a frustum or the ground; origins and rays are vectors of three numbers."""

import math

import numpy as np

from donkeysim.core.kernel import inner_kernel

# A thousandth of a millimetre, far above the rounding of metres in float64 and below what a lidar resolves.
SLACK = 1e-6
"""What just touches is met [m]."""


@inner_kernel
def meet_box(origin, ray, half):
    """Return the distance along a ray to a box about the origin, inf when it is missed or the ray begins inside."""
    enter, leave = -np.inf, np.inf
    for axis in range(3):
        o, d, h = origin[axis], ray[axis], half[axis]
        # 0 / 0 would be no number, and such a ray is between the two sides for ever or never.
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
def meet_frustum(origin, ray, size):
    """Return the distance along a ray to an upright frustum on the origin, inf when it is missed or begins inside."""
    (ox, oy, oz), (dx, dy, dz) = origin, ray
    radius_base, radius_top, height = size
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
def meet_ground(origin, direction, reach, ground):
    """Return the distance along a ray to the height field, inf when it is farther than `reach`.

    Walks the cells under the ray; in each the height is bilinear, so the ray meets it at the root of a quadratic. Cells
    beyond the border repeat the border's heights.

    Args:
        origin: [m, world]
        direction: Unit vector.
        reach: [m]
        ground: (row of `LidarTables.ground`, heights [m], rows, columns).
    """
    (ox, oy, oz), (dx, dy, dz) = origin, direction
    (origin_x, origin_y, cell, low, high), height, rows, columns = ground
    near, far = 0.0, reach
    if dz == 0.0:
        if oz < low - SLACK or oz > high + SLACK:
            return np.inf
    else:
        # Between the lowest and the greatest height only: most rays meet the ground in a few cells or in none.
        first, second = (low - SLACK - oz) / dz, (high + SLACK - oz) / dz
        near, far = max(near, min(first, second)), min(far, max(first, second))
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
        below, above = max(row, 0) * columns, min(row + 1, rows - 1) * columns
        h00, h10 = height[below + left], height[below + right]
        h01, h11 = height[above + left], height[above + right]
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
