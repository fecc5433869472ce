"""A camera's lens from views of a board, and how it is mounted from views of the board on the floor."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import least_squares
from scipy.spatial.transform import Rotation

from donkeysim.calibration.board import Board
from donkeysim.core.errors import DonkeySimError, import_extra
from donkeysim.core.types import BoolArray, FloatArray
from donkeysim.render.warp import bend_rays, unbend_rays
from donkeysim.world.lens import LensSpec

FEWEST_VIEWS = 4
ENOUGH_VIEWS = 10
LARGE_ERROR = 0.5
"""Reprojection errors above this, in a picture of 640 columns, are reported [pixel]."""

# Of errors that are noise alone, alike in both directions, one in 65,536 is that far off: the median of their lengths
# is 1.177 deviations, and exp(-0.5 * (4 * 1.177)²) = 2^-16.
STANDS_OUT = 4.0
"""Corners that are off by more than this multiple of the median are taken to be found wrongly."""

LEAST_WRONG = 0.75
"""Corners that are off by less, in a picture of 640 columns, are kept whatever the median is [pixel]."""

AT_ONCE = 0.5
"""Corners are left out at once with the worst one if they are off by so large a share of it at least."""

FEWEST_CORNERS = 12
"""Views with fewer corners that are right are left out."""

MOST_FITS = 5
"""So often at most, what is wrong for a fisheye is looked for."""

MANY_WRONG = 0.05
"""A larger share of outlying corners is reported as a doubt."""

FISHEYE_SHARE = 0.9
"""A fisheye must be so much nearer to what was seen to be preferred; near the axis, both models can show anything."""

# Boards that are parallel say as much as one alone, which leaves the lens open (Zhang, "A flexible new technique for
# camera calibration", 2000, section 4).
LEAST_TILT = math.radians(25.0)
"""Boards should lean so far towards each other at least, in some two views [rad]."""

MOST_APART, MOST_TURNED = 0.05, math.radians(1.5)
"""Of the pictures of the floor: a larger share of the height, or angle, by which they differ is reported [rad]."""

LOWEST, HIGHEST = 0.01, 3.0
"""Heights of cameras above the floor [m]."""

MOST_PITCH, MOST_ROLL = math.radians(80.0), math.radians(30.0)
"""Cameras look less far up or down, and are rolled less [rad]."""

# Distortion is greatest at the rim: where no board was seen, the model only continues what it found in the middle.
LEAST_COVER = 0.6
"""Share of the picture's 24 cells that corners should have been seen in."""


@dataclass(frozen=True)
class LensFit:
    """A lens that was found.

    Attributes:
        error: Root of the mean square distance of corners from where it shows them [pixel].
        warnings: What makes it doubtful, sentences.
        kept: Which corners it follows from, of each view; the others stood out, shape [view_count, corner_count].
    """

    lens: LensSpec
    error: float
    warnings: tuple[str, ...]
    kept: BoolArray


class _Poses(NamedTuple):
    """What a first fit found.

    Attributes:
        lens: A Brown-Conrady lens.
        poses: Rotation vectors and places of the board [m], shape [view_count, 6].
        apart: By how much corners are off [pixel], shape [view_count, corner_count].
        error: Root of the mean square of those that count [pixel].
    """

    lens: LensSpec
    poses: FloatArray
    apart: FloatArray
    error: float


@dataclass(frozen=True)
class Mount:
    """How a camera looks at the floor.

    Attributes:
        height: Of its optical centre above the floor [m].
        pitch: Of its axis, positive down [rad].
        roll: Positive when its left side is higher [rad].
        spread: Largest difference of height [m] and pitch [rad] from these, among the views.
        yaw: How far left of the car's own direction it looks [rad].
        error: Root of the mean square distance of the board's corners from where it shows them, in a picture of 640
            columns [pixel]; 0: no board.
    """

    height: float
    pitch: float
    roll: float
    spread: tuple[float, float] = (0.0, 0.0)
    yaw: float = 0.0
    error: float = 0.0


