"""The order of a picture: place the camera, find what is seen, colour it, darken the ground under things, finish."""

import numpy as np

from donkeysim.core.kernel import inner_kernel, kernel, span_kernel
from donkeysim.core.types import ByteArray, Float32Array, LongArray, WordArray
from donkeysim.core.workers import take_row
from donkeysim.render.kernels.finish import (
    bend_picture,
    halve_picture,
    make_grey,
    prepare_classes,
    soften_edges,
    warp_picture,
    write_depth,
    write_grey,
    write_rgb,
    write_segments,
)
from donkeysim.render.kernels.layout import GREY_LUMA, GREY_PALE, LENS, LIGHT, PALE, SHARP, VIEW
from donkeysim.render.kernels.pale import measure_luma
from donkeysim.render.kernels.raster import draw_mesh
from donkeysim.render.kernels.recolour import classify_pixels, recolour_pixels
from donkeysim.render.kernels.seen import NEAR, SKY_NEAR, find_drawn_rows, has_warp, list_meshes, set_light, set_view
from donkeysim.render.kernels.shade import shade_meshes
from donkeysim.render.kernels.shadow import darken_ground
from donkeysim.render.kernels.vector import read_vector
from donkeysim.render.tables import CameraTables, PictureTables, PoseTables, Scratch


@inner_kernel(copied=True)
def split_tables(tables, scratch):
    """Return what `draw_mesh` takes: (clusters, mesh, material, texels, scratch)."""
    return (
        (tables.mesh_range, tables.cluster_range, tables.cluster_sphere),
        (
            tables.vertex,
            tables.triangle_vertex,
            tables.triangle_normal,
            tables.triangle_plane,
            tables.triangle_material,
            tables.triangle_flags,
        ),
        tables.material_texture,
        (tables.texel, tables.level_base, tables.size_log),
        (
            scratch.depth,
            scratch.ident,
            scratch.record_float,
            scratch.record_int,
            scratch.iota,
            scratch.work_float,
            scratch.work_int,
        ),
    )


@span_kernel
def clear_depth(count, depth):
    """Make everything infinitely far."""
    # Depth is 1/w, so 0 is infinitely far; what marks a pixel then needs no second array.
    for k in range(count):
        depth[k] = np.float32(0.0)


@span_kernel
def count_bare(count, depth):
    """Return at how many of some pixels nothing has been drawn."""
    bare = np.int32(0)
    for k in range(count):
        bare = np.int32(bare + np.int32(depth[k] == np.float32(0.0)))
    return bare


@inner_kernel(loose=True)
def count_sky_rows(width, first, end, stride, depth):
    """Return behind which of the drawn rows, `first` at least, there is no pixel where nothing has been drawn."""
    rows = end
    while rows > first and count_bare(width, depth[(rows - 1) * stride :]) == 0:
        rows -= 1
    return rows


@inner_kernel(copied=True)
def draw_meshes(draw_count, view, height, stride, tables, scratch):
    """Draw the listed meshes; the last, the sky, only where nothing else is."""
    clusters, mesh, texture, texels, target = split_tables(tables, scratch)
    top, bottom = np.int64(view[VIEW.first]), np.int64(view[VIEW.end])
    clear_depth(stride * (bottom - top), scratch.depth[stride * top :])
    count = np.int64(0)
    rows, near, far = height, NEAR, view[VIEW.far]
    for draw in range(draw_count):
        if draw == draw_count - 1:
            # Below the horizon the ground hides all of it: half of the picture is not tried.
            rows = count_sky_rows(np.int64(view[VIEW.columns]), top, bottom, stride, scratch.depth)
            near, far = SKY_NEAR, np.float32(1e9)
        index, basis = np.int64(scratch.draw_mesh[draw]), scratch.basis[draw]
        count = draw_mesh(
            index, draw, basis, view, near, far, rows, stride, count, clusters, mesh, texture, texels, target
        )
    scratch.drawn[0] = count


@inner_kernel(copied=True)
def vary_colours(size, looks, light, view, tables, scratch):
    """Recolour the samples of a picture by class; see `recolour_pixels`."""
    prepare_classes(tables, scratch)
    classify_pixels(size, tables, scratch)
    recolour_pixels(size, looks, light, view, scratch)


