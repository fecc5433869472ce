"""What a car wears fits it: bodies are as long, wide and high as its wheels ask, and stay out of its own camera."""

from dataclasses import replace

import numpy as np
import pytest
from scenery import make_scene

from donkeysim.core.workers import Workers
from donkeysim.render.body import fit_models
from donkeysim.render.camera import Renderer
from donkeysim.render.kernels.layout import CAR_MESH
from donkeysim.render.lidar import LidarScanner
from donkeysim.world.specs import BODY_STYLES, load_car
from donkeysim.world.state import Layout
from donkeysim.world.tracks.builder import take_cars

CARS = ("rc10", "rc16")


def dress(car):
    """Return the meshes of each body style and of the wheel, as a car wears them."""
    assets, styles = take_cars()
    models = fit_models(replace(make_scene(), models=tuple(assets.models), car_models=styles), car)
    return {style: models[model.body] for style, model in styles.items()}, models[styles["donkey"].wheel]


def measure(mesh, car):
    """Return a mesh's corners (least, greatest) seen from amid the resting wheels, in wheelbases, tracks and radii."""
    wheel = np.array(car.wheel_position) - (0.0, 0.0, car.suspension_target * car.suspension_travel)
    size = wheel[0, 0] - wheel[2, 0], wheel[0, 1] - wheel[1, 1], car.wheel_radius
    corners = np.array((mesh.vertex.min(axis=0), mesh.vertex.max(axis=0)))
    return (corners - wheel.mean(axis=0)) / size


@pytest.mark.parametrize("name", CARS)
@pytest.mark.parametrize("style", BODY_STYLES)
def test_a_body_stands_to_the_wheels_of_each_car_as_to_those_it_is_drawn_for(name, style):
    drawn, car = load_car("original"), load_car(name)
    assert np.allclose(measure(dress(car)[0][style], car), measure(dress(drawn)[0][style], drawn), atol=1e-5)


@pytest.mark.parametrize("name", CARS)
def test_wheels_are_drawn_as_large_as_they_roll(name):
    car = load_car(name)
    wheel = dress(car)[1].vertex
    assert np.hypot(wheel[:, 0], wheel[:, 2]).max() == pytest.approx(car.wheel_radius, rel=1e-3)


@pytest.mark.parametrize("name", ["original", "original-2021"])
def test_the_cars_that_bodies_are_drawn_for_wear_the_very_meshes(name):
    scene = make_scene()
    assert fit_models(scene, load_car(name)) is scene.models


@pytest.mark.parametrize("name", CARS)
@pytest.mark.parametrize("style", BODY_STYLES)
def test_a_cars_own_camera_sees_none_of_it(name, style):
    car = load_car(name)
    bodies, wheel = dress(car)
    points = [bodies[style].vertex]
    for at in car.wheel_position:
        points += [wheel.vertex + at, wheel.vertex + at - (0.0, 0.0, car.suspension_travel)]
    away, pitch = np.concatenate(points) - car.camera.position, car.camera.rotation[1]
    ahead = away[:, 0] * np.cos(pitch) - away[:, 2] * np.sin(pitch)
    down = -away[:, 0] * np.sin(pitch) - away[:, 2] * np.cos(pitch)
    assert not ((ahead > 0.01) & (np.abs(down) < np.tan(0.5 * car.camera.fov) * ahead)).any()


def lay_out(name):
    scene = make_scene(props=((3.0, 3.0),))
    return scene, Layout([scene], np.zeros(1, np.int32), load_car(name), 1, 1, 1)


def test_pictures_and_shadows_show_what_fits():
    tables = {name: Renderer(lay_out(name)[1], Workers(1)).tables for name in ("original", "rc10")}
    drawn, car = load_car("original"), load_car("rc10")
    longer = (car.wheel_position[0][0] - car.wheel_position[2][0]) / (
        drawn.wheel_position[0][0] - drawn.wheel_position[2][0]
    )
    body, wheel = (tables["original"].car_mesh[0, column] for column in (CAR_MESH.body, CAR_MESH.wheel))
    radius = {name: table.mesh_sphere[:, 3] for name, table in tables.items()}
    larger = car.wheel_radius / drawn.wheel_radius
    assert radius["rc10"][wheel] == pytest.approx(radius["original"][wheel] * larger, rel=1e-3)
    assert radius["rc10"][body] > 1.4 * radius["original"][body]
    patch = {name: table.car_shadow[0, 2] for name, table in tables.items()}
    assert patch["rc10"] == pytest.approx(longer * patch["original"], rel=1e-3)
    cone = {name: table.mesh_sphere[table.prop_mesh[0]] for name, table in tables.items()}
    assert np.array_equal(cone["rc10"], cone["original"])


def test_a_lidar_meets_what_fits():
    scene, layout = lay_out("rc10")
    box = LidarScanner(layout)._tables
    body = fit_models(scene, layout.car)[scene.car_models["donkey"].body].vertex
    assert (box.box_centre[0] + box.box_half[0] >= body.max(axis=0) - 1e-6).all()
    assert box.box_centre[0, 2] + box.box_half[0, 2] == pytest.approx(float(body[:, 2].max()))
