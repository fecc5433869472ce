"""The car and its simulator as one part of the vehicle: controls in, picture and readings out.

`DONKEY_SIM_PATH` says where the simulator runs: "" in this process, a path: in a program that is started, "remote": at
SIM_HOST. In this process every loop advances exactly 1 / DRIVE_LOOP_HZ simulated seconds, whatever the clock says, so
the same controls give the same records.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from donkeysim.core.errors import SpecError, describe_unknown
from donkeysim.core.kernel import count_cached_kernels
from donkeysim.core.types import PHYSICS_RATE
from donkeysim.envs.built_in import BuiltInCar
from donkeysim.envs.conf import EnvConf, read_conf
from donkeysim.envs.moment import Moment, make_distances
from donkeysim.envs.registration import SCENE_BY_ID

if TYPE_CHECKING:
    from donkeysim.world.telemetry import Telemetry

_GROUPS = {
    "SIM_RECORD_LOCATION": ("pos/pos_x", "pos/pos_y", "pos/pos_z", "pos/speed", "pos/cte"),
    "SIM_RECORD_GYROACCEL": (
        *("gyro/gyro_x", "gyro/gyro_y", "gyro/gyro_z"),
        *("accel/accel_x", "accel/accel_y", "accel/accel_z"),
    ),
    "SIM_RECORD_VELOCITY": ("vel/vel_x", "vel/vel_y", "vel/vel_z"),
}
"""Channels that each switch of the config records, named after the field of `Telemetry`."""

LIDAR_CHANNEL = "lidar/dist_array"

PLACEHOLDER_PATH = "path to sim"
"""What stands in a new config of the original; nobody has filled it in, so the built-in simulator is meant."""

COMPILING_SECONDS = 3.0
"""Getting ready that takes longer than this compiles something and says so [s]."""

READY_PATIENCE = 0.1
"""How long one loop waits for the simulator to be ready [s]; the loop must stay able to end."""

_log = logging.getLogger("donkeysim.car")


class SimulatedCar(Protocol):
    """What the vehicle needs of a simulated car; see `SimulatorSettings.outputs` for what `run` returns."""

    threaded: bool

    def halt(self) -> None:
        """Make the car stand still; the loop has ended."""

    def shutdown(self) -> None:
        """Let go of the simulator."""


@dataclass(frozen=True)
class SimulatorSettings:
    """What a car's config says about its simulator.

    Attributes:
        scene: Name of the track.
        conf: Car, camera and lidar.
        path: Program to start; "": none.
        is_remote: Whether the simulator is another program.
        host: Where it listens.
        port: On which TCP port.
        rate: Loops per second.
        latency: Age of what the car senses when it is told [s].
        seed: Of every random number.
        channels: Record channels, name and type in the tub.
    """

    scene: str
    conf: EnvConf
    path: str
    is_remote: bool
    host: str
    port: int
    rate: float
    latency: float
    seed: int
    channels: tuple[tuple[str, str], ...]

    def list_values(self, moment: Moment) -> tuple[Any, ...]:
        """Return what a car writes: picture, telemetry, lap times [s], then the record channels."""
        names = [name for name, _ in self.channels]
        values = (
            make_distances(moment.lidar, self.conf.lidar)
            if name == LIDAR_CHANNEL
            else read_field(moment.telemetry, name)
            for name in names
        )
        return (moment.image, moment.telemetry, moment.lap_times, *values)


def read_field(telemetry: Telemetry, channel: str) -> float | None:
    """Return the reading behind a record channel; None when the simulator does not tell it."""
    value: float | None = getattr(telemetry, channel.split("/")[1])
    return None if value is None else float(value)


def list_record_channels(config: Any) -> tuple[tuple[str, str], ...]:
    """Return the channels that SIM_RECORD_* ask for: name and type in the tub, in the original's order."""
    channels = [(name, "float") for key, names in _GROUPS.items() if getattr(config, key, False) for name in names]
    if getattr(config, "SIM_RECORD_LIDAR", False):
        channels.append((LIDAR_CHANNEL, "nparray"))
    return tuple(channels)


def read_settings(config: Any) -> SimulatorSettings:
    """Return what a car's config says about its simulator.

    Raises:
        SpecError: A value is not possible.
    """
    path = str(getattr(config, "DONKEY_SIM_PATH", "") or "")
    path = "" if path == PLACEHOLDER_PATH else path
    rate = _read_number(config, "DRIVE_LOOP_HZ", 20.0, 1.0, float(PHYSICS_RATE))
    return SimulatorSettings(
        scene=find_scene(str(getattr(config, "DONKEY_GYM_ENV_NAME", "donkey-generated-track-v0"))),
        conf=_read_gym_conf(config),
        path="" if path == "remote" else path,
        is_remote=bool(path),
        host=str(getattr(config, "SIM_HOST", "127.0.0.1")),
        port=int(_read_number(config, "SIM_PORT", 9091, 1, 65535)),
        rate=rate,
        latency=_read_number(config, "SIM_ARTIFICIAL_LATENCY", 0.0, 0.0, 10_000.0) / 1000.0,
        seed=int(_read_number(config, "SIM_SEED", 0, 0, float(1 << 62))),
        channels=list_record_channels(config),
    )


def find_scene(env_name: str) -> str:
    """Return the scene of an environment's id, with or without "donkeysim/" before it.

    Raises:
        SpecError: There is no such id.
    """
    name = env_name.removeprefix("donkeysim/")
    if name not in SCENE_BY_ID:
        raise SpecError(describe_unknown("DONKEY_GYM_ENV_NAME", env_name, SCENE_BY_ID))
    return SCENE_BY_ID[name]


