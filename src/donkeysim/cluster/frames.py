"""Labelled frames: which there are, and how a shard of them comes about.

Frame i of a dataset is a function of what was asked for and of i. A shard is made by one process from its own seeds, so
that its bytes do not depend on who makes it, how many others there are, or what was made before.
"""

from __future__ import annotations

import functools
import io
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from PIL import Image

from donkeysim.core.errors import SpecError, describe_unknown
from donkeysim.core.image import encode_picture
from donkeysim.core.rng import hash_rows
from donkeysim.core.types import ByteArray, Float32Array, FloatArray
from donkeysim.drivers.human_driver import HumanDriver
from donkeysim.drivers.path_follower import STYLES, PathFollower
from donkeysim.envs.fleet import Fleet
from donkeysim.envs.step import Step
from donkeysim.world.experiment import Experiment
from donkeysim.world.randomization import read_randomization
from donkeysim.world.specs import CameraSpec, SceneSpec, load_car
from donkeysim.world.tracks import specify_scene
from donkeysim.world.tracks.catalogue import find_track

DRIVERS = ("human", *STYLES)
"""Who may drive: hands that shake and are pushed aside now and then, and the path follower's styles."""

ENCODINGS = {"jpg": "JPG", "png": "PNG"}
"""Of pictures, by name."""

DEPTH_STEP = 0.001
"""Unit of distances in 16-bit pictures [m]; 0 stands for the sky, and for what is farther than 65.535 m."""

# A second: springs have settled (9 Hz, a third of critical damping) and cars move.
WARM_UP = 20
"""Frames that pass before a shard's first one: cars have left the poses that they were put in."""

PATIENCE = 2.0
"""A car that is off the road for so long begins anew [s]."""

_WORD = 0x7FFFFFFFFFFFFFFF


