"""The reports that our own page gets about ten times a second, beside the messages of the original."""

from collections.abc import Sequence

import msgspec

from donkeysim.drive.control_state import Tick
from donkeysim.drive.look import Look, Traveller
from donkeysim.world.telemetry import Telemetry
from donkeysim.world.tracks.catalogue import group_scenes, shorten_scene_name

RECENT_LAPS = 6
"""Lap times that are sent."""


class CarReport(msgspec.Struct):
    """The car at one moment; + = right.

    Attributes:
        mode: Who drives.
        recording: Whether records are written.
        num_records: Records written so far; null before the first.
        user: Angle and throttle as the user wants them.
        car: Angle and throttle as the car got them; null without telemetry.
        speed: [m/s].
        cte: Distance to the path [U], + = right of it; null: unknown.
        on_road: Whether the car's centre is on the road.
        hit: What the car touched last since it was reset, "" nothing.
        lap: Start-line crossings since the last reset.
        lap_times: The newest [s], oldest first.
        lap_count: How many laps were finished.
        best_lap: The shortest of all [s]; null before the first.
        rate: Loops per second.
        latency: From the picture to the control [s].
        pilot: File name of the chosen pilot, "" none.
        pilots: All that can be chosen.
        place: Where the car drives; "" in the simulator's menu.
        places: Where it could drive; none where it cannot be sent elsewhere.
        place_groups: The same by whose design they are, see `group_scenes`.
        pilot_places: Those that the chosen pilot knows; none: not known, or all.
        is_recorded: Whether this loop is recorded; null: not known.
        num_erased: Records marked as deleted in this drive.
        look: How the car looks; null: not known.
    """

    mode: str
    recording: bool
    num_records: int | None
    user: tuple[float, float]
    car: tuple[float, float] | None
    speed: float | None
    cte: float | None
    on_road: bool | None
    hit: str
    lap: int | None
    lap_times: tuple[float, ...]
    lap_count: int
    best_lap: float | None
    rate: float | None
    latency: float | None
    pilot: str
    pilots: tuple[str, ...]
    place: str
    places: tuple[str, ...]
    place_groups: dict[str, tuple[str, ...]]
    pilot_places: tuple[str, ...]
    is_recorded: bool | None = None
    num_erased: int = 0
    look: Look | None = None


class HitMemory:
    """What the car touched last: telemetry says it in one reading only."""

    def __init__(self) -> None:
        self.hit = ""
        self._reset_count = 0

    def follow(self, telemetry: Telemetry | None) -> str:
        """Take in the next reading and return what was hit last since the car was reset, "" nothing."""
        if telemetry is None:
            return self.hit
        if telemetry.reset_count != self._reset_count:
            self._reset_count, self.hit = telemetry.reset_count, ""
        if telemetry.hit != "none":
            self.hit = telemetry.hit.encode("utf-8", "replace").decode()
        return self.hit


def make_report(
    tick: Tick,
    record_count: int | None,
    telemetry: Telemetry | None,
    lap_times: Sequence[float] | None,
    pace: tuple[float | None, float | None],
    pilots: Sequence[str] | None,
    hit: str,
    traveller: Traveller | None,
    pilot_places: Sequence[str] | None = None,
    is_recorded: bool | None = None,
    erased_count: int | None = None,
) -> CarReport:
    """Return the report of one loop: what drivers want and the car senses, all lap times [s], rate and latency [s]."""
    wish, laps = tick.wish, tuple(lap_times or ())
    places = traveller.places if traveller else ()
    return CarReport(
        mode=wish.mode,
        recording=wish.recording,
        num_records=record_count,
        user=(wish.angle, wish.throttle),
        car=(telemetry.steering_angle, telemetry.throttle) if telemetry else None,
        speed=telemetry.speed if telemetry else None,
        cte=telemetry.cte if telemetry else None,
        on_road=telemetry.on_road if telemetry else None,
        hit=hit,
        lap=telemetry.lap if telemetry else None,
        lap_times=laps[-RECENT_LAPS:],
        lap_count=len(laps),
        best_lap=min(laps, default=None),
        rate=pace[0],
        latency=pace[1],
        pilot=wish.pilot or "",
        pilots=tuple(pilots or ()),
        place=shorten_scene_name(traveller.place) if traveller else "",
        places=places,
        place_groups=group_scenes(places),
        pilot_places=tuple(pilot_places or ()),
        is_recorded=is_recorded,
        num_erased=erased_count or 0,
        look=traveller.look if traveller else None,
    )
