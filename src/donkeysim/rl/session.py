"""A session of training: until the policy drives its laps, the time is up, or somebody stops it."""

import json
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from donkeysim import __version__
from donkeysim.core.files import hold_interrupts, write_whole
from donkeysim.learn.shares import Shares
from donkeysim.rl.actor_file import read_actor, save_pilot
from donkeysim.rl.check import Checker
from donkeysim.rl.checkpoint import read_checkpoint, write_checkpoint
from donkeysim.rl.ghosts import Ghosts
from donkeysim.rl.ppo import Actor
from donkeysim.rl.progress import Check, Update, Watch
from donkeysim.rl.school import PolicyTrainer, is_worth_a_check, make_actor, make_trainer
from donkeysim.rl.setup import TrainingSetup
from donkeysim.rl.task import PLACES, TrainingTask, write_task
from donkeysim.world.scene import Scene
from donkeysim.world.tracks.catalogue import share_scene

SUMMARY_NAME, PILOT_NAME = "summary.json", "pilot"

# The quickest way to a pilot, an expert's lessons, took 16,384 to 18,432 steps (docs/decisions/0023).
FIRST_CHECK, NEXT_CHECK, NEXT_CHECK_OF_MANY = 12_000, 1.12, 1.35
"""Steps before the first check, and growth of the steps from one check to the next on one track and on several, where a
check takes long."""

FIRST_CHECK_VARIED, NEXT_CHECK_VARIED = 40_000, 1.5
"""The same with cars that differ, where both a check and learning take longer."""

VARIED_LAPS = 1
"""That cars which differ have to drive."""

READY_SPEED, SLACK, OVERDUE = 0.65, 0.97, 1.2
"""A policy is checked when it makes this share of the wanted speed while it learns, chance and standing starts
included; where it was safe but too slow, when it has gained nearly all that was missing, or steps are overdue by this:
what chance costs may fall, too."""

# At most a second of learning is lost to a kill.
KEEP_EVERY = 1.0
"""Time between two checkpoints [s]."""

NEW_SESSION = 1_000_003
"""Added to the seed for every further session, so that other episodes begin."""


@dataclass(frozen=True)
class Limit:
    """When learning ends at the latest.

    Attributes:
        seconds: After the command was given, earlier sessions included.
        steps: Of all cars together; None: any number.
    """

    seconds: float
    steps: int | None = None

    def is_reached(self, seconds: float, steps: int) -> bool:
        """Return whether learning has to end."""
        return seconds >= self.seconds or self.has_used_steps(steps)

    def find_end(self, seconds: float, steps: int) -> float:
        """Return after how many seconds learning ends, at the rate so far, checks included."""
        if self.steps is None or steps <= 0:
            return self.seconds
        return min(self.seconds, seconds * max(self.steps / steps, 1.0))

    def has_used_steps(self, steps: int) -> bool:
        """Return whether these are as many as there may be."""
        return self.steps is not None and steps >= self.steps


@dataclass(frozen=True)
class SessionResult:
    """What came of a session.

    Attributes:
        folder: Where everything lies.
        pilot: The best policy so far, `.h5`; its `.onnx` lies beside it.
        checks: Of that policy, one for each scene; empty: it was stopped before the first.
        is_passed: Whether it drove all its laps as fast as wanted.
        was_interrupted: Whether Ctrl-C ended it.
        seconds: All sessions took together, from the command to the end of the last check.
        steps: Of all cars together.
        has_used_steps: Whether these were as many as it had.
    """

    folder: Path
    pilot: Path
    checks: tuple[Check, ...]
    is_passed: bool
    was_interrupted: bool
    seconds: float
    steps: int
    has_used_steps: bool


