"""Which trainings come next: a function of what was asked for and of the results, not of who was done first.

Trials train in rounds. A round is decided when all of the one before are done, in the order of their numbers, so that a
sweep comes out the same with one worker and with many, and when it continues after a stop.
"""

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from donkeysim.cluster.sweep.spec import FACTOR, Choice, Options, SweepFile, SweepSpec

ANEW = 0.25
"""Population: an option of who takes over another's training is drawn anew so often, else changed a little."""

REPLACED = 0.25
"""Population: this share of the trials, the worst, take over the training of as many of the best."""


class Source(NamedTuple):
    """What a training continues.

    Attributes:
        trial: Number of the trial.
        turn: Number of the round.
        root: See `Job`.
    """

    trial: int
    turn: int
    root: str


def name_job(trial: int, turn: int) -> str:
    """Return the name of the training of a trial in a round."""
    return f"{trial:05d}-{turn}"


@dataclass(frozen=True)
class Job:
    """A training.

    Attributes:
        trial: Number of the trial.
        turn: Number of the round.
        options: Of the trial, those that differ.
        budget: At which it ends: epochs, or steps.
        root: Name of the training that it prolongs, of this trial; its own: it prolongs none.
        source: What it continues; None: it begins.
    """

    trial: int
    turn: int
    options: Options
    budget: int
    root: str
    source: Source | None = None

    @property
    def prolongs(self) -> bool:
        """Whether it continues where this trial was, with the same options."""
        return self.root != self.name

    @property
    def name(self) -> str:
        """Of its folder."""
        return name_job(self.trial, self.turn)


@dataclass(frozen=True)
class TrialResult:
    """What came of a training.

    Attributes:
        figures: By name.
        curve: Of each figure: how far, and its value there.
        words: The command line, without `donkey`.
        pilot: File of the pilot in its folder; empty: none.
        error: Why it could not be done; empty: it was.
        seconds: It took.
    """

    figures: Mapping[str, float] = field(default_factory=dict)
    curve: Mapping[str, Sequence[tuple[float, float]]] = field(default_factory=dict)
    words: Sequence[str] = field(default_factory=list)
    pilot: str = ""
    error: str = ""
    seconds: float = 0.0


def draw_trials(file: SweepFile) -> list[Options]:
    """Return the options that differ, for each trial at first."""
    names, dimensions = list(file.search), list(file.search.values())
    if file.spec.method == "grid":
        lists = [dimension.values for dimension in dimensions if isinstance(dimension, Choice)]
        return [dict(zip(names, values, strict=True)) for values in itertools.product(*lists)]
    trials: list[Options] = []
    for number in range(file.spec.trials):
        draws = np.random.default_rng([file.spec.seed, number])
        trials.append({name: dimension.draw(draws) for name, dimension in file.search.items()})
    return trials


