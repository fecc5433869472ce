"""Impulses at contacts, each law on a body or two."""

import numpy as np
import pytest
from tests.backends import on_every_back_end

from donkeysim.physics.kernels import layout, solver

DT = 1.0 / 480.0
NORMAL = layout.C_ROWS + layout.R_IMPULSE
FRICTION = (NORMAL + layout.C_ROW_WIDTH, NORMAL + 2 * layout.C_ROW_WIDTH)


def make_bodies(*velocities, mass=2.0, inertia=0.1):
    """Spheres 1 m apart along x."""
    body = np.zeros((len(velocities), layout.BODY_WIDTH))
    for row, velocity in enumerate(velocities):
        body[row, layout.POSITION] = row
        body[row, layout.VELOCITY : layout.VELOCITY + 3] = velocity
        body[row, layout.ROTATION : layout.ROTATION + 9] = np.eye(3).ravel()
        body[row, layout.INVERSE_MASS] = 1.0 / mass
        body[row, layout.INVERSE_INERTIA : layout.INVERSE_INERTIA + 3] = 1.0 / inertia
    return body


def make_contacts(*rows):
    """Rows of (a, b, point, normal, depth, friction)."""
    contact = np.zeros((len(rows), layout.CONTACT_WIDTH))
    link = np.zeros((len(rows), 4), np.int64)
    for index, (a, b, point, normal, depth, friction) in enumerate(rows):
        link[index, :2] = a, b
        contact[index, layout.C_POINT : layout.C_POINT + 3] = point
        contact[index, layout.C_NORMAL : layout.C_NORMAL + 3] = normal
        contact[index, layout.C_DEPTH], contact[index, layout.C_FRICTION] = depth, friction
    return contact, link


def get_velocity(body, row=0):
    """A body's velocity."""
    return body[row, layout.VELOCITY : layout.VELOCITY + 3]


def strike_ground(build, velocity, friction=0.5, depth=0.0):
    """A body meets the ground right below its centre of mass."""
    body = make_bodies(velocity)
    contact, link = make_contacts((0, -1, (0.0, 0.0, 0.0), (0.0, 0.0, 1.0), depth, friction))
    build(solver.solve_impulses)(body, contact, link, 1, DT)
    return body, contact


@on_every_back_end
def test_what_falls_stops_and_does_not_bounce(build):
    body, contact = strike_ground(build, (0.0, 0.0, -3.0))
    assert get_velocity(body) == pytest.approx((0.0, 0.0, 0.0), abs=1e-12)
    assert contact[0, NORMAL] == pytest.approx(2.0 * 3.0)


@on_every_back_end
def test_what_leaves_is_not_held(build):
    body, contact = strike_ground(build, (1.0, 0.0, 0.5))
    assert get_velocity(body).tolist() == [1.0, 0.0, 0.5]
    assert contact[0, NORMAL] == 0.0


@on_every_back_end
def test_a_gap_may_close_within_the_step_and_no_faster(build):
    body, _ = strike_ground(build, (0.0, 0.0, -3.0), depth=-0.001)
    assert get_velocity(body)[2] == pytest.approx(-0.001 / DT)


@on_every_back_end
@pytest.mark.parametrize("direction", [(1.0, 0.0), (0.0, 1.0), (0.6, -0.8), (-0.8, 0.6)])
def test_friction_is_as_strong_along_every_direction(build, direction):
    body, contact = strike_ground(build, (4.0 * direction[0], 4.0 * direction[1], -1.0), friction=0.5)
    assert np.hypot(*contact[0, FRICTION]) == pytest.approx(0.5 * contact[0, NORMAL])
    assert get_velocity(body)[:2] == pytest.approx((4.0 - 0.5) * np.array(direction))


@on_every_back_end
def test_what_hardly_slides_is_held(build):
    body, contact = strike_ground(build, (0.1, 0.0, -1.0), friction=0.5)
    arm = body[0, layout.ANGULAR : layout.ANGULAR + 3]
    assert get_velocity(body) == pytest.approx((0.0, 0.0, 0.0), abs=1e-9)
    assert arm == pytest.approx((0.0, 0.0, 0.0), abs=1e-9)
    assert np.hypot(*contact[0, FRICTION]) < 0.5 * contact[0, NORMAL]


@on_every_back_end
@pytest.mark.parametrize("offset", [0.0, 0.1])
def test_an_impact_of_two_bodies_keeps_momentum_and_loses_energy(build, offset):
    body = make_bodies((3.0, 0.0, 0.0), (-1.0, 0.5, 0.0))
    contact, link = make_contacts((0, 1, (0.5, offset, 0.0), (-1.0, 0.0, 0.0), 0.0, 0.4))
    before = sum(float(v @ v) for v in (get_velocity(body, row) for row in range(2)))
    build(solver.solve_impulses)(body, contact, link, 1, DT)
    after = sum(float(v @ v) for v in (get_velocity(body, row) for row in range(2)))
    spin = body[:, layout.ANGULAR : layout.ANGULAR + 3]
    assert get_velocity(body, 0) + get_velocity(body, 1) == pytest.approx((2.0, 0.5, 0.0))
    assert 2.0 * after + 0.1 * float((spin**2).sum()) < 2.0 * before
    arms = np.array([(0.5, offset, 0.0), (-0.5, offset, 0.0)])
    meeting = [get_velocity(body, row) + np.cross(spin[row], arms[row]) for row in range(2)]
    assert meeting[0][0] == pytest.approx(meeting[1][0], abs=1e-9)


@on_every_back_end
def test_overlap_is_shared_by_inverse_mass_and_a_sliver_is_left_alone(build):
    body = make_bodies((0.0, 0.0, 0.0), (0.0, 0.0, 0.0))
    body[1, layout.INVERSE_MASS] *= 3.0
    contact, link = make_contacts((0, 1, (0.5, 0.0, 0.0), (-1.0, 0.0, 0.0), 0.01, 0.0))
    build(solver.shift_apart)(body, contact, link, 1)
    push = solver.SHIFT_SHARE * (0.01 - solver.SLOP)
    assert body[:, layout.PUSH] == pytest.approx([-push / 4.0, 3.0 * push / 4.0])
    assert not body[:, layout.VELOCITY : layout.VELOCITY + 3].any()
    contact[0, layout.C_DEPTH] = solver.SLOP
    body[:, layout.PUSH] = 0.0
    build(solver.shift_apart)(body, contact, link, 1)
    assert not body[:, layout.PUSH].any()
