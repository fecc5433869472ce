"""What a kind of prop is, and how its parts are put together in a frame of its own: base at z = 0, front along +x."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from donkeysim.world.scene import Mesh
from donkeysim.world.tracks.assets import Assets
from donkeysim.world.tracks.structures.structure import Footprint, Shadow, Structure, make_block, make_post


@dataclass(frozen=True)
class Movable:
    """What physics needs of a prop that it pushes about: an upright frustum.

    Attributes:
        hit_name: What `hit` says.
        mass: On the original's scale, where a car weighs 50 [kg].
        radius_base: [m]
        radius_top: [m]
        height: [m]
        centre_of_mass: Above the base [m].
        friction: Of its surface [-].
    """

    hit_name: str
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
    mesh: Mesh, radius: float, height: float, hit_name: str, shadow: Shadow, friction: float = 0.6
) -> Structure:
    """Return a thing that physics knows as an upright cylinder."""
    return Structure(mesh, (make_post((0.0, 0.0, 0.0), radius, height, hit_name, friction),), (shadow,))


def stand_on_block(
    mesh: Mesh, size: tuple[float, float, float], hit_name: str, darkness: float = 0.5, friction: float = 0.6
) -> Structure:
    """Return a thing that physics knows as a box; size = length, width, height [m]."""
    x, y = 0.5 * size[0], 0.5 * size[1]
    footprint = Footprint(((-x, -y), (x, -y), (x, y), (-x, y)), size[2], darkness)
    return Structure(mesh, (make_block((0.0, 0.0, 0.0), size, 0.0, hit_name, friction),), (footprint,))
