"""What the recipe of linear pilots does to pictures, steering and throttle, against what the simulator shows there."""

import logging
import math
from dataclasses import replace

import numpy as np
import pytest

from donkeysim.car.config import load_config, make_default_config
from donkeysim.car.folder import create_car
from donkeysim.car.transform import fit_picture, make_transform
from donkeysim.core.errors import DonkeySimError
from donkeysim.learn.files.model_file import make_model, read_layers
from donkeysim.learn.finetune import forget_commands, look_at
from donkeysim.learn.kinds import KINDS, read_spec
from donkeysim.learn.options import TrainingOptions, read_options
from donkeysim.learn.pilot import PACKAGE_LAYERS, load_pilot
from donkeysim.learn.recovery import (
    BEND_SHARE,
    EXAMPLES,
    LEAST_PASSES,
    LOOK_AHEAD,
    Recipe,
    Views,
    choose_recipe,
    find_camera,
    find_rate,
    plan_steps,
    smooth_commands,
)
from donkeysim.learn.train import load_examples, train
from donkeysim.sim.commands import PutOnPath
from donkeysim.sim.simulator import Simulator
from donkeysim.tub.reader import TubReader
from donkeysim.world.specs import SceneSpec, WorldSpec
from stand_ins.steered_tub import make_config, write_steered_tub


def make_car(folder, **changes):
    """Return the configuration of a car that trains by the recipe."""
    return make_config(folder, **{"IMAGE_W": 160, "IMAGE_H": 120, "TRAIN_RECIPE": "recovery"} | changes)


@pytest.fixture(scope="module")
def views():
    return Views(*find_camera(make_default_config()), np.array([0.2, -0.2]), seed=0)


@pytest.fixture(scope="module")
def simulator():
    simulator = Simulator(WorldSpec(scene=SceneSpec("warren")))
    simulator.add_car()
    return simulator


def look(simulator, along, aside=0.0, turn=0.0):
    """Return what a resting car's camera sees beside a place of the path, turned from its direction."""
    rows = np.zeros(1, np.int64)
    simulator.apply(PutOnPath(rows, np.array([along]), np.array([aside]), np.array([turn]), np.zeros(1)))
    simulator.step(0.5)
    simulator.render()
    return np.array(simulator.get_picture(0))


@pytest.mark.parametrize("number", range(0, 40, 8))
def test_a_moved_picture_shows_the_floor_as_it_is_seen_from_there(views, simulator, number):
    aside, turn = float(views._aside[number]), float(views._turn[number])
    here = look(simulator, 6.0)
    rear = min(position[0] for position in simulator.car_spec.wheel_position)  # what turns is about the rear axle
    there = look(simulator, 6.0 - rear * (math.cos(turn) - 1.0), aside - rear * math.sin(turn), turn).astype(int)
    moved = views._cv2.remap(here, *views._maps[number], views._cv2.INTER_LINEAR, borderMode=1).astype(int)
    floor = np.s_[60:110, 40:120]
    error = np.abs(moved[floor] - there[floor]).mean()
    assert error < 0.6 * np.abs(here[floor] - there[floor]).mean()
    assert error < 12.0


def test_the_steering_leads_back(views):
    assert views.lead_back(0.0, aside=0.2, turn=0.0) > 0.0, "left of the line: to the right"
    assert views.lead_back(0.0, aside=0.0, turn=-0.2) < 0.0, "turned to the right: to the left"
    assert views.lead_back(0.3, aside=0.0, turn=0.0) == pytest.approx(0.3)
    assert views.lead_back(0.9, aside=0.25, turn=0.3) == 1.0


def test_the_steering_that_leads_back_meets_the_line_after_the_look_ahead(views):
    """On the arc of this steering the car is on the straight line again where it looks."""
    aside, turn = 0.1, -0.05
    angle = views.lead_back(0.0, aside, turn)
    curvature = -math.tan(angle * views._gain) / views._base
    x = np.linspace(0.0, LOOK_AHEAD, 200)
    offset = aside + np.cumsum(np.sin(turn + curvature * x)) * (x[1] - x[0])
    assert abs(offset[-1]) < 0.01


def test_on_a_tight_track_pictures_are_moved_less_and_the_way_back_is_shorter(views):
    camera, car = find_camera(make_default_config())
    tight = Views(camera, car, np.array([0.9, -0.7, 0.8]), seed=0)
    radius = views._base / np.tan(np.array([0.9, 0.7, 0.8]) * car.steer_gain)
    assert tight._look_ahead == pytest.approx(BEND_SHARE * (1.0 / radius).mean() ** -1.0)
    assert np.abs(tight._aside).max() < 0.6 * np.abs(views._aside).max()
    assert tight.lead_back(0.0, 0.05, 0.0) > views.lead_back(0.0, 0.05, 0.0) > 0.0
    assert views._look_ahead == LOOK_AHEAD
    assert Views(camera, car, np.zeros(3), seed=0)._look_ahead == LOOK_AHEAD, "straight on all the way"


