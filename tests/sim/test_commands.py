"""Commands: the one door to a simulator. As data they are whole, for many rows they are what they are for one."""

import dataclasses
import typing

import msgspec
import numpy as np
import pytest

from donkeysim.core.errors import CapacityError, SpecError
from donkeysim.record.action_log import _list_numbers
from donkeysim.sim import commands
from donkeysim.sim.simulator import Simulator
from donkeysim.sim.snapshot import hash_state, list_arrays
from donkeysim.world.ledger import Ledger
from donkeysim.world.specs import BodySpec, CameraSpec, LidarSpec, RoadSpec, SceneSpec, WorldSpec

WORLDS, CARS = 3, 2
ROWS = [4, 1, 2]

POINTS = [(1.0, 2.0, 0.1), (0.1, -3.0, 0.07), (4.0, 4.5, 0.2)]
TURNS = [(1.0, 0.0, 0.0, 0.2), (0.3, 0.1, 0.0, 2.0), (0.9, 0.0, 0.1, -0.4)]

EVERY = [
    commands.Drive([0, 1], [0.1, -0.2], [0.3, 0.4], None),
    commands.Drive(None, np.array([0.1, 0.2]), None, np.zeros(2)),
    commands.Join([0, 0, 1], [BodySpec("f1", (1, 2, 3), "Ada"), None]),
    commands.Leave([3]),
    commands.Retire(np.array([3, 4])),
    commands.Recall([1, 0]),
    commands.Dress([0], BodySpec("cybertruck")),
    commands.SetCamera([0, 1], CameraSpec(width=32, height=24, depth=True), second=True),
    commands.SetCamera([1], None),
    commands.SetLidar([0], LidarSpec(level_count=2)),
    commands.SetLidar([0], None),
    commands.Reset([np.int64(1), 2]),
    commands.Move([0], [(1.0, 2.0, 3.0)], None),
    commands.Move([0], np.array([[1.0, 2.0, 3.0]]), TURNS[:1]),
    commands.Pose(ROWS, POINTS, TURNS),
    commands.PutOnPath(ROWS, [1.0, 2.0, 3.0], np.zeros(3), [0.1, 0.2, 0.3]),
    commands.PutOnPath([0], [1.0], [0.0], [0.0], [0.5]),
    commands.SetSpawn(ROWS, POINTS, TURNS),
    commands.ClearHits(),
    commands.ClearHits([1]),
    commands.Seed([0, 2], [7, 2**62]),
    commands.Restore(5),
    commands.Restore(5, [1]),
    commands.SetParams(b"12345678"),
    commands.ChangeScene(SceneSpec("warehouse", road=RoadSpec(1, 2, 0.5))),
]


@pytest.fixture(scope="module")
def scene():
    return Simulator(WorldSpec()).scene


@pytest.fixture
def make(scene):
    def make(cars=CARS):
        simulator = Simulator(WorldSpec(world_count=WORLDS, cars_per_world=cars, seed=3), scene=scene)
        simulator.apply(commands.Join([*range(WORLDS)] * CARS, []))
        rows = simulator.list_cars()
        simulator.apply(commands.Drive(rows, np.linspace(-0.3, 0.3, len(rows)), np.full(len(rows), 0.4), None))
        simulator.step(120)
        return simulator

    return make


def sum_up(simulator):
    """All bytes that a run depends on, and the ledger's."""
    arrays = list_arrays(simulator.snapshot()) | vars(simulator.ledger)
    return {name: np.asarray(array).tobytes() for name, array in arrays.items()}


def test_every_command_is_tried_here():
    assert {type(command) for command in EVERY} == set(typing.get_args(commands.Command))


@pytest.mark.parametrize("command", EVERY, ids=lambda command: type(command).__name__)
def test_a_command_comes_back_from_a_log_as_it_went(command):
    packed = msgspec.msgpack.encode(command, enc_hook=_list_numbers)
    again = msgspec.msgpack.decode(packed, type=commands.Command)
    assert type(again) is type(command)
    for name in command.__struct_fields__:
        there, here = getattr(again, name), getattr(command, name)
        assert np.array_equal(there, here) if isinstance(here, (list, np.ndarray)) else there == here
    assert msgspec.msgpack.encode(again) == packed


MANY = {
    "reset": commands.Reset(ROWS),
    "on the path": commands.PutOnPath(ROWS, [1.0, 57.3, -2.0], [0.1, -0.2, 0.0], [0.3, 0.0, -3.0]),
    "on the path, rolling": commands.PutOnPath(
        ROWS, [1.0, 7.3, 2.0], [0.1, 0.0, 0.0], [0.3, 0.0, 1.0], [0.4, 1.0, 0.0]
    ),
    "moved": commands.Move(ROWS, POINTS, TURNS),
    "posed": commands.Pose(ROWS, POINTS, TURNS),
    "spawn": commands.SetSpawn(ROWS, POINTS, TURNS),
    "driven": commands.Drive(ROWS, [0.1, 0.2, 0.3], None, [0.5, 0.0, 1.0]),
    "left": commands.Leave(ROWS),
    "retired": commands.Retire(ROWS),
    "hits": commands.ClearHits(ROWS),
}


