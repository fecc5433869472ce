"""The curve of learning as a file of JSON lines, one for each update, as a picture, and as TensorBoard shows it."""

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from donkeysim.core.errors import DonkeySimError, import_extra
from donkeysim.core.files import describe_failure
from donkeysim.core.types import FloatArray
from donkeysim.rl.progress import Check, Update
from donkeysim.tub.histogram import make_figure, save_figure

# At the end of a curve of 100 updates the mean of four.
SMOOTHED_SHARE = 0.04
"""Of the curve: over so much of it, at its end, the thick line is the mean."""

FLUSH_SECONDS = 5
"""How soon TensorBoard sees what was written [s]."""

QUEUE = 1000
"""Values that may wait for the disk before the thread that learns would have to."""

_log = logging.getLogger(__name__)
_encode = msgspec.json.Encoder(enc_hook=lambda number: number.item()).encode  # of NumPy and PyTorch too


class CurvePoint(msgspec.Struct, frozen=True, omit_defaults=True):
    """The figures of an update, as `Update` has them; None stands for what is no number.

    Attributes:
        checks: Those since the point before; mostly none.
    """

    seconds: float
    steps: int
    rate: float | None
    reward: float | None
    speed: float | None
    ends: float | None
    laps: int
    losses: Mapping[str, float | None]
    checks: tuple[Check, ...] = ()


_decode = msgspec.json.Decoder(CurvePoint).decode


class CurveTracer:
    """Makes points of updates; it knows which checks were there before."""

    def __init__(self) -> None:
        self._checks: tuple[Check, ...] = ()

    def trace(self, update: Update) -> CurvePoint:
        """Return the figures of an update."""
        checks = () if update.checks == self._checks else update.checks
        self._checks = update.checks
        return CurvePoint(
            seconds=update.seconds,
            steps=update.steps,
            rate=update.rate,
            reward=update.reward,
            speed=update.speed,
            ends=update.ends,
            laps=update.laps,
            losses=update.losses,
            checks=checks,
        )


class CurveFile:
    """A `Watch` that appends a line for each update; killing the process loses no line written before."""

    def __init__(self, path: Path, steps: int = 0) -> None:
        """Open the file for learning that begins, or resumes, at a number of steps.

        Args:
            path: The file; its folder is made.
            steps: Where learning resumes; lines behind it, which an earlier session wrote after its last checkpoint,
                are removed, and so is a line that was not written whole.

        Raises:
            DonkeySimError: The file cannot be written.
        """
        self._tracer = CurveTracer()
        self._path = path
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            kept = sum(length for _, length in _read_lines(path, steps))
            self._file = path.open("ab", buffering=0)
            self._file.truncate(kept)
        except OSError as error:
            raise DonkeySimError(f"cannot write {path}: {describe_failure(error)}.") from error

    def __call__(self, update: Update) -> None:
        """Append a line; when the system takes none, warn and write no more: learning continues."""
        point = self._tracer.trace(update)
        if self._file.closed:
            return
        try:
            self._file.write(_encode(point) + b"\n")
        except OSError as error:
            self._file.close()
            _log.warning("the curve ends here: cannot write %s: %s", self._path, describe_failure(error))

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def read_curve(path: Path) -> list[CurvePoint]:
    """Return the points of a curve's file up to the first line that is not whole; none without a file."""
    return [point for point, _ in _read_lines(path)]


def _read_lines(path: Path, most_steps: float = np.inf) -> list[tuple[CurvePoint, int]]:
    """Return the points up to a number of steps, each with the length of its line [byte]."""
    lines: list[tuple[CurvePoint, int]] = []
    content = path.read_bytes() if path.exists() else b""
    for line in content.splitlines(keepends=True):
        try:
            point = _decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError):
            break
        if not line.endswith(b"\n") or point.steps > most_steps:
            break
        lines.append((point, len(line)))
    return lines


