"""A hall around the track: walls with windows and doors, roof, trusses, lamps; seen from inside only."""

import math
from dataclasses import dataclass, replace

import numpy as np

from donkeysim.core.types import ByteArray
from donkeysim.world.scene import SHADE_CUTOUT, SHADE_TWO_SIDED, SHADE_UNLIT, Mesh
from donkeysim.world.tracks.art import read_picture
from donkeysim.world.tracks.mesh import WHITE, Assets, make_quad, merge_meshes
from donkeysim.world.tracks.paths.path import CentreLine
from donkeysim.world.tracks.structures.panels import make_sign, paint_panel
from donkeysim.world.tracks.structures.structure import Collider, Footprint, Structure, make_block
from donkeysim.world.tracks.tables.checks import to_tint
from donkeysim.world.tracks.tables.room import Door, RoomTable
from donkeysim.world.tracks.track_file import TrackFile

WALL_THICKNESS = 0.2
"""Of the boxes behind the walls' faces [m]."""

BAY = 4.0
"""Wanted length of a bay of wall, and distance of two trusses [m]."""

ROOF_TILE = 4.0
"""Side of the roof's picture [m]."""

TRUSS_DEPTH = 0.5
"""Of a truss below the roof, where the room is high enough [m]."""

DOOR_SIZES = {"roller": (3.0, 3.0), "door": (1.0, 2.0)}
"""Width and height [m]."""

IN_FRONT = 0.01
"""How far doors and signs stand before the wall [m]."""


@dataclass(frozen=True)
class RoomWall:
    """One wall seen from inside.

    Attributes:
        left: Its left end on the floor, x, y [m].
        right: Its right end.
        inward: Unit vector into the room.
    """

    left: tuple[float, float]
    right: tuple[float, float]
    inward: tuple[float, float]

    @property
    def length(self) -> float:
        """From end to end [m]."""
        return math.dist(self.left, self.right)

    def place(self, along: float, height: float, before: float = 0.0) -> tuple[float, float, float]:
        """Return a point at a distance from the left end, above the floor and before the wall [m]."""
        share = along / self.length
        return (
            self.left[0] + share * (self.right[0] - self.left[0]) + before * self.inward[0],
            self.left[1] + share * (self.right[1] - self.left[1]) + before * self.inward[1],
            height,
        )


def build_room(track: TrackFile, line: CentreLine, assets: Assets) -> list[Structure]:
    """Return the hall of a track, or nothing."""
    table = track.room
    if table is None:
        return []
    low_x, low_y, high_x, high_y = find_floor(table, line)
    walls = {
        "north": RoomWall((low_x, high_y), (high_x, high_y), (0.0, -1.0)),
        "east": RoomWall((high_x, high_y), (high_x, low_y), (-1.0, 0.0)),
        "south": RoomWall((high_x, low_y), (low_x, low_y), (0.0, 1.0)),
        "west": RoomWall((low_x, low_y), (low_x, high_y), (1.0, 0.0)),
    }
    floor = track.ground.height
    parts = [_raise_wall(wall, table, name, floor, assets) for name, wall in walls.items()]
    parts += [_hang_door(door, walls[door.wall], table, floor, assets) for door in table.doors]
    if table.sign:
        sign = assets.ensure_textured(make_sign, table.sign)
        width = min(0.4 * walls["north"].length, 1.2 * table.height)
        parts.append(_hang(walls["north"], 0.5, floor + 0.55 * table.height, (width, 0.25 * width), sign))
    parts += _lay_roof(table, (low_x, low_y, high_x, high_y), floor, assets)
    colliders = tuple(
        replace(_make_collider(wall, table.height, floor), hit=getattr(table.hits, side))
        for side, wall in walls.items()
    )
    shadows = tuple(_shade_foot(wall) for wall in walls.values())
    return [Structure(merge_meshes(parts), colliders, shadows, "[room]")]


def find_floor(table: RoomTable, line: CentreLine) -> tuple[float, float, float, float]:
    """Return least x, least y, greatest x, greatest y of the floor [m]."""
    if any(table.box):
        return table.box
    low, high = line.position.min(axis=0) - table.margin, line.position.max(axis=0) + table.margin
    return float(low[0]), float(low[1]), float(high[0]), float(high[1])


def make_bay(walls: str, windows: str) -> ByteArray:
    """Return one bay of a wall, square, with its windows; v = 0 is its top."""
    bay = read_picture(f"bay_{walls}")
    if windows == "none":
        return bay
    panes = read_picture(f"windows_{windows}")
    return np.where(panes[..., 3:] > 0, panes, bay)


