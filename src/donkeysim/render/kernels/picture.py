"""The order of a picture: place the camera, find what is seen, colour it, darken the ground under things, finish."""

from __future__ import annotations

import numpy as np

from donkeysim.core.kernel import kernel, pixel_kernel
from donkeysim.render.kernels.finish import halve_picture, warp_picture, write_depth, write_rgb, write_segments
from donkeysim.render.kernels.raster import draw_cluster
from donkeysim.render.kernels.shade import shade_rows
from donkeysim.render.kernels.shadow import darken_ground

NEAR = np.float32(0.3 / 8.0)
"""Near plane [m], the original's."""

SMALLEST_WHEEL = np.float32(0.75)
"""Wheels are left out when their radius is fewer pixels than this."""


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
            eye[row, axis] = np.float32(
                position[owner, axis] + a * mount[row, 0] + b * mount[row, 1] + c * mount[row, 2]
            )
            axes[row, axis] = np.float32(-(a * mount[row, 4] + b * mount[row, 7] + c * mount[row, 10]))
            axes[row, 3 + axis] = np.float32(-(a * mount[row, 5] + b * mount[row, 8] + c * mount[row, 11]))
            axes[row, 6 + axis] = np.float32(a * mount[row, 3] + b * mount[row, 6] + c * mount[row, 9])


@pixel_kernel
def set_basis(basis, eye, axes, origin, rotation, focal, width, height, sun):
    """Write the camera in the frame of a mesh that stands at `origin`, turned by `rotation` (mesh to world, 9)."""
    half = np.float32(0.5)
    dx = eye[0] - origin[0]
    dy = eye[1] - origin[1]
    dz = eye[2] - origin[2]
    over = np.float32(1.0) / focal
    middle_x = half * np.float32(width)
    middle_y = half * np.float32(height)
    for axis in range(3):
        a, b, c = rotation[axis], rotation[3 + axis], rotation[6 + axis]
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


@pixel_kernel
def sees_sphere(sphere, basis, sides, far):
    """Return whether a sphere (centre, radius; mesh frame) may be in the picture.

    Args:
        sides: Columns, rows, and the lengths of the normals of the side and of the upper and lower planes.
    """
    px, py, pz = sphere[0] - basis[9], sphere[1] - basis[10], sphere[2] - basis[11]
    radius = sphere[3]
    w = basis[6] * px + basis[7] * py + basis[8] * pz
    if w < NEAR - radius or w > far + radius:
        return False
    x = basis[0] * px + basis[1] * py + basis[2] * pz
    y = basis[3] * px + basis[4] * py + basis[5] * pz
    reach_x = radius * sides[2]
    reach_y = radius * sides[3]
    return (
        x > -reach_x
        and y > -reach_y
        and x < (sides[0] + np.float32(1.0)) * w + reach_x
        and y < (sides[1] + np.float32(1.0)) * w + reach_y
    )


@pixel_kernel
def draw_mesh(
    index, draw, basis, sides, far, stride, count, ranges, spheres, meshes, mesh, flags, texture, texels, scratch
):
    """Draw the visible clusters of a mesh; return the number of records in use."""
    for cluster in range(meshes[index, 0], meshes[index, 1]):
        if sees_sphere(spheres[cluster], basis, sides, far):
            count = draw_cluster(
                (ranges[cluster, 0], ranges[cluster, 1], ranges[cluster, 2], ranges[cluster, 3]),
                draw,
                basis,
                NEAR,
                np.int64(sides[0]),
                np.int64(sides[1]),
                stride,
                count,
                mesh,
                flags,
                texture,
                texels,
                scratch,
            )
    return count


@pixel_kernel
def quaternion_matrix(quaternion, matrix):
    """Write the rotation matrix (9, row by row) of a unit quaternion (w, x, y, z)."""
    w, x, y, z = quaternion[0], quaternion[1], quaternion[2], quaternion[3]
    matrix[0] = np.float32(1.0 - 2.0 * (y * y + z * z))
    matrix[1] = np.float32(2.0 * (x * y - w * z))
    matrix[2] = np.float32(2.0 * (x * z + w * y))
    matrix[3] = np.float32(2.0 * (x * y + w * z))
    matrix[4] = np.float32(1.0 - 2.0 * (x * x + z * z))
    matrix[5] = np.float32(2.0 * (y * z - w * x))
    matrix[6] = np.float32(2.0 * (x * z - w * y))
    matrix[7] = np.float32(2.0 * (y * z + w * x))
    matrix[8] = np.float32(1.0 - 2.0 * (x * x + y * y))


