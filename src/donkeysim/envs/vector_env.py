"""A batch of cars as one Gymnasium vector environment: all step in one call, in this process, on all cores."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import gymnasium
import numpy as np
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from donkeysim.core.errors import SpecError, describe_unknown, shorten
from donkeysim.core.kernel import get_formula
from donkeysim.core.types import BoolArray, Float32Array, FloatArray
from donkeysim.core.workers import count_cores
from donkeysim.envs.autoreset import AutoresetMode
from donkeysim.envs.fleet import Fleet, read_seed, read_start
from donkeysim.envs.kernels.episodes import scale_throttle
from donkeysim.envs.observations import Observation, Observer, copy_observation
from donkeysim.envs.step import Step
from donkeysim.envs.tasks import Task
from donkeysim.sim.viewpoint import draw_car

_scale_throttle = get_formula(scale_throttle)

Describe = Callable[[Step], dict[str, NDArray[Any]]]
"""Returns what `info` tells of every car, arrays of shape [car_count, ...] that nobody writes any more."""


@dataclass(frozen=True)
class ActionRange:
    """What actions mean: steering (+ = right) and throttle; as they are, a third number is the brake, 0 to 1.

    Attributes:
        steer_limit: Greatest steering, 0 to 1.
        throttle_min: Least throttle, -1 to 1.
        throttle_max: Greatest throttle.
        normalised: Whether both numbers run from -1 to 1, over these ranges; else they are meant as they are.
    """

    steer_limit: float = 1.0
    throttle_min: float = 0.0
    throttle_max: float = 1.0
    normalised: bool = False

    def make_space(self) -> gymnasium.spaces.Box[Any]:
        """Return the space of one car's actions."""
        if self.normalised:
            return gymnasium.spaces.Box(-1.0, 1.0, (2,), np.float32)
        low, high = [-self.steer_limit, self.throttle_min], [self.steer_limit, self.throttle_max]
        return gymnasium.spaces.Box(np.array(low, np.float32), np.array(high, np.float32), dtype=np.float32)

    def decode(self, actions: Any, car_count: int) -> tuple[FloatArray, ...]:
        """Return steer (+ = left) and throttle, -1 to 1, and the brake, 0 to 1, if given, shape [car_count] each.

        Raises:
            SpecError: There are not two finite numbers for each car.
        """
        try:
            table = np.asarray(actions, np.float64)
        except (TypeError, ValueError):
            table = np.full(0, np.nan)
        widths = (2,) if self.normalised else (2, 3)
        if table.ndim != 2 or len(table) != car_count or table.shape[1] not in widths or not np.isfinite(table).all():
            raise SpecError(
                f"the actions have shape {table.shape}, or are not finite; they take steering and throttle for each "
                f"car, shape ({car_count}, 2)."
            )
        if self.normalised:
            table = np.minimum(np.maximum(table, -1.0), 1.0)  # a third of what `clip` takes for one car
            throttle = _scale_throttle(table[:, 1], self.throttle_min, self.throttle_max)
            return -self.steer_limit * table[:, 0], throttle
        steer, throttle = -np.clip(table[:, 0], -1.0, 1.0), np.clip(table[:, 1], -1.0, 1.0)
        return (steer, throttle, *np.clip(table[:, 2:].T, 0.0, 1.0))


