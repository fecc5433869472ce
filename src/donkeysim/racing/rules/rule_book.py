"""A rule book: what is raced, how it is judged, and what each incident costs. Those of the package have
names, a club's own a path.

All times are simulated seconds, lengths metres.
"""

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from donkeysim.core.config import read_dataclass, read_toml
from donkeysim.core.errors import SpecError, describe_unknown
from donkeysim.racing.rules.incident import INCIDENTS

_BOOKS = Path(__file__).parent / "books"


@dataclass(frozen=True)
class Qualifying:
    """How places on the grid are driven for.

    Attributes:
        laps: How many end a car's run; 0: only the limit ends it.
        limit: A run ends after this time [s]; 0: what the laps take at a walk.
        by: What counts: the best lap, or the time of all laps.
        alone: One car at a time, the others off the track.
    """

    limit: float = 0.0
    laps: int = 0
    by: Literal["best_lap", "total"] = "best_lap"
    alone: bool = False

    def __post_init__(self) -> None:
        _require(self.limit >= 0.0, f"limit is {self.limit:g}; it takes 0 or more.")
        _require(self.laps >= 0, f"laps is {self.laps}; it takes 0 or more.")
        _require(self.laps > 0 or self.limit > 0.0, "laps is 0; this needs a limit, more than 0 s.")
        _require(self.by == "best_lap" or self.laps > 0, 'by is "total"; this needs laps, 1 or more.')


@dataclass(frozen=True)
class StartRules:
    """How a race begins.

    Attributes:
        grid: Who stands where: by qualifying, drawn from the seed, or as entered.
        settle: Time on the grid before the countdown [s].
        countdown: From the first red light to green [s].
        holds: Whether cars are held until green; else whoever moves before has a false start.
        false_start: So far may a car roll before green [m].
    """

    grid: Literal["qualifying", "drawn", "entry"] = "entry"
    settle: float = 1.0
    countdown: float = 3.0
    holds: bool = False
    false_start: float = 0.1

    def __post_init__(self) -> None:
        _require(self.settle >= 0.0, f"settle is {self.settle:g}; it takes 0 or more.")
        _require(self.countdown >= 0.0, f"countdown is {self.countdown:g}; it takes 0 or more.")


@dataclass(frozen=True)
class Race:
    """What is driven, and how places are given.

    Attributes:
        laps: That count, or where the best lap wins, that are driven; 0: as many as the limit allows.
        limit: The race ends after this time [s]; 0: what the laps take at a walk.
        warm_up_laps: Before those that count; neither times nor incidents count in them.
        cool_down_laps: After those that count, before the car leaves the track; nothing counts in them.
        order: By the least time for all laps; by most laps, and who reached them first; or by the best lap.
        clock: Times begin at green, or where the laps that count begin at the line.
        ends: When all cars are done, or when the first one is.
        finish_window: Once a car has finished, the others have this share of its time more; 0: until the limit.
        alone: Each car on a track of its own; they never meet.
        least_lap: Shorter laps do not count [s].
        checkpoint_limit: Longest time from one checkpoint (or the line) to the next [s]; 0: any.
        reruns: How often a race may be run again.
        rerun_when: What for: nobody has finished, or a tie for the first place.
        ties: Who of two with the same result is in front: nobody, the better lap, or the better place on the grid.
    """

    laps: int = 3
    limit: float = 0.0
    warm_up_laps: int = 0
    cool_down_laps: int = 0
    order: Literal["time", "distance", "best_lap"] = "time"
    clock: Literal["green", "line"] = "green"
    ends: Literal["all", "first"] = "all"
    finish_window: float = 0.0
    alone: bool = False
    least_lap: float = 0.0
    checkpoint_limit: float = 0.0
    reruns: int = 0
    rerun_when: tuple[Literal["nobody_finishes", "tie"], ...] = ()
    ties: Literal["shared", "best_lap", "grid"] = "shared"

    def __post_init__(self) -> None:
        for name in (
            "laps",
            "limit",
            "warm_up_laps",
            "cool_down_laps",
            "least_lap",
            "checkpoint_limit",
            "reruns",
            "finish_window",
        ):
            value = getattr(self, name)
            _require(value >= 0, f"{name} is {value:g}; it takes 0 or more.")
        _require(self.laps > 0 or self.limit > 0.0, "laps is 0; this needs a limit, more than 0 s.")
        _require(self.laps > 0 or self.order != "time", 'laps is 0; this needs another order than "time".')
        _require(
            self.warm_up_laps == 0 or self.clock == "line", 'clock is "green"; with warm_up_laps it must be "line".'
        )


@dataclass(frozen=True)
class Watch:
    """When something is an incident.

    Attributes:
        still: A car that stands so long is stuck [s]; 0: never.
        off_road: So is one that is off the road so long [s]; 0: never.
        wrong_way: Going against the path so long is the wrong way [s]; 0: never.
        cut_gain: Coming back to the road so much further on than was driven beside it is a cut [m]; 0: never.
        again: Touching the same thing again within this time is the same incident [s].
        absence: A car that is not there may come back within this time [s].
    """

    still: float = 5.0
    off_road: float = 10.0
    wrong_way: float = 3.0
    cut_gain: float = 0.7
    again: float = 1.0
    absence: float = 10.0


