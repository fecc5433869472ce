"""Recorded drives to judge pilots by, and how well one can do on each: the ceiling, trained on the drive itself.

The ceiling is two pilots, each trained on one half of the drive and asked about the other one. So all records are
judged, by a pilot that has seen none of them, as they are for every other pilot. Halves are stretches of time:
neighbouring records are nearly the same picture, and a random half would hold the neighbours of what it is asked about.
"""

import contextlib
import hashlib
import io
import json
import logging
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import platformdirs

from donkeysim import __version__
from donkeysim.car.config import Config
from donkeysim.core.errors import DonkeySimError, TubError, format_count
from donkeysim.core.files import write_whole
from donkeysim.core.types import FloatArray, LongArray, Report
from donkeysim.learn.train import train
from donkeysim.tub.formats.convert import convert, recognise
from donkeysim.tub.reader import TubReader, TubRecord, read_command

_log = logging.getLogger(__name__)

# Five seconds of driving at 20 records a second.
LEAST_HALF = 100
"""Records of a half, to learn anything from."""

CEILING_KIND = "linear"
"""What `donkey train` trains unless a car's configuration says otherwise; the ceiling is the same for all pilots."""

Ask = Callable[[Path, Sequence[TubRecord]], FloatArray]
"""Gives the steering and throttle, shape [n, 2], that the pilot in a file answers to records."""


@dataclass(frozen=True)
class JudgedDrive:
    """A recorded drive, in memory but for its pictures.

    Attributes:
        path: Where it lies, as it was given.
        tub: The same as a tub.
        records: Those with a picture and the driver's command, in the order of driving.
        driven: The driver's steering (+ = right) and throttle, shape [n, 2].
        stretch: Equal for records that were taken one right after the other, shape [n].
        size: Of its first picture, for example "160x120" or "160x120 grey".
        no_picture_count: Records that were skipped, as their picture is missing or broken.
        no_command_count: Records that were skipped, as they do not say what the driver did.
    """

    path: Path
    tub: Path
    records: Sequence[TubRecord]
    driven: FloatArray
    stretch: LongArray
    size: str
    no_picture_count: int
    no_command_count: int

    def list_notes(self) -> list[str]:
        """Return in sentences what is to be known of the drive."""
        notes = []
        if self.no_picture_count:
            notes.append(f"{format_count(self.no_picture_count, 'record')} without a readable picture skipped.")
        if self.no_command_count:
            notes.append(f"{format_count(self.no_command_count, 'record')} without the driver's command skipped.")
        if self.driven[:, 0].std() < 0.01:
            notes.append("The driver hardly steered, so that correlations say nothing.")
        return notes


def read_drive(path: Path, folder: Path) -> JudgedDrive:
    """Read a drive in any format that `donkey convert` knows.

    Args:
        path: A tub, a dataset or a file.
        folder: Where what is no tub becomes one; empty, or not there yet.

    Raises:
        DonkeySimError: There is no drive, a package that reads it is missing, or nothing in it can be judged.
    """
    tub = path
    if recognise(path) != "tub":
        tub = folder / "tub"
        convert(path, tub, "tub")
    records: list[TubRecord] = []
    commands: list[tuple[float, float]] = []
    stretch: list[int] = []
    no_picture = no_command = 0
    for record in TubReader(tub):
        try:
            record.load_image()
        except TubError:
            no_picture += 1
            continue
        try:
            commands.append(read_command(record))
        except TubError:
            no_command += 1
            continue
        goes_on = bool(records) and record.follows(records[-1])
        stretch.append(stretch[-1] if goes_on else len(records))
        records.append(record)
    if not records:
        raise TubError(
            f"no record of {path} can be judged: {format_count(no_picture, 'record')} without a picture that can be "
            f"read, {no_command} without the driver's command; give a drive with pictures, recorded by a driver."
        )
    driven = np.clip(np.array(commands), -1.0, 1.0)
    size = records[0].measure_image()
    return JudgedDrive(path, tub, records, driven, np.array(stretch), size, no_picture, no_command)


