"""A batch of cars as one Gymnasium vector environment: all step in one call, on this machine's cores or a GPU."""

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol

import gymnasium
import numpy as np
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from donkeysim.core.device import Graph, is_here
from donkeysim.core.errors import SpecError
from donkeysim.core.memory import MemoryUse, count_bytes
from donkeysim.core.types import ByteArray
from donkeysim.core.workers import count_cores
from donkeysim.envs.actions import ActionRange
from donkeysim.envs.autoreset import AutoresetMode, read_mode
from donkeysim.envs.exchange import Convert, Lender, take_array
from donkeysim.envs.fleet import NOWHERE, Fleet
from donkeysim.envs.kernels.episodes import WORD, decode_action, seed_world
from donkeysim.envs.kernels.numbers import copy_row
from donkeysim.envs.kernels.tasks import DISABLED, NEXT_STEP, SAME_STEP, Verdicts, conclude_step, judge_car
from donkeysim.envs.observations import Observation, Observer, copy_observation
from donkeysim.envs.reset import read_mask, read_start, spread_seeds
from donkeysim.envs.step import Step
from donkeysim.envs.tasks import Task
from donkeysim.envs.waiting import announce_kernels
from donkeysim.sim.batch import Batch
from donkeysim.sim.compile_processes import mark_compiled
from donkeysim.sim.simulator import Simulator
from donkeysim.sim.viewpoint import draw_car

_MODES = {AutoresetMode.NEXT_STEP: NEXT_STEP, AutoresetMode.SAME_STEP: SAME_STEP, AutoresetMode.DISABLED: DISABLED}


class InfoWriter(Protocol):
    """Writes what `info` has of every car, arrays of shape [car_count, ...] by name."""

    now: dict[str, Any]
    """Of the last step."""
    last: dict[str, Any]
    """Of the last steps of episodes."""

    def write(self, is_last: bool) -> None:
        """Write one of them."""


