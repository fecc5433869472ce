"""The last millimetres: every picture is laid on the floor that all of them show together."""

from collections.abc import Callable

import numpy as np

from donkeysim.core.types import FloatArray
from donkeysim.mapping.alignment import Raster, align
from donkeysim.mapping.odometry import REACH, FloorPictures
from donkeysim.mapping.pose_graph import Edge, bound, solve, take_root
from donkeysim.mapping.poses import between, compose, make_matrix
from donkeysim.mapping.raster import Canvas

BLURS = (9, 5, 5)
"""Of each pass, the side of the filter [cell]: the first reaches farther."""

LEAST_CORRELATION = 0.4
"""Pictures that are less like the floor of all stay where their neighbours have them."""

_STEP = np.array([0.011, 0.008, 0.004])  # How well motions from one picture to the next are known, in heights and [rad]
_FLOOR = np.array([0.055, 0.055, 0.01])  # And how well a place on the common floor is, at best


def refine(pictures: FloorPictures, poses: FloatArray, report: Callable[[float], None]) -> FloatArray:
    """Return better poses of the pictures that have one, the first `len(poses)`.

    Args:
        report: Called with the share that is done.
    """
    scale = np.array([pictures.view.camera.mount.height] * 2 + [1.0])
    for turn, blur in enumerate(BLURS):
        floor = _paint(pictures, poses)
        steps = between(poses[:-1], poses[1:])
        root = np.diag(1.0 / (_STEP * scale))
        edges = [Edge(number + 1, number + 2, step, root, is_loop=False) for number, step in enumerate(steps)]
        for number, pose in enumerate(poses):
            edge = _anchor(pictures, floor, number, pose, blur, _FLOOR * scale)
            edges += [] if edge is None else [edge]
            report((turn + (number + 1) / len(poses)) / len(BLURS))
        poses = solve(np.vstack([np.zeros(3), poses]), edges)[0][1:]
    return poses


def _paint(pictures: FloorPictures, poses: FloatArray) -> Canvas:
    view = pictures.view
    reach = (REACH.far + 2.0) * view.camera.mount.height
    floor = Canvas(view.cell, poses[:, :2].min(axis=0) - reach, poses[:, :2].max(axis=0) + reach)
    for number, pose in enumerate(poses):
        floor.paint(view, pose, pictures.take(number), view.weight)
    return floor


def _anchor(
    pictures: FloorPictures, floor: Canvas, number: int, pose: FloatArray, blur: int, least: FloatArray
) -> Edge | None:
    """Return an edge from the floor's frame, pose 0 of the graph, to where a picture lies on it; None: nowhere."""
    view = pictures.view
    value, known = floor.look(view, pose)
    raster = Raster(pictures.take(number), view.seen, view.axes)
    found = align(raster, Raster(value, known, view.axes), np.zeros(3), blur)
    height = view.camera.mount.height
    if found is None or found.correlation < LEAST_CORRELATION or np.abs(found.motion[:2]).max() > 0.8 * height:
        return None
    turned = make_matrix(np.array([0.0, 0.0, pose[2]]))
    root = take_root(bound(found.information, least.tolist())) @ turned.T
    return Edge(0, number + 1, compose(pose, found.motion), root, is_loop=True)
