"""What the driver did at a record: templates of the original and of others name steering and throttle differently."""

from collections.abc import Container

from donkeysim.core.errors import TubError
from donkeysim.tub.reader import TubRecord
from donkeysim.tub.values import read_number

COMMAND_KEYS = (
    ("user/angle", "user/throttle"),
    ("user/steering", "user/throttle"),
    ("steering", "throttle"),
    ("angle", "throttle"),
    ("pilot/angle", "pilot/throttle"),
    ("pilot/steering", "pilot/throttle"),
)
"""Steering and throttle as records name them; the first pair that is there counts: the driver's before the car's before
a pilot's. The third is of the original's templates that follow lines, the fourth of those that drive without a user."""


def find_command_keys(keys: Container[str]) -> tuple[str, str]:
    """Return under which of a record's keys its steering and throttle lie; the usual ones where there are none."""
    return next((pair for pair in COMMAND_KEYS if pair[0] in keys and pair[1] in keys), COMMAND_KEYS[0])


def read_command(record: TubRecord) -> tuple[float, float]:
    """Return what the driver did at a record: steering [-1, 1, + = right] and throttle [-1, 1].

    Raises:
        TubError: The record does not say.
    """
    angle, throttle = (read_number(record.values.get(key)) for key in find_command_keys(record.values))
    if angle is None or throttle is None:
        raise TubError(
            f"record {record.index} of {record.image_folder.parent} does not say what the driver did "
            f"({describe_command_keys()}); take a tub recorded by driving."
        )
    return angle, throttle


def describe_command_keys() -> str:
    """Return in words which keys are looked for."""
    *others, last = (" and ".join(pair) for pair in COMMAND_KEYS)
    return f"{', '.join(others)}, or {last}"
