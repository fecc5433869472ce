"""Which episodes worlds are in, and where they begin: arrays of the device that the worlds are on."""

from __future__ import annotations

from typing import Any

import numpy as np

from donkeysim.core.types import FloatArray
from donkeysim.envs.kernels.episodes import Episodes, begin_episode
from donkeysim.sim.batch import Batch
from donkeysim.sim.simulator import Simulator

NOWHERE: FloatArray = np.full(3, np.nan)
"""Where episodes begin that are not told where."""


def make_episodes(simulator: Simulator) -> Episodes:
    """Return episodes of all worlds, none begun yet; their keys are the simulator's own."""
    device, count = simulator.device, simulator.spec.world_count
    return Episodes(
        seed=device.zeros((count,), np.int64),
        number=device.zeros((count,), np.int64),
        world_key=simulator.world_key,
        start=device.upload(np.full((simulator.car_count, 3), np.nan)),
    )


def draw_episodes(batch: Batch, begins: Any, episodes: Episodes, at_random: bool, given: Any) -> None:
    """Give worlds the keys of their next episodes and their cars their starts; `Batch.begin` puts them there.

    Args:
        batch: The worlds.
        begins: Of which worlds episodes begin, shape [world_count].
        episodes: Written.
        at_random: Whether cars begin somewhere on the path, else on the grid.
        given: Where they begin instead, as `Episodes.start`, shape [3]; `NOWHERE`: nowhere else.
    """
    layout, scenes = batch.layout, batch.simulator.physics.world_scene
    where = (scenes, batch.paths.length, layout.cars_per_world, at_random, given)
    batch.device.run(begin_episode, layout.world_count, begins, episodes, *where, block=256)
