"""The simulator: cars join, drive, are seen, reset, and go back in time."""

import math

import numpy as np
import pytest

from donkeysim.core.errors import CapacityError, ShapeError, SpecError
from donkeysim.sim.simulator import Simulator
from donkeysim.sim.snapshot import hash_state
from donkeysim.world.specs import BodySpec, CameraSpec, LidarSpec, SceneSpec, WorldSpec


@pytest.fixture(scope="module")
def place():
    return Simulator(WorldSpec()).scene


def make(place, cars=1, worlds=1, **options):
    return Simulator(WorldSpec(cars_per_world=cars, world_count=worlds, **options), scene=place)


def test_a_car_at_rest_stays_and_reports_the_start(place):
    simulator = make(place)
    car = simulator.add_car()
    for _ in range(20):
        simulator.step()
    telemetry = simulator.observe_telemetry(car)
    assert telemetry.speed < 1e-3
    assert telemetry.on_road
    assert telemetry.hit == "none"
    assert telemetry.time == pytest.approx(1.0)
    assert abs(telemetry.cte) < 1.0
    assert telemetry.totalNodes == 108
    assert telemetry.lap == 0


def test_throttle_drives_forward_along_their_z(place):
    simulator = make(place)
    car = simulator.add_car()
    before = simulator.observe_telemetry(car)
    simulator.drive_car(car, throttle=0.3, brake=0.0)
    for _ in range(20):
        simulator.step()
    after = simulator.observe_telemetry(car, frame=1)
    assert after.vel_z > 0.3
    assert abs(after.vel_x) < 0.05
    assert after.pos_z > before.pos_z + 0.1
    assert after.frame == before.frame + 1


def test_steering_right_turns_clockwise_and_left_the_other_way(place):
    for steer, sign in ((-0.5, 1), (0.5, -1)):
        simulator = make(place)
        car = simulator.add_car()
        simulator.drive_car(car, steer=steer, throttle=0.3, brake=0.0)
        for _ in range(20):
            simulator.step()
        telemetry = simulator.observe_telemetry(car)
        turned = (telemetry.yaw + 180.0) % 360.0 - 180.0
        assert turned * sign > 3
        assert telemetry.gyro_y * sign > 0
        assert telemetry.steering_angle == -steer


def test_a_reset_returns_the_car_at_rest_with_the_brake_held(place):
    simulator = make(place)
    car = simulator.add_car()
    start = simulator.state.position[car].copy()
    simulator.drive_car(car, throttle=0.5, brake=0.0)
    for _ in range(20):
        simulator.step()
    simulator.reset_car(car)
    assert np.allclose(simulator.state.position[car], start, atol=1e-3)
    assert simulator.control.brake[car] == 10.0
    simulator.step()
    telemetry = simulator.observe_telemetry(car)
    assert telemetry.speed < 1e-2
    assert telemetry.reset_count == 1
    assert telemetry.throttle == 0.0


def test_moving_a_car_keeps_its_velocity(place):
    simulator = make(place)
    car = simulator.add_car()
    simulator.drive_car(car, throttle=0.5, brake=0.0)
    for _ in range(20):
        simulator.step()
    velocity = simulator.state.velocity[car].copy()
    position = simulator.state.position[car].copy()
    simulator.move_car(car, (position[0] + 0.5, position[1], position[2]))
    assert np.array_equal(simulator.state.velocity[car], velocity)
    assert simulator.state.position[car, 0] == position[0] + 0.5


def test_cars_fill_the_grid_without_overlap_and_one_too_many_is_told(place):
    simulator = make(place, cars=16)
    for _ in range(16):
        simulator.add_car()
    distance = np.linalg.norm(simulator.state.position[:, None] - simulator.state.position[None], axis=2)
    assert distance[~np.eye(16, dtype=bool)].min() > 0.25
    with pytest.raises(CapacityError, match="16 places"):
        simulator.add_car()
    simulator.remove_car(3)
    freed = simulator.state.spawn_position[3].copy()
    assert simulator.add_car() == 3
    assert np.array_equal(simulator.state.spawn_position[3], freed)
    for _ in range(40):
        simulator.step()
    assert all(simulator.observe_telemetry(car).hit == "none" for car in range(16))


