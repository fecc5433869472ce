import numpy as np
import pytest

from donkeysim.car.config import make_default_config
from donkeysim.core.errors import SpecError
from donkeysim.drive.sample import record_sample
from donkeysim.tub.reader import TubReader


@pytest.fixture(scope="module")
def drive(tmp_path_factory):
    told = []
    path = tmp_path_factory.mktemp("sample") / "tub"
    result = record_sample(path, lap_count=2, seed=5, report=lambda done, total: told.append((done, total)))
    return result, TubReader(path), told


def test_drive_whole_laps(drive):
    result, tub, told = drive
    assert len(result.lap_times) == 2
    assert all(18.0 < lap_time < 30.0 for lap_time in result.lap_times)
    assert len(tub) == result.record_count == told[-1][0] == told[-1][1]
    assert result.simulated_time == pytest.approx((result.record_count + result.skipped_count) / 20.0)


def test_stay_on_the_road(drive):
    result, _, _ = drive
    assert result.skipped_count == 0


def test_record_what_driving_records(drive):
    _, tub, _ = drive
    assert tuple(tub.inputs) == ("cam/image_array", "user/angle", "user/throttle", "user/mode")
    record = next(iter(tub))
    assert record.load_image().shape == (120, 160, 3)
    assert record.values["user/mode"] == "user"


def test_the_tub_says_where_it_was_driven(drive):
    _, tub, _ = drive
    assert tub.places == ("generated_track",)


def test_steer_to_both_sides_and_smoothly_press(drive):
    _, tub, _ = drive
    angle = np.array([record.values["user/angle"] for record in tub])
    throttle = np.array([record.values["user/throttle"] for record in tub])
    assert angle.min() < -0.5
    assert angle.max() > 0.5
    assert throttle.min() >= 0.0
    assert throttle.max() <= 0.4
    assert np.abs(np.diff(throttle)).max() < 0.03


def test_same_seed_same_records(drive, tmp_path):
    _, tub, _ = drive
    record_sample(tmp_path / "again", seed=5, record_count=100)
    record_sample(tmp_path / "other", seed=6, record_count=100)
    first = [record.values["user/angle"] for record in list(tub)[:100]]
    again, other = TubReader(tmp_path / "again"), TubReader(tmp_path / "other")
    assert [record.values["user/angle"] for record in again] == first
    assert [record.values["user/angle"] for record in other] != first
    assert np.array_equal(next(iter(again)).load_image(), next(iter(tub)).load_image())


def test_honour_the_config(tmp_path):
    changes = {"IMAGE_W": 80, "IMAGE_H": 60, "IMAGE_DEPTH": 1, "SIM_RECORD_LOCATION": True, "DRIVE_LOOP_HZ": 10}
    result = record_sample(tmp_path / "tub", record_count=20, config=make_default_config(changes=changes))
    record = list(TubReader(tmp_path / "tub"))[-1]
    assert record.load_image().shape[:2] == (60, 80)
    assert record.values["pos/speed"] > 0.3
    assert abs(record.values["pos/cte"]) < 3.0
    assert result.simulated_time == pytest.approx(2.0)


def test_an_existing_tub_grows(tmp_path):
    for _ in range(2):
        record_sample(tmp_path / "tub", record_count=10)
    assert len(TubReader(tmp_path / "tub")) == 20


@pytest.mark.parametrize(
    "wanted", [{"lap_count": 0}, {"record_count": 0}, {"seed": -1}, {"scene": "flat"}, {"scene": "generated"}]
)
def test_refuse_what_cannot_be_driven(tmp_path, wanted):
    with pytest.raises(SpecError):
        record_sample(tmp_path / "tub", **wanted)
    assert not (tmp_path / "tub").exists()
