"""Things that meet: walls, posts, cones and cars stop, push and are noticed, and nothing breaks."""

import numpy as np
import pytest
from tests.scenes import Bench, make_colliders, make_props, make_scene

from donkeysim.world.state import FAULT_RESCUED, HIT_CAR, HIT_NONE

WALL = (0, (1.0, 0.0, 0.25), (0.02, 2.0, 0.25), 0.0, 0.5, 1)
POST = (1, (1.0, 0.0, 0.25), (0.03, 0.03, 0.25), 0.0, 0.5, 1)


def watch(bench, seconds, look):
    """Step one by one and return what `look` says after each step."""
    seen = []
    for _ in range(round(seconds * 480)):
        bench.drive(1 / 480)
        seen.append(look())
    return np.array(seen)


@pytest.mark.parametrize("obstacle", [WALL, POST], ids=["wall", "post"])
@pytest.mark.parametrize("speed", [1.0, 5.0, 20.0])
def test_a_wall_and_a_post_stop_a_car_at_any_speed(obstacle, speed):
    bench = Bench(make_scene(colliders=make_colliders(obstacle)))
    bench.place(0, 0.0, 0.0, velocity=speed)
    front = bench.car.chassis_centre[0] + bench.car.chassis_size[0] / 2
    xs = watch(bench, 1.5, lambda: bench.state.position[0, 0])
    face = 1.0 - obstacle[2][0]
    assert xs.max() < face - front + 0.01
    assert xs.max() > face - front - 0.01
    assert bench.state.hit[0] == 1


def test_a_long_touch_is_one_hit_and_a_second_visit_another():
    bench = Bench(make_scene(colliders=make_colliders(WALL)))
    bench.place(0, 0.7, 0.0, velocity=1.0)
    bench.drive(1.0, throttle=0.3)
    assert bench.state.hit[0] == 1
    bench.state.hit[0] = HIT_NONE
    bench.drive(1.0, throttle=0.3)
    assert bench.state.hit[0] == HIT_NONE
    bench.drive(1.5, throttle=-0.5)
    assert bench.state.touching[0, 0] == HIT_NONE
    bench.drive(6.0, throttle=0.5)
    assert bench.state.hit[0] == 1


def test_wheels_on_the_ground_are_no_hit_but_the_roof_is():
    bench = Bench()
    bench.drive(2.0, throttle=0.5)
    assert bench.state.hit[0] == HIT_NONE
    bench.place(0, 0.0, 0.0, z=0.1, orientation=(0.0, 1.0, 0.0, 0.0))
    bench.drive(1.0)
    assert bench.state.hit[0] == 0


def test_cars_name_each_other_and_cones_are_named():
    bench = Bench(make_scene(props=make_props((0.5, 5.0, 0.0))), cars_per_world=3)
    bench.place(0, 0.0, 0.0, velocity=2.0)
    bench.place(1, 0.6, 0.0)
    bench.place(2, 0.0, 5.0, velocity=2.0)
    bench.drive(0.5)
    assert bench.state.hit.tolist() == [HIT_CAR + 1, HIT_CAR, 2]


@pytest.mark.parametrize("speed", [0.5, 2.0, 5.0])
def test_a_cone_is_driven_before_the_car_without_jumps_and_falls_asleep(speed):
    bench = Bench(make_scene(props=make_props((0.5, 0.05, 0.0), base=0.052, top=0.012, height=0.14, centre=0.04)))
    bench.place(0, 0.0, 0.0, velocity=speed)
    state = bench.state
    places = watch(bench, 2.0, lambda: state.prop_position[0].copy())
    steps = np.linalg.norm(np.diff(places, axis=0, prepend=places[:1]), axis=1)
    # The base's middle also turns about the centre of mass, at most at 50 rad/s.
    assert steps.max() < (2.0 * speed + 50.0 * 0.04) / 480 + 0.001
    assert places[-1, 0] > 0.6
    assert places[:, 2].min() > -0.06
    bench.place(0, -5.0, 3.0)
    bench.drive(10.0, brake=1.0)
    assert state.prop_asleep[0] == 1
    assert not state.prop_velocity[0].any()
    assert not state.prop_angular_velocity[0].any()
    bench.engine.place_props(state, 0)
    assert state.prop_position[0].tolist() == [0.5, 0.05, 0.0]
    assert state.prop_asleep[0] == 1


