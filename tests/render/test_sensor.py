"""Vignette, white balance, flicker and the blur of turning are what their values say."""

import math

import numpy as np
import pytest

from donkeysim.core.errors import SpecError
from donkeysim.core.workers import Workers
from donkeysim.render.kernels.effects import EFFECT
from donkeysim.render.variation import make_variation, vary_cameras
from donkeysim.sim.simulator import Simulator
from donkeysim.world.randomization import RandomizationSpec, read_randomization
from donkeysim.world.ranges import SensorRanges
from donkeysim.world.specs import CameraSpec, SceneSpec, WorldSpec

WIDTH, HEIGHT = 160, 120
SPEC = RandomizationSpec(sensor=SensorRanges(vignette=(0.0, 1.0)))


def take(picture, camera=None, number=0, turn=0.0, **columns):
    """Return what a camera with these columns of EFFECT makes of a picture, shape [rows, columns, 3]."""
    cameras = vary_cameras([camera or CameraSpec(width=WIDTH, height=HEIGHT)], [])
    variation = make_variation(SPEC, np.zeros((1, 14), np.float32))
    for name, value in columns.items():
        first = getattr(EFFECT, name)
        cameras.meant.effect[0, first : first + np.size(value)] = value
    variation.number[:], variation.turn[:] = number, turn
    taken = picture[None].copy()
    cameras.finish(Workers(1), variation, np.zeros(1, np.int32), taken)
    return taken[0].astype(float)


def even(value=200):
    return np.full((HEIGHT, WIDTH, 3), value, np.uint8)


def test_a_vignette_takes_its_share_in_the_corners_and_nothing_in_the_middle():
    seen = take(even(), vignette=0.6)
    assert seen[60, 80] == pytest.approx([200.0] * 3, abs=0.6)
    corners = seen[[0, 0, -1, -1], [0, -1, 0, -1]]
    assert corners == pytest.approx(np.full((4, 3), 200.0 * 0.4), abs=2.0)
    # At the middle of a side one of the two squares counts.
    assert seen[60, 0] == pytest.approx([200.0 * 0.7] * 3, abs=2.0)
    assert seen[0, 80] == pytest.approx([200.0 * 0.7] * 3, abs=2.0)


def test_a_camera_that_cuts_rows_off_sees_those_of_the_whole_picture():
    columns = {"vignette": 0.8, "flicker": 0.3, "bands": 2.5, "number": 1 << 30}
    whole = take(even(), **columns)
    band = CameraSpec(width=WIDTH, height=HEIGHT, crop_top=40, crop_bottom=8)
    assert np.array_equal(take(even()[40:-8], band, **columns), whole[40:-8])


def test_a_white_balance_multiplies_each_channel():
    assert take(even(100), balance=(1.2, 1.0, 0.7))[7, 9] == pytest.approx([120.0, 100.0, 70.0], abs=0.6)


def test_flicker_makes_its_bands_elsewhere_in_every_picture():
    rows = [take(even(), flicker=0.25, bands=4.0, number=number << 28)[:, 0, 0] for number in (0, 5)]
    for row in rows:
        waves = np.abs(np.fft.rfft(row))[1:]
        assert waves.argmax() + 1 == 4
        assert 2.0 * waves[3] / HEIGHT == pytest.approx(0.25 * 200.0, rel=0.02)
    assert np.abs(rows[0] - rows[1]).max() > 20.0


def test_turning_blurs_along_rows_only_and_as_far_as_the_picture_moves():
    edge = even(40)
    edge[:, 80:] = 220
    columns, rate = 60.0 * 0.04, 2.5
    seen = take(edge, turn=rate, shutter=columns)
    slope = np.diff(seen[60, :, 0])
    middle = (slope * np.arange(WIDTH - 1)).sum() / slope.sum()
    spread = math.sqrt((slope * (np.arange(WIDTH - 1) - middle) ** 2).sum() / slope.sum())
    assert spread == pytest.approx(columns * rate / math.sqrt(12.0), rel=0.15)
    across = even(40)
    across[60:] = 220
    assert np.array_equal(take(across, turn=rate, shutter=columns), across)
    assert np.array_equal(take(edge, turn=0.0, shutter=columns), edge)


def measure_sharpness(simulator):
    simulator.render([0])
    return np.abs(np.diff(simulator.get_picture(0)[60:].astype(float), axis=1)).mean()


def drive(shutter, steer):
    spec = read_randomization({"sensor": {"shutter": (shutter, shutter)}} if shutter else None)
    simulator = Simulator(WorldSpec(scene=SceneSpec("generated_track"), randomization=spec))
    car = simulator.add_car(0)
    simulator.configure_camera(car, CameraSpec())
    simulator.drive_car(car, steer, 0.3)
    for _ in range(30):
        simulator.step()
    return measure_sharpness(simulator)


def test_a_car_that_turns_sees_less_sharply_than_one_that_goes_straight():
    loss = [1.0 - drive(0.05, steer) / drive(0.0, steer) for steer in (0.0, 1.0)]
    assert loss[0] < 0.05
    assert loss[1] > 0.2


def test_bands_without_flicker_are_refused():
    with pytest.raises(SpecError, match=r"sensor\.bands does nothing alone"):
        read_randomization({"sensor": {"bands": (2.0, 3.0)}})
