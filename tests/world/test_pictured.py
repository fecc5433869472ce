"""Panels, pictured rooms, coloured ground and banked roads: what shows and what can be hit is what the file says."""

import dataclasses
import math
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from donkeysim.core.errors import SceneError
from donkeysim.sim.simulator import Simulator
from donkeysim.world.scene import SHADE_UNLIT, Scene
from donkeysim.world.specs import CameraSpec, SceneSpec, WorldSpec
from donkeysim.world.tracks import load_scene
from donkeysim.world.tracks.art import read_picture
from donkeysim.world.tracks.paths.path_csv import read_points
from donkeysim.world.tracks.tables.ground import TILE_SIZE, Patch
from donkeysim.world.tracks.tables.road import Marking
from donkeysim.world.tracks.terrain.atlas import paint_patch
from donkeysim.world.tracks.terrain.atlas_frame import AtlasFrame
from donkeysim.world.tracks.terrain.ground import RoadPlace, sample_height
from donkeysim.world.tracks.terrain.road_class import find_offset
from donkeysim.world.tracks.terrain.road_paint import wear_off
from donkeysim.world.tracks.terrain.surfaces import make_surface
from standing import write_track

PANEL = '[[panels]]\npicture = "crowd"\nsize = [2.0, 1.0]\n'


def load(folder, text) -> Scene:
    return load_scene(SceneSpec(write_track(folder, text)))


def find_corners(scene, picture) -> np.ndarray:
    """Return the corners of what shows a picture of the package [m], in the order of its quads' corners."""
    texture = next(index for index, one in enumerate(scene.textures) if np.array_equal(one, read_picture(picture)))
    shown = [index for index, material in enumerate(scene.materials) if material.texture == texture]
    used = scene.static.triangle[np.isin(scene.static.material, shown)]
    return scene.static.vertex[np.unique(used)]


def test_a_panel_stands_on_its_foot_and_is_hit_behind_its_picture(tmp_path):
    scene = load(tmp_path, PANEL + 'places = [[3.0, -5.0, 90.0]]\nhit = "dude"\nname = "person"\n')
    corner = find_corners(scene, "crowd")
    assert corner[:, 1] == pytest.approx(np.full(4, -5.0), abs=1e-5)
    assert np.ptp(corner, axis=0) == pytest.approx((2.0, 0.0, 1.0), abs=1e-5)
    assert corner[:, 2].min() == pytest.approx(0.0, abs=1e-6)
    assert [scene.hit_names[name] for name in scene.colliders.name] == ["dude"]
    assert scene.colliders.centre[0] == pytest.approx((3.0, -5.01, 0.5))


def test_a_panel_may_lie_or_hang(tmp_path):
    scene = load(tmp_path, PANEL + "places = [[3.0, -5.0, 0.0, 2.0]]\ntilt = -90.0\nunlit = true\n")
    corner = find_corners(scene, "crowd")
    assert corner[:, 2] == pytest.approx(np.full(4, 2.0), abs=1e-5)
    assert np.ptp(corner, axis=0)[:2] == pytest.approx((1.0, 2.0), abs=1e-5)
    assert len(scene.colliders.name) == 0
    assert any(material.flags & SHADE_UNLIT for material in scene.materials)


FRAME = AtlasFrame((-2.0, -2.0), 0.0625, 64, 64, (-2.0, -2.0, 2.0, 2.0))


def paint(patch):
    """Return the colours of a grey atlas with a patch in it, row 0 at the least y, shape [64, 64, 3]."""
    atlas = np.full((FRAME.rows, FRAME.columns, 4), 100, np.uint8)
    paint_patch(patch, FRAME, atlas)
    return atlas[::-1, :, :3].astype(int)


