"""The cars of a scene as people see them: finer meshes in place of those that cameras see."""

from dataclasses import replace
from functools import lru_cache

from donkeysim.core.types import ByteArray
from donkeysim.world.scene import CarModel, Material, Mesh, Scene
from donkeysim.world.tracks.art import build_mesh
from donkeysim.world.tracks.assets import Assets


def dress_finely(scene: Scene) -> Scene:
    """Return a scene whose cars have the fine meshes of `art`; all else keeps its number."""
    materials, textures, bodies, wheel = _build_fine_cars(tuple(scene.car_models))
    first, number = len(scene.materials), len(scene.models)
    models = [replace(mesh, material=mesh.material + first) for mesh in (wheel, *bodies)]
    cars = {style: CarModel(number + 1 + index, number) for index, style in enumerate(scene.car_models)}
    shifted = [
        replace(material, texture=material.texture + len(scene.textures)) if material.texture >= 0 else material
        for material in materials
    ]
    return replace(
        scene,
        models=(*scene.models, *models),
        car_models=cars,
        materials=(*scene.materials, *shifted),
        textures=(*scene.textures, *textures),
    )


@lru_cache(maxsize=4)
def _build_fine_cars(
    styles: tuple[str, ...],
) -> tuple[tuple[Material, ...], tuple[ByteArray, ...], tuple[Mesh, ...], Mesh]:
    """Return materials, textures, bodies and wheel."""
    assets = Assets()
    wheel = build_mesh("cars/fine_wheel", 0, assets)
    bodies = tuple(build_mesh(f"cars/fine_{style}", 0, assets) for style in styles)
    return tuple(assets.materials), tuple(assets.textures), bodies, wheel
