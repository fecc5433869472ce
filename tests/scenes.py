"""Small places for tests: planes, slopes, walls and cones, without pictures."""

import numpy as np

from donkeysim.core.device import Cpu
from donkeysim.core.workers import Workers
from donkeysim.physics.contact import make_scratch
from donkeysim.physics.engine import PhysicsEngine
from donkeysim.physics.kernels.layout import StepScratch
from donkeysim.physics.vehicle import compute_rest_height
from donkeysim.world.scene import Colliders, Ground, Light, Mesh, Path, Props, Scene, StartGrid
from donkeysim.world.specs import CarSpec, load_car
from donkeysim.world.state import Layout, make_control, make_state

_EMPTY = Mesh(
    vertex=np.zeros((0, 3), np.float32),
    uv=np.zeros((0, 2), np.float32),
    triangle=np.zeros((0, 3), np.int32),
    material=np.zeros(0, np.int32),
)


def make_ground(friction=1.0, height=None, origin=(0.0, 0.0), cell=1.0):
    """A plane of one friction, or a height field of it."""
    return Ground(
        height_origin=origin,
        height_cell=cell,
        height=np.zeros((1, 1)) if height is None else np.asarray(height, np.float64),
        surface_origin=(-500.0, -500.0),
        surface_cell=1000.0,
        surface=np.zeros((1, 1), np.uint8),
        friction=np.array([friction]),
        drivable=np.ones(1, np.uint8),
    )


def make_slope(angle, friction=1.0):
    """A plane that rises along +x by `angle` [rad], 400 m on a side."""
    x = np.linspace(-200.0, 200.0, 5)
    return make_ground(friction, np.tile(x * np.tan(angle), (5, 1)), (-200.0, -200.0), 100.0)


def make_path(points=((0.0, 0.0), (1000.0, 0.0)), closed=False):
    """A path through points on the ground."""
    points = np.asarray(points, np.float64)
    return Path(
        position=np.column_stack([points, np.zeros(len(points))]),
        width_left=np.full(len(points), 0.5),
        width_right=np.full(len(points), 0.5),
        closed=closed,
        shortest=points.copy(),
        middle=points.copy(),
    )


def make_circle_path(radius=4.0, count=100):
    """A counter-clockwise circle through the origin, beginning there along +x."""
    angle = 2.0 * np.pi * np.arange(count) / count
    return make_path(np.column_stack([radius * np.sin(angle), radius - radius * np.cos(angle)]), closed=True)


def make_colliders(*rows):
    """Rows of (kind, centre, half_size, yaw, friction, name)."""
    kind, centre, half, yaw, friction, name = zip(*rows, strict=True) if rows else ((), (), (), (), (), ())
    return Colliders(
        kind=np.array(kind, np.uint8),
        centre=np.array(centre, np.float64).reshape(-1, 3),
        half_size=np.array(half, np.float64).reshape(-1, 3),
        yaw=np.array(yaw, np.float64),
        friction=np.array(friction, np.float64),
        name=np.array(name, np.int32),
    )


def make_props(*positions, mass=1.0, base=0.05, top=0.015, height=0.12, centre=0.035, friction=0.6):
    """Cones at (x, y, z)."""
    count = len(positions)
    return Props(
        position=np.array(positions, np.float64).reshape(-1, 3),
        yaw=np.zeros(count),
        mass=np.full(count, mass),
        radius_base=np.full(count, base),
        radius_top=np.full(count, top),
        height=np.full(count, height),
        centre_of_mass=np.full(count, centre),
        friction=np.full(count, friction),
        model=np.zeros(count, np.int32),
        name=np.full(count, 2, np.int32),
    )


LINE = ((0.5, 0.5), (0.5, -0.5))


def make_scene(ground=None, path=None, colliders=None, props=None, lines=(LINE,), checkpoints=(), start=None):
    """A place with nothing to see; `hit_names` are terrain, wall, cone."""
    return Scene(
        name="test",
        path=path or make_path(),
        ground=ground or make_ground(),
        colliders=colliders or make_colliders(),
        props=props or make_props(),
        start=start
        or StartGrid(
            position=np.array([[-0.3 - 0.5 * i, 0.0, 0.0651] for i in range(8)]),
            yaw=np.zeros(8),
            line=np.array(lines, np.float64),
            checkpoint=np.array(checkpoints, np.float64).reshape(-1, 2, 2),
        ),
        light=Light((0.0, 0.0, 1.0), (0.6, 0.6, 0.6), (0.4, 0.4, 0.4), (1.0, 1.0, 1.0), 0.0, 0.0, -1),
        static=_EMPTY,
        models=(_EMPTY,),
        car_models={},
        materials=(),
        textures=(),
        hit_names=("ground", "wall", "cone"),
        labels=("ground", "wall", "cone"),
    )


