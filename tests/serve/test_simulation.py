"""The simulation gives clients cars, does what they ask for in order, and lets time move on for all of them alike."""

import json
import math
import statistics
import time

import pytest
from PIL import Image

from donkeysim.core.clock import ManualClock
from donkeysim.core.errors import DonkeySimError
from donkeysim.core.image import decode_picture
from donkeysim.record.replay import Replay
from donkeysim.render import body
from donkeysim.serve import background_jobs
from donkeysim.serve.client_queues import Presence
from donkeysim.serve.options import SimulationOptions
from donkeysim.serve.output import OutputKind
from donkeysim.serve.scene_loader import SceneLoader
from donkeysim.serve.simulation import Simulation
from donkeysim.wire.reading import read_request
from donkeysim.world.experiment import Experiment
from donkeysim.world.randomization import read_randomization
from donkeysim.world.specs import SceneSpec
from donkeysim.world.tracks.catalogue import find_tracks
from waiting import wait_until

SHORT_GRID = """
format = 1
name = "short"
[path]
segments = [
    { straight = 4.0 }, { turn = 180.0, radius = 2.0 }, { straight = 4.0 }, { turn = 180.0, radius = 2.0 }
]
[road]
width_left = 0.4
width_right = 0.4
[start]
slots = 2
"""
"""A track on whose grid two cars have room."""


class SimulationRig:
    """A simulation on a clock of its own, with what each client received."""

    def __init__(self, **options):
        self.clock = ManualClock()
        chosen = SimulationOptions(**{"max_cars": 3, **options})
        self.simulation = Simulation(chosen, self.clock, SceneLoader(chosen, lambda text: None))
        self.received = {}
        self.kinds = {}

    def say(self, client, kind, **fields):
        self.simulation.execute(client, read_request({"msg_type": kind, **fields}).request)
        self.collect()

    def join(self, *clients):
        for client in clients:
            self.simulation.join(client)
        self.collect()

    def load(self, name="generated_track"):
        self.simulation.load_scene(name)
        self.collect()

    def beat(self, count=1):
        for _ in range(count):
            self.clock.advance(0.05)
            self.simulation.beat()
            self.collect()

    def collect(self):
        for client, kind, line in self.simulation.take_outputs():
            message = json.loads(line) if line.startswith(b"{") else {"msg_type": "refusal", "error": line.decode()}
            self.received.setdefault(client, []).append(message)
            self.kinds.setdefault(client, []).append(kind)

    def take(self, client, *kinds):
        messages = self.received.pop(client, [])
        return [message for message in messages if not kinds or message["msg_type"] in kinds]

    def types(self, client):
        return [message["msg_type"] for message in self.take(client)]


@pytest.fixture(scope="module")
def running():
    rehearsal = SimulationRig()
    rehearsal.load()
    return rehearsal


@pytest.fixture
def show(running):
    """A running scene with two clients, as new."""
    running.join(1, 2)
    running.beat()
    running.received.clear()
    yield running
    for client in (1, 2, 3, 4):
        running.simulation.leave(client)
    running.collect()
    running.received.clear()


# -- scenes -----------------------------------------------------------------------------------------------------------


def test_clients_get_the_menu_then_the_scene_then_a_car_then_telemetry():
    rehearsal = SimulationRig()
    rehearsal.join(1, 2)
    assert rehearsal.types(1) == rehearsal.types(2) == ["scene_selection_ready"]
    rehearsal.say(1, "load_scene", scene_name="generated_track")
    for client in (1, 2):
        assert rehearsal.take(client) == [
            {"msg_type": "scene_loaded", "scene_name": "generated_track"},
            {"msg_type": "car_loaded", "scene_name": "generated_track"},
        ]
    rehearsal.beat()
    assert rehearsal.types(1) == rehearsal.types(2) == ["telemetry"]

    rehearsal.say(2, "load_scene", scene_name="generated_track")
    assert rehearsal.take(2) == []
    rehearsal.say(2, "load_scene", scene_name="warehouse")
    assert "exit_scene first" in rehearsal.take(2)[0]["error"]
    rehearsal.join(3)
    assert rehearsal.types(3) == ["scene_loaded", "car_loaded"]

    for client in (1, 2, 3):
        rehearsal.say(client, "exit_scene")
    assert [rehearsal.types(client) for client in (1, 2, 3)] == [["scene_selection_ready"]] * 3
    rehearsal.beat(3)
    assert rehearsal.received == {}
    rehearsal.say(1, "control", steering="1")
    assert "load_scene first" in rehearsal.take(1)[0]["error"]
    rehearsal.say(3, "load_scene", scene_name="generated_track")
    assert [rehearsal.types(client) for client in (1, 2, 3)] == [["scene_loaded", "car_loaded"]] * 3
    rehearsal.beat()
    assert rehearsal.take(1)[0]["time"] == pytest.approx(0.05), "the clock begins anew with the scene"