@pytest.mark.parametrize("name", MANY)
def test_a_command_for_many_rows_is_the_same_one_by_one(make, name):
    together, single = make(), make()
    before, command = sum_up(together), MANY[name]
    together.apply(command)
    fields = [getattr(command, field) for field in command.__struct_fields__]
    for place in range(len(ROWS)):
        single.apply(type(command)(*(field if field is None else [field[place]] for field in fields)))
    assert sum_up(together) == sum_up(single)
    assert name == "hits" or sum_up(together) != before, "it does something"
    for simulator in (together, single):
        simulator.step()
    assert sum_up(together) == sum_up(single)


def test_who_retired_is_recalled_where_it_was_with_its_looks(make):
    simulator = make()
    simulator.apply(commands.Dress([1], BodySpec("f1", name="Anna")))
    before = sum_up(simulator)
    simulator.apply(commands.Retire([1]))
    assert 1 not in simulator.list_cars()
    simulator.apply(commands.Recall([1]))
    assert sum_up(simulator) == before
    assert simulator.get_body(1).name == "Anna"


@pytest.mark.parametrize("row", [-1, 5, 99])
def test_a_row_where_none_retired_is_not_recalled(make, row):
    simulator = make(cars=3)
    simulator.apply(commands.Retire([3]))
    before = sum_up(simulator)
    with pytest.raises(SpecError) as caught:
        simulator.apply(commands.Recall([3, row]))
    assert str(caught.value) == f"there is no car {row} that could be recalled; retired cars: [3]."
    assert sum_up(simulator) == before


def test_a_moment_brings_a_car_that_left_back_with_its_looks_and_sensors(make):
    simulator = make()
    simulator.apply(commands.Dress([1], BodySpec("f1", name="Anna")))
    simulator.configure_camera(1, CameraSpec(width=16, height=8), second=True)
    simulator.configure_lidar(1, LidarSpec(level_count=2))
    moment = simulator.snapshot()
    simulator.remove_car(1)
    simulator.restore(moment, [0])
    assert (simulator.get_body(1).name, simulator.get_lidar(1)) == ("Anna", LidarSpec(level_count=2))
    simulator.render()
    assert simulator.get_picture(1).any()
    assert simulator.get_picture(1, second=True).shape == (8, 16, 3)
    assert simulator.observe_telemetry(1).hit == "none"


def test_a_moment_of_another_simulator_brings_cars_that_look_and_see_as_new_ones_do(make, scene):
    fresh = Simulator(WorldSpec(world_count=WORLDS, cars_per_world=CARS), scene=scene)
    fresh.restore(make().snapshot())
    assert fresh.get_body(5) == BodySpec()
    assert fresh.get_camera(5) == fresh.car_spec.camera
    fresh.render()
    assert fresh.get_picture(5).any()
    assert fresh.observe_telemetry(5).hit == "none"


def test_a_car_that_joins_has_nothing_of_one_that_retired_in_its_slot(make):
    simulator = make()
    simulator.configure_camera(1, CameraSpec(width=16, height=8), second=True)
    simulator.configure_lidar(1, LidarSpec())
    simulator.retire_car(1)
    assert simulator.add_car(0) == 1
    assert simulator.list_sensors(1) == (simulator.car_spec.camera, None, None)


def test_a_picture_that_was_not_drawn_and_an_unknown_body_are_told_in_a_sentence(make):
    simulator = make(cars=3)
    simulator.render([0])
    with pytest.raises(SpecError, match=r"no picture of the camera of car 1 has been drawn; .* render the car"):
        simulator.get_picture(1)
    with pytest.raises(SpecError, match=r"there is no car 2; cars now, retired ones included: \[0, 1, 3"):
        simulator.get_body(2)


def test_joining_and_seeding_many_is_the_same_one_by_one(scene):
    together, single = (Simulator(WorldSpec(world_count=3, cars_per_world=2), scene=scene) for _ in range(2))
    assert together.apply(commands.Join([2, 0, 2], [BodySpec("f1"), None])) == [4, 0, 5]
    for world, body in ((2, BodySpec("f1")), (0, None), (2, BodySpec("f1"))):
        single.apply(commands.Join([world], [body]))
    together.apply(commands.Seed([2, 1], [5, 6]))
    for world, seed in ((2, 5), (1, 6)):
        single.apply(commands.Seed([world], [seed]))
    assert sum_up(together) == sum_up(single)
    assert [together.get_body(car) for car in (0, 4, 5)] == [single.get_body(car) for car in (0, 4, 5)]


