"""Action logs: whatever is done to a simulator is done again, bit for bit; damage and cuts are told."""

import functools
import struct
import zlib

import numpy as np
import pytest

from donkeysim.core.errors import DonkeySimError, SpecError
from donkeysim.record import action_log
from donkeysim.record.action_log import LogReader
from donkeysim.record.recorder import open_simulator
from donkeysim.record.replay import Replay
from donkeysim.record.snapshot_file import load_snapshot, save_snapshot
from donkeysim.sim import commands
from donkeysim.sim import place as sim_place
from donkeysim.sim.simulator import Simulator
from donkeysim.sim.snapshot import hash_state, list_arrays
from donkeysim.world.specs import BodySpec, CameraSpec, LidarSpec, SceneSpec, WorldSpec

FLAT = WorldSpec(SceneSpec("flat"))


@pytest.fixture(autouse=True, scope="module")
def _share_scenes():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sim_place, "share_scene", functools.cache(sim_place.share_scene))
        yield


def play(path, **options):
    replay = Replay(path)
    for _ in replay.play(**options):
        pass
    return replay


def drive(driven, steps, seed=0):
    rng = np.random.default_rng(seed)
    for _ in range(steps):
        steer, throttle = rng.uniform(-1, 1, driven.car_count), rng.uniform(-0.2, 1, driven.car_count)
        driven.apply(commands.Drive(None, steer, throttle, np.zeros(driven.car_count)))
        driven.step()


def do_everything(log):
    """Do to a simulator whatever can be done to one."""
    spec = WorldSpec(SceneSpec(), world_count=2, cars_per_world=3, seed=5, more_scenes=(SceneSpec("flat"),))
    driven = open_simulator(spec, log=log)
    cars = [driven.add_car(world, BodySpec(name="a") if world else None) for world in (0, 0, 1, 1)]
    driven.configure_camera(cars[0], CameraSpec(width=32, height=24), second=True)
    driven.configure_camera(cars[1], None)
    driven.configure_lidar(cars[0], LidarSpec(sweep_increment=0.5))
    driven.configure_car(cars[0], BodySpec(style="f1", colour=(1, 2, 3)))
    drive(driven, 10)
    moment = driven.snapshot()
    driven.drive_car(cars[1], throttle=0.7)
    driven.reset_car(cars[0])
    driven.step(7)
    driven.move_car(cars[0], driven.ledger.position[cars[0]] + 0.2)
    driven.put_on_path(cars[1], np.float64(3.5), -0.1, 0.2)
    driven.apply(commands.PutOnPath(np.array(cars[:2]), np.array([1.0, 2.0]), [0.0, 0.1], [0.0, 0.0], [0.4, 0.5]))
    driven.clear_hits([cars[0]])
    driven.seed_world(1, 99)
    drive(driven, 10, seed=1)
    driven.set_spawn(cars[1], (1.0, 2.0, 0.06), (1.0, 0.0, 0.0, 0.0))
    driven.restore(moment, [1])
    driven.remove_car(cars[1])
    drive(driven, 5)
    assert driven.add_car(0) == cars[1]
    driven.place_car(cars[3], np.array([3.0, 1.0, 0.06]), (1.0, 0.0, 0.0, 0.5))
    driven.retire_car(cars[2])
    drive(driven, 5)
    driven.restore(moment)
    driven.drive_car(0, steer=np.nan)
    driven.step()
    driven.physics.car_params.drag[cars[0]] *= 2.0  # as somebody may who knows no better
    drive(driven, 5)
    moment.state.velocity[cars[0]] = 0.3  # a moment that is changed is another one
    driven.restore(moment)
    driven.restore(moment, [0])
    driven.step(0)
    driven.clear_hits([cars[0]])
    driven.step()
    driven.clear_hits()
    driven.close()
    return driven


def test_everything_that_can_be_done_is_done_again(tmp_path):
    driven = do_everything(tmp_path / "run.dlog")
    replay = play(tmp_path / "run.dlog")
    assert replay.broken == ""
    assert replay.deviation is None
    assert replay.differences == ()
    assert replay.step_count == 39
    assert hash_state(replay.simulator.state) == hash_state(driven.state)
    for again, first in zip(
        list_arrays(replay.simulator.snapshot()).items(), list_arrays(driven.snapshot()).items(), strict=True
    ):
        assert again[0] == first[0]
        assert again[1].tobytes() == first[1].tobytes()
    for car in driven.list_cars():
        assert replay.simulator.get_body(car) == driven.get_body(car)
        assert replay.simulator.get_lidar(car) == driven.get_lidar(car)
        for second in (False, True):
            assert replay.simulator.get_camera(car, second) == driven.get_camera(car, second)
    replay.simulator.render([0])
    driven.render([0])
    assert np.array_equal(replay.simulator.get_picture(0, True), driven.get_picture(0, True))


