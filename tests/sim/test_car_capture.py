"""What a car sees at a moment can be worked out later, on another thread, while time moves on: to the same bytes."""

import math
import threading

import numpy as np
import pytest

from donkeysim.render.scratch import MOST_SHAPES, ScratchRoom
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


def test_pictures_of_ever_new_sizes_do_not_pile_up_working_memory():
    room = ScratchRoom()
    for width in range(3000, 3010):
        room.find(0, (width, 2000, False), 4, 4)
    assert sum(width * height for width, height, _ in room._kept[0]) <= 1 << 24
    assert (3009, 2000, False) in room._kept[0]
    assert room.find(0, (3009, 2000, False), 4, 4) is room.find(0, (3009, 2000, False), 4, 4)
    assert len(room.find(0, (3009, 2000, False), 9, 4).record_float) == 9


def test_many_sizes_of_pictures_leave_little_memory_behind():
    room = ScratchRoom()
    first = room.find(0, (160, 120, False), 100, 10)
    for number in range(100):
        room.find(0, (16 + number, 16, False), 100, 10)
        assert room.find(0, (160, 120, False), 100, 10) is first, "what is used again and again stays"
    assert len(room._kept[0]) <= MOST_SHAPES
