"""A race as a PettingZoo parallel environment: several cars on one track, that see and meet each other.

`parallel_env(...)` makes one, as PettingZoo's users expect; docs/envs/race_env.md has the details.
"""

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray

from donkeysim.core.errors import DonkeySimError, SpecError, describe_install, describe_unknown, format_count
from donkeysim.core.types import BoolArray, Float32Array, FloatArray
from donkeysim.envs.observations import Observation, copy_observation
from donkeysim.envs.reset import read_seed
from donkeysim.envs.step import Step
from donkeysim.envs.tasks import REWARDS, Task, reward_progress
from donkeysim.envs.track_settings import TrackSettings, check_count, read_settings
from donkeysim.envs.vector_env import choose_threads
from donkeysim.envs.window import MadeAnew
from donkeysim.racing.rules.course import survey_course
from donkeysim.racing.rules.standings import Standing, Standings
from donkeysim.racing.run.race_run import make_bodies
from donkeysim.sim.viewpoint import draw_car

try:
    from pettingzoo import ParallelEnv
except ImportError as error:
    raise DonkeySimError(f"races need PettingZoo; install it {describe_install('race')}") from error

_log = logging.getLogger(__name__)

RaceReward = Callable[[Step, Standing], FloatArray]
"""Returns the reward of each car, shape [car_count]."""

PLACE_POINTS = 5.0
"""What "overtake" gives for a place."""

RACE_ENDS = ("off_road", "wrong_way", "standstill", "tilted")
"""What takes a car out of a race; touching others does not."""

FINISHES = ("all", "first")
"""Whose finish ends a race."""

GRIDS = ("drawn", "in_order")
"""How cars get their places on the grid."""


def reward_overtake(step: Step, standing: Standing) -> FloatArray:
    """Return ten points per metre of new ground and five per place gained (less five per place lost); less the penalty
    for dropping out.
    """
    reward: FloatArray = reward_progress(step) + PLACE_POINTS * standing.gained
    return reward


RACE_REWARDS: Mapping[str, RaceReward] = {"overtake": reward_overtake}
"""Rewards of races by name, besides those of `tasks.REWARDS`."""


