"""The control page as a part: its addresses, its WebSocket, its film, and who may use it."""

import asyncio
import contextlib
import json
import socket
import ssl
import time
from types import SimpleNamespace

import httpx
import numpy as np
import pytest
import websockets
from websockets.sync.client import connect

from donkeysim.core.errors import SpecError
from donkeysim.core.image import decode_picture
from donkeysim.drive import control_page
from donkeysim.drive.control_page import ControlPage
from donkeysim.web import access
from stand_ins.drawn_views import StandInViews
from stand_ins.served_page import ServedPage
from stand_ins.traveller import StandInTraveller
from stand_ins.watched_stage import make_telemetry
from waiting import PATIENCE

FRAMES = [np.full((120, 160, 3), shade, np.uint8) for shade in (40, 90, 140, 190, 240)]


@pytest.fixture
def page():
    with ServedPage() as page:
        yield page


@pytest.fixture
def client(page):
    with httpx.Client(base_url=page.address) as client:
        yield client


# ---- addresses ---------------------------------------------------------------------------------------------------


def test_the_addresses_of_the_original_answer_as_there(client):
    root = client.get("/")
    assert (root.status_code, root.headers["location"]) == (301, "/drive")
    drive = client.get("/drive")
    assert (drive.status_code, drive.headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert client.get("/calibrate").status_code == 200
    assert client.get("/wsTest").status_code == 200
    assert client.get("/wsDrive").status_code == 400
    for path in ("/nothing", "/static/nothing.js", "/static/../control_page.py", "/drive/x", "/wsCalibrate"):
        assert client.get(path).status_code == 404


def test_every_part_of_the_page_comes_from_the_page(client):
    text = client.get("/drive").text
    assert "http:" not in text
    assert "//" not in text.replace("<!--", "")
    for part in ("/shared/base.css", "/static/control.css", "/static/control.js", "/shared/icon.svg"):
        assert part in text
        assert client.get(part).status_code == 200
    for code in ("en", "zh", "ja"):
        assert client.get(f"/static/texts/{code}.json").json()["start"]


def test_the_page_has_the_names_of_the_originals_elements(client):
    text = client.get("/drive").text
    assert '<img id="mpeg-image" src="/video"' in text, "programs look for the film in the page's source"
    names = "mode_select record_button button_bar mpeg-image joystick_container throttle_mode_select"
    for name in [*names.split(), "max_throttle_select", "brake_button"]:
        assert text.count(f'id="{name}"') == 1


# ---- POST --------------------------------------------------------------------------------------------------------


def test_a_program_drives_by_post_as_with_the_original(page, client):
    answer = client.post("/drive", content=json.dumps({"angle": 0.25, "throttle": 0.5}))
    assert (answer.status_code, answer.content) == (200, b"")
    assert page.tick()[:2] == (0.25, 0.5)
    client.post("/drive", json={"drive_mode": "local", "recording": True, "buttons": {"w3": True}})
    wish = page.tick()
    assert (wish.mode, wish.recording, wish.buttons) == ("local", True, {"w3": True})
    wish = page.tick()
    assert (wish.mode, wish.recording, wish.angle, wish.throttle) == ("local", True, 0.25, 0.5)


@pytest.mark.parametrize(
    "body", ["", "{", '{"angle":NaN}', '{"throttle":"full"}', "x" * 100_000, '{"drive_mode":"go"}']
)
def test_a_post_nobody_understands_gets_one_sentence_and_changes_nothing(page, client, body):
    client.post("/drive", json={"angle": 0.1, "throttle": 0.2})
    answer = client.post("/drive", content=body)
    assert answer.status_code == 400
    assert answer.text.endswith(".\n")
    assert answer.text.count("\n") == 1
    assert page.tick()[:2] == (0.1, 0.2)


# ---- drawn views -------------------------------------------------------------------------------------------------


def test_whoever_asks_for_a_view_gets_one_picture_for_each_question():
    views = StandInViews()
    with ServedPage(views=views) as page:
        with page.connect("/picture") as viewer:
            viewer.send('{"view":"seat","width":320,"height":240}')
            assert decode_picture(viewer.recv(2)).shape == (240, 320, 3)
            for question in (
                "{",
                '{"view":"top","width":320,"height":240}',
                '{"view":"seat","width":9999,"height":240}',
            ):
                viewer.send(question)
                assert "does not exist" in json.loads(viewer.recv(2))["error"]
            views.is_blind = True
            viewer.send('{"view":"chase","width":320,"height":240}')
            assert json.loads(viewer.recv(2)) == {"error": "the car is in no scene now."}
        page.wait_for(lambda: views.viewer_count == 0)


def test_a_browser_that_draws_itself_is_answered_too():
    with ServedPage(views=StandInViews()) as page:
        with page.connect("/moments") as viewer:
            viewer.send("{}")
            assert "knows pictures only" in json.loads(viewer.recv(2))["error"]
            viewer.send('{"at":3.0}')
            assert "nothing of the past is kept" in json.loads(viewer.recv(2))["error"]
        answered = httpx.get(page.address + "/place.glb")
        assert (answered.status_code, answered.text) == (409, "this stand-in knows pictures only.\n")


def test_where_nobody_draws_the_car_there_are_no_views(page):
    with pytest.raises(websockets.InvalidStatus):
        page.connect("/picture")


# ---- WebSocket ---------------------------------------------------------------------------------------------------


def test_a_client_of_the_original_hears_what_it_heard_there_and_nothing_else(page):
    with page.connect() as first, page.connect() as second:
        five = {"angle": 0.1, "throttle": 0.2, "drive_mode": "user", "recording": True, "buttons": {}}
        first.send(json.dumps(five))
        page.tick_until(lambda wish: wish.throttle == 0.2)
        for socket_ in (first, second):
            assert json.loads(socket_.recv(2)) == {"driveMode": "user", "recording": True}
        page.tick(record_count=10, telemetry=make_telemetry(1.0))
        for socket_ in (first, second):
            assert json.loads(socket_.recv(2)) == {"num_records": 10}
            with pytest.raises(TimeoutError):
                socket_.recv(0.15)


def test_nothing_is_pushed_when_a_client_connects(page):
    with page.connect() as socket_:
        page.tick()
        with pytest.raises(TimeoutError):
            socket_.recv(0.15)


def test_a_client_that_asks_for_reports_gets_the_car(page):
    with page.connect("/wsDrive?reports=1") as socket_:
        assert json.loads(socket_.recv(2)) == {"about": {"watching": "", "views": False, "keys_hold": False}}
        page.wait_for(lambda: page.part.link.wants_reports)
        telemetry = make_telemetry(45.0, 2, hit="cone")
        for _ in range(2):
            page.tick(
                record_count=7, telemetry=telemetry, lap_times=[20.0, 19.5], rate=20.0, latency=0.01, pilots=["a.h5"]
            )
        report = json.loads(socket_.recv(2))["report"]
    assert report["num_records"] == 7
    assert report["car"] == [telemetry.steering_angle, telemetry.throttle]
    assert (report["lap_times"], report["lap_count"], report["best_lap"]) == ([20.0, 19.5], 2, 19.5)
    assert (report["hit"], report["rate"], report["latency"], report["pilots"]) == ("cone", 20.0, 0.01, ["a.h5"])
    assert (report["mode"], report["recording"], report["user"], report["pilot"]) == ("user", False, [0.0, 0.0], "")


def test_a_look_that_somebody_chooses_is_worn_told_and_kept(tmp_path):
    look = {"car_name": "Anna", "body_style": "f1", "body_rgb": [16, 96, 208]}
    traveller = StandInTraveller()
    page = ServedPage(traveller=traveller, CAR_PATH=str(tmp_path))
    with page, page.connect("/wsDrive?reports=1") as socket_:
        socket_.recv(2)
        socket_.send(json.dumps({"look": look}))
        page.wait_for(lambda: page.tick() and traveller.look.car_name == "Anna")
        page.tick(erased_count=3, is_recorded=False)
        page.tick(erased_count=3, is_recorded=False)
        while (report := json.loads(socket_.recv(2))["report"])["num_erased"] != 3:
            pass
    assert (report["look"], report["is_recorded"]) == (look, False)
    assert "Anna" in (tmp_path / ".web" / "look.json").read_text(encoding="utf-8")


def test_a_car_that_cannot_look_otherwise_says_so(page):
    with page.connect() as socket_:
        socket_.send('{"look": {}}')
        assert "donkey update" in json.loads(socket_.recv(2))["error"]


def test_a_wish_to_erase_is_handed_on_once(page):
    with page.connect() as socket_:
        socket_.send('{"erase": true}')
        page.tick_until(lambda wish: wish.erase)
        assert page.tick().erase is False


def test_what_was_hit_is_told_until_the_car_is_reset(page):
    hits = []
    with page.connect("/wsDrive?reports=1") as socket_:
        socket_.recv(2)
        page.wait_for(lambda: page.part.link.wants_reports)
        for hit, resets in (("cone", 0), ("none", 0), ("none", 1)):
            telemetry = make_telemetry(1.0, hit=hit)
            telemetry.reset_count = resets
            for _ in range(2):
                page.tick(telemetry=telemetry)
            hits.append(json.loads(socket_.recv(2))["report"]["hit"])
    assert hits == ["cone", "cone", ""]


@pytest.mark.parametrize("text", ["drive!", '{"angle":NaN}', "y" * 60_000, b"\xff\x00", '{"x":' + "[" * 3000])
def test_a_message_nobody_understands_gets_a_sentence_and_the_connection_stays(page, text):
    with page.connect() as socket_:
        socket_.send('{"throttle":0.25}')
        socket_.send(text)
        assert json.loads(socket_.recv(2))["error"].endswith(".")
        assert page.tick().throttle == 0.25
        socket_.send('{"throttle":0.5}')
        page.tick_until(lambda wish: wish.throttle == 0.5)


def test_a_message_longer_than_any_sense_closes_only_its_own_connection(page):
    with page.connect() as other, page.connect() as greedy:
        with contextlib.suppress(websockets.ConnectionClosed):
            greedy.send("z" * (control_page.SOCKET_LIMIT + 10))
            greedy.recv(5)
        other.send('{"angle":0.5}')
        page.tick_until(lambda wish: wish.angle == 0.5)


def test_a_client_that_vanishes_without_a_word_stops_its_car(page):
    socket_ = page.connect().__enter__()
    socket_.send('{"throttle":0.5}')
    page.tick_until(lambda wish: wish.throttle == 0.5)
    socket_.socket.shutdown(socket.SHUT_RDWR)
    page.tick_until(lambda wish: wish.throttle == 0.0)
    socket_.close()


def test_a_page_that_falls_silent_stops_its_car_and_is_told(page):
    with page.connect("/wsDrive?reports=1") as socket_:
        socket_.send('{"heartbeat":true}')
        socket_.send('{"throttle":0.5}')
        began = time.monotonic()
        page.tick_until(lambda wish: wish.throttle == 0.5)
        page.tick_until(lambda wish: wish.throttle == 0.0)
        assert 0.4 < time.monotonic() - began < 3.0
        messages = [json.loads(socket_.recv(2)) for _ in range(2)]
        while {"released": True} not in messages:
            messages.append(json.loads(socket_.recv(2)))


def test_a_client_that_never_reads_holds_nobody_up(page):
    with page.connect() as deaf, page.connect() as other:
        deaf.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        for count in range(300):
            page.part.state.take(page.message(recording=True))
            page.tick(record_count=count)
        other.send('{"angle":1}')
        page.tick_until(lambda wish: wish.angle == 1.0)


# ---- film --------------------------------------------------------------------------------------------------------


class FilmReader:
    """Reads the film as simple programs do: a line, headers, as many bytes as they say."""

    def __init__(self, page, receive_buffer=None):
        self.socket = socket.socket()
        if receive_buffer:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        self.socket.connect(("127.0.0.1", page.port))
        self.socket.settimeout(5)
        self.socket.sendall(b"GET /video HTTP/1.0\r\nHost: 127.0.0.1\r\n\r\n")
        self.file = self.socket.makefile("rb")
        self.head = b"".join(iter(self.file.readline, b"\r\n")).decode().lower()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.file.close()
        self.socket.close()

    def read(self):
        assert self.file.readline() == b"--boundarydonotcross\n"
        assert self.file.readline() == b"Content-type: image/jpeg\r\n"
        length = int(self.file.readline().removeprefix(b"Content-length: "))
        assert self.file.readline() == b"\r\n"
        return decode_picture(self.file.read(length))

    def read_shade(self):
        return round(float(self.read().mean()))


def test_the_film_begins_with_a_placeholder_and_has_the_originals_form(page):
    with FilmReader(page) as film:
        assert "200 ok" in film.head
        assert "content-type: multipart/x-mixed-replace;boundary=--boundarydonotcross" in film.head
        assert film.read().shape == (120, 160, 3)
        page.tick(image=FRAMES[1])
        assert film.read_shade() == pytest.approx(90, abs=2)


def test_who_asks_for_the_headers_only_gets_them_and_no_film(page, client):
    answer = client.head("/video")
    assert (answer.status_code, answer.content) == (200, b"")
    assert answer.headers["content-type"] == "multipart/x-mixed-replace;boundary=--boundarydonotcross"
    assert page.part.stream.viewer_count == 0


def test_a_reader_that_looks_for_jpeg_marks_finds_whole_pictures(page):
    with FilmReader(page) as film:
        page.wait_for(lambda: page.part.stream.viewer_count == 1)
        data = b""
        for count, frame in enumerate(FRAMES, start=1):
            page.tick(image=frame)
            while data.count(b"\xff\xd9") < count:
                data += film.socket.recv(4096)
    start, shades = 0, []
    while (begin := data.find(b"\xff\xd8", start)) >= 0 and (end := data.find(b"\xff\xd9", begin)) >= 0:
        shades.append(round(float(decode_picture(data[begin : end + 2]).mean())))
        start = end + 2
    assert len(shades) >= 4
    assert shades[-1] > 100


def test_a_picture_is_whole_and_shown_before_the_next_one_comes(page):
    with FilmReader(page) as film:
        film.read()
        page.tick(image=FRAMES[2])
        film.read()
        assert film.file.readline() == b"--boundarydonotcross\n"


def test_every_new_picture_is_sent_once_and_encoded_once_for_all(page):
    with FilmReader(page) as first, FilmReader(page) as second:
        page.wait_for(lambda: page.part.stream.viewer_count == 2)
        for film in (first, second):
            film.read()
        shades = []
        for frame in (*FRAMES, FRAMES[-1], FRAMES[-1]):
            page.tick(image=frame)
            if frame is not FRAMES[-1] or len(shades) < 5:
                shades.append((first.read_shade(), second.read_shade()))
        assert [pair[0] for pair in shades] == pytest.approx([40, 90, 140, 190, 240], abs=2)
        assert all(a == b for a, b in shades)
        page.settle()
        assert page.part.stream.encoded_count == 5
        began = time.monotonic()
        assert first.read_shade() == pytest.approx(240, abs=2)  # the last one again, so that no reader gives up
        assert time.monotonic() - began > 0.5


def test_nothing_is_encoded_while_nobody_looks(page):
    for frame in FRAMES:
        page.tick(image=frame)
    page.settle()
    assert page.part.stream.encoded_count == 0
    with FilmReader(page) as film:
        film.read()
    page.tick(image=FRAMES[0])
    page.wait_for(lambda: page.tick(image=FRAMES[1]) and page.part.stream.viewer_count == 0)


def test_a_picture_that_the_loop_writes_over_is_sent_as_it_was(page):
    with FilmReader(page) as film:
        film.read()
        buffer = FRAMES[1].copy()
        page.tick(image=buffer)
        buffer[:] = 0
        assert film.read_shade() == pytest.approx(90, abs=2)


def test_a_slow_viewer_sees_fewer_pictures_and_never_an_old_queue(page):
    noise = np.random.default_rng(0).integers(0, 200, (60, 240, 320, 3), np.uint8)
    for index, frame in enumerate(noise):
        frame[:40] = index * 4
    with FilmReader(page, receive_buffer=8192) as slow:
        slow.read()
        for frame in noise:
            page.tick(image=frame)
            page.settle()
        seen = [round(float(slow.read()[5:30].mean()) / 4) for _ in range(2)]
        while seen[-1] < 59:
            seen.append(round(float(slow.read()[5:30].mean()) / 4))
    assert len(seen) < 12


def test_grey_pictures_are_shown_too(page):
    with FilmReader(page) as film:
        film.read()
        page.tick(image=np.full((60, 80, 1), 77, np.uint8))
        picture = film.read()
        assert picture.shape == (60, 80, 3)
        assert picture.mean() == pytest.approx(77, abs=2)


# ---- who may use it ----------------------------------------------------------------------------------------------


def test_programs_without_an_origin_may_drive_and_foreign_sites_may_not(page, client):
    assert client.post("/drive", json={"angle": 0.1}).status_code == 200
    assert client.post("/drive", json={"angle": 0.2}, headers={"origin": page.address}).status_code == 200
    for headers in (
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"host": "evil.example"},
        {"sec-fetch-site": "cross-site"},
    ):
        assert client.post("/drive", json={"angle": 0.9}, headers=headers).status_code == 403
    assert client.get("/video", headers={"sec-fetch-site": "cross-site", "sec-fetch-dest": "image"}).status_code == 403
    assert page.tick().angle == 0.2


