"""Other colours and surfaces by class, as `recolour` makes them."""

from __future__ import annotations

import numpy as np

from donkeysim.core.kernel import index_kernel
from donkeysim.render.kernels.fog import find_fog_rate
from donkeysim.render.kernels.gather.colour import find_run, measure_near
from donkeysim.render.kernels.gather.finish import find_class
from donkeysim.render.kernels.gather.layout import GatherScratch, GatherSizes
from donkeysim.render.kernels.layout import VIEW
from donkeysim.render.kernels.recolour import LOOK, lay_patches, measure_patch, recolour_pixel
from donkeysim.render.tables import CameraTables, PictureTables


@index_kernel(loose=True)
def recolour_pixels(
    index: int,
    first: int,
    sizes: GatherSizes,
    tables: PictureTables,
    cameras: CameraTables,
    scratch: GatherScratch,
) -> None:
    """Change the colours of some pixels of a row by the look of what they show."""
    camera, row, column, pixels = find_run(index, sizes, scratch)
    half, y, view = np.float32(0.5), np.float32(np.int32(row)), scratch.camera_view[camera]
    ident, colour, light = scratch.ident[camera], scratch.colour[camera], scratch.light[camera]
    for k in range(pixels):
        x, at = column + k, row * sizes.stride + column + k
        record = np.int64(ident[at])
        kind = find_class(camera, record, x, row, tables, scratch)
        look = cameras.look[first + camera, kind]
        if look[LOOK.is_on] != np.float32(0.0):
            fx, factor = np.float32(np.int32(x)), np.float32(1.0)
            inverse = measure_near(np.uint32(record), fx, y, scratch.edge[camera])
            if look[LOOK.patches] > np.float32(0.0):
                factor = measure_patch(lay_patches(look, y, view), fx + (half - half * view[VIEW.columns]), inverse)
            colour[at] = recolour_pixel(colour[at], inverse, factor, look, find_fog_rate(kind, light), light)
