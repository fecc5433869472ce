"""A frozen simulator: what its calls do is what the simulator does, and pages find everything they read."""

import numba
import numpy as np
import pytest

from donkeysim.core.index_loops import make_loop
from donkeysim.physics.kernels.world import step_one_world
from donkeysim.site.freeze import KERNELS, SMALL, freeze, freeze_simulator, list_calls, pack_scene
from donkeysim.site.place_file import read_header
from donkeysim.world.specs import SceneSpec
from donkeysim.world.tracks.catalogue import share_scene

SPEC = SceneSpec("waveshare")


@pytest.fixture(scope="module")
def packed():
    return pack_scene(share_scene(SPEC))


@pytest.fixture(scope="module")
def frozen(packed):
    return freeze_simulator(SPEC, packed.scene)


def test_all_places_have_the_same_types(frozen):
    calls = list_calls()
    for call in frozen.calls.values():
        assert numba.typeof(call.arguments) == numba.typeof(calls[call.kernel]), call.kernel
    assert calls.keys() == KERNELS.keys()


def test_a_page_steps_what_a_simulator_steps():
    assert KERNELS["step"] is make_loop(step_one_world)


def test_arguments_are_as_many_words_as_the_kernel_takes(frozen):
    content = dict(frozen.image.list_parts())
    for call in frozen.calls.values():
        words = sum(numba.typeof(argument).name.count("array(") for argument in call.arguments)
        assert len(content[call.block]) % 8 == 0
        assert len(content[call.block]) >= 8 * 7 * words


def test_textures_are_what_the_pictures_of_the_model_are(packed):
    original = share_scene(SPEC)
    for before, after in zip(original.textures, packed.scene.textures, strict=True):
        assert before.shape == after.shape
        assert (before[..., 3] == after[..., 3]).all()
        if before.shape[0] * before.shape[1] <= SMALL:
            assert (before == after).all()
        else:
            seen = before[..., 3] > 0
            assert np.abs(before[seen].astype(int) - after[seen].astype(int)).mean() < 12


def test_every_level_of_a_texture_travels_once():
    header = read_header(freeze(SPEC, "none"))
    texel = {at for texture in header.textures for at in texture.levels}
    parts = {at for at, _ in header.parts}
    assert texel.isdisjoint(parts)
    assert len(texel) == sum(len(texture.levels) for texture in header.textures)
    holed = [texture for texture in header.textures if texture.alpha]
    assert holed
    assert {texture.alpha for texture in holed} <= header.sections.keys()
    assert sum(texture.face is not None for texture in header.textures) in (0, 6)


def test_a_page_knows_where_to_read_and_what_driving_changes():
    header = read_header(freeze(SPEC, "none"))
    for name in ("position", "forward_speed", "steer", "throttle", "brake", "on_road", "events.row", "pilot.picture"):
        assert name in header.arrays
    changing = dict(header.changing)
    assert header.arrays["position"]["at"] in changing
    assert header.arrays["pilot.picture"]["at"] not in changing
    assert all(at + length <= header.size for at, length in header.changing)
    assert header.arrays["view.picture"]["shape"] == [1, 480, 640, 3]
