"""The tables [[tunnels]] and [[arches]]: what the road leads through."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from donkeysim.world.tracks.tables.checks import Colour, check_colours


@dataclass(frozen=True)
class TunnelTable:
    """A tunnel over stretches of the road, lamps inside.

    Attributes:
        spans: Where along the path, each [from, to] [m]; a span may run over the beginning of a closed path.
        gap: From the road's edges to its walls [m].
        height: Of its inside [m].
        thickness: Of its walls and roof [m].
        kind: What it is seen as from outside: concrete, or rock above it.
    """

    spans: tuple[tuple[float, float], ...]
    gap: float = 0.1
    height: float = 0.75
    thickness: float = 0.12
    kind: Literal["concrete", "rock"] = "concrete"

    def __post_init__(self) -> None:
        if not self.spans or any(begin == end for begin, end in self.spans):
            raise ValueError("a tunnel needs spans, each from one place along the path to another: [[from, to]].")
        if self.gap < 0.0 or self.thickness <= 0.0 or not 0.4 <= self.height <= 20.0:
            raise ValueError("a tunnel has a gap of 0 or more, a thickness above 0 and a height of 0.4 to 20.")


@dataclass(frozen=True)
class ArchTable:
    """Something across the road to drive under.

    Attributes:
        at: Where along the path [m].
        kind: A hoop of inflated tube, or a bridge with a text.
        gap: From the road's edges to its feet [m].
        height: Of what is above the road [m].
        text: On a bridge.
        colour: Of a bridge's boards, sRGB 0 to 255.
    """

    at: tuple[float, ...]
    kind: Literal["hoop", "bridge"] = "hoop"
    gap: float = 0.08
    height: float = 0.65
    text: str = ""
    colour: Colour = (214, 176, 40)

    def __post_init__(self) -> None:
        if not self.at or self.gap < 0.0 or not 0.4 <= self.height <= 20.0:
            raise ValueError("an arch needs places 'at' along the path, a gap of 0 or more and a height of 0.4 to 20.")
        check_colours(self.colour)