class TrainingSession:
    """Trains a policy; one object for one session.

    Attributes:
        task: What there is to learn.
        folder: Where everything is written.
        steps: Of all cars together, at the beginning of this session.
        setup: Where they learn.
        ghosts: What some of the cars do, for people who watch; None where they drive on a GPU.
    """

    def __init__(self, task: TrainingTask, folder: Path, limit: Limit, begun: float, is_resumed: bool = False) -> None:
        """Build the tracks.

        Args:
            limit: When learning ends at the latest, all sessions together.
            begun: When the command was given, on the clock of `time.perf_counter` [s].
            is_resumed: Whether to resume where an earlier session stopped.

        Raises:
            DonkeySimError: There is no such track, or a file cannot be read or written.
        """
        self.task, self.folder = task, folder
        self._limit, self._begun = limit, begun
        self._kept = read_checkpoint(folder) if is_resumed else None
        self.steps = self._kept["steps"] if self._kept else 0
        self._session, self._kept_at = 0, begun
        self._best: tuple[Check, ...] = ()
        setup = task.make_setup()
        setup.check_device()
        self._scenes = [share_scene(scene) for scene in setup.scenes]  # held, so that all cars share them
        self.setup = setup.plan(self._scenes)
        self._is_varied = self.setup.randomization.is_on
        self._next_check = FIRST_CHECK_VARIED if self._is_varied else FIRST_CHECK
        self._checkers = _open_checkers(self.setup.checks, task.laps)
        self._wanted = self.setup.find_wanted_speed()
        self._speed_to_check = READY_SPEED * self._wanted
        self.actor = make_actor(task, self.setup)
        self.ghosts = Ghosts() if self.setup.device == "cpu" else None
        write_task(task, folder)

    def list_places(self) -> dict[str, Scene]:
        """Return the tracks by the names that people know, in the order of the course."""
        return dict(zip(self.setup.list_names(), self._scenes, strict=True))

    @property
    def seconds(self) -> float:
        """What all sessions took so far."""
        return time.perf_counter() - self._begun

    @property
    def is_passed(self) -> bool:
        """Whether there is a policy that does all that was asked for."""
        return bool(self._best) and all(check.is_passed for check in self._best)

    @property
    def _is_enough(self) -> bool:
        """Whether learning may end early. What is learned in random places is for others: the checks say too little."""
        return self.is_passed and not self.task.places

    def run(self, watches: Sequence[Watch] = ()) -> SessionResult:
        """Train, report every update, and write the policy whenever there is a better one."""
        shares, was_interrupted = Shares(self.task.seed), False
        with shares.opened():
            trainer = make_trainer(self.task, self.setup, self.actor, shares)
            self._resume(trainer)
            try:
                while not (self._is_enough or self._limit.is_reached(self.seconds, trainer.steps)):
                    self._advance(trainer, watches)
                if not self._is_enough:
                    self._check(trainer)
                    self._report(trainer, 0.0, watches)
            except KeyboardInterrupt:
                was_interrupted = True
            self._keep(trainer)
        return self._finish(trainer, was_interrupted)

    def _resume(self, trainer: PolicyTrainer) -> None:
        """Put the trainer where the earlier session stopped, if there was one."""
        if self._kept is None:
            return
        trainer.restore(self._kept["learner"])
        self._session, self._next_check = self._kept["sitting"] + 1, self._kept["next_check"]
        self._speed_to_check = self._kept["speed_to_check"]
        if self._has_pilot():  # else these checks are of a policy that is gone
            self._best = tuple(Check(**check) for check in self._kept["best"])
        self._begun -= self._kept["seconds"]
        trainer.begin(self.task.seed + NEW_SESSION * self._session)

    def _advance(self, trainer: PolicyTrainer, watches: Sequence[Watch]) -> None:
        before, steps = self.seconds, trainer.steps
        trainer.cars.ghosts = self.ghosts  # a student's cars are others than its teacher's
        trainer.advance()
        rate = (trainer.steps - steps) / max(1e-6, self.seconds - before)
        is_overdue = trainer.steps >= OVERDUE * self._next_check
        least = READY_SPEED * self._wanted if is_overdue else self._speed_to_check
        if trainer.steps >= self._next_check and (self._is_varied or is_worth_a_check(trainer, least)):
            self._check(trainer)
            self._next_check = round(self._find_growth() * trainer.steps)
        if time.perf_counter() - self._kept_at > KEEP_EVERY:
            self._keep(trainer)
        self._report(trainer, rate, watches)

    def _find_growth(self) -> float:
        """Return that of the steps until the next check."""
        if self._is_varied:
            return NEXT_CHECK_VARIED
        return NEXT_CHECK if len(self.setup.scenes) == 1 else NEXT_CHECK_OF_MANY

    def _check(self, trainer: PolicyTrainer) -> None:
        """Let the policy drive its laps; if none drove them better, it is the pilot from now on.

        In random places each one is: it keeps getting better elsewhere while its laps on a track go up and down.
        """
        checks = tuple(check for checker in self._checkers for check in checker.check(self._decide))
        self._speed_to_check = self._guess_speed(trainer, checks)
        if self.task.places or not self._best or _rank(checks) > _rank(self._best):
            with hold_interrupts():  # files and figures are of the same policy, whenever Ctrl-C comes
                self._save_pilot(self.actor)
                self._best = checks
            self._write_summary(trainer)

    def _decide(self, crop: torch.Tensor, last: torch.Tensor) -> torch.Tensor:
        """Return what the policy does, of tensors of this machine: checks drive here, as pilots do."""
        device = self.setup.device
        decided: torch.Tensor = self.actor(crop.to(device), last.to(device)).cpu()
        return decided

    def _guess_speed(self, trainer: PolicyTrainer, checks: Sequence[Check]) -> float:
        """Return the speed from which the next check is worth its time: more, if this one was only too slow [m/s]."""
        reached = max(1e-3, float(np.mean([check.speed for check in checks])))
        missing = np.mean([check.wanted_speed for check in checks]) / reached
        is_safe = all(check.is_clean for check in checks)
        least = READY_SPEED * self._wanted
        return max(least, SLACK * float(missing) * trainer.figures.get("speed", 0.0)) if is_safe else least

    @property
    def _pilot(self) -> Path:
        return (self.folder / PILOT_NAME).with_suffix(".h5")

    def _has_pilot(self) -> bool:
        """Return whether the pilot is there; an `.onnx` that is missing is made from the `.h5`."""
        if not self._pilot.is_file():
            return False
        if not self._pilot.with_suffix(".onnx").is_file():
            self._save_pilot(self.load_best())
        return True

    def _settle_pilot(self) -> Path:
        """Return the pilot's file; where there is none, the policy becomes the pilot as it is."""
        if self._best and self._has_pilot():
            return self._pilot
        with hold_interrupts():
            pilot = self._save_pilot(self.actor)
            if not self.is_passed:  # learning ends with the policy that passes; other checks were of one that is gone
                self._best = ()
        return pilot

    def _save_pilot(self, actor: Actor) -> Path:
        """Write it with where it has learned; one for places that nobody has seen knows no track and no car."""
        names, cars = [scene.name for scene in self.setup.scenes], [self.task.experiment.describe_car()]
        if self.task.places:
            names, cars = [PLACES], []
        return save_pilot(actor, self.folder / PILOT_NAME, list(dict.fromkeys(names)), cars)[0]

    def _keep(self, trainer: PolicyTrainer) -> None:
        """Write all that is needed to resume."""
        state = {
            "learner": trainer.describe(),
            "steps": trainer.steps,
            "sitting": self._session,
            "next_check": self._next_check,
            "speed_to_check": self._speed_to_check,
            "best": [asdict(check) for check in self._best],
            "seconds": self.seconds,
        }
        write_checkpoint(self.folder, state)
        self._kept_at = time.perf_counter()

    def _report(self, trainer: PolicyTrainer, rate: float, watches: Sequence[Watch]) -> None:
        update = self._describe(trainer, rate)
        for watch in watches:
            watch(update)

    def _describe(self, trainer: PolicyTrainer, rate: float) -> Update:
        cars, figures = trainer.cars, dict(trainer.figures)
        crop = (
            self.actor.read(cars.seen)[0, -self.actor.observation.depth :].float().mean(0)
            if self.actor.observed[0] in cars.seen
            else torch.zeros(1, 1)
        )
        return Update(
            seconds=self.seconds,
            time_limit=self._limit.find_end(self.seconds, trainer.steps),
            steps=trainer.steps,
            rate=rate,
            reward=figures.pop("reward", 0.0),
            speed=figures.pop("speed", 0.0),
            ends=figures.pop("ends", 0.0),
            laps=int(cars.laps),
            losses=figures,
            ended_at=trainer.departures,
            picture=crop.to(torch.uint8).cpu().numpy(),
            action=(float(cars.last[0, 0]), float(cars.last[0, 1])),
            checks=self._best,
        )

    def load_best(self) -> Actor:
        """Return the best policy so far, as its file holds it.

        Raises:
            PilotError: It was removed meanwhile.
        """
        actor = read_actor(self._pilot)
        return actor or self.actor

    def note_elsewhere(self, checks: Sequence[Check]) -> None:
        """Write how the best policy drives on tracks where it has not learned into the summary."""
        path = self.folder / SUMMARY_NAME
        summary = json.loads(path.read_bytes())
        summary["elsewhere"] = [asdict(check) for check in checks]
        write_whole(path, json.dumps(summary, indent=2).encode() + b"\n")

    def _finish(self, trainer: PolicyTrainer, was_interrupted: bool) -> SessionResult:
        pilot = self._settle_pilot()
        self._write_summary(trainer)
        for checker in self._checkers:
            checker.close()
        return SessionResult(
            self.folder,
            pilot,
            self._best,
            self.is_passed,
            was_interrupted,
            self.seconds,
            trainer.steps,
            self._limit.has_used_steps(trainer.steps),
        )

    def _write_summary(self, trainer: PolicyTrainer) -> None:
        """Write the figures for programs."""
        summary: dict[str, Any] = {
            "task": asdict(self.task),
            "is_passed": self.is_passed,
            "seconds": round(self.seconds, 2),
            "processor_seconds": round(time.process_time(), 2),  # of this sitting, all threads
            "steps": trainer.steps,
            "sittings": self._session + 1,
            "checks": [asdict(check) for check in self._best],
            "versions": {"donkeysim": __version__, "torch": torch.__version__, "numpy": np.__version__},
        }
        write_whole(self.folder / SUMMARY_NAME, json.dumps(summary, indent=2).encode() + b"\n")


def _open_checkers(setup: TrainingSetup, lap_count: int) -> list[Checker]:
    """Return who checks with cars as they should be and, if they are drawn, with cars that differ."""
    varied = [Checker(setup, VARIED_LAPS, is_varied=True)] if setup.randomization.is_on else []
    return [Checker(setup, lap_count), *varied]


def _rank(checks: Sequence[Check]) -> tuple[float, ...]:
    """Return what the better of two policies has more of: tracks passed, laps, cars that stayed on the road, speed."""
    return (
        float(sum(check.is_passed for check in checks)),
        sum(min(check.laps, check.wanted_laps) / check.wanted_laps for check in checks),
        -float(sum(check.departures for check in checks)),
        sum(check.speed / check.wanted_speed for check in checks),
    )
