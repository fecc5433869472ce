"""What users ask of a car on a track: the keys of the original's `conf`, checked, and as messages of the wire.

A server is sent the messages as they are; the built-in simulator reads the very same ones, so both mean the same.
"""

import dataclasses
import logging
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from donkeysim.core.errors import SpecError, WireError, describe_unknown, is_slip, shorten
from donkeysim.envs.conf_messages import (
    CAMERA_DEFAULTS,
    CAR_KEYS,
    ROAD_KEYS,
    Message,
    check_message,
    make_camera_message,
    make_car_message,
    make_road_message,
    read_switch,
)
from donkeysim.wire.equipment import ConfigureLidar
from donkeysim.wire.fields import Form
from donkeysim.wire.reading import read_request
from donkeysim.world.experiment import Experiment
from donkeysim.world.lens import LARGEST_PICTURE, SMALLEST_SIDE
from donkeysim.world.randomization import read_randomization
from donkeysim.world.specs import NO_CHALLENGES, ChallengeSpec, LidarSpec, SceneSpec

DEFAULT_PORT = 9091
"""Where the original listens."""

RUNS_ALREADY = "remote"
"""An `exe_path` of no program: a simulator runs elsewhere, at `host` and `port`."""

RANGE_KEYS = ("steer_limit", "throttle_min", "throttle_max")
UNUSED_KEYS = ("racer_name", "country", "bio", "guid", "headless")
"""Taken, and of no use here: who drives is for races, and no simulator of ours has a window of its own."""

ENV_KEYS = (
    *("start_delay", "max_cte", "frame_skip", "cam_resolution", "log_level", "host", "port", "exe_path"),
    *(*RANGE_KEYS, "action_log", "randomization", "look", "car", "camera", "real_time"),
)

LIDAR_FIELDS = {
    "deg_per_sweep_inc": ("degPerSweepInc", "2.0"),
    "deg_ang_down": ("degAngDown", "0.0"),
    "deg_ang_delta": ("degAngDelta", "-1.0"),
    "num_sweeps_levels": ("numSweepsLevels", "1"),
    "max_range": ("maxRange", "50.0"),
    "noise": ("noise", "0.5"),
    "offset_x": ("offset_x", "0.0"),
    "offset_y": ("offset_y", "0.5"),
    "offset_z": ("offset_z", "0.5"),
    "rot_x": ("rot_x", "0.0"),
}
"""Keys of a lidar, with their names and defaults on the wire."""

_TABLES = {
    "car_config": (*CAR_KEYS, *UNUSED_KEYS),
    "cam_config": tuple(CAMERA_DEFAULTS),
    "cam_config_b": tuple(CAMERA_DEFAULTS),
    "lidar_config": tuple(LIDAR_FIELDS),
    "challenges": tuple(field.name for field in dataclasses.fields(ChallengeSpec)),
}
_LIMITS = {
    "start_delay": (0.0, 3600.0),
    "max_cte": (1e-3, math.inf),
    "steer_limit": (1e-3, 1.0),
    "throttle_min": (-1.0, 1.0),
    "throttle_max": (-1.0, 1.0),
}
"""Least and greatest value of the keys that are fractional numbers."""

_KNOWN = (*ENV_KEYS, *ROAD_KEYS, *CAR_KEYS, *UNUSED_KEYS, *CAMERA_DEFAULTS, *LIDAR_FIELDS, *_TABLES)
_LIDAR_ONLY = tuple(key for key in LIDAR_FIELDS if key not in CAMERA_DEFAULTS)

_log = logging.getLogger("donkeysim.envs")


