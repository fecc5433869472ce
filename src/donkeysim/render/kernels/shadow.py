"""Shadows of cars and props on what lies around them, from the depth of each pixel.

A thing has two shadows, and the darker one counts: a soft patch under it, as from the sky, and one down the sun. The
second is that of two upright boxes, the upper one narrower towards its top: at a height h above the point that is
looked at, a box covers its own outline moved down the sun by h times the sun's slope, so that all it covers lies
between three pairs of parallel lines. Both darken any surface near the height of the ground under the thing, so they
need no geometry of their own and follow slopes and kerbs.
"""

import math

import numpy as np

from donkeysim.core.kernel import inner_kernel, span_kernel
from donkeysim.render.kernels.fog import FOG_SHARE, clear_view, pack_colour
from donkeysim.render.kernels.layout import SHADOW, VIEW
from donkeysim.render.kernels.vector import dot, read_vector, subtract

SHADOW_STRENGTH = np.float32(0.62)
"""Share of the light that is missing under the middle, and down the sun."""

# Twice the sun's (`CAST_SOFTNESS`): under a car the sky's light is missing, which comes from all sides.
SHADOW_SOFTNESS = np.float32(0.055)
"""Width of the edge under a thing, half of it inside the rectangle [m]."""

# The sun's disc blurs an edge by 1 % of its distance, a few millimetres here; the rest hides that a box casts the
# shadow.
CAST_SOFTNESS = np.float32(0.025)
"""The same down the sun."""

SHADOW_DEPTH = np.float32(0.1)
"""A surface this far below the thing's ground gets none [m]."""

SHADOW_RISE = np.float32(0.012)
"""Nor does one twice this far above [m]."""

# With 0.25 the boxes on the screen became larger and the pass twice as expensive (docs/decisions/0015).
GROUND_SLOPE = np.float32(0.1)
"""By how much more for every metre beside the thing: the ground may rise and fall."""

# A slope of 4: longer shadows would reach beyond the boxes on the screen that are looked through for them.
LOWEST_SUN = np.float32(0.25)
"""Shadows are no longer than those of a sun whose direction's z is this."""


@inner_kernel(copied=True)
def soften(distance, half, softness):
    """Return 1 well inside a half width, 0 well outside, smoothly in between."""
    share = (half - abs(distance)) * (np.float32(1.0) / softness) + np.float32(0.5)
    share = min(max(share, np.float32(0.0)), np.float32(1.0))
    return share * share * (np.float32(3.0) - np.float32(2.0) * share)


@inner_kernel(copied=True)
def cover_box(x, y, half_x, half_y, height, taper, slope):
    """Return how much of the sun an upright box hides from a point, 0 to 1.

    Args:
        x, y: Of the point, from the box's middle [m].
        half_x: Half length [m].
        half_y: Half width [m].
        height: Of its top above the point [m]; below 0: nothing is hidden.
        taper: Share of its width that is missing at its top.
        slope: Metres along x and along y, away from the sun, that a shadow is long for each metre of height; the two
            again as a unit vector; and its length.
    """
    slope_x, slope_y, down_x, down_y, steep = slope
    half = np.float32(0.5)
    top = max(height, np.float32(0.0))
    thrown_x, thrown_y = slope_x * top, slope_y * top
    # The cover is a hexagon: the box's outline swept along the shadow. Three pairs of parallel lines bound it, two of
    # the box's own sides and one along the shadow, which alone narrows towards the top.
    along = x * down_x + y * down_y
    share = min(max(along / (steep * top + np.float32(1e-6)), np.float32(0.0)), np.float32(1.0))
    across = (half_x * abs(down_y) + half_y * abs(down_x)) * (np.float32(1.0) - taper * share)
    inside_x = soften(x - half * thrown_x, half_x + half * abs(thrown_x), CAST_SOFTNESS)
    inside_y = soften(y - half * thrown_y, half_y + half * abs(thrown_y), CAST_SOFTNESS)
    return inside_x * inside_y * soften(x * down_y - y * down_x, across, CAST_SOFTNESS)


