"""The watching page's answers: state, pictures, changes and refusals, each one sentence."""

import asyncio
import json
import math
import threading

import numpy as np
import pytest
import websockets
from starlette.testclient import TestClient, WebSocketDenialResponse

from donkeysim.core.errors import SceneError
from donkeysim.core.image import decode_picture
from donkeysim.watch.spectator import create_app
from donkeysim.web import limits
from donkeysim.web.access import Access
from donkeysim.web.serving import PageServer, bind_port
from donkeysim.world.specs import RoadSpec
from stand_ins.watched_stage import WatchedStage, make_telemetry
from waiting import PATIENCE

PAGE = "http://127.0.0.1:9093"
OWN = {"origin": PAGE, "host": "127.0.0.1:9093"}


@pytest.fixture
def stage():
    return WatchedStage(names=["pace", "Ada"], time=45.0)


@pytest.fixture
def client(stage):
    return TestClient(create_app(stage, wire_port=9191), base_url=PAGE)


def ask_state(client, question='{"car":1}', headers=OWN):
    with client.websocket_connect("/state", headers=headers) as socket:
        socket.send_text(question)
        return json.loads(socket.receive_text())


def test_the_page_is_served_with_all_its_parts(client):
    page = client.get("/")
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    for part in ("/pages/spectator.js", "/pages/spectator.css", "/shared/base.css", "/shared/icon.svg"):
        assert part in page.text
        assert client.get(part).status_code == 200


def test_the_state_lists_scenes_and_cars_and_reads_the_watched_one(client):
    state = ask_state(client)
    assert [scene["name"] for scene in state["scenes"]][-1] == "generated_track"
    assert (state["scene"], state["is_loading"], state["wire_port"]) == ("generated_track", False, 9191)
    other, pace = state["cars"]  # who drives comes first
    assert (pace["name"], pace["is_pace_car"], other["is_pace_car"]) == ("pace", True, False)
    assert (pace["lap"], pace["last_lap"], pace["best_lap"]) == (3, 19.9, 19.9)
    assert state["readings"]["id"] == 1
    assert state["readings"]["telemetry"]["time"] == 45.0
    assert (state["readings"]["lap_times"], state["readings"]["lap_count"]) == ([20.0, 19.9], 2)


def test_what_was_drawn_for_the_watched_car_is_told_with_its_unit(client, stage):
    assert ask_state(client)["readings"]["drawn"] == []
    stage.drawn = {"camera.x": 0.0123456, "car.mass": 1.25}
    assert ask_state(client)["readings"]["drawn"] == [
        {"name": "camera.x", "value": 0.0123, "unit": "m"},
        {"name": "car.mass", "value": 1.25, "unit": ""},
    ]


def test_a_car_that_left_has_no_readings(client):
    assert ask_state(client, '{"car":99}')["readings"] is None
    assert ask_state(client, "{}")["readings"] is None


def test_the_state_of_the_menu_and_of_loading_is_told(client, stage):
    stage.scene_name, stage.is_loading, stage.loading_stage = "warehouse", True, "compiling, 2 of 9"
    state = ask_state(client)
    assert (state["scene"], state["is_loading"], state["stage"]) == ("warehouse", True, "compiling, 2 of 9")
    stage.scene_name, stage.is_loading = None, False
    state = ask_state(client)
    assert (state["scene"], state["cars"]) == (None, [])


def test_names_no_text_can_carry_do_not_break_the_page(client, stage):
    stage.names = ["\ud800half", "\x00\x1b[31m", "\u202e", "<script>"]
    assert [car["name"] for car in ask_state(client)["cars"]] == ["?half", "\x00\x1b[31m", "\u202e", "<script>"]


@pytest.mark.parametrize(
    "question",
    ["", "state", "[]", "{", '{"car":"1"}', '{"car":1e99}', '{"cars":1}', "null", '{"car":' + "9" * 5000 + "}"],
)
def test_a_question_nobody_understands_gets_one_sentence_and_the_link_stays(client, question):
    with client.websocket_connect("/state", headers=OWN) as socket:
        socket.send_text(question)
        assert "does not exist" in json.loads(socket.receive_text())["error"]
        socket.send_text("{}")
        assert json.loads(socket.receive_text())["scene"] == "generated_track"