def test_a_lying_picture_shows_its_left_end_where_the_patch_begins():
    seen = paint(Patch(size=(2.0, 1.0), at=(0.0, 0.0), picture="kerb", cover=1.0))
    red, white = seen[32, 24], seen[32, 40]
    assert red[0] > red[1] + 60
    assert white.min() > 150
    assert (seen[:22] == 100).all()
    turned = paint(Patch(size=(2.0, 1.0), at=(0.0, 0.0), picture="kerb", cover=1.0, yaw=180.0))
    assert np.abs(turned - seen[::-1, ::-1]).max() <= 8


def test_a_patch_of_several_places_is_as_so_many_patches():
    places = ((-1.0, -1.0, 20.0), (0.9, 0.3, 75.0), (1.0, 1.6, 0.0))
    together = paint(Patch(size=(1.2, 0.3), colour=(250, 10, 10), places=places, cover=1.0))
    red = np.zeros_like(together, bool)
    for x, y, yaw in places:
        red |= paint(Patch(size=(1.2, 0.3), colour=(250, 10, 10), at=(x, y), yaw=yaw, cover=1.0)) != 100
    assert np.array_equal(together != 100, red)
    assert 3 * 0.8 < red[..., 0].sum() * FRAME.texel**2 / 0.36 < 3 * 1.3


def test_a_chequered_patch_is_half_of_each_colour():
    seen = paint(Patch((2.0, 2.0), (240, 240, 240), (0.0, 0.0), chequer=0.25, border_colour=(20, 20, 20), cover=1.0))
    inside = seen[18:46, 18:46, 0]
    assert inside.mean() == pytest.approx(130.0, abs=6.0)
    assert (inside < 30).sum() > 100
    assert (inside > 230).sum() > 100


def test_a_patch_without_a_place_or_with_an_unknown_picture_is_refused():
    with pytest.raises(ValueError, match="either at"):
        Patch(size=(1.0, 1.0))
    with pytest.raises(SceneError, match="did you mean 'crowd'"):
        paint(Patch(size=(1.0, 1.0), at=(0.0, 0.0), picture="crowds"))


def test_a_line_in_the_middle_follows_both_edges_and_loses_paint_where_it_is_worn():
    place = RoadPlace(*(np.array(row, np.float32) for row in ([0.0, 1.0], [0.0, 0.0], [0.6, 1.2], [0.4, 0.4])))
    line = Marking(0.0, 0.05, (255, 255, 255), edge="middle")
    assert find_offset(line, place, stretched=False) == pytest.approx((0.1, 0.4))
    away = np.zeros(4)
    spots = np.array([-2.0, 0.0, 1.0, 3.0])
    left = wear_off(dataclasses.replace(line, worn=0.8), away, spots, 0.0 * spots)
    assert left[0] == 1.0
    assert left[-1] == pytest.approx(0.2)
    assert np.all(np.diff(left) < 0.0)


def test_a_bale_is_as_large_as_the_file_says(tmp_path):
    scene = load(
        tmp_path, '[[blocks]]\nkind = "bale"\nplaces = [[3.0, -5.0, 90.0]]\nsize = [0.3, 0.8, 0.4]\nhit = "HayBale"\n'
    )
    corner = find_corners(scene, "pale_straw")
    assert np.ptp(corner, axis=0) == pytest.approx((0.8, 0.3, 0.4), abs=1e-5)
    assert [scene.hit_names[name] for name in scene.colliders.name] == ["HayBale"]