@inner_kernel(copied=True)
def compute_darkness(x, y, z, extent, slope):
    """Return the share of light that is missing at a point of a thing's shadow frame (z from its ground) [m].

    Args:
        x, y: From the middle of the patch under it [m].
        z: From its ground.
        extent: Half length and half width of the patch; height of the lower box; middle x, y, half length, half width,
            height and taper of the upper one, which stands on the ground too.
        slope: As `cover_box`.
    """
    half_x, half_y, low, tall_x, tall_y, tall_half_x, tall_half_y, tall, taper = extent
    zero, one = np.float32(0.0), np.float32(1.0)
    beside = GROUND_SLOPE * max(max(abs(x) - half_x, abs(y) - half_y), zero)
    # Only what lies about as high as the ground is darkened: the thing's own sides are above it, a bridge's underside
    # far below.
    fade = min(one + (z + beside) * (one / SHADOW_DEPTH), np.float32(2.0) - (z - beside) * (one / SHADOW_RISE))
    fade = min(max(fade, zero), one)
    under = soften(x, half_x, SHADOW_SOFTNESS) * soften(y, half_y, SHADOW_SOFTNESS)
    lower = cover_box(x, y, half_x, half_y, low - z, zero, slope)
    upper = cover_box(x - tall_x, y - tall_y, tall_half_x, tall_half_y, tall - z, taper, slope)
    return SHADOW_STRENGTH * fade * max(under, max(lower, upper))


@inner_kernel(copied=True)
def find_slope(sun, hx, hy):
    """Return the slope of shadows in the frame of a thing with this heading, as `cover_box` takes it."""
    zero = np.float32(0.0)
    over = np.float32(1.0) / max(np.float32(sun[2]), LOWEST_SUN)
    slope_x = -(sun[0] * hx + sun[1] * hy) * over
    slope_y = -(sun[1] * hx - sun[0] * hy) * over
    steep = math.sqrt(slope_x * slope_x + slope_y * slope_y)
    if steep < np.float32(1e-5):
        return zero, zero, np.float32(1.0), zero, zero
    return slope_x, slope_y, slope_x / steep, slope_y / steep, steep


@span_kernel
def darken_pixel(word, w, point, extent, slope, fog_rate):
    """Return a packed pixel that shows a point of a thing's shadow frame at the distance w [m]; see `darken_row`."""
    low = np.uint32(0xFF)
    # Less in fog, whose own light no shadow takes away.
    factor = np.float32(1.0) - compute_darkness(point[0], point[1], point[2], extent, slope) * clear_view(fog_rate, w)
    r = np.float32(np.int32(word & low)) * factor
    g = np.float32(np.int32(np.uint32(word >> np.uint32(8)) & low)) * factor
    b = np.float32(np.int32(np.uint32(word >> np.uint32(16)) & low)) * factor
    return pack_colour(r, g, b)


@span_kernel
def darken_row(count, eye, extent, slope, ray, step, fog_rate, near, pixel, iota):
    """Darken pixels of one row.

    Args:
        count: Pixels.
        eye: In the shadow frame [m].
        extent: As `compute_darkness`.
        slope: As `cover_box`.
        ray: Of the first pixel, in the shadow frame.
        step: From one ray to the next.
        fog_rate: As in a triangle's record.
        near: 1/w of the pixels.
        pixel: Their packed colours; written.
        iota: 0, 1, 2 … as float32.
    """
    ex, ey, ez = eye
    rx, ry, rz = ray
    ax, ay, az = step
    for k in range(count):
        x = iota[k]
        w = np.float32(1.0) / near[k]
        px = ex + w * (rx + x * ax)
        py = ey + w * (ry + x * ay)
        pz = ez + w * (rz + x * az)
        pixel[k] = darken_pixel(pixel[k], w, (px, py, pz), extent, slope, fog_rate)


@inner_kernel(copied=True)
def bound_shadow(extent, slope):
    """Return least x, greatest x, least y, greatest y, least z, greatest z of what a thing's shadows may darken [m]."""
    half_x, half_y, low, tall_x, tall_y, tall_half_x, tall_half_y, tall, _ = extent
    zero = np.float32(0.0)
    lower_x, lower_y, upper_x, upper_y = slope[0] * low, slope[1] * low, slope[0] * tall, slope[1] * tall
    x0 = min(min(lower_x, zero) - half_x, tall_x + min(upper_x, zero) - tall_half_x)
    x1 = max(max(lower_x, zero) + half_x, tall_x + max(upper_x, zero) + tall_half_x)
    y0 = min(min(lower_y, zero) - half_y, tall_y + min(upper_y, zero) - tall_half_y)
    y1 = max(max(lower_y, zero) + half_y, tall_y + max(upper_y, zero) + tall_half_y)
    reach = np.float32(0.5) * SHADOW_SOFTNESS
    away = max(max(x1 - half_x, -half_x - x0), max(y1 - half_y, -half_y - y0))
    beside = GROUND_SLOPE * max(away, zero)
    return (
        x0 - reach,
        x1 + reach,
        y0 - reach,
        y1 + reach,
        -SHADOW_DEPTH - beside,
        np.float32(2.0) * SHADOW_RISE + beside,
    )


