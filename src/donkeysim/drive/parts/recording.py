"""What is recorded, and when."""

from __future__ import annotations

import logging
import re
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import Any

from donkeysim.core.errors import TubError
from donkeysim.tub.writer import TubWriter

logger = logging.getLogger(__name__)

Color = tuple[int, int, int]


class ToggleRecording:
    """Keeps recording off while a pilot drives, unless the car is told to record then too."""

    def __init__(self, record_during_ai: bool = False) -> None:
        self.record_during_ai = record_during_ai
        self._asked: bool | None = None
        self._recording: bool | None = None

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


class RecordTracker:
    """Tells how many records there are, and flashes a colour whenever another round number of them is reached."""

    def __init__(self, alert_count: int, alert_loops: int, colors: Sequence[tuple[int, Color]]) -> None:
        """Make it.

        Args:
            alert_count: A flash each time so many more records are there.
            alert_loops: How many loops the first flash lasts; the second lasts twice as long, and so on.
            colors: Colour of the flash from a number of records on, in rising order.
        """
        self.alert_count = alert_count
        self.alert_loops = alert_loops
        self.colors = tuple(colors)
        self._told: int | None = None
        self._loops_left = 0

    def run(self, record_count: int | None) -> Color | int:
        """Return the colour to flash, red, green and blue in 0 to 255; 0: none."""
        if record_count is None:
            return 0
        if record_count != self._told:
            self._told = record_count
            if record_count % 10 == 0:
                logger.info("recorded %d records", record_count)
            if record_count % self.alert_count == 0:
                self.show(record_count)
        if self._loops_left == 0:
            return 0
        self._loops_left -= 1
        reached = [color for count, color in self.colors if record_count >= count]
        return reached[-1] if reached else 0

    def show(self, record_count: int) -> None:
        """Flash for as long as so many records deserve."""
        self._loops_left = record_count // self.alert_count * self.alert_loops


class TubRecorder:
    """Writes a record of each loop it runs in. A full disk turns recording off; the car drives on."""

    def __init__(
        self,
        path: Path | str,
        inputs: Sequence[str],
        types: Sequence[str],
        metadata: Sequence[tuple[str, str]] = (),
    ) -> None:
        """Open the tub.

        Args:
            path: Its folder; made when there is none.
            inputs: Keys of a record; `run` takes their values in this order.
            types: Their types: "image_array", "float", "int", "str", "boolean", "nparray", "list", "vector".
            metadata: Pairs that describe the drive.

        Raises:
            TubError: The tub cannot be opened, or holds records of other keys.
        """
        self.path = Path(path)
        self.inputs = tuple(inputs)
        self.tub = TubWriter(self.path, inputs, types, metadata)

    def run(self, *values: Any) -> tuple[int, bool] | None:
        """Write a record; return the number of records so far, and whether recording can go on.

        As long as the car has no picture nothing is recorded.
        """
        if values[0] is None:
            return None
        try:
            self.tub.write_record(dict(zip(self.inputs, values, strict=True)))
        except TubError as error:
            logger.error("Recording was switched off, the car drives on: %s", error)
            return self.tub.current_index, False
        return self.tub.current_index, True

    def erase_last(self, count: int) -> int:
        """Mark the last living records as deleted; return how many were."""
        erased = self.tub.delete_last_n_records(count)
        logger.info("erased the last %d records", erased)
        return erased

    def shutdown(self) -> None:
        """Close the tub, which writes the session into its manifest."""
        self.tub.close()


def choose_tub_path(data_path: Path | str, create_new: bool, today: date | None = None) -> Path:
    """Return the folder to record into: `data_path` itself, or a new one inside it, tub_<number>_<yy-mm-dd>."""
    folder = Path(data_path)
    if not create_new:
        return folder
    names = [entry.name for entry in folder.iterdir()] if folder.is_dir() else []
    numbers = [int(match[1]) for name in names if (match := re.match(r"tub_(\d+)_", name))]
    return folder / f"tub_{max(numbers, default=-1) + 1}_{today or date.today():%y-%m-%d}"
