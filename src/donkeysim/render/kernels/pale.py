"""Small grey pictures are drawn in one channel: half of the gathers of `shade_four`, each of a square of four texels.

The luma of a triangle's texture is weighed by one factor, which is right for the triangle's mean colour; a grey is off
by a little where coloured light falls on a texture of many colours.
"""

import numpy as np

from donkeysim.core.kernel import inner_kernel, span_kernel
from donkeysim.render.kernels.fog import clear_view
from donkeysim.render.kernels.footprint import locate_texel
from donkeysim.render.kernels.layout import LANES, LIGHT, RECORD, SPAN_INT
from donkeysim.render.kernels.spans import read_course


@inner_kernel(loose=True, merged=True)
def measure_luma(colour):
    """Return the luma of a colour."""
    red, green, blue = colour
    return np.float32(0.2126) * red + np.float32(0.7152) * green + np.float32(0.0722) * blue


@inner_kernel(loose=True, merged=True)
def weigh_luma(mean, factor):
    """Return the luma of a triangle's mean colour and the one factor that stands for those of three channels."""
    luma = measure_luma(mean)
    lit = measure_luma((mean[0] * factor[0], mean[1] * factor[1], mean[2] * factor[2]))
    return luma, lit / max(luma, np.float32(1e-3))


@span_kernel
def shade_pair(span, pixels, floats, ints, factors, light, square, iota, target):
    """Write the grey of a span's pixels from two squares of texels each; see `shade.shade_four`, `quads.QuadPool`."""
    (q0, qa), (u0, ua), (v0, va), mask_u, mask_v = read_course(span, floats, ints)
    u1, v1 = np.uint32(ints[SPAN_INT.step_u1, span]), np.uint32(ints[SPAN_INT.step_v1, span])
    factor, fog_rate = factors[RECORD.factor] * np.float32(0.125), factors[RECORD.fog]
    haze = light[LIGHT.haze]
    pair, eight, low = np.uint32(0xFF00FF), np.uint32(8), np.uint32(0xFFFF)
    # A square begins at its first texel: half a texel up and to the left its middle is where it is wanted.
    back_u, back_v = np.uint32(128), np.uint32(np.uint32(mask_u + np.uint32(1)) >> np.uint32(1))
    for k in range((pixels + LANES - 1) & -LANES):
        x = iota[k]
        w = np.float32(1.0) / (q0 + qa * x)
        u = np.uint32(np.uint32(np.int32((u0 + ua * x) * w)) - back_u)
        v = np.uint32(np.uint32(np.int32((v0 + va * x) * w)) - back_v)
        c1 = square[locate_texel(np.uint32(u + u1), np.uint32(v + v1), mask_u, mask_v)]
        c2 = square[locate_texel(np.uint32(u - u1), np.uint32(v - v1), mask_u, mask_v)]
        even = np.uint32(np.uint32(c1 & pair) + np.uint32(c2 & pair))
        odd = np.uint32(np.uint32(np.uint32(c1 >> eight) & pair) + np.uint32(np.uint32(c2 >> eight) & pair))
        both = np.uint32(even + odd)
        total = np.uint32(np.uint32(both & low) + np.uint32(both >> np.uint32(16)))
        grey = (np.float32(np.int32(total)) * factor - haze) * clear_view(fog_rate, w) + haze
        target[k] = np.uint32(np.uint32(np.int32(grey)) * np.uint32(0x10101))