def test_a_foreign_site_may_not_open_the_socket(page):
    with page.connect(origin=page.address):
        pass
    for origin in ("http://evil.example", "null"):
        with pytest.raises(websockets.InvalidStatus) as refused, page.connect(origin=origin):
            pass
        assert refused.value.response.status_code == 403


def test_by_default_only_this_machine_reaches_the_page(page):
    assert page.part.network_url is None
    assert page.part.url == f"http://localhost:{page.port}"


def test_a_taken_port_is_said_in_one_sentence(page):
    with pytest.raises(SpecError, match=r"^port \d+ on 127.0.0.1 is in use; stop .* WEB_CONTROL_PORT .*\.$"):
        ControlPage(SimpleNamespace(WEB_CONTROL_PORT=page.port))


def test_a_mode_nobody_knows_is_refused():
    with pytest.raises(SpecError, match="did you mean 'local'"):
        ControlPage(SimpleNamespace(WEB_CONTROL_PORT=0, WEB_INIT_MODE="locl"))


def test_a_phone_needs_the_token_once(tmp_path, monkeypatch, caplog):
    monkeypatch.setattr(access, "find_network_address", lambda: "192.0.2.7")
    caplog.set_level("INFO")
    with ServedPage(views=StandInViews(), WEB_CONTROL_HOST="0.0.0.0", CAR_PATH=tmp_path) as page:
        token = (tmp_path / ".web" / "token").read_text().strip()
        assert page.part.network_url == f"http://192.0.2.7:{page.port}/drive?token={token}"
        assert page.part.network_url in caplog.text
        lan = {"host": f"192.0.2.7:{page.port}"}
        with httpx.Client(base_url=page.address, headers=lan) as phone:
            assert phone.get("/drive").status_code == 401
            assert phone.get("/drive?token=wrong").status_code == 401
            assert phone.post("/drive", json={"throttle": 1}).status_code == 401
            opened = phone.get(f"/drive?token={token}", headers={"accept": "text/html"})
            assert (opened.status_code, opened.headers["location"]) == (303, "/drive")
            cookie = opened.headers["set-cookie"].lower()
            assert "httponly" in cookie
            assert "samesite=strict" in cookie
            pair = {"cookie": opened.headers["set-cookie"].split(";")[0]}
            assert phone.get("/drive", headers=pair).status_code == 200
            assert phone.post("/drive", json={"angle": 0.3}, headers=pair).status_code == 200
            assert phone.post("/drive", json={}, headers={"authorization": f"Bearer {token}"}).status_code == 200
            assert phone.post(f"/drive?token={token}", json={}).status_code == 200
        assert page.tick().angle == 0.3
        for path in ("/wsDrive", "/picture"):
            with pytest.raises(websockets.InvalidStatus) as refused, page.connect(path, host=lan["host"]):
                pass
            assert refused.value.response.status_code == 401
            with page.connect(f"{path}?token={token}", host=lan["host"]):
                pass
    with ServedPage(WEB_CONTROL_HOST="0.0.0.0", CAR_PATH=tmp_path) as page:
        assert page.part.network_url.endswith(token)


