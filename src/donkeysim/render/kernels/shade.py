"""Colour: every pixel once, in runs of one triangle along a row.

`default` takes four texels per pixel on a rotated grid, spread over the pixel's own footprint on the texture, so that
a road seen at a flat angle stays sharp across and smooth along; `fast` takes one. Both take the nearest texel of a mip
level that is chosen once for a small triangle and for every block of pixels of a large one. `smooth` is as `default`,
but blends texels that are larger than pixels: for people, who look at large pictures from near. Loops run over whole
lanes: what lies beyond a run's end is overwritten by the next run.
"""

import math

import numpy as np

from donkeysim.core.kernel import inner_kernel, span_kernel
from donkeysim.render.kernels.fog import clear_view, find_fog_rate, pack_colour
from donkeysim.render.kernels.footprint import compute_gradients, locate_texel
from donkeysim.render.kernels.layout import (
    BAND,
    BASIS,
    INTEGER,
    LANES,
    LIGHT,
    PALE,
    PLANE,
    RECORD,
    SHARP,
    SIZE_LOG,
    SMALL_SIDE,
    SMOOTH,
    SPAN_FLOAT,
    SPAN_FOUR,
    SPAN_INPUT,
    SPAN_INT,
    SPAN_ONE,
    SPAN_PAIR,
    SPAN_PLAIN,
    SPAN_SMOOTH,
    STATE_FLAT,
    STATE_LARGE,
    STATE_NEW,
    STATE_PLAIN,
    STATE_SMALL,
    TINY_SIDE,
    TINY_SIDE_FAST,
)
from donkeysim.render.kernels.pale import shade_pair, weigh_luma
from donkeysim.render.kernels.spans import list_ends, list_run, read_course, set_up_spans
from donkeysim.render.kernels.vector import dot, read_vector
from donkeysim.world.scene import SHADE_PAINT, SHADE_UNLIT

SHADE_NO_FOG = 1 << 16
"""Material flag of the sky, set by the renderer: texels as they are."""


@inner_kernel(loose=True, merged=True)
def weigh_light(channel, plane, side, flags, colour, basis, light):
    """Return the factor of a channel of a triangle's texture, see `prepare_shading`; `side`: 1 for its front or -1."""
    facing = max(dot(read_vector(plane, PLANE.normal), read_vector(basis, BASIS.sun)) * side, np.float32(0.0))
    factor = colour[channel]
    if flags & SHADE_PAINT:
        factor *= basis[BASIS.paint + channel]
    if (flags & SHADE_UNLIT) == 0:
        factor *= np.float32(math.sqrt(light[LIGHT.ambient + channel] + light[LIGHT.sun + channel] * facing))
    return min(factor, np.float32(1.0))


@inner_kernel(loose=True, merged=True)
def is_flat(extent, last, quality):
    """Return whether a triangle has one colour; `extent`: its longer side [pixel], `last`: mip level of its texture."""
    # A small triangle of a texture of one texel has one colour too, as its fog is one amount.
    tiny = TINY_SIDE_FAST if quality == SHARP else TINY_SIDE
    return extent < tiny or (extent < SMALL_SIDE and last == 0)


@inner_kernel(loose=True, merged=True)
def mix_flat(inverse, fog_rate, factor, mean, light):
    """Return the packed colour of a triangle that has one; `inverse`: 1/w at its middle, `mean`: of its texture."""
    clear = clear_view(fog_rate, np.float32(1.0) / max(inverse, np.float32(1e-9)))
    haze = np.float32(1.0) - clear
    haze_red, haze_green, haze_blue = read_vector(light, LIGHT.haze)
    return pack_colour(
        factor[0] * mean[0] * clear + haze * haze_red,
        factor[1] * mean[1] * clear + haze * haze_green,
        factor[2] * mean[2] * clear + haze * haze_blue,
    )


