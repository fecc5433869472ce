"""The pace car drives three laps of all example circuits, from their tracks and from the lists of points alone."""

from pathlib import Path

import pytest

from driving import drive_circuit

CIRCUITS = sorted(path for path in Path("examples/tracks").glob("*") if path.suffix in (".toml", ".csv"))


def test_there_are_five_circuits_in_the_databases_format():
    assert sum(path.suffix == ".csv" for path in CIRCUITS) >= 5


@pytest.mark.soak
@pytest.mark.parametrize("path", CIRCUITS, ids=lambda path: path.name)
def test_the_pace_car_drives_three_laps_without_a_hit_in_its_half_of_the_road(path):
    lap_count, hits, off_road, share = drive_circuit(path, 3)
    assert (lap_count, hits, off_road) == (3, set(), 0)
    assert share < 0.5
