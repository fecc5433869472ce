"""Values are drawn by an index kernel for the cars that need new ones, and depend on nothing else."""

import numpy as np
import pytest

from donkeysim.core.device import open_device
from donkeysim.core.rng import draw_uniform
from donkeysim.world.kernels.draw import STREAM, draw_values, make_drawn, make_knobs
from donkeysim.world.randomization import find_column, list_knobs, read_randomization

KNOBS = list_knobs(read_randomization({"car": {"mass": (0.5, 2.0)}, "picture": {"jpeg_quality": (10.0, 90.0)}}))


def draw(drawn, reset_count, keys, present=None, slots=2, threads=1, block=1):
    device, there = open_device("cpu", threads), np.ones(len(reset_count), np.uint8) if present is None else present
    table = make_knobs(KNOBS)
    device.run(draw_values, len(reset_count), slots, there, reset_count, keys, table, drawn, block=block)
    device.close()


def test_a_value_is_a_function_of_key_slot_reset_and_stream():
    drawn, keys = make_drawn(4), np.array([11, 1 << 62], np.int64)
    draw(drawn, np.array([0, 3, 0, 1], np.int32), keys)
    mass, quality = find_column("car.mass"), find_column("picture.jpeg_quality")
    for car, reset in enumerate((0, 3, 0, 1)):
        key, slot = int(keys[car // 2]), car % 2
        assert drawn.value[car, mass] == 0.5 + draw_uniform(key, slot, reset, STREAM + mass) * 1.5
        assert drawn.value[car, quality] == np.rint(10.0 + draw_uniform(key, slot, reset, STREAM + quality) * 80.0)


def test_only_cars_of_another_key_or_reset_draw_anew_and_only_those_that_are_there():
    drawn, keys, resets = make_drawn(6), np.array([1, 2, 3], np.int64), np.zeros(6, np.int32)
    present = np.array([1, 1, 1, 1, 1, 0], np.uint8)
    draw(drawn, resets, keys, present)
    assert drawn.fresh.tolist() == [1, 1, 1, 1, 1, 0]
    before = drawn.value.copy()
    draw(drawn, resets, keys, present)
    assert not drawn.fresh.any()
    resets[1], keys[1] = 1, 7
    draw(drawn, resets, keys, present)
    assert drawn.fresh.tolist() == [0, 1, 1, 1, 0, 0]
    assert drawn.serial.tolist() == [1, 2, 2, 2, 1, 0]
    changed = (drawn.value != before) & ~np.isnan(before)
    assert changed.any(axis=1).tolist() == [False, True, True, True, False, False]


@pytest.mark.parametrize(("threads", "block"), [(1, 64), (3, 1)])
def test_threads_and_blocks_change_nothing(threads, block):
    one, other = make_drawn(50), make_drawn(50)
    resets, keys = np.arange(50, dtype=np.int32) % 7, np.arange(25, dtype=np.int64)
    draw(one, resets, keys)
    draw(other, resets, keys, threads=threads, block=block)
    assert np.array_equal(one.value, other.value, equal_nan=True)


def test_what_is_not_drawn_rests_at_what_changes_nothing():
    value = make_drawn(1).value[0]
    rests = {"sun.strength": 1.0, "road.tint_blue": 1.0, "road.patch_size": 0.3, "camera.x": 0.0, "car.friction": 1.0}
    assert {name: value[find_column(name)] for name in rests} == rests
    assert np.isnan(value[[find_column("fog.density"), find_column("sun.height")]]).all()
