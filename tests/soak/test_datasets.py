"""Datasets that `donkey convert` makes, loaded by the libraries they are made for, each in an environment of its own.

LEROBOT_PYTHON and MINARI_PYTHON name interpreters that have LeRobot (0.4, with its gigabytes) and Minari; without them
environments are made, which needs the internet. RECORDS says how many records the large tub has.
"""

import json
import os
import signal
import subprocess
import sys
import time
import venv
from pathlib import Path

import numpy as np
import pytest

from donkeysim.tub.formats.convert import convert
from donkeysim.tub.formats.lerobot import LeRobotOptions
from donkeysim.tub.reader import TubReader
from tub.mixed import write_drive

pytestmark = [pytest.mark.soak, pytest.mark.timeout(3600)]

JUDGES = Path(__file__).parents[1] / "judges"
RECORD_COUNT = int(os.environ.get("RECORDS", "20000"))
MOST_MEGABYTES = 400
CONVERT = """
import sys
from pathlib import Path
from donkeysim.tub.formats.convert import convert
convert(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3])
status = Path("/proc/self/status")  # getrusage tells what the process was forked from, too
if status.exists():
    print(int(next(line for line in status.read_text().splitlines() if line.startswith("VmHWM")).split()[1]) >> 10)
"""
NAMES = {"mcap": "drive.mcap", "parquet": "drive.parquet", "lerobot": "lerobot", "minari": "drive-v0", "tub": "copy"}


def find_python(folder, variable, *packages):
    """Return an interpreter that has packages; skips the test where there is none and none can be made."""
    given = os.environ.get(variable)
    if given:
        return given
    venv.create(folder / "judge", with_pip=True)
    python = folder / "judge" / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    done = subprocess.run([python, "-m", "pip", "install", "-q", *packages], capture_output=True, text=True)
    if done.returncode:
        pytest.skip(f"{packages[0]} cannot be installed here: {done.stderr.strip().splitlines()[-1]}")
    return python


def ask(python, judge, argument, **variables):
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", **variables}
    environment.pop("PYTHONPATH", None)
    command = [python, JUDGES / judge, argument]
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout.splitlines()[-1])


def list_truth(tub):
    records = list(TubReader(tub))
    actions = [[record.values["user/angle"], record.values["user/throttle"]] for record in records]
    return np.array([record.load_image() for record in records]), np.array(actions), records


@pytest.fixture
def tub(tmp_path):
    return write_drive(tmp_path / "data", counts=(30, 20))


def test_lerobot_loads_pictures_and_videos_with_windows_in_time(tub, tmp_path):
    python = find_python(tmp_path, "LEROBOT_PYTHON", "lerobot>=0.4,<0.5")
    pictures, actions, records = list_truth(tub)
    for video in (False, True):
        folder = tmp_path / f"video-{video}"
        done = convert(tub, folder, "lerobot", LeRobotOptions(video, task="two drives"))
        found = ask(python, "load_lerobot.py", folder, HF_HOME=str(tmp_path / "home"))
        assert (found["episodes"], found["frames"], found["rate"], found["tasks"]) == (3, 48, 20, ["two drives"])
        assert np.allclose(found["actions"], actions, atol=1e-6)
        assert np.allclose(found["mean"], actions.mean(axis=0))
        assert found["modes"] == [record.values["user/mode"] for record in records]
        assert (found["window"], found["padded"]) == ([2, 3, *pictures.shape[1:3]], [False, True])
        seen = np.array(found["pictures"]).transpose(0, 2, 3, 1)
        error = float(((seen - pictures.astype(float)) ** 2).mean())
        print(json.dumps({"video": video, "error": error, "notes": done.notes}))
        assert error < (40.0 if video else 1e-9)


def test_minari_loads_pictures_actions_and_infos(tub, tmp_path):
    python = find_python(tmp_path, "MINARI_PYTHON", "minari[hdf5]", "pillow")  # which it imports and does not ask for
    pictures, actions, records = list_truth(tub)
    convert(tub, tmp_path / "root/me/drive-v0", "minari")
    os.rename(tmp_path / "root/me/drive-v0", tmp_path / "root/drive-v0")
    found = ask(python, "load_minari.py", "drive-v0", MINARI_DATASETS_PATH=str(tmp_path / "root"))
    assert (found["episodes"], found["steps"], found["local"]) == (3, 48, ["drive-v0"])
    assert (found["shape"], found["fits"]) == (list(pictures.shape[1:]), [True] * 3)
    assert np.array_equal(found["pictures"], pictures)
    assert found["angles"] == [record.values["user/angle"] for record in records]
    assert np.allclose(found["actions"], actions, atol=1e-6)


def start(source, target, kind):
    pipes = {"stdout": subprocess.PIPE, "text": True}
    return subprocess.Popen([sys.executable, "-c", CONVERT, source, target, kind], **pipes)


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """A tub of many records, made of a small one's again and again."""
    folder = tmp_path_factory.mktemp("large")
    small = write_drive(folder / "small", counts=(200,))
    lines = [json.loads(line) for path in small.glob("*.catalog") for line in path.read_text().splitlines()]
    lines.sort(key=lambda line: line["_index"])
    target = folder / "data"
    (target / "images").mkdir(parents=True)
    head = (small / "manifest.json").read_text().splitlines()[:4]
    names = []
    for first in range(0, RECORD_COUNT, 1000):
        names.append(f"catalog_{len(names)}.catalog")
        contents = [lines[number % 200] | {"_index": number} for number in range(first, first + 1000)]
        (target / names[-1]).write_text("".join(json.dumps(content) + "\n" for content in contents))
    for picture in (small / "images").iterdir():
        (target / "images" / picture.name).write_bytes(picture.read_bytes())
    last = {"paths": names, "current_index": RECORD_COUNT, "max_len": 1000, "deleted_indexes": [2, 3]}
    (target / "manifest.json").write_text("\n".join([*head, json.dumps(last)]) + "\n")
    return target


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the peak is read as Linux tells it")
@pytest.mark.parametrize("kind", NAMES)
def test_memory_does_not_grow_with_the_tub(large, tmp_path, kind):
    for source, target, becomes in ((large, NAMES[kind], kind), (tmp_path / NAMES[kind], "back", "tub")):
        began = time.monotonic()
        with start(source, tmp_path / target, becomes) as process:
            megabytes = int(process.stdout.read())
        took = round(time.monotonic() - began, 1)
        print(json.dumps({"from": source.name, "to": becomes, "records": RECORD_COUNT, "MB": megabytes, "s": took}))
        assert megabytes < MOST_MEGABYTES
    assert len(TubReader(tmp_path / "back")) == RECORD_COUNT - 2


@pytest.mark.skipif(os.name == "nt", reason="SIGKILL")
@pytest.mark.parametrize("kind", NAMES)
def test_a_killed_conversion_leaves_nothing_that_the_next_one_does_not_remove(large, tmp_path, kind):
    with start(large, tmp_path / NAMES[kind], kind) as process:
        while not (left := list(tmp_path.iterdir())):
            os.sched_yield()
        process.send_signal(signal.SIGKILL)
    assert [path.name for path in left] != [NAMES[kind]]
    convert(large, tmp_path / NAMES[kind], kind)
    assert [path.name for path in tmp_path.iterdir()] == [NAMES[kind]]