@inner_kernel(copied=True)
def finish_colours(size, drawn, way, softens, is_grey, scratch, words, picture):
    """Write a picture's samples as it leaves.

    Args:
        size: Width, band of rows, samples per pixel and axis, stride.
        drawn: Width and height of what was drawn, first row and end.
        way: Strength of the fisheye, and where a lens takes pixels from.
        softens: Whether edges are softened.
        is_grey: Whether the picture shall be and is not yet.
        words, picture: See `write_rgb`.
    """
    width, band, factor, stride = size
    wide, high, first, end = drawn
    strength, source = way
    if factor == 2:
        halve_picture(wide, first, end, stride, scratch.colour)
    finished, spare = scratch.colour, scratch.warped
    if softens:
        soften_edges(wide, first, end, stride, scratch.ident, finished, spare)
        finished, spare = spare, finished
    if source.shape[0] > 0:
        bend_picture(width, band, wide, high, stride, strength, source, finished, spare)
        finished = spare
    elif has_warp(strength):
        warp_picture(width, high, band, stride, strength, finished, spare)
        finished = spare
    if is_grey:
        for row in range(band[0], band[1]):
            make_grey(width, finished[row * stride :])
    if picture.shape[2] == 1:
        write_grey(width, band, stride, finished, words, picture)
    else:
        write_rgb(width, band, stride, finished, words, picture)


@inner_kernel(copied=True)
def render_camera(row, tables, poses, cameras, scratch, size, options, words, picture, depth_out, segment_out):
    """Render one camera of a group; the arguments are those of `render_cameras`."""
    out_width, _, band_first, band_end, factor, stride, cars_per_world, props_per_world, wide, high, top, bottom = size
    quality, want_depth, want_segments, draw_own, is_varied = options
    width, height, band = wide * factor, high * factor, (band_first, band_end)
    world, lens, light = np.int64(cameras.world[row]), cameras.lens[row], scratch.light
    set_light(light, cameras.light[row], lens)
    if lens[LENS.grey] == np.float32(GREY_PALE):
        quality = PALE
        haze = measure_luma(read_vector(light, LIGHT.haze))
        for channel in range(3):
            light[LIGHT.haze + channel] = haze
    strength = (lens[LENS.fisheye], lens[LENS.fisheye + 1])
    way = (strength, cameras.source)
    softens = factor == 1 and quality != SHARP
    drawn = find_drawn_rows((top, bottom), high, strength, softens)
    first, end = drawn[0] * factor, drawn[1] * factor
    view = scratch.camera_view
    set_view(view, cameras.eye[row], cameras.axes[row], lens, light, (width, height, first, end, factor))
    counts = (cars_per_world, props_per_world, draw_own)
    seen = (scratch.draw_mesh, scratch.basis, scratch.mesh_pose, scratch.body_pose)
    draw_count = list_meshes(world, cameras.car[row], view, tables, poses, seen, counts)
    draw_meshes(draw_count, view, height, stride, tables, scratch)
    shade_meshes((width, first, end, stride), quality, light, tables, scratch)
    if is_varied:
        vary_colours((width, first, end, stride), cameras.look[row], light, view, tables, scratch)
    darken_ground(world, (width, height, stride), view, light[LIGHT.ground], tables, poses, counts, scratch)
    if want_depth:
        far, target = view[VIEW.far], depth_out[row]
        write_depth((wide, high), band, stride, factor, way, far, scratch.depth, target)
    if want_segments:
        prepare_classes(tables, scratch)
        write_segments((wide, high), band, stride, factor, way, tables, scratch, segment_out[row])
    is_grey = lens[LENS.grey] == np.float32(GREY_LUMA)
    out_size, room = (out_width, band, factor, stride), (wide, high, drawn[0], drawn[1])
    finish_colours(out_size, room, way, softens, is_grey, scratch, words[row], picture[row])


@kernel(loose=True)
def render_cameras(
    next_row: LongArray,
    end: int,
    tables: PictureTables,
    poses: PoseTables,
    cameras: CameraTables,
    scratch: Scratch,
    size: tuple[int, ...],
    options: tuple[int, bool, bool, bool, bool],
    words: WordArray,
    picture: ByteArray,
    depth_out: Float32Array,
    segment_out: ByteArray,
) -> None:
    """Render the cameras [next_row[0], end) of a group, those that no other thread takes.

    Args:
        next_row: See `take_row`.
        end: One behind the last.
        scratch: Scratch of this worker.
        size: Width and height of the finished pictures, first row and end of the band of them that is written, samples
            per pixel along each axis, stride of scratch rows, cars per world, props per world; then width, height and
            band of what is drawn for them, see `warp.Warp`.
        options: Quality (`SHARP`, `SMOOTH` or neither), depth wanted, classes wanted, own car drawn, colours varied.
        words: The memory of `picture` as 32-bit words when a row is a whole number of them.
        picture: Written, shape [camera_count, row_count, width, 3], or 1 instead of 3.
        depth_out: Written when wanted, shape [camera_count, row_count, width].
        segment_out: Written when wanted, shape [camera_count, row_count, width].
    """
    while True:
        row = take_row(next_row)
        if row >= end:
            return
        render_camera(row, tables, poses, cameras, scratch, size, options, words, picture, depth_out, segment_out)
