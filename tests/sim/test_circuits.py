"""Circuits in the racetrack database's format, scaled to the car's world, can be driven; the soaks drive them all."""

from __future__ import annotations

from pathlib import Path

import pytest

from driving import drive_circuit

CIRCUITS = Path("examples/tracks")


@pytest.mark.parametrize("name", ["pine_hollow", "twin_loops"])
def test_the_pace_car_laps_a_circuit_without_a_hit_on_its_path(name):
    lap_count, hits, off_road, share = drive_circuit(CIRCUITS / f"{name}.toml", 1)
    assert (lap_count, hits, off_road) == (1, set(), 0)
    assert share < 0.5
