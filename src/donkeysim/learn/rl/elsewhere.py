"""How a policy drives on tracks where it has not learned."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from donkeysim.core.types import Report
from donkeysim.learn.rl.check import Checker
from donkeysim.learn.rl.course import Course
from donkeysim.learn.rl.ppo import Actor
from donkeysim.learn.rl.progress import Check
from donkeysim.world.specs import SceneSpec
from donkeysim.world.tracks.catalogue import share_scene

AT_ONCE = 10
"""Tracks that are built at a time: each takes some hundred megabytes."""

LAPS = 1
"""To drive on each."""


def check_elsewhere(
    actor: Actor, course: Course, scenes: Sequence[SceneSpec], report: Report = lambda _done, _total: None
) -> tuple[Check, ...]:
    """Let a policy drive a lap on each of some tracks, with fresh starts.

    Args:
        actor: The policy.
        course: Where it has learned.
        scenes: The tracks.
        report: Called as report(done, total), in tracks.

    Raises:
        DonkeySimError: There is no such track.
    """
    found: list[Check] = []
    for first in range(0, len(scenes), AT_ONCE):
        specs = tuple(scenes[first : first + AT_ONCE])
        built = [share_scene(spec) for spec in specs]
        checker = Checker(replace(course, scenes=specs, checked=None).plan(built), LAPS)
        found += checker.check(actor)
        checker.close()
        report(len(found), len(scenes))
    return tuple(found)
