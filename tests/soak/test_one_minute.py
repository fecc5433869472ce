"""A minute of ten drivers with faults is enough for ten clean laps: the tables of docs/guide/train.md.

make soak ARGS="-k one_minute_of_anybody"                ten drivers, two seeds, three tracks: half an hour on two cores
make soak ARGS="-k 'one_minute and original'"           the same with the original's recipe, one seed: 40 minutes
make soak ARGS="-k 'one_minute and leaving'"            the recipe without each of its parts, on six drives
make soak ARGS="-k 'one_minute and pictures'"           grey, small, masked and square pictures, on the same six
make soak ARGS="-k one_minute_of_hands"                   hands that know only left, right and straight on: 3 minutes
make soak ARGS="-k one_minute_of_real_cars"             halves of real cars' drives, both recipes: ten minutes
make soak ARGS="-k one_minute_in_a_rebuilt_place"       both recipes on a real drive, in its place: ten minutes

The last two look for drives in ../shared/data beside the checkout, or in DONKEYSIM_DRIVES.
"""

import os
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from donkeysim.car.config import make_default_config
from donkeysim.cli.commands.evaluate import read_conditions
from donkeysim.drive.sample import record_sample
from donkeysim.drivers.person import load_styles
from donkeysim.learn import train as training
from donkeysim.learn.evaluate import evaluate
from donkeysim.learn.open_loop import correlate
from donkeysim.learn.pilot import load_pilot
from donkeysim.learn.real_drives import read_drive
from donkeysim.learn.recovery import Recipe
from soak.typed_commands import run_donkey

pytestmark = [pytest.mark.soak, pytest.mark.timeout(7200)]

TRACKS = ("generated_track", "warren", "mountain_track")
RECORDS, LAPS, LONGEST = 1200, 10, 60.0
QUIET = {"SHOW_PLOT": False, "PRINT_MODEL_SUMMARY": False, "CREATE_TF_LITE": False}
HARD = (
    ("generated_track", "keys"),
    ("generated_track", "trembling"),
    ("warren", "weaving"),
    ("warren", "wide"),
    ("mountain_track", "late"),
    ("mountain_track", "weaving"),
)
DATA = Path(os.environ.get("DONKEYSIM_DRIVES") or Path(__file__).resolve().parents[3] / "shared/data")
REAL = ("real-workshop-tape", "real-carpet-walls")
PICTURES = {
    "grey": {"IMAGE_DEPTH": 1},
    "small": {"IMAGE_W": 80, "IMAGE_H": 60},
    "masked": {"TRANSFORMATIONS": ["CROP"], "ROI_CROP_TOP": 50},
    "square": {"IMAGE_W": 128, "IMAGE_H": 128},
}
PARTS = {"start": "the package's network", "views": "moved pictures", "labels": "averaged commands", "light": "light"}


def learn_and_drive(folder, track, driver, seed, **changes):
    """Return whether a pilot that learned from a minute of somebody drives ten clean laps; print how."""
    config = make_default_config(folder, QUIET | changes)
    record_sample(folder / "tub", scene=track, seed=seed, record_count=RECORDS, driver=driver, config=config)
    begun = time.perf_counter()
    training.train(config, folder / "tub", folder / "pilot.onnx")
    seconds = time.perf_counter() - begun
    run = evaluate(load_pilot(folder / "pilot.onnx"), [track], LAPS, read_conditions(config)[0]).runs[0]
    print(
        f"{track} {driver} {seed}: {len(run.lap_times)} laps, {len(run.departures)} times off the road, "
        f"{len(run.hits)} hits, {run.ending}; {run.speed_mean:.2f} m/s; learned in {seconds:.0f} s",
        flush=True,
    )
    return run.is_passed, seconds


def describe(name, passed):
    low, high = stats.binomtest(sum(passed), len(passed)).proportion_ci(method="wilson")
    return f"{name}: {sum(passed)} of {len(passed)} ({low:.0%} to {high:.0%})"


@pytest.mark.parametrize("track", TRACKS)
def test_one_minute_of_anybody_is_enough(track, tmp_path):
    outcomes = [
        learn_and_drive(tmp_path / f"{driver}_{seed}", track, driver, seed)
        for seed in (1, 2)
        for driver in load_styles()
    ]
    passed = [is_passed for is_passed, _ in outcomes]
    print(describe(track, passed))
    assert sum(passed) >= 17
    assert max(seconds for _, seconds in outcomes) < LONGEST


@pytest.mark.parametrize("track", TRACKS)
def test_one_minute_with_the_original_recipe(track, tmp_path):
    passed = [
        learn_and_drive(tmp_path / driver, track, driver, 1, TRAIN_RECIPE="original")[0] for driver in load_styles()
    ]
    print(describe(f"{track}, as the original trains", passed))


def test_one_minute_of_hands_that_know_only_locks(tmp_path, monkeypatch):
    """Left, right and straight on, as in both real drives: the mean of such hands laps; their median did in 2 of 6."""
    styles = {"locks": replace(load_styles()["keys"], step=1.0)}
    monkeypatch.setattr("donkeysim.drive.sample.load_styles", lambda: styles)
    passed = [
        learn_and_drive(tmp_path / f"{track}_{seed}", track, "locks", seed)[0] for track in TRACKS for seed in (1, 2)
    ]
    print(describe("left, right and straight on", passed))
    assert sum(passed) >= 5