def choose_next(file: SweepFile, jobs: Sequence[Job], results: Sequence[TrialResult]) -> list[Job]:
    """Return the jobs of the next round."""
    spec, turn = file.spec, jobs[0].turn + 1
    budgets = spec.budgets
    if turn == len(budgets):
        return []
    scores = [spec.score(result.figures) for result in results]
    best = sorted(range(len(jobs)), key=lambda place: (-scores[place], jobs[place].trial))
    alive = [place for place in best if scores[place] > -math.inf]
    if spec.method == "halving":
        kept = [jobs[place] for place in alive[: max(1, len(jobs) // (spec.factor or FACTOR))]]
        kept.sort(key=lambda job: job.trial)
        return [_prolong(job, budgets[turn], spec) for job in kept]
    return _breed(file, [jobs[place] for place in best], len(alive), budgets[turn])


def _prolong(job: Job, budget: int, spec: SweepSpec) -> Job:
    """Return a trial's job with more budget: rl continues where it was, train cannot and begins anew."""
    turn = job.turn + 1
    if spec.command == "train":
        return replace(job, turn=turn, budget=budget, root=name_job(job.trial, turn))
    return replace(job, turn=turn, budget=budget, source=Source(job.trial, job.turn, job.root))


def _breed(file: SweepFile, best: Sequence[Job], alive: int, budget: int) -> list[Job]:
    """Return the next generation.

    Args:
        best: Jobs of this one, the best first.
        alive: How many of them have a pilot that can be taken over.
    """
    if not alive:
        return []
    count = min(alive, math.ceil(REPLACED * len(best)), max(1, len(best) // 2))
    first_replaced = min(alive, len(best) - count)
    jobs = []
    for place, job in enumerate(best):
        draws = np.random.default_rng([file.spec.seed, job.trial, job.turn + 1])
        model = best[int(draws.integers(count))] if place >= first_replaced else job
        options = job.options if model is job else _change(file, model.options, draws)
        prolongs = model is job and file.spec.command == "rl"
        spent, turn = job.budget if prolongs else 0, job.turn + 1
        root = job.root if prolongs else name_job(job.trial, turn)
        source = Source(model.trial, model.turn, model.root)
        jobs.append(Job(job.trial, turn, options, spent + budget, root, source))
    return sorted(jobs, key=lambda job: job.trial)


def _change(file: SweepFile, options: Options, draws: np.random.Generator) -> Options:
    changed: dict[str, Any] = {}
    for name, dimension in file.search.items():
        is_anew = draws.random() < ANEW
        changed[name] = dimension.draw(draws) if is_anew else dimension.change(options[name], draws)
    return changed


class Plan:
    """The jobs of a sweep as they become ready.

    Attributes:
        done: All jobs that are done, with their results.
        taken: Those that were taken and are not done, by name.
    """

    def __init__(self, file: SweepFile) -> None:
        """Begin with the first round."""
        self._file = file
        budget = file.spec.budgets[0]
        self._jobs = [Job(n, 0, options, budget, name_job(n, 0)) for n, options in enumerate(draw_trials(file))]
        self._waiting, self._results = list(self._jobs), dict[str, TrialResult]()
        self.done: list[tuple[Job, TrialResult]] = []
        self.taken: dict[str, Job] = {}

    @property
    def is_over(self) -> bool:
        """Whether there is nothing left to do."""
        return not self._jobs

    @property
    def waiting(self) -> int:
        """How many jobs are ready."""
        return len(self._waiting)

    def take(self) -> Job | None:
        """Return the next job; None: none is ready before another is done."""
        if not self._waiting:
            return None
        job = self._waiting.pop(0)
        self.taken[job.name] = job
        return job

    def postpone(self, jobs: Sequence[Job]) -> None:
        """Take jobs back that were taken; they come first."""
        self._waiting[:0] = jobs
        for job in jobs:
            del self.taken[job.name]

    def note(self, job: Job, result: TrialResult) -> None:
        """Take down what came of a job."""
        del self.taken[job.name]
        self._results[job.name] = result
        self.done.append((job, result))
        if len(self._results) == len(self._jobs):
            results = [self._results[job.name] for job in self._jobs]
            self._jobs = choose_next(self._file, self._jobs, results)
            self._waiting, self._results = list(self._jobs), {}


def list_latest(done: Iterable[tuple[Job, TrialResult]]) -> list[tuple[Job, TrialResult]]:
    """Return the latest job of each trial, by number."""
    latest: dict[int, tuple[Job, TrialResult]] = {}
    for job, result in done:
        if job.trial not in latest or job.turn >= latest[job.trial][0].turn:
            latest[job.trial] = (job, result)
    return [latest[trial] for trial in sorted(latest)]


def find_best(spec: SweepSpec, done: Iterable[tuple[Job, TrialResult]]) -> tuple[Job, TrialResult] | None:
    """Return the best job of the last round, or of the one before if all of it failed; None: all failed."""
    good = [pair for pair in done if spec.score(pair[1].figures) > -math.inf and pair[1].pilot]
    return max(good, key=lambda pair: (pair[0].turn, spec.score(pair[1].figures), -pair[0].trial), default=None)
