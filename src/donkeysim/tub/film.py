"""A drive as a film: its pictures one after the other, what the driver and a pilot did drawn into them.

Also which parts of a picture move a pilot's answer: each part is covered in turn, to see how far the answer moves. That
asks only for answers, so it works for every pilot, whatever file and library it comes from.

References:
    Zeiler, Fergus: Visualizing and Understanding Convolutional Networks, 2014, section 4.2 (occlusion).
"""

import logging
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image, ImageDraw, ImageFilter

from donkeysim.core.errors import TubError, format_count, import_extra
from donkeysim.core.files import replace_file
from donkeysim.core.types import ByteArray, FloatArray, Report
from donkeysim.tub.reader import TubReader, TubRecord, find_command_keys
from donkeysim.tub.values import read_number

_log = logging.getLogger(__name__)

USER_COLOUR = (0, 220, 60)
PILOT_COLOUR = (60, 120, 255)
FULL_LOCK = math.radians(45.0)
"""How far from straight up the line of a fully turned wheel stands."""

NAMED_PICTURES = 5
"""Broken pictures that are named; the others are counted."""

_CODECS = ("libx264", "h264", "mpeg4")

ROW_COUNT, COLUMN_COUNT = 9, 12
"""Covered places in a picture; each asks the pilot once."""

_COVER = 2.0  # size of a cover in places, so that they overlap

_BLUR = 12.0  # [pixel]


@dataclass(frozen=True)
class FilmOptions:
    """What a film shows.

    Attributes:
        scale: Size of the film in sizes of the picture.
        shows_user: Draw what the driver did.
        answer: What a pilot says to a record (angle, throttle), drawn too.
        find_saliency: Which pixels of a record's picture matter to the pilot, [height, width] in 0 to 1, painted in.
    """

    scale: int = 2
    shows_user: bool = True
    answer: Callable[[TubRecord], tuple[float, ...]] | None = None
    find_saliency: Callable[[TubRecord], FloatArray] | None = None


def make_film(
    tub: TubReader,
    path: Path,
    rate: float,
    options: FilmOptions,
    start: int = 0,
    end: int = -1,
    report: Report = lambda _done, _total: None,
) -> int:
    """Write the living records `start` to `end` (not included; -1: to the last) as a film; returns how many.

    Broken pictures are skipped, counted, and the first of them named in the log.

    Args:
        path: The film, for example an `.mp4`.
        rate: Pictures per second.
        start: First of the living records, counted from 0.
        end: The one behind the last.
        report: Called as report(done, total).

    Raises:
        TubError: There are no records between `start` and `end`, none has a picture, or the file cannot be written.
        DonkeySimError: PyAV is not installed.
    """
    last = len(tub) if end < 0 else min(end, len(tub))
    if not 0 <= start < last or options.scale < 1 or rate <= 0:
        raise TubError(
            f"no film from record {start} to {end} at scale {options.scale} and {rate} pictures per second: the tub "
            f"{tub.path} has {format_count(len(tub), 'record')}; start must be before end, scale "
            "and rate at least 1."
        )
    count = write_film(path, rate, _draw_frames(islice(tub, start, last), options, last - start, report))
    if not count:
        raise TubError(f"none of the {last - start} records has a picture that can be read; there is nothing to film.")
    if count < last - start:
        _log.warning("%d of %d pictures are broken and were skipped", last - start - count, last - start)
    return count


