"""Car parameters: what `CarSpec` says, as one row of numbers per car."""

from typing import NamedTuple

import numpy as np

from donkeysim.core.errors import SpecError
from donkeysim.core.types import FloatArray
from donkeysim.physics.kernels import layout
from donkeysim.physics.kernels.vehicle import ORIGIN_SLOPE
from donkeysim.world.car_files import WheelCurve
from donkeysim.world.specs import CarSpec


class CarParams(NamedTuple):
    """One row per car, so that cars may differ. All fields are views into `packed`, which the kernels read."""

    packed: FloatArray
    """Columns as in `kernels.layout`, shape [car_count, PARAM_WIDTH]."""
    mass: FloatArray
    """[kg], shape [car_count]."""
    inertia: FloatArray
    """About the body's axes through the centre of mass [kg m²], shape [car_count, 3]."""
    static_load: FloatArray
    """Load of each wheel at rest on level ground [N], shape [car_count, 4]."""
    drag: FloatArray
    """[1/s], shape [car_count]."""
    gravity: FloatArray
    """[m/s²], shape [car_count]."""
    torque_max: FloatArray
    """[N m], shape [car_count]."""
    brake_torque: FloatArray
    """[N m], shape [car_count]."""
    steer_gain: FloatArray
    """[rad], shape [car_count]."""
    steer_trim: FloatArray
    """Added to the angle of the steered wheels, + = left [rad], shape [car_count]."""


def make_orders(car_count: int, length: int) -> layout.Orders:
    """Return rings for `length` commands to each car, without any."""
    shape = (car_count, length)
    counts = np.zeros((2, car_count), np.int64)
    return layout.Orders(np.zeros(shape, np.int64), np.zeros((*shape, 3)), counts[0], counts[1])


def make_params(car: CarSpec, car_count: int) -> CarParams:
    """Return the parameters of `car_count` equal cars.

    Raises:
        SpecError: The car's numbers make no car.
    """
    return share_params(np.tile(pack_car(car), (car_count, 1)))


def share_params(packed: FloatArray) -> CarParams:
    """Return the names of the columns of car parameters, shape [car_count, PARAM_WIDTH]."""
    wide = layout
    return CarParams(
        packed=packed,
        mass=packed[:, wide.P_MASS],
        inertia=packed[:, wide.P_INERTIA : wide.P_INERTIA + 3],
        static_load=packed[:, wide.P_STATIC_LOAD : wide.P_STATIC_LOAD + 4],
        drag=packed[:, wide.P_DRAG],
        gravity=packed[:, wide.P_GRAVITY],
        torque_max=packed[:, wide.P_TORQUE_MAX],
        brake_torque=packed[:, wide.P_BRAKE_TORQUE],
        steer_gain=packed[:, wide.P_STEER_GAIN],
        steer_trim=packed[:, wide.P_STEER_TRIM],
    )


def compute_inertia(car: CarSpec) -> FloatArray:
    """Return the moments of inertia, those of a uniform box unless the car gives its own [kg m²], shape [3]."""
    if car.inertia is not None:
        return np.array(car.inertia)
    x, y, z = (side * side for side in car.chassis_size)
    return np.array([y + z, x + z, x + y]) * (car.mass / 12.0)


def compute_static_load(car: CarSpec) -> FloatArray:
    """Return the load of each wheel at rest on level ground [N], shape [4].

    Four wheels share the weight linearly in their place, as equal springs do.
    """
    wheel = np.array(car.wheel_position)[:, :2] - np.array(car.centre_of_mass)[:2]
    plane = np.column_stack([np.ones(4), wheel])
    coefficients = np.linalg.solve(plane.T @ plane, [car.mass * car.gravity, 0.0, 0.0])
    load: FloatArray = plane @ coefficients
    return load


def compute_rest_height(car: CarSpec) -> float:
    """Return the height of the body's origin above level ground at rest [m]."""
    extension = car.suspension_target * car.suspension_travel
    return car.wheel_radius + extension - min(position[2] for position in car.wheel_position)


def pack_car(car: CarSpec) -> FloatArray:
    """Return the row of parameters of one car, shape [PARAM_WIDTH].

    Raises:
        SpecError: The car's numbers make no car.
    """
    _check_car(car)
    centre = np.array(car.centre_of_mass)
    wheel = np.array(car.wheel_position) - centre
    inertia = compute_inertia(car)
    row = np.zeros(layout.PARAM_WIDTH)
    row[layout.P_CENTRE : layout.P_CENTRE + 3] = centre
    row[layout.P_INERTIA : layout.P_INERTIA + 3] = inertia
    row[layout.P_WHEEL : layout.P_WHEEL + 12] = wheel.ravel()
    row[layout.P_DRIVEN : layout.P_DRIVEN + 4] = car.wheel_driven
    row[layout.P_STEERED : layout.P_STEERED + 4] = car.wheel_steered
    row[layout.P_STATIC_LOAD : layout.P_STATIC_LOAD + 4] = load = compute_static_load(car)
    row[layout.P_LOAD_REST : layout.P_LOAD_REST + 4] = car.load_rest * load
    row[layout.P_FORWARD : layout.P_FORWARD + 4] = _pack_curve(car.forward)
    row[layout.P_SIDEWAYS : layout.P_SIDEWAYS + 4] = _pack_curve(car.sideways)
    row[layout.P_SIDEWAYS_REAR : layout.P_SIDEWAYS_REAR + 4] = _pack_curve(car.sideways_rear or car.sideways)
    row[layout.P_HALF_SIZE : layout.P_HALF_SIZE + 3] = 0.5 * np.array(car.chassis_size)
    row[layout.P_BOX_CENTRE : layout.P_BOX_CENTRE + 3] = np.array(car.chassis_centre) - centre
    for column, value in (_list_scalars(car) | _list_actuators(car)).items():
        row[column] = value
    height = compute_rest_height(car) + car.centre_of_mass[2]
    arm = float(np.abs(wheel[:, 0]).max())
    row[layout.P_GRIP_MASS] = 0.25 / (1.0 / car.mass + height**2 / inertia[:2].min() + arm**2 / inertia[2])
    curve = np.array(car.torque_curve)
    row[layout.P_CURVE_COUNT] = len(curve)
    row[layout.P_CURVE : layout.P_CURVE + curve.size] = curve.ravel()
    return row