def solve_lens(views: Sequence[FloatArray], size: tuple[int, int], board: Board) -> LensFit:
    """Return the lens that shows a board's corners where they were seen, of the model that does so best.

    Args:
        views: Corners of the board, as `find_corners` returns them.
        size: Width and height of the pictures [pixel].

    Raises:
        DonkeySimError: There are too few views, or no lens shows them.
    """
    cv2 = import_extra("cv2", "calibration needs OpenCV")
    if len(views) < FEWEST_VIEWS:
        raise DonkeySimError(
            f"the board was found in {len(views)} views; it takes {FEWEST_VIEWS}, better {ENOUGH_VIEWS} or more."
        )
    seen = np.array(views)
    kept, best = _solve_without_wrong(cv2, seen, size, board)
    used = kept.any(axis=1)
    best = best._replace(poses=best.poses[used], apart=best.apart[used])
    kept_too, fisheye = _solve_fisheye(best, seen[used], kept[used], board)
    if _score(fisheye.apart, size) < FISHEYE_SHARE * _score(best.apart, size):
        best, kept[used] = fisheye, kept_too
    doubts = _list_doubts(seen[used], size, best.poses[:, :3], best.error)
    if kept.mean() < 1.0 - MANY_WRONG:
        doubts.append(f"{1.0 - kept.mean():.0%} of the corners stand out; is the board flat, and its corners counted?")
    return LensFit(best.lens, best.error, tuple(doubts), kept)


def _solve_without_wrong(cv2: Any, seen: FloatArray, size: tuple[int, int], board: Board) -> tuple[BoolArray, _Poses]:
    """Return which corners are right and the Brown-Conrady lens that follows from them."""
    kept = np.ones(seen.shape[:2], bool)
    while True:
        found = _solve_plumb_bob(cv2, seen, kept, size, board)
        # Only the farthest off, as what is wrong in a view moves the whole board in it, and corners that are right.
        off = np.where(kept, found.apart, 0.0)
        wrong = off > max(_find_most(found.apart[kept], size), AT_ONCE * off.max())
        if not wrong.any():
            return kept, found
        kept &= ~wrong
        kept[kept.sum(axis=1) < FEWEST_CORNERS] = False
        if kept.any(axis=1).sum() < FEWEST_VIEWS:
            raise DonkeySimError("no lens shows the board where it was seen; are its corners counted right?")


def _solve_fisheye(first: _Poses, seen: FloatArray, kept: BoolArray, board: Board) -> tuple[BoolArray, _Poses]:
    """Return which corners are right if the lens is a fisheye, and that.

    A Brown-Conrady lens may have left out corners that only a fisheye shows where they are.
    """
    found = first
    for _ in range(MOST_FITS):
        found = _solve_equidistant(found, seen, kept, board)
        right = found.apart <= _find_most(found.apart[kept], first.lens.size)
        if (right == kept).all():
            break
        kept = right
    return kept, found


def _score(apart: FloatArray, size: tuple[int, int]) -> float:
    """Return how far off all corners are; what was found wrongly counts, but not by how much it is wrong."""
    return float(np.sqrt(np.mean(np.minimum(apart, LEAST_WRONG * size[0] / 640) ** 2)))


def _solve_plumb_bob(cv2: Any, seen: FloatArray, kept: BoolArray, size: tuple[int, int], board: Board) -> _Poses:
    """Return the Brown-Conrady lens that follows from the corners that are kept."""
    corners, used = board.list_corners().astype(np.float32), np.flatnonzero(kept.any(axis=1))
    points = [corners[kept[view]].reshape(-1, 1, 3) for view in used]
    places = [seen[view, kept[view]].astype(np.float32).reshape(-1, 1, 2) for view in used]
    try:
        found = cv2.calibrateCamera(points, places, size, None, None, flags=cv2.CALIB_FIX_K3)
    except cv2.error as failure:
        raise DonkeySimError("no lens shows the board where it was seen; are its corners counted right?") from failure
    error, matrix, bend, turns, moves = found
    if not np.isfinite(matrix).all() or not np.isfinite([*turns, *moves]).all():
        raise DonkeySimError("no lens shows the board where it was seen; are its corners counted right?")
    apart, poses = np.full(kept.shape, np.inf), np.zeros((len(seen), 6))
    for view, turned, moved in zip(used, turns, moves, strict=True):
        shown = cv2.projectPoints(corners, turned, moved, matrix, bend)[0].reshape(-1, 2)
        apart[view] = np.linalg.norm(shown - seen[view], axis=1)
        poses[view] = *np.ravel(turned), *np.ravel(moved)
    return _Poses(_make_lens("plumb_bob", size, matrix, np.ravel(bend)[:5]), poses, apart, error)


