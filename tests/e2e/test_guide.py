"""What the guide shows works as it stands there."""

import re
import socket
from pathlib import Path

import pytest

from e2e.simulator_process import SimulatorProcess

GUIDE = Path(__file__).resolve().parents[2] / "docs" / "guide" / "donkey_sim.md"


class LapDrivenError(Exception):
    """Ends the client of the guide."""


@pytest.fixture
def patience():
    """Sockets give up after a while."""
    socket.setdefaulttimeout(60.0)
    yield
    socket.setdefaulttimeout(None)


@pytest.mark.soak
@pytest.mark.usefixtures("patience")
def test_the_client_of_the_guide_drives_a_lap_on_the_road():
    crossings, roads, hits = [], [], set()
    names = {}

    def watch(message):
        if message["msg_type"] == "collision_with_starting_line":
            crossings.append(message["timeStamp"])
            if len(crossings) == 2:
                raise LapDrivenError
        if message["msg_type"] == "telemetry":
            roads.append(message["on_road"])
            hits.add(message["hit"])
        assert message.get("time", 0.0) < 60.0, "no lap within a minute"
        return message

    names["watch"] = watch
    with SimulatorProcess("--time-scale", "3") as simulator:
        source = re.search(r"```python\n(.*?)```", GUIDE.read_text(encoding="utf-8"), re.DOTALL)[1]
        source = source.replace("9091", str(simulator.address[1]))
        source = source.replace("json.loads(line)", "watch(json.loads(line))")
        with pytest.raises(LapDrivenError):
            exec(compile(source, "guide", "exec"), names)
        names["sim"].close()
    assert all(roads)
    assert hits == {"none"}
    assert 15.0 < crossings[1] - crossings[0] < 30.0
