"""Flat pictures that stand, hang or lie about, and those with a text that the track's file gives."""

import math
from dataclasses import replace

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from donkeysim.core.types import ByteArray
from donkeysim.world.scene import SHADE_CUTOUT, SHADE_TWO_SIDED, SHADE_UNLIT, Ground, Mesh
from donkeysim.world.tracks.art import read_picture, require_picture
from donkeysim.world.tracks.mesh import Assets, make_quad, merge_meshes
from donkeysim.world.tracks.structures.structure import Collider, Footprint, Structure, make_block
from donkeysim.world.tracks.tables.checks import to_tint
from donkeysim.world.tracks.tables.structures import PanelTable
from donkeysim.world.tracks.terrain.ground import sample_height
from donkeysim.world.tracks.track_file import TrackFile

THICKNESS = 0.02
"""Of what a car hits of a panel [m]; it stands behind the picture."""

DARKNESS = 0.3
"""Of the shadow at the foot of what stands on the ground."""

_RING = ((-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0))

FINE = 4
"""Boards and signs are drawn this many times larger, so that edges come out smooth."""


def build_panels(track: TrackFile, ground: Ground, assets: Assets) -> list[Structure]:
    """Return the panels of a track, each table's in one structure.

    Raises:
        SceneError: There is no such picture.
    """
    return [_build_table(table, number, ground, assets) for number, table in enumerate(track.panels)]


def paint_panel(picture: str, key: str, assets: Assets, *, flags: int = 0, tint: tuple[float, float, float]) -> int:
    """Return the material of a picture that a track file names.

    Raises:
        SceneError: There is no such picture; `key` says where the file names it.
    """
    require_picture(picture, key)
    return assets.ensure_textured(read_picture, picture, flags=flags, tint=tint)


def _build_table(table: PanelTable, number: int, ground: Ground, assets: Assets) -> Structure:
    chosen = ((table.cutout, SHADE_CUTOUT), (table.two_sided, SHADE_TWO_SIDED), (table.unlit, SHADE_UNLIT))
    flags = sum(flag for wanted, flag in chosen if wanted)
    material = paint_panel(table.picture, f"panels[{number}].picture", assets, flags=flags, tint=to_tint(table.colour))
    name = f"[[panels]] {number + 1} ({table.name})"
    if table.points:
        return _build_line(table, ground, material, name)
    foot = sample_height(ground, np.array([place[:2] for place in table.places]))
    meshes: list[Mesh] = []
    colliders: list[Collider] = []
    shadows: list[Footprint] = []
    for (x, y, turn, *base), height in zip(table.places, foot.tolist(), strict=True):
        yaw, low = math.radians(turn), height + (base[0] if base else 0.0)
        meshes.append(_stand(table, (x, y, low), yaw, material))
        behind = (x - 0.5 * THICKNESS * math.cos(yaw), y - 0.5 * THICKNESS * math.sin(yaw), low)
        if table.hit:
            size = (THICKNESS, table.size[0], table.size[1])
            colliders.append(replace(make_block(behind, size, yaw, table.name), hit=table.hit))
        if not table.tilt and not (base and base[0]) and not table.unlit:
            shadows.append(_shade(behind, yaw, table.size[0]))
    return Structure(merge_meshes(meshes), tuple(colliders), tuple(shadows), name)


def _build_line(table: PanelTable, ground: Ground, material: int, name: str) -> Structure:
    """Return a picture that stands along a line, a quad and what a car hits from each point to the next."""
    points = np.array(table.points)
    foot = np.column_stack([points, sample_height(ground, points)])
    along = np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(points, axis=0).T))])
    u = 0.999 * (1.0 - along / along[-1])
    up, bottom = np.array((0.0, 0.0, table.height)), 0.999
    meshes: list[Mesh] = []
    colliders: list[Collider] = []
    for begin, end, right, left in zip(foot[:-1], foot[1:], u[:-1], u[1:], strict=True):
        corners = [tuple(corner.tolist()) for corner in (end, begin, begin + up, end + up)]
        corners_uv = [(left, bottom), (right, bottom), (right, 0.0), (left, 0.0)]
        meshes.append(make_quad(corners, material, corners_uv))
        if table.hit:
            way = end - begin
            length, yaw = math.hypot(way[0], way[1]), math.atan2(way[0], -way[1])  # the front's
            middle = 0.5 * (begin + end) - 0.5 * THICKNESS * np.array((math.cos(yaw), math.sin(yaw), 0.0))
            block = make_block(tuple(middle.tolist()), (THICKNESS, length, table.height), yaw, table.name)
            colliders.append(replace(block, hit=table.hit))
    return Structure(merge_meshes(meshes), tuple(colliders), (), name)


