"""The rule of laps: where they begin and end, what they must pass, and when that was."""

from dataclasses import replace

import numpy as np
import pytest
from tests.scenes import Bench, Ring, make_ground, make_path, make_scene

from donkeysim.world.ledger import EVENT_CHECKPOINT, EVENT_CROSSING, EVENT_LAP, EVENT_MISSED_CHECKPOINT
from donkeysim.world.specs import load_car
from donkeysim.world.tracks.tables.start import MOST_LINES

INSIDE = 3.0
"""Radius at which a car passes beside the gates [m]."""

ICE_CAR = replace(load_car("original"), drag=0.0)
"""On ground without friction nothing slows it."""


def begin(lines=(0.0,), checkpoints=()):
    """A car in its first lap, a little behind the start line."""
    ring = Ring(lines, checkpoints)
    ring.put(-0.02)
    ring.carry(0.02)
    assert ring.state.lap[0] == 1
    return ring


def name(ring):
    """What happened, without when."""
    return [event[:2] for event in ring.events]


def make_road(start=0.3, length=1.0, checkpoints=()):
    """An open road along +x with a node every tenth of it."""
    points = [(x, 0.0) for x in np.linspace(0.0, length, 11)]
    lines, gates = ([((x, 0.5), (x, -0.5)) for x in places] for places in ((start,), checkpoints))
    return make_scene(make_ground(friction=0.0), make_path(points), lines=lines, checkpoints=gates)


def test_the_first_crossing_begins_the_first_lap_and_a_whole_round_ends_it():
    ring = Ring()
    ring.put(-0.02)
    assert (ring.state.lap[0], ring.state.lap_begun[0]) == (0, -1.0)
    ring.carry(0.02)
    begun = float(ring.state.lap_begun[0])
    assert name(ring) == [(EVENT_CROSSING, 0)]
    assert begun == ring.events[0][2]
    ring.carry(1.02)
    time = float(ring.state.lap_time[0])
    assert name(ring)[1:] == [(EVENT_LAP, time), (EVENT_CROSSING, 0)]
    assert ring.state.lap[0] == 2
    assert ring.state.lap_begun[0] == pytest.approx(begun + time)
    assert time == pytest.approx(2.0 * np.pi * ring.radius / 0.05 / 480.0, rel=0.02)


def test_going_back_and_forth_over_the_line_is_no_lap():
    ring = begin()
    begun = ring.state.lap_begun[0]
    for _ in range(3):
        ring.carry(-0.02)
        ring.carry(0.02)
    assert (ring.state.lap[0], ring.state.lap_begun[0]) == (1, begun)
    assert name(ring) == [(EVENT_CROSSING, 0)]


@pytest.mark.parametrize(("share", "laps"), [(0.45, 1), (0.55, 2)])
def test_a_lap_takes_half_of_the_nodes(share, laps):
    ring = begin()
    ring.carry(share)
    ring.put(-0.02)
    ring.carry(0.02)
    assert ring.state.lap[0] == laps


def test_nodes_driven_backwards_are_taken_off():
    ring = begin()
    ring.carry(0.7)
    ring.carry(0.3)
    ring.put(-0.02)
    ring.carry(0.02)
    assert ring.state.lap[0] == 1


def test_laps_driven_backwards_do_not_count():
    ring = Ring()
    ring.put(0.01)
    ring.carry(-2.02)
    assert ring.state.lap[0] == 0
    assert ring.events == []


def test_being_placed_across_the_line_is_no_crossing():
    ring = Ring()
    for share, at_rest in ((-0.02, True), (0.02, True), (-0.02, False), (0.02, False)):
        ring.put(share, at_rest=at_rest)
        ring.drive(0.05)
        assert ring.list_events() == []
    assert ring.state.lap[0] == 0


def test_passing_beside_the_line_is_no_crossing():
    ring = Ring()
    ring.put(-0.05)
    ring.carry(-0.03, INSIDE)
    ring.carry(0.05, INSIDE)
    assert ring.state.lap[0] == 0


def test_checkpoints_are_passed_in_their_order():
    ring = begin(checkpoints=(0.25, 0.5, 0.75))
    ring.carry(1.02)
    assert name(ring)[1:4] == [(EVENT_CHECKPOINT, index) for index in range(3)]
    assert name(ring)[4][0] == EVENT_LAP
    assert (ring.state.lap[0], ring.state.checkpoint[0]) == (2, 0)


def test_a_lap_without_a_checkpoint_goes_on_and_counts_once_it_has_been_passed():
    ring = begin(checkpoints=(0.25, 0.5))
    ring.carry(0.2)
    ring.carry(0.22, INSIDE)
    ring.carry(0.3, INSIDE)
    ring.carry(0.32)
    ring.carry(1.02)
    assert name(ring)[1:] == [(EVENT_MISSED_CHECKPOINT, 0)], "the second one does not count before the first"
    assert ring.state.lap[0] == 1
    ring.carry(2.02)
    assert name(ring)[2:4] == [(EVENT_CHECKPOINT, 0), (EVENT_CHECKPOINT, 1)]
    assert ring.state.lap[0] == 2
    assert ring.state.lap_time[0] > 1.9 * 2.0 * np.pi * ring.radius / 0.05 / 480.0, "from where the lap began"


