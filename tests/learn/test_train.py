"""Training learns to steer, repeats itself, stops in time, and leaves whole files whatever happens."""

import json
import logging

import numpy as np
import pytest

from donkeysim.core.errors import DonkeySimError
from donkeysim.learn.database import read_entries
from donkeysim.learn.files.model_file import load_model
from donkeysim.learn.kinds import KINDS
from donkeysim.learn.pilot import load_pilot
from donkeysim.learn.train import train
from stand_ins.steered_tub import draw_post, make_config, write_steered_tub


@pytest.fixture(scope="module")
def tub(tmp_path_factory):
    path = tmp_path_factory.mktemp("tubs") / "data"
    write_steered_tub(path, 160)
    return path


@pytest.fixture(scope="module")
def short_tub(tmp_path_factory):
    """Enough where it does not matter how much is learned."""
    path = tmp_path_factory.mktemp("tubs") / "short"
    write_steered_tub(path, 64)
    return path


@pytest.fixture(scope="module")
def sensor_tub(tmp_path_factory):
    path = tmp_path_factory.mktemp("tubs") / "sensors"
    write_steered_tub(path, 40, has_sensors=True)
    return path


@pytest.fixture(scope="module")
def learnt(tub, tmp_path_factory):
    """A training long enough to learn to steer: its folder and its result."""
    folder = tmp_path_factory.mktemp("car")
    changes = {"MAX_EPOCHS": 14, "USE_EARLY_STOP": False, "SHOW_PLOT": True, "CREATE_TF_LITE": True}
    return folder, train(make_config(folder, **changes), tub, folder / "models" / "mypilot.h5", comment="hello")


def read_weights(path):
    return np.concatenate([weights.ravel() for weights in load_model(path).get_weights()])


@pytest.mark.parametrize("ending", [".h5", ".onnx", ".tflite", ".int8.tflite"])
def test_a_pilot_learns_to_steer(learnt, ending):
    pilot = load_pilot(learnt[1].model_path.with_suffix(ending))
    rng = np.random.default_rng(5)
    angles = np.linspace(-0.9, 0.9, 31)
    answers = [pilot.run(draw_post(angle, rng))[0] for angle in angles]
    assert np.corrcoef(angles, answers)[0, 1] > 0.95


def test_training_leaves_pilot_onnx_tflite_plot_and_an_entry(learnt):
    folder, result = learnt
    assert {path.name for path in (folder / "models").iterdir()} == {
        "mypilot.h5",
        "mypilot.onnx",
        "mypilot.tflite",
        "mypilot.int8.tflite",
        "mypilot.png",
        "database.json",
    }
    (entry,) = read_entries(folder / "models")
    assert (entry["Number"], entry["Name"], entry["Type"], entry["Comment"]) == (0, "mypilot.h5", "linear", "hello")
    assert list(entry["History"]) == [
        "loss",
        "n_outputs0_loss",
        "n_outputs1_loss",
        "val_loss",
        "val_n_outputs0_loss",
        "val_n_outputs1_loss",
    ]
    assert len(entry["History"]["loss"]) == 14
    assert (folder / "models" / "mypilot.png").read_bytes().startswith(b"\x89PNG")
    assert result.record_counts == (128, 32)


def test_the_pilot_in_the_file_is_that_of_the_best_epoch(learnt, tub):
    from donkeysim.learn.batches import iterate_batches
    from donkeysim.learn.fit import Trainer
    from donkeysim.learn.kinds import get_kind
    from donkeysim.learn.options import read_options
    from donkeysim.learn.train import load_examples

    folder, result = learnt
    assert result.best_loss == min(result.history["val_loss"])
    config = make_config(folder)
    options, kind = read_options(config), get_kind("linear")
    _, validation = load_examples(config, [tub], kind, options, lambda *_: None)
    trainer = Trainer(load_model(result.model_path), kind, options)
    losses = trainer.validate(iterate_batches(validation, 32, 0, None))
    assert losses["loss"] == pytest.approx(result.best_loss, rel=1e-3)


def test_the_same_seed_gives_the_same_weights_and_another_others(short_tub, tmp_path):
    for name, seed in (("one", 1), ("same", 1), ("other", 2)):
        config = make_config(tmp_path, TRAIN_SEED=seed, AUGMENTATIONS=["BRIGHTNESS", "BLUR"], MAX_EPOCHS=2)
        train(config, short_tub, tmp_path / f"{name}.h5")
    one, same, other = (read_weights(tmp_path / f"{name}.h5") for name in ("one", "same", "other"))
    assert np.array_equal(one, same)
    assert not np.array_equal(one, other)


