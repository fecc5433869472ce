"""Which triangles may touch a block of tiles, and which of these a tile: lists in the order of records.

A tile leaves out what lies wholly behind a triangle that covers all of it, which changes no picture.
"""

import numpy as np

from donkeysim.core.kernel import index_kernel, inner_kernel
from donkeysim.render.kernels.gather.layout import (
    BLOCK_TILES,
    EDGE,
    EDGE_WIDTH,
    HOLED,
    SHAPE,
    TALLY,
    TILE_HEIGHT,
    TILE_ROOM,
    TILE_WIDTH,
    WHOLE,
    WHOLE_WIDTH,
    GatherScratch,
    GatherSizes,
    split_index,
)

NOWHERE = np.float32(-1.0)
"""Less than any 1/w that is seen."""


@inner_kernel(copied=True)
def touches_box(box, record, left, right, top, bottom):
    """Return whether a record's bounds and a rectangle of pixels have some in common."""
    across, down = box[2 * record], box[2 * record + 1]
    low, half = np.uint32(0xFFFF), np.uint32(16)
    is_beside = np.int32(across & low) >= right or np.int32(across >> half) <= left
    return not (is_beside or np.int32(down & low) >= bottom or np.int32(down >> half) <= top)


@inner_kernel(copied=True)
def find_corners(left, right, top, bottom):
    """Return the sides of a rectangle of pixels, half a pixel farther out, so that rounding leaves nothing out."""
    half = np.float32(0.5)
    return (
        np.float32(np.int32(left)) - half,
        np.float32(np.int32(right)) - half,
        np.float32(np.int32(top)) - half,
        np.float32(np.int32(bottom)) - half,
    )


@inner_kernel(copied=True)
def bound_function(a, b, c, corners):
    """Return the least and the greatest value of a function of column and row within `find_corners`."""
    x0, x1, y0, y1 = corners
    ax0, ax1, by0, by1 = a * x0, a * x1, b * y0, b * y1
    return min(ax0, ax1) + min(by0, by1) + c, max(ax0, ax1) + max(by0, by1) + c


@inner_kernel(copied=True)
def bound_record(edge, at, corners):
    """Return how near a triangle is within a rectangle at most and, if it covers all of that, at least, as 1/w.

    Less than nothing at most: it does not touch it; likewise at least: it does not cover it.
    """
    zero = np.float32(0.0)
    least, most = zero, zero
    for k in range(3):
        low, high = bound_function(edge[at + 4 * k], edge[at + 4 * k + 1], edge[at + 4 * k + 2], corners)
        least, most = (low, high) if k == 0 else (min(least, low), min(most, high))
    low, high = bound_function(edge[at + EDGE.near], edge[at + EDGE.near + 4], edge[at + EDGE.near + 8], corners)
    return high if most >= zero else NOWHERE, low if least >= zero else NOWHERE


@index_kernel(loose=True)
def bin_block(index: int, sizes: GatherSizes, scratch: GatherScratch) -> None:
    """List the records that may touch a block."""
    blocks = sizes.block_columns * sizes.block_rows
    camera, block = split_index(index, blocks)
    row, column = split_index(block, sizes.block_columns)
    left, top = column * (BLOCK_TILES * TILE_WIDTH), row * (BLOCK_TILES * TILE_HEIGHT)
    right, bottom = left + BLOCK_TILES * TILE_WIDTH, top + BLOCK_TILES * TILE_HEIGHT
    box, edge, whole = scratch.box[camera], scratch.edge[camera], scratch.whole[camera]
    corners, listed = find_corners(left, right, top, bottom), scratch.block_list[camera, block]
    count = np.int64(0)
    for record in range(scratch.tally[camera, TALLY.records]):
        if touches_box(box, record, left, right, top, bottom):
            nearest, _ = bound_record(edge, record * EDGE_WIDTH, corners)
            if nearest > np.float32(0.0):
                is_special = whole[record * WHOLE_WIDTH + WHOLE.shape] >> SHAPE.special & 1
                listed[count] = np.uint16(record | (HOLED if is_special else 0))
                count += 1
    scratch.block_size[camera, block] = count


@index_kernel(loose=True)
def bin_tile(index: int, sizes: GatherSizes, scratch: GatherScratch) -> None:
    """List those of its block's records that may be seen in a tile."""
    tiles = sizes.tile_columns * sizes.tile_rows
    camera, tile = split_index(index, tiles)
    row, column = split_index(tile, sizes.tile_columns)
    block = row // BLOCK_TILES * sizes.block_columns + column // BLOCK_TILES
    left, top = column * TILE_WIDTH, row * TILE_HEIGHT
    right, bottom = left + TILE_WIDTH, top + TILE_HEIGHT
    corners, given = find_corners(left, right, top, bottom), scratch.block_list[camera, block]
    box, edge, listed = scratch.box[camera], scratch.edge[camera], scratch.tile_list[camera, tile]
    size, cover = scratch.block_size[camera, block], np.float32(0.0)
    for place in range(size):
        record = np.int64(given[place])
        if record < HOLED and touches_box(box, record, left, right, top, bottom):
            _, farthest = bound_record(edge, record * EDGE_WIDTH, corners)
            cover = max(cover, farthest)
    count = np.int64(0)
    for place in range(size):
        name = np.int64(given[place])
        record = name & (HOLED - 1)
        if touches_box(box, record, left, right, top, bottom):
            nearest, _ = bound_record(edge, record * EDGE_WIDTH, corners)
            if nearest >= cover:
                if count < TILE_ROOM:
                    listed[count] = name
                count += 1
    scratch.tile_size[camera, tile] = count if count <= TILE_ROOM else -1