@inner_kernel(copied=True)
def lies_behind(box, eye, forward):
    """Return whether a box as `bound_shadow` gives it lies behind the camera, wherever that looks."""
    x0, x1, y0, y1, z0, z1 = box
    half = np.float32(0.5)
    middle = subtract((half * (x0 + x1), half * (y0 + y1), half * (z0 + z1)), eye)
    return dot(forward, middle) < -half * ((x1 - x0) + (y1 - y0) + (z1 - z0))


@inner_kernel(copied=True)
def bound_patch(eye, right, down, forward, box, focal, width, height):
    """Return the columns and rows that a shadow may touch: (first column, end, first row, end), first = end for none.

    Args:
        eye: In the shadow frame [m].
        right, down, forward: The camera's axes there.
        box: As `bound_shadow` gives it.
        focal: Focal length [sample].
        width: Columns.
        height: Rows.
    """
    x0, x1, y0, y1, z0, z1 = box
    middle_x = np.float32(0.5) * np.float32(np.int32(width))
    middle_y = np.float32(0.5) * np.float32(np.int32(height))
    low_x, high_x, low_y, high_y = np.float32(1e9), np.float32(-1e9), np.float32(1e9), np.float32(-1e9)
    near = np.float32(0.03)
    seen = False
    # Every corner, and where an edge to a neighbouring corner crosses the near plane. A bit of a corner's number says
    # which end of an axis it is at, so a neighbour differs in one bit; the fourth step changes none.
    for corner in range(8):
        for axis in range(4):
            other = corner ^ (4 >> axis)
            if other < corner:
                continue
            point = subtract((x1 if corner & 1 else x0, y1 if corner & 2 else y0, z1 if corner & 4 else z0), eye)
            w = dot(forward, point)
            if other != corner:
                end = subtract((x1 if other & 1 else x0, y1 if other & 2 else y0, z1 if other & 4 else z0), eye)
                v = dot(forward, end)
                if (w < near) == (v < near):
                    continue
                share = (near - w) / (v - w)
                way = subtract(end, point)
                point = (point[0] + share * way[0], point[1] + share * way[1], point[2] + share * way[2])
                w = near
            elif w < near:
                continue
            x = middle_x + focal * dot(right, point) / w
            y = middle_y + focal * dot(down, point) / w
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


@inner_kernel(copied=True)
def face_heading(vector, heading):
    """Return a vector on the ground seen by a thing with this heading: along it, and to its left."""
    (x, y), (hx, hy) = vector, heading
    return x * hx + y * hy, y * hx - x * hy


@inner_kernel(copied=True)
def turn_axis(axis, heading):
    """Return an axis of the camera in the shadow frame of a thing with this heading."""
    along, aside = face_heading((axis[0], axis[1]), heading)
    return along, aside, axis[2]