@dataclass(frozen=True)
class EnvConf:
    """A checked `conf`.

    Attributes:
        experiment: What is simulated; whoever drives in it names the scene and the seed.
        start_delay: How long a simulator that we start may take to listen, besides the time it needs anyway [s].
        max_cte: Farthest from the path [U], on both sides.
        frame_skip: Simulated twentieths of a second per step.
        cam_resolution: Height, width and channels (1 or 3) of the pictures.
        steer_limit: Greatest steering, 0 to 1.
        throttle_min: Least throttle, -1 to 1.
        throttle_max: Greatest throttle.
        host: Of a server; None: in this process, unless `port` is given.
        port: Of a server.
        exe_path: Program to start that takes `--port`; None: none.
        road: The message that asks for a road; None: as the scene has it.
        messages: Configure car, cameras and lidar, in this order.
        lidar: The lidar that runs, its values within their limits; None when it is off.
        real_time: Whether a step takes as long as what it simulates.
    """

    experiment: Experiment = field(default_factory=Experiment)
    start_delay: float = 5.0
    max_cte: float = 8.0
    frame_skip: int = 1
    cam_resolution: tuple[int, int, int] = (120, 160, 3)
    steer_limit: float = 1.0
    throttle_min: float = 0.0
    throttle_max: float = 1.0
    host: str | None = None
    port: int | None = None
    exe_path: str | None = None
    road: Message | None = None
    messages: tuple[Message, ...] = ()
    lidar: LidarSpec | None = None
    real_time: bool = False

    @property
    def is_remote(self) -> bool:
        """Whether the car is in another process."""
        return self.host is not None or self.port is not None or self.exe_path is not None

    @property
    def address(self) -> tuple[str, int]:
        """Host and port of the other process; one that we start is on this machine."""
        return self.host if self.host and self.exe_path is None else "127.0.0.1", self.port or DEFAULT_PORT

    def resize(self, shape: tuple[int, int, int]) -> Self:
        """Return the same with pictures of another size: height, width and channels (1 or 3)."""
        size = {key: str(side) for key, side in zip(("img_h", "img_w", "img_d"), shape, strict=True)}
        resized = (
            check_message({**message, **size}) if message["msg_type"] == "cam_config" else message
            for message in self.messages
        )
        return dataclasses.replace(self, cam_resolution=shape, messages=tuple(resized))

    def __post_init__(self) -> None:
        low, high = self.throttle_min, self.throttle_max
        if low > high:
            raise SpecError(f"throttle_min {low:g} is above throttle_max {high:g}; swap them.")


def supply_defaults(conf: dict[str, Any]) -> None:
    """Write into a conf what of the original's keys is left out, as classes of one's own do that read them.

    Host and port become None: without them the car drives in this process.
    """
    plain = EnvConf()
    for key in ("start_delay", "max_cte", "frame_skip", "cam_resolution", *RANGE_KEYS, "host", "port"):
        conf.setdefault(key, getattr(plain, key))
    conf.setdefault("log_level", logging.INFO)


def read_conf(conf: Mapping[str, Any] | None) -> EnvConf:
    """Return a checked `conf`; keys that are no slips of one are a program's own, logged and skipped.

    Raises:
        SpecError: A key that is nearly one, or a value that is not possible.
    """
    if not isinstance(conf, Mapping | None):
        raise SpecError(f"conf is {shorten(repr(conf))}, but must be a dict, for example {{'max_cte': 5}}.")
    given = dict(conf or {})
    given.pop("level", None)  # the original writes the scene into what it was given
    own = [key for key in given if key not in _KNOWN and not any(is_slip(str(key), name) for name in _KNOWN)]
    if own:
        words = "conf has no keys %s; they are taken for your own program's and do nothing here."
        _log.warning(words, ", ".join(map(repr, own)))
    _refuse_unknown("conf", [key for key in given if key not in own], _KNOWN)
    for table, keys in _TABLES.items():
        _refuse_unknown(table, _read_table(given, table), keys)
    resolution = _read_resolution(given)
    lidar_message = _make_lidar_message(given)
    if "log_level" in given:
        _set_log_level(given["log_level"])
    checked = EnvConf(
        experiment=_read_experiment(given),
        frame_skip=_read_whole(given, "frame_skip", 1, 1, 1000),
        cam_resolution=resolution,
        host=None if given.get("host") is None else str(given["host"]),
        port=_read_port(given),
        exe_path=_read_path(given),
        road=make_road_message(**road) if (road := {key: given[key] for key in ROAD_KEYS if key in given}) else None,
        messages=(*_make_messages(given, resolution), *((lidar_message,) if lidar_message else ())),
        lidar=read_lidar(lidar_message) if lidar_message else None,
        real_time=read_switch(given, "real_time"),
        **{key: _read_number(given, key, getattr(EnvConf, key), *limits) for key, limits in _LIMITS.items()},
    )
    if checked.is_remote:
        _refuse_elsewhere(checked.experiment)
    path = str(given.get("exe_path") or "")
    if _says_it_runs(path) and path != RUNS_ALREADY:
        where = path, *checked.address
        _log.warning("exe_path %r is no program: connecting to a simulator that runs already, at %s:%d.", *where)
    return checked


