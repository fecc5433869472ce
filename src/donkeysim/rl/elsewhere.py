"""How a policy drives on tracks where it has not learned."""

from collections.abc import Sequence
from dataclasses import replace

from donkeysim.core.errors import SpecError
from donkeysim.core.types import Report
from donkeysim.rl.check import Checker
from donkeysim.rl.ppo import Actor
from donkeysim.rl.progress import Check
from donkeysim.rl.setup import TrainingSetup
from donkeysim.rl.task import list_roads
from donkeysim.world.specs import SceneSpec
from donkeysim.world.tracks.catalogue import find_road, share_scene

# Within the memory of a small machine, and enough for two cores to have something to drive.
AT_ONCE = 10
"""Tracks that are built at a time: each takes some hundred megabytes."""

LAPS = 1
"""To drive on each."""

TEST_SEED = 1_000_000
"""Of the first random road to test on; those to learn on begin at 1."""


def list_tests(names: Sequence[str], road_count: int) -> tuple[list[SceneSpec], list[SceneSpec]]:
    """Return the tracks of these names, and so many random roads.

    Raises:
        DonkeySimError: There is no such track, its file is broken, or there cannot be so many roads.
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
