"""The original's environments in batches: many `DonkeyEnv`s of one `conf`, stepped together in this process."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from donkeysim.core.errors import SpecError
from donkeysim.core.types import BoolArray
from donkeysim.envs.actions import ActionRange
from donkeysim.envs.autoreset import AutoresetMode, read_mode
from donkeysim.envs.built_in import configure_car, specify_place
from donkeysim.envs.conf import EnvConf, read_conf
from donkeysim.envs.fleet import Fleet, FleetSnapshot
from donkeysim.envs.observations import Observer
from donkeysim.envs.rules import make_info
from donkeysim.envs.sensor_frame import SensorFrame
from donkeysim.envs.tasks import make_original_end, make_original_reward, make_task
from donkeysim.envs.track_settings import check_count
from donkeysim.envs.vector_env import FleetVectorEnv, choose_threads
from donkeysim.world.specs import LidarSpec

_NO_PICTURE = np.zeros((0, 0, 0), np.uint8)
"""In place of the first camera's in moments that only `info` is made of; pictures come from the observer."""


class DonkeyVectorEnv(FleetVectorEnv):
    """Many cars, each alone on the same track."""

    def __init__(
        self,
        num_envs: int = 1,
        scene: str = "generated_track",
        conf: Mapping[str, object] | None = None,
        *,
        threads: int | None = None,
        copy: bool = True,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        render_mode: str | None = None,
    ) -> None:
        """Make the cars; the first time on a machine their kernels are compiled, which takes half a minute.

        Args:
            scene: Name of the track.
            conf: See docs/envs/donkey_env.md, but for `host`, `port` and `exe_path`.
            threads: None: one per core.
            copy: False: observations are valid until the next but one step.
            autoreset_mode: One of Gymnasium's three.
            render_mode: "rgb_array" or None.

        Raises:
            SpecError: Something asked for is not possible.
            SceneError: There is no such scene here.
        """
        self.conf = read_conf(conf)
        if self.conf.is_remote:
            raise SpecError(
                "conf names a simulator elsewhere (host, port or exe_path), but a batch drives in this process; leave "
                "these keys out, or make single environments with vectorization_mode='sync'."
            )
        if self.conf.real_time:
            raise SpecError(
                "real_time is for a single environment, as a person drives in it; leave it out for a batch."
            )
        check_count("num_envs", num_envs)
        fleet = Fleet(
            replace(self.conf.experiment, scenes=(specify_place(scene, self.conf),)),
            num_envs,
            worker_count=choose_threads(threads, num_envs),
        )
        fleet.open(None, resets=True)
        for car in range(num_envs):
            configure_car(fleet.simulator, car, self.conf)
        max_cte, mode = self.conf.max_cte, read_mode(autoreset_mode)
        super().__init__(
            fleet,
            make_task(make_original_reward(max_cte), [make_original_end(max_cte)]),
            _make_observer(fleet, self.conf, copy, mode),
            ActionRange(self.conf.steer_limit, self.conf.throttle_min, self.conf.throttle_max),
            _DonkeyInfo(fleet, self.conf),
            autoreset_mode=mode,
            copy=copy,
            render_mode=render_mode,
        )

    def _drive_and_judge(self) -> None:
        """Let `frame_skip` twentieths of a second pass; cars whose episode ends on the way stay as they are then."""
        over: BoolArray = np.zeros(self.num_envs, bool)
        reward = np.zeros(self.num_envs)
        held: list[tuple[FleetSnapshot, list[int]]] = []
        for turn in range(self.conf.frame_skip):
            step = self.fleet.advance(*self._asked_rows)
            fresh, ended, truncated = self._task.judge(step)
            reward = np.where(over, reward, fresh)
            ended &= ~over
            if ended.any() and turn + 1 < self.conf.frame_skip:
                held.append((self.fleet.snapshot(), np.flatnonzero(ended).tolist()))
            over |= ended
        for moment, worlds in held:
            self.fleet.restore(moment, worlds)
        verdicts = self._verdicts
        verdicts.reward[:], verdicts.terminated[:], verdicts.truncated[:] = reward, over, truncated


def _make_observer(fleet: Fleet, conf: EnvConf, copies: bool, mode: AutoresetMode) -> Observer:
    camera = fleet.simulator.get_camera(0)
    assert camera is not None, "read_conf always asks for one"
    name = "grey" if conf.cam_resolution[2] == 1 else "camera"
    return Observer(
        fleet,
        name,
        [camera],
        LidarSpec(),
        1,
        is_luma=True,
        set_count=1 if copies else 2,
        keeps_last=mode is AutoresetMode.SAME_STEP,
    )


class _DonkeyInfo:
    """Writes of every car what the `info` of `DonkeyEnv` has of one; implements `vector_env.InfoWriter`."""

    def __init__(self, fleet: Fleet, conf: EnvConf) -> None:
        simulator = fleet.simulator
        self._fleet, self._conf = fleet, conf
        self._is_silent = simulator.scene.start.is_silent
        camera, cars = simulator.get_camera(0, second=True), range(simulator.car_count)
        self._second = camera and simulator.renderer.make_group(cars, [camera] * len(cars), [True] * len(cars))
        self.now: dict[str, NDArray[Any]] = {}
        self.last: dict[str, NDArray[Any]] = {}

    def write(self, is_last: bool) -> None:
        """See `InfoWriter.write`."""
        if self._second:
            self._fleet.simulator.render_group(self._second)
        infos = [make_info(self._sense(car), self._conf.lidar) for car in range(self._fleet.simulator.car_count)]
        columns = {name: _stack([info[name] for info in infos]) for name in infos[0]}
        if is_last:
            self.last = columns
        else:
            self.now = columns

    def _sense(self, car: int) -> SensorFrame:
        simulator, ledger = self._fleet.simulator, self._fleet.simulator.ledger
        picture = self._second.frame.colour[car] if self._second else None
        # Only the last lap and their number are known, and those only where the original would report the start line.
        lap_times = (float(ledger.lap_time[car]),) * (0 if self._is_silent else int(ledger.laps[car]))
        return SensorFrame(simulator.observe_telemetry(car), _NO_PICTURE, picture, simulator.scan_lidar(car), lap_times)


def _stack(values: list[Any]) -> NDArray[Any]:
    """Return one array of all cars' values; texts as objects, as Gymnasium's own batches have them."""
    return np.array(values, object) if isinstance(values[0], str) else np.array(values)
