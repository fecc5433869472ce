"""What tests of a device run on: this machine's cores, tiny, with `make device`; a GPU, in full, with `make gpu`."""

from dataclasses import dataclass
from typing import Any

import psutil
import pytest
from benchmarks.batch_memory import Roomy

from donkeysim.core.device import Device, open_device
from donkeysim.core.errors import DonkeySimError
from donkeysim.world.tracks.catalogue import list_scenes


@dataclass(frozen=True)
class Bench:
    """A device, and how much of a test it is worth.

    Attributes:
        device: What is tested.
        worlds: Of a batch that is compared with one on a single thread.
        crowd: Of a batch in which a world is compared with itself alone.
        sizes: Of pictures [pixel].
        scenes: That are drawn.
        crashes: Scenes in which cars hit something, and how many there are in each world.
        seconds: Of the soak test [s].
    """

    device: Device
    worlds: int
    crowd: int
    sizes: tuple[tuple[int, int], ...]
    scenes: tuple[str, ...]
    crashes: tuple[tuple[str, int], ...]
    seconds: float

    @property
    def is_gpu(self) -> bool:
        """Whether sums may fuse otherwise than here."""
        return self.device.dlpack_device[0] != 1

    def fetch(self, arrays: Any) -> Any:
        """Return arrays of the device, in lists, tuples and dicts, as copies in this machine's memory."""
        if isinstance(arrays, dict):
            return {name: self.fetch(part) for name, part in arrays.items()}
        if isinstance(arrays, (list, tuple)):
            return [self.fetch(part) for part in arrays]
        array = getattr(arrays, "array", arrays)  # of a `DeviceArray`
        return self.device.download(array).copy()

    def measure_memory(self) -> float:
        """Return how much memory this process holds, on the GPU if there is one [MB]."""
        if not self.is_gpu:
            return float(psutil.Process().memory_info().rss / 1e6)
        from numba import cuda

        free, whole = cuda.current_context().get_memory_info()
        return (whole - free) / 1e6


def open_bench(name: str) -> Bench:
    """Return what tests run on."""
    if name == "cpu":
        return Bench(Roomy(2), 6, 5, ((64, 48),), ("generated_track",), (("pallet_hall", 2),), 0.3)
    sizes = (64, 64), (84, 84), (128, 128), (160, 120)
    crashes = ("pallet_hall", 2), ("canyon_road", 1), ("harbour_town", 1)
    return Bench(open_device(name), 512, 16_384, sizes, list_scenes(), crashes, 600.0)


@pytest.fixture(scope="module", params=["cpu", pytest.param("cuda", marks=pytest.mark.gpu)])
def bench(request):
    """A device to test."""
    try:
        opened = open_bench(request.param)
    except DonkeySimError as error:
        pytest.skip(str(error))
    yield opened
    opened.device.close()


@pytest.fixture(scope="module")
def judge():
    """One thread of this machine: what a device is compared with."""
    device = Roomy()
    yield device
    device.close()
