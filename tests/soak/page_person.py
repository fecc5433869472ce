"""A person at the control page, as a program: sees the car on the watching page, steers through the page's WebSocket.

People know where the road goes, but their hands shake, and a driver who teaches a pilot shows it how to come back: now
and then this one switches recording off, leaves its line, switches recording on again and returns.
"""

from __future__ import annotations

import json
import math
import random
import time
import urllib.request
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field

from websockets.sync.client import connect

PERIOD = 0.03
"""Between two looks at the car [s]; the car moves every 0.05 s, so no reading is missed."""

LOOK_AHEAD = 0.6
"""Distance of the point that is steered to [m]."""

WHEEL_BASE, STEER_MOST = 0.2, 0.279
"""Of the car: between its axles [m]; greatest angle of its wheels [rad]."""

SPEED, HOLDING_THROTTLE, SPEED_FEEDBACK = 1.1, 0.09, 0.2
"""Wanted speed [m/s]; throttle about which it is held; throttle per missing speed [s/m]."""

SHAKE, SHAKE_TIME = 0.06, 0.4
"""Shaking of the hands: standard deviation in steer, and time over which it is like itself [s]."""

SWERVE_EVERY, SWERVE_LONGEST, SWERVE_STEER, SWERVE_OFFSET = 3.5, 0.7, 0.7, 0.16
"""Time between two swerves [s]; longest swerve [s]; steer that is added; distance from the line that ends it [m]."""


@dataclass
class Seen:
    """What the simulator's telemetry said while somebody looked.

    Attributes:
        frames: Numbers of the readings, each once.
        off_road: Readings with the car's centre off the road.
        hits: Names of what was touched.
        cte: Greatest distance from the path [m].
        lap_count: Finished laps.
        lap_times: The last of them [s], oldest first.
        seconds: How long it took [s].
    """

    frames: list[int] = field(default_factory=list)
    off_road: int = 0
    hits: set[str] = field(default_factory=set)
    cte: float = 0.0
    lap_count: int = 0
    lap_times: list[float] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def missed(self) -> int:
        """Readings between the first and the last that nobody saw."""
        return self.frames[-1] - self.frames[0] + 1 - len(self.frames)

    def take(self, readings: dict) -> None:
        """Note one answer of the watching page."""
        telemetry = readings["telemetry"]
        self.lap_count, self.lap_times = readings["lap_count"], readings["lap_times"]
        if self.frames[-1:] == [telemetry["frame"]]:
            return
        self.frames.append(telemetry["frame"])
        self.off_road += not telemetry["on_road"]
        self.hits |= {name for name in (telemetry["hit"], readings["last_hit"]) if name not in ("none", "")}
        self.cte = max(self.cte, abs(telemetry["cte"]) / 8.0)


class Hands:
    """What a person does with the car at one moment."""

    def __init__(self, path: list[tuple[float, float]], seed: int) -> None:
        self._path = path
        self._random = random.Random(seed)
        self._shake = 0.0
        self._swerve, self._swerve_ends, self._next_swerve = 0.0, 0.0, 2.0

    def steer(self, pose: tuple[float, float, float], speed: float, moment: float) -> dict:
        """Return a message of the page for a car at `pose`, x, y [m] and yaw [rad], at a speed [m/s]."""
        keep = math.exp(-PERIOD / SHAKE_TIME)
        self._shake = keep * self._shake + math.sqrt(1.0 - keep * keep) * SHAKE * self._random.gauss(0.0, 1.0)
        nearest = min(range(len(self._path)), key=lambda row: math.dist(self._path[row], pose[:2]))
        angle = aim(pose, self._find_ahead(nearest)) + self._shake + self._decide_swerve(pose, nearest, moment)
        throttle = max(0.0, min(0.5, HOLDING_THROTTLE + SPEED_FEEDBACK * (SPEED - speed)))
        return {
            "angle": max(-1.0, min(1.0, angle)),
            "throttle": throttle,
            "drive_mode": "user",
            "recording": self._swerve == 0.0,
        }

    def _find_ahead(self, row: int) -> tuple[float, float]:
        """Return the point of the path about `LOOK_AHEAD` after a row."""
        left = LOOK_AHEAD
        while True:
            here, after = self._path[row], self._path[(row + 1) % len(self._path)]
            length = math.dist(here, after)
            if length >= left > 0.0:
                share = left / length
                return here[0] + share * (after[0] - here[0]), here[1] + share * (after[1] - here[1])
            left, row = left - length, (row + 1) % len(self._path)

    def _decide_swerve(self, pose: tuple[float, float, float], nearest: int, moment: float) -> float:
        """Return what a swerve adds to the angle; 0 while there is none."""
        offset = math.dist(self._path[nearest], pose[:2])
        if self._swerve and (moment > self._swerve_ends or offset > SWERVE_OFFSET):
            self._swerve, self._next_swerve = 0.0, moment + SWERVE_EVERY * self._random.uniform(0.6, 1.4)
        elif not self._swerve and moment > self._next_swerve:
            self._swerve = self._random.choice((-1.0, 1.0)) * SWERVE_STEER * self._random.uniform(0.6, 1.4)
            self._swerve_ends = moment + SWERVE_LONGEST
        return self._swerve


