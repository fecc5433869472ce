"""The vehicle against closed forms: `python -m benchmarks.physics_laws` prints the table of docs/physics.md."""

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from scipy.integrate import trapezoid

from donkeysim.core.device import Cpu
from donkeysim.core.types import PHYSICS_STEP, LongArray
from donkeysim.core.workers import Workers
from donkeysim.physics.engine import PhysicsEngine
from donkeysim.physics.vehicle import compute_rest_height, compute_static_load
from donkeysim.world.scene import Props, Scene
from donkeysim.world.specs import CarSpec, SceneSpec, load_car
from donkeysim.world.state import Layout, make_control, make_state
from donkeysim.world.tracks import load_scene


@dataclass(frozen=True)
class Law:
    """One row of the table.

    Attributes:
        name: What is measured, and how.
        unit: Of both values.
        closed: Closed-form value from the preset's numbers.
        measured: Of the simulation.
    """

    name: str
    unit: str
    closed: float
    measured: float

    @property
    def deviation(self) -> float:
        """Relative to the closed form [-]."""
        return self.measured / self.closed - 1.0


class Rig:
    """One world on a plane; cars stand at the origin, 1 m apart along y."""

    def __init__(
        self,
        friction: float = 1.0,
        slope: float = 0.0,
        car_count: int = 1,
        props: Props | None = None,
        car: str | CarSpec = "original",
    ) -> None:
        scene = make_plane(friction, slope)
        if props is not None:
            scene = replace(scene, props=props)
        self.car = load_car(car) if isinstance(car, str) else car
        prop_count = len(scene.props.mass)
        self.state = make_state(1, car_count, prop_count, self.car.has_actuators)
        self.control = make_control(car_count)
        self.engine = PhysicsEngine(
            Layout([scene], np.zeros(1, np.int32), self.car, 1, car_count, prop_count), Cpu(Workers(1))
        )
        self.engine.place_props(self.state, 0)
        height = compute_rest_height(self.car) / math.cos(slope)
        rows: LongArray = np.arange(car_count)
        self.state.present[rows] = 1
        turn = (math.cos(slope / 2), 0.0, -math.sin(slope / 2), 0.0)
        positions = np.column_stack([np.zeros(car_count), 1.0 * rows, np.full(car_count, height)])
        self.engine.place_cars(self.state, rows, positions, np.tile(turn, (car_count, 1)), at_rest=True)

    def roll(self, speed: float, car: int = 0) -> None:
        """Give a car a forward speed [m/s], wheels rolling along."""
        self.state.velocity[car] = (speed, 0.0, 0.0)
        self.state.wheel_speed[car] = speed / self.car.wheel_radius

    def drive(self, seconds: float, steer: float = 0.0, throttle: float = 0.0, brake: float = 0.0) -> None:
        """Run with these controls."""
        self.control.steer[:], self.control.throttle[:], self.control.brake[:] = steer, throttle, brake
        self.engine.step(self.state, self.control, round(seconds / PHYSICS_STEP))

    def measure_speed(self) -> float:
        """Return the first car's speed [m/s]."""
        return float(np.linalg.norm(self.state.velocity[0]))


def make_plane(friction: float, slope: float) -> Scene:
    """Return the scene `flat` with another friction, rising along +x by `slope` [rad]."""
    scene = load_scene(SceneSpec("flat"))
    ground = replace(scene.ground, friction=np.full_like(scene.ground.friction, friction))
    if slope:
        x = np.linspace(-200.0, 200.0, 5)
        ground = replace(
            ground, height=np.tile(x * math.tan(slope), (5, 1)), height_origin=(-200.0, -200.0), height_cell=100.0
        )
    return replace(scene, ground=ground)


def list_laws() -> Iterator[Law]:
    """Measure every law."""
    measures: tuple[Callable[[], Iterator[Law]], ...] = (
        measure_springs,
        measure_heave,
        measure_circle,
        measure_straight,
        measure_brakes,
        measure_grip,
        measure_transfer,
        measure_slope,
        measure_impacts,
    )
    for measure in measures:
        yield from measure()


