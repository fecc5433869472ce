"""What the road leads through: tunnels over stretches of it, and arches (hoops of inflated tube, bridges with a text).

Tunnels have walls, roof and lamps inside, portals, and what is seen from outside; of arches the feet are colliders.
"""

import math
from dataclasses import dataclass

import numpy as np

from donkeysim.core.frames import Vector
from donkeysim.core.types import FloatArray
from donkeysim.world.path_frame import measure_length
from donkeysim.world.scene import SHADE_UNLIT, Ground, Mesh
from donkeysim.world.tracks.art import read_picture
from donkeysim.world.tracks.mesh import Assets, make_box, make_loft, make_mesh, make_quad, merge_meshes, place_mesh
from donkeysim.world.tracks.paths.path import CentreLine
from donkeysim.world.tracks.structures.panels import make_bridge_board
from donkeysim.world.tracks.structures.strip import Strip, iterate_pieces
from donkeysim.world.tracks.structures.structure import Collider, Footprint, Shadow, Structure, make_block, make_post
from donkeysim.world.tracks.structures.walls import make_piece_collider
from donkeysim.world.tracks.tables.checks import to_tint
from donkeysim.world.tracks.tables.path import Point
from donkeysim.world.tracks.tables.structures import ArchTable, TunnelTable
from donkeysim.world.tracks.terrain.ground import sample_height
from donkeysim.world.tracks.track_file import TrackFile

# About a pixel from a car in the middle of the road, 0.6 m away: one of the default camera is 1/60 of the distance.
TOLERANCE = 0.012
"""How far straight pieces may leave their curve [m]."""

LONGEST = 3.0
"""Of a piece of a tunnel [m]."""

LAMP_SPACING = 1.2
"""Between two lamps of a tunnel [m]."""

PORTAL_WING = 0.35
"""How far the face of a portal reaches beyond the walls and above the roof [m]."""

ROCK_RISE = 0.9
"""Height of the rock above a tunnel's roof [m]."""

DARKNESS = 0.95
"""Of the ground inside."""

TUBE = 0.11
"""Thickness of a hoop's tube [m]."""

HOOP_PIECES = 10

PIER = (0.30, 0.16)
"""Length along the road and width of a bridge's piers [m]."""

DECK = (0.34, 0.22)
"""Length along the road and height of a bridge's boards [m]."""


@dataclass(frozen=True)
class Tube:
    """A tunnel cut into straight pieces.

    Attributes:
        along: Distance of its sections from its beginning [m], shape [n].
        inner: Feet of its left and right wall inside [m], shape [2, n, 3].
        outer: The same outside.
        left: Unit vectors to the left at its sections, shape [n, 2].
    """

    along: FloatArray
    inner: FloatArray
    outer: FloatArray
    left: FloatArray


def build_tunnels(track: TrackFile, line: CentreLine, ground: Ground, assets: Assets) -> list[Structure]:
    """Return all tunnels of a track, each table's in one structure."""
    structures = []
    for number, table in enumerate(track.tunnels, start=1):
        meshes: list[Mesh] = []
        colliders: list[Collider] = []
        shadows: list[Footprint] = []
        for begin, end in table.spans:
            tube = cut_tube(table, line, ground, begin, end)
            meshes += [*_line_inside(tube, table, assets), *_cover_outside(tube, table, assets)]
            colliders += _make_colliders(tube, table)
            shadows += _darken(tube, table)
        structures.append(Structure(merge_meshes(meshes), tuple(colliders), tuple(shadows), f"[[tunnels]] {number}"))
    return structures


def cut_tube(table: TunnelTable, line: CentreLine, ground: Ground, begin: float, end: float) -> Tube:
    """Return the sections of a tunnel from one place along the path to another."""
    reach = end - begin if end > begin or not line.closed else end - begin + line.length
    samples = begin + np.linspace(0.0, reach, max(2, math.ceil(reach / 0.02)))
    bend = float(np.abs(line.curvature[line.find_sample(samples)[1]]).max())
    step = min(LONGEST, math.sqrt(8.0 * TOLERANCE / max(bend, 1e-6)))
    at = begin + np.linspace(0.0, reach, max(2, math.ceil(reach / step) + 1))
    width_left, width_right = line.measure_widths(at)
    rows = []
    for spare in (table.gap, table.gap + table.thickness):
        feet = []
        for lateral in (width_left + spare, -width_right - spare):
            flat, _ = line.offset(at, lateral)
            feet.append(np.column_stack((flat, sample_height(ground, flat))))
        rows.append(np.array(feet))
    _, yaw = line.locate(at)
    return Tube(at - begin, rows[0], rows[1], np.stack((-np.sin(yaw), np.cos(yaw)), axis=1))


