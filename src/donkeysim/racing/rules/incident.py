"""What can happen to a car in a race."""

from collections.abc import Mapping

import msgspec

INCIDENTS: Mapping[str, str] = {
    "false_start": "moved before green",
    "obstacle": "touched an obstacle",
    "rear_end": "drove into a car from behind",
    "backed_into": "backed into a car",
    "contact": "is to blame for another contact",
    "cut": "came back to the road further on than it had driven",
    "missed_checkpoint": "crossed the line without passing all checkpoints",
    "late_checkpoint": "took too long to the next checkpoint",
    "left_road": "left the road",
    "wrong_way": "went the wrong way",
    "stuck": "stood still, lay on its roof or was lost beside the road",
    "rescued": "left the world",
    "put_back": "was put back by the race engineer",
    "absent": "was gone and did not come back in time",
}
"""By name, as rule books use them, in words."""

ENGINEER = "engineer"
"""Instead of a name: a penalty that the race engineer gave."""


class Incident(msgspec.Struct, frozen=True):
    """Something that happened to a car, and may cost something."""

    number: int
    """In the journal, from 1."""
    time: float
    """Since green [s]; before it, below 0."""
    row: int
    """The car; where there are two, the one that is to blame."""
    kind: str
    """A name of `INCIDENTS`, or `ENGINEER`."""
    lap: int
    """In which lap of the race, 0 before the first."""
    other: int = -1
    """The other car; -1: none."""
    what: str = ""
    """What was touched; for the engineer's, why."""
    counts: bool = True
    """False in warm-up and cool-down laps."""
    seconds: float = 0.0
    """The engineer's penalty [s]."""
    laps: int = 0
    """The engineer's penalty."""
    out: bool = False
    """Whether the engineer disqualified the car."""
