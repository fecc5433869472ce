"""What is recorded, and when."""

import logging
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from donkeysim.core.errors import TubError, format_count
from donkeysim.tub.folder import next_tub_path
from donkeysim.tub.writer import TubWriter
from donkeysim.world.telemetry import Telemetry
from donkeysim.world.tracks.catalogue import shorten_scene_name

logger = logging.getLogger(__name__)

STANDING_SPEED = 0.05
"""A slower car stands [m/s]."""

# The noise of a stick that nobody touches.
LEAST_THROTTLE = 0.01
"""A smaller one is none."""

# Half a second at 20 Hz: a reset, a frame of telemetry and the way there and back of a slow link.
RESET_LOOPS = 10
"""For how many loops a car that is put back to its start may still be seen elsewhere."""

# The original's 100 records, at 20 a second.
ERASE_SECONDS = 5.0
"""How much is taken back at once [s]."""

_COUNTED = " (in all drives into this tub, deleted ones too)"
"""What the number of the next record counts, which is what the loop and the page know."""


class ToggleRecording:
    """Keeps recording off while a pilot drives, unless the car is configured to record then too."""

    def __init__(self, record_during_ai: bool = False) -> None:
        self.record_during_ai = record_during_ai
        self._asked = self._recording = False

    def run(self, mode: str, recording: bool | None) -> bool:
        """Return whether this loop is recorded."""
        asked = bool(recording)
        if asked != self._asked:
            logger.info("Recording Change = %s", asked)
        allowed = asked and (mode == "user" or self.record_during_ai)
        if asked and not allowed and (asked, allowed) != (self._asked, self._recording):
            logger.info("Ignoring recording in auto-pilot mode")
        if allowed != self._recording:
            logger.info("Setting Recording = %s", allowed)
        self._asked, self._recording = asked, allowed
        return allowed


class DrivenOnly:
    """Lets loops be recorded in which the car is driven.

    It is not where it stands, is off the road, was just reset, or rolls down a slope without having been given any
    throttle since.
    """

    def __init__(self, record_all: bool = False) -> None:
        """Make it; `record_all`: let every loop be recorded."""
        self.record_all = record_all
        self._unsettled = 0
        self._has_set_out = False

    def run(
        self,
        recording: bool | None,
        telemetry: Telemetry | None,
        reset: bool | None = False,
        throttle: float | None = None,
    ) -> bool:
        """Return whether this loop is recorded; what a simulator does not report counts as driven.

        Args:
            throttle: What the car is given in this loop; None, as in car folders made before: it is not known.
        """
        self._unsettled = RESET_LOOPS if reset else max(0, self._unsettled - 1)
        if telemetry is not None:
            rests = bool(self._unsettled) or telemetry.speed < STANDING_SPEED
            self._has_set_out = throttle is None or abs(throttle) >= LEAST_THROTTLE or (self._has_set_out and not rests)
        if not recording or self.record_all or telemetry is None:
            return bool(recording)
        moves = telemetry.speed >= STANDING_SPEED and self._has_set_out
        return moves and telemetry.on_road is not False and not self._unsettled


class RecordTracker:
    """Logs how many records there are."""

    def __init__(self, alert_count: int) -> None:
        """Make it; at each multiple of `alert_count` records it says so aloud."""
        self.alert_count = alert_count
        self._announced: int | None = None

    def run(self, record_count: int | None) -> bool:
        """Return whether another round number of records was reached in the loop before."""
        if record_count is None or record_count == self._announced:
            return False
        self._announced = record_count
        alert = record_count > 0 and record_count % self.alert_count == 0
        if alert:
            logger.warning("recorded %d records%s: another %d are there", record_count, _COUNTED, self.alert_count)
        elif record_count % 10 == 0:
            logger.info("recorded %d records%s", record_count, _COUNTED)
        return alert

    def tell(self) -> None:
        """Say how many there are; somebody asks."""
        logger.info("recorded %d records so far%s", self._announced or 0, _COUNTED)


class TubRecorder:
    """Writes a record of each loop it runs in. A full disk turns recording off; the car drives on.

    Attributes:
        written_count: Records of this drive.
        erased_count: Records marked as deleted in this drive.
    """

    def __init__(
        self,
        path: Path | str,
        inputs: Sequence[str],
        types: Sequence[str],
        metadata: Sequence[tuple[str, str]] = (),
        find_place: Callable[[], str] = lambda: "",
        car_kind: str = "",
    ) -> None:
        """Open the tub.

        Args:
            path: As are the next three, what `TubWriter` takes.
            inputs: `run` takes values in this order.
            find_place: Returns where the car drives, a scene's name or file; "" where that is not known.

            car_kind: What drives, see `Experiment.describe_car`; "" where that is not known.

        Raises:
            TubError: The tub cannot be opened, or holds records of other keys.
        """
        self.path = Path(path)
        self.inputs = tuple(inputs)
        self.tub = TubWriter(self.path, inputs, types, metadata)
        self.tub.note_car(car_kind)
        self._find_place = find_place
        self.written_count = self.erased_count = 0

    def run(self, *values: Any) -> tuple[int, bool] | None:
        """Write a record; return the number of records so far, and whether recording can continue.

        As long as the car has no picture nothing is recorded.
        """
        if values[0] is None:
            return None
        try:
            self.tub.write_record(dict(zip(self.inputs, values, strict=True)), shorten_scene_name(self._find_place()))
        except TubError as error:
            logger.error("Recording was switched off; the car drives on: %s", error)
            return self.tub.current_index, False
        self.written_count += 1
        return self.tub.current_index, True

    def erase_last(self, count: int) -> int:
        """Mark the last living records as deleted; return how many were."""
        erased = self.tub.delete_last_n_records(count)
        self.erased_count += erased
        logger.info("erased the last %s", format_count(erased, "record"))
        return erased

    def shutdown(self) -> None:
        """Close the tub, which writes the session into its manifest."""
        self.tub.close()


class RecordEraser:
    """Takes back the last `ERASE_SECONDS` of what this drive has recorded when it is asked to."""

    def __init__(self, tub: TubRecorder, rate: float) -> None:
        """Make it; `rate`: records per second."""
        self._tub, self._record_count = tub, round(ERASE_SECONDS * rate)

    def run(self, is_wanted: bool | None) -> int:
        """Return how many records were taken back so far."""
        tub = self._tub
        if is_wanted and (count := min(self._record_count, tub.written_count - tub.erased_count)) > 0:
            tub.erase_last(count)
        return tub.erased_count


def choose_tub_path(data_path: Path | str, create_new: bool) -> Path:
    """Return the folder to record into: `data_path` itself, or a new one inside it, tub_<number>_<yy-mm-dd>."""
    return next_tub_path(data_path) if create_new else Path(data_path)
