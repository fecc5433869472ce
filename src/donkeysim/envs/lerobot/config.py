"""What LeRobot's tools know of our environment: `--env.type=donkeysim`; imported by them, with LeRobot beside."""

from dataclasses import dataclass, field
from typing import Any

from lerobot.configs.types import FeatureType, PolicyFeature
from lerobot.envs.configs import EnvConfig

from donkeysim.envs.lerobot.environment import STEPS_PER_SECOND

PICTURE = (120, 160, 3)


def _list_features() -> dict[str, PolicyFeature]:
    return {
        "action": PolicyFeature(type=FeatureType.ACTION, shape=(2,)),
        "agent_pos": PolicyFeature(type=FeatureType.STATE, shape=(2,)),
        "pixels": PolicyFeature(type=FeatureType.VISUAL, shape=PICTURE),
    }


@EnvConfig.register_subclass("donkeysim")
@dataclass
class DonkeyConfig(EnvConfig):  # type: ignore[misc]  # LeRobot is not there where types are checked
    """A car on a track, until it has made its laps.

    Attributes:
        task: The environment's id, without what comes before its slash.
        fps: Steps per simulated second.
        track: Name of the track.
        laps: How many laps make a success.
        time_limit: An episode is over after so long [s].
    """

    task: str | None = "LeRobot-v0"
    fps: int = STEPS_PER_SECOND
    track: str = "generated_track"
    laps: int = 1
    time_limit: float = 120.0
    features: dict[str, PolicyFeature] = field(default_factory=_list_features)
    features_map: dict[str, str] = field(
        default_factory=lambda: {"action": "action", "agent_pos": "observation.state", "pixels": "observation.image"}
    )

    @property
    def package_name(self) -> str:
        """Package that registers the id."""
        return "donkeysim"

    @property
    def gym_kwargs(self) -> dict[str, Any]:
        """What the environment is made with."""
        chosen = {"track": self.track, "laps": self.laps, "time_limit": self.time_limit}
        return {**chosen, "render_mode": "rgb_array"}
