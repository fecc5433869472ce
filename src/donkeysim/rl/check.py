"""Whether a policy can drive: fresh starts, no exploration, pictures and decisions as on the road.

It is checked where it learns and, if that is asked for, on tracks where it has not learned. A lap of a check is one
length of the path, from wherever the car began: cars begin all over the road, and a lap of the ledger
(`physics/kernels/laps.py`) would begin at the line only.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch

from donkeysim.core.errors import SpecError
from donkeysim.core.types import BoolArray, ByteArray, FloatArray, Report
from donkeysim.rl.ppo import Actor
from donkeysim.rl.progress import Check
from donkeysim.rl.setup import FRAME, TrainingSetup
from donkeysim.rl.task import list_roads
from donkeysim.world.specs import SceneSpec
from donkeysim.world.tracks.catalogue import find_road, share_scene

# One fault in ten laps is found by five cars in 99 of 100 checks; on several tracks the number of tracks does the rest.
CARS, CARS_OF_MANY = 5, 2
"""Of a check on one scene, and on each of several; the first begins where the path does."""

VARIED_CARS, VARIED_CARS_OF_MANY = 16, 4
"""The same for a check with cars that differ."""

VARIED_SHARE = 0.5
"""Of the wanted speed, what cars that differ have to reach: a weak battery makes them slow."""

SEED = 7919
"""Of the places where the others begin: no episode to learn from begins with it."""

# A policy that needs more than 1.7 times the wanted time would not pass by its speed anyway.
SLOWEST = 0.6
"""A check has the time that its laps take at this share of the wanted speed."""

Drive = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]
"""From crops of pictures, 0 to 1, and the last actions to the next ones, as `ppo.Actor`."""

# Within the memory of a small machine, and enough for two cores to have something to drive.
AT_ONCE = 10
"""Of these tracks, how many are built at a time: each takes some hundred megabytes."""

LAPS = 1
"""To drive on each track where it has not learned."""

TEST_SEED = 1_000_000
"""Of the first random road to test on; those to learn on begin at 1."""


@dataclass
class _Tally:
    """What the cars have done so far, shape [car_count] each."""

    laps: FloatArray
    out: FloatArray
    steps: FloatArray
    speed: FloatArray
    change: FloatArray


class Checker:
    """The cars that check policies, on all scenes of a course.

    Attributes:
        setup: Where, and how fast it should be.
        lap_count: How many laps each car has to drive in a row.
    """

    def __init__(self, setup: TrainingSetup, lap_count: int, is_varied: bool = False) -> None:
        """Put them on their tracks; `is_varied`: they differ as the course says, and each drives as far as it comes."""
        self.lap_count, self._is_varied = lap_count, is_varied
        one, many = (VARIED_CARS, VARIED_CARS_OF_MANY) if is_varied else (CARS, CARS_OF_MANY)
        self._cars = one if len(setup.scenes) == 1 else many
        self._env = setup.make_check_env(self._cars, is_varied)
        self.setup = setup
        share = setup.share * (VARIED_SHARE if is_varied else 1.0)
        self._wanted = np.tile(share * np.array(setup.fastest), self._cars)

    def check(self, drive: Drive) -> tuple[Check, ...]:
        """Let a policy drive until all cars have done their laps, or on each scene one has left the road or is late.

        Cars that differ drive on when another has left the road.
        """
        tally = self._run(drive)
        names = [f"{name}, randomised" if self._is_varied else name for name in self.setup.list_names()]
        scene_count = len(names)
        found = []
        for scene in range(scene_count):
            cars = slice(scene, None, scene_count)
            steps, laps = max(1.0, tally.steps[cars].sum()), np.minimum(tally.laps[cars], self.lap_count)
            found.append(
                Check(
                    scene=names[scene],
                    laps=float(laps.mean() if self._is_varied else tally.laps[cars].min()),  # the worst car's
                    wanted_laps=self.lap_count,
                    departures=int(tally.out[cars].sum()),
                    cars=self._cars,
                    speed=float(tally.speed[cars].sum() / steps),
                    wanted_speed=float(self._wanted[scene]),
                    chatter=float(tally.change[cars].sum() / steps),
                )
            )
        return tuple(found)

    def _run(self, drive: Drive) -> _Tally:
        env, cars = self._env, self._env.num_envs
        tally = _Tally(*np.zeros((5, cars)))
        seen = self._begin()
        last, is_driving = torch.zeros(cars, 2), np.ones(cars, bool)
        most = self.lap_count * env.fleet.simulator.ledger.path_length / (SLOWEST * self._wanted * FRAME)
        while is_driving.any():
            with torch.no_grad():
                action = drive(self.setup.observation.pool_band(seen), last)
            seen, _, ended, _, _ = env.step(action.numpy())
            step = env.fleet.step
            assert step is not None
            tally.steps += is_driving
            tally.speed += is_driving * step.forward_speed
            tally.change += is_driving * np.abs((action - last)[:, 0].numpy())
            np.copyto(tally.laps, step.driven / step.path_length, where=is_driving & ~ended)
            tally.out += is_driving & ended
            failed = is_driving & (ended | (tally.steps >= most))
            is_driving &= (tally.laps < self.lap_count) & ~self._spread(failed)
            last = action
        return tally

    def _spread(self, flags: BoolArray) -> BoolArray:
        """Return for each car whether one of the cars on its scene is flagged, or itself if they differ."""
        if self._is_varied:
            return flags
        by_scene = flags.reshape(self._cars, -1).any(axis=0)
        return np.tile(by_scene, self._cars)

    def _begin(self) -> ByteArray:
        """Put the first car of each scene where its path begins, the others anywhere; return what they see."""
        self._env.reset(seed=SEED)
        first = np.arange(self._env.num_envs) < len(self.setup.scenes)
        seen: Any = self._env.reset(options={"reset_mask": first, "s": 0.0})[0]
        picture: ByteArray = seen
        return picture

    def close(self) -> None:
        """Stop the threads."""
        self._env.close()


def list_tests(names: Sequence[str], road_count: int) -> tuple[list[SceneSpec], list[SceneSpec]]:
    """Return the tracks of these names, and `road_count` random roads.

    Raises:
        DonkeySimError: There is no such track, its file is broken, or there cannot be that many roads.
    """
    if road_count < 0:
        raise SpecError(f"--test-roads {road_count} is not valid; it takes a whole number, 0 or above.")
    tracks = [SceneSpec(name) for name in names]
    for track in tracks:
        find_road(track)  # reads its file
    return tracks, list_roads(range(TEST_SEED, TEST_SEED + road_count))


def check_elsewhere(
    actor: Actor, setup: TrainingSetup, scenes: Sequence[SceneSpec], report: Report = lambda _done, _total: None
) -> tuple[Check, ...]:
    """Let a policy drive a lap on each of some tracks, with fresh starts.

    Args:
        setup: Where it has learned.
        report: Called as report(done, total), in tracks.

    Raises:
        DonkeySimError: There is no such track.
    """
    found: list[Check] = []
    for first in range(0, len(scenes), AT_ONCE):
        specs = tuple(scenes[first : first + AT_ONCE])
        built = [share_scene(spec) for spec in specs]
        checker = Checker(replace(setup, scenes=specs, checked=None).plan(built), LAPS)
        found += checker.check(actor)
        checker.close()
        report(len(found), len(scenes))
    return tuple(found)
