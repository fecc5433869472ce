"""Colour: every pixel once, in runs of one triangle along a row.

`default` takes four texels per pixel on a rotated grid, spread over the pixel's own footprint on the texture, so that
a road seen at a flat angle stays sharp across and smooth along; `fast` takes one. Both take the nearest texel of a mip
level that is chosen once for a small triangle and for every block of pixels of a large one. Loops run over whole lanes:
what lies beyond a run's end is overwritten by the next run.
"""

from __future__ import annotations

import numpy as np

from donkeysim.core.kernel import inline_kernel, inner_pixel_kernel, span_kernel
from donkeysim.render.kernels.layout import (
    LANES,
    SMALL_SIDE,
    STATE_FLAT,
    STATE_LARGE,
    STATE_NEW,
    STATE_PLAIN,
    STATE_SMALL,
    TINY_SIDE,
    TINY_SIDE_FAST,
)
from donkeysim.render.kernels.raster import choose_level, compute_gradients
from donkeysim.world.scene import SHADE_PAINT, SHADE_UNLIT

SHADE_NO_FOG = 1 << 16
"""Material flag of the sky, set by the renderer: texels as they are."""

BLOCK = 32
"""Pixels of a large triangle's row that share a mip level."""

FOG_POWER = 16
"""Fog lets through (1 - density * w / FOG_POWER) ** FOG_POWER, which tends to exp(-density * w)."""


@inner_pixel_kernel
def clear_view(fog_rate, w):
    """Return the share of light that fog lets through from a distance w along the optical axis [m]."""
    clear = max(np.float32(1.0) - fog_rate * w, np.float32(0.0))
    clear *= clear
    clear *= clear
    clear *= clear
    return clear * clear


@inner_pixel_kernel
def pack_colour(red, green, blue):
    """Return a colour of 0 to 255 as one word."""
    r = np.uint32(np.int32(red))
    g = np.uint32(np.int32(green))
    b = np.uint32(np.int32(blue))
    return np.uint32(r | np.uint32(np.uint32(g << np.uint32(8)) | np.uint32(b << np.uint32(16))))


@inner_pixel_kernel
def locate_texel(u, v, mask_u, mask_v):
    """Return a texel's index in its mip level; u has 8 fractional bits, v as many as the row is shifted."""
    index = np.uint32(np.uint32(np.uint32(u >> np.uint32(8)) & mask_u) | np.uint32(v & mask_v))
    return np.uint32(index & np.uint32(0x3FFFFFFF))


@inline_kernel
def prepare_shading(record, whole, plane, mean, basis, flags, colour, texture, sharp, light, level_base, size_log):
    """Complete a triangle's record: texture gradients, colour factors, fog rate, and how it is to be coloured.

    The factor is the square root of the weight of light (the texture is sRGB, near enough a square root itself), at
    most 1.

    Args:
        record: Floats, and `whole`: integers, of the triangle.
        plane: The triangle's row of `MeshTables.triangle_plane`. mean: Of `MeshTables.triangle_mean`.
        basis: Camera in the mesh's frame.
        flags: SHADE_*, colour: sRGB 0 to 1, texture: index; of its material.
        sharp: One texel per pixel.
        light: Sun colour (3), ambient colour (3), fog colour 0 to 255 (3), fog density [1/m].
        level_base: As `TexelPool`; size_log: likewise.
    """
    facing = (plane[0] * basis[21] + plane[1] * basis[22] + plane[2] * basis[23]) * np.float32(whole[6])
    facing = max(facing, np.float32(0.0))
    for channel in range(3):
        factor = colour[channel]
        if flags & SHADE_PAINT:
            factor *= basis[24 + channel]
        if (flags & SHADE_UNLIT) == 0:
            factor *= np.float32(np.sqrt(light[3 + channel] + light[channel] * facing))
        record[9 + channel] = min(factor, np.float32(1.0))
    fog_rate = np.float32(0.0) if flags & SHADE_NO_FOG else light[9] * np.float32(1.0 / FOG_POWER)
    record[12] = fog_rate
    x = np.float32(whole[4])
    y = np.float32(whole[5])
    whole[3] = texture
    whole[2] = STATE_SMALL if whole[7] < SMALL_SIDE else STATE_LARGE
    tiny = TINY_SIDE_FAST if sharp else TINY_SIDE
    if whole[7] < tiny or (whole[7] < SMALL_SIDE and size_log[texture, 2] == 0):
        whole[2] = STATE_FLAT
        w = np.float32(1.0) / max(record[0] * x + record[1] * y + record[2], np.float32(1e-9))
        clear = clear_view(fog_rate, w)
        haze = np.float32(1.0) - clear
        whole[16] = np.int32(
            pack_colour(
                record[9] * mean[0] * clear + haze * light[6],
                record[10] * mean[1] * clear + haze * light[7],
                record[11] * mean[2] * clear + haze * light[8],
            )
        )
    else:
        if flags & SHADE_NO_FOG:
            whole[2] = STATE_PLAIN
        compute_gradients(record, plane, basis)
        choose_level(record, whole, sharp, x, y, level_base, size_log)


