"""Makes `Telemetry` of one car: the only place where State becomes the original's axes and units."""

from __future__ import annotations

import math

from donkeysim.core import frames
from donkeysim.core.rotation import rotate_to_body
from donkeysim.core.types import PHYSICS_STEP, FloatArray
from donkeysim.sim.imu import add_noise
from donkeysim.world.scene import Scene
from donkeysim.world.specs import ImuSpec
from donkeysim.world.state import HIT_CAR, HIT_NONE, Control, State
from donkeysim.world.telemetry import LidarPoint, Telemetry


def observe_telemetry(
    state: State,
    control: Control,
    scene: Scene,
    car: int,
    *,
    car_names: dict[int, str],
    cars_per_world: int,
    frame: int,
    imu: ImuSpec,
    key: int,
) -> Telemetry:
    """Return the readings of one car, in as many lines as there are fields.

    Args:
        state: Read.
        control: Read; the last request is what the original reports.
        scene: The car's place.
        car: Row of the car.
        car_names: Name by car row, for `hit`.
        cars_per_world: To turn a slot into a row.
        frame: Number of this telemetry since the car was loaded.
        imu: Noise of acceleration and rates.
        key: World key of that noise, see `core.rng`.
    """
    world, slot = divmod(car, cars_per_world)
    orientation = _row4(state.orientation, car)
    velocity_world = _row3(state.velocity, car)
    velocity = frames.vector_to_unity(rotate_to_body(orientation, velocity_world))
    position = frames.vector_to_unity(_row3(state.position, car))
    accel, gyro = _row3(state.acceleration_body, car), _row3(state.angular_velocity, car)
    accel, gyro = add_noise(accel, gyro, imu, key=key, slot=slot, step=int(state.step_index[world]))
    accel, gyro = frames.vector_to_unity(accel), frames.rate_to_unity(gyro)
    pitch, yaw, roll = frames.euler_to_unity(orientation)
    return Telemetry(
        steering_angle=frames.steer_to_wire(float(control.steer[car])),
        throttle=float(control.throttle[car]),
        speed=math.hypot(*velocity_world),
        hit=name_hit(int(state.hit[car]), scene, car_names, world * cars_per_world),
        time=float(state.step_index[world]) * PHYSICS_STEP,
        accel_x=accel[0],
        accel_y=accel[1],
        accel_z=accel[2],
        gyro_x=gyro[0],
        gyro_y=gyro[1],
        gyro_z=gyro[2],
        gyro_w=float(state.rotation_step[car, 0]),
        pitch=pitch,
        yaw=yaw,
        roll=roll,
        cte=frames.cte_to_units(float(state.cte[car])),
        activeNode=int(state.node_index[car]),
        totalNodes=len(scene.path.position),
        pos_x=position[0],
        pos_y=position[1],
        pos_z=position[2],
        vel_x=velocity[0],
        vel_y=velocity[1],
        vel_z=velocity[2],
        on_road=bool(state.on_road[car]),
        progress_on_shortest_path=float(state.progress[car]),
        lap=int(state.lap[car]),
        frame=frame,
        reset_count=int(state.reset_count[car]),
    )


def observe_lidar(rows: FloatArray, sweep_increment: float, angle_delta: float) -> list[LidarPoint]:
    """Return scanned rays as the original lists them: U, degrees, without `angle_down` in `ry`.

    Args:
        rows: Distance [m], ray index, level index of every returned ray, shape [ray_count, 3].
        sweep_increment: Angle between rays [rad].
        angle_delta: Angle between levels [rad].
    """
    increment = math.degrees(sweep_increment)
    delta = math.degrees(angle_delta)
    return [
        LidarPoint(
            d=round(frames.length_to_units(distance), 2),
            rx=round(ray * increment, 6),
            ry=round(level * delta, 6),
        )
        for distance, ray, level in rows.tolist()
    ]


def name_hit(code: int, scene: Scene, car_names: dict[int, str], first_car: int) -> str:
    """Return the name of what a hit code means, "none" for nothing.

    Args:
        code: As `State.hit`.
        scene: The car's place.
        car_names: Name by car row.
        first_car: Row of slot 0 of the car's world.
    """
    if code == HIT_NONE:
        return "none"
    if code >= HIT_CAR:
        return car_names.get(first_car + code - HIT_CAR, "car")
    return scene.hit_names[code]


def _row3(array: FloatArray, row: int) -> frames.Vector:
    return (float(array[row, 0]), float(array[row, 1]), float(array[row, 2]))


def _row4(array: FloatArray, row: int) -> frames.Quaternion:
    return (float(array[row, 0]), float(array[row, 1]), float(array[row, 2]), float(array[row, 3]))
