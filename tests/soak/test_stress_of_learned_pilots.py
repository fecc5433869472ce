"""Whether randomisation helps pilots that learn while they drive: the table of `donkey evaluate --stress` in the guide.

Takes about ten minutes on two cores with nothing else to do.
"""

import json
import shutil
import subprocess
import sys

import pytest

pytestmark = [pytest.mark.soak, pytest.mark.timeout(0)]

LEARN = ("rl", "--teacher", "expert", "--pictures", "2", "--speed", "0.6", "--steps", "120000", "--page", "0", "--out")

COLUMNS = ("light", "shadow", "distractors", "battery", "delay", "field of view")


def run_donkey(folder, *words):
    subprocess.run([sys.executable, "-m", "donkeysim", *words], cwd=folder, check=False)


def test_randomisation_helps_where_something_is_left_to_help(tmp_path):
    for name, options in {"without": (), "randomised": ("--randomize", "real")}.items():
        run_donkey(tmp_path, *LEARN, name, *options)
        shutil.copy(tmp_path / name / "pilot.onnx", tmp_path / f"{name}.onnx")
    run_donkey(tmp_path, "evaluate", "--stress", "--model", "without.onnx", "randomised.onnx", "--seeds", "3")
    cells = json.loads((tmp_path / "stress.json").read_bytes())["cells"]
    score = {(cell["model"].rpartition("/")[2], cell["column"]): cell["score"]["mean"] for cell in cells}
    gains = {column: score["randomised.onnx", column] - score["without.onnx", column] for column in COLUMNS}
    print(
        json.dumps({"case": "stress_of_learned_pilots", **{column: round(gain, 3) for column, gain in gains.items()}})
    )
    assert sum(gain > 0.0 for gain in gains.values()) >= 4
    assert all(gain > 0.0 or score["randomised.onnx", column] == 1.0 for column, gain in gains.items())
