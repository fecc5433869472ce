"""Colour: every pixel once, in runs of one triangle along a row.

`default` takes four texels per pixel on a rotated grid, spread over the pixel's own footprint on the texture, so that a road
seen at a flat angle stays sharp across and smooth along; `fast` takes one. Both take the nearest texel of a mip level
chosen for every block of pixels. Blocks are always computed whole: what lies beyond a run's end is overwritten by the next run.
"""

from __future__ import annotations

import numpy as np

from donkeysim.core.kernel import inline_kernel, pixel_kernel
from donkeysim.render.kernels.raster import compute_gradients
from donkeysim.world.scene import SHADE_PAINT, SHADE_UNLIT

SHADE_NO_FOG = 1 << 16
"""Material flag of the sky, set by the renderer."""

BLOCK = 16
"""Pixels that share a mip level."""

FOG_POWER = 16
"""Fog lets through (1 - density * w / FOG_POWER) ** FOG_POWER, which tends to exp(-density * w)."""


@pixel_kernel
def prepare_shading(record_float, record_int, plane, basis, material, flags, colour, light):
    """Complete a triangle's record: texture gradients, colour factors, fog rate.

    The factor is the square root of the weight of light (the texture is sRGB, near enough a square root itself).

    Args:
        light: Sun colour (3), ambient colour (3), fog colour 0 to 255 (3), fog density [1/m].
    """
    compute_gradients(record_float, plane, basis)
    facing = (plane[0] * basis[21] + plane[1] * basis[22] + plane[2] * basis[23]) * np.float32(record_int[5])
    facing = max(facing, np.float32(0.0))
    for channel in range(3):
        factor = colour[channel]
        if flags & SHADE_PAINT:
            factor *= basis[24 + channel]
        if (flags & SHADE_UNLIT) == 0:
            factor *= np.float32(np.sqrt(light[3 + channel] + light[channel] * facing))
        record_float[9 + channel] = factor
    record_float[12] = np.float32(0.0) if flags & SHADE_NO_FOG else light[9] / np.float32(FOG_POWER)
    record_int[2] = np.int32(1)
    record_int[4] = material


@inline_kernel
def choose_level(square, last):
    """Return the mip level whose texels are nearest in size to a footprint given by its square [texel²]."""
    exponent = (np.float32(square * np.float32(2.0)).view(np.int32) >> 23) - 127
    return np.int32(min(max(exponent >> 1, 0), last))


