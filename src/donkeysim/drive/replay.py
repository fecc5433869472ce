"""A pilot looks at a recorded drive again: what would it have done at each record?"""

import logging
from collections.abc import Sequence
from itertools import islice
from typing import Any

import numpy as np
from PIL import Image

from donkeysim.car.config import Config
from donkeysim.car.transform import fit_picture, make_transform
from donkeysim.core.errors import SpecError, TubError, format_count
from donkeysim.core.pilot import Pilot
from donkeysim.core.types import ByteArray, FloatArray, Report
from donkeysim.tub.film import find_saliency
from donkeysim.tub.reader import TubReader, TubRecord, read_channel, read_command

_log = logging.getLogger(__name__)

_REMEMBERING_KINDS = ("memory", "rnn", "3d")


class PilotReplay:
    """Asks a pilot about records as the car would have: same picture size, same transformations, nothing remembered
    across a gap in the drive.
    """

    def __init__(self, pilot: Pilot, config: Config) -> None:
        self._pilot = pilot
        self._size, self._depth = (int(config.IMAGE_H), int(config.IMAGE_W)), int(config.IMAGE_DEPTH)
        self._transform = make_transform(config)
        self._previous: TubRecord | None = None

    def answer(self, record: TubRecord) -> tuple[float, ...]:
        """Return what the pilot says to a record: angle, throttle.

        Raises:
            TubError: The record lacks its picture, or a value that this pilot wants beside it.
        """
        if self._previous is None or not record.follows(self._previous):
            self._pilot.reset()
        self._previous = record
        return self._pilot.run(self._see(record), *self._gather(record))

    def find_saliency(self, record: TubRecord) -> FloatArray:
        """Return which pixels of a record's picture move the pilot's answer, 0 to 1, shape of the stored picture.

        Raises:
            TubError: The pilot remembers earlier pictures, so that asking it twice changes what it says.
        """
        if self._pilot.kind in _REMEMBERING_KINDS:
            raise TubError(
                f"what matters to a pilot of the type {self._pilot.kind} cannot be shown, as it remembers "
                "earlier pictures. Leave --salient out, or use another type."
            )
        others = self._gather(record)
        saliency = find_saliency(self._see(record), lambda picture: self._pilot.run(picture, *others))
        height, width = record.load_image().shape[:2]
        image = Image.fromarray(saliency.astype(np.float32))
        return np.asarray(image.resize((width, height), Image.Resampling.BILINEAR), np.float64)

    def _see(self, record: TubRecord) -> ByteArray:
        picture = record.load_image()
        depth = max(self._depth, picture.shape[2])  # pilots for grey pictures take colour, too
        return self._transform(fit_picture(picture, (*self._size, depth)))

    def _gather(self, record: TubRecord) -> list[Any]:
        try:
            return [read_channel(record.values, name) for name in self._pilot.input_names]
        except SpecError as error:
            raise TubError(
                f"record {record.index} of {record.image_folder.parent} does not suit a pilot of the type "
                f"{self._pilot.kind}: {error}"
            ) from error


def compare_drive(
    tubs: Sequence[TubReader], pilot: Pilot, config: Config, limit: int, report: Report = lambda _done, _total: None
) -> tuple[list[tuple[float, float]], list[tuple[float, float]]]:
    """Return what the driver did and what a pilot says, (angle, throttle) each, for the first `limit` records.

    Records without a picture, or without the driver's command, are skipped, with a warning.

    Raises:
        TubError: No record is wanted, none has a picture, none says what the driver did, or one lacks something else.
    """
    if limit < 1:
        raise TubError(f"{limit} records were asked for; compare at least one.")
    replay = PilotReplay(pilot, config)
    records = [record for tub in tubs for record in islice(tub.iterate_seen(), limit)][:limit]
    if not records:
        raise TubError(f"no record of {', '.join(str(tub.path) for tub in tubs)} has a picture that can be read.")
    driven: list[tuple[float, float]] = []
    said: list[tuple[float, float]] = []
    for done, record in enumerate(records, start=1):
        try:
            command = read_command(record)
        except TubError:
            if done == len(records) and not driven:
                raise
            continue
        driven.append(command)
        angle, throttle = replay.answer(record)[:2]
        said.append((angle, throttle))
        report(done, len(records))
    if len(driven) < len(records):
        _log.warning("%s without the driver's command: left out.", format_count(len(records) - len(driven), "record"))
    return driven, said
