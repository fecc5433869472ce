"""What a minute of a real drive brings the pilot for unseen places: the table of docs/guide/real-car.md.

DONKEYSIM_DRIVE=TUB make soak ARGS="-k fine_tuning"
"""

import json
import os
from pathlib import Path

import pytest

from donkeysim.learn.real_drives import read_drive
from donkeysim.tub.writer import TubWriter
from soak.typed_commands import run_donkey

DRIVE = os.environ.get("DONKEYSIM_DRIVE")

pytestmark = [pytest.mark.soak, pytest.mark.skipif(DRIVE is None, reason="DONKEYSIM_DRIVE names no tub of a real car")]

KINDS = {"cam/image_array": "image_array", "user/angle": "float", "user/throttle": "float", "user/mode": "str"}


def write_drive(path, drive, begin, end):
    """Write some of a drive's records as a tub of their own."""
    with TubWriter(path, [*KINDS], [*KINDS.values()]) as writer:
        for record, (angle, throttle) in zip(drive.records[begin:end], drive.driven[begin:end], strict=True):
            values = (record.load_image(), angle, throttle, "user")
            writer.write_record(dict(zip(KINDS, values, strict=True)))
    return path


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
