"""What clients' pictures and scans may cost: how large cameras may be, who is drawn in the beat, and who beside it.

A beat has little time, and everybody's time waits for its end. So a client whose pictures and scans take more than its
share is drawn beside the beat, on threads of its own kind, and hears as often as these are ready; see
`telemetry_scheduler`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from donkeysim.core.clock import Clock
from donkeysim.core.errors import CapacityError
from donkeysim.serve.output import Output
from donkeysim.sim.commands import SetCamera
from donkeysim.world.specs import CameraSpec, LidarSpec

if TYPE_CHECKING:
    from donkeysim.sim.simulator import Simulator

MOST_PIXELS = 1 << 26
"""Of all cameras of all clients together, eight of 3840x2160: some 400 MB."""

MOST_TGA_PIXELS = 1280 * 720
"""TGA is not compressed: the text of a larger file would keep the event loop from everybody for too long."""

LIGHT_SECONDS = 0.001
"""A client whose telemetry should take no longer is drawn in the beat, whatever is measured [s]."""

# 5 ms at 20 Hz: a picture of 160x120 takes some 0.2 ms, so only large ones are drawn beside the beat.
OWN_SHARE = 0.1
"""Of a beat's length, for one other client."""

# 10 ms at 20 Hz, beside which physics, telemetry and the event loop have 40.
COMMON_SHARE = 0.2
"""Of a beat's length, for all others together."""

# Costs vary from beat to beat: with a narrower gap a client would go to and fro.
RETURN_SHARE = 0.7
"""A client comes back into the beat when it takes less than this of what it may."""

PIXEL_SECONDS = {"JPG": 1e-8, "PNG": 4e-8, "TGA": 1.5e-8}
"""What drawing and encoding a pixel should take, before it has been measured [s]."""

RAY_SECONDS = 1.5e-6
"""The same of a lidar's ray."""

# The first pictures of a size take longer: memory is made for them.
LEAST_PICTURES = 5
"""After how many pictures the rate that a client gets is known."""

RETELL_SECONDS = 5.0
"""Least time between two reports of its rate to a client [s]."""

Sensors = tuple[CameraSpec | None, CameraSpec | None, LidarSpec | None]
"""First and second camera and lidar, None for those that are off."""


@dataclass
class CostAccount:
    """What one car's sensors cost, and how often its client hears.

    Attributes:
        client_id: Whose car it is.
        sensors: What it carries.
        seconds: What a telemetry takes, on average.
        is_light: Whether that should be so little that it is not measured.
        is_apart: Whether it is drawn beside the beat.
        late_count: In how many beats, one after the other, there was no room for it.
        used: How much drawing beside the beat it has had, for fair turns [s].
        work: Its telemetry that is being drawn beside the beat.
        due: When that should be ready [s].
        held: What its client gets after that.
    """

    client_id: int
    sensors: Sensors
    seconds: float = 0.0
    is_light: bool = True
    is_apart: bool = False
    late_count: int = 0
    used: float = 0.0
    work: Future[tuple[bytes | None, float]] | None = None
    due: float = 0.0
    held: list[Output] = field(default_factory=list)
    _sent_count: int = 0
    _sent_time: float = 0.0
    _gap: float = 0.0
    _told_rate: float = math.inf
    _told_time: float = -math.inf

    def equip(self, sensors: Sensors) -> None:
        """Begin anew with other sensors."""
        self.sensors = sensors
        self.seconds = sum(_expect_seconds(sensors))
        self.is_light = self.seconds <= LIGHT_SECONDS
        self.is_apart = False
        self._told_rate = math.inf
        self.forget_rate()

    def forget_rate(self) -> None:
        """Count anew how often telemetries are sent."""
        self._sent_count = 0

    def fits(self, room: Clock | None) -> bool:
        """Return whether there is room in the beat for a telemetry, or for what drawing beside it begins with."""
        has_room = room is None or room() >= (LIGHT_SECONDS if self.is_apart else self.seconds)
        self.late_count = 0 if has_room else self.late_count + 1
        return has_room

    def note_cost(self, seconds: float) -> None:
        """Take note of what a telemetry has taken: more counts sooner than less."""
        self.seconds += (0.5 if seconds > self.seconds else 0.3) * (seconds - self.seconds)

    def note_sent(self, now: float) -> None:
        """Take note that a telemetry is sent."""
        gap = now - self._sent_time
        self._gap = gap if self._sent_count < 2 else 0.7 * self._gap + 0.3 * gap
        self._sent_time = now
        self._sent_count += 1

    def find_news(self, now: float, full_rate: float) -> str:
        """Return what the client should know of its rate, one sentence; "" where it knows, or gets nearly all."""
        if self._sent_count < LEAST_PICTURES or now - self._told_time < RETELL_SECONDS or not self._gap:
            return ""
        rate, known = 1.0 / self._gap, min(self._told_rate, full_rate)
        if 0.5 * known < rate < 2.0 * known and not (self._told_rate == math.inf and rate < 0.8 * full_rate):
            return ""
        self._told_rate, self._told_time = rate, now
        often = f"{rate:.0f} a second" if rate >= 1.5 else f"one every {self._gap:.1f} s"
        return f"{_describe_cost(self.sensors, self.seconds)}; you get about {often}; other clients are not slowed."


