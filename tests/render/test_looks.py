"""Dressing cars: many at once look as one by one, and who joins adds a plate and nothing else."""

import gc
import mmap
import os
import threading
from dataclasses import replace

import numpy as np
import pytest
from scenery import make_scene

from donkeysim.core.errors import ShapeError
from donkeysim.core.workers import Workers
from donkeysim.render import looks, texture
from donkeysim.render.camera import Renderer
from donkeysim.world.scene import CarModel
from donkeysim.world.specs import BODY_STYLES, BodySpec, CameraSpec, load_car
from donkeysim.world.state import Layout, make_state

CAR = load_car("original")


def make_renderer(scenes=None, world_count=1, cars_per_world=4):
    scenes = scenes or [make_scene()]
    prop_count = len(scenes[0].props.mass)
    scene_of = np.arange(world_count, dtype=np.int32) % len(scenes)
    return Renderer(Layout(scenes, scene_of, CAR, world_count, cars_per_world, prop_count), Workers(1))


def draw(renderer, world=0):
    """Return what one sees of the cars of a world from behind."""
    cars = renderer.cars_per_world
    state = make_state(renderer.world_count, cars, renderer.props_per_world)
    state.present[:] = 1
    state.prop_orientation[:, 0] = state.orientation[:, 0] = 1.0
    place = np.arange(renderer.world_count * cars) % cars
    state.position[:] = np.column_stack([1.0 + 0.0 * place, 0.5 * place - 0.75, 0.1 + 0.0 * place])
    camera = CameraSpec(width=160, height=80)
    return renderer.render_view(state, world, (-0.6, 0.0, 0.4), (0.0, 0.1, 0.0), camera).copy()


def test_many_cars_dressed_at_once_look_as_when_dressed_one_by_one():
    together, apart = make_renderer(world_count=2), make_renderer(world_count=2)
    body = BodySpec(style=BODY_STYLES[1], colour=(20, 200, 90), name="Ann")
    cars = [0, 2, 3, 5, 6]
    together.set_bodies(cars, body)
    for car in cars:
        apart.set_body(car, body)
    for world in range(2):
        assert np.array_equal(draw(together, world), draw(apart, world))
    assert not np.array_equal(draw(together), draw(make_renderer()))


def test_a_scene_looks_the_same_with_what_was_remembered_of_it_and_it_goes_with_the_scene(monkeypatch):
    monkeypatch.setattr(looks, "_MESHES", {})
    monkeypatch.setattr(texture, "_SMALLER_LEVELS", {})
    turned = tuple(np.ascontiguousarray(picture[..., [2, 0, 1, 3]]) for picture in make_scene().textures)
    one, two = make_scene(), make_scene(textures=turned)
    new = make_renderer([one, two], 2).tables, make_renderer([two, one], 2).tables
    assert list(looks._MESHES) == [id(one), id(two)]
    monkeypatch.setattr(looks, "_MESHES", {})
    monkeypatch.setattr(texture, "_SMALLER_LEVELS", {})
    apart = make_renderer([two, one], 2).tables, make_renderer([one, two], 2).tables
    for own, other in zip(new, reversed(apart), strict=True):
        for name, table in own._asdict().items():
            assert np.array_equal(table, getattr(other, name)), name
    assert not np.array_equal(new[0].triangle_mean, new[1].triangle_mean)
    del one, two, turned
    gc.collect()
    assert looks._MESHES == texture._SMALLER_LEVELS == {}


@pytest.mark.skipif(not hasattr(os, "memfd_create"), reason="Linux alone has memory that can be shared so")
def test_from_the_third_on_renderers_of_a_scene_share_texels_until_they_change_some():
    scene = make_scene()
    first, second, third, fourth = (make_renderer([scene]) for _ in range(4))
    begins = [renderer.tables.texel for renderer in (first, second, third, fourth)]
    assert all(np.array_equal(begins[0], texels) for texels in begins)
    assert [is_mapped(texels) for texels in begins] == [False, True, True, True]
    third.set_bodies([0], BodySpec(name="Ann"))
    third.tables.texel[:] = 7
    assert np.array_equal(begins[0], fourth.tables.texel)
    assert np.array_equal(draw(first), draw(fourth))
    assert np.array_equal(draw(first), draw(make_renderer([scene])))


def is_mapped(texels):
    while isinstance(texels, np.ndarray):
        texels = texels.base
    return isinstance(texels, memoryview | mmap.mmap)


