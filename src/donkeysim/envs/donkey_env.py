"""The original's Gymnasium environments: one car alone on a track, in this process or in a server's.

`gymnasium.make("donkey-generated-track-v0", conf={...})` after `import donkeysim`. A `conf` with `host`, `port` or
`exe_path` drives a simulator that runs elsewhere; without, it runs here, as fast as it can.
"""

import logging
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np

from donkeysim.core.clock import Pacer
from donkeysim.core.errors import SpecError
from donkeysim.core.types import ByteArray, Float32Array
from donkeysim.envs.actions import ActionRange, read_action
from donkeysim.envs.built_in import BuiltInCar
from donkeysim.envs.conf import EnvConf, read_conf
from donkeysim.envs.conf import supply_defaults as supply_defaults
from donkeysim.envs.conf_messages import make_road_message
from donkeysim.envs.launch import LaunchedSimulator, is_listening
from donkeysim.envs.registration import SCENE_BY_ID
from donkeysim.envs.remote import LOAD_SECONDS, RemoteCar
from donkeysim.envs.reset import Start, read_seed, read_start
from donkeysim.envs.rules import compute_reward, is_over, make_info
from donkeysim.envs.sensor_frame import SensorFrame
from donkeysim.envs.viewer import EndFunction, RewardFunction, Viewer
from donkeysim.envs.waiting import WaitReport
from donkeysim.envs.window import RATE, ShownEnv
from donkeysim.sim.simulator import Simulator
from donkeysim.sim.viewpoint import draw_car
from donkeysim.world.telemetry import Telemetry

SCENE_BY_CLASS = {
    "GeneratedRoadsEnv": "generated_road",
    "WarehouseEnv": "warehouse",
    "AvcSparkfunEnv": "sparkfun_avc",
    "GeneratedTrackEnv": "generated_track",
    "MountainTrackEnv": "mountain_track",
    "RoboRacingLeagueTrackEnv": "roboracingleague_1",
    "WaveshareEnv": "waveshare",
    "MiniMonacoEnv": "mini_monaco",
    "WarrenTrackEnv": "warren",
    "ThunderhillTrackEnv": "thunderhill",
    "CircuitLaunchEnv": "circuit_launch",
}
"""The original's classes of one place each; `from donkeysim.envs.donkey_env import MiniMonacoEnv` makes one."""

__all__ = ["DonkeyEnv", "supply_defaults", *SCENE_BY_CLASS]

_log = logging.getLogger("donkeysim.envs")


def __getattr__(name: str) -> Any:
    if name not in SCENE_BY_CLASS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

    def begin(self: DonkeyEnv, conf: Mapping[str, object] | None = None, **others: Any) -> None:
        DonkeyEnv.__init__(self, SCENE_BY_CLASS[name], conf, **others)

    globals()[name] = type(name, (DonkeyEnv,), {"__init__": begin})
    return globals()[name]