def measure_springs() -> Iterator[Law]:
    """Static loads, and deflection under half the weight on top."""
    rig = Rig()
    car = rig.car
    rig.drive(2.0)
    share = float(rig.state.wheel_load[0, :2].sum() / rig.state.wheel_load[0].sum())
    front, rear = car.wheel_position[0][0], car.wheel_position[2][0]
    yield Law("front share of the static load", "-", (car.centre_of_mass[0] - rear) / (front - rear), share)
    before = rig.state.wheel_extension[0].copy()
    rig.engine.car_params.gravity[:] = 1.5 * car.gravity
    rig.drive(2.0)
    sunk = before - rig.state.wheel_extension[0]
    closed = 0.5 * compute_static_load(car) / car.suspension_spring
    yield Law("spring deflection under half the weight on top, front", "mm", 1e3 * closed[0], 1e3 * float(sunk[0]))
    yield Law("the same, rear", "mm", 1e3 * closed[2], 1e3 * float(sunk[2]))


def measure_heave() -> Iterator[Law]:
    """Frequency and damping of the body on its springs, all four pressed alike."""
    rig = Rig()
    car = rig.car
    rest = rig.state.position[0, 2]
    rig.state.position[0, 2] = rest - 0.0003
    height = []
    for _ in range(240):
        rig.drive(PHYSICS_STEP)
        height.append(rig.state.position[0, 2] - rest)
    trace = np.array(height)
    crossing = [
        i + trace[i] / (trace[i] - trace[i + 1]) for i in range(len(trace) - 1) if trace[i] * trace[i + 1] < 0.0
    ]
    half = (crossing[2] - crossing[0]) / 2.0 * PHYSICS_STEP
    peaks = [np.abs(trace[math.ceil(a) : math.ceil(b)]).max() for a, b in pairwise(crossing[:3])]
    decrement = math.log(peaks[0] / peaks[1])
    damping = decrement / math.hypot(decrement, math.pi)
    rate = math.sqrt(4.0 * car.suspension_spring / car.mass)
    ratio = 4.0 * car.suspension_damper / (2.0 * car.mass * rate)
    yield Law("heave frequency, undamped", "Hz", rate / math.tau, 0.5 / half / math.sqrt(1.0 - damping**2))
    yield Law("heave damping ratio", "-", ratio, damping)


def measure_circle() -> Iterator[Law]:
    """Radius of the rear axle's path at full steering and walking pace."""
    rig = Rig()
    car = rig.car
    rear = car.wheel_position[2][0]
    rig.drive(8.0, steer=1.0, throttle=0.02)
    points = []
    for _ in range(160):
        rig.drive(0.1, steer=1.0, throttle=0.02)
        w, _, _, z = rig.state.orientation[0]
        yaw = 2.0 * math.atan2(z, w)
        points.append(rig.state.position[0, :2] + rear * np.array([math.cos(yaw), math.sin(yaw)]))
    path = np.array(points)
    fit = np.linalg.lstsq(np.column_stack([2.0 * path, np.ones(len(path))]), (path**2).sum(axis=1), rcond=None)[0]
    radius = math.sqrt(fit[2] + fit[0] ** 2 + fit[1] ** 2)
    wheelbase = car.wheel_position[0][0] - rear
    yield Law("steady-circle radius, steer 1, throttle 0.02", "m", wheelbase / math.tan(car.steer_gain), radius)


def compute_drive_force(car: CarSpec, speed: float, throttle: float) -> float:
    """Return what accelerates a car whose wheels do not slip [N]: motors less the resistance of wheels and air."""
    share = speed / car.torque_speed
    low, high = (0, 1) if share < car.torque_curve[1][0] else (1, 2)
    (x0, y0, m0), (x1, y1, m1) = car.torque_curve[low], car.torque_curve[high]
    width, t = x1 - x0, (share - x0) / (x1 - x0)
    factor = (2 * t**3 - 3 * t**2 + 1) * y0 + (3 * t**2 - 2 * t**3) * y1
    factor += width * ((t**3 - 2 * t**2 + t) * m0 + (t**3 - t**2) * m1)
    motor = 4.0 * factor * throttle * car.torque_max / car.wheel_radius
    return motor - 4.0 * car.wheel_damping * speed / car.wheel_radius**2 - car.drag * car.mass * speed


