"""The preview page's answers: state as soon as it changes, pictures, refusals."""

import json
import time

import pytest
from starlette.testclient import TestClient, WebSocketDenialResponse

from donkeysim.core.image import decode_picture
from donkeysim.watch.preview import PATIENCE, create_app
from donkeysim.watch.track_watch import TrackWatch

PAGE = "http://127.0.0.1:8885"
OWN = {"origin": PAGE, "host": "127.0.0.1:8885"}
TRACK = """format = 1
name = "yard"
path.points = [[0, 0], [4, 0], [4, 3], [0, 3]]
road.width_left = 0.3
road.width_right = 0.3
ground.texture = "plain"
start.lines = [0.3]
"""


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    return tmp_path_factory.mktemp("place") / "yard.toml"


@pytest.fixture(scope="module")
def client(place):
    place.write_text(TRACK, encoding="utf-8")
    watch = TrackWatch(place)
    watch.start()
    yield TestClient(create_app(watch), base_url=PAGE)
    watch.stop()


def ask_until(client, wanted):
    with client.websocket_connect("/state", headers=OWN) as socket:
        state = {"number": -1}
        while not wanted(state):
            socket.send_text(json.dumps({"number": state["number"]}))
            state = json.loads(socket.receive_text())
        return state


def test_the_page_is_served_with_all_its_parts(client):
    page = client.get("/")
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert "script-src 'self'" in page.headers["content-security-policy"]
    for part in ("/pages/preview.js", "/pages/preview.css", "/shared/base.css", "/shared/icon.svg"):
        assert part in page.text
        assert client.get(part).status_code == 200
    assert client.get("/pages/texts/ja.json").status_code == 200


def test_a_new_state_is_told_as_soon_as_there_is_one(client, place):
    state = ask_until(client, lambda state: state.get("picture", 0) >= 1 and not state["is_building"])
    assert (state["name"], state["error"]) == ("yard", "")
    assert state["figures"]["grid"] == 24
    assert state["figures"]["radius_right"] is None
    assert len(state["outline"]["path"]) == len(state["outline"]["left"])
    place.write_text(TRACK + "gantry = 3\n", encoding="utf-8")
    state = ask_until(client, lambda state: bool(state.get("error")))
    assert "line 8: unknown key 'gantry'" in state["error"]
    place.write_text(TRACK, encoding="utf-8")
    assert ask_until(client, lambda state: state.get("error") == "" and not state["is_building"])


def test_map_and_view_are_pictures_of_the_size_asked_for(client):
    ask_until(client, lambda state: state.get("picture", 0) >= 1)
    answer = client.get("/map?longest=300")
    assert (answer.headers["content-type"], answer.headers["cache-control"]) == ("image/jpeg", "no-store")
    assert max(decode_picture(answer.content).shape) == 300
    assert decode_picture(client.get("/view?at=0.4&width=160&height=120").content).shape == (120, 160, 3)


@pytest.mark.parametrize(
    "path",
    ["/map", "/map?longest=x", "/map?longest=1e9", "/map?longest=nan", "/view?at=2&width=64&height=64", "/view?at=0.5"],
)
def test_an_impossible_picture_gets_one_sentence(client, path):
    answer = client.get(path)
    assert answer.status_code == 409
    assert " is a number from " in answer.json()["error"]


@pytest.mark.parametrize("question", ["", "[]", '{"number":"x"}', '{"nr":1}', '{"number":1e99}'])
def test_a_question_nobody_understands_gets_one_sentence_and_the_link_stays(client, question):
    with client.websocket_connect("/state", headers=OWN) as socket:
        socket.send_text(question)
        assert "does not exist" in json.loads(socket.receive_text())["error"]
        socket.send_text('{"number":-1}')
        assert "number" in json.loads(socket.receive_text())


def test_other_sites_may_not_ask(client):
    assert client.get("/map?longest=300", headers={"host": "evil.example"}).status_code == 403
    assert client.get("/map?longest=300", headers={"sec-fetch-site": "cross-site"}).status_code == 403
    with (
        pytest.raises(WebSocketDenialResponse),
        client.websocket_connect("/state", headers={**OWN, "origin": "http://evil.example"}),
    ):
        pass


def test_a_page_that_waits_for_news_goes_when_the_program_ends(tmp_path):
    watch = TrackWatch(tmp_path / "yard.toml")  # not started: there never is any news
    began = time.monotonic()
    with TestClient(create_app(watch), base_url=PAGE).websocket_connect("/state", headers=OWN) as socket:
        socket.send_text('{"number":0}')
        watch.close()
    assert time.monotonic() - began < 0.5 * PATIENCE
