"""Pilots on tracks from several starts: a matrix of drives, and what can be said of each pilot on each track."""

import functools
import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

import numpy as np

from donkeysim.cluster.executor import Executor
from donkeysim.core.errors import SpecError
from donkeysim.learn.evaluate import Conditions, evaluate
from donkeysim.learn.pilot import NetworkPilot, load_pilot

CONFIDENCE = 0.95
"""Of intervals."""


@dataclass(frozen=True)
class EvaluationSpec:
    """Which pilots drive where, how often and how far.

    Attributes:
        models: Files of pilots.
        tracks: Names of tracks, or their files.
        seeds: Starts of each, seeds from 0: the grid, then places on the road.
        laps: Of each drive.
        kind: Type of the pilots, if their files do not say; empty: they do.

    Raises:
        SpecError: There are none.
    """

    models: tuple[str, ...]
    tracks: tuple[str, ...]
    seeds: int
    laps: int
    kind: str = ""

    def __post_init__(self) -> None:
        if self.seeds < 1 or self.laps < 1:
            raise SpecError(f"{self.laps} laps from {self.seeds} starts are not valid; ask for 1 or more of each.")


@dataclass(frozen=True)
class MatrixSpec(EvaluationSpec):
    """Drives of each pilot on each track from each start."""

    @functools.cached_property
    def drives(self) -> tuple[tuple[str, str, int], ...]:
        """Model, track and seed of every drive."""
        return tuple(itertools.product(self.models, self.tracks, range(self.seeds)))


@dataclass(frozen=True)
class Cell:
    """One drive.

    Attributes:
        number: Of the matrix.
        model: File of the pilot.
        seed: Of the start.
        is_passed: Whether all laps were driven, on the road and touching nothing.
        laps: Whole ones.
        lap_time: Mean of these [s], none: not a number.
        cte: Mean distance from the path [m].
        speed: Mean [m/s].
        departures: How often the car left the road.
        hits: How often it touched something.
    """

    number: int
    model: str
    track: str
    seed: int
    is_passed: bool
    ending: str
    laps: int
    lap_time: float
    cte: float
    speed: float
    departures: int
    hits: int


@dataclass(frozen=True)
class Interval:
    """A mean and where it lies with `CONFIDENCE`; one value alone has no interval."""

    mean: float
    low: float
    high: float


@dataclass(frozen=True)
class Cells:
    """What can be said of a pilot on a track.

    Attributes:
        model: File of the pilot.
        count: Drives.
        passed: How many of them were clean.
        share: Of clean ones, by Wilson.
        lap_time: Means of drives with whole laps, by Student [s].
        cte: Means of drives [m].
        speed: Means of drives with whole laps, by Student [m/s].
    """

    model: str
    track: str
    count: int
    passed: int
    share: Interval
    lap_time: Interval
    cte: Interval
    speed: Interval


def drive_matrix(spec: MatrixSpec, conditions: Conditions, executor: Executor) -> Iterator[Cell]:
    """Yield the drives of a matrix, each as it is done; the same ones whoever drives them."""
    return executor.run(drive_cell, spec, conditions, over=range(len(spec.drives)))


def drive_cell(spec: MatrixSpec, conditions: Conditions, number: int) -> Cell:
    """Let a pilot drive; runs in a process of the executor, which must see the pilots' files by these names."""
    model, track, seed = spec.drives[number]
    run = evaluate(load_once(model, spec.kind, conditions.throttle_range), [track], spec.laps, conditions, seed).runs[0]
    return Cell(
        number=number,
        model=model,
        track=track,
        seed=seed,
        is_passed=run.is_passed,
        ending=run.ending,
        laps=len(run.lap_times),
        lap_time=float(np.mean(run.lap_times)) if run.lap_times else math.nan,
        cte=run.cte_mean,
        speed=run.speed_mean,
        departures=len(run.departures),
        hits=len(run.hits),
    )


@functools.lru_cache(maxsize=4)
def load_once(model: str, kind: str, throttle_range: float) -> NetworkPilot:
    """Return the pilot in a file, the same one for drives that follow each other; see `load_pilot`."""
    config = SimpleNamespace(MODEL_CATEGORICAL_MAX_THROTTLE_RANGE=throttle_range)
    return load_pilot(Path(model), kind or None, config)


def sum_up(spec: MatrixSpec, cells: Iterable[Cell]) -> list[Cells]:
    """Return what can be said of each pilot on each track, in the order of the matrix."""
    found = sorted(cells, key=lambda cell: cell.number)
    pairs = [(model, track) for model in spec.models for track in spec.tracks]
    groups = [[cell for cell in found if (cell.model, cell.track) == pair] for pair in pairs]
    return [_describe(group) for group in groups if group]


def _describe(cells: Sequence[Cell]) -> Cells:
    from scipy import stats  # most of a second, which only a finished matrix needs

    passed = sum(cell.is_passed for cell in cells)
    bounds = stats.binomtest(passed, len(cells)).proportion_ci(CONFIDENCE, method="wilson")
    return Cells(
        model=cells[0].model,
        track=cells[0].track,
        count=len(cells),
        passed=passed,
        share=Interval(passed / len(cells), float(bounds.low), float(bounds.high)),
        lap_time=estimate_mean([cell.lap_time for cell in cells if cell.laps]),
        cte=estimate_mean([cell.cte for cell in cells]),
        speed=estimate_mean([cell.speed for cell in cells]),
    )


def estimate_mean(values: Sequence[float]) -> Interval:
    """Return the mean of values and where the mean of all such values lies; of none, no numbers."""
    from scipy import stats

    if not values:
        return Interval(math.nan, math.nan, math.nan)
    mean = float(np.mean(values))
    if len(values) < 2:
        return Interval(mean, math.nan, math.nan)
    half = float(stats.sem(values) * stats.t.ppf(0.5 + 0.5 * CONFIDENCE, len(values) - 1))
    return Interval(mean, mean - half, mean + half)
