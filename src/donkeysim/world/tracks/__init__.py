"""Places: one `.toml` file per track and the code that builds it; `list_scenes` and `load_scene`."""

from donkeysim.world.tracks.catalogue import list_scenes, load_scene, shorten_scene_name

__all__ = ["list_scenes", "load_scene", "shorten_scene_name"]
