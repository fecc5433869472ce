"""What spans the road to drive under: hoops of inflated tube, bridges with a text; their feet are colliders."""

import math

import numpy as np

from donkeysim.core.frames import Vector
from donkeysim.world.scene import Ground, Mesh
from donkeysim.world.tracks.art import read_picture
from donkeysim.world.tracks.assets import Assets
from donkeysim.world.tracks.mesh import make_box, make_loft, make_quad, merge_meshes, place_mesh
from donkeysim.world.tracks.paths.path import CentreLine
from donkeysim.world.tracks.structures.panels import make_bridge_board
from donkeysim.world.tracks.structures.structure import Shadow, Structure, make_block, make_post
from donkeysim.world.tracks.tables.checks import to_tint
from donkeysim.world.tracks.tables.path import Point
from donkeysim.world.tracks.tables.structures import ArchTable
from donkeysim.world.tracks.terrain.ground import sample_height
from donkeysim.world.tracks.track_file import TrackFile

TUBE = 0.11
"""Thickness of a hoop's tube [m]."""

HOOP_PIECES = 10

PIER = (0.30, 0.16)
"""Length along the road and width of a bridge's piers [m]."""

DECK = (0.34, 0.22)
"""Length along the road and height of a bridge's boards [m]."""


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
