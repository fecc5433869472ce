"""Drives over a floor that is painted by computation: pictures, and where they were taken."""

import math

import numpy as np
from scipy.ndimage import gaussian_filter, map_coordinates

from donkeysim.calibration.camera import Mount
from donkeysim.calibration.motion import FloorCamera
from donkeysim.tub.writer import TubWriter
from donkeysim.world.lens import make_plain_lens

RADIUS, WIDTH, LINE = 1.1, 0.5, 0.035
"""Of a round road: to its middle, from border to border, and of the white borders [m]."""

CAMERA = FloorCamera(make_plain_lens((160, 120), math.radians(75.0)), Mount(0.16, math.radians(24.0), 0.0), 0.05)

TEXELS, REACH = 200, 2.6
"""In a metre, and from the middle to the border of what is painted [m]."""


def paint_floor(grain=1.0):
    """Speckled floor with the two borders, shape [side, side, 3]: rows along y, columns along x."""
    side = round(2 * REACH * TEXELS)
    draws = np.random.default_rng(1)
    speckle = sum(gaussian_filter(draws.normal(size=(side, side)), size) * size for size in (2, 6, 16))
    y, x = (np.indices((side, side)) / TEXELS) - REACH
    away = np.abs(np.abs(np.hypot(x, y) - RADIUS) - 0.5 * WIDTH)
    line = np.clip((0.5 * LINE - away) * TEXELS + 0.5, 0.0, 1.0)[..., None]
    ground = np.array([96.0, 110.0, 84.0]) + grain * 22.0 * speckle[..., None]
    return ground * (1.0 - line) + 225.0 * line


def list_poses(count, step=0.06, radius=RADIUS - 0.08):
    """A car that goes round to the left, a little inside the middle, and wavers."""
    turn = np.arange(count) * step / radius
    wide = radius + 0.1 * np.sin(2.3 * turn)
    aside = np.arctan(0.1 * 2.3 * np.cos(2.3 * turn) / wide)
    return np.column_stack([wide * np.sin(turn), -wide * np.cos(turn), turn - aside])


def paint_around():
    """Blotched walls far away: rows from 0.9 above the horizon down to it, columns once round to the left."""
    draws = np.random.default_rng(2)
    fine, coarse = (gaussian_filter(draws.normal(size=(180, 1257)), size, mode="wrap") * size for size in (5, 25))
    blots = fine + 0.8 * coarse
    return 125.0 + 45.0 * blots[..., None] / blots.std() * (1.0, 0.9, 0.8)


def take_pictures(floor, poses, camera=CAMERA, around=None):
    """The floor as the camera sees it, with noise, a vignette and the car's dark nose; above it mist, or walls."""
    width, height = camera.lens.size
    pixels = np.indices((height, width))[::-1].reshape(2, -1).T.astype(float)
    ground = camera.find_floor(pixels)
    beyond = ~np.isfinite(ground).all(axis=1) | (np.hypot(*np.nan_to_num(ground, nan=99.0).T) > 12.0)
    rays = np.nan_to_num(camera.find_rays(pixels[beyond]), nan=1.0)
    azimuth, rise = np.arctan2(rays[:, 1], rays[:, 0]), rays[:, 2] / np.hypot(rays[:, 0], rays[:, 1])
    away = ((pixels - (79.5, 59.5)) ** 2).sum(axis=1) / (79.5**2 + 59.5**2)
    draws, pictures = np.random.default_rng(5), []
    for x, y, yaw in poses:
        c, s = math.cos(yaw), math.sin(yaw)
        where = np.nan_to_num(ground @ np.array([[c, s], [-s, c]]) + (x, y), nan=50.0)
        cells = (where[:, ::-1].T + REACH) * TEXELS
        colour = np.stack([map_coordinates(floor[..., n], cells, order=1, mode="nearest") for n in range(3)], axis=1)
        if around is None:
            colour[beyond] = (150.0, 160.0, 180.0)
        else:
            there = np.stack([(0.9 - rise) * 200.0, (azimuth + yaw) % (2 * math.pi) * 200.0])
            colour[beyond] = np.stack(
                [map_coordinates(around[..., n], there, order=1, mode="nearest") for n in range(3)], 1
            )
        colour = colour * (1.0 - 0.25 * away)[:, None] + draws.normal(0.0, 3.0, colour.shape)
        picture = np.clip(colour, 0, 255).astype(np.uint8).reshape(height, width, 3)
        picture[112:, 50:110] = 20
        pictures.append(picture)
    return pictures


def write_tub(path, pictures):
    """A tub of pictures."""
    with TubWriter(path, ["cam/image_array"], ["image_array"]) as tub:
        for picture in pictures:
            tub.write_record({"cam/image_array": picture})
    return path