def compute_effective_mass(car: CarSpec) -> float:
    """Return the mass that the car feels like when its wheels roll along [kg]."""
    return car.mass + 4.0 * car.wheel_inertia / car.wheel_radius**2


def measure_straight() -> Iterator[Law]:
    """Times from standstill to a speed, and the terminal speed."""
    for throttle, goal in ((0.1, 0.5), (0.2, 1.0), (0.3, 1.5)):
        rig = Rig()
        grid = np.linspace(0.0, goal, 2001)
        force = np.array([compute_drive_force(rig.car, float(v), throttle) for v in grid])
        closed = compute_effective_mass(rig.car) * float(trapezoid(1.0 / force, grid))
        steps = 0
        while rig.measure_speed() < goal:
            rig.drive(PHYSICS_STEP, throttle=throttle)
            steps += 1
        yield Law(f"time from 0 to {goal:g} m/s, throttle {throttle:g}", "s", closed, steps * PHYSICS_STEP)
    rig = Rig()
    low, high = 0.0, 5.0
    while high - low > 1e-9:
        middle = 0.5 * (low + high)
        low, high = (middle, high) if compute_drive_force(rig.car, middle, 0.2) > 0.0 else (low, middle)
    rig.roll(2.0)
    rig.drive(30.0, throttle=0.2)
    yield Law("terminal speed, throttle 0.2", "m/s", low, rig.measure_speed())


def measure_brakes() -> Iterator[Law]:
    """Distances from 2 m/s to standstill, wheels rolling and wheels locked."""
    for brake in (0.25, 10.0):
        rig = Rig()
        car = rig.car
        grid = np.linspace(0.0, 2.0, 2001)
        if brake < 1.0:
            force = 4.0 * brake * car.brake_torque / car.wheel_radius - np.array(
                [compute_drive_force(car, float(v), 0.0) for v in grid]
            )
            mass = compute_effective_mass(car)
            name = f"braking distance from 2 m/s, brake {brake:g}"
        else:
            grip = car.grip_gain * car.forward.asymptote_value * car.gravity
            force = car.mass * (grip + car.drag * grid)
            mass = car.mass
            name = "braking distance from 2 m/s, wheels locked"
        closed = mass * float(trapezoid(grid / force, grid))
        rig.roll(2.0)
        if brake >= 1.0:
            rig.state.wheel_speed[0] = 0.0  # on the way to standing still they grip better
        rig.drive(6.0, brake=brake)
        yield Law(name, "m", closed, float(rig.state.position[0, 0]))


def measure_grip() -> Iterator[Law]:
    """Lateral acceleration of a car that drifts at 2 m/s, over all drift angles up to 0.7 rad, and beyond the peak."""
    pulls = []
    for angle in np.arange(0.02, 0.71, 0.02):
        rig = Rig(friction=0.5)
        rig.roll(2.0 * math.cos(angle))
        rig.state.velocity[0, 1] = -2.0 * math.sin(angle)
        rig.drive(4 * PHYSICS_STEP)
        side = 2.0 * math.sin(angle)
        pulls.append((rig.state.velocity[0, 1] + side) / (4 * PHYSICS_STEP) - rig.car.drag * side)
    grip = 0.5 * rig.car.gravity * rig.car.grip_gain
    yield Law("greatest lateral acceleration, friction 0.5", "m/s²", grip, max(pulls))
    yield Law("the same, drift angle 0.7", "m/s²", grip * rig.car.sideways.asymptote_value, pulls[-1])


