"""Things that stand about: their meshes, what they are to physics, and the shadow they leave.

The kinds are tables of `art/props.toml`. Still things become part of the static mesh and colliders; movable ones become
models.
"""

import dataclasses
from dataclasses import dataclass
from functools import partial
from typing import Literal

from donkeysim.core.config import read_dataclass, read_toml
from donkeysim.world.tracks.art import build_mesh
from donkeysim.world.tracks.mesh import Assets
from donkeysim.world.tracks.props.kind import Movable, PropKind, stand_on_block, stand_on_post
from donkeysim.world.tracks.structures.structure import Shadow, Structure, make_post
from donkeysim.world.tracks.tables.props import PROPS_FILE


@dataclass(frozen=True)
class ShadowTable:
    """The shadow of a still kind: of a box as high as it is, a round spot of a cylinder, of the base over posts.

    Attributes:
        darkness: Share of light taken, 0 to 1.
        radius: Of a spot [m].
        height: Of a spot's middle; of what casts the shadow over posts [m].
        holes: Share of a spot through which the sun shines, 0 to 1.
    """

    darkness: float
    radius: float = 0.0
    height: float = 0.0
    holes: float = 0.0


@dataclass(frozen=True)
class KindTable:
    """What the index says of a kind; `PropKind` and `Movable` have the same in other words.

    Attributes:
        forms: How many there are.
        radius: Of the circle around its base; of a round hull [m].
        hit: What `hit` says.
        hull: What it is to physics; a cone moves.
        height: Of the hull, of one form after another by turns [m].
        base: Length and width [m].
        feet: x, y of posts [m].
        foot_radius: Of a post [m].
        friction: Of its surface [-].
        shadow: Of what stands still.
        spread: Greatest change of size, as a share, from one scattered thing to the next.
        mass: On the original's scale, where a car weighs 50 [kg].
        radius_top: Of a cone [m].
        centre_of_mass: Above the base [m].
    """

    forms: int
    radius: float
    hit: str
    hull: Literal["cylinder", "box", "posts", "cone"]
    height: tuple[float, ...]
    base: tuple[float, float] = (0.0, 0.0)
    feet: tuple[tuple[float, float], ...] = ()
    foot_radius: float = 0.0
    friction: float = 0.6
    shadow: ShadowTable = ShadowTable(0.0)
    spread: float = 0.0
    mass: float = 0.0
    radius_top: float = 0.0
    centre_of_mass: float = 0.0


def read_kinds() -> dict[str, PropKind]:
    """Return every kind of the package, in the index's order."""
    tables = read_toml(PROPS_FILE)
    return {name: _make_kind(name, read_dataclass(KindTable, tables[name], PROPS_FILE, name)) for name in tables}


def _make_kind(name: str, table: KindTable) -> PropKind:
    body = None
    if table.hull == "cone":
        size = (table.radius, table.radius_top, table.height[0], table.centre_of_mass)
        body = Movable(table.hit, table.mass, *size, table.friction)
    return PropKind(partial(_build, name, table), table.forms, table.radius, body, table.spread)


def _build(name: str, table: KindTable, assets: Assets, form: int) -> Structure:
    mesh = build_mesh(f"props/{name}", form, assets)
    if table.hull == "cone":
        return Structure(mesh)
    high, shade = table.height[form % len(table.height)], table.shadow
    if table.hull == "box":
        return stand_on_block(mesh, (*table.base, high), table.hit, shade.darkness, table.friction)
    if table.hull == "cylinder":
        spot = Shadow((0.0, 0.0), shade.radius, shade.height, shade.darkness, shade.holes)
        return stand_on_post(mesh, table.radius, high, table.hit, spot, table.friction)
    posts = [make_post((x, y, 0.0), table.foot_radius, high, table.hit, table.friction) for x, y in table.feet]
    roof = stand_on_block(mesh, (*table.base, shade.height), table.hit, shade.darkness)
    return dataclasses.replace(roof, colliders=tuple(posts))


PROP_KINDS = read_kinds()
"""Every kind that a track file may name."""
