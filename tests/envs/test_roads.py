"""Roads and challenges through the environments: by `conf`, by `regen_road`, in batches, and at a server."""

import gymnasium
import numpy as np
import pytest

import donkeysim  # noqa: F401  (registers the ids)
from donkeysim.core.errors import DonkeySimError, SceneError, SpecError
from donkeysim.envs.built_in import BuiltInCar
from donkeysim.envs.conf import read_conf
from donkeysim.envs.donkey_env import DonkeyEnv
from donkeysim.envs.donkey_vector_env import DonkeyVectorEnv
from donkeysim.envs.registration import OWN_PLACES, SCENE_BY_ID, TRACK_BY_ID
from donkeysim.envs.track_env import TrackEnv, TrackVectorEnv
from donkeysim.record.replay import Replay
from donkeysim.sim.snapshot import hash_state
from donkeysim.world.specs import ChallengeSpec, RoadSpec
from donkeysim.world.tracks import list_scenes
from donkeysim.world.tracks.catalogue import ORIGINAL_SCENES
from sim.test_change_scene import RING


@pytest.fixture(scope="module")
def ring(tmp_path_factory):
    path = tmp_path_factory.mktemp("tracks") / "ring.toml"
    path.write_text(RING)
    return str(path)


def test_every_id_has_its_scene():
    assert set(SCENE_BY_ID.values()) == set(ORIGINAL_SCENES)
    assert tuple(sorted(OWN_PLACES)) == OWN_PLACES
    assert set(TRACK_BY_ID.values()) == {*ORIGINAL_SCENES, *OWN_PLACES} == set(list_scenes())
    assert list_scenes() == (*ORIGINAL_SCENES, *OWN_PLACES)
    assert list_scenes()[:4] == ("generated_road", "warehouse", "sparkfun_avc", "generated_track")  # the page's
    assert list_scenes()[4:10] == (  # as the original's menu of 2022 told a client
        *("roboracingleague_1", "waveshare", "mini_monaco", "warren", "circuit_launch", "mountain_track"),
    )
    for name, scene in SCENE_BY_ID.items():
        assert gymnasium.spec(name).kwargs == gymnasium.spec(f"donkeysim/{name}").kwargs == {"scene": scene}


def test_conf_chooses_road_and_challenges(ring):
    env = DonkeyEnv(ring, {"road_style": 1, "rand_seed": 8, "turn_increment": 2, "challenges": {"cones": 5, "seed": 2}})
    spec = env.simulator.spec.scene
    assert spec.road == RoadSpec(1, 8, 2.0)
    assert spec.challenges == ChallengeSpec(cones=5, seed=2)
    assert len(env.simulator.scene.props.mass) == 11
    env.close()


def test_episodes_go_on_on_a_road_made_anew(ring):
    env = DonkeyEnv(ring)
    env.reset(seed=1)
    env.step([0.0, 0.5])
    env.regen_road(road_style=1, rand_seed=9)
    with pytest.raises(gymnasium.error.ResetNeeded):
        env.step([0.0, 0.5])
    first, _ = env.reset(seed=1)
    env.step([0.3, 0.5])
    again, info = env.reset(seed=1)
    assert np.array_equal(first, again)
    assert abs(info["cte"]) < 0.1
    assert env.simulator.scene.road == RoadSpec(1, 9, 4.0), "a turn of 0 keeps the track's own"
    assert env.simulator.scene.path.width_left[0] == 0.9
    env.close()
    fresh = DonkeyEnv(ring, {"road_style": 1, "rand_seed": 9})
    assert np.array_equal(fresh.reset(seed=1)[0], first)
    fresh.close()


def drive_seeded(env, steps=4):
    """All that a seeded episode tells, and every byte that it depends on."""
    told = [env.reset(seed=7)]
    told += [env.step([0.3, 0.6]) for _ in range(steps)]
    pictures = [picture.tobytes() for picture, *_ in told]
    lidars = [np.asarray(info["lidar"]).tobytes() for *_, info in told]
    return pictures, lidars, told[-1][-1].get("randomization"), hash_state(env.simulator.state)