@inner_kernel(copied=True)
def lay_shadow(position, heading, extent, size, view, upright):
    """Return where a thing's shadows may be seen, and all that `darken_pixel` takes to darken that.

    Args:
        position: Of its origin [m].
        heading: Its x axis on the ground, unit vector.
        extent: Columns SHADOW.
        size: Columns and rows of the picture.
        view: Columns VIEW.
        upright: Share of its height that is left, less for a thing that lies.

    Returns:
        First column, end, first row, end, of which first = end for none; then in the shadow frame: the eye, the
        camera's axes right, down and forward; extent and slope as for `compute_darkness`.
    """
    width, height = size
    focal = view[VIEW.focal]
    dx = view[VIEW.eye] - np.float32(position[0])
    dy = view[VIEW.eye + 1] - np.float32(position[1])
    dz = view[VIEW.eye + 2] - np.float32(position[2])
    along, aside = face_heading((dx, dy), heading)
    eye = (along - extent[SHADOW.middle], aside - extent[SHADOW.middle + 1], dz - extent[SHADOW.ground])
    right = turn_axis(read_vector(view, VIEW.right), heading)
    down = turn_axis(read_vector(view, VIEW.down), heading)
    forward = turn_axis(read_vector(view, VIEW.forward), heading)
    half_x, half_y = extent[SHADOW.half], extent[SHADOW.half + 1]
    tall_x, tall_y = extent[SHADOW.tall_middle], extent[SHADOW.tall_middle + 1]
    tall_half_x, tall_half_y = extent[SHADOW.tall_half], extent[SHADOW.tall_half + 1]
    low, tall = upright * extent[SHADOW.low], upright * extent[SHADOW.tall]
    shape = (half_x, half_y, low, tall_x, tall_y, tall_half_x, tall_half_y, tall, extent[SHADOW.taper])
    slope = find_slope(read_vector(view, VIEW.sun), np.float32(heading[0]), np.float32(heading[1]))
    box = bound_shadow(shape, slope)
    x0, x1, y0, y1 = np.int64(0), np.int64(0), np.int64(0), np.int64(0)
    # Smaller than a pixel: not worth a pass over its rows.
    if focal * (half_x + half_y) >= abs(dot(forward, eye)) and not lies_behind(box, eye, forward):
        x0, x1, y0, y1 = bound_patch(eye, right, down, forward, box, focal, width, height)
        y0, y1 = max(y0, np.int64(view[VIEW.first])), min(y1, np.int64(view[VIEW.end]))
    return (x0, x1, y0, y1), eye, (right, down, forward), shape, slope


@inner_kernel(loose=True)
def cast_shadow(position, heading, extent, size, view, fog_rate, upright, scratch):
    """Darken what lies under one thing and down the sun from it.

    Args:
        position, heading, extent: As for `lay_shadow`.
        size: Columns, rows, pixels from one row to the next.
        view: Columns VIEW.
        fog_rate: As in a triangle's record.
        upright: As for `lay_shadow`.
        scratch: Scratch; `colour` is written.
    """
    width, height, stride = size
    patch, eye, axes, shape, slope = lay_shadow(position, heading, extent, (width, height), view, upright)
    (x0, x1, y0, y1), (right, down, forward) = patch, axes
    over = np.float32(1.0) / view[VIEW.focal]
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
        near, pixel = scratch.depth[at:], scratch.colour[at:]
        darken_row(x1 - x0, eye, shape, slope, ray, step, fog_rate, near, pixel, scratch.iota)


@inner_kernel(copied=True)
def find_caster(world, thing, tables, poses, counts):
    """Return what casts a shadow: whether it is there, its position, columns SHADOW, heading, `lay_shadow`'s upright.

    Args:
        thing: Number of a car of the world, or behind these of a prop.
        tables: PictureTables.
        poses: PoseTables.
        counts: Cars per world, props per world.
    """
    cars_per_world, props_per_world = counts[0], counts[1]
    if thing < cars_per_world:
        car = world * cars_per_world + thing
        shown = poses.present[car] != 0
        position, extent, q = poses.position[car], tables.car_shadow[car], poses.orientation[car]
        hx = np.float32(1.0 - 2.0 * (q[2] * q[2] + q[3] * q[3]))
        hy = np.float32(2.0 * (q[1] * q[2] + q[0] * q[3]))
    else:
        prop = world * props_per_world + thing - cars_per_world
        shown = tables.prop_mesh[prop] >= 0
        position, extent, q = poses.prop_position[prop], tables.prop_shadow[prop], poses.prop_orientation[prop]
        # Props are round: whichever way they are turned, their shadow is the same.
        hx = np.float32(1.0)
        hy = np.float32(0.0)
    length = math.sqrt(hx * hx + hy * hy) + np.float32(1e-9)
    upright = np.float32(max(1.0 - 2.0 * (q[1] * q[1] + q[2] * q[2]), 0.0))
    return shown, position, extent, (hx / length, hy / length), upright * upright


@inner_kernel(copied=True)
def darken_ground(world, size, view, fog_density, tables, poses, counts, scratch):
    """Cast the shadows of all cars and props of a world into a picture."""
    for thing in range(counts[0] + counts[1]):
        shown, position, extent, heading, upright = find_caster(world, thing, tables, poses, counts)
        if shown:
            cast_shadow(position, heading, extent, size, view, fog_density * FOG_SHARE, upright, scratch)
