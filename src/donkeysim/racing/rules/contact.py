"""Who is to blame when two cars touch.

What counts is which side of each car the other one is on, and how both moved in the frame before: whoever drives with
the front into another's rear, or side, is to blame; who goes backwards is to blame for what is behind; who goes against
the path, for meeting head on; who moves over, for touching side by side. Where none of these tells them apart, nobody.
"""

import math
from typing import NamedTuple

from donkeysim.core.types import FloatArray
from donkeysim.world.ledger import Ledger

# Front and rear have 120° each, which leaves 60° for each side.
SECTOR = math.radians(60.0)
"""The other car is in front, or behind, within this angle of straight ahead, or straight behind [rad]."""

STANDING = 0.1
"""Slower than this a car stands [m/s]."""

# More than drivers wander in their lane; who is slower across may not have meant it.
MOVED_OVER = 0.15
"""Side by side, who moves towards the other by so much more is to blame [m/s]."""


class Verdict(NamedTuple):
    """Whose fault a contact is."""

    culprit: int
    """Row; -1: nobody's."""
    other: int
    """The other one's row."""
    kind: str
    """"rear_end", "backed_into" or "contact"."""


class _Side(NamedTuple):
    """A car as it meets another.

    Attributes:
        row: Its row.
        where: The other one is "front", "rear" or "side" of it.
        forward: Speed along its nose before [m/s].
        closing: Speed towards the other before [m/s].
        is_against: Whether it pointed against the path.
    """

    row: int
    where: str
    forward: float
    closing: float
    is_against: bool


def judge_contact(ledger: Ledger, velocity: FloatArray, one: int, other: int) -> Verdict:
    """Return who is to blame for a contact of two cars.

    Args:
        ledger: Read, in the frame in which they touch.
        velocity: Of all cars in the frame before [m/s, world frame], shape [car_count, 3].
    """
    first, second = _look(ledger, velocity, one, other), _look(ledger, velocity, other, one)
    for a, b in ((first, second), (second, first)):
        if (verdict := _blame(a, b)) is not None:
            return verdict
    if first.where == second.where == "side":
        for a, b in ((first, second), (second, first)):
            if a.closing - b.closing > MOVED_OVER:
                return Verdict(a.row, b.row, "contact")
    return Verdict(-1, one, "contact")


def _blame(a: _Side, b: _Side) -> Verdict | None:
    """Return that the first of two is to blame, if it is."""
    if a.where == "rear" and a.forward < -STANDING:
        return Verdict(a.row, b.row, "backed_into")
    if a.where != "front" or a.forward < STANDING:
        return None
    if b.where == "rear":
        return None if b.forward < -STANDING else Verdict(a.row, b.row, "rear_end")
    if b.where == "side":
        return Verdict(a.row, b.row, "contact")
    if a.is_against != b.is_against:
        return Verdict(a.row, b.row, "contact") if a.is_against else None
    return Verdict(a.row, b.row, "contact") if abs(b.forward) < STANDING else None


def _look(ledger: Ledger, velocity: FloatArray, row: int, other: int) -> _Side:
    x, y = (ledger.position[other, :2] - ledger.position[row, :2]).tolist()
    yaw = float(ledger.yaw[row])
    ahead, left = x * math.cos(yaw) + y * math.sin(yaw), y * math.cos(yaw) - x * math.sin(yaw)
    angle = abs(math.atan2(left, ahead))
    vx, vy = velocity[row, :2].tolist()
    return _Side(
        row,
        "front" if angle < SECTOR else "rear" if angle > math.pi - SECTOR else "side",
        vx * math.cos(yaw) + vy * math.sin(yaw),
        (vx * x + vy * y) / max(math.hypot(x, y), 1e-9),
        abs(float(ledger.heading_error[row])) > 0.5 * math.pi,
    )
