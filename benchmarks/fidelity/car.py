"""How the cars drive beside what recordings of the original show; docs/fidelity.md says where each figure is from."""

import math
from collections.abc import Iterator

import numpy as np

from benchmarks.fidelity.row import Row
from benchmarks.physics_laws import Rig
from donkeysim.core import frames
from donkeysim.core.types import FloatArray
from donkeysim.physics.vehicle import compute_rest_height
from donkeysim.sim.simulator import Simulator
from donkeysim.world.ledger import EVENT_LAP
from donkeysim.world.specs import SceneSpec, WorldSpec, load_car

U = 1.0 / 8.0
"""The original's unit of length [m]."""

FRAME = 0.05
"""Between two telemetries of the original [s]."""

CURVATURE = 0.1696
"""Of the circle that the car follows at full lock and 11 U/s [1/U]."""

FROM_REST = ((12, 0.292),)
"""Frames at throttle 0.2 from standstill, and the speed then [m/s]."""

ROLLING, FROM_ROLLING = 0.779, ((16, 1.043), (32, 1.266), (40, 1.365))
"""The same from this speed [m/s]. Between the two the recording gained more than throttle 0.2 gives."""

GAINS = (((2.4, 1.2), 0.32), ((1.2, 0.6), 0.53), ((1.8, 0.9), 0.41))
"""Of the controller that was let loose on the original, on cte and its change, and the mean |cte| there [U]."""

LOOP_FRAMES, LOST = 400, 4.0
"""How long that controller drives; and the |cte| at which it is over [U]."""

LAP_GAINS = (0.6, 8.0)
"""Of the controller whose laps the original counted: on cte [1/m] and its rate of change [s/m], at throttle 0.2."""

LONGEST_LAP = 2000
"""After which it is taken for lost [frames]."""

LAPS = (("generated_track", 446), ("warren", 557), ("mini_monaco", 765))
"""Frames of its lap on the original."""

JANUARY_2022 = ((4.0, 0.1735), (9.0, 0.152), (11.0, 0.128), (13.0, 0.094))
"""Speed [U/s] and curvature at full lock [1/U] then."""


def measure_car() -> Iterator[Row]:
    """Measure the car `original` against release v25.10.06 and `original-2021` against January 2022."""
    yield from measure_corner()
    yield from measure_straight()
    yield from measure_loop()
    yield from measure_laps()
    yield from measure_january_2022()


def measure_corner() -> Iterator[Row]:
    """Full lock at once, at four speeds: the circle, and what it costs at the recorded one."""
    for speed in (5.0, 9.0, 11.0, 12.5):
        curvature, loss = corner(speed)
        yield Row(f"curvature at full lock, {speed:g} U/s", CURVATURE, curvature, "1/U", 0.03 * CURVATURE)
        if speed == 11.0:
            yield Row("speed lost there, throttle 0.14", 0.05, loss, "m/s²", 0.02)


def corner(speed: float) -> tuple[float, float]:
    """Return the path's mean curvature [1/U] from a fifth of a second on, and the speed lost meanwhile [m/s²]."""
    rig = Rig()
    rig.roll(speed * U)
    track, speeds = [], []
    for _ in range(18):
        rig.drive(FRAME, steer=1.0, throttle=0.14)
        track.append(rig.state.position[0, :2] / U)
        speeds.append(rig.measure_speed())
    return measure_curvature(np.array(track)[4:]), (speeds[4] - speeds[12]) / (8 * FRAME)


def measure_curvature(track: FloatArray) -> float:
    """Return the mean curvature along points, shape [n, 2], of even steps in time."""
    step = np.diff(track, axis=0)
    length = np.hypot(step[:, 0], step[:, 1])
    heading = np.unwrap(np.arctan2(step[:, 1], step[:, 0]))
    return float((heading[-1] - heading[0]) / (length.sum() - 0.5 * (length[0] + length[-1])))


def measure_straight() -> Iterator[Row]:
    """Speed at throttle 0.2, coasting, braking by throttle -1, height at rest."""
    for start, table in ((0.0, FROM_REST), (ROLLING, FROM_ROLLING)):
        rig = Rig()
        rig.roll(start)
        done = 0
        for frame, recorded in table:
            rig.drive((frame - done) * FRAME, throttle=0.2)
            done = frame
            name = f"speed {frame} frames after {start:g} m/s, throttle 0.2"
            yield Row(name, recorded, rig.measure_speed(), "m/s", 0.02 * recorded)
    rig = Rig()
    rig.roll(1.5)
    rig.drive(1.0)
    yield Row("coasting", 0.204, math.log(1.5 / rig.measure_speed()), "1/s", 0.01)
    yield Row("origin above the road at rest", 0.0736, compute_rest_height(load_car("original")), "m", 0.001)


