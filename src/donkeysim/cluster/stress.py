"""How robust pilots are: drives under one thing at a time that real cars bring, at growing strengths.

The score of a drive is the way along the path that the car makes, from wherever the drive begins, before it first
leaves the road, hits something or gives up, as a share of the length of its laps, at most 1; who passes has 1. Laps
are counted from the start line on, so who begins elsewhere and goes wrong late may have 1, too. Every pilot meets the
same draws: they follow from column, strength and seed alone.
"""

import functools
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from html import escape
from pathlib import Path
from typing import TypeAlias

import numpy as np

from donkeysim.cluster.executor import Executor
from donkeysim.cluster.matrix import EvaluationSpec, Interval, estimate_mean, load_once
from donkeysim.core.chart import fill_report
from donkeysim.core.errors import SpecError, describe_unknown, format_count
from donkeysim.core.types import BoolArray
from donkeysim.learn.database import name_pilots
from donkeysim.learn.evaluate import Conditions, PilotRun, evaluate
from donkeysim.world.randomization import RandomizationSpec, read_randomization
from donkeysim.world.specs import NO_CHALLENGES, ChallengeSpec

Bounds: TypeAlias = tuple[float, float, float]
"""What a value is at rest, and the least and the greatest that it is at full strength."""

NONE = "none"
"""The column without anything."""

# Three show where a pilot begins to fail and cost three drives a column; two could not distinguish a slope from a step.
STRENGTHS = (1, 2, 3)
"""Of three; thirds of the way to full strength."""

_ANY = (0.0, -math.pi, math.pi)

# Nobody measured these bounds on real cars. They are wide on purpose: at full strength even good pilots fail, so that
# the three strengths show where each begins to. They go beyond the randomisation preset `wide`, most about twice as
# far.

COLUMNS: dict[str, dict[str, Bounds]] = {
    NONE: {},
    "light": {"sun.strength": (1.0, 0.1, 2.0), "sun.ambient": (1.0, 0.4, 1.7), "picture.exposure": (0.0, -2.2, 2.0)},
    "shadow": {
        "road.patches": (0.0, 0.9, 1.0),
        "ground.patches": (0.0, 0.9, 1.0),
        "road.patch_size": (0.3, 0.6, 1.2),
        "sun.height": (1.2, 0.05, 0.2),
        "sun.azimuth": _ANY,
    },
    "distractors": {
        "props.hue": _ANY,
        "ground.hue": _ANY,
        "ground.saturation": (1.0, 0.0, 2.0),
        "ground.contrast": (1.0, 1.5, 2.0),
        "sky.tint": (1.0, 0.5, 1.5),
    },
    "battery": {"car.motor": (1.0, 0.4, 2.4), "battery.charge": (1.0, 0.0, 0.3)},
    "delay": {
        "delay.picture": (0.0, 0.16, 0.16),
        "delay.action": (0.0, 0.15, 0.15),
        "delay.picture_jitter": (0.0, 0.08, 0.08),
        "delay.action_jitter": (0.0, 0.08, 0.08),
    },
    "field of view": {"camera.fov": (0.0, -0.6, 0.6), "camera.distortion": (0.0, 0.2, 0.7)},
    "mounting": {
        "camera.pitch": (0.0, -0.25, 0.25),
        "camera.yaw": (0.0, -0.12, 0.12),
        "camera.roll": (0.0, -0.2, 0.2),
        "camera.z": (0.0, -0.06, 0.06),
    },
    "picture": {"picture.noise": (0.0, 30.0, 50.0), "picture.blur": (0.0, 2.0, 3.5)},
    "grip": {"car.friction": (1.0, 0.15, 0.3), "car.steer_trim": (0.0, -0.12, 0.12)},
}
"""What is put to the test, and how far it goes at full strength."""

# At full strength 120 and 36: on a lap of 30 m five on each metre. A track without room for all gets as many as find a
# place.
TREES, CONES = 40, 12
"""Trees beside the road and cones that cannot be hit, on it too, for each strength of the distractors."""

SCORE_Z = 1.959964
"""Half the width of an interval, in standard deviations, with the confidence of `matrix.CONFIDENCE`."""

_TEMPLATE = Path(__file__).with_name("stress_report.html")


