"""Domain randomisation: the same draws wherever a world is run; each value changes what it should and nothing else."""

import math

import numpy as np
import pytest

from donkeysim.core.errors import ShapeError
from donkeysim.record.action_log import LogReader
from donkeysim.record.recorder import open_simulator
from donkeysim.record.replay import Replay
from donkeysim.record.snapshot_file import load_snapshot, save_snapshot
from donkeysim.sim import commands
from donkeysim.sim.simulator import Simulator
from donkeysim.sim.snapshot import hash_state
from donkeysim.world.randomization import RandomizationSpec, read_randomization
from donkeysim.world.specs import CameraSpec, SceneSpec, WorldSpec, load_car

CAMERA = CameraSpec(width=64, height=48)

DRIVES = {"car.mass": 1.3, "car.friction": 0.5, "car.motor": 0.7, "car.steer_trim": 0.1}
"""Values that change the drive and no picture of the start."""

SHOWS = {
    "sun.azimuth": 2.0,
    "sun.height": 0.2,
    "sun.strength": 0.4,
    "sun.ambient": 0.5,
    "sun.tint": 0.7,
    "fog.density": 0.5,
    "fog.tint": 0.5,
    "ground.tint": 0.5,
    "ground.hue": 1.0,
    "ground.saturation": 0.1,
    "ground.contrast": 0.5,
    "ground.patches": 0.8,
    "road.tint": 0.5,
    "road.patches": 0.8,
    "lines.tint": 0.5,
    "props.hue": 2.0,
    "sky.tint": 0.5,
    "camera.x": 0.05,
    "camera.y": 0.05,
    "camera.z": 0.05,
    "camera.roll": 0.1,
    "camera.pitch": 0.1,
    "camera.yaw": 0.1,
    "camera.fov": 0.3,
    "camera.distortion": 0.4,
    "picture.blur": 1.5,
    "picture.exposure": -1.0,
    "picture.noise": 9.0,
    "picture.jpeg_quality": 10.0,
    "sensor.vignette": 0.5,
    "sensor.balance": 0.6,
    "sensor.flicker": 0.4,
}
"""Values that change pictures and nothing else."""


@pytest.fixture(scope="module")
def place():
    return Simulator(WorldSpec()).scene


@pytest.fixture(scope="module")
def flat():
    return Simulator(WorldSpec(scene=SceneSpec("flat"))).scene


def fix(values):
    """Return a spec that draws just these values."""
    tables = {}
    for name, value in values.items():
        table, knob = name.split(".")
        tables.setdefault(table, {})[knob] = (value, value)
    return read_randomization(tables)


def make(place, randomization, worlds=1, cars=1, threads=1, camera=CAMERA, **options):
    spec = WorldSpec(world_count=worlds, cars_per_world=cars, randomization=randomization, **options)
    simulator = Simulator(spec, scene=place, worker_count=threads)
    add_cars(simulator, camera)
    return simulator


def add_cars(simulator, camera=CAMERA):
    for world in range(simulator.spec.world_count):
        for _ in range(simulator.spec.cars_per_world):
            simulator.configure_camera(simulator.add_car(world), camera)


def see(simulator, car=0):
    simulator.render()
    return simulator.get_picture(car).copy()


def drive(simulator, frames, steer=0.2, throttle=0.5):
    asked = (np.broadcast_to(value, simulator.car_count).tolist() for value in (steer, throttle, 0.0))
    simulator.apply(commands.Drive(None, *asked))
    for _ in range(frames):
        simulator.step()


def weave(simulator, frames, first=0):
    """Drive with a new command in every frame; return all pictures."""
    pictures = []
    for index in range(first, first + frames):
        cars = np.arange(simulator.car_count) % simulator.spec.cars_per_world
        drive(simulator, 1, 0.5 * np.sin(0.7 * index + cars), 0.3 + 0.02 * index)
        simulator.render()
        pictures.append([simulator.get_picture(car).copy() for car in range(simulator.car_count)])
    return np.array(pictures)


def test_values_that_change_nothing_give_the_bytes_of_a_simulator_without(place):
    same = {"car.mass": 1.0, "car.friction": 1.0, "car.motor": 1.0, "car.steer_trim": 0.0, "ground.tint": 1.0}
    same |= {"picture.noise": 0.0, "picture.exposure": 0.0, "camera.x": 0.0, "camera.fov": 0.0, "sun.strength": 1.0}
    varied, plain = make(place, fix(same)), make(place, RandomizationSpec())
    assert np.array_equal(weave(varied, 6), weave(plain, 6))
    assert hash_state(varied.state) == hash_state(plain.state)
    assert plain.get_randomization(0) == {}


