"""Makes `Telemetry` of one car: the only place where State becomes the original's axes and units, and where the noise
of an inertial unit is added, which the original sends without any.
"""

import math
from functools import lru_cache

from donkeysim.core import frames
from donkeysim.core.frames import Vector
from donkeysim.core.rng import draw_gaussian
from donkeysim.core.rotation import rotate_to_body
from donkeysim.core.types import PHYSICS_RATE, PHYSICS_STEP, FloatArray
from donkeysim.world.ledger import Ledger
from donkeysim.world.scene import Scene
from donkeysim.world.specs import ImuSpec
from donkeysim.world.state import HIT_CAR, HIT_NONE
from donkeysim.world.telemetry import LidarPoint, Telemetry

NOISE_STREAM = 1 << 33
"""First of six streams of random numbers: three of acceleration, three of rates."""


def observe_telemetry(
    ledger: Ledger, scene: Scene, car: int, *, car_names: dict[int, str], frame: int, imu: ImuSpec, key: int
) -> Telemetry:
    """Return the readings of one car, in as many lines as there are fields.

    Args:
        ledger: Read; the last request is what the original reports.
        scene: The car's place.
        car: Row of the car.
        car_names: Name by car row, for `hit`.
        frame: Number of this telemetry since the car was loaded.
        imu: Noise of acceleration and rates.
        key: World key of that noise, see `core.rng`.
    """
    slot = car % ledger.cars_per_world
    orientation = ledger.orientation[car].tolist()
    velocity_world = ledger.velocity[car].tolist()
    velocity = frames.vector_to_unity(rotate_to_body(orientation, velocity_world))
    position = frames.vector_to_unity(ledger.position[car].tolist())
    accel, gyro = ledger.acceleration_body[car].tolist(), ledger.angular_velocity[car].tolist()
    step = round(ledger.time.item(car) * PHYSICS_RATE)
    accel, gyro = add_noise(accel, gyro, imu, key=key, slot=slot, step=step)
    accel, gyro = frames.vector_to_unity(accel), frames.rate_to_unity(gyro)
    pitch, yaw, roll = frames.euler_to_unity(orientation)
    return Telemetry(
        steering_angle=frames.steer_to_wire(ledger.steer.item(car)),
        throttle=ledger.throttle.item(car),
        speed=math.hypot(*velocity_world),
        hit=name_hit(ledger.hit.item(car), scene.hit_names, car_names, car - slot),
        time=step * PHYSICS_STEP,
        accel_x=accel[0],
        accel_y=accel[1],
        accel_z=accel[2],
        gyro_x=gyro[0],
        gyro_y=gyro[1],
        gyro_z=gyro[2],
        gyro_w=ledger.rotation_step.item(car, 0),
        pitch=pitch,
        yaw=yaw,
        roll=roll,
        cte=frames.cte_to_units(ledger.active_offset.item(car)),
        activeNode=ledger.active_node.item(car),
        totalNodes=len(scene.path.position),
        pos_x=position[0],
        pos_y=position[1],
        pos_z=position[2],
        vel_x=velocity[0],
        vel_y=velocity[1],
        vel_z=velocity[2],
        on_road=ledger.on_road.item(car),
        progress_on_shortest_path=ledger.shortest_along.item(car),
        lap=ledger.lap.item(car),
        frame=frame,
        reset_count=ledger.reset_count.item(car),
    )


def observe_lidar(rows: FloatArray, sweep_increment: float, angle_delta: float) -> list[LidarPoint]:
    """Return scanned rays as the original lists them: U, degrees, without `angle_down` in `ry`.

    It writes whole degrees without a point, and programs that take `rx // increment` for an index need them so.

    Args:
        rows: Distance [m], ray index, level index of every returned ray, shape [ray_count, 3].
        sweep_increment: Angle between rays [rad].
        angle_delta: Angle between levels [rad].
    """
    increment = math.degrees(sweep_increment)
    delta = math.degrees(angle_delta)
    return [
        LidarPoint(
            d=round(frames.length_to_units(distance), 2), rx=_find_angle(ray, increment), ry=_find_angle(level, delta)
        )
        for distance, ray, level in rows.tolist()
    ]


@lru_cache(maxsize=1 << 14)  # every scan of a lidar has the same
def _find_angle(count: float, step: float) -> float:
    """Return `count` steps [degree] with six places, a whole number as an integer."""
    angle = round(count * step, 6)
    return int(angle) if angle == int(angle) else angle


def name_hit(code: int, names: tuple[str, ...], car_names: dict[int, str], first_car: int) -> str:
    """Return the name of what a hit code means, "none" for nothing.

    Args:
        code: As `State.hit`.
        names: `Scene.hit_names` or `Scene.labels` of the car's place.
        car_names: Name by car row.
        first_car: Row of slot 0 of the car's world.
    """
    if code == HIT_NONE:
        return "none"
    if code >= HIT_CAR:
        return car_names.get(first_car + code - HIT_CAR, "car")
    return names[code]


def add_noise(accel: Vector, gyro: Vector, imu: ImuSpec, *, key: int, slot: int, step: int) -> tuple[Vector, Vector]:
    """Return readings with independent Gaussian noise on every axis, or as they are where the deviation is 0.

    Args:
        accel: Acceleration, body frame [m/s²].
        gyro: Angular velocity, world frame [rad/s].
        imu: Standard deviations.
        key: World key of `core.rng`; with `slot` and `step` it decides the noise.
        slot: The car's slot in its world.
        step: Physics step of the reading.
    """
    if imu.accel_noise == 0.0 == imu.gyro_noise:
        return accel, gyro
    return (
        _disturb(accel, imu.accel_noise, key, slot, step, NOISE_STREAM),
        _disturb(gyro, imu.gyro_noise, key, slot, step, NOISE_STREAM + 3),
    )


def _disturb(vector: Vector, deviation: float, key: int, slot: int, step: int, stream: int) -> Vector:
    if deviation == 0.0:
        return vector
    x, y, z = (
        value + deviation * float(draw_gaussian(key, slot, step, stream + axis)) for axis, value in enumerate(vector)
    )
    return (x, y, z)
