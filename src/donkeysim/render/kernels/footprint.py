"""How much of its texture a pixel covers, and which mip level suits that."""

import numpy as np

from donkeysim.core.kernel import inner_kernel, span_kernel
from donkeysim.render.kernels.layout import BASIS, PLANE, RECORD
from donkeysim.render.kernels.vector import dot, read_vector


@inner_kernel(loose=True)
def compute_gradients(record, plane, basis):
    """Write u/w and v/w of a triangle's record from its gradients in the mesh's frame."""
    near = read_vector(record, RECORD.near)
    across, down = lay_gradient(plane, PLANE.u, basis, near), lay_gradient(plane, PLANE.v, basis, near)
    for term in range(3):
        record[RECORD.u + term], record[RECORD.v + term] = across[term], down[term]


@inner_kernel(loose=True, merged=True)
def lay_gradient(plane, column, basis, near):
    """Return u/w or v/w of a triangle, per column, per row and at the first pixel; `column`: `PLANE.u` or `PLANE.v`."""
    # A point at w on a ray is eye + w * ray, and u is linear in space: u/w = u(eye) * 1/w + gradient·ray.
    gradient = read_vector(plane, column)
    at_eye = dot(gradient, read_vector(basis, BASIS.eye)) + plane[column + 3]
    return (
        at_eye * near[0] + dot(gradient, read_vector(basis, BASIS.ray_column)),
        at_eye * near[1] + dot(gradient, read_vector(basis, BASIS.ray_row)),
        at_eye * near[2] + dot(gradient, read_vector(basis, BASIS.ray_first)),
    )


@span_kernel
def measure_footprint(x, y, near, across, down):
    """Return how far the next column and the next row are on the texture: u, v; u, v [texel].

    Args:
        x: Column.
        y: Row.
        near: 1/w of the triangle per column, per row, at the first pixel.
        across: The same of u/w.
        down: The same of v/w.
    """
    w, u, v = find_place(x, y, near, across, down)
    # d(u/w) = du/w + u d(1/w): the derivative on the screen, exact where a difference of two pixels would not be.
    ux = (across[0] - u * near[0]) * w
    vx = (down[0] - v * near[0]) * w
    uy = (across[1] - u * near[1]) * w
    vy = (down[1] - v * near[1]) * w
    return ux, vx, uy, vy


@span_kernel
def find_place(x, y, near, across, down):
    """Return the distance along the optical axis [m], u and v [texel] that a pixel shows; see `measure_footprint`."""
    # The middle of a triangle's bounds may lie off it, where its plane has gone behind the horizon.
    w = np.float32(1.0) / max(near[0] * x + near[1] * y + near[2], np.float32(1e-9))
    u = (across[0] * x + across[1] * y + across[2]) * w
    v = (down[0] * x + down[1] * y + down[2]) * w
    return w, u, v


@span_kernel
def measure_sides(ux, vx, uy, vy):
    """Return the squares of the longer and the shorter side of a footprint [texel²]."""
    across = ux * ux + vx * vx
    along = uy * uy + vy * vy
    return max(max(across, along), np.float32(1e-8)), min(across, along)


@span_kernel
def choose_level(major, minor, share, last):
    """Return the mip level for a footprint: texels as large as it is narrow, or half as large as it is long.

    Args:
        major: Square of its longer side [texel²].
        minor: Of its shorter side.
        share: Square of how much smaller texels may be, as several are taken.
        last: Smallest level there is.
    """
    square = max(minor, major * np.float32(0.25)) * share
    # Half the exponent of twice the square is the nearest logarithm to base 2 of the size: no logarithm, which would
    # not run on vectors.
    exponent = np.int32((np.float32(square * np.float32(2.0)).view(np.int32) >> np.int32(23)) - np.int32(127))
    return np.int32(min(max(np.int32(exponent >> np.int32(1)), np.int32(0)), last))


@span_kernel
def lay_out_level(level, width_log, height_log):
    """Return scales of u and v, the logarithm of a row, and masks of u and v on a mip level; see `locate_texel`."""
    # v is scaled by the length of a row, so that its whole texels stand where the row's number stands in an index:
    # a mask then takes the remainder and leaves the row times its length, without a shift for every pixel.
    one, none = np.int32(1), np.int32(0)
    shift = np.int32(max(np.int32(width_log - level), none))
    high = np.int32(max(np.int32(height_log - level), none))
    scale = np.float32(1.0) / np.float32(np.int32(one << level))
    mask_u = np.int32(np.int32(one << shift) - one)
    mask_v = np.int32(np.int32(np.int32(one << high) - one) << shift)
    return np.float32(256.0) * scale, np.float32(np.int32(one << shift)) * scale, shift, mask_u, mask_v


@span_kernel
def locate_texel(u, v, mask_u, mask_v):
    """Return a texel's index in its mip level; u has 8 fractional bits, v as many as the row is shifted."""
    index = np.uint32(np.uint32(np.uint32(u >> np.uint32(8)) & mask_u) | np.uint32(v & mask_v))
    # Four times an index below 2^30 fits into 32 bits, and only if the compiler sees that does it gather vectors.
    return np.uint32(index & np.uint32(0x3FFFFFFF))
