"""Whether randomisation helps pilots that learn while they drive: the table of `donkey evaluate --stress` in the guide.

Three pilots are learned without randomisation and three with it, each from other random numbers: luck shall not decide.
Takes about an hour on two cores with nothing else to do.
"""

import json
import os
import statistics
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

pytestmark = [pytest.mark.soak, pytest.mark.timeout(0)]

LEARN = ("rl", "--colour", "--pictures", "3", "--teacher", "expert", "--speed", "0.6", "--page", "0")

WAYS = {"without": ("--steps", "120000"), "randomised": ("--steps", "160000", "--randomize", "real")}

SEEDS = ("0", "1", "2")

COLUMNS = ("light", "shadow", "distractors", "battery", "delay", "field of view")


def run_donkey(folder, *words):
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    subprocess.run([sys.executable, "-m", "donkeysim", *words], cwd=folder, check=False, env=environment)


def find_mean(cells, way, column):
    scores = [cell["score"]["mean"] for cell in cells if f"/{way}" in cell["model"] and cell["column"] == column]
    assert len(scores) == len(SEEDS)
    return statistics.mean(scores)


def test_randomisation_helps_where_something_is_left_to_help(tmp_path):
    with ThreadPoolExecutor(max_workers=2) as pair:
        for seed in SEEDS:
            for way, options in WAYS.items():
                pair.submit(run_donkey, tmp_path, *LEARN, *options, "--seed", seed, "--out", f"{way}{seed}")
    models = [f"{way}{seed}/pilot.onnx" for way in WAYS for seed in SEEDS]
    words = ("--seeds", "12", "--workers", "2", "--model", "built-in", *models)
    run_donkey(tmp_path, "evaluate", "--stress", *words)
    cells = json.loads((tmp_path / "stress.json").read_bytes())["cells"]
    score = {way: {column: find_mean(cells, way, column) for column in COLUMNS} for way in WAYS}
    print(json.dumps({"case": "stress_of_learned_pilots", **score}))
    gains = {column: score["randomised"][column] - score["without"][column] for column in COLUMNS}
    assert sum(gain > 0.0 for gain in gains.values()) >= 5
    assert all(gain > 0.0 or score["randomised"][column] == 1.0 for column, gain in gains.items())