@span_kernel
def shade_one(begin, count, y, record, whole, light, texel, iota, target):
    """Colour pixels from one texel each; see `shade_four`."""
    x0 = np.float32(np.int32(begin))
    qa, ua, va = record[0], record[3] * record[13], record[6] * record[14]
    q0 = record[0] * x0 + record[1] * y + record[2]
    u0 = (record[3] * x0 + record[4] * y + record[5]) * record[13]
    v0 = (record[6] * x0 + record[7] * y + record[8]) * record[14]
    mask_u, mask_v = np.uint32(whole[10]), np.uint32(whole[11])
    red, green, blue, fog_rate = record[9], record[10], record[11], record[12]
    haze_red, haze_green, haze_blue = light[6], light[7], light[8]
    low = np.uint32(0xFF)
    for k in range((count + LANES - 1) & -LANES):
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
def shade_four(begin, count, y, record, whole, light, texel, iota, target):
    """Colour pixels from four texels each.

    Args:
        begin: First column. count: Pixels. y: Row.
        record: Floats, and `whole`: integers, of the triangle, its mip level chosen.
        light: As `prepare_shading`.
        texel: The mip level's texels.
        iota: 0, 1, 2 … as float32.
        target: Written, packed colours from `begin` on.
    """
    x0 = np.float32(np.int32(begin))
    qa, ua, va = record[0], record[3] * record[13], record[6] * record[14]
    q0 = record[0] * x0 + record[1] * y + record[2]
    u0 = (record[3] * x0 + record[4] * y + record[5]) * record[13]
    v0 = (record[6] * x0 + record[7] * y + record[8]) * record[14]
    mask_u, mask_v = np.uint32(whole[10]), np.uint32(whole[11])
    u1, v1, u2, v2 = np.uint32(whole[12]), np.uint32(whole[13]), np.uint32(whole[14]), np.uint32(whole[15])
    quarter = np.float32(0.25)
    red, green, blue, fog_rate = record[9] * quarter, record[10] * quarter, record[11] * quarter, record[12]
    haze_red, haze_green, haze_blue = light[6], light[7], light[8]
    pair = np.uint32(0xFF00FF)
    low = np.uint32(0xFFFF)
    for k in range((count + LANES - 1) & -LANES):
        x = iota[k]
        w = np.float32(1.0) / (q0 + qa * x)
        u = np.uint32(np.int32((u0 + ua * x) * w))
        v = np.uint32(np.int32((v0 + va * x) * w))
        c1 = texel[locate_texel(np.uint32(u + u1), np.uint32(v + v1), mask_u, mask_v)]
        c2 = texel[locate_texel(np.uint32(u + u2), np.uint32(v + v2), mask_u, mask_v)]
        c3 = texel[locate_texel(np.uint32(u - u1), np.uint32(v - v1), mask_u, mask_v)]
        c4 = texel[locate_texel(np.uint32(u - u2), np.uint32(v - v2), mask_u, mask_v)]
        even = np.uint32(
            np.uint32(np.uint32(c1 & pair) + np.uint32(c2 & pair))
            + np.uint32(np.uint32(c3 & pair) + np.uint32(c4 & pair))
        )
        c1 = np.uint32(np.uint32(c1 >> np.uint32(8)) & pair)
        c2 = np.uint32(np.uint32(c2 >> np.uint32(8)) & pair)
        c3 = np.uint32(np.uint32(c3 >> np.uint32(8)) & pair)
        c4 = np.uint32(np.uint32(c4 >> np.uint32(8)) & pair)
        odd = np.uint32(np.uint32(c1 + c2) + np.uint32(c3 + c4))
        clear = clear_view(fog_rate, w)
        r = (np.float32(np.int32(np.uint32(even & low))) * red - haze_red) * clear + haze_red
        g = (np.float32(np.int32(np.uint32(odd & low))) * green - haze_green) * clear + haze_green
        b = (np.float32(np.int32(np.uint32(even >> np.uint32(16)))) * blue - haze_blue) * clear + haze_blue
        target[k] = pack_colour(r, g, b)


