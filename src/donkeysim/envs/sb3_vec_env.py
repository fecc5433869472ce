"""A batch of cars as a `VecEnv` of Stable-Baselines3: what its algorithms learn from, without copies between processes.

Only this module imports Stable-Baselines3.
"""

import time
from collections.abc import Sequence
from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray

from donkeysim.core.errors import SpecError, describe_install
from donkeysim.core.types import BoolArray, FloatArray
from donkeysim.envs.autoreset import AutoresetMode
from donkeysim.envs.observations import Observation
from donkeysim.envs.vector_env import FleetVectorEnv

try:
    from stable_baselines3.common.monitor import Monitor
    from stable_baselines3.common.vec_env import VecEnv
    from stable_baselines3.common.vec_env.base_vec_env import VecEnvIndices, VecEnvStepReturn
except ImportError as error:
    raise SpecError(f"this needs Stable-Baselines3; install it {describe_install('rl')}") from error


class DonkeyVecEnv(VecEnv):
    """All cars of a batch; what it hands out is nobody else's, and each ended episode reports its sum and length."""

    def __init__(self, batch: FleetVectorEnv) -> None:
        """Take over a batch.

        Args:
            batch: With `copy=True` and `autoreset_mode="SameStep"`.

        Raises:
            SpecError: It begins its episodes otherwise, or lends its arrays.
        """
        if batch.metadata["autoreset_mode"] is not AutoresetMode.SAME_STEP or not batch.copies:
            raise SpecError("Stable-Baselines3 takes a batch with autoreset_mode='SameStep' and copy=True.")
        self.batch = batch
        self._begun = time.monotonic()
        self._sum: FloatArray = np.zeros(batch.num_envs)
        self._length = np.zeros(batch.num_envs, np.int64)
        self._actions: NDArray[Any] | None = None
        self._own: list[dict[str, Any]] = [{} for _ in range(batch.num_envs)]
        super().__init__(batch.num_envs, batch.single_observation_space, batch.single_action_space)

    def reset(self) -> Observation:
        """Begin all episodes, with what `seed` and `set_options` have asked for since the last time."""
        first = self._options[0]
        seen, info = self.batch.reset(seed=self._seeds, options=first)
        for car, options in enumerate(self._options):
            if options != first:
                mask = np.arange(self.num_envs) == car
                seen, info = self.batch.reset(seed=self._seeds, options={**options, "reset_mask": mask})
        self._sum[:], self._length[:] = 0.0, 0
        self.reset_infos = _split_info(info, self.num_envs)
        self._reset_seeds()
        self._reset_options()
        return seen

    def step_async(self, actions: NDArray[Any]) -> None:
        """Note what the cars shall do."""
        self._actions = actions

    def step_wait(self) -> VecEnvStepReturn:
        """Let them do it; return observations, rewards, ends and the info of each car."""
        seen, reward, terminated, truncated, info = self.batch.step(self._actions)
        done: BoolArray = terminated | truncated
        self._sum += reward
        self._length += 1
        infos = _split_info(info, self.num_envs)
        if done.any():
            self._note_ends(infos, info, done)
        for car, cut in enumerate(truncated.tolist()):
            infos[car]["TimeLimit.truncated"] = cut
        return seen, reward.astype(np.float32), done, infos

    def _note_ends(self, infos: list[dict[str, Any]], info: dict[str, Any], done: BoolArray) -> None:
        """Put the last step of ended episodes in place of the first one of those that follow."""
        final = _split_info(info["final_info"], self.num_envs)
        elapsed = round(time.monotonic() - self._begun, 6)
        for car in np.flatnonzero(done).tolist():
            self.reset_infos[car] = infos[car]
            episode = {"r": round(float(self._sum[car]), 6), "l": int(self._length[car]), "t": elapsed}
            infos[car] = {**final[car], "terminal_observation": info["final_obs"][car], "episode": episode}
        self._sum[done], self._length[done] = 0.0, 0

    def close(self) -> None:
        """Stop the threads."""
        self.batch.close()

    def get_images(self) -> Sequence[NDArray[np.uint8] | None]:
        """Return a view from behind each car, shape [360, 640, 3]; None without `render_mode="rgb_array"`."""
        return self.batch.render() or [None] * self.num_envs

    def get_attr(self, attr_name: str, indices: VecEnvIndices = None) -> list[Any]:
        """Return an attribute of the batch for each car, or what `set_attr` has given the car."""
        owned = (self._own[car] for car in self._get_indices(indices))
        return [own[attr_name] if attr_name in own else getattr(self.batch, attr_name) for own in owned]

    def set_attr(self, attr_name: str, value: Any, indices: VecEnvIndices = None) -> None:
        """Give cars an attribute of their own.

        Raises:
            SpecError: The batch has one of that name, which is the same for all cars.
        """
        if hasattr(self.batch, attr_name):
            raise SpecError(f"{attr_name} belongs to the whole batch; make another batch with the value you want.")
        for car in self._get_indices(indices):
            self._own[car][attr_name] = value

    def env_method(
        self, method_name: str, *method_args: Any, indices: VecEnvIndices = None, **method_kwargs: Any
    ) -> list[Any]:
        """Call a method of the batch, once, and return its result for each car."""
        result = getattr(self.batch, method_name)(*method_args, **method_kwargs)
        return [result for _ in self._get_indices(indices)]

    def env_is_wrapped(self, wrapper_class: type[Any], indices: VecEnvIndices = None) -> list[bool]:
        """Say that episodes report their sums and lengths, as a `Monitor` does; there is no other wrapper."""
        return [wrapper_class is Monitor for _ in self._get_indices(indices)]


def make_sb3_vec_env(
    env_id: str = "donkeysim/GeneratedTrack-v0", num_envs: int = 8, seed: int | None = None, **settings: Any
) -> DonkeyVecEnv:
    """Return a batch for Stable-Baselines3.

    Args:
        env_id: One of ours, or of the original's.
        seed: Of the first reset, if not another one is set before.
        **settings: As for `gymnasium.make_vec` of that id: `conf`, or those that
            `track_settings.read_settings` takes, and `threads`.

    Raises:
        SpecError: Something asked for is not possible.
        SceneError: There is no such track.
    """
    for name in ("copy", "autoreset_mode"):
        if name in settings:
            raise SpecError(f"{name} is already what Stable-Baselines3 needs; leave it out.")
    if not str(gymnasium.spec(env_id).vector_entry_point).startswith("donkeysim."):
        raise SpecError(f"{env_id} is not one of this simulator's environments; use 'donkeysim/GeneratedTrack-v0'.")
    mode = AutoresetMode.SAME_STEP
    batch: Any = gymnasium.make_vec(env_id, num_envs, "vector_entry_point", autoreset_mode=mode, **settings)
    env = DonkeyVecEnv(batch)
    if seed is not None:
        env.seed(seed)
    return env


def _split_info(info: dict[str, Any], count: int) -> list[dict[str, Any]]:
    """Return each car's part of a batch's `info`."""
    columns = {
        name: _split_info(part, count) if isinstance(part, dict) else part.tolist() if part.ndim == 1 else part
        for name, part in info.items()
        if not name.startswith("_") and name not in ("final_obs", "final_info")
    }
    return [{name: column[car] for name, column in columns.items()} for car in range(count)]
