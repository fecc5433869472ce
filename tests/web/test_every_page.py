"""What guards a page guards every page: names of this machine, the page's own Origin, no file but its own."""

from types import SimpleNamespace

import numpy as np
import pytest
from starlette.testclient import TestClient, WebSocketDenialResponse
from starlette.websockets import WebSocketDisconnect

from donkeysim.drive import control_page, tub_page
from donkeysim.drive.control_link import ControlLink
from donkeysim.drive.control_state import ControlState
from donkeysim.rl import page as learning
from donkeysim.watch import preview, spectator
from donkeysim.web.access import THIS_MACHINE
from donkeysim.web.mjpeg import PictureStream
from stand_ins.watched_stage import WatchedStage
from tub.drives import write_tub

HOST = "127.0.0.1:9093"
PAGE = f"http://{HOST}"
OWN = {"origin": PAGE, "host": HOST}
FOREIGN = [
    {"origin": "http://evil.example", "host": HOST},
    {"origin": "http://evil.example:9093", "host": "evil.example:9093"},
    {"origin": "null", "host": HOST},
    {**OWN, "sec-fetch-site": "cross-site"},
]
CHANGES = {
    "watching": ["/scene", "/road", "/exit", "/cars/1/reset"],
    "control": ["/drive"],
    "preview": [],
    "learning": [],
    "tub": ["/deleted"],
}
SOCKETS = {
    "watching": ["/state", "/picture"],
    "control": ["/wsDrive", "/picture"],
    "preview": ["/state"],
    "learning": ["/news"],
    "tub": [],
}


@pytest.fixture(params=sorted(CHANGES))
def name(request):
    return request.param


@pytest.fixture
def client(name, tmp_path):
    if name == "watching":
        app = spectator.create_app(WatchedStage(), wire_port=9191)
    elif name == "preview":
        app = preview.create_app(SimpleNamespace())
    elif name == "learning":
        app = learning.LearningPage(learning.Story(), {}).create_app()
    elif name == "tub":
        app = tub_page.create_app(write_tub(tmp_path / "data", 2))
    else:
        state = ControlState("user")
        stream = PictureStream(np.zeros((8, 8, 3), np.uint8))
        app = control_page.create_app(state, ControlLink(state, {}), stream, THIS_MACHINE)
    return TestClient(app, base_url=PAGE)


def test_a_name_that_was_bent_to_this_machine_gets_nothing(client, name):
    for path in ["/", *CHANGES[name]]:
        for host in ("evil.example", "127.0.0.1.nip.io:9093", "192.0.2.7:9093", "car.local"):
            assert client.get(path, headers={"host": host}).status_code == 403
            assert client.post(path, headers={"host": host, "origin": f"http://{host}"}).status_code == 403


@pytest.mark.parametrize("headers", FOREIGN)
def test_another_site_changes_nothing_and_opens_no_socket(client, name, headers):
    for path in CHANGES[name]:
        assert client.post(path, headers=headers, json={}).status_code == 403
    for path in SOCKETS[name]:
        with pytest.raises(WebSocketDenialResponse) as refused, client.websocket_connect(path, headers=headers):
            pass
        assert refused.value.status_code == 403


@pytest.mark.parametrize(
    "path",
    [
        "../token.py", "%2e%2e/token.py", "..%2f..%2ftoken.py", "%2e%2e%2f%2e%2e%2fpyproject.toml", "....//token.py",
        "..\\token.py", "/etc/passwd", "//etc/passwd", "index.html%00.js", "C:/windows/win.ini",
    ],
)  # fmt: skip
def test_no_file_but_the_pages_own_is_served(client, path):
    for folder in ("shared", "pages", "static", "numbers"):
        assert client.get(f"/{folder}/{path}").status_code in (404, 409)


def test_every_answer_forbids_scripts_frames_and_guesses(client):
    for answered in (client.get("/"), client.get("/none"), client.get("/", headers={"host": "evil.example"})):
        policy = answered.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "require-trusted-types-for 'script'" in policy
        assert "frame-ancestors 'none'" in policy
        assert "unsafe" not in policy
        assert answered.headers["x-content-type-options"] == "nosniff"


def test_a_body_without_end_is_refused(client, name):
    for path in CHANGES[name]:
        if path in ("/exit", "/cars/1/reset"):  # take no body
            continue
        answered = client.post(path, headers=OWN, content=b'{"a":"' + b"x" * (5 * 1024 * 1024) + b'"}')
        assert answered.status_code in (400, 409)
        assert "longer than" in answered.text


def test_a_socket_that_talks_in_binary_is_closed_and_nothing_fails(client, name):
    for path in SOCKETS[name] if name in ("watching", "learning") else ():
        with client.websocket_connect(path, headers=OWN) as socket:
            socket.send_bytes(b"{}")
            with pytest.raises(WebSocketDisconnect) as closed:
                socket.receive_text()
        assert closed.value.code == 1003


@pytest.mark.parametrize("number", ["9" * 10, "9" * 5000, "-1", "١"])
def test_a_number_with_more_digits_than_any_thing_has_is_no_address(client, number):
    answered = client.post(f"/cars/{number}/reset", headers=OWN)
    assert answered.status_code in (404, 405)
    assert answered.headers["x-content-type-options"] == "nosniff"
