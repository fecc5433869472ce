"""Challenges in every scene: cones keep off the start grid, trees off the road, and the cars can drive on."""

import numpy as np
import pytest

from donkeysim.sim import commands
from donkeysim.sim.simulator import Simulator
from donkeysim.world.specs import ChallengeSpec, SceneSpec, WorldSpec
from donkeysim.world.tracks import list_scenes
from donkeysim.world.tracks.catalogue import find_track
from donkeysim.world.tracks.challenges import GRID_GAP
from donkeysim.world.tracks.paths.path import build_centre_line
from donkeysim.world.tracks.structures.placement import measure_gap
from donkeysim.world.tracks.track_file import read_track

pytestmark = pytest.mark.soak


@pytest.mark.parametrize("name", list_scenes())
def test_challenges_suit_the_scene(name):
    challenges = ChallengeSpec(cones=20, trees=60, light=True, seed=7)
    simulator = Simulator(WorldSpec(SceneSpec(name, challenges=challenges), cars_per_world=8))
    bare = Simulator(WorldSpec(SceneSpec(name))).scene
    scene = simulator.scene
    cones = scene.props.position[len(bare.props.mass) :, :2]
    trees = scene.colliders.centre[len(bare.colliders.kind) :, :2]
    print(f"\n{name}: {len(cones)} cones, {len(trees)} trees")
    assert len(cones) >= 12
    grid = scene.start.position[:, :2]
    assert np.hypot(*(cones[:, None] - grid).transpose(2, 0, 1)).min() >= GRID_GAP
    path = find_track(SceneSpec(name))
    track = read_track(path)
    line = build_centre_line(track.path, track.road)
    assert measure_gap(trees, line).min(initial=np.inf) > 0.05
    cars = [simulator.add_car() for _ in range(8)]
    simulator.apply(commands.Drive(None, None, None, [1.0] * 8))
    for _ in range(40):
        simulator.step()
    assert not simulator.ledger.fault[cars].any()
    assert np.abs(simulator.ledger.position[cars, :2] - grid[:8]).max() < 0.05
    moved = np.abs(simulator.snapshot().state.prop_position[: len(scene.props.mass)] - scene.props.position).max(axis=1)
    assert moved.max() < 0.05, "cones stand where they were put"