def _stand(table: PanelTable, foot: tuple[float, float, float], yaw: float, material: int) -> Mesh:
    """Return one panel on the middle of its lower edge."""
    half, lean = 0.5 * table.size[0], math.radians(table.tilt)
    along = np.array((-math.sin(yaw), math.cos(yaw), 0.0))
    back = math.sin(lean) * np.array((-math.cos(yaw), -math.sin(yaw), 0.0))
    up = table.size[1] * (back + np.array((0.0, 0.0, math.cos(lean))))
    low = np.array(foot)
    corners = [low - half * along, low + half * along, low + half * along + up, low - half * along + up]
    across, high = table.repeat
    corners_uv = [(0.0, high - 0.001), (across - 0.001, high - 0.001), (across - 0.001, 0.0), (0.0, 0.0)]
    return make_quad([(float(x), float(y), float(z)) for x, y, z in corners], material, corners_uv)


def _shade(foot: tuple[float, float, float], yaw: float, width: float) -> Footprint:
    """Return the darkening where a panel stands on the ground."""
    along, ahead = np.array((-math.sin(yaw), math.cos(yaw))), np.array((math.cos(yaw), math.sin(yaw)))
    corners = [np.array(foot[:2]) + sx * 0.5 * width * along + sy * 0.06 * ahead for sx, sy in _RING]
    return Footprint(tuple((float(x), float(y)) for x, y in corners), 0.0, DARKNESS)


def make_banner(text: str) -> ByteArray:
    """Return yellow letters on dark cloth between two chequered ends."""
    width, height = 512, 64
    picture = Image.new("RGB", (width, height), (26, 32, 44))
    draw = ImageDraw.Draw(picture)
    square = height // 4
    for row in range(4):
        for column in range(6):
            tone = (240, 240, 236) if (row + column) % 2 else (18, 18, 20)
            for left in (column * square, width - (column + 1) * square):
                draw.rectangle((left, row * square, left + square - 1, (row + 1) * square - 1), fill=tone)
    font = ImageFont.load_default(size=0.72 * height)
    draw.text((width / 2, height / 2), text, fill=(250, 214, 60), font=font, anchor="mm", stroke_width=1)
    return np.array(picture.convert("RGBA"))


def make_bridge_board(text: str, colour: tuple[int, int, int]) -> ByteArray:
    """Return a bridge's long board with a text."""
    ink = (26, 28, 32) if sum(colour) > 380 else (246, 246, 242)
    picture = Image.new("RGB", (512 * FINE, 64 * FINE), colour)
    draw = ImageDraw.Draw(picture)
    for top, bottom in ((0, 3), (61, 64)):
        draw.rectangle((0, FINE * top, FINE * 512, FINE * bottom), fill=ink)
    return _write(picture, text, ink, 44.0, 12.0, 490.0)


def make_sign(text: str) -> ByteArray:
    """Return large letters on a dark board, four times as wide as high."""
    picture = Image.new("RGB", (512 * FINE, 128 * FINE), (28, 58, 92))
    frame = (6 * FINE, 6 * FINE, 506 * FINE, 122 * FINE)
    ImageDraw.Draw(picture).rectangle(frame, outline=(230, 232, 234), width=3 * FINE)
    return _write(picture, text, (244, 244, 240), 84.0, 20.0, 470.0)


def _write(
    picture: Image.Image, text: str, ink: tuple[int, int, int], size: float, least: float, longest: float
) -> ByteArray:
    """Return a picture with a text about its middle, in letters made smaller down to a least size [texel]."""
    draw = ImageDraw.Draw(picture)
    while size > least and draw.textlength(text, ImageFont.load_default(size * FINE)) > longest * FINE:
        size *= 0.9
    middle = (0.5 * picture.width, 0.5 * picture.height)
    draw.text(middle, text, fill=ink, font=ImageFont.load_default(size * FINE), anchor="mm")
    return np.array(picture.reduce(FINE).convert("RGBA"))
