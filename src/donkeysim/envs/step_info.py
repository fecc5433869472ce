"""What `info` has of every car of our own environments, written on the device that the cars are on."""

from typing import Any

import numpy as np

from donkeysim.envs.kernels.numbers import CarInfo, write_info
from donkeysim.sim.simulator import Simulator

_TYPES: dict[str, Any] = {"on_road": bool, "hit": bool, "laps": np.int32}
"""Of the columns that are not float64."""

CAR_BLOCK = 256
"""Cars that a thread of this machine takes at once."""


class StepInfo:
    """Writes metres, m/s, seconds, + = left; implements `vector_env.InfoWriter`.

    Attributes:
        now: Of the last step, arrays of the device by name.
        last: Of the last steps of episodes, likewise.
    """

    def __init__(self, simulator: Simulator) -> None:
        self._simulator = simulator
        self._tables = self._make_table(), self._make_table()
        self.now, self.last = (table._asdict() for table in self._tables)

    def _make_table(self) -> CarInfo:
        count, zeros = self._simulator.car_count, self._simulator.device.zeros
        shapes = {"position": (count, 3)}
        return CarInfo(*(zeros(shapes.get(name, (count,)), _TYPES.get(name, np.float64)) for name in CarInfo._fields))

    def write(self, is_last: bool) -> None:
        """See `InfoWriter.write`."""
        simulator, table = self._simulator, self._tables[is_last]
        simulator.device.run(write_info, simulator.car_count, simulator.rows, table, block=CAR_BLOCK)
