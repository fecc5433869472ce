"""The expert drives laps by telemetry alone, goes along to other places, and stands still where it knows nothing."""

import functools

import pytest

from donkeysim.car.config import make_default_config
from donkeysim.core.errors import SceneError
from donkeysim.drive.parts.expert import ExpertPilot
from donkeysim.drive.simulated_car import make_expert, make_simulated_car
from donkeysim.envs.built_in import BuiltInCar
from donkeysim.envs.conf import read_conf
from donkeysim.world.specs import load_car
from donkeysim.world.tracks import load_scene
from waiting import wait_until

CAR = load_car("original")


@functools.cache
def load(spec):
    return load_scene(spec)


def drive(place, seconds, expert=None):
    """Let an expert drive; return how much of the path it drove, for how long it was off the road, and its speed."""
    car = BuiltInCar(place, read_conf({}))
    car.open()
    expert = expert or ExpertPilot(CAR, lambda: place, load=load)
    moment = car.begin_episode(1)
    wait_until(lambda: expert.run(None, moment.telemetry) != (0.0, 0.0))
    off_road = 0.0
    for _ in range(round(20 * seconds)):
        car.drive(*expert.run(None, moment.telemetry))
        car.advance()
        moment = car.observe(with_pictures=False)
        off_road += 0.05 * (not moment.telemetry.on_road)
    ledger = car.simulator.ledger
    driven = float(ledger.furthest[0] / ledger.path_length[0])
    car.close()
    return driven, off_road, moment.telemetry.speed


@pytest.mark.parametrize(
    "place", ["generated_track", "carpet_hall", pytest.param("canyon_road", marks=pytest.mark.soak)]
)
def test_the_expert_drives_along_the_road_of_any_place(place):
    driven, off_road, speed = drive(place, 20.0)
    assert driven > 0.15
    assert off_road == 0.0
    assert speed > 0.5


def test_a_car_on_another_road_than_the_known_one_stands_still(caplog):
    car = BuiltInCar("carpet_hall", read_conf({}))
    car.open()
    telemetry = car.begin_episode(1).telemetry
    expert = ExpertPilot(CAR, lambda: "generated_track", load=load)
    wait_until(lambda: expert.run(None, telemetry) == (0.0, 0.0) and "another one" in caplog.text)
    assert expert.run(None, telemetry) == (0.0, 0.0)
    car.close()


def test_a_place_that_is_not_known_here_is_said_once(caplog):
    def find(name):
        raise SceneError(f"there is no {name}")

    expert = ExpertPilot(CAR, lambda: "elsewhere", find_scene=find)
    wait_until(lambda: expert.run(None, None) == (0.0, 0.0) and "there is no elsewhere" in caplog.text)
    for _ in range(5):
        expert.run(None, None)
    assert caplog.text.count("there is no elsewhere") == 1


def test_the_expert_of_a_car_follows_it_to_other_places():
    car = make_simulated_car(make_default_config())
    expert = make_expert(car)
    outputs = wait_until(lambda: car.run(0.0, 0.0))
    wait_until(lambda: expert.run(None, outputs[1]) != (0.0, 0.0))
    car.go_to("carpet_hall")
    wait_until(lambda: car.run(0.0, 0.0) and car.place == "carpet_hall")
    telemetry = car.run(0.0, 0.0)[1]
    wait_until(lambda: expert.run(None, telemetry) != (0.0, 0.0))
    car.halt()
    car.shutdown()
