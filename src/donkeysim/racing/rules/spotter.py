"""Sees what happens to cars in a frame, from the rows of the ledger and its events."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from donkeysim.core.types import FloatArray
from donkeysim.racing.rules.contact import judge_contact
from donkeysim.racing.rules.course import RaceCourse
from donkeysim.racing.rules.rule_book import Watch
from donkeysim.world.ledger import EVENT_HIT, EVENT_LEFT_ROAD, EVENT_MISSED_CHECKPOINT, EVENT_RESCUED, Event, Ledger
from donkeysim.world.state import HIT_CAR

UPRIGHT = 0.3
"""Cosine of the tilt below which a car lies on its side or roof."""

TERRAIN = 0
"""Code of what touches a car's belly now and then, and is no obstacle."""


class Sighting(NamedTuple):
    """Something that happened."""

    time: float
    """On the world's clock [s]."""
    row: int
    kind: str
    """A name of `incident.INCIDENTS`."""
    other: int = -1
    what: str = ""


@dataclass
class _Track:
    """What is remembered of a car.

    Attributes:
        along: Of the last moment on the road [m]; infinite: there was none.
        travelled: Since then [m].
        place: At the last frame, x and y [m].
        told: Kinds that last and have been reported.
        tilted: For how long it has not been upright [s].
        touched: When each thing was last touched, by code.
        time: Of the last frame, on the world's clock; infinite: there was none [s].
    """

    along: float = math.inf
    travelled: float = 0.0
    place: tuple[float, float] | None = None
    told: set[str] = field(default_factory=set)
    tilted: float = 0.0
    touched: dict[int, float] = field(default_factory=dict)
    time: float = math.inf


class Spotter:
    """Watches cars, frame by frame."""

    def __init__(self, watch: Watch, course: RaceCourse) -> None:
        self._watch, self._course = watch, course
        self._tracks: dict[int, _Track] = {}
        self._velocity: FloatArray | None = None

    def forget(self, row: int) -> None:
        """Begin anew with a car that was put somewhere."""
        touched = self._find(row).touched
        self._tracks[row] = _Track(touched=touched)

    def find_last_place(self, row: int) -> float:
        """Return where along the path a car was last on the road [m], infinite if it never was."""
        return self._find(row).along

    def spot(self, ledger: Ledger, events: Iterable[Event], rows: Sequence[int], driven: float) -> list[Sighting]:
        """Return what happened to these cars in this frame, in the order of time; `driven`: since green [s]."""
        velocity = ledger.velocity if self._velocity is None else self._velocity
        seen: list[Sighting] = []
        for event in events:
            if event.car in rows:
                seen += self._read_event(ledger, velocity, event)
        for row in rows:
            if ledger.present[row]:
                seen += self._watch_car(ledger, row, driven)
        self._velocity = ledger.velocity.copy()
        return sorted(seen, key=lambda sighting: sighting.time)

    def _find(self, row: int) -> _Track:
        return self._tracks.setdefault(row, _Track())

    def _read_event(self, ledger: Ledger, velocity: FloatArray, event: Event) -> list[Sighting]:
        if event.kind == EVENT_HIT and int(event.value) != TERRAIN:
            return self._read_hit(ledger, velocity, event)
        kinds = {EVENT_LEFT_ROAD: "left_road", EVENT_MISSED_CHECKPOINT: "missed_checkpoint", EVENT_RESCUED: "rescued"}
        return [Sighting(event.time, event.car, kinds[event.kind])] if event.kind in kinds else []

    def _read_hit(self, ledger: Ledger, velocity: FloatArray, event: Event) -> list[Sighting]:
        """Return what a touch means; what was touched a moment ago is the same incident, for both cars."""
        code, row = int(event.value), event.car
        first = row - row % ledger.cars_per_world
        touched = self._find(row).touched
        is_again = event.time - touched.get(code, -math.inf) < self._watch.again
        touched[code] = event.time
        if code < HIT_CAR:
            names = self._course.labels
            what = names[code] if 0 <= code < len(names) else "something"
            return [] if is_again else [Sighting(event.time, row, "obstacle", what=what)]
        other = first + code - HIT_CAR
        theirs = self._find(other).touched
        is_again |= event.time - theirs.get(HIT_CAR + row - first, -math.inf) < self._watch.again
        theirs[HIT_CAR + row - first] = event.time
        if is_again:
            return []
        verdict = judge_contact(ledger, velocity, row, other)
        if verdict.culprit < 0:
            return [Sighting(event.time, row, "", other)]
        return [Sighting(event.time, verdict.culprit, verdict.kind, verdict.other)]

    def _watch_car(self, ledger: Ledger, row: int, driven: float) -> list[Sighting]:
        """Return what a car's row shows; what lasts is reported once."""
        track, now, watch = self._find(row), float(ledger.time[row]), self._watch
        passed = max(0.0, now - track.time) if math.isfinite(track.time) else 0.0
        track.time = now
        for code in ledger.touching[row].tolist():
            if code in track.touched:
                track.touched[code] = now
        track.tilted = track.tilted + passed if float(ledger.upright[row]) < UPRIGHT else 0.0
        wrong = _lasts(float(ledger.wrong_way_time[row]), watch.wrong_way)
        stuck = (
            _lasts(min(driven, float(ledger.still_time[row])), watch.still)
            or _lasts(track.tilted, watch.still)
            or _lasts(float(ledger.off_road_time[row]), watch.off_road)
        )
        seen = []
        for kind, is_so in (("wrong_way", wrong), ("stuck", stuck)):
            if is_so and kind not in track.told:
                seen.append(Sighting(now, row, kind))
            track.told = track.told | {kind} if is_so else track.told - {kind}
        if self._follow(ledger, row, track):
            seen.append(Sighting(now, row, "cut"))
        return seen

    def _follow(self, ledger: Ledger, row: int, track: _Track) -> bool:
        """Follow a car along the path; return whether it is back on the road further on than it has driven."""
        x, y, _ = ledger.position[row].tolist()
        if track.place is not None:
            track.travelled += math.hypot(x - track.place[0], y - track.place[1])
        track.place = (x, y)
        if not ledger.on_road[row]:
            return False
        along, gained = float(ledger.along[row]), 0.0
        if math.isfinite(track.along):
            gained = self._course.measure_ahead(track.along, along) - track.travelled
        track.along, track.travelled = along, 0.0
        return 0.0 < self._watch.cut_gain < gained


def _lasts(time: float, limit: float) -> bool:
    return 0.0 < limit < time