def test_who_says_in_the_menu_that_it_is_connected_is_told_of_the_menu_again():
    """TcpMenuHandler.cs of the original has a function for this message; its track has none."""
    rehearsal = SimulationRig()
    rehearsal.join(1, 2)
    assert rehearsal.types(1) == rehearsal.types(2) == ["scene_selection_ready"]
    rehearsal.say(1, "connected")
    assert rehearsal.take(1) == [{"msg_type": "scene_selection_ready", "loaded": "1"}]
    assert rehearsal.take(2) == []
    rehearsal.say(1, "load_scene", scene_name="generated_track")
    rehearsal.take(1)
    rehearsal.say(1, "connected")
    assert "a scene is running" in rehearsal.take(1)[0]["error"]


@pytest.mark.parametrize("name", ["generated_trac", "flat", "../../etc/passwd", "x.toml", ""])
def test_only_scenes_of_the_menu_can_be_loaded_by_clients(name):
    rehearsal = SimulationRig()
    rehearsal.join(1)
    rehearsal.take(1)
    rehearsal.say(1, "load_scene", scene_name=name)
    (refusal,) = rehearsal.take(1)
    assert "unknown scene" in refusal["error"]
    assert "generated_track" in refusal["error"]
    assert rehearsal.simulation.scene_name is None


def test_more_clients_than_places_are_told_and_get_a_car_when_one_leaves(show):
    show.join(3, 4)
    assert show.types(3) == ["scene_loaded", "car_loaded"]
    waiting = show.take(4)
    assert waiting[0]["msg_type"] == "scene_loaded"
    assert "3 places" in waiting[1]["error"]
    show.say(4, "control", throttle="1")
    assert "no car" in show.take(4)[0]["error"]
    show.beat()
    assert show.take(4) == []
    show.simulation.leave(1)
    show.collect()
    assert show.types(4) == ["scene_loaded", "car_loaded"]


# -- cars -------------------------------------------------------------------------------------------------------------


def test_controls_move_only_the_own_car_and_hold_until_replaced(show):
    show.say(1, "control", steering="0.5", throttle="0.4", brake="0")
    show.beat(10)
    mine, other = show.take(1)[-1], show.take(2)[-1]
    assert (mine["steering_angle"], mine["throttle"]) == (0.5, 0.4)
    assert mine["speed"] > 0.1
    assert (other["steering_angle"], other["throttle"]) == (0.0, 0.0)
    assert other["speed"] < 0.01
    show.say(1, "control", throttle="0.2")
    show.beat()
    assert show.take(1)[-1]["steering_angle"] == 0.5


def test_the_last_of_several_controls_in_one_step_counts(show):
    for steering in ("0.1", "0.2", "0.3"):
        show.say(1, "control", steering=steering)
    show.beat()
    assert show.take(1)[-1]["steering_angle"] == 0.3


def test_telemetry_is_numbered_from_0_for_each_car_whatever_else_happens():
    rehearsal = SimulationRig()
    rehearsal.join(1)
    rehearsal.load("flat")
    rehearsal.beat(2)
    rehearsal.simulation.list_cars()
    rehearsal.join(2)
    rehearsal.say(1, "reset_car")
    rehearsal.beat(2)
    frames = {client: [told["frame"] for told in rehearsal.take(client, "telemetry")] for client in (1, 2)}
    assert frames == {1: [0, 1, 2, 3], 2: [0, 1]}


def test_reset_puts_the_car_back_and_brakes_until_the_next_control(show):
    start = show.simulation.list_cars()[0].pose
    show.say(1, "control", throttle="1")
    show.beat(15)
    assert math.dist(show.simulation.list_cars()[0].pose, start) > 0.1
    before = show.take(1)[-1]
    show.say(1, "reset_car")
    show.beat(5)
    after = show.take(1)
    assert after[0]["reset_count"] == before["reset_count"] + 1
    assert after[0]["frame"] == before["frame"] + 1
    assert after[-1]["speed"] < 0.01
    assert after[-1]["throttle"] == 0.0
    assert show.simulation.list_cars()[0].pose == pytest.approx(start, abs=0.01)
    assert after[-1]["time"] > before["time"], "a reset does not turn back the clock"


def test_a_teleport_keeps_the_velocity_and_speaks_raw_units(show):
    show.say(1, "node_position", index="20")
    (node,) = show.take(1)
    assert node["msg_type"] == "node_position"
    assert all(isinstance(node[name], float) for name in ("pos_x", "pos_y", "pos_z", "Qx", "Qy", "Qz", "Qw"))
    show.say(1, "control", throttle="1")
    show.beat(20)
    before = show.take(1)[-1]
    rotation = {name: node[name] for name in ("Qx", "Qy", "Qz", "Qw")}
    show.say(1, "set_position", pos_x=node["pos_x"], pos_y=node["pos_y"] + 0.3, pos_z=node["pos_z"], **rotation)
    show.beat()
    there = show.take(1)[-1]
    assert there["pos_x"] * 8 == pytest.approx(node["pos_x"], abs=1.5)
    assert there["pos_z"] * 8 == pytest.approx(node["pos_z"], abs=1.5)
    assert there["activeNode"] - before["activeNode"] in (0, 1), "as in the original it follows node by node"
    show.beat(20)
    assert show.take(1)[-1]["activeNode"] > before["activeNode"] + 10
    assert there["speed"] == pytest.approx(before["speed"], abs=0.25)
    assert there["lap"] == before["lap"], "a teleport is no lap"


