"""What there is to learn: tracks, cars, actions and the reward, as batches to learn in and to check in.

A policy sees a crop of the car's picture below the horizon, coarse and grey, or in colour. While it learns, the camera
draws just that crop at just that size. On the road the pilot gets whole pictures of 160x120, and its network's first
two layers make the crop of them; both look alike (`tests/rl/test_learning_to_drive.py`).
"""

import functools
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
import torch
import torch.utils.dlpack

from donkeysim.core.errors import SpecError
from donkeysim.core.types import BoolArray, ByteArray, Float32Array, FloatArray
from donkeysim.drivers.path_follower import PathFollower
from donkeysim.envs.step import Step
from donkeysim.envs.tasks import Reward
from donkeysim.envs.track_env import TrackVectorEnv
from donkeysim.envs.track_settings import list_undrawn
from donkeysim.world.camera_file import load_camera
from donkeysim.world.experiment import Experiment
from donkeysim.world.randomization import RandomizationSpec
from donkeysim.world.scene import Scene
from donkeysim.world.specs import CameraSpec, SceneSpec, load_car

PICTURE_HEIGHT, PICTURE_WIDTH = 120, 160
"""Of the pictures that pilots get [pixel]."""

LUMA = (0.2126, 0.7152, 0.0722)
"""Weights of red, green and blue in the camera's grey."""

FRAME_SKIP = 2
"""Frames of the simulator from one decision, and one picture, to the next while it learns: 10 a second. On the road it
decides in every frame."""

MOST_PICTURES = 4
"""That a policy may see at once."""

FRAME = 0.05
"""Of the simulator [s]."""

THROTTLE_RANGE = (-0.2, 0.4)
"""What it may ask for; a way to slow down matters more than one to go faster."""

# Enough to make up in straights for bends; a reward without an end would buy speed with safety.
HEADROOM = 1.15
"""Going faster than the wanted mean speed times this earns nothing more."""