@span_kernel
def add_texels(c1, c2, c3, c4):
    """Return the sums of red and blue, 16 bits apart, and of green, of four texels."""
    # In one word: four bytes need ten bits.
    pair, eight = np.uint32(0xFF00FF), np.uint32(8)
    even = np.uint32(
        np.uint32(np.uint32(c1 & pair) + np.uint32(c2 & pair)) + np.uint32(np.uint32(c3 & pair) + np.uint32(c4 & pair))
    )
    c1 = np.uint32(np.uint32(c1 >> eight) & pair)
    c2 = np.uint32(np.uint32(c2 >> eight) & pair)
    c3 = np.uint32(np.uint32(c3 >> eight) & pair)
    c4 = np.uint32(np.uint32(c4 >> eight) & pair)
    return even, np.uint32(np.uint32(c1 + c2) + np.uint32(c3 + c4))


@span_kernel
def mix_colour(even, odd, factor, haze, clear):
    """Return the packed colour of sums of texels times a factor for each channel, seen through fog."""
    low = np.uint32(0xFFFF)
    red, green, blue = factor
    haze_red, haze_green, haze_blue = haze
    r = (np.float32(np.int32(np.uint32(even & low))) * red - haze_red) * clear + haze_red
    g = (np.float32(np.int32(np.uint32(odd & low))) * green - haze_green) * clear + haze_green
    b = (np.float32(np.int32(np.uint32(even >> np.uint32(16)))) * blue - haze_blue) * clear + haze_blue
    return pack_colour(r, g, b)


@inner_kernel(loose=True, merged=True)
def prepare_shading(record, integers, quality, light, tables, bases):
    """Complete a triangle's record: texture gradients, colour factors, fog rate, and how it is to be coloured.

    The factor is the square root of the weight of light (the texture is sRGB, near enough a square root itself), at
    most 1.

    Args:
        record: Floats of the triangle.
        integers: Its whole numbers.
        quality: `SHARP`, `SMOOTH`, `PALE` or none of them.
        light: Columns LIGHT.
        tables: PictureTables.
        bases: `Scratch.basis`.
    """
    triangle = integers[INTEGER.triangle]
    plane, basis = tables.triangle_plane[triangle], bases[integers[INTEGER.draw]]
    mean = read_vector(tables.triangle_mean[triangle], 0)
    material = tables.triangle_material[triangle]
    flags, colour = tables.material_flags[material], tables.material_colour[material]
    texture = tables.material_texture[material]
    size = tables.size_log[texture]
    side = np.float32(integers[INTEGER.side])
    for channel in range(3):
        record[RECORD.factor + channel] = weigh_light(channel, plane, side, flags, colour, basis, light)
    if quality == PALE:
        pale = weigh_luma(mean, read_vector(record, RECORD.factor))
        mean = (pale[0], pale[0], pale[0])
        for channel in range(3):
            record[RECORD.factor + channel] = pale[1]
    fog_rate = find_fog_rate(tables.material_segment[material], light)
    record[RECORD.fog] = fog_rate
    # Read before the texture's size takes its column.
    extent = integers[INTEGER.extent]
    integers[INTEGER.texture] = texture
    for term in range(3):
        integers[INTEGER.texture_size + term] = size[term]
    if is_flat(extent, size[SIZE_LOG.last], quality):
        integers[INTEGER.state] = STATE_FLAT
        column, row = np.float32(integers[INTEGER.middle_x]), np.float32(integers[INTEGER.middle_y])
        near = read_vector(record, RECORD.near)
        inverse = near[0] * column + near[1] * row + near[2]
        factor = read_vector(record, RECORD.factor)
        integers[INTEGER.colour] = np.int32(mix_flat(inverse, fog_rate, factor, mean, light))
    else:
        integers[INTEGER.state] = STATE_SMALL if extent < SMALL_SIDE else STATE_LARGE
        if flags & SHADE_NO_FOG:
            integers[INTEGER.state] = STATE_PLAIN
        compute_gradients(record, plane, basis)


