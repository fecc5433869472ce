"""Sees what happens to cars in a frame, from the rows of the ledger and its events; who is to blame for a contact."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from donkeysim.core.types import FloatArray
from donkeysim.racing.rules.course import RaceCourse
from donkeysim.racing.rules.rule_book import Watch
from donkeysim.world.ledger import EVENT_HIT, EVENT_LEFT_ROAD, EVENT_MISSED_CHECKPOINT, EVENT_RESCUED, Event, Ledger
from donkeysim.world.state import HIT_CAR

# Front and rear have 120° each, which leaves 60° for each side.
SECTOR = math.radians(60.0)
"""The other car is in front, or behind, within this angle of straight ahead, or straight behind [rad]."""

STANDING = 0.1
"""Slower than this a car stands [m/s]."""

# More than drivers wander in their lane; a car that is slower across may not have meant it.
MOVED_OVER = 0.15
"""Side by side, the car that moves towards the other by this much more is to blame [m/s]."""


class Verdict(NamedTuple):
    """Whose fault a contact is."""

    culprit: int
    """Row; -1: nobody's."""
    other: int
    """The other one's row."""
    kind: str
    """"rear_end", "backed_into" or "contact"."""


class _Side(NamedTuple):
    """A car as it meets another.

    Attributes:
        row: Its row.
        where: The other one is "front", "rear" or "side" of it.
        forward: Speed along its nose before [m/s].
        closing: Speed towards the other before [m/s].
        is_against: Whether it pointed against the path.
    """

    row: int
    where: str
    forward: float
    closing: float
    is_against: bool


def judge_contact(ledger: Ledger, velocity: FloatArray, one: int, other: int) -> Verdict:
    """Return who is to blame for a contact of two cars.

    Args:
        ledger: Read, in the frame in which they touch.
        velocity: Of all cars in the frame before [m/s, world frame], shape [car_count, 3].
    """
    first, second = _look(ledger, velocity, one, other), _look(ledger, velocity, other, one)
    for a, b in ((first, second), (second, first)):
        if (verdict := _blame(a, b)) is not None:
            return verdict
    if first.where == second.where == "side":
        for a, b in ((first, second), (second, first)):
            if a.closing - b.closing > MOVED_OVER:
                return Verdict(a.row, b.row, "contact")
    return Verdict(-1, one, "contact")


def _blame(a: _Side, b: _Side) -> Verdict | None:
    """Return that the first of two is to blame, if it is."""
    if a.where == "rear" and a.forward < -STANDING:
        return Verdict(a.row, b.row, "backed_into")
    if a.where != "front" or a.forward < STANDING:
        return None
    if b.where == "rear":
        return None if b.forward < -STANDING else Verdict(a.row, b.row, "rear_end")
    if b.where == "side":
        return Verdict(a.row, b.row, "contact")
    if a.is_against != b.is_against:
        return Verdict(a.row, b.row, "contact") if a.is_against else None
    return Verdict(a.row, b.row, "contact") if abs(b.forward) < STANDING else None


def _look(ledger: Ledger, velocity: FloatArray, row: int, other: int) -> _Side:
    x, y = (ledger.position[other, :2] - ledger.position[row, :2]).tolist()
    yaw = float(ledger.yaw[row])
    ahead, left = x * math.cos(yaw) + y * math.sin(yaw), y * math.cos(yaw) - x * math.sin(yaw)
    angle = abs(math.atan2(left, ahead))
    vx, vy = velocity[row, :2].tolist()
    return _Side(
        row,
        "front" if angle < SECTOR else "rear" if angle > math.pi - SECTOR else "side",
        vx * math.cos(yaw) + vy * math.sin(yaw),
        (vx * x + vy * y) / max(math.hypot(x, y), 1e-9),
        abs(float(ledger.heading_error[row])) > 0.5 * math.pi,
    )


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
        reported: Kinds that last and have been reported.
        tilted: For how long it has not been upright [s].
        touched: When each thing was last touched, by code.
        time: Of the last frame, on the world's clock; infinite: there was none [s].
    """

    along: float = math.inf
    travelled: float = 0.0
    place: tuple[float, float] | None = None
    reported: set[str] = field(default_factory=set)
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
            if is_so and kind not in track.reported:
                seen.append(Sighting(now, row, kind))
            track.reported = track.reported | {kind} if is_so else track.reported - {kind}
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
