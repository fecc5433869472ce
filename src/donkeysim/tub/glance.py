"""What a tub's pictures show at a glance: how bright and sharp they are, how they change, how the view turns.

The view turns with the car: from one picture to the next everything moves to the left while the car turns to the
right. Nobody has to know the place for that, so it is the witness of whether steering and pictures belong together.
"""

import io
import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from PIL import Image

from donkeysim.core.errors import TubError
from donkeysim.core.types import ByteArray, Float32Array, FloatArray, LongArray, Report
from donkeysim.tub.reader import TubRecord, find_command_keys
from donkeysim.tub.values import MOST_PIXELS, PICTURE_ERRORS, read_number

# Half of 160x120, which most cars record: JPEG is decoded at this size in less time, and a turn of 2 degrees is still
# a whole column with the usual lens.
WIDTH, HEIGHT = 80, 60
"""Of a picture as it is looked at [pixel]."""

TILE = 5
"""Side of the squares whose grey distinguishes places [pixel]."""

# The floor streams past on both sides; what is far away only turns.
FAR_ROWS = 36
"""Rows from the top whose motion counts as turning."""

ROWS_PER_BAND = 2
"""Rows of them that are one, for the motion."""

# A car that turns by 3 rad/s under a lens of 160 degrees moves the view by 4 columns; walls near by move more.
MOST_SHIFT = 10
"""Of the view from one picture to the next, either way [column]."""

# 20,000 take some 10 s. The figures of a longer tub are as good from runs all over it.
MOST_PICTURES = 20_000
RUN = 200
"""Of a longer tub, evenly spread runs of this many records are looked at."""

CTE_CHANNEL = "pos/cte"
"""Where the simulator's records know how far the car is from the middle of the road [1/8 m]."""

_CHUNK = 256  # pictures in memory at a time: 4 MB, and 40 MB while their motion is looked for

_LEAST_RATE, _MOST_RATE = 2.0, 120.0  # records a second; others are times of a drive that was not driven in real time
_USUAL_RATE = 20.0