def measure_loop() -> Iterator[Row]:
    """Let the recorded controller drive on generated_track, with three pairs of gains."""
    simulator = Simulator(WorldSpec(SceneSpec("generated_track")))
    simulator.compile()
    car = simulator.add_car()
    for (proportional, derivative), recorded in GAINS:
        simulator.reset_car(car)
        cte = drive_loop(simulator, car, proportional, derivative)
        name = f"controller {proportional}, {derivative}"
        yield Row(f"{name}: frames on the road", LOOP_FRAMES, len(cte), "", 0.0)
        yield Row(f"{name}: mean |cte|", recorded, float(np.mean(np.abs(cte))), "U", 0.15)
    simulator.close()


def drive_loop(simulator: Simulator, car: int, proportional: float, derivative: float) -> list[float]:
    """Return the cte of each frame [U] until the end or until the car is lost."""
    told: list[float] = []
    while len(told) < LOOP_FRAMES:
        cte = simulator.observe_telemetry(car).cte or 0.0
        if abs(cte) > LOST:
            break
        change = cte - told[-1] if told else 0.0
        told.append(cte)
        steer = min(max(-(proportional * cte + derivative * change), -1.0), 1.0)
        simulator.drive_car(car, frames.steer_from_wire(steer), 0.14 if abs(steer) > 0.5 else 0.2, 0.0)
        simulator.step()
    return told


def measure_laps() -> Iterator[Row]:
    """Count the frames of a lap, from standstill, of a controller that keeps to the path at throttle 0.2."""
    for scene, recorded in LAPS:
        simulator = Simulator(WorldSpec(SceneSpec(scene)))
        simulator.compile()
        yield Row(
            f"lap of controller {LAP_GAINS[0]:g}/m, {LAP_GAINS[1]:g} s/m on {scene}",
            recorded,
            count_lap(simulator),
            "frames",
            0.15 * recorded,
        )
        simulator.close()


def count_lap(simulator: Simulator) -> int:
    """Return the frames until the first lap is counted, LONGEST_LAP where none is."""
    car = simulator.add_car()
    proportional, derivative = LAP_GAINS
    before = simulator.observe_telemetry(car).cte or 0.0
    for frame in range(1, LONGEST_LAP + 1):
        cte = simulator.observe_telemetry(car).cte or 0.0
        steer = U * (proportional * cte + derivative * (cte - before) / FRAME)
        before = cte
        simulator.drive_car(car, min(max(steer, -1.0), 1.0), 0.2, 0.0)
        simulator.step()
        if any(event.kind == EVENT_LAP for event in simulator.list_events()):
            return frame
    return LONGEST_LAP


def measure_january_2022() -> Iterator[Row]:
    """Full lock at steady speeds, and what throttle 1 and -1 do."""
    for speed, recorded in JANUARY_2022:
        name = f"original-2021: curvature at full lock, {speed:g} U/s"
        yield Row(name, recorded, hold(speed), "1/U", 0.05 * recorded)
    rig = Rig(car="original-2021")
    rig.roll(2.0 * U)
    rig.drive(0.3, throttle=1.0)
    gain = (rig.measure_speed() / U - 2.0) / 0.3
    yield Row("original-2021: acceleration from 2 U/s, throttle 1", 9.6, gain, "U/s²", 0.5)
    rig = Rig(car="original-2021")
    rig.roll(12.0 * U)
    rig.drive(0.4, throttle=-1.0)
    loss = (12.0 - rig.measure_speed() / U) / 0.4
    yield Row("original-2021: deceleration from 12 U/s, throttle -1", 11.35, loss, "U/s²", 0.55)


def hold(speed: float) -> float:
    """Return the curvature [1/U] that `original-2021` settles on at full lock when this speed is held [U/s]."""
    rig = Rig(car="original-2021")
    rig.roll(speed * U)
    wanted, integral = speed * U, 0.15
    track = []
    for _ in range(640):
        error = wanted - rig.measure_speed()
        integral = min(max(integral + 0.06 * error, -1.0), 1.0)
        rig.drive(0.0125, steer=1.0, throttle=min(max(3.0 * error + integral, -1.0), 1.0))
        track.append(rig.state.position[0, :2] / U)
    return measure_curvature(np.array(track)[480:])