def test_restoring_some_worlds_is_the_same_one_by_one(make):
    together, single = make(), make()
    moment = together.snapshot()
    for simulator in (together, single):
        simulator.step(48)
    gone_on = sum_up(single)
    together.apply(commands.Restore(moment, [2, 0]))
    for world in (2, 0):
        single.apply(commands.Restore(moment, [world]))
    assert sum_up(together) == sum_up(single) != gone_on
    together.apply(commands.Restore(moment, [1]))
    assert hash_state(together.state) == hash_state(moment.state)


def test_a_join_that_finds_no_place_leaves_nothing_behind(make):
    simulator = make(cars=3)
    before = sum_up(simulator)
    with pytest.raises(CapacityError, match="all 3 places"):
        simulator.apply(commands.Join([0, 1, 2, 1], [BodySpec("f1")]))
    assert sum_up(simulator) == before
    assert simulator.list_cars() == [0, 1, 3, 4, 6, 7]
    assert simulator.apply(commands.Join([1], [])) == [5]
    assert simulator.get_body(5) == BodySpec()


def list_unknown(row):
    numbers, point, turn = [0.5], [POINTS[0]], [TURNS[0]]
    return [
        commands.Drive([row], numbers, None, None),
        commands.Leave([row]),
        commands.Retire([row]),
        commands.Dress([row], BodySpec("f1")),
        commands.SetCamera([row], CameraSpec()),
        commands.SetLidar([row], LidarSpec()),
        commands.Reset([0, row]),
        commands.Move([row], point, turn),
        commands.Pose([row], point, turn),
        commands.PutOnPath([row], numbers, numbers, numbers),
        commands.SetSpawn([row], point, turn),
        commands.ClearHits([row]),
    ]


@pytest.mark.parametrize("row", [-1, 8, 99])
def test_an_unknown_row_is_told_in_a_sentence_and_nothing_is_changed(make, row):
    simulator = make(cars=3)
    before = sum_up(simulator)
    for command in list_unknown(row):
        with pytest.raises(SpecError) as caught:
            simulator.apply(command)
        assert str(caught.value) == f"there is no car {row}; cars now: [0, 1, 3, 4, 6, 7]."
    with pytest.raises(SpecError, match="there is no car"):
        simulator.observe_telemetry(row)
    assert sum_up(simulator) == before


@pytest.mark.parametrize("world", [-1, 3])
def test_an_unknown_world_is_told_in_a_sentence_and_nothing_is_changed(make, world):
    simulator = make(cars=3)
    before = sum_up(simulator)
    moment = simulator.snapshot()
    for command in (commands.Join([0, world], []), commands.Seed([world], [1]), commands.Restore(moment, [world])):
        with pytest.raises(SpecError) as caught:
            simulator.apply(command)
        assert str(caught.value) == f"there is no world {world}; this simulator has the worlds 0 to 2."
    assert sum_up(simulator) == before


def test_reading_changes_nothing(make):
    simulator = make()
    simulator.configure_lidar(0, LidarSpec())
    before, hashed = sum_up(simulator), hash_state(simulator.state)
    told = []
    for _ in range(2):
        seen = [simulator.observe_telemetry(car, frame=3) for car in simulator.list_cars()]
        told.append((seen, simulator.list_events(), simulator.scan_lidar(0), simulator.sum_up()))
        simulator.render()
    assert told[0] == told[1]
    assert hash_state(simulator.state) == hashed
    assert sum_up(simulator) == before


def test_the_ledger_cannot_be_written(make):
    ledger = make().ledger
    for name in Ledger.__dataclass_fields__:
        if name == "cars_per_world":
            continue
        with pytest.raises(ValueError, match="read-only"):
            getattr(ledger, name)[...] = 0
    with pytest.raises(dataclasses.FrozenInstanceError):
        ledger.position = np.zeros((6, 3))


def test_what_a_command_changes_shows_in_the_ledger_at_once(make):
    simulator = make()
    ledger, path = simulator.ledger, simulator.scene.path
    simulator.apply(commands.PutOnPath([2], [3.25], [0.1], [0.2], [0.5]))
    assert (ledger.along[2], ledger.offset[2]) == (pytest.approx(3.25), pytest.approx(0.1))
    assert ledger.forward_speed[2] == pytest.approx(0.5)
    assert ledger.path_length[2] == pytest.approx(path.frame.length)
    assert (ledger.driven[2], ledger.furthest[2], ledger.still_time[2]) == (0.0, 0.0, 0.0)
    simulator.drive_car(2, steer=0.7)
    assert ledger.steer[2] == 0.7
    simulator.reset_car(2)
    assert (ledger.lap[2], ledger.reset_count[2], ledger.brake[2]) == (0, 1, 10.0)