def test_nodes_outside_the_path_are_errors(show):
    show.say(1, "node_position", index="108")
    assert "0 to 107" in show.take(1)[0]["error"]
    show.say(1, "node_position", index="-1")
    assert "0 to 107" in show.take(1)[0]["error"]


def test_a_car_that_touches_another_is_told_its_name_once(show):
    show.say(2, "car_config", car_name="Zoë\nRacing")
    show.beat()
    ahead = show.take(2)[-1]
    show.say(1, "set_position", pos_x=ahead["pos_x"] * 8, pos_y=ahead["pos_y"] * 8, pos_z=ahead["pos_z"] * 8 - 5.0)
    show.say(1, "control", throttle="1")
    show.take(1)
    show.beat(40)
    hits = [message["hit"] for message in show.take(1, "telemetry") if message["hit"] != "none"]
    assert hits[0] == "Zoë\nRacing"
    assert len(hits) < 20, "staying in touch is no new hit"


def test_roads_that_are_not_generated_cannot_be_made_anew(show):
    show.say(1, "regen_road", road_style="1", rand_seed="2", turn_increment="3")
    assert "not a generated one" in show.take(1)[0]["error"]


# -- sensors ----------------------------------------------------------------------------------------------------------


def picture(message, key="image"):
    import base64

    data = base64.b64decode(message[key])
    return data, decode_picture(data)


def test_cameras_follow_their_configuration_from_the_next_picture_on(show):
    show.beat()
    data, pixels = picture(show.take(1)[-1])
    assert data[:2] == b"\xff\xd8"
    assert pixels.shape == (120, 160, 3)
    show.say(1, "cam_config", img_w="64", img_h="32", img_d="1", img_enc="PNG")
    show.say(1, "cam_config_b", img_w="48", img_h="24", img_enc="TGA")
    show.beat()
    message = show.take(1)[-1]
    data, pixels = picture(message)
    assert data[:4] == b"\x89PNG"
    assert pixels.shape == (32, 64, 3)
    assert (pixels[..., 0] == pixels[..., 1]).all()
    assert message["imageb"] == message["image_b"]
    assert picture(message, "imageb")[1].shape == (24, 48, 3)
    show.beat()
    other = show.take(2)[-1]
    assert "imageb" not in other
    assert picture(other)[1].shape == (120, 160, 3)


def test_jpegs_have_quality_75_and_halved_colour(show):
    import base64
    import io

    show.beat()
    with Image.open(io.BytesIO(base64.b64decode(show.take(1)[-1]["image"]))) as image:
        assert image.mode == "RGB"
        assert [layer[1:3] for layer in image.layer] == [(2, 2), (1, 1), (1, 1)]
        assert image.quantization[0][0] == 8, "16 halved: the quality that the original's engine uses"


def test_a_lidar_appears_after_its_configuration(show):
    show.beat()
    assert "lidar" not in show.take(1)[-1]
    show.say(1, "lidar_config", degPerSweepInc="10", numSweepsLevels="2", maxRange="0.1")
    show.beat()
    assert show.take(1)[-1]["lidar"] == []
    show.say(1, "lidar_config", degAngDown="20", maxRange="50")
    show.beat()
    points = show.take(1)[-1]["lidar"]
    assert points
    assert set(points[0]) == {"d", "rx", "ry"}
    assert {type(point[angle]) for point in points for angle in ("rx", "ry")} == {int}


def test_without_training_telemetry_positions_are_neither_told_nor_taken():
    rehearsal = SimulationRig(has_training_fields=False)
    rehearsal.join(1)
    rehearsal.load()
    rehearsal.beat()
    message = rehearsal.take(1, "telemetry")[0]
    assert not {"pos_x", "pos_y", "pos_z", "vel_x", "vel_y", "vel_z", "cte"} & set(message)
    assert "activeNode" in message
    rehearsal.say(1, "set_position", pos_x=0, pos_y=0, pos_z=0)
    assert "--no-training-telemetry" in rehearsal.take(1)[0]["error"]


def test_numbers_are_texts_on_request():
    rehearsal = SimulationRig(numbers_as_strings=True)
    rehearsal.join(1)
    rehearsal.load()
    rehearsal.beat()
    rehearsal.say(1, "node_position", index=0)
    telemetry, node = rehearsal.take(1)[-2:]
    assert float(telemetry["time"]) == pytest.approx(0.05)
    assert node["index"] == "0"


# -- time -------------------------------------------------------------------------------------------------------------


