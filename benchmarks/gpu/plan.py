"""What the benchmark of batches on a device runs: all of it on a GPU, little of it where there is none."""

from dataclasses import dataclass

from donkeysim.core.device import Device, open_device
from donkeysim.core.errors import DonkeySimError


@dataclass(frozen=True)
class Plan:
    """How much is measured.

    Attributes:
        name: Of the device.
        counts: Cars, each in a world of its own; figures are asked for of the one `asked`.
        sizes: Of pictures, width and height [pixel]; of other numbers of cars the first and the last only.
        seconds: Length of a round [s]; of other numbers of cars a fifth.
        rounds: Of each figure.
        asked: Cars that the least figures are for; 0: none is asked for.
        few: Cars of the small batch that has a least figure of its own; 0 likewise.
        frames: Until cars drive evenly, or lean on their walls.
    """

    name: str
    counts: tuple[int, ...]
    sizes: tuple[tuple[int, int], ...]
    seconds: float
    rounds: int
    asked: int
    few: int
    frames: int

    def open(self) -> Device:
        """Return the device."""
        return open_device(self.name)

    def list_sizes(self, count: int) -> tuple[tuple[int, int], ...]:
        """Return the sizes of pictures that are measured with so many cars."""
        return self.sizes if count == self.asked else (self.sizes[0], self.sizes[-1])

    def ask(self, count: int, least: float | None) -> float | None:
        """Return the least figure if it is asked for of so many cars."""
        return least if count == self.asked else None


SIZES = (64, 64), (84, 84), (128, 128), (160, 120)

FULL = Plan("cuda", (64, 256, 1024, 4096, 16_384, 65_536), SIZES, 10.0, 1, 16_384, 1024, 120)

TINY = Plan("cpu", (16,), SIZES[::3], 0.3, 3, 0, 0, 40)


def choose_plan() -> Plan:
    """Return the plan for a GPU if there is one."""
    try:
        FULL.open().close()
    except DonkeySimError as error:
        print(f"on this machine's cores and little of it: {error}", flush=True)
        return TINY
    return FULL
