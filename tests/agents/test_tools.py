"""Agents drive by three tools of the Model Context Protocol."""

import asyncio
import base64
import importlib.util
import json
import os
import sys

import pytest

from donkeysim.agents.board import read_board
from donkeysim.agents.trip import Trip
from donkeysim.cli import donkey
from donkeysim.core.image import decode_picture
from donkeysim.world.experiment import Experiment
from donkeysim.world.specs import CameraSpec

pytestmark = pytest.mark.skipif(importlib.util.find_spec("mcp") is None, reason="mcp is not installed")


def connect(server):
    from mcp import Client  # a second, which the other workers need not spend

    return Client(server)


@pytest.fixture(scope="module")
def trip():
    made = Trip(Experiment(), CameraSpec(), time_limit=30.0)
    yield made
    made.close()


@pytest.fixture
def noted():
    return []


@pytest.fixture
def server(trip, noted):
    from donkeysim.agents.tools import Tools  # as heavy

    trip.begin()
    return Tools(trip, lambda name, summary: noted.append((name, summary))).make_server()


def call(server, *calls):
    """Return the results of calls, (tool, arguments), of one client."""

    async def run():
        async with connect(server) as client:
            return [await client.call_tool(tool, arguments) for tool, arguments in calls]

    return asyncio.run(run())


def read(result):
    return json.loads(result.content[-1].text)


def test_there_are_three_tools_that_say_what_they_take(server):
    async def ask():
        async with connect(server) as client:
            return (await client.list_tools()).tools

    tools = {tool.name: tool for tool in asyncio.run(ask())}
    assert list(tools) == ["observe", "set_motion", "stop"]
    assert all(tool.description for tool in tools.values())
    motion = tools["set_motion"].input_schema
    assert motion["required"] == ["steering", "speed"]
    assert (motion["properties"]["steering"]["minimum"], motion["properties"]["steering"]["maximum"]) == (-1.0, 1.0)
    assert "right" in motion["properties"]["steering"]["description"]
    assert "context" not in motion["properties"]


def test_an_agent_looks_drives_and_stops(server, noted):
    motion = {"steering": 0.1, "speed": 1.0, "seconds": 1.0}
    looked, driven, again, stopped, anew = call(
        server, ("observe", {}), ("set_motion", motion), ("observe", {}), ("stop", {}), ("observe", {})
    )
    picture = decode_picture(base64.b64decode(looked.content[0].data))
    assert (looked.content[0].mime_type, picture.shape) == ("image/png", (120, 160, 3))
    assert read(looked)["seconds"] == 0.0
    assert read(driven)["metres"] > 0.1
    assert read(again) == read(driven)
    assert read(stopped)["ending"] == "stopped"
    assert read(anew)["turns"] == 0
    ((name, summary),) = noted
    assert name == "mcp"  # as the client calls itself
    assert summary.readings.metres == read(stopped)["metres"]
    assert summary.turn_time > 0.0


def test_what_is_not_possible_is_told_and_costs_no_time(server):
    fast, none, ended, looked = call(
        server,
        ("set_motion", {"steering": 0.0, "speed": 99.0}),
        ("set_motion", {"speed": 1.0}),
        ("honk", {}),
        ("observe", {}),
    )
    assert all(result.is_error for result in (fast, none, ended))
    assert "less than or equal to 2" in fast.content[0].text
    assert read(looked)["seconds"] == 0.0
    _, late = call(server, ("stop", {}), ("set_motion", {"steering": 0.0, "speed": 1.0}))
    assert late.is_error
    assert "the trip is over (stopped); call observe to begin a new one" in late.content[0].text


def test_the_baseline_drives_by_the_same_tools(server, noted):
    from donkeysim.agents import baseline

    readings = asyncio.run(baseline.drive(server, 120))
    assert readings["ending"] == "stopped"
    assert readings["metres"] > 10.0
    assert readings["on_road"]
    assert len(noted) == 1


def test_a_program_is_served_over_its_standard_streams(tmp_path, capsys):
    from mcp import StdioServerParameters

    board = tmp_path / "board.jsonl"
    words = ["-m", "donkeysim", "mcp", "--track", "waveshare", "--picture", "64x48", "--board", str(board)]
    words += ["--name", "a tester"]
    program = StdioServerParameters(command=sys.executable, args=words, env=dict(os.environ))
    looked, driven = call(program, ("observe", {}), ("set_motion", {"steering": 0.0, "speed": 0.6, "seconds": 0.5}))
    assert decode_picture(base64.b64decode(looked.content[0].data)).shape == (48, 64, 3)
    (entry,) = read_board(board)
    assert (entry.name, entry.track, entry.ending) == ("a tester", "waveshare", "client left")
    assert entry.metres == read(driven)["metres"]
    assert donkey.run(["mcp", "--show-board", "--board", str(board)]) == 0
    shown = capsys.readouterr().out
    assert "a tester" in shown
    assert "waveshare" in shown


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--picture", "big"], "--picture big is not valid; it takes width and height"),
        (["--picture", "0x10"], "0"),
        (["--track", "nowhere"], "nowhere"),
        (["--time", "0"], "a time limit of 0 s"),
        (["--show-board", "--board", "nowhere.jsonl"], "nowhere.jsonl cannot be read"),
    ],
)
def test_what_is_not_possible_is_said_in_a_sentence(words, told, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert donkey.run(["mcp", *words]) != 0
    said = capsys.readouterr().err
    assert told in said
    assert "Traceback" not in said
