"""What a pilot's convolutions see becomes pictures."""

import numpy as np
import pytest
from PIL import Image

from donkeysim.core.errors import PilotError, SpecError
from donkeysim.learn.activations import (
    compute_activations,
    draw_activations,
    find_image_shape,
    read_picture,
    write_activations,
)
from stand_ins.untrained_models import get_model, make_picture

SHAPES = {
    "linear": [(58, 78, 24), (27, 37, 32), (12, 17, 64), (10, 15, 64), (8, 13, 64)],
    "memory": [(58, 78, 24), (27, 37, 32), (12, 17, 64), (10, 15, 64), (8, 13, 64)],
    "rnn": [(58, 78, 24), (27, 37, 32), (13, 18, 32), (11, 16, 32)],
    "3d": [(40, 54, 16), (20, 27, 32), (10, 13, 64), (5, 6, 128)],
}


@pytest.mark.parametrize("kind", SHAPES)
def test_every_convolution_has_its_maps(kind):
    maps = compute_activations(get_model(kind), make_picture())
    assert [each.shape for each in maps.values()] == SHAPES[kind]


def test_maps_are_what_the_layer_computes():
    model, picture = get_model("linear"), make_picture(4)
    first = compute_activations(model, picture)["conv2d_1"]
    kernel, bias = model.get_layer("conv2d_1").get_weights()
    patch = picture[20:25, 30:35].astype(np.float32) / 255.0
    expected = np.maximum(np.einsum("hwc,hwcf->f", patch, kernel) + bias, 0.0)
    assert np.abs(first[10, 15] - expected).max() < 1e-5


def test_a_drawing_shows_every_map_and_where_it_is_strongest():
    maps = np.zeros((8, 13, 6), dtype=np.float32)
    maps[2, 3, 0] = 1.0
    drawing = draw_activations("conv2d_5", maps)
    brightest = np.argwhere((drawing == (253, 231, 37)).all(axis=2))
    height, width = np.ptp(brightest, axis=0) + 1
    assert height == width == np.sqrt(len(brightest)) > 5
    dark = (drawing == (68, 1, 84)).all(axis=2).sum()
    assert dark == (8 * 13 * 6 - 1) * height * width


def test_pictures_are_written_one_per_layer(tmp_path):
    reports = []
    paths = write_activations(
        get_model("3d"), make_picture(), tmp_path / "new" / "out", "7", lambda *done: reports.append(done)
    )
    assert [path.name for path in paths] == ["7_conv3d.png", "7_conv3d_1.png", "7_conv3d_2.png", "7_conv3d_3.png"]
    for path in paths:
        with Image.open(path) as drawing:
            assert 500 < drawing.size[0] <= 1100
    assert reports[-1] == (4, 4)


def test_a_picture_file_takes_the_size_and_depth_of_the_configuration(tmp_path):
    path = tmp_path / "big.png"
    Image.fromarray(make_picture(shape=(240, 320, 3))).save(path)
    assert read_picture(path, (120, 160, 3)).shape == (120, 160, 3)
    assert read_picture(path, (60, 80, 1)).shape == (60, 80, 1)


def test_a_file_that_is_no_picture_is_refused(tmp_path):
    path = tmp_path / "notes.jpg"
    path.write_text("no picture")
    with pytest.raises(SpecError, match=r"notes\.jpg is not a picture"):
        read_picture(path, (120, 160, 3))
    with pytest.raises(SpecError, match=r"cannot read the picture .*: No such file"):
        read_picture(tmp_path / "none.jpg", (120, 160, 3))


def test_a_picture_of_another_size_than_the_pilots_is_refused():
    assert find_image_shape(get_model("linear")) == (120, 160, 3)
    with pytest.raises(PilotError, match="takes pictures of 160x120 with 3 channels, but this one has 80x60 with 1"):
        compute_activations(get_model("linear"), make_picture(shape=(60, 80, 1)))


def test_the_command_writes_the_pictures_and_names_them(tmp_path, monkeypatch, capsys):
    from donkeysim.car.folder import create_car
    from donkeysim.cli.donkey import run
    from donkeysim.learn.files.model_file import save_model
    from stand_ins.untrained_models import DefaultConfig

    create_car(tmp_path, say=lambda text: None)
    monkeypatch.chdir(tmp_path)
    save_model(get_model("linear"), "models/p.h5", "linear", DefaultConfig)
    save_model(get_model("linear"), "models/p.onnx", "linear", DefaultConfig)
    Image.fromarray(make_picture()).save("1.jpg")
    assert run(["cnnactivations", "--image", "1.jpg", "--model", "models/p.h5", "--out", "maps"]) == 0
    assert "saved maps/1_conv2d_5.png" in capsys.readouterr().out.replace("\\", "/")
    assert run(["cnnactivations", "--image", "1.jpg", "--model", "models/p.onnx"]) == 1
    assert "give the .h5 or .keras file of the pilot" in capsys.readouterr().err
