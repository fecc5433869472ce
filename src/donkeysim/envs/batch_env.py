"""Thousands of cars on a device as one Gymnasium vector environment: the task too runs there, and nothing leaves it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import gymnasium
import numpy as np
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from donkeysim.core.device import Device, Graph, is_here, open_device
from donkeysim.core.errors import SpecError
from donkeysim.core.memory import MemoryUse, count_bytes
from donkeysim.envs.autoreset import AutoresetMode
from donkeysim.envs.batch_observer import BatchObserver
from donkeysim.envs.batch_settings import make_rules
from donkeysim.envs.episodes import NOWHERE, draw_episodes, make_episodes
from donkeysim.envs.exchange import DeviceArray, is_lent, take_array
from donkeysim.envs.fleet import read_start
from donkeysim.envs.kernels.episodes import WORD, seed_world, take_action
from donkeysim.envs.kernels.numbers import Told, copy_row
from donkeysim.envs.kernels.tasks import DISABLED, SAME_STEP, Verdicts, judge_car
from donkeysim.envs.observations import LOOK_AHEAD, Observation, check_observe
from donkeysim.envs.step_info import make_told, write_told
from donkeysim.envs.track_settings import check_count, read_settings
from donkeysim.envs.vector_env import ActionRange, choose_threads, read_mask, read_mode, spread_seeds
from donkeysim.envs.waiting import announce_kernels
from donkeysim.sim.batch import Batch
from donkeysim.sim.compile_processes import mark_compiled
from donkeysim.sim.simulator import STEPS_PER_FRAME, Simulator
from donkeysim.world.specs import SceneSpec

Convert = Callable[[Any], Any]
"""Makes somebody's own array of one of the device's without a copy, as `torch.from_dlpack` does."""


class BatchEnv(gymnasium.vector.VectorEnv[Observation, Any, Any]):
    """Many cars, each alone on its track, stepped together on a device.

    Attributes:
        simulator: Where they drive.
        batch: All its worlds.
        autoreset_mode: When new episodes begin.
    """

    def __init__(
        self,
        num_envs: int = 1,
        track: str | SceneSpec | Sequence[str | SceneSpec] = "generated_track",
        *,
        device: str | Device = "cpu",
        threads: int | None = None,
        copy: bool | None = None,
        convert: Convert | None = None,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        render_mode: str | None = None,
        **settings: Any,
    ) -> None:
        """Make the cars; the first time on a machine their kernels are compiled, which takes a minute.

        Args:
            num_envs: Cars.
            track: A track by name or with all that is said of it, or several, on which the cars take turns.
            device: What runs them: "cpu", or "cuda" or "cuda:1" for a GPU.
            threads: Of the CPU; None: one per core.
            copy: Whether what `step` returns is the caller's own; else it is the batch's own memory, which the next
                call writes over. None: on the CPU without `convert`.
            convert: Makes the caller's arrays of the batch's, `torch.from_dlpack` for example; None: NumPy's on the
                CPU, `DeviceArray` on a GPU.
            autoreset_mode: One of Gymnasium's three.
            render_mode: None: a batch on a device draws what pilots see only.
            **settings: See `track_settings.read_settings`.

        Raises:
            SpecError: Something asked for is not possible, or not on a device.
            SceneError: There is no such track.
        """
        own = ("num_envs", "track", "device", "threads", "copy", "convert", "autoreset_mode", "render_mode")
        chosen = read_settings(settings, track, own)
        check_count("num_envs", num_envs)
        if render_mode is not None:
            raise SpecError(
                f"render_mode is {render_mode!r}; a batch on a device takes None: leave `device` out to watch the cars."
            )
        self.num_envs, self.render_mode, self.autoreset_mode = num_envs, None, read_mode(autoreset_mode)
        self._rules = make_rules(chosen, self.autoreset_mode)
        look_ahead = LOOK_AHEAD if "vector" in check_observe(chosen.observe) else ()
        self._device = _find_device(device, threads)
        is_near = is_here(self._device)
        if copy and not is_near:
            raise SpecError("copy is True; on a GPU arrays are the batch's own: leave it out, and copy what you keep.")
        self._copies = (is_near and convert is None) if copy is None else copy
        self._convert = convert
        spec = chosen.experiment.specify_world(num_envs)
        self.simulator = Simulator(spec, device=self._device, look_ahead=look_ahead)
        self.batch = Batch(self.simulator)
        self._observer = BatchObserver(self.batch, chosen, keeps_last=self._rules.mode == SAME_STEP)
        self._frame_skip, self._at_random = chosen.frame_skip, chosen.starts_at_random
        self._range = (chosen.steer_limit, *chosen.throttle_range)
        self._has_begun = False
        self._stage = f"batch on {self._device.name}"
        self._graph: Graph | None = None
        self._make_spaces(chosen.make_actions())
        self._make_arrays()

    def _make_spaces(self, actions: ActionRange) -> None:
        self.metadata = {"render_modes": [], "render_fps": 20, "autoreset_mode": self.autoreset_mode}
        self.single_observation_space = self._observer.space
        self.single_action_space = actions.make_space()
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)

    def _make_arrays(self) -> None:
        """Make the arrays of the device that say what episodes are in and what a step brought."""
        device, count = self._device, self.num_envs
        self._is_seeded = np.zeros(count, bool)
        self._everyone, self._nobody = device.upload(np.ones(count, bool)), device.upload(np.zeros(count, bool))
        self._nowhere = device.upload(NOWHERE)
        self._actions = device.zeros((count, 2), np.float64)
        self._verdicts = Verdicts(device.zeros((count,), np.float64), *(device.zeros((count,), bool) for _ in range(4)))
        self._episodes = make_episodes(self.simulator)
        self._told, self._told_last = make_told(device, count), make_told(device, count)
        randomizer = self.simulator.place.randomizer
        self._values: Any = ()
        self._drawn: dict[str, Any] = {}
        self._drawn_last: dict[str, Any] = {}
        if randomizer is not None:
            value = randomizer.drawn.value
            self._values = value, device.zeros(tuple(value.shape), value.dtype)
            self._drawn, self._drawn_last = map(randomizer.name_columns, self._values)
        self._given: dict[int, Any] = {}

    # -- episodes -----------------------------------------------------------------------------------------------------

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Begin new episodes, all of them or those of `options["reset_mask"]`.

        Args:
            seed: Of the first world, the next ones take the next numbers; or one for each; None goes on with new
                random numbers. Those of episodes that do not begin now are left aside.
            options: `reset_mask`, shape [num_envs], an array of NumPy or of the device: which; `s`, `offset` [m] and
                `yaw` [rad]: where on the path.

        Raises:
            SpecError: The options or seeds are not possible.
            gymnasium.error.ResetNeeded: Some shall begin before all have begun once.
        """
        if not self._has_begun:
            announce_kernels(self._stage)
        given = dict(options or {})
        mask = given.pop("reset_mask", None)
        start = read_start(given)
        if mask is not None and not self._has_begun:
            raise gymnasium.error.ResetNeeded("call reset for all of them first, without a reset_mask.")
        begins = self._read_mask(mask)
        self._seed_worlds(seed, begins)
        if start is None:
            self._begin(begins, self._nowhere)
        else:
            self._begin(begins, self._device.upload(np.array([start.along, start.offset, start.yaw])))
        self._has_begun = True
        self._observer.look(begins, pushes=False)
        self._tell(self._told)
        return self._give_seen(), self._make_info(self._told, self._drawn, begins)

    def _begin(self, begins: Any, given: Any) -> None:
        """Begin the episodes of these worlds."""
        draw_episodes(self.batch, begins, self._episodes, self._at_random, given)
        self.batch.begin(begins, self._episodes.start)

    def _read_mask(self, mask: Any) -> Any:
        if mask is None:
            return self._everyone
        array = take_array(mask, self._device)
        if isinstance(array, np.ndarray):
            return self._device.upload(read_mask(array, self.num_envs))
        if tuple(array.shape) != (self.num_envs,) or np.dtype(array.dtype) != np.bool_:
            raise SpecError(f"reset_mask has shape {tuple(array.shape)} and type {array.dtype}; it takes truth values.")
        return array

    def _seed_worlds(self, seed: int | Sequence[int | None] | None, begins: Any) -> None:
        numbers = spread_seeds(seed, self.num_envs)
        if isinstance(seed, (int, np.integer)):
            self._np_random, self._np_random_seed = gymnasium.utils.seeding.np_random(int(seed))
        for world in np.flatnonzero(~self._is_seeded).tolist():
            if numbers[world] is None:
                numbers[world] = int(self.np_random.integers(0, 2**31))
        is_given = np.array([number is not None for number in numbers])
        words = np.array([0 if number is None else int(number) & WORD for number in numbers], np.int64)
        self._is_seeded |= is_given
        uploaded = self._device.upload((is_given, words))
        self._device.run(
            seed_world, self.num_envs, begins, *uploaded, self._episodes, self._verdicts.is_over, block=256
        )

    # -- steps --------------------------------------------------------------------------------------------------------

    def step(self, actions: Any) -> tuple[Observation, Any, Any, Any, dict[str, Any]]:
        """Drive all cars for one step.

        Args:
            actions: Shape [num_envs, 2], an array of NumPy or, without a copy, of the device. On a GPU a number that is
                none counts as 0.

        Returns:
            Observations, rewards, terminated, truncated, shape [num_envs, ...] each, and `info`.

        Raises:
            SpecError: The actions are not possible.
            gymnasium.error.ResetNeeded: No episode has begun.
        """
        if not self._has_begun:
            raise gymnasium.error.ResetNeeded("call reset before step.")
        self._take_actions(actions)
        if self._graph is None:
            self._advance()
            self._graph = self._device.capture(self._advance)
            mark_compiled(self._stage)
        else:
            self._graph.launch()
        verdicts = self._verdicts
        judged = (self._give(array) for array in (verdicts.reward, verdicts.terminated, verdicts.truncated))
        info = self._make_info(self._told, self._drawn, self._everyone)
        if self._rules.mode == SAME_STEP:
            info |= self._make_final_info()
        reward, terminated, truncated = judged
        return self._give_seen(), reward, terminated, truncated, info

    def _take_actions(self, actions: Any) -> None:
        try:
            table = take_array(actions, self._device)
        except (TypeError, ValueError):
            table = np.full(0, np.nan)
        shape = tuple(table.shape)
        is_fine = shape == (self.num_envs, 2) and np.dtype(table.dtype).kind in "fiu"
        if not is_fine or (isinstance(table, np.ndarray) and not np.isfinite(table).all()):
            raise SpecError(
                f"the actions have shape {shape}, or are not finite; they take steering and throttle for each car, "
                f"shape ({self.num_envs}, 2)."
            )
        if isinstance(table, np.ndarray):
            self._device.copy_to(self._actions, table)
        else:
            self._device.run(copy_row, self.num_envs, table, self._actions, block=256)

    def _advance(self) -> None:
        """Do all of a step on the device."""
        simulator, device, count = self.simulator, self._device, self.num_envs
        self.batch.clear_hits()
        device.run(take_action, count, self._actions, *self._range, simulator.control, block=256)
        simulator.step(STEPS_PER_FRAME * self._frame_skip)
        device.run(judge_car, count, self._rules, simulator.rows, self._verdicts, block=256)
        if self._rules.mode == SAME_STEP:
            self._observer.look(self._nobody, pushes=True)
            self._observer.keep()
            self._tell(self._told_last)
            if self._values:
                device.run(copy_row, count, *self._values, block=256)
        if self._rules.mode != DISABLED:
            self._begin(self._verdicts.begins, self._nowhere)
        self._observer.look(self._verdicts.begins, pushes=self._rules.mode != SAME_STEP)
        self._tell(self._told)

    def _tell(self, told: Told) -> None:
        write_told(self._device, self.simulator.rows, told)

    # -- what is handed out -------------------------------------------------------------------------------------------

    def _give_seen(self) -> Observation:
        return self._observer.collect({name: self._give(array) for name, array in self._observer.seen.items()})

    def _make_info(self, told: Told, values: Mapping[str, Any], who: Any) -> dict[str, Any]:
        """Return `info` by Gymnasium's vector convention, told of these."""
        info: dict[str, Any] = {}
        for name, array in told._asdict().items():
            info[name], info[f"_{name}"] = self._give(array), self._give(who)
        if values:
            drawn = {name: self._give(array) for name, array in values.items()}
            info["randomization"] = drawn | {f"_{name}": self._give(who) for name in drawn}
            info["_randomization"] = self._give(who)
        return info

    def _make_final_info(self) -> dict[str, Any]:
        over = self._verdicts.is_over
        last = self._observer.collect({name: self._give(array) for name, array in self._observer.last.items()})
        final = {"final_obs": last, "final_info": self._make_info(self._told_last, self._drawn_last, over)}
        return final | {f"_{name}": self._give(over) for name in final}

    def _give(self, array: Any) -> Any:
        """Return an array as the caller wants it: a copy, or the same one in every step."""
        if self._copies:
            own: NDArray[Any] = self._device.download(array).copy()
            return own if self._convert is None else self._convert(own)
        known = self._given.get(id(array))
        if known is None:
            known = (array, self._lend(array))
            if self._is_still_lent(known[1], array):
                self._given[id(array)] = known
        return known[1]

    def _lend(self, array: Any) -> Any:
        if isinstance(array, np.ndarray) and self._convert is None:
            return array
        lent = DeviceArray(array, self._device)
        return lent if self._convert is None else self._convert(lent)

    def _is_still_lent(self, given: Any, array: Any) -> bool:
        """Return whether what was given shows the batch's memory in later steps too; a copy is made anew each time."""
        return self._convert is None or is_lent(given, DeviceArray(array, self._device), self._device)

    def measure_memory(self) -> MemoryUse:
        """Return how much memory of the device the batch takes."""
        use, observer = self.batch.measure_memory(), self._observer
        own = (self._actions, self._verdicts, self._episodes[:2], self._episodes.start, self._told, self._told_last)
        rest = (self._everyone, self._nobody, self._values[1:])
        seen = (observer.list_arrays(), *observer.last.values())
        worlds = use.worlds + count_bytes((own, rest))
        return replace(use, worlds=worlds, pictures=use.pictures + count_bytes(seen))

    def close_extras(self, **kwargs: Any) -> None:
        """Give the device's threads and memory back."""
        del kwargs
        if hasattr(self, "simulator"):  # Gymnasium up to 1.2 also closes what could not be made
            self.simulator.close()


def _find_device(device: str | Device, threads: int | None) -> Device:
    if isinstance(device, str) or not hasattr(device, "dlpack_device"):  # one of PyTorch has the name as its text
        return open_device(str(device), None if threads is None else choose_threads(threads, threads))
    return device
