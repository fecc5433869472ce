"""Pictures to calibrate with: files, folders of them, tubs and films."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np
from PIL import Image

from donkeysim.core.errors import DonkeySimError, import_extra
from donkeysim.core.types import ByteArray
from donkeysim.tub.folder import find_path, is_tub, split_paths
from donkeysim.tub.formats.pictures import read_video
from donkeysim.tub.reader import TubReader
from donkeysim.tub.values import PICTURE_ERRORS

SUFFIXES = (".jpg", ".jpeg", ".png")

FILMS = (".mp4", ".m4v", ".mov", ".avi", ".mkv", ".webm")

ENOUGH = 150
"""Pictures of a drive that suffice; of a longer drive every second, fourth ... is left out."""

WIDEST = 640
"""Pictures of a drive that are wider are made so wide [pixel]."""


def list_pictures(places: Sequence[str]) -> list[Path]:
    """Return picture files, and those in folders, in order.

    Raises:
        DonkeySimError: There are none.
    """
    found: list[Path] = []
    for place in split_paths(places):
        inside = sorted(place.iterdir()) if place.is_dir() else [place]
        found += [path for path in inside if path.suffix.lower() in SUFFIXES and path.is_file()]
    if not found:
        raise DonkeySimError(
            f"there are no pictures in {', '.join(places)}; give folders or files ({', '.join(SUFFIXES)})."
        )
    return found


def read_picture(path: Path) -> ByteArray:
    """Return a picture, shape [height, width, 3].

    Raises:
        DonkeySimError: It cannot be read.
    """
    try:
        with Image.open(path) as image:
            return np.array(image.convert("RGB"))
    except PICTURE_ERRORS as error:
        raise DonkeySimError(f"the picture {path} cannot be read: {error}.") from error


def read_drive(place: str) -> list[ByteArray]:
    """Return pictures of a drive, all of one size, `ENOUGH` of them or up to twice as many; some may be grey.

    Args:
        place: A tub, a folder of pictures or a film.

    Raises:
        DonkeySimError: There are none, one cannot be read, or they differ in size.
        TubError: The tub cannot be read.
    """
    pictures = _thin_out(_iterate_drive(place))
    sizes = {picture.shape[:2] for picture in pictures}
    if len(sizes) != 1:
        found = f"those of {len(sizes)} sizes" if sizes else "none"
        raise DonkeySimError(f"{place} holds {found}; it takes pictures of a drive, all of one size.")
    return pictures


def _iterate_drive(place: str) -> Iterator[ByteArray]:
    path = find_path(place)
    if path.suffix.lower() in FILMS:
        yield from _read_film(path)
    elif is_tub(path):
        for record in TubReader(path).iterate_seen():
            yield record.load_image()
    else:
        for each in list_pictures([str(path)]):
            yield read_picture(each)


def _read_film(path: Path) -> Iterator[ByteArray]:
    try:
        yield from read_video(path)
    except (OSError, ValueError, IndexError) as error:  # PyAV raises each for one or another broken file
        raise DonkeySimError(f"the film {path} cannot be read: {error}.") from error


def _thin_out(pictures: Iterable[ByteArray]) -> list[ByteArray]:
    """Return every first, second, fourth ... of them, whatever leaves enough."""
    kept: list[ByteArray] = []
    every = 1
    for number, picture in enumerate(pictures):
        if number % every:
            continue
        kept.append(_shrink(picture))
        if len(kept) == 2 * ENOUGH:
            kept, every = kept[::2], 2 * every
    return kept


def _shrink(picture: ByteArray) -> ByteArray:
    height, width, channels = picture.shape
    if width <= WIDEST:
        return picture
    cv2 = import_extra("cv2", "making pictures smaller needs OpenCV")
    size = (WIDEST, round(height * WIDEST / width))
    small: ByteArray = cv2.resize(picture, size, interpolation=cv2.INTER_AREA)
    return small.reshape(size[1], size[0], channels)
