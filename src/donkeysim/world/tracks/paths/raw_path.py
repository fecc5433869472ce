"""A path as a file says it, in the file's own units; what all kinds of files are read into."""

from dataclasses import dataclass

from donkeysim.core.types import FloatArray

POINTS_MOST = 100_000
"""Points of one path."""

FARTHEST = 1e9
"""Coordinates of a file stay below this; survey coordinates do."""


@dataclass(frozen=True)
class RawPath:
    """Points in driving order, right-handed with y to the left of x.

    Attributes:
        position: x, y in the file's units, shape [point_count, 2].
        width: Distances from the path to the left and right edge in the file's units, shape [point_count, 2]; None: the
            file says nothing about the road's width.
        is_drawn: The line between two points is meant to be straight; otherwise a smooth curve joins them.
        is_closed: Whether the file itself closes the path; None: it cannot say.
        height: Of the ground in the file's units, shape [point_count]; None: the file says nothing about it.
        bank: Of the ground at the road's left and right edge, shape [point_count, 2]; None: the road is not banked.
        node_height: Of the points themselves, where they are nodes, shape [point_count]; None: not said.
        is_recorded: Whether a small car drove it, so that it is of the right size.
    """

    position: FloatArray
    width: FloatArray | None = None
    is_drawn: bool = False
    is_closed: bool | None = None
    height: FloatArray | None = None
    bank: FloatArray | None = None
    node_height: FloatArray | None = None
    is_recorded: bool = False
