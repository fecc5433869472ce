"""Every mesh, by the name of its file, and how many forms it has."""

from collections.abc import Callable

import numpy as np

from art import cars, fine_cars, fine_formula, fine_shells, indoor, person, plants, racing
from art.palette import Palette
from donkeysim.world.scene import Mesh
from donkeysim.world.tracks.art import MeshForm
from donkeysim.world.tracks.props import PROP_KINDS

PROPS: dict[str, Callable[[Palette, int], Mesh]] = {
    kind: getattr(module, f"build_{kind}")
    for kind in PROP_KINDS
    for module in (racing, plants, indoor, person)
    if hasattr(module, f"build_{kind}")
}
"""Draws one form of each kind of `props.toml`, which says how many there are: its function has the kind's name."""

CARS: dict[str, Callable[[Palette], Mesh]] = {
    "wheel": cars.build_wheel,
    "donkey": cars.build_donkey,
    "bare": cars.build_bare,
    "car01": cars.build_touring_car,
    "cybertruck": cars.build_cybertruck,
    "f1": cars.build_formula,
    "fine_wheel": fine_cars.build_fine_wheel,
    "fine_donkey": fine_cars.build_fine_donkey,
    "fine_bare": fine_cars.build_fine_bare,
    "fine_car01": fine_shells.build_fine_touring_car,
    "fine_cybertruck": fine_shells.build_fine_cybertruck,
    "fine_f1": fine_formula.build_fine_formula,
}
"""Draws the wheel and each body style, as cameras see them and, finely, as people do."""


def draw_meshes() -> dict[str, list[MeshForm]]:
    """Return the forms of every mesh, by the name of its file."""
    drawn = {f"cars/{name}": [_draw(build)] for name, build in CARS.items()}
    for kind, build in PROPS.items():
        drawn[f"props/{kind}"] = [_draw(build, form) for form in range(PROP_KINDS[kind].variants)]
    return drawn


def _draw(build: Callable[..., Mesh], *form: int) -> MeshForm:
    palette = Palette()
    mesh = build(palette, *form)
    corner = np.concatenate((mesh.vertex, mesh.uv), axis=1)
    triangle = np.column_stack((mesh.triangle, mesh.material))
    return MeshForm(corner, triangle, tuple(palette.skins))
