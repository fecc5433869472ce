"""Default pictures are near those of a renderer that takes 64 samples per pixel, and do not shimmer."""

import json

import numpy as np
import pytest
from tests.render.reference import GRID, Reference, measure_psnr

from donkeysim.drivers.path_follower import PathFollower
from donkeysim.sim.simulator import Simulator
from donkeysim.world.specs import SceneSpec, WorldSpec
from donkeysim.world.tracks import list_scenes

LEAST_PSNR = 28.0
MOST_CHANGE = 1.3
MOST_FRAMES = 20_000


def drive_pairs(scene, pair_count, grid):
    """Drive a lap and yield (our two pictures, the reference's two, pixels that are static in both), 1/20 s apart.

    Args:
        scene: Its name.
        pair_count: How many places of the lap are looked at.
        grid: Samples of the reference along each side of a pixel.
    """
    simulator = Simulator(WorldSpec(SceneSpec(scene)))
    car = simulator.add_car()
    camera = simulator.get_camera(car)
    follower = PathFollower(simulator.scene, simulator.car_spec, "steady")
    reference = Reference(simulator)

    def draw():
        simulator.render()
        return simulator.get_picture(car).copy(), *reference.render(car, camera, grid)

    for _ in range(20):
        simulator.drive_car(car, *follower.drive(simulator.ledger, car))
        simulator.step()
    nodes = len(simulator.scene.path.position)
    driven, node, taken = 0, int(simulator.ledger.node_index[car]), 0
    for _ in range(MOST_FRAMES):
        is_wanted = driven * pair_count >= taken * 0.97 * nodes
        first = draw() if is_wanted else None
        simulator.drive_car(car, *follower.drive(simulator.ledger, car))
        simulator.step()
        if first is not None:
            second = draw()
            static = (first[2] > 0.999) & (second[2] > 0.999)
            yield (first[0], second[0]), (first[1], second[1]), static
            taken += 1
            if taken == pair_count:
                return
        now = int(simulator.ledger.node_index[car])
        driven += (now - node + nodes // 2) % nodes - nodes // 2
        node = now
    raise AssertionError(f"the pace car drove {driven} of {nodes} nodes of {scene}")


def measure_pairs(scene, pair_count, grid=GRID):
    """Return (PSNR of every picture, our and the reference's mean change of every pair)."""
    psnr, ours, theirs = [], [], []
    for pictures, references, static in drive_pairs(scene, pair_count, grid):
        psnr += [measure_psnr(*pair) for pair in zip(pictures, references, strict=True)]
        ours.append(np.abs(pictures[1].astype(float) - pictures[0])[static].mean())
        theirs.append(np.abs(references[1] - references[0])[static].mean())
    return np.array(psnr), np.array(ours), np.array(theirs)


def test_pictures_are_near_the_reference_and_change_as_it_does():
    """Of a quarter of the samples, which changes what is measured by less than a hundredth."""
    psnr, ours, theirs = measure_pairs("generated_track", 1, GRID // 2)
    assert psnr.min() >= LEAST_PSNR
    assert (ours / theirs).max() <= MOST_CHANGE


@pytest.mark.soak
@pytest.mark.parametrize("scene", list_scenes())
def test_picture_quality_over_a_lap(scene):
    psnr, ours, theirs = measure_pairs(scene, 50)
    result = {
        "case": "picture_quality",
        "scene": scene,
        "pictures": len(psnr),
        "psnr_least_db": round(psnr.min(), 2),
        "psnr_mean_db": round(psnr.mean(), 2),
        "change_ratio_most": round((ours / theirs).max(), 3),
        "change_ratio_all": round(ours.sum() / theirs.sum(), 3),
    }
    print(json.dumps(result))
    assert psnr.min() >= LEAST_PSNR
    assert ours.sum() / theirs.sum() <= MOST_CHANGE
