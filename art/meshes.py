"""Every mesh, by the name of its file, and how many forms it has."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from art import cars, indoor, person, plants, racing
from art.palette import Palette
from donkeysim.world.scene import Mesh
from donkeysim.world.tracks.art import MeshForm
from donkeysim.world.tracks.props import PROP_KINDS

PROPS: dict[str, Callable[[Palette, int], Mesh]] = {
    "cone": racing.build_cone,
    "tall_cone": racing.build_tall_cone,
    "bell_cone": racing.build_bell_cone,
    "orange_bell_cone": racing.build_orange_bell_cone,
    "footed_cone": racing.build_footed_cone,
    "square_cone": racing.build_square_cone,
    "pylon": racing.build_pylon,
    "barrel": racing.build_barrel,
    "tree": plants.build_broadleaf,
    "oak": plants.build_oak,
    "spruce": plants.build_conifer,
    "birch": plants.build_birch,
    "pine": plants.build_pine,
    "palm": plants.build_palm,
    "cactus": plants.build_cactus,
    "bush": plants.build_bush,
    "rock": plants.build_rock,
    "tyre": racing.build_tyre,
    "drum": racing.build_drum,
    "hay_bale": racing.build_hay_bale,
    "tyre_stack": racing.build_tyre_stack,
    "chevron": racing.build_chevron,
    "sign": racing.build_sign,
    "flag": racing.build_flag,
    "lamp_post": racing.build_lamp_post,
    "grandstand": racing.build_grandstand,
    "tent": racing.build_tent,
    "person": person.build_person,
    "rack": indoor.build_rack,
    "store_rack": indoor.build_store_rack,
    "pallet": indoor.build_pallet,
    "bench": indoor.build_bench,
    "table": indoor.build_table,
    "long_table": indoor.build_long_table,
    "work_table": indoor.build_work_table,
    "stool": indoor.build_stool,
    "chair": indoor.build_chair,
    "folding_chair": indoor.build_folding_chair,
    "shelf": indoor.build_shelf,
    "plant": indoor.build_plant,
}
"""Draws one form of each kind of prop; how many there are says `props.toml`."""

CARS: dict[str, Callable[[Palette], Mesh]] = {
    "wheel": cars.build_wheel,
    "donkey": cars.build_donkey,
    "bare": cars.build_bare,
    "car01": cars.build_touring_car,
    "cybertruck": cars.build_cybertruck,
    "f1": cars.build_formula,
}
"""Draws the wheel and each body style."""


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
