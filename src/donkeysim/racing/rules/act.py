"""What a race engineer may do to a race, and what a driver may ask for, as data.

Each act is logged, and played again in a recount.
"""

from typing import TypeAlias

import msgspec


class Pause(msgspec.Struct, frozen=True, tag="pause"):
    """Red flag: time stands still."""


class Continue(msgspec.Struct, frozen=True, tag="continue"):
    """Time runs on."""


class Restart(msgspec.Struct, frozen=True, tag="restart"):
    """Run the race again, from the grid; what happened before counts no more."""


class PutBack(msgspec.Struct, frozen=True, tag="put back"):
    """Put a car back on the path where it is."""

    row: int


class Penalise(msgspec.Struct, frozen=True, tag="penalise"):
    """Give a car a penalty."""

    row: int
    seconds: float = 0.0
    laps: int = 0
    out: bool = False
    """Whether it is disqualified."""
    why: str = ""


class AskBack(msgspec.Struct, frozen=True, tag="ask back"):
    """The driver gives up the place where the car is: it is judged as stuck, and put back on the path."""

    row: int


class Undo(msgspec.Struct, frozen=True, tag="undo"):
    """Take back an incident of the journal, with all that it cost."""

    number: int


Act: TypeAlias = Pause | Continue | Restart | PutBack | AskBack | Penalise | Undo