def measure_transfer() -> Iterator[Law]:
    """Load transfer: force times the arm of the centre of mass over the points where tyres push, over the base."""
    rig = Rig()
    car = rig.car
    rest = compute_static_load(car)
    arm = compute_rest_height(car) + car.centre_of_mass[2] - car.force_point
    rig.roll(3.0)
    rig.drive(0.6, brake=0.3)
    before, clock = rig.state.velocity[0, 0], 0.4
    loads = []
    for _ in range(192):
        rig.drive(PHYSICS_STEP, brake=0.3)
        loads.append(rig.state.wheel_load[0, :2].sum() - rest[:2].sum())
    slowing = (before - rig.state.velocity[0, 0]) / clock - car.drag * 0.5 * (before + rig.state.velocity[0, 0])
    base = car.wheel_position[0][0] - car.wheel_position[2][0]
    yield Law("load moved to the front axle, brake 0.3", "N", car.mass * slowing * arm / base, float(np.mean(loads)))
    rig = Rig()
    rig.drive(14.0, steer=1.0, throttle=0.05)
    pull = rig.measure_speed() * rig.state.angular_velocity[0, 2]
    track = car.wheel_position[0][1] - car.wheel_position[1][1]
    moved = float(rig.state.wheel_load[0, 1::2].sum() - rest[1::2].sum())
    yield Law("load moved to the outer side, circle at throttle 0.05", "N", car.mass * pull * arm / track, moved)


def find_steepest(car: CarSpec, friction: float) -> float:
    """Return the slope on which a braked car's tyres just hold it [rad].

    The share of the grip that a tyre has whatever its load is, is not less on a slope.
    """
    slope, stiffness = 0.0, friction * car.forward.stiffness
    for _ in range(60):
        slope = math.asin(stiffness * (car.load_share * math.cos(slope) + car.load_rest))
    return slope


def measure_slope() -> Iterator[Law]:
    """Steepest slope on which a braked car holds, by halving."""
    for friction in (0.2, 0.4):
        steepest = find_steepest(load_car("original"), friction)
        low, high = 0.8 * steepest, 1.2 * steepest
        for _ in range(7):
            middle = 0.5 * (low + high)
            rig = Rig(friction=friction, slope=middle)
            rig.drive(3.0, brake=1.0)
            holds = rig.measure_speed() < 0.01
            low, high = (middle, high) if holds else (low, middle)
        name = f"steepest slope a braked car holds on, friction {friction:g}"
        yield Law(name, "°", math.degrees(steepest), math.degrees(0.5 * (low + high)))


def measure_impacts() -> Iterator[Law]:
    """Plastic impacts on ice: the common speed of two cars, and the momentum of a car and a cone."""
    rig = Rig(friction=0.0, car_count=2)
    rig.state.position[1] = rig.state.position[0] + (0.6, 0.0, 0.0)
    rig.state.velocity[0] = (2.0, 0.0, 0.0)
    rig.drive(0.5)
    decay = (1.0 - rig.car.drag * PHYSICS_STEP) ** 240
    yield Law("speed of a car after it was run into at 2 m/s", "m/s", decay, float(rig.state.velocity[1, 0]))
    cone = Props(
        position=np.array([[0.5, 0.02, 0.0]]),
        yaw=np.zeros(1),
        mass=np.array([5.0]),
        radius_base=np.array([0.05]),
        radius_top=np.array([0.015]),
        height=np.array([0.14]),
        centre_of_mass=np.array([0.045]),
        friction=np.zeros(1),
        model=np.zeros(1, np.int32),
        name=np.zeros(1, np.int32),
    )
    rig = Rig(friction=0.0, props=cone)
    rig.state.velocity[0] = (2.0, 0.0, 0.0)
    rig.drive(0.5)
    momentum = rig.car.mass * rig.state.velocity[0, 0] + 5.0 * rig.state.prop_velocity[0, 0]
    yield Law("momentum of car and cone after an impact at 2 m/s", "N s", 2.0 * rig.car.mass * decay, float(momentum))


def main() -> None:
    """Print the table."""
    print_table(list_laws(), "law", "closed form")


def print_table(laws: Iterable[Law], what: str, judge: str) -> None:
    """Print what was measured beside what it should be."""
    print(f"| {what} | unit | {judge} | measured | deviation |")
    print("|---|---|---:|---:|---:|")
    for law in laws:
        print(f"| {law.name} | {law.unit} | {law.closed:.4g} | {law.measured:.4g} | {100.0 * law.deviation:+.1f} % |")


if __name__ == "__main__":
    main()
