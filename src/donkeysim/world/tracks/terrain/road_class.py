"""What places on the ground are: open ground, road, or a line painted on it; for pictures of classes.

Lines are as wide here as they are painted: what is more than half covered by paint is line.
"""

import numpy as np

from donkeysim.core.types import BoolArray, ByteArray
from donkeysim.world.scene import CLASS_GROUND, CLASS_LINE, CLASS_ROAD
from donkeysim.world.tracks.paths.path import CentreLine
from donkeysim.world.tracks.tables.road import Marking
from donkeysim.world.tracks.terrain.ground import RoadPlace
from donkeysim.world.tracks.track_file import TrackFile

CHEQUER = 0.0625
"""Side of a square of the start line, which has two rows of them [m]."""


def classify_road(track: TrackFile, line: CentreLine, place: RoadPlace) -> ByteArray:
    """Return CLASS_GROUND, CLASS_ROAD or CLASS_LINE of places near the path, shape [place_count]."""
    on_road = place.beside <= 0.0
    classes = np.where(on_road, np.uint8(CLASS_ROAD), np.uint8(CLASS_GROUND))
    painted = np.zeros(len(on_road), bool)
    for marking in track.road.markings:
        painted |= is_marked(marking, line, place, track.road.stretched)
    for at in track.start.painted:
        near = find_near(line, place, at)
        painted[near] |= np.abs(measure_ahead(line, place.take(near), at)) <= CHEQUER
    classes[painted & on_road] = CLASS_LINE
    return classes


def is_marked(marking: Marking, line: CentreLine, place: RoadPlace, stretched: bool = False) -> BoolArray:
    """Return whether places lie on a marking: its dashes begin with the path, half a gap before the first."""
    inside = np.abs(place.lateral - find_offset(marking, place, stretched)) <= 0.5 * marking.width
    if marking.dash > 0.0:
        period = marking.dash + marking.gap
        share = marking.dash / period
        if line.closed:
            period = line.length / max(1, round(line.length / period))
        inside &= np.abs(np.mod(place.along, period) - 0.5 * period) <= 0.5 * share * period
    return np.asarray(inside)


def find_offset(marking: Marking, place: RoadPlace, stretched: bool) -> np.ndarray:
    """Return how far to the left of the path the middle of a marking lies beside places [m], shape [place_count]."""
    if stretched:
        middle, half = middle_of(place)
        return np.asarray(middle + marking.offset * half)
    if marking.edge == "left":
        return np.asarray(place.left - marking.offset)
    if marking.edge == "right":
        return np.asarray(marking.offset - place.right)
    if marking.edge == "middle":
        return np.asarray(marking.offset + 0.5 * (place.left - place.right))
    return np.full(len(place.lateral), marking.offset)


def middle_of(place: RoadPlace) -> tuple[np.ndarray, np.ndarray]:
    """Return how far to the left of the path the road's middle lies, and half its width [m], shape [place_count]."""
    return 0.5 * (place.left - place.right), 0.5 * (place.left + place.right)


def measure_ahead(line: CentreLine, place: RoadPlace, at: float) -> np.ndarray:
    """Return how far along the path places lie beyond `at` [m], the shorter way round, shape [place_count]."""
    ahead = place.along - at
    if line.closed:
        ahead = np.mod(ahead + 0.5 * line.length, line.length) - 0.5 * line.length
    return np.asarray(ahead)


def find_near(line: CentreLine, place: RoadPlace, at: float) -> np.ndarray:
    """Return the indices of places whose distance along the path is within a metre of `at`, either way round."""
    away = np.abs(place.along - at % line.length)
    return np.nonzero((away < 1.0) | (away > line.length - 1.0))[0]