def plot_curve(path: Path, out: Path, title: str = "") -> None:
    """Draw reward, speed and ends of episodes over the time of learning into a PNG file.

    Raises:
        DonkeySimError: There is no curve, matplotlib is not installed, or the picture cannot be written.
    """
    points = read_curve(path)
    if not points:
        raise DonkeySimError(f"{path} holds no curve; give the curve.jsonl of a learning that has begun.")
    figure = make_figure((7.0, 7.0))
    panels = figure.subplots(3, sharex=True)
    minutes = _list_values(points, lambda point: point.seconds) / 60.0
    for axes, (label, read) in zip(panels, _PANELS.items(), strict=True):
        values = _list_values(points, read)
        is_known = np.isfinite(values)
        axes.plot(minutes[is_known], values[is_known], color="#8a94a6", linewidth=0.8, alpha=0.6)
        axes.plot(minutes[is_known], smooth(values[is_known]), color="#d1495b", linewidth=1.8)
        axes.set(ylabel=label)
        axes.grid(color="#e6e8ec", linewidth=0.6)
        axes.spines[["top", "right"]].set_visible(False)
    panels[2].set_yscale("symlog", linthresh=1.0)
    panels[2].yaxis.set_major_formatter("{x:g}")
    for axes in panels[1:]:
        axes.set_ylim(bottom=0.0)
    _draw_checks(panels[1], points)
    panels[0].set_title(title)
    panels[2].set_xlabel("minutes")
    save_figure(figure, out, dpi=120)


_PANELS: Mapping[str, Callable[[CurvePoint], float | None]] = {
    "reward of a step": lambda point: point.reward,
    "speed [m/s]": lambda point: point.speed,
    "ends of a car per minute": lambda point: point.ends,
}


def smooth(values: FloatArray) -> FloatArray:
    """Return for every value the mean of it and those shortly before it."""
    span = max(1, round(SMOOTHED_SHARE * len(values)))
    sums = np.concatenate([[0.0], np.cumsum(values)])
    last = np.arange(1, len(values) + 1)
    first = np.maximum(last - span, 0)
    return np.asarray((sums[last] - sums[first]) / (last - first))


def _draw_checks(axes: Any, points: Sequence[CurvePoint]) -> None:
    """Mark when the policy was checked, by the mean speed of the check; what passed is full."""
    for is_passed, label, face in ((False, "check", "white"), (True, "passed", "#2a7f62")):
        with_checks = [point for point in points if point.checks]
        checked = [point for point in with_checks if all(check.is_passed for check in point.checks) == is_passed]
        if checked:
            minutes = [point.seconds / 60.0 for point in checked]
            speeds = [float(np.mean([check.speed for check in point.checks])) for point in checked]
            axes.plot(minutes, speeds, "o", markersize=6, color="#2a7f62", markerfacecolor=face, label=label)
            axes.legend(frameon=False)


def _list_values(points: Sequence[CurvePoint], read: Callable[[CurvePoint], float | None]) -> FloatArray:
    return np.array([read(point) for point in points], dtype=np.float64)


class TensorBoardWriter:
    """A `Watch` that writes the figures of each update into event files."""

    def __init__(self, folder: Path, steps: int = 0) -> None:
        """Begin a file of events.

        Args:
            folder: Where; `tensorboard --logdir` takes it or one above it.
            steps: Where learning resumes; TensorBoard then skips what an earlier session wrote behind it.

        Raises:
            DonkeySimError: TensorBoard is not installed.
        """
        module = import_extra("torch.utils.tensorboard", "writing for TensorBoard needs TensorBoard", "rl")
        purge = steps + 1 if steps else None
        self._writer = module.SummaryWriter(str(folder), purge_step=purge, max_queue=QUEUE, flush_secs=FLUSH_SECONDS)
        self._tracer = CurveTracer()

    def __call__(self, update: Update) -> None:
        """Write the figures of an update; a thread of TensorBoard's brings them to the disk."""
        point = self._tracer.trace(update)
        for tag, value in list_scalars(point):
            if value is not None:
                self._writer.add_scalar(tag, float(value), point.steps)

    def close(self) -> None:
        """Write what is left and close the file."""
        self._writer.close()


def list_scalars(point: CurvePoint) -> Iterator[tuple[str, float | None]]:
    """Yield the figures of a point by the names under which TensorBoard shows them."""
    for name in ("reward", "speed", "ends", "laps", "rate", "seconds"):
        yield f"learning/{name}", getattr(point, name)
    for name, value in point.losses.items():
        yield f"loss/{name}", value
    for check in point.checks:
        for name in ("laps", "speed", "departures", "chatter"):
            yield f"check_{name}/{check.scene}", getattr(check, name)
