"""The name that batches on a device had; `track_env.TrackVectorEnv` is the one that takes a device."""

from collections.abc import Sequence
from typing import Any

from donkeysim.core.device import Device
from donkeysim.envs.track_env import TrackVectorEnv
from donkeysim.world.specs import SceneSpec


class BatchEnv(TrackVectorEnv):
    """A `TrackVectorEnv` whose device is "cpu" unless another one is given."""

    def __init__(
        self,
        num_envs: int = 1,
        track: str | SceneSpec | Sequence[str | SceneSpec] = "generated_track",
        *,
        device: str | Device = "cpu",
        **options: Any,
    ) -> None:
        """Make the cars; the arguments are those of `TrackVectorEnv`."""
        super().__init__(num_envs, track, device=device, **options)