def test_paced_time_follows_the_clock_without_drift():
    rehearsal = SimulationRig()
    rehearsal.join(1)
    rehearsal.load("flat")
    rehearsal.take(1)
    for _ in range(1000):
        rehearsal.clock.advance(0.013)
        rehearsal.simulation.beat()
        rehearsal.collect()
    messages = rehearsal.take(1, "telemetry")
    assert len(messages) in (259, 260), "13 s at 20 Hz"
    assert messages[-1]["time"] == pytest.approx(len(messages) / 20)


def test_after_a_long_stall_time_is_not_caught_up_in_a_burst():
    rehearsal = SimulationRig()
    rehearsal.join(1)
    rehearsal.load("flat")
    rehearsal.take(1)
    rehearsal.clock.advance(10.0)
    for _ in range(20):
        rehearsal.simulation.beat()
    rehearsal.collect()
    assert len(rehearsal.take(1)) == 1


@pytest.mark.parametrize(("rate", "scale"), [(60, 1.0), (20, 4.0)])
def test_rate_and_scale_set_the_rhythm(rate, scale):
    rehearsal = SimulationRig(telemetry_rate=rate, time_scale=scale)
    rehearsal.load("flat")
    assert rehearsal.simulation.seconds_to_beat() == pytest.approx(1 / rate / scale)
    rehearsal.join(1)
    rehearsal.take(1)
    rehearsal.beat()
    assert rehearsal.take(1)[0]["time"] == pytest.approx(1 / rate)


def test_unpaced_time_never_waits_while_there_is_a_car():
    rehearsal = SimulationRig(time_scale=None)
    rehearsal.load("flat")
    assert rehearsal.simulation.seconds_to_beat() is None
    rehearsal.join(1)
    assert rehearsal.simulation.seconds_to_beat() == 0.0


def enter_lock_step(show, client=1, time_step="0.05"):
    show.say(client, "step_mode", step_mode="synchronous", time_step=time_step)
    show.take(1), show.take(2)


def test_in_lock_step_each_control_is_one_step_and_one_answer(show):
    enter_lock_step(show)
    show.beat(5)
    assert show.take(1) == show.take(2) == []
    show.say(1, "control", throttle="0.1")
    show.beat()
    assert show.take(1) == [], "the other client has not spoken"
    show.say(1, "control", throttle="0.2")
    show.say(2, "control", throttle="0.3")
    show.beat()
    (first,), (other,) = show.take(1), show.take(2)
    assert first["throttle"] == 0.1
    assert other["throttle"] == 0.3
    assert first["time"] == other["time"]
    show.beat(5)
    assert show.take(1) == []
    show.say(2, "control")
    show.beat()
    (second,) = show.take(1)
    assert second["throttle"] == 0.2
    assert second["time"] - first["time"] == pytest.approx(0.05)
    assert show.kinds[1][-1] is OutputKind.ANSWER


def test_who_sets_the_step_mode_is_told_for_how_many_cars_each_step_waits(show):
    show.say(1, "step_mode", step_mode="synchronous", time_step="0.05")
    assert [message for message in show.take(1) if message["msg_type"] == "step_mode"] == [
        {"msg_type": "step_mode", "step_mode": "synchronous", "cars": 2}
    ]
    assert not [message for message in show.take(2) if message["msg_type"] == "step_mode"]
    show.simulation.leave(2)
    show.say(1, "step_mode", step_mode="asynchronous")
    assert show.take(1)[-1] == {"msg_type": "step_mode", "step_mode": "asynchronous", "cars": 1}


def test_in_lock_step_other_requests_wait_for_their_turn(show):
    enter_lock_step(show)
    show.say(1, "control", throttle="0.5")
    show.say(1, "reset_car")
    show.say(1, "control", throttle="0.6")
    show.say(2, "control")
    show.beat()
    (first,) = show.take(1)
    show.say(2, "control")
    show.beat()
    (second,) = show.take(1)
    assert (first["throttle"], second["throttle"]) == (0.5, 0.6)
    assert second["reset_count"] == first["reset_count"] + 1


def test_a_client_silent_for_ten_seconds_is_not_waited_for(show):
    enter_lock_step(show)
    show.say(1, "control")
    show.clock.advance(9.9)
    show.simulation.beat()
    show.collect()
    assert show.take(1) == []
    assert show.simulation.seconds_to_beat() == pytest.approx(0.1)
    show.beat(3)
    assert len(show.take(1)) == 1
    assert show.take(2) == []


def test_a_client_that_leaves_lets_the_others_step(show):
    enter_lock_step(show)
    show.say(1, "control")
    show.simulation.leave(2)
    show.beat()
    assert len(show.take(1)) == 1


def test_asynchronous_returns_to_paced_time(show):
    enter_lock_step(show)
    show.say(1, "control", throttle="0.4")
    show.say(2, "step_mode", step_mode="asynchronous")
    show.take(1), show.take(2)
    show.beat(2)
    assert [len(show.take(client)) for client in (1, 2)] == [2, 2]


def test_lock_step_ends_with_its_last_client(show):
    enter_lock_step(show)
    show.simulation.leave(1)
    show.simulation.leave(2)
    show.join(3)
    show.take(3)
    show.beat()
    assert len(show.take(3)) == 1


