"""What programs for the original ask of `env.unwrapped.viewer` and its `handler`, for a car in whichever simulator.

The original's environment keeps its car behind these two objects, and rewards and ends of one's own are functions of
the handler: `def reward(handler, done)`. Names, units and axes are the original's.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from types import MethodType
from typing import Any, Protocol

from donkeysim.core.types import ByteArray
from donkeysim.envs.built_in import BuiltInCar
from donkeysim.envs.conf import EnvConf
from donkeysim.envs.conf_messages import make_camera_message, make_car_message, make_road_message
from donkeysim.envs.remote import RemoteCar
from donkeysim.envs.rules import compute_reward, is_over, make_info
from donkeysim.envs.sensor_frame import SensorFrame

RewardFunction = Callable[[Any, bool], float]
EndFunction = Callable[[Any], None]


class ViewedEnv(Protocol):
    """The environment behind a viewer; see `DonkeyEnv`, which is one."""

    conf: EnvConf
    car: BuiltInCar | RemoteCar
    controls: Sequence[float]

    def observe(self) -> tuple[ByteArray, float, bool, dict[str, Any]]:
        """Drive on for a twentieth of a second."""

    def reset(self) -> Any:
        """Put the car on its start."""

    def close(self) -> None:
        """Let go of the simulator."""


class Handler:
    """The car as the original's functions see it; every attribute may be read and written.

    Attributes:
        over: Whether the episode has ended; a function for ends sets it.
        cte: Distance to the path [U], + = right of it.
        max_cte: Farthest from the path [U].
        hit: What was touched in this step, "none" nothing.
        speed: In any direction [m/s].
        forward_vel: Along the nose [m/s].
        x: Position [m]; y and z likewise.
        image_array: The picture.
        last_lap_time: Of the last lap, 0 before the first [s].
        lap_count: How many laps were driven.
    """

    def __init__(self, env: ViewedEnv) -> None:
        self._env = env
        self._moment: SensorFrame | None = None
        self.max_cte = env.conf.max_cte
        self.camera_img_size = env.conf.cam_resolution
        self.loaded, self.over = True, False

    def take(self, moment: SensorFrame) -> None:
        """Show what the car senses now."""
        self._moment, telemetry = moment, moment.telemetry
        told = make_info(moment, self._env.conf.lidar)
        for name in ("cte", "hit", "speed", "forward_vel", "lidar", "last_lap_time", "lap_count"):
            setattr(self, name, told[name])
        self.x, self.y, self.z = told["pos"]
        self.roll, self.pitch, self.yaw = told["car"]
        for name in ("gyro", "accel", "vel"):
            for axis, value in zip("xyz", told[name], strict=True):
                setattr(self, f"{name}_{axis}", value)
        self.image_array, self.image_array_b = moment.image, moment.image_b
        self.time = telemetry.time

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
        self._env.reset()

    send_reset_car = reset

    def send_exit_scene(self) -> None:
        """Leave the scene of a simulator elsewhere, for everybody there; the one in this process has only this one."""
        if isinstance(self._env.car, RemoteCar):
            self._env.car.send({"msg_type": "exit_scene"})

    def send_car_config(self, conf: Mapping[str, Any]) -> None:
        """Let the car look otherwise: `body_style`, `body_rgb`, `car_name`, `font_size`."""
        self._configure(make_car_message(conf))

    def send_cam_config(self, conf: Mapping[str, Any] | None = None, **fields: Any) -> None:
        """Change the camera; its pictures keep their size, which the observation space tells."""
        height, width, depth = self.camera_img_size
        size = {"img_h": height, "img_w": width, "img_d": depth}
        self._configure(make_camera_message("cam_config", {**(conf or {}), **fields, **size}))

    def send_regen_road(self, road_style: int = 0, rand_seed: int = 0, turn_increment: float = 0.0) -> None:
        """Have another road made, see `DonkeyEnv.regen_road`."""
        self._env.car.regen_road(make_road_message(road_style, rand_seed, turn_increment))

    def _configure(self, message: dict[str, str]) -> None:
        env = self._env
        others = [one for one in env.conf.messages if one["msg_type"] != message["msg_type"]]
        env.conf = replace(env.conf, messages=(*others, message))
        env.car.configure(env.conf)


class Viewer:
    """The original's controller of a simulator."""

    def __init__(self, env: ViewedEnv) -> None:
        self._env = env
        self.handler = Handler(env)
        self.address = env.conf.address

    def set_reward_fn(self, reward_fn: RewardFunction) -> None:
        """Reward by `reward_fn(handler, done)` from now on."""
        self.handler.calc_reward = MethodType(reward_fn, self.handler)  # type: ignore[method-assign]

    def set_episode_over_fn(self, ep_over_fn: EndFunction) -> None:
        """End episodes by `ep_over_fn(handler)`, which sets `handler.over`, from now on."""
        self.handler.determine_episode_over = MethodType(ep_over_fn, self.handler)  # type: ignore[method-assign]

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
        self._env.close()
