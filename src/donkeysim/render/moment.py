"""What pictures of one moment need, kept while time moves on, and what lies between two moments."""

from typing import NamedTuple

import numpy as np

from donkeysim.core.types import FloatArray
from donkeysim.render.tables import PictureTables, PoseTables

LEAP = 0.5
"""What moves farther than this from one moment to the next was put elsewhere and has not driven [m]."""


class Moment(NamedTuple):
    """How everything looks and where it is. Nothing in it changes any more; see `Renderer.keep`."""

    tables: PictureTables
    poses: PoseTables


def blend_moments(before: Moment, after: Moment, share: float) -> Moment:
    """Return a moment between two of the same place: the later one, with everything on its way to where it is then.

    Args:
        share: Of the way, 0 to 1.
    """
    first, last = before.poses, after.poses
    car_share = _find_shares(first.position, last.position, first.present == last.present, share)
    prop_share = _find_shares(first.prop_position, last.prop_position, np.ones(len(last.prop_position), bool), share)
    poses = last._replace(
        position=_blend(first.position, last.position, car_share),
        orientation=_turn(first.orientation, last.orientation, car_share),
        steer_angle=_blend(first.steer_angle, last.steer_angle, car_share[:, 0]),
        wheel_angle=_blend(first.wheel_angle, last.wheel_angle, car_share),
        wheel_extension=_blend(first.wheel_extension, last.wheel_extension, car_share),
        prop_position=_blend(first.prop_position, last.prop_position, prop_share),
        prop_orientation=_turn(first.prop_orientation, last.prop_orientation, prop_share),
    )
    return after._replace(poses=poses)


def _find_shares(first: FloatArray, last: FloatArray, is_same: np.ndarray, share: float) -> FloatArray:
    """Return how far on its way each thing is, shape [n, 1]; what was put elsewhere is there."""
    has_driven = is_same & (np.linalg.norm(last - first, axis=1) < LEAP)
    return np.where(has_driven, share, 1.0)[:, None]


def _blend(first: FloatArray, last: FloatArray, share: FloatArray) -> FloatArray:
    return np.asarray(first + share * (last - first))


def _turn(first: FloatArray, last: FloatArray, share: FloatArray) -> FloatArray:
    """Return rotations on the shorter way from one to the other, unit (w, x, y, z)."""
    near = np.where((first * last).sum(axis=1, keepdims=True) < 0.0, -first, first)
    turned = _blend(near, last, share)
    return np.asarray(turned / np.linalg.norm(turned, axis=1, keepdims=True))