class DonkeyEnv(ShownEnv[ByteArray]):
    """One car on one track; a step is a twentieth of a simulated second, `frame_skip` times.

    Attributes:
        conf: As checked.
        telemetry: Readings of the last step.
        car: In its simulator, for `viewer`.
        controls: What is driven with, steering, throttle and brake.
        frame_skip: As in `conf`.
        proc: The simulator that was started for it, None where none was.
    """

    ACTION_NAMES = ("steer", "throttle")
    VAL_PER_PIXEL = 255

    def __init__(
        self,
        scene: str = "generated_track",
        conf: Mapping[str, object] | None = None,
        render_mode: str | None = None,
        level: str | None = None,
    ) -> None:
        """Make the car; the first time on a machine its kernels are compiled, which takes half a minute.

        Args:
            scene: Name of the track.
            conf: See docs/envs/donkey_env.md.
            render_mode: "rgb_array": `render` returns a view from behind the car, 640x360; "human": a window shows it
                after every step, in real time; None: nothing.
            level: The original's name of `scene`; wins. An id means its scene.

        Raises:
            SpecError: `conf` is not possible.
            SceneError: There is no such scene here, or the server runs another one.
            SimulatorError: There is no such simulator.
        """
        super().__init__(render_mode)
        self.conf = read_conf(conf)
        self.frame_skip = self.conf.frame_skip
        self.proc: LaunchedSimulator | None = None
        place = str(level or scene)
        self.car = self._open_car(SCENE_BY_ID.get(place.removeprefix("donkeysim/"), place), self.conf)
        self.controls: Sequence[float] = (0.0, 0.0, 0.0)
        self._viewer: Viewer | None = None
        self._moment: SensorFrame | None = None
        self._is_over = False
        self._pacer = Pacer(1.0 / RATE, time.monotonic)
        actions = ActionRange(self.conf.steer_limit, self.conf.throttle_min, self.conf.throttle_max)
        self.action_space = actions.make_space()
        self.observation_space = gymnasium.spaces.Box(0, 255, self.conf.cam_resolution, np.uint8)

    def _open_car(self, scene: str, conf: EnvConf) -> BuiltInCar | RemoteCar:
        if not conf.is_remote:
            car = BuiltInCar(scene, conf)
            car.open()
            return car
        if conf.exe_path is not None and not Path(conf.exe_path).expanduser().exists():
            by_hand = replace(conf, exe_path=None)
            if is_listening(*by_hand.address):  # as the original: people leave the path of another machine there
                where = conf.exe_path, *by_hand.address
                _log.warning("there is no %s: connecting to a simulator that runs already, at %s:%d.", *where)
                conf = self.conf = by_hand
        if conf.exe_path is None:
            remote = RemoteCar(scene, conf)
            remote.open()
            return remote
        self.proc = LaunchedSimulator(conf.exe_path, conf.address[1])
        try:
            report = WaitReport(f"{conf.exe_path} to listen on port {conf.address[1]}").log
            self.proc.wait_until_listening(time.monotonic, LOAD_SECONDS + conf.start_delay, report)
            remote = RemoteCar(scene, conf, self.proc.check)
            remote.open()
            return remote
        except BaseException:
            self.proc.stop()
            raise

    @property
    def telemetry(self) -> Telemetry:
        """Readings of the last step."""
        return self._require_moment().telemetry

    @property
    def viewer(self) -> Viewer:
        """The car as programs for the original know it."""
        if self._viewer is None:
            self._viewer = Viewer(self)
            if self._moment is not None:
                self._viewer.handler.take(self._moment)
        return self._viewer

    def set_reward_fn(self, reward_fn: RewardFunction) -> None:
        """Reward by `reward_fn(handler, done)` from now on; see `viewer.Handler`."""
        self.viewer.set_reward_fn(reward_fn)

    def set_episode_over_fn(self, ep_over_fn: EndFunction) -> None:
        """End episodes by `ep_over_fn(handler)`, which sets `handler.over`, from now on."""
        self.viewer.set_episode_over_fn(ep_over_fn)

    def is_game_over(self) -> bool:
        """Return whether the episode has ended."""
        return self._is_over

    @property
    def simulator(self) -> Simulator:
        """The simulator in this process, for whoever watches.

        Raises:
            SpecError: It is in another process.
        """
        if not isinstance(self.car, BuiltInCar):
            raise SpecError("the simulator of this environment runs in another process; watch it on its own page.")
        return self.car.simulator

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[ByteArray, dict[str, Any]]:
        """Put the car on its start; with a seed the episode is repeatable bit for bit (in this process).

        Args:
            seed: Of all that is random from now on; None continues with new random numbers.
            options: `s`, `offset` [m] and `yaw` [rad]: where on the path to begin, in this process only.

        Raises:
            SpecError: The seed or the options are not possible.
        """
        start = read_start(options)
        seed = read_seed(seed)
        super().reset(seed=seed)
        moment = self.begin_episode(seed, start)
        return moment.image, self._make_info(moment)

    def begin_episode(self, seed: int | None = None, start: Start | None = None) -> SensorFrame:
        """Put the car on its start, braked, as `viewer.reset` and `reset` do, which classes of one's own may change."""
        self._is_over, self.controls = False, (0.0, 0.0, 1.0)
        if isinstance(self.car, BuiltInCar):
            moment = self.car.begin_episode(seed, start)
        elif start is None:
            moment = self.car.begin_episode(seed)
        else:
            raise SpecError("a simulator elsewhere chooses the start of its cars; leave the options of reset out.")
        self._moment = moment
        self._pacer.restart()
        if self._viewer is not None:
            self._viewer.handler.over = False
            self._viewer.handler.take(moment)
        self._show()
        return moment

    def regen_road(self, road_style: int = 0, rand_seed: int = 0, turn_increment: float = 0.0) -> None:
        """Have another road made, where roads are generated; call `reset` next.

        Args:
            road_style: Surface and width, modulo their number.
            rand_seed: Same seed, same road.
            turn_increment: How lively it turns [degree]; 0: as before.

        Raises:
            SceneError: The road is not a generated one.
        """
        self.car.regen_road(make_road_message(road_style, rand_seed, turn_increment))
        self._moment = None

    def step(self, action: Sequence[float] | Float32Array) -> tuple[ByteArray, float, bool, bool, dict[str, Any]]:
        """Drive for `frame_skip` twentieths of a simulated second; ends early with the episode.

        Args:
            action: Steering (-1 to 1, + = right), throttle (-1 to 1) and, if given, brake (0 to 1).

        Raises:
            SpecError: The action is not two or three finite numbers.
        """
        self.controls = read_action(action, takes_brake=True)
        self._require_moment()
        for _ in range(self.conf.frame_skip):
            moment = self._advance()
            if self._is_over:
                break
        self._show()
        return moment.image, self._judge(moment), self._is_over, False, self._make_info(moment)

    def observe(self) -> tuple[ByteArray, float, bool, dict[str, Any]]:
        """Drive on for a twentieth of a second; return picture, reward, whether the episode has ended, and `info`.

        The original's car is there as soon as it is made: without a `reset` before it, this begins the episode.
        """
        if self._moment is None:
            controls = self.controls
            self.begin_episode()
            self.controls = controls
        moment = self._advance()
        return moment.image, self._judge(moment), self._is_over, self._make_info(moment)

    def _advance(self) -> SensorFrame:
        self._moment = moment = self.car.step(*self.controls)
        if self.conf.real_time:
            threading.Event().wait(self._pacer.seconds_left())
            self._pacer.take_beat()
        if self._viewer is None:
            self._is_over = self._is_over or is_over(moment, self.conf.max_cte)
            return moment
        handler = self._viewer.handler
        handler.take(moment)
        handler.determine_episode_over()
        self._is_over = bool(handler.over)
        return moment

    def _judge(self, moment: SensorFrame) -> float:
        if self._viewer is None:
            return compute_reward(moment, self.conf.max_cte, self._is_over)
        return float(self._viewer.handler.calc_reward(self._is_over))

    def _make_info(self, moment: SensorFrame) -> dict[str, Any]:
        """Return what is reported of a moment: laps only where the original would report the start line."""
        if isinstance(self.car, BuiltInCar) and self.car.simulator.scene.start.is_silent:
            moment = replace(moment, lap_times=())
        return make_info(moment, self.conf.lidar)

    def _draw(self) -> ByteArray:
        if not isinstance(self.car, BuiltInCar):
            return self._require_moment().image
        with self.car.lock:
            return draw_car(self.car.simulator, self.car.row)

    def close(self) -> None:
        """Let go of the simulator, and end it if it was started for this environment."""
        self.let_go()

    def let_go(self) -> None:
        """Do what `close` does, which classes of one's own may change, for `viewer.quit`."""
        super().close()
        self.car.close()
        if self.proc is not None:
            self.proc.stop()

    def _require_moment(self) -> SensorFrame:
        if self._moment is None:
            raise gymnasium.error.ResetNeeded("no episode has begun; call reset first.")
        return self._moment