def test_programs_on_this_machine_need_no_token(tmp_path):
    with ServedPage(WEB_CONTROL_HOST="0.0.0.0", CAR_PATH=tmp_path) as page:
        assert httpx.post(f"{page.address}/drive", json={"angle": 0.5}).status_code == 200
        assert httpx.get(f"{page.address}/drive", headers={"host": "evil.example"}).status_code == 403


def test_tls_keeps_its_certificate_in_the_cars_folder(tmp_path):
    for _ in range(2):
        with ServedPage(WEB_CONTROL_TLS=True, CAR_PATH=tmp_path) as page:
            assert page.part.url.startswith("https://localhost:")
            trust = ssl.create_default_context(cafile=tmp_path / ".web" / "certificate.pem")
            with httpx.Client(base_url=page.address, verify=trust) as client:
                assert client.get("/drive").status_code == 200
            address = page.address.replace("https", "wss") + "/wsDrive"
            with connect(address, ssl=trust, proxy=None, open_timeout=PATIENCE) as socket_:
                socket_.send('{"angle":0.75}')
                page.tick_until(lambda wish: wish.angle == 0.75)
            kept = (tmp_path / ".web" / "certificate.pem").read_bytes()
    assert kept == (tmp_path / ".web" / "certificate.pem").read_bytes()


