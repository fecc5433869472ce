"""What something that never moves is: triangles, colliders (lidar sees them too) and a shadow on the ground."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from donkeysim.core.frames import Vector
from donkeysim.world.scene import COLLIDER_BOX, COLLIDER_CYLINDER, Colliders, Mesh
from donkeysim.world.tracks.mesh import Assets, place_mesh


@dataclass(frozen=True)
class Shadow:
    """A soft dark spot that something standing on the ground leaves on it.

    Attributes:
        position: x, y of the foot [m].
        radius: Of the crown or body [m].
        height: Of its middle above the ground: the spot lies that far down the sun [m].
        darkness: Share of light taken in the middle, 0 to 1.
        holes: Share of it through which the sun shines, 0 to 1.
    """

    position: tuple[float, float]
    radius: float
    height: float
    darkness: float
    holes: float = 0.0


@dataclass(frozen=True)
class Footprint:
    """The shadow of something with edges: darkness where it stands, and down the sun as far as its height throws it.

    Attributes:
        outline: x, y of the corners of its base, convex [m].
        height: Of what casts the shadow [m].
        darkness: Share of light taken, 0 to 1.
    """

    outline: tuple[tuple[float, float], ...]
    height: float
    darkness: float


@dataclass(frozen=True)
class Collider:
    """One row of `Colliders`.

    Attributes:
        kind: COLLIDER_BOX or COLLIDER_CYLINDER.
        centre: [m]
        half_size: Half length, width, height of a box; radius, radius, half height of a cylinder [m].
        label: What it is called.
        yaw: Of a box [rad].
        friction: [-]
        hit: What `hit` says; empty: its label.
    """

    kind: int
    centre: Vector
    half_size: Vector
    label: str
    yaw: float = 0.0
    friction: float = 0.6
    hit: str = ""


@dataclass(frozen=True)
class Structure:
    """One thing, or several that belong together.

    Attributes:
        mesh: World frame, the triangles of each part in one piece.
        colliders: What a car can hit of it.
        shadows: What it leaves on the ground.
        label: What error texts call it: its table in the track file.
    """

    mesh: Mesh
    colliders: tuple[Collider, ...] = ()
    shadows: tuple[Shadow | Footprint, ...] = ()
    label: str = ""


def make_post(foot: Vector, radius: float, height: float, label: str, friction: float = 0.6) -> Collider:
    """Return an upright cylinder on its foot."""
    centre = (foot[0], foot[1], foot[2] + 0.5 * height)
    return Collider(COLLIDER_CYLINDER, centre, (radius, radius, 0.5 * height), label, 0.0, friction)


def make_block(foot: Vector, size: Vector, yaw: float, label: str, friction: float = 0.6) -> Collider:
    """Return a box on the middle of its base; size = length, width, height [m]."""
    centre = (foot[0], foot[1], foot[2] + 0.5 * size[2])
    return Collider(COLLIDER_BOX, centre, (0.5 * size[0], 0.5 * size[1], 0.5 * size[2]), label, yaw, friction)


def place_structure(
    structure: Structure, foot: Vector, yaw: float, scale: float, label: str, hit: str = ""
) -> Structure:
    """Return a structure built about its own origin scaled, turned about z, then moved to a foot on the ground.

    Args:
        foot: Where that goes [m].
        yaw: [rad]
        label: What error texts call it.
        hit: What `hit` says of it; empty: what its colliders are called.
    """
    cosine, sine = math.cos(yaw), math.sin(yaw)

    def move(x: float, y: float) -> tuple[float, float]:
        return foot[0] + scale * (cosine * x - sine * y), foot[1] + scale * (sine * x + cosine * y)

    colliders = tuple(
        replace(
            row,
            centre=(*move(row.centre[0], row.centre[1]), foot[2] + scale * row.centre[2]),
            half_size=(scale * row.half_size[0], scale * row.half_size[1], scale * row.half_size[2]),
            yaw=row.yaw + yaw,
            hit=hit or row.hit,
        )
        for row in structure.colliders
    )
    shadows: list[Shadow | Footprint] = []
    for shadow in structure.shadows:
        if isinstance(shadow, Shadow):
            radius, height = scale * shadow.radius, scale * shadow.height
            shadows.append(replace(shadow, position=move(*shadow.position), radius=radius, height=height))
        else:
            outline = tuple(move(x, y) for x, y in shadow.outline)
            shadows.append(Footprint(outline, scale * shadow.height, shadow.darkness))
    return Structure(place_mesh(structure.mesh, foot, yaw, scale), colliders, tuple(shadows), label)


def gather_colliders(structures: Sequence[Structure], assets: Assets) -> Colliders:
    """Return the colliders of all structures as arrays."""
    rows = [row for structure in structures for row in structure.colliders]
    return Colliders(
        kind=np.array([row.kind for row in rows], np.uint8),
        centre=np.array([row.centre for row in rows], float).reshape(-1, 3),
        half_size=np.array([row.half_size for row in rows], float).reshape(-1, 3),
        yaw=np.array([row.yaw for row in rows], float),
        friction=np.array([row.friction for row in rows], float),
        name=np.array([assets.ensure_named(row.label, row.hit) for row in rows], np.int32),
    )