def test_a_panel_along_points_shows_its_picture_to_their_left_from_left_to_right(tmp_path):
    halves = np.zeros((90, 300, 3), np.uint8)  # no sides of powers of two
    halves[:, :150, 0] = halves[:, 150:, 2] = 220
    Image.fromarray(halves).save(tmp_path / "halves.png")
    assert read_picture(str(tmp_path / "halves.png")).shape == (90, 300, 4), "patches and skies take it as it is"
    line = "points = [[3.0, -5.0], [5.0, -5.0], [5.0, -4.0]]\nheight = 0.5\n"  # its front looks north and west
    scene = load(tmp_path, f'[[panels]]\npicture = "halves.png"\n{line}hit = "mural"\n')
    assert [scene.hit_names[name] for name in scene.colliders.name] == ["mural", "mural"]
    assert scene.colliders.centre == pytest.approx(np.array([(4.0, -5.01, 0.25), (5.01, -4.5, 0.25)]), abs=1e-6)
    assert scene.colliders.half_size == pytest.approx(np.array([(0.01, 1.0, 0.25), (0.01, 0.5, 0.25)]))
    simulator = Simulator(WorldSpec(SceneSpec(str(tmp_path / "place.toml"))))
    eye = CameraSpec(width=64, height=32)
    right, left = (simulator.view(0, (x, -4.2, 0.25), (0.0, 0.0, yaw), eye) for x, yaw in ((3.3, -1.57), (4.2, 0.0)))
    behind = simulator.view(0, (3.3, -6.0, 0.25), (0.0, 0.0, 1.57), eye)
    simulator.close()
    assert right[16, 32, 2] > 120 > 60 > right[16, 32, 0], "the line begins at the picture's right edge"
    assert left[16, 32, 0] > 120 > 60 > left[16, 32, 2]
    assert behind[16, 32, 0] > 60, "nobody sees it from behind"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('picture = "crowd"\npoints = [[3.0, -5.0], [4.0, -5.0]]\nheight = 1.0', "along points has a height, and no"),
        ('picture = "crowd"\nsize = [0.0, 0.0]\npoints = [[3.0, -5.0], [4.0, -5.0]]', "a height above 0"),
        ('picture = "crowd"\nsize = [0.0, 0.0]\nheight = 1.0\npoints = [[3.0, -5.0], [3.0, -5.0]]', "leave one out"),
        ('picture = "crowd"\nplaces = [[3.0, -5.0, 0.0]]\nheight = 1.0', "it has no other height"),
        ('picture = "crowds"\nplaces = [[3.0, -5.0, 0.0]]', "did you mean 'crowd'"),
        ('picture = "crowd"\nplaces = [[3.0, -5.0]]', "each \\[x, y, yaw in degrees\\]"),
        ('picture = "crowd"\nplaces = [[3.0, -5.0, 0.0]]\ntilt = 90.0\nhit = "x"', "only an upright panel"),
    ],
)
def test_a_wrong_panel_is_refused_where_it_stands(tmp_path, text, says):
    with pytest.raises(SceneError, match=rf"place.toml, line 1[3-9].*{says}"):
        load(tmp_path, "[[panels]]\n" + ("" if "size" in text else "size = [1.0, 1.0]\n") + text + "\n")


def test_walls_of_a_room_have_their_own_pictures_and_names(tmp_path):
    room = '[room]\nbox = [-4.0, -4.0, 10.0, 8.0]\nheight = 2.0\nroof = "none"\npictures = { north = "crowd" }\n'
    scene = load(tmp_path, room + 'hits = { north = "Plane (3)" }\n')
    corner = find_corners(scene, "crowd")
    assert corner[:, 1] == pytest.approx(np.full(4, 8.0), abs=1e-5)
    assert np.ptp(corner, axis=0) == pytest.approx((14.0, 0.0, 2.0), abs=1e-5)
    assert sorted(scene.hit_names[name] for name in scene.colliders.name) == ["Plane (3)", "wall", "wall", "wall"]
    assert scene.static.vertex[:, 2].max() == pytest.approx(2.0), "there is no roof"


@pytest.mark.parametrize("size", [128, 512, 2048])
def test_a_surface_takes_a_mean_colour_at_any_size(size):
    tile = make_surface("grass", size, (80, 90, 40))
    assert tile.shape == (size, size, 4)
    assert tile[..., :3].mean(axis=(0, 1)) == pytest.approx((80, 90, 40), abs=1.5)
    step = np.abs(np.diff(tile[..., :3].astype(int), axis=0)).mean()
    seam = np.abs(tile[0, :, :3].astype(int) - tile[-1, :, :3]).mean()
    assert seam < 2.0 * step + 1.0, "it continues into itself"


