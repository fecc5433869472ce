"""Cars of a batch that drive along their road, and some that lean on a wall: what frames are measured with."""

import numpy as np

from benchmarks.gpu.timing import free_memory
from donkeysim.core.device import Device
from donkeysim.core.kernel import index_kernel
from donkeysim.physics.kernels.ledger import LedgerRows
from donkeysim.sim.batch import Batch
from donkeysim.sim.simulator import Simulator
from donkeysim.world.specs import SceneSpec, WorldSpec
from donkeysim.world.state import HIT_NONE, Control

SPEED = 2.0
"""Of cars that follow their road [m/s]."""


@index_kernel
def drive_car(car: int, leaning: int, ledger: LedgerRows, control: Control) -> None:
    """Tell a car to follow its road; each `leaning`-th (0: none) goes straight on with all it has.

    Args:
        car: Which.
        leaning: See above.
        ledger: Of all cars.
        control: Written.
    """
    if leaning > 0 and car % leaning == 0:
        control.steer[car], control.throttle[car] = 0.0, 1.0
        return
    control.steer[car] = min(max(-2.0 * ledger.heading_error[car] - ledger.offset[car], -1.0), 1.0)
    control.throttle[car] = min(max(SPEED - ledger.forward_speed[car], 0.0), 1.0)


class Traffic:
    """Cars of one scene, spread along its road.

    Attributes:
        simulator: Where they drive.
        batch: All its worlds.
        count: How many there are.
    """

    def __init__(self, device: Device, scene: str, count: int, leaning: int = 0) -> None:
        free_memory()
        self.count, self._device, self._leaning = count, device, leaning
        self.simulator = Simulator(WorldSpec(SceneSpec(scene), world_count=count), device=device)
        self.batch = Batch(self.simulator)
        start = np.zeros((count, 3))
        start[:, 0] = np.arange(count) * (float(device.download(self.batch.paths.length)[0]) / count)
        self.batch.begin(device.upload(np.ones(count, bool)), device.upload(start))

    def step(self) -> None:
        """Let a twentieth of a second pass."""
        simulator = self.simulator
        self._device.run(drive_car, self.count, self._leaning, simulator.rows, simulator.control, block=256)
        simulator.step()

    def warm_up(self, frames: int) -> None:
        """Compile, and let cars drive evenly, or lean."""
        for _ in range(frames):
            self.step()
        self._device.synchronize()

    def find_touching(self) -> float:
        """Return the share of cars that touched something in the last frame."""
        touching = self._device.download(self.simulator.state.touching)
        return float((touching != HIT_NONE).any(axis=1).mean())
