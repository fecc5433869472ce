"""`donkeysim/LeRobot-v0`: a car on a track as LeRobot's tools expect environments, for policies of its datasets."""

from typing import Any

import gymnasium
import numpy as np
from gymnasium.spaces import Box, Dict

from donkeysim.core.types import Float32Array
from donkeysim.envs.reset import read_seed
from donkeysim.envs.track_env import TrackEnv

STEPS_PER_SECOND = 20

Seen = dict[str, Any]


class LeRobotEnv(gymnasium.Env[Seen, Float32Array]):
    """One car; `pixels` and `agent_pos` are what `donkey convert` calls `observation.image` and `observation.state`.

    Attributes:
        task, task_description: What it is about, for policies that read.
    """

    metadata = {"render_modes": ["rgb_array"], "render_fps": STEPS_PER_SECOND}  # noqa: RUF012
    task = task_description = "drive along the track"

    def __init__(
        self,
        track: str = "generated_track",
        laps: int = 1,
        time_limit: float = 120.0,
        render_mode: str | None = None,
        **settings: Any,
    ) -> None:
        """Make the car.

        Args:
            track: Name of the track.
            laps: How many laps make an episode a success, and end it.
            time_limit: An episode is over after so long [s].
            render_mode: "rgb_array": `render` returns a view from behind the car; None: nothing.
            **settings: See `track_settings.read_settings`; the car begins on the grid unless they say otherwise.

        Raises:
            SpecError: Something asked for is not possible.
            SceneError: There is no such track.
        """
        chosen = {"throttle_range": (-1.0, 1.0), "starts_at_random": False, **settings}
        self._env = TrackEnv(
            track, render_mode=render_mode, observe="camera", lap_limit=laps, time_limit=time_limit, **chosen
        )
        self.render_mode, self._laps = render_mode, laps
        self._max_episode_steps = round(time_limit * STEPS_PER_SECOND)
        self.action_space = self._env.action_space
        state = Box(-1.0, 1.0, (2,), np.float32)
        self.observation_space: Dict = Dict({"pixels": self._env.observation_space, "agent_pos": state})

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Seen, dict[str, Any]]:
        """Begin an episode; arguments and errors are those of `TrackEnv.reset`."""
        seed = read_seed(seed)
        super().reset(seed=seed)
        pixels, info = self._env.reset(seed=seed, options=options)
        return {"pixels": pixels, "agent_pos": np.zeros(2, np.float32)}, {**info, "is_success": False}

    def step(self, action: Any) -> tuple[Seen, float, bool, bool, dict[str, Any]]:
        """Drive for a twentieth of a second.

        Args:
            action: Steering (+ = right) and throttle; what is beyond -1 and 1, as policies may answer, is cut off.
        """
        limited = np.clip(np.asarray(action, np.float32), -1.0, 1.0)
        pixels, reward, terminated, truncated, info = self._env.step(limited)
        is_success = bool(info["laps"] >= self._laps)
        seen = {"pixels": pixels, "agent_pos": limited}
        return seen, reward, terminated, truncated, {**info, "is_success": is_success}

    def render(self) -> Any:
        """Return the view from behind the car, [height, width, 3]."""
        return self._env.render()

    def close(self) -> None:
        """Stop the simulator's threads."""
        self._env.close()
