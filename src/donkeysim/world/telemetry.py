"""One car's readings as clients of the original know them: the wire, the environments' `info` and tubs share this."""

import msgspec


class LidarPoint(msgspec.Struct, frozen=True):
    """One returned ray.

    Attributes:
        d: Distance [U].
        rx: Angle in the sweep, clockwise from ahead [degree].
        ry: Level times the increment between levels [degree].
    """

    d: float
    rx: float
    ry: float


class Telemetry(msgspec.Struct, kw_only=True, omit_defaults=True):
    """Readings on the original's axes (x right, y up, z forward) and in its units; made by `sim.observe` only.

    Attributes:
        steering_angle: Last request, -1 to 1, + = right.
        throttle: Last request, -1 to 1.
        speed: Magnitude of the velocity [m/s].
        hit: Name of what was newly touched since the last telemetry, "none" otherwise.
        time: Simulated seconds since the scene was loaded.
        accel_x: Change of the car-local velocity [m/s²]; y, z likewise.
        gyro_x: Angular velocity, world axes [rad/s]; y, z likewise.
        gyro_w: w of the unit quaternion of the last physics step's rotation.
        pitch: Euler X [degree, 0 to 360], + = nose down.
        yaw: Euler Y, + = clockwise seen from above.
        roll: Euler Z, + = right side up.
        cte: Signed distance to the path [U], + = right of it. None: not sent (as all optional ones; the original never
            sends gyro_w, on_road and progress_on_shortest_path).
        activeNode: Path node index.
        totalNodes: Path nodes.
        pos_x: Position of the body's origin [m]; y, z likewise.
        vel_x: Velocity on the car's own axes [m/s]; y, z likewise.
        on_road: Whether the car's centre is on the drivable surface.
        progress_on_shortest_path: Since the start line [m].
        lap: Start-line crossings since the last reset.
        frame: Number of this telemetry since the car was loaded.
        reset_count: Resets of this car so far.
    """

    steering_angle: float
    throttle: float
    speed: float
    hit: str
    time: float
    accel_x: float
    accel_y: float
    accel_z: float
    gyro_x: float
    gyro_y: float
    gyro_z: float
    gyro_w: float | None = None
    pitch: float
    yaw: float
    roll: float
    cte: float | None = None
    activeNode: int | None = None  # noqa: N815  (the wire's name)
    totalNodes: int | None = None  # noqa: N815
    pos_x: float | None = None
    pos_y: float | None = None
    pos_z: float | None = None
    vel_x: float | None = None
    vel_y: float | None = None
    vel_z: float | None = None
    on_road: bool | None = None
    progress_on_shortest_path: float | None = None
    lap: int
    frame: int
    reset_count: int
