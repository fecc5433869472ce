"""What the live page tells: everything once, then what is new, and how learning ended."""

import base64
import json
import math
import signal
import threading
import urllib.request

import pytest
from starlette.testclient import TestClient
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from donkeysim.rl import page as page_module
from donkeysim.rl.curve import CurveTracer
from donkeysim.rl.ghosts import Ghosts
from donkeysim.rl.page import LearningPage, LivePage, open_page
from donkeysim.rl.story import NewsRequest, Story, TrainingSummary
from donkeysim.sim.simulator import Simulator
from donkeysim.web.serving import bind_port
from donkeysim.world.specs import SceneSpec, WorldSpec
from stand_ins.told_learning import make_check, make_update
from stand_ins.watched_stage import WatchedStage
from waiting import PATIENCE

PAGE = "http://127.0.0.1:8889"
OWN = {"origin": PAGE, "host": "127.0.0.1:8889"}
NOTHING = NewsRequest("", -1)
OVAL = {"oval": WatchedStage().outline()}


@pytest.fixture
def story():
    return Story()


@pytest.fixture
def client(story):
    return TestClient(LearningPage(story, OVAL).create_app(), base_url=PAGE)


@pytest.fixture
def page():
    page = LivePage(bind_port(0), OVAL, ())
    yield page
    page.close()


def ask(socket, known=NOTHING):
    socket.send_text(json.dumps({"learning": known.learning, "number": known.number}))
    return json.loads(socket.receive_text())


def test_the_page_is_served_with_all_its_parts(client):
    page = client.get("/")
    for part in ("/pages/learning.js", "/pages/learning.css", "/shared/outline.js", "/shared/base.css"):
        assert part in page.text
        assert client.get(part).status_code == 200
    (place,) = client.get("/places").json()
    assert (place["name"], place["outline"]["is_closed"], len(place["outline"]["left"])) == ("oval", True, 60)


def test_a_page_is_told_everything_once_and_then_what_is_new(client, story):
    story.add(make_update(1))
    story.add(make_update(2, ended=(), checks=(make_check(laps=3.5, departures=2),)))
    with client.websocket_connect("/news", headers=OWN) as socket:
        news = ask(socket)
        assert news["curve"] == [[2.0, 4096, 0.01, 1.5, 12.0], [4.0, 8192, 0.02, 1.5, 6.0]]
        assert news["ended"] == [[4096, 0.0, 3.6, 0.5]]
        assert news["checked"] == [[4.0, 1.9, False]]
        assert (news["checks"][0]["laps"], news["checks"][0]["is_passed"]) == (3.5, False)
        assert (news["point"]["steps"], news["time_limit"], news["outcome"]) == (8192, 600.0, None)
        story.add(make_update(3, ended=[[0, 1, 2], [0, 3, 4]]))
        news = ask(socket, NewsRequest(news["learning"], news["number"]))
        assert [row[1] for row in news["curve"]] == [12288]
        assert [row[0] for row in news["ended"]] == [12288, 12288]
        assert news["checked"] == []


def test_who_knows_everything_waits_for_the_next_update(client, story):
    story.add(make_update(1))
    with client.websocket_connect("/news", headers=OWN) as socket:
        socket.send_text(json.dumps({"learning": story.name, "number": 1}))
        threading.Timer(0.05, story.add, [make_update(2)]).start()
        assert json.loads(socket.receive_text())["point"]["steps"] == 8192


def test_a_page_of_another_learning_begins_anew(story):
    for number in (1, 2, 3):
        story.add(make_update(number))
    assert len(story.describe(NewsRequest("another", 2)).curve) == 3
    assert len(story.describe(NewsRequest(story.name, 2)).curve) == 1


def test_the_picture_is_told_as_it_was_whatever_becomes_of_its_memory(story):
    update = make_update(1)
    story.add(update)
    update.picture[:] = 0
    update.ended_at[:] = 0.0
    news = story.describe(NOTHING)
    assert (news.sight.width, news.sight.height, set(news.sight.grey)) == (40, 30, {200})
    assert news.ended == [(4096, 0.0, 3.6, 0.5)]


def test_grey_values_come_as_base64_and_what_is_no_number_as_null(client, story):
    story.add(make_update(1, speed=math.nan))
    with client.websocket_connect("/news", headers=OWN) as socket:
        news = ask(socket)
    assert base64.b64decode(news["sight"]["grey"]) == b"\xc8" * 1200
    assert news["curve"][0][3] is None


def test_a_long_curve_is_told_in_parts_to_its_last_point():
    trace = CurveTracer().trace
    story = Story([trace(make_update(number)) for number in range(1, 5001)])
    curve = story.describe(NOTHING).curve
    assert len(curve) == 1667
    assert (curve[0][1], curve[-1][1]) == (2 * 4096, 5000 * 4096)


