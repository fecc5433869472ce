"""Where the picture of the ground lies in the world, and how fine it is."""

import math
from dataclasses import dataclass

from donkeysim.world.tracks.tables.ground import TILE_SIZE
from donkeysim.world.tracks.terrain.elevation import Box

TEXELS_MOST = 2**24
"""Most texels of any atlas."""

SIDE_MOST = 8192
"""Most texels along a side."""

FINEST_TEXEL = 0.0075
"""Size of a texel where the track allows it [m]."""


@dataclass(frozen=True)
class AtlasFrame:
    """Where the atlas lies in the world.

    Attributes:
        origin: x, y of its lower corner [m].
        texel: Side of a texel [m].
        rows: Along y; texture row 0 lies at the greatest y.
        columns: Along x.
        shown: Least x, least y, greatest x, greatest y of what the ground shows of it [m]: all, or a height field's
            box, beyond which a tile continues.
    """

    origin: tuple[float, float]
    texel: float
    rows: int
    columns: int
    shown: Box

    @property
    def size(self) -> tuple[float, float]:
        """Extent along x and y [m]."""
        return self.columns * self.texel, self.rows * self.texel


def frame_atlas(box: Box, is_field: bool, texel: float = FINEST_TEXEL) -> AtlasFrame:
    """Return the smallest atlas of whole tiles that covers a box, at the finest texel that fits.

    Args:
        box: Least x, least y, greatest x, greatest y [m].
        is_field: Whether only the box is laid on the ground.
        texel: Side of a texel, where the atlas is not too large for it [m].
    """
    extents = (box[2] - box[0], box[3] - box[1])
    while True:
        tile = max(1, round(TILE_SIZE / texel))
        columns, rows = (max(tile, 2 ** math.ceil(math.log2(extent / texel))) for extent in extents)
        if columns * rows <= TEXELS_MOST and max(columns, rows) <= SIDE_MOST:
            break
        texel *= 2.0
    centre = (0.5 * (box[0] + box[2]), 0.5 * (box[1] + box[3]))
    step = TILE_SIZE / 64.0
    x, y = (math.floor((c - 0.5 * n * texel) / step) * step for c, n in zip(centre, (columns, rows), strict=True))
    whole = (x, y, x + columns * texel, y + rows * texel)
    return AtlasFrame((x, y), texel, rows, columns, box if is_field else whole)