def test_a_checkpoint_passed_backwards_does_not_count():
    ring = begin(checkpoints=(0.25,))
    ring.carry(0.2)
    ring.carry(0.22, INSIDE)
    ring.carry(0.3, INSIDE)
    ring.carry(0.32)
    ring.carry(0.2)
    assert ring.state.checkpoint[0] == 0
    ring.carry(0.3)
    assert ring.state.checkpoint[0] == 1
    assert name(ring)[1:] == [(EVENT_CHECKPOINT, 0)]


def test_checkpoints_count_from_the_start_line_on():
    ring = Ring(checkpoints=(0.25,))
    ring.put(0.2)
    ring.carry(1.02)
    assert name(ring) == [(EVENT_CROSSING, 0)]
    assert ring.state.checkpoint[0] == 0


def test_who_is_a_little_wide_has_passed_a_checkpoint():
    ring = begin(checkpoints=(0.25,))
    ring.carry(0.2, ring.radius - 0.7)
    ring.carry(0.3, ring.radius - 0.7)
    assert ring.state.checkpoint[0] == 1


def test_further_start_lines_tell_one_crossing_a_lap_and_count_nothing():
    ring = begin(lines=(0.0, 0.4))
    ring.carry(0.42)
    ring.carry(0.38)
    ring.carry(0.42)
    assert name(ring) == [(EVENT_CROSSING, 0), (EVENT_CROSSING, 1)]
    assert ring.state.lap[0] == 1
    ring.carry(1.42)
    assert name(ring)[3:] == [(EVENT_CROSSING, 0), (EVENT_CROSSING, 1)]
    assert ring.state.lap[0] == 2


def test_all_the_start_lines_that_a_track_may_have_are_told():
    ring = begin(lines=np.arange(MOST_LINES) / MOST_LINES)
    ring.carry(1.02)
    crossed = [line for kind, line in name(ring) if kind == EVENT_CROSSING]
    assert crossed == [*range(MOST_LINES), 0]


def test_an_open_road_ends_at_its_finish():
    bench = Bench(make_road(), car=ICE_CAR)
    told = []
    for _ in range(2):
        bench.place(0, 0.0, 0.0, velocity=2.0)
        for _ in range(480):
            bench.engine.step(bench.state, bench.control, 1)
            told += bench.list_events()
        assert bench.state.position[0, 0] > 1.2
    assert [event[0] for event in told] == [EVENT_CROSSING, EVENT_LAP], "another start is no other lap"
    assert bench.state.lap[0] == 2


def test_who_reaches_the_finish_without_the_start_has_driven_no_lap():
    bench = Bench(make_road(), car=ICE_CAR)
    bench.place(0, 0.5, 0.0, velocity=2.0)
    bench.drive(0.5)
    assert bench.state.position[0, 0] > 1.2
    assert (bench.state.lap[0], bench.list_events()) == (0, [])


@pytest.mark.parametrize("speed", [0.9, 2.0, 7.3])
@pytest.mark.parametrize("start", [0.3, 0.3007])
def test_times_are_those_of_the_line_though_steps_are_longer(speed, start):
    bench = Bench(make_road(start, checkpoints=(0.6511,)), car=ICE_CAR)
    bench.place(0, 0.0, 0.0, velocity=speed)
    bench.engine.step(bench.state, bench.control, int(480.0 * 1.1 / speed))
    told = bench.list_events()
    assert [event[0] for event in told] == [EVENT_CROSSING, EVENT_CHECKPOINT, EVENT_LAP]
    passed = np.array([start, 0.6511, 1.0]) / speed
    assert [event[2] for event in told] == pytest.approx(passed, abs=1e-6)
    assert told[-1][1] == pytest.approx((1.0 - start) / speed, abs=1e-6)
    assert bench.state.lap_time[0] == told[-1][1]


def test_single_steps_tell_what_a_whole_frame_tells():
    runs = []
    for steps in (1, 24):
        bench = Bench(make_road(checkpoints=(0.65,)), car=ICE_CAR)
        bench.place(0, 0.0, 0.0, velocity=2.0)
        told = []
        for _ in range(288 // steps):
            bench.engine.step(bench.state, bench.control, steps)
            told += bench.list_events()
        runs.append((told, bench.state.lap[0]))
    (single, lap), (whole, lap_of_whole) = runs
    assert [event[0] for event in single] == [EVENT_CROSSING, EVENT_CHECKPOINT, EVENT_LAP]
    assert lap == lap_of_whole == 2
    for one, other in zip(single, whole, strict=True):
        assert one == pytest.approx(other, abs=1e-12), "but for what storing a pose rounds off"
