"""How the car looks: GYM_CONF says it, the page may say otherwise, and that is kept for the next drive."""

import pytest

from donkeysim.car.config import make_default_config
from donkeysim.drive.look import LOOK_FILE, Look, change_look, find_look, keep_look
from donkeysim.drive.simulator_settings import read_settings

ANNAS = Look("Anna", "f1", (16, 96, 208))


@pytest.fixture
def config(tmp_path):
    return make_default_config(tmp_path)


def read_look(config):
    return find_look(read_settings(config).conf)


def test_a_new_car_is_red(config):
    assert read_look(config) == Look("car", "donkey", (220, 40, 30))


def test_what_was_chosen_on_the_page_is_worn_in_the_next_drive(config):
    keep_look(config, ANNAS)
    assert read_look(config) == ANNAS


@pytest.mark.parametrize("own", [{"car_name": "Ben"}, {"car_config": {"body_rgb": (0, 0, 255)}}, {}])
def test_who_writes_another_look_into_the_config_gets_it(config, own):
    keep_look(config, ANNAS)
    config.GYM_CONF = own
    assert read_look(config) != ANNAS


def test_a_table_of_the_car_gives_way_to_what_was_chosen(config):
    config.GYM_CONF = {"car_config": {"car_name": "Ben", "font_size": 50}}
    keep_look(config, ANNAS)
    assert read_look(config) == ANNAS
    (message,) = [one for one in read_settings(config).conf.messages if one["msg_type"] == "car_config"]
    assert message["font_size"] == "50"


@pytest.mark.parametrize("text", ["", "{", "{}", '{"look": {"body_style": "tank"}, "instead_of": {}}'])
def test_a_file_that_nobody_understands_changes_nothing(config, tmp_path, text):
    (tmp_path / LOOK_FILE.parent).mkdir()
    (tmp_path / LOOK_FILE).write_text(text, encoding="utf-8")
    assert read_look(config).car_name == "car"


def test_a_folder_that_takes_no_file_is_told_and_the_drive_goes_on(config, tmp_path, caplog):
    (tmp_path / LOOK_FILE.parent).write_text("in the way", encoding="utf-8")
    keep_look(config, ANNAS)
    assert "not kept for the next drive" in caplog.text


def test_a_changed_look_leaves_the_cameras_alone(config):
    conf = read_settings(config).conf
    changed = change_look(conf, ANNAS)
    assert find_look(changed) == ANNAS
    kinds = lambda one: sorted(message["msg_type"] for message in one.messages)  # noqa: E731
    assert kinds(changed) == kinds(conf)


def test_a_picture_size_that_is_left_out_is_told(tmp_path, caplog):
    config = make_default_config(tmp_path, {"GYM_CONF": {"cam_resolution": [120, 160, 3], "img_w": 160}})
    assert read_settings(config).conf.cam_resolution == (120, 160, 3)
    assert caplog.messages == [], "they agree"
    config.GYM_CONF = {"cam_config": {"img_w": 320, "fov": 80}}
    assert read_settings(config).conf.cam_resolution == (120, 160, 3)
    assert "img_w 320 in GYM_CONF is left out: IMAGE_W, IMAGE_H and IMAGE_DEPTH say 160x120x3." in caplog.text
