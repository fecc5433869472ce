"""Car presets against a published single-track model: `python -m benchmarks.car_presets` prints the table of
docs/physics.md.

The judge is `vehicle_dynamics_st` of commonroad-vehicle-models (Althoff and Würsching, "CommonRoad: Vehicle Models"):
`pip install --no-deps commonroad-vehicle-models==3.0.2`. It gets the preset's own numbers. It knows one cornering
stiffness, no losses, no wheel that spins or locks, and no ESC: so the preset is driven with the mean of its axles'
stiffnesses, without losses, ESC and battery, but with its servo, and with half the throttle and brake. Speeds are held
where the judge holds them.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from types import SimpleNamespace

import numpy as np

from benchmarks.physics_laws import Law, Rig, print_table
from donkeysim.core.types import FloatArray
from donkeysim.physics.vehicle import compute_inertia
from donkeysim.world.car_files import BatterySpec, EscSpec, ServoSpec
from donkeysim.world.specs import CarSpec, load_car

STEP = 1.0 / 480.0

CIRCLES = {"rc10": ((1.5, 0.2), (2.0, 0.3), (3.0, 0.15), (4.0, 0.1), (5.0, 0.05)), "rc16": ((1.0, 0.3), (2.0, 0.15))}
"""Speed [m/s] and wheel angle [rad] of circles."""

STEPS = {"rc10": ((2.0, 0.2), (4.0, 0.1)), "rc16": ((1.5, 0.2), (3.0, 0.08))}
"""The same of steps and sines."""

PEDAL = 0.5
"""Throttle and brake at which no wheel spins or locks."""

SPEEDS = {"rc10": (3.0, 7.0, 10.0), "rc16": (1.0, 2.0, 4.0)}
"""Reached from rest, and braked from [m/s]."""


def simplify(car: CarSpec) -> CarSpec:
    """Return a preset as the judge knows it."""
    rear = car.sideways_rear or car.sideways
    slip = 2.0 / (1.0 / car.sideways.extremum_slip + 1.0 / rear.extremum_slip)
    return replace(
        car,
        sideways=replace(car.sideways, extremum_slip=slip),
        sideways_rear=None,
        drag=0.0,
        wheel_damping=0.0,
        servo=ServoSpec(speed=car.servo.speed),
        esc=EscSpec(),
        battery=BatterySpec(),
    )


class Judge:
    """The published model with a preset's numbers."""

    def __init__(self, car: CarSpec) -> None:
        front = max(place[0] for place in car.wheel_position)
        rear = min(place[0] for place in car.wheel_position)
        curve = car.sideways
        value = curve.stiffness * curve.extremum_value
        self.mass_share = car.mass / (car.mass + 4.0 * car.wheel_inertia / car.wheel_radius**2)
        self.base = front - rear
        limit = car.steer_limit
        self.parameters = SimpleNamespace(
            a=front - car.centre_of_mass[0],
            b=car.centre_of_mass[0] - rear,
            h_s=car.wheel_radius + 0.5 * car.suspension_travel + car.centre_of_mass[2],
            m=car.mass,
            I_z=float(compute_inertia(car)[2]),
            tire=SimpleNamespace(p_dy1=value, p_ky1=-value * curve.origin_slope / curve.extremum_slip),
            steering=SimpleNamespace(min=-limit, max=limit, v_min=-car.servo.speed, v_max=car.servo.speed),
            longitudinal=SimpleNamespace(v_min=-50.0, v_max=50.0, v_switch=50.0, a_max=50.0),
        )

    def drive(
        self, speed: float, seconds: float, steer: Callable[[float], float], gain: Callable[[float], float]
    ) -> FloatArray:
        """Return the states at every step: x, y, wheel angle, speed, yaw, yaw rate, slip angle.

        Args:
            speed: At the start [m/s].
            seconds: How long.
            steer: The wheel angle asked for at a time [rad]; the servo's speed limits it.
            gain: Acceleration at a speed [m/s²].
        """
        from vehiclemodels.vehicle_dynamics_st import vehicle_dynamics_st

        state, rows = np.array([0.0, 0.0, 0.0, speed, 0.0, 0.0, 0.0]), []
        for step in range(round(seconds / STEP)):
            rows.append(state)
            wanted = (steer(step * STEP) - state[2]) / STEP

            def find_rates(at: FloatArray, rate: float = wanted) -> FloatArray:
                return np.array(vehicle_dynamics_st(at.tolist(), [rate, gain(float(at[3]))], self.parameters))

            middle = state + 0.5 * STEP * find_rates(state)
            state = state + STEP * find_rates(middle)
        return np.array(rows)


class Driven(Rig):
    """A preset on a plane, and what the judge would tell of it."""

    def __init__(self, car: CarSpec) -> None:
        super().__init__(car=car)

    def drive_along(
        self, speed: float, seconds: float, steer: Callable[[float], float], gain: float | None = None
    ) -> FloatArray:
        """Return x, y, wheel angle, speed, yaw, yaw rate at every step; the speed is held unless `gain` says otherwise.

        Args:
            speed: At the start [m/s].
            seconds: How long.
            steer: The wheel angle asked for at a time [rad].
            gain: Throttle, below 0 brake; None: whatever holds the speed.
        """
        self.roll(speed)
        rows = []
        for step in range(round(seconds / STEP)):
            vx, vy, _ = self.state.velocity[0]
            now = math.hypot(vx, vy)
            w, _, _, z = self.state.orientation[0]
            x, y, _ = self.state.position[0] + self._find_centre()
            yaw, turn = 2.0 * math.atan2(z, w), self.state.angular_velocity[0, 2]
            rows.append((x, y, self.state.steer_angle[0], now, yaw, turn))
            push = 3.0 * (speed - now) if gain is None else gain
            angle = steer(step * STEP) / self.car.steer_gain
            self.drive(STEP, angle, max(push, 0.0), max(-push, 0.0))
        return np.array(rows)

    def _find_centre(self) -> FloatArray:
        w, _, _, z = self.state.orientation[0]
        yaw, x = 2.0 * math.atan2(z, w), self.car.centre_of_mass[0]
        return np.array([x * math.cos(yaw), x * math.sin(yaw), 0.0])