@dataclass(frozen=True)
class Sights:
    """What the pictures of records show; arrays have an entry for each record, shape [n].

    Attributes:
        size: Width and height as stored, shape [n, 2]; 0 where there is no picture that can be read.
        brightness, contrast: Mean and standard deviation of the grey picture [0 to 255]; nan without a picture.
        fineness: Mean curvature over one pixel, as a share of that over two: a smooth picture has a fourth.
        change: Mean difference from the record before [grey level]; nan where either has no picture, or where the
            records were not taken one right after the other.
        turn: By how much the car turns between these two [column], + = right; nan as for `change`.
        rows: The mean colour of each row, shape [n, HEIGHT, 3].
        tiles: The mean grey of squares of `TILE` px, shape [n, HEIGHT / TILE, WIDTH / TILE]: they distinguish places.
    """

    size: LongArray
    brightness: FloatArray
    contrast: FloatArray
    fineness: FloatArray
    change: FloatArray
    turn: FloatArray
    rows: Float32Array
    tiles: Float32Array

    @classmethod
    def make(cls, count: int) -> "Sights":
        """Return those of records whose pictures nobody has looked at."""
        brightness, contrast, fineness, change, turn = np.full((5, count), np.nan)
        rows = np.full((count, HEIGHT, 3), np.nan, np.float32)
        tiles = np.full((count, HEIGHT // TILE, WIDTH // TILE), np.nan, np.float32)
        size = np.zeros((count, 2), np.int64)
        return cls(size, brightness, contrast, fineness, change, turn, rows, tiles)


@dataclass(frozen=True)
class Glance:
    """The living records that were looked at, in the order of driving; arrays have an entry for each, shape [n].

    Attributes:
        position: Its position in the tub.
        session: The number of its drive, from 0.
        stretch: Equal for records that were taken one right after the other.
        rate: Records a second.
        angle, throttle: The driver's; nan where the record does not say.
        cte: Distance to the middle of the road [1/8 m] where the records know it, else nan.
        sights: What the pictures show.
    """

    position: LongArray
    session: LongArray
    stretch: LongArray
    rate: float
    angle: FloatArray
    throttle: FloatArray
    cte: FloatArray
    sights: Sights

    def __len__(self) -> int:
        """Return the number of records."""
        return len(self.position)


def look_at(tub: Iterable[TubRecord], report: Report = lambda _done, _total: None) -> Glance:
    """Look at the records of a tub.

    Args:
        tub: A `TubReader`, or records of one in their order.
        report: Called as report(done, total), in records.
    """
    records = _choose(list(tub))
    count = len(records)
    stretch, session = np.zeros((2, count), np.int64)
    for number, (before, record) in enumerate(itertools.pairwise(records), start=1):
        stretch[number] = stretch[number - 1] + (not record.follows(before))
        session[number] = session[number - 1] + (record.session_id != before.session_id)
    angle, throttle, cte = np.array([_read_numbers(record) for record in records]).reshape(count, 3).T
    sights = Sights.make(count)
    last: Float32Array | None = None
    for first in range(0, count, _CHUNK):
        last = _look_at_chunk(records, slice(first, min(first + _CHUNK, count)), stretch, sights, last)
        report(min(first + _CHUNK, count), count)
    position = np.array([record.position for record in records], np.int64)
    return Glance(position, session, stretch, _find_rate(records), angle, throttle, cte, sights)


def _choose(records: list[TubRecord]) -> list[TubRecord]:
    """Return the records to look at: all, or runs of them evenly spread."""
    stride = -(-len(records) // MOST_PICTURES)
    if stride <= 1:
        return records
    return [record for first in range(0, len(records), RUN * stride) for record in records[first : first + RUN]]


def _read_numbers(record: TubRecord) -> tuple[float, ...]:
    """Return steering, throttle and distance to the middle of the road; nan for what the record does not say."""
    found = (read_number(record.values.get(key)) for key in (*find_command_keys(record.values), CTE_CHANNEL))
    return tuple(float("nan") if number is None else number for number in found)


def _find_rate(records: Sequence[TubRecord]) -> float:
    """Return the records a second, from the middle of the times between them."""
    times = np.array([record.timestamp_ms for record in records], np.float64) / 1000.0
    step = float(np.median(np.diff(times))) if len(times) > 1 else 0.0
    return 1.0 / step if 1.0 / _MOST_RATE < step < 1.0 / _LEAST_RATE else _USUAL_RATE


def _look_at_chunk(
    records: Sequence[TubRecord], part: slice, stretch: LongArray, sights: Sights, last: Float32Array | None
) -> Float32Array:
    """Write what some records show, and return the last one's grey picture; the one before the first is `last`."""
    pictures = np.zeros((part.stop - part.start, HEIGHT, WIDTH, 3), np.uint8)
    for number, record in enumerate(records[part]):
        with_size = _shrink(record)
        if with_size is not None:
            pictures[number], sights.size[part.start + number] = with_size
    is_seen = sights.size[part, 0] > 0
    grey: Float32Array = pictures.astype(np.float32) @ np.array([0.299, 0.587, 0.114], np.float32)
    sights.rows[part][is_seen] = pictures[is_seen].mean(axis=2)
    tiles = grey.reshape(len(grey), HEIGHT // TILE, TILE, WIDTH // TILE, TILE).mean(axis=(2, 4))
    sights.tiles[part][is_seen] = tiles[is_seen]
    sights.brightness[part][is_seen] = grey[is_seen].mean(axis=(1, 2))
    sights.contrast[part][is_seen] = grey[is_seen].std(axis=(1, 2))
    sights.fineness[part][is_seen] = _curve(grey[is_seen], 1) / np.maximum(_curve(grey[is_seen], 2), 1e-3)
    before = np.concatenate([grey[:1] if last is None else last[np.newaxis], grey[:-1]])
    numbers = np.arange(part.start, part.stop)
    goes_on = (numbers > 0) & (stretch[numbers] == stretch[numbers - 1])
    goes_on &= (sights.size[numbers] == sights.size[numbers - 1]).all(axis=1) & is_seen
    sights.change[part][goes_on] = np.abs(grey - before)[goes_on].mean(axis=(1, 2))
    sights.turn[part][goes_on] = measure_turn(before[goes_on], grey[goes_on])
    last_grey: Float32Array = grey[-1]
    return last_grey


def _curve(grey: Float32Array, step: int) -> FloatArray:
    """Return the mean curvature of grey pictures, shape [n], from pixels `step` apart."""
    middle = slice(step, -step)
    upright = 2.0 * grey[:, middle] - grey[:, : -2 * step] - grey[:, 2 * step :]
    across = 2.0 * grey[:, :, middle] - grey[:, :, : -2 * step] - grey[:, :, 2 * step :]
    mean: FloatArray = np.abs(upright).mean(axis=(1, 2)) + np.abs(across).mean(axis=(1, 2))
    return mean


def _shrink(record: TubRecord) -> tuple[ByteArray, tuple[int, int]] | None:
    """Return a record's picture as it is looked at, and its size as stored; None where it cannot be read."""
    try:
        with Image.open(io.BytesIO(record.read_image())) as image:
            size = image.size
            if size[0] * size[1] > MOST_PIXELS:
                return None
            image.draft("RGB", (WIDTH, HEIGHT))
            small = image.convert("RGB").resize((WIDTH, HEIGHT), Image.Resampling.BOX)
    except (TubError, *PICTURE_ERRORS):
        return None
    return np.asarray(small), size


def measure_turn(before: Float32Array, after: Float32Array) -> FloatArray:
    """Return by how many columns the car turned to the right between pictures, shape [n], a fraction included.

    Args:
        before, after: Grey pictures, shape [n, HEIGHT, WIDTH].
    """
    count = len(before)
    if not count:
        return np.zeros(0)
    first, second = (_take_far(pictures) for pictures in (before, after))
    fits = np.array([_fit(first, second, shift) for shift in range(-MOST_SHIFT, MOST_SHIFT + 1)])
    best = np.clip(fits.argmax(axis=0), 1, 2 * MOST_SHIFT - 1)
    low, middle, high = (fits[best + step, np.arange(count)] for step in (-1, 0, 1))
    bend = np.minimum(low - 2.0 * middle + high, -1e-9)  # the top of the parabola through the three
    turn: FloatArray = best - MOST_SHIFT + np.clip(0.5 * (low - high) / bend, -1.0, 1.0)
    return turn


def _fit(first: Float32Array, second: Float32Array, shift: int) -> FloatArray:
    """Return how well bands of pictures fit those of the next ones, shape [n], seen `shift` columns further right."""
    left = first[..., max(shift, 0) : WIDTH + min(shift, 0)]
    right = second[..., max(-shift, 0) : WIDTH - max(shift, 0)]
    left, right = (side - side.mean(axis=(1, 2), keepdims=True) for side in (left, right))
    size = np.sqrt((left * left).sum(axis=(1, 2)) * (right * right).sum(axis=(1, 2)))
    fit: FloatArray = (left * right).sum(axis=(1, 2)) / (size + 1e-3)
    return fit


def _take_far(pictures: Float32Array) -> Float32Array:
    """Return the rows that only turn, in bands, each without its mean: the sky is no motion."""
    bands = pictures[:, :FAR_ROWS].reshape(len(pictures), -1, ROWS_PER_BAND, WIDTH).mean(axis=2)
    centred: Float32Array = bands - bands.mean(axis=2, keepdims=True)
    return centred
