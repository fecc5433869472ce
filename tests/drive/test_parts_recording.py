"""What is recorded, and when: modes, counting, tubs, a full disk."""

import errno
import json
import logging

import numpy as np
import pytest

from donkeysim.core.errors import TubError
from donkeysim.drive.parts.recording import (
    RESET_LOOPS,
    DrivenOnly,
    RecordEraser,
    RecordTracker,
    ToggleRecording,
    TubRecorder,
    choose_tub_path,
)
from donkeysim.drive.vehicle import Vehicle
from donkeysim.tub.folder import next_tub_path
from donkeysim.tub.reader import TubReader
from stand_ins.watched_stage import make_telemetry

IMAGE = np.full((12, 16, 3), 90, np.uint8)
INPUTS, TYPES = ["cam/image_array", "user/angle"], ["image_array", "float"]


@pytest.fixture
def info(caplog):
    caplog.set_level(logging.INFO)
    return caplog


def test_a_pilots_drive_is_recorded_only_if_that_is_wanted(info):
    plain, always = ToggleRecording(), ToggleRecording(record_during_ai=True)
    assert plain.run("user", True) is True
    assert plain.run("local", True) is False
    assert plain.run("local_angle", True) is False
    assert always.run("local", True) is True
    assert always.run("user", None) is False
    assert info.messages.count("Ignoring recording in auto-pilot mode") == 1
    assert info.messages[:2] == ["Recording Change = True", "Setting Recording = True"]


def test_nothing_is_said_of_a_recording_that_nobody_began(info):
    assert ToggleRecording().run("user", None) is False
    assert info.messages == []


def test_records_are_counted_aloud_in_tens_and_at_round_numbers(info):
    tracker = RecordTracker(20)
    assert not tracker.run(None)
    alerts = [count for count in range(1, 42) for _ in range(2) if tracker.run(count)]
    assert alerts == [20, 40]
    assert [message.split(":")[0] for message in info.messages] == [
        f"recorded {count} records (in all drives into this tub, deleted ones too)" for count in (10, 20, 30, 40)
    ]


def test_the_count_is_told_when_somebody_asks(info):
    tracker = RecordTracker(20)
    tracker.tell()
    tracker.run(7)
    tracker.tell()
    counted = "(in all drives into this tub, deleted ones too)"
    assert info.messages == [f"recorded {count} records so far {counted}" for count in (0, 7)]


def test_a_drive_becomes_a_tub(tmp_path, info):
    recorder = TubRecorder(tmp_path / "data", INPUTS, TYPES, [("driver", "me")])
    assert recorder.run(None, 0.5) is None
    assert recorder.run(IMAGE, 0.5) == (1, True)
    assert recorder.run(IMAGE, -0.5) == (2, True)
    assert recorder.erase_last(1) == 1
    recorder.shutdown()
    reader = TubReader(tmp_path / "data")
    assert [record.values["user/angle"] for record in reader] == [0.5]
    assert reader.metadata == {"driver": "me"}
    assert "erased the last 1 record\n" in info.text


def test_a_full_disk_turns_recording_off_and_the_car_drives_on(tmp_path, monkeypatch, caplog):
    recorder = TubRecorder(tmp_path, INPUTS, TYPES)
    seen = []

    class Driver:
        def run(self):
            if len(seen) == 3:
                monkeypatch.setattr("donkeysim.tub.writer.write_file", _fail)
            seen.append(True)
            return IMAGE, 0.1

    car = Vehicle({"recording": True})
    car.add(Driver(), [], INPUTS)
    car.add(recorder, INPUTS, ["tub/num_records", "recording"], run_condition="recording")
    assert car.start(500, 10).loop_count == 10
    assert car.memory["recording"] is False
    assert car.memory["tub/num_records"] == 3
    assert "Recording was switched off; the car drives on" in caplog.text
    assert "the disk is full" in caplog.text
    assert len(TubReader(tmp_path)) == 3


def _fail(*_):
    raise OSError(errno.ENOSPC, "No space left on device")