def run_in_lock_step(seed):
    rehearsal = SimulationRig(experiment=Experiment(seed=seed))
    rehearsal.join(1)
    rehearsal.say(1, "load_scene", scene_name="generated_track")
    rehearsal.say(1, "step_mode", step_mode="synchronous", time_step="0.05")
    rehearsal.say(1, "lidar_config", degPerSweepInc="30", degAngDown="20", noise="0.5")
    rehearsal.take(1)
    for index in range(30):
        rehearsal.clock.advance(0.001 * index)
        rehearsal.say(1, "control", steering=math.sin(index), throttle="0.5")
        rehearsal.simulation.beat()
    rehearsal.collect()
    return rehearsal.take(1, "telemetry")


def test_lock_step_is_repeatable_bit_for_bit():
    first = run_in_lock_step(7)
    assert len(first) == 30
    assert first == run_in_lock_step(7)
    assert first != run_in_lock_step(8)


# -- laps, pace car, idle cars, watchers ------------------------------------------------------------------------------


def test_forward_crossings_are_told_before_their_telemetry_on_the_clock_of_time():
    rehearsal = SimulationRig()
    rehearsal.join(1)
    rehearsal.load()
    rehearsal.take(1)
    rehearsal.beat()
    assert rehearsal.types(1) == ["telemetry"], "appearing is no crossing"
    rehearsal.say(1, "control", throttle="0.6")
    rehearsal.beat(60)
    messages = rehearsal.take(1)
    (index,) = [i for i, message in enumerate(messages) if message["msg_type"] == "collision_with_starting_line"]
    event, telemetry = messages[index], messages[index + 1]
    assert event["starting_line_index"] == 0
    assert 0.0 < event["timeStamp"] <= telemetry["time"]
    assert telemetry["time"] - event["timeStamp"] <= 0.05 + 1e-9
    assert (messages[index - 1]["lap"], telemetry["lap"]) == (0, 1)


def test_a_pace_car_drives_by_itself():
    rehearsal = SimulationRig(pace_car="steady")
    rehearsal.load()
    rehearsal.simulation.list_cars()
    rehearsal.beat(60)
    (row,) = rehearsal.simulation.list_cars()
    assert row.is_pace_car
    assert row.telemetry.speed > 0.2


def test_a_pace_car_may_be_added_and_taken_away_while_the_scene_runs():
    rig = SimulationRig()
    rig.join(1)
    rig.load()
    simulation = rig.simulation
    assert not simulation.has_pace_car
    simulation.add_pace_car()
    simulation.add_pace_car()  # there is one already
    assert [car.is_pace_car for car in simulation.list_cars()] == [False, True]
    before = simulation.list_cars()[-1].pose
    rig.beat(40)
    assert simulation.list_cars()[-1].pose != before
    simulation.remove_pace_car()
    assert [car.is_pace_car for car in simulation.list_cars()] == [False]
    rig.beat()
    simulation.exit_scene()
    with pytest.raises(DonkeySimError, match="no scene is running"):
        simulation.add_pace_car()


def test_the_place_of_a_pace_car_is_nobody_elses():
    rig = SimulationRig(max_cars=1)
    rig.simulation.load_scene("generated_track")
    rig.simulation.add_pace_car()
    rig.simulation.join(1)
    assert [car.is_pace_car for car in rig.simulation.list_cars()] == [True, False]


def test_who_waits_for_a_place_gets_that_of_the_pace_car_when_it_is_taken_away(tmp_path):
    track = tmp_path / "short.toml"
    track.write_text(SHORT_GRID, encoding="utf-8")
    rig = SimulationRig(pace_car="steady")
    rig.load(str(track))
    rig.join(1, 2)
    assert rig.types(1) == ["scene_loaded", "car_loaded"]
    assert rig.types(2) == ["scene_loaded", "refusal"]
    rig.simulation.remove_pace_car()
    rig.join(3)
    assert rig.types(2) == ["scene_loaded", "car_loaded"]
    assert rig.types(3) == ["scene_loaded", "refusal"]


def test_who_waits_for_another_client_hears_nothing_when_the_pace_car_is_taken_away():
    rig = SimulationRig(max_cars=1, pace_car="steady")
    rig.load()
    rig.join(1, 2)
    assert rig.types(2) == ["scene_loaded", "refusal"]
    rig.simulation.remove_pace_car()
    rig.collect()
    assert rig.types(2) == []


def test_the_place_is_drawn_without_a_car(show):
    assert decode_picture(show.simulation.take_picture("place", 0, 96, 64)).std() > 10.0


def test_moments_are_kept_only_while_somebody_watches_and_time_is_the_clocks():
    rig = SimulationRig()
    rig.join(1)
    rig.load()
    interpolator = rig.simulation.viewing.interpolator
    rig.beat(2)
    assert not interpolator.is_live
    interpolator.want()
    rig.beat(2)
    assert interpolator.is_live
    rig.say(1, "step_mode", step_mode="synchronous", time_step="0.05")
    rig.say(1, "control", steering="0", throttle="0", brake="0")
    rig.beat()
    assert not interpolator.is_live


