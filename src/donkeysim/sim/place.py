"""What is fixed for a set of scenes: everything about them that a simulator looks up while it runs."""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from donkeysim.core.device import Device
from donkeysim.core.errors import CapacityError, SpecError
from donkeysim.core.rng import hash_rows, hash_words
from donkeysim.core.types import FloatArray, IntArray, LongArray
from donkeysim.core.workers import Workers
from donkeysim.physics.engine import PhysicsEngine
from donkeysim.render.camera import Renderer
from donkeysim.render.lidar import LidarScanner
from donkeysim.sim.randomizer import Randomizer, make_randomizer
from donkeysim.world.scene import Scene
from donkeysim.world.specs import CarSpec, SceneSpec, WorldSpec
from donkeysim.world.state import State, make_layout, make_state
from donkeysim.world.tracks.catalogue import share_scene

# The original's 1 U, less than half a car.
GRID_ROOM = 0.125
"""A place of the grid is taken when a car's is this near [m]."""

_WORD = 0x7FFFFFFFFFFFFFFF
"""The bits of a world key."""


@dataclass(frozen=True)
class Place:
    """Scenes and the tables made of them; going elsewhere, a simulator swaps this one value.

    Attributes:
        spec: What was asked for.
        scenes: Those of `spec.scenes`.
        world_scene: Index into `scenes` of each world, shape [world_count].
        car: The cars' physics.
        props_per_world: Slots for movable props in each world.
        physics: Grounds, paths, gates and obstacles, and what steps cars there.
        renderer: Meshes, textures and light, and what draws them.
        lidar: Shapes that a lidar sees, and what scans them.
        randomizer: What draws values for cars and puts them there; None: nothing is drawn.
    """

    spec: WorldSpec
    scenes: tuple[Scene, ...]
    world_scene: IntArray
    car: CarSpec
    props_per_world: int
    physics: PhysicsEngine
    renderer: Renderer
    lidar: LidarScanner
    randomizer: Randomizer | None

    def make_state(self) -> State:
        """Return a state of these worlds, with every slot empty."""
        spec = self.spec
        return make_state(spec.world_count, spec.cars_per_world, self.props_per_world, self.car.has_actuators)

    def make_room(self, state: State) -> State:
        """Return a state of these worlds in another place, with as many props as here, yet to be placed."""
        fresh = self.make_state()
        if len(fresh.prop_asleep) == len(state.prop_asleep):
            return state
        return state._replace(**{name: getattr(fresh, name) for name in State._fields if name.startswith("prop_")})

    def place_props(self, state: State) -> None:
        """Put all movable things where their scenes have them."""
        for world in range(self.spec.world_count):
            self.physics.place_props(state, world)

    def get_scene(self, car: int) -> Scene:
        """Return the scene that a car's world is on."""
        scene: Scene = self.scenes[self.world_scene[car // self.spec.cars_per_world]]
        return scene

    def find_poses(
        self,
        rows: LongArray,
        along: Sequence[float] | FloatArray,
        offset: Sequence[float] | FloatArray,
        yaw: Sequence[float] | FloatArray,
    ) -> tuple[FloatArray, FloatArray]:
        """Return positions [m] and orientations of cars on the paths of their scenes, see `PathFrame.place`."""
        table = np.array([along, offset, yaw], np.float64)
        position, orientation = np.zeros((len(rows), 3)), np.zeros((len(rows), 4))
        scene = self.world_scene[rows // self.spec.cars_per_world]
        for index, place in enumerate(self.scenes):
            here = scene == index
            if here.any():
                position[here], orientation[here] = place.path.frame.place(*table[:, here])
        return position, orientation

    def choose_slot(self, state: State, car: int, others: Sequence[int]) -> None:
        """Let a reset put a car on the first place of its scene's grid that is none of some others'.

        Raises:
            CapacityError: They have all places.
        """
        taken = state.spawn_position[list(others)]
        state.spawn_position[car], state.spawn_orientation[car] = choose_place(self.get_scene(car), taken)

    def require_room(self, cars: Sequence[int]) -> None:
        """Raise a CapacityError when the first scene's grid has fewer places than some world has of these cars."""
        scene = self.scenes[0]
        most = int(np.bincount([car // self.spec.cars_per_world for car in cars], minlength=1).max())
        if most > len(scene.start.position):
            room = len(scene.start.position)
            raise CapacityError(f"the grid of {scene.name} has room for {room}, not for {most} cars.")

    def choose_slots(self, state: State, cars: Sequence[int]) -> None:
        """Let resets put cars on the first places of their scene's grid, in their order.

        Raises:
            CapacityError: A grid is too small; then nothing is changed.
        """
        count = self.spec.cars_per_world
        before = state.spawn_position.copy(), state.spawn_orientation.copy()
        try:
            for index, car in enumerate(cars):
                self.choose_slot(state, car, [other for other in cars[:index] if other // count == car // count])
        except CapacityError:
            state.spawn_position[:], state.spawn_orientation[:] = before
            raise


def make_place(spec: WorldSpec, device: Device, workers: Workers, scene: Scene | None = None) -> Place:
    """Return the place of an experiment; it takes a second, and may be called on any thread.

    Args:
        spec: Which scenes, and how many worlds and cars.
        device: What will step.
        workers: Threads that will draw on this machine.
        scene: The only scene, if it is built already.

    Raises:
        SceneError: There is no such scene.
        SpecError: There is no such car, or its numbers make none.
    """
    built = {place: share_scene(place) for place in dict.fromkeys(spec.scenes)} if scene is None else {}
    scenes = (scene,) if scene is not None else tuple(built[place] for place in spec.scenes)
    layout = make_layout(spec, scenes)
    physics, renderer = PhysicsEngine(layout, device), Renderer(layout, workers)
    randomizer, lidar = make_randomizer(spec.randomization, physics, renderer), LidarScanner(layout)
    fixed = (scenes, layout.world_scene, layout.car, layout.props_per_world)
    return Place(spec, *fixed, physics, renderer, lidar, randomizer)


def move_spec(spec: WorldSpec, scene: SceneSpec) -> WorldSpec:
    """Return the spec of the same experiment in another scene.

    Raises:
        SpecError: Its worlds are on several scenes.
    """
    if spec.more_scenes:
        raise SpecError("worlds on several places cannot move to another one; make a simulator of one place.")
    return dataclasses.replace(spec, scene=scene)


def make_world_keys(seeds: Sequence[int], worlds: Sequence[int]) -> LongArray:
    """Return what all random numbers of worlds are functions of, each of a seed and the world's number, shape [n]."""
    if len(seeds) == 1:  # an episode of one car begins with it
        return np.array([int(hash_words(seeds[0] & _WORD, worlds[0], 0, 0)) & _WORD])
    given = np.array([seed & _WORD for seed in seeds], np.int64)
    keys: LongArray = hash_rows(given, np.asarray(worlds, np.int64), 0, 0) & _WORD
    return keys


def choose_place(scene: Scene, taken: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return position [m] and orientation (w, x, y, z) of the first place of a scene's grid that nobody has.

    Args:
        taken: Places that others have [m], shape [n, 3].

    Raises:
        CapacityError: They have all places.
    """
    start = scene.start
    apart = np.linalg.norm(start.position[:, None] - taken, axis=2)
    free = np.flatnonzero((apart > GRID_ROOM).all(axis=1))
    if not len(free):
        raise CapacityError(
            f"the start grid of {scene.name} has {len(start.position)} places and all are taken; "
            "wait until a car leaves."
        )
    yaw = start.yaw[free[0]]
    return start.position[free[0]], np.array([np.cos(yaw / 2), 0.0, 0.0, np.sin(yaw / 2)])
