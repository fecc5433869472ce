"""The simulated car is one part of the vehicle: controls in; picture, readings, lap times and record channels out."""

import functools
import threading

import numpy as np
import pytest

from donkeysim.car.config import make_default_config
from donkeysim.core.errors import DonkeySimError
from donkeysim.drive import built_in_car
from donkeysim.drive.simulated_car import list_record_channels, make_simulated_car
from donkeysim.sim import place, simulator
from waiting import PATIENCE, wait_until


@pytest.fixture(autouse=True, scope="module")
def _share_scenes():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(place, "share_scene", functools.cache(place.share_scene))
        yield


def make_config(**values):
    return make_default_config(changes=values)


def run_ready(car, *controls):
    while (outputs := car.run(*controls)) is None:
        pass
    return outputs


@pytest.fixture
def make_car():
    cars = []

    def make(**values):
        cars.append(make_simulated_car(make_config(**values)))
        return cars[-1]

    yield make
    for car in cars:
        car.halt()
        car.shutdown()


def test_a_loop_is_one_part_of_a_second_whatever_the_clock_says(make_car):
    car = make_car(DRIVE_LOOP_HZ=20)
    times = [run_ready(car, 0.0, 0.3)[1].time for _ in range(3)]
    assert times == pytest.approx([0.05, 0.10, 0.15])


def test_rates_that_do_not_divide_the_physics_keep_their_mean(make_car):
    car = make_car(DRIVE_LOOP_HZ=35)
    times = [run_ready(car, 0.0, 0.3)[1].time for _ in range(70)]
    assert times[-1] == pytest.approx(2.0)


def test_the_same_controls_give_the_same_records(make_car):
    def drive(car):
        records = [run_ready(car, 0.3 * np.sin(i / 5), 0.4) for i in range(40)]
        return [(outputs[0].tobytes(), outputs[3:]) for outputs in records]

    switches = {"SIM_RECORD_LOCATION": True, "SIM_RECORD_GYROACCEL": True, "SIM_RECORD_VELOCITY": True}
    assert drive(make_car(**switches)) == drive(make_car(**switches))


def test_pictures_are_as_the_config_says_and_stay_as_they_were(make_car):
    car = make_car(IMAGE_W=80, IMAGE_H=64, IMAGE_DEPTH=1, GYM_CONF={"img_w": 160, "img_h": 120})
    first = run_ready(car, 0.0, 1.0)[0]
    before = first.copy()
    for _ in range(20):
        last = car.run(0.5, 1.0)[0]
    assert first.shape == (64, 80, 1)
    assert first.dtype == np.uint8
    assert np.array_equal(first, before)
    assert not np.array_equal(first, last)


def test_positive_steering_turns_right(make_car):
    car = make_car(SIM_RECORD_GYROACCEL=True)
    for _ in range(20):
        outputs = run_ready(car, 1.0, 0.3)
    yaw_rate = outputs[3 + 1]  # gyro_y, + = clockwise seen from above
    assert yaw_rate > 0.1


def test_a_car_that_brakes_stands_soon_until_it_gets_a_throttle(make_car):
    car = make_car()
    for _ in range(40):
        fast = run_ready(car, 0.0, 0.3)[1].speed
    car.is_braking = True
    for _ in range(20):
        slow = run_ready(car, 0.0, 0.0)[1].speed
    assert fast > 0.8
    assert slow < 0.05
    run_ready(car, 0.0, 0.3)
    assert not car.is_braking


def test_record_channels_have_the_names_and_order_of_the_original():
    config = make_config(
        SIM_RECORD_LIDAR=True, SIM_RECORD_LOCATION=True, SIM_RECORD_VELOCITY=True, SIM_RECORD_GYROACCEL=True
    )
    channels = list_record_channels(config)
    assert [name for name, _ in channels] == [
        *("pos/pos_x", "pos/pos_y", "pos/pos_z", "pos/speed", "pos/cte"),
        *("gyro/gyro_x", "gyro/gyro_y", "gyro/gyro_z", "accel/accel_x", "accel/accel_y", "accel/accel_z"),
        *("vel/vel_x", "vel/vel_y", "vel/vel_z", "lidar/dist_array"),
    ]
    assert [kind for _, kind in channels] == ["float"] * 14 + ["nparray"]
    assert list_record_channels(make_config()) == ()


def test_record_values_are_those_of_the_telemetry(make_car):
    car = make_car(SIM_RECORD_LOCATION=True, SIM_RECORD_VELOCITY=True, SIM_RECORD_LIDAR=True)
    for _ in range(10):
        outputs = run_ready(car, 0.1, 0.5)
    telemetry = outputs[1]
    assert outputs[3:8] == (telemetry.pos_x, telemetry.pos_y, telemetry.pos_z, telemetry.speed, telemetry.cte)
    assert outputs[8:11] == (telemetry.vel_x, telemetry.vel_y, telemetry.vel_z)
    assert outputs[11].shape == (180,)
    assert (outputs[11] > 0.0).any()


