"""The tables [[props]]: things that stand about."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from donkeysim.core.config import read_toml

PROPS_FILE = Path(__file__).parents[1] / "art" / "props.toml"
"""What each kind of prop is to physics and to those that place it."""

if TYPE_CHECKING:
    PropName = str
else:
    PropName = Literal[tuple(read_toml(PROPS_FILE))]

MASS_LEAST, MASS_MOST = 0.1, 1000.0
"""Of a prop that moves, where a car weighs 50 [kg]."""


@dataclass(frozen=True)
class PropTable:
    """Things that stand about: at places, in a row along the path, or scattered beside the road.

    Attributes:
        kind: What, one of `PROP_KINDS`; or
        model: A .glb file, as seen from the track's own (once read: from here), to which alone mass, hull and ghost
            belong.
        mass: On the original's scale, where a car weighs 50 [kg]; 0: it stands still.
        hull: What it is to physics: of what stands still a "box" (default) or a "cylinder"; of what moves a "cylinder"
            (default) or a "cone", which may also be blunt or wider above.
        hit: What clients hear that a car has hit; empty: what the kind is called, or the file's name.
        ghost: It has no body: cars and the lidar pass through it.
        fixed: Of a kind that moves: it stands still.
        places: x, y of each [m], or x, y, yaw [m, m, degree].
        every: Distance from one to the next along the path [m]; 0: no row.
        first: Where along the path the row begins [m].
        spans: Where along the path the row stands, each [from, to] [m]; empty: all along it.
        offset: Of the row from the path [m], + = left.
        scatter: How many to scatter; 0: none.
        at_most: Whether fewer will do where there is no room for all.
        near: Least distance of scattered ones from the road's edge [m].
        far: Greatest [m].
        spacing: Least distance of a scattered one from everything placed before it [m].
        yaw: Turned by this much more [degree]: from +x at a place, from the path's direction in a row.
        scale: Of the size of all.
        variant: Which of the kind's forms, from 0; -1: by turns.
        seed: Of the random numbers.
    """

    kind: PropName | None = None
    model: str = ""
    mass: float = 0.0
    hull: Literal["box", "cylinder", "cone", ""] = ""
    hit: str = ""
    ghost: bool = False
    fixed: bool = False
    places: tuple[tuple[float, ...], ...] = ()
    every: float = 0.0
    first: float = 0.0
    spans: tuple[tuple[float, float], ...] = ()
    offset: float = 0.0
    scatter: int = 0
    at_most: bool = False
    near: float = 0.4
    far: float = 3.0
    spacing: float = 0.5
    yaw: float = 0.0
    scale: float = 1.0
    variant: int = -1
    seed: int = 1

    @property
    def name(self) -> str:
        """What texts call it."""
        return self.kind or Path(self.model).name

    def __post_init__(self) -> None:
        self._check_model()
        if (bool(self.places), self.every > 0.0, self.scatter > 0).count(True) != 1:
            raise ValueError("a prop needs exactly one of places, every above 0, and scatter above 0.")
        if 0.0 < self.every < 0.02:
            raise ValueError(f"every is {self.every:g}; things of a row stand 0.02 m or more apart.")
        if any(len(place) not in (2, 3) for place in self.places):
            raise ValueError("a place of a prop is [x, y] or [x, y, yaw in degrees].")
        if self.scatter and not 0.0 <= self.near < self.far:
            raise ValueError(f"near = {self.near:g} and far = {self.far:g}; near is 0 or more and below far.")
        if self.seed < 0:
            raise ValueError(f"seed is {self.seed}; it is 0 or more.")
        if not 0 <= self.scatter <= 2000:
            raise ValueError(f"scatter is {self.scatter}; it takes up to 2000.")
        if not 0.01 <= self.scale <= 100.0:
            raise ValueError(f"scale is {self.scale:g}; it takes 0.01 to 100.")
        if self.spans and not self.every:
            raise ValueError("spans belong to a row; give every too.")

    def _check_model(self) -> None:
        if bool(self.kind) == bool(self.model):
            raise ValueError("a prop needs either kind or model, the name of a .glb file beside this one.")
        if self.kind and (self.mass or self.hull or self.ghost):
            raise ValueError("mass, hull and ghost are for a prop with a model; leave them out.")
        if self.model and self.fixed:
            raise ValueError("fixed is for a kind that moves; a model without mass stands still.")
        if self.ghost and (self.mass or self.hull or self.hit):
            raise ValueError("ghost = true leaves a prop without a body; leave mass, hull and hit out.")
        if self.mass and not MASS_LEAST <= self.mass <= MASS_MOST:
            allowed = f"0 (it stands still) or {MASS_LEAST:g} to {MASS_MOST:g}; a car weighs 50"
            raise ValueError(f"mass is {self.mass:g}; it takes {allowed}.")
        if self.hull == ("box" if self.mass else "cone"):
            others = "'cylinder' or 'cone'; only what stands still is a box" if self.mass else "'box' or 'cylinder'"
            raise ValueError(f"hull is {self.hull!r}; a prop {'with' if self.mass else 'without'} mass takes {others}.")