def _read_number(config: Any, key: str, default: float, low: float, high: float) -> float:
    value = getattr(config, key, default)
    if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
        raise SpecError(f"{key} is {value!r} in the config; it takes a number from {low:g} to {high:g}.")
    return float(value)


def _read_gym_conf(config: Any) -> EnvConf:
    """Return GYM_CONF with the picture's size from IMAGE_W, IMAGE_H and IMAGE_DEPTH, which pilots and tubs go by."""
    height, width = (
        int(_read_number(config, key, side, 16, 512)) for key, side in (("IMAGE_H", 120), ("IMAGE_W", 160))
    )
    depth = int(_read_number(config, "IMAGE_DEPTH", 3, 1, 3))
    given = dict(getattr(config, "GYM_CONF", None) or {})
    for key in ("img_w", "img_h", "img_d", "cam_resolution"):
        given.pop(key, None)
    if isinstance(given.get("cam_config"), dict):
        camera = {key: value for key, value in given["cam_config"].items() if key not in ("img_w", "img_h", "img_d")}
        given["cam_config"] = camera
    if getattr(config, "SIM_RECORD_LIDAR", False) and "lidar_config" not in given:
        given["lidar_config"] = {}
    return read_conf({**given, "cam_resolution": (height, width, 1 if depth == 1 else 3)})


def make_simulated_car(config: Any) -> BuiltInSimulatedCar:
    """Return the car that a config describes.

    Raises:
        DonkeySimError: The config is not possible, or there is no such simulator.
    """
    settings = read_settings(config)
    return BuiltInSimulatedCar(settings)


class BuiltInSimulatedCar:
    """A car in this process. The kernels are compiled by a thread of its own, once; until then `run` returns None.

    Attributes:
        threaded: False: the loop makes time pass.
        settings: As the config says.
        car: The car in its simulator; others touch it only while they hold `lock`.
        lock: Held while time passes.
        moment: What it senses now, not late; None before the first loop.
        loop_done: Notified after every loop.
        is_ready: Set once the kernels are compiled.
        loading_stage: What is being done until then, one phrase for people.
    """

    threaded = False

    def __init__(self, settings: SimulatorSettings) -> None:
        """Build the track and begin to compile.

        Raises:
            SceneError: There is no such track.
        """
        self.settings = settings
        self.car = BuiltInCar(settings.scene, settings.conf, settings.seed)
        self.lock = threading.Lock()
        self.moment: Moment | None = None
        self.loop_done = threading.Condition()
        self.is_ready = threading.Event()
        self.loading_stage = "compiling kernels"
        self._begun, self._is_cold = time.perf_counter(), count_cached_kernels() == 0
        self._trouble: Exception | None = None
        self._loop_count = self._sensed_count = 0
        self._late_steps = round(settings.latency * PHYSICS_RATE)
        self._sensed: deque[Moment] = deque()
        self._reset_wanted = False
        threading.Thread(target=self._compile, name="compiling", daemon=True).start()

    def _compile(self) -> None:
        try:
            self.car.open(self._tell)
        except Exception as error:  # noqa: BLE001  (whatever it is, the loop must hear of it; see `run`)
            self._trouble = error
        self.is_ready.set()

    def _tell(self, stage: str, done: int, total: int) -> None:
        self.loading_stage = f"compiling kernels, {done} of {total}: {stage}"
        if self._is_cold or time.perf_counter() - self._begun > COMPILING_SECONDS:
            _log.info("First run: %s", self.loading_stage)

    def run(self, steering: float | None, throttle: float | None, reset: bool | None = False) -> tuple[Any, ...] | None:
        """Make one loop's time pass with these controls and return what the car senses; None until it can drive.

        Args:
            steering: -1 to 1, + = right.
            throttle: -1 to 1.
            reset: Put the car back to its start first.
        """
        if not self.is_ready.wait(READY_PATIENCE):
            return None
        if self._trouble is not None:
            raise self._trouble
        with self.lock:
            if reset or self._reset_wanted:
                self._reset_wanted = False
                self.car.reset()
            self.car.drive(steering or 0.0, throttle or 0.0)
            self._advance()
        with self.loop_done:
            self.moment = self._sensed[-1]
            self.loop_done.notify_all()
        return self.settings.list_values(self._sensed.popleft())

    def _advance(self) -> None:
        """Let one loop's time pass, sensing at the moments that will be told, `latency` old, at the ends of loops."""
        now, end = self._find_step(self._loop_count), self._find_step(self._loop_count + 1)
        while (due := self._find_step(self._sensed_count + 1) - self._late_steps) <= end:
            if due > now:
                self.car.advance(due - now)
                now = due
            self._sensed.append(self.car.observe())
            self._sensed_count += 1
        if end > now:
            self.car.advance(end - now)
        self._loop_count += 1

    def _find_step(self, loop_count: int) -> int:
        """Return the physics step at which so many loops have passed."""
        return round(loop_count * PHYSICS_RATE / self.settings.rate)

    def ask_reset(self) -> None:
        """Put the car back to its start at the next loop; may be called from any thread."""
        self._reset_wanted = True

    def halt(self) -> None:
        """Nothing moves without the loop."""

    def shutdown(self) -> None:
        """Stop the simulator's threads."""
        with self.lock:
            self.car.close()
