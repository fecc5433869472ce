"""Draws a place from the ranges of a track file's [random]: outline, road, lines, ground, borders, things and light.

What is drawn is a `TrackFile` like any other, so nothing that builds, drives or draws a place knows of it. Each part
has random numbers of its own: a further choice of colours moves no road.
"""

import math
from dataclasses import replace
from typing import Any

from donkeysim.core.draws import Draws
from donkeysim.world.specs import TURN_LEAST, TURN_MOST, RoadSpec
from donkeysim.world.tracks.tables.checks import Colour
from donkeysim.world.tracks.tables.ground import GroundTable, Patch
from donkeysim.world.tracks.tables.light import OPEN_SKIES, LightTable
from donkeysim.world.tracks.tables.path import PathTable, RandomWalk
from donkeysim.world.tracks.tables.props import PropTable
from donkeysim.world.tracks.tables.random import Floor, RandomTable
from donkeysim.world.tracks.tables.road import Marking, RoadTable
from donkeysim.world.tracks.tables.room import RoomTable
from donkeysim.world.tracks.tables.start import StartTable
from donkeysim.world.tracks.tables.structures import WallTable
from donkeysim.world.tracks.track_file import TrackFile

ROOM_WALLS = ("metal", "brick", "plaster", "plaster", "concrete")
MARGIN = 3.0
"""How far the ground reaches beyond the path's box, and the walls of a room at most [m]."""
TEXEL = 0.015
"""Of the painted ground [m]: coarser than usual, as learning has a hundred such places in memory."""
LARGE = 1.5
"""Size from which the texels are twice as large."""
SCALED = ("length", "width", "line_width", "dash")
"""Ranges that grow with a road's size."""
BORDER_GAP, BORDER_EVERY = 0.1, (0.3, 0.9)
"""Between the road's edge and what stands along it, and between the cones or tyres of a row [m]."""


def draw_place(track: TrackFile, table: RandomTable, road: RoadSpec) -> TrackFile:
    """Return the place of a seed.

    Args:
        track: Its file; what the table says nothing of stays as it is there.
        table: Ranges and choices.
        road: Seed, and how much livelier than drawn the path turns. Its style counts for nothing.
    """
    size = draw_size(table, road.seed)
    scaled: dict[str, Any] = {name: tuple(size * part for part in getattr(table, name)) for name in SCALED}
    table = replace(table, **scaled)
    place, half = Draws(road.seed, "place"), 0.5 * _draw(Draws(road.seed, "width"), table.width)
    floor = place.choose(table.floors)
    border = place.choose(table.borders)
    return replace(
        track,
        path=_draw_path(table, road),
        road=_draw_road(Draws(road.seed, "road"), table, half, is_bare=border == "none"),
        ground=_draw_ground(Draws(road.seed, "ground"), floor, TEXEL if size < LARGE else 2.0 * TEXEL),
        walls=_draw_walls(Draws(road.seed, "walls")) if border == "boards" else (),
        props=(*_draw_border(Draws(road.seed, "border"), border, half), *_draw_things(road.seed, table, half)),
        room=_draw_room(Draws(road.seed, "room")) if floor.is_inside else None,
        start=StartTable(lines=(0.25,), silent=True, rows=0.625, slots=8),
        light=_draw_light(Draws(road.seed, "light"), table, floor.is_inside),
    )


def draw_size(table: RandomTable, seed: int) -> float:
    """Return how many times as large as its table says a place is."""
    low, high = table.size
    return low * math.exp(math.log(high / low) * Draws(seed, "size").draw_uniform())


def _draw(draws: Draws, bounds: tuple[float, float]) -> float:
    return draws.draw_uniform(*bounds)


def _draw_path(table: RandomTable, road: RoadSpec) -> PathTable:
    draws = Draws(road.seed, "outline")
    low, high = table.turn
    factor = low * (high / low) ** draws.draw_uniform() if low else draws.draw_uniform(low, high)
    factor = min(max(factor, TURN_LEAST), TURN_MOST)
    length = round(_draw(draws, table.length), 2)
    return PathTable(length=length, walk=RandomWalk(road.seed, road.turn, factor=round(factor, 3)))


def _draw_road(draws: Draws, table: RandomTable, half: float, is_bare: bool) -> RoadTable:
    """Return the road; where nothing stands along it, a line or its own surface shows where it is."""
    is_printed = draws.draw_uniform() < table.printed
    lines = draws.choose(table.lines)
    if is_bare and not is_printed and lines in ("none", "middle"):
        lines = "both"
    width, colour = round(_draw(draws, table.line_width), 4), draws.choose(table.line_colours)
    inset, worn = round(draws.draw_uniform(0.5, 1.6) * width, 4), draws.draw_uniform(0.0, 0.35)
    edges: Any = ("left", "right") if lines.startswith("both") else (lines,) if lines in ("left", "right") else ()
    dashes = _draw_dashes(draws, table) if draws.draw_uniform() < 0.15 else {}
    markings = [Marking(inset, width, colour, edge=edge, worn=worn, **dashes) for edge in edges]
    if lines.endswith("middle"):
        dashes = _draw_dashes(draws, table) if draws.draw_uniform() < 0.67 else {}
        markings.append(Marking(0.0, width, draws.choose(table.middle_colours), edge="middle", worn=worn, **dashes))
    surface: dict[str, Any] = {"texture": "none", "edge": 0.0}
    if is_printed:
        surface = {
            "texture": "asphalt",
            "colour": _shade(draws, draws.choose(table.road_colours), 0.12),
            "contrast": draws.draw_uniform(0.0, 1.2),
            "wear": draws.draw_uniform(0.0, 0.8),
            "edge": draws.choose((0.0, 0.0, 0.03)),
        }
    return RoadTable(round(half, 4), round(half, 4), markings=tuple(markings), obstacles=True, **surface)


