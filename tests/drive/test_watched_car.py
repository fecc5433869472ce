"""A driven car can be watched on the same page as the simulator's cars, from a thread of its own."""

import asyncio
import json
import threading
import urllib.request
from dataclasses import replace

import numpy as np
import pytest
from websockets.sync.client import connect

from donkeysim.car.config import make_default_config
from donkeysim.core.image import decode_picture
from donkeysim.drive.drawn_views import find_views
from donkeysim.drive.look import Look
from donkeysim.drive.simulated_car import make_simulated_car
from donkeysim.drive.watched_car import open_watching_page
from donkeysim.drive.watching_page import WatchedCar
from donkeysim.sim.viewpoint import draw_car
from donkeysim.watch.watchable import draw_outline
from waiting import PATIENCE, wait_until


@pytest.fixture(scope="module")
def car():
    car = make_simulated_car(make_default_config())
    while car.run(0.0, 0.0) is None:
        pass
    yield car
    car.shutdown()


@pytest.fixture
def driven(car):
    """The car with a loop that drives it and a served page."""
    page = open_watching_page(car, make_default_config(changes={"WATCH_PAGE_PORT": 0}))
    ended = threading.Event()

    def loop():
        while not ended.wait(0.02):
            car.run(0.1, 0.5)

    threads = [threading.Thread(target=loop), threading.Thread(target=page.update)]
    for thread in threads:
        thread.start()
    yield page
    ended.set()
    page.shutdown()
    for thread in threads:
        thread.join(5.0)
        assert not thread.is_alive()


def ask(page, path, question):
    with connect(page.url.replace("http", "ws") + path, origin=page.url, open_timeout=PATIENCE) as socket:
        socket.send(json.dumps(question))
        return socket.recv()


def post(page, path):
    request = urllib.request.Request(page.url + path, data=b"{}", headers={"Origin": page.url})
    try:
        with urllib.request.urlopen(request) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read().decode()


def test_the_page_shows_the_driven_car(driven, car):
    state = json.loads(ask(driven, "/state", {"car": 1}))
    assert (state["scene"], state["is_loading"], state["wire_port"]) == ("generated_track", False, None)
    assert [entry["name"] for entry in state["cars"]] == ["car"]
    assert state["readings"]["telemetry"]["throttle"] in (0.0, 0.5)
    assert (state["control"], state["pace_car"]) == ("http://localhost:8887/drive", None)


def test_the_loop_keeps_moments_for_the_page_while_somebody_watches(driven, car):
    wait_until(lambda: car.moment is not None)
    ask(driven, "/picture", {"view": "chase", "car": 1, "width": 160, "height": 90})
    wait_until(lambda: car.interpolator.is_live)
    assert decode_picture(car.interpolator.take_picture("top", 1, 160, 90)).shape == (90, 160, 3)


@pytest.mark.parametrize(
    ("view", "shape"),
    [("chase", (90, 160, 3)), ("place", (90, 160, 3)), ("top", (90, 160, 3)), ("camera", (120, 160, 3))],
)
def test_every_view_is_drawn_between_two_loops(driven, view, shape):
    picture = ask(driven, "/picture", {"view": view, "car": 1, "width": 160, "height": 90})
    assert decode_picture(picture).shape == shape


async def take_view(views, view, width, height):
    async with views() as car:
        return decode_picture(await car.take(view, width, height))


def test_whoever_drives_sees_the_car_from_behind_and_from_its_seat(driven, car):
    views = find_views(car, driven.url)
    assert asyncio.run(take_view(views, "chase", 160, 90)).shape == (90, 160, 3)
    assert asyncio.run(take_view(views, "seat", 320, 240)).shape == (240, 320, 3)


def test_from_the_seat_one_sees_what_its_camera_sees_in_any_size(car):
    simulator, row = car.car.simulator, car.car.row
    with car.lock:
        simulator.render([row])
        seen = draw_car(simulator, row, "seat", 160, 120).astype(float)
        assert abs(seen - simulator.get_picture(row)).mean() < 2.0, "but for texels larger than pixels, which blend"
        larger = draw_car(simulator, row, "seat", 500, 480)
        wider = draw_car(simulator, row, "seat", 500, 120)
    assert larger.shape == (375, 500, 3), "the camera's shape is kept"
    assert wider.shape == (120, 500, 3), "more is seen on both sides"
    assert abs(wider[:, 170:330] - seen).mean() < 2.0