def test_a_tile_of_another_size_is_refused_with_those_allowed(tmp_path):
    with pytest.raises(SceneError, match=r"tile is 4; it takes 0\.96, 1\.92, 3\.84"):
        load(tmp_path, "").name and load_scene(SceneSpec(write_tile(tmp_path, 4.0)))
    assert load_scene(SceneSpec(write_tile(tmp_path, 2.0 * TILE_SIZE))).name == "place"


def write_tile(folder, tile):
    path = write_track(folder, "")
    (folder / "place.toml").write_text(
        (folder / "place.toml").read_text().replace('texture = "plain"', f'texture = "sand"\ntile = {tile}')
    )
    return path


def test_a_banked_road_has_the_heights_of_its_edges(tmp_path):
    angle = np.arange(60) * (2.0 * math.pi / 60)
    rows = np.column_stack((3.0 * np.sin(angle), 3.0 - 3.0 * np.cos(angle), *np.full((2, 60), 0.8), *np.zeros((2, 60))))
    rows = np.column_stack((rows, np.full(60, 0.3)))
    header = "# x_m,y_m,w_tr_right_m,w_tr_left_m,z_m,z_right_m,z_left_m\n"
    text = "".join(",".join(f"{value:.5f}" for value in row) + "\n" for row in rows)
    (tmp_path / "ring.csv").write_text(header + text, encoding="utf-8")
    (tmp_path / "bowl.toml").write_text('format = 1\nname = "bowl"\n[path]\nfile = "ring.csv"\nnodes = "points"\n')
    ground = load_scene(SceneSpec(str(tmp_path / "bowl.toml"))).ground
    for radius, height in ((2.2, 0.3), (2.6, 0.15), (3.0, 0.0), (3.8, 0.0)):
        circle = np.column_stack((radius * np.sin(angle), 3.0 - radius * np.cos(angle)))
        assert sample_height(ground, circle) == pytest.approx(np.full(60, height), abs=0.035)


def test_heights_of_one_edge_alone_are_refused():
    with pytest.raises(SceneError, match="z_left_m is missing"):
        read_points("# x_m,y_m,w_tr_right_m,w_tr_left_m,z_m,z_right_m\n0,0,1,1,0,0\n1,0,1,1,0,0\n", "ring.csv")


def load_patch(folder, more="") -> Scene:
    """A place with a patch of a picture in a file beside it."""
    patch = '[[ground.patches]]\nat = [3.0, -5.0]\nsize = [2.0, 1.0]\npicture = "mine.png"\n'
    path = Path(write_track(folder, patch + more))
    path.write_text(path.read_text(encoding="utf-8").replace('"plain"', '"concrete"'), encoding="utf-8")
    return load_scene(SceneSpec(str(path)))


def test_a_patch_shows_a_picture_that_lies_beside_the_track_file(tmp_path):
    colour = np.zeros((4, 8, 3), np.uint8)
    colour[:, :4], colour[:, 4:] = (250, 20, 20), (20, 20, 250)
    Image.fromarray(colour).save(tmp_path / "mine.png")
    scene = load_patch(tmp_path, "cover = 1.0\n")
    atlas = max(scene.textures, key=np.size)[..., :3].reshape(-1, 3).astype(int)
    for red, blue in ((250, 20), (20, 250)):
        found = (np.abs(atlas[:, 0] - red) < 30) & (np.abs(atlas[:, 2] - blue) < 30)
        assert found.sum() > 1000


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda _path: None, "cannot be read"),
        (lambda path: path.write_bytes(b"no picture"), "cannot be read"),
        (lambda path: Image.new("L", (9000, 1)).save(path), "9000x1; its sides may have up to 8192"),
    ],
)
def test_a_picture_that_is_none_is_told_with_its_line(tmp_path, make, said):
    make(tmp_path / "mine.png")
    with pytest.raises(SceneError, match=said):
        load_patch(tmp_path)
    with pytest.raises(SceneError, match=r"mine\.png"):
        load(tmp_path, PANEL.replace("crowd", "mine.png") + "places = [[3.0, -5.0, 0.0]]\n")
