"""Pictures of a running simulation between its moments, drawn beside it while somebody watches.

The thread that steps hands over each moment; another one draws what lies between the last two, one moment late, so
that motion is smooth at any rate of pictures. What steps waits for nothing.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from donkeysim.core.clock import Clock
from donkeysim.core.errors import SceneError
from donkeysim.watch.broadcast import Broadcast
from donkeysim.watch.moments import describe_moment
from donkeysim.watch.picture_cache import RATE, FrameSnapshot, PictureCache, draw_car_view, find_car_view, keep_snapshot

if TYPE_CHECKING:
    from donkeysim.sim.simulator import Simulator

WANTED_SECONDS = 2.0
"""After a question moments are kept for so long [s]."""

# Two or three beats are late now and then on a busy machine; a page that said so each time would flicker.
LIVE_PERIODS = 4.0
"""After how many periods without a new moment there is nothing live to show."""

# A lasting change is followed to nine tenths within 22 moments, about a second at 20 Hz: 1 - 0.9^22 = 0.9.
HASTE = 0.1
"""Of a moment that comes too early or too late, so much changes the rhythm: a single one must not be seen."""

KEPT = 4
"""Moments: the last two, and those of pictures that belong a little earlier."""


class _Frame(NamedTuple):
    """A kept moment: when it is shown in full, how long after the one before [s], and what it is of."""

    time: float
    period: float
    snapshot: FrameSnapshot


class LiveInterpolator:
    """The last moments of a simulator and what lies between.

    Attributes:
        broadcast: Chooses cars and cameras. A race's own, which hears of every frame, may take its place.
    """

    def __init__(self, read_clock: Clock = time.perf_counter) -> None:
        self._read_clock = read_clock
        self._wanted_until = 0.0
        self._frames: tuple[_Frame, ...] = ()
        self._pictures = PictureCache()
        self._own = self.broadcast = Broadcast(wants_cameras=False)
        self._encoded: tuple[_Frame | None, bytes] = (None, b"")

    # -- on the thread that steps -------------------------------------------------------------------------------------

    def note(self, simulator: Simulator, period: float, list_rows: Callable[[], Mapping[int, int]]) -> None:
        """Keep this moment if somebody watches.

        Args:
            period: From one moment to the next [s, wall time].
            list_rows: Returns those of its cars, by the ids under which they are watched; nobody may change them.
        """
        now, frames = self._read_clock(), self._frames
        if now > self._wanted_until:
            self._frames = ()
            return
        due = frames[-1].time + period if frames else now
        shown = now if abs(now - due) > period else due + HASTE * (now - due)
        rows = list_rows()
        if self.broadcast is self._own:
            self._own.note(simulator, rows, None, now)
        frame = _Frame(shown, period, keep_snapshot(simulator, rows, self.broadcast))
        if not frames or frames[-1].snapshot.renderer is not simulator.renderer:
            frames = (frame,)
        self._frames = (*frames[1 - KEPT :], frame)

    def stop(self) -> None:
        """Forget all moments: the scene has ended, or its time is no longer the clock's."""
        self._frames = ()

    # -- on any thread ------------------------------------------------------------------------------------------------

    def want(self) -> bool:
        """Have moments kept for a while, and return whether something is live already."""
        self._wanted_until = self._read_clock() + WANTED_SECONDS
        return self.is_live

    @property
    def is_live(self) -> bool:
        """Whether there are moments, and new ones keep coming."""
        frames = self._frames
        return bool(frames) and self._read_clock() < frames[-1].time + LIVE_PERIODS * frames[-1].period

    def take_picture(self, kind: str, car_id: int, width: int, height: int) -> bytes:
        """Return a view of a car as it was one moment ago, as JPEG.

        Args:
            kind: See `picture_cache.draw_car_view`.
            car_id: Of `note`, or `CHOSEN`; not used for "place".
            width: Columns [pixel].
            height: Rows [pixel].

        Raises:
            SceneError: There is no such car now.
        """
        frames = self._frames
        self.broadcast.wants_cameras |= kind == "tv"
        if not frames:
            raise SceneError(f"there is no car {car_id} now; it has left or the scene has ended.")
        slot = int(self._read_clock() * RATE)
        before, after, share = find_share(frames, slot / RATE)
        view = find_car_view(frames[-1].snapshot, kind, car_id, width, height)
        return self._pictures.take(
            (slot, view), lambda room: draw_car_view(before.snapshot, after.snapshot, share, view, slot / RATE, room)
        )

    def take_moment(self) -> bytes:
        """Return the newest moment, a `PlaceMoment` as JSON, made once for all who ask."""
        frames = self._frames
        if not frames:
            raise SceneError("nothing is kept of this moment; ask again.")
        frame, message = self._encoded
        if frame is not frames[-1]:
            frame = frames[-1]
            message = msgspec.json.encode(describe_moment(frame.snapshot, frame.time, frame.period))
            self._encoded = frame, message
        return message


def find_share(frames: tuple[_Frame, ...], now: float) -> tuple[_Frame, _Frame, float]:
    """Return the two moments between which a time lies, and the share of the way from one to the other."""
    index = max((index for index, frame in enumerate(frames) if frame.time <= now), default=0)
    after = frames[index]
    return frames[max(0, index - 1)], after, min(max((now - after.time) / after.period, 0.0), 1.0)
