"""People of 1.75 m, in a few poses and clothes; beside a model track give them a scale of about 0.15."""

import math

import numpy as np

from art.palette import Palette
from art.shape import make_limb
from donkeysim.core.frames import Vector
from donkeysim.world.scene import Mesh
from donkeysim.world.tracks.mesh import make_case, make_loft, make_revolved, merge_meshes, place_mesh

SHIRTS = (
    (0.76, 0.20, 0.17), (0.18, 0.36, 0.64), (0.90, 0.76, 0.22), (0.20, 0.50, 0.34), (0.88, 0.45, 0.14),
    (0.85, 0.85, 0.83),
)  # fmt: skip
TROUSERS = ((0.20, 0.25, 0.38), (0.24, 0.24, 0.26), (0.52, 0.45, 0.34))
SKINS = ((1.0, 1.0, 1.0), (0.82, 0.74, 0.70), (0.60, 0.52, 0.48))
"""Of head and hands, multiplied with the face's picture."""

FACE_SKIN = (0.87, 0.68, 0.56)

HAND_POSES: tuple[tuple[Vector, Vector, Vector, Vector], ...] = (
    ((0.04, 0.29, 1.12), (0.08, 0.27, 0.86), (0.04, -0.29, 1.12), (0.08, -0.27, 0.86)),
    ((0.10, 0.28, 1.14), (0.34, 0.10, 1.10), (0.10, -0.28, 1.14), (0.34, -0.10, 1.10)),
    ((0.06, 0.36, 1.62), (0.10, 0.30, 1.92), (0.04, -0.29, 1.12), (0.08, -0.27, 0.86)),
    ((-0.10, 0.40, 1.18), (0.08, 0.20, 1.04), (-0.10, -0.40, 1.18), (0.08, -0.20, 1.04)),
)
"""Left elbow and hand, right elbow and hand: hanging; holding a transmitter; waving; hands on hips [m]."""

OVERLAP = 0.04
"""How far a bone begins before its joint, so that no gap shows [m]."""

POSE_COUNT = len(HAND_POSES)

STRIDES = (0.03, 0.0, 0.05, 0.02)
"""How far the left foot is before the right one in each pose [m]."""


def build_person(palette: Palette, variant: int) -> Mesh:
    """Return a person looking along +x; the pose changes fastest, then the clothes."""
    pose = variant % POSE_COUNT
    skin = SKINS[variant % len(SKINS)]
    shirt = palette.ensure_plain(SHIRTS[variant % len(SHIRTS)])
    legs = palette.ensure_plain(TROUSERS[(variant // 2) % len(TROUSERS)])
    shoe = palette.ensure_plain((0.14, 0.13, 0.13))
    hand = palette.ensure_plain((FACE_SKIN[0] * skin[0], FACE_SKIN[1] * skin[1], FACE_SKIN[2] * skin[2]))
    parts = [_make_torso(shirt), _make_head(palette, skin), *_make_arms(pose, shirt, hand)]
    for side in (1.0, -1.0):
        ahead = side * STRIDES[pose]
        limb = [(ahead, side * 0.13, 0.05), (0.02 + 0.5 * ahead, side * 0.11, 0.48), (0.0, side * 0.09, 0.92)]
        parts.append(make_limb(limb, (0.13, 0.16, 0.23), legs))
        parts.append(make_case((0.27, 0.11, 0.09), (ahead + 0.05, side * 0.13, 0.0), shoe))
    if pose == 1:
        box = make_case((0.10, 0.22, 0.14), (0.38, 0.0, 1.06), palette.ensure_plain((0.16, 0.16, 0.18)))
        parts.append(box)
    return merge_meshes(parts)


def _make_torso(material: int) -> Mesh:
    """Return trunk and shoulders: six-cornered sections, deeper across than along."""
    angle = (np.arange(6) + 0.5) * (math.pi / 3.0)
    sections = []
    for height, deep, wide in ((0.86, 0.13, 0.17), (1.10, 0.12, 0.17), (1.36, 0.15, 0.23), (1.49, 0.05, 0.08)):
        sections.append(np.stack((deep * np.cos(angle), wide * np.sin(angle), np.full(6, height)), axis=1))
    return make_loft(sections, material, capped=False)


def _make_head(palette: Palette, skin: Vector) -> Mesh:
    """Return neck and head, the face to the front, hair on top."""
    face = palette.ensure_picture("faces", tint=skin)
    hair = palette.ensure_plain((0.27, 0.18, 0.12))
    head = make_revolved(((0.055, 1.46), (0.100, 1.55), (0.096, 1.73)), 6, face, capped=False)
    cap = make_revolved(((0.092, 1.725), (0.0, 1.775)), 6, hair, capped=False)
    return merge_meshes([place_mesh(head, (0.01, 0.0, 0.0), math.pi), place_mesh(cap, (0.01, 0.0, 0.0), math.pi)])


def _make_arms(pose: int, shirt: int, hand: int) -> list[Mesh]:
    left_elbow, left_hand, right_elbow, right_hand = HAND_POSES[pose]
    parts = []
    for side, elbow, palm in ((1.0, left_elbow, left_hand), (-1.0, right_elbow, right_hand)):
        shoulder = (0.0, side * 0.22, 1.42)
        parts.append(_make_bone(shoulder, elbow, 0.12, 0.09, shirt))
        parts.append(_make_bone(elbow, palm, 0.085, 0.07, hand))
    return parts


def _make_bone(start: Vector, end: Vector, wide: float, narrow: float, material: int) -> Mesh:
    """Return a four-sided tapered rod, open at its ends."""
    first, last = np.array(start), np.array(end)
    axis = (last - first) / np.linalg.norm(last - first)
    first = first - OVERLAP * axis
    across = np.cross(axis, (1.0, 0.0, 0.0) if abs(axis[0]) < 0.8 else (0.0, 0.0, 1.0))
    across /= np.linalg.norm(across)
    other = np.cross(axis, across)
    corner = np.stack((across + other, other - across, -across - other, across - other)) * math.sqrt(0.5)
    return make_loft([first + 0.5 * wide * corner, last + 0.5 * narrow * corner], material, capped=False)