def test_every_question_gets_one_picture_of_the_size_asked_for(client, stage):
    with client.websocket_connect("/picture", headers=OWN) as socket:
        for view, size in (("chase", (640, 360)), ("top", (320, 180))):
            question = {"view": view, "car": 2, "width": size[0], "height": size[1]}
            socket.send_text(json.dumps(question))
            picture = decode_picture(socket.receive_bytes())
            assert picture.shape == (size[1], size[0], 3)
            assert np.ptp(picture) > 50
    assert [call[1:3] for call in stage.calls] == [("chase", 2), ("top", 2)]


def test_a_pace_car_is_asked_for_and_taken_away(client, stage):
    stage.names = []
    assert ask_state(client)["pace_car"] is False
    for drives in (True, False):
        assert client.post("/pace_car", headers=OWN, json={"drives": drives}).status_code == 200
        assert ask_state(client)["pace_car"] is drives
    assert client.post("/pace_car", headers=OWN, json={}).status_code == 409
    assert client.post("/pace_car", headers={"origin": "http://evil.example"}, json={}).status_code == 403


def test_the_place_is_shown_where_no_car_is(client, stage):
    stage.names = []
    with client.websocket_connect("/picture", headers=OWN) as socket:
        socket.send_text(json.dumps({"view": "place", "car": 0, "width": 320, "height": 180}))
        assert decode_picture(socket.receive_bytes()).shape == (180, 320, 3)


@pytest.mark.parametrize("error", [None, SceneError("no scene is running")])
def test_the_places_file_is_written_as_soon_as_somebody_draws(client, stage, error):
    written = threading.Event()

    async def write_place():
        written.set()
        if error is not None:
            raise error
        return b"glTF"

    async def take_moment():
        return b"{}"

    stage.write_place, stage.take_moment = write_place, take_moment
    with client.websocket_connect("/moments", headers=OWN) as socket:
        assert written.wait(PATIENCE), "before anything is asked"
        socket.send_text("{}")
        assert socket.receive_bytes() == b"{}"


def test_the_state_names_the_scenes_environment_and_the_control_page(stage):
    ids = {"generated_track": "donkey-generated-track-v0"}
    app = create_app(stage, wire_port=9191, environments=ids, find_control=lambda: "http://localhost:8887/drive")
    state = ask_state(TestClient(app, base_url=PAGE))
    assert (state["environment"], state["control"]) == ("donkey-generated-track-v0", "http://localhost:8887/drive")
    stage.scene_name = "my_own_track"
    assert ask_state(TestClient(app, base_url=PAGE))["environment"] == ""


@pytest.mark.parametrize(
    "change",
    [{"width": 5000}, {"height": 0}, {"width": -3}, {"view": "inside"}, {"car": 99}, {"car": None}, {"extra": 1}],
)
def test_an_impossible_picture_is_refused_and_the_link_stays(client, change):
    good = {"view": "chase", "car": 1, "width": 320, "height": 180}
    with client.websocket_connect("/picture", headers=OWN) as socket:
        socket.send_text(json.dumps({**good, **change}))
        refusal = json.loads(socket.receive_text())["error"]
        assert refusal
        assert "\n" not in refusal
        socket.send_text(json.dumps(good))
        assert socket.receive_bytes()[:2] == b"\xff\xd8"


def test_nothing_is_drawn_while_nobody_asks(client, stage):
    client.get("/")
    ask_state(client)
    with client.websocket_connect("/picture", headers=OWN):
        pass
    assert stage.picture_count == 0


def test_the_outline_is_the_scenes_own(client, stage):
    outline = client.get("/outline").json()
    assert outline["path"][0] == [4.0, 0.0]
    assert len(outline["left"]) == len(outline["right"]) == 60
    assert outline["is_closed"] is True
    assert math.isclose(outline["start_line"][0][1][0], 4.4)
    stage.scene_name = None
    assert client.get("/outline").json() is None


def test_the_page_loads_resets_and_exits(client, stage):
    for path, body in (("/exit", {}), ("/scene", {"name": "warehouse"}), ("/cars/2/reset", {})):
        assert client.post(path, headers=OWN, json=body).status_code == 200
    assert stage.calls == [("exit_scene",), ("load_scene", "warehouse"), ("reset_car", 2)]


