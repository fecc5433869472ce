"""Soft dark patches on what lies under cars and props, from the depth of each pixel.

A patch is a rounded rectangle in the frame of its thing, turned by the heading only. It darkens any surface near the
height of the ground under it, so it needs no geometry of its own and follows slopes and kerbs.
"""

from __future__ import annotations

import numpy as np

from donkeysim.core.kernel import inline_kernel, inner_pixel_kernel, span_kernel
from donkeysim.render.kernels.shade import clear_view, pack_colour

SHADOW_STRENGTH = np.float32(0.62)
"""Share of the light that is missing under the middle."""

SHADOW_SOFTNESS = np.float32(0.055)
"""Width of the edge, half of it inside the rectangle [m]."""

SHADOW_DEPTH = np.float32(0.1)
"""A surface this far below the thing's ground gets none [m]."""

SHADOW_RISE = np.float32(0.012)
"""Nor does one twice this far above [m]."""


@inline_kernel
def soften(distance, half):
    """Return 1 well inside a half width, 0 well outside, smoothly in between."""
    share = (half - abs(distance)) * (np.float32(1.0) / SHADOW_SOFTNESS) + np.float32(0.5)
    share = min(max(share, np.float32(0.0)), np.float32(1.0))
    return share * share * (np.float32(3.0) - np.float32(2.0) * share)


@inline_kernel
def compute_darkness(x, y, z, half_x, half_y):
    """Return the share of light that is missing at a point of a thing's shadow frame (z from its ground) [m]."""
    fade = min(
        np.float32(1.0) + z * (np.float32(1.0) / SHADOW_DEPTH), np.float32(2.0) - z * (np.float32(1.0) / SHADOW_RISE)
    )
    fade = min(max(fade, np.float32(0.0)), np.float32(1.0))
    return SHADOW_STRENGTH * fade * soften(x, half_x) * soften(y, half_y)


@span_kernel
def darken_row(count, eye, half, ray, step, fog_rate, near, pixel, iota):
    """Darken pixels of one row.

    Args:
        count: Pixels.
        eye: In the shadow frame [m].
        half: Half length and width [m].
        ray: Of the first pixel, and `step`: from one to the next, in the shadow frame.
        fog_rate: As in a triangle's record.
        near: 1/w of the pixels. pixel: Their packed colours; written. iota: 0, 1, 2 … as float32.
    """
    ex, ey, ez = eye
    rx, ry, rz = ray
    ax, ay, az = step
    half_x, half_y = half
    low = np.uint32(0xFF)
    for k in range(count):
        x = iota[k]
        w = np.float32(1.0) / near[k]
        px = ex + w * (rx + x * ax)
        py = ey + w * (ry + x * ay)
        pz = ez + w * (rz + x * az)
        factor = np.float32(1.0) - compute_darkness(px, py, pz, half_x, half_y) * clear_view(fog_rate, w)
        c = pixel[k]
        r = np.float32(np.int32(c & low)) * factor
        g = np.float32(np.int32(np.uint32(c >> np.uint32(8)) & low)) * factor
        b = np.float32(np.int32(np.uint32(c >> np.uint32(16)) & low)) * factor
        pixel[k] = pack_colour(r, g, b)


@inline_kernel
def bound_patch(eye, right, down, forward, extent, focal, width, height):
    """Return the columns and rows that a patch may touch: (first column, end, first row, end), first = end for none.

    Args:
        eye: In the shadow frame [m]. right, down, forward: The camera's axes there.
        extent: As `PictureTables.car_shadow`.
        focal: Focal length [sample]. width: Columns. height: Rows.
    """
    reach = np.float32(0.5) * SHADOW_SOFTNESS
    top = np.float32(2.0) * SHADOW_RISE
    middle_x = np.float32(0.5) * np.float32(np.int32(width))
    middle_y = np.float32(0.5) * np.float32(np.int32(height))
    low_x, high_x, low_y, high_y = np.float32(1e9), np.float32(-1e9), np.float32(1e9), np.float32(-1e9)
    near = np.float32(0.03)
    seen = False
    # Every corner, and where an edge to a neighbouring corner crosses the near plane.
    for corner in range(8):
        for turn in range(4):
            other = corner ^ (4 >> turn)
            if other < corner:
                continue
            px = (extent[2] + reach if corner & 1 else -extent[2] - reach) - eye[0]
            py = (extent[3] + reach if corner & 2 else -extent[3] - reach) - eye[1]
            pz = (top if corner & 4 else -SHADOW_DEPTH) - eye[2]
            w = forward[0] * px + forward[1] * py + forward[2] * pz
            if other != corner:
                qx = (extent[2] + reach if other & 1 else -extent[2] - reach) - eye[0]
                qy = (extent[3] + reach if other & 2 else -extent[3] - reach) - eye[1]
                qz = (top if other & 4 else -SHADOW_DEPTH) - eye[2]
                v = forward[0] * qx + forward[1] * qy + forward[2] * qz
                if (w < near) == (v < near):
                    continue
                share = (near - w) / (v - w)
                px, py, pz, w = px + share * (qx - px), py + share * (qy - py), pz + share * (qz - pz), near
            elif w < near:
                continue
            x = middle_x + focal * (right[0] * px + right[1] * py + right[2] * pz) / w
            y = middle_y + focal * (down[0] * px + down[1] * py + down[2] * pz) / w
            low_x, high_x = min(low_x, x), max(high_x, x)
            low_y, high_y = min(low_y, y), max(high_y, y)
            seen = True
    if not seen:
        return 0, 0, 0, 0
    one = np.float32(1.0)
    zero = np.float32(0.0)
    edge_x = np.float32(np.int32(width))
    edge_y = np.float32(np.int32(height))
    return (
        np.int64(min(max(low_x, zero), edge_x)),
        np.int64(min(max(high_x + one, zero), edge_x)),
        np.int64(min(max(low_y, zero), edge_y)),
        np.int64(min(max(high_y + one, zero), edge_y)),
    )