def find_ceiling(
    drive: JudgedDrive, config: Config, minutes: float, ask: Ask, report: Report = lambda _done, _total: None
) -> FloatArray:
    """Return what pilots trained on the other half of a drive answer to it, steering and throttle, shape [n, 2].

    The answers are kept in the user's cache folder, so that the same drive is not trained on again.

    Args:
        config: What `donkey train` reads; changed to train without plots and further files.
        minutes: The training on each half ends after the epoch in which so much time has passed.
        report: Called as report(done, total), in seconds of training.

    Raises:
        DonkeySimError: The drive is too short for halves, or cannot be learnt from; the text says why.
    """
    count = len(drive.records)
    if count < 2 * LEAST_HALF:
        raise DonkeySimError(
            f"{format_count(count, 'record')} are too few for a ceiling, as one pilot is trained on each half: "
            f"record {2 * LEAST_HALF} or more."
        )
    kept = _locate(drive, config, minutes)
    try:
        answers: FloatArray = np.load(kept)
        return answers
    except (OSError, ValueError, EOFError):
        pass
    _log.info(
        "A pilot learns each half of %s for the ceiling, up to %g min each; --ceiling 0 leaves that out.",
        *(drive.path, minutes),
    )
    halves = (slice(0, count // 2), slice(count // 2, count))
    answers = np.zeros((count, 2))
    with tempfile.TemporaryDirectory(prefix="donkeysim-") as folder:
        for number, (learnt, asked) in enumerate((halves, halves[::-1])):
            pilot = Path(folder) / f"half_{number}.onnx"
            _train_half(drive, drive.records[learnt], config, 60.0 * minutes, pilot, _shift(report, number))
            answers[asked] = ask(pilot, drive.records[asked])
    _keep(kept, answers)
    return answers


def _shift(report: Report, number: int) -> Report:
    """Return what reports one of two trainings as a half of the work."""
    return lambda done, total: report(number * total + done, 2 * total)


def _train_half(
    drive: JudgedDrive, records: Sequence[TubRecord], config: Config, limit: float, path: Path, report: Report
) -> None:
    """Train a pilot on some records of a drive, for at most `limit` seconds, but at least one epoch."""
    own = {(record.session_id, record.index, record.timestamp_ms) for record in records}
    changes = {
        "TRAIN_FILTER": lambda view: (
            (view.underlying["_session_id"], view.underlying["_index"], view.underlying["_timestamp_ms"]) in own
        ),
        "TRAIN_RECIPE": "original",  # the recipe gives away a little of the fit for coming back
        "PRINT_MODEL_SUMMARY": False,
        "SHOW_PLOT": False,
        "CREATE_TF_LITE": False,
    }
    begun, is_over = time.monotonic(), False

    def ignore(_done: int, _total: int) -> None:
        report(min(int(time.monotonic() - begun), int(limit)), max(1, int(limit)))

    def stop_in_time(_epoch: Any) -> None:
        nonlocal is_over
        is_over = time.monotonic() - begun > limit
        if is_over:
            raise KeyboardInterrupt

    config = Config({**config.to_dict(), **changes})
    with _keep_silent(logging.getLogger(__package__)):
        result = train(config, drive.tub, path, CEILING_KIND, report=ignore, on_epoch=stop_in_time)
    if result.was_interrupted and not is_over:
        raise KeyboardInterrupt
    report(max(1, int(limit)), max(1, int(limit)))


@contextlib.contextmanager
def _keep_silent(logger: logging.Logger) -> Iterator[None]:
    """Let only warnings through while the block runs."""
    level = logger.level
    logger.setLevel(logging.WARNING)
    try:
        yield
    finally:
        logger.setLevel(level)


def _locate(drive: JudgedDrive, config: Config, minutes: float) -> Path:
    """Return the file of a ceiling's answers; its name changes with the records and with how it is trained."""
    settings = {name: value for name, value in config.to_dict().items() if not name.endswith("_PATH")}
    digest = hashlib.sha256(json.dumps([__version__, minutes, settings], default=_name, sort_keys=True).encode())
    digest.update(drive.driven.tobytes())
    for record in drive.records:
        place = record.locate_image()
        digest.update(f"{record.session_id} {record.index} {place.name} {place.stat().st_size}".encode())
    folder = Path(platformdirs.user_cache_dir("donkeysim", appauthor=False)) / "ceilings"
    return folder / f"{digest.hexdigest()[:32]}.npy"


def _name(value: object) -> str:
    """Return what stands for a value that JSON does not know; a function's text holds its address."""
    return getattr(value, "__qualname__", type(value).__name__)


def _keep(path: Path, answers: FloatArray) -> None:
    """Write answers for the next time; without a cache folder that takes them, they are not kept."""
    buffer = io.BytesIO()
    np.save(buffer, answers)
    try:
        write_whole(path, buffer.getvalue())
    except DonkeySimError as error:
        _log.warning("The ceiling is trained again the next time: %s", error)
