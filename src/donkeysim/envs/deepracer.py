"""Rewards in the style of AWS DeepRacer: a function `reward_function(params)`, asked for every car in every step.

The parameters are those of the AWS DeepRacer developer guide; docs/envs/deepracer.md lists what differs.
"""

import math
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path as FilePath
from typing import Any, NamedTuple

import numpy as np

from donkeysim.core.errors import SpecError, shorten
from donkeysim.core.files import read_python
from donkeysim.core.types import BoolArray, FloatArray, LongArray
from donkeysim.envs.step import Step
from donkeysim.world.scene import Path
from donkeysim.world.state import HIT_NONE

Function = Callable[[dict[str, Any]], float]
"""`reward_function(params)`."""

NAME = "reward_function"

HALF_WIDTH, HALF_LENGTH = 0.11, 0.14
"""Of a car, to the outer sides of its wheels and to their foremost points [m]."""


def adapt_deepracer(function: Function) -> Callable[[Step], FloatArray]:
    """Return a reward made of one function for all cars; what it keeps in global names, they share."""
    return _make_reward(str(getattr(function, "__name__", "the function")), lambda count: [function] * count)


def load_deepracer(file: str | FilePath) -> Callable[[Step], FloatArray]:
    """Return a reward made of the `reward_function` in a Python file, which is run, once for each car.

    So every car has global names of its own, as if it drove alone.

    Raises:
        SpecError: There is no such file, it cannot be run, or it has no such function.
    """
    path = FilePath(file)
    code = read_python(path, f"give a file with a {NAME}(params)")
    _run(path, code)
    return _make_reward(str(path), lambda count: [_run(path, code) for _ in range(count)])


def _run(path: FilePath, code: Any) -> Function:
    """Run the file and return its function."""
    names: dict[str, Any] = {"__name__": path.stem, "__file__": str(path)}
    try:
        exec(code, names)
    except Exception as error:
        raise SpecError(f"{path} cannot be run ({type(error).__name__}: {error}); mend it.") from error
    function = names.get(NAME)
    if not callable(function):
        raise SpecError(f"{path} has no function {NAME}; define {NAME}(params), which returns a number.")
    found: Function = function
    return found


def _make_reward(name: str, make_functions: Callable[[int], list[Function]]) -> Callable[[Step], FloatArray]:
    functions: list[Function] = []
    course = _Course()

    def reward_deepracer(step: Step) -> FloatArray:
        if len(functions) != len(step.along):
            functions[:] = make_functions(len(step.along))
        params = course.list_params(step)
        return np.array([_ask(name, function, params) for function, params in zip(functions, params, strict=True)])

    return reward_deepracer


class _Params(dict[str, Any]):
    """What a function is given; it remembers which parameter was asked for that there is not."""

    unknown: KeyError | None = None

    def __missing__(self, key: str) -> Any:
        self.unknown = KeyError(key)
        raise self.unknown


def _ask(name: str, function: Function, params: dict[str, Any]) -> float:
    """Return what a function says.

    Raises:
        SpecError: It asks for what is not given, fails, or says something else than a finite number.
    """
    given = _Params(params)
    try:
        answer = function(given)
    except Exception as error:
        if error is given.unknown:
            raise SpecError(
                f"{name} asks for the parameter {error}, which is none; there are {', '.join(sorted(params))}."
            ) from error
        what = shorten(f"{type(error).__name__}: {error}", 200)
        raise SpecError(f"{name} failed{_find_line(error)} ({what}); mend it.") from error
    try:
        reward = float(answer)
    except (TypeError, ValueError, OverflowError):
        reward = math.nan
    if not math.isfinite(reward):
        raise SpecError(f"{name} returned {shorten(repr(answer))} as reward; it must return a finite number.")
    return reward


def _find_line(error: Exception) -> str:
    """Return where a function failed, in words: the innermost of its calls that is in its own file."""
    calls = traceback.extract_tb(error.__traceback__)[1:]  # the first one is ours
    own = [call for call in calls if call.filename == calls[0].filename]
    return f" in {own[-1].filename}, line {own[-1].lineno}" if own else ""


class _Line(NamedTuple):
    """The middle of a road."""

    waypoints: list[tuple[float, float]]
    """At the nodes of its path [m]."""
    is_closed: bool
    length: float
    """Of the path [m]."""
    shift: FloatArray
    """Of the middle from the path, + = left of it [m], shape [node_count]."""
    half_width: FloatArray
    """Of the road [m], shape [node_count]."""


class _Thing(NamedTuple):
    """Something that a car may meet."""

    place: tuple[float, float]
    """[m]"""
    along: float
    """Of the path [m]."""
    is_left: bool
    """Of the road's middle."""
    heading: float = 0.0
    """[degree]"""
    speed: float = 0.0
    """[m/s]"""


