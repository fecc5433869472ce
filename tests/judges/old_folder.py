"""A car folder and a tub of the original go on with us, and what we make of them goes back to it.

    python tests/judges/old_folder.py PYTHON_WITH_DONKEYCAR

For each of the templates complete and simulator: the original's `createcar` makes the folder and its `TubWriter` the
tub; a person has written settings into myconfig.py. Then, with our commands: `donkey update`, a drive through the
page that adds to that tub, `donkey train`, and a drive of Local Pilot with the result. In the end the original reads
the tub of both, and its own pilot class loads the model and says the same. Ends with exit code 1 when anything fails.
"""

from __future__ import annotations

import json
import logging
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

TESTS = Path(__file__).resolve().parents[1]
RECORD_COUNT, ADDED_COUNT = 400, 40
TOLERANCE = 1e-4

OWN = """
# appended by a person
DONKEY_GYM = True
DONKEY_SIM_PATH = "path to sim"
DONKEY_GYM_ENV_NAME = "donkey-generated-track-v0"
GYM_CONF = { "body_style" : "car01", "body_rgb" : (255, 205, 0), "car_name" : "Ada", "font_size" : 50}
MAX_EPOCHS = 3
AI_THROTTLE_MULT = 1.1
"""


def write_as_original(folder: Path) -> None:
    """Write the tub of a drive, as the original's car does while it records."""
    from donkeycar.parts.tub_v2 import TubWriter

    with np.load(folder / "drive.npz") as drive:
        names, kinds = (
            ["cam/image_array", "user/angle", "user/throttle", "user/mode"],
            ["image_array", "float", "float"],
        )
        tub = TubWriter(str(folder / "data"), inputs=names, types=[*kinds, "str"], metadata=[])
        for image, angle, throttle in zip(drive["images"], drive["angles"], drive["throttles"], strict=True):
            tub.run(image, float(angle), float(throttle), "user")
        tub.close()


def read_as_original(folder: Path) -> None:
    """Read the tub and let the pilot look at its pictures; print both as JSON."""
    from donkeycar.config import load_config
    from donkeycar.pipeline.types import TubDataset
    from donkeycar.utils import get_model_by_type

    config = load_config(str(folder / "config.py"))
    records = TubDataset(config, [str(folder / "data")]).get_records()
    pilot = get_model_by_type("linear", config)
    pilot.load(str(folder / "models" / "mypilot.h5"))
    answers = [[float(value) for value in pilot.run(record.image())] for record in records[:20]]
    print("ANSWER" + json.dumps({"records": len(records), "answers": answers}))


def judge(python: str, folder: Path, template: str) -> bool:
    """Return whether all goes well with one template."""
    make_folder(python, folder, template)
    before = (folder / "myconfig.py").read_bytes()
    run(folder, sys.executable, "-m", "donkeysim", "update", "--template", template)
    records = add_records(folder)
    run(folder, sys.executable, "-m", "donkeysim", "train", "--tub", "./data", "--model", "models/mypilot.h5")
    moved = drive_with_pilot(folder)
    output = run(folder, python, __file__, "--read-as-original", folder)
    answer = json.loads(output[output.index("ANSWER") + 6 :].splitlines()[0])
    difference = compare_pilots(folder, answer["answers"])
    untouched = (folder / "myconfig.py").read_bytes() == before
    print(
        f"template {template}: {RECORD_COUNT} records of the original and {len(records) - RECORD_COUNT} of ours in one "
        f"tub, the original reads {answer['records']}; trained; the pilot drove {moved:.1f} m; in the original it "
        f"differs by {difference:.1e}; myconfig.py is {'untouched' if untouched else 'CHANGED'}"
    )
    return untouched and answer["records"] == len(records) and difference <= TOLERANCE and moved > 1.0


def make_folder(python: str, folder: Path, template: str) -> None:
    """Have the original make a car folder and record into it what our expert drives."""
    from donkeysim.drive.sample import record_sample
    from donkeysim.tub.reader import TubReader

    script = "from donkeycar.management.base import execute_from_command_line as run; run()"
    run(folder.parent, python, "-c", script, "createcar", "--path", folder, "--template", template)
    with (folder / "myconfig.py").open("a", encoding="utf-8") as file:
        file.write(OWN)
    record_sample(folder.parent / f"sample_{template}", record_count=RECORD_COUNT)
    records = list(TubReader(folder.parent / f"sample_{template}"))
    np.savez(
        folder / "drive.npz",
        images=[record.load_image() for record in records],
        angles=[record.values["user/angle"] for record in records],
        throttles=[record.values["user/throttle"] for record in records],
    )
    run(folder, python, __file__, "--write-as-original", folder)


def add_records(folder: Path) -> list:
    """Drive and record through the page; return all records of the tub."""
    from donkeysim.tub.reader import TubReader
    from e2e.car_process import CarProcess, say, wait_for_news

    with CarProcess(folder) as car, car.drive() as page:
        say(page, angle=0.1, throttle=0.2, recording=True)
        wait_for_news(page, "num_records", RECORD_COUNT + ADDED_COUNT, 300.0)  # it may compile first
        assert car.end() == 0, car.text
    return list(TubReader(folder / "data"))


def drive_with_pilot(folder: Path) -> float:
    """Let the pilot drive for five seconds; return how far it came [m]."""
    from e2e.car_process import CarProcess
    from soak.page_person import PagePerson

    with CarProcess(folder, "--model", "models/mypilot.h5") as car:
        car.wait_for("finished loading in")
        with PagePerson(car.wait_for(r"You can now go to (http://\S+) to drive your car")[1]) as person:
            person.wait_until_ready()
            moved = person.measure_pilot(5.0)
        assert car.end() == 0, car.text
    return moved


def compare_pilots(folder: Path, answers: list) -> float:
    """Return the greatest difference between our pilot and the original's on the tub's first pictures."""
    from donkeysim.learn.pilot import load_pilot
    from donkeysim.tub.reader import TubReader

    pilot = load_pilot(folder / "models" / "mypilot.h5")
    ours = [pilot.run(record.load_image()) for record in list(TubReader(folder / "data"))[: len(answers)]]
    return float(np.abs(np.array(ours) - np.array(answers)).max())


def run(folder: Path, *words: str | Path) -> str:
    """Run a command and return what it printed; print that when it fails."""
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{words} ended with {done.returncode}:\n{done.stdout}\n{done.stderr}")
    return done.stdout


def main(python: str) -> int:
    """Judge all and return the exit code."""
    sys.path.insert(0, str(TESTS))
    logging.disable(logging.CRITICAL)
    with tempfile.TemporaryDirectory() as name:
        fine = [judge(python, Path(name) / template, template) for template in ("complete", "simulator")]
    print("fine" if all(fine) else "SOMETHING IS WRONG")
    return 0 if all(fine) else 1


if __name__ == "__main__":
    if sys.argv[1:2] == ["--write-as-original"]:
        write_as_original(Path(sys.argv[2]))
    elif sys.argv[1:2] == ["--read-as-original"]:
        read_as_original(Path(sys.argv[2]))
    elif len(sys.argv) == 2:
        sys.exit(main(sys.argv[1]))
    else:
        sys.exit(__doc__)
