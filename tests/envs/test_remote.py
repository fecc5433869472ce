"""The same environment drives a server behind a socket, the original's too, and says what is wrong when it cannot."""

import contextlib
import json
import socket
import threading

import numpy as np
import pytest

from donkeysim.core.errors import DonkeySimError, SceneError, SimulatorError, SpecError
from donkeysim.envs import remote, waiting
from donkeysim.envs.conf import read_conf
from donkeysim.envs.donkey_env import DonkeyEnv
from donkeysim.envs.remote import RemoteCar
from donkeysim.envs.server_lines import LineSplitter, connect, read_line, read_telemetry
from stand_ins.original_server import OriginalServer
from waiting import wait_until


@pytest.fixture
def server():
    with OriginalServer() as server:
        yield server


def make_env(port, **conf):
    return DonkeyEnv(conf={"host": "127.0.0.1", "port": port, **conf})


def step_often(env):
    """More steps than telemetry can be under way when a server stops."""
    for _ in range(200):
        env.step([0.0, 0.0])


@pytest.fixture
def make_lasting_env():
    envs = []

    def make(port, **conf):
        envs.append(make_env(port, **conf))
        return envs[-1]

    yield make
    for env in envs:
        env.close()


def test_a_server_s_car_begins_where_the_server_puts_it(server, make_lasting_env):
    env = make_lasting_env(server.port)
    with pytest.raises(SpecError, match="chooses the start"):
        env.reset(options={"s": 3.0})


def test_the_original_is_driven_and_never_told_to_step(server, make_lasting_env):
    env = make_lasting_env(server.port, car_name="Ada", body_style="f1", body_rgb=(1, 2, 3), font_size=50)
    observation, info = env.reset(seed=3)
    assert observation.shape == (120, 160, 3)
    for _ in range(5):
        _, reward, over, _, info = env.step([0.5, 0.25])
    assert not over
    assert info["cte"] == -1.25
    assert reward == pytest.approx((1 - 1.25 / 8) * 0.25)
    assert wait_until(lambda: server.control["steering"] == "0.5"), "the last control is on its way"
    assert not server.is_frozen
    assert server.of_kind("load_scene") == [{"msg_type": "load_scene", "scene_name": "generated_track"}]
    (car,) = server.of_kind("car_config")
    assert (car["car_name"], car["body_r"], car["font_size"]) == ("Ada", "1", "50")
    (camera,) = server.of_kind("cam_config")
    assert (camera["img_w"], camera["img_h"], camera["img_d"], camera["fov"]) == ("160", "120", "3", "0")


def test_a_track_that_runs_already_is_joined_without_choosing(make_lasting_env):
    with OriginalServer(running=True) as server:
        make_lasting_env(server.port).reset()
        assert not server.of_kind("load_scene")


def test_a_car_that_was_sent_elsewhere_is_where_it_was_until_its_scene_ends(server):
    with contextlib.closing(RemoteCar("generated_track", read_conf({"port": server.port}), follows=True)) as car:
        car.open()
        car.go_to("warehouse")
        assert (car.place, car.scene) == ("generated_track", "warehouse")
        late = "control: no scene is running; send load_scene first."
        server.say(server._client, {"msg_type": "error", "error": late})
        server.say(server._client, {"msg_type": "scene_selection_ready", "loaded": "1"})
        assert wait_until(lambda: car.place == "warehouse")
        assert car.last_fault == ""


def test_numbers_with_decimal_commas_are_mended(make_lasting_env):
    with OriginalServer(comma=True) as server:
        _, info = make_lasting_env(server.port).reset()
        assert info["cte"] == -1.25
        assert info["car"] == (0.0, 0.0, 90.5)


def test_laps_are_timed_from_crossing_to_crossing_of_line_0(server, make_lasting_env):
    env = make_lasting_env(server.port)
    car = env.car
    moment = car.wait_moment(car.moment_count)
    while not moment.lap_times:
        moment = car.wait_moment(car.moment_count)
    assert moment.lap_times == (12.5,)
    assert env.reset()[1]["lap_count"] == 0


@pytest.mark.parametrize("verdict", ["DQ", "missed_checkpoint"])
def test_an_episode_ends_when_the_server_disqualifies_the_car(verdict, server, make_lasting_env):
    env = make_lasting_env(server.port)
    env.reset()
    assert not env.step([0.0, 0.1])[2]
    server.say(server._client, {"msg_type": verdict})
    assert any(env.step([0.0, 0.1])[2] for _ in range(200))
    env.reset()
    assert not env.step([0.0, 0.1])[2]


