"""Poses on and beside paths, by arc length: the one formula of simulators, environments and batches on a device."""

import math
from typing import NamedTuple

from donkeysim.core.kernel import inner_kernel, kernel
from donkeysim.core.types import FloatArray, LongArray


class PathRows(NamedTuple):
    """Paths of all scenes, one after another; see `world.path_frame.PathFrame`."""

    entry: LongArray
    """First row, nodes, whether it is closed, shape [scene_count, 3]."""
    length: FloatArray
    """Of each path [m], shape [scene_count]."""
    node: FloatArray
    """Length of the path up to the node, then x, y and z [m], shape [row_count, 4]."""
    segment: FloatArray
    """From a node to the next: step (3), span [m], direction [rad], unit vector to the left (2), rise of the ground to
    the left [m/m], rotation that lays what stands upright on the ground (w, x, y), shape [row_count, 11]; no segment
    begins at the last node of an open path."""


@inner_kernel
def find_node(paths, first, count, along):
    """Return which of a path's nodes a place is at or behind."""
    low, high = 0, count
    while low < high:
        middle = (low + high) // 2
        if along < paths.node[first + middle, 0]:
            high = middle
        else:
            low = middle + 1
    return low - 1


@inner_kernel
def find_swing(w, lean_x, lean_y, heading):
    """Return by how much to turn what leans afterwards, so that it has a heading then [rad]; 0 on level ground.

    Args:
        w: Rotation that lays what stands upright on the ground, with the next two; its z is 0.
        heading: To have [rad].
    """
    normal_x, normal_y, normal_z = 2.0 * w * lean_y, -2.0 * w * lean_x, 1.0 - 2.0 * (lean_x * lean_x + lean_y * lean_y)
    cosine, sine = math.cos(heading), math.sin(heading)
    ahead = normal_x * cosine + normal_y * sine
    aside = normal_y * cosine - normal_x * sine
    size = normal_z * (1.0 + normal_z)
    return math.atan2(ahead * aside, size + ahead * ahead)


@inner_kernel
def find_pose(paths, scene, along, offset, yaw):
    """Return where a car stands on a scene's path: x, y, z [m], and its rotation w, x, y, z.

    Args:
        paths: Rows of all scenes.
        along: Length from node 0 [m]: modulo the length of a closed path, else cut to its ends.
        offset: From the path, + = left of it [m].
        yaw: Against the direction of the path, + = left [rad].
    """
    first, count, closed = paths.entry[scene, 0], paths.entry[scene, 1], paths.entry[scene, 2]
    length = paths.length[scene]
    along = along % length if closed != 0 else min(max(along, 0.0), length)
    node = min(find_node(paths, first, count, along), count - 1 if closed != 0 else count - 2)
    row = first + node
    share = (along - paths.node[row, 0]) / paths.segment[row, 3]
    x = paths.node[row, 1] + share * paths.segment[row, 0] + offset * paths.segment[row, 5]
    y = paths.node[row, 2] + share * paths.segment[row, 1] + offset * paths.segment[row, 6]
    z = paths.node[row, 3] + share * paths.segment[row, 2] + offset * paths.segment[row, 7]
    w, lean_x, lean_y = paths.segment[row, 8], paths.segment[row, 9], paths.segment[row, 10]
    heading = paths.segment[row, 4] + yaw
    turn = 0.5 * (heading + find_swing(w, lean_x, lean_y, heading))
    cosine, sine = math.cos(turn), math.sin(turn)
    # Zeros of a level road are positive ones, so that they are the same bits whatever its direction.
    qx, qy = 0.0 + lean_x * cosine + lean_y * sine, 0.0 + lean_y * cosine - lean_x * sine
    return x, y, z, w * cosine, qx, qy, w * sine


@kernel
def find_poses(
    paths: PathRows,
    scene: int,
    along: FloatArray,
    offset: FloatArray,
    yaw: FloatArray,
    position: FloatArray,
    orientation: FloatArray,
) -> None:
    """Write poses on a scene's path; the arguments are those of `find_pose`, for many places.

    Args:
        paths: Rows of all scenes.
        along: Shape [n].
        offset: Shape [n].
        yaw: Shape [n].
        position: Written, shape [n, 3].
        orientation: Written, (w, x, y, z), shape [n, 4].
    """
    for place in range(len(along)):
        x, y, z, w, qx, qy, qz = find_pose(paths, scene, along[place], offset[place], yaw[place])
        position[place, 0], position[place, 1], position[place, 2] = x, y, z
        orientation[place, 0], orientation[place, 1], orientation[place, 2], orientation[place, 3] = w, qx, qy, qz
