"""Soft dark patches on what lies under cars and props, from the depth of each pixel.

A patch is a rounded rectangle in the frame of its thing, turned by the heading only. It darkens any surface near the height of the ground under it,
so it needs no geometry of its own and follows slopes and kerbs.
"""

from __future__ import annotations

import numpy as np

from donkeysim.core.kernel import inline_kernel, pixel_kernel

SHADOW_STRENGTH = np.float32(0.62)
"""Share of the light that is missing under the middle."""

SHADOW_SOFTNESS = np.float32(0.055)
"""Width of the edge, half of it inside the rectangle [m]."""

SHADOW_DEPTH = np.float32(0.15)
"""A surface this far below the thing's ground gets none [m]."""

SHADOW_RISE = np.float32(0.03)
"""Nor does one this far above [m]."""


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


@pixel_kernel
def darken_patch(place, half, bounds, rays, fog_rate, stride, depth, colour, iota):
    """Darken the pixels of one patch.

    Args:
        place: Eye in the shadow frame (3).
        half: Half length and width [m].
        bounds: First and end column, first and end row.
        rays: Per column, per row, at the first pixel, in the shadow frame (9).
    """
    x0, x1, y0, y1 = bounds
    ex, ey, ez = place
    half_x, half_y = half
    ax, ay, az, bx, by, bz, cx, cy, cz = rays
    one = np.float32(1.0)
    low = np.uint32(0xFF)
    for row in range(y0, y1):
        y = np.float32(row)
        rx = cx + y * bx
        ry = cy + y * by
        rz = cz + y * bz
        near = depth[row * stride + x0 : row * stride + x1]
        pixel = colour[row * stride + x0 : row * stride + x1]
        first = np.float32(x0)
        for k in range(x1 - x0):
            x = first + iota[k]
            w = one / near[k]
            dark = compute_darkness(
                ex + w * (rx + x * ax), ey + w * (ry + x * ay), ez + w * (rz + x * az), half_x, half_y
            )
            clear = max(one - fog_rate * w, np.float32(0.0))
            clear *= clear
            clear *= clear
            clear *= clear
            clear *= clear
            factor = one - dark * clear
            c = pixel[k]
            r = np.float32(np.int32(c & low)) * factor
            g = np.float32(np.int32((c >> np.uint32(8)) & low)) * factor
            b = np.float32(np.int32((c >> np.uint32(16)) & low)) * factor
            pixel[k] = (
                np.uint32(np.int32(r))
                | (np.uint32(np.int32(g)) << np.uint32(8))
                | (np.uint32(np.int32(b)) << np.uint32(16))
            )


@pixel_kernel
def cast_shadow(
    position, heading_x, heading_y, extent, width, height, stride, focal, eye, axes, fog_rate, depth, colour, iota
):
    """Darken what lies under one thing.

    Args:
        position: Of its origin [m].
        heading_x: Its x axis on the ground, unit vector (with `heading_y`).
        extent: As `PictureTables.car_shadow`.
    """
    half = np.float32(0.5)
    reach = half * SHADOW_SOFTNESS
    dx = eye[0] - np.float32(position[0])
    dy = eye[1] - np.float32(position[1])
    ex = dx * heading_x + dy * heading_y - extent[0]
    ey = dy * heading_x - dx * heading_y - extent[1]
    ez = eye[2] - np.float32(position[2]) - extent[4]
    # Camera axes in the shadow frame.
    rx, ry, rz = axes[0] * heading_x + axes[1] * heading_y, axes[1] * heading_x - axes[0] * heading_y, axes[2]
    dnx, dny, dnz = axes[3] * heading_x + axes[4] * heading_y, axes[4] * heading_x - axes[3] * heading_y, axes[5]
    fx, fy, fz = axes[6] * heading_x + axes[7] * heading_y, axes[7] * heading_x - axes[6] * heading_y, axes[8]
    middle_x = half * np.float32(width)
    middle_y = half * np.float32(height)
    low_x, high_x, low_y, high_y = np.float32(1e9), np.float32(-1e9), np.float32(1e9), np.float32(-1e9)
    near = np.float32(0.03)
    behind = 0
    for corner in range(8):
        px = (extent[2] + reach if corner & 1 else -extent[2] - reach) - ex
        py = (extent[3] + reach if corner & 2 else -extent[3] - reach) - ey
        pz = (np.float32(2.0) * SHADOW_RISE if corner & 4 else -SHADOW_DEPTH) - ez
        w = fx * px + fy * py + fz * pz
        if w < near:
            behind += 1
            continue
        x = middle_x + focal * (rx * px + ry * py + rz * pz) / w
        y = middle_y + focal * (dnx * px + dny * py + dnz * pz) / w
        low_x, high_x = min(low_x, x), max(high_x, x)
        low_y, high_y = min(low_y, y), max(high_y, y)
    if behind == 8:
        return
    if behind > 0:
        low_x, high_x, low_y, high_y = np.float32(0.0), np.float32(width), np.float32(0.0), np.float32(height)
    x0 = np.int64(min(max(low_x, np.float32(0.0)), np.float32(width)))
    x1 = np.int64(min(max(high_x + np.float32(1.0), np.float32(0.0)), np.float32(width)))
    y0 = np.int64(min(max(low_y, np.float32(0.0)), np.float32(height)))
    y1 = np.int64(min(max(high_y + np.float32(1.0), np.float32(0.0)), np.float32(height)))
    if x0 >= x1 or y0 >= y1 or (x1 - x0 < 3 and y1 - y0 < 2):
        return
    over = np.float32(1.0) / focal
    sx = (half - middle_x) * over
    sy = (half - middle_y) * over
    rays = (
        rx * over,
        ry * over,
        rz * over,
        dnx * over,
        dny * over,
        dnz * over,
        fx + sx * rx + sy * dnx,
        fy + sx * ry + sy * dny,
        fz + sx * rz + sy * dnz,
    )
    darken_patch((ex, ey, ez), (extent[2], extent[3]), (x0, x1, y0, y1), rays, fog_rate, stride, depth, colour, iota)


@pixel_kernel
def darken_ground(
    row, world, width, height, stride, focal, eye, axes, light, tables, poses, counts, depth, colour, iota
):
    """Cast the shadows of all cars and props of a world into a picture."""
    cars_per_world, props_per_world = counts
    fog_rate = light[9] * np.float32(1.0 / 16.0)
    one = np.float32(1.0)
    for car in range(world * cars_per_world, (world + 1) * cars_per_world):
        if poses.present[car] == 0:
            continue
        w, x, y, z = (
            poses.orientation[car, 0],
            poses.orientation[car, 1],
            poses.orientation[car, 2],
            poses.orientation[car, 3],
        )
        hx = np.float32(1.0 - 2.0 * (y * y + z * z))
        hy = np.float32(2.0 * (x * y + w * z))
        length = np.sqrt(hx * hx + hy * hy) + np.float32(1e-9)
        cast_shadow(
            poses.position[car],
            hx / length,
            hy / length,
            tables.car_shadow[car],
            width,
            height,
            stride,
            focal,
            eye,
            axes,
            fog_rate,
            depth,
            colour,
            iota,
        )
    for prop in range(world * props_per_world, (world + 1) * props_per_world):
        if tables.prop_mesh[prop] >= 0:
            cast_shadow(
                poses.prop_position[prop],
                one,
                np.float32(0.0),
                tables.prop_shadow[prop],
                width,
                height,
                stride,
                focal,
                eye,
                axes,
                fog_rate,
                depth,
                colour,
                iota,
            )