def test_who_begins_to_watch_sees_the_pace_car_as_it_is_now():
    rehearsal = SimulationRig(pace_car="steady")
    rehearsal.load()
    rehearsal.beat(60)
    (row,) = rehearsal.simulation.list_cars()
    assert row.telemetry.speed > 0.2
    rehearsal.clock.advance(10.0)
    rehearsal.beat(60)
    (later,) = rehearsal.simulation.list_cars()
    assert later.telemetry.time > row.telemetry.time + 2.0


def test_idle_clients_are_sent_away_only_on_request(show):
    show.clock.advance(1000)
    show.beat(5)
    assert OutputKind.FAREWELL not in show.kinds[1]
    rehearsal = SimulationRig(idle_timeout=2.0)
    rehearsal.join(1, 2)
    rehearsal.load("flat")
    rehearsal.say(2, "control", throttle="0.3")
    rehearsal.beat(60)
    assert OutputKind.FAREWELL in rehearsal.kinds[1]
    assert OutputKind.FAREWELL not in rehearsal.kinds[2]
    assert "--idle-timeout" in rehearsal.take(1, "refusal")[-1]["error"]


def test_watchers_see_cars_and_pictures(show):
    show.say(1, "car_config", body_style="f1", car_name="Ann", body_r="1", body_g="2", body_b="3")
    show.beat(2)
    first, second = show.simulation.list_cars()
    assert (first.name, first.style, first.colour, first.is_pace_car) == ("Ann", "f1", (1, 2, 3), False)
    assert first.telemetry.frame > 0
    assert first.car_id != second.car_id
    for kind in ("chase", "top"):
        assert decode_picture(show.simulation.take_picture(kind, first.car_id, 96, 64)).shape == (64, 96, 3)
    assert decode_picture(show.simulation.take_picture("camera", first.car_id, 1, 1)).shape == (120, 160, 3)
    outline = show.simulation.viewing.outline
    assert outline.path.shape == (108, 2)
    assert outline.left.shape == outline.right.shape == (108, 2)
    show.simulation.reset_car(first.car_id)
    with pytest.raises(DonkeySimError, match="there is no car"):
        show.simulation.reset_car(10_000)


def test_a_watcher_gets_a_jpeg_whatever_the_client_chose(show):
    show.say(1, "cam_config", img_enc="TGA")
    show.beat()
    car = show.simulation.list_cars()[0]
    assert show.simulation.take_picture("camera", car.car_id, 0, 0)[:2] == b"\xff\xd8"


def test_an_impossible_scene_leaves_the_menu_open(tmp_path):
    (tmp_path / "broken.toml").write_text("format = 1\nnonsense = 3\n")
    rehearsal = SimulationRig()
    with pytest.raises(DonkeySimError, match=r"broken\.toml"):
        rehearsal.simulation.load_scene(str(tmp_path / "broken.toml"))
    rehearsal.join(1)
    assert rehearsal.types(1) == ["scene_selection_ready"]
    assert not rehearsal.simulation.is_loading


def test_a_track_file_is_told_by_its_name_and_never_taken_for_another_scene(tmp_path):
    (tmp_path / "mine.toml").write_text(find_tracks()["flat"].read_text().replace('"flat"', '"mine"'))
    rehearsal = SimulationRig(experiment=Experiment((SceneSpec(folders=(str(tmp_path),)),)))
    rehearsal.join(1)
    rehearsal.load(str(tmp_path / "mine.toml"))
    assert [message.get("scene_name") for message in rehearsal.take(1)][1:] == ["mine", "mine"]
    rehearsal.say(1, "exit_scene")
    rehearsal.take(1)
    rehearsal.load("flat")
    assert rehearsal.take(1)[0]["scene_name"] == "flat"


def test_a_scene_is_recorded_and_replayed(tmp_path):
    show = SimulationRig(experiment=Experiment(log=str(tmp_path / "run.dlog")))
    for _ in range(2):
        show.load("flat")
        show.join(1)
        show.say(1, "car_config", body_style="f1", body_r="1", body_g="2", body_b="3", car_name="x", font_size="50")
        show.say(1, "control", steering="0.2", throttle="0.5", brake="0.0")
        show.beat(20)
        show.say(1, "reset_car")
        show.beat(5)
        show.simulation.leave(1)
        show.simulation.exit_scene()
    for name in ("run.dlog", "run-2.dlog"):
        replay = Replay(tmp_path / name)
        assert sum(replay.play()) == 25 * 24
        assert (replay.broken, replay.deviation) == ("", None)
        assert replay.simulator.list_cars() == []


