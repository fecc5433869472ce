"""What places of older files are called now: each reader of a file with a format number asks here.

Before the original's places came under their names, places of our own design had these. Files of that time mean ours.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from typing import Any

from donkeysim.core.errors import SceneError
from donkeysim.world.specs import SceneSpec, WorldSpec
from donkeysim.world.tracks.catalogue import ORIGINAL_SCENES, find_own_tracks

FORMER_PLACES: Mapping[str, Mapping[str, Any]] = {
    "circuit_launch": {"name": "maker_hall"},
    "generated_track": {"look": "2020"},
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


def rename_scene(scene: SceneSpec) -> SceneSpec:
    """Return the spec of a scene of an older file as it is now; tracks in somebody's own folders keep their names."""
    changes = FORMER_PLACES.get(scene.name)
    if changes is None or scene.name in _list_own(scene.folders):
        return scene
    given = {name: value for name, value in changes.items() if name == "name" or not getattr(scene, name)}
    return dataclasses.replace(scene, **given)


def rename_world(spec: WorldSpec) -> WorldSpec:
    """Return the spec of an older file with its places as they are now."""
    more = tuple(map(rename_scene, spec.more_scenes))
    return dataclasses.replace(spec, scene=rename_scene(spec.scene), more_scenes=more)


def rename_place(name: str) -> str:
    """Return what a place of an older file is called now, where that holds nothing but its name."""
    return rename_scene(SceneSpec(name)).name


def rename_tracks(names: Iterable[str]) -> tuple[str, ...]:
    """Return what the tracks that an older file asks for are called now; all of them were as many as the original's."""
    return tuple(rename_place(name) for given in names for name in (ORIGINAL_SCENES if given == "all" else (given,)))


def rename_key(values: Any, key: str) -> None:
    """Give the place under a key of a table of an older file its name of now, where there is one."""
    if isinstance(values, dict) and isinstance(values.get(key), str):
        values[key] = rename_place(values[key])


def _list_own(folders: tuple[str, ...]) -> Iterable[str]:
    try:
        return find_own_tracks(folders)
    except SceneError:  # told where the track is looked for
        return ()
