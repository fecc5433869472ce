"""The order of a picture: place the camera, find what is seen, colour it, darken the ground under things, finish."""

from __future__ import annotations

import numpy as np

from donkeysim.core.kernel import inline_kernel, inner_pixel_kernel, kernel, pixel_kernel, span_kernel, take_row
from donkeysim.render.kernels.finish import (
    halve_picture,
    make_grey,
    prepare_classes,
    soften_edges,
    warp_picture,
    write_depth,
    write_rgb,
    write_segments,
)
from donkeysim.render.kernels.outline import sees_sphere
from donkeysim.render.kernels.raster import draw_mesh
from donkeysim.render.kernels.recolour import classify_pixels, recolour_pixels
from donkeysim.render.kernels.shade import shade_meshes
from donkeysim.render.kernels.shadow import darken_ground

NEAR = np.float32(0.3 / 8.0)
"""Near plane [m], the original's."""

SKY_NEAR = np.float32(1.0e3)
"""Near plane of the sky's box [m], a hundredth of its size: cut nearer, its corners would lie too far out."""

SMALLEST_WHEEL = np.float32(0.75)
"""Wheels are left out when their radius is fewer pixels than this."""

PLATE_GAP = np.float32(0.02)
"""Between the sphere around a body and its name plate [m]."""


@kernel
def place_cameras(begin, end, position, orientation, car, mount, eye, axes):
    """Write where the cameras [begin, end) are and where they look: world frame, right, down, forward."""
    for row in range(begin, end):
        owner = car[row]
        w, x, y, z = orientation[owner, 0], orientation[owner, 1], orientation[owner, 2], orientation[owner, 3]
        m = (
            (1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z), 2.0 * (x * z + w * y)),
            (2.0 * (x * y + w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x)),
            (2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)),
        )
        for axis in range(3):
            a, b, c = m[axis]
            at = position[owner, axis] + a * mount[row, 0] + b * mount[row, 1] + c * mount[row, 2]
            eye[row, axis] = np.float32(at)
            axes[row, axis] = np.float32(-(a * mount[row, 4] + b * mount[row, 7] + c * mount[row, 10]))
            axes[row, 3 + axis] = np.float32(-(a * mount[row, 5] + b * mount[row, 8] + c * mount[row, 11]))
            axes[row, 6 + axis] = np.float32(a * mount[row, 3] + b * mount[row, 6] + c * mount[row, 9])


@inline_kernel
def is_behind(position, sphere, eye, axes):
    """Return whether a thing at `position` with this bounding sphere lies behind the camera, however it is turned."""
    dx = np.float32(position[0]) - eye[0]
    dy = np.float32(position[1]) - eye[1]
    dz = np.float32(position[2]) - eye[2]
    reach = sphere[3] + abs(sphere[0]) + abs(sphere[1]) + abs(sphere[2])
    return axes[6] * dx + axes[7] * dy + axes[8] * dz < -reach


@inner_pixel_kernel
def set_basis(basis, eye, axes, place, focal, sides, sun):
    """Write the camera in the frame of a mesh.

    Args:
        basis: Written, shape [BASIS_COLUMNS].
        eye: World frame [m]. axes: Right, down, forward, world frame.
        place: Where the mesh stands (3) and how it is turned (rotation mesh to world, 9).
        focal: Focal length [sample].
        sides: As `sees_sphere`.
        sun: Direction to the sun, world frame.
    """
    half = np.float32(0.5)
    dx = eye[0] - place[0]
    dy = eye[1] - place[1]
    dz = eye[2] - place[2]
    over = np.float32(1.0) / focal
    middle_x = half * sides[0]
    middle_y = half * sides[1]
    for axis in range(3):
        a, b, c = place[3 + axis], place[6 + axis], place[9 + axis]
        right = axes[0] * a + axes[1] * b + axes[2] * c
        down = axes[3] * a + axes[4] * b + axes[5] * c
        forward = axes[6] * a + axes[7] * b + axes[8] * c
        basis[axis] = focal * right + (middle_x + half) * forward
        basis[3 + axis] = focal * down + (middle_y + half) * forward
        basis[6 + axis] = forward
        basis[9 + axis] = dx * a + dy * b + dz * c
        basis[12 + axis] = right * over
        basis[15 + axis] = down * over
        basis[18 + axis] = forward + (half - middle_x) * over * right + (half - middle_y) * over * down
        basis[21 + axis] = sun[0] * a + sun[1] * b + sun[2] * c


@inner_pixel_kernel
def set_place(position, quaternion, place):
    """Write position and rotation matrix of a thing that stands at `position` [m], turned by (w, x, y, z)."""
    w, x, y, z = quaternion[0], quaternion[1], quaternion[2], quaternion[3]
    for axis in range(3):
        place[axis] = np.float32(position[axis])
    place[3] = np.float32(1.0 - 2.0 * (y * y + z * z))
    place[4] = np.float32(2.0 * (x * y - w * z))
    place[5] = np.float32(2.0 * (x * z + w * y))
    place[6] = np.float32(2.0 * (x * y + w * z))
    place[7] = np.float32(1.0 - 2.0 * (x * x + z * z))
    place[8] = np.float32(2.0 * (y * z - w * x))
    place[9] = np.float32(2.0 * (x * z - w * y))
    place[10] = np.float32(2.0 * (y * z + w * x))
    place[11] = np.float32(1.0 - 2.0 * (x * x + y * y))