def test_a_scene_that_the_server_lacks_is_refused():
    with OriginalServer(scenes=["warehouse"]) as server, pytest.raises(SceneError, match="no generated_track"):
        make_env(server.port)


def test_a_server_on_another_scene_is_refused():
    def say_scene(listener):
        client, _ = listener.accept()
        with client:
            client.sendall(b'{"msg_type":"scene_loaded","scene_name":"warehouse"}\n')
            client.recv(100)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=say_scene, args=(listener,))
        thread.start()
        with pytest.raises(SceneError, match="runs warehouse, not generated_track"):
            make_env(listener.getsockname()[1])
        thread.join()


def test_it_says_what_to_start_when_nobody_listens():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    with pytest.raises(SimulatorError, match=f"donkey_sim --port {port}"):
        make_env(port)


def test_a_server_that_never_loads_is_given_up(monkeypatch):
    monkeypatch.setattr(remote, "LOAD_SECONDS", 0.3)
    with socket.create_server(("127.0.0.1", 0)) as listener, pytest.raises(SimulatorError, match="did not load"):
        make_env(listener.getsockname()[1])


@pytest.fixture
def quick_waits(monkeypatch):
    monkeypatch.setattr(waiting, "TELL_SECONDS", 0.1)
    monkeypatch.setattr(waiting, "STILL_SECONDS", 0.3)
    monkeypatch.setattr(remote, "SILENCE_SECONDS", 0.8)
    monkeypatch.setattr(remote, "LONGEST_NAP", 0.05)


def test_who_takes_connections_and_never_answers_is_waited_for_aloud_and_given_up(quick_waits, caplog):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        where = f"127.0.0.1:{listener.getsockname()[1]}"
        with pytest.raises(SimulatorError, match=f"{where} takes connections but has not said a word in 0.8 s"):
            make_env(listener.getsockname()[1])
    first, *others = [message for message in caplog.messages if message.startswith("waiting for")]
    assert first == f"waiting for {where} to load generated_track ..."
    assert 1 <= len(others) <= 2
    assert all("s so far" in message for message in others)


def test_a_server_that_loads_for_long_but_answers_is_not_given_up(quick_waits, monkeypatch):
    monkeypatch.setattr(remote, "LOAD_SECONDS", 1.5)
    asked = []

    def answer(listener):
        client, _ = listener.accept()
        with client:
            asked.append(json.loads(client.recv(1000)))
            client.sendall(b'{"msg_type":"protocol_version","version":"2"}\n')
            client.recv(1000)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=answer, args=(listener,))
        thread.start()
        with pytest.raises(SimulatorError, match=r"did not load generated_track in 1\.5 s"):
            make_env(listener.getsockname()[1])
        thread.join()
    assert asked == [{"msg_type": "get_protocol_version"}]


class NumberingServer(OriginalServer):
    """As ours: it numbers its telemetry and resets, and answers `step_mode`, here always in the same way."""

    def __init__(self, answer):
        self._answer, self._frame = answer, 0
        super().__init__()

    def _take(self, client, message, stop):
        super()._take(client, message, stop)
        self.is_frozen = False
        if message["msg_type"] == "step_mode":
            self.say(client, self._answer)

    def say(self, client, message):
        if message["msg_type"] == "telemetry":
            self._frame += 1
            message |= {"frame": self._frame, "reset_count": len(self.of_kind("reset_car"))}
        super().say(client, message)


def test_lock_step_is_left_where_others_drive_and_asked_for_again_at_every_reset(make_lasting_env):
    with NumberingServer({"msg_type": "step_mode", "step_mode": "synchronous", "cars": 2}) as server:
        env = make_lasting_env(server.port)
        for _ in range(2):
            env.reset()
            env.step([0.0, 0.0])
        assert [message["step_mode"] for message in server.of_kind("step_mode")] == ["synchronous", "asynchronous"] * 2
        assert not env.car.is_led


def test_a_server_that_refuses_lock_step_is_asked_once(make_lasting_env, caplog):
    with NumberingServer({"msg_type": "error", "error": "step_mode: not in a race."}) as server:
        env = make_lasting_env(server.port)
        for _ in range(3):
            env.reset()
            env.step([0.0, 0.0])
        assert len(server.of_kind("step_mode")) == 1
        assert not env.car.is_led
        assert caplog.text.count("says: step_mode: not in a race.") == 1