@pytest.mark.parametrize("part", PARTS)
def test_one_minute_leaving_a_part_out(part, tmp_path, monkeypatch):
    monkeypatch.setattr(training, "choose_recipe", lambda *_: replace(Recipe(), **{part: False}))
    passed = [learn_and_drive(tmp_path / f"{track}_{driver}", track, driver, 1)[0] for track, driver in HARD]
    print(describe(f"without {PARTS[part]}", passed))


@pytest.mark.parametrize("recipe", ["recovery", "original"])
@pytest.mark.parametrize("name", PICTURES)
def test_one_minute_of_other_pictures(name, recipe, tmp_path):
    changes = PICTURES[name] | {"TRAIN_RECIPE": recipe}
    passed = [learn_and_drive(tmp_path / f"{track}_{driver}", track, driver, 1, **changes)[0] for track, driver in HARD]
    print(describe(f"{name}, {recipe}", passed))
    assert recipe == "original" or sum(passed) >= 4


def drive_there(pilot, config, place):
    """Return laps, share on the road, mean distance from the path and departures, from each of three starts."""
    conditions, _ = read_conditions(config)
    for start in range(3):
        run = evaluate(load_pilot(pilot), [str(place)], 5, conditions, start).runs[0]
        aside = np.abs(run.column("cte")).mean()
        yield len(run.lap_times), run.column("on_road").mean(), aside, len(run.departures), run.speed_mean


@pytest.mark.skipif(not (DATA / REAL[0]).is_dir(), reason="no drive of a real car here")
def test_one_minute_in_a_rebuilt_place(tmp_path):
    """Who learned from a real drive drives in the place made of it, with its camera, steering, motor and delay."""
    tub = DATA / REAL[0] / "tub"
    run_donkey(tmp_path, "place", str(tub), "--name", "room")
    files = {"camera": "room_camera.toml", "car": "room_car.toml", "randomization": "room_delay.toml"}
    conf = {key: str(tmp_path / name) for key, name in files.items()}
    judge = make_default_config(tmp_path, {"GYM_CONF": conf})
    who = [("recovery", "own", seed) for seed in range(3)] + [("recovery", "new car", 0), ("original", "own", 0)]
    for recipe, camera, seed in who:
        known = conf if camera == "own" else {}
        config = make_default_config(tmp_path, QUIET | {"GYM_CONF": known, "TRAIN_RECIPE": recipe, "TRAIN_SEED": seed})
        begun = time.perf_counter()
        training.train(config, tub, pilot := tmp_path / "pilot.onnx")
        seconds = time.perf_counter() - begun
        rows = list(drive_there(pilot, judge, tmp_path / "room.toml"))
        for laps, share, aside, departures, speed in rows:
            print(
                f"{recipe}, {camera} camera, seed {seed}: {laps} laps, {share:.1%} on the road, {100 * aside:.1f} cm "
                f"aside, {departures} times off it, {speed:.2f} m/s; learned in {seconds:.0f} s",
                flush=True,
            )
        assert camera != "own" or all(laps == 5 and share > 0.9 for laps, share, *_ in rows)


def name_record(record):
    return record["_session_id"], record["_index"], record["_timestamp_ms"]


def judge_half(folder, drive, learnt, asked, seed, recipe):
    """Return the mean and the root mean square error of a pilot's steering on the asked half; print them."""
    own = {(record.session_id, record.index, record.timestamp_ms) for record in drive.records[learnt]}
    changes = {"TRAIN_FILTER": lambda view: name_record(view.underlying) in own, "TRAIN_SEED": seed}
    begun = time.perf_counter()
    config = make_default_config(folder, QUIET | changes | {"TRAIN_RECIPE": recipe})
    training.train(config, drive.tub, folder / "pilot.onnx")
    seconds = time.perf_counter() - begun
    pilot, driven = load_pilot(folder / "pilot.onnx"), drive.driven[asked, 0]
    said = np.clip([pilot.run(record.load_image())[0] for record in drive.records[asked]], -1.0, 1.0)
    error = np.abs(said - driven).mean(), np.sqrt(np.square(said - driven).mean())
    name = f"{drive.tub.parent.name} from record {asked.start}, {recipe}, seed {seed}"
    fit = correlate(driven, said)
    print(f"{name}: {error[0]:.3f}, {error[1]:.3f}, {fit:.2f}; learned in {seconds:.0f} s", flush=True)
    return error


@pytest.mark.skipif(not all((DATA / name).is_dir() for name in REAL), reason="no drives of real cars here")
def test_one_minute_of_real_cars(tmp_path):
    """On each half of each drive, over two seeds: what the recipe's errors are to those of the original's."""
    ratios = []
    for name in REAL:
        drive = read_drive(DATA / name / "tub", tmp_path)
        count = len(drive.records)
        halves = (slice(0, count // 2), slice(count // 2, count))
        for learnt, asked in (halves, halves[::-1]):
            errors = {
                recipe: np.mean([judge_half(tmp_path, drive, learnt, asked, seed, recipe) for seed in (0, 1)], axis=0)
                for recipe in ("recovery", "original")
            }
            ratios.append(errors["recovery"] / errors["original"])
    print(np.round(ratios, 3).tolist())
    assert np.median(ratios, axis=0)[1] < 1.0
