"""What there is to learn: tracks, cars, actions and the reward, as batches to learn in and to check in."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import torch.utils.dlpack

from donkeysim.core.errors import SpecError
from donkeysim.core.types import BoolArray, FloatArray
from donkeysim.drivers.path_follower import PathFollower
from donkeysim.envs.step import Step
from donkeysim.envs.tasks import Reward
from donkeysim.envs.track_env import TrackVectorEnv
from donkeysim.envs.track_settings import list_undrawn
from donkeysim.rl.observation import FRAME_SKIP, PICTURE_HEIGHT, PICTURE_WIDTH, ObservationSpec
from donkeysim.world.camera_file import load_camera
from donkeysim.world.experiment import Experiment
from donkeysim.world.randomization import RandomizationSpec
from donkeysim.world.scene import Scene
from donkeysim.world.specs import CameraSpec, SceneSpec, load_car

FRAME = 0.05
"""Of the simulator [s]."""

THROTTLE_RANGE = (-0.2, 0.4)
"""What it may ask for; a way to slow down matters more than one to go faster."""

# Enough to make up in straights for bends; a reward without an end would buy speed with safety.
HEADROOM = 1.15
"""Going faster than the wanted mean speed times this earns nothing more."""

EDGE = 0.04
"""Distance of the car's middle from the road's edge at which an episode ends [m]: who learns leaves a little room."""

# Far longer than the three seconds of rewards that count, so an episode's cut is felt by few of its steps; short enough
# that every car soon sees other places.
EPISODE_TIME = 40.0
"""After which an episode is cut off [s]."""

# At 2 m/s as much as four steps can earn. What comes no more costs a policy up to 33, with the discount of 0.97: this
# says so before the critic, which is new, can.
END_COST, SPEED_COST = 2.0, 0.5
"""Taken away where an episode ends by a rule: so much, and this share more for each m/s."""

# Some eight steps of 128 cars: soon known, and still right when a policy gets better.
SCALED_STEPS = 1000
"""The scale of a reward of one's own is measured over about this many of the last steps."""

CHANGE_COST = 0.6
"""Taken away for a change of the steering by 1: without it, policies rattle at the wheel."""