def test_a_server_that_falls_silent_is_reported(server, make_lasting_env, monkeypatch):
    monkeypatch.setattr(remote, "ANSWER_SECONDS", 0.3)
    env = make_lasting_env(server.port)
    env.reset()
    server.is_frozen = True
    with pytest.raises(SimulatorError, match="did not send telemetry"):
        step_often(env)


def test_a_server_that_goes_away_is_reported(make_lasting_env):
    with OriginalServer() as server:
        env = make_lasting_env(server.port)
        env.reset()
    with pytest.raises(SimulatorError, match="has ended"):
        step_often(env)


def test_a_car_whose_server_has_gone_holds_no_other_back():
    """It was never closed; a new one is alone on the server that listens there next."""
    with OriginalServer() as server:
        first = make_env(server.port)
        assert first.car._peers.cars == {first.car}
    with OriginalServer(server.port) as again:
        second = make_env(again.port)
        second.reset()
        assert second.car._peers.cars == {second.car}
        second.close()
    first.close()


def test_no_thread_is_left_behind(server):
    before = threading.active_count()
    for _ in range(3):
        make_env(server.port).close()
    assert threading.active_count() <= before + 3  # the server's own, one per client that was there


def test_other_sizes_of_picture_are_brought_to_the_one_asked_for(server, make_lasting_env):
    observation, _ = make_lasting_env(server.port, cam_resolution=(60, 80, 1)).reset()
    assert observation.shape == (60, 80, 1)
    assert np.abs(observation.astype(int) - 90).max() < 4


def test_lines_are_put_together_whatever_the_slicing():
    text = b'{"msg_type":"a"}\n\n{"msg_type":"b"}\n'
    for size in (1, 3, len(text)):
        splitter = LineSplitter()
        lines = [line for at in range(0, len(text), size) for line in splitter.feed(text[at : at + size])]
        assert [read_line(line)["msg_type"] for line in lines] == ["a", "b"]


@pytest.mark.parametrize("line", [b"{", b"[]", b'{"a":1}', b'{"msg_type":3}', b"\xff", b'{"msg_type":"a","b":1,}'])
def test_what_is_no_message_is_named(line):
    with pytest.raises(DonkeySimError, match="not a message"):
        read_line(line)


@pytest.mark.parametrize("value", ["NaN", "INFINITY", "NEGINFINITY", None, [], {}])
def test_readings_that_are_no_numbers_count_as_missing(value):
    telemetry = read_telemetry({"msg_type": "telemetry", "cte": value, "speed": value, "on_road": value}, 0, 0, 0)
    assert (telemetry.cte, telemetry.speed, telemetry.on_road) == (None, 0.0, None)


@pytest.mark.parametrize(
    ("conf", "address"),
    [
        ({"exe_path": "remote"}, ("127.0.0.1", 9091)),
        ({"exe_path": "remote", "host": "10.0.0.2"}, ("10.0.0.2", 9091)),
        ({"exe_path": "remote", "host": None, "port": 9095}, ("127.0.0.1", 9095)),
    ],
)
def test_a_path_that_says_remote_means_a_simulator_that_runs_already(conf, address):
    checked = read_conf(conf)
    assert (checked.is_remote, checked.exe_path, checked.address) == (True, None, address)


@pytest.mark.parametrize("path", ["", None])
def test_an_empty_path_means_the_simulator_in_this_process(path):
    assert not read_conf({"exe_path": path}).is_remote
    assert read_conf({"exe_path": path, "port": 9095}).address == ("127.0.0.1", 9095)


def test_a_path_that_says_remote_drives_there(server):
    env = DonkeyEnv(conf={"exe_path": "remote", "port": server.port})
    env.reset()
    with pytest.raises(SpecError, match="runs in another process"):
        _ = env.simulator
    env.close()


def test_a_server_that_is_gone_again_is_told_by_reading_on_macos_too(monkeypatch):
    class GoneAgain:
        def settimeout(self, _seconds):
            pass

        def setsockopt(self, *_words):
            raise OSError(22, "Invalid argument")

    monkeypatch.setattr("socket.create_connection", lambda *_place, **_options: GoneAgain())
    assert isinstance(connect("127.0.0.1", 9091), GoneAgain)
