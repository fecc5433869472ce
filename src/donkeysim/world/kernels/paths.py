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
    """From a node to the next: step (3), span [m], direction [rad], unit vector to the left (2), shape [row_count, 7];
    no segment begins at the last node of an open path."""


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
def find_pose(paths, scene, along, offset, yaw):
    """Return where a car stands on a scene's path: x, y, z [m], and w and z of its rotation.

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
    z = paths.node[row, 3] + share * paths.segment[row, 2]
    turn = 0.5 * (paths.segment[row, 4] + yaw)
    return x, y, z, math.cos(turn), math.sin(turn)


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
        x, y, z, w, turn = find_pose(paths, scene, along[place], offset[place], yaw[place])
        position[place, 0], position[place, 1], position[place, 2] = x, y, z
        orientation[place, 0], orientation[place, 1], orientation[place, 2], orientation[place, 3] = w, 0.0, 0.0, turn
