"""What a sweep is asked for: a file of TOML as data, with the file and the line in whatever is refused."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from donkeysim.core.config import locate_key, read_dataclass, read_toml
from donkeysim.core.errors import SpecError, describe_unknown
from donkeysim.world.tracks.former_places import rename_tracks

OPTIONS, SEARCH = "options", "search"
"""Tables of the file: what all trials have, and what differs."""

_TRACKS = ("track", "test")
"""Options that take names of tracks."""

RANGES = ("uniform", "log_uniform", "int")
"""Kinds of ranges, as the file names them."""

MOST_TRIALS = 10_000

FACTOR, GENERATIONS = 3, 5
"""Of halving and of a population, where nothing is said."""

_OWN_KEYS = {"factor": ("halving", 2), "least": ("halving", 1), "generations": ("population", 1)}
"""Keys that one method has, and the least that they take."""

Options = Mapping[str, Any]
"""Of a command, by their names on the command line; "set.KEY" is a key of `--set`."""


@dataclass(frozen=True)
class Choice:
    """Values to choose from, in order."""

    values: tuple[Any, ...]

    def draw(self, draws: np.random.Generator) -> Any:
        """Return one of them."""
        return self.values[int(draws.integers(len(self.values)))]

    def change(self, value: Any, draws: np.random.Generator) -> Any:
        """Return a neighbour of a value."""
        place = self.values.index(value) + (1 if draws.random() < 0.5 else -1)
        return self.values[min(max(place, 0), len(self.values) - 1)]

    def list_samples(self) -> Sequence[Any]:
        """Return what stands for all values in a check."""
        return self.values


@dataclass(frozen=True)
class Range:
    """Numbers between two, both included."""

    kind: str
    low: float
    high: float

    def draw(self, draws: np.random.Generator) -> float | int:
        """Return one of them; of log_uniform each power is as likely."""
        if self.kind == "int":
            return int(draws.integers(int(self.low), int(self.high) + 1))
        if self.kind == "log_uniform":
            return self._round(math.exp(draws.uniform(math.log(self.low), math.log(self.high))))
        return self._round(draws.uniform(self.low, self.high))

    def change(self, value: float, draws: np.random.Generator) -> float | int:
        """Return one that is a quarter greater or a fifth smaller, within the range."""
        moved = min(max(value * (1.25 if draws.random() < 0.5 else 0.8), self.low), self.high)
        return round(moved) if self.kind == "int" else self._round(moved)

    def list_samples(self) -> Sequence[float | int]:
        """Return what stands for all values in a check."""
        return (int(self.low), int(self.high)) if self.kind == "int" else (self.low, self.high)

    def _round(self, value: float) -> float:
        """Return a number with few enough digits for a command line."""
        return min(max(float(f"{value:.6g}"), self.low), self.high)


Dimension = Choice | Range


@dataclass(frozen=True)
class SweepSpec:
    """Which trainings there are and how they are compared.

    Attributes:
        command: Of `donkey`.
        method: How options are chosen.
        trials: How many there are at first; for a grid 0: as many as it has.
        budget: Of a trial: epochs of train, steps of all cars of rl.
        minimize: Name of the figure that should be small; one of both is given.
        maximize: Name of the figure that should be great.
        seed: Of what is drawn; trial number n trains with seed + n, unless its seed is an option.
        factor: Halving: each round has this many times fewer trials and more budget than the one before; 0: 3.
        least: Halving: budget of the first round; 0: budget / factor**2.
        generations: Population: the number that the budget is divided into; 0: 5.
    """

    command: Literal["rl", "train"]
    method: Literal["grid", "random", "halving", "population"]
    budget: int
    trials: int = 0
    minimize: str = ""
    maximize: str = ""
    seed: int = 0
    factor: int = 0
    least: int = 0
    generations: int = 0

    def __post_init__(self) -> None:
        if bool(self.minimize) == bool(self.maximize):
            raise ValueError("minimize or maximize has to name a figure, and only one of them.")
        if self.method == "grid" and self.trials:
            raise ValueError("trials is not for a grid, which has all combinations; leave it out.")
        if self.method != "grid" and not 1 <= self.trials <= MOST_TRIALS:
            raise ValueError(f"trials is {self.trials}; it takes 1 to {MOST_TRIALS}.")
        if self.budget < 1 or self.seed < 0:
            name, least = ("budget", 1) if self.budget < 1 else ("seed", 0)
            raise ValueError(f"{name} is {getattr(self, name)}; it takes {least} or more.")
        for name, (method, least) in _OWN_KEYS.items():
            value = getattr(self, name)
            if value and self.method != method:
                raise ValueError(f"{name} is for the method {method}, not for {self.method}; leave it out.")
            if value and not least <= value <= self.budget:
                raise ValueError(f"{name} is {value}; it takes {least} or more, and no more than the budget.")

    @property
    def budgets(self) -> list[int]:
        """Of all rounds: what each trains for at most, of a population what each adds."""
        if self.method == "population":
            count = self.generations or min(GENERATIONS, self.budget)
            return [self.budget // count] * count
        if self.method != "halving":
            return [self.budget]
        factor = self.factor or FACTOR
        found = [self.least or max(1, self.budget // factor**2)]
        while found[-1] < self.budget:
            found.append(min(self.budget, found[-1] * factor))
        return found

    @property
    def metric(self) -> str:
        """The figure that decides."""
        return self.minimize or self.maximize

    def score(self, figures: Mapping[str, float]) -> float:
        """Return what the better of two trials has more of; one without such a figure is the worst."""
        value = figures.get(self.metric, math.nan)
        return -math.inf if math.isnan(value) else -value if self.minimize else value


@dataclass(frozen=True)
class SweepFile:
    """All that a file says."""

    path: Path
    spec: SweepSpec
    fixed: Options
    search: Mapping[str, Dimension] = field(default_factory=dict)

    def locate(self, name: str) -> str:
        """Return "file, line N" of an option."""
        return locate_key(self.path, f"{SEARCH if name in self.search else OPTIONS}.{name}")


def read_sweep(path: Path) -> SweepFile:
    """Return what a file asks for; of its options only the form is checked.

    Raises:
        SpecError: It cannot be read, or asks for something impossible.
    """
    tables = read_toml(path)
    fixed, search = tables.pop(OPTIONS, {}), tables.pop(SEARCH, {})
    for name, table in ((OPTIONS, fixed), (SEARCH, search)):
        if not isinstance(table, dict):
            raise SpecError(f"{locate_key(path, name)}: {name} is {table!r}, but must be a table: [{name}].")
    spec = read_dataclass(SweepSpec, tables, path)
    chosen = {}
    for name, value in _flatten(search):
        where = f"{SEARCH}.{name}"
        chosen[name] = _read_dimension(value, name, locate_key(path, where))
        if spec.method == "grid" and isinstance(chosen[name], Range):
            raise SpecError(f"{locate_key(path, where)}: {name} is a range, but a grid takes lists of values only.")
    given = dict(_flatten(fixed))
    for name in chosen.keys() & given.keys():
        raise SpecError(
            f"{locate_key(path, f'{SEARCH}.{name}')}: {name} is in [{OPTIONS}], too; leave one of them out."
        )
    if not chosen:
        raise SpecError(f"{path}: [{SEARCH}] is empty; name an option there, for example speed = [0.6, 0.8].")
    return SweepFile(path, spec, given, chosen)


def rename_options(options: Options) -> dict[str, Any]:
    """Return options of an older version, with the names that their tracks have now."""
    return {name: _rename(value) if name in _TRACKS else value for name, value in options.items()}


def renew_sweep(file: SweepFile) -> SweepFile:
    """Return what an older file asks for, with the names that its tracks have now."""
    search = {
        name: Choice(tuple(map(_rename, dimension.values)))
        if name in _TRACKS and isinstance(dimension, Choice)
        else dimension
        for name, dimension in file.search.items()
    }
    return replace(file, fixed=rename_options(file.fixed), search=search)


def _rename(tracks: Any) -> Any:
    """Return one track, or several, by the names that they have now."""
    if isinstance(tracks, str):
        renamed = rename_tracks([tracks])
        return renamed[0] if len(renamed) == 1 else list(renamed)
    return list(rename_tracks(tracks)) if isinstance(tracks, list) else tracks


def _flatten(table: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield options; those of the table `set` by the names of its keys."""
    for name, value in table.items():
        if name == "set" and isinstance(value, dict):
            yield from ((f"set.{key}", inner) for key, inner in value.items())
        else:
            yield name, value


def _read_dimension(value: Any, name: str, place: str) -> Dimension:
    """Return what an entry of [search] stands for.

    Raises:
        SpecError: Nothing.
    """
    if isinstance(value, list) and value:
        return Choice(tuple(value))
    if not isinstance(value, dict) or len(value) != 1:
        raise SpecError(
            f"{place}: {name} is {value!r}, but must be a list of values, or a range like {{ uniform = [0.5, 1.0] }}."
        )
    [(kind, ends)] = value.items()
    if kind not in RANGES:
        raise SpecError(f"{place}: {describe_unknown('range', kind, RANGES)}")
    is_number = isinstance(ends, list) and len(ends) == 2 and all(type(end) in (int, float) for end in ends)
    if not is_number or not ends[0] < ends[1]:
        raise SpecError(f"{place}: {kind} of {name} is {ends!r}, but must be two numbers, the smaller one first.")
    if kind == "int" and any(type(end) is not int for end in ends):
        raise SpecError(f"{place}: int of {name} is {ends!r}, but must be two whole numbers.")
    if kind == "log_uniform" and ends[0] <= 0:
        raise SpecError(f"{place}: log_uniform of {name} is {ends!r}, but both must be above 0.")
    return Range(kind, ends[0], ends[1])