@span_kernel
def shade_one(span, pixels, floats, ints, factors, light, texel, iota, target):
    """Colour the pixels of a span from one texel each; see `shade_four`."""
    (q0, qa), (u0, ua), (v0, va), mask_u, mask_v = read_course(span, floats, ints)
    red, green, blue = read_vector(factors, RECORD.factor)
    fog_rate = factors[RECORD.fog]
    haze_red, haze_green, haze_blue = read_vector(light, LIGHT.haze)
    low = np.uint32(0xFF)
    for k in range((pixels + LANES - 1) & -LANES):
        x = iota[k]
        w = np.float32(1.0) / (q0 + qa * x)
        u = np.uint32(np.int32((u0 + ua * x) * w))
        v = np.uint32(np.int32((v0 + va * x) * w))
        c = texel[locate_texel(u, v, mask_u, mask_v)]
        clear = clear_view(fog_rate, w)
        r = (np.float32(np.int32(c & low)) * red - haze_red) * clear + haze_red
        g = (np.float32(np.int32(np.uint32(c >> np.uint32(8)) & low)) * green - haze_green) * clear + haze_green
        b = (np.float32(np.int32(np.uint32(c >> np.uint32(16)) & low)) * blue - haze_blue) * clear + haze_blue
        target[k] = pack_colour(r, g, b)


@span_kernel
def shade_four(span, pixels, floats, ints, factors, light, texel, iota, target):
    """Colour the pixels of a span from four texels each.

    Args:
        pixels: How many it has.
        floats, ints: What `set_up_spans` wrote.
        factors: Floats of the triangle's record.
        light: As `prepare_shading`.
        texel: The mip level's texels.
        iota: 0, 1, 2 … as float32.
        target: Written, packed colours from the span's first column on.
    """
    (q0, qa), (u0, ua), (v0, va), mask_u, mask_v = read_course(span, floats, ints)
    u1, v1 = np.uint32(ints[SPAN_INT.step_u1, span]), np.uint32(ints[SPAN_INT.step_v1, span])
    u2, v2 = np.uint32(ints[SPAN_INT.step_u2, span]), np.uint32(ints[SPAN_INT.step_v2, span])
    quarter = np.float32(0.25)
    red, green, blue = read_vector(factors, RECORD.factor)
    factor, fog_rate = (red * quarter, green * quarter, blue * quarter), factors[RECORD.fog]
    haze = read_vector(light, LIGHT.haze)
    for k in range((pixels + LANES - 1) & -LANES):
        x = iota[k]
        w = np.float32(1.0) / (q0 + qa * x)
        u = np.uint32(np.int32((u0 + ua * x) * w))
        v = np.uint32(np.int32((v0 + va * x) * w))
        c1 = texel[locate_texel(np.uint32(u + u1), np.uint32(v + v1), mask_u, mask_v)]
        c2 = texel[locate_texel(np.uint32(u + u2), np.uint32(v + v2), mask_u, mask_v)]
        c3 = texel[locate_texel(np.uint32(u - u1), np.uint32(v - v1), mask_u, mask_v)]
        c4 = texel[locate_texel(np.uint32(u - u2), np.uint32(v - v2), mask_u, mask_v)]
        even, odd = add_texels(c1, c2, c3, c4)
        target[k] = mix_colour(even, odd, factor, haze, clear_view(fog_rate, w))


@span_kernel
def blend_pairs(first, second, share):
    """Return first + share / 256 of the way to second, of two bytes 16 bits apart."""
    both = np.uint32(np.uint32(first * np.uint32(np.uint32(256) - share)) + np.uint32(second * share))
    return np.uint32(np.uint32(np.uint32(both + np.uint32(0x800080)) >> np.uint32(8)) & np.uint32(0xFF00FF))