def test_each_clients_car_draws_for_itself_and_watchers_are_told():
    ranges = read_randomization({"car": {"mass": (0.8, 1.2)}, "picture": {"jpeg_quality": (5, 6)}})
    rehearsal = SimulationRig(experiment=Experiment(randomization=ranges))
    rehearsal.simulation.join(1)
    rehearsal.say(1, "load_scene", scene_name="generated_track")
    rehearsal.simulation.join(2)
    before = [row.drawn for row in rehearsal.simulation.list_cars()]
    assert before[0]["car.mass"] != before[1]["car.mass"]
    rehearsal.say(1, "reset_car")
    after = [row.drawn for row in rehearsal.simulation.list_cars()]
    assert after[0] != before[0]
    assert after[1] == before[1]


def test_a_plate_is_drawn_beside_the_simulation_before_it_is_needed(monkeypatch):
    rig = SimulationRig()
    rig.join(1)
    rig.load()
    given = {"body_style": "f1", "body_r": "1", "body_g": "2", "body_b": "3", "font_size": "70"}
    fields = {**given, "car_name": "Grace H."}
    request = read_request({"msg_type": "car_config", **fields}).request
    assert not rig.simulation.may_execute(1, request), "its plate is not drawn yet"
    wait_until(lambda: rig.simulation.may_execute(1, request))
    monkeypatch.setattr(body, "draw_plate", pytest.fail)
    rig.say(1, "car_config", **fields)
    assert rig.simulation.list_cars()[0].name == "Grace H."
    with pytest.raises(pytest.fail.Exception):
        rig.say(1, "car_config", **{**fields, "car_name": "somebody else"})
    assert rig.simulation.may_execute(1, read_request({"msg_type": "car_config", **given}).request), "it has no plate"


def begin_with_three(max_cars):
    """Return a running scene with three clients, of which so many drive and the others wait."""
    rig = SimulationRig(max_cars=max_cars)
    rig.join(1, 2, 3)
    rig.load()
    for client in (1, 2, 3):
        rig.take(client)
    return rig


def test_others_drive_on_when_a_client_leaves_the_scene_until_it_names_another_one():
    rig = begin_with_three(max_cars=2)
    rig.say(1, "exit_scene")
    assert rig.types(1) == ["scene_selection_ready"]
    assert (rig.types(2), rig.types(3)) == ([], ["scene_loaded", "car_loaded"])
    rig.beat()
    assert (rig.types(1), rig.types(2), rig.types(3)) == ([], ["telemetry"], ["telemetry"])
    rig.say(1, "control", steering="1")
    assert "load_scene first" in rig.take(1)[0]["error"]
    rig.say(1, "load_scene", scene_name="generated_trac")
    assert "did you mean 'generated_track'" in rig.take(1)[0]["error"]
    rig.say(3, "exit_scene")
    assert rig.types(3) == ["scene_selection_ready"], "its place is for who comes, not for who left"
    rig.say(1, "load_scene", scene_name="generated_track")
    assert (rig.types(1), rig.types(2)) == (["scene_loaded", "car_loaded"], [])
    rig.say(3, "load_scene", scene_name="warehouse")
    assert rig.types(1) == rig.types(2) == ["scene_selection_ready", "scene_loaded", "car_loaded"]
    assert rig.simulation.scene_name == "warehouse"


def test_who_waits_for_a_place_may_leave_and_gets_the_place_of_the_only_driver_that_leaves():
    rig = begin_with_three(max_cars=1)
    rig.say(2, "exit_scene")
    assert (rig.types(1), rig.types(2), rig.types(3)) == ([], ["scene_selection_ready"], [])
    rig.say(1, "exit_scene")
    assert (rig.types(1), rig.types(3)) == (["scene_selection_ready"], ["scene_loaded", "car_loaded"])
    rig.say(3, "exit_scene")
    assert rig.simulation.simulator is None


def test_lock_step_ends_when_the_last_who_asked_for_it_leaves_the_scene():
    rig = SimulationRig()
    rig.join(1, 2, 3)
    rig.load()
    for client in (1, 2):
        rig.say(client, "step_mode", step_mode="synchronous")
    rig.say(1, "exit_scene")
    assert rig.simulation.is_in_lock_step
    rig.say(2, "exit_scene")
    assert not rig.simulation.is_in_lock_step
    rig.take(3)
    rig.beat()
    assert rig.types(3) == ["telemetry"]


def test_a_client_that_leaves_and_loads_in_a_row_does_one_at_a_time(monkeypatch):
    rig = SimulationRig()
    rig.join(1, 2)
    rig.load()
    loaded = []
    monkeypatch.setattr(rig.simulation, "load_scene", lambda name, is_listed_only: loaded.append(name))
    queue = rig.simulation.clients[1].queue
    for name in ("warehouse", "generated_track") * 3:
        for fields in ({"msg_type": "exit_scene"}, {"msg_type": "load_scene", "scene_name": name}):
            queue.append(read_request(fields).request, latest_counts=True)
    rig.simulation.perform_next(queue)
    rig.simulation.perform_next(queue)
    assert loaded == ["warehouse"]
    assert {client.client_id for client in rig.simulation.take_freed()} == {1, 2}
    assert not rig.simulation.take_freed()


