"""Learning to come back from drives in which nobody strayed: what a recorded picture would be from beside the line.

A tub shows the road from where its driver was, and no label for any other place; a pilot of it alone strays a
little, sees what it never saw, and strays more (covariate shift). The floor is flat and the camera is known, so each
picture can be moved over it, a little aside and turned, and labelled with the steering that leads back. What stands
above the floor is moved as if it were far away.

References:
    Pomerleau, ALVINN: an autonomous land vehicle in a neural network, NIPS (1989): shifted views with labels that
    return to the line. Bojarski et al., End to end learning for self-driving cars, https://arxiv.org/abs/1604.07316.
    Ross, Gordon, Bagnell, A reduction of imitation learning to no-regret online learning, AISTATS (2011).
"""

import itertools
import logging
import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from donkeysim.core.errors import DonkeySimError, SpecError, import_extra
from donkeysim.core.rotation import make_rotation
from donkeysim.core.types import BoolArray, ByteArray, Float32Array, FloatArray
from donkeysim.envs.conf import read_conf
from donkeysim.learn.kinds import PilotKind, read_spec
from donkeysim.learn.options import TrainingOptions
from donkeysim.physics.vehicle import compute_rest_height
from donkeysim.render.warp import find_pixels, list_rays
from donkeysim.wire.equipment import ConfigureCamera
from donkeysim.wire.reading import read_request
from donkeysim.wire.settings import change_camera
from donkeysim.world.lens import make_plain_lens
from donkeysim.world.specs import CameraSpec, CarSpec
from donkeysim.world.state import find_car

_log = logging.getLogger(__name__)

# Five widths of a wheel aside and 17° askew: as far as a pilot strays that is about to come back.
ASIDE, TURN = 0.25, 0.3
"""Greatest distance [m] and angle [rad] that a picture is moved by; less far where the way back is shorter."""

# A little farther than people look while they drive so slowly: nearer swings about the line.
LOOK_AHEAD = 0.8
"""Distance after which the steering has led back [m]; less where a track is tight."""

# The way back cuts bends by the square of its length. Ten people in the simulator steer by 2.06 m and more in the mean,
# so that there it is 0.8 m; between tapes 43 cm apart by 0.9 m, where 0.8 m leaves the road (decision 0031).
BEND_SHARE = 0.4
"""Greatest look-ahead as a share of the radius by which the car was steered in the mean."""

SHARE = 0.8
"""Of the pictures that are moved."""

VIEW_COUNT, MAP_PIXELS = 256, 20_000_000
"""Different movements; each is computed once, fewer where pictures are so large that they would have more pixels in
all, of 6 bytes."""

FARTHEST = 50.0
"""What is higher than the camera, and floor farther away, is moved as if it were so far away [m]."""

# Pure pursuit of the way that was driven then: 2 y / s² of the place after s is a mean over the way there that falls
# from the first curvature to the last. It is steadier than hands, and earlier than those who react late.
AHEAD = 0.4
"""Time over which the steering to come is averaged [s]."""

PEDAL = 0.5
"""Time before and after over which the throttle is averaged [s]."""

EXAMPLES = 40_000
"""How many moved pictures are learned from, or `LEAST_PASSES` times all records where that is more."""

LEAST_PASSES = 4

ROAD_KEPT = ("CROP", "TRAPEZE", "TRAPEZE_EDGE", "BLUR")
"""Transformations after which a road still looks like one, where it is seen."""


@dataclass(frozen=True)
class Recipe:
    """What is done beside what the original does; all of it, unless an experiment leaves something out.

    Attributes:
        start: Begin with the network of the package's pilot `anywhere`, which knows roads, where it takes the pictures
            and no other pilot is to be trained further.
        views: Move pictures, see `Views`.
        labels: Average the commands, see `AHEAD` and `PEDAL`.
        light: Vary the brightness where AUGMENTATIONS names nothing.
    """

    start: bool = True
    views: bool = True
    labels: bool = True
    light: bool = True


