"""Train a pilot from recorded drives.

The best pilot so far is saved after every epoch; Ctrl-C ends training early and keeps it. Training also writes an
.onnx file for driving without PyTorch, .tflite files for cars (in float32, and in integers for the pictures of these
tubs), a plot of the losses, and an entry in database.json. Then the pilot drives laps where it has learned, if that is
known, or in the track file that DONKEY_GYM_ENV_NAME names; the last lines say how.
"""

from __future__ import annotations

import argparse
import ast
import logging
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from donkeysim.cli.console import Report, console
from donkeysim.core.errors import DonkeySimError, SpecError, format_count

if TYPE_CHECKING:
    from donkeysim.car.config import Config
    from donkeysim.learn.evaluate import PilotRun
    from donkeysim.learn.fit import EpochResult
    from donkeysim.learn.train import TrainingResult

# One lap may be luck, and so may one start.
LAPS, STARTS = 2, 3
"""How many starts, the grid and elsewhere on the road, a trained pilot drives whole laps from."""

RANDOM_PLACE = "random_place"
"""Where pilots for unseen places have learned, and so what trains them further is said to have, too."""

MOST_PLACES = 3
"""Places that it drives in; of tubs of many, the first ones."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class TrainSpec:
    """What is to be trained.

    Attributes:
        tubs: Folders to learn from; none: the configuration's.
        model: File to write; None: the next name.
        type: Kind of pilot; None: the configuration's.
        config: File of the configuration.
        myconfig: File that overrides it.
        transfer: Pilot to begin with.
        changes: Keys of the configuration to change.
        comment: For the database of pilots.
    """

    tubs: Sequence[str] = ()
    model: str | None = None
    type: str | None = None
    config: str = "./config.py"
    myconfig: str = "myconfig.py"
    transfer: str | None = None
    changes: Mapping[str, Any] = field(default_factory=dict)
    comment: str | None = None

    def load_config(self) -> Config:
        """Return the configuration with its changes."""
        from donkeysim.car.config import load_config

        return load_config(self.config, self.myconfig, driving=False, changes=self.changes)

    def train(
        self, config: Config, on_epoch: Callable[[EpochResult], None], report: Report = lambda _done, _total: None
    ) -> TrainingResult:
        """Train with this configuration; see `learn.train.train`."""
        from donkeysim.learn.train import train

        tubs = self.tubs or [config.DATA_PATH]
        return train(config, tubs, self.model, self.type, self.transfer, self.comment, report, on_epoch)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add = parser.add_argument
    add(
        "--tub",
        "--tubs",
        dest="tubs",
        nargs="+",
        action="extend",
        metavar="TUB",
        default=[],
        help="folders to learn from, separated by spaces or commas",
    )
    add("--model", help="file to write: .h5, .keras, .onnx or .tflite (default models/pilot_YY-MM-DD_<n>.h5)")
    add("--type", help="linear, categorical, inferred, memory, imu, behavior, localizer, rnn, 3d")
    add("--config", default=TrainSpec.config, help="configuration (default ./config.py)")
    add("--myconfig", default=TrainSpec.myconfig, help="file that overrides it (default: myconfig.py beside it)")
    add("--framework", choices=("tensorflow", "pytorch"), help="accepted; pilots are always Keras on PyTorch")
    add("--transfer", metavar="FILE", help="start from this pilot (.h5 or .keras), or anywhere")
    add(
        "--set",
        dest="changes",
        nargs="+",
        action="extend",
        metavar="KEY=VALUE",
        help="keys of the configuration to change",
    )
    add("--comment", help="stored in the database of pilots")


def run(arguments: argparse.Namespace) -> int:
    """Train and say what was written."""
    if arguments.framework is not None:
        console.print("Pilots are trained by Keras on PyTorch; their .h5 files load in TensorFlow 2.15 too.")
    given = {field.name: getattr(arguments, field.name) for field in fields(TrainSpec)}
    spec = TrainSpec(**given | {"changes": read_changes(arguments.changes)})
    config = spec.load_config()
    with show_training(config.VERBOSE_TRAIN) as (report, on_epoch):
        result = spec.train(config, on_epoch, report)
    if result.was_interrupted:
        console.print("Stopped by Ctrl-C; the best pilot so far was kept.")
    console.print(f"Best epoch {result.best_epoch}: validation loss {result.best_loss:.5f}")
    if result.places:
        console.print(f"The pilot knows {', '.join(result.places)}: it has learned there.", soft_wrap=True)
    for path in dict.fromkeys((result.model_path, result.onnx_path, *result.lite_paths, result.plot_path)):
        if path is not None:
            console.print(f"Wrote {path}", soft_wrap=True)
    if not result.was_interrupted:
        for line in foretell(config, result):
            console.print(line, soft_wrap=True)
    return 130 if result.was_interrupted else 0


def read_changes(words: Sequence[str] | None) -> dict[str, Any]:
    """Return what `--set` changes: values are written as in Python, texts also without quotes.

    Raises:
        SpecError: A word has no value.
    """
    changes = {}
    for word in words or ():
        key, equals, text = word.partition("=")
        if not (equals and key):
            raise SpecError(f"--set {word} is not valid; it takes KEY=VALUE, for example LEARNING_RATE=0.0005.")
        try:
            changes[key] = ast.literal_eval(text)
        except (ValueError, SyntaxError):
            changes[key] = text
    return changes


@contextmanager
def show_training(has_bar: bool = True) -> Iterator[tuple[Report, Callable[[EpochResult], None]]]:
    """Show a bar within each epoch and a line for each that ended; yields what `learn.train.train` reports to."""
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn("{task.completed}/{task.total}", markup=False),
    )
    is_off = not (has_bar and console.is_interactive)
    with Progress(*columns, TimeRemainingColumn(), console=console, transient=True, disable=is_off) as progress:
        task, begun, is_over = progress.add_task("Pictures", total=None), 0, False

        def report(done: int, total: int) -> None:
            nonlocal begun, is_over
            if is_over:  # the pictures, or an epoch: this is of the next one
                begun += 1
                progress.update(task, description=f"Epoch {begun}")
            is_over = done >= total
            progress.update(task, completed=done, total=total)

        def on_epoch(epoch: EpochResult) -> None:
            nonlocal is_over
            is_over = True
            losses = epoch.losses
            mark = "  best so far" if epoch.is_best else ""
            console.print(
                f"Epoch {epoch.number}/{epoch.most}: loss {losses['loss']:.5f}, val_loss {losses['val_loss']:.5f}, "
                f"{epoch.images_per_second:.0f} images/s{mark}"
            )

        yield report, on_epoch


def foretell(config: Config, result: TrainingResult) -> Iterator[str]:
    """Yield in sentences how far off its answers are, and how it drives where it learned."""
    if losses := result.history.get("val_n_outputs0_loss"):  # not where the type does not answer in numbers
        error = math.sqrt(losses[result.best_epoch - 1])
        off = f"{error:.2f} off (root mean square; 1: full lock)"
        yield f"On pictures that it did not learn from, its steering is {off}."
    places = _find_places(config, result)
    for place in places:
        try:
            runs = _drive(config, result, place)
        except DonkeySimError as error_here:
            yield f"How it drives in {place} is not known: {error_here}"
            continue
        yield from _describe(place, runs)
    if not places:
        yield (
            "How it drives is not known: its tubs name no place of the simulator. donkey place makes one of a tub; "
            "with the lines that it prints, training drives there, and learns by that car's camera."
        )


def _find_places(config: Config, result: TrainingResult) -> list[str]:
    """Return where it learned, or else the track file that the configuration names, perhaps made of one of its tubs."""
    from donkeysim.drive.simulator_settings import find_scene
    from donkeysim.world.tracks.catalogue import is_track_file, shorten_scene_name

    try:
        own = find_scene(config.DONKEY_GYM_ENV_NAME)
    except DonkeySimError:  # of a fork, perhaps: training does not need it
        own = ""
    known = [place for place in result.places if place != RANDOM_PLACE]  # another one each time
    if not known and is_track_file(own):
        return [own]
    return [own if place == shorten_scene_name(own) else place for place in known[:MOST_PLACES]]


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
