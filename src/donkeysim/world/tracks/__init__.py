"""Places: one `.toml` file per track and the code that builds it; `list_scenes` and `load_scene`."""

from donkeysim.world.tracks.catalogue import find_road, list_scenes, load_scene, shorten_scene_name, specify_scene

__all__ = ["find_road", "list_scenes", "load_scene", "shorten_scene_name", "specify_scene"]
