"""What becomes of tubs, films and plots where the disk is full or read-only, the clock goes back, or files run out."""

import re

import pytest

from donkeysim.core.errors import DonkeySimError, TubError
from donkeysim.tub import writer as tub_writer
from donkeysim.tub.film import write_film
from donkeysim.tub.folder import next_tub_path
from donkeysim.tub.histogram import draw_histograms
from donkeysim.tub.reader import TubReader
from donkeysim.tub.writer import TubWriter
from small_disk import fill_up, forbid_writing, list_files, mount_disk
from stand_ins.untrained_models import make_picture
from tub.drives import INPUTS, TYPES, make_record, write_tub
from tub.mixed import delete_range
from tub.strict import read_strictly


def test_a_tub_on_a_disk_that_fills_up_keeps_every_record_and_goes_on_where_there_is_room(tmp_path):
    with mount_disk(tmp_path / "disk") as disk:
        path = disk / "data"
        ballast = fill_up(disk, room=300_000)
        with TubWriter(path, INPUTS, TYPES, max_catalog_len=7) as writer:
            with pytest.raises(TubError, match=r"record \d+ into the tub .* is full\. Earlier records .* make room"):
                write_on(writer)
            count = writer.current_index
            assert count > 20
            assert len(list(TubReader(path))) == count
            assert len(read_strictly(path)) in (count, count - 1)
            ballast.unlink()
            assert writer.write_record(make_record(0)) == count
        assert len(read_strictly(path)) == len(list(TubReader(path))) == count + 1


def test_a_tub_on_a_read_only_disk_is_read_and_its_changes_refused_with_what_to_do(tmp_path):
    with mount_disk(tmp_path / "disk") as disk:
        write_tub(disk / "data", 3)
        forbid_writing(disk)
        assert len(TubReader(disk / "data")) == 3
        for change in (lambda: TubWriter(disk / "data"), lambda: delete_range(disk / "data", 0, 1)):
            with pytest.raises(TubError, match=r"Read-only file system; work in another folder"):
                change()


def test_a_record_for_which_no_file_can_be_opened_is_refused_and_the_next_is_written(tmp_path):
    resource = pytest.importorskip("resource")
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with TubWriter(tmp_path / "data", INPUTS, TYPES) as writer:
        writer.write_record(make_record(0))
        resource.setrlimit(resource.RLIMIT_NOFILE, (3, hard))
        try:
            with pytest.raises(TubError, match=r"record 1 .*Too many open files; close"):
                writer.write_record(make_record(1))
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        assert writer.write_record(make_record(1)) == 1
    assert len(read_strictly(tmp_path / "data")) == 2


def test_a_clock_that_goes_back_costs_no_record_no_session_and_no_tub(tmp_path, monkeypatch):
    now = [2_000_000_000.0]
    monkeypatch.setattr(tub_writer.time, "time", lambda: now[0])
    path = tmp_path / "data"
    for _ in range(3):
        write_tub(path, 2)
        now[0] -= 10 * 365 * 24 * 3600.0
    records = list(TubReader(path))
    assert [record.index for record in records] == [0, 1, 2, 3, 4, 5]
    assert len({record.session_id for record in records}) == 3
    (tmp_path / "tub_9_99-12-31").mkdir()
    assert re.fullmatch(r"tub_10_\d\d-\d\d-\d\d", next_tub_path(tmp_path).name)


def test_a_film_and_a_plot_that_cannot_be_finished_leave_those_before(tmp_path):
    frames = [make_picture(seed, (240, 320, 3)) for seed in range(60)]
    with mount_disk(tmp_path / "disk", "8m") as disk:
        assert write_film(disk / "films" / "drive.mp4", 20, frames[:5]) == 5
        draw_histograms({"user/angle": [0.0, 1.0]}, disk / "data.png")
        kept = {path: path.read_bytes() for path in (disk / "films" / "drive.mp4", disk / "data.png")}
        ballast = fill_up(disk, room=10_000)
        with pytest.raises(TubError, match=r"drive\.mp4.*No space left on device; make room"):
            write_film(disk / "films" / "drive.mp4", 20, frames)
        with pytest.raises(DonkeySimError, match=r"data\.png: No space left on device; make room"):
            draw_histograms({"user/angle": [0.0, 2.0]}, disk / "data.png")
        ballast.unlink()
        with pytest.raises(RuntimeError):
            write_film(disk / "films" / "drive.mp4", 20, interrupt(frames))
        forbid_writing(disk)
        with pytest.raises(TubError, match="Read-only file system; work in another folder"):
            write_film(disk / "more" / "drive.mp4", 20, frames)
        assert {path: path.read_bytes() for path in kept} == kept
        assert list_files(disk / "films") == ["drive.mp4"]


def write_on(writer):
    while True:
        writer.write_record(make_record(writer.current_index))


def interrupt(frames):
    yield from frames[:5]
    raise RuntimeError("somebody pressed a key")


def test_a_film_of_no_pictures_leaves_the_one_before(tmp_path):
    (tmp_path / "drive.mp4").write_bytes(b"film")
    assert write_film(tmp_path / "drive.mp4", 20, []) == 0
    assert (tmp_path / "drive.mp4").read_bytes() == b"film"
    assert list_files(tmp_path) == ["drive.mp4"]
