"""A wheel's spin and force, the motor, the suspension's ray, and the motion of a rigid body."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from tests.backends import on_every_back_end
from tests.scenes import make_scene, make_slope

from donkeysim.physics.engine import make_terrain
from donkeysim.physics.kernels import layout, vehicle
from donkeysim.physics.vehicle import pack_car
from donkeysim.world.specs import load_car

DT = 1.0 / 480.0
CAR = load_car("original")
PARAM = pack_car(CAR)[None]
LOAD = 5.0


def make_body(**columns):
    """One body at rest; names of columns in the layout with their values."""
    body = np.zeros((1, layout.BODY_WIDTH))
    body[0, layout.QUATERNION] = 1.0
    body[0, layout.ROTATION : layout.ROTATION + 9] = np.eye(3).ravel()
    body[0, layout.INVERSE_INERTIA : layout.INVERSE_INERTIA + 3] = 1.0 / PARAM[0, layout.P_INERTIA :][:3]
    body[0, layout.INVERSE_MASS] = 1.0 / CAR.mass
    for name, value in columns.items():
        column = getattr(layout, name)
        body[0, column : column + np.size(value)] = value
    return body


def turn_wheel(build, body, torque=0.0, brake=0.0, load=LOAD, forward=0.0, lateral=0.0, steps=1):
    """Integrate wheel 0 and return the last force."""
    for _ in range(steps):
        force = build(vehicle.turn_wheel)(body, 0, 0, PARAM, 0, torque, brake, load, forward, lateral, DT)
    return force


@on_every_back_end
def test_a_wheel_in_the_air_spins_up_by_its_torque_alone(build):
    body = make_body()
    force = turn_wheel(build, body, torque=0.01, load=0.0)
    inertia, damping = PARAM[0, layout.P_WHEEL_INERTIA], PARAM[0, layout.P_WHEEL_DAMPING]
    assert force == (0.0, 0.0)
    assert body[0, layout.WHEEL_SPEED] == pytest.approx(0.01 * DT / (inertia + damping * DT))
    assert body[0, layout.WHEEL_ANGLE] == pytest.approx(DT * body[0, layout.WHEEL_SPEED])


@on_every_back_end
@pytest.mark.parametrize("speed", [3.0, -3.0])
def test_a_brake_stops_a_wheel_and_never_turns_it_back(build, speed):
    body = make_body(WHEEL_SPEED=speed)
    turn_wheel(build, body, brake=1e3, load=0.0)
    assert body[0, layout.WHEEL_SPEED] == 0.0


@on_every_back_end
@pytest.mark.parametrize("speed", [0.2, 2.0])
def test_a_rolling_wheel_pushes_hardly_and_a_locked_one_by_its_grip(build, speed):
    rolling = make_body(WHEEL_SPEED=speed / CAR.wheel_radius)
    assert abs(turn_wheel(build, rolling, forward=speed)[0]) < 0.1
    locked = turn_wheel(build, make_body(), brake=1e3, forward=speed, steps=3)[0]
    assert locked == pytest.approx(-LOAD * CAR.forward.asymptote_value * CAR.forward.stiffness, rel=0.02)


@on_every_back_end
def test_a_tyre_that_slides_to_the_left_is_pushed_to_the_right_and_mirrored(build):
    left = turn_wheel(build, make_body(WHEEL_SPEED=1.0 / CAR.wheel_radius), forward=1.0, lateral=0.3)
    right = turn_wheel(build, make_body(WHEEL_SPEED=1.0 / CAR.wheel_radius), forward=1.0, lateral=-0.3)
    assert left[1] < -0.5 * LOAD
    assert right == (left[0], -left[1])


@on_every_back_end
def test_a_standing_tyre_holds_by_its_deflection_and_a_rolling_one_forgets_it(build):
    bent = {"GRIP": (0.0, vehicle.GRIP_LENGTH)}
    assert turn_wheel(build, make_body(**bent), brake=1.0)[1] == pytest.approx(
        LOAD * CAR.sideways.extremum_value * CAR.sideways.stiffness
    )
    rolling = make_body(WHEEL_SPEED=1.0 / CAR.wheel_radius, **bent)
    turn_wheel(build, rolling, forward=1.0)
    assert abs(rolling[0, layout.GRIP + 1]) < 0.01 * vehicle.GRIP_LENGTH


@on_every_back_end
def test_a_contact_that_slides_stays_bent_by_its_limit(build):
    body = make_body()
    turn_wheel(build, body, brake=1e3, lateral=0.3, forward=0.4)
    assert body[0, layout.GRIP : layout.GRIP + 2] == pytest.approx(np.array((-0.8, -0.6)) * vehicle.GRIP_LENGTH)


@on_every_back_end
def test_the_motor_s_curve_goes_through_its_rows_and_stays_beyond_them(build):
    torque = build(vehicle.compute_torque)
    for share, factor, _ in CAR.torque_curve:
        assert torque(PARAM, 0, share * CAR.torque_speed) == pytest.approx(factor * CAR.torque_max)
    last = CAR.torque_curve[-1]
    assert torque(PARAM, 0, 3.0 * last[0] * CAR.torque_speed) == pytest.approx(last[1] * CAR.torque_max)


@on_every_back_end
def test_the_suspension_carries_its_load_at_the_target_and_never_pulls(build):
    force = build(vehicle.compute_suspension)
    target = CAR.suspension_target * CAR.suspension_travel
    assert force(PARAM, 0, 2, target, 0.0) == PARAM[0, layout.P_STATIC_LOAD + 2]
    assert force(PARAM, 0, 2, 1.0, 0.0) == 0.0
    assert force(PARAM, 0, 2, target, -0.01) > force(PARAM, 0, 2, target, 0.01)


@on_every_back_end
def test_the_ray_of_a_wheel_meets_level_ground_and_a_slope(build):
    terrain = make_terrain([make_scene(), make_scene(ground=make_slope(0.3))])
    find = build(vehicle.find_wheel_ground)
    assert find(terrain, 0, (1.0, 2.0, 0.3), (0.0, 0.0, 1.0), 0.1) == (0.3, (0.0, 0.0, 1.0), 1.0)
    tilted = (np.sin(0.2), 0.0, np.cos(0.2))
    assert find(terrain, 0, (1.0, 2.0, 0.3), tilted, 0.1)[0] == pytest.approx(0.3 / np.cos(0.2))
    distance, normal, cosine = find(terrain, 1, (0.0, 0.0, 0.3), (0.0, 0.0, 1.0), 0.1)
    assert (distance, cosine) == pytest.approx((0.3, np.cos(0.3)))
    assert normal == pytest.approx((-np.sin(0.3), 0.0, np.cos(0.3)))


@on_every_back_end
def test_a_torque_free_body_keeps_its_momentum_and_gains_no_energy(build):
    inertia = PARAM[0, layout.P_INERTIA :][:3]
    body = make_body(ANGULAR=(6.0, 7.0, 8.0))
    before = float(inertia @ body[0, layout.ANGULAR :][:3] ** 2)
    for _ in range(480):
        build(vehicle.turn_body)(body, 0, (0.0, 0.0, 0.0), 1.0, DT)
        build(vehicle.move_body)(body, 0, DT)
        matrix = body[0, layout.ROTATION :][:9].reshape(3, 3)
        own = matrix.T @ body[0, layout.ANGULAR :][:3]
        after = float(inertia @ own**2)
        assert after <= before * (1.0 + 1e-12)
        before = after
    momentum = matrix @ (inertia * own)
    assert momentum == pytest.approx(inertia * (6.0, 7.0, 8.0), rel=0.05)


@on_every_back_end
def test_no_body_turns_faster_than_the_limit(build):
    body = make_body(ANGULAR=(0.0, 0.0, 80.0))
    build(vehicle.turn_body)(body, 0, (0.0, 0.0, 0.0), 1.0, DT)
    assert body[0, layout.ANGULAR : layout.ANGULAR + 3] == pytest.approx((0.0, 0.0, vehicle.ANGULAR_MAX))


@on_every_back_end
def test_a_body_moves_by_its_velocity_and_its_push_and_turns_by_its_spin(build):
    body = make_body(VELOCITY=(1.0, 2.0, 3.0), PUSH=(0.1, 0.0, 0.0), ANGULAR=(3.0, -20.0, 10.0))
    build(vehicle.move_body)(body, 0, DT)
    assert body[0, :3] == pytest.approx((DT + 0.1, 2.0 * DT, 3.0 * DT))
    assert not body[0, layout.PUSH : layout.PUSH + 3].any()
    expected = Rotation.from_rotvec(np.array((3.0, -20.0, 10.0)) * DT).as_matrix()
    assert body[0, layout.ROTATION : layout.ROTATION + 9] == pytest.approx(expected.ravel(), abs=1e-14)
    assert np.linalg.norm(body[0, layout.QUATERNION : layout.QUATERNION + 4]) == pytest.approx(1.0, abs=1e-15)
