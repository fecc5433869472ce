"""`donkey_sim --host 0.0.0.0`: the network watches, the token that was printed controls."""

import os
import re

import httpx
import pytest

from e2e.simulator_process import SimulatorProcess
from waiting import wait_until

LINE = r"To control it from there, open (https?)://([^:/]+):(\d+)/\?token=(\w+)$"


@pytest.fixture(params=["http", "https"])
def served(request, tmp_path):
    """Give the scheme, the page's name in the network, the token, and a client that comes by that name."""
    options = ["--host", "0.0.0.0", "--page-port", "0", *(["--tls"] if request.param == "https" else [])]
    environment = {**os.environ, "XDG_DATA_HOME": str(tmp_path), "LOCALAPPDATA": str(tmp_path), "HOME": str(tmp_path)}
    with SimulatorProcess(*options, page=True, environment=environment) as simulator:
        found = wait_until(lambda: next(filter(None, (re.search(LINE, line) for line in simulator.lines)), None))
        scheme, name, port, token = found.groups()
        assert (scheme, simulator.address[0]) == (request.param, "0.0.0.0")
        assert f"Others in the network can watch at {scheme}://{name}:{port}" in simulator.lines
        headers = {"host": f"{name}:{port}", "origin": f"{scheme}://{name}:{port}"}
        base = f"{scheme}://127.0.0.1:{port}"
        with httpx.Client(base_url=base, headers=headers, verify=False) as client:
            yield client, token
        if scheme == "https":
            keys = list(tmp_path.rglob("key.pem"))
            assert len(keys) == 1


def test_watching_is_free_and_control_takes_the_token_that_was_printed(served):
    client, token = served
    assert "You can only watch" in client.get("/").text
    body = {"name": "warehose"}
    assert client.post("/scene", json=body).status_code == 401
    assert client.post("/scene?token=guessed", json=body).status_code == 401
    assert "did you mean 'warehouse'?" in client.post(f"/scene?token={token}", json=body).text
    assert client.post(f"/exit?token={token}", headers={"origin": "http://evil.example"}).status_code == 403
    assert client.get("/", headers={"host": "evil.example"}).status_code == 403