def choose_recipe(config: Any, kind: PilotKind, is_transfer: bool) -> Recipe | None:
    """Return what TRAIN_RECIPE of a configuration asks for; None: train as the original does."""
    if getattr(config, "TRAIN_RECIPE", "original") == "original":
        return None
    if kind.name != "linear":
        _log.info("TRAIN_RECIPE is for linear pilots: as the type is %s, this trains as the original does", kind.name)
        return None
    changing = [name for name in (*config.TRANSFORMATIONS, *config.POST_TRANSFORMATIONS) if name not in ROAD_KEPT]
    if changing and not is_transfer:
        _log.info("after %s the package's network would not know a road: a new one learns", ", ".join(changing))
    return Recipe(start=not (changing or is_transfer))


class Views:
    """Moves pictures of a camera over the floor, and the steering with them."""

    def __init__(self, camera: CameraSpec, car: CarSpec, angle: FloatArray, seed: int) -> None:
        """Draw the movements.

        Args:
            camera: That took the pictures; of their size.
            car: That carries it, at rest.
            angle: How it was steered, shape [n].
        """
        self._cv2 = import_extra("cv2", "moving pictures needs OpenCV")
        axle = [position[0] for position in car.wheel_position]
        self._base = max(axle) - min(axle)
        self._gain = car.steer_gain
        bend = float(np.abs(np.tan(angle * self._gain)).mean()) / self._base
        self._look_ahead = min(LOOK_AHEAD, BEND_SHARE / max(bend, 1e-9))
        rng = np.random.default_rng([seed, 2])
        count = min(VIEW_COUNT, max(1, MAP_PIXELS // (camera.width * camera.height)))
        self._aside = rng.uniform(-ASIDE, ASIDE, count) * (self._look_ahead / LOOK_AHEAD)
        self._turn = rng.uniform(-TURN, TURN, count)
        height, ahead = camera.position[2] + compute_rest_height(car), camera.position[0] - min(axle)
        view = _View(camera, height, ahead)
        pairs = zip(self._aside, self._turn, strict=True)
        self._maps = [self._cv2.convertMaps(*view.find_source(*pair), self._cv2.CV_16SC2) for pair in pairs]

    def move(self, picture: ByteArray, angle: float, rng: np.random.Generator) -> tuple[ByteArray, float]:
        """Return a picture as it would be from elsewhere, and the steering (+ = right) that leads back from there."""
        if rng.random() >= SHARE:
            return picture, angle
        number = int(rng.integers(len(self._maps)))
        cv2 = self._cv2
        moved = cv2.remap(picture, *self._maps[number], cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
        return moved.reshape(picture.shape), self.lead_back(angle, self._aside[number], self._turn[number])

    def lead_back(self, angle: float, aside: float, turn: float) -> float:
        """Return the steering that leads to the same place from beside the line.

        Args:
            angle: The steering on the line, + = right.
            aside: How far left of it [m].
            turn: How far turned to the left [rad].
        """
        curvature = math.tan(angle * self._gain) / self._base
        curvature += 2.0 * (aside + self._look_ahead * math.sin(turn)) / self._look_ahead**2
        return max(-1.0, min(1.0, math.atan(curvature * self._base) / self._gain))


class _View:
    """The floor before a car as a camera sees it."""

    def __init__(self, camera: CameraSpec, height: float, ahead: float) -> None:
        """Find where pixels look; `height`: above the floor, `ahead`: of the rear axle [m]."""
        lens = camera.lens or make_plain_lens((camera.width, camera.height), camera.fov)
        self._camera, self._ahead = replace(camera, lens=lens), ahead
        right, down = map(np.nan_to_num, list_rays(self._camera))
        self._axes: FloatArray = make_rotation(camera.rotation).reshape(3, 3)
        rays = self._axes[:, 0] - right[..., None] * self._axes[:, 1] - down[..., None] * self._axes[:, 2]
        falls = np.maximum(-rays[..., 2:], height / FARTHEST)
        self._seen: FloatArray = rays * (height / falls) + (ahead, 0.0, 0.0)

    def find_source(self, aside: float, turn: float) -> tuple[Float32Array, Float32Array]:
        """Return the column and row in the recorded picture of what each pixel shows from elsewhere."""
        c, s = math.cos(turn), math.sin(turn)
        x, y, z = self._seen[..., 0], self._seen[..., 1], self._seen[..., 2]
        there = np.stack([c * x - s * y - self._ahead, s * x + c * y + aside, z], axis=-1) @ self._axes
        along = np.maximum(there[..., 0], 1e-3)
        column, row = find_pixels(self._camera, -there[..., 1] / along, -there[..., 2] / along)
        return column.astype(np.float32), row.astype(np.float32)


def find_camera(config: Any) -> tuple[CameraSpec, CarSpec]:
    """Return the camera that a car's configuration describes, and the car that carries it.

    A GYM_CONF that cannot be read stops driving, but not training: it is logged, and a new car's camera is used.
    """
    height, width, _ = read_spec(config).image_shape
    try:
        camera, car = _read_camera(getattr(config, "GYM_CONF", None))
    except DonkeySimError as error:
        _log.warning("%s Pictures are moved as those of a new car's camera.", error)
        camera, car = _read_camera(None)
    return replace(camera, width=width, height=height, crop_top=0, crop_bottom=0), car


def _read_camera(gym_conf: Any) -> tuple[CameraSpec, CarSpec]:
    conf = read_conf(gym_conf)
    car = find_car(conf.experiment.specify_world())
    camera = car.camera
    for message in conf.messages:
        request = read_request(message).request
        if isinstance(request, ConfigureCamera) and message["msg_type"] == "cam_config":
            camera = change_camera(camera, request)
    return camera, car


def find_rate(config: Any) -> float:
    """Return the records per second that a configuration asks for; 20, and a warning, where it cannot be read."""
    try:
        return float(config.DRIVE_LOOP_HZ)
    except SpecError as error:
        _log.warning("%s 20 records a second are meant.", error)
        return 20.0


def smooth_commands(
    angle: FloatArray, throttle: FloatArray, follows: BoolArray, rate: float
) -> tuple[FloatArray, FloatArray]:
    """Return the steering averaged over what comes, and the throttle over what is about it; within drives only.

    Args:
        angle: Shape [n].
        throttle: Shape [n].
        follows: Record i was taken right after record i - 1, shape [n].
        rate: Records per second.
    """
    ahead, around = max(1, round(AHEAD * rate)), round(PEDAL * rate)
    falling = np.arange(ahead, 0, -1) / (0.5 * ahead * (ahead + 1))
    even = np.full(2 * around + 1, 1.0 / (2 * around + 1))
    smooth_angle, smooth_throttle = angle.copy(), throttle.copy()
    starts = [*np.flatnonzero(~follows).tolist(), len(angle)]
    for begin, end in itertools.pairwise(starts):
        longer = np.pad(angle[begin:end], (0, ahead - 1), mode="edge")
        smooth_angle[begin:end] = np.correlate(longer, falling, "valid")
        longer = np.pad(throttle[begin:end], around, mode="edge")
        smooth_throttle[begin:end] = np.correlate(longer, even, "valid")
    return smooth_angle, smooth_throttle


def plan_steps(options: TrainingOptions, count: int) -> TrainingOptions:
    """Return options for a training of known length; MAX_EPOCHS may make it shorter.

    Args:
        count: Of the examples to learn from.
    """
    epochs = min(options.max_epochs, max(LEAST_PASSES, math.ceil(EXAMPLES / count)))
    steps = epochs * math.ceil(count / options.batch_size)
    return replace(options, max_epochs=epochs, use_early_stop=False, fall_steps=steps)
