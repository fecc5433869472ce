"""A client that behaves as the original's drives laps, whatever way its messages are put on the wire."""

import pytest

from e2e import gym_client
from e2e.gym_client import GymClient, LaneKeeper
from e2e.simulator_process import SimulatorProcess
from e2e.wire_client import WireClient
from waiting import wait_until

CONFIGURATION = [
    {"msg_type": "car_config", "body_style": "f1", "body_r": "20", "body_g": "90", "body_b": "200",
     "car_name": "lane\nkeeper", "font_size": "50"},
    {"msg_type": "cam_config", "fov": "0", "img_w": "0", "img_h": "0", "img_d": "0", "img_enc": "0",
     "offset_x": "0", "offset_y": "0", "offset_z": "0", "rot_x": "0"},
]  # fmt: skip


def drive_laps(client, count):
    """Drive until `count` laps are timed and return every telemetry on the way."""
    client.wait_until_loaded()
    seen = [client.reset()]
    keeper = LaneKeeper()
    while len(client.lap_times) < count:
        seen.append(client.step(*keeper.decide(seen[-1])))
        assert seen[-1]["time"] - seen[0]["time"] < 40 * (count + 1), f"no laps in this time; {client.errors}"
    return seen


def check_drive(seen, client, count):
    assert all(telemetry["on_road"] for telemetry in seen)
    assert {telemetry["hit"] for telemetry in seen} == {"none"}
    first = next(index for index, telemetry in enumerate(seen) if telemetry["speed"] > 0.5)
    driven = seen[first:]
    mean = sum(telemetry["speed"] for telemetry in driven) / len(driven)
    assert mean >= 1.2
    assert len(client.lap_times) == count
    assert all(15.0 < lap < 26.9 / 1.1 for lap in client.lap_times)
    assert client.lap_times[-1] == pytest.approx(client.lap_times[-2] if count > 1 else client.lap_times[-1], rel=0.05)
    assert client.errors == []
    assert not client.aborted
    assert seen[-1]["lap"] == count + 1
    return mean


@pytest.fixture(scope="module")
def simulator():
    with SimulatorProcess() as process:
        yield process
        assert not any("Traceback" in line for line in process.lines), process.lines


def test_three_laps_as_the_original_client_drives_them(simulator):
    """In lock-step, so that it takes seconds; the soak drives the same laps in real time."""
    client = GymClient(simulator.address, configuration=CONFIGURATION, is_lock_step=True)
    seen = drive_laps(client, 3)
    check_drive(seen, client, 3)
    assert client.look().size == (160, 120)
    kinds = [event["msg_type"] for event in client.events]
    assert kinds[:4] == ["scene_selection_ready", "scene_names", "scene_loaded", "car_loaded"]
    client.close()


@pytest.mark.parametrize(
    "framing",
    ["send_glued", *(pytest.param(name, marks=pytest.mark.soak) for name in ("send_with_newline", "send_bytewise"))],
)
def test_a_lap_with_messages_put_differently_on_the_wire(simulator, framing):
    client = GymClient(simulator.address, framing=getattr(gym_client, framing), is_lock_step=True)
    check_drive(drive_laps(client, 1), client, 1)
    client.close()


def test_leaving_the_scene_right_after_making_it_offers_the_scenes_again(simulator):
    client = GymClient(simulator.address)
    client.wait_until_loaded()
    client.observe()
    client.queue({"msg_type": "exit_scene"})
    wait_until(lambda: [event["msg_type"] for event in client.events].count("car_loaded") == 2)
    telemetry = client.reset()
    client.drive(0.1, 0.2)
    assert client.observe()["time"] > telemetry["time"]
    assert [event["msg_type"] for event in client.events].count("car_loaded") == 2
    assert not client.aborted
    client.close()


def test_quit_app_ends_it_in_a_scene_with_exit_code_0(simulator):
    """The last of this simulator."""
    client = GymClient(simulator.address)
    client.wait_until_loaded()
    with WireClient(simulator.address) as other:
        other.read_until("telemetry")
        other.send({"msg_type": "quit_app"})
        assert other.is_closed()
        assert simulator.wait() == 0
    client.close()