@span_kernel
def shade_plain(begin, count, y, record, whole, texel, iota, target):
    """Colour pixels with one texel each as it is; see `shade_four`."""
    x0 = np.float32(np.int32(begin))
    qa, ua, va = record[0], record[3] * record[13], record[6] * record[14]
    q0 = record[0] * x0 + record[1] * y + record[2]
    u0 = (record[3] * x0 + record[4] * y + record[5]) * record[13]
    v0 = (record[6] * x0 + record[7] * y + record[8]) * record[14]
    mask_u, mask_v = np.uint32(whole[10]), np.uint32(whole[11])
    for k in range((count + LANES - 1) & -LANES):
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


@span_kernel
def mark_changes(width, row, change):
    """Write 1 where a pixel's triangle differs from its left neighbour's, and behind the last pixel."""
    for k in range(1, width):
        change[k] = np.uint8(row[k] != row[k - 1])
    change[width] = np.uint8(1)


@inline_kernel
def find_change(begin, words):
    """Return the first marked pixel behind `begin`; `words` holds the marks, eight to a word, lowest byte first."""
    at = begin + 1
    word = words[at >> 3] >> np.uint64((at & 7) * 8)
    if word == np.uint64(0):
        at = (at >> 3) + 1
        while words[at] == np.uint64(0):
            at += 1
        word = words[at]
        at = at << 3
    lowest = word & (~word + np.uint64(1))
    exponent = (np.float64(lowest).view(np.int64) >> 52) - 1023
    return at + (exponent >> 3)


@inner_pixel_kernel
def shade_rows(width, height, stride, sharp, basis, mesh, material, texels, light, scratch):
    """Colour all pixels.

    Args:
        width: Columns. height: Rows. stride: Pixels from one row to the next.
        sharp: One texel per pixel instead of four.
        basis: Camera in the frame of each mesh drawn, shape [draw_limit, BASIS_COLUMNS].
        mesh: (triangle_plane, triangle_mean, triangle_material).
        material: (flags, colour, texture).
        texels: (texel, level_base, size_log).
        light: As `prepare_shading`.
        scratch: (ident, record_float, record_int, change, change_words, iota, colour); `colour` is written.
    """
    triangle_plane, triangle_mean, triangle_material = mesh
    material_flags, material_colour, material_texture = material
    texel, level_base, size_log = texels
    ident, record_float, record_int, change, words, iota, colour = scratch
    for row in range(height):
        offset = row * stride
        y = np.float32(np.int32(row))
        mark_changes(width, ident[offset : offset + width], change)
        begin = np.int64(0)
        while begin < width:
            number = np.int64(ident[offset + begin])
            end = find_change(begin, words)
            record = record_float[number]
            whole = record_int[number]
            if whole[2] == STATE_NEW:
                triangle = whole[0]
                at = triangle_material[triangle]
                prepare_shading(
                    record,
                    whole,
                    triangle_plane[triangle],
                    triangle_mean[triangle],
                    basis[whole[1]],
                    material_flags[at],
                    material_colour[at],
                    material_texture[at],
                    sharp,
                    light,
                    level_base,
                    size_log,
                )
            if whole[2] == STATE_FLAT:
                fill_colour(end - begin, np.uint32(whole[16]), colour[offset + begin :])
                begin = end
            while begin < end:
                count = end - begin
                plain = whole[2] == STATE_PLAIN
                if plain or whole[2] == STATE_LARGE:
                    # Where depth hardly changes along the row, one mip level does for the whole run.
                    nearness = record[2] + record[1] * y + record[0] * np.float32(np.int32(begin))
                    if abs(record[0]) * np.float32(np.int32(count)) > np.float32(0.125) * nearness:
                        count = min(count, BLOCK)
                    middle = np.float32(np.int32(begin + (count >> 1)))
                    footprint = choose_level(record, whole, sharp or plain, middle, y, level_base, size_log)
                    if plain and not sharp and footprint < np.float32(1.0):
                        choose_level(record, whole, False, middle, y, level_base, size_log)
                        plain = False
                level = texel[whole[8] :]
                target = colour[offset + begin :]
                if plain:
                    shade_plain(begin, count, y, record, whole, level, iota, target)
                elif sharp:
                    shade_one(begin, count, y, record, whole, light, level, iota, target)
                else:
                    shade_four(begin, count, y, record, whole, light, level, iota, target)
                begin += count
