"""Start lines that are ours alone: clients are told of no crossing, laps are counted all the same."""

import pytest
from tests.serve.test_simulation import SimulationRig

from donkeysim.racing.host.live_race import RaceMessages
from donkeysim.racing.rules.director import Director
from donkeysim.world.ledger import EVENT_LAP, Event
from gates import GATE, write_track

TOLD = "collision_with_starting_line"


@pytest.mark.parametrize(("lines", "crossings"), [(GATE, 1), (f"{GATE}\nsilent = true", 0)], ids=["told", "silent"])
def test_a_crossing_is_told_unless_the_line_is_silent(tmp_path, lines, crossings):
    rig = SimulationRig()
    rig.load(write_track(tmp_path, lines))
    rig.join(1)
    rig.say(1, "control", steering=0.0, throttle=0.5)
    rig.beat(40)
    messages = rig.received[1]
    assert sum(message["msg_type"] == TOLD for message in messages) == crossings
    assert [message["lap"] for message in messages if message["msg_type"] == "telemetry"][-1] == 1


def test_nor_does_a_race_tell_of_silent_lines(tmp_path):
    director = Director.__new__(Director)
    messages = RaceMessages(director, is_silent=True)
    messages._list_missed = lambda: iter(())
    assert list(messages.list_updates((), [Event(1.0, 0, EVENT_LAP, 8.0)])) == []
