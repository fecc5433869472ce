"""Our own family of environments, `donkeysim/<Track>-v0`: normalised actions, progress along the road, fair ends.

One car is a batch of one: what a seed gives alone it gives in any batch.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gymnasium.error import ResetNeeded

from donkeysim.core.errors import SpecError
from donkeysim.core.types import ByteArray
from donkeysim.envs.autoreset import AutoresetMode
from donkeysim.envs.fleet import read_seed
from donkeysim.envs.observations import Observation
from donkeysim.envs.step_info import StepInfo
from donkeysim.envs.track_settings import check_count, read_settings
from donkeysim.envs.vector_env import FleetVectorEnv, choose_threads, read_action, take_first
from donkeysim.envs.window import ShownEnv
from donkeysim.sim.viewpoint import draw_car
from donkeysim.world.specs import SceneSpec


class TrackVectorEnv(FleetVectorEnv):
    """Many cars, each alone on its track, stepped together."""

    def __init__(
        self,
        num_envs: int = 1,
        track: str | SceneSpec | Sequence[str | SceneSpec] = "generated_track",
        *,
        threads: int | None = None,
        copy: bool = True,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        render_mode: str | None = None,
        **settings: Any,
    ) -> None:
        """Make the cars; the first time on a machine their kernels are compiled, which takes half a minute.

        Args:
            num_envs: Cars.
            track: A track by name or with all that is said of it, or several, on which the cars take turns.
            threads: None: one per core.
            copy: False: observations are valid until the next but one step.
            autoreset_mode: One of Gymnasium's three.
            render_mode: "rgb_array" or None.
            **settings: See `track_settings.read_settings`.

        Raises:
            SpecError: Something asked for is not possible.
            SceneError: There is no such track.
        """
        own = ("num_envs", "track", "threads", "copy", "autoreset_mode", "render_mode")
        chosen = read_settings(settings, track, own)
        check_count("num_envs", num_envs)
        fleet = chosen.make_fleet(num_envs, worker_count=choose_threads(threads, num_envs))
        task = chosen.make_task()
        fleet.open(None)
        super().__init__(
            fleet,
            task,
            chosen.make_observer(fleet),
            chosen.make_actions(),
            StepInfo(fleet.simulator).describe,
            autoreset_mode=autoreset_mode,
            copy=copy,
            starts_at_random=chosen.starts_at_random,
            render_mode=render_mode,
        )


class TrackEnv(ShownEnv[Observation]):
    """One car on one track.

    Attributes:
        fleet: Its simulator, with one world.
    """

    def __init__(self, track: str = "generated_track", *, render_mode: str | None = None, **settings: Any) -> None:
        """Make the car.

        Args:
            track: Name of the track.
            render_mode: "rgb_array": `render` returns a view from behind the car, 640x360; "human": a window shows it
                after every step, in real time; None: nothing.
            **settings: See `track_settings.read_settings`.

        Raises:
            SpecError: Something asked for is not possible, or there is no display for a window.
            SceneError: There is no such track.
        """
        super().__init__(render_mode)
        for name in ("num_envs", "autoreset_mode", "copy", "threads"):
            if name in settings:
                raise SpecError(f"{name} is for batches only; make one with gymnasium.make_vec.")
        self._batch = TrackVectorEnv(1, track, threads=1, autoreset_mode=AutoresetMode.DISABLED, **settings)
        self.fleet = self._batch.fleet
        self.observation_space = self._batch.single_observation_space
        self.action_space = self._batch.single_action_space
        self._is_over = False

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Begin an episode; with a seed it is repeatable bit for bit.

        Args:
            seed: Of all that is random from now on; None goes on with new random numbers.
            options: `s`, `offset` [m] and `yaw` [rad]: where on the path to begin.

        Raises:
            SpecError: The seed or the options are not possible.
        """
        super().reset(seed=read_seed(seed))
        seen, info = self._batch.reset(seed=seed, options=options)
        self._is_over = False
        self._show()
        return _take_row(seen), take_first(info)

    def step(self, action: Any) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Drive for one step.

        Args:
            action: Steering (+ = right) and throttle, -1 to 1.

        Raises:
            SpecError: The action is not two finite numbers.
            gymnasium.error.ResetNeeded: No episode has begun, or it is over.
        """
        if self._is_over:
            raise ResetNeeded("the episode is over; call reset to begin another one.")
        seen, rewards, terminated, truncated, info = self._batch.step([read_action(action, takes_brake=False)])
        self._is_over = bool(terminated[0] or truncated[0])
        self._show()
        return _take_row(seen), float(rewards[0]), bool(terminated[0]), bool(truncated[0]), take_first(info)

    def close(self) -> None:
        """Stop the simulator's threads and close the window."""
        self._batch.close()
        super().close()

    def _draw(self) -> ByteArray:
        return draw_car(self.fleet.simulator, 0)


def _take_row(seen: Observation) -> Observation:
    return {name: array[0] for name, array in seen.items()} if isinstance(seen, dict) else seen[0]