def _draw_dashes(draws: Draws, table: RandomTable) -> dict[str, Any]:
    dash = round(_draw(draws, table.dash), 3)
    return {"dash": dash, "gap": round(dash * draws.draw_uniform(0.5, 2.0), 3)}


def _draw_ground(draws: Draws, floor: Floor, texel: float) -> GroundTable:
    """Return the ground, with mats and spots of other colours lying about."""
    colour = _shade(draws, draws.choose(floor.colours), 0.2) if floor.colours else None
    patches = tuple(
        Patch(
            size=(round(draws.draw_uniform(0.3, 2.5), 2), round(draws.draw_uniform(0.2, 1.5), 2)),
            colour=(draws.draw_index(256), draws.draw_index(256), draws.draw_index(256)),
            at=(round(draws.draw_uniform(-8.0, 8.0), 2), round(draws.draw_uniform(-8.0, 8.0), 2)),
            yaw=round(draws.draw_uniform(0.0, 180.0), 1),
            cover=round(draws.draw_uniform(0.1, 0.9), 2),
        )
        for _ in range(draws.draw_index(7))
    )
    return GroundTable(texture=floor.texture, colour=colour, margin=MARGIN, patches=patches, texel=texel)


def _draw_walls(draws: Draws) -> tuple[WallTable, ...]:
    """Return boards along both sides of the road."""
    kind: Any = draws.choose(("board", "wall", "wall"))
    height, shade = round(draws.draw_uniform(0.12, 0.5), 3), 160 + draws.draw_index(96)
    colour = _shade(draws, (shade, shade, shade), 0.15)
    gap = round(draws.draw_uniform(0.0, 0.15), 3)
    return tuple(WallTable(kind, side=side, gap=gap, height=height, colour=colour) for side in ("left", "right"))


def _draw_border(draws: Draws, border: str, half: float) -> tuple[PropTable, ...]:
    """Return rows of cones or tyres along both sides of the road."""
    if border not in ("cones", "tyres"):
        return ()
    every, scale = round(_draw(draws, BORDER_EVERY), 3), round(draws.draw_uniform(0.5, 1.0), 2)
    kind: Any = "cone" if border == "cones" else "tyre"
    away = half + BORDER_GAP + (0.06 if border == "cones" else 0.2) * scale
    return tuple(
        PropTable(kind=kind, every=every, offset=round(side * away, 3), scale=scale, fixed=border == "cones")
        for side in (1.0, -1.0)
    )


def _draw_things(seed: int, table: RandomTable, half: float) -> tuple[PropTable, ...]:
    """Return things scattered beside the road."""
    draws = Draws(seed, "things")
    if not table.things:
        return ()
    count = round(_draw(draws, table.thing_count))
    kinds: dict[Any, int] = {}
    for _ in range(count):
        kind = draws.choose(table.things)
        kinds[kind] = kinds.get(kind, 0) + 1
    near = 0.45 + 0.1 * half
    return tuple(
        PropTable(
            kind=kind,
            scatter=amount,
            at_most=True,
            near=near,
            far=MARGIN,
            spacing=0.1,
            seed=1 + draws.draw_index(1 << 20),
        )
        for kind, amount in kinds.items()
    )


def _draw_room(draws: Draws) -> RoomTable | None:
    walls: Any = draws.choose(ROOM_WALLS)
    windows: Any = draws.choose(("none", "high", "large"))
    roof: Any = draws.choose(("truss", "flat", "flat"))
    colour = _shade(draws, (225, 225, 225), 0.25)
    height = round(draws.draw_uniform(2.4, 6.0), 2)
    return RoomTable(margin=MARGIN, height=height, walls=walls, windows=windows, roof=roof, colour=colour)


def _draw_light(draws: Draws, table: RandomTable, is_inside: bool) -> LightTable:
    sun, ambient, warmth = _draw(draws, table.sun), _draw(draws, table.ambient), _draw(draws, table.warmth)
    tint = (math.sqrt(warmth), 1.0, 1.0 / math.sqrt(warmth))
    sky: Any = "none" if is_inside else draws.choose(OPEN_SKIES)
    return LightTable(
        sun_azimuth=round(draws.draw_uniform(-180.0, 180.0), 1),
        sun_height=round(draws.draw_uniform(60.0, 88.0) if is_inside else draws.draw_uniform(18.0, 75.0), 1),
        sun=tuple(round(sun * part, 3) for part in tint),  # type: ignore[arg-type]
        ambient=tuple(round(ambient * part, 3) for part in tint),  # type: ignore[arg-type]
        fog=_shade(draws, (205, 205, 205), 0.15),
        fog_density=round(draws.draw_uniform(0.0, 0.02), 4),
        sky=sky,
    )


def _shade(draws: Draws, colour: Colour, spread: float) -> Colour:
    """Return a colour, each channel changed by up to a share of itself."""
    return tuple(min(255, round(part * draws.draw_uniform(1.0 - spread, 1.0 + spread))) for part in colour)  # type: ignore[return-value]
