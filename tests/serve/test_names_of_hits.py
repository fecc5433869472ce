"""Clients are told of a hit in the original's words, watchers in ours."""

from tests.serve.test_simulation import SimulationRig

from gates import write_track

CONE = """lines = [0.4]
[[props]]
kind = "tall_cone"
places = [[2.2, -0.8]]
hit = "Line01"
fixed = true
"""


def test_a_client_reads_line01_and_a_watcher_cone(tmp_path):
    rig = SimulationRig()
    rig.load(write_track(tmp_path, CONE))
    rig.join(1)
    rig.say(1, "set_position", pos_x=0.8 * 8, pos_y=0.6, pos_z=1.6 * 8)
    rig.say(1, "control", steering=0.0, throttle=0.6)
    rig.beat(40)
    told = {message["hit"] for message in rig.received[1] if message["msg_type"] == "telemetry"}
    assert told == {"none", "Line01"}
    assert [car.last_hit for car in rig.simulation.list_cars()] == ["cone"]
    rig.say(1, "reset_car")
    assert [car.last_hit for car in rig.simulation.list_cars()] == [""]
