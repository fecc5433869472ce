"""An experiment is one value, however it was asked for."""

import json
import pickle
from dataclasses import fields, replace

import msgspec
import pytest

from donkeysim.car.config import make_default_config
from donkeysim.cli.options import read_options
from donkeysim.core.errors import SpecError
from donkeysim.drive.simulator_settings import read_settings as read_simulator_settings
from donkeysim.envs.conf import read_conf
from donkeysim.envs.track_settings import read_settings
from donkeysim.world.experiment import Experiment
from donkeysim.world.randomization import RandomizationSpec, read_randomization
from donkeysim.world.specs import ChallengeSpec, RoadSpec, SceneSpec

FULL = Experiment(
    scenes=(
        SceneSpec("generated_road", road=RoadSpec(2, 7, 3.0), challenges=ChallengeSpec(cones=4, light=True, seed=9)),
        SceneSpec("generated_track", look="meadow"),
    ),
    car="original-2021",
    seed=9,
    log="run.dlog",
    randomization=read_randomization("wide"),
)


def test_an_experiment_is_hashable_and_survives_pickle_print_and_json():
    assert hash(pickle.loads(pickle.dumps(FULL))) == hash(FULL)
    assert pickle.loads(pickle.dumps(FULL)) == FULL
    assert msgspec.convert(json.loads(msgspec.json.encode(FULL)), Experiment) == FULL
    assert "cones=4" in repr(FULL)


def test_a_world_of_it_has_all_but_the_log():
    world = FULL.specify_world(3, 2)
    assert (world.scenes, world.world_count, world.cars_per_world) == (FULL.scenes, 3, 2)
    assert (world.car, world.seed, world.randomization) == (FULL.car, FULL.seed, FULL.randomization)
    assert FULL.specify_world().scenes == FULL.scenes[:1]  # a single world is on one place


def test_impossible_experiments_say_why():
    with pytest.raises(SpecError, match="no track was given"):
        Experiment(())
    with pytest.raises(SpecError, match="of 0 worlds with 1 cars each"):
        Experiment().specify_world(0)


def test_in_another_scene_all_else_stays():
    moved = FULL.move_to("flat")
    assert moved.scenes == (SceneSpec("flat", road=FULL.scene.road, challenges=FULL.scene.challenges),)
    assert replace(moved, scenes=FULL.scenes) == FULL


def test_the_command_line_asks_for_the_experiment_that_its_options_name(tmp_path):
    arguments = "--road-style 2 --road-turn 3 --cones 4 --random-light --car original-2021 --seed 9 --look meadow"
    options = read_options([*arguments.split(), "--tracks", str(tmp_path), "--action-log", "a.dlog"])
    challenges = ChallengeSpec(cones=4, light=True, seed=9)
    scene = SceneSpec("generated_track", (str(tmp_path),), RoadSpec(2, 0, 3.0), challenges, "meadow")
    assert options.simulation.experiment == Experiment((scene,), "original-2021", 9, "a.dlog")
    assert options.begins_in_menu
    options = read_options(["--scene", "warehouse", "--randomization", "mild"])
    wanted = Experiment(randomization=read_randomization("mild")).move_to("warehouse")
    assert (options.simulation.experiment, options.begins_in_menu) == (wanted, False)


def test_settings_of_environments_name_every_part_of_an_experiment_but_the_seed(tmp_path):
    given = {
        "folders": (str(tmp_path),),
        "road": RoadSpec(2),
        "challenges": ChallengeSpec(cones=4),
        "look": "",
        "car": "original-2021",
        "camera": "pi_v2",
        "log": tmp_path / "a.dlog",
        "randomization": "wide",
    }
    parts = {part.name for kind in (Experiment, SceneSpec) for part in fields(kind)}
    assert set(given) == parts - {"name", "scenes", "seed"}
    scenes = tuple(
        SceneSpec(name, (str(tmp_path),), road, ChallengeSpec(cones=4))
        for name, road in (("generated_road", RoadSpec(2)), ("flat", None))
    )
    wanted = Experiment(
        scenes, "original-2021", 0, str(tmp_path / "a.dlog"), read_randomization("wide"), camera="pi_v2"
    )
    assert read_settings(given, ["generated_road", "flat"]).experiment == wanted
    with pytest.raises(SpecError, match="unknown setting 'seed'"):
        read_settings({"seed": 1}, ["flat"])
    with pytest.raises(SpecError, match="no track was given"):
        read_settings({"look": ()}, ["flat"])


def test_a_conf_asks_for_an_experiment_in_whatever_scene():
    conf = {"challenges": {"cones": 4, "seed": 9}, "look": "meadow", "car": "original-2021", "action_log": "a.dlog"}
    scene = SceneSpec(challenges=ChallengeSpec(cones=4, seed=9), look="meadow")
    wanted = Experiment((scene,), "original-2021", 0, "a.dlog", RandomizationSpec())
    assert read_conf(conf).experiment == wanted
    assert read_conf(None).experiment == Experiment()


@pytest.mark.parametrize(
    ("key", "value"),
    [("challenges", {"cones": 4}), ("look", "a"), ("car", "a"), ("action_log", "a"), ("randomization", "mild")],
)
@pytest.mark.parametrize("where", [{"port": 9091}, {"host": "localhost"}, {"exe_path": "donkey_sim"}])
def test_a_simulator_elsewhere_cannot_be_asked_for_an_experiment(key, value, where):
    with pytest.raises(SpecError, match="in this process only"):
        read_conf({key: value, **where})


@pytest.mark.parametrize(
    ("path", "address"),
    [("", None), ("path to sim", None), ("remote", ("there", 9099)), ("/bin/sim", ("127.0.0.1", 9099))],
)
def test_a_cars_config_says_where_its_experiment_is(path, address):
    changes = {
        "DONKEY_SIM_PATH": path,
        "SIM_HOST": "there",
        "SIM_PORT": 9099,
        "SIM_SEED": 5,
        "DONKEY_GYM_ENV_NAME": "donkey-warehouse-v0",
        "GYM_CONF": {"host": "elsewhere"},  # does not count
    }
    settings = read_simulator_settings(make_default_config(changes=changes))
    assert (settings.conf.address if settings.conf.is_remote else None) == address
    assert settings.conf.exe_path == (path if path == "/bin/sim" else None)
    assert settings.conf.experiment == Experiment(seed=5).move_to("warehouse")
    assert settings.scene == "warehouse"