def test_a_world_draws_and_drives_the_same_alone_and_in_any_batch_on_any_number_of_threads(place):
    wide = read_randomization("wide")
    batch = make(place, wide, worlds=3, threads=2)
    for world, seed in enumerate((7, 8, 9)):
        batch.seed_world(world, seed)
    together = weave(batch, 5)
    for world, seed in enumerate((7, 8, 9)):
        alone = make(place, wide)
        alone.seed_world(0, seed)
        assert np.array_equal(weave(alone, 5)[:, 0], together[:, world])
        assert alone.get_randomization(0) == batch.get_randomization(world)
        assert np.array_equal(alone.state.position[0], batch.state.position[world])


def test_every_car_and_every_reset_draws_anew_and_values_lie_in_their_ranges(flat):
    simulator = make(flat, read_randomization({"car": {"mass": (0.9, 1.1)}}), worlds=2, cars=2)
    drawn = [simulator.get_randomization(car)["car.mass"] for car in range(4)]
    simulator.reset_car(1)
    drawn.append(simulator.get_randomization(1)["car.mass"])
    assert len(set(drawn)) == 5
    assert all(0.9 <= value <= 1.1 for value in drawn)
    now = [simulator.get_randomization(car)["car.mass"] for car in range(4)]
    assert now == [drawn[0], drawn[4], drawn[2], drawn[3]]


@pytest.fixture(scope="module")
def plain_moment(place):
    """The picture and the state after two frames without randomisation."""
    plain = make(place, RandomizationSpec())
    drive(plain, 2)
    return see(plain).astype(int), hash_state(plain.state)


@pytest.mark.parametrize("name", SHOWS)
def test_a_value_of_light_or_camera_changes_the_picture_and_not_the_drive(place, plain_moment, name):
    varied = make(place, fix({name: SHOWS[name]}))
    drive(varied, 2)
    assert np.abs(see(varied) - plain_moment[0]).mean() > 0.05
    assert hash_state(varied.state) == plain_moment[1]


@pytest.mark.parametrize("name", DRIVES)
def test_a_value_of_the_car_changes_the_drive_and_not_the_picture_of_the_start(place, name):
    varied, plain = make(place, fix({name: DRIVES[name]})), make(place, RandomizationSpec())
    assert np.array_equal(see(varied), see(plain))
    for simulator in (varied, plain):
        drive(simulator, 20)
    assert np.linalg.norm(varied.state.position[0] - plain.state.position[0]) > 0.005


def accelerate(place, **values):
    simulator = make(place, fix({f"car.{name}": value for name, value in values.items()}), camera=None)
    drive(simulator, 5, steer=0.0, throttle=0.2)
    return np.linalg.norm(simulator.state.velocity[0])


def test_acceleration_goes_with_the_motor_and_against_the_mass(flat):
    car = load_car("original")
    wheels = 4.0 * car.wheel_inertia / car.wheel_radius**2  # what turns must be sped up too, and weighs as before
    plain = accelerate(flat, mass=1.0)
    assert accelerate(flat, mass=2.0) == pytest.approx(
        plain * (car.mass + wheels) / (2.0 * car.mass + wheels), rel=0.02
    )
    assert accelerate(flat, motor=2.0) == pytest.approx(2.0 * plain, rel=0.05)


def test_a_heavier_car_stands_at_the_same_height_and_less_grip_slides_wider(flat):
    heavy = make(flat, fix({"car.mass": 2.0}), camera=None)
    before = heavy.state.position[0, 2]
    drive(heavy, 20, 0.0, 0.0)
    assert heavy.state.position[0, 2] == pytest.approx(before, abs=1e-4)
    assert heavy.state.wheel_load[0].sum() == pytest.approx(
        2.0 * heavy.car_spec.mass * heavy.car_spec.gravity, rel=0.01
    )
    turned = []
    for grip in (1.0, 0.2):
        simulator = make(flat, fix({"car.friction": grip}), camera=None)
        drive(simulator, 20, 0.0, 0.5)
        drive(simulator, 10, 1.0, 0.0)
        turned.append(abs(2.0 * math.atan2(*simulator.state.orientation[0, [3, 0]])))
    assert turned[1] < 0.8 * turned[0]


def test_a_trim_turns_a_car_that_is_told_to_go_straight(flat):
    for trim, side in ((0.2, 1.0), (-0.2, -1.0)):
        simulator = make(flat, fix({"car.steer_trim": trim}), camera=None)
        drive(simulator, 10, 0.0, 0.3)
        assert simulator.state.steer_angle[0] == trim
        assert simulator.state.angular_velocity[0, 2] * side > 0.1
        drive(simulator, 1, side, 0.3)
        assert abs(simulator.state.steer_angle[0]) == pytest.approx(simulator.car_spec.steer_limit)


