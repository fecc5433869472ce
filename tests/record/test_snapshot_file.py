"""Snapshots: what follows one is always the same, from memory and from a file; a file that is none is told."""

import json
import struct
import zipfile

import numpy as np
import pytest

from donkeysim.core.errors import DonkeySimError, ShapeError, SpecError
from donkeysim.record.snapshot_file import load_snapshot, save_snapshot
from donkeysim.sim import commands
from donkeysim.sim.simulator import Simulator
from donkeysim.sim.snapshot import hash_state
from donkeysim.world.specs import LidarSpec, SceneSpec, WorldSpec

SPEC = WorldSpec(SceneSpec("generated_track_2020"), cars_per_world=3, world_count=2, seed=4)


@pytest.fixture(scope="module")
def place():
    return Simulator(WorldSpec(SPEC.scene)).scene


def make(place):
    simulator = Simulator(SPEC, scene=place)
    for world in (0, 0, 0, 1, 1, 1):
        car = simulator.add_car(world)
        simulator.configure_lidar(car, LidarSpec(sweep_increment=0.3))
    return simulator


def drive(simulator, steps):
    """Drive into each other and into a cone; return everything that was sensed."""
    told = []
    cone = simulator.scene.props.position[0]
    simulator.place_car(0, (cone[0] - 0.4, cone[1], 0.0736), (1.0, 0.0, 0.0, 0.0))
    for index in range(steps):
        steer = 0.4 * np.sin(0.05 * index * np.arange(1, 7))
        simulator.apply(commands.Drive(None, steer, 0.2 + 0.05 * np.arange(6), np.zeros(6)))
        simulator.step()
        told += [repr((simulator.observe_telemetry(car), simulator.scan_lidar(car))) for car in (0, 4)]
        if index % 7 == 0:
            simulator.clear_hits()
    return hash_state(simulator.state), told


def test_five_hundred_steps_after_a_snapshot_are_the_same_again(place, tmp_path):
    simulator = make(place)
    drive(simulator, 20)
    assert np.linalg.norm(simulator.state.prop_velocity) > 0.0
    moment = simulator.snapshot()
    path = save_snapshot(tmp_path / "moment.npz", simulator)
    first = drive(simulator, 500)
    simulator.restore(moment)
    again = drive(simulator, 500)
    assert again == first
    stored = load_snapshot(path)
    assert stored.spec == SPEC
    other = make(place)
    other.restore(stored.snapshot)
    assert drive(other, 500) == first


def test_a_snapshot_of_another_simulator_does_not_fit(place, tmp_path):
    path = save_snapshot(tmp_path / "moment.npz", make(place))
    with pytest.raises(ShapeError, match="same WorldSpec"):
        Simulator(WorldSpec(SPEC.scene), scene=place).restore(load_snapshot(path).snapshot)


def flip_bytes(path, name):
    """The file with other bytes in the middle of an array's data."""
    content = bytearray(path.read_bytes())
    with zipfile.ZipFile(path) as archive:
        entry = archive.getinfo(name)
    sizes = struct.unpack_from("<HH", content, entry.header_offset + 26)  # of the name and what else precedes the data
    middle = entry.header_offset + 30 + sum(sizes) + entry.compress_size // 2
    for place in range(middle, middle + 4):
        content[place] ^= 255
    return bytes(content)