def _find_most(apart: FloatArray, size: tuple[int, int]) -> float:
    """Return by how much a corner may be off that is right."""
    return max(STANDS_OUT * float(np.median(apart)), LEAST_WRONG * size[0] / 640)


def solve_mount(lens: LensSpec, views: Sequence[FloatArray], board: Board, kept: BoolArray | None = None) -> Mount:
    """Return how a camera looks at a board that lies on the floor, the mean of all views.

    Args:
        views: Corners of the board.
        kept: Which corners count, shape [view_count, corner_count]; None: all.

    Raises:
        DonkeySimError: A board is seen from below or cannot be placed.
    """
    cv2 = import_extra("cv2", "calibration needs OpenCV")
    seen, found, squares = np.array(views), [], []
    kept = np.ones(seen.shape[:2], bool) if kept is None else kept
    if not kept.any():
        raise DonkeySimError("the board on the floor is not where any lens shows it; take other pictures of it.")
    for view, right in zip(seen[kept.any(axis=1)], kept[kept.any(axis=1)], strict=True):
        (cx, cy), (fx, fy) = lens.centre, lens.focal
        rays = np.stack(unbend_rays(lens, (view[right, 0] - cx) / fx, (view[right, 1] - cy) / fy), axis=-1)
        if not np.isfinite(rays).all():
            raise DonkeySimError(
                "the board on the floor reaches where the lens was not seen to; move it to the middle."
            )
        done, turned, place = cv2.solvePnP(board.list_corners()[right], rays, np.eye(3), None)
        if not done:
            raise DonkeySimError("the board on the floor cannot be placed; take another picture of it.")
        normal = cv2.Rodrigues(turned)[0][:, 2]
        up = normal if normal @ place.ravel() < 0.0 else -normal
        found.append((abs(float(normal @ place.ravel())), math.asin(-up[2]), math.atan2(-up[0], -up[1])))
        shown = cv2.projectPoints(board.list_corners()[right], turned, place, np.eye(3), None)[0].reshape(-1, 2)
        squares.append(((shown - rays) ** 2).sum(axis=1).mean())
    height, pitch, roll = map(float, np.mean(found, axis=0))
    apart = np.abs(np.array(found)[:, :2] - (height, pitch)).max(axis=0)
    error = lens.focal[0] * 640 / lens.size[0] * math.sqrt(np.mean(squares))
    return Mount(height, pitch, roll, (float(apart[0]), float(apart[1])), error=error)


def list_mount_doubts(mount: Mount) -> list[str]:
    """Return what makes it doubtful that a camera is mounted so, sentences."""
    doubts, (height, pitch) = [], mount.spread
    if mount.error > LARGE_ERROR:
        doubts.append(
            f"the board's corners are {mount.error:.2f} pixels (of 640) off where this lens shows them; "
            "did another one take the pictures, or is the board bent?"
        )
    if height > MOST_APART * mount.height or pitch > MOST_TURNED:
        doubts.append(
            f"the pictures of the floor differ by up to {height * 100:.1f} cm and {math.degrees(pitch):.1f}° from "
            "their mean; was the car moved up or down between them, or did another lens take them?"
        )
    return doubts


