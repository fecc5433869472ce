"""A race file in the browser as a program: five viewers at different moments, and Ctrl-C while all of them look on."""

import asyncio
import json
import os
import re
import signal
import subprocess
import sys

import pytest
import websockets

from donkeysim.cli.donkey import run
from donkeysim.core.image import decode_picture

pytestmark = pytest.mark.soak


@pytest.fixture
def program(tmp_path):
    """A replay's page, and where it is."""
    race = [word for pilot in ("fast", "steady", "Anna=human") for word in ("--pilot", pilot)]
    assert run(["race", *race, "--laps", "1", "--out", str(tmp_path)]) == 0
    command = "import sys; from donkeysim.cli.donkey import main; sys.exit(main())"
    words = ["replay", str(tmp_path / "race.dlog"), "--watch", "--port", "0"]
    with subprocess.Popen(
        [sys.executable, "-u", "-c", command, *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as program:
        address = None
        while address is None:
            line = program.stdout.readline()
            assert line, "it has ended"
            address = re.search(r"http://[\d.:]+", line)
        yield program, address[0]
        program.kill()


async def look_on(address):
    """Return sockets that stay open, once five viewers have seen five moments of the race."""
    url = address.replace("http", "ws")
    state = await websockets.connect(f"{url}/state", origin=address)
    while True:
        await state.send("{}")
        told = json.loads(await state.recv())
        if not told["is_loading"]:
            break
        assert told["stage"]
        await asyncio.sleep(0.2)
    assert (told["race"]["session"], told["time_line"]["is_live"], len(told["race"]["tower"])) == ("over", False, 3)
    viewers = [await websockets.connect(f"{url}/picture", origin=address) for _ in range(5)]
    pictures = []
    for index, viewer in enumerate(viewers):
        moment = told["time_line"]["end"] * (index + 0.5) / len(viewers)
        await viewer.send(json.dumps({"view": "tv", "car": -1, "width": 320, "height": 180, "at": moment}))
        pictures.append(await viewer.recv())
    assert len({*pictures}) == len(viewers)
    assert all(decode_picture(picture).shape == (180, 320, 3) for picture in pictures)
    return [state, *viewers]


@pytest.mark.skipif(os.name == "nt", reason="no SIGINT for another process")
def test_five_watch_a_race_file_and_ctrl_c_ends_it_without_a_traceback(program):
    process, address = program

    async def watch_and_end():
        sockets = await look_on(address)
        process.send_signal(signal.SIGINT)
        rest = await asyncio.to_thread(process.stdout.read)
        del sockets
        return rest

    rest = asyncio.run(watch_and_end())
    assert process.wait(20.0) == 0
    assert "Traceback" not in rest
    assert "identical, bit for bit" in rest
