"""In place of the old `gym`, before 0.26: `from donkeysim.envs import gym` and programs for it run.

There `reset` gives the picture alone and `step` four values. Wrappers and environments of one's own are written against
this module as they were against that one; what learns by Gymnasium's rules takes them by `modernise`.
"""

import sys
from collections.abc import Mapping
from dataclasses import replace
from importlib import import_module
from types import SimpleNamespace
from typing import Any, ClassVar, Self

import gymnasium
from gymnasium import error, spaces, utils

import donkeysim  # noqa: F401  (registers the ids)
from donkeysim.core.errors import SpecError, describe_unknown, is_slip
from donkeysim.envs.registration import SCENE_BY_ID

__all__ = [
    "ActionWrapper",
    "Env",
    "ObservationWrapper",
    "OldDonkeyEnv",
    "RewardWrapper",
    "Space",
    "Wrapper",
    "__version__",
    "core",
    "envs",
    "error",
    "logger",
    "make",
    "modernise",
    "register",
    "spaces",
    "utils",
    "wrappers",
]

__version__ = "0.21.0"  # whose rules these are
Space = spaces.Space

MADE_WITH = ("conf", "scene", "level", "render_mode", "max_episode_steps", "disable_env_checker")
"""What `make` takes for the original's ids beside keys of a `conf`."""

_made: dict[str, tuple[Any, dict[str, Any], int | None]] = {}
"""Environments of programs, by their ids: a class, or its place as "module:Class", what it takes, and most steps."""


class Env:
    """An environment with four values a step; base of those of one's own.

    Attributes:
        metadata: As Gymnasium's.
        reward_range: Least and greatest reward.
        action_space: What `step` takes.
        observation_space: What `reset` and `step` return.
        spec: How it was made; None: by hand.
    """

    metadata: ClassVar[dict[str, Any]] = {"render.modes": ["human", "rgb_array"]}
    reward_range = (-float("inf"), float("inf"))
    action_space: Any = None
    observation_space: Any = None
    spec: Any = None

    def reset(self) -> Any:
        """Begin an episode and return the first observation."""
        raise NotImplementedError

    def step(self, action: Any) -> tuple[Any, float, bool, dict[str, Any]]:
        """Return observation, reward, whether the episode has ended, and `info`."""
        raise NotImplementedError

    def render(self, mode: str = "human") -> Any:
        """Return a picture, or show one."""

    def close(self) -> None:
        """Let go of everything."""

    def seed(self, seed: int | None = None) -> list[int | None]:
        """Seed what is random from the next episode on."""
        return [seed]

    @property
    def unwrapped(self) -> Any:
        """The environment itself, without wrappers."""
        return self

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class OldEnv(Env):
    """One of Gymnasium's environments, by the old rules; whatever else is asked of it, that one answers."""

    def __init__(self, env: gymnasium.Env[Any, Any]) -> None:
        self.env = env
        self.action_space, self.observation_space, self.spec = env.action_space, env.observation_space, env.spec
        self._seed: int | None = None
        self._has_begun = False
        self._inner: OldEnv | None = self if env.unwrapped is env else None

    def reset(self) -> Any:
        """Begin an episode and return the first observation."""
        seed, self._seed = self._seed, None
        self._has_begun = True
        return self.env.reset(seed=seed)[0]

    def step(self, action: Any) -> tuple[Any, float, bool, dict[str, Any]]:
        """Return observation, reward, whether the episode has ended, and `info`; the first step may begin it."""
        try:
            observation, reward, terminated, truncated, info = self.env.step(action)
        except gymnasium.error.ResetNeeded:
            if self._has_begun:
                raise
            self.reset()
            observation, reward, terminated, truncated, info = self.env.step(action)
        if truncated:
            info["TimeLimit.truncated"] = not terminated
        return observation, float(reward), bool(terminated or truncated), info

    def render(self, mode: str = "human") -> Any:
        """Return the picture that the environment was made to draw, None when it draws none."""
        del mode
        return self.env.render() if self.env.render_mode is not None else None

    def close(self) -> None:
        """Let go of the simulator."""
        self.env.close()

    def seed(self, seed: int | None = None) -> list[int | None]:
        """Seed what is random from the next episode on."""
        self._seed = seed
        return [seed]

    @property
    def unwrapped(self) -> Any:
        """The environment itself: its `viewer` and functions of one's own for rewards are there."""
        inner = self.env.unwrapped
        if isinstance(inner, modernise):  # Gymnasium's wrappers are around it
            return inner.env.unwrapped
        self._inner = self._inner or OldEnv(inner)
        return self._inner

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self.env.unwrapped, name)


