"""What becomes of logs and snapshots where the disk is full, read-only or slow, and where writers were killed."""

import subprocess
import sys

import pytest

from donkeysim.core.errors import DonkeySimError, SpecError
from donkeysim.record import action_log
from donkeysim.record.action_log import Head, LogReader, LogWriter, Stepped
from donkeysim.record.recorder import open_simulator
from donkeysim.record.replay import Replay
from donkeysim.record.snapshot_file import load_snapshot, save_snapshot
from donkeysim.sim.simulator import Simulator
from donkeysim.world.specs import WorldSpec
from small_disk import fill_up, forbid_writing, list_files, mount_disk

HEAD = Head(WorldSpec(), {"donkeysim": "0"})


@pytest.fixture(scope="module")
def simulator():
    simulator = Simulator(WorldSpec())
    simulator.add_car()
    return simulator


def count_steps(path):
    reader = LogReader(path)
    return sum(isinstance(event, Stepped) for event in reader.read_events()), reader


def test_a_log_that_cannot_be_begun_leaves_no_file(tmp_path, monkeypatch):
    def refuse(file, content):
        file.write(content[:20])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(action_log, "_write", refuse)
    with pytest.raises(DonkeySimError, match=r"run\.dlog cannot be written: No space left on device; make room"):
        LogWriter(tmp_path / "run.dlog", HEAD)
    assert list_files(tmp_path) == []


def test_a_write_that_is_cut_short_is_gone_on_with(tmp_path):
    class Slow:
        def __init__(self, file):
            self.file = file

        def write(self, content):
            return self.file.write(bytes(content)[:3])

    with (tmp_path / "file").open("wb", buffering=0) as file:
        action_log._write(Slow(file), b"all of this")
    assert (tmp_path / "file").read_bytes() == b"all of this"


@pytest.mark.parametrize("length", [0, 5, 12, 20])
def test_a_log_whose_writer_died_at_its_beginning_says_so(tmp_path, length):
    path = tmp_path / "run.dlog"
    LogWriter(path, HEAD).close()
    path.write_bytes(path.read_bytes()[:length])
    with pytest.raises(SpecError, match=r"run\.dlog holds nothing to replay: "):
        LogReader(path)


def test_a_log_ends_in_order_on_a_full_disk_and_its_reader_has_all_before(tmp_path, monkeypatch, caplog):
    monkeypatch.setattr(action_log, "BLOCK_BYTES", 100)
    with mount_disk(tmp_path / "disk") as disk:
        writer = LogWriter(disk / "run.dlog", HEAD)
        fill_up(disk, room=8192)
        for number in range(5_000):
            writer.append(Stepped(number, (number * 2654435761) % (1 << 32)))
            if caplog.records:
                break
        writer.close()
        assert caplog.text.count("run.dlog ends here: No space left on device; make room") == 1
        steps, reader = count_steps(disk / "run.dlog")
        assert number - 50 < steps <= number
        assert not reader.is_damaged
        with pytest.raises(DonkeySimError, match="make room"):
            LogWriter(disk / "other.dlog", HEAD)
        forbid_writing(disk)
        with pytest.raises(DonkeySimError, match="cannot be created: Read-only file system; work in another folder"):
            LogWriter(disk / "other.dlog", HEAD)
        assert list_files(disk) == ["run.dlog"]


def test_a_log_replays_while_it_is_still_written(tmp_path, monkeypatch):
    monkeypatch.setattr(action_log, "BLOCK_BYTES", 1)
    driven = open_simulator(WorldSpec(), log=tmp_path / "run.dlog")
    driven.add_car()
    for _ in range(5):
        driven.step()
    replay = Replay(tmp_path / "run.dlog")
    assert sum(1 for _ in replay.play()) >= 4
    assert replay.deviation is None
    driven.close()


def test_what_a_killed_snapshot_left_is_taken_away(tmp_path, simulator):
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    (tmp_path / f".moment.{process.pid}-abcd_123.new.npz").write_bytes(b"PK half")
    path = save_snapshot(tmp_path / "moment.npz", simulator)
    assert list_files(tmp_path) == ["moment.npz"]
    assert load_snapshot(path).spec == simulator.spec


def test_a_snapshot_on_a_full_and_on_a_read_only_disk_keeps_the_one_before(tmp_path, simulator):
    with mount_disk(tmp_path / "disk") as disk:
        path = save_snapshot(disk / "moment.npz", simulator)
        before = path.read_bytes()
        fill_up(disk, room=4096)
        with pytest.raises(DonkeySimError, match=r"moment\.npz.*No space left on device; make room"):
            save_snapshot(path, simulator)
        assert list_files(disk) == ["moment.npz"]
        forbid_writing(disk)
        with pytest.raises(DonkeySimError, match=r"moment\.npz.*Read-only file system; work in another folder"):
            save_snapshot(path, simulator)
        assert path.read_bytes() == before
