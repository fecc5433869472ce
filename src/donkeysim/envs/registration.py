"""The environments' ids, registered with Gymnasium when it is there.

`import donkeysim` must make `gymnasium.make("donkey-generated-track-v0")` work, whichever of the two is imported
first, and must stay light: `donkey_sim` opens its socket before numpy, which Gymnasium imports. So the ids are
registered at once when Gymnasium is loaded already, and otherwise right after it is (decision 0008).
"""

import os
import re
import sys
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any

SCENE_BY_ID = {
    "donkey-generated-roads-v0": "generated_road",
    "donkey-warehouse-v0": "warehouse",
    "donkey-avc-sparkfun-v0": "sparkfun_avc",
    "donkey-generated-track-v0": "generated_track",
    "donkey-mountain-track-v0": "mountain_track",
    "donkey-roboracingleague-track-v0": "roboracingleague_1",
    "donkey-waveshare-v0": "waveshare",
    "donkey-minimonaco-track-v0": "mini_monaco",
    "donkey-warren-track-v0": "warren",
    "donkey-thunderhill-track-v0": "thunderhill",
    "donkey-circuit-launch-track-v0": "circuit_launch",
}
"""The original's ids and the scenes they drive in."""


OWN_PLACES = (
    "canyon_road",
    "carpet_hall",
    "city_lot",
    "harbour_town",
    "hill_circuit",
    "kart_track",
    "maker_hall",
    "mountain_pass",
    "pallet_hall",
    "reading_room",
)
"""Places of our own design in the menu, which the original does not have; a test compares them with their files."""


def make_id(track: str) -> str:
    """Return the id of a track in our own family: `donkeysim/GeneratedTrack-v0` for generated_track."""
    return f"donkeysim/{''.join(word[:1].upper() + word[1:] for word in track.split('_'))}-v0"


TRACK_BY_ID = {make_id(scene): scene for scene in (*SCENE_BY_ID.values(), *OWN_PLACES)}
"""Our own family and its tracks."""

ENTRY_POINT = "donkeysim.envs.donkey_env:DonkeyEnv"
VECTOR_ENTRY_POINT = "donkeysim.envs.donkey_vector_env:DonkeyVectorEnv"

LEROBOT_ID = "donkeysim/LeRobot-v0"
"""A car on any track, for the tools of LeRobot."""

VARIABLE = "DONKEYSIM_TRACKS"
"""As `world.tracks.catalogue.VARIABLE`, which is not imported for nothing; a test compares them."""

_HOST = "gymnasium"


def register_ids() -> None:
    """Tell Gymnasium every id, plainly and under "donkeysim/"; ids that somebody else holds are left to them."""
    from gymnasium.envs.registration import register, registry

    for name, scene in SCENE_BY_ID.items():
        for own in (name, f"donkeysim/{name}"):
            if own not in registry:
                kwargs = {"scene": scene}
                register(own, entry_point=ENTRY_POINT, vector_entry_point=VECTOR_ENTRY_POINT, kwargs=kwargs)
    for name, track in {**TRACK_BY_ID, **_list_own_tracks()}.items():
        if name not in registry:
            single, vector = "donkeysim.envs.track_env:TrackEnv", "donkeysim.envs.track_env:TrackVectorEnv"
            register(name, entry_point=single, vector_entry_point=vector, kwargs={"track": track})
    if LEROBOT_ID not in registry:
        register(LEROBOT_ID, entry_point="donkeysim.envs.lerobot.environment:LeRobotEnv")


def _list_own_tracks() -> dict[str, str]:
    """Return ids for the tracks in the folders of `DONKEYSIM_TRACKS`; a missing folder is reported at first use."""
    if not os.environ.get(VARIABLE):
        return {}
    from donkeysim.core.errors import SceneError
    from donkeysim.world.tracks.catalogue import find_own_tracks

    try:
        return {make_id(track): track for track in find_own_tracks() if re.fullmatch(r"[\w-]+", track)}
    except SceneError:
        return {}


def register_when_loaded() -> None:
    """Register the ids now if Gymnasium is loaded, else as soon as it is; it is not imported for that."""
    if getattr(sys.modules.get(_HOST), "register", None) is not None:
        register_ids()
    elif not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())


class _Finder(MetaPathFinder):
    """Finds Gymnasium as Python would, once, and registers the ids after it has run."""

    def find_spec(self, fullname: str, path: Any, target: ModuleType | None = None) -> ModuleSpec | None:
        if fullname != _HOST:
            return None
        sys.meta_path.remove(self)
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is not None and spec.loader is not None:
            run = spec.loader.exec_module

            def run_and_register(module: ModuleType) -> None:
                run(module)
                register_ids()

            spec.loader.exec_module = run_and_register  # type: ignore[method-assign]
        return spec