def aim(pose: tuple[float, float, float], target: tuple[float, float]) -> float:
    """Return the angle of the page, + = right, that leads over a point (pure pursuit)."""
    dx, dy = target[0] - pose[0], target[1] - pose[1]
    aside = math.sin(math.atan2(dy, dx) - pose[2])
    return -math.atan(2.0 * WHEEL_BASE * aside / math.hypot(dx, dy)) / STEER_MOST


class PagePerson:
    """Somebody at the control page of a car at "http://localhost:PORT"; use in a `with` block."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._stack = ExitStack()

    def __enter__(self) -> PagePerson:
        address = self._url.replace("http", "ws", 1)
        with connect(f"{address}/wsDrive?reports=1", proxy=None) as page:
            watching = json.loads(page.recv(20))["about"]["watching"].rstrip("/")
        self._page = self._stack.enter_context(connect(f"{address}/wsDrive", proxy=None))
        state = connect(watching.replace("http", "ws", 1) + "/state", origin=watching, proxy=None)
        self._state = self._stack.enter_context(state)
        self._outline = watching + "/outline"
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def say(self, **wishes: object) -> None:
        """Send one message of the page, and throw away what it told meanwhile."""
        self._page.send(json.dumps(wishes))
        try:
            while True:
                self._page.recv(0)
        except TimeoutError:
            pass

    def look(self) -> tuple[tuple[float, float, float], dict] | None:
        """Return pose and readings of the car; None before it can drive."""
        self._state.send('{"car": 1}')
        answer = json.loads(self._state.recv(20))
        return (answer["cars"][0]["pose"], answer["readings"]) if answer["readings"] else None

    def wait_until_ready(self, seconds: float = 300.0) -> None:
        """Wait until the car can drive; it compiles its kernels at the first start."""
        deadline = time.monotonic() + seconds
        while self.look() is None:
            assert time.monotonic() < deadline, "the car never became ready"
            time.sleep(0.2)

    def read_path(self) -> list[tuple[float, float]]:
        """Return the path [m]."""
        with urllib.request.urlopen(self._outline, timeout=20) as answer:
            return [(x, y) for x, y in json.load(answer)["path"]]

    def drive(self, lap_count: int, seed: int = 0) -> Seen:
        """Drive and record so many laps, then stop both."""
        hands = Hands(self.read_path(), seed)
        seen = self._watch(lap_count, lambda pose, speed, moment: self.say(**hands.steer(pose, speed, moment)))
        self.say(angle=0.0, throttle=0.0, recording=False)
        return seen

    def let_pilot_drive(self, lap_count: int) -> Seen:
        """Press Local Pilot, watch so many laps, and take over again."""
        self.say(drive_mode="local")
        seen = self._watch(lap_count, lambda *_: None)
        self.say(drive_mode="user", angle=0.0, throttle=0.0)
        return seen

    def measure_pilot(self, seconds: float) -> float:
        """Press Local Pilot for so long; return how far the car came meanwhile, as the crow flies [m]."""
        begin, _ = self.look()
        self.say(drive_mode="local")
        time.sleep(seconds)
        end, _ = self.look()
        return math.dist(begin[:2], end[:2])

    def _watch(self, lap_count: int, act: Callable[[tuple[float, float, float], float, float], None]) -> Seen:
        """Look at the car and act until it has finished so many laps since its start; 60 s a lap are enough."""
        seen, begin = Seen(), time.monotonic()
        while seen.lap_count < lap_count:
            pose, readings = self.look()
            seen.take(readings)
            moment = time.monotonic() - begin
            act(pose, readings["telemetry"]["speed"], moment)
            assert moment < 60.0 * lap_count, f"{lap_count} laps take too long: {seen}"
            time.sleep(PERIOD)
        seen.seconds = time.monotonic() - begin
        return seen
