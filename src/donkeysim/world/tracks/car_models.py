"""The meshes of body styles and of their wheel, in the car's body frame (x forward, y left, z up, origin = body)."""

from __future__ import annotations

from functools import lru_cache

from donkeysim.world.scene import CarModel
from donkeysim.world.specs import BODY_STYLES
from donkeysim.world.tracks.art import build_mesh
from donkeysim.world.tracks.assets import Assets


def take_cars() -> tuple[Assets, dict[str, CarModel]]:
    """Return what a new scene begins with: the meshes of every body style, which all scenes share, by style."""
    assets, models = _build_cars()
    return assets.copy(), models


@lru_cache(maxsize=1)
def _build_cars() -> tuple[Assets, dict[str, CarModel]]:
    assets = Assets()
    wheel = assets.add_model(build_mesh("cars/wheel", 0, assets))
    bodies = {style: assets.add_model(build_mesh(f"cars/{style}", 0, assets)) for style in BODY_STYLES}
    return assets, {style: CarModel(body, wheel) for style, body in bodies.items()}
