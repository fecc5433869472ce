"""A drive as it goes from one format to another: a heading, and records one after the other."""

import contextlib
import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from donkeysim.core.errors import TubError, shorten
from donkeysim.tub.manifest import DEFAULT_CATALOG_LENGTH
from donkeysim.tub.reader import IMAGE_KEY
from donkeysim.tub.values import IMAGE_TYPE

FORMAT = 1
"""Of the heading, which every format carries as JSON; a higher number may mean other fields."""

PICTURE_TYPES = (IMAGE_TYPE, "gray16_array")
"""Types of inputs that a tub keeps as picture files; the second one is of the original's depth cameras."""

ANGLE_KEY, THROTTLE_KEY = "user/angle", "user/throttle"


class Picture(NamedTuple):
    """A picture file: its name in the tub ("" where nobody noted it) and its bytes."""

    name: str
    data: bytes


@dataclass(frozen=True, slots=True)
class DriveRecord:
    """One record; values are plain, as JSON has them, and pictures are their files, both by input."""

    index: int
    session: str
    timestamp_ms: int
    is_deleted: bool
    values: dict[str, Any]
    pictures: dict[str, Picture]


@dataclass(frozen=True)
class Heading:
    """What a tub says of itself: inputs, their types, the user's metadata, its own, records per catalog."""

    inputs: tuple[str, ...]
    types: tuple[str, ...]
    metadata: dict[str, Any] = field(default_factory=dict)
    own_metadata: dict[str, Any] = field(default_factory=dict)
    max_len: int = DEFAULT_CATALOG_LENGTH

    @property
    def picture_keys(self) -> tuple[str, ...]:
        """Inputs that are pictures, the main camera's first."""
        keys = [key for key, kind in zip(self.inputs, self.types, strict=True) if kind in PICTURE_TYPES]
        return tuple(sorted(keys, key=lambda key: key != IMAGE_KEY))

    def encode(self) -> str:
        """Return the heading as JSON."""
        return json.dumps({"format": FORMAT, **asdict(self)})


class RecordedDrive(Protocol):
    """A drive in some format; nothing but its heading is in memory."""

    path: Path
    heading: Heading

    def iterate(self, with_pictures: bool = True) -> Iterator[DriveRecord]:
        """Yield all records in order; without pictures their bytes are empty."""


def decode_heading(text: str | bytes, path: Path) -> Heading:
    """Return the heading in a text.

    Raises:
        TubError: It is none, or of a newer donkeysim.
    """
    try:
        content = json.loads(text)
        number = int(content.pop("format"))
        if number > FORMAT:
            raise TubError(f"{path} is of a newer donkeysim (format {number}, this one knows {FORMAT}); update it.")
        heading = Heading(**{**content, "inputs": tuple(content["inputs"]), "types": tuple(content["types"])})
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise TubError(f"{path} is broken: what it says of its tub cannot be read ({error}).") from error
    if len(heading.inputs) != len(heading.types):
        raise TubError(f"{path} is broken: it has {len(heading.inputs)} inputs and {len(heading.types)} types.")
    return heading


def encode_optional(value: Any) -> str:
    """Return a value as JSON, and nothing for one that is not there."""
    return "" if value is None else json.dumps(value)


def decode_optional(text: str) -> Any:
    """Return what `encode_optional` was given."""
    return json.loads(text) if text else None


@contextlib.contextmanager
def explain_damage(path: Path, what: str, *kinds: type[Exception]) -> Iterator[None]:
    """Turn what libraries raise at damaged files into one sentence.

    Args:
        what: What it should be, for example "an MCAP file".
        kinds: What the library raises besides the usual.

    Raises:
        TubError: The block failed.
    """
    try:
        yield
    except TubError:
        raise
    except Exception as error:
        if not isinstance(error, (OSError, EOFError, ValueError, LookupError, TypeError, AttributeError, *kinds)):
            raise
        reason = " ".join(str(error).split()) or type(error).__name__
        raise TubError(f"{path} cannot be read as {what}: {shorten(reason, 160)}.") from error
