"""Who learns how: from rewards alone, from a teacher, or from a pilot and then from rewards."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

import torch

from donkeysim.core.types import FloatArray
from donkeysim.learn.shares import Shares
from donkeysim.rl.actor_file import read_actor
from donkeysim.rl.cars import TrainingCars
from donkeysim.rl.dagger import DaggerSettings, DaggerTrainer, Teacher
from donkeysim.rl.ppo import Actor, InformedActor, PpoSettings, PpoTrainer
from donkeysim.rl.setup import TrainingSetup
from donkeysim.rl.task import TrainingTask
from donkeysim.rl.teachers import InformedTeacher, PathTeacher, PilotTeacher

# A student gets no better than its labels. A teacher nearly as fast as wanted suffices, as its student drives without
# the teacher's exploration and so comes out a little faster.
TEACHER_ENDS, TEACHER_SPEED = 1.0, 0.9
"""Of a teacher that is good enough for the student to begin: the same, and its share of the wanted speed."""

# Three times the steps in which the teacher hands over on one track (`DaggerSettings.beta_steps`): the student has
# driven alone for most of them when rewards take over.
IMITATED = 24_000
"""Steps of all cars for which a policy imitates the pilot it starts from."""

# Large steps and much exploration would undo what the policy knows before the critic, which is new, can tell good from
# bad: so less noise (exp(-1.6) = 0.2 instead of 0.37), half the learning rate, and the critic learns alone at first.
CAUTIOUS = replace(PpoSettings(), spread=-1.6, learning_rate=5e-4, critic_first=6)
"""How a policy learns that can drive already."""

# Twice the default filters and width: roads that look different, or a speed from two pictures, are more to learn than
# one road. It costs time at each step, so a single track keeps the small network.
WIDE_FILTERS, WIDE_WIDTH = (16, 32, 32), 128
"""Of a policy for several tracks, or with several pictures."""

MORE_BATCHES, LONGER, PUSH, SPEED_WEIGHT = 2, 1.5, (0.1, 0.6), 0.3
"""How a student differs that sees several pictures: a speed takes more and longer looks to learn than a road, and cars
that are too fast and too slow; and it is asked how fast it is."""

# Several tracks bring more kinds of places: the teacher leads for longer, more examples are kept so that no track is
# forgotten while the others are driven, and the learning rate falls more slowly; an update takes fewer batches as there
# are many more updates.
MANY = DaggerSettings(batches=8, horizon=800_000, capacity=100_000, beta_steps=20_000)
"""How a student learns several tracks."""

# One picture says little of the throttle, whose error hardly falls; what it weighs less, steering has. Steps that are
# large at first and soon small need two thirds of the examples and leave the steering no more restless.
QUICK = DaggerSettings(learning_rate=4e-3, horizon=50_000, throttle_weight=0.2)
"""How a student learns one track that always looks alike from single pictures."""


class PolicyTrainer(Protocol):
    """A policy on its way, as `PpoTrainer`, `DaggerTrainer` and `SequentialTrainer` are."""

    @property
    def cars(self) -> TrainingCars:
        """Those that learn now."""
        ...

    @property
    def steps(self) -> int:
        """Of all cars together."""
        ...

    @property
    def figures(self) -> dict[str, float]:
        """Of the last update, by name."""
        ...

    @property
    def departures(self) -> FloatArray:
        """Where episodes ended in the last rollout: index of the scene, x, y [m], shape [n, 3]."""
        ...

    @property
    def is_student(self) -> bool:
        """Whether it is the policy that will be the pilot."""
        ...

    @property
    def ready_ends(self) -> float:
        """It is worth a check when fewer of its episodes end by a rule, per car and minute, chance included."""
        ...

    def begin(self, seed: int) -> None:
        """Begin new episodes."""
        ...

    def advance(self) -> None:
        """Drive a rollout and learn from it."""
        ...

    def describe(self) -> dict[str, Any]:
        """Return all that has been learned, for `restore`."""
        ...

    def restore(self, state: Mapping[str, Any]) -> None:
        """Resume from what `describe` returned."""
        ...


class SequentialTrainer:
    """Two learners, the second one begins when the first one is good enough: a teacher and its student, for example."""

    def __init__(self, first: PolicyTrainer, second: PolicyTrainer, is_enough: Callable[[PolicyTrainer], bool]) -> None:
        """Begin with the first.

        Args:
            first: Learns until it is good enough.
            second: Learns then.
            is_enough: Whether the first one is, asked after each of its updates.
        """
        self._first, self._second, self._is_enough = first, second, is_enough
        self._now = first

    @property
    def cars(self) -> TrainingCars:
        """Of the one that learns now."""
        return self._now.cars

    @property
    def steps(self) -> int:
        """Of both."""
        return self._first.steps + self._second.steps

    @property
    def figures(self) -> dict[str, float]:
        """Of the one that learns now."""
        return self._now.figures

    @property
    def departures(self) -> FloatArray:
        """Of the one that learns now."""
        return self._now.departures

    @property
    def is_student(self) -> bool:
        """Whether the one that learns now is the policy that will be the pilot."""
        return self._now.is_student

    @property
    def ready_ends(self) -> float:
        """Of the one that learns now."""
        return self._now.ready_ends

    def begin(self, seed: int) -> None:
        """Begin new episodes for both."""
        self._first.begin(seed)
        self._second.begin(seed)

    def advance(self) -> None:
        """Let the one whose turn it is learn."""
        if self._now is self._first and self._first.steps and self._is_enough(self._first):
            self._now = self._second
        self._now.advance()

    def describe(self) -> dict[str, Any]:
        """Return what both have learned."""
        return {
            "first": self._first.describe(),
            "second": self._second.describe(),
            "is_second": self._now is self._second,
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Resume from there; of what both trained, the second one's state is the newer."""
        self._first.restore(state["first"])
        self._second.restore(state["second"])
        self._now = self._second if state["is_second"] else self._first