def test_the_page_asks_for_another_road_where_there_are_others(client, stage):
    assert ask_state(client)["road"] is None
    stage.road = RoadSpec(1, 5, 2.0)
    assert ask_state(client)["road"] == {"style": 1, "seed": 5, "turn": 2.0}
    assert client.post("/road", headers=OWN, json={"style": 2, "seed": 6, "turn": 2.0}).status_code == 200
    assert stage.calls == [("make_road", RoadSpec(2, 6, 2.0))]
    assert ask_state(client)["road"]["seed"] == 6


@pytest.mark.parametrize(
    ("path", "body", "part"),
    [
        ("/road", b'{"style":0,"seed":1,"turn":1}', "not a generated one"),
        ("/road", b'{"style":0,"seed":1,"turn":0}', "0.1 to 20"),
        ("/road", b'{"style":0,"seed":99999999999999999999999,"turn":1}', "64 bits"),
        ("/scene", b'{"name":"warehose"}', "did you mean 'warehouse'?"),
        ("/scene", b"{}", "`name`"),
        ("/scene", b"\xff\xfe", "does not exist"),
        ("/scene", b'{"name":"' + b"x" * 9000 + b'"}', "longer than"),
        ("/cars/99/reset", b"", "no car 99"),
    ],
)
def test_what_cannot_be_done_is_said_in_one_sentence(client, path, body, part):
    answered = client.post(path, headers=OWN, content=body)
    assert answered.status_code == 409
    error = answered.json()["error"]
    assert part in error
    assert "\n" not in error


@pytest.mark.parametrize("path", ["/scene", "/exit", "/cars/1/reset"])
def test_only_the_page_itself_changes_anything(client, stage, path):
    body = {"name": "warehouse"}
    for headers in ({}, {"origin": "http://evil.example"}, {**OWN, "sec-fetch-site": "cross-site"}):
        assert client.post(path, headers=headers, json=body).status_code == 403
    assert client.post(path, headers={"origin": "http://evil.example", "host": "evil.example"}).status_code == 403
    assert client.get(path, headers=OWN).status_code == 405
    assert stage.calls == []


@pytest.mark.parametrize("path", ["/state", "/picture"])
def test_only_the_page_itself_watches(client, path):
    for headers in ({}, {"origin": "http://evil.example"}, {"origin": "http://evil.example", "host": "evil.example"}):
        with pytest.raises(WebSocketDenialResponse), client.websocket_connect(path, headers=headers):
            pass


def test_a_viewer_who_leaves_before_the_picture_comes_disturbs_nobody(stage, caplog):
    stage.picture_delay = 0.15
    question = json.dumps({"view": "chase", "car": 1, "width": 320, "height": 180})

    async def run():
        async with PageServer(create_app(stage, wire_port=9191), bind_port(0)) as server:
            address = server.address.replace("http", "ws") + "/picture"
            hasty = await websockets.connect(address, origin=server.address)
            await hasty.send(question)
            hasty.transport.abort()
            patient = await websockets.connect(address, origin=server.address)
            await patient.send(question)
            assert len(await asyncio.wait_for(patient.recv(), 5)) > 100
            await patient.close()

    asyncio.run(run())
    assert stage.picture_count == 2
    assert [record.message for record in caplog.records] == []


def test_readings_without_a_path_are_sent_without_cte(client, stage, monkeypatch):
    monkeypatch.setattr("stand_ins.watched_stage.make_telemetry", lambda *_: bare_telemetry())
    assert ask_state(client)["readings"]["telemetry"].get("cte") is None


def bare_telemetry():
    telemetry = make_telemetry(1.0)
    telemetry.cte = telemetry.activeNode = None
    return telemetry


LAN = "http://192.0.2.7:9093"
LAN_OWN = {"origin": LAN, "host": "192.0.2.7:9093"}
NETWORK = Access(hosts=frozenset(("localhost", "127.0.0.1", "192.0.2.7")), token="abcdefghjk")


def make_client(stage, peer, page=LAN):
    return TestClient(create_app(stage, wire_port=9191, access=NETWORK), base_url=page, client=(peer, 5555))


