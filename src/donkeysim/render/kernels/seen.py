"""What a camera looks at: its view, which rows of its picture are drawn, and which meshes may be seen in them."""

import math

import numpy as np

from donkeysim.core.kernel import inner_kernel
from donkeysim.render.kernels.bend import find_source_rows
from donkeysim.render.kernels.layout import (
    AXES,
    BASIS,
    CAR_MESH,
    LENS,
    LIGHT,
    LIGHT_WIDTH,
    POSE_WIDTH,
    SCENE_MESH,
    SPHERE_RADIUS,
    VIEW,
)
from donkeysim.render.kernels.outline import sees_sphere
from donkeysim.render.kernels.poses import (
    is_behind,
    set_basis,
    set_plate_pose,
    set_pose,
    set_wheel_pose,
    set_world_pose,
)
from donkeysim.render.kernels.vector import dot, read_vector

NEAR = np.float32(0.3 / 8.0)
"""Near plane [m], the original's."""

SKY_NEAR = np.float32(1.0e3)
"""Near plane of the sky's box [m], a hundredth of its size: cut nearer, its corners would lie too far out."""

# Four meshes of a distant car for less than two pixels each.
SMALLEST_WHEEL = np.float32(0.75)
"""Wheels are left out when their radius is fewer pixels than this."""

PLATE_GAP = np.float32(0.02)
"""Between the sphere around a body and its name plate [m]."""


WHEELS, PLATE = (1, 5), 5
"""Of a car's meshes: which are wheels, and the last one, its name plate."""


@inner_kernel(loose=True, merged=True)
def measure_reach(focal, side):
    """Return how far a sphere of radius 1 m reaches beyond its centre on the screen, times w [sample · m]."""
    # Where the picture's edge is seen at a flat angle a sphere looks longer than at the middle; one sample more, as
    # what only touches a sample counts too.
    half = np.float32(0.5)
    return math.sqrt(focal * focal + half * half * side * side) + np.float32(1.0)


@inner_kernel(loose=True, merged=True)
def set_view(view, eye, axes, lens, light, size):
    """Write a camera's row VIEW; `size`: columns, rows, first drawn row, one behind the last, samples per pixel."""
    width, height, first, end, factor = size
    for axis in range(3):
        view[VIEW.eye + axis] = eye[axis]
        view[VIEW.right + axis] = axes[AXES.right + axis]
        view[VIEW.down + axis] = axes[AXES.down + axis]
        view[VIEW.forward + axis] = axes[AXES.forward + axis]
        view[VIEW.sun + axis] = light[LIGHT.direction + axis]
    focal = lens[LENS.focal] * np.float32(np.int32(factor))
    view[VIEW.focal] = focal
    view[VIEW.columns], view[VIEW.rows] = np.float32(np.int32(width)), np.float32(np.int32(height))
    view[VIEW.reach_x] = measure_reach(focal, view[VIEW.columns])
    view[VIEW.reach_y] = measure_reach(focal, view[VIEW.rows])
    view[VIEW.first], view[VIEW.end] = np.float32(np.int32(first)), np.float32(np.int32(end))
    view[VIEW.far] = lens[LENS.far]


@inner_kernel(loose=True, merged=True)
def set_light(light, given, lens):
    """Write a camera's row LIGHT: the given one, with its own share of the fog."""
    for term in range(LIGHT_WIDTH):
        light[term] = given[term]
    light[LIGHT.density] *= lens[LENS.fog]
    light[LIGHT.ground] *= lens[LENS.fog]


@inner_kernel(loose=True, merged=True)
def find_drawn_rows(band, height, strength, softens):
    """Return first row and end of those that must be drawn for a band of a picture's rows."""
    first, end = np.int64(band[0]), np.int64(band[1])
    if has_warp(strength):
        first, end = find_source_rows(band, height, strength[0])
    # Edges take some colour from their neighbours, above and below too.
    return (max(first - 1, 0), min(end + 1, height)) if softens else (first, end)


@inner_kernel(loose=True, merged=True)
def has_warp(strength):
    """Return whether there is a fisheye."""
    return strength[0] != np.float32(0.0) or strength[1] != np.float32(0.0)


@inner_kernel(loose=True, merged=True)
def list_car(car, own, draw, view, tables, poses, target):
    """List body, wheels and name plate of a car, as far as they may be seen; return the number of meshes listed."""
    draw_mesh, bases, pose, body = target
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
            set_plate_pose(body, sphere[2] + sphere[SPHERE_RADIUS] + PLATE_GAP, view, pose)
        basis = bases[draw]
        set_basis(basis, view, pose)
        sphere = tables.mesh_sphere[index]
        away = dot(read_vector(basis, BASIS.w), read_vector(basis, BASIS.eye))
        tiny = is_wheel and sphere[SPHERE_RADIUS] * view[VIEW.focal] < SMALLEST_WHEEL * abs(away)
        if sees_sphere(sphere, basis, view, NEAR, view[VIEW.far]) and not tiny:
            for channel in range(3):
                basis[BASIS.paint + channel] = tables.car_paint[car, channel]
            draw_mesh[draw] = index
            draw += 1
    return draw


@inner_kernel(loose=True, merged=True)
def list_meshes(world, owner, view, tables, poses, target, counts):
    """List all meshes that may be seen, nearest kinds first, the sky last; return their number.

    Args:
        owner: The camera's own car.
        view: Columns VIEW.
        tables: PictureTables.
        poses: PoseTables.
        target: Meshes and their rows BASIS, written; two rows POSE that are the caller's own.
        counts: Cars per world, props per world, whether the own car is shown.
    """
    cars_per_world, props_per_world, draw_own = counts
    draw_mesh, bases, pose, _ = target
    none = np.float32(0.0)
    draw = np.int64(0)
    # What is near comes first, as what it hides is then not written; the ground hides nothing.
    for car in range(world * cars_per_world, (world + 1) * cars_per_world):
        own = car == owner
        is_shown = poses.present[car] and (draw_own or not own)
        if is_shown and not is_behind(poses.position[car], tables.car_sphere[car], view):
            draw = list_car(car, own, draw, view, tables, poses, target)
    for prop in range(world * props_per_world, (world + 1) * props_per_world):
        index = np.int64(tables.prop_mesh[prop])
        if index < 0 or is_behind(poses.prop_position[prop], tables.mesh_sphere[index], view):
            continue
        set_pose(poses.prop_position[prop], poses.prop_orientation[prop], pose)
        set_basis(bases[draw], view, pose)
        if sees_sphere(tables.mesh_sphere[index], bases[draw], view, NEAR, view[VIEW.far]):
            draw_mesh[draw] = index
            draw += 1
    for kind in (SCENE_MESH.static, SCENE_MESH.sky):
        # What never moves; then the sky, a box so large that everything is nearer, around the eye.
        set_world_pose(read_vector(view, VIEW.eye) if kind == SCENE_MESH.sky else (none, none, none), pose)
        set_basis(bases[draw], view, pose)
        draw_mesh[draw] = tables.scene_mesh[tables.world_scene[world], kind]
        draw += 1
    return draw
