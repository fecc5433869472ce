"""Other cars on a driver's line: pass the ones that stand where there is room, stay behind the others."""

import math
from typing import NamedTuple

from donkeysim.core.types import FloatArray
from donkeysim.drivers.driving_line import LineTable
from donkeysim.world.ledger import Ledger

# 0.28 m aside (`CLEAR`) over 1.2 m is a course of 13°, easy for a steady car; the half second more is for a car that
# answers to its wheels after 0.3 s. A longer way would have cars leave their line for others that are about to start.
PASS, PASS_TIME = 1.2, 0.5
"""How far ahead a standing car is when passing it begins [m], and what is added per speed [s]."""

# The plan's bends are those of the line: beside it they may be tighter, so less than the 1.5 m/s of the steady style.
PASS_SPEED = 1.3
"""Greatest speed beside the line [m/s]."""

# At that speed a car moves on by less than its length while it is passed.
STANDING = 0.2
"""Speed below which a car stands [m/s]."""

# Cars are 0.2 m wide, 0.22 m over their wheels: 6 cm between them are aimed at. A car that is beside another already
# continues as long as the bodies do not touch, as stopping there would block the road.
CLEAR, NARROW, WIDE = 0.28, 0.2, 0.45
"""Distances of two cars' middles across the line [m]: aimed at when passing, least when beside a standing car, and
within which a moving car is ahead rather than beside."""

# Between middles: cars 0.28 m long keep 0.17 m at a standstill, and the way made until brakes answer besides.
GAP, GAP_TIME, BESIDE = 0.45, 0.3, 0.4
"""Distance along the line to keep from a moving car ahead [m], what is added per its speed [s], and the distance at
which a car is beside or just passed [m]."""

# An S of the tightest turns, with a radius of 0.7 m, moves a car aside by its width within 0.55 m, which is where the
# tails of cars 0.75 m apart begin.
WAIT = 0.75
"""Distance at which to wait behind a standing car [m]: enough to steer around it when there is room again."""

# A third of what the brakes of the default car give (2.6 m/s²), as much as a car in a bend has to spare.
SLOWING = 0.8
"""Deceleration that staying behind counts on [m/s²]."""

CREEP = 0.35
"""Speed at which to steer around a car that stands close ahead [m/s]."""

# Half a car and 2 cm.
EDGE = 0.12
"""Kept from the road's edges while passing [m]."""

# Half a car apart: finer steps would have a car change its mind while it passes. The widest half of a road that is
# drawn for races, 0.9 m, leaves 0.78 m.
SHIFTS = (0.0, 0.3, -0.3, 0.45, -0.45, 0.6, -0.6, 0.75, -0.75)
"""Distances from the line to try for passing, + = left [m]."""


class _Other(NamedTuple):
    """Another car, seen along the line.

    Attributes:
        gap: Ahead of the driver's car [m].
        lateral: Left of the line [m].
        speed: Along the line [m/s].
        place: Point of the line nearest to it.
    """

    gap: float
    lateral: float
    speed: float
    place: int


class Traffic:
    """Judges the other cars of a car's world."""

    def __init__(self, line: LineTable, points_per_node: int, room: tuple[FloatArray, FloatArray]) -> None:
        """Keep the line.

        Args:
            room: From each point of the line to the road's edges, left and right [m], shape [point_count] each.
        """
        self._line = line
        self._factor = points_per_node
        self._left: list[float] = room[0].tolist()
        self._right: list[float] = room[1].tolist()

    def judge(self, ledger: Ledger, car: int, index: int, offset: float) -> tuple[float, float]:
        """Return how far left of the line to drive [m], and a speed not to exceed [m/s].

        Args:
            car: Row of the driver's car.
            index: Point of the line where it is.
            offset: How far left of the line it is [m].
        """
        vx, vy, _ = ledger.velocity[car].tolist()
        own = math.hypot(vx, vy)
        others = self._find_others(ledger, car, index, own)
        if not others:
            return 0.0, math.inf
        near = PASS + PASS_TIME * own
        standing = [other for other in others if other.gap < near and other.speed < STANDING]
        shift = self._find_shift(standing, offset)
        limit = min(self._limit_speed(other, offset, shift is not None) for other in others)
        return shift or 0.0, min(limit, PASS_SPEED) if shift else limit

    def _limit_speed(self, other: _Other, offset: float, is_passing: bool) -> float:
        """Return the speed with which to stay behind a car, or to pass it [m/s]."""
        beside = abs(other.lateral - offset)
        if other.gap <= 0.0:
            return math.inf
        if other.speed >= STANDING:
            keep = GAP + GAP_TIME * other.speed
            safe = other.speed + math.sqrt(2.0 * SLOWING * max(0.0, other.gap - keep))
            return math.inf if beside > WIDE else safe if other.gap > keep else 0.7 * other.speed
        if beside >= (NARROW if other.gap < BESIDE else CLEAR - 0.02):
            return math.inf
        safe = math.sqrt(2.0 * SLOWING * max(0.0, other.gap - WAIT))
        return max(safe, CREEP) if is_passing and (other.gap > 0.3 or beside > 0.8 * NARROW) else safe

    def _find_shift(self, standing: list[_Other], offset: float) -> float | None:
        """Return the shift that is clear of these cars and on the road beside them, None when there is none.

        It is the one nearest to where the car is, so that it does not change its mind beside them.
        """
        if not standing:
            return 0.0
        places = [other.place for other in standing]
        right = min(EDGE - min(self._right[place] for place in places), offset)
        left = max(min(self._left[place] for place in places) - EDGE, offset)
        clear = [
            shift
            for shift in SHIFTS
            if (shift == 0.0 or right <= shift <= left)
            and all(abs(other.lateral - shift) >= CLEAR for other in standing)
        ]
        return min(clear, key=lambda shift: abs(shift - offset)) if clear else None

    def _find_others(self, ledger: Ledger, car: int, index: int, own: float) -> list[_Other]:
        """Return the cars beside and ahead, as far as it takes to stop; `own` is the driver's speed [m/s]."""
        per_world = ledger.cars_per_world
        if per_world == 1:
            return []
        first = car - car % per_world
        line = self._line
        reach = PASS + PASS_TIME * own + own * own / (2.0 * SLOWING)
        nodes = ledger.node_index[first : first + per_world].tolist()
        present = ledger.present[first : first + per_world].tolist()
        others = []
        for slot, node in enumerate(nodes):
            if not present[slot] or first + slot == car:
                continue
            rough = line.count_points(index, node * self._factor) * line.spacing
            if not -BESIDE - 0.5 < rough < reach + 0.5:
                continue
            x, y, _ = ledger.position[first + slot].tolist()
            place, lateral = line.locate(x, y, node * self._factor, 2 * self._factor)
            gap = line.count_points(index, place) * line.spacing
            vx, vy, _ = ledger.velocity[first + slot].tolist()
            speed = vx * math.cos(line.heading[place]) + vy * math.sin(line.heading[place])
            if -BESIDE < gap < reach and abs(lateral) < 1.2:
                others.append(_Other(gap, lateral, speed, place))
        return others
