"""What happened to every car in one step of a batch: the arrays that rewards and ends judge."""

from dataclasses import dataclass

from donkeysim.core.types import BoolArray, FloatArray
from donkeysim.world.ledger import Ledger
from donkeysim.world.scene import Path


@dataclass(frozen=True)
class Step(Ledger):
    """One step of all cars: their rows of the ledger, and what only episodes know. Valid until the next step.

    An episode begins where its car was put, so `driven`, `furthest` and `time` count from there; `hit` is of this step.
    """

    previous_steer: FloatArray
    """Asked for in the step before."""
    previous_throttle: FloatArray
    """Asked for in the step before."""
    ended: BoolArray
    """Which episodes this step ends by one of the task's rules; all False while the rules are asked."""
    paths: tuple[Path, ...]
    """The path that each car is measured against."""
    props: tuple[FloatArray, ...]
    """Where the movable things in each car's world are [m, world frame], shape [prop_count, 3] each."""
    duration: float
    """Of a step [s]."""