class FleetVectorEnv(gymnasium.vector.VectorEnv[Observation, Float32Array, NDArray[Any]]):
    """Cars of a fleet, each alone in its world, as one vector environment.

    Attributes:
        fleet: Whose cars they are.
        copies: Whether observations are the caller's own.
        autoreset_mode: When new episodes begin; in the metadata too, but TorchRL asks for it here.
    """

    def __init__(
        self,
        fleet: Fleet,
        task: Task,
        observer: Observer,
        actions: ActionRange,
        describe: Describe,
        *,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        copy: bool = True,
        starts_at_random: bool = False,
        render_mode: str | None = None,
    ) -> None:
        """Put together what others made.

        Args:
            fleet: Opened, one car in each world.
            task: Judges every step.
            observer: Of this fleet.
            actions: What actions mean.
            describe: Makes `info`.
            autoreset_mode: One of Gymnasium's three.
            copy: False: observations are the batch's own arrays, valid until the next but one call of `step` or
                `reset`.
            starts_at_random: Where episodes begin that are not told where.
            render_mode: "rgb_array" or None.

        Raises:
            SpecError: There is no such mode.
        """
        if render_mode not in (None, "rgb_array"):
            raise SpecError(f"render_mode is {render_mode!r}; a batch takes 'rgb_array' or None.")
        self.fleet = fleet
        self.num_envs = fleet.world_count
        self.render_mode = render_mode
        self.autoreset_mode = read_mode(autoreset_mode)
        self.metadata = {"render_modes": ["rgb_array"], "render_fps": 20, "autoreset_mode": self.autoreset_mode}
        self.single_observation_space, self.single_action_space = observer.space, actions.make_space()
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self._task, self._observer, self._actions, self._describe = task, observer, actions, describe
        self.copies = copy
        self._at_random = starts_at_random
        self._is_over: BoolArray = np.zeros(self.num_envs, bool)
        self._is_seeded: BoolArray = np.zeros(self.num_envs, bool)

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Begin new episodes, all of them or those of `options["reset_mask"]`.

        Args:
            seed: Of the first world, the next ones take the next numbers; or one for each; None goes on with new
                random numbers. Those of episodes that do not begin now are left aside.
            options: `reset_mask`, shape [num_envs]: which; `s`, `offset` [m] and `yaw` [rad]: where on the path.

        Raises:
            SpecError: The options or seeds are not possible.
            gymnasium.error.ResetNeeded: Some shall begin before all have begun once.
        """
        given = dict(options or {})
        worlds = np.flatnonzero(read_mask(given.pop("reset_mask", None), self.num_envs)).tolist()
        start = read_start(given)
        is_all = len(worlds) == self.num_envs
        if not is_all and self.fleet.step is None:
            raise gymnasium.error.ResetNeeded("call reset for all of them first, without a reset_mask.")
        self._seed_worlds(seed, worlds)
        step = self.fleet.begin(worlds, dict.fromkeys(worlds, start) if start else None, at_random=self._at_random)
        self._is_over[worlds] = False
        begun: BoolArray = np.zeros(self.num_envs, bool)
        begun[worlds] = True
        seen = self._observer.observe(step, worlds) if is_all else self._observer.renew(step, worlds)
        return self._hand_out(seen), self._make_info(step, begun)

    def step(self, actions: Any) -> tuple[Observation, FloatArray, BoolArray, BoolArray, dict[str, Any]]:
        """Drive all cars for one step.

        Args:
            actions: Shape [num_envs, 2].

        Returns:
            Observations, rewards, terminated, truncated, shape [num_envs, ...] each, and `info`.

        Raises:
            SpecError: The actions are not possible.
            gymnasium.error.ResetNeeded: No episode has begun, or one is over and `autoreset_mode` is Disabled.
        """
        if self.fleet.step is None:
            raise gymnasium.error.ResetNeeded("call reset before step.")
        if self.autoreset_mode is AutoresetMode.DISABLED and self._is_over.any():
            over = np.flatnonzero(self._is_over).tolist()
            raise gymnasium.error.ResetNeeded(f"the episodes {over} are over; reset them with options['reset_mask'].")
        step, reward, terminated, truncated = self._drive(self._actions.decode(actions, self.num_envs))
        if self.autoreset_mode is AutoresetMode.NEXT_STEP:
            return self._begin_those_over(step, reward, terminated, truncated)
        self._is_over = terminated | truncated
        seen = self._observer.observe(step)
        if self.autoreset_mode is AutoresetMode.SAME_STEP and self._is_over.any():
            seen, info = self._begin_at_once(seen, step)
        else:
            info = self._make_info(step)
        return self._hand_out(seen), reward, terminated, truncated, info

    def _drive(self, controls: tuple[FloatArray, ...]) -> tuple[Step, FloatArray, BoolArray, BoolArray]:
        """Let a step pass and judge it."""
        step = self.fleet.advance(*controls)
        return (step, *self._task.judge(step))

    def _begin_those_over(
        self, step: Step, reward: FloatArray, terminated: BoolArray, truncated: BoolArray
    ) -> tuple[Observation, FloatArray, BoolArray, BoolArray, dict[str, Any]]:
        """Begin anew where an episode ended in the step before; what this step did there does not count."""
        begun = np.flatnonzero(self._is_over).tolist()
        if begun:
            step = self.fleet.begin(begun, at_random=self._at_random)
            for array in (reward, terminated, truncated):
                array[begun] = 0
        self._is_over = terminated | truncated
        return self._hand_out(self._observer.observe(step, begun)), reward, terminated, truncated, self._make_info(step)

    def _begin_at_once(self, seen: Observation, step: Step) -> tuple[Observation, dict[str, Any]]:
        over = np.flatnonzero(self._is_over).tolist()
        last: NDArray[Any] = np.full(self.num_envs, None, object)
        for car in over:
            last[car] = copy_observation(seen, car)
        final = {"final_obs": last, "final_info": self._make_info(step, self._is_over)}
        masks = {f"_{name}": self._is_over.copy() for name in final}
        begun = self.fleet.begin(over, at_random=self._at_random)
        return self._observer.redraw(begun, over), {**self._make_info(begun), **final, **masks}

    def render(self) -> tuple[Any, ...] | None:
        """Return a view from behind each car, shape [360, 640, 3] each."""
        if self.render_mode is None:
            return None
        return tuple(draw_car(self.fleet.simulator, car) for car in range(self.num_envs))

    def close_extras(self, **kwargs: Any) -> None:
        """Stop the threads."""
        del kwargs
        if hasattr(self, "fleet"):  # Gymnasium up to 1.2 also closes what could not be made
            self.fleet.close()

    def _seed_worlds(self, seed: int | Sequence[int | None] | None, worlds: Sequence[int]) -> None:
        seeds = spread_seeds(seed, self.num_envs)
        if isinstance(seed, (int, np.integer)):
            self._np_random, self._np_random_seed = gymnasium.utils.seeding.np_random(int(seed))
        for world in worlds:
            number = seeds[world]
            if number is None and not self._is_seeded[world]:
                number = int(self.np_random.integers(0, 2**31))
            if number is not None:
                self.fleet.seed(world, number)
                self._is_seeded[world] = True

    def _make_info(self, step: Step, who: BoolArray | None = None) -> dict[str, Any]:
        """Return `info` by Gymnasium's vector convention, told of these only, or of all."""
        mask = np.ones(self.num_envs, bool) if who is None else who
        info: dict[str, Any] = {}
        for name, array in self._describe(step).items():
            info[name], info[f"_{name}"] = array, mask
        drawn = self.fleet.simulator.list_randomization()
        if drawn:
            info["randomization"] = drawn | {f"_{name}": mask for name in drawn}
            info["_randomization"] = mask
        return info

    def _hand_out(self, seen: Observation) -> Observation:
        return copy_observation(seen) if self.copies else seen


