"""`regen_road`: everybody gets a new road, made beside while the cars drive on."""

import time

import numpy as np
import pytest

from donkeysim.core.errors import SceneError
from donkeysim.core.frames import position_to_units
from donkeysim.record.replay import Replay
from donkeysim.serve.output import ORGANISERS
from donkeysim.world.experiment import Experiment
from donkeysim.world.specs import NO_CHALLENGES, ChallengeSpec, RoadSpec, SceneSpec
from serve.test_simulation import SimulationRig
from sim.test_change_scene import RING


@pytest.fixture
def make_show(tmp_path):
    (tmp_path / "ring.toml").write_text(RING)
    shows = []

    def make(log=None, challenges=NO_CHALLENGES, **options):
        scene = SceneSpec(folders=(str(tmp_path),), challenges=challenges)
        show = SimulationRig(**{"max_cars": 4, **options}, experiment=Experiment((scene,), log=log))
        show.load("ring")
        show.join(1, 2)
        show.beat()
        show.received.clear()
        shows.append(show)
        return show

    yield make
    for show in shows:
        show.simulation.close()


def wait_for_road(show, beats=False):
    """Let time pass until no client waits for a road any more."""
    end = time.monotonic() + 60.0
    while show.simulation._road_jobs.seconds_left() is not None:
        assert time.monotonic() < end
        time.sleep(0.01)
        show.beat()


def width(show):
    return float(show.simulation.simulator.scene.path.width_left[0])


def test_everybody_begins_on_the_new_road_and_nobody_waits_while_it_is_made(make_show):
    show = make_show(pace_car="steady")
    for client in (1, 2):
        show.say(client, "control", throttle="0.5")
    show.beat(20)
    show.take(1), show.take(2)
    outline, pace_car = show.simulation.viewing.outline, show.simulation.park.pace_car
    show.say(1, "regen_road", road_style="1", rand_seed="3", turn_increment="2")
    show.beat(2)
    assert len(show.take(2, "telemetry")) == 2, "the old road is driven until the new one is there"
    wait_for_road(show)
    show.beat()
    assert width(show) == 0.9
    for client in (1, 2):
        last = show.take(client, "telemetry")[-1]
        assert last["reset_count"] == 1
        assert abs(last["cte"]) < 5.0
        assert last["lap"] == 0
    assert last["time"] > 1.0, "the clock runs on"
    assert show.simulation.viewing.outline is not outline
    assert show.simulation.park.pace_car is not pace_car
    show.beat(40)
    assert abs(show.simulation.simulator.ledger.offset[show.simulation.park.pace_car.car.row]) < 0.1, (
        "it follows the new road"
    )


def test_who_asked_is_heard_again_on_the_new_road_in_its_order(make_show):
    show = make_show()
    show.say(1, "regen_road", road_style="1")
    for throttle in ("0.1", "0.2", "0.9"):
        show.say(1, "control", throttle=throttle)
    show.say(1, "node_position", index="100")
    show.say(2, "node_position", index="100")
    assert show.take(1, "node_position") == []
    old = show.take(2, "node_position")[0]
    wait_for_road(show)
    new = show.take(1, "node_position")[0]
    assert new["pos_x"] == pytest.approx(old["pos_x"], abs=1e-6), "a style has no path of its own"
    show.beat()
    assert show.take(1, "telemetry")[-1]["throttle"] == 0.9


def test_half_controls_that_come_while_a_road_is_made_are_merged(make_show):
    show = make_show()
    show.say(1, "regen_road", road_style="1")
    show.say(1, "control", steering="0.3")
    show.say(1, "control", throttle="0.4")
    wait_for_road(show)
    show.beat()
    last = show.take(1, "telemetry")[-1]
    assert (last["steering_angle"], last["throttle"]) == (pytest.approx(0.3), 0.4)


def test_roads_of_several_clients_come_one_after_the_other(make_show):
    show = make_show()
    show.say(1, "regen_road", road_style="1")
    for seed in range(50):
        show.say(2, "regen_road", road_style="0", rand_seed=str(seed))
    assert len(show.simulation.clients[2].queue._waiting) <= 2, "of many in a row the last one counts"
    wait_for_road(show)
    assert show.simulation.simulator.scene.road.seed == 49
    assert show.simulation.simulator.scene.road.style == 0
    show.beat()
    assert show.take(1, "telemetry")[-1]["reset_count"] == 2


def test_what_is_missing_or_zero_stays_as_it_is(make_show):
    show = make_show()
    show.say(1, "regen_road", rand_seed="8", turn_increment="0", road_style="1")
    wait_for_road(show)
    show.say(1, "regen_road", turn_increment="-2.5")
    wait_for_road(show)
    road = show.simulation.simulator.scene.road
    assert (road.style, road.seed, road.turn) == (1, 8, 2.5)


def test_in_lock_step_time_waits_for_the_road(make_show):
    show = make_show()
    show.simulation.leave(2)
    show.say(1, "step_mode", step_mode="synchronous", time_step="0.05")
    show.say(1, "control", throttle="0.5")
    show.say(1, "regen_road", road_style="1", rand_seed="5")
    show.say(1, "control", throttle="0.5")
    show.beat(2)
    answers = show.take(1, "telemetry")
    assert [answer["reset_count"] for answer in answers] == [0, 1]
    assert width(show) == 0.9


def test_who_leaves_or_exits_meanwhile_leaves_no_road_behind(make_show):
    show = make_show()
    show.say(1, "regen_road", road_style="1")
    show.simulation.leave(1)
    wait_for_road(show)
    assert width(show) == 0.9, "it was everybody's road"
    show.say(2, "regen_road", road_style="0")
    show.say(2, "exit_scene")
    show.simulation.exit_scene()
    assert show.simulation.seconds_to_beat() is None
    show.collect()
    assert "scene_selection_ready" in show.types(2)
    show.load("ring")
    show.beat()
    assert width(show) == 0.6
    assert show.types(2)[-1] == "telemetry"