@pytest.mark.parametrize("most", [looks.MOST_PLATES, 5])
def test_looks_do_not_depend_on_what_was_worn_before(monkeypatch, most):
    monkeypatch.setattr(looks, "MOST_PLATES", most)
    changed, fresh = make_renderer(), make_renderer()
    for number in range(20):
        changed.set_body(number % 4, BodySpec(name=f"Driver {number}", font_size=40 + number))
    for car, name in enumerate(("", "Ann", "Bob", "Ann")):
        body = BodySpec(style=BODY_STYLES[car], colour=(60 * car, 200, 90), name=name)
        changed.set_body(car, body)
        fresh.set_body(car, body)
    assert np.array_equal(draw(changed), draw(fresh))


def test_bodies_of_worlds_in_several_scenes_are_those_of_each_scene():
    first, second = make_scene(), make_scene(props=((1.5, 0.3),))
    swapped = {style: CarModel(2, 1) for style in BODY_STYLES}
    renderer = make_renderer([first, replace(second, car_models=swapped)], world_count=2)
    renderer.set_bodies(range(8), BodySpec(colour=(250, 250, 0)))
    only = make_renderer([first])
    only.set_bodies(range(4), BodySpec(colour=(250, 250, 0)))
    assert np.array_equal(draw(renderer, 0), draw(only))
    assert not np.array_equal(draw(renderer, 0), draw(renderer, 1))


def test_paint_and_known_names_leave_all_tables_where_they_are():
    renderer = make_renderer()
    renderer.set_body(0, BodySpec(name="Ann"))
    tables = renderer._looks.tables
    renderer.set_body(1, BodySpec(name="Ann", colour=(1, 2, 3)))
    renderer.set_bodies(range(4), BodySpec(style=BODY_STYLES[2]))
    assert renderer._looks.tables is tables


def test_many_names_go_beyond_the_room_that_there_was(monkeypatch):
    monkeypatch.setattr(texture, "SPARE", 1000)
    renderer = make_renderer()
    for number in range(12):
        body = BodySpec(name=f"Driver {number}")
        if number % 2:
            renderer.prepare_body(body)
        renderer.set_body(number % 4, body)
    plenty = make_renderer()
    for car in range(4):
        plenty.set_body(car, BodySpec(name=f"Driver {8 + car}"))
    assert np.array_equal(draw(renderer), draw(plenty))


def test_a_body_may_be_prepared_on_another_thread():
    renderer, plain = make_renderer(), make_renderer()
    body = BodySpec(name="Elsewhere")
    thread = threading.Thread(target=renderer.prepare_body, args=(body,))
    thread.start()
    thread.join()
    renderer.set_body(0, body)
    plain.set_body(0, body)
    assert np.array_equal(draw(renderer), draw(plain))


def test_a_body_that_a_scene_does_not_have_changes_no_car():
    bare = make_scene()
    bare.car_models.pop("f1")
    renderer = make_renderer([make_scene(), bare], world_count=2)
    before = draw(renderer)
    with pytest.raises(ShapeError, match="no body style 'f1'"):
        renderer.set_bodies(range(8), BodySpec(style="f1", colour=(1, 2, 3)))
    assert np.array_equal(draw(renderer), before)


def test_names_that_come_and_go_take_no_more_room(monkeypatch):
    monkeypatch.setattr(looks, "MOST_PLATES", 8)
    renderer = make_renderer()
    renderer.set_body(0, BodySpec(name="somebody who stays"))
    sizes = []
    for number in range(60):
        renderer.prepare_body(BodySpec(name=f"guest {number % 40:02d}"))
        renderer.set_body(1, BodySpec(name=f"guest {number % 40:02d}"))
        tables = renderer._looks.tables
        sizes.append((len(tables.texel), len(tables.size_log), len(tables.mesh_sphere)))
    assert len(set(sizes[8:])) == 1
    fresh = make_renderer()
    fresh.set_body(0, BodySpec(name="somebody who stays"))
    fresh.set_body(1, BodySpec(name="guest 19"))
    assert np.array_equal(draw(renderer), draw(fresh))


def test_plates_that_are_worn_are_never_overwritten(monkeypatch):
    monkeypatch.setattr(looks, "MOST_PLATES", 2)
    renderer, fresh = make_renderer(), make_renderer()
    for car in range(4):
        for one in (renderer, fresh):
            one.set_body(car, BodySpec(name=f"driver {car}"))
    assert np.array_equal(draw(renderer), draw(fresh))