@dataclass(frozen=True)
class FramesSpec:
    """Which frames a dataset has.

    Attributes:
        tracks: Names of tracks, or their files; cars take turns on them.
        frames: How many.
        shard: Frames of a file; the last one has the rest.
        cars: That a shard is driven with, each alone.
        every: Twentieths of a simulated second from one frame of a car to its next.
        drivers: Of `DRIVERS`; cars take turns.
        width: Of pictures [pixel].
        height: Of the pictures [pixel].
        encoding: Of pictures, of `ENCODINGS`.
        depth: Whether distances are written.
        classes: Whether classes are written.
        randomization: Name of a preset, or a file; empty: nothing differs.
        seed: Of all chance.

    Raises:
        SpecError: A number or name is not possible.
    """

    tracks: tuple[str, ...] = ("generated_track",)
    frames: int = 10_000
    shard: int = 1000
    cars: int = 10
    every: int = 4
    drivers: tuple[str, ...] = DRIVERS
    width: int = 160
    height: int = 120
    encoding: str = "jpg"
    depth: bool = True
    classes: bool = True
    randomization: str = ""
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("frames", "shard", "cars", "every"):
            if getattr(self, name) < 1:
                raise SpecError(f"{name} is {getattr(self, name)}; it takes a whole number, 1 or more.")
        for driver in self.drivers:
            if driver not in DRIVERS:
                raise SpecError(describe_unknown("driver", driver, DRIVERS))
        if self.encoding not in ENCODINGS:
            raise SpecError(describe_unknown("encoding", self.encoding, ENCODINGS))
        if not self.tracks or not self.drivers:
            raise SpecError("no track or no driver was given; name at least one of each.")
        self.make_camera()

    @property
    def shard_count(self) -> int:
        """How many files there are."""
        return -(-self.frames // self.shard)

    def count_frames(self, number: int) -> int:
        """Return how many frames a shard has."""
        return min(self.shard, self.frames - number * self.shard)

    def make_camera(self) -> CameraSpec:
        """Return the default car's camera with this size."""
        lens = load_car("original").camera
        return CameraSpec(
            **vars(lens) | {"width": self.width, "height": self.height, "depth": self.depth, "segment": self.classes}
        )

    def make_experiment(self) -> Experiment:
        """Return what is simulated.

        Raises:
            DonkeySimError: There is no such track or randomisation.
        """
        scenes = tuple(specify_scene(SceneSpec(name)) for name in self.tracks)
        for scene in scenes:
            find_track(scene)
        return Experiment(scenes, randomization=read_randomization(self.randomization or None))


@functools.lru_cache(maxsize=2)
def open_stage(spec: FramesSpec) -> Stage:
    """Return where shards of a dataset are driven; building tracks and plans takes seconds, so it is kept."""
    return Stage(spec)


class Stage:
    """Cars and drivers for shards of one dataset, one shard after another."""

    def __init__(self, spec: FramesSpec) -> None:
        self._spec = spec
        self._fleet = Fleet(spec.make_experiment(), spec.cars)
        self._fleet.open(spec.make_camera())
        simulator = self._fleet.simulator
        self._humans: dict[int, HumanDriver] = {}
        self._followers: dict[int, PathFollower] = {}
        plans: dict[tuple[int, str], PathFollower] = {}
        for car in range(spec.cars):
            scene, style = simulator.get_scene(car), spec.drivers[car // len(spec.tracks) % len(spec.drivers)]
            if style == "human":
                self._humans[car] = HumanDriver(scene, simulator.car_spec)
                continue
            key = id(scene), style
            if key not in plans:
                plans[key] = PathFollower(scene, simulator.car_spec, style)
            self._followers[car] = plans[key]

    def drive_shard(self, number: int) -> Iterator[dict[str, Any]]:
        """Drive a shard and yield its frames, a row of columns each, in their order."""
        spec, fleet = self._spec, self._fleet
        cars = range(spec.cars)
        seeds = (hash_rows(spec.seed, number, np.arange(spec.cars), 0) & _WORD).tolist()
        for car, seed in enumerate(seeds):
            fleet.seed(car, seed)
            if car in self._humans:
                self._humans[car].begin(seed)
        step, left = fleet.begin(cars, at_random=True), spec.count_frames(number)
        for _ in range(WARM_UP):
            step = self._pass_frame(step)
        index = number * spec.shard
        while left:
            fleet.simulator.render(cars)
            for car in range(min(spec.cars, left)):
                yield {"index": index, "shard_seed": seeds[car], **self._describe(step, car)}
                index, left = index + 1, left - 1
            for _ in range(spec.every):
                step = self._pass_frame(step)

    def _pass_frame(self, step: Step) -> Step:
        humans, followers = self._humans, self._followers
        actions = np.array(
            [
                humans[car].drive(step, car)[0] if car in humans else followers[car].drive(step, car)
                for car in range(self._spec.cars)
            ]
        )
        step = self._fleet.advance(*actions.T)
        lost = np.flatnonzero((step.off_road_time > PATIENCE) | (step.upright < 0.0)).tolist()
        return self._fleet.begin(lost, at_random=True) if lost else step

    def _describe(self, step: Step, car: int) -> dict[str, Any]:
        """Return what is known of a car now."""
        spec, simulator = self._spec, self._fleet.simulator
        place = len(spec.tracks)
        row: dict[str, Any] = {
            "track": spec.tracks[car % place],
            "driver": spec.drivers[car // place % len(spec.drivers)],
            "picture": encode_picture(simulator.get_picture(car), ENCODINGS[spec.encoding]),
        }
        if spec.depth:
            row["depth"] = encode_depth(simulator.get_depth(car))
        if spec.classes:
            row["classes"] = encode_levels(simulator.get_segments(car))
        row |= {name: float(getattr(step, name)[car]) for name in NUMBERS}
        row |= {name: float(value) for name, value in zip("xyz", step.position[car].tolist(), strict=True)}
        row |= {"lap": int(step.lap[car]), "node": int(step.node_index[car]), "on_road": bool(step.on_road[car])}
        return row | {f"random.{name}": value for name, value in simulator.get_randomization(car).items()}


NUMBERS = (
    *("time", "steer", "throttle", "brake", "steer_angle", "forward_speed", "left_speed", "yaw", "yaw_rate"),
    *("offset", "heading_error", "along", "width_left", "width_right"),
)
"""Columns that are a car's numbers in the ledger, in its units: metres, seconds, radians, + = left."""


def encode_depth(distance: Float32Array) -> bytes:
    """Return distances [m] as the bytes of a 16-bit PNG file, in steps of `DEPTH_STEP`."""
    steps: FloatArray = np.where(np.isfinite(distance), np.rint(distance / np.float32(DEPTH_STEP)), 0.0)
    return encode_levels(np.where(steps > 0xFFFF, 0.0, steps).astype(np.uint16))


def encode_levels(levels: ByteArray | np.ndarray[Any, np.dtype[np.uint16]]) -> bytes:
    """Return whole numbers, shape [height, width], as the bytes of a grey PNG file."""
    buffer = io.BytesIO()
    Image.fromarray(levels).save(buffer, format="PNG", compress_level=1)
    return buffer.getvalue()