def test_the_action_log_tells_the_road(make_show, tmp_path):
    show = make_show(log=str(tmp_path / "run.dlog"))
    show.say(1, "control", throttle="0.4")
    show.beat(5)
    show.say(1, "regen_road", road_style="1", rand_seed="6")
    wait_for_road(show)
    show.beat(5)
    show.simulation.exit_scene()
    replay = Replay(tmp_path / "run.dlog")
    assert sum(1 for _ in replay.play()) > 10
    assert (replay.deviation, replay.broken) == (None, "")
    assert replay.simulator.scene.road.seed == 6


def test_a_ghost_cone_is_told_once_each_time_and_has_no_body(make_show):
    show = make_show(challenges=ChallengeSpec(cones=12, ghosts=True, seed=2))
    x, y = show.simulation.simulator.scene.ghosts[4]
    right, up, ahead = position_to_units((float(x) - 0.4, float(y), 0.0736))
    show.say(1, "car_config", body_style="f1", car_name="Zoë")
    for _ in range(2):
        show.say(1, "set_position", pos_x=right, pos_y=up, pos_z=ahead)
        show.say(1, "control", throttle="1")
        show.take(1)
        show.beat(30)
        messages = show.take(1)
        events = [message for message in messages if message["msg_type"] == "collision_with_cone"]
        assert show.take(ORGANISERS, "collision_with_cone") == events
        assert [(event["car_name"], event["cone_index"]) for event in events] == [("Zoë", 4)]
        assert 0.0 < events[0]["timeStamp"] <= messages[-1]["time"]
        assert {message["hit"] for message in messages if message["msg_type"] == "telemetry"} == {"none"}
    assert show.take(2, "collision_with_cone") == []


def test_a_cone_on_the_road_is_hit_and_pushed(make_show):
    show = make_show(challenges=ChallengeSpec(cones=12, seed=2))
    before = show.simulation.simulator.snapshot().state.prop_position[-12:]
    x, y = before[4, :2]
    right, up, ahead = position_to_units((float(x) - 0.4, float(y), 0.0736))
    show.say(1, "set_position", pos_x=right, pos_y=up, pos_z=ahead)
    show.say(1, "control", throttle="1")
    show.beat(30)
    hits = [message["hit"] for message in show.take(1, "telemetry") if message["hit"] != "none"]
    assert "cone" in hits
    told = show.take(ORGANISERS, "collision_with_cone")[0]
    all_cones = len(show.simulation.simulator.scene.props.mass)
    assert (told["car_name"], told["cone_index"]) == ("car0", all_cones - 12 + 4)
    assert show.simulation.simulator.find_prop(0, 0) is None, "the ground is no cone"
    assert abs(show.simulation.simulator.snapshot().state.prop_position[-12:] - before)[4].max() > 0.05


def test_challenges_are_drawn_anew_about_cars_that_drive_on(make_show):
    show = make_show(challenges=ChallengeSpec(cones=12, seed=2), pace_car="steady")

    def place_cones():
        return show.simulation.simulator.snapshot().state.prop_position[-12:]

    before = place_cones()
    show.say(1, "control", throttle="0.3")
    show.beat(20)
    show.take(1)
    show.simulation.draw_challenges(5)
    show.simulation.draw_challenges(3)
    show.say(2, "regen_road", road_style="1")
    show.beat()
    wait_for_road(show)
    assert show.simulation.simulator.spec.scene.challenges == ChallengeSpec(cones=12, seed=3)
    assert not np.array_equal(place_cones(), before)
    telemetry = show.take(1, "telemetry")
    drawn = [message for message in telemetry if message["reset_count"] == 0]
    gaps = np.hypot(np.diff([m["pos_x"] for m in drawn]), np.diff([m["pos_z"] for m in drawn]))
    assert gaps.max() < 0.15, "other cones do not move the cars"
    assert telemetry[-1]["reset_count"] == 1, "the road that was asked for meanwhile comes too"
    show.simulation.exit_scene()
    show.simulation.draw_challenges(2)
    show.load("ring")
    assert np.array_equal(place_cones(), before), "a seed is kept for scenes that are loaded later"


def test_challenges_that_are_put_back_stand_where_they_stood(make_show):
    show = make_show(challenges=ChallengeSpec(cones=12, seed=2))
    before = show.simulation.simulator.snapshot().state.prop_position
    show.simulation.simulator.state.prop_position[-5] += 1.0
    show.simulation.draw_challenges(None)
    wait_for_road(show)
    assert np.array_equal(show.simulation.simulator.snapshot().state.prop_position, before)


def test_without_challenges_there_is_nothing_to_draw(make_show):
    with pytest.raises(SceneError, match="no challenges; donkey_sim has some with --cones"):
        make_show().simulation.draw_challenges(1)


def test_a_watcher_makes_a_road_too(make_show):
    show = make_show()
    show.simulation.make_road(RoadSpec(1, 9))
    with pytest.raises(SceneError, match="a road is being made"):
        show.simulation.make_road(RoadSpec(0, 9))
    wait_for_road(show)
    assert show.simulation.viewing.outline.road == RoadSpec(1, 9)
    show.simulation.exit_scene()
    with pytest.raises(SceneError, match="no scene is running"):
        show.simulation.make_road(RoadSpec())
    show.simulation.load_scene("flat")
    with pytest.raises(SceneError, match="not a generated one"):
        show.simulation.make_road(RoadSpec())
