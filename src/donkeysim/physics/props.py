"""Where movable things stand when a world begins."""

from __future__ import annotations

import numpy as np

from donkeysim.world.scene import Props
from donkeysim.world.state import State


def place_props(state: State, first: int, room: int, props: Props) -> None:
    """Put all props of a world where its scene has them, at rest; slots beyond the scene's props sleep at 0.

    Args:
        state: Written, the rows `first` to `first + room` of props.
        first: Row of the world's first prop.
        room: Slots for props in a world.
        props: Of the scene.
    """
    rows = slice(first, first + room)
    state.prop_position[rows] = 0.0
    state.prop_orientation[rows] = (1.0, 0.0, 0.0, 0.0)
    state.prop_velocity[rows] = 0.0
    state.prop_angular_velocity[rows] = 0.0
    state.prop_asleep[rows] = 1
    state.prop_still[rows] = 0
    used = slice(first, first + len(props.mass))
    state.prop_position[used] = props.position
    state.prop_orientation[used, 0] = np.cos(0.5 * props.yaw)
    state.prop_orientation[used, 3] = np.sin(0.5 * props.yaw)
