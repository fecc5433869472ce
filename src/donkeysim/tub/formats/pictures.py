"""Pictures of drives: their pixels, whether all are alike, and as a video."""

import contextlib
import io
import math
from collections.abc import Collection, Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from donkeysim.core.errors import TubError, import_extra
from donkeysim.core.types import ByteArray
from donkeysim.tub.formats.drive import DriveRecord, Picture, RecordedDrive
from donkeysim.tub.values import GREY, PICTURE_ERRORS, decode_picture, measure_picture

_NEED = "videos need PyAV"
_KEY_INTERVAL = "2"
"""Every second picture of a video stands alone, so that any of them is found fast."""

_QUALITY = "18"


class PictureCheck:
    """Refuses a drive whose records differ in their pictures."""

    def __init__(self, drive: RecordedDrive, what: str) -> None:
        """Choose a drive and what it becomes, for example "a Minari dataset"."""
        self._drive, self._what = drive, what
        self._sizes: dict[str, str] = {}

    def check(self, record: DriveRecord) -> None:
        """Compare a record with the first one.

        Raises:
            TubError: A picture is missing, broken, or of another size.
        """
        for key in self._drive.heading.picture_keys:
            size = self._measure(record, key)
            if self._sizes.setdefault(key, size) != size:
                raise TubError(
                    f"record {record.index} of {self._drive.path} has {size or 'no picture'} under {key!r}, those "
                    f"before it {self._sizes[key] or 'none'}, and {self._what} takes pictures of one size; convert to "
                    "Parquet or MCAP, or mark the others as deleted (donkey tubclean)."
                )

    def list_keys(self) -> list[str]:
        """Return the inputs under which all records have a picture."""
        return [key for key, size in self._sizes.items() if size]

    def _measure(self, record: DriveRecord, key: str) -> str:
        if key not in record.pictures:
            return ""
        try:
            return measure_picture(record.pictures[key].data)
        except PICTURE_ERRORS as error:
            raise TubError(f"the picture {key!r} of record {record.index} of {self._drive.path} is broken.") from error


def find_mixed(drive: RecordedDrive) -> list[str]:
    """Return the inputs of which some pictures are grey and others are not."""
    depths: dict[str, set[bool]] = {}
    for record in drive.iterate():
        for key, picture in record.pictures.items():
            with contextlib.suppress(*PICTURE_ERRORS):  # whoever needs it says that it is broken
                depths.setdefault(key, set()).add(measure_picture(picture.data).endswith(GREY))
    return [key for key, found in depths.items() if len(found) > 1]


class ColourDrive:
    """A drive whose grey pictures have become colour pictures. Implements `RecordedDrive`."""

    def __init__(self, drive: RecordedDrive, keys: Collection[str]) -> None:
        """Choose a drive and the inputs whose pictures are to be alike."""
        self.path, self.heading = drive.path, drive.heading
        self._drive, self._keys = drive, keys

    def iterate(self, with_pictures: bool = True) -> Iterator[DriveRecord]:
        """Yield all records in order."""
        for record in self._drive.iterate(with_pictures):
            pictures = {
                key: _colour(picture) if key in self._keys and picture.data else picture
                for key, picture in record.pictures.items()
            }
            yield replace(record, pictures=pictures)


def _colour(picture: Picture) -> Picture:
    """Return a picture with three channels, as a PNG where it was grey."""
    pixels = decode_any(picture.data)
    if pixels.shape[2] == 3:
        return picture
    return Picture(str(Path(picture.name).with_suffix(".png")), encode_png(np.repeat(pixels, 3, axis=2)))


def decode_any(data: bytes) -> Any:
    """Return a picture's pixels, [height, width, 3] or [height, width, 1]; uint16 where it has 16 bits.

    Raises:
        TubError: It is broken.
    """
    try:
        with Image.open(io.BytesIO(data)) as image:
            if image.mode.startswith("I"):
                return np.asarray(image).astype(np.uint16)[:, :, np.newaxis]
        return decode_picture(data)
    except PICTURE_ERRORS as error:
        raise TubError(f"a picture is broken: {error}.") from error


def encode_png(pixels: ByteArray) -> bytes:
    """Return pixels as a PNG, which keeps each of them."""
    buffer = io.BytesIO()
    Image.fromarray(pixels[:, :, 0] if pixels.shape[2] == 1 else pixels).save(buffer, "PNG", compress_level=1)
    return buffer.getvalue()


class VideoWriter:
    """One video file, H.264."""

    def __init__(self, path: Path, rate: int) -> None:
        """Begin a file.

        Raises:
            DonkeySimError: PyAV is not installed.
        """
        self._av = import_extra("av", _NEED, "datasets")
        path.parent.mkdir(parents=True, exist_ok=True)
        self.path, self.count = path, 0
        self._rate = rate
        self._container = self._av.open(str(path), "w")
        self._stream: Any = None

    def add(self, pixels: ByteArray) -> None:
        """Add a picture, [height, width, 3] or [height, width, 1]."""
        colours = np.repeat(pixels, 3, axis=2) if pixels.shape[2] == 1 else pixels
        if self._stream is None:
            self._stream = self._begin(*colours.shape[:2])
        frame = self._av.VideoFrame.from_ndarray(np.ascontiguousarray(colours), format="rgb24")
        frame.pts, frame.time_base = self.count, Fraction(1, self._rate)
        self._container.mux(self._stream.encode(frame))
        self.count += 1

    def measure_size(self) -> int:
        """Return how many bytes were written; the last pictures come later."""
        return self.path.stat().st_size if self.path.exists() else 0

    def close(self) -> None:
        """End the file."""
        try:
            if self._stream is not None:
                self._container.mux(self._stream.encode())
        finally:
            self._container.close()

    def _begin(self, height: int, width: int) -> Any:
        stream = self._container.add_stream("libx264", rate=self._rate)
        stream.height, stream.width = height, width
        stream.pix_fmt = choose_pixel_format(height, width)
        stream.options = {"crf": _QUALITY, "g": _KEY_INTERVAL, "bf": "0", "preset": "veryfast"}
        stream.time_base = Fraction(1, self._rate)
        return stream


def choose_pixel_format(height: int, width: int) -> str:
    """Return how a video's colours are stored: halved, as all programs read them, where both sides are even."""
    return "yuv420p" if height % 2 == width % 2 == 0 else "yuv444p"


def read_video(path: Path) -> Iterator[ByteArray]:
    """Yield the pictures of a video, [height, width, 3]."""
    av = import_extra("av", _NEED, "datasets")
    with av.open(str(path)) as container:
        for frame in container.decode(video=0):
            yield frame.to_ndarray(format="rgb24")


class PeakRatio:
    """How near pictures come to others: the peak signal-to-noise ratio over all of them."""

    def __init__(self) -> None:
        self._squares = 0.0
        self._count = 0

    def add(self, one: ByteArray, other: ByteArray) -> None:
        """Compare two pictures of one size, of which one may be grey."""
        difference = one.astype(np.int32) - other
        self._squares += float((difference**2).sum())
        self._count += difference.size

    def __str__(self) -> str:
        if not self._squares:
            return "equal"
        return f"PSNR {10.0 * math.log10(255.0**2 * self._count / self._squares):.1f} dB"
