"""Who learns how: from rewards alone, from a teacher that knows the scene, or from one that learns first itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np
import torch

from donkeysim.core.types import FloatArray
from donkeysim.learn.rl import dagger, ppo
from donkeysim.learn.rl.cars import Cars
from donkeysim.learn.rl.course import Course
from donkeysim.learn.rl.ppo import Actor, InformedActor
from donkeysim.learn.rl.task import Task
from donkeysim.learn.rl.teachers import InformedTeacher, PathTeacher
from donkeysim.learn.shares import Shares

READY_ENDS, READY_SPEED = 1.5, 0.75
"""A policy is worth a check when fewer of its episodes end by a rule, per car and minute, and when it makes this share
of the wanted speed, chance and standing starts included."""

TEACHER_ENDS, TEACHER_SPEED = 1.0, 0.9
"""The same of a teacher that is good enough to begin with the student."""

WIDE_FILTERS, WIDE_WIDTH = (16, 32, 32), 128
"""Of a policy for several tracks."""


class Learner(Protocol):
    """A policy on its way, as `ppo.Learner` and `dagger.Student` are."""

    cars: Cars
    figures: dict[str, float]
    departures: FloatArray
    is_pupil: bool

    @property
    def steps(self) -> int:
        """Of all cars together."""
        ...

    def begin(self, seed: int) -> None:
        """Begin new episodes."""
        ...

    def advance(self) -> None:
        """Drive a stretch and learn from it."""
        ...

    def describe(self) -> dict[str, Any]:
        """Return all that has been learned, for `restore`."""
        ...

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on from what `describe` returned."""
        ...


class Apprentice:
    """A teacher that learns first, told what the simulator knows, and then its student.

    Attributes:
        cars: Of whoever learns now.
        figures: Of whoever learns now.
        departures: Where episodes ended in the last stretch.
        is_pupil: Whether it is the student who will drive.
    """

    def __init__(self, course: Course, actor: Actor, shares: Shares, seed: int, wanted_speed: float) -> None:
        """Begin with the teacher.

        Args:
            course: Where they learn.
            actor: The student.
            shares: Threads that learn, opened.
            seed: Of all chance.
            wanted_speed: Mean of all scenes [m/s].
        """
        self._wanted = wanted_speed
        self.cars = Cars(course.open_lessons(("vector",)), seed)
        size = count_known(self.cars)
        informed = InformedActor(size)
        self._teacher = ppo.Learner(self.cars, informed, ppo.Settings(), shares, size)
        own = Cars(course.open_lessons((*actor.observed, "vector")), seed)
        self._student = dagger.Student(own, actor, InformedTeacher(informed), dagger.Settings(), shares)
        self.figures, self.departures = dict[str, float](), np.zeros((0, 3))
        self.is_pupil = False

    @property
    def steps(self) -> int:
        """Of the teacher's cars and the student's."""
        return self._teacher.steps + self._student.steps

    def begin(self, seed: int) -> None:
        """Begin new episodes for both."""
        self._teacher.begin(seed)
        self._student.begin(seed)

    def advance(self) -> None:
        """Let the teacher learn or, once it drives well, the student."""
        learner = self._student if self.is_pupil else self._teacher
        learner.advance()
        self.cars, self.figures, self.departures = learner.cars, learner.figures, learner.departures
        if not self.is_pupil and _is_fast_and_safe(self, self._wanted, TEACHER_ENDS, TEACHER_SPEED):
            self.is_pupil = True

    def describe(self) -> dict[str, Any]:
        """Return all that has been learned."""
        return {
            "teacher": self._teacher.describe(),
            "student": self._student.describe(),
            "is_pupil": self.is_pupil,
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on from there."""
        self._teacher.restore(state["teacher"])
        self._student.restore(state["student"])
        self.is_pupil = state["is_pupil"]


def is_worth_a_check(learner: Learner, wanted_speed: float) -> bool:
    """Return whether the policy that will drive does well enough while it learns."""
    return learner.is_pupil and _is_fast_and_safe(learner, wanted_speed, READY_ENDS, READY_SPEED)


def _is_fast_and_safe(learner: Learner, wanted_speed: float, ends: float, speed: float) -> bool:
    return learner.figures["ends"] < ends and learner.figures["speed"] > speed * wanted_speed


def count_known(cars: Cars) -> int:
    """Return how many numbers the simulator tells of each car."""
    return int(cars.seen["vector"].shape[1])


def make_actor(task: Task, course: Course) -> Actor:
    """Return a policy that knows nothing, larger where there are several tracks."""
    torch.manual_seed(task.seed)
    if len(course.scenes) == 1:
        return Actor(course.sight)
    return Actor(course.sight, WIDE_FILTERS, WIDE_WIDTH)


def make_learner(task: Task, course: Course, actor: Actor, shares: Shares, wanted_speed: float) -> Learner:
    """Return who learns as the task says."""
    if task.teacher == "learned":
        return Apprentice(course, actor, shares, task.seed, wanted_speed)
    if task.teacher == "expert":
        cars = Cars(course.open_lessons(actor.observed), task.seed)
        return dagger.Student(cars, actor, PathTeacher(course, cars.env.fleet.simulator), dagger.Settings(), shares)
    cars = Cars(course.open_lessons((*actor.observed, "vector")), task.seed)
    return ppo.Learner(cars, actor, ppo.Settings(), shares, count_known(cars))