@pytest.mark.parametrize(
    "randomization",
    [None, "mild", {"delay": {"action": [0.0, 0.2], "picture": [0.0, 0.2], "picture_jitter": [0.0, 0.1]}}],
)
def test_a_seeded_episode_on_a_new_road_is_the_same_whatever_was_driven_before(ring, randomization):
    conf = {"lidar_config": {"noise": 0.05}} | ({"randomization": randomization} if randomization else {})
    runs = []
    for steps in (0, 3, 8):
        env = DonkeyEnv(ring, conf)
        env.reset(seed=1)
        for _ in range(steps):
            env.step([0.2, 0.9])
        env.regen_road(rand_seed=5)
        runs.append(drive_seeded(env))
        assert env.simulator.state.step_index.tolist() == [4 * 24], "the clock began anew"
        env.close()
    fresh = DonkeyEnv(ring, conf | {"rand_seed": 5})
    runs.append(drive_seeded(fresh))
    fresh.close()
    assert all(run == runs[0] for run in runs), "also as if the road had been there from the start"


def test_a_log_of_episodes_on_a_new_road_is_replayed(ring, tmp_path):
    env = DonkeyEnv(ring, {"action_log": str(tmp_path / "run.dlog"), "randomization": "mild"})
    for seed in (1, 7):
        env.reset(seed=seed)
        env.step([0.2, 0.9])
        env.regen_road(rand_seed=5)
    ends = hash_state(env.simulator.state)
    env.close()
    replay = Replay(tmp_path / "run.dlog")
    assert sum(1 for _ in replay.play()) == 2
    assert (replay.deviation, replay.broken) == (None, "")
    assert hash_state(replay.simulator.state) == ends


def test_a_car_that_moves_goes_on_with_its_clock_looks_and_sensors_and_begins_there_at_0(ring):
    car = BuiltInCar("flat", read_conf({"cam_resolution": (24, 32, 3), "lidar_config": {}, "car_name": "Ada"}))
    car.open()
    for _ in range(3):
        car.step(0.2, 0.9)
    car.move(ring, car.prepare_place(ring))
    assert car.observe().telemetry.time == pytest.approx(0.15)
    moment = car.begin_episode(seed=1)
    assert (moment.telemetry.time, moment.image.shape) == (0.0, (24, 32, 3))
    assert moment.lidar is not None
    assert car.simulator.get_body(car.row).name == "Ada"
    car.close()


def test_batches_and_our_own_family_take_them_too(ring):
    batch = DonkeyVectorEnv(2, ring, {"rand_seed": 4, "challenges": {"trees": 9}})
    assert batch.fleet.simulator.scene.road.seed == 4
    assert len(batch.fleet.simulator.scene.colliders.kind) > 4
    batch.close()
    env = TrackEnv(ring, observe="vector", road=RoadSpec(1, 3), challenges=ChallengeSpec(cones=3))
    observation, _ = env.reset(seed=0)
    assert np.isfinite(observation).all()
    assert env.fleet.simulator.scene.road == RoadSpec(1, 3)
    env.close()


@pytest.mark.parametrize(
    ("conf", "text"),
    [
        ({"challenges": {"cone": 3}}, "did you mean 'cones'"),
        ({"challenges": {"cones": 3}, "port": 9091}, "start the other with --cones"),
        ({"challenges": {"cones": -3}}, "0 to 1000"),
        ({"challenges": {"seed": 0.5}}, "whole number"),
        ({"road_style": "x"}, "road_style"),
        ({"road_stile": 1}, "did you mean 'road_style'"),
    ],
)
def test_what_is_not_possible_is_refused(conf, text):
    with pytest.raises(DonkeySimError, match=text):
        DonkeyEnv("flat", conf)


def test_a_road_that_is_not_generated_cannot_be_chosen():
    with pytest.raises(SceneError, match="road of flat is not a generated one"):
        DonkeyEnv("flat", {"rand_seed": 3})
    env = DonkeyEnv("flat")
    with pytest.raises(SceneError, match="not a generated one"):
        env.regen_road(rand_seed=3)
    env.close()
    with pytest.raises(SpecError, match="0 to 1000"):
        TrackEnv("flat", challenges=ChallengeSpec(trees=-1))


@pytest.mark.parametrize("tracks", ["generated_track", ["flat", "generated_track"]])
def test_a_road_that_none_of_the_tracks_generates_is_refused(tracks):
    name = tracks if isinstance(tracks, str) else tracks[0]
    with pytest.raises(SceneError, match=f"^the road of {name} is not a generated one; it cannot be regenerated.$"):
        TrackVectorEnv(2, tracks, observe="vector", road=RoadSpec(seed=9))


def test_a_road_is_left_out_where_another_track_uses_it(ring):
    batch = TrackVectorEnv(2, ["flat", ring], observe="vector", road=RoadSpec(seed=9))
    assert [scene.road for scene in batch.fleet.simulator.spec.scenes] == [None, RoadSpec(seed=9)]
    batch.close()
