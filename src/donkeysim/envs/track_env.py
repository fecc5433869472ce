"""Our own family of environments, `donkeysim/<Track>-v0`: normalised actions, progress along the road, fair ends.

One car is a batch of one: what a seed gives alone it gives in any batch.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode
from numpy.typing import NDArray

from donkeysim.core.errors import SpecError
from donkeysim.core.types import Float32Array
from donkeysim.envs.fleet import Fleet
from donkeysim.envs.observations import LOOK_AHEAD, Observation, Observer, check_observe
from donkeysim.envs.step import Step
from donkeysim.envs.tasks import DEFAULT_ENDS, End, Reward, make_task
from donkeysim.envs.vector_env import ActionRange, FleetVectorEnv, choose_threads, draw_chase_view, take_first
from donkeysim.sim.simulator import CompileReport
from donkeysim.world.specs import CameraSpec, LidarSpec
from donkeysim.world.state import HIT_NONE

DEFAULT_LIDAR = LidarSpec(sweep_increment=math.radians(10.0), noise=0.0)
"""36 rays on one level, without noise."""

DEFAULT_THROTTLE = (0.0, 0.5)
"""What -1 and 1 mean."""


class TrackVectorEnv(FleetVectorEnv):
    """Many cars, each alone on its track, stepped together."""

    def __init__(
        self,
        num_envs: int = 1,
        track: str | Sequence[str] = "generated_track",
        *,
        reward: str | Reward = "progress",
        ends: Sequence[str | End] = DEFAULT_ENDS,
        time_limit: float | None = 60.0,
        lap_limit: int | None = None,
        observe: str | Sequence[str] = "camera",
        stack: int = 1,
        camera: CameraSpec | None = None,
        lidar: LidarSpec = DEFAULT_LIDAR,
        steer_limit: float = 1.0,
        throttle_range: tuple[float, float] = DEFAULT_THROTTLE,
        frame_skip: int = 1,
        starts_at_random: bool = True,
        threads: int | None = None,
        copy: bool = True,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        render_mode: str | None = None,
        folders: tuple[str, ...] = (),
        report: CompileReport | None = None,
    ) -> None:
        """Make the cars; the first time on a machine their kernels are compiled, which takes half a minute.

        Args:
            num_envs: Cars.
            track: Name of a track, or several, on which the cars take turns.
            reward: Name of `tasks.REWARDS`, or a function of a `Step`.
            ends: Names of `tasks.ENDS`, or functions of a `Step`.
            time_limit: Episodes are truncated after so long [s]; None: never.
            lap_limit: Episodes are truncated after so many laps; None: never.
            observe: One of `observations.OBSERVATIONS`, or several, which gives a dict.
            stack: How many moments are told at once, along the last axis.
            camera: Of "camera" and "grey"; None: the original's, 160x120.
            lidar: Of "lidar".
            steer_limit: What steering 1 means, 0 to 1.
            throttle_range: What throttle -1 and 1 mean, each -1 to 1.
            frame_skip: Twentieths of a simulated second in one step.
            starts_at_random: Episodes begin somewhere on the road, a little askew; else on the grid.
            threads: None: one per core.
            copy: False: observations are valid until the next but one step.
            autoreset_mode: One of Gymnasium's three.
            render_mode: "rgb_array" or None.
            folders: Further folders to look for track files.
            report: Told before each kernel is compiled, and at the end.

        Raises:
            SpecError: Something asked for is not possible.
            SceneError: There is no such track.
        """
        task = make_task(reward, ends, time_limit, lap_limit)
        names = check_observe(observe)
        _check_counts(num_envs=num_envs, stack=stack, frame_skip=frame_skip)
        _check_ranges(steer_limit, throttle_range)
        fleet = Fleet(
            [track] if isinstance(track, str) else list(track),
            num_envs,
            worker_count=choose_threads(threads, num_envs),
            frame_skip=frame_skip,
            look_ahead=LOOK_AHEAD if "vector" in names else (),
            folders=folders,
        )
        fleet.open(None, report=report)
        super().__init__(
            fleet,
            task,
            Observer(fleet, observe, camera or fleet.simulator.car_spec.camera, lidar, stack),
            ActionRange(steer_limit, *throttle_range, normalised=True),
            describe_step,
            autoreset_mode=autoreset_mode,
            copy=copy,
            starts_at_random=starts_at_random,
            render_mode=render_mode,
        )


class TrackEnv(gymnasium.Env[Observation, Float32Array]):
    """One car on one track.

    Attributes:
        fleet: Its simulator, with one world.
    """

    metadata: dict[str, Any] = {"render_modes": ["rgb_array"], "render_fps": 20}  # noqa: RUF012  (Gymnasium's form)

    def __init__(self, track: str = "generated_track", *, render_mode: str | None = None, **settings: Any) -> None:
        """Make the car.

        Args:
            track: Name of the track.
            render_mode: "rgb_array": `render` returns a view from behind the car, 640x360; None: nothing.
            **settings: As for `TrackVectorEnv`, but for `num_envs`, `autoreset_mode` and `copy`.

        Raises:
            SpecError: Something asked for is not possible.
            SceneError: There is no such track.
        """
        for name in ("num_envs", "autoreset_mode", "copy"):
            if name in settings:
                raise SpecError(f"{name} is for batches only; make one with gymnasium.make_vec.")
        self.render_mode = render_mode
        self._batch = TrackVectorEnv(
            1, track, render_mode=render_mode, autoreset_mode=AutoresetMode.DISABLED, copy=True, **settings
        )
        self.fleet = self._batch.fleet
        self.observation_space = self._batch.single_observation_space
        self.action_space = self._batch.single_action_space

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Begin an episode; with a seed it is repeatable bit for bit.

        Args:
            seed: Of all that is random from now on; None goes on with new random numbers.
            options: `s`, `offset` [m] and `yaw` [rad]: where on the path to begin.

        Raises:
            SpecError: The options are not possible.
        """
        super().reset(seed=seed)
        seen, info = self._batch.reset(seed=seed, options=options)
        return _take_row(seen), take_first(info)

    def step(self, action: Any) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Drive for one step.

        Args:
            action: Steering (+ = right) and throttle, -1 to 1.

        Raises:
            SpecError: The action is not two finite numbers.
            gymnasium.error.ResetNeeded: No episode has begun, or it is over.
        """
        seen, reward, terminated, truncated, info = self._batch.step(np.asarray(action)[None])
        return _take_row(seen), float(reward[0]), bool(terminated[0]), bool(truncated[0]), take_first(info)

    def render(self) -> NDArray[np.uint8] | None:
        """Return a view from behind the car, shape [360, 640, 3]."""
        return None if self.render_mode is None else draw_chase_view(self.fleet, 0)

    def close(self) -> None:
        """Stop the simulator's threads."""
        self._batch.close()


