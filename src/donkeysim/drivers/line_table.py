"""A planned line as plain lists, which scalar code reads faster than arrays."""

from __future__ import annotations

import math

from donkeysim.drivers.lap_time import SpeedPlan


class LineTable:
    """Lists of a plan's points, with ways to find them.

    Attributes:
        x: [m]
        y: [m]
        heading: [rad]
        curvature: + = to the left [1/m].
        speed: [m/s]
        acceleration: [m/s²]
        length: To the next point [m].
        closed: The last point is followed by point 0.
        count: Points.
        spacing: Mean of `length` [m].
    """

    def __init__(self, plan: SpeedPlan) -> None:
        self.x: list[float] = plan.point[:, 0].tolist()
        self.y: list[float] = plan.point[:, 1].tolist()
        self.heading: list[float] = plan.heading.tolist()
        self.curvature: list[float] = plan.curvature.tolist()
        self.speed: list[float] = plan.speed.tolist()
        self.acceleration: list[float] = plan.acceleration.tolist()
        self.length: list[float] = plan.length.tolist()
        self.closed = plan.closed
        self.count = len(self.x)
        self.spacing = float(plan.length.mean())

    def locate(self, x: float, y: float, index: int, window: int) -> tuple[int, float]:
        """Return the nearest point within `window` of `index`, and how far left of the line (x, y) is [m]."""
        best, nearest = math.inf, index
        for candidate in range(index - window, index + window + 1):
            row = candidate % self.count if self.closed else max(0, min(self.count - 1, candidate))
            dx, dy = x - self.x[row], y - self.y[row]
            square = dx * dx + dy * dy
            if square < best:
                best, nearest = square, row
        heading = self.heading[nearest]
        offset = (y - self.y[nearest]) * math.cos(heading) - (x - self.x[nearest]) * math.sin(heading)
        return nearest, offset

    def advance(self, index: int, distance: float) -> int:
        """Return the point about `distance` [m] after a point."""
        # Of paths recorded by hand some points all but coincide: they say nothing about how far the next ones are.
        step = index + round(distance / max(self.length[index], 0.5 * self.spacing))
        return step % self.count if self.closed else min(self.count - 1, step)

    def count_points(self, index: int, other: int) -> int:
        """Return how many points `other` is ahead of `index`, negative behind, the short way round."""
        ahead = other - index
        if self.closed:
            ahead = (ahead + self.count // 2) % self.count - self.count // 2
        return ahead