@dataclass(frozen=True)
class Penalty:
    """What incidents cost; those of one penalty are counted together.

    Attributes:
        incidents: Names of `INCIDENTS`.
        seconds: Added to the result for each [s].
        compounds: The second costs twice the seconds, the third three times, and so on.
        laps: To be driven in addition, or taken off where laps count.
        voids_lap: The lap does not count.
        slow_speed: Greatest speed for a while [m/s].
        slow_time: For how long [s]; 0: not at all.
        put_back: Where the car is put: it is not; back on the path; at the last checkpoint or line; on its grid place.
        free: How many cost nothing.
        out: Whether the car is out: not at all, it did not finish, or it is disqualified.
        out_after: How many a car may have; the next one puts it out.
    """

    incidents: tuple[str, ...]
    seconds: float = 0.0
    compounds: bool = False
    laps: int = 0
    voids_lap: bool = False
    slow_speed: float = 0.0
    slow_time: float = 0.0
    put_back: Literal["no", "path", "checkpoint", "grid"] = "no"
    free: int = 0
    out: Literal["no", "did not finish", "disqualified"] = "no"
    out_after: int = 0

    def __post_init__(self) -> None:
        _require(bool(self.incidents), "incidents is empty; name one or more.")
        for name in self.incidents:
            if name not in INCIDENTS:
                raise ValueError(f"incidents has an {describe_unknown('incident', name, INCIDENTS)}")
        for name in ("seconds", "laps", "slow_speed", "slow_time", "free", "out_after"):
            value = getattr(self, name)
            _require(value >= 0, f"{name} is {value:g}; it takes 0 or more.")
        _require(self.slow_time == 0.0 or self.slow_speed > 0.0, "slow_time needs a slow_speed, more than 0 m/s.")


@dataclass(frozen=True)
class RuleBook:
    """The rules of a race.

    Attributes:
        title: For people.
        summary: In a sentence.
        source: Where the rules were published.
        date: As of when.
        explained: What each rule says, and where this book had to choose; a sentence or two each.
        cars: Most cars on the track at once.
        cones: Random cones that stand on the track.
        bracket: What a tournament by these rules is.
        points: For the places of a league's race, from the first on.
    """

    title: str
    summary: str
    source: str
    date: str
    race: Race
    explained: tuple[str, ...] = ()
    cars: int = 24
    cones: int = 0
    practice: float = 0.0
    bracket: Literal["double_elimination", "ladder", "heats"] = "double_elimination"
    points: tuple[float, ...] = (10.0, 8.0, 6.0, 5.0, 4.0, 3.0, 2.0, 1.0)
    start: StartRules = field(default_factory=StartRules)
    watch: Watch = field(default_factory=Watch)
    qualifying: Qualifying | None = None
    penalty: tuple[Penalty, ...] = ()

    def __post_init__(self) -> None:
        _require(self.cars >= 1, f"cars is {self.cars}; it takes 1 or more.")
        _require(0 <= self.cones <= 1000, f"cones is {self.cones}; it takes 0 to 1000.")
        _require(
            self.qualifying is not None or self.start.grid != "qualifying",
            'start: grid is "qualifying", but there is no table [qualifying]; add one or name another grid.',
        )


def _require(is_fine: bool, sentence: str) -> None:
    if not is_fine:
        raise ValueError(sentence)


def change_laps(book: RuleBook, laps: int) -> RuleBook:
    """Return a rule book with other laps; its limit grows with them."""
    old = book.race
    limit = old.limit * max(1.0, laps / old.laps) if old.laps else 0.0
    return replace(book, race=replace(old, laps=laps, limit=limit))


def list_rule_books() -> list[str]:
    """Return the names of the rule books in the package."""
    return sorted(path.stem for path in _BOOKS.glob("*.toml"))


def find_rule_book(name: str) -> Path:
    """Return the file of a rule book.

    Args:
        name: Of one in the package, or the path of a club's own, which ends in `.toml`.

    Raises:
        SpecError: There is none.
    """
    if name.endswith(".toml"):
        path = Path(name).expanduser()
        if not path.is_file():
            raise SpecError(f"there is no rule book {path}; give a file, or one of {', '.join(list_rule_books())}.")
        return path
    if name not in list_rule_books():
        raise SpecError(describe_unknown("rule book", name, list_rule_books()) + " A club's own is a path to a .toml.")
    return _BOOKS / f"{name}.toml"


def load_rule_book(name: str) -> RuleBook:
    """Return a rule book; see `find_rule_book`.

    Raises:
        SpecError: There is none, or a key or value of it is wrong; the text names file and line.
    """
    path = find_rule_book(name)
    return read_dataclass(RuleBook, read_toml(path), path)