def _refuse_unknown(where: str, given: Iterable[str], allowed: Sequence[str]) -> None:
    for key in given:
        if key in allowed:
            continue
        snake = "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in str(key))
        if snake in allowed or str(key) in {name for name, _ in LIDAR_FIELDS.values()}:
            by_wire = {name: own for own, (name, _) in LIDAR_FIELDS.items()}
            raise SpecError(f"{key!r} in {where} is an old name; it is called {by_wire.get(str(key), snake)!r} now.")
        raise SpecError(describe_unknown(f"key in {where}", str(key), allowed))


def _read_table(given: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    table = given.get(name)
    if table is None:
        return {}
    if not isinstance(table, Mapping):
        raise SpecError(f"{name} is {table!r}, but must be a dict, for example {{'fov': 80}}.")
    return table


def _read_number(given: Mapping[str, Any], key: str, default: float, low: float, high: float) -> float:
    try:
        value = float(given.get(key, default))
    except (TypeError, ValueError, OverflowError):
        value = math.nan
    if not low <= value <= high:
        most = "" if high == math.inf else f" to {high:g}"
        raise SpecError(f"{key} is {shorten(repr(given[key]))}; it takes a number from {low:g}{most}.")
    return value


def _read_whole(given: Mapping[str, Any], key: str, default: int, low: int, high: int) -> int:
    value = _read_number(given, key, default, low, high)
    if value != int(value):
        raise SpecError(f"{key} is {given[key]!r}; it takes a whole number.")
    return int(value)


def _read_path(given: Mapping[str, Any]) -> str | None:
    """Return the program to start; None for none: it is left out, empty, or says that a simulator runs already."""
    path = str(given.get("exe_path") or "")
    return None if path == "" or _says_it_runs(path) else path


def _says_it_runs(path: str) -> bool:
    """Return whether an `exe_path` is a word and no program, as the original's scripts have it by default."""
    is_word = not re.search(r"[/\\]", path) or bool(re.match(r"[/\\]?path[/\\]to\b|<", path))
    return path == RUNS_ALREADY or (is_word and path != "" and not Path(path).expanduser().is_file())


def _read_port(given: Mapping[str, Any]) -> int | None:
    """Return the port of a server, the usual one if `exe_path` says that a simulator runs already; None: none."""
    if given.get("port") is not None:
        return _read_whole(given, "port", DEFAULT_PORT, 1, 65535)
    return DEFAULT_PORT if _says_it_runs(str(given.get("exe_path") or "")) else None


def _read_experiment(given: Mapping[str, Any]) -> Experiment:
    table = _read_table(given, "challenges")
    cones, trees, seed = (_read_whole(table, key, 0, -(1 << 31), 1 << 31) for key in ("cones", "trees", "seed"))
    challenges = ChallengeSpec(cones, read_switch(table, "ghosts"), trees, read_switch(table, "light"), seed)
    look, car, log = (given.get(key) for key in ("look", "car", "action_log"))
    return Experiment(
        scenes=(SceneSpec(challenges=challenges, look=str(look or "")),),
        car=str(car or Experiment.car),
        camera=str(given.get("camera") or Experiment.camera),
        log=None if log is None else str(log),
        randomization=read_randomization(given.get("randomization")),
    )


def _refuse_elsewhere(experiment: Experiment) -> None:
    """Refuse what only a simulator in this process can be asked for."""
    scene, chosen = experiment.scene, "is chosen by a simulator in this process only; start the other with"
    for is_asked, refusal in (
        (
            experiment.log is not None,
            "action_log records a simulator in this process only; leave out host, port and exe_path.",
        ),
        (
            experiment.randomization.is_on,
            "randomization is drawn in this process only; leave out host, port and exe_path, or start the server with "
            "donkey_sim --randomization.",
        ),
        (
            scene.challenges != NO_CHALLENGES,
            "challenges are added by a simulator in this process only; start the other with --cones.",
        ),
        (scene.look != "", f"the look {chosen} --look."),
        (experiment.car != Experiment.car, f"the car {chosen} --car."),
        (experiment.camera != Experiment.camera, f"the camera {chosen} --camera."),
    ):
        if is_asked:
            raise SpecError(refusal)


def _read_resolution(given: Mapping[str, Any]) -> tuple[int, int, int]:
    """Return height, width and channels; the camera's own fields count before `cam_resolution`, as in the original."""
    camera = _merge_camera(given)
    own = {key: _read_side(key, camera.get(key)) for key in ("img_h", "img_w", "img_d")}
    wished = given.get("cam_resolution")
    sides = (120, 160, 1 if own["img_d"] == 1 else 3) if wished is None else _read_sides(wished)
    height, width, depth = own["img_h"] or sides[0], own["img_w"] or sides[1], sides[2]
    least, (widest, highest) = SMALLEST_SIDE, LARGEST_PICTURE
    if not (least <= height <= highest and least <= width <= widest and depth in (1, 3)):
        size = f"{height:g}x{width:g}x{depth:g}"
        raise SpecError(
            f"a picture of {size} is not valid; its height takes {least} to {highest}, its width {least} to {widest}, "
            "its channels 1 or 3."
        )
    if wished is not None and (height, width, depth) != sides:
        words = "cam_resolution %s is not the camera's img_h and img_w: pictures are %s."
        _log.warning(words, sides, (height, width, depth))
    return (height, width, depth)


def _read_side(key: str, given: Any) -> int:
    """Return a whole number as the wire reads it; 0 where none is given, which means the same."""
    if given is None:
        return 0
    try:
        return Form({key: str(given)}).read_integer(key) or 0
    except WireError as error:
        raise SpecError(f"cam_config: {error}") from error


def _read_sides(given: Any) -> tuple[int, int, int]:
    """Return a `cam_resolution`."""
    try:
        height, width, depth = (_read_side("side", str(side)) for side in given)
    except (TypeError, ValueError, SpecError):
        sentence = f"cam_resolution is {shorten(repr(given))}; it takes (height, width, channels), as (120, 160, 3)."
        raise SpecError(sentence) from None
    return height, width, depth


def _merge_camera(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the first camera's fields; single keys beside the table are the older way to give them."""
    flat = {key: given[key] for key in CAMERA_DEFAULTS if key in given}
    return {**_read_table(given, "cam_config"), **flat}


def _make_lidar_message(given: Mapping[str, Any]) -> Message | None:
    """Return a `lidar_config`; None when none of the lidar's own keys is given."""
    flat = {key: given[key] for key in _LIDAR_ONLY if key in given}
    if "lidar_config" not in given and not flat:
        return None
    return make_lidar_message({**_read_table(given, "lidar_config"), **flat})


def make_lidar_message(lidar: Mapping[str, Any]) -> Message:
    """Return a `lidar_config` of those of `LIDAR_FIELDS` that are given.

    Raises:
        SpecError: There is no such field.
    """
    _refuse_unknown("lidar_config", lidar, tuple(LIDAR_FIELDS))
    fields = {name: str(lidar.get(key, default)) for key, (name, default) in LIDAR_FIELDS.items()}
    return {"msg_type": "lidar_config", **fields}


def read_lidar(message: Message, before: LidarSpec | None = None) -> LidarSpec:
    """Return the lidar that a simulator makes of a message after another, once what it changes about it is logged."""
    from donkeysim.wire.settings import change_lidar  # it loads the simulator, which takes two seconds

    request = read_request(message).request
    assert isinstance(request, ConfigureLidar), "a lidar_config is read as one"
    lidar, note = change_lidar(before or LidarSpec(), request)
    if note:
        _log.warning("%s", note)
    return lidar


def _make_messages(given: Mapping[str, Any], resolution: tuple[int, int, int]) -> tuple[Message, ...]:
    messages = [
        make_car_message(table)
        for table in ({key: given[key] for key in CAR_KEYS if key in given}, _read_table(given, "car_config"))
        if table
    ]
    height, width, depth = resolution
    camera = _merge_camera(given)
    if _read_side("img_d", camera.get("img_d")) != 1:  # else grey, in three channels if `cam_resolution` has them
        camera["img_d"] = depth
    messages.append(make_camera_message("cam_config", {**camera, "img_h": height, "img_w": width}))
    if "cam_config_b" in given:
        messages.append(make_camera_message("cam_config_b", _read_table(given, "cam_config_b")))
    return tuple(map(check_message, messages))


def _set_log_level(level: Any) -> None:
    try:
        logging.getLogger("donkeysim").setLevel(level)
    except (TypeError, ValueError):
        raise SpecError(f"log_level is {level!r}; it takes a level of logging, as 'INFO' or 20.") from None
