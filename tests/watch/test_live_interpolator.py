"""Live pictures show what lies between two moments, one moment late, and keeps nothing that nobody watches."""

import numpy as np
import pytest

from donkeysim.core.clock import ManualClock
from donkeysim.core.errors import SceneError
from donkeysim.core.image import decode_picture, encode_jpeg
from donkeysim.render.moment import blend_moments
from donkeysim.sim.simulator import Simulator
from donkeysim.sim.viewpoint import draw_car
from donkeysim.watch.live_interpolator import LiveInterpolator, find_share
from donkeysim.world.specs import SceneSpec, WorldSpec

PERIOD = 0.05
SIZE = (96, 64)


@pytest.fixture(scope="module")
def simulator():
    simulator = Simulator(WorldSpec(SceneSpec("generated_track")))
    simulator.add_car()
    yield simulator
    simulator.close()


@pytest.fixture
def clock():
    return ManualClock(10.0)


@pytest.fixture
def interpolator(clock):
    interpolator = LiveInterpolator(clock)
    interpolator.want()
    return interpolator


def beat(interpolator, simulator, clock, late=0.0):
    simulator.drive_car(0, 0.4, 1.0, 0.0)
    simulator.step()
    clock.advance(late)
    interpolator.note(simulator, PERIOD, lambda: {7: 0})
    clock.advance(PERIOD - late)


def find_place(interpolator):
    before, after, share = find_share(interpolator._frames, interpolator._read_clock())
    return blend_moments(before.snapshot.moment, after.snapshot.moment, share).poses.position[0]


def test_bodies_are_on_their_way_from_one_moment_to_the_next(interpolator, simulator, clock):
    simulator.reset_car(0)
    for _ in range(20):
        beat(interpolator, simulator, clock)
    before = simulator.ledger.position[0].copy()
    beat(interpolator, simulator, clock)
    after = simulator.ledger.position[0].copy()
    frames = [frame.snapshot for frame in interpolator._frames[-2:]]
    half = blend_moments(frames[0].moment, frames[1].moment, 0.5).poses
    assert half.position[0] == pytest.approx(0.5 * (before + after), abs=1e-12)
    assert np.linalg.norm(half.orientation[0]) == pytest.approx(1.0, abs=1e-12)
    assert (half.wheel_angle[0] > frames[0].moment.poses.wheel_angle[0]).all()


def test_what_was_put_elsewhere_is_there_and_not_on_its_way(interpolator, simulator, clock):
    beat(interpolator, simulator, clock)
    simulator.move_car(0, (*(simulator.ledger.position[0, :2] + 2.0), 0.1))
    beat(interpolator, simulator, clock)
    frames = [frame.snapshot for frame in interpolator._frames[-2:]]
    there = frames[1].moment.poses.position[0]
    assert np.array_equal(blend_moments(frames[0].moment, frames[1].moment, 0.1).poses.position[0], there)


def test_a_picture_one_period_later_is_that_of_the_moment_itself(interpolator, simulator, clock):
    beat(interpolator, simulator, clock)
    beat(interpolator, simulator, clock)
    shown = decode_picture(interpolator.take_picture("chase", 7, *SIZE)).astype(int)
    expected = decode_picture(encode_jpeg(draw_car(simulator, 0, "chase", *SIZE))).astype(int)
    assert np.abs(shown - expected).mean() < 1.0
    before = shown
    beat(interpolator, simulator, clock)
    clock.advance(-PERIOD)  # right after the moment: the one before is shown
    assert np.abs(decode_picture(interpolator.take_picture("chase", 7, *SIZE)).astype(int) - before).mean() < 1.0


def test_motion_is_even_when_moments_come_late_now_and_then(interpolator, simulator, clock):
    simulator.reset_car(0)
    for _ in range(160):
        interpolator.want()
        beat(interpolator, simulator, clock)
    places = []
    for index in range(40):
        interpolator.want()
        beat(interpolator, simulator, clock, late=(0.0, 0.012, 0.004)[index % 3])
        places.append(find_place(interpolator))
    way = np.linalg.norm(np.diff(places[5:], axis=0), axis=1)
    assert way.max() < 1.1 * way.mean()


def test_nothing_is_kept_when_nobody_has_asked_for_a_while(interpolator, simulator, clock):
    beat(interpolator, simulator, clock)
    assert interpolator.is_live
    clock.advance(2.5)
    interpolator.note(simulator, PERIOD, pytest.fail)
    assert not interpolator.is_live
    assert not interpolator._frames


def test_without_new_moments_nothing_is_live_and_a_picture_of_no_such_car_is_refused(interpolator, simulator, clock):
    beat(interpolator, simulator, clock)
    with pytest.raises(SceneError, match="there is no car 8 now"):
        interpolator.take_picture("top", 8, *SIZE)
    clock.advance(0.3)
    assert not interpolator.is_live


def test_the_place_is_shown_without_a_car_and_passes_by(interpolator, simulator, clock):
    beat(interpolator, simulator, clock)
    first = decode_picture(interpolator.take_picture("place", 0, *SIZE)).astype(int)
    clock.advance(1.0)
    second = decode_picture(interpolator.take_picture("place", 0, *SIZE)).astype(int)
    assert first.std() > 10.0
    assert np.abs(first - second).mean() > 2.0


def test_watching_changes_no_byte_of_the_state(interpolator, simulator, clock):
    begin = simulator.snapshot()
    sums = []
    for is_watched in (True, False):
        simulator.restore(begin)
        for _ in range(5):
            simulator.drive_car(0, 0.2, 0.5)
            simulator.step()
            if is_watched:
                interpolator.note(simulator, PERIOD, lambda: {7: 0})
                interpolator.take_picture("chase", 7, *SIZE)
        simulator.render([0])
        sums.append((simulator.sum_up(), simulator.get_picture(0).tobytes()))
    assert sums[0] == sums[1]