def make_room(cars, props) -> StepScratch:
    """The working memory of one world, as the inner kernels take it."""
    scratch = make_scratch(cars, props, Cpu(Workers(1)), 1)
    return StepScratch(*(array[0] for array in scratch))


class Bench:
    """A physics engine with its state and controls, all cars present at the spawn pose."""

    def __init__(
        self,
        scene: Scene | None = None,
        world_count: int = 1,
        cars_per_world: int = 1,
        car: CarSpec | None = None,
        threads: int = 1,
        **options,
    ) -> None:
        self.scene = scene or make_scene()
        self.car = car or load_car("original")
        props = len(self.scene.props.mass)
        self.state = make_state(world_count, cars_per_world, props, self.car.has_actuators)
        self.control = make_control(world_count * cars_per_world)
        self.engine = PhysicsEngine(
            Layout([self.scene], np.zeros(world_count, np.int32), self.car, world_count, cars_per_world, props),
            Cpu(Workers(threads)),
            **options,
        )
        self.rest_height = compute_rest_height(self.car)
        for world in range(world_count):
            self.engine.place_props(self.state, world)
        for car_index in range(world_count * cars_per_world):
            self.state.present[car_index] = 1
            self.place(car_index, 0.0, 2.0 * (car_index % cars_per_world))

    def place(self, car, x, y, yaw=0.0, z=None, orientation=None, velocity=None, at_rest=True):
        """Put a car on level ground, or at z, with a forward or world velocity [m/s]."""
        turn = orientation or (np.cos(yaw / 2), 0.0, 0.0, np.sin(yaw / 2))
        place = (x, y, self.rest_height if z is None else z)
        self.throw(car, *place, turn, at_rest)
        self.state.spawn_position[car] = place
        self.state.spawn_orientation[car] = turn
        if velocity is not None:
            if np.ndim(velocity) == 0:
                self.state.wheel_speed[car] = velocity / self.car.wheel_radius
                velocity = (velocity * np.cos(yaw), velocity * np.sin(yaw), 0.0)
            self.state.velocity[car] = velocity

    def throw(self, car, x, y, z, turn=(1.0, 0.0, 0.0, 0.0), at_rest=True):
        """Put a car anywhere; it is put back elsewhere."""
        self.engine.place_cars(self.state, np.array([car]), np.array([(x, y, z)]), np.array([turn]), at_rest)

    def drive(self, seconds, steer=None, throttle=None, brake=None):
        """Run with controls for all cars (None: as they are)."""
        for array, value in zip(self.control, (steer, throttle, brake), strict=True):
            if value is not None:
                array[:] = value
        self.engine.step(self.state, self.control, round(seconds / self.engine.step_length))

    def up(self, car=0):
        """The z coordinate of the body's own z axis."""
        _, x, y, _ = self.state.orientation[car]
        return 1.0 - 2.0 * (x * x + y * y)

    def list_events(self):
        """What happened in the last step: (kind, value, time [s]) of each event."""
        events = self.engine.events
        return [(int(kind), value, time) for time, _, kind, value in events.row[0, : events.noted[0]].tolist()]


class Ring(Bench):
    """Cars on a circle through the origin that are carried along it; places are shares of a round."""

    def __init__(self, lines=(0.0,), checkpoints=(), cars=1, radius=4.0):
        self.radius = radius
        gates = ([self.span(share) for share in shares] for shares in (lines, checkpoints))
        path = make_circle_path(radius)
        super().__init__(make_scene(path=path, lines=next(gates), checkpoints=next(gates)), cars_per_world=cars)
        self.events = []

    def locate(self, share, radius=None):
        """Where a place is [m]."""
        angle = 2.0 * np.pi * share
        return np.array([np.sin(angle), -np.cos(angle)]) * (radius or self.radius) + (0.0, self.radius)

    def span(self, share, half=0.5):
        """The gate across the circle, left end first."""
        return self.locate(share, self.radius - half), self.locate(share, self.radius + half)

    def put(self, share, car=0, at_rest=True):
        """Put a car on the circle, looking along it."""
        self.place(car, *self.locate(share), 2.0 * np.pi * share, at_rest=at_rest)
        self.at = share, self.radius

    def carry(self, share, radius=None, count=None):
        """Move car 0 without teleporting, by velocity, in so many steps or 5 cm in each, and note what happens."""
        goal = share, radius or self.radius
        away = abs(share - self.at[0]) * 2.0 * np.pi * self.radius + abs(goal[1] - self.at[1])
        state, steps = self.state, count or int(np.ceil(away / 0.05))
        for part in np.arange(1, steps + 1) / steps:
            x, y = self.locate(*(begin + part * (end - begin) for begin, end in zip(self.at, goal, strict=True)))
            state.velocity[0] = (np.array([x, y, self.rest_height]) - state.position[0]) * 480.0
            state.angular_velocity[0] = 0.0
            state.wheel_speed[0] = 0.0
            self.engine.step(state, self.control, 1)
            self.events += self.list_events()
        self.at = goal
