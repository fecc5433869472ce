"""What an experiment is, whoever asks for it: the command line, a `conf`, settings of environments, a car's config."""

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Self

from donkeysim.core.checked_fields import check_fields
from donkeysim.core.errors import SpecError
from donkeysim.world.randomization import RandomizationSpec
from donkeysim.world.specs import SceneSpec, WorldSpec


@dataclass(frozen=True)
class Experiment:
    """What is simulated, where, and whether it is recorded; not how many cars, who drives them or what they sense.

    Attributes:
        scenes: The places; worlds take turns.
        car: Preset of the physics of all cars, one of `world.specs.list_cars`.
        camera: What looks out of the cars, a preset or file as `world.camera_file.load_camera` takes it; empty: the
            car's own.
        seed: Of every random number.
        log: File to record all that happens in, for `donkey replay`, one for each scene; None: none.
        randomization: What differs from car to car and from reset to reset; nothing unless something is asked for.
    """

    scenes: tuple[SceneSpec, ...] = (SceneSpec(),)
    car: str = "original"
    seed: int = 0
    log: str | None = None
    randomization: RandomizationSpec = field(default_factory=RandomizationSpec)
    camera: str = ""

    def __post_init__(self) -> None:
        check_fields(self)
        if not self.scenes:
            raise SpecError("no track was given; name at least one.")

    @property
    def scene(self) -> SceneSpec:
        """The place of the first world."""
        return self.scenes[0]

    def describe_car(self) -> str:
        """Return which car drives, and with which camera if not its own: presets, or files without their folders."""
        names = [Path(name).name for name in (self.car, self.camera) if name]
        return " with camera ".join(names)

    def move_to(self, scene_name: str) -> Self:
        """Return the same experiment in another scene, with the first one's folders, road, challenges and look."""
        return replace(self, scenes=(replace(self.scene, name=scene_name),))

    def specify_world(self, world_count: int = 1, cars_per_world: int = 1) -> WorldSpec:
        """Return what to simulate for this many cars; scenes that no world would be on are left out.

        Raises:
            SpecError: A number is not possible.
        """
        return WorldSpec(
            scene=self.scene,
            more_scenes=self.scenes[1 : max(1, world_count)],
            car=self.car,
            camera=self.camera,
            world_count=world_count,
            cars_per_world=cars_per_world,
            seed=self.seed,
            randomization=self.randomization,
        )