class OldDonkeyEnv(OldEnv):
    """The original's `DonkeyEnv` by the old rules, as a base of classes of one's own."""

    def __init__(self, level: str = "generated_track", conf: Mapping[str, Any] | None = None) -> None:
        """Make the car, see `envs.donkey_env.DonkeyEnv`."""
        from donkeysim.envs.donkey_env import DonkeyEnv

        super().__init__(DonkeyEnv(level, conf))


class Wrapper(Env):
    """Changes an environment; whatever it does not say itself, that one does."""

    def __init__(self, env: Any) -> None:
        self.env = env
        self.action_space, self.observation_space = env.action_space, env.observation_space
        self.metadata, self.spec = env.metadata, env.spec  # type: ignore[misc]

    def reset(self, **kwargs: Any) -> Any:
        """As `Env.reset`."""
        return self.env.reset(**kwargs)

    def step(self, action: Any) -> tuple[Any, float, bool, dict[str, Any]]:
        """As `Env.step`."""
        stepped: tuple[Any, float, bool, dict[str, Any]] = self.env.step(action)
        return stepped

    def render(self, mode: str = "human", **kwargs: Any) -> Any:
        """As `Env.render`."""
        return self.env.render(mode, **kwargs)

    def close(self) -> None:
        """As `Env.close`."""
        self.env.close()

    def seed(self, seed: int | None = None) -> list[int | None]:
        """As `Env.seed`."""
        seeds: list[int | None] = self.env.seed(seed)
        return seeds

    @property
    def unwrapped(self) -> Any:
        """The environment itself, without wrappers."""
        return self.env.unwrapped

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name == "env":
            raise AttributeError(name)
        return getattr(self.env, name)


class ObservationWrapper(Wrapper):
    """Changes what is seen, by its `observation(observation)`."""

    def reset(self, **kwargs: Any) -> Any:
        """As `Env.reset`."""
        return self.observation(self.env.reset(**kwargs))

    def step(self, action: Any) -> tuple[Any, float, bool, dict[str, Any]]:
        """As `Env.step`."""
        observation, reward, done, info = self.env.step(action)
        return self.observation(observation), reward, done, info

    def observation(self, observation: Any) -> Any:
        """Return what is seen instead."""
        raise NotImplementedError


class RewardWrapper(Wrapper):
    """Changes rewards, by its `reward(reward)`."""

    def step(self, action: Any) -> tuple[Any, float, bool, dict[str, Any]]:
        """As `Env.step`."""
        observation, reward, done, info = self.env.step(action)
        return observation, self.reward(reward), done, info

    def reward(self, reward: float) -> float:
        """Return what is rewarded instead."""
        raise NotImplementedError


class ActionWrapper(Wrapper):
    """Changes what is done, by its `action(action)`."""

    def step(self, action: Any) -> tuple[Any, float, bool, dict[str, Any]]:
        """As `Env.step`."""
        stepped: tuple[Any, float, bool, dict[str, Any]] = self.env.step(self.action(action))
        return stepped

    def action(self, action: Any) -> Any:
        """Return what is done instead."""
        raise NotImplementedError


def register(
    id: str,  # noqa: A002
    entry_point: Any = None,
    kwargs: Mapping[str, Any] | None = None,
    max_episode_steps: int | None = None,
    **_: Any,
) -> None:
    """Have `make` know an environment of one's own by these rules or Gymnasium's: its class, or "module:Class"."""
    _made[id] = entry_point, dict(kwargs or {}), max_episode_steps