@pixel_kernel
def wheel_rotation(body, steer, spin, rotation):
    """Write the rotation wheel to world for a body's rotation (9): spin about the axle, then steer."""
    cs, ss = np.float32(np.cos(steer)), np.float32(np.sin(steer))
    cw, sw = np.float32(np.cos(spin)), np.float32(np.sin(spin))
    for axis in range(3):
        a, b, c = body[3 * axis], body[3 * axis + 1], body[3 * axis + 2]
        forward = a * cs + b * ss
        rotation[3 * axis] = forward * cw - c * sw
        rotation[3 * axis + 1] = b * cs - a * ss
        rotation[3 * axis + 2] = forward * sw + c * cw


@pixel_kernel
def render_cameras(begin, end, tables, poses, cameras, scratch, size, options, picture, depth_out, segment_out):
    """Render the cameras [begin, end) of a group.

    Args:
        tables: PictureTables. poses: PoseTables. cameras: CameraTables. scratch: Scratch of this worker.
        size: Width and height of the finished pictures, samples per pixel along each axis, stride of scratch rows,
            cars per world, props per world.
        options: Sharp (one texel per pixel), depth wanted, classes wanted, own car drawn.
        picture: Written, shape [camera_count, height, width, 3].
        depth_out: Written when wanted, shape [camera_count, height, width].
        segment_out: Written when wanted, shape [camera_count, height, width].
    """
    out_width, out_height, factor, stride, cars_per_world, props_per_world = size
    sharp, want_depth, want_segments, draw_own = options
    width = out_width * factor
    height = out_height * factor
    mesh = (tables.vertex, tables.triangle_vertex, tables.triangle_plane, tables.triangle_material)
    texels = (tables.texel, tables.level_base, tables.size_log)
    target = (
        scratch.depth,
        scratch.ident,
        scratch.screen,
        scratch.left,
        scratch.right,
        scratch.polygon,
        scratch.record_float,
        scratch.record_int,
        scratch.shape,
    )
    flags = tables.material_flags
    texture = tables.material_texture
    ranges = tables.cluster_range
    spheres = tables.cluster_sphere
    meshes = tables.mesh_range
    identity = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)
    origin = np.empty(3, np.float32)
    rotation = np.empty(9, np.float32)
    body = np.empty(9, np.float32)
    sides = np.empty(4, np.float32)
    for row in range(begin, end):
        eye = cameras.eye[row]
        axes = cameras.axes[row]
        world = cameras.world[row]
        scene = tables.world_scene[world]
        light = tables.light[scene]
        sun = light[10:]
        focal = cameras.lens[row, 0] * np.float32(factor)
        far = cameras.lens[row, 4]
        sides[0] = np.float32(width)
        sides[1] = np.float32(height)
        sides[2] = np.sqrt(focal * focal + np.float32(0.25) * sides[0] * sides[0]) + np.float32(1.0)
        sides[3] = np.sqrt(focal * focal + np.float32(0.25) * sides[1] * sides[1]) + np.float32(1.0)
        scratch.depth[:] = np.float32(0.0)
        scratch.ident[:] = np.uint32(0)
        count = np.int64(1)
        draw = np.int64(0)
        for axis in range(9):
            rotation[axis] = np.float32(identity[axis])
        # What never moves.
        origin[:] = np.float32(0.0)
        set_basis(scratch.basis[draw], eye, axes, origin, rotation, focal, width, height, sun)
        count = draw_mesh(
            tables.scene_mesh[scene, 0],
            draw,
            scratch.basis[draw],
            sides,
            far,
            stride,
            count,
            ranges,
            spheres,
            meshes,
            mesh,
            flags,
            texture,
            texels,
            target,
        )
        draw += 1
        # Cars.
        for car in range(world * cars_per_world, (world + 1) * cars_per_world):
            own = car == cameras.car[row]
            if poses.present[car] == 0 or (own and not draw_own):
                continue
            for axis in range(3):
                origin[axis] = np.float32(poses.position[car, axis])
            quaternion_matrix(poses.orientation[car], body)
            for part in range(6):
                index = tables.car_mesh[car, 0 if part == 0 else (1 if part < 5 else 2)]
                if index < 0 or (part == 5 and own):
                    continue
                basis = scratch.basis[draw]
                if part == 0:
                    rotation[:] = body
                elif part < 5:
                    wheel = part - 1
                    steer = poses.steer_angle[car] if tables.wheel_steered[wheel] else 0.0
                    wheel_rotation(body, steer, poses.wheel_angle[car, wheel], rotation)
                    drop = tables.wheel_anchor[wheel, 2] - np.float32(poses.wheel_extension[car, wheel])
                    for axis in range(3):
                        origin[axis] = (
                            np.float32(poses.position[car, axis])
                            + body[3 * axis] * tables.wheel_anchor[wheel, 0]
                            + body[3 * axis + 1] * tables.wheel_anchor[wheel, 1]
                            + body[3 * axis + 2] * drop
                        )
                else:
                    for axis in range(3):
                        origin[axis] = np.float32(poses.position[car, axis])
                        rotation[3 * axis] = -axes[6 + axis]
                        rotation[3 * axis + 1] = axes[axis]
                        rotation[3 * axis + 2] = -axes[3 + axis]
                    origin[2] += tables.mesh_sphere[tables.car_mesh[car, 0], 3] + np.float32(0.02)
                set_basis(basis, eye, axes, origin, rotation, focal, width, height, sun)
                sphere = tables.mesh_sphere[index]
                if not sees_sphere(sphere, basis, sides, far):
                    if part == 0:
                        continue
                    continue
                if 0 < part < 5 and sphere[3] * focal < SMALLEST_WHEEL * np.abs(
                    basis[6] * basis[9] + basis[7] * basis[10] + basis[8] * basis[11]
                ):
                    continue
                for channel in range(3):
                    basis[24 + channel] = tables.car_paint[car, channel]
                count = draw_mesh(
                    index,
                    draw,
                    basis,
                    sides,
                    far,
                    stride,
                    count,
                    ranges,
                    spheres,
                    meshes,
                    mesh,
                    flags,
                    texture,
                    texels,
                    target,
                )
                draw += 1
        # Cones and barrels.
        for prop in range(world * props_per_world, (world + 1) * props_per_world):
            index = tables.prop_mesh[prop]
            if index < 0:
                continue
            for axis in range(3):
                origin[axis] = np.float32(poses.prop_position[prop, axis])
            quaternion_matrix(poses.prop_orientation[prop], rotation)
            basis = scratch.basis[draw]
            set_basis(basis, eye, axes, origin, rotation, focal, width, height, sun)
            if sees_sphere(tables.mesh_sphere[index], basis, sides, far):
                for channel in range(3):
                    basis[24 + channel] = np.float32(1.0)
                count = draw_mesh(
                    index,
                    draw,
                    basis,
                    sides,
                    far,
                    stride,
                    count,
                    ranges,
                    spheres,
                    meshes,
                    mesh,
                    flags,
                    texture,
                    texels,
                    target,
                )
                draw += 1
        # The sky, a box so large that everything is nearer, around the eye.
        for axis in range(9):
            rotation[axis] = np.float32(identity[axis])
        origin[:] = eye
        set_basis(scratch.basis[draw], eye, axes, origin, rotation, focal, width, height, sun)
        count = draw_mesh(
            tables.scene_mesh[scene, 1],
            draw,
            scratch.basis[draw],
            sides,
            np.float32(1e9),
            stride,
            count,
            ranges,
            spheres,
            meshes,
            mesh,
            flags,
            texture,
            texels,
            target,
        )
        shade_rows(
            width,
            height,
            stride,
            sharp,
            scratch.basis,
            (tables.triangle_plane, tables.triangle_material),
            (flags, tables.material_colour, texture),
            texels,
            light,
            (scratch.ident, scratch.record_float, scratch.record_int),
            scratch.colour,
            scratch.iota,
        )
        darken_ground(
            row,
            world,
            width,
            height,
            stride,
            focal,
            eye,
            axes,
            light,
            tables,
            poses,
            (cars_per_world, props_per_world),
            scratch.depth,
            scratch.colour,
            scratch.iota,
        )
        if want_depth:
            write_depth(out_width, out_height, stride, factor, far, scratch.depth, depth_out[row])
        if want_segments:
            write_segments(
                out_width,
                out_height,
                stride,
                factor,
                scratch.ident,
                scratch.record_int,
                tables.triangle_material,
                tables.material_segment,
                segment_out[row],
            )
        if factor == 2:
            halve_picture(out_width, out_height, stride, scratch.colour)
        finished = scratch.colour
        if cameras.lens[row, 1] != np.float32(0.0) or cameras.lens[row, 2] != np.float32(0.0):
            warp_picture(
                out_width,
                out_height,
                stride,
                cameras.lens[row, 1],
                cameras.lens[row, 2],
                scratch.colour,
                scratch.warped,
            )
            finished = scratch.warped
        write_rgb(out_width, out_height, stride, cameras.lens[row, 3] != np.float32(0.0), finished, picture[row])
