"""Writes down whatever is done to a simulator, so that `replay` can do it again, bit for bit."""

import hashlib
import weakref
import zlib
from collections.abc import Sequence
from pathlib import Path

from donkeysim.core.device import Device
from donkeysim.record import action_log as log
from donkeysim.record.action_log import describe_origin
from donkeysim.sim import commands
from donkeysim.sim.simulator import Simulator
from donkeysim.sim.snapshot import Snapshot, list_arrays
from donkeysim.world.scene import Scene
from donkeysim.world.specs import WorldSpec
from donkeysim.world.state import hold_car


def open_simulator(
    spec: WorldSpec,
    *,
    worker_count: int = 1,
    scene: Scene | None = None,
    look_ahead: Sequence[float] = (),
    device: Device | None = None,
    log: str | Path | None = None,
) -> Simulator:
    """Return a simulator, all of whose commands are written down if `log` names a file.

    Args:
        scene: The only scene, if it is built already.
        look_ahead: Distances for `Ledger.ahead`, rising, 0 or more [m].
        device: Where the cars are; None: threads of this machine.
        log: The file; it is never overwritten: the next one becomes `run-2.dlog` and so on.

    Raises:
        DonkeySimError: The log cannot be created.
    """
    simulator = Simulator(spec, worker_count=worker_count, scene=scene, look_ahead=look_ahead, device=device)
    if log is not None:
        simulator.listen(Recorder(simulator, log))
    return simulator


class Recorder:
    """The log of one simulator. Implements `commands.CommandLog`."""

    def __init__(self, simulator: Simulator, path: str | Path) -> None:
        """Begin a log.

        Raises:
            DonkeySimError: It cannot be created.
        """
        self._simulator = weakref.ref(simulator)
        spec = hold_car(simulator.spec, simulator.car_spec)
        self._writer = log.LogWriter(path, log.Head(spec, describe_origin(simulator.scenes)))
        self.path = self._writer.path
        self.close = weakref.finalize(simulator, self._writer.close)
        self._moments: dict[bytes, int] = {}
        self._last: tuple[Snapshot, list[int], int] | None = None
        self._params = self._sum_up_params(simulator)
        self._is_drawn = simulator.has_randomized_params()

    def note(self, command: commands.Command) -> None:
        """Write a command down; the moments that it goes back to before it, each once."""
        if isinstance(command, commands.Restore):
            command = commands.Restore(self._number_moment(command.snapshot), command.worlds)
        self._writer.append(command)
        if isinstance(command, commands.ChangeScene):
            self._params, self._is_drawn = self._sum_up_params(self._get()), self._get().has_randomized_params()

    def keep(self, text: str) -> None:
        """Keep a text in the log, between what is done before and after."""
        self._writer.append(log.Noted(text))

    def note_step(self, step_count: int) -> None:
        """Write down that a frame has passed, and how the state is now."""
        simulator = self._get()
        self._note_params(simulator)
        self._writer.append(log.Stepped(int(step_count), simulator.sum_up()))

    def _get(self) -> Simulator:
        simulator = self._simulator()
        assert simulator is not None, "it is the one that reports"
        return simulator

    @staticmethod
    def _sum_up_params(simulator: Simulator) -> int:
        return zlib.crc32(simulator.physics.car_params.packed.data)

    def _note_params(self, simulator: Simulator) -> None:
        """Write down the cars' parameters if somebody has set them since; what a draw sets, a replay draws itself."""
        checksum = self._sum_up_params(simulator)
        if checksum == self._params:
            return
        self._params = checksum
        was_drawn, self._is_drawn = self._is_drawn, simulator.has_randomized_params()
        if not (was_drawn and self._is_drawn):
            self._writer.append(commands.SetParams(simulator.physics.car_params.packed.tobytes()))

    def _number_moment(self, snapshot: Snapshot) -> int:
        """Return the number of a moment in the log, where it is noted once.

        Episodes begin with the same moment over and over: it is known again by its checksum.
        """
        arrays = list_arrays(snapshot).values()
        checksum = [zlib.crc32(part.data) for part in arrays]
        if self._last is not None and self._last[0] is snapshot and self._last[1] == checksum:
            return self._last[2]
        content = b"".join(part.tobytes() for part in arrays)
        key = hashlib.blake2b(content, digest_size=16).digest()
        if key not in self._moments:
            self._moments[key] = len(self._moments)
            self._writer.append(log.LoggedSnapshot(content), len(content))
        self._last = (snapshot, checksum, self._moments[key])
        return self._moments[key]