# ---- as a part ---------------------------------------------------------------------------------------------------


def test_the_part_ends_at_once_with_everybody_still_connected():
    with ServedPage() as page, page.connect() as socket_, FilmReader(page) as film:
        film.read()
        began = time.monotonic()
        page.stop()
        assert time.monotonic() - began < 1.0
        with pytest.raises(websockets.ConnectionClosed):
            socket_.recv(2)
        while film.file.read(4096):
            pass


def test_a_part_that_never_ran_gives_its_port_back():
    part = ControlPage(SimpleNamespace(WEB_CONTROL_PORT=0))
    port = int(part.url.rsplit(":", 1)[1])
    part.shutdown()
    again = ControlPage(SimpleNamespace(WEB_CONTROL_PORT=port))
    again.shutdown()
    again.update()


def test_the_loop_goes_on_after_the_page_has_ended():
    with ServedPage() as page:
        page.stop()
        assert page.tick(image=FRAMES[0]).throttle == 0.0


def test_a_loop_with_the_page_stays_far_below_its_time():
    with ServedPage() as page, FilmReader(page), page.connect("/wsDrive?reports=1"):
        page.wait_for(lambda: page.part.link.wants_reports and page.part.stream.viewer_count)
        durations = []
        for index in range(60):
            began = time.perf_counter()
            page.tick(image=FRAMES[index % 5], telemetry=make_telemetry(index))
            durations.append(time.perf_counter() - began)
        assert min(durations) < 0.005


def test_our_page_is_told_where_the_car_is_watched():
    page = ServedPage("http://localhost:9093", views=StandInViews(), WEB_KEYS_HOLD=True)
    about = {"watching": "http://localhost:9093", "views": True, "keys_hold": True}
    with page, page.connect("/wsDrive?reports=1") as socket_:
        assert json.loads(socket_.recv(2)) == {"about": about}


def test_many_clients_come_and_go_and_none_is_left():
    async def visit(address):
        async with websockets.connect(address) as socket_:
            await socket_.send('{"angle":0.5}')

    async def visit_all(address):
        await asyncio.gather(*(visit(address) for _ in range(40)))

    with ServedPage() as page:
        asyncio.run(visit_all(page.address.replace("http", "ws") + "/wsDrive"))
        page.wait_for(lambda: not page.part.state._drivers)
        page.wait_for(lambda: not page.part.link._listeners)


def test_an_address_that_asks_too_much_waits_for_its_turn(page):
    with page.connect("/wsDrive?reports=1") as socket_:
        began = time.perf_counter()
        for number in range(500):
            socket_.send(json.dumps({"angle": number / 1000.0}))
        page.tick_until(lambda wish: wish.angle == 0.499)
        assert time.perf_counter() - began > 1.0
