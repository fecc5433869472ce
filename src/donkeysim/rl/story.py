"""What the page of learning shows: how things stand after each update, and what was added since a page asked."""

import secrets
import threading
from collections import deque
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

import msgspec
import numpy as np

from donkeysim.core.types import FloatArray
from donkeysim.rl.curve import CurvePoint, CurveTracer
from donkeysim.rl.progress import Update
from donkeysim.watch.watchable import Outline
from donkeysim.web.page import Bell

MOST_POINTS = 2000
"""Of the curve that a page gets at once; of a longer one it gets every second, third … point."""

MARKED_UPDATES = 600
"""How many updates' ends the map shows."""

Ending = Literal["learnt", "time_up", "stopped"]
"""The policy passed its checks; there was no time left; somebody stopped it."""


@dataclass(frozen=True)
class TrainingSummary:
    """How learning ended, and what to do next: command lines as they are typed in a terminal; "": none.

    Attributes:
        ending: Why it ended.
        pilot: Path of the pilot's file; "": there is none.
        report: Path of the report; "": there is none.
        drive: Drives a car with the pilot.
        evaluate: Lets it drive laps and judges them.
        resume: Resumes learning.
    """

    ending: Ending
    pilot: str = ""
    report: str = ""
    drive: str = ""
    evaluate: str = ""
    resume: str = ""


class NewsRequest(msgspec.Struct, forbid_unknown_fields=True):
    """What a page knows: of which learning, and up to which number; -1: nothing."""

    learning: str
    number: int


class TrackMap(msgspec.Struct):
    """A track and its ground plan."""

    name: str
    outline: Outline


class PolicyView(msgspec.Struct):
    """What a policy saw, grey values row by row, and what it did then."""

    width: int
    height: int
    grey: bytes
    steering: float
    throttle: float


class News(msgspec.Struct):
    """How things stand, and what was added since what a page knew.

    Attributes:
        learning: Which; another one begins with another program.
        number: Of these news.
        time_limit: After how many seconds learning ends at the latest.
        point: The newest figures; None before the first.
        curve: Further points: seconds, steps, reward, speed, ends.
        checked: Further checks: seconds, mean speed, whether all was passed.
        ended: Further ends of episodes: after how many steps, index of the place, x, y [m].
        sight: The newest.
        checks: The last ones: the fields of each `Check`, and whether it `is_passed`.
        outcome: How learning ended; None: it lasts.
    """

    learning: str
    number: int
    time_limit: float
    point: CurvePoint | None
    curve: list[tuple[Any, ...]]
    checked: list[tuple[float, float, bool]]
    ended: list[tuple[float, ...]]
    sight: PolicyView | None
    checks: list[dict[str, Any]]
    outcome: TrainingSummary | None


class Story:
    """What the pages show of one training; it grows on one thread and is read on another."""

    def __init__(self, history: Sequence[CurvePoint] = ()) -> None:
        """Begin with the points of earlier sessions."""
        self.name = secrets.token_hex(8)
        self.number = len(history)
        self.is_closed = False
        self._lock = threading.Lock()
        self.bell = Bell()
        self._tracer = CurveTracer()
        self._points = list(history)
        self._ended: deque[tuple[int, int, FloatArray]] = deque(maxlen=MARKED_UPDATES)
        self._newest: Update | None = None
        self._outcome: TrainingSummary | None = None

    def add(self, update: Update) -> None:
        """Take an update; called by the thread that learns, so nothing is worked out here."""
        kept = replace(update, picture=update.picture.copy(), ended_at=np.array(update.ended_at))
        with self._lock:
            self.number += 1
            self._points.append(self._tracer.trace(kept))
            self._newest = kept
            if len(kept.ended_at):
                self._ended.append((self.number, kept.steps, kept.ended_at))
        self.bell.ring()

    def finish(self, outcome: TrainingSummary) -> None:
        """Take how it ended."""
        with self._lock:
            self.number += 1
            self._outcome = outcome
        self.bell.ring()

    def close(self) -> None:
        """Send no more; whoever still waits for news is to go."""
        self.is_closed = True
        self.bell.ring()

    def describe(self, known: NewsRequest) -> News:
        """Return the news for a page that knows something already."""
        since = max(known.number, 0) if known.learning == self.name else 0
        with self._lock:
            number, points, newest, outcome = self.number, self._points[since:], self._newest, self._outcome
            last = self._points[-1] if self._points else None
            ended = [entry for entry in self._ended if entry[0] > since]
        tested = [point for point in points if point.checks]
        return News(
            learning=self.name,
            number=number,
            time_limit=newest.time_limit if newest else 0.0,
            point=last,
            curve=[_list_figures(point) for point in thin(points, MOST_POINTS)],
            checked=[_sum_up(point) for point in tested],
            ended=[(steps, *row) for _, steps, rows in ended for row in np.round(rows, 2).tolist()],
            sight=_show_sight(newest) if newest else None,
            checks=[{**asdict(check), "is_passed": check.is_passed} for check in newest.checks] if newest else [],
            outcome=outcome,
        )


def thin(points: Sequence[CurvePoint], most: int) -> Sequence[CurvePoint]:
    """Return points at even distances, at most `most`, with the last among them."""
    step = -(-len(points) // most) or 1
    return points[(len(points) - 1) % step :: step] if points else points


def _list_figures(point: CurvePoint) -> tuple[Any, ...]:
    figures = (point.reward, point.speed, point.ends)
    return (round(point.seconds, 1), point.steps, *(None if value is None else round(value, 4) for value in figures))


def _sum_up(point: CurvePoint) -> tuple[float, float, bool]:
    speed = sum(check.speed for check in point.checks) / len(point.checks)
    return (round(point.seconds, 1), speed, all(check.is_passed for check in point.checks))


def _show_sight(update: Update) -> PolicyView:
    height, width = update.picture.shape
    steering, throttle = update.action
    return PolicyView(width, height, update.picture.tobytes(), steering, throttle)