def test_a_tub_of_other_inputs_is_refused(tmp_path):
    recorder = TubRecorder(tmp_path, INPUTS, TYPES)
    recorder.run(IMAGE, 0.1)
    recorder.shutdown()
    with pytest.raises(TubError, match=r"pilot/angle.*AUTO_CREATE_NEW_TUB"):
        TubRecorder(tmp_path, [*INPUTS, "pilot/angle"], [*TYPES, "float"])


def test_a_new_tub_is_made_inside_the_data_folder_only_when_asked_for(tmp_path):
    assert choose_tub_path(tmp_path, False) == tmp_path
    assert choose_tub_path(tmp_path, True) == next_tub_path(tmp_path)


def test_the_session_stands_in_the_manifest_after_the_shutdown(tmp_path):
    recorder = TubRecorder(tmp_path, INPUTS, TYPES)
    recorder.run(IMAGE, 0.1)
    recorder.shutdown()
    sessions = json.loads((tmp_path / "manifest.json").read_text().splitlines()[3])["sessions"]
    assert sessions["last_id"] == 0


def test_the_tub_says_where_its_records_were_driven(tmp_path):
    place = [""]
    recorder = TubRecorder(tmp_path / "data", INPUTS, TYPES, find_place=lambda: place[0])
    assert TubReader(tmp_path / "data").places == ()
    for name in ("", "oval", str(tmp_path / "hall.toml"), "oval", "ring"):
        place[0] = name
        recorder.run(IMAGE, 0.5)
    place[0] = "seen but not recorded"
    recorder.shutdown()
    assert TubReader(tmp_path / "data").places == ("oval", "hall", "ring")
    again = TubRecorder(tmp_path / "data", INPUTS, TYPES, find_place=lambda: "yard")
    again.run(IMAGE, 0.5)
    again.shutdown()
    assert TubReader(tmp_path / "data").places == ("oval", "hall", "ring", "yard")


def make_moment(speed, on_road=True):
    telemetry = make_telemetry(1.0)
    telemetry.speed, telemetry.on_road = speed, on_road
    return telemetry


@pytest.mark.parametrize(
    ("speed", "on_road", "is_recorded"),
    [(0.0, True, False), (0.04, True, False), (0.06, True, True), (1.0, False, False), (1.0, None, True)],
)
def test_only_a_car_that_is_driven_on_the_road_is_recorded(speed, on_road, is_recorded):
    moment = make_moment(speed, on_road)
    assert DrivenOnly().run(True, moment) is is_recorded
    assert DrivenOnly(record_all=True).run(True, moment) is True
    assert DrivenOnly().run(False, moment) is DrivenOnly(record_all=True).run(None, moment) is False


def test_a_simulator_that_tells_nothing_of_its_car_is_recorded():
    assert DrivenOnly().run(True, None) is True


def test_a_car_that_was_just_put_back_is_not_recorded():
    part, moment = DrivenOnly(), make_moment(1.0)
    seen = [part.run(True, moment, reset) for reset in (False, True, *[False] * RESET_LOOPS)]
    assert seen == [True, *[False] * RESET_LOOPS, True]


def test_a_car_that_rolls_down_by_itself_is_not_recorded_until_it_is_given_throttle():
    part = DrivenOnly()
    driven = [
        (0.0, 0.0, False),
        (0.3, 0.0, False),
        (0.3, 0.2, True),
        (1.0, 0.0, True),
        (0.02, 0.0, False),
        (0.3, 0.0, False),
    ]
    for speed, throttle, is_recorded in driven:
        assert part.run(True, make_moment(speed), False, throttle) is is_recorded


def test_the_last_five_seconds_of_this_drive_are_taken_back_and_no_more(tmp_path):
    for count in (30, 15):
        recorder = TubRecorder(tmp_path / "tub", INPUTS, TYPES)
        eraser = RecordEraser(recorder, rate=2.0)
        assert eraser.run(True) == 0, "what an earlier drive has recorded stays"
        for _ in range(count):
            recorder.run(IMAGE, 0.0)
        assert [eraser.run(is_wanted) for is_wanted in (None, True, False)] == [0, 10, 10]
        if count == 15:
            assert [eraser.run(True) for _ in range(2)] == [15, 15]
        recorder.shutdown()
    assert len(TubReader(tmp_path / "tub")) == 20
