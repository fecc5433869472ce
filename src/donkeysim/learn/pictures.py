"""The pictures of records as a network takes them: decoded, of the configured size, transformed, maybe kept."""

import logging
from collections.abc import Sequence

import numpy as np

from donkeysim.car.config import Config
from donkeysim.car.transform import Transform, fit_picture, make_steps
from donkeysim.core.errors import DonkeySimError, TubError
from donkeysim.core.types import BoolArray, ByteArray, LongArray, Report
from donkeysim.learn.options import find_available_memory
from donkeysim.tub.reader import TubRecord

_log = logging.getLogger(__name__)

MEMORY_SHARE = 0.5
"""Of the memory that is free, what pictures may take."""

# More names would hide the count, which says how bad it is.
NAMED_PICTURES = 5
"""Broken pictures that are named; the others are counted."""


class PictureStore:
    """Pictures by the number of their record, [IMAGE_H, IMAGE_W, IMAGE_DEPTH], before any augmentation.

    What is kept follows `policy`: "ARRAY" decoded pictures, "BINARY" the files as they are, "NOCACHE" nothing. When
    they do not fit into memory it keeps the next less, and says so.
    """

    def __init__(
        self, records: Sequence[TubRecord], shape: tuple[int, int, int], transform: Transform | None, policy: str
    ) -> None:
        self._records = records
        self._shape = shape
        self._transform = transform
        self.policy = self._choose_policy(policy)
        self._arrays: ByteArray | None = None
        self._files: list[bytes] = []
        self._is_resized = False

    def _choose_policy(self, policy: str) -> str:
        """Return the policy that fits into memory."""
        room = MEMORY_SHARE * find_available_memory()
        count = len(self._records)
        if policy == "ARRAY" and count * int(np.prod(self._shape)) > room:
            _log.info("the decoded pictures of %d records do not fit into memory: their files are kept instead", count)
            policy = "BINARY"
        if policy == "BINARY" and count and count * len(_read_or_nothing(self._records[0])) * 1.5 > room:
            _log.info("the pictures of %d records do not fit into memory: they are read again in every epoch", count)
            policy = "NOCACHE"
        return policy

    def load(self, report: Report) -> BoolArray:
        """Look at every picture once, keep what the policy says, and return which are usable, shape [record_count].

        Broken ones are named in the log.
        """
        count = len(self._records)
        usable = np.ones(count, dtype=bool)
        if self.policy == "ARRAY":
            self._arrays = np.zeros((count, *self._shape), dtype=np.uint8)
        troubles: list[str] = []
        for index, record in enumerate(self._records):
            try:
                file = record.read_image()
                picture = self._prepare(file, record)
            except TubError as error:
                usable[index] = False
                troubles.append(str(error))
                file = b""
            else:
                if self._arrays is not None:
                    self._arrays[index] = picture
            if self.policy == "BINARY":
                self._files.append(file)
            if index % 64 == 63 or index == count - 1:
                report(index + 1, count)
        _log_broken(troubles)
        return usable

    def take(self, index: int) -> ByteArray:
        """Return the picture of a usable record; not to be written to."""
        if self._arrays is not None:
            picture: ByteArray = self._arrays[index]
            return picture
        file = self._files[index] if self._files else self._records[index].read_image()
        return self._prepare(file, self._records[index])

    def take_many(self, indexes: LongArray) -> ByteArray:
        """Return a copy of the pictures of usable records, shape [*indexes.shape, h, w, channels]."""
        if self._arrays is not None:
            pictures: ByteArray = self._arrays[indexes]
            return pictures
        return np.stack([self.take(int(index)) for index in indexes.ravel()]).reshape(*indexes.shape, *self._shape)

    def _prepare(self, file: bytes, record: TubRecord) -> ByteArray:
        picture = self._fit(record.decode_image(file))
        return picture if self._transform is None else self._transform(picture)

    def _fit(self, picture: ByteArray) -> ByteArray:
        """Return a picture in the configured size and depth."""
        height, width, _ = self._shape
        if picture.shape[:2] != (height, width) and not self._is_resized:
            self._is_resized = True
            _log.info("pictures of %s are resized to %dx%d", _describe_shape(picture.shape), width, height)
        return fit_picture(picture, self._shape)


def make_preparation(config: Config, names: Sequence[str], shape: tuple[int, int, int]) -> Transform | None:
    """Return transformations as steps to pictures of a shape; None where there are none.

    They raise a `DonkeySimError` where they give pictures of another size than the network takes.
    """
    if not names:
        return None
    transform = make_steps(config, names)

    def prepare(picture: ByteArray) -> ByteArray:
        picture = transform(picture)
        if picture.shape != shape:
            raise DonkeySimError(
                f"the transformations of the configuration give pictures of {_describe_shape(picture.shape)}, but the "
                f"pilot takes {_describe_shape(shape)}; make IMAGE_W, IMAGE_H and IMAGE_DEPTH fit, or leave out "
                "what changes the size."
            )
        return picture

    return prepare


def _read_or_nothing(record: TubRecord) -> bytes:
    try:
        return record.read_image()
    except TubError:
        return b""


def _describe_shape(shape: tuple[int, ...]) -> str:
    height, width, *depth = shape
    return f"{width}x{height}x{depth[0] if depth else 1}"


def _log_broken(troubles: list[str]) -> None:
    for text in troubles[:NAMED_PICTURES]:
        _log.warning("skipped: %s", text)
    if len(troubles) > NAMED_PICTURES:
        _log.warning("skipped: %d more broken pictures", len(troubles) - NAMED_PICTURES)