def test_pictures_have_the_size_each_camera_asks_for(place):
    simulator = make(place, cars=3)
    cars = [simulator.add_car() for _ in range(3)]
    simulator.configure_camera(cars[1], CameraSpec(width=64, height=48))
    simulator.configure_camera(cars[2], CameraSpec(width=64, height=48), second=True)
    simulator.step()
    simulator.render()
    assert simulator.get_picture(cars[0]).shape == (120, 160, 3)
    assert simulator.get_picture(cars[1]).shape == (48, 64, 3)
    assert simulator.get_picture(cars[2]).shape == (120, 160, 3)
    assert simulator.get_picture(cars[2], second=True).shape == (48, 64, 3)
    assert simulator.get_picture(cars[0]).std() > 10
    with pytest.raises(SpecError, match="no picture of the second camera of car 0"):
        simulator.get_picture(cars[0], second=True)


def test_distances_and_classes_come_only_from_cameras_that_were_asked_for_them(place):
    simulator = make(place, cars=2)
    cars = [simulator.add_car() for _ in range(2)]
    simulator.configure_camera(cars[0], CameraSpec(width=64, height=48, depth=True))
    simulator.configure_camera(cars[1], CameraSpec(width=64, height=48, segment=True))
    simulator.render(cars)
    assert simulator.get_depth(cars[0]).shape == simulator.get_segments(cars[1]).shape == (48, 64)
    with pytest.raises(SpecError, match=r"gives no classes; configure it with segment=True"):
        simulator.get_segments(cars[0])
    with pytest.raises(SpecError, match=r"gives no distances; configure it with depth=True"):
        simulator.get_depth(cars[1])


def test_a_removed_car_loses_camera_and_lidar(place):
    simulator = make(place, cars=2)
    car = simulator.add_car()
    simulator.configure_camera(car, CameraSpec(), second=True)
    simulator.configure_lidar(car, LidarSpec())
    simulator.remove_car(car)
    assert simulator.add_car() == car
    assert simulator.get_camera(car, second=True) is None
    assert simulator.scan_lidar(car) is None
    with pytest.raises(SpecError, match="no car 1"):
        simulator.reset_car(1)


def test_other_cars_are_seen_by_camera_and_lidar(place):
    simulator = make(place, cars=2)
    back, front = simulator.add_car(), simulator.add_car()
    x, y, z = simulator.state.position[back]
    simulator.configure_lidar(back, LidarSpec(noise=0.0, position=(0.0625, 0.0, 0.0)))
    simulator.move_car(front, (x + 0.6, y + 3.0, z))
    simulator.step(1)
    simulator.render()
    empty = simulator.get_picture(back).astype(int)
    simulator.move_car(front, (x + 0.6, y, z))
    simulator.step(1)
    simulator.render()
    assert np.abs(simulator.get_picture(back) - empty).max() > 60
    ahead = [point for point in simulator.scan_lidar(back) if point.rx == 0.0]
    assert ahead
    assert 1.5 < ahead[0].d < 6.0


def test_a_snapshot_brings_back_every_byte(place):
    simulator = make(place, cars=2)
    for steer in (0.4, 0.0):
        simulator.drive_car(simulator.add_car(), steer, 0.6, 0.0)
    for _ in range(10):
        simulator.step()
    moment = simulator.snapshot()
    hashes = []
    for _ in range(2):
        for _ in range(50):
            simulator.step()
        hashes.append(hash_state(simulator.state))
        simulator.restore(moment)
    assert hashes[0] == hashes[1]
    with pytest.raises(ShapeError, match="same WorldSpec"):
        make(place, cars=3).restore(moment)


