"""Kill a driving car at random moments while it records; then read all its tubs, with the original's reader too.

Set DONKEYCAR_PYTHON to an interpreter that has donkeycar 5.3.0 to ask the original. KILLS changes how many.
"""

import json
import os
import random
import subprocess
from pathlib import Path

import pytest

from donkeysim.tub.reader import TubReader
from e2e.car_process import CarProcess, make_car, say, wait_for_news

pytestmark = pytest.mark.soak

KILL_COUNT = int(os.environ.get("KILLS", "100"))
SETTINGS = "DRIVE_LOOP_HZ = 100\nAUTO_CREATE_NEW_TUB = {}\n"
JUDGE = Path(__file__).parents[1] / "judges" / "read_tub.py"


def read_index(tub):
    """Return how many records the manifest counts; 0 before there is one."""
    try:
        return json.loads((tub / "manifest.json").read_text().splitlines()[4])["current_index"]
    except (OSError, IndexError):
        return 0


def record_until_killed(folder, seconds):
    """Drive and record for so long, then die; return the tub, the records it counted before, and the exit code."""
    with CarProcess(folder) as car, car.drive() as page:
        say(page, angle=0.1, throttle=0.2, recording=True)
        wait_for_news(page, "recording", True)
        manifests = (folder / "data").rglob("manifest.json")
        tub = max(manifests, key=lambda path: path.stat().st_mtime).parent
        with pytest.raises(subprocess.TimeoutExpired):
            car.process.wait(seconds)
        index = read_index(tub)
        car.process.kill()
        return tub, index, car.wait()


@pytest.mark.timeout(3600)
def test_a_killed_drive_loses_one_record_at_most(tmp_path):
    chance = random.Random(0)
    folders = [make_car(tmp_path / name, SETTINGS.format(name == "new")) for name in ("new", "same")]
    counts, torn = {}, 0
    for number in range(KILL_COUNT):
        tub, index, code = record_until_killed(folders[number % 2], chance.uniform(0.0, 0.6))
        assert code == -9
        records = list(TubReader(tub))
        pictures = len(list((tub / "images").glob("*.jpg")))
        assert len(records) >= max(index, pictures - 1), "an earlier record is lost"
        assert all(record.load_image().shape == (120, 160, 3) for record in records)
        torn += pictures > len(records)
        counts[tub] = len(records)
    read = ask_original({tub: count for tub, count in counts.items() if count})
    figures = {"tubs": len(counts), "records": sum(counts.values()), "torn": torn, "read_by_the_original": read}
    print("\n" + json.dumps({"case": "kill_drive", "kills": KILL_COUNT, **figures}))


def ask_original(counts):
    """Let the original read the tubs; return how many it read, None when it is not there.

    It does not see the record that was being written when it was the first of a catalog that no manifest names yet.
    """
    python = os.environ.get("DONKEYCAR_PYTHON")
    if not python:
        return None
    run = subprocess.run([python, JUDGE, "read", *counts], capture_output=True, text=True, check=True)
    answers = [json.loads(line) for line in run.stdout.splitlines() if line.startswith("{")]
    for answer, count in zip(answers, counts.values(), strict=True):
        assert answer.get("count", 0) in (count, count - 1), answer
    return sum("count" in answer for answer in answers)
