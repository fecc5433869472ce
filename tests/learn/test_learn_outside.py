"""What becomes of pilots, databases, plots and reports where the disk is full, read-only, or a writer was killed."""

import json

import pytest

from donkeysim.core.errors import DonkeySimError, PilotError
from donkeysim.drive.parts.pilots import PilotShelf
from donkeysim.learn import train as training
from donkeysim.learn.database import append_entry, read_entries
from donkeysim.learn.files.model_file import load_model, save_model
from donkeysim.learn.pilot import load_pilot
from donkeysim.learn.train import plot_losses, train
from small_disk import fill_up, forbid_writing, list_files, mount_disk
from stand_ins.steered_tub import make_config, write_steered_tub
from stand_ins.untrained_models import SmallConfig, get_model, make_picture

HISTORY = {"loss": [0.5, 0.25], "val_loss": [0.75, 0.5]}


@pytest.fixture(scope="module")
def tub(tmp_path_factory):
    path = tmp_path_factory.mktemp("tubs") / "data"
    write_steered_tub(path, 60)
    return path


def save(path):
    save_model(get_model("linear", SmallConfig), path, "linear", SmallConfig)


@pytest.mark.parametrize("ending", [".h5", ".keras", ".onnx"])
def test_a_pilot_on_a_full_and_on_a_read_only_disk_keeps_the_one_before(tmp_path, ending):
    with mount_disk(tmp_path / "disk", "8m") as disk:
        path = disk / f"pilot{ending}"
        save(path)
        before = path.read_bytes()
        for room in (0, 5_000, len(before) - 10_000):
            ballast = fill_up(disk, room)
            with pytest.raises(PilotError, match=rf"^[^\n]*pilot\{ending}: No space left on device; make room[^\n]*$"):
                save(path)
            assert list_files(disk) == [path.name]
            ballast.unlink()
        forbid_writing(disk)
        with pytest.raises(PilotError, match=r"Read-only file system; work in another folder"):
            save(path)
        assert path.read_bytes() == before


def test_a_plot_and_a_database_on_a_full_disk_keep_those_before(tmp_path):
    with mount_disk(tmp_path / "disk", "1m") as disk:
        append_entry(disk, {"Number": 1})
        plot_losses(HISTORY, disk / "pilot.png", "pilot")
        before = (disk / "pilot.png").read_bytes()
        fill_up(disk)
        with pytest.raises(DonkeySimError, match=r"pilot\.png: No space left on device; make room"):
            plot_losses({"loss": [1.0], "val_loss": [2.0]}, disk / "pilot.png", "another")
        with pytest.raises(DonkeySimError, match=r"database\.json: No space left on device; make room"):
            append_entry(disk, {"Number": 2, "Comment": "long " * 10_000})
        assert (disk / "pilot.png").read_bytes() == before
        assert [entry["Number"] for entry in read_entries(disk)] == [1]
        assert list_files(disk) == ["database.json", "pilot.png"]


def test_a_database_that_cannot_be_read_now_is_not_taken_for_damaged(tmp_path, monkeypatch):
    append_entry(tmp_path, {"Number": 1})

    def refuse(*_arguments, **_options):
        raise OSError(24, "Too many open files")

    with monkeypatch.context() as patch:
        patch.setattr("pathlib.Path.read_text", refuse)
        with pytest.raises(DonkeySimError, match=r"database\.json: Too many open files; close"):
            append_entry(tmp_path, {"Number": 2})
    assert list_files(tmp_path) == ["database.json"]
    assert json.loads((tmp_path / "database.json").read_text()) == [{"Number": 1}]


class Disk:
    """Takes pilots, but not while it is full; it is from the write after `room` on, until training is over."""

    def __init__(self, monkeypatch, room):
        from donkeysim.learn import fit as fitting  # takes seconds, which only who trains should pay

        self.room, self.refused, self.learnt = room, 0, None
        self._fit = fitting.fit
        monkeypatch.setattr(training, "save_model", self.save)
        monkeypatch.setattr(fitting, "fit", self.fit)

    def save(self, model, path, *told):
        if self.room == 0:
            self.refused += 1
            raise PilotError(f"cannot write {path}: No space left on device; make room and try again.")
        self.room -= 1
        save_model(model, path, *told)

    def fit(self, model, *arguments):
        result = self._fit(model, *arguments)
        self.room, self.learnt = 1, [array.tolist() for array in model.get_weights()]
        return result


def learn(tub, folder):
    config = make_config(folder, MAX_EPOCHS=4, USE_EARLY_STOP=False, CREATE_TF_LITE=False, SHOW_PLOT=False)
    return train(config, tub, folder / "pilot.h5")


def test_a_disk_that_is_full_for_a_while_costs_no_training(tub, tmp_path, monkeypatch, caplog):
    disk = Disk(monkeypatch, room=1)
    result = learn(tub, tmp_path)
    assert len(result.history["loss"]) == 4
    assert disk.refused >= 1
    assert "make room and try again. Training continues" in caplog.text
    assert [array.tolist() for array in load_model(result.model_path).get_weights()] == disk.learnt
    assert len(read_entries(tmp_path)) == 1


def test_a_disk_that_is_full_from_the_first_epoch_on_ends_training_at_once(tub, tmp_path, monkeypatch):
    Disk(monkeypatch, room=0)
    with pytest.raises(PilotError, match="make room"):
        learn(tub, tmp_path)
    assert list_files(tmp_path) == []


def test_hidden_files_are_offered_to_nobody(tmp_path):
    (tmp_path / ".pilot.12-abcd_123.new.h5").write_bytes(b"half")
    with pytest.raises(PilotError, match="no other pilot lies in"):
        load_pilot(tmp_path / "pilot.h5")
    shelf = PilotShelf(lambda *_: None, tmp_path, make_picture())
    shelf._list_files()
    assert shelf.choices == ()