def test_a_world_of_many_equals_that_world_alone(place):
    def drive(simulator, world):
        car = simulator.add_car(world)
        simulator.drive_car(car, 0.3, 0.5, 0.0)
        return car

    alone, many = make(place), make(place, worlds=3)
    threads = Simulator(WorldSpec(world_count=3), worker_count=2, scene=place)
    drive(alone, 0)
    for world in range(3):
        drive(many, world)
        drive(threads, world)
    for simulator in (alone, many, threads):
        for _ in range(60):
            simulator.step()
        simulator.render()
    for other in (many, threads):
        for world in range(3):
            assert np.array_equal(other.state.position[world], alone.state.position[0])
            assert np.array_equal(other.get_picture(world), alone.get_picture(0))
    threads.close()


def test_the_flat_scene_is_endless(place):
    simulator = Simulator(WorldSpec(scene=SceneSpec("flat")))
    car = simulator.add_car()
    simulator.move_car(car, (500.0, -300.0, float(simulator.state.position[car, 2])))
    simulator.drive_car(car, throttle=0.5, brake=0.0)
    for _ in range(100):
        simulator.step()
    assert simulator.state.position[car, 0] > 501
    assert math.isclose(simulator.state.position[car, 1], -300.0, abs_tol=0.01)
    assert simulator.state.fault[car] == 0


def test_a_body_is_worn_and_an_unknown_one_refused(place):
    simulator = make(place)
    car = simulator.add_car(body=BodySpec(style="f1", name="Ada"))
    assert simulator.get_body(car).style == "f1"
    with pytest.raises(SpecError, match="did you mean 'cybertruck'"):
        BodySpec(style="cybertruk")


def test_worlds_take_turns_between_places_and_each_is_as_it_would_be_alone():
    places = (SceneSpec("generated_track"), SceneSpec("flat"))
    mixed = Simulator(WorldSpec(scene=places[0], more_scenes=places[1:], world_count=4))
    alone = [Simulator(WorldSpec(scene=place)) for place in places]
    for simulator in (mixed, *alone):
        for world in range(simulator.spec.world_count):
            car = simulator.add_car(world)
            simulator.drive_car(car, steer=0.2, throttle=0.4)
        for _ in range(40):
            simulator.step()
        simulator.render()
    assert [mixed.get_scene(car).name for car in range(4)] == ["generated_track", "flat"] * 2
    telemetry = [simulator.observe_telemetry(0) for simulator in alone]
    for world in range(4):
        other = alone[world % 2]
        assert np.array_equal(mixed.state.position[world], other.state.position[0])
        assert np.array_equal(mixed.get_picture(world), other.get_picture(0))
        assert mixed.observe_telemetry(world) == telemetry[world % 2]


def test_one_world_goes_back_and_the_others_go_on(place):
    simulator = make(place, worlds=3)
    for world in range(3):
        simulator.drive_car(simulator.add_car(world), throttle=0.4)
    begun = simulator.snapshot()
    simulator.step(48)
    simulator.seed_world(1, 5)
    later = simulator.snapshot()
    simulator.restore(begun, [1])
    for now, was, first in zip(simulator.state, later.state, begun.state, strict=True):
        rows = len(now) // 3
        assert np.array_equal(now[rows : 2 * rows], first[rows : 2 * rows])
        assert np.array_equal(now[:rows], was[:rows])
        assert np.array_equal(now[2 * rows :], was[2 * rows :])
    assert simulator.world_key[1] == begun.world_key[1] != later.world_key[1]


def test_a_seeded_world_draws_the_same_noise_in_any_row(place):
    scans = []
    for worlds, row in ((1, 0), (3, 2)):
        simulator = make(place, worlds=worlds)
        for world in range(worlds):
            simulator.configure_lidar(simulator.add_car(world), LidarSpec())
        simulator.seed_world(row, 77)
        scans.append(simulator.scan_lidar(row))
    assert scans[0] == scans[1]
    assert make(place, worlds=2).world_key[0] != make(place, worlds=2).world_key[1]
