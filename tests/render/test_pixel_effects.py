"""The effects of a device give the bytes of the effects that run picture by picture."""

import numpy as np
import pytest

from donkeysim.core.device import open_device
from donkeysim.core.workers import Workers
from donkeysim.render import effects
from donkeysim.render.effects import PictureEffects
from donkeysim.render.kernels.effects import EFFECT
from donkeysim.render.variation import make_variation, vary_cameras
from donkeysim.world.randomization import RandomizationSpec
from donkeysim.world.ranges import PictureRanges
from donkeysim.world.specs import CameraSpec

COUNT, ROWS, COLUMNS, TOP = 5, 12, 18, 6
VIEW = TOP, ROWS + TOP
RANGES = RandomizationSpec(picture=PictureRanges(blur=(0.0, 3.0), exposure=(-1.0, 1.0), noise=(0.0, 20.0)))

NO_SHADES = (0.0, 1.0, 1.0, 1.0, 0.0, 3.0, 0.0)
SHADES = (
    (0.6, 1.0, 1.0, 1.0, 0.0, 3.0, 0.0),
    (0.0, 1.2, 1.2, 1.2, 0.0, 3.0, 2.0),
    (0.0, 1.0, 1.0, 1.0, 0.3, 2.5, 0.0),
    (0.4, 0.9, 0.9, 0.9, 0.2, 4.0, 1.0),
)
"""Columns of EFFECT from the vignette on."""


@pytest.fixture(scope="module")
def device():
    return open_device("cpu", 1)


def draw_effects(grey=False, blur=True, shaded=False):
    """Return cameras, pictures, and what `effects` makes of them: one without effects, one with all, others mixed."""
    random = np.random.default_rng(3)
    cameras = vary_cameras(
        [CameraSpec(width=COLUMNS, height=ROWS + TOP, crop_top=TOP, grey=grey)] * COUNT, [False, True] * 2 + [True]
    )
    variation = make_variation(RANGES, np.zeros((COUNT, 13), np.float32))
    cameras.meant.effect[1:, EFFECT.blur] = (2.6, 0.6, 0.04, 7.0) if blur else 0.0
    cameras.meant.effect[1:, EFFECT.gain] = (1.3, 0.8, 1.0, 1.0)
    cameras.meant.effect[1:, EFFECT.noise] = (9.0, 0.0, 20.0, 5.0)
    shades = SHADES if shaded else NO_SHADES
    cameras.meant.effect[1:, EFFECT.vignette : EFFECT.grey] = shades
    variation.turn[:] = (0.0, 1.5, -3.0, 0.7, 0.0)
    variation.number[:] = random.integers(0, 1 << 32, COUNT)
    picture = random.integers(0, 256, (COUNT, ROWS, COLUMNS, 1 if grey else 3), np.uint8)
    after = np.repeat(picture, 3, axis=3) if grey else picture.copy()
    cameras.finish(Workers(1), variation, np.arange(COUNT), after)
    return cameras.meant, (variation.number, variation.turn), picture, after[..., :1] if grey else after


def apply(device, meant, moment, picture, target, spec=RANGES):
    stage = PictureEffects(device, spec, picture.shape, VIEW)
    flat, car = picture.reshape(COUNT, -1), np.arange(COUNT, dtype=np.int32)
    stage.apply(meant, car, moment, flat, target.reshape(COUNT, -1))
    return target


@pytest.mark.parametrize(("grey", "shaded"), [(False, False), (False, True), (True, True)])
@pytest.mark.parametrize("pictures_at_once", [1, 2, COUNT])
def test_the_bytes_are_those_of_pictures_one_by_one(device, grey, shaded, pictures_at_once, monkeypatch):
    meant, moment, picture, after = draw_effects(grey, shaded=shaded)
    monkeypatch.setattr(effects, "SOFT_BYTES", pictures_at_once * 4 * picture[0].size)
    seen = apply(device, meant, moment, picture, np.empty_like(picture)).astype(int)
    assert np.abs(seen - after).max() <= 1  # sums may fuse differently
    assert (seen == after).mean() > 0.999
    assert np.array_equal(seen[0], picture[0])
    assert not np.array_equal(seen[1], picture[1])


def test_without_blur_no_working_memory_is_taken_and_the_bytes_are_the_same(device):
    meant, moment, picture, after = draw_effects(blur=False)
    spec = RandomizationSpec(picture=PictureRanges(noise=(0.0, 20.0)))
    assert PictureEffects(device, spec, picture.shape, VIEW)._soft is None
    assert np.array_equal(apply(device, meant, moment, picture, np.empty_like(picture), spec), after)