def measure(name: str) -> Iterator[Law]:
    """Yield the manoeuvres of a preset: the judge's value and ours."""
    car = simplify(load_car(name))
    judge = Judge(car)
    for speed, angle in CIRCLES[name]:
        yield from _turn_circle(name, car, judge, speed, angle)
    for speed, angle in STEPS[name]:
        yield from _step_steer(name, car, judge, speed, angle)
        yield from _weave(name, car, judge, speed, angle)
    for speed in SPEEDS[name]:
        yield from _change_speed(name, car, judge, speed)


def _turn_circle(name: str, car: CarSpec, judge: Judge, speed: float, angle: float) -> Iterator[Law]:
    theirs = judge.drive(speed, 4.0, lambda _: angle, lambda _: 0.0)
    ours = Driven(car).drive_along(speed, 4.0, lambda _: angle)
    theirs, ours = theirs[-480:], ours[-480:]
    radii = [float(rows[:, 3].mean() / rows[:, 5].mean()) for rows in (theirs, ours)]
    grip = speed**2 / radii[0] / 9.81
    yield Law(f"{name}: radius of a circle at {speed:g} m/s, {angle:g} rad ({grip:.2f} g)", "m", *radii)


def _step_steer(name: str, car: CarSpec, judge: Judge, speed: float, angle: float) -> Iterator[Law]:
    theirs = judge.drive(speed, 1.0, lambda _: angle, lambda _: 0.0)
    ours = Driven(car).drive_along(speed, 1.0, lambda _: angle)
    told = f"{name}: step to {angle:g} rad at {speed:g} m/s"
    yield Law(f"{told}, greatest yaw rate", "rad/s", float(theirs[:, 5].max()), float(ours[:, 5].max()))
    yield Law(f"{told}, yaw after 0.25 s", "rad", float(theirs[120, 4]), float(ours[120, 4]))
    yield Law(f"{told}, way to the side in 1 s", "m", float(theirs[-1, 1]), float(ours[-1, 1]))


def _weave(name: str, car: CarSpec, judge: Judge, speed: float, angle: float) -> Iterator[Law]:
    def steer(time: float) -> float:
        return angle * math.sin(2.0 * math.pi * time)

    theirs = judge.drive(speed, 3.0, steer, lambda _: 0.0)
    ours = Driven(car).drive_along(speed, 3.0, steer)
    told = f"{name}: sine of 1 Hz, {angle:g} rad at {speed:g} m/s"
    yield Law(f"{told}, swing of the yaw rate", "rad/s", *(float(np.ptp(rows[480:, 5])) for rows in (theirs, ours)))
    yield Law(f"{told}, way to the side", "m", float(theirs[-1, 1]), float(ours[-1, 1]))


def _change_speed(name: str, car: CarSpec, judge: Judge, speed: float) -> Iterator[Law]:
    """Throttle and brake on a straight; the judge gets the accelerations that the preset's file states."""
    per_torque = 4.0 / car.wheel_radius / car.mass * judge.mass_share
    most, slowing = PEDAL * car.torque_max * per_torque, PEDAL * car.brake_torque * per_torque
    shares, factors = [row[0] for row in car.torque_curve], [row[1] for row in car.torque_curve]

    def gain(now: float) -> float:
        share = now / car.torque_speed
        if name == "rc10":  # the published limits: constant, then constant power
            return most * min(1.0, 1.0 / max(share, 1e-9))
        return most * float(np.interp(share, shares, factors))

    theirs = judge.drive(0.0, 4.0, lambda _: 0.0, gain)
    ours = Driven(car).drive_along(0.0, 4.0, lambda _: 0.0, PEDAL)
    told = f"{100.0 * PEDAL:.0f} %"
    yield Law(
        f"{name}: time from 0 to {speed:g} m/s, throttle {told}", "s", *(_find_time(r, speed) for r in (theirs, ours))
    )
    theirs = judge.drive(speed, 4.0, lambda _: 0.0, lambda now: -slowing if now > 0.1 else 0.0)
    ours = Driven(car).drive_along(speed, 4.0, lambda _: 0.0, -PEDAL)
    yield Law(f"{name}: way from {speed:g} to 0.2 m/s, brake {told}", "m", *(_find_way(r, 0.2) for r in (theirs, ours)))


def _find_time(rows: FloatArray, speed: float) -> float:
    return float(np.interp(speed, rows[:, 3], np.arange(len(rows)) * STEP))


def _find_way(rows: FloatArray, speed: float) -> float:
    return float(rows[rows[:, 3] < speed][0, 0])


def measure_all() -> list[Law]:
    """Return the manoeuvres of all presets."""
    return [law for name in CIRCLES for law in measure(name)]


def main() -> None:
    """Print the table."""
    print_table(measure_all(), "manoeuvre", "commonroad")


if __name__ == "__main__":
    main()
