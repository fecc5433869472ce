"""What places of older files are called now: each reader of a file with a format number asks here.

Before the original's places came under their names, places of our own design had these. Files of that time mean ours.
"""

import dataclasses
from collections.abc import Iterable, Mapping
from typing import Any

from donkeysim.core.errors import SceneError
from donkeysim.world.specs import SceneSpec, WorldSpec
from donkeysim.world.tracks.catalogue import ORIGINAL_SCENES, find_own_tracks

FORMER_PLACES: Mapping[str, Mapping[str, Any]] = {
    "circuit_launch": {"name": "maker_hall"},
    "mini_monaco": {"name": "harbour_town"},
    "mountain_track": {"name": "canyon_road"},
    "roboracingleague_1": {"name": "kart_track"},
    "sparkfun_avc": {"name": "city_lot"},
    "thunderhill": {"name": "hill_circuit"},
    "warehouse": {"name": "pallet_hall"},
    "warren": {"name": "carpet_hall"},
    "waveshare": {"name": "reading_room"},
}
"""What changes in the `SceneSpec` of a place, by its former name; its look changes only where none was asked for."""


REPLAYED: Mapping[str, Mapping[str, Any]] = {
    name: {"name": f"{name}_2020"} for name in ("generated_road", "generated_track")
}
"""Places that became truer and kept their names: what was driven there replays where it was driven."""


def rename_scene(scene: SceneSpec, table: Mapping[str, Mapping[str, Any]] = {**FORMER_PLACES, **REPLAYED}) -> SceneSpec:
    """Return the spec of a scene of an older file as it is now; tracks in somebody's own folders keep their names."""
    changes = table.get(scene.name)
    if changes is None or scene.name in _list_own(scene.folders):
        return scene
    given = {name: value for name, value in changes.items() if name == "name" or not getattr(scene, name)}
    return dataclasses.replace(scene, **given)


def rename_world(spec: WorldSpec) -> WorldSpec:
    """Return the spec of an older file with its places as they are now."""
    more = tuple(map(rename_scene, spec.more_scenes))
    return dataclasses.replace(spec, scene=rename_scene(spec.scene), more_scenes=more)


def rename_place(name: str, replayed: bool = False) -> str:
    """Return what a place of an older file is called now, where that holds nothing but its name.

    Args:
        replayed: Whether it is where something was driven that is driven again.
    """
    return rename_scene(SceneSpec(name), {**FORMER_PLACES, **REPLAYED} if replayed else FORMER_PLACES).name


def rename_tracks(names: Iterable[str]) -> tuple[str, ...]:
    """Return what the tracks that an older file asks for are called now; all of them were as many as the original's."""
    return tuple(rename_place(name) for given in names for name in (ORIGINAL_SCENES if given == "all" else (given,)))


def rename_key(values: Any, key: str, replayed: bool = False) -> None:
    """Give the place under a key of a table of an older file its name of now, where there is one."""
    if isinstance(values, dict) and isinstance(values.get(key), str):
        values[key] = rename_place(values[key], replayed)


def _list_own(folders: tuple[str, ...]) -> Iterable[str]:
    try:
        return find_own_tracks(folders)
    except SceneError:  # reported where the track is looked for
        return ()