class RaceEnv(MadeAnew, ParallelEnv[str, Observation, Float32Array]):  # type: ignore[misc]
    """Cars that race each other.

    Attributes:
        fleet: Their simulator, with one world.
        possible_agents: Names of all cars.
        agents: Names of those that are still racing.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012  (PettingZoo's form)
        "name": "donkeysim_race_v0",
        "render_modes": ["rgb_array"],
        "render_fps": 20,
        "is_parallelizable": True,
    }

    def __init__(
        self,
        track: str = "generated_track",
        *,
        cars: int | Sequence[str] = 4,
        lap_count: int = 3,
        finish: str = "all",
        grid: str = "drawn",
        reward: str | RaceReward = "overtake",
        threads: int | None = None,
        render_mode: str | None = None,
        **settings: Any,
    ) -> None:
        """Make the cars; the first time on a machine their kernels are compiled, which takes half a minute.

        Args:
            track: Name of the track; it must be a closed circuit.
            cars: How many, or their names.
            lap_count: Laps of the race.
            finish: "all": the race lasts until nobody is left in it; "first": until the first car has driven all
                laps.
            grid: "drawn": places on the grid are drawn from the seed; "in_order": the first car stands in front.
            reward: Name of `RACE_REWARDS` or `tasks.REWARDS`, or a function of a `Step` and a `Standing`.
            threads: None: one per core.
            render_mode: "rgb_array": `render` returns a view from behind the leader, 640x360; None: nothing.
            **settings: See `track_settings.read_settings`; here `ends` is `RACE_ENDS` and `time_limit` 180 s if not
                given, and there is no `lap_limit` and no `starts_at_random`.

        Raises:
            SpecError: Something asked for is not possible.
            SceneError: There is no such track.
        """
        for name in ("lap_limit", "starts_at_random"):
            if name in settings:
                raise SpecError(f"{name} is for cars that are alone; a race has lap_count and grid.")
        chosen = read_settings({"ends": RACE_ENDS, "time_limit": 180.0, **settings}, [track])
        check_count("lap_count", lap_count)
        _check_choice("finish", finish, FINISHES)
        _check_choice("grid", grid, GRIDS)
        _check_choice("render_mode", render_mode or "rgb_array", self.metadata["render_modes"])
        self.possible_agents = _name_cars(cars)
        self.agents: list[str] = []
        self.render_mode = render_mode
        self._lap_count, self._finish, self._grid = lap_count, finish, grid
        self._task = self._make_task(reward, chosen)
        count = len(self.possible_agents)
        self.fleet = chosen.make_fleet(1, cars_per_world=count, worker_count=choose_threads(threads, count))
        self._check_track(count)
        self.fleet.open(None, bodies=make_bodies(self.possible_agents))
        self._observer, self._actions = chosen.make_observer(self.fleet), chosen.make_actions()
        self._action_spaces = {name: self._actions.make_space() for name in self.possible_agents}
        self._is_seeded = False
        self._standing: Standing | None = None

    def _check_track(self, car_count: int) -> None:
        scene = self.fleet.simulator.scene
        if not scene.path.closed:
            raise SpecError(f"the track {scene.name} does not return to its start; laps need a closed circuit.")
        places = len(scene.start.position)
        if car_count > places:
            raise SpecError(
                f"{format_count(car_count, 'car')} cannot start on {scene.name}; its grid has room for {places}."
            )

    def _make_task(self, reward: str | RaceReward, chosen: TrackSettings) -> Task:
        """Return the task; rewards of races get the standing, too."""
        if isinstance(reward, str) and reward in REWARDS:
            return replace(chosen, reward=reward).make_task()
        if isinstance(reward, str):
            _check_choice("reward", reward, (*RACE_REWARDS, *REWARDS))
        race_reward: Any = RACE_REWARDS[reward] if isinstance(reward, str) else reward
        if not callable(race_reward):
            raise SpecError(f"reward is {reward!r}; it takes a name or a function.")

        def reward_standing(step: Step) -> FloatArray:
            points: FloatArray = race_reward(step, self._standing)
            return points

        return replace(chosen, reward=reward_standing).make_task()

    def observation_space(self, agent: str) -> gymnasium.Space[Any]:
        """Return the space of a car's observations, always the same object."""
        del agent  # all see alike
        return self._observer.space

    def action_space(self, agent: str) -> gymnasium.Space[Any]:
        """Return the space of a car's actions, always the same object."""
        return self._action_spaces[agent]

    # -- a race -------------------------------------------------------------------------------------------------------

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Observation], dict[str, dict[str, Any]]]:
        """Line the cars up for a new race; with a seed it is repeatable bit for bit.

        Args:
            seed: Of all that is random from now on; None continues with new random numbers.
            options: None is known; PettingZoo wants them borne, so they are named in the log only.

        Raises:
            SpecError: The seed is not possible.
        """
        seed = read_seed(seed)
        for name in options or ():
            _log.warning("the option %s of reset is not known to races", name)
        if seed is not None or not self._is_seeded:
            self.fleet.seed(0, int(np.random.default_rng().integers(2**31)) if seed is None else seed)
            self._is_seeded = True
        step = self.fleet.begin([0], grid_drawn=self._grid == "drawn")
        self.agents = list(self.possible_agents)
        length = float(step.path_length[0])
        x, y = self.fleet.simulator.scene.start.line[0].mean(axis=0)
        behind = (self.fleet.simulator.scene.path.frame.locate(x, y).along - step.along) % length
        self._standings = Standings(self._lap_count, survey_course(self.fleet.simulator.scene), behind)
        self._standing = self._standings.note(step.driven)
        self._observer.look(np.ones(1, bool))
        return self._hand_out(), self._make_infos(step)

    def step(
        self, actions: Mapping[str, Any]
    ) -> tuple[dict[str, Observation], dict[str, float], dict[str, bool], dict[str, bool], dict[str, dict[str, Any]]]:
        """Drive all cars for one step.

        Args:
            actions: Steering (+ = right) and throttle, -1 to 1, of every car that is still racing.

        Returns:
            Observations, rewards, terminated (finished, or out by a rule), truncated (the race is over) and infos, by
            name. Cars that have ended are taken off the road.

        Raises:
            SpecError: An action is missing or not possible.
            gymnasium.error.ResetNeeded: No race has begun, or it is over.
        """
        if not self.agents:
            raise gymnasium.error.ResetNeeded("no car is racing; call reset.")
        step = self.fleet.advance(*self._read_actions(actions))
        standing = self._standing = self._standings.note(step.driven.copy(), self.fleet.simulator.list_events())
        reward, ended, cut = self._task.judge(step)
        racing = self._list_racing()
        terminated: BoolArray = ended | standing.finished
        is_over = standing.finished[racing].any() and self._finish == "first"
        truncated: BoolArray = (cut | is_over) & ~terminated
        self._observer.look(np.zeros(1, bool))
        infos = (
            self._hand_out(),
            self._name(reward),
            self._name(terminated),
            self._name(truncated),
            self._make_infos(step),
        )
        self._take_out(racing, terminated | truncated)
        return infos

    def _read_actions(self, actions: Mapping[str, Any]) -> tuple[FloatArray, FloatArray]:
        """Return steer (+ = left) and throttle of all cars, 0 of those that are out, shape [car_count] each."""
        racing = self._list_racing()
        for name in actions:
            if name not in self.possible_agents:
                raise SpecError(describe_unknown("car", str(name), self.possible_agents))
        missing = [name for name in self.agents if name not in actions]
        if missing:
            raise SpecError(f"there is no action for {', '.join(missing)}; give one for each of {self.agents}.")
        try:
            table = np.stack([np.asarray(actions[name], np.float64) for name in self.agents])
        except (TypeError, ValueError):
            raise SpecError("an action is not two numbers, steering and throttle.") from None
        steer, throttle = np.zeros((2, len(self.possible_agents)))
        steer[racing], throttle[racing] = self._actions.decode(table, len(racing))
        return steer, throttle

    def _take_out(self, racing: Sequence[int], over: BoolArray) -> None:
        """Let go of cars that have ended; when nobody is left they stay where they are, to be looked at."""
        self.agents = [self.possible_agents[car] for car in racing if not over[car]]
        if self.agents:
            for car in racing:
                if over[car]:
                    self.fleet.simulator.retire_car(car)

    def render(self) -> NDArray[np.uint8] | None:
        """Return a view from behind the leader of those on the road, shape [360, 640, 3]."""
        if self.render_mode is None:
            return None
        if self._standing is None:
            raise gymnasium.error.ResetNeeded("call reset before render.")
        simulator = self.fleet.simulator
        return draw_car(simulator, min(simulator.list_cars(), key=self._standing.place.__getitem__))

    def close(self) -> None:
        """Stop the simulator's threads."""
        self.fleet.close()

    # -- by name ------------------------------------------------------------------------------------------------------

    def _list_racing(self) -> list[int]:
        return [self.possible_agents.index(name) for name in self.agents]

    def _name(self, array: NDArray[Any]) -> dict[str, Any]:
        return {self.possible_agents[car]: array[car].item() for car in self._list_racing()}

    def _hand_out(self) -> dict[str, Observation]:
        seen = self._observer.collect(self._observer.seen)
        return {self.possible_agents[car]: copy_observation(seen, car) for car in self._list_racing()}

    def _make_infos(self, step: Step) -> dict[str, dict[str, Any]]:
        standing, names = self._standing, self.possible_agents
        assert standing is not None
        return {
            names[car]: {
                "position": step.position[car].copy(),
                "offset": float(step.offset[car]),
                "speed": float(np.hypot(step.forward_speed[car], step.left_speed[car])),
                "on_road": bool(step.on_road[car]),
                "hit": self.fleet.simulator.name_hit(car, int(step.hit[car])),
                "place": int(standing.place[car]),
                "way": float(standing.way[car]),
                "laps": int(standing.laps[car]),
                "lap_times": self._standings.list_lap_times(car),
                "finished": bool(standing.finished[car]),
                "time": float(step.time[car]),
                **({"randomization": drawn} if (drawn := self.fleet.simulator.get_randomization(car)) else {}),
            }
            for car in self._list_racing()
        }


def _name_cars(cars: int | Sequence[str]) -> list[str]:
    if isinstance(cars, str) or (isinstance(cars, (int, np.integer)) and cars < 1):
        raise SpecError(f"cars is {cars!r}; it takes a whole number, 1 or more, or a list of names.")
    names = [f"car_{slot}" for slot in range(cars)] if isinstance(cars, (int, np.integer)) else [*map(str, cars)]
    if not names or "" in names or "none" in names or len(set(names)) < len(names):
        raise SpecError(f"cars is {names}; names must differ, and none may be empty or 'none'.")
    return names


def _check_choice(what: str, given: str, allowed: Sequence[str]) -> None:
    if given not in allowed:
        raise SpecError(describe_unknown(what, str(given), allowed))


parallel_env = RaceEnv
"""Makes a race; PettingZoo's name for it."""
