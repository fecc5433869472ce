"""Augmentations: pictures changed at random while learning, anew in every epoch, so that a pilot bears other light.

BRIGHTNESS and BLUR are those of donkeycar 5; MULTIPLY is what its version 4 has instead of BRIGHTNESS, and CROP and
TRAPEZE may stand among the augmentations there.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from donkeysim.car.config import Config
from donkeysim.car.transform import make_steps
from donkeysim.core.errors import SpecError, describe_unknown
from donkeysim.core.types import ByteArray

Augmentation = Callable[[ByteArray, np.random.Generator], ByteArray]
"""Picture, shape [h, w, channels], to a changed one."""

LIKELIHOOD = {"BRIGHTNESS": 0.5, "BLUR": 0.5, "MULTIPLY": 1.0, "CROP": 1.0, "TRAPEZE": 1.0}
"""How often each augmentation is applied to a picture."""

BLUR_SIZE = 13
"""Width of the Gaussian's window [pixel]."""


def make_augmentation(config: Config) -> Augmentation | None:
    """Return what AUGMENTATIONS of a configuration asks for, None for nothing.

    Raises:
        SpecError: An unknown name, or an impossible range.
    """
    makers = {"BRIGHTNESS": _make_brightness, "BLUR": _make_blur, "MULTIPLY": _make_multiply}
    names = list(getattr(config, "AUGMENTATIONS", []))
    for name in names:
        if name not in LIKELIHOOD:
            raise SpecError(describe_unknown("augmentation", str(name), LIKELIHOOD))
    steps = [(LIKELIHOOD[name], makers[name](config) if name in makers else _make_mask(config, name)) for name in names]
    if not steps:
        return None

    def augment(picture: ByteArray, rng: np.random.Generator) -> ByteArray:
        for likelihood, step in steps:
            if rng.random() < likelihood:
                picture = step(picture, rng)
        return picture

    return augment


def _make_mask(config: Config, name: str) -> Augmentation:
    mask = make_steps(config, [name])
    return lambda picture, _: mask(picture)


def _make_multiply(config: Config) -> Augmentation:
    low, high = getattr(config, "AUG_MULTIPLY_RANGE", (0.5, 1.5))
    grey = np.arange(256, dtype=np.float64)

    def change(picture: ByteArray, rng: np.random.Generator) -> ByteArray:
        table = np.clip(np.rint(grey * rng.uniform(low, high)), 0, 255).astype(np.uint8)
        changed: ByteArray = table[picture]
        return changed

    return change


def _make_brightness(config: Config) -> Augmentation:
    """Contrast times 1 ± range, then brightness ± range of full white."""
    limit = getattr(config, "AUG_BRIGHTNESS_RANGE", 0.2)
    if not (isinstance(limit, int | float) and 0 <= limit <= 1):
        raise SpecError(f"AUG_BRIGHTNESS_RANGE = {limit!r} is not valid; it takes a number from 0 to 1.")
    grey = np.arange(256, dtype=np.float64)

    def change(picture: ByteArray, rng: np.random.Generator) -> ByteArray:
        brightness, contrast = rng.uniform(-limit, limit, 2)
        table = np.clip(np.rint(grey * (1.0 + contrast) + 255.0 * brightness), 0, 255).astype(np.uint8)
        changed: ByteArray = table[picture]
        return changed

    return change


def _make_blur(config: Config) -> Augmentation:
    given = getattr(config, "AUG_BLUR_RANGE", (0, 3))
    low, high = given if isinstance(given, tuple | list) and len(given) == 2 else (0.0, given)
    if not (isinstance(low, int | float) and isinstance(high, int | float) and 0 <= low <= high):
        raise SpecError(f"AUG_BLUR_RANGE = {given!r} is not valid; it takes two widths in pixels, as (0, 3).")

    def change(picture: ByteArray, rng: np.random.Generator) -> ByteArray:
        import cv2

        sigma = rng.uniform(low, high)
        if sigma < 0.1:  # nothing to see; 0 would mean "as the window" there
            return picture
        blurred = cv2.GaussianBlur(picture, (BLUR_SIZE, BLUR_SIZE), sigma)
        return np.asarray(blurred, dtype=np.uint8).reshape(picture.shape)

    return change
