"""A car whose simulator is another program is seen by way of that program's watching page."""

import asyncio
import contextlib
import json
import logging
from types import SimpleNamespace

import pytest

from donkeysim.core.errors import SceneError, SimulatorError
from donkeysim.core.image import decode_picture
from donkeysim.drive.drawn_views import DistantViews, ListedCar, choose_car, find_views
from donkeysim.watch.spectator import create_app
from donkeysim.web.access import keep_certificate
from donkeysim.web.serving import PageServer, bind_port
from stand_ins.watched_stage import WatchedStage


@contextlib.asynccontextmanager
async def serve(stage, port=0, certificate=None):
    async with PageServer(create_app(stage, wire_port=None), bind_port(port), certificate=certificate) as server:
        yield server.address


@contextlib.asynccontextmanager
async def look(address, name="mine", position=None):
    views = DistantViews(SimpleNamespace(describe_self=lambda: (name, position)), address)
    try:
        yield views
    finally:
        await views.close()


def test_pictures_are_those_of_our_own_car():
    async def see():
        stage = WatchedStage(names=["pace", "mine", "other"])
        async with serve(stage) as address, look(address + "/?car=mine") as views:
            picture = await views.take("seat", 320, 240)
            await views.take("chase", 160, 120)
        return stage, decode_picture(picture).shape

    stage, shape = asyncio.run(see())
    assert shape == (240, 320, 3)
    assert stage.calls == [("take_picture", "seat", 2, 320, 240), ("take_picture", "chase", 2, 160, 120)]


def test_a_page_with_tls_on_this_machine_is_trusted(tmp_path):
    async def see():
        certificate = keep_certificate(tmp_path, ["127.0.0.1"])
        stage = WatchedStage(names=["mine"])
        async with serve(stage, certificate=certificate) as address, look(address) as views:
            return await views.take("chase", 160, 120)

    assert decode_picture(asyncio.run(see())).shape == (120, 160, 3)


def test_the_car_is_found_again_after_the_scene_has_ended_and_after_a_restart(caplog):
    async def see():
        stage = WatchedStage(names=["mine"])
        async with serve(stage) as address, look(address) as views:
            await views.take("chase", 160, 120)
            stage.scene_name = None
            for _ in range(2):
                with pytest.raises(SceneError, match=r"shows nothing now|in no scene"):
                    await views.take("chase", 160, 120)
            stage.scene_name, stage.names = "warehouse", ["other", "mine"]
            await views.take("chase", 160, 120)
            assert stage.calls[-1][2] == 2
            port = int(address.rsplit(":", 1)[1])
        async with look(address) as views:
            with pytest.raises(SimulatorError, match="is it still there"):
                await views.take("chase", 160, 120)
            async with serve(stage, port):
                await views.take("chase", 160, 120)

    with caplog.at_level(logging.INFO):
        asyncio.run(see())
    assert not [record for record in caplog.records if record.name.startswith("donkeysim")], "nothing is said loudly"


@pytest.mark.parametrize(
    ("name", "position", "number"),
    [
        ("mine", None, 3),
        ("mine", (4.1, 0.0), 4),
        ("mine", (2.9, 0.0), 3),
        (None, (0.9, 0.0), 2),
        ("new", (2.0, 0.4), 2),
    ],
)
def test_our_car_has_our_name_and_of_equal_ones_is_the_nearest(name, position, number):
    names = ["pace", "other", "mine", "mine"]
    cars = [ListedCar(i + 1, name, name == "pace", (float(i + 1), 0.0, 0.0)) for i, name in enumerate(names)]
    assert choose_car(cars, name, position) == number
    with pytest.raises(SceneError, match="in no scene"):
        choose_car(cars[:1], name, position)


def test_a_car_that_nobody_draws_has_no_views():
    assert find_views(SimpleNamespace(), "http://127.0.0.1:9093") is None


def test_moments_and_place_come_from_the_other_program():
    async def see():
        stage = WatchedStage(names=["pace", "mine"])
        stage.take_moment, stage.write_place = tell_moment, tell_place
        async with serve(stage) as address, look(address) as views:
            moment, place = await views.take_moment(), await views.write_place()
            stage.write_place = refuse
            with pytest.raises(SimulatorError, match="has no file of the place"):
                await views.write_place()
        return moment, place

    async def tell_moment():
        return b'{"time":1.0}'

    async def tell_place():
        return b"glTF of it"

    async def refuse():
        raise SceneError("no scene is running.")

    moment, place = asyncio.run(see())
    assert json.loads(moment) == {"own": 2, "time": 1.0}
    assert place == b"glTF of it"