def describe_step(step: Step) -> dict[str, NDArray[Any]]:
    """Return what `info` tells of every car: metres, m/s, seconds, + = left."""
    return {
        "position": step.state.position.copy(),
        "offset": step.offset.copy(),
        "heading_error": step.heading_error.copy(),
        "along": step.along.copy(),
        "speed": np.hypot(step.forward_speed, step.left_speed),
        "on_road": step.on_road,
        "hit": step.hit != HIT_NONE,
        "driven": step.driven.copy(),
        "progress": step.furthest / step.path_length,
        "laps": step.laps,
        "lap_time": step.lap_time.copy(),
    }


def _take_row(seen: Observation) -> Observation:
    return {name: array[0] for name, array in seen.items()} if isinstance(seen, dict) else seen[0]


def _check_counts(**counts: int) -> None:
    for name, count in counts.items():
        if not isinstance(count, (int, np.integer)) or count < 1:
            raise SpecError(f"{name} is {count!r}; it takes a whole number, 1 or more.")


def _check_ranges(steer_limit: float, throttle_range: tuple[float, float]) -> None:
    if not 0.0 < steer_limit <= 1.0:
        raise SpecError(f"steer_limit is {steer_limit}; it takes a number above 0, up to 1.")
    low, high = throttle_range
    if not -1.0 <= low < high <= 1.0:
        raise SpecError(f"throttle_range is {throttle_range}; it takes two numbers from -1 to 1, the lower one first.")
