"""What programs for the original ask of `env.unwrapped.viewer` and its `handler`, for a car in whichever simulator.

The original's environment keeps its car behind these two objects, and rewards and ends of one's own are functions of
the handler: `def reward(handler, done)`. Names, units and axes are the original's.
"""

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from types import MethodType
from typing import Any, Protocol

import numpy as np
from gymnasium.spaces import Box

from donkeysim.core.errors import SceneError, SpecError, WireError, describe_unknown
from donkeysim.core.types import ByteArray
from donkeysim.envs.built_in import BuiltInCar
from donkeysim.envs.conf import EnvConf, make_lidar_message, read_lidar
from donkeysim.envs.conf_messages import (
    CAMERA_DEFAULTS,
    CAR_KEYS,
    check_message,
    make_camera_message,
    make_car_message,
    make_road_message,
)
from donkeysim.envs.registration import SCENE_BY_ID
from donkeysim.envs.remote import RemoteCar
from donkeysim.envs.rules import compute_reward, is_over, make_info
from donkeysim.envs.sensor_frame import SensorFrame
from donkeysim.envs.server_lines import Listeners, call_listener, make_telemetry
from donkeysim.wire.fields import Form
from donkeysim.wire.reading import read_request

RewardFunction = Callable[[Any, bool], float]
EndFunction = Callable[[Any], None]

READINGS = (
    *("cte", "speed", "forward_vel", "last_lap_time", "roll", "pitch", "yaw", "x", "y", "z"),
    *(f"{name}_{axis}" for name in ("gyro", "accel", "vel") for axis in "xyz"),
)
"""Numbers of a handler; 0 before the first step."""

CONFIGURES = ("car_config", "cam_config", "cam_config_b", "lidar_config")
"""Messages that a car in this process takes as one in a server does."""

ASKED = {"reset_car": "reset", "exit_scene": "send_exit_scene", "get_scene_names": "send_get_scene_names"}
"""Messages without fields that it takes, and the functions that do the same."""

HEARD = (
    *("telemetry", "scene_selection_ready", "scene_names", "car_loaded", "need_car_config", "cross_start"),
    *("race_start", "race_stop", "DQ", "ping", "aborted", "missed_checkpoint", "collision_with_starting_line"),
)
"""What the original's handler has functions for, which a program may call from its own in their place."""

CALLED = {"scene_names": "recv_scene_names", "aborted": "abort"}
"""How the original's functions of two of them are called, after "on_"; the others' names are those of the messages."""

_log = logging.getLogger("donkeysim.envs")


class ViewedEnv(Protocol):
    """The environment behind a viewer; see `DonkeyEnv`, which is one."""

    conf: EnvConf
    car: BuiltInCar | RemoteCar
    controls: Sequence[float]
    observation_space: Any

    def observe(self) -> tuple[ByteArray, float, bool, dict[str, Any]]:
        """Drive on for a twentieth of a second."""

    def begin_episode(self) -> SensorFrame:
        """Put the car on its start."""

    def let_go(self) -> None:
        """Let go of the simulator."""


class SimClient:
    """The connection to the simulator, as the original's; to the car in this process it ends with its environment."""

    def __init__(self, env: ViewedEnv, handler: Any) -> None:
        self._env, self.msg_handler = env, handler
        self.queue_message = self.send_now = handler.queue_message
        self.on_msg_recv = handler.on_recv_message
        self.host, self.port = env.conf.address

    def is_connected(self) -> bool:
        """Return whether the simulator can still be driven at."""
        return self._env.car.is_connected

    @property
    def aborted(self) -> bool:
        """Whether it can not."""
        return not self.is_connected()

    def stop(self) -> None:
        """Let go of the simulator."""
        self._env.let_go()

    close = stop


