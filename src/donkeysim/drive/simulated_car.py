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
from typing import TYPE_CHECKING, Any

from donkeysim.core.errors import SpecError, describe_unknown
from donkeysim.core.types import PHYSICS_RATE
from donkeysim.envs.built_in import BuiltInCar
from donkeysim.envs.conf import EnvConf, read_conf
from donkeysim.envs.moment import Moment, make_distances
from donkeysim.envs.registration import SCENE_BY_ID

if TYPE_CHECKING:
    from donkeysim.car.config import Config
    from donkeysim.drive.remote_car import RemoteSimulatedCar
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

STILL_SECONDS = 10.0
"""How often it is said that the car is still getting ready [s]."""

READY_PATIENCE = 0.1
"""How long one loop waits for the simulator to be ready [s]; the loop must stay able to end."""

_log = logging.getLogger("donkeysim.car")


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


def list_record_channels(config: Config) -> tuple[tuple[str, str], ...]:
    """Return the channels that SIM_RECORD_* ask for: name and type in the tub, in the original's order."""
    channels = [(name, "float") for key, names in _GROUPS.items() if getattr(config, key) for name in names]
    if config.SIM_RECORD_LIDAR:
        channels.append((LIDAR_CHANNEL, "nparray"))
    return tuple(channels)


def read_settings(config: Config) -> SimulatorSettings:
    """Return what a car's config says about its simulator.

    Raises:
        SpecError: There is no such environment, or GYM_CONF is not possible.
    """
    path = "" if config.DONKEY_SIM_PATH == PLACEHOLDER_PATH else str(config.DONKEY_SIM_PATH)
    return SimulatorSettings(
        scene=find_scene(config.DONKEY_GYM_ENV_NAME),
        conf=_read_gym_conf(config),
        path="" if path == "remote" else path,
        is_remote=bool(path),
        host=config.SIM_HOST,
        port=config.SIM_PORT,
        rate=float(config.DRIVE_LOOP_HZ),
        latency=config.SIM_ARTIFICIAL_LATENCY / 1000.0,
        seed=config.SIM_SEED,
        channels=list_record_channels(config),
    )


def find_scene(env_name: str) -> str:
    """Return the scene of an environment's id, with or without "donkeysim/" before it; else it is a scene's own name.

    Raises:
        SpecError: It looks like an id, but there is no such id.
    """
    name = env_name.removeprefix("donkeysim/")
    if name not in SCENE_BY_ID and name.startswith("donkey-"):
        raise SpecError(describe_unknown("DONKEY_GYM_ENV_NAME", env_name, SCENE_BY_ID))
    return SCENE_BY_ID.get(name, name)


def _read_gym_conf(config: Config) -> EnvConf:
    """Return GYM_CONF with the picture's size from IMAGE_W, IMAGE_H and IMAGE_DEPTH, which pilots and tubs go by."""
    given = dict(config.GYM_CONF or {})
    given = _leave_out_size(given)
    if isinstance(given.get("cam_config"), dict):
        given["cam_config"] = _leave_out_size(given["cam_config"])
    if config.SIM_RECORD_LIDAR:
        given.setdefault("lidar_config", {})
    return read_conf({**given, "cam_resolution": (config.IMAGE_H, config.IMAGE_W, config.IMAGE_DEPTH)})


def _leave_out_size(table: dict[str, Any]) -> dict[str, Any]:
    sizes = ("img_w", "img_h", "img_d", "cam_resolution")
    return {key: value for key, value in table.items() if key not in sizes}


def make_simulated_car(config: Config) -> BuiltInSimulatedCar | RemoteSimulatedCar:
    """Return the car that a config describes; one whose simulator is another program is on its track already.

    Raises:
        DonkeySimError: The config is not possible, or there is no such simulator.
    """
    from donkeysim.drive.remote_car import RemoteSimulatedCar

    settings = read_settings(config)
    return RemoteSimulatedCar(settings) if settings.is_remote else BuiltInSimulatedCar(settings)


class BuiltInSimulatedCar:
    """A car in this process. The kernels are compiled by a thread of its own, once; until then `run` returns None.

    Attributes:
        threaded: False: the loop makes time pass.
        settings: As the config says.
        car: The car in its simulator; others touch it only while they hold `lock`.
        lock: Held while time passes.
        moment: What it senses now, not late; None before the first loop.
        last_hit: Name of what it touched last since it was reset; "" for nothing.
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
        self.last_hit = ""
        self.loop_done = threading.Condition()
        self.is_ready = threading.Event()
        self._is_first_run = self.car.simulator.must_compile
        self.loading_stage = "compiling kernels" if self._is_first_run else "loading kernels"
        self._begun = time.perf_counter()
        self._tells_at = self._begun + STILL_SECONDS
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
        self.loading_stage = f"{'compiling' if self._is_first_run else 'loading'} kernels, {done} of {total}: {stage}"
        if self._is_first_run:
            _log.info("First run: %s", self.loading_stage)

    def _tell_still(self) -> None:
        """Say now and then that something is going on; a single stage may take a minute."""
        now = time.perf_counter()
        if now >= self._tells_at:
            self._tells_at = now + STILL_SECONDS
            _log.info("Still %s (%.0f s so far)", self.loading_stage, now - self._begun)

    def run(self, steering: float | None, throttle: float | None, reset: bool | None = False) -> tuple[Any, ...] | None:
        """Make one loop's time pass with these controls and return what the car senses; None until it can drive.

        Args:
            steering: -1 to 1, + = right.
            throttle: -1 to 1.
            reset: Put the car back to its start first.
        """
        if not self.is_ready.wait(READY_PATIENCE):
            self._tell_still()
            return None
        if self._trouble is not None:
            raise self._trouble
        with self.lock:
            if reset or self._reset_wanted:
                self._reset_wanted = False
                self.car.reset()
                self.last_hit = ""
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
            moment = self.car.observe()
            if moment.telemetry.hit != "none":
                self.last_hit = moment.telemetry.hit
            self._sensed.append(moment)
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