def test_a_slender_thing_hit_above_its_centre_of_mass_topples_and_stays_down():
    props = make_props((0.5, 0.0, 0.0), base=0.02, top=0.02, height=0.3, centre=0.05)
    bench = Bench(make_scene(props=props))
    bench.place(0, 0.0, 0.0, velocity=3.0)
    bench.drive(0.5)
    bench.drive(5.0, brake=1.0)
    _, x, y, _ = bench.state.prop_orientation[0]
    assert 1.0 - 2.0 * (x * x + y * y) < 0.3
    assert bench.state.prop_position[0, 2] < 0.06


def test_a_sleeping_cone_far_from_everyone_does_not_move_a_bit():
    bench = Bench(make_scene(props=make_props((30.0, 5.0, 0.0))))
    before = bench.state.prop_position.tobytes()
    bench.drive(3.0, throttle=0.4)
    assert bench.state.prop_position.tobytes() == before


def test_sixty_four_cars_in_a_heap_settle_above_the_ground():
    bench = Bench(cars_per_world=64)
    random = np.random.default_rng(5)
    for car in range(64):
        turn = tuple(random.normal(size=4))
        x, y = random.uniform(-0.3, 0.3, 2)
        bench.place(car, x, y, z=0.2 + 0.06 * car, orientation=turn)
    for _ in range(12):
        bench.drive(0.25)
        assert np.isfinite(bench.state.position).all()
        assert np.isfinite(bench.state.velocity).all()
        assert bench.state.position[:, 2].min() > 0.0
    assert not bench.state.fault.any()
    assert np.abs(bench.state.velocity).max() < 10.0


@pytest.mark.parametrize("broken", ["far", "not a number", "too fast", "below the ground"])
def test_a_car_that_leaves_the_world_is_put_back_and_its_neighbour_is_not(broken):
    bench = Bench(cars_per_world=2)
    state = bench.state
    spawn = state.spawn_position[0].copy()
    if broken == "far":
        bench.throw(0, 1e6, 0.0, 1.0)
    elif broken == "not a number":
        state.velocity[0, 1] = np.nan
    elif broken == "too fast":
        state.velocity[0, 0] = 500.0
    else:
        bench.throw(0, 0.0, 0.0, -5.0)
    bench.drive(0.05)
    assert state.fault.tolist() == [FAULT_RESCUED, 0]
    np.testing.assert_allclose(state.position[0], spawn, atol=0.01)
    for array in (state.position, state.velocity, state.orientation, state.wheel_speed, state.cte):
        assert np.isfinite(array).all()


def test_an_absent_car_is_neither_moved_nor_met():
    bench = Bench(cars_per_world=2)
    bench.place(0, 0.0, 0.0, velocity=2.0)
    bench.place(1, 0.6, 0.0, velocity=1.0)
    bench.state.present[1] = 0
    before = [array[1].tobytes() for array in (bench.state.position, bench.state.velocity, bench.state.wheel_speed)]
    bench.drive(1.0)
    after = [array[1].tobytes() for array in (bench.state.position, bench.state.velocity, bench.state.wheel_speed)]
    assert before == after
    assert bench.state.hit[0] == HIT_NONE
    assert bench.state.position[0, 0] > 1.0


def test_requests_that_are_no_numbers_count_as_none():
    bench = Bench()
    bench.drive(0.5, steer=np.nan, throttle=np.inf, brake=np.nan)
    assert bench.state.steer_angle[0] == 0.0
    assert np.isfinite(bench.state.position).all()
    assert bench.state.position[0, 0] > 0.0
