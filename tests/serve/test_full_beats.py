"""When the telemetry of all cars does not fit into a beat: who waits, for how long, and what does not."""

import itertools
from types import SimpleNamespace

import pytest

from donkeysim.core.clock import ManualClock
from donkeysim.serve.options import SimulationOptions
from donkeysim.serve.output import OutputKind
from donkeysim.serve.picture_budget import CostAccount
from donkeysim.serve.scene_loader import SceneLoader
from donkeysim.serve.simulation import Simulation
from donkeysim.serve.telemetry_scheduler import END_SHARE, line_up, take_turns
from donkeysim.wire.reading import read_request

CLIENTS = range(1, 8)
BEAT = 0.05


class Show:
    """A running scene where each car's telemetry takes as long as the test says."""

    def __init__(self):
        self.clock, self.seconds = ManualClock(), 0.0
        options = SimulationOptions(max_cars=8)
        self.simulation = Simulation(options, self.clock, SceneLoader(options, lambda text: None))
        compose = self.simulation._composer.compose

        def compose_slowly(simulator, car):
            self.clock.advance(self.seconds)
            return compose(simulator, car)

        self.simulation._composer.compose = compose_slowly
        self.simulation.load_scene("generated_track")
        for client in CLIENTS:
            self.simulation.join(client)
        self.simulation.take_outputs()

    def run(self, beats):
        """Return how often each client heard, in which beats, and how late the last beat was."""
        heard = {client: [] for client in CLIENTS}
        begin = self.clock.now
        for beat in range(beats):
            self.clock.advance(self.simulation.seconds_to_beat())
            self.simulation.beat()
            for client, _, line in self.simulation.take_outputs():
                if line.startswith(b'{"msg_type":"telemetry"'):
                    heard[client].append(beat)
        return heard, self.clock.now - (begin + beats * BEAT)


@pytest.fixture(scope="module")
def running():
    show = Show()
    yield show
    show.simulation.close()


@pytest.fixture
def show(running):
    running.seconds = 0.0
    running.run(2)
    for client in CLIENTS:
        running.simulation.note_health(client, is_reading=True, is_troublesome=False)
    return running


def test_everybody_hears_in_every_beat_that_is_long_enough(show):
    show.seconds = BEAT / (len(CLIENTS) + 1)
    heard, _ = show.run(10)
    assert all(beats == list(range(10)) for beats in heard.values())


def test_the_first_hears_in_every_beat_and_the_others_in_turn_where_it_is_too_short(show):
    show.seconds = BEAT / 3.5
    heard, late = show.run(30)
    assert heard[1] == list(range(30))
    counts = [len(heard[client]) for client in CLIENTS if client > 1]
    assert max(counts) - min(counts) <= 2
    assert min(counts) >= 8
    assert late <= BEAT, "time goes on as it should"


@pytest.mark.parametrize("client_count", [2, 3, 7])
def test_on_a_machine_that_is_far_too_slow_everybody_hears_now_and_then(show, client_count):
    cars = [show.simulation.clients[client].car for client in CLIENTS][:client_count]
    scheduler, simulator = show.simulation.scheduler, show.simulation.simulator
    show.seconds = 3.0 * BEAT
    heard = {car.client.client_id: [] for car in cars}
    for beat in range(24):
        for outputs in scheduler.send(simulator, cars, OutputKind.TELEMETRY, lambda: 0.0):
            for client, _, _ in outputs:
                heard[client].append(beat)
    assert heard[1] == list(range(24))
    assert all(later - earlier <= 4 for beats in heard.values() for earlier, later in itertools.pairwise([-1, *beats]))


def test_who_makes_trouble_waits_for_all_others(show):
    show.simulation.note_health(2, is_reading=True, is_troublesome=True)
    show.seconds = BEAT / 3.5
    heard, _ = show.run(30)
    assert len(heard[2]) < min(len(heard[client]) for client in CLIENTS if client != 2)


def test_lock_step_waits_for_everybody(show):
    show.seconds = BEAT
    step = {"msg_type": "step_mode", "step_mode": "synchronous", "time_step": "0.05"}
    show.simulation.execute(1, read_request(step).request)
    for client in CLIENTS:
        control = {"msg_type": "control", "steering": "0", "throttle": "0", "brake": "0"}
        show.simulation.execute(client, read_request(control).request)
    heard, _ = show.run(1)
    show.simulation.execute(1, read_request({"msg_type": "step_mode", "step_mode": "asynchronous"}).request)
    assert all(beats == [0] for beats in heard.values())


def make_cars(*troublesome):
    return [
        SimpleNamespace(car_id=car, client=SimpleNamespace(is_troublesome=car in troublesome)) for car in range(1, 7)
    ]


@pytest.mark.parametrize(
    ("troublesome", "late", "order"),
    [
        ((), (), [1, 2, 3, 4, 5, 6]),
        ((), (5, 4), [1, 5, 4, 2, 3, 6]),
        ((), (9, 5), [1, 5, 2, 3, 4, 6]),
        ((2, 5), (), [1, 3, 4, 6, 2, 5]),
        ((2, 5), (6, 5), [1, 6, 3, 4, 5, 2]),
        ((1,), (3,), [3, 2, 4, 5, 6, 1]),
    ],
)
def test_who_had_to_wait_comes_before_all_others_but_the_first(troublesome, late, order):
    assert [car.car_id for car in line_up(make_cars(*troublesome), late)] == order


def make_pairs(*seconds):
    return [(car, CostAccount(car, (None, None, None), seconds=cost)) for car, cost in enumerate(seconds)]


def test_one_costly_telemetry_waits_once_at_most():
    pairs = make_pairs(0.02)
    assert [len(list(take_turns(pairs, lambda: 0.01))) for _ in range(4)] == [0, 1, 0, 1]
    assert [len(list(take_turns(pairs, lambda: 0.03))) for _ in range(3)] == [1] * 3
    assert [len(list(take_turns(pairs, None))) for _ in range(3)] == [1] * 3


def test_of_several_costly_telemetries_one_a_beat_is_made_where_none_has_room():
    pairs = make_pairs(0.02, 0.02, 0.02)
    told = [[car for car, _ in take_turns(pairs, lambda: 0.01)] for _ in range(8)]
    assert told[0] == []
    cars = [car for (car,) in told[1:]]
    assert all(set(cars[beat : beat + 3]) == {0, 1, 2} for beat in range(5)), "all take turns"


def test_who_has_room_does_not_wait_for_who_has_none():
    pairs = make_pairs(0.02, 0.005, 0.02)
    assert [car for car, _ in take_turns(pairs, lambda: 0.01)] == [1]


def test_drawing_beside_a_beat_begins_only_where_a_light_telemetry_would_fit():
    account = CostAccount(1, (None, None, None), seconds=0.1, is_apart=True)
    assert account.fits(lambda: 0.002)
    assert not account.fits(lambda: 0.0)


def test_a_full_beat_ends_before_the_next_one_is_due(show):
    show.seconds = BEAT / (len(CLIENTS) - 0.99)
    for _ in range(10):
        show.clock.advance(show.simulation.seconds_to_beat())
        show.simulation.beat()
        assert show.simulation.seconds_to_beat() >= END_SHARE * BEAT
    show.simulation.take_outputs()
