"""Fog, and colours as one word."""

import numpy as np

from donkeysim.core.kernel import inner_kernel
from donkeysim.render.kernels.layout import LIGHT
from donkeysim.world.scene import CLASS_GROUND, CLASS_LINE, CLASS_ROAD, CLASS_SKY

# Four multiplications in place of an exponential, which would keep the loop off vectors; what passes is off by 1.7 % of
# the light at most.
FOG_POWER = 16
"""Fog lets through (1 - density * w / FOG_POWER) ** FOG_POWER, which tends to exp(-density * w)."""

FOG_SHARE = np.float32(1.0 / FOG_POWER)
"""Fog rate for each unit of density."""


@inner_kernel(loose=True, merged=True)
def find_fog_rate(kind, light):
    """Return the fog rate that a class of things is seen with; `light`: columns LIGHT."""
    if kind == CLASS_SKY:
        return np.float32(0.0)
    density = light[LIGHT.ground] if kind in (CLASS_GROUND, CLASS_ROAD, CLASS_LINE) else light[LIGHT.density]
    return density * FOG_SHARE


@inner_kernel(loose=True)
def clear_view(fog_rate, w):
    """Return the share of light that fog lets through from a distance w along the optical axis [m]."""
    # Four squarings instead of an exponential, which would not run on vectors.
    clear = max(np.float32(1.0) - fog_rate * w, np.float32(0.0))
    clear *= clear
    clear *= clear
    clear *= clear
    return clear * clear


@inner_kernel(loose=True)
def pack_colour(red, green, blue):
    """Return a colour of 0 to 255 as one word."""
    r = np.uint32(np.int32(red))
    g = np.uint32(np.int32(green))
    b = np.uint32(np.int32(blue))
    return np.uint32(r | np.uint32(np.uint32(g << np.uint32(8)) | np.uint32(b << np.uint32(16))))
