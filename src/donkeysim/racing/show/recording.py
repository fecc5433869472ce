"""All moments of a race, kept while it is driven: any of them, and what lies between two, can be shown again.

One thread steps the simulator and notes each frame; pictures are drawn on the threads that ask.
A whole race takes little memory: cars in single precision, props when they move, looks when they change.
"""

from __future__ import annotations

import threading
import zlib
from bisect import bisect_right
from collections import Counter
from collections.abc import Mapping
from typing import NamedTuple

import msgspec
import numpy as np

from donkeysim.core.errors import SceneError
from donkeysim.core.rotation import find_yaws
from donkeysim.core.types import Float32Array, FloatArray, IntArray
from donkeysim.racing.rules.classification import FINISHED, RACING
from donkeysim.racing.show.race_view import RaceView, TimeLine, TowerLine
from donkeysim.render.camera import WORN
from donkeysim.render.moment import Moment, blend_moments
from donkeysim.render.tables import PictureTables, PoseTables
from donkeysim.sim.simulator import Simulator
from donkeysim.watch.broadcast import Broadcast, Cuts
from donkeysim.watch.moments import describe_still
from donkeysim.watch.picture_cache import RATE, FrameSnapshot, PictureCache, draw_car_view, find_car_view, keep_snapshot
from donkeysim.watch.watchable import CarRow
from donkeysim.world.scene import Scene
from donkeysim.world.specs import CarSpec

VIEW_SECONDS = 0.2
"""Between two kept views of the race [s]; its clock is advanced in between."""

MOST_FRAMES, MOST_BYTES = 2 * 3600 * 20, 600_000_000
"""Two hours at 20 a second, less of very many cars; of a longer time line the first tenth is forgotten."""


# Enough for a cut to the car and a look at what became of it.
NEWS_SECONDS = 6.0
"""An incident is news for so long [s]."""

# A car that hits the same wall every fifteen seconds would be watched all the time.
HOPE_SECONDS, MOST_TROUBLES, HOPELESS = 60.0, 4, 0.01
"""A car with more incidents than that in so long a time [s] is news no more, and worth so little."""

# The gap within which the following car may attack, as in motor sport's rules for it.
FIGHT_SECONDS = 1.0
"""Who follows another within this time fights for its place [s]."""

_NOTHING = "nothing of the race is kept yet; ask again in a moment."

CAR_FIELDS = (
    ("present", 1),
    ("position", 3),
    ("orientation", 4),
    ("steer_angle", 1),
    ("wheel_angle", 4),
    ("wheel_extension", 4),
)
"""Columns of a packed car, the first fields of `PoseTables`; the position is kept to within some micrometres."""


class _Epoch(NamedTuple):
    """What does not change from moment to moment, and from which frame on it is so."""

    first: int
    snapshot: FrameSnapshot
    tables: PictureTables
    props: PropTracks


class _Frame(NamedTuple):
    """What does: see `kept_moments.pack_cars`, and `Cuts`."""

    at: float
    cars: Float32Array
    camera: IntArray
    chosen: int