@span_kernel
def blend_texels(u, v, mask_u, mask_v, scale, texel):
    """Return red and blue, then green, of the four texels around a place, weighted by how near they are.

    Args:
        u: As `locate_texel` takes it.
        v: The same; below its whole texels are as many bits as `mask_u` has.
        mask_u, mask_v: Of the mip level.
        scale: 256 over the length of a row.
        texel: The mip level's texels.
    """
    pair, eight = np.uint32(0xFF00FF), np.uint32(8)
    row = np.uint32(mask_u + np.uint32(1))
    u, v = np.uint32(u - np.uint32(128)), np.uint32(v - np.uint32(row >> np.uint32(1)))
    right, below = np.uint32(u + np.uint32(256)), np.uint32(v + row)
    share_u = np.uint32(u & np.uint32(255))
    share_v = np.uint32(np.int32(np.float32(np.int32(v & mask_u)) * scale))
    c1, c2 = texel[locate_texel(u, v, mask_u, mask_v)], texel[locate_texel(right, v, mask_u, mask_v)]
    c3, c4 = texel[locate_texel(u, below, mask_u, mask_v)], texel[locate_texel(right, below, mask_u, mask_v)]
    upper = blend_pairs(np.uint32(c1 & pair), np.uint32(c2 & pair), share_u)
    lower = blend_pairs(np.uint32(c3 & pair), np.uint32(c4 & pair), share_u)
    even = blend_pairs(upper, lower, share_v)
    upper = blend_pairs(np.uint32(np.uint32(c1 >> eight) & pair), np.uint32(np.uint32(c2 >> eight) & pair), share_u)
    lower = blend_pairs(np.uint32(np.uint32(c3 >> eight) & pair), np.uint32(np.uint32(c4 >> eight) & pair), share_u)
    return even, blend_pairs(upper, lower, share_v)


@span_kernel
def shade_smooth(span, pixels, floats, ints, factors, light, texel, iota, target):
    """Colour the pixels of a span from texels that are larger than they are, blended; see `shade_four`."""
    (q0, qa), (u0, ua), (v0, va), mask_u, mask_v = read_course(span, floats, ints)
    u1, v1 = np.uint32(ints[SPAN_INT.step_u1, span]), np.uint32(ints[SPAN_INT.step_v1, span])
    half = np.float32(0.5)
    red, green, blue = read_vector(factors, RECORD.factor)
    factor, fog_rate = (red * half, green * half, blue * half), factors[RECORD.fog]
    haze = read_vector(light, LIGHT.haze)
    scale = np.float32(256.0) / np.float32(np.int32(mask_u + np.uint32(1)))
    for k in range((pixels + LANES - 1) & -LANES):
        x = iota[k]
        w = np.float32(1.0) / (q0 + qa * x)
        u = np.uint32(np.int32((u0 + ua * x) * w))
        v = np.uint32(np.int32((v0 + va * x) * w))
        even1, odd1 = blend_texels(np.uint32(u + u1), np.uint32(v + v1), mask_u, mask_v, scale, texel)
        even2, odd2 = blend_texels(np.uint32(u - u1), np.uint32(v - v1), mask_u, mask_v, scale, texel)
        even, odd = np.uint32(even1 + even2), np.uint32(odd1 + odd2)
        target[k] = mix_colour(even, odd, factor, haze, clear_view(fog_rate, w))


@span_kernel
def shade_plain(span, pixels, floats, ints, texel, iota, target):
    """Colour the pixels of a span with one texel each as it is; see `shade_four`."""
    (q0, qa), (u0, ua), (v0, va), mask_u, mask_v = read_course(span, floats, ints)
    for k in range((pixels + LANES - 1) & -LANES):
        x = iota[k]
        w = np.float32(1.0) / (q0 + qa * x)
        u = np.uint32(np.int32((u0 + ua * x) * w))
        v = np.uint32(np.int32((v0 + va * x) * w))
        target[k] = np.uint32(texel[locate_texel(u, v, mask_u, mask_v)] & np.uint32(0xFFFFFF))


@span_kernel
def fill_colour(count, colour, target):
    """Write one colour."""
    for k in range((count + LANES - 1) & -LANES):
        target[k] = colour