def test_colours_change_what_they_are_told_to_change(place):
    camera = CameraSpec(width=64, height=48, segment=True)
    plain = make(place, RandomizationSpec(), camera=camera)
    before, classes = see(plain).astype(int), plain.get_segments(0).copy()
    for table, kind in (("sky", 0), ("ground", 1), ("road", 2), ("lines", 3)):
        after = see(make(place, fix({f"{table}.tint": 0.5}), camera=camera)).astype(int)
        changed = np.abs(after - before).max(axis=2) > 2
        own = classes == kind
        around = np.pad(own, 1)  # softened edges take some of their neighbours' colours
        beside = own | around[:-2, 1:-1] | around[2:, 1:-1] | around[1:-1, :-2] | around[1:-1, 2:]
        assert changed[own].mean() > 0.9
        assert not changed[~beside].any()


def test_grey_pictures_stay_grey_and_a_second_camera_has_noise_of_its_own(place):
    noisy = fix({"picture.noise": 20.0, "picture.jpeg_quality": 30.0})
    grey = see(make(place, noisy, camera=CameraSpec(width=64, height=48, grey=True)))
    assert np.array_equal(grey[..., 0], grey[..., 1])
    assert np.array_equal(grey[..., 0], grey[..., 2])
    simulator = make(place, fix({"picture.noise": 20.0}))
    simulator.configure_camera(0, CAMERA, second=True)
    first = see(simulator)
    assert not np.array_equal(simulator.get_picture(0, second=True), first)
    assert np.array_equal(see(simulator), first)
    drive(simulator, 1, 0.0, 0.0)
    assert not np.array_equal(see(simulator), first)


def test_noise_and_blur_are_as_strong_as_they_say(place):
    flat = fix({"picture.noise": 10.0, "road.contrast": 0.0, "ground.contrast": 0.0, "sky.contrast": 0.0})
    even = fix({"road.contrast": 0.0, "ground.contrast": 0.0, "sky.contrast": 0.0})
    noise = see(make(place, flat)).astype(int) - see(make(place, even))
    assert noise.std() == pytest.approx(10.0, rel=0.05)
    assert abs(noise.mean()) < 0.5
    brighter = see(make(place, fix({"picture.exposure": 1.0}))).astype(float)
    plain = see(make(place, RandomizationSpec())).astype(float)
    unclipped = brighter < 255.0
    assert (brighter[unclipped] / np.maximum(plain[unclipped], 1.0)).mean() == pytest.approx(math.sqrt(2.0), rel=0.02)


def test_commands_come_late_by_whole_steps_and_none_overtakes_another(flat):
    asked = np.round(np.sin(np.arange(30.0)), 3)
    done = []
    for delay in ({"action": (0.1, 0.1)}, {"action": (0.02, 0.02), "action_jitter": (0.09, 0.09)}):
        simulator = make(flat, read_randomization({"delay": delay}), camera=None)
        done.append([])
        for steer in asked:
            drive(simulator, 1, steer, 0.1)
            done[-1].append(round(simulator.state.steer_angle[0] / simulator.car_spec.steer_gain, 6))
    assert done[0][:2] == [0.0, 0.0]
    assert np.allclose(done[0][2:], asked[:-2], atol=1e-6)
    told = [min(range(30), key=lambda k: abs(asked[k] - value)) for value in done[1][3:]]
    assert told == sorted(told)
    assert {index + 3 - which for index, which in enumerate(told)} == {0, 1, 2}


def test_a_reset_takes_back_commands_that_are_on_their_way(flat):
    simulator = make(flat, read_randomization({"delay": {"action": (0.2, 0.2)}}), camera=None)
    drive(simulator, 2, 1.0, 1.0)
    simulator.reset_car(0)
    drive(simulator, 3, 0.0, 0.0)
    assert simulator.state.steer_angle[0] == 0.0
    assert np.linalg.norm(simulator.state.velocity[0]) < 1e-3


def test_pictures_come_late_by_whole_frames_and_the_drive_is_the_same(place):
    plain = make(place, RandomizationSpec(), cars=2)
    late = make(place, read_randomization({"delay": {"picture": (0.1, 0.1)}}), cars=2)
    before, after = weave(plain, 8), weave(late, 8)
    assert np.array_equal(after[2:], before[:-2])
    assert hash_state(late.state) == hash_state(plain.state)
    jittery = make(place, read_randomization({"delay": {"picture_jitter": (0.12, 0.12)}}))
    plain = make(place, RandomizationSpec())
    before, after = weave(plain, 16)[:, 0], weave(jittery, 16)[:, 0]
    shown = [next(k for k in range(index, -1, -1) if np.array_equal(before[k], after[index])) for index in range(3, 16)]
    assert shown == sorted(shown)
    assert len({index + 3 - which for index, which in enumerate(shown)}) > 1