@dataclass(frozen=True)
class StressSpec(EvaluationSpec):
    """Which drives there are: `seeds` of each pilot at each strength of each column on each track.

    Raises:
        SpecError: There are none, or there is no such column.
    """

    seeds: int = 4
    laps: int = 1
    columns: tuple[str, ...] = tuple(COLUMNS)

    def __post_init__(self) -> None:
        super().__post_init__()
        for column in self.columns:
            if column not in COLUMNS:
                raise SpecError(describe_unknown("column", column, COLUMNS))

    @functools.cached_property
    def drives(self) -> tuple[tuple[str, str, int, str, int], ...]:
        """Model, column, strength, track and seed of every drive."""
        return tuple(
            (model, column, strength, track, seed)
            for model in self.models
            for column in self.columns
            for strength in ((0,) if column == NONE else STRENGTHS)
            for track in self.tracks
            for seed in range(self.seeds * (len(STRENGTHS) if column == NONE else 1))
        )


@dataclass(frozen=True)
class StressDrive:
    """One drive.

    Attributes:
        model: File of the pilot.
        column: Of `COLUMNS`.
        strength: Of `STRENGTHS`; 0: none.
        seed: Of start and draw.
        score: Way made cleanly from where the drive begins, as a share of the length of its laps, 0 to 1.
        speed: Mean [m/s].
        cte: Mean distance from the path, as far as the score counts the way [m].
    """

    model: str
    column: str
    strength: int
    track: str
    seed: int
    score: float
    ending: str
    speed: float
    cte: float


@dataclass(frozen=True)
class StressCell:
    """What can be said of a pilot in a column.

    Attributes:
        model: File of the pilot.
        column: Of `COLUMNS`.
        count: Drives.
        score: Mean of all.
        by_strength: Mean at each of `STRENGTHS`; the column without anything has one only.
        cte: Mean distance from the path of its drives, by Student [m].
    """

    model: str
    column: str
    count: int
    score: Interval
    by_strength: tuple[float, ...]
    cte: Interval


def drive_stress(spec: StressSpec, conditions: Conditions, executor: Executor) -> Iterator[StressDrive]:
    """Yield the drives, each as it is done; the same ones whoever drives them."""
    return executor.run(drive_one, spec, conditions, over=range(len(spec.drives)))


def drive_one(spec: StressSpec, conditions: Conditions, number: int) -> StressDrive:
    """Let a pilot drive; runs in a process of the executor, which must see the pilots' files by these names."""
    model, column, strength, track, seed = spec.drives[number]
    hard = make_conditions(conditions, column, strength, seed)
    run = evaluate(load_once(model, spec.kind, conditions.throttle_range), [track], spec.laps, hard, seed + 1).runs[0]
    score, cte = score_run(run), float(np.abs(run.column("cte"))[find_clean(run)].mean())
    return StressDrive(model, column, strength, track, seed, score, run.ending, run.speed_mean, cte)


def make_conditions(conditions: Conditions, column: str, strength: int, seed: int) -> Conditions:
    """Return what a drive of a column has to cope with."""
    experiment = conditions.conf.experiment
    challenges = NO_CHALLENGES
    if column == "distractors":
        challenges = ChallengeSpec(CONES * strength, True, TREES * strength, False, strength)
    scenes = tuple(replace(scene, challenges=challenges) for scene in experiment.scenes)
    randomization = draw_stress(column, strength, seed)
    return replace(
        conditions,
        conf=replace(conditions.conf, experiment=replace(experiment, scenes=scenes, randomization=randomization)),
        film_time=0.0,
    )


def draw_stress(column: str, strength: int, seed: int) -> RandomizationSpec:
    """Return fixed values, a share of the way from rest to a bound; which bound of each, the seed says."""
    tables: dict[str, dict[str, tuple[float, float]]] = {}
    random = np.random.default_rng([seed, list(COLUMNS).index(column)])
    for name, (rest, low, high) in COLUMNS[column].items():
        bound = low if (random.random() < 0.5) else high
        if (rest, low, high) == _ANY:
            bound = float(random.uniform(low, high))
        table, _, knob = name.partition(".")
        value = rest + (bound - rest) * strength / max(STRENGTHS)
        tables.setdefault(table, {})[knob] = (value, value)
    return read_randomization(tables)


