"""From a tub to a place: everything that `donkey place` does, one step after the other.

The last millimetres are found here: every picture is laid on the floor that all of them show together.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from donkeysim.calibration.motion import FloorCamera, find_own_body, scale_lens
from donkeysim.calibration.wizard import FASTEST, SLOWEST, read_records
from donkeysim.core.errors import DonkeySimError, TubError, format_count
from donkeysim.core.rotation import between, compose, make_matrix
from donkeysim.core.types import BoolArray, ByteArray, FloatArray, LongArray
from donkeysim.mapping.car import DriveCommands, Steering, fit_steering
from donkeysim.mapping.floor import PaintedFloor, paint_floor, paint_ring
from donkeysim.mapping.loops import close_loops
from donkeysim.mapping.odometry import BLUR, REACH, FloorPictures, Track, Turning, follow
from donkeysim.mapping.panels import Panel, stand_panels
from donkeysim.mapping.pose_graph import Edge, bound, solve, take_root
from donkeysim.mapping.raster import FEWEST_CELLS, Canvas, Raster, align
from donkeysim.mapping.road import Road, find_road
from donkeysim.mapping.self_calibration import SURE, find_camera, find_turns, keep_from_slipping
from donkeysim.mapping.turns import Returns
from donkeysim.tub.reader import read_command

FEWEST = 200
"""Pictures of ten seconds; a lap takes longer."""

USUAL_RATE = 20.0
"""Records in a second where their timestamps do not say."""

LEAST_FOLLOWED = 0.6
"""Share of the pictures that must be recognised."""

# Tracks of simulated drives slide by 0.006 to 0.009 where the floor has a grain, by 0.04 on a bare mat with lines.
MOST_SLIDE = 0.02
"""By how much a track may go aside that no turn explains, from picture to picture, in heights of the camera."""

LEAST_WAY = 15.0
"""Cars that drove less far stood still, in heights of the camera."""

LEAST_CONTRAST = 1.5
"""Pictures that differ by less from each other, on average, show nothing [grey level]."""

MOST_OWN = 0.4
"""No car hides more of its pictures; one that stands still seems to."""

FARTHEST = 6.0
"""Floor so far away, in heights of the camera, is compared with the place; beyond, lens and haze blur it."""

Report = Callable[[str, float], None]
"""Called with what is being done and the share of it that is."""

BLURS = (9, 5, 5)
"""Of each pass, the side of the filter [cell]: the first reaches farther."""

LEAST_CORRELATION = 0.4
"""Pictures that are less like the floor of all stay where their neighbours have them."""

MOST_LAID = 12
"""Pictures taken within a height of the camera: more show the floor there no better."""

_STEP = np.array([0.011, 0.008, 0.004])  # How well motions from one picture to the next are known, in heights and [rad]
_FLOOR = np.array([0.055, 0.055, 0.01])  # And how well a place on the common floor is, at best


@dataclass(frozen=True)
class PlaceSurvey:
    """What was found out from a drive.

    Attributes:
        pictures: Those that were placed.
        camera: That took them, of their size; in the place's scale.
        is_found: Whether the camera was found from the drive; its height is a guess then, unless a width gives it.
        own: Where they show the car.
        poses: Of the middle between the axles, or of where the car does not slip aside, a little behind, if what is
            above the floor was needed, shape [picture_count, 3].
        correlation: How much each was like what was seen before; 0: not recognised.
        loop_misses: For each stretch that was recognised again, how far from where it was seen before it is placed [m],
            shape [count].
        floor: What they show.
        road: What was driven on.
        ring: What is seen above the floor, see `paint_ring`.
        panels: What stands beside the road.
        driven: What the driver did; None: the tub does not say.
        steering: How the car answered to it; None: that is not known, or it did not.
    """

    pictures: Sequence[ByteArray]
    camera: FloorCamera
    is_found: bool
    own: BoolArray
    poses: FloatArray
    correlation: FloatArray
    loop_misses: FloatArray
    floor: PaintedFloor
    road: Road
    ring: ByteArray
    panels: Sequence[Panel]
    driven: DriveCommands | None
    steering: Steering | None

    @property
    def followed(self) -> float:
        """Return the share of the pictures that were recognised."""
        return float((self.correlation > 0.0).mean())


def survey(tub: Path, camera: FloorCamera | None, width: float | None, report: Report) -> PlaceSurvey:
    """Return what a drive shows of a place.

    Ctrl-C makes the place of what has been found until then: of the pictures that have been followed, or without what
    would make it better.

    Args:
        tub: The drive: a lap and a half or more.
        camera: That took it, of any size; None: it is found from the drive, see `self_calibration`.
        width: Of the road [m], which gives the scale; None: the camera's height does.
        report: Called now and then.

    Raises:
        DonkeySimError: No place can be made of it; the text says why.
    """
    pictures, driven = _read_drive(tub)
    own = find_own_body(pictures)
    _refuse_still(pictures, own, tub)
    is_found = camera is None
    if camera is None:
        camera, turns, returns = find_camera(pictures, lambda share: report("finding the camera", share))
        placed = _place(pictures, camera, own, tub, report, turns, returns)
    else:
        camera = replace(camera, lens=scale_lens(camera.lens, (pictures[0].shape[1], pictures[0].shape[0])))
        try:
            placed = _place(pictures, camera, own, tub, report)
        except _LostError as lost:
            camera, placed = _place_by_view(pictures, camera, own, tub, report, lost)
    track, floor_pictures, poses, misses = placed
    pictures, chosen = pictures[: len(poses)], choose_pictures(poses, camera.mount.height)
    poses = refine(floor_pictures, poses, chosen, lambda share: report("refining", share))
    floor = paint_floor(pictures, poses, chosen, camera, own, lambda share: report("painting the floor", share))
    road = find_road(poses, floor, camera.mount.height)
    if width is not None:
        camera, poses, floor, road = _scale(
            width / float(np.median(road.left + road.right)), camera, poses, floor, road
        )
    ring = paint_ring(pictures, poses[:, 2], camera, own, floor)
    panels = stand_panels(pictures, poses, camera, own, floor, road, lambda share: report("adding panels", share))
    steering = None if driven is None else fit_steering(poses, driven.steering)
    seen = (track.correlation, misses * camera.mount.height, floor, road, ring, panels, driven, steering)
    return PlaceSurvey(pictures, camera, is_found, own, poses, *seen)


def _read_drive(tub: Path) -> tuple[list[ByteArray], DriveCommands | None]:
    """Return pictures, and what the driver did at each where the tub says it."""
    records = read_records(tub)
    if len(records) < FEWEST:
        raise DonkeySimError(
            f"the tub {tub} has {format_count(len(records), 'record')}; a place takes {FEWEST} or more: "
            "one and a half laps at least."
        )
    pictures = [record.load_image() for record in records]
    try:
        steering, throttle = np.array([read_command(record) for record in records]).T
    except TubError:
        return pictures, None
    step = float(np.median(np.diff([record.timestamp_ms for record in records]))) / 1000.0
    rate = 1.0 / step if SLOWEST <= 1.0 / max(step, 1e-9) <= FASTEST else USUAL_RATE
    return pictures, DriveCommands(steering, throttle, rate)


class _LostError(DonkeySimError):
    """The floor does not show where the car was; what is above it may."""


class _Placed(NamedTuple):
    """The drive as it was followed, on what, where its pictures were taken, and by how far its loops miss [height]."""

    track: Track
    floor: FloorPictures
    poses: FloatArray
    loop_misses: FloatArray


def _place(
    pictures: Sequence[ByteArray],
    camera: FloorCamera,
    own: BoolArray,
    tub: Path,
    report: Report,
    turns: FloatArray | None = None,
    returns: Returns | None = None,
) -> _Placed:
    """Return where pictures were taken, by the floor, and by turns and returning views where they are known."""
    floor = FloorPictures(pictures, camera, own)
    if floor.view.seen.sum() < FEWEST_CELLS:
        raise DonkeySimError(
            "with this lens and mounting, the pictures show too little of the floor; does the camera look straight "
            "ahead, or is it another one?"
        )
    turning = None if turns is None else Turning(turns, SURE)
    track = follow(floor, lambda done: report("following the floor", done / len(pictures)), turning)
    _refuse_lost(track, camera, tub)
    poses, misses = close_loops(track, camera.mount.height, lambda share: report("closing loops", share), returns)
    if not len(misses):
        error = DonkeySimError if len(poses) < len(pictures) else _LostError
        raise error(
            f"the drive in {tub} was followed, but nowhere does it show the same floor again: drive one and a half "
            "laps or more, in one direction and in steady light; or the camera's lens and mounting are not those given."
        )
    return _Placed(track, floor, poses, misses / camera.mount.height)


def _place_by_view(
    pictures: Sequence[ByteArray], camera: FloorCamera, own: BoolArray, tub: Path, report: Report, lost: _LostError
) -> tuple[FloorCamera, _Placed]:
    """Return the camera as it is used, and where pictures were taken by the floor and what is above it.

    Raises:
        _LostError: That does not help either; it is `lost`.
    """
    camera = keep_from_slipping(camera)
    try:
        turns, returns = find_turns(pictures, camera, lambda share: report("finding the camera", share))
        return camera, _place(pictures, camera, own, tub, report, turns, returns)
    except DonkeySimError:
        raise lost from None


def _refuse_still(pictures: Sequence[ByteArray], own: BoolArray, tub: Path) -> None:
    some = np.stack(list(pictures[:: max(1, len(pictures) // 50)])).astype(np.float32)
    if some.std(axis=0).mean() < LEAST_CONTRAST or own.mean() > MOST_OWN:
        raise DonkeySimError(
            f"the pictures in {tub} hardly differ from each other: the car stood still, or something covers the lens."
        )


def _refuse_lost(track: Track, camera: FloorCamera, tub: Path) -> None:
    """Refuse a drive that was not followed, or that leads nowhere."""
    followed = float((track.correlation > 0.0).mean())
    if followed < LEAST_FOLLOWED:
        raise _LostError(
            f"the floor was recognised in {followed:.0%} of the pictures in {tub} only, {LEAST_FOLLOWED:.0%} are "
            "needed: they are too dark or too blurred, the floor shows nothing, or another camera took them."
        )
    way = float(np.hypot(*np.diff(track.poses[:, :2], axis=0).T).sum())
    if way < LEAST_WAY * camera.mount.height:
        raise DonkeySimError(f"the car in {tub} drove {way:.1f} m in all; a place takes one and a half laps.")
    if _find_slide(track, camera) > MOST_SLIDE:
        raise _LostError(
            f"by the pictures in {tub} the car would slide aside as no car does: the floor shows too little besides "
            "lines along the road, or the camera's lens and mounting are not those given."
        )


def _find_slide(track: Track, camera: FloorCamera) -> float:
    """Return by how much a track goes aside that no turn explains, from picture to picture [height of the camera]."""
    steps = between(track.poses[:-1], track.poses[1:])
    lever = float(steps[:, 1] @ steps[:, 2]) / max(1e-9, float(steps[:, 2] @ steps[:, 2]))
    return float(np.std(steps[:, 1] - lever * steps[:, 2])) / camera.mount.height


def _scale(
    share: float, camera: FloorCamera, poses: FloatArray, floor: PaintedFloor, road: Road
) -> tuple[FloorCamera, FloatArray, PaintedFloor, Road]:
    """Return everything that has a length, `share` times as large."""
    mount = replace(camera.mount, height=camera.mount.height * share)
    camera = replace(camera, mount=mount, ahead=camera.ahead * share)
    axes = np.diag([share, share, 1.0]) @ floor.axes
    road = road._replace(line=road.line * share, left=road.left * share, right=road.right * share)
    return camera, poses * (share, share, 1.0), floor._replace(axes=axes), road


def choose_pictures(poses: FloatArray, height: float) -> LongArray:
    """Return the numbers of the pictures that are laid on the floor: at most `MOST_LAID` of a place, of all laps alike.

    Args:
        poses: Where all were taken, shape [picture_count, 3].
        height: Of the camera [m].
    """
    _, place, count = np.unique(
        np.floor(poses[:, :2] / height).astype(int), axis=0, return_inverse=True, return_counts=True
    )
    place = place.ravel()
    order = np.argsort(place, kind="stable")
    turn = np.arange(len(poses)) - np.repeat(np.cumsum(count) - count, count)
    there = np.repeat(count, count)
    return np.sort(order[turn * MOST_LAID // there != (turn - 1) * MOST_LAID // there])


def refine(
    pictures: FloorPictures, poses: FloatArray, chosen: LongArray, report: Callable[[float], None]
) -> FloatArray:
    """Return better poses of the pictures that have one, the first `len(poses)`; on Ctrl-C those of the last pass.

    Args:
        chosen: Numbers of those that are laid on the floor; the others move with them.
        report: Called with the share that is done.
    """
    scale = np.array([pictures.view.camera.mount.height] * 2 + [1.0])
    for turn, blur in enumerate(BLURS):
        floor = _paint(pictures, poses, chosen)
        steps = between(poses[:-1], poses[1:])
        root = np.diag(1.0 / (_STEP * scale))
        edges = [Edge(number + 1, number + 2, step, root, is_loop=False) for number, step in enumerate(steps)]
        try:
            for number in chosen.tolist():
                edge = _anchor(pictures, floor, number, poses[number], blur, _FLOOR * scale)
                edges += [] if edge is None else [edge]
                report((turn + (number + 1) / len(poses)) / len(BLURS))
        except KeyboardInterrupt:
            break
        poses = solve(np.vstack([np.zeros(3), poses]), edges)[0][1:]
    return poses


def _paint(pictures: FloorPictures, poses: FloatArray, chosen: LongArray) -> Canvas:
    view = pictures.view
    reach = (REACH.far + 2.0) * view.camera.mount.height
    floor = Canvas(view.cell, poses[:, :2].min(axis=0) - reach, poses[:, :2].max(axis=0) + reach)
    for number in chosen.tolist():
        floor.paint(view, poses[number], pictures.take(number), view.weight)
    return floor


def _anchor(
    pictures: FloorPictures, floor: Canvas, number: int, pose: FloatArray, blur: int, least: FloatArray
) -> Edge | None:
    """Return an edge from the floor's frame, pose 0 of the graph, to where a picture lies on it; None: nowhere."""
    view = pictures.view
    value, known = floor.look(view, pose)
    raster = Raster(pictures.take(number, BLUR), view.seen, view.axes)
    found = align(raster, Raster(value, known, view.axes), np.zeros(3), blur)
    height = view.camera.mount.height
    if found is None or found.correlation < LEAST_CORRELATION or np.abs(found.motion[:2]).max() > 0.8 * height:
        return None
    turned = make_matrix(np.array([0.0, 0.0, pose[2]]))
    root = take_root(bound(found.information, least.tolist())) @ turned.T
    return Edge(0, number + 1, compose(pose, found.motion), root, is_loop=True)
