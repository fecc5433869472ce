"""What a minute of driving brings the pilot for unseen places: the tables of docs/guide/real-car.md.

DONKEYSIM_DRIVE=TUB make soak ARGS="-k fine_tuning"    on a drive of a real car
make soak ARGS="-k anywhere_learns_a_place"            in three places that it does not know: half an hour on two cores
"""

import json
import os
from pathlib import Path

import pytest

from donkeysim.learn.evaluate import evaluate
from donkeysim.learn.pilot import load_pilot
from donkeysim.learn.real_drives import read_drive
from donkeysim.tub.writer import TubWriter
from soak.typed_commands import run_donkey

DRIVE = os.environ.get("DONKEYSIM_DRIVE")

pytestmark = [pytest.mark.soak, pytest.mark.timeout(3600)]

KINDS = {"cam/image_array": "image_array", "user/angle": "float", "user/throttle": "float", "user/mode": "str"}


def write_drive(path, drive, begin, end):
    """Write some of a drive's records as a tub of their own."""
    with TubWriter(path, [*KINDS], [*KINDS.values()]) as writer:
        for record, (angle, throttle) in zip(drive.records[begin:end], drive.driven[begin:end], strict=True):
            values = (record.load_image(), angle, throttle, "user")
            writer.write_record(dict(zip(KINDS, values, strict=True)))
    return path


@pytest.mark.skipif(DRIVE is None, reason="DONKEYSIM_DRIVE names no tub of a real car")
def test_a_minute_of_a_drive_teaches_the_pilot_for_unseen_places(tmp_path):
    drive = read_drive(Path(DRIVE).resolve(), tmp_path / "read")
    half = len(drive.records) // 2
    run_donkey(tmp_path, "createcar", "--path", "car")
    car = tmp_path / "car"
    write_drive(car / "judge", drive, half, len(drive.records))
    seconds = {"anywhere": 0.0}
    for count in (300, 1200):
        write_drive(car / f"last_{count}", drive, max(0, half - count), half)
        original = ("--set", "TRAIN_RECIPE=original")
        for name, words in (("mine", ("--transfer", "anywhere")), ("linear", ()), ("original", original)):
            model = f"models/{name}_{count}.h5"
            seconds[model] = run_donkey(car, "train", "--tub", f"last_{count}", "--model", model, *words)
    run_donkey(car, "evaluate", "--real", "judge", "--ceiling", "0", "--model", *seconds)
    rows = json.loads((car / "real.json").read_bytes())["drives"][0]["rows"]
    pilots = {row["name"]: row for row in rows}
    for name, row in pilots.items():
        print(name, {key: value for key, value in row.items() if key != "worst"})
    print(json.dumps(seconds))
    assert len(pilots) == len(seconds) + 1


@pytest.mark.parametrize("place", ["warehouse", "circuit_launch", "roboracingleague_1"])
def test_a_minute_brings_anywhere_learns_a_place_what_10000_records_bring_a_new_pilot(place, tmp_path):
    """One steady person drove both, and a third drive that judges; then ten laps."""
    run_donkey(tmp_path, "createcar", "--path", "car")
    car = tmp_path / "car"
    for seed, count in enumerate((1200, 10_000, 2000), 1):
        drive = ("--driver", "steady", "--track", place, "--seed", str(seed), "--records", str(count))
        run_donkey(car, "sample", *drive, "--out", f"drive_{count}")
    original = ("--set", "TRAIN_RECIPE=original")
    seconds = {
        "anywhere": 0.0,
        "models/minute.onnx": run_donkey(car, "train", "--tub", "drive_1200", "--model", "models/minute.onnx"),
        "models/long.onnx": run_donkey(car, "train", "--tub", "drive_10000", "--model", "models/long.onnx", *original),
    }
    laps = {}
    for model in seconds:
        result = evaluate(load_pilot(model if model == "anywhere" else car / model), [place], 10).runs[0]
        laps[model] = f"{len(result.lap_times)} laps, {len(result.departures)} times off the road, {result.ending}"
    run_donkey(car, "evaluate", "--real", "drive_2000", "--ceiling", "0", "--model", *seconds)
    rows = json.loads((car / "real.json").read_bytes())["drives"][0]["rows"]
    for row in rows:
        figures = {key: value for key, value in row.items() if key != "worst"}
        print(place, figures, laps.get(row["name"]), seconds.get(row["name"]), flush=True)
    print(place, laps, seconds)
