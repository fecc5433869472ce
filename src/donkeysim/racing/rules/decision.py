"""What a race director decides, as data; whoever drives the race carries it out."""

from typing import NamedTuple, TypeAlias

from donkeysim.racing.rules.incident import Incident


class LineUp(NamedTuple):
    """Put these cars on the grid, as at the beginning of the run, the first in front; take all others off the track."""

    rows: tuple[int, ...]


class Hold(NamedTuple):
    """Keep these cars where they are, whatever they ask for."""

    rows: tuple[int, ...]


class Release(NamedTuple):
    """Let these cars drive."""

    rows: tuple[int, ...]


class PutOnTrack(NamedTuple):
    """Put a car on the path, at rest."""

    row: int
    along: float
    """Length of the path from its node 0 [m]."""


class PutOnGrid(NamedTuple):
    """Put a car back on its place on the grid, at rest."""

    row: int


class TakeOff(NamedTuple):
    """Take a car off the track; it is done."""

    row: int


class LimitSpeed(NamedTuple):
    """Let a car drive no faster for a while."""

    row: int
    speed: float
    """[m/s]; infinite: the limit is over."""


class ShowFlag(NamedTuple):
    """Show a flag to a car, or to all."""

    flag: str
    """One of `FLAGS`."""
    row: int = -1
    """-1: to all."""


class BeginSession(NamedTuple):
    """A session begins."""

    session: str
    """One of `director.SESSIONS`."""


class Tell(NamedTuple):
    """Something for the timing screen."""

    text: str
    row: int = -1
    incident: Incident | None = None
    """Which the text is about."""


class GiveResult(NamedTuple):
    """The result stands; see `Director.result`."""


FLAGS = ("red", "green", "yellow", "black", "chequered")
"""Stop; go; a car ahead stands or is lost; disqualified; done."""

Decision: TypeAlias = (
    LineUp
    | Hold
    | Release
    | PutOnTrack
    | PutOnGrid
    | TakeOff
    | LimitSpeed
    | ShowFlag
    | BeginSession
    | Tell
    | GiveResult
)
