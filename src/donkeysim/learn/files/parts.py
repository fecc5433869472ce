"""Parts of pilots' files, read up to a size: a few bytes can say that there are any number of them."""

from __future__ import annotations

import zipfile
from typing import Any

import numpy as np

from donkeysim.core.errors import PilotError
from donkeysim.core.files import find_outside_data
from donkeysim.core.types import Float32Array

PART_MOST = 1 << 28
"""Of a part of a `.keras` file, unpacked, and of the weights of one layer [byte]."""


def read_part(archive: zipfile.ZipFile, name: str) -> bytes:
    """Return a part of a zip file.

    Raises:
        PilotError: It is too large.
        KeyError: There is none of this name.
    """
    _check_size(name, archive.getinfo(name).file_size)
    return archive.read(name)


def check_own_data(file: Any) -> None:
    """Check that an open file of h5py holds its numbers itself.

    Raises:
        PilotError: Some of them are in another file.
    """
    outside = find_outside_data(file)
    if outside:
        raise PilotError(f"the numbers of {outside!r} are in another file; a pilot is one file, so this is not read.")


def read_weight(dataset: Any) -> Float32Array:
    """Return the numbers of a dataset of h5py.

    Raises:
        PilotError: There are too many, or it is something else in such a file.
    """
    if not hasattr(dataset, "size"):
        raise PilotError(f"{dataset.name!r} holds no numbers.")
    _check_size(dataset.name, 4 * dataset.size)
    return np.asarray(dataset, dtype=np.float32)


def _check_size(name: str, size: int) -> None:
    if size > PART_MOST:
        raise PilotError(f"{name!r} has {size} bytes; a pilot's part may have {PART_MOST}, so this is not a pilot.")
