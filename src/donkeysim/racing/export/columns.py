"""What is known of every car in every frame, one list for the Parquet table and for the telemetry in MCAP files."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from donkeysim.racing.export.walk import RaceWalk
from donkeysim.racing.rules.classification import Placing
from donkeysim.racing.rules.scoring import CarLog
from donkeysim.world.ledger import EVENT_HIT, Ledger


class Column(NamedTuple):
    """One value of a car."""

    name: str
    kind: str
    """ "float", "int", "bool" or "text"."""
    unit: str
    """ "" for none."""
    text: str
    """What it is."""


_READERS: Mapping[Column, Callable[[Ledger], Any]] = {
    Column("x", "float", "m", "position of the body's origin, world frame"): lambda ledger: ledger.position[:, 0],
    Column("y", "float", "m", "the same"): lambda ledger: ledger.position[:, 1],
    Column("z", "float", "m", "the same, upwards"): lambda ledger: ledger.position[:, 2],
    Column("qw", "float", "", "body to world, unit quaternion"): lambda ledger: ledger.orientation[:, 0],
    Column("qx", "float", "", "the same"): lambda ledger: ledger.orientation[:, 1],
    Column("qy", "float", "", "the same"): lambda ledger: ledger.orientation[:, 2],
    Column("qz", "float", "", "the same"): lambda ledger: ledger.orientation[:, 3],
    Column("yaw", "float", "rad", "counter-clockwise from +x"): lambda ledger: ledger.yaw,
    Column("speed", "float", "m/s", "along the nose, negative backwards"): lambda ledger: ledger.forward_speed,
    Column("left_speed", "float", "m/s", "sideways, positive to the left"): lambda ledger: ledger.left_speed,
    Column("yaw_rate", "float", "rad/s", "positive turning left"): lambda ledger: ledger.yaw_rate,
    Column("steer", "float", "", "asked for, -1 to 1, positive to the left"): lambda ledger: ledger.steer,
    Column("throttle", "float", "", "asked for, -1 to 1"): lambda ledger: ledger.throttle,
    Column("brake", "float", "", "asked for, 0 to 1, more after a reset"): lambda ledger: ledger.brake,
    Column("steer_angle", "float", "rad", "of the steered wheels, positive to the left"): lambda ledger: (
        ledger.steer_angle
    ),
    Column("along", "float", "m", "along the path to the place nearest to the car"): lambda ledger: ledger.along,
    Column("offset", "float", "m", "from the path, positive to the left"): lambda ledger: ledger.offset,
    Column("heading_error", "float", "rad", "yaw less the path's direction"): lambda ledger: ledger.heading_error,
    Column("on_road", "bool", "", "whether the body's origin is above the road"): lambda ledger: ledger.on_road,
    Column("off_road_time", "float", "s", "off the road for so long"): lambda ledger: ledger.off_road_time,
    Column("still_time", "float", "s", "standing for so long"): lambda ledger: ledger.still_time,
    Column("wrong_way_time", "float", "s", "against the path for so long"): lambda ledger: ledger.wrong_way_time,
}
"""From the ledger; nothing where a car is not there."""

_SCORES: Mapping[Column, Callable[[CarLog, Placing], Any]] = {
    Column("lap", "int", "", "the lap that the car is in, 0 before the line"): lambda log, _placing: log.lap,
    Column("laps", "int", "", "laps that count, less those of penalties"): lambda _log, placing: placing.laps,
    Column("place", "int", "", "from 1; 0 for none"): lambda _log, placing: placing.place,
    Column("status", "text", "", "racing, finished, did not finish, did not start or disqualified"): (
        lambda _log, placing: placing.status
    ),
    Column("way", "float", "m", "made along the path since green"): lambda _log, placing: placing.way,
    Column("penalty", "float", "s", "so far"): lambda _log, placing: placing.penalty,
    Column("last_lap", "float", "s", "time of the last finished lap"): (
        lambda log, _placing: log.laps[-1].time if log.laps else None
    ),
    Column("best_lap", "float", "s", "best lap that counts so far"): lambda _log, placing: placing.best_lap,
}
"""From the director; nothing for cars that this run is without."""

_HIT = Column("hit", "text", "", "what the car has newly touched in this frame; nothing if nothing")
_CAR_FLAG = Column("car_flag", "text", "", "flag shown to this car alone: black or chequered")
_PRESENT = Column("present", "bool", "", "whether the car is on the track")

CAR_COLUMNS: tuple[Column, ...] = (_PRESENT, *_READERS, _HIT, *_SCORES, _CAR_FLAG)
"""In this order."""

Values = Mapping[str, Sequence[Any]]
"""By the name of a column: its values, in the order of `RaceWalk.director.entries`; None for nothing."""


def read_cars(walk: RaceWalk) -> Values:
    """Return the values of `CAR_COLUMNS` of all cars in this frame."""
    ledger, director, rows = walk.simulator.ledger, walk.director, list(walk.director.entries)
    present = ledger.present[rows].astype(bool).tolist()
    values: dict[str, Sequence[Any]] = {_PRESENT.name: present}
    for column, read in _READERS.items():
        cells = read(ledger)[rows].tolist()
        values[column.name] = [cell if is_here else None for cell, is_here in zip(cells, present, strict=True)]
    hits = {event.car: int(event.value) for event in walk.events if event.kind == EVENT_HIT}
    values[_HIT.name] = [walk.simulator.name_hit(row, hits[row]) if row in hits else None for row in rows]
    logs = director.run.logs
    for score, weigh in _SCORES.items():
        values[score.name] = [weigh(logs[row], walk.standing[row]) if row in logs else None for row in rows]
    values[_CAR_FLAG.name] = [director.flags.get(row) for row in rows]
    return values