def score_run(run: PilotRun) -> float:
    """Return how far along the path a run came before anything went wrong, as a share of the length of its laps.

    It counts from wherever the drive begins, not from the start line, and is 0 to 1; a run that passed has 1.
    """
    if run.is_passed:
        return 1.0
    path, clean = run.scene.path.frame.length, find_clean(run)
    step = np.diff(run.column("along"), prepend=run.column("along")[0])
    way = float(((step + 0.5 * path) % path - 0.5 * path)[clean].sum())
    return min(max(way / (run.wanted_laps * path), 0.0), 1.0)


def find_clean(run: PilotRun) -> BoolArray:
    """Return which rows of a run's trace come before anything went wrong; the first always does."""
    time = run.column("time")
    ends = [event.time for event in (*run.departures, *run.hits)]
    clean: BoolArray = (time < min(ends, default=math.inf)) | (time == time[0])
    return clean


def sum_up(spec: StressSpec, drives: Iterable[StressDrive]) -> list[StressCell]:
    """Return what can be said of each pilot in each column, in their order; of columns that all have driven in."""
    found = list(drives)
    driven = {(drive.model, drive.column) for drive in found}
    columns = [column for column in spec.columns if driven.issuperset((model, column) for model in spec.models)]
    return [_describe(model, column, found) for model in spec.models for column in columns]


def _describe(model: str, column: str, drives: Sequence[StressDrive]) -> StressCell:
    own = [drive for drive in drives if (drive.model, drive.column) == (model, column)]
    strengths = sorted({drive.strength for drive in own})
    means = [float(np.mean([drive.score for drive in own if drive.strength == strength])) for strength in strengths]
    score, cte = estimate_share([drive.score for drive in own]), estimate_mean([drive.cte for drive in own])
    return StressCell(model, column, len(own), score, tuple(means), cte)


def estimate_share(scores: Sequence[float]) -> Interval:
    """Return the mean of scores from 0 to 1 and Wilson's interval, which is as wide as they could make it."""
    count, mean = len(scores), float(np.mean(scores))
    square = SCORE_Z**2 / count
    middle = (mean + 0.5 * square) / (1.0 + square)
    half = math.sqrt(square * mean * (1.0 - mean) + 0.25 * square**2) / (1.0 + square)
    return Interval(mean, max(0.0, middle - half), min(1.0, middle + half))


def format_report(spec: StressSpec, cells: list[StressCell], car: str) -> str:
    """Return the report as HTML; `car`: that all drove, in words."""
    tracks = ", ".join(Path(track).stem for track in spec.tracks)
    laps, drives = format_count(spec.laps, "lap"), format_count(spec.seeds, "drive")
    result = (
        f"How far a car gets, from wherever its drive begins, before it first leaves the road, hits something or "
        f"gives up, as a share of the length of {laps}: on {tracks}, {drives} at each strength, the same for all "
        f"pilots, of the car {car}."
    )
    names, columns = name_pilots(spec.models), dict.fromkeys(cell.column for cell in cells)
    return fill_report(
        _TEMPLATE,
        result=escape(result),
        heads="".join(f"<th>{escape(names[model])}</th>" for model in spec.models),
        rows="".join(_format_row(column, [cell for cell in cells if cell.column == column]) for column in columns),
    )


def _format_row(column: str, cells: list[StressCell]) -> str:
    best = max(map(_rank, cells))
    name = "nothing" if column == NONE else column
    return f"<tr><th>{name}</th>{''.join(_format_cell(cell, _rank(cell) == best) for cell in cells)}</tr>"


def _rank(cell: StressCell) -> tuple[float, float]:
    """Return what a cell is judged by: whole per cents of the way, then how near to the path."""
    return round(cell.score.mean, 2), -cell.cte.mean


def _format_cell(cell: StressCell, is_best: bool) -> str:
    score = cell.score
    bars = "".join(
        f'<i title="{100 * mean:.0f} %"><span style="height:{100 * mean:.0f}%"></span></i>' for mean in cell.by_strength
    )
    return (
        f"<td{' class=best' if is_best else ''}><b>{100 * score.mean:.0f} %</b>"
        f"<small>{100 * score.low:.0f} to {100 * score.high:.0f} %</small>"
        f'<div class="bars">{bars}</div><small>|cte| {100 * cell.cte.mean:.1f} cm</small></td>'
    )