@pixel_kernel
def shade_run(begin, end, x0, y0, sharp, record, texture, light, pool, level_base, size_log, colour, offset, iota):
    """Colour the pixels [begin, end) of a row, all of one triangle.

    Args:
        begin: First column; end: one behind the last.
        y0: Row.
        sharp: One texel per pixel instead of four.
        record: The triangle's floats.
        light: As in `prepare_shading`.
        colour: Written, packed RGB, shape [height * stride].
        offset: Index of the row's first pixel in `colour`.
        iota: 0, 1, 2 … as float32.
    """
    one = np.float32(1.0)
    qa, ua, va = record[0], record[3], record[6]
    qb, ub, vb = record[1], record[4], record[7]
    y = np.float32(y0)
    q_row = qb * y + record[2]
    u_row = ub * y + record[5]
    v_row = vb * y + record[8]
    fog_rate = record[12]
    log_w = size_log[texture, 0]
    log_h = size_log[texture, 1]
    last = size_log[texture, 2]
    low = np.uint32(0xFF)
    pair = np.uint32(0xFF00FF)
    limit = np.float32(255.0)
    for block in range(begin, end, BLOCK):
        count = min(end - block, BLOCK)
        # Footprint at the middle of the block.
        middle = np.float32(block) + np.float32(0.5) * np.float32(count - 1)
        w = one / (q_row + qa * middle)
        u = (u_row + ua * middle) * w
        v = (v_row + va * middle) * w
        ux = (ua - u * qa) * w
        vx = (va - v * qa) * w
        uy = (ub - u * qb) * w
        vy = (vb - v * qb) * w
        across = ux * ux + vx * vx
        along = uy * uy + vy * vy
        major = max(across, along)
        minor = min(across, along)
        if sharp:
            level = choose_level(max(minor, major * np.float32(0.25)), last)
        else:
            level = choose_level(max(minor * np.float32(0.25), major * np.float32(0.0625)), last)
        scale = np.float32(256.0) / np.float32(np.int32(1) << level)
        base = level_base[texture, level]
        shift = np.uint32(max(log_w - level, 0))
        mask_u = (np.uint32(1) << shift) - np.uint32(1)
        mask_v = (np.uint32(1) << np.uint32(max(log_h - level, 0))) - np.uint32(1)
        q0 = q_row + qa * np.float32(block)
        u0 = (u_row + ua * np.float32(block)) * scale
        v0 = (v_row + va * np.float32(block)) * scale
        us = ua * scale
        vs = va * scale
        texel = pool[base:]
        target = colour[offset + block :]
        if sharp:
            red = record[9]
            green = record[10]
            blue = record[11]
            for k in range(BLOCK):
                x = iota[k]
                w = one / (q0 + qa * x)
                u = np.uint32(np.int32((u0 + us * x) * w))
                v = np.uint32(np.int32((v0 + vs * x) * w))
                c = texel[
                    ((((v >> np.uint32(8)) & mask_v) << shift) | ((u >> np.uint32(8)) & mask_u)) & np.uint32(0x3FFFFFFF)
                ]
                clear = max(one - fog_rate * w, np.float32(0.0))
                clear *= clear
                clear *= clear
                clear *= clear
                clear *= clear
                haze = one - clear
                r = np.float32(np.int32(c & low)) * red * clear + haze * light[6]
                g = np.float32(np.int32((c >> np.uint32(8)) & low)) * green * clear + haze * light[7]
                b = np.float32(np.int32((c >> np.uint32(16)) & low)) * blue * clear + haze * light[8]
                target[k] = (
                    np.uint32(np.int32(min(r, limit)))
                    | (np.uint32(np.int32(min(g, limit))) << np.uint32(8))
                    | (np.uint32(np.int32(min(b, limit))) << np.uint32(16))
                )
        else:
            # The pattern never gets smaller than one texel: close surfaces are smoothed instead of blocky.
            spread = np.float32(256.0) / np.float32(np.int32(1) << level) * np.float32(0.125)
            if major < one:
                spread /= np.float32(np.sqrt(max(major, np.float32(1e-4))))
            u1 = np.uint32(np.int32((-np.float32(3.0) * ux - uy) * spread))
            v1 = np.uint32(np.int32((-np.float32(3.0) * vx - vy) * spread))
            u2 = np.uint32(np.int32((ux - np.float32(3.0) * uy) * spread))
            v2 = np.uint32(np.int32((vx - np.float32(3.0) * vy) * spread))
            red = record[9] * np.float32(0.25)
            green = record[10] * np.float32(0.25)
            blue = record[11] * np.float32(0.25)
            for k in range(BLOCK):
                x = iota[k]
                w = one / (q0 + qa * x)
                u = np.uint32(np.int32((u0 + us * x) * w))
                v = np.uint32(np.int32((v0 + vs * x) * w))
                at1 = (
                    ((((v + v1) >> np.uint32(8)) & mask_v) << shift) | (((u + u1) >> np.uint32(8)) & mask_u)
                ) & np.uint32(0x3FFFFFFF)
                at2 = (
                    ((((v + v2) >> np.uint32(8)) & mask_v) << shift) | (((u + u2) >> np.uint32(8)) & mask_u)
                ) & np.uint32(0x3FFFFFFF)
                at3 = (
                    ((((v - v1) >> np.uint32(8)) & mask_v) << shift) | (((u - u1) >> np.uint32(8)) & mask_u)
                ) & np.uint32(0x3FFFFFFF)
                at4 = (
                    ((((v - v2) >> np.uint32(8)) & mask_v) << shift) | (((u - u2) >> np.uint32(8)) & mask_u)
                ) & np.uint32(0x3FFFFFFF)
                c1 = texel[at1]
                c2 = texel[at2]
                c3 = texel[at3]
                c4 = texel[at4]
                rb = np.uint32(np.uint32(c1 & pair) + np.uint32(c2 & pair)) + np.uint32(
                    np.uint32(c3 & pair) + np.uint32(c4 & pair)
                )
                gs = np.uint32(((c1 >> np.uint32(8)) & low) + ((c2 >> np.uint32(8)) & low)) + np.uint32(
                    ((c3 >> np.uint32(8)) & low) + ((c4 >> np.uint32(8)) & low)
                )
                clear = max(one - fog_rate * w, np.float32(0.0))
                clear *= clear
                clear *= clear
                clear *= clear
                clear *= clear
                haze = one - clear
                r = np.float32(np.int32(rb & np.uint32(0xFFFF))) * red * clear + haze * light[6]
                g = np.float32(np.int32(gs)) * green * clear + haze * light[7]
                b = np.float32(np.int32((rb >> np.uint32(16)) & np.uint32(0xFFFF))) * blue * clear + haze * light[8]
                target[k] = (
                    np.uint32(np.int32(min(r, limit)))
                    | (np.uint32(np.int32(min(g, limit))) << np.uint32(8))
                    | (np.uint32(np.int32(min(b, limit))) << np.uint32(16))
                )


@pixel_kernel
def shade_rows(width, height, stride, sharp, basis, mesh, materials, texels, light, scratch, colour, iota):
    """Colour all pixels.

    Args:
        mesh: (triangle_plane, triangle_material).
        materials: (flags, colour, texture).
        texels: (pool, level_base, size_log).
        scratch: (ident, record_float, record_int).
        colour: Written, packed RGB, shape [height * stride].
    """
    triangle_plane, triangle_material = mesh
    material_flags, material_colour, material_texture = materials
    pool, level_base, size_log = texels
    ident, record_float, record_int = scratch
    for row in range(height):
        offset = row * stride
        begin = 0
        while begin < width:
            number = ident[offset + begin]
            end = begin + 1
            while end < width and ident[offset + end] == number:
                end += 1
            if record_int[number, 2] == 0:
                triangle = record_int[number, 0]
                material = triangle_material[triangle]
                prepare_shading(
                    record_float[number],
                    record_int[number],
                    triangle_plane[triangle],
                    basis[record_int[number, 1]],
                    material,
                    material_flags[material],
                    material_colour[material],
                    light,
                )
                record_int[number, 3] = material_texture[material]
            shade_run(
                begin,
                end,
                np.int64(0),
                row,
                sharp,
                record_float[number],
                record_int[number, 3],
                light,
                pool,
                level_base,
                size_log,
                colour,
                offset,
                iota,
            )
            begin = end
