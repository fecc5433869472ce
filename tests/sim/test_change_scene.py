"""A running simulator goes on in another place or on another road, with its cars, their looks and its clock."""

import numpy as np
import pytest

from donkeysim.core.errors import CapacityError, SceneError, SpecError
from donkeysim.record.recorder import open_simulator
from donkeysim.record.replay import Replay
from donkeysim.record.snapshot_file import load_snapshot, save_snapshot
from donkeysim.sim.simulator import Simulator
from donkeysim.sim.snapshot import hash_state
from donkeysim.world.specs import BodySpec, CameraSpec, ChallengeSpec, LidarSpec, RoadSpec, SceneSpec, WorldSpec

RING = """
format = 1
name = "ring"
path = { node_count = 240, length = 60.0, walk = { seed = 1, turn = 4.0 } }
road = { width_left = 0.6, width_right = 0.4 }
road_styles = [{ width_left = 0.9, width_right = 0.4, friction = 0.8 }]
start = { lines = [0.25], columns = [0.0, 0.5], slots = 6 }
props = [{ kind = "cone", every = 10.0, offset = 1.2 }]
ground = { texture = "plain" }
light = { sky = "plain" }
"""


@pytest.fixture(scope="module")
def ring(tmp_path_factory):
    path = tmp_path_factory.mktemp("tracks") / "ring.toml"
    path.write_text(RING)
    return str(path)


def drive(simulator, steps):
    for car in simulator.list_cars():
        simulator.drive_car(car, steer=0.1, throttle=0.4, brake=0.0)
    for _ in range(steps):
        simulator.step()


def test_cars_go_on_at_the_start_of_the_new_road_with_looks_sensors_and_clock(ring):
    simulator = Simulator(WorldSpec(SceneSpec(ring), cars_per_world=3))
    cars = [simulator.add_car(0, BodySpec(style=style, name=style)) for style in ("f1", "bare", "car01")]
    simulator.configure_camera(cars[0], CameraSpec(width=32, height=24))
    simulator.configure_lidar(cars[0], LidarSpec(sweep_increment=0.5))
    simulator.remove_car(cars[1])
    drive(simulator, 10)
    before, time = simulator.scene, simulator.state.step_index.copy()
    spec = SceneSpec(ring, road=RoadSpec(style=1, seed=9))
    simulator.change_scene(spec)
    assert simulator.spec.scene == spec
    assert simulator.scene is not before
    assert simulator.scene.path.width_left[0] == 0.9
    assert simulator.state.step_index == time
    for place, car in enumerate((cars[0], cars[2])):
        assert np.array_equal(simulator.state.position[car], simulator.scene.start.position[place])
        assert simulator.state.reset_count[car] == 1
        assert not simulator.state.velocity[car].any()
        assert simulator.get_body(car).style == ("f1", "car01")[place]
    simulator.render([cars[0]])
    assert simulator.get_picture(cars[0]).shape == (24, 32, 3)
    assert simulator.scan_lidar(cars[0]) is not None
    drive(simulator, 10)
    assert np.abs(simulator.state.cte[[cars[0], cars[2]]]).max() < 0.6, "they drive on the new road"


def test_the_same_comes_of_a_road_made_before_or_beside(ring):
    spec = SceneSpec(ring, road=RoadSpec(seed=3))
    runs = []
    for prepares in (True, False):
        simulator = Simulator(WorldSpec(SceneSpec(ring)))
        simulator.add_car()
        simulator.change_scene(spec, simulator.prepare_scene(spec) if prepares else None)
        drive(simulator, 20)
        runs.append(hash_state(simulator.state))
    fresh = Simulator(WorldSpec(spec))
    fresh.add_car()
    fresh.reset_car(0)
    drive(fresh, 20)
    assert runs[0] == runs[1] == hash_state(fresh.state)


def test_a_place_with_other_props_takes_the_cars_too(ring):
    simulator = Simulator(WorldSpec(SceneSpec(ring), world_count=2))
    cars = [simulator.add_car(world) for world in (0, 1)]
    drive(simulator, 5)
    simulator.change_scene(SceneSpec("flat"))
    assert len(simulator.state.prop_asleep) == 0
    assert simulator.state.step_index.tolist() == [120, 120]
    assert simulator.list_cars() == cars
    drive(simulator, 5)
    assert np.abs(simulator.state.velocity[cars, 0]).min() > 0.1


def test_a_log_and_a_snapshot_carry_the_road(ring, tmp_path):
    driven = open_simulator(WorldSpec(SceneSpec(ring)), log=tmp_path / "run.dlog")
    driven.add_car()
    drive(driven, 5)
    driven.change_scene(SceneSpec(ring, road=RoadSpec(1, 5, 2.0)))
    drive(driven, 5)
    driven.change_scene(SceneSpec("flat"))
    drive(driven, 5)
    driven.change_scene(SceneSpec(ring, road=RoadSpec(0, 7)))
    drive(driven, 5)
    stored = load_snapshot(save_snapshot(tmp_path / "now", driven))
    driven.close()
    assert stored.spec.scene.road == RoadSpec(0, 7)
    replay = Replay(tmp_path / "run.dlog")
    assert sum(1 for _ in replay.play()) == 20
    assert (replay.deviation, replay.broken) == (None, "")
    assert hash_state(replay.simulator.state) == hash_state(driven.state)
    again = Simulator(stored.spec)
    again.restore(stored.snapshot)
    assert hash_state(again.state) == hash_state(driven.state)