def refuse_impossible(mount: Mount) -> None:
    """Refuse a mounting that no car's camera has.

    Raises:
        DonkeySimError: It is none.
    """
    angles = abs(mount.pitch) <= MOST_PITCH and abs(mount.roll) <= MOST_ROLL
    if not (LOWEST <= mount.height <= HIGHEST and angles):
        raise DonkeySimError(
            f"the camera would be {mount.height * 100:.1f} cm above the floor, look {math.degrees(mount.pitch):.1f}° "
            f"down and be rolled by {math.degrees(mount.roll):.1f}°, which no car's camera is; check the lens, which "
            "has to be the one that took the pictures, and what was measured: squares, or the lane's width."
        )


def _solve_equidistant(first: _Poses, seen: FloatArray, kept: BoolArray, board: Board) -> _Poses:
    """Return the best fisheye; `first`: where to begin."""
    corners, lens = board.list_corners(), first.lens

    def bend(values: FloatArray) -> FloatArray:
        """Return by how much the lens of these values shows corners elsewhere, shape [view_count, corner_count, 2]."""
        fx, fy, cx, cy, *terms = values[:8]
        candidate = LensSpec("equidistant", lens.size, (fx, fy), lens.centre, tuple(terms))
        pose = values[8:].reshape(-1, 6)
        points = np.einsum("vij,cj->vci", Rotation.from_rotvec(pose[:, :3]).as_matrix(), corners) + pose[:, None, 3:]
        x, y = bend_rays(candidate, points[..., 0] / points[..., 2], points[..., 1] / points[..., 2])
        apart: FloatArray = np.stack([fx * x + cx, fy * y + cy], axis=-1) - seen
        return apart

    terms = lens.coefficients if lens.model == "equidistant" else (0.0,) * 4
    start = np.concatenate([lens.focal, lens.centre, terms, first.poses.ravel()])
    with np.errstate(divide="ignore", invalid="ignore"):
        begins = bool(np.isfinite(bend(start)[kept]).all())
    if not begins:  # a board behind the camera, or at it: no fisheye
        return first._replace(apart=np.full_like(first.apart, np.inf))
    scale = np.maximum(np.abs(start), 0.1)
    found = least_squares(
        lambda values: bend(values)[kept].ravel(), start, method="lm", x_scale=scale, max_nfev=100 * len(start)
    )
    fx, fy, cx, cy, *terms = found.x[:8]
    fisheye = _make_lens("equidistant", lens.size, np.array([[fx, 0.0, cx], [0.0, fy, cy]]), np.array(terms))
    apart = np.linalg.norm(bend(found.x), axis=-1)
    return _Poses(fisheye, found.x[8:].reshape(-1, 6), apart, math.sqrt(2.0 * found.cost / kept.sum()))


def _make_lens(model: str, size: tuple[int, int], matrix: FloatArray, bend: FloatArray) -> LensSpec:
    centre = (float(np.clip(matrix[0, 2], 0, size[0])), float(np.clip(matrix[1, 2], 0, size[1])))
    focal = (float(matrix[0, 0]), float(matrix[1, 1]))
    return LensSpec(model, size, focal, centre, tuple(float(term) for term in np.ravel(bend)))


def _list_doubts(views: FloatArray, size: tuple[int, int], turns: FloatArray, error: float) -> list[str]:
    """Return what makes a fit doubtful."""
    import cv2

    doubts = []
    if len(views) < ENOUGH_VIEWS:
        doubts.append(f"the board was found in {len(views)} views only; take {ENOUGH_VIEWS} or more.")
    normals = np.array([cv2.Rodrigues(turned)[0][:, 2] for turned in turns])
    tilt = float(np.arccos(np.clip(np.abs(normals @ normals.T), 0.0, 1.0)).max())
    if tilt < LEAST_TILT:
        doubts.append(
            f"all views are alike: the board leans by {math.degrees(tilt):.0f}° at most; lean it by 30° or more."
        )
    cells = {(int(6 * x / size[0]), int(4 * y / size[1])) for view in views for x, y in view}
    if len(cells) < LEAST_COVER * 24:
        doubts.append(f"the board was seen in {len(cells) / 24:.0%} of the picture only; show it in the corners too.")
    if error > LARGE_ERROR * size[0] / 640:
        doubts.append(f"corners are {error:.2f} pixels off on average; is the board flat, and are the pictures sharp?")
    return doubts