@inner_kernel(loose=True, merged=True)
def shade_spans(count, quality, stride, light, tables, scratch):
    """Colour the listed spans, in their order: what lies beyond a span's end is overwritten by the next.

    Args:
        count: Spans.
        quality: `SHARP`, `SMOOTH`, `PALE` or none of them.
        stride: Pixels from one row to the next.
        light: Columns LIGHT.
        tables: PictureTables.
    """
    inputs, floats, ints = scratch.span_input, scratch.span_float, scratch.span_int
    near, u, v = SPAN_FLOAT.near, SPAN_FLOAT.u, SPAN_FLOAT.v
    set_up_spans(
        count,
        quality == SHARP,
        quality == SMOOTH,
        quality == PALE,
        (
            inputs[SPAN_INPUT.record],
            inputs[SPAN_INPUT.row],
            inputs[SPAN_INPUT.column],
            inputs[SPAN_INPUT.level_x],
            inputs[SPAN_INPUT.level_y],
        ),
        scratch.flat_float,
        scratch.flat_int,
        tables.level_base,
        (floats[near], floats[near + 1], floats[u], floats[u + 1], floats[v], floats[v + 1]),
        (ints[SPAN_INT.kind], ints[SPAN_INT.base], ints[SPAN_INT.mask_u], ints[SPAN_INT.mask_v]),
        (ints[SPAN_INT.step_u1], ints[SPAN_INT.step_v1], ints[SPAN_INT.step_u2], ints[SPAN_INT.step_v2]),
    )
    # In the order of rows and columns: the rest of a last vector of lanes spoils the pixels behind a span, and the next
    # span colours these; behind a row there is room.
    iota = scratch.iota
    for span in range(count):
        number = np.int64(inputs[SPAN_INPUT.record, span])
        factors = scratch.record_float[number]
        at = np.int64(inputs[SPAN_INPUT.row, span]) * stride + np.int64(inputs[SPAN_INPUT.column, span])
        target = scratch.colour[at:]
        pixels = np.int64(inputs[SPAN_INPUT.pixels, span])
        level = tables.texel[np.int64(ints[SPAN_INT.base, span]) :]
        kind = ints[SPAN_INT.kind, span]
        if kind == SPAN_PAIR:
            square = tables.quad[np.int64(ints[SPAN_INT.base, span]) :]
            shade_pair(span, pixels, floats, ints, factors, light, square, iota, target)
        elif kind == SPAN_FOUR:
            shade_four(span, pixels, floats, ints, factors, light, level, iota, target)
        elif kind == SPAN_ONE:
            shade_one(span, pixels, floats, ints, factors, light, level, iota, target)
        elif kind == SPAN_SMOOTH:
            shade_smooth(span, pixels, floats, ints, factors, light, level, iota, target)
        elif kind == SPAN_PLAIN:
            shade_plain(span, pixels, floats, ints, level, iota, target)
        else:
            fill_colour(pixels, np.uint32(scratch.record_int[number, INTEGER.colour]), target)


@inner_kernel(loose=True)
def shade_meshes(size, quality, light, tables, scratch):
    """Colour all samples of a picture's rows.

    Args:
        size: Columns, first row and end of those drawn, samples from one row to the next.
        quality: `SHARP`, `SMOOTH`, `PALE` or none of them.
        light: Columns LIGHT.
        tables: PictureTables.
        scratch: Scratch; `colour` is written.
    """
    width, first, last, stride = size
    spans = np.int64(0)
    for row in range(first, last):
        offset = row * stride
        begin = np.int64(0)
        for run in range(list_ends(width, scratch.ident[offset:], scratch.run_end)):
            number = np.int64(scratch.ident[offset + begin])
            end = np.int64(scratch.run_end[run])
            record, integers = scratch.record_float[number], scratch.record_int[number]
            # Here and not where it was drawn: what nearer things hide is never shaded.
            if integers[INTEGER.state] == STATE_NEW:
                prepare_shading(record, integers, quality, light, tables, scratch.basis)
            spans = list_run(number, begin, end, row, record, integers, spans, scratch.span_input)
            begin = end
        if spans > 0 and (row == last - 1 or (row & (BAND - 1)) == BAND - 1):
            shade_spans(spans, quality, stride, light, tables, scratch)
            spans = np.int64(0)
