"""`donkey drive --simulator` joins a simulator that runs already, as its watching page says."""

import json
import signal
import sys

import pytest
from websockets.sync.client import connect

from e2e.car_process import CarProcess, say
from e2e.simulator_process import SimulatorProcess
from waiting import wait_until

pytestmark = pytest.mark.soak

RUN = "from donkeysim.cli.donkey import main; main()"
"""The program `donkey`, wherever it is installed."""


@pytest.mark.timeout(200)
def test_a_car_is_made_and_driven_in_the_simulator_that_runs(tmp_path):
    with SimulatorProcess("--scene", "generated_track", "--page-port", "0", page=True) as simulator:

        def list_cars():
            with connect(
                simulator.page_address.replace("http", "ws") + "/state", origin=simulator.page_address
            ) as page:
                page.send("{}")
                return json.loads(page.recv())["cars"]

        there = f"127.0.0.1:{simulator.address[1]}"
        words = ("-c", RUN, "drive", "--simulator", there, "--track", "generated_track")
        with CarProcess(tmp_path, command=words, python=sys.executable) as car:
            with car.drive() as driver:
                assert wait_until(list_cars)
                begin = list_cars()[0]["pose"]
                say(driver, angle=0.0, throttle=0.4, drive_mode="user")
                assert wait_until(lambda: list_cars()[0]["pose"][:2] != begin[:2])
            assert (tmp_path / "mycar" / "manage.py").is_file()
            assert car.end(signal.SIGINT) == 0, car.text
        assert wait_until(lambda: not list_cars())
