"""Walls, rails, barriers, hedges and cliffs along the path or through points.

What a kind looks like is in `wall_kinds`; what a car can hit is a box for every straight piece.
"""

import itertools
import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from donkeysim.core.types import FloatArray
from donkeysim.world.scene import Ground, Mesh
from donkeysim.world.tracks.mesh import Assets, merge_meshes
from donkeysim.world.tracks.paths.path import CentreLine
from donkeysim.world.tracks.structures.strip import Piece, cut_strip, iterate_pieces, outline_piece
from donkeysim.world.tracks.structures.structure import Collider, Footprint, Shadow, Structure, make_block
from donkeysim.world.tracks.structures.wall_kinds import BURIED, TOLERANCE, WALL_KINDS, Section
from donkeysim.world.tracks.tables.checks import to_tint
from donkeysim.world.tracks.tables.structures import WallTable
from donkeysim.world.tracks.terrain.ground import sample_height
from donkeysim.world.tracks.track_file import TrackFile

SAMPLE = 0.05
"""Between the places at which a line is looked at before it is cut into pieces [m]."""


def build_walls(track: TrackFile, line: CentreLine, ground: Ground, assets: Assets) -> list[Structure]:
    """Return all walls of a track, each table's in one structure."""
    return [
        build_wall(table, f"[[walls]] {number} ({table.kind})", line, ground, assets)
        for number, table in enumerate(track.walls, start=1)
    ]


def build_wall(table: WallTable, label: str, line: CentreLine, ground: Ground, assets: Assets) -> Structure:
    """Return the walls of one table."""
    kind = WALL_KINDS[table.kind]
    height, thickness = table.height or kind.height, table.thickness or kind.thickness
    meshes: list[Mesh] = []
    colliders: list[Collider] = []
    shadows: list[Shadow | Footprint] = []
    tolerance = max(TOLERANCE, min(kind.tolerance, 0.25 * table.gap))
    for point, closed, front in trace_lines(table, line, thickness):
        strip = cut_strip(point, sample_height(ground, point), closed, tolerance, kind.piece)
        section = Section(strip, height, thickness, front, to_tint(table.colour), table.seed)
        meshes += kind.build(assets, section)
        shadows += kind.shade(section) if kind.shade is not None else []
        for piece in iterate_pieces(strip):
            if name := kind.label or table.hit:
                row = make_piece_collider(piece, height, thickness, name, kind.friction)
                colliders.append(replace(row, hit=table.hit))
            if kind.shade is None and kind.darkness > 0.0:
                shadows.append(outline_piece(piece, thickness, height, kind.darkness))
    return Structure(merge_meshes(meshes), tuple(colliders), tuple(shadows), label)


def trace_lines(table: WallTable, line: CentreLine, thickness: float) -> Iterator[tuple[FloatArray, bool, float]]:
    """Give the samples of each line of a wall, whether it is closed, and the side of its front (1: left)."""
    if table.points:
        corner = np.array(table.points + (table.points[:1] if table.closed else ()), float)
        pieces = [_sample_straight(a, b) for a, b in itertools.pairwise(corner)]
        yield np.vstack([*pieces, corner[-1:]]), table.closed, 1.0
        return
    for side in (1.0, -1.0):
        if table.side in ("left" if side > 0.0 else "right", "both") or table.offset * side > 0.0:
            for begin, end in table.spans or ((0.0, line.length),):
                whole = not table.spans and line.closed
                reach = end - begin if end > begin else end - begin + line.length
                at = begin + np.linspace(0.0, reach, max(2, math.ceil(reach / SAMPLE) + 1))
                edge = line.measure_widths(at)[0 if side > 0.0 else 1]
                lateral = table.offset if table.offset else side * (edge + table.gap + 0.5 * thickness)
                yield line.offset(at, lateral)[0], whole, -side


def make_piece_collider(piece: Piece, height: float, thickness: float, label: str, friction: float = 0.6) -> Collider:
    """Return the box of a piece, long enough that no wedge stays open where the next one turns away."""
    spare = [0.5 * thickness * math.tan(0.5 * min(abs(bend), 2.4)) for bend in piece.bends]
    shift = 0.5 * (spare[1] - spare[0])
    foot = (piece.middle[0] + shift * math.cos(piece.yaw), piece.middle[1] + shift * math.sin(piece.yaw))
    size = (piece.length + sum(spare), thickness, height + piece.rise + BURIED)
    return make_block((*foot, piece.foot - BURIED), size, piece.yaw, label, friction)


def _sample_straight(begin: FloatArray, end: FloatArray) -> FloatArray:
    count = max(1, math.ceil(float(np.hypot(*(end - begin))) / (5.0 * SAMPLE)))
    return np.asarray(begin + (end - begin) * (np.arange(count) / count)[:, None])