def test_commands_are_averaged_within_drives_only():
    rng = np.random.default_rng(0)
    angle, throttle = rng.uniform(-1, 1, 60), rng.uniform(0, 1, 60)
    follows = np.ones(60, bool)
    follows[[0, 30]] = False
    both = smooth_commands(angle, throttle, follows, 20.0)
    for part in (slice(0, 30), slice(30, 60)):
        alone = np.r_[False, np.ones(29, bool)]
        for whole, single in zip(both, smooth_commands(angle[part], throttle[part], alone, 20.0), strict=True):
            assert whole[part] == pytest.approx(single)


def test_the_steering_to_come_counts_less_the_later_it_is():
    angle = np.zeros(40)
    angle[20] = 1.0
    smooth, _ = smooth_commands(angle, np.zeros(40), np.arange(40) > 0, 20.0)
    assert smooth[20] > smooth[19] > smooth[14] > 0.0
    assert not smooth[:12].any()
    assert not smooth[21:].any()
    assert smooth.sum() == pytest.approx(1.0)


@pytest.mark.parametrize("conf", [3, {"car_config": 5}, {"cam_config": {"fov": "x"}}])
def test_a_gym_conf_that_cannot_be_read_stops_no_training(conf, tmp_path, caplog):
    create_car(tmp_path / "car", say=lambda _: None)
    (tmp_path / "car/myconfig.py").write_text(f"GYM_CONF = {conf}\nDRIVE_LOOP_HZ = -4\n", encoding="utf-8")
    config = load_config(tmp_path / "car/config.py", driving=False)
    assert find_camera(config) == find_camera(make_default_config())
    assert find_rate(config) == 20.0
    assert "a new car's camera" in caplog.text


def test_the_camera_of_the_configuration_is_meant():
    camera, _ = find_camera(make_default_config(changes={"GYM_CONF": {"cam_config": {"fov": 60, "rot_x": 5.0}}}))
    assert math.degrees(camera.fov) == pytest.approx(60.0)
    assert camera.rotation != find_camera(make_default_config())[0].rotation


def test_the_recipe_is_for_linear_pilots_and_begins_with_the_package_where_pictures_are_pictures():
    config = make_default_config()
    assert choose_recipe(config, KINDS["linear"], is_transfer=False)
    assert choose_recipe(config, KINDS["rnn"], is_transfer=False) is None
    assert choose_recipe(config, KINDS["linear"], is_transfer=True) == Recipe(start=False)
    begins = {}
    for name, changes in {
        "grey": {"IMAGE_DEPTH": 1},
        "crop": {"TRANSFORMATIONS": ["CROP"], "POST_TRANSFORMATIONS": ["TRAPEZE", "BLUR"]},
        "edges": {"POST_TRANSFORMATIONS": ["CANNY"]},
    }.items():
        recipe = choose_recipe(make_default_config(changes=changes), KINDS["linear"], is_transfer=False)
        assert recipe is not None
        begins[name] = recipe.start
    assert begins == {"grey": True, "crop": True, "edges": False}
    config = make_default_config(changes={"TRAIN_RECIPE": "original"})
    assert choose_recipe(config, KINDS["linear"], is_transfer=False) is None


@pytest.mark.parametrize("side", [1, 2, 3, 4])
@pytest.mark.parametrize("depth", [1, 3])
def test_the_package_sees_pictures_of_other_sizes_and_in_grey_as_its_own(side, depth):
    """A picture of squares is the same to it in every size, and a grey one the same as its three equal colours."""
    whole = forget_commands(read_layers(PACKAGE_LAYERS["anywhere"]), 0.4)
    squares = np.random.default_rng(0).integers(0, 256, (1, 60, 80, depth)).astype(np.float32) / 255.0
    own = np.repeat(np.repeat(squares, 2, 1), 2, 2)
    own = make_model(whole)([np.repeat(own, 3, 3) if depth == 1 else own])
    network = look_at(whole, (60 * side, 80 * side, depth))
    other = make_model(network)([np.repeat(np.repeat(squares, side, 1), side, 2)])
    for expected, output in zip(own, other, strict=True):
        assert output.detach().numpy() == pytest.approx(expected.detach().numpy(), abs=1e-5)


@pytest.mark.parametrize("shape", [(224, 224, 3), (120, 80, 3), (66, 88, 3), (50, 66, 1)])
def test_pictures_that_are_not_of_whole_squares_are_not_for_the_package(shape):
    assert look_at(forget_commands(read_layers(PACKAGE_LAYERS["anywhere"]), 0.4), shape) is None


