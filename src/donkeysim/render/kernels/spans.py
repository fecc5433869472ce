"""Spans: pixels side by side in a row that show one triangle and share a mip level.

A band of rows is listed first and its spans are prepared together on vectors, so that the loops which colour them find
all they need: levels chosen one by one, each right before its pixels, took a tenth to a fifth of a picture's time.
"""

import math

import numpy as np

from donkeysim.core.kernel import inner_kernel, span_kernel
from donkeysim.render.kernels.footprint import choose_level, lay_out_level, measure_footprint, measure_sides
from donkeysim.render.kernels.layout import (
    BLOCK,
    INTEGER,
    LANES,
    RECORD,
    RECORD_FLOATS,
    RECORD_INTS,
    SPAN_FLAT,
    SPAN_FLOAT,
    SPAN_FOUR,
    SPAN_INPUT,
    SPAN_INT,
    SPAN_ONE,
    SPAN_PAIR,
    SPAN_PLAIN,
    SPAN_SMOOTH,
    STATE_FLAT,
    STATE_PLAIN,
    STATE_SMALL,
)
from donkeysim.render.kernels.vector import read_vector

SMOOTH_LIMIT = np.float32(16.0)
"""Squared length of a pixel [texel²] from which on its texels are not blended: four are better than two places."""


@span_kernel
def list_ends(width, row, ends):
    """Write where the runs of one triangle end in a row, one behind their last pixel; return how many there are.

    Without a branch: half of all runs are shorter than four pixels, so a guess would often be wrong.
    """
    count = np.uint32(0)
    following = row[1:]
    # Each pixel writes where a run would end behind it; one that does not end there is overwritten by the next.
    for k in range(width - 1):
        ends[count] = np.int32(k + 1)
        count = np.uint32(count + np.uint32(following[k] != row[k]))
    ends[count] = np.int32(width)
    return np.int64(count) + 1


@inner_kernel(loose=True, merged=True)
def list_run(number, begin, end, row, record, integers, count, spans):
    """List the spans of a run of pixels [begin, end) of one triangle from `count` on; return how many are listed then.

    A small triangle has one mip level, chosen at its middle; a large one has one for each block of a row, or for the
    whole run where depth hardly changes along it.
    """
    small = integers[INTEGER.state] == STATE_SMALL or integers[INTEGER.state] == STATE_FLAT
    while begin < end:
        pixels = end - begin
        if pixels > BLOCK and not small:
            # Where nearness changes by less than an eighth one level will do: one long loop beats several short ones.
            per_column, per_row, first = read_vector(record, RECORD.near)
            nearness = first + per_row * np.float32(np.int32(row)) + per_column * np.float32(np.int32(begin))
            if abs(per_column) * np.float32(np.int32(pixels)) > np.float32(0.125) * nearness:
                pixels = np.int64(BLOCK)
        spans[SPAN_INPUT.record, count] = number
        spans[SPAN_INPUT.row, count] = row
        spans[SPAN_INPUT.column, count] = begin
        spans[SPAN_INPUT.pixels, count] = pixels
        spans[SPAN_INPUT.level_x, count] = integers[INTEGER.middle_x] if small else begin + (pixels >> 1)
        spans[SPAN_INPUT.level_y, count] = integers[INTEGER.middle_y] if small else row
        count += 1
        begin += pixels
    return count


@span_kernel
def find_column(number, width, column):
    """Return where a column of a record lies in the flat table, which has `width` columns."""
    # Flat and unsigned: two-dimensional indices would be signed 64-bit products, which no gather takes.
    start = np.uint32(np.uint32(number * np.uint32(width)) & np.uint32(0x3FFFFFFF))
    return np.uint32(start + np.uint32(column))


@span_kernel
def read_plane(number, column, record_float):
    """Return what a record says of 1/w, u/w or v/w: per column, per row and at the first pixel."""
    at = find_column(number, RECORD_FLOATS, column)
    one, two = np.uint32(1), np.uint32(2)
    return record_float[at], record_float[np.uint32(at + one)], record_float[np.uint32(at + two)]


@span_kernel
def spread_texels(ux, vx, uy, vy, major):
    """Return where the first and the second of a pixel's four texels lie from its middle: u, v; u, v [texel].

    Args:
        ux, vx, uy, vy: As `measure_footprint` returns them.
        major: Square of the footprint's longer side [texel²].
    """
    # Four texels at (-3, -1), (1, -3) and opposite, in eighths of a pixel: each in a row and a column of its own, so
    # that no edge passes two at once. Divided by 1 to a half: the grid grows to twice its size.
    three = np.float32(3.0)
    spread = np.float32(0.125) / np.float32(math.sqrt(max(min(major, np.float32(1.0)), np.float32(0.25))))
    return (
        (-three * ux - uy) * spread,
        (-three * vx - vy) * spread,
        (ux - three * uy) * spread,
        (vx - three * vy) * spread,
    )


