"""What a car's config says about its simulator, wherever that runs.

`DONKEY_SIM_PATH` says where: "" in this process, a path: in a program that is started, "remote": at SIM_HOST.
"""

import logging
from dataclasses import dataclass, replace
from typing import Any

from donkeysim.car.config import Config
from donkeysim.core.errors import SpecError, describe_unknown
from donkeysim.core.types import PHYSICS_RATE
from donkeysim.drive.look import read_gym_conf
from donkeysim.envs.conf import EnvConf, read_conf
from donkeysim.envs.registration import SCENE_BY_ID
from donkeysim.envs.sensor_frame import SensorFrame, make_distances
from donkeysim.world.telemetry import Telemetry

_log = logging.getLogger("donkeysim.car")

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

SWITCHES = {name: key for key, names in _GROUPS.items() for name in names} | {LIDAR_CHANNEL: "SIM_RECORD_LIDAR"}
"""Which switch of the config turns a channel of the simulator on."""

PLACEHOLDER_PATH = "path to sim"
"""What stands in a new config of the original; nobody has filled it in, so the built-in simulator is meant."""


@dataclass(frozen=True)
class SimulatorSettings:
    """What a car's config says about its simulator.

    Attributes:
        conf: Where the simulator is, the experiment in it, and the car's cameras and lidar.
        rate: Loops per second.
        latency: Age of what the car senses when the loop gets it [s].
        channels: Record channels, name and type in the tub.
    """

    conf: EnvConf
    rate: float
    latency: float
    channels: tuple[tuple[str, str], ...]

    @property
    def scene(self) -> str:
        """Name of the track."""
        return self.conf.experiment.scene.name

    def find_step(self, loop_count: int) -> int:
        """Return the physics step at which a number of loops have passed."""
        return round(loop_count * PHYSICS_RATE / self.rate)

    def list_values(self, moment: SensorFrame) -> tuple[Any, ...]:
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
    """Return the reading behind a record channel; None when the simulator does not report it."""
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
    scene, conf = find_scene(config.DONKEY_GYM_ENV_NAME), _read_gym_conf(config)
    return SimulatorSettings(
        conf=replace(
            conf,
            experiment=replace(conf.experiment.move_to(scene), seed=config.SIM_SEED),
            host=config.SIM_HOST if path == "remote" else None,
            port=config.SIM_PORT if path else None,
            exe_path=path if path not in ("", "remote") else None,
        ),
        rate=float(config.DRIVE_LOOP_HZ),
        latency=config.SIM_ARTIFICIAL_LATENCY / 1000.0,
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
    shape = config.IMAGE_H, config.IMAGE_W, config.IMAGE_DEPTH
    given = _leave_out_size(read_gym_conf(config), shape)
    if isinstance(given.get("cam_config"), dict):
        given["cam_config"] = _leave_out_size(given["cam_config"], shape)
    if config.SIM_RECORD_LIDAR:
        given.setdefault("lidar_config", {})
    return read_conf({**given, "cam_resolution": shape})


def _leave_out_size(table: dict[str, Any], shape: tuple[int, int, int]) -> dict[str, Any]:
    """Return the rest of a table, with a warning if the picture has another size."""
    own = {**dict(zip(("img_h", "img_w", "img_d"), map(str, shape), strict=True)), "cam_resolution": str(shape)}
    for key in own.keys() & table.keys():
        given = table[key]
        if str(tuple(given) if isinstance(given, list) else given) not in (own[key], "0"):
            size = "x".join(own[side] for side in ("img_w", "img_h", "img_d"))
            _log.warning("%s %s in GYM_CONF is left out: IMAGE_W, IMAGE_H and IMAGE_DEPTH say %s.", key, given, size)
    return {key: value for key, value in table.items() if key not in own}
