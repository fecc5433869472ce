"""Cars put on paths."""

from __future__ import annotations

from donkeysim.sim.simulator import Simulator
from donkeysim.world.scene import Path


def find_along(path: Path, x: float, y: float) -> float:
    """Return the length of a path from its node 0 to the point nearest to (x, y) [m]."""
    return float(path.frame.locate(x, y).along)


def place_on_path(simulator: Simulator, car: int, along: float, offset: float, yaw: float) -> None:
    """Put a car somewhere on its scene's path, at rest, its brake released.

    Args:
        simulator: Whose car it is.
        car: Row of the car.
        along: Length of the path from node 0 [m], as for `PathFrame.at`.
        offset: From the path, + = left of it [m].
        yaw: Against the direction of the path, + = left [rad].
    """
    position, orientation = simulator.get_scene(car).path.frame.place(along, offset, yaw)
    simulator.place_car(car, tuple(position.tolist()), tuple(orientation.tolist()))
    simulator.control.brake[car] = 0.0