class RaceRecording:
    """Keeps a race; `begin` and `note` belong to the thread that steps, the rest to any."""

    def __init__(self) -> None:
        self.broadcast = Broadcast()
        self._pictures = PictureCache()
        self._lock = threading.Lock()
        self.begin()

    # -- on the thread that steps -------------------------------------------------------------------------------------

    def begin(self) -> None:
        """Forget what was before: another race begins, at 0 s."""
        with self._lock:
            self._ats: list[float] = []
            self._frames: list[_Frame] = []
            self._forgotten = 0
            self._epochs: list[_Epoch] = []
            self._views: list[tuple[float, bytes]] = []
            self._latest: RaceView | None = None
            self._ids: dict[int, int] = {}
            self._is_live = True

    def finish(self) -> None:
        """Nothing more comes."""
        self._is_live = False

    def note(
        self, simulator: Simulator, rows: Mapping[int, int], view: RaceView | None, at: float | None = None
    ) -> None:
        """Keep a moment.

        Args:
            rows: The cars, by the ids under which they are watched; nobody may change them.
            view: The race; None: there is none.
            at: On the time line [s]; None: what the view says.
        """
        at = view.at if view is not None else at
        assert at is not None, "the one or the other says it"
        if self._ats and at <= self._ats[-1]:  # time is held
            self._latest = self._name_chosen(view)
            return
        cuts = self.broadcast.note(simulator, rows, None if view is None else rate_cars(view, at), at)
        self._ids = {row: car_id for car_id, row in rows.items()}
        view = self._name_chosen(view)
        kept = keep_snapshot(simulator, rows, self.broadcast)
        with self._lock:
            number = self._forgotten + len(self._frames)
            self._note_epoch(number, kept)
            self._frames.append(_Frame(at, pack_cars(kept.moment.poses), cuts.camera, cuts.chosen))
            self._ats.append(at)
            self._latest = view
            self._keep_view(view, at)
            count = len(self._frames)
            if count > MOST_FRAMES or count * self._frames[-1].cars.nbytes > MOST_BYTES:
                self._forget(count // 10 + 1)

    @property
    def on_air(self) -> int:
        """The car that the director of pictures shows now; -1: none."""
        return self._ids.get(self.broadcast.cuts.chosen, -1)

    def _name_chosen(self, view: RaceView | None) -> RaceView | None:
        return None if view is None else msgspec.structs.replace(view, on_air=self.on_air)

    def _note_epoch(self, number: int, now: FrameSnapshot) -> None:
        moment, rows = now.moment, now.rows
        last = self._epochs[-1] if self._epochs else None
        if last is not None and last.snapshot.renderer is now.renderer:
            tables, props = share_tables(last.tables, moment.tables), last.props
            props.append(number, moment.poses)
            if (
                tables is last.tables
                and rows == last.snapshot.rows
                and now.cameras == last.snapshot.cameras
                and now.beside is last.snapshot.beside
            ):
                return
        else:
            tables, props = moment.tables, PropTracks(moment.poses)
        snapshot = now._replace(moment=Moment(tables, moment.poses), rows=dict(rows))
        self._epochs.append(_Epoch(number, snapshot, tables, props))

    def _keep_view(self, view: RaceView | None, at: float) -> None:
        """Keep a view now and then, without its marks: they are those of the latest."""
        if view is None or (self._views and at - self._views[-1][0] < VIEW_SECONDS - 1e-9):
            return
        small = msgspec.structs.replace(view, marks=())
        self._views.append((at, zlib.compress(msgspec.msgpack.encode(small), 1)))

    def _forget(self, count: int) -> None:
        del self._frames[:count], self._ats[:count]
        self._forgotten += count
        del self._views[: max(0, bisect_right(self._views, self._ats[0], key=lambda kept: kept[0]) - 1)]

    # -- on any thread ------------------------------------------------------------------------------------------------

    def time_line(self) -> TimeLine | None:
        """Return what can be shown; None: nothing yet."""
        with self._lock:
            return TimeLine(self._ats[0], self._ats[-1], self._is_live) if self._ats else None

    def find_view(self, at: float | None) -> RaceView | None:
        """Return the race at a moment [s], None: now; its marks are all that are known now, also later ones."""
        with self._lock:
            latest = self._latest
            if latest is None or at is None or not self._views or at >= self._ats[-1]:
                return latest
            kept = self._views[max(0, bisect_right(self._views, at, key=lambda kept: kept[0]) - 1)][1]
        view = msgspec.msgpack.decode(zlib.decompress(kept), type=RaceView)
        passed = max(0.0, at - view.at)
        clock = None if view.clock is None or view.is_over else view.clock + passed
        return msgspec.structs.replace(
            view, at=view.at + passed, clock=view.clock if view.is_over else clock, marks=latest.marks
        )

    def list_cars(self, at: float | None = None) -> list[CarRow]:
        """Return the cars on the track at a moment [s], None: the last one."""
        try:
            before, after, share = self._find(at)
        except SceneError:
            return []
        poses = blend_moments(before.moment, after.moment, share).poses
        yaw = find_yaws(poses.orientation)
        return [
            CarRow(
                car_id=car_id,
                name=after.bodies[row].name,
                style=after.bodies[row].style,
                colour=after.bodies[row].colour,
                is_pace_car=False,
                telemetry=None,
                pose=(float(poses.position[row, 0]), float(poses.position[row, 1]), float(yaw[row])),
            )
            for car_id, row in after.rows.items()
            if poses.present[row]
        ]

    def take_moment(self, at: float | None = None) -> bytes:
        """Return where everything is at a moment [s], None: the last one; a `PlaceMoment` as JSON.

        Raises:
            SceneError: Nothing is kept.
        """
        before, after, share = self._find(at)
        return describe_still(after._replace(moment=blend_moments(before.moment, after.moment, share)))

    def find_place(self) -> tuple[Scene, CarSpec]:
        """Return where the race is, and the kind of its cars.

        Raises:
            SceneError: Nothing is kept.
        """
        _, newest, _ = self._find(None)
        return newest.scene, newest.car

    def take_picture(self, kind: str, car_id: int, width: int, height: int, at: float | None = None) -> bytes:
        """Return a view of a car as JPEG.

        Args:
            kind: See `picture_cache.draw_car_view`.
            car_id: Of `note`, or `CHOSEN`; not used for "place".
            width: Columns [pixel].
            height: Rows [pixel].
            at: At which moment, the nearest that there is [s]; None: the last one.

        Raises:
            SceneError: There is no such car then.
        """
        line = self.time_line()
        if line is None:
            raise SceneError(_NOTHING)
        slot = round(min(max(line.end if at is None else at, line.begin), line.end) * RATE)
        before, after, share = self._find(slot / RATE)
        view = find_car_view(after, kind, car_id, width, height)
        key = id(after.renderer), slot, view
        return self._pictures.take(key, lambda room: draw_car_view(before, after, share, view, slot / RATE, room))

    def _find(self, at: float | None) -> tuple[FrameSnapshot, FrameSnapshot, float]:
        """Return the moments around one, and the share of the way between them.

        Raises:
            SceneError: Nothing is kept.
        """
        with self._lock:
            if not self._frames:
                raise SceneError(_NOTHING)
            index = len(self._ats) - 1 if at is None else min(bisect_right(self._ats, at), len(self._ats) - 1)
            after, before = self._frames[index], self._frames[max(0, index - 1)]
            number = self._forgotten + index
            epochs = self._epochs
            epoch = epochs[max(0, bisect_right(epochs, number, key=lambda epoch: epoch.first) - 1)]
            props = epoch.props.find(number), epoch.props.find(max(number - 1, 0))
        later = _make_snapshot(epoch, after, props[0])
        if len(before.cars) != len(after.cars) or after is before:
            return later, later, 1.0
        passed = 1.0 if at is None else (at - before.at) / (after.at - before.at)
        return _make_snapshot(epoch, before, props[1]), later, min(max(passed, 0.0), 1.0)


def _make_snapshot(epoch: _Epoch, frame: _Frame, props: np.ndarray) -> FrameSnapshot:
    moment = Moment(epoch.tables, unpack_poses(frame.cars, props))
    return epoch.snapshot._replace(moment=moment, cuts=Cuts(frame.camera, frame.chosen))


def rate_cars(view: RaceView, at: float) -> dict[int, float] | None:
    """Return how much each car is worth watching: news before fights before the leader; None: nobody is there."""
    if not view.tower:
        return None
    recent = [mark for mark in view.marks if mark.number and not mark.is_undone and 0.0 <= at - mark.at < HOPE_SECONDS]
    counts = Counter(mark.car for mark in recent)
    news = {mark.car: 3.0 - (at - mark.at) / NEWS_SECONDS for mark in recent if at - mark.at < NEWS_SECONDS}
    return {
        line.row: HOPELESS
        if counts[line.car] > MOST_TROUBLES
        else max(news.get(line.car, 0.0), _rate_line(line, index))
        for index, line in enumerate(view.tower)
        if line.car >= 0
    }


def _rate_line(line: TowerLine, index: int) -> float:
    if line.status not in (RACING, FINISHED):
        return 0.0
    standing = 0.5 / (1.0 + index)
    is_fighting = line.status == RACING and line.interval is not None and line.interval < FIGHT_SECONDS
    return 1.0 + standing + FIGHT_SECONDS - line.interval if is_fighting and line.interval is not None else standing


class PropTracks:
    """Where props have been: of each the moments after which it had moved."""

    def __init__(self, poses: PoseTables) -> None:
        """Begin with a moment."""
        self._last = self._first = _join_props(poses)
        self._moved: dict[int, tuple[list[int], list[Float32Array]]] = {}

    def append(self, number: int, poses: PoseTables) -> None:
        """Note where they are at a moment; numbers rise."""
        now = _join_props(poses)
        for prop in np.flatnonzero((now != self._last).any(axis=1)).tolist():
            numbers, places = self._moved.setdefault(prop, ([], []))
            numbers.append(number)
            places.append(now[prop].copy())
        self._last = now

    def find(self, number: int) -> FloatArray:
        """Return position and orientation of all at a moment, shape [prop_count, 7]."""
        found = self._first.astype(np.float64)
        for prop, (numbers, places) in self._moved.items():
            index = bisect_right(numbers, number) - 1
            if index >= 0:
                found[prop] = places[index]
        return found


def share_tables(before: PictureTables, now: PictureTables) -> PictureTables:
    """Return the earlier tables where both say the same, else the later ones."""
    is_same = all(
        getattr(before, name) is getattr(now, name)
        or (name in WORN and np.array_equal(getattr(before, name), getattr(now, name)))
        for name in now._fields
    )
    return before if is_same else now


def pack_cars(poses: PoseTables) -> Float32Array:
    """Return all cars of a moment, shape [car_count, columns of `CAR_FIELDS`]."""
    parts = [getattr(poses, name).reshape(len(poses.present), -1) for name, _ in CAR_FIELDS]
    return np.concatenate(parts, axis=1, dtype=np.float32, casting="unsafe")


def unpack_poses(cars: Float32Array, props: FloatArray) -> PoseTables:
    """Return a moment's poses from what `pack_cars` and `PropTracks.find` gave."""
    fields, begin = [], 0
    for name, width in CAR_FIELDS:
        column = cars[:, begin] if width == 1 else cars[:, begin : begin + width]
        fields.append(np.ascontiguousarray(column, np.uint8 if name == "present" else np.float64))
        begin += width
    return PoseTables._make([*fields, np.ascontiguousarray(props[:, :3]), np.ascontiguousarray(props[:, 3:])])


def _join_props(poses: PoseTables) -> Float32Array:
    return np.concatenate([poses.prop_position, poses.prop_orientation], axis=1, dtype=np.float32)
