"""What `donkey rl` was asked for, as a file in its folder, so that it can resume after a stop."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import msgspec

from donkeysim.core.errors import SpecError, describe_unknown
from donkeysim.core.files import write_whole
from donkeysim.envs.deepracer import load_deepracer
from donkeysim.rl.setup import ObservationSpec, TrainingSetup
from donkeysim.world.experiment import Experiment
from donkeysim.world.randomization import read_randomization
from donkeysim.world.specs import RoadSpec, SceneSpec
from donkeysim.world.tracks import specify_scene
from donkeysim.world.tracks.catalogue import list_scenes
from donkeysim.world.tracks.former_places import rename_tracks

TEACHERS = ("", "learned", "expert")
"""Nobody; a policy with privileged observations that learns first; the path follower."""

DEVICES = ("cpu", "cuda")
"""The cores of this machine, and its first NVIDIA GPU."""

TASK_NAME = "task.json"

FORMAT = 2
"""Number of the form of that file."""

RENAMED = 2
"""The first form in which the original's places have their names; see `former_places`."""

ROADS, ROAD_STYLES = "generated_road", 5
"""The place whose roads are drawn from a seed, and how many styles it has."""


PLACES = "random_place"
"""The place all of which is drawn from a seed."""


GENERALIST: Mapping[str, Any] = {"places": 60, "teacher": "expert", "has_colour": True, "randomization": "real"}
"""Of a task for a pilot that drives where it has not learned, real roads too."""


@dataclass(frozen=True)
class TrainingTask:
    """What there is to learn and how.

    Attributes:
        tracks: Names of tracks, or their files.
        roads: How many random roads there are besides, of seeds from 1.
        places: How many random places, likewise.
        teacher: One of `TEACHERS`.
        source: File of a pilot to start from; empty: none.
        seed: Of all chance.
        laps: In a row that a policy has to drive on each track, with fresh starts, never leaving the road.
        share: Of the mean speed that the fast pace car plans, the one to reach.
        car_count: Cars that learn together.
        has_colour: Whether the policy sees colours; else grey.
        pictures: That it sees at once, a tenth of a second apart.
        randomization: Name of a preset, or a file, of what differs from car to car; empty: nothing.
        car: Preset or file of what they drive; see `Experiment`.
        camera: Preset or file of what looks out of them; empty: the car's own.
        reward: Python file with a `reward_function(params)`; empty: what `setup.make_pace_reward` says.
        device: One of `DEVICES`: what drives the cars that learn, and what the policy learns on.
    """

    tracks: tuple[str, ...] = ("generated_track",)
    roads: int = 0
    places: int = 0
    teacher: str = ""
    source: str = ""
    seed: int = 0
    laps: int = 10
    share: float = 0.5
    car_count: int = 128
    has_colour: bool = False
    pictures: int = 1
    randomization: str = ""
    reward: str = ""
    car: str = Experiment.car
    camera: str = ""
    device: str = "cpu"

    def __post_init__(self) -> None:
        if self.teacher not in TEACHERS:
            raise SpecError(describe_unknown("teacher", self.teacher, TEACHERS[1:]))
        if self.teacher and self.source:
            raise SpecError("a teacher and a pilot to continue from were both given; give one of them.")
        if self.teacher and self.reward:
            raise SpecError("a teacher and a reward were both given; learning from a teacher needs no reward.")
        if self.device not in DEVICES:
            raise SpecError(describe_unknown("device", self.device, DEVICES))
        if self.device != "cpu" and (self.reward or self.source):
            what = "a reward of your own" if self.reward else "a pilot to start from"
            raise SpecError(f"{what} and the device {self.device!r} were given; that needs Python: leave --device out.")
        if self.laps < 1 or min(self.roads, self.places, self.seed) < 0:
            raise SpecError(
                f"{self.laps} laps, {self.roads} roads, {self.places} places and seed {self.seed} are not valid; ask "
                "for 1 lap or more, and 0 or more of the others."
            )
        if not 0.1 <= self.share <= 1.2:
            raise SpecError(f"a speed of {self.share:g} is not valid; it takes 0.1 to 1.2 of the fast pace car's.")
        scene_count = len(self.tracks) + self.roads + self.places
        if not scene_count <= self.car_count <= 4096:
            raise SpecError(
                f"{self.car_count} cars are not valid; it takes one for each of the {scene_count} "
                "tracks at least, and 4096 at most."
            )

    @property
    def experiment(self) -> Experiment:
        """Which car drives with which camera; nothing else of it is said here."""
        return Experiment(car=self.car, camera=self.camera)

    @property
    def equipment(self) -> dict[str, str]:
        """Car and camera as a `conf` names them, where they are not the usual ones."""
        usual = Experiment()
        return {name: getattr(self, name) for name in ("car", "camera") if getattr(self, name) != getattr(usual, name)}

    def make_setup(self) -> TrainingSetup:
        """Return where to learn it.

        Raises:
            DonkeySimError: There is no such track, randomisation, car or camera.
        """
        names = list_scenes() if self.tracks == ("all",) else self.tracks
        scenes = [specify_scene(SceneSpec(name)) for name in names]
        return TrainingSetup(
            scenes=(*scenes, *list_roads(range(1, self.roads + 1)), *list_places(range(1, self.places + 1))),
            checked=len(scenes),
            car_count=self.car_count,
            share=self.share,
            observation=ObservationSpec(has_colour=self.has_colour, pictures=self.pictures),
            randomization=read_randomization(self.randomization or None),
            car=self.car,
            camera=self.camera,
            reward=load_deepracer(self.reward) if self.reward else None,
            device=self.device,
        )


def list_roads(seeds: Iterable[int]) -> list[SceneSpec]:
    """Return the random roads of these seeds; their styles take turns."""
    return [specify_scene(SceneSpec(ROADS, road=RoadSpec(seed % ROAD_STYLES, seed))) for seed in seeds]


def list_places(seeds: Iterable[int]) -> list[SceneSpec]:
    """Return the random places of these seeds."""
    return [specify_scene(SceneSpec(PLACES, road=RoadSpec(seed=seed))) for seed in seeds]


def write_task(task: TrainingTask, folder: Path) -> None:
    """Write what was asked for.

    Raises:
        DonkeySimError: It cannot be written.
    """
    write_whole(folder / TASK_NAME, json.dumps({"format": FORMAT, **asdict(task)}, indent=2).encode() + b"\n")


def read_task(folder: Path) -> TrainingTask:
    """Return what was asked for in a folder.

    Raises:
        SpecError: There is no such file, it is of a newer version, or it cannot be read.
    """
    path = folder / TASK_NAME
    try:
        values = json.loads(path.read_bytes())
        number = values.pop("format")
        if number > FORMAT:
            raise SpecError(
                f"{path} has the format {number}, this version reads up to {FORMAT}; get a newer donkeysim."
            )
        task = msgspec.convert(values, TrainingTask)
        return task if number >= RENAMED else replace(task, tracks=rename_tracks(task.tracks))
    except FileNotFoundError:
        raise SpecError(
            f"there is no {path}, so nothing to continue from; give the folder that donkey rl wrote."
        ) from None
    except (ValueError, KeyError, TypeError, msgspec.ValidationError) as error:
        raise SpecError(f"{path} cannot be read ({error}); begin again with another --out.") from error