def lay_band(lower: FloatArray, upper: FloatArray, u: FloatArray, v: tuple[float, float], material: int) -> Mesh:
    """Return the surface between two lines of points; the lower one runs from left to right seen from its front.

    Args:
        lower: [m], shape [n, 3].
        upper: [m], shape [n, 3].
        u: Of the points, shape [n].
        v: At the lower and at the upper line.
    """
    count = len(lower)
    vertex = np.concatenate((lower, upper))
    uv = np.concatenate((np.column_stack((u, np.full(count, v[0]))), np.column_stack((u, np.full(count, v[1])))))
    first = np.arange(count - 1)
    triangle = np.concatenate(
        (np.stack((first, first + 1, first + 1 + count), 1), np.stack((first, first + 1 + count, first + count), 1))
    )
    return make_mesh(vertex, uv, triangle, material)


def _lift(feet: FloatArray, height: float) -> FloatArray:
    return np.asarray(feet + np.array((0.0, 0.0, height)))


def _line_inside(tube: Tube, table: TunnelTable, assets: Assets) -> list[Mesh]:
    """Return walls and roof seen from inside, as dark as the lamps leave them."""
    walls = assets.ensure_textured(read_picture, "tunnel_wall", flags=SHADE_UNLIT)
    roof = assets.ensure_textured(read_picture, "tunnel_roof", flags=SHADE_UNLIT)
    left, right = tube.inner
    left_top, right_top = _lift(left, table.height), _lift(right, table.height)
    u = tube.along * (max(1, round(tube.along[-1] / LAMP_SPACING)) / tube.along[-1])
    return [
        lay_band(_lift(left, -0.02), left_top, u, (0.99, 0.0), walls),
        lay_band(right_top, _lift(right, -0.02), u, (0.0, 0.99), walls),
        lay_band(left_top, right_top, u, (0.0, 0.99), roof),
    ]


def _cover_outside(tube: Tube, table: TunnelTable, assets: Assets) -> list[Mesh]:
    """Return outer walls and roof, and the faces of both portals."""
    concrete = assets.ensure_textured(read_picture, "concrete")
    skin = concrete if table.kind == "concrete" else assets.ensure_textured(read_picture, "rock_face")
    left, right = tube.outer
    high = table.height + table.thickness
    u = tube.along / 1.6
    left_top, right_top = _lift(left, high), _lift(right, high)
    parts = [
        lay_band(left_top, _lift(left, -0.05), u, (0.0, 0.85), skin),
        lay_band(_lift(right, -0.05), right_top, u, (0.85, 0.0), skin),
    ]
    if table.kind == "rock":
        crest = 0.5 * (left + right) + np.array((0.0, 0.0, high + ROCK_RISE))
        crest[:, 2] += 0.12 * np.sin(tube.along * 2.3)
        parts += [lay_band(crest, left_top, u, (0.0, 0.7), skin), lay_band(right_top, crest, u, (0.7, 0.0), skin)]
    else:
        parts.append(lay_band(right_top, left_top, u, (0.0, 0.85), skin))
    parts += [_face_portal(tube, table, end, concrete) for end in (0, -1)]
    return parts


def _face_portal(tube: Tube, table: TunnelTable, end: int, material: int) -> Mesh:
    """Return the face around one mouth: two wings and a lintel, looking out."""
    across = np.append(tube.left[end], 0.0)
    left, right = tube.inner[0, end], tube.inner[1, end]
    far_left = tube.outer[0, end] + PORTAL_WING * across
    far_right = tube.outer[1, end] - PORTAL_WING * across
    rise = table.height + table.thickness + (ROCK_RISE if table.kind == "rock" else PORTAL_WING)
    if end == -1:
        left, right, far_left, far_right = right, left, far_right, far_left
    # Seen from outside before the entrance, the road's left is on the left.
    sides = [(far_left, left, 0.0, rise), (left, right, table.height, rise), (right, far_right, 0.0, rise)]
    quads = []
    for start, stop, low, high in sides:
        foot = low or -0.05
        corners = [_point(start, foot), _point(stop, foot), _point(stop, high), _point(start, high)]
        width = float(np.hypot(*(stop - start)[:2]))
        v = (0.86 - 0.8 * low / rise, 0.06)
        quads.append(make_quad(corners, material, ((0.0, v[0]), (width / 1.4, v[0]), (width / 1.4, v[1]), (0.0, v[1]))))
    return merge_meshes(quads)


def _point(foot: FloatArray, height: float) -> tuple[float, float, float]:
    return float(foot[0]), float(foot[1]), float(foot[2]) + height


def _make_colliders(tube: Tube, table: TunnelTable) -> list[Collider]:
    """Return a box for every piece of both walls."""
    colliders = []
    for side in range(2):
        middle = 0.5 * (tube.inner[side] + tube.outer[side])
        strip = Strip(middle[:, :2], middle[:, 2], measure_length(middle), False)
        colliders += [
            make_piece_collider(piece, table.height, table.thickness, "tunnel") for piece in iterate_pieces(strip)
        ]
    return colliders


