"""Cards with holes cover as much of the picture from afar as they do from near, in the colour of what is left."""

from dataclasses import replace

import numpy as np
import pytest
from tests.render.scenery import make_mesh, make_scene

from donkeysim.core.workers import Workers
from donkeysim.render.camera import Renderer
from donkeysim.render.texture import TexelPool
from donkeysim.world.scene import CLASS_PROP, SHADE_CUTOUT, SHADE_TEXTURE, SHADE_TWO_SIDED, SHADE_UNLIT, Material
from donkeysim.world.specs import CameraSpec, load_car
from donkeysim.world.state import Layout, make_state

GREEN = (60, 150, 40)


def make_leaves(leaf_count, side=128):
    """Green leaves on black that is all holes."""
    generator = np.random.default_rng(leaf_count)
    picture = np.zeros((side, side, 4), np.uint8)
    row, column = np.indices((side, side))
    for _ in range(leaf_count):
        x, y, turn = *generator.uniform(0, side, 2), generator.uniform(0, np.pi)
        along = (column - x) * np.cos(turn) + (row - y) * np.sin(turn)
        across = (row - y) * np.cos(turn) - (column - x) * np.sin(turn)
        picture[(along / 7) ** 2 + (across / 3) ** 2 < 1] = (*GREEN, 255)
    return picture


def see_card(picture, distance, aside):
    """Return a frame with a card 1 m high and wide ahead, all else green, and how many pixels it would fill."""
    flags = SHADE_TEXTURE | SHADE_CUTOUT | SHADE_TWO_SIDED | SHADE_UNLIT
    corner = [(distance, 0.5 + aside, -0.5), (distance, -0.5 + aside, -0.5)]
    corner += [(x, y, 0.5) for x, y, _ in reversed(corner)]
    card = make_mesh(corner, [(0, 1), (1, 1), (1, 0), (0, 0)], [(0, 1, 2), (0, 2, 3)], [1, 1])
    plain = make_scene(card, props=(), fog=0.0, sky=False)
    plain = replace(plain, light=replace(plain.light, fog_colour=tuple(channel / 255 for channel in GREEN)))
    materials = (plain.materials[0], Material(flags, (1.0, 1.0, 1.0), 1, CLASS_PROP), *plain.materials[2:])
    scene = replace(plain, materials=materials, textures=(plain.textures[0], picture, plain.textures[2]))
    renderer = Renderer(Layout([scene], np.zeros(1, np.int32), load_car("original"), 1, 1, 0), Workers(1))
    camera = CameraSpec(position=(0.0, 0.0, 0.0), rotation=(0.0, 0.0, 0.0), segment=True)
    state = make_state(1, 1, 0)
    frame = renderer.render_group(renderer.make_group([0], [camera]), state)
    return frame, (60.0 / distance) ** 2


@pytest.mark.parametrize("leaf_count", [60, 150, 500])
def test_leaves_neither_vanish_nor_close_at_a_distance(leaf_count):
    picture = make_leaves(leaf_count)
    share = (picture[..., 3] == 255).mean()
    for distance in (1.0, 4.0, 15.0):
        seen = []
        for aside in np.linspace(0.0, 1.0, 4):
            frame, area = see_card(picture, distance, aside * distance / 60.0)
            seen.append((frame.segment[0] == CLASS_PROP).sum() / area)
        assert np.mean(seen) == pytest.approx(share, rel=0.15, abs=0.03), distance


@pytest.mark.parametrize("distance", [0.6, 2.0, 9.0])
def test_edges_of_leaves_do_not_take_the_colour_of_holes(distance):
    frame, _ = see_card(make_leaves(150), distance, 0.0)
    leaf = frame.colour[0][frame.segment[0] == CLASS_PROP].astype(int)
    assert np.abs(leaf - GREEN).max() <= 8


def test_every_level_keeps_the_share_and_pictures_without_holes_go_down_to_one_texel():
    pool = TexelPool()
    solid = np.full((64, 16, 4), 255, np.uint8)
    pool.add([make_leaves(100), solid])
    share = (make_leaves(100)[..., 3] == 255).mean()
    assert pool.size_log.tolist() == [[7, 7, 5], [4, 6, 6]]
    for level in range(6):
        begin = pool.level_base[0, level]
        alpha = pool.texel[begin : begin + (128 >> level) ** 2] >> 24
        assert (alpha >= 128).mean() == pytest.approx(share, abs=0.04)
    assert (pool.texel[pool.level_base[1, 0] :] == 0xFFFFFFFF).all()
    assert len(pool.texel) == pool.level_base[1, 6] + 1