@dataclass(frozen=True)
class TrainingSetup:
    """Where, with how many cars, and towards what speed a policy learns.

    Attributes:
        scenes: Worlds take turns on them.
        car_count: Cars, each alone in its world.
        share: Of the mean speed that the fast pace car plans there, the one to reach.
        observation: What the policy sees.
        randomization: What differs from car to car and from episode to episode.
        car: Preset of their physics, or a file.
        camera: What looks out of them, as `camera_file.load_camera` takes it; empty: the car's own.
        fastest: Mean speed that the fast pace car plans on each scene [m/s]; see `plan`.
        checked: How many of the scenes, the first ones, policies are checked on; None: all.
        reward: Of one's own, of any scale; None: see `make_pace_reward`.
        device: What drives the cars that learn, and what the policy learns on: "cpu", or "cuda" for a GPU.
    """

    scenes: tuple[SceneSpec, ...]
    car_count: int = 128
    share: float = 0.5
    observation: ObservationSpec = field(default_factory=ObservationSpec)
    randomization: RandomizationSpec = field(default_factory=RandomizationSpec)
    car: str = Experiment.car
    camera: str = ""
    fastest: tuple[float, ...] = ()
    checked: int | None = None
    reward: Reward | None = None
    device: str = "cpu"

    @property
    def checks(self) -> TrainingSetup:
        """The course to check policies on."""
        return replace(self, scenes=self.scenes[: self.checked], fastest=self.fastest[: self.checked], checked=None)

    def check_device(self) -> None:
        """Make sure that the device is there and draws all that is asked for, before anything takes time.

        Raises:
            SpecError: It is not, or does not.
        """
        if self.device == "cpu":
            return
        undrawn = list_undrawn(self.randomization)
        if undrawn:
            raise SpecError(
                f"the randomization has {', '.join(undrawn)}, which a GPU does not draw; give a file without, or leave "
                "the device out."
            )
        if not torch.cuda.is_available():
            raise SpecError(
                f"the device is {self.device!r}, and PyTorch {torch.__version__} finds no GPU; install PyTorch with "
                "CUDA (pytorch.org says how), or leave the device out."
            )

    def make_camera(self) -> CameraSpec:
        """Return the camera whose pictures, 160x120, pilots get.

        Raises:
            SpecError: There is no such car or camera, or the camera cuts rows off.
        """
        own = load_car(self.car).camera
        chosen = load_camera(self.camera, own) if self.camera else own
        if chosen.crop_top or chosen.crop_bottom:
            raise SpecError(
                f"a camera that cuts off {chosen.crop_top} rows above and {chosen.crop_bottom} below is not valid "
                "here: pilots get whole pictures; leave out crop_top and crop_bottom."
            )
        return replace(chosen, width=PICTURE_WIDTH, height=PICTURE_HEIGHT)

    def plan(self, scenes: Iterable[Scene]) -> TrainingSetup:
        """Return the course with what the fast pace car plans on its scenes, built."""
        car = load_car(self.car)
        plans = (PathFollower(scene, car, "fast").plan for scene in scenes)
        return replace(self, fastest=tuple(float(plan.length.sum()) / plan.lap_time for plan in plans))

    def find_wanted_speed(self) -> float:
        """Return the mean of the speeds to reach [m/s]."""
        return self.share * float(np.mean(self.fastest))

    def list_names(self) -> list[str]:
        """Return a name for each scene, of random roads with style and seed."""
        return [_name_scene(scene) for scene in self.scenes]

    def make_train_env(self, observe: Sequence[str]) -> TrackVectorEnv:
        """Return the batch to learn in; episodes begin all over the road.

        Args:
            observe: Names of observations: "grey" or "camera" is the policy's crop, "camera_b" the whole picture. Each
                holds as many moments as the policy sees at once, the oldest first.
        """
        most: Any = np.resize(HEADROOM * self.share * np.array(self.fastest), self.car_count)
        if self.device != "cpu":
            most = torch.from_numpy(most).to(self.device)
        return TrackVectorEnv(
            self.car_count,
            self.scenes,
            device=self.device,
            convert=torch.utils.dlpack.from_dlpack,
            observe=tuple(observe),
            stack=self.observation.pictures,
            camera=self.observation.make_camera(self.make_camera()),
            camera_b=self.make_camera(),
            reward=make_pace_reward(most) if self.reward is None else make_even(self.reward),
            ends=(end_near_edge, "hit", "wrong_way", "standstill", "tilted"),
            throttle_range=THROTTLE_RANGE,
            frame_skip=FRAME_SKIP,
            time_limit=EPISODE_TIME,
            randomization=self.randomization,
            car=self.car,
        )

    def make_check_env(self, cars_per_scene: int, is_varied: bool = False) -> TrackVectorEnv:
        """Return the batch to check in: pictures and decisions as on the road; whoever leaves the road is out.

        Args:
            cars_per_scene: Cars on each scene, alone in their worlds.
            is_varied: Whether they differ as the course says; else they are as they should be.
        """
        return TrackVectorEnv(
            cars_per_scene * len(self.scenes),
            self.scenes,
            copy=False,
            observe="camera",
            stack=self.observation.frames,
            camera=self.make_camera(),
            throttle_range=THROTTLE_RANGE,
            time_limit=None,
            ends=(end_departure, "hit", "wrong_way", "standstill", "tilted"),
            randomization=self.randomization if is_varied else RandomizationSpec(),
            car=self.car,
        )


def _name_scene(scene: SceneSpec) -> str:
    road = scene.road
    return scene.name if road is None else f"{scene.name}, style {road.style}, seed {road.seed}"


def end_departure(step: Step) -> BoolArray:
    """Say who is off the road, be it for a moment."""
    is_off: BoolArray = step.off_road_time > 0.0
    return is_off


def end_near_edge(step: Step) -> BoolArray:
    """Say who is off the road, or nearly."""
    left, right = step.width_left - step.offset, step.width_right + step.offset
    is_near: BoolArray = (step.off_road_time > 0.0) | (left < EDGE) | (right < EDGE)
    return is_near


def make_even(reward: Reward) -> Reward:
    """Return a reward at the scale that learning expects, whatever it pays: over its root mean square."""
    mean_square, count = 0.0, 0

    def reward_evenly(step: Step) -> FloatArray:
        nonlocal mean_square, count
        paid, count = reward(step), min(count + 1, SCALED_STEPS)
        mean_square += (float((paid * paid).mean()) - mean_square) / count
        even: FloatArray = paid / max(math.sqrt(mean_square), 1e-9)
        return even

    return reward_evenly


def make_pace_reward(most: Any) -> Reward:
    """Return the reward, at most about 1 a step.

    Args:
        most: Speed above which there is nothing more to earn, of each car [m/s], as steps have their arrays.
    """

    def reward_pace(step: Step) -> FloatArray:
        pace = (step.gain / (FRAME * FRAME_SKIP * most)).clip(max=1.0)
        change = abs(step.steer - step.previous_steer)
        speed = step.forward_speed.clip(min=0.0)
        reward: FloatArray = pace - CHANGE_COST * change - END_COST * (1.0 + SPEED_COST * speed) * step.ended
        return reward

    return reward_pace
