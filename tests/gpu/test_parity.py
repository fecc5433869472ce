"""A device drives and draws what one thread of this machine does."""

import numpy as np
import pytest

from donkeysim.sim.batch import Batch
from donkeysim.sim.simulator import Simulator
from donkeysim.world.specs import CameraSpec, SceneSpec, WorldSpec
from donkeysim.world.state import HIT_NONE

pytestmark = pytest.mark.device

FRAMES = 20
"""A second."""

WITHOUT_CONTACT, WITH_CONTACT = 1e-9, 1e-6
"""How far positions may lie apart after it on a GPU, which fuses sums [m]; here they are the same bytes."""

EQUAL_BYTES = 0.999
"""Least share of a picture's bytes that are the same on a GPU."""

FAR_OFF, MOST_FAR_OFF = 8, 5e-5
"""Bytes that differ by more [grey level] lie on edges, which a rounded sum moves by a pixel; and their greatest share,
four times that of the worst of all scenes on an H100."""


def open_batch(device, scene, worlds, cars=1, car="original"):
    """Return cars along the road, one world further on than the other; several in a world stand on the grid."""
    spec = WorldSpec(SceneSpec(scene), car=car, world_count=worlds, cars_per_world=cars)
    batch = Batch(Simulator(spec, device=device))
    start = np.full((worlds * cars, 3), np.nan)
    if cars == 1:
        length = float(device.download(batch.paths.length)[0])
        start[:] = np.stack([np.arange(worlds) * (0.9 * length / worlds), np.zeros(worlds), np.zeros(worlds)], axis=1)
    batch.begin(device.upload(np.ones(worlds, bool)), device.upload(start))
    return batch


def drive(batch, frames, throttle):
    """Drive with steering that differs from car to car; return whether each car touched something."""
    simulator, device, count = batch.simulator, batch.device, batch.layout.car_count
    device.copy_to(simulator.control.steer, 0.4 * np.sin(np.arange(count)))
    device.copy_to(simulator.control.throttle, np.full(count, throttle))
    touched = np.zeros(count, bool)
    for _ in range(frames):
        simulator.step()
        touched |= (device.download(simulator.state.touching) != HIT_NONE).any(axis=1)
    return touched


def compare_drives(bench, judge, scene, cars, frames, throttle, car="original"):
    """Return by how much the last second's positions differ at most [m], and whether cars touched something."""
    ours, theirs = (open_batch(device, scene, bench.worlds, cars, car) for device in (bench.device, judge))
    drive(theirs, frames, throttle)
    for own, other in zip(ours.simulator.state, theirs.simulator.state, strict=True):
        bench.device.copy_to(own, other)
    for own, other in zip(ours.simulator.control, theirs.simulator.control, strict=True):
        bench.device.copy_to(own, other)
    touched = [drive(batch, FRAMES, throttle) for batch in (ours, theirs)]
    assert np.array_equal(*touched)
    assert ours.report() == theirs.report() == (0, 0)
    if not bench.is_gpu:
        for name, array in theirs.simulator.state._asdict().items():
            assert np.array_equal(getattr(ours.simulator.state, name), array), name
    return np.abs(bench.fetch(ours.simulator.state.position) - theirs.simulator.state.position).max(), touched[0]


def test_free_cars_are_within_a_nanometre_after_a_second(bench, judge):
    apart, touched = compare_drives(bench, judge, "generated_track", 1, 0, 0.3)
    assert not touched.any()
    assert apart <= WITHOUT_CONTACT


def test_servo_esc_and_battery_work_alike(bench, judge):
    apart, _ = compare_drives(bench, judge, "generated_track", 1, 5, -0.3, car="rc16")
    assert apart <= WITHOUT_CONTACT


def test_cars_that_hit_walls_and_one_another_are_within_a_micrometre(bench, judge):
    for scene, cars in bench.crashes:
        apart, touched = compare_drives(bench, judge, scene, cars, 40, 1.0)
        assert touched.any(), scene
        assert apart <= WITH_CONTACT, scene


@pytest.mark.parametrize("quality", ["default", "fast"])
def test_pictures_differ_in_few_bytes_and_by_little(bench, judge, quality):
    for scene in bench.scenes:
        compare_views(bench, judge, scene, quality)


def compare_views(bench, judge, scene, quality):
    """Compare pictures of all sizes along the road."""
    ours, theirs = (open_batch(device, scene, bench.worlds) for device in (bench.device, judge))
    for own, other in zip(ours.simulator.state, theirs.simulator.state, strict=True):
        bench.device.copy_to(own, other)
    for width, height in bench.sizes:
        pictures = []
        for batch in (ours, theirs):
            spec = CameraSpec(width=width, height=height, quality=quality, depth=True, segment=True)
            camera = batch.open_camera(spec)
            camera.draw()
            arrays = camera.pictures[0]
            pictures.append([batch.device.download(array).copy() for array in arrays])
        check_pictures(*pictures, is_gpu=bench.is_gpu)


def check_pictures(ours, theirs, is_gpu):
    """Compare colours, distances and classes."""
    if not is_gpu:
        assert all(np.array_equal(own, other) for own, other in zip(ours, theirs, strict=True))
    off = np.abs(ours[0].astype(int) - theirs[0])
    assert (off == 0).mean() >= EQUAL_BYTES
    assert (off > FAR_OFF).mean() <= MOST_FAR_OFF
    assert theirs[0].std() > 20.0  # there is something to see
    assert (ours[2] == theirs[2]).mean() >= EQUAL_BYTES
    near = np.isfinite(ours[1]) & np.isfinite(theirs[1])
    same = np.isclose(ours[1][near], theirs[1][near], rtol=1e-4)
    assert same.mean() >= EQUAL_BYTES
