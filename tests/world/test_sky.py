"""The original's sky: its colours by elevation, a sharp horizon, and what lies under it."""

import math

import numpy as np
import pytest
from PIL import Image

from donkeysim.core.errors import SceneError
from donkeysim.world.specs import SceneSpec
from donkeysim.world.tracks.catalogue import load_scene
from donkeysim.world.tracks.terrain.sky import HEIGHT, make_clear_sky

PLACE = """format = 1
name = "yard"

[path]
points = [[0.0, 0.0], [4.0, 0.0], [4.0, 3.0], [0.0, 3.0]]
closed = true

[road]
width_left = 0.5
width_right = 0.5

[light]
sky = "{sky}"
"""


def test_clear_sky_has_the_original_s_colours():
    sky = make_clear_sky(1.0, math.radians(50.0), (132, 152, 214))

    def look_up(elevation):
        return sky[int((0.5 - elevation / 180.0) * (HEIGHT - 1) + 0.5), :, :3].astype(int)

    for elevation, colour in ((90.0, (82, 104, 140)), (30.0, (102, 128, 168)), (10.0, (148, 179, 218))):
        assert np.abs(look_up(elevation).mean(axis=0) - colour).max() < 12.0
    assert (look_up(0.2).max(axis=0) >= (240, 255, 255)).all()
    assert (look_up(-0.2) == (132, 152, 214)).all()


def test_clear_sky_is_darkest_a_right_angle_from_the_sun():
    sky = make_clear_sky(0.0, math.radians(30.0), (105, 99, 95)).astype(int)
    row = sky[HEIGHT // 2 - 60, :, 0]
    assert row[len(row) // 4] < row[0] - 20
    assert row[len(row) // 4] < row[len(row) // 2] - 20


def load_place(folder, sky):
    (folder / "yard.toml").write_text(PLACE.format(sky=sky), encoding="utf-8")
    return load_scene(SceneSpec(str(folder / "yard.toml")))


def test_a_picture_all_around_is_the_sky(tmp_path):
    picture = np.random.default_rng(1).integers(0, 255, (64, 128, 3), np.uint8)
    Image.fromarray(picture).save(tmp_path / "around.png")
    scene = load_place(tmp_path, "around.png")
    assert (scene.textures[scene.light.sky_texture][..., :3] == picture).all()


@pytest.mark.parametrize(
    ("sky", "said"),
    [("medow", "did you mean 'meadow'"), ("gone.jpg", "gone.jpg cannot be read"), ("yard.webp", "cannot be read")],
)
def test_a_sky_that_there_is_not_is_refused(tmp_path, sky, said):
    (tmp_path / "yard.webp").write_bytes(b"no picture")
    with pytest.raises(SceneError, match=said) as caught:
        load_place(tmp_path, sky)
    assert "sky" in str(caught.value)