def test_training_leaves_the_programs_own_random_numbers_alone(short_tub, tmp_path):
    import random

    import torch

    states = random.getstate(), torch.get_rng_state()
    train(make_config(tmp_path), short_tub, tmp_path / "pilot.h5")
    assert random.getstate() == states[0]
    assert torch.equal(torch.get_rng_state(), states[1])


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_each_kind_trains_and_drives(sensor_tub, tmp_path, kind):
    train(make_config(tmp_path, NUM_LOCATIONS=3), sensor_tub, tmp_path / "pilot.h5", kind)
    pilot = load_pilot(tmp_path / "pilot.h5")
    assert pilot.kind == kind
    others = {"imu": [0.1] * 6, "behavior": [np.array([1.0, 0.0])]}.get(kind, [])
    assert np.isfinite(pilot.run(draw_post(0.2, np.random.default_rng(0)), *others)).all()


def test_grey_pictures_train_and_drive(short_tub, tmp_path):
    train(make_config(tmp_path, IMAGE_DEPTH=1), short_tub, tmp_path / "grey.onnx")
    assert load_pilot(tmp_path / "grey.onnx").image_shape == (80, 80, 1)


def test_transformations_reach_the_pictures_before_and_after_augmentation(tub, tmp_path):
    from donkeysim.learn.kinds import get_kind
    from donkeysim.learn.options import read_options
    from donkeysim.learn.train import load_examples

    keys = {"TRANSFORMATIONS": ["CROP"], "ROI_CROP_TOP": 30, "POST_TRANSFORMATIONS": ["RGB2BGR"]}
    for augmentations in ([], ["BRIGHTNESS"]):
        config = make_config(tmp_path, AUGMENTATIONS=augmentations, **keys)
        training, validation = load_examples(config, [tub], get_kind("linear"), read_options(config), lambda *_: None)
        rng = np.random.default_rng(0)
        assert (training.augment is None) == (not augmentations)
        assert validation.augment is None
        assert not validation.take(np.arange(4), rng).pictures[:, :30].any()
    plain, _ = load_examples(make_config(tmp_path), [tub], get_kind("linear"), read_options(config), lambda *_: None)
    config = make_config(tmp_path, POST_TRANSFORMATIONS=["RGB2BGR"])
    swapped, _ = load_examples(config, [tub], get_kind("linear"), read_options(config), lambda *_: None)
    pair = [part.take(np.arange(4), np.random.default_rng(0)).pictures for part in (plain, swapped)]
    assert np.array_equal(pair[0][..., ::-1], pair[1])


@pytest.mark.parametrize(("warm_up_steps", "epoch_count"), [(0, 3), (17, 6)])
def test_training_stops_when_there_is_no_progress_after_its_first_steps(
    short_tub, tmp_path, monkeypatch, warm_up_steps, epoch_count
):
    monkeypatch.setattr("donkeysim.learn.fit.WARM_UP_STEPS", warm_up_steps)
    config = make_config(tmp_path, MAX_EPOCHS=20, MIN_DELTA=10.0, EARLY_STOP_PATIENCE=2, BATCH_SIZE=16)
    assert len(train(config, short_tub, tmp_path / "pilot.h5").history["loss"]) == epoch_count


def test_ctrl_c_keeps_the_best_so_far(short_tub, tmp_path):
    def interrupt(epoch):
        if epoch.number == 2:
            raise KeyboardInterrupt

    result = train(make_config(tmp_path, MAX_EPOCHS=50), short_tub, tmp_path / "pilot.h5", on_epoch=interrupt)
    assert result.was_interrupted
    assert len(result.history["loss"]) == 2
    assert load_pilot(tmp_path / "pilot.h5").kind == "linear"
    assert len(read_entries(tmp_path)) == 1


def test_ctrl_c_in_the_first_epoch_writes_nothing(tub, tmp_path):
    def interrupt(done, total):
        if total < 160:  # no longer the pictures
            raise KeyboardInterrupt

    with pytest.raises(DonkeySimError, match="before its first epoch ended"):
        train(make_config(tmp_path), tub, tmp_path / "pilot.h5", report=interrupt)
    assert list(tmp_path.iterdir()) == []