def spread_seeds(seed: int | Sequence[int | None] | None, count: int) -> list[int | None]:
    """Return a seed for each environment: the first one's is given and the next ones take the next numbers, or all are.

    Raises:
        SpecError: There is not one for each, or one is no whole number.
    """
    if isinstance(seed, str) or not isinstance(seed, Iterable):
        first = read_seed(seed)
        return [None if first is None else first + world for world in range(count)]
    seeds = list(map(read_seed, seed))
    if len(seeds) != count:
        raise SpecError(f"{len(seeds)} seeds were given for {count} environments; give one for each.")
    return seeds


def read_mask(mask: Any, count: int) -> BoolArray:
    """Return which environments a `reset_mask` means; None: all.

    Raises:
        SpecError: It is not a truth value for each, or none is true.
    """
    flags = np.ones(count, bool) if mask is None else np.asarray(mask)
    if flags.shape != (count,) or flags.dtype != np.bool_ or not flags.any():
        raise SpecError(
            f"reset_mask has shape {flags.shape} and type {flags.dtype}; it takes {count} truth values, "
            "at least one of them true."
        )
    return flags


def read_mode(mode: AutoresetMode | str) -> AutoresetMode:
    """Return one of Gymnasium's autoreset modes.

    Raises:
        SpecError: There is no such mode.
    """
    modes = [mode.value for mode in AutoresetMode]
    if not isinstance(mode, AutoresetMode) and mode not in modes:
        raise SpecError(describe_unknown("autoreset mode", str(mode), modes))
    return AutoresetMode(mode)


def read_action(action: Any, takes_brake: bool) -> list[float]:
    """Return one car's steering and throttle, and the brake if it is given and taken.

    Raises:
        SpecError: They are something else, or not finite.
    """
    try:
        numbers = [float(value) for value in action]
    except (TypeError, ValueError):
        numbers = []
    if len(numbers) not in ((2, 3) if takes_brake else (2,)) or not all(map(math.isfinite, numbers)):
        given = shorten(repr(action))
        brake = ", and the brake if you like" if takes_brake else ""
        raise SpecError(f"the action is {given}; it takes two finite numbers, steering and throttle{brake}.")
    return numbers


def choose_threads(threads: int | None, car_count: int) -> int:
    """Return how many threads a batch runs on: as asked, or one per core, though never more than cars.

    Raises:
        SpecError: It is no whole number, or below 1.
    """
    if threads is None:
        return max(1, min(count_cores(), car_count))
    if not isinstance(threads, (int, np.integer)) or threads < 1:
        raise SpecError(f"threads is {threads!r}; it takes a whole number, 1 or more, or None for one per core.")
    return int(threads)


def take_first(info: Mapping[str, Any]) -> dict[str, Any]:
    """Return the first car's part of a batch's `info`; numbers as Python has them, dicts of such parts as dicts."""
    return {
        name: take_first(part) if isinstance(part, Mapping) else part[0].item() if part.ndim == 1 else part[0]
        for name, part in info.items()
        if not name.startswith("_")
    }
