"""Kinds of walls: what each looks like, a cross section swept along a strip, as a row of `WALL_KINDS`."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from donkeysim.world.scene import SHADE_CUTOUT, SHADE_TWO_SIDED, Mesh
from donkeysim.world.tracks.art import read_picture
from donkeysim.world.tracks.mesh import Assets, make_box, make_mesh, place_mesh
from donkeysim.world.tracks.structures.strip import (
    Profile,
    Strip,
    cap_profile,
    iterate_pieces,
    skin_strip,
    sweep_profile,
)
from donkeysim.world.tracks.structures.structure import Shadow

TOLERANCE = 0.008
"""How far a straight piece of most walls may leave its curve [m]."""

LONGEST = 6.0
"""Of a straight piece [m]."""

BURIED = 0.05
"""How far walls reach into uneven ground [m]."""

DARK_WIRE = (0.53, 0.53, 0.54)
"""Tint of wire mesh that is painted."""

CANOPY = 0.85
"""How far the crowns of a wood hang out before its edge, as a share of its height."""

WOOD_SPOTS, WOOD_DARK, WOOD_HOLES = 2.8, 0.42, 0.5
"""Shadows of crowns to a length as great as its height; how dark they are, and
the share of them that the sun shines through."""


@dataclass(frozen=True)
class Section:
    """A strip that is to become a wall of a size.

    Attributes:
        strip: Its line.
        height: [m]
        thickness: [m]
        front: 1: its front is to the left of the line, -1: to the right.
        tint: Of its pictures, 0 to 1.
        seed: Of random numbers.
    """

    strip: Strip
    height: float
    thickness: float
    front: float
    tint: tuple[float, float, float]
    seed: int


@dataclass(frozen=True)
class WallKind:
    """What a kind of wall is.

    Attributes:
        build: Makes its triangles.
        height: Where the file says none [m].
        thickness: Where the file says none [m].
        label: What it is called; empty: cars and the lidar's rays pass through it.
        darkness: Of its shadow, 0 to 1.
        friction: Of its surface [-].
        piece: Longest straight piece [m].
        tolerance: How far a straight piece may leave its curve [m]; never more than a quarter of the gap to the road.
        shade: Gives its shadows; None: one under each piece.
    """

    build: Callable[[Assets, Section], list[Mesh]]
    height: float
    thickness: float
    label: str
    darkness: float = 0.5
    friction: float = 0.6
    piece: float = LONGEST
    tolerance: float = TOLERANCE
    shade: Callable[[Section], list[Shadow]] | None = None


def _sweep_solid(
    section: Section, material: int, tile: float, side: tuple[float, float], top: tuple[float, float]
) -> list[Mesh]:
    """Return a wall with upright sides: `side` and `top` are the first and last v of their parts of the picture."""
    half, high = 0.5 * section.thickness, section.height
    faces = (
        ((half, -BURIED, side[1]), (half, high, side[0])),
        ((half, high, top[0]), (-half, high, top[1])),
        ((-half, high, side[0]), (-half, -BURIED, side[1])),
    )
    around = ((half, -BURIED, side[1]), (half, high, side[0]), (-half, high, side[0]), (-half, -BURIED, side[1]))
    return [
        *(sweep_profile(section.strip, face, material, tile, front=section.front) for face in faces),
        *cap_profile(section.strip, around, material, front=section.front),
    ]


def _sweep_capped(section: Section, profile: Profile, material: int, tile: float) -> list[Mesh]:
    """Return a cross section swept along a strip, closed at its ends."""
    return [
        sweep_profile(section.strip, profile, material, tile, front=section.front),
        *cap_profile(section.strip, profile, material, front=section.front),
    ]


def _stand_pierced(assets: Assets, section: Section, picture: str, tile: float) -> list[Mesh]:
    """Return one upright face with holes in it, seen from both sides; `tile` is in heights."""
    material = assets.ensure_textured(read_picture, picture, flags=SHADE_TWO_SIDED | SHADE_CUTOUT, tint=section.tint)
    profile = ((0.0, 0.0, 0.999), (0.0, section.height, 0.0))
    return [sweep_profile(section.strip, profile, material, tile * section.height, front=section.front)]


def build_concrete(assets: Assets, section: Section) -> list[Mesh]:
    """Return a concrete wall in panels."""
    material = assets.ensure_textured(read_picture, "concrete", tint=section.tint)
    return _sweep_solid(section, material, 8.0 * section.height, (0.0, 0.87), (0.89, 0.99))


def build_brick(assets: Assets, section: Section) -> list[Mesh]:
    """Return a brick wall; bricks of the model world, 0.06 m long."""
    material = assets.ensure_textured(read_picture, "bricks", tint=section.tint)
    share = section.height / 0.24
    return _sweep_solid(section, material, 0.24, (0.0, share), (0.0, section.thickness / 0.24))


def build_board(assets: Assets, section: Section) -> list[Mesh]:
    """Return boards on edge, as indoor tracks are laid out with."""
    material = assets.ensure_textured(read_picture, "board", tint=section.tint)
    return _sweep_solid(section, material, 1.2, (0.0, 0.8), (0.82, 0.98))


def build_kerb(assets: Assets, section: Section) -> list[Mesh]:
    """Return a low kerb of red and white stones."""
    material = assets.ensure_textured(read_picture, "kerb", tint=section.tint)
    half, high = 0.5 * section.thickness, section.height
    profile = ((half, -BURIED, 0.98), (0.7 * half, high, 0.6), (-0.7 * half, high, 0.4), (-half, -BURIED, 0.02))
    return _sweep_capped(section, profile, material, 0.5)


def build_barrier(assets: Assets, section: Section) -> list[Mesh]:
    """Return red and white barrier blocks with a wide foot."""
    material = assets.ensure_textured(read_picture, "barrier", tint=section.tint)
    half, high = 0.5 * section.thickness, section.height
    profile = (
        (half, -BURIED, 0.98), (half, 0.18 * high, 0.85), (0.45 * half, 0.5 * high, 0.5), (0.36 * half, high, 0.05),
        (-0.36 * half, high, 0.01), (-0.45 * half, 0.5 * high, 0.5), (-half, 0.18 * high, 0.85), (-half, -BURIED, 0.98),
    )  # fmt: skip
    return _sweep_capped(section, profile, material, 5.0 * high)


def build_tyres(assets: Assets, section: Section) -> list[Mesh]:
    """Return a wall of stacked tyres."""
    material = assets.ensure_textured(read_picture, "tyre_stacks", tint=section.tint)
    return _sweep_solid(section, material, 4.0 * section.thickness, (0.0, 0.75), (0.76, 0.99))


def build_hedge(assets: Assets, section: Section) -> list[Mesh]:
    """Return a clipped hedge, narrower above."""
    material = assets.ensure_textured(read_picture, "hedge", tint=section.tint)
    half, high = 0.5 * section.thickness, section.height
    profile = (
        (0.9 * half, -BURIED, 0.99), (half, 0.6 * high, 0.45), (0.7 * half, high, 0.12), (-0.7 * half, high, 0.02),
        (-half, 0.6 * high, 0.45), (-0.9 * half, -BURIED, 0.99),
    )  # fmt: skip
    return _sweep_capped(section, profile, material, 0.6)


def build_guard_rail(assets: Assets, section: Section) -> list[Mesh]:
    """Return a steel beam with a ridge towards its front, on posts."""
    beam = assets.ensure_textured(read_picture, "rail", flags=SHADE_TWO_SIDED, tint=section.tint)
    posts = assets.ensure_textured(read_picture, "posts", flags=SHADE_TWO_SIDED | SHADE_CUTOUT, tint=section.tint)
    high, half = section.height, 0.5 * section.thickness
    ridge = ((-0.2 * half, 0.45 * high, 0.98), (half, 0.72 * high, 0.5), (-0.2 * half, high, 0.02))
    below = ((-half, -BURIED, 1.0), (-half, 0.9 * high, 0.0))
    return [
        sweep_profile(section.strip, ridge, beam, 0.8, front=section.front),
        sweep_profile(section.strip, below, posts, 0.8, front=section.front),
    ]


def build_park_fence(assets: Assets, section: Section) -> list[Mesh]:
    """Return a low wall with a fence of wire mesh on it, whose posts lean to the front at their tops."""
    high, half, top = section.height, 0.5 * section.thickness, 0.97 * 0.16 * section.height
    wall = assets.ensure_textured(read_picture, "low_wall", tint=section.tint)
    wire = assets.ensure_textured(read_picture, "wire_mesh", flags=SHADE_TWO_SIDED | SHADE_CUTOUT, tint=DARK_WIRE)
    body = ((half, -BURIED, 0.86), (half, top, 0.0), (-half, top, 0.12), (-half, -BURIED, 0.86))
    mesh = ((0.0, top, 0.999), (0.0, 0.86 * high, 0.18), (0.6 * half + 0.08 * high, high, 0.0))
    return [
        sweep_profile(section.strip, body, wall, 1.5, front=section.front),
        sweep_profile(section.strip, mesh, wire, 0.95 * high, front=section.front),
    ]


def build_rail_fence(assets: Assets, section: Section) -> list[Mesh]:
    """Return steel beams above a dark foot, and wire mesh on posts above them: two upright faces."""
    rail = assets.ensure_textured(read_picture, "rail_wall", flags=SHADE_TWO_SIDED, tint=section.tint)
    wire = assets.ensure_textured(read_picture, "wire_mesh", flags=SHADE_TWO_SIDED | SHADE_CUTOUT)
    high, front = section.height, section.front
    beam, mesh = ((0.0, -BURIED, 0.999), (0.0, 0.46 * high, 0.0)), ((0.0, 0.46 * high, 0.54), (0.0, high, 0.0))
    return [
        sweep_profile(section.strip, beam, rail, 1.23 * high, front=front),
        sweep_profile(section.strip, mesh, wire, 1.23 * high, front=front),
    ]


def build_bank(assets: Assets, section: Section) -> list[Mesh]:
    """Return a rough grey bank like a high kerb, its face leaning back a little."""
    material = assets.ensure_textured(read_picture, "rough_wall", tint=section.tint)
    half, high = 0.5 * section.thickness, section.height
    profile = (
        (half, -BURIED, 0.62), (0.7 * half, high, 0.0), (-0.7 * half, high, 0.16), (-half, -0.5 * high, 0.9),
    )  # fmt: skip
    return _sweep_capped(section, profile, material, 1.6 * high)


def build_wood(assets: Assets, section: Section) -> list[Mesh]:
    """Return the edge of a wood: a row of crowns, and another, closed one as far behind as the wall is thick."""
    flags = SHADE_TWO_SIDED | SHADE_CUTOUT
    edge = assets.ensure_textured(read_picture, "wood_edge", flags=flags, tint=section.tint)
    deep = assets.ensure_textured(read_picture, "wood_deep", flags=flags, tint=section.tint)
    half, high, front = 0.5 * section.thickness, section.height, section.front
    rows = ((half, high, edge, 2.2), (-half, 1.04 * high, deep, 2.6))
    return [
        sweep_profile(section.strip, ((away, -BURIED, 0.999), (away, top, 0.0)), leaves, wide * high, front=front)
        for away, top, leaves, wide in rows
    ]


def shade_wood(section: Section) -> list[Shadow]:
    """Return the shade of a wood: of the crowns at its edge, some of which hang out far before it."""
    strip, high, random = section.strip, section.height, np.random.default_rng(section.seed)
    count = int(WOOD_SPOTS * float(strip.along[-1]) / high)
    along = random.uniform(0.0, float(strip.along[-1]), count)
    index = np.clip(np.searchsorted(strip.along, along, side="right") - 1, 0, len(strip.along) - 2)
    ahead = strip.heading[index]
    left = section.front * np.stack((-ahead[:, 1], ahead[:, 0]), axis=1)
    aside = 0.5 * section.thickness + high * random.uniform(-0.3, CANOPY, count)
    middle = strip.point[index] + (along - strip.along[index])[:, None] * ahead + aside[:, None] * left
    radius = high * random.uniform(0.12, 0.24, count)
    return [
        Shadow((x, y), size, 0.5 * high, WOOD_DARK, WOOD_HOLES)
        for (x, y), size in zip(middle.tolist(), radius.tolist(), strict=True)
    ]


def build_hay(assets: Assets, section: Section) -> list[Mesh]:
    """Return a row of bales, end to end, each lying a little differently."""
    material = assets.ensure_textured(read_picture, "straw", tint=section.tint)
    random = np.random.default_rng(section.seed)
    bales = []
    for piece in iterate_pieces(section.strip):
        length, height = piece.length * random.uniform(0.94, 0.985), section.height * random.uniform(0.94, 1.0)
        turn = random.uniform(-0.03, 0.03)
        bales.append(
            place_mesh(
                make_bale((length, section.thickness, height), material), (*piece.middle, piece.foot), piece.yaw + turn
            )
        )
    return bales


def make_bale(size: tuple[float, float, float], material: int) -> Mesh:
    """Return a bale of straw on its base, without the face it lies on; size = length, width, height [m]."""
    box = make_box(size, (0.0, 0.0, 0.5 * size[2]), material)
    corner = box.vertex[box.triangle].astype(float)
    normal = np.cross(corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0])
    axis = np.abs(normal).argmax(axis=1)
    kept = (axis != 2) | (normal[:, 2] > 0.0)
    corner, axis = corner[kept], axis[kept]
    share = (corner - corner.min(axis=(0, 1))) / np.array(size)
    length, width, height = (share[..., n] for n in range(3))
    u = np.where((axis == 0)[:, None], 0.5 * width, length)
    v = np.where((axis == 2)[:, None], 0.03 + 0.44 * width, 0.47 - 0.44 * height)
    v = np.where((axis == 0)[:, None], 0.97 - 0.44 * height, v)
    triangle = np.arange(3 * len(corner)).reshape(-1, 3)
    return make_mesh(corner.reshape(-1, 3), np.stack((u, v), axis=-1).reshape(-1, 2), triangle, material)


def build_cliff(assets: Assets, section: Section) -> list[Mesh]:
    """Return rock that rises from the front in ledges, falls off behind and runs out at its ends."""
    return [_sweep_rock(assets, section, (0.5, 0.34, 0.26, -0.02, -0.12, -0.5), (0.0, 0.34, 0.40, 0.86, 1.0, 0.0))]


def build_ledge(assets: Assets, section: Section) -> list[Mesh]:
    """Return a low bank of rock: a steep front, a top that rises, a back."""
    return [_sweep_rock(assets, section, (0.5, 0.36, -0.1, -0.5), (0.0, 0.8, 1.0, 0.0))]


def _sweep_rock(assets: Assets, section: Section, across: Sequence[float], up: Sequence[float]) -> Mesh:
    """Return uneven rock of a cross section; `across` and `up` are shares of thickness and height."""
    rock = assets.ensure_textured(read_picture, "rock_face", tint=section.tint)
    strip, random = section.strip, np.random.default_rng(section.seed)
    sides, deep, high = len(across), section.thickness, section.height
    inner = np.ones(sides)
    inner[[0, -1]] = 0.0
    lateral, height = deep * np.array(across), high * np.array(up) - BURIED * (1.0 - inner)
    jitter = random.uniform(-1.0, 1.0, (2, len(strip.point), sides))
    if strip.closed:
        jitter[:, -1] = jitter[:, 0]
    aside = lateral + 0.07 * deep * jitter[0] * inner
    above = height * (1.0 + 0.16 * jitter[1] * inner)
    if not strip.closed:
        ends = np.minimum(strip.along, strip.along[-1] - strip.along) / (0.5 * high)
        above = above * np.clip(0.15 + ends, 0.0, 1.0)[:, None]
    climb = np.hypot(np.diff(aside, axis=1), np.diff(above, axis=1)).mean(axis=0) / 1.6
    down = -np.concatenate(([0.0], np.cumsum(climb)))
    return skin_strip(strip, section.front, aside, above, down, 1.6, rock)


def build_low_hedge(assets: Assets, section: Section) -> list[Mesh]:
    """Return low bushy plants of uneven height in a row that runs out at its ends."""
    leaves = assets.ensure_textured(read_picture, "low_hedge", tint=section.tint)
    strip, random = section.strip, np.random.default_rng(section.seed)
    lateral = section.thickness * np.array((0.5, 0.42, 0.0, -0.42, -0.5))
    height = section.height * np.array((0.0, 0.62, 1.0, 0.62, 0.0)) - np.array((BURIED, 0, 0, 0, BURIED))
    jitter = random.uniform(-1.0, 1.0, (2, len(strip.point), 5))
    if strip.closed:
        jitter[:, -1] = jitter[:, 0]
    aside = lateral + 0.10 * section.thickness * jitter[0]
    above = height * (1.0 + 0.22 * jitter[1])
    if not strip.closed:
        ends = np.minimum(strip.along, strip.along[-1] - strip.along) / section.height
        above, aside = above * np.clip(ends, 0.05, 1.0)[:, None], aside * np.clip(ends, 0.3, 1.0)[:, None]
    down = np.array((0.99, 0.45, 0.02, 0.45, 0.99))
    return [skin_strip(strip, section.front, aside, above, down, 0.45, leaves)]


def build_strip(assets: Assets, section: Section) -> list[Mesh]:
    """Return a strip of corrugated plastic on edge: black, its ribs upright."""
    material = assets.ensure_textured(read_picture, "corrugated", tint=section.tint)
    return _sweep_solid(section, material, 2.0 * section.height, (0.0, 0.9), (0.92, 0.99))


def build_nothing(_assets: Assets, _section: Section) -> list[Mesh]:
    """Return no triangles: a wall that nobody sees."""
    return []


WALL_KINDS: dict[str, WallKind] = {
    "wall": WallKind(build_concrete, 0.30, 0.08, "wall"),
    "brick": WallKind(build_brick, 0.36, 0.08, "wall"),
    "guard_rail": WallKind(build_guard_rail, 0.12, 0.04, "guard_rail", darkness=0.3, friction=0.4),
    "railing": WallKind(
        partial(_stand_pierced, picture="railing", tile=1.3), 0.24, 0.02, "railing", darkness=0.2, friction=0.4
    ),
    "barrier": WallKind(build_barrier, 0.16, 0.12, "barrier"),
    "tyres": WallKind(build_tyres, 0.18, 0.12, "tyres", friction=0.9),
    "hay": WallKind(build_hay, 0.24, 0.28, "hay_bale", friction=0.8, piece=0.55),
    "kerb": WallKind(build_kerb, 0.06, 0.08, "kerb", darkness=0.3),
    "hedge": WallKind(build_hedge, 0.30, 0.24, "hedge", friction=0.8),
    "low_hedge": WallKind(build_low_hedge, 0.11, 0.22, "", darkness=0.35, piece=0.5),
    "fence": WallKind(
        partial(_stand_pierced, picture="fence", tile=1.0), 0.50, 0.02, "fence", darkness=0.15, friction=0.4
    ),
    "cliff": WallKind(build_cliff, 1.60, 0.90, "cliff", piece=1.2, tolerance=0.02),
    "ledge": WallKind(build_ledge, 0.40, 0.60, "cliff", piece=1.2, tolerance=0.02),
    "park_fence": WallKind(build_park_fence, 0.80, 0.06, "fence", darkness=0.22, friction=0.1, tolerance=0.02),
    "rail_fence": WallKind(build_rail_fence, 0.8125, 0.06, "guard_rail", darkness=0.08, friction=0.1, tolerance=0.025),
    "bank": WallKind(build_bank, 0.17, 0.10, "wall", darkness=0.3, friction=0.1),
    "wood": WallKind(build_wood, 2.0, 0.5, "", tolerance=0.1, shade=shade_wood),
    "board": WallKind(build_board, 0.10, 0.02, "wall", darkness=0.3),
    "strip": WallKind(build_strip, 0.111, 0.012, "wall", darkness=0.35, friction=0.1),
    "invisible": WallKind(build_nothing, 0.50, 0.05, "wall", darkness=0.0),
}
"""Every kind that a track file may name."""