CAR = """
base = "rc16"
mass = 1.9
wheel_radius = 0.035
[camera]
position = [0.02, 0.0, 0.2]
"""

CAMERA = """
width = 80
height = 60
[lens]
model = "plumb_bob"
size = [640, 480]
focal = [500.0, 500.0]
centre = [319.5, 239.5]
coefficients = [-0.2, 0.03, 0.001, 0.0, 0.0]
"""


def drive_own(folder):
    """Drive a car of files, and return the files and the simulator, after it has gone back to a moment."""
    files = folder / "own.toml", folder / "eye.toml"
    for file, text in zip(files, (CAR, CAMERA), strict=True):
        file.write_text(text)
    spec = WorldSpec(SceneSpec("flat"), car=str(files[0]), camera=str(files[1]))
    driven = open_simulator(spec, log=folder / "run.dlog")
    driven.add_car()
    drive(driven, 8)
    moment = driven.snapshot()
    drive(driven, 8, seed=1)
    driven.restore(moment)
    save_snapshot(folder / "moment.npz", driven)
    driven.close()
    return files, driven


def test_a_log_and_a_snapshot_hold_a_car_and_a_camera_of_files(tmp_path):
    files, driven = drive_own(tmp_path)
    for file in files:
        file.unlink()
    replay = play(tmp_path / "run.dlog")
    assert (replay.broken, replay.deviation) == ("", None)
    assert replay.simulator.car_spec == driven.car_spec
    assert replay.simulator.car_spec.camera.lens.focal == (500.0, 500.0)
    assert hash_state(replay.simulator.state) == hash_state(driven.state)
    stored = load_snapshot(tmp_path / "moment.npz")
    again = Simulator(stored.spec)
    again.restore(stored.snapshot)
    assert hash_state(again.state) == hash_state(driven.state)


def test_a_file_that_has_changed_since_changes_no_replay(tmp_path):
    files, _ = drive_own(tmp_path)
    files[0].write_text(CAR.replace("1.9", "2.9"))
    assert play(tmp_path / "run.dlog").deviation is None


def test_a_log_of_old_that_only_names_its_car_is_replayed_where_the_file_is(tmp_path, monkeypatch):
    monkeypatch.setattr("donkeysim.record.recorder.hold_car", lambda spec, _: spec)
    files, _ = drive_own(tmp_path)
    assert play(tmp_path / "run.dlog").deviation is None
    files[0].unlink()
    with pytest.raises(SpecError, match=r"own\.toml"):
        Replay(tmp_path / "run.dlog")


def test_presets_are_named_only(tmp_path):
    open_simulator(FLAT, log=tmp_path / "run.dlog").close()
    assert LogReader(tmp_path / "run.dlog").head.spec == FLAT


def test_servo_esc_and_battery_are_repeated_too(tmp_path):
    driven = open_simulator(WorldSpec(SceneSpec("flat"), car="rc10"), log=tmp_path / "run.dlog")
    driven.add_car()
    drive(driven, 10)
    moment = driven.snapshot()
    drive(driven, 10, seed=1)
    states = [driven.state.powertrain.copy()]
    driven.restore(moment)
    drive(driven, 10, seed=1)
    states.append(driven.state.powertrain.copy())
    driven.close()
    replay = play(tmp_path / "run.dlog")
    assert replay.deviation is None
    assert np.array_equal(*states)
    assert states[0].any()
    assert np.array_equal(replay.simulator.state.powertrain, states[0])


def test_a_log_changes_nothing(tmp_path):
    states = []
    for log in (None, tmp_path / "run.dlog"):
        driven = open_simulator(FLAT, log=log)
        driven.add_car()
        drive(driven, 50)
        states.append(hash_state(driven.state))
        driven.close()
    assert states[0] == states[1]


def test_another_outcome_is_told_with_its_step(tmp_path, monkeypatch):
    path = tmp_path / "run.dlog"
    driven = open_simulator(FLAT, log=path)
    driven.add_car()

    sum_up = Simulator.sum_up

    def sum_wrongly(self):  # the 13th step comes out otherwise
        return sum_up(self) ^ int(self.state.step_index[0] == 13 * 24)

    monkeypatch.setattr(Simulator, "sum_up", sum_wrongly)
    drive(driven, 20)
    driven.close()
    monkeypatch.undo()
    replay = play(path)
    assert replay.deviation == 13
    assert replay.step_count == 13
    assert play(path, to_the_end=True).step_count == 20


