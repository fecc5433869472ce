"""The ledger of a batch: what may be read of its cars, arrays of the device in a form that kernels take."""

from __future__ import annotations

from typing import Any, NamedTuple

from donkeysim.physics.kernels.ledger import Derived
from donkeysim.world.state import Control, State

_OTHER_NAMES = {"offset": "cte"}
"""What `State` calls them."""


class LedgerRows(NamedTuple):
    """Rows of all cars; their fields mean what `world.ledger.Ledger` says."""

    position: Any
    forward_speed: Any
    left_speed: Any
    yaw_rate: Any
    upright: Any
    steer: Any
    throttle: Any
    offset: Any
    active_offset: Any
    heading_error: Any
    along: Any
    path_length: Any
    width_left: Any
    width_right: Any
    ahead: Any
    gain: Any
    driven: Any
    furthest: Any
    progress: Any
    on_road: Any
    off_road_time: Any
    still_time: Any
    wrong_way_time: Any
    laps: Any
    lap_time: Any
    time: Any
    hit: Any


def share_ledger(state: State, control: Control, derived: Derived) -> LedgerRows:
    """Return a ledger of these arrays."""
    known = state._asdict() | control._asdict() | derived._asdict()
    return LedgerRows(*(known[_OTHER_NAMES.get(name, name)] for name in LedgerRows._fields))
