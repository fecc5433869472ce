"""Which of our batches `gymnasium.make_vec` makes."""

from __future__ import annotations

from typing import Any

import gymnasium


def make_track_batch(
    num_envs: int = 1, *, device: Any = None, **settings: Any
) -> gymnasium.vector.VectorEnv[Any, Any, Any]:
    """Return a batch of cars, each alone on its track.

    Args:
        num_envs: Cars.
        device: None: on threads of this machine, see `track_env.TrackVectorEnv`; else what `batch_env.BatchEnv` takes.
        **settings: What that batch takes.

    Raises:
        SpecError: Something asked for is not possible.
        SceneError: There is no such track.
    """
    if device is None:
        from donkeysim.envs.track_env import TrackVectorEnv

        return TrackVectorEnv(num_envs, **settings)
    from donkeysim.envs.batch_env import BatchEnv

    return BatchEnv(num_envs, device=device, **settings)
