"""Working memory of the gather stages, one row of every table for each camera that is drawn at once.

Stages go in this order, each for all cameras before the next: `listing` (a camera), `cull` (a cluster), `number` (a
camera), `set_up` (a triangle), `bins` (a block of tiles, then a tile), `see` (four pixels), `colour` (some pixels of a
row), `recolour`, `darken`, `soften` and `finish` (likewise). None writes what another index of its run reads.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from donkeysim.core.kernel import inner_kernel
from donkeysim.core.types import Float32Array, IntArray, LongArray, WordArray

# Wider than high, as texels of a row lie together in memory.
TILE_WIDTH, TILE_HEIGHT = 16, 8
"""Pixels that share a list of triangles."""

QUAD = 4
"""Pixels of a row whose triangles are found together."""

QUADS = TILE_WIDTH * TILE_HEIGHT // QUAD
"""In a tile."""

BLOCK_TILES = 4
"""Tiles along each side of a block; a block's triangles are listed first, and its tiles choose among them."""

TILE_ROOM = 96
"""Triangles in a tile's list at most; a tile that more may touch tries all of its block."""

HOLED = 0x8000
"""Added to a record's number in lists where a pixel of the triangle may be a hole, or nearer than the near plane."""

MOST_RECORDS = HOLED - 1
"""Records of a picture."""


class EdgeColumns(NamedTuple):
    """`GatherScratch.edge`: per column, per row and at the first pixel of three edges; and of 1/w, between them."""

    first: int = 0
    near: int = 3  # This one, and the ones 4 and 8 behind
    second: int = 4
    third: int = 8


class GatherPlaneColumns(NamedTuple):
    """`GatherScratch.plane`: of a triangle."""

    u: int = 0  # u/w and v/w [texel] per column, per row, at the first pixel, 3 columns each
    v: int = 3
    factor: int = 6  # Of red, green and blue
    fog: int = 9  # Fog rate, see `clear_view`


class WholeColumns(NamedTuple):
    """`GatherScratch.whole`: of a triangle."""

    texture: int = 0  # Before it is set up: place in `GatherScratch.cluster` times 64 and triangle of the cluster
    shape: int = 1  # See `ShapeBits`
    triangle: int = 2
    colour: int = 3  # Packed, of one that has a single colour; of others: see `SpotBits`


class ShapeBits(NamedTuple):
    """Parts of a number of `WholeColumns.shape`: by how many bits they are shifted; of four bits each, then of one."""

    width: int = 0  # Logarithms of its texture's sides to base 2
    height: int = 4
    last: int = 8  # Smallest mip level
    hole: int = 12  # Mip level of its holes
    flat: int = 16  # Whether it has one colour
    sky: int = 17
    holed: int = 18
    special: int = 19  # Whether a pixel may be a hole, or nearer than the near plane
    columns: int = 20  # How wide its bounds are [pixel], `MOST_COLUMNS` at most


class SpotBits(NamedTuple):
    """Parts of a number that says at which pixel a triangle's mip level is chosen, as `ShapeBits`."""

    column: int = 0  # Middle of its bounds, 15 bits each
    row: int = 15
    small: int = 30  # Whether it has one mip level


class TallyColumns(NamedTuple):
    """`GatherScratch.tally`: how much of a camera's rows is in use."""

    clusters: int = 0
    records: int = 1
    shadows: int = 2
    is_drawn: int = 3


class ShadeColumns(NamedTuple):
    """`GatherScratch.shadow`: a shadow as `shadow.lay_shadow` gives it."""

    box: int = 0  # First column, end, first row, end
    eye: int = 4
    right: int = 7
    down: int = 10
    forward: int = 13
    shape: int = 16  # 9 columns
    slope: int = 25  # 5 columns


EDGE, EDGE_WIDTH = EdgeColumns(), 12
PLANE_OF, PLANE_OF_WIDTH = GatherPlaneColumns(), 10
WHOLE, WHOLE_WIDTH = WholeColumns(), 4
SHAPE, MOST_COLUMNS = ShapeBits(), 2047
SPOT = SpotBits()
TALLY, TALLY_WIDTH = TallyColumns(), 4
CAST, CAST_WIDTH = ShadeColumns(), 30


class GatherSizes(NamedTuple):
    """What all pictures of a group have in common."""

    width: int
    """Of what is drawn, see `warp.Warp`; and `height`."""
    height: int
    stride: int
    """Pixels from one row of working memory to the next, whole quads."""
    top: int
    """First row that leaves."""
    bottom: int
    """One behind the last."""
    columns: int
    """Width of pictures as they leave."""
    source_top: int
    """First row that is drawn for them."""
    source_bottom: int
    tile_columns: int
    tile_rows: int
    block_columns: int
    block_rows: int
    run: int
    """Pixels of a row that an index colours."""
    cars_per_world: int
    props_per_world: int
    quality: int
    """`SHARP` or 0."""
    channels: int


class GatherScratch(NamedTuple):
    """Working memory, shape [camera_count, ...] each."""

    camera_view: Float32Array
    """Columns VIEW."""
    light: Float32Array
    """Columns LIGHT."""
    pose: Float32Array
    """Two rows of columns POSE, shape [camera_count, 2, POSE_WIDTH]."""
    draw_mesh: IntArray
    """Meshes that may be seen, shape [camera_count, draw_limit]."""
    basis: Float32Array
    """Camera in the frame of each, columns BASIS, shape [camera_count, draw_limit, BASIS_WIDTH]."""
    tally: IntArray
    """Columns TALLY."""
    cluster: IntArray
    """Clusters that may be seen, shape [camera_count, cluster_limit]."""
    cluster_draw: NDArray[np.int16]
    """Of which of the meshes they are."""
    cluster_kept: LongArray
    """A bit for each of their triangles that may be seen."""
    edge: Float32Array
    """Columns EDGE, record by record, one more than there may be triangles: what is seen where nothing is."""
    plane: Float32Array
    """Columns PLANE_OF, likewise."""
    whole: IntArray
    """Columns WHOLE, likewise."""
    box: WordArray
    """First column | end << 16, first row | end << 16 of each record's bounds, two after two."""
    block_list: NDArray[np.uint16]
    """Records that may touch a block, shape [camera_count, block_count, record_limit]."""
    block_size: IntArray
    """How many."""
    tile_list: NDArray[np.uint16]
    """The same of tiles, shape [camera_count, tile_count, TILE_ROOM]."""
    tile_size: IntArray
    """How many, -1: more than there is room for."""
    ident: NDArray[np.uint16]
    """Record that is seen, shape [camera_count, height * stride]."""
    colour: WordArray
    """R | G << 8 | B << 16."""
    soft: WordArray
    """The same, its edges softened."""
    shadow: Float32Array
    """Columns CAST of things whose shadows may be seen, shape [camera_count, thing_count, CAST_WIDTH]."""


@inner_kernel(copied=True)
def split_index(value, parts):
    """Return the quotient and the rest of a division of whole numbers; in 32 bits, as GPUs divide 64 slowly."""
    quotient = np.int64(np.uint32(np.uint32(value) // np.uint32(parts)))
    return quotient, value - quotient * parts