def test_a_runaway_training_says_what_to_do(tub, tmp_path):
    config = make_config(tmp_path, LEARNING_RATE=100.0, OPTIMIZER="sgd", MAX_EPOCHS=5)
    with pytest.raises(DonkeySimError, match=r"Make LEARNING_RATE smaller than 100\.0"):
        train(config, tub, tmp_path / "pilot.h5")


def test_the_optimizer_of_the_configuration_is_used(short_tub, tmp_path):
    weights = []
    for keys in ({}, {"OPTIMIZER": "sgd"}, {"OPTIMIZER": "rmsprop"}, {"LEARNING_RATE_DECAY": 5.0}):
        train(make_config(tmp_path, **keys), short_tub, tmp_path / f"{len(weights)}.h5")
        weights.append(read_weights(tmp_path / f"{len(weights)}.h5"))
    assert not any(np.array_equal(weights[0], other) for other in weights[1:])


def test_bfloat16_learns_about_the_same(short_tub, tmp_path):
    losses = []
    for precision in ("float32", "bfloat16"):
        config = make_config(tmp_path, TRAIN_PRECISION=precision, MAX_EPOCHS=3)
        losses.append(train(config, short_tub, tmp_path / f"{precision}.h5").history["val_loss"])
    assert losses[0] != losses[1]
    assert losses[0] == pytest.approx(losses[1], rel=0.2)


def test_a_transfer_begins_with_the_weights_it_is_given(learnt, tub, tmp_path, caplog):
    caplog.set_level(logging.INFO)
    fresh = train(make_config(tmp_path), tub, tmp_path / "fresh.h5")
    moved = train(make_config(tmp_path), tub, tmp_path / "moved.h5", transfer=learnt[1].model_path)
    assert moved.history["val_loss"][0] < 0.5 * fresh.history["val_loss"][0]
    assert "starting from the weights of" in caplog.text
    assert read_entries(tmp_path)[1]["Transfer"] == str(learnt[1].model_path)


def test_a_transfer_to_another_kind_takes_what_fits(learnt, short_tub, tmp_path, caplog):
    caplog.set_level(logging.INFO)
    train(make_config(tmp_path), short_tub, tmp_path / "moved.h5", "inferred", transfer=learnt[1].model_path)
    assert "starting from the weights of" in caplog.text
    with pytest.raises(DonkeySimError, match="shares no layer"):
        train(make_config(tmp_path), short_tub, tmp_path / "other.h5", "3d", transfer=learnt[1].model_path)


def test_frozen_layers_keep_their_weights(learnt, short_tub, tmp_path):
    config = make_config(tmp_path, FREEZE_LAYERS=True, NUM_LAST_LAYERS_TO_TRAIN=2)
    train(config, short_tub, tmp_path / "moved.h5", transfer=learnt[1].model_path)
    before, after = load_model(learnt[1].model_path), load_model(tmp_path / "moved.h5")
    for name, is_same in (("conv2d_1", True), ("dense_1", True), ("n_outputs0", False)):
        pair = [model.get_layer(name).get_weights()[0] for model in (before, after)]
        assert np.array_equal(*pair) == is_same


def test_a_pilot_without_a_name_gets_the_next_one(short_tub, tmp_path):
    config = make_config(tmp_path)
    numbers = [train(config, short_tub).model_path.stem.rsplit("_", 1)[1] for _ in range(2)]
    assert numbers == ["1", "2"]
    assert [entry["Number"] for entry in read_entries(tmp_path / "models")] == [1, 2]


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("pilot.savedmodel", r"not as .savedmodel; give --model \S+pilot\.h5"),
        ("a.txt", "not as .txt"),
        ("folder.h5", "folder"),
    ],
)
def test_impossible_files_are_refused_before_anything_is_read(tmp_path, name, sentence):
    (tmp_path / "folder.h5").mkdir()
    with pytest.raises(DonkeySimError, match=sentence):
        train(make_config(tmp_path), tmp_path / "no such tub", tmp_path / name)


def test_a_name_without_an_ending_is_that_of_an_h5(short_tub, tmp_path):
    assert train(make_config(tmp_path), short_tub, tmp_path / "mypilot").model_path == tmp_path / "mypilot.h5"


def test_the_entry_can_be_read_by_any_json_reader(learnt):
    text = (learnt[0] / "models" / "database.json").read_text()
    assert "NaN" not in text
    assert json.loads(text)[0]["Config"]["IMAGE_W"] == 80