def _list_scalars(car: CarSpec) -> dict[int, float]:
    return {
        layout.P_MASS: car.mass,
        layout.P_DRAG: car.drag,
        layout.P_ANGULAR_DRAG: car.angular_drag,
        layout.P_GRAVITY: car.gravity,
        layout.P_RADIUS: car.wheel_radius,
        layout.P_WHEEL_INERTIA: car.wheel_inertia,
        layout.P_WHEEL_DAMPING: car.wheel_damping,
        layout.P_SPRING: car.suspension_spring,
        layout.P_DAMPER: car.suspension_damper,
        layout.P_TARGET: car.suspension_target * car.suspension_travel,
        layout.P_TRAVEL: car.suspension_travel,
        layout.P_FORCE_POINT: car.force_point,
        layout.P_TORQUE_MAX: car.torque_max,
        layout.P_TORQUE_SPEED: car.torque_speed,
        layout.P_BRAKE_TORQUE: car.brake_torque,
        layout.P_STEER_GAIN: car.steer_gain,
        layout.P_STEER_LIMIT: car.steer_limit,
        layout.P_SLIP_DRIVEN: car.slip_speed_driven,
        layout.P_SLIP_FREE: car.slip_speed_free,
        layout.P_SLIP_LATERAL: car.slip_speed_lateral,
        layout.P_LOAD_SHARE: car.load_share,
        layout.P_GRIP_CREEP: car.grip_creep,
    }


def _list_actuators(car: CarSpec) -> dict[int, float]:
    battery = car.battery
    return {
        layout.P_FORWARD_LIFT: car.forward.origin_slope - ORIGIN_SLOPE,
        layout.P_SIDEWAYS_LIFT: car.sideways.origin_slope - ORIGIN_SLOPE,
        layout.P_HAS_ACTUATORS: car.has_actuators,
        layout.P_SERVO_SPEED: car.servo.speed,
        layout.P_SERVO_BAND: car.servo.dead_band,
        layout.P_DEAD_ZONE: car.esc.dead_zone,
        layout.P_DOUBLE_TAP: car.esc.double_tap,
        layout.P_ESC_BRAKE: car.esc.brake,
        layout.P_COGGING: car.esc.cogging,
        layout.P_COGGING_SPEED: car.esc.cogging_speed,
        layout.P_COGGING_COUNT: car.esc.cogging_count,
        layout.P_CAPACITY: 3600.0 * battery.capacity,
        layout.P_BATTERY_FALL: 1.0 - battery.empty_voltage / battery.voltage,
        layout.P_BATTERY_SAG: battery.resistance * battery.current_max / battery.voltage,
        layout.P_CURRENT: battery.current_max,
    }


def _pack_curve(curve: WheelCurve) -> tuple[float, float, float, float]:
    return (
        1.0 / curve.extremum_slip,
        curve.extremum_value * curve.stiffness,
        curve.asymptote_slip / curve.extremum_slip,
        curve.asymptote_value * curve.stiffness,
    )


def _check_car(car: CarSpec) -> None:
    positive = ("mass", "wheel_radius", "wheel_inertia", "suspension_spring", "suspension_travel", "torque_speed")
    for name in (*positive, "slip_speed_driven", "slip_speed_free", "slip_speed_lateral"):
        if not getattr(car, name) > 0.0:
            raise SpecError(f"the car {car.name!r} has {name} = {getattr(car, name)}; it takes a number above 0.")
    if min(car.chassis_size) <= 0.0:
        raise SpecError(f"the car {car.name!r} has chassis_size {car.chassis_size}; each side takes a number above 0.")
    if len({position[2] for position in car.wheel_position}) != 1:
        raise SpecError(f"the car {car.name!r} has wheels at unequal heights; give all wheel_position the same z.")
    for name, curve in (("forward", car.forward), ("sideways", car.sideways)):
        if not 0.0 < curve.extremum_slip < curve.asymptote_slip:
            raise SpecError(
                f"the car {car.name!r} has a {name} curve with slips {curve.extremum_slip} and {curve.asymptote_slip}; "
                "the asymptote's slip must lie above the extremum's, and both above 0."
            )
    speeds = [row[0] for row in car.torque_curve]
    if not 1 <= len(speeds) <= layout.CURVE_ROWS or sorted(set(speeds)) != speeds:
        raise SpecError(
            f"the car {car.name!r} has a torque curve over {speeds}; "
            f"it takes 1 to {layout.CURVE_ROWS} rows of rising speed."
        )
