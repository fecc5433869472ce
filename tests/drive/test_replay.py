"""A pilot looks at a recorded drive again as the car would have shown it."""

import pytest

from donkeysim.car.config import make_default_config
from donkeysim.core.errors import TubError
from donkeysim.drive.replay import PilotReplay, compare_drive
from donkeysim.tub.reader import TubReader, read_command
from donkeysim.tub.writer import TubWriter
from tub.drives import INPUTS, TYPES, make_record, write_tub
from tub.mixed import delete_range


class StandInPilot:
    """Steers by the picture's brightness; counts how often it forgot."""

    input_names = ()

    def __init__(self, kind="linear", input_names=()):
        self.kind, self.input_names = kind, input_names
        self.resets, self.shapes, self.others = 0, set(), []

    def run(self, image, *others):
        self.shapes.add(image.shape)
        self.others.append(others)
        return image[:60].mean() / 255, 0.5

    def reset(self):
        self.resets += 1


@pytest.fixture
def config():
    return make_default_config(changes={"IMAGE_W": 32, "IMAGE_H": 24})


def test_pictures_come_in_the_size_of_the_configuration(tmp_path, config):
    tub = TubReader(write_tub(tmp_path / "data", 5))
    pilot = StandInPilot()
    driven, said = compare_drive([tub, tub], pilot, config, 7)
    assert pilot.shapes == {(24, 32, 3)}
    assert len(driven) == len(said) == 7
    assert driven[0] == (-1.0, 0.25)
    assert said[4] > said[0]


def test_a_pilot_forgets_at_every_gap(tmp_path, config):
    path = write_tub(tmp_path / "data", 9)
    delete_range(path, 3, 4)
    pilot = StandInPilot()
    compare_drive([TubReader(path)] * 2, pilot, config, 100)
    assert pilot.resets == 4


def test_a_pilot_forgets_where_another_session_begins(tmp_path, config):
    path = write_tub(tmp_path / "data", 4)
    write_tub(path, 4)  # records go on with number 4
    assert [record.index for record in TubReader(path)] == list(range(8))
    pilot = StandInPilot()
    compare_drive([TubReader(path)], pilot, config, 100)
    assert pilot.resets == 2


def test_records_that_do_not_say_what_the_driver_did_are_passed_over(tmp_path, config, caplog):
    with TubWriter(tmp_path / "data", INPUTS, TYPES) as writer:
        for number in range(4):
            writer.write_record(make_record(number) | ({"user/throttle": None} if number in (0, 2) else {}))
    driven, said = compare_drive([TubReader(tmp_path / "data")], StandInPilot(), config, 100)
    assert driven == [(-0.9, 0.25), (-0.7, 0.25)]
    assert len(said) == 2
    assert "2 records without the driver's command" in caplog.text
    delete_range(tmp_path / "data", 1, 3)
    with pytest.raises(TubError, match=r"record 0 of .* does not say what the driver did"):
        compare_drive([TubReader(tmp_path / "data")], StandInPilot(), config, 100)


def test_what_a_pilot_wants_beside_the_picture_comes_from_the_record(tmp_path, config):
    with TubWriter(tmp_path / "data", (*INPUTS, "imu/acl_x", "accel/accel_x"), (*TYPES, "float", "float")) as writer:
        writer.write_record({**make_record(0), "imu/acl_x": 0.75})
        writer.write_record({**make_record(1), "accel/accel_x": 0.5})  # what a simulated car calls it
        writer.write_record(make_record(2))
    first, second, third = TubReader(tmp_path / "data")
    pilot = StandInPilot("imu", ("imu/acl_x",))
    replay = PilotReplay(pilot, config)
    replay.answer(first)
    replay.answer(second)
    assert pilot.others == [(0.75,), (0.5,)]
    with pytest.raises(TubError, match=r"record 2 of .* pilot of the type imu: .* no IMU's readings \('imu/acl_x'"):
        replay.answer(third)


def test_saliency_has_the_stored_picture_s_size_and_needs_a_pilot_that_remembers_nothing(tmp_path, config):
    (record,) = TubReader(write_tub(tmp_path / "data", 1))
    assert PilotReplay(StandInPilot(), config).find_saliency(record).shape == (12, 16)
    with pytest.raises(TubError, match="remembers earlier pictures"):
        PilotReplay(StandInPilot("rnn"), config).find_saliency(record)


def test_a_record_without_a_driver_is_named(tmp_path):
    with TubWriter(tmp_path, ["user/angle"], ["float"]) as writer:
        writer.write_record({"user/angle": 1})
    (record,) = TubReader(tmp_path)
    with pytest.raises(TubError, match="does not say what the driver did"):
        read_command(record)
