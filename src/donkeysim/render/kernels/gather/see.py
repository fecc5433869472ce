"""Which triangle is seen at each pixel: every triangle of the tile's list is tried at four pixels side by side."""

import numpy as np

from donkeysim.core.kernel import index_kernel, inner_kernel
from donkeysim.render.kernels.footprint import lay_out_level, locate_texel
from donkeysim.render.kernels.gather.layout import (
    BLOCK_TILES,
    EDGE,
    EDGE_WIDTH,
    HOLED,
    PLANE_OF,
    PLANE_OF_WIDTH,
    QUAD,
    QUADS,
    SHAPE,
    TALLY,
    TILE_HEIGHT,
    TILE_WIDTH,
    WHOLE,
    WHOLE_WIDTH,
    GatherScratch,
    GatherSizes,
    split_index,
)
from donkeysim.render.kernels.layout import VIEW
from donkeysim.render.kernels.seen import NEAR
from donkeysim.render.tables import PictureTables

MOST_NEAR = np.float32(1.0) / NEAR
"""1/w at the near plane."""


@inner_kernel(loose=True)
def is_solid(record, x, y, inverse, camera, tables, scratch):
    """Return whether a triangle is there at a pixel: not nearer than the near plane, and no hole; `inverse`: 1/w."""
    if inverse > MOST_NEAR:
        return False
    shape = np.int32(scratch.whole[camera, record * WHOLE_WIDTH + WHOLE.shape])
    if shape >> SHAPE.holed & 1 == 0:
        return True
    plane = scratch.plane[camera, record * PLANE_OF_WIDTH :]
    texture = scratch.whole[camera, record * WHOLE_WIDTH + WHOLE.texture]
    four = np.int32(15)
    level = np.int32(shape >> SHAPE.hole & four)
    wide, high = np.int32(shape >> SHAPE.width & four), np.int32(shape >> SHAPE.height & four)
    scale_u, scale_v, _, mask_u, mask_v = lay_out_level(level, wide, high)
    w = np.float32(1.0) / inverse
    u = (plane[PLANE_OF.u] * x + plane[PLANE_OF.u + 1] * y + plane[PLANE_OF.u + 2]) * scale_u
    v = (plane[PLANE_OF.v] * x + plane[PLANE_OF.v + 1] * y + plane[PLANE_OF.v + 2]) * scale_v
    u, v = np.uint32(np.int32(u * w)), np.uint32(np.int32(v * w))
    place = locate_texel(u, v, np.uint32(mask_u), np.uint32(mask_v))
    # The highest bit of a packed texel is that of its alpha: at least one half is there.
    return tables.texel[np.int64(tables.level_base[texture, level]) + np.int64(place)] >= np.uint32(0x80000000)


@inner_kernel(copied=True)
def read_edge(edge, at, column):
    """Return an edge's function, or that of 1/w, and what else stands in its columns."""
    first = np.uint32(at + np.uint32(column))
    one, two, three = np.uint32(1), np.uint32(2), np.uint32(3)
    return edge[first], edge[np.uint32(first + one)], edge[np.uint32(first + two)], edge[np.uint32(first + three)]


@inner_kernel(copied=True)
def try_plain(near, seen, inside, inverse, name):
    """Return how near and which record a pixel shows, once another triangle has been tried there."""
    is_nearer = inside >= np.float32(0.0) and inverse > near
    return (inverse if is_nearer else near), (name if is_nearer else seen)


@inner_kernel(copied=True)
def find_list(camera, tile, row, column, sizes, scratch):
    """Return the records to try in a tile, and how many."""
    size = np.int64(scratch.tile_size[camera, tile])
    block = row // BLOCK_TILES * sizes.block_columns + column // BLOCK_TILES
    if size < 0:
        return scratch.block_list[camera, block], np.int64(scratch.block_size[camera, block])
    return scratch.tile_list[camera, tile], size


@index_kernel(loose=True)
def see_quad(index: int, sizes: GatherSizes, tables: PictureTables, scratch: GatherScratch) -> None:
    """Write which records four pixels of a row show."""
    tiles = sizes.tile_columns * sizes.tile_rows
    place, quad = split_index(index, QUADS)
    camera, tile = split_index(place, tiles)
    row, column = split_index(tile, sizes.tile_columns)
    x = column * TILE_WIDTH + (quad & (TILE_WIDTH // QUAD - 1)) * QUAD
    y = row * TILE_HEIGHT + quad // (TILE_WIDTH // QUAD)
    view = scratch.camera_view[camera]
    fx, fy = np.float32(np.int32(x)), np.float32(np.int32(y))
    is_drawn = scratch.tally[camera, TALLY.is_drawn] != 0
    if not is_drawn or x >= sizes.stride or fy < view[VIEW.first] or fy >= view[VIEW.end]:
        return
    names, size = find_list(camera, tile, row, column, sizes, scratch)
    edge = scratch.edge[camera]
    zero, one, two, three = np.float32(0.0), np.float32(1.0), np.float32(2.0), np.float32(3.0)
    blank = np.uint32(scratch.tally[camera, TALLY.records])
    z0, z1, z2, z3 = zero, zero, zero, zero
    n0, n1, n2, n3 = blank, blank, blank, blank
    for at_list in range(np.uint32(size)):
        name = np.uint32(names[np.uint32(at_list)])
        record = np.uint32(name & np.uint32(HOLED - 1))
        at = np.uint32(record * np.uint32(EDGE_WIDTH))
        ax, ay, a, zx = read_edge(edge, at, EDGE.first)
        bx, by, b, zy = read_edge(edge, at, EDGE.second)
        cx, cy, c, z = read_edge(edge, at, EDGE.third)
        a, b, c, z = ax * fx + (ay * fy + a), bx * fx + (by * fy + b), cx * fx + (cy * fy + c), zx * fx + (zy * fy + z)
        if name == record:
            z0, n0 = try_plain(z0, n0, min(min(a, b), c), z, name)
            a, b, c, z = a + ax, b + bx, c + cx, z + zx
            z1, n1 = try_plain(z1, n1, min(min(a, b), c), z, name)
            a, b, c, z = a + ax, b + bx, c + cx, z + zx
            z2, n2 = try_plain(z2, n2, min(min(a, b), c), z, name)
            a, b, c, z = a + ax, b + bx, c + cx, z + zx
            z3, n3 = try_plain(z3, n3, min(min(a, b), c), z, name)
        else:
            if min(min(a, b), c) >= zero and z > z0 and is_solid(record, fx, fy, z, camera, tables, scratch):
                z0, n0 = z, record
            a, b, c, z = a + ax, b + bx, c + cx, z + zx
            if min(min(a, b), c) >= zero and z > z1 and is_solid(record, fx + one, fy, z, camera, tables, scratch):
                z1, n1 = z, record
            a, b, c, z = a + ax, b + bx, c + cx, z + zx
            if min(min(a, b), c) >= zero and z > z2 and is_solid(record, fx + two, fy, z, camera, tables, scratch):
                z2, n2 = z, record
            a, b, c, z = a + ax, b + bx, c + cx, z + zx
            if min(min(a, b), c) >= zero and z > z3 and is_solid(record, fx + three, fy, z, camera, tables, scratch):
                z3, n3 = z, record
    ident = scratch.ident[camera, y * sizes.stride + x :]
    ident[0], ident[1], ident[2], ident[3] = np.uint16(n0), np.uint16(n1), np.uint16(n2), np.uint16(n3)