class Handler:
    """The car as the original's functions see it; every attribute may be read and written.

    Attributes:
        over: Whether the episode has ended; a function for ends sets it.
        SceneToLoad: Where `send_exit_scene` leads.
        loaded: Whether the car is there; set with every scene that is loaded.
        cte: Distance to the path [U], + = right of it.
        max_cte: Farthest from the path [U].
        hit: What was touched in this step, "none" nothing.
        speed: In any direction [m/s].
        forward_vel: Along the nose [m/s].
        x: Position [m]; y and z likewise.
        image_array: The picture.
        last_lap_time: Of the last lap, 0 before the first [s].
        lap_count: How many laps were driven.
        starting_line_index: 0 once the start line was crossed, -1 before.
        dq: Whether a server has disqualified the car; `missed_checkpoint` says the same.
        fns: Functions of what the simulator says, called with every message of that kind; a program may add its own.
            The car in this process says `telemetry`, `car_loaded`, `scene_names` and `node_position`.
        client: The connection.
        last_obs: The picture that was looked at last.
        time_received: When it came, by the clock of `time.time`; `last_received` says the same.
    """

    def __init__(self, env: ViewedEnv) -> None:
        self._env = env
        self._moment: SensorFrame | None = None
        self._is_telling = False
        self.max_cte = env.conf.max_cte
        self.camera_img_size = env.conf.cam_resolution
        self.loaded, self.over = True, False
        vars(self).update(dict.fromkeys(READINGS, 0.0))
        self.hit, self.lap_count, self.time = "none", 0, 0.0
        self.lidar: Any = []
        self.image_array: ByteArray = np.zeros(self.camera_img_size, np.uint8)
        self.image_array_b: ByteArray | None = None
        self.starting_line_index, self.dq, self.missed_checkpoint = -1, False, False
        self.client = SimClient(env, self)
        self.SceneToLoad = env.car.scene
        self.last_obs, self.time_received = self.image_array, time.time()
        self.last_received = self.time_received
        self.fns: Listeners = dict.fromkeys(HEARD, _take_in) | {"car_loaded": self._note_loaded}
        vars(self).update({f"on_{CALLED.get(kind, kind)}": function for kind, function in self.fns.items()})
        if isinstance(env.car, RemoteCar):
            env.car.listeners = self.fns

    def take(self, moment: SensorFrame) -> None:
        """Show what the car senses now."""
        self._moment, telemetry = moment, moment.telemetry
        info = make_info(moment, self._env.conf.lidar)
        for name in ("cte", "hit", "speed", "forward_vel", "lidar", "last_lap_time", "lap_count"):
            setattr(self, name, info[name])
        self.x, self.y, self.z = info["pos"]
        self.roll, self.pitch, self.yaw = info["car"]
        for name in ("gyro", "accel", "vel"):
            for axis, value in zip("xyz", info[name], strict=True):
                setattr(self, f"{name}_{axis}", value)
        self.image_array = self.last_obs = moment.image
        self.image_array_b = moment.image_b
        self.time_received = self.last_received = time.time()
        self.time = telemetry.time
        self.starting_line_index = 0 if telemetry.lap or moment.lap_times else -1
        self.dq = self.missed_checkpoint = moment.is_disqualified
        if self._is_telling or self.fns.get("telemetry") is _take_in or isinstance(self._env.car, RemoteCar):
            return
        self._is_telling = True  # a handler may reset the car, which is not reported once more
        try:
            self.on_recv_message(make_telemetry(moment))
        finally:
            self._is_telling = False

    def on_recv_message(self, message: dict[str, Any]) -> None:
        """Call the function of a message's kind."""
        call_listener(self.fns, message)

    def set_reward_fn(self, reward_fn: RewardFunction) -> None:
        """Reward by `reward_fn(handler, done)` from now on."""
        self.calc_reward = MethodType(reward_fn, self)  # type: ignore[method-assign]

    def set_episode_over_fn(self, ep_over_fn: EndFunction) -> None:
        """End episodes by `ep_over_fn(handler)`, which sets `handler.over`, from now on."""
        self.determine_episode_over = MethodType(ep_over_fn, self)  # type: ignore[method-assign]

    def determine_episode_over(self) -> None:
        """Set `over` where the original's rule ends the episode."""
        self.over = self.over or (self._moment is not None and is_over(self._moment, self.max_cte))

    def calc_reward(self, done: bool) -> float:
        """Return the original's reward of this step."""
        return 0.0 if self._moment is None else compute_reward(self._moment, self.max_cte, done)

    def is_game_over(self) -> bool:
        """Return whether the episode has ended."""
        return self.over

    def get_sensor_size(self) -> tuple[int, int, int]:
        """Return height, width and channels of the picture."""
        return self.camera_img_size

    def take_action(self, action: Any) -> None:
        """Steer and give throttle from the next step on."""
        self.send_control(*action)

    def send_control(self, steer: float, throttle: float, brake: float = 0.0) -> None:
        """Steer (+ = right), give throttle and brake from the next step on."""
        self._env.controls = (float(steer), float(throttle), float(brake))

    def observe(self) -> tuple[ByteArray, float, bool, dict[str, Any]]:
        """Let a twentieth of a second pass and return picture, reward, whether the episode has ended, and `info`."""
        return self._env.observe()

    def reset(self) -> None:
        """Put the car on its start."""
        self._env.begin_episode()

    send_reset_car = reset

    def send_exit_scene(self) -> None:
        """Leave the scene and load `SceneToLoad`: of a simulator elsewhere for everybody there if it is another one."""
        self.send_load_scene(self.SceneToLoad)

    def send_get_scene_names(self) -> None:
        """Ask what scenes there are; simulators elsewhere that are like the original answer in the menu only."""
        car = self._env.car
        if isinstance(car, RemoteCar):
            car.send({"msg_type": "get_scene_names"})
        else:
            self.on_recv_message({"msg_type": "scene_names", "scene_names": list(car.scene_names)})

    def send_load_scene(self, scene_name: str) -> None:
        """Have a scene loaded, elsewhere for everybody there; what is known to be none changes nothing."""
        car = self._env.car
        if scene_name in SCENE_BY_ID or (car.scene_names and scene_name not in (*car.scene_names, car.scene)):
            _log.warning("%s is no scene: one of %s.", scene_name, ", ".join(car.scene_names or SCENE_BY_ID.values()))
            return
        try:
            car.go_to(scene_name)
        except SceneError as error:
            _log.warning("%s", error)
            return
        self.SceneToLoad = scene_name
        if isinstance(car, BuiltInCar):
            self.on_recv_message({"msg_type": "car_loaded", "scene_name": scene_name})

    def _note_loaded(self, _message: Mapping[str, Any]) -> None:
        self.loaded = True

    def send_car_config(self, body_style: str | Mapping[str, Any], *others: Any) -> None:
        """Let the car look otherwise: `body_style`, `body_rgb`, `car_name` and `font_size`, or a table of them."""
        given = (body_style, *others)
        looks = body_style if isinstance(body_style, Mapping) else dict(zip(CAR_KEYS, given, strict=False))
        self._configure(make_car_message(looks))

    def send_cam_config(self, conf: Mapping[str, Any] | str = "cam_config", **fields: Any) -> None:
        """Change a camera; the observation space follows the first one's size, unless it is one of its own.

        Args:
            conf: Its fields, or which it is: "cam_config" or "cam_config_b".
            **fields: Further ones; `msg_type` says which it is, too.

        Raises:
            SpecError: There is no such field.
        """
        table = {"msg_type": conf} if isinstance(conf, str) else dict(conf)
        table |= fields
        kind = str(table.pop("msg_type", "cam_config"))
        for key in table:
            if key not in CAMERA_DEFAULTS:
                raise SpecError(describe_unknown(f"key in {kind}", key, CAMERA_DEFAULTS))
        self._configure(make_camera_message(kind, table))

    def send_lidar_config(self, **fields: Any) -> None:
        """Turn the lidar on, or change it: `fields` as in `lidar_config` of a conf; the others are its defaults."""
        self._configure(make_lidar_message(fields))

    def send_regen_road(self, road_style: int = 0, rand_seed: int = 0, turn_increment: float = 0.0) -> None:
        """Have another road made, see `DonkeyEnv.regen_road`."""
        self._env.car.regen_road(make_road_message(road_style, rand_seed, turn_increment))

    def queue_message(self, msg: Mapping[str, Any]) -> None:
        """Send a message to a simulator elsewhere; those of the car, its road and its scene are done here as well."""
        message = {str(key): str(value) for key, value in msg.items()}
        kind, car = message.get("msg_type"), self._env.car
        if kind in CONFIGURES:
            self._configure(check_message(message))
        elif isinstance(car, RemoteCar):
            car.send(message)
        elif kind in ASKED:
            getattr(self, ASKED[kind])()
        elif kind == "load_scene":
            self.send_load_scene(message.get("scene_name", ""))
        else:
            try:
                self._do_here(kind, car, message)
            except (SceneError, WireError) as error:  # as a server does, which answers it by a message
                _log.warning("%s", error)

    blocking_send = queue_message

    def _do_here(self, kind: str | None, car: BuiltInCar, message: dict[str, str]) -> None:
        """Do what a message says with the car in this process."""
        if kind == "control":
            given = [Form(message).read_number(name) for name in ("steering", "throttle", "brake")]
            before = (*self._env.controls[:2], 0.0)
            self.send_control(*(old if new is None else new for old, new in zip(before, given, strict=True)))
        elif kind == "set_position":
            car.take(message)
        elif kind == "node_position":
            self.on_recv_message(car.describe_node(message))
        elif kind == "regen_road":
            car.regen_road(check_message(message))
        else:
            _log.warning("%s is for a simulator elsewhere; it does nothing in this process.", kind)

    def _configure(self, message: dict[str, str]) -> None:
        env = self._env
        others = [one for one in env.conf.messages if one["msg_type"] != message["msg_type"]]
        lidar, before = env.conf.lidar, self.camera_img_size
        if message["msg_type"] == "lidar_config":
            lidar = read_lidar(message, lidar)
        elif message["msg_type"] == "cam_config":
            width, height = getattr(read_request(message).request, "size", None) or before[1::-1]
            self.camera_img_size = height, width, depth = height, width, before[2]
            message = {**message, "img_h": str(height), "img_w": str(width)} | ({"img_d": "1"} if depth == 1 else {})
        env.conf = replace(env.conf, messages=(*others, message), lidar=lidar, cam_resolution=self.camera_img_size)
        if env.observation_space.shape == before != self.camera_img_size:
            env.observation_space = Box(0, 255, self.camera_img_size, np.uint8)
        env.car.configure(env.conf)