def test_in_ones_own_view_there_is_no_name_plate(car):
    simulator, row = car.car.simulator, car.car.row
    with car.lock:
        body = simulator.get_body(row)
        pictures = []
        for name in ("a long name that covers the road", ""):
            simulator.configure_car(row, replace(body, name=name))
            pictures.append([draw_car(simulator, row, kind, 320, 180) for kind in ("chase", "top")])
        simulator.configure_car(row, body)
    assert np.array_equal(*pictures)


def test_a_car_that_is_dressed_anew_looks_so_from_the_next_loop_on_and_elsewhere(car):
    car.dress(Look("Anna", "f1", (16, 96, 208)))
    car.run(0.0, 0.0)
    body = car.car.simulator.get_body(car.car.row)
    assert (body.name, body.style, body.colour) == ("Anna", "f1", (16, 96, 208))
    assert car.look == Look("Anna", "f1", (16, 96, 208))


def test_reset_puts_the_car_back_at_the_next_loop(driven, car):
    before = car.moment.telemetry.reset_count
    assert post(driven, "/cars/1/reset")[0] == 200
    for _ in range(100):
        with car.loop_done:
            car.loop_done.wait(0.1)
        if car.moment.telemetry.reset_count > before:
            return
    pytest.fail("the car was not reset")


@pytest.mark.parametrize("path", ["/exit", "/cars/7/reset"])
def test_what_cannot_be_done_here_is_told_in_a_sentence(driven, path):
    status, text = post(driven, path)
    assert status == 409
    assert "--track" in text or "no car 7" in text


def test_there_is_no_page_when_the_config_wants_none(car):
    assert open_watching_page(car, make_default_config(changes={"WATCH_PAGE_PORT": None})) is None


def test_a_page_that_was_never_served_lets_its_port_go(car):
    page = open_watching_page(car, make_default_config(changes={"WATCH_PAGE_PORT": 0}))
    page.shutdown()
    port = int(page.url.rsplit(":", 1)[1])
    again = open_watching_page(car, make_default_config(changes={"WATCH_PAGE_PORT": port}))
    assert again.url == page.url
    again.shutdown()


def test_the_page_follows_the_car_to_another_place(car, driven):
    wait_until(lambda: car.moment is not None)
    before = car.moment.telemetry.time
    car.go_to("warren")
    wait_until(lambda: car.place == "warren")
    watched = WatchedCar(car)
    assert watched.scene_name == "warren"
    assert np.array_equal(watched.outline().path, draw_outline(car.car.simulator.scene).path)
    wait_until(lambda: car.moment.telemetry.totalNodes == len(car.car.simulator.scene.path.position))
    assert car.moment.telemetry.time > before, "time goes on"
    car.go_to("no_such_place")
    wait_until(lambda: "no_such_place" in car.take_trouble())
    assert (car.place, car.take_trouble()) == ("warren", "")
    car.go_to("generated_track")
    wait_until(lambda: car.place == "generated_track")


def test_a_browser_that_draws_is_told_where_the_car_is_and_what_the_place_looks_like(driven, car):
    wait_until(lambda: car.moment is not None)
    moment = json.loads(ask(driven, "/moments", {}))
    assert [entry["id"] for entry in moment["cars"]] == [1]
    assert moment["place"].startswith("generated_track ")
    with urllib.request.urlopen(driven.url + "/place.glb") as answer:
        assert (answer.headers["Content-Type"], answer.read(4)) == ("model/gltf-binary", b"glTF")
    views = find_views(car, driven.url)

    async def see():
        async with views() as own:
            return json.loads(await own.take_moment())["own"], await own.write_place()

    number, place = asyncio.run(see())
    assert (number, place[:4]) == (1, b"glTF")