def choose_apart(accounts: Iterable[CostAccount], beat_seconds: float) -> None:
    """Say who is drawn beside the beat: those that take more than a share, or no longer fit in, the cheapest first."""
    left = COMMON_SHARE * beat_seconds
    for account in sorted(accounts, key=lambda account: account.seconds):
        share = min(OWN_SHARE * beat_seconds, left)
        account.is_apart = account.seconds > (RETURN_SHARE * share if account.is_apart else share)
        if not account.is_apart:
            left -= account.seconds


def limit_camera(simulator: Simulator, command: SetCamera) -> tuple[SetCamera, str]:
    """Return the command for a car's camera as it may be, and what had to be changed, "" for nothing.

    Raises:
        CapacityError: The cameras of all cars would have too many pixels.
    """
    camera, (row,) = command.camera, command.rows
    if camera is None:
        return command, ""
    taken = sum(
        _count_pixels(simulator.get_camera(car, second))
        for car in simulator.list_cars()
        for second in (False, True)
        if (car, second) != (row, command.second)
    )
    size = f"{camera.width}x{camera.row_count}"
    if taken + _count_pixels(camera) > MOST_PIXELS:
        raise CapacityError(
            f"a picture of {size} does not fit; all cameras have {MOST_PIXELS} pixels together, of which others take "
            f"{taken}. Ask for a smaller one; yours stays as it was."
        )
    if camera.encoding == "TGA" and _count_pixels(camera) > MOST_TGA_PIXELS:
        note = f"img_enc TGA was changed to PNG for a picture of {size}; TGA takes up to {MOST_TGA_PIXELS} pixels."
        return SetCamera(command.rows, replace(camera, encoding="PNG"), command.second), note
    return command, ""


def _count_pixels(camera: CameraSpec | None) -> int:
    return 0 if camera is None else camera.width * camera.row_count


def _expect_seconds(sensors: Sensors) -> tuple[float, float, float]:
    """Return what each sensor should take [s]."""
    first, second, lidar = sensors
    rays = 0 if lidar is None else lidar.ray_count * lidar.level_count
    one, two = (0.0 if part is None else PIXEL_SECONDS[part.encoding] * _count_pixels(part) for part in (first, second))
    return one, two, RAY_SECONDS * rays


def _name_sensor(sensor: CameraSpec | LidarSpec) -> str:
    if isinstance(sensor, CameraSpec):
        return f"a picture of {sensor.width}x{sensor.row_count}"
    return f"a scan of {sensor.ray_count * sensor.level_count} rays"


def _describe_cost(sensors: Sensors, seconds: float) -> str:
    """Return what takes how long, after the message that asked for it."""
    expected = _expect_seconds(sensors)
    names = ["" if part is None else _name_sensor(part) for part in sensors]
    parts = [name for name, share in zip(names, expected, strict=True) if share > 0.1 * sum(expected)]
    message = ("cam_config", "cam_config_b", "lidar_config")[expected.index(max(expected))]
    return f"{message}: {' and '.join(parts)} take{'s' * (len(parts) == 1)} {1000 * seconds:.0f} ms"