def test_a_file_that_is_none_is_told_in_a_sentence(place, tmp_path):
    whole = save_snapshot(tmp_path / "moment.npz", make(place)).read_bytes()
    path = tmp_path / "other.npz"
    np.savez(tmp_path / "arrays.npz", head=np.zeros(3))
    pickled = tmp_path / "pickled.npz"
    np.savez(pickled, head=np.array([{"a": 1}], object), allow_pickle=True)
    flipped = flip_bytes(tmp_path / "moment.npz", "state.position.npy")
    contents = (b"", b"PK", b"{}", whole[: len(whole) // 2], whole[:-1], flipped, pickled.read_bytes())
    for content in (*contents, (tmp_path / "arrays.npz").read_bytes()):
        path.write_bytes(content)
        with pytest.raises(SpecError, match="not a snapshot") as caught:
            load_snapshot(path)
        assert "\n" not in str(caught.value)
    with pytest.raises(SpecError, match="cannot be read"):
        load_snapshot(tmp_path / "missing.npz")
    with pytest.raises(DonkeySimError, match="cannot write"):
        save_snapshot(tmp_path / "other.npz" / "moment.npz", make(place))
    assert not list(tmp_path.glob(".*"))


def test_a_newer_format_and_a_missing_array_are_told(place, tmp_path):
    path = save_snapshot(tmp_path / "moment.npz", make(place))
    with np.load(path) as entries:
        arrays = dict(entries)
    head = arrays["head"].tobytes()
    newer = np.frombuffer(head.replace(b'"format":3', b'"format":4'), np.uint8)
    np.savez(tmp_path / "newer.npz", **{**arrays, "head": newer})
    with pytest.raises(SpecError, match="has format 4"):
        load_snapshot(tmp_path / "newer.npz")
    np.savez(tmp_path / "short.npz", **{**arrays, "state.position": np.zeros((1, 3))})
    with pytest.raises(SpecError, match=r"state\.position has shape"):
        load_snapshot(tmp_path / "short.npz")
    with zipfile.ZipFile(path) as archive:
        assert "state.cte.npy" in archive.namelist()


def write_format_1(path, older):
    """Write a snapshot as format 1 had it: laps by the step of the last crossing, and nothing counted by frames."""
    with np.load(path) as entries:
        arrays = dict(entries)
    begun = arrays.pop("state.lap_begun")
    for name in ("lap_time", "checkpoint", "lines_passed", "along", "speed", "gain", "driven", "furthest"):
        del arrays[f"state.{name}"]
    for name in ("active_node", "active_offset"):
        del arrays[f"state.{name}"]
    for name in ("progress", "off_road_time", "still_time", "wrong_way_time"):
        del arrays[f"state.{name}"]
    arrays["state.progress"] = arrays.pop("state.shortest_along")
    arrays["state.crossing_nodes"] = arrays.pop("state.lap_nodes")
    arrays["state.crossing_step"] = np.where(begun < 0.0, -1, np.ceil(begun * 480.0)).astype(np.int64)
    arrays["state.crossing_line"] = np.zeros(len(begun), np.int32)
    head = json.loads(arrays["head"].tobytes())
    arrays["head"] = np.frombuffer(json.dumps(head | {"format": 1}).encode(), np.uint8)
    np.savez(older, **arrays)


def test_a_file_of_format_1_is_still_read_and_driven_on_from(place, tmp_path):
    simulator = make(place)
    for car in simulator.list_cars()[:-1]:
        simulator.drive_car(car, 0.0, 0.4, 0.0)
    simulator.step(720)
    assert simulator.ledger.lap.max() == 1
    assert simulator.ledger.lap.min() == 0
    write_format_1(save_snapshot(tmp_path / "moment.npz", simulator), tmp_path / "older.npz")
    stored = load_snapshot(tmp_path / "older.npz")
    other = make(place)
    other.restore(stored.snapshot)
    ours, theirs = other.ledger, simulator.ledger
    for name in ("position", "velocity", "lap", "shortest_along", "node_index", "hit", "time", "along"):
        assert np.array_equal(getattr(ours, name), getattr(theirs, name)), name
    assert np.array_equal(ours.lap_begun < 0.0, theirs.lap_begun < 0.0)
    assert ours.lap_begun == pytest.approx(theirs.lap_begun, abs=1.0 / 480.0)
    assert not ours.driven.any()
    assert np.abs(ours.active_node - theirs.active_node).max() <= 1
    for driven in (simulator, other):
        driven.step(48)
    assert np.array_equal(ours.position, theirs.position)
    assert ours.gain == pytest.approx(theirs.gain)