@inner_pixel_kernel
def set_wheel_place(body, anchor, extension, steer, spin, place):
    """Write where a wheel is: below its anchor by the suspension's extension, turned about its axle, then steered."""
    cs, ss = np.float32(np.cos(steer)), np.float32(np.sin(steer))
    cw, sw = np.float32(np.cos(spin)), np.float32(np.sin(spin))
    drop = anchor[2] - np.float32(extension)
    for axis in range(3):
        a, b, c = body[3 + 3 * axis], body[4 + 3 * axis], body[5 + 3 * axis]
        place[axis] = body[axis] + a * anchor[0] + b * anchor[1] + c * drop
        forward = a * cs + b * ss
        place[3 + 3 * axis] = forward * cw - c * sw
        place[4 + 3 * axis] = b * cs - a * ss
        place[5 + 3 * axis] = forward * sw + c * cw


@inline_kernel
def set_plate_place(body, height, axes, place):
    """Write where a name plate is: above the body, facing the camera."""
    for axis in range(3):
        place[axis] = body[axis]
        place[3 + 3 * axis] = -axes[6 + axis]
        place[4 + 3 * axis] = axes[axis]
        place[5 + 3 * axis] = -axes[3 + axis]
    place[2] += height


@inline_kernel
def set_world_place(origin, place):
    """Write the place of a mesh in the world frame, moved to `origin`."""
    for term in range(9):
        place[3 + term] = np.float32(1.0) if term % 4 == 0 else np.float32(0.0)
    for axis in range(3):
        place[axis] = origin[axis]


@inline_kernel
def list_car(car, own, draw, camera, tables, poses, scratch):
    """List body, wheels and name plate of a car, as far as they may be seen; return the number of meshes listed."""
    eye, axes, focal, sides, far, sun = camera
    body, place = scratch.body, scratch.place
    set_place(poses.position[car], poses.orientation[car], body)
    for part in range(6):
        index = np.int64(tables.car_mesh[car, min(part, 1) if part < 5 else 2])
        if index < 0 or (part == 5 and own):
            continue
        if part == 0:
            for term in range(12):
                place[term] = body[term]
        elif part < 5:
            wheel = part - 1
            steer = poses.steer_angle[car] if tables.wheel_steered[wheel] else 0.0
            extension = poses.wheel_extension[car, wheel]
            set_wheel_place(body, tables.wheel_anchor[wheel], extension, steer, poses.wheel_angle[car, wheel], place)
        else:
            sphere = tables.mesh_sphere[tables.car_mesh[car, 0]]
            set_plate_place(body, sphere[2] + sphere[3] + PLATE_GAP, axes, place)
        basis = scratch.basis[draw]
        set_basis(basis, eye, axes, place, focal, sides, sun)
        sphere = tables.mesh_sphere[index]
        away = basis[6] * basis[9] + basis[7] * basis[10] + basis[8] * basis[11]
        tiny = 0 < part < 5 and sphere[3] * focal < SMALLEST_WHEEL * abs(away)
        if sees_sphere(sphere, basis, sides, NEAR, far) and not tiny:
            for channel in range(3):
                basis[24 + channel] = tables.car_paint[car, channel]
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
def count_sky_rows(width, height, stride, depth):
    """Return how many rows, from the top, hold all pixels where nothing has been drawn."""
    rows = height
    while rows > 0 and count_bare(width, depth[(rows - 1) * stride :]) == 0:
        rows -= 1
    return rows


@inline_kernel
def list_meshes(world, owner, camera, tables, poses, scratch, counts):
    """List all meshes that may be seen, nearest kinds first, the sky last; return their number."""
    eye, axes, focal, sides, far, sun = camera
    cars_per_world, props_per_world, draw_own = counts
    place = scratch.place
    draw = np.int64(0)
    for car in range(world * cars_per_world, (world + 1) * cars_per_world):
        own = car == owner
        if (
            poses.present[car]
            and (draw_own or not own)
            and not is_behind(poses.position[car], tables.car_sphere[car], eye, axes)
        ):
            draw = list_car(car, own, draw, camera, tables, poses, scratch)
    for prop in range(world * props_per_world, (world + 1) * props_per_world):
        index = np.int64(tables.prop_mesh[prop])
        if index < 0 or is_behind(poses.prop_position[prop], tables.mesh_sphere[index], eye, axes):
            continue
        set_place(poses.prop_position[prop], poses.prop_orientation[prop], place)
        set_basis(scratch.basis[draw], eye, axes, place, focal, sides, sun)
        if sees_sphere(tables.mesh_sphere[index], scratch.basis[draw], sides, NEAR, far):
            scratch.draw_mesh[draw] = index
            draw += 1
    for kind in range(2):
        # What never moves; then the sky, a box so large that everything is nearer, around the eye.
        set_world_place(eye if kind == 1 else scratch.zero, place)
        set_basis(scratch.basis[draw], eye, axes, place, focal, sides, sun)
        scratch.draw_mesh[draw] = tables.scene_mesh[tables.world_scene[world], kind]
        draw += 1
    return draw