def test_anybody_in_the_network_watches_and_changes_nothing(stage):
    client = make_client(stage, "192.0.2.9")
    assert client.get("/").status_code == 200
    assert client.get("/outline").json()["is_closed"]
    assert ask_state(client, headers=LAN_OWN)["may_change"] is False
    with client.websocket_connect("/picture", headers=LAN_OWN) as socket:
        socket.send_text('{"view":"chase","car":1,"width":320,"height":180}')
        assert socket.receive_bytes()[:2] == b"\xff\xd8"
    for path in ("/exit", "/scene", "/road", "/cars/1/reset"):
        assert client.post(path, headers=LAN_OWN, json={}).status_code == 401
        assert client.post(path, headers={**LAN_OWN, "origin": "http://evil.example"}).status_code == 403
    assert [call for call in stage.calls if call[0] != "take_picture"] == []


def test_who_knows_the_token_changes_from_anywhere_and_this_machine_needs_none(stage):
    client = make_client(stage, "192.0.2.9")
    opened = client.get("/?token=abcdefghjk", headers={"accept": "text/html"}, follow_redirects=False)
    cookie = {"cookie": opened.headers["set-cookie"].split(";")[0]}
    assert ask_state(client, headers={**LAN_OWN, **cookie})["may_change"] is True
    assert client.post("/cars/1/reset", headers=LAN_OWN).status_code == 200
    here = make_client(stage, "127.0.0.1", PAGE)
    assert ask_state(here)["may_change"] is True
    assert here.post("/cars/2/reset", headers=OWN).status_code == 200
    assert stage.calls == [("reset_car", 1), ("reset_car", 2)]


def test_a_hundred_pages_of_one_address_leave_another_its_pictures(stage, monkeypatch):
    """All connections come from this machine here, so each is a client by its first question's car."""
    monkeypatch.setattr("donkeysim.watch.spectator.find_client", lambda scope: scope["query_string"].decode())
    stage.picture_delay = 0.02

    async def look(address, client, everybody):
        count, clock = 0, asyncio.get_running_loop().time
        async with websockets.connect(f"{address}/picture?{client}", origin=address.replace("ws", "http")) as socket:
            await everybody.wait()
            ends = clock() + 1.5
            while clock() < ends:
                await socket.send('{"view":"chase","car":1,"width":320,"height":180}')
                await socket.recv()
                count += 1
        return count

    async def run():
        monkeypatch.setattr("donkeysim.web.serving.MOST_CONNECTIONS", 200)
        everybody = asyncio.Barrier(101)
        async with PageServer(create_app(stage, wire_port=9191), bind_port(0)) as server:
            address = server.address.replace("http", "ws")
            greedy = [look(address, "greedy", everybody) for _ in range(100)]
            return await asyncio.gather(look(address, "modest", everybody), *greedy)

    modest, *greedy = asyncio.run(run())
    assert stage.most_at_once <= limits.PICTURES_AT_ONCE + 1
    assert modest > 20
    assert sum(greedy) <= limits.PICTURES_A_SECOND * (1.5 + limits.BURST_SECONDS) + 100


def test_without_a_race_nothing_of_one_is_told_and_its_doors_refuse(client):
    state = ask_state(client, '{"car":1,"at":null}')
    assert (state["race"], state["time_line"], state["joining"]) == (None, None, None)
    assert client.get("/join.svg", headers=OWN).status_code == 404
    for address, body in (("/race/act", {"type": "pause"}), ("/race/start", {})):
        answer = client.post(address, json=body, headers=OWN)
        assert (answer.status_code, "no race is held here" in answer.json()["error"]) == (409, True)


def test_the_wall_is_the_page_itself(client):
    assert client.get("/wall", headers=OWN).text == client.get("/").text


def test_who_asks_too_early_waits_for_the_next_picture(client, stage, monkeypatch):
    pictures = iter([b"one", b"one", b"two", *[b"three"] * 9])
    kept = {}

    async def take(*_):
        picture = next(pictures)
        return kept.setdefault(picture, picture)

    monkeypatch.setattr(stage, "take_picture", take)
    with client.websocket_connect("/picture", headers=OWN) as socket:
        got = []
        for _ in range(4):
            socket.send_text('{"view":"tv","car":1,"width":64,"height":36}')
            got.append(socket.receive_bytes())
    assert got == [b"one", b"two", b"three", b"three"]  # a picture that stays the same comes again