def test_other_versions_and_tracks_are_named(tmp_path, monkeypatch):
    path = tmp_path / "run.dlog"
    driven = open_simulator(FLAT, log=path)
    driven.close()
    head = LogReader(path).head
    head.origin |= {"Numba": "0.1", "track flat": "00000000"}
    monkeypatch.setattr(action_log, "Head", lambda *_: head)
    open_simulator(FLAT, log=tmp_path / "other.dlog").close()
    monkeypatch.undo()
    differences = Replay(tmp_path / "other.dlog").differences
    assert len(differences) == 2
    assert differences[0].startswith("Numba 0.1 then, ")
    assert differences[1].startswith("track flat 00000000 then, ")


def make_log(tmp_path, monkeypatch, steps=30):
    """Return a log with a block for every ten steps or so."""
    monkeypatch.setattr(action_log, "BLOCK_BYTES", 200)
    monkeypatch.setattr(action_log, "BLOCK_SECONDS", 1e9)
    path = tmp_path / "run.dlog"
    driven = open_simulator(FLAT, log=path)
    driven.add_car()
    drive(driven, steps)
    driven.close()
    return path


def test_a_cut_log_replays_up_to_the_cut(tmp_path, monkeypatch):
    path = make_log(tmp_path, monkeypatch)
    whole = path.read_bytes()
    counts = set()
    for size in range(len(whole) - 1, 600, -211):
        path.write_bytes(whole[:size])
        replay = play(path)
        assert replay.deviation is None
        assert "breaks off" in replay.broken or "not closed" in replay.broken
        counts.add(replay.step_count)
    assert max(counts) == 29
    assert len(counts) > 2


def test_a_flipped_bit_is_told(tmp_path, monkeypatch):
    path = make_log(tmp_path, monkeypatch)
    whole = path.read_bytes()
    begins = LogReader(path).position
    for place in range(0, len(whole), 131):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 4]) + whole[place + 1 :])
        if place < begins:
            with pytest.raises(SpecError):
                Replay(path)
            continue
        replay = play(path)
        assert "damaged" in replay.broken
        assert replay.is_damaged
        assert replay.deviation is None


def test_a_forged_log_is_told_and_does_no_harm(tmp_path, monkeypatch):
    path = make_log(tmp_path, monkeypatch, 3)
    begin = path.read_bytes()[: action_log._PREFIX.size]
    head = action_log._pack_block(action_log.msgspec.msgpack.encode(LogReader(path).head))
    forged = (
        [commands.Drive([99], [1.0], None, None)],
        [commands.Drive([0], [1.0, 2.0, 3.0], None, None)],
        [commands.Reset([7])],
        [commands.PutOnPath([0], [], [], [])],
        [commands.Restore(3)],
        [action_log.LoggedSnapshot(b"short")],
        [commands.Join([5], [None])],
        [commands.Seed([7], [1])],
        [commands.SetParams(b"12345678")],
        [["nonsense"]],
        {"no": "list"},
    )
    for events in forged:
        path.write_bytes(begin + head + action_log._pack_block(action_log.msgspec.msgpack.encode(events)))
        replay = play(path)
        assert replay.broken, events
        assert "\n" not in replay.broken
    for content, text in [
        (b"", "holds nothing to replay"),
        (b"PK\3\4" * 9, "not an action log"),
        (begin, "nothing to replay"),
        (begin[:8] + struct.pack("<I", 6) + head, "has format 6"),
        (begin[:8] + struct.pack("<I", 2) + head, "replay it with the donkeysim that wrote it"),
        (begin + struct.pack("<II", 9, 9) + struct.pack("<I", zlib.crc32(struct.pack("<II", 9, 9))), "breaks off"),
    ]:
        path.write_bytes(content)
        with pytest.raises(SpecError, match=text):
            Replay(path)
    with pytest.raises(SpecError, match="cannot be read"):
        Replay(tmp_path / "missing.dlog")


def test_a_log_is_never_written_over(tmp_path):
    for _ in range(3):
        open_simulator(FLAT, log=tmp_path / "run.dlog")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["run-2.dlog", "run-3.dlog", "run.dlog"]
    (tmp_path / "file").write_text("")
    with pytest.raises(DonkeySimError, match="cannot be created"):
        open_simulator(FLAT, log=tmp_path / "file" / "run.dlog")


def test_a_full_disk_ends_the_log_and_not_the_drive(tmp_path, monkeypatch, caplog):
    monkeypatch.setattr(action_log, "BLOCK_BYTES", 200)
    path = tmp_path / "run.dlog"
    driven = open_simulator(FLAT, log=path)
    driven.add_car()
    drive(driven, 20)

    def refuse(file, content):
        file.write(content[:5])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(action_log, "_write", refuse)
    drive(driven, 20)
    driven.close()
    assert caplog.text.count("ends here: No space left on device") == 1
    replay = play(path)
    assert 10 <= replay.step_count <= 20
    assert replay.deviation is None
    assert "not closed" in replay.broken