def test_pictures_are_moved_before_they_are_transformed(tmp_path):
    """The mask stays where it is, whatever is moved beneath it; the light changes after it."""
    write_steered_tub(tmp_path / "data", 40, size=160, height=120)
    changes = {"TRANSFORMATIONS": ["CROP"], "POST_TRANSFORMATIONS": ["CROP"], "ROI_CROP_TOP": 60, "ROI_CROP_LEFT": 30}
    config = make_car(tmp_path, **changes)
    options = read_options(config)
    parts = load_examples(config, [tmp_path / "data"], KINDS["linear"], options, lambda *_: None, Recipe())
    for examples in parts:
        batch = examples.take(np.arange(len(examples)), np.random.default_rng(0))
        still = replace(examples, views=None).take(np.arange(len(examples)), np.random.default_rng(0))
        for pictures in (batch.pictures, still.pictures):
            assert not pictures[:, :60].any()
            assert not pictures[:, :, :30].any()
            assert pictures[:, 60:, 30:].any()
        assert (batch.pictures != still.pictures).any()


KINDS_OF_PICTURES = {
    "grey": {"IMAGE_DEPTH": 1, "MAX_EPOCHS": 6},
    "small": {"IMAGE_W": 80, "IMAGE_H": 60, "MAX_EPOCHS": 10},
    "crop": {"TRANSFORMATIONS": ["CROP"], "MAX_EPOCHS": 6},
    "square": {"IMAGE_W": 64, "IMAGE_H": 64, "MAX_EPOCHS": 40},
}


@pytest.mark.parametrize("name", KINDS_OF_PICTURES)
def test_pictures_of_any_kind_are_learned_by_the_recipe(name, tmp_path, caplog):
    caplog.set_level(logging.INFO)
    tub = tmp_path / "data"
    write_steered_tub(tub, angles=np.sin(np.arange(120) / 15.0), size=160, height=120)
    config = make_car(tmp_path, **KINDS_OF_PICTURES[name])
    result = train(config, tub, tmp_path / "p.h5")
    pilot, shape = load_pilot(result.model_path), read_spec(config).image_shape
    assert (pilot.kind, pilot.image_shape) == ("linear", shape)
    transform = make_transform(config)
    records = list(TubReader(tub))
    said = [pilot.run(transform(fit_picture(record.load_image(), shape)))[0] for record in records]
    assert np.corrcoef(said, [record.values["user/angle"] for record in records])[0, 1] > 0.7
    assert ("a new network learns" in caplog.text) == (name == "square")


def test_transformations_of_another_size_are_refused_by_the_recipe_too(tmp_path):
    write_steered_tub(tmp_path / "data", 40, size=160, height=120)
    config = make_car(tmp_path, TRANSFORMATIONS=["RESIZE"], RESIZE_WIDTH=80, RESIZE_HEIGHT=60)
    with pytest.raises(DonkeySimError, match="give pictures of 80x60x3, but the pilot takes 160x120x3"):
        train(config, tmp_path / "data", tmp_path / "p.h5")


def test_a_pilot_of_the_recipe_learns_further_by_it(tmp_path):
    tub = tmp_path / "data"
    write_steered_tub(tub, angles=np.sin(np.arange(120) / 15.0), size=160, height=120)
    for depth in (1, 3):
        config = make_car(tmp_path, MAX_EPOCHS=6, IMAGE_DEPTH=depth)
        first = train(config, tub, tmp_path / f"first_{depth}.h5")
        further = train(config, tub, tmp_path / f"further_{depth}.h5", transfer=first.model_path)
        assert load_pilot(further.model_path).kind == "linear"
        assert further.history["val_loss"][0] < 0.7 * first.history["val_loss"][0]
    with pytest.raises(DonkeySimError, match=r"160x120x1; set .*IMAGE_DEPTH = 1"):
        train(config, tub, tmp_path / "no.h5", transfer=tmp_path / "first_1.h5")


@pytest.mark.parametrize("count", [100, 960, 100_000])
def test_so_many_examples_are_learned_from(count):
    options = plan_steps(TrainingOptions(), count)
    assert options.max_epochs <= TrainingOptions.max_epochs
    assert options.max_epochs * count >= min(EXAMPLES, TrainingOptions.max_epochs * count)
    assert options.max_epochs >= LEAST_PASSES


def test_a_pilot_of_the_recipe_is_a_linear_one_and_steers_to_where_its_driver_did(tmp_path):
    tub = tmp_path / "data"
    write_steered_tub(tub, angles=np.sin(np.arange(200) / 15.0), size=160, height=120)
    config = make_car(tmp_path, MAX_EPOCHS=10, CREATE_TF_LITE=True)
    result = train(config, tub, tmp_path / "p.h5")
    assert len(result.history["loss"]) == 10
    pilot = load_pilot(result.model_path)
    assert (pilot.kind, pilot.input_names) == ("linear", ())
    records = list(TubReader(tub))
    said = [pilot.run(record.load_image())[0] for record in records]
    assert np.corrcoef(said, [record.values["user/angle"] for record in records])[0, 1] > 0.8
    for path in (result.onnx_path, *result.lite_paths):
        other = [load_pilot(path).run(record.load_image())[0] for record in records[::20]]
        assert other == pytest.approx(said[::20], abs=0.1 if "int8" in path.name else 1e-3)