def is_worth_a_check(trainer: PolicyTrainer, speed: float) -> bool:
    """Return whether the policy that will be the pilot stays on the road at a speed [m/s] while it learns."""
    return trainer.is_student and _drives_well(trainer, trainer.ready_ends, speed)


def _drives_well(trainer: PolicyTrainer, ends: float, speed: float) -> bool:
    return trainer.figures["ends"] < ends and trainer.figures["speed"] > speed


def make_actor(task: TrainingTask, setup: TrainingSetup) -> Actor:
    """Return a new policy, or that of the pilot it starts from, if that is one of ours.

    Raises:
        PilotError: The pilot's file cannot be read.
    """
    torch.manual_seed(task.seed)
    known = read_actor(Path(task.source)) if task.source else None
    if known is not None:
        return known
    is_easy = len(setup.scenes) == 1 and setup.observation.pictures == 1
    actor = Actor(setup.observation) if is_easy else Actor(setup.observation, WIDE_FILTERS, WIDE_WIDTH)
    return actor.to(setup.device)


def make_trainer(task: TrainingTask, setup: TrainingSetup, actor: Actor, shares: Shares) -> PolicyTrainer:
    """Return who learns as the task says.

    Args:
        task: What was asked for.
        actor: The policy that will be the pilot.
        shares: Threads that learn, opened.

    Raises:
        PilotError: The pilot to start from cannot be read.
    """
    if task.teacher == "learned":
        return _make_apprentice(task, setup, actor, shares)
    if task.teacher == "expert":
        cars = _open_cars(task, setup, actor.observed)
        return _make_student(cars, actor, PathTeacher(setup, cars.env.simulator), setup, shares)
    if not task.source:
        return _make_explorer(task, setup, actor, PpoSettings(), shares)
    explorer = _make_explorer(task, setup, actor, CAUTIOUS, shares)
    if read_actor(Path(task.source)) is not None:
        return explorer
    cars = _open_cars(task, setup, (*actor.observed, "camera_b"))
    student = _make_student(cars, actor, PilotTeacher(Path(task.source), cars.env.num_envs), setup, shares)
    return SequentialTrainer(student, explorer, lambda first: first.steps >= IMITATED)


def _make_explorer(
    task: TrainingTask, setup: TrainingSetup, actor: Actor, settings: PpoSettings, shares: Shares
) -> PolicyTrainer:
    """Return who learns from rewards."""
    return PpoTrainer(_open_cars(task, setup, (*actor.observed, "vector")), actor, settings, shares)


def _open_cars(task: TrainingTask, setup: TrainingSetup, observe: Sequence[str]) -> TrainingCars:
    return TrainingCars(setup.make_train_env(observe), task.seed, setup.device)


def _make_student(
    cars: TrainingCars, actor: Actor, teacher: Teacher, setup: TrainingSetup, shares: Shares
) -> DaggerTrainer:
    is_varied, settings = setup.randomization.is_on, DaggerSettings()
    if len(setup.scenes) > 1:
        settings = replace(MANY, is_varied=is_varied)
    elif setup.observation.pictures == 1 and not is_varied:
        settings = QUICK
    if setup.observation.pictures > 1:
        batches, horizon = MORE_BATCHES * settings.batches, round(LONGER * settings.horizon)
        settings = replace(settings, batches=batches, horizon=horizon, push=PUSH, speed_weight=SPEED_WEIGHT)
    return DaggerTrainer(cars, actor, teacher, settings, shares)


def _make_apprentice(task: TrainingTask, setup: TrainingSetup, actor: Actor, shares: Shares) -> PolicyTrainer:
    """Return a teacher that learns first, from privileged observations, and then its student."""
    cars = _open_cars(task, setup, ("vector",))
    informed = InformedActor(cars.count_privileged()).to(setup.device)
    teacher = PpoTrainer(cars, informed, PpoSettings(), shares)
    own = _open_cars(task, setup, (*actor.observed, "vector"))
    student = _make_student(own, actor, InformedTeacher(informed), setup, shares)
    wanted = TEACHER_SPEED * setup.find_wanted_speed()
    return SequentialTrainer(teacher, student, lambda first: _drives_well(first, TEACHER_ENDS, wanted))