class FleetVectorEnv(gymnasium.vector.VectorEnv[Observation, Any, Any]):
    """Cars of a fleet, each alone in its world, as one vector environment; a step is done on the fleet's device.

    What one thread does with it waits for what another one does.

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
        info: InfoWriter,
        *,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        copy: bool = True,
        convert: Convert | None = None,
        final_as_arrays: bool = False,
        starts_at_random: bool = False,
        render_mode: str | None = None,
    ) -> None:
        """Put together what others made.

        Args:
            fleet: Opened, one car in each world.
            task: Judges every step.
            actions: What actions mean.
            info: Writes `info`.
            autoreset_mode: One of Gymnasium's three.
            copy: False: observations are the batch's own arrays.
            convert: Makes the caller's arrays of the batch's, see `exchange.Lender`.
            final_as_arrays: `final_obs` and `final_info` are there in every step, arrays of all cars; else where
                episodes ended, as Gymnasium's own batches have them.
            starts_at_random: Where episodes begin that are given no start.
            render_mode: "rgb_array" or None.

        Raises:
            SpecError: There is no such mode.
        """
        if render_mode not in (None, "rgb_array"):
            raise SpecError(f"render_mode is {render_mode!r}; a batch takes 'rgb_array' or None.")
        self.fleet, self.num_envs, self.render_mode = fleet, fleet.world_count, render_mode
        self.autoreset_mode = read_mode(autoreset_mode)
        render_modes = ["rgb_array"] if is_here(fleet.device) else []
        self.metadata = {"render_modes": render_modes, "render_fps": 20, "autoreset_mode": self.autoreset_mode}
        self.single_observation_space, self.single_action_space = observer.space, actions.make_space()
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self._task, self._observer, self._actions, self._info = task, observer, actions, info
        self.copies, self._final_as_arrays, self._at_random = copy, final_as_arrays, starts_at_random
        self._mode, self._rules = _MODES[self.autoreset_mode], task.rules
        self._device, self._is_here = fleet.device, is_here(fleet.device)
        self._lender = Lender(self._device, convert)
        self._stage = f"batch on {self._device.name}"
        self._graphs: dict[Callable[[], None], Graph] = {}
        self._lock = threading.RLock()
        self._make_arrays()

    def _make_arrays(self) -> None:
        """Make the arrays of the device that say what is asked for and what a step brought."""
        device, count = self._device, self.num_envs
        self._is_seeded = np.zeros(count, bool)
        self._everyone, self._nobody = device.upload((np.ones(count, bool), np.zeros(count, bool)))
        self._nowhere = device.upload(NOWHERE)
        self._controls = np.zeros((3, count))
        self._asked = self._controls if self._is_here else device.zeros((3, count), np.float64)
        self._asked_rows = tuple(self._asked[row] for row in range(3))
        self._verdicts = Verdicts(device.zeros((count,), np.float64), *(device.zeros((count,), bool) for _ in range(4)))
        self._lent_step: Step | None = None
        randomizer = self.simulator.place.randomizer
        self._values: Any = ()
        self._drawn: dict[str, Any] = {}
        self._drawn_last: dict[str, Any] = {}
        if randomizer is not None:
            value = randomizer.drawn.value
            self._values = value, device.zeros(tuple(value.shape), value.dtype)
            self._drawn, self._drawn_last = map(randomizer.name_columns, self._values)

    @property
    def simulator(self) -> Simulator:
        """Where they drive."""
        return self.fleet.simulator

    @property
    def batch(self) -> Batch:
        """All worlds of the simulator."""
        return self.fleet.batch

    # -- episodes -----------------------------------------------------------------------------------------------------

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Begin new episodes, all of them or those of `options["reset_mask"]`.

        Args:
            seed: Of the first world, the next ones take the next numbers; or one for each; None continues with new
                random numbers. Those of episodes that do not begin now are left aside.
            options: `reset_mask`, shape [num_envs], an array of NumPy or of the device: which; `s`, `offset` [m] and
                `yaw` [rad]: where on the path.

        Raises:
            SpecError: The options or seeds are not possible.
            gymnasium.error.ResetNeeded: Some shall begin before all have begun once.
        """
        given = dict(options or {})
        mask = given.pop("reset_mask", None)
        start = read_start(given)
        begins = self._everyone if mask is None else self._read_mask(mask)
        is_all = mask is None or (self._is_here and bool(begins.all()))
        if not is_all and self.fleet.step is None:
            raise gymnasium.error.ResetNeeded("call reset for all of them first, without a reset_mask.")
        if not self._is_here and self.fleet.step is None:
            announce_kernels(self._stage)
        with self._lock:
            self._seed_worlds(seed, begins)
            where = self._nowhere
            if start is not None:
                where = self._device.upload(np.array([start.along, start.offset, start.yaw]))
            self.fleet.begin_where(begins, where, self._at_random)
            if is_all:
                self._observer.look(begins)
            else:
                self._observer.copy_over()
                self._observer.renew(begins)
            self._info.write(is_last=False)
            return self._hand_out(self._observer.seen), self._make_info(self._info.now, self._drawn, begins)

    def _read_mask(self, mask: Any) -> Any:
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
        given, is_over = self._device.upload((is_given, words)), self._verdicts.is_over
        self._device.run(seed_world, self.num_envs, begins, *given, self.fleet.episodes, is_over, block=256)

    # -- steps --------------------------------------------------------------------------------------------------------

    def step(self, actions: Any) -> tuple[Observation, Any, Any, Any, dict[str, Any]]:
        """Drive all cars for one step.

        Args:
            actions: Shape [num_envs, 2], an array of NumPy or, without a copy, of the device. On a GPU a number of the
                device that is none counts as 0.

        Returns:
            Observations, rewards, terminated, truncated, shape [num_envs, ...] each, and `info`.

        Raises:
            SpecError: The actions are not possible.
            gymnasium.error.ResetNeeded: No episode has begun, or one is over and `autoreset_mode` is Disabled.
        """
        if self.fleet.step is None:
            raise gymnasium.error.ResetNeeded("call reset before step.")
        if self._mode == DISABLED and self._is_here and self._verdicts.is_over.any():
            over = np.flatnonzero(self._verdicts.is_over).tolist()
            raise gymnasium.error.ResetNeeded(f"the episodes {over} are over; reset them with options['reset_mask'].")
        with self._lock:
            self._take_actions(actions)
            self._advance()
            reward, terminated, truncated = map(self._give, self._verdicts[:3])
            info = self._make_info(self._info.now, self._drawn, self._everyone)
            if self._mode == SAME_STEP:
                info |= self._make_final_info()
            return self._hand_out(self._observer.seen), reward, terminated, truncated, info

    def _take_actions(self, actions: Any) -> None:
        """Write what actions ask for."""
        try:
            table = take_array(actions, self._device)
        except (TypeError, ValueError):
            table = np.full(0, np.nan)
        if isinstance(table, np.ndarray):
            controls = self._actions.decode(table, self.num_envs)
            self._controls[: len(controls)], self._controls[len(controls) :] = controls, 0.0
            if not self._is_here:
                self._device.copy_to(self._asked, self._controls)
            return
        self._actions.check_table(tuple(table.shape), np.dtype(table.dtype).kind in "fiu", self.num_envs)
        self._device.run(decode_action, self.num_envs, table, *self._actions.limits, self._asked, block=256)

    def _advance(self) -> None:
        """Do a step; on a GPU as graphs of what it runs, between which a task of somebody's own judges."""
        if self._is_here:
            self._drive_and_judge()
            self._conclude()
        elif self._rules is not None:
            self._run(self._drive_and_judge, self._conclude)
        else:
            self._run(self._drive)
            self._judge()
            self._run(self._conclude)

    def _run(self, *parts: Callable[[], None]) -> None:
        """Run parts of a step: at first as they are, then what the device has noted of them."""
        if parts[0] in self._graphs:
            self._graphs[parts[0]].launch()
            return

        def run_all() -> None:
            for part in parts:
                part()

        run_all()
        self._graphs[parts[0]] = self._device.capture(run_all)
        mark_compiled(self._stage)

    def _drive_and_judge(self) -> None:
        self._drive()
        self._judge()

    def _drive(self) -> None:
        self.fleet.advance(*self._asked_rows)

    def _judge(self) -> None:
        """Write the verdicts on a step."""
        if self._rules is not None:
            self._device.run(judge_car, self.num_envs, self._rules, self.simulator.rows, self._verdicts, block=256)
            return
        step = self.fleet.step if self._is_here else self.lend_step()
        assert step is not None, "an episode has begun"
        for array, values in zip(self._verdicts[:3], self._task.judge(step), strict=True):
            (array if self._is_here else self._lender.lend(array))[...] = values

    def _conclude(self) -> None:
        """Begin new episodes where it is time to, and see what there is to see."""
        verdicts, observer = self._verdicts, self._observer
        self._device.run(conclude_step, self.num_envs, self._mode, verdicts, block=256)
        # A GPU does what follows for whoever it may be; here it is cheaper to look first.
        some_begin = self._mode != DISABLED and (not self._is_here or bool(verdicts.begins.any()))
        if self._mode == SAME_STEP:
            observer.look(self._nobody)
            if some_begin:
                observer.keep(verdicts.is_over)
                self._info.write(is_last=True)
                if self._values:
                    value, kept = self._values
                    self._device.run(copy_row, self.num_envs, value, 1, verdicts.is_over, kept, block=256)
        if some_begin:
            self.fleet.begin_where(verdicts.begins, self._nowhere, self._at_random)
        if self._mode != SAME_STEP:
            observer.look(verdicts.begins)
        elif some_begin:
            observer.renew(verdicts.begins)
        self._info.write(is_last=False)

    # -- what is handed out -------------------------------------------------------------------------------------------

    def _make_info(self, columns: Mapping[str, Any], drawn: Mapping[str, Any], who: Any) -> dict[str, Any]:
        """Return `info` by Gymnasium's vector convention, valid for these cars."""
        mask, info = self._give(who), dict[str, Any]()
        for name, array in columns.items():
            info[name], info[f"_{name}"] = self._give(array), mask
        if drawn:
            values = {name: self._give(array) for name, array in drawn.items()}
            info["randomization"], info["_randomization"] = values | {f"_{name}": mask for name in drawn}, mask
        return info

    def _make_final_info(self) -> dict[str, Any]:
        over = self._verdicts.is_over
        if not self._final_as_arrays and not over.any():
            return {}
        seen: Any = self._observer.collect({name: self._give(array) for name, array in self._observer.last.items()})
        if not self._final_as_arrays:
            last: NDArray[Any] = np.full(self.num_envs, None, object)
            for car in np.flatnonzero(over).tolist():
                last[car] = copy_observation(seen, car)
            seen = last
        final = {"final_obs": seen, "final_info": self._make_info(self._info.last, self._drawn_last, over)}
        return final | {f"_{name}": self._give(over) for name in final}

    def _give(self, array: Any) -> Any:
        """Return an array for the caller: his own on this machine, unless his library shares our memory."""
        return self._lender.copy(array) if self.copies or self._lender.is_plain else self._lender.lend(array)

    def _hand_out(self, seen: Mapping[str, Any]) -> Observation:
        give = self._lender.copy if self.copies else self._lender.lend
        return self._observer.collect({name: give(array) for name, array in seen.items()})

    def lend_step(self) -> Step:
        """Return the last step, in arrays of the caller's library that are the same ones in every step."""
        if self._lent_step is None:
            self._lent_step = self.fleet.make_step(self._lender.lend)
        return self._lent_step

    def render(self) -> tuple[Any, ...] | None:
        """Return a view from behind each car, shape [360, 640, 3] each."""
        if self.render_mode is None:
            return None
        return tuple(map(self.draw, range(self.num_envs)))

    def draw(self, car: int) -> ByteArray:
        """Return a view from behind a car, shape [360, 640, 3]."""
        with self._lock:
            return draw_car(self.simulator, car)

    def measure_memory(self) -> MemoryUse:
        """Return how much memory of the device the batch takes."""
        use, episodes, info = self.batch.measure_memory(), self.fleet.episodes, (self._info.now, self._info.last)
        asked = (self._asked, self.fleet.list_arrays(), self._verdicts, episodes[:2], episodes[3:])
        own = (*asked, tuple(map(dict, info)), self._everyone, self._nobody, self._values[1:])
        worlds = use.worlds + count_bytes(own)
        return replace(use, worlds=worlds, pictures=use.pictures + count_bytes(self._observer.list_arrays()))

    def close_extras(self, **kwargs: Any) -> None:
        """Give the device's threads and memory back."""
        del kwargs
        if hasattr(self, "fleet"):  # Gymnasium up to 1.2 also closes what could not be made
            with self._lock:
                self.fleet.close()


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
