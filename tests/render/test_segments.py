"""Classes of pixels are those of the places they show."""

import math
from dataclasses import replace

import numpy as np
import pytest
from tests.render.reference import View
from tests.render.scenery import make_ground, make_scene

from donkeysim.core.errors import ShapeError
from donkeysim.core.workers import Workers
from donkeysim.render.camera import Renderer
from donkeysim.sim.simulator import Simulator
from donkeysim.world.scene import CLASS_CAR, CLASS_GROUND, CLASS_LINE, CLASS_ROAD
from donkeysim.world.specs import CameraSpec, SceneSpec, WorldSpec, load_car
from donkeysim.world.state import Layout, make_state
from donkeysim.world.tracks.catalogue import find_track
from donkeysim.world.tracks.paths.path import build_centre_line
from donkeysim.world.tracks.track_file import read_track


def locate_ground(simulator, car, camera, depth):
    """Return the world point that each pixel shows [m], shape [height, width, 3]."""
    view = View.of_car(simulator, car, camera)
    return view.eye + depth[..., None] * view.make_rays(1)


def measure_places(line, point):
    """Return signed distances from the path and distances along it, by looking at all its samples."""
    away = point[:, None, :2] - line.position
    nearest = np.argmin((away**2).sum(-1), axis=1)
    left = np.stack([-np.sin(line.yaw), np.cos(line.yaw)], axis=1)[nearest]
    ahead = np.stack([np.cos(line.yaw), np.sin(line.yaw)], axis=1)[nearest]
    offset = away[np.arange(len(point)), nearest]
    return (offset * left).sum(-1), line.distance[nearest] + (offset * ahead).sum(-1)


def tell_class(track, line, lateral, along):
    """Return the class that geometry gives."""
    road = (lateral < track.road.width_left) & (lateral > -track.road.width_right)
    painted = np.zeros(len(lateral), bool)
    for marking in track.road.markings:
        period = marking.dash + marking.gap
        on_dash = True
        if marking.dash:
            period = line.length / round(line.length / period)
            on_dash = np.abs(along % period - period / 2) < period / 4
        painted |= (np.abs(lateral - marking.offset) < marking.width / 2) & on_dash
    for at in track.start.lines:
        painted |= np.abs((along - at + line.length / 2) % line.length - line.length / 2) < 0.0625
    return np.where(painted & road, CLASS_LINE, np.where(road, CLASS_ROAD, CLASS_GROUND))


@pytest.fixture(scope="module")
def driven():
    simulator = Simulator(WorldSpec())
    car = simulator.add_car()
    path = find_track(SceneSpec("generated_track"))
    track = read_track(path)
    return simulator, car, track, build_centre_line(track.path, track.road)


@pytest.mark.parametrize(("distance", "supersample"), [(2.5, 1), (5.5, 2), (12.0, 1), (20.0, 2)])
def test_road_and_lines_are_where_geometry_has_them(driven, distance, supersample):
    simulator, car, track, line = driven
    position, yaw = line.locate(np.array([distance]))
    turned = (math.cos(yaw[0] / 2), 0.0, 0.0, math.sin(yaw[0] / 2))
    simulator.place_car(car, (*position[0], 0.0736), turned)
    camera = CameraSpec(supersample=supersample, depth=True, segment=True)
    group = simulator.renderer.make_group([car], [camera])
    frame = simulator.renderer.render_group(group, simulator.state)
    sampled = replace(camera, width=camera.width * supersample, height=camera.height * supersample)
    depth = np.repeat(np.repeat(frame.depth[0], supersample, 0), supersample, 1)
    point = locate_ground(simulator, car, sampled, depth)[::supersample, ::supersample]
    ground = np.isin(frame.segment[0], (CLASS_GROUND, CLASS_ROAD, CLASS_LINE)) & (frame.depth[0] < 6.0)
    lateral, along = measure_places(line, point[ground][::4])
    seen = frame.segment[0][ground][::4]
    truth = tell_class(track, line, lateral, along)
    # A texel's class is that of its middle, so a border may lie half a texel's diagonal beside.
    shifts = [(0.006 * math.cos(turn), 0.006 * math.sin(turn)) for turn in np.arange(8) * math.pi / 4]
    near = np.any([tell_class(track, line, lateral + a, along + b) == seen for a, b in shifts], axis=0)
    assert ((truth == seen) | near).all()
    assert (truth == seen).mean() > 0.96
    assert {CLASS_GROUND, CLASS_ROAD, CLASS_LINE} == set(np.unique(seen))


def make_striped_world(cells):
    """A ground of stripes 0.25 m wide along y: ground, road, line, road, by a class map of 4 x 1 cells a metre."""
    scene = make_scene(make_ground(5.0, cells, 1.0, 0), props=())
    materials = (replace(scene.materials[0], class_map=0), *scene.materials[1:])
    stripes = np.array([[CLASS_GROUND, CLASS_ROAD, CLASS_LINE, CLASS_ROAD]], np.uint8)
    scene = replace(scene, materials=materials, class_maps=(stripes,))
    renderer = Renderer(Layout([scene], np.zeros(1, np.int32), load_car("original"), 1, 1, 0), Workers(1))
    state = make_state(1, 1, 0)
    state.present[:] = 1
    state.position[0] = (0.1, 0.05, 0.065)
    return renderer, state


@pytest.mark.parametrize("cells", [1, 100])
@pytest.mark.parametrize("quality", ["default", "fast"])
def test_a_class_map_is_looked_up_whatever_the_size_of_triangles(cells, quality):
    renderer, state = make_striped_world(cells)
    camera = CameraSpec(quality=quality, depth=True, segment=True)
    frame = renderer.render_group(renderer.make_group([0], [camera]), state)
    ahead = (frame.segment[0] != CLASS_CAR) & (frame.depth[0] < 4.0)
    view = View(state.position[0] + camera.position, make_axes(camera), camera.width, camera.height, camera.fov)
    x = (view.eye + frame.depth[0][..., None] * view.make_rays(1))[..., 0][ahead]
    truth = np.array([CLASS_GROUND, CLASS_ROAD, CLASS_LINE, CLASS_ROAD])[np.floor(x * 4).astype(int) % 4]
    edge = np.abs(x * 4 - np.round(x * 4)) < 0.01
    assert not ((frame.segment[0][ahead] != truth) & ~edge).any()


def make_axes(camera):
    """Return forward, left, up of a camera that only pitches, as columns."""
    c, s = math.cos(camera.rotation[1]), math.sin(camera.rotation[1])
    return np.array([[c, 0, s], [0, 1, 0], [-s, 0, c]])


def test_a_class_map_with_other_sides_is_refused():
    scene = replace(make_scene(), class_maps=(np.zeros((3, 4), np.uint8),))
    with pytest.raises(ShapeError, match=r"class map of scene 'small' has the shape \(3, 4\); its sides are powers of"):
        Renderer(Layout([scene], np.zeros(1, np.int32), load_car("original"), 1, 1, 2), Workers(1))
