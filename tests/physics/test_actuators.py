"""Servo, ESC and battery: the laws that they keep, and that cars without them never notice."""

import math
from dataclasses import replace

import numpy as np
import pytest
from tests.scenes import Bench

from donkeysim.world.car_files import BatterySpec, EscSpec, ServoSpec
from donkeysim.world.specs import load_car
from donkeysim.world.state import CHARGE

ORIGINAL = load_car("original")
STEP = 1.0 / 480.0


def make_bench(**parts) -> Bench:
    """A car `original` with these parts."""
    return Bench(car=replace(ORIGINAL, **parts))


def measure_speed(bench):
    return float(bench.state.velocity[0, 0])


@pytest.mark.parametrize("name", ["rc10", "rc16"])
def test_a_servo_takes_its_published_time_for_sixty_degrees(name):
    servo = load_car(name).servo
    bench = make_bench(servo=servo, steer_gain=math.radians(30.0), steer_limit=math.radians(30.0))
    bench.drive(1.0, steer=-1.0)
    taken = 0
    while bench.state.steer_angle[0] < math.radians(30.0) - servo.dead_band:
        bench.drive(STEP, steer=1.0)
        taken += 1
    assert taken * STEP == pytest.approx(math.radians(60.0) / servo.speed, rel=0.02)


def test_a_servo_rests_while_the_wheels_are_within_its_dead_band():
    bench = make_bench(servo=ServoSpec(dead_band=0.02))
    bench.drive(0.1, steer=0.019 / ORIGINAL.steer_gain)
    assert bench.state.steer_angle[0] == 0.0
    bench.drive(0.1, steer=0.021 / ORIGINAL.steer_gain)
    assert bench.state.steer_angle[0] == pytest.approx(0.021)


def test_within_the_dead_zone_no_torque_and_full_throttle_is_full_all_the_same():
    bench, free = make_bench(esc=EscSpec(dead_zone=0.1)), make_bench()
    for throttle in (0.1, -0.1):
        bench.drive(0.2, throttle=throttle)
        assert abs(bench.state.wheel_speed).max() < 1e-9
    for each in (bench, free):
        each.drive(0.5, throttle=1.0)
    assert measure_speed(bench) == pytest.approx(measure_speed(free), rel=1e-9)


def test_the_first_tap_backwards_brakes_and_the_second_drives_backwards():
    bench = make_bench(esc=EscSpec(double_tap=True))
    bench.drive(0.5, throttle=0.5)
    fast = measure_speed(bench)
    bench.drive(3.0, throttle=-0.5)
    assert fast > 0.2
    assert abs(measure_speed(bench)) < 0.01
    bench.drive(0.1, throttle=0.0)
    bench.drive(0.5, throttle=-0.5)
    assert measure_speed(bench) < -0.1
    bench.drive(1.0, throttle=0.5)
    bench.drive(1.0, throttle=-0.5)
    assert measure_speed(bench) > -0.01


def test_the_second_tap_brakes_too_while_the_car_still_rolls():
    bench = make_bench(esc=EscSpec(double_tap=True))
    bench.place(0, 0.0, 0.0, velocity=3.0)
    for throttle in (-0.3, 0.0, -0.3, 0.0):
        bench.drive(0.05, throttle=throttle)
    bench.drive(2.0, throttle=-0.5)
    assert abs(measure_speed(bench)) < 0.01


def test_a_cogging_motor_starts_more_slowly_and_runs_as_well():
    cogging = EscSpec(cogging=0.8, cogging_speed=0.5, cogging_count=12.0)
    jerky, smooth = make_bench(esc=cogging), make_bench()
    speeds = []
    for bench in (jerky, smooth):
        bench.drive(0.5, throttle=0.1)
        speeds.append(measure_speed(bench))
    assert 0.0 < speeds[0] < 0.95 * speeds[1]
    for bench in (jerky, smooth):
        bench.place(0, 0.0, 0.0, velocity=1.0)
        bench.drive(0.5, throttle=0.3)
    assert measure_speed(jerky) == pytest.approx(measure_speed(smooth), rel=1e-9)


def reach_top_speed(battery: BatterySpec, drawn: float = 0.0) -> float:
    """The speed that full throttle ends at, from a battery of which a share has been drawn."""
    fast = replace(load_car("rc16"), battery=battery, esc=EscSpec(), servo=ServoSpec())
    bench = Bench(car=fast)
    bench.place(0, 0.0, 0.0, velocity=6.0)
    if battery.capacity:
        bench.state.powertrain[0, CHARGE] = 3600.0 * battery.capacity * drawn
    bench.drive(6.0, throttle=1.0)
    return measure_speed(bench)


def test_a_battery_that_sags_and_empties_lowers_the_top_speed():
    good = reach_top_speed(BatterySpec())
    stiff = BatterySpec(capacity=1.1, voltage=8.4, empty_voltage=6.0, current_max=10.0)
    soft = replace(stiff, resistance=0.15)
    assert reach_top_speed(stiff) == pytest.approx(good, rel=0.01)
    assert reach_top_speed(soft) < 0.98 * good
    # Top speed falls almost as the voltage does: losses that grow with speed are a small part.
    assert reach_top_speed(stiff, 1.0) == pytest.approx(good * 6.0 / 8.4, rel=0.08)


def test_a_battery_gives_no_more_charge_than_flows():
    bench = make_bench(battery=BatterySpec(capacity=1.0, current_max=20.0))
    bench.drive(2.0, throttle=0.0)
    assert bench.state.powertrain[0, CHARGE] == 0.0
    bench.state.velocity[0] = 0.0
    bench.drive(0.1, throttle=0.5)
    assert bench.state.powertrain[0, CHARGE] == pytest.approx(0.1 * 10.0, rel=0.05)
    bench.place(0, 0.0, 0.0)
    assert bench.state.powertrain[0, CHARGE] == 0.0


def test_cars_without_such_parts_hold_no_byte_of_them_and_drive_as_ever():
    bench = make_bench()
    assert bench.state.powertrain.nbytes == 0
    same = make_bench(servo=ServoSpec(dead_band=1e-300))
    generator = np.random.default_rng(5)
    for _ in range(20):
        steer, throttle, brake = generator.uniform(-1.0, 1.0, 3)
        for each in (bench, same):
            each.drive(0.05, steer=steer, throttle=throttle, brake=max(brake, 0.0))
    for name, array in bench.state._asdict().items():
        if name != "powertrain":
            assert array.tobytes() == getattr(same.state, name).tobytes(), name