@pytest.mark.parametrize("others", [(), (2,)])
def test_what_a_client_says_after_it_named_another_scene_counts_there(others):
    rig = SimulationRig()
    rig.join(1, *others)
    rig.load()
    queue = rig.simulation.clients[1].queue
    for kind, fields in {
        "exit_scene": {},
        "load_scene": {"scene_name": "warehouse"},
        "step_mode": {"step_mode": "synchronous"},
    }.items():
        queue.append(read_request({"msg_type": kind, **fields}).request, latest_counts=False)
    while queue.first is not None:
        rig.simulation.perform_next(queue)
    rig.say(1, "reset_car")
    assert rig.simulation.scene_name == "warehouse"
    assert rig.simulation.is_in_lock_step
    assert "refusal" not in rig.types(1)


@pytest.mark.parametrize("others", [(), (3,)])
def test_no_scene_is_loaded_for_a_client_that_goes(others):
    """Who leaves by exit_scene, as the original's client, still answers to the menu before it is gone."""
    rig = SimulationRig()
    rig.join(1, *others)
    rig.load()
    for client in (1, *others):
        rig.say(client, "exit_scene")
    queue = rig.simulation.clients[1].queue
    request = read_request({"msg_type": "load_scene", "scene_name": "generated_track"}).request
    assert not rig.simulation.may_execute(1, request)
    rig.clock.advance(0.6)
    assert rig.simulation.may_execute(1, request)
    queue.append(request, latest_counts=True)
    queue.append(Presence.LEAVE, latest_counts=True)
    rig.simulation.perform_next(queue)
    assert rig.simulation.simulator is None
    rig.simulation.perform_next(queue)
    assert [*rig.simulation.clients] == [*others]
    rig.join(2)
    assert rig.types(2) == ["scene_selection_ready"]


def test_a_scene_that_somebody_asks_for_in_passing_stays():
    rig = SimulationRig()
    rig.join(1)
    queue = rig.simulation.clients[1].queue
    queue.append(read_request({"msg_type": "load_scene", "scene_name": "generated_track"}).request, latest_counts=True)
    queue.append(Presence.LEAVE, latest_counts=True)
    rig.simulation.perform_next(queue)
    assert rig.simulation.scene_name == "generated_track"


def test_only_the_next_plate_waits_for_the_rest_after_one(monkeypatch):
    """A client's own controls wait for its plate: the original's client resets its car right after it has named it."""
    monkeypatch.setattr(background_jobs, "REST_FACTOR", 1e6)
    rig = SimulationRig()
    rig.join(1)
    rig.load()
    first, second = (
        read_request({"msg_type": "car_config", "car_name": name}).request for name in ("Rests A.", "Rests B.")
    )
    try:
        assert not rig.simulation.may_execute(1, first)
        wait_until(lambda: rig.simulation.may_execute(1, first))
        assert not rig.simulation.may_execute(1, second)
        time.sleep(0.3)  # a plate takes some 10 ms
        assert not rig.simulation.may_execute(1, second)
    finally:
        rig.simulation.plate_jobs.close()  # else the thread rests on


def test_who_does_not_read_gets_telemetry_seldom_until_it_reads_again():
    rig = SimulationRig()
    rig.join(1, 2)
    rig.load()
    rig.beat(20)
    assert [len(rig.take(client, "telemetry")) for client in (1, 2)] == [20, 20]
    rig.simulation.note_health(2, False, False)
    rig.beat(40)
    assert [len(rig.take(client, "telemetry")) for client in (1, 2)] == [40, 40], "it may only be a little slow"
    rig.simulation.note_health(2, False, False)
    rig.beat(40)
    assert len(rig.take(1, "telemetry")) == 40
    assert len(rig.take(2, "telemetry")) == pytest.approx(8, abs=2), "every quarter of a second"
    rig.simulation.note_health(2, True, False)
    rig.beat(20)
    assert len(rig.take(2, "telemetry")) == 20


def test_lock_step_with_large_pictures_is_lock_step_though_no_step_is_taken_at_once():
    rig = SimulationRig()
    rig.join(1)
    rig.load()
    rig.say(1, "step_mode", step_mode="synchronous")
    assert rig.simulation.may_step_at_once(1)
    rig.say(1, "cam_config", img_w="1280", img_h="720")
    rig.say(1, "control", steering="0")
    rig.beat()
    assert not rig.simulation.may_step_at_once(1)
    assert rig.simulation.is_in_lock_step, "of controls none is left out"


def test_coming_and_going_costs_the_simulation_less_than_a_millisecond():
    rig = SimulationRig(max_cars=64)
    rig.join(*range(16))
    rig.load()
    costs = []
    for client in range(100, 140):
        began = time.thread_time()
        rig.simulation.join(client)
        rig.simulation.leave(client)
        costs.append(time.thread_time() - began)
        rig.collect()
    print(f"\njoining and leaving: {1000 * statistics.median(costs):.2f} ms, at most {1000 * max(costs):.2f} ms")
    assert statistics.median(costs) < 0.001
