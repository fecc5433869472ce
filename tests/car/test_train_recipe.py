"""Which cars train with the recipe: new ones; those whose files are older than its key train as they always did."""

import pytest

from donkeysim.car.config import load_config, make_default_config
from donkeysim.car.folder import create_car

OLD_OWN = '# BATCH_SIZE = 128\nDRIVE_LOOP_HZ = 20\n# DEFAULT_MODEL_TYPE = "linear"\n'


@pytest.fixture
def car_folder(tmp_path):
    create_car(tmp_path / "car", say=lambda _: None)
    return tmp_path / "car"


def read_recipe(folder, **changes):
    return load_config(folder / "config.py", changes=changes).TRAIN_RECIPE


def test_a_new_car_trains_with_the_recipe(car_folder):
    assert read_recipe(car_folder) == make_default_config().TRAIN_RECIPE == "recovery"
    assert read_recipe(car_folder, TRAIN_RECIPE="original") == "original"


@pytest.mark.parametrize(
    ("text", "recipe"),
    [
        (OLD_OWN, "original"),
        ("MAX_EPOCHS = 7\n", "original"),
        (OLD_OWN + 'TRAIN_RECIPE = "recovery"\n', "recovery"),
        ("DRIVE_LOOP_HZ = 20\n", "recovery"),
    ],
)
def test_a_myconfig_of_before_trains_as_before(car_folder, text, recipe):
    (car_folder / "myconfig.py").write_text(text, encoding="utf-8")
    assert read_recipe(car_folder) == recipe
    assert read_recipe(car_folder, TRAIN_RECIPE="recovery") == "recovery"


def test_a_config_of_before_trains_as_before(car_folder):
    lines = (car_folder / "config.py").read_text(encoding="utf-8").splitlines()
    old = "\n".join(line for line in lines if "TRAIN_RECIPE" not in line)
    (car_folder / "config.py").write_text(old, encoding="utf-8")
    (car_folder / "myconfig.py").write_text(OLD_OWN, encoding="utf-8")
    assert read_recipe(car_folder) == "original"