def _darken(tube: Tube, table: TunnelTable) -> list[Footprint]:
    """Return the darkness inside, and the shadow outside."""
    shadows = []
    for n in range(len(tube.along) - 1):
        before, after = max(0, n - 1) if n else n, n + 1
        for feet, height, darkness in ((tube.inner, 0.0, DARKNESS), (tube.outer, table.height, 0.5)):
            corners = (feet[0, before], feet[0, after], feet[1, after], feet[1, before])
            shadows.append(Footprint(tuple((float(x), float(y)) for x, y, _ in corners), height, darkness))
    return shadows


def build_arches(track: TrackFile, line: CentreLine, ground: Ground, assets: Assets) -> list[Structure]:
    """Return all arches of a track."""
    build = {"hoop": build_hoop, "bridge": build_bridge}
    return [
        build[table.kind](table, f"[[arches]] {number}", place, line, ground, assets)
        for number, table in enumerate(track.arches, start=1)
        for place in table.at
    ]


def build_hoop(
    table: ArchTable, label: str, place: float, line: CentreLine, ground: Ground, assets: Assets
) -> Structure:
    """Return a striped arch of inflated tube."""
    feet, yaw, middle = _find_feet(table, place, line, ground, 0.5 * TUBE)
    half = 0.5 * math.dist(*feet)
    stripes = assets.ensure_textured(read_picture, "stripes")
    angle = np.linspace(0.0, math.pi, HOOP_PIECES + 1)
    crown = table.height + 0.5 * TUBE
    spine = np.stack((half * np.cos(angle), crown * np.sin(angle) ** 0.7), axis=1)
    ring = (np.arange(5) + 0.5) * (2.0 * math.pi / 5.0)
    sections = []
    for turn, (y, z) in zip(angle, spine, strict=True):
        out = np.array((0.0, math.cos(turn), math.sin(turn)))
        ahead = np.array((1.0, 0.0, 0.0))
        ring_points = 0.5 * TUBE * (np.cos(ring)[:, None] * out + np.sin(ring)[:, None] * ahead)
        sections.append(np.array((0.0, y, z)) + ring_points)
    mesh = place_mesh(make_loft(sections, stripes, capped=False), middle, yaw)
    colliders = tuple(make_post((*post, middle[2]), 0.5 * TUBE, 0.6 * crown, "hoop") for post in feet)
    return Structure(mesh, colliders, tuple(Shadow(post, 0.08, 0.1, 0.45) for post in feet), label)


def build_bridge(
    table: ArchTable, label: str, place: float, line: CentreLine, ground: Ground, assets: Assets
) -> Structure:
    """Return two piers with boards between them, a text on both sides."""
    feet, yaw, middle = _find_feet(table, place, line, ground, 0.5 * PIER[1])
    half = 0.5 * math.dist(*feet)
    board = assets.ensure_textured(make_bridge_board, table.text, table.colour)
    steel = assets.ensure_plain((0.50, 0.52, 0.55))
    paint = assets.ensure_plain(to_tint(table.colour))
    deep, tall = DECK
    wide, low, x = half + 0.5 * PIER[1], table.height, 0.5 * deep
    parts: list[Mesh] = [make_box((deep, 2.0 * wide, 0.03), (0.0, 0.0, low + 0.015), steel)]
    for side in (-1.0, 1.0):
        corners = [(side * x, -side * wide, low), (side * x, side * wide, low)]
        corners += [(side * x, side * wide, low + tall), (side * x, -side * wide, low + tall)]
        parts.append(make_quad(corners, board))
        parts.append(make_quad([(cx - side * 0.01, cy, cz) for cx, cy, cz in corners[::-1]], steel))
        parts.append(make_box((*PIER, low), (0.0, side * half, 0.5 * low), paint))
    mesh = place_mesh(merge_meshes(parts), middle, yaw)
    colliders = tuple(make_block((*pier, middle[2]), (*PIER, low), yaw, "bridge") for pier in feet)
    return Structure(mesh, colliders, tuple(Shadow(pier, 0.16, 0.2, 0.5) for pier in feet), label)


def _find_feet(
    table: ArchTable, place: float, line: CentreLine, ground: Ground, spare: float
) -> tuple[list[Point], float, Vector]:
    """Return the middles of the left and right foot, x, y [m], the path's direction [rad], and the ground's middle."""
    width_left, width_right = line.measure_widths([place])
    beside = table.gap + spare
    feet, yaw = line.offset([place, place], [width_left[0] + beside, -width_right[0] - beside])
    middle = feet.mean(axis=0)
    x, y = middle.tolist()
    return [(a, b) for a, b in feet.tolist()], float(yaw[0]), (x, y, float(sample_height(ground, middle[None])[0]))