def _take_in(message: Mapping[str, Any]) -> None:
    """Do nothing more: the car has taken the message in."""


class Viewer:
    """The original's controller of a simulator."""

    def __init__(self, env: ViewedEnv) -> None:
        self._env = env
        self.handler = Handler(env)
        self.client = self.handler.client
        self.address = env.conf.address

        self.set_reward_fn, self.set_episode_over_fn = self.handler.set_reward_fn, self.handler.set_episode_over_fn

    def set_car_config(
        self, body_style: str, body_rgb: tuple[int, int, int], car_name: str, font_size: int = 100
    ) -> None:
        """Let the car look otherwise."""
        looks = {"body_style": body_style, "body_rgb": body_rgb, "car_name": car_name, "font_size": font_size}
        self.handler.send_car_config(looks)

    def set_cam_config(self, **fields: Any) -> None:
        """Change the camera, see `Handler.send_cam_config`."""
        self.handler.send_cam_config(fields)

    def wait_until_loaded(self) -> None:
        """Return at once: an environment that is there is loaded."""

    def reset(self) -> None:
        """Put the car on its start."""
        self.handler.reset()

    def get_sensor_size(self) -> tuple[int, int, int]:
        """Return height, width and channels of the picture."""
        return self.handler.get_sensor_size()

    def take_action(self, action: Any) -> None:
        """Steer and give throttle from now on."""
        self.handler.take_action(action)

    def observe(self) -> tuple[ByteArray, float, bool, dict[str, Any]]:
        """Let a twentieth of a second pass, see `Handler.observe`."""
        return self.handler.observe()

    def is_game_over(self) -> bool:
        """Return whether the episode has ended."""
        return self.handler.is_game_over()

    def calc_reward(self, done: bool) -> float:
        """Return the reward of this step."""
        return self.handler.calc_reward(done)

    def exit_scene(self) -> None:
        """Leave the scene, see `Handler.send_exit_scene`."""
        self.handler.send_exit_scene()

    def render(self, mode: str = "human") -> None:
        """Show nothing: the original's simulator has a window of its own; `render_mode` opens one here."""

    def quit(self) -> None:
        """Let go of the simulator."""
        self._env.let_go()
