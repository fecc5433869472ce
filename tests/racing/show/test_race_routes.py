"""The watching page where races are held: how they stand, what the race engineer does, how phones find them."""

import json

import pytest
import segno
from starlette.testclient import TestClient

from donkeysim.core.image import decode_picture
from donkeysim.racing.rules import act
from donkeysim.racing.show.race_show import list_race_routes
from donkeysim.racing.show.race_view import Joining, RaceView, TimeLine
from donkeysim.watch.spectator import create_app
from stand_ins.watched_stage import WatchedStage

PAGE = "http://127.0.0.1:9093"
OWN = {"origin": PAGE, "host": "127.0.0.1:9093"}


@pytest.fixture
def stage():
    return WatchedStage(names=["pace", "Ada"], time=45.0)


@pytest.fixture
def client(stage):
    app = create_app(stage, wire_port=9191, races=stage, race_routes=list_race_routes(stage))
    return TestClient(app, base_url=PAGE)


def ask_state(client, question='{"car":1}'):
    with client.websocket_connect("/state", headers=OWN) as socket:
        socket.send_text(question)
        return json.loads(socket.receive_text())


def test_acts_of_the_race_engineer_reach_the_race(client, stage):
    stage.race = RaceView("book", "race", 1, "green", False, 1.0, 60.0, 3, 9.0, (), (), {4: (1, 2)}, False)
    assert ask_state(client)["race"]["lap_chart"] == {"4": [1, 2]}
    for body in ({"type": "put back", "row": 2}, {"type": "penalise", "row": 1, "seconds": 5.0, "why": "x"}):
        assert client.post("/race/act", json=body, headers=OWN).status_code == 200
    assert client.post("/race/start", json={}, headers=OWN).status_code == 200
    assert [call[1] for call in stage.calls[:2]] == [act.PutBack(2), act.Penalise(1, seconds=5.0, why="x")]
    assert stage.calls[2:] == [("start_race",)]
    assert client.post("/race/act", json={"type": "drown"}, headers=OWN).status_code == 409


def test_pictures_and_the_state_may_be_of_the_past(client, stage):
    stage.past = TimeLine(0.0, 9.0, is_live=False)
    assert ask_state(client, '{"at":4.5}')["time_line"] == {"begin": 0.0, "end": 9.0, "is_live": False}
    with client.websocket_connect("/picture", headers=OWN) as socket:
        socket.send_text('{"view":"tv","car":-1,"width":64,"height":36,"at":4.5}')
        assert decode_picture(socket.receive_bytes()).shape == (36, 64, 3)
    assert stage.calls == [("take_picture", "tv", -1, 64, 36, 4.5)]


def test_phones_find_the_race_by_a_code_that_is_an_address(client, stage):
    stage.place_to_join = Joining("192.168.1.7", 9091, "http://192.168.1.7:9093/")
    code = client.get("/join.svg", headers=OWN)
    assert (code.status_code, code.headers["content-type"]) == (200, "image/svg+xml")
    expected = segno.make("http://192.168.1.7:9093/?join", micro=False)
    assert expected.svg_inline(border=4).split(' d="')[1].split('"')[0] in code.text