@inline_kernel
def draw_meshes(draw_count, far, height, stride, tables, scratch):
    """Draw the listed meshes; the last, the sky, only where nothing else is."""
    clusters, mesh, texture, texels, target = split_tables(tables, scratch)
    clear_depth(stride * height, scratch.depth)
    count = np.int64(0)
    rows = height
    near = NEAR
    for draw in range(draw_count):
        if draw == draw_count - 1:
            rows = count_sky_rows(np.int64(scratch.sides[0]), height, stride, scratch.depth)
            far = np.float32(1e9)
            near = SKY_NEAR
        count = draw_mesh(
            np.int64(scratch.draw_mesh[draw]),
            draw,
            scratch.basis[draw],
            scratch.sides,
            near,
            far,
            rows,
            stride,
            count,
            clusters,
            mesh,
            texture,
            texels,
            target,
        )
    scratch.drawn[0] = count


@inline_kernel
def vary_colours(size, looks, light, camera, tables, scratch):
    """Recolour the samples of a picture by class; see `recolour_pixels`."""
    prepare_classes(tables, scratch)
    classify_pixels(size, tables, scratch)
    recolour_pixels(size, looks, light, camera, scratch)


@pixel_kernel
def render_cameras(turn, end, tables, poses, cameras, scratch, size, options, words, picture, depth_out, segment_out):
    """Render the cameras [turn[0], end) of a group, those that no other thread takes.

    Args:
        turn: See `take_row`. end: One behind the last.
        tables: PictureTables. poses: PoseTables. cameras: CameraTables. scratch: Scratch of this worker.
        size: Width and height of the finished pictures, samples per pixel along each axis, stride of scratch rows,
            cars per world, props per world.
        options: Sharp (one texel per pixel), depth wanted, classes wanted, own car drawn, colours varied.
        words: The memory of `picture` as 32-bit words when a row is a whole number of them.
        picture: Written, shape [camera_count, height, width, 3].
        depth_out: Written when wanted, shape [camera_count, height, width].
        segment_out: Written when wanted, shape [camera_count, height, width].
    """
    out_width, out_height, factor, stride, cars_per_world, props_per_world = size
    sharp, want_depth, want_segments, draw_own, is_varied = options
    width = out_width * factor
    height = out_height * factor
    sides = scratch.sides
    half = np.float32(0.5)
    while True:
        row = take_row(turn)
        if row >= end:
            break
        world = np.int64(cameras.world[row])
        light = scratch.light
        for term in range(13):
            light[term] = cameras.light[row, term]
        light[9] *= cameras.lens[row, 5]
        focal = cameras.lens[row, 0] * np.float32(np.int32(factor))
        sides[0] = np.float32(np.int32(width))
        sides[1] = np.float32(np.int32(height))
        sides[2] = np.sqrt(focal * focal + half * half * sides[0] * sides[0]) + np.float32(1.0)
        sides[3] = np.sqrt(focal * focal + half * half * sides[1] * sides[1]) + np.float32(1.0)
        camera = (cameras.eye[row], cameras.axes[row], focal, sides, cameras.lens[row, 4], light[10:])
        counts = (cars_per_world, props_per_world, draw_own)
        draw_count = list_meshes(world, cameras.car[row], camera, tables, poses, scratch, counts)
        draw_meshes(draw_count, cameras.lens[row, 4], height, stride, tables, scratch)
        shade_meshes((width, height, stride), sharp, light, tables, scratch)
        if is_varied:
            vary_colours((width, height, stride), cameras.look[row], light, camera, tables, scratch)
        darken_ground(world, (width, height, stride), camera, light[9], tables, poses, counts, scratch)
        strength = (cameras.lens[row, 1], cameras.lens[row, 2])
        if want_depth:
            far = cameras.lens[row, 4]
            write_depth(out_width, out_height, stride, factor, strength, far, scratch.depth, depth_out[row])
        if want_segments:
            prepare_classes(tables, scratch)
            write_segments(out_width, out_height, stride, factor, strength, tables, scratch, segment_out[row])
        if factor == 2:
            halve_picture(out_width, out_height, stride, scratch.colour)
        finished, spare = scratch.colour, scratch.warped
        if factor == 1 and not sharp:
            soften_edges(width, height, stride, scratch.ident, finished, spare)
            finished, spare = spare, finished
        if strength[0] != np.float32(0.0) or strength[1] != np.float32(0.0):
            warp_picture(out_width, out_height, stride, strength, finished, spare)
            finished = spare
        if cameras.lens[row, 3] != np.float32(0.0):
            make_grey(out_width, out_height, stride, finished)
        write_rgb(out_width, out_height, stride, finished, words[row], picture[row])
