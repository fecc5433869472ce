"""The database of pilots is the original's, survives what damages it, and never loses an entry."""

import json
import logging

import pytest

from donkeysim.core.errors import DonkeySimError
from donkeysim.learn.database import append_entry, group_tubs, make_entry, name_beside, name_pilot, read_entries

FIELDS = ("Number", "Name", "Pilot", "Type", "Tubs", "Time", "History", "Transfer", "Comment", "Config")
"""What the original's entries hold, in its order."""


def make(folder, number=0, tubs=("data",)):
    history = {"loss": [0.5, 0.25], "val_loss": [0.75, 0.5]}
    config = {"BATCH_SIZE": 128, "TRAIN_FILTER": make}
    return make_entry(number, folder / "mypilot.h5", "linear", tubs, history, config, comment="first")


@pytest.mark.original("Programs and other files", "`models/database.json`", "read and written")
def test_an_entry_has_the_originals_fields(tmp_path):
    entry = make(tmp_path, tubs=("data", "more"))
    assert tuple(entry) == FIELDS
    assert (entry["Name"], entry["Pilot"], entry["Tubs"]) == ("mypilot.h5", "KerasLinear", "data,more")
    assert entry["Config"] == {"BATCH_SIZE": 128, "TRAIN_FILTER": "<not serializable>"}


def test_entries_are_appended_as_indented_json(tmp_path):
    for number in (1, 2):
        append_entry(tmp_path, make(tmp_path, number))
    assert [entry["Number"] for entry in read_entries(tmp_path)] == [1, 2]
    text = (tmp_path / "database.json").read_text()
    assert text == json.dumps(json.loads(text), indent=4)
    assert [path.name for path in tmp_path.iterdir()] == ["database.json"]


@pytest.mark.parametrize("content", ["[{", '{"a": 1}', "[1]", "\x00"])
def test_a_damaged_database_is_kept_aside(tmp_path, caplog, content):
    caplog.set_level(logging.WARNING)
    (tmp_path / "database.json").write_text(content)
    with pytest.raises(DonkeySimError, match=r"database\.json"):
        read_entries(tmp_path)
    append_entry(tmp_path, make(tmp_path, 7))
    assert [entry["Number"] for entry in read_entries(tmp_path)] == [7]
    assert (tmp_path / "database.damaged-1.json").read_text() == content
    assert "database.damaged-1.json" in caplog.text


def test_a_failed_write_leaves_the_old_database(tmp_path, monkeypatch):
    append_entry(tmp_path, make(tmp_path, 1))

    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("pathlib.Path.replace", fail)
    with pytest.raises(DonkeySimError, match="No space left on device"):
        append_entry(tmp_path, make(tmp_path, 2))
    assert [entry["Number"] for entry in read_entries(tmp_path)] == [1]
    assert len(list(tmp_path.iterdir())) == 1


def test_automatic_names_count_on_from_files_and_entries(tmp_path):
    assert name_pilot(tmp_path)[1] == 1
    append_entry(tmp_path, make(tmp_path, 4))
    (tmp_path / "pilot_26-01-31_9.h5").touch()
    (tmp_path / "pilot_of_mine.h5").touch()
    path, number = name_pilot(tmp_path)
    assert number == 10
    assert path.name.startswith("pilot_")
    assert path.name.endswith("_10.h5")


def test_sets_of_tubs_get_one_name_each(tmp_path):
    entries = [make(tmp_path, tubs=tubs) for tubs in (("a", "b"), ("c",), ("a", "b"))]
    assert group_tubs(entries) == {"a,b": "tub_group_1", "c": "tub_group_2"}


def test_two_pilots_of_one_stem_do_not_share_what_lies_beside_them(tmp_path):
    def finish(name):
        (tmp_path / name).touch()
        append_entry(tmp_path, {"Name": name})

    assert name_beside(tmp_path / "a.h5", ".onnx").name == "a.onnx"
    finish("a.h5")
    assert name_beside(tmp_path / "a.keras", ".onnx").name == "a.keras.onnx"
    finish("a.keras")
    assert name_beside(tmp_path / "a.h5", ".png").name == "a.png", "trained again"
    assert name_beside(tmp_path / "a.keras", ".png").name == "a.keras.png"
    assert name_beside(tmp_path / "b.keras", ".onnx").name == "b.onnx"
    (tmp_path / "a.h5").unlink()
    assert name_beside(tmp_path / "a.keras", ".onnx").name == "a.onnx", "the other has gone"
    (tmp_path / "database.json").write_text("{")
    assert name_beside(tmp_path / "a.keras", ".onnx").name == "a.onnx"
