"""What is wrong with a tub is named, and nothing is said of a good one; `tests/soak/test_good_tubs.py` has more."""

import logging
from dataclasses import replace

import numpy as np
import pytest

from donkeysim.drive.sample import record_sample
from donkeysim.tub import glance
from donkeysim.tub.flaws import WORDS, find_flaws, log_flaws
from donkeysim.tub.glance import HEIGHT, WIDTH, look_at, measure_turn
from donkeysim.tub.reader import TubReader
from tub.drives import write_tub
from tub.spoilt import WAYS, change, is_middle

COUNT = 560


@pytest.fixture(scope="module")
def tub(tmp_path_factory):
    return record_sample(tmp_path_factory.mktemp("tub") / "data", record_count=COUNT).tub_path


@pytest.fixture(scope="module")
def records(tub):
    return list(TubReader(tub))


@pytest.mark.parametrize("name", WAYS)
def test_what_is_wrong_is_named(records, tmp_path, name):
    flaws = {flaw.kind: flaw for flaw in find_flaws(WAYS[name](records, tmp_path / "images"))}
    flaw = flaws[name.split()[0]]
    finding, _ = flaw.describe()
    assert finding.endswith(".")
    assert "{" not in finding
    assert set(flaw.examples) <= set(range(COUNT))
    assert flaw.examples


def test_nothing_is_said_of_a_good_drive_nor_of_a_short_one(records):
    assert find_flaws(records) == []
    assert find_flaws(WAYS["mirrored"](records[:90], None)) == []
    assert find_flaws([]) == []


def test_the_stretch_that_is_wrong_is_told(records):
    stands = next(flaw for flaw in find_flaws(WAYS["still"](records, None)) if flaw.kind == "still")
    chosen = [number for number in range(COUNT) if is_middle(records)(number)]
    ((first, last),) = stands.spans
    assert abs(first - chosen[0]) <= 1
    assert last == chosen[-1]
    assert first < stands.examples[0] < last


def test_a_single_record_that_training_refuses_is_told(records):
    spoilt = [*records[:7], change(records[7], user__angle=None), *records[8:]]
    (flaw,) = find_flaws(spoilt)
    assert (flaw.kind, flaw.spans) == ("no_commands", [(7, 7)])
    assert flaw.describe()[0].startswith("0.2% of the records")


def test_only_the_drive_that_is_mirrored_is_told(records):
    count = COUNT // 2
    second = [replace(record, session_id="other", position=record.position) for record in records[count:]]
    mixed = records[:count] + [change(record, user__angle=-record.values["user/angle"]) for record in second]
    flaw = next(flaw for flaw in find_flaws(mixed) if flaw.kind == "mirrored")
    assert list(flaw.spans) == [(count, COUNT - 1)]


def test_the_turn_of_the_view_is_measured_to_a_fraction_of_a_column():
    columns = np.arange(2 * WIDTH, dtype=np.float64)
    wave = lambda place: 128 + 60 * np.sin(place / 5.0) + 40 * np.cos(place / 11.0)  # noqa: E731
    views = [np.tile(wave(columns[:WIDTH] + turn), (HEIGHT, 1)).astype(np.float32) for turn in (0.0, 3.5, -6.0, 0.0)]
    before, after = np.stack(views[:1] * 4), np.stack(views)
    assert measure_turn(before, after) == pytest.approx([0.0, 3.5, -6.0, 0.0], abs=0.2)
    assert measure_turn(before[:0], after[:0]).shape == (0,)


def test_a_long_tub_is_looked_at_in_runs(records, monkeypatch):
    monkeypatch.setattr(glance, "MOST_PICTURES", 200)
    monkeypatch.setattr(glance, "RUN", 50)
    told = []
    seen = look_at(records, lambda done, total: told.append((done, total)))
    assert len(seen) == 200
    assert seen.position[[0, 49, 50, 99]].tolist() == [0, 49, 150, 199]
    assert np.isnan(seen.sights.turn[[0, 50]]).all()
    assert told[-1] == (200, 200)


def test_training_tells_it_where_somebody_reads(tub, tmp_path, caplog):
    with caplog.at_level(logging.INFO):
        log_flaws([tub])
        assert caplog.messages == []
        write_tub(tmp_path / "still", 120)
        caplog.clear()
        log_flaws([tmp_path / "still"])
    assert all(message.startswith(f"The tub {tmp_path / 'still'}: ") for message in caplog.messages)
    assert any(WORDS["dark"]["en"][1] in message for message in caplog.messages)
    caplog.clear()
    with caplog.at_level(logging.WARNING):
        log_flaws([tmp_path / "nowhere"])
    assert caplog.messages == []