@span_kernel
def set_up_spans(count, sharp, smooth, pale, inputs, record_float, record_int, level_base, floats, ints, steps):
    """Write how spans run over their textures, and how they are coloured.

    Four texels of a pixel lie on a rotated grid over its footprint, so they may be half as large as it is narrow or a
    quarter of what it is long. Where texels are larger than pixels the grid grows up to twice its size, so that edges
    of texels are smooth. With `smooth` such texels are blended, at two places, as a pixel may still be longer than one.

    Args:
        count: Spans.
        sharp: One texel per pixel instead of four.
        smooth: Whether texels that are larger than pixels are blended into each other.
        pale: Whether all have squares of texels at two places, see `pale.shade_pair`.
        inputs: As `list_run` wrote them: triangle's record, row, first column, pixels, column and row of the level.
        record_float, record_int: Of all records, flat.
        level_base: As `TexelPool`.
        floats: 1/w, u/w and v/w at the first pixel and per column, the latter two in texels of the level; written.
        ints: `SPAN_*`, first texel, masks of u and v; written.
        steps: From a pixel's middle to its first and second texel, u and v each; written.
    """
    numbers, rows, begins, columns, lines = inputs
    q0, qa, u0, ua, v0, va = floats
    kinds, bases, masks_u, masks_v = ints
    steps_u1, steps_v1, steps_u2, steps_v2 = steps
    one, quarter, half = np.float32(1.0), np.float32(0.25), np.float32(0.5)
    for k in range((count + LANES - 1) & -LANES):
        number = np.uint32(numbers[k])
        near = read_plane(number, RECORD.near, record_float)
        across = read_plane(number, RECORD.u, record_float)
        down = read_plane(number, RECORD.v, record_float)
        ux, vx, uy, vy = measure_footprint(np.float32(columns[k]), np.float32(lines[k]), near, across, down)
        major, minor = measure_sides(ux, vx, uy, vy)
        state = record_int[find_column(number, RECORD_INTS, INTEGER.state)]
        texture = record_int[find_column(number, RECORD_INTS, INTEGER.texture)]
        width_log = record_int[find_column(number, RECORD_INTS, INTEGER.texture_size)]
        height_log = record_int[find_column(number, RECORD_INTS, INTEGER.texture_size + 1)]
        last = record_int[find_column(number, RECORD_INTS, INTEGER.texture_size + 2)]
        # The sky is shown as it is, but where its texels are larger than pixels it is smoothed.
        plain = (state == STATE_PLAIN) & (sharp | (major >= one)) & (not pale)
        single = plain | sharp
        level = choose_level(major, minor, one if single else np.float32(0.25), last)
        scale_u, scale_v, _, mask_u, mask_v = lay_out_level(level, width_log, height_log)
        # Blended texels are taken at two places, a quarter of the footprint's longer side away.
        blended = smooth & (minor < one) & (major < SMOOTH_LIMIT)
        is_down = uy * uy + vy * vy > ux * ux + vx * vx
        # Two squares as wide as the footprint is narrow lie side by side along it, or on each other if it is a square.
        aside = min(quarter, half * (one - np.float32(math.sqrt(minor / major)))) if pale else quarter
        aside_u, aside_v = aside * (uy if is_down else ux), aside * (vy if is_down else vx)
        first_u, first_v, second_u, second_v = spread_texels(ux, vx, uy, vy, major)
        steps_u1[k] = np.int32((aside_u if blended | pale else first_u) * scale_u)
        steps_v1[k] = np.int32((aside_v if blended | pale else first_v) * scale_v)
        steps_u2[k] = np.int32(second_u * scale_u)
        steps_v2[k] = np.int32(second_v * scale_v)
        x, y = np.float32(begins[k]), np.float32(rows[k])
        q0[k], qa[k] = near[0] * x + near[1] * y + near[2], near[0]
        u0[k], ua[k] = (across[0] * x + across[1] * y + across[2]) * scale_u, across[0] * scale_u
        v0[k], va[k] = (down[0] * x + down[1] * y + down[2]) * scale_v, down[0] * scale_v
        kind = np.int32(SPAN_PLAIN) if plain else (np.int32(SPAN_ONE) if sharp else np.int32(SPAN_FOUR))
        kind = np.int32(SPAN_SMOOTH) if blended else (np.int32(SPAN_PAIR) if pale else kind)
        kinds[k] = np.int32(SPAN_FLAT) if state == STATE_FLAT else kind
        bases[k] = level_base[np.uint32(texture), np.uint32(level)]
        masks_u[k], masks_v[k] = mask_u, mask_v


@inner_kernel(loose=True, merged=True)
def read_course(span, floats, ints):
    """Return how a span runs over its texture: 1/w, u/w and v/w at its first pixel and per column, masks of u and v."""
    return (
        (floats[SPAN_FLOAT.near, span], floats[SPAN_FLOAT.near + 1, span]),
        (floats[SPAN_FLOAT.u, span], floats[SPAN_FLOAT.u + 1, span]),
        (floats[SPAN_FLOAT.v, span], floats[SPAN_FLOAT.v + 1, span]),
        np.uint32(ints[SPAN_INT.mask_u, span]),
        np.uint32(ints[SPAN_INT.mask_v, span]),
    )
