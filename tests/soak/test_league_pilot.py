"""A league driver's pilot of 2021 on our roboracingleague_2021: it steers as on the pictures that it was taught with.

The tub and the pilot are somebody else's and not part of the project: DONKEYSIM_LEAGUE names their folder (`tub`,
`mysecondpilot.h5`), otherwise ../shared/data/original-roboracingleague is looked for. The places of the recorded
pictures (`league_places.csv`) were found by likeness about where a person had seen them to be: along, across and turned
by steps, then nearer and nearer. Where likeness is low, the place is a guess between its neighbours.
"""

import json
import math
import os
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from scipy.ndimage import gaussian_filter, uniform_filter

from donkeysim.learn.evaluate import TRACE_FIELDS, Conditions, evaluate
from donkeysim.learn.pilot import load_pilot
from donkeysim.sim.simulator import Simulator
from donkeysim.world.specs import CameraSpec, SceneSpec, WorldSpec

pytestmark = [pytest.mark.soak, pytest.mark.timeout(0)]

SCENE = "roboracingleague_2021"
HERE = Path(__file__).parent
DATA = Path(os.environ.get("DONKEYSIM_LEAGUE") or HERE.parents[2] / "shared/data/original-roboracingleague")

HIGH = 0.2275
"""Of the original's camera above the road: 1.82 U [m]."""

PRECISION = (0.04, 0.015, 0.7, 0.23)
"""Of the places: along and across [m], yaw and pitch [degree]; one standard deviation."""

NEARBY = 16
"""Poses about each place that the pilot is asked at: its answers jump from one of 15 to another."""

LIKE = 0.45
"""Likeness from which on a place counts as found; other places of the road have 0.08 in the mean, 2 of 1000 so much."""

FACTORS = (0.15, 0.25, 0.4)
"""Of the pilot's throttle: speeds at which it is let drive."""


@pytest.fixture(scope="module")
def pilot():
    if not (DATA / "mysecondpilot.h5").exists():
        pytest.skip(f"no tub and pilot of the league in {DATA}; DONKEYSIM_LEAGUE names their folder")
    pytest.importorskip("torch", reason="keras pilots need the extra learn")
    return load_pilot(DATA / "mysecondpilot.h5")


def read_records(channel):
    """A channel of the tub, by the number of its records."""
    lines = (DATA / "tub/catalog_0.catalog").read_text(encoding="utf-8").splitlines()
    return {row["_index"]: row[channel] for row in map(json.loads, lines)}


def read_pictures():
    """Recorded pictures."""
    names = read_records("cam/image_array")
    return {index: np.asarray(Image.open(DATA / "tub/images" / name).convert("RGB")) for index, name in names.items()}


def read_steering():
    """What the driver steered, to the right +."""
    return read_records("user/angle")


def list_features(picture):
    """What is compared: broad light and dark above and below, the ceiling, white lines; each of mean square 1."""
    colour = picture.astype(np.float32)
    broad = gaussian_filter(colour.mean(axis=2), 1.6)
    ceiling = np.exp(-0.5 * (((colour[:46] - (112.0, 109.0, 97.0)) / 16.0) ** 2).sum(axis=2))
    least = colour.min(axis=2)[46:114]
    lines = gaussian_filter(np.clip(least - uniform_filter(least, (3, 25)) - 18.0, 0.0, 60.0), 1.3)
    level = (broad[:48], gaussian_filter(ceiling, 1.2), np.clip(broad[46:114], 50.0, 200.0))
    even = [(part - part.mean()) / (part.std() + 0.02 * part.max()) for part in level]
    return [*even, lines / (np.sqrt((lines**2).mean()) + 1.0)]


def measure_likeness(one, other):
    """From about 0 for other places to 1 for the same picture."""
    return np.mean([(a * b).mean() for a, b in zip(list_features(one), list_features(other), strict=True)])


def test_steers_as_on_the_recorded_pictures(pilot):
    pictures, camera = read_pictures(), CameraSpec(width=160, height=120)
    simulator = Simulator(WorldSpec(scene=SceneSpec(SCENE), cars_per_world=1))
    random = np.random.default_rng(0)

    def look(x, y, yaw, down):
        return simulator.view(0, (x, y, HIGH), (0.0, math.radians(down), math.radians(yaw)), camera).copy()

    rows = []
    for number, *pose in np.loadtxt(HERE / "league_places.csv", delimiter=","):
        record = int(number)
        near = [pilot.run(pictures[index])[0] for index in range(record - 1, record + 2) if index in pictures]
        answers = []
        for along, across, turn, nod in random.normal(0.0, PRECISION, (NEARBY, 4)):
            place = complex(*pose[:2]) + complex(along, across) * np.exp(1j * math.radians(pose[2]))
            answers.append(pilot.run(look(place.real, place.imag, pose[2] + turn, pose[3] + nod))[0])
        picture = look(*pose)
        likeness = measure_likeness(pictures[record], picture)
        single = pilot.run(pictures[record])[0], pilot.run(picture)[0]
        rows.append((likeness, np.mean(near), np.mean(answers), *single))
    likeness, recorded, ours, one, other = np.array(rows).T
    found = likeness >= LIKE
    figures = {
        "places": len(rows),
        "found": int(found.sum()),
        "correlation": np.corrcoef(recorded[found], ours[found])[0, 1],
        "of all places": np.corrcoef(recorded, ours)[0, 1],
        "picture by picture": np.corrcoef(one[found], other[found])[0, 1],
    }
    print(json.dumps({name: round(float(value), 3) for name, value in figures.items()}))
    assert found.mean() >= 0.7
    assert figures["correlation"] >= 0.6


def test_how_far_it_drives(pilot):
    """Into the first bends at any speed, no lap: docs/tracks/roboracingleague.md says why."""
    speed, on_road = TRACE_FIELDS.index("speed"), TRACE_FIELDS.index("on_road")
    metres = []
    for factor in FACTORS:
        run = evaluate(pilot, [SCENE], 1, Conditions(throttle_factor=factor)).runs[0]
        end = len(run.trace) if run.is_passed else int(np.argmin(run.trace[:, on_road]))
        metres.append(float(run.trace[:end, speed].sum()) / Conditions.rate)
        print(json.dumps({"factor": factor, "ended": run.ending, "on the road for [m]": round(metres[-1], 1)}))
    assert min(metres) > 3.0


def test_what_it_learned_of_bends(pilot):
    """On the very pictures that it was taught with it answers a quarter of the bends by going straight on."""
    pictures, driver = read_pictures(), read_steering()
    bends = [index for index in pictures if abs(driver[index]) > 0.5]
    answers = np.array([pilot.run(pictures[index])[0] for index in bends])
    straight = float((np.abs(answers) < 0.2).mean())
    print(json.dumps({"pictures of bends": len(bends), "answered straight on": round(straight, 3)}))
    assert straight > 0.2