def _raise_wall(wall: RoomWall, table: RoomTable, name: str, floor: float, assets: Assets) -> Mesh:
    tint, picture, bays = to_tint(table.colour), getattr(table.pictures, name), 1
    if picture:
        flags = SHADE_UNLIT if table.lit else 0
        material = paint_panel(picture, f"room.pictures.{name}", assets, flags=flags, tint=tint)
    else:
        material = assets.ensure_textured(make_bay, table.walls, table.windows, tint=tint)
        bays = max(1, round(wall.length / min(BAY, table.height * 1.5)))
    top = floor + table.height
    corners = [
        wall.place(0.0, floor),
        wall.place(wall.length, floor),
        wall.place(wall.length, top),
        wall.place(0.0, top),
    ]
    right = bays if bays > 1 else 0.999
    return make_quad(corners, material, [(0.0, 0.999), (right, 0.999), (right, 0.001), (0.0, 0.001)])


def _hang_door(door: Door, wall: RoomWall, table: RoomTable, floor: float, assets: Assets) -> Mesh:
    width, height = DOOR_SIZES[door.kind]
    height = min(height, 0.9 * table.height)
    material = assets.ensure_textured(read_picture, "roller_door" if door.kind == "roller" else "door")
    return _hang(wall, door.at, floor + 0.5 * height, (width, height), material)


def _hang(wall: RoomWall, at: float, middle: float, size: tuple[float, float], material: int) -> Mesh:
    """Return a picture on a wall, kept within its ends."""
    width, height = min(size[0], wall.length), size[1]
    left = min(max(at * wall.length - 0.5 * width, 0.0), wall.length - width)
    low, top = middle - 0.5 * height, middle + 0.5 * height
    corners = [(left, low), (left + width, low), (left + width, top), (left, top)]
    return make_quad(
        [wall.place(x, z, IN_FRONT) for x, z in corners],
        material,
        [(0.0, 0.999), (0.999, 0.999), (0.999, 0.0), (0.0, 0.0)],
    )


def _lay_roof(table: RoomTable, box: tuple[float, float, float, float], floor: float, assets: Assets) -> list[Mesh]:
    """Return the roof seen from below, and trusses across the shorter side of a high room."""
    if table.roof == "none":
        return []
    own = "ceiling" if table.roof == "flat" else "roof"
    cover = paint_panel(table.roof_picture or own, "room.roof_picture", assets, flags=SHADE_UNLIT, tint=WHITE)
    low_x, low_y, high_x, high_y = box
    top = floor + table.height
    tile = ROOF_TILE if table.roof == "truss" else 2.4
    tile = table.roof_tile if table.roof_picture else tile
    corners = [(low_x, low_y, top), (low_x, high_y, top), (high_x, high_y, top), (high_x, low_y, top)]
    roof = make_quad(corners, cover, [((x - low_x) / tile, (y - low_y) / tile) for x, y, _ in corners])
    if table.roof == "flat" or table.height < 3.0 * TRUSS_DEPTH:
        return [roof]
    return [roof, *_span_trusses(box, top, assets)]


def _span_trusses(box: tuple[float, float, float, float], top: float, assets: Assets) -> list[Mesh]:
    steel = assets.ensure_textured(read_picture, "truss", flags=SHADE_CUTOUT | SHADE_TWO_SIDED)
    low, high = np.array(box[:2]), np.array(box[2:])
    long = int(np.argmax(high - low))
    count = max(1, round(float((high - low)[long]) / BAY) - 1)
    fields = max(1, round(float((high - low)[1 - long]) / (2.0 * TRUSS_DEPTH)))
    trusses = []
    for step in np.linspace(low[long], high[long], count + 2)[1:-1]:
        ends = np.array((low, high))
        ends[:, long] = step
        (ax, ay), (bx, by) = ends.tolist()
        corners = [(ax, ay, top - TRUSS_DEPTH), (bx, by, top - TRUSS_DEPTH), (bx, by, top), (ax, ay, top)]
        trusses.append(make_quad(corners, steel, [(0.0, 0.999), (fields, 0.999), (fields, 0.0), (0.0, 0.0)]))
    return trusses


def _make_collider(wall: RoomWall, height: float, floor: float) -> Collider:
    x, y, _ = wall.place(0.5 * wall.length, floor, -0.5 * WALL_THICKNESS)
    yaw = math.atan2(wall.right[1] - wall.left[1], wall.right[0] - wall.left[0])
    size = (wall.length + 2.0 * WALL_THICKNESS, WALL_THICKNESS, height)
    return make_block((x, y, floor), size, yaw, "wall")


def _shade_foot(wall: RoomWall) -> Footprint:
    """Return the darkening where floor and wall meet."""
    corners = [wall.place(0.0, 0.0, 0.15), wall.place(wall.length, 0.0, 0.15)]
    corners += [wall.place(wall.length, 0.0, -0.5), wall.place(0.0, 0.0, -0.5)]
    return Footprint(tuple((x, y) for x, y, _ in corners), 0.0, 0.4)
