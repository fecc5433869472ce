"""Circuits in the racetrack database's format, scaled to the car's world, can be driven; the soaks drive them all."""

from pathlib import Path

from driving import drive_circuit


def test_the_pace_car_laps_a_figure_of_eight_without_a_hit_on_its_path():
    lap_count, hits, off_road, share = drive_circuit(Path("examples/tracks/twin_loops.toml"), 1)
    assert (lap_count, hits, off_road) == (1, set(), 0)
    assert share < 0.5
