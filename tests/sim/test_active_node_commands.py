"""What commands do to the original's active node: a new car's is the nearest, a reset's node 0, a move leaves it."""

import math

import pytest

from donkeysim.core.rotation import yaw_to_quaternion
from donkeysim.record import action_log
from donkeysim.record.recorder import open_simulator
from donkeysim.record.replay import Replay
from donkeysim.sim import commands
from donkeysim.sim.simulator import Simulator
from donkeysim.world.specs import SceneSpec, WorldSpec
from donkeysim.world.state import ACTIVE_FIELDS

TRACK = """format = 1
name = "hall"
[path]
start = [0.0, 0.0]
node_count = 96
segments = [{ straight = 4.0 }, { turn = 180.0, radius = 3.2 }, { straight = 4.0 }, { turn = 180.0, radius = 3.2 }]
[road]
width_left = 0.6
width_right = 0.6
[start]
poses = [[0.3, -0.493, 0.0], [3.7, 6.4195, 180.0]]
columns = [0.0]
slots = 4
lines = [1.0]
"""
"""Two starts half a lap apart; the first 3.944 U right of the path, as in the original's circuit_launch, the second
0.156 U, as in its roboracingleague_1."""


@pytest.fixture(scope="module")
def hall(tmp_path_factory):
    path = tmp_path_factory.mktemp("hall") / "hall.toml"
    path.write_text(TRACK, encoding="utf-8")
    return str(path)


@pytest.fixture
def simulator(hall):
    simulator = Simulator(WorldSpec(SceneSpec(hall), cars_per_world=2))
    simulator.add_car()
    simulator.add_car()
    return simulator


def tell(simulator, car=0):
    told = simulator.observe_telemetry(car)
    return told.cte, told.activeNode


def test_a_new_car_and_a_reset_as_in_the_original(simulator):
    assert tell(simulator, 0) == (pytest.approx(3.944), 1)
    assert tell(simulator, 1) == (pytest.approx(0.156), 49)
    for car in (0, 1):
        simulator.reset_car(car)
    assert tell(simulator, 0) == (pytest.approx(3.944), 0)
    cte, node = tell(simulator, 1)
    assert node == 0
    assert abs(cte) == pytest.approx(6.4195 * 8.0)


def test_the_second_start_wanders_until_it_comes_round(simulator):
    simulator.reset_car(1)
    simulator.step(24 * 60)
    assert 0 <= tell(simulator, 1)[1] < 60
    assert simulator.ledger.node_index[1] == 49  # ours knows where it is
    assert abs(simulator.ledger.offset[1]) < 0.05


def test_on_generated_track_the_start_is_on_the_path():
    simulator = Simulator(WorldSpec(SceneSpec("generated_track")))
    simulator.add_car()
    assert tell(simulator) == (pytest.approx(0.0043, abs=0.001), 0)
    simulator.reset_car(0)
    assert tell(simulator) == (pytest.approx(0.0043, abs=0.001), 0)


def test_a_move_leaves_it_and_our_own_ways_find_the_nearest(simulator):
    before = simulator.ledger.active_node[0]
    simulator.move_car(0, (2.0, 6.3, 0.0736), yaw_to_quaternion(math.pi))
    assert simulator.ledger.active_node[0] == before
    assert abs(tell(simulator)[0]) > 40.0
    simulator.put_on_path(0, 10.0, 0.1, 0.0)
    assert abs(simulator.ledger.active_node[0] - simulator.ledger.node_index[0]) <= 1
    assert tell(simulator)[0] == pytest.approx(-0.8, abs=0.05)
    simulator.place_car(0, (2.0, 6.3, 0.0736), yaw_to_quaternion(math.pi))
    assert abs(tell(simulator)[0]) < 1.0


def test_a_moment_brings_back_what_was_told(simulator):
    simulator.apply(commands.Drive(None, [0.0, 0.0], [0.5, 0.4], [0.0, 0.0]))
    for _ in range(40):
        simulator.step(24)
    moment, told = simulator.snapshot(), [simulator.observe_telemetry(car) for car in (0, 1)]
    simulator.step(24)
    simulator.restore(moment)
    assert [simulator.observe_telemetry(car) for car in (0, 1)] == told


def test_another_place_finds_the_nearest(simulator, hall, tmp_path):
    for car in (0, 1):
        simulator.reset_car(car)
    path = tmp_path / "other.toml"
    path.write_text(TRACK.replace('"hall"', '"other"'), encoding="utf-8")
    simulator.change_scene(SceneSpec(str(path)))
    assert [tell(simulator, car)[1] for car in (0, 1)] == [1, 49]


def drive(simulator):
    simulator.add_car()
    moment = simulator.snapshot()
    simulator.drive_car(0, 0.1, 0.5, 0.0)
    for _ in range(8):
        simulator.step(24)
    simulator.restore(moment)
    simulator.step(24)
    simulator.close()


def test_a_log_of_format_4_is_still_replayed(hall, tmp_path, monkeypatch):
    """Its checksums and moments know no active nodes."""
    from donkeysim.record import recorder

    sum_up, list_arrays = Simulator.sum_up, recorder.list_arrays
    own = {f"state.{name}" for name in ACTIVE_FIELDS}
    with monkeypatch.context() as former:
        former.setattr(action_log, "FORMAT", 4)
        former.setattr(Simulator, "sum_up", lambda self: sum_up(self, ACTIVE_FIELDS))
        former.setattr(
            recorder,
            "list_arrays",
            lambda moment: {name: array for name, array in list_arrays(moment).items() if name not in own},
        )
        drive(open_simulator(WorldSpec(SceneSpec(hall)), log=tmp_path / "former.dlog"))
    replay = Replay(tmp_path / "former.dlog")
    assert sum(1 for _ in replay.play()) == 9
    assert (replay.deviation, replay.broken) == (None, "")
    assert tell(replay.simulator)[1] == 1
    drive(open_simulator(WorldSpec(SceneSpec(hall)), log=tmp_path / "now.dlog"))
    replay = Replay(tmp_path / "now.dlog")
    assert sum(1 for _ in replay.play()) == 9
    assert (replay.deviation, replay.broken) == (None, "")