EDGE = 0.04
"""Distance of the car's middle from the road's edge at which an episode ends [m]: so pilots leave a little room."""

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
class ObservationSpec:
    """The crop, and how many of them are seen at once.

    Attributes:
        crop_top: Rows cut off the top of the whole picture [pixel].
        crop_bottom: Rows cut off its bottom [pixel].
        pooling: Pixels of the picture, both ways, that make one of the crop.
        has_colour: Whether it is in colour; else grey.
        pictures: How many crops are seen at once, `FRAME_SKIP` frames apart, the oldest first: two show the speed.
    """

    crop_top: int = 40
    crop_bottom: int = 0
    pooling: int = 2
    has_colour: bool = False
    pictures: int = 1

    def __post_init__(self) -> None:
        if not 1 <= self.pictures <= MOST_PICTURES:
            raise SpecError(f"{self.pictures} pictures at once are not valid; a policy sees 1 to {MOST_PICTURES}.")
        rows = (self.crop_top, self.crop_bottom, PICTURE_HEIGHT, PICTURE_WIDTH)
        if self.pooling < 1 or any(count < 0 or count % self.pooling for count in rows):
            raise SpecError(
                f"a band with {self.crop_top} rows cut off above and {self.crop_bottom} below, {self.pooling} pixels "
                "to one, is not valid; all of them must be multiples of the pooling."
            )

    @property
    def shape(self) -> tuple[int, int, int]:
        """Channels of all crops, height and width."""
        rows = PICTURE_HEIGHT - self.crop_top - self.crop_bottom
        return self.pictures * self.depth, rows // self.pooling, PICTURE_WIDTH // self.pooling

    @property
    def depth(self) -> int:
        """Channels of one crop."""
        return 3 if self.has_colour else 1

    @property
    def frames(self) -> int:
        """Pictures in a row that hold those which are seen, on the road."""
        return (self.pictures - 1) * FRAME_SKIP + 1

    def make_camera(self, camera: CameraSpec) -> CameraSpec:
        """Return the camera that draws the crop, as this one would see it."""
        return replace(
            camera,
            width=PICTURE_WIDTH // self.pooling,
            height=PICTURE_HEIGHT // self.pooling,
            crop_top=self.crop_top // self.pooling,
            crop_bottom=self.crop_bottom // self.pooling,
            grey=not self.has_colour,
        )

    def read_crop(self, picture: torch.Tensor) -> torch.Tensor:
        """Return what that camera drew, uint8, shape [n, height, width, channels], with the channels second.

        Args:
            picture: All crops side by side, the oldest first.
        """
        return picture[..., : self.shape[0]].permute(0, 3, 1, 2)

    def cut_crop(self, picture: ByteArray) -> torch.Tensor:
        """Return the crops of whole colour pictures as the pilot's network makes them, 0 to 1.

        Args:
            picture: uint8, shape [n, 120, 160, 3 * frames], the oldest first.
        """
        return self.pool_band(picture[:, self.crop_top : PICTURE_HEIGHT - self.crop_bottom])

    def pool_band(self, band: ByteArray) -> torch.Tensor:
        """Return the same of the pictures' rows that the crop is made of, shape [n, rows, 160, 3 * frames]."""
        count, rows, width, _ = band.shape
        height, wide = rows // self.pooling, width // self.pooling
        seen = band.reshape(count, height, self.pooling, width, self.frames, 3)[..., ::FRAME_SKIP, :]
        # All rows of the kernel are alike, so they are summed first, as whole numbers: quicker than a convolution.
        summed = sum((seen[:, :, row] for row in range(1, self.pooling)), seen[:, :, 0].astype(np.uint16))
        cells = summed.reshape(count, height, wide, self.pooling, self.pictures, 3).swapaxes(3, 4)
        crops = cells.reshape(-1, 3 * self.pooling).astype(np.float32) @ self._weights
        return torch.from_numpy(crops).view(count, height, wide, self.shape[0]).permute(0, 3, 1, 2)

    @functools.cached_property
    def _weights(self) -> Float32Array:
        """Of the pixels of one row of a kernel, 0 to 255, shape [3 * pooling, depth]."""
        weights: Float32Array = self.make_kernel()[0].reshape(3 * self.pooling, self.depth) / np.float32(255.0)
        return weights

    def make_kernel(self) -> Float32Array:
        """Return the weights that make the crop of a picture, shape [pooling, pooling, 3, depth]."""
        mix = np.eye(3) if self.has_colour else np.array(LUMA)[:, None]
        return np.tile(mix / self.pooling**2, (self.pooling, self.pooling, 1, 1)).astype(np.float32)

    def make_kernel_in_time(self) -> Float32Array:
        """Return those that make the crops of pictures in a row, shape [frames, pooling, pooling, 3, channels]."""
        one, depth = self.make_kernel(), self.depth
        kernel = np.zeros((self.frames, *one.shape[:-1], self.shape[0]), np.float32)
        for index in range(self.pictures):
            kernel[index * FRAME_SKIP, ..., index * depth : (index + 1) * depth] = one
        return kernel


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
    def checks(self) -> Self:
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

    def plan(self, scenes: Iterable[Scene]) -> Self:
        """Return the course with what the fast pace car plans on its scenes, built."""
        car = load_car(self.car)
        plans = (PathFollower(scene, car, "fast").plan for scene in scenes)
        return replace(self, fastest=tuple(float(plan.length.sum()) / plan.lap_time for plan in plans))

    def find_wanted_speed(self) -> float:
        """Return the mean of the speeds to reach [m/s]."""
        return self.share * float(np.mean(self.fastest))

    def list_names(self) -> list[str]:
        """Return a name for each scene, of random roads with style and seed."""
        return [
            scene.name if scene.road is None else f"{scene.name}, style {scene.road.style}, seed {scene.road.seed}"
            for scene in self.scenes
        ]

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

        Of the pictures it draws the rows that the policy sees.

        Args:
            cars_per_scene: Cars on each scene, alone in their worlds.
            is_varied: Whether they differ as the course says; else they are as they should be.
        """
        crop = self.observation  # the rows that it is made of are drawn, to the byte
        return TrackVectorEnv(
            cars_per_scene * len(self.scenes),
            self.scenes,
            copy=False,
            observe="camera",
            stack=self.observation.frames,
            camera=replace(self.make_camera(), crop_top=crop.crop_top, crop_bottom=crop.crop_bottom),
            throttle_range=THROTTLE_RANGE,
            time_limit=None,
            ends=(end_departure, "hit", "wrong_way", "standstill", "tilted"),
            randomization=self.randomization if is_varied else RandomizationSpec(),
            car=self.car,
        )


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
