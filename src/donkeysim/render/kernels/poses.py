"""Where cameras, cars, wheels and plates are: rotations of bodies, as a picture needs them."""

import numpy as np

from donkeysim.core.kernel import inner_kernel, kernel
from donkeysim.core.types import Float32Array, FloatArray, IntArray
from donkeysim.render.kernels.layout import AXES, BASIS, POSE, SPHERE_RADIUS, VIEW
from donkeysim.render.kernels.vector import dot, make_rows, read_column, read_vector, subtract


@inner_kernel
def place_camera(row, position, orientation, car, mount, eye, axes):
    """Write where a camera is and where it looks; the arguments are those of `place_cameras`."""
    owner, pose = car[row], mount[row]
    rotation = make_rows(orientation[owner])
    x, y, z = read_vector(pose, POSE.position)
    for axis in range(3):
        turned = rotation[axis]
        a, b, c = turned
        eye[row, axis] = np.float32(position[owner, axis] + a * x + b * y + c * z)
        # A body looks along x, with y to the left and z up.
        axes[row, AXES.right + axis] = np.float32(-dot(turned, read_column(pose, POSE.rotation + 1)))
        axes[row, AXES.down + axis] = np.float32(-dot(turned, read_column(pose, POSE.rotation + 2)))
        axes[row, AXES.forward + axis] = np.float32(dot(turned, read_column(pose, POSE.rotation)))


@kernel
def place_cameras(
    begin: int,
    end: int,
    position: FloatArray,
    orientation: FloatArray,
    car: IntArray,
    mount: FloatArray,
    eye: Float32Array,
    axes: Float32Array,
) -> None:
    """Write where the cameras [begin, end) are and where they look: world frame, right, down, forward."""
    for row in range(begin, end):
        place_camera(row, position, orientation, car, mount, eye, axes)


@inner_kernel(merged=True)
def is_behind(position, sphere, view):
    """Return whether a thing at `position` with this bounding sphere lies behind the camera, however it is turned."""
    dx = np.float32(position[0]) - view[VIEW.eye]
    dy = np.float32(position[1]) - view[VIEW.eye + 1]
    dz = np.float32(position[2]) - view[VIEW.eye + 2]
    # Its rotation would cost more than this whole test: the sphere's centre may be anywhere around the origin.
    reach = sphere[SPHERE_RADIUS] + abs(sphere[0]) + abs(sphere[1]) + abs(sphere[2])
    return dot(read_vector(view, VIEW.forward), (dx, dy, dz)) < -reach


@inner_kernel(loose=True)
def set_basis(basis, view, pose):
    """Write the camera in the frame of a mesh, so that its vertices and planes need not be moved.

    Args:
        basis: Written, columns BASIS.
        view: Columns VIEW.
        pose: Of the mesh in the world, columns POSE.
    """
    half = np.float32(0.5)
    focal = view[VIEW.focal]
    away = subtract(read_vector(view, VIEW.eye), read_vector(pose, POSE.position))
    to_right, to_down = read_vector(view, VIEW.right), read_vector(view, VIEW.down)
    over = np.float32(1.0) / focal
    middle_x = half * view[VIEW.columns]
    middle_y = half * view[VIEW.rows]
    for axis in range(3):
        turned = read_column(pose, POSE.rotation + axis)
        right = dot(to_right, turned)
        down = dot(to_down, turned)
        forward = dot(read_vector(view, VIEW.forward), turned)
        # Half a pixel more than the middle: `outline` counts from one, and pixels have their middles at halves.
        basis[BASIS.x + axis] = focal * right + (middle_x + half) * forward
        basis[BASIS.y + axis] = focal * down + (middle_y + half) * forward
        basis[BASIS.w + axis] = forward
        basis[BASIS.eye + axis] = dot(away, turned)
        basis[BASIS.ray_column + axis] = right * over
        basis[BASIS.ray_row + axis] = down * over
        basis[BASIS.ray_first + axis] = forward + (half - middle_x) * over * right + (half - middle_y) * over * down
        basis[BASIS.sun + axis] = dot(read_vector(view, VIEW.sun), turned)


@inner_kernel(loose=True)
def set_pose(position, quaternion, pose):
    """Write the pose of a thing that stands at `position` [m], turned by (w, x, y, z)."""
    rotation = make_rows(quaternion)
    for axis in range(3):
        pose[POSE.position + axis] = np.float32(position[axis])
        a, b, c = rotation[axis]
        pose[POSE.rotation + 3 * axis] = np.float32(a)
        pose[POSE.rotation + 3 * axis + 1] = np.float32(b)
        pose[POSE.rotation + 3 * axis + 2] = np.float32(c)


@inner_kernel(loose=True)
def set_wheel_pose(body, anchor, extension, steer, spin, pose):
    """Write where a wheel is: below its anchor by the suspension's extension, turned about its axle, then steered."""
    cs, ss = np.float32(np.cos(steer)), np.float32(np.sin(steer))
    cw, sw = np.float32(np.cos(spin)), np.float32(np.sin(spin))
    drop = anchor[2] - np.float32(extension)
    for axis in range(3):
        a, b, c = read_vector(body, POSE.rotation + 3 * axis)
        pose[POSE.position + axis] = body[POSE.position + axis] + a * anchor[0] + b * anchor[1] + c * drop
        forward = a * cs + b * ss
        pose[POSE.rotation + 3 * axis] = forward * cw - c * sw
        pose[POSE.rotation + 3 * axis + 1] = b * cs - a * ss
        pose[POSE.rotation + 3 * axis + 2] = forward * sw + c * cw


@inner_kernel(merged=True)
def set_plate_pose(body, height, view, pose):
    """Write where a name plate is: above the body, facing the camera."""
    for axis in range(3):
        pose[POSE.position + axis] = body[POSE.position + axis]
        pose[POSE.rotation + 3 * axis] = -view[VIEW.forward + axis]
        pose[POSE.rotation + 3 * axis + 1] = view[VIEW.right + axis]
        pose[POSE.rotation + 3 * axis + 2] = -view[VIEW.down + axis]
    pose[POSE.position + 2] += height


@inner_kernel(merged=True)
def set_world_pose(origin, pose):
    """Write the pose of a mesh in the world frame, moved to `origin`."""
    for term in range(9):
        pose[POSE.rotation + term] = np.float32(1.0) if term % 4 == 0 else np.float32(0.0)
    for axis in range(3):
        pose[POSE.position + axis] = origin[axis]
