"""Which races a server holds, as a plain value."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from donkeysim.racing.rules.rule_book import RuleBook
from donkeysim.racing.run.race_file import Report
from donkeysim.racing.run.racer import Racer


@dataclass(frozen=True)
class RaceOffer:
    """What is raced again and again.

    Attributes:
        track: A track's name, or the path of its file.
        rules: Name of the rule book, or its path.
        book: What it says.
        folder: Where race files and results go.
        local_racers: Who races beside the clients, by name.
        cars: So many clients' cars begin a race by themselves; 0: their number does not.
        wait: So long after the paddock opens a race begins with whoever is there, simulated; 0: not by time [s].
        races: How many are held before the server ends; 0: no limit.
        pause: Shortest time in the paddock between two races that begin by themselves, simulated [s].
        seed: Of the first race; each next one has the next.
        car: Preset of all cars' physics.
        tell: Called with each result, on the simulation's thread.
        end: Called after the last race, on the simulation's thread.
    """

    track: str
    rules: str
    book: RuleBook
    folder: Path
    local_racers: Mapping[str, Racer] = field(default_factory=dict)
    cars: int = 0
    wait: float = 0.0
    races: int = 0
    pause: float = 10.0
    seed: int = 0
    car: str = "original"
    tell: Callable[[Report], object] = lambda _report: None
    end: Callable[[], object] = lambda: None
