"""What a pilot's file says about itself beside the network: format number, kind, sizes, picture transformations.

Its parts are read up to a size: a few bytes can say that there are any number of them.
"""

import json
import zipfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from donkeysim.core.errors import PilotError, describe_install
from donkeysim.core.files import find_outside_data
from donkeysim.core.types import Float32Array
from donkeysim.learn.kinds import get_kind, read_spec
from donkeysim.world.tracks.former_places import rename_place

FORMAT = 2
"""Number of the form of the header; a file with a greater one is refused."""

RENAMED = 2
"""The first format in which the original's places have their names; see `former_places`."""

HEADER_KEY = "donkeysim"
"""Where the header lies: a root attribute of `.h5`, `donkeysim.json` in `.keras`, metadata of `.onnx` and `.tflite`."""

# A compressed part may claim to be of any size.
PART_MOST = 1 << 28
"""Of a part of a `.keras` file, unpacked, and of the weights of one layer [byte]."""


@dataclass(frozen=True)
class PilotHeader:
    """The header, as JSON in every kind of file."""

    kind: str
    image_shape: tuple[int, ...]
    """Height, width, channels of the pictures it was made for."""
    input_names: tuple[str, ...] = ()
    """Channels of the car beside the picture."""
    throttle_range: float = 0.8
    transformations: tuple[str, ...] = ()
    post_transformations: tuple[str, ...] = ()
    places: tuple[str, ...] = ()
    """Names of the places where it was trained, as far as its tubs say."""
    cars: tuple[str, ...] = ()
    """What it was trained to drive, as `Experiment.describe_car` says it, as far as its tubs do."""
    format: int = FORMAT


def make_header(kind: str, config: object, places: Sequence[str] = (), cars: Sequence[str] = ()) -> PilotHeader:
    """Return the header of a pilot of a kind, trained with a configuration on drives at these places, of these cars."""
    spec = read_spec(config)
    named = get_kind(kind)
    return PilotHeader(
        kind=named.name,
        image_shape=spec.image_shape,
        input_names=named.channels,
        throttle_range=spec.throttle_range,
        transformations=tuple(getattr(config, "TRANSFORMATIONS", ())),
        post_transformations=tuple(getattr(config, "POST_TRANSFORMATIONS", ())),
        places=tuple(places),
        cars=tuple(cars),
    )


def write_header(header: PilotHeader) -> str:
    """Return a header as JSON."""
    return json.dumps(asdict(header))


def read_header(text: str | bytes | None) -> PilotHeader | None:
    """Return the header of a file, None for a file that other programs made.

    Raises:
        PilotError: A newer format, or a header that cannot be read.
    """
    if text is None:
        return None
    try:
        values = json.loads(text)
        number = int(values["format"])
        if number > FORMAT:
            raise PilotError(
                f"it has the format {number}, but this version of donkeysim reads up to {FORMAT}; "
                f"get a newer donkeysim and install it {describe_install()}"
            )
        places = map(str, values.get("places", ()))
        return PilotHeader(
            kind=get_kind(str(values["kind"])).name,
            image_shape=tuple(map(int, values["image_shape"])),
            input_names=tuple(map(str, values["input_names"])),
            throttle_range=float(values["throttle_range"]),
            transformations=tuple(map(str, values["transformations"])),
            post_transformations=tuple(map(str, values["post_transformations"])),
            places=tuple(places if number >= RENAMED else map(rename_place, places)),
            cars=tuple(map(str, values.get("cars", ()))),
        )
    except (ValueError, KeyError, TypeError) as error:
        raise PilotError(f"its header cannot be read ({error!r}); write the file again.") from error


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
