"""What a step adds to the counts of every car's episode."""

from __future__ import annotations

import math

from donkeysim.core.kernel import inner_kernel, kernel
from donkeysim.core.types import ByteArray, FloatArray
from donkeysim.envs.counts import Counts
from donkeysim.sim.kernels.readings import (
    R_ALONG,
    R_FORWARD_SPEED,
    R_HEADING_ERROR,
    R_LEFT_SPEED,
    R_LENGTH,
)

STEP_RATE = 20
"""Steps per simulated second, as the original's telemetry."""

STILL_SPEED = 0.05
"""Below it a car counts as standing [m/s]."""

LEAP_ROOM = 0.25
"""How much farther than its wheels carry it a car's place on the path may move in one step, as in a tight curve [m]."""

LEAP_FACTOR = 4.0
"""How much faster than the car, likewise."""


@inner_kernel
def measure_gain(moved, length, fastest, frame_skip):
    """Return how far a car's place on the path has moved [m], the short way round; nothing where it leapt."""
    gain = moved - length * math.floor(moved / length + 0.5)
    if abs(gain) > (LEAP_FACTOR * fastest / STEP_RATE + LEAP_ROOM) * frame_skip:
        return 0.0
    return gain


@kernel
def count_step(begin: int, end: int, counts: Counts, table: FloatArray, on_road: ByteArray, frame_skip: int) -> None:
    """Count what cars [begin, end) did in a step of `frame_skip` twentieths of a second.

    Args:
        begin: First row.
        end: Row after the last.
        counts: Written, but for what was asked for and hit.
        table: Readings after the step, see `sim.kernels.readings`.
        on_road: As `State.on_road`.
        frame_skip: Length of the step [1/20 s].
    """
    duration = frame_skip / STEP_RATE
    for car in range(begin, end):
        forward, left, length = table[car, R_FORWARD_SPEED], table[car, R_LEFT_SPEED], table[car, R_LENGTH]
        speed = abs(forward)
        fastest = max(speed, counts.speed[car]) + abs(left)
        gain = measure_gain(table[car, R_ALONG] - counts.along[car], length, fastest, frame_skip)
        counts.steps[car] += frame_skip
        now = counts.steps[car] / STEP_RATE
        driven = counts.driven[car] + gain
        furthest = max(counts.furthest[car], driven)
        counts.progress[car] = furthest - counts.furthest[car]
        counts.along[car], counts.speed[car], counts.time[car] = table[car, R_ALONG], speed, now
        counts.gain[car], counts.driven[car], counts.furthest[car] = gain, driven, furthest
        turn = table[car, R_HEADING_ERROR]
        against = forward * math.cos(turn) - left * math.sin(turn) < -STILL_SPEED
        counts.off_road_time[car] = counts.off_road_time[car] + duration if on_road[car] == 0 else 0.0
        counts.still_time[car] = counts.still_time[car] + duration if speed < STILL_SPEED else 0.0
        counts.wrong_way_time[car] = counts.wrong_way_time[car] + duration if against else 0.0
        laps = int(furthest / length + 1e-9)
        if laps > counts.laps[car]:
            counts.lap_time[car] = now - counts.lap_begun[car]
            counts.lap_begun[car] = now
        counts.laps[car] = laps