def test_after_a_reset_the_start_is_seen_at_once(place):
    simulator = make(place, read_randomization({"delay": {"picture": (0.2, 0.2)}}), cars=2)
    start = see(simulator)
    weave(simulator, 6)
    simulator.reset_car(0)
    simulator.place_car(1, tuple(simulator.state.spawn_position[1]), tuple(simulator.state.spawn_orientation[1]))
    simulator.physics.place_props(simulator.state, 0)
    assert np.abs(see(simulator).astype(int) - start).mean() < 1.0
    drive(simulator, 1, 0.0, 0.0)
    assert np.abs(see(simulator).astype(int) - start).mean() < 1.0


LATE = {
    "delay": {"action": (0.05, 0.1), "action_jitter": (0.0, 0.1), "picture": (0.1, 0.2)},
    "car": {"mass": (0.8, 1.2)},
}


def test_what_follows_a_snapshot_is_the_same_again_from_memory_and_from_a_file(place, tmp_path):
    simulator = make(place, read_randomization(LATE), worlds=2, cars=2)
    weave(simulator, 5)
    simulator.reset_car(3)
    weave(simulator, 2, 5)
    moment = simulator.snapshot()
    path = save_snapshot(tmp_path / "moment.npz", simulator)
    first = weave(simulator, 5, 7)
    state, drawn = hash_state(simulator.state), [simulator.get_randomization(car) for car in range(4)]
    simulator.reset_car(0)
    simulator.restore(moment)
    assert np.array_equal(weave(simulator, 5, 7), first)
    assert hash_state(simulator.state) == state
    stored = load_snapshot(path)
    assert stored.spec == simulator.spec
    other = make(place, read_randomization(LATE), worlds=2, cars=2)
    other.restore(stored.snapshot)
    assert np.array_equal(weave(other, 5, 7), first)
    assert [other.get_randomization(car) for car in range(4)] == drawn
    with pytest.raises(ShapeError, match="do not both hold"):
        make(place, RandomizationSpec(), worlds=2, cars=2).restore(moment)


def test_one_world_goes_back_while_the_other_goes_on(place):
    simulator = make(place, read_randomization(LATE), worlds=2)
    moment = simulator.snapshot()
    first = weave(simulator, 6)
    weave(simulator, 3, 6)
    simulator.restore(moment, [1])
    assert np.array_equal(weave(simulator, 6)[:, 1], first[:, 1])


def test_a_replayed_log_draws_the_same(place, tmp_path):
    spec = WorldSpec(cars_per_world=2, randomization=read_randomization("wide"), seed=3)
    driven = open_simulator(spec, scene=place, log=tmp_path / "run.dlog")
    add_cars(driven)
    weave(driven, 4)
    driven.reset_car(1)
    moment = driven.snapshot()
    weave(driven, 3, 4)
    driven.restore(moment)
    weave(driven, 3, 9)
    driven.close()
    told = [type(event).__name__ for event in LogReader(tmp_path / "run.dlog").read_events()]
    assert "SetParams" not in told  # a replay draws them itself
    replay = Replay(tmp_path / "run.dlog")
    assert sum(replay.play()) == 10 * 24
    assert (replay.deviation, replay.broken) == (None, "")
    assert replay.simulator.get_randomization(1) == driven.get_randomization(1)
    assert np.array_equal(see(replay.simulator, 1), see(driven, 1))


def test_a_log_of_drawing_cars_tells_what_somebody_writes_into_their_parameters(flat, tmp_path):
    spec = WorldSpec(SceneSpec("flat"), randomization=read_randomization({"car": {"motor": (0.5, 0.9)}}))
    driven = open_simulator(spec, scene=flat, log=tmp_path / "run.dlog")
    add_cars(driven, camera=None)
    drive(driven, 3)
    driven.physics.car_params.torque_max[0] *= 0.1
    drive(driven, 3)
    driven.reset_car(0)
    drive(driven, 3)
    driven.close()
    replay = Replay(tmp_path / "run.dlog")
    assert sum(replay.play()) == 9 * 24
    assert (replay.deviation, replay.broken) == (None, "")
    assert hash_state(replay.simulator.state) == hash_state(driven.state)


def test_a_simulator_that_moves_to_another_place_goes_on_drawing(place):
    simulator = make(place, read_randomization({"car": {"motor": (0.5, 0.9)}, "sun": {"strength": (0.2, 0.4)}}))
    weave(simulator, 2)
    simulator.change_scene(SceneSpec("flat"))
    drawn = simulator.get_randomization(0)
    assert 0.5 <= drawn["car.motor"] <= 0.9
    assert simulator.physics.car_params.torque_max[0] == pytest.approx(
        drawn["car.motor"] * simulator.car_spec.torque_max
    )
    weave(simulator, 2)