def test_what_is_not_possible_is_refused_and_changes_nothing(ring, tmp_path):
    simulator = Simulator(WorldSpec(SceneSpec(ring), cars_per_world=8))
    for _ in range(6):
        simulator.add_car()
    with pytest.raises(CapacityError):
        simulator.add_car()
    before = hash_state(simulator.state)
    (tmp_path / "small.toml").write_text(RING.replace('"ring"', '"small"').replace("slots = 6", "slots = 4"))
    with pytest.raises(CapacityError, match="grid of small has room for 4, not for 6 cars"):
        simulator.change_scene(SceneSpec(str(tmp_path / "small.toml")))
    with pytest.raises(SceneError, match="not a generated one"):
        simulator.change_scene(SceneSpec("flat", road=RoadSpec()))
    assert hash_state(simulator.state) == before
    several = Simulator(WorldSpec(SceneSpec("flat"), world_count=2, more_scenes=(SceneSpec("flat"),)))
    with pytest.raises(SpecError, match="several places"):
        several.change_scene(SceneSpec(ring))


def test_a_grid_whose_places_are_one_is_refused_before_anything_is_changed(ring, tmp_path):
    driven = open_simulator(WorldSpec(SceneSpec(ring), cars_per_world=2), log=tmp_path / "run.dlog")
    for _ in range(2):
        driven.add_car()
    before, scene = hash_state(driven.state), driven.scene
    (tmp_path / "narrow.toml").write_text(RING.replace('"ring"', '"narrow"'))
    place = SceneSpec(str(tmp_path / "narrow.toml"))
    prepared = driven.prepare_scene(place)
    prepared.scenes[0].start.position[:] = prepared.scenes[0].start.position[0]
    with pytest.raises(CapacityError, match="start grid of narrow"):
        driven.change_scene(place, prepared)
    assert driven.scene is scene
    assert hash_state(driven.state) == before
    drive(driven, 2)
    driven.close()
    replay = Replay(tmp_path / "run.dlog")
    assert sum(1 for _ in replay.play()) == 2
    assert (replay.deviation, replay.broken) == (None, "")


def test_cars_that_a_snapshot_brought_and_retired_ones_come_along_with_their_looks(ring):
    simulator = Simulator(WorldSpec(SceneSpec(ring), cars_per_world=2))
    for name in ("Ada", "Ben"):
        simulator.add_car(0, BodySpec("f1", name=name))
    moment = simulator.snapshot()
    simulator.remove_car(0)
    simulator.restore(moment)
    simulator.retire_car(1)
    simulator.change_scene(SceneSpec("flat"))
    simulator.recall_car(1)
    assert [simulator.get_body(car).name for car in (0, 1)] == ["Ada", "Ben"]
    simulator.move_car(1, (1.0, 0.3, 0.08))
    simulator.render()
    seen = simulator.get_picture(0).copy()
    simulator.configure_car(1, BodySpec("f1", name="Ben"))
    simulator.render()
    assert np.array_equal(simulator.get_picture(0), seen), "it was drawn with the body that it wears"


def test_a_snapshot_of_another_road_is_refused_and_changes_nothing(ring):
    simulator = Simulator(WorldSpec(SceneSpec(ring)))
    simulator.add_car()
    moment = simulator.snapshot()
    simulator.change_scene(SceneSpec(ring, road=RoadSpec(seed=9)))
    before = hash_state(simulator.state)
    with pytest.raises(SpecError, match=r"taken on ring, this simulator is on ring \(road style 0, seed 9, turn 1\)"):
        simulator.restore(moment)
    assert hash_state(simulator.state) == before
    simulator.change_scene(SceneSpec(ring))
    simulator.restore(moment)
    assert hash_state(simulator.state) == hash_state(moment.state)


def test_cars_that_are_kept_drive_on_among_other_cones_as_if_nothing_had_happened(ring, tmp_path):
    driven = open_simulator(WorldSpec(SceneSpec(ring), cars_per_world=2), log=tmp_path / "run.dlog")
    driven.add_car(0, BodySpec(name="first"))
    drive(driven, 20)
    before = {
        name: getattr(driven.state, name).copy() for name in ("position", "velocity", "wheel_speed", "lap", "hit")
    }
    cones = SceneSpec(ring, challenges=ChallengeSpec(cones=5, seed=7))
    driven.change_scene(cones, keeps_cars=True)
    assert len(driven.scene.props.mass) == 5 + len(Simulator(WorldSpec(SceneSpec(ring))).scene.props.mass)
    for name, array in before.items():
        assert np.array_equal(getattr(driven.state, name), array), name
    assert driven.get_body(0).name == "first"
    assert driven.state.reset_count[0] == 0
    assert driven.ledger.forward_speed[0] == pytest.approx(np.linalg.norm(before["velocity"][0]), rel=0.05)
    drive(driven, 10)
    assert np.linalg.norm(driven.state.position[0] - before["position"][0]) > 0.1
    driven.close()
    replay = Replay(tmp_path / "run.dlog")
    assert sum(1 for _ in replay.play()) == 30
    assert hash_state(replay.simulator.state) == hash_state(driven.state)
    with pytest.raises(SpecError, match="only on the same path"):
        driven.change_scene(SceneSpec("flat"), keeps_cars=True)