class _Course:
    """What functions are given: of steps, and of paths and things, which are looked at again only when they change."""

    def __init__(self) -> None:
        self._lines: dict[int, _Line] = {}
        self._things: dict[int, tuple[FloatArray, list[_Thing]]] = {}

    def list_params(self, step: Step) -> list[dict[str, Any]]:
        """Return the parameters of every car."""
        lines = [self._find_line(path) for path in step.paths]
        columns = _tabulate(step, lines)
        names = list(columns)
        every = [dict(zip(names, row, strict=True)) for row in zip(*columns.values(), strict=True)]
        for car, (params, line) in enumerate(zip(every, lines, strict=True)):
            last = len(line.waypoints) - 1
            node = int(step.node_index[car])
            params["closest_waypoints"] = [node, 0 if line.is_closed and node == last else min(node + 1, last)]
            params["waypoints"] = list(line.waypoints)
            begun = float(step.along[car] - step.driven[car])
            params |= _describe_things(self._list_things(step, car, lines), float(step.along[car]), begun, line)
        return every

    def _find_line(self, path: Path) -> _Line:
        if id(path) not in self._lines:
            self._lines[id(path)] = _measure_line(path)
        return self._lines[id(path)]

    def _list_things(self, step: Step, car: int, lines: Sequence[_Line]) -> list[_Thing]:
        """Return what stands about in a car's world, then the other cars there."""
        first = car - car % step.cars_per_world
        return self._list_props(step, car, lines[car]) + [
            _Thing(
                (float(step.position[other, 0]), float(step.position[other, 1])),
                float(step.along[other]),
                bool(step.offset[other] > lines[other].shift[step.node_index[other]]),
                math.degrees(float(step.yaw[other])),
                math.hypot(step.forward_speed[other], step.left_speed[other]),
            )
            for other in range(first, first + step.cars_per_world)
            if other != car and step.present[other]
        ]

    def _list_props(self, step: Step, car: int, line: _Line) -> list[_Thing]:
        """Return what stands or lies on the road; what is beside it concerns no driver."""
        now = step.props[car]
        if not len(now):
            return []
        known = self._things.get(car)
        if known is None or not np.array_equal(known[0], now):
            found = step.paths[car].frame.locate(now[:, 0], now[:, 1])
            aside = found.offset - line.shift[found.node]
            on_road: BoolArray = np.abs(aside) < line.half_width[found.node]
            rows = zip(now[on_road, :2].tolist(), found.along[on_road].tolist(), aside[on_road].tolist(), strict=True)
            known = now.copy(), [_Thing((x, y), along, left > 0.0) for (x, y), along, left in rows]
            self._things[car] = known
        return known[1]


def _measure_line(path: Path) -> _Line:
    frame, shift = path.frame, 0.5 * (path.width_left - path.width_right)
    before = frame.left[np.arange(len(path.position)) - 1] if path.closed else frame.left[[0, *range(len(frame.left))]]
    after = frame.left if path.closed else frame.left[[*range(len(frame.left)), -1]]
    aside = before + after
    aside /= np.hypot(*aside.T)[:, None]
    middle = path.position[:, :2] + shift[:, None] * aside
    half_width = 0.5 * (path.width_left + path.width_right)
    return _Line([(x, y) for x, y in middle.tolist()], path.closed, frame.length, shift, half_width)


def _tabulate(step: Step, lines: Sequence[_Line]) -> dict[str, list[Any]]:
    """Return all parameters that are one number, or one truth, of every car."""
    left, right = step.width_left - step.offset, step.width_right + step.offset
    turn = np.abs(step.heading_error)
    reach = HALF_WIDTH * np.abs(np.cos(turn)) + HALF_LENGTH * np.abs(np.sin(turn))
    length = np.array([line.length for line in lines])
    rounds, gained = step.furthest / length, step.progress / length
    is_round_done = np.floor(rounds) > np.floor(rounds - gained)  # then progress is 100, and begins from 0 again
    return {
        "all_wheels_on_track": (np.minimum(left, right) >= reach).tolist(),
        "x": step.position[:, 0].tolist(),
        "y": step.position[:, 1].tolist(),
        "distance_from_center": (0.5 * np.abs(right - left)).tolist(),
        "is_crashed": (step.hit != HIT_NONE).tolist(),
        "is_left_of_center": (left < right).tolist(),
        "is_offtrack": (~step.on_road.astype(bool)).tolist(),
        "is_reversed": (turn > 0.5 * math.pi).tolist(),
        "heading": np.degrees(step.yaw).tolist(),
        "progress": np.where(is_round_done, 100.0, 100.0 * (rounds % 1.0)).tolist(),
        "speed": np.hypot(step.forward_speed, step.left_speed).tolist(),
        "steering_angle": np.degrees(step.steer_angle).tolist(),
        "steps": _count_steps(step).tolist(),
        "track_length": length.tolist(),
        "track_width": (left + right).tolist(),
    }


def _count_steps(step: Step) -> LongArray:
    count: LongArray = np.rint(step.time / step.duration).astype(np.int64)
    return count


def _describe_things(things: Sequence[_Thing], along: float, begun: float, line: _Line) -> dict[str, Any]:
    """Return the parameters of objects.

    Args:
        things: Of a car's world.
        along: Where the car is on the path [m].
        begun: Where its progress counts from [m].
    """
    away = [thing.along - along for thing in things]
    if line.is_closed:
        # To the nearer side of a closed path.
        away = [(ahead + 0.5 * line.length) % line.length - 0.5 * line.length for ahead in away]
    behind = max((row for row, ahead in enumerate(away) if ahead < 0.0), key=away.__getitem__, default=None)
    front = min((row for row, ahead in enumerate(away) if ahead >= 0.0), key=away.__getitem__, default=None)
    if behind is None:
        behind = max(range(len(away)), key=away.__getitem__, default=0)
    if front is None:
        front = min(range(len(away)), key=away.__getitem__, default=0)
    return {
        "closest_objects": [behind, front],
        "objects_distance": [(thing.along - begun) % line.length for thing in things],
        "objects_heading": [thing.heading for thing in things],
        "objects_left_of_center": [thing.is_left for thing in things],
        "objects_location": [thing.place for thing in things],
        "objects_speed": [thing.speed for thing in things],
    }
