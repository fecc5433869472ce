"""What is around a drive, gathered from its pictures: painted by computation, found again."""

import numpy as np
import pytest

from donkeysim.mapping.floor import COLUMNS, PaintedFloor, paint_ring
from mapping.painted_floor import CAMERA

STEP = 2.0 * np.pi / COLUMNS


def paint_around(azimuth, rise):
    """Colours that turn once round, and a lamp's height at which they change."""
    red, green = 128.0 + 90.0 * np.cos(azimuth), 128.0 + 90.0 * np.sin(azimuth)
    return np.stack([red, green, np.where(rise > 0.15, 200.0, 60.0) + 0.0 * azimuth], axis=-1)


def take_picture(yaw):
    """What the camera of a car shows of it, the floor black."""
    width, height = CAMERA.lens.size
    column, row = np.meshgrid(np.arange(width, dtype=float), np.arange(height, dtype=float))
    x, y = (column - CAMERA.lens.centre[0]) / CAMERA.lens.focal[0], (row - CAMERA.lens.centre[1]) / CAMERA.lens.focal[1]
    c, s = np.cos(CAMERA.mount.pitch), np.sin(CAMERA.mount.pitch)
    ahead, left, up = c - s * y, -x, -s - c * y
    picture = paint_around(np.arctan2(left, ahead) + yaw, np.arctan2(up, np.hypot(ahead, left)))
    picture[up < 0.0] = 0.0
    return picture.astype(np.uint8)


@pytest.fixture(scope="module")
def drive():
    yaw = np.linspace(-1.0, 12.0, 140)
    size = CAMERA.lens.size[::-1]
    light = np.ones((len(yaw), 3), np.float32)
    floor = PaintedFloor(np.zeros((2, 2, 3)), np.ones((2, 2)), np.eye(3), light, np.ones(size, np.float32))
    return [take_picture(one) for one in yaw], yaw, floor


def test_what_is_around_stands_in_its_direction(drive):
    pictures, yaw, floor = drive
    ring = paint_ring(pictures, yaw, CAMERA, np.zeros(CAMERA.lens.size[::-1], bool), floor).astype(float)
    assert ring.shape == (COLUMNS // 2, COLUMNS, 3)
    azimuth = (np.arange(COLUMNS) + 0.5) * STEP
    for rise in (0.06, 0.2):  # it sees up to 13.5 degrees above the horizon
        row = int((0.5 * np.pi - rise) / STEP)
        assert np.abs(ring[row] - paint_around(azimuth, rise)).max() < 3.0


def test_what_was_not_seen_is_like_what_was(drive):
    pictures, yaw, floor = drive
    ring = paint_ring(pictures, yaw, CAMERA, np.zeros(CAMERA.lens.size[::-1], bool), floor).astype(float)
    assert np.abs(ring[0] - (128.0, 128.0, 200.0)).max() < 12.0  # the mean of the highest that was seen
    half = paint_ring(pictures[:10], np.linspace(0.0, 0.1, 10), CAMERA, np.zeros(pictures[0].shape[:2], bool), floor)
    assert np.ptp(half[COLUMNS // 4 - 40], axis=0).max() > 0


def test_light_of_each_picture_and_the_car_itself_are_taken_out(drive):
    pictures, yaw, floor = drive
    gain = np.where(np.arange(len(yaw)) % 2, 0.8, 1.0)[:, None].astype(np.float32) * np.ones(3, np.float32)
    dark = [(picture * one).astype(np.uint8) for picture, one in zip(pictures, gain, strict=True)]
    own = np.zeros(pictures[0].shape[:2], bool)
    own[:20, 60:100] = True
    for picture in dark:
        picture[own] = 255
    ring = paint_ring(dark, yaw, CAMERA, own, floor._replace(gain=gain)).astype(float)
    row = int((0.5 * np.pi - 0.06) / STEP)
    assert np.abs(ring[row] - paint_around((np.arange(COLUMNS) + 0.5) * STEP, 0.06)).max() < 6.0


def test_ctrl_c_keeps_what_was_gathered(drive):
    pictures, yaw, floor = drive

    class Pressed(list):
        def __getitem__(self, number):
            if number == 100:
                raise KeyboardInterrupt
            return list.__getitem__(self, number)

    own = np.zeros(CAMERA.lens.size[::-1], bool)
    hurried = paint_ring(Pressed(pictures), yaw, CAMERA, own, floor)
    assert (hurried == paint_ring(pictures[:100], yaw[:100], CAMERA, own, floor)).all()
