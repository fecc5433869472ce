"""What a pilot that has just been trained will do: laps in the place where its tub was driven, where that is known."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

from donkeysim.core.errors import DonkeySimError, format_count

if TYPE_CHECKING:
    from donkeysim.car.config import Config
    from donkeysim.learn.evaluate import PilotRun
    from donkeysim.learn.train import TrainingResult

# One lap may be luck, and so may one start.
LAPS, STARTS = 2, 3
"""Whole laps from each of so many starts: the grid and elsewhere on the road."""

RANDOM_PLACE = "random_place"
"""Where pilots for unseen places have learned, and so what trains them further is said to have, too."""

MOST_PLACES = 3
"""Places that it drives in; of tubs of many, the first ones."""


def foretell(config: Config, result: TrainingResult) -> Iterator[str]:
    """Yield in sentences how far off its answers are, and how it drives where it learned.

    Args:
        config: Of the car.
        result: What the training left.
    """
    error = _find_error(result)
    if error is not None:
        off = f"{error:.2f} off (root mean square; 1: full lock)"
        yield f"On pictures that it did not learn from, its steering is {off}."
    places = [place for place in result.places if place != RANDOM_PLACE]  # another one each time
    for place in places[:MOST_PLACES]:
        try:
            runs = _drive(config, result, place)
        except DonkeySimError as error_here:
            yield f"How it drives in {place} is not known: {error_here}"
            continue
        yield from _describe(place, runs)
    if not places:
        yield "How it drives is not known: its tubs name no place of the simulator. donkey evaluate shows it on any."


def _find_error(result: TrainingResult) -> float | None:
    """Return the root of the mean square error of the steering; None where the type does not answer in numbers."""
    losses = result.history.get("val_n_outputs0_loss")
    return math.sqrt(losses[result.best_epoch - 1]) if losses else None


def _drive(config: Config, result: TrainingResult, place: str) -> list[PilotRun]:
    from donkeysim.cli.commands.evaluate import read_conditions
    from donkeysim.learn.evaluate import evaluate
    from donkeysim.learn.pilot import load_pilot

    pilot = load_pilot(result.onnx_path or result.model_path)
    conditions, _ = read_conditions(config)
    return [evaluate(pilot, [place], LAPS, conditions, seed).runs[0] for seed in range(STARTS)]


def _describe(place: str, runs: list[PilotRun]) -> Iterator[str]:
    clean = sum(run.is_passed for run in runs)
    times = [time for run in runs for time in run.lap_times]
    lap = f"; a lap takes {sum(times) / len(times):.1f} s" if times else ""
    yield f"In {place} it drove {format_count(LAPS, 'clean lap')} from {clean} of {STARTS} starts{lap}."
    for seed, run in enumerate(runs):
        if run.is_passed:
            continue
        places = [f"off the road to the {event.name} at {event.time:.1f} s" for event in run.departures[:3]]
        places += [f"touched {event.name} at {event.time:.1f} s" for event in run.hits[:3]]
        where = ", ".join(places) or run.ending
        yield f"  From start {seed}: {where}. `donkey evaluate --tracks {place} --seed {seed}` shows where."
    if clean < STARTS:
        yield "Record more there, coming back to the middle from both sides, and train again with both drives."