@pytest.mark.parametrize(("latency", "loops"), [(50, 1), (120, 2.4), (7, 0.14)])
def test_latency_makes_pictures_and_readings_late_by_the_same_time(make_car, latency, loops):
    late, prompt = make_car(SIM_ARTIFICIAL_LATENCY=latency), make_car(DRIVE_LOOP_HZ=480)
    for _ in range(12):
        outputs = run_ready(late, 0.5, 0.8)
    assert outputs[1].time == pytest.approx((12 - loops) * 0.05, abs=1 / 480)
    while run_ready(prompt, 0.5, 0.8)[1].time < outputs[1].time - 1e-9:
        pass
    seen = prompt.moment
    assert (seen.telemetry.pos_x, seen.telemetry.pos_z) == pytest.approx((outputs[1].pos_x, outputs[1].pos_z), abs=1e-9)
    assert np.array_equal(seen.image, outputs[0])


def test_reset_puts_the_car_back_and_forgets_its_laps(make_car):
    car = make_car(SIM_RECORD_LOCATION=True)
    first = run_ready(car, 0.0, 0.0)
    start = first[3:6]
    for _ in range(40):
        car.run(0.2, 1.0)
    away = car.run(0.0, 0.0)[3:6]
    back = car.run(0.0, 0.0, True)
    assert np.linalg.norm(np.subtract(away, start)) > 0.5
    assert np.linalg.norm(np.subtract(back[3:6], start)) < 0.01
    assert back[2] == ()
    assert back[1].reset_count == first[1].reset_count + 1


def test_the_placeholder_of_an_old_config_means_the_built_in_simulator(make_car):
    assert make_car(DONKEY_SIM_PATH="path to sim").threaded is False
    assert make_car(DONKEY_SIM_PATH="").threaded is False


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"DONKEY_GYM_ENV_NAME": "donkey-generated-trak-v0"}, "donkey-generated-track-v0"),
        ({"GYM_CONF": {"body_stile": "f1"}}, "body_style"),
        ({"DRIVE_LOOP_HZ": 0}, "DRIVE_LOOP_HZ"),
        ({"IMAGE_W": 9000}, "IMAGE_W"),
    ],
)
def test_an_impossible_config_fails_when_the_car_is_made(values, words):
    with pytest.raises(DonkeySimError, match=words):
        make_simulated_car(make_config(**values))


@pytest.mark.parametrize(("must_compile", "said"), [(False, ["Still loading"]), (True, ["First run: ", "Still comp"])])
def test_a_first_run_is_announced_and_a_long_wait_too(make_car, monkeypatch, caplog, must_compile, said):
    caplog.set_level("INFO", "donkeysim.car")
    begun, go_on = threading.Event(), threading.Event()

    def compile_slowly(_simulator, report):
        report("camera", 0, 2)
        begun.set()
        go_on.wait(10)

    monkeypatch.setattr(simulator.Simulator, "must_compile", must_compile)
    monkeypatch.setattr(simulator.Simulator, "compile", compile_slowly)
    monkeypatch.setattr(built_in_car, "STILL_SECONDS", 0.05)
    car = make_car()
    assert begun.wait(PATIENCE)
    wait_until(lambda: "camera" in car.loading_stage)  # a car of the test before may have called it, too
    assert car.run(0.0, 0.0) is None
    go_on.set()
    assert len(caplog.messages) >= len(said)
    assert all(message.startswith(begin) for message, begin in zip(caplog.messages, said, strict=False))


def test_of_many_places_asked_for_at_once_one_is_made_at_a_time_and_the_latest_counts(make_car, monkeypatch):
    """A dozen messages to the page would otherwise make a dozen places side by side, a hundred megabytes each."""
    car = make_car()
    run_ready(car, 0.0, 0.0)
    may_go_on, made, threads = threading.Event(), [], []

    def prepare(scene):
        made.append(scene)
        threads.append(sum(thread.name == "making a place" for thread in threading.enumerate()))
        assert may_go_on.wait(PATIENCE)
        return scene

    monkeypatch.setattr(car.car, "prepare_place", prepare)
    monkeypatch.setattr(car.car, "move", lambda *_: None)
    for name in ("warehouse", *("thunderhill", "mini_monaco") * 20, "waveshare"):
        car.go_to(name)
    wait_until(lambda: made == ["warehouse"])
    may_go_on.set()
    wait_until(lambda: run_ready(car, 0.0, 0.0) and car.place == "waveshare")
    assert (made, set(threads)) == (["warehouse", "waveshare"], {1})
    car.go_to("warren")
    wait_until(lambda: run_ready(car, 0.0, 0.0) and car.place == "warren")
