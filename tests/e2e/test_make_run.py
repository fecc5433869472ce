"""`make run` starts the simulator and its page; both addresses work; Ctrl-C ends it."""

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import urllib.request
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

pytestmark = pytest.mark.skipif(shutil.which("make") is None, reason="this system has no make")


def wait_for_addresses(process):
    addresses = {}
    for line in process.stdout:
        for http, port in re.findall(r"(http://)?127\.0\.0\.1:(\d+)", line):
            addresses["page" if http else "wire"] = int(port)
        if len(addresses) == 2:
            return addresses
    raise AssertionError(f"make run ended with {process.wait()} before it named its addresses")


@pytest.mark.timeout(280)
def test_make_run_drives_shows_its_page_and_stops_at_ctrl_c():
    process = subprocess.Popen(
        ["make", "run", "ARGS=--port 0 --page-port 0"],
        cwd=ROOT,
        env={key: value for key, value in os.environ.items() if not key.startswith("MAKE")},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        addresses = wait_for_addresses(process)
        with socket.create_connection(("127.0.0.1", addresses["wire"]), timeout=60) as client:
            lines = client.makefile("r", encoding="ascii")
            telemetry = next(m for m in map(json.loads, lines) if m["msg_type"] == "telemetry")
        assert telemetry["totalNodes"] == 108
        page = urllib.request.urlopen(f"http://127.0.0.1:{addresses['page']}/", timeout=20).read().decode()
        assert "<title>" in page
        os.killpg(process.pid, signal.SIGINT)
        process.stdout.read()
        process.wait(20)
        for port in addresses.values():
            with pytest.raises(ConnectionRefusedError):
                socket.create_connection(("127.0.0.1", port), timeout=2)
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        process.stdout.close()
