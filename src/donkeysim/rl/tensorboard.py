"""The curves of learning as TensorBoard shows them."""

from collections.abc import Iterator
from pathlib import Path

from donkeysim.core.errors import import_extra
from donkeysim.rl.curve import CurvePoint, CurveTracer
from donkeysim.rl.progress import Update

FLUSH_SECONDS = 5
"""How soon TensorBoard sees what was written [s]."""

QUEUE = 1000
"""Values that may wait for the disk before the thread that learns would have to."""


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
