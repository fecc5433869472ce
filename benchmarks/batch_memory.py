"""What a batch takes of a GPU's memory: `python -m benchmarks.batch_memory` prints docs/envs/gpu.md's table.

No GPU is needed: a batch is made on this machine's cores as one on a GPU is, with working memory for each world.
"""

from typing import Any

from donkeysim.core.device import Cpu
from donkeysim.core.memory import MemoryUse
from donkeysim.core.workers import Workers
from donkeysim.envs.track_env import TrackVectorEnv
from donkeysim.world.specs import CameraSpec

WORLDS = 16_384
"""Of the total that is told."""
MADE = 8
"""Worlds that are made for it."""

CASES: dict[str, dict[str, Any]] = {
    "numbers only": {"observe": "vector"},
    "64x64": {"camera": CameraSpec(width=64, height=64)},
    "84x84 grey, four moments": {"camera": CameraSpec(width=84, height=84), "observe": "grey", "stack": 4},
    "160x120": {},
    "160x120, `fast`": {"camera": CameraSpec(quality="fast")},
    "160x120, distances and classes": {"observe": ("camera", "depth", "segmentation")},
}


class Roomy(Cpu):
    """The cores of this machine, with a working memory for each index, as a GPU needs it."""

    name = "as a GPU"
    shares_rooms = False

    def __init__(self, threads: int = 1) -> None:
        super().__init__(Workers(threads))

    def count_rooms(self, count: int) -> int:
        """Return how many working memories runs need."""
        return count


def measure(**settings: Any) -> MemoryUse:
    """Return what a batch with these settings takes."""
    batch = TrackVectorEnv(MADE, device=Roomy(), **settings)
    try:
        return batch.measure_memory()
    finally:
        batch.close()


def main() -> None:
    """Print the table."""
    print(f"| on generated_track | a world | of it working memory | its pictures | {WORLDS:,} worlds |")
    print("|---|---|---|---|---|")
    for name, settings in CASES.items():
        use = measure(**settings)
        parts = (use.per_world, use.scratch / MADE, use.pictures / MADE)
        each = " | ".join(f"{part / 1000.0:,.1f} kB" for part in parts)
        print(f"| {name} | {each} | {(use.scenes + WORLDS * use.per_world) / 1e9:.2f} GB |")


if __name__ == "__main__":
    main()