def test_earlier_sittings_are_told_before_the_first_update():
    story = Story([CurveTracer().trace(make_update(7))])
    news = story.describe(NOTHING)
    assert (news.number, news.point.steps, news.sight, news.checks) == (1, 7 * 4096, None, [])


def test_a_question_nobody_understands_gets_one_sentence(client):
    with client.websocket_connect("/news", headers=OWN) as socket:
        socket.send_text('{"learning":1}')
        assert "does not exist" in json.loads(socket.receive_text())["error"]


def test_the_end_is_told_before_the_connection_is_closed(page, caplog):
    page(make_update(1))
    with connect(
        f"ws{page.url.removeprefix('http')}/news", origin=page.url, proxy=None, open_timeout=PATIENCE
    ) as socket:
        socket.send(json.dumps({"learning": "", "number": -1}))
        news = json.loads(socket.recv(PATIENCE))
        socket.send(json.dumps({"learning": news["learning"], "number": news["number"]}))
        page.finish(TrainingSummary("learnt", pilot="out/pilot.onnx"))
        news = json.loads(socket.recv(PATIENCE))
        assert (news["outcome"]["ending"], news["outcome"]["report"], news["curve"]) == ("learnt", "", [])
        socket.send(json.dumps({"learning": news["learning"], "number": news["number"]}))
        page.finish(TrainingSummary("learnt", pilot="out/pilot.onnx", report="out/report.html"))
        page.close()
        assert json.loads(socket.recv(PATIENCE))["outcome"]["report"] == "out/report.html"
        with pytest.raises(ConnectionClosed):
            socket.recv(PATIENCE)
    assert not caplog.records


def test_a_page_that_is_slow_to_ask_is_told_the_end_too(page):
    page(make_update(1))
    with connect(
        f"ws{page.url.removeprefix('http')}/news", origin=page.url, proxy=None, open_timeout=PATIENCE
    ) as socket:
        socket.send(json.dumps({"learning": "", "number": -1}))
        news = json.loads(socket.recv(PATIENCE))
        page.finish(TrainingSummary("learnt"))
        closing = threading.Thread(target=page.close)
        closing.start()
        closing.join(0.7)  # what a page needs to draw, and more than a server needs to end
        socket.send(json.dumps({"learning": news["learning"], "number": news["number"]}))
        assert json.loads(socket.recv(PATIENCE))["outcome"]["ending"] == "learnt"
    closing.join(PATIENCE)
    assert not closing.is_alive()


def test_a_page_that_never_asks_is_not_waited_for_long(page, monkeypatch):
    monkeypatch.setattr(page_module, "LAST_WORDS", 0.1)
    with connect(
        f"ws{page.url.removeprefix('http')}/news", origin=page.url, proxy=None, open_timeout=PATIENCE
    ) as socket:
        page.close()
        with pytest.raises(ConnectionClosed):
            socket.recv(PATIENCE)


def test_a_page_is_opened_on_the_next_free_port_or_not_at_all(page, caplog):
    taken = int(page.url.rsplit(":", 1)[1])
    beside = open_page(taken, {})
    assert int(beside.url.rsplit(":", 1)[1]) > taken
    beside.close()
    assert open_page(0, {}) is None
    assert open_page(70000, {}) is None
    assert ["no page: port 70000 is not valid" in record.getMessage() for record in caplog.records] == [True]


def test_the_page_stays_until_ctrl_c_if_that_is_wanted(page, caplog):
    page.stay(is_wanted=False)
    assert caplog.messages == []
    seen = []

    def look_then_stop():
        with urllib.request.urlopen(page.url, timeout=PATIENCE) as answer:
            seen.append(answer.status)
        signal.raise_signal(signal.SIGINT)

    threading.Timer(0.2, look_then_stop).start()
    page.stay(is_wanted=True)
    assert seen == [200]
    assert caplog.messages == [f"The page stays at {page.url} until Ctrl-C."]


def test_some_cars_may_be_watched_once_they_learn():
    simulator = Simulator(WorldSpec(scene=SceneSpec("flat")))
    simulator.add_car()
    ghosts = Ghosts()
    client = TestClient(LearningPage(Story(), {}, ghosts).create_app(), base_url=PAGE)
    assert "once learning has begun" in client.get("/place.glb").json()["error"]
    ghosts.note(simulator, 0.1)
    answered = client.get("/place.glb")
    assert (answered.headers["content-type"], answered.content[:4]) == ("model/gltf-binary", b"glTF")
    with client.websocket_connect("/moments", headers=OWN) as socket:
        socket.send_text("{}")
        assert [car["id"] for car in json.loads(socket.receive_bytes())["cars"]] == [1]
