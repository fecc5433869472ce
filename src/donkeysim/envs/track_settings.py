"""What one may ask of our own family of environments, single, in batches and racing."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np

from donkeysim.core.checked_fields import check_fields
from donkeysim.core.device import Device
from donkeysim.core.errors import SceneError, SettingError, SpecError, describe_unknown
from donkeysim.envs.actions import ActionRange
from donkeysim.envs.fleet import Fleet
from donkeysim.envs.observations import LOOK_AHEAD, Observer, check_observe
from donkeysim.envs.tasks import DEFAULT_ENDS, ENDS, REWARDS, End, Reward, Task, make_task
from donkeysim.world.experiment import Experiment
from donkeysim.world.randomization import RandomizationSpec, list_knobs, read_randomization
from donkeysim.world.specs import CameraSpec, LidarSpec, SceneSpec
from donkeysim.world.tracks import specify_scene

SEEN_ON_GPU = ("camera", "grey", "depth", "segmentation", "vector")
"""What cars of a batch on a GPU may observe."""

DEFAULT_LIDAR = LidarSpec(sweep_increment=math.radians(10.0), noise=0.0)
"""36 rays on one level, without noise."""


@dataclass(frozen=True)
class TrackSettings:
    """What `read_settings` makes of settings: task, observations and actions, and the experiment.

    Attributes:
        reward: Name of `tasks.REWARDS`, or a function of a `Step`.
        ends: Names of `tasks.ENDS`, or functions of a `Step`.
        time_limit: Episodes are truncated after so long [s]; None: never.
        lap_limit: Laps after which an episode is truncated; None: never.
        observe: One of `observations.OBSERVATIONS`, or several, which gives a dict.
        stack: How many moments are observed at once, along the last axis.
        camera: Of "camera", "grey", "depth" and "segmentation"; None: the car's, 160x120. Settings may name a
            preset or a file instead, which is then the experiment's.
        camera_b: Of "camera_b"; None: looks where the first one does.
        camera_spread: By how much the camera is moved [m] and turned [rad] at most on each axis, anew in every episode.
        lidar: Of "lidar".
        steer_limit: What steering 1 means, 0 to 1.
        throttle_range: What throttle -1 and 1 mean, each -1 to 1.
        frame_skip: Twentieths of a simulated second in one step.
        starts_at_random: Episodes begin somewhere on the road, a little askew; else on the grid.
        experiment: What is simulated; settings name its fields and those of its scenes one by one.
    """

    reward: str | Reward = "progress"
    ends: str | Sequence[str | End] = DEFAULT_ENDS
    time_limit: float | None = 60.0
    lap_limit: int | None = None
    observe: str | Sequence[str] = "camera"
    stack: int = 1
    camera: CameraSpec | None = None
    camera_b: CameraSpec | None = None
    camera_spread: tuple[float, float] = (0.0, 0.0)
    lidar: LidarSpec = DEFAULT_LIDAR
    steer_limit: float = 1.0
    throttle_range: tuple[float, float] = (0.0, 0.5)
    frame_skip: int = 1
    starts_at_random: bool = True
    experiment: Experiment = field(default_factory=Experiment)

    def __post_init__(self) -> None:
        for name in ("stack", "frame_skip"):
            check_count(name, getattr(self, name))
        check_fields(self)
        check_observe(self.observe)
        if not 0.0 < self.steer_limit <= 1.0:
            raise SpecError(f"steer_limit is {self.steer_limit}; it takes a number above 0, up to 1.")
        if not all(0.0 <= part < math.inf for part in self.camera_spread):
            raise SpecError(
                f"camera_spread is {self.camera_spread}; it takes two numbers, metres and radians, 0 or more."
            )
        low, high = self.throttle_range
        if not -1.0 <= low < high <= 1.0:
            raise SpecError(
                f"throttle_range is {self.throttle_range}; it takes two numbers from -1 to 1, the lower one first."
            )

    def make_task(self) -> Task:
        """Return what judges the steps."""
        return make_task(self.reward, self.ends, self.time_limit, self.lap_limit)

    def make_fleet(
        self, world_count: int, cars_per_world: int = 1, worker_count: int = 1, device: Device | None = None
    ) -> Fleet:
        """Return the cars; `Fleet.open` puts them on their tracks. The arguments are those of `Fleet`.

        Raises:
            SceneError: There is no such track.
            SpecError: There is no such car.
        """
        return Fleet(
            self.experiment,
            world_count,
            cars_per_world=cars_per_world,
            worker_count=worker_count,
            device=device,
            frame_skip=self.frame_skip,
            look_ahead=LOOK_AHEAD if "vector" in check_observe(self.observe) else (),
        )

    def make_observer(self, fleet: Fleet, set_count: int = 1, keeps_last: bool = False) -> Observer:
        """Return what observes an opened fleet; the other arguments are those of `Observer`."""
        camera = self.camera or fleet.simulator.car_spec.camera
        cameras = (camera, self.camera_b or camera)
        return Observer(
            fleet,
            self.observe,
            cameras,
            self.lidar,
            self.stack,
            self.camera_spread,
            set_count=set_count,
            keeps_last=keeps_last,
        )

    def check_gpu(self, has_own_arrays: bool) -> None:
        """Make sure that a GPU does all of this.

        Args:
            has_own_arrays: Whether functions of one's own get arrays that a library works on.

        Raises:
            SpecError: It does not.
        """
        for sentence in self._list_refusals(has_own_arrays):
            raise SpecError(f"{sentence}, or use device='cpu', which takes it.")

    def _list_refusals(self, has_own_arrays: bool) -> Iterator[str]:
        """Yield a sentence for each thing that a GPU does not do."""
        if not has_own_arrays and callable(self.reward):
            names = ", ".join(REWARDS)
            yield f"the reward is a function, which gets arrays of the GPU; name one of {names}, or give `convert`"
        if not has_own_arrays and any(map(callable, self.ends)):
            names = ", ".join(ENDS)
            yield f"an end is a function, which gets arrays of the GPU; name some of {names}, or give `convert`"
        for name in check_observe(self.observe):
            if name not in SEEN_ON_GPU:
                yield f"{name!r} is not observed on a GPU; observe some of {', '.join(SEEN_ON_GPU)}"
        if self.experiment.log is not None:
            yield f"log is {self.experiment.log!r}, and a batch on a GPU writes none; leave it out"
        for name in list_undrawn(self.experiment.randomization):
            yield f"{name} is not drawn on a GPU; leave it out of the randomization"

    def make_actions(self) -> ActionRange:
        """Return what actions mean."""
        return ActionRange(self.steer_limit, *self.throttle_range, normalised=True)


@dataclass(frozen=True)
class _Places:
    """What settings say of places that may be several.

    Attributes:
        track: The tracks on which worlds take turns.
        look: The looks of each of them that is given by name.
    """

    track: str | SceneSpec | Sequence[str | SceneSpec]
    look: str | Sequence[str] = ""

    def __post_init__(self) -> None:
        check_fields(self)

    @property
    def tracks(self) -> tuple[str | SceneSpec, ...]:
        """All tracks, one too."""
        return (self.track,) if isinstance(self.track, str | SceneSpec) else tuple(self.track)

    @property
    def looks(self) -> tuple[str, ...]:
        """All looks, one too."""
        return (self.look,) if isinstance(self.look, str) else tuple(self.look)


def read_settings(
    given: Mapping[str, Any], track: str | SceneSpec | Sequence[str | SceneSpec], beside: Sequence[str] = ()
) -> TrackSettings:
    """Return checked settings.

    Args:
        given: Settings by name: fields of `TrackSettings`, of `Experiment` (but for `seed`: each episode has its own)
            and of `SceneSpec`. `look` may be several: each track in each of them; `randomization` may be whatever
            `world.randomization.read_randomization` takes.
        track: The track, or several, on which worlds take turns; those given by name take what `given` says of scenes.
        beside: Names that the caller takes besides, to be listed when one is unknown.

    Raises:
        SceneError: There is no such track, or none of them offers a look.
        SettingError: An unknown name.
        SpecError: A value that is not possible.
    """
    names = [*_OF_THE_TASK, *_OF_SCENES, *_OF_THE_EXPERIMENT]
    for name in given:
        if name not in names:
            known = describe_unknown("setting", name, [*names, *beside])
            raise SettingError(f"unexpected keyword argument {name!r}: {known}")  # the words that TorchRL looks for
    task, scene, rest = (
        {name: given[name] for name in part if name in given} for part in (_OF_THE_TASK, _OF_SCENES, _OF_THE_EXPERIMENT)
    )
    if isinstance(task.get("camera"), str):
        rest["camera"] = task.pop("camera")
    rest["randomization"] = read_randomization(rest.get("randomization"))
    places = _Places(track, scene.pop("look", ""))
    return TrackSettings(experiment=Experiment(_specify_scenes(places, SceneSpec(**scene)), **rest), **task)


def _specify_scenes(places: _Places, given: SceneSpec) -> tuple[SceneSpec, ...]:
    """Return each track in each look that is asked for, once; tracks that say all themselves as they are.

    The road is left out where it is not a generated one and another track uses it; where none does, the scene refuses
    it when it is built.
    """
    names = [track for track in places.tracks if isinstance(track, str)]
    scenes = [specify_scene(replace(given, name=name, look=look)) for look in places.looks for name in names]
    if all(scene.road is None for scene in scenes):
        scenes = [replace(scene, road=given.road) for scene in scenes]
    for look in places.looks:
        if names and all(scene.look != look for scene in scenes):
            raise SceneError(f"none of the tracks {', '.join(names)} offers the look {look!r}; leave it out.")
    return tuple(dict.fromkeys([*scenes, *(track for track in places.tracks if isinstance(track, SceneSpec))]))


def list_undrawn(randomization: RandomizationSpec) -> list[str]:
    """Return the names of what a GPU does not draw of a randomization."""
    names = (knob.name for knob in list_knobs(randomization))
    return [name for name in names if name.startswith("delay.") or name == "picture.jpeg_quality"]


def check_count(name: str, count: Any) -> None:
    """Make sure that something is a whole number, 1 or more.

    Raises:
        SpecError: It is not.
    """
    if not isinstance(count, (int, np.integer)) or count < 1:
        raise SpecError(f"{name} is {count!r}; it takes a whole number, 1 or more.")


_OF_THE_TASK = tuple(part.name for part in fields(TrackSettings) if part.name != "experiment")
_OF_SCENES = tuple(part.name for part in fields(SceneSpec) if part.name != "name")
_OF_THE_EXPERIMENT = tuple(part.name for part in fields(Experiment) if part.name not in ("scenes", "seed", "camera"))
