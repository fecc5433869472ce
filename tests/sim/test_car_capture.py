"""What a car sees at a moment can be worked out later, on another thread, while time moves on: to the same bytes."""

import math
import threading

import numpy as np
import pytest

from donkeysim.render.scratch import MOST_SAMPLES, ScratchRoom
from donkeysim.sim.simulator import Simulator
from donkeysim.world.randomization import read_randomization
from donkeysim.world.specs import BodySpec, CameraSpec, LidarSpec, SceneSpec, WorldSpec

LIDAR = LidarSpec(sweep_increment=math.radians(1.0), level_count=3, noise=0.01)

VARIED = {
    "picture": {"noise": [2.0, 9.0], "exposure": [-0.5, 0.5], "jpeg_quality": [30, 60]},
    "delay": {"picture": [0.04, 0.12]},
    "sun": {"strength": [0.6, 1.4]},
    "ground": {"hue": [-0.5, 0.5]},
    "camera": {"pitch": [-0.1, 0.1]},
}


def make_simulator(**options):
    simulator = Simulator(WorldSpec(scene=SceneSpec("generated_track"), cars_per_world=2, **options))
    first, second = simulator.add_car(0, BodySpec(name="ada")), simulator.add_car(0, BodySpec(style="f1"))
    simulator.configure_camera(first, CameraSpec(width=200, height=90, position=(-1.0, 0.0, 0.6)))
    simulator.configure_camera(first, CameraSpec(supersample=2), second=True)
    simulator.configure_lidar(first, LIDAR)
    simulator.drive_car(second, 0.3, 0.8)
    for _ in range(6):
        simulator.step()
    return simulator, first, second


def look(simulator, car):
    simulator.render([car])
    pictures = [simulator.get_picture(car, second).copy() for second in (False, True)]
    return pictures, simulator.scan_lidar(car)


def work_out(kept):
    kept.draw(ScratchRoom())
    return [kept.get_picture(second) for second in (False, True)], kept.scan(lambda: None)


@pytest.mark.parametrize("randomization", [{}, VARIED], ids=["plain", "randomised"])
def test_a_moment_is_drawn_later_to_the_same_bytes_while_time_moves_on(randomization):
    simulator, first, second = make_simulator(randomization=read_randomization(randomization))
    pictures, scan = look(simulator, first)
    kept = simulator.capture(first)

    drawn = []
    worker = threading.Thread(target=lambda: drawn.append(work_out(kept)))
    simulator.configure_car(second, BodySpec(style="donkey", colour=(1, 2, 3), name="a new plate"))
    simulator.move_car(second, (0.0, 0.0, 3.0))
    simulator.step()
    worker.start()
    for _ in range(10):
        simulator.step()
        simulator.render([first])
        simulator.scan_lidar(first)
    worker.join()
    simulator.reset_car(first)

    for then, later in zip(pictures, drawn[0][0], strict=True):
        assert np.array_equal(then, later)
    assert drawn[0][1] == scan
    assert not np.array_equal(pictures[0], look(simulator, first)[0][0]), "time did move on"


def test_a_picture_that_is_drawn_later_does_not_change_those_that_are_drawn_at_once():
    simulator, first, _ = make_simulator()
    kept = simulator.capture(first)
    pictures, _ = look(simulator, first)
    before = [simulator.get_picture(first, second) for second in (False, True)]
    simulator.step()
    work_out(kept)
    for shown, picture in zip(before, pictures, strict=True):
        assert np.array_equal(shown, picture)


def test_a_car_without_a_lidar_has_no_scan():
    simulator, first, _ = make_simulator()
    simulator.configure_lidar(first, None)
    assert simulator.capture(first).scan(lambda: None) is None


def test_working_memory_is_as_large_as_the_largest_picture_and_no_larger_than_it_may_be():
    room = ScratchRoom()
    small = room.find(0, (160, 120, False), 100, 10)
    assert room.find(0, (120, 100, False), 90, 9) is small, "what is large enough is kept"
    wide = room.find(0, (200, 100, False), 100, 10)
    assert room.find(0, (160, 120, False), 100, 10) is wide, "and there is one for all sizes"
    assert len(room.find(0, (200, 100, False), 109, 10).record_float) == 109
    for width in range(3000, 3010):
        room.find(0, (width, 2000, False), 4, 4)
    huge = room.find(0, (7680, 4320, False), 4, 4)
    assert huge.depth.size > 7680 * 4320 > MOST_SAMPLES
    assert room.find(0, (160, 120, False), 4, 4).depth.size <= 1.1 * MOST_SAMPLES, "what is huge is not kept"


def test_a_wide_and_a_high_picture_need_no_memory_for_one_that_is_both():
    room = ScratchRoom()
    room.find(0, (3000, 10, False), 100, 10)
    wide = room.find(0, (200, 100, False), 100, 10)
    both = room.find(0, (20, 1000, False), 100, 10)
    assert both.depth.size < 3200 * 11
    assert both.record_float is wide.record_float, "what is large enough is not made anew"
    assert len(both.run_end) >= 3000
    assert both.work_int.shape[1] >= 1000


def test_many_sizes_of_pictures_take_turns_without_making_memory():
    room = ScratchRoom()
    made = {id(room.find(0, (16 + number % 50, 116 - number % 50, False), 100, 10)) for number in range(100)}
    again = {id(room.find(0, (16 + number % 50, 116 - number % 50, False), 100, 10)) for number in range(100)}
    assert len(again) == 1
    assert len(made) <= 50


@pytest.mark.parametrize("factor", [1, 2])
def test_a_small_picture_is_the_same_after_a_large_one(factor):
    simulator, first, second = make_simulator()
    simulator.render([first])
    alone = simulator.get_picture(first).copy()
    simulator.configure_camera(second, CameraSpec(width=500, height=372, supersample=factor))
    simulator.render([second])
    simulator.render([first])
    assert np.array_equal(simulator.get_picture(first), alone)