@inner_pixel_kernel
def cast_shadow(position, heading, extent, size, camera, fog_rate, scratch):
    """Darken what lies under one thing.

    Args:
        position: Of its origin [m].
        heading: Its x axis on the ground, unit vector.
        extent: As `PictureTables.car_shadow`.
        size: Columns, rows, pixels from one row to the next.
        camera: As in `picture.render_cameras`.
        fog_rate: As in a triangle's record.
        scratch: Scratch; `colour` is written.
    """
    world_eye, axes, focal = camera[0], camera[1], camera[2]
    width, height, stride = size
    hx, hy = heading
    dx = world_eye[0] - np.float32(position[0])
    dy = world_eye[1] - np.float32(position[1])
    dz = world_eye[2] - np.float32(position[2])
    eye = (dx * hx + dy * hy - extent[0], dy * hx - dx * hy - extent[1], dz - extent[4])
    right = (axes[0] * hx + axes[1] * hy, axes[1] * hx - axes[0] * hy, axes[2])
    down = (axes[3] * hx + axes[4] * hy, axes[4] * hx - axes[3] * hy, axes[5])
    forward = (axes[6] * hx + axes[7] * hy, axes[7] * hx - axes[6] * hy, axes[8])
    away = forward[0] * eye[0] + forward[1] * eye[1] + forward[2] * eye[2]
    if focal * (extent[2] + extent[3]) < abs(away):
        return
    x0, x1, y0, y1 = bound_patch(eye, right, down, forward, extent, focal, width, height)
    over = np.float32(1.0) / focal
    step = (right[0] * over, right[1] * over, right[2] * over)
    sx = (np.float32(np.int32(x0)) + np.float32(0.5)) * over - np.float32(0.5) * np.float32(np.int32(width)) * over
    for row in range(y0, y1):
        sy = (np.float32(np.int32(row)) + np.float32(0.5) - np.float32(0.5) * np.float32(np.int32(height))) * over
        ray = (
            forward[0] + sx * right[0] + sy * down[0],
            forward[1] + sx * right[1] + sy * down[1],
            forward[2] + sx * right[2] + sy * down[2],
        )
        at = row * stride + x0
        half = (extent[2], extent[3])
        darken_row(x1 - x0, eye, half, ray, step, fog_rate, scratch.depth[at:], scratch.colour[at:], scratch.iota)


@inline_kernel
def darken_ground(world, size, camera, fog_density, tables, poses, counts, scratch):
    """Cast the shadows of all cars and props of a world into a picture."""
    cars_per_world, props_per_world = counts[0], counts[1]
    fog_rate = fog_density * np.float32(1.0 / 16.0)
    for thing in range(cars_per_world + props_per_world):
        if thing < cars_per_world:
            car = world * cars_per_world + thing
            shown = poses.present[car] != 0
            position, extent, q = poses.position[car], tables.car_shadow[car], poses.orientation[car]
            hx = np.float32(1.0 - 2.0 * (q[2] * q[2] + q[3] * q[3]))
            hy = np.float32(2.0 * (q[1] * q[2] + q[0] * q[3]))
        else:
            prop = world * props_per_world + thing - cars_per_world
            shown = tables.prop_mesh[prop] >= 0
            position, extent = poses.prop_position[prop], tables.prop_shadow[prop]
            hx = np.float32(1.0)
            hy = np.float32(0.0)
        if shown:
            length = np.sqrt(hx * hx + hy * hy) + np.float32(1e-9)
            cast_shadow(position, (hx / length, hy / length), extent, size, camera, fog_rate, scratch)
