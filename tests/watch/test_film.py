"""A film shows what lies between two moments, one moment late, and keeps nothing that nobody watches."""

import numpy as np
import pytest

from donkeysim.core.clock import ManualClock
from donkeysim.core.errors import SceneError
from donkeysim.core.image import decode_picture, encode_jpeg
from donkeysim.render.moment import blend_moments
from donkeysim.sim.simulator import Simulator
from donkeysim.sim.viewpoint import draw_car
from donkeysim.watch.film import Film, find_share
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
def film(clock):
    film = Film(clock)
    film.want()
    return film


def beat(film, simulator, clock, late=0.0):
    simulator.drive_car(0, 0.4, 1.0, 0.0)
    simulator.step()
    clock.advance(late)
    film.note(simulator, PERIOD, lambda: {7: 0})
    clock.advance(PERIOD - late)


def find_place(film):
    before, after, share = find_share(film._frames, film._read_clock())
    return blend_moments(before.still.moment, after.still.moment, share).poses.position[0]


def test_bodies_are_on_their_way_from_one_moment_to_the_next(film, simulator, clock):
    simulator.reset_car(0)
    for _ in range(20):
        beat(film, simulator, clock)
    before = simulator.ledger.position[0].copy()
    beat(film, simulator, clock)
    after = simulator.ledger.position[0].copy()
    frames = [frame.still for frame in film._frames[-2:]]
    half = blend_moments(frames[0].moment, frames[1].moment, 0.5).poses
    assert half.position[0] == pytest.approx(0.5 * (before + after), abs=1e-12)
    assert np.linalg.norm(half.orientation[0]) == pytest.approx(1.0, abs=1e-12)
    assert (half.wheel_angle[0] > frames[0].moment.poses.wheel_angle[0]).all()


def test_what_was_put_elsewhere_is_there_and_not_on_its_way(film, simulator, clock):
    beat(film, simulator, clock)
    simulator.move_car(0, (*(simulator.ledger.position[0, :2] + 2.0), 0.1))
    beat(film, simulator, clock)
    frames = [frame.still for frame in film._frames[-2:]]
    there = frames[1].moment.poses.position[0]
    assert np.array_equal(blend_moments(frames[0].moment, frames[1].moment, 0.1).poses.position[0], there)


def test_a_picture_one_period_later_is_that_of_the_moment_itself(film, simulator, clock):
    beat(film, simulator, clock)
    beat(film, simulator, clock)
    shown = decode_picture(film.take_picture("chase", 7, *SIZE)).astype(int)
    expected = decode_picture(encode_jpeg(draw_car(simulator, 0, "chase", *SIZE))).astype(int)
    assert np.abs(shown - expected).mean() < 1.0
    before = shown
    beat(film, simulator, clock)
    clock.advance(-PERIOD)  # right after the moment: the one before is shown
    assert np.abs(decode_picture(film.take_picture("chase", 7, *SIZE)).astype(int) - before).mean() < 1.0


def test_motion_is_even_when_moments_come_late_now_and_then(film, simulator, clock):
    simulator.reset_car(0)
    for _ in range(160):
        film.want()
        beat(film, simulator, clock)
    places = []
    for index in range(40):
        film.want()
        beat(film, simulator, clock, late=(0.0, 0.012, 0.004)[index % 3])
        places.append(find_place(film))
    way = np.linalg.norm(np.diff(places[5:], axis=0), axis=1)
    assert way.max() < 1.1 * way.mean()


def test_nothing_is_kept_when_nobody_has_asked_for_a_while(film, simulator, clock):
    beat(film, simulator, clock)
    assert film.is_rolling
    clock.advance(2.5)
    film.note(simulator, PERIOD, pytest.fail)
    assert not film.is_rolling
    assert not film._frames


def test_a_film_without_new_moments_stands_still_and_one_of_no_such_car_is_refused(film, simulator, clock):
    beat(film, simulator, clock)
    with pytest.raises(SceneError, match="there is no car 8 now"):
        film.take_picture("top", 8, *SIZE)
    clock.advance(0.3)
    assert not film.is_rolling


def test_the_place_is_shown_without_a_car_and_passes_by(film, simulator, clock):
    beat(film, simulator, clock)
    first = decode_picture(film.take_picture("place", 0, *SIZE)).astype(int)
    clock.advance(1.0)
    second = decode_picture(film.take_picture("place", 0, *SIZE)).astype(int)
    assert first.std() > 10.0
    assert np.abs(first - second).mean() > 2.0


def test_watching_changes_no_byte_of_the_state(film, simulator, clock):
    begin = simulator.snapshot()
    sums = []
    for is_watched in (True, False):
        simulator.restore(begin)
        for _ in range(5):
            simulator.drive_car(0, 0.2, 0.5)
            simulator.step()
            if is_watched:
                film.note(simulator, PERIOD, lambda: {7: 0})
                film.take_picture("chase", 7, *SIZE)
        simulator.render([0])
        sums.append((simulator.sum_up(), simulator.get_picture(0).tobytes()))
    assert sums[0] == sums[1]