def draw_frame(record: TubRecord, picture: ByteArray, options: FilmOptions) -> ByteArray:
    """Return a record's picture with what `options` ask for, [height, width, 3], both sides even."""
    if picture.shape[2] == 1:
        picture = np.repeat(picture, 3, axis=2)
    if options.find_saliency:
        picture = paint_saliency(picture, options.find_saliency(record))
    height, width = (side * options.scale // 2 * 2 for side in picture.shape[:2])
    image = Image.fromarray(picture).resize((width, height), Image.Resampling.BICUBIC)
    angle, throttle = (read_number(record.values.get(key)) for key in find_command_keys(record.values))
    if options.shows_user and angle is not None and throttle is not None:
        _draw_command(image, angle, throttle, USER_COLOUR, side=1)
    if options.answer:
        said = options.answer(record)
        _draw_command(image, said[0], said[1], PILOT_COLOUR, side=-1)
    return np.asarray(image)


def _draw_frames(records: Iterable[TubRecord], options: FilmOptions, total: int, report: Report) -> Iterable[ByteArray]:
    broken = 0
    for done, record in enumerate(records, start=1):
        try:
            picture = record.load_image()
        except TubError as error:
            broken += 1
            if broken <= NAMED_PICTURES:
                _log.warning("skipped: %s", error)
        else:
            yield draw_frame(record, picture, options)
        report(done, total)


def _draw_command(image: Image.Image, angle: float, throttle: float, colour: tuple[int, int, int], side: int) -> None:
    """Draw a line from the bottom's middle: direction = angle, length = throttle; it ends in a ring when backwards."""
    unit = image.height / 120
    foot = (image.width / 2 + side * 3 * unit, image.height - 1 - 2 * unit)
    turn = min(max(angle, -1.0), 1.0) * FULL_LOCK
    length = min(abs(throttle), 1.0) * image.height * 0.9
    tip = (foot[0] + length * math.sin(turn), foot[1] - length * math.cos(turn))
    pen = ImageDraw.Draw(image)
    pen.line((foot, tip), fill=colour, width=max(1, round(2 * unit)))
    size = 2.5 * unit
    ends = (tip[0] - size, tip[1] - size, tip[0] + size, tip[1] + size)
    pen.ellipse(ends, outline=colour, fill=None if throttle < 0 else colour, width=max(1, round(unit)))


def write_film(path: Path, rate: float, frames: Iterable[ByteArray]) -> int:
    """Write pictures, shape [height, width, 3] with even sides, as a film and return how many they were.

    The film is there whole or not at all, and not without pictures.

    Args:
        path: The film, for example an `.mp4`.
        rate: Pictures per second.
        frames: They take the size of the first one.

    Raises:
        TubError: The file cannot be written.
        DonkeySimError: PyAV is not installed.
    """
    count = 0
    av = import_extra("av", "films need PyAV")
    with replace_file(path, TubError) as beside:
        try:
            with av.open(str(beside), "w") as container:
                stream = None
                for picture in frames:
                    if stream is None:
                        stream = _add_stream(container, rate, picture.shape)
                    container.mux(stream.encode(av.VideoFrame.from_ndarray(_fit(picture, stream), format="rgb24")))
                    count += 1
                if stream is not None:
                    container.mux(stream.encode())
        except ValueError as error:
            raise TubError(f"the film {path} cannot be written: {error}. Give a path that ends in .mp4.") from error
        if not count:
            beside.unlink(missing_ok=True)
    return count


def _add_stream(container: Any, rate: float, shape: tuple[int, ...]) -> Any:
    import av

    codec = next(name for name in _CODECS if name in av.codecs_available)
    stream = container.add_stream(codec, rate=Fraction(rate).limit_denominator(1000))
    stream.height, stream.width = shape[:2]
    stream.pix_fmt = "yuv420p"
    if codec == "mpeg4":
        stream.bit_rate = 4_000_000
    else:
        stream.options = {"crf": "20", "preset": "veryfast"}
    return stream


def _fit(picture: ByteArray, stream: Any) -> ByteArray:
    """Return the picture in the film's size, which is that of its first one."""
    if picture.shape[:2] == (stream.height, stream.width):
        return picture
    return np.asarray(Image.fromarray(picture).resize((stream.width, stream.height), Image.Resampling.BICUBIC))


def find_saliency(picture: ByteArray, answer: Callable[[ByteArray], Sequence[float]]) -> FloatArray:
    """Return how much each pixel matters, 0 to 1, shape [height, width].

    Args:
        picture: uint8, shape [height, width, 3 or 1].
        answer: What the pilot says to a picture: angle and throttle; must not remember earlier ones.
    """
    height, width = picture.shape[:2]
    covered = _blur(picture)
    whole = np.array(answer(picture)[:2])
    moved = np.zeros((ROW_COUNT, COLUMN_COUNT))
    for row, column in np.ndindex(moved.shape):
        rows = _span(row, ROW_COUNT, height)
        columns = _span(column, COLUMN_COUNT, width)
        changed = picture.copy()
        changed[rows, columns] = covered[rows, columns]
        moved[row, column] = np.abs(np.array(answer(changed)[:2]) - whole).sum()
    largest = moved.max()
    grid = Image.fromarray((moved / largest if largest > 0 else moved).astype(np.float32))
    smooth = np.asarray(grid.resize((width, height), Image.Resampling.BICUBIC), np.float64)
    return np.clip(smooth, 0.0, 1.0)


def paint_saliency(picture: ByteArray, saliency: FloatArray) -> ByteArray:
    """Return the picture [height, width, 3] with what matters glowing red and the rest a little darker."""
    weight = saliency[:, :, np.newaxis]
    glow = np.array([255.0, 40.0, 0.0])
    mixed = picture * (0.75 + 0.25 * weight) * (1 - 0.55 * weight) + glow * 0.55 * weight
    return mixed.clip(0, 255).astype(np.uint8)


def _span(place: int, count: int, length: int) -> slice:
    """Return the pixels that the cover at one of `count` places along a side of `length` pixels hides."""
    size = length / count
    middle = (place + 0.5) * size
    return slice(max(0, round(middle - size * _COVER / 2)), min(length, round(middle + size * _COVER / 2)))


def _blur(picture: ByteArray) -> ByteArray:
    grey = picture.shape[2] == 1
    image = Image.fromarray(picture[:, :, 0] if grey else picture)
    blurred = np.asarray(image.filter(ImageFilter.GaussianBlur(_BLUR)))
    return blurred[:, :, np.newaxis] if grey else blurred