def make(env_id: str, **kwargs: Any) -> Any:
    """Return an environment by the old rules.

    Args:
        env_id: Of the original or of `register`.
        **kwargs: As of `gymnasium.make`; for the original's ids keys of a `conf` may stand there by themselves.

    Raises:
        SpecError: `conf` is not possible, or an argument is nearly one of `MADE_WITH`.
    """
    if env_id in _made:
        entry, given, most = _made[env_id]
        if isinstance(entry, str):
            module, _, name = entry.partition(":")
            entry = getattr(import_module(module), name)
        env = entry(**{**given, **kwargs})
        env = OldEnv(env) if isinstance(env, gymnasium.Env) else env
        return wrappers.TimeLimit(env, most) if most else env
    made: Any = env_id
    if env_id.removeprefix("donkeysim/") in SCENE_BY_ID:
        if kwargs.get("max_episode_steps") is None:  # without which a car is there before the first reset
            made = replace(gymnasium.spec(env_id), order_enforce=False)
        own = {key: kwargs.pop(key) for key in list(kwargs) if key not in MADE_WITH}
        for key in own:
            if any(is_slip(key, name) for name in MADE_WITH):
                raise SpecError(describe_unknown("argument of make", key, MADE_WITH))
        kwargs["conf"] = {**(kwargs.get("conf") or {}), **own}
    return OldEnv(gymnasium.make(made, **{"disable_env_checker": True, **kwargs}))


class modernise(gymnasium.Env[Any, Any]):  # noqa: N801  (called as a function is)
    """An environment of this module by Gymnasium's rules, for libraries that learn by them."""

    def __init__(self, env: Any) -> None:
        self.env = env
        self.action_space, self.observation_space = env.action_space, env.observation_space
        self.render_mode = "rgb_array"

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Begin an episode; the old rules know no `options`."""
        del options
        super().reset(seed=seed)
        if seed is not None:
            self.env.seed(seed)
        return self.env.reset(), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Return observation, reward, whether the episode has ended by itself or by a time limit, and `info`."""
        observation, reward, done, info = self.env.step(action)
        is_truncated = bool(info.get("TimeLimit.truncated"))
        return observation, reward, done and not is_truncated, is_truncated, info

    def render(self) -> Any:
        """Return a picture."""
        return self.env.render("rgb_array")

    def close(self) -> None:
        """Let go of everything."""
        self.env.close()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name == "env":
            raise AttributeError(name)
        return getattr(self.env, name)


class _Wrappers:
    """Gymnasium's wrappers around environments of this module, by their names and arguments of now and of then."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        wrap = _FORMER.get(name) or getattr(gymnasium.wrappers, name)
        return lambda env, *args, **kwargs: OldEnv(wrap(modernise(env), *args, **kwargs))


def _monitor(env: Any, directory: str, video_callable: Any = None, *_former: Any, **_named: Any) -> Any:
    """Films episodes, those that `video_callable` says, False: none; `force` and `resume` have no use any more."""
    if video_callable is False:
        return gymnasium.wrappers.RecordEpisodeStatistics(env)
    return gymnasium.wrappers.RecordVideo(env, directory, video_callable)


def _stack(env: Any, num_stack: int, lz4_compress: bool = False) -> Any:
    del lz4_compress
    return gymnasium.wrappers.FrameStackObservation(env, num_stack)


def _resize(env: Any, shape: Any) -> Any:
    return gymnasium.wrappers.ResizeObservation(env, (shape, shape) if isinstance(shape, int) else tuple(shape))


def _transform(env: Any, f: Any, space: Any = None) -> Any:
    return gymnasium.wrappers.TransformObservation(env, f, space or env.observation_space)


_FORMER: dict[str, Any] = {
    "FrameStack": _stack,
    "GrayScaleObservation": gymnasium.wrappers.GrayscaleObservation,
    "Monitor": _monitor,
    "ResizeObservation": _resize,
    "TransformObservation": _transform,
}
"""Wrappers that were called otherwise or took other arguments."""


def _set_level(level: int) -> None:
    gymnasium.logger.min_level = level


wrappers = _Wrappers()
core = SimpleNamespace(
    Env=Env,
    Wrapper=Wrapper,
    ObservationWrapper=ObservationWrapper,
    RewardWrapper=RewardWrapper,
    ActionWrapper=ActionWrapper,
)
envs = SimpleNamespace(registration=SimpleNamespace(register=register, make=make))
logger = SimpleNamespace(
    DEBUG=10,
    INFO=20,
    WARN=30,
    ERROR=40,
    DISABLED=50,
    set_level=_set_level,
    warn=gymnasium.logger.warn,
    error=gymnasium.logger.error,
)

_PARTS: dict[str, Any] = {"spaces": spaces, "utils": utils, "error": error, "wrappers": wrappers, "envs": envs}
_PARTS |= {"utils.seeding": utils.seeding, "envs.registration": envs.registration}
sys.modules.update({f"{__name__}.{name}": part for name, part in _PARTS.items()})  # as of a package
