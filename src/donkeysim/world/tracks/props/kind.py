"""What a kind of prop is, and how its parts are put together in a frame of its own: base at z = 0, front along +x."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from donkeysim.world.scene import Mesh
from donkeysim.world.tracks.mesh import Assets
from donkeysim.world.tracks.structures.structure import Footprint, Shadow, Structure, make_block, make_post

FOOT_DARKNESS = 0.4
"""Of the shadow around the foot of what could move and does not, 0 to 1."""


@dataclass(frozen=True)
class Movable:
    """What physics needs of a prop that it pushes about: an upright frustum.

    Attributes:
        label: What it is called.
        mass: On the original's scale, where a car weighs 50 [kg].
        radius_base: [m]
        radius_top: [m]
        height: [m]
        centre_of_mass: Above the base [m].
        friction: Of its surface [-].
    """

    label: str
    mass: float
    radius_base: float
    radius_top: float
    height: float
    centre_of_mass: float
    friction: float = 0.6


@dataclass(frozen=True)
class PropKind:
    """A kind of prop.

    Attributes:
        build: Makes one of `variants` meshes; of a still kind also its colliders and shadows.
        variants: How many different ones there are.
        radius: Of the circle around its base [m].
        movable: None for a thing that stands still.
        spread: Greatest change of size, as a share, from one scattered thing to the next.
        triangle_count: Of a model somebody brought; 0: one of ours, which have few.
    """

    build: Callable[[Assets, int], Structure]
    variants: int
    radius: float
    movable: Movable | None = None
    spread: float = 0.0
    triangle_count: int = 0


def stand_on_post(
    mesh: Mesh, radius: float, height: float, label: str, shadow: Shadow, friction: float = 0.6
) -> Structure:
    """Return a thing that physics knows as an upright cylinder."""
    return Structure(mesh, (make_post((0.0, 0.0, 0.0), radius, height, label, friction),), (shadow,))


def stand_on_block(
    mesh: Mesh, size: tuple[float, float, float], label: str, darkness: float = 0.5, friction: float = 0.6
) -> Structure:
    """Return a thing that physics knows as a box; size = length, width, height [m]."""
    x, y = 0.5 * size[0], 0.5 * size[1]
    footprint = Footprint(((-x, -y), (x, -y), (x, y), (-x, y)), size[2], darkness)
    return Structure(mesh, (make_block((0.0, 0.0, 0.0), size, 0.0, label, friction),), (footprint,))


def keep_still(kind: PropKind) -> PropKind:
    """Return a kind that moves as one that stands still: an upright cylinder as wide as its base."""
    body = kind.movable
    if body is None:
        raise ValueError("it stands still already")

    def build(assets: Assets, variant: int) -> Structure:
        spot = Shadow((0.0, 0.0), body.radius_base, 0.5 * body.height, FOOT_DARKNESS)
        mesh = kind.build(assets, variant).mesh
        return stand_on_post(mesh, body.radius_base, body.height, body.label, spot, body.friction)

    return replace(kind, build=build, movable=None)
