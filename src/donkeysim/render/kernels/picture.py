"""The order of a picture: place the camera, find what is seen, colour it, darken the ground under things, finish."""

from __future__ import annotations

import math

import numpy as np

from donkeysim.core.kernel import inline_kernel, inner_pixel_kernel, pixel_kernel, span_kernel, take_row
from donkeysim.core.types import ByteArray, Float32Array, LongArray, WordArray
from donkeysim.render.kernels.finish import (
    find_source_rows,
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
from donkeysim.render.kernels.layout import (
    BASIS,
    CAR_MESH,
    GREY_LUMA,
    GREY_PALE,
    LENS,
    LIGHT,
    LIGHT_WIDTH,
    PALE,
    POSE_WIDTH,
    SCENE_MESH,
    SHARP,
    SPHERE_RADIUS,
    Sides,
    View,
)
from donkeysim.render.kernels.outline import sees_sphere
from donkeysim.render.kernels.pale import measure_luma
from donkeysim.render.kernels.poses import (
    is_behind,
    set_basis,
    set_plate_pose,
    set_pose,
    set_wheel_pose,
    set_world_pose,
)
from donkeysim.render.kernels.raster import draw_mesh
from donkeysim.render.kernels.recolour import classify_pixels, recolour_pixels
from donkeysim.render.kernels.shade import shade_meshes
from donkeysim.render.kernels.shadow import darken_ground
from donkeysim.render.kernels.vector import dot, read_vector
from donkeysim.render.tables import CameraTables, PictureTables, PoseTables, Scratch

NEAR = np.float32(0.3 / 8.0)
"""Near plane [m], the original's."""

SKY_NEAR = np.float32(1.0e3)
"""Near plane of the sky's box [m], a hundredth of its size: cut nearer, its corners would lie too far out."""

SMALLEST_WHEEL = np.float32(0.75)
"""Wheels are left out when their radius is fewer pixels than this."""

PLATE_GAP = np.float32(0.02)
"""Between the sphere around a body and its name plate [m]."""


WHEELS, PLATE = (1, 5), 5
"""Of a car's meshes: which are wheels, and the last one, its name plate."""


@inline_kernel
def list_car(car, own, draw, view, tables, poses, scratch):
    """List body, wheels and name plate of a car, as far as they may be seen; return the number of meshes listed."""
    body, pose = scratch.body_pose, scratch.mesh_pose
    set_pose(poses.position[car], poses.orientation[car], body)
    for part in range(PLATE + 1):
        is_wheel = WHEELS[0] <= part < WHEELS[1]
        index = np.int64(
            tables.car_mesh[car, CAR_MESH.wheel if is_wheel else (CAR_MESH.body if part == 0 else CAR_MESH.plate)]
        )
        if index < 0 or (part == PLATE and own):
            continue
        if part == 0:
            for term in range(POSE_WIDTH):
                pose[term] = body[term]
        elif is_wheel:
            wheel = part - WHEELS[0]
            steer = poses.steer_angle[car] if tables.wheel_steered[wheel] else 0.0
            extension = poses.wheel_extension[car, wheel]
            set_wheel_pose(body, tables.wheel_anchor[wheel], extension, steer, poses.wheel_angle[car, wheel], pose)
        else:
            sphere = tables.mesh_sphere[tables.car_mesh[car, CAR_MESH.body]]
            set_plate_pose(body, sphere[2] + sphere[SPHERE_RADIUS] + PLATE_GAP, view.axes, pose)
        basis = scratch.basis[draw]
        set_basis(basis, view, pose)
        sphere = tables.mesh_sphere[index]
        away = dot(read_vector(basis, BASIS.w), read_vector(basis, BASIS.eye))
        tiny = is_wheel and sphere[SPHERE_RADIUS] * view.focal < SMALLEST_WHEEL * abs(away)
        if sees_sphere(sphere, basis, view.sides, NEAR, view.far) and not tiny:
            for channel in range(3):
                basis[BASIS.paint + channel] = tables.car_paint[car, channel]
            scratch.draw_mesh[draw] = index
            draw += 1
    return draw


@inline_kernel
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


@inner_pixel_kernel
def count_sky_rows(width, first, end, stride, depth):
    """Return behind which of the drawn rows, `first` at least, there is no pixel where nothing has been drawn."""
    rows = end
    while rows > first and count_bare(width, depth[(rows - 1) * stride :]) == 0:
        rows -= 1
    return rows


@inline_kernel
def list_meshes(world, owner, view, tables, poses, scratch, counts):
    """List all meshes that may be seen, nearest kinds first, the sky last; return their number."""
    cars_per_world, props_per_world, draw_own = counts
    pose = scratch.mesh_pose
    draw = np.int64(0)
    # What is near comes first, as what it hides is then not written; the ground hides nothing.
    for car in range(world * cars_per_world, (world + 1) * cars_per_world):
        own = car == owner
        is_shown = poses.present[car] and (draw_own or not own)
        if is_shown and not is_behind(poses.position[car], tables.car_sphere[car], view):
            draw = list_car(car, own, draw, view, tables, poses, scratch)
    for prop in range(world * props_per_world, (world + 1) * props_per_world):
        index = np.int64(tables.prop_mesh[prop])
        if index < 0 or is_behind(poses.prop_position[prop], tables.mesh_sphere[index], view):
            continue
        set_pose(poses.prop_position[prop], poses.prop_orientation[prop], pose)
        set_basis(scratch.basis[draw], view, pose)
        if sees_sphere(tables.mesh_sphere[index], scratch.basis[draw], view.sides, NEAR, view.far):
            scratch.draw_mesh[draw] = index
            draw += 1
    for kind in (SCENE_MESH.static, SCENE_MESH.sky):
        # What never moves; then the sky, a box so large that everything is nearer, around the eye.
        set_world_pose(view.eye if kind == SCENE_MESH.sky else scratch.zero, pose)
        set_basis(scratch.basis[draw], view, pose)
        scratch.draw_mesh[draw] = tables.scene_mesh[tables.world_scene[world], kind]
        draw += 1
    return draw


@inline_kernel
def draw_meshes(draw_count, view, height, stride, tables, scratch):
    """Draw the listed meshes; the last, the sky, only where nothing else is."""
    clusters, mesh, texture, texels, target = split_tables(tables, scratch)
    top, bottom = np.int64(view.sides.first), np.int64(view.sides.end)
    clear_depth(stride * (bottom - top), scratch.depth[stride * top :])
    count = np.int64(0)
    rows, near, far = height, NEAR, view.far
    for draw in range(draw_count):
        if draw == draw_count - 1:
            # Below the horizon the ground hides all of it: half of the picture is not tried.
            rows = count_sky_rows(np.int64(view.sides.columns), top, bottom, stride, scratch.depth)
            near, far = SKY_NEAR, np.float32(1e9)
        index, basis = np.int64(scratch.draw_mesh[draw]), scratch.basis[draw]
        count = draw_mesh(
            index, draw, basis, view.sides, near, far, rows, stride, count, clusters, mesh, texture, texels, target
        )
    scratch.drawn[0] = count


@inline_kernel
def vary_colours(size, looks, light, view, tables, scratch):
    """Recolour the samples of a picture by class; see `recolour_pixels`."""
    prepare_classes(tables, scratch)
    classify_pixels(size, tables, scratch)
    recolour_pixels(size, looks, light, view, scratch)


@inline_kernel
def measure_reach(focal, side):
    """Return how far a sphere of radius 1 m reaches beyond its centre on the screen, times w [sample · m]."""
    # Where the picture's edge is seen at a flat angle a sphere looks longer than at the middle; one sample more, as
    # what only touches a sample counts too.
    half = np.float32(0.5)
    return math.sqrt(focal * focal + half * half * side * side) + np.float32(1.0)


@inline_kernel
def find_drawn_rows(band, height, strength, softens):
    """Return first row and end of those that must be drawn for a band of a picture's rows."""
    first, end = np.int64(band[0]), np.int64(band[1])
    if has_warp(strength):
        first, end = find_source_rows(band, height, strength[0])
    # Edges take some colour from their neighbours, above and below too.
    return (max(first - 1, 0), min(end + 1, height)) if softens else (first, end)


@inline_kernel
def has_warp(strength):
    """Return whether there is a fisheye."""
    return strength[0] != np.float32(0.0) or strength[1] != np.float32(0.0)


@inline_kernel
def finish_colours(size, drawn, strength, softens, is_grey, scratch, words, picture):
    """Write a picture's samples as it leaves.

    Args:
        size: Width, height, band of rows, samples per pixel and axis, stride.
        drawn: First row and end of those that were drawn.
        strength: Of the fisheye.
        softens: Whether edges are softened.
        is_grey: Whether the picture shall be and is not yet.
        scratch: Scratch.
        words: See `write_rgb`.
        picture: Likewise.
    """
    width, height, band, factor, stride = size
    if factor == 2:
        halve_picture(width, drawn[0], drawn[1], stride, scratch.colour)
    finished, spare = scratch.colour, scratch.warped
    if softens:
        soften_edges(width, drawn[0], drawn[1], stride, scratch.ident, finished, spare)
        finished, spare = spare, finished
    if has_warp(strength):
        warp_picture(width, height, band, stride, strength, finished, spare)
        finished = spare
    if is_grey:
        for row in range(band[0], band[1]):
            make_grey(width, finished[row * stride :])
    if picture.shape[2] == 1:
        write_grey(width, band, stride, finished, words, picture)
    else:
        write_rgb(width, band, stride, finished, words, picture)


@inline_kernel
def render_camera(row, tables, poses, cameras, scratch, size, options, words, picture, depth_out, segment_out):
    """Render one camera of a group; the arguments are those of `render_cameras`."""
    out_width, out_height, band_first, band_end, factor, stride, cars_per_world, props_per_world = size
    quality, want_depth, want_segments, draw_own, is_varied = options
    width, height, band = out_width * factor, out_height * factor, (band_first, band_end)
    world, lens, light = np.int64(cameras.world[row]), cameras.lens[row], scratch.light
    for term in range(LIGHT_WIDTH):
        light[term] = cameras.light[row, term]
    light[LIGHT.density] *= lens[LENS.fog]
    if lens[LENS.grey] == np.float32(GREY_PALE):
        quality = PALE
        haze = measure_luma(read_vector(light, LIGHT.haze))
        for channel in range(3):
            light[LIGHT.haze + channel] = haze
    focal = lens[LENS.focal] * np.float32(np.int32(factor))
    side_x, side_y = np.float32(np.int32(width)), np.float32(np.int32(height))
    strength = (lens[LENS.fisheye], lens[LENS.fisheye + 1])
    softens = factor == 1 and quality != SHARP
    drawn = find_drawn_rows(band, out_height, strength, softens)
    first, end = drawn[0] * factor, drawn[1] * factor
    rows = (np.float32(np.int32(first)), np.float32(np.int32(end)))
    sides = Sides(side_x, side_y, measure_reach(focal, side_x), measure_reach(focal, side_y), rows[0], rows[1])
    view = View(cameras.eye[row], cameras.axes[row], focal, sides, lens[LENS.far], light[LIGHT.direction :])
    counts = (cars_per_world, props_per_world, draw_own)
    draw_count = list_meshes(world, cameras.car[row], view, tables, poses, scratch, counts)
    draw_meshes(draw_count, view, height, stride, tables, scratch)
    shade_meshes((width, first, end, stride), quality, light, tables, scratch)
    if is_varied:
        vary_colours((width, first, end, stride), cameras.look[row], light, view, tables, scratch)
    darken_ground(world, (width, height, stride), view, light[LIGHT.density], tables, poses, counts, scratch)
    if want_depth:
        write_depth(out_width, out_height, band, stride, factor, strength, view.far, scratch.depth, depth_out[row])
    if want_segments:
        prepare_classes(tables, scratch)
        write_segments(out_width, out_height, band, stride, factor, strength, tables, scratch, segment_out[row])
    is_grey = lens[LENS.grey] == np.float32(GREY_LUMA)
    out_size = (out_width, out_height, band, factor, stride)
    finish_colours(out_size, drawn, strength, softens, is_grey, scratch, words[row], picture[row])


@pixel_kernel
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
        tables: PictureTables.
        poses: PoseTables.
        cameras: CameraTables.
        scratch: Scratch of this worker.
        size: Width and height of the finished pictures, first row and end of the band of them that is written, samples
            per pixel along each axis, stride of scratch rows, cars per world, props per world.
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
